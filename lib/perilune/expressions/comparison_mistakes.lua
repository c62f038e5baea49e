--- Detects comparisons that have the same result for all rows: for example of a number with a function that returns text, of a word with a
-- column of numbers, or of an hour with a column of days. SQLite evaluates them without an error. The errors raised here suggest the value
-- that was probably meant.

local errors = require "perilune.native.errors"
local perilune = require "perilune"
local marks = require "perilune.runtime.marks"
local column_types = require "perilune.schema.column_types"
local shapes = require "perilune.expressions.shapes"

local comparison_mistakes = {}

-- Kinds of values --------------------------------------------------------------------------------------------------------------

local text_functions = {}
for name in ("lower upper trim ltrim rtrim replace substr hex typeof quote strftime date time datetime"):gmatch("%a+") do
  text_functions[name] = true
end

local number_functions = {}
for name in ("length instr unicode abs round sign julianday unixepoch json_array_length count sum total avg ceil floor sqrt pow exp ln log10 log2 mod trunc"):gmatch("%w+") do
  number_functions[name] = true
end

local arithmetic = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true, ["//"] = true, ["%"] = true, negate = true }

--- The methods of comparisons by their SQL operators.
local methods = { ["="] = "eq", ["<>"] = "ne", ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge", is = "is", ["is not"] = "is_not" }

local function kind_of(shape)
  if shape.op == "column" then return shape.held end
  if shape.op == "call" then return text_functions[shape.detail] and "text result" or number_functions[shape.detail] and "number result" end
  return shape.op == "||" and "text result" or arithmetic[shape.op] and "number result" or methods[shape.op] and "truth result" or nil
end

local texts, words = { number = true, string = true }, { string = true, boolean = true }

--- For each kind of expression, the types of values for which a comparison is checked. Kinds are the results of `column_types.held_by`,
-- "booleans", "text result", "number result" and "truth result".
local suspects = { booleans = words, integers = words, floats = words, numbers = words, texts = words, ["number result"] = words, ["text result"] = texts,
  ["truth result"] = texts }

--- Returns whether an expression is a text that SQL computes.
function comparison_mistakes.is_text(shape) return kind_of(shape) == "text result" end

--- Returns whether an expression is an arithmetic operation on two operands.
function comparison_mistakes.is_arithmetic(shape) return arithmetic[shape.op] == true and shape.operands[2] ~= nil end

--- Returns the types of values that must be checked when they are compared with an expression; false if no type must be.
function comparison_mistakes.suspects_of(shape)
  local kind = kind_of(shape)
  shape.suspects = kind and suspects[kind] or false
  return shape.suspects
end

-- Messages --------------------------------------------------------------------------------------------------------------------

local operators_of_texts = { ["="] = "eq", ["=="] = "eq", ["!="] = "ne", ["<>"] = "ne", ["~="] = "ne", ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge" }

local function name_of(shape) return shape.op == "column" and "`" .. tostring(shape.detail) .. "`" or "the expression" end

local function fail(place, text, ...) errors.raise("argument", place .. ": " .. text:format(...)) end

--- Returns the method call for text that begins with an operator, such as ">= 500".
local function operator_in(shape, value)
  local sign, rest = value:match("^%s*([<>=!~]+)%s*(.-)%s*$")
  local method = operators_of_texts[sign]
  if not method or shape.op ~= "column" then return nil end
  if rest:lower() == "null" or rest == "nil" then return ("Class.c.%s:%s()"):format(shape.detail, method == "eq" and "is_null" or "is_not_null") end
  return ("Class.c.%s:%s(%s)"):format(shape.detail, method, tonumber(rest) and rest or ("%q"):format(rest))
end

-- Checks ----------------------------------------------------------------------------------------------------------------------

local checks = {}

function checks.booleans(left, _, value, place)
  if type(value) == "string" then fail(place, "%s: expected true or false, got %s", name_of(left.shape), errors.describe(value)) end
end

local orders = { ["<"] = true, ["<="] = true, [">"] = true, [">="] = true }

--- Raises for a comparison of numbers with other values. In SQL, every text is greater than every number.
local function check_number(left, op, value, place, kind)
  if type(value) == "boolean" then
    if orders[op] then fail(place, "%s: expected a number, got %s", name_of(left.shape), tostring(value)) end
    return
  end
  if type(value) ~= "string" or column_types.holds("numbers", value) then return end
  local meant = operator_in(left.shape, value)
  local low, high = value:match("^%s*(%d+)%s*%.%.%.?%s*(%d+)%s*$")
  if low and left.shape.op == "column" then fail(place, "%s: %q is text; use filter(Class.c.%s:between(%s, %s))", name_of(left.shape), value, left.shape.detail, low, high) end
  if meant then fail(place, "%s: a value cannot contain an operator, as in %q; use filter(%s)", name_of(left.shape), value, meant) end
  if orders[op] or kind == "number result" then
    fail(place, "%s: expected a number, got the string %q, which differs from all numbers", name_of(left.shape), value)
  end
end

checks.integers, checks.floats, checks.numbers = check_number, check_number, check_number

checks["number result"] = function(left, op, value, place)
  if type(value) == "string" and column_types.holds("numbers", value) then
    fail(place, "%s: expected a number, got the string %q; SQL compares it as text, which differs from all numbers; use %s", name_of(left.shape), value, value)
  end
  check_number(left, op, value, place, "number result")
end

function checks.texts(left, op, value, place)
  if type(value) == "string" and value:lower():find("^%s*[!<>=~]+%s*null%s*$") then
    fail(place, "%s: a value cannot contain an operator, as in %q; use filter(%s)", name_of(left.shape), value, operator_in(left.shape, value) or ":is_not_null()")
  end
  if type(value) == "boolean" then
    fail(place, "%s: expected a string, got %s; use `%s` for %s", name_of(left.shape), tostring(value),
      value == false and ":is_null()" or ":is_not_null()", value == false and "a missing value" or "any value")
  end
end

--- The result of a comparison is 0 or 1.
checks["truth result"] = function(left, op, value, place)
  if value == 0 or value == 1 then return end
  local column = left.shape.operands[1]
  local name = column and column.op == "column" and "Class.c." .. tostring(column.detail) or "column"
  fail(place, "the left side is a comparison, which is true or false; use %s:between(low, high), or %s:%s(a) & %s:%s(b)", name, name, methods[left.shape.op],
    name, methods[op])
end

--- Returns the format of a call of strftime, if it is a string.
local function format_of(left)
  local parts = left.shape.detail == "strftime" and rawget(left, "parts")
  local format = parts and parts[1] and parts[1].shape == shapes.slot and parts[1][1]
  return type(format) == "string" and format or nil
end

--- The first three letters of the names of days and months. The function strftime in SQLite produces no such names.
local names_in_words = {}
for name in ("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec"):gmatch("%a+") do names_in_words[name] = true end

local two_digits = { ["%m"] = true, ["%d"] = true, ["%H"] = true, ["%M"] = true, ["%S"] = true, ["%W"] = true, ["%U"] = true, ["%V"] = true }

checks["text result"] = function(left, op, value, place)
  local format = format_of(left)
  if type(value) == "number" then
    local text = two_digits[format] and math.tointeger(value) and ("%02d"):format(value) or tostring(value)
    fail(place, "the left side is text, which differs from all numbers; use %s(%q)", methods[op], text)
  elseif two_digits[format] and type(value) == "string" and value:find("^%d$") then
    fail(place, "strftime(%q) has two digits; use %s(%q)", format, methods[op], "0" .. value)
  elseif format and type(value) == "string" and value:find("^%a+$") and names_in_words[value:sub(1, 3):lower()] then
    fail(place, "strftime has no names of days and months, got %q; the format \"%%w\" is the day of the week from \"0\", Sunday, and \"%%m\" the month from "
      .. "\"01\"", value)
  end
end

--- Raises if a comparison has the same result for all rows.
-- @param left the expression
-- @tparam string op the SQL operator
-- @param value a string, a number or a boolean
function comparison_mistakes.check(left, op, value, place)
  local kind = kind_of(left.shape)
  checks[kind](left, op, value, place, kind)
end

--- Returns the value to compare with an expression: the day of a date for `date(...)`, otherwise the value itself.
function comparison_mistakes.day_of(shape, value)
  return shape.op == "call" and shape.detail == "date" and perilune.date.is(value) and value:format("YMD") or value
end

--- Raises for arithmetic with a column of dates.
function comparison_mistakes.refuse_arithmetic(shape, op, place)
  local name = shape.op == "column" and "Class.c." .. tostring(shape.detail) or "column"
  errors.raise("argument", ("%s: SQL would compute with the year of the date; use %s"):format(place,
    op == "-" and ("%s:julianday() - other:julianday() for a difference in days, %s:date(\"-1 day\") for another day"):format(name, name)
      or name .. ":date(\"+1 day\") for another day"))
end

--- Raises if a numeric aggregate is called on dates or texts.
function comparison_mistakes.check_aggregated(shape, method)
  local type = shapes.type_of(shape)
  if type and type.form then
    errors.raise("argument", ("column:%s: `%s` is a column of dates; use column:min() or column:max(), or column:julianday():%s() for days"):format(method,
      type.name or "column", method))
  elseif shape.op == "column" and shape.held == "texts" then
    errors.raise("argument", ("column:%s: `%s` is a column of texts; use column:cast(\"real\"):%s() for the numbers in them"):format(method, shape.detail, method))
  end
end

-- Dates -----------------------------------------------------------------------------------------------------------------------

local prefixes = { "^%d%d%d%d$", "^%d%d%d%d%-%d%d$", "^%d%d%d%d%-%d%d%-%d%d" }

--- Returns whether text can be compared with dates: it is a date or the beginning of one.
function comparison_mistakes.is_date_text(text)
  for index, prefix in ipairs(prefixes) do
    if text:find(prefix) then return index < 3 or #text > 24 or (pcall(perilune.date, text)) end
  end
  return false
end

local relative = { now = true, today = true, tomorrow = true, yesterday = true, current_date = true, current_timestamp = true, current_time = true }

--- Returns whether text describes a date in words that columns do not contain: "today", "30 days ago".
function comparison_mistakes.is_relative(text)
  text = text:lower()
  return relative[text:match("^[%a_]*")] or text:find("^[+-]?%d+ %a+") ~= nil
end

local units = {}
for unit in ("day hour minute second month year"):gmatch("%a+") do units[unit], units[unit .. "s"] = true, true end

local modifiers = {}
for word in ("unixepoch julianday auto localtime utc subsec subsecond ceiling floor"):gmatch("%a+") do modifiers[word] = true end
for _, period in ipairs{ "day", "month", "year" } do modifiers["start of " .. period] = true end

--- Returns whether SQLite has a modifier of dates.
function comparison_mistakes.is_modifier(text)
  text = text:lower():match("^%s*(.-)%s*$"):gsub("%s+", " ")
  local unit = text:match("^[+-]?[%d.]+ (%a+)$")
  return modifiers[text] or unit ~= nil and units[unit] or text:find("^weekday [0-6]") ~= nil or text:find("^[+-]?%d+:%d") ~= nil
    or text:find("^[+-]%d%d%d%d%-%d") ~= nil
end

--- Raises for a value that equals no date. Words such as "soon" are accepted, because columns may contain them.
-- @tparam ?string op the SQL operator
function comparison_mistakes.check_date(column_type, value, op)
  local name = column_type.name or "column"
  if type(value) == "number" then
    if not orders[op] and value < 1e8 then return end
    errors.raise("argument", ("`%s` is a column of dates, which differ from all numbers; use perilune.date(%s) for Unix seconds, or the class option "
      .. "types = { %s = \"integer\" } if the column contains numbers"):format(name, value, name))
  elseif type(value) == "boolean" then
    errors.raise("argument", ("`%s` is a column of dates, got %s; use `:is_null()` for rows without a date"):format(name, value))
  elseif comparison_mistakes.is_relative(value) then
    errors.raise("argument", ("`%s` is a column of dates, and %q is not a date; use perilune.now(), perilune.now():start_of(\"day\") or "
      .. "perilune.now():add{ days = -30 }"):format(name, value))
  elseif not comparison_mistakes.is_date_text(value) and (orders[op] or value:find("%d")) then
    errors.raise("argument", ("`%s` is a column of dates, and %q is not a date; use perilune.date{ year = 2026, month = 3, day = 31 }, or text such "
      .. "as \"2026-03-31\" or \"2026-03-31 18:30\""):format(name, value))
  end
end

return comparison_mistakes
