--- Rows of common tables as fields of records.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, active BOOLEAN);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT NOT NULL, year INTEGER);
  INSERT INTO author VALUES (1, 'Melville', 1), (2, 'Camus', 0), (3, 'Nobody', NULL);
  INSERT INTO book VALUES (1, 1, 'Typee', 1846), (2, 1, 'Moby-Dick', 1851), (3, 2, 'The Plague', 1947)]]

local Author, Book = perilune.record("author"), perilune.record("book")
local counts = perilune.common_table("counts",
  Book:select("author_id", perilune.count():as("books"), Book.c.year:max():as("name"), Book.c.year:gt(1900):as("active")):group("author_id"))
local years = perilune.common_table("years", Book:select("author_id", "year"))
Author.counts = Author:has_one(counts, { columns = "author_id", referenced = "id" })
Author.years = Author:has_many(years, { columns = "author_id", referenced = "id" })

test("one row of a common table can be included with a record", function()
  local authors = Author:including_optional(Author.counts):order("id"):fetch_all()
  equal({ authors[1].name, authors[1].counts.books, authors[1].counts.name, authors[2].counts.books, authors[3].counts }, { "Melville", 2, 1851, 1 })
  equal({ authors[1].active, authors[1].counts.active == 0 or authors[1].counts.active == false }, { true, true })
  equal(#Author:including_required(Author.counts):fetch_all(), 2)
end)

test("lists of rows of a common table can be included", function()
  local authors = Author:including_all(Author.years:order("year")):order("id"):fetch_all()
  equal({ #authors[1].years, authors[1].years[2].year, #authors[3].years }, { 2, 1851, 0 })
  equal(authors[1]:has_changes(), false)
end)

test("rows of a common table cannot include other records", function()
  local author = counts:belongs_to(Author, { name = "author", columns = "author_id", referenced = "id" })
  matches(fails("argument", function() counts:including_required(author) end), "not records")
  equal(counts:joining_required(author):order("author_id"):select(author.c.name):fetch_values(), { "Melville", "Camus" })
end)
