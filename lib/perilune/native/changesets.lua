---@meta perilune.native.changesets
--- Changesets, represented by their bytes. Implemented in Swift (ChangesetBinding.swift), which checks the bytes before SQLite
-- reads them.

---@class perilune.native.changesets
local changesets = {}

--- Calls a function with the other arguments, and records the changes that it makes in the access of a handle.
---@param handle perilune.database
---@param f function
---@param ... any
---@return string bytes
---@return any ... the results of the function
function changesets.record(handle, f, ...) end

--- Raises unless the bytes are a changeset.
---@param bytes string
function changesets.check(bytes) end

--- Returns the changeset that undoes another one.
---@param bytes string
---@return string
function changesets.invert(bytes) end

--- Returns the changeset with the changes of both, in order.
---@param first string
---@param second string
---@return string
function changesets.concat(first, second) end

--- Returns the changes of rows, with the column names of a database.
---@param db perilune.database
---@param bytes string
---@return perilune.changed_row[]
function changesets.rows(db, bytes) end

--- Applies the changes in the access of a handle.
---@param handle perilune.database
---@param bytes string
---@param resolve? fun(conflict: perilune.changeset_conflict): "abort"|"omit"|"replace" nil: "abort"
---@param tables? string[] the tables to change; all by default
---@return integer applied
---@return integer omitted
---@return string[] touched the tables in the changeset
function changesets.apply(handle, bytes, resolve, tables) end

return changesets
