--- The state of the running scenario, and the functions of the runner.

local errors = require "perilune.native.errors"

local scenario_state = {
  --- "idle", "loading" while a file is read, "running" while a scenario runs.
  phase = "idle",
  --- The file that is being read: { path, is_support, identity }.
  file = nil,
  --- The names of the globals that are there before any file is loaded.
  words = {},
  --- What is kept of the scenario that runs: see scenarios.running.
  current = nil,
}

--- Raises that something was used wrongly: by a format and its values.
function scenario_state.mistake(format, ...)
  errors.raise("argument", format:format(...))
end

--- What the runner offers.
local function host_functions() return require "scenarios.native.host" end

--- A function of the runner, which raises where the runner has none.
function scenario_state.host(name)
  local native = host_functions()[name]
  if native then return native end
  return function() errors.raise("usage", ("`%s` is not available where this scenario runs"):format(name)) end
end

--- Whether the runner has a function.
function scenario_state.has(name)
  return host_functions()[name] ~= nil
end

--- What is kept of the scenario that runs, or raises.
-- @tparam string name who asks
function scenario_state.require(name)
  if scenario_state.current then return scenario_state.current end
  errors.raise("usage", name .. ": can only be called inside the function of a scenario")
end

--- The members of a proxy are found by a function, and cannot be set.
function scenario_state.proxy(name, find)
  return setmetatable({}, {
    __index = function(_, key) return find(key) end,
    __newindex = function(_, key)
      errors.raise("argument", ("%s.%s cannot be set"):format(name, tostring(key)))
    end,
    __call = function()
      errors.raise("usage", ("%s is not a function; call one of its members, %s.NAME(...)"):format(name, name))
    end,
    __name = name,
    __tostring = function() return name end,
  })
end

return scenario_state
