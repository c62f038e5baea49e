--- What requests and associations need from record classes.

local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local null = require("perilune.native.values").null
local records = require "perilune.native.records"
local marks = require "perilune.runtime.marks"
local record = require "perilune.records.class"
local fields = require "perilune.records.fields"

local classes = {}

--- The innermost access or the default database; nil if there is neither.
function classes.database_at_hand()
  local has_one, db = pcall(records.default_database)
  return has_one and db or nil
end

--- The table of a class, as the database at hand has it; nil if that has none, or there is none.
-- @return the table; nil
-- @return ?table as the class has seen it last, in some database
function classes.schema(class)
  local info, db = record.info(class), classes.database_at_hand()
  if db then
    local is_there, schema = pcall(native_schema.table, db, info.table)
    if is_there then return fields.view(info, schema) end
    if schema.kind ~= "unknown_table" then error(schema, 0) end
  end
  local _, layout = records.table_layouts(info.model)
  return nil, layout and records.table_layout_description(layout).schema
end

--- What Swift has to know of the names that a class gives to the columns of its table; nil if it gives none.
function classes.field_names(class, db)
  local info = record.info(class)
  return info.renames and fields.view(info, native_schema.table(db, info.table)).names_text
end

--- Whether a value is a record class.
function classes.is_class(value)
  return record.info(value) ~= nil
end

--- The table of a class, and the class that it extends.
function classes.table(class) return record.info(class).table end
function classes.base(class)
  local base = record.info(class).base
  return base and base.class
end

--- What a class says by an option that is a behaviour; nil if it does not.
function classes.behaviour(class, option)
  return class and require("perilune.records.behaviours").option(class, option)
end

--- The association that a class, or one that it extends, keeps under a name; or nil.
function classes.association(class, name)
  for ancestor in record.ancestors(record.info(class)) do
    local found = ancestor.associations[name]
    if found then return found end
  end
end

--- The names of the associations of a class, in order.
function classes.association_names(class)
  local names, known = {}, {}
  for ancestor in record.ancestors(record.info(class)) do
    for name in pairs(ancestor.associations) do
      if not known[name] then names[#names + 1], known[name] = name, true end
    end
  end
  table.sort(names)
  return names
end

local describe_value = errors.describe

--- A value for messages: records, classes, requests and associations by name.
function classes.name_of(value)
  local info = record.info_of(value)
  if info then return "a record of `" .. info.table .. "`" end
  if record.info(value) then return "the record class `" .. record.info(value).table .. "`" end
  if marks.is_request(value) then return "a request" end
  if marks.is_association(value) then return "an association" end
  if marks.is_expression(value) then return "an expression" end
  return describe_value(value)
end

--- The same where a record of a class is expected.
function classes.name_beside(value, class)
  local info, expected = record.info_of(value), record.info(class)
  if info and expected and info.table == expected.table then return "one of " .. record.other_name(info, expected) end
  return classes.name_of(value)
end

-- Messages of all modules know these values as soon as there are any.
errors.describe = classes.name_of

--- The name by which records of a class have the row id of a table as their key; nil if they do not.
function classes.row_id_key(class, schema)
  return require("perilune.records.description").row_id_key(record.info(class), schema)
end

--- The names of the columns that the class says are its key; nil if it does not.
function classes.own_key(class)
  return record.info(class).primary_key
end

-- What writes values ----------------------------------------------------------------------------------------------------------

--- What makes values of a column as the database stores them, for columns whose type the class has named, and whether these are
-- JSON documents, so that a table is one value; or nil.
function classes.column_writer(class, name)
  local info = record.info(class)
  local types = require("perilune.records.info").types_of(info)
  local is_named = types ~= nil and types[name] ~= nil
  local column_types = require "perilune.records.column_types"
  local schema, former = classes.schema(class)
  schema = schema or former
  local converter
  if schema then converter = column_types.of(schema, types)[name]
  elseif is_named then converter = column_types.converter(types[name], "column `" .. name .. "`") end
  if not converter or not converter.write or not (is_named or converter.name == "blob") then return nil end
  return function(value)
    if value == null then return value end
    local written, message = converter.write(value)
    if written == nil then column_types.fail(schema or { name = info.table }, name, message) end
    return written
  end, converter.name == "json"
end

return classes
