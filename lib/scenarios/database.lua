--- The database of a scenario. Scripts use the same database, but scenarios can do more: tables are record classes
-- (`t.db.invoices`), and there are the methods `query`, `schema` and `integrity_check`.

local errors = require "perilune.native.errors"
local observation = require "perilune.native.observation"
local records = require "perilune.native.records"
local state = require "scenarios.state"
local perilune = require "perilune"
local database = require("perilune.native.databases").methods

local scenario_database = {}

local classes = {}

local function exists(db, name)
  return db:fetch_value("SELECT 1 FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) "
    .. "WHERE type IN ('table', 'view') AND lower(name) = lower(?)", name) ~= nil
end

local function names_of_tables(db)
  local names, views = database.tables(db), database.views(db)
  table.move(views, 1, #views, #names + 1, names)
  for index = #names, 1, -1 do
    if observation.is_own_table(names[index]) then table.remove(names, index) end
  end
  return names
end

--- Raises if a table or view does not exist; suggests the nearest name.
-- @tparam string what the caller, for messages
function scenario_database.require_table(what, name)
  if type(name) ~= "string" then
    state.mistake("%s: expected the name of a table, got %s", what, errors.describe(name))
  end
  local db = records.default_database()
  if not exists(db, name) then errors.raise_unknown("table", name, names_of_tables(db)) end
end

--- Returns the record class of a table, which is always the same one.
function scenario_database.class(name)
  local class = classes[name]
  if class then return class end
  class = perilune.record(name)
  local has_column = false
  for _, column in ipairs(database.columns(records.default_database(), name)) do
    has_column = has_column or column.name == "get"
  end
  if not has_column then
    --- Returns the record with a key; nil if none exists.
    function class:get(...) return self:fetch_one(...) end
  end
  classes[name] = class
  return class
end

--- Returns all rows of a query.
function database:query(sql, ...)
  return self:fetch_all(sql, ...)
end

--- Returns the SQL of a table, its indexes and triggers; without a name, of all tables.
function database:schema(name)
  if name == nil then return self:schema_sql() end
  scenario_database.require_table("db:schema", name)
  local statements = self:fetch_values([[
    SELECT sql || ';' FROM sqlite_schema WHERE lower(tbl_name) = lower(?) AND sql IS NOT NULL
    ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'view' THEN 2 WHEN 'index' THEN 3 ELSE 4 END, name]], name)
  return table.concat(statements, "\n")
end

--- Returns "ok", or the problems that SQLite finds in the file and its foreign keys.
function database:integrity_check()
  local lines = self:fetch_values("PRAGMA integrity_check")
  if lines[1] == "ok" then lines = {} end
  for _, violation in ipairs(self:foreign_key_violations()) do
    lines[#lines + 1] = ("row %s of %s refers to a row of %s that does not exist")
      :format(tostring(violation.rowid), violation.table, violation.referenced_table)
  end
  return #lines == 0 and "ok" or table.concat(lines, "\n")
end

--- Returns an additional member of databases in scenarios: one of the methods above, or the class of a table.
function scenario_database.member(name)
  if type(name) ~= "string" then return nil end
  local method = rawget(database, name)
  if method then return method end
  scenario_database.require_table("db", name)
  return scenario_database.class(name)
end

return scenario_database
