--- The clock, random numbers and UUIDs of durable runs. They depend only on the run, so that the function gets the same values when it is
-- executed again. Inside steps and calls, the regular functions are used, because the results are recorded.

local native_loop = require "perilune.native.loop"
local perilune = require "perilune"

local durable_values = {}

--- The durable runs that are being executed, by the numbers of their tasks. Each is a table with `now_text` (in the database's date
-- format), `random_state`, and `is_inside`, which is set during a step.
local active = {}

local is_installed = false

--- The clock of the environment, which ignores durable runs.
durable_values.clock = perilune.now

--- Returns the values of the durable run that the current task executes; nil inside its steps.
local function current()
  local source = native_loop.current()
  local values = source and active[source]
  return values and not values.is_inside and values or nil
end

--- Returns the next 64 random bits (splitmix64).
local function next_random(values)
  values.random_state = values.random_state + 0x9E3779B97F4A7C15
  local z = values.random_state
  z = (z ~ (z >> 30)) * 0xBF58476D1CE4E5B9
  z = (z ~ (z >> 27)) * 0x94D049BB133111EB
  return z ~ (z >> 31)
end

--- Returns a random number with the same arguments as `math.random`.
local function random(values, low, high)
  local bits = next_random(values)
  if low == nil then return (bits >> 11) * 2.0 ^ -53 end
  if high == nil and low == 0 then return bits end
  if high == nil then low, high = 1, low end
  low, high = math.tointeger(low), math.tointeger(high)
  if not low or not high or low > high then return nil end
  local range = high - low + 1
  return range == 0 and bits or low + ((bits >> 1) % range)
end

local function uuid(values)
  local a, b = next_random(values), next_random(values)
  a, b = a & ~0xF000 | 0x4000, b & 0x3FFFFFFFFFFFFFFF | 0x8000000000000000
  local text = ("%016x%016x"):format(a, b)
  return ("%s-%s-%s-%s-%s"):format(text:sub(1, 8), text:sub(9, 12), text:sub(13, 16), text:sub(17, 20), text:sub(21))
end

local function replace(container, name, make)
  local original = container and rawget(container, name)
  if type(original) == "function" then rawset(container, name, make(original)) end
end

--- Replaces the functions for scripts that return such values. The new functions use the values of a durable run if one is being executed.
function durable_values.install()
  if is_installed then return end
  is_installed = true
  replace(perilune, "now", function(original)
    return function(...)
      local values = select("#", ...) == 0 and current()
      -- Calls the original function if arguments are given, because it reports them.
      return values and perilune.date(values.now_text) or original(...)
    end
  end)
  local function replace_random(original)
    return function(...)
      local values = current()
      local number = values and select("#", ...) <= 2 and random(values, ...)
      -- The original function raises errors for invalid arguments.
      return number or original(...)
    end
  end
  replace(perilune, "random", replace_random)
  replace(rawget(_G, "math"), "random", replace_random)
  replace(perilune, "uuid", function(original)
    return function(...)
      local values = select("#", ...) == 0 and current()
      return values and uuid(values) or original(...)
    end
  end)
  local os = rawget(_G, "os")
  replace(os, "time", function(original)
    return function(...)
      local values = (...) == nil and current()
      return values and math.floor(perilune.date(values.now_text).unix) or original(...)
    end
  end)
  replace(os, "date", function(original)
    return function(format, time, ...)
      local values = time == nil and current()
      if not values then return original(format, time, ...) end
      return original(format or "%c", math.floor(perilune.date(values.now_text).unix))
    end
  end)
end

--- Makes a task use the values of a durable run.
function durable_values.enter(source, values) active[source] = values end

function durable_values.leave(source) active[source] = nil end

--- Returns a hash of text (FNV-1a).
function durable_values.number_of(text)
  local hash = 0xcbf29ce484222325
  for index = 1, #text do hash = (hash ~ text:byte(index)) * 0x100000001b3 end
  return hash
end

return durable_values
