--- Altering tables: methods of databases.

local errors = require "perilune.native.errors"
local database = require("perilune.native.databases").methods
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_fragment = require "perilune.runtime.sql_fragment"
local column_definition = require "perilune.schema.column_definition"
local table_reference = require "perilune.schema.table_reference"
local indexes = require "perilune.schema.indexes"
local schema_changes = require "perilune.schema.changes"
local synchronization = require "perilune.schema.full_text_synchronization"
local sql_names = require "perilune.runtime.names"

local methods = {}
local Methods = checks.class("table alteration", methods)

--- What columns and references ask of the definition they belong to.
local Alteration = {}
Alteration.__index = Alteration

--- Begins an alteration of a table, which must be there.
-- `changes` are functions that give statements, in order. `columns` are those that the table will have by then.
local function make(db, name, place)
  sql_text.name(name, place .. ": argument 1")
  if db:view_exists(name) then checks.refuse(place, "`" .. name .. "` is a view, which can only be dropped and created again") end
  local alteration = setmetatable({
    db = db,
    name = name,
    columns = indexes.columns_of(db, name, place),
    strict = db:fetch_value("SELECT strict FROM pragma_table_list(?)", name) == 1,
    is_alteration = true,
    is_open = true,
    changes = {},
    renamed = {},
  }, Alteration)
  alteration.block_argument = setmetatable({ alteration = alteration }, Methods)
  return alteration
end

function Alteration:set_primary_key(_, place)
  checks.refuse(place, "SQLite cannot add a primary key to a table")
end

--- The columns of the primary key, under the names that they will have.
function Alteration:own_key(place)
  local key = table_reference.key_of(self.db, self.name, place)
  for _, column in ipairs(key) do column.name = self.renamed[sql_names.fold(column.name)] or column.name end
  return key
end

--- Raises if there is no such column. Returns its name as spelled in the schema.
function Alteration:find(name, place)
  sql_text.name(name, place)
  local found = self.columns.by_key[sql_names.fold(name)]
  if found then return found end
  local names = {}
  for _, existing in pairs(self.columns.by_key) do names[#names + 1] = existing end
  table.sort(names)
  errors.raise_unknown("column", name, names)
end

--- Checks that columns which a reference names are there.
function Alteration:use_columns(names, place)
  for _, name in ipairs(names) do self:find(name, place) end
end

function Alteration:add_name(name, place)
  local existing = self.columns.by_key[sql_names.fold(name)]
  if existing then checks.refuse(place, "column `" .. existing .. "` already exists") end
  self.columns.by_key[sql_names.fold(name)] = name
end

function Alteration:add(change)
  self.changes[#self.changes + 1] = change
end

local function open(self, method)
  local place = "t:" .. method
  checks.receiver(self, Methods, place)
  local alteration = rawget(self, "alteration")
  if not alteration.is_open then checks.refuse(place, "the table cannot be changed here: its block has ended") end
  return alteration, place, "ALTER TABLE " .. sql_text.name(alteration.name)
end

--- Adds a column, with the types and modifiers of `create_table`. SQLite can add no primary key, no unique and no stored
-- column; one that is not null needs a default where there are rows.
function methods:add_column(name, declared)
  local alteration, place, alter = open(self, "add_column")
  local column = column_definition.make(alteration, name, declared, place)
  alteration:add_name(name, place)
  alteration:add(function() return alter .. " ADD COLUMN " .. column_definition.sql(column) end)
  alteration:add(function() return column_definition.index_sql(column) end)
  return column
end

--- Adds a column as SQL.
function methods:add_column_sql(sql)
  local alteration, place, alter = open(self, "add_column_sql")
  sql = sql_fragment.text(sql, place)
  alteration:add(function() return alter .. " ADD COLUMN " .. sql end)
end

--- Renames a column, also where indexes, views, triggers and foreign keys name it.
function methods:rename_column(name, new_name)
  local alteration, place, alter = open(self, "rename_column")
  local found = alteration:find(name, place .. ": argument 1")
  local quoted = sql_text.name(new_name, place .. ": argument 2")
  synchronization.refuse_column(alteration.db, alteration.name, found, place)
  alteration.columns.by_key[sql_names.fold(found)] = nil
  alteration:add_name(new_name, place)
  alteration.renamed[sql_names.fold(found)] = new_name
  alteration:add(function() return alter .. " RENAME COLUMN " .. sql_text.name(found) .. " TO " .. quoted end)
end

--- Drops a column that is not a key and that nothing names.
function methods:drop_column(name)
  local alteration, place, alter = open(self, "drop_column")
  local found = alteration:find(name, place .. ": argument 1")
  synchronization.refuse_column(alteration.db, alteration.name, found, place)
  alteration.columns.by_key[sql_names.fold(found)] = nil
  alteration:add(function() return alter .. " DROP COLUMN " .. sql_text.name(found) end)
end

--- Adds an index: columns and options as in `db:create_index("book", { "title" }, { unique = true })`.
-- @tparam ?table options `name`, `unique`, `where`, `if_not_exists`
function methods:add_index(list, options)
  local alteration, place = open(self, "add_index")
  options = checks.options(place, options,
    { name = "string", unique = "boolean", where = "any", if_not_exists = "boolean" })
  local columns = { by_key = alteration.columns.by_key, names = alteration.columns.names }
  local sql = indexes.sql(columns, options.name, alteration.name, list, options, place)
  alteration:add(function() return sql end)
end

--- Alters a table: `db:alter_table("book", function(t) t:add_column("pages", "integer") end)`.
-- Nothing is executed before the block has ended, and all of it or nothing then.
-- @tparam string name
-- @tparam function block the methods of its argument are add_column, add_column_sql, rename_column, drop_column, add_index
function database:alter_table(name, block)
  checks.block("db:alter_table: argument 2", block)
  local alteration = make(self, name, "db:alter_table")
  local _ <close> = setmetatable({}, { __close = function() alteration.is_open = false end })
  block(alteration.block_argument)
  local statements = {}
  for _, change in ipairs(alteration.changes) do statements[#statements + 1] = change() end
  schema_changes.run(self, statements)
end

--- Renames a table, also where indexes, views, triggers and foreign keys name it.
function database:rename_table(name, new_name)
  local place = "db:rename_table"
  local quoted = sql_text.name(name, place .. ": argument 1")
  local new_quoted = sql_text.name(new_name, place .. ": argument 2")
  table_reference.require_table(self, name, place)
  synchronization.refuse_table(self, name, place)
  self:execute("ALTER TABLE " .. quoted .. " RENAME TO " .. new_quoted)
end

require("perilune.runtime.arity").limit(database, "db:", { alter_table = 2, rename_table = 2 })
