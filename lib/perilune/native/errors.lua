---@meta perilune.native.errors
--- Errors. Swift (ScriptLibrary.swift) and C (CPeriluneRows/Errors) provide them; they are blamed on the script.

---@class perilune.native.errors
local errors = {}

--- Raises an error object.
---@param kind string
---@param message string
---@param fields? table<string, any> what `err.NAME` gives
function errors.raise(kind, message, fields) end

--- Raises an error of kind `unknown_WHAT`, which names the nearest of the names.
---@param what string "option", "method", ...
---@param name any
---@param names string[]
function errors.raise_unknown(what, name, names) end

--- Raises an error of kind `unknown_column`, which names the nearest of the names.
---@param name any
---@param table_name string
---@param names string[]
function errors.raise_unknown_column(name, table_name, names) end

--- Adds fields to an error object that has not got them; other errors are not changed.
---@param err any
---@param fields table<string, any>
function errors.add_fields(err, fields) end

--- A value for messages: its type, and what it is.
---@param value any
---@return string
function errors.describe(value) end

--- The innermost place in a script.
---@return string? file
---@return integer? line
function errors.position() end

return errors
