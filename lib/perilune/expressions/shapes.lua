--- Shapes: what expressions are that differ in nothing but their values. One is made once: equal ones are the same table.

local expression_shapes = {}
local weak_keys = { __mode = "k" }

--- A shape: `op`, its operands (shapes) in a list, `count` (how many values it has in all), and `detail`, what else tells it from
-- others. Its other fields hold the shapes that were derived from it.
local function new_shape(op, operands, detail)
  local count = op == "slot" and 1 or 0
  for index = 1, #operands do count = count + operands[index].count end
  return { op = op, operands = operands, count = count, detail = detail, with_value = {}, with_shape = {}, alone = {} }
end

--- The shape of one value.
local slot = new_shape("slot", {})

--- The shape of an operator between a shape and a value.
local function shape_with_value(left, op)
  local shape = left.with_value[op]
  if not shape then
    shape = new_shape(op, { left, slot })
    left.with_value[op] = shape
  end
  return shape
end

--- What was made of something by an operation: a table that forgets what is not used any more.
local function made_by(op, tables)
  local made = tables[op]
  if not made then
    made = setmetatable({}, weak_keys)
    tables[op] = made
  end
  return made
end

--- The shape of an operator between two shapes.
local function shape_with_shape(left, op, right)
  local made = made_by(op, left.with_shape)
  local shape = made[right]
  if not shape then
    shape = new_shape(op, { left, right })
    made[right] = shape
  end
  return shape
end

--- The shape of an operator of one operand; `detail` is a string or nil.
local function shape_alone(operand, op, detail)
  local key = detail and op .. " " .. detail or op
  local shape = operand.alone[key]
  if not shape then
    shape = new_shape(op, { operand }, detail)
    operand.alone[key] = shape
  end
  return shape
end

--- Shapes that grow from no other: SQL texts, calls without operands, names. Forgotten when there are too many of them.
local roots, root_count = {}, 0

local function root_shape(key, make)
  local shape = roots[key]
  if not shape then
    if root_count >= 1000 then roots, root_count = {}, 0 end
    shape = make()
    roots[key], root_count = shape, root_count + 1
  end
  return shape
end

--- The shape of an operation over a list of shapes: grown one by one, so that equal lists give the same shape.
local function shape_of_list(op, operands, detail)
  local shape = root_shape(op .. " " .. (detail or "") .. " " .. #operands, function()
    return { branches = setmetatable({}, weak_keys) }
  end)
  for index = 1, #operands do
    local branch = shape.branches[operands[index]]
    if not branch then
      branch = { branches = setmetatable({}, weak_keys) }
      shape.branches[operands[index]] = branch
    end
    shape = branch
  end
  shape.shape = shape.shape or new_shape(op, operands, detail)
  return shape.shape
end

expression_shapes.new_shape, expression_shapes.slot, expression_shapes.made_by = new_shape, slot, made_by
expression_shapes.shape_with_value, expression_shapes.shape_with_shape = shape_with_value, shape_with_shape
expression_shapes.shape_alone, expression_shapes.root_shape = shape_alone, root_shape
expression_shapes.shape_of_list = shape_of_list

return expression_shapes
