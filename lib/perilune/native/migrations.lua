---@meta perilune.native.migrations
--- Migrations. Swift (MigrationBinding.swift) provides them.

---@class perilune.native.migrations
local functions = {}

--- A migrator: its functions by name, as ScriptMigrator.swift lists them.
function functions.make() end

--- The files of a folder, in their order.
---@param path string
---@return { name: string, path: string, is_sql: boolean, text: string, down: string? }[]
function functions.folder(path) end

--- Runs the text of a file, which may not use a database; returns what it returns.
---@param text string
---@param name string
---@return any ...
function functions.load(text, name) end

return functions
