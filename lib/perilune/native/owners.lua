---@meta perilune.native.owners
--- Names for states that own rows of a database, such as active runs. Implemented in Swift (OwnerBinding.swift).

---@class perilune.native.owners
local native = {}

--- Returns the name of this state: host, boot, namespace, process, start of the process, number.
---@return string
function native.current() end

---@param name string
---@return boolean? is_alive nil: on another machine
function native.is_alive(name) end

return native
