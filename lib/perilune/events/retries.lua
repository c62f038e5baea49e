--- The option `retry` of automations and of calls in durable runs: the number of repetitions and the waits between them.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local durations = require "perilune.runtime.durations"

local retries = {}

--- The maximum wait between two attempts, in seconds: one day.
local longest_wait = 86400.0

--- Reads the option: a number of repetitions, or a table with `times` (3), `wait` ("1s") and `factor` (2).
-- @tparam string place the caller, for messages
-- @treturn table times, wait, factor
function retries.read(place, value)
  if value == nil then return { times = 0, wait = 1.0, factor = 2 } end
  if type(value) == "number" then value = { times = value } end
  if type(value) ~= "table" then
    checks.fail(place, 'option `retry`: expected a number of times or a table such as { times = 3, wait = "2s" }, got ' .. errors.describe(value))
  end
  local options = checks.options(place .. ": option `retry`", value, { times = "number", wait = "any", factor = "number" }, "retry_option")
  local times = math.tointeger(options.times or 3)
  if not times or times < 0 then
    checks.fail(place, "option `retry.times`: expected an integer from 0, got " .. errors.describe(options.times))
  end
  local factor = options.factor or 2
  if not (factor >= 1 and factor <= 1000) then
    checks.fail(place, "option `retry.factor`: expected a number from 1 to 1000, got " .. errors.describe(factor))
  end
  return { times = times, wait = durations.read(place .. ": option `retry.wait`", options.wait or 1), factor = factor }
end

--- Returns the number of seconds to wait before the next attempt, given the number of failures so far.
function retries.wait(retry, failures)
  -- Prevents 0 * infinity, which is NaN.
  return retry.wait == 0 and 0.0 or math.min(retry.wait * retry.factor ^ (failures - 1), longest_wait)
end

return retries
