--- Equality of values in a column, which compares their stored forms.

local null = require("perilune.native.values").null
local native_rows = require "perilune.native.rows"
local native_values = require "perilune.native.values"
local perilune = require "perilune"

local stored_values = {}

--- Returns the stored form of a number by affinity. Equal integers and floats are the same except in columns without affinity.
local function store_number(number, affinity)
  if affinity == "blob" then return number end
  if affinity == "text" then
    -- Floats in text columns are not converted: they count as changed.
    return math.type(number) == "integer" and ("%d"):format(number) or number
  end
  if affinity == "real" then return number + 0.0 end
  return math.tointeger(number) or number
end

--- Returns the stored form of a text. In numeric columns it is a number, if the text is just a number.
local function store_text(text, affinity)
  if affinity == "text" or affinity == "blob" then return text end
  if not text:find("^%s*[+-]?%.?%d[%d.]*[eE]?[+-]?%d*%s*$") then return text end
  local number = tonumber(text)
  return number and store_number(number, affinity) or text
end

--- Returns the stored form of a value; nil for NULL.
local function store(value, affinity)
  value = native_values.plain(value)
  if value == null then return nil end
  if type(value) == "boolean" then value = value and 1 or 0 end
  if type(value) == "number" then return store_number(value, affinity) end
  if type(value) == "string" then return store_text(value, affinity) end
  if native_values.is_blob(value) then return tostring(value), true end
  return value
end

--- Returns whether a value read from a column equals the stored form of another value.
-- @tparam table column a table with `affinity` and `content`
function stored_values.are_same(old, new, column)
  local stored_old, was_blob = store(old, column.affinity)
  local stored_new, is_blob = store(new, column.affinity)
  -- In columns declared for bytes, strings are bytes.
  if is_blob ~= was_blob and column.content ~= "blob" then return false end
  return stored_old == stored_new and math.type(stored_old) == math.type(stored_new)
end

--- Returns the value of a row as stored, since rows contain strings for BLOBs, too.
-- @tparam perilune.row row
-- @tparam int index the position of the column
function stored_values.of_row(row, index)
  local value, blobs = row[index], native_rows.blobs(row)
  if type(value) == "string" and blobs and blobs:sub(index, index) == "b" then return perilune.blob(value) end
  return value
end

return stored_values
