--- Expressions, and the Lua operators that combine them. An expression consists of a shape and values.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local native_records = require "perilune.native.records"
local marks = require "perilune.runtime.marks"
local raise = errors.raise
local is_expression = marks.is_expression
local shapes = require "perilune.expressions.shapes"
local slot, shape_alone, shape_of_list = shapes.slot, shapes.shape_alone, shapes.shape_of_list
local shape_with_value, shape_with_shape, type_of = shapes.shape_with_value, shapes.shape_with_shape, shapes.type_of
local stored_dates = require "perilune.runtime.stored_dates"

--- The result of getmetatable for expressions, by which they are recognized.
local mark = "expression"
local metatable = { __name = mark, __receiver = "column", __metatable = mark }

-- Values --------------------------------------------------------------------------------------------------------------

--- Returns an expression with a shape and the values of other expressions. The values are collected only when they are needed.
local function join_all(shape, expressions)
  return setmetatable({ shape = shape, parts = expressions }, metatable)
end

local function join(shape, left, right)
  return setmetatable({ shape = shape, parts = { left, right } }, metatable)
end

--- Copies the values of an expression into a list, after the first `count` values. Returns the new number of values.
local function collect(self, list, count)
  local parts = rawget(self, "parts")
  if not parts then
    local own = self.shape.count
    for index = 1, own do list[count + index] = self[index] end
    return count + own
  end
  for index = 1, #parts do count = collect(parts[index], list, count) end
  return count
end

local function of_value(value)
  return setmetatable({ shape = slot, value }, metatable)
end

local plain_types = { string = true, number = true, boolean = true }

local lists_cure = "; use `column:is_in(list)` to match one of several values"
local records_cure = "; use its key, as in record.id, or filter{ association = record }"

--- Raises for a value that cannot be an operand.
local function raise_operand(place, value)
  if value == nil then
    raise("argument", place .. ": the value is nil; use `:is_null()` or perilune.null for NULL")
  elseif marks.is_request(value) then
    raise("argument", place .. ": a request used as a value must select one column; use request:select(\"column\")")
  end
  raise("argument", place .. ": expected a value or an expression, got " .. errors.describe(value)
    .. (type(value) == "table" and (getmetatable(value) == nil and lists_cure or native_records.class_of(value) and records_cure) or ""))
end

--- Returns whether SQLite can store a value other than a string, number or boolean: a date, a blob, a case of an enum, ...
local function is_storable(value)
  if value == null or native_values.is_blob(value) then return true end
  local kind = type(value)
  if kind ~= "table" and kind ~= "userdata" then return false end
  local ok, plain = pcall(native_values.plain, value)
  return ok and not rawequal(plain, value)
end

--- Converts an operand to an expression. It may be an expression, a value, or a request that selects a single value.
-- @tparam string place the beginning of messages
local function operand(value, place)
  if plain_types[type(value)] then return of_value(value) end
  if is_expression(value) then return value end
  if value ~= nil and marks.is_request(value) then return require("perilune.expressions.subquery").scalar(value, place) end
  if is_storable(value) then return of_value(value) end
  return raise_operand(place, value)
end

-- Operators -----------------------------------------------------------------------------------------------------------

local comparisons = { ["="] = true, ["<>"] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true, is = true,
  ["is not"] = true }

--- Returns a function that converts a value to its stored form, or to one of the texts for a date (see stored_dates.lua).
local function converter_of(column_type, text)
  local convert, form = column_type.convert, column_type.form
  if not form then return convert end
  return function(value)
    if convert then value = convert(value) end
    local texts = stored_dates.read(form, value)
    if not texts then return value end
    return texts[text or "stored"] or texts.spellings[math.min(text, #texts.spellings)]
  end
end

--- Returns a parameter whose value is converted for a column type.
-- @param ?text for dates: the name of the text to use, or its position among the date's spellings
local function typed_parameter(column_type, parameter, text)
  local known = column_type.typed_parameters
  if not known then
    known = {}
    column_type.typed_parameters = known
  end
  local name = parameter.shape.detail
  local key = text and text .. " " .. name or name
  if not known[key] then
    local shape = shapes.new_shape("parameter", {}, name)
    shape.convert = converter_of(column_type, text)
    known[key] = setmetatable({ shape = shape }, metatable)
  end
  return known[key]
end

--- Converts a value that is compared with a column to the column's stored form. This is the only conversion for comparisons, lists, bounds
-- and parameters of prepared requests. Values for `update_all` are converted in the same way as for inserts instead.
local function as_column(shape, value)
  local column_type = shape.type
  if not column_type or value == nil or not (column_type.convert or column_type.form) then return value end
  if getmetatable(value) == mark then
    local is_plain_parameter = value.shape.op == "parameter" and not value.shape.convert
    return is_plain_parameter and typed_parameter(column_type, value) or value
  end
  if marks.is_request(value) then return value end
  if column_type.form then return converter_of(column_type)(value) end
  return column_type.convert(value)
end

local comparison_mistakes = lazily "perilune.expressions.comparison_mistakes"

local function date_comparisons() return require "perilune.expressions.date_comparisons" end

--- Returns whether the values of an expression are dates that columns store as text.
local function has_dates(shape)
  if shape.has_dates == nil then
    local type = type_of(shape)
    shape.has_dates = type ~= nil and type.form ~= nil
  end
  return shape.has_dates
end

--- Returns the comparison of a date column with a date, in either order; nil for other comparisons.
local function compare_dates(left, op, right)
  local is_value = left.shape == slot or left.shape.op == "parameter"
  if not is_value then return has_dates(left.shape) and date_comparisons().compare(left, op, right) or nil end
  if getmetatable(right) ~= mark or not has_dates(right.shape) then return nil end
  if left.shape == slot then left = left[1] end
  return date_comparisons().compare_mirrored(left, op, right)
end

--- Raises if the comparison of an expression with a value would have the same result for all rows.
local function check_compared(left, op, value, place)
  local suspects = left.shape.suspects
  if suspects == nil then suspects = comparison_mistakes.suspects_of(left.shape) end
  if suspects and suspects[type(value)] then comparison_mistakes.check(left, op, value, place) end
end

--- Arithmetic operators, which SQLite would apply to the year of a date.
local arithmetic = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true, ["//"] = true, ["%"] = true }

--- Returns an operator applied to an expression and an operand. A value that is compared with a column is converted to the column's stored
-- form.
local function binary(left, op, right, place)
  local shape = left.shape
  if shape.has_dates ~= false then
    if comparisons[op] then
      local compared = compare_dates(left, op, right)
      if compared then return compared end
    elseif arithmetic[op] and has_dates(shape) then comparison_mistakes.refuse_arithmetic(shape, op, place) end
  end
  if shape.convert then
    if comparisons[op] then right = as_column(shape, right) end
  elseif shape == slot and comparisons[op] and getmetatable(right) == mark then
    left = of_value(as_column(right.shape, left[1]))
  end
  local kind = type(right)
  if kind == "userdata" and comparisons[op] then
    right = comparison_mistakes.day_of(shape, right)
    kind = type(right)
  end
  if kind == "string" or kind == "number" or kind == "boolean" then
    if shape.suspects ~= false and comparisons[op] then check_compared(left, op, right, place) end
    if shape.count == 0 then
      return setmetatable({ shape = shape_with_value(shape, op), right }, metatable)
    end
  elseif kind == "table" and getmetatable(right) == mark then
    return join(shape_with_shape(shape, op, right.shape), left, right)
  end
  right = operand(right, place)
  return join(shape_with_shape(shape, op, right.shape), left, right)
end

--- Returns an operation with one expression as its operand.
local function unary(self, op, detail)
  local shape = shape_alone(self.shape, op, detail)
  if shape.count == 0 then return setmetatable({ shape = shape }, metatable) end
  return setmetatable({ shape = shape, parts = { self } }, metatable)
end

--- Raises unless a value is a non-empty string.
local function check_string(place, value, what)
  if type(value) ~= "string" or value == "" then
    raise("argument", place .. ": expected " .. what .. ", got " .. errors.describe(value))
  end
  return value
end

--- Returns an operation with several operands, which may be values.
local function list_operation(op, detail, values, place)
  local expressions, shapes = {}, {}
  for index = 1, values.n or #values do
    local part = operand(values[index], place .. ": argument " .. index)
    expressions[index], shapes[index] = part, part.shape
  end
  return join_all(shape_of_list(op, shapes, detail), expressions)
end

--- Returns the expression by which to group rows. For a date column, all texts of a date have the same value in it.
local function grouped(column)
  local shape = column.shape
  local form = shape.op == "column" and shape.type and shape.type.form
  if form == "day" then return list_operation("call", "substr", { column, 1, 10, n = 3 }, "group") end
  if form ~= "instant" then return column end
  local text = list_operation("call", "strftime", { "%Y-%m-%d %H:%M:%f", column, n = 2 }, "group")
  return list_operation("call", "ifnull", { text, column, n = 2 }, "group")
end

-- Operators of Lua ----------------------------------------------------------------------------------------------------

--- Defines a Lua operator that corresponds to an SQL operator. One side may be a value.
local function define_operator(event, op, symbol)
  metatable[event] = function(left, right)
    local place = "`" .. symbol .. "`"
    if not is_expression(left) then left = operand(left, place) end
    return binary(left, op, right, place)
  end
end

define_operator("__add", "+", "+")

local add = metatable.__add

--- Returns whether an operand is text that is not a number.
local function is_text(value)
  if is_expression(value) then return value.shape.op == "column" and value.shape.held == "texts" end
  return type(value) == "string" and not tonumber(value)
end

--- Adds numbers. Raises for two texts, whose sum would be the number 0.
function metatable.__add(left, right)
  if is_text(left) and is_text(right) then raise("argument", "`+` adds numbers; use `..` to connect texts") end
  return add(left, right)
end

define_operator("__sub", "-", "-")
define_operator("__mul", "*", "*")
define_operator("__div", "/", "/")
define_operator("__idiv", "//", "//")
define_operator("__mod", "%", "%")
define_operator("__concat", "||", "..")

--- Calls the function `pow`, because SQL has no power operator.
function metatable.__pow(left, right)
  return list_operation("call", "pow", { left, right, n = 2 }, "`^`")
end

function metatable.__unm(self) return unary(self, "negate") end

--- Defines `&` or `|`. Both operands must be conditions.
local function define_connective(event, op, symbol)
  metatable[event] = function(left, right)
    for _, side in ipairs{ left, right } do
      if not is_expression(side) then
        raise("argument", "`" .. symbol .. "` expects two conditions, got " .. errors.describe(side)
          .. (type(side) == "boolean" and "; use `column:eq(value)`, because Lua evaluates == to true or false"
            or type(side) == "string" and ("; use perilune.sql(%q)"):format(side)
            or type(side) == "table" and getmetatable(side) == nil and "; use `column:eq(value)`" or ""))
      end
    end
    if left == nil or right == nil then raise("argument", "`" .. symbol .. "`: a condition is nil") end
    return join(shape_with_shape(left.shape, op, right.shape), left, right)
  end
end

define_connective("__band", "and", "&")
define_connective("__bor", "or", "|")

function metatable.__bnot(self) return unary(self, "not") end

-- Errors for misuse ------------------------------------------------------------------------------------------------------

function metatable.__newindex(_, name)
  raise("readonly", "an expression is immutable: cannot set `" .. tostring(name) .. "`")
end

--- Makes `<` or `<=` raise an error, because Lua converts their result to a boolean. Lua calls the same metamethods for `>` and `>=`.
local function define_comparison_error(event, symbols, method, mirrored)
  metatable[event] = function(left, right)
    local is_mirrored = not is_expression(left)
    local column, other = left, right
    if is_mirrored then column, other = right, left end
    -- Some expressions cannot be shown, because their SQL depends on the request in which they are used.
    local is_shown, text = pcall(tostring, column)
    local name = column.shape.op == "column" and "Class.c." .. tostring(column.shape.detail) or is_shown and "(" .. text .. ")" or "expression"
    local value = type(other) == "number" and tostring(other) or type(other) == "string" and ("%q"):format(other) or "value"
    raise("argument", symbols .. " of Lua return true or false, which is not a condition; comparisons are methods of columns, use `"
      .. name .. ":" .. (is_mirrored and mirrored or method) .. "(" .. value .. ")`")
  end
end

define_comparison_error("__lt", "`<` and `>`", "lt", "gt")
define_comparison_error("__le", "`<=` and `>=`", "le", "ge")

function metatable.__eq(left, right)
  if rawequal(left.shape, right.shape) and left.shape.count == 0 then return true end
  raise("argument", "`==` of Lua returns true or false, which is not a condition; use `column:eq(value)`")
end

function metatable.__call(self)
  raise("argument", tostring(self) .. " is an expression, not a function")
end

function metatable.__len(self)
  raise("argument", "cannot take # of an expression; use `" .. tostring(self) .. ":length()` for the length of text")
end

function marks.inline_sql(expression, excluded)
  return require("perilune.expressions.swift_bridge").inline(expression, excluded)
end

function metatable.__tostring(self) return marks.inline_sql(self) end

return {
  metatable = metatable, join = join, join_all = join_all, collect = collect, of_value = of_value, is_storable = is_storable,
  operand = operand, binary = binary, unary = unary, list_operation = list_operation, check_string = check_string,
  as_column = as_column, check_compared = check_compared, grouped = grouped, typed_parameter = typed_parameter, type_of = type_of, new_shape = shapes.new_shape, slot = slot, shape_of_list = shape_of_list, shape_with_value = shape_with_value,
  shape_with_shape = shape_with_shape,
}
