---@meta perilune.native.crashes
--- Points at which tests kill the process. Implemented in C (crash_points.c).

---@class perilune.native.crashes
local native = {}

---@param moment string "before" or "after"
---@param name string
function native.point(moment, name) end

return native
