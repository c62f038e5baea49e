---@meta perilune.native.databases
--- Databases, implemented in C (CPeriluneRows/Queries, Functions) and Swift (DatabaseVerbs.swift).

---@class perilune.native.databases
---@field methods table the methods of databases and their handles; Lua modules add more
---@field statement_methods table the methods of prepared statements
local databases = {}

--- Defines an SQL function or collation on the connections of a database.
function databases.define(...) end

--- Calls a function with a handle, in a transaction or, inside a transaction, in a savepoint, which is rolled back on errors.
---@param db perilune.database
---@param f fun(handle: perilune.database, ...): ...
---@param ... any
---@return any ...
function databases.guarded(db, f, ...) end

--- Calls a function like `guarded`, but with foreign keys not enforced: f(handle, is_enforced, ...). `is_enforced` is whether the database
--- enforces them at other times. The function must check the foreign keys that it may have violated.
---@param db perilune.database
---@param f fun(handle: perilune.database, is_enforced: boolean, ...): ...
---@param ... any
---@return any ...
function databases.unenforced(db, f, ...) end

--- Returns whether a database is a pool, which can make snapshots.
---@param db perilune.database
---@return boolean
function databases.has_snapshots(db) end

--- Sets the function that `db:write` calls with its arguments if the first is a table of options.
---@param f fun(db: perilune.database, options: table, ...): ...
function databases.set_write_options(f) end

return databases
