---@meta perilune.native.sql
--- Functions for SQL text, implemented in Swift (ScriptLibrary.swift) with the shared scanner, and in C (CPeriluneRows/Values).

---@class perilune.native.sql
local native_sql = {}

--- Returns a name in lower case as SQLite compares names: only ASCII letters change.
---@param name string
---@return string
function native_sql.fold(name) end

---@class perilune.native.sql_token
---@field kind "blank"|"comment"|"word"|"name"|"string"|"blob"|"number"|"parameter"|"sign"|"flaw"
---@field text string the spelling in the text
---@field name? string for a word or a name: the name without quotes

--- Returns the tokens that SQLite sees in a text, without gaps between them.
---@param text string
---@return perilune.native.sql_token[]
function native_sql.tokens(text) end

--- Returns the positions of a text's placeholders: alternately their beginning and end. Returns nil and the flaw if the SQL cannot
--- be part of other SQL.
---@param text string
---@return integer[]? places
---@return string? flaw
function native_sql.placeholders(text) end

return native_sql
