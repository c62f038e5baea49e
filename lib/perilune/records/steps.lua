--- One write of one record, without hooks: fields become what is stored, the row path writes, and what the database has put in
-- becomes fields.
--
-- All steps get the info of the class, the record, the database (nil: the innermost access or the default one) and the options.

local records = require "perilune.native.records"
local record = require "perilune.records.class"
local column_types = require "perilune.records.column_types"
local record_columns = require "perilune.records.columns"
local failures = require "perilune.records.failures"
local record_info = require "perilune.records.info"
local record_keys = require "perilune.records.keys"
local record_options = require "perilune.records.options"
local record_values = require "perilune.records.values"
local sql_text = require "perilune.runtime.sql_text"

local steps = {}

--- What a record is and knows, to be put back if a later step fails.
function steps.remember(target)
  return records.copy_record(target)
end

--- Makes a record what it was.
function steps.put_back(target, memory)
  for key in next, target do
    if rawget(memory, key) == nil then rawset(target, key, nil) end
  end
  for key, value in next, memory do rawset(target, key, value) end
  records.adopt_shape(target, memory)
end

--- The values that are written: those of the record, converted; nil if its fields are what is stored.
function steps.values_of(info, target, db)
  for ancestor in record.ancestors(info) do
    if ancestor.encode then return ancestor.encode(info, target, db) end
  end
end

--- The key of a record as it is stored: a list of values; nil if it has none.
local function stored_key(info, target, db)
  return record_values.stored_key(record_info.of_class(info.class, db), target)
end

--- The values by which the row of a record is found and that are written to it, as `values_of` gives them. Of a record that does
-- not know its row, dates of the key may be written there in another form.
function steps.row_values(info, target, db)
  local values = steps.values_of(info, target, db)
  if not values then return values end
  return steps.in_form_of_row(record_info.of_class(info.class, db), target, db, values)
end

--- Values of a record, with dates of the key in the form in which the row has them, if there is one.
function steps.in_form_of_row(columns, target, db, values)
  if records.knows_row(target) then return values end
  for _, name in ipairs(columns.description.key) do
    if columns.converters[name] == column_types.date and values[name] ~= nil then
      return record_keys.adapt(columns, target, db or records.default_database(), values)
    end
  end
  return values
end

--- Whether the record has a value for each column of its key.
function steps.has_key(info, target, db)
  return stored_key(info, target, db) ~= nil
end

--- The columns that an update writes: those of the table, as far as the record has ever had them, without generated ones.
-- @tparam ?boolean with_key whether the columns of the key are among them
function steps.columns_of(info, target, db, with_key)
  local columns, seen = {}, {}
  local _, names = records.record_schema(target)
  for _, name in ipairs(names) do seen[name] = true end
  for _, column in ipairs(record.description(info.class, db).columns) do
    local is_written = not column.is_generated and (with_key or not column.is_key)
    if is_written and (seen[column.name] or record_values.field(target, column.name) ~= nil) then
      columns[#columns + 1] = column.name
    end
  end
  return columns
end

--- The fields whose columns are converted, before the row path writes.
local function fields_to_adopt(info, target, db, values)
  if not values then return nil end
  local columns, fields = record_info.of_class(info.class, db), {}
  for name in pairs(columns.converters) do fields[name] = rawget(target, name) end
  return fields
end

--- Makes fields of what the row path has put into the record, and has dates be those that were written, which have milliseconds.
-- @param values what was written
-- @param fields what the fields were before
local function adopt(info, target, db, values, fields, options)
  if not fields then return end
  local columns, is_all = record_info.of_class(info.class, db), options and options.returning
  for name, converter in pairs(columns.converters) do
    local stored = rawget(target, name)
    if stored ~= nil and (is_all or not rawequal(stored, fields[name])) then
      rawset(target, name, record_values.read(columns, target, name, stored))
    elseif stored ~= nil and converter == column_types.date then
      rawset(target, name, record_values.read(columns, target, name, values[name]))
    end
  end
end

--- Calls a function that executes SQL; errors of constraints are explained, as the row path does it for its own.
function steps.attempt(info, target, db, f, ...)
  local is_done, result = pcall(f, ...)
  if is_done then return result end
  local explain = require("perilune.records.errors").explain
  error(explain(result, record_info.of_class(info.class, db), target, db), 0)
end

function steps.insert(info, target, db, options)
  local values = steps.values_of(info, target, db)
  local fields = fields_to_adopt(info, target, db, values)
  local count = records.raw_insert(target, db, values, record_options.clause(info, options, "insert"))
  if count == 0 then return false end
  adopt(info, target, db, values, fields, options)
  return true
end

--- Notes what the row of a record holds now.
-- @param values what is stored; nil for the fields themselves
-- @tparam ?boolean is_whole whether all columns of the table are known
function steps.note_row(info, target, db, values, is_whole)
  local _, plan = record.description(info.class, db)
  record_columns.widen(target, plan, values or target, is_whole)
end

--- What an update does that may change the key: which columns it writes, and the key of the row that it finds.
local function with_key(info, target, db, options)
  local key, snapshot = nil, records.snapshot(target)
  if snapshot then
    key = {}
    for _, name in ipairs(record.description(info.class, db).key) do key[name] = snapshot[name] end
  end
  return options.columns or steps.columns_of(info, target, db, true), key
end

--- Updates the row. Returns false if a conflict policy has kept it as it is; nil if there is none.
function steps.update_row(info, target, db, options)
  local values, columns, key = steps.row_values(info, target, db), options and options.columns, nil
  local clause, fields = record_options.clause(info, options, "update"), fields_to_adopt(info, target, db, values)
  if options and options.key then columns, key = with_key(info, target, db, options) end
  local is_written = records.raw_update(target, db, values, clause, columns, key)
  if not is_written then
    if records.raw_exists(target, db, key or values) then return false end
    return nil
  end
  -- The row path has not seen the other columns, but they are the same as before.
  if columns and (options.knows_row or key) then steps.note_row(info, target, db, values) end
  adopt(info, target, db, values, fields, options)
  return true
end

function steps.raise_no_row(info, target, db)
  failures.raise_not_found(record.description(info.class, db), steps.values_of(info, target, db) or target)
end

function steps.update(info, target, db, options)
  local is_written = steps.update_row(info, target, db, options)
  if is_written == nil then steps.raise_no_row(info, target, db) end
  return is_written
end

--- Updates the row, or inserts it where there is no key or no such row.
function steps.save(info, target, db, options)
  if steps.has_key(info, target, db) then
    local is_written = steps.update_row(info, target, db, options)
    if is_written ~= nil then return is_written end
  end
  return steps.insert(info, target, db, options)
end

function steps.upsert(info, target, db, options)
  return require("perilune.records.upsert").run(info, target, db, options)
end

--- Deletes the row and reads it at that.
local function delete_returning(info, target, db)
  local columns, key = record_info.of_class(info.class, db), stored_key(info, target, db)
  if not key then failures.raise_no_key("delete", columns.description) end
  record_keys.check_kept("delete", columns.description, target)
  db = db or records.default_database()
  local row = steps.attempt(info, target, db, db.fetch_one, db,
    columns.description.delete .. " RETURNING " .. sql_text.names(columns.columns), key)
  if not row then return false end
  for index, name in ipairs(columns.columns) do
    rawset(target, name, record_values.read(columns, target, name, row[index]))
  end
  return true
end

--- Deletes the row; returns whether there was one. The record stands for no row after that.
function steps.delete(info, target, db, options)
  local is_deleted
  if options and options.returning then
    is_deleted = delete_returning(info, target, db)
  else
    is_deleted = records.raw_delete(target, db, steps.row_values(info, target, db))
  end
  records.set_snapshot(target, nil)
  return is_deleted
end

return steps
