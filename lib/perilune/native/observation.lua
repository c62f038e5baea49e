---@meta perilune.native.observation
--- Observations of values. Swift (ObservationBinding.swift) provides them. An *observer* notices transactions that may have changed
-- what was read last.

---@class perilune.native.observation
local native = {}

---@param db perilune.database
---@return userdata observer
---@return perilune.database object that of the database, if a handle was given
function native.start(db) end

--- Calls a function, and observes what it reads.
---@param observer userdata
---@param f function
---@return any ...
function native.read(observer, f) end

--- Has the loop call a function after each change.
---@param observer userdata
---@param f function
---@param on_error? fun(err: any)
---@param keeps_alive boolean whether the script waits for it
---@param knows_first? boolean whether what is there now is known
function native.push(observer, f, on_error, keeps_alive, knows_first) end

--- The place where to wait for changes.
---@param observer userdata
---@return integer
function native.pull(observer) end

---@param observer userdata
function native.stop(observer) end

--- Pauses an observation for some time; then it signals that the value may be new.
---@param observer userdata
---@param seconds number
function native.pause(observer, seconds) end

--- Has an observer signal nothing until it is resumed.
---@param observer userdata
function native.suspend(observer) end

--- Has it signal again: at once, that the value may be new.
---@param observer userdata
function native.resume(observer) end

--- Has it signal that the value may be new.
---@param observer userdata
function native.signal(observer) end

--- Whether an observer has signalled, since the last call, that the value may be new.
---@param observer userdata
---@return boolean
function native.take_signal(observer) end

--- Whether a table is one of those in which Perilune keeps what it does.
---@param name string
---@return boolean
function native.is_own_table(name) end

---@param observer userdata
---@return boolean
function native.is_active(observer) end

--- Checks periodically whether another process has written.
---@param observer userdata
---@param db perilune.database
---@param seconds number
function native.poll(observer, db, seconds) end

--- Notifies all observers, including those of Swift, that tables may have changed.
---@param handle perilune.database
---@param names string[]
function native.notify(handle, names) end

--- How many deliveries have led to this one.
---@param observer userdata
---@return integer
function native.take_chain(observer) end

--- The position of the delivery that goes on in its chain; 0: none does.
---@param position integer
function native.set_chain(position) end

--- Has the notifications of observers read.
---@return boolean is_open whether something reads them
function native.signal_notifications() end

--- Has the loop call a function when observers are to be notified of transactions of others.
---@param f function
function native.open_notifications(f) end

return native
