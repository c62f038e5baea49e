---@meta perilune.native.rows
--- Rows as tables, implemented in C (CPeriluneRows/Rows).

---@class perilune.native.rows
---@field methods table the methods of rows; runtime/row.lua adds Lua methods
local native_rows = {}

--- Returns the names of the columns of a row, in order; raises for any other value.
---@param row table
---@return string[]
function native_rows.columns(row) end

--- Returns the metatable of rows with these columns.
---@param columns string[] kept, not copied
---@return table
function native_rows.metatable(columns) end

--- Returns a row with these columns and values.
---@param columns string[] kept, not copied
---@param values table<string, any>
---@param blobs? string marks columns that contain BLOBs, in the format of `blobs`
---@return table
function native_rows.make(columns, values, blobs) end

--- Returns a string with "b" for each column of a row that was fetched as a BLOB; nil if no column was.
---@param row table
---@return string?
function native_rows.blobs(row) end

--- Sets the function that is called as `f(row, name)` for a name that no column and no method of a row has.
---@param f fun(row: table, name: string): any
function native_rows.set_missing(f) end

--- Sets the function that is called as `f(list, name)` for a name that a fetched list does not have.
---@param f fun(list: table, name: string): any
function native_rows.set_missing_list_field(f) end

return native_rows
