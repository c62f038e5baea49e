---@meta perilune.native.copies
--- Copies of whole databases. Swift (DatabaseCopies.swift) provides them.

---@class perilune.native.copies
local copies = {}

--- Copies a database over another one.
---@param source perilune.database
---@param target perilune.database
---@param pages integer how many are copied at a time
---@param pause number seconds to wait between two steps
---@param progress? fun(completed: integer, total: integer) called after each step
function copies.backup(source, target, pages, pause, progress) end

return copies
