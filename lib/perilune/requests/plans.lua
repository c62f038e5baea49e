--- Plans: compiled requests. A plan belongs to a node and is valid for one generation of one database's schema.

local errors = require "perilune.native.errors"
local native_requests = require "perilune.native.requests"
local native_values = require "perilune.native.values"
local raise = errors.raise
local native_records = require "perilune.native.records"
local schema_generation, default_database = native_records.schema_generation, native_records.default_database
local parameters = require "perilune.expressions.parameters"
local request = require "perilune.requests.request"
local request_building = require "perilune.requests.swift_bridge"
local column_mistakes = lazily "perilune.requests.column_mistakes"
local unpack, unused = table.unpack, request.unused

local request_plans = {}

--- The maximum number of values that are passed as separate arguments. More values are passed as one list.
local most_arguments = 100

--- Returns the database for a verb: the given one, else the innermost open access, else the default database.
function request_plans.database_for(db, method)
  if db == nil then return default_database() end
  if native_records.is_database(db) then return db end
  if type(db) == "table" and getmetatable(db) == nil or type(db) == "string" then
    raise("argument", ("%s: argument 1: expected a database, or nothing, got %s; use filter%s:%s() for conditions"):format(method, errors.describe(db),
      type(db) == "string" and "(...)" or "{ column = value }", method))
  end
  raise("argument", method .. ": argument 1: expected a database, or nothing, got " .. errors.describe(db)
    .. (type(db) == "function" and "; use `for record in request:rows() do`" or "")
    .. (type(db) == "number" and ("; use filter_key(%s):%s()"):format(db, method) or ""))
end

local function compile(node, db, form, generation)
  return native_requests.compile(request_building.built(node, db, generation), db, form)
end

--- Computes the properties of a plan that every verb reads.
local function finish(plan, node, generation)
  plan.generation, plan.node = generation, node
  local is_in_order, has_names = #plan.slots == node.count - unused, false
  for index, slot in ipairs(plan.slots) do
    is_in_order = is_in_order and slot == unused + index
    has_names = has_names or type(slot) == "string"
  end
  -- The usual case: records of the class alone.
  local segments = plan.segments
  local is_whole = segments and #segments == 1 and segments[1].whole
  local converts = is_whole and next(segments[1].extras) ~= nil and require("perilune.requests.value_types").converts(plan)
  if is_whole and not (plan.prefetches[1] or plan.booleans[1] or plan.key_columns[1] or converts) then plan.class = node.root.source.class end
  plan.count, plan.has_names = #plan.slots, has_names
  plan.is_in_order = is_in_order and node.count <= most_arguments
  return plan
end

--- The verbs that the row path can run by itself, by the form of their plans.
local compiled_verbs = { rows = "fetch_all", first = "fetch_one" }

--- If the row path can run the verb by itself, stores the plan in the node for the row path to find.
local function keep_compiled(node, form, plan)
  local verb = compiled_verbs[form]
  if not verb then return end
  local can_be = plan.class and not plan.has_names and plan.count <= most_arguments
  node[verb] = can_be
    and native_records.compiled_request(plan.sql, plan.class, plan.generation, plan.slots, plan.constants) or nil
end

--- Returns the plan of a request.
-- @tparam string form "rows", "first", "count", "exists"
function request_plans.plan_of(self, db, form)
  local node = self.node
  local plan = node.plans[form]
  local generation = schema_generation(db)
  if plan and plan.generation == generation then return plan end
  if form == "rows" or form == "first" then column_mistakes.check_aggregates(node) end
  plan = finish((request.final[node.op] or compile)(node, db, form, generation), node, generation)
  node.plans[form] = plan
  keep_compiled(node, form, plan)
  return plan
end

local function raise_parameter(name)
  raise("argument", "the request has the parameter `" .. name .. "`; use request:prepare():fetch_all{ " .. name .. " = ... }")
end

--- Returns the value of a parameter, converted for the column with which it is compared.
local function named_value(slot, named)
  local name, convert = parameters.read(slot)
  local value = named and named[name]
  if value == nil then raise_parameter(name) end
  return convert and convert(value) or value
end

--- Returns the values of a plan's parameters in order, as a list with a field `n`.
local function listed(request, plan, named)
  local list = { n = plan.count }
  for index, slot in ipairs(plan.slots) do
    local value
    if type(slot) == "string" then value = named_value(slot, named)
    elseif slot == 0 then value = plan.constants[index]
    else value = request[slot] end
    list[index] = value
  end
  return list
end

request_plans.listed = listed

--- Returns the value for a slot of a plan, which is a number or the name of a parameter.
function request_plans.value(request, slot)
  if math.type(slot) == "integer" then return request[slot] end
  return named_value(slot, rawget(request, "named"))
end

--- Returns the arguments for a verb of a database: the values themselves, or one list of them.
function request_plans.arguments(request, plan)
  if plan.is_in_order then return unpack(request, unused + 1, unused + plan.count) end
  local list = listed(request, plan, rawget(request, "named"))
  if plan.count == 0 then return end
  return list
end

--- Returns the values of a plan's parameters as multiple results.
function request_plans.values(request, plan)
  local list = listed(request, plan, rawget(request, "named"))
  return unpack(list, 1, list.n)
end

local function literal(value)
  return require("perilune.runtime.sql_text").literal(native_values.plain(value))
end

--- Returns the SQL with its values written into it, for people to read.
function request_plans.text(request)
  local plan = request_plans.plan_of(request, default_database(), "rows")
  local index = 0
  return (plan.sql:gsub("%?%d*", function()
    index = index + 1
    local slot = plan.slots[index]
    if type(slot) == "string" then return ":" .. parameters.read(slot) end
    if slot == 0 then return literal(plan.constants[index]) end
    return literal(request[slot])
  end))
end

return request_plans
