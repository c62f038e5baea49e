--- Raises for a name that is neither a column nor a method of a row. Use `row:has(name)` to check for a column without an error.

local errors = require "perilune.native.errors"
local native_rows = require "perilune.native.rows"
local other_names = require "perilune.runtime.other_names"

local function method_names()
  local names = {}
  for name in next, native_rows.methods do names[#names + 1] = name end
  table.sort(names)
  return names
end

return function(row, name)
  local columns = native_rows.columns(row)
  local _, err = pcall(errors.raise_unknown, "column", name, columns)
  if err.suggestion then errors.raise_unknown("column", name, columns) end
  -- A call of an unknown method also ends here, because Lua first reads the field.
  local names = table.move(columns, 1, #columns, 1, {})
  _, err = pcall(errors.raise_unknown, "method", name, method_names())
  local use = other_names.find("row", name)
  if use then
    local fields = other_names.fields(name, use, method_names())
    _, err = pcall(errors.raise_unknown, "column", name, columns)
    errors.raise("unknown_column", err.message .. "; " .. use, fields)
  end
  names[#names + 1] = err.suggestion
  errors.raise_unknown("column", name, names)
end
