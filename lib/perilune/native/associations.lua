---@meta perilune.native.associations
--- Associations as compiled by Swift (AssociationBinding.swift). These functions run for new nodes, and again after schema changes.

---@alias perilune.sql_association userdata

---@class perilune.native.associations
local sql = {}

---@param db perilune.database
---@param origin string|perilune.sql_request a table, or the declaration of a common table
---@param target perilune.sql_request
---@param name string
---@param tag integer identifies it in plans
---@param columns? string[]
---@param referenced? string[]
---@param singular? string
---@param number integer shared by everything derived from it
---@param field_names? string the names that the origin's class gives to columns (FieldNames.swift)
---@return perilune.sql_association
function sql.belongs_to(db, origin, target, name, tag, columns, referenced, singular, number, field_names) end

---@param db perilune.database
---@param origin string|perilune.sql_request a table, or the declaration of a common table
---@param target perilune.sql_request
---@param name string
---@param tag integer identifies it in plans
---@param columns? string[]
---@param referenced? string[]
---@param singular? string
---@param number integer shared by everything derived from it
---@param field_names? string the names that the origin's class gives to columns (FieldNames.swift)
---@return perilune.sql_association
function sql.has_one(db, origin, target, name, tag, columns, referenced, singular, number, field_names) end

---@param db perilune.database
---@param origin string|perilune.sql_request a table, or the declaration of a common table
---@param target perilune.sql_request
---@param name string
---@param tag integer identifies it in plans
---@param columns? string[]
---@param referenced? string[]
---@param singular? string
---@param number integer shared by everything derived from it
---@param field_names? string the names that the origin's class gives to columns (FieldNames.swift)
---@return perilune.sql_association
function sql.has_many(db, origin, target, name, tag, columns, referenced, singular, number, field_names) end

---@param first perilune.sql_association
---@param second perilune.sql_association
---@param name string
---@param is_plural boolean
---@param tag integer identifies it in plans
---@param singular? string
---@param number integer shared by everything derived from it
---@return perilune.sql_association
function sql.through(first, second, name, is_plural, tag, singular, number) end

--- Describes the join of the origin with the association's first table. Returns the columns of the origin; the columns of the table; for
-- each pair, how a value of the origin is compared with the table's column ("plain", "asNumber" or "textsOnly"), and the collation, or
-- false for the column's own; whether the association selects the first of several rows; and the comparisons and collations in the other
-- direction.
---@param association perilune.sql_association
---@return { [1]: string[], [2]: string[], [3]: string[], [4]: (string|false)[], [5]: boolean, [6]: string[], [7]: (string|false)[] }
function sql.columns(association) end

--- Returns the request for the rows that belong to one row.
---@param association perilune.sql_association
---@param values perilune.sql_expression[] the values of the row's columns
---@return perilune.sql_request
function sql.associated(association, values) end

---@param association perilune.sql_association
---@param name string
---@return perilune.sql_association
function sql.named(association, name) end

---@param request perilune.sql_request
---@param association perilune.sql_association
---@param is_required boolean
---@return perilune.sql_request
function sql.including(request, association, is_required) end

---@param request perilune.sql_request
---@param association perilune.sql_association
---@param is_required boolean
---@return perilune.sql_request
function sql.joining(request, association, is_required) end

---@param request perilune.sql_request
---@param association perilune.sql_association
---@param is_required boolean
---@return perilune.sql_request
function sql.annotating(request, association, is_required) end

---@param request perilune.sql_request
---@param association perilune.sql_association
---@param depth? integer the number of times to follow an association of a table to itself
---@return perilune.sql_request
function sql.including_all(request, association, depth) end

return sql
