--- Change tracking: the differences between a record and the known values of its row.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"

local record_changes = {}

--- Returns the current column details of the record's table, which may have new columns since the record was fetched.
local function current_details(details, target)
  local is_known, current = pcall(column_details.of_class, native_records.class_of(target))
  return is_known and current or details
end

--- Adds the columns for which the record has a value although their value in the row was not fetched.
local function add_unseen(details, target, suspects)
  local _, names = native_records.record_schema(target)
  local seen, all = {}, table.move(suspects, 1, #suspects, 1, {})
  for _, name in ipairs(names) do seen[name] = true end
  for _, column in ipairs(details.columns) do
    if not seen[column] and record_values.field(target, column) ~= nil then all[#all + 1] = column end
  end
  return all
end

--- Returns the names of the columns whose fields differ from the row, in order; nil if the record has not read its row.
-- @param details the column details of the record's table
function record_changes.columns(details, target)
  -- The row path quickly excludes identical values. The remaining ones may still be equal, but in a different form.
  local suspects = native_records.changed_columns(target)
  if suspects == nil then return nil end
  local current = current_details(details, target)
  suspects = add_unseen(current, target, suspects)
  local old, names = native_records.snapshot(target)
  local seen, changed = {}, {}
  for _, name in ipairs(names) do seen[name] = true end
  for _, column in ipairs(suspects) do
    local details = current.declared[column] and current or details
    -- The value of a column that was not fetched is unknown.
    local is_noted = native_records.stored_field(target, column) == null and not seen[column]
    if not details.generated[column] and (is_noted or record_values.differs(details, column, old[column], rawget(target, column))) then
      changed[#changed + 1] = column
    end
  end
  return changed
end

--- Returns the columns that have a value in the record. perilune.null counts as a value.
local function given_columns(details, target)
  local given = {}
  for _, column in ipairs(details.columns) do
    if native_records.stored_field(target, column) ~= nil then given[#given + 1] = column end
  end
  return given
end

local function details_of(verb, value)
  record_class.require_record(verb, value)
  local info = record_class.info_of(value)
  if record_class.names_associations(info, value) then record_class.parents.synchronize(info, value) end
  return column_details.of_record(value)
end

--- Returns whether writing the record would change its row. A record without a row has changes.
function record_changes.has_changes(self)
  local columns = record_changes.columns(details_of("has_changes", self), self)
  return columns == nil or #columns > 0
end

--- The metatable of a difference. A position, as in other libraries, would be nil.
local change_metatable = { __name = "change", __index = function(_, name)
  if name == "old" or name == "new" then return nil end
  errors.raise("unknown_member", ("a change has no member `%s`; use `old` and `new`"):format(tostring(name)), { name = name })
end, __tostring = function(change)
  return ("%s -> %s"):format(change.old == nil and "NULL" or tostring(change.old), change.new == nil and "NULL" or tostring(change.new))
end }

--- Returns the differences from the row: column -> `{ old = ..., new = ... }`, with nil for NULL. For a record without a row, each of its
-- fields is a difference.
function record_changes.changes(self)
  local details, result = details_of("changes", self), {}
  local old = native_records.snapshot(self) or {}
  for _, column in ipairs(record_changes.columns(details, self) or given_columns(details, self)) do
    local new = rawget(self, column)
    if new == null then new = nil end
    result[column] = setmetatable({ old = record_values.read(details, self, column, old[column]), new = new }, change_metatable)
  end
  return result
end

--- Returns the state of a record: its fields, and, if it has not read its row, the values to store for them.
local function remember(details, target)
  local fields = {}
  for key, value in next, target do fields[key] = value end
  -- A table may be modified in place.
  for column, converter in pairs(details.converters) do
    if converter.read and type(fields[column]) == "table" then
      fields[column] = record_values.copy(details, column, fields[column])
    end
  end
  return { fields = fields, stored = not native_records.knows_row(target) and record_values.plain(details, target) or nil }
end

local function put_back(target, memory)
  for key in next, target do
    if memory.fields[key] == nil then rawset(target, key, nil) end
  end
  for key, value in next, memory.fields do rawset(target, key, value) end
end

--- Calls a function that changes a record. Raises if it returns columns, which would be ignored.
local function call_change(change, target)
  local returned = change(target)
  if type(returned) == "table" and getmetatable(returned) == nil and next(returned) ~= nil then
    errors.raise("argument", "update_changes: the function returned a table, which is ignored; assign the fields of its argument, or use "
      .. "update_changes{ column = value }")
  end
end

--- Applies a function to a record that has read its row and whose fields are stored values. If the function fails, the record is
-- restored.
function record_changes.apply_plain(target, change)
  local fields = {}
  for key, value in next, target do fields[key] = value end
  local is_done, failure = pcall(call_change, change, target)
  if is_done then return end
  put_back(target, { fields = fields })
  error(failure, 0)
end

--- Changes a record by a function or a table of fields. If that fails, the record is restored.
-- @return the previous state of the record, for `to_be_written`
function record_changes.apply(details, target, change)
  local memory = remember(details, target)
  if change == nil then return memory end
  local is_done, failure
  if type(change) == "table" then is_done, failure = pcall(record_class.set_fields, target, change)
  else is_done, failure = pcall(call_change, change, target) end
  if is_done then return memory end
  put_back(target, memory)
  error(failure, 0)
end

--- Returns the columns to write after a change. If the record has read its row, these are the columns that differ from the row. Otherwise
-- they are the columns that the change names, and all columns that differ from the record's previous state.
-- @tparam ?table|function change
function record_changes.to_be_written(details, target, memory, change)
  if not memory.stored then return record_changes.columns(details, target) end
  local changed, named = {}, type(change) == "table" and change or {}
  for _, column in ipairs(details.columns) do
    local was = memory.stored[column]
    if was == null then was = nil end
    if named[column] ~= nil or record_values.differs(details, column, was, rawget(target, column)) then changed[#changed + 1] = column end
  end
  return changed
end

return record_changes
