--- Named expressions of a class, which can be used like columns in filter, order, select, annotated_with and `Class.c`.
--
--     Book.expressions.is_old = Book.c.year:lt(1900)
--     function Book.expressions.age(c) return 2000 - c.year end        -- called on first use; `c`: the columns of the place of use
--     Book:filter{ is_old = true }:order("age"):annotated_with("age")

local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local expression = require "perilune.expressions.expression"
local shapes = require "perilune.expressions.shapes"
local raise = errors.raise

local named_expressions = {}

-- Definitions -------------------------------------------------------------------------------------------------------------------

--- Raises unless the value can be given as a named expression.
local function check_definition(source, name, value)
  if type(name) ~= "string" or not name:match("^[%a_][%w_]*$") then
    raise("argument", "Class.expressions: expected a name of letters, digits and `_`, got " .. errors.describe(name))
  elseif not marks.is_expression(value) and type(value) ~= "function" then
    raise("argument", ("Class.expressions.%s: expected an expression, or a function that gets the columns and returns one, got %s")
      :format(name, errors.describe(value)))
  elseif source:table_column(name) then
    raise("argument", ("Class.expressions.%s: `%s` has a column of this name; use another name"):format(name, source.table))
  end
end

--- Returns the table in which a class defines its expressions. It inherits the expressions of the class that it extends.
-- @param source the source of the class
-- @param ?inherited the definitions of the class that it extends
function named_expressions.new(source, inherited)
  local definitions = setmetatable({}, { __index = inherited and inherited.definitions })
  source.definitions, source.made_expressions = definitions, {}
  return setmetatable({}, {
    __name = "named expressions",
    __index = definitions,
    __newindex = function(_, name, value)
      check_definition(source, name, value)
      definitions[name] = value
      source.made_expressions = {}
    end,
  })
end

--- Returns the names of the expressions of a source.
function named_expressions.names(source)
  local names, definitions = {}, source.definitions
  while definitions do
    for name in next, definitions do names[#names + 1] = name end
    local metatable = getmetatable(definitions)
    definitions = metatable and metatable.__index
  end
  table.sort(names)
  return names
end

-- Use -----------------------------------------------------------------------------------------------------------------------------

--- Returns a shape in which columns of the source's table are replaced by the same columns at a place: an alias or an association.
local function placed(source, shape, place)
  if shape.op == "column" then
    if shape.table ~= source.table or shape.place then return shape end
    return source:column(shape.detail, place).shape
  end
  local operands, is_changed = {}, false
  for index, operand in ipairs(shape.operands) do
    operands[index] = placed(source, operand, place)
    is_changed = is_changed or operands[index] ~= operand
  end
  if not is_changed then return shape end
  local copy = shapes.new_shape(shape.op, operands, shape.detail)
  shapes.set_type(copy, shape.type)
  return copy
end

local function values_of(value, shape)
  local result = { shape = shape }
  expression.collect(value, result, 0)
  return setmetatable(result, expression.metatable)
end

local function make(source, name, definition, place)
  local value = definition
  if type(definition) == "function" then
    value = definition(source:columns_table(place))
    if not marks.is_expression(value) then
      raise("argument", ("Class.expressions.%s: the function must return an expression, got %s"):format(name, errors.describe(value)))
    end
  elseif place then value = values_of(value, placed(source, value.shape, place)) end
  local shape = shapes.new_shape("named expression", { value.shape }, name)
  return expression.join_all(shape, { value })
end

--- Returns the expression with a name, using the columns of a place; nil if none exists.
function named_expressions.find(source, name, place)
  local definition = source.definitions and source.definitions[name]
  if definition == nil then return nil end
  local made = source.made_expressions[place or 1]
  if not made then
    made = {}
    source.made_expressions[place or 1] = made
  end
  if made[name] == nil then
    made[name] = false
    local is_done, result = pcall(make, source, name, definition, place)
    made[name] = is_done and result or nil
    if not is_done then error(result, 0) end
  elseif made[name] == false then
    raise("argument", ("Class.expressions.%s: the expression refers to itself"):format(name))
  end
  return made[name]
end

--- Raises if a name is not a column but a named expression of the class.
function named_expressions.check_column(column, place)
  if column.shape.op == "named expression" then
    raise("argument", ("%s: `%s` is an expression of the class, not a column, and cannot be written"):format(place, column.shape.detail))
  end
  return column
end

return named_expressions
