--- Checks whether a request can be divided into pages: each record must occur once, in an order that depends only on its row.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local conditions = require "perilune.requests.conditions"
local nodes = require "perilune.requests.nodes"
local page_orders = require "perilune.requests.page_orders"
local raise = errors.raise

local pageable = {}

--- Functions that return a different value on each call.
local random_functions = { random = true, randomblob = true }

--- Raises if a term of the order depends on more than its row, because its value would be different on the page after a cursor.
function pageable.check_is_of_row(method, shape)
  if shape.op == "window" or shape.op == "over" then
    raise("argument", method .. ": the order cannot contain window functions, because their values depend on the rows of the page; "
      .. "use limit and offset, or a common table with the value as a column")
  elseif (shape.op == "call" or shape.op == "distinct call") and random_functions[shape.detail:lower()] then
    raise("argument", ("%s: the order cannot contain %s(), which gives another value each time"):format(method, shape.detail))
  end
  for _, operand in ipairs(shape.operands or {}) do pageable.check_is_of_row(method, operand) end
end

--- Returns whether a join adds at most one row to each row, based on comparisons with a key of the other table.
local function joins_one(node)
  local operands = node.shape.operands
  local other, condition, known = operands[1].node, operands[2], {}
  local source = other.root.source
  local schema = source and source.schema and source:schema()
  if not condition or not schema or node.op ~= "table join inner" and node.op ~= "table join left" then return false end
  conditions.each_equality(condition, 0, function(left, right, _, op)
    -- Several rows may have the same day.
    if op == "date =" then return end
    for _, operand in ipairs{ left, right } do known[page_orders.own_name(other, operand) or false] = true end
  end)
  return page_orders.holds_key(known, schema)
end

--- Returns whether each group is one row of the table, because a key is among the grouped columns.
local function has_group_for_each_row(node)
  local source = node.root.source
  local schema, known = source and source.schema and source:schema(), {}
  for _, operand in ipairs(node.shape.operands) do known[page_orders.own_name(node, operand) or false] = true end
  return schema ~= nil and page_orders.holds_key(known, schema)
end

--- Returns whether an association, or another one joined to its rows, may lead to several rows for a single row.
local function has_several(association)
  if association.root.kind == "has_many" then return true end
  local node = association
  while node.parent do
    if node.other and node.op ~= "include all" and has_several(node.other) then return true end
    node = node.parent
  end
  return false
end

--- Returns whether a value of the order or of a column depends on joined rows of which a record may have several.
-- @tparam table single the numbers of the associations that have at most one row for each row
local function is_of_joined_rows(node, shape, single)
  if shape.op:find("^aggregate") or shape.op == "scalar" or shape.op == "exists" then return false end
  if shape.op == "sql" then return true end
  if shape.op == "column" then
    local is_named = not shape.table and not shape.common
    local is_single = type(shape.place) == "table" and single[shape.place.number]
    return not is_named and not is_single and not page_orders.own_name(node, shape)
  end
  for _, operand in ipairs(shape.operands) do
    if is_of_joined_rows(node, operand, single) then return true end
  end
  return false
end

local function raise_repeated(method)
  raise("argument", method .. ": joined rows may repeat a record, which has one place in the pages; add distinct(), or use "
    .. "filter(Class.association:exists()) in place of the join")
end

--- Determines whether a request may return a record several times. Returns a table with `repeats`, `is_distinct`, `single` (the
-- associations that have at most one row for each row) and `annotations` (the nodes that add columns).
local function find_repetitions(self, method)
  local node, found = self.node, { repeats = false, is_distinct = false, single = {}, annotations = {} }
  while node.parent and not nodes.compounds[node.op] do
    if node.op == "distinct" then found.is_distinct = true
    elseif node.op == "group" then
      if has_group_for_each_row(node) then return nil end
      raise("argument", method .. ": groups of rows have no place in the pages, which contain records; group by the key, or use fetch_all()")
    elseif node.op:find("^table join ") then found.repeats = found.repeats or not joins_one(node)
    elseif node.op == "annotate" then table.insert(found.annotations, node)
    elseif node.other and node.op ~= "include all" then
      if has_several(node.other) then
        found.repeats = true
        if node.op:find("^annotate ") then table.insert(found.annotations, node) end
      else found.single[node.other.root.number] = true end
    end
    node = node.parent
  end
  if node.op == "union all" and not found.is_distinct then
    raise("argument", method .. ": union_all may repeat a record, which has one place in the pages; use union(...), or add distinct()")
  end
  return found
end

--- Raises for a request that groups its rows, or that may repeat records, which their keys cannot distinguish.
-- @tparam ?table terms the terms of the order
function pageable.check_has_each_once(self, method, terms)
  local found, node = find_repetitions(self, method), self.node
  if not found or not found.repeats then return end
  if not found.is_distinct then raise_repeated(method) end
  for _, annotation in ipairs(found.annotations) do
    if not annotation.shape or is_of_joined_rows(node, annotation.shape, found.single) then
      raise("argument", method .. ": columns of joined rows repeat a record, which has one place in the pages, although the rows are "
        .. "distinct; use an aggregate of the association, as in annotated_with(Class.association:max(\"column\"))")
    end
  end
  for _, term in ipairs(terms or {}) do
    if is_of_joined_rows(node, term.column.shape, found.single) then
      raise("argument", method .. ": the order contains a column of joined rows, of which a distinct record may have several; order by "
        .. "an aggregate of the association, as in order(Class.association:min(\"column\"))")
    end
  end
end

--- Raises for an invalid size, and for a request whose rows are not complete records.
function pageable.check(self, method, size)
  checks.positive(method .. ": argument 2", size)
  local node = self.node
  if node.limit or node.offset then raise("argument", method .. ": the size of the page is the limit; remove limit(...)") end
  if node.selects then raise("argument", method .. ": pages contain whole records; remove select(...)") end
end

--- The metatable of pages. It raises for elements and for unknown fields, which would otherwise be nil.
local page_metatable = {
  __name = "page",
  __len = function() raise("argument", "cannot take # of a page; use #page.records") end,
  __index = function(page, name)
    if type(name) ~= "string" then raise("argument", "a page has no elements; use page.records[1], or `for _, record in ipairs(page.records) do`") end
    if (name == "next" or name == "previous") and rawget(page, "number") == nil then return nil end
    local names = {}
    for field in next, page do names[#names + 1] = field end
    require("perilune.runtime.other_names").raise("page", "member", name, names)
  end,
}

--- Returns a page with the given fields.
function pageable.page(fields) return setmetatable(fields, page_metatable) end

return pageable
