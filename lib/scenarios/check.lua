--- `check(expression)`: any Lua that must be true. Loading a file has rewritten its calls (see scenario_rewriting), so that a
-- failure shows both operands of a comparison.

local errors = require "perilune.native.errors"
local state = require "scenarios.state"
local failures = lazily "scenarios.failures"
local display = lazily "scenarios.display"
local differences = lazily "scenarios.differences"

local comparisons = {
  ["=="] = function(left, right) return left == right end,
  ["~="] = function(left, right) return left ~= right end,
  ["<"] = function(left, right) return left < right end,
  [">"] = function(left, right) return left > right end,
  ["<="] = function(left, right) return left <= right end,
  [">="] = function(left, right) return left >= right end,
}

--- What an operand was, unless its source says it already.
local function add_operand(details, source, value)
  local text = display.show(value)
  if text ~= source and text ~= source:gsub("^'(.*)'$", '"%1"') then details[#details + 1] = source .. " is " .. text end
end

local function fail(source, message, details)
  local text = "check(" .. source .. ")"
  if message ~= nil then text = tostring(message) .. ": " .. text end
  failures.raise(text, details, true)
end

local check = {}

--- A comparison that must hold.
function check.compare(operator, left_source, right_source, left, right, message)
  local is_possible, holds = pcall(comparisons[operator], left, right)
  if is_possible and holds then return holds end
  local details = {}
  add_operand(details, left_source, left)
  add_operand(details, right_source, right)
  if not is_possible then
    details[#details + 1] = ("%s and %s cannot be compared by %s")
      :format(errors.describe(left), errors.describe(right), operator)
  elseif operator == "==" and type(left) == "table" and type(right) == "table" and #differences.of(left, right) == 0 then
    details[#details + 1] = "they have the same content, and are two tables: expect(...):equals(...) compares what is in them"
  elseif operator == "==" and type(left) ~= type(right) and tostring(left) == tostring(right) then
    details[#details + 1] = ("one is %s, the other %s"):format(errors.describe(left), errors.describe(right))
  end
  fail(left_source .. " " .. operator .. " " .. right_source, message, details)
end

--- A value that must not be nil or false.
function check.value(source, value, message)
  if value then return value end
  fail(source, message, { "it is " .. display.show(value) })
end

return setmetatable(check, {
  -- Where calls are not rewritten: the line of the file is shown then.
  __call = function(_, ...)
    if select("#", ...) == 0 then errors.raise("argument", "check: expected an expression") end
    local value, message = ...
    if value then return value end
    failures.raise(message ~= nil and tostring(message) or "check", { "it is " .. display.show(value) })
  end,
  __tostring = function() return "check" end,
  __newindex = function() errors.raise("argument", "check cannot be changed") end,
})
