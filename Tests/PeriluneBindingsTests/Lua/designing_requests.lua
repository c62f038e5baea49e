--- The examples of the GRDB guide "Designing Record Types" in Lua: named requests, associations and the screens of an app.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, country TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, author_id INTEGER REFERENCES author ON DELETE CASCADE);
  CREATE INDEX book_on_author_id ON book (author_id);
  INSERT INTO author (name, country) VALUES ('Émile', 'France'), ('eva', 'France'), ('Gabriel', 'Colombia'), ('Zoe', 'Italy'), ('Fritz', NULL);
  INSERT INTO book (title, author_id) VALUES ('Germinal', 1), ('Nana', 1), ('Solitude', 3), ('Roma', 4), ('Beowulf', NULL)]]

local Author, Book = perilune.record("author"), perilune.record("book")
Author.books, Book.author = Author:has_many(Book), Book:belongs_to(Author)

function Author.requests:order_by_name() return self:order(Author.c.name:collating("localized_case_insensitive")) end
function Author.requests:from_country(country) return self:filter{ country = country } end
function Author.requests:having_books() return self:having(Author.books:is_empty():eq(false)) end
function Author.requests:with_book_count() return self:annotated_with(Author.books:count()) end

local function names(list, field)
  local found = {}
  for index, record in ipairs(list) do found[index] = record[field or "name"] end
  return found
end

test("columns are available on the class and by name", function()
  equal(tostring(Author.c.name), '"name"')
  equal(Author:filter(Author.c.country:eq("Italy")):pluck("name"), { "Zoe" })
  equal(Author:filter(perilune.column("country"):eq("Italy")):pluck("name"), { "Zoe" })
end)

test("named requests can sort by natural language order, including accents", function()
  equal(names(Author:order_by_name():fetch_all()), { "Émile", "eva", "Fritz", "Gabriel", "Zoe" })
end)

test("named requests can be chained in any order and combined with others", function()
  equal(names(Author:from_country("France"):order_by_name():fetch_all()), { "Émile", "eva" })
  equal(names(Author:all():order_by_name():from_country("France"):fetch_all()), { "Émile", "eva" })
  equal(names(Author:filter{ country = "France" }:having_books():order_by_name():fetch_all()), { "Émile" })
  equal(names(Author:having_books():order_by_name():limit(2):fetch_all()), { "Émile", "Gabriel" })
end)

test("named requests are available on associations", function()
  equal(names(Book:joining_required(Book.author:from_country("Italy")):fetch_all(), "title"), { "Roma" })
  equal(names(Book:including_required(Book.author:from_country("France"):order_by_name()):order("id"):fetch_all(), "title"), { "Germinal", "Nana" })
  equal(Book:find(1):author():from_country("Italy"):fetch_one(), nil)
end)

test("a request can be stored in the class and reused", function()
  Author.first = Author:order("id"):limit(1)
  equal(Author.first:fetch_one().name, "Émile")
  equal(Author.first:fetch_count(), 1)
end)

test("authors can be fetched with their number of books, sorted", function()
  local list = Author:with_book_count():order_by_name():fetch_all()
  equal(names(list), { "Émile", "eva", "Fritz", "Gabriel", "Zoe" })
  equal(names(list, "book_count"), { 2, 0, 0, 1, 1 })
end)

test("an author can be fetched with all books, and a book with its author", function()
  local author = Author:filter_key(1):including_all(Author.books:order("title")):fetch_one()
  equal({ author.name, author.books[1].title, author.books[2].title }, { "Émile", "Germinal", "Nana" })
  equal(Book:filter_key(3):including_required(Book.author):fetch_one().author.name, "Gabriel")
  equal(Author:filter_key(99):including_all(Author.books):fetch_one(), nil)
end)

test("the books of a country and their authors can be fetched as plain tables", function()
  local list = {}
  for _, book in ipairs(Book:including_required(Book.author:from_country("Colombia")):fetch_all()) do
    list[#list + 1] = { book = book.title, author = book.author.name }
  end
  equal(list, { { book = "Solitude", author = "Gabriel" } })
end)

test("associated rows are fetched only by an explicit request", function()
  local author = Author:find(1)
  equal(names(author:books():order("title"):fetch_all(), "title"), { "Germinal", "Nana" })
  matches(fails("not_fetched", function() return #author.books end), "including_all")
end)

test("a child without a parent has a NULL foreign key", function()
  local beowulf = Book:find(5)
  equal({ beowulf.author_id, beowulf:author():fetch_one() }, { nil, nil })
  equal(Book:filter{ author_id = perilune.null }:pluck("title"), { "Beowulf" })
  equal(Book:including_optional(Book.author):find(5).author, nil)
  equal(Book:including_all(Book.author):find(5).author, nil)
end)

test("all fetches in one read block see the same snapshot", function()
  db:read(function()
    local count = Author:fetch_count()
    equal(#Author:fetch_all(), count)
    equal(Author:having_books():fetch_count() + Author:having(Author.books:is_empty()):fetch_count(), count)
  end)
end)

test("a missing row is nil or an error of find, and errors propagate to the caller", function()
  equal(Author:fetch_one(99), nil)
  equal(fails("record_not_found", function() Author:find(99) end).table, "author")
  fails("constraint_foreign_key", function() Book{ title = "x", author_id = 99 }:insert() end)
end)

test("records are plain values, and two fetches return two objects", function()
  local first, second = Author:find(1), Author:find(1)
  first.name = "changed"
  equal({ rawequal(first, second), second.name }, { false, "Émile" })
end)
