local log = {}

local function note(event)
  local text = event.operation .. " " .. event.table
  if event.row_id then text = text .. " " .. event.row_id end
  log[#log + 1] = text
end

local function taken()
  local result = table.concat(log, ", ")
  log = {}
  return result
end

--- Waits until the event loop has run deferred calls.
local function settle() perilune.spawn(function() end):wait() end

--- Creates an observer that records all notifications.
local function recorder(options)
  local observed = { on_change = note }
  for _, name in ipairs{ "will_commit", "did_commit", "did_rollback" } do
    observed[name] = function() log[#log + 1] = name end
  end
  for name, value in pairs(options or {}) do observed[name] = value end
  return observed
end

local function library()
  db:execute[[
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT UNIQUE, author_id INTEGER REFERENCES author(id) ON DELETE CASCADE)]]
end

test("the changes of a transaction are followed by will_commit and did_commit", function()
  library()
  db:observe_transactions(recorder())
  db:write(function(db)
    db:execute("INSERT INTO author (name) VALUES ('Melville')")
    equal(taken(), "insert author 1")
    db:execute("UPDATE author SET name = 'Herman' WHERE id = 1")
    db:execute("DELETE FROM author")
    equal(taken(), "update author 1, delete author 1")
  end)
  equal(taken(), "will_commit, did_commit")
end)

test("the changes of a rolled back transaction are followed by did_rollback", function()
  library()
  db:observe_transactions(recorder())
  local err = fails("argument", db.write, db, function(db)
    db:execute("INSERT INTO author (name) VALUES ('Melville')")
    db:in_savepoint(1)
  end)
  equal(taken(), "insert author 1, did_rollback")
  db:in_transaction(function(db) db:execute("INSERT INTO author (name) VALUES ('Melville')") return "rollback" end)
  equal(taken(), "insert author 1, did_rollback")
end)

test("observers see each statement outside a transaction as a transaction", function()
  library()
  db:observe_transactions(recorder())
  db:execute("INSERT INTO author (name) VALUES ('a'), ('b')")
  equal(taken(), "insert author 1, insert author 2, will_commit, did_commit")
  db:write_without_transaction(function(db)
    db:execute("UPDATE author SET name = 'c' WHERE id = 1")
    equal(taken(), "update author 1, will_commit, did_commit")
    db:execute("DELETE FROM author WHERE id = 2; DELETE FROM author WHERE id = 1")
    equal(taken(), "delete author 2, will_commit, did_commit, delete author 1, will_commit, did_commit")
  end)
  equal(db:fetch_values("INSERT INTO author (name) VALUES ('x'), ('y') RETURNING id"), { 1, 2 })
  equal(taken(), "insert author 1, insert author 2, will_commit, did_commit")
  db:fetch_all("SELECT * FROM author")
  db:read(function(db) db:fetch_all("SELECT * FROM author") end)
  equal(taken(), "")
end)

test("an error in will_commit refuses the commit and is raised to the writer", function()
  library()
  local refusal = setmetatable({}, { __tostring = function() return "no books today" end })
  db:observe_transactions(recorder{ will_commit = function() log[#log + 1] = "will_commit" error(refusal) end })
  local function refused(f, ...)
    local is_done, err = pcall(f, ...)
    equal(is_done, false)
    equal(rawequal(err, refusal), true)
  end
  refused(db.write, db, function(db) db:execute("INSERT INTO author (name) VALUES ('a')") end)
  equal(taken(), "insert author 1, will_commit, did_rollback")
  refused(db.execute, db, "INSERT INTO author (name) VALUES ('a')")
  equal(taken(), "insert author 1, will_commit, did_rollback")
  refused(db.in_savepoint, db, function(db) db:execute("INSERT INTO author (name) VALUES ('a')") return "commit" end)
  equal(taken(), "insert author 1, will_commit, did_rollback")
  db:write_without_transaction(function(db)
    refused(db.in_transaction, db, function(db) db:execute("INSERT INTO author (name) VALUES ('a')") return "commit" end)
    equal(taken(), "insert author 1, will_commit, did_rollback")
    equal(db:is_inside_transaction(), false)
  end)
  equal(db:fetch_value("SELECT COUNT(*) FROM author"), 0)
end)

test("each function of an observer is optional", function()
  library()
  for _, name in ipairs{ "on_change", "will_commit", "did_commit", "did_rollback" } do
    local count = 0
    local observer = db:observe_transactions{ [name] = function() count = count + 1 end }
    db:execute("INSERT INTO author (name) VALUES (?)", name)
    db:in_transaction(function(db) db:execute("DELETE FROM author") return "rollback" end)
    equal(count, name == "on_change" and 2 or 1)
    observer:cancel()
  end
end)

test("after an observer refuses a commit, the remaining observers are not called", function()
  library()
  for index = 1, 3 do
    db:observe_transactions{
      will_commit = function() log[#log + 1] = "will " .. index if index == 2 then error("no", 0) end end,
      did_commit = function() log[#log + 1] = "commit " .. index end,
      did_rollback = function() log[#log + 1] = "rollback " .. index end,
    }
  end
  local is_done, err = pcall(db.execute, db, "INSERT INTO author (name) VALUES ('a')")
  equal(err, "no")
  equal(taken(), "will 1, will 2, rollback 1, rollback 2, rollback 3")
end)

test("change events have old and new values with the same types as rows", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b BOOLEAN, c BLOB, d REAL)")
  local events = {}
  db:observe_transactions{ on_change = function(event) events[#events + 1] = event end }
  db:execute("INSERT INTO t VALUES (7, ?, 1, x'00ff', 1.5)", "x\0y")
  db:execute("UPDATE t SET a = NULL, b = 0, id = 8")
  db:execute("DELETE FROM t")
  equal(events[1], { operation = "insert", table = "t", row_id = 7, new = { id = 7, a = "x\0y", b = true, c = "\0\255", d = 1.5 } })
  equal(events[2], { operation = "update", table = "t", row_id = 8, old_row_id = 7, old = { id = 7, a = "x\0y", b = true, c = "\0\255", d = 1.5 },
    new = { id = 8, b = false, c = "\0\255", d = 1.5 } })
  equal(events[3], { operation = "delete", table = "t", row_id = 8, old = { id = 8, b = false, c = "\0\255", d = 1.5 } })
end)

test("change events have values of stored generated columns, but not of virtual columns or later ones", function()
  db:execute("CREATE TABLE t (a INTEGER, s AS (a * 3) STORED, b, v AS (a * 2) VIRTUAL, c)")
  local event
  db:observe_transactions{ on_change = function(told) event = told end }
  db:execute("INSERT INTO t (a, b, c) VALUES (2, 'b', 1)")
  equal(event.new, { a = 2, s = 6, b = "b" })
  db:execute("UPDATE t SET a = 3")
  equal(event.old, { a = 2, s = 6, b = "b" })
  equal(event.new, { a = 3, s = 9, b = "b" })
end)

test("changes by foreign key actions and triggers are reported", function()
  library()
  db:execute[[
    INSERT INTO author VALUES (1, 'a'); INSERT INTO book VALUES (1, 'x', 1), (2, 'y', 1);
    CREATE TABLE note (text);
    CREATE TRIGGER noting AFTER INSERT ON author BEGIN INSERT INTO note VALUES (new.name); END]]
  local indirect = {}
  db:observe_transactions(recorder{ on_change = function(event) note(event) indirect[#indirect + 1] = event.is_indirect == true end })
  db:execute("DELETE FROM author")
  equal(taken(), "delete author 1, delete book 1, delete book 2, will_commit, did_commit")
  equal(indirect, { false, true, true })
  db:execute("INSERT INTO author (name) VALUES ('b')")
  equal(taken(), "insert author 1, insert note 1, will_commit, did_commit")
end)

test("rows deleted by REPLACE, tables without row ids, and truncated tables are reported", function()
  library()
  db:execute("CREATE TABLE word (text TEXT PRIMARY KEY, count) WITHOUT ROWID")
  db:execute("INSERT INTO book (id, title) VALUES (1, 'x'), (2, 'y')")
  local events = {}
  db:execute("DELETE FROM author") -- compiled before anybody observes
  db:execute("INSERT INTO author (name) VALUES ('a'), ('b')")
  db:observe_transactions(recorder{ on_change = function(event) note(event) events[#events + 1] = event end })
  db:execute("REPLACE INTO book (id, title) VALUES (2, 'x')")
  equal(taken(), "delete book 2, delete book 1, insert book 2, will_commit, did_commit")
  events = {}
  db:execute("INSERT INTO word VALUES ('a', 1)")
  db:execute("UPDATE word SET count = 2")
  db:execute("DELETE FROM word")
  equal(taken(), "insert word, will_commit, did_commit, update word, will_commit, did_commit, delete word, will_commit, did_commit")
  equal(events[2], { operation = "update", table = "word", old = { text = "a", count = 1 }, new = { text = "a", count = 2 } })
  db:execute("DELETE FROM author")
  equal(taken(), "delete author 1, delete author 2, will_commit, did_commit")
end)

test("changes of rows that do not store an added column have its default", function()
  db:execute "CREATE TABLE a (id INTEGER PRIMARY KEY, x); CREATE TABLE b (id INTEGER PRIMARY KEY, x); INSERT INTO a VALUES (1, 10)"
  for _, name in ipairs{ "a", "b" } do
    db:execute("ALTER TABLE " .. name .. " ADD COLUMN d INTEGER DEFAULT 7")
    db:execute("ALTER TABLE " .. name .. " ADD COLUMN n INTEGER")
  end
  db:execute "INSERT INTO a VALUES (2, 20, NULL, 1)"
  local events = {}
  db:observe_transactions{ on_change = function(event) events[#events + 1] = event end }
  db:execute "UPDATE a SET x = 11"
  equal({ events[1].old, events[1].new }, { { id = 1, x = 10, d = 7 }, { id = 1, x = 11, d = 7 } })
  equal({ events[2].old, events[2].new }, { { id = 2, x = 20, n = 1 }, { id = 2, x = 11, n = 1 } })
  -- The update has stored the values of the first row.
  db:execute "INSERT INTO a (id, x) VALUES (3, 30); DROP TABLE b"
  db:execute "CREATE TABLE b (id INTEGER PRIMARY KEY, x); INSERT INTO b VALUES (1, 10); ALTER TABLE b ADD COLUMN d DEFAULT 8"
  db:execute "ALTER TABLE b ADD COLUMN n DEFAULT 'n'"
  events = {}
  db:execute "DELETE FROM b"
  equal(events[1].old, { id = 1, x = 10, d = 8, n = "n" })
end)

test("inserted rows that are copied from rows without an added column have its default", function()
  for _, name in ipairs{ "a", "b" } do db:execute("CREATE TABLE " .. name .. " (id INTEGER PRIMARY KEY, x)") end
  db:execute "INSERT INTO a VALUES (1, 10)"
  for _, name in ipairs{ "a", "b" } do db:execute("ALTER TABLE " .. name .. " ADD COLUMN d REAL DEFAULT 7") end
  local events = {}
  db:observe_transactions{ on_change = function(event) events[#events + 1] = event end }
  db:execute "INSERT INTO b SELECT * FROM a"
  equal({ #events, events[1].new }, { 1, { id = 1, x = 10, d = 7.0 } })
end)

test("changes in savepoints are reported when the outermost is released, but not if it is rolled back", function()
  library()
  db:observe_transactions(recorder())
  local function insert(db, name) db:execute("INSERT INTO author (name) VALUES (?)", name) end
  db:write(function(db)
    insert(db, "a")
    equal(taken(), "insert author 1")
    db:in_savepoint(function(db)
      insert(db, "b")
      db:in_savepoint(function(db) insert(db, "c") return "rollback" end)
      db:in_savepoint(function(db) insert(db, "d") return "commit" end)
      pcall(db.in_savepoint, db, function(db) insert(db, "e") error("no") end)
      equal(taken(), "")
      return "commit"
    end)
    equal(taken(), "insert author 2, insert author 3")
    db:in_savepoint(function(db) insert(db, "f") return "rollback" end)
    equal(taken(), "")
  end)
  equal(taken(), "will_commit, did_commit")
end)

test("observers follow savepoints in SQL", function()
  library()
  db:observe_transactions(recorder())
  db:write_without_transaction(function(db)
    db:execute("SAVEPOINT a; INSERT INTO author VALUES (1, 'a'); SAVEPOINT \"b c\"; INSERT INTO author VALUES (2, 'b')")
    db:execute("ROLLBACK TRANSACTION TO /* that */ SAVEPOINT [B C]; INSERT INTO author VALUES (3, 'c'); RELEASE 'b c'")
    equal(taken(), "")
    db:execute("RELEASE A -- the end")
    equal(taken(), "insert author 1, insert author 3, will_commit, did_commit")
    db:execute("BEGIN; SAVEPOINT x; INSERT INTO author VALUES (4, 'd')")
    db:execute("RELEASE SAVEPOINT x")
    equal(taken(), "insert author 4")
    db:execute("ROLLBACK")
    equal(taken(), "did_rollback")
  end)
end)

test("an observer that is added in a savepoint is notified when the savepoint is released", function()
  library()
  db:write(function(db)
    db:in_savepoint(function(db)
      db:observe_transactions(recorder())
      db:execute("INSERT INTO author VALUES (1, 'a')")
      db:in_savepoint(function(db) db:execute("INSERT INTO author VALUES (2, 'a')") return "rollback" end)
      equal(taken(), "")
      return "commit"
    end)
    equal(taken(), "insert author 1")
  end)
  equal(taken(), "will_commit, did_commit")
end)

test("observers are notified only of the requested tables and operations", function()
  library()
  local Book = perilune.record("book")
  db:observe_transactions{ tables = "AUTHOR", operations = { "insert", "delete" }, on_change = note }
  db:observe_transactions{ tables = { Book }, operations = "update", on_change = note }
  db:write(function(db)
    db:execute("INSERT INTO author VALUES (1, 'a'); UPDATE author SET name = 'b'; INSERT INTO book VALUES (1, 'x', 1)")
    db:execute("UPDATE book SET title = 'y'; DELETE FROM author")
  end)
  equal(taken(), "insert author 1, update book 1, delete author 1")
end)

test("observers are notified only of transactions that changed the requested tables by the requested operations", function()
  library()
  db:execute("CREATE TABLE history (text)")
  local function noting(word) return function() log[#log + 1] = word end end
  local functions = { did_commit = noting "commit", did_rollback = noting "rollback", will_commit = noting "will" }
  local function observe(limits)
    for name, f in pairs(functions) do limits[name] = f end
    return db:observe_transactions(limits)
  end
  local observer = observe{ tables = "author", operations = { "insert", "delete" } }
  db:execute("INSERT INTO history VALUES ('x')")
  equal(taken(), "")
  db:execute("INSERT INTO author VALUES (1, 'a')")
  equal(taken(), "will, commit")
  db:execute("UPDATE author SET name = 'b'")
  db:read(function(db) db:fetch_all("SELECT * FROM author") end)
  equal(taken(), "")
  pcall(db.write, db, function(db) db:execute("DELETE FROM author") error("no") end)
  equal(taken(), "rollback")
  pcall(db.write, db, function(db) db:execute("DELETE FROM history") error("no") end)
  db:execute("DELETE FROM history")
  equal(taken(), "")
  db:write(function(db)
    db:in_savepoint(function() db:execute("DELETE FROM author") return "rollback" end)
    db:execute("INSERT INTO history VALUES ('y')")
  end)
  equal(taken(), "")
  db:write(function(db)
    db:in_savepoint(function() db:execute("INSERT INTO history VALUES ('z')") db:execute("DELETE FROM author") return "commit" end)
  end)
  equal(taken(), "will, commit")
  observer:cancel()
  -- The log is another table, so that writing it does not cause another call.
  functions.will_commit, functions.did_rollback = nil, nil
  functions.did_commit = function(db) log[#log + 1] = "commit" db:execute("INSERT INTO history VALUES ('logged')") end
  observe{ tables = { "author" }, on_change = note }
  db:execute("INSERT INTO author VALUES (2, 'c'), (3, 'd')")
  equal(taken(), "insert author 2, insert author 3, commit")
  equal(db:fetch_value("SELECT count(*) FROM history WHERE text = 'logged'"), 1)
end)

test("the database is unavailable in on_change and will_commit, and available in did_commit and did_rollback", function()
  library()
  local kinds = {}
  local function try(name)
    local is_done, err = pcall(db.fetch_value, db, "SELECT COUNT(*) FROM author")
    kinds[#kinds + 1] = name .. " " .. tostring(is_done and err or err.kind)
    for _, f in ipairs{ function() db:read(function() end) end, function() db:write(function() end) end } do
      if not is_done then equal(select(2, pcall(f)).kind, "nested_access") end
    end
  end
  local observer = db:observe_transactions{
    on_change = function() try("on_change") end, will_commit = function() try("will_commit") end,
    did_commit = function(handle)
      equal(handle:fetch_value("SELECT COUNT(*) FROM author"), 1)
      equal(handle:read(function(db) return db:fetch_value("SELECT COUNT(*) FROM author") end), 1)
      fails("readonly", handle.read, handle, function(db) db:execute("DELETE FROM author") end)
      try("did_commit")
    end,
    did_rollback = function() try("did_rollback") end,
  }
  db:write(function(db) db:execute("INSERT INTO author (name) VALUES ('a')") end)
  equal(kinds, { "on_change nested_access", "will_commit nested_access", "did_commit 1" })
  kinds = {}
  pcall(db.write, db, function(db) db:execute("INSERT INTO author (name) VALUES ('a')") error("no") end)
  equal(kinds, { "on_change nested_access", "did_rollback 1" })
end)

test("the handle of did_commit is unusable afterwards", function()
  library()
  local kept
  db:observe_transactions{ did_commit = function(db) kept = db end }
  db:write(function(db) db:execute("INSERT INTO author (name) VALUES ('a')") end)
  fails("dead_handle", kept.fetch_value, kept, "SELECT 1")
end)

test("did_commit may write in a separate transaction", function()
  library()
  db:execute("CREATE TABLE history (text)")
  db:observe_transactions(recorder{ on_change = function(event) if event.table == "author" then note(event) end end, did_commit = function(db)
    log[#log + 1] = "did_commit"
    if db:fetch_value("SELECT COUNT(*) FROM history") < 3 then
      db:write(function(db) db:execute("INSERT INTO history VALUES ('x')") end)
    end
  end })
  local changes = db:execute("INSERT INTO author (name) VALUES ('a'), ('b')")
  equal(changes.changed_rows, 2)
  equal(changes.inserted_rowid, 2)
  equal(taken(), "insert author 1, insert author 2, will_commit, did_commit, will_commit, did_commit, will_commit, did_commit, "
    .. "will_commit, did_commit")
end)

test("an observer whose did_commit writes endlessly is stopped", function()
  library()
  local count = 0
  db:observe_transactions{ did_commit = function(db)
    count = count + 1
    db:execute("INSERT INTO author (name) VALUES ('x')")
  end }
  local kinds = {}
  perilune.on_error(function(err) kinds[#kinds + 1] = err.kind end)
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(count, 16)
  count = 0
  db:write(function(db) db:execute("INSERT INTO author (name) VALUES ('a')") end)
  equal(count, 16)
  settle()
  equal(kinds, { "observation_loop", "observation_loop" })
end)

test("errors in did_commit go to perilune.on_error: the write has succeeded, and the others are notified", function()
  library()
  local errors = {}
  perilune.on_error(function(err) errors[#errors + 1] = err end)
  db:observe_transactions{ did_commit = function() error("first", 0) end }
  db:observe_transactions{ did_commit = function() error("second", 0) end }
  db:observe_transactions(recorder())
  equal(db:write(function(db) db:execute("INSERT INTO author (name) VALUES ('a')") return 1 end), 1)
  equal(taken(), "insert author 1, will_commit, did_commit")
  equal(db:execute("INSERT INTO author (name) VALUES ('a')").inserted_rowid, 2)
  local Author = perilune.record "author"
  local author = Author{ name = "x" }:insert()
  equal({ author.id, author:has_changes() }, { 3, false })
  author.name = "y"
  author:save()
  equal(author:has_changes(), false)
  equal(#Author:insert_all{ { name = "z" } }, 1)
  equal(Author:fetch_count(), 4)
  settle()
  equal({ #errors, errors[1], errors[2] }, { 10, "first", "second" })
end)

test("errors in did_rollback go to perilune.on_error if the script requested the rollback", function()
  library()
  local errors = {}
  perilune.on_error(function(err) errors[#errors + 1] = err end)
  db:observe_transactions{ did_rollback = function() error("no", 0) end }
  db:in_transaction(function(db)
    db:execute("INSERT INTO author (name) VALUES ('a')")
    return "rollback"
  end)
  settle()
  equal(errors, { "no" })
end)

test("an unhandled error in did_commit ends the script when it waits", function()
  library()
  db:observe_transactions{ did_commit = function() error("unhandled", 0) end }
  db:execute("INSERT INTO author (name) VALUES ('a')")
  perilune.on_error(function(err) equal(err, "unhandled") perilune.on_error(nil) end)
  settle()
end)

test("an error in did_rollback does not replace the error of the transaction", function()
  library()
  local told = 0
  db:observe_transactions{ did_rollback = function() told = told + 1 error("second", 0) end }
  local is_done, err = pcall(db.write, db, function(db)
    db:execute("INSERT INTO author (name) VALUES ('a')")
    error("first", 0)
  end)
  equal(err, "first")
  equal(told, 1)
  perilune.on_error(function(err) equal(err, "second") end)
  settle()
end)

test("an error in on_change is raised by the statement, and undoes it outside a transaction", function()
  library()
  local observer = db:observe_transactions(recorder{ on_change = function(event) note(event) error("not this", 0) end })
  local is_done, err = pcall(db.execute, db, "INSERT INTO author (name) VALUES ('a'), ('b')")
  equal(err, "not this")
  equal(taken(), "insert author 1, did_rollback")
  equal(db:fetch_value("SELECT COUNT(*) FROM author"), 0)
  is_done, err = pcall(db.write, db, function(db) db:execute("INSERT INTO author (name) VALUES ('a'), ('b')") end)
  equal(err, "not this")
  equal(taken(), "insert author 1, did_rollback")
  is_done, err = pcall(db.write, db, function(db)
    db:in_savepoint(function(db) db:execute("INSERT INTO author (name) VALUES ('a'), ('b')") return "commit" end)
  end)
  equal(err, "not this")
  equal(taken(), "insert author 1, did_rollback")
  db:write(function(db) pcall(db.execute, db, "INSERT INTO author (name) VALUES ('a')") end)
  equal(taken(), "insert author 1, will_commit, did_commit")
end)

test("changes that a failed statement has undone are not reported after a commit or a rollback", function()
  db:execute[[
    CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
    CREATE TABLE log (text TEXT);
    CREATE TRIGGER t_logged BEFORE INSERT ON t BEGIN
      INSERT INTO log VALUES (NEW.name);
      SELECT RAISE(ABORT, 'aborted') WHERE NEW.name = 'abort';
      SELECT RAISE(FAIL, 'failed') WHERE NEW.name = 'fail';
      SELECT RAISE(IGNORE) WHERE NEW.name = 'ignore';
      SELECT RAISE(ROLLBACK, 'rolled back') WHERE NEW.name = 'rollback';
    END;
    INSERT INTO t VALUES (1, 'there')]]
  db:observe_transactions(recorder())
  local function told(...)
    taken()
    local statements = { ... }
    db:in_transaction(function(db)
      for _, sql in ipairs(statements) do pcall(db.execute, db, sql) end
      return "commit"
    end)
    return taken()
  end
  local one = "insert log 2, insert t 2"
  equal(told "INSERT INTO t (name) VALUES ('a'), ('there')", "will_commit, did_commit")
  equal(told "INSERT OR ABORT INTO t (name) VALUES ('a'), ('abort')", "will_commit, did_commit")
  equal(told("INSERT INTO t (name) VALUES ('a')", "INSERT INTO t (name) VALUES ('b'), ('there')"), one .. ", will_commit, did_commit")
  db:execute "DELETE FROM t WHERE id > 1; DELETE FROM log WHERE rowid > 1"
  equal(told "INSERT OR FAIL INTO t (name) VALUES ('a'), ('there')", one .. ", insert log 3, will_commit, did_commit")
  db:execute "DELETE FROM t WHERE id > 1; DELETE FROM log WHERE rowid > 1"
  equal(told "INSERT INTO t (name) VALUES ('a'), ('fail')", one .. ", insert log 3, will_commit, did_commit")
  db:execute "DELETE FROM t WHERE id > 1; DELETE FROM log WHERE rowid > 1"
  equal(told "INSERT INTO t (name) VALUES ('a'), ('ignore')", one .. ", insert log 3, will_commit, did_commit")
  db:execute "DELETE FROM t WHERE id > 1; DELETE FROM log WHERE rowid > 1"
  equal(told "INSERT OR IGNORE INTO t (name) VALUES ('a'), ('there')", one .. ", insert log 3, will_commit, did_commit")
  for _, sql in ipairs{ "INSERT OR ROLLBACK INTO t (name) VALUES ('b'), ('there')", "INSERT INTO t (name) VALUES ('b'), ('rollback')" } do
    taken()
    fails(nil, db.in_transaction, db, function(db)
      db:execute(sql)
      return "commit"
    end)
    equal(taken(), "did_rollback")
  end
end)

test("a failed statement in a savepoint undoes its own changes, and rolling back the savepoint undoes the others", function()
  library()
  db:execute("INSERT INTO book (title) VALUES ('there')")
  db:observe_transactions(recorder())
  db:write(function(db)
    db:execute("INSERT INTO author (name) VALUES ('a')")
    db:in_savepoint(function(db)
      db:execute("INSERT INTO author (name) VALUES ('b')")
      pcall(db.execute, db, "INSERT INTO book (title) VALUES ('x'), ('there')")
      db:execute("INSERT INTO author (name) VALUES ('c')")
      db:in_savepoint(function(db)
        db:execute("INSERT INTO author (name) VALUES ('d')")
        return "rollback"
      end)
      return "commit"
    end)
    pcall(db.execute, db, "INSERT INTO book (title) VALUES ('x'), ('there')")
  end)
  equal(taken(), "insert author 1, insert author 2, insert author 3, will_commit, did_commit")
end)

test("a statement that fails halfway is reported as rolled back", function()
  library()
  db:execute("INSERT INTO book (title) VALUES ('b')")
  db:observe_transactions(recorder())
  fails("constraint_unique", db.execute, db, "INSERT INTO book (title) VALUES ('a'), ('b')")
  equal(taken(), "did_rollback")
  db:execute("INSERT INTO book (title) VALUES ('c')")
  equal(taken(), "insert book 2, will_commit, did_commit")
end)

test("an observer's function cannot yield", function()
  library()
  db:observe_transactions{ on_change = function() coroutine.yield() end }
  local thread = coroutine.create(function() db:execute("INSERT INTO author (name) VALUES ('a')") end)
  local is_done, err = coroutine.resume(thread)
  equal(is_done, false)
  matches(tostring(err), "yield")
  equal(db:fetch_value("SELECT COUNT(*) FROM author"), 0)
end)

test("a cancelled observer is not called again", function()
  library()
  local second
  local first = db:observe_transactions{ on_change = function() log[#log + 1] = "first" second:cancel() end,
    did_commit = function() log[#log + 1] = "commit" end }
  second = db:observe_transactions{ on_change = function() log[#log + 1] = "second" end }
  equal(second:is_active(), true)
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(taken(), "first, commit")
  equal(second:is_active(), false)
  equal(second:cancel(), false)
  first:cancel()
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(taken(), "")
  matches(tostring(first), "cancelled")
end)

test("observers that are added during a notification are notified of later events", function()
  library()
  local has_added = false
  db:observe_transactions{ on_change = function()
    log[#log + 1] = "first"
    if not has_added then db:observe_transactions{ on_change = function() log[#log + 1] = "second" end,
      did_commit = function() log[#log + 1] = "commit" end } end
    has_added = true
  end }
  db:execute("INSERT INTO author (name) VALUES ('a'), ('b')")
  equal(taken(), "first, first, second, commit")
end)

test("an observer that cancels itself in did_commit or will_commit is not notified again", function()
  library()
  local observer
  observer = db:observe_transactions(recorder{ will_commit = function() observer:cancel() log[#log + 1] = "will" end })
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(taken(), "insert author 1, will")
  do
    local observer <close> = db:observe_transactions(recorder())
    db:execute("INSERT INTO author (name) VALUES ('a')")
  end
  equal(taken(), "insert author 2, will_commit, did_commit")
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(taken(), "")
end)

test("an observer stays active if the script keeps no reference to it", function()
  library()
  db:observe_transactions(recorder())
  collectgarbage() collectgarbage()
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(taken(), "insert author 1, will_commit, did_commit")
end)

test("after_next_transaction calls its function once, after the current or next transaction", function()
  library()
  local function on_commit() log[#log + 1] = "commit" end
  local function on_rollback() log[#log + 1] = "rollback" end
  db:write(function(db)
    db:execute("INSERT INTO author (name) VALUES ('a')")
    db:after_next_transaction(on_commit, on_rollback)
    equal(taken(), "")
  end)
  equal(taken(), "commit")
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(taken(), "")
  db:after_next_transaction(on_commit)
  equal(taken(), "")
  db:execute("DELETE FROM author")
  equal(taken(), "commit")
end)

test("after_next_transaction reports a rollback", function()
  library()
  pcall(db.write, db, function(db)
    db:after_next_transaction(function() log[#log + 1] = "commit" end, function(db)
      log[#log + 1] = "rollback " .. db:fetch_value("SELECT COUNT(*) FROM author")
    end)
    db:execute("INSERT INTO author (name) VALUES ('a')")
    error("no")
  end)
  equal(taken(), "rollback 0")
  db:write(function(db)
    db:after_next_transaction(function() log[#log + 1] = "commit" end):cancel()
  end)
  equal(taken(), "")
end)

test("the README's example of changed tables works", function()
  library()
  local published = {}
  local changed = {}
  db:observe_transactions{
    on_change = function(event) changed[event.table] = true end,
    did_commit = function() published[#published + 1], changed = changed, {} end,
    did_rollback = function() changed = {} end,
  }
  db:write(function(db) db:execute("INSERT INTO author (name) VALUES ('a'); INSERT INTO book (title) VALUES ('x')") end)
  pcall(db.write, db, function(db) db:execute("DELETE FROM book") error("no") end)
  db:execute("DELETE FROM author")
  equal(published, { { author = true, book = true }, { author = true } })
end)

test("altered tables are reported with their current columns", function()
  library()
  local event
  db:observe_transactions{ on_change = function(told) event = told end }
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(event.new, { id = 1, name = "a" })
  db:execute("ALTER TABLE author RENAME COLUMN name TO full_name")
  db:execute("UPDATE author SET full_name = 'b'")
  equal(event.new, { id = 1, full_name = "b" })
  db:execute("ALTER TABLE author ADD COLUMN country DEFAULT 'US'")
  db:execute("UPDATE author SET full_name = 'c'")
  equal(event.new, { id = 1, full_name = "c", country = "US" })
  db:execute("CREATE TEMP TABLE author (x)")
  db:execute("INSERT INTO temp.author VALUES (5)")
  equal(event, { operation = "insert", table = "author", schema = "temp", row_id = 1, new = { x = 5 } })
  db:execute("DROP TABLE temp.author; CREATE TEMP TABLE author (y)")
  db:execute("INSERT INTO temp.author VALUES (5)")
  equal(event.new, { y = 5 })
end)

test("writes by records and requests are observed like SQL", function()
  library()
  local Author = perilune.record("author")
  db:observe_transactions(recorder())
  local author = Author{ name = "a" }
  author:insert()
  equal(taken(), "insert author 1, will_commit, did_commit")
  author.name = "b"
  author:update()
  Author:filter{ id = 1 }:update_all{ name = "c" }
  author:delete()
  equal(taken(), "update author 1, will_commit, did_commit, update author 1, will_commit, did_commit, "
    .. "delete author 1, will_commit, did_commit")
  db:write(function(db)
    local list = {}
    for index = 1, 10 do list[index] = { name = "n" .. index } end
    Author:insert_all(list)
  end)
  local events = taken()
  equal(select(2, events:gsub("insert", "")), 10)
  matches(events, "will_commit, did_commit")
end)

test("invalid uses of observers are refused with advice", function()
  library()
  db:execute("CREATE VIEW names AS SELECT name FROM author")
  local function refused(kind, part, ...)
    matches(fails(kind, db.observe_transactions, db, ...).message, part)
  end
  refused("argument", "expected a table with the functions")
  refused("argument", "at least one of", {})
  refused("argument", "option `on_change`: expected a function, got the string", { on_change = "print" })
  refused("unknown_option", "did you mean `on_change`?", { on_chnge = print })
  refused("unknown_table", "did you mean `author`?", { on_change = print, tables = { "auhtor" } })
  refused("argument", "is a view", { on_change = print, tables = "names" })
  refused("unknown_operation", "did you mean `update`?", { on_change = print, operations = { "updat" } })
  refused("unknown_option", "use the option `operations`", { on_change = print, kinds = "update" })
  refused("argument", "an empty one", { on_change = print, tables = {} })
  fails("argument", db.after_next_transaction, db)
  fails("argument", db.observe_transactions, nil, { on_change = print })
  local observer = db:observe_transactions{ on_change = print }
  fails("argument", observer.cancel)
  fails("argument", observer.cancel, db)
end)

test("an observer can be an option of opening a database", function()
  local other = perilune.queue(nil, { observer = recorder() })
  other:execute("CREATE TABLE t (a)")
  log = {}
  other:execute("INSERT INTO t VALUES (1)")
  equal(taken(), "insert t 1, will_commit, did_commit")
  matches(fails("unknown_option", perilune.queue, nil, { observer = { on_chang = note } }).message, "on_change")
end)

test("observers and databases may outlive each other", function()
  local path = temporary_path("observed.sqlite")
  for _, open in ipairs{ perilune.queue, perilune.pool } do
    local other = open(path)
    other:execute("CREATE TABLE IF NOT EXISTS t (a)")
    local observer = other:observe_transactions(recorder())
    local removed = other:observe_transactions(recorder())
    removed:cancel()
    other:execute("INSERT INTO t VALUES (1)")
    other:close()
    equal(observer:is_active(), false)
    observer:cancel()
    removed:cancel()
    log = {}
    local again = open(path)
    again:execute("INSERT INTO t VALUES (1)")
    equal(taken(), "")
    again:close()
  end
end)

test("observers of a pool are notified of its writer's changes", function()
  local pool = perilune.pool(temporary_path("pool.sqlite"))
  pool:execute("CREATE TABLE t (a)")
  fails("nested_access", pool.read, pool, function(db) db:observe_transactions(recorder()) end)
  pool:observe_transactions(recorder{ did_commit = function(db)
    log[#log + 1] = "did_commit " .. db:fetch_value("SELECT COUNT(*) FROM t")
  end })
  pool:execute("INSERT INTO t VALUES (1)")
  equal(taken(), "insert t 1, will_commit, did_commit 1")
  pool:write(function(db) db:execute("INSERT INTO t VALUES (1)") end)
  equal(taken(), "insert t 2, will_commit, did_commit 2")
end)

test("observers work with many tables, columns and other observers", function()
  local columns, values = {}, {}
  for index = 1, 100 do columns[index], values[index] = "c" .. index, index end
  db:execute("CREATE TABLE wide (" .. table.concat(columns, ", ") .. ")")
  local count, sum = 0, 0
  for index = 1, 50 do
    db:observe_transactions{ tables = "wide", on_change = function(event)
      count = count + 1
      for name, value in pairs(event.new) do sum = sum + value end
    end }
  end
  db:execute("INSERT INTO wide VALUES (" .. table.concat(values, ", ") .. ")")
  equal({ count, sum }, { 50, 50 * 5050 })
end)

test("a transaction that an observer leaves open is rolled back and reported", function()
  library()
  local kinds = {}
  perilune.on_error(function(err) kinds[#kinds + 1] = err.kind end)
  db:observe_transactions{ did_commit = function(db) db:execute("BEGIN; INSERT INTO author (name) VALUES ('b')") end }
  db:execute("INSERT INTO author (name) VALUES ('a')")
  equal(db:is_inside_transaction(), false)
  equal(db:fetch_values("SELECT name FROM author"), { "a" })
  settle()
  equal(kinds, { "open_transaction" })
end)

test("an observer that leaves a transaction open after each rollback is called at most 16 times", function()
  local kinds = {}
  perilune.on_error(function(err) kinds[err.kind] = (kinds[err.kind] or 0) + 1 end)
  db:observe_transactions{ did_rollback = function(db) db:execute("BEGIN") end }
  pcall(db.write, db, function() error("x") end)
  settle()
  equal(kinds, { open_transaction = 16, observation_loop = 1 })
end)

test("an observer from a weak table that was cancelled and collected counts as cancelled", function()
  local weak = setmetatable({}, { __mode = "k" })
  for _ = 1, 20 do weak[db:observe_transactions{ did_commit = function() end }] = true end
  for observer in pairs(weak) do equal(observer:cancel(), true) end
  collectgarbage()
  for observer in pairs(weak) do
    equal({ observer:cancel(), observer:is_active(), tostring(observer) }, { false, false, "observer (cancelled)" })
    do local _ <close> = observer end
  end
end)
