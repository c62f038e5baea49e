--- Mistakes in scripts: each raises a clear error and writes nothing.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born INTEGER);
  CREATE TABLE book (author_id INTEGER REFERENCES author, title TEXT, year INTEGER, PRIMARY KEY (author_id, title));
  CREATE TABLE reading (id INTEGER PRIMARY KEY, pages INT NOT NULL, note TEXT) STRICT;
  CREATE VIEW label AS SELECT id, name FROM author;
  INSERT INTO author VALUES (1, 'Ada', 'UK', 1815);
  INSERT INTO book VALUES (1, 'Notes', 1843)]]

local Author, Book = perilune.record "author", perilune.record "book"

--- Returns the entire stored data.
local function contents()
  return db:fetch_value[[
    SELECT (SELECT group_concat(id || name || coalesce(country, '-') || coalesce(born, '-')) FROM author) || '/'
      || (SELECT group_concat(author_id || title || coalesce(year, '-')) FROM book) || '/' || (SELECT count(*) FROM reading)]]
end

local before = contents()

--- Returns the error of a call that must not have written anything.
local function refused(kind, f, ...)
  local err = fails(kind, f, ...)
  equal(contents(), before)
  return err
end

test("records refuse unknown columns", function()
  local err = refused("unknown_column", Author, { nmae = "x" })
  equal({ err.table, err.name, err.suggestion }, { "author", "nmae", "name" })
  equal(err.message, "no column `nmae` in `author`; did you mean `name`? Available: born, country, id, name")
  local ada = Author:find(1)
  refused("unknown_column", function() ada.contry = "x" end)
  refused("unknown_column", function() return ada.contry end)
  refused("unknown_column", Author.insert, Author, { name = "x", contry = "y" })
  refused("unknown_column", Author.insert_all, Author, { { name = "x" }, { name = "y", contry = "z" } })
  refused("unknown_column", Author.upsert, Author, { id = 1, nmae = "x" })
  refused("unknown_column", Author.draft, { nmae = "x" })
  refused("unknown_column", ada.update_changes, ada, { contry = "x" })
  refused("unknown_column", ada.update_changes, ada, function(a) a.country = "y" a.contry = "x" end)
  equal(ada.country, "UK")
  refused("unknown_column", Author.fetch_one, Author, { nmae = "x" })
  refused("unknown_column", Author.insert, Author, { name = "x" }, { returning = "nmae" })
  refused("unknown_column", Author.upsert, Author, { id = 1, name = "x" }, { update = { "nmae" } })
end)

test("a table in place of a table name is refused", function()
  matches(fails("argument", perilune.record, { table = "author" }).message,
    'perilune.record: argument 1: expected the name of a table, got a table; use perilune.record("author", { ... })')
end)

test("inserting a record without its required columns is refused", function()
  local err = refused("constraint_not_null", Author.insert, Author, { country = "UK" })
  equal({ err.table, err.columns[1] }, { "author", "name" })
  local ada = Author:find(1)
  ada.name = nil
  refused("constraint_not_null", ada.update, ada)
  refused("constraint_not_null", ada.save, ada)
  refused("constraint_not_null", ada.update_changes, ada)
  refused("constraint_not_null", Author.insert_all, Author, { { name = "x" }, { country = "y" } })
  local Required = perilune.record("author", { required = true })
  equal(refused("validation", Required.insert, Required, {}).errors, { { column = "name", message = "is required" } })
end)

test("records refuse values of the wrong type", function()
  local err = refused("conversion", Author.insert, Author, { name = {} })
  equal({ err.table, err.column }, { "author", "name" })
  refused("conversion", Author.insert, Author, { name = print })
  refused("conversion", Author.insert, Author, { name = 0 / 0 })
  refused("conversion", Author.insert_all, Author, { { name = "x" }, { name = {} } })
  local ada = Author:find(1)
  ada.born = {}
  equal(refused("conversion", ada.update, ada).key, 1)
  equal(refused("conversion", ada.save, ada).column, "born")
  equal(refused("conversion", ada.update_changes, ada).column, "born")
  matches(refused("argument", Author.find, Author, print).message, "find: expected a key, got a function")
  local Reading = perilune.record("reading", { check_types = false })
  err = refused("constraint_datatype", Reading.insert, Reading, { pages = "many" })
  equal({ err.table, err.columns[1] }, { "reading", "pages" })
  local Typed = perilune.record("author", { types = { born = "integer" } })
  matches(refused("conversion", Typed.insert, Typed, { name = "x", born = 1.5 }).message, "expected an integer, got the float 1.5")
end)

test("a method with the name of a column is refused", function()
  local Early = perilune.record "author"
  function Early:name() return "x" end
  matches(refused("argument", Early.find, Early, 1).message, "the method `name` of the record class author has the same name as a column")
  Author:find(1)
  local err = refused("argument", function() function Author:name() end end)
  matches(err.message, "cannot have a method `name`: it is a column")
  local Late = perilune.record "book"
  function Late:pages() return 3 end
  db:execute "ALTER TABLE book ADD COLUMN pages INTEGER"
  matches(refused("argument", Late.fetch_all, Late).message, "the method `pages` of the record class book has the same name as a column")
end)

test("a record of another table is refused", function()
  local ada, notes = Author:find(1), Book:fetch_one()
  matches(refused("argument", Book.insert, Book, ada).message, "expected a record of book, got one of author")
  for _, verb in ipairs{ "update", "save", "upsert", "delete" } do refused("argument", Author[verb], Author, notes) end
  refused("argument", Author.insert_all, Author, { { name = "x" }, notes })
  refused("argument", Author.draft, notes)
  local _, err = pcall(Author.find, Author, notes)
  matches(err, "expected a key, got a record")
end)

test("an update without a row is an error", function()
  local ghost = Author{ id = 9, name = "x" }
  local err = refused("record_not_found", ghost.update, ghost)
  equal({ err.table, err.key, err.message }, { "author", 9, "no row of `author` has id = 9" })
  err = refused("record_not_found", Book.update, Book, { author_id = 1, title = "x" })
  equal({ err.table, err.key }, { "book", { author_id = 1, title = "x" } })
  refused("record_not_found", ghost.update_changes, ghost, { name = "y" })
  refused("record_not_found", ghost.refresh, ghost)
  refused("record_not_found", Author.find, Author, 9)
  refused("record_not_found", Book.find, Book, { author_id = 1, title = "x" })
  matches(refused("argument", Author.update, Author, { name = "x" }).message, "no value for the key (id) of `author`")
end)

test("a single value for a composite key is refused", function()
  local err = refused("argument", Book.find, Book, 1)
  matches(err.message, "the key of `book` has several columns; pass a table with author_id, title")
  refused("argument", Book.fetch_one, Book, "Notes")
  refused("argument", Book.delete_one, Book, 1)
  matches(refused("argument", Book.find, Book, { author_id = 1 }).message, "(author_id, title)")
  refused("argument", Book.update, Book, { author_id = 1, year = 2 })
end)

test("writing a view is refused", function()
  local Label = perilune.record "label"
  local label = Label:fetch_one()
  equal(label.name, "Ada")
  for _, f in ipairs{
    function() Label:insert{ id = 2, name = "x" } end,
    function() Label:insert_all{ { id = 2, name = "x" } } end,
    function() label.name = "x" label:update() end,
    function() label:update_changes{ name = "y" } end,
    function() label:save() end,
    function() label:delete() end,
    function() Label:delete_all() end,
  } do
    matches(refused("sql", f).message, "cannot modify label because it is a view")
  end
  matches(refused("argument", Label.upsert, Label, { id = 1 }).message, "a view has no keys")
end)

test("SQL instead of a key, a list instead of a record, and a record instead of a value are refused", function()
  for _, sql in ipairs{ "SELECT * FROM author", " select id from author where 1", "WITH a AS (SELECT 1) SELECT * FROM a" } do
    matches(refused("argument", Author.fetch_one, Author, sql).message, "fetch_one: expected a key, got SQL; use Class:from_sql")
    matches(refused("argument", Author.find, Author, sql).message, "find: expected a key, got SQL")
  end
  equal(Author:fetch_one "with love", nil)
  refused("record_not_found", Author.find, Author, "selection")
  matches(refused("argument", Author.insert, Author, { { name = "x" } }).message, "got a list; use insert_all for lists")
  matches(refused("argument", Author.update, Author, { { name = "x" } }).message, "expected one record of author")
  local ada = Author:find(1)
  matches(refused("argument", db.fetch_one, db, "SELECT * FROM author WHERE id = ?", ada).message,
    "a record is not a value; pass one of its fields")
end)

test("unknown methods of classes and records are refused", function()
  equal(refused("unknown_method", function() Author:fetchall() end).suggestion, "fetch_all")
  equal(refused("unknown_method", function() Author:filtr{} end).suggestion, "filter")
  equal(refused("unknown_column", function() Author:find(1):updat() end).suggestion, "update")
  matches(refused("unknown_option", Author.insert, Author, { name = "x" }, { on_confict = "ignore" }).message,
    "did you mean `on_conflict`? Available: on_conflict, returning")
end)

test("an empty insert uses defaults and checks required columns", function()
  equal(refused("constraint_not_null", Author.insert, Author, {}).columns, { "name" })
  equal(Author:insert_all{}, {})
  refused("argument", Author.insert, Author)
  refused("argument", Author.insert, Author, nil)
  refused("argument", Author.insert_all, Author)
  refused("argument", Author.insert_all, Author, { name = "x" })
  db:execute "CREATE TABLE entry (id INTEGER PRIMARY KEY, note TEXT DEFAULT 'x')"
  equal(perilune.record "entry":insert{}.note, "x")
end)

test("table and column names may contain quotes and be SQL keywords", function()
  db:execute[[
    CREATE TABLE "group ""by""" ("order" INTEGER PRIMARY KEY, "a""b" TEXT, "select" TEXT DEFAULT 'd', "x'y" TEXT)]]
  local Odd = perilune.record 'group "by"'
  local odd = Odd{ ['a"b'] = "1", ["x'y"] = "'" }:insert()
  equal({ odd.order, odd["a\"b"], odd.select, odd["x'y"] }, { 1, "1", "d", "'" })
  odd["select"] = "x"
  equal(odd:update_changes(), true)
  odd:update()
  odd:save()
  odd:upsert{ update = { ['a"b'] = "2" } }
  equal({ Odd:find(1)['a"b'], Odd:find{ order = 1 }.select, Odd:fetch_count() }, { "2", "x", 1 })
  equal(Odd:insert_all{ { select = "y" }, { ["x'y"] = "z" } }[2].order, 3)
  equal(Odd:filter{ ['a"b'] = "2" }:fetch_one()["x'y"], "'")
  equal(odd:delete(), true)
  local err = fails("unknown_column", Odd, { ['a"c'] = 1 })
  equal({ err.table, err.suggestion }, { 'group "by"', 'a"b' })
  for _, name in ipairs{ "", "a\0b", "\xff" } do fails("argument", perilune.record, name) end
end)

test("a record class may have two thousand columns", function()
  local names = {}
  for index = 1, 2000 do names[index] = "c" .. index .. (index == 1 and " INTEGER PRIMARY KEY" or "") end
  db:execute("CREATE TABLE wide (" .. table.concat(names, ", ", 1, 2000) .. ")")
  local Wide = perilune.record "wide"
  local fields = {}
  for index = 2, 2000 do fields["c" .. index] = index end
  local wide = Wide(fields):insert()
  wide.c2000 = "last"
  equal(wide:update_changes(), true)
  wide:update()
  equal({ Wide:find(1).c2000, Wide:find(1).c1999 }, { "last", 1999 })
  equal(#Wide:insert_all{ fields, fields }, 2)
  equal(wide:upsert().c2, 2)
  local err = fails("unknown_column", function() return wide.c2001 end)
  equal(#err.message < 400, true)
end)

test("a hook that endlessly writes its own record is stopped", function()
  local Loop = perilune.record "author"
  function Loop:will_update() self:update() end
  local ada = Loop:find(1)
  ada.name = "x"
  matches(refused("hook", ada.update, ada).message, "does a hook write its own record?")
  function Loop:did_insert() Loop{ name = self.name .. "+" }:insert() end
  refused("hook", Loop.insert, Loop, { name = "x" })
end)

test("a key that is not an integer is refused as a row id", function()
  local Loose = perilune.record("author", { check_types = false })
  for _, insert in ipairs{ Author.insert, Author.upsert, function(class, values) return class:insert_all{ values } end } do
    matches(refused("conversion", insert, Author, { id = "one", name = "x" }).message, 'expected an integer, got the string "one"')
    local err = refused("mismatch", insert, Loose, { id = "one", name = "x" })
    equal({ err.table, err.columns, err.key }, { "author", { "id" }, "one" })
    matches(err.message, '`author`.`id` accepts only integers, got the string "one"')
  end
end)

test("invalid lists of keys are refused", function()
  equal(Author:find{}, {})
  matches(fails("argument", Author.find, Author, { 1, nil, 3 }).message, "the list of keys has no element 2")
  local holes = { 1 }
  holes[3] = 3
  for _, list in ipairs{ { 1, nil, 3 }, holes } do
    fails("argument", Author.find, Author, list)
    fails("argument", Author.filter_key, Author, list)
    fails("argument", Author.filter, Author, { id = list })
    fails("argument", Author.c.id.is_in, Author.c.id, list)
  end
  matches(fails("argument", Author.find, Author, { 1, name = "x" }).message, 'a field the string "name"')
  local draft = Author.draft{ id = 1 }
  matches(fails("argument", Author.find, Author, draft).message, "find: expected a key, got a draft")
  matches(fails("argument", Author.fetch_one, Author, draft).message, "fetch_one: expected a key, got a draft")
  local err = refused("argument", Author.delete_one, Author, { country = "UK" })
  matches(err.message, "delete_one: the given columns are not a unique key")
end)

test("error messages name the called method", function()
  db:execute "CREATE TABLE plain (a)"
  local Plain = perilune.record "plain"
  local plain = Plain{ a = 1 }:insert()
  matches(fails("argument", plain.update_changes, plain, { a = 2 }).message, "update_changes: `plain` has no primary key")
  db:execute "DROP TABLE plain"
end)

test("methods whose names are also columns are callable through the class", function()
  db:execute "CREATE TABLE log (id INTEGER PRIMARY KEY, changes TEXT, has_changes TEXT, update_changes TEXT)"
  local Log = perilune.record "log"
  local log = Log:insert{ changes = "a" }
  log.changes = "b"
  equal({ Log:has_changes(log), Log.has_changes(log), Log:changes(log).changes.old }, { true, true, "a" })
  equal({ Log:update_changes(log), Log.update_changes(log) }, { true, false })
  matches(fails("argument", Log.changes, Log, 5).message, "changes: expected a record before the colon (record:changes(...)), got the integer 5")
  db:execute "DROP TABLE log"
end)
