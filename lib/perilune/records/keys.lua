--- Keys of records and of their rows.

local errors = require "perilune.native.errors"
local null = require("perilune.native.values").null
local native_records = require "perilune.native.records"
local record_failures = require "perilune.records.failures"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local record_fields = require "perilune.records.fields"
local stored_values = require "perilune.runtime.stored_values"

local record_keys = {}

--- Returns the names of the key columns in which a record differs from its row. The list is empty if the record has no key, or has not read
-- its row.
local function changed(description, target)
  local row, names = native_records.snapshot(target)
  if not row then return {} end
  local details, seen, result = column_details.of(description), {}, {}
  for _, name in ipairs(names) do seen[name] = true end
  for _, name in ipairs(description.key) do
    local value = rawget(target, name)
    if value == nil or value == null then return {} end
    if seen[name] and record_values.differs(details, name, row[name], value) then result[#result + 1] = name end
  end
  return result
end

local cures = {
  update = "use `record:update{ key = true }` to give the row that key",
  save = "use `record:update{ key = true }` to give the row that key",
  update_changes = "use the option `key = true` of `update_changes` to give the row that key",
  delete = "use `Class:delete_one(key)` to delete the other row",
  refresh = "use `Class:find(key)` to read the other row",
  upsert = "use a draft, `Class:upsert(Class:draft(record))`, to write the other row",
}

--- Raises if the key of a record differs from the key of its row, because the verb would affect another row.
function record_keys.check_kept(verb, description, target)
  if verb == "write_changes" then verb = "update_changes" end
  local names = changed(description, target)
  if #names == 0 then return end
  local row, parts, key = native_records.snapshot(target), {}, {}
  for index, name in ipairs(names) do
    parts[index] = ("`%s` is %s, and %s in its row"):format(name, record_failures.show(rawget(target, name)), record_failures.show(row[name]))
    key[name] = row[name]
  end
  errors.raise("changed_key", ("%s: the key of the record of `%s` was changed: %s; set it back%s"):format(verb,
    description.table, table.concat(parts, ", "), cures[verb] and ", or " .. cures[verb] or ""),
    { table = description.table, key = #description.key == 1 and key[names[1]] or key })
end

local function has_dates(details, columns)
  for _, name in ipairs(columns) do
    if details.converters[name] and details.converters[name].form then return true end
  end
  return false
end

--- The same date can be stored as different texts. If a row with a unique key exists, replaces the dates of the key with the texts in that
-- row.
-- @param values the stored values by column
function record_keys.adapt(details, db, key, values)
  if #key == 0 or not has_dates(details, key) then return end
  local where, arguments = record_values.conditions(details, key, values)
  if not where then return end
  local row = db:fetch_one(("SELECT %s FROM %s WHERE %s"):format(record_fields.sql_names(details.schema, key), details.description.source, where), arguments)
  for index, name in ipairs(row and key or {}) do values[name] = stored_values.of_row(row, index) end
end

return record_keys
