--- Named requests: on the class, on requests, on associations, and in extended classes.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, country TEXT, deleted_at TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author);
  INSERT INTO author VALUES (1, 'Melville', 'US', NULL), (2, 'Camus', 'France', NULL), (3, 'Gone', 'France', '2020-01-01');
  INSERT INTO book VALUES (1, 'Typee', 1), (2, 'The Plague', 2), (3, 'Lost', 3)]]

local Author, Book = perilune.record("author"), perilune.record("book")
Book.author = Book:belongs_to(Author)
Author.books = Author:has_many(Book)

function Author.requests:from(country) return self:filter{ country = country } end
function Author.requests:by_name() return self:order("name") end

local function names(request)
  local result = {}
  for index, record in ipairs(request:fetch_all()) do result[index] = rawget(record, "name") or record.title end
  return result
end

test("named requests can be combined in any order", function()
  equal(names(Author:from("France"):by_name()), { "Camus", "Gone" })
  equal(names(Author:by_name():from("France")), { "Camus", "Gone" })
  equal(names(Author:all():by_name():limit(1)), { "Camus" })
  equal(names(Book:including_required(Book.author:from("France")):order("id")), { "The Plague", "Lost" })
end)

test("extended classes inherit named requests and may define their own", function()
  local French = Author:extend()
  function French.requests:from(city) return self:filter{ country = "France" }:filter("? <> ''", city) end
  equal(names(French:by_name()), { "Camus", "Gone", "Melville" })
  equal(names(French:from("Paris"):by_name()), { "Camus", "Gone" })
  equal(names(Author:from("US")), { "Melville" })
end)

test("a default scope applies to all requests of the class", function()
  function Author.requests:default() return self:filter{ deleted_at = perilune.null } end
  equal(names(Author:from("France")), { "Camus" })
  equal(Author:fetch_count(), 2)
  equal(#Author:fetch_all(), 2)
  equal(Author:fetch_one(3), nil)
  equal(Author:fetch_one(2).name, "Camus")
  equal(Author:find(1).name, "Melville")
  fails("record_not_found", function() Author:find(3) end)
  equal(#Author:fetch_all("SELECT * FROM author"), 3)
  equal(#Author:fetch_all(db), 2)
  equal(Author:unscoped():fetch_count(), 3)
  equal(names(Author:unscoped():from("France"):by_name()), { "Camus", "Gone" })
  equal(names(Book:joining_required(Book.author):order("id")), { "Typee", "The Plague" })
end)

test("a default scope does not change how keys are handled", function()
  local Scoped, Plain = perilune.record "author", perilune.record "author"
  function Scoped.requests:default() return self:filter{ deleted_at = perilune.null } end
  for _, class in ipairs{ Scoped, Scoped:extend(), Plain } do
    equal(#class:find{}, 0)
    local both = class:find(db, { 2, 1 })
    equal({ both[1].name, both[2].name }, { "Camus", "Melville" })
    equal(class:find{ id = 2 }.name, "Camus")
    equal(class:fetch_one(nil), nil)
    equal(class:fetch_one(99), nil)
    fails("argument", function() class:find() end)
    fails("argument", function() class:find{ 1, nil, 3 } end)
    fails("argument", function() class:fetch_one "SELECT * FROM author" end)
    fails("record_not_found", function() class:find{ 1, 99 } end)
  end
end)

test("a default scope applies to associations in every form unless they are unscoped", function()
  db:execute("INSERT INTO book VALUES (4, 'Removed', 1); ALTER TABLE book ADD COLUMN removed BOOLEAN; UPDATE book SET removed = id = 4")
  function Author.requests:default() return self:filter{ deleted_at = perilune.null } end
  function Book.requests:default() return self:filter{ removed = false } end
  local author = Author:including_all(Author.books):find(1)
  equal({ #author.books, author:books():fetch_count(), Author.books(author):fetch_count() }, { 1, 1, 1 })
  equal(Author:annotated_with(Author.books:count()):find(1).book_count, 1)
  equal(Author:joining_required(Author.books):order("id"):pluck("id"), { 1, 2 })
  equal(Book:including_optional(Book.author):find(3).author, nil)

  equal(#Author:including_all(Author.books:unscoped():order("id")):find(1).books, 2)
  equal(Author.books:unscoped()(author):fetch_count(), 2)
  equal(Author:annotated_with(Author.books:unscoped():count()):find(1).book_count, 2)
  equal(Author:unscoped():joining_required(Author.books:unscoped():filter{ removed = true }):pluck("id"), { 1 })
  equal(Book:including_optional(Book.author:unscoped()):find(3).author.name, "Gone")
  fails("argument", function() Author.books:filter{ id = 1 }:unscoped() end)
  Author.siblings = Author:has_many(Author, { through = Author.books, using = Book.author })
  equal({ Author:having(Author.siblings:count():eq(1)):fetch_count(), Author:having(Author.siblings:unscoped():is_empty()):fetch_count() }, { 2, 0 })
end)

test("invalid names of named requests are refused", function()
  matches(fails("argument", function() function Author.requests:filter() end end), "method of every request")
  fails("argument", function() Author.requests.x = 5 end)
  matches(fails("unknown_method", function() Author:all():form("France") end), "from")
  fails("readonly", function() Author.requests = {} end)
  fails("argument", function() function Author.requests:default() return 5 end return Author:filter_key(1) end)
end)

test("redefining a named request replaces it, including the default scope", function()
  db:execute"CREATE TABLE twice (id INTEGER PRIMARY KEY, x); INSERT INTO twice VALUES (1, 1), (2, 2), (3, 2)"
  local Twice = perilune.record("twice")
  function Twice.requests:default() return self:filter{ x = 1 } end
  equal(Twice:fetch_count(), 1)
  function Twice.requests:default() return self:filter{ x = 2 } end
  equal({ Twice:fetch_count(), Twice:find(2).x }, { 2, 2 })
  function Twice.requests:some() return self:filter{ id = 3 } end
  equal(Twice:some():pluck("id"), { 3 })
  function Twice.requests:some() return self:filter{ id = 2 } end
  equal(Twice:some():pluck("id"), { 2 })
  fails("argument", function() Twice.requests.some = 5 end)
end)

test("the error of an unknown method suggests named requests, including inherited ones", function()
  local Base = perilune.record("author")
  function Base.requests:overdue() return self end
  local Derived = Base:extend()
  for _, class in ipairs{ Base, Derived } do
    equal(fails("unknown_method", function() class:overdu() end).suggestion, "overdue")
    equal(fails("unknown_method", function() class:all():overdu() end).suggestion, "overdue")
  end
end)
