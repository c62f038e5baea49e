--- Creating and dropping triggers: methods of databases.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local native_sql = require "perilune.native.sql"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local sql_fragment = require "perilune.runtime.sql_fragment"
local sql_text = require "perilune.runtime.sql_text"

--- The functions that scripts call.
local public = {}

local events = { "insert", "update", "delete" }
local times = { before = "BEFORE", after = "AFTER", instead_of = "INSTEAD OF" }

local option_kinds = {
  on = "string", before = "any", after = "any", instead_of = "any", columns = "any", when = "any", run = "any", refuse = "string",
  temporary = "boolean", if_not_exists = "boolean",
}

--- Returns when and on which event a trigger runs, both in capitals.
local function read_event(options, place)
  local time, event
  for name, word in pairs(times) do
    if options[name] ~= nil then
      if time then checks.refuse(place, "expected one of the options `before`, `after` and `instead_of`, got several") end
      time, event = word, checks.choice(place .. ": option `" .. name .. "`", "event", options[name], events)
    end
  end
  if not time then checks.fail(place, "missing option `before`, `after` or `instead_of`, the event") end
  return time, event
end

--- Returns the object `new` or `old` that the functions of a trigger receive. Its fields are the columns.
local function make_row(word, schema, has_row, event, place)
  return setmetatable({}, {
    __name = word,
    __index = function(_, name)
      if not has_row then checks.refuse(place, ("a trigger on %s has no `%s` row"):format(event:lower(), word)) end
      return perilune.sql(word:upper() .. "." .. sql_text.name(checks.column(schema, name)))
    end,
    __newindex = function() checks.refuse(place, "a trigger cannot assign to columns; use an UPDATE statement") end,
  })
end

--- Returns the table or view of a trigger. SQLite accepts INSTEAD OF only for views, and other triggers only for tables.
local function read_table(db, name, time, place)
  sql_text.name(name, place .. ": option `on`")
  local schema = native_schema.table(db, name)
  if (schema.kind == "view") ~= (time == "INSTEAD OF") then
    local cure = schema.kind == "view" and "is a view; use `instead_of`" or "is a table; use `before` or `after`"
    checks.refuse(place, "`" .. schema.name .. "` " .. cure)
  end
  if schema.kind == "virtual" then checks.refuse(place, "`" .. schema.name .. "` is a virtual table, which cannot have triggers") end
  return schema
end

local function columns_clause(schema, columns, event, place)
  if columns == nil then return "" end
  if event ~= "UPDATE" then checks.refuse(place, "option `columns` requires the event \"update\"") end
  columns = checks.names(place .. ": option `columns`", columns)
  for _, wanted in ipairs(columns) do checks.column(schema, wanted) end
  return " OF " .. sql_text.names(columns)
end

--- Returns the SQL of one statement of the body: text, or a statement as a value.
local function statement_sql(value, place)
  local sql = marks.statement_sql and marks.statement_sql(value)
  if sql then return sql end
  if type(value) ~= "string" then
    checks.fail(place, "expected a statement, or SQL as a string, got " .. errors.describe(value))
  end
  sql = value:gsub("[%s;]+$", "")
  for _, token in ipairs(native_sql.tokens(sql)) do
    if token.kind == "sign" and token.text == ";" then checks.fail(place, "expected one statement in each string; use a list for several") end
  end
  return sql_fragment.text(sql, place)
end

local function body_of(options, new, old, place)
  if (options.run == nil) == (options.refuse == nil) then checks.fail(place, "expected either option `run` or option `refuse`") end
  if options.refuse then return { "SELECT RAISE(ABORT, " .. sql_text.literal(options.refuse) .. ")" } end
  local run, run_place = options.run, place .. ": option `run`"
  if type(run) == "function" then run = run(new, old) end
  local is_list = type(run) == "table" and getmetatable(run) == nil
  local statements = {}
  for index, statement in ipairs(is_list and run or { run }) do statements[index] = statement_sql(statement, run_place) end
  if #statements == 0 then
    checks.fail(run_place, "expected at least one statement" .. (type(options.run) == "function" and "; the function is called once, when the trigger "
      .. "is created, and returns SQL; use db:observe_transactions{ on_change = f } to call Lua for each change" or ""))
  end
  return statements
end

local function condition_clause(condition, new, old, place)
  if condition == nil then return "" end
  if type(condition) == "function" then condition = condition(new, old) end
  return " WHEN " .. sql_fragment.expression(condition, place .. ": option `when`")
end

--- Returns the trigger's quoted name. Unless the trigger is temporary, the name includes the schema of its table if that is attached,
-- because SQLite looks for the table only in the schema of the trigger.
local function quoted_name(name, schema, is_temporary)
  local is_attached = schema.database ~= "main" and schema.database ~= "temp"
  return (is_attached and not is_temporary and sql_text.name(schema.database) .. "." or "") .. sql_text.name(name)
end

--- Creates a trigger.
--
--     db:create_trigger("book_count", {
--       on = "book", after = "insert", when = function(new) return new.author_id:is_not_null() end,
--       run = "UPDATE author SET book_count = book_count + 1 WHERE id = new.author_id",
--     })
-- @tparam table options `on`: a table or view; one of `before`, `after`, `instead_of`: "insert", "update" or "delete"; `columns`:
--   the columns whose update runs the trigger; `when`: a condition; `run`: statements, or `refuse`: a message; `temporary`,
--   `if_not_exists`
function public:create_trigger(name, options)
  local place = "db:create_trigger"
  sql_text.name(name, place .. ": argument 1")
  if type(options) ~= "table" then
    checks.fail(place .. ": argument 2", "expected a table of options, got " .. (options == nil and "nothing" or errors.describe(options))
      .. "; use { on = \"table\", after = \"insert\", run = \"UPDATE ...\" }, or db:execute(\"CREATE TRIGGER ...\")")
  end
  options = checks.options(place, options, option_kinds, "definition_of_trigger_option")
  if not options.on then checks.fail(place, "missing option `on`, the table or view") end
  local time, event = read_event(options, place)
  local schema = read_table(self, options.on, time, place)
  local columns = columns_clause(schema, options.columns, event, place)
  local new = make_row("new", schema, event ~= "DELETE", event, place)
  local old = make_row("old", schema, event ~= "INSERT", event, place)
  local when = condition_clause(options.when, new, old, place)
  local statements = body_of(options, new, old, place)
  self:execute((options.temporary and "CREATE TEMPORARY TRIGGER " or "CREATE TRIGGER ") .. (options.if_not_exists and "IF NOT EXISTS " or "")
    .. quoted_name(name, schema, options.temporary) .. " " .. time .. " " .. event .. columns .. " ON " .. sql_text.name(schema.name) .. when
    .. " BEGIN\n  " .. table.concat(statements, ";\n  ") .. ";\nEND")
end

--- Drops a trigger.
-- @tparam ?table options `if_exists`: no error if the trigger does not exist
function public:drop_trigger(name, options)
  local place = "db:drop_trigger"
  local quoted = sql_text.name(name, place .. ": argument 1")
  options = checks.options(place, options, { if_exists = "boolean" })
  if self:trigger_exists(name) then
    self:execute("DROP TRIGGER " .. quoted)
  elseif not options.if_exists then
    errors.raise_unknown("trigger", name, self:fetch_values([[
      SELECT name FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) WHERE type = 'trigger' ORDER BY name]]))
  end
end

return public
