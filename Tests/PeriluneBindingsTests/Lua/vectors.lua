--- Vectors and nearest-neighbor searches.

--- Creates a table that behaves like one of sqlite-vec.
local function items()
  db:add_function("match", 2, function(wanted) return wanted ~= nil end)
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, embedding BLOB, k INTEGER, distance REAL)"
  db:execute "INSERT INTO item (name, k, distance) VALUES ('far', 2, 9.0), ('near', 2, 1.0), ('other', 3, 0.0)"
  return perilune.record "item"
end

test("a vector column contains lists of numbers", function()
  db:execute "CREATE TABLE stored (id INTEGER PRIMARY KEY, embedding BLOB)"
  local Stored = perilune.record("stored", { types = { embedding = "vector" } })
  local stored = Stored{ embedding = { 1, -2.5 } }:insert()
  equal(db:fetch_value "SELECT hex(embedding) FROM stored", "0000803F000020C0")
  equal(Stored:find(1).embedding, { 1.0, -2.5 })
  stored.embedding = { 0.5 }
  equal({ stored:has_changes(), stored:update_changes(), #Stored:find(1).embedding }, { true, true, 1 })
  Stored{ embedding = perilune.vector{ 4 } }:insert()
  equal(Stored:find(2).embedding, { 4.0 })
  equal(Stored:insert{}.embedding, nil)
  matches(fails("conversion", function() Stored{ embedding = { "x" } }:insert() end), "number")
  matches(fails("conversion", function() Stored{ embedding = {} }:insert() end), "empty")
  db:execute "UPDATE stored SET embedding = x'00'"
  matches(fails("conversion", function() return Stored:find(1).embedding end), "32-bit floats")
end)

test("a vector is a blob of 32-bit floats and converts back to a list", function()
  local blob = perilune.vector{ 1, -2.5, 0 }
  equal({ #blob, tostring(blob) }, { 12, string.pack("<fff", 1, -2.5, 0) })
  equal(perilune.vector_numbers(blob), { 1.0, -2.5, 0.0 })
  equal(perilune.vector(blob) == blob, true)
  equal(perilune.vector_numbers(db:fetch_value("SELECT ?", blob)), { 1.0, -2.5, 0.0 })
  equal(db:fetch_value("SELECT hex(?)", perilune.vector{ 1 }), "0000803F")
end)

test("invalid vectors are refused", function()
  for _, wrong in ipairs{ {}, 5, "x", { 1, "2" }, { 0 / 0 }, { 1e39 }, { -math.huge }, perilune.blob "abc", perilune.blob "" } do
    fails("argument", perilune.vector, wrong)
  end
  for _, wrong in ipairs{ { 1 }, "abc", "", perilune.blob "abc", 5 } do fails("argument", perilune.vector_numbers, wrong) end
  fails("argument", perilune.vector)
  fails("argument", perilune.vector, { 1 }, 2)
  matches(fails("argument", perilune.vector, { 1, true }).message, "element 2: expected a number")
end)

test("nearest returns the records by distance", function()
  local Item = items()
  local found = Item:nearest("embedding", { 0.1, 0.2 }, 2):fetch_all()
  equal({ #found, found[1].name, found[1].distance, found[2].name }, { 2, "near", 1.0, "far" })
  equal(Item:filter{ name = "far" }:nearest(Item.c.embedding, perilune.vector{ 1, 2 }, 2):fetch_one().id, 1)
end)

test("nearest refuses invalid arguments", function()
  local Item = items()
  for _, count in ipairs{ 0, -1, 1.5, "2", 4097 } do fails("argument", Item.nearest, Item, "embedding", { 1 }, count) end
  fails("argument", Item.nearest, Item, "embedding", { 1 })
  fails("argument", Item.nearest, Item, "embedding", {}, 1)
  fails("argument", Item.nearest, Item, 5, { 1 }, 1)
  fails("argument", Item.nearest, Item, "embedding", { 1 }, 1, 2)
  equal(fails("unknown_column", function() return Item:nearest("embeding", { 1 }, 1):fetch_all() end).suggestion, "embedding")
end)
