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

return column_mistakes
