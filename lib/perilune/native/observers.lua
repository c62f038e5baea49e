---@meta perilune.native.observers
--- Observers of transactions, implemented in C (CPeriluneRows/Observers).

---@class perilune.native.observers
---@field methods table the methods of observers
local observers = {}

--- Adds an observer to a database.
---@return userdata handle
function observers.add(...) end

--- Returns whether an observer of the database is being called. Nothing can be executed in the meantime.
---@param db perilune.database
---@return boolean
function observers.is_calling(db) end

--- Returns a string that is the same for equal values. Tables are compared by their contents.
---@param ... any
---@return string
function observers.fingerprint(...) end

--- Returns the next notification waiting for the loop, or nothing.
function observers.take_notification() end

--- Sets the function that receives errors raised in did_commit and did_rollback.
---@param f fun(err: any)
function observers.set_failure(f) end

return observers
