--- Errors about records: values that cannot be stored, keys without a row.

local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local native_records = require "perilune.native.records"
local raise = errors.raise

local marks = require "perilune.runtime.marks"

local failures = {}

--- Returns the end of a message about a value that cannot be stored: a suggestion what to write instead.
local function value_cure(value, column)
  if marks.is_expression(value) then return ("; use Class:filter_key(key):update_all{ %s = expression } for computed values"):format(column) end
  if type(value) ~= "table" then return "" end
  if native_records.class_of(value) then return "; use its key, as in record.id, or the field of the association" end
  return getmetatable(value) == nil and ("; the class option types = { %s = \"json\" } stores tables as JSON"):format(column) or ""
end

--- Raises for a value that the row path cannot store.
function failures.raise_value(description, target, position, expected, value)
  local key = target and require("perilune.records.values").key(description.schema, target)
  require("perilune.schema.column_types").fail(description.schema, description.columns[position].name,
    "expected " .. expected .. ", got " .. errors.describe(value) .. value_cure(value, description.columns[position].name), key)
end

--- Returns the value that SQLite will store if it converts the given value; otherwise nil. Raises for a value that does not fit the
-- declared type of its column, unless the record's row already has this value.
function failures.check_value(description, target, position, value)
  local info = require("perilune.records.column_details").of(description)
  return (require("perilune.records.values").check_type(info, description.columns[position].name, value, target))
end

--- Adds details about the record to an error of a constraint.
function failures.explain(err, description, target)
  local info = require("perilune.records.column_details").of(description)
  require("perilune.records.errors").explain(err, info, target, native_records.default_database())
end

--- The kinds of errors, in addition to constraint errors, that elements of a list can cause.
local kinds_of_values = {
  argument = true, cluster_refused = true, conversion = true, mismatch = true, null = true, toobig = true, unknown_column = true, validation = true,
}

--- Adds the position of the list element that caused an error to its message and as the field `list_index`.
-- @tparam ?string verb "insert_all" by default
function failures.add_list_index(err, position, verb)
  local kind = type(err) == "userdata" and err.kind
  local is_of_value = kinds_of_values[kind] or type(kind) == "string" and kind:find("^constraint")
  if not is_of_value or err.list_index ~= nil then return end
  verb = verb or "insert_all"
  local message = ("%s: element %d: %s"):format(verb, position, (err.message:gsub("^[%w_]*:?" .. verb .. ": ", "")))
  errors.add_fields(err, { list_index = position, message = message })
end

--- Formats a value of a key for messages.
function failures.show(value)
  if type(value) == "string" then return #value <= 40 and ("%q"):format(value) or errors.describe(value) end
  if native_values.is_blob(value) and #value <= 40 then return require("perilune.runtime.sql_text").literal(value) end
  return type(value) == "table" and errors.describe(value) or tostring(value)
end

--- Returns the names of the key columns; if none exist, the name of the row id.
local function key_names(description)
  return description.row_id and { description.row_id } or description.key
end

local function key_text(description, key)
  local parts = {}
  for index, name in ipairs(key_names(description)) do parts[index] = name .. " = " .. failures.show(key[index]) end
  return table.concat(parts, ", ")
end

--- Raises an error that a table has no row with a key, given as a list of values.
function failures.raise_no_row(description, key)
  local value = key[1]
  if #key_names(description) ~= 1 then
    value = {}
    for index, name in ipairs(description.key) do value[name] = key[index] end
  end
  raise("record_not_found", ("no row of `%s` has %s"):format(description.table, key_text(description, key)),
    { table = description.table, key = value })
end

function failures.raise_not_found(description, values)
  local key = {}
  for index, name in ipairs(description.key) do key[index] = rawget(values, name) end
  failures.raise_no_row(description, key)
end

function failures.raise_no_key(verb, description)
  -- The row path calls its part of update_changes `write_changes`.
  if verb == "write_changes" then verb = "update_changes" end
  if #description.key == 0 then
    raise("argument", ("%s: `%s` has no primary key; name the columns that identify its rows%s, with the option primary_key of "
      .. "perilune.record"):format(verb, description.table,
        description.row_id and ', or "' .. description.row_id .. '" for the row id' or ""))
  end
  local cure = verb:find("update") and "; use filter{ ... }:update_all{ ... } for rows by conditions" or verb:find("delete")
    and "; use filter{ ... }:delete_all() for rows by conditions" or ""
  raise("argument", ("%s: the record has no value for the key (%s) of `%s`%s"):format(verb, table.concat(description.key, ", "),
    description.table, cure))
end

return failures
