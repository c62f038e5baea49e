--- Lists of associated records that are fetched for many records at once.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, club TEXT, number INTEGER);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT, club TEXT, number INTEGER);
  CREATE TABLE chapter (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES book, title TEXT);
  INSERT INTO author VALUES (1, 'Ada', 'red', 7), (2, 'Bob', 'blue', 7), (3, 'Cy', 'red', NULL), (-4, 'Di', NULL, 9000000000000000000);
  PRAGMA foreign_keys = off;
  INSERT INTO book VALUES (1, 1, 'a', 'red', 7), (2, 1, 'b', 'blue', NULL), (3, -4, 'c', 'red', 9000000000000000000),
    (4, NULL, 'nobody', NULL, 7), (5, 99, 'orphan', 'green', 8), (6, 1, 'd', 'red', 7), (7, 'x', 'odd', 'Red', '7');
  INSERT INTO chapter VALUES (1, 1, 'one'), (2, 1, 'two'), (3, 3, 'three'), (4, 5, 'of an orphan')]]

local Author, Book, Chapter = perilune.record("author"), perilune.record("book"), perilune.record("chapter")
Book.chapters = Book:has_many(Chapter)
Author.books = Author:has_many(Book)
Author.of_club = Author:has_many(Book, { columns = "club", referenced = "club" })
Author.of_number = Author:has_many(Book, { columns = "number", referenced = "number" })

local function titles(authors, field)
  local result = {}
  for _, author in ipairs(authors) do
    local list = {}
    for index, book in ipairs(author[field]) do list[index] = book.title end
    result[author.name] = table.concat(list, " ")
  end
  return result
end

test("including_all gives each row its list in the requested order", function()
  equal(titles(Author:including_all(Author.books:order("id")):fetch_all(), "books"), { Ada = "a b d", Bob = "", Cy = "", Di = "c" })
  equal(titles(Author:including_all(Author.books:order(Book.c.id:desc())):fetch_all(), "books"),
    { Ada = "d b a", Bob = "", Cy = "", Di = "c" })
end)

test("including_all works for some rows and for one row", function()
  equal(titles(Author:filter("id < 2"):including_all(Author.books:order("id")):fetch_all(), "books"), { Ada = "a b d", Di = "c" })
  equal(titles(Author:order("id"):limit(1):including_all(Author.books):fetch_all(), "books"), { Di = "c" })
  equal(#Author:order(Author.c.id:desc()):including_all(Author.books):fetch_one().books, 0)
  equal(#Author:filter_key(1):including_all(Author.books):fetch_one().books, 3)
  equal(titles(Author:filter(Author.c.name:eq("Ada")):including_all(Author.books:filter{ club = "red" }:order("id")):fetch_all(), "books"),
    { Ada = "a d" })
end)

test("if all rows are fetched, including_all does not bind their integer keys", function()
  local function statement(request)
    request:fetch_all()
    return request.node.plans.rows.prefetches[1].plan.sql
  end
  matches(statement(Author:including_all(Author.books)), 'WHERE "book"."author_id" IS NOT NULL')
  matches(statement(Author:order("name"):including_all(Author.books:filter{ club = "red" })), 'IS NOT NULL AND "book"."club" = ')
  for _, request in ipairs{
    Author:filter("id > 0"):including_all(Author.books), Author:limit(10):including_all(Author.books),
    Author:including_all(Author.books:limit(1)), Author:including_all(Author.of_club), Author:including_all(Author.of_number),
    Author:joining_required(Author.books):including_all(Author.of_number), Author:none():including_all(Author.books),
    Author:offset(1):limit(10):including_all(Author.books),
  } do matches(statement(request), "json_each") end
  local request = Author:including_all(Author.books)
  request:fetch_one()
  matches(request.node.plans.first.prefetches[1].plan.sql, "json_each")
end)

test("a limit in including_all applies to each row", function()
  equal(titles(Author:including_all(Author.books:order("id"):limit(2)):fetch_all(), "books"), { Ada = "a b", Bob = "", Cy = "", Di = "c" })
end)

test("rows with the same key get separate lists", function()
  local authors = Author:order("name"):including_all(Author.of_number:order("id")):fetch_all()
  equal(titles(authors, "of_number"), { Ada = "a nobody d odd", Bob = "a nobody d odd", Cy = "", Di = "c" })
  equal(rawequal(authors[1].of_number, authors[2].of_number), false)
  equal(rawequal(authors[1].of_number[1], authors[2].of_number[1]), true)
end)

test("including_all works with text keys", function()
  equal(titles(Author:including_all(Author.of_club:order("id")):fetch_all(), "of_club"),
    { Ada = "a c d", Bob = "b", Cy = "a c d", Di = "" })
end)

test("including_all finds keys in integer columns that are not integers", function()
  db:execute "INSERT INTO author VALUES (5, 'Ed', NULL, 'x')"
  db:execute "INSERT INTO book VALUES (8, 5, 'e', NULL, 'x'), (9, 5, 'f', NULL, 'X')"
  equal(titles(Author:including_all(Author.of_number:order("id")):fetch_all(), "of_number"),
    { Ada = "a nobody d odd", Bob = "a nobody d odd", Cy = "", Di = "c", Ed = "e" })
end)

test("including_all can be nested", function()
  local request = Author:including_all(Author.books:order("id"):including_all(Book.chapters:order("id"))):order("id")
  local authors = request:fetch_all()
  equal({ #authors[2].books[1].chapters, #authors[2].books[2].chapters, authors[1].books[1].chapters[1].title }, { 2, 0, "three" })
end)

test("including_all works without rows", function()
  db:execute "DELETE FROM author"
  equal(Author:including_all(Author.books):fetch_all(), {})
  equal(Author:including_all(Author.books):fetch_one(), nil)
end)

test("including_all gives each of many rows its associated rows", function()
  db:execute "DELETE FROM book"
  db:execute "DELETE FROM author"
  db:write(function()
    for id = 1, 3000 do
      db:execute("INSERT INTO author VALUES (?, ?, NULL, NULL)", id * 3, "author " .. id)
      for number = 1, id % 4 do
        db:execute("INSERT INTO book VALUES (?, ?, ?, NULL, NULL)", id * 10 + number, id * 3, id .. "/" .. number)
      end
    end
  end)
  for _, request in ipairs{ Author:all(), Author:filter("id > 0") } do
    local authors = request:including_all(Author.books:order("id")):order("id"):fetch_all()
    equal(#authors, 3000)
    for id, author in ipairs(authors) do
      equal(#author.books, id % 4)
      for number, book in ipairs(author.books) do equal({ book.title, book.author_id }, { id .. "/" .. number, id * 3 }) end
    end
  end
end)
