---@meta perilune.native.sql
--- The text of SQL. Swift (ScriptLibrary.swift) provides it, over the one scanner.

---@class perilune.native.sql
local native_sql = {}

--- Where the placeholders of a text are: where the first begins and ends, and so on. Nil and what the SQL contains if it cannot
--- stand inside other SQL.
---@param text string
---@return integer[]? places
---@return string? flaw
function native_sql.placeholders(text) end

return native_sql
