--- Table definitions: the argument of the block of `db:create_table`. No SQL runs until the block ends.

local errors = require "perilune.native.errors"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_fragment = require "perilune.runtime.sql_fragment"
local declared_types = require "perilune.schema.declared_types"
local column_definition = require "perilune.schema.column_definition"
local table_reference = require "perilune.schema.table_reference"
local belonging = require "perilune.schema.belongs_to"
local sql_names = require "perilune.runtime.names"

local table_definition = {}
local methods = {}
local Methods = checks.class("table definition", "t", methods, "table")
function Methods.__newindex(_, name)
  checks.refuse("db:create_table", ("`t.%s` cannot be set; use t:column(%q, type)"):format(tostring(name), tostring(name)))
end

--- A definition, with the methods that columns and references call on it.
local Definition = {}
Definition.__index = Definition

--- Begins a definition. Scripts receive its field `block_argument`.
-- @tparam table options `if_not_exists`, `temporary`, `without_rowid`, `strict`
function table_definition.make(db, name, options)
  local definition = setmetatable({
    db = db,
    name = name,
    if_not_exists = options.if_not_exists,
    temporary = options.temporary,
    without_rowid = options.without_rowid,
    strict = options.strict,
    is_open = true,
    parts = {},
    column_names = {},
    primary_key = nil,
    unique_keys = {},
    constraints = {},
    own_columns_used = {},
    has_raw_parts = false,
    key_block = nil,
  }, Definition)
  definition.block_argument = setmetatable({ definition = definition }, Methods)
  return definition
end

--- Records the name of a column; raises if it is not unique.
function Definition:add_name(name, place)
  local key = sql_names.fold(name)
  if self.column_names[key] then checks.refuse(place, "column `" .. self.column_names[key] .. "` already exists") end
  self.column_names[key] = name
end

--- Sets the components of the primary key: columns, names of columns, and results of `belongs_to`.
function Definition:set_primary_key(components, place)
  if self.is_alteration then checks.refuse(place, "SQLite cannot add a primary key to a table") end
  if self.key_block then checks.refuse(place, "columns defined in the block of a primary key are all part of it") end
  if self.primary_key then
    local names = table.concat(self:key_names(), ", ")
    checks.refuse(place, "table `" .. self.name .. "` already has a primary key" .. (names ~= "" and ": " .. names or ""))
  end
  self.primary_key = components
end

--- Returns the names of the columns in a component of a key: a name, a column, or a result of `belongs_to`.
local function names_of(component)
  if type(component) == "string" then return { component } end
  local names = {}
  for index, column in ipairs(rawget(component, "columns") or { component }) do names[index] = column.name end
  return names
end

--- Returns the columns of the primary key: tables with `name` and `type`.
function Definition:own_key(place)
  local key = {}
  for _, component in ipairs(self.primary_key or {}) do
    for _, name in ipairs(names_of(component)) do key[#key + 1] = { name = name, type = self:type_of(name) } end
  end
  if #key == 0 then checks.refuse(place, "table `" .. self.name .. "` has no primary key to refer to; name the column") end
  return key
end

function Definition:type_of(name)
  for _, part in ipairs(self.parts) do
    for _, column in ipairs(part.column and { part.column } or part.belonging and part.belonging.columns or {}) do
      if sql_names.same(column.name, name) then return column.declared or "" end
    end
  end
  return ""
end

--- Returns the form in which a column stores dates (see stored_dates.lua); nil if its type is not a type of dates.
function Definition:date_form(name) return declared_types.date_form(self:type_of(name)) end

--- Returns the names of the columns of the primary key, nil if none exists.
function Definition:key_names()
  if not self.primary_key then return nil end
  local all = {}
  for _, component in ipairs(self.primary_key) do
    local names = names_of(component)
    table.move(names, 1, #names, #all + 1, all)
  end
  return all
end

--- Makes the columns with which rows belong to rows of this same table, now that its key is known.
function Definition:expand_own_references()
  for _, part in ipairs(self.parts) do
    if part.belonging and not part.belonging.columns then
      belonging.expand(part.belonging, self:own_key(part.belonging.place))
    end
  end
end

--- Records that columns of this table are named somewhere. Whether they exist is checked at the end.
function Definition:use_columns(names, place)
  self.own_columns_used[#self.own_columns_used + 1] = { names = names, place = place }
end

--- Returns the definition of a block's argument; raises if the block has ended.
local function open(self, method)
  local place = "t:" .. method
  checks.receiver(self, Methods, place)
  local definition = rawget(self, "definition")
  if not definition.is_open then checks.refuse(place, "the table cannot be changed here: its block has ended") end
  return definition, place
end

local function add_column(definition, name, declared, place)
  local column = column_definition.make(definition, name, declared, place)
  definition:add_name(name, place)
  definition.parts[#definition.parts + 1] = { column = column }
  if definition.key_block then
    -- SQLite allows NULL in primary keys unless they are NOT NULL.
    column:not_null()
    table.insert(definition.primary_key, column)
  end
  return column
end

--- Adds a column.
-- @tparam string name
-- @tparam ?string declared its type: "text", "integer", "double", "real", "numeric", "boolean", "blob", "date", "datetime",
--   "json_text", "jsonb", "any", or any other type that SQLite accepts; nil for no type
-- @treturn table the column, with methods that modify it: `t:column("title", "text"):not_null()`
function methods:column(name, declared)
  local definition, place = open(self, "column")
  if type(name) == "table" then checks.fail(place .. ": argument 1", "expected a name, got a table; use t:column(\"title\", \"text\")") end
  return add_column(definition, name, declared, place)
end

--- Adds an integer key that the database chooses and never reuses.
-- @tparam ?table options `on_conflict`
function methods:auto_incremented_primary_key(name, options)
  local definition, place = open(self, "auto_incremented_primary_key")
  options = checks.options(place, options, { on_conflict = "string" })
  if definition.without_rowid then checks.refuse(place, "a table without row ids cannot use AUTOINCREMENT") end
  return add_column(definition, name, "integer", place)
    :primary_key{ autoincrement = true, on_conflict = options.on_conflict }
end

local function key_column(definition, name, declared, options, place)
  if declared == nil then checks.fail(place .. ": argument 2", ("expected a type, got nothing; use t:primary_key(%q, \"integer\"), or "
    .. "t:primary_key{ %q } for a column that is defined elsewhere"):format(tostring(name), tostring(name))) end
  local is_type, err = pcall(declared_types.sql, declared, definition.strict, place .. ": argument 2")
  if not is_type then
    local cure = type(declared) == "string" and ("; use t:primary_key{ %q, %q } for a key of several columns"):format(name, declared) or ""
    errors.raise(err.kind, err.message .. cure, { name = err.name, suggestion = err.suggestion })
  end
  local column = add_column(definition, name, declared, place)
  column:primary_key(checks.options(place, options, { on_conflict = "string" }, "key_option"))
  -- An integer key cannot be NULL. Others can, unless they are NOT NULL.
  return column.declared == "INTEGER" and column or column:not_null()
end

--- Runs a block whose columns together form the primary key.
local function key_of_block(definition, body, policy, place)
  definition:set_primary_key({}, place)
  definition.key_policy, definition.key_block = policy, true
  local _ <close> = setmetatable({}, { __close = function() definition.key_block = nil end })
  body(definition.block_argument)
  if #definition.primary_key == 0 then checks.refuse(place, "the block defined no columns") end
end

local function key_of_names(definition, names, policy, place)
  names = checks.names(place, table.move(names, 1, #names, 1, {}))
  definition:set_primary_key(names, place)
  definition.key_policy = policy
  definition:use_columns(names, place)
end

--- Sets the primary key. It consists of one new column, `t:primary_key("id", "integer", { on_conflict = "replace" })`; of columns defined
-- elsewhere, `t:primary_key{ "a", "b", on_conflict = "replace" }`; or of all columns defined in a block, `t:primary_key(function(t) ...
-- end)`, which options may precede.
function methods:primary_key(first, second, third)
  local definition, place = open(self, "primary_key")
  if type(first) == "string" then return key_column(definition, first, second, third, place) end
  local body = type(first) == "function" and first or type(second) == "function" and second
  if type(first) ~= "table" and type(first) ~= "function" then
    checks.fail(place, "argument 1: expected a name, a list of names or a function, got " .. errors.describe(first))
  end
  local policy = checks.on_conflict(place, type(first) == "table" and checks.rest(first, #first) or nil)
  if body then return key_of_block(definition, body, policy, place) end
  key_of_names(definition, first, policy, place)
end

--- Adds columns `<name>_<key>`, which refer to the primary key of another table, and their index.
-- @tparam string name the name of the reference, and of the table or its singular, unless `table` is given
-- @tparam ?table options `table`; `columns`: their names here; `on_delete`, `on_update`, `deferred`; `unique`;
--   `indexed = false`
-- @treturn table with methods `not_null` and `unique`
function methods:belongs_to(name, options)
  local definition, place = open(self, "belongs_to")
  local part = belonging.make(definition, name, options, place)
  definition.parts[#definition.parts + 1] = { belonging = part }
  if definition.key_block then
    if not part.columns then checks.refuse(place, "a primary key cannot refer to itself") end
    part:not_null()
    table.insert(definition.primary_key, part)
    -- If these columns come first in the primary key, its index finds rows by them, so they need no index of their own.
    part.is_served_by_key = definition.primary_key[1] == part
  end
  return part
end

--- Makes columns refer to columns of a table, by default its primary key.
-- @tparam ?table options `columns` of the other table; `on_delete`, `on_update`, `deferred`
function methods:foreign_key(names, other, options)
  local definition, place = open(self, "foreign_key")
  if type(names) ~= "table" or #names > 0 or other ~= nil then names = checks.names(place, names) end
  if type(other) ~= "string" then
    checks.fail(place, "argument 2: expected the name of a table, got " .. (other == nil and "nothing" or errors.describe(other))
      .. "; use t:foreign_key({ \"column\" }, \"table\", { on_delete = \"cascade\" })")
  end
  local kinds = { columns = "any" }
  for key, kind in pairs(table_reference.options) do kinds[key] = kind end
  options = checks.options(place, options, kinds)
  local columns = options.columns ~= nil and checks.names(place .. ": option `columns`", options.columns) or nil
  definition:use_columns(names, place)
  local reference = table_reference.make(definition, other, #names, columns, options, place)
  table.insert(definition.parts, {
    constraint = function() return "FOREIGN KEY (" .. sql_text.names(names, place) .. ") " .. reference() end,
  })
end

--- Rejects rows that equal another row in all these columns.
-- @tparam ?table options `on_conflict`
function methods:unique_key(names, options)
  local definition, place = open(self, "unique_key")
  checks.one_list(place, names, options)
  names = checks.key_names(place, names)
  definition:use_columns(names, place)
  table.insert(definition.unique_keys, "UNIQUE (" .. sql_text.names(names, place) .. ")" .. checks.on_conflict(place, options))
end

--- Rejects rows for which a condition is false.
-- @param condition SQL text, an expression, or a function that receives the columns (`c.price`) and returns one of these
function methods:check(condition)
  local definition, place = open(self, "check")
  table.insert(definition.constraints, "CHECK (" .. sql_fragment.expression(condition, place, nil, function(name) return definition:date_form(name) end) .. ")")
end

--- Adds a constraint as SQL.
function methods:constraint(sql)
  local definition, place = open(self, "constraint")
  if type(sql) == "string" and not sql:find("^%s*[cCuUfFpP]%a+") then
    checks.fail(place, ("expected SQL such as \"CONSTRAINT positive CHECK (total > 0)\", got %q; use t:check(condition) for a condition"):format(sql))
  end
  table.insert(definition.constraints, sql_fragment.text(sql, place))
  definition.has_raw_parts = true
end

--- Adds a column as SQL.
function methods:column_sql(sql)
  local definition, place = open(self, "column_sql")
  if definition.key_block then checks.refuse(place, "columns of a primary key cannot be defined in SQL") end
  table.insert(definition.parts, { sql = sql_fragment.text(sql, place) })
  definition.has_raw_parts = true
end

require("perilune.runtime.arity").limit(methods, "t:", {
  column = 2, auto_incremented_primary_key = 2, primary_key = 3, belongs_to = 2, foreign_key = 3, unique_key = 2, check = 1, constraint = 1, column_sql = 1,
}, {
  column = "the properties of a column are methods, as in t:column(\"name\", \"text\"):not_null()", check = "use t:constraint(sql) for a named constraint",
  primary_key = "use t:primary_key{ \"a\", \"b\" } for a key of several columns", unique_key = "use t:unique_key{ \"a\", \"b\" }",
  belongs_to = belonging.arity_cure, foreign_key = table_reference.arity_cure,
})

return table_definition
