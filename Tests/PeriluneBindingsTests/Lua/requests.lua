--- Requests: their results, and their immutability.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born INTEGER, active BOOLEAN);
  INSERT INTO author VALUES (1, 'Melville', 'US', 1819, 1), (2, 'Camus', 'France', 1913, 0), (3, 'Seghers', NULL, 1900, NULL),
    (4, 'Proust', 'France', 1871, 1);
  CREATE TABLE book (author_id INTEGER NOT NULL, title TEXT NOT NULL, year INTEGER, PRIMARY KEY (author_id, title)) WITHOUT ROWID;
  INSERT INTO book VALUES (1, 'Typee', 1846), (1, 'Moby-Dick', 1851), (2, 'The Plague', 1947), (4, 'Swann', 1913)]]

local Author, Book = perilune.record("author"), perilune.record("book")
local c, null = Author.c, perilune.null

local function ids(request) return request:select("id"):fetch_values() end

test("rows are filtered by tables of conditions", function()
  equal(ids(Author:filter{ country = "France" }:order("id")), { 2, 4 })
  equal(ids(Author:filter{ country = "France", born = 1871 }), { 4 })
  equal(ids(Author:filter{ country = null }), { 3 })
  equal(ids(Author:filter{ country = { "US", "France" }, active = true }:order("id")), { 1, 4 })
  equal(ids(Author:filter{ active = false }), { 2 })
  equal(ids(Author:filter{ id = {} }), {})
  equal(ids(Author:filter{ COUNTRY = "US" }), { 1 })
  equal(ids(Author:filter{ id = Book:filter{ year = 1913 }:select("author_id") }), { 4 })
  equal(ids(Author:filter{ born = c.id + 1911 }), { 2 })
end)

test("a table of conditions always becomes the same SQL", function()
  local first = Author:filter{ born = 1, active = 2, country = "x", id = 3, name = "y" }
  local second = Author:filter{ name = "y", id = 3, country = "x", active = 2, born = 1 }
  equal((first:sql()), (second:sql()))
  equal({ select(2, first:sql()) }, { select(2, second:sql()) })
end)

test("rows are filtered by SQL text with arguments", function()
  equal(ids(Author:filter("length(name) > ? AND born < ?", 6, 1900)), { 1 })
  equal(ids(Author:filter("born BETWEEN :low AND :high", { low = 1900, high = 1913 }):order("id")), { 2, 3 })
  equal(ids(Author:filter("country = 'US' OR 1"):filter{ id = 2 }), { 2 })
end)

test("records are requested by keys", function()
  equal(Author:filter_key(2):fetch_one().name, "Camus")
  equal(ids(Author:filter_key(2)), { 2 })
  equal(ids(Author:filter_key{ 4, 1, 77 }:order("id")), { 1, 4 })
  equal(ids(Author:filter_key{}), {})
  equal(Book:filter_key{ author_id = 1, title = "Typee" }:fetch_one().year, 1846)
  equal(Book:filter_key{ 1, "Typee" }:fetch_one().year, 1846)
  equal(Book:filter_key{ { 1, "Typee" }, { author_id = 4, title = "Swann" } }:fetch_count(), 2)
  matches(fails("argument", function() Book:filter_key(1) end), "author_id")
  fails("argument", function() Author:filter_key(nil) end)
  fails("argument", function() Author:filter_key(null) end)
  fails("argument", function() Book:filter_key{ author_id = 1 } end)
end)

test("requests can be ordered", function()
  equal(ids(Author:order("born")), { 1, 4, 3, 2 })
  equal(ids(Author:order("born"):reversed()), { 2, 3, 4, 1 })
  equal(ids(Author:order(c.country:desc(), c.born)), { 1, 4, 2, 3 })
  equal(ids(Author:order("country DESC, born")), { 1, 4, 2, 3 })
  equal(ids(Author:order("country DESC, born"):reversed()), { 3, 2, 4, 1 })
  equal(ids(Author:order(c.country:nulls_last(), "born")), { 4, 2, 1, 3 })
  equal(ids(Author:order("country"):then_order("born")), { 3, 4, 2, 1 })
  equal(ids(Author:order("name"):order("id")), { 1, 2, 3, 4 })
  equal(ids(Author:all():reversed()), { 4, 3, 2, 1 })
  equal(ids(Author:order("born"):unordered():order("id")), { 1, 2, 3, 4 })
  equal(ids(Author:order("length(name)", "id")), { 2, 4, 3, 1 })
  fails("unknown_column", function() Author:order("bron") end)
end)

test("if an order term has several directions or positions of NULL, the last one applies", function()
  local function order(term) return Author:order(term):sql():match("ORDER BY (.*)") end
  equal(order(c.born:nulls_last():desc()), order(c.born:desc():nulls_last()))
  equal({ order(c.born:asc():desc()), order(c.born:desc():asc()) }, { order(c.born:desc()), order(c.born) })
  equal(order(c.born:desc():nulls_last():nulls_first()), order(c.born:desc():nulls_first()))
  equal(order(c.born:nulls_first():desc():asc():nulls_last()), order(c.born:asc():nulls_last()))
  equal(Author:order(c.born:desc():nulls_first()):pluck("id"), { 2, 3, 4, 1 })
end)

test("requests can be limited", function()
  equal(ids(Author:order("id"):limit(2)), { 1, 2 })
  equal(ids(Author:order("id"):limit(2, 1)), { 2, 3 })
  equal(ids(Author:order("id"):limit(2):offset(3)), { 4 })
  equal(ids(Author:order("id"):offset(2)), { 3, 4 })
  equal(ids(Author:limit(0)), {})
  equal(Author:limit(3):fetch_count(), 3)
  fails("argument", function() Author:limit(-1) end)
  fails("argument", function() Author:limit("x") end)
  fails("argument", function() Author:limit(1.5) end)
end)

test("a request is an immutable value", function()
  local french = Author:filter{ country = "France" }
  local old = french:filter(c.born:lt(1900))
  equal(ids(french:order("id")), { 2, 4 })
  equal(ids(old), { 4 })
  fails("readonly", function() french.x = 1 end)
end)

test("a request fetches records", function()
  function Author:label() return self.name .. "!" end
  local author = Author:filter_key(1):fetch_one()
  equal(author:label(), "Melville!")
  author.country = "USA"
  author:update()
  equal(Author:filter{ country = "USA" }:fetch_count(), 1)
end)

test("selected columns are returned as rows", function()
  local row = Author:select("id", c.name:upper():as("shout"), c.born:gt(1900):as("modern")):filter_key(2):fetch_one()
  equal({ row.id, row.shout, row.modern }, { 2, "CAMUS", true })
  equal(Author:select("country"):distinct():order("country"):fetch_optional_values(), { null, "France", "US" })
  equal(Author:select("country"):filter(c.country:is_not_null()):fetch_set(), { France = true, US = true })
  equal(Author:order("id"):pluck("name"), { "Melville", "Camus", "Seghers", "Proust" })
  equal(Author:filter_key(3):pluck("id", "country", "born"), { { 3, null, 1900 } })
  matches(fails("argument", function() Author:fetch_values() end), "select")
  fails("argument", function() Author:select() end)
  fails("argument", function() Author:select{} end)
  fails("unknown_column", function() Author:select("nmae") end)
end)

test("rows can be counted and aggregated", function()
  equal(Author:min("born"), 1819)
  equal(Author:max(c.born), 1913)
  equal(Author:filter{ country = "France" }:sum("born"), 3784)
  equal(Author:filter{ country = "France" }:average("born"), 1892.0)
  equal(Author:none():sum("born"), nil)
  equal(Author:none():total("born"), 0.0)
  equal(Author:order("born"):limit(2):max("born"), 1871)
  equal(Author:filter{ country = "France" }:fetch_count(), 2)
  equal(Author:none():is_empty(), true)
  equal(Author:all():is_empty(), false)
  equal(Author:filter{ id = 9 }:exists(), false)
end)

test("rows can be grouped", function()
  local rows = Author:group("country"):select("country", perilune.count():as("n")):having(perilune.count():gt(1)):fetch_all()
  equal(#rows, 1)
  equal({ rows[1].country, rows[1].n }, { "France", 2 })
end)

test("annotations are added to the columns of records", function()
  local author = Author:annotated_with((c.born // 100):as("century")):order("century", "id"):fetch_one()
  equal({ author.name, author.century }, { "Melville", 18 })
  function Author:age_at(year) return year - self.born end
  equal(author:age_at(1820), 1)
  fails("argument", function() Author:annotated_with(c.born + 1) end)
end)

test("exists returns whether a request has a row", function()
  local count, max = perilune.count(), c.born:max()
  Author.books = Author:has_many(Book, { columns = "author_id" })
  local joined = Author:joining_required(Author.books)
  local requests = {
    Author:filter{ id = 99 }, Author:filter{ id = 1 }, Author:limit(0), Author:limit(2, 3), Author:limit(2, 4),
    Author:filter{ id = 99 }:select(count), Author:select(count):limit(1, 1), Author:select(max):limit(0),
    Author:select(count):having(count:ge(4)), Author:select(count):having(count:ge(5)), Author:select(max, count:as("n")):order("n"),
    Author:group("country"):select("country"):having(count:ge(2)), Author:group("country"):select("country", count):having(count:ge(3)),
    Author:group("country"):select("country"):limit(1, 2), Author:group("country"):select("country"):limit(1, 3),
    Author:select("country"):distinct():limit(10, 2), Author:select("country"):distinct():limit(10, 3), Author:select("country"):distinct(),
    joined:distinct():limit(10, 2), joined:distinct():limit(10, 3), joined:limit(10, 3), joined:limit(10, 4),
    Author:select("country"):union(Author:select("country")):limit(1, 2), Author:select("country"):union(Author:select("country")):limit(1, 3),
  }
  for index, request in ipairs(requests) do
    local is_there = request:fetch_count() > 0
    equal({ index, request:exists(), request:is_empty(), request:prepare():exists() }, { index, is_there, not is_there, is_there })
    equal({ index, Author:filter(perilune.exists(request)):fetch_count() }, { index, is_there and 4 or 0 })
    equal({ index, Author:filter(~perilune.exists(request)):fetch_count() }, { index, is_there and 0 or 4 })
  end
  equal(ids(Author:filter(Author.books:select("year"):distinct():limit(5, 1):exists())), { 1 })
  equal(ids(Author:filter(Author.books:select("author_id"):distinct():limit(5, 1):exists())), {})
  equal(Author:filter{ id = 1 }:order("name"):prepare():exists(), true)
end)

test("the name of a selected column can be used in orders of derived requests", function()
  Author.books = Author:has_many(Book, { columns = "author_id" })
  local rows = Author:annotated_with(Author.books:count():as("n")):order(perilune.column("n"):desc(), "id")
  equal({ rows:exists(), rows:is_empty(), rows:prepare():exists(), Author:filter(perilune.exists(rows)):fetch_count() }, { true, false, true, 4 })
  equal({ rows:limit(1):sum("id"), rows:limit(2, 1):max("id"), rows:fetch_count(), rows:pluck("id") }, { 1, 4, 4, { 1, 2, 4, 3 } })
  local years = Book:select("title", Book.c.year:as("m")):order("m")
  equal({ years:pluck("m"), years:pluck("title")[1], years:select("title"):limit(1):fetch_value() }, { { 1846, 1851, 1913, 1947 }, "Typee", "Typee" })
  equal({ years:exists(), years:limit(2):max("year"), years:limit(1):select("title"):prepare():exists() }, { true, 1851, true })
  equal(Author:joining_required(Author.books:annotated_with(Book.c.year:as("n")):order("n")):pluck("id"), { 1, 1, 4, 2 })
  local latest = Author.books:annotated_with((Book.c.year * -1):as("age")):order("age"):limit(1)
  Author.latest = latest
  equal(Author:including_all(Author.latest):find(1).latest[1].title, "Moby-Dick")
  equal(rows:limit(1):update_all{ born = 1 }.changed_rows, 1)
  equal({ Author:find(1).born, rows:reversed():limit(1):delete_all().changed_rows, ids(Author:order("id")) }, { 1, 1, { 1, 2, 4 } })
end)

test("the name of a selected column can be any text", function()
  local born, count = Author:annotated_with((c.born * -1):as("my n")), Author:group("country"):select("country", perilune.count():as("id-id"))
  local ordered = born:order("my n")
  equal({ ordered:pluck("id"), ordered:find().name, born:then_order("my n"):limit(1):sum("id") }, { { 2, 3, 4, 1 }, "Camus", 2 })
  equal(born:order("my n"):pluck("my n"), { -1913, -1900, -1871, -1819 })
  equal({ count:order("id-id", "country"):fetch_all()[3]["id-id"], count:order("country"):pluck("id-id") }, { 2, { 1, 2, 1 } })
  equal(ids(Author:order("born - 1900 DESC, id")), { 2, 3, 4, 1 })
end)

test("requests are combined by union, intersect and except", function()
  local french, old = Author:filter{ country = "France" }, Author:filter(c.born:lt(1900))
  equal(ids(french:union(old):order("id")), { 1, 2, 4 })
  equal(french:union_all(old):fetch_count(), 4)
  equal(ids(french:intersect(old)), { 4 })
  equal(ids(french:except(old)), { 2 })
  fails("argument", function() french:union(5) end)
  fails("argument", function() french:select("id"):union(old) end)
end)

test("requests can be nested", function()
  local writers = Author:filter(c.id:is_in(Book:filter(Book.c.year:lt(1900)):select("author_id")))
  equal(ids(writers), { 1 })
  local with_books = Author:filter(perilune.exists(Book:filter(Book.c.author_id:eq(c.id))))
  equal(ids(with_books:order("id")), { 1, 2, 4 })
  local counted = Author:annotated_with(Author.c.id:as("same")):filter(
    c.born:lt(Author:aliased("other"):select(perilune.fn.max(Author:aliased("other").c.born))))
  equal(ids(counted:order("id"):select("id")), { 1, 3, 4 })
end)

test("rows and tuples of a request can be iterated", function()
  local names = {}
  for author in Author:order("id"):rows() do names[#names + 1] = author.name end
  equal(#names, 4)
  for id, name in Author:order("id"):select("id", "name"):tuples() do equal(names[id], name) end
end)

test("find returns one record or raises", function()
  equal(Author:filter{ country = "France" }:find(4).name, "Proust")
  equal(fails("record_not_found", function() Author:filter{ country = "France" }:find(1) end).table, "author")
  fails("record_not_found", function() Author:none():find() end)
end)

test("a request can show its SQL and its plan", function()
  local request = Author:filter{ country = "France" }:order("name"):limit(3)
  local sql, arguments = request:sql()
  matches(sql, 'WHERE "author"."country" = ?')
  equal(arguments[1], "France")
  matches(tostring(request), "'France'")
  matches(tostring(request:explain()), "SCAN")
end)

test("equal requests share one plan", function()
  local function build(country) return Author:filter{ country = country }:order("name"):limit(2) end
  equal(rawequal(build("France").node, build("US").node), true)
  equal(ids(build("US")), { 1 })
  equal(ids(build("France")), { 2, 4 })
end)

test("a request follows schema changes", function()
  local request = Author:filter{ country = "France" }:order("id")
  equal(#request:fetch_all(), 2)
  db:execute("ALTER TABLE author ADD COLUMN pen_name TEXT DEFAULT 'x'")
  equal(request:fetch_one().pen_name, "x")
  db:execute("ALTER TABLE author DROP COLUMN country")
  fails("unknown_column", function() request:fetch_all() end)
end)

test("a request runs on the given database", function()
  local other = perilune.queue(":memory:")
  other:execute("CREATE TABLE author (name TEXT, id INTEGER PRIMARY KEY, country TEXT); INSERT INTO author VALUES ('Eco', 9, 'Italy')")
  local request = Author:filter{ country = "Italy" }
  equal(request:fetch_one(), nil)
  equal(request:fetch_one(other).name, "Eco")
  equal(request:fetch_count(other), 1)
  equal(other:read(function() return request:fetch_count() end), 1)
  fails("argument", function() request:fetch_all(5) end)
end)
