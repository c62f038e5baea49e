--- Random upserts without a target are compared with `INSERT ... ON CONFLICT DO UPDATE` on a twin table.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261126)

--- Definitions, and the columns of their primary keys.
local tables = {
  { "(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INTEGER, c INTEGER, n INTEGER DEFAULT 7, m TEXT, UNIQUE (b, c))", { id = true } },
  { "(a TEXT PRIMARY KEY, id INTEGER UNIQUE, b INTEGER, c INTEGER, n INTEGER DEFAULT 7, m TEXT, UNIQUE (c, b))", { a = true } },
  { "(b INTEGER, c INTEGER, a TEXT UNIQUE, id INTEGER, n INTEGER DEFAULT 7, m TEXT, PRIMARY KEY (b, c)) WITHOUT ROWID", { b = true, c = true } },
  { "(id INTEGER, a TEXT UNIQUE COLLATE NOCASE, b INTEGER, c INTEGER DEFAULT 2, n INTEGER DEFAULT 7, m TEXT, UNIQUE (b, c))", {} },
  { "(id INTEGER PRIMARY KEY, a TEXT, b INTEGER, c INTEGER, n INTEGER DEFAULT 7, m TEXT)", { id = true } },
}
local columns = { "id", "a", "b", "c", "n", "m" }

local function random_element()
  local element = {}
  if random(2) == 1 then element.id = random(12) end
  if random(3) > 1 then element.a = pick{ "a", "b", "c", "d", "e", "A", "B" } end
  if random(3) > 1 then element.b, element.c = random(4), random(4) end
  if random(5) == 1 then element.a = perilune.null end
  if random(2) == 1 then element.n = random(9) end
  element.m = "m" .. random(99)
  return element
end

--- Writes an element to the twin. Returns whether that succeeded, and the number of written rows.
local function write_twin(element, key, update)
  local names, arguments, assigned = {}, { n = 0 }, {}
  for _, name in ipairs(columns) do
    if element[name] ~= nil then
      names[#names + 1], arguments.n = name, arguments.n + 1
      arguments[arguments.n] = element[name]
      if not key[name] and (not update or update[name]) then assigned[#assigned + 1] = name .. " = excluded." .. name end
    end
  end
  local action = "DO UPDATE SET " .. table.concat(assigned, ", ")
  if update and next(update) == nil then action = "DO NOTHING" end
  local text = ("INSERT INTO twin (%s) VALUES (%s) ON CONFLICT %s"):format(table.concat(names, ", "), ("?, "):rep(#names - 1) .. "?", action)
  local is_done, result = pcall(db.execute, db, text, arguments)
  return is_done, is_done and result.changed_rows
end

local function rows(name)
  local list = {}
  for index, row in ipairs(db:fetch_all("SELECT * FROM " .. name .. " ORDER BY m, id, a, b, c, n")) do
    list[index] = table.concat({ tostring(row.id), tostring(row.a), tostring(row.b), tostring(row.c), tostring(row.n), row.m }, " ")
  end
  return list
end

local writers = {
  function(Class, element, options) return Class:upsert(element, options) ~= false and 1 or 0 end,
  function(Class, element, options) return Class(element):upsert(options) ~= false and 1 or 0 end,
  function(Class, element, options) return Class:upsert_all({ element }, options) end,
  function(Class, element, options) return #Class:upsert_all({ element }, { returning = "m", update = options and options.update }) end,
  function(Class, element, options)
    local statement = Class:statement("upsert", element, options)
    return statement:execute().changed_rows
  end,
}

local function check(count)
  for round = 1, count do
    local definition, key = table.unpack(tables[(round - 1) % #tables + 1])
    db:execute("DROP TABLE IF EXISTS thing; DROP TABLE IF EXISTS twin; CREATE TABLE thing " .. definition .. "; CREATE TABLE twin " .. definition)
    local Class = perilune.record "thing"
    for _ = 1, 60 do
      local element, update, options = random_element(), nil, nil
      local choice = random(6)
      if choice == 1 then update, options = { m = true }, { update = { "m" } }
      elseif choice == 2 then update, options = {}, { update = "none" } end
      local expected, written = write_twin(element, key, update)
      local is_done, result = pcall(pick(writers), Class, element, options)
      equal({ is_done, is_done and result }, { expected, written })
    end
    equal(rows "thing", rows "twin")
  end
end

test("6000 random upserts without a target match SQLite", function() check(100) end)
