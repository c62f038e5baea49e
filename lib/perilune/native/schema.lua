---@meta perilune.native.schema
--- What tables look like. Swift (SchemaBinding.swift) provides it.

---@class perilune.table_schema
---@field name string
---@field database string "main", "temp", or the name under which it is attached
---@field kind "table"|"view"|"virtual"|"shadow"
---@field without_rowid boolean
---@field strict boolean
---@field row_id_names string[] the names that SQL has for the row id, the usual one first; none that a column has
---@field columns perilune.column_schema[]
---@field primary_key { columns: string[], rowid: boolean }
---@field unique_keys string[][]
---@field distinct_keys string[][] those of them whose columns no two rows have equal, by the collations of the columns
---@field foreign_keys perilune.foreign_key_schema[]

---@class perilune.column_schema
---@field name string
---@field type string as declared
---@field affinity "integer"|"text"|"blob"|"real"|"numeric"
---@field content? "boolean"|"date"|"blob" what fields hold, unless that is just what is stored
---@field not_null boolean
---@field default? string SQL
---@field primary_key? integer its position in the key, from 1
---@field generated? "stored"|"virtual"
---@field hidden boolean
---@field collation? string by which it compares, upper case for those of SQLite; nil for columns of views

---@class perilune.foreign_key_schema
---@field table string
---@field columns string[]
---@field referenced_columns string[]
---@field on_delete string
---@field on_update string

---@class perilune.native.schema
local native_schema = {}

--- The table of a name, the same one until the schema changes it; raises `unknown_table`.
---@param db perilune.database
---@param name string
---@return perilune.table_schema
function native_schema.table(db, name) end

--- The SQL that makes the schema again, one statement after the other.
---@param db perilune.database
---@param name? string only this table or view, with its indexes and triggers
---@return string
function native_schema.sql(db, name) end

return native_schema
