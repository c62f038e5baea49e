---@meta perilune.native.blobs
--- Open blobs. C (CPeriluneRows/Queries/open_blobs.c) provides them.

---@class perilune.native.blobs
---@field methods table the methods of open blobs
local blobs = {}

--- Opens a value of a table in the access that is open; raises if none is.
---@param db perilune.database
---@param schema string the name under which the table's database is attached
---@param table string
---@param column string
---@param rowid integer
---@param writes boolean
---@return perilune.open_blob
function blobs.open(db, schema, table, column, rowid, writes) end

return blobs
