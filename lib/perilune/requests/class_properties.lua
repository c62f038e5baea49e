--- The parts of record classes that requests and associations use.

local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local null = require("perilune.native.values").null
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local record_fields = require "perilune.records.fields"

local class_properties = {}

--- Returns the database at hand: the innermost open access, else the default database; nil if neither exists.
function class_properties.database_at_hand()
  local has_one, db = pcall(native_records.default_database)
  return has_one and db or nil
end

--- Returns the table of a class in the database at hand; nil if no database is at hand or it lacks the table.
-- @return the table, or nil
-- @return ?table if the first result is nil: the table as the class last found it in any database
function class_properties.schema(class)
  local info, db = record_class.info(class), class_properties.database_at_hand()
  if db then
    local is_there, schema = pcall(native_schema.table, db, info.table)
    if is_there then return record_fields.view(info, schema) end
    if schema.kind ~= "unknown_table" then error(schema, 0) end
  end
  local _, layout = native_records.table_layouts(info.model)
  return nil, layout and native_records.table_layout_description(layout).schema
end

--- Returns the names that a class gives to its columns, in the format for Swift; nil if it gives none.
function class_properties.field_names(class, db)
  local info = record_class.info(class)
  return info.renames and record_fields.view(info, native_schema.table(db, info.table)).names_text
end

--- Returns whether a value is a record class.
function class_properties.is_class(value)
  return record_class.info(value) ~= nil
end

--- Return the name of a class's table, and the class that it extends.
function class_properties.table(class) return record_class.info(class).table end
function class_properties.base(class)
  local base = record_class.info(class).base
  return base and base.class
end

--- Returns the value of a class option that configures a behavior; nil if it is not set.
function class_properties.behaviour(class, option)
  return class and require("perilune.records.behaviours").option(class, option)
end

--- Returns the association that a class, or a class it extends, defines under a name; or nil.
function class_properties.association(class, name)
  for ancestor in record_class.ancestors(record_class.info(class)) do
    local found = ancestor.associations[name]
    if found then return found end
  end
end

--- Returns the names of a class's associations in alphabetical order.
function class_properties.association_names(class)
  local names, known = {}, {}
  for ancestor in record_class.ancestors(record_class.info(class)) do
    for name in pairs(ancestor.associations) do
      if not known[name] then names[#names + 1], known[name] = name, true end
    end
  end
  table.sort(names)
  return names
end

--- Describes a value in messages that expect a record of a class.
function class_properties.name_beside(value, class)
  local info, expected = record_class.info_of(value), record_class.info(class)
  if info and expected and info.table == expected.table then return "one of " .. record_class.other_name(info, expected) end
  return errors.describe(value)
end

--- Returns the name of the row id if the class uses the table's row id as its key; otherwise nil.
function class_properties.row_id_key(class, schema)
  return require("perilune.records.description").row_id_key(record_class.info(class), schema)
end

--- Returns the names of the columns that the class declares as its key; nil if it declares none.
function class_properties.own_key(class)
  return record_class.info(class).primary_key
end

-- Converters for values ----------------------------------------------------------------------------------------------------------

--- Returns the type of a column; nil if its fields contain the stored values. The type is a table:
--   * `convert`: converts values that are compared with the column to their stored form, if the class gives the column a type;
--   * `is_json`: whether the stored values are JSON documents, so that a table is one value;
--   * `form`: how dates are stored (see stored_dates.lua);
--   * `read`: converts stored values to fields;
--   * `schema` and `name`: the table and the name of the column, for messages.
function class_properties.column_type(class, name)
  local info = record_class.info(class)
  local types = require("perilune.records.column_details").types_of(info)
  local is_named = types ~= nil and types[name] ~= nil
  local column_types = require "perilune.schema.column_types"
  local schema, former = class_properties.schema(class)
  schema = schema or former
  local converter
  if schema then converter = column_types.of(schema, types)[name]
  elseif is_named then converter = column_types.converter(types[name], "column `" .. name .. "`") end
  if not converter then return nil end
  local function convert(value)
    if value == null then return value end
    local written, message = converter.write(value)
    if written == nil then column_types.fail(schema or { name = info.table }, name, message) end
    return written
  end
  local converts = converter.write and (is_named or converter.name == "blob")
  return { convert = converts and convert or nil, is_json = converter.name == "json", form = converter.form, read = converter.read,
    schema = schema or { name = info.table }, name = name }
end

--- Returns the declared content of a column (see `column_types.held_by`), or "booleans"; nil if the class option `types` names the column,
-- or if the class accepts values of other types (`check_types = false`).
function class_properties.held_by(class, name)
  local info = record_class.info(class)
  local types = require("perilune.records.column_details").types_of(info)
  local schema, former = class_properties.schema(class)
  schema = schema or former
  if not schema or schema.kind ~= "table" or types and types[name] ~= nil or not require("perilune.records.types").checks_types(info) then return nil end
  for _, column in ipairs(schema.columns) do
    if column.name == name then return column.content == "boolean" and "booleans" or require("perilune.schema.column_types").held_by(column) end
  end
end

return class_properties
