-- Iteration over records with included records.

db:execute[[
  CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, is_alive BOOLEAN, country_id INTEGER REFERENCES country);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, data BLOB, day DATE, author_id INTEGER REFERENCES author);
  INSERT INTO country VALUES (1, 'France'), (2, 'Chile');
  INSERT INTO author VALUES (1, 'a', 1, 1), (2, 'b', 0, NULL), (3, 'c', NULL, 2);
  INSERT INTO book VALUES (1, 'x', x'00ff', '2026-03-01', 1), (2, 'y', 'text', NULL, 2), (3, 'z', NULL, NULL, NULL), (4, 'w', NULL, NULL, 3)]]

local Country, Author, Book = perilune.record("country"), perilune.record("author"), perilune.record("book")
Author.country, Author.books = Author:belongs_to(Country), Author:has_many(Book)
Book.author = Book:belongs_to(Author)
Book.country = Author.country and Book:has_one(Country, { through = Book.author, using = Author.country })

--- Returns a value with its records as plain tables.
local function plain(value)
  if type(value) ~= "table" then return value end
  if perilune.date.is(value) then return tostring(value) end
  local copy = {}
  for name, field in pairs(value) do copy[name] = plain(field) end
  return copy
end

local function iterated(request)
  local list = {}
  for record in request:rows() do list[#list + 1] = plain(record) end
  return list
end

local function fetched(request)
  local list = {}
  for index, record in ipairs(request:fetch_all()) do list[index] = plain(record) end
  return list
end

test("rows iterates over the records that fetch_all returns", function()
  local inner = Book.author:including_optional(Author.country)
  for _, request in ipairs{
    Book:including_optional(Book.author), Book:including_required(Book.author), Book:including_optional(inner),
    Book:including_required(inner):filter("title <> ?", "x"), Book:including_optional(Book.country),
    Book:including_optional(Book.author:select("name", "is_alive")), Book:select("title"):including_optional(Book.author),
    Book:including_optional(Book.author:filter{ is_alive = true }), Book:including_optional(Book.author):annotated_with(Book.c.title:eq("x"):as("is_x")),
    Author:including_optional(Author.country):annotated_with(Author.books:count()), Book:none():including_optional(Book.author),
  } do
    request = request:order("id")
    equal(iterated(request), fetched(request))
  end
end)

test("an iteration over included records may end early", function()
  for book in Book:including_required(Book.author):order("id"):rows() do
    equal({ book.title, book.author.name, book.author.is_alive }, { "x", "a", true })
    break
  end
  db:execute("DELETE FROM book")
  equal(iterated(Book:including_required(Book.author)), {})
end)

test("hooks and types apply to included records in iterations", function()
  local Shouting = perilune.record("author")
  function Shouting:did_fetch() self.name = self.name:upper() end
  local author = Book:belongs_to(Shouting, { name = "shouting" })
  local names = {}
  for book in Book:including_required(author):order("id"):rows() do names[#names + 1] = book.shouting.name end
  equal(names, { "A", "B", "C" })
end)

test("a request that includes lists cannot be iterated", function()
  local err = fails("argument", function() return Author:including_all(Author.books):rows() end)
  matches(err, "use fetch_all, or in_batches")
end)

test("an iteration over included records reads the given database", function()
  db:read(function(handle)
    local count = 0
    for book in Book:including_optional(Book.author):rows(handle) do count = count + (book.author and 1 or 0) end
    equal(count, 3)
  end)
end)
