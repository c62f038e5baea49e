--- Behaviours of classes: timestamps, versions, soft deletion, immutable columns, enumerations, counts and times in the row a record
-- belongs to.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, book_count INTEGER NOT NULL DEFAULT 0, updated_at DATETIME);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT NOT NULL UNIQUE, isbn TEXT, status INTEGER,
    created_at DATETIME, updated_at DATETIME, deleted_at DATETIME, lock_version INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE plain (id INTEGER PRIMARY KEY, n INTEGER);
  INSERT INTO author (id, name) VALUES (1, 'Melville'), (2, 'Camus')]]

local Author = perilune.record("author")

test("a class with a scope can begin by finding a record", function()
  db:execute("INSERT INTO book (id, title) VALUES (1, 'x')")
  equal(perilune.record("book", { soft_delete = true }):find(1).title, "x")
end)

test("timestamps say when a record was inserted, and changed last", function()
  local Book = perilune.record("book", { timestamps = true })
  local book = Book{ title = "x" }:insert()
  equal(book.created_at ~= nil and book.created_at == book.updated_at, true)
  db:execute("UPDATE book SET created_at = '2001-01-01 00:00:00', updated_at = '2001-01-01 00:00:00'")
  book:refresh()
  book.title = "y"
  book:update_changes()
  local again = Book:find(book.id)
  equal({ tostring(again.created_at):sub(1, 4), tostring(again.updated_at):sub(1, 4) ~= "2001" }, { "2001", true })
  equal(Book{ title = "z", created_at = perilune.date("1999-01-01") }:insert().created_at, perilune.date("1999-01-01"))
  local Stamped = perilune.record("book", { timestamps = { updated = "deleted_at" } })
  equal(Stamped{ title = "w" }:insert().created_at, nil)
end)

test("defaults stand where an insert gives nothing", function()
  local count = 0
  local Book = perilune.record("book", { defaults = {
    status = 7, isbn = function(book) count = count + 1 return book.title .. "-" .. count end,
  } })
  local book = Book{ title = "x" }:insert()
  equal({ book.status, book.isbn, Book:find(book.id).isbn }, { 7, "x-1", "x-1" })
  equal({ Book{ title = "y", isbn = "own" }:insert().isbn, count }, { "own", 1 })
  equal(Book{ title = "z", status = perilune.null }:insert():refresh().status, nil)
  Book:insert_all({ { title = "w" } }, { target = "title" })
  equal(Book:filter{ title = "w" }:fetch_one().status, 7)
  matches(fails("unknown_column", function() perilune.record("book", { defaults = { titel = "x" } }){ title = "v" }:insert() end), "title")
  matches(fails("argument", function() perilune.record("book", { defaults = {} }) end), "column = value")
end)

test("a stale record is neither written nor deleted", function()
  local Book = perilune.record("book", { lock_version = true })
  Book{ title = "x" }:insert()
  local one, other = Book:find(1), Book:find(1)
  one.title = "one"
  one:update()
  equal({ one.lock_version, Book:find(1).lock_version }, { 1, 1 })
  other.title = "other"
  local err = fails("stale", function() other:update() end)
  equal({ err.table, err.key }, { "book", 1 })
  fails("stale", function() other:update_changes() end)
  fails("stale", function() other:delete() end)
  equal(Book:find(1).title, "one")
  one.title = "again"
  one:update_changes()
  equal(Book:find(1).lock_version, 2)
  -- Changes of many rows make records stale, too.
  Book:filter_key(1):update_all{ title = "all" }
  equal(Book:find(1).lock_version, 3)
  fails("stale", function() one:update() end)
  -- A write that fails leaves the version as it is.
  Book{ title = "taken" }:insert()
  local fresh = Book:find(1)
  fresh.title = "taken"
  fails(nil, function() fresh:update() end)
  fresh.title = "free"
  fresh:update()
  equal(Book:find(1).lock_version, 4)
end)

test("soft deletion leaves the row", function()
  local Book = perilune.record("book", { soft_delete = true })
  Author.books = Author:has_many(Book)
  for index, title in ipairs{ "a", "b", "c", "d" } do Book{ id = index, title = title, author_id = 1 }:insert() end
  local book = Book:find(1)
  equal(book:delete(), true)
  equal(book:delete(), false)
  equal({ Book:fetch_count(), #Book:fetch_all(), Book:fetch_one(1), Book:unscoped():fetch_count() }, { 3, 3, nil, 4 })
  equal(Author:find(1):books():fetch_count(), 3)
  equal(Book:filter{ title = "b" }:delete_all().changed_rows, 1)
  equal(Book:order("id"):pluck("title"), { "c", "d" })
  Book:unscoped():find(1):restore()
  equal(Book:order("id"):pluck("title"), { "a", "c", "d" })
  Book:find(3):delete_forever()
  equal(Book:filter{ title = "d" }:delete_all({ forever = true }).changed_rows, 1)
  equal(Book:unscoped():order("id"):pluck("title"), { "a", "b" })
  function Book.requests:default() return self:filter{ title = { "a", "z" } } end
  equal(Book:fetch_count(), 1)
end)

test("immutable columns are written once", function()
  local Book = perilune.record("book", { immutable = { "isbn", "author_id" } })
  local book = Book{ title = "x", isbn = "1" }:insert()
  book.title = "y"
  book:update()
  book.isbn = "2"
  local err = fails("immutable", function() book:update() end)
  equal(err.column, "isbn")
  fails("immutable", function() book:update_changes() end)
  fails("immutable", function() Book:update_all{ isbn = "3" } end)
  fails("immutable", function() Book{ id = book.id, title = "z", isbn = "4" }:update() end)
  equal({ Book:find(1).isbn, Book:find(1).title }, { "1", "y" })
end)

test("enumerations name requests and conditions", function()
  local Status = perilune.enum{ draft = 0, published = 1 }
  local Book = perilune.record("book", { enums = { status = Status } })
  Book{ title = "x", status = Status.draft }:insert()
  Book{ title = "y", status = Status.published }:insert()
  equal(Book:published():pluck("title"), { "y" })
  equal(Book:filter{ title = "x" }:draft():fetch_count(), 1)
  local book = Book:find(1)
  equal({ book:is_draft(), book:is_published(), book.status == Status.draft }, { true, false, true })
end)

test("behaviours come before the hooks of the script, of the class and of those that extend it", function()
  local Book = perilune.record("book", { timestamps = true, lock_version = true })
  local seen = {}
  function Book:will_insert() seen[#seen + 1] = self.created_at ~= nil end
  function Book:will_update() seen[#seen + 1] = self.lock_version end
  local book = Book{ title = "x" }:insert()
  book:update()
  equal(seen, { true, 1 })
  local Novel = Book:extend()
  function Novel:will_insert() seen[#seen + 1] = self.updated_at ~= nil end
  equal(Novel{ title = "y" }:insert().created_at ~= nil, true)
  equal(seen, { true, 1, true })
  Book.will_insert = nil
  equal(Book{ title = "z" }:insert().created_at ~= nil, true)
end)

test("the row that a record belongs to counts it, and knows when it was written", function()
  local Book = perilune.record("book")
  Book.author = Book:belongs_to(Author, { counter_cache = "book_count", touch = true })
  local book = Book{ title = "x", author_id = 1 }:insert()
  Book{ title = "y", author_id = 1 }:insert()
  Book{ title = "z" }:insert()
  equal(Author:order("id"):pluck("book_count"), { 2, 0 })
  equal(Author:find(1).updated_at ~= nil, true)
  book.author_id = 2
  book:update()
  equal(Author:order("id"):pluck("book_count"), { 1, 1 })
  book.title = "w"
  book:update_changes()
  equal(Author:order("id"):pluck("book_count"), { 1, 1 })
  book:delete()
  equal(Author:order("id"):pluck("book_count"), { 1, 0 })
  fails(nil, function() Book{ title = "y", author_id = 2 }:insert() end)
  equal(Author:order("id"):pluck("book_count"), { 1, 0 })
end)

test("misuse", function()
  matches(fails("unknown_option", function() perilune.record("book", { timestamp = true }) end), "timestamps")
  matches(fails("argument", function() perilune.record("book", { timestamps = 5 }) end), "true")
  matches(fails("unknown_option", function() perilune.record("book", { timestamps = { create = "x" } }) end), "created")
  matches(fails("argument", function() perilune.record("plain", { timestamps = true }){ n = 1 }:insert() end), "neither")
  matches(fails("unknown_column", function() perilune.record("plain", { timestamps = { created = "made" } }){ n = 1 }:insert() end), "made")
  matches(fails("argument", function() perilune.record("book", { lock_version = false }) end), "true")
  matches(fails("argument", function() perilune.record("book", { immutable = {} }) end), "columns")
  matches(fails("argument", function() perilune.record("book", { enums = { status = 5 } }) end), "perilune.enum")
  local Book = perilune.record("book")
  matches(fails("argument", function() Author:has_many(Book, { counter_cache = "book_count" }) end), "belongs_to")
  matches(fails("unknown_column", function() Book:belongs_to(Author, { counter_cache = "book_cuont" }) end), "book_count")
end)
