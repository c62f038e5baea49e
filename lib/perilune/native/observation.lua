---@meta perilune.native.observation
--- Observations of values, implemented in Swift (ObservationBinding.swift). An *observer* notices transactions that may have changed the
--- values that were read last.

---@class perilune.native.observation
local native = {}

---@param db perilune.database
---@return userdata observer
---@return perilune.database object the handle's database, if a handle was given
function native.start(db) end

--- Calls a function, and observes the values that it reads.
---@param observer userdata
---@param f function
---@return any ...
function native.read(observer, f) end

--- Makes the loop call a function after each signal of an observer.
---@param observer userdata
---@param f function
---@param on_error? fun(err: any)
---@param keeps_alive boolean whether the script waits for the observation
---@param knows_first? boolean whether the current value is known
function native.push(observer, f, on_error, keeps_alive, knows_first) end

--- Returns the place for `loop.wait` to wait for changes.
---@param observer userdata
---@return integer
function native.pull(observer) end

---@param observer userdata
function native.stop(observer) end

--- Pauses an observation for a number of seconds, and then signals a possible change.
---@param observer userdata
---@param seconds number
function native.pause(observer, seconds) end

--- Holds back the signals of an observer until it is resumed.
---@param observer userdata
function native.suspend(observer) end

--- Resumes an observer, and immediately signals a possible change.
---@param observer userdata
function native.resume(observer) end

--- Signals a possible change to an observer.
---@param observer userdata
function native.signal(observer) end

--- Returns whether an observer has signaled a possible change since the last call.
---@param observer userdata
---@return boolean
function native.take_signal(observer) end

--- Returns whether rows may have changed since the last call; false if only the schema has changed.
---@param observer userdata
---@return boolean
function native.take_row_changes(observer) end

--- Returns whether a table is one of Perilune's own.
---@param name string
---@return boolean
function native.is_own_table(name) end

---@param observer userdata
---@return boolean
function native.is_active(observer) end

--- Checks periodically whether another process has written to the database.
---@param observer userdata
---@param db perilune.database
---@param seconds number
function native.poll(observer, db, seconds) end

--- Notifies all observers, including Swift observers, that tables may have changed.
---@param handle perilune.database
---@param names string[]
function native.notify(handle, names) end

--- Returns how many deliveries, each triggered by the previous one, led to the current one.
---@param observer userdata
---@return integer
function native.take_chain(observer) end

--- Sets the position of the current delivery in its chain; 0 outside of a chain.
---@param position integer
function native.set_chain(position) end

--- Signals that notifications of observers are waiting to be read.
---@return boolean is_open whether the loop reads them
function native.signal_notifications() end

--- Makes the loop call a function when observers must be notified of transactions by other writers.
---@param f function
function native.open_notifications(f) end

return native
