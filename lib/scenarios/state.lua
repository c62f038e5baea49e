--- What belongs to the scenario that runs, and what the runner offers.

local internal = ...

local scenario_state = {
  --- "idle", "loading" while a file is read, "running" while a scenario runs.
  phase = "idle",
  --- The file that is being read: { path, is_support }.
  file = nil,
  --- The names of the globals that are there before any file is loaded.
  words = {},
  --- What is kept of the scenario that runs: see scenario_running.
  current = nil,
}

--- Raises that something was used wrongly: by a format and its values.
function scenario_state.mistake(format, ...)
  internal.raise("argument", format:format(...))
end

--- A module that is loaded when something of it is first used: most scenarios need few.
function scenario_state.lazily(name)
  return setmetatable({}, {
    __index = function(_, key) return internal.load(name)[key] end,
    __newindex = function(_, key, value) internal.load(name)[key] = value end,
    __call = function(_, ...) return internal.load(name)(...) end,
    __tostring = function() return tostring(internal.load(name)) end,
  })
end

--- A function of the runner, which raises where the runner has none.
function scenario_state.host(name)
  local host = internal.scenario_host
  local native = host and host[name]
  if native then return native end
  return function() internal.raise("usage", ("`%s` is not available where this scenario runs"):format(name)) end
end

--- Whether the runner has a function.
function scenario_state.has(name)
  return internal.scenario_host ~= nil and internal.scenario_host[name] ~= nil
end

--- What is kept of the scenario that runs, or raises.
-- @tparam string name who asks
function scenario_state.require(name)
  if scenario_state.current then return scenario_state.current end
  internal.raise("usage", name .. ": this is for scenarios that run: call it inside the function of a scenario")
end

--- The members of a proxy are found by a function, and cannot be set.
function scenario_state.proxy(name, find)
  return setmetatable({}, {
    __index = function(_, key) return find(key) end,
    __newindex = function(_, key)
      internal.raise("argument", ("%s.%s cannot be set"):format(name, tostring(key)))
    end,
    __call = function()
      internal.raise("usage", ("%s is no function: call one of its members, %s.NAME(...)"):format(name, name))
    end,
    __name = name,
    __tostring = function() return name end,
  })
end

return scenario_state
