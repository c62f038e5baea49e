--- Records with typed columns: the option `types`, and the conversions on reading and writing.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_types = require "perilune.records.column_types"
local record_info = require "perilune.records.info"
local record_values = require "perilune.records.values"
local marks = require "perilune.runtime.marks"
local sql_names = require "perilune.runtime.names"

local types = {}

--- types: column -> type; see column_types.lua.
function record_class.class_options.types(info, value)
  if type(value) ~= "table" then
    errors.raise("argument", "perilune.record: option types: expected a table of columns and types, got "
      .. errors.describe(value))
  end
  info.types = {}
  for column, wanted in pairs(value) do info.types[column] = wanted end
end

--- Returns whether the row path converts a column itself.
local function is_native(converter, column)
  return converter.name == column.content and (column.content == "blob" or column.content == "boolean")
end

--- Sorts the columns: `converted` lists the columns that are converted when a record is written; `decoded_columns` lists the columns
-- that Lua converts when a record is read, nil if none; and `dates` lists the columns with dates, which the row path reads if it can.
local function sort_columns(info)
  info.dates, info.days = {}, {}
  for _, column in ipairs(info.schema.columns) do
    local converter = info.converters[column.name]
    if converter and not column.hidden and not is_native(converter, column) then
      info.converted = info.converted or {}
      info.converted[#info.converted + 1] = column.name
      if converter.form == "day" then info.days[column.name] = true end
      if converter.form then info.dates[#info.dates + 1] = column.name
      elseif converter.read then
        info.decoded_columns = info.decoded_columns or {}
        info.decoded_columns[#info.decoded_columns + 1] = column.name
      end
    end
  end
end

--- Returns the values to store for the fields of a record; nil if the fields are stored values already.
local function encode(class_info, target, db)
  local info = record_info.of_class(class_info.class, db)
  if info.converted then return record_values.plain(info, target, (native_records.snapshot(target))) end
end

--- Converts stored values to fields.
local function read(info, target, columns)
  for _, column in ipairs(columns) do
    local stored = rawget(target, column)
    if stored ~= nil then rawset(target, column, record_values.read(info, target, column, stored)) end
  end
end

--- Converts the values that the row path has set in a record to fields.
local function decode(_, target)
  local info = record_info.of_record(target)
  if info.decoded_columns then read(info, target, info.decoded_columns) end
end

--- Converts values that the row path could not read as dates.
function types.read_dates(target)
  local info = record_info.of_record(target)
  read(info, target, info.dates)
end

function marks.day_fields(value)
  if native_records.class_of(value) == nil then return nil end
  local days = record_info.of_record(value).days
  return days and next(days) and days
end

--- check_types = false: columns accept values of types other than declared.
function record_class.class_options.check_types(info, value)
  if type(value) ~= "boolean" then
    errors.raise("argument", "perilune.record: option check_types: expected a boolean, got " .. errors.describe(value))
  end
  info.checks_types = value
end

local function checks_types(class_info)
  for ancestor in record_class.ancestors(class_info) do
    if ancestor.checks_types ~= nil then return ancestor.checks_types end
  end
  return true
end

--- Called with each new description of a class. Makes Lua handle its records if their columns need conversion.
record_class.describers[#record_class.describers + 1] = function(class_info, description)
  local info = record_info.of(description)
  sort_columns(info)
  for _, column in ipairs(description.columns) do
    local converter, declared = info.converters[column.name], info.declared[column.name]
    if converter and converter.name == "blob" then column.is_blob = true end
    -- For columns declared for bytes and for some types, the column determines the meaning of a string; otherwise only the value does.
    local is_said = column.is_blob or converter and (converter.read or converter.name == "string")
    column.keeps_blobs = declared ~= nil and not is_said
    local is_table = description.schema.kind == "table"
    column.is_real = is_table and declared ~= nil and declared.affinity == "real" and not converter
    column.holds = is_table and not converter and declared ~= nil and checks_types(class_info) and column_types.held_by(declared) or nil
  end
  for _, column in ipairs(info.dates) do description.columns[description.positions[sql_names.fold(column)]].is_date = true end
  if info.converted then
    class_info.encode = encode
    native_records.set_model(class_info.model, true)
  end
  if info.decoded_columns then
    class_info.decode = decode
    native_records.set_model(class_info.model, nil, true)
  end
end

return types
