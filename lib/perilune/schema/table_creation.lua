--- Creating and dropping tables: methods of databases.

local errors = require "perilune.native.errors"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local column_definition = require "perilune.schema.column_definition"
local belonging = require "perilune.schema.belongs_to"
local table_definition = require "perilune.schema.table_definition"
local schema_changes = require "perilune.schema.changes"
local history_tables = require "perilune.schema.history_tables"
local full_text_synchronization = require "perilune.schema.full_text_synchronization"
local sql_names = require "perilune.runtime.names"

--- The functions that scripts call.
local public = {}

--- Checks that the columns used in keys exist.
local function check_used_columns(definition)
  if definition.has_raw_parts then return end
  local names = {}
  for _, name in pairs(definition.column_names) do names[#names + 1] = name end
  table.sort(names)
  for _, use in ipairs(definition.own_columns_used) do
    for _, name in ipairs(use.names) do
      if not definition.column_names[sql_names.fold(name)] then
        local _, err = pcall(errors.raise_unknown, "column", name, names)
        if err.suggestion then error(err, 0) end
        errors.raise(err.kind, ("%s: no column `%s`; define it with t:column(%q, type)"):format(use.place, name, name), { name = name })
      end
    end
  end
end

local function check_whole(definition, place)
  if #definition.parts == 0 then checks.refuse(place, "table `" .. definition.name .. "` has no columns; define them with t:column(\"title\", \"text\")") end
  if definition.without_rowid and not definition.primary_key and not definition.has_raw_parts then
    checks.refuse(place, "a table without row ids must have a primary key")
  end
end

--- Returns the items between the parentheses, in the order that SQL requires: columns, keys, constraints; and the indexes.
local function items_of(definition)
  local columns, references, indexes = {}, {}, {}
  local function add(column)
    columns[#columns + 1] = column_definition.sql(column)
    indexes[#indexes + 1] = column_definition.index_sql(column)
  end
  for _, part in ipairs(definition.parts) do
    if part.column then add(part.column) end
    if part.sql then columns[#columns + 1] = part.sql end
    if part.constraint then references[#references + 1] = part.constraint() end
    if part.belonging then
      belonging.finish(part.belonging, references, indexes)
      for _, column in ipairs(part.belonging.columns) do add(column) end
    end
  end
  return columns, references, indexes
end

local function append(list, others)
  return table.move(others, 1, #others, #list + 1, list)
end

--- Returns whether the key is a clause of the table, not of a column.
local function has_key_clause(definition)
  local component = definition.primary_key and definition.primary_key[1]
  return component and (type(component) == "string" or not rawget(component, "is_key"))
end

--- Returns the statements that create a table.
local function statements_of(definition)
  local items, references, indexes = items_of(definition)
  if has_key_clause(definition) then
    items[#items + 1] = "PRIMARY KEY (" .. sql_text.names(definition:key_names()) .. ")" .. definition.key_policy
  end
  append(append(append(items, definition.unique_keys), references), definition.constraints)
  local options = definition.strict and { "STRICT" } or {}
  if definition.without_rowid then options[#options + 1] = "WITHOUT ROWID" end
  local create = (definition.temporary and "CREATE TEMPORARY TABLE " or "CREATE TABLE ")
    .. (definition.if_not_exists and "IF NOT EXISTS " or "") .. sql_text.name(definition.name)
    .. " (" .. table.concat(items, ", ") .. ")" .. (#options > 0 and " " .. table.concat(options, ", ") or "")
  return append({ create }, indexes)
end

--- Creates a table.
--
--     db:create_table("book", function(t)
--       t:auto_incremented_primary_key("id")
--       t:column("title", "text"):not_null()
--       t:belongs_to("author", { on_delete = "cascade" }):not_null()
--     end)
--
-- SQL is executed only after the block has ended without an error.
-- @tparam string name
-- @tparam ?table options `if_not_exists`, `temporary`, `without_rowid`, `strict`
-- @tparam function block defines the table; the methods of its argument are in `table_definition.lua`
function public:create_table(name, options, block)
  local place = "db:create_table"
  if block == nil and type(options) == "function" then options, block = nil, options end
  if type(name) == "table" then
    checks.fail(place .. ": argument 1", "expected a name, got a table; use db:create_table(name, function(t) t:column(\"title\", \"text\") end)")
  end
  sql_text.name(name, place .. ": argument 1")
  local schema, plain = name:match("^(%a+)%.(.+)$")
  if schema == "main" or schema == "temp" then
    checks.fail(place, ("argument 1: expected the name alone, got %q; use db:create_table(%q, %sfunction(t) ... end)"):format(name, plain,
      schema == "temp" and "{ temporary = true }, " or ""))
  end
  if block == nil and (options == nil or type(options) == "table") then
    checks.fail(place, "expected a function, got nil; use db:create_table(name, function(t) t:column(\"title\", \"text\") end)")
  end
  options = checks.options(place, options,
    { if_not_exists = "boolean", temporary = "boolean", without_rowid = "boolean", strict = "boolean" }, "table_option")
  checks.block(place, block)
  local definition = table_definition.make(self, name, options)
  local _ <close> = setmetatable({}, { __close = function() definition.is_open = false end })
  block(definition.block_argument)
  definition:expand_own_references()
  check_whole(definition, place)
  check_used_columns(definition)
  schema_changes.run(self, statements_of(definition))
end

--- Drops a table, and the synchronization triggers of a full-text table.
-- @tparam ?table options `if_exists`: no error if the table does not exist
function public:drop_table(name, options)
  local place = "db:drop_table"
  local quoted = sql_text.name(name, place .. ": argument 1")
  options = checks.options(place, options, { if_exists = "boolean" })
  if not self:table_exists(name) then
    if self:view_exists(name) then checks.refuse(place, "`" .. name .. "` is a view; use db:drop_view") end
    if options.if_exists then return end
    require("perilune.schema.introspection").raise_unknown_table(self, name)
  end
  history_tables.refuse_history(self, name, "remove it by perilune.history(Class):remove(db)", place)
  history_tables.refuse_owner(self, name, place)
  schema_changes.run(self, append(full_text_synchronization.drops(self, name), { "DROP TABLE " .. quoted }))
end

return public
