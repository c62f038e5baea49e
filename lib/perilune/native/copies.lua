---@meta perilune.native.copies
--- Copies of whole databases, implemented in Swift (DatabaseCopies.swift).

---@class perilune.native.copies
local copies = {}

--- Copies a database over another one.
---@param source perilune.database
---@param target perilune.database
---@param pages integer the number of pages to copy at a time
---@param pause number the seconds between two steps
---@param progress? fun(completed: integer, total: integer) called after each step
function copies.backup(source, target, pages, pause, progress) end

return copies
