---@meta perilune.native.sql
--- The text of SQL. Swift (ScriptLibrary.swift) provides it, over the one scanner, and C (CPeriluneRows/Values).

---@class perilune.native.sql
local native_sql = {}

--- A name in lower case as SQLite compares names: only ASCII letters.
---@param name string
---@return string
function native_sql.fold(name) end

---@class perilune.native.sql_token
---@field kind "blank"|"comment"|"word"|"name"|"string"|"blob"|"number"|"parameter"|"sign"|"flaw"
---@field text string as it stands in the text
---@field name? string of a word or a name: the name without quotes

--- The tokens that SQLite sees in a text, which follow each other without gaps.
---@param text string
---@return perilune.native.sql_token[]
function native_sql.tokens(text) end

--- Where the placeholders of a text are: where the first begins and ends, and so on. Nil and what the SQL contains if it cannot
--- stand inside other SQL.
---@param text string
---@return integer[]? places
---@return string? flaw
function native_sql.placeholders(text) end

return native_sql
