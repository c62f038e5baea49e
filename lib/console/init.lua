--- The console's Lua part: makes classes of all tables available as globals, runs input, and describes the results.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local terminal_display = require "console.display"
local models = require "console.models"
local statements = require "console.statements"
local completion = lazily "console.completion"

local console = {}

--- The modules of Lua itself.
local own_modules = {}
for _, name in ipairs{ "_G", "coroutine", "debug", "io", "math", "os", "package", "perilune", "string", "table", "utf8" } do
  own_modules[name] = true
end

--- Makes table classes available as globals. Each class is created on first use.
function console.install()
  models.install()
end

--- Describes values for the terminal. Returns a list of descriptions as documented in `display`.
-- @tparam integer head the number of rows to include from the start of a list; rows in the middle are left out
-- @tparam integer tail the number of rows to include from its end
function console.describe(head, tail, ...)
  return terminal_display.describe(head, tail, ...)
end

--- Runs an SQL statement. Its parameters have the values of the global variables with the same names.
-- @treturn table the rows or the changes, as a value for `describe`
function console.run_sql(text)
  return statements.run(text)
end

--- Runs SQL statements that change rows, and stops at the first one that fails.
function console.run_changes(list)
  statements.run_changes(list)
end

--- Returns the results of the statements that the last `run_changes` has run.
function console.changes_done()
  return table.unpack(statements.done, 1, #statements.done)
end

--- Stores the values of an input as `_` (the first), and `_1`, `_2`, ... (all).
function console.keep(...)
  local count = select("#", ...)
  if count == 0 then return end
  _G._ = (...)
  for index = 1, count do _G["_" .. index] = (select(index, ...)) end
end

--- Returns the names of the tables that have classes, and the classes, for `:models`.
function console.models()
  return models.list()
end

--- Returns the models as rows for display.
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
  return terminal_display.table({ "class", "table", "associations" }, rows)
end

--- Returns the tables and views with their columns, as rows for display, without the tables in which `db:create_fts5` notes replaced
-- rows. The row of an unusable table shows the reason instead of the columns.
function console.schema_rows()
  local db = _G.db
  local rows = db:fetch_all[[
    SELECT name AS "table", type FROM pragma_table_list AS t
    WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND NOT EXISTS (
      SELECT 1 FROM pragma_table_list AS f
      WHERE f.schema = 'main' AND f.type = 'virtual' AND t.name = '__' || f.name || '_replaced')
    ORDER BY name]]
  local reasons = {}
  for _, view in ipairs(models.unusable()) do reasons[view.table] = view.reason end
  for _, row in ipairs(rows) do
    local reason = reasons[row.table]
    row.columns = reason and "cannot be used: " .. reason
      or table.concat(db:fetch_values("SELECT name FROM pragma_table_info(?)", row.table), ", ")
  end
  return terminal_display.table({ "table", "type", "columns" }, rows)
end

--- Returns text that changes each time this connection changes rows or the schema.
function console.change_count()
  local db = _G.db
  return ("%d %d"):format(db:fetch_value("SELECT total_changes()"), db:fetch_value("PRAGMA main.schema_version"))
end

--- Returns whether SQL has begun a transaction that is still open.
function console.is_in_transaction()
  return perilune.database:write_without_transaction(function(db) return db:is_inside_transaction() end)
end

--- Rolls back the open transaction, if there is one.
-- @treturn boolean whether there was one
function console.roll_back()
  if not console.is_in_transaction() then return false end
  perilune.database:execute("ROLLBACK")
  return true
end

--- Returns SQLite's query plan for a request, or for all rows of a class.
function console.plan(value)
  local class = type(value) == "table" and lazily("perilune.records.class").info(value)
  if not class and not marks.is_request(value) then
    errors.raise("usage", ":plan: expected a statement or a request, got " .. errors.describe(value))
  end
  return tostring(class and value:all():explain() or value:explain())
end

--- Makes the schema be read again, after it was changed outside scripts.
function console.forget_schema()
  perilune.database:execute("BEGIN; ROLLBACK")
end

--- Reloads all modules that were required after the console started, and updates variables that contain one of them.
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
      -- Modules that were loaded before are kept.
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

--- Returns the names that can follow a chain of names.
function console.complete(...)
  return completion.names(...)
end

--- Returns the names of SQL functions, or of PRAGMAs, for completion.
function console.sql_names(kind)
  return completion.sql_names(kind)
end

return console
