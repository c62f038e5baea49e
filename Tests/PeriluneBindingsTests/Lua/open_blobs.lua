--- Blobs and texts that are read and written incrementally.

local function file(content)
  db:execute "CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, content BLOB, size INTEGER)"
  db:execute("INSERT INTO file (name, content, size) VALUES ('a', ?, 12)", perilune.blob(content or "Hello, world"))
end

test("a blob is read in pieces up to its end", function()
  file()
  db:read(function(db)
    local blob = db:open_blob("file", "content", 1)
    equal({ blob:size(), #blob, blob:read(5), blob:read(100), blob:read(1) }, { 12, 12, "Hello", ", world" })
    equal(blob:read(), "")
    equal(blob:read(0), "")
    equal({ blob:seek("set", 7), blob:read(), blob:seek("end", -5), blob:read(2), blob:seek("cur", -1), blob:read(1), blob:seek() },
      { 7, "world", 7, "wo", 8, "o", 9 })
    equal(tostring(blob), "open blob (12 bytes)")
    blob:close()
    equal(tostring(blob), "open blob (closed)")
    fails("closed", blob.read, blob)
    blob:close()
  end)
end)

test("pieces iterates over the rest of a blob", function()
  file()
  db:read(function(db)
    local blob = db:open_blob("file", "content", 1)
    local list = {}
    for piece in blob:pieces(5) do list[#list + 1] = piece end
    equal(list, { "Hello", ", wor", "ld" })
    blob:seek("set")
    for piece in blob:pieces() do equal(piece, "Hello, world") end
    matches(fails("argument", blob.pieces, blob, 0).message, "at least 1")
  end)
end)

test("a blob is written in pieces without changing its size", function()
  file()
  db:write(function(db)
    local blob <close> = db:open_blob("FILE", "Content", 1, { write = true })
    equal(blob:seek("set", 7), 7)
    equal(blob:write("SQL"):write(perilune.blob("!!")):seek(), 12)
    local err = fails("range", blob.write, blob, "x")
    matches(err.message, "1 bytes at position 12 do not fit into a blob of 12 bytes")
    fails("range", blob.seek, blob, "set", 13)
    fails("range", blob.seek, blob, "cur", -13)
    fails("range", blob.seek, blob, "end", math.maxinteger)
  end)
  equal(tostring(db:fetch_value "SELECT content FROM file"), "Hello, SQL!!")
end)

test("writing to a blob is undone with its transaction", function()
  file()
  pcall(db.write, db, function(db)
    db:open_blob("file", "content", 1, { write = true }):write("XXXXX")
    equal(tostring(db:fetch_value "SELECT content FROM file"), "XXXXX, world")
    error "no"
  end)
  equal(tostring(db:fetch_value "SELECT content FROM file"), "Hello, world")
end)

test("text can be opened like a blob", function()
  file()
  db:read(function(db) equal(db:open_blob("file", "name", 1):read(), "a") end)
end)

test("an open blob is unusable after its block", function()
  file()
  local kept
  db:read(function(db) kept = db:open_blob("file", "content", 1) end)
  matches(fails("dead_handle", kept.read, kept).message, "after the block ended")
  equal(tostring(kept), "open blob (closed)")
  kept:close()
  db:write(function(db)
    db:in_savepoint(function(db) kept = db:open_blob("file", "content", 1) return "commit" end)
    fails("dead_handle", kept.size, kept)
    db:execute "DROP TABLE file"
  end)
end)

test("dropped blobs do not stay open", function()
  file()
  db:write(function(db)
    for _ = 1, 100 do db:open_blob("file", "content", 1, { write = true }) end
    collectgarbage()
    db:open_blob("file", "content", 1):close()
    db:execute "DELETE FROM file"
  end)
end)

test("an open blob becomes invalid when its row is changed or deleted", function()
  file()
  db:write(function(db)
    local blob = db:open_blob("file", "content", 1, { write = true })
    db:execute "UPDATE file SET name = 'b'"
    matches(fails("expired_blob", blob.read, blob).message, "the row was changed or deleted after the blob was opened")
    fails("expired_blob", blob.write, blob, "x")
    blob:close()
    blob = db:open_blob("file", "content", 1)
    equal(blob:read(5), "Hello")
    db:execute "DELETE FROM file"
    fails("expired_blob", blob.read, blob)
  end)
end)

test("an open blob can move to another row", function()
  file()
  db:execute("INSERT INTO file (content) VALUES (?)", perilune.blob("second"))
  db:read(function(db)
    local blob = db:open_blob("file", "content", 1)
    blob:read(3)
    equal({ blob:reopen(2):read(), #blob }, { "second", 6 })
    fails("sql", blob.reopen, blob, 3)
    fails("argument", blob.reopen, blob, "1")
  end)
end)

test("the error of a blob that cannot be opened has the reason", function()
  file()
  db:execute "CREATE VIEW newest AS SELECT * FROM file"
  db:execute "CREATE TABLE pair (a TEXT PRIMARY KEY, b BLOB) WITHOUT ROWID"
  db:execute "CREATE VIRTUAL TABLE page USING fts5(body)"
  db:execute "CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"
  db:execute "INSERT INTO word (text) VALUES ('x')"
  db:execute "INSERT INTO page (body) VALUES ('x')"
  db:write(function(db)
    local function message(kind, ...) return fails(kind, db.open_blob, db, ...).message end
    equal(fails("unknown_table", db.open_blob, db, "fil", "content", 1).suggestion, "file")
    equal(fails("unknown_column", db.open_blob, db, "file", "contents", 1).suggestion, "content")
    matches(message("not_found", "file", "content", 7), "no row of `file` has the row id 7")
    matches(message("argument", "file", "size", 1), "is of type integer")
    matches(message("argument", "newest", "content", 1), "is a view")
    matches(message("argument", "pair", "b", 1), "WITHOUT ROWID")
    matches(message("argument", "page", "body", 1), "virtual table")
    matches(message("argument", "page_data", "block", 1, { write = true }), "shadow table")
    message("argument", "file", "content", "1")
    message("argument", "file", "content", 1.5)
    message("argument", "file", 1, 1)
    message("argument", {}, "content", 1)
    message("argument", "file", "content", 1, {}, 5)
    equal(fails("unknown_option", db.open_blob, db, "file", "content", 1, { writes = true }).suggestion, "write")
    matches(message("sql", "word", "text", 1, { write = true }), "cannot open indexed column for writing")
    equal(fails("unknown_method", function() return db:open_blob("file", "content", 1):wirte("x") end).suggestion, "write")
  end)
  fails("argument", db.open_blob, db, "sqlite_master", "sql", 1)
  matches(fails("usage", db.open_blob, db, "file", "content", 1).message, "call it in db:read or db:write")
  db:read(function(db)
    fails("readonly", db.open_blob, db, "file", "content", 1, { write = true })
    local blob = db:open_blob("file", "content", 1)
    matches(fails("readonly", blob.write, blob, "x").message, "opened for reading")
    fails("argument", blob.write, blob, 5)
    fails("argument", blob.read, blob, -1)
    fails("argument", blob.read, blob, 1.5)
    fails("argument", blob.seek, blob, "middle")
    fails("argument", blob.seek, blob, "set", "1")
    fails("argument", blob.read, "blob")
    fails("argument", blob.size, blob, 1)
  end)
  db:write_without_transaction(function(db)
    equal(db:open_blob("file", "content", 1):read(5), "Hello")
    matches(fails("usage", db.open_blob, db, "file", "content", 1, { write = true }).message, "in a transaction")
  end)
end)

test("SQLite's internal tables cannot be opened under any name", function()
  file()
  db:write(function(db)
    for _, name in ipairs{ "sqlite_master", "sqlite_schema", "SQLITE_SCHEMA", "main.sqlite_schema", "sqlite_temp_master" } do
      local is_open, err = pcall(db.open_blob, db, name, "sql", 1, { write = true })
      equal(is_open, false)
      equal(err.kind == "unknown_table" or err.kind == "argument", true)
    end
  end)
end)

test("blobs cannot be used in callbacks that SQLite calls", function()
  file()
  db:read(function(db)
    local blob = db:open_blob("file", "content", 1)
    local kind
    perilune.queue():write(function(other)
      other:execute "CREATE TABLE t (a)"
    end)
    local queue = perilune.queue()
    queue:add_function("peek", 0, function() return blob:read(1) end)
    local is_ok, err = pcall(queue.fetch_value, queue, "SELECT peek()")
    equal({ is_ok, err.kind }, { false, "nested_access" })
  end)
end)

test("observations and observers are notified of writes to a blob", function()
  file()
  local events = {}
  local observation = db:observe(function(db) return tostring(db:fetch_value "SELECT content FROM file") end)
  equal(select(2, observation:try_next()), "Hello, world")
  local observer = db:observe_transactions{ on_change = function(event) events[#events + 1] = { event.operation, event.table, event.row_id } end }
  db:write(function(db) db:open_blob("file", "content", 1, { write = true }):write("J"):write("o") end)
  equal(select(2, observation:try_next()), "Jollo, world")
  equal(events, { { "update", "file", 1 }, { "update", "file", 1 } })
  observer:cancel()
  observation:cancel()
end)

test("an observation that reads a blob in pieces is notified of changes to the row", function()
  file()
  local observation = db:observe(function(db) return db:open_blob("file", "content", 1):read(5) end)
  equal(select(2, observation:try_next()), "Hello")
  db:execute("UPDATE file SET content = ?", perilune.blob("Other"))
  equal(select(2, observation:try_next()), "Other")
  observation:cancel()
end)

test("a blob can be opened in a table with a column named rowid", function()
  db:execute "CREATE TABLE t (rowid TEXT, content BLOB)"
  db:execute("INSERT INTO t VALUES ('x', x'616263')")
  db:read(function(db) equal(db:open_blob("t", "content", 1):read(), "abc") end)
end)

-- SQLite would pass a freed table to its hook.
test("a blob cannot be written after a schema change", function()
  file()
  local events = {}
  db:observe_transactions{ on_change = function(event) events[#events + 1] = event.table end }
  db:write(function(db)
    local blob = db:open_blob("file", "content", 1, { write = true })
    blob:write("J")
    db:execute "ALTER TABLE file RENAME TO document"
    local err = fails("expired_blob", blob.write, blob, "x")
    equal(err.message, "blob:write: the schema was changed after the blob was opened; open it again")
    db:open_blob("document", "content", 1, { write = true }):write("H")
  end)
  equal(events, { "file", "document" })
end)

test("writing to a blob without a row is an error, and no change is reported", function()
  file()
  local events = {}
  db:observe_transactions{ on_change = function(event) events[#events + 1] = event.operation end }
  db:write(function(db)
    local blob = db:open_blob("file", "content", 1, { write = true })
    db:execute "DELETE FROM file"
    fails("expired_blob", blob.write, blob, "x")
  end)
  equal(events, { "delete" })
end)
