---@meta perilune.native.observers
--- Observers of transactions. C (CPeriluneRows/Observers) provides them.

---@class perilune.native.observers
local observers = {}

--- Adds an observer to a database.
---@return userdata handle
function observers.add(...) end

--- Whether an observer of the database is being called: nothing can be executed then.
---@param db perilune.database
---@return boolean
function observers.is_calling(db) end

--- What is equal for equal values, tables compared by what is in them.
---@param ... any
---@return string
function observers.fingerprint(...) end

--- The next notification that waits for the loop; nothing if none does.
function observers.take_notification() end

--- Has a function be called with what did_commit and did_rollback raise.
---@param f fun(err: any)
function observers.set_failure(f) end

return observers
