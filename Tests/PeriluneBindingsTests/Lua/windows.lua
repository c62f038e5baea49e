--- Window functions, filters by window functions, and aggregates with FILTER, ORDER BY and DISTINCT.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author, title TEXT NOT NULL COLLATE NOCASE, year INTEGER,
    pages INTEGER);
  CREATE TABLE seat (hall TEXT, number INTEGER, price INTEGER, PRIMARY KEY (hall, number)) WITHOUT ROWID;
  CREATE VIEW thick AS SELECT title, pages FROM book WHERE pages > 300;
  INSERT INTO author VALUES (1, 'Melville', 'US'), (2, 'Camus', 'France'), (3, 'Nobody', NULL);
  INSERT INTO book VALUES (1, 1, 'Typee', 1846, 326), (2, 1, 'Moby-Dick', 1851, 635), (3, 1, 'omoo', 1847, NULL), (4, 2, 'The Plague', 1947, 308),
    (5, 2, 'The Fall', 1956, 147);
  INSERT INTO seat VALUES ('a', 1, 10), ('a', 2, 30), ('b', 1, 20), ('b', 2, 5)]]

local Author, Book, Seat = perilune.record("author"), perilune.record("book"), perilune.record("seat")
local Thick = perilune.record("thick")
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
local c = Book.c

--- Returns the values of an expression for all books, ordered by id.
local function values(expression)
  return Book:order("id"):select(expression:as("value")):fetch_optional_values()
end

local null = perilune.null
local by_author = { partition_by = "author_id", order_by = "year" }

test("window functions number, rank and divide the rows", function()
  equal(values(perilune.row_number():over(by_author)), { 1, 3, 2, 1, 2 })
  equal(values(perilune.row_number():over{ order_by = c.id:desc() }), { 5, 4, 3, 2, 1 })
  equal(values(perilune.rank():over{ order_by = "author_id" }), { 1, 1, 1, 4, 4 })
  equal(values(perilune.dense_rank():over{ order_by = c.author_id }), { 1, 1, 1, 2, 2 })
  equal(values(perilune.percent_rank():over{ order_by = "author_id" }), { 0.0, 0.0, 0.0, 0.75, 0.75 })
  equal(values(perilune.cume_dist():over{ order_by = "author_id" }), { 0.6, 0.6, 0.6, 1.0, 1.0 })
  equal(values(perilune.ntile(2):over{ order_by = "id" }), { 1, 1, 1, 2, 2 })
end)

test("window functions return values of preceding rows, following rows and rows of the frame", function()
  equal(values(c.title:lag():over(by_author)), { null, "omoo", "Typee", null, "The Plague" })
  equal(values(c.title:lead(2, "none"):over(by_author)), { "Moby-Dick", "none", "none", "none", "none" })
  equal(values(c.title:first_value():over(by_author)), { "Typee", "Typee", "Typee", "The Plague", "The Plague" })
  equal(values(c.id:last_value():over{ partition_by = "author_id", order_by = "year", frame = { rows = { 0, "unbounded" } } }),
    { 2, 2, 2, 5, 5 })
  equal(values(c.id:nth_value(2):over{ partition_by = c.author_id, order_by = { "year" }, frame = { rows = { "unbounded", "unbounded" } } }),
    { 3, 3, 3, 5, 5 })
end)

test("aggregates over windows give running totals, moving averages and filtered totals", function()
  equal(values(c.pages:sum():over(by_author)), { 326, 961, 326, 308, 455 })
  equal(values(c.id:sum():over{}), { 15, 15, 15, 15, 15 })
  equal(values(c.id:sum():over()), { 15, 15, 15, 15, 15 })
  equal(values(c.id:average():over{ order_by = "id", frame = { rows = { -1, 1 } } }), { 1.5, 2.0, 3.0, 4.0, 4.5 })
  equal(values(c.id:sum():over{ order_by = "year", frame = { range = { -10, 0 } } }), { 1, 6, 4, 4, 9 })
  equal(values(c.id:sum():over{ order_by = "author_id", frame = { groups = { 0, 0 }, exclude = "current_row" } }), { 5, 4, 3, 5, 4 })
  equal(values(perilune.count():over{ partition_by = "author_id" }), { 3, 3, 3, 2, 2 })
  equal(values(c.id:count():where(c.pages:gt(310)):over{ order_by = "id" }), { 1, 2, 2, 2, 2 })
  equal(values(c.id:sum():over("PARTITION BY author_id ORDER BY id")), { 1, 3, 6, 4, 9 })
end)

test("a window function can be used like any other expression", function()
  equal(values(c.pages * 100 // c.pages:sum():over{ partition_by = "author_id" }), { 33, 66, null, 67, 32 })
  local rows = Book:annotated_with(perilune.rank():over{ order_by = c.pages:desc():nulls_last() }:as("place")):order("place"):fetch_all()
  equal({ rows[1].title, rows[1].place, rows[5].place }, { "Moby-Dick", 1, 5 })
  equal(Book:order(perilune.row_number():over{ order_by = c.title }):select("id"):fetch_values(), { 2, 3, 5, 4, 1 })
  equal(Book:joining_required(Book.author):order("id")
    :select(perilune.count():over{ partition_by = Book.author.c.country }:as("n")):fetch_values(), { 3, 3, 3, 2, 2 })
end)

test("windows of a grouped request range over its groups", function()
  local place = perilune.rank():over{ order_by = perilune.count():desc() }
  local rows = Book:select("author_id", perilune.count():as("n"), place:as("place")):group("author_id"):order("place"):fetch_all()
  equal({ rows[1].author_id, rows[1].n, rows[1].place, rows[2].place }, { 1, 3, 1, 2 })
end)

test("an aggregate over groups is refused if its column differs inside a group", function()
  local total = c.pages:sum():over{}:as("total")
  for _, build in ipairs{
    function() return Book:select("author_id", total):group("author_id") end,
    function() return Book:group("author_id"):select("author_id", total) end,
    function() return Book:group("author_id"):annotated_with(total) end,
    function() return Book:group("author_id"):order(c.pages:sum():over{ order_by = "author_id" }) end,
    function() return Book:group("author_id"):select((c.pages + c.author_id):max():over{}:as("n")) end,
  } do
    local err = fails("argument", build)
    matches(err, "`pages` has many values")
    matches(err, "column:sum():sum():over{...}")
  end
  equal(Book:group("author_id"):select(c.pages:sum():sum():over{}:as("n")):fetch_values()[1], Book:select(c.pages:sum()):fetch_value())
  equal(Book:group("author_id"):select(c.author_id:sum():over{}:as("n")):fetch_values()[1], 3)
  equal(Book:group("id"):select(total):fetch_values()[1], Book:select(c.pages:sum()):fetch_value())
  equal(#Book:group(c.pages % 2):select((c.pages % 2):sum():over{}:as("n")):fetch_values() > 0, true)
  equal(#Book:group("author_id"):select(perilune.count():over{}:as("n")):fetch_values(), 2)
end)

test("a window over groups is refused if it uses a column that differs inside a group", function()
  for _, expression in ipairs{
    c.pages:lag():over{ order_by = "author_id" }, c.pages:first_value():over{}, perilune.rank():over{ order_by = "pages" },
    perilune.row_number():over{ order_by = { "author_id", c.pages:desc() } }, perilune.count():sum():over{ partition_by = "pages" },
  } do
    local err = fails("argument", function() return Book:group("author_id"):select(expression:as("n")) end)
    matches(err, "`pages` has many values; aggregate it in each group first, as in column:")
  end
  equal(Book:group("author_id"):select(c.pages:max():lag(1, 0):over{ order_by = "author_id" }:as("n")):order("author_id"):fetch_values(), {
    0, Book:filter{ author_id = 1 }:select(c.pages:max()):fetch_value(),
  })
  equal(Book:group("author_id"):select(perilune.rank():over{ order_by = c.pages:sum():desc() }:as("n")):fetch_values()[1], 1)
end)

test("tostring of a window function shows its SQL", function()
  equal(tostring(Book:select(c.pages:sum():over{ partition_by = { "author_id", c.year }, order_by = c.id:desc(),
    frame = { rows = { "unbounded", -2 }, exclude = "ties" } }:as("n"))),
    'SELECT SUM("book"."pages") OVER (PARTITION BY "book"."author_id", "book"."year" ORDER BY "book"."id" DESC '
    .. 'ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING EXCLUDE TIES) AS "n" FROM "book"')
end)

-- Filtering -------------------------------------------------------------------------------------------------------------------

test("rows can be filtered by a window function, for example the top two of each author", function()
  local place = perilune.row_number():over{ partition_by = "author_id", order_by = c.year:desc() }
  local top = Book:filter(place:le(2))
  equal(top:order("id"):select("id"):fetch_values(), { 2, 3, 4, 5 })
  equal(top:filter(c.pages:gt(310)):select("id"):fetch_values(), { 2 })
  equal(top:fetch_count(), 4)
  equal(#top:fetch_all(), 4)
  equal(top:fetch_all()[1].title ~= nil, true)
  -- Earlier filters restrict the rows of a window, and later filters do not.
  equal(Book:filter(c.year:lt(1950)):filter(place:le(1)):order("id"):select("id"):fetch_values(), { 2, 4 })
  equal(Book:filter(place:le(1)):filter(c.year:lt(1950)):order("id"):select("id"):fetch_values(), { 2 })
  equal(Book:filter(place:le(1) & c.year:lt(1950)):order("id"):select("id"):fetch_values(), { 2 })
end)

test("a request filtered by a window can be derived, changed and included like any other", function()
  local last = Book:filter(perilune.row_number():over{ partition_by = "author_id", order_by = c.year:desc() }:eq(1))
  equal(last:including_required(Book.author):order("id"):fetch_all()[1].author.name, "Melville")
  equal(Book:joining_required(Book.author:filter{ country = "France" })
    :filter(perilune.row_number():over{ order_by = "year" }:eq(1)):select("id"):fetch_values(), { 4 })
  local newest = Author.books:filter(perilune.row_number():over{ partition_by = "author_id", order_by = c.year:desc() }:eq(1))
  local authors = Author:including_all(newest):order("id"):fetch_all()
  equal({ #authors[1].books, authors[1].books[1].title, #authors[3].books }, { 1, "Moby-Dick", 0 })
  equal(last:update_all{ pages = 1 }.changed_rows, 2)
  equal(Book:filter{ pages = 1 }:order("id"):select("id"):fetch_values(), { 2, 5 })
  equal(last:delete_all().changed_rows, 2)
  equal(Book:fetch_count(), 3)
end)

test("filters by windows work with composite keys, aliases and rows without a key", function()
  local best = Seat:filter(perilune.row_number():over{ partition_by = "hall", order_by = Seat.c.price:desc() }:eq(1))
  equal(best:order("hall"):pluck("price"), { 30, 20 })
  local b = Book:aliased("b")
  equal(b:filter(perilune.row_number():over{ partition_by = b.c.author_id, order_by = b.c.year }:eq(1)):order("id"):pluck("id"), { 1, 4 })
  local thickest = Thick:filter(perilune.row_number():over{ order_by = Thick.c.pages:desc() }:le(2)):order("title"):fetch_all()
  equal({ #thickest, thickest[1].title, thickest[2].title, rawget(thickest[1], "perilune_holds") }, { 2, "Moby-Dick", "Typee" })
end)

test("a selected window function has the value that the filter tests", function()
  local place = perilune.row_number():over{ order_by = "id" }
  local request = Book:annotated_with(place:as("place")):filter(place:ge(4))
  local books = request:order("id"):fetch_all()
  equal({ books[1].id, books[1].place, books[2].id, books[2].place }, { 4, 4, 5, 5 })
  books[1].pages = 309
  books[1]:save()
  equal(Book:find(4).pages, 309)
  books[1].pages = 308
  books[1]:save()
  equal(Book:select("id", place:as("place")):filter(perilune.column("place"):ge(4)):order("place"):reversed():fetch_all()[1].place, 5)
  -- Expressions selected after the filter apply to the remaining rows.
  equal(Book:filter(place:ge(4)):order("id"):select(place):fetch_values(), { 1, 2 })
  equal(request:fetch_count(), 2)
  equal(request:update_all({ pages = c.pages + 1 }).changed_rows, 2)
  equal(request:update_all({ pages = c.pages - 1 }).changed_rows, 2)
  matches(fails("argument", function()
    Book:including_required(Book.author):annotated_with(place:as("place")):filter(place:ge(4))
  end), 'select it and filter before the join: annotated_with((...):as("place")):filter')
end)

test("the forms that errors of filters by windows name return the rows of the same SQL", function()
  local function rows(list, ...)
    local texts = {}
    for index, row in ipairs(list) do
      local values = {}
      for position, name in ipairs{ ... } do values[position] = tostring(row[name]) end
      texts[index] = table.concat(values, " ")
    end
    table.sort(texts)
    return texts
  end
  local before = c.pages:lag():over{ partition_by = "author_id", order_by = "year" }
  local change = (c.pages - before):as("change")
  local joined = Book:joining_required(Book.author):select(Book.author.c.name:as("author"), change)
  local expected = rows(db:fetch_all[[
    SELECT * FROM (
      SELECT author.name AS author, pages - lag(pages) OVER (PARTITION BY author_id ORDER BY year) AS change
      FROM book JOIN author ON author.id = author_id) WHERE change IS NOT NULL]], "author", "change")
  equal(#expected > 0, true)
  matches(fails("argument", function() joined:filter((c.pages - before):is_not_null()) end), 'rows.c.change:is_not_null')
  local moved = Book:annotated_with(change):filter((c.pages - before):is_not_null()):joining_required(Book.author)
  equal(rows(moved:select(Book.author.c.name:as("author")):fetch_all(), "author", "change"), expected)
  local common = perilune.common_table("rows", joined)
  equal(rows(common:filter(common.c.change:is_not_null()):fetch_all(), "author", "change"), expected)
  -- A join that repeats rows of the table.
  local place = perilune.row_number():over{ order_by = { Author.books.c.pages, Author.books.c.id } }
  local books = Author:joining_required(Author.books)
  matches(fails("argument", function() books:filter(place:le(2)) end), 'for a window over the joined rows, select it')
  local numbered = perilune.common_table("rows", books:annotated_with(place:as("x")))
  equal(rows(numbered:filter(numbered.c.x:le(2)):fetch_all(), "id", "x"), rows(db:fetch_all[[
    SELECT * FROM (
      SELECT author.id, row_number() OVER (ORDER BY pages, book.id) AS x FROM author JOIN book ON author_id = author.id) WHERE x <= 2]],
    "id", "x"))
  -- Groups in an order.
  local largest = perilune.row_number():over{ order_by = { c.pages:sum():desc(), "author_id" } }
  local groups = Book:select("author_id", c.pages:sum():as("pages")):group("author_id")
  matches(fails("argument", function() groups:order("pages"):filter(largest:le(2)) end), 'order(perilune.column("name"))')
  local ids = {}
  for index, row in ipairs(groups:filter(largest:le(2)):order(perilune.column("author_id"):desc()):fetch_all()) do ids[index] = row.author_id end
  equal(ids, db:fetch_values[[
    SELECT author_id FROM (
      SELECT author_id, row_number() OVER (ORDER BY sum(pages) DESC, author_id) AS n FROM book GROUP BY author_id)
    WHERE n <= 2 ORDER BY author_id DESC]])
end)

test("filters by windows distinguish rows with NULL keys by their row ids", function()
  db:execute"CREATE TABLE loose (x TEXT PRIMARY KEY, v); INSERT INTO loose VALUES (NULL, 1), (NULL, 2), ('a', 3), ('b', 4)"
  local Loose = perilune.record("loose")
  equal(Loose:filter(perilune.row_number():over{ order_by = "v" }:le(2)):fetch_count(), 2)
  equal(Loose:order("v"):limit(1):update_all{ v = 10 }.changed_rows, 1)
  equal(Loose:order(Loose.c.v:desc()):limit(2):delete_all().changed_rows, 2)
  equal(Loose:order("v"):pluck("v"), { 2, 3 })
end)

test("groups can be filtered by a window over them", function()
  local place = perilune.row_number():over{ order_by = c.pages:sum():desc() }
  local rows = Book:select("author_id", c.pages:sum():as("pages")):group("author_id"):having(place:eq(1)):fetch_all()
  equal({ #rows, rows[1].author_id, rows[1].pages }, { 1, 1, 961 })
end)

test("rows can be updated with values of window functions", function()
  Book:update_all{ pages = perilune.row_number():over(by_author) }
  equal(Book:order("id"):pluck("pages"), { 1, 3, 2, 1, 2 })
end)

-- Aggregates --------------------------------------------------------------------------------------------------------------------

test("aggregates can process their rows in an order", function()
  equal(Book:select(c.title:group_concat(", "):order("year"):as("v")):fetch_value(), "Typee, omoo, Moby-Dick, The Plague, The Fall")
  equal(Book:select(c.title:group_concat():order(c.year:desc()):as("v")):fetch_value(), "The Fall,The Plague,Moby-Dick,omoo,Typee")
  -- The order respects the collation of the column and places NULLs.
  equal(Book:select(c.id:group_concat(""):order(c.title):as("v")):fetch_value(), "23541")
  equal(Book:select(c.id:group_concat(""):order(c.pages, "id"):as("v")):fetch_value(), "35412")
  equal(Book:select(c.id:group_concat(""):order(c.pages:desc():nulls_first(), "id"):as("v")):fetch_value(), "32145")
  equal(Book:select("author_id", c.title:group_concat("|"):order("title"):as("v")):group("author_id"):order("author_id")
    :select(c.title:group_concat("|"):order("title"):as("v")):fetch_values(), { "Moby-Dick|omoo|Typee", "The Fall|The Plague" })
  equal(perilune.json.decode(Book:select(c.title:json_group_array():order(c.year:desc()):as("v")):fetch_value())[1], "The Fall")
  equal(Book:filter{ id = 99 }:select(c.title:json_group_array():order("id"):as("v")):fetch_value(), "[]")
  equal(Book:filter{ id = 99 }:select(c.title:group_concat():order("id"):as("v")):fetch_value(), nil)
end)

test("aggregates can filter their rows and use each value once", function()
  equal(Book:select(c.pages:sum():where(c.year:lt(1900)):as("v")):fetch_value(), 961)
  equal(Book:select(c.title:group_concat(","):order("id"):where(c.author_id:eq(2)):as("v")):fetch_value(), "The Plague,The Fall")
  equal(Book:select(c.author_id:count():distinct():as("v")):fetch_value(), 2)
  equal(Book:select(c.author_id:sum():distinct():as("v")):fetch_value(), 3)
  equal(Book:select((c.author_id + 1):sum():distinct():as("v")):fetch_value(), 5)
end)

-- Before SQLite 3.44, ordered aggregates use an SQL function that any SQL can call.
test("rows are sorted by values of every type in every direction", function()
  if db:fetch_value("SELECT count(*) FROM pragma_function_list WHERE name = 'perilune_ordered_concat'") == 0 then return end
  local function ordered(directions, values, terms)
    return db:fetch_value(("SELECT perilune_ordered_concat('%s', column1, ',', %s) FROM (VALUES %s)"):format(directions, terms or "column1", values))
  end
  equal(ordered("afb", "(2), ('b'), (1.5), (x'62'), ('a'), (10)"), "1.5,2,10,a,b,b")
  equal(ordered("dlb", "(2), ('b'), (1.5), ('a'), (10)"), "b,a,10,2,1.5")
  equal(ordered("afn", "('b'), ('A'), ('a'), ('B')"), "A,a,b,B")
  equal(ordered("afr", "('b '), ('a'), ('b'), ('')"), ",a,b ,b")
  equal(ordered("afbdfb", "(2), (2), (1)"), "1,2,2")
  equal(ordered("afbdfbafb", "(2), (2), (1)", "column1, -column1"), "1,2,2")
  equal(ordered("", "(2), (1)"), "2,1")
  equal(ordered("x", "(2), (1)"), "2,1")
  equal(ordered("afb", "(9223372036854775807), (9223372036854775806), (9223372036854775807.0), (1)"),
    "1,9223372036854775806,9223372036854775807,9.22337203685478e+18")
end)

-- Misuse --------------------------------------------------------------------------------------------------------------------------

test("an order is refused for an aggregate with too few or too many arguments", function()
  local fn = perilune.fn
  local function refused(aggregate) return fails("argument", function() Book:select(aggregate:order("id"):as("v")) end) end
  matches(refused(fn.group_concat()), "group_concat takes one argument, or two with a separator, got 0")
  matches(refused(fn.group_concat(c.id, ",", 1)), "got 3")
  matches(refused(fn.json_group_array()), "json_group_array takes one argument, got 0")
  matches(refused(fn.json_group_array(c.id, 1)), "got 2")
  equal(Book:select(fn.group_concat(c.id, "-"):order("id"):as("v")):fetch_value(), "1-2-3-4-5")
end)

test("invalid window expressions are refused when they are built", function()
  matches(fails("argument", function() Book:select(perilune.rank():as("x")) end), "over{")
  matches(fails("argument", function() Book:filter(perilune.row_number():eq(1)) end), "over{")
  matches(fails("unknown_option", function() c.id:sum():over{ order = "id" } end), "order_by")
  matches(fails("unknown_column", function() Book:select(c.id:sum():over{ order_by = "yaer" }:as("x")) end), "year")
  matches(fails("argument", function() c.id:over{} end), "aggregate")
  matches(fails("argument", function() Book:select(c.title:lower():over{}:as("x")) end), "ordinary function")
  matches(fails("argument", function() Book:select(c.id:count():distinct():over{}:as("x")) end), "distinct")
  matches(fails("argument", function() c.id:sum():over{ frame = { rows = { 1, -1 } } } end), "the end comes before the start")
  matches(fails("argument", function() c.id:sum():over{ frame = { rows = { -1 } } } end), "two bounds")
  matches(fails("argument", function() c.id:sum():over{ frame = { rows = { 0.5, 1 } } } end), "integer")
  matches(fails("argument", function() c.id:sum():over{ frame = { rows = { 0, 1 }, range = { 0, 1 } } } end), "cannot be combined")
  matches(fails("argument", function() c.id:sum():over{ frame = { exclude = "ties" } } end), "rows, range and groups")
  matches(fails("argument", function() c.id:sum():over{ frame = { range = { -1, 0 } } } end), "order_by")
  matches(fails("argument", function() c.id:sum():over{ frame = { groups = { -1, 0 } } } end), "order_by")
  matches(fails("unknown_exclusion", function() c.id:sum():over{ frame = { rows = { 0, 0 }, exclude = "tie" } } end), "ties")
  matches(fails("unknown_option", function() c.id:sum():over{ frame = { row = { 0, 0 } } } end), "rows")
  matches(fails("argument", function() perilune.ntile(0) end), "at least 1")
  matches(fails("argument", function() c.id:lag(-1) end), "at least 0")
  matches(fails("argument", function() perilune.rank(1) end), "no arguments")
  matches(fails("argument", function() c.id:sum():over({}, 1) end), "one argument")
  matches(fails("argument", function() Book:select(c.id:sum():over{}:sum():as("x")) end), "window")
  matches(fails("argument", function() Book:select(c.id:sum():sum():as("x")) end), "for totals of groups use :over{...}")
  matches(fails("argument", function() Book:select(c.id:sum():sum():max():over{}:as("x")) end), "cannot be nested")
  matches(fails("argument", function() Book:select(c.id:sum():over{ order_by = perilune.rank():over{} }:as("x")) end), "window")
  matches(fails("argument", function() Book:group(c.id:sum():over{}) end), "window")
  matches(fails("argument", function() Book:max(c.id:sum():over{}) end), "single rows")
  matches(fails("argument", function() Book:select(c.id:sum():order("id"):as("x")) end), "does not affect")
  matches(fails("argument", function() Book:select(c.id:group_concat():order("id"):over{}:as("x")) end), "order_by")
  matches(fails("argument", function() c.id:distinct() end), "aggregate")
  matches(fails("argument", function() c.id:group_concat():order() end), "at least one column")
  matches(fails("argument", function()
    Author:joining_required(Author.books):filter(perilune.row_number():over{ order_by = "id" }:eq(1))
  end), "repeats rows")
  matches(fails("argument", function() Book:all():delete_all{ returning = c.id:sum():over{} } end), "window")
end)
