--- Random requests are compared with a naive evaluation in Lua. The evaluation shares no code with the compiler: it visits the rows one by
-- one, with SQL's three-valued logic (true, false, nil).

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20260321)

-- Data ------------------------------------------------------------------------------------------------------------------------

local texts = { "", "a", "A", "ab", "b", "Ba", "z'", 'q"', "50%", "a_b", "é" }
local integers = { -3, 0, 1, 2, 3, 7, 9007199254740993 }
local reals = { -1.5, 0.0, 0.5, 2.0, 3.25, 1e300 }
local columns = { "id", "n", "m", "x", "s", "t" }
local kinds = { id = "number", n = "number", m = "number", x = "number", s = "string", t = "string" }
local values = {
  id = integers, n = integers, m = integers, x = reals, s = texts, t = texts,
}

local function make_rows(count)
  local rows = {}
  for id = 1, count do
    rows[id] = {
      id = id, n = random(4) > 1 and pick(integers) or nil, m = pick(integers), x = random(5) > 1 and pick(reals) or nil,
      s = random(4) > 1 and pick(texts) or nil, t = pick(texts),
    }
  end
  return rows
end

local function fill(Thing, count)
  local rows, list = make_rows(count), {}
  for index, row in ipairs(rows) do list[index] = Thing(row) end
  Thing:insert_all(list)
  return Thing, rows
end

local function make_table(count)
  db:execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, n INTEGER, m INTEGER NOT NULL, x REAL, s TEXT, t TEXT NOT NULL)")
  return fill(perilune.record("thing"), count)
end

--- Creates a class with the same fields over columns with other names, some of them lazy.
local function make_named_table(count)
  db:execute([[
    CREATE TABLE thing (
      "thingId" INTEGER PRIMARY KEY, "order" INTEGER, "M" INTEGER NOT NULL, "the ""x" REAL, "SText" TEXT, t TEXT NOT NULL
    )]])
  return fill(perilune.record("thing", {
    naming = function(column) return column:lower() end,
    fields = { id = "thingId", n = { column = "order" }, x = { column = 'the "x', lazy = true }, s = { column = "SText" }, t = { lazy = true } },
  }), count)
end

--- Creates a substitute for a class that had these rows in the past and has others now.
local function make_past(make)
  return function(count)
    local Thing, rows = make(count)
    perilune.history(Thing):install()
    db:execute("UPDATE thing_history SET history_day = julianday('2001-01-01')")
    db:execute("UPDATE thing SET t = t || 'x'; DELETE FROM thing WHERE rowid % 3 = 0")
    Thing{ m = 1, t = "new" }:insert()
    return { c = Thing.c, all = function() return Thing:as_of("2001-06-01") end }, rows
  end
end

-- Conditions: each is an expression and a function that evaluates it for a row ----------------------------------------------------

local comparisons = {
  eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end, lt = function(a, b) return a < b end,
  le = function(a, b) return a <= b end, gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
}
local comparison_names = { "eq", "ne", "lt", "le", "gt", "ge" }

--- Compares bytes like SQLite's BINARY collation.
local function text_less(a, b)
  for index = 1, math.min(#a, #b) do
    local left, right = a:byte(index), b:byte(index)
    if left ~= right then return left < right end
  end
  return #a < #b
end

local function compare(name, a, b)
  if a == nil or b == nil then return nil end
  if type(a) ~= "string" then return comparisons[name](a, b) end
  local order = a == b and 0 or text_less(a, b) and -1 or 1
  return comparisons[name](order, 0)
end

local function value_and_column(Thing)
  local column = pick(columns)
  return column, Thing.c[column], pick(values[column])
end

local leaves = {
  function(Thing)
    local name, column, value = value_and_column(Thing)
    local how = pick(comparison_names)
    return column[how](column, value), function(row) return compare(how, row[name], value) end
  end,
  function(Thing)
    local name, column = value_and_column(Thing)
    local others = {}
    for _, other in ipairs(columns) do
      if kinds[other] == kinds[name] then others[#others + 1] = other end
    end
    local other, how = pick(others), pick(comparison_names)
    return column[how](column, Thing.c[other]), function(row) return compare(how, row[name], row[other]) end
  end,
  function(Thing)
    local name, column = value_and_column(Thing)
    if random(2) == 1 then return column:is_null(), function(row) return row[name] == nil end end
    return column:is_not_null(), function(row) return row[name] ~= nil end
  end,
  function(Thing)
    local name, column = value_and_column(Thing)
    local list = {}
    for index = 1, random(4) - 1 do list[index] = pick(values[name]) end
    return column:is_in(list), function(row)
      if #list == 0 then return false end
      if row[name] == nil then return nil end
      for _, value in ipairs(list) do
        if value == row[name] then return true end
      end
      return false
    end
  end,
  function(Thing)
    local name, column, low = value_and_column(Thing)
    local high = pick(values[name])
    return column:between(low, high), function(row)
      local above, below = compare("ge", row[name], low), compare("le", row[name], high)
      if above == false or below == false then return false end
      if above == nil or below == nil then return nil end
      return true
    end
  end,
  function(Thing)
    local name = pick{ "s", "t" }
    local part = pick(texts)
    local function lower(text) return (text:gsub("%u", string.lower)) end
    return Thing.c[name]:contains(part), function(row)
      if row[name] == nil then return nil end
      return lower(row[name]):find(lower(part), 1, true) ~= nil
    end
  end,
  function(Thing)
    local a, b, limit = pick{ "id", "m" }, pick{ "id", "n" }, random(12)
    return (Thing.c[a] - Thing.c[b] * 2):lt(limit), function(row)
      if row[b] == nil then return nil end
      return row[a] - row[b] * 2 < limit
    end
  end,
}

local function condition(Thing, depth)
  local kind = depth > 0 and random(6) or 6
  if kind > 3 then return pick(leaves)(Thing) end
  local left, of_left = condition(Thing, depth - 1)
  if kind == 1 then
    return ~left, function(row)
      local value = of_left(row)
      if value == nil then return nil end
      return not value
    end
  end
  local right, of_right = condition(Thing, depth - 1)
  if kind == 2 then
    return left & right, function(row)
      local a, b = of_left(row), of_right(row)
      if a == false or b == false then return false end
      if a == nil or b == nil then return nil end
      return true
    end
  end
  return left | right, function(row)
    local a, b = of_left(row), of_right(row)
    if a or b then return true end
    if a == nil or b == nil then return nil end
    return false
  end
end

-- Orders: NULL first, then numbers or bytes; the key last, so that the order is complete ------------------------------------------

local function sort(rows, orders)
  table.sort(rows, function(a, b)
    for _, order in ipairs(orders) do
      local left, right = a[order.column], b[order.column]
      if left ~= right then
        local is_less
        if left == nil or right == nil then is_less = left == nil
        elseif type(left) == "string" then is_less = text_less(left, right)
        else is_less = left < right end
        return is_less ~= order.descends
      end
    end
    return false
  end)
end

local function random_orders(Thing)
  local orders, terms = {}, {}
  for index = 1, random(3) - 1 do orders[index] = { column = pick(columns), descends = random(2) == 1 } end
  orders[#orders + 1] = { column = "id", descends = random(2) == 1 }
  for index, order in ipairs(orders) do
    local column = Thing.c[order.column]
    terms[index] = order.descends and column:desc() or column
  end
  return orders, terms
end

-- Requests ----------------------------------------------------------------------------------------------------------------------------

local function ids(rows)
  local list = {}
  for index, row in ipairs(rows) do list[index] = row.id end
  return table.concat(list, " ")
end

--- Returns a random request and its expected rows.
local function random_request(Thing, rows)
  local request, expected = Thing:all(), rows
  for _ = 1, random(3) - 1 do
    local filter, holds = condition(Thing, 3)
    request = request:filter(filter)
    local kept = {}
    for _, row in ipairs(expected) do
      if holds(row) then kept[#kept + 1] = row end
    end
    expected = kept
  end
  expected = table.move(expected, 1, #expected, 1, {})
  local orders, terms = random_orders(Thing)
  request = request:order(table.unpack(terms))
  if random(4) == 1 then
    request = request:reversed()
    for _, order in ipairs(orders) do order.descends = not order.descends end
  end
  sort(expected, orders)
  if random(3) == 1 then
    local limit, offset = random(6) - 1, random(4) - 1
    request = request:limit(limit, offset)
    expected = table.move(expected, offset + 1, math.min(offset + limit, #expected), 1, {})
  end
  return request, expected
end

local function check(seed_offset, count, make)
  random, pick = random_numbers(20260321 + seed_offset)
  local Thing, rows = (make or make_table)(25)
  db:read(function()
    for number = 1, count do
      local request, expected = random_request(Thing, rows)
      local got = request:fetch_all()
      if ids(got) ~= ids(expected) then
        error(("request %d: %s\nexpected: %s\ngot: %s"):format(number, request:sql(), ids(expected), ids(got)))
      end
      equal(request:fetch_count(), #expected)
      equal(request:is_empty(), #expected == 0)
      local first = request:fetch_one()
      equal(first and first.id, expected[1] and expected[1].id)
    end
  end)
end

test("random requests match a naive evaluation", function() check(0, rounds(400)) end)
test("a second set of random requests matches a naive evaluation", function() check(7919, rounds(400)) end)
test("a third set of random requests matches a naive evaluation", function() check(104729, rounds(400)) end)
test("random requests match a naive evaluation if fields have different names than columns", function() check(15485863, rounds(400), make_named_table) end)

test("random requests for past rows match a naive evaluation", function() check(32452843, rounds(400), make_past(make_table)) end)
test("random requests for past rows match a naive evaluation if fields have other names", function() check(49979687, rounds(400), make_past(make_named_table)) end)

local function check_changes(make)
  local Thing, rows = make(25)
  for _ = 1, rounds(200) do
    local filter, holds = condition(Thing, 3)
    local expected = 0
    for _, row in ipairs(rows) do
      if holds(row) then
        expected = expected + 1
        row.m = -row.m
      end
    end
    equal(Thing:filter(filter):update_all{ m = -Thing.c.m }.changed_rows, expected)
  end
  for _, row in ipairs(rows) do equal(Thing:find(row.id).m, row.m) end
end

test("random changes affect the same rows as a naive evaluation", function() check_changes(make_table) end)
test("random changes over renamed fields affect the same rows as a naive evaluation", function() check_changes(make_named_table) end)

local function check_groups(make)
  local Thing, rows = make(25)
  for _ = 1, rounds(200) do
    local filter, holds = condition(Thing, 2)
    local column = pick(columns)
    local groups, count = {}, 0
    for _, row in ipairs(rows) do
      if holds(row) then
        local key = row[column] == nil and "NULL" or row[column]
        if not groups[key] then
          groups[key] = { n = 0, sum = 0 }
          count = count + 1
        end
        groups[key].n, groups[key].sum = groups[key].n + 1, groups[key].sum + row.id
      end
    end
    local got = Thing:all():filter(filter):group(column)
      :select(column, perilune.sql("COUNT(*)"):as("how_many"), Thing.c.id:sum():as("ids")):fetch_all()
    equal(#got, count)
    for _, row in ipairs(got) do
      local key = row[1] == nil and "NULL" or row[1]
      equal({ row.how_many, row.ids }, { groups[key].n, groups[key].sum })
    end
  end
end

test("random groups of past rows match a naive evaluation", function() check_groups(make_past(make_table)) end)
test("random groups match a naive evaluation", function() check_groups(make_table) end)
test("random groups match a naive evaluation if fields have different names than columns", function() check_groups(make_named_table) end)
