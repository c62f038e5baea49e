-- Values of all storage classes in columns of all declared types, through plain statements, prepared statements and RETURNING.
db:execute [[CREATE TABLE v (id INTEGER PRIMARY KEY, b BOOLEAN, d DATETIME, day DATE, at TIMESTAMP, t TEXT, x REAL, bytes BLOB, free)]]
local columns = { "b", "d", "day", "at", "t", "x", "bytes", "free" }
local values = {
  math.maxinteger, math.mininteger, 0, 1, -1, 0.5, -0.0, 1e300, 2.5e-300, "", "text", "Grüße, 世界", "1", ("long "):rep(3000), perilune.null,
}
local insert = "INSERT INTO v (b, d, day, at, t, x, bytes, free) VALUES (?1, ?2, ?2, ?2, ?3, ?3, ?3, ?3)"
local file = perilune.queue()
file:execute [[CREATE TABLE v (id INTEGER PRIMARY KEY, b BOOLEAN, d DATETIME, day DATE, at TIMESTAMP, t TEXT, x REAL, bytes BLOB, free)]]
values[#values + 1] = perilune.blob("\0\1\2\255")
-- Values that would make a node end are not written to columns declared BOOLEAN or DATETIME.
local function is_boolean(value) return math.type(value) == "integer" or value == 0.0 or value == "1" or value == perilune.null end
local function is_date(value) return is_boolean(value) or type(value) == "string" end
for _, value in ipairs(values) do
  local flag, date = is_boolean(value) and value or perilune.null, is_date(value) and value or perilune.null
  assert(db:execute(insert, flag, date, value).inserted_rowid == file:execute(insert, flag, date, value).inserted_rowid)
end
for _, column in ipairs { "b", "d", "day", "at" } do
  for _, value in ipairs(values) do
    local is_taken = column == "b" and is_boolean(value) or column ~= "b" and is_date(value)
    for _, sql in ipairs { "INSERT INTO v (id, %s) VALUES (1000, ?)", "UPDATE v SET t = 'x', %s = ?1 WHERE id = -1", "INSERT INTO v (id, %s) VALUES (1, :v) ON CONFLICT DO UPDATE SET %s = :v" } do
      local ok, err = pcall(db.write, db, function(db)
        db:execute(sql:format(column, column), sql:find(":v", 1, true) and { v = value } or value)
        error("taken", 0)
      end)
      assert(not ok and (is_taken and err == "taken" or not is_taken and err.kind == "cluster_refused"),
        ("%s of %s: %s"):format(sql:format(column, column), tostring(value), tostring(err)))
    end
  end
end
for _, sql in ipairs { "INSERT INTO v (d) VALUES (-0.5)", "INSERT INTO v VALUES (NULL, 'yes', 1, 1, 1, 1, 1, 1, 1)", "UPDATE v SET at = x'00'" } do
  assert(select(2, pcall(db.execute, db, sql)).kind == "cluster_refused", sql)
end

local function same(a, b) return a == b and math.type(a) == math.type(b) end
local function compare(sql, ...)
  local here, there = file:fetch_all(sql, ...), db:fetch_all(sql, ...)
  assert(#here == #there, sql)
  for i, row in ipairs(here) do
    for name, value in pairs(row) do assert(same(value, there[i][name]), ("%s: row %d, %s: %s, expected %s"):format(sql, i, name, there[i][name], value)) end
    assert(tostring(row) == tostring(there[i]), sql)
  end
end
for _ = 1, 3 do -- as text, and prepared
  compare("SELECT * FROM v ORDER BY id")
  compare("SELECT * FROM v ORDER BY id DESC LIMIT 3 OFFSET 2")
  compare("SELECT b, count(*) AS n, max(d) AS d FROM v GROUP BY b ORDER BY 2, 1")
  compare("SELECT id, b FROM v WHERE id > ? UNION SELECT id, d FROM v WHERE id < ? ORDER BY 1 DESC, 2", 7, 5)
  compare("WITH RECURSIVE q(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM q WHERE n < 5) SELECT n, (SELECT d FROM v WHERE id = n) AS d FROM q ORDER BY n DESC -- end")
  compare("VALUES (1, 'a'), (2, NULL)")
  compare("SELECT typeof(b) AS b, typeof(d) AS d, typeof(x) AS x, typeof(bytes) AS bytes FROM v ORDER BY id")
end
for _, name in ipairs(columns) do compare("SELECT " .. name .. " FROM v ORDER BY id") end

local sql = "INSERT INTO v (b, d) VALUES (?, ?) RETURNING *, b AS again, d AS day_again"
local one, other = db:fetch_one(sql, perilune.null, perilune.null), file:fetch_one(sql, perilune.null, perilune.null)
assert(one.id == other.id and one.b == nil and one.d == nil and one.again == nil and one.day_again == nil)
assert(db:fetch_one(sql, true, "2026-01-01").again == true)

-- Changes and row ids.
local function told(database, statement, ...) return tostring(database:execute(statement, ...)) end
for _, statement in ipairs {
  "UPDATE v SET t = 'a' WHERE id < 4", "DELETE FROM v WHERE id = 2", "DELETE FROM v WHERE id = 2", "INSERT OR IGNORE INTO v (id) VALUES (1)",
  "INSERT INTO v (id) VALUES (1) ON CONFLICT DO UPDATE SET t = 'b'", "INSERT INTO v (t) VALUES ('c'), ('d')", "REPLACE INTO v (id, t) VALUES (77, 'e')",
  "INSERT INTO v (id, t) VALUES (78, 'f') ON CONFLICT DO UPDATE SET t = 'g'", "CREATE TABLE keyed (k TEXT PRIMARY KEY) WITHOUT ROWID",
  "INSERT INTO keyed VALUES ('a')", "DELETE FROM v WHERE id = 78",
} do
  if not statement:find("INSERT INTO v (t)", 1, true) then
    local a, b = told(db, statement), told(file, statement)
    assert(a == b, statement .. ": " .. a .. ", expected " .. b)
  else
    assert(db:execute(statement).changed_rows == file:execute(statement).changed_rows)
  end
end

-- Errors have SQLite's codes.
for _, statement in ipairs { "INSERT INTO v (id) VALUES (1)", "INSERT INTO v (id) VALUES (1) RETURNING id, b", "SELECT abs(-9223372036854775808)",
  "SELECT CASE WHEN id < 5 THEN t ELSE json('no') END, x FROM v", "SELECT nothing FROM v", "INSERT INTO missing VALUES (1)", "SELEC 1", "INSERT INTO keyed VALUES (NULL)" } do
  local _, a = pcall(db.execute, db, statement)
  local _, b = pcall(file.execute, file, statement)
  assert(a.kind == b.kind and a.extended_code == b.extended_code and a.message == b.message and a.sql == b.sql,
    statement .. ": " .. tostring(a) .. ", expected " .. tostring(b))
end

-- 255 parameters and one more.
local marks, numbers = {}, {}
for i = 1, 255 do marks[i], numbers[i] = "?", i end
assert(db:fetch_value("SELECT " .. table.concat(marks, " + "), numbers) == 255 * 256 // 2)
assert(not pcall(db.fetch_value, db, "SELECT " .. table.concat(marks, " + ") .. " + ?", numbers))
assert(db:fetch_value("SELECT ?3 || ?1", { "a", "b", "c" }) == "ca")
assert(db:fetch_value("SELECT :a || @b || :a", { a = "x", b = "y" }) == "xyx")

-- A node repeats the column names in each page. If the names filled a page, it would send pages without rows forever.
local wide = {}
for i = 1, 1900 do wide[i] = i .. " AS column_" .. i end
for _, run in ipairs { function(f) f(db) end, function(f) db:write(f) end } do
  local ok, err = pcall(run, function(handle) return handle:fetch_all("SELECT " .. table.concat(wide, ", ")) end)
  assert(not ok and err.message:find("names of 1900 columns", 1, true), tostring(err))
  assert(db:fetch_value("SELECT 1") == 1)
end

db:execute("CREATE TABLE seen (text)")
db:execute("INSERT INTO seen VALUES ('values-were-compared')")
return "values-were-compared"
