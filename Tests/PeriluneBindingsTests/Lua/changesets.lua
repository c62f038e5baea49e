--- Row changes as values: recorded, inspected, inverted, joined, saved and applied.

local function shop()
  db:execute "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, data)"
  db:execute "CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT)"
  db:execute "INSERT INTO author (name) VALUES ('Melville'), ('Verne'), ('Ibsen')"
end

local function names(database)
  return (database or db):fetch_values "SELECT name FROM author ORDER BY id"
end

local function write(sql, ...)
  local arguments = table.pack(...)
  return (db:record_changes(function(db) db:execute(sql, table.unpack(arguments)) end))
end

test("changes are recorded after an observed database was closed", function()
  for _ = 1, 10 do
    local observed = perilune.queue()
    observed:execute "CREATE TABLE author (id INTEGER PRIMARY KEY)"
    observed:observe_transactions{ on_change = function() end }
    observed:execute "INSERT INTO author VALUES (1)"
    observed:close()
    -- SQLite may reuse the address of the closed connection.
    local other = perilune.queue()
    other:execute "CREATE TABLE author (id INTEGER PRIMARY KEY)"
    local changeset = other:record_changes(function(db) db:execute "INSERT INTO author VALUES (1)" end)
    equal(#changeset:rows(other), 1)
  end
end)

test("the changes of a block are recorded with old and new values", function()
  shop()
  local changeset, count, text = db:record_changes(function(db, prefix)
    db:execute "INSERT INTO author (name, data) VALUES ('Woolf', x'00ff')"
    db:execute("UPDATE author SET name = ? || name WHERE id = 1", prefix)
    db:execute "DELETE FROM author WHERE id = 2"
    return 3, "done"
  end, "H. ")
  equal({ count, text }, { 3, "done" })
  local rows = changeset:rows()
  table.sort(rows, function(a, b) return a.operation < b.operation end)
  equal(rows[1], { table = "author", operation = "delete", key = { id = 2 }, old = { id = 2, name = "Verne", data = perilune.null } })
  equal(rows[2], { table = "author", operation = "insert", key = { id = 4 }, new = { id = 4, name = "Woolf", data = perilune.blob "\0\xff" } })
  equal(rows[3], { table = "author", operation = "update", key = { id = 1 }, old = { id = 1, name = "Melville" }, new = { name = "H. Melville" } })
  equal({ #rows, changeset:is_empty() }, { 3, false })
  matches(tostring(changeset), "bytes")
end)

test("rows that were written before a column was added are recorded with its default", function()
  db:execute "CREATE TABLE a (id INTEGER PRIMARY KEY, x INTEGER); INSERT INTO a VALUES (1, 10), (2, 20)"
  db:execute "ALTER TABLE a ADD COLUMN d INTEGER NOT NULL DEFAULT 7; ALTER TABLE a ADD COLUMN n TEXT; INSERT INTO a VALUES (3, 30, 8, 'n')"
  local before = db:fetch_all "SELECT * FROM a"
  local changeset = write "UPDATE a SET x = x + 1 WHERE id <> 2; DELETE FROM a WHERE id = 2"
  local rows = changeset:rows()
  table.sort(rows, function(a, b) return a.key.id < b.key.id end)
  equal(rows[1], { table = "a", operation = "update", key = { id = 1 }, old = { id = 1, x = 10 }, new = { x = 11 } })
  equal(rows[2], { table = "a", operation = "delete", key = { id = 2 }, old = { id = 2, x = 20, d = 7, n = perilune.null } })
  db:apply_changes(changeset:inverted())
  equal(db:fetch_all "SELECT * FROM a", before)
end)

test("the length of a changeset is its number of changes", function()
  shop()
  local changeset = write "UPDATE author SET name = name || '!'"
  equal({ #changeset, #changeset:inverted(), #write "UPDATE author SET name = name" }, { 3, 3, 0 })
  equal(#(changeset .. write "DELETE FROM author WHERE id = 1"), 3)
  db:execute "DROP TABLE book; DROP TABLE author"
  equal(#changeset, 3)
end)

test("net changes are recorded without undone changes", function()
  shop()
  local changeset = db:record_changes(function(db)
    db:execute "INSERT INTO author (name) VALUES ('x')"
    db:execute "DELETE FROM author WHERE name = 'x'"
    pcall(db.in_savepoint, db, function(db) db:execute "DELETE FROM author" error "no" end)
  end)
  equal({ changeset:is_empty(), tostring(changeset), changeset:rows() }, { true, "changeset (empty)", {} })
  equal(changeset == changeset:inverted(), true)
end)

test("a failing block is rolled back and records nothing", function()
  shop()
  local err = fails("constraint_unique", db.record_changes, db, function(db)
    db:execute "DELETE FROM author WHERE id = 2"
    db:execute "INSERT INTO author (name) VALUES ('Melville')"
  end)
  equal(err.columns, { "name" })
  equal(names(), { "Melville", "Verne", "Ibsen" })
  equal(#write "DELETE FROM author WHERE id = 1":rows(), 1)
end)

test("an inverted changeset undoes the changes", function()
  shop()
  local changeset = write "UPDATE author SET name = upper(name); DELETE FROM author WHERE id = 3"
  equal(names(), { "MELVILLE", "VERNE" })
  equal({ db:apply_changes(changeset:inverted()) }, { 3, 0 })
  equal(names(), { "Melville", "Verne", "Ibsen" })
  equal({ db:apply_changes(changeset) }, { 3, 0 })
  equal(names(), { "MELVILLE", "VERNE" })
end)

test("changesets can be combined into one change for each row", function()
  shop()
  local first = write "INSERT INTO author (name) VALUES ('Woolf')"
  local second = write "UPDATE author SET name = 'Eliot' WHERE id = 4"
  local both = first .. second
  equal(both == first:followed_by(second), true)
  equal(both == second:followed_by(first), false)
  local rows = both:rows()
  equal({ #rows, rows[1].operation, rows[1].new.name }, { 1, "insert", "Eliot" })
  equal(both:followed_by(both:inverted()):is_empty(), true)
  fails("argument", first.followed_by, first, "x")
  fails("argument", function() return first .. "x" end)
end)

test("a changeset can be saved as a string and applied to another database", function()
  shop()
  local other = perilune.queue()
  db:backup_to(other)
  local saved = write "UPDATE author SET name = 'Woolf' WHERE id = 2":serialize()
  equal(type(saved), "string")
  local changeset = perilune.changeset(saved)
  equal({ other:apply_changes(changeset) }, { 1, 0 })
  equal(names(other), { "Melville", "Woolf", "Ibsen" })
  equal(changeset:rows(other)[1].new.name, "Woolf")
end)

test("without a table, the columns of a changeset are numbered", function()
  shop()
  local changeset = write "UPDATE author SET name = 'Woolf' WHERE id = 2"
  equal(changeset:rows(perilune.queue())[1], {
    table = "author", operation = "update", key = { [1] = 2 }, old = { [1] = 2, [2] = "Verne" }, new = { [2] = "Woolf" } })
end)

test("invalid changeset bytes are refused", function()
  shop()
  local saved = write "UPDATE author SET name = 'Woolf' WHERE id = 2":serialize()
  for length = 1, #saved - 1 do
    local is_read, err = pcall(perilune.changeset, saved:sub(1, length))
    if not is_read then equal(err.kind, "malformed_changeset") end
  end
  fails("malformed_changeset", perilune.changeset, "hello")
  fails("malformed_changeset", perilune.changeset, saved .. "\0")
  fails("argument", perilune.changeset, 5)
  fails("argument", perilune.changeset)
  -- Changing any byte of a changeset never damages the database, whether or not the changeset can be applied.
  for position = 1, #saved do
    for _, byte in ipairs{ 0, 1, 5, 127, 255 } do
      local bytes = saved:sub(1, position - 1) .. string.char(byte) .. saved:sub(position + 1)
      local is_read, changeset = pcall(perilune.changeset, bytes)
      if is_read then pcall(db.apply_changes, db, changeset, { conflict = "omit" }) end
    end
  end
  equal(db:fetch_value "PRAGMA integrity_check", "ok")
end)

test("a conflict stops a changeset from being applied and undoes its changes", function()
  shop()
  local changeset = write "DELETE FROM author WHERE id = 1; UPDATE author SET name = 'Woolf' WHERE id = 2"
  db:apply_changes(changeset:inverted())
  db:execute "UPDATE author SET name = 'Eliot' WHERE id = 2"
  local err = fails("conflict", db.apply_changes, db, changeset)
  matches(err.message, "row 2 of author has other values than when the changes were recorded")
  equal({ err.table, err.conflict, err.operation }, { "author", "data", "update" })
  equal(names(), { "Melville", "Eliot", "Ibsen" })
  db:execute "DELETE FROM author WHERE id = 2"
  equal(fails("conflict", db.apply_changes, db, changeset).conflict, "not_found")
  equal(names(), { "Melville", "Ibsen" })
end)

test("conflicts can be resolved by one policy, by a policy for each kind, or by a function", function()
  shop()
  local changeset = write "UPDATE author SET name = 'Woolf' WHERE id = 2; INSERT INTO author (id, name) VALUES (9, 'Sand')"
  local function prepare()
    db:execute "DELETE FROM author; INSERT INTO author (id, name) VALUES (2, 'Eliot'), (9, 'Shaw')"
  end
  prepare()
  equal({ db:apply_changes(changeset, { conflict = "omit" }) }, { 0, 2 })
  equal(names(), { "Eliot", "Shaw" })
  equal({ db:apply_changes(changeset, { conflict = "replace" }) }, { 2, 0 })
  equal(names(), { "Woolf", "Sand" })
  prepare()
  equal({ db:apply_changes(changeset, { conflict = { data = "replace", conflict = "omit" } }) }, { 1, 1 })
  equal(names(), { "Woolf", "Shaw" })
  prepare()
  local seen = {}
  db:apply_changes(changeset, { conflict = function(conflict)
    seen[#seen + 1] = { conflict.kind, conflict.operation, conflict.key.id, conflict.found.name, conflict.new.name }
    return conflict.kind == "data" and "replace" or "omit"
  end })
  table.sort(seen, function(a, b) return a[1] > b[1] end)
  equal(seen, { { "data", "update", 2, "Eliot", "Woolf" }, { "conflict", "insert", 9, "Shaw", "Sand" } })
  equal(names(), { "Woolf", "Shaw" })
end)

test("a row that cannot be replaced is an error and does not affect other rows", function()
  shop()
  local changeset = write "INSERT INTO author (id, name) VALUES (9, 'Sand')"
  db:execute "UPDATE author SET id = 8 WHERE id = 9"
  equal(fails("conflict", db.apply_changes, db, changeset, { conflict = "replace" }).conflict, "constraint")
  matches(fails("argument", db.apply_changes, db, changeset, { conflict = function() return "replace" end }).message,
    'a conflict of kind constraint cannot be resolved by "replace"')
  equal({ db:apply_changes(changeset, { conflict = "omit" }) }, { 0, 1 })
  equal(#names(), 4)
end)

test("an error in the conflict function undoes the changeset, and the function cannot use the database", function()
  shop()
  local changeset = write "UPDATE author SET name = 'Woolf' WHERE id = 2"
  local err = fails(nil, db.apply_changes, db, changeset, { conflict = function() error({ mine = true }) end })
  equal(err.mine, true)
  fails("nested_access", db.apply_changes, db, changeset, { conflict = function() db:fetch_value "SELECT 1" end })
  fails("argument", db.apply_changes, db, changeset, { conflict = function() end })
  equal(fails("unknown_resolution", db.apply_changes, db, changeset, { conflict = function() return "replaced" end }).suggestion, "replace")
  equal(fails("unknown_resolution", db.apply_changes, db, changeset, { conflict = "skip" }).name, "skip")
  fails("unknown_resolution", db.apply_changes, db, changeset, { conflict = { data = "skip" } })
  equal(fails("unknown_option", db.apply_changes, db, changeset, { conflict = { date = "omit" } }).suggestion, "data")
  equal(fails("unknown_option", db.apply_changes, db, changeset, { conflicts = "omit" }).suggestion, "conflict")
  fails("argument", db.apply_changes, db, changeset, { conflict = 5 })
  fails("argument", db.apply_changes, db, "x")
  fails("argument", db.apply_changes, db, changeset:serialize())
  fails("argument", db.apply_changes, db, changeset, {}, 5)
  equal(names(), { "Melville", "Woolf", "Ibsen" })
end)

test("a changeset can be applied to some of its tables", function()
  shop()
  local changeset = write "INSERT INTO author (name) VALUES ('Woolf'); INSERT INTO book (title) VALUES ('Orlando')"
  db:apply_changes(changeset:inverted())
  equal({ db:apply_changes(changeset, { tables = { "BOOK" } }) }, { 1, 0 })
  equal({ #names(), db:fetch_value "SELECT title FROM book" }, { 3, "Orlando" })
  equal(fails("unknown_table", function() db:apply_changes(changeset, { tables = "bok" }) end).suggestion, "book")
end)

test("a changeset for a missing or different table is refused, and nothing is applied", function()
  shop()
  local changeset = write "INSERT INTO author (name) VALUES ('Woolf'); INSERT INTO book (title) VALUES ('Orlando')"
  db:apply_changes(changeset:inverted())
  db:execute "ALTER TABLE book ADD COLUMN pages"
  local err = fails("changeset_schema", db.apply_changes, db, changeset)
  equal(err.table, "book")
  equal(#names(), 3)
  fails("changeset_schema", db.apply_changes, perilune.queue(), changeset)
end)

test("foreign keys are enforced while a changeset is applied", function()
  shop()
  local changeset = write "INSERT INTO book (author_id, title) VALUES (1, 'Typee')"
  db:apply_changes(changeset:inverted())
  db:execute "DELETE FROM author WHERE id = 1"
  fails("constraint_foreign_key", db.apply_changes, db, changeset, { conflict = "omit" })
  equal(db:fetch_value "SELECT COUNT(*) FROM book", 0)
end)

test("triggers do not run while a changeset is applied", function()
  shop()
  db:execute "CREATE TABLE log (id INTEGER PRIMARY KEY, text)"
  db:execute "CREATE TRIGGER logged AFTER INSERT ON author BEGIN INSERT INTO log (text) VALUES (new.name); END"
  local changeset = write "INSERT INTO author (name) VALUES ('Woolf')"
  equal(#changeset:rows(), 2)
  db:apply_changes(changeset:inverted())
  db:apply_changes(changeset)
  equal(db:fetch_all "SELECT text FROM log"[1].text, "Woolf")
  equal(db:fetch_value "SELECT COUNT(*) FROM log", 1)
  db:execute "INSERT INTO author (name) VALUES ('Sand')"
  equal(db:fetch_value "SELECT COUNT(*) FROM log", 2)
end)

test("recording a table that cannot be recorded raises an error with the reason", function()
  shop()
  db:execute "CREATE TABLE plain (a); CREATE TABLE made (id INTEGER PRIMARY KEY, a, b AS (a + 1)); CREATE TABLE loose (k TEXT PRIMARY KEY)"
  db:execute "CREATE VIRTUAL TABLE page USING fts5(body)"
  local function message(sql)
    local err = fails("unrecordable", db.record_changes, db, function(db) db:execute(sql) end)
    return err.message
  end
  matches(message "INSERT INTO plain VALUES (1)", "`plain` cannot be recorded: it has no PRIMARY KEY")
  matches(message "INSERT INTO made (a) VALUES (1)", "generated columns")
  matches(message "INSERT INTO loose VALUES (NULL)", "NULL in their key")
  matches(message "INSERT INTO page VALUES ('x')", "virtual table")
  equal(db:fetch_value "SELECT COUNT(*) FROM plain", 0)
  equal(#write "INSERT INTO loose VALUES ('x')":rows(), 1)
end)

test("the error for a table with a synchronized full-text table names the table, and the forms that it names work", function()
  db:create_table("note", function(t)
    t:primary_key("id", "integer")
    t:column("body", "text")
  end)
  local function synchronize() db:create_fts5("note_text", { synchronize_with = "note", columns = { "body" } }) end
  local function found(word) return db:fetch_values("SELECT rowid FROM note_text WHERE note_text MATCH ?", word) end
  local function check_index() db:execute "INSERT INTO note_text(note_text, rank) VALUES('integrity-check', 1)" end
  db:execute "INSERT INTO note VALUES (1, 'red'), (2, 'blue')"
  synchronize()
  for _, sql in ipairs{ "INSERT INTO note VALUES (3, 'x')", "UPDATE note SET body = 'green'", "DELETE FROM note", "REPLACE INTO note VALUES (1, 'y')" } do
    local err = fails("unrecordable", db.record_changes, db, function(db) db:execute(sql) end)
    equal(err.table, "note")
    matches(err.message, "the changes of `note` cannot be recorded: the full-text table `note_text` is synchronized with it")
  end
  -- A write to the full-text table alone.
  matches(fails("unrecordable", db.record_changes, db, function(db)
    db:execute "INSERT INTO note_text(rowid, body) VALUES (9, 'x')"
  end).message, "virtual table")
  check_index()
  -- A history undoes the changes, and its writes run the triggers.
  local history = perilune.history(perilune.record("note"))
  history:install(db)
  db:write({ note = "recolor" }, function(db) db:execute "UPDATE note SET body = 'green' WHERE id = 1; DELETE FROM note WHERE id = 2" end)
  equal(found "green", { 1 })
  history:undo(history:transactions()[1].id)
  check_index()
  equal({ found "red", found "blue", found "green" }, { { 1 }, { 2 }, {} })
  history:remove(db)
  -- Without the full-text table during the recording.
  db:drop_table("note_text")
  local changes = write "UPDATE note SET body = 'green' WHERE id = 1; DELETE FROM note WHERE id = 2"
  synchronize()
  equal(found "green", { 1 })
  equal(db:apply_changes(changes:inverted()), 2)
  check_index()
  equal({ found "red", found "blue", found "green" }, { { 1 }, { 2 }, {} })
end)

--- Records all kinds of changes, with or without an observer of each change.
local function record_all(is_observed)
  local database = perilune.queue()
  database:execute [[
    CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT UNIQUE, size REAL, data BLOB);
    CREATE TABLE pair (y TEXT, x INTEGER, value, PRIMARY KEY (x, y));
    CREATE TABLE short (k BLOB PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE child (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a ON DELETE CASCADE);
    CREATE TABLE log (id INTEGER PRIMARY KEY, text);
    CREATE TEMPORARY TABLE passing (id INTEGER PRIMARY KEY);
    CREATE TRIGGER logged AFTER UPDATE ON a BEGIN INSERT INTO log (text) VALUES (old.name || '>' || new.name); END;
    INSERT INTO a VALUES (1, 'one', 1.5, x'0102'), (2, 'two', 2, NULL), (3, 'three', NULL, zeroblob(20)), (4, 'four', 4, 'text');
    INSERT INTO pair VALUES ('a', 1, 1), ('b', 1, 'text'), ('c', 2, NULL);
    INSERT INTO short VALUES (x'00', 1), (x'01', 2), (x'02', 3);
    INSERT INTO child VALUES (1, 1), (2, 1), (3, 2);
    INSERT INTO log VALUES (1, 'a'), (2, 'b')]]
  database:execute "DELETE FROM log WHERE id < 0"
  local before = database:serialize()
  local count = 0
  local observer = is_observed and database:observe_transactions{ on_change = function() count = count + 1 end }
  local changeset = database:record_changes(function(db)
    db:execute "INSERT INTO a VALUES (10, 'ten', 10, x'0a'), (11, 'eleven', -0.0, '')"
    db:execute "UPDATE a SET size = 7 WHERE id IN (2, 10)"
    db:execute "UPDATE a SET size = 2 WHERE id = 2"
    db:execute "UPDATE a SET id = 33 WHERE id = 3"
    db:execute "REPLACE INTO a VALUES (4, 'ten', 1, NULL)"
    db:execute "DELETE FROM a WHERE id IN (1, 11)"
    db:execute "UPDATE pair SET y = 'z', value = 9 WHERE x = 1 AND y = 'a'"
    db:execute "DELETE FROM pair WHERE x = 2"
    db:execute "UPDATE short SET value = value + 1 WHERE k > x'00'"
    db:execute "DELETE FROM short WHERE k = x'02'"
    db:execute "INSERT INTO short VALUES (x'02', 3)"
    db:execute "INSERT INTO passing VALUES (1)"
    db:execute "CREATE TABLE later (k TEXT PRIMARY KEY, v)"
    db:execute("INSERT INTO later VALUES (?, ?)", ("k"):rep(200), 1 << 62)
    pcall(db.in_savepoint, db, function(db) db:execute "DELETE FROM pair; UPDATE a SET name = id" error "no" end)
    db:execute "DELETE FROM log"
  end)
  local changes = {}
  for i, row in ipairs(changeset:rows(database)) do changes[i] = row end
  equal(is_observed and count > 20 or count == 0, true)
  if observer then observer:cancel() end
  database:execute "DROP TABLE later"
  database:apply_changes(changeset:inverted(), { tables = { "a", "pair", "short", "child", "log" } })
  return changeset, changes, before, database
end

local function sorted_bytes(changeset)
  local bytes = { changeset:serialize():byte(1, -1) }
  table.sort(bytes)
  return bytes
end

local function contents(database)
  local found = {}
  for i, name in ipairs{ "a", "pair", "short", "child", "log" } do found[i] = database:fetch_all("SELECT * FROM " .. name .. " ORDER BY 1, 2") end
  return found
end

test("an observer of changes does not affect the recording", function()
  local plain, expected = record_all(false)
  local observed, changes, before, database = record_all(true)
  local function order(rows)
    local texts = {}
    for i, row in ipairs(rows) do
      local parts = { row.table, row.operation }
      for _, part in ipairs{ "key", "old", "new" } do
        for name, value in pairs(row[part] or {}) do parts[#parts + 1] = part .. "." .. name .. "=" .. (math.type(value) or type(value)) .. tostring(value) end
      end
      table.sort(parts)
      texts[i] = table.concat(parts, " ")
    end
    table.sort(texts)
    return texts
  end
  equal(order(changes), order(expected))
  equal(#changes > 10, true)
  -- Includes changes by triggers and foreign keys alone, which no row reveals.
  equal(sorted_bytes(observed), sorted_bytes(plain))
  equal(contents(database), contents(perilune.deserialize(before)))
  equal((observed .. plain:inverted()):is_empty(), true)
end)

test("with an observer, blob writes and truncated tables are recorded", function()
  shop()
  db:execute "UPDATE author SET data = x'01020304'"
  local function record()
    local changeset = db:record_changes(function(db)
      local blob = db:open_blob("author", "data", 1, { write = true })
      blob:write "xy"
      blob:close()
    end)
    db:apply_changes(changeset:inverted())
    return changeset:rows()
  end
  local plain = record()
  local emptied = write "DELETE FROM author"
  db:apply_changes(emptied:inverted())
  local observer = db:observe_transactions{ on_change = function() end }
  equal(record(), plain)
  equal(plain[1].new, { data = perilune.blob "xy\3\4" })
  equal(#write "DELETE FROM author":rows(), 3)
  observer:cancel()
end)

test("a whole number that is inserted as a REAL key is recorded as a float", function()
  for _, definition in ipairs{ "(q REAL PRIMARY KEY NOT NULL, v)", "(q DOUBLE, v, PRIMARY KEY (q)) WITHOUT ROWID" } do
    db:execute("DROP TABLE IF EXISTS m; CREATE TABLE m " .. definition .. "; INSERT INTO m VALUES (1, 'a')")
    local changeset = write "INSERT INTO m VALUES (2, 'x'); UPDATE m SET v = 'y' WHERE q = 2; DELETE FROM m; INSERT INTO m VALUES (1, 'b')"
    equal(#changeset:rows(), 1)
    equal(changeset:rows()[1].new, { v = "b" })
    db:apply_changes(changeset:inverted())
    equal(db:fetch_value "SELECT v FROM m", "a")
  end
end)

test("replacing a key by an equal key of another type is refused, and other key changes are recorded", function()
  db:execute [[
    CREATE TABLE word (k TEXT PRIMARY KEY COLLATE NOCASE, v);
    CREATE TABLE bare (k PRIMARY KEY NOT NULL, v);
    INSERT INTO word VALUES ('abc', 1), ('def', 2);
    INSERT INTO bare VALUES (1, 1), ('1', 2);
  ]]
  local reason = "`%s` cannot be recorded: keys of its rows changed to values that SQLite considers equal"
  local function refused(name, sql)
    local err = fails("unrecordable", db.record_changes, db, function(db) db:execute(sql) end)
    equal(err.table, name)
    matches(err.message, (reason:format(name)))
  end
  refused("word", "UPDATE word SET k = 'ABC' WHERE k = 'abc'")
  refused("word", "DELETE FROM word; INSERT INTO word VALUES ('DEF', 3)")
  refused("bare", "UPDATE bare SET k = 1.0 WHERE v = 1")
  equal(db:fetch_values "SELECT k FROM word", { "abc", "def" })
  equal(write "UPDATE word SET k = 'ABC' WHERE v = 1; UPDATE word SET k = 'abc' WHERE v = 1":is_empty(), true)
  local rows = write "INSERT INTO word VALUES ('x', 3); UPDATE word SET k = 'X' WHERE v = 3; UPDATE word SET k = 'ghi' WHERE v = 2":rows()
  table.sort(rows, function(a, b) return a.key.k < b.key.k end)
  equal(rows, {
    { table = "word", operation = "insert", key = { k = "X" }, new = { k = "X", v = 3 } },
    { table = "word", operation = "delete", key = { k = "def" }, old = { k = "def", v = 2 } },
    { table = "word", operation = "insert", key = { k = "ghi" }, new = { k = "ghi", v = 2 } },
  })
end)

test("repeated truncation of a table by one statement is recorded", function()
  shop()
  local function empty() db:execute "DELETE FROM book" end
  for _ = 1, 3 do
    db:execute "INSERT INTO book (title) VALUES ('Typee'), ('Omoo')"
    empty()
  end
  db:execute "INSERT INTO book (title) VALUES ('Typee'), ('Omoo')"
  equal(#db:record_changes(empty):rows(), 2)
end)

test("adding or removing an observer during a recording leaves it complete", function()
  shop()
  local count = 0
  local observer = db:observe_transactions{ on_change = function() count = count + 1 end }
  local inner
  local changeset = db:record_changes(function(db)
    db:execute "UPDATE author SET data = 1 WHERE id = 1"
    observer:cancel()
    db:execute "UPDATE author SET data = 1 WHERE id = 2"
    inner = db:record_changes(function(db) db:execute "UPDATE author SET data = 1 WHERE id = 3" end)
  end)
  equal({ #changeset:rows(), #inner:rows(), count }, { 3, 1, 1 })
  equal(#write "UPDATE author SET data = 2":rows(), 3)
  local added
  changeset = db:record_changes(function(db)
    db:execute "UPDATE author SET data = 3 WHERE id = 1"
    added = db:observe_transactions{ on_change = function() end }
    db:execute "UPDATE author SET data = 3 WHERE id = 2"
  end)
  equal(#changeset:rows(), 2)
  added:cancel()
  equal(#write "UPDATE author SET data = 4 WHERE id = 3":rows(), 1)
  local watching = db:observe_transactions{ on_change = function() end }
  matches(fails("unrecordable", db.record_changes, db, function(db)
    db:execute "INSERT INTO author (name) VALUES ('Sand'); ALTER TABLE author ADD COLUMN more; UPDATE author SET more = 1"
  end).message, "the columns of a table changed")
  watching:cancel()
end)

test("recordings can be nested and may end inside a transaction", function()
  shop()
  db:write(function(db)
    db:execute "DELETE FROM author WHERE id = 1"
    local inner
    local outer = db:record_changes(function(db)
      db:execute "DELETE FROM author WHERE id = 2"
      inner = db:record_changes(function(db) db:execute "DELETE FROM author WHERE id = 3" end)
    end)
    equal({ #outer:rows(db), #inner:rows(db) }, { 2, 1 })
    db:apply_changes(outer:inverted())
    equal(names(), { "Verne", "Ibsen" })
  end)
end)

test("a read block can neither record nor apply changesets", function()
  shop()
  local changeset = write "DELETE FROM author"
  db:apply_changes(changeset:inverted())
  db:read(function(db)
    fails("readonly", db.record_changes, db, function() end)
    fails("readonly", db.apply_changes, db, changeset)
  end)
  equal(#names(), 3)
  fails("argument", db.record_changes, db)
  fails("argument", db.record_changes, db, {})
end)

test("observations and observers are notified of changes from a changeset", function()
  shop()
  local changeset = write "DELETE FROM author WHERE id = 1"
  local observation = db:observe(function(db) return db:fetch_value "SELECT COUNT(*) FROM author" end)
  observation:try_next()
  local events = {}
  local observer = db:observe_transactions{ on_change = function(event) events[#events + 1] = event.operation .. " " .. event.table end }
  db:apply_changes(changeset:inverted())
  equal({ observation:try_next() }, { true, 3 })
  equal(events, { "insert author" })
  observer:cancel()
  observation:cancel()
end)

test("unknown methods and fields of changesets are errors", function()
  shop()
  local changeset = write "DELETE FROM author"
  equal(fails("unknown_method", function() return changeset:row() end).suggestion, "rows")
  fails("unknown_method", function() return changeset.bytes end)
end)

test("changeset methods refuse surplus arguments and calls without a colon", function()
  shop()
  local changeset = write "DELETE FROM author"
  for name, count in pairs{ is_empty = 0, rows = 1, serialize = 0, inverted = 0, followed_by = 1 } do
    local arguments = table.move({ name == "rows" and db or changeset }, 1, count, 1, {})
    arguments[count + 1] = "surplus"
    matches(fails("argument", changeset[name], changeset, table.unpack(arguments)).message, "changeset:" .. name .. ": takes")
    matches(fails("argument", changeset[name], "no changeset").message, "colon")
  end
  matches(fails("argument", perilune.changeset, changeset:serialize(), 1).message, "takes one argument")
  matches(fails("argument", db.apply_changes, db, changeset, {}, 1).message, "takes at most 2 arguments")
  matches(fails("argument", changeset.rows, changeset, {}).message, "expected a database")
  matches(fails("argument", perilune.vector, { 1 }, 2).message, "perilune.vector: takes one argument")
  matches(fails("argument", perilune.vector_numbers, perilune.vector{ 1 }, 2).message, "perilune.vector_numbers: takes one argument")
  matches(fails("argument", perilune.record("author").nearest, perilune.record("author"), "data", { 1 }, 2, 3).message,
    "nearest: takes at most 3 arguments")
end)

test("foreign key actions are recorded in the changeset and are applied once", function()
  for _, action in ipairs{ "CASCADE", "SET NULL", "SET DEFAULT" } do
    db:execute(([[
      DROP TABLE IF EXISTS leaf; DROP TABLE IF EXISTS branch;
      CREATE TABLE branch (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES branch ON DELETE CASCADE ON UPDATE CASCADE);
      CREATE TABLE leaf (id INTEGER PRIMARY KEY, branch_id INTEGER DEFAULT 1 REFERENCES branch ON DELETE %s ON UPDATE CASCADE, note TEXT);
      INSERT INTO branch VALUES (1, NULL), (2, NULL), (3, 2), (4, 3);
      INSERT INTO leaf VALUES (1, 2, 'a'), (2, 4, 'b'), (3, 1, 'c')]]):format(action))
    local function rows() return { db:fetch_values "SELECT id || ':' || ifnull(parent_id, '') FROM branch ORDER BY id",
      db:fetch_values "SELECT id || ':' || ifnull(branch_id, '') || note FROM leaf ORDER BY id" } end
    for _, sql in ipairs{ "DELETE FROM branch WHERE id = 2", "UPDATE branch SET id = 20 WHERE id = 2" } do
      local before = rows()
      local changeset = db:record_changes(function(db) db:execute(sql) end)
      local after = rows()
      db:apply_changes(changeset:inverted())
      equal(rows(), before)
      db:apply_changes(changeset)
      equal(rows(), after)
      db:apply_changes(changeset:inverted())
      equal({ rows(), db:fetch_value "PRAGMA foreign_keys", db:fetch_value "SELECT count(*) FROM pragma_foreign_key_check" }, { before, 1, 0 })
    end
  end
end)

test("a changeset that would leave references to deleted rows is refused", function()
  db:execute [[
    CREATE TABLE branch (id INTEGER PRIMARY KEY); CREATE TABLE leaf (id INTEGER PRIMARY KEY, branch_id INTEGER REFERENCES branch ON DELETE CASCADE);
    INSERT INTO branch VALUES (1); INSERT INTO leaf VALUES (1, 1)]]
  local changeset = db:record_changes(function(db) db:execute "DELETE FROM branch" end)
  db:apply_changes(changeset:inverted())
  db:execute "INSERT INTO leaf VALUES (2, 1)"
  fails("constraint_foreign_key", db.apply_changes, db, changeset)
  equal({ db:fetch_value "SELECT count(*) FROM leaf", db:fetch_value "SELECT count(*) FROM branch", db:fetch_value "PRAGMA foreign_keys" }, { 2, 1, 1 })
  db:execute "DELETE FROM leaf WHERE id = 2"
  db:apply_changes(changeset)
  equal(db:fetch_value "SELECT count(*) FROM leaf", 0)
end)
