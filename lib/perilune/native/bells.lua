---@meta perilune.native.bells
--- Wakes what waits in any state of this process. Swift (BellBinding.swift) provides it.

---@class perilune.native.bells
local native = {}

--- Calls a function after each ring; rings in the meantime are one call.
---@param name string
---@param f function
---@param keeps_alive boolean whether the script waits for it
---@return integer source
function native.listen(name, f, keeps_alive) end

---@param name string
function native.ring(name) end

return native
