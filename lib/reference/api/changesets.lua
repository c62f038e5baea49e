---@meta _
---@page Changesets
---Row changes as values: recorded, inspected, inverted, joined, saved, and applied to the same database or another one.
---
---A changeset holds, for each row, its table, its key, and the values before and after. It contains net changes: a row that is inserted and
---then deleted does not appear. Tables need a `PRIMARY KEY`; virtual tables and tables with generated columns cannot be recorded. Nor can
---tables with a synchronized full-text table, to which their triggers write.

---@class perilune.database
local db = {}

---The change of one row.
---@class perilune.changed_row
---@field table string
---@field operation "insert"|"update"|"delete"
---@field key table<string, any> the values of the key's columns
---@field old? table<string, any> the old values; for an update, only the key and the changed columns. NULL is `perilune.null`
---@field new? table<string, any> the new values; for an update, only the changed columns

---A conflict that prevents a change.
---@class perilune.changeset_conflict: perilune.changed_row
---@field kind "data"|"not_found"|"conflict"|"constraint" the row has other values; it does not exist; a row with its key exists; the change violates another constraint
---@field found? table<string, any> the conflicting row, for the kinds `"data"` and `"conflict"`

---@alias perilune.changeset_resolution "abort"|"omit"|"replace"

---Calls a block in a transaction, or in a savepoint inside one, and records the changed rows of the main database.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("UPDATE book SET title = 'Omoo' WHERE id = 1")
---end)
---for _, row in ipairs(changeset:rows()) do
---  print(row.operation, row.table, row.old.title, row.new.title)
---end
-----> update	book	Typee	Omoo
---```
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return perilune.changeset
---@return any ... the results of the block
---@raises unrecordable: a changed table cannot be recorded, or an observer with `on_change` was added during the recording; recording_too_large: the changes take too much memory; readonly: the surrounding block may only read; yield: the block waits
---@access any
---@module databases.changesets
function db:record_changes(block, ...) end

---Applies the changes of a changeset, or none of them, in a transaction, or in a savepoint inside one. Triggers and foreign key actions
---such as ON DELETE CASCADE do not run, because the changeset already contains their changes. A history of this database thus gets no
---versions of the changes; `history:install(db)` adds them afterwards.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("UPDATE tag SET name = 'lake' WHERE name = 'sea'")
---end)
---print(db:apply_changes(changeset:inverted()))  --> 1	0
---print(db:fetch_value("SELECT COUNT(*) FROM tag WHERE name = 'sea'"))  --> 1
---```
---@param changeset perilune.changeset
---@param options? { conflict?: perilune.changeset_resolution|table<string, perilune.changeset_resolution>|(fun(conflict: perilune.changeset_conflict): perilune.changeset_resolution), tables?: string|string[] } `conflict`: the resolution of conflicts: a word, `"abort"` by default, words by kind of conflict, or a function that must not use the database; `tables`: the tables to change, all by default
---@return integer applied the number of applied changes
---@return integer omitted the number of omitted changes
---@raises conflict: a change conflicts, and the resolution is `"abort"`; changeset_schema: a table is missing, or has other columns or another key; constraint_foreign_key: a row would refer to a missing row; unknown_resolution: the resolution does not exist; unknown_option: an option does not exist; argument: `"replace"` is not possible for the conflict, or an argument has the wrong type; readonly: the surrounding block may only read
---@access any
---@module databases.changesets
function db:apply_changes(changeset, options) end

---Reads a changeset from the string that `changeset:serialize` returned. The string does not need to be trusted.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("DELETE FROM tag")
---end)
---print(perilune.changeset(changeset:serialize()) == changeset)  --> true
---```
---@param bytes string
---@return perilune.changeset
---@raises malformed_changeset: the string is not a changeset; argument: the argument is not a string
---@module databases.changesets
function perilune.changeset(bytes) end

---A changeset, made by `db:record_changes`: an immutable value. `#changeset` is the number of changed rows, and `first .. second` is
---`first:followed_by(second)`.
---@class perilune.changeset
---@access any
local changeset = {}

---Returns the changes, grouped by table. Columns have their names in the database, or their positions if the table is missing or differs.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("INSERT INTO tag (name) VALUES ('ships')")
---end)
---print(changeset:rows()[1].operation, changeset:rows()[1].new.name)
-----> insert	ships
---```
---@param db? perilune.database the default database by default
---@return perilune.changed_row[]
---@raises none
function changeset:rows(db) end

---Returns whether the changeset is empty.
---```lua
---print(db:record_changes(function() end):is_empty())  --> true
---```
---@return boolean
---@raises none
function changeset:is_empty() end

---Returns the changeset that undoes this one.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("DELETE FROM tag WHERE name = 'sea'")
---end)
---print(changeset:inverted():rows()[1].operation)  --> insert
---```
---@return perilune.changeset
---@raises none
function changeset:inverted() end

---Returns a changeset of these changes followed by another changeset's: one change for each row.
---```lua
---local first = db:record_changes(function(db)
---  db:execute("INSERT INTO tag (name) VALUES ('ships')")
---end)
---local second = db:record_changes(function(db)
---  db:execute("DELETE FROM tag WHERE name = 'ships'")
---end)
---print(first:followed_by(second):is_empty())  --> true
---```
---@param other perilune.changeset
---@return perilune.changeset
---@raises argument: the argument is not a changeset; changeset_schema: a table has other columns or another key in the other one
function changeset:followed_by(other) end

---Returns the changeset as a string in SQLite's format, which is the same on all machines.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("DELETE FROM tag")
---end)
---print(type(changeset:serialize()))  --> string
---```
---@return string
---@raises none
function changeset:serialize() end
