--- Names as SQLite compares them: without regard to the case of ASCII letters.

local names = {}

--- A name in small letters, which are the same for all spellings of it. Bytes that are not ASCII stay as they are, whatever the locale.
names.fold = require("perilune.native.sql").fold

--- Whether two names are spellings of one.
function names.same(left, right)
  return names.fold(left) == names.fold(right)
end

return names
