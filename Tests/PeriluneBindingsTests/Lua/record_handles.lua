--- Records and requests with databases that can no longer be used.

db:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO person VALUES (1, 'Ada')"
local Person = perilune.record "person"

--- All functions that accept a database.
local function ways(handle)
  local ada, request = Person:find(1), Person:filter{ id = 1 }
  return {
    function() Person:fetch_all(handle) end,
    function() Person:fetch_all(handle, "SELECT * FROM person") end,
    function() Person:fetch_one(handle, 1) end,
    function() Person:find(handle, 1) end,
    function() Person:fetch_count(handle) end,
    function() for _ in Person:rows(handle) do end end,
    function() Person:insert(handle, { name = "x" }) end,
    function() Person:insert_all(handle, { { name = "x" } }) end,
    function() Person:upsert(handle, { id = 1 }) end,
    function() Person:delete_one(handle, 1) end,
    function() Person:delete_all(handle) end,
    function() ada:update(handle) end,
    function() ada:update_changes(handle, { name = "x" }) end,
    function() ada:save(handle) end,
    function() ada:delete(handle) end,
    function() ada:exists(handle) end,
    function() ada:refresh(handle) end,
    function() request:fetch_all(handle) end,
    function() request:fetch_one(handle) end,
    function() request:fetch_count(handle) end,
    function() for _ in request:rows(handle) do end end,
    function() request:update_all(handle, { name = "x" }) end,
    function() request:delete_all(handle) end,
    function() Person.draft{ name = "x" }:validation_errors(handle) end,
  }
end

test("a record method raises an explicit error for the handle of an ended block", function()
  local handle
  db:write(function(inner) handle = inner end)
  function Person:validate(db) db:fetch_value "SELECT 1" end
  for _, way in ipairs(ways(handle)) do
    matches(fails("dead_handle", way).message, "this database handle was used after its block ended")
  end
  equal(db:fetch_all "SELECT id, name FROM person", { { id = 1, name = "Ada" } })
end)

test("a record method raises an explicit error for a closed database", function()
  local other = perilune.queue(":memory:")
  other:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT)"
  Person:insert(other, { name = "x" })
  other:close()
  function Person:validate(db) db:fetch_value "SELECT 1" end
  for _, way in ipairs(ways(other)) do fails("closed", way) end
end)

test("a record method raises an explicit error for a value that is not a database", function()
  local ada = Person:find(1)
  fails("argument", ada.update, ada, "db")
  fails("argument", ada.refresh, ada, 1)
  fails("argument", Person.fetch_all, Person, {})
  local request = Person:filter{ id = 1 }
  matches(fails("argument", request.fetch_all, request, "db").message, "expected a database")
end)
