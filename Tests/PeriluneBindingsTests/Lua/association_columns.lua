-- Columns that are reached through an association refer to its rows, even if the same table occurs several times in the request.

local function employees()
  db:execute("CREATE TABLE e (id INTEGER PRIMARY KEY, n INTEGER, boss_id INTEGER REFERENCES e)")
  local E = perilune.record("e")
  E.boss = E:belongs_to(E)
  E.reports = E:has_many(E)
  --        1 (n 5)
  --       2 (n 7)   3 (n 1)
  --      4 (n 6)    5 (n 9)
  for id, row in ipairs{ { 5 }, { 7, 1 }, { 1, 1 }, { 6, 2 }, { 9, 3 } } do E{ id = id, n = row[1], boss_id = row[2] }:insert() end
  return E
end

local function library()
  db:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)")
  db:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, year INTEGER, author_id INTEGER REFERENCES author)")
  local Author, Book = perilune.record("author"), perilune.record("book")
  Author.books = Author:has_many(Book)
  Book.author = Book:belongs_to(Author)
  for id, name in ipairs{ "a", "b" } do Author{ id = id, name = name }:insert() end
  for id, row in ipairs{ { 1900, 1 }, { 1950, 1 }, { 2000, 2 } } do Book{ id = id, year = row[1], author_id = row[2] }:insert() end
  return Author, Book
end

local function raises(f, ...)
  local err = fails(nil, f)
  for _, part in ipairs{ ... } do matches(err, part) end
end

local function ids(request)
  local list = {}
  for index, record in ipairs(request:order("id"):fetch_all()) do list[index] = record.id end
  return list
end

test("columns of a self-referencing association refer to the associated rows", function()
  local E = employees()
  equal(ids(E:joining_required(E.boss):filter(E.c.n:gt(E.boss.c.n))), { 2, 5 })
  equal(ids(E:joining_required(E.boss):filter(E.boss.c.n:gt(E.c.n))), { 3, 4 })
  equal(ids(E:including_optional(E.boss):filter(E.boss.c.n:is_null())), { 1 })
  equal(ids(E:joining_required(E.boss:filter(E.boss.c.n:gt(4)))), { 2, 3, 4 })
  equal(E:joining_required(E.boss):filter(E.c.n:gt(E.boss.c.n)):fetch_count(), 2)
end)

test("orders, selections and annotations can use columns of a self-referencing association", function()
  local E = employees()
  local list = E:joining_required(E.boss):order(E.boss.c.n:desc(), E.c.id):pluck(E.c.id, E.boss.c.n)
  equal(list, { { 4, 7 }, { 2, 5 }, { 3, 5 }, { 5, 1 } })
  local row = E:joining_required(E.boss):annotated_with(E.boss.c.n:as("boss_n")):find(5)
  equal({ row.n, row.boss_n }, { 9, 1 })
  equal(E:joining_required(E.boss):max(E.boss.c.n), 7)
  local groups = E:joining_required(E.boss):group(E.boss.c.id):order(E.boss.c.id)
    :select(E.boss.c.id:as("boss"), E.c.n:max():as("most")):fetch_all()
  equal(#groups, 3)
  equal({ groups[1].boss, groups[1].most, groups[3].boss, groups[3].most }, { 1, 7, 3, 9 })
end)

test("an association that leads back to the request's table has separate columns", function()
  local Author, Book = library()
  local others = Book:joining_required(Book.author:joining_required(Author.books))
  equal(ids(others:filter(Author.books.c.year:eq(1900))), { 1, 2 })
  equal(ids(others:filter(Author.books.c.id:ne(Book.c.id))), { 1, 2 })
  equal(ids(others:filter(Author.books.c.year:gt(Book.c.year))), { 1 })
end)

test("if an association has an alias, columns of its class refer to the outer request", function()
  local E = employees()
  local b = E.boss:aliased("b")
  equal(ids(E:joining_required(b:filter(b.c.n:lt(E.c.n)))), { 2, 5 })
  equal(ids(E:joining_required(b:filter(b.c.n:gt(E.c.n)))), { 3, 4 })
  equal(ids(E:joining_required(b:filter{ n = 7 })), { 4 })
  equal(ids(E:joining_required(b:filter("b.n = 7"))), { 4 })
  local r = E.reports:aliased("r")
  local most = E:annotated_with(r:filter(r.c.n:gt(E.c.n)):count():as("above")):order("id"):fetch_all()
  equal({ most[1].above, most[2].above, most[3].above }, { 1, 0, 1 })
  equal(ids(E:having(r:filter(r.c.n:gt(E.c.n)):is_empty())), { 2, 4, 5 })
end)

test("conditions that were added before the alias refer to the associated rows", function()
  local E = employees()
  equal(ids(E:joining_required(E.boss:filter(E.c.n:gt(4)):aliased("b"))), { 2, 3, 4 })
  equal(ids(E:joining_required(E.boss:filter(E.boss.c.n:gt(4)):aliased("b"))), { 2, 3, 4 })
  local row = E:annotated_with_required(E.boss:select(E.c.n:as("boss_n")):aliased("b")):find(5)
  equal(row.boss_n, 1)
  local sorted = E:joining_required(E.boss:aliased("b"):order("n")):fetch_all()
  equal(sorted[1].id, 5)
end)

test("a default scope applies to an association with an alias", function()
  local E = employees()
  function E.requests:default() return self:filter(E.c.n:lt(9)) end
  local Sub = perilune.record("e")
  Sub.boss = Sub:belongs_to(E, { columns = "boss_id" })
  local b = Sub.boss:aliased("b")
  db:execute("UPDATE e SET n = 8 WHERE id = 5; UPDATE e SET n = 10 WHERE id = 1")
  equal(ids(Sub:joining_required(b:filter(b.c.n:lt(Sub.c.n)))), { 5 })
end)

test("columns of an association that the request does not join are refused", function()
  local E = employees()
  raises(function() E:filter(E.boss.c.n:gt(4)):fetch_all() end, "`boss`", "join")
  local Author, Book = library()
  raises(function() Book:filter(Book.author.c.name:eq("a")):fetch_all() end, "`author`", "join")
end)

test("ambiguous columns are reported where they are built", function()
  local E = employees()
  local joined = E:joining_required(E.boss:joining_required(E.boss))
  raises(function() return joined:filter(E.boss.c.n:eq(5)) end, "`boss`", "alias")
  raises(function() return E.boss:filter(E.boss.c.n:lt(E.c.n)) end, "alias")
  raises(function() return E.boss:joining_required(E.boss):filter(E.boss.c.n:lt(3)) end, "alias")
  local a, b = E.boss:aliased("a"), E.boss:aliased("b")
  local far = E:joining_required(a:joining_required(b))
  equal(ids(far:filter(b.c.n:lt(a.c.n))), { 4 })
  raises(function() return far:filter(E.boss.c.n:eq(5)) end, "`boss`")
end)

test("a later join can make the columns of an association ambiguous", function()
  local E = employees()
  local joined = E:joining_required(E.boss):filter(E.boss.c.n:eq(5))
  raises(function() return joined:joining_required(E.reports:joining_required(E.boss)) end, "`boss`", "alias")
  equal(ids(joined:joining_required(E.reports:joining_required(E.boss:aliased("other")))), { 2, 3 })
end)

test("conditions on an association refer to its own rows if its table is joined twice", function()
  local Author, Book = library()
  Book.writer = Book:belongs_to(Author)
  local older = Book.author:filter(Book.c.year:lt(1950))
  equal(ids(Book:joining_required(older)), { 1 })
  equal(ids(Book:joining_required(Book.writer:joining_required(Author.books)):joining_required(older):distinct()), { 1 })
  raises(function() return Book:joining_required(older:joining_required(Author.books)) end, "`book`", "alias")
  equal(ids(Book:joining_required(older:joining_required(Author.books:aliased("other"))):distinct()), { 1 })
end)

test("a request for one record can use the columns of its associations", function()
  local E = employees()
  E.able = E.reports:filter(E.reports.c.n:gt(4))
  local first = E:find(1)
  equal(ids(first:able()), { 2 })
  equal(ids(first:reports():filter(E.reports.c.n:lt(4))), { 3 })
  equal(ids(E:filter{ id = 1 }:including_all(E.able):fetch_one().able[1]:reports()), { 4 })
  local r = E.reports:aliased("r")
  local above = r:filter(r.c.n:gt(E.c.n))
  raises(function() above(first):fetch_all() end, "`n`", "`e`")
  raises(function() E:including_all(above):fetch_all() end, "`n`", "`e`")
end)

test("an association through other tables provides the columns of each table", function()
  local E = employees()
  E.grand_reports = E:has_many(E, { through = E.reports, using = E.reports:as("below") })
  equal(ids(E:joining_required(E.grand_reports):filter(E.grand_reports.c.n:gt(6))), { 1 })
  equal(ids(E:joining_required(E.grand_reports):filter(E.reports.c.n:gt(6))), { 1 })
  equal(ids(E:joining_required(E.grand_reports):filter(E.c.n:gt(6))), {})
  equal(ids(E:find(1):grand_reports():filter(E.grand_reports.c.n:gt(6))), { 5 })
end)

test("sub-requests can use the columns of outer associations", function()
  local E = employees()
  local x = E:aliased("x")
  local request = E:joining_required(E.boss):filter(perilune.exists(x:filter(x.c.boss_id:eq(E.boss.c.id) & x.c.n:gt(6))))
  equal(ids(request), { 2, 3, 5 })
end)
