--- Creating and dropping indexes.

local function sql_of(name)
  return db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = ?", name)
end

local function make_book()
  db:create_table("book", function(t)
    t:primary_key("id", "integer")
    t:column("title", "text")
    t:column("year", "integer")
  end)
end

--- Checks that an index cannot be created.
local function refused(kind, part, ...)
  local err = fails(kind, db.create_index, db, ...)
  if part then matches(err, part) end
  equal(#db:indexes("book"), 0)
  return err
end

test("an index has a table, columns and a name", function()
  make_book()
  equal(select("#", db:create_index("book", { "title", "year" }, { name = "by_title" })), 0)
  equal(sql_of("by_title"), 'CREATE INDEX "by_title" ON "book"("title", "year")')
  equal(db:indexes("book"),
    { { name = "by_title", columns = { "title", "year" }, unique = false, partial = false, origin = "create index" } })
end)

test("an index without a name is named after its table and columns", function()
  make_book()
  db:create_index("book", { "title" })
  db:create_index("book", { "year", { "title", desc = true } }, { unique = true })
  db:create_index("book", "year")
  equal(sql_of("book_on_title"), 'CREATE INDEX "book_on_title" ON "book"("title")')
  equal(sql_of("book_on_year_title"), 'CREATE UNIQUE INDEX "book_on_year_title" ON "book"("year", "title" DESC)')
  equal(sql_of("book_on_year"), 'CREATE INDEX "book_on_year" ON "book"("year")')
end)

test("an index can be unique, partial, and created only if it is missing", function()
  make_book()
  for _ = 1, 2 do
    db:create_index("book", "title", { name = "recent", unique = true, where = "year > 2000", if_not_exists = true })
  end
  equal(sql_of("recent"), 'CREATE UNIQUE INDEX "recent" ON "book"("title") WHERE year > 2000')
  db:execute("INSERT INTO book (title, year) VALUES ('a', 1999), ('a', 1999), ('a', 2001)")
  fails("constraint_unique", db.execute, db, "INSERT INTO book (title, year) VALUES ('a', 2002)")
  matches(fails("sql", db.create_index, db, "book", "title", { name = "recent" }), "already exists")
end)

test("an index can use expressions, orders and collations", function()
  make_book()
  db:create_index("book", {
    { sql = "lower(title)" }, { "title", collate = "nocase", desc = true }, { sql = "year / 10", desc = true },
    { "id", desc = false },
  }, { name = "i" })
  equal(sql_of("i"), 'CREATE INDEX "i" ON "book"(lower(title), "title" COLLATE "nocase" DESC, year / 10 DESC, "id")')
  matches(tostring(db:explain("SELECT 1 FROM book WHERE lower(title) = 'a'")), "USING COVERING INDEX i")
end)

test("an index can use Lua expressions", function()
  make_book()
  local Book = perilune.record("book")
  db:create_index("book", { Book.c.title:lower(), { function(c) return c.year % 10 end, desc = true } },
    { name = "i", where = function(c) return c.year:gt(2000) end })
  equal(sql_of("i"), 'CREATE INDEX "i" ON "book"(LOWER("title"), "year" % 10 DESC) WHERE "year" > 2000')
end)

test("invalid index columns are reported", function()
  make_book()
  equal(refused("unknown_column", nil, "book", { "titel" }).suggestion, "title")
  equal(refused("unknown_column", nil, "book", { { "titel", desc = true } }, { name = "i" }).suggestion, "title")
  equal(refused("unknown_table", nil, "boook", { "title" }).suggestion, "book")
  refused("argument", "needs a name", "book", { { sql = "lower(title)" } })
  refused("argument", "missing the list of columns", "book")
  refused("argument", "the columns come before the options", "book", { unique = true })
  refused("argument", "expected a list of columns, got the integer 1", "book", 1)
  refused("argument", "an empty one", "book", {}, { name = "i" })
  refused("argument", "the name of a column or `sql`", "book", { { desc = true } }, { name = "i" })
  refused("argument", "the name of a column or `sql`", "book", { { "title", sql = "1" } }, { name = "i" })
  refused("argument", "expected a boolean", "book", { { "title", desc = 1 } }, { name = "i" })
  refused("argument", "cannot bind values", "book", { "title" }, { where = "year > ?" })
  refused("argument", "expected SQL as a string", "book", { 12 }, { name = "i" })
  local endless = {}
  endless[1] = endless
  refused("argument", "expected SQL as a string", "book", endless, { name = "i" })
  refused("argument", "expected options with names", "book", { { "title", "year" } }, { name = "i" })
  equal(refused("unknown_option", nil, "book", { "title" }, { uniq = true }).suggestion, "unique")
  equal(refused("unknown_option", nil, "book", { "title" }, { wher = "1" }).suggestion, "where")
  db:create_view("v", "SELECT 1 AS a")
  refused("definition", "is a view", "v", { "a" })
end)

test("the previous order of the arguments is refused with the new one", function()
  make_book()
  for _, arguments in ipairs{
    { "by_title", { on = "book", columns = { "title" } } }, { "by_title", "book", { "title" } }, { "book", { columns = { "title" }, name = "by_title" } },
    { { table = "book", columns = { "title" }, name = "by_title" } },
  } do
    refused("argument", 'db:create_index("book", { "column" }, { name = "by_title" })', table.unpack(arguments))
  end
  refused("argument", 'db:create_index("book", { "title", "year" })', "book", "title", "year")
  refused("argument", "such as { unique = true }", "book", { "title" }, true)
  db:create_index("book", { "title" }, { name = "by_title" })
  matches(fails("argument", db.drop_index, db, "by_title"), 'db:drop_index("book", { name = "by_title" })')
  matches(fails("unknown_index", db.drop_index, db, "book", "by_title"), 'db:drop_index("book", { name = "by_title" })')
  matches(fails("argument", db.drop_index, db, "nothing"), 'db:drop_index("table", { name = "nothing" })')
  equal(#db:indexes("book"), 1)
end)

test("an index can be dropped by its columns or its name", function()
  make_book()
  db:create_index("book", { "title" })
  db:drop_index("book", { name = "BOOK_on_title" })
  db:create_index("book", { "Title", "year" }, { name = "i" })
  db:drop_index("book", { "title", "YEAR" })
  equal(#db:indexes("book"), 0)
end)

test("a dropped index must exist and be unambiguous", function()
  make_book()
  db:create_index("book", { "title" })
  equal(fails("unknown_index", db.drop_index, db, "book", { name = "book_on_titel" }).suggestion, "book_on_title")
  fails("unknown_index", db.drop_index, db, "book", { "year" })
  db:drop_index("nothing", { name = "i", if_exists = true })
  db:drop_index("book", { name = "nothing", if_exists = true })
  db:drop_index("book", { "year" }, { if_exists = true })
  db:create_index("book", { "title" }, { name = "again" })
  matches(fails("definition", db.drop_index, db, "book", { "title" }), "again, book_on_title")
  fails("unknown_table", db.drop_index, db, "bok", { "title" })
  fails("unknown_table", db.drop_index, db, "bok", { name = "again" })
  matches(fails("argument", db.drop_index, db, "book", { "title" }, { name = "again" }), "either the columns or `name`")
end)

test("an index of another table is not dropped", function()
  make_book()
  db:execute("CREATE TABLE other (a); CREATE INDEX other_a ON other(a)")
  fails("unknown_index", db.drop_index, db, "book", { name = "other_a" })
  equal(#db:indexes("other"), 1)
end)

test("a read block neither creates nor drops indexes", function()
  make_book()
  db:create_index("book", { "title" })
  db:read(function(db)
    fails("readonly", db.create_index, db, "book", { "year" })
    fails("readonly", db.drop_index, db, "book", { name = "book_on_title" })
  end)
end)
