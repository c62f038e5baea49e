--- Conversion of fields to stored values, and of stored values to fields.

local null = require("perilune.native.values").null
local native_values = require "perilune.native.values"
local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local column_types = require "perilune.schema.column_types"
local record_fields = require "perilune.records.fields"
local marks = require "perilune.runtime.marks"
local sql_names = require "perilune.runtime.names"
local sql_text = require "perilune.runtime.sql_text"
local stored_dates = require "perilune.runtime.stored_dates"
local stored_values = require "perilune.runtime.stored_values"

local record_values = {}

--- Returns the key of a record for errors: its value, or a table of values by column; nil if it has none.
function record_values.key(schema, record)
  local columns, values = schema.primary_key.columns, {}
  for _, column in ipairs(columns) do
    local value = rawget(record, column)
    if value ~= nil and value ~= null then values[column] = value end
  end
  if #columns == 1 then return values[columns[1]] end
  return next(values) and values or nil
end

local function is_absent(value)
  return value == nil or value == null
end

--- Returns whether two fields have the same content.
local function have_same_content(left, right)
  if type(left) ~= "table" or type(right) ~= "table" then return left == right end
  for key, value in next, left do
    if not have_same_content(value, rawget(right, key)) then return false end
  end
  for key in next, right do
    if rawget(left, key) == nil then return false end
  end
  return true
end

--- Returns whether a stored value is not NULL but is read as perilune.null, such as the JSON document `null`.
function record_values.is_null_document(details, column, stored)
  local converter = details.converters[column]
  if stored == nil or stored == null or not (converter and converter.read) then return false end
  return converter.read(stored) == null
end

--- For drafts and for records made from drafts: by column, the stored values of fields that are perilune.null although the column is not
-- NULL.
local null_documents = setmetatable({}, { __mode = "k" })

--- Copies the information about such fields from a record to its draft, or from a draft to the record made from it.
function record_values.keep_null_documents(details, source, made)
  local documents, row = {}, native_records.class_of(source) and native_records.snapshot(source) or null_documents[source] or {}
  for column in pairs(details.converters) do
    if rawget(source, column) == null and record_values.is_null_document(details, column, row[column]) then documents[column] = row[column] end
  end
  null_documents[made] = next(documents) ~= nil and documents or nil
end

--- Removes the stored value of such a field. Must be called when a field of a draft is assigned.
function record_values.forget_null_document(made, column)
  if null_documents[made] then null_documents[made][column] = nil end
end

--- Returns the fields of a record that are perilune.null without being NULL, as a set of columns.
function record_values.null_documents(details, record)
  local set, row = {}, nil
  for column in pairs(details.converters) do
    if rawget(record, column) == null then
      row = row or native_records.snapshot(record) or {}
      set[column] = record_values.is_null_document(details, column, row[column]) or nil
    end
  end
  return set
end

--- Returns whether storing a field would change a column, based on the column's stored value.
-- @param details the column details of the table
-- @param ?stored the converted value of the field, if known
function record_values.differs(details, column, old, value, stored)
  local declared, converter = details.declared[column], details.converters[column]
  if value == null and record_values.is_null_document(details, column, old) then return false end
  if is_absent(value) or old == nil then return not (is_absent(value) and old == nil) end
  if not converter then return not stored_values.are_same(old, value, declared) end
  if stored == nil then stored = converter.write(value) end
  -- Not every value that can be read can be written: JSON may contain numbers that are too large.
  if stored == nil then
    local field = old
    if converter.read then field = converter.read(old) end
    return not have_same_content(field, value)
  end
  if stored_values.are_same(old, stored, declared) then return false end
  -- A value may be written in several forms: dates, JSON.
  local field, canonical = old, nil
  if converter.read then field = converter.read(old) end
  if field ~= nil then canonical = converter.write(field) end
  return canonical == nil or not stored_values.are_same(canonical, stored, declared)
end

--- Returns the value to bind in order to find a stored value. Rows return blobs as strings, but in SQLite text never equals a blob.
-- Therefore a string becomes a blob if the column's type writes blobs.
-- @param written the same value as written by the type
local function in_form_of(written, old)
  return type(old) == "string" and native_values.is_blob(written) and perilune.blob(old) or old
end

--- Returns the value to bind in order to find a value of a row.
function record_values.of_row(details, column, old)
  local converter = details.converters[column]
  if type(old) ~= "string" or not converter then return old end
  local field = old
  if converter.read then field = converter.read(old) end
  return field == nil and old or in_form_of(converter.write(field), old)
end

--- Returns the stored value of a field, which may be nil. Raises if it does not convert.
-- @param old the currently stored value, whose spelling is kept if the meaning is the same
function record_values.store(details, record, column, value, old)
  local converter = details.converters[column]
  if not converter or value == nil then return value end
  if value == null then
    if old == nil and record then old = (null_documents[record] or {})[column] end
    return record_values.is_null_document(details, column, old) and in_form_of(converter.write(value), old) or value
  end
  local stored, message = converter.write(value)
  if stored == nil and old ~= nil and not record_values.differs(details, column, old, value) then return old end
  if stored == nil then
    column_types.fail(details.schema, column, message, record and record_values.key(details.schema, record))
  end
  if old ~= nil and not record_values.differs(details, column, old, value, stored) then return in_form_of(stored, old) end
  return stored
end

--- Returns a field as scripts see it; perilune.null for a field to be written as NULL.
function record_values.field(record, column)
  local value = rawget(record, column)
  if value == nil then return native_records.stored_field(record, column) end
  return value
end

--- Returns the stored value of a record's field: the value in its row, if the record has read it and the field has the same
-- meaning. Thus the key of a record finds its row in any form in which it was stored.
function record_values.stored(details, record, column)
  local value = record_values.field(record, column)
  if value == nil or not details.converters[column] then return value end
  local row = native_records.snapshot(record)
  return record_values.store(details, record, column, value, row and row[column])
end

--- Returns the stored key of a record as a list of values; nil if it has none.
function record_values.stored_key(details, record)
  local key = {}
  for index, column in ipairs(details.description.key) do
    local value = record_values.stored(details, record, column)
    if is_absent(value) then return nil end
    key[index] = value
  end
  return #key > 0 and key or nil
end

--- Returns the condition that a column has a date. Appends the values to bind to a list.
local function date_condition(name, texts, value, arguments)
  if texts.form == "day" then
    table.move({ texts.first, texts.beyond }, 1, 2, #arguments + 1, arguments)
    return name .. " >= ? AND " .. name .. " < ?"
  end
  local spellings = stored_dates.spellings_of_key(texts, value)
  table.move(spellings, 1, #spellings, #arguments + 1, arguments)
  return name .. " IN (" .. ("?, "):rep(#spellings - 1) .. "?)"
end

--- Returns the condition that a column has a searched value. Appends the values to bind to a list.
function record_values.condition(details, column, value, arguments)
  local name, converter = record_fields.sql_name(details.schema, column), details.converters[column]
  if converter and not is_absent(value) and not marks.is_expression(value) then
    local texts = converter.form and stored_dates.read(converter.form, value)
    if texts then return date_condition(name, texts, value, arguments) end
    if not converter.form then value = record_values.store(details, nil, column, value) end
  end
  arguments[#arguments + 1] = value
  return name .. (value == null and " IS ?" or " = ?")
end

--- Returns the condition that finds rows with the given values in some columns, and the values to bind. Returns nil if a value is missing.
-- @tparam {string,...} columns
-- @param values the field values by column
-- @tparam ?boolean takes_null whether perilune.null counts as a value, which finds NULL
function record_values.conditions(details, columns, values, takes_null)
  local parts, arguments = {}, {}
  for index, column in ipairs(columns) do
    local value = rawget(values, column)
    if value == nil or value == null and not takes_null then return nil end
    parts[index] = record_values.condition(details, column, value, arguments)
  end
  return table.concat(parts, " AND "), arguments
end

--- Returns what SQLite stores for a value in place of the value; nil if it is the same. Raises for a value that does not fit the column's
-- declared type, unless the record's row already has this value.
-- @param ?record nil if no record is written
function record_values.check_type(details, column, value, record)
  local position = details.description.positions[sql_names.fold(column)]
  local kind = position and details.description.columns[position].holds
  if not kind or marks.is_expression(value) then return end
  local is_held, wanted = column_types.holds(kind, value)
  if is_held then return column_types.stored_form(kind, value) end
  local row = record and native_records.snapshot(record)
  if row and row[column] ~= nil and not record_values.differs(details, column, row[column], value) then return end
  local cure = type(value) == "function" and "use an expression, such as Class.c.total + 1, for a computed value"
    or "a class with the option check_types = false stores it"
  column_types.fail(details.schema, column, ("expected %s, got %s; %s"):format(wanted, errors.describe(value), cure),
    record and record_values.key(details.schema, record))
end

--- Converts a value to the value to bind for a column, which may be nil. Raises if the value does not convert or cannot be stored.
-- @param ?old the currently stored value
function record_values.bind(details, record, column, value, old)
  local stored = record_values.store(details, record, column, value, old)
  local kind = type(stored)
  local is_plain = kind == "string" or kind == "boolean" or kind == "nil" or kind == "number" and stored == stored
  if is_plain or native_values.is_blob(stored) then return stored end
  local is_storable, err = pcall(sql_text.literal, stored)
  if not is_storable then column_types.fail(details.schema, column, err.message, record_values.key(details.schema, record)) end
  return stored
end

--- Returns the value to bind for a record's field. It keeps the form in which the row stores a value of the same meaning (see `stored`).
-- Raises if the field does not convert or cannot be stored.
function record_values.bound(details, record, column)
  local row = details.converters[column] and native_records.snapshot(record)
  return record_values.bind(details, record, column, record_values.field(record, column), row and row[column])
end

--- If a field was read from the row and is nil now, sets it to perilune.null, so that an upsert writes NULL. Otherwise an insert would use
-- the default, and an existing row would keep its value. Does nothing if the key has been cleared, because the record is then meant for a
-- new row.
function record_values.note_cleared(details, record)
  if not native_records.knows_row(record) then return end
  local _, names = native_records.snapshot(record)
  local is_key = {}
  for _, column in ipairs(details.description.key) do
    if is_absent(rawget(record, column)) then return end
    is_key[column] = true
  end
  for _, column in ipairs(names) do
    if rawget(record, column) == nil and details.declared[column] and not details.generated[column] and not is_key[column] then record[column] = null end
  end
end

--- Returns the stored values of all fields that are columns.
-- @param old the known values of the row, or nil
function record_values.plain(details, record, old)
  local plain = {}
  for _, column in ipairs(details.columns) do
    plain[column] = record_values.store(details, record, column, record_values.field(record, column), old and old[column])
  end
  return plain
end

--- Returns the field for a stored value. Raises if it does not convert.
function record_values.read(details, record, column, stored)
  local converter = details.converters[column]
  if stored == nil or not (converter and converter.read) then return stored end
  local field, message = converter.read(stored)
  if field == nil then column_types.fail(details.schema, column, message, record_values.key(details.schema, record)) end
  return field
end

--- Returns a bound value of a typed column in the form that a row would return: blobs become strings.
function record_values.as_row(details, column, bound)
  return details.converters[column] and native_values.is_blob(bound) and tostring(bound) or bound
end

--- Returns the field for the bound value of a column. Raises if it does not convert.
function record_values.field_of(details, column, bound)
  return record_values.read(details, {}, column, record_values.as_row(details, column, bound))
end

--- Returns another table with the content of a field; any other value is returned unchanged.
function record_values.copy(details, column, value)
  local converter = details.converters[column]
  if type(value) ~= "table" or not (converter and converter.read) then return value end
  local stored, copy = converter.write(value), nil
  if stored ~= nil then copy = converter.read(stored) end
  if copy == nil then return value end
  return copy
end

return record_values
