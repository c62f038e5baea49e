---@meta perilune.native.zones
--- Time zones. Implemented in Swift (ZoneBinding.swift).

---@class perilune.native.zones
local native = {}

--- Raises unless the name is a time zone.
---@param name string
function native.check(name) end

--- Returns how far the clocks in a valid time zone are ahead of universal time.
---@param name string
---@param moment integer Unix seconds
---@return integer seconds
function native.offset(name, moment) end

return native
