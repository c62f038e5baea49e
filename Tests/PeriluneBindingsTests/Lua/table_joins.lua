--- Joins on any condition: with classes, requests, common tables; inner, left, right, full and cross.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT NOT NULL, year INTEGER);
  CREATE TABLE era (name TEXT, first INTEGER, last INTEGER);
  INSERT INTO author VALUES (1, 'Melville', 'US'), (2, 'Camus', 'France'), (3, 'Nobody', NULL);
  INSERT INTO book VALUES (1, 1, 'Typee', 1846), (2, 1, 'Moby-Dick', 1851), (3, 2, 'The Plague', 1947), (4, NULL, 'Beowulf', NULL);
  INSERT INTO era VALUES ('early', 1800, 1849), ('middle', 1850, 1899), ('late', 1900, 1999), ('future', 2000, 2099)]]

local Author, Book, Era = perilune.record("author"), perilune.record("book"), perilune.record("era")
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
local null = perilune.null
local in_era = Book.c.year:between(Era.c.first, Era.c.last)
local by_author = Book.c.author_id:eq(Author.c.id)

test("each row is joined with the rows that satisfy a condition", function()
  local rows = Book:join(Era, in_era):select(Book.c.title, Era.c.name:as("era")):order("title"):pluck(Book.c.title, Era.c.name)
  equal(rows, { { "Moby-Dick", "middle" }, { "The Plague", "late" }, { "Typee", "early" } })
  equal(Book:join(Era, in_era):filter(Era.c.name:ne("late")):order("id"):fetch_all()[2].title, "Moby-Dick")
  equal(Book:join(Era, in_era):fetch_count(), 3)
end)

test("rows without a match can be kept from the left, the right or both tables", function()
  equal(Book:left_join(Author, by_author):order("id"):pluck(Book.c.title, Author.c.name),
    { { "Typee", "Melville" }, { "Moby-Dick", "Melville" }, { "The Plague", "Camus" }, { "Beowulf", null } })
  equal(Book:right_join(Author, by_author):order(Author.c.id, Book.c.id):pluck(Book.c.title, Author.c.name),
    { { "Typee", "Melville" }, { "Moby-Dick", "Melville" }, { "The Plague", "Camus" }, { null, "Nobody" } })
  equal(Book:full_join(Author, by_author):fetch_count(), 5)
  equal(#Book:full_join(Author, by_author):pluck(Book.c.id, Author.c.id), 5)
  equal(Book:cross_join(Author):fetch_count(), 12)
  equal(#Book:cross_join(Author):fetch_all(), 12)
end)

test("a joined request keeps its own conditions, order and limit", function()
  local french = Author:filter{ country = "France" }
  equal(Book:left_join(french, by_author):order("id"):pluck(Book.c.id, Author.c.name),
    { { 1, null }, { 2, null }, { 3, "Camus" }, { 4, null } })
  equal(Book:join(Author:order("name"):limit(1), by_author):pluck("title"), { "The Plague" })
  -- The values of both requests keep their order.
  equal(Book:filter(Book.c.year:gt(1900)):join(french, by_author & Book.c.title:ne("x")):filter(Book.c.id:lt(9)):pluck("title"),
    { "The Plague" })
end)

test("a table can be joined to itself", function()
  local other = Book:aliased("other")
  equal(Book:join(other, Book.c.author_id:eq(other.c.author_id) & Book.c.year:lt(other.c.year))
    :pluck(Book.c.title, other.c.title), { { "Typee", "Moby-Dick" } })
  local one = Book:aliased("one"):filter{ author_id = 1 }
  equal(one:join(other:filter{ id = 2 }, one.c.id:ne(other.c.id)):pluck(one.c.title, other.c.title), { { "Typee", "Moby-Dick" } })
end)

test("common tables and requests with associations can be joined", function()
  local counts = perilune.common_table("counts", Book:select("author_id", perilune.count():as("n")):group("author_id"))
  equal(Author:left_join(counts, Author.c.id:eq(counts.c.author_id)):order("id"):pluck(Author.c.name, counts.c.n),
    { { "Melville", 2 }, { "Camus", 1 }, { "Nobody", null } })
  equal(Book:joining_required(Book.author:filter{ country = "US" }):join(Era, in_era):order("id"):pluck(Book.c.title, Era.c.name),
    { { "Typee", "early" }, { "Moby-Dick", "middle" } })
  equal(Book:including_optional(Book.author):join(Era, in_era):order("id"):fetch_all()[3].author.name, "Camus")
end)

test("join conditions can be tables or SQL", function()
  equal(Book:join(Author, { author_id = Author.c.id }):fetch_count(), 3)
  equal(Book:join(Author, "author_id = author.id AND country = ?", "US"):fetch_count(), 2)
end)

test("joined rows can be grouped, changed and deleted", function()
  equal(Book:join(Era, in_era):select(Era.c.name:as("era"), perilune.count():as("n")):group(Era.c.name):order("era"):fetch_all()[3].era, "middle")
  equal(Book:join(Author, by_author):update_all{ title = Author.c.name .. ": " .. Book.c.title }.changed_rows, 3)
  equal(Book:order("id"):pluck("title"), { "Melville: Typee", "Melville: Moby-Dick", "Camus: The Plague", "Beowulf" })
  equal(Book:join(Era, in_era & Era.c.name:eq("late")):delete_all().changed_rows, 1)
  equal(Book:fetch_count(), 3)
end)

test("update_all can assign columns of an association", function()
  Book:joining_required(Book.author):update_all{ title = Book.author.c.name, year = 1 }
  equal(Book:order("id"):pluck("title"), { "Melville", "Melville", "Camus", "Beowulf" })
  equal(Book:order("id"):pluck("year"), { 1, 1, 1, null })
end)

test("a join is printed as SQL", function()
  equal(tostring(Book:left_join(Author, by_author):select(Book.c.title)),
    'SELECT "book"."title" FROM "book" LEFT JOIN "author" ON "book"."author_id" = "author"."id"')
  equal(tostring(Book:join(Author:filter{ country = "US" }, by_author):select(Author.c.name)),
    'SELECT "author"."name" FROM "book" JOIN (SELECT * FROM "author" WHERE "author"."country" = \'US\') AS "author" '
    .. 'ON "book"."author_id" = "author"."id"')
end)

test("invalid arguments of join are refused when the request is built", function()
  matches(fails("argument", function() Book:join(Author) end), "cross_join")
  matches(fails("argument", function() Book:join("author", by_author) end), "record class")
  matches(fails("argument", function() Book:cross_join(Author, by_author) end), "join(other, condition)")
  matches(fails("ambiguous", function() Book:join(Book, Book.c.id:eq(1)) end), "alias")
  matches(fails("argument", function() Book:join(Author:select("id"), by_author) end), "common_table")
  matches(fails("argument", function() Book:join(Author:including_all(Author.books), by_author) end), "includes")
  matches(fails("not_joined", function() Book:join(Era, by_author) end), "author")
  matches(fails("argument", function() Book:join(Author, perilune.count():gt(1)) end), "aggregates or window functions")
  matches(fails("argument", function() Book:right_join(Author, by_author):fetch_all() end), "select")
  matches(fails("argument", function() Book:join(Author, by_author, 1, 2) end), "expected a condition")
  matches(fails("argument", function() Book:join(Era, in_era):in_batches(2) end), "may repeat a record")
  matches(fails("unknown_method", function() return Book:all().inner_join end), "join")
end)

-- Either ------------------------------------------------------------------------------------------------------------------------

test("`|` finds the rows of either request", function()
  local old, french = Book:filter(Book.c.year:lt(1850)), Book:filter{ author_id = 2 }
  equal((old | french):order("id"):pluck("id"), { 1, 3 })
  equal((old | french | Book:filter{ id = 4 }):order("id"):pluck("id"), { 1, 3, 4 })
  equal((Book:filter{ id = 2 } | old:filter{ author_id = 1 }):filter(Book.c.year:gt(1)):order("id"):pluck("id"), { 1, 2 })
  equal((old | Book):fetch_count(), 4)
  equal((Book | old):fetch_count(), 4)
  equal((old | french):update_all{ year = 1 }.changed_rows, 2)
  local written = Book:joining_required(Book.author)
  equal((written:filter{ id = 1 } | written:filter{ ["author.country"] = "France" }):order("id"):pluck("id"), { 1, 3 })
  matches(tostring(old | french), 'WHERE "book"."year" < 1850 OR "book"."author_id" = 2')
end)

test("`|` refuses requests that differ in more than conditions and orders", function()
  local function refused(part, left, right)
    local message = fails("argument", function() return left | right end)
    matches(message, part)
    matches(message, "union(...)")
  end
  local first, all = Book:filter{ id = 1 }, Book:all()
  for part, other in pairs{
    ["a limit"] = Book:limit(1), ["an offset"] = Book:offset(1), groups = Book:group("author_id"), ["a union"] = first:union(Book:filter{ id = 2 }),
    ["an intersection"] = all:intersect(first), ["a difference"] = all:except(first), ["joined associations"] = Book:joining_required(Book.author),
    joins = Book:join(Author, by_author), ["columns of joined associations"] = Book:annotated_with_required(Book.author:select(Author.c.name:as("writer"))),
    ["included associations"] = Book:including_required(Book.author),
  } do
    refused(part, first, other)
    refused(part, other, first)
  end
  refused("a union", all, first:union_all(first))
  refused("joins", Book:join(Author, by_author), Book:join(Author, by_author & Author.c.id:gt(1)))
  refused("joined associations", Book:joining_required(Book.author:filter{ id = 1 }), Book:joining_required(Book.author:filter{ id = 2 }))
  refused("selected columns", first, Book:select("id"))
  refused("selected columns", Book:select("id"), Book:select("title"))
  refused("annotated columns", first, Book:annotated_with((Book.c.id + 1):as("next")))
  refused("distinct()", first, Book:distinct())
  refused("a condition on groups", Book:group("id"):having(perilune.count():gt(0)):filter{ id = 1 }, first)
end)

test("`|` accepts requests that agree in their other derivations", function()
  local function ids(request) return request:order("id"):pluck("id") end
  local american = Book.author:filter{ country = "US" }
  local function written() return Book:joining_required(american) end
  equal(ids(written():filter{ id = 1 } | written():filter{ id = 2 }), { 1, 2 })
  local function joined() return Book:join(Author, by_author):filter(Author.c.country:ne "x") end
  equal(ids(joined():filter{ id = 1 } | joined():filter{ id = 3 }), { 1, 3 })
  equal((Book:select("title"):filter{ id = 1 } | Book:filter{ id = 2 }):order("id"):fetch_values(), { "Typee", "Moby-Dick" })
  equal(ids(Book:none() | Book:filter{ id = 2 }), { 2 })
  equal(ids(Book:distinct():filter{ id = 1 } | Book:filter{ id = 2 }), { 1, 2 })
end)

test("`|` does not mix the rows of different records", function()
  equal((Author:find(1):books():filter{ id = 1 } | Author:find(2):books()):order("id"):pluck("id"), { 1, 3 })
end)

test("a record that is built from a request with `|` gets no values from its conditions", function()
  local either = Book:filter{ author_id = 1 } | Book:filter{ author_id = 2 }
  equal(rawget(either:find_or_build{ title = "New" }, "author_id"), nil)
  equal(either:filter{ year = 1900 }:find_or_build{ title = "New" }.year, 1900)
  equal(rawget(Book:filter{ author_id = 1 }:union(Book:filter{ author_id = 2 }):find_or_build{ title = "New" }, "author_id"), nil)
end)

test("`|` accepts only requests on the same table", function()
  matches(fails("argument", function() return Book:filter{ id = 1 } | Author:filter{ id = 1 } end), "`author`")
  matches(fails("argument", function() return Book:filter{ id = 1 } | 5 end), "request")
  matches(fails("argument", function() return Book:filter{ id = 1 } | Book.c.id:eq(1) end), "request")
  matches(fails("argument", function() return Book:aliased("x") | Book:filter{ id = 1 } end), "alias")
end)

-- Only if a value is given --------------------------------------------------------------------------------------------------------

test("conditions apply only if a value is given", function()
  local function search(year, title)
    return Book:filter_given{ year = year, title = title }:order("id"):pluck("id")
  end
  equal(search(), { 1, 2, 3, 4 })
  equal(search(1851), { 2 })
  equal(search(1851, "x"), {})
  local function newest(year, is_reversed)
    return Book:when(year, function(books, given) return books:filter(Book.c.year:gt(given)) end)
      :when(is_reversed, function(books) return books:order(Book.c.id:desc()) end, function(books) return books:order("id") end):pluck("id")
  end
  equal(newest(), { 1, 2, 3, 4 })
  equal(newest(1850, true), { 3, 2 })
  matches(fails("unknown_column", function() Book:filter_given{ yaer = 1 } end), "year")
  matches(fails("argument", function() Book:when(1) end), "function")
  matches(fails("argument", function() Book:when(1, function() end) end), "return")
  matches(fails("argument", function() Book:filter_given("x") end), "column = value")
end)
