-- Tables of options, all of which one function reads.

db:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name)")
local Author = perilune.record("author")

--- Calls that accept a table of options.
local calls = {
  create_table = function(options) db:create_table("t", options, function() end) end,
  record = function(options) perilune.record("author", options) end,
  on_conflict = function(options) perilune.record("author", { on_conflict = options }) end,
  insert = function(options) Author:insert({ name = "x" }, options) end,
  update_all = function(options) Author:update_all({ name = "x" }, options) end,
  has_many = function(options) Author:has_many(Author, options) end,
  add_function = function(options) db:add_function("f", options, function() end) end,
  migrator = function(options) perilune.migrator(options) end,
  migrate = function(options) perilune.migrator():migrate(db, options) end,
  observe_transactions = function(options) db:observe_transactions(options) end,
  observe = function(options) db:observe(function() end, function() end, options) end,
}

test("if several options are unknown, the alphabetically first one is reported", function()
  for name, call in pairs(calls) do
    local err = fails("unknown_option", call, { zebra = 1, apple = 2, mango = 3 })
    equal({ name, err.name }, { name, "apple" })
  end
end)

test("tables of options refuse values without a name", function()
  for _, call in pairs(calls) do
    matches(fails("argument", call, { "x" }), "expected options with names, got ")
  end
end)

test("the error of an unknown option names the function, even in a tail call", function()
  local last_calls = {
    ["db:create_table"] = function() return db:create_table("t", { apple = 1 }, function() end) end,
    ["perilune.record"] = function() return perilune.record("author", { apple = 1 }) end,
    insert = function() return Author:insert({ name = "x" }, { apple = 1 }) end,
    ["perilune.migrator"] = function() return perilune.migrator{ apple = 1 } end,
    ["perilune.automation"] = function() return perilune.automation{ name = "a", apple = 1 } end,
    ["perilune.schedule"] = function() return perilune.schedule("* * * * *", print, { apple = 1 }) end,
    ["db:add_function"] = function() return db:add_function("f", { apple = 1 }, print) end,
  }
  for name, call in pairs(last_calls) do matches(fails("unknown_option", call), name .. ": no option `apple`") end
end)
