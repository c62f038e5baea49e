--- `check(expression)`: asserts that an expression is true. The loader rewrites its calls (see base/rewriting.lua), so that a
-- failure shows both operands of a comparison.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local failures = lazily "scenarios.reports.failures"
local display = lazily "scenarios.reports.display"
local differences = lazily "scenarios.reports.differences"
local texts = lazily "scenarios.reports.texts"
local lookalikes = lazily "scenarios.reports.lookalikes"

local comparisons = {
  ["=="] = function(left, right) return left == right end,
  ["~="] = function(left, right) return left ~= right end,
  ["<"] = function(left, right) return left < right end,
  [">"] = function(left, right) return left > right end,
  ["<="] = function(left, right) return left <= right end,
  [">="] = function(left, right) return left >= right end,
}

--- Adds a line with the value of an operand, unless its source already shows the value.
local function add_operand(details, source, value)
  local text = display.show(value)
  if text ~= source and text ~= source:gsub("^'(.*)'$", '"%1"') then details[#details + 1] = source .. " is " .. text end
end

--- Counts a check: scenarios without checks are reported.
local function count()
  local current = state.current
  if current then current.checks = current.checks + 1 end
end

local function fail(source, message, details)
  local text = "check(" .. source .. ")"
  if message ~= nil then text = (type(message) == "table" and display.show(message) or tostring(message)) .. ": " .. text end
  failures.raise(text, details, true)
end

--- Raises if the second argument is not a message, as in `check(total, 5)`. If the first one is a boolean, the second may be any value, as
-- in `check(pcall(f))`.
local function check_message(source, value, message)
  if source:find("^{") then errors.raise("argument", "check(" .. source .. "): a table is always true; use check(condition) with round brackets") end
  if type(value) == "function" then
    errors.raise("argument", ("check(%s): a function is always true; call it, as in check(f()), or use expect_error(f)"):format(source))
  end
  local metatable = type(value) == "table" and getmetatable(value)
  if type(metatable) == "table" and metatable.__is_always_true then
    errors.raise("argument", ("check(%s): it is the result of t.run_protected, which is always true; use check(%s.error == nil)"):format(source, source))
  end
  if message == nil or type(message) == "string" or type(value) == "boolean" then return end
  errors.raise("argument", ("check(%s, ...): argument 2: expected a message, got %s; use check(a == b) to compare two values"):format(source, errors.describe(message)))
end

local check = {}

--- Adds the operands of a failed comparison.
local function add_operands(details, operator, left_source, right_source, left, right)
  local lines = operator == "==" and texts.difference(right, left, right_source, left_source)
  if lines then
    details[#details + 1] = ("`+` is in %s, `-` in %s"):format(right_source, left_source)
    table.move(lines, 1, #lines, #details + 1, details)
    return
  end
  add_operand(details, left_source, left)
  add_operand(details, right_source, right)
  details[#details + 1] = operator == "==" and lookalikes.line(right, left, "the right one has", "the left one") or nil
end

--- Checks a comparison.
function check.compare(operator, left_source, right_source, left, right, message)
  count()
  if type(message) == "boolean" then
    errors.raise("argument", ("check(%s %s %s, ...): argument 2: expected a message, got %s; use `and` for another condition"):format(left_source, operator,
      right_source, errors.describe(message)))
  end
  local is_possible, holds = pcall(comparisons[operator], left, right)
  if is_possible and holds then return holds end
  local details = {}
  add_operands(details, operator, left_source, right_source, left, right)
  if not is_possible then
    details[#details + 1] = ("%s and %s cannot be compared by %s")
      :format(errors.describe(left), errors.describe(right), operator)
  elseif operator == "==" and type(left) == "table" and type(right) == "table" and #differences.of(left, right) == 0 then
    details[#details + 1] = "they have the same content, but are two tables; use expect(...):equals(...) to compare contents"
  end
  fail(left_source .. " " .. operator .. " " .. right_source, message, details)
end

--- Returns lines that show the evaluated operands of a condition.
local function shown(operands)
  local details = {}
  for _, operand in ipairs(operands) do
    if operand.operator then
      local parts = {}
      add_operand(parts, operand.left_source, operand.left)
      add_operand(parts, operand.right_source, operand.right)
      details[#details + 1] = ("%s %s %s is %s%s"):format(operand.left_source, operand.operator, operand.right_source,
        tostring(operand.holds), #parts > 0 and ": " .. table.concat(parts, ", ") or "")
      local is_unequal = operand.operator == "==" and not operand.holds
      details[#details + 1] = is_unequal and lookalikes.line(operand.right, operand.left, "the right one has", "the left one") or nil
    else
      add_operand(details, operand.source, operand.value)
    end
  end
  return details
end

--- Checks a condition with several operands.
-- @tparam function evaluate evaluates the condition; receives an object with the functions `value` and `compare`, which it calls for each
--   operand
function check.logic(source, evaluate, message)
  count()
  local operands = {}
  local operand = {}
  function operand.value(operand_source, value)
    operands[#operands + 1] = { source = operand_source, value = value }
    return value
  end
  function operand.compare(operator, left_source, right_source, left, right)
    local is_possible, holds = pcall(comparisons[operator], left, right)
    if not is_possible then
      local details = shown(operands)
      add_operand(details, left_source, left)
      add_operand(details, right_source, right)
      details[#details + 1] = ("%s and %s cannot be compared by %s")
        :format(errors.describe(left), errors.describe(right), operator)
      fail(source, message, details)
    end
    operands[#operands + 1] = {
      operator = operator, left_source = left_source, right_source = right_source, left = left, right = right, holds = holds,
    }
    return holds
  end
  local value = evaluate(operand)
  if value then return value end
  fail(source, message, shown(operands))
end

--- Checks that a value is neither nil nor false.
function check.value(source, value, message)
  count()
  check_message(source, value, message)
  if value then return value end
  fail(source, message, { "it is " .. display.show(value) })
end

return setmetatable(check, {
  -- Called if the call was not rewritten: the message shows the line of the file.
  __call = function(_, ...)
    if select("#", ...) == 0 then errors.raise("argument", "check: expected an expression") end
    count()
    local value, message = ...
    if type(value) == "table" and getmetatable(value) == nil and type(value[1]) == "boolean" then
      errors.raise("argument", "check{ ... }: a table is always true; use check(condition) with round brackets")
    end
    if value then return value end
    failures.raise(message ~= nil and tostring(message) or "check", { "it is " .. display.show(value) })
  end,
  __index = function(_, name)
    errors.raise("unknown_member", ("no member `%s` of check; use check(a == b), check(value), or a matcher such as expect(value):equals(other)"):format(tostring(name)), { name = name })
  end,
  __tostring = function() return "check" end,
  __newindex = function() errors.raise("argument", "check cannot be changed") end,
})
