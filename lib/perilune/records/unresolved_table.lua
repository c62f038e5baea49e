--- Records of a class whose table has not been found yet, because it is in another database or does not exist. They accept any field name.
-- Names that are not columns are reported when the record is written.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"

local record_unbound = {}

local function describe(info, names)
  local columns, positions = {}, {}
  for index, name in ipairs(names) do
    columns[index] = { name = name, folded = name, type = "" }
    positions[name] = index
  end
  return {
    class = info.class, table = info.table, columns = columns, positions = positions, key = {}, keys = {}, key_count = 0,
    generation = -1, is_unbound = true,
    schema = {
      name = info.table, kind = "table", columns = columns, primary_key = { columns = {} }, unique_keys = {}, distinct_keys = {}, foreign_keys = {},
    },
  }
end

--- Makes a record from its fields.
function record_unbound.make(info, values)
  local names = {}
  for name in next, values or {} do
    if type(name) ~= "string" then
      errors.raise("argument", ("%s{...}: expected names of columns, got %s"):format(info.name, errors.describe(name)))
    end
    names[#names + 1] = name
  end
  table.sort(names)
  local layout = native_records.make_table_layout(info.model, nil, describe(info, names))
  local made = native_records.record_from(layout, names, values or {})
  native_records.set_snapshot(made, nil)
  native_records.take_nulls(made)
  return made
end

return record_unbound
