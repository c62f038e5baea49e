---@meta perilune.native.crashes
--- Points at which tests end the process or the state. Implemented in C (crash_points.c).

---@class perilune.native.crashes
local native = {}

--- Ends the process or the state if a test has chosen this point.
---@param moment string "before" or "after"
---@param name string
function native.point(moment, name) end

--- Describes the current transaction for the reports of crash points.
---@param kind string such as "step"
---@param name? string
function native.label(kind, name) end

return native
