--- Descriptions: the parts of a table's schema that a record class needs. A *description* is made from the schema for one class,
-- and the row path makes its table layout from it.

local errors = require "perilune.native.errors"
local record_fields = require "perilune.records.fields"
local sql_text = require "perilune.runtime.sql_text"

local record_description = {}

--- Returns a name in the case in which SQLite compares names.
function record_description.fold(name)
  return (name:gsub("%u", string.lower))
end

--- Returns the names of the columns of a table, or of its description.
function record_description.column_names(schema)
  local names = {}
  for index, column in ipairs(schema.columns) do names[index] = column.name end
  return names
end

--- Returns the name of the row id if the class uses the table's row id as its key; otherwise nil.
function record_description.row_id_key(info, schema)
  local wanted = info.primary_key
  if not wanted or #wanted > 1 then return nil end
  for _, name in ipairs(schema.row_id_names) do
    if name == record_description.fold(wanted[1]) then return wanted[1] end
  end
end

--- Returns the names of the columns that identify a row: those named by the class, else the primary key, else a column `id`.
local function key_names(info, schema, positions)
  local wanted = info.primary_key
  if wanted then
    for _, name in ipairs(wanted) do
      if not positions[record_description.fold(name)] then
        errors.raise_unknown_column(name, schema.name, record_description.column_names(schema))
      end
    end
    return wanted
  end
  if #schema.primary_key.columns > 0 then return schema.primary_key.columns end
  return positions.id and { "id" } or {}
end

--- @param ?row_id the name of the row id if it is the key
local function describe_columns(schema, row_id)
  local columns, positions = {}, {}
  for _, column in ipairs(schema.columns) do
    if not column.hidden then
      local folded = record_description.fold(schema.sql_names and schema.sql_names[column.name] or column.name)
      local has_default = column.default ~= nil and column.default:upper() ~= "NULL"
      columns[#columns + 1] = {
        name = column.name,
        folded = folded,
        is_blob = column.content == "blob",
        is_boolean = column.content == "boolean",
        is_generated = column.generated ~= nil,
        has_default = has_default,
        replaces_null = has_default and column.not_null, -- the policy REPLACE stores the default instead of NULL
      }
      positions[folded], positions[record_description.fold(column.name)] = #columns, #columns
    end
  end
  if row_id then
    columns[#columns + 1] = { name = row_id, folded = record_description.fold(row_id) }
    positions[columns[#columns].folded] = #columns
  end
  return columns, positions
end

--- Returns the condition that compares columns with parameters.
-- @param view the schema as the class sees it, or the description
function record_description.condition(view, names)
  local parts = {}
  for index, name in ipairs(names) do parts[index] = record_fields.sql_name(view, name) .. " = ?" end
  return table.concat(parts, " AND ")
end

--- Returns the columns to fetch: all, or the ones that are not lazy and the requested lazy ones.
-- @tparam ?{string,...} wanted names of lazy fields
function record_description.selection(schema, wanted)
  if not schema.lazy then return "*" end
  local names, is_wanted = {}, {}
  for _, name in ipairs(wanted or {}) do is_wanted[name] = true end
  for _, column in ipairs(schema.columns) do
    if not column.hidden and (not column.lazy or is_wanted[column.name]) then names[#names + 1] = column.name end
  end
  return record_fields.sql_names(schema, names)
end

--- Returns the statement that fetches all rows.
-- @tparam ?string row_id the name of the row id if it is the key
-- @tparam ?{string,...} wanted names of lazy fields
function record_description.select(schema, row_id, wanted)
  local columns = record_description.selection(schema, wanted)
  if row_id then columns = ("%s, %s AS %s"):format(columns, sql_text.name(row_id), sql_text.name(row_id)) end
  return ("SELECT %s FROM %s"):format(columns, sql_text.name(schema.name))
end

--- Returns the description of a table for a class.
function record_description.describe(info, schema)
  local row_id = record_description.row_id_key(info, schema)
  local columns, positions = describe_columns(schema, row_id)
  local keys, own_key, key = {}, schema.primary_key, {}
  for index, name in ipairs(key_names(info, schema, positions)) do
    keys[index] = positions[record_description.fold(name)]
    columns[keys[index]].is_key = true
    key[index] = columns[keys[index]].name
  end
  local is_own = row_id or own_key.rowid and #keys == 1 and positions[record_description.fold(own_key.columns[1])] == keys[1]
  local source = sql_text.name(schema.name)
  local select = record_description.select(schema, row_id)
  local where = #key > 0 and " WHERE " .. record_description.condition(schema, key) or ""
  return {
    class = info.class, schema = schema, sql_names = schema.sql_names, table = schema.name, source = source, key = key,
    columns = columns, positions = positions, keys = keys, key_count = #keys, rowid = is_own and keys[1] or nil,
    row_id = #keys == 0 and schema.row_id_names[1] or nil, -- identifies rows without a key
    is_view = schema.kind == "view", returns = schema.kind == "table",
    select = select,
    count = "SELECT COUNT(*) FROM " .. source,
    delete_all = "DELETE FROM " .. source,
    find = select .. where,
    delete = "DELETE FROM " .. source .. where,
    exists = "SELECT 1 FROM " .. source .. where,
  }
end

return record_description
