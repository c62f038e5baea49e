--- Shapes: expressions without their values. Equal shapes are the same table, because shapes are interned.

local interning = require "perilune.expressions.interning"
local with_text, with_other = interning.with_text, interning.with_other

local expression_shapes = {}

--- Returns a new shape with an operator, its operands (shapes), and a `detail` that distinguishes it from other shapes with the same
-- operands. Its field `count` is the number of values that its expressions have.
local function new_shape(op, operands, detail)
  local count = op == "slot" and 1 or 0
  for index = 1, #operands do count = count + operands[index].count end
  return { op = op, operands = operands, count = count, detail = detail }
end

--- Sets the type of an expression's values; see `classes.column_type`.
local function set_type(shape, type)
  shape.type = type
  if type then shape.convert, shape.is_json = type.convert, type.is_json end
end

--- Operators whose result is a value of their first operand; and below, functions for which the same is true.
local keeping = { ["as"] = true, ["named expression"] = true, filter = true, window = true, over = true, collate = true, ordered = true }
local keeping_functions = { first_value = true, last_value = true, nth_value = true, lag = true, lead = true,
  likely = true, unlikely = true }

--- Returns the type of an expression's values, if it is a column or a function that returns a value of a column; nil for other expressions.
-- The minimum or maximum of several arguments has no type, because any of the arguments may be the result.
local type_of
function type_of(shape)
  while not shape.type do
    if shape.op == "scalar" then return expression_shapes.type_of_request(shape.operands[1].node) end
    if shape.op == "aggregate minimum" or shape.op == "aggregate maximum" then return type_of(shape.operands[2]) end
    local count = shape.op == "call" and #shape.operands or 0
    local keeps = keeping[shape.op] or count > 0 and keeping_functions[shape.detail]
      or count == 1 and (shape.detail == "min" or shape.detail == "max")
    if not keeps then return nil end
    shape = shape.operands[1]
  end
  return shape.type
end

--- The shape of a single value.
local slot = new_shape("slot", {})

local function new_pair(left, op, right) return new_shape(op, { left, right }) end

--- Returns the shape of an operator between two shapes.
local function shape_with_shape(left, op, right)
  return with_other(left, op, right, new_pair)
end

--- Returns the shape of an operator between a shape and a value.
local function shape_with_value(left, op)
  return with_other(left, op, slot, new_pair)
end

local function new_alone(operand, op, detail) return new_shape(op, { operand }, detail) end

--- Returns the shape of an operator with one operand. `detail` is a string or nil.
local function shape_alone(operand, op, detail)
  return with_text(operand, op, detail, new_alone)
end

--- The origin of all shapes without operands: SQL text, calls without arguments, and names.
local roots = { text_limit = 1000 }

local function new_root(_, op, detail) return new_shape(op, {}, detail) end

--- Returns the shape of an operator without operands. `detail` is a string or nil.
local function root_shape(op, detail)
  return with_text(roots, op, detail, new_root)
end

--- The origin of shapes with a list of operands. Each operand is one step of the derivation, so that equal lists lead to the same shape.
local lists = { text_limit = 1000 }

local function new_branch() return {} end

--- Returns the shape of an operation with a list of operands.
local function shape_of_list(op, operands, detail)
  local branch = with_text(lists, op .. " " .. #operands, detail, new_branch)
  for index = 1, #operands do branch = with_other(branch, "next", operands[index], new_branch) end
  branch.shape = branch.shape or new_shape(op, operands, detail)
  return branch.shape
end

expression_shapes.new_shape, expression_shapes.slot = new_shape, slot
expression_shapes.set_type, expression_shapes.type_of = set_type, type_of
expression_shapes.shape_with_value, expression_shapes.shape_with_shape = shape_with_value, shape_with_shape
expression_shapes.shape_alone, expression_shapes.root_shape = shape_alone, root_shape
expression_shapes.shape_of_list = shape_of_list

return expression_shapes
