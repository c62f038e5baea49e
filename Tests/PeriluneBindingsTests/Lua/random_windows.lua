--- Random windows, filters by them, joins on conditions and alternatives are compared with a naive evaluation in Lua. The evaluation shares
-- no code with the compiler: it visits the rows one by one.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20260417)

-- Data ------------------------------------------------------------------------------------------------------------------------

local function make_rows(count)
  local rows = {}
  for id = 1, count do
    rows[id] = { id = id, a = random(4) > 1 and random(3) or nil, b = random(4), n = random(5) > 1 and random(9) - 4 or nil }
  end
  return rows
end

--- Half of the tables have columns whose names differ from the fields.
local function make_table(name, count)
  local Class
  if random(2) == 1 then
    db:execute(("CREATE TABLE %s (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL, n INTEGER)"):format(name))
    Class = perilune.record(name)
  else
    db:execute(([[CREATE TABLE %s ("theId" INTEGER PRIMARY KEY, "theA" INTEGER, "theB" INTEGER NOT NULL, "theN" INTEGER)]]):format(name))
    Class = perilune.record(name, {
      naming = function(column) return column:match("^the(%u)$") and column:sub(4):lower() or column end,
      fields = { id = "theId", n = { column = "theN", lazy = random(2) == 1 } },
    })
  end
  local rows, list = make_rows(count), {}
  for index, row in ipairs(rows) do list[index] = Class(row) end
  Class:insert_all(list)
  return Class, rows
end

--- NULL comes first.
local function is_less(left, right)
  if left == nil then return right ~= nil end
  return right ~= nil and left < right
end

local function comparer(orders)
  return function(x, y)
    for _, order in ipairs(orders) do
      local left, right = x[order.column], y[order.column]
      if left ~= right then return is_less(left, right) ~= order.descends end
    end
    return false
  end
end

local function random_orders(is_complete)
  local orders = {}
  for index = 1, random(2) do orders[index] = { column = pick{ "a", "b", "n" }, descends = random(2) == 1 } end
  if is_complete then orders[#orders + 1] = { column = "id", descends = random(2) == 1 } end
  return orders
end

local function terms_of(Class, orders)
  local terms = {}
  for index, order in ipairs(orders) do
    local column = (rawget(Class, "is_grouped") or random(2) == 1) and Class.c[order.column] or perilune.column(order.column)
    terms[index] = order.descends and column:desc() or column
  end
  return terms
end

-- Windows ---------------------------------------------------------------------------------------------------------------------

--- Returns the rows of a partition that are in the frame of a row, without the excluded ones.
local function framed(list, position, frame, before)
  local found = {}
  for index = math.max(frame.from + position, 1), math.min(frame.to + position, #list) do
    local row, current = list[index], list[position]
    local is_peer = not before(row, current) and not before(current, row)
    local is_out = frame.exclude == "current_row" and index == position or frame.exclude == "group" and is_peer
      or frame.exclude == "ties" and is_peer and index ~= position
    if not is_out then found[#found + 1] = row end
  end
  return found
end

local function sum(rows)
  local result
  for _, row in ipairs(rows) do
    if row.n then result = (result or 0) + row.n end
  end
  return result
end

--- Functions of a row at a position in its ordered partition; `is_framed` marks the functions that use the frame.
local functions = {
  { make = function() return perilune.row_number() end, of = function(_, position) return position end },
  { ties = true, make = function() return perilune.rank() end, of = function(list, position, before)
    local rank = 1
    for index = 1, #list do
      if before(list[index], list[position]) then rank = rank + 1 end
    end
    return rank
  end },
  { ties = true, make = function() return perilune.dense_rank() end, of = function(list, position, before)
    local rank = 1
    for index = 2, position do
      if before(list[index - 1], list[index]) then rank = rank + 1 end
    end
    return rank
  end },
  { make = function(Class) return Class.c.n:lag(2) end, of = function(list, position) return (list[position - 2] or {}).n end },
  { make = function(Class) return Class.c.n:lead(1, 99) end, of = function(list, position)
    local row = list[position + 1]
    if not row then return 99 end
    return row.n
  end },
  { is_framed = true, make = function(Class) return Class.c.n:sum() end, of = sum },
  { is_framed = true, make = function(Class) return Class.c.n:sum():where(Class.c.b:gt(2)) end, of = function(rows)
    local kept = {}
    for _, row in ipairs(rows) do
      if row.b > 2 then kept[#kept + 1] = row end
    end
    return sum(kept)
  end },
  { is_framed = true, make = function() return perilune.count() end, of = function(rows) return #rows end },
  { is_framed = true, make = function(Class) return Class.c.id:first_value() end, of = function(rows) return (rows[1] or {}).id end },
  { is_framed = true, make = function(Class) return Class.c.id:nth_value(2) end, of = function(rows) return (rows[2] or {}).id end },
}

--- Returns a random value over a window, and a function from rows to their values by id.
local function random_window(Class)
  local f, partition = pick(functions), pick{ "a", "b", false }
  local orders = random_orders(not f.ties)
  local before = comparer(orders)
  local over = { partition_by = partition and (rawget(Class, "is_grouped") and Class.c[partition] or partition) or nil, order_by = terms_of(Class, orders) }
  local frame
  if f.is_framed then
    local from, to = random(4) - 3, nil
    to = from + random(4) - 1
    local is_open = random(3) == 1
    frame = { from = is_open and -1000 or from, to = to, exclude = pick{ false, "current_row", "group", "ties" } or nil }
    over.frame = { rows = { is_open and "unbounded" or from, to }, exclude = frame.exclude }
  end
  return f.make(Class):over(over), function(rows)
    local partitions, results = {}, {}
    for _, row in ipairs(rows) do
      local key = partition and (row[partition] or "NULL") or 1
      partitions[key] = partitions[key] or {}
      table.insert(partitions[key], row)
    end
    for _, list in pairs(partitions) do
      table.sort(list, before)
      for position, row in ipairs(list) do
        if f.is_framed then results[row.id] = f.of(framed(list, position, frame, before))
        else results[row.id] = f.of(list, position, before) end
      end
    end
    return results
  end
end

local function ids(rows)
  local list = {}
  for index, row in ipairs(rows) do list[index] = row.id end
  table.sort(list)
  return table.concat(list, " ")
end

local function where(rows, holds)
  local kept = {}
  for _, row in ipairs(rows) do
    if holds(row) then kept[#kept + 1] = row end
  end
  return kept
end

--- Returns the rows whose value over a window is at most a limit, like `value:le(limit)`.
local function up_to(limit, values, rows)
  return where(rows, function(row) return values[row.id] ~= nil and values[row.id] <= limit end)
end

--- Checks that the request has the expected rows. Returns its rows.
local function expect_rows(number, request, expected)
  local rows = request:fetch_all()
  local got = ids(rows)
  if got ~= ids(expected) then
    error(("%d: %s\nexpected: %s\ngot: %s"):format(number, tostring(request), ids(expected), got))
  end
  equal(request:fetch_count(), #expected)
  return rows
end

--- Returns a simple random condition.
local function random_condition(Class)
  local name, value = pick{ "a", "b", "n" }, random(4)
  if random(2) == 1 then
    return Class.c[name]:le(value), function(row) return row[name] ~= nil and row[name] <= value end
  end
  return Class.c[name]:is_null() | Class.c[name]:ne(value), function(row) return row[name] ~= value end
end

test("random window functions match a naive evaluation", function()
  local Thing, rows = make_table("thing", 25)
  db:read(function()
    for number = 1, rounds(200) do
      local condition, holds = random_condition(Thing)
      local value, evaluate = random_window(Thing)
      local request = Thing:filter(condition):select("id", value:as("v"))
      local expected = evaluate(where(rows, holds))
      for id, got in request:tuples() do
        if got ~= expected[id] then
          error(("%d: %s\nrow %d: expected %s, got %s"):format(number, tostring(request), id, expected[id], got))
        end
      end
    end
  end)
end)

--- Groups rows. Returns a stand-in for their class, whose columns are aggregates, and the groups as rows.
local function group(Thing, column, rows)
  local groups, by_key = {}, {}
  for _, row in ipairs(rows) do
    local key = row[column] or "NULL"
    local group = by_key[key]
    if not group then
      group = { id = row.id, a = row[column], b = 0 }
      groups[#groups + 1], by_key[key] = group, group
    end
    group.id, group.b = math.min(group.id, row.id), group.b + 1
    if row.n then group.n = (group.n or 0) + row.n end
  end
  return { is_grouped = true, c = { id = Thing.c.id:min(), a = Thing.c[column], b = perilune.count(), n = Thing.c.n:sum() } }, groups
end

test("random window functions over groups, and filters by them, match a naive evaluation", function()
  local Thing, rows = make_table("thing", 40)
  db:read(function()
    for number = 1, rounds(300) do
      local condition, holds = random_condition(Thing)
      local column = pick{ "a", "b", "n", "id" }
      local Grouped, groups = group(Thing, column, where(rows, holds))
      local value, evaluate = random_window(Grouped)
      local request = Thing:filter(condition):group(column):select(Grouped.c.id:as("id"), value:as("v"))
      local expected, limit = evaluate(groups), random(6) - 2
      if random(3) == 1 then
        request = request:filter(value:le(limit))
        groups = up_to(limit, expected, groups)
      end
      local count = 0
      for id, got in request:tuples() do
        count = count + 1
        if got ~= expected[id] then
          error(("%d: %s\ngroup %d: expected %s, got %s"):format(number, tostring(request), id, expected[id], got))
        end
      end
      if count ~= #groups then error(("%d: %s\nexpected %d groups, got %d"):format(number, tostring(request), #groups, count)) end
    end
  end)
end)

test("random filters by windows, before and after other filters, match a naive evaluation", function()
  local Thing, rows = make_table("thing", 25)
  db:read(function()
    for number = 1, rounds(200) do
      local first, first_holds = random_condition(Thing)
      local second, second_holds = random_condition(Thing)
      local value, evaluate = random_window(Thing)
      local limit = random(6) - 1
      local request = Thing:filter(first):filter(value:le(limit)):filter(second)
      local kept = where(rows, first_holds)
      expect_rows(number, request, where(up_to(limit, evaluate(kept), kept), second_holds))
    end
  end)
end)

test("random window functions combined with filters by windows match a naive evaluation", function()
  local Thing, rows = make_table("thing", 25)
  db:read(function()
    for number = 1, rounds(200) do
      local first, first_holds = random_condition(Thing)
      local second, second_holds = random_condition(Thing)
      local value, evaluate = random_window(Thing)
      local other, evaluate_other = random_window(Thing)
      local least, limit = random(3) - 2, random(6) - 1
      local request = Thing:filter(first)
      if random(2) == 1 then request = request:annotated_with(value:as("v"), other:as("w"))
      else request = request:select("id", value:as("v"), other:as("w")) end
      request = request:filter(value:le(limit)):filter(second)
      local kept = where(rows, first_holds)
      local values, others = evaluate(kept), evaluate_other(kept)
      local expected = where(up_to(limit, values, kept), second_holds)
      if random(2) == 1 then
        -- The new window ranges over the remaining rows; earlier windows keep their values.
        local third, evaluate_third = random_window(Thing)
        request = request:filter(third:ge(least))
        local thirds = evaluate_third(expected)
        expected = where(expected, function(row) return thirds[row.id] ~= nil and thirds[row.id] >= least end)
      end
      for _, row in ipairs(expect_rows(number, request:order(random(2) == 1 and "id" or "w"), expected)) do
        if row.v ~= values[row.id] or row.w ~= others[row.id] then
          error(("%d: %s\nrow %d: expected %s and %s, got %s and %s"):format(number, tostring(request), row.id, values[row.id], others[row.id],
            row.v, row.w))
        end
      end
    end
  end)
end)

test("random lists of window functions match a naive evaluation", function()
  local Thing, rows = make_table("thing", 25)
  for number = 1, rounds(100) do
    local value, evaluate = random_window(Thing)
    local values, list = evaluate(rows), {}
    for _, one in pairs(values) do list[one] = true end
    local request = Thing:filter(Thing.c.id:is_not_in(Thing:select(value)))
    expect_rows(number, request, where(rows, function(row) return not list[row.id] end))
  end
end)

test("random alternatives match a naive evaluation", function()
  local Thing, rows = make_table("thing", 25)
  for _ = 1, rounds(200) do
    local first, first_holds = random_condition(Thing)
    local second, second_holds = random_condition(Thing)
    local third, third_holds = random_condition(Thing)
    local request = (Thing:filter(first):filter(second) | Thing:filter(third)):filter(Thing.c.id:gt(3))
    local expected = where(rows, function(row) return (first_holds(row) and second_holds(row) or third_holds(row)) and row.id > 3 end)
    equal(ids(request:fetch_all()), ids(expected))
  end
end)

test("random joins of every kind match a naive evaluation", function()
  local Thing, rows = make_table("thing", 12)
  local Other, others = make_table("other", 9)
  for number = 1, rounds(200) do
    local kind, left, right = pick{ "join", "left_join", "right_join", "full_join" }, pick{ "a", "b", "n" }, pick{ "a", "b", "n" }
    local least = random(6) - 3
    local filter, holds = random_condition(Other)
    local request = Thing[kind](Thing, Other:filter(filter), Thing.c[left]:eq(Other.c[right]) & (Thing.c.id + Other.c.id):gt(least))
      :select(Thing.c.id:as("x"), Other.c.id:as("y"))
    local expected, has_left, has_right = {}, {}, {}
    for _, row in ipairs(rows) do
      for _, other in ipairs(where(others, holds)) do
        if row[left] ~= nil and row[left] == other[right] and row.id + other.id > least then
          expected[#expected + 1] = row.id .. "/" .. other.id
          has_left[row.id], has_right[other.id] = true, true
        end
      end
    end
    for _, row in ipairs(rows) do
      if not has_left[row.id] and (kind == "left_join" or kind == "full_join") then expected[#expected + 1] = row.id .. "/-" end
    end
    for _, other in ipairs(where(others, holds)) do
      if not has_right[other.id] and (kind == "right_join" or kind == "full_join") then expected[#expected + 1] = "-/" .. other.id end
    end
    local got = {}
    for index, row in ipairs(request:fetch_all()) do got[index] = (row.x or "-") .. "/" .. (row.y or "-") end
    table.sort(expected)
    table.sort(got)
    if table.concat(got, " ") ~= table.concat(expected, " ") then
      error(("%d: %s\nexpected: %s\ngot: %s"):format(number, tostring(request), table.concat(expected, " "), table.concat(got, " ")))
    end
    equal(Thing[kind](Thing, Other:filter(filter), Thing.c[left]:eq(Other.c[right]) & (Thing.c.id + Other.c.id):gt(least)):fetch_count(), #expected)
  end
end)

test("random aggregates with an order match a naive evaluation", function()
  local Thing, rows = make_table("thing", 25)
  for _ = 1, rounds(200) do
    local condition, holds = random_condition(Thing)
    local orders = random_orders(true)
    local kept = where(rows, holds)
    table.sort(kept, comparer(orders))
    local expected = {}
    for index, row in ipairs(kept) do expected[index] = row.id end
    local aggregate = Thing.c.id:group_concat(" "):order(table.unpack(terms_of(Thing, orders))):where(condition)
    equal(Thing:select(aggregate:as("v")):fetch_value(), #expected > 0 and table.concat(expected, " ") or nil)
  end
end)
