-- Associations that classes store under other names, and several derivations of one association in a request.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, author_id INTEGER REFERENCES author);
  INSERT INTO author VALUES (1, 'a'), (2, 'b');
  INSERT INTO book VALUES (1, 'x', 1900, 1), (2, 'y', 1950, 1), (3, 'z', 2000, 2), (4, 'w', 1890, 1)]]

local Author, Book = perilune.record("author"), perilune.record("book")
Author.books = Author:has_many(Book)
Author.old = Author.books:filter(Book.c.year:lt(1920)):order("year")
Author.new = Author.books:filter(Author.books.c.year:ge(1920))
Book.author = Book:belongs_to(Author)

local function ids(list)
  local result = {}
  for index, record in ipairs(list) do result[index] = record.id end
  return result
end

test("an association is included under the name that its class gives it", function()
  local author = Author:including_all(Author.old, Author.books:order("id"), Author.new):find(1)
  equal(ids(author.old), { 4, 1 })
  equal(ids(author.books), { 1, 2, 4 })
  equal(ids(author.new), { 2 })
  equal(ids(author:old():fetch_all()), { 4, 1 })
  equal(tostring(Author.old), "association author.old, whose rows record:old():fetch_all() fetches")
  equal(Author:annotated_with(Author.old:count()):find(1).book_count, 2)
end)

test("calling the list of a record gives a request for the same rows", function()
  local author = Author:including_all(Author.old):find(1)
  equal(ids(author.old(author):fetch_all()), { 4, 1 })
  equal(ids(author:old():fetch_all()), { 4, 1 })
end)

test("an association with two names can be used under both", function()
  Author.works = Author.books
  local author = Author:including_all(Author.works, Author.books):find(2)
  equal({ ids(author.works), ids(author.books) }, { { 3 }, { 3 } })
  Book.writer = Book.author
  local book = Book:including_required(Book.writer):find(3)
  equal({ book.writer.id, rawget(book, "author") }, { 2, nil })
end)

test("a class stores its associations, and extended classes inherit them", function()
  fails("argument", function() Book.works = Author.books end)
  local Poet = Author:extend{}
  Poet.early = Poet.books:filter(Book.c.year:lt(1895))
  equal(ids(Poet:including_all(Poet.early):find(1).early), { 4 })
end)

test("two derivations with the same name in one request are refused", function()
  local early, late = Author.books:filter(Book.c.year:lt(1920)), Author.books:filter(Book.c.year:ge(1920))
  matches(fails("argument", function() Author:including_all(early, late) end), "`books`")
  matches(fails("argument", function() Author:including_all(Author.books):including_all(late) end), ":as(")
  fails("argument", function() Author:including_all(Author.books:filter{ year = 1 }):including_all(Author.books:filter{ year = 2 }) end)
  fails("argument", function()
    Book:including_required(Book.author:filter{ name = "a" }):including_optional(Book.author:filter{ name = "b" })
  end)
  fails("argument", function() Book:including_required(Book.author):including_optional(Book.author:aliased("other")) end)
  fails("argument", function() Book:including_optional(Book.author:including_all(early):including_all(late)) end)
  local author = Author:including_all(early:as("early"), late):find(1)
  equal({ #author.early, ids(author.books) }, { 2, { 2 } })
end)

test("an association can be included twice with the same derivation", function()
  local list = Author:including_all(Author.books:filter{ year = 1900 }):including_all(Author.books:filter{ year = 1900 }):fetch_all()
  equal(ids(list[1].books), { 1 })
  local book = Book:including_optional(Book.author):including_required(Book.author):joining_required(Book.author:filter{ name = "a" })
  equal(book:fetch_count(), 3)
end)
