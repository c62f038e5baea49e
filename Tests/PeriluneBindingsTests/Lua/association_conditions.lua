--- Conditions by records and along association paths, in tables of conditions.

db:execute[[
  CREATE TABLE publisher (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, boss_id INTEGER REFERENCES author);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, publisher_id INTEGER REFERENCES publisher, year INTEGER,
    pages INTEGER);
  CREATE TABLE seat (hall TEXT, number INTEGER, PRIMARY KEY (hall, number)) WITHOUT ROWID;
  CREATE TABLE ticket (id INTEGER PRIMARY KEY, hall TEXT, number INTEGER, FOREIGN KEY (hall, number) REFERENCES seat);
  INSERT INTO publisher VALUES (1, 'Harper'), (2, 'Gallimard');
  INSERT INTO author VALUES (1, 'Melville', 'US', NULL), (2, 'Camus', 'France', 1), (3, 'Nobody', NULL, 2);
  INSERT INTO book VALUES (1, 1, 1, 1846, 326), (2, 1, 1, 1851, 635), (3, 2, 2, 1947, 308), (4, NULL, NULL, NULL, 635);
  INSERT INTO seat VALUES ('a', 1), ('a', 2);
  INSERT INTO ticket VALUES (1, 'a', 1), (2, 'a', 2), (3, NULL, NULL)]]

local Publisher, Author, Book = perilune.record("publisher"), perilune.record("author"), perilune.record("book")
local Seat, Ticket = perilune.record("seat"), perilune.record("ticket")
Author.books = Author:has_many(Book)
Author.boss = Author:belongs_to(Author)
Author.any_book = Author:has_one(Book)
Author.first_book = Author.any_book:order("year")
Book.author = Book:belongs_to(Author)
Book.publisher = Book:belongs_to(Publisher)
Author.publishers = Author:has_many(Publisher, { through = Author.books, using = Book.publisher })
Ticket.seat = Ticket:belongs_to(Seat)

local function ids(request) return request:order("id"):pluck("id") end

test("a condition on an association can be a record, a list of records, a request or NULL", function()
  local melville, camus, nobody = Author:find(1), Author:find(2), Author:find(3)
  equal(ids(Book:filter{ author = melville }), { 1, 2 })
  equal(ids(Book:filter{ author = { melville, camus } }), { 1, 2, 3 })
  equal(ids(Book:filter{ author = {} }), {})
  equal(ids(Book:filter{ author = nobody }), {})
  equal(ids(Book:filter{ author = perilune.null }), { 4 })
  equal(ids(Book:filter{ author = Author:filter{ country = "France" } }), { 3 })
  equal(ids(Book:filter{ author = Author }), { 1, 2, 3 })
  equal(ids(Book:filter{ author = melville, pages = 635 }), { 2 })
  equal(Book:filter{ author = melville }:sql(), 'SELECT * FROM "book" WHERE "book"."author_id" = ?')
end)

test("conditions on associations work in both directions, through other tables and with composite keys", function()
  equal(ids(Author:filter{ books = Book:find(3) }), { 2 })
  equal(ids(Author:filter{ books = perilune.null }), { 3 })
  equal(ids(Author:filter{ publishers = Publisher:find(1) }), { 1 })
  equal(ids(Author:filter{ publishers = perilune.null }), { 3 })
  equal(ids(Author:filter{ publishers = Publisher:filter{ name = "Gallimard" } }), { 2 })
  equal(ids(Author:filter{ first_book = Book:find(1) }), { 1 })
  equal(ids(Author:filter{ first_book = Book:find(2) }), {})
  equal(ids(Ticket:filter{ seat = Seat:find{ hall = "a", number = 2 } }), { 2 })
  equal(ids(Ticket:filter{ seat = perilune.null }), { 3 })
  equal(ids(Author:filter{ boss = Author:find(1) }), { 2 })
end)

test("conditions can follow a path of associations", function()
  equal(ids(Book:filter{ ["author.country"] = "France" }), { 3 })
  equal(ids(Book:filter{ ["author.country"] = { "France", "US" }, ["publisher.name"] = "Harper" }), { 1, 2 })
  equal(ids(Book:filter{ ["author.boss.name"] = "Melville" }), { 3 })
  equal(ids(Author:filter{ ["boss.boss.name"] = "Melville" }), { 3 })
  equal(ids(Author:filter{ ["publishers.name"] = "Harper" }), { 1 })
  equal(ids(Book:filter{ ["author.boss"] = Author:find(1) }), { 3 })
  equal(ids(Author:filter{ ["books.publisher"] = Publisher:find(2) }), { 2 })
end)

test("conditions with the same path must hold for the same row", function()
  equal(ids(Author:filter{ ["books.year"] = 1851, ["books.pages"] = 635 }), { 1 })
  equal(ids(Author:filter{ ["books.year"] = 1846, ["books.pages"] = 635 }), {})
  equal(ids(Author:filter{ ["books.year"] = 1846 }:filter{ ["books.pages"] = 635 }), { 1 })
end)

test("requests with conditions on associated rows return each row once, and can be derived, counted and updated", function()
  local found = Author:filter{ ["books.publisher.name"] = "Harper" }
  equal({ found:fetch_count(), #found:fetch_all() }, { 1, 1 })
  equal(Author:including_all(Author.books:filter{ ["publisher.name"] = "Harper" }):order("id"):fetch_all()[1].books[2].id, 2)
  equal(Book:filter{ ["author.country"] = "US" }:update_all{ pages = 1 }.changed_rows, 2)
  equal((Book:filter{ ["author.country"] = "US" } | Book:filter{ ["author.country"] = "France" }):fetch_count(), 3)
  equal(Book:aliased("b"):filter{ ["author.country"] = "France" }:pluck("id"), { 3 })
  equal(Author:aliased("a"):filter{ books = Book:find(3) }:pluck("id"), { 2 })
end)

test("a condition can test whether any rows belong to a row", function()
  equal(ids(Author:filter(Author.books:exists())), { 1, 2 })
  equal(ids(Author:filter(~Author.books:exists())), { 3 })
  equal(ids(Author:filter(~Author.books:is_empty())), { 1, 2 })
  equal(ids(Author:filter(Author.books:filter{ pages = 635 }:exists())), { 1 })
  equal(Author:annotated_with(Author.books:exists()):order("id"):fetch_all()[3].has_book, false)
end)

test("a condition on a has_one association can be used repeatedly", function()
  for _ = 1, 2 do
    local Writer = perilune.record("author")
    Writer.debut = Writer:has_one(Book)
    for _ = 1, 2 do
      equal({ ids(Writer:filter{ debut = Book:find(2) }), ids(Writer:filter{ debut = Book:filter{ year = 1851 } }) }, { {}, {} })
      equal({ ids(Writer:filter{ debut = Book:find(1) }), ids(Writer:filter{ debut = { Book:find(1), Book:find(3) } }) }, { { 1 }, { 1, 2 } })
    end
  end
end)

test("an association derived from a named one has its own conditions", function()
  Author.old_books, Author.renamed = Author.books:filter("year < 1850"), Author.books
  equal({ ids(Author:filter{ old_books = Book:find(2) }), ids(Author:filter{ old_books = Book:find(1) }) }, { {}, { 1 } })
  equal({ ids(Author:filter{ old_books = Book:filter{ year = 1851 } }), ids(Author:filter{ renamed = Book:find(2) }) }, { {}, { 1 } })
end)

test("conditions on an association with a limit are refused", function()
  local latest = Author.books:order(Book.c.year:desc()):limit(1)
  Author.latest, Author.second = latest, latest:limit(1, 1)
  for name in pairs{ latest = 1, second = 2 } do
    for _, condition in ipairs{ { [name] = Book:find(1) }, { [name] = Book:filter{ year = 1846 } }, { [name .. ".year"] = 1846 } } do
      matches(fails("argument", function() Author:filter(condition) end), name .. "` is an association with a limit")
    end
  end
  equal(ids(Author:filter{ latest = perilune.null }), { 3 })
end)

test("misspelled names and values of the wrong type in conditions on associations are refused", function()
  matches(fails("unknown_association", function() Book:filter{ ["autor.country"] = 1 } end), "did you mean `author`")
  matches(fails("unknown_column", function() Book:filter{ ["author.contry"] = 1 } end), "country")
  matches(fails("unknown_association", function() Book:filter{ ["pages.x"] = 1 } end), "`pages`")
  matches(fails("unknown_column", function() Book:filter{ autor = Author:find(1) } end), "author")
  matches(fails("argument", function() Book:filter{ author = Publisher:find(1) } end), "publisher")
  matches(fails("argument", function() Book:filter{ author = 1 } end), "record of `author`")
  matches(fails("argument", function() Book:filter{ author = { country = "US" } } end), "author.country")
  matches(fails("argument", function() Book:filter{ author = Author{ name = "x" } } end), "insert it first")
  matches(fails("argument", function() Book:filter{ author = Publisher:all() } end), "`publisher`")
  matches(fails("argument", function() Book:filter{ author = Author:select("id") } end), "select")
  matches(fails("argument", function() Author:filter{ ["first_book.year"] = 1846 } end), "first of several")
end)
