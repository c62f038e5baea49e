--- Folders of migrations.

--- Creates a folder with files and returns its path.
local function folder(files)
  local path = temporary_path("migrations")
  os.execute("mkdir -p '" .. path .. "'")
  for name, text in pairs(files) do
    local file = assert(io.open(path .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end
  return path
end

test("SQL and Lua files in a migration folder run in the order of their names", function()
  local path = folder{
    ["0001_create.sql"] = "CREATE TABLE book (id INTEGER PRIMARY KEY);\nINSERT INTO book VALUES (1);\n",
    ["0003_fill.lua"] = 'return function(db) db:execute("UPDATE book SET pages = 12") end',
    ["0002_pages.sql"] = "ALTER TABLE book ADD COLUMN pages INTEGER;",
  }
  local m = perilune.migrator{ folder = path }
  equal(m:names(), { "0001_create", "0002_pages", "0003_fill" })
  equal(m:migrate(db), { "0001_create", "0002_pages", "0003_fill" })
  equal(db:fetch_value("SELECT pages FROM book"), 12)
  equal(perilune.migrator{ folder = path }:migrate(db), {})
end)

test("migration files are sorted by the bytes of their names without the extension", function()
  local path = folder{ ["a-b.sql"] = "", ["a.sql"] = "", ["B.lua"] = "return function() end", ["é.sql"] = "", ["z.sql"] = "" }
  equal(perilune.migrator{ folder = path }:names(), { "B", "a", "a-b", "z", "é" })
end)

test("files with other extensions in a migration folder are ignored", function()
  local path = folder{ ["README.md"] = "x", [".hidden.sql"] = "x", ["1.sql~"] = "x", ["sql"] = "x", ["1.sql"] = "SELECT 1" }
  equal(perilune.migrator{ folder = path }:names(), { "1" })
end)

test("a migration folder may be empty and combined with other migrations", function()
  local m = perilune.migrator()
  m:register("first", "SELECT 1")
  m:register_folder(folder{})
  m:register_folder(folder{ ["second.sql"] = "SELECT 1" }):register("third", "SELECT 1")
  equal(m:names(), { "first", "second", "third" })
end)

test("a Lua migration file may return a table with options", function()
  local path = folder{
    ["v2.lua"] = [[
      return {
        merges = { "v1" },
        foreign_keys = "disabled",
        up = function(db, applied)
          db:execute("CREATE TABLE seen (name)")
          for name in pairs(applied) do db:execute("INSERT INTO seen VALUES (?)", name) end
        end,
      }]],
  }
  perilune.migrator():register("v1", "SELECT 1"):migrate(db)
  perilune.migrator{ folder = path }:migrate(db)
  equal(db:fetch_values("SELECT name FROM seen"), { "v1" })
end)

test("an error in a migration file names the file and the line", function()
  local path = folder{ ["a.lua"] = 'return function(db)\n  db:execute("SELECT 1")\n  db:execute("SELECT nothing")\nend' }
  local m = perilune.migrator{ folder = path }
  local err = fails("sql", m.migrate, m, db)
  equal({ err.migration, err.line }, { "a", 3 })
  matches(err.file, "/a.lua")
end)

test("an error in an SQL migration file gives its line", function()
  for _, case in ipairs{
    { 1, "sql", "CREATE TABL a (x);" },
    { 4, "sql", "CREATE TABLE a (x);\n\n-- so\nCREATE TABL b (x);\n" },
    { 3, "sql", "CREATE TABLE a (x);\nINSERT INTO a\n  VALUES (nothing);\n" },
    { 4, "constraint_unique", "CREATE TABLE a (x UNIQUE);\nINSERT INTO a VALUES (1);\n/* and\n*/ INSERT INTO a VALUES (1);\n" },
    { 3, "transaction_control", "\nCREATE TABLE a (x);\nCOMMIT;" },
    { 2, "sql", "\nSELECT nothing" },
    { 2, "argument", "SELECT 1;\nSELECT ?" },
  } do
    local path = folder{ ["a.sql"] = case[3] }
    local m = perilune.migrator{ folder = path }
    local err = fails(case[2], m.migrate, m, db)
    equal({ err.migration, err.file, err.line }, { "a", path .. "/a.sql", case[1] })
    equal(db:tables(), { "grdb_migrations" })
  end
end)

test("a migration file with a syntax error is refused when it is read", function()
  local path = folder{ ["a.lua"] = "return function(db)\n  db:execute(\nend" }
  local err = fails(nil, perilune.migrator, { folder = path })
  matches(err, "/a.lua:3:")
end)

test("a Lua migration file must return a migration", function()
  for _, text in ipairs{ "", "return 7", "return {}", "return { up = 7 }", "return 'SELECT 1'" } do
    local path = folder{ ["a.lua"] = text }
    local err = fails("argument", perilune.migrator, { folder = path })
    matches(err, path .. "/a.lua: expected it to return a function(db)")
  end
  local path = folder{ ["a.lua"] = "return { up = function() end, foreign_key = 'immediate' }" }
  fails("unknown_option", perilune.migrator, { folder = path })
end)

test("the main chunk of a migration file cannot use a database", function()
  local path = folder{ ["a.lua"] = 'db:execute("CREATE TABLE a (x)")' }
  local err = fails("nested_access", perilune.migrator, { folder = path })
  matches(err, "return a function(db)")
  matches(err.file, "a.lua")
  equal(db:tables(), {})
  db:execute("CREATE TABLE b (x)")
end)

test("the main chunk of a migration file receives no database", function()
  local path = folder{ ["a.lua"] = 'local db = ...\ndb:execute("CREATE TABLE a (x)")' }
  local err = fails("nested_access", perilune.migrator, { folder = path })
  equal(err.message, "the main chunk of a migration file receives no database; return a function(db) that uses it")
  matches(err.file, "a.lua")
  equal(err.line, 2)
end)

test("two migration files with the same name are refused", function()
  local path = folder{ ["a.lua"] = "return function() end", ["a.sql"] = "" }
  matches(fails("argument", perilune.migrator, { folder = path }), "`a` exists twice")
end)

test("migration files with uppercase extensions are refused", function()
  matches(fails("argument", perilune.migrator, { folder = folder{ ["a.SQL"] = "" } }), "/a.SQL: write the extension")
  matches(fails("argument", perilune.migrator, { folder = folder{ ["a.Lua"] = "" } }), "/a.Lua: write the extension")
end)

test("migration files whose numbers do not match the order of their names are refused", function()
  local path = folder{ ["1_a.sql"] = "", ["2_b.sql"] = "", ["10_c.sql"] = "" }
  matches(fails("argument", perilune.migrator, { folder = path }), "`10_c` would run before `1_a`")
  equal(perilune.migrator{ folder = folder{ ["1_a.sql"] = "", ["1_b.sql"] = "", ["2.sql"] = "" } }:names(), { "1_a", "1_b", "2" })
end)

test("a missing migration folder is an error", function()
  local path = temporary_path("nowhere")
  local err = fails("cannot_open", perilune.migrator, { folder = path })
  matches(err, path .. ": it does not exist")
  equal(err.path, path)
  local file = folder{ ["x"] = "" } .. "/x"
  matches(fails("cannot_open", perilune.migrator, { folder = file }), "it is a file")
  fails("argument", perilune.migrator, { folder = 7 })
end)

test("a mistake in one migration file prevents registering the others", function()
  local path = folder{ ["a.sql"] = "SELECT 1", ["b.lua"] = "return 7" }
  local m = perilune.migrator()
  fails("argument", m.register_folder, m, path)
  equal(m:names(), {})
end)

test("SQL migration files are read byte for byte", function()
  local path = folder{ ["a.sql"] = "\xEF\xBB\xBFCREATE TABLE \"größe\" (x);\r\nINSERT INTO größe VALUES ('a;b -- c');\r\n" }
  perilune.migrator{ folder = path }:migrate(db)
  equal(db:fetch_values('SELECT x FROM "größe"'), { "a;b -- c" })
end)

test("NAME.down.sql undoes NAME.sql, and the function `down` undoes a Lua migration", function()
  local path = folder{
    ["1.sql"] = "CREATE TABLE a (x)", ["1.down.sql"] = "DROP TABLE a",
    ["2.lua"] = [[return { up = function(db) db:execute "CREATE TABLE b (x)" end, down = function(db) db:execute "DROP TABLE b" end }]],
    ["3.sql"] = "CREATE TABLE c (x)",
  }
  local m = perilune.migrator{ folder = path }
  equal(m:names(), { "1", "2", "3" })
  m:migrate "2"
  equal({ m:migrate_down(), m:migrate_down() }, { "2", "1" })
  equal(db:tables(), { "grdb_migrations", "perilune_migration" })
  m:migrate()
  matches(fails("migration", m.migrate_down, m).message, "add a `down`, in the file " .. path .. "/3.down.sql")
end)

test("a down file without its migration is refused", function()
  matches(fails("argument", perilune.migrator, { folder = folder{ ["1.down.sql"] = "" } }).message,
    "undoes a migration that does not exist: `1.sql`")
  local path = folder{ ["1.down.sql"] = "", ["1.lua"] = "return function() end" }
  matches(fails("argument", perilune.migrator, { folder = path }).message, "defines its own `down`")
end)

test("migration files that were edited after they ran are reported", function()
  local files = { ["1.sql"] = "CREATE TABLE a (x);", ["2.lua"] = "return function(db) db:execute('CREATE TABLE b (x)') end" }
  local path = folder(files)
  local m = perilune.migrator{ folder = path }
  equal(m:edited(db), {})
  m:migrate(db)
  equal(m:edited(db), {})
  equal(m:edited(), {})
  local function write(name, text)
    local file = assert(io.open(path .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end
  write("1.sql", "CREATE TABLE a (x, y);")
  write("2.lua", files["2.lua"] .. " -- a comment")
  m = perilune.migrator{ folder = path }
  equal(m:edited(db), { "1", "2" })
  equal(m:migrate(db), {})
  equal(m:applied(db), { "1", "2" })
  write("2.lua", files["2.lua"])
  equal(perilune.migrator{ folder = path }:edited(db), { "1" })
  equal(perilune.migrator():register("1", "SELECT 1"):edited(db), {})
  -- GRDB's own table is unchanged.
  equal(#db:columns("grdb_migrations"), 1)
end)

test("migrations without a stored checksum do not count as edited, and undoing one removes its checksum", function()
  local path = folder{ ["1.sql"] = "CREATE TABLE a (x)", ["2.sql"] = "CREATE TABLE b (x)", ["2.down.sql"] = "DROP TABLE b" }
  local m = perilune.migrator{ folder = path }
  m:migrate(db)
  db:execute("UPDATE perilune_migration SET checksum = 'x'")
  equal(m:edited(db), { "1", "2" })
  m:migrate_down(db)
  equal(m:edited(db), { "1" })
  m:migrate(db)
  equal(m:edited(db), { "1" })
  db:execute("DROP TABLE perilune_migration")
  equal(m:edited(db), {})
end)

test("a merging migration removes the checksums of the merged ones", function()
  local path = folder{ ["1.sql"] = "CREATE TABLE a (x)" }
  perilune.migrator{ folder = path }:migrate(db)
  os.remove(path .. "/1.sql")
  local file = assert(io.open(path .. "/2.lua", "wb"))
  file:write("return { merges = { '1' }, up = function() end }")
  file:close()
  perilune.migrator{ folder = path }:migrate(db)
  equal(db:fetch_values("SELECT identifier FROM perilune_migration"), { "2" })
end)

test("a failed migration stores no checksum", function()
  local m = perilune.migrator{ folder = folder{ ["1.sql"] = "CREATE TABLE a (x)", ["2.sql"] = "CREATE TABLE a (x)" } }
  fails("sql", m.migrate, m, db)
  equal(db:fetch_values("SELECT identifier FROM perilune_migration"), { "1" })
end)

test("invalid options in a migration file are reported with its path", function()
  local function wrong(kind, options, part)
    local path = folder{ ["1_a.lua"] = "return { up = function() end, " .. options .. " }" }
    local err = fails(kind, perilune.migrator, { folder = path })
    matches(err.message, path .. "/1_a.lua: " .. part)
    return err
  end
  equal(wrong("unknown_option", "dwon = 1", "no option `dwon`; did you mean `down`?").suggestion, "down")
  wrong("argument", 'foreign_keys = "of"', 'option foreign_keys: expected "deferred", "immediate" or "disabled", got the string "of"')
  wrong("argument", "merges = 'a'", "option merges: expected a list of names")
  wrong("argument", "down = 5", "option down: expected a function or SQL, got the integer 5")
  local m = perilune.migrator()
  matches(fails("argument", m.register, m, "a", { down = 5 }, "SELECT 1").message, "m:register: option down")
  equal(fails("unknown_option", m.register, m, "a", { dwon = 5 }, "SELECT 1").suggestion, "down")
end)
