--- Combines the rows of two requests into one condition: `Book:filter{ year = 1851 } | Book:filter(Book.c.pages:gt(600))`.
--
-- Only conditions can be combined with OR. Everything else that determines the rows of a request (joins, limits, groups, unions,
-- the rows of an association) must be the same in both requests, or an error is raised.

local errors = require "perilune.native.errors"
local native_requests = require "perilune.native.requests"
local expression = require "perilune.expressions.expression"
local subquery = require "perilune.expressions.subquery"
local expression_building = require "perilune.expressions.swift_bridge"
local request = require "perilune.requests.request"
local raise, unused = errors.raise, request.unused

--- Derivations in which the two requests may differ: conditions, orders, and aliases of the same rows.
local is_free = {
  filter = true, none = true, ["or filter"] = true, order = true, ["then order"] = true, reversed = true, unordered = true,
  alias = true, ["reached by"] = true,
}

--- Derivations that affect the rows of only one request, so that no condition can express them.
local obstacles = {
  limit = "a limit", offset = "an offset", group = "groups", having = "a condition on groups", union = "a union",
  ["union all"] = "a union", intersect = "an intersection", except = "a difference",
}

--- Derivations that only the first request may have. They add columns, or change how often a row occurs.
local is_harmless = {
  select = true, annotate = true, distinct = true, ["include all"] = true, ["include optional"] = true, ["annotate optional"] = true,
  ["join optional"] = true,
}

local descriptions = {
  select = "selected columns", annotate = "annotated columns", distinct = "distinct()", ["as of"] = "as_of(...)",
}

local function describe(op)
  if descriptions[op] then return descriptions[op] end
  if op:find("^include") then return "included associations" end
  if op:find("^table join") then return "joins" end
  return op:find("^join") and "joined associations" or "columns of joined associations"
end

--- Returns the derivations of a request that must match the other request, as nodes.
local function structure(self, method)
  local steps, node = {}, self.node
  while node.parent do
    if obstacles[node.op] then
      raise("argument", ("%s: one of the requests has %s, which a condition cannot express; use union(...)"):format(method, obstacles[node.op]))
    elseif not is_free[node.op] then steps[#steps + 1] = node end
    node = node.parent
  end
  return steps
end

local function is_same_shape(left, right)
  if left == right then return true end
  if not left or not right or left.op ~= right.op or left.detail ~= right.detail or left.node ~= right.node or left.table ~= right.table
    or left.place ~= right.place or left.common ~= right.common or #left.operands ~= #right.operands
  then
    return false
  end
  for index, operand in ipairs(left.operands) do
    if not is_same_shape(operand, right.operands[index]) then return false end
  end
  return true
end

--- Returns whether the `count` values of one request after a position equal the values of another request after another position.
local function has_same_values(left, left_start, right, right_start, count)
  for index = 1, count do
    if not rawequal(left[left_start + index], right[right_start + index]) then return false end
  end
  return true
end

--- Returns whether two nodes were derived from their parents in the same way, with the same values.
local function is_same_step(left, left_node, right, right_node)
  local count = left_node.count - left_node.parent.count
  return left_node.op == right_node.op and left_node.detail == right_node.detail and left_node.other == right_node.other
    and is_same_shape(left_node.shape, right_node.shape) and count == right_node.count - right_node.parent.count
    and has_same_values(left, left_node.parent.count, right, right_node.parent.count, count)
end

--- Raises for a step that is missing from the other request.
local function check_steps(self, steps, other, other_steps, method)
  for _, step in ipairs(steps) do
    local is_found = false
    for _, other_step in ipairs(other_steps) do is_found = is_found or is_same_step(self, step, other, other_step) end
    if not is_found then
      raise("argument", ("%s: the requests differ in %s; only their conditions and orders may differ; use union(...)")
        :format(method, describe(step.op)))
    end
  end
end

local function check(self, other, method)
  local own_steps, other_steps = structure(self, method), structure(other, method)
  local needed = {}
  for _, step in ipairs(own_steps) do
    if not is_harmless[step.op] then needed[#needed + 1] = step end
  end
  check_steps(other, other_steps, self, own_steps, method)
  check_steps(self, needed, other, other_steps, method)
  local own_root, other_root = self.node.root, other.node.root
  if own_root.count == unused and other_root.count == unused then return end
  if own_root ~= other_root or not has_same_values(self, unused, other, unused, own_root.count - unused) then
    raise("argument", ("%s: the requests read different rows of `%s`; use union(...)"):format(method, own_root.source.table))
  end
end

require("perilune.requests.swift_bridge").add_steps{ ["or filter"] = function(node, built, context)
  return native_requests.or_filter(built, expression_building.build(node.shape.operands[1], context))
end }

local function require_request(method, given)
  local other = request.of(given)
  if other then return other end
  raise("argument", method .. ": expected a record class or a request, got " .. errors.describe(given)
    .. (type(given) == "table" and getmetatable(given) == nil and "; use request | Class:filter{ ... }" or ""))
end

local either = {}

--- Returns the request for the rows of either request.
-- @tparam string method for messages
function either.of(self, other, method)
  self, other = require_request(method, self), require_request(method, other)
  check(self, other, method)
  local carrier = subquery.carrier(other)
  return request.derive_with(self, "or filter", expression.join_all(expression.shape_of_list("terms", { carrier.shape }), { carrier }))
end

return either
