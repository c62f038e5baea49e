--- The columns of a record: the columns that it has read from its row, and the columns of its table.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_description = require "perilune.records.description"

local columns = {}

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

--- Returns the name of a field that is not a column of the given table, although it was a column when the record was made, or is one in
-- another database. Returns nil if all fields are columns.
local function find_unknown(values, description)
  local own, names = native_records.record_schema(values)
  for _, name in ipairs(names or {}) do
    local is_column = own.positions[record_description.fold(name)] and rawget(values, name) ~= nil
    if is_column and not description.positions[record_description.fold(name)] then return name end
  end
  -- Handles new records. Names of values that were fetched in addition to the columns are skipped.
  for _, name in ipairs(description.others) do
    if rawget(values, name) ~= nil and not set_of(names or {})[name] then return name end
  end
end

--- Returns whether the fields of a record are columns of the table that it is written to. Fields that are not columns in any
-- database are ignored.
-- @tparam boolean raises whether to raise an error for a field that is not
function columns.check_fields(values, description, raises)
  local unknown = find_unknown(values, description)
  if unknown and raises then
    errors.raise_unknown_column(unknown, description.table, record_description.column_names(description))
  end
  return unknown == nil
end

--- Returns the names of a written record's fields in order: first the columns of the current table layout, then names that are not columns
-- in it.
local function seen_names(target, description, is_whole)
  local _, names = native_records.record_schema(target)
  -- A new record knows only those columns of its row for which it was given a value.
  local is_made = not native_records.knows_row(target) and require("perilune.records.class").info(description.class).tracks_changes
  local seen, result = is_made and {} or set_of(names), {}
  for _, column in ipairs(description.columns) do
    local is_seen = is_whole == true or is_whole and is_whole[column.name] or seen[column.name]
    if is_seen or native_records.stored_field(target, column.name) ~= nil then result[#result + 1] = column.name end
  end
  for _, name in ipairs(names) do
    if not description.positions[record_description.fold(name)] then result[#result + 1] = name end
  end
  return result
end

--- Sets the columns that a record has read from its row. The record may now know more columns than before, but not necessarily all columns
-- of the table.
-- @param values the stored values
-- @tparam ?boolean|table is_whole true if all columns of the table are known; or a set of columns that are known in addition to the
--   previous ones
function columns.widen(target, layout, values, is_whole)
  local names = seen_names(target, native_records.table_layout_description(layout), is_whole)
  native_records.adopt_column_set(target, native_records.record_from(layout, names, values))
end

local function check_fit(value)
  local description = native_records.record_schema(value)
  if not description then return end
  local details = require("perilune.records.column_details").of(description)
  for _, column in ipairs(description.columns) do
    local converter = details.converters[column.name]
    if converter and converter.name == "boolean" then
      require("perilune.records.values").read(details, value, column.name, rawget(value, column.name))
    end
  end
  for _, field in next, value do
    if type(field) == "table" then check_fit(field) end
  end
end

--- Raises for a record, or a record in a list, with a value other than a boolean in a boolean column.
function columns.raise_type_mismatch(made)
  if type(made) ~= "table" then return end
  if native_records.class_of(made) then return check_fit(made) end
  for _, one in ipairs(made) do check_fit(one) end
end

return columns
