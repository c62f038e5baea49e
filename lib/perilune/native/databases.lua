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

--- Calls a function as `guarded` does, while foreign keys are not enforced: f(handle, is_enforced, ...), where `is_enforced` is whether
--- they are otherwise. The function checks those that it may have broken.
---@param db perilune.database
---@param f fun(handle: perilune.database, is_enforced: boolean, ...): ...
---@param ... any
---@return any ...
function databases.unenforced(db, f, ...) end

--- Sets the function that `db:write` calls with its arguments when the first of them is a table of options.
---@param f fun(db: perilune.database, options: table, ...): ...
function databases.set_write_options(f) end

return databases
