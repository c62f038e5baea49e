--- `t.effects.MODULE`: stubs that replace external effects, and the calls that were made.

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"

local function check_name(what, name)
  if type(name) ~= "string" then
    state.mistake("%s: argument 1: expected the name of a function, got %s", what, errors.describe(name))
  end
end

local function given(count) return count end
local function constant(count) return function() return count end end

local effects = {}

--- The metatables of argument lists, by length. The length includes nil values at the end, which a plain list cannot contain.
local metatables = {}

local function metatable_of(length)
  local metatable = metatables[length]
  if not metatable then
    metatable = {
      __len = function() return length end, __index = function(_, name) return name == "n" and length or nil end, __list_length = length,
    }
    metatables[length] = metatable
  end
  return metatable
end

--- Turns the arguments of a call into a list. They are given as a table with their number in `n`.
function effects.list_of(arguments)
  local length = arguments.n or #arguments
  arguments.n = nil
  return setmetatable(arguments, metatable_of(length))
end

--- Returns the methods of `t.effects.MODULE`.
local function methods_of(module)
  local methods, place = {}, "t.effects." .. tostring(module) .. ":"

  --- Sets the result of a function of the module: a value, or a function that computes it from the arguments. If the stub is never called,
  -- the scenario's report contains a note.
  function methods:stub(name, value)
    check_name(place .. "stub", name)
    state.host("stub")(module, name, value)
    require("scenarios.context.stub_counts").add(module, name, self)
    return self
  end

  -- The allowed number of calls of the preceding stub in the chain, checked when the scenario ends.

  local function add_count(method, least_of, most_of, takes_number)
    local function expect(self, count)
      require("scenarios.context.stub_counts").expect(place .. method, self, method, least_of, most_of, takes_number, count)
      return self
    end
    methods[method] = takes_number and expect or function(self) return expect(self) end
  end

  add_count("once", constant(1), constant(1))
  add_count("never", constant(0), constant(0))
  add_count("times", given, given, true)
  add_count("at_least", given, constant(math.huge), true)
  add_count("at_most", constant(0), given, true)

  --- Returns the calls of a function of the module: for each call a list of its arguments, or the argument itself if it is a single
  -- table.
  function methods:calls(name)
    check_name(place .. "calls", name)
    local is_known, calls = pcall(state.host("calls"), module, name)
    if not is_known then
      if type(calls) ~= "userdata" or calls.kind ~= "unknown_function" or calls.suggestion then error(calls, 0) end
      errors.raise(calls.kind, ("no stub and no call of `%s.%s`; use %sstub(%q, value) before it could be called, with :never() if it must not be")
        :format(tostring(module), name, place, name), { name = name })
    end
    local list = {}
    for index, call in ipairs(calls) do
      local arguments = effects.list_of(call.arguments)
      list[index] = #arguments == 1 and type(arguments[1]) == "table" and arguments[1] or arguments
    end
    return list
  end

  --- Like `calls`, but calls with the same arguments are included only once.
  function methods:distinct_calls(name)
    check_name(place .. "distinct_calls", name)
    local list, known = {}, {}
    for _, call in ipairs(self:calls(name)) do
      local text = display.show(call)
      if not known[text] then
        known[text] = true
        list[#list + 1] = call
      end
    end
    return list
  end

  arity.limit_all(methods, place)
  for name, method in pairs(methods) do
    methods[name] = function(self, ...)
      if type(self) ~= "table" then state.mistake('%s%s: call it with a colon, as in %s%s("function")', place, name, place, name) end
      return method(self, ...)
    end
  end
  return methods
end

effects.proxy = state.proxy("t.effects", function(module)
  local methods = methods_of(module)
  return setmetatable({}, {
    __index = function(_, name)
      local method = methods[name]
      if not method then
        local other_names = require "perilune.runtime.other_names"
        if other_names.find("effects", name) then other_names.raise("effects", "method", name, display.keys(methods)) end
        local _, err = pcall(errors.raise_unknown, "method", name, display.keys(methods))
        if err.suggestion then error(err, 0) end
        errors.raise("unknown_method", ("no method `%s`; use t.effects.%s:stub(%q, value) to set its result, t.effects.%s:calls(%q) for its calls"):format(tostring(name),
          tostring(module), tostring(name), tostring(module), tostring(name)), { name = name })
      end
      return method
    end,
    __newindex = function(_, name)
      state.mistake("t.effects.%s.%s cannot be set; use t.effects.%s:stub(%q, value)", tostring(module), tostring(name), tostring(module), tostring(name))
    end,
    __call = function() state.mistake("t.effects.%s is a module; use t.effects.module:stub(name, value)", tostring(module)) end,
    __tostring = function() return "t.effects." .. tostring(module) end,
  })
end, ":stub(name, value)")

return effects
