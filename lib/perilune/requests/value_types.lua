--- The types of selected values. If a request selects columns of a class, it returns their values in the same types as records of the
-- class: dates, booleans, cases of enums, decoded JSON. Expressions have the type of a column only if their values are values of that
-- column (see shapes.lua).

local native_rows = require "perilune.native.rows"
local shapes = require "perilune.expressions.shapes"
local column_types = require "perilune.schema.column_types"
local record_fields = require "perilune.records.fields"

local value_types = {}

-- Types of columns --------------------------------------------------------------------------------------------------------------

local outputs

local function add_joined(node, list)
  local selected, added = outputs(node.other)
  for _, type in ipairs(selected or {}) do list[#list + 1] = type end
  for _, type in ipairs(added) do list[#list + 1] = type end
end

--- Returns the types of the columns of a common table, which has no class.
local function types_of_source(source)
  local types, is_done, names = {}, pcall(source.names, source)
  for index, name in ipairs(is_done and names or {}) do types[index] = source:column_type(name) or false end
  return types
end

local compounds = { union = true, ["union all"] = true, intersect = true, except = true }

--- Returns a list of types in which each type that differs between two lists is replaced with false.
local function common_types(left, right)
  for index, type in ipairs(left or {}) do left[index] = right and right[index] == type and type or false end
  return left
end

--- Returns two lists of types: for the selected columns, nil if none are selected; and for the columns that annotations add. The type is
-- false for other values.
function outputs(node)
  local steps, selected, added = {}, nil, {}
  while node do
    steps[#steps + 1], node = node, node.parent
  end
  local source = steps[#steps].source
  if source and source.is_common_table then selected = types_of_source(source) end
  for index = #steps, 1, -1 do
    local step = steps[index]
    if step.op == "select" then
      selected = {}
      for position, shape in ipairs(step.shape.operands) do selected[position] = shapes.type_of(shape) or false end
    elseif step.op == "annotate" then
      for _, shape in ipairs(step.shape.operands) do added[#added + 1] = shapes.type_of(shape) or false end
    elseif compounds[step.op] then
      local other_selected, other_added = outputs(step.other)
      selected, added = common_types(selected, other_selected), common_types(added, other_added)
    end
  end
  for index = #steps, 1, -1 do
    if steps[index].op:find("^annotate ") then add_joined(steps[index], added) end
  end
  return selected, added
end

--- Returns the type of the only column of a request, which is used as a value.
function value_types.of_scalar(node)
  local selected = outputs(node)
  return selected and selected[1] or nil
end

-- Readers -------------------------------------------------------------------------------------------------------------------------

--- Returns a function that converts a stored value to the value of a column. Raises if that is impossible.
local function reader_of(type)
  if not type or not type.read then return nil end
  return function(value)
    local converted, message = type.read(value)
    if converted == nil then column_types.fail(type.schema, type.name, message) end
    return converted
  end
end

value_types.reader_of = reader_of

--- Returns the functions that convert the columns of a request by position; nil if none does.
function value_types.by_position(plan)
  if plan.readers == nil then
    local selected, added = outputs(plan.node)
    local readers, has_any = {}, false
    for index, type in ipairs(selected or {}) do readers[index] = reader_of(type) end
    for index, type in ipairs(selected and added or {}) do readers[#selected + index] = reader_of(type) end
    for _ in pairs(readers) do has_any = true end
    plan.readers = has_any and readers or false
  end
  return plan.readers or nil
end

--- Returns the node of the included association whose rows are stored in the given field.
function value_types.node_in(node, kind, field)
  while node do
    local other = node.other
    if other and node.op:find("^include") and (node.op == "include all") == (kind == "all") and (other.name or other.root.name) == field then
      return other
    end
    node = node.parent
  end
end

--- Returns the node of each segment of a plan.
local function nodes_of(plan)
  if not plan.nodes then
    plan.nodes = {}
    for index, segment in ipairs(plan.segments) do
      local parent = segment.parent and plan.nodes[segment.parent]
      plan.nodes[index] = index == 1 and plan.node or parent and value_types.node_in(parent, "one", segment.field) or false
    end
  end
  return plan.nodes
end

value_types.nodes_of = nodes_of

--- Returns the fields of a segment that are converted: pairs of a name and a function.
local function fields_of(plan, index)
  local segment, node, fields, has = plan.segments[index], nodes_of(plan)[index], {}, {}
  if not node then return fields end
  local selected, added = outputs(node)
  local function add(name, type)
    -- If several columns have the same name, the field contains the first of them.
    if not name or has[name] then return end
    has[name] = true
    local read = not name:find("^perilune_carried_") and reader_of(type)
    if read then fields[#fields + 1] = { name, read } end
  end
  local is_chosen = not segment.whole or node.root.source and node.root.source.is_common_table
  for position, type in ipairs(is_chosen and selected or {}) do add(segment.names[position], type) end
  local columns = {}
  for column in pairs(segment.extras) do columns[#columns + 1] = column end
  table.sort(columns)
  if #columns == #added then
    for position, column in ipairs(columns) do add(segment.extras[column], added[position]) end
  end
  return fields
end

local function known_fields(plan, index)
  plan.typed_fields = plan.typed_fields or {}
  local fields = plan.typed_fields[index] or fields_of(plan, index)
  plan.typed_fields[index] = fields
  return fields
end

--- Returns whether fields of a plan's rows are converted.
function value_types.converts(plan) return known_fields(plan, 1)[1] ~= nil end

--- Converts the fields of rows that contain stored values of columns.
-- @tparam ?integer index the segment of the plan, by default the first
function value_types.convert(rows, plan, index)
  for _, field in ipairs(known_fields(plan, index or 1)) do
    local name, read = field[1], field[2]
    for _, row in ipairs(rows) do
      -- `row` is false if the association has no row.
      local value = row and rawget(row, name) or nil
      if value ~= nil then row[name] = read(value) end
    end
  end
  return rows
end

-- Rows --------------------------------------------------------------------------------------------------------------------------

--- Returns, by position, the key under which a row stores each value: the name of the column, or the position if an earlier column has the
-- same name.
local function keys_of(row)
  local keys, has = {}, {}
  for position, name in ipairs(native_rows.columns(row)) do
    keys[position] = has[name] and position or name
    has[name] = true
  end
  return keys
end

--- Returns a function that converts a row, and returns it. All rows must have the same columns.
-- @tparam {[integer]=function} readers the functions that convert values, by position
function value_types.row_converter(readers)
  local keys
  return function(row)
    keys = keys or keys_of(row)
    for position, read in pairs(readers) do
      local key = keys[position]
      local value = rawget(row, key)
      if value ~= nil then row[key] = read(value) end
    end
    return row
  end
end

--- Converts a list of rows.
-- @tparam ?{[integer]=function} readers
function value_types.convert_rows(rows, readers)
  if not readers or next(readers) == nil then return rows end
  local convert = value_types.row_converter(readers)
  for _, row in ipairs(rows) do convert(row) end
  return rows
end

--- Returns a function for the values of a column in RETURNING if it is declared REAL; nil for other expressions.
local function float_reader(shape, schema)
  local column = shape.op == "as" and shape.operands[1] or shape
  for _, declared in ipairs(column.op == "column" and schema and schema.columns or {}) do
    if declared.name == column.detail and record_fields.is_returned_as_integer(declared) then return record_fields.float_of end
  end
end

--- Converts rows of RETURNING.
-- @tparam {shape,...} terms the shapes of the columns
-- @param ?schema the schema of the table as the class sees it
function value_types.convert_returned(rows, terms, schema)
  local readers = {}
  for position, shape in ipairs(terms) do readers[position] = reader_of(shapes.type_of(shape)) or float_reader(shape, schema) end
  return value_types.convert_rows(rows, readers)
end

return value_types
