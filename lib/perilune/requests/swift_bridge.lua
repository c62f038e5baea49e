--- Builds requests in Swift from nodes, one step for each derivation. Nodes are built when they are created, so that mistakes are
-- reported at their line, and again after the schema has changed.

local native_expressions = require "perilune.native.expressions"
local native_records = require "perilune.native.records"
local native_schema = require "perilune.native.schema"
local class_properties = require "perilune.requests.class_properties"
local native_requests = require "perilune.native.requests"
local expression_building = require "perilune.expressions.swift_bridge"
local build = expression_building.build

local request_building, builders = {}, {}
local unused = require("perilune.requests.nodes").unused
local steps = {}

-- Nodes inside expressions --------------------------------------------------------------------------------------------------

local build_node

function builders.request(shape, context)
  expression_building.require_database(context)
  return build_node(shape.node, context)
end

function builders.scalar(shape, context) return native_expressions.scalar(build(shape.operands[1], context)) end
function builders.exists(shape, context) return native_expressions.exists(build(shape.operands[1], context)) end

builders["in request"] = function(shape, context)
  local left = build(shape.operands[1], context)
  return native_expressions.is_in_request(left, build(shape.operands[2], context))
end

expression_building.add_builders(builders)

-- Steps ---------------------------------------------------------------------------------------------------------------------

function steps.table(node, _, context)
  local source = node.root.source
  local built = native_requests.table(context.db, source.table, source.class and class_properties.field_names(source.class, context.db))
  if not class_properties.own_key(source.class) then return built end
  local row_id = class_properties.row_id_key(source.class, native_schema.table(context.db, source.table))
  return row_id and native_requests.with_rowid(built, row_id) or built
end

function steps.filter(node, built, context) return native_requests.filter(built, build(node.shape, context)) end
function steps.having(node, built, context) return native_requests.having(built, build(node.shape, context)) end
function steps.none(_, built) return native_requests.none(built) end
function steps.reversed(_, built) return native_requests.reversed(built) end
function steps.unordered(_, built) return native_requests.unordered(built) end
function steps.distinct(_, built) return native_requests.distinct(built) end
function steps.alias(node, built) return native_requests.aliased(built, node.detail) end
function steps.limit(node, built) return native_requests.limit(built, node.limit, node.offset or 0) end
steps.offset = steps.limit
steps["reached by"] = function(node, built)
  local identity = node.detail
  return native_requests.reached_by(built, identity.number, identity.name, identity.leads_back)
end

--- Returns whether a shape that looks like SQL text is the name of a column in a request's result.
local function is_result_column(built, shape)
  if shape.op ~= "sql" or #shape.operands > 0 or shape.detail:find("^[%a_][%w_]*$") then return false end
  return built ~= nil and native_expressions.has_result_column(built, shape.detail)
end

--- Builds one term of an order: an expression, or SQL text, which may contain several terms with their directions.
local function build_term(term, built, context)
  local shape, is_descending, nulls_first = table.unpack(term, 1, 3)
  local is_name = shape.op == "column" and not shape.table and not shape.common or is_result_column(built, shape)
  if not is_name and shape.op == "sql" and not is_descending and nulls_first == nil then
    return native_requests.order_text(shape.detail, expression_building.build_all(shape.operands, context))
  end
  local expression = is_name and native_expressions.order_column(built, shape.detail) or build(shape, context)
  return native_requests.ordering(expression, is_descending, nulls_first)
end

local function order(node, built, context, is_continued)
  local terms = {}
  for index, term in ipairs(expression_building.read_order(node.shape)) do terms[index] = build_term(term, built, context) end
  return native_requests.order(built, terms, is_continued)
end

function steps.order(node, built, context) return order(node, built, context, false) end
steps["then order"] = function(node, built, context) return order(node, built, context, true) end

local function named(shape, context)
  local expressions, names = {}, {}
  for index, term in ipairs(shape.operands) do
    local is_named = term.op == "as" or term.op == "named expression"
    names[index] = is_named and term.detail or false
    expressions[index] = is_result_column(context.request, term) and native_expressions.column_of_request(context.request, term.detail)
      or build(is_named and term.operands[1] or term, context)
  end
  return expressions, names
end

request_building.named = named

function steps.select(node, built, context) return native_requests.select(built, named(node.shape, context)) end
function steps.annotate(node, built, context) return native_requests.annotate(built, named(node.shape, context)) end
function steps.group(node, built, context) return native_requests.group(built, expression_building.build_all(node.shape.operands, context)) end

for _, op in ipairs{ "union", "union all", "intersect", "except" } do
  steps[op] = function(node, built, context) return native_requests.compound(built, op, build_node(node.other, context)) end
end

--- Adds functions that build a step of requests: `f(node, built, context)`, by the operation.
request_building.add_steps = require("perilune.runtime.registry").adding_to(steps)

-- Building --------------------------------------------------------------------------------------------------------------------

--- Builds a node; its values are numbered starting at `context.next`.
function build_node(node, context)
  local chain = {}
  local top = node
  while top.parent do
    chain[#chain + 1] = top
    top = top.parent
  end
  local outer = context.request
  local built = steps[top.op](top, nil, context)
  for index = #chain, 1, -1 do
    local step = chain[index]
    context.request = built
    built = steps[step.op](step, built, context)
  end
  context.request = outer
  return built
end

request_building.build_node = build_node

--- Returns a node built for a database with this schema generation. Values are numbered by their positions.
function request_building.built(node, db, generation)
  if node.generation == generation then return node.built end
  local parent = node.parent
  local context = { db = db, next = unused + 1 }
  local below = parent and request_building.built(parent, db, generation)
  if parent then context.next, context.request = parent.count + 1, below end
  local built = steps[node.op](node, below, context)
  -- The derivations of an unnamed association are not cached, because they change when the association gets a name.
  local is_final = node.root.op ~= "association" or node.root.name ~= nil
  node.built, node.generation = built, is_final and generation or nil
  return built
end

local function build_and_check(node, db)
  native_requests.check_meaning(request_building.built(node, db, native_records.schema_generation(db)), db)
end

--- Builds a new node on the database at hand, so that mistakes are reported now. Its table may not exist yet.
function request_building.check(node)
  local db = class_properties.database_at_hand()
  if not db then return end
  local ok, err = pcall(build_and_check, node, db)
  if not ok and type(err) ~= "string" and err.kind == "unknown_column" then
    -- Another connection may have added it.
    native_records.touch_schema(db)
    ok, err = pcall(build_and_check, node, db)
  end
  if not ok and not (type(err) ~= "string" and err.kind == "unknown_table") then
    require("perilune.requests.column_mistakes").explain(err)
    error(err, 0)
  end
end

return request_building
