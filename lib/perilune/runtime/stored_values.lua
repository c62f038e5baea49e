--- Equality of values in a column: compares what would be stored.

local null = require("perilune.native.values").null
local native_rows = require "perilune.native.rows"
local native_values = require "perilune.native.values"
local perilune = require "perilune"

local stored_values = {}

--- What is stored for a number by its affinity. Integers and floats that are equal are the same to all but columns without one.
local function store_number(number, affinity)
  if affinity == "blob" then return number end
  if affinity == "text" then
    -- Other floats are not worth the trouble: they count as changed.
    return math.type(number) == "integer" and ("%d"):format(number) or number
  end
  if affinity == "real" then return number + 0.0 end
  return math.tointeger(number) or number
end

--- What is stored for a text in a column of numbers: a number, if the text is nothing else.
local function store_text(text, affinity)
  if affinity == "text" or affinity == "blob" then return text end
  if not text:find("^%s*[+-]?%.?%d[%d.]*[eE]?[+-]?%d*%s*$") then return text end
  local number = tonumber(text)
  return number and store_number(number, affinity) or text
end

--- What a column has stored for a value; nil for NULL.
local function store(value, affinity)
  value = native_values.plain(value)
  if value == null then return nil end
  if type(value) == "boolean" then value = value and 1 or 0 end
  if type(value) == "number" then return store_number(value, affinity) end
  if type(value) == "string" then return store_text(value, affinity) end
  if native_values.is_blob(value) then return tostring(value), true end
  return value
end

--- Whether a value that was read from a column is what would be stored for another one.
-- @tparam table column its `affinity` and `content`
function stored_values.are_same(old, new, column)
  local stored_old, was_blob = store(old, column.affinity)
  local stored_new, is_blob = store(new, column.affinity)
  -- Columns that are declared for bytes have strings for them.
  if is_blob ~= was_blob and column.content ~= "blob" then return false end
  return stored_old == stored_new and math.type(stored_old) == math.type(stored_new)
end

--- The value of a row as the database has it: rows have strings for BLOBs, too.
-- @tparam perilune.row row
-- @tparam int index of the column
function stored_values.of_row(row, index)
  local value, blobs = row[index], native_rows.blobs(row)
  if type(value) == "string" and blobs and blobs:sub(index, index) == "b" then return perilune.blob(value) end
  return value
end

return stored_values
