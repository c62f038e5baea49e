--- Comparisons of date columns with dates. A column stores dates as text, and the same date can be written in several ways (see
-- stored_dates.lua). Therefore a comparison with a day becomes a range, `due >= '2026-03-31' AND due < '2026-04-01'`, and a comparison with
-- an instant lists all its texts. Both can use an index on the column.
--
-- Values that are not dates are compared without conversion, as are expressions that are not date columns.

local date = require("perilune").date
local marks = require "perilune.runtime.marks"
local operators = require "perilune.expressions.operators"
local shapes = require "perilune.expressions.shapes"
local stored_dates = require "perilune.runtime.stored_dates"
local comparison_mistakes = lazily "perilune.expressions.comparison_mistakes"
local join, unary, list_operation = operators.join, operators.unary, operators.list_operation

local date_comparisons = {}

local function compare_unchanged(column, op, value)
  return join(shapes.shape_with_shape(column.shape, op, value.shape), column, value)
end

local function both(left, op, right) return join(shapes.shape_with_shape(left.shape, op, right.shape), left, right) end

-- Operands --------------------------------------------------------------------------------------------------------------------

--- Returns a function that takes the name of one of a date's texts and returns the operand for this text. Returns nil if the value is not a
-- date.
local function texts_of(column_type, value, op)
  if marks.is_expression(value) and value.shape == shapes.slot then
    -- The value is in its stored form already, unless a script has created it from a date.
    if not date.is(value[1]) then return nil end
    value = value[1]
  end
  if marks.is_expression(value) then
    local is_untyped = value.shape.op == "parameter" and not value.shape.convert
    return is_untyped and function(name) return operators.typed_parameter(column_type, value, name) end or nil
  end
  if value == nil or marks.is_request(value) then return nil end
  if column_type.convert then value = column_type.convert(value) end
  local kind = type(value)
  if kind == "string" or kind == "number" or kind == "boolean" then comparison_mistakes.check_date(column_type, value, op) end
  local texts = stored_dates.read(column_type.form, value)
  return texts and function(name) return operators.of_value(texts[name]) end, texts
end

--- The maximum number of texts for the same instant. Only midnight has that many.
local most_spellings = 4

--- Returns operands for all texts of an instant.
local function spellings_of(text, texts)
  local list = {}
  if texts then
    for index, spelling in ipairs(texts.spellings) do list[index] = operators.of_value(spelling) end
  else
    for index = 1, most_spellings do list[index] = text(index) end
  end
  return list
end

--- Returns the comparison `date =` or `date <>`. Its operands are the column and the date's texts. The SQL is built in swift_bridge.lua.
local function equality(op, form, column, operands)
  return list_operation("date " .. op, form, { column, n = #operands + 1, table.unpack(operands) }, "column:eq")
end

date_comparisons.equality = equality

-- Comparisons -----------------------------------------------------------------------------------------------------------------

--- For each operator, the operator and text to use for days and for instants.
local orders = {
  ["<"] = { day = { "<", "first" }, instant = { "<", "first" } },
  [">="] = { day = { ">=", "first" }, instant = { ">=", "first" } },
  ["<="] = { day = { "<", "beyond" }, instant = { "<=", "last" } },
  [">"] = { day = { ">=", "beyond" }, instant = { ">", "last" } },
}

local mirrored = { ["<"] = ">", ["<="] = ">=", [">"] = "<", [">="] = "<=" }

--- Returns the type of a date column; nil for other expressions. Also returns nil for an expression that contains values, because the SQL
-- would have to contain it twice.
local function type_of(column)
  local type = column.shape.count == 0 and shapes.type_of(column.shape)
  return type and type.form and type or nil
end

--- Returns the comparison of a date column with a value; nil if the column does not contain dates or the value is not a date.
-- @tparam string op the SQL operator
function date_comparisons.compare(column, op, value)
  local type = type_of(column)
  local text, texts = nil, nil
  if type then text, texts = texts_of(type, value, op) end
  if not text then return nil end
  local order = orders[op]
  if order then return compare_unchanged(column, order[type.form][1], text(order[type.form][2])) end
  local operands = type.form == "day" and { text("first"), text("beyond") } or spellings_of(text, texts)
  if op == "is" then return both(unary(column, "is not null"), "and", equality("=", type.form, column, operands)) end
  if op == "is not" then return both(unary(column, "is null"), "or", equality("<>", type.form, column, operands)) end
  return equality(op, type.form, column, operands)
end

--- Returns the comparison of a value on the left with a date column on the right; nil if they are not dates.
function date_comparisons.compare_mirrored(value, op, column)
  return date_comparisons.compare(column, mirrored[op] or op, value)
end

--- Returns the condition that a column is between two dates; nil if neither bound is a date.
function date_comparisons.between(column, low, high)
  if not type_of(column) then return nil end
  local from, to = date_comparisons.compare(column, ">=", low), date_comparisons.compare(column, "<=", high)
  if not from and not to then return nil end
  return both(from or operators.binary(column, ">=", low, "column:between"), "and",
    to or operators.binary(column, "<=", high, "column:between"))
end

-- Lists -----------------------------------------------------------------------------------------------------------------------

--- Lists with at least this many days are passed as JSON, so that the SQL does not depend on their length.
local json_threshold = 17

--- Returns the condition that a column has one of many days.
-- @tparam {string,...} days in order
local function in_days(column, days)
  local last = stored_dates.read("day", days[#days])
  local json = '["' .. table.concat(days, '","') .. '"]'
  return list_operation("in days", nil, { column, days[1], last.beyond, json, n = 4 }, "column:is_in")
end

--- Separates the dates in a list from its other values.
-- @return the texts of each date, by its stored text; the stored texts in the order of the list; the other values
local function separate(type, list)
  local by_text, stored, others = {}, {}, {}
  for _, value in ipairs(list) do
    local _, texts = texts_of(type, value, "=")
    if not texts then others[#others + 1] = value
    elseif not by_text[texts.stored] then by_text[texts.stored], stored[#stored + 1] = texts, texts.stored end
  end
  table.sort(stored)
  return by_text, stored, others
end

--- For a date column, returns the stored texts that replace the dates of a list, and a condition for those values of the list that need
-- one. Returns nil for other columns.
function date_comparisons.list(column, list)
  local type = type_of(column)
  if not type then return nil end
  local by_text, stored, others = separate(type, list)
  local rest, conditions = {}, {}
  for _, value in ipairs(others) do
    local condition = date_comparisons.compare(column, "=", value)
    if condition then conditions[#conditions + 1] = condition else rest[#rest + 1] = value end
  end
  if type.form == "day" and #stored >= json_threshold then conditions[#conditions + 1] = in_days(column, stored)
  else
    for _, text in ipairs(stored) do
      local texts = by_text[text]
      if type.form == "instant" then
        for _, spelling in ipairs(texts.spellings) do rest[#rest + 1] = spelling end
      else
        conditions[#conditions + 1] = equality("=", "day", column, { operators.of_value(texts.first), operators.of_value(texts.beyond) })
      end
    end
  end
  local condition = conditions[1]
  for index = 2, #conditions do condition = both(condition, "or", conditions[index]) end
  return rest, condition
end

-- Columns given by name ---------------------------------------------------------------------------------------------------------

--- Returns whether a shape is a column whose table is not specified, such as perilune.column(name).
local function is_bare(shape) return shape.op == "column" and not shape.table and not shape.common and not shape.type end

--- Returns whether a condition compares a column without a table.
local function compares_bare(shape)
  if shape.compares_bare == nil then
    local found = false
    for _, operand in ipairs(shape.operands) do found = found or is_bare(operand) or compares_bare(operand) end
    shape.compares_bare = found
  end
  return shape.compares_bare
end

local compared = { ["="] = true, ["<>"] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true, is = true, ["is not"] = true }

--- Returns a part of an expression as an operand: the value if the part is only a value, otherwise the part itself.
local function operand(part) return part.shape == shapes.slot and part[1] or part end

local function resolve_parts(condition, find)
  local parts, is_changed = {}, false
  for index, part in ipairs(condition.parts) do
    parts[index] = date_comparisons.resolve(part, find)
    is_changed = is_changed or not rawequal(parts[index], part)
  end
  if not is_changed then return condition end
  if condition.shape.op == "not" then return unary(parts[1], "not") end
  return both(parts[1], condition.shape.op, parts[2])
end

--- Returns a condition in which columns without a table are replaced, if they are compared with dates, by the columns of the class with the
-- same names.
-- @tparam function find returns the column of a class by name, or nil
function date_comparisons.resolve(condition, find)
  local shape, parts = condition.shape, rawget(condition, "parts")
  if not compares_bare(shape) then return condition end
  if parts and (shape.op == "and" or shape.op == "or" or shape.op == "not") then return resolve_parts(condition, find) end
  local left, right = shape.operands[1], shape.operands[2]
  local column = is_bare(left) and find(left.detail)
  if column and compared[shape.op] then
    return date_comparisons.compare(column, shape.op, parts and operand(parts[2]) or not parts and condition[1]) or condition
  elseif column and shape.op == "between" then
    return date_comparisons.between(column, operand(parts[2]), operand(parts[3])) or condition
  elseif column and shape.op == "in" then
    local list = {}
    for index = 2, #parts do list[index - 1] = operand(parts[index]) end
    return column:is_in(list)
  end
  column = right and compared[shape.op] and parts and is_bare(right) and find(right.detail)
  return column and date_comparisons.compare_mirrored(operand(parts[1]), shape.op, column) or condition
end

return date_comparisons
