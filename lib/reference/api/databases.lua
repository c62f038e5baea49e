---@meta _
---@page Databases
---Running SQL, using transactions, and opening databases.
---
---`db` is the default database. A block such as `db:write(function(db) ... end)` gets a handle with the same methods, which is valid until
---the block ends. Outside of blocks, each statement accesses the database separately.

---Options of `perilune.queue` and `perilune.pool`.
---@class perilune.database_options
---@field readonly? boolean false by default
---@field foreign_keys? boolean whether foreign keys are enforced; true by default
---@field double_quoted_strings? boolean whether triggers and views of the file may contain strings in double quotes; true by default
---@field busy_timeout? number|string seconds to wait for another connection's lock; 0, the default, raises at once
---@field journal_mode? "wal"|"delete" of the file, which keeps it; by default, a new file uses "wal" and an existing one keeps its mode
---@field synchronous? "off"|"normal"|"full"|"extra" whether commits wait for the disk; by default "full", in pools "normal"
---@field label? string the name of the connection in logs
---@field reader_count? integer read connections of a pool, from 1 to 64; 5 by default
---@field prepare? fun(db: perilune.database) called with a handle of each connection before its first use
---@field observer? perilune.transaction_observer_options an observer that is active from the start
---@field trace? (fun(statement: { sql: string, duration?: number }))|{ call: function, profile?: boolean, values?: boolean } called with each statement

---A database, or a handle to it inside a block.
---@class perilune.database
---@access any
---@raises dead_handle: the handle's block has ended; closed: the database is closed; nested_access: SQLite is calling the script, or an enclosing block of the same database excludes the call
local db = {}

---@type perilune.database
db = nil

---Opens a database with one connection, which both reads and writes.
---```lua
---local queue = perilune.queue(":memory:")
---queue:execute("CREATE TABLE note (text)")
---print(queue:fetch_value("SELECT COUNT(*) FROM note"))  --> 0
---```
---@param path? string a file; `":memory:"`, the default, is a database in memory
---@param options? perilune.database_options
---@return perilune.database
---@raises argument: an argument has the wrong type; unknown_option: an option does not exist; cannot_open: SQLite cannot open the file; sandbox: the script may not open files; preview: the script is previewed
function perilune.queue(path, options) end

---Opens a database with several connections: one writes, and the others can read at the same time. The file uses a write-ahead log.
---```lua
---local path = temporary_path("shop.sqlite")
---local pool = perilune.pool(path, { reader_count = 2 })
---pool:execute("CREATE TABLE note (text)")
---print(pool:path() == path)  --> true
---pool:close()
---```
---@param path string a file
---@param options? perilune.database_options
---@return perilune.database
---@raises argument: an argument has the wrong type; unknown_option: an option does not exist; cannot_open: SQLite cannot open the file; sandbox: the script may not open files; preview: the script is previewed
function perilune.pool(path, options) end

---Options of `perilune.cluster`.
---@class perilune.cluster_options
---@field servers string[] addresses of nodes as host:port, of which at least one must answer; `host:port=host:port` for a node behind a proxy
---@field timeout? number|string the time limit for a statement, the beginning of a transaction or a commit: seconds, or "500ms", "5s"; 10 seconds by default
---@field label? string the name of the connection in logs
---@field trace? (fun(statement: { sql: string, duration?: number }))|{ call: function, profile?: boolean, values?: boolean } called with each statement

---A node of a cluster.
---@class perilune.cluster_node
---@field id string the digits of the id, as dqlite shows them
---@field address string
---@field role "voter"|"standby"|"spare"
---@field is_leader boolean

---Opens a database in a cluster of dqlite nodes, and creates it if it does not exist. Statements run on the leader; when the leader
---changes, the connection finds the new one. The page "Running a cluster" lists supported and refused features.
---```lua
---local ok, err = pcall(perilune.cluster, "shop", {
---  servers = { "127.0.0.1:1" },
---  timeout = "100ms",
---})
---print(ok, err.kind)  --> false	cluster_unreachable
---```
---@param name string the name of the database in the cluster
---@param options perilune.cluster_options
---@return perilune.database
---@raises argument: an argument has the wrong type; unknown_option: an option does not exist; cluster_unreachable: no node answers, or none leads; sandbox: the script may not reach other machines; preview: the script is previewed
---@module databases.clusters
function perilune.cluster(name, options) end

---Returns the nodes of the database's cluster.
---```lua
---local ok, err = pcall(db.cluster_nodes, db)
---print(ok, err.kind)  --> false	usage
---```
---@return perilune.cluster_node[]
---@raises usage: the database is not in a cluster; cluster_unreachable: no node answers
---@module databases.clusters
function db:cluster_nodes() end

---Runs one or several statements.
---```lua
---local result = db:execute("INSERT INTO tag (name) VALUES (?)", "whales")
---print(result.inserted_rowid, result.changed_rows)  --> 3	1
---```
---@param sql string
---@param ... perilune.argument one for each `?`, or one table: a list, or values by name
---@return perilune.execute_result
---@raises sql: SQLite refuses a statement; constraint_*: a constraint is violated; argument: the arguments do not fit the placeholders
function db:execute(sql, ...) end

---Returns all rows of a query as a list.
---```lua
---local rows = db:fetch_all(
---  "SELECT title FROM book WHERE year > :year ORDER BY year",
---  { year = 1850 }
---)
---print(#rows, rows[1].title)  --> 2	Moby-Dick
---```
---@param sql string
---@param ... perilune.argument
---@return perilune.row[]
---@raises sql: SQLite refuses the statement; argument: the arguments do not fit the placeholders
function db:fetch_all(sql, ...) end

---Returns the first row of a query, or nil. `row:unpack()` returns the values of its columns.
---```lua
---print(db:fetch_one("SELECT * FROM author WHERE id = ?", 2).name)
-----> Jules Verne
---```
---@param sql string
---@param ... perilune.argument
---@return perilune.row?
---@raises sql: SQLite refuses the statement; argument: the arguments do not fit the placeholders
function db:fetch_one(sql, ...) end

---Returns the first column of the first row. A missing row and NULL are both nil.
---```lua
---print(db:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---```
---@param sql string
---@param ... perilune.argument
---@return any
---@raises sql: SQLite refuses the statement; argument: the arguments do not fit the placeholders
function db:fetch_value(sql, ...) end

---Returns the first column of all rows as a list.
---```lua
---print(
---  table.concat(db:fetch_values("SELECT name FROM tag ORDER BY name"), ", ")
---)
-----> sea, travel
---```
---@param sql string
---@param ... perilune.argument
---@return any[]
---@raises null: a value is NULL; sql: SQLite refuses the statement
function db:fetch_values(sql, ...) end

---Returns the first column of all rows as a list in which NULL is `perilune.null`.
---```lua
---local countries = db:fetch_optional_values(
---  "SELECT country FROM author ORDER BY id"
---)
---print(countries[3] == perilune.null)
-----> true
---```
---@param sql string
---@param ... perilune.argument
---@return any[]
---@raises sql: SQLite refuses the statement; argument: the arguments do not fit the placeholders
function db:fetch_optional_values(sql, ...) end

---Returns the first column of all rows as the keys of a table.
---```lua
---print(db:fetch_set("SELECT name FROM tag").sea)  --> true
---```
---@param sql string
---@param ... perilune.argument
---@return table<any, true>
---@raises null: a value is NULL; sql: SQLite refuses the statement
function db:fetch_set(sql, ...) end

---Returns the first column of the first row, converted to a type. A missing row and NULL are both nil.
---```lua
---print(
---  db:fetch_value_as("date", "SELECT born FROM author WHERE id = 1").year
---)
-----> 1819
---```
---@param type perilune.type
---@param sql string
---@param ... perilune.argument
---@return any
---@raises conversion: the value is not of that type; sql: SQLite refuses the statement
---@module schema.introspection
function db:fetch_value_as(type, sql, ...) end

---Returns the first column of all rows, converted to a type.
---```lua
---print(
---  db:fetch_values_as("boolean", "SELECT is_read FROM book ORDER BY id")[1]
---)
-----> true
---```
---@param type perilune.type
---@param sql string
---@param ... perilune.argument
---@return any[]
---@raises conversion: a value is not of that type; null: a value is NULL
---@module schema.introspection
function db:fetch_values_as(type, sql, ...) end

---Iterates over the rows of a query without holding all of them in memory. Outside of a block, up to 256 rows are fetched ahead, until
---the loop writes for the first time: rows fetched before do not show that change, and SQLite does not define whether later rows do.
---```lua
---for row in db:rows("SELECT title, year FROM book ORDER BY year") do
---  print(row.title, row.year)
---end
-----> Typee	1846
-----> Moby-Dick	1851
-----> Around the World	1872
---```
---@param sql string
---@param ... perilune.argument
---@return fun(): perilune.row?
---@raises sql: SQLite refuses the statement; dead_handle: the iterator is used after its block
function db:rows(sql, ...) end

---Iterates over the rows of a query as separate values. A first column that is NULL is `perilune.null`.
---```lua
---local statement = "SELECT title, year FROM book WHERE id < 3 ORDER BY id"
---for title, year in db:tuples(statement) do
---  print(title, year)
---end
-----> Typee	1846
-----> Moby-Dick	1851
---```
---@param sql string
---@param ... perilune.argument
---@return fun(): ...
---@raises sql: SQLite refuses the statement; dead_handle: the iterator is used after its block
function db:tuples(sql, ...) end

---Compiles a statement that can run several times with different arguments.
---```lua
---local insert = db:prepare("INSERT INTO tag (name) VALUES (?)")
---for _, name in ipairs{ "ship", "island" } do insert:execute(name) end
---print(db:fetch_value("SELECT COUNT(*) FROM tag"))  --> 4
---```
---@param sql string one statement
---@return perilune.statement
---@raises sql: SQLite refuses the statement; argument: `sql` is not one statement
function db:prepare(sql) end

---Calls a function with a read-only handle, which sees a single state of the database.
---```lua
---local books, authors = db:read(function(db)
---  return
---    db:fetch_value("SELECT COUNT(*) FROM book"),
---    db:fetch_value("SELECT COUNT(*) FROM author")
---end)
---print(books, authors)  --> 3	3
---```
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
---@raises readonly: the block writes; yield: the block waits
---@access any; inside another block of the same database, it reads in its transaction
function db:read(block, ...) end

---Calls a function with a handle in a transaction. If the function raises an error, the transaction is rolled back and the error is raised
---again. Inside another block that writes, it is a savepoint: an error undoes the inner block only, if it is caught.
---```lua
---db:write(function(db)
---  db:execute("UPDATE book SET is_read = TRUE")
---  db:execute("DELETE FROM tag")
---end)
---print(db:fetch_value("SELECT COUNT(*) FROM book WHERE is_read"))  --> 3
---```
---With the option `note`, the histories of all tables record the note with the transaction (`perilune.history`). With the option `retry`, a
---block in a cluster runs again, up to that number of times, if the leader changes before the commit.
---@param options? { note?: string, retry?: integer } may be left out
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
---@raises nested_access: in a block that only reads; usage: the block returns `"rollback"`, which would commit; busy: another connection holds the lock; yield: the block waits; history: the database has no history for a note; cluster_moved: the leader of the cluster changed, and nothing was committed; cluster_timeout: the cluster did not answer, and nothing was committed; cluster_unknown: the result of the commit could not be determined
---@access any, except inside a block of the same database that only reads
function db:write(options, block, ...) end

---Calls a function with a handle in a transaction of a chosen kind, and commits when the function returns. If its first result is
---`"rollback"`, the transaction is rolled back; the words `"commit"` and `"rollback"` are not returned.
---```lua
---db:in_transaction("immediate", function(db)
---  db:execute("DELETE FROM book WHERE id = 3")
---end)
---print(db:fetch_value("SELECT COUNT(*) FROM book"))  --> 2
---```
---@param kind? "deferred"|"immediate"|"exclusive" may be left out; `"immediate"` by default. With a write-ahead log, `"exclusive"` does not block readers
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
---@raises argument: the kind is unknown, or the block returns a misspelt word; nested_access: in a transaction of the same database; busy: another connection holds the lock
---@access outside blocks of the same database, or directly inside `write_without_transaction`
function db:in_transaction(kind, block, ...) end

---Calls a function in a savepoint. If the function raises an error, its changes are undone; the surrounding transaction continues if the
---error is caught. They are also undone if the first result is `"rollback"`; the words `"commit"` and `"rollback"` are not returned.
---```lua
---db:write(function(db)
---  pcall(db.in_savepoint, db, function(db)
---    db:execute("DELETE FROM book")
---    error("changed my mind")
---  end)
---  print(db:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---  print(db:in_savepoint(function(db)
---    return db:execute("DELETE FROM book WHERE id = 3").changed_rows
---  end))
---  --> 1
---end)
---```
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
---@raises yield: the block waits; argument: `block` is not a function, or returns a misspelt word
function db:in_savepoint(block, ...) end

---Calls a function with a handle to the write connection, without a transaction: for `PRAGMA`, `VACUUM` and the like.
---```lua
---db:write_without_transaction(function(db)
---  db:execute("PRAGMA user_version = 7")
---end)
---print(db:fetch_value("PRAGMA user_version"))  --> 7
---```
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
---@raises nested_access: in another block of the same database; yield: the block waits
---@access outside blocks of the same database
function db:write_without_transaction(block, ...) end

---Returns whether a transaction is open.
---```lua
---print(db:is_inside_transaction())  --> false
---db:write(function(db) print(db:is_inside_transaction()) end)  --> true
---```
---@return boolean
---@raises none
function db:is_inside_transaction() end

---Returns SQLite's plan for a query. Printed, the plan is a tree.
---```lua
---print(db:explain("SELECT * FROM book WHERE id = 1"))
-----> └─ SEARCH book USING INTEGER PRIMARY KEY (rowid=?)
---```
---@param sql string
---@param ... perilune.argument
---@return perilune.query_plan
---@raises sql: SQLite refuses the statement
---@module schema.introspection
function db:explain(sql, ...) end

---The steps of a query plan, each with a list of its substeps.
---@class perilune.query_plan
---@field [integer] { detail: string, children: perilune.query_plan }

---Returns the path of the database file, or `":memory:"` for a database in memory.
---```lua
---print(perilune.queue(":memory:"):path())  --> :memory:
---```
---@return string
---@raises none
function db:path() end

---Adds an SQL function, or replaces the function with the same name and number of arguments. The function belongs to the script, and must
---not use the database.
---```lua
---db:add_function("slugify", 1, function(text)
---  return (text:lower():gsub("%W+", "-"))
---end)
---print(db:fetch_value("SELECT slugify(title) FROM book WHERE id = 2"))
-----> moby-dick
---```
---@param name string
---@param options? integer|{ arguments?: integer, deterministic?: boolean } the number of arguments, or -1, the default, for any number; indexes and generated columns need `deterministic = true`
---@param f fun(...: any): perilune.argument gets NULL as nil, and returns nil for NULL; an error or the result NaN ends the statement
---@raises argument: the name, the number or the function is not valid; unknown_option: an option does not exist
---@module runtime.functions
function db:add_function(name, options, f) end

---Adds an SQL aggregate.
---```lua
---db:add_aggregate("product", 1, {
---  initial = 1,
---  step = function(state, value) return state * value end,
---})
---print(db:fetch_value("SELECT product(id) FROM book"))  --> 6
---```
---@param name string
---@param options? integer|{ arguments?: integer, deterministic?: boolean }
---@param definition { step: (fun(state: any, ...: any): any), initial?: any, final?: (fun(state: any): any), inverse?: (fun(state: any, ...: any): any) } `step` returns the new state, or nothing to keep it, for example if it is a table that `step` has changed; `initial` is the first state or a function that returns it; `inverse` removes a row, which makes the aggregate fast as a window function
---@raises argument: the name, the number or the definition is not valid
---@module runtime.functions
function db:add_aggregate(name, options, definition) end

---Adds a collation.
---```lua
---db:add_collation("by_length", function(a, b) return #a - #b end)
---print(db:fetch_value[[
---  SELECT title FROM book ORDER BY title COLLATE by_length LIMIT 1]])
-----> Typee
---```
---@param name string
---@param compare fun(a: string, b: string): integer returns a negative number, 0 or a positive number
---@raises argument: the name or the function is not valid
---@module runtime.functions
function db:add_collation(name, compare) end

---Removes an SQL function or aggregate. If it replaced a built-in function, the removal is refused, because SQLite restores the built-in
---function only when the database is opened again.
---```lua
---db:add_function("twice", 1, function(x) return 2 * x end)
---db:remove_function("twice", 1)
---print((pcall(db.fetch_value, db, "SELECT twice(1)")))  --> false
---```
---@param name string
---@param count? integer its number of arguments; -1 by default
---@raises argument: the name or the number is not valid, or the function is built into SQLite
---@module runtime.functions
function db:remove_function(name, count) end

---Removes a collation.
---```lua
---db:add_collation("by_length", function(a, b) return #a - #b end)
---db:remove_collation("by_length")
---print((pcall(
---  db.fetch_all,
---  db,
---  "SELECT * FROM book ORDER BY title COLLATE by_length"
---)))
-----> false
---```
---@param name string
---@raises argument: the name is not valid
---@module runtime.functions
function db:remove_collation(name) end

---Calls a function in a transaction, then another function with a handle that reads the state after it. Other writers of a pool can
---continue while the second function reads.
---```lua
---local count = db:write_then_read(
---  function(db)
---    local result = db:execute("INSERT INTO tag (name) VALUES ('ships')")
---    return result.inserted_rowid
---  end,
---  function(db, id)
---    return db:fetch_value("SELECT COUNT(*) FROM tag WHERE id <= ?", id)
---  end)
---print(count)  --> 3
---```
---@param write fun(db: perilune.database): ...
---@param read fun(db: perilune.database, ...: any): ... also gets the results of `write`
---@return any ... the results of `read`
---@raises nested_access: in a block of the same database; readonly: `read` writes; argument: an argument is not a function
---@access outside blocks of the same database
---@module databases.snapshots
function db:write_then_read(write, read) end

---Returns a snapshot: a database that shows the current state of a pool in all reads, regardless of later writes. It ends when it is closed
---or collected. Until then, the write-ahead log grows.
---```lua
---local pool = perilune.pool(temporary_path("snapshot.sqlite"))
---pool:execute("CREATE TABLE note (text)")
---local snapshot = pool:snapshot()
---pool:execute("INSERT INTO note VALUES ('later')")
---print(
---  snapshot:fetch_value("SELECT COUNT(*) FROM note"),
---  pool:fetch_value("SELECT COUNT(*) FROM note")
---)
-----> 0	1
---snapshot:close()
---```
---@return perilune.database snapshot
---@raises usage: the database is not a pool; closed: the database is closed
---@access any
function db:snapshot() end

---Returns the time of the transaction: the time of its first call in the transaction. Outside of transactions it is the current time. It
---uses the clock of the context, as `perilune.now` does.
---```lua
---db:write(function(db)
---  local time = db:transaction_date()
---  db:execute("INSERT INTO tag (name) VALUES (?)", time)
---  print(db:transaction_date() == time)  --> true
---end)
---```
---@return perilune.date
---@raises none
function db:transaction_date() end

---Moves the contents of the write-ahead log into the database file.
---```lua
---local pool = perilune.pool(temporary_path("log.sqlite"))
---pool:execute("CREATE TABLE note (text)")
---print(pool:checkpoint("truncate").frames)  --> 0
---pool:close()
---```
---@param kind? "passive"|"full"|"restart"|"truncate" `"passive"`, the default, does not wait; the others wait for writers and readers, and then restart the log; `"truncate"` also empties its file
---@return { frames: integer, checkpointed: integer } the number of frames in the log, and of those already in the database; both are 0 without a log
---@raises unknown_checkpoint: the kind does not exist; busy: a reader or writer holds the lock; readonly: the database may only be read; nested_access: in a block of the database
---@access outside blocks of the same database
function db:checkpoint(kind) end

---Options of `db:backup_to`.
---@class perilune.backup_options
---@field pages? integer the number of pages to copy at a time; 1000 by default
---@field pause? perilune.duration how long to wait after each step; other connections may use the file during the pause
---@field progress? fun(completed: integer, total: integer) called after each step with the number of copied pages and of all pages; an error ends the backup, and the target does not change

---Copies the whole database to another one, replacing its contents.
---```lua
---local copy = perilune.queue(":memory:")
---db:backup_to(copy, {
---  pages = 100,
---  progress = function(completed, total) print(completed == total) end,
---})
-----> true
---print(copy:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---```
---@param target perilune.database
---@param options? perilune.backup_options
---@raises argument: the target is the same database, or an option is not valid; unknown_option: an option does not exist; readonly: the target may only be read; busy: another connection holds a lock
---@access outside blocks of both databases
---@module databases.backups
function db:backup_to(target, options) end

---Returns the whole database as a string, in the format of a database file.
---```lua
---local copy = perilune.deserialize(db:serialize())
---print(copy:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---```
---@return string
---@raises memory: the database is larger than the script's memory limit
---@access any
function db:serialize() end

---Opens a database in memory from a string: a result of `db:serialize`, or the contents of a database file.
---```lua
---local copy = perilune.deserialize(db:serialize())
---copy:execute("DELETE FROM book")
---print(db:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---```
---@param bytes string checked completely before use
---@param options? perilune.database_options
---@return perilune.database
---@raises malformed_database: the bytes are not a database, or it is damaged; argument: an argument has the wrong type; unknown_option: an option does not exist; sandbox: the script may not open databases of others
function perilune.deserialize(bytes, options) end

---Opens the blob or text in one column of one row, to read or write it in pieces. It remains open until it is closed or the block ends, and
---uses little memory even if the value is long. Writing it does not run triggers and checks.
---```lua
---db:write(function(db)
---  db:execute("CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB)")
---  db:execute("INSERT INTO file (content) VALUES (zeroblob(11))")
---  local blob <close> = db:open_blob("file", "content", 1, { write = true })
---  blob:write("Hello"):write(" world")
---  blob:seek("set", 6)
---  print(blob:read(), blob:size())  --> world	11
---end)
---```
---@param table string a table that stores its own rows, with row ids
---@param column string
---@param rowid integer
---@param options? { write?: boolean } whether it may be written; false by default
---@return perilune.open_blob
---@raises unknown_table: the table does not exist; unknown_column: the column does not exist; not_found: no row has the row id; argument: the value is neither a blob nor a text, or an argument has the wrong type; readonly: the block may only read; usage: outside of blocks, or without a transaction for writing; unknown_option: an option does not exist
---@access inside blocks
---@module databases.open_blobs
function db:open_blob(table, column, rowid, options) end

---An open blob, made by `db:open_blob`, with the methods of Lua files. It closes at the end of its block or at the
---end of the scope of its `<close>` variable.
---@class perilune.open_blob
---@access inside the block that opened it
---@raises closed: the blob is closed; dead_handle: the block in which it was opened has ended; expired_blob: its row was changed or deleted in another way
local blob = {}

---@type perilune.open_blob
blob = nil

---Returns bytes from the current position, and advances the position. At the end it returns nil if `count` is given, and otherwise the
---empty string, as Lua files do.
---```lua
---db:read(function(db)
---  local blob = db:open_blob("book", "title", 1)
---  print(blob:read(3), blob:read(), blob:read(1))  --> Typ	ee	nil
---end)
---```
---@param count? integer at most this number of bytes; all that are left by default
---@return string?
---@raises argument: the number is not valid
function blob:read(count) end

---Writes bytes at the current position, and advances the position. The size of a blob cannot change.
---```lua
---db:write(function(db)
---  db:open_blob("book", "title", 1, { write = true }):write("H")
---  print(db:fetch_value("SELECT title FROM book WHERE id = 1"))  --> Hypee
---end)
---```
---@param bytes string|perilune.blob
---@return perilune.open_blob self
---@raises range: the bytes do not fit; readonly: the blob was opened for reading; argument: the bytes are neither a string nor a blob
function blob:write(bytes) end

---Moves the position, and returns the number of bytes before it.
---```lua
---db:read(function(db)
---  local blob = db:open_blob("book", "title", 1)
---  print(
---    blob:seek("end"),
---    blob:seek("set", 1),
---    blob:seek("cur", 2),
---    blob:seek()
---  )
---  --> 5	1	3	3
---end)
---```
---@param whence? "set"|"cur"|"end" from the beginning, the current position, which is the default, or the end
---@param offset? integer 0 by default
---@return integer position
---@raises range: the position would be outside of the blob; argument: an argument is not valid
function blob:seek(whence, offset) end

---Iterates over the rest of the blob in pieces.
---```lua
---db:read(function(db)
---  for piece in db:open_blob("book", "title", 1):pieces(2) do
---    print(piece)
---  end
---end)
-----> Ty
-----> pe
-----> e
---```
---@param size? integer the number of bytes in each piece except the last; 65536 by default
---@return fun(): string?
---@raises argument: the size is not valid
function blob:pieces(size) end

---Returns the number of bytes, as `#blob` does.
---```lua
---db:read(function(db) print(db:open_blob("book", "title", 1):size()) end)
-----> 5
---```
---@return integer
function blob:size() end

---Moves to the same column of another row, which is faster than opening another blob.
---```lua
---db:read(function(db)
---  local blob = db:open_blob("book", "title", 1)
---  print(blob:read(), blob:reopen(2):read())  --> Typee	Moby-Dick
---end)
---```
---@param rowid integer
---@return perilune.open_blob self
---@raises sql: no row has the row id, or its value is neither a blob nor a text; argument: the row id is not an integer
function blob:reopen(rowid) end

---Closes the blob. Closing it again does nothing.
---```lua
---db:read(function(db)
---  local blob = db:open_blob("book", "title", 1)
---  blob:close()
---end)
---```
---@raises none
function blob:close() end

---Interrupts all statements of the database, on all its connections. They raise an error of kind `interrupt`.
---```lua
---db:interrupt()
---```
---@raises none
function db:interrupt() end

---Closes a database that the script has opened. Closing it again does nothing.
---```lua
---local other = perilune.queue(":memory:")
---other:close()
---print(select(2, pcall(other.tables, other)).kind)  --> closed
---```
---@raises not_closable: it is the default database; nested_access: in a block of the database
---@access outside blocks of the same database
function db:close() end
