--- Change tracking, and update_changes.

local function make_author(options)
  db:execute[[CREATE TABLE author (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, score REAL, is_alive BOOLEAN, born DATETIME, settings TEXT, any)]]
  return perilune.record("author", options)
end

--- Returns the columns of `author` that SQLite writes while f runs: a trigger for each column records its name.
local function written_columns(f)
  db:execute[[
    CREATE TABLE IF NOT EXISTS written (name TEXT);
    CREATE TEMP TRIGGER IF NOT EXISTS name_written UPDATE OF name ON author BEGIN INSERT INTO written VALUES ('name'); END;
    CREATE TEMP TRIGGER IF NOT EXISTS age_written UPDATE OF age ON author BEGIN INSERT INTO written VALUES ('age'); END;
    CREATE TEMP TRIGGER IF NOT EXISTS score_written UPDATE OF score ON author BEGIN INSERT INTO written VALUES ('score'); END;
    DELETE FROM written]]
  f()
  return db:fetch_values "SELECT name FROM written ORDER BY name"
end

test("errors about requests from SQL list the supported methods", function()
  db:execute("CREATE TABLE plain (id INTEGER PRIMARY KEY)")
  local found = perilune.record("plain"):from_sql("SELECT * FROM plain")
  matches(fails("unknown_method", function() return found:order("id") end), "fetch_all, fetch_count, fetch_one, rows")
  for _, method in ipairs{ "fetch_all", "fetch_one", "fetch_count", "rows" } do
    matches(fails("argument", function() found[method](found, 5) end), "expected a database")
  end
end)

test("a new record has changes in all its columns", function()
  local Author = make_author()
  equal(Author{}:has_changes(), true)
  equal(Author{}:changes(), {})
  local author = Author{ name = "Ann", age = 41 }
  equal(author:has_changes(), true)
  equal(author:changes(), { name = { new = "Ann" }, age = { new = 41 } })
end)

test("insert, update, save, refresh and a fetch reset the changes of a record", function()
  local Author = make_author()
  local author = Author{ name = "Ann" }
  author:insert()
  equal(author:has_changes(), false)
  author.age = 41
  equal({ author:has_changes(), author:changes() }, { true, { age = { new = 41 } } })
  author:update()
  equal({ author:has_changes(), author:changes() }, { false, {} })
  author.age = 42
  equal(author:changes(), { age = { old = 41, new = 42 } })
  author:save()
  equal(author:has_changes(), false)
  author.age = nil
  equal(author:changes(), { age = { old = 42 } })
  author:refresh()
  equal({ author.age, author:has_changes() }, { 42, false })
  author.age = 1
  author:upsert()
  equal(author:has_changes(), false)
  equal(Author:find(author.id):has_changes(), false)
  equal(Author:fetch_all()[1]:has_changes(), false)
  equal(Author:from_sql("SELECT *, 1 AS extra FROM author"):fetch_one():has_changes(), false)
end)

test("a deleted record has changes again", function()
  local Author = make_author()
  local author = Author{ name = "Ann" }
  author:insert()
  author:delete()
  equal(author:has_changes(), true)
  equal(author:changes(), { id = { new = 1 }, name = { new = "Ann" } })
end)

test("assigning the same value is not a change", function()
  local Author = make_author()
  local author = Author{ name = "Ann", age = 41, score = 1.5, is_alive = true, born = perilune.date "1999-12-31" }
  author:insert()
  author.name, author.age, author.score, author.is_alive = author.name, author.age, author.score, author.is_alive
  author.born = perilune.date "1999-12-31 00:00"
  equal(author:changes(), {})
  author = Author:find(author.id)
  author.age, author.score, author.is_alive = 41.0, 1.5, true
  author.born = perilune.date "1999-12-31 01:00+01:00"
  author.settings = perilune.null
  equal(author:changes(), {})
  author.score, author.age = 2, 41
  author:update()
  author.score = 2.0
  equal(author:has_changes(), false)
  author.age = 42.0
  equal(author:changes(), { age = { old = 41, new = 42.0 } })
end)

test("changes compare values in their stored form", function()
  local Author = make_author()
  local author = Author{ name = 12, age = "7", score = "2.5", any = "7" }
  author:insert()
  author = Author:find(1)
  equal({ author.name, author.age, author.score, author.any }, { "12", 7, 2.5, "7" })
  author.name, author.age, author.score, author.any = 12, "7", "2.5", 7
  equal(author:changes(), { any = { old = "7", new = 7 } })
  author.age = "seven"
  equal(author:changes().age, { old = 7, new = "seven" })
end)

test("changes compare dates by instant, not by format", function()
  local Author = make_author()
  db:execute "INSERT INTO author (name, born) VALUES ('Ann', '1999-12-31T10:00Z')"
  local author = Author:find(1)
  author.born = perilune.date "1999-12-31 10:00:00"
  equal(author:has_changes(), false)
  equal(author:update_changes(function(a) a.age = 3 end), true)
  equal(db:fetch_value "SELECT born FROM author", "1999-12-31T10:00Z")
  author.born = author.born + 1
  equal(author:changes(), { born = { old = perilune.date "1999-12-31 10:00", new = perilune.date "1999-12-31 10:00:01" } })
end)

test("changes compare JSON columns by content, even if a table was modified in place", function()
  local Author = make_author{ types = { settings = "json" } }
  db:execute [[INSERT INTO author (name, settings) VALUES ('Ann', '{ "b" : [1, 2], "a" : null }')]]
  local author = Author:find(1)
  equal(author:has_changes(), false)
  author.settings.b[2] = 3
  equal(author:has_changes(), true)
  equal(author:changes().settings.old.b, { 1, 2 })
  equal(author:changes().settings.new.b, { 1, 3 })
  author.settings.b[2] = 2
  equal(author:has_changes(), false)
  equal(author:update_changes(function(a) a.settings.b[1] = 9 end), true)
  equal(db:fetch_value "SELECT settings FROM author", '{"a":null,"b":[9,2]}')
  equal(author:has_changes(), false)
end)

test("update_changes writes only changed columns, or nothing", function()
  local Author = make_author()
  local author = Author{ name = "Ann", age = 41, score = 1 }
  author:insert()
  equal(written_columns(function()
    equal(author:update_changes(function(a) a.age = 42 end), true)
  end), { "age" })
  local before = db:fetch_value "SELECT total_changes()"
  equal(author:update_changes(function(a) a.age = 42 end), false)
  equal(author:update_changes{ age = 42, name = "Ann" }, false)
  equal(author:update_changes(), false)
  equal(db:fetch_value "SELECT total_changes()", before)
  equal(written_columns(function()
    equal(author:update_changes{ name = "Bea", score = perilune.null }, true)
  end), { "name", "score" })
  equal({ author.name, author.score }, { "Bea" })
  equal(db:fetch_value "SELECT name FROM author WHERE score IS NULL", "Bea")
end)

test("update_changes also writes changes that were made before its function", function()
  local Author = make_author()
  local author = Author{ name = "Ann" }
  author:insert()
  author.age = 1
  equal(author:update_changes(), true)
  author.age = 2
  equal(author:update_changes(function(a) a.name = "Bea" end), true)
  equal(db:fetch_one("SELECT name, age FROM author").age, 2)
end)

test("update_changes of an unfetched record writes only the columns that its function changes", function()
  local Author = make_author()
  db:execute "INSERT INTO author (name, age, score) VALUES ('Ann', 41, 5)"
  local author = Author{ id = 1, name = "Other", age = 41 }
  equal(author:update_changes(function(a) a.age = 42 end), true)
  local row = db:fetch_one "SELECT name, age, score FROM author"
  equal({ row.name, row.age, row.score }, { "Ann", 42, 5.0 })
  local missing = Author{ id = 9, name = "Nobody" }
  equal(fails("record_not_found", missing.update_changes, missing, { age = 1 }).key, 9)
  local keyless = Author{ name = "Nobody" }
  fails("argument", keyless.update_changes, keyless, { age = 1 })
end)

test("update_changes accepts a database and options", function()
  local Author = make_author()
  local author = Author{ name = "Ann" }
  author:insert()
  db:write(function(handle)
    equal(author:update_changes(handle, { age = 2 }), true)
    equal(author:update_changes(handle, function(a) a.age = 3 end), true)
  end)
  equal(db:fetch_value "SELECT age FROM author", 3)
  equal(author:update_changes({ age = 3 }, { on_conflict = "ignore" }), false)
  equal(author:update_changes(function(a) a.age = 4 end, { on_conflict = "replace" }), true)
end)

test("an error in the function of update_changes restores the fields", function()
  local Author = make_author{ types = { settings = "json" } }
  local author = Author{ name = "Ann", age = 41, settings = { a = 1 } }
  author:insert()
  matches(fails(nil, author.update_changes, author, function(a)
    a.name, a.age, a.score = "Bea", nil, 5
    error "no"
  end), "no")
  equal({ author.name, author.age, author.score }, { "Ann", 41 })
  equal(author:has_changes(), false)
  equal(fails("unknown_column", author.update_changes, author, { nmae = "x" }).suggestion, "name")
  equal(author:has_changes(), false)
end)

test("after a failed write, the record keeps the new values and its changes", function()
  local Author = make_author()
  local author = Author{ name = "Ann" }
  author:insert()
  fails("constraint_not_null", author.update_changes, author, { name = perilune.null })
  equal({ author.name, author:has_changes() }, { nil, true })
end)

test("changing the key is a change", function()
  local Author = make_author()
  local author = Author{ name = "Ann" }
  author:insert()
  author.id = 7
  equal(author:changes(), { id = { old = 1, new = 7 } })
end)

test("additional selected columns are not changes", function()
  local Author = make_author()
  Author{ name = "Ann" }:insert()
  local author = Author:from_sql("SELECT author.*, 5 AS book_count FROM author"):fetch_one()
  equal({ author.book_count, author:has_changes() }, { 5, false })
end)

test("a record can be updated from data and saved if it has changed", function()
  local Author = make_author()
  local function import(data)
    local author = Author:fetch_one(data.id) or Author{ id = data.id }
    for name, value in pairs(data) do author[name] = value end
    local has_changed = author:has_changes()
    if has_changed then author:save() end
    return has_changed
  end
  equal(import{ id = 1, name = "Ann" }, true)
  equal(import{ id = 1, name = "Ann" }, false)
  equal(import{ id = 1, name = "Bea" }, true)
  equal(db:fetch_value "SELECT name FROM author", "Bea")
end)

test("a copy has the changes of the original", function()
  local Author = make_author()
  local author = Author{ name = "Ann" }
  author:insert()
  author.age = 3
  local copy = author:copy()
  equal(copy:changes(), { age = { new = 3 } })
  copy:update()
  equal({ copy:has_changes(), author:has_changes() }, { false, true })
end)

test("setting a field of an unfetched column is a change", function()
  db:execute "CREATE TABLE part (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER)"
  local Part = perilune.record("part")
  Part{ a = 1, b = 2 }:insert()
  local part = Part:fetch_all("SELECT id FROM part")[1]
  equal(part:has_changes(), false)
  part.a = 77
  equal(part:has_changes(), true)
  equal(part:update_changes(), true)
  equal({ Part:find(1).a, Part:find(1).b }, { 77, 2 })
end)

test("a column that was added after the fetch is written once it has a value", function()
  db:execute"CREATE TABLE p (id INTEGER PRIMARY KEY, a); INSERT INTO p VALUES (1, 1), (2, 1)"
  local P = perilune.record("p")
  local one, two = P:find(1), P:find(2)
  db:execute"ALTER TABLE p ADD COLUMN d DEFAULT 8"
  equal(one:has_changes(), false)
  one.d = 3
  equal(one:has_changes(), true)
  equal(one:update_changes(), true)
  equal(two:update_changes{ d = 4 }, true)
  equal(db:fetch_values("SELECT d FROM p ORDER BY id"), { 3, 4 })
end)

test("an unfetched column is written once it has a value", function()
  db:execute"CREATE TABLE p (id INTEGER PRIMARY KEY, a, b); INSERT INTO p VALUES (1, 1, 1)"
  local P = perilune.record("p")
  local part = P:fetch_all("SELECT id, a FROM p")[1]
  equal(part:update_changes{ b = 2 }, true)
  equal(P:find(1).b, 2)
end)

test("a change prints its old and its new value", function()
  db:execute("CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT)")
  local tag = perilune.record("tag"):insert{ name = "sea" }
  tag.name = nil
  equal(tostring(tag:changes().name), "sea -> NULL")
end)
