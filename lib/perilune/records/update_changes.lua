--- update_changes: writes the differences between a record and its row, and executes nothing if they are equal.
--
--     author:update_changes(function(author) author.country = "US" end)
--     author:update_changes{ country = "US" }

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local writing = require "perilune.records.writing"
local record_changes = require "perilune.records.changes"
local column_details = require "perilune.records.column_details"
local record_keys = require "perilune.records.keys"
local record_options = require "perilune.records.options"

local update_changes = {}

--- Returns whether a table contains options rather than columns.
local function are_options(details, value)
  if type(value) ~= "table" or next(value) == nil then return false end
  for name in next, value do
    if not record_options.by_verb.update_changes[name] or details.declared[name] then return false end
  end
  return true
end

--- Distinguishes the change from the options. Options may precede a function, or precede or follow a table.
local function order(details, first, second, surplus)
  if surplus ~= nil then require("perilune.runtime.arity").refuse("update_changes", 2, surplus) end
  if type(second) == "function" then return second, first end
  if are_options(details, first) and not are_options(details, second) then return second, first end
  return first, second
end

local function read_arguments(details, first, ...)
  local db, change, options
  if native_records.is_database(first) then
    db, change, options = first, order(details, ...)
  else
    change, options = order(details, first, ...)
  end
  if change ~= nil and type(change) ~= "table" and type(change) ~= "function" then
    errors.raise("argument", "update_changes: expected a function or a table of columns, got " .. errors.describe(change)
      .. (type(change) == "string" and ("; use update_changes{ %s = value }"):format(change) or ""))
  end
  return db, change, record_options.read("update_changes", options)
end

--- Writes all assigned values of a record that has not read its row, because they may differ from that row.
-- @return whether values besides the key were assigned
local function write_given(info, target, db, options)
  if #native_records.updated_columns(target, db) == 0 then return false end
  return writing.call("update", info, target, db, {
    on_conflict = options and options.on_conflict, returning = options and options.returning, key = options and options.key,
  })
end

--- Writes the columns that differ. Returns whether there were any.
local function write_changes(info, details, target, db, memory, change, options)
  if memory.stored and change == nil then return write_given(info, target, db, options) end
  local columns = record_changes.to_be_written(details, target, memory, change)
  if #columns == 0 then return false end
  if not (options and options.key) then record_keys.check_kept("update_changes", details.description, target) end
  return writing.call("update", info, target, db, {
    on_conflict = options and options.on_conflict,
    returning = options and options.returning,
    key = options and options.key,
    columns = columns,
    knows_row = not memory.stored,
    changed_columns = function() return record_changes.to_be_written(details, target, memory, change) end,
  })
end

--- Applies a function to a record and writes the changes, if the class stores its fields unchanged; otherwise returns nil.
local function update_plainly(info, target, change)
  if info.encode or not native_records.knows_row(target) then return nil end
  record_changes.apply_plain(target, change)
  writing.synchronize(info, target)
  return native_records.write_changes(target)
end

local function update(info, target, ...)
  local details = column_details.of_record(target)
  local db, change, options = read_arguments(details, ...)
  record_options.check(info, options, db)
  local given
  if type(change) == "table" and record_class.names_associations(info, change) then
    change, given = record_class.parents.divide(info, change, "update_changes", db)
  end
  local memory = record_changes.apply(details, target, change)
  if given then record_class.parents.keep(target, given) end
  writing.synchronize(info, target, db)
  local is_written = write_changes(info, details, target, db, memory, change, options)
  if not (options and options.returning) then return is_written end
  if is_written then return record_options.result(info, target, options, db) end
end

--- Changes the record, and writes its differences from the row. If the change fails, the fields are restored.
-- @param ... a database, options as for `update`, and the change, a function or a table of columns; each is optional
-- @return whether anything was written; with the option `returning`, its result, or nil if nothing was written
function update_changes.update_changes(self, change, ...)
  local info = record_class.info_of(self)
  if not info then
    errors.raise("argument", "update_changes: expected a record before the colon, got " .. errors.describe(self))
  end
  if type(change) == "function" and select("#", ...) == 0 then
    local is_written = update_plainly(info, self, change)
    if is_written ~= nil then return is_written end
  end
  return update(info, self, change, ...)
end

--- Writes the differences of a record that has read its row. Returns whether there were any.
function update_changes.write_changes(self)
  return write_changes(record_class.info_of(self), column_details.of_record(self), self, nil, {}, nil, nil)
end

return update_changes
