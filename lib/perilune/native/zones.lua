---@meta perilune.native.zones
--- Time zones. Implemented in Swift (ZoneBinding.swift).

---@class perilune.native.zones
local native = {}

--- Raises unless the name is a time zone.
---@param name string
function native.check(name) end

--- Returns the number of seconds by which local time in a valid time zone is ahead of universal time.
---@param name string
---@param moment integer Unix seconds
---@return integer seconds
function native.offset(name, moment) end

return native
