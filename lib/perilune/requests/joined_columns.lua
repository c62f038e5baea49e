--- Recognizes names of columns that belong to a joined table or a linking table instead of the table of the request.

local errors = require "perilune.native.errors"

local joined_columns = {}

--- Returns the root of the `through` association that links the rows of a request to the request's record; nil if the rows are linked
-- directly.
local function links_of(association)
  local options = association.root.options
  local through = options and options.through
  return through and through.node and through.node.root or nil
end

local function has(source, name) return source and source.column_named and source:column_named(name) ~= nil end

--- Raises for a column of another table that the request reads.
-- @tparam table node the node of the request
function joined_columns.check(node, name)
  local table_name = node.root.source and node.root.source.table
  while node do
    local other = node.other
    local root = other and other.root
    if root and node.op ~= "include all" and has(root.source, name) and (node.op:find("join", 1, true) or node.op:find("include", 1, true)) then
      local association = other.name or root.name
      errors.raise("unknown_column", ("no column `%s` in `%s`; for the column of `%s` use Other.c.%s%s"):format(name, table_name, root.source.table, name,
        association and (", \"%s.%s\" as text, or filter{ [\"%s.%s\"] = value }"):format(root.source.table, name, association, name) or ""), { name = name })
    end
    local links = root and root.options and links_of(other)
    if links and has(links.source, name) then
      errors.raise("unknown_column", ("no column `%s` in `%s`; `%s` has it: use the records of the association %s, as in record:%s()"):format(name,
        table_name, links.source.table, links.name or "with the links", links.name or "links"), { name = name })
    end
    node = node.parent
  end
end

return joined_columns
