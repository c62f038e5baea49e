--- `expect(value)`: checks a value with matchers, which can be chained: `expect(queries):at_most(4):no_repeats()`.
--
-- `expect.no(value)` negates the matchers. `expect.soft(value)` records failures and continues. `expect.extend` adds a matcher:
-- `expect.extend("is_even", function(value) return value % 2 == 0 end)`.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local source = lazily "scenarios.base.source"
local display = lazily "scenarios.reports.display"
local failures = lazily "scenarios.reports.failures"
local queries = lazily "scenarios.data.queries"

--- Matchers by name: functions `matcher(expectation, ...)`, which check `expectation.value`. They return whether it matches, and a function
-- that returns lines describing the actual value.
local matchers = require "scenarios.expectations.matchers"
local other_names = require "perilune.runtime.other_names"

--- Returns the matcher with a name, which may be a matcher for queries; raises if none exists.
local function find(name)
  if matchers[name] then return matchers[name] end
  local matcher = queries.matchers[name]
  if not matcher then
    local names = {}
    for _, map in ipairs{ matchers, queries.matchers } do
      for known in pairs(map) do names[#names + 1] = known end
    end
    table.sort(names)
    other_names.raise("expectation", "matcher", name, names)
  end
  matchers[name] = function(expectation, ...)
    if not queries.is(expectation.value) then
      state.mistake("%s: expected queries (of t.queries or t.run), got %s", name,
        errors.describe(expectation.value))
    end
    return matcher(expectation.value, ...)
  end
  return matchers[name]
end

-- Failing

--- Describes the expectation, and returns whether the description quotes the source.
local function message_of(expectation, name, file, line)
  local text = file and source.expectation(file, line, name)
  if text then return text .. ":" .. name, true end
  local kind = expectation.is_negated and "expect.no" or expectation.is_soft and "expect.soft" or "expect"
  return ("%s(%s):%s"):format(kind, errors.describe(expectation.value), name)
end

local function fail(expectation, name, details)
  local file, line = errors.position()
  local message, quotes_source = message_of(expectation, name, file and source.path(file), line)
  if not expectation.is_soft then failures.raise(message, details, quotes_source) end
  local current = state.require("expect.soft")
  local caught = failures.caught(message, details, quotes_source)
  table.insert(current.failures, failures.make(caught, require("scenarios.base.steps").current(current)))
end

local function negated_details(name, value)
  local text = display.show(value)
  return { ("it matches, but must not: %s"):format(#text > 200 and text:sub(1, 200) .. "..." or text) }
end

local function apply(expectation, name, matcher, ...)
  local is_so, details = matcher(expectation, ...)
  local current = state.current
  if current then
    current.checks = current.checks + 1
    current.open_expectations[expectation] = nil
  end
  if expectation.is_negated then
    if is_so then fail(expectation, name, negated_details(name, expectation.value)) end
  elseif not is_so then
    fail(expectation, name, details and details() or {})
  end
  return expectation
end

-- Expectations

local expectation_metatable = { __name = "expectation", __metatable = false }

function expectation_metatable.__index(_, name)
  -- The value may be nil.
  if name == "value" then return nil end
  local matcher = find(name)
  return function(expectation, ...)
    if type(expectation) ~= "table" or rawget(expectation, "is_expectation") == nil then
      state.mistake("%s: call it with a colon: expect(...):%s(...)", name, name)
    end
    return apply(expectation, name, matcher, ...)
  end
end

local function new(value, count, options)
  if count == 0 then errors.raise("argument", "expect: expected a value") end
  local expectation = setmetatable({
    is_expectation = true, value = value, is_negated = options.is_negated or false, is_soft = options.is_soft or false,
  }, expectation_metatable)
  local current = state.current
  if current then
    local file, line = errors.position()
    current.expectations = current.expectations + 1
    current.open_expectations[expectation] = { number = current.expectations, file = file, line = line }
  end
  return expectation
end

local expect = {}

--- Raises if a function was called with a colon, so that its first argument is `expect` itself.
local function check_dot(name, first)
  if type(first) == "table" and rawequal(first, rawget(_G, "expect")) then
    state.mistake("expect.%s: call it with a dot, as in expect.%s(...)", name, name)
  end
end

--- The following matchers must not match.
function expect.no(...)
  check_dot("no", (...))
  return new((...), select("#", ...), { is_negated = true })
end

--- Failures are recorded, and the scenario continues.
function expect.soft(...)
  check_dot("soft", (...))
  return new((...), select("#", ...), { is_soft = true })
end

--- The names of the added matchers.
local own_matchers = {}

--- Adds a matcher for this state.
-- @tparam string name
-- @tparam function matcher receives the value and the arguments, and returns whether it matches, and a line (or a list of lines)
--   describing the actual value
function expect.extend(name, matcher, ...)
  check_dot("extend", name)
  if select("#", ...) > 0 then
    errors.raise("argument", "expect.extend: takes two arguments; the function returns the description as its second result")
  end
  if type(name) ~= "string" or not name:find("^[%a_][%w_]*$") then
    errors.raise("argument", "expect.extend: argument 1: expected the name of a matcher, got " .. errors.describe(name))
  elseif type(matcher) ~= "function" then
    errors.raise("argument", "expect.extend: argument 2: expected a function, got " .. errors.describe(matcher))
  elseif matchers[name] or queries.matchers[name] then
    local is_own = matchers[name] and own_matchers[name]
    state.mistake("expect.extend: a matcher `%s` already exists%s", name,
      is_own and "; support.lua is loaded before each file of scenarios, so it must not be required" or "")
  end
  own_matchers[name] = true
  matchers[name] = function(expectation, ...)
    local results = table.pack(matcher(expectation.value, ...))
    local is_so, lines = results[1], results[2]
    if results.n == 0 then state.mistake("%s: a matcher returns true or false, but it returned nothing", name) end
    if is_so ~= nil and type(is_so) ~= "boolean" then
      state.mistake("%s: a matcher returns true or false, and a line that describes the actual value, but it returned %s", name, errors.describe(is_so))
    end
    return is_so, function()
      if type(lines) == "table" then return lines end
      return { lines ~= nil and tostring(lines) or "it is " .. display.show(expectation.value) }
    end
  end
end

return setmetatable(expect, {
  __call = function(_, ...) return new((...), select("#", ...), {}) end,
  __index = function(_, name)
    if matchers[name] or queries.matchers[name] then
      errors.raise("unknown_member", ("no member `%s`; use expect(value):%s(...)"):format(name, name), { name = name })
    end
    other_names.raise("expectation", "member", name, { "no", "soft", "extend" })
  end,
  __newindex = function(_, name) state.mistake("expect.%s cannot be set; use expect.extend", tostring(name)) end,
  __tostring = function() return "expect" end,
})
