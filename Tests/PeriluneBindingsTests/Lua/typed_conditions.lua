--- Conditions on columns whose values the class has named types for.

db:execute[[
  CREATE TABLE item (id INTEGER PRIMARY KEY, settings TEXT, point TEXT);
  INSERT INTO item VALUES (1, '{"a":1,"tags":["x","y"]}', '1;2'), (2, '["x","y"]', '3;4'), (3, NULL, NULL), (4, '[]', '1;2')]]

local point = {
  from_database = function(text) local x, y = text:match("(%d+);(%d+)") return { x = tonumber(x), y = tonumber(y) } end,
  to_database = function(value) return value.x .. ";" .. value.y end,
}
local Item = perilune.record("item", { types = { settings = "json", point = point } })

test("a table is a JSON document, which must be equal", function()
  equal(Item:filter{ settings = { tags = { "x", "y" }, a = 1 } }:pluck("id"), { 1 })
  equal(Item:filter{ settings = { "x", "y" } }:pluck("id"), { 2 })
  equal(Item:filter{ settings = perilune.json.array() }:pluck("id"), { 4 })
  equal(Item:filter{ settings = perilune.null }:pluck("id"), { 3 })
  equal(Item:filter(Item.c.settings:eq{ a = 2 }):fetch_count(), 0)
  equal(Item:filter{ settings = { "x", "y" }, id = { 1, 2 } }:pluck("id"), { 2 })
end)

test("one of several documents, and what is inside of them", function()
  equal(Item:filter(Item.c.settings:is_in{ { "x", "y" }, perilune.json.array() }):order("id"):pluck("id"), { 2, 4 })
  equal(Item:filter(Item.c.settings:json("$.a"):eq(1)):pluck("id"), { 1 })
  equal(Item:filter(Item.c.settings:json("tags"):is_not_null()):pluck("id"), { 1 })
end)

test("a table with names is one value of a type of its own, a list is several", function()
  equal(Item:filter{ point = { x = 1, y = 2 } }:order("id"):pluck("id"), { 1, 4 })
  equal(Item:filter{ point = { { x = 3, y = 4 }, { x = 9, y = 9 } } }:pluck("id"), { 2 })
  equal(Item:filter{ point = { x = 1, y = 2 } }:update_all{ point = { x = 5, y = 5 } }.changed_rows, 2)
  equal(Item:find(1).point, { x = 5, y = 5 })
end)
