--- Writes as values: the statement that a verb would execute, to inspect, store or run later.
--
--     local statement = Reminder:statement("insert", Reminder:draft{ title = "Get groceries" }, { returning = "id" })
--     print(statement)                        --> INSERT INTO "reminder" ("title") VALUES ('Get groceries') RETURNING "id"
--     local id = statement:fetch_value()
--
-- Requests provide statements for their rows: `Reminder:filter_key(42):statement("delete_all")`. A statement keeps the values that it was
-- created with. It is only SQL: no hooks run and nothing is validated.

local null = require("perilune.native.values").null
local perilune = require "perilune"
local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local marks = require "perilune.runtime.marks"
local raise = errors.raise
local record_failures = require "perilune.records.failures"
local column_details = require "perilune.records.column_details"
local record_options = require "perilune.records.options"
local record_sql = require "perilune.records.sql"
local record_values = require "perilune.records.values"
local writing = require "perilune.records.writing"

local record_statements = {}

-- Statements

local statement = {}

local texts = setmetatable({}, { __mode = "k" })

local metatable = {
  __name = "a statement", __metatable = false, __index = statement,
  __newindex = function() raise("readonly", "a statement cannot be changed; create another one") end,
  __tostring = function(self)
    return (require("perilune.runtime.sql_fragment").with_values(texts[self].sql, texts[self].arguments))
  end,
}

function marks.statement_sql(value) return texts[value] and tostring(value) end

require("perilune.runtime.unknown_methods")(statement, "write_statement")

--- Creates a statement from SQL and its arguments, a list with the field n.
function record_statements.make(sql, arguments)
  local made = setmetatable({}, metatable)
  texts[made] = { sql = sql, arguments = arguments }
  return made
end

--- Returns the SQL, and a list of its arguments, with the field n.
function statement:sql()
  local arguments = texts[self].arguments
  return texts[self].sql, table.move(arguments, 1, arguments.n, 1, { n = arguments.n })
end

for _, method in ipairs{ "execute", "fetch_one", "fetch_all", "fetch_value", "fetch_values" } do
  --- Runs the statement. All methods except `execute` return the results of RETURNING.
  statement[method] = function(self, db)
    if not texts[self] then
      raise("argument", method .. ": expected a statement before the colon, got " .. errors.describe(self))
    end
    db = checks.database(method, db)
    local text = texts[self]
    return db[method](db, text.sql, text.arguments)
  end
end

-- Statements of classes

--- Returns the value to bind for a field, or the expression in the field. Raises for other values that cannot be stored.
local function bound_value(columns, target, column)
  local given = rawget(target, column.name)
  if marks.is_expression(given) then return given end
  local value = record_values.bound(columns, target, column.name)
  if column.is_blob and type(value) == "string" then value = perilune.blob(value) end
  return value
end

--- Returns the values of a record by column, in the form in which they are bound.
local function bound_values(info, target, db)
  local details, values = column_details.of_class(info.class, db), {}
  for _, column in ipairs(details.description.columns) do values[column.name] = bound_value(details, target, column) end
  return details, values
end

--- Returns the SQL of the values that are expressions, by column; nil if none exist.
local function texts_of(values)
  local texts = {}
  for name, value in pairs(values) do
    if marks.is_expression(value) then texts[name] = marks.inline_sql(value) end
  end
  return next(texts) ~= nil and texts or nil
end

local function list_of(values, ...)
  local arguments = { n = 0 }
  for _, names in ipairs{ ... } do
    for _, name in ipairs(names) do
      if not marks.is_expression(values[name]) then
        arguments.n = arguments.n + 1
        arguments[arguments.n] = values[name] == nil and null or values[name]
      end
    end
  end
  return arguments
end

local function policy_clause(info, options, kind)
  local policy = record_options.policy(info, options, kind)
  return policy and "OR " .. policy:upper()
end

local function check_key(columns, verb, values)
  if #columns.description.key == 0 then record_failures.raise_no_key(verb, columns.description) end
  for _, name in ipairs(columns.description.key) do
    if values[name] == nil or values[name] == null then record_failures.raise_no_key(verb, columns.description) end
  end
end

--- Raises for values that do not fit the declared types of their columns.
local function check_types(columns, target, values, names)
  for _, name in ipairs(names) do record_values.check_type(columns, name, values[name], target) end
end

local makers = {}

function makers.insert(info, target, db, options)
  local columns, values = bound_values(info, target, db)
  local names = native_records.inserted_columns(target, db, values)
  check_types(columns, target, values, names)
  return record_sql.text(columns.description, "insert", names, policy_clause(info, options, "insert"),
    record_options.columns(info, options, db), nil, texts_of(values)), list_of(values, names)
end

function makers.update(info, target, db, options)
  local columns, values = bound_values(info, target, db)
  local names = native_records.updated_columns(target, db)
  check_key(columns, "update", values)
  check_types(columns, target, values, names)
  if #names == 0 then raise("argument", "update: `" .. info.table .. "` has no columns other than its key") end
  return record_sql.text(columns.description, "update", names, policy_clause(info, options, "update"),
    record_options.columns(info, options, db), nil, texts_of(values)), list_of(values, names, columns.description.key)
end

function makers.delete(info, target, db, options)
  local columns, values = bound_values(info, target, db)
  check_key(columns, "delete", values)
  return record_sql.text(columns.description, "delete", {}, nil, record_options.columns(info, options, db)),
    list_of(values, columns.description.key)
end

--- The statement of an upsert returns the whole row, because the result depends on the existing row.
function makers.upsert(info, target, db, options)
  record_values.note_cleared(column_details.of_class(info.class, db), target)
  local columns, values = bound_values(info, target, db)
  local names = native_records.inserted_columns(target, db, values)
  check_types(columns, target, values, names)
  local clause, bound = require("perilune.records.upsert_sql").make(columns, names, options or {}, native_records.knows_row(target))
  if not clause then return makers.insert(info, target, db, options) end
  local arguments = list_of(values, names)
  for _, argument in ipairs(bound) do
    local value = argument.value
    if argument.column then value = record_values.bind(columns, target, argument.column, value) end
    arguments.n = arguments.n + 1
    arguments[arguments.n] = value == nil and null or value
  end
  return record_sql.text(columns.description, "insert", names, clause, columns.columns, nil, texts_of(values)), arguments
end

--- Returns the statement that `Class:insert(...)` and similar verbs would execute: `Class:statement("insert", record, options)`.
-- @tparam string verb "insert", "update", "upsert" or "delete"; or "update_all" or "delete_all", for all rows
-- @param ... the arguments of the verb: a database, a record, a draft or a table of columns, and options
function record_statements.of_class(class, verb, ...)
  record_class.require_class("statement", class)
  if type(verb) ~= "string" then raise("argument", "statement: argument 1: expected the name of an operation, got " .. errors.describe(verb)) end
  if verb == "update_all" or verb == "delete_all" then return class:all():statement(verb, ...) end
  if verb == "save" then
    raise("argument", "statement: save may take two statements; use \"insert\", \"update\" or \"upsert\"")
  elseif not makers[verb] then
    errors.raise_unknown("operation", verb, { "insert", "update", "upsert", "delete", "update_all", "delete_all" })
  end
  local info, target, db, options = writing.split(verb, class, ...)
  return record_statements.make(makers[verb](info, target, db, options))
end

return record_statements
