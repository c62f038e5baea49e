-- attack: a table altered repeatedly
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local i = 0 while true do i = i + 1 db:alter_table("t", function(t) t:add_column("b" .. i, "text") end) db:alter_table("t", function(t) t:change_column("a", i % 2 == 0 and "real" or "integer") end) end
-- attack: a large table altered
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") db:execute("INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i, zeroblob(200) FROM n") db:alter_table("t", function(t) t:change_column("a", "blob"):not_null() end)
-- attack: nested alterations of a table
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local function f() db:alter_table("t", function(t) t:add_column("b", "text") f() end) end f()
-- attack: an alteration whose block loops
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") pcall(db.alter_table, db, "t", function() while true do end end)
-- attack: an alteration whose block drops the table
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") pcall(db.alter_table, db, "t", function(t) t:change_column("a", "real") db:execute("DROP TABLE t") end) pcall(db.alter_table, db, "t", { dry_run = true }, function(t) t:change_column("a", "real") db:execute("ROLLBACK") end)
-- attack: a check that loops, added to a column
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") db:execute("INSERT INTO t VALUES (1, 1)") db:add_function("spin", 1, function() while true do end end) pcall(db.alter_table, db, "t", function(t) t:check("spin(a)") end) db:alter_table("t", function(t) t:add_column("b", "text"):generated_as("spin(a)") end)
-- attack: a wide table altered
local c = {} for i = 1, 1990 do c[i] = "c" .. i end db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, " .. table.concat(c, ", ") .. ")") for i = 1, math.huge do db:alter_table("t", function(t) t:change_column("c" .. i, "text") t:rename_column("c" .. i + 1, "d" .. i) end) end
-- attack: renaming a table below doubling views
db:execute("CREATE TABLE v0 (x, y)") for i = 1, 40 do db:execute(("CREATE VIEW v%d AS SELECT p.x, q.y FROM v%d p, v%d q"):format(i, i - 1, i - 1)) end pcall(db.execute, db, "ALTER TABLE v0 RENAME COLUMN x TO z") pcall(db.rename_table, db, "v0", "w0") pcall(db.alter_table, db, "v0", function(t) t:drop_column("y") end)
-- attack: unusual names
for _, n in ipairs{ "", "\0", "a\0b", ("x"):rep(1000000), "\"", "'", "]", "`", "sqlite_x", "--", "/*", "\xff", "SELECT", "a.b", "main.t", "temp" } do for _, m in ipairs{ "create_table", "drop_table", "alter_table", "rename_table", "create_index", "create_view", "create_trigger", "create_fts5", "columns", "indexes", "table_exists", "triggers", "foreign_keys" } do pcall(function() db[m](db, n, n, n) end) pcall(function() db[m](db, n, function(t) t:column(n, n) t:add_column(n, n) t:rename_column(n, n) t:check(n) end) end) pcall(perilune.record, n) end end
-- attack: ten thousand tables
db:write(function(d) for i = 1, 10000 do d:execute(("CREATE TABLE t%d (a)"):format(i)) end end) while true do for _, name in ipairs(db:tables()) do db:columns(name) db:indexes(name) db:triggers(name) end end
-- attack: an unterminated definition
pcall(db.create_table, db, "t", function(t) local i = 0 while true do i = i + 1 t:column("c" .. i, "text") end end)
-- attack: long definitions
db:execute("CREATE TABLE t (a DEFAULT ('" .. ("x"):rep(400000) .. "'))") while true do db:columns("t") pcall(db.alter_table, db, "t", function(t) t:add_column("b", "text") end) pcall(db.alter_table, db, "t", function(t) t:drop_column("b") end) end
-- attack: a definition consisting of comments
db:execute("CREATE TABLE t (a, b " .. ("/* x */ -- y\n"):rep(100000) .. ")") for i = 1, 100 do db:alter_table("t", function(t) t:change_column("a", i % 2 == 0 and "real" or "integer") end) end
-- attack: full-text tables with all options
for _, k in ipairs{ { "unicode61", categories = ("L* "):rep(100000) }, { "unicode61", token_characters = ("x"):rep(1000000) }, "trigram", { "porter", "porter", "porter" }, {}, "x", 1 } do pcall(db.create_fts5, db, "f", { columns = { "a" }, tokenizer = k, prefix = { 1, 999, 31 } }) pcall(db.execute, db, "INSERT INTO f VALUES (?)", ("ab "):rep(100000)) pcall(db.drop_table, db, "f") end while true do perilune.fts5_pattern(("a\" "):rep(100000)) end
-- attack: endless migrations
local m = perilune.migrator() local i = 0 while true do i = i + 1 m:register("m" .. i, function(d) d:execute("CREATE TABLE IF NOT EXISTS t (a)") end) if i % 100 == 0 then m:migrate(db) end end
-- attack: a migration that migrates
local m = perilune.migrator() m:register("a", function(d) m:migrate(d) end) pcall(m.migrate, m, db) m:register("b", function(d) m:migrate_down(db) d:execute("ROLLBACK") end) pcall(m.migrate, m, db) pcall(m.register_folder, m, "/etc") pcall(m.register_folder, m, "../..") m:register("c", function() while true do end end) pcall(m.migrate, m, db)
