--- Runs typed SQL: its parameters are variables, and its result is a value.

local errors = require "perilune.native.errors"

local statements = {}

--- The maximum number of rows fetched for a typed statement: more than anyone reads.
local most_rows = 100000

--- Returns the arguments of a statement: the globals with the names of its parameters.
local function arguments(statement)
  local values, has_any = {}, false
  for _, name in ipairs(statement:parameters()) do
    if not name or name:match("^%d") then
      errors.raise("parameter", "parameters need names in the console; use :name for the value of the variable `name`")
    end
    local value = rawget(_G, name)
    if value == nil then
      errors.raise("parameter", ("the parameter :%s has no value; set the variable first, %s = ..."):format(name, name), { name = name })
    end
    values[name], has_any = value, true
  end
  return has_any and values or nil
end

--- Runs a statement.
-- @treturn table { columns =, rows =, is_cut = } for a statement with rows; otherwise { changed_rows =, inserted_rowid = }
function statements.run(text)
  local db = _G.db
  local statement = db:prepare(text)
  local columns = statement:columns()
  if #columns == 0 then
    local given = arguments(statement)
    return given and statement:execute(given) or statement:execute()
  end
  local given = arguments(statement)
  local rows, is_cut = {}, false
  for row in given and statement:rows(given) or statement:rows() do
    if #rows == most_rows then
      is_cut = true
      break
    end
    rows[#rows + 1] = row
  end
  return setmetatable(rows, { __name = "rows", columns = columns, is_cut = is_cut })
end

--- The results of the statements of `run_changes`.
statements.done = {}

--- Runs statements that change rows in order, until one fails.
function statements.run_changes(list)
  local db, done = _G.db, {}
  statements.done = done
  for index, text in ipairs(list) do
    done[index] = db:execute(text)
    _G._ = done[index]
  end
end

--- Returns the columns of a result of `run`, and whether there are more rows; nil for any other value.
function statements.columns(value)
  local metatable = type(value) == "table" and getmetatable(value)
  if type(metatable) == "table" and metatable.__name == "rows" then return metatable.columns, metatable.is_cut end
end

return statements
