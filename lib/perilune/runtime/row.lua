--- The methods of rows. A row is a plain table: `row.name` is the value of a column, nil for NULL; `row[1]` is the value of the first
-- column. The case of names does not matter. A name that is not a column raises an error (missing_columns.lua). A column hides the method
-- with the same name, which is then called as `perilune.row.has(row, "title")`.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_rows = require "perilune.native.rows"
local native_values = require "perilune.native.values"
local types = require "perilune.runtime.types"
local sql_names = require "perilune.runtime.names"

local row = {}

--- Returns the value that a row would contain if the given value were stored and fetched again: nil for NULL.
local function stored(name, value)
  local plain = native_values.plain(value)
  if plain == null then return nil end
  if native_values.is_blob(plain) then return tostring(plain), true end
  local kind = type(plain)
  if kind == "string" or kind == "boolean" or (kind == "number" and plain == plain) then return plain end
  errors.raise("conversion", "column `" .. name .. "`: expected a value that SQLite can store, got "
    .. errors.describe(plain))
end

local function sorted_names(values)
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  for _, name in ipairs(names) do
    if type(name) ~= "string" then
      errors.raise("argument", "perilune.row.new: expected names of columns, got " .. errors.describe(name))
    end
  end
  table.sort(names)
  return names
end

--- Makes a row as a query would return it.
-- @tparam table values by the names of the columns; `perilune.null` for NULL
-- @tparam ?table names the columns in order; alphabetical by default
function row.new(values, names)
  if type(values) ~= "table" then
    errors.raise("argument", "perilune.row.new: argument 1: expected a table of values, got " .. errors.describe(values))
  end
  if names ~= nil and type(names) ~= "table" then
    errors.raise("argument", "perilune.row.new: argument 2: expected a list of names, got " .. errors.describe(names))
  end
  local plain, columns, blobs, has_blobs = {}, {}, {}, false
  for index, name in ipairs(names or sorted_names(values)) do
    if type(name) ~= "string" or values[name] == nil then
      errors.raise("argument", "perilune.row.new: no value for column " .. errors.describe(name))
    end
    local is_blob
    columns[index], plain[name], is_blob = name, stored(name, values[name])
    blobs[index], has_blobs = is_blob and "b" or "-", has_blobs or is_blob
  end
  return native_rows.make(columns, plain, has_blobs and table.concat(blobs) or nil)
end

--- Returns the position of a column: the leftmost with that name, in any case.
local function find(self, name)
  local names = native_rows.columns(self)
  if math.type(name) == "integer" then return names[name] and name end
  if type(name) ~= "string" then return nil end
  local lower = sql_names.fold(name)
  for index = 1, #names do
    if names[index] == name then return index end
  end
  for index = 1, #names do
    if sql_names.fold(names[index]) == lower then return index end
  end
end

local function require_column(self, name)
  local index = find(self, name)
  if index then return index end
  errors.raise_unknown("column", name, native_rows.columns(self))
end

--- Returns whether the row has a column with that name, even if its value is NULL.
function row:has(name)
  return find(self, name) ~= nil
end

--- Returns the value of a column, which must exist; nil if it is NULL.
-- @param name the name, in any case, or the position, counted from 1
-- @param wanted the type to convert to; by default the value is not converted
function row:get(name, wanted)
  local value = self[require_column(self, name)]
  if value == nil or wanted == nil then return value end
  return types.require(wanted, value, "column `" .. tostring(name) .. "`")
end

--- Returns the value of a column like `get`, but raises on NULL.
function row:require(name, wanted)
  local value = row.get(self, name, wanted)
  if value == nil then errors.raise("conversion", "column `" .. tostring(name) .. "` is NULL") end
  return value
end

for _, name in ipairs{ "boolean", "integer", "float", "string", "date", "date_components" } do
  --- Return the value of a column as that type; nil if it is NULL.
  row[name] = function(self, column)
    local value = row.get(self, column, name)
    return value
  end
end

--- Returns the storage class of a column, which must exist: "null", "integer", "real", "text" or "blob". It distinguishes texts
-- from blobs, which are both strings in scripts.
function row:storage_class(name)
  local index = require_column(self, name)
  local value, blobs = self[index], native_rows.blobs(self)
  if type(value) == "string" and blobs and blobs:sub(index, index) == "b" then return "blob" end
  return types.storage_class(value)
end

--- Returns the names of the columns in order, including duplicates.
function row:columns()
  local names = native_rows.columns(self)
  return table.move(names, 1, #names, 1, {})
end

--- Returns the values in the order of the columns, with nil for NULL, and their number.
function row:values()
  local values, count = {}, #native_rows.columns(self)
  for index = 1, count do values[index] = self[index] end
  return values, count
end

--- Returns all values as multiple results.
function row:unpack()
  local values, count = row.values(self)
  return table.unpack(values, 1, count)
end

--- Iterates over names and values in the order of the columns; NULL is nil.
function row:pairs()
  local names, index = native_rows.columns(self), 0
  return function()
    index = index + 1
    if names[index] ~= nil then return names[index], self[index] end
  end
end

--- Returns a plain table of the columns, the leftmost of each name; NULL is `perilune.null`.
function row:to_table()
  local result = {}
  for index, name in ipairs(native_rows.columns(self)) do
    if result[name] == nil then
      local value = self[index]
      result[name] = value == nil and null or value
    end
  end
  return result
end

--- Returns a copy with the same columns and values.
function row:copy()
  local copy = {}
  for key, value in next, self do copy[key] = value end
  return setmetatable(copy, native_rows.metatable(self))
end

return row
