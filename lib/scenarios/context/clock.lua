--- `t.clock`: the time for scripts and SQL.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local state = require "scenarios.base.state"
local scenario_options = lazily "scenarios.defining.options"
local display = lazily "scenarios.reports.display"

local clock = {}

local function seconds(what, value)
  local result = scenario_options.seconds(value)
  if result == nil then
    local is_calendar = type(value) == "string" and (value:find("month") or value:find("^%s*%-"))
    state.mistake('%s: expected a duration of at most 100 years ({ hours = 2 }, "90s", a number of seconds), got %s%s', what,
      errors.describe(value), is_calendar and "; use t.clock:set(t.clock:now():add{ months = 1 }) for months and earlier times" or "")
  end
  return result
end

--- Returns whether the runner can wait for other code that depends on the clock.
local function has_others()
  return state.has("has_others") and state.host("has_others")()
end

--- Sets the time. Each timer that is due by then is called once.
-- @param instant a date, or a value that `perilune.date` accepts
function clock:set(instant)
  local date, reason = scenario_options.read_instant(instant)
  if not date then
    errors.raise("argument", 't.clock:set: expected a date ("2026-03-31T18:00:00Z"), got ' .. errors.describe(instant) .. reason)
  end
  state.host("clock_set")(date)
  if has_others() then state.host("wait_until_quiet")(0.0) end
  return self
end

--- Advances the time from one timer to the next. Each timer is called at its time, and has finished when this function returns.
function clock:advance(duration)
  local amount = seconds("t.clock:advance", duration)
  if amount < 0 then
    state.mistake("t.clock:advance: expected a duration from 0, got %s; use t.clock:set(t.clock:now():add{ seconds = %g }) for earlier times",
      errors.describe(duration), amount)
  end
  if has_others() then
    state.host("wait_until_quiet")(amount)
  else
    state.host("clock_advance")(amount)
  end
  return self
end

--- From now on, each reading of the clock advances the time by this duration.
function clock:tick(duration)
  local amount = seconds("t.clock:tick", duration)
  if amount < 0 then state.mistake("t.clock:tick: expected a duration from 0, got %s", errors.describe(duration)) end
  state.host("clock_tick")(amount)
  return self
end

--- Returns the time.
function clock:now()
  return perilune.now()
end

arity.limit_all(clock, "t.clock:")

local metatable = { __name = "t.clock" }

--- The methods, which check that they are called with a colon.
local methods = {}
for name, method in pairs(clock) do
  methods[name] = function(self, ...)
    if type(self) ~= "table" or getmetatable(self) ~= metatable then state.mistake("t.clock.%s: call it with a colon, as in t.clock:%s(...)", name, name) end
    return method(self, ...)
  end
end

function metatable.__index(_, name)
  if methods[name] then return methods[name] end
  require("perilune.runtime.other_names").raise("clock", "method", name, display.keys(clock))
end

function metatable.__newindex(_, name) state.mistake("t.clock.%s cannot be set; use t.clock:set", tostring(name)) end
function metatable.__tostring() return "t.clock" end

return setmetatable({}, metatable)
