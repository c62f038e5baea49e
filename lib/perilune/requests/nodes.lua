--- Nodes: requests without their values. Each node is created only once: equal derivations return the same node.

local interning = require "perilune.expressions.interning"
local with_text, with_other = interning.with_text, interning.with_other

local request_nodes = {}

local unused = require("perilune.runtime.marks").unused_positions
request_nodes.unused = unused

--- The operations that combine the rows of several requests.
request_nodes.compounds = { union = true, ["union all"] = true, intersect = true, except = true }

--- Creates a node. Its fields: `op` and `parent`; the operand that it adds (`shape`, `other` or `detail`); `count`, the
-- position of the last value; and the nodes derived from it, some of which records.derivation reads: `key_node` with its `key_generation`;
-- the lists `strings`, `numbers` and `booleans` for `filter{ column = value }`, by the type of the value and the column; and `by_order`.
local function new_node(parent, op, count)
  if not parent then return { op = op, count = count, plans = {} } end
  local root, is_compound = parent.root, request_nodes.compounds[op]
  -- A combination of several requests does not inherit the alias or the limit of the first one, and has the selected columns instead of the
  -- columns of a table.
  if is_compound then
    return {
      op = op, parent = parent, count = count, root = root, plans = {}, metatable = root.metatable, selects = parent.selects,
      name = parent.name, is_distinct = parent.is_distinct, is_result = parent.is_result or parent.selects,
    }
  end
  return {
    op = op, parent = parent, count = count, root = root, plans = {}, metatable = parent.metatable, selects = parent.selects,
    alias = parent.alias, limit = parent.limit, offset = parent.offset,
    name = parent.name, is_distinct = parent.is_distinct or op == "distinct", is_result = parent.is_result,
  }
end

--- Functions that compile final nodes, which represent statements and have no derivations, by operation.
request_nodes.final = {}

--- Builds a new node in Swift when it is created, so that errors are reported at the line that causes them.
local function checked(node)
  if request_nodes.final[node.op] then return node end
  require("perilune.requests.swift_bridge").check(node)
  return node
end

local function new_with_shape(parent, op, shape)
  local node = new_node(parent, op, parent.count + shape.count)
  node.shape = shape
  if op == "select" then node.selects = true end
  return checked(node)
end

--- Returns the node that adds an expression.
local function node_with_shape(parent, op, shape)
  return with_other(parent, op, shape, new_with_shape)
end

--- For operations whose detail is also stored in a field of the node and its derivations: the name of this field.
local own_details = { alias = "alias", limit = "limit", offset = "offset", named = "name" }

local function new_with_detail(parent, op, detail)
  local node = new_node(parent, op, parent.count)
  node.detail = detail
  if own_details[op] then node[own_details[op]] = detail end
  local make_metatable = op == "alias" and parent.root.make_metatable
  if make_metatable then node.metatable = make_metatable(parent.root.source, detail) end
  return checked(node)
end

--- Returns the node for an operation that is described by text and numbers.
local function node_with_detail(parent, op, detail)
  return with_text(parent, op, detail, new_with_detail)
end

local function new_with_node(parent, _, other, op, detail)
  local node = new_node(parent, op, parent.count + other.count - unused)
  node.other, node.detail = other, detail
  return checked(node)
end

--- Returns the node for an operation with another request or association, whose values are appended.
local function node_with_node(parent, op, other, detail)
  return with_other(parent, op .. " " .. (detail or ""), other, new_with_node, op, detail)
end

--- Derives a node from `parent` in the same way as `model` was derived from its own parent.
function request_nodes.child_like(parent, model)
  if model.shape then return node_with_shape(parent, model.op, model.shape) end
  if model.other then return node_with_node(parent, model.op, model.other, model.detail) end
  return node_with_detail(parent, model.op, model.detail)
end

request_nodes.new_node, request_nodes.with_shape = new_node, node_with_shape
request_nodes.with_detail, request_nodes.with_node = node_with_detail, node_with_node

return request_nodes
