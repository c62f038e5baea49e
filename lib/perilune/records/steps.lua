--- Writes a single record without hooks: fields are converted to stored values, the row path writes them, and values set by the
-- database are converted back to fields. Only the row path (CPeriluneRecords/Writing) decides which columns are written, and
-- checks, binds and reads them back.
--
-- All steps receive the info of the class, the record, the database (nil: the innermost access or the default database) and the
-- options.

local null = require("perilune.native.values").null
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local record_columns = require "perilune.records.columns"
local record_failures = require "perilune.records.failures"
local column_details = require "perilune.records.column_details"
local record_keys = require "perilune.records.keys"
local record_options = require "perilune.records.options"
local record_values = require "perilune.records.values"

local steps = {}

--- Returns the values to write, which are the converted fields of the record; nil if the fields are stored unchanged.
function steps.values_of(info, target, db)
  for ancestor in record_class.ancestors(info) do
    if ancestor.encode then return ancestor.encode(info, target, db) end
  end
end

--- Returns the stored key of a record as a list of values; nil if it has none.
local function stored_key(info, target, db)
  return record_values.stored_key(column_details.of_class(info.class, db), target)
end

--- Returns the values for finding and writing a record's row, as returned by `values_of`. If the record has not read its row, the row may
-- store dates of the key as different texts, which are used then.
function steps.row_values(info, target, db)
  local values = steps.values_of(info, target, db)
  if not values or native_records.knows_row(target) then return values end
  local details = column_details.of_class(info.class, db)
  record_keys.adapt(details, db or native_records.default_database(), details.description.key, values)
  return values
end

--- Returns whether the record has a value for each key column.
function steps.has_key(info, target, db)
  return stored_key(info, target, db) ~= nil
end

--- Returns the current fields of all columns with a converter. Called before the row path writes.
local function fields_to_adopt(info, target, db, values)
  if not values then return nil end
  local details, fields = column_details.of_class(info.class, db), {}
  for name in pairs(details.converters) do fields[name] = rawget(target, name) end
  return fields
end

--- Converts the stored values that a write has put into the record to fields. Dates get the precision in which they were stored: days or
-- milliseconds.
-- @param values the written values
-- @param fields the previous fields
local function adopt(info, target, db, values, fields, options)
  if not fields then return end
  local details, is_all = column_details.of_class(info.class, db), options and options.returning ~= nil
  for name, converter in pairs(details.converters) do
    local stored = rawget(target, name)
    if stored ~= nil and (is_all or not rawequal(stored, fields[name])) then
      rawset(target, name, record_values.read(details, target, name, stored))
    elseif stored ~= nil and converter.form then
      rawset(target, name, record_values.read(details, target, name, values[name]))
    elseif stored == nil and record_values.is_null_document(details, name, values[name]) then
      rawset(target, name, null)
    end
  end
end

--- Performs a write with the row path and converts values before and after it.
-- @tparam function write the row path's write function
-- @param values the values to write instead of the fields, or nil
-- @return true; false if a conflict policy or condition has prevented the write; nil if there is no row
local function execute(write, info, target, db, options, values, ...)
  local fields = fields_to_adopt(info, target, db, values)
  local is_written = write(target, db, values, ...)
  if is_written then adopt(info, target, db, values, fields, options) end
  return is_written
end

function steps.insert(info, target, db, options)
  return execute(native_records.raw_insert, info, target, db, options, steps.values_of(info, target, db),
    record_options.clause(info, options, "insert"))
end

--- Records the current values of a record's row.
-- @param values the stored values; nil for the fields themselves
-- @tparam ?boolean is_whole whether all columns of the table are known
function steps.note_row(info, target, db, values, is_whole)
  local _, layout = record_class.description(info.class, db)
  record_columns.widen(target, layout, values or target, is_whole)
end

--- Returns the columns that an update with a changed key writes, and the key of the row that it searches for.
local function with_key(info, target, db, options)
  local key, snapshot = nil, native_records.snapshot(target)
  if snapshot then
    key = {}
    for _, name in ipairs(record_class.description(info.class, db).key) do key[name] = snapshot[name] end
  end
  return options.columns or native_records.updated_columns(target, db, true), key
end

--- Updates the row. Returns false if a conflict policy has kept it unchanged; nil if the row does not exist.
function steps.update_row(info, target, db, options)
  local columns, key = options and options.columns, nil
  if options and options.key then columns, key = with_key(info, target, db, options) end
  return execute(native_records.raw_update, info, target, db, options, steps.row_values(info, target, db),
    record_options.clause(info, options, "update"), columns, key)
end

function steps.raise_no_row(info, target, db)
  record_failures.raise_not_found(record_class.description(info.class, db), steps.values_of(info, target, db) or target)
end

function steps.update(info, target, db, options)
  local is_written = steps.update_row(info, target, db, options)
  if is_written == nil then steps.raise_no_row(info, target, db) end
  return is_written
end

--- Updates the row, or inserts it if the record has no key or the row does not exist.
function steps.save(info, target, db, options)
  return execute(native_records.raw_save, info, target, db, options, steps.row_values(info, target, db),
    record_options.clause(info, options, "update"), nil, nil, record_options.clause(info, options, "insert"))
end

--- Inserts the record, or updates the row that conflicts with it: see upsert.lua. Afterwards the record has the values of its row.
function steps.upsert(info, target, db, options)
  db = db or native_records.default_database()
  record_values.note_cleared(column_details.of_class(info.class, db), target)
  local values = steps.row_values(info, target, db)
  if values then
    local details = column_details.of_class(info.class, db)
    for _, key in ipairs(details.schema.distinct_keys) do record_keys.adapt(details, db, key, values) end
  end
  local clause, bound = require("perilune.records.upsert").clause(info, target, db, values, options)
  if not clause then return steps.insert(info, target, db, options) end
  return execute(native_records.raw_upsert, info, target, db, { returning = "all" }, values, clause .. "*", nil, nil, bound)
end

--- Deletes the row; returns whether there was one. Afterwards the record has no row.
function steps.delete(info, target, db, options)
  local values = steps.row_values(info, target, db)
  if not (options and options.returning) then return native_records.raw_delete(target, db, values) end
  return execute(native_records.raw_delete, info, target, db, options, values, "*")
end

return steps
