--- Names as SQLite compares them: without regard to the case of ASCII letters.

local names = {}

--- Returns a name in lower case, which is the same for all its spellings. Bytes outside ASCII are unchanged in every locale.
names.fold = require("perilune.native.sql").fold

--- Returns whether two names are spellings of the same name.
function names.same(left, right)
  return names.fold(left) == names.fold(right)
end

return names
