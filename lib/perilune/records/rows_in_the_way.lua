--- Finds the rows that an insert or update will replace, or that an upsert will update: rows with the same value in a unique key.

local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_options = require "perilune.records.options"
local record_values = require "perilune.records.values"
local upsert_keys = require "perilune.records.upsert_keys"
local stored_values = require "perilune.runtime.stored_values"

local rows_in_the_way = {}

--- Returns the keys by which a write may conflict with a row, as lists of columns.
local function keys_of(info, details, verb, target, options)
  if verb == "upsert" then return upsert_keys.searched(details, options, native_records.knows_row(target)) end
  if record_options.policy(info, options, verb) ~= "replace" then return {} end
  return upsert_keys.all(details.schema)
end

local function are_declared(details, columns)
  for _, column in ipairs(columns) do
    if not details.declared[column] then return false end
  end
  return #columns > 0
end

--- Returns the condition for conflicting rows: SQL and its arguments; nil if the record has no values for any of the keys and therefore
-- cannot conflict.
local function condition_of(info, details, verb, target, options)
  local parts, arguments = {}, {}
  for _, columns in ipairs(keys_of(info, details, verb, target, options)) do
    local where, bound
    if are_declared(details, columns) then where, bound = record_values.conditions(details, columns, target) end
    if where then
      parts[#parts + 1] = "(" .. where .. ")"
      table.move(bound, 1, #bound, #arguments + 1, arguments)
    end
  end
  if parts[1] then return table.concat(parts, " OR "), arguments end
end

--- Returns whether conflicting rows exist.
-- @tparam string verb "insert" or "upsert"
function rows_in_the_way.exist(info, verb, target, db, options)
  local details = column_details.of_class(info.class, db)
  local where, arguments = condition_of(info, details, verb, target, options)
  return where ~= nil and db:fetch_value(("SELECT 1 FROM %s WHERE %s"):format(details.description.source, where), arguments) ~= nil
end

--- Fetches the conflicting rows if a behavior of the class counts rows. Otherwise the search is skipped, because it takes time.
-- @tparam string verb "insert", "upsert" or "update"
-- @return a list of records; nil if no behavior of the class needs them, or the write cannot conflict
function rows_in_the_way.find(info, verb, target, db, options)
  local is_wanted = false
  for ancestor in record_class.ancestors(info) do is_wanted = is_wanted or ancestor.counts_replaced end
  if not is_wanted then return nil end
  local details = column_details.of_class(info.class, db)
  local where, arguments = condition_of(info, details, verb, target, options)
  if not where then return nil end
  local rows = info.class:unscoped():filter(where, table.unpack(arguments))
  if verb == "update" then
    local own, bound = record_values.conditions(details, details.description.key, target)
    if own then rows = rows:filter("NOT (" .. own .. ")", table.unpack(bound)) end
  end
  return rows:fetch_all(db)
end

--- Returns those rows of a list that the write of a record has changed. An upsert updates only one of the conflicting rows.
function rows_in_the_way.changed(list, verb, target)
  if verb ~= "upsert" or not list or #list < 2 then return list end
  local details = column_details.of_record(target)
  local key = record_values.stored_key(details, target)
  for _, row in ipairs(list) do
    local is_same = true
    for index, value in ipairs(record_values.stored_key(details, row)) do
      is_same = is_same and stored_values.are_same(value, key[index], details.declared[details.description.key[index]])
    end
    if is_same then return { row } end
  end
  return {}
end

return rows_in_the_way
