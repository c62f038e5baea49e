--- The tables of histories: their names, the tables that they belong to, and the changes that are allowed for either.
--
-- The history of `book` is `book_history`, written by the triggers `book_history_insert`, ... of `book`. These names stay the same
-- if SQL renames `book`, so that a history is found by the triggers of its table.

local native_schema = require "perilune.native.schema"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"

local history_tables = {}

--- The columns of a history or of its query results that do not come from its table.
history_tables.own_columns = { "history_version", "history_operation", "history_day", "history_transaction", "history_note" }

--- The events of triggers, which are named after the history: book_history_insert.
history_tables.events = { "insert", "delete", "update", "rename" }

--- Returns the name of a table's history.
function history_tables.name_of(table_name) return table_name .. "_history" end

function history_tables.trigger_name(history, event) return history .. "_" .. event end

--- Returns whether a table of the main database is, or was, a history.
function history_tables.is_history(db, name)
  local is_there, schema = pcall(native_schema.table, db, name)
  if not is_there or schema.kind ~= "table" or schema.database ~= "main" then return false end
  local first, second = schema.columns[1], schema.columns[2]
  return first.name == "history_version" and second ~= nil and second.name == "history_operation"
end

--- Returns the name of the history written by the triggers of a table in the main database; nil if it has none.
-- @treturn ?string
-- @treturn ?string the SQL of the trigger for inserts
function history_tables.find(db, table_name)
  local is_there, schema = pcall(native_schema.table, db, table_name)
  if not is_there or schema.database ~= "main" then return nil end
  local triggers = db:fetch_all([[
    SELECT name, sql FROM main.sqlite_schema
    WHERE type = 'trigger' AND lower(tbl_name) = lower(?) AND name LIKE '%\_history\_insert' ESCAPE '\' ORDER BY name]], table_name)
  for _, trigger in ipairs(triggers) do
    local history = trigger.name:sub(1, -#"_insert" - 1)
    if history_tables.is_history(db, history) then return history, trigger.sql end
  end
end

--- Returns whether a table has a history whose name is derived from the table's current name.
function history_tables.is_kept(db, table_name)
  local history = history_tables.find(db, table_name)
  return history ~= nil and sql_names.same(history, history_tables.name_of(table_name))
end

--- Returns the name of the table whose triggers write a history; nil if none exists.
local function owner_of(db, history)
  if not history_tables.is_history(db, history) then return nil end
  return db:fetch_value("SELECT tbl_name FROM main.sqlite_schema WHERE type = 'trigger' AND lower(name) = lower(?)",
    history_tables.trigger_name(history, "insert"))
end

--- Raises if a table is the history of another, because a history can only be renamed or dropped together with its table.
-- @tparam string cure the remedy
function history_tables.refuse_history(db, name, cure, place)
  local owner = owner_of(db, name)
  if owner then checks.refuse(place, ("`%s` is the history of `%s`; %s"):format(name, owner, cure)) end
end

--- Raises if a table cannot be dropped, because its history would remain.
function history_tables.refuse_owner(db, name, place)
  local history = history_tables.find(db, name)
  if history then
    checks.refuse(place, ("`%s` has a history, `%s`; remove it first by perilune.history(Class):remove(db), or by remove(db, { keep_versions = true }) to keep its versions")
      :format(name, history))
  end
end

--- Raises if a column of a history cannot be renamed, dropped or changed, because triggers write it. Columns that the table no
-- longer has can.
function history_tables.refuse_column(db, history, column, place)
  local owner = owner_of(db, history)
  if not owner then return end
  local is_written = false
  for _, own in ipairs(history_tables.own_columns) do is_written = is_written or sql_names.same(own, column) end
  for _, known in ipairs(native_schema.table(db, owner).columns) do is_written = is_written or sql_names.same(known.name, column) end
  if is_written then
    checks.refuse(place, ("`%s` is the history of `%s`, which writes `%s`; change that table"):format(history, owner, column))
  end
end

return history_tables
