--- `expect_error(f, what)`: asserts that a function raises an error, and returns the error.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"
local failures = lazily "scenarios.reports.failures"
local aspects = lazily "scenarios.reports.error_aspects"

--- Describes the results of a function for messages.
local function results_text(results)
  if results.n == 0 then return "it returned nothing" end
  local parts = {}
  for index = 1, results.n do parts[index] = display.show(results[index]) end
  return "it returned " .. table.concat(parts, ", ")
end

--- Calls a function that must raise an error.
-- @tparam function f
-- @param ?what a Lua pattern that the message must match, or a table of expected properties: kind, message, column, table
-- @return the error; if it is text, a table with its message, file and line
return function(f, what)
  if type(f) ~= "function" and not (type(f) == "table" and getmetatable(f)) then
    errors.raise("argument", "expect_error: argument 1: expected a function, got " .. errors.describe(f))
  end
  local wanted = aspects.read("expect_error: argument 2", what)
  local current = state.current
  if current then current.checks = current.checks + 1 end
  local is_done, results = failures.protect(f)
  if is_done then
    failures.raise("expect_error: no error was raised", { results_text(table.pack(table.unpack(results, 2, results.n))) })
  end
  local caught = results
  local err = caught.value
  local kind = failures.is_error_object(err) and err.kind
  if kind == "expectation" and wanted.kind ~= kind and type(err.details) == "table" then
    table.insert(err.details, "expect_error passes on the failure of a check; { kind = \"expectation\" } as its second argument expects one")
  end
  if kind == "scenario_skip" or kind == "expectation" and wanted.kind ~= kind then error(err, 0) end
  if current then failures.forget(current, err) end
  local details = aspects.differences(err, wanted)
  if #details > 0 then
    details[#details + 1] = "the error is  " .. failures.describe(err)
    failures.raise("expect_error: another error was raised", details)
  end
  if type(err) ~= "string" then return err end
  local message, file, line = failures.describe(err)
  return setmetatable({ message = message, file = file or caught.file, line = line or caught.line }, {
    __tostring = function() return err end, __name = "error",
  })
end
