--- Tables in attached databases, which are addressed by their own names.

local function attach()
  db:execute "ATTACH ':memory:' AS archive"
  db:execute "CREATE TABLE archive.author (id INTEGER PRIMARY KEY, name TEXT)"
  db:execute [[CREATE TABLE archive.book (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, day DATE, author_id INTEGER REFERENCES author)]]
end

test("tables in attached databases can have records", function()
  attach()
  local Author, Book = perilune.record "author", perilune.record "book"
  Author.books = Author:has_many(Book)
  local melville = Author{ name = "Melville" }:insert()
  Book:insert_all{ { title = "Typee", author_id = 1 }, { title = "Omoo", author_id = 1 } }
  equal(db:fetch_value "SELECT COUNT(*) FROM archive.book", 2)
  local book = Book:filter{ title = "Omoo" }:fetch_one()
  book:update_changes{ title = "Mardi", day = "1849-03-17" }
  equal(Book:find(2).day, perilune.date "1849-03-17")
  equal(#Author:including_all(Author.books):fetch_one().books, 2)
  equal(melville:books():filter{ title = "Mardi" }:delete_all().changed_rows, 1)
  equal(fails("constraint_not_null", Book.insert, Book, {}).columns, { "title" })
  db:write(function()
    Book:find(1):delete()
    equal(Book:fetch_count(), 0)
  end)
end)

test("names with a schema are refused with the name to use", function()
  attach()
  local err = fails("unknown_table", function() return perilune.record "archive.book":fetch_all() end)
  equal({ err.name, err.suggestion }, { "archive.book", "book" })
  matches(err.message, "use the name of the table alone for tables of attached databases: `book`")
  db:execute "CREATE TABLE book (id INTEGER PRIMARY KEY)"
  err = fails("unknown_table", function() return perilune.record "Archive.Book":fetch_all() end)
  matches(err.message, "`book` means the table of `main`, which is found first")
  equal(fails("unknown_table", function() return perilune.record "archive.boks":fetch_all() end).name, "archive.boks")
end)

test("a table whose name looks like a qualified name is found", function()
  attach()
  db:execute [[CREATE TABLE "archive.book" (id INTEGER PRIMARY KEY)]]
  perilune.record "archive.book"{}:insert()
  equal(db:fetch_value [[SELECT COUNT(*) FROM "archive.book"]], 1)
end)

test("a table in the main database takes precedence while it exists", function()
  attach()
  local Book = perilune.record "book"
  Book{ title = "archived" }:insert()
  db:execute "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, main TEXT)"
  equal(Book:fetch_count(), 0)
  equal(Book{ title = "x", main = "y" }:insert():refresh().main, "y")
  db:execute "DROP TABLE main.book"
  equal(Book:fetch_one().title, "archived")
  db:execute "DETACH archive"
  fails("unknown_table", Book.fetch_one, Book)
end)

test("tables in attached databases are found, indexed, observed and dropped by name", function()
  attach()
  db:execute "CREATE VIEW archive.title AS SELECT title FROM book"
  db:execute "CREATE TRIGGER archive.named AFTER INSERT ON book BEGIN SELECT 1; END"
  equal({ db:table_exists "book", db:table_exists "BOOK", db:table_exists "title", db:table_exists "none" }, { true, true, false, false })
  equal({ db:view_exists "title", db:trigger_exists "named" }, { true, true })

  db:create_index("book", { "title" })
  db:create_index("book", { "day" }, { name = "by_day", unique = true })
  equal(db:fetch_values "SELECT name FROM archive.sqlite_schema WHERE type = 'index' ORDER BY name", { "book_on_title", "by_day" })
  equal(db:index_exists "by_day", true)
  db:drop_index("book", { "title" })
  db:drop_index("book", { name = "by_day" })
  equal(db:fetch_value "SELECT count(*) FROM archive.sqlite_schema WHERE type = 'index'", 0)

  local events = {}
  db:observe_transactions{ tables = { "book" }, on_change = function(event) events[#events + 1] = event end }
  db:execute "INSERT INTO book (title) VALUES ('Typee')"
  db:execute "INSERT INTO author (name) VALUES ('Melville')"
  equal(#events, 1)
  equal({ events[1].operation, events[1].table, events[1].schema }, { "insert", "book", "archive" })

  db:drop_table "book"
  equal(db:table_exists "book", false)
  fails("unknown_table", db.drop_table, db, "book")
end)

test("names in the main database take precedence", function()
  attach()
  db:execute "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)"
  db:create_index("book", { "title" })
  equal(db:fetch_value "SELECT count(*) FROM main.sqlite_schema WHERE type = 'index'", 1)
  db:drop_table "book"
  equal({ db:fetch_value "SELECT count(*) FROM main.sqlite_schema", db:table_exists "book" }, { 0, true })
end)

test("databases attached under unusual names are searched", function()
  db:execute [[ATTACH ':memory:' AS "odd ""name"]]
  db:execute [[CREATE TABLE "odd ""name".thing (id INTEGER PRIMARY KEY, n)]]
  equal(db:table_exists "thing", true)
  db:create_index("thing", { "n" })
  db:drop_index("thing", { "n" })
end)
