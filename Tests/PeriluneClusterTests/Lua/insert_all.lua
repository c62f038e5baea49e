-- insert_all, which sends statements before earlier ones are answered. The rows must be the same as in a file, even after a failure.
local file = perilune.queue()
for _, database in ipairs { db, file } do
  database:execute "CREATE TABLE sale (id INTEGER PRIMARY KEY, name TEXT, price REAL, quantity INTEGER UNIQUE, flag BOOLEAN, note TEXT DEFAULT 'none')"
  database:execute "CREATE TABLE keyed (code TEXT PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 9000)) WITHOUT ROWID"
end
local Sale, Keyed = perilune.record("sale"), perilune.record("keyed")

local function sale(i) return Sale { name = "k" .. i, price = i / 2, quantity = i, flag = i % 2 == 0, note = "n" } end
local function list(count, change)
  local sales = {}
  for i = 1, count do sales[i] = sale(i) end
  if change then change(sales) end
  return sales
end
local everything = "SELECT *, typeof(price), typeof(quantity) FROM sale ORDER BY id"
local function same(sql)
  local here, there = file:fetch_all(sql), db:fetch_all(sql)
  assert(#here == #there, ("%s: %d rows, expected %d"):format(sql, #there, #here))
  for i, row in ipairs(here) do assert(tostring(row) == tostring(there[i]), ("%s: %s, expected %s"):format(sql, there[i], row)) end
end
local function fields(record)
  local found = {}
  for name, value in pairs(record) do found[#found + 1] = name .. "=" .. tostring(value) end
  table.sort(found)
  return table.concat(found, " ")
end

--- Inserts a list into both databases and compares the errors, the records and the rows.
local function compare(what, Class, make, table)
  local here, there = make(), make()
  local ok, err = pcall(Class.insert_all, Class, file, here)
  local done, failure = pcall(Class.insert_all, Class, db, there)
  assert(ok == done, what .. ": " .. tostring(failure) .. ", expected " .. tostring(err))
  if not ok then
    assert(err.kind == failure.kind and err.list_index == failure.list_index and err.message == failure.message,
      what .. ": " .. tostring(failure) .. ", expected " .. tostring(err))
  end
  for i, record in ipairs(here) do
    assert(fields(record) == fields(there[i]), ("%s: record %d is %s, expected %s"):format(what, i, fields(there[i]), fields(record)))
    if i % 50 == 1 then assert(record:has_changes() == there[i]:has_changes(), what) end
  end
  same("SELECT * FROM " .. table .. " ORDER BY 1")
  return ok
end

for _, count in ipairs { 0, 1, 2, 3, 15, 52, 999, 5000 } do
  assert(compare(count .. " rows", Sale, function() return list(count) end, "sale"))
  for _, database in ipairs { db, file } do database:execute("DELETE FROM sale") end
end
same(everything)

-- A failing row at any position.
assert(compare("before", Sale, function() return list(10, function(sales) for i, s in ipairs(sales) do s.quantity = -i end end) end, "sale"))
for _, position in ipairs { 1, 3, 70, 1500, 3000 } do
  assert(not compare("a unique key at " .. position, Sale, function() return list(3000, function(sales) sales[position].quantity = -1 end) end, "sale"))
end
assert(not compare("two that fail", Sale, function() return list(3000, function(sales) sales[900].quantity, sales[400].quantity = -2, -3 end) end, "sale"))
assert(compare("after", Sale, function() return list(300) end, "sale"))

-- Given keys, nil values, and mixtures of both.
assert(compare("keys", Sale, function()
  return list(600, function(sales)
    for i, s in ipairs(sales) do
      s.quantity = 10000 + i
      if i % 100 < 50 then s.id = 100000 + 7 * i end
      if i % 13 == 0 then s.price = nil end
      if i % 31 == 0 then s.note = nil end
    end
  end)
end, "sale"))
local function codes(count, change)
  return function()
    local all = {}
    for i = 1, count do all[i] = Keyed { code = "c" .. i, n = i % 8000 } end
    if change then change(all) end
    return all
  end
end
assert(not compare("a check", Keyed, codes(700, function(all) all[650].n = 9000 end), "keyed"))
assert(not compare("not null", Keyed, codes(700, function(all) all[300].n = nil end), "keyed"))
assert(compare("no row ids", Keyed, codes(700), "keyed"))

-- Earlier changes of the block are kept, and the block continues.
db:write(function(db)
  db:execute("INSERT INTO keyed VALUES ('first', 1)")
  local ok, err = pcall(Keyed.insert_all, Keyed, codes(500, function(all) for i, k in ipairs(all) do k.code = "d" .. i end all[480].code = "first" end)())
  assert(not ok and err.list_index == 480 and err.kind == "constraint_primary_key", tostring(err))
  assert(db:fetch_value("SELECT count(*) FROM keyed") == 701)
  Keyed:insert_all(codes(500, function(all) for i, k in ipairs(all) do k.code = "e" .. i end end)())
  assert(db:fetch_value("SELECT count(*) FROM keyed") == 1201)
  for row in db:rows("SELECT code FROM keyed") do
    Keyed:insert_all { { code = "during", n = 1 }, { code = "during 2", n = 2 } }
    break
  end
end)
assert(db:fetch_value("SELECT count(*) FROM keyed") == 1203)
assert(not pcall(db.write, db, function(db) Keyed:insert_all(codes(100, function(all) for i, k in ipairs(all) do k.code = "f" .. i end end)()) error("no") end))
assert(db:fetch_value("SELECT count(*) FROM keyed") == 1203)

-- An error about a value that a cluster refuses names the record with the value.
local ok, err = pcall(Keyed.insert_all, Keyed, codes(500, function(all) for i, k in ipairs(all) do k.code = "g" .. i end all[123].code = "a\0b" end)())
assert(not ok and err.kind == "cluster_refused" and err.list_index == 123, tostring(err) .. " " .. tostring(err.list_index))
assert(db:fetch_value("SELECT count(*) FROM keyed") == 1203)

-- Many columns, up to more than half of a statement's parameters, and values so long that few fit into a message.
for _, count in ipairs { 16, 100, 200 } do
  local names = {}
  for i = 1, count do names[i] = "c" .. i end
  for _, database in ipairs { db, file } do database:execute(("CREATE TABLE wide%d (id INTEGER PRIMARY KEY, %s)"):format(count, table.concat(names, ", "))) end
  local Wide = perilune.record("wide" .. count)
  assert(compare("wide", Wide, function()
    local all = {}
    for i = 1, 40 do
      all[i] = Wide {}
      for c = 1, count do all[i]["c" .. c] = i * c end
    end
    return all
  end, "wide" .. count))
end
assert(compare("long", Sale, function()
  return list(40, function(sales) for i, s in ipairs(sales) do s.quantity, s.note = 50000 + i, ("x"):rep(1 << 20) end end)
end, "sale"))

-- A trigger that changes inserted rows.
for _, database in ipairs { db, file } do
  database:execute "CREATE TABLE quiet (id INTEGER PRIMARY KEY, n)"
  database:execute "CREATE TRIGGER silent BEFORE INSERT ON quiet WHEN new.n = 700 BEGIN SELECT RAISE(IGNORE); END"
end
local Quiet = perilune.record("quiet")
compare("a trigger", Quiet, function()
  local all = {}
  for i = 1, 800 do all[i] = Quiet { n = i } end
  return all
end, "quiet")

db:execute("CREATE TABLE seen (text)")
db:execute("INSERT INTO seen VALUES ('lists-were-compared')")
return "lists-were-compared"
