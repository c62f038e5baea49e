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

--- Returns the tokens of a text as SQLite reads them. Blanks and comments are tokens too, so that the tokens make up the whole text.
---@param text string
---@return perilune.native.sql_token[]
function native_sql.tokens(text) end

--- Returns the positions of a text's placeholders: alternately their beginning and end. If the SQL cannot be part of other SQL, returns nil
--- and the reason.
---@param text string
---@return integer[]? places
---@return string? flaw
function native_sql.placeholders(text) end

return native_sql
