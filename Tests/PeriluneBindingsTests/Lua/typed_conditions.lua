--- Conditions on columns with named types.

db:execute[[
  CREATE TABLE item (id INTEGER PRIMARY KEY, settings TEXT, point TEXT);
  INSERT INTO item VALUES (1, '{"a":1,"tags":["x","y"]}', '1;2'), (2, '["x","y"]', '3;4'), (3, NULL, NULL), (4, '[]', '1;2')]]

local point = {
  from_database = function(text) local x, y = text:match("(%d+);(%d+)") return { x = tonumber(x), y = tonumber(y) } end,
  to_database = function(value) return value.x .. ";" .. value.y end,
}
local Item = perilune.record("item", { types = { settings = "json", point = point } })

test("a condition compares a JSON column with a table as a whole document", function()
  equal(Item:filter{ settings = { tags = { "x", "y" }, a = 1 } }:pluck("id"), { 1 })
  equal(Item:filter{ settings = { "x", "y" } }:pluck("id"), { 2 })
  equal(Item:filter{ settings = perilune.json.array() }:pluck("id"), { 4 })
  equal(Item:filter{ settings = perilune.null }:pluck("id"), { 3 })
  equal(Item:filter(Item.c.settings:eq{ a = 2 }):fetch_count(), 0)
  equal(Item:filter{ settings = { "x", "y" }, id = { 1, 2 } }:pluck("id"), { 2 })
end)

test("conditions can find one of several JSON documents, and values inside them", function()
  equal(Item:filter(Item.c.settings:is_in{ { "x", "y" }, perilune.json.array() }):order("id"):pluck("id"), { 2, 4 })
  equal(Item:filter(Item.c.settings:json("$.a"):eq(1)):pluck("id"), { 1 })
  equal(Item:filter(Item.c.settings:json("tags"):is_not_null()):pluck("id"), { 1 })
end)

test("for a column with a custom type, a table with names is one value, and a list is several values", function()
  equal(Item:filter{ point = { x = 1, y = 2 } }:order("id"):pluck("id"), { 1, 4 })
  equal(Item:filter{ point = { { x = 3, y = 4 }, { x = 9, y = 9 } } }:pluck("id"), { 2 })
  equal(Item:filter{ point = { x = 1, y = 2 } }:update_all{ point = { x = 5, y = 5 } }.changed_rows, 2)
  equal(Item:find(1).point, { x = 5, y = 5 })
end)

-- Wherever a value meets a column -------------------------------------------------------------------------------------------------

local cents = {
  from_database = function(value) return value / 100 end,
  to_database = function(value) return math.floor(value * 100 + 0.5) end,
}

local function prices()
  db:execute[[
    CREATE TABLE price (id INTEGER PRIMARY KEY, cents INTEGER, name TEXT);
    INSERT INTO price VALUES (1, 1200, 'a'), (2, 1250, 'b'), (3, 1300, 'c'), (4, 12, 'd')]]
  return perilune.record("price", { types = { cents = cents } })
end

test("operators, bounds, lists, collations and left operands all convert values", function()
  local P = prices()
  local c = P.c.cents
  for condition, expected in pairs{
    [c:between(12, 12.5)] = { 1, 2 },
    [~c:between(12, 12.5)] = { 3, 4 },
    [c:eq(12)] = { 1 },
    [c:gt(12.5)] = { 3 },
    [c:is_in{ 12, 13 }] = { 1, 3 },
    [c:is_in{ 12, perilune.value(1300) }] = { 1, 3 },
    [c:collating("nocase"):eq(12)] = { 1 },
    [perilune.value(12):eq(c)] = { 1 },
    [perilune.value(12.5):lt(c)] = { 3 },
    [c:between(c, c)] = { 1, 2, 3, 4 },
  } do
    equal(P:filter(condition):order("id"):pluck("id"), expected)
  end
end)

test("parameters of prepared requests are converted for the column that they are compared with", function()
  local P = prices()
  local p = perilune.parameter
  local function ids(condition, values)
    local list = P:filter(condition):order("id"):prepare():fetch_all(values)
    for index, record in ipairs(list) do list[index] = record.id end
    return list
  end
  equal(ids(P.c.cents:eq(p "c"), { c = 12 }), { 1 })
  equal(ids(P.c.cents:between(p "low", p "high"), { low = 12, high = 12.5 }), { 1, 2 })
  equal(ids(P.c.cents:is_in{ p "c", 13 }, { c = 12 }), { 1, 3 })
  equal(ids(P.c.cents:eq(p "c") | P.c.id:eq(p "c"), { c = 13 }), { 3 })
  equal(ids(P.c.cents:gt(p "c") & P.c.id:lt(p "c"), { c = 3 }), { 1, 2 })
  matches(tostring(P:filter(P.c.cents:eq(p "c"))), "= :c")
  fails("unknown_parameter", ids, P.c.cents:eq(p "c"), { d = 1 })
  matches(fails("argument", ids, P.c.cents:eq(p "c"), {}), "has the parameter `c`")
end)

test("update_all converts values and leaves expressions unchanged", function()
  local P = prices()
  P:filter_key(1):update_all{ cents = 1 }
  P:filter_key(2):update_all{ cents = P.c.cents + 1 }
  P:filter_key(3):update_all{ cents = perilune.null }
  P:upsert({ id = 4, name = "x" }, { update = { cents = 2 } })
  equal(db:fetch_optional_values "SELECT cents FROM price ORDER BY id", { 100, 1251, perilune.null, 200 })
end)
