--- What the behaviours of a class say of an upsert that meets a row: which of its columns stay, and which change by themselves.

local errors = require "perilune.native.errors"
local behaviours = require "perilune.records.behaviours"
local record = require "perilune.records.class"

local upsert_rules = {}

--- Reads the behaviours of a class.
-- @treturn table `kept`, the columns that keep what the row has unless the upsert names them, by name; `immutable`, those of them that it
--   may not name, by name; `version`, the column that counts up, or nil; `updated`, the column that takes the new row's time, or nil
function upsert_rules.of(class)
  local info = record.info(class)
  if info.upsert_rules then return info.upsert_rules end
  local rules, timestamps = { kept = {}, immutable = {} }, behaviours.option(class, "timestamps") or {}
  for _, name in ipairs(behaviours.option(class, "immutable") or {}) do rules.kept[name], rules.immutable[name] = true, true end
  rules.version, rules.updated = behaviours.option(class, "lock_version"), timestamps.updated
  if rules.version then rules.kept[rules.version] = true end
  if timestamps.created then rules.kept[timestamps.created] = true end
  info.upsert_rules = rules
  return rules
end

--- Raises for an immutable column that an upsert names.
function upsert_rules.check_named(rules, place, table_name, column)
  if not rules.immutable[column] then return end
  errors.raise("immutable", ("%s: `%s` is immutable: it can be set only when the record is inserted"):format(place, column),
    { table = table_name, column = column })
end

return upsert_rules
