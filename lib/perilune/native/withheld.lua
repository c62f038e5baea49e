---@meta perilune.native.withheld
--- The effects outside of the database that a host withholds from its scripts. Implemented in Swift (ScriptLibrary.swift).

---@class perilune.native.withheld
---@field files boolean writing files
---@field programs boolean running programs
---@field native boolean loading native modules
local withheld = {}

return withheld
