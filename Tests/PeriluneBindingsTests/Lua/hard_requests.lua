--- Complex requests, compared with hand-written SQL.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born INTEGER);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, price REAL, author_id INTEGER REFERENCES author);
  CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, pay INTEGER, boss_id INTEGER REFERENCES person);
  INSERT INTO author VALUES (1, 'Ann', 'FR', 1900), (2, 'Bo', 'US', 1920), (3, 'Cy', 'US', NULL), (4, 'Di', NULL, 1950);
  INSERT INTO book VALUES (1, 'A1', 1950, 10.5, 1), (2, 'A2', 1960, 5, 1), (3, 'B1', 1970, 7.25, 2), (4, 'B2', 1970, NULL, 2), (5, 'C1', NULL, 3, 3),
    (6, 'X', 2000, 1, NULL);
  INSERT INTO person VALUES (1, 'Ada', 100, NULL), (2, 'Bob', 50, 1), (3, 'Cy', 60, 1), (4, 'Di', 70, 3)]]

local Author, Book, Person = perilune.record("author"), perilune.record("book"), perilune.record("person")
Author.books, Book.author = Author:has_many(Book), Book:belongs_to(Author)
Person.boss, Person.reports = Person:belongs_to(Person), Person:has_many(Person)
local A, B, P, fn = Author.c, Book.c, Person.c, perilune.fn

--- Returns the values of the SQL as text, row by row; NULL is `-`.
local function rows_of(sql)
  local list = {}
  for row in db:rows(sql) do
    local parts = {}
    for index = 1, #row:columns() do parts[index] = row[index] == nil and "-" or tostring(row[index]) end
    list[#list + 1] = table.concat(parts, " ")
  end
  return list
end

--- Checks that the rows of a request (or of a plucked list) match the SQL in its order.
local function same(request, sql)
  local list = {}
  if type(request) == "table" and getmetatable(request) == nil then
    for index, row in ipairs(request) do
      local parts = {}
      for position, value in ipairs(type(row) == "table" and row or { row }) do
        -- Plucked conditions are booleans, which SQL returns as 1 or 0.
        if type(value) == "boolean" then value = value and 1 or 0 end
        parts[position] = value == perilune.null and "-" or tostring(value)
      end
      list[index] = table.concat(parts, " ")
    end
  else
    local text, arguments = request:sql()
    for row in db:rows(text, arguments) do
      local parts = {}
      for index = 1, #row:columns() do parts[index] = row[index] == nil and "-" or tostring(row[index]) end
      list[#list + 1] = table.concat(parts, " ")
    end
  end
  equal(list, rows_of(sql))
end

test("sub-requests can refer to the outer row", function()
  same(Author:order("id"):pluck("id", Book:filter(B.author_id:eq(A.id)):select(B.price:max())),
    "SELECT id, (SELECT MAX(price) FROM book WHERE author_id = a.id) FROM author a ORDER BY id")
  same(Author:filter(perilune.exists(Book:filter(B.author_id:eq(A.id) & B.year:gt(1955)))):order("id"):pluck("name"),
    "SELECT name FROM author a WHERE EXISTS (SELECT 1 FROM book WHERE author_id = a.id AND year > 1955) ORDER BY id")
  same(Author:order(perilune.value(Book:filter(B.author_id:eq(A.id)):select(B.price:max())):desc(), "id"):pluck("id"),
    "SELECT id FROM author a ORDER BY (SELECT MAX(price) FROM book WHERE author_id = a.id) DESC, id")
end)

test("sub-requests on the same table need aliases, and ambiguous columns are errors", function()
  local outer, inner = Book:aliased("a"), Book:aliased("b")
  local dearest = outer:filter(outer.c.price:eq(inner:filter(inner.c.author_id:eq(outer.c.author_id)):select(inner.c.price:max())))
  same(dearest:order("id"):pluck("id"),
    "SELECT id FROM book a WHERE price = (SELECT MAX(price) FROM book b WHERE b.author_id = a.author_id) ORDER BY id")
  local p = Person:aliased("p")
  local err = fails("ambiguous", function() return Person:filter(perilune.exists(p:filter(p.c.boss_id:eq(P.id)))):fetch_all() end)
  matches(err, "alias")
  local earns_more = Person:aliased("boss")
  local r = Person:aliased("r")
  same(earns_more:having(Person.reports:aliased("r"):filter(r.c.pay:gt(earns_more.c.pay)):count():gt(0)):pluck("name"),
    "SELECT name FROM person b WHERE (SELECT COUNT(*) FROM person r WHERE r.boss_id = b.id AND r.pay > b.pay) > 0")
end)

test("a table can be joined to itself twice", function()
  local grand = Person:joining_required(Person.boss:aliased("b1"):joining_required(Person.boss:aliased("b2")))
  same(grand:filter(Person:aliased("b2").c.name:eq("Ada")):pluck("name"),
    "SELECT p.name FROM person p JOIN person b1 ON b1.id = p.boss_id JOIN person b2 ON b2.id = b1.boss_id WHERE b2.name = 'Ada'")
end)

test("rows can be grouped by expressions and joined columns and filtered by counts", function()
  same(Book:group("author_id"):having((B.price:sum() + 1):gt(8)):select("author_id", B.price:sum()):order("author_id"),
    "SELECT author_id, SUM(price) FROM book GROUP BY author_id HAVING SUM(price) + 1 > 8 ORDER BY author_id")
  equal(Book:group("year"):select("year"):fetch_count(), 5)
  same(Book:joining_required(Book.author):group(A.country):select(A.country, perilune.count()):order(A.country),
    "SELECT country, COUNT(*) FROM book JOIN author a ON a.id = author_id GROUP BY country ORDER BY country")
  local age = perilune.case{ { B.year:lt(1960), "old" }, { B.year:is_null(), "?" }, otherwise = "new" }
  same(Book:group(age):select(age:as("age"), perilune.count()):order("age"),
    "SELECT CASE WHEN year < 1960 THEN 'old' WHEN year IS NULL THEN '?' ELSE 'new' END AS age, COUNT(*) FROM book GROUP BY age ORDER BY age")
  same(Author:joining_optional(Author.books):group("id"):select("id", B.price:sum()):order("id"),
    "SELECT a.id, SUM(price) FROM author a LEFT JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY a.id")
end)

test("aggregates over filtered, distinct and limited rows have the right values", function()
  same(Book:select(perilune.count():where(B.year:gt(1955)), B.price:sum():where(B.price:lt(6)), B.year:count():distinct()),
    "SELECT COUNT(*) FILTER (WHERE year > 1955), SUM(price) FILTER (WHERE price < 6), COUNT(DISTINCT year) FROM book")
  equal(Book:order(B.price:desc()):limit(2):sum("price"), 17.75)
  equal(Book:select("year"):distinct():limit(3):fetch_count(), 3)
  equal(Book:select("year"):distinct():fetch_count(), 5)
  equal(Book:joining_required(Book.author:filter{ country = "US" }):sum("price"), 10.25)
end)

test("windows can select the first row of each group", function()
  same(Book:select("id", fn.row_number():over("PARTITION BY author_id ORDER BY price DESC"):as("place")):order("id"),
    "SELECT id, row_number() OVER (PARTITION BY author_id ORDER BY price DESC) FROM book ORDER BY id")
  same(Book:select("id", B.price:sum():over("ORDER BY id"):as("so_far")):order("id"), "SELECT id, SUM(price) OVER (ORDER BY id) FROM book ORDER BY id")
  local ranked = perilune.common_table("ranked", Book:select("id",
    fn.row_number():over("PARTITION BY author_id ORDER BY price DESC, id"):as("place")))
  same(ranked:filter{ place = 1 }:order("id"):pluck("id"),
    "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY author_id ORDER BY price DESC, id) AS r FROM book) WHERE r = 1 ORDER BY id")
  equal(Book:annotated_with(fn.rank():over("ORDER BY year"):as("place")):order("id"):fetch_one().place, 2)
end)

test("orders by joined columns can be reversed, with NULL last", function()
  same(Book:joining_required(Book.author:order(A.name:desc())):order("year"):reversed():pluck("id"),
    "SELECT b.id FROM book b JOIN author a ON a.id = b.author_id ORDER BY b.year DESC, a.name DESC")
  same(Book:joining_optional(Book.author):order(A.name:desc():nulls_last(), B.id):pluck("id"),
    "SELECT b.id FROM book b LEFT JOIN author a ON a.id = b.author_id ORDER BY a.name DESC NULLS LAST, b.id")
end)

test("operators keep their order in SQL", function()
  same(Book:order("id"):pluck((B.id + 1) * 2 - B.id / (B.id - 10) % 3, -(-B.id), -(B.id - 3), B.id:gt(2):eq(B.year:gt(1960))),
    "SELECT (id + 1) * 2 - id / (id - 10) % 3, id, -(id - 3), (id > 2) = (year > 1960) FROM book ORDER BY id")
  same(Author:filter((A.id:eq(1) | A.id:eq(2)) & ~(A.country:eq("FR") | A.born:is_null())):pluck("id"),
    "SELECT id FROM author WHERE (id = 1 OR id = 2) AND NOT (country = 'FR' OR born IS NULL)")
  same(Book:filter("price > ? OR year IS NULL", 8):filter("id < ? -- the last", 5):order("id"):pluck("id"),
    "SELECT id FROM book WHERE (price > 8 OR year IS NULL) AND id < 5 ORDER BY id")
end)

test("changes can use sub-requests and limited, joined and counted rows", function()
  Author:update_all{ born = Book:filter(B.author_id:eq(A.id)):select(B.year:min()) }
  equal(Author:order("id"):pluck("born"), { 1950, 1970, perilune.null, perilune.null })
  equal(Book:order(B.price:desc()):limit(2):update_all{ price = 0 }.changed_rows, 2)
  equal(Book:joining_required(Book.author:filter{ country = "US" }):update_all{ title = B.title .. "!" }.changed_rows, 3)
  equal(Author:having(Author.books:count():ge(2)):update_all{ country = "XX" }.changed_rows, 2)
  equal(Book:filter(B.id:is_in(Book:filter(B.price:eq(0)):select("id"))):delete_all().changed_rows, 2)
  equal(Book:order(B.id:desc()):limit(1):delete_all{ returning = { "id" } }[1].id, 6)
  equal(Book:fetch_count(), 3)
end)

test("pages over rows with equal order values visit each row once", function()
  local seen = {}
  for number = 1, 3 do
    for _, book in ipairs(Book:order("year", "id"):page(number, 2).records) do seen[#seen + 1] = book.id end
  end
  same(seen, "SELECT id FROM book ORDER BY year, id")
end)

test("a long list finds the same rows as a short one, for columns of any type", function()
  db:execute("CREATE TABLE code (t TEXT, i INTEGER, r REAL, b); INSERT INTO code VALUES ('5', 5, 5, 5), ('31', 31, 31.5, '31')")
  local Code = perilune.record("code")
  local list = { 5 }
  for _, column in ipairs{ "t", "i", "r", "b" } do equal(Code:filter{ [column] = list }:fetch_count(), 1) end
  for number = 6, 30 do list[#list + 1] = number end
  for _, column in ipairs{ "t", "i", "r", "b" } do equal(Code:filter{ [column] = list }:fetch_count(), 1) end
end)

test("Lua functions can be called in every part of a request", function()
  db:add_function("initial", 1, function(text) return text:sub(1, 1) end)
  same(Book:group(fn.initial(B.title)):having(fn.initial(B.title):ne("X")):select(fn.initial(B.title):as("letter"), perilune.count()):order("letter"),
    "SELECT substr(title, 1, 1) AS letter, COUNT(*) FROM book GROUP BY letter HAVING letter <> 'X' ORDER BY letter")
  equal(Author:filter(fn.initial(A.name):is_in{ "A", "D" }):order(fn.initial(A.name):desc()):pluck("name"), { "Di", "Ann" })
  equal(Author:filter{ id = 1 }:update_all{ country = fn.initial(A.name) }.changed_rows, 1)
end)

test("names and values that look like SQL are not interpreted", function()
  local nasty = [[x' OR 1=1; DROP TABLE book; --"]]
  equal(Book:filter{ title = nasty }:fetch_count(), 0)
  equal(Book:filter(B.title:contains(nasty) | B.title:like(nasty, "!")):fetch_count(), 0)
  equal(Book:order("id"):select(B.id:as(nasty)):fetch_one()[nasty], 1)
  fails("unknown_column", function() Book:filter{ ['title" = "title'] = 1 } end)
  fails("argument", function() Book:order("id; DROP TABLE book"):fetch_all() end)
  fails("argument", function() Book:filter("1 = 1) --"):fetch_all() end)
  equal(Book:fetch_count(), 6)
end)
