---@meta perilune.native.expressions
--- Expressions as compiled by Swift (ExpressionBinding.swift). These functions run for new shapes, and again after schema changes.

---@alias perilune.sql_expression userdata

---@class perilune.native.expressions
local sql_expressions = {}

---@param value any
---@return perilune.sql_expression
function sql_expressions.value(value) end

---@param name integer|string the number of a value in the request, or the name of a parameter
---@return perilune.sql_expression
function sql_expressions.parameter(name) end

---@param db perilune.database
---@param table_name string
---@param name string
---@param alias? string selects one of several sources of the table
---@param number? integer without an alias: the number of the association that leads to the table
---@param association? string the association's name
---@param field_names? string the names that a record class gives to columns (FieldNames.swift)
---@return perilune.sql_expression
function sql_expressions.column(db, table_name, name, alias, number, association, field_names) end

---@param declaration perilune.sql_request the declaration of a common table
---@param name string
---@param alias? string selects one of several sources of the table
---@param number? integer without an alias: the number of the association that leads to the table
---@param association? string the association's name
---@return perilune.sql_expression
function sql_expressions.common_column(declaration, name, alias, number, association) end

--- Returns a name without a table, for table definitions.
---@param name string
---@return perilune.sql_expression
function sql_expressions.name(name) end

---@param request perilune.sql_request
---@param name string a column of its table, or a selected one
---@return perilune.sql_expression
function sql_expressions.column_of_request(request, name) end

--- Returns `excluded.column`, for the assignments of an upsert.
---@param request perilune.sql_request the table
---@param name string
---@return perilune.sql_expression
function sql_expressions.excluded(request, name) end

---@param request perilune.sql_request
---@param name string
---@return boolean
function sql_expressions.has_result_column(request, name) end

---@param request perilune.sql_request
---@param name string a column of its table, or of its result
---@return perilune.sql_expression
function sql_expressions.order_column(request, name) end

---@param operator string
---@param left perilune.sql_expression
---@param right perilune.sql_expression
---@return perilune.sql_expression
function sql_expressions.binary(operator, left, right) end

---@param operator string
---@param operand perilune.sql_expression
---@return perilune.sql_expression
function sql_expressions.unary(operator, operand) end

---@param is_and boolean
---@param left perilune.sql_expression
---@param right perilune.sql_expression
---@return perilune.sql_expression
function sql_expressions.logical(is_and, left, right) end

---@param value perilune.sql_expression
---@param low perilune.sql_expression
---@param high perilune.sql_expression
---@return perilune.sql_expression
function sql_expressions.between(value, low, high) end

---@param operator "like"|"glob"
---@param text perilune.sql_expression
---@param pattern perilune.sql_expression
---@param escape? string one character
---@return perilune.sql_expression
function sql_expressions.like(operator, text, pattern, escape) end

---@param operand perilune.sql_expression
---@param collation string
---@return perilune.sql_expression
function sql_expressions.collating(operand, collation) end

---@param operand perilune.sql_expression
---@param type_name string
---@return perilune.sql_expression
function sql_expressions.cast(operand, type_name) end

---@param name string the name of an SQL function
---@param arguments perilune.sql_expression[]
---@param is_distinct? boolean
---@param gets_window? boolean whether `over` is called next
---@return perilune.sql_expression
function sql_expressions.call(name, arguments, is_distinct, gets_window) end

--- Returns the value of a function over a window.
---@param made perilune.sql_expression an aggregate, or a function such as rank
---@param partitions perilune.sql_expression[]
---@param orders perilune.sql_order[]
---@param frame? string SQL
---@return perilune.sql_expression
function sql_expressions.over(made, partitions, orders, frame) end

--- Returns an aggregate that takes its rows in an order.
---@param aggregate perilune.sql_expression
---@param orders perilune.sql_order[]
---@return perilune.sql_expression
function sql_expressions.ordered(aggregate, orders) end

--- COUNT(*)
---@return perilune.sql_expression
function sql_expressions.count_rows() end

---@param aggregate perilune.sql_expression
---@param condition perilune.sql_expression
---@return perilune.sql_expression
function sql_expressions.filtering(aggregate, condition) end

--- CASE
---@param parts perilune.sql_expression[] alternating conditions and results
---@param otherwise? perilune.sql_expression
---@return perilune.sql_expression
function sql_expressions.choice(parts, otherwise) end

---@param text string SQL
---@param arguments perilune.sql_expression[]
---@param names? string[] the names of the arguments
---@return perilune.sql_expression
function sql_expressions.fragment(text, arguments, names) end

---@param operand perilune.sql_expression
---@param members perilune.sql_expression[]
---@return perilune.sql_expression
function sql_expressions.is_in(operand, members) end

---@param operand perilune.sql_expression
---@param json perilune.sql_expression a JSON array
---@return perilune.sql_expression
function sql_expressions.is_in_json(operand, json) end

---@param operand perilune.sql_expression
---@param request perilune.sql_request
---@return perilune.sql_expression
function sql_expressions.is_in_request(operand, request) end

---@param request perilune.sql_request
---@return perilune.sql_expression
function sql_expressions.exists(request) end

---@param request perilune.sql_request
---@return perilune.sql_expression
function sql_expressions.scalar(request) end

---@param association perilune.sql_association
---@param name string
---@param operand? perilune.sql_expression
---@return perilune.sql_expression
function sql_expressions.aggregate(association, name, operand) end

return sql_expressions
