--- Builds expressions in Swift from shapes, with one function for each operation. This happens when a request that contains the shape is
-- checked or compiled.
--
-- Values become parameters, which are numbered in the order of the request's values. SQL that must not contain parameters, such as table
-- definitions, contains literals instead.

local errors = require "perilune.native.errors"
local native_requests = require "perilune.native.requests"
local native_values = require "perilune.native.values"
local parameters = require "perilune.expressions.parameters"
local native_expressions = require "perilune.native.expressions"

local builders = {}

--- Builds a shape.
-- @tparam table context `db`; `request`, where names are looked up; `next`, the number of the next value; for SQL without
--   parameters, `values` instead of `next`
local function build(shape, context)
  return builders[shape.op](shape, context)
end

local function build_all(shapes, context, first)
  local list = {}
  for index = first or 1, #shapes do list[#list + 1] = build(shapes[index], context) end
  return list
end

function builders.slot(_, context)
  local number = context.next
  context.next = number + 1
  if context.values then return native_expressions.value(native_values.plain(context.values[number])) end
  return native_expressions.parameter(number)
end

--- Parameter names differ from the slots of values, which are numbers.
function builders.parameter(shape) return native_expressions.parameter(parameters.slot(shape)) end

function builders.column(shape, context)
  local owner = shape.owner
  if not context.db then return native_expressions.name(owner and owner:sql_name(shape.detail) or shape.detail) end
  local place, alias, number, association = shape.place, nil, nil, nil
  if type(place) == "string" then alias = place
  elseif place then number, association = place.number, place.name end
  if shape.table then
    return native_expressions.column(context.db, shape.table, shape.detail, alias, number, association, owner and owner:field_names(context.db))
  end
  if shape.common then
    return native_expressions.common_column(shape.common:declaration(context.db), shape.detail, alias, number, association)
  end
  return native_expressions.column_of_request(context.request, shape.detail)
end

for _, op in ipairs{
  "=", "<>", "<", "<=", ">", ">=", "is", "is not", "match", "regexp", "+", "-", "*", "/", "%", "||", "->", "->>",
} do
  builders[op] = function(shape, context)
    local left = build(shape.operands[1], context)
    return native_expressions.binary(op, left, build(shape.operands[2], context))
  end
end

--- Integer division. If the operands are floats, their quotient is truncated to an integer.
builders["//"] = function(shape, context)
  return native_expressions.cast(builders["/"](shape, context), "INTEGER")
end

for _, op in ipairs{ "not", "negate", "is null", "is not null" } do
  builders[op] = function(shape, context) return native_expressions.unary(op, build(shape.operands[1], context)) end
end

--- A chain of thousands of operands is nested on the left side, so it is built in a loop, without recursion.
for _, op in ipairs{ "and", "or" } do
  builders[op] = function(shape, context)
    local chain = {}
    while shape.op == op do
      chain[#chain + 1] = shape.operands[2]
      shape = shape.operands[1]
    end
    local built = build(shape, context)
    for index = #chain, 1, -1 do built = native_expressions.logical(op == "and", built, build(chain[index], context)) end
    return built
  end
end

function builders.between(shape, context)
  return native_expressions.between(table.unpack(build_all(shape.operands, context)))
end

for _, op in ipairs{ "like", "glob" } do
  builders[op] = function(shape, context)
    local left = build(shape.operands[1], context)
    return native_expressions.like(op, left, build(shape.operands[2], context), shape.detail)
  end
end

builders["in"] = function(shape, context)
  local members = build_all(shape.operands, context)
  return native_expressions.is_in(table.remove(members, 1), members)
end

--- Passes the list as JSON, so that the SQL does not depend on its length.
builders["in json"] = function(shape, context)
  return native_expressions.is_in_json(table.unpack(build_all(shape.operands, context)))
end

--- Builds the comparison of a column with a date, by the bounds of a day or by all texts of an instant.
local function build_date(shape, context, is_equal)
  local operands = build_all(shape.operands, context)
  local column = table.remove(operands, 1)
  if shape.detail == "day" then
    local from, to = native_expressions.binary(is_equal and ">=" or "<", column, operands[1]), native_expressions.binary(is_equal and "<" or ">=", column, operands[2])
    return native_expressions.logical(is_equal, from, to)
  end
  if #operands == 1 then return native_expressions.binary(is_equal and "=" or "<>", column, operands[1]) end
  local among = native_expressions.is_in(column, operands)
  return is_equal and among or native_expressions.unary("not", among)
end

builders["date ="] = function(shape, context) return build_date(shape, context, true) end
builders["date <>"] = function(shape, context) return build_date(shape, context, false) end

--- Builds the condition that a column has one of many days. Because of the bounds, SQLite can use an index.
builders["in days"] = function(shape, context)
  local column, first, beyond, days = table.unpack(build_all(shape.operands, context))
  local among = native_expressions.is_in_json(native_expressions.call("substr", { column, native_expressions.value(1), native_expressions.value(10) }, false), days)
  return native_expressions.logical(true, native_expressions.logical(true, native_expressions.binary(">=", column, first), native_expressions.binary("<", column, beyond)), among)
end

function builders.collate(shape, context) return native_expressions.collating(build(shape.operands[1], context), shape.detail) end
function builders.cast(shape, context) return native_expressions.cast(build(shape.operands[1], context), shape.detail:upper()) end
function builders.call(shape, context) return native_expressions.call(shape.detail, build_all(shape.operands, context), false) end
builders["distinct call"] = function(shape, context)
  return native_expressions.call(shape.detail, build_all(shape.operands, context), true)
end
builders["count all"] = function() return native_expressions.count_rows() end

function builders.filter(shape, context)
  return native_expressions.filtering(table.unpack(build_all(shape.operands, context)))
end

--- Builds a named expression of a class.
builders["named expression"] = function(shape, context) return build(shape.operands[1], context) end

local directions = { asc = true, desc = true }
local places_of_nulls = { ["nulls first"] = true, ["nulls last"] = true }

--- Returns the terms of an order as a list of { shape, is_descending, nulls_first or nil }. If a term has several directions, the outermost
-- one applies.
local function read_order(shape)
  local list = {}
  for index, term in ipairs(shape.op == "terms" and shape.operands or { shape }) do
    local direction, place_of_nulls
    while directions[term.op] or places_of_nulls[term.op] do
      if directions[term.op] then direction = direction or term.op else place_of_nulls = place_of_nulls or term.op end
      term = term.operands[1]
    end
    list[index] = { term, direction == "desc", place_of_nulls and place_of_nulls == "nulls first" }
  end
  return list
end

--- Builds the terms of an order from a list of shapes, starting at a position.
local function order_terms(shapes, first, context)
  local terms = {}
  for index, term in ipairs(read_order{ op = "terms", operands = table.move(shapes, first, #shapes, 1, {}) }) do
    local shape, is_descending, nulls_first = table.unpack(term, 1, 3)
    if shape.op == "sql" and not is_descending and nulls_first == nil then
      terms[index] = native_requests.order_text(shape.detail, build_all(shape.operands, context))
    else terms[index] = native_requests.ordering(build(shape, context), is_descending, nulls_first) end
  end
  return terms
end

--- Builds a function that will be called over a window, possibly with a filter.
local function build_function(shape, context)
  if shape.op == "filter" then
    local aggregate = build_function(shape.operands[1], context)
    return native_expressions.filtering(aggregate, table.unpack(build_all(shape.operands, context, 2)))
  end
  if shape.op ~= "call" then return build(shape, context) end
  return native_expressions.call(shape.detail, build_all(shape.operands, context), false, true)
end

--- Builds a function over a window that is given as SQL text.
function builders.over(shape, context)
  return native_expressions.fragment("? OVER (" .. shape.detail .. ")", { build_function(shape.operands[1], context) })
end

function builders.window(shape, context)
  local partition_count, frame = shape.detail:match("^(%d+) (.*)$")
  local operands, partitions = shape.operands, {}
  local made = build_function(operands[1], context)
  for index = 1, math.tointeger(partition_count) do partitions[index] = build(operands[index + 1], context) end
  local orders = order_terms(operands, #partitions + 2, context)
  return native_expressions.over(made, partitions, orders, frame ~= "" and frame or nil)
end

function builders.ordered(shape, context)
  local aggregate = build(shape.operands[1], context)
  return native_expressions.ordered(aggregate, order_terms(shape.operands, 2, context))
end

function builders.case(shape, context)
  local parts = build_all(shape.operands, context)
  local otherwise = shape.detail == "else" and table.remove(parts) or nil
  return native_expressions.choice(parts, otherwise)
end

function builders.sql(shape, context)
  return native_expressions.fragment(shape.detail, build_all(shape.operands, context))
end

builders["named sql"] = function(shape, context)
  local text, names = nil, {}
  for part in (shape.detail .. "\0"):gmatch("(.-)\0") do
    if text then names[#names + 1] = part else text = part end
  end
  return native_expressions.fragment(text, build_all(shape.operands, context), names)
end

local order_only = "in the order of a request"
for op, what in pairs{ asc = "`:asc()`", desc = "`:desc()`", ["nulls first"] = "`:nulls_first()`",
  ["nulls last"] = "`:nulls_last()`" } do
  builders[op] = function() errors.raise("argument", what .. " can only be used " .. order_only) end
end

builders["as"] = function()
  errors.raise("argument", "`:as(name)` can only name a whole selected column; elsewhere, as in group and order, use the expression without it")
end

--- Returns an expression as SQL text without parameters, in which column names are not preceded by table names.
-- @tparam ?function excluded takes the name of a column of perilune.excluded, and returns its SQL; nil if the statement has no excluded row
local function inline(expression, excluded)
  local values = {}
  require("perilune.expressions.expression").collect(expression, values, 0)
  return native_requests.inline(build(expression.shape, { next = 1, values = values, excluded = excluded }))
end

--- Raises unless an expression that contains a request or an association is built for a database.
local function require_database(context)
  if context.db then return end
  errors.raise("argument", "an expression of an association or a request has SQL and a value only in another request, as in "
    .. "Class:annotated_with(expression:as(\"name\")); for the associated rows of one record, use record:association():fetch_count() or "
    .. ":exists()")
end

return {
  build = build, build_all = build_all, build_slot = builders.slot, read_order = read_order, inline = inline,
  require_database = require_database,
  --- Adds builders for operations: functions `f(shape, context)`, by the name of the operation.
  add_builders = require("perilune.runtime.registry").adding_to(builders),
}
