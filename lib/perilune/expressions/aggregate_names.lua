--- Default names for aggregates without `as`. Aggregates of associations have names of the same form (AssociationAggregate.swift).

local aggregate_names = {}

local patterns = {
  count = "%s_count", sum = "%s_sum", total = "%s_total", avg = "average_%s", min = "min_%s", max = "max_%s",
}

--- Returns the default name for an aggregate of a column or of all rows; nil for other expressions.
function aggregate_names.of(shape)
  if shape.op == "count all" then return "count" end
  if shape.op ~= "call" and shape.op ~= "distinct call" then return nil end
  local pattern, column = patterns[shape.detail:lower()], shape.operands[1]
  local has_name = #shape.operands == 1 and (column.op == "column" or column.op == "named expression")
  return pattern and has_name and pattern:format(column.detail) or nil
end

return aggregate_names
