--- The columns that `t:belongs_to("author")` adds to a table. They link its rows to rows of another table.

local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local column_definition = require "perilune.schema.column_definition"
local index_text = require "perilune.schema.index_text"
local table_reference = require "perilune.schema.table_reference"
local sql_names = require "perilune.runtime.names"

local belonging = {}
local modifiers = {}
local Belonging = checks.class("belongs_to definition", "belongs_to", modifiers, "column_definition")

--- Returns the possible plurals of a name.
local function plurals(name)
  return { name .. "s", name .. "es", (name:gsub("y$", "ies")) }
end

--- Returns the table for a name: the one with this name, else with its plural, or the table being defined.
local function find_table(definition, name, place)
  if definition.db:table_exists(name) then return name end
  local own = definition.name
  if sql_names.same(own, name) then return own end
  for _, plural in ipairs(plurals(name)) do
    if sql_names.same(own, plural) then return own end
    if plural ~= name and definition.db:table_exists(plural) then return plural end
  end
  return name
end

--- What to write in place of surplus arguments of `t:belongs_to`.
belonging.arity_cure = "the table is an option, as in t:belongs_to(\"name\", { table = \"other\", on_delete = \"cascade\" })"

local options_of = { table = "string", columns = "any", indexed = "boolean", unique = "boolean" }
for name, kind in pairs(table_reference.options) do options_of[name] = kind end

--- Makes the columns that refer to the primary key of a table. For a reference to the table being defined, the columns are made later, when
-- its key is known.
function belonging.make(definition, name, options, place)
  sql_text.name(name, place .. ": argument 1")
  options = checks.options(place, options, options_of, "reference_option")
  local self = setmetatable({
    definition = definition,
    place = place,
    name = name,
    options = options,
    own_names = options.columns ~= nil and checks.names(place .. ": option `columns`", options.columns),
    table_name = options.table or find_table(definition, name, place),
    is_unique = options.unique or false,
    not_null_policy = false,
    columns = false,
    is_served_by_key = false,
  }, Belonging)
  if not sql_names.same(self.table_name, definition.name) then
    belonging.expand(self, table_reference.key_of(definition.db, self.table_name, place))
  end
  return self
end

--- Makes one column for each column of the other table's key.
-- @tparam {table,...} key the columns of the key: tables with `name` and `type`
function belonging.expand(self, key)
  local names = self.own_names or {}
  for index, column in ipairs(key) do
    if not self.own_names then names[index] = self.name .. "_" .. column.name end
  end
  if #names ~= #key then
    checks.refuse(self.place, ("option `columns`: the key of `%s` has %d column%s, got %d"):format(
      self.table_name, #key, #key == 1 and "" or "s", #names))
  end
  self.columns = {}
  for index, name in ipairs(names) do
    self.definition:add_name(name, self.place)
    local declared = key[index].type ~= "" and key[index].type or nil
    self.columns[index] = column_definition.make(self.definition, name, declared, self.place, true)
  end
  self.reference = table_reference.make(self.definition, self.table_name, #names, nil, self.options, self.place)
end

local function check_open(self, modifier)
  checks.receiver(self, Belonging, "belongs_to:" .. modifier)
  if not self.definition.is_open then checks.refuse("belongs_to:" .. modifier, "the table cannot be changed here: its block has ended") end
end

--- Requires that every row belongs to one.
-- @param policy a conflict policy, as for columns
function modifiers:not_null(policy)
  check_open(self, "not_null")
  self.not_null_policy = checks.on_conflict("belongs_to:not_null", policy):gsub("^ ON CONFLICT ABORT$", "")
  return self
end

--- Requires that no two rows belong to the same one.
function modifiers:unique(...)
  check_open(self, "unique")
  if select("#", ...) > 0 then checks.fail("belongs_to:unique", "takes no arguments") end
  self.is_unique = true
  return self
end

require("perilune.runtime.arity").limit(modifiers, "belongs_to:", { not_null = 1 })

--- Completes the columns with their constraints. Constraints on several columns are added to the table's list.
-- @tparam {string,...} constraints the constraints of the table
-- @tparam {string,...} indexes the SQL of the table's indexes
function belonging.finish(self, constraints, indexes)
  local names = {}
  for index, column in ipairs(self.columns) do
    names[index] = column.name
    if self.not_null_policy then column.clauses.not_null = "NOT NULL" .. self.not_null_policy end
  end
  local is_indexed = self.options.indexed ~= false and not self.is_served_by_key
  if #names == 1 then
    self.columns[1].clauses.references = self.reference
    self.columns[1].clauses.unique = self.is_unique and "UNIQUE" or nil
    self.columns[1].is_indexed = is_indexed
    return
  end
  constraints[#constraints + 1] = "FOREIGN KEY (" .. sql_text.names(names) .. ") " .. self.reference()
  if is_indexed or self.is_unique then
    indexes[#indexes + 1] = index_text.sql(self.definition, names, { unique = self.is_unique })
  end
end

return belonging
