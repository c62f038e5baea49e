--- Records with typed columns: the option `types`, and the conversions on reading and writing.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_types = require "perilune.schema.column_types"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local marks = require "perilune.runtime.marks"
local sql_names = require "perilune.runtime.names"

local types = {}

--- types: column -> type; see column_types.lua.
local function read_types(info, value)
  if type(value) ~= "table" then
    errors.raise("argument", "perilune.record: option types: expected a table of columns and types, got "
      .. errors.describe(value))
  end
  info.types = {}
  for column, wanted in pairs(value) do
    if type(column) ~= "string" then
      errors.raise("argument", ("perilune.record: option types: expected columns with types, as in { column = \"json\" }, got %s"):format(
        errors.describe(wanted)))
    end
    info.types[column] = wanted
  end
end

--- Returns whether the row path converts a column itself.
local function is_native(converter, column)
  return converter.name == column.content and (column.content == "blob" or column.content == "boolean")
end

--- Sorts the columns into three lists. `converted`: columns that are converted when a record is written. `decoded_columns`: columns that
-- Lua converts when a record is read, nil for an empty list. `dates`: columns with dates, which the row path reads if it can.
local function sort_columns(details)
  details.dates, details.days = {}, {}
  for _, column in ipairs(details.schema.columns) do
    local converter = details.converters[column.name]
    if converter and not column.hidden and not is_native(converter, column) then
      details.converted = details.converted or {}
      details.converted[#details.converted + 1] = column.name
      if converter.form == "day" then details.days[column.name] = true end
      if converter.form then details.dates[#details.dates + 1] = column.name
      elseif converter.read then
        details.decoded_columns = details.decoded_columns or {}
        details.decoded_columns[#details.decoded_columns + 1] = column.name
      end
    end
  end
end

--- Returns the values to store for the fields of a record; nil if the fields are stored values already.
local function encode(info, target, db)
  local details = column_details.of_class(info.class, db)
  if details.converted then return record_values.plain(details, target, (native_records.snapshot(target))) end
end

--- Converts stored values to fields.
local function read(details, target, columns)
  for _, column in ipairs(columns) do
    local stored = rawget(target, column)
    if stored ~= nil then rawset(target, column, record_values.read(details, target, column, stored)) end
  end
end

--- Converts the values that the row path has set in a record to fields.
local function decode(_, target)
  local details = column_details.of_record(target)
  if details.decoded_columns then read(details, target, details.decoded_columns) end
end

--- Converts values that the row path could not read as dates.
function types.read_dates(target)
  local details = column_details.of_record(target)
  read(details, target, details.dates)
end

function marks.day_fields(value)
  if native_records.class_of(value) == nil then return nil end
  local days = column_details.of_record(value).days
  return days and next(days) and days
end

--- `check_types = false`: columns also accept values that do not have their declared type.
local function read_check_types(info, value)
  if type(value) ~= "boolean" then
    errors.raise("argument", "perilune.record: option check_types: expected a boolean, got " .. errors.describe(value))
  end
  info.checks_types = value
end

record_class.add_options{ types = read_types, check_types = read_check_types }

--- Returns whether the columns of a class only accept values of their declared types.
function types.checks_types(info)
  for ancestor in record_class.ancestors(info) do
    if ancestor.checks_types ~= nil then return ancestor.checks_types end
  end
  return true
end

--- Called with each new description of a class. Makes Lua handle its records if their columns need conversion.
record_class.on_description(function(info, description)
  local details = column_details.of(description)
  sort_columns(details)
  for _, column in ipairs(description.columns) do
    local converter, declared = details.converters[column.name], details.declared[column.name]
    if converter and converter.name == "blob" then column.is_blob = true end
    -- If a column is declared for bytes or has one of certain types, the column determines whether a string is text or a blob. In other
    -- columns, the value itself determines it.
    local is_said = column.is_blob or converter and (converter.read or converter.name == "string")
    column.keeps_blobs = declared ~= nil and not is_said
    local is_table = description.schema.kind == "table"
    column.is_real = is_table and declared ~= nil and declared.affinity == "real" and not converter
    column.holds = is_table and not converter and declared ~= nil and types.checks_types(info) and column_types.held_by(declared) or nil
  end
  for _, column in ipairs(details.dates) do description.columns[description.positions[sql_names.fold(column)]].is_date = true end
  if details.converted then
    info.encode = encode
    native_records.set_model(info.model, true)
  end
  if details.decoded_columns then
    info.decode = decode
    native_records.set_model(info.model, nil, true)
  end
end)

return types
