---@meta perilune.native.blobs
--- Open blobs, implemented in C (CPeriluneRows/Queries/open_blobs.c).

---@class perilune.native.blobs
---@field methods table the methods of open blobs
local blobs = {}

--- Opens a value of a table within the open access; raises without an open access.
---@param db perilune.database
---@param schema string the schema name of the table's database
---@param table string
---@param column string
---@param rowid integer
---@param writes boolean
---@return perilune.open_blob
function blobs.open(db, schema, table, column, rowid, writes) end

return blobs
