--- What a record class has to know of its table: the *description*, which is made from the schema for one class, and is what a plan
-- of the row path is made from.

local internal = ...
local sql_text = internal.load("sql_text")

local record_description = {}

--- A name in the case by which SQLite compares.
function record_description.fold(name)
  return (name:gsub("%u", string.lower))
end

--- The names of the columns of a table, or of its description.
function record_description.column_names(schema)
  local names = {}
  for index, column in ipairs(schema.columns) do names[index] = column.name end
  return names
end

--- The names of the columns that find a row: those that the class names, else the primary key, else a column called id.
local function key_names(info, schema, positions)
  local wanted = info.primary_key
  if wanted then
    for _, name in ipairs(wanted) do
      if not positions[record_description.fold(name)] then
        internal.raise_unknown_column(name, schema.name, record_description.column_names(schema))
      end
    end
    return wanted
  end
  if #schema.primary_key.columns > 0 then return schema.primary_key.columns end
  return positions.id and { "id" } or {}
end

local function describe_columns(schema)
  local columns, positions = {}, {}
  for _, column in ipairs(schema.columns) do
    if not column.hidden then
      local folded = record_description.fold(column.name)
      columns[#columns + 1] = {
        name = column.name,
        folded = folded,
        is_blob = column.type:upper():find("BLOB", 1, true) ~= nil,
        is_boolean = column.type:upper() == "BOOLEAN" or column.type:upper() == "BOOL",
        is_generated = column.generated ~= nil,
        has_default = column.default ~= nil and column.default:upper() ~= "NULL",
      }
      positions[folded] = #columns
    end
  end
  return columns, positions
end

--- The condition that columns have some values.
function record_description.condition(names)
  local parts = {}
  for index, name in ipairs(names) do parts[index] = sql_text.name(name) .. " = ?" end
  return table.concat(parts, " AND ")
end

--- What the class has to know of a table.
function record_description.describe(info, schema)
  local columns, positions = describe_columns(schema)
  local keys, own_key, key = {}, schema.primary_key, {}
  for index, name in ipairs(key_names(info, schema, positions)) do
    keys[index] = positions[record_description.fold(name)]
    columns[keys[index]].is_key = true
    key[index] = columns[keys[index]].name
  end
  local is_own = own_key.rowid and #keys == 1 and record_description.fold(own_key.columns[1]) == columns[keys[1]].folded
  local source = sql_text.name(schema.name)
  local where = #key > 0 and " WHERE " .. record_description.condition(key) or ""
  return {
    class = info.class, schema = schema, table = schema.name, source = source, key = key,
    columns = columns, positions = positions, keys = keys, key_count = #keys, rowid = is_own and keys[1] or nil,
    is_view = schema.kind == "view", returns = schema.kind == "table",
    select = "SELECT * FROM " .. source,
    count = "SELECT COUNT(*) FROM " .. source,
    delete_all = "DELETE FROM " .. source,
    find = "SELECT * FROM " .. source .. where,
    delete = "DELETE FROM " .. source .. where,
    exists = "SELECT 1 FROM " .. source .. where,
  }
end

return record_description
