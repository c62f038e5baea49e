--- `expect_error(f, what)`: the function must raise an error, which is returned.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local state = require "scenarios.state"
local display = lazily "scenarios.display"
local failures = lazily "scenarios.failures"

local function message_of(err)
  return (failures.describe(err))
end

--- The field of any error; nil where it has none.
local function field(err, name)
  if failures.is_error_object(err) or type(err) == "table" then return err[name] end
end

--- Whether an error is about a column: `number`, or `invoices.number`.
local function is_about(err, column)
  local table_name, name = column:match("^(.-)%.([^.]*)$")
  local columns = field(err, "columns") or { field(err, "column") }
  local is_in_table = table_name == nil or tostring(field(err, "table") or ""):lower() == table_name:lower()
  for _, found in ipairs(type(columns) == "table" and columns or { columns }) do
    if is_in_table and tostring(found):lower() == (name or column):lower() then return true end
  end
  return false
end

local function columns_text(err)
  local columns = field(err, "columns") or { field(err, "column") }
  local names = {}
  for index, name in ipairs(type(columns) == "table" and columns or { columns }) do
    names[index] = (field(err, "table") and field(err, "table") .. "." or "") .. tostring(name)
  end
  return #names > 0 and table.concat(names, ", ") or "no column"
end

local function check_kind(err, wanted)
  local kind = field(err, "kind")
  local got = kind and display.show(kind) or "one without a kind"
  return kind == wanted, ("expected an error of kind %s, got %s"):format(display.show(wanted), got)
end

local function check_pattern(err, wanted)
  return message_of(err):find(wanted) ~= nil, ("expected a message with %s"):format(display.show(wanted))
end

--- What may be said of an error: functions (error, wanted) that return whether it is so, and what was expected. `code` is the
-- kind.
local aspects = {
  code = check_kind, kind = check_kind, pattern = check_pattern, message = check_pattern,
}

function aspects.column(err, wanted)
  return is_about(err, wanted), ("expected an error of column %s, got one of %s"):format(wanted, columns_text(err))
end

function aspects.table(err, wanted)
  local name = field(err, "table")
  return name == wanted, ("expected an error of table %s, got one of %s"):format(wanted, name or "no table")
end

local function names_of_aspects()
  local names = {}
  for name in pairs(aspects) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function read(what)
  if what == nil then return {} end
  if type(what) == "string" then return { pattern = what } end
  if type(what) ~= "table" then
    state.mistake("expect_error: argument 2: expected a Lua pattern, or a table (%s), got %s",
      table.concat(names_of_aspects(), ", "), errors.describe(what))
  end
  checks.option_names("expect_error", what, aspects)
  for name, wanted in pairs(what) do
    if type(wanted) ~= "string" then
      state.mistake("expect_error: option %s: expected a string, got %s", name, errors.describe(wanted))
    end
  end
  return what
end

--- The values that a function has returned, for messages.
local function results_text(results)
  if results.n == 0 then return "it returned nothing" end
  local parts = {}
  for index = 1, results.n do parts[index] = display.show(results[index]) end
  return "it returned " .. table.concat(parts, ", ")
end

--- Calls a function that must raise an error.
-- @tparam function f
-- @param ?what a Lua pattern that the message must match, or a table of what the error must be: code (its kind), column, table,
--   pattern
-- @return the error; one that was raised as text is a table with message, file and line
return function(f, what)
  if type(f) ~= "function" and not (type(f) == "table" and getmetatable(f)) then
    errors.raise("argument", "expect_error: argument 1: expected a function, got " .. errors.describe(f))
  end
  local wanted = read(what)
  local is_done, results = failures.protect(f)
  if is_done then
    failures.raise("expect_error: no error was raised", { results_text(table.pack(table.unpack(results, 2, results.n))) })
  end
  local caught = results
  local err = caught.value
  if failures.is_error_object(err) and (err.kind == "expectation" or err.kind == "scenario_skip") then error(err, 0) end
  local details = {}
  for _, name in ipairs(display.keys(wanted)) do
    local is_so, line = aspects[name](err, wanted[name])
    if not is_so then details[#details + 1] = line end
  end
  if #details > 0 then
    details[#details + 1] = "the error is  " .. message_of(err)
    failures.raise("expect_error: another error was raised", details)
  end
  if type(err) ~= "string" then return err end
  local message, file, line = failures.describe(err)
  return setmetatable({ message = message, file = file or caught.file, line = line or caught.line }, {
    __tostring = function() return err end, __name = "error",
  })
end
