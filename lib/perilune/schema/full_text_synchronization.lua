--- Keeps full-text tables synchronized with their content tables, using triggers.
--
-- To remove an entry from its index, a full-text table without content of its own needs the original values of the row. When REPLACE
-- deletes a row, SQLite runs no triggers for it, and its values are gone when the triggers of the new row run. Therefore triggers before
-- the write copy all rows that share a unique value with the new row to a separate table. Triggers after the write remove the entries of
-- those copied rows that no longer exist.

local native_schema = require "perilune.native.schema"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"

local synchronization = {}

--- The triggers are named after the full-text table with these endings: inserted, deleted, updated; after and before.
local endings = { "_ai", "_ad", "_au", "_bi", "_bu" }

local function trigger_name(name, ending)
  return "__" .. name .. ending
end

--- Returns the table that records rows that may be replaced.
local function noting_table(name) return "__" .. name .. "_replaced" end

--- Returns the full-text tables that are synchronized with a table.
local function tables_on(db, content)
  local found = {}
  for _, trigger in ipairs(db:triggers(content)) do
    local name = trigger.name:match("^__(.+)_ai$")
    if name and db:table_exists(name) then found[#found + 1] = name end
  end
  return found
end

--- Returns the statements that drop the triggers of a full-text table.
-- @treturn {string,...} empty if it has none
function synchronization.drops(db, name)
  local drops = {}
  for _, ending in ipairs(endings) do
    local trigger = trigger_name(name, ending)
    if db:trigger_exists(trigger) then drops[#drops + 1] = "DROP TRIGGER " .. sql_text.name(trigger) end
  end
  if db:table_exists(noting_table(name)) then drops[#drops + 1] = "DROP TABLE " .. sql_text.name(noting_table(name)) end
  return drops
end

--- Raises if a column cannot be renamed or dropped, because a full-text table takes its content from it.
function synchronization.refuse_column(db, content, column, place)
  for _, name in ipairs(tables_on(db, content)) do
    for _, own in ipairs(db:columns(name)) do
      if sql_names.same(own.name, column) and not own.hidden then
        checks.refuse(place, "the full-text table `" .. name .. "` is synchronized with column `" .. column
          .. "`; drop it first, and create it again afterwards")
      end
    end
  end
end

--- Raises if a table cannot be renamed, because it is part of a synchronization.
function synchronization.refuse_table(db, name, place)
  local others = tables_on(db, name)
  if #others > 0 then
    checks.refuse(place, "the full-text table `" .. others[1] .. "` is synchronized with `" .. name
      .. "`; drop it first, and create it again afterwards")
  elseif #synchronization.drops(db, name) > 0 then
    checks.refuse(place, "the full-text table `" .. name .. "` is synchronized; drop it, and create it again under the new name")
  end
end

--- Returns the name of a table's row id that is not hidden by another column.
-- @treturn string
-- @treturn boolean whether a column has that name
function synchronization.rowid_of(db, content, place)
  if db:view_exists(content) then checks.refuse(place, "`" .. content .. "` is a view: only tables have row ids") end
  local schema = native_schema.table(db, content)
  if schema.kind ~= "table" or schema.without_rowid then
    checks.refuse(place, "table `" .. content .. "` has no row ids, which a full-text table needs to find its content")
  end
  if schema.primary_key.rowid then return schema.primary_key.columns[1], true end
  if schema.row_id_names[1] then return schema.row_id_names[1], false end
  checks.refuse(place, "the columns of table `" .. content .. "` hide its row ids")
end

local function qualified(prefix, names)
  local list = {}
  for index, name in ipairs(names) do list[index] = prefix .. sql_text.name(name) end
  return table.concat(list, ", ")
end

--- Returns the condition that an existing row has the same value as the written row in a unique key.
local function replaced_condition(db, content, rowid)
  local parts = { ("%s = new.%s"):format(sql_text.name(rowid), sql_text.name(rowid)) }
  for _, index in ipairs(db:indexes(content)) do
    local equal = {}
    for _, column in ipairs(index.unique and index.columns or {}) do
      equal[#equal + 1] = column and ("%s = new.%s"):format(sql_text.name(column), sql_text.name(column)) or nil
    end
    if #equal > 0 and #equal == #index.columns then parts[#parts + 1] = "(" .. table.concat(equal, " AND ") .. ")" end
  end
  return table.concat(parts, " OR ")
end

--- Returns the statements that create the triggers, and fill the index from existing rows.
-- @tparam string name the full-text table
-- @tparam string rowid the name of the content table's row id
-- @tparam {string,...} columns
function synchronization.statements(db, name, content, rowid, columns, if_not_exists)
  local full_text, source, noted, key = sql_text.name(name), sql_text.name(content), sql_text.name(noting_table(name)), sql_text.name(rowid)
  local content_columns, noted_columns = table.move(columns, 1, #columns, 2, { rowid }), {}
  for index in ipairs(content_columns) do noted_columns[index] = "c" .. index end
  local list, sources = table.concat(noted_columns, ", "), qualified("", content_columns)
  local own = sql_text.names(table.move(columns, 1, #columns, 2, { "rowid" }))
  local insert = ("INSERT INTO %s(%s) VALUES (%s);"):format(full_text, own, qualified("new.", content_columns))
  local delete = ("INSERT INTO %s(%s, %s) VALUES('delete', %s);"):format(
    full_text, full_text, own, qualified("old.", content_columns))
  local condition, forget = replaced_condition(db, content, rowid), ("DELETE FROM %s;"):format(noted)
  local note = ("INSERT INTO %s(%s) SELECT %s FROM %s WHERE "):format(noted, list, sources, source)
  local remove = ("INSERT INTO %s(%s, %s) SELECT 'delete', %s FROM %s WHERE c1 = new.%s OR NOT EXISTS (SELECT 1 FROM %s WHERE %s = %s.c1);"):format(
    full_text, full_text, own, list, noted, key, source, key, noted)
  local if_missing = if_not_exists and "IF NOT EXISTS " or ""
  local function trigger(ending, event, ...)
    return "CREATE TRIGGER " .. if_missing .. sql_text.name(trigger_name(name, ending))
      .. " " .. event .. " ON " .. source .. " BEGIN\n    " .. table.concat({ ... }, "\n    ") .. "\nEND"
  end
  return {
    ("CREATE TABLE %s%s (%s)"):format(if_missing, noted, list),
    trigger("_bi", "BEFORE INSERT", forget, note .. condition .. ";"),
    trigger("_bu", "BEFORE UPDATE", forget, note .. ("%s <> old.%s AND (%s);"):format(key, key, condition)),
    trigger("_ai", "AFTER INSERT", remove, forget, insert),
    -- With recursive triggers, SQLite runs this trigger for replaced rows too.
    trigger("_ad", "AFTER DELETE", ("DELETE FROM %s WHERE c1 = old.%s;"):format(noted, key), delete),
    trigger("_au", "AFTER UPDATE", remove, forget, delete, insert),
    ("INSERT INTO %s(%s) VALUES('rebuild')"):format(full_text, full_text),
  }
end

--- Returns the statements that recreate the triggers that look for conflicting rows of a table with a new unique index.
function synchronization.renewals(db, content, place)
  local renewals = {}
  for _, name in ipairs(tables_on(db, content)) do
    local columns = {}
    for _, column in ipairs(db:columns(name)) do columns[#columns + 1] = not column.hidden and column.name or nil end
    -- Tables created by GRDB have no such triggers.
    if db:trigger_exists(trigger_name(name, "_bi")) then
      local statements = synchronization.statements(db, name, content, (synchronization.rowid_of(db, content, place)), columns)
      for index, ending in ipairs{ "_bi", "_bu" } do
        renewals[#renewals + 1] = "DROP TRIGGER " .. sql_text.name(trigger_name(name, ending))
        renewals[#renewals + 1] = statements[index + 1]
      end
    end
  end
  return renewals
end

--- Rebuilds the full-text tables of a table after changes that did not run triggers.
function synchronization.rebuild(db, content)
  for _, name in ipairs(tables_on(db, content)) do
    local full_text = sql_text.name(name)
    db:execute(("INSERT INTO %s(%s) VALUES('rebuild')"):format(full_text, full_text))
  end
end

return synchronization
