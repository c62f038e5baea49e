--- Migrations: `perilune.migrator`.

--- Creates a migrator whose migrations record that they have run.
local function noting(names)
  local m, ran = perilune.migrator(), {}
  for _, name in ipairs(names) do
    m:register(name, function(db)
      db:execute('CREATE TABLE "' .. name .. '" (id INTEGER PRIMARY KEY)')
      ran[#ran + 1] = name
    end)
  end
  return m, ran
end

test("migrations run in the order of registration", function()
  local m, ran = noting{ "b", "a", "c" }
  equal(m:migrate(db), { "b", "a", "c" })
  equal(ran, { "b", "a", "c" })
  equal(m:names(), { "b", "a", "c" })
  equal(db:tables(), { "a", "b", "c", "grdb_migrations" })
end)

test("each migration runs once in each database", function()
  local m, ran = noting{ "a", "b" }
  m:migrate(db)
  equal(m:migrate(db), {})
  equal(ran, { "a", "b" })
  local other = perilune.queue()
  equal(m:migrate(other), { "a", "b" })
  equal(#ran, 4)
end)

test("a database at v1 is migrated directly to v5", function()
  noting{ "v1" }:migrate(db)
  local m, ran = noting{ "v1", "v2", "v3", "v4", "v5" }
  equal(m:migrate(db), { "v2", "v3", "v4", "v5" })
  equal(ran, { "v2", "v3", "v4", "v5" })
end)

test("the default database is migrated if no other is given", function()
  local m = noting{ "a" }
  equal(m:migrate(), { "a" })
  equal(m:applied(), { "a" })
  equal(db:table_exists("a"), true)
end)

test("a migration can be SQL text with several statements", function()
  local m = perilune.migrator()
  m:register("a", [[
    CREATE TABLE a (x);  -- a comment; with a semicolon
    INSERT INTO a VALUES (1), (2);
    CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a WHERE x = 1; END;
  ]])
  m:register("b", "-- nothing but a comment")
  m:migrate(db)
  equal(db:fetch_values("SELECT x FROM a"), { 1, 2 })
  equal(m:applied(db), { "a", "b" })
end)

test("a failure rolls its migration back, keeps earlier ones and runs no later ones", function()
  local m, ran = perilune.migrator(), {}
  m:register("one", function(db) db:execute("CREATE TABLE one (x)") end)
  m:register("two", function(db)
    db:execute("CREATE TABLE two (x); INSERT INTO one VALUES (1)")
    db:execute("INSERT INTO nowhere VALUES (1)")
  end)
  m:register("three", function() ran[#ran + 1] = "three" end)
  local err = fails("sql", m.migrate, m, db)
  equal(err.migration, "two")
  equal(err.sql, "INSERT INTO nowhere VALUES (1)")
  matches(err, "no such table: nowhere")
  equal(m:applied(db), { "one" })
  equal(m:pending(db), { "two", "three" })
  equal(db:table_exists("two"), false)
  equal(db:fetch_value("SELECT count(*) FROM one"), 0)
  equal(ran, {})
end)

test("an error in a migration has the line", function()
  local m = perilune.migrator()
  m:register("a", function(db)
    db:execute("SELECT nothing")
  end)
  local here = tonumber(select(2, pcall(error, "", 2)):match(":(%d+):"))
  local err = fails("sql", m.migrate, m, db)
  equal(err.line, here - 2)
end)

test("a string that a migration raises becomes an error object that names the migration", function()
  local m = perilune.migrator()
  m:register("a", function() error("no way") end)
  local err = fails("runtime", m.migrate, m, db)
  equal({ err.message, err.migration }, { "no way", "a" })
  matches(err, ": no way")
end)

test("a table that a migration raises keeps its fields and gets the name of the migration", function()
  local m, raised = perilune.migrator(), { code = 7 }
  m:register("a", function() error(raised) end)
  local ok, err = pcall(m.migrate, m, db)
  equal(ok, false)
  equal(rawequal(err, raised), true)
  equal(err, { code = 7, migration = "a" })
  equal(m:applied(db), {})
  raised.migration = "mine"
  ok, err = pcall(m.migrate, m, db)
  equal(err.migration, "mine")
end)

test("an error in SQL text names the migration and the position", function()
  local m = perilune.migrator()
  m:register("a", "CREATE TABLE a (x);\nCREATE TABL b (x)")
  local err = fails("sql", m.migrate, m, db)
  equal(err.migration, "a")
  matches(err.message, "migration `a`: near \"TABL\"")
  equal(err.sql:sub(err.offset, err.offset + 3), "TABL")
end)

test("a database can be migrated up to a named migration", function()
  local m = noting{ "v1", "v2", "v3" }
  equal(m:migrate(db, "v2"), { "v1", "v2" })
  equal(m:pending(db), { "v3" })
  equal(m:migrate(db, "v2"), {})
  equal(m:migrate(db, { up_to = "v3" }), { "v3" })
  local other = noting{ "v1", "v2", "v3" }
  equal(other:migrate("v3"), {})
end)

test("an unknown target is refused with the nearest name", function()
  local m, ran = noting{ "create_author", "create_book" }
  local err = fails("unknown_migration", m.migrate, m, db, "create_bok")
  equal(err.suggestion, "create_book")
  equal(ran, {})
  equal(db:tables(), {})
end)

test("a database cannot be migrated back", function()
  local m = noting{ "v1", "v2", "v3" }
  m:migrate(db, "v2")
  matches(fails("argument", m.migrate, m, db, "v1"), "`v2`, which comes after it, has been applied")
end)

test("the applied migrations can be queried", function()
  local m = noting{ "a", "b", "c" }
  equal({ m:applied(db), m:pending(db), m:completed(db) }, { {}, { "a", "b", "c" }, {} })
  noting{ "a", "c" }:migrate(db)
  equal({ m:applied(db), m:pending(db), m:completed(db) }, { { "a", "c" }, { "b" }, { "a" } })
  equal({ m:has_completed(db), m:is_superseded(db) }, { false, false })
  m:migrate(db)
  equal({ m:completed(db), m:has_completed(db) }, { { "a", "b", "c" }, true })
  equal(perilune.migrator():has_completed(db), true)
end)

test("a database that a later version has migrated is detected", function()
  noting{ "a", "z", "b" }:migrate(db)
  local m = noting{ "a" }
  equal(m:is_superseded(db), true)
  equal(m:unknown(db), { "z", "b" })
  equal(m:migrate(db), {})
end)

test("the applied migrations can be queried through a handle", function()
  local m = noting{ "a" }
  m:migrate(db)
  db:read(function(db) equal(m:applied(db), { "a" }) end)
  db:write(function(db) equal({ m:applied(), m:pending(db) }, { { "a" }, {} }) end)
end)

-- Foreign keys

local parent_and_child = [[
  CREATE TABLE parent (id INTEGER PRIMARY KEY);
  CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL REFERENCES parent);
  INSERT INTO parent VALUES (1);
  INSERT INTO child VALUES (1, 1);
]]

--- A migration that rebuilds the parent table, which has no rows in between.
local function make_anew(db)
  db:execute[[
    CREATE TABLE new_parent (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO new_parent SELECT id, 'x' FROM parent;
    DROP TABLE parent;
    ALTER TABLE new_parent RENAME TO parent;
  ]]
end

test("foreign keys are checked at the end of a migration, which can therefore rebuild tables", function()
  local m = perilune.migrator()
  m:register("a", parent_and_child)
  m:register("b", make_anew)
  m:migrate(db)
  equal(db:fetch_value("SELECT name FROM parent"), "x")
  equal(db:fetch_value("PRAGMA foreign_keys"), 1)
  fails("constraint_foreign_key", db.execute, db, "DELETE FROM parent")
end)

test("foreign key violations at the end of a migration are listed, and the migration is rolled back", function()
  local m = perilune.migrator()
  m:register("a", parent_and_child)
  m:register("b", "INSERT INTO child VALUES (7, 70), (8, 80)")
  local err = fails("constraint_foreign_key", m.migrate, m, db)
  equal(err.migration, "b")
  equal(err.violations, {
    { table = "child", rowid = 7, referenced_table = "parent" },
    { table = "child", rowid = 8, referenced_table = "parent" },
  })
  matches(err, "row 7, 8 of `child` to `parent`")
  equal(db:fetch_value("SELECT count(*) FROM child"), 1)
  equal(m:applied(db), { "a" })
  equal(db:fetch_value("PRAGMA foreign_keys"), 1)
end)

test("long lists of foreign key violations are shortened", function()
  local m = perilune.migrator()
  m:register("a", parent_and_child .. [[
    INSERT INTO child SELECT value + 10, value + 100 FROM (
      WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 500) SELECT value FROM n)]])
  local err = fails("constraint_foreign_key", m.migrate, m, db)
  equal(#err.violations, 100)
  matches(err, "and more")
end)

test("foreign key violations in tables WITHOUT ROWID are reported", function()
  local m = perilune.migrator()
  m:register("a", [[
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id TEXT PRIMARY KEY, parent_id REFERENCES parent) WITHOUT ROWID;
    INSERT INTO child VALUES ('x', 1)]])
  local err = fails("constraint_foreign_key", m.migrate, m, db)
  equal(err.violations, { { table = "child", referenced_table = "parent" } })
end)

test("with immediate foreign key checks, each statement of a migration enforces them", function()
  local m = perilune.migrator()
  m:register("a", parent_and_child)
  m:register("b", { foreign_keys = "immediate" }, function(db)
    equal(db:fetch_value("PRAGMA foreign_keys"), 1)
    db:execute("INSERT INTO child VALUES (7, 70)")
  end)
  local err = fails("constraint_foreign_key", m.migrate, m, db)
  equal(err.migration, "b")
  equal(err.sql, "INSERT INTO child VALUES (7, 70)")
end)

test("an error when a migration commits names the migration", function()
  local m = perilune.migrator()
  m:register("a", { foreign_keys = "immediate" }, [[
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (parent_id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO child VALUES (1)]])
  local err = fails("constraint_foreign_key", m.migrate, m, db)
  equal(err.migration, "a")
  equal(db:tables(), { "grdb_migrations" })
end)

test("with foreign key checks disabled, a migration neither enforces nor checks them", function()
  local m = perilune.migrator()
  m:register("a", parent_and_child)
  m:register("b", { foreign_keys = "disabled" }, "INSERT INTO child VALUES (7, 70)")
  m:migrate(db)
  equal(#db:foreign_key_violations(), 1)
  equal(db:fetch_value("PRAGMA foreign_keys"), 1)
end)

test("a database that does not enforce foreign keys is not checked", function()
  local queue = perilune.queue(nil, { foreign_keys = false })
  local m = perilune.migrator()
  m:register("a", parent_and_child .. "INSERT INTO child VALUES (7, 70)")
  m:migrate(queue)
  equal(queue:fetch_value("PRAGMA foreign_keys"), 0)
  equal(#queue:foreign_key_violations(), 1)
end)

test("a collation that fails during the foreign key check makes the migration fail with its error", function()
  local is_failing = false
  db:add_collation("c", function(a, b)
    if is_failing then error("no order") end
    return a < b and -1 or a > b and 1 or 0
  end)
  local m = perilune.migrator()
  m:register("a", function(db)
    db:execute[[
      CREATE TABLE p (id TEXT COLLATE c PRIMARY KEY);
      CREATE TABLE q (p REFERENCES p);
      INSERT INTO p VALUES ('a'), ('b');
      INSERT INTO q VALUES ('b')]]
    is_failing = true
  end)
  local err = fails("runtime", m.migrate, m, db)
  equal({ err.message, err.migration }, { "no order", "a" })
  is_failing = false
  equal(m:applied(db), {})
  equal(db:tables(), { "grdb_migrations" })
end)

-- Merged migrations

--- Creates a migrator in which v3 has replaced v1 and v2.
local function merged()
  local m, seen = perilune.migrator(), {}
  m:register("v3", { merges = { "v1", "v2" } }, function(db, applied)
    for name in pairs(applied) do seen[#seen + 1] = name end
    table.sort(seen)
    for _, name in ipairs{ "v1", "v2" } do
      if not applied[name] then db:execute("CREATE TABLE " .. name .. " (id INTEGER PRIMARY KEY)") end
    end
    db:execute("CREATE TABLE v3 (id INTEGER PRIMARY KEY)")
  end)
  return m, seen
end

test("a merging migration receives the names of the applied ones", function()
  for _, known in ipairs{ {}, { "v1" }, { "v1", "v2" } } do
    local queue = perilune.queue()
    noting(known):migrate(queue)
    local m, seen = merged()
    equal(m:is_superseded(queue), false)
    equal(m:migrate(queue), { "v3" })
    equal(seen, known)
    equal(queue:tables(), { "grdb_migrations", "v1", "v2", "v3" })
    equal(queue:fetch_values("SELECT identifier FROM grdb_migrations"), { "v3" })
    equal(m:migrate(queue), {})
  end
end)

test("a merging migration may have the name of the last merged one", function()
  noting{ "v1", "v2" }:migrate(db)
  local m, seen = perilune.migrator(), nil
  m:register("v2", { merges = { "v1", "v2" } }, function() seen = true end)
  m:migrate(db)
  equal(seen, nil)
  equal(db:fetch_values("SELECT identifier FROM grdb_migrations"), { "v2" })
end)

test("merged names cannot be registered and can be merged once", function()
  local m = perilune.migrator()
  m:register("v1", "SELECT 1")
  matches(fails("argument", m.register, m, "v3", { merges = { "v1" } }, "SELECT 1"), "`v1`, which is still registered")
  m:register("v4", { merges = { "v2" } }, "SELECT 1")
  matches(fails("argument", m.register, m, "v2", "SELECT 1"), "`v4` merges `v2`")
  matches(fails("argument", m.register, m, "v5", { merges = { "v2" } }, "SELECT 1"), "which `v4` merges")
  equal(m:names(), { "v1", "v4" })
end)

-- Schema changes

test("a database that matches its migrations has no schema changes", function()
  local m = noting{ "a", "b" }
  equal({ m:has_schema_changes(db) }, { false, {} })
  m:migrate(db, "a")
  equal({ m:has_schema_changes(db) }, { false, {} })
end)

test("schema differences are listed", function()
  local m = perilune.migrator()
  m:register("a", [[
    CREATE TABLE kept (id INTEGER PRIMARY KEY, name TEXT, size INTEGER NOT NULL DEFAULT 1);
    CREATE TABLE lost (x);
    CREATE INDEX by_name ON kept (name);
    CREATE VIEW v AS SELECT name FROM kept]])
  m:migrate(db)
  db:execute[[
    DROP TABLE lost;
    CREATE TABLE extra (x);
    ALTER TABLE kept ADD COLUMN colour TEXT;
    DROP VIEW v;
    CREATE VIEW v AS SELECT id FROM kept;
    DROP INDEX by_name]]
  local changed, differences = m:has_schema_changes(db)
  equal(changed, true)
  equal(differences, {
    "missing: table lost", "missing: index by_name", "added: table extra", "added: column kept.colour",
    "changed: view v (its SQL differs)",
  })
end)

test("schema differences show both definitions of a column", function()
  local m = perilune.migrator()
  m:register("a", "CREATE TABLE a (x INTEGER NOT NULL, y TEXT)")
  m:migrate(db)
  local other = perilune.migrator()
  other:register("a", "CREATE TABLE a (x TEXT DEFAULT 'no', z TEXT)")
  local _, differences = other:has_schema_changes(db)
  equal(differences, {
    "missing: column a.z", "added: column a.y",
    "changed: column a.x (TEXT DEFAULT 'no' in the migrations, INTEGER NOT NULL here)",
  })
end)

test("an unregistered migration is a schema change", function()
  noting{ "a", "b" }:migrate(db)
  local changed, differences = noting{ "a" }:has_schema_changes(db)
  equal(changed, true)
  equal(differences, { "added: migration b", "added: table b" })
end)

test("has_schema_changes runs the migrations in a scratch database with its own handle", function()
  local m, calls = perilune.migrator(), {}
  m:register("a", function(db)
    calls[#calls + 1] = db
    db:execute("CREATE TABLE a (x)")
    equal(db:fetch_value("SELECT count(*) FROM a"), 0)
  end)
  m:migrate(db)
  db:execute("INSERT INTO a VALUES (1)")
  equal(m:has_schema_changes(db), false)
  equal(#calls, 2)
  equal(calls[2] == db, false)
  for _, handle in ipairs(calls) do fails("dead_handle", handle.execute, handle, "SELECT 1") end
  equal(db:fetch_value("SELECT count(*) FROM a"), 1)
end)

test("inside a migration, `db` is the migrated database", function()
  local original, other = db, perilune.queue()
  local m = perilune.migrator()
  m:register("create", { down = function() db:execute("DELETE FROM book") end }, function()
    db:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)")
    perilune.database:execute("INSERT INTO book VALUES (1, 'a')")
    perilune.record("book"){ title = "b" }:insert()
    equal(db == original, false)
    equal(db, perilune.database)
  end)
  m:migrate(other)
  equal(original:tables(), {})
  equal(db, original)
  equal(other:fetch_values("SELECT title FROM book ORDER BY id"), { "a", "b" })

  original:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO book VALUES (7, 'mine')")
  m:migrate_down(other)
  equal(other:fetch_values("SELECT title FROM book"), {})
  equal(original:fetch_values("SELECT title FROM book"), { "mine" })
  equal(db, original)
end)

test("inside a migration that runs again, `db` is the scratch database", function()
  local m = perilune.migrator():register("a", function()
    db:execute("CREATE TABLE a (x)")
    db:execute("INSERT INTO a VALUES (1)")
  end)
  m:migrate()
  equal(m:has_schema_changes(), false)
  equal(db:fetch_value("SELECT count(*) FROM a"), 1)
end)

test("a failed migration does not change the default database", function()
  local original, other = db, perilune.queue()
  local m = perilune.migrator():register("a", function() error("no") end)
  matches(fails("runtime", m.migrate, m, other), ": no")
  equal(db, original)
  equal(perilune.database, original)
end)

test("a migration in a scratch database cannot access the compared one", function()
  local m, original = perilune.migrator(), db
  m:register("a", function(handle)
    handle:execute("CREATE TABLE a (x)")
    original:execute("INSERT INTO a VALUES (1)")
  end)
  m:migrate(db)
  local err = fails("nested_access", m.has_schema_changes, m, db)
  equal(err.migration, "a")
  equal(db:fetch_value("SELECT count(*) FROM a"), 1)
  m:migrate(db)
end)

test("functions and collations of scripts exist in the scratch database", function()
  db:add_function("twice", 1, function(x) return x * 2 end)
  db:add_collation("odd", function(a, b) return a < b and -1 or a > b and 1 or 0 end)
  local m = perilune.migrator()
  m:register("a", "CREATE TABLE a (x TEXT COLLATE odd); INSERT INTO a SELECT twice(4); CREATE INDEX i ON a (x)")
  m:migrate(db)
  equal(m:has_schema_changes(db), false)
end)

test("a database in memory is erased if its migrations have changed", function()
  noting{ "a", "old" }:migrate(db)
  db:execute("INSERT INTO a VALUES (1)")
  local m = noting{ "a", "new" }
  m.erase_on_schema_change = true
  local applied, differences = m:migrate(db)
  equal(applied, { "a", "new" })
  equal(differences, { "added: migration old", "added: table old" })
  equal(db:tables(), { "a", "grdb_migrations", "new" })
  equal(db:fetch_value("SELECT count(*) FROM a"), 0)
  equal({ m:migrate(db) }, { {}, {} })
end)

test("nothing is erased if the schema matches the migrations", function()
  local m = noting{ "a", "b" }
  m.erase_on_schema_change = true
  m:migrate(db, "a")
  db:execute("INSERT INTO a VALUES (1)")
  equal({ m:migrate(db) }, { { "b" }, {} })
  equal(db:fetch_value("SELECT count(*) FROM a"), 1)
end)

test("a database file is erased only if the call names it", function()
  local path = temporary_path("shop.sqlite")
  local name = path:match("[^/]*$")
  for _, open in ipairs{ perilune.queue, perilune.pool } do
    local file = open(path)
    noting{ "a", "old" }:migrate(file)
    file:execute("INSERT INTO a VALUES (1)")
    local m = noting{ "a", "new" }
    m.erase_on_schema_change = true
    local err = fails("forbidden", m.migrate, m, file)
    matches(err, "{ erase = \"" .. name .. "\" }")
    matches(err, "added: table old")
    equal(file:fetch_value("SELECT count(*) FROM a"), 1)
    matches(fails("argument", m.migrate, m, file, { erase = "other.sqlite" }), "not `other.sqlite`")
    equal((m:migrate(file, { erase = name })), { "a", "new" })
    equal(file:fetch_value("SELECT count(*) FROM a"), 0)
    equal(file:tables(), { "a", "grdb_migrations", "new" })
    file:close()
    os.remove(path)
  end
end)

test("a failing migration in the scratch database erases nothing", function()
  noting{ "a", "old" }:migrate(db)
  local m = perilune.migrator()
  m.erase_on_schema_change = true
  m:register("a", function() error("not here") end)
  equal(fails("runtime", m.migrate, m, db).migration, "a")
  equal(db:table_exists("old"), true)
end)

-- Misuse

test("a migration name can be registered only once", function()
  local m = noting{ "a" }
  matches(fails("argument", m.register, m, "a", "SELECT 1"), "two migrations are named `a`")
  equal(m:names(), { "a" })
end)

test("invalid registrations are refused", function()
  local m = perilune.migrator()
  local nothing = function() end
  for _, arguments in ipairs{
    { nil, nothing }, { "", nothing }, { "\xff", nothing }, { "a\0b", nothing },
    { 7, nothing }, { "a" }, { "a", 7 }, { "a", {}, 7 }, { "a", 7, nothing },
    { "a", { foreign_keys = "sometimes" }, nothing }, { "a", { merges = "b" }, nothing },
    { "a", { merges = { 1 } }, nothing }, { "a", { merges = { b = true } }, nothing }, { "a", { merges = { "" } }, nothing },
  } do
    fails("argument", m.register, m, table.unpack(arguments, 1, 3))
  end
  equal(fails("unknown_option", m.register, m, "a", { foreign_key = "immediate" }, nothing).suggestion, "foreign_keys")
  equal(m:names(), {})
end)

test("invalid migrators and databases are refused", function()
  local m = noting{ "a" }
  fails("argument", m.names)
  fails("argument", m.migrate, {}, db)
  fails("argument", m.migrate, m, 7)
  fails("argument", m.migrate, m, db, 7)
  fails("argument", m.migrate, m, db, { up_to = 7 })
  fails("unknown_option", m.migrate, m, db, { upto = "a" })
  fails("argument", m.migrate, m, io.stdout)
  fails("argument", m.applied, m, "db")
  fails("argument", m.applied, m, io.stdout)
  fails("argument", perilune.migrator, 7)
  fails("unknown_option", perilune.migrator, { folders = "x" })
  fails("unknown_field", function() m.erase = true end)
  fails("argument", function() m.erase_on_schema_change = 1 end)
end)

test("a database cannot be migrated inside an access to it", function()
  local m = noting{ "a" }
  for _, block in ipairs{ "read", "write", "write_without_transaction" } do
    db[block](db, function(handle)
      fails("nested_access", m.migrate, m, handle)
      fails("nested_access", m.migrate, m, db)
      fails("nested_access", m.migrate, m)
      fails("nested_access", m.has_schema_changes, m, db)
    end)
  end
  db:execute("CREATE TABLE x (y); INSERT INTO x VALUES (1)")
  for _ in db:rows("SELECT * FROM x") do m:migrate(db) end
  equal(m:applied(db), { "a" })
end)

test("a migration cannot use its own migrator", function()
  local m, other = perilune.migrator(), noting{ "other" }
  local elsewhere = perilune.queue()
  m:register("a", function(handle)
    fails("nested_access", m.migrate, m, elsewhere)
    fails("nested_access", m.has_schema_changes, m, elsewhere)
    fails("nested_access", m.register, m, "b", "SELECT 1")
    fails("nested_access", other.migrate, other, handle)
    fails("nested_access", other.migrate, other, db)
    equal(m:pending(handle), { "a" })
    other:migrate(elsewhere)
  end)
  m:migrate(db)
  equal(m:names(), { "a" })
  equal(other:applied(elsewhere), { "other" })
end)

test("a read-only database cannot be migrated", function()
  local path = temporary_path("readonly.sqlite")
  perilune.queue(path):execute("CREATE TABLE a (x)")
  local queue = perilune.queue(path, { readonly = true })
  local m = noting{ "b" }
  fails("readonly", m.migrate, m, queue)
  equal(m:pending(queue), { "b" })
  os.remove(path)
end)

test("a closed database cannot be migrated", function()
  local queue = perilune.queue()
  local m = noting{ "a" }
  m:migrate(queue)
  queue:close()
  fails("closed", m.migrate, m, queue)
  fails("closed", m.applied, m, queue)
end)

test("SQL cannot end the transaction of a migration", function()
  for _, sql in ipairs{ "COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT x", "END", "RELEASE x", "CREATE TABLE b (x); COMMIT" } do
    for _, body in ipairs{ sql, function(db) db:execute(sql) end } do
      local m = perilune.migrator()
      m:register("a", "CREATE TABLE a (x)")
      m:register("b", body)
      local err = fails("transaction_control", m.migrate, m, db)
      equal(err.migration, "b")
      equal(m:applied(db), { "a" })
      equal(db:table_exists("b"), false)
      db:execute("DELETE FROM grdb_migrations; DROP TABLE a")
    end
  end
end)

test("a migration whose transaction was rolled back does not count as applied, even if it catches the error", function()
  local m = perilune.migrator()
  m:register("a", "CREATE TABLE a (x UNIQUE)")
  m:register("b", function(db)
    db:execute("INSERT INTO a VALUES (1)")
    pcall(db.execute, db, "INSERT OR ROLLBACK INTO a VALUES (1)")
  end)
  equal(fails("abort", m.migrate, m, db).migration, "b")
  equal(m:applied(db), { "a" })
  equal(db:fetch_value("SELECT count(*) FROM a"), 0)
end)

test("savepoints are allowed in migrations", function()
  local m = perilune.migrator()
  m:register("a", function(db)
    db:execute("CREATE TABLE a (x)")
    db:in_savepoint(function(db) db:execute("INSERT INTO a VALUES (1)") return "rollback" end)
    db:in_savepoint(function(db) db:execute("INSERT INTO a VALUES (2)") return "commit" end)
  end)
  m:migrate(db)
  equal(db:fetch_values("SELECT x FROM a"), { 2 })
end)

test("the handle, its statements and its cursors are unusable after the migration", function()
  local m, handle, statement, cursor = perilune.migrator(), nil, nil, nil
  m:register("a", function(db)
    handle = db
    db:execute("CREATE TABLE a (x); INSERT INTO a VALUES (1), (2)")
    statement, cursor = db:prepare("SELECT * FROM a"), db:rows("SELECT * FROM a")
    cursor()
  end)
  m:migrate(db)
  fails("dead_handle", handle.fetch_all, handle, "SELECT 1")
  fails(nil, statement.fetch_all, statement)
  fails(nil, cursor)
  db:execute("DROP TABLE a")
end)

test("a migration cannot yield", function()
  local m = perilune.migrator()
  m:register("a", function(db)
    db:execute("CREATE TABLE a (x)")
    coroutine.yield()
  end)
  local ok, err = coroutine.resume(coroutine.create(function() m:migrate(db) end))
  equal(ok, false)
  matches(err, "yield")
  equal(db:table_exists("a"), false)
end)

test("migrations may run in a coroutine", function()
  local m = noting{ "a" }
  equal(coroutine.wrap(function() return m:migrate(db) end)(), { "a" })
end)

test("each migration is reported with its duration", function()
  local m, told = noting{ "a", "b" }, {}
  m:migrate(db, { did_apply = function(name, seconds)
    equal(math.type(seconds), "float")
    equal(seconds >= 0, true)
    fails("nested_access", db.fetch_value, db, "SELECT 1")
    told[#told + 1] = name
  end })
  equal(told, { "a", "b" })
end)

test("an error in did_apply ends the run", function()
  local m = noting{ "a", "b", "c" }
  local err = fails("runtime", m.migrate, m, db, { did_apply = function(name) if name == "b" then error("enough") end end })
  equal(err.message, "enough")
  equal(m:applied(db), { "a", "b" })
end)

test("database files are closed after migrations with open cursors and errors", function()
  for _, open in ipairs{ perilune.queue, perilune.pool } do
    local path = temporary_path("released.sqlite")
    local file = open(path)
    local m = perilune.migrator()
    m:register("a", function(db)
      db:execute("CREATE TABLE a (x); INSERT INTO a VALUES (1), (2)")
      for row in db:rows("SELECT * FROM a") do if row.x == 1 then break end end
      local rows = db:rows("SELECT * FROM a")
      rows()
    end)
    m:register("b", function(db)
      local rows = db:rows("SELECT * FROM a")
      rows()
      error("stop")
    end)
    fails("runtime", m.migrate, m, file)
    equal(m:has_schema_changes(file), false)
    equal(file:fetch_value("SELECT count(*) FROM a"), 2)
    file:execute("DROP TABLE a")
    file:close()
    os.remove(path)
  end
end)

test("all connections of a pool see the migration", function()
  local path = temporary_path("pool.sqlite")
  local pool = perilune.pool(path)
  pool:read(function(db) equal(db:table_exists("a"), false) end)
  local m = noting{ "a", "b" }
  equal(m:migrate(pool, "a"), { "a" })
  pool:read(function(db)
    equal(db:tables(), { "a", "grdb_migrations" })
    fails("nested_access", m.migrate, m, pool)
  end)
  m:migrate(pool)
  equal(pool:fetch_value("SELECT count(*) FROM b"), 0)
  pool:close()
  os.remove(path)
end)

test("library functions without a database use the migrated one", function()
  local m = perilune.migrator()
  m:register("a", function()
    db:execute("CREATE TABLE a (x)")
    equal(db:is_inside_transaction(), true)
    error("undo")
  end)
  fails("runtime", m.migrate, m, db)
  equal(db:table_exists("a"), false)
end)

test("a migrator can be printed and collected", function()
  local m = noting{ "a", "b" }
  equal(tostring(m), "migrator (2 migrations)")
  local kept = setmetatable({ perilune.migrator():register("x", "SELECT 1") }, { __mode = "v" })
  collectgarbage()
  collectgarbage()
  equal(kept[1], nil)
end)

test("all schema functions work in migrations", function()
  local m = perilune.migrator()
  m:register("create", function(db)
    db:create_table("author", function(t)
      t:auto_incremented_primary_key("id")
      t:column("name", "text"):not_null()
    end)
    db:create_table("book", function(t)
      t:primary_key("id", "integer")
      t:belongs_to("author", { on_delete = "cascade" }):not_null()
      t:column("title", "text"):not_null():indexed()
    end)
    db:execute("INSERT INTO author (name) VALUES ('Melville')")
    db:execute("INSERT INTO book (author_id, title) VALUES (1, 'Typee')")
  end)
  m:register("alter", function(db)
    db:alter_table("book", function(t) t:add_column("pages", "integer") end)
    db:create_view("titles", "SELECT title FROM book")
    db:create_fts5("book_text", { synchronize_with = "book", columns = { "title" } })
  end)
  equal(m:migrate(db), { "create", "alter" })
  equal(db:fetch_value("SELECT title FROM book_text WHERE book_text MATCH 'typee'"), "Typee")
  equal({ m:has_schema_changes(db) }, { false, {} })
  local failing = perilune.migrator()
  failing:register("half", function(db)
    db:create_table("half", function(t) t:column("x", "integer") end)
    db:create_table("half", function(t) t:column("x", "integer") end)
  end)
  fails(nil, failing.migrate, failing, db)
  equal(db:table_exists("half"), false)
end)

test("the database cannot be used between migrations", function()
  local queue, other = perilune.queue(), perilune.queue()
  local m, another, told = noting{ "a", "b" }, noting{ "c" }, 0
  m:migrate(queue, { did_apply = function()
    told = told + 1
    for name, arguments in pairs{ close = {}, execute = { "SELECT 1" }, write = { print }, prepare = { "SELECT 1" } } do
      fails("nested_access", queue[name], queue, table.unpack(arguments))
    end
    fails("nested_access", queue.backup_to, queue, other)
    fails("nested_access", other.backup_to, other, queue)
    fails("nested_access", m.migrate, m, other)
    fails("nested_access", another.migrate, another, queue)
    fails("nested_access", another.has_schema_changes, another, queue)
    fails(nil, coroutine.yield)
    queue:interrupt()
    collectgarbage()
  end })
  equal(told, 2)
  queue:close()
end)

test("a migration can neither close nor copy its database", function()
  local queue, other, kept = perilune.queue(), perilune.queue(), {}
  local m = perilune.migrator()
  m:register("a", function(handle)
    handle:execute("CREATE TABLE a (x)")
    fails(nil, queue.close, queue)
    fails(nil, handle.close, handle)
    fails("nested_access", handle.backup_to, handle, other)
    fails("nested_access", other.backup_to, other, handle)
    handle:add_function("f", 0, function() return 1 end)
    handle:fetch_value("SELECT f()")
    kept = { handle, handle:prepare("SELECT f()"), handle:rows("SELECT * FROM sqlite_schema") }
    kept[3]()
  end)
  m:migrate(queue)
  queue:execute("CREATE TABLE more (x)")
  equal((m:has_schema_changes(queue)), true)
  fails("dead_handle", kept[1].execute, kept[1], "SELECT 1")
  fails(nil, kept[2].fetch_value, kept[2])
  fails(nil, kept[3])
  kept = nil
  collectgarbage()
  queue:close()
end)

test("records follow schema changes of migrations and their rollback", function()
  local m = perilune.migrator()
  m:register("create", function(db)
    db:create_table("note", function(t)
      t:auto_incremented_primary_key("id")
      t:column("text", "text")
    end)
  end)
  m:migrate(db)
  local Note = perilune.record("note")
  local note = Note{ text = "a" }
  note:insert()
  m:register("pages", "ALTER TABLE note ADD COLUMN pages INTEGER")
  m:register("fill", function(db)
    Note{ text = "b", pages = 3 }:insert()
    equal(Note:find(db, 2).pages, 3)
  end)
  m:migrate(db)
  equal(Note:find(2).pages, 3)
  equal(Note:find(1).pages, nil)
  m:register("undone", function(db)
    db:execute("ALTER TABLE note ADD COLUMN extra INTEGER")
    Note{ text = "c", extra = 1 }:insert()
    error("undo")
  end)
  fails("runtime", m.migrate, m, db)
  fails("unknown_column", function()
    local late = Note{ text = "d" }
    late.extra = 1
    late:insert()
  end)
  equal(Note:fetch_count(), 2)
  local fresh = perilune.migrator()
  fresh.erase_on_schema_change = true
  fresh:register("create", "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)")
  fresh:migrate(db)
  Note{ body = "new" }:insert()
  equal(Note:find(1).body, "new")
end)

test("the last migration is undone by its own undo step", function()
  local m = perilune.migrator()
  m:register("one", { down = "DROP TABLE a" }, "CREATE TABLE a (id INTEGER PRIMARY KEY)")
  m:register("two", { down = function(db) db:execute("DELETE FROM a") end }, "INSERT INTO a VALUES (1)")
  equal(m:migrate_down(db), nil)
  m:migrate(db)
  equal(m:migrate_down(db), "two")
  equal(db:fetch_value("SELECT COUNT(*) FROM a"), 0)
  equal(m:applied(db), { "one" })
  equal(m:migrate(db), { "two" })
  equal({ m:migrate_down(), m:migrate_down(), m:migrate_down() }, { "two", "one" })
  equal(db:table_exists("a"), false)
end)

test("a migration whose undo step is missing or fails is not undone", function()
  local m = perilune.migrator()
  m:register("one", "CREATE TABLE a (id INTEGER PRIMARY KEY)")
  m:register("two", { down = function(db) db:execute("DELETE FROM a") error("no") end }, "INSERT INTO a VALUES (1)")
  m:migrate(db)
  fails(nil, m.migrate_down, m, db)
  equal(db:fetch_value("SELECT COUNT(*) FROM a"), 1)
  equal(m:applied(db), { "one", "two" })
  db:execute("DELETE FROM grdb_migrations WHERE identifier = 'two'")
  local err = fails("migration", m.migrate_down, m, db)
  equal(err.migration, "one")
  matches(err, "cannot be undone")
  matches(fails("migration", function() perilune.migrator():migrate_down(db) end), "is unknown: no file and no call of `register` has this name")
  fails("argument", m.register, m, "three", { down = 7 }, "SELECT 1")
end)

test("all migrations after a given one are undone, or none if one has no undo step", function()
  local m, undone = perilune.migrator(), {}
  for _, name in ipairs{ "one", "two", "three", "four" } do
    m:register(name, { down = name ~= "one" and "DROP TABLE " .. name or nil }, "CREATE TABLE " .. name .. " (x)")
  end
  m:migrate(db)
  equal(m:migrate_down(db, { to = "two", did_undo = function(name) undone[#undone + 1] = name end }), "three")
  equal(undone, { "four", "three" })
  equal({ m:applied(), m:migrate_down("two"), m:migrate_down(db, "one") }, { { "one", "two" }, nil, "two" })
  equal(m:migrate(), { "two", "three", "four" })
  local other = perilune.migrator()
  for _, name in ipairs{ "one", "two", "three", "four" } do
    other:register(name, { down = name ~= "three" and "DROP TABLE " .. name or nil }, "SELECT 1")
  end
  equal(fails("migration", other.migrate_down, other, "one").migration, "three")
  equal(#other:applied(), 4)
end)

test("invalid arguments of migrate_down are reported", function()
  local m = perilune.migrator()
  m:register("one", "CREATE TABLE one (x)"):register("two", "CREATE TABLE two (x)")
  m:migrate("one")
  equal(fails("unknown_migration", m.migrate_down, m, "oen").suggestion, "one")
  matches(fails("migration", m.migrate_down, m, "two").message, "the migration `two` has not been applied")
  fails("argument", m.migrate_down, m, db, 7)
  fails("unknown_option", m.migrate_down, m, db, { upto = "one" })
  m:migrate()
  db:execute "CREATE TABLE kept (x)"
  local err = fails("migration", m.migrate_down, m, "one")
  equal({ err.migration, #m:applied() }, { "two", 2 })
end)

test("an undo step may rebuild tables and keeps foreign keys", function()
  local m = perilune.migrator()
  m:register("one", "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id INTEGER REFERENCES a (id) ON DELETE CASCADE); "
    .. "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
  m:register("two", { down = "CREATE TABLE c (id INTEGER PRIMARY KEY); INSERT INTO c SELECT id FROM a; DROP TABLE a; ALTER TABLE c RENAME TO a" },
    "ALTER TABLE a ADD COLUMN x")
  m:register("three", { down = "DELETE FROM a" }, "SELECT 1")
  m:migrate(db)
  matches(fails("constraint_foreign_key", m.migrate_down, m, db), "leaves rows of b that refer to missing rows of a")
  equal(db:fetch_value("PRAGMA foreign_keys"), 1)
  db:execute("DELETE FROM grdb_migrations WHERE identifier = 'three'")
  m:migrate_down(db)
  equal(db:fetch_value("SELECT COUNT(*) FROM b"), 1)
end)

test("Perilune's own tables are not schema differences", function()
  local m = perilune.migrator():register("a", "CREATE TABLE a (x)")
  m:migrate(db)
  local automation = perilune.automation{ name = "x", on = { event = "e" }, run = print }
  equal(db:table_exists("perilune_automation_run"), true)
  db:execute("CREATE TABLE perilune_migration (identifier, checksum)")
  equal({ m:has_schema_changes(db) }, { false, {} })
  automation:remove()
end)

test("an error about an unknown name suggests columns and tables that the failed transaction added", function()
  db:execute("CREATE TABLE z (id INTEGER PRIMARY KEY)")
  local function add_label()
    db:execute("ALTER TABLE z ADD COLUMN label")
    db:execute("UPDATE z SET labl = 1")
  end
  local m = perilune.migrator():register("a", "ALTER TABLE z ADD COLUMN label; UPDATE z SET labl = 1")
  for _, f in ipairs{
    function() db:write(add_label) end, function() db:write(function() db:in_savepoint(add_label) end) end, function() m:migrate(db) end,
  } do
    local err = fails("sql", f)
    matches(err.message, "no such column: labl")
    equal({ err.suggestion, err.help }, { "label", "did you mean `label`?  z has: id, label" })
    equal(#db:columns("z"), 1)
  end
  local err = fails("sql", db.write, db, function()
    db:execute("CREATE TABLE letter (id INTEGER PRIMARY KEY)")
    db:execute("DELETE FROM leter")
  end)
  equal(err.suggestion, "letter")
  -- Other errors, and raised values that only look like such an error, are not changed.
  err = fails("sql", db.write, db, function() db:execute("SELEC 1") end)
  equal({ err.suggestion, err.help }, {})
  local _, raised = pcall(db.write, db, function() error({ message = "no such column: labl", sql = "UPDATE z SET labl = 1" }) end)
  equal({ raised.suggestion, raised.help }, {})
end)
