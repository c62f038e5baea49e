--- Iteration over the records of a request in lists, each of which is the page after the previous one.

local checks = require "perilune.runtime.checks"
local database_argument = require "perilune.runtime.database_argument"
local errors = require "perilune.native.errors"
local keyset_pages = require "perilune.requests.keyset_pages"
local pageable = require "perilune.requests.pageable"
local raise = errors.raise

--- The functions that scripts call.
local public = {}

--- Returns whether the script has ordered a request.
local function is_ordered(node)
  while node.parent do
    if node.op == "unordered" then return false end
    if node.op == "order" or node.op == "then order" or node.op == "reversed" then return true end
    node = node.parent
  end
  return false
end

--- Iterates over all records in lists of a given size, ordered by their key: `for records in request:in_batches(500) do`.
-- The loop may change and delete rows.
function public:in_batches(db, size)
  checks.positive("in_batches(size): argument 1", size)
  local node = self.node
  if node.limit or node.offset or node.selects then
    raise("argument", "in_batches: cannot be used with limit, offset or select")
  end
  if is_ordered(node) then
    raise("argument", "in_batches: records are read in the order of their key; use request:unordered():in_batches(...), or "
      .. "rows() for another order")
  end
  pageable.check_has_each_once(self, "in_batches")
  local ordered = self:order(table.unpack(node.root.source:key(node.alias)))
  local cursor, is_done = nil, false
  return function()
    if is_done then return nil end
    local page = keyset_pages.fetch(ordered, "in_batches", db, cursor, size)
    cursor, is_done = page.next, page.next == nil
    return page.records[1] and page.records or nil
  end
end

database_argument.precede(public, "", { in_batches = 1 }, { in_batches = "use `for records in request:in_batches(100) do`" })

return public
