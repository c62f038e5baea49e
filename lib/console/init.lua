--- What the console loads into a state: classes of all tables as globals, and what runs and describes the input.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local display = require "console.display"
local models = require "console.models"
local statements = require "console.statements"
local completion = lazily "console.completion"

local console = {}

--- Lua's own modules.
local own_modules = {}
for _, name in ipairs{ "_G", "coroutine", "debug", "io", "math", "os", "package", "perilune", "string", "table", "utf8" } do
  own_modules[name] = true
end

--- Makes the classes of tables globals, which are made when they are first used.
function console.install()
  models.install()
end

--- Describes values for the terminal: a list of descriptions, which `display` explains.
-- @tparam integer head how many of the first rows of a list are given; those in the middle are left out
-- @tparam integer tail how many of the last
function console.describe(head, tail, ...)
  return display.describe(head, tail, ...)
end

--- Runs one SQL statement. Parameters have the values of the global variables of their names.
-- @treturn table rows, or what has changed: a value that `describe` knows
function console.run_sql(text)
  return statements.run(text)
end

--- Runs SQL statements that change rows, until one fails.
function console.run_changes(list)
  statements.run_changes(list)
end

--- What the statements of the last `run_changes` returned that were run.
function console.changes_done()
  return table.unpack(statements.done, 1, #statements.done)
end

--- Keeps the values of an input as `_` (the first), and `_1`, `_2`, ... (all).
function console.keep(...)
  local count = select("#", ...)
  if count == 0 then return end
  _G._ = (...)
  for index = 1, count do _G["_" .. index] = (select(index, ...)) end
end

--- The table names that a class was made for, and the classes: for `:models`.
function console.models()
  return models.list()
end

--- The same as rows for people.
function console.model_rows()
  local associations, rows = lazily "perilune.records.class", {}
  for index, model in ipairs(models.list()) do
    local names = {}
    for name in next, associations.info(model.value).associations or {} do names[#names + 1] = name end
    table.sort(names)
    rows[index] = { class = model.class, table = model.table, associations = table.concat(names, ", ") }
  end
  for _, view in ipairs(models.unusable()) do
    rows[#rows + 1] = { class = "", table = view.table, associations = "cannot be used: " .. view.reason }
  end
  return display.table({ "class", "table", "associations" }, rows)
end

--- Tables and views with their columns, as rows for people. One that cannot be used has the reason in place of its columns.
function console.schema_rows()
  local db = _G.db
  local rows = db:fetch_all[[
    SELECT name AS "table", type FROM pragma_table_list
    WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name]]
  local reasons = {}
  for _, view in ipairs(models.unusable()) do reasons[view.table] = view.reason end
  for _, row in ipairs(rows) do
    local reason = reasons[row.table]
    row.columns = reason and "cannot be used: " .. reason
      or table.concat(db:fetch_values("SELECT name FROM pragma_table_info(?)", row.table), ", ")
  end
  return display.table({ "table", "type", "columns" }, rows)
end

--- A text that is another one after each change of rows or of the schema by this connection.
function console.change_count()
  local db = _G.db
  return ("%d %d"):format(db:fetch_value("SELECT total_changes()"), db:fetch_value("PRAGMA main.schema_version"))
end

--- Whether SQL has begun a transaction that is still open.
function console.is_in_transaction()
  return perilune.database:write_without_transaction(function(db) return db:is_inside_transaction() end)
end

--- Rolls back the transaction that is open, if one is.
-- @treturn boolean whether one was
function console.roll_back()
  if not console.is_in_transaction() then return false end
  perilune.database:execute("ROLLBACK")
  return true
end

--- How SQLite would run a request, or a class as the request of all its rows.
function console.plan(value)
  local class = type(value) == "table" and lazily("perilune.records.class").info(value)
  if not class and not marks.is_request(value) then
    errors.raise("usage", ":plan: expected a statement or a request, got " .. errors.describe(value))
  end
  return tostring(class and value:filter{}:explain() or value:explain())
end

--- Has the schema be read again, which was changed by others than scripts.
function console.forget_schema()
  perilune.database:execute("BEGIN; ROLLBACK")
end

--- Loads the modules again that were required since the start; variables that hold one get the new one.
-- @treturn {string,...} their names
function console.reload()
  local names = {}
  local package = rawget(_G, "package")
  local loaded = package and package.loaded or {}
  for name in next, loaded do
    if not own_modules[name] then names[#names + 1] = name end
  end
  table.sort(names)
  local former = {}
  for _, name in ipairs(names) do former[name], loaded[name] = loaded[name], nil end
  for _, name in ipairs(names) do
    local is_loaded, result = pcall(_G.require, name)
    if not is_loaded then
      -- Those that were loaded before stay.
      for other, module in next, former do
        if loaded[other] == nil then loaded[other] = module end
      end
      error(result, 0)
    end
    for variable, value in next, _G do
      if value == former[name] and type(value) == "table" then rawset(_G, variable, result) end
    end
  end
  return names
end

--- The names that can follow a chain of names.
function console.complete(...)
  return completion.names(...)
end

--- The names of SQL functions, or of PRAGMAs: for completion.
function console.sql_names(kind)
  return completion.sql_names(kind)
end

return console
