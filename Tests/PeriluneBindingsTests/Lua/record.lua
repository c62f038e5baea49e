--- Record classes and their records.

local function library()
  db:execute[[
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born INTEGER DEFAULT 1800, active BOOLEAN)]]
  return perilune.record("author")
end

test("fields are columns, and NULL is read as nil", function()
  local Author = library()
  local author = Author{ name = "Herman Melville", active = true }
  equal(author.name, "Herman Melville")
  equal(author.country, nil)
  equal(rawget(author, "name"), "Herman Melville")
end)

test("an unknown field is an error with the nearest name", function()
  local Author = library()
  local author = Author{ name = "Ada" }
  local err = fails("unknown_column", function() return author.nmae end)
  equal(err.suggestion, "name")
  matches(err, "did you mean `name`")
  fails("unknown_column", function() author.nmae = 1 end)
  equal(fails("unknown_column", Author, { nmae = "x" }).suggestion, "name")
end)

test("methods are found on records and inherited", function()
  local Author = library()
  function Author:label() return "<" .. self.name .. ">" end
  local Sub = Author:extend()
  function Sub:label() return "sub " .. Author.label(self) end
  equal(Author{ name = "a" }:label(), "<a>")
  equal(Sub{ name = "a" }:label(), "sub <a>")
  function Author:later() return 1 end
  equal(Sub{ name = "a" }:later(), 1)
end)

test("a method with the name of a column is an error", function()
  local Author = library()
  Author{ name = "x" }
  matches(fails("argument", function() function Author:country() end end), "it is a column")
  local Early = perilune.record("author")
  function Early:country() end
  matches(fails("argument", Early, { name = "x" }), "has the same name as a column")
end)

test("insert sets the key and the values that the database chose", function()
  local Author = library()
  local author = Author{ name = "Ada", country = perilune.null }
  equal(author:insert() == author, true)
  equal(author.id, 1)
  equal(author.born, 1800)
  equal(rawget(author, "country"), nil)
  equal(db:fetch_value("SELECT born FROM author"), 1800)
end)

test("update writes all columns, and nil as NULL", function()
  local Author = library()
  local author = Author{ name = "Ada", country = "UK" }:insert()
  author.country, author.name = nil, "Ada Lovelace"
  author:update()
  equal(db:fetch_one("SELECT name, country, born FROM author"):to_table(), { name = "Ada Lovelace", country = perilune.null, born = 1800 })
end)

test("updating a row that does not exist raises an error with its key", function()
  local Author = library()
  local err = fails("record_not_found", function() Author{ id = 7, name = "x" }:update() end)
  equal(err.table, "author")
  equal(err.key, 7)
end)

test("find raises and fetch_one returns nil if the row is missing", function()
  local Author = library()
  local author = Author{ name = "Ada" }:insert()
  equal(Author:find(1) == author, true)
  equal(Author:fetch_one(2), nil)
  equal(Author:fetch_one(nil), nil)
  equal(fails("record_not_found", Author.find, Author, 2).key, 2)
end)

test("records are plain tables that contain only columns, fetched or not", function()
  local Author = library()
  Author{ name = "Ada" }:insert()
  local keys = {}
  for key in next, Author:find(1) do keys[#keys + 1] = key end
  table.sort(keys)
  equal(keys, { "born", "id", "name" })
end)

test("pairs iterates over the columns of a record in order, then over other fields", function()
  local Author = library()
  local With = Author:extend{ extra = { "books" } }
  local author = With{ name = "Ada", books = 3 }
  local keys = {}
  for key in pairs(author) do keys[#keys + 1] = key end
  equal(keys, { "id", "name", "country", "born", "active", "books" })
end)

test("records are equal if they have the same class and columns", function()
  local Author, Other = library(), perilune.record("author")
  equal(Author{ name = "a" } == Author{ name = "a" }, true)
  equal(Author{ name = "a" } == Author{ name = "b" }, false)
  equal(Author{ name = "a" } == Author{ name = "a", born = 1 }, false)
  equal(Author{ name = "a" } == Other{ name = "a" }, false)
end)

test("tostring of a record shows its table and columns", function()
  local Author = library()
  equal(tostring(Author{ id = 1, name = "Ada", active = false }),
    'author{id = 1, name = "Ada", country = NULL, born = NULL, active = false}')
  equal(tostring(Author), "record class author")
end)

test("the metatables of records and classes are hidden", function()
  local Author = library()
  equal(getmetatable(Author), false)
  equal(getmetatable(Author{ name = "x" }), false)
  fails(nil, setmetatable, Author{ name = "x" }, {})
end)

test("a class can test whether a value is one of its records", function()
  local Author = library()
  db:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)")
  local Book, Sub = perilune.record("book"), Author:extend()
  local author = Author{ name = "x" }
  equal({ Author:is(author), Book:is(author), Sub:is(author), Author:is(Sub{ name = "x" }), Author:is(1), Author:is({}) },
    { true, false, false, true, false, false })
  local err = fails("argument", Book.insert, Book, author)
  matches(err, "insert: expected a record of book, got one of author")
  fails("argument", Book.update, Book, author)
  fails("argument", Book.delete, Book, author)
  fails("argument", Book.save, Book, author)
  equal(db:fetch_value("SELECT COUNT(*) FROM author") + db:fetch_value("SELECT COUNT(*) FROM book"), 0)
end)

test("a record of an extended class is accepted as a record of its base class", function()
  local Author = library()
  local Sub = Author:extend()
  local sub = Author:insert(Sub{ name = "x" })
  equal(sub.id, 1)
  equal(Sub:is(sub), true)
end)

test("a column with the name of a method is a field, and the method is reachable through the class", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, \"insert\" TEXT, copy TEXT)")
  local T = perilune.record("t")
  local record = T{ insert = "x" }
  equal(record.insert, "x")
  equal(record.copy, nil)
  T.insert(record)
  equal(db:fetch_value("SELECT \"insert\" FROM t"), "x")
  equal(T:find(1).insert, "x")
end)

test("a new record may have no fields or all of them", function()
  local Author = library()
  equal(Author().name, nil)
  equal(tostring(Author{}), "author{id = NULL, name = NULL, country = NULL, born = NULL, active = NULL}")
  for _, value in ipairs{ "x", 1, true } do matches(fails("argument", Author, value), "expected a table of columns") end
end)

test("from_row keeps additional values as fields that are never written", function()
  local Author = library()
  Author{ name = "Ada" }:insert()
  local author = Author.from_row(db:fetch_one("SELECT *, 7 AS books FROM author"))
  equal({ author.name, author.books }, { "Ada", 7 })
  author.books = nil
  equal(author.books, nil)
  author.books, author.name = 8, "A."
  author:update()
  equal(db:fetch_value("SELECT name FROM author"), "A.")
  equal(Author.from_row{ name = "x", other = 1 }.other, 1)
  fails("argument", Author.from_row, 1)
end)

test("a copy of a record is independent of the original", function()
  local Author = library()
  local author = Author{ name = "Ada" }:insert()
  local copy = author:copy()
  equal(copy == author, true)
  copy.name = "B"
  equal(author.name, "Ada")
  local inserted = Author{ name = "C" }:inserted()
  equal(inserted.id, 2)
end)

test("methods of a class are called with a colon", function()
  local Author = library()
  Author{ name = "Ada" }:insert()
  local row = db:fetch_one("SELECT * FROM author")
  equal(Author:from_row(row).name, Author.from_row(row).name)
  equal({ Author:draft{ name = "D" }.name, Author:draft().name }, { "D" })
  local record = Author{ name = "I" }
  equal({ Author:inserted(record).name, record.id }, { "I" })
  equal({ Author:inserted(db, { name = "J" }).name, Author:inserted({ name = "K" }, { returning = "name" }) }, { "J", "K" })
  equal({ Author.inserted(Author{ name = "L" }).name }, { "L" })
  fails("argument", function() Author:inserted(5) end)
  local Status = perilune.enum{ "draft", "sent" }
  equal({ Status:from("sent"), Status.from("sent"), Status:cases() }, { "sent", "sent", { "draft", "sent" } })
  fails("conversion", function() return Status:from("lost") end)
  fails("conversion", function() return Status:from() end)
  local Color = perilune.enum{ red = 0, white = 1 }
  equal({ Color:from(1).name, #Color:cases() }, { "white", 2 })
end)

test("inserted does not change the record itself", function()
  local Author = library()
  local author = Author{ name = "C" }
  local saved = author:inserted()
  equal(author.id, nil)
  equal(saved.id, 1)
end)

test("a class may be created before its table, and follows its schema", function()
  local Author = perilune.record("author")
  fails("unknown_table", Author.insert, Author, { name = "x" })
  db:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)")
  local author = Author{ name = "x" }:insert()
  fails("unknown_column", function() author.email = "e" end)
  db:execute("ALTER TABLE author ADD COLUMN email TEXT DEFAULT 'none'")
  author.email = "e"
  equal(Author:find(1).email, "none")
  author:update()
  equal(Author:find(1).email, "e")
  db:execute("ALTER TABLE author RENAME COLUMN name TO label")
  equal(Author:find(1).label, "x")
  fails("unknown_column", Author, { name = "x" })
  db:execute("DROP TABLE author")
  fails("unknown_table", Author.find, Author, 1)
end)

test("a record never overwrites a column that it has not read", function()
  local Author = library()
  Author{ name = "Ada", country = "UK" }:insert()
  local author = Author:find(1)
  db:execute("ALTER TABLE author ADD COLUMN email TEXT")
  db:execute("UPDATE author SET email = 'ada@example.org'")
  author.name = "A."
  author:update()
  equal(db:fetch_one("SELECT name, email FROM author"):to_table(), { name = "A.", email = "ada@example.org" })
  local part = Author:fetch_all("SELECT id, name FROM author")[1]
  part.name = "B."
  part:update()
  equal(db:fetch_one("SELECT name, country FROM author"):to_table(), { name = "B.", country = "UK" })
end)

test("schema changes of a rolled back transaction are forgotten", function()
  local Author = library()
  Author{ name = "x" }:insert()
  db:in_transaction(function(db)
    db:execute("ALTER TABLE author ADD COLUMN email TEXT")
    equal(Author:find(1).email, nil)
    return "rollback"
  end)
  fails("unknown_column", Author, { email = "x" })
  equal(tostring(Author:find(1)):find("email"), nil)
end)

test("invalid options of a record class are refused", function()
  matches(fails("unknown_option", perilune.record, "t", { primary_ky = "id" }), "did you mean")
  fails("argument", perilune.record, "t", { primary_key = 1 })
  fails("argument", perilune.record, "t", { primary_key = {} })
  fails("argument", perilune.record, "t", { track_changes = 1 })
  fails("argument", perilune.record, "t", { extra = 1 })
  fails("argument", perilune.record, "t", 1)
  fails("argument", perilune.record)
  fails("argument", perilune.record, "")
  fails("argument", perilune.record, "a\0b")
end)

test("unknown members of classes are errors with the nearest name", function()
  local Author = library()
  equal(fails("unknown_method", function() return Author.fetch_al end).suggestion, "fetch_all")
  fails("argument", function() Author[1] = function() end end)
end)

test("calling methods with a dot is an error", function()
  local Author = library()
  matches(fails("argument", Author.fetch_all), "before the colon")
  matches(fails("argument", Author.find, 1), "before the colon")
  matches(fails("argument", Author.insert, { name = "x" }), "before the colon")
  matches(fails("argument", Author{ name = "x" }.update), "before the colon")
end)

test("table and column names may contain quotes and be SQL keywords", function()
  db:execute([[CREATE TABLE "order ""by""" ("select" INTEGER PRIMARY KEY, "a ""b""" TEXT, "group" TEXT DEFAULT 'g')]])
  local T = perilune.record('ORDER "BY"')
  local record = T{ ['a "b"'] = "x" }:insert()
  equal({ record.select, record.group }, { 1, "g" })
  record['a "b"'] = "y"
  record:update()
  equal(T:find(1)['a "b"'], "y")
  equal(T:find(1):delete(), true)
end)

test("computed values of a boolean column are booleans in a record", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, is_read BOOLEAN)"
  for _, tracks in ipairs{ true, false } do
    local Item = perilune.record("item", { track_changes = tracks })
    db:execute "INSERT OR REPLACE INTO item VALUES (1, NULL)"
    local item = Item:fetch_all("SELECT id, coalesce(is_read, 0) AS is_read, 1 AS other FROM item")[1]
    equal(item.is_read, false)
    equal(item.other, 1)
    item:update()
    equal(db:fetch_value "SELECT typeof(is_read) || is_read FROM item", "integer0")
  end
end)

test("a record cannot be used as a key", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"
  local Item = perilune.record("item")
  local item = Item{ name = "a" }:insert()
  matches(fails("argument", Item.find, Item, item).message, "got a record")
  matches(fails("argument", Item.fetch_one, Item, item).message, "got a record")
end)

test("from_row refuses rows without column names", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"
  local Item = perilune.record("item")
  matches(fails("argument", Item.from_row, { 1, "a" }).message, "from_row: expected names of columns, got the integer 1")
  equal(Item.from_row{ id = 1, more = 2 }.more, 2)
end)

test("a method that is added to a class later is inherited by its extended classes", function()
  local Author = library()
  local Sub = Author:extend()
  equal(Sub:filter{ name = "a" }:fetch_count(), 0)
  function Author:filter() return "own" end
  equal(Sub:filter(), "own")
end)

test("fetch methods of an extended class accept SQL, statements and keys", function()
  local Author = library()
  local Sub = Author:extend()
  Author:insert_all{ { name = "a" }, { name = "b" } }
  equal(Sub:fetch_all("SELECT * FROM author WHERE name = ?", "b")[1].id, 2)
  equal(#Sub:fetch_all(db, "SELECT * FROM author WHERE name = ?", "b"), 1)
  fails("sql", Sub.fetch_all, Sub, db, "SELECT nonsense FROM author")
  for author in Sub:rows("SELECT * FROM author ORDER BY id DESC LIMIT 1") do equal(author.name, "b") end
  equal(Sub:fetch_one(db, 2).name, "b")
  equal(Sub:fetch_one(3), nil)
  equal(Sub:exists(2), true)
  equal(Sub:delete_all(), 2)
end)

test("fetch_one accepts SQL with arguments, and refuses SQL without arguments because it could be a key", function()
  local Author = library()
  Author:insert_all{ { name = "a" }, { name = "b" } }
  local sql = "SELECT * FROM author WHERE name = ?"
  equal(Author:fetch_one(db, sql, "b").id, 2)
  equal(Author:fetch_one(sql, "b").id, 2)
  equal(Author:fetch_one(sql, "c"), nil)
  equal(Author:fetch_one("SELECT * FROM author WHERE name = :name", { name = "a" }).id, 1)
  matches(fails("argument", Author.fetch_one, Author, db, "SELECT * FROM author"), "Class:from_sql(sql, ...):fetch_one()")
  equal(Author:from_sql("SELECT * FROM author ORDER BY id DESC"):fetch_one().id, 2)
end)

test("the error about a record of another class for the same table suggests sharing the class", function()
  local Author = library()
  local Twin = perilune.record("author")
  function Author:label() return self.name end
  local twin = Twin{ name = "a" }
  local cure = "each call of perilune.record(\"author\") creates one"
  matches(fails("argument", Author.insert, Author, twin), cure)
  matches(fails("unknown_column", function() twin:label() end), cure)
  matches(fails("argument", Author.delete, Author, Twin{ id = 1, name = "x" }), "`require`")
end)

test("names that SQLite distinguishes stay distinct, even if Unicode considers them equal", function()
  local nfc, nfd = "\u{e9}", "e\u{301}"
  db:execute(('CREATE TABLE "%s" (id INTEGER PRIMARY KEY, x TEXT, "%s" TEXT, "%s" TEXT)'):format(nfc, nfc, nfd))
  db:execute(('CREATE TABLE "%s" (id INTEGER PRIMARY KEY, y TEXT)'):format(nfd))
  db:execute('CREATE TABLE "Ö" (id INTEGER PRIMARY KEY, upper TEXT); CREATE TABLE "ö" (id INTEGER PRIMARY KEY, lower TEXT)')
  local Composed, Decomposed = perilune.record(nfc), perilune.record(nfd)
  Composed{ id = 1, x = "x", [nfc] = "one", [nfd] = "two" }:insert()
  Decomposed{ id = 1, y = "y" }:insert()
  equal(Composed:find(1).x, "x")
  equal(Decomposed:find(1).y, "y")
  equal(Composed:filter{ [nfc] = "one" }:select(nfd):fetch_value(), "two")
  perilune.record("Ö"){ upper = "u" }:insert()
  perilune.record("ö"){ lower = "l" }:insert()
  equal(perilune.record("Ö"):fetch_one().upper, "u")
  equal(perilune.record("ö"):fetch_one().lower, "l")
end)
