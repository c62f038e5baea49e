--- Random bulk upserts are compared with a naive evaluation that handles the elements of a list one by one.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20260905)

-- Data ------------------------------------------------------------------------------------------------------------------------

local function make_plain()
  db:execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, n INTEGER, m INTEGER DEFAULT 7, s TEXT)")
  return perilune.record("thing")
end

local function make_named()
  db:execute([[
    CREATE TABLE thing ("thingId" INTEGER PRIMARY KEY, "theCode" TEXT NOT NULL UNIQUE, "set" INTEGER, "M_M" INTEGER DEFAULT 7, s TEXT)]])
  return perilune.record("thing", {
    fields = { id = "thingId", code = "theCode", n = { column = "set" }, m = { column = "M_M", lazy = true }, s = { lazy = true } },
  })
end

--- Rows by code; keys increase.
local function new_model() return { rows = {}, next_id = 1 } end

local function codes(model)
  local list = {}
  for code in pairs(model.rows) do list[#list + 1] = code end
  table.sort(list)
  return list
end

local function random_element()
  local element = { code = "c" .. random(30) }
  if random(4) > 1 then element.n = random(9) end
  if random(4) == 1 then element.n = perilune.null end
  if random(2) == 1 then element.m = random(9) end
  if random(3) == 1 then element.s = pick{ "", "a", "é'\"" } end
  return element
end

local function plain(value)
  if value == perilune.null then return nil end
  return value
end

--- Options and their effect on a row that conflicts with an element.
local kinds = {
  function() return {}, function(row, element)
    for _, name in ipairs{ "n", "m", "s" } do
      if element[name] ~= nil then row[name] = plain(element[name]) end
    end
  end end,
  function() return { update = { "n" } }, function(row, element) row.n = plain(element.n) end, "n" end,
  function() return { update = "none" }, function() return false end end,
  function() return { except = { "m" } }, function(row, element)
    for _, name in ipairs{ "n", "s" } do
      if element[name] ~= nil then row[name] = plain(element[name]) end
    end
  end end,
  function()
    local value = random(100)
    return { update = { m = value } }, function(row) row.m = value end
  end,
}

--- Writes a list to the model. Returns the codes of the written rows, in order.
local function apply(model, list, update)
  local written = {}
  for _, element in ipairs(list) do
    local row = model.rows[element.code]
    if not row then
      model.rows[element.code] = {
        id = model.next_id, code = element.code, n = plain(element.n), m = element.m == nil and 7 or plain(element.m), s = plain(element.s),
      }
      model.next_id = model.next_id + 1
      written[#written + 1] = element.code
    elseif update(row, element) ~= false then written[#written + 1] = element.code end
  end
  return written
end

local function compare(Class, model)
  local list = codes(model)
  local got = Class:order("code"):select("code", "n", "m", "s"):fetch_all()
  equal(#got, #list)
  for index, code in ipairs(list) do
    local row = model.rows[code]
    equal({ got[index].code, got[index].n, got[index].m, got[index].s, n = 4 }, { code, row.n, row.m, row.s, n = 4 })
  end
end

local function check(make, count)
  local Class, model = make(), new_model()
  for number = 1, count do
    if number % 60 == 0 then
      Class:delete_all()
      model.rows = {}
    end
    local list = {}
    for index = 1, random(40) do list[index] = random_element() end
    local options, update, needed = pick(kinds)()
    -- Every element must have the columns that the update uses.
    for _, element in ipairs(list) do
      if needed and element[needed] == nil then element[needed] = perilune.null end
    end
    options.target = "code"
    local wants_rows = random(2) == 1
    if wants_rows then options.returning = { "code", "n" } end
    local written = apply(model, list, update)
    local result = Class:upsert_all(list, options)
    if wants_rows then
      local got = {}
      for index, row in ipairs(result) do got[index] = row.code end
      equal(got, written)
    else equal(result, #written) end
    compare(Class, model)
  end
end

test("300 random bulk upserts match a naive evaluation", function() check(make_plain, 300) end)
test("300 random bulk upserts over renamed fields match a naive evaluation", function() check(make_named, 300) end)
