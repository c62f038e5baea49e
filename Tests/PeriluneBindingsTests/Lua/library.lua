--- Names that are available to every script.

test("the module perilune has all its functions", function()
  for _, name in ipairs{ "null", "blob", "date", "enum", "value_type", "record", "migrator", "single_row", "now" } do
    if perilune[name] == nil then error("perilune." .. name .. " is missing") end
  end
end)

test("a script can wrap functions before and after their first call", function()
  local calls, former = {}, { sql = perilune.sql, rank = perilune.rank, column = perilune.column }
  for name, f in pairs(former) do
    perilune[name] = function(...)
      calls[#calls + 1] = name
      return f(...)
    end
  end
  equal(tostring(perilune.sql("1 + ?", 2)), "(1 + 2)")
  equal(tostring(perilune.rank():over{ order_by = perilune.column("a") }), '"rank"() OVER (ORDER BY "a")')
  equal(tostring(perilune.sql("3")), "(3)")
  equal(calls, { "sql", "rank", "column", "sql" })
  perilune.sql, perilune.rank, perilune.column = former.sql, former.rank, former.column
  equal({ tostring(perilune.sql("4")), #calls }, { "(4)", 4 })
end)

test("an unknown method is reported with the nearest name", function()
  local err = fails("unknown_method", function() db:fetch_al("SELECT 1") end)
  matches(err, "fetch_all")
  equal(err.suggestion, "fetch_all")
  equal(fails(nil, function() return db.execut end).suggestion, "execute")
  db:read(function(handle) equal(fails(nil, function() handle:exeute("SELECT 1") end).suggestion, "execute") end)
  equal(fails(nil, function() perilune.migrator():migrat() end).suggestion, "migrate")
  equal(db[1], nil)
end)

test("Unicode collations can be used in SQL", function()
  db:execute("CREATE TABLE word (text TEXT)")
  for _, word in ipairs{ "Zebra", "zebra", "élan", "apple", "Éclair", "item 10", "item 9" } do
    db:execute("INSERT INTO word VALUES (?)", word)
  end
  local function sorted(collation)
    return table.concat(db:fetch_values("SELECT text FROM word ORDER BY text COLLATE " .. collation), " ")
  end
  -- Collations that GRDB knows under other names.
  for ours, theirs in pairs{ unicode = "swiftCompare", unicode_case_insensitive = "swiftCaseInsensitiveCompare",
    localized = "swiftLocalizedCompare", localized_case_insensitive = "swiftLocalizedCaseInsensitiveCompare",
    localized_standard = "swiftLocalizedStandardCompare" } do
    equal(sorted(ours .. ", text"), sorted(theirs .. ", text"))
  end
  equal(db:fetch_value("SELECT 'É' = 'é' COLLATE localized_case_insensitive"), 1)
  equal(db:fetch_value("SELECT 'a' = 'b' COLLATE unicode"), 0)
  equal(db:fetch_value("SELECT '' < 'b' COLLATE localized_standard"), 1)
  db:execute("CREATE TABLE name (text TEXT COLLATE localized_case_insensitive UNIQUE)")
  db:execute("INSERT INTO name VALUES ('Élan')")
  fails("constraint_unique", db.execute, db, "INSERT INTO name VALUES ('élan')")
  perilune.queue():fetch_value("SELECT 1 ORDER BY 'a' COLLATE localized")
end)

test("warnings are written to the log until warn(\"@off\")", function()
  local written, write = {}, perilune.log.warning
  perilune.log.warning = function(message) written[#written + 1] = message end
  warn("disk ", "almost full: ", 97)
  warn("@off")
  warn("lost")
  warn("@on")
  warn("@other")
  warn("back")
  perilune.log.warning = write
  equal(written, { "disk almost full: 97", "back" })
  matches(fails("argument", function() warn("a", {}) end), "warn: argument 2: expected a string, got a table")
  matches(fails("argument", function() warn() end), "warn: argument 1: expected a string, got no value")
end)
