--- Tables and lists that a module owns and other modules add to.

local registry = {}

--- Returns a function that adds the members of another table to a table. Existing members with the same names are replaced, because a
-- module is loaded again if its first loading failed (for lack of memory, for example).
function registry.adding_to(members)
  return function(added)
    for name, member in next, added do members[name] = member end
  end
end

--- Returns a function that appends a value to a list.
function registry.appending_to(list)
  return function(value) list[#list + 1] = value end
end

return registry
