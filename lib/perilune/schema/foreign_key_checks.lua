--- Checks of foreign keys after changes made while they were not enforced.

local checks = require "perilune.runtime.checks"

local foreign_key_checks = {}

--- Returns the tables with foreign keys to a table.
local function children_of(db, schema, name)
  return db:fetch_values([[
    SELECT DISTINCT l.name FROM pragma_table_list AS l, pragma_foreign_key_list(l.name, l.schema) AS k
    WHERE l.schema = ? AND lower(k."table") = lower(?) ORDER BY 1]], schema, name)
end

--- Raises if rows violate a foreign key of a table, or a foreign key that refers to this table.
function foreign_key_checks.check(db, schema, name, place)
  local children = children_of(db, schema, name)
  for _, table_name in ipairs(table.move(children, 1, #children, 2, { name })) do
    local violation = db:fetch_one('SELECT "table", parent FROM pragma_foreign_key_check(?, ?) LIMIT 1', table_name, schema)
    if violation then
      checks.refuse(place, ("rows of `%s` refer to rows of `%s` that do not exist; see db:foreign_key_violations(\"%s\")"):format(
        violation.table, violation.parent, violation.table))
    end
  end
end

return foreign_key_checks
