--- The state of the running scenario, and the functions of the runner.

local errors = require "perilune.native.errors"

local scenario_state = {
  --- "idle", "loading" while a file is read, "running" while a scenario runs.
  phase = "idle",
  --- The file that is being read: { path, is_support, identity }.
  file = nil,
  --- The names of the globals that exist before any file is loaded.
  words = {},
  --- The state of the running scenario: see scenarios.running.
  current = nil,
}

--- Raises an error about incorrect use, from a format and its values.
function scenario_state.mistake(format, ...)
  errors.raise("argument", format:format(...))
end

--- Returns the functions of the runner.
local function host_functions() return require "scenarios.native.host" end

--- Returns a function of the runner; raises if the runner does not have it.
function scenario_state.host(name)
  local native = host_functions()[name]
  if native then return native end
  return function() errors.raise("usage", ("`%s` is not available where this scenario runs"):format(name)) end
end

--- Returns whether the runner has a function.
function scenario_state.has(name)
  return host_functions()[name] ~= nil
end

--- Returns the state of the running scenario; raises outside of scenarios.
-- @tparam string name the caller, for messages
function scenario_state.require(name)
  if scenario_state.current then return scenario_state.current end
  errors.raise("usage", name .. ": can only be called inside the function of a scenario")
end

--- Returns a proxy whose members are found by a function and cannot be set.
-- @tparam ?string use how a member is used, for messages: "(...)", the default, if it is called
function scenario_state.proxy(name, find, use)
  return setmetatable({}, {
    __index = function(_, key) return find(key) end,
    __newindex = function(_, key)
      errors.raise("argument", ("%s.%s cannot be set"):format(name, tostring(key)))
    end,
    __call = function(_, first)
      local member = type(first) == "string" and first:find("^[%a_][%w_]*$") and first or "NAME"
      errors.raise("usage", ("%s is not a function; use a member of it, %s.%s%s"):format(name, name, member, use or "(...)"))
    end,
    __name = name,
    __tostring = function() return name end,
  })
end

return scenario_state
