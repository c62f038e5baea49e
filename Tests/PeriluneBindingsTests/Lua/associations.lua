--- Associations: from foreign keys, for one record, included, prefetched, joined and aggregated.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, author_id INTEGER REFERENCES author (id));
  CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE book_tag (book_id INTEGER NOT NULL REFERENCES book, tag_id INTEGER NOT NULL REFERENCES tag,
    PRIMARY KEY (book_id, tag_id));
  CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER REFERENCES employee);
  INSERT INTO author VALUES (1, 'Melville', 'US'), (2, 'Camus', 'France'), (3, 'Silent', NULL);
  INSERT INTO book VALUES (1, 'Typee', 1846, 1), (2, 'Moby-Dick', 1851, 1), (3, 'The Plague', 1947, 2), (4, 'Beowulf', 1000, NULL);
  INSERT INTO tag VALUES (1, 'sea'), (2, 'whale'), (3, 'old');
  INSERT INTO book_tag VALUES (1, 1), (2, 1), (2, 2), (4, 3);
  INSERT INTO employee VALUES (1, 'Ada', NULL), (2, 'Bob', 1), (3, 'Cy', 1), (4, 'Di', 3)]]

local Author, Book, Tag, BookTag = perilune.record("author"), perilune.record("book"), perilune.record("tag"),
  perilune.record("book_tag")
local Employee = perilune.record("employee")
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
Book.book_tags = Book:has_many(BookTag)
BookTag.tag = BookTag:belongs_to(Tag)
Book.tags = Book:has_many(Tag, { through = Book.book_tags, using = BookTag.tag })
Employee.boss = Employee:belongs_to(Employee)
Employee.reports = Employee:has_many(Employee)
function Author:label() return self.name .. " of " .. (self.country or "?") end
function Author.requests:from(country) return self:filter{ country = country } end
function Book.requests:by_year() return self:order("year") end

--- Returns one column's values from a list of records, in order.
local function names(list, field)
  local result = {}
  for index, record in ipairs(list) do result[index] = record[field or "title"] end
  return result
end

test("the rows associated with one record can be requested", function()
  local melville = Author:find(1)
  equal(names(melville:books():by_year():fetch_all()), { "Typee", "Moby-Dick" })
  equal(melville:books():filter(Book.c.year:gt(1850)):fetch_one().title, "Moby-Dick")
  equal(Book:find(3):author():fetch_one():label(), "Camus of France")
  equal(Book:find(4):author():fetch_one(), nil)
  equal(Author.books(melville):fetch_count(), 2)
  equal(names(Author.books:filter(Book.c.year:lt(1850))(melville):fetch_all()), { "Typee" })
  fails("argument", function() Author.books(Book:find(1)) end)
  equal(names(Book:find(2):tags():order("name"):fetch_all(), "name"), { "sea", "whale" })
end)

test("including_required and including_optional nest records", function()
  local books = Book:including_required(Book.author):order("id"):fetch_all()
  equal(names(books), { "Typee", "Moby-Dick", "The Plague" })
  equal(books[3].author:label(), "Camus of France")
  books = Book:including_optional(Book.author):order("id"):fetch_all()
  equal(#books, 4)
  equal(books[4].author, nil)
  equal(books[1].author.name, "Melville")
  equal(names(Book:including_required(Book.author:from("France")):fetch_all()), { "The Plague" })
  equal(Book:including_required(Book.author):order("id"):fetch_one().author.name, "Melville")
end)

test("including_all fetches lists with one more statement", function()
  local authors = Author:including_all(Author.books:order("title")):order("id"):fetch_all()
  equal(names(authors[1].books), { "Moby-Dick", "Typee" })
  equal(names(authors[2].books), { "The Plague" })
  equal(#authors[3].books, 0)
  equal(authors[1].books[1].year, 1851)
  equal(authors[1]:books():fetch_count(), 2)
end)

test("including_all never runs a statement for each row", function()
  local path, count = temporary_path("trace.sqlite"), 0
  local traced = perilune.queue(path, { trace = function() count = count + 1 end })
  traced:execute[[CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, author_id INTEGER REFERENCES author (id));
    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE book_tag (book_id INTEGER REFERENCES book, tag_id INTEGER REFERENCES tag)]]
  for id = 1, 50 do
    traced:execute("INSERT INTO author VALUES (?, 'x', 'y')", id)
    traced:execute("INSERT INTO book VALUES (?, 't', 1, ?)", id, id)
  end
  local request = Author:including_all(Author.books:including_all(Book.tags))
  request:fetch_all(traced)
  traced:read(function(handle)
    count = 0
    equal(#request:fetch_all(handle), 50)
    equal(count, 3)
  end)
end)

test("prefetches can be nested, filtered, limited, and go through other tables", function()
  local authors = Author:including_all(Author.books:including_all(Book.tags:order("name")):order("id")):order("id"):fetch_all()
  equal(names(authors[1].books[2].tags, "name"), { "sea", "whale" })
  equal(#authors[2].books[1].tags, 0)
  authors = Author:including_all(Author.books:order(Book.c.year:desc()):limit(1)):order("id"):fetch_all()
  equal(names(authors[1].books), { "Moby-Dick" })
  authors = Author:including_all(Author.books:filter(Book.c.year:lt(1850))):order("id"):fetch_all()
  equal(names(authors[1].books), { "Typee" })
  local books = Book:including_all(Book.tags):including_optional(Book.author):order("id"):fetch_all()
  equal(names(books[1].tags, "name"), { "sea" })
  equal(books[1].author.name, "Melville")
end)

test("an association can refer to its own table", function()
  local staff = Employee:including_optional(Employee.boss):order("id"):fetch_all()
  equal(staff[1].boss, nil)
  equal(staff[4].boss.name, "Cy")
  local tree = Employee:filter{ boss_id = perilune.null }:including_all(Employee.reports:order("id"), 3):fetch_one()
  equal(names(tree.reports, "name"), { "Bob", "Cy" })
  equal(tree.reports[2].reports[1].name, "Di")
  equal(#tree.reports[1].reports, 0)
end)

test("joining an association filters rows without fetching the associated rows", function()
  equal(names(Book:joining_required(Book.author:from("US")):order("id"):fetch_all()), { "Typee", "Moby-Dick" })
  equal(names(Book:joining_required(Book.author):filter(Author.c.country:eq("France")):fetch_all()), { "The Plague" })
  equal(Book:joining_optional(Book.author):filter(Author.c.id:is_null()):fetch_one().title, "Beowulf")
end)

test("columns of associations can be added to records", function()
  local book = Book:annotated_with_required(Book.author:select(Author.c.name:as("author_name"))):order("id"):fetch_one()
  equal({ book.title, book.author_name }, { "Typee", "Melville" })
end)

test("associated rows can be aggregated", function()
  local authors = Author:annotated_with(Author.books:count(), Author.books:max("year")):order("id"):fetch_all()
  equal({ authors[1].book_count, authors[3].book_count }, { 2, 0 })
  equal({ authors[1].max_book_year, authors[3].max_book_year }, { 1851, nil })
  equal(authors[1]:label(), "Melville of US")
  equal(names(Author:having(Author.books:count():ge(2)):fetch_all(), "name"), { "Melville" })
  equal(names(Author:having(Author.books:is_empty()):fetch_all(), "name"), { "Silent" })
  equal(names(Author:having(Author.books:filter(Book.c.year:gt(1900)):count():gt(0)):fetch_all(), "name"), { "Camus" })
  local one = Author:annotated_with((Author.books:count() * 10):as("tenfold"), Author.books:min("year"):as("first")):find(1)
  equal({ one.tenfold, one.first }, { 20, 1846 })
  equal(names(Author:order(Author.books:count():desc(), "id"):fetch_all(), "name"), { "Melville", "Camus", "Silent" })
end)

test("reading an unfetched association raises an error with the remedies", function()
  local author = Author:find(1)
  for _, use in ipairs{
    function() return #author.books end, function() return author.books[1] end, function() return author.books.title end,
    function() for _ in ipairs(author.books) do end end, function() for _ in pairs(author.books) do end end,
  } do
    local err = fails("not_fetched", use)
    matches(err, "including_all")
    matches(err, "record:books()")
  end
  matches(fails("not_fetched", function() return Book:find(1).author.name end), "including_optional")
end)

test("mistakes with associations are reported at the line that makes them", function()
  fails("no_foreign_key", function() Tag.books = Tag:has_many(Book) end)
  fails("argument", function() Author:has_many("") end)
  fails("argument", function() Author:has_many(1) end)
  fails("unknown_table", function()
    Author.novels = Author:has_many("novel")
    Author:including_all(Author.novels):fetch_all()
  end)
  fails("argument", function() Author:including_all(Book) end)
  fails("argument", function() Author:including_all(Book.author) end)
  fails("argument", function() Author:including_required(Author.books) end)
  fails("argument", function() Author:including_all(Author:has_many(Book)) end)
  fails("unknown_option", function() Author:has_many(Book, { column = "author_id" }) end)
  fails("unknown_column", function() Author.novels = Author:has_many(Book, { columns = "athor_id" }) end)
  fails("argument", function() Book.title = Book:belongs_to(Author) end)
  fails("argument", function() Book.writer = Author:has_many(Book) end)
  fails("not_joined", function() Book:filter(Author.c.country:eq("US")):fetch_all() end)
  fails("argument", function() Book:including_required(Book.author:limit(1)):fetch_all() end)
  matches(fails("argument", function() Author:including_all(Author.books):rows() end), "in_batches")
end)

test("several foreign keys to one table are distinguished", function()
  db:execute("CREATE TABLE match (id INTEGER PRIMARY KEY, home_id INTEGER REFERENCES author, guest_id INTEGER REFERENCES author)")
  db:execute("INSERT INTO match VALUES (1, 1, 2)")
  local Match = perilune.record("match")
  matches(fails("ambiguous", function() Match.team = Match:belongs_to(Author) end), "home_id")
  Match.home = Match:belongs_to(Author, { columns = "home_id" })
  Match.guest = Match:belongs_to(Author, { columns = { "guest_id" } })
  local match = Match:including_required(Match.home, Match.guest):fetch_one()
  equal({ match.home.name, match.guest.name }, { "Melville", "Camus" })
end)

test("parents with equal keys share prefetched rows, and keys of every type work", function()
  db:execute[[CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT); INSERT INTO country VALUES ('US', 'States'), ('France', 'F');
    CREATE TABLE score (country TEXT, points REAL); INSERT INTO score VALUES ('US', 1.5), ('US', 2.5), ('France', 0.5);
    INSERT INTO author VALUES (4, 'Hugo', 'France')]]
  local Country, Score = perilune.record("country"), perilune.record("score")
  Author.scores = Author:has_many(Score, { columns = "country", referenced = "country" })
  Author.home = Author:belongs_to(Country, { columns = "country" })
  local authors = Author:including_all(Author.scores:order("points")):order("id"):fetch_all()
  equal(names(authors[1].scores, "points"), { 1.5, 2.5 })
  equal({ #authors[2].scores, #authors[3].scores, #authors[4].scores }, { 1, 0, 1 })
  equal(rawequal(authors[2].scores, authors[4].scores), false)
  authors = Author:including_all(Author.home):order("id"):fetch_all()
  equal({ authors[1].home.name, authors[3].home, authors[4].home.name }, { "States", nil, "F" })
  local books = Book:including_required(Book.author:including_all(Author.books:order("id"))):order("id"):fetch_all()
  equal(#books[2].author.books, 2)
end)

test("a fetched association of a record can be called as a request", function()
  db:execute[[
    CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE house (id INTEGER PRIMARY KEY, place_id INTEGER REFERENCES place);
    CREATE TABLE roof (id INTEGER PRIMARY KEY, house_id INTEGER REFERENCES house, color TEXT);
    INSERT INTO place VALUES (1, 'hill'); INSERT INTO house VALUES (1, 1), (2, NULL); INSERT INTO roof VALUES (1, 1, 'red')]]
  local Place, House, Roof = perilune.record("place"), perilune.record("house"), perilune.record("roof")
  House.place, House.roof, Place.houses, Roof.house = House:belongs_to(Place), House:has_one(Roof), Place:has_many(House), Roof:belongs_to(House)
  local function check(house)
    equal(house:place():fetch_one().name, "hill")
    equal(house:place(db):fetch_count(), 1)
    equal(house:roof():pluck("color"), { "red" })
  end
  check(House:find(1))
  check(House:including_optional(House.place, House.roof):find(1))
  check(House:preload({ House:find(1) }, House.place, House.roof)[1])
  check(Place:including_all(Place.houses:including_optional(House.place, House.roof)):find(1).houses[1])
  check(Roof:including_required(Roof.house:including_required(House.place)):find(1).house:refresh())
  check(House:save_nested{ id = 1, place = { id = 1 }, roof = { id = 1 } })
  local chosen = House:including_optional(House.place:select("name"), House.roof:select("color")):find(1)
  equal({ chosen.place, chosen.roof }, { { name = "hill" }, { color = "red" } })
  check(chosen)
  check(House:preload({ House:find(1) }, House.place:select("name"), House.roof:select("color"))[1])
  equal(Place:including_all(Place.houses):find(1):houses(db):pluck("id"), { 1 })
  local house = House:including_optional(House.place):find(1)
  matches(fails("argument", function() house.place{} end), "Class.name(record)")
  matches(fails("argument", function() house.place() end), "attempt to call a record of `place`")
  equal(House.place(House:including_optional(House.place):find(2)):fetch_one(), nil)
end)

test("record:included returns the fetched rows of an association or raises", function()
  db:execute[[CREATE TABLE poet (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE poem (id INTEGER PRIMARY KEY, poet_id INTEGER REFERENCES poet);
    INSERT INTO poet VALUES (1, 'Keats'); INSERT INTO poem VALUES (1, 1), (2, NULL)]]
  local Poet, Poem = perilune.record "poet", perilune.record "poem"
  Poet.poems, Poem.poet = Poet:has_many(Poem), Poem:belongs_to(Poet)
  local fetched = Poem:including_optional(Poem.poet):order("id"):fetch_all()
  equal(fetched[1]:included("poet").name, "Keats")
  equal(fetched[2]:included("poet"), nil)
  equal(#Poet:including_all(Poet.poems):fetch_one():included("poems"), 1)
  local message = fails("not_fetched", function() return Poem:find(2):included("poet") end)
  matches(message, "including_optional(Class.poet)")
  matches(fails("unknown_association", function() return fetched[1]:included("poets") end), "poet")
  matches(fails("argument", fetched[1].included), "included: expected a record before the colon")
end)
