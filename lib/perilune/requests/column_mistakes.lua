--- Recognizes words of SQL and of other libraries in place of columns, and names the expression that they mean.

local errors = require "perilune.native.errors"

local column_mistakes = {}

local cures = {}
for names, cure in pairs{
  ["count count_all row_count total_count"] = "use perilune.count() for the number of rows",
  ["random rand newid"] = "use the call: \"random()\"",
  ["sum avg average min max total"] = "use an aggregate of a column, as in Class.c.total:sum()",
  ["distinct"] = "use select(\"column\"):distinct()",
  ["row_number rank dense_rank"] = "use the window function, as in perilune.row_number():over{ order_by = \"column\" }",
} do
  for name in names:gmatch("%S+") do cures[name] = cure end
end

--- Raises for a name that is a function. Other names may be misspelled columns.
-- @tparam {string,...} columns the existing names
function column_mistakes.check(name, table_name, columns)
  local _, err = pcall(errors.raise_unknown_column, name, table_name, columns)
  column_mistakes.explain(err)
end

--- Raises an error about an unknown column again, if its name is a function; returns for other errors.
function column_mistakes.explain(err)
  local cure = type(err) ~= "string" and err.kind == "unknown_column" and type(err.name) == "string" and cures[err.name:lower()]
  if cure then errors.raise("unknown_column", err.message .. "; " .. cure, { name = err.name, suggestion = err.suggestion, table = err.table }) end
end

local aggregates = { count = true, sum = true, total = true, avg = true, group_concat = true, json_group_array = true }

--- Returns whether an added column is an aggregate of all rows. With MIN and MAX, SQLite returns the row that has the value.
local function is_aggregate(shape)
  if shape.op == "as" then return is_aggregate(shape.operands[1]) end
  if shape.op ~= "sql" then return shape.op == "count all" or shape.op == "call" and aggregates[shape.detail] == true end
  local text = shape.detail:lower()
  return aggregates[text:match("^%s*([%a_]+)%s*%b()%s*$") or ""] == true
end

--- Returns whether a list of selected columns has a column of the table next to an aggregate.
local function mixes(shapes)
  local has_column, has_aggregate = false, false
  for _, shape in ipairs(shapes) do
    local plain = shape.op == "as" and shape.operands[1] or shape
    if plain.op == "column" then has_column = true
    elseif is_aggregate(plain) then has_aggregate = true
    else return false end
  end
  return has_column and has_aggregate
end

local ungrouped_cure = "; use group(\"column\") for one row of each group, select(...) for the aggregate alone, or "
  .. "Class.association:count() for the rows of each record"

--- Raises if a request adds an aggregate to its columns without grouping rows, because SQLite would return a single, arbitrary row. Columns
-- may be selected with an aggregate if a condition makes them equal.
function column_mistakes.check_aggregates(node)
  local is_added, is_mixed, is_filtered, is_selected = false, false, false, false
  while node do
    local op, shapes = node.op, node.shape and node.shape.operands
    if op == "group" then return end
    is_filtered = is_filtered or op == "filter" or op == "having"
    if op == "annotate" then
      for _, shape in ipairs(shapes) do is_added = is_added or is_aggregate(shape) end
    elseif op == "select" and not is_selected then is_selected, is_mixed = true, mixes(shapes) end
    node = node.parent
  end
  if is_added then errors.raise("argument", "annotated_with: an aggregate of all rows leaves one row" .. ungrouped_cure) end
  if is_mixed and not is_filtered then
    errors.raise("argument", "select: an aggregate of all rows leaves one row, whose columns are arbitrary" .. ungrouped_cure)
  end
end

return column_mistakes
