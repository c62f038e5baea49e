--- Tables that another connection changes, as another process would do.

--- Opens two connections to a file with the table `person`: records use `ours`, and `theirs` changes the schema.
local function two_connections(kind)
  local path = temporary_path "shared.sqlite"
  local theirs, ours = perilune[kind or "queue"](path), perilune[kind or "queue"](path)
  theirs:execute[[
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
    INSERT INTO person VALUES (1, 'Ada', 36), (2, 'Bob', 40)]]
  return theirs, ours, perilune.record "person"
end

local function for_each_kind(body)
  for _, kind in ipairs{ "queue", "pool" } do body(kind) end
end

--- On the first attempt, SQLite may detect the change. Later attempts must follow it.
local function fails_at_last(kind, f, ...)
  local ok, err = pcall(f, ...)
  equal(ok, false)
  if err.kind ~= kind then matches(fails("sql", function() error(err, 0) end).message, "no ") end
  return fails(kind, f, ...)
end

test("after another connection changes a table, fetched records have its current columns", function()
  for_each_kind(function(kind)
    local theirs, ours, Person = two_connections(kind)
    equal(Person:find(ours, 1).age, 36)
    theirs:execute "ALTER TABLE person ADD COLUMN email TEXT DEFAULT 'none'"
    equal(Person:find(ours, 1).email, "none")
    equal(Person:fetch_all(ours)[2].email, "none")
    theirs:execute "ALTER TABLE person RENAME COLUMN name TO label"
    equal(Person:fetch_one(ours, 1).label, "Ada")
    equal(fails("unknown_column", function() return Person:find(ours, 1).name end).table, "person")
    theirs:execute "ALTER TABLE person DROP COLUMN age"
    for person in Person:rows(ours) do fails("unknown_column", function() return person.age end) end
  end)
end)

test("a column that another connection adds can be used immediately", function()
  for_each_kind(function(kind)
    local theirs, ours, Person = two_connections(kind)
    local ada = Person:find(ours, 1)
    theirs:execute "ALTER TABLE person ADD COLUMN email TEXT"
    equal(Person:insert(ours, { name = "Cleo", email = "c@x" }).email, "c@x")
    theirs:execute "ALTER TABLE person ADD COLUMN size INTEGER"
    ours:write(function() equal(Person{ name = "Dan", size = 2 }:insert().size, 2) end)
    theirs:execute "ALTER TABLE person ADD COLUMN weight INTEGER"
    ours:write(function()
      ada.weight = 60
      equal(ada:update_changes(), true)
    end)
    theirs:execute "ALTER TABLE person ADD COLUMN height INTEGER DEFAULT 170"
    equal(ada:update_changes(ours, { age = 37 }), true)
    local row = ours:fetch_one "SELECT * FROM person WHERE id = 1"
    equal({ row.weight, row.age, row.height }, { 60, 37, 170 })
    equal(#Person:insert_all(ours, { { name = "E", height = 180 }, { name = "F" } }), 2)
    theirs:execute "ALTER TABLE person ADD COLUMN note TEXT"
    equal(Person:upsert(ours, { id = 2, note = "n" }).age, 40)
  end)
end)

test("a column that another connection removes is reported, and nothing is written", function()
  for_each_kind(function(kind)
    local theirs, ours, Person = two_connections(kind)
    local ada = Person:find(ours, 1)
    Person:insert(ours, { id = 3, name = "Cleo" })
    theirs:execute "ALTER TABLE person RENAME COLUMN name TO label"
    equal(fails_at_last("unknown_column", Person.insert, Person, ours, { name = "Dan" }).table, "person")
    equal(fails("unknown_column", ada.update, ada, ours).name, "name")
    equal(Person:fetch_count(ours), 3)
    theirs:execute "ALTER TABLE person RENAME COLUMN label TO name"
    ada.name = "A."
    ada:update(ours)
    equal(Person:find(ours, 1).name, "A.")
  end)
end)

test("requests follow schema changes of another connection", function()
  for_each_kind(function(kind)
    local theirs, ours, Person = two_connections(kind)
    local named
    ours:read(function() named = Person:filter{ name = "Ada" } end)
    equal(named:fetch_one(ours).age, 36)
    theirs:execute "ALTER TABLE person ADD COLUMN email TEXT DEFAULT 'none'"
    equal(named:fetch_one(ours).email, "none")
    ours:write(function()
      equal(Person:filter{ email = "none" }:fetch_count(), 2)
      equal(Person:order(Person.c.email, "id"):fetch_one().id, 1)
      equal(named:update_all{ email = "ada@x" }.changed_rows, 1)
    end)
    theirs:execute "ALTER TABLE person RENAME COLUMN name TO label"
    equal(fails_at_last("unknown_column", named.fetch_one, named, ours).table, "person")
    ours:read(function() equal(Person:filter{ label = "Ada" }:fetch_one().email, "ada@x") end)
  end)
end)

test("prepared statements return the current columns", function()
  for_each_kind(function(kind)
    local theirs, ours, Person = two_connections(kind)
    local statement = ours:prepare "SELECT * FROM person WHERE id = ?"
    equal({ statement:fetch_one(1).name, #statement:columns() }, { "Ada", 3 })
    theirs:execute "ALTER TABLE person ADD COLUMN email TEXT DEFAULT 'none'"
    equal(statement:fetch_one(1).email, "none")
    equal(Person:fetch_all(statement, 2)[1].email, "none")
    theirs:execute "DROP TABLE person"
    matches(fails("sql", statement.fetch_one, statement, 1).message, "no such table")
  end)
end)

test("a table that another connection drops or replaces is detected", function()
  for_each_kind(function(kind)
    local theirs, ours, Person = two_connections(kind)
    local ada = Person:find(ours, 1)
    theirs:execute "DROP TABLE person"
    fails_at_last("unknown_table", Person.find, Person, ours, 1)
    fails("unknown_table", ada.update, ada, ours)
    theirs:execute "CREATE TABLE person (code TEXT PRIMARY KEY, age INTEGER) WITHOUT ROWID; INSERT INTO person VALUES ('a', 1)"
    equal(Person:find(ours, "a").age, 1)
    equal(Person:insert(ours, { code = "b" }).code, "b")
    equal(fails("unknown_column", ada.update, ada, ours).name, "id")
    theirs:execute "DROP TABLE person; CREATE VIEW person AS SELECT 1 AS id, 'Ada' AS name"
    equal(Person:fetch_one(ours).name, "Ada")
  end)
end)

test("a read block sees the schema with which it began", function()
  local theirs, ours, Person = two_connections "pool"
  ours:read(function()
    equal(tostring(Person:find(1)), 'person{id = 1, name = "Ada", age = 36}')
    theirs:execute "ALTER TABLE person ADD COLUMN email TEXT"
    equal(tostring(Person:find(1)), 'person{id = 1, name = "Ada", age = 36}')
  end)
  equal(tostring(Person:find(ours, 1)), 'person{id = 1, name = "Ada", age = 36, email = NULL}')
end)

test("all objects recognize a column that another connection has added", function()
  for _, use in ipairs{
    function(Person) equal(Person:filter{ email = "none" }:fetch_count(), 2) end,
    function(Person) equal(Person:filter(Person.c.email:eq("none")):fetch_count(), 2) end,
    function(Person) equal(Person:order("email"):fetch_one().email, "none") end,
    function(Person) equal(Person:select("email"):fetch_values(), { "none", "none" }) end,
    function(Person) equal(Person:filter_key(1):update_all{ email = "x" }.changed_rows, 1) end,
    function(Person) equal(Person:insert(Person.draft{ email = "x" }).email, "x") end,
    function(Person)
      local draft = Person.draft()
      draft.email = "x"
      equal(Person:insert(draft).email, "x")
    end,
    function(Person) equal(Person.draft().email, nil) end,
    function(Person) equal(Person{ email = "x" }:insert().email, "x") end,
    function(Person) equal(Person:insert({ name = "C" }, { returning = "email" }), "none") end,
    function(Person) equal(Person:upsert({ id = 1 }, { update = { email = "x" } }).email, "x") end,
    function(Person) equal(Person:find{ id = 1 }.email, "none") end,
  } do
    local path = temporary_path "shared.sqlite"
    local theirs, ours = perilune.queue(path), perilune.queue(path)
    theirs:execute[[
      CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
      INSERT INTO person VALUES (1, 'Ada', 36), (2, 'Bob', 40)]]
    local Person = perilune.record "person"
    perilune.with({ database = ours }, function()
      equal(Person:filter{ name = "Ada" }:fetch_count(), 1)
      equal(Person.draft{ name = "x" }.name, "x")
      theirs:execute "ALTER TABLE person ADD COLUMN email TEXT DEFAULT 'none'"
      use(Person)
    end)
  end
end)

test("a statement that returns its rows as records writes once, with the columns that another connection has added", function()
  local sql = "UPDATE person SET age = age + 1 WHERE id = 1 RETURNING *"
  for_each_kind(function(kind)
    for _, write in ipairs{
      function(Person, db) return Person:fetch_all(db, sql)[1] end,
      function(Person, db) return Person:fetch_all(db, "WITH one AS (SELECT 1 AS id) " .. sql:gsub("= 1", "IN (SELECT id FROM one)"))[1] end,
      function(Person, db) return Person:from_sql(sql):fetch_one(db) end,
      function(Person, db)
        local found
        for person in Person:rows(db, sql) do found = person end
        return found
      end,
      function(Person, db) return db:write(function(db) return Person:fetch_all(db, sql)[1] end) end,
      function(Person, db)
        -- The listed columns make SQLite detect the change before the library does.
        db:fetch_all "SELECT * FROM person"
        return Person:filter{ id = 1 }:update_all(db, { age = Person.c.age + 1 }, { returning = true })[1]
      end,
    } do
      local theirs, ours, Person = two_connections(kind)
      equal(write(Person, ours).age, 37)
      for number = 1, 3 do
        theirs:execute(("ALTER TABLE person ADD COLUMN c%d INTEGER DEFAULT %d"):format(number, number))
        local person = write(Person, ours)
        equal({ person.age, person["c" .. number], ours:fetch_value "SELECT age FROM person WHERE id = 1" }, { 37 + number, number, 37 + number })
      end
    end
  end)
end)

test("the word RETURNING in a SELECT does not require a database that can be written", function()
  db:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO person VALUES (1, 'Ada')"
  local Person = perilune.record "person"
  db:read(function(db)
    equal(#Person:fetch_all(db, "SELECT *, 'UPDATE RETURNING' AS text FROM person /* DELETE RETURNING */"), 1)
    fails("readonly", Person.fetch_all, Person, db, "UPDATE person SET name = 'x' RETURNING *")
  end)
end)
