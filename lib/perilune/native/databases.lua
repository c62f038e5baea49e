---@meta perilune.native.databases
--- Databases. C (CPeriluneRows/Queries, Functions) and Swift (DatabaseVerbs.swift) provide them.

---@class perilune.native.databases
---@field methods table the methods of databases and their handles; modules in Lua add others
local databases = {}

--- Defines an SQL function or collation on the connections of a database.
function databases.define(...) end

--- Calls a function with a handle, in a transaction or, inside of one, in a savepoint: what fails is undone.
---@param db perilune.database
---@param f fun(handle: perilune.database, ...): ...
---@param ... any
---@return any ...
function databases.guarded(db, f, ...) end

return databases
