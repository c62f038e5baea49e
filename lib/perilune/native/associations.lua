---@meta perilune.native.associations
--- Associations as Swift compiles them (AssociationBinding.swift): called when a node is new, or the schema has changed.

---@alias perilune.sql_association userdata

---@class perilune.native.associations
local sql = {}

---@param db perilune.database
---@param origin string|perilune.sql_request a table, or what declares a common table
---@param target perilune.sql_request
---@param name string
---@param tag integer by which plans know it
---@param columns? string[]
---@param referenced? string[]
---@param singular? string
---@param number integer what all that is derived from it shares
---@param field_names? string what the class of the origin calls its columns (FieldNames.swift)
---@return perilune.sql_association
function sql.belongs_to(db, origin, target, name, tag, columns, referenced, singular, number, field_names) end

---@param db perilune.database
---@param origin string|perilune.sql_request a table, or what declares a common table
---@param target perilune.sql_request
---@param name string
---@param tag integer by which plans know it
---@param columns? string[]
---@param referenced? string[]
---@param singular? string
---@param number integer what all that is derived from it shares
---@param field_names? string what the class of the origin calls its columns (FieldNames.swift)
---@return perilune.sql_association
function sql.has_one(db, origin, target, name, tag, columns, referenced, singular, number, field_names) end

---@param db perilune.database
---@param origin string|perilune.sql_request a table, or what declares a common table
---@param target perilune.sql_request
---@param name string
---@param tag integer by which plans know it
---@param columns? string[]
---@param referenced? string[]
---@param singular? string
---@param number integer what all that is derived from it shares
---@param field_names? string what the class of the origin calls its columns (FieldNames.swift)
---@return perilune.sql_association
function sql.has_many(db, origin, target, name, tag, columns, referenced, singular, number, field_names) end

---@param first perilune.sql_association
---@param second perilune.sql_association
---@param name string
---@param is_plural boolean
---@param tag integer by which plans know it
---@param singular? string
---@param number integer what all that is derived from it shares
---@return perilune.sql_association
function sql.through(first, second, name, is_plural, tag, singular, number) end

--- The columns of the origin, and those of the first table that they lead to; how what the origin has stored is compared with the others
-- ("plain", "asNumber" or "textsOnly"), and the collations by which these are compared, where they are not their own; whether the first of
-- several rows is meant; how what the others have stored is compared with the columns of the origin, and the collations of these.
---@param association perilune.sql_association
---@return { [1]: string[], [2]: string[], [3]: string[], [4]: (string|false)[], [5]: boolean, [6]: string[], [7]: (string|false)[] }
function sql.columns(association) end

--- What belongs to one row.
---@param association perilune.sql_association
---@param values perilune.sql_expression[] of the row in its columns
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
---@param depth? integer how often an association of a table to itself is followed
---@return perilune.sql_request
function sql.including_all(request, association, depth) end

return sql
