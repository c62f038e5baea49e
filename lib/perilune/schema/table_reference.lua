--- References from columns to the key of a table.

local errors = require "perilune.native.errors"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"

local table_reference = {}

local actions = { "no action", "restrict", "set null", "set default", "cascade" }

--- The options of everything that refers to a table.
table_reference.options = { on_delete = "any", on_update = "any", deferred = "boolean" }

--- What to write in place of surplus arguments of `t:foreign_key`.
table_reference.arity_cure =
  "the columns are an option, as in t:foreign_key(\"column\", \"table\", { columns = \"id\", on_delete = \"cascade\" })"

local function action(place, event, value)
  local word = checks.choice(place .. ": option `on_" .. event .. "`", "action", value, actions)
  return word and " ON " .. event:upper() .. " " .. word or ""
end

--- Returns the clauses after the columns: the actions if the referenced row is deleted or changed.
local function clauses_of(place, options)
  return action(place, "delete", options.on_delete) .. action(place, "update", options.on_update)
    .. (options.deferred and " DEFERRABLE INITIALLY DEFERRED" or "")
end

--- Raises if a table does not exist, suggesting the nearest name.
function table_reference.require_table(db, name, place)
  sql_text.name(name, place)
  if db:table_exists(name) then return end
  if db:view_exists(name) then checks.refuse(place, "`" .. name .. "` is a view: only tables can be referred to") end
  require("perilune.schema.introspection").raise_unknown_table(db, name)
end

--- Returns the key of another table: a list of columns as in `db:columns`.
function table_reference.key_of(db, name, place)
  table_reference.require_table(db, name, place)
  local key = {}
  for _, column in ipairs(db:columns(name)) do
    if column.primary_key then key[column.primary_key] = column end
  end
  if #key == 0 then
    checks.refuse(place, "table `" .. name .. "` has no primary key to refer to; name the column")
  end
  return key
end

local function check_columns(db, name, columns, place)
  if not db:table_exists(name) then return end
  local names = {}
  for index, column in ipairs(db:columns(name)) do names[index] = column.name end
  for _, wanted in ipairs(columns) do
    local found = false
    for _, column_name in ipairs(names) do found = found or sql_names.same(column_name, wanted) end
    if not found then errors.raise_unknown_column(wanted, name, names) end
  end
end

local function names_of(key)
  local names = {}
  for index, column in ipairs(key) do names[index] = column.name end
  return names
end

--- Makes a reference to a table.
-- The key of the table being defined is read at the end, other keys at once.
-- @tparam table definition the table that refers
-- @tparam integer count the number of columns that refer
-- @tparam ?{string,...} columns the columns of the other table; nil for its primary key
-- @treturn function returns the SQL `REFERENCES ...`
function table_reference.make(definition, name, count, columns, options, place)
  local clauses = clauses_of(place, options)
  local is_self = sql_names.same(sql_text.name(name, place), sql_text.name(definition.name))
  if columns and is_self then definition:use_columns(columns, place) end
  if columns and not is_self then check_columns(definition.db, name, columns, place) end
  if not columns and not is_self then columns = names_of(table_reference.key_of(definition.db, name, place)) end
  local function sql()
    columns = columns or names_of(definition:own_key(place))
    if #columns ~= count then
      checks.refuse(place, ("%d column%s cannot refer to %d of `%s` (%s)"):format(
        count, count == 1 and "" or "s", #columns, name, table.concat(columns, ", ")))
    end
    return "REFERENCES " .. sql_text.name(name) .. "(" .. sql_text.names(columns, place) .. ")" .. clauses
  end
  if columns then sql() end
  return sql
end

return table_reference
