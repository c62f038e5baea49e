---@meta perilune.native.rows
--- Rows as tables. C (CPeriluneRows/Rows) provides them.

---@class perilune.native.rows
---@field methods table the methods of rows; runtime/row.lua adds those in Lua
local native_rows = {}

--- The names of the columns of a row, in their order; raises for anything else.
---@param row table
---@return string[]
function native_rows.columns(row) end

--- The metatable of the rows with these columns.
---@param columns string[] it is kept
---@return table
function native_rows.metatable(columns) end

--- A row with these columns and values.
---@param columns string[] it is kept
---@param values table<string, any>
---@param blobs? string marks columns that hold BLOBs, as `blobs` gives it
---@return table
function native_rows.make(columns, values, blobs) end

--- A string with "b" for each column of a row that was fetched as a BLOB; nil if there is none.
---@param row table
---@return string?
function native_rows.blobs(row) end

return native_rows
