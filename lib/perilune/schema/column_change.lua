--- Changes of columns in the SQL text of a table, for `db:alter_table`.

local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"
local column_definition = require "perilune.schema.column_definition"
local table_text = require "perilune.schema.table_text"

local column_change = {}

--- An existing column that is being changed, for use by its column definition.
local Changed = {}
Changed.__index = Changed

--- @tparam table present the column in the text of the table
-- @tparam {string,...} removable the properties that may be removed
function column_change.make(present, removable)
  return setmetatable({ present = present, removable = removable, removed = {} }, Changed)
end

--- Returns whether the column's own definition has a property.
function Changed:has(kind)
  if kind == "type" then return self.present.declared ~= false end
  return table_text.clause(self.present, kind) ~= nil
end

--- Returns whether SQLite's ALTER TABLE cannot add a column to a table with rows.
function column_change.needs_rebuild(column)
  local _, sql = column_definition.clauses(column)
  local default = sql.default and sql_names.fold(sql.default)
  return column.expression ~= false or sql.primary_key ~= nil or sql.unique ~= nil
    or sql.generated_as ~= nil and sql.generated_as:find("STORED$") ~= nil
    or default ~= nil and (default:find("^default %(") or default:find("^default current_")) ~= nil
    or default ~= nil and default ~= "default null" and sql.references ~= nil
end

local function refuse_conversion(column, item, place)
  if column.expression and table_text.clause(item, "generated_as") then
    checks.refuse(place, "column `" .. column.name .. "` is generated: `using` would change nothing")
  end
end

--- Adds a column to the text of a table.
function column_change.add(text, column, place)
  local item = table_text.read_column(column_definition.sql(column), place)
  refuse_conversion(column, item, place)
  item.using = column.expression or nil
  text:add_column(item)
end

--- Changes the properties of a column in the text of a table.
function column_change.apply(text, column, place)
  local item = text:column(column.name)
  for kind in pairs(column.changed.removed) do
    if kind == "type" then table_text.set_type(item, nil) else table_text.remove_clauses(item, kind) end
  end
  if column.declared then table_text.set_type(item, column.declared) end
  local kinds, sql = column_definition.clauses(column)
  for _, kind in ipairs(kinds) do
    if kind == "check" then table_text.add_clause(item, kind, sql[kind]) else table_text.set_clause(item, kind, sql[kind]) end
    if kind == "not_null" then table_text.remove_clauses(item, "null") end
  end
  refuse_conversion(column, item, place)
  item.using = column.expression or nil
end

--- Returns the first constraint or expression in a table's text that uses a column.
local function user_of(text, name)
  for _, constraint in ipairs(text.constraints) do
    if table_text.mentions(constraint.body, name) then return constraint.body end
  end
  for _, column in ipairs(text.columns) do
    for _, clause in ipairs(column.clauses) do
      local is_evaluated = clause.kind == "check" or clause.kind == "generated_as"
      if is_evaluated and not sql_names.same(column.name, name) and table_text.mentions(clause.text, name) then return clause.text end
    end
  end
end

--- Drops a column from the text of a table; raises if the table needs it.
function column_change.drop(text, name, place)
  local column, position = text:column(name)
  if table_text.clause(column, "primary_key") then
    checks.refuse(place, "column `" .. name .. "` is the primary key; use t:drop_primary_key() first")
  end
  text:remove_column(position)
  local user = user_of(text, name)
  if user then checks.refuse(place, "column `" .. name .. "` is used by " .. user .. "; drop that first") end
end

return column_change
