--- The effects of a class's behaviors on an upsert that updates an existing row: which columns keep their values, and which change
-- automatically.

local errors = require "perilune.native.errors"
local behaviours = require "perilune.records.behaviours"
local record_class = require "perilune.records.class"

local upsert_rules = {}

--- Reads the behaviors of a class.
-- @treturn table `kept`, the columns that keep the row's values unless the upsert names them, by name; `immutable`, those that it
--   may not name, by name; `version`, the column that is incremented, or nil; `updated`, the column that takes the new row's time,
--   or nil
function upsert_rules.of(class)
  local info = record_class.info(class)
  if info.upsert_rules then return info.upsert_rules end
  local rules, timestamps = { kept = {}, immutable = {} }, behaviours.option(class, "timestamps") or {}
  for _, name in ipairs(behaviours.option(class, "immutable") or {}) do rules.kept[name], rules.immutable[name] = true, true end
  rules.version, rules.updated = behaviours.option(class, "lock_version"), timestamps.updated
  if rules.version then rules.kept[rules.version] = true end
  if timestamps.created then rules.kept[timestamps.created] = true end
  info.upsert_rules = rules
  return rules
end

--- Raises if an upsert names an immutable column.
function upsert_rules.check_named(rules, place, table_name, column)
  if not rules.immutable[column] then return end
  errors.raise("immutable", ("%s: `%s` is immutable: it can be set only when the record is inserted"):format(place, column),
    { table = table_name, column = column })
end

return upsert_rules
