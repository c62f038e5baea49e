---@meta perilune.native.requests
--- Requests as compiled by Swift (RequestDerivations.swift, RequestCompiling.swift). These functions run for new nodes, and again
--- after schema changes. Functions that derive a request also accept associations.

---@alias perilune.sql_request userdata
---@alias perilune.sql_order userdata

---@class perilune.native.requests
local sql = {}

---@param db perilune.database
---@param name string
---@param field_names? string the names that a record class gives to columns (FieldNames.swift)
---@return perilune.sql_request
function sql.table(db, name, field_names) end

---@param request perilune.sql_request
---@param condition perilune.sql_expression
---@return perilune.sql_request
function sql.filter(request, condition) end

---@param request perilune.sql_request
---@param condition perilune.sql_expression
---@return perilune.sql_request
function sql.having(request, condition) end

---@param request perilune.sql_request
---@return perilune.sql_request
function sql.none(request) end

---@param expression perilune.sql_expression
---@param is_descending? boolean
---@param nulls_first? boolean
---@return perilune.sql_order
function sql.ordering(expression, is_descending, nulls_first) end

---@param text string SQL, possibly with several terms
---@param arguments perilune.sql_expression[]
---@return perilune.sql_order
function sql.order_text(text, arguments) end

---@param request perilune.sql_request
---@param terms perilune.sql_order[]
---@param is_continued boolean whether the terms follow the existing order
---@return perilune.sql_request
function sql.order(request, terms, is_continued) end

---@param request perilune.sql_request
---@return perilune.sql_request
function sql.reversed(request) end

---@param request perilune.sql_request
---@return perilune.sql_request
function sql.unordered(request) end

---@param request perilune.sql_request
---@param limit? integer
---@param offset integer
---@return perilune.sql_request
function sql.limit(request, limit, offset) end

--- Returns a request for the rows that an association leads to. Columns of the association refer to these rows.
---@param request perilune.sql_request
---@param number integer the number of the association
---@param name string
---@param leads_back boolean whether the association leads to the table where it begins
---@return perilune.sql_request
function sql.reached_by(request, number, name, leads_back) end

---@param request perilune.sql_request
---@param name string
---@return perilune.sql_request
function sql.aliased(request, name) end

--- Reads rows from SQL instead of the table. The SQL selects the columns of the table in order.
---@param request perilune.sql_request
---@param sql string
---@param arguments perilune.sql_expression[]
---@return perilune.sql_request
function sql.reading(request, sql, arguments) end

--- Returns a request for the rows that at least one of two requests finds.
---@param request perilune.sql_request
---@param other perilune.sql_request
---@return perilune.sql_request
function sql.or_filter(request, other) end

---@param request perilune.sql_request
---@param kind "inner"|"left"|"right"|"full"|"cross"
---@param other perilune.sql_request
---@param condition? perilune.sql_expression
---@return perilune.sql_request
function sql.join(request, kind, other, condition) end

---@param request perilune.sql_request
---@param expressions perilune.sql_expression[]
---@param names (string|false)[]
---@return perilune.sql_request
function sql.select(request, expressions, names) end

---@param request perilune.sql_request
---@param name string the name of the row id as the key of records
---@return perilune.sql_request
function sql.with_rowid(request, name) end

---@param request perilune.sql_request
---@param expressions perilune.sql_expression[]
---@param names (string|false)[]
---@return perilune.sql_request
function sql.annotate(request, expressions, names) end

---@param request perilune.sql_request
---@param expressions perilune.sql_expression[]
---@return perilune.sql_request
function sql.group(request, expressions) end

---@param request perilune.sql_request
---@return perilune.sql_request
function sql.distinct(request) end

---@param request perilune.sql_request
---@param operator "union"|"union all"|"intersect"|"except"
---@param other perilune.sql_request
---@return perilune.sql_request
function sql.compound(request, operator, other) end

---@param request perilune.sql_request
---@return perilune.sql_request
function sql.nested(request) end

---@param name string
---@param columns string[]|perilune.sql_request
---@return perilune.sql_request declaration
function sql.declare_common_table(name, columns) end

---@param declaration perilune.sql_request
---@param request perilune.sql_request
---@return perilune.sql_request
function sql.define_common_table(declaration, request) end

---@param declaration perilune.sql_request
---@param text string SQL
---@param arguments perilune.sql_expression[]
---@return perilune.sql_request
function sql.define_common_table_by_sql(declaration, text, arguments) end

---@param request perilune.sql_request
---@return string[]
function sql.column_names(request) end

--- A compiled request.
---@class perilune.plan
---@field sql string
---@field slots (integer|string)[] the source of each parameter: the number of a value; 0, the constant at the same position; the name
---  of a parameter; or "keys"
---@field constants table<integer, any>
---@field segments? table[] the columns of each record
---@field booleans integer[] the columns with booleans
---@field key_columns integer[]
---@field numbers_keys boolean
---@field prefetches table[]

---@param request perilune.sql_request
---@param db perilune.database
---@param form string "rows", "first", "count", "exists", or the name of an aggregate
---@param expression? perilune.sql_expression the argument of the aggregate
---@return perilune.plan
function sql.compile(request, db, form, expression) end

---@param request perilune.sql_request
---@param db perilune.database
---@param columns string[]
---@param values perilune.sql_expression[]
---@param policy? string
---@param returning? true|perilune.sql_expression[] true: all columns
---@param names? (string|false)[] the names of the returned expressions
---@return perilune.plan
function sql.compile_update(request, db, columns, values, policy, returning, names) end

---@param request perilune.sql_request the table
---@param db perilune.database
---@param columns string[]
---@param rows perilune.sql_request
---@param policy? string
---@param target? string[] the unique key of an upsert; empty: any
---@param updated string[] the columns that the upsert changes
---@param values perilune.sql_expression[]
---@param condition? perilune.sql_expression
---@param returning? true|perilune.sql_expression[]
---@param names? (string|false)[]
---@return perilune.plan
function sql.compile_insert(request, db, columns, rows, policy, target, updated, values, condition, returning, names) end

---@param request perilune.sql_request
---@param db perilune.database
---@param returning? true|perilune.sql_expression[] true: all columns
---@param names? (string|false)[] the names of the returned expressions
---@return perilune.plan
function sql.compile_delete(request, db, returning, names) end

--- Raises if a request is invalid in a database, for example because a column belongs to several sources.
---@param request perilune.sql_request
---@param db perilune.database
function sql.check_meaning(request, db) end

--- Returns SQL without parameters, for table definitions.
---@param expression perilune.sql_expression
---@return string
function sql.inline(expression) end

return sql
