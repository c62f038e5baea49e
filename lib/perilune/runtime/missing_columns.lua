--- Raises for a name that no column and no method of a row has. `row:has(name)` asks without an error.

local errors = require "perilune.native.errors"
local native_rows = require "perilune.native.rows"

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
  -- A call of an unknown method also reads a field.
  local names = table.move(columns, 1, #columns, 1, {})
  _, err = pcall(errors.raise_unknown, "method", name, method_names())
  names[#names + 1] = err.suggestion
  errors.raise_unknown("column", name, names)
end
