---@meta perilune.native.bells
--- Wakes listeners in all states of this process. Implemented in Swift (BellBinding.swift).

---@class perilune.native.bells
local native = {}

--- Calls a function after each ring; rings in quick succession cause a single call.
---@param name string
---@param f function
---@param keeps_alive boolean whether the script waits for rings
---@return integer source
function native.listen(name, f, keeps_alive) end

---@param name string
function native.ring(name) end

--- Returns the name of the bell for a database in memory, which several states may share.
---@param state string the name of this state
---@return string
function native.memory(state) end

return native
