--- Values that do not fit the declared type of a column are refused when records are written.

local Person

local function make(options)
  db:execute[[
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, size REAL, price DECIMAL(10, 2), code UUID, data BLOB, free, other ANY, is_new BOOLEAN);
    INSERT INTO person (id, name, age) VALUES (1, 'Ada', 36)]]
  Person = perilune.record("person", options)
end

local refused = {
  { "age", "old", "an integer" }, { "age", 2.5, "an integer" }, { "age", "2.5", "an integer" }, { "age", "", "an integer" }, { "age", "1e400", "an integer" },
  { "age", "0x10", "an integer" }, { "age", perilune.date("2024-01-01"), "an integer" }, { "age", 1 / 0, "an integer" },
  { "size", "total + 1", "a number" }, { "size", true, "a number" }, { "size", 9007199254740993, "a number" },
  { "price", "free", "a number" }, { "name", true, "a string" },
}

local accepted = {
  { "age", 7, "7" }, { "age", "7", "7" }, { "age", " 7 ", "7" }, { "age", 7.0, "7" }, { "age", "7.0", "7" }, { "age", true, "1" }, { "age", "7e2", "700" },
  { "size", 2, "2.0" }, { "size", "2.5", "2.5" }, { "size", 4000000000, "4000000000.0" }, { "price", "2.50", "2.5" }, { "price", 3, "3" },
  { "name", "x", "'x'" }, { "name", 7, "'7'" }, { "name", perilune.date("2024-01-01"), "'2024-01-01 00:00:00.000'" }, { "name", perilune.blob("x"), "X'78'" },
  { "code", "abc", "'abc'" }, { "data", "abc", "X'616263'" }, { "data", 7, "7" }, { "free", true, "1" }, { "free", "x", "'x'" }, { "other", 2.5, "2.5" },
}

--- Ways to write a column in row 1.
local ways = {
  insert = function(values) db:execute("DELETE FROM person") Person(values):insert() end,
  insert_table = function(values) db:execute("DELETE FROM person") Person:insert(values) end,
  insert_all = function(values) db:execute("DELETE FROM person") Person:insert_all{ { id = 2 }, values } end,
  upsert = function(values) Person:upsert(values) end,
  bulk_upsert = function(values) Person:upsert_all({ { id = 2 }, values }, { target = "id" }) end,
  update = function(values) Person(values):update() end,
  save = function(values) Person:save(values) end,
  update_changes = function(values) Person:find(1):update_changes(values) end,
  update_all = function(values, name) Person:filter_key(1):update_all{ [name] = values[name] } end,
  statement = function(values) Person:statement("update", values):execute() end,
  statement_upsert = function(values) Person:statement("upsert", values):execute() end,
  upsert_update = function(values, name) Person:upsert({ id = 1, name = "x" }, { update = { [name] = values[name] } }) end,
}

local function each_way(list, visit)
  for name, way in pairs(ways) do
    for _, case in ipairs(list) do
      db:execute("DELETE FROM person; INSERT INTO person (id, name, age) VALUES (1, 'Ada', 36)")
      visit(name, case, pcall(way, { id = 1, [case[1]] = case[2] }, case[1]))
    end
  end
end

test("a value that does not fit the declared type is a conversion error", function()
  make()
  each_way(refused, function(way, case, is_done, err)
    if is_done then error(("%s: `%s` took %s"):format(way, case[1], tostring(case[2]))) end
    if err.kind ~= "conversion" then error(way .. ": " .. tostring(err)) end
    equal(err.column, case[1])
    matches(err, "expected " .. case[3])
  end)
end)

test("a value that the column's affinity converts without loss is stored", function()
  make()
  each_way(accepted, function(way, case, is_done, err)
    if not is_done then error(("%s: `%s` refused %s: %s"):format(way, case[1], tostring(case[2]), tostring(err))) end
    equal(db:fetch_value(("SELECT quote(%s) FROM person WHERE id = 1"):format(case[1])), case[3])
  end)
end)

--- Ways to write a column in row 1 that return the written record.
local writing = {
  insert = function(values) db:execute("DELETE FROM person") return Person(values):insert() end,
  insert_table = function(values) db:execute("DELETE FROM person") return Person:insert(values) end,
  insert_all = function(values)
    db:execute("DELETE FROM person")
    local list = {}
    for index = 1, 41 do
      list[index] = {}
      for name, value in pairs(values) do list[index][name] = name == "id" and (index == 41 and 1 or index + 1) or value end
    end
    return Person:insert_all(list)[41]
  end,
  upsert = function(values) return Person:upsert(values) end,
  save = function(values) return Person:save(values) end,
  update = function(values, name)
    local person = Person:find(1)
    person[name] = values[name]
    person:update()
    return person
  end,
  update_changes = function(values, name)
    local person = Person:find(1)
    person:update_changes{ [name] = values[name] }
    return person
  end,
}

test("after a write, a record has the same number or text as its row", function()
  make()
  for way, write in pairs(writing) do
    for _, case in ipairs(accepted) do
      local name, value = case[1], case[2]
      db:execute("DELETE FROM person; INSERT INTO person (id, name, age) VALUES (1, 'Ada', 36)")
      local written = write({ id = 1, [name] = value }, name)
      local stored = Person:find(1)
      if type(value) ~= "userdata" and (name == "age" or name == "size" or name == "price" or name == "name") then
        local message = ("%s: `%s` = %s"):format(way, name, tostring(value))
        -- Whole numbers in a REAL column remain integers in the record, which equal the stored floats.
        if written[name] ~= stored[name] or name == "age" and math.type(written[name]) ~= math.type(stored[name]) then
          error(("%s: is %s, stored is %s"):format(message, tostring(written[name]), tostring(stored[name])))
        end
        if written:has_changes() then error(message .. ": the record has changes") end
      end
    end
  end
end)

test("changes compare with the number or text that was written", function()
  make()
  for _, case in ipairs{ { "age", "7", 7 }, { "age", true, 1 }, { "size", "2.5", 2.5 }, { "price", "2", 2 }, { "name", 7, "7" } } do
    db:execute("DELETE FROM person; INSERT INTO person (id) VALUES (1)")
    local name, person = case[1], Person:find(1)
    person:update_changes{ [name] = case[2] }
    equal(person[name], case[3])
    person[name] = nil
    equal(person:changes()[name].old, case[3])
    person[name] = case[3]
    equal(person:has_changes(), false)
  end
end)

test("integers in a column of texts are texts in all records that a class inserts", function()
  make()
  local person = Person{ name = 7 }
  person:insert()
  equal(person.name, "7")
  local values = { name = 7 }
  equal(Person:insert(values).name, "7")
  equal(values.name, 7)
  local list = {}
  for index = 1, 200 do list[index] = { name = index } end
  for index, inserted in ipairs(Person:insert_all(list)) do
    equal(inserted.name, tostring(index))
    equal(inserted:has_changes(), false)
  end
  -- SQLite decides how many digits of a float it stores.
  equal(Person:insert{ name = 2.5 }.name, 2.5)
end)

test("stored values that do not fit the declared type may be written again", function()
  make()
  db:execute "UPDATE person SET age = 'old', size = x'00', name = 7"
  local person = Person:find(1)
  person.price = 2
  person:update()
  person:save()
  person:upsert()
  Person:upsert_all({ person }, { target = "id" })
  equal(db:fetch_one("SELECT age, name, price FROM person"), { age = "old", name = "7", price = 2 })
  fails("conversion", function() person:update_changes{ age = "older" } end)
end)

test("conditions, keys and SQL accept any value", function()
  make()
  equal(Person:filter{ age = "old" }:fetch_count(), 0)
  equal(Person:fetch_one("x"), nil)
  equal(Person:exists("x"), false)
  equal(Person:find_or_build({ age = "36" }).id, 1)
  equal(db:execute("UPDATE person SET age = ?", "old").changed_rows, 1)
end)

test("a class can allow values that do not fit the declared types", function()
  make{ check_types = false }
  Person:find(1):update_changes{ age = "old", name = true }
  Person:insert{ age = 2.5 }
  equal(db:fetch_values("SELECT quote(age) FROM person"), { "'old'", "2.5" })
  fails("argument", perilune.record, "person", { check_types = 1 })
end)

test("declared types that only resemble numeric types accept any value", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, a FLOATING POINT, b POINT, c UNSIGNED BIG INT, d STRING, e TINYINT(1))"
  local T = perilune.record("t")
  T:insert{ a = 2.5, b = "(1, 2)", c = 3, d = "x", e = true }
  fails("conversion", T.insert, T, { c = "x" })
  fails("conversion", T.insert, T, { e = "x" })
end)

test("the types of the class determine the stored values", function()
  make{ types = { age = "json" } }
  Person{ id = 1, age = { "old" } }:update()
  equal(db:fetch_value("SELECT age FROM person"), '["old"]')
end)

test("writes return whole numbers in float columns as floats", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL DEFAULT 2.0, n INTEGER DEFAULT 3)"
  local T = perilune.record("t")
  local made = T{}:insert()
  equal({ made.v, made.n }, { 2.0, 3 })
  equal(T:upsert{ id = 1, v = 4.0 }.v, 4.0)
  equal(T{ id = 1, v = 5 }:update{ returning = "v" }, 5.0)
  equal(T:insert_all({ { v = 6 } }, { returning = "v" }), { 6.0 })
  equal(T:all():update_all({ v = 7 }, { returning = true })[1].v, 7.0)
  equal(T:find(1):delete{ returning = "v" }, 7.0)
end)
