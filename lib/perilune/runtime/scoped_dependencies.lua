--- `perilune.with`: overrides dependencies in a scope.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local perilune = require "perilune"

--- The functions that scripts call.
local public = {}

local names = { "database" }

local function check(overrides, body)
  if type(overrides) ~= "table" or native_records.is_database(overrides) then
    errors.raise("argument", "perilune.with: argument 1: expected a table such as { database = db }, got "
      .. errors.describe(overrides))
  end
  for name in pairs(overrides) do
    if name ~= "database" then require("perilune.runtime.other_names").raise("override", "override", name, names) end
  end
  if not native_records.is_database(overrides.database) then
    errors.raise("argument", "perilune.with: database: expected a database, got " .. errors.describe(overrides.database))
  end
  if type(body) ~= "function" then
    errors.raise("argument", "perilune.with: argument 2: expected a function, got " .. errors.describe(body))
  end
end

--- Calls a function with another default database: for `db`, and for records and requests that name no database. The other database also
-- applies to everything that the function calls, until it returns or fails. Calls may be nested. As in a database block, the function
-- cannot wait.
-- @tparam table overrides `{ database = db }`
-- @tparam function body receives the database, and the further arguments
-- @return the results of the function
function public.with(overrides, body, ...)
  check(overrides, body)
  return native_records.with_default_database(overrides.database, getmetatable(perilune), body, ...)
end

return public
