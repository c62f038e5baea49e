--- Altering tables: methods of databases.

local errors = require "perilune.native.errors"
local declared_types = require "perilune.schema.declared_types"
local native_schema = require "perilune.native.schema"
local databases = require "perilune.native.databases"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_fragment = require "perilune.runtime.sql_fragment"
local belonging = require "perilune.schema.belongs_to"
local column_change = require "perilune.schema.column_change"
local column_definition = require "perilune.schema.column_definition"
local table_rebuild = require "perilune.schema.table_rebuild"
local table_reference = require "perilune.schema.table_reference"
local table_text = require "perilune.schema.table_text"
local history_keeping = require "perilune.schema.history_keeping"
local history_tables = require "perilune.schema.history_tables"
local indexes = require "perilune.schema.indexes"
local schema_changes = require "perilune.schema.changes"
local full_text_synchronization = require "perilune.schema.full_text_synchronization"
local sql_names = require "perilune.runtime.names"

--- The functions that scripts call.
local public = {}

local methods = {}
local Methods = checks.class("table alteration", "t", methods, "alteration")

--- An alteration of a table. Columns and references use it like a table definition, so it has the methods that they call.
local Alteration = {}
Alteration.__index = Alteration

--- Begins an alteration of an existing table. `changes` is the list of changes, in order. Each one has `sql`, a function that returns the
-- ALTER TABLE statement, or `edit`, a function that changes the text of the table, or both; and `rebuilds`, a function that returns whether
-- the table must be rebuilt. `columns` are the columns after the changes so far. `text` is the text of the table after these changes, if it
-- is known before the block ends.
local function make(db, name, place)
  sql_text.name(name, place .. ": argument 1")
  if db:view_exists(name) then checks.refuse(place, "`" .. name .. "` is a view, which can only be dropped and created again") end
  local columns = indexes.columns_of(db, name, place)
  local schema = native_schema.table(db, name)
  local alteration = setmetatable({
    db = db,
    name = schema.name,
    columns = columns,
    strict = schema.strict,
    is_alteration = true,
    is_open = true,
    changes = {},
    text = false,
  }, Alteration)
  if schema.kind == "table" then alteration.text = table_rebuild.read(db, name, place) end
  alteration.block_argument = setmetatable({ alteration = alteration }, Methods)
  return alteration
end

--- Returns the text of the table; raises if it has none.
function Alteration:require_text(place)
  return self.text or checks.refuse(place, "`" .. self.name .. "` is a virtual table, which can only be dropped and created again")
end

--- Turns a column that is being added or changed into the primary key.
function Alteration:set_primary_key(components, place)
  self:require_no_key(place)
  self.new_key = { components[1].name }
end

function Alteration:require_no_key(place)
  full_text_synchronization.refuse_table(self.db, self.name, place)
  local key = self.new_key or self:require_text(place):primary_key()
  if key then
    checks.refuse(place, ("table `%s` already has a primary key (%s); use t:drop_primary_key() first"):format(
      self.name, table.concat(key, ", ")))
  end
end

--- Returns the columns of the primary key, with their new names if they are renamed.
function Alteration:own_key(place)
  local text, key = self:require_text(place), {}
  for index, name in ipairs(self.new_key or text:primary_key() or {}) do
    local column = text:column(name)
    key[index] = { name = name, type = column and column.declared or "" }
  end
  if #key == 0 then checks.refuse(place, "table `" .. self.name .. "` has no primary key to refer to; name the column") end
  return key
end

--- Returns how a column stores dates; nil if it does not.
function Alteration:date_form(name)
  local column = self.text and self.text:column(name)
  return column and declared_types.date_form(column.declared or "")
end

--- Returns the SQL of a check.
local function check_text(alteration, condition, place)
  return "CHECK (" .. sql_fragment.expression(condition, place, nil, function(name) return alteration:date_form(name) end) .. ")"
end

--- Raises if a full-text table depends on a column, or if the column belongs to a history.
function Alteration:refuse_column(name, place)
  full_text_synchronization.refuse_column(self.db, self.name, name, place)
  history_tables.refuse_column(self.db, self.name, name, place)
end

--- Returns the name of a column as spelled in the schema. Raises if the column does not exist.
function Alteration:find(name, place)
  sql_text.name(name, place)
  local found = self.columns.by_key[sql_names.fold(name)]
  if found then return found end
  local names = {}
  for _, existing in pairs(self.columns.by_key) do names[#names + 1] = existing end
  table.sort(names)
  errors.raise_unknown("column", name, names)
end

--- Checks that the columns named by a reference exist.
function Alteration:use_columns(names, place)
  for _, name in ipairs(names) do self:find(name, place) end
end

function Alteration:add_name(name, place)
  local existing = self.columns.by_key[sql_names.fold(name)]
  if existing then checks.refuse(place, "column `" .. existing .. "` already exists") end
  self.columns.by_key[sql_names.fold(name)] = name
end

local function always() return true end
local function never() return false end

--- Adds the creation of an index. The function `sql` returns the statement, or nil if no index is needed.
function Alteration:add_index(sql)
  self.changes[#self.changes + 1] = { sql = sql, rebuilds = never, is_index = true }
end

--- Adds a change to the table's text. It is applied to the current text at once, so that mistakes are reported at their line.
function Alteration:add_edit(edit)
  edit(self.text)
  self.changes[#self.changes + 1] = { edit = edit, rebuilds = always }
end

local function open(self, method)
  local place = "t:" .. method
  checks.receiver(self, Methods, place)
  local alteration = rawget(self, "alteration")
  if not alteration.is_open then checks.refuse(place, "the table cannot be changed here: its block has ended") end
  return alteration, place, "ALTER TABLE " .. sql_text.name(alteration.name)
end

-- Columns

--- Adds the change for a new column.
local function add_definition(alteration, column, place)
  local alter = "ALTER TABLE " .. sql_text.name(alteration.name)
  if alteration.text then
    alteration.text:add_column{ name = column.name, name_text = column.quoted_name, declared = column.declared, clauses = {}, trailing = "" }
  end
  table.insert(alteration.changes, {
    sql = function() return alter .. " ADD COLUMN " .. column_definition.sql(column) end,
    edit = function(text) column_change.add(text, column, place) end,
    rebuilds = function() return column_change.needs_rebuild(column) end,
  })
  alteration:add_index(function() return column_definition.index_sql(column) end)
end

--- Adds a column, with the types and modifiers of `create_table`.
function methods:add_column(name, declared)
  local alteration, place = open(self, "add_column")
  local column = column_definition.make(alteration, name, declared, place)
  alteration:add_name(name, place)
  add_definition(alteration, column, place)
  return column
end

--- Adds a column as SQL.
function methods:add_column_sql(sql)
  local alteration, place, alter = open(self, "add_column_sql")
  sql = sql_fragment.text(sql, place)
  table.insert(alteration.changes, {
    sql = function() return alter .. " ADD COLUMN " .. sql end,
    edit = function(text) text:add_column(table_text.read_column(sql, place)) end,
    rebuilds = never,
  })
end

--- Adds columns with which rows belong to rows of another table, as in `create_table`.
function methods:belongs_to(name, options)
  local alteration, place = open(self, "belongs_to")
  local part = belonging.make(alteration, name, options, place)
  if not part.columns then belonging.expand(part, alteration:own_key(place)) end
  local constraints, statements = {}, {}
  table.insert(alteration.changes, {
    rebuilds = function()
      belonging.finish(part, constraints, statements)
      return #constraints > 0
    end,
  })
  for _, column in ipairs(part.columns) do add_definition(alteration, column, place) end
  table.insert(alteration.changes, {
    edit = function(text)
      for _, sql in ipairs(constraints) do text:add_constraint(table_text.read_constraint(sql, place)) end
    end,
    rebuilds = never,
  })
  alteration:add_index(function() return statements[1] end)
  return part
end

--- Renames a column, and updates indexes, views, triggers and foreign keys that name it.
function methods:rename_column(name, new_name)
  local alteration, place, alter = open(self, "rename_column")
  local found = alteration:find(name, place .. ": argument 1")
  local quoted = sql_text.name(new_name, place .. ": argument 2")
  alteration:refuse_column(found, place)
  alteration.columns.by_key[sql_names.fold(found)] = nil
  alteration:add_name(new_name, place)
  if alteration.text then alteration.text:rename_column(found, new_name) end
  table.insert(alteration.changes, {
    sql = function() return alter .. " RENAME COLUMN " .. sql_text.name(found) .. " TO " .. quoted end,
    rename = { from = found, to = new_name },
    rebuilds = never,
  })
end

--- Drops a column that nothing refers to.
function methods:drop_column(name)
  local alteration, place, alter = open(self, "drop_column")
  local found = alteration:find(name, place .. ": argument 1")
  alteration:refuse_column(found, place)
  local column = alteration.text and alteration.text:column(found)
  local is_bound = column and (table_text.clause(column, "unique") or table_text.clause(column, "references")) ~= nil
  alteration.columns.by_key[sql_names.fold(found)] = nil
  table.insert(alteration.changes, {
    sql = function() return alter .. " DROP COLUMN " .. sql_text.name(found) end,
    edit = function(text) column_change.drop(text, found, place) end,
    rebuilds = function() return is_bound end,
  })
  if column then
    local _, position = alteration.text:column(found)
    alteration.text:remove_column(position)
  end
end

--- Changes the type of a column. The methods of the result change its other properties; the rest are kept.
-- @tparam ?string declared nil keeps the type
function methods:change_column(name, declared)
  local alteration, place = open(self, "change_column")
  local found = alteration:find(name, place .. ": argument 1")
  history_tables.refuse_column(alteration.db, alteration.name, found, place)
  local present = alteration:require_text(place):column(found)
  if not present.origin then checks.refuse(place, "column `" .. found .. "` is added by the same block; define it there") end
  if declared == nil then declared = alteration.strict and present.declared or nil end
  local column = column_definition.make(alteration, found, declared, place)
  column.changed = column_change.make(present, column_definition.removable)
  table.insert(alteration.changes, { edit = function(text) column_change.apply(text, column, place) end, rebuilds = always })
  alteration:add_index(function() return column_definition.index_sql(column) end)
  return column
end

--- Moves columns to the front, in this order; the others keep their order.
function methods:order_columns(names)
  local alteration, place = open(self, "order_columns")
  names = checks.names(place, names)
  alteration:require_text(place)
  for index, name in ipairs(names) do names[index] = alteration:find(name, place) end
  alteration:add_edit(function(text)
    local columns, taken = {}, {}
    for index, name in ipairs(names) do
      columns[index] = text:column(name)
      taken[columns[index]] = true
    end
    for _, column in ipairs(text.columns) do
      if not taken[column] then columns[#columns + 1] = column end
    end
    text:arrange(columns)
  end)
end

-- Keys and constraints

local function add_constraint(alteration, place, sql)
  alteration:require_text(place)
  alteration:add_edit(function(text)
    text:add_constraint(table_text.read_constraint(type(sql) == "function" and sql() or sql, place))
  end)
end

--- Makes columns the primary key of a table without one.
-- @tparam {string,...} names with `on_conflict`
function methods:primary_key(names)
  local alteration, place = open(self, "primary_key")
  local policy = checks.on_conflict(place, type(names) == "table" and checks.rest(names, #names) or nil)
  names = checks.names(place, type(names) == "table" and table.move(names, 1, #names, 1, {}) or names)
  alteration:use_columns(names, place)
  alteration:require_no_key(place)
  add_constraint(alteration, place, "PRIMARY KEY (" .. sql_text.names(names) .. ")" .. policy)
end

--- Turns the columns of the primary key into ordinary columns.
function methods:drop_primary_key()
  local alteration, place = open(self, "drop_primary_key")
  full_text_synchronization.refuse_table(alteration.db, alteration.name, place)
  if not alteration:require_text(place):primary_key() then
    checks.refuse(place, "table `" .. alteration.name .. "` has no primary key")
  end
  alteration:add_edit(function(text)
    text:remove_constraints(function(constraint) return constraint.type == "primary_key" end)
    for _, column in ipairs(text.columns) do table_text.remove_clauses(column, "primary_key") end
  end)
end

--- Returns whether a constraint is on exactly these columns, in this order.
local function is_on(columns, names)
  if #columns ~= #names then return false end
  for index, name in ipairs(names) do
    if columns[index] ~= sql_names.fold(name) then return false end
  end
  return true
end

--- Drops constraints on columns, which may be constraints of the table or clauses of a column.
-- @tparam ?function is_wanted returns whether to drop a constraint or clause; by default all on the columns are dropped
-- @tparam ?string detail describes the constraints in messages
local function drop_constraint_on(alteration, place, names, type, kind, is_wanted, detail)
  is_wanted = is_wanted or function() return true end
  names = checks.names(place, names)
  alteration:require_text(place)
  alteration:use_columns(names, place)
  alteration:add_edit(function(text)
    local count = text:remove_constraints(function(constraint)
      return constraint.type == type and is_on(constraint.columns, names) and is_wanted(constraint)
    end)
    if #names == 1 then count = count + table_text.remove_clauses(text:column(names[1]), kind, is_wanted) end
    if count == 0 then
      local what = ("%s on (%s)%s"):format(type:gsub("_", " "), table.concat(names, ", "), detail or "")
      checks.refuse(place, ("table `%s` has no %s"):format(alteration.name, what))
    end
  end)
end

--- Rejects rows that equal another row in all these columns.
function methods:unique_key(names, options)
  local alteration, place = open(self, "unique_key")
  names = checks.key_names(place, names)
  alteration:use_columns(names, place)
  add_constraint(alteration, place, "UNIQUE (" .. sql_text.names(names, place) .. ")" .. checks.on_conflict(place, options))
end

--- Drops a unique key, even if it is a clause of a column.
function methods:drop_unique_key(names)
  local alteration, place = open(self, "drop_unique_key")
  drop_constraint_on(alteration, place, names, "unique", "unique")
end

local foreign_key_options = { columns = "any" }
for name, kind in pairs(table_reference.options) do foreign_key_options[name] = kind end

--- Makes columns refer to columns of a table, by default its primary key.
function methods:foreign_key(names, other, options)
  local alteration, place = open(self, "foreign_key")
  names = checks.names(place, names)
  options = checks.options(place, options, foreign_key_options)
  local columns = options.columns ~= nil and checks.names(place .. ": option `columns`", options.columns) or nil
  alteration:use_columns(names, place)
  local reference = table_reference.make(alteration, other, #names, columns, options, place)
  add_constraint(alteration, place, function() return "FOREIGN KEY (" .. sql_text.names(names, place) .. ") " .. reference() end)
end

--- Returns the distinct tables to which foreign keys on columns refer.
local function tables_referred_to(text, names)
  local tables, known = {}, {}
  local function add(other)
    local key = sql_names.fold(other)
    if not known[key] then tables[#tables + 1], known[key] = other, true end
  end
  for _, clause in ipairs(#names == 1 and text:column(names[1]).clauses or {}) do
    if clause.kind == "references" then add(clause.other) end
  end
  for _, constraint in ipairs(text.constraints) do
    if constraint.type == "foreign_key" and is_on(constraint.columns, names) then add(constraint.other) end
  end
  return tables
end

--- Drops a foreign key, given by its columns, and by the table if they refer to several tables.
function methods:drop_foreign_key(names, other, surplus)
  local alteration, place = open(self, "drop_foreign_key")
  if surplus ~= nil then checks.fail(place, "takes at most 2 arguments") end
  if other ~= nil then
    sql_text.name(other, place .. ": argument 2")
    local function is_wanted(key) return sql_names.same(key.other, other) end
    return drop_constraint_on(alteration, place, names, "foreign_key", "references", is_wanted, " that refers to `" .. other .. "`")
  end
  local columns = checks.names(place, names)
  alteration:use_columns(columns, place)
  local tables = tables_referred_to(alteration:require_text(place), columns)
  if #tables > 1 then
    checks.refuse(place, ("(%s) refers to several tables: `%s`; name the table of the key, as in t:drop_foreign_key(%s, \"%s\")"):format(
      table.concat(columns, ", "), table.concat(tables, "`, `"),
      #columns == 1 and ("%q"):format(columns[1]) or '{ "' .. table.concat(columns, '", "') .. '" }', tables[1]))
  end
  drop_constraint_on(alteration, place, columns, "foreign_key", "references")
end

--- Rejects rows for which a condition is false.
function methods:check(condition)
  local alteration, place = open(self, "check")
  add_constraint(alteration, place, check_text(alteration, condition, place))
end

--- Drops a check, even one of a column. The condition must be the same as when it was added.
function methods:drop_check(condition)
  local alteration, place = open(self, "drop_check")
  local wanted = table_text.essence(check_text(alteration, condition, place))
  alteration:require_text(place)
  alteration:add_edit(function(text)
    local function is_wanted(sql) return table_text.essence(sql) == wanted end
    local count = text:remove_constraints(function(constraint) return is_wanted(constraint.body) end)
    for _, column in ipairs(text.columns) do
      count = count + table_text.remove_clauses(column, "check", function(clause) return is_wanted(clause.text) end)
    end
    if count == 0 then checks.refuse(place, "table `" .. alteration.name .. "` has no such check") end
  end)
end

--- Adds a constraint as SQL.
function methods:constraint(sql)
  local alteration, place = open(self, "constraint")
  add_constraint(alteration, place, sql_fragment.text(sql, place))
end

--- Drops a named constraint: `CONSTRAINT name ...`.
function methods:drop_constraint(name)
  local alteration, place = open(self, "drop_constraint")
  sql_text.name(name, place)
  alteration:require_text(place)
  alteration:add_edit(function(text)
    local function is_wanted(constraint) return constraint.name ~= nil and sql_names.same(constraint.name, name) end
    local count, known = text:remove_constraints(is_wanted), text:constraint_names()
    for _, column in ipairs(text.columns) do
      for _, kind in ipairs(table_text.kinds) do count = count + table_text.remove_clauses(column, kind, is_wanted) end
    end
    if count == 0 then errors.raise_unknown("constraint", name, known) end
  end)
end

--- Sets or unsets options of the whole table: `strict`, `without_rowid`.
function methods:options(options)
  local alteration, place = open(self, "options")
  options = checks.options(place, options, { strict = "boolean", without_rowid = "boolean" })
  if options.without_rowid then full_text_synchronization.refuse_table(alteration.db, alteration.name, place) end
  alteration:require_text(place)
  if options.strict ~= nil then alteration.strict = options.strict end
  alteration:add_edit(function(text)
    for name, value in pairs(options) do text[name] = value end
  end)
end

--- Adds an index: columns and options as in `db:create_index("book", { "title" }, { unique = true })`.
-- @tparam ?table options `name`, `unique`, `where`, `if_not_exists`
function methods:add_index(list, options)
  local alteration, place = open(self, "add_index")
  options = checks.options(place, options, indexes.options)
  local columns = { by_key = alteration.columns.by_key, names = alteration.columns.names }
  local sql = indexes.sql(columns, options.name, alteration.name, list, options, place)
  alteration:add_index(function() return sql end)
end

-- Running

--- Runs the changes in order. Consecutive changes that SQLite's ALTER TABLE cannot make are combined into one rebuild.
local function run_changes(alteration, db, rebuilds, options)
  local edits = {}
  local function flush()
    if #edits > 0 then table_rebuild.run(db, alteration.name, edits, options) end
    edits = {}
  end
  for _, change in ipairs(alteration.changes) do
    if change.edit and rebuilds then
      edits[#edits + 1] = change.edit
    elseif change.sql then
      local sql = change.sql()
      if sql then
        flush()
        options.run(sql)
      end
    end
  end
  flush()
end

--- Runs the changes, and updates the history of the table, whose triggers name its columns.
local function run_with_history(alteration, db, rebuilds, options)
  local renames, changes_columns = {}, false
  for _, change in ipairs(alteration.changes) do
    renames[#renames + 1] = change.rename
    changes_columns = changes_columns or not change.is_index
  end
  local history = changes_columns and history_keeping.begin(db, alteration.name, options.run)
  run_changes(alteration, db, rebuilds, options)
  if history then history_keeping.finish(history, alteration.name, options.place, renames) end
end

local statements_metatable = {
  __name = "statements",
  __tostring = function(statements)
    local lines = {}
    for index, sql in ipairs(statements) do lines[index] = sql .. ";" end
    return table.concat(lines, "\n")
  end,
}

local function run(alteration, place, is_dry)
  local rebuilds, statements = false, setmetatable({}, statements_metatable)
  if #alteration.changes == 0 then return statements end
  for _, change in ipairs(alteration.changes) do rebuilds = change.rebuilds() or rebuilds end
  local function run_in(db, is_enforced)
    local options = { place = place, is_enforced = is_enforced }
    function options.run(sql)
      statements[#statements + 1] = sql
      return schema_changes.execute(db, sql)
    end
    run_with_history(alteration, db, rebuilds, options)
    -- The error rolls back the changes.
    if is_dry then error(statements) end
  end
  local has_run, err = pcall(rebuilds and databases.unenforced or databases.guarded, alteration.db, run_in)
  if not has_run and err ~= statements then error(err, 0) end
  return statements
end

require("perilune.runtime.arity").limit(methods, "t:", {
  add_column = 2, add_column_sql = 1, belongs_to = 2, rename_column = 2, drop_column = 1, change_column = 2, order_columns = 1, primary_key = 1,
  drop_primary_key = 0, unique_key = 2, drop_unique_key = 1, foreign_key = 3, drop_foreign_key = 2, check = 1, drop_check = 1, constraint = 1,
  drop_constraint = 1, options = 1, add_index = 2,
}, {
  add_column = "the properties of a column are methods, as in t:add_column(\"name\", \"text\"):not_null()",
  change_column = "the properties of a column are methods, as in t:change_column(\"name\"):not_null()",
  primary_key = "use t:primary_key{ \"a\", \"b\" }", drop_unique_key = "use t:drop_unique_key{ \"a\", \"b\" }",
  order_columns = "use t:order_columns{ \"a\", \"b\" }", belongs_to = belonging.arity_cure, foreign_key = table_reference.arity_cure,
})


--- Alters a table: `db:alter_table("book", function(t) t:add_column("pages", "integer") end)`.
-- Nothing is executed before the block has ended; then all changes are made, or none.
-- @tparam string name
-- @tparam ?table options `dry_run`: roll the changes back, and return the statements
-- @tparam function block
function public:alter_table(name, options, block)
  local place = "db:alter_table"
  if block == nil and type(options) == "function" then options, block = nil, options end
  options = checks.options(place, options, { dry_run = "boolean" }, "table_option")
  checks.block(place .. ": argument " .. (next(options) and 3 or 2), block)
  local alteration = make(self, name, place)
  local _ <close> = setmetatable({}, { __close = function() alteration.is_open = false end })
  block(alteration.block_argument)
  local statements = run(alteration, place, options.dry_run)
  if options.dry_run then return statements end
end

--- Renames a table and its history, and updates indexes, views, triggers and foreign keys that name it.
function public:rename_table(name, new_name)
  local place = "db:rename_table"
  local quoted = sql_text.name(name, place .. ": argument 1")
  local new_quoted = sql_text.name(new_name, place .. ": argument 2")
  table_reference.require_table(self, name, place)
  full_text_synchronization.refuse_table(self, name, place)
  history_tables.refuse_history(self, name, "rename that table", place)
  databases.guarded(self, function(db)
    local history = history_keeping.begin(db, name, function(sql) return schema_changes.execute(db, sql) end)
    schema_changes.execute(db, "ALTER TABLE " .. quoted .. " RENAME TO " .. new_quoted)
    if history then history_keeping.finish(history, new_name, place) end
  end)
end

return public
