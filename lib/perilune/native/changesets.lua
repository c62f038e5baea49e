---@meta perilune.native.changesets
--- Changesets, as their bytes. Swift (ChangesetBinding.swift) provides them, and checks the bytes each time, before SQLite reads them.

---@class perilune.native.changesets
local changesets = {}

--- Calls a function with the other arguments, and records what it changes in the access of a handle.
---@param handle perilune.database
---@param f function
---@param ... any
---@return string bytes
---@return any ... what the function returns
function changesets.record(handle, f, ...) end

--- Raises unless the bytes are those of a changeset.
---@param bytes string
function changesets.check(bytes) end

--- The changeset that undoes another.
---@param bytes string
---@return string
function changesets.invert(bytes) end

--- The changeset of the changes of two, one after the other.
---@param first string
---@param second string
---@return string
function changesets.concat(first, second) end

--- The changes of rows, with the names that a database has for the columns.
---@param db perilune.database
---@param bytes string
---@return perilune.changed_row[]
function changesets.rows(db, bytes) end

--- Makes the changes in the access of a handle.
---@param handle perilune.database
---@param bytes string
---@param resolve? fun(conflict: perilune.changeset_conflict): "abort"|"omit"|"replace" nil: "abort"
---@param tables? string[] those whose changes are made; all by default
---@return integer applied
---@return integer omitted
---@return string[] touched the tables in the changeset
function changesets.apply(handle, bytes, resolve, tables) end

return changesets
