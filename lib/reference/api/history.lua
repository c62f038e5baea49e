---@meta _
---@page History
---What the rows of tables were, when, and in which transaction.
---
---A history is a table beside that of a class, `book_history` for `book`, which triggers write. What other programs write is in it as well;
---only what Perilune writes has transactions and notes. The time of a version is that of its statement, to the millisecond, as a number of
---days: `datetime(history_day)` in SQL. A moment in the middle of a transaction shows what had been written until then, and a version of the
---same millisecond is there already. A row that `INSERT OR REPLACE` removes because of another unique key is in it if
---`PRAGMA recursive_triggers` is on.
---
---A history follows its table when `db:rename_table` and `db:alter_table` change that: a renamed column is renamed in it, a new one is added,
---and one that is dropped stays in it, to be read by SQL. Rows that a change gives other values get a version. What a history cannot follow
---(another primary key, the name of a column that was dropped) is refused, and so is dropping the table, until the history is removed.
---Changes that SQL makes are followed by `history:install(db)`; until then reading raises if a column is not in the history.

---Returns the history of the table of a class.
---
---The class gets the method `as_of`, and its records get `history`.
---```lua
---local history = perilune.history(Tag)
---history:install(db)
---history:write("tidy up", function(db) db:execute("UPDATE tag SET name = 'ocean' WHERE id = 1") end)
---for _, version in ipairs(Tag:find(1):history()) do print(version.event, version.record.name, version.note) end
-----> start	sea	nil
-----> update	ocean	tidy up
---history:undo(1)
---print(Tag:find(1).name, #Tag:as_of("1970-01-01"):fetch_all())  --> sea	0
---```
---@param class perilune.record_class
---@return perilune.history
---@raises argument: it is not a record class
function perilune.history(class) end

---The history of a table.
---@class perilune.history
---@access any
---@raises argument: an argument has the wrong type
local history = {}

---Installs the history in a database, as part of a migration, or brings it up to date with the table. The rows that are there are its
---first versions; those that are other than their last versions say get another one.
---```lua
---perilune.history(Book):install(db)
---print(db:fetch_value("SELECT COUNT(*) FROM book_history"))  --> 3
---```
---@param db? perilune.database
---@raises definition: it is not a table of the main database with a primary key that cannot be NULL, or there are versions of another key; unknown_table: there is no such table
function history:install(db) end

---Removes the history, or only what keeps it.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:remove(db)
---print(db:table_exists("book_history"))  --> false
---```
---@param db? perilune.database
---@param options? { keep_versions?: boolean } keeps what is in it, for another installation
---@raises history: it is not installed
function history:remove(db, options) end

---Returns whether the history is kept in a database.
---```lua
---print(perilune.history(Book):is_installed())  --> false
---```
---@param db? perilune.database
---@return boolean
function history:is_installed(db) end

---Calls a function in a transaction which has a note in the histories of all tables: `db:write({ note = "..." }, block)`, with a check that
---this history is installed.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:write("spoiled by water", function(db) db:execute("DELETE FROM book WHERE id = 2") end)
---print(db:fetch_value("SELECT history_event FROM book_history WHERE history_transaction = 1"))  --> delete
---```
---@param db? perilune.database may be left out
---@param note string
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... what the block returns
---@raises history: it is not installed; nested_access: in a block of the same database; busy: another connection holds the lock
---@access outside blocks of the same database
function history:write(db, note, block, ...) end

---Returns the transactions with notes, the newest first.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:write("read all", function(db) db:execute("UPDATE book SET is_read = TRUE") end)
---print(history:transactions()[1].id, history:transactions()[1].note)  --> 1	read all
---```
---@param limit? integer how many at most; 20 by default
---@param db? perilune.database
---@return { id: integer, note: string, time: perilune.date }[]
---@raises history: it is not installed
function history:transactions(limit, db) end

---Makes the rows that a transaction has changed what they were before, in all tables with a history. That is a transaction with a note, too,
---and can be undone.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:write("read all", function(db) db:execute("UPDATE book SET is_read = TRUE") end)
---print(history:undo(1), db:fetch_value("SELECT COUNT(*) FROM book WHERE is_read"))  --> 3	1
---```
---@param transaction integer the id of a transaction
---@param db? perilune.database
---@return integer count how many rows were restored
---@raises history: it is not installed, there is no such transaction, or a row has been changed since; definition: rows that others have added would refer to nothing; constraint_*: what the rows were violates a constraint
function history:undo(transaction, db) end

---What a row was.
---@class perilune.version
---@field version integer
---@field event "start"|"insert"|"update"|"delete" `"start"`: it was there when the history was installed
---@field time perilune.date
---@field transaction integer? of those with a note
---@field note string?
---@field record perilune.record? the row as it became; nil for a deletion
---@field changed string[] the columns that an update has changed
