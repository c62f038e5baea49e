---@meta perilune.native.migrations
--- Migrations, implemented in Swift (MigrationBinding.swift).

---@class perilune.native.migrations
local functions = {}

--- Makes a migrator: its functions by name, as listed in ScriptMigrator.swift.
function functions.make() end

--- Returns the files of a folder, in order.
---@param path string
---@return { name: string, path: string, is_sql: boolean, text: string, down: string? }[]
function functions.folder(path) end

--- Runs the text of a file, which may not use a database; returns its results.
---@param text string
---@param name string
---@return any ...
function functions.load(text, name) end

return functions
