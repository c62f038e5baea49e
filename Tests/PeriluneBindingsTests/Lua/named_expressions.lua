--- Expressions that a class names and that are used like columns.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, next_id INTEGER REFERENCES book, title TEXT NOT NULL, year INTEGER);
  INSERT INTO author VALUES (1, 'Melville'), (2, 'Camus');
  INSERT INTO book VALUES (1, 1, 2, 'Typee', 1846), (2, 1, NULL, 'Moby-Dick', 1851), (3, 2, NULL, 'The Plague', 1947)]]

local Author, Book = perilune.record("author"), perilune.record("book")
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
Book.next = Book:belongs_to(Book, { columns = "next_id" })
Book.expressions.is_old = Book.c.year:lt(1900)
Book.expressions.age = function(c) return 2000 - c.year end
Book.expressions.label = Book.c.title .. " (" .. Book.c.year .. ")"

test("named expressions can be used in conditions, orders, selections and as fields", function()
  equal(Book:filter{ is_old = true }:order("id"):pluck("id"), { 1, 2 })
  equal(Book:filter{ is_old = false }:pluck("id"), { 3 })
  equal(Book:filter(Book.c.age:gt(150)):pluck("id"), { 1 })
  equal(Book:filter{ is_old = true, title = "Typee", age = { 154, 1 } }:pluck("id"), { 1 })
  equal(Book:order("age"):pluck("id"), { 3, 2, 1 })
  equal(Book:order(Book.c.age:desc()):pluck("id"), { 1, 2, 3 })
  equal(Book:order("is_old", "id"):pluck("id"), { 3, 1, 2 })
  local book = Book:annotated_with("age", "is_old", "label"):order("id"):fetch_one()
  equal({ book.age, book.is_old, book.label, book.title }, { 154, true, "Typee (1846)", "Typee" })
  local row = Book:select("id", "age", Book.c.age:as("years")):order("id"):fetch_one()
  equal({ row.age, row.years }, { 154, 154 })
  equal(Book:max("age"), 154)
  equal(Book:select("is_old", perilune.count():as("n")):group("is_old"):order("n"):fetch_all()[2].n, 2)
end)

test("named expressions on aliases and associations refer to their columns", function()
  local other = Book:aliased("other")
  equal(Book:join(other, Book.c.next_id:eq(other.c.id)):filter(other.c.age:eq(149)):pluck(Book.c.id, other.c.label), { { 1, "Moby-Dick (1851)" } })
  equal(Book:joining_required(Book.next):filter(Book.next.c.is_old):pluck("id"), { 1 })
  equal(Book:filter{ ["next.age"] = 149 }:pluck("id"), { 1 })
  equal(Author:filter{ ["books.is_old"] = true }:pluck("name"), { "Melville" })
  equal(other:filter{ is_old = false }:pluck("id"), { 3 })
end)

test("named expressions can use other named expressions and windows", function()
  Book.expressions.is_very_old = Book.c.is_old & Book.c.age:gt(150)
  function Book.expressions.place(c) return perilune.rank():over{ order_by = c.age:desc() } end
  equal(Book:filter{ is_very_old = true }:pluck("id"), { 1 })
  equal(Book:filter{ place = 1 }:pluck("id"), { 1 })
  equal(Book:order("place"):annotated_with("place"):fetch_all()[3].place, 3)
end)

test("extended classes inherit named expressions and may define others", function()
  local Novel = Book:extend()
  Novel.expressions.age = Book.c.year - 1800
  equal(Novel:filter{ is_old = true }:fetch_count(), 2)
  equal(Novel:filter{ age = 46 }:pluck("id"), { 1 })
  equal(Book:filter{ age = 154 }:pluck("id"), { 1 })
end)

test("keyset pages can be ordered by named expressions", function()
  local page = Book:order("age"):page_after(nil, 2)
  equal({ page.records[1].id, page.records[2].id, rawget(page.records[1], "perilune_order_1") }, { 3, 2 })
  equal(Book:order("age"):page_after(page.next, 2).records[1].id, 1)
end)

test("invalid named expressions are refused", function()
  matches(fails("unknown_column", function() Book:filter{ is_odl = true } end), "is_old")
  matches(fails("argument", function() Book.expressions.title = Book.c.year end), "column of this name")
  matches(fails("argument", function() Book.expressions.x = 5 end), "expression")
  matches(fails("argument", function() Book.expressions["a b"] = Book.c.year end), "letters")
  matches(fails("argument", function() Book:update_all{ age = 1 } end), "cannot be written")
  matches(fails("readonly", function() Book.expressions = {} end), "Class.expressions")
  function Book.expressions.wrong() return 1 end
  matches(fails("argument", function() Book:order("wrong") end), "must return an expression")
  function Book.expressions.itself(c) return c.itself + 1 end
  matches(fails("argument", function() Book:order("itself") end), "refers to itself")
end)
