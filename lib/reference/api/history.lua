---@meta _
---@page History
---Past versions of rows, with the times and transactions of their changes.
---
---A history is an additional table for a class, such as `book_history` for `book`, which triggers write. It also contains changes by other
---programs, but only Perilune's writes have transactions and notes. The time of a version is the time of its statement, to the millisecond,
---as a number of days: `datetime(history_day)` in SQL. A moment in the middle of a transaction shows the rows written until then, including
---versions of the same millisecond. Rows that `INSERT OR REPLACE` removes because of another unique key are recorded if
---`PRAGMA recursive_triggers` is on.
---
---A history follows its table when `db:rename_table` and `db:alter_table` change it: a renamed column is renamed, a new one is added, and a
---dropped one remains in the history, where SQL can read it. Rows whose values change get a new version. Changes that a history cannot
---follow (another primary key, or reusing the name of a dropped column) are refused, and so is dropping the table, until the history is
---removed. After schema changes by SQL, call `history:install(db)`; until then, reading raises an error if a column is missing from the
---history.

---Returns the history of the table of a class.
---
---The class gets the method `as_of`, and its records get `history`.
---```lua
---local history = perilune.history(Tag)
---history:install(db)
---db:write({ note = "tidy up" }, function(db)
---  db:execute("UPDATE tag SET name = 'ocean' WHERE id = 1")
---end)
---for _, version in ipairs(Tag:find(1):history()) do
---  print(version.operation, version.record.name, version.note)
---end
-----> start	sea	nil
-----> update	ocean	tidy up
---history:undo(1)
---print(Tag:find(1).name, #Tag:as_of("1970-01-01"):fetch_all())  --> sea	0
---```
---@param class perilune.record_class
---@return perilune.history
---@raises argument: it is not a record class
---@module record_assembly request_assembly events.history
function perilune.history(class) end

---The history of a table.
---@class perilune.history
---@access any
---@raises argument: an argument has the wrong type
local history = {}

---Installs the history in a database, as part of a migration, or updates it to match the table. Existing rows become its first versions;
---rows that differ from their last version get a new one.
---```lua
---perilune.history(Book):install(db)
---print(db:fetch_value("SELECT COUNT(*) FROM book_history"))  --> 3
---```
---@param db? perilune.database
---@raises definition: it is not a table of the main database with a primary key that cannot be NULL, or versions with another key exist; unknown_table: the table does not exist
function history:install(db) end

---Removes the history, or only its triggers.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:remove(db)
---print(db:table_exists("book_history"))  --> false
---```
---@param db? perilune.database
---@param options? { keep_versions?: boolean } keeps the versions, for a later installation
---@raises history: it is not installed
function history:remove(db, options) end

---Returns whether the history is installed in a database.
---```lua
---print(perilune.history(Book):is_installed())  --> false
---```
---@param db? perilune.database
---@return boolean
function history:is_installed(db) end

---Returns the transactions with notes, the newest first.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---db:write({ note = "read all" }, function(db)
---  db:execute("UPDATE book SET is_read = TRUE")
---end)
---print(history:transactions()[1].id, history:transactions()[1].note)
-----> 1	read all
---```
---@param db? perilune.database
---@param limit? integer the maximum number; 20 by default
---@return { id: integer, note: string, time: perilune.date }[]
---@raises history: it is not installed
function history:transactions(db, limit) end

---Reverts the rows that a transaction has changed to their previous state, in all tables with a history. The reversal is itself a
---transaction with a note, and can be undone.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---db:write({ note = "read all" }, function(db)
---  db:execute("UPDATE book SET is_read = TRUE")
---end)
---print(
---  history:undo(1),
---  db:fetch_value("SELECT COUNT(*) FROM book WHERE is_read")
---)
-----> 3	1
---```
---@param db? perilune.database
---@param transaction integer the id of a transaction
---@return integer count the number of restored rows
---@raises history: it is not installed, the transaction does not exist, or a row has been changed since; definition: rows added by others would refer to missing rows; constraint_*: the previous rows violate a constraint
function history:undo(db, transaction) end

---A version of a row.
---@class perilune.version
---@field version integer
---@field operation "start"|"insert"|"update"|"delete" `"start"`: the row existed when the history was installed
---@field time perilune.date
---@field transaction integer? the id of the transaction, if it has a note
---@field note string?
---@field record perilune.record? the row after the change; nil for a deletion
---@field changed string[] the columns that an update has changed
