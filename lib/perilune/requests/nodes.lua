--- Nodes: what requests are that differ in nothing but their values. One is made once, so that equal derivations find it again.

local made_by = require("perilune.expressions.shapes").made_by

local request_nodes = {}

--- The operations that put the rows of several requests together.
request_nodes.compounds = { union = true, ["union all"] = true, intersect = true, except = true }

--- A node: `op` and `parent`, what was added (`shapes`, `detail`), `count` (of all values), and the nodes derived from it.
local function new_node(parent, op, count)
  local root = parent and parent.root
  local node = {
    op = op, parent = parent, count = count, root = root, metatable = parent and parent.metatable,
    by_shape = {}, by_detail = {}, by_column = {}, by_order = {}, plans = {},
  }
  if parent then
    node.alias, node.limit, node.offset, node.selects = parent.alias, parent.limit, parent.offset, parent.selects
    node.name, node.is_distinct = parent.name, parent.is_distinct or op == "distinct"
    -- The rows of several requests put together have the columns that were selected, not those of a table.
    node.is_result = parent.is_result or parent.selects and request_nodes.compounds[op]
  end
  return node
end

--- How nodes are compiled that stand for a statement, and are derived no further: by their operation.
request_nodes.final = {}

--- Before a node is used for the first time Swift builds what it stands for, so that mistakes are told at their line.
local function checked(node)
  if request_nodes.final[node.op] then return node end
  require("perilune.requests.swift_bridge").check(node)
  return node
end

--- The node for one more expression.
local function node_with_shape(parent, op, shape)
  local others = made_by(op, parent.by_shape)
  local node = others[shape]
  if not node then
    node = new_node(parent, op, parent.count + shape.count)
    node.shape = shape
    if op == "select" then node.selects = true end
    others[shape] = checked(node)
  end
  return node
end

--- What nodes and those derived from them keep for themselves.
local own_details = { alias = "alias", limit = "limit", offset = "offset", named = "name" }

--- The node for an operation that text and numbers describe.
local function node_with_detail(parent, op, detail)
  local others = parent.by_detail[op]
  if not others then
    others = {}
    parent.by_detail[op] = others
  end
  local node = others[detail]
  if not node then
    node = new_node(parent, op, parent.count)
    node.detail = detail
    if own_details[op] then node[own_details[op]] = detail end
    local make_metatable = op == "alias" and parent.root.make_metatable
    if make_metatable then node.metatable = make_metatable(parent.root.source, detail) end
    -- Texts and numbers are without end: those that are not used any more must go some time.
    local count = (parent.detail_count or 0) + 1
    if count > 200 then
      others, count = {}, 1
      parent.by_detail = { [op] = others }
    end
    parent.detail_count = count
    others[detail] = checked(node)
  end
  return node
end

--- The node for an operation with another request (or association), whose values come behind.
local function node_with_node(parent, op, other, detail)
  local others = made_by(op .. " " .. (detail or ""), parent.by_shape)
  local node = others[other]
  if not node then
    node = new_node(parent, op, parent.count + other.count)
    node.other, node.detail = other, detail
    others[other] = checked(node)
  end
  return node
end

--- The node that is derived from another one in the same way as `model` is from its parent.
function request_nodes.child_like(parent, model)
  if model.shape then return node_with_shape(parent, model.op, model.shape) end
  if model.other then return node_with_node(parent, model.op, model.other, model.detail) end
  return node_with_detail(parent, model.op, model.detail)
end

request_nodes.new_node, request_nodes.with_shape = new_node, node_with_shape
request_nodes.with_detail, request_nodes.with_node = node_with_detail, node_with_node

return request_nodes
