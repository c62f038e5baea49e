--- upsert_all with target, update and returning: many rows at once.

db:execute[[
  CREATE TABLE book (id INTEGER PRIMARY KEY, isbn TEXT NOT NULL UNIQUE, title TEXT, price INTEGER DEFAULT 7, added DATE, raw BLOB,
    double INTEGER GENERATED ALWAYS AS (price * 2));
  CREATE TABLE pair (a INTEGER, b INTEGER, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
  INSERT INTO book (id, isbn, title, price) VALUES (1, 'x', 'old', 1)]]

local Book, Pair = perilune.record("book"), perilune.record("pair")

test("upsert_all inserts rows and updates conflicting ones", function()
  equal(Book:upsert_all({ { isbn = "x", title = "new", price = 5 }, { isbn = "y", title = "other" } }, { target = "isbn" }), 2)
  equal(Book:order("id"):pluck("id", "isbn", "title", "price"), { { 1, "x", "new", 5 }, { 2, "y", "other", 7 } })
  equal(Book:upsert_all({ { isbn = "x", title = "newer", price = 9 } }, { target = "isbn", update = { "price" } }), 1)
  equal({ Book:find(1).title, Book:find(1).price }, { "new", 9 })
  equal(Book:upsert_all({ { isbn = "x", title = "z" }, { isbn = "w" } }, { target = "isbn", update = "none" }), 1)
  equal(Book:find(1).title, "new")
  Book:upsert_all({ { isbn = "x", price = 1 } }, { target = "isbn", update = { price = 50 } })
  equal(Book:find(1).price, 50)
  Book:upsert_all({ { isbn = "x", price = 60 } }, { target = "isbn", where = "excluded.price < 55" })
  equal(Book:find(1).price, 50)
  Book:upsert_all({ { isbn = "x", price = 60 } }, { target = "isbn", update = { price = perilune.sql("price + excluded.price") } })
  equal(Book:find(1).price, 110)
end)

test("upsert_all finds conflicts by simple and composite primary keys", function()
  Book:upsert_all({ { id = 1, isbn = "q" }, { id = 5, isbn = "r" } }, { update = "all" })
  equal({ Book:find(1).isbn, Book:find(1).title, Book:find(5).isbn }, { "q", "old", "r" })
  Pair:insert_all({ { a = 1, b = 1, n = 1 }, { a = 1, b = 2, n = 2 } })
  Pair:upsert_all({ { a = 1, b = 2, n = 20 }, { a = 2, b = 2, n = 3 }, { a = 2, b = 2, n = 4 } }, { update = "all" })
  equal(Pair:order("a", "b"):pluck("n"), { 1, 20, 4 })
end)

test("without a target, a conflict with any unique key updates its row, and rows without a key are inserted", function()
  equal(Book:upsert_all{ { isbn = "x", title = "by isbn" }, { id = 1, title = "by id", isbn = "x2" }, { isbn = "new" } }, 3)
  equal(Book:order("id"):pluck("id", "isbn", "title"), { { 1, "x2", "by id" }, { 2, "new", perilune.null } })
  equal(#Book:upsert_all({ { isbn = "x2" }, { isbn = "z" } }, { update = "none", returning = "id" }), 1)
end)

test("fetched records in a list with tables update their own rows", function()
  db:execute "CREATE TABLE coded (code TEXT PRIMARY KEY, email TEXT UNIQUE, n INTEGER); INSERT INTO coded VALUES ('a', 'a@x', 1), ('b', 'b@x', 2)"
  local Coded = perilune.record "coded"
  local a = Coded:find "a"
  a.email = "b@x"
  equal(fails("constraint_unique", function() Coded:upsert_all{ { code = "c", email = "c@x", n = 3 }, a } end).columns, { "email" })
  equal(Coded:upsert_all{ { code = "c", email = "b@x", n = 3 }, Coded:find "a" }, 2)
  equal(Coded:order("code"):pluck("code", "email", "n"), { { "a", "a@x", 1 }, { "b", "b@x", 3 } })
end)

test("upsert_all calls overridden methods for each element", function()
  local Own, seen = perilune.record "book", {}
  function Own:upsert(...) seen[#seen + 1] = "upsert" return Book.upsert(self, ...) end
  Own:upsert_all{ { isbn = "x" }, { isbn = "y" } }
  local Verbs = perilune.record "book"
  function Verbs:insert(...) seen[#seen + 1] = "insert" return Book.insert(self, ...) end
  function Verbs:update(...) seen[#seen + 1] = "update" return Book.update(self, ...) end
  Verbs:upsert_all{ { isbn = "x" }, { isbn = "q" } }
  equal(seen, { "upsert", "upsert", "update", "insert" })
  equal(Book:fetch_count(), 3)
end)

test("upsert_all returns the requested columns", function()
  local rows = Book:upsert_all({ { isbn = "x", price = 3 }, { isbn = "y", price = 4 } }, { target = "isbn", returning = { "id", "double" } })
  equal({ rows[1].id, rows[1].double, rows[2].id, rows[2].double }, { 1, 6, 2, 8 })
  rows = Book:upsert_all({ { isbn = "x" } }, { target = "isbn", update = "none", returning = "id" })
  equal(#rows, 0)
end)

test("upsert_all converts values, and needs separate statements for rows with different columns", function()
  local list = {
    { isbn = "a", added = perilune.date("2026-05-06"), raw = "\0\255" }, Book{ isbn = "b", title = "record" }, { isbn = "c", title = perilune.null },
    { isbn = "d", price = 2 },
  }
  equal(Book:upsert_all(list, { target = "isbn" }), 4)
  local a = Book:filter{ isbn = "a" }:fetch_one()
  equal({ a.raw, a.price, tostring(a.added):sub(1, 10) }, { "\0\255", 7, "2026-05-06" })
  equal(db:fetch_value("SELECT typeof(raw) FROM book WHERE isbn = 'a'"), "blob")
  equal(Book:filter{ title = "record" }:fetch_count(), 1)
end)

test("upsert_all writes thousands of rows in batches, all or nothing", function()
  local list = {}
  for index = 1, 5000 do list[index] = { isbn = "n" .. index, price = index } end
  equal(Book:upsert_all(list, { target = "isbn" }), 5000)
  for index = 1, 5000 do list[index] = { isbn = "n" .. index, price = -index } end
  equal(Book:upsert_all(list, { target = "isbn" }), 5000)
  equal({ Book:fetch_count(), Book:min("price"), Book:filter{ isbn = "n4999" }:fetch_one().price }, { 5001, -5000, -4999 })
  list[4000] = { isbn = perilune.null, price = 1 }
  fails(nil, function() Book:upsert_all(list, { target = "isbn", update = { price = 0 } }) end)
  equal(Book:min("price"), -5000)
end)

test("a class with hooks upserts record by record", function()
  local Hooked = perilune.record("book")
  local seen = {}
  function Hooked:will_save() seen[#seen + 1] = self.isbn end
  equal(Hooked:upsert_all({ { isbn = "x", title = "hooked" }, { isbn = "y" } }, { target = "isbn" }), 2)
  equal(seen, { "x", "y" })
  equal({ Book:find(1).title, Book:fetch_count() }, { "hooked", 2 })
  equal(Hooked:upsert_all({ { isbn = "x" } }, { target = "isbn", returning = "id" }), { 1 })
end)

test("invalid arguments of upsert_all are refused", function()
  matches(fails("unknown_option", function() Book:upsert_all({}, { targt = "isbn" }) end), "target")
  matches(fails("unknown_column", function() Book:upsert_all({ { isbn = "a", titel = 1 } }, { target = "isbn" }) end), "title")
  matches(fails("unknown_column", function() Book:upsert_all({ { isbn = "a" } }, { target = "isnb" }) end), "isbn")
  matches(fails("argument", function() Book:upsert_all({ { isbn = "a", title = "b" } }, { target = "title" }) end), "unique key")
  matches(fails("argument", function() Book:upsert_all({ { isbn = "a" }, 5 }, { target = "isbn" }) end), "element 2")
  matches(fails("argument", function() Book:upsert_all({ { isbn = "a", double = 2 } }, { target = "isbn" }) end), "generated")
  matches(fails("argument", function() Book:upsert_all({ { title = "a" } }, { target = "isbn" }) end), "target")
  matches(fails("argument", function() Book:upsert_all({ isbn = "a" }) end), "upsert_all: expected a list of records")
  matches(fails("argument", function() Book:upsert_all("a") end), "upsert_all: expected a list of records")
  matches(fails("argument", function() Book:upsert_all({ { isbn = "a" } }, { update = { "price" }, except = "title" }) end), "`except` has no effect")
  matches(fails("unknown_option", function() Book:upsert_all({ { isbn = "a" } }, { on_conflict = "ignore" }) end), "`update` decides")
  matches(fails("unknown_option", function() Book:upsert_all({ { isbn = "a" } }, { set = { price = "1" } }) end), "perilune.sql")
  for option, text in pairs{ unique_by = "use target", conflict_target = "use target", update_only = "use update = {", do_nothing = '"none"' } do
    matches(fails("unknown_option", function() Book:upsert_all({ { isbn = "a" } }, { [option] = "isbn" }) end), text)
    matches(fails("unknown_option", function() Book:upsert({ isbn = "a" }, { [option] = "isbn" }) end), text)
  end
  matches(fails("unknown_option", function() Book:insert_all({ { isbn = "a" } }, { ignore = true }) end), 'use on_conflict = "ignore"')
  for _, option in ipairs{ "target", "target_where", "update", "except", "where", "set" } do
    matches(fails("unknown_option", function() Book:insert_all({ { isbn = "a" } }, { [option] = "isbn" }) end), "insert_all: no option `" .. option .. "`; use upsert_all")
    matches(fails("unknown_option", function() Book:insert({ isbn = "a" }, { [option] = "isbn" }) end), "use upsert")
  end
  equal(Book:fetch_count(), 1)
end)

test("upsert_all writes drafts like records", function()
  db:execute "CREATE TABLE drafted (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO drafted VALUES (1, 5)"
  local Drafted = perilune.record "drafted"
  equal(Drafted:upsert_all({ Drafted.draft{ id = 1, n = 8 }, Drafted.draft{ id = 2, n = 9 } }, { target = "id" }), 2)
  equal(db:fetch_values "SELECT n FROM drafted ORDER BY id", { 8, 9 })
end)
