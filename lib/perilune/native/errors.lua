---@meta perilune.native.errors
--- Errors, implemented in Swift (ScriptLibrary.swift) and C (CPeriluneRows/Errors). They report positions in scripts.

---@class perilune.native.errors
local errors = {}

--- Raises an error object.
---@param kind string
---@param message string
---@param fields? table<string, any> the fields of the error object
function errors.raise(kind, message, fields) end

--- Raises an error of kind `unknown_WHAT`, which suggests the nearest of the names.
---@param what string "option", "method", ...
---@param name any
---@param names string[]
function errors.raise_unknown(what, name, names) end

--- Raises an error of kind `unknown_column`, which suggests the nearest of the names.
---@param name any
---@param table_name string
---@param names string[]
function errors.raise_unknown_column(name, table_name, names) end

--- Adds missing fields to an error object; other errors are not changed.
---@param err any
---@param fields table<string, any>
function errors.add_fields(err, fields) end

--- Describes a value in messages: its type and content.
---@param value any
---@return string
function errors.describe(value) end

--- Returns the innermost position in a script.
---@return string? file
---@return integer? line
function errors.position() end

return errors
