--- The declared type of a column has the same meaning for records, rows, requests, observers and writing.

test("a column of type BOOLEAN or BOOL contains booleans, also with parentheses after the type", function()
  db:execute "CREATE TABLE author (id INTEGER PRIMARY KEY, q BOOLEAN(1), r bool ( 1 ), s Boolean NOT NULL DEFAULT 0)"
  local Author = perilune.record "author"
  local author = Author{ q = true, r = false, s = true }
  author:insert()
  equal({ author.q, author.r, author.s }, { true, false, true })
  local found = Author:find(1)
  equal({ found.q, found.r, found.s }, { true, false, true })
  equal({ db:fetch_one("SELECT q, r, s FROM author"):unpack() }, { true, false, true })
  equal(db:fetch_values "SELECT q FROM author", { true })
  equal(Author:select(Author.c.q):fetch_all()[1].q, true)
  equal(Author:filter(Author.c.q:eq(true)):fetch_count(), 1)
  local told
  local observer = db:observe_transactions{ on_change = function(change) told = change.new end }
  found.q = false
  found:update()
  observer:cancel()
  equal({ told.q, told.r, told.s }, { false, false, true })
  fails("conversion", function() Author{ q = "yes" }:insert() end)
end)

test("a REAL column contains floats everywhere, even in change events of inserted rows", function()
  db:execute "CREATE TABLE m (id INTEGER PRIMARY KEY, r REAL, d DOUBLE PRECISION, n NUMERIC)"
  local told = {}
  local observer = db:observe_transactions{
    on_change = function(change)
      local row = change.new or change.old
      told[#told + 1] = math.type(row.r) .. " " .. math.type(row.d) .. " " .. math.type(row.n)
    end,
  }
  db:execute "INSERT INTO m VALUES (1, 2, 3, 4); UPDATE m SET r = 5, d = 6, n = 7; REPLACE INTO m VALUES (1, 8, 9, 10); DELETE FROM m"
  observer:cancel()
  equal(#told, 5) -- REPLACE deletes and inserts
  for _, types in ipairs(told) do equal(types, "float float integer") end
end)

test("a column whose type only starts with BOOLEAN contains numbers", function()
  db:execute "CREATE TABLE flag (id INTEGER PRIMARY KEY, a BOOLEANS, b BOOLEAN UNSIGNED, c TINYINT(1))"
  local Flag = perilune.record "flag"
  Flag{ a = 1, b = 1, c = 1 }:insert()
  local flag = Flag:find(1)
  equal({ flag.a, flag.b, flag.c }, { 1, 1, 1 })
  equal({ db:fetch_one("SELECT a, b, c FROM flag"):unpack() }, { 1, 1, 1 })
  -- A class can override the declared type.
  local Typed = perilune.record("flag", { types = { a = "boolean" } })
  equal(Typed:find(1).a, true)
end)

test("a column whose type contains BLOB stores strings as bytes", function()
  db:execute "CREATE TABLE file (id INTEGER PRIMARY KEY, a LONGBLOB, b BLOB(16), c BLOBTEXT)"
  local File = perilune.record "file"
  File{ a = "x", b = "y", c = "z" }:insert()
  equal({ db:fetch_one("SELECT typeof(a), typeof(b), typeof(c) FROM file"):unpack() }, { "blob", "blob", "text" })
end)

test("a column of type DATE contains dates, also with parentheses after the type", function()
  db:execute "CREATE TABLE event (id INTEGER PRIMARY KEY, at DATETIME(6), day date)"
  local Event = perilune.record "event"
  Event{ at = perilune.date "2026-03-01 10:30", day = "2026-03-01" }:insert()
  local event = Event:find(1)
  equal({ event.at, event.day }, { perilune.date "2026-03-01 10:30", perilune.date "2026-03-01" })
end)

test("the row id has the first of its names that no column uses", function()
  db:execute [[
    CREATE TABLE a (rowid TEXT, x TEXT);
    CREATE TABLE b (ROWID TEXT, _rowid_ TEXT, x TEXT);
    CREATE TABLE c (rowid, _rowid_, oid, x TEXT);
    INSERT INTO a VALUES ('r', 'x'); INSERT INTO b VALUES ('r', 's', 'x'); INSERT INTO c VALUES (1, 2, 3, 'x')]]
  equal(perilune.record("a", { primary_key = "_rowid_" }):find(1).x, "x")
  equal(perilune.record("b", { primary_key = "oid" }):find(1).x, "x")
  fails("unknown_column", function() perilune.record("c", { primary_key = "row_id" }):find(1) end)
  local told = {}
  local observer = db:observe_transactions{ on_change = function(change) told[change.table] = change.row_id end }
  db:execute "UPDATE a SET x = 'y'; UPDATE b SET x = 'y'; UPDATE c SET x = 'y'"
  observer:cancel()
  equal(told, { a = 1, b = 1, c = 1 })
end)

test("an unknown parameter gets the same suggestion as any other name", function()
  local err = fails("argument", db.fetch_all, db, "SELECT :name", { nmae = 1 })
  matches(err.message, 'did you mean "name"')
  err = fails("argument", db.fetch_all, db, "SELECT :order_by", { order = 1 })
  matches(err.message, 'did you mean "order_by"')
  -- If two names are equally similar, the suggestion is deterministic.
  for _ = 1, 5 do
    err = fails("argument", db.fetch_all, db, "SELECT :book, :boat", { boot = 1, book = 1 })
    matches(err.message, 'did you mean "boat"')
  end
end)

test("statements are classified by SQLite's tokens", function()
  db:execute "CREATE TABLE t (a)"
  -- Tcl's parameter syntax includes the quote.
  db:execute("WITH c AS (SELECT $x(')) INSERT INTO t VALUES (1) --')", { ["x(')"] = 1 })
  equal(db:fetch_value "SELECT COUNT(*) FROM t", 1)
  equal(db:fetch_value "WITH c AS (SELECT 'abc' AS x) SELECT replace(x, 'b', 'd') FROM c", "adc")
  for _, sql in ipairs{ "PRAGMA query_only == 1", "PRAGMA/**/main.[query_only](1)", "EXPLAIN PRAGMA 'query_only' = 1" } do
    fails("forbidden", db.execute, db, sql)
  end
end)

test("savepoints in SQL are tracked by name, however the name is quoted", function()
  db:execute "CREATE TABLE t (a)"
  local told = {}
  local observer = db:observe_transactions{ on_change = function(change) told[#told + 1] = change.new.a end }
  db:write_without_transaction(function(db)
    db:execute 'SAVEPOINT "a ""b"'
    db:execute "INSERT INTO t VALUES (1)"
    db:execute "SAVEPOINT [c]"
    db:execute "INSERT INTO t VALUES (2)"
    db:execute "ROLLBACK TRANSACTION TO/**/SAVEPOINT`c` -- no more"
    db:execute "RELEASE 'A \"b'"
  end)
  observer:cancel()
  equal(told, { 1 })
end)

test("a long batch of statements is scanned in linear time", function()
  db:execute "CREATE TABLE t (a)"
  local statements = {}
  for i = 1, 3000 do statements[i] = "INSERT INTO t VALUES ('" .. ("x"):rep(100) .. "')" end
  db:in_transaction(function(db) db:execute(table.concat(statements, ";\n")) return "commit" end)
  equal(db:fetch_value "SELECT COUNT(*) FROM t", 3000)
end)
