--- Behaviors of classes: timestamps, versions, soft deletion, immutable columns, enumerations, and counters and timestamps in the
-- parent row.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, book_count INTEGER NOT NULL DEFAULT 0, updated_at DATETIME);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT NOT NULL UNIQUE, isbn TEXT, status INTEGER,
    created_at DATETIME, updated_at DATETIME, deleted_at DATETIME, lock_version INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE plain (id INTEGER PRIMARY KEY, n INTEGER);
  INSERT INTO author (id, name) VALUES (1, 'Melville'), (2, 'Camus')]]

local Author = perilune.record("author")

test("the first call on a class with a default scope can be find", function()
  db:execute("INSERT INTO book (id, title) VALUES (1, 'x')")
  equal(perilune.record("book", { soft_delete = true }):find(1).title, "x")
end)

test("timestamps record the insertion and the last change", function()
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

test("defaults apply if an insert gives no value", function()
  local count = 0
  local Book = perilune.record("book", { defaults = {
    status = 7, isbn = function(book) count = count + 1 return book.title .. "-" .. count end,
  } })
  local book = Book{ title = "x" }:insert()
  equal({ book.status, book.isbn, Book:find(book.id).isbn }, { 7, "x-1", "x-1" })
  equal({ Book{ title = "y", isbn = "own" }:insert().isbn, count }, { "own", 1 })
  equal(Book{ title = "z", status = perilune.null }:insert():refresh().status, nil)
  Book:upsert_all({ { title = "w" } }, { target = "title" })
  equal(Book:filter{ title = "w" }:fetch_one().status, 7)
  matches(fails("unknown_column", function() perilune.record("book", { defaults = { titel = "x" } }){ title = "v" }:insert() end), "title")
  matches(fails("argument", function() perilune.record("book", { defaults = {} }) end), "column = value")
end)

test("an upsert does not reset columns of an existing row to their defaults", function()
  local Book = perilune.record("book", { defaults = { status = 7, isbn = function(book) return book.title .. "!" end } })
  Book{ title = "x", status = 1, isbn = "own" }:insert()
  local target = { target = "title" }
  local function check(status, isbn)
    local row = db:fetch_one "SELECT status, isbn FROM book"
    equal({ row.status, row.isbn }, { status, isbn })
  end
  equal(Book{ title = "x" }:upsert(target).status, 1)
  Book:upsert({ title = "x" }, target)
  Book:upsert(Book:draft{ title = "x" }, target)
  Book:upsert_all({ { title = "x" } }, target)
  check(1, "own")
  Book:upsert({ title = "x" }, { target = "title", update = { "status" } })
  check(7, "own")
  -- Upserting a fetched record writes all its fields, and explicit values are not treated as defaults.
  local book = Book:find(1)
  book.status = 7
  db:execute "UPDATE book SET status = 2"
  book:upsert()
  check(7, "own")
  db:execute "UPDATE book SET status = 2"
  Book:upsert({ title = "x", status = 7 }, target)
  check(7, "own")
end)

test("a stale record cannot be written or deleted", function()
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
  -- Bulk changes make records stale, too.
  Book:filter_key(1):update_all{ title = "all" }
  equal(Book:find(1).lock_version, 3)
  fails("stale", function() one:update() end)
  -- A failed write leaves the version unchanged.
  Book{ title = "taken" }:insert()
  local fresh = Book:find(1)
  fresh.title = "taken"
  fails(nil, function() fresh:update() end)
  fresh.title = "free"
  fresh:update()
  equal(Book:find(1).lock_version, 4)
end)

test("soft deletion keeps the row", function()
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

test("a new record with a key can be deleted softly", function()
  local Book = perilune.record("book", { soft_delete = true })
  Book:insert_all{ { id = 1, title = "a" }, { id = 2, title = "b" }, { id = 3, title = "c" } }
  equal({ Book{ id = 1 }:delete(), Book{ id = 1 }:delete(), Book{ id = 99 }:delete() }, { true, false, false })
  equal({ Book:delete(Book{ id = 2 }), Book:delete{ id = 2 }, Book:delete{ id = 99 } }, { true, false, false })
  equal({ Book:pluck("id"), Book:unscoped():order("id"):pluck("title") }, { { 3 }, { "a", "b", "c" } })
  Book{ id = 1 }:restore()
  equal(Book:order("id"):pluck("title"), { "a", "c" })
  local one, other = Book:find(3), Book:find(3)
  equal({ one:delete(), other:delete(), one:delete() }, { true, false, false })
  one:restore()
  -- The row, not a stale record, determines whether the record is deleted.
  equal({ other:delete(), one:delete() }, { true, false })
end)

test("a soft deletion accepts options and needs a key", function()
  local Book = perilune.record("book", { soft_delete = true })
  Book:insert_all{ { id = 1, title = "a" }, { id = 2, title = "b" } }
  equal({ Book{ id = 1 }:delete{ returning = "title" }, Book{ id = 2 }:delete(db, { returning = "title" }), Book:fetch_count() }, { "a", "b", 0 })
  fails("argument", function() Book{ title = "a" }:delete() end)
  fails("argument", function() Book:find_or_insert({ id = 3 }, { title = "c" }):delete(5) end)
end)

test("a soft deletion that a hook has refused can be repeated", function()
  local Book = perilune.record("book", { soft_delete = true })
  local is_refused = true
  function Book:will_update() if is_refused then error("no") end end
  local book = Book{ id = 1, title = "a" }:insert()
  equal({ (pcall(book.delete, book)), Book:fetch_count() }, { false, 1 })
  is_refused = false
  equal({ book:delete(), Book:fetch_count() }, { true, 0 })
end)

test("a unique key of a softly deleted row is refused with an explanation", function()
  db:execute("CREATE TABLE seat (hall TEXT, number INTEGER, code TEXT UNIQUE, gone TEXT, PRIMARY KEY (hall, number)) WITHOUT ROWID")
  local Seat = perilune.record("seat", { soft_delete = "gone" })
  Seat{ hall = "a", number = 1, code = "x" }:insert():delete()
  local err = fails("constraint_unique", Seat.find_or_insert, Seat, { code = "x" }, { hall = "b", number = 2 })
  matches(err, "a softly deleted row has the same code: restore it")
  equal(err.deleted_key, { hall = "a", number = 1 })
  err = fails("constraint_primary_key", function() Seat{ hall = "a", number = 1 }:insert() end)
  matches(err, "has the same hall, number")
  err = fails("constraint_unique", Seat.insert_all, Seat, { { hall = "c", number = 1 }, { hall = "c", number = 2, code = "x" } })
  equal({ err.deleted_key.number, err.list_index }, { 1, 2 })
  -- A conflict with a row that is not deleted raises the usual constraint error.
  Seat:unscoped():fetch_one():restore()
  err = fails("constraint_unique", function() Seat{ hall = "d", number = 1, code = "x" }:insert() end)
  equal({ err.deleted_key, err.message:find("softly", 1, true) }, {})
  db:execute([[CREATE TABLE named ("theId" INTEGER PRIMARY KEY, "theCode" TEXT UNIQUE, "deletedAt" TEXT)]])
  local Named = perilune.record("named", { naming = "snake_case", soft_delete = true })
  Named{ the_code = "x" }:insert():delete()
  err = fails("constraint_unique", Named.find_or_insert, Named, { the_code = "x" })
  equal({ err.deleted_key, err.columns }, { 1, { "the_code" } })
  matches(err, "has the same the_code")
  equal(Named:unscoped():find(err.deleted_key):restore().the_code, "x")
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

test("enumerations define requests and conditions", function()
  local Status = perilune.enum{ planned = 0, published = 1 }
  local Book = perilune.record("book", { enums = { status = Status } })
  Book{ title = "x", status = Status.planned }:insert()
  Book{ title = "y", status = Status.published }:insert()
  equal(Book:published():pluck("title"), { "y" })
  equal(Book:filter{ title = "x" }:planned():fetch_count(), 1)
  local book = Book:find(1)
  equal({ book:is_planned(), book:is_published(), book.status == Status.planned }, { true, false, true })
end)

test("enumeration cases with the name of a method or of another case need a prefix", function()
  local Status, Other = perilune.enum{ draft = 0, published = 1 }, perilune.enum{ published = 0 }
  local err = fails("argument", function() perilune.record("book", { enums = { status = Status } }) end)
  matches(err, "draft")
  matches(err, "prefix")
  matches(fails("argument", function() perilune.record("book", { enums = { isbn = Other, status = perilune.enum{ published = 1 } } }) end), "isbn")
  matches(fails("argument", function() perilune.record("book", { enums = { status = { Status, prefix = "not a name" } } }) end), "prefix")
  fails("unknown_option", function() perilune.record("book", { enums = { status = { Status, prefx = "status" } } }) end)
  local Book = perilune.record("book", { enums = { status = { Status, prefix = "status" } } })
  Book{ title = "x", status = Status.draft }:insert()
  equal({ Book:status_draft():fetch_count(), Book:find(1):is_status_draft(), Book:status_published():fetch_count() }, { 1, true, 0 })
end)

test("an upsert of an existing row increments its version, and a stale one changes nothing", function()
  local Book = perilune.record("book", { lock_version = true })
  local function row() return { Book:find(1).isbn, Book:find(1).lock_version } end
  Book{ title = "x", isbn = "1" }:insert()
  local one, other = Book:find(1), Book:find(1)
  one.isbn = "2"
  one:update()
  other.isbn = "3"
  equal(fails("stale", function() other:upsert{ target = "title" } end).key, 1)
  fails("stale", function() other:upsert() end)
  equal(row(), { "2", 1 })
  one.isbn = "4"
  equal(one:upsert{ target = "title" }.lock_version, 2)
  Book{ title = "x", isbn = "5" }:upsert{ target = "title" }
  equal(row(), { "5", 3 })
  Book:upsert_all({ { title = "x", isbn = "6" }, { title = "y" } }, { target = "title" })
  equal(row(), { "6", 4 })
  fails("stale", function() one:update() end)
  Book:insert_from(Book:filter{ title = "x" }:select("title", (Book.c.isbn .. "7"):as("isbn")), { target = "title" })
  equal(row(), { "67", 5 })
  Book:insert_from(Book:filter{ title = "x" }:select("title"), { target = "title", update = { isbn = "8" } })
  equal(row(), { "8", 6 })
  Book{ title = "x" }:upsert{ target = "title", update = "none" }
  equal(row(), { "8", 6 })
end)

test("an upsert does not change immutable columns or the insertion time", function()
  local Book = perilune.record("book", { immutable = { "isbn" }, timestamps = true })
  Book{ title = "x", isbn = "1" }:insert()
  db:execute("UPDATE book SET created_at = '2001-01-01 00:00:00', updated_at = '2001-01-01 00:00:00'")
  local function row(book)
    book = book or Book:find(1)
    return { book.isbn, tostring(book.created_at):sub(1, 4), tostring(book.updated_at):sub(1, 4) ~= "2001" }
  end
  Book:insert_from(Book:select("title", Book.c.id:as("isbn")), { target = "title" })
  equal(row(), { "1", "2001", false })
  equal(row(Book{ title = "x", isbn = "2", status = 1 }:upsert{ target = "title" }), { "1", "2001", true })
  db:execute("UPDATE book SET updated_at = '2001-01-01 00:00:00'")
  Book:upsert_all({ { title = "x", isbn = "3", status = 2 } }, { target = "title", update = { "status" } })
  equal(row(), { "1", "2001", true })
  for _, options in ipairs{ { update = { "isbn" } }, { update = { isbn = "4" } }, { update = { isbn = perilune.sql("'5'") } } } do
    options.target = "title"
    equal(fails("immutable", function() Book{ title = "x", isbn = "2" }:upsert(options) end).column, "isbn")
    fails("immutable", function() Book:upsert_all({ { title = "x", isbn = "2" } }, options) end)
  end
  fails("immutable", function() Book:insert_from(Book:select("title", "isbn"), { target = "title", update = { "isbn" } }) end)
  matches(fails("unknown_column", function() perilune.record("book", { immutable = "isbnn" }):fetch_all() end), "isbn")
end)

test("a class whose lock_version names no column of the table is refused at its first use", function()
  for _, name in ipairs{ true, "versoin" } do
    local Plain = perilune.record("plain", { lock_version = name })
    for _, use in ipairs{ function() Plain:fetch_all() end, function() Plain:fetch_count() end, function() Plain:insert{ n = 1 } end } do
      equal(fails("unknown_column", use).name, name == true and "lock_version" or name)
    end
  end
end)

test("behaviors run before the hooks of the script, the class and extended classes", function()
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

test("a parent row has the number of its children and the time of their last change", function()
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

test("a record fetched before its row was counted or touched is stale, so that it cannot write an old count back", function()
  db:execute("ALTER TABLE author ADD COLUMN lock_version INTEGER NOT NULL DEFAULT 0")
  local Locked, Book = perilune.record("author", { lock_version = true }), perilune.record("book")
  Book.author = Book:belongs_to(Locked, { counter_cache = "book_count" })
  Book.toucher = Book:belongs_to(Locked, { touch = true })
  local function row() return db:fetch_one("SELECT book_count, lock_version FROM author WHERE id = 1"):unpack() end
  local form = Locked:find(1)
  Book{ title = "x", author_id = 1 }:insert()
  equal({ row() }, { 1, 2 })
  form.name = "Ada"
  fails("stale", form.update, form)
  fails("stale", form.update_changes, form)
  equal({ row() }, { 1, 2 })
  form:refresh()
  form.name = "Ada"
  form:update()
  equal({ Locked:find(1).name, row() }, { "Ada", 1, 3 })
end)

test("behaviors that are false are not added", function()
  local Book = perilune.record("book", { soft_delete = false, lock_version = false, timestamps = { created = true, updated = false } })
  Book.author = Book:belongs_to(Author, { counter_cache = false, touch = false })
  equal(Author:has_many(Book, { counter_cache = false, touch = false }) ~= nil, true)
  local book = Book{ title = "x", author_id = 1 }:insert()
  equal({ book.created_at ~= nil, Book:find(book.id).updated_at }, { true })
  book.title = "y"
  book:update()
  equal({ Book:find(book.id).title, book.updated_at, Author:find(1).book_count, Author:find(1).updated_at }, { "y", [3] = 0 })
  book:delete()
  equal(Book:unscoped():fetch_count(), 0)
  local Plain = perilune.record("plain", { timestamps = { created = false, updated = false } })
  equal(Plain{ n = 1 }:insert().n, 1)
end)

test("softly deleted records are not counted", function()
  local Book = perilune.record("book", { soft_delete = true })
  Book.author = Book:belongs_to(Author, { counter_cache = "book_count" })
  local function count() return Author:find(1).book_count end
  local book = Book{ title = "x", author_id = 1 }:insert()
  Book{ title = "y", author_id = 1 }:insert()
  book:delete()
  equal(count(), 1)
  book.author_id = 2
  book:update()
  equal({ count(), Author:find(2).book_count }, { 1, 0 })
  book.author_id = 1
  book:update_changes()
  book:restore()
  equal(count(), 2)
  book:delete()
  book:delete_forever()
  equal(count(), 1)
  Book:filter{ title = "y" }:fetch_one():delete_forever()
  equal(count(), 0)
end)

test("a row that is repeatedly deleted softly or restored is counted once", function()
  local Book = perilune.record("book", { soft_delete = true })
  Book.author = Book:belongs_to(Author, { counter_cache = "book_count" })
  local function count() return Author:find(1).book_count end
  Book{ id = 1, title = "x", author_id = 1 }:insert()
  Book{ id = 2, title = "y", author_id = 1 }:insert()
  local one, other = Book:find(1), Book:find(1)
  equal({ one:delete(), other:delete(), count() }, { true, false, 1 })
  Book{ id = 1 }:restore()
  equal({ count(), Book:fetch_count() }, { 2, 2 })
  equal({ Book{ id = 2 }:delete(), count() }, { true, 1 })
end)

test("writing a record with unfetched columns updates counters by its whole row", function()
  local Book = perilune.record("book")
  Book.author = Book:belongs_to(Author, { counter_cache = "book_count", touch = true })
  local function counts() return Author:order("id"):pluck("book_count") end
  local function part(id) return Book:fetch_all("SELECT id, title FROM book WHERE id = " .. id)[1] end
  for id, title in ipairs{ "x", "y", "z" } do Book{ id = id, title = title, author_id = 1 }:insert() end
  part(1):delete()
  equal(counts(), { 2, 0 })
  local moved = part(2)
  moved.author_id = 2
  moved:update()
  equal(counts(), { 1, 1 })
  moved = part(2)
  moved:update_changes{ author_id = perilune.null }
  equal(counts(), { 1, 0 })
  db:execute("UPDATE author SET updated_at = NULL")
  part(3):update_changes{ title = "w" }
  equal({ counts(), Author:find(1).updated_at ~= nil }, { { 1, 0 }, true })
  -- An update writes only the columns in the record.
  Book{ id = 3, title = "v", lock_version = 0 }:update()
  equal({ counts(), Book:find(3).author_id }, { { 1, 0 }, 1 })
  Book{ id = 3, author_id = perilune.null, lock_version = 1 }:update()
  equal({ counts(), Book:find(3).author_id }, { { 0, 0 } })
end)

test("rows that an upsert updates or an insert replaces are counted once", function()
  db:execute("CREATE UNIQUE INDEX book_isbn ON book (isbn)")
  local Book = perilune.record("book")
  Book.author = Book:belongs_to(Author, { counter_cache = "book_count" })
  local function check(...)
    equal(Author:order("id"):pluck("book_count"), { ... })
    equal(db:fetch_values("SELECT (SELECT COUNT(*) FROM book WHERE author_id = author.id) FROM author ORDER BY id"), { ... })
  end
  Book{ title = "x", author_id = 1 }:insert()
  Book{ title = "x", author_id = 1 }:upsert{ target = "title" }
  check(1, 0)
  Book{ title = "x", author_id = 2 }:upsert{ target = "title" }
  check(0, 1)
  Book{ title = "x", author_id = 1 }:upsert{ target = "title", update = { "isbn" } }
  check(0, 1)
  Book{ title = "x", author_id = 1 }:upsert{ target = "title", update = "none" }
  check(0, 1)
  Book:upsert_all({ { title = "x", author_id = 1 }, { title = "y", author_id = 1 }, { title = "z", author_id = 2, isbn = "z" } }, { target = "title" })
  check(2, 1)
  Book{ title = "x", author_id = 2 }:insert{ on_conflict = "replace" }
  check(1, 2)
  -- The new row replaces two rows.
  Book{ title = "x", author_id = 1, isbn = "z" }:insert{ on_conflict = "replace" }
  check(2, 0)
  Book:insert_all({ { title = "x", author_id = 2 }, { title = "w", author_id = 1 } }, { on_conflict = "replace" })
  check(2, 1)
  Book{ title = "x", author_id = 1 }:insert{ on_conflict = "ignore" }
  check(2, 1)
end)

test("invalid behavior options are refused", function()
  matches(fails("unknown_option", function() perilune.record("book", { timestamp = true }) end), "timestamps")
  matches(fails("argument", function() perilune.record("book", { timestamps = 5 }) end), "true")
  matches(fails("unknown_option", function() perilune.record("book", { timestamps = { create = "x" } }) end), "created")
  matches(fails("argument", function() perilune.record("plain", { timestamps = true }){ n = 1 }:insert() end), "neither")
  matches(fails("unknown_column", function() perilune.record("plain", { timestamps = { created = "made" } }){ n = 1 }:insert() end), "made")
  matches(fails("argument", function() perilune.record("book", { lock_version = 5 }) end), "true")
  matches(fails("argument", function() perilune.record("book", { immutable = {} }) end), "columns")
  matches(fails("argument", function() perilune.record("book", { enums = { status = 5 } }) end), "perilune.enum")
  local Book = perilune.record("book")
  matches(fails("argument", function() Author:has_many(Book, { counter_cache = "book_count" }) end), "belongs_to")
  matches(fails("unknown_column", function() Book:belongs_to(Author, { counter_cache = "book_cuont" }) end), "book_count")
end)

test("an upsert sets the time of the last change, even if the record contains one", function()
  db:execute "CREATE TABLE stamped (id INTEGER PRIMARY KEY, t TEXT, created_at DATETIME, updated_at DATETIME)"
  local Stamped, former = perilune.record("stamped", { timestamps = true }), "2020-01-01 00:00:00.000"
  local function check(write)
    db:execute("DELETE FROM stamped")
    db:execute("INSERT INTO stamped VALUES (1, 'a', ?, ?)", former, former)
    write(Stamped:find(1))
    local row = db:fetch_one "SELECT * FROM stamped"
    equal({ row.created_at, row.updated_at ~= former, row.t }, { former, true, "b" })
  end
  check(function(record)
    record.t = "b"
    record:upsert()
    equal({ record.updated_at == Stamped:find(1).updated_at, record:has_changes() }, { true, false })
  end)
  check(function(record)
    record.t = "b"
    Stamped:upsert_all({ record }, { target = "id" })
  end)
  check(function(record)
    local draft = Stamped.draft(record)
    draft.t = "b"
    Stamped:upsert(draft)
  end)
end)

test("an upsert of a fetched record clears a field despite the column's default", function()
  db:execute "CREATE TABLE defaulted (id INTEGER PRIMARY KEY, s TEXT); INSERT INTO defaulted VALUES (1, 'x')"
  local Defaulted = perilune.record("defaulted", { defaults = { s = "class" } })
  local record = Defaulted:find(1)
  record.s = nil
  record:upsert()
  equal({ record.s, db:fetch_value "SELECT s FROM defaulted" }, {})
  equal(Defaulted:upsert{ id = 2 }.s, "class")
end)

test("finding by key works the same in a class with a default scope", function()
  db:execute "CREATE TABLE soft (id INTEGER PRIMARY KEY, t TEXT, deleted_at DATETIME); INSERT INTO soft VALUES (1, 'a', NULL), (2, 'a', NULL)"
  local Soft = perilune.record("soft", { soft_delete = true, timestamps = false, lock_version = false })
  for _, verb in ipairs{ "find", "fetch_one" } do
    matches(fails("argument", Soft[verb], Soft, { t = "a" }), verb .. ": the given columns are not a unique key of `soft`")
  end
  local err = fails("record_not_found", Soft.find, Soft, 9)
  matches(err, "no row of `soft` has id = 9")
  equal({ err.key, fails("record_not_found", Soft.find, Soft, { id = 8 }).key }, { 9, 8 })
  equal({ Soft:delete_all(), Soft:fetch_count(), fails("record_not_found", Soft.find, Soft, 1).key }, { 2, 0, 1 })
end)

test("exists and fetch_one agree within the default scope of a class", function()
  local Soft, Recent = perilune.record("book", { soft_delete = true }), perilune.record("book")
  function Recent.requests:default() return self:filter{ title = "new" } end
  Soft:insert_all{ { id = 1, title = "old" }, { id = 2, title = "new" } }
  Soft:find(2):delete()
  for _ = 1, 3 do
    equal({ Soft:exists(1), Soft:exists(2), Soft:exists{ id = 2 }, Soft:exists(db, 2), Soft:exists(nil) }, { true, false, false, false, false })
    equal({ Recent:exists(1), Recent:exists(2), Recent:exists(3) }, { false, true, false })
  end
end)

test("a softly deleted row does not prevent an insert if the unique index excludes it", function()
  db:execute [[
    CREATE TABLE coded (id INTEGER PRIMARY KEY, code TEXT, deleted_at DATETIME);
    CREATE UNIQUE INDEX coded_code ON coded (code) WHERE deleted_at IS NULL]]
  local Coded = perilune.record("coded", { soft_delete = true })
  Coded:insert{ code = "a" }:delete()
  Coded:insert{ code = "a" }
  equal(fails("constraint_unique", Coded.insert, Coded, { code = "a" }).deleted_key, nil)
end)

test("records with unknown column values update counters by the stored row", function()
  db:execute [[
    CREATE TABLE shelf (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0); INSERT INTO shelf (id) VALUES (1), (2);
    CREATE TABLE item (id INTEGER PRIMARY KEY, shelf_id INTEGER REFERENCES shelf)]]
  local Shelf, Item = perilune.record "shelf", perilune.record "item"
  Item.shelf = Item:belongs_to(Shelf, { counter_cache = "n" })
  local function check()
    equal(db:fetch_values "SELECT n FROM shelf ORDER BY id", db:fetch_values "SELECT (SELECT count(*) FROM item WHERE shelf_id = shelf.id) FROM shelf ORDER BY id")
  end
  for _ = 1, 4 do Item:insert{ shelf_id = 1 } end
  Item{ id = 1, shelf_id = 2 }:update()
  check()
  Item{ id = 2, shelf_id = 2 }:save()
  check()
  Item{ id = 3 }:delete()
  check()
  Item{ id = 4, shelf_id = 2 }:delete()
  check()
  local moved = Item:find(1)
  moved.shelf_id = 1
  moved:delete()
  check()
  equal(db:fetch_values "SELECT n FROM shelf ORDER BY id", { 0, 1 })
end)

test("rows that an update replaces are subtracted from counters", function()
  db:execute[[
    CREATE TABLE post (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE comment (id INTEGER PRIMARY KEY, post_id INTEGER REFERENCES post, slug TEXT UNIQUE);
    INSERT INTO post VALUES (1, 0), (2, 0)]]
  local Post = perilune.record("post")
  for _, options in ipairs{ {}, { on_conflict = "replace" } } do
    local Comment = perilune.record("comment", options)
    Comment.post = Comment:belongs_to(Post, { counter_cache = "n" })
    db:execute "DELETE FROM comment; UPDATE post SET n = 0"
    local function counts() return Post:order("id"):pluck("n") end
    for id = 1, 3 do Comment{ id = id, post_id = id == 1 and 1 or 2, slug = "s" .. id }:insert() end
    local comment = Comment:find(1)
    comment.slug = "s2"
    comment:update(options.on_conflict == nil and { on_conflict = "replace" } or nil)
    equal(counts(), { 1, 1 })
    comment:update_changes({ slug = "s3", post_id = 2 }, { on_conflict = "replace" })
    equal(counts(), { 0, 1 })
    comment:save{ on_conflict = "replace" }
    equal(counts(), { 0, 1 })
  end
end)

test("an assigned time of the last change is kept", function()
  db:execute "CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, created_at DATETIME, updated_at DATETIME)"
  local Post = perilune.record("post", { timestamps = true })
  local time = perilune.date("2020-02-02 10:00:00")
  local post = Post:insert{ title = "a" }
  for _, verb in ipairs{ "update", "save", "update_changes" } do
    post.updated_at = time
    post[verb](post)
    equal(Post:find(1).updated_at, time)
    post.title = verb
    post[verb](post)
    equal(Post:find(1).updated_at.year > 2020, true)
  end
  Post{ id = 1, updated_at = time }:update()
  equal(Post:find(1).updated_at, time)
end)

test("a record whose write was rolled back is reported as stale with an explanation", function()
  db:execute "CREATE TABLE page (id INTEGER PRIMARY KEY, title TEXT, lock_version INTEGER); INSERT INTO page VALUES (1, 'a', 7)"
  local Page = perilune.record("page", { lock_version = true })
  local page = Page:find(1)
  pcall(db.write, db, function()
    page:update_changes{ title = "b" }
    error("no", 0)
  end)
  local err = fails("stale", function() page:update_changes{ title = "c" } end)
  matches(err, "its row is older than the record, as after a transaction that was rolled back (version 8, now 7)")
end)

test("a failed soft deletion does not change the record", function()
  local Book = perilune.record("book", { soft_delete = true, lock_version = true })
  local book = Book{ title = "x" }:insert()
  function Book:did_update() error("refused") end
  fails(nil, book.delete, book)
  equal({ book.deleted_at, book.lock_version, book:has_changes(), Book:fetch_count() }, { nil, 0, false, 1 })
  matches(fails("argument", Book.delete, Book.draft(book)), "expected a record, got a draft")
end)
