---@meta perilune.native.schema
--- Schemas of tables, provided by Swift (SchemaBinding.swift).

---@class perilune.table_schema
---@field name string
---@field database string "main", "temp", or the schema name of an attached database
---@field kind "table"|"view"|"virtual"|"shadow"
---@field without_rowid boolean
---@field strict boolean
---@field row_id_names string[] the SQL names of the row id, the usual one first, without those that are names of columns
---@field columns perilune.column_schema[]
---@field primary_key { columns: string[], rowid: boolean }
---@field unique_keys string[][]
---@field distinct_keys string[][] the unique keys whose columns are distinct in all rows by the collations of the columns
---@field has_unlisted_keys boolean whether a unique index is partial or on expressions, and therefore not among `unique_keys`
---@field foreign_keys perilune.foreign_key_schema[]

---@class perilune.column_schema
---@field name string
---@field type string as declared
---@field affinity "integer"|"text"|"blob"|"real"|"numeric"
---@field content? "boolean"|"day"|"date"|"blob" the values of fields, if they differ from the stored ones
---@field not_null boolean
---@field default? string SQL
---@field primary_key? integer the position in the key, counted from 1
---@field generated? "stored"|"virtual"
---@field hidden boolean
---@field collation? string the collation, in upper case for SQLite's own; nil for columns of views

---@class perilune.foreign_key_schema
---@field table string
---@field columns string[]
---@field referenced_columns string[]
---@field on_delete string
---@field on_update string

---@class perilune.native.schema
local native_schema = {}

--- Returns the table with a name. Returns the same object until the schema changes; raises `unknown_table`.
---@param db perilune.database
---@param name string
---@return perilune.table_schema
function native_schema.table(db, name) end

--- Returns the SQL that recreates the schema, statement by statement.
---@param db perilune.database
---@param name? string only this table or view, with its indexes and triggers
---@return string
function native_schema.sql(db, name) end

return native_schema
