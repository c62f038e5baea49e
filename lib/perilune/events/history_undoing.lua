--- Undoing of transactions, in all tables with a history.

local errors = require "perilune.native.errors"
local databases = require "perilune.native.databases"
local sql_text = require "perilune.runtime.sql_text"
local foreign_key_checks = require "perilune.schema.foreign_key_checks"
local history_tables = require "perilune.schema.history_tables"
local history_versions = require "perilune.schema.history_versions"
local history_notes = require "perilune.events.history_notes"
local history_reading = require "perilune.events.history_reading"

local history_undoing = {}

--- Returns the schemas of all tables with a history.
local function histories_in(db, place)
  local tables = {}
  for _, name in ipairs(db:tables()) do
    if history_tables.is_kept(db, name) then tables[#tables + 1] = history_reading.schema_of(db, name, place) end
  end
  return tables
end

--- Returns, for each row that a transaction has changed, its first and last version in the transaction, and the version that precedes them,
-- which may be missing.
local function changes_of(db, schema, transaction)
  local history, same_row = sql_text.name(history_tables.name_of(schema.name)), history_versions.same_key(schema, "h.%s IS c.%s")
  local key, terms = sql_text.names(schema.primary_key.columns), history_versions.key_terms(schema)
  return db:fetch_all(([[
    SELECT c.first, c.last,
      (SELECT max(h.history_version) FROM %s AS h WHERE %s AND h.history_version < c.first) AS before,
      (SELECT count(*) FROM %s AS h WHERE %s AND h.history_version > c.last) AS later
    FROM (SELECT min(history_version) AS first, max(history_version) AS last, %s FROM %s WHERE history_transaction = ? GROUP BY %s) AS c
    ORDER BY c.first DESC]]):format(history, same_row, history, same_row, key, history, terms), transaction)
end

--- Restores a row to the version before a change. Deletes the row if it did not exist then: no such version exists, or it records a
-- deletion.
local function restore(db, schema, change)
  local target, history = sql_text.name(schema.name), sql_text.name(history_tables.name_of(schema.name))
  local key = sql_text.names(schema.primary_key.columns)
  local is_row = ("(%s) = (SELECT %s FROM %s WHERE history_version = %d)"):format(key, key, history, change.first)
  local operation = change.before and db:fetch_value("SELECT history_operation FROM " .. history .. " WHERE history_version = ?", change.before) or "delete"
  if operation == "delete" then return db:execute(("DELETE FROM %s WHERE %s"):format(target, is_row)) end
  local names = {}
  for _, column in ipairs(schema.columns) do
    if not column.generated then names[#names + 1] = column.name end
  end
  local columns = sql_text.names(names)
  local former = ("SELECT %s FROM %s WHERE history_version = %d"):format(columns, history, change.before)
  if db:fetch_value(("SELECT EXISTS (SELECT 1 FROM %s WHERE %s)"):format(target, is_row)) == 1 then
    db:execute(("UPDATE %s SET (%s) = (%s) WHERE %s"):format(target, columns, former, is_row))
  else
    db:execute(("INSERT INTO %s (%s) %s"):format(target, columns, former))
  end
end

--- Returns the tables that a transaction has changed, with their changes. Raises if a row has been changed again since then.
local function changes_in_tables(db, transaction, place)
  local list = {}
  for _, schema in ipairs(histories_in(db, place)) do
    local changes = changes_of(db, schema, transaction)
    for _, change in ipairs(changes) do
      if change.later > 0 then
        errors.raise("history", ("%s: a row of `%s` that transaction %d changed has been changed since; undo the later changes first"):format(
          place, schema.name, transaction), { table = schema.name })
      end
    end
    if #changes > 0 then list[#list + 1] = { schema = schema, changes = changes } end
  end
  return list
end

--- Restores the rows that a transaction has changed, and returns their number.
local function undo_tables(db, transaction, is_enforced, place)
  local count, tables = 0, changes_in_tables(db, transaction, place)
  for _, changed in ipairs(tables) do
    for _, change in ipairs(changed.changes) do restore(db, changed.schema, change) end
    count = count + #changed.changes
  end
  if is_enforced then
    for _, changed in ipairs(tables) do foreign_key_checks.check(db, changed.schema.database, changed.schema.name, place) end
  end
  return count
end

--- Restores the rows that a transaction has changed. Does this in a new transaction.
-- @tparam string name a table that has a history
-- @tparam integer transaction its id
-- @treturn integer the number of restored rows
function history_undoing.undo(db, name, transaction, place)
  -- Foreign keys are not enforced while rows are restored, because their actions would change other rows.
  return databases.unenforced(db, function(db, is_enforced)
    history_reading.require_installed(db, name, place)
    if not db:fetch_value("SELECT 1 FROM perilune_transaction WHERE id = ?", transaction) then
      errors.raise("history", place .. ": no transaction has the id " .. transaction)
    end
    return history_notes.run(db, "undo of transaction " .. transaction, undo_tables, transaction, is_enforced, place)
  end)
end

return history_undoing
