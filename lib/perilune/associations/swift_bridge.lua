--- Builds associations in Swift.

local errors = require "perilune.native.errors"
local class_properties = require "perilune.requests.class_properties"
local sources = require "perilune.requests.source"
local raise = errors.raise
local native_associations = require "perilune.native.associations"
local native_expressions = require "perilune.native.expressions"
local request_building = require "perilune.requests.swift_bridge"
local expression_building = require "perilune.expressions.swift_bridge"
local unused = require("perilune.requests.nodes").unused
local steps, builders = {}, {}

local association_building = {}

--- Returns the name of an association, or "?". An association without a name can be derived and joined, but not included, because its rows
-- have no field.
local function name_of(root) return root.name or "?" end

local function require_name(node)
  if node.name or node.root.name then return end
  raise("argument", "the association has no name: store it in a field (Author.books = Author:has_many(Book)), or give it one by "
    .. "association:as(name)")
end

--- Builds the request for all rows of the target class, with the values of its default scope.
local function build_target(root, context)
  local all = root.all or root.is_unscoped and sources.unscoped_request(root.target) or sources.class_request(root.target)
  return request_building.build_node(all.node, { db = context.db, next = unused + 1, values = all })
end

local function build_through(root, context)
  local first, second = root.options.through, root.options.using
  if root.is_unscoped then second = second:unscoped() end
  local function build(association)
    return request_building.build_node(association.node, { db = context.db, next = unused + 1, values = association })
  end
  return native_associations.through(build(first), build(second), name_of(root), root.kind == "has_many", root.tag, root.options.singular,
    root.number)
end

function steps.association(root, _, context)
  if root.options.through then return build_through(root, context) end
  local source = root.owner_source
  local owner = source.class and source.table or source:declaration(context.db)
  return native_associations[root.kind](context.db, owner, build_target(root, context), name_of(root), root.tag, root.options.columns,
    root.options.referenced, root.options.singular, root.number,
    source.class and class_properties.field_names(source.class, context.db))
end

--- Builds the request for the rows associated with a record. The association's values precede the values of the record's columns.
function steps.associated(root, _, context)
  local association = request_building.build_node(root.other, context)
  local values = {}
  for index = 1, #root.casts do
    local value = expression_building.build_slot(nil, context)
    values[index] = root.casts:sub(index, index) == "1" and native_expressions.cast(value, "numeric") or value
  end
  return native_associations.associated(association, values)
end

function steps.named(node, built) return native_associations.named(built, node.detail) end

for op, name in pairs{ include = "including", join = "joining", annotate = "annotating" } do
  for _, strength in ipairs{ "required", "optional" } do
    steps[op .. " " .. strength] = function(node, built, context)
      if op == "include" then require_name(node.other) end
      return native_associations[name](built, request_building.build_node(node.other, context), strength == "required")
    end
  end
end

steps["include all"] = function(node, built, context)
  require_name(node.other)
  return native_associations.including_all(built, request_building.build_node(node.other, context), node.detail)
end

-- Aggregates ------------------------------------------------------------------------------------------------------------------

function builders.association(shape, context)
  expression_building.require_database(context)
  return request_building.build_node(shape.node, context)
end

function builders.aggregate(shape, context)
  return native_expressions.aggregate(expression_building.build(shape.operands[1], context), shape.detail)
end

for _, name in ipairs{ "minimum", "maximum", "sum", "average", "total" } do
  builders["aggregate " .. name] = function(shape, context)
    local association = expression_building.build(shape.operands[1], context)
    local outer = context.request
    context.request = association
    local operand = expression_building.build(shape.operands[2], context)
    context.request = outer
    return native_expressions.aggregate(association, name, operand)
  end
end

request_building.add_steps(steps)
expression_building.add_builders(builders)

--- Builds a new association for the current database, so that mistakes are reported immediately. The tables need not exist yet.
association_building.check = request_building.check

return association_building
