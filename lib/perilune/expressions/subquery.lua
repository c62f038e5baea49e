--- Lists and requests as operands of expressions.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local native_values = require "perilune.native.values"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local raise = errors.raise
local expression = require "perilune.expressions.expression"

local unused = require("perilune.requests.nodes").unused
local subquery = {}

--- Returns the request of a class, or a request itself; nil for other values.
local function request_of(value)
  if type(value) ~= "table" or getmetatable(value) == nil then return nil end
  return marks.request_of and marks.request_of(value)
end

--- Returns the shape of a request that is used as an operand.
local function shape_of(node)
  local shape = node.as_operand
  if not shape then
    shape = expression.new_shape("request", {})
    shape.count, shape.node = node.count - unused, node
    node.as_operand = shape
  end
  return shape
end

--- Returns a request as an expression: a shape for its node, with its values.
local function carrier(request)
  local shape = shape_of(request.node)
  local result = { shape = shape }
  for index = 1, shape.count do result[index] = request[unused + index] end
  return setmetatable(result, expression.metatable)
end

subquery.carrier = carrier

--- Returns a request that selects one column as a scalar expression.
function subquery.scalar(request, place)
  if not request.node.selects then
    raise("argument", place .. ": a request used as a value must select one column; use request:select(\"column\")")
  end
  return expression.unary(carrier(request), "scalar")
end

function subquery.exists(given, place)
  local request = request_of(given)
  if not request then
    raise("argument", place .. ": argument 1: expected a request, got " .. errors.describe(given))
  end
  return expression.unary(carrier(request), "exists")
end

-- Lists -----------------------------------------------------------------------------------------------------------------

--- The maximum number of values in a list: as many as SQLite can bind, minus a reserve for other values in the statement.
local most_values = 200000

--- Lists with at least this many values are passed as JSON, so that the SQL does not depend on their length.
local json_threshold = 17
local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }

local function escape(character)
  return escapes[character] or ("\\u%04x"):format(character:byte())
end

--- Returns a JSON array of integers and texts; nil if the list has any other value, because JSON cannot represent all of them exactly.
local function json_array(values)
  local parts = {}
  for index, value in ipairs(values) do
    local kind = math.type(value) or type(value)
    if kind == "integer" then parts[index] = tostring(value)
    elseif kind == "boolean" then parts[index] = value and "1" or "0"
    elseif kind == "string" and utf8.len(value) and not value:find("\0", 1, true) then
      parts[index] = '"' .. value:gsub('[%c"\\]', escape) .. '"'
    else return nil end
  end
  return "[" .. table.concat(parts, ",") .. "]"
end

local function check_element(value, index, place, convert)
  if value == null then
    raise("argument", place .. ": NULL in a list never compares equal; use `column:is_in(list) | column:is_null()`")
  elseif type(value) == "table" and not convert and not marks.is_expression(value) and not expression.is_storable(value)
    or type(value) == "function" or type(value) == "thread" then
    raise("argument", place .. ": element " .. index .. " of the list: expected a value, got " .. errors.describe(value)
      .. (native_records.class_of(value) and "; use its key, as in record.id, or filter{ association = records }" or ""))
  end
end

--- Raises for a list that contains a value which cannot be compared with the column.
local function check_list(column, list, place)
  local convert = column.shape.convert
  for index = 1, checks.list_length(place, "a list of values", list) do check_element(list[index], index, place, convert) end
end

--- Returns the elements of a list in the column's stored form.
local function stored_elements(column, list)
  local values = {}
  for index, value in ipairs(list) do
    if column.shape.convert then value = expression.as_column(column.shape, value) end
    values[index] = value
  end
  return values
end

local function is_in_request(column, request, place)
  if marks.is_association(request) then
    raise("argument", place .. ": expected a list or a request, got an association")
  end
  return expression.join(expression.shape_with_shape(column.shape, "in request", shape_of(request.node)), column,
    carrier(request))
end

--- Returns the condition that a column has one of several stored values. Some of them may be expressions.
local function in_list(column, list, place)
  local values, is_plain = {}, true
  for index, value in ipairs(list) do
    if marks.is_expression(value) then is_plain = false
    elseif type(value) == "table" or type(value) == "userdata" then value = native_values.plain(value) end
    values[index] = value
  end
  local json = is_plain and #list >= json_threshold and json_array(values)
  if json then return expression.join(expression.shape_with_value(column.shape, "in json"), column, expression.of_value(json)) end
  if #list > most_values then
    raise("argument", place .. ": a list of " .. #list .. " values, not all of which are integers and texts; at most "
      .. most_values .. " are allowed")
  end
  return expression.list_operation("in", nil, table.move(values, 1, #values, 2, { column, n = #values + 1 }), place)
end

--- Returns the condition that a column is in a list or in the result of a request.
function subquery.is_in(column, list, place)
  local request = request_of(list)
  if request then return is_in_request(column, request, place) end
  if type(list) ~= "table" or marks.is_expression(list) or getmetatable(list) ~= nil then
    raise("argument", place .. ": expected a list of values or a request, got " .. errors.describe(list)
      .. (marks.is_expression(list) and list.shape.op == "column" and ("; use a request, as in Other:select(%q)"):format(list.shape.detail)
        or "; use `:eq(value)` for one value"))
  end
  check_list(column, list, place)
  local dates, condition = require("perilune.expressions.date_comparisons").list(column, list)
  if condition and #dates == 0 then return condition end
  local among = in_list(column, dates or stored_elements(column, list), place)
  return condition and among | condition or among
end

return subquery
