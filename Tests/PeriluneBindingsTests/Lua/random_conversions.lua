--- Random conditions, keys and writes on columns with converted values are compared with a naive evaluation that does not know the
-- stored form of values.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261122)

-- Data ------------------------------------------------------------------------------------------------------------------------

--- A type that stores cents. The script's values are multiples of a quarter, so that nothing is rounded.
local cents = {
  from_database = function(value) return value / 100 end, to_database = function(value) return math.tointeger(value * 100) end,
}
--- A type that stores reversed text, so that stored values have a different order.
local reversed = {
  from_database = function(text) return text:reverse() end, to_database = function(text) return text:reverse() end,
}

local prices = { -2.5, 0.0, 0.25, 1.0, 12.0, 12.5, 99.75 }
local names = { "ab", "ba", "abc", "x", "", "zz" }
local days = { "2026-01-01", "2026-01-02 00:00:00", "2026-01-03 00:00:00.000", "2026-01-04T10:30", "2026-01-05 10:30:00.250" }

local Item, Owner, rows

local function make()
  db:execute[[
    CREATE TABLE owner (name TEXT PRIMARY KEY, price INTEGER);
    CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER, name TEXT, owner TEXT REFERENCES owner (name))]]
  Owner = perilune.record("owner", { types = { name = reversed, price = cents } })
  Item = perilune.record("item", { types = { price = cents, name = reversed, owner = reversed } })
  Owner.items = Owner:has_many(Item)
  Item.keeper = Item:belongs_to(Owner)
  rows = {}
  for _, name in ipairs(names) do Owner:insert{ name = name, price = pick(prices) } end
  for id = 1, 40 do
    rows[id] = {
      id = id, price = random(5) > 1 and pick(prices) or nil, name = random(5) > 1 and pick(names) or nil,
      owner = random(6) > 1 and pick(names) or nil,
    }
    Item(rows[id]):insert()
  end
end

local function ids_of(list)
  local ids = {}
  for index, record in ipairs(list) do ids[index] = record.id end
  return ids
end

local function ids_where(accepts)
  local ids = {}
  for id = 1, #rows do
    if accepts(rows[id]) then ids[#ids + 1] = id end
  end
  return ids
end

-- Conditions: each is an expression, the values of its parameters, and a function that evaluates it for a row --------------------

local values = { price = prices, name = names, owner = names }
local columns = { "price", "name", "owner" }

--- Returns a value directly or as a parameter.
local function operand(value, parameters)
  if random(3) > 1 then return value end
  local name = "p" .. #parameters + 1
  parameters[#parameters + 1] = name
  parameters[name] = value
  return perilune.parameter(name)
end

local kinds = {
  function(column, parameters)
    local value = pick(values[column])
    return Item.c[column]:eq(operand(value, parameters)), function(row) return row[column] == value end
  end,
  function(column, parameters)
    local value = pick(values[column])
    return Item.c[column]:ne(operand(value, parameters)), function(row) return row[column] ~= nil and row[column] ~= value end
  end,
  function(_, parameters)
    local value = pick(prices)
    return Item.c.price:lt(operand(value, parameters)), function(row) return row.price and row.price < value end
  end,
  function(_, parameters)
    local low, high = pick(prices), pick(prices)
    return Item.c.price:between(operand(low, parameters), operand(high, parameters)),
      function(row) return row.price and low <= row.price and row.price <= high end
  end,
  function(column, parameters)
    local one, other = pick(values[column]), pick(values[column])
    return Item.c[column]:is_in{ operand(one, parameters), operand(other, parameters) },
      function(row) return row[column] == one or row[column] == other end
  end,
  function(column)
    local value = pick(values[column])
    return perilune.value(value):eq(Item.c[column]), function(row) return row[column] == value end
  end,
  function(column)
    local value = pick(values[column])
    return Item.c[column]:collating("binary"):eq(value), function(row) return row[column] == value end
  end,
  function(column)
    local list = {}
    for index = 1, 20 do list[index] = pick(values[column]) end
    return Item.c[column]:is_in(list), function(row)
      for _, value in ipairs(list) do
        if row[column] == value then return true end
      end
    end
  end,
}

local function condition(depth, parameters)
  if depth == 0 or random(3) == 1 then return pick(kinds)(pick(columns), parameters) end
  local left, accepts_left = condition(depth - 1, parameters)
  local right, accepts_right = condition(depth - 1, parameters)
  if random(2) == 1 then return left & right, function(row) return accepts_left(row) and accepts_right(row) end end
  return left | right, function(row) return accepts_left(row) or accepts_right(row) end
end

test("random conditions on converted columns match a naive evaluation", function()
  make()
  for _ = 1, 400 do
    local parameters = {}
    local expression, accepts = condition(3, parameters)
    local named = {}
    for index, name in ipairs(parameters) do named[name] = parameters[name] end
    equal(ids_of(Item:filter(expression):order("id"):prepare():fetch_all(named)), ids_where(accepts))
  end
end)

test("random conditions in tables, keys and associations match a naive evaluation", function()
  make()
  for _ = 1, 200 do
    local column, other = pick(columns), pick(columns)
    local value, list = pick(values[column]), { pick(values[other]), pick(values[other]) }
    local wanted = column == other and { [column] = value } or { [column] = value, [other] = list }
    equal(ids_of(Item:filter(wanted):order("id"):fetch_all()), ids_where(function(row)
      return row[column] == value and (column == other or row[other] == list[1] or row[other] == list[2])
    end))
    local name = pick(names)
    local owner = Owner:find(name)
    equal({ owner.name, owner.price, Owner:fetch_one{ name = name }.price }, { name, owner.price, owner.price })
    equal(ids_of(owner:items():order("id"):fetch_all()), ids_where(function(row) return row.owner == name end))
    local item = Item:find(random(#rows))
    local keeper = item:keeper():fetch_one()
    equal(keeper and keeper.name, rows[item.id].owner)
  end
  for _, owner in ipairs(Owner:including_all(Owner.items:order("id")):fetch_all()) do
    equal(ids_of(owner.items), ids_where(function(row) return row.owner == owner.name end))
  end
end)

test("random writes by converted keys match a naive evaluation", function()
  make()
  local prices_of = {}
  for _, owner in ipairs(Owner:fetch_all()) do prices_of[owner.name] = owner.price end
  for _ = 1, 300 do
    local name, price = pick(names), pick(prices)
    local owner = Owner:find(name)
    local write = random(6)
    owner.price = price
    if write == 1 then owner:update()
    elseif write == 2 then owner:save()
    elseif write == 3 then owner:upsert()
    elseif write == 4 then Owner:upsert{ name = name, price = price }
    elseif write == 5 then Owner{ name = name, price = price }:save()
    else Owner:filter_key(name):update_all{ price = price } end
    prices_of[name] = price
    equal(owner:refresh().price, price)
  end
  local found = {}
  for _, owner in ipairs(Owner:fetch_all()) do found[owner.name] = owner.price end
  equal(found, prices_of)
end)

test("random writes by date keys match a naive evaluation, in any stored format", function()
  db:execute "CREATE TABLE event (day DATE PRIMARY KEY, n INTEGER)"
  for n, day in ipairs(days) do db:execute("INSERT INTO event VALUES (?, ?)", day, n) end
  local Event, numbers = perilune.record("event"), { 1, 2, 3, 4, 5 }
  for _ = 1, 300 do
    local index, n = random(#days), random(1000)
    local date = perilune.date(days[index])
    local event = Event:find(pick{ date, days[index] })
    equal(event.n, numbers[index])
    event.n = n
    local write = random(6)
    if write == 1 then event:update()
    elseif write == 2 then event:save()
    elseif write == 3 then event:upsert()
    elseif write == 4 then Event:upsert{ day = date, n = n }
    elseif write == 5 then Event{ day = date, n = n }:save()
    else Event:filter_key(date):update_all{ n = n } end
    numbers[index] = n
    equal({ event:refresh().n, Event:fetch_one{ day = date }.n, Event:fetch_count() }, { n, n, #days })
  end
  equal(db:fetch_values "SELECT day FROM event ORDER BY day", days)
end)
