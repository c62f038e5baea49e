--- Records whose columns have types: the option `types`, and what is done when such records are read and written.

local internal = ...
local records, record = internal.records, internal.record
local record_info = internal.load("record_info")
local record_values = internal.load("record_values")

--- types: column -> type; see column_types.lua.
function record.class_options.types(info, value)
  if type(value) ~= "table" then
    internal.raise("argument", "perilune.record: option types: expected a table of columns and types, got "
      .. internal.describe(value))
  end
  info.types = {}
  for column, wanted in pairs(value) do info.types[column] = wanted end
end

--- What the row path does by itself.
local function is_native(converter, declared)
  return converter.name == "blob" and declared:find("BLOB", 1, true) or converter.name == "boolean" and declared:find("^BOOL")
end

--- Columns that the Lua part has to convert; nil if there are none.
local function converted_columns(info)
  local list
  for _, column in ipairs(info.schema.columns) do
    local converter = info.converters[column.name]
    if converter and not is_native(converter, column.type:upper()) then
      list = list or {}
      list[#list + 1] = column.name
    end
  end
  return list
end

--- What is stored for the fields of a record; nil if it is just what they are.
local function encode(class_info, target, db)
  local info = record_info.of_class(class_info.class, db)
  if info.converted then return record_values.plain(info, target, (records.snapshot(target))) end
end

--- Makes fields of what the row path has put into a record.
local function decode(_, target)
  local info = record_info.of_record(target)
  for _, column in ipairs(info.converted or {}) do
    local stored = rawget(target, column)
    if stored ~= nil then rawset(target, column, record_values.read(info, target, column, stored)) end
  end
end

--- Is told of each new description of a class, and has its records come here if they must.
record.describers[#record.describers + 1] = function(class_info, description)
  local info = record_info.of(description)
  info.converted = converted_columns(info)
  if info.converted then
    class_info.encode, class_info.decode = encode, decode
    records.set_model(class_info.model, true, true)
  end
end
