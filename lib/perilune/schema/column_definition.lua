--- Columns of tables being defined, and their modifiers.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local sql_fragment = require "perilune.runtime.sql_fragment"
local declared_types = require "perilune.schema.declared_types"
local table_reference = require "perilune.schema.table_reference"
local sql_names = require "perilune.runtime.names"

local column_definition = {}
local modifiers = {}
local Column = checks.class("column definition", "column", modifiers, "column_definition")

--- The order of clauses in SQL.
local clause_order = { "primary_key", "not_null", "unique", "check", "default", "collate", "references", "generated_as" }

--- Makes a column.
-- @tparam table definition the definition of the table: `is_open`, `strict`, `name`
-- @tparam ?boolean is_copied whether an existing column already has the type
function column_definition.make(definition, name, declared, place, is_copied)
  return setmetatable({
    definition = definition,
    name = name,
    quoted_name = sql_text.name(name, place .. ": argument 1"),
    declared = declared_types.sql(declared, definition.strict, place .. ": argument 2", is_copied) or false,
    clauses = {},
    is_indexed = false,
    is_key = false,
    expression = false,
    changed = false,
  }, Column)
end

--- Raises unless a column may (still) be modified.
local function check_open(column, modifier)
  local place = "column:" .. modifier
  checks.receiver(column, Column, place)
  if not column.definition.is_open then checks.refuse(place, "the table cannot be changed here: its block has ended") end
  return place
end

local function set(column, modifier, clause)
  if column.clauses[modifier] then
    checks.refuse("column:" .. modifier, "column `" .. column.name .. "` already has one")
  end
  column.clauses[modifier] = clause
  return column
end

--- Makes the column the primary key.
-- @tparam ?table options `on_conflict`; `autoincrement`: never reuse a key
function modifiers:primary_key(options)
  local place = check_open(self, "primary_key")
  if type(options) == "string" then options = { on_conflict = options } end
  options = checks.options(place, options, { on_conflict = "string", autoincrement = "boolean" })
  if options.autoincrement and sql_names.fold(self.declared or "") ~= "integer" then
    checks.refuse(place, "only an integer key can be auto-incremented")
  end
  local declared = sql_names.fold(self.declared or "")
  if declared:find("int", 1, true) and declared ~= "integer" and not self.definition.without_rowid and not self.clauses.not_null then
    checks.refuse(place, ("a key of type %s is not numbered, so it would be NULL; use the type \"integer\", or :not_null() before :primary_key() for "
      .. "keys that scripts set"):format(self.declared))
  end
  self.definition:set_primary_key({ self }, place)
  self.is_key = true
  local clause = "PRIMARY KEY" .. checks.on_conflict(place, options.on_conflict)
  return set(self, "primary_key", clause .. (options.autoincrement and " AUTOINCREMENT" or ""))
end

--- Rejects NULL.
-- @param policy the treatment of rows with NULL: "abort" (the default), "fail", "ignore", "replace", "rollback"
function modifiers:not_null(policy)
  local clause = checks.on_conflict(check_open(self, "not_null"), policy)
  return set(self, "not_null", "NOT NULL" .. clause:gsub("^ ON CONFLICT ABORT$", ""))
end

--- Rejects a row whose value another row already has.
-- @param policy as for `not_null`
function modifiers:unique(policy)
  local place = check_open(self, "unique")
  local clause = checks.on_conflict(place, policy)
  return set(self, "unique", "UNIQUE" .. clause:gsub("^ ON CONFLICT ABORT$", ""))
end

--- Makes an index on the column, named `<table>_on_<column>`. A unique column has an index already.
function modifiers:indexed(...)
  local place = check_open(self, "indexed")
  if select("#", ...) > 0 then checks.fail(place, "takes no arguments; use db:create_index for more than a plain index") end
  self.is_indexed = true
  return self
end

--- Rejects rows for which a condition is false. May be repeated.
-- @param condition SQL text, an expression, or a function that receives the column and returns one of these
function modifiers:check(condition)
  local function form_of(name)
    if sql_names.same(name, self.name) then return declared_types.date_form(self.declared or "") end
    return self.definition.date_form and self.definition:date_form(name)
  end
  if type(condition) == "string" and condition:find("^%s*[<>=!]") then
    checks.fail("column:check", ("a condition names the column, as in :check(%q)"):format(self.name .. " " .. condition:match("^%s*(.*)$")))
  end
  local clause = "CHECK (" .. sql_fragment.expression(condition, check_open(self, "check"), self.name, form_of) .. ")"
  self.clauses.check = self.clauses.check and self.clauses.check .. " " .. clause or clause
  return self
end

--- Functions in SQL expressions that a script may pass by mistake as a default value. They would be stored as text.
local sql_functions = { now = true, date = true, time = true, datetime = true, strftime = true, julianday = true, unixepoch = true, random = true, randomblob = true, uuid = true,
  gen_random_uuid = true, uuid_generate_v4 = true, getdate = true, lower = true, hex = true }
local current_words = { current_timestamp = true, current_date = true, current_time = true }

--- Raises if text is an SQL expression, because it would be stored as text.
local function check_is_no_sql(place, value)
  local word = sql_names.fold(value)
  if current_words[word] or sql_functions[word:match("^%(*(%a[%w_]*)%(.*%)$") or ""] then
    checks.fail(place, ("%q would be stored as text; use :default_sql(%q)"):format(value, word:find("^now%(") and "CURRENT_TIMESTAMP" or value))
  end
end

local function is_number(text) return tonumber(text) ~= nil end

--- Functions that return whether a text is a value of columns with a declared type.
local value_kinds = {
  { types = "int", expected = "an integer", accepts = is_number }, { types = "real floa doub", expected = "a number", accepts = is_number },
  { types = "bool", expected = "true or false", accepts = function() return false end },
}

--- Raises for a text default that does not fit the column's type: a number in quotes, "false", a date in a different form.
local function check_text(column, place, value)
  local declared = sql_names.fold(column.declared or "")
  if value:find("^'.*'$") or value:find('^".*"$') then
    checks.fail(place, ("%q would be stored with its quotes; use :default(%q)"):format(value, value:sub(2, -2)))
  elseif sql_names.fold(value) == "null" then
    checks.fail(place, "\"" .. value .. "\" would be stored as text; without a default, the value is NULL")
  end
  for _, kind in ipairs(value_kinds) do
    for word in kind.types:gmatch("%a+") do
      if declared:find(word, 1, true) and not kind.accepts(value) then
        local cure = kind.types == "bool" and ("; use :default(%s)"):format(sql_names.fold(value) == "true" and "true" or "false") or ""
        checks.fail(place, ("expected %s for a column of type %s, got the string %q%s"):format(kind.expected, column.declared, value, cure))
      end
    end
  end
  if declared_types.date_form(declared) and not pcall(perilune.date, value) then
    local use = sql_names.fold(value):find("now", 1, true) or sql_names.fold(value):find("today", 1, true)
    checks.fail(place, ("%q is not a date; %s"):format(value, use and ":default_sql(\"CURRENT_TIMESTAMP\") is the time of the insert"
      or "use text such as \"2026-03-31\", or :default_sql(\"CURRENT_TIMESTAMP\") for the time of the insert"))
  end
end

--- Raises for a value that differs from row to row: a time, a UUID. A default is the same for all rows.
local function check_is_constant(column, place, value)
  local form = declared_types.date_form(column.declared or "")
  if perilune.date.is(value) and math.abs(value:seconds_since(perilune.now())) < 1 then
    checks.fail(place, "the default is the same for all rows, so perilune.now() is the time of the definition; use :default_sql(\"CURRENT_TIMESTAMP\")")
  elseif form and type(value) == "number" then
    checks.fail(place, ("expected a date, got %s; use :default_sql(\"CURRENT_TIMESTAMP\") for the time of the insert"):format(errors.describe(value)))
  elseif type(value) == "string" and value:find("^%x+%-%x+%-%x+%-%x+%-%x+$") then
    checks.fail(place, "the default is the same for all rows; set the value in function Class:will_insert(), as in "
      .. "self." .. column.name .. " = perilune.uuid()")
  end
end

--- Sets the value of rows that are inserted without one.
-- @param value any value that can be bound; perilune.null for NULL
function modifiers:default(value)
  local place = check_open(self, "default")
  if value == nil then checks.fail(place, "expected a value; use perilune.null for NULL") end
  if type(value) == "string" then
    check_is_no_sql(place, value)
    check_text(self, place, value)
  elseif type(value) == "function" then
    checks.fail(place, "expected a value that SQLite can store, got a function; use :default_sql(sql) for an expression of SQL, or set the value in function Class:will_insert()")
  elseif type(value) == "table" and getmetatable(value) == nil then
    checks.fail(place, "expected a value that SQLite can store, got a table; use perilune.json.encode(value) for JSON")
  end
  check_is_constant(self, place, value)
  if marks.is_expression(value) then checks.fail(place, ("expected a value, got an expression; use :default_sql(%q)"):format(marks.inline_sql(value))) end
  if self.declared and declared_types.date_form(self.declared) == "day" and perilune.date.is(value) then value = value:format("YMD") end
  local literal = sql_text.literal(value, place)
  return set(self, "default", "DEFAULT " .. literal:gsub("^CAST.*", "(%0)"))
end

local function is_plain_default(sql)
  if sql:find("^[+-]?%.?%d[%w.]*$") or sql:find("^'[^']*'$") or sql:find("^[xX]'%x*'$") or sql:find("^%b()$") then return true end
  local word = sql_names.fold(sql)
  return word == "null" or word == "true" or word == "false" or word:find("^current_%l+$") ~= nil
end

--- Sets the default as SQL: "CURRENT_TIMESTAMP", "random()".
function modifiers:default_sql(sql)
  local place = check_open(self, "default_sql")
  sql = sql_fragment.text(sql, place)
  local is_valid, err = pcall(self.definition.db.fetch_value, self.definition.db, "SELECT (" .. sql .. ") WHERE FALSE")
  local word = not is_valid and tostring(err.message):match("^no such column: ([%w_]+)")
  if word then
    checks.fail(place, ("a default cannot read a column, and `%s` would be one; use CURRENT_TIMESTAMP for the time of the insert, or "
      .. ":default(%q) for text"):format(word, word))
  end
  local missing = not is_valid and tostring(err.message):match("^no such function: ([%w_]+)")
  if missing then
    checks.fail(place, ("SQLite has no function `%s`; use CURRENT_TIMESTAMP or datetime('now') for the time, hex(randomblob(16)) for a random key, or "
      .. "db:add_function before the table is created"):format(missing))
  end
  return set(self, "default", "DEFAULT " .. (is_plain_default(sql) and sql or "(" .. sql .. ")"))
end

local plain_collations = { binary = true, nocase = true, rtrim = true }

--- Sets the collation of text: "nocase", "rtrim", "binary", "localized_case_insensitive", or one added by the script.
function modifiers:collate(name)
  local place = check_open(self, "collate")
  name = require("perilune.runtime.collations").name(name)
  local quoted = sql_text.name(name, place)
  local names = self.definition.db:fetch_values("SELECT name FROM pragma_collation_list ORDER BY name")
  for _, existing in ipairs(names) do
    if sql_names.same(existing, name) then
      return set(self, "collate", "COLLATE " .. (plain_collations[sql_names.fold(name)] and name or quoted))
    end
  end
  errors.raise_unknown("collation", name, names)
end

--- Computes the column from others.
-- @param expression SQL text, an expression, or a function that receives the columns (`c.price`) and returns one of these
-- @tparam ?string kind "virtual" (the default): computed on reading; "stored": computed on writing
function modifiers:generated_as(expression, kind)
  local place = check_open(self, "generated_as")
  if type(kind) == "table" then checks.fail(place, "argument 2: expected \"virtual\" or \"stored\", got a table; use :generated_as(expression, \"stored\")") end
  local word = checks.choice(place, "kind", kind, { "virtual", "stored" }) or "VIRTUAL"
  if self.changed and not self.changed:has("generated_as") then
    checks.refuse(place, "the values of column `" .. self.name .. "` would be lost; drop it, and add a generated column")
  end
  local sql = sql_fragment.expression(expression, place)
  return set(self, "generated_as", "GENERATED ALWAYS AS (" .. sql .. ") " .. word)
end

--- Converts the values of existing rows, if db:alter_table adds or changes the column.
-- @param expression SQL text, an expression, or a function that receives the columns of the old table and returns one of these
function modifiers:using(expression)
  local place = check_open(self, "using")
  if not self.definition.is_alteration then checks.refuse(place, "the table has no rows yet; use `using` in db:alter_table") end
  if self.expression then checks.refuse(place, "column `" .. self.name .. "` already has one") end
  self.expression = "(" .. sql_fragment.expression(expression, place) .. ")"
  return self
end

local removable = { "type", "not_null", "unique", "check", "default", "collate", "references", "generated_as" }

--- Removes properties from a column that db:alter_table changes: "not_null", "default", ...
-- @tparam string,... names
function modifiers:without(...)
  local place = check_open(self, "without")
  if not self.changed then checks.refuse(place, "the column is new; use `without` behind t:change_column") end
  if select("#", ...) == 0 then checks.fail(place, "expected the names of properties; available: " .. table.concat(removable, ", ")) end
  for index, name in ipairs{ ... } do
    local word = checks.choice(place .. ": argument " .. index, "property", name, self.changed.removable)
    name = word:lower():gsub(" ", "_")
    if not self.changed:has(name) then
      checks.refuse(place, "column `" .. self.name .. "` has no `" .. name .. "` of its own")
    end
    self.changed.removed[name] = true
  end
  return self
end

column_definition.removable = removable

local reference_options = { column = "string" }
for name, kind in pairs(table_reference.options) do reference_options[name] = kind end

--- Makes the column refer to another table.
-- @tparam string name the table
-- @tparam ?table options `column` (the default: its primary key); `on_delete`, `on_update`: "cascade", "restrict",
--   "set null", "set default"; `deferred`: checked at the end of the transaction
function modifiers:references(name, options)
  local place = check_open(self, "references")
  options = checks.options(place, options, reference_options, "reference_option")
  if self.clauses.references then
    checks.refuse(place, "column `" .. self.name .. "` already refers to a table; use t:foreign_key for a second reference")
  end
  local columns = options.column and { options.column }
  return set(self, "references", table_reference.make(self.definition, name, 1, columns, options, place))
end

require("perilune.runtime.arity").limit(modifiers, "column:", {
  primary_key = 1, not_null = 1, unique = 1, check = 1, default = 1, default_sql = 1, collate = 1, generated_as = 2, using = 1, references = 2,
}, {
  default = "use :default_sql(sql) for an expression", check = "use t:constraint(sql) for a named constraint",
  references = "the column is an option, as in :references(\"table\", { column = \"id\", on_delete = \"cascade\" })",
})

--- Returns the clauses of a column: their kinds in the order of SQL, and their SQL by kind.
function column_definition.clauses(column)
  local kinds, sql = {}, {}
  for _, kind in ipairs(clause_order) do
    local clause = column.clauses[kind]
    if type(clause) == "function" then clause = clause() end
    if clause then kinds[#kinds + 1], sql[kind] = kind, clause end
  end
  return kinds, sql
end

--- Returns the SQL of a column.
function column_definition.sql(column)
  local parts = { column.quoted_name }
  if column.declared then parts[2] = column.declared end
  local kinds, sql = column_definition.clauses(column)
  for _, kind in ipairs(kinds) do parts[#parts + 1] = sql[kind] end
  return table.concat(parts, " ")
end

--- Returns the SQL of the index that a column requests, or nil.
function column_definition.index_sql(column)
  if not column.is_indexed or column.clauses.unique then return nil end
  return require("perilune.schema.index_text").sql(column.definition, { column.name })
end

return column_definition
