--- Preloading associations of existing records, creating associated records, and finding or creating records.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, country TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT NOT NULL, year INTEGER);
  CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book_tag (book_id INTEGER REFERENCES book, tag_id INTEGER REFERENCES tag);
  CREATE TABLE day (day DATE PRIMARY KEY);
  CREATE TABLE visit (id INTEGER PRIMARY KEY, day DATE REFERENCES day);
  INSERT INTO author VALUES (1, 'Melville', 'US'), (2, 'Camus', 'France'), (3, 'Nobody', NULL);
  INSERT INTO book VALUES (1, 1, 'Typee', 1846), (2, 1, 'Moby-Dick', 1851), (3, 2, 'The Plague', 1947);
  INSERT INTO tag VALUES (1, 'sea');
  INSERT INTO day VALUES ('2026-01-02'), ('2026-01-03');
  INSERT INTO visit VALUES (1, '2026-01-02'), (2, '2026-01-02')]]

local Author, Book, Tag, BookTag = perilune.record("author"), perilune.record("book"), perilune.record("tag"), perilune.record("book_tag")
local Day, Visit = perilune.record("day"), perilune.record("visit")
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
Book.links = Book:has_many(BookTag)
BookTag.tag = BookTag:belongs_to(Tag)
Book.tags = Book:has_many(Tag, { through = Book.links, using = BookTag.tag })
Day.visits = Day:has_many(Visit)

test("preload fetches each association of existing records with one statement", function()
  local authors = Author:order("id"):fetch_all()
  equal(Author:preload(authors, Author.books:order(Book.c.year:desc())) == authors, true)
  equal({ #authors[1].books, authors[1].books[1].title, #authors[3].books }, { 2, "Moby-Dick", 0 })
  Author:preload({ authors[2] }, Author.books:filter{ year = 1 })
  equal({ #authors[1].books, #authors[2].books }, { 2, 0 })
  local books = Book:order("id"):fetch_all()
  Book:preload(books, Book.author, Book.tags)
  equal({ books[3].author.name, #books[1].tags }, { "Camus", 0 })
  Book:preload(books, Book.author:including_all(Author.books))
  equal(#books[1].author.books, 2)
  equal(#Author:preload({}, Author.books), 0)
  -- The keys are converted by their column type.
  local days = Day:order("day"):fetch_all()
  Day:preload(days, Day.visits)
  equal({ #days[1].visits, #days[2].visits }, { 2, 0 })
  equal(authors[1]:has_changes(), false)
end)

test("the field of a preloaded association is nil if no row exists", function()
  db:execute("INSERT INTO book VALUES (4, NULL, 'Beowulf', 1000)")
  local books = Book:order("id"):fetch_all()
  Book:preload(books, Book.author)
  equal({ books[3].author.name, books[4].author, books[4]:has_changes() }, { "Camus", nil, false })
  Book:preload(books, Book.author:filter{ name = "Melville" })
  equal({ books[1].author.name, books[3].author, books[4].author }, { "Melville", nil, nil })
  -- The records still track changes against their rows.
  books[4].title = "The Beowulf"
  equal(books[4]:changes().title ~= nil, true)
  equal(books[4]:update_changes(), true)
  books[4].author_id = 2
  books[4]:update()
  Book:preload(books, Book.author, Book.links)
  equal({ books[4].author.name, Book:find(4).author_id, #books[4].links }, { "Camus", 2, 0 })
  equal(type(Book:find(4).author), "table")
  -- The record is new and has no row.
  local made = Book{ title = "Omoo" }
  Book:preload({ made }, Book.author)
  equal({ made.author, made:insert().id }, { nil, 5 })
end)

test("find_or_insert returns records that satisfy the conditions of the request", function()
  local request = Book:filter{ author_id = 1 }:filter(Book.c.year:eq(1900) & Book.c.id:gt(0))
  local book, is_new = request:find_or_insert{ title = "Found" }
  equal({ book.author_id, book.year, is_new }, { 1, 1900, true })
  equal({ select(2, request:find_or_insert{ title = "Found" }), Book:filter{ title = "Found" }:fetch_count() }, { false, 1 })
  equal(request:find_or_build({ title = "Other" }, { year = 1901 }).year, 1901)
  equal(Book:filter{ year = { 1, 2 } }:find_or_build{ title = "x" }.year, nil)
  equal(Book:filter(Book.c.year:eq(1) | Book.c.year:eq(2)):find_or_build{ title = "x" }.year, nil)
  local Scoped = perilune.record("book")
  function Scoped.requests:default() return self:filter{ year = 2000 } end
  equal(Scoped:find_or_insert{ title = "Scoped" }.year, 2000)
end)

test("find_or_insert refuses a key that contradicts the conditions of the request", function()
  local request = Book:filter{ author_id = 1 }
  for _, verb in ipairs{ "find_or_build", "find_or_insert" } do
    local message = fails("argument", function() request[verb](request, { title = "New", author_id = 2 }) end)
    matches(message, verb .. ": `author_id` is the integer 2, but all records of the request have the integer 1")
  end
  fails("argument", function() request:find_or_insert({ title = "New" }, { author_id = 2 }) end)
  equal(request:find_or_insert{ title = "New", author_id = 1 }.author_id, 1)
  equal((request | Book:filter{ author_id = 2 }):find_or_insert{ title = "Newer", author_id = 2 }.author_id, 2)
end)

test("invalid arguments of preload are refused", function()
  matches(fails("argument", function() Author:preload(Author:find(1), Author.books) end), "list of records")
  matches(fails("argument", function() Author:preload({ Book:find(1) }, Author.books) end), "element 1")
  matches(fails("argument", function() Author:preload({ Author:find(1) }) end), "at least one association")
  matches(fails("argument", function() Author:preload({ Author:find(1) }, Book.author) end), "author")
end)

test("an association of a record can insert a record", function()
  local melville = Author:find(1)
  local omoo = melville:books():insert{ title = "Omoo", year = 1847 }
  equal({ omoo.author_id, Book:find(omoo.id).author_id }, { 1, 1 })
  local draft = melville:books():build{ title = "Pierre" }
  equal({ draft.author_id, draft.id, melville:books():fetch_count() }, { 1, nil, 3 })
  local sea = Book:find(1):tags():insert{ name = "whale" }
  equal(Book:find(1):tags():pluck("name"), { "whale" })
  equal(Tag:find(sea.id).name, "whale")
  equal(Author:find(1):books():filter{ year = 1847 }:fetch_one().title, "Omoo")
end)

test("an association of a record can insert a list of records", function()
  local melville = Author:find(1)
  local made = melville:books():insert_all{ { title = "Omoo" }, Book{ title = "Pierre" } }
  equal({ #made, made[1].author_id, made[2].author_id, made[2].title }, { 2, 1, 1, "Pierre" })
  equal(melville:books():filter{ title = { "Omoo", "Pierre" } }:fetch_count(), 2)
  local tags = Book:find(1):tags():insert_all{ { name = "whale" }, Tag{ name = "ship" } }
  equal({ #tags, #Book:find(1):tags():pluck("name") }, { 2, 2 })
  equal(#melville:books():insert_all{}, 0)
end)

test("a failing list inserts nothing through an association", function()
  local count, tags = Book:fetch_count(), Tag:fetch_count()
  local err = fails(nil, function() Author:find(1):books():insert_all{ { title = "Omoo" }, { id = 1, title = "Typee" } } end)
  equal({ err.list_index, Book:fetch_count() }, { 2, count })
  local first = Tag:order("id"):fetch_one()
  err = fails(nil, function() Book:find(1):tags():insert_all{ { name = "whale" }, { id = first.id, name = "x" } } end)
  equal({ err.list_index, Tag:fetch_count(), Book:find(1):tags():fetch_count() }, { 2, tags, 0 })
end)

test("inserts through an association accept records and options", function()
  local book = Book{ title = "Omoo" }
  equal(rawequal(Author:find(1):books():insert(book), book), true)
  equal({ book.author_id, book.id ~= nil }, { 1, true })
  local id = Author:find(1):books():insert({ title = "Mardi" }, { returning = "id" })
  equal(Book:find(id).author_id, 1)
  equal(Author:find(1):books():insert({ id = id, title = "Mardi" }, { on_conflict = "ignore" }), false)
  equal(Author:find(1):books():insert(db, { title = "Redburn" }).author_id, 1)
end)

test("invalid arguments of insert and build on an association are refused", function()
  local melville = Author:find(1)
  matches(fails("argument", function() melville:books():insert{ author_id = 2, title = "x" } end), "is set by the association")
  matches(fails("unknown_column", function() melville:books():insert{ titel = "x" } end), "title")
  matches(fails("argument", function() Author{ name = "x" }:books():insert{ title = "x" } end), "insert it first")
  equal(fails("unknown_method", function() melville:books():create{ title = "x" } end).suggestion, "insert")
  equal(fails("unknown_method", function() Author:find_or_create{ name = "x" } end).suggestion, "find_or_insert")
  matches(fails("argument", function() Book:order("id"):insert{ title = "x" } end), "Class:insert")
  matches(fails("argument", function() Book:order("id"):insert_all{ { title = "x" } } end), "Class:insert_all")
  fails("argument", function() melville:books():insert() end)
  matches(fails("argument", function() melville:books():insert{ { title = "x" } } end), "insert_all")
  matches(fails("argument", function() melville:books():insert(Tag{ name = "x" }) end), "expected a record of book")
  matches(fails("argument", function() melville:books():insert(Book{ title = "x", author_id = 2 }) end), "is set by the association")
  matches(fails("argument", function() melville:books():insert_all{ title = "x" } end), "list of records")
  matches(fails("argument", function() Book:find(1):author():insert{ name = "x" } end), "belongs to")
  matches(fails("argument", function() melville:books():build("x") end), "table of columns")
  matches(fails("argument", function() Book:find(1):tags():build{ name = "x" } end), "use insert{...}")
  matches(fails("argument", function() melville:books():insert({ title = "x" }, 5) end), "table of options")
  equal(Book:fetch_count(), 3)
end)

test("find_or_insert finds a record or inserts one", function()
  local found, is_new = Author:find_or_insert({ name = "Camus" }, { country = "x" })
  equal({ found.id, found.country, is_new }, { 2, "France", false })
  found, is_new = Author:find_or_insert({ name = "Kafka" }, { country = "Austria" })
  equal({ found.country, is_new, Author:fetch_count() }, { "Austria", true, 4 })
  found, is_new = Author:find_or_build{ name = "Woolf" }
  equal({ found.name, found.id, is_new, Author:fetch_count() }, { "Woolf", nil, true, 4 })
  local book = Author:find(2):books():find_or_insert{ title = "The Fall" }
  equal({ book.author_id, Author:find(2):books():fetch_count() }, { 2, 2 })
  equal(Author:find(2):books():find_or_insert{ title = "The Fall" }.id, book.id)
  equal(Author:find_or_insert(db, { name = "Camus" }).id, 2)
end)

test("a failed find_or_insert inserts nothing", function()
  fails(nil, function() Author:find_or_insert({ id = 9, country = "x" }) end)
  equal(Author:fetch_count(), 3)
  matches(fails("argument", function() Author:find_or_insert{} end), "empty")
  matches(fails("argument", function() Author:find_or_insert{ name = { "a", "b" } } end), "value")
  matches(fails("argument", function() Author:find_or_insert("x") end), "table of columns")
  matches(fails("argument", function() Author:select("id"):find_or_insert{ id = 1 } end), "select")
end)

test("find_or_insert finds the values that an insert would store", function()
  db:execute "CREATE TABLE stay (id INTEGER PRIMARY KEY, day DATE, is_paid BOOLEAN, mood TEXT, bytes BLOB)"
  local Mood = perilune.enum{ good = "g", bad = "b" }
  local Stay = perilune.record("stay", { types = { mood = Mood } })
  for _, key in ipairs{ { day = "2024-01-08" }, { is_paid = true, day = "2024-01-09" }, { mood = Mood.bad }, { bytes = "x" },
    { day = perilune.null, bytes = "y" } } do
    local made, is_new = Stay:find_or_insert(key)
    equal(is_new, true)
    equal({ Stay:find_or_insert(key).id, Stay:find_or_build(key).id }, { made.id, made.id })
  end
  db:execute "INSERT INTO stay (id, day) VALUES (90, '2023-05-05')"
  for _, day in ipairs{ "2023-05-05", "2023-05-05 00:00:00.000", perilune.date "2023-05-05" } do
    equal(Stay:find_or_insert{ day = day }.id, 90)
  end
  fails("conversion", function() Stay:find_or_insert{ day = "soon" } end)
  equal(Stay:fetch_count(), 6)
end)
