--- Column details: the properties of a table's columns that the row path does not need, mainly their types.
-- The *column details* of a description are a table { schema, description, columns, declared, converters, generated,
-- not_null, chosen_keys }; types.lua adds which columns are converted.

local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_types = require "perilune.schema.column_types"

local column_details = {}

local known = setmetatable({}, { __mode = "k" })

--- Returns the types that a class gives to columns, including inherited ones that it does not replace.
function column_details.types_of(info)
  local types, is_empty = {}, true
  for ancestor in record_class.ancestors(info) do
    for column, wanted in pairs(ancestor.types or {}) do
      if types[column] == nil then types[column], is_empty = wanted, false end
    end
  end
  return not is_empty and types or nil
end

--- Returns the key columns for which the database chooses a value if none is given.
local function chosen_keys(description)
  local chosen = {}
  for _, position in ipairs(description.keys) do
    local column = description.columns[position]
    if description.rowid == position or column.has_default then chosen[column.name] = true end
  end
  return chosen
end

--- Represents the row id, which is not a column of the schema.
local row_id = { affinity = "integer" }

local function make(description)
  local schema, info = description.schema, record_class.info(description.class)
  local columns, declared, generated, not_null = {}, {}, {}, {}
  for index, column in ipairs(description.columns) do
    columns[index] = column.name
    declared[column.name] = row_id
  end
  for _, column in ipairs(schema.columns) do
    declared[column.name] = column
    generated[column.name] = column.generated and true or nil
    not_null[column.name] = column.not_null or nil
  end
  return {
    schema = schema, description = description, columns = columns, declared = declared, generated = generated,
    not_null = not_null,
    converters = column_types.of(schema, not description.is_unbound and column_details.types_of(info) or nil),
    chosen_keys = chosen_keys(description),
  }
end

--- Returns the column details of a description.
function column_details.of(description)
  local details = known[description]
  if not details then
    details = make(description)
    known[description] = details
  end
  return details
end

--- Returns the column details of a class in a database; by default in the innermost access or the default database.
function column_details.of_class(class, db)
  return column_details.of(record_class.description(class, db))
end

--- Returns the column details of a class, reading the schema again if a column is missing, since another connection may have added it.
function column_details.with_column(class, db, column)
  local details = column_details.of_class(class, db)
  if details.declared[column] or type(column) ~= "string" then return details end
  db = db or native_records.default_database()
  native_records.touch_schema(db)
  return column_details.of_class(class, db)
end

--- Returns the column details of a class in the default database, or else in the last one used. Nil if the class has not seen a table
-- yet.
function column_details.of_any(class)
  local is_done, result = pcall(column_details.of_class, class)
  if is_done then return result end
  if result.kind ~= "unknown_table" then error(result, 0) end
  local _, layout = native_records.table_layouts(record_class.info(class).model)
  return layout and column_details.of(native_records.table_layout_description(layout))
end

--- Returns the column details of a record, based on its table when the record was made.
function column_details.of_record(value)
  return column_details.of((native_records.record_schema(value)))
end

return column_details
