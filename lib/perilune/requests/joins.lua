--- Joins on any condition, and derivations that apply only if a value is given.
--
--     local other = Book:aliased("other")
--     Book:join(other, Book.c.year:eq(other.c.year) & Book.c.id:lt(other.c.id)):select(Book.c.title, other.c.title:as("other_title"))
--     Book:filter_given{ year = year, ["author.country"] = country }

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local native_requests = require "perilune.native.requests"
local conditions = require "perilune.requests.conditions"
local expression = require "perilune.expressions.expression"
local subquery = require "perilune.expressions.subquery"
local expression_building = require "perilune.expressions.swift_bridge"
local request = require "perilune.requests.request"
local request_building = require "perilune.requests.swift_bridge"
local marks = require "perilune.runtime.marks"
local class_properties = require "perilune.requests.class_properties"
local raise = errors.raise

--- The functions that scripts call.
local public = {}

-- Joins -----------------------------------------------------------------------------------------------------------------------

--- Returns the name of a class's association that has this name, or leads to a table of this name; nil without one.
local function association_named(source, name)
  local class = source and source.class
  if not class then return nil end
  for _, own in ipairs(class_properties.association_names(class)) do
    local root = class_properties.association(class, own).node.root
    if own == name or root.source and root.source.table == name then return own end
  end
end

local function require_request(method, given, self, condition)
  local other = request.of(given)
  if other then return other end
  local association = type(given) == "string" and condition == nil and association_named(request.of(self).node.root.source, given)
  local cure = association and ("; use joining_%s(Class.%s)"):format(method == "left_join" and "optional" or "required", association)
    or type(given) == "string" and ("; use %s(perilune.record(%q)%s)"):format(method, given, method == "cross_join" and "" or ", condition")
    or marks.is_association(given) and "; use joining_required or joining_optional for an association" or ""
  raise("argument", method .. ": argument 1: expected a record class or a request, got " .. errors.describe(given) .. cure)
end

local kinds = { join = "inner", left_join = "left", right_join = "right", full_join = "full", cross_join = "cross" }

--- Raises for a join condition that does not compare two columns: a column alone, or `{ column = "name of a column" }`, which compares with
-- text.
local function check_condition(method, other, condition)
  local cure = "; use " .. method .. "(Other, Class.c.%s:eq(Other.c.%s))"
  if marks.is_expression(condition) and condition.shape.op == "column" and condition.shape.held ~= "booleans" then
    raise("argument", method .. ": argument 2: expected a condition, got a column" .. cure:format(condition.shape.detail, "id"))
  elseif type(condition) ~= "table" or getmetatable(condition) ~= nil then return end
  for name, value in next, condition do
    if type(value) == "string" and not other.node.is_result and other.node.root.source:column_named(value) then
      raise("argument", ("%s: argument 2: the text %q is a value, not a column"):format(method, value) .. cure:format(name, value))
    end
  end
end

for method, kind in pairs(kinds) do
  local op = "table join " .. kind

  request_building.add_steps{ [op] = function(node, built, context)
    local operands = node.shape.operands
    local other = expression_building.build(operands[1], context)
    return native_requests.join(built, kind, other, operands[2] and expression_building.build(operands[2], context) or nil)
  end }

  --- Pairs each row with each row of another request that satisfies a condition. The conditions of the other request filter its
  -- rows before the join; the conditions of this request filter the joined rows.
  -- @param other a class, or a request for whole rows
  -- @param condition a condition as for `filter`; none for a cross join
  public[method] = function(self, other, condition, ...)
    other = require_request(method, other, self, condition)
    if kind == "cross" then
      if condition ~= nil then arity.refuse(method, 1, condition, "use join(other, condition) for a join with a condition") end
    elseif condition == nil then
      raise("argument", method .. ": argument 2: expected a condition, got nil, as in join(Other, Class.c.other_id:eq(Other.c.id)); "
        .. "use joining_required(Class.association) for an association, cross_join(other) for all pairs of rows")
    elseif type(condition) == "table" and getmetatable(condition) == nil and condition[1] ~= nil then
      raise("argument", method .. ": argument 2: expected a condition, got a list; use " .. method .. "(Other, Class.c.other_id:eq(Other.c.id))")
    end
    if kind ~= "cross" then check_condition(method, other, condition) end
    local carrier = subquery.carrier(other)
    local parts, shapes = { carrier }, { carrier.shape }
    if condition ~= nil then
      parts[2] = conditions.read(self, method, condition, ...)
      shapes[2] = parts[2].shape
    end
    return request.derive_with(self, op, expression.join_all(expression.shape_of_list("terms", shapes), parts))
  end
end

-- Optional derivations ----------------------------------------------------------------------------------------------------------

--- Returns the result of a function that derives a request, if a value is given: neither nil nor false.
-- @param value passed to the function
-- @tparam function derive receives the request and the value, and returns a request
-- @tparam ?function otherwise the function to call if no value is given
function public:when(value, derive, otherwise, surplus)
  if surplus ~= nil then arity.refuse("when", 3, surplus) end
  if type(derive) ~= "function" then
    raise("argument", "when: argument 2: expected a function that gets the request and the value, got " .. errors.describe(derive))
  elseif otherwise ~= nil and type(otherwise) ~= "function" then
    raise("argument", "when: argument 3: expected a function that gets the request, got " .. errors.describe(otherwise))
  end
  local chosen = value and derive or otherwise
  if not chosen then return self end
  local derived = chosen(self, value)
  if getmetatable(derived) == getmetatable(self) or request.of(derived) then return derived end
  raise("argument", "when: the function must return a request derived from its argument, got " .. errors.describe(derived))
end

--- Filters like filter{...}, but ignores values that are nil. An empty table adds no condition.
function public:filter_given(condition, surplus)
  if surplus ~= nil then arity.refuse("filter_given", 1, surplus) end
  if type(condition) ~= "table" or getmetatable(condition) ~= nil then
    raise("argument", "filter_given: expected { column = value, ... }, got " .. errors.describe(condition))
  end
  return next(condition) == nil and self or self:filter(condition)
end

return public
