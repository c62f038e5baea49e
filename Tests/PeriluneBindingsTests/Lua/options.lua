-- Tables of options, which are all read by the same function.

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

test("of several unknown options, the first by name is reported", function()
  for name, call in pairs(calls) do
    local err = fails("unknown_option", call, { zebra = 1, apple = 2, mango = 3 })
    equal({ name, err.name }, { name, "apple" })
  end
end)

test("unnamed values in options are refused", function()
  for _, call in pairs(calls) do
    matches(fails("argument", call, { "x" }), "expected options with names, got ")
  end
end)
