---@meta _
---@page Migrations
---Changing the schema step by step, with each step applied once per database.
---
---A database records the names of its applied migrations. Inside a migration, `db`, and records and requests that name no database, use the
---database under migration.

---Makes a migrator.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:migrate(db))  --> 1
---```
---@param options? { folder?: string } a folder of migrations to add first
---@return perilune.migrator
---@raises argument: an option is not valid, or two files have one name; cannot_open: the folder cannot be read; sandbox: the script may not read files
---@module migrations.migrator
function perilune.migrator(options) end

---An ordered list of migrations.
---@class perilune.migrator
---@access any
---@raises argument: an argument has the wrong type
---@field erase_on_schema_change boolean whether to erase a database, with its data, and migrate it again if it differs from the result of its migrations; false by default, meant for development
local migrator = {}

---Adds a migration after the registered ones.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", { down = "DROP TABLE note" }, function(db)
---  db:create_table("note", function(t) t:column("text", "text") end)
---end)
---print(migrator:names()[1])  --> create note
---```
---@param name string the name that databases record; it must never change
---@param options? { foreign_keys?: "deferred"|"immediate"|"disabled", merges?: string[], down?: string|fun(db: perilune.database) } may be left out; foreign keys are checked at the end of the migration by default; `merges` names earlier migrations that this one replaces; `down` undoes it
---@param body string|fun(db: perilune.database, merged?: table<string, true>) SQL or a function
---@raises argument: a migration has this name already; unknown_option: an option does not exist
function migrator:register(name, options, body) end

---Adds the migrations of a folder: files `NAME.sql` (with `NAME.down.sql`) and `NAME.lua`, sorted by name. In SQL files of dbmate, goose or
---sql-migrate, the sections define how to apply and undo the migration.
---```lua
---local migrator = perilune.migrator()
---print((pcall(migrator.register_folder, migrator, "/no/such/folder")))
-----> false
---```
---@param path string
---@raises cannot_open: the folder cannot be read; argument: a migration has the name of a file; sandbox: the script may not read files
function migrator:register_folder(path) end

---Runs the pending migrations, each in its own transaction. If a migration fails, it is rolled back and the run stops; the field
---`migration` of the error is its name.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---migrator:register("add date", "ALTER TABLE note ADD COLUMN made DATE")
---print(table.concat(migrator:migrate(db, "create note"), ", "))
-----> create note
---print(table.concat(migrator:migrate(db), ", "))  --> add date
---```
---@param db? perilune.database the default database unless given
---@param options? string|{ up_to?: string, erase?: string, did_apply?: fun(name: string, seconds: number) } a string is the last migration to run; `erase` is the path of a file that may be erased
---@return string[] names the applied migrations
---@return string[] differences the differences for which the database was erased
---@raises unknown_migration: `up_to` is not registered; argument: the order contradicts the applied migrations
---@access outside blocks of the same database
function migrator:migrate(db, options) end

---Undoes the last applied migration, or all migrations after a given one, by their `down`.
---```lua
---local migrator = perilune.migrator()
---migrator:register(
---  "create note",
---  { down = "DROP TABLE note" },
---  "CREATE TABLE note (text TEXT)"
---)
---migrator:migrate(db)
---print(migrator:migrate_down(db), db:table_exists("note"))
-----> create note	false
---```
---@param db? perilune.database the default database unless given
---@param options? string|{ to?: string, did_undo?: fun(name: string) } a string is the last migration to keep
---@return string? name the migration that was undone last
---@raises migration: the database has not seen `to`, or a migration has no `down`
---@access outside blocks of the same database
function migrator:migrate_down(db, options) end

---Returns the names of the migrations in order.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:names()[1])  --> create note
---```
---@return string[]
---@raises none
function migrator:names() end

---Returns the registered migrations that the database has applied, in order.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:applied(db))  --> 0
---```
---@param db? perilune.database the default database unless given
---@return string[]
---@raises none
function migrator:applied(db) end

---Returns the registered migrations that the database has not applied, in order.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:pending(db)[1])  --> create note
---```
---@param db? perilune.database the default database unless given
---@return string[]
---@raises none
function migrator:pending(db) end

---Returns the applied migrations before the first one that is missing in the database.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:completed(db))  --> 0
---```
---@param db? perilune.database the default database unless given
---@return string[]
---@raises none
function migrator:completed(db) end

---Returns whether the database has applied all migrations.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:has_completed(db))  --> false
---```
---@param db? perilune.database the default database unless given
---@return boolean
---@raises none
function migrator:has_completed(db) end

---Returns the applied migrations that are not registered with this migrator.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:unknown(db))  --> 0
---```
---@param db? perilune.database the default database unless given
---@return string[]
---@raises none
function migrator:unknown(db) end

---Returns whether a later version of the program has migrated the database.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:is_superseded(db))  --> false
---```
---@param db? perilune.database the default database unless given
---@return boolean
---@raises none
function migrator:is_superseded(db) end

---Returns the migrations whose file has changed since the database applied them.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:edited(db))  --> 0
---```
---@param db? perilune.database the default database unless given
---@return string[]
---@raises none
function migrator:edited(db) end

---Returns whether the database differs from an empty database to which its migrations were applied, and the differences.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print((perilune.migrator():has_schema_changes(perilune.queue())))  --> false
---```
---@param db? perilune.database the default database unless given
---@return boolean
---@return string[] differences
---@raises none
function migrator:has_schema_changes(db) end

