--- Random writes to tables whose keys may be NULL are compared with a list of rows, in which NULL equals no key.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261130)

local null = perilune.null

-- Data ------------------------------------------------------------------------------------------------------------------------

local kinds = {
  { sql = "a TEXT PRIMARY KEY, b TEXT", key = { "a" }, is_primary = true },
  { sql = "a TEXT, b TEXT, PRIMARY KEY (a, b)", key = { "a", "b" }, is_primary = true },
  { sql = "id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT", key = { "a" } },
  { sql = "id INTEGER PRIMARY KEY, a TEXT, b TEXT, UNIQUE (a, b)", key = { "a", "b" } },
  { sql = "a TEXT UNIQUE, b TEXT", key = { "a" } },
}

local function maybe(list) if random(3) > 1 then return pick(list) end return null end

local function random_values() return { a = maybe{ "x", "y", "z" }, b = maybe{ "p", "q" }, n = random(5) } end

local function text(row)
  local parts = {}
  for index, name in ipairs{ "a", "b", "n" } do
    local value = row[name]
    parts[index] = (value == nil or value == null) and "-" or tostring(value)
  end
  return table.concat(parts, ":")
end

local function sorted(rows)
  local list = {}
  for index, row in ipairs(rows) do list[index] = text(row) end
  table.sort(list)
  return table.concat(list, " ")
end

--- Returns the row with the same key and its position; nil if a part of the key is NULL.
local function same_key(model, key, values)
  for position, row in ipairs(model) do
    local is_same = true
    for _, name in ipairs(key) do is_same = is_same and values[name] ~= null and row[name] == values[name] end
    if is_same then return row, position end
  end
end

local function has_key(kind, row)
  for _, name in ipairs(kind.key) do
    if row[name] == null then return false end
  end
  return true
end

local function copy(values) return { a = values.a, b = values.b, n = values.n } end

-- Operations: each changes the table and the model ----------------------------------------------------------------------------------

local operations = {}

function operations.insert(T, kind, model)
  local values = random_values()
  if same_key(model, kind.key, values) then
    equal(pcall(T.insert, T, copy(values)), false)
  else
    equal(text(T:insert(copy(values))), text(values))
    model[#model + 1] = values
  end
end

local function put(kind, model, values)
  local row = same_key(model, kind.key, values)
  if row then row.a, row.b, row.n = values.a, values.b, values.n else model[#model + 1] = values end
end

function operations.upsert(T, kind, model)
  local values = random_values()
  equal(text(T:upsert(copy(values), { target = kind.key })), text(values))
  put(kind, model, values)
end

function operations.upsert_all(T, kind, model)
  local list = {}
  for index = 1, random(4) do list[index] = random_values() end
  local copies = {}
  for index, values in ipairs(list) do copies[index] = copy(values) end
  equal(T:upsert_all(copies, { target = kind.key }), #list)
  for _, values in ipairs(list) do put(kind, model, values) end
end

function operations.insert_all(T, kind, model)
  local list, copies = {}, {}
  for index = 1, random(3) do
    list[index] = random_values()
    copies[index] = copy(list[index])
  end
  T:insert_all(copies, { on_conflict = "ignore" })
  for _, values in ipairs(list) do
    if not same_key(model, kind.key, values) then model[#model + 1] = values end
  end
end

function operations.lookup(T, kind, model)
  local values = random_values()
  local key = {}
  for _, name in ipairs(kind.key) do key[name] = values[name] end
  local expected = 0
  for _, row in ipairs(model) do
    local is_same = true
    for name, value in pairs(key) do is_same = is_same and row[name] == value end
    if is_same then expected = expected + 1 end
  end
  equal(T:filter(key):fetch_count(), expected)
  equal(T:exists(key), expected > 0)
  local found = T:fetch_one(key)
  equal(found ~= nil, expected > 0)
  if found then for name, value in pairs(key) do equal(found[name], value ~= null and value or nil) end end
  if not has_key(kind, values) then
    fails("argument", T.delete_one, T, key)
  else
    equal(T:delete_one(key), expected > 0)
    local _, position = same_key(model, kind.key, values)
    if position then table.remove(model, position) end
  end
end

--- Writes a fetched record. Rows that are equal in all columns are interchangeable here.
function operations.record(T, kind, model)
  if #model == 0 then return end
  local row = pick(model)
  local record = T:filter{ a = row.a, b = row.b, n = row.n }:fetch_one()
  local position
  for index, other in ipairs(model) do if other == row then position = index end end
  local verb, n = pick{ "update", "update_changes", "save", "delete", "refresh", "exists" }, row.n + 1
  if kind.is_primary and not has_key(kind, row) then
    record.n = n
    if verb == "save" then
      record:save()
      model[#model + 1] = { a = row.a, b = row.b, n = n }
    elseif verb == "exists" then
      equal(record:exists(), false)
    else
      matches(fails("argument", record[verb], record), "no value for the key")
    end
    return
  end
  if verb == "delete" then
    equal(record:delete(), true)
    table.remove(model, position)
  elseif verb == "refresh" then
    record.n = n
    record:refresh()
    equal(text(record), text(row))
  elseif verb == "exists" then
    equal(record:exists(), true)
  else
    record.n = n
    record[verb](record)
    row.n = n
  end
end

function operations.set(T, _, model)
  local a, n = maybe{ "x", "y", "z" }, random(9) + 20
  local count = T:filter{ a = a }:update_all{ n = n }.changed_rows
  for _, row in ipairs(model) do
    if row.a == a then row.n, count = n, count - 1 end
  end
  equal(count, 0)
end

test("random writes to tables with nullable keys match a model", function()
  for round = 1, rounds(60) do
    local kind = kinds[(round - 1) % #kinds + 1]
    db:execute("DROP TABLE IF EXISTS loose; CREATE TABLE loose (n INTEGER, " .. kind.sql .. ")")
    local T, model = perilune.record "loose", {}
    local names = { "insert", "upsert", "upsert_all", "insert_all", "lookup", "set" }
    -- Records of a table without a primary key cannot be updated or deleted.
    if not kind.sql:find("^a TEXT UNIQUE") then names[#names + 1], names[#names + 2] = "record", "record" end
    for _ = 1, 25 do
      local name = pick(names)
      operations[name](T, kind, model)
      local got, expected = sorted(db:fetch_all "SELECT a, b, n FROM loose"), sorted(model)
      if got ~= expected then error(("%s in (%s)\nexpected: %s\ngot: %s"):format(name, kind.sql, expected, got), 0) end
    end
  end
end)
