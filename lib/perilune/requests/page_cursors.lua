--- Cursors: the values of a row as text that can be used in URLs.

local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"

local page_cursors = {}

--- Returns the cursor of a row from the hash of the order and the row's values in the order's terms.
page_cursors.write = native_values.write_list

local function raise_cursor(method, reason)
  errors.raise("argument", method .. ": argument 1: expected a cursor of this request, got " .. reason
    .. "; pass `next` or `previous` of a page with the same order, or nil for the first page")
end

--- Returns the values of a cursor; raises for any other text, and for the cursor of a different order.
-- @tparam string method the method that received it, for messages
-- @tparam integer hash of the order
-- @tparam integer count of its terms
function page_cursors.read(method, cursor, hash, count)
  if type(cursor) ~= "string" then raise_cursor(method, errors.describe(cursor)) end
  local values, reason = native_values.read_list(cursor, hash, count)
  return values or raise_cursor(method, reason and "one of another order" or "another string")
end

return page_cursors
