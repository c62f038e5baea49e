--- SQL functions, aggregates and collations written in Lua: methods of databases.
-- They belong to the script that defines them, exist while it runs, and must not use the database.

local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

--- SQLite's limits.
local longest_name, most_arguments = 255, 127

local function check_name(method, name)
  if type(name) ~= "string" or name == "" or #name > longest_name or name:find("\0", 1, true) then
    errors.raise("argument", "db:" .. method .. ": argument 1: expected a name of 1 to " .. longest_name
      .. " bytes, got " .. errors.describe(name))
  end
end

local function check_count(method, count)
  if math.type(count) ~= "integer" or count < -1 or count > most_arguments then
    errors.raise("argument", "db:" .. method .. ": expected the number of arguments, from 0 to " .. most_arguments
      .. ", or -1 for any, got " .. errors.describe(count))
  end
  return count
end

--- The call with all options, by method.
local calls = {
  add_function = "db:add_function(name, { arguments = 1, deterministic = true }, f)",
  add_aggregate = "db:add_aggregate(name, { arguments = 1, deterministic = true }, { step = f })",
}

--- Raises for arguments that are in another order than in the call with all options.
local function check_order(method, options)
  if type(options) ~= "function" and not (type(options) == "table" and options.step) then return end
  errors.raise("argument", ("db:%s: the options come before the function%s: %s"):format(method, method == "add_aggregate" and "s" or "", calls[method]))
end

--- Reads the optional number of arguments or table of options.
local function read_options(method, options)
  if options == nil then return -1, false end
  local place = "db:" .. method
  if type(options) ~= "table" then return check_count(method, options), false end
  if options[1] ~= nil then checks.fail(place, "expected options with names, got the integer 1; use " .. calls[method]) end
  options = checks.options(place, options, { arguments = "any", deterministic = "boolean" }, "function_option")
  return check_count(method, options.arguments or -1), options.deterministic == true
end

local function define(db, name, kind, count, is_deterministic, body)
  databases.define(db, { name, kind, count, is_deterministic, body })
end

--- Adds an SQL function, or replaces the one with the same name and number of arguments.
--
--     db:add_function("slugify", 1, function(text) return text:lower():gsub("%W+", "-") end)
--
-- If the function raises an error, the statement ends and raises the same error.
-- @tparam string name
-- @param options the number of its arguments (-1, the default: any), or a table: `arguments`, and `deterministic`, true if
--   equal arguments always give equal results, as indexes and generated columns require
-- @tparam function f receives the arguments, NULL as nil; returns a value that SQLite can store
function public:add_function(name, options, f)
  if f == nil and type(options) == "function" then options, f = nil, options end
  check_order("add_function", options)
  check_name("add_function", name)
  local count, is_deterministic = read_options("add_function", options)
  if type(f) ~= "function" then
    errors.raise("argument", "db:add_function: expected a function last, got " .. errors.describe(f))
  end
  define(self, name, "function", count, is_deterministic, f)
end

--- Adds an SQL aggregate.
--
--     db:add_aggregate("product", 1, { initial = 1, step = function(state, value) return state * value end })
--
-- @tparam table definition `step(state, ...)` returns the new state, or nothing to keep it; `initial`, the first state or a
--   function that makes it; `final(state)` returns the result (the state itself by default). With `inverse(state, ...)`,
--   which removes a row from the state, it is also fast as a window function.
function public:add_aggregate(name, options, definition)
  if definition == nil and type(options) == "table" and options.step then options, definition = nil, options end
  check_order("add_aggregate", options)
  check_name("add_aggregate", name)
  local count, is_deterministic = read_options("add_aggregate", options)
  if type(definition) ~= "table" or type(definition.step) ~= "function" then
    errors.raise("argument", "db:add_aggregate: expected a table with the function `step` last, got "
      .. errors.describe(definition))
  end
  checks.option_names("db:add_aggregate", definition, { step = true, initial = true, final = true, inverse = true }, "aggregate_option")
  for _, key in ipairs{ "final", "inverse" } do
    if definition[key] ~= nil and type(definition[key]) ~= "function" then
      errors.raise("argument", "db:add_aggregate: `" .. key .. "` must be a function, got "
        .. errors.describe(definition[key]))
    end
  end
  local body = {
    step = definition.step, final = definition.final, inverse = definition.inverse, initial = definition.initial,
  }
  define(self, name, body.inverse and "window" or "aggregate", count, is_deterministic, body)
end

--- Adds a collation for use as `ORDER BY name COLLATE natural`.
-- @tparam function compare receives two strings, returns a number below, equal to or above 0; must be consistent
function public:add_collation(name, compare)
  check_name("add_collation", name)
  if type(compare) ~= "function" then
    errors.raise("argument", "db:add_collation: argument 2: expected a function, got " .. errors.describe(compare))
  end
  define(self, name, "collation", 0, false, compare)
end

--- When a function is removed, SQLite keeps an entry without a body. Until the connection closes, this entry hides a built-in function with
-- the same name and number of arguments, even one that was never replaced.
local hidden_by_removal = [[
  SELECT count(*) FROM pragma_function_list WHERE builtin AND lower(name) = lower(:name) AND (narg = :count OR narg < 0 OR :count < 0)]]

--- Removes a function or aggregate with that number of arguments (-1, the default: the one that takes any number).
function public:remove_function(name, count)
  check_name("remove_function", name)
  count = check_count("remove_function", count or -1)
  if self:fetch_value(hidden_by_removal, { name = name, count = count }) > 0 then
    errors.raise("argument", ("db:remove_function: `%s` is built into SQLite, which gives back its own only when the database is opened "
      .. "again; to replace the function, use db:add_function"):format(name))
  end
  define(self, name, "function", count, false, false)
end

local built_in_collations = { BINARY = true, NOCASE = true, RTRIM = true }

--- Removes a collation.
function public:remove_collation(name)
  check_name("remove_collation", name)
  if built_in_collations[name:upper()] then
    errors.raise("argument", "db:remove_collation: " .. name .. " is built into SQLite and cannot be removed")
  end
  define(self, name, "collation", 0, false, false)
end

return public
