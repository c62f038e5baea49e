--- The results of writes.

local function make_book()
  db:execute[[
    CREATE TABLE book (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, is_read BOOLEAN DEFAULT FALSE, at DATETIME DEFAULT '2026-03-01 00:00:00.000',
      length INTEGER GENERATED ALWAYS AS (length(title)) VIRTUAL, note TEXT)]]
  return perilune.record "book"
end

test("insert returns a value, a row, or the record with all its columns", function()
  local Book = make_book()
  equal(Book{ title = "Typee" }:insert{ returning = "id" }, 1)
  equal(Book{ title = "Omoo" }:insert{ returning = "length" }, 4)
  equal(Book{ title = "Omoo" }:insert{ returning = "is_read" }, false)
  equal(Book{ title = "Omoo" }:insert{ returning = "at" }, perilune.date "2026-03-01")
  local row = Book{ title = "Mardi" }:insert{ returning = { "length", "is_read", "note" } }
  equal({ row.length, row.is_read, row.note, row:has "note", row[1] }, { 5, false, nil, true, 5 })
  equal(row:columns(), { "length", "is_read", "note" })
  local book = Book{ title = "Redburn" }
  equal(book:insert{ returning = "all" } == book, true)
  equal({ book.id, book.length, book.is_read, book.at }, { 6, 7, false, perilune.date "2026-03-01" })
  equal(book:has_changes(), false)
  book = Book{ title = "Pierre" }
  equal(book:insert{ returning = "*" } == book, true)
end)

test("insert sets the record's key regardless of the returned columns", function()
  local Book = make_book()
  local book = Book{ title = "Typee" }
  equal(book:insert{ returning = "length" }, 5)
  equal({ book.id, book:has_changes() }, { 1, false })
end)

test("update returns the requested values", function()
  local Book = make_book()
  local book = Book{ title = "Typee" }
  book:insert()
  book.title = "Omoo"
  equal(book:update{ returning = "length" }, 4)
  equal(book:update{ returning = { "id", "length" } }.id, 1)
  equal(book:update{ returning = "all" } == book, true)
  equal(book.length, 4)
  fails("record_not_found", function() Book{ id = 9, title = "x" }:update{ returning = "id" } end)
end)

test("update_changes returns the requested values if it writes", function()
  local Book = make_book()
  local book = Book{ title = "Typee" }
  book:insert()
  equal(book:update_changes({ title = "Omoo" }, { returning = "length" }), 4)
  equal(book:update_changes({ title = "Omoo" }, { returning = "length" }), nil)
  equal(book:update_changes({ title = "O" }, { returning = "all" }) == book, true)
  equal(book.length, 1)
end)

test("save returns the requested values", function()
  local Book = make_book()
  local book = Book{ title = "Typee" }
  equal(book:save{ returning = "id" }, 1)
  book.title = "Omoo"
  equal(book:save{ returning = "length" }, 4)
  equal(Book{ id = 7, title = "Pierre" }:save{ returning = "length" }, 6)
end)

test("delete returns the deleted values", function()
  local Book = make_book()
  local book = Book{ title = "Typee" }
  book:insert()
  db:execute "UPDATE book SET note = 'last'"
  equal(book:delete{ returning = "note" }, "last")
  equal(book:delete{ returning = "note" }, nil)
  book:insert()
  local row = book:delete{ returning = { "id", "title" } }
  equal({ row.id, row.title }, { 1, "Typee" })
  book:insert()
  equal(book:delete{ returning = "all" } == book, true)
  equal(book:delete{ returning = "all" }, nil)
end)

test("an ignored write returns nothing", function()
  local Book = make_book()
  Book{ id = 1, title = "a" }:insert()
  equal(Book{ id = 1, title = "a" }:insert{ returning = "id", on_conflict = "ignore" }, nil)
end)

test("values that triggers write after the insertion are not returned", function()
  local Book = make_book()
  db:execute "CREATE TRIGGER note AFTER INSERT ON book BEGIN UPDATE book SET note = 'seen' WHERE id = new.id; END"
  local book = Book{ title = "Typee" }
  equal(book:insert{ returning = "note" }, nil)
  book:refresh()
  equal(book.note, "seen")
end)

test("hooks run with the option returning, and see the key", function()
  local Book = make_book()
  local seen
  function Book:did_insert() seen = self.id end
  equal(Book{ title = "a" }:insert{ returning = "length" }, 1)
  equal(seen, 1)
end)

test("the option returning accepts only columns", function()
  local Book = make_book()
  local book = Book{ title = "Typee" }
  equal(fails("unknown_column", book.insert, book, { returning = "lenght" }).suggestion, "length")
  equal(fails("unknown_column", book.insert, book, { returning = { "id", "lenght" } }).suggestion, "length")
  fails("argument", book.insert, book, { returning = {} })
  fails("argument", book.insert, book, { returning = 5 })
  equal(Book:fetch_count(), 0)
end)

test("insert_all returns a list of the requested columns", function()
  local Book = make_book()
  equal(Book:insert_all({ { title = "a" }, { title = "bb" } }, { returning = "length" }), { 1, 2 })
  local rows = Book:insert_all({ { title = "a" }, { title = "b" } }, { returning = { "id", "title" } })
  equal({ #rows, rows[2].id, rows[2].title }, { 2, 4, "b" })
  local books = Book:insert_all({ { title = "c" } }, { returning = "all" })
  equal({ books[1].id, books[1].length, books[1]:has_changes() }, { 5, 1, false })
end)

test("a table that begins with a REAL column returns its integers and booleans unchanged", function()
  local big = 9007199254740993
  for _, first in ipairs{ "REAL", "INTEGER", "TEXT" } do
    db:execute("DROP TABLE IF EXISTS item; CREATE TABLE item (first " .. first .. [[, id INTEGER PRIMARY KEY, is_open BOOLEAN, n INTEGER DEFAULT ]] .. big .. ", x REAL DEFAULT 2)")
    local Item = perilune.record("item", { fields = { amount = "n" } })
    local function check(item)
      equal({ math.type(item.id), item.is_open, item.amount, item.x }, { "integer", true, big, 2.0 })
      equal(item.id > 0, true)
    end
    local all = { "id", "is_open", "amount", "x" }
    check(Item{ is_open = true }:insert{ returning = "all" })
    check(Item{ is_open = true }:insert())
    equal(math.type(Item{ is_open = true }:insert{ returning = "id" }), "integer")
    check(Item{ id = 1, is_open = true }:upsert())
    check(Item:insert_all({ { is_open = true } }, { returning = all })[1])
    check(Item:upsert_all({ { id = 1, is_open = true } }, { returning = all })[1])
    check(Item:insert_from(Item:filter_key(1):select("is_open"), { columns = "is_open", returning = true })[1])
    check(Item:insert_from(Item:filter_key(1):select("is_open"), { columns = "is_open", returning = all })[1])
    check(Item:filter_key(1):update_all({ is_open = true }, { returning = true })[1])
    check(Item:filter_key(1):update_all({ is_open = true }, { returning = all })[1])
    check(Item:filter_key(1):update_all({ is_open = true }, { returning = { Item.c.id, Item.c.is_open, Item.c.amount, Item.c.x:as("x") } })[1])
    check(Item:find(1):update{ returning = all })
    check(Item:filter_key(1):delete_all{ returning = true }[1])
    check(Item:filter_key(2):delete_all{ returning = all }[1])
    check(Item:find(3):delete{ returning = all })
  end
end)

test("changed rows are returned as records after the table has changed", function()
  db:execute"CREATE TABLE item (a TEXT, b INTEGER PRIMARY KEY); INSERT INTO item VALUES ('x', 1)"
  local function write() return perilune.record("item"):all():update_all({ a = "x" }, { returning = true })[1] end
  write()
  db:execute"ALTER TABLE item ADD COLUMN c DEFAULT 5"
  equal(write().c, 5)
  db:execute"DROP TABLE item; CREATE TABLE item (b TEXT PRIMARY KEY, a TEXT, d TEXT); INSERT INTO item VALUES ('key', 'x', 'z')"
  local item = write()
  equal({ item.b, item.a, item.d }, { "key", "x", "z" })
end)

test("changed rows are returned with the row id if it is the key", function()
  db:execute"CREATE TABLE item (a TEXT); INSERT INTO item VALUES ('x')"
  local Item = perilune.record("item", { primary_key = "rowid" })
  local item = Item:all():update_all({ a = "y" }, { returning = true })[1]
  equal(item.rowid, 1)
  equal(item:update_changes{ a = "z" }, true)
  equal(Item:all():delete_all{ returning = true }[1].rowid, 1)
end)
