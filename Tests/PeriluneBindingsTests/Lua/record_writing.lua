--- Writing records with every method in every kind of table.

local function library()
  db:execute[[
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born INTEGER DEFAULT 1800, active BOOLEAN)]]
  return perilune.record("author")
end

local function count(table_name)
  return db:fetch_value('SELECT COUNT(*) FROM "' .. table_name .. '"')
end

test("insert writes the columns that the record has, including a given key", function()
  local Author = library()
  local author = Author:insert{ id = 7, name = "Ada", active = true }
  equal(Author:is(author), true)
  equal(author.id, 7)
  equal(db:fetch_one("SELECT * FROM author"):to_table(),
    { id = 7, name = "Ada", country = perilune.null, born = 1800, active = true })
end)

test("perilune.null writes NULL instead of a default and is nil afterwards", function()
  local Author = library()
  local author = Author{ name = "Ada", born = perilune.null }:insert()
  equal(rawget(author, "born"), nil)
  equal(db:fetch_value("SELECT born FROM author"), nil)
  author.country = perilune.null
  author:update()
  equal(rawget(author, "country"), nil)
end)

test("a missing NOT NULL column is an error that names it, and nothing is written", function()
  local Author = library()
  local author = Author{ country = "UK" }
  local err = fails("constraint_not_null", author.insert, author)
  equal(err.columns[1], "name")
  equal(count("author"), 0)
  equal(author.id, nil)
end)

test("a record without values inserts defaults", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a DEFAULT 5, b)")
  local T = perilune.record("t")
  local record = T():insert()
  equal({ record.id, record.a, record.b }, { 1, 5 })
end)

test("generated columns are read back and never written", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER AS (a * 2) STORED, c INTEGER AS (a * 3))")
  local T = perilune.record("t")
  local record = T{ a = 2 }:insert()
  equal({ record.a, record.b, record.c }, { 2, 4, 6 })
  record.a = 3
  record:update()
  equal({ record.b, record.c }, { 6, 9 })
  equal(T:find(1) == record, true)
end)

test("save inserts without a key or row, and updates otherwise", function()
  local Author = library()
  local author = Author{ name = "Ada" }
  equal(author:save() == author, true)
  author.name = "B"
  author:save()
  equal(count("author"), 1)
  equal(Author:find(1).name, "B")
  Author{ id = 9, name = "C" }:save()
  equal(Author:find(9).name, "C")
end)

test("delete returns whether the row existed", function()
  local Author = library()
  local author = Author{ name = "Ada" }:insert()
  equal({ author:delete(), author:delete() }, { true, false })
  equal({ Author:delete_one(1), Author:delete_one(nil) }, { false, false })
  Author{ name = "B" }:insert()
  equal(Author:delete_one(1), true)
end)

test("exists checks the key, and a record without a key has no row", function()
  local Author = library()
  local author = Author{ name = "Ada" }
  equal(author:exists(), false)
  author:insert()
  equal({ author:exists(), Author:exists(1), Author:exists(2), Author:exists(nil) }, { true, true, false, false })
end)

test("refresh rereads the row", function()
  local Author = library()
  local author = Author{ name = "Ada", country = "UK" }:insert()
  db:execute("UPDATE author SET name = 'B', country = NULL")
  equal(author:refresh() == author, true)
  equal({ author.name, author.country }, { "B" })
  db:execute("DELETE FROM author")
  equal(fails("record_not_found", author.refresh, author).key, 1)
  matches(fails("argument", function() Author{ name = "x" }:refresh() end), "no value for the key")
end)

test("records with composite keys can be written", function()
  db:execute("CREATE TABLE enrolment (course INTEGER, student TEXT, grade REAL, PRIMARY KEY (course, student))")
  local Enrolment = perilune.record("enrolment")
  local one = Enrolment{ course = 1, student = "ann", grade = 1.5 }:insert()
  one.grade = 2.0
  one:update()
  equal(Enrolment:find{ course = 1, student = "ann" }.grade, 2.0)
  equal(Enrolment:fetch_one{ course = 2, student = "ann" }, nil)
  matches(fails("argument", Enrolment.find, Enrolment, 1), "several columns; pass a table with course, student")
  matches(fails("argument", Enrolment.fetch_one, Enrolment, 1), "several columns")
  matches(fails("argument", Enrolment.find, Enrolment, { course = 1 }), "unique keys are: (course, student)")
  local err = fails("record_not_found", function() Enrolment{ course = 3, student = "x" }:update() end)
  equal(err.key, { course = 3, student = "x" })
  matches(err, 'course = 3, student = "x"')
  equal({ one:exists(), one:delete(), one:exists() }, { true, true, false })
end)

test("text keys and tables without row ids work", function()
  db:execute("CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID")
  local Country = perilune.record("country")
  local france = Country{ code = "fr", name = "France" }:insert()
  equal(france.code, "fr")
  equal(Country:find("fr").name, "France")
  france.name = "F"
  france:save()
  equal(Country:find("fr").name, "F")
  Country{ code = "de", name = "D" }:save()
  equal(Country:fetch_count(), 2)
end)

test("updating a table with only key columns checks for the row", function()
  db:execute("CREATE TABLE tag (a TEXT, b TEXT, PRIMARY KEY (a, b))")
  local Tag = perilune.record("tag")
  local tag = Tag{ a = "x", b = "y" }:insert()
  equal(tag:update() == tag, true)
  fails("record_not_found", function() Tag{ a = "x", b = "z" }:update() end)
  tag:save()
  equal(count("tag"), 1)
end)

test("records without a key can be inserted, and update and delete report the missing key", function()
  db:execute("CREATE TABLE log (line TEXT)")
  local Log = perilune.record("log")
  local line = Log{ line = "x" }:insert()
  for _, verb in ipairs{ "update", "delete", "exists" } do
    matches(fails("argument", line[verb], line), "`log` has no primary key")
  end
  line:save()
  equal(count("log"), 2)
end)

test("a class can name the key of a table without one", function()
  db:execute("CREATE TABLE log (number INTEGER, line TEXT)")
  local Log = perilune.record("log", { primary_key = "number" })
  local line = Log{ number = 5, line = "x" }:insert()
  line.line = "y"
  line:update()
  equal(Log:find(5).line, "y")
  equal(perilune.record("log", { primary_key = { "number", "line" } }):find{ number = 5, line = "y" }.line, "y")
  fails("unknown_column", function() perilune.record("log", { primary_key = "nmber" }):fetch_all() end)
end)

test("a column called id is the key if the table has none", function()
  db:execute("CREATE TABLE a (id INTEGER, x); CREATE VIEW v AS SELECT * FROM a")
  perilune.record("a"){ id = 3, x = "x" }:insert()
  equal(perilune.record("v"):find(3).x, "x")
end)

test("views can be read, and the error of a write to one has the reason", function()
  local Author = library()
  Author{ name = "Ada" }:insert()
  db:execute("CREATE VIEW person AS SELECT id, name FROM author")
  local Person = perilune.record("person")
  local person = Person:find(1)
  equal(person.name, "Ada")
  matches(fails("sql", person.update, person), "cannot modify person because it is a view")
  matches(fails("sql", person.insert, person), "cannot modify person because it is a view")
  fails("sql", person.delete, person)
end)

test("views with triggers can be written", function()
  local Author = library()
  db:execute[[
    CREATE VIEW person AS SELECT id, name FROM author;
    CREATE TRIGGER person_insert INSTEAD OF INSERT ON person BEGIN INSERT INTO author (name) VALUES (NEW.name); END;
    CREATE TRIGGER person_update INSTEAD OF UPDATE ON person BEGIN UPDATE author SET name = NEW.name WHERE id = NEW.id; END]]
  local Person = perilune.record("person")
  Person{ name = "Ada" }:insert()
  local person = Person:find(1)
  person.name = "B"
  person:update()
  equal(Author:find(1).name, "B")
end)

test("a REPLACE clause in the table gives the new row id", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT REPLACE)")
  local T = perilune.record("t")
  equal(T{ name = "x" }:insert().id, 1)
  equal(T{ name = "y" }:insert().id, 2)
  equal(T{ name = "x" }:insert().id, 3)
  equal(count("t"), 2)
end)

test("an IGNORE clause in the table leaves the key unset", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE)")
  local T = perilune.record("t")
  T{ name = "x" }:insert()
  local again = T{ name = "x" }
  equal({ again:insert(), again.id }, { false })
end)

test("strings in BLOB columns are stored as blobs, and booleans as 0 and 1", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB, flag BOOLEAN, text TEXT)")
  local T = perilune.record("t")
  T{ data = "a\0b", flag = false, text = "t" }:insert()
  equal(db:fetch_one("SELECT typeof(data) AS a, typeof(flag) AS b, typeof(text) AS c, flag + 0 AS d FROM t"):to_table(),
    { a = "blob", b = "integer", c = "text", d = 0 })
  equal({ T:find(1).data, T:find(1).flag }, { "a\0b", false })
  db:execute("CREATE TABLE k (id BLOB PRIMARY KEY, x)")
  local K = perilune.record("k")
  local k = K{ id = "\1\2", x = 1 }:insert()
  equal({ K:find("\1\2").x, k:exists(), K:fetch_one{ id = "\1\2" } ~= nil }, { 1, true, true })
end)

test("dates, enum cases and blobs are written as bound values", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, day TEXT, colour INTEGER, data)")
  local T, Colour = perilune.record("t"), perilune.enum{ red = 4 }
  T{ day = perilune.date("2024-05-06"), colour = Colour.red, data = perilune.blob("x") }:insert()
  equal(db:fetch_one("SELECT day, colour, typeof(data) AS kind FROM t"):to_table(),
    { day = "2024-05-06 00:00:00.000", colour = 4, kind = "blob" })
end)

test("values that cannot be stored are reported with the column, and nothing is written", function()
  local Author = library()
  for _, value in ipairs{ {}, print, coroutine.create(print), 0 / 0 } do
    local author = Author{ name = "x", country = value }
    matches(fails("conversion", author.insert, author), "`author`.`country`: expected a ")
  end
  equal(count("author"), 0)
  local author = Author{ name = "x" }:insert()
  author.country = {}
  matches(fails("conversion", author.update, author), "`author`.`country` (row with `id` 1): expected a ")
  local failing = setmetatable({}, { __to_database = function() error("no") end })
  author.country = failing
  matches(fails(nil, author.update, author), "no")
  author.country = nil
  author:update()
end)

test("insert_all inserts records and tables in order and returns the records", function()
  local Author = library()
  local ada = Author{ name = "Ada" }
  local list = Author:insert_all{ ada, { name = "B", born = 1 }, { id = 9, name = "C" } }
  equal(list[1] == ada, true)
  equal({ list[1].id, list[2].id, list[3].id, list[1].born }, { 1, 2, 9, 1800 })
  equal(#Author:insert_all{}, 0)
end)

test("insert_all inserts everything or nothing", function()
  local Author = library()
  fails("constraint_not_null", Author.insert_all, Author, { { name = "a" }, { country = "x" } })
  equal(count("author"), 0)
  db:write(function()
    Author{ name = "kept" }:insert()
    fails("constraint_not_null", Author.insert_all, Author, { { name = "a" }, { country = "x" } })
    equal(count("author"), 1)
  end)
  equal(count("author"), 1)
  matches(fails("argument", Author.insert_all, Author, { { name = "a" }, 1 }), "insert_all: element 2")
  fails("unknown_column", Author.insert_all, Author, { { name = "a" }, { nmae = "b" } })
  equal(count("author"), 1)
end)

test("insert_all accepts long lists", function()
  local Author = library()
  local list = {}
  for i = 1, 10000 do list[i] = { name = "n" .. i } end
  local inserted = Author:insert_all(list)
  equal({ #inserted, inserted[10000].id, count("author") }, { 10000, 10000, 10000 })
end)

test("delete_all returns the number of deleted rows", function()
  local Author = library()
  Author:insert_all{ { name = "a" }, { name = "b" } }
  equal({ Author:delete_all(), Author:delete_all() }, { 2, 0 })
end)

test("record methods use the given database for all their statements", function()
  local Author = library()
  local other = perilune.queue()
  other:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, other TEXT)")
  local author = Author:insert(other, { name = "x" })
  equal(count("author"), 0)
  equal(author:exists(other), true)
  author.name = "y"
  author:update(other)
  author:save(other)
  equal(Author:find(other, 1).name, "y")
  equal(Author:fetch_count(other), 1)
  equal(#Author:fetch_all(other), 1)
  equal(author:delete(other), true)
  equal(#Author:insert_all(other, { { name = "z", other = "o" } }), 1)
  other:write(function(handle)
    equal(Author:fetch_count(), 1)
    equal(Author:fetch_one(handle, 1).other, "o")
  end)
  equal(Author:delete_all(other), 1)
  other:close()
end)

test("a record can be written to another database only if its fields are columns there", function()
  local Author = library()
  local other = perilune.queue()
  other:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)")
  equal(Author{ name = "x" }:insert(other).id, 1)
  local author = Author{ name = "x", country = "UK" }
  fails("unknown_column", author.insert, author, other)
end)

test("writing to another database refuses values for columns that it lacks", function()
  local Author = library()
  local other = perilune.queue()
  other:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)")
  Author{ name = "x", country = "UK" }:insert()
  local values = { name = "y", country = "UK" }
  local function refuses(...) matches(fails("unknown_column", ...).message, "country") end
  refuses(Author.insert_all, Author, other, { values })
  refuses(Author.insert_all, Author, other, { Author(values) })
  refuses(Author.insert, Author, other, values)
  other:write(function(handle)
    refuses(function() Author(values):insert() end)
    refuses(function() Author(values):upsert() end)
    refuses(Author.insert_all, Author, { { name = "z" }, values })
    equal(Author:fetch_count(), 0)
    equal(#Author:insert_all{ { name = "z" } }, 1)
    local author = Author:fetch_one()
    author.country = "UK"
    refuses(author.update, author)
  end)
  equal(count("author"), 1)
end)

test("writes of records follow the rules of the block", function()
  local Author = library()
  local author = Author{ name = "x" }
  fails("readonly", function() db:read(function() author:insert() end) end)
  local dead
  db:write(function(handle) dead = handle end)
  fails("dead_handle", author.insert, author, dead)
  fails("dead_handle", Author.find, Author, dead, 1)
  fails("dead_handle", Author.fetch_all, Author, dead)
  fails(nil, function() db:write(function() author:insert() error("x") end) end)
  equal(count("author"), 0)
end)

test("invalid options of record methods are refused", function()
  local Author = library()
  local author = Author{ name = "x" }
  fails("unknown_option", author.update, author, { on_conflic = "ignore" })
  fails("unknown_option", Author.insert_all, Author, {}, { x = 1 })
  fails("argument", author.insert, author, 1)
  fails("argument", author.insert, author, {}, {})
  fails("argument", Author.insert, Author)
  fails("argument", Author.insert, Author, "x")
  fails("argument", Author.insert_all, Author)
  fails("argument", Author.insert_all, Author, author)
end)

test("tables may have two thousand columns", function()
  local names, values = {}, {}
  for i = 1, 1999 do names[i] = "c" .. i end
  db:execute("CREATE TABLE wide (id INTEGER PRIMARY KEY, " .. table.concat(names, ", ") .. ")")
  local Wide = perilune.record("wide")
  for i = 1, 1999 do values[names[i]] = ("x"):rep(i % 60) end
  local record = Wide(values):insert()
  record.c1999 = nil
  record:update()
  local found = Wide:find(1)
  equal({ #found.c1998, found.c1999 }, { 1998 % 60 })
  equal(found == record, true)
  equal(#Wide:fetch_all(), 1)
end)

test("records can be table keys and fields of other records", function()
  local Author = library()
  local author = Author{ name = "x" }
  local set = { [author] = true }
  author:insert()
  equal(set[author], true)
end)

test("an overridden method can call the class's own", function()
  local Author = library()
  local insert = Author.insert
  function Author:insert(...)
    if self == Author then return insert(self, ...) end
    self.country = self.country or "unknown"
    return insert(self, ...)
  end
  equal(Author{ name = "x" }:insert().country, "unknown")
  function Author.find(class, key) return class:fetch_one(key) or "none" end
  equal(Author:find(7), "none")
end)

test("a record can be written after a failed write", function()
  local Author = library()
  db:write(function()
    for i = 1, 20 do
      local author = Author{ id = 1, name = "x" }
      if i == 1 then author:insert() else fails("constraint_primary_key", author.insert, author) end
    end
  end)
  equal(count("author"), 1)
end)

test("a failing collation undoes the writes of a record", function()
  db:add_collation("bad", function(a, b) error("no") end)
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE bad UNIQUE)")
  local T = perilune.record("t")
  T{ name = "a" }:insert()
  matches(fails(nil, function() T{ name = "b" }:insert() end), "no")
  fails(nil, function() T:insert_all{ { name = "c" } } end)
  equal(count("t"), 1)
end)
test("insert_all of a long list handles missing and given keys, NULLs and defaults", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB, c BOOLEAN, d INTEGER DEFAULT 5)")
  local T = perilune.record("t")
  local function list(count, with)
    local made = {}
    for i = 1, count do made[i] = T(with(i)) end
    return made
  end
  local inserted = T:insert_all(list(500, function(i)
    return { a = i % 3 ~= 0 and "a" .. i or nil, b = i % 5 == 0 and "b\0" or nil, c = i % 2 == 0, d = i }
  end))
  for i, record in ipairs(inserted) do
    equal(record.id, i)
    equal(record == T:find(i), true)
  end
  equal(db:fetch_value("SELECT COUNT(*) FROM t WHERE typeof(b) = 'blob' AND a IS NOT NULL"), 67)
  T:insert_all(list(300, function(i) return { id = 10000 - i, a = i % 2 == 0 and "x" or perilune.null, d = i } end))
  equal(db:fetch_value("SELECT a FROM t WHERE id = 9998"), "x")
  local filled = T:insert_all(list(200, function(i) return i % 7 == 0 and { a = "y", d = i } or { a = "y" } end))
  equal({ filled[1].d, filled[7].d, filled[200].id, filled[200].d }, { 5, 7, 10199, 5 })
  equal(count("t"), 1000)
end)

test("insert_all of long lists works in tables with triggers and conflict clauses", function()
  db:execute[[
    CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE);
    CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TRIGGER u_insert AFTER INSERT ON u WHEN NEW.name <> 'twin' BEGIN INSERT INTO u (name) VALUES ('twin'); END]]
  local T, U, names, others = perilune.record("t"), perilune.record("u"), {}, {}
  for i = 1, 300 do
    names[i], others[i] = { name = "n" .. i % 100 }, { name = "n" .. i }
  end
  local inserted = T:insert_all(names)
  equal({ count("t"), inserted[100].id, inserted[101].id }, { 100, 100 })
  for _, record in ipairs(U:insert_all(others)) do equal(record:refresh().name ~= "twin", true) end
  equal(count("u"), 600)
end)

test("records in a failed list are unchanged", function()
  local Author = library()
  local list = {}
  for i = 1, 300 do list[i] = Author{ name = "n" .. i, born = i % 2 == 0 and i or nil, country = perilune.null } end
  list[250].name = nil
  fails("constraint_not_null", Author.insert_all, Author, list)
  equal({ rawget(list[1], "id"), rawget(list[1], "born"), rawget(list[200], "id") }, {})
  equal(list[1].country, nil)
  equal(list[1]:has_changes(), true)
  equal(count("author"), 0)
  list[250].name = "n"
  equal(Author:insert_all(list)[300].id, 300)
end)

test("a trigger that is created after the first write applies", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE log (x)")
  local T, list = perilune.record("t"), {}
  for i = 1, 200 do list[i] = { a = i } end
  T:insert_all(list)
  db:execute("CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN INSERT INTO t SELECT NEW.id + 100000, 0 WHERE NEW.id < 1000; END")
  local inserted = T:insert_all(list)
  equal({ inserted[1].id, T:find(inserted[200].id).a }, { 201, 200 })
end)

test("insert_all accepts records of extended classes", function()
  local Author = library()
  local Sub = Author:extend()
  local inserted = Author:insert_all{ Sub{ name = "a" }, { name = "b" } }
  equal({ Sub:is(inserted[1]), Sub:is(inserted[2]), inserted[2].id }, { true, false, 2 })
end)

test("insert_all of long lists accepts a mix of records with and without keys", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (50000, 0)")
  local T, list = perilune.record("t"), {}
  for i = 1, 1000 do
    local kind = i // 100 % 3
    list[i] = T{ id = kind == 0 and 20000 - i or kind == 1 and tostring(i) or nil, a = i }
  end
  for i, record in ipairs(T:insert_all(list)) do
    equal(math.type(record.id), "integer")
    equal(T:find(record.id).a, i)
  end
  equal(count("t"), 1001)
end)

test("insert_all works if row ids are exhausted", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (9223372036854775807, 0)")
  local T, list = perilune.record("t"), {}
  for i = 1, 200 do list[i] = T{ a = i } end
  for i, record in ipairs(T:insert_all(list)) do equal(T:find(record.id).a, i) end
end)

test("insert_all accepts only lists without gaps", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, made DATE)"
  db:execute "CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT)"
  for _, name in ipairs{ "item", "plain" } do
    local Item = perilune.record(name)
    local gap, later = { { name = "a" }, nil, { name = "c" } }, { { name = "a" } }
    later[5] = { name = "e" }
    matches(fails("argument", Item.insert_all, Item, { name = "a" }).message, "use {{ column = value }}")
    matches(fails("argument", Item.insert_all, Item, gap).message, "element 2")
    fails("argument", Item.insert_all, Item, later)
    equal(Item:fetch_count(), 0)
    equal(#Item:insert_all(table.pack({ name = "a" }, { name = "b" })), 2)
    local backwards = {}
    for position = 10, 1, -1 do backwards[position] = { name = "b" } end
    equal(#Item:insert_all(backwards), 10)
  end
end)
