--- Records that have only some columns of their row because other columns were not selected or were added later.

local function make_person()
  db:execute[[
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, email TEXT, born DATE);
    INSERT INTO person VALUES (1, 'Ada', 36, 'ada@example.org', '1815-12-10')]]
  return perilune.record "person"
end

local function stored()
  local row = db:fetch_one("SELECT name, age, email FROM person")
  return { name = row.name, age = row.age, email = row.email }
end

test("an unfetched column can be cleared after it was written", function()
  local Person = make_person()
  local part = Person:from_sql("SELECT id, name FROM person"):fetch_one()
  part.age = 40
  equal(part:update_changes(), true)
  equal(part:has_changes(), false)
  part.age = nil
  equal(part:changes(), { age = { old = 40 } })
  equal(part:update_changes(), true)
  equal(stored(), { name = "Ada", email = "ada@example.org" })
end)

test("update writes a cleared column again, but no other unfetched column", function()
  local Person = make_person()
  local part = Person:from_sql("SELECT id, name FROM person"):fetch_one()
  part.age = 40
  part:update()
  part.age = nil
  part:update()
  equal(stored(), { name = "Ada", email = "ada@example.org" })
  part:save()
  equal(stored(), { name = "Ada", email = "ada@example.org" })
end)

test("after refresh, a record has all columns of its row", function()
  local Person = make_person()
  local part = Person:from_sql("SELECT id, name, 7 AS luck FROM person"):fetch_one()
  part:refresh()
  equal({ part.age, part.born, part.luck }, { 36, perilune.date "1815-12-10", 7 })
  part.age = nil
  equal(part:changes(), { age = { old = 36 } })
  part:update()
  equal(stored(), { name = "Ada", email = "ada@example.org" })
  part.luck = nil
  equal(part.luck, nil)
end)

test("upsert reads all columns of the row", function()
  local Person = make_person()
  local part = Person:from_sql("SELECT id, name FROM person"):fetch_one()
  part:upsert()
  equal({ part.age, part:has_changes() }, { 36, false })
  part.age = nil
  equal(part:update_changes(), true)
  equal(stored().age, nil)
end)

test("unfetched columns stay unfetched after several updates", function()
  local Person = make_person()
  local part = Person:from_sql("SELECT id, name FROM person"):fetch_one()
  db:execute "ALTER TABLE person ADD COLUMN note TEXT DEFAULT 'x'"
  for _, name in ipairs{ "A", "B", "C" } do
    part.name = name
    part:update()
  end
  equal(db:fetch_one("SELECT name, age, note FROM person"):to_table(), { name = "C", age = 36, note = "x" })
end)

test("a column that is added after the fetch stays unchanged until the record sets it", function()
  local Person = make_person()
  local person = Person:find(1)
  db:execute "ALTER TABLE person ADD COLUMN note TEXT DEFAULT 'x'"
  person:update()
  person:update()
  equal(db:fetch_value "SELECT note FROM person", "x")
  person.note = "y"
  person:update()
  person.note = nil
  person:update()
  equal(db:fetch_value "SELECT note IS NULL FROM person", 1)
end)

test("a dropped column becomes a field that is not written", function()
  local Person = make_person()
  local person = Person:find(1)
  db:execute "ALTER TABLE person DROP COLUMN age"
  person.name = "A."
  fails("unknown_column", person.update, person)
  person.age = nil
  person:update()
  equal(db:fetch_value "SELECT name FROM person", "A.")
end)

test("records without change tracking also write only columns that they have seen", function()
  make_person()
  local Person = perilune.record("person", { track_changes = false })
  local part = Person:from_sql("SELECT id, name FROM person"):fetch_one()
  part.age = 40
  part:update()
  part.age = nil
  part:update()
  equal(stored(), { name = "Ada", email = "ada@example.org" })
  part:refresh()
  part.email = nil
  part:update()
  equal(stored(), { name = "Ada" })
end)

test("an unfetched converted column can be set and cleared like others", function()
  local Person = make_person()
  local part = Person:from_sql("SELECT id, name FROM person"):fetch_one()
  part.born = perilune.date "1815-12-11"
  equal(part:update_changes(), true)
  part.born = nil
  equal(part:update_changes(), true)
  equal(db:fetch_value "SELECT born IS NULL AND age = 36 FROM person", 1)
end)

test("a write that a hook undoes does not change which columns of the record are fetched", function()
  local Person = make_person()
  function Person:did_update() error{ kind = "no" } end
  local part = Person:from_sql("SELECT id, name FROM person"):fetch_one()
  part.age = 40
  fails("no", part.update, part)
  equal(part:changes(), { age = { new = 40 } })
  Person.did_update = nil
  part.age = nil
  part:update()
  equal(stored(), { name = "Ada", age = 36, email = "ada@example.org" })
end)
