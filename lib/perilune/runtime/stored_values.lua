--- Values as rows store them.

local native_rows = require "perilune.native.rows"
local native_values = require "perilune.native.values"
local perilune = require "perilune"

local stored_values = {}

--- Returns whether a value read from a column equals the stored form of another value.
-- @tparam table column a table with `affinity` and `content`
function stored_values.are_same(old, new, column)
  return native_values.are_same_stored(old, new, column.affinity, column.content)
end

--- Returns a value of a row in its stored form, because rows contain strings in place of BLOBs.
-- @tparam perilune.row row
-- @tparam int index the position of the column
function stored_values.of_row(row, index)
  local value, blobs = row[index], native_rows.blobs(row)
  if type(value) == "string" and blobs and blobs:sub(index, index) == "b" then return perilune.blob(value) end
  return value
end

return stored_values
