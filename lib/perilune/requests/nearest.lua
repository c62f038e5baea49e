--- Vector search with an SQLite extension, in the syntax of sqlite-vec: `column MATCH vector AND k = count ORDER BY distance`.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local vectors = require "perilune.runtime.vectors"

--- The functions that scripts call.
local public = {}

--- The largest number of neighbors that sqlite-vec returns.
local most = 4096

--- Returns whether records already have the field `distance`. sqlite-vec hides this column, but other extensions may not.
local function has_distance(request)
  local schema = request.node.root.source:schema()
  for _, column in ipairs(schema and schema.columns or {}) do
    if column.name == "distance" then return not column.hidden end
  end
  return false
end

--- Returns the rows whose vectors are nearest to the given one, nearest first, with the field `distance`.
-- @param column a column of a virtual table, or its name
-- @param vector a list of numbers, or a blob of `perilune.vector`
-- @tparam integer count the maximum number of rows
function public:nearest(column, vector, count)
  if not marks.is_expression(column) and type(column) ~= "string" then
    checks.fail("nearest: argument 1", "expected a column or its name, got " .. errors.describe(column))
  end
  local blob = vectors.blob("nearest: argument 2", vector)
  if math.type(count) ~= "integer" or count < 1 or count > most then
    checks.fail("nearest: argument 3", ("expected an integer from 1 to %d, got %s"):format(most, errors.describe(count)))
  end
  if type(column) == "string" then
    self.node.root.source:column(column)
    column = perilune.column(column)
  end
  local found = self:filter(column:match(blob)):filter(perilune.column("k"):eq(count)):order(perilune.column("distance"))
  return has_distance(self) and found or found:annotated_with(perilune.column("distance"):as("distance"))
end

arity.limit(public, "", { nearest = 3 })

return public
