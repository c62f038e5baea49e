--- The history of tables.

local Author, Book, history

local function make_books()
  db:execute[[
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author ON DELETE CASCADE, title TEXT, price REAL,
      cover BLOB, length INTEGER GENERATED ALWAYS AS (length(title)));
    INSERT INTO author VALUES (1, 'Melville');
    INSERT INTO book (id, author_id, title, price) VALUES (1, 1, 'Typee', 5)]]
  Author, Book = perilune.record("author"), perilune.record("book")
  history = perilune.history(Book)
  history:install(db)
  perilune.history(Author):install()
end

--- Makes the existing history older.
local function date(time)
  db:execute("UPDATE book_history SET history_day = julianday(?) WHERE history_day > julianday('2020-01-01')", time)
end

local function titles(time)
  local list = {}
  for index, book in ipairs(Book:as_of(time):fetch_all()) do list[index] = book.title end
  return list
end

test("a class returns its records at an earlier time", function()
  make_books()
  date("2001-01-01 00:00:00.000")
  db:execute("INSERT INTO book (id, title, cover) VALUES (2, 'Omoo', x'00ff')")
  date("2002-01-01 00:00:00.000")
  db:execute("UPDATE book SET title = 'Typee!' WHERE id = 1")
  date("2003-01-01 00:00:00.000")
  db:execute("DELETE FROM book WHERE id = 2; UPDATE book SET id = 7")
  date("2004-01-01 00:00:00.000")
  equal(titles("2000-06-01"), {})
  equal(titles("2001-06-01"), { "Typee" })
  equal(titles(perilune.date("2002-06-01")), { "Typee", "Omoo" })
  equal(titles("2003-06-01"), { "Typee!", "Omoo" })
  equal(Book:as_of("2005-01-01"):fetch_all()[1].id, 7)
  equal(#titles("2005-01-01"), 1)
  local omoo = Book:as_of("2002-06-01"):fetch_all()[2]
  equal(tostring(omoo.cover), "\0\xff")
  equal(omoo.length, 4)
end)

test("the past records of a class are a request", function()
  make_books()
  Book.author = Book:belongs_to(Author)
  Author.books = Author:has_many(Book)
  db:execute("INSERT INTO book (id, author_id, title, price) VALUES (2, 1, 'Omoo', 6), (3, NULL, 'Mardi', 7)")
  date("2001-01-01 00:00:00.000")
  db:execute("UPDATE book SET price = price * 2; DELETE FROM book WHERE id = 2")
  local then_ = Book:as_of("2001-06-01")
  equal(then_:order("price", "id"):pluck("price"), { 5.0, 6.0, 7.0 })
  equal(then_:filter{ title = "Omoo" }:fetch_one().price, 6.0)
  equal({ then_:fetch_count(), then_:filter(Book.c.price:gt(5)):fetch_count(), then_:sum("price") }, { 3, 2, 18.0 })
  equal(then_:order(Book.c.price:desc()):limit(1, 1):fetch_one().title, "Omoo")
  equal(then_:select("title", Book.c.price:as("cost")):filter{ id = 3 }:fetch_one().cost, 7.0)
  equal(then_:find(2).title, "Omoo")
  -- Other tables are unaffected.
  equal(then_:filter{ id = 1 }:including_optional(Book.author):fetch_one().author.name, "Melville")
  equal(then_:joining_required(Book.author):fetch_count(), 2)
  equal(then_:aliased("b"):filter("b.price > 6"):pluck("title"), { "Mardi" })
  equal(Author:filter(Author.c.id:is_in(then_:filter{ title = "Omoo" }:select("author_id"))):fetch_count(), 1)
  equal(then_:order("id"):page_after(nil, 2).records[2].title, "Omoo")
  -- The time is a bound value of one shared statement.
  matches(tostring(then_), "2001-06-01")
  equal(Book:as_of("2100-01-01"):filter{ title = "Omoo" }:fetch_one(), nil)
  -- The rows of one key are found through the index.
  matches(tostring(db:explain(then_:filter{ id = 1 }:sql())), "SEARCH book_history USING INDEX book_history_by_key (id=?")
  matches(fails("argument", then_.delete_all, then_), "only rows of a table can be written")
  matches(fails("argument", then_.as_of, then_, "2001-01-01"), "must be the first")
end)

test("a version is visible from the millisecond of its change", function()
  make_books()
  for _, time in ipairs{ "1970-01-01 00:00:00.001", "2026-03-01 12:34:56.789", "9999-12-31 23:59:59.999", "0000-01-01 00:00:00.000" } do
    db:execute("UPDATE book_history SET history_day = julianday(?)", time)
    equal(Book:find(1):history()[1].time, perilune.date(time))
    equal(Book:as_of(time):fetch_count(), 1)
  end
  db:execute("UPDATE book_history SET history_day = julianday('2026-03-01 12:34:56.789')")
  equal(Book:as_of("2026-03-01 12:34:56.788"):fetch_count(), 0)
  equal(Book:find(1):history()[1].time, perilune.date("2026-03-01 12:34:56.789"))
end)

test("a history with text times is upgraded", function()
  make_books()
  history:remove(db, { keep_versions = true })
  db:execute[[
    CREATE TABLE old (history_version INTEGER PRIMARY KEY, history_operation TEXT NOT NULL, history_time DATETIME NOT NULL,
      history_transaction INTEGER REFERENCES perilune_transaction (id), id INTEGER, author_id INTEGER, title TEXT, price REAL, cover BLOB,
      length INTEGER);
    INSERT INTO old SELECT history_version, history_operation, '2001-02-03 04:05:06.789', history_transaction, id, author_id, title, price, cover, length FROM book_history;
    DROP TABLE book_history; ALTER TABLE old RENAME TO book_history]]
  matches(fails("history", function() return Book:as_of("2001-06-01"):fetch_all() end), "history:install(db)")
  history:install()
  equal(Book:as_of("2001-02-03 04:05:06.789"):pluck("title"), { "Typee" })
  equal(Book:as_of("2001-02-03 04:05:06.788"):fetch_count(), 0)
  db:execute("UPDATE book SET price = 6")
  equal({ #Book:find(1):history(), Book:find(1):history()[1].time }, { 2, perilune.date("2001-02-03 04:05:06.789") })
end)

test("past records can be compared with current ones and restored", function()
  make_books()
  db:execute("INSERT INTO book (id, title, price) VALUES (2, 'Omoo', 6)")
  date("2001-01-01 00:00:00.000")
  db:execute("UPDATE book SET price = 7 WHERE id = 1; DELETE FROM book WHERE id = 2; INSERT INTO book (id, title) VALUES (3, 'Mardi')")
  local then_ = Book:as_of("2001-06-01")
  equal({ #then_:except(Book:all()):fetch_all(), then_:union(Book:all()):fetch_count() }, { 2, 4 })
  local old = then_:aliased("old")
  local changed = Book:join(old, Book.c.id:eq(old.c.id) & Book.c.price:ne(old.c.price)):select(Book.c.price:as("now"), old.c.price:as("before"))
  equal({ changed:fetch_one().now, changed:fetch_one().before }, { 7.0, 5.0 })
  equal(Book:left_join(old, Book.c.id:eq(old.c.id)):filter(old.c.id:is_null()):pluck("title"), { "Mardi" })
  local prepared = then_:filter(Book.c.price:gt(perilune.parameter("least"))):prepare()
  equal(prepared:fetch_all{ least = 5 }[1].title, "Omoo")
  Book:insert_from(then_:filter{ id = 2 }:select("id", "title", "price"))
  equal(Book:find(2).price, 6.0)
end)

test("the default scope of a class applies to past records", function()
  make_books()
  db:execute("ALTER TABLE book ADD COLUMN deleted_at TEXT; UPDATE book SET title = NULL; INSERT INTO book (id, title) VALUES (2, 'Omoo')")
  history:install()
  date("2001-01-01 00:00:00.000")
  local Soft = perilune.record("book", { soft_delete = true })
  perilune.history(Soft)
  function Soft.requests:default() return self:filter(Soft.c.title:is_not_null()) end
  Soft:find(2):delete()
  equal({ Soft:fetch_count(), Soft:as_of("2001-06-01"):pluck("id"), Soft:unscoped():as_of("2001-06-01"):fetch_count() }, { 0, { 2 }, 2 })
end)

test("a record has versions with their transactions and notes", function()
  make_books()
  equal(db:write({ note = "sale" }, function(db, a)
    Book:find(db, 1):update_changes(db, function(book) book.price, book.title = 4, "Typee (sale)" end)
    return a, 2
  end, 1), 1)
  local book = Book:find(1)
  book:delete()
  local versions = book:history()
  equal({ versions[1].operation, versions[2].operation, versions[3].operation }, { "start", "update", "delete" })
  equal(versions[2].changed, { "title", "price", "length" })
  equal(versions[2].note, "sale")
  equal(versions[2].transaction, 1)
  equal(versions[3].note, nil)
  equal(versions[1].record.title, "Typee")
  equal(versions[3].record, nil)
  equal(versions[1].time.year > 2020, true)
  equal(history:transactions()[1].note, "sale")
  equal(#history:transactions(db, 1), 1)
end)

test("db:write accepts a note for the histories", function()
  make_books()
  equal(table.pack(db:write({ note = "sale" }, function(db, a)
    db:execute("UPDATE book SET price = ? WHERE id = 1", a)
    db:execute("UPDATE author SET name = 'Herman' WHERE id = 1")
    return a, "b"
  end, 4)), { 4, "b", n = 2 })
  equal({ Book:find(1):history()[2].note, Author:find(1):history()[2].note }, { "sale", "sale" })
  equal(history:transactions()[1].note, "sale")
  -- A failure leaves neither changes nor a note.
  fails("test", function()
    db:write({ note = "mistake" }, function(db)
      db:execute("DELETE FROM book")
      error{ kind = "test", message = "stop" }
    end)
  end)
  equal({ Book:fetch_count(), #history:transactions() }, { 1, 1 })
  db:execute("UPDATE book SET price = 9")
  equal(Book:find(1):history()[3].note, nil)
  matches(fails("unknown_option", function() db:write({ notes = "x" }, function() end) end), "note")
  matches(fails("argument", function() db:write({ note = 5 }, function() end) end), "expected a string")
  matches(fails("argument", function() db:write({}, function() end) end), "option `note`")
  matches(fails("argument", function() db:write({ note = "x" }) end), "expected a function")
  db:write({ note = "outer" }, function(db)
    db:execute("UPDATE book SET price = 10")
    db:write({ note = "inner" }, function(db) db:execute("UPDATE book SET price = 11") end)
    pcall(db.write, db, { note = "undone" }, function(db)
      db:execute("UPDATE book SET price = 99")
      error("stop")
    end)
    db:execute("UPDATE book SET price = 12")
  end)
  local versions, notes = Book:find(1):history(), {}
  for index = #versions - 2, #versions do notes[#notes + 1] = versions[index].note end
  equal(notes, { "outer", "inner", "outer" })
  history:remove(db)
  perilune.history(Author):remove(db)
  db:execute("DROP TABLE perilune_transaction")
  matches(fails("history", function() db:write({ note = "x" }, function() end) end), "no history")
end)

test("a transaction can be undone in all tables", function()
  make_books()
  local before = { db:fetch_all("SELECT * FROM author"), db:fetch_all("SELECT * FROM book") }
  db:write({ note = "mistake" }, function(db)
    db:execute("INSERT INTO book (id, title) VALUES (5, 'new'); UPDATE book SET price = 100, title = 'x'; DELETE FROM author WHERE id = 1")
    db:execute("INSERT INTO author VALUES (2, 'temporary'); DELETE FROM author WHERE id = 2; UPDATE book SET id = 6 WHERE id = 5")
  end)
  equal(db:fetch_value("SELECT COUNT(*) FROM author"), 0)
  equal(history:undo(1), 5)
  equal({ db:fetch_all("SELECT * FROM author"), db:fetch_all("SELECT * FROM book") }, before)
  equal(history:transactions()[1].note, "undo of transaction 1")
  equal(history:undo(2), 3)
  equal(db:fetch_values("SELECT id FROM book"), { 6 })
end)

test("undoing a transaction neither deletes nor orphans rows that other transactions added", function()
  make_books()
  db:write({ note = "new author" }, function(db) db:execute("INSERT INTO author VALUES (2, 'Camus')") end)
  db:execute("INSERT INTO book (id, author_id, title) VALUES (2, 2, 'The Plague')")
  local before = db:fetch_all("SELECT * FROM book")
  matches(fails("definition", history.undo, history, 1), "rows of `book` refer to rows of `author` that do not exist")
  equal(db:fetch_all("SELECT * FROM book"), before)
  equal(db:fetch_value("SELECT COUNT(*) FROM author"), 2)
  equal(db:fetch_value("PRAGMA foreign_keys"), 1)
end)

test("undoing a transaction skips rows that changed later", function()
  make_books()
  db:write({ note = "a" }, function(db) db:execute("UPDATE book SET price = 6") end)
  db:execute("UPDATE book SET price = 7")
  local err = fails("history", history.undo, history, 1)
  matches(err, "a row of `book` that transaction 1 changed has been changed since")
  equal(db:fetch_value("SELECT price FROM book"), 7.0)
  equal(#history:transactions(), 1)
end)

test("a rolled back transaction leaves nothing in the history", function()
  make_books()
  fails("oh", db.write, db, { note = "a" }, function(db)
    db:execute("UPDATE book SET price = 6")
    error{ kind = "oh" }
  end)
  equal(#history:transactions(), 0)
  equal(#Book:find(1):history(), 1)
  db:execute("UPDATE book SET price = 6")
  equal(Book:find(1):history()[2].transaction, nil)
end)

test("a history can be upgraded and removed", function()
  make_books()
  equal(history:is_installed(), true)
  db:execute("ALTER TABLE book ADD COLUMN pages INTEGER DEFAULT 3")
  local err = fails("history", function() return Book:as_of("2100-01-01"):fetch_all() end)
  matches(err, "does not have the column `pages`; use history:install(db)")
  fails("history", function() Book:find(1):history() end)
  history:install(db)
  equal({ Book:find(1):history()[1].record.pages, Book:find(1):history()[2].changed }, { nil, { "pages" } })
  db:execute("UPDATE book SET pages = 4")
  equal(Book:find(1):history()[3].changed, { "pages" })
  equal(perilune.history(Book), history)
  history:remove(db, { keep_versions = true })
  equal(history:is_installed(), false)
  db:execute("UPDATE book SET pages = 5; INSERT INTO book (id, title) VALUES (2, 'Omoo')")
  equal(#Book:find(1):history(), 3)
  -- Changes that were made without triggers become versions when the history is installed again.
  history:install()
  equal({ #Book:find(1):history(), Book:find(1):history()[4].changed, Book:find(2):history()[1].operation }, { 4, { "pages" }, "start" })
  history:remove(db, { keep_versions = true })
  db:execute("DELETE FROM book WHERE id = 2")
  history:install()
  equal(#Book:as_of("2100-01-01"):fetch_all(), 1)
  db:execute("UPDATE book SET pages = 6")
  equal(#Book:find(1):history(), 5)
  history:remove()
  equal(db:table_exists("book_history"), false)
  equal(#db:triggers("book"), 0)
end)

test("tables that cannot have a history and invalid arguments are refused", function()
  make_books()
  db:execute("CREATE TABLE nokey (a); CREATE VIEW v AS SELECT 1 AS id; CREATE TABLE taken (id INTEGER PRIMARY KEY, history_day TEXT)")
  for _, name in ipairs{ "nokey", "v", "taken" } do
    local other = perilune.history(perilune.record(name))
    fails("definition", other.install, other, db)
  end
  db:execute("CREATE TABLE country (code TEXT PRIMARY KEY); CREATE TABLE strict (code TEXT PRIMARY KEY) STRICT; CREATE TABLE book_history_insert (a)")
  local countries = perilune.history(perilune.record("country"))
  matches(fails("definition", countries.install, countries), "`code` of `country` may be NULL")
  db:alter_table("country", function(t) t:change_column("code"):not_null() end)
  countries:install()
  perilune.history(perilune.record("strict")):install()
  db:execute("CREATE TABLE other (id INTEGER PRIMARY KEY); CREATE TABLE other_history (a)")
  local others = perilune.history(perilune.record("other"))
  matches(fails("definition", others.install, others), "`other_history` already exists, and the history of `other` needs this name")
  fails("argument", perilune.history)
  fails("argument", perilune.history, {})
  fails("argument", perilune.history, Book, Book)
  equal(fails("unknown_method", function() history:instal() end).suggestion, "install")
  fails("argument", history.install)
  fails("argument", history.install, history, 1)
  fails("argument", history.undo, history, "1")
  matches(fails("history", history.undo, history, 99), "no transaction has the id 99")
  fails("argument", history.transactions, history, 0)
  fails("unknown_option", history.remove, history, db, { keep_version = true })
  fails("argument", Book.as_of, Book, "yesterday")
  fails("argument", Book.as_of, Book)
  matches(fails("unknown_method", function() history:write("x", print) end), "use db:write({ note = ")
end)

test("a history compares keys with the collation of the table", function()
  db:execute[[
    CREATE TABLE word (word TEXT NOT NULL COLLATE NOCASE, place INTEGER NOT NULL, n INTEGER, PRIMARY KEY (word, place));
    INSERT INTO word VALUES ('A', 1, 1)]]
  local Word = perilune.record("word")
  local words = perilune.history(Word)
  words:install()
  db:execute "UPDATE word SET n = 2"
  db:execute "UPDATE word SET word = 'a'"
  db:write({ note = "three" }, function() db:execute "UPDATE word SET word = 'A', n = 3" end)
  equal(#Word:as_of("2100-01-01"):fetch_all(), 1)
  local versions = Word:fetch_one():history()
  equal({ #versions, versions[1].record.n, versions[3].record.word, versions[4].record.n }, { 4, 1, "a", 3 })
  words:undo(versions[4].transaction)
  equal({ Word:fetch_one().word, Word:fetch_one().n }, { "a", 2 })
  db:execute "ALTER TABLE word ADD COLUMN kind TEXT COLLATE RTRIM"
  words:install()
  matches(db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = 'word_history'"), '"kind" TEXT COLLATE "RTRIM"')
end)

test("rows that another program writes are recorded", function()
  local path = temporary_path("t.sqlite")
  local mine = perilune.queue(path)
  mine:execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
  local Note = perilune.record("note")
  perilune.history(Note):install(mine)
  local theirs = perilune.queue(path)
  theirs:execute("INSERT INTO note (text) VALUES ('theirs')")
  equal(Note:find(mine, 1):history(mine)[1].operation, "insert")
end)

test("a row whose key changes gets another history, whichever name of the key is used", function()
  local function events()
    return table.concat(db:fetch_values("SELECT history_operation || history_key FROM (SELECT history_operation, key AS history_key FROM p_history ORDER BY history_version)"), " ")
  end
  db:execute[[
    CREATE TABLE p (key INTEGER PRIMARY KEY, oid TEXT);
    CREATE TABLE q (a TEXT NOT NULL, b TEXT NOT NULL, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
    INSERT INTO p VALUES (1, 'x')]]
  perilune.history(perilune.record("p")):install()
  for number, name in ipairs{ "key", "rowid", "_ROWID_", '"rowid"', "(oid, rowid)" } do
    local value = name:find("^%(") and "('y', 6)" or tostring(number + 1)
    db:execute("DELETE FROM p_history")
    db:execute(("UPDATE p SET %s = %s"):format(name, value))
    equal(events(), ("delete%d insert%d"):format(number, number + 1))
  end
  db:execute("DELETE FROM p_history; UPDATE p SET oid = 'z'; INSERT INTO p VALUES (6, 'u') ON CONFLICT DO UPDATE SET rowid = 9")
  equal(events(), "update6 delete6 insert9")
  perilune.history(perilune.record("q")):install()
  db:execute("INSERT INTO q VALUES ('a', 'b', 'c'); UPDATE q SET c = 'd'; UPDATE q SET b = 'e'")
  equal(table.concat(db:fetch_values("SELECT history_operation || b FROM q_history ORDER BY history_version"), " "), "insertb updateb deleteb inserte")
end)
