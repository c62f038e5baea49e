--- Value types: conversions between stored values and script values.
-- A type is a name ("integer", "date", ...) or a table with a function `from_database`.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"

local types = {}

local function mismatch(expected, value)
  return nil, "expected " .. expected .. ", got " .. errors.describe(value)
end

local builtin = {}

function builtin.any(value)
  return value
end

function builtin.integer(value)
  if math.type(value) == "integer" then return value end
  local integer = math.type(value) == "float" and math.tointeger(value)
  if integer then return integer end
  return mismatch("an integer", value)
end

function builtin.float(value)
  if type(value) == "number" then return value + 0.0 end
  return mismatch("a number", value)
end

function builtin.string(value)
  if type(value) == "string" then return value end
  return mismatch("a string", value)
end

function builtin.boolean(value)
  if type(value) == "boolean" then return value end
  if math.type(value) == "integer" then return value ~= 0 end
  return mismatch("a boolean or an integer", value)
end

function builtin.date(value)
  return native_values.read_date(value)
end

builtin.datetime = builtin.date

function builtin.date_components(value)
  return native_values.read_date_components(value)
end

--- Converts a value that is not nil.
-- @param wanted the type: a name, or a table with `from_database`
-- @return the converted value; or nil and the problem
function types.convert(wanted, value)
  if type(wanted) == "string" and builtin[wanted] then return builtin[wanted](value) end
  local from_database = type(wanted) == "table" and wanted.from_database
  if not from_database then
    local names = {}
    for name in pairs(builtin) do names[#names + 1] = name end
    table.sort(names)
    errors.raise("argument", "expected a type (" .. table.concat(names, ", ") .. ", or a table with from_database), got "
      .. errors.describe(wanted))
  end
  local converted, message = from_database(wanted, value)
  if converted == nil then
    local name = wanted.name or "the type"
    return nil, message or (errors.describe(value) .. " is not a value of " .. name)
  end
  return converted
end

--- Converts a value or raises.
-- @param place the name of the value in messages: "column `age`"
function types.require(wanted, value, place)
  local converted, message = types.convert(wanted, value)
  if converted == nil then errors.raise("conversion", place .. ": " .. message) end
  return converted
end

--- Creates a value type.
-- A value `T(v)` can be passed to SQL as an argument; `T` can be passed wherever a type is expected.
-- @tparam table definition `name`; `to_database(v)`: returns a value that can be passed to SQL; `from_database(v)`: returns the
--   value, or nil if it is not valid
function types.value_type(definition)
  if type(definition) ~= "table" or type(definition.from_database) ~= "function"
    or type(definition.to_database) ~= "function" then
    errors.raise("argument", "perilune.value_type: argument 1: expected a table with the functions to_database and "
      .. "from_database, got " .. errors.describe(definition))
  end
  local name = definition.name or "value"
  local wrapped = {
    __name = name,
    __to_database = function(wrapper)
      local stored, message = definition.to_database(wrapper.value)
      if stored == nil then errors.raise("argument", name .. ": " .. (message and tostring(message) or "to_database returned nothing")) end
      return stored
    end,
    __tostring = function(wrapper) return name .. "(" .. tostring(wrapper.value) .. ")" end,
    __eq = function(left, right) return left.value == right.value end,
  }
  local value_type = {
    name = name,
    from_database = function(_, value) return definition.from_database(value) end,
    to_database = function(_, value) return definition.to_database(value) end,
  }
  wrapped.__value_type = value_type
  return setmetatable(value_type, {
    __name = "value type",
    __call = function(_, value) return setmetatable({ value = value }, wrapped) end,
  })
end

--- Returns the storage class that SQLite would use for a value: "null", "integer", "real", "text" or "blob".
function types.storage_class(value)
  value = native_values.plain(value)
  if value == nil or value == null then return "null" end
  if native_values.is_blob(value) then return "blob" end
  if type(value) == "boolean" then return "integer" end
  if type(value) == "number" then return math.type(value) == "integer" and "integer" or "real" end
  if type(value) == "string" then return "text" end
  errors.raise("argument", "perilune.storage_class: argument 1: expected a value that SQLite can store, got "
    .. errors.describe(value))
end

return types
