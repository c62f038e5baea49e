--- INSERT ... SELECT from requests, upserts from them, and limits of bulk changes.

db:execute[[
  CREATE TABLE book (id INTEGER PRIMARY KEY, author TEXT NOT NULL, title TEXT NOT NULL, year INTEGER);
  CREATE TABLE archive (id INTEGER PRIMARY KEY, name TEXT NOT NULL, year INTEGER, note TEXT DEFAULT 'none');
  CREATE TABLE tally (author TEXT PRIMARY KEY, books INTEGER NOT NULL, newest INTEGER, double INTEGER GENERATED ALWAYS AS (books * 2));
  INSERT INTO book VALUES (1, 'Melville', 'Typee', 1846), (2, 'Melville', 'Moby-Dick', 1851), (3, 'Camus', 'The Plague', 1947)]]

local Book, Archive, Tally = perilune.record("book"), perilune.record("archive"), perilune.record("tally")
local c = Book.c
local counts = Book:select("author", perilune.count():as("books"), c.year:max():as("newest")):group("author")

test("the rows of a request can be inserted into another table", function()
  local result = Archive:insert_from(Book:filter(c.year:lt(1900)):select("id", c.title:as("name"), "year"))
  equal(result.changed_rows, 2)
  equal(Archive:order("id"):pluck("name", "note"), { { "Typee", "none" }, { "Moby-Dick", "none" } })
  Archive:insert_from(Book:filter{ id = 3 }:select(c.id + 10, c.title .. "!", perilune.value("x")), { columns = { "id", "name", "note" } })
  equal(Archive:find(13).name, "The Plague!")
  equal(Archive:find(13).note, "x")
  equal(Tally:insert_from(counts).changed_rows, 2)
  equal(Tally:find("Melville").books, 2)
end)

test("rows can come from the table itself, common tables, limits and compounds", function()
  Book:insert_from(Book:select(c.id + 10, "author", "title"), { columns = { "id", "author", "title" } })
  equal(Book:fetch_count(), 6)
  local numbers = perilune.common_table("numbers", { "n" }, "SELECT 100 UNION ALL SELECT n + 1 FROM numbers WHERE n < 102")
  Book:insert_from(numbers:select("n", perilune.value("a"), perilune.value("b")), { columns = { "id", "author", "title" } })
  equal(Book:find(102).title, "b")
  Archive:insert_from(Book:order(c.id:desc()):limit(1):select("id", c.title:as("name")))
  equal(Archive:pluck("id"), { 102 })
  Archive:insert_from(Book:filter{ id = 1 }:select("id", c.title:as("name")):union(Book:filter{ id = 2 }:select("id", c.title:as("name"))))
  equal(Archive:fetch_count(), 3)
end)

test("records or rows can be returned", function()
  local records = Archive:insert_from(Book:select("id", c.title:as("name")), { returning = true })
  equal({ #records, records[1].name, records[1].note }, { 3, "Typee", "none" })
  equal(Archive:is(records[1]), true)
  local rows = Tally:insert_from(counts, { returning = { "author", "double" } })
  equal(rows[2].double, 4)
end)

test("without a target, rows that conflict with any unique key are updated", function()
  db:execute "CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT UNIQUE, year INTEGER); INSERT INTO shelf VALUES (7, 'Typee', 1), (2, 'x', 2)"
  local Shelf = perilune.record "shelf"
  equal(Shelf:insert_from(Book:select("id", c.title:as("name"), "year"), { update = "all" }).changed_rows, 3)
  equal(Shelf:order("id"):pluck("id", "name", "year"), { { 2, "Moby-Dick", 1851 }, { 3, "The Plague", 1947 }, { 7, "Typee", 1846 } })
  fails("constraint_unique", function() Shelf:insert_from(Book:select(c.title:as("name"), c.id:as("year")), { target = "id", update = { "year" } }) end)
end)

test("a conflicting row can be handled by a policy or an update", function()
  Tally:insert_from(counts)
  fails(nil, function() Tally:insert_from(counts) end)
  equal(Tally:insert_from(counts, { on_conflict = "ignore" }).changed_rows, 0)
  Book{ author = "Camus", title = "The Fall", year = 1956 }:insert()
  Tally:insert_from(counts, { update = "all" })
  equal(Tally:find("Camus").books, 2)
  Tally:insert_from(counts, { target = "author", update = { "newest", books = Tally.c.books + perilune.excluded.books } })
  equal({ Tally:find("Camus").books, Tally:find("Camus").newest }, { 4, 1956 })
  Tally:insert_from(counts, { update = { books = 0 }, where = perilune.excluded.newest:gt(1900) })
  equal({ Tally:find("Camus").books, Tally:find("Melville").books }, { 0, 4 })
  Tally:insert_from(counts, { update = "none" })
  equal(Tally:find("Camus").books, 0)
  local rows = Tally:insert_from(counts, { update = { books = perilune.excluded.books * 10 }, returning = { "author", "books" } })
  equal({ #rows, rows[1].author, rows[1].books }, { 2, "Camus", 20 })
end)

test("bulk changes respect an order and a limit", function()
  equal(Book:order(c.year:desc()):limit(1):update_all{ title = "newest" }.changed_rows, 1)
  equal(Book:find(3).title, "newest")
  equal(Book:order("year"):limit(2):delete_all().changed_rows, 2)
  equal(Book:pluck("id"), { 3 })
  equal(Book:order("id"):limit(5, 1):delete_all().changed_rows, 0)
end)

test("invalid arguments of insert_from are refused when the request is built", function()
  matches(fails("unknown_column", function() Archive:insert_from(Book) end), "author")
  matches(fails("unknown_column", function() Archive:insert_from(Book:select("id", "title")) end), "title")
  matches(fails("unknown_column", function() Archive:insert_from(Book:select("id", "title"), { columns = { "id", "nmae" } }) end), "name")
  matches(fails("argument", function() Archive:insert_from(Book:select("id"), { columns = { "id", "name" } }) end), "2 columns")
  matches(fails("argument", function() Archive:insert_from(Book:select("id", c.title:lower())) end), "needs a name")
  matches(fails("argument", function() Archive:insert_from{ { id = 1 } } end), "insert_all")
  matches(fails("unknown_option", function() Archive:insert_from(counts, { targt = "id" }) end), "target")
  matches(fails("argument", function() Archive:insert_from(counts, { on_conflict = "ignroe" }) end), "ignore")
  matches(fails("argument", function() Tally:insert_from(counts, { update = "all", on_conflict = "ignore" }) end), "use one of them")
  matches(fails("argument", function() Tally:insert_from(counts, { update = { author = "x" } }) end), "identifies the row")
  matches(fails("argument", function() Tally:insert_from(counts, { columns = { "author", "double", "newest" } }) end), "generated")
  matches(fails("argument", function() Tally:insert_from(counts, { update = "al" }) end), "all")
  matches(fails("unknown_column", function() Tally:insert_from(counts, { update = { books = perilune.excluded.boks } }) end), "books")
  matches(fails("argument", function() Tally:insert_from(counts, {}, 1) end), "at most 2")
  equal(Tally:fetch_count(), 0)
end)

test("a conflict target that is not a unique key is refused, and the error lists the unique keys", function()
  db:execute "CREATE TABLE source (x, y); INSERT INTO source VALUES (1, 2); CREATE TABLE t (a, b, c UNIQUE); CREATE UNIQUE INDEX p ON t (a, b) WHERE a > 0"
  local Source, T = perilune.record("source"), perilune.record("t")
  for _, target in ipairs{ { "a", "b" }, { "a" }, "b" } do
    local err = fails("argument", function() T:insert_from(Source, { columns = { "a", "b" }, target = target }) end)
    matches(err.message, "is not a unique key of `t`; available: (c)")
  end
  for _ = 1, 2 do T:insert_from(Source, { columns = { "a", "b" }, update = "none" }) end
  equal(T:fetch_count(), 1)
  T:insert_from(Source, { columns = { "c", "b" }, target = "c" })
  equal(T:fetch_count(), 2)
end)
