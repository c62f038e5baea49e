--- Tables of attached databases, which go by their own names.

local function attach()
  db:execute "ATTACH ':memory:' AS archive"
  db:execute "CREATE TABLE archive.author (id INTEGER PRIMARY KEY, name TEXT)"
  db:execute [[CREATE TABLE archive.book (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, day DATE, author_id INTEGER REFERENCES author)]]
end

test("tables of attached databases are tables of records as others are", function()
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

test("names with a schema are told how to write them", function()
  attach()
  local err = fails("unknown_table", function() return perilune.record "archive.book":fetch_all() end)
  equal({ err.name, err.suggestion }, { "archive.book", "book" })
  matches(err.message, "tables of attached databases go by their own names: `book`")
  db:execute "CREATE TABLE book (id INTEGER PRIMARY KEY)"
  err = fails("unknown_table", function() return perilune.record "Archive.Book":fetch_all() end)
  matches(err.message, "`book` is the one of `main`, which is found first")
  equal(fails("unknown_table", function() return perilune.record "archive.boks":fetch_all() end).name, "archive.boks")
end)

test("a table that is called like a name with a schema is found by it", function()
  attach()
  db:execute [[CREATE TABLE "archive.book" (id INTEGER PRIMARY KEY)]]
  perilune.record "archive.book"{}:insert()
  equal(db:fetch_value [[SELECT COUNT(*) FROM "archive.book"]], 1)
end)

test("the table of the same name of the main database is found first, once it is there, and again when the other one has gone", function()
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
