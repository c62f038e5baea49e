--- Errors about records: values that cannot be stored, keys that no row has.

local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local records = require "perilune.native.records"
local raise = errors.raise

local failures = {}

--- Raises for a value that the row path cannot store.
function failures.raise_value(description, target, position, expected, value)
  local key = target and require("perilune.records.values").key(description.schema, target)
  require("perilune.records.column_types").fail(description.schema, description.columns[position].name,
    "expected " .. expected .. ", got " .. errors.describe(value), key)
end

--- Raises for a value that a column does not declare to hold, unless the row of the record holds it already.
function failures.check_value(description, target, position, value)
  local info = require("perilune.records.info").of(description)
  require("perilune.records.values").check_type(info, description.columns[position].name, value, target)
end

--- Adds to an error of a constraint what is known of the record.
function failures.explain(err, description, target)
  local info = require("perilune.records.info").of(description)
  require("perilune.records.errors").explain(err, info, target, records.default_database())
end

--- Kinds of errors that come from what a list holds, beside those of constraints.
local kinds_of_values = {
  argument = true, cluster_refused = true, conversion = true, mismatch = true, null = true, toobig = true, unknown_column = true, validation = true,
}

--- Adds to an error of insert_all, in its message and as the field `list_index`, which element of the list it is about.
function failures.add_list_index(err, position)
  local kind = type(err) == "userdata" and err.kind
  local is_of_value = kinds_of_values[kind] or type(kind) == "string" and kind:find("^constraint")
  if not is_of_value or err.list_index ~= nil then return end
  local message = ("insert_all: element %d: %s"):format(position, (err.message:gsub("^insert_all: ", "")))
  errors.add_fields(err, { list_index = position, message = message })
end

--- A value of a key as messages show it.
function failures.show(value)
  if type(value) == "string" then return #value <= 40 and ("%q"):format(value) or errors.describe(value) end
  if native_values.is_blob(value) and #value <= 40 then return require("perilune.runtime.sql_text").literal(value) end
  return type(value) == "table" and errors.describe(value) or tostring(value)
end

--- The names of the columns of the key; where there is none, the row id.
local function key_names(description)
  return description.row_id and { description.row_id } or description.key
end

local function key_text(description, key)
  local parts = {}
  for index, name in ipairs(key_names(description)) do parts[index] = name .. " = " .. failures.show(key[index]) end
  return table.concat(parts, ", ")
end

--- Raises that a table has no row with a key: a list of values.
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
  -- What the row path calls its part of update_changes.
  if verb == "write_changes" then verb = "update_changes" end
  if #description.key == 0 then
    raise("argument", ("%s: `%s` has no primary key; name the columns that identify its rows%s, with the option primary_key of "
      .. "perilune.record"):format(verb, description.table,
        description.row_id and ', or "' .. description.row_id .. '" for the row id' or ""))
  end
  raise("argument", ("%s: the record has no value for the key (%s) of `%s`"):format(verb, table.concat(description.key, ", "),
    description.table))
end

return failures
