--- The SQL that keeps the history of a table: its columns, its triggers, and versions of rows that no trigger has recorded.

local native_schema = require "perilune.native.schema"
local sql_names = require "perilune.runtime.names"
local sql_text = require "perilune.runtime.sql_text"
local history_tables = require "perilune.schema.history_tables"

local history_versions = {}

--- Transactions with notes. Triggers find the current transaction by `is_open`, which is reset before the commit.
history_versions.transactions_sql = [[
CREATE TABLE IF NOT EXISTS perilune_transaction (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  began_at DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
  note TEXT,
  is_open BOOLEAN
);
CREATE INDEX IF NOT EXISTS perilune_transaction_open ON perilune_transaction (is_open) WHERE is_open]]

-- Columns ------------------------------------------------------------------------------------------------------------------------------

--- Returns the names of the columns of a table, in order.
function history_versions.column_names(schema)
  local names = {}
  for index, column in ipairs(schema.columns) do names[index] = column.name end
  return names
end

--- Returns the collation of a column as SQL, so that the history and the table agree on which keys are equal.
local function collation_of(column)
  return " COLLATE " .. sql_text.name(column.collation or "BINARY")
end

--- Joins SQL for all columns of the key: for each column, `text` with the column's name in place of each `%s`.
local function key_parts(schema, text, separator)
  local parts = {}
  for _, column in ipairs(schema.columns) do
    local quoted = sql_text.name(column.name)
    if column.primary_key then parts[column.primary_key] = text:format(quoted, quoted) .. collation_of(column) end
  end
  return table.concat(parts, separator)
end

--- Returns SQL that compares two keys column by column, given the comparison of a column, such as "h.%s IS t.%s".
function history_versions.same_key(schema, comparison) return key_parts(schema, comparison, " AND ") end

--- Returns the key for GROUP BY or ORDER BY.
function history_versions.key_terms(schema) return key_parts(schema, "%s", ", ") end

--- Returns the definition of a history column that stores the same values as the table's column. The type ANY of a STRICT table is omitted,
-- because the history is not STRICT and would treat it as NUMERIC.
local function definition_of(column, schema)
  local is_any = schema.strict and sql_names.fold(column.type) == "any"
  return sql_text.name(column.name) .. " " .. (is_any and "" or column.type) .. collation_of(column)
end

--- Returns the columns of a table by their folded names.
local function columns_by_name(schema)
  local columns = {}
  for _, column in ipairs(schema.columns) do columns[sql_names.fold(column.name)] = column end
  return columns
end

--- Returns the names of the columns that a history lacks: new columns of its table, and `history_day` if the history was created by an
-- earlier version of Perilune.
function history_versions.unknown_columns(db, schema)
  local known, unknown = columns_by_name(native_schema.table(db, history_tables.name_of(schema.name))), {}
  if not known.history_day then unknown[1] = "history_day" end
  for _, column in ipairs(schema.columns) do
    if not known[sql_names.fold(column.name)] then unknown[#unknown + 1] = column.name end
  end
  return unknown
end

--- The time of a version of `h` as text, in SQL. The history stores it as a number of days, which SQLite computes ten times as fast. A
-- generated column is not used for the text, because it would be computed for each inserted row.
history_versions.time_text = "strftime('%Y-%m-%d %H:%M:%f', h.history_day)"

--- Returns the statement that creates the history of a table.
function history_versions.creation(schema)
  local definitions = {
    "history_version INTEGER PRIMARY KEY", "history_operation TEXT NOT NULL", "history_day REAL NOT NULL",
    "history_transaction INTEGER REFERENCES perilune_transaction (id)",
  }
  for _, column in ipairs(schema.columns) do definitions[#definitions + 1] = definition_of(column, schema) end
  return "CREATE TABLE " .. sql_text.name(history_tables.name_of(schema.name)) .. " (" .. table.concat(definitions, ", ") .. ")"
end

--- Returns the statement that adds a column to a history.
function history_versions.addition(schema, column)
  return ("ALTER TABLE %s ADD COLUMN %s"):format(sql_text.name(history_tables.name_of(schema.name)), definition_of(column, schema))
end

--- Returns the names and statements of a history's indexes.
function history_versions.indexes(schema)
  local history = history_tables.name_of(schema.name)
  local function index(ending, terms)
    local name = history .. ending
    return { name = name, sql = ("CREATE INDEX %s ON %s %s"):format(sql_text.name(name), sql_text.name(history), terms) }
  end
  return {
    index("_by_key", "(" .. sql_text.names(schema.primary_key.columns) .. ")"),
    index("_by_transaction", "(history_transaction) WHERE history_transaction IS NOT NULL"),
  }
end

-- Versions -----------------------------------------------------------------------------------------------------------------------------

--- Returns the values of the history's own columns; `event` is SQL.
local function own_values(event)
  return event .. ", julianday('now'), (SELECT id FROM perilune_transaction WHERE is_open)"
end

local function insertion(schema, rows)
  return ("INSERT INTO %s (history_operation, history_day, history_transaction, %s) %s"):format(
    sql_text.name(history_tables.name_of(schema.name)), sql_text.names(history_versions.column_names(schema)), rows)
end

--- Returns the columns of a table with a prefix: "new." or "t.".
local function prefixed(schema, prefix)
  local values = {}
  for index, name in ipairs(history_versions.column_names(schema)) do values[index] = prefix .. sql_text.name(name) end
  return table.concat(values, ", ")
end

--- Returns the statements that drop the triggers of a history.
function history_versions.trigger_drops(history)
  local drops = {}
  for index, event in ipairs(history_tables.events) do
    drops[index] = "DROP TRIGGER IF EXISTS " .. sql_text.name(history_tables.trigger_name(history, event))
  end
  return drops
end

--- Returns `UPDATE OF` with the columns that may change a row's key, so that other updates do not run the trigger. SQLite only compares
-- names with those in the UPDATE statement, so all names of a row id are listed.
local function update_of_key(schema)
  local names = table.move(schema.primary_key.columns, 1, #schema.primary_key.columns, 1, {})
  if schema.primary_key.rowid then table.move({ "rowid", "_rowid_", "oid" }, 1, 3, #names + 1, names) end
  return "UPDATE OF " .. sql_text.names(names)
end

--- Returns the statements that create the triggers.
function history_versions.trigger_creations(schema)
  local creations = {}
  local function create(event, verb, condition, ...)
    local name = history_tables.trigger_name(history_tables.name_of(schema.name), event)
    creations[#creations + 1] = ("CREATE TRIGGER %s AFTER %s ON %s%s BEGIN\n  %s;\nEND"):format(
      sql_text.name(name), verb, sql_text.name(schema.name), condition, table.concat({ ... }, ";\n  "))
  end
  local function version(event, prefix)
    -- VALUES is faster than SELECT, for which SQLite needs a subroutine.
    return insertion(schema, ("VALUES (%s, %s)"):format(own_values("'" .. event .. "'"), prefixed(schema, prefix)))
  end
  local same = history_versions.same_key(schema, "new.%s IS old.%s")
  create("insert", "INSERT", "", version("insert", "new."))
  create("delete", "DELETE", "", version("delete", "old."))
  create("update", "UPDATE", " WHEN " .. same, version("update", "new."))
  -- A row with a new key is a new row.
  create("rename", update_of_key(schema), " WHEN NOT (" .. same .. ")", version("delete", "old."), version("insert", "new."))
  return creations
end

--- Returns the condition that a row of the table differs from a version, in value or in type.
local function has_changed(schema)
  local same = {}
  for index, name in ipairs(history_versions.column_names(schema)) do
    local quoted = sql_text.name(name)
    same[index] = ("t.%s IS h.%s COLLATE BINARY AND typeof(t.%s) = typeof(h.%s)"):format(quoted, quoted, quoted, quoted)
  end
  return "NOT (" .. table.concat(same, " AND ") .. ")"
end

--- Returns SQL for the last version of each row that has not been deleted.
-- @tparam string columns the selected columns
-- @tparam ?string condition which versions are considered; all by default
function history_versions.last(schema, columns, condition)
  -- In SQLite, the other columns have the values of the row with the maximum.
  return ("SELECT %s FROM (SELECT max(history_version) AS history_version, history_operation, %s FROM %s%s GROUP BY %s) WHERE history_operation <> 'delete'"):format(
    columns, sql_text.names(history_versions.column_names(schema)), sql_text.name(history_tables.name_of(schema.name)), condition and " WHERE " .. condition or "", history_versions.key_terms(schema))
end

--- Returns the statements that add a version of each row that differs from its last version: rows that are older than the triggers, or that
-- were changed while the triggers did not exist.
function history_versions.completion(schema)
  local last, quoted = history_versions.last(schema, "*"), sql_text.name(schema.name)
  local same = history_versions.same_key(schema, "t.%s IS h.%s")
  return {
    insertion(schema, ("SELECT %s, %s FROM (%s) AS h WHERE NOT EXISTS (SELECT 1 FROM %s AS t WHERE %s)"):format(
      own_values("'delete'"), prefixed(schema, "h."), last, quoted, same)),
    insertion(schema, ("SELECT %s, %s FROM %s AS t LEFT JOIN (%s) AS h ON %s WHERE h.history_version IS NULL OR %s"):format(
      own_values("iif(h.history_version IS NULL, 'start', 'update')"), prefixed(schema, "t."), quoted, last, same, has_changed(schema))),
  }
end

return history_versions
