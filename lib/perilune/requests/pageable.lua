--- Which requests have pages: those that have each record once, in an order of what its row has.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local conditions = require "perilune.requests.conditions"
local page_orders = require "perilune.requests.page_orders"
local raise = errors.raise

local pageable = {}

--- Functions that give another value each time.
local random_functions = { random = true, randomblob = true }

--- Raises for a value of the order that depends on more than its row: behind a cursor it would be another one.
function pageable.check_is_of_row(method, shape)
  if shape.op == "window" or shape.op == "over" then
    raise("argument", method .. ": the order cannot contain window functions, whose values depend on the rows of the page; "
      .. "use limit and offset, or a common table with the value as a column")
  elseif (shape.op == "call" or shape.op == "distinct call") and random_functions[shape.detail:lower()] then
    raise("argument", ("%s: the order cannot contain %s(), which gives another value each time"):format(method, shape.detail))
  end
  for _, operand in ipairs(shape.operands or {}) do pageable.check_is_of_row(method, operand) end
end

--- Whether a join has one row at most beside each: by what the condition compares with a key of the other table.
local function joins_one(node)
  local operands = node.shape.operands
  local other, condition, known = operands[1].node, operands[2], {}
  local source = other.root.source
  local schema = source and source.schema and source:schema()
  if not condition or not schema or node.op ~= "table join inner" and node.op ~= "table join left" then return false end
  conditions.each_equality(condition, 0, function(left, right)
    for _, operand in ipairs{ left, right } do known[page_orders.own_name(other, operand) or false] = true end
  end)
  return page_orders.holds_key(known, schema)
end

--- Whether each group is one row of the table: they are made by a key.
local function has_group_for_each_row(node)
  local source = node.root.source
  local schema, known = source and source.schema and source:schema(), {}
  for _, operand in ipairs(node.shape.operands) do known[page_orders.own_name(node, operand) or false] = true end
  return schema ~= nil and page_orders.holds_key(known, schema)
end

--- Raises for a request that may have a record several times, which its key does not tell apart, or has groups of them.
function pageable.check_has_each_once(self, method)
  local node, repeats = self.node, false
  while node.parent do
    if node.op == "distinct" then return end
    if node.op == "group" then
      if has_group_for_each_row(node) then return end
      raise("argument", method .. ": groups of rows have no place in the pages, which contain records; group by the key, or use fetch_all()")
    end
    if node.op:find("^table join ") then repeats = repeats or not joins_one(node)
    elseif node.op == "join required" or node.op == "join optional" then repeats = repeats or node.other.root.kind == "has_many" end
    node = node.parent
  end
  if not repeats then return end
  raise("argument", method .. ": joined rows may repeat a record, which has one place in the pages; add distinct(), or use "
    .. "filter(Class.association:exists()) in place of the join")
end

--- Raises for a size that is none, and for a request whose rows are no whole records, or only some of them.
function pageable.check(self, method, size)
  checks.positive(method .. ": argument 2", size)
  local node = self.node
  if node.limit or node.offset then raise("argument", method .. ": the size of the page is the limit; remove limit(...)") end
  if node.selects then raise("argument", method .. ": pages contain whole records; remove select(...)") end
end

return pageable
