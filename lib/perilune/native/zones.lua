---@meta perilune.native.zones
--- Time zones. Swift (ZoneBinding.swift) provides them.

---@class perilune.native.zones
local native = {}

--- Raises unless it is the name of a time zone.
---@param name string
function native.check(name) end

--- How far the clocks of a zone that was checked are ahead of universal time.
---@param name string
---@param moment integer Unix seconds
---@return integer seconds
function native.offset(name, moment) end

return native
