---@meta _
-- Made from lib/reference by scripts/reference: not to be edited.

---NULL in places that cannot hold `nil`: a table field, a list element, or an assigned value.
---@class perilune.null: userdata

---Bytes that SQLite stores as a BLOB, made by `perilune.blob`. `tostring(blob)` returns them as a string, and `#blob` their number.
---
---Fetched BLOBs are strings, with one exception: a record field whose column is not declared for bytes, as in
---`CREATE TABLE note (content)`. There a text is a string and a BLOB is a `perilune.blob`, so that writing the record back keeps the BLOB.
---@class perilune.blob: userdata

---@class perilune
---@field null perilune.null NULL in places that cannot hold `nil`
---@field context "live"|"test"|"preview" the context in which the host runs the script
---@field database perilune.database the host's database, which is also `db`; an override by `perilune.with` affects only `db`
---@field json perilune.json
---@field log perilune.log
---@field date perilune.date_type makes dates, and is also a type
---@field date_components perilune.date_components_type makes parts of dates and times
---@field fn table<string, fun(...: any): perilune.expression> SQL functions by name
---@field excluded perilune.excluded the row that an upsert could not insert
---@field row perilune.row_methods the methods of rows, for rows with a column that hides a method
perilune = {}

---Makes a value that is bound as a BLOB. A plain string is bound as TEXT.
---```lua
---print(db:fetch_value("SELECT typeof(?)", perilune.blob("\0\1")))  --> blob
---```
---
---- Raises `argument` if `bytes` is not a string
---@param bytes string
---@return perilune.blob
function perilune.blob(bytes) end

---Makes a blob from a list of numbers, as 32-bit floats, the format of SQLite extensions for vector search.
---```lua
---print(#perilune.vector{ 0.5, 1.5, 2 })  --> 12
---```
---
---- Raises `argument` if the list is empty, or an element is not a number that a 32-bit float holds
---@param list number[]|perilune.blob a blob of 32-bit floats is returned unchanged
---@return perilune.blob
function perilune.vector(list) end

---Returns the numbers in a blob of 32-bit floats, or in a fetched blob, which is a string.
---```lua
---print(perilune.vector_numbers(perilune.vector{ 0.5, 1.5 })[2])  --> 1.5
---```
---
---- Raises `argument` if the argument is not a blob of 32-bit floats
---@param blob perilune.blob|string
---@return number[]
function perilune.vector_numbers(blob) end

---Returns how SQLite would store a value: `"null"`, `"integer"`, `"real"`, `"text"` or `"blob"`.
---```lua
---print(
---  perilune.storage_class(1.0),
---  perilune.storage_class(perilune.date("2026-03-01"))
---)
-----> real	text
---```
---
---- Raises `argument` if SQLite cannot store the value
---@param value perilune.argument
---@return "null"|"integer"|"real"|"text"|"blob"
function perilune.storage_class(value) end

---Returns a random UUID as text. In tests the sequence is repeatable.
---```lua
---print(#perilune.uuid())  --> 36
---```
---@return string
function perilune.uuid() end

---Returns a random number, as `math.random` does: a float from 0 to 1, an integer from 1 to `m`, or from `m` to `n`.
---In tests the sequence is repeatable.
---```lua
---local number = perilune.random(5, 6)
---print(number == 5 or number == 6)  --> true
---```
---
---- Raises `argument` if the range from `m` to `n` is empty
---@param m? integer
---@param n? integer
---@return number
function perilune.random(m, n) end

---Returns the current date and time. In tests the clock is frozen unless the test moves it.
---```lua
---print(perilune.now():seconds_since("2000-01-01") >= 0)  --> true
---```
---@return perilune.date
function perilune.now() end

---Calls a function with another default database: for `db`, and for records and requests that name no database.
---```lua
---local other = perilune.queue(":memory:")
---perilune.with({ database = other }, function(db)
---  db:execute("CREATE TABLE note (text)")
---end)
---print(#other:tables())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_override` if an override does not exist
---- Raises `yield` if `body` waits
---@param overrides { database: perilune.database }
---@param body fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for `body`
---@return any ... the results of `body`
function perilune.with(overrides, body, ...) end

---Makes an enumeration: a fixed set of values that columns store as integers or strings. The cases of a list are strings; other cases
---are objects.
---```lua
---local Status = perilune.enum{ "draft", "sent", "paid" }
---print(Status.sent == "sent", table.concat(Status:cases(), " "))
-----> true	draft sent paid
---local Color = perilune.enum{ red = 0, white = 1 }
---print(Color.red, Color:from(1), Color.white.raw)  --> red	white	1
---```
---
---- Raises `argument` if no case is given, or two cases have the same value
---@param cases table<string, integer|string>|string[] the stored values by name, or a list of strings that are both name and value
---@return perilune.enum
function perilune.enum(cases) end

---Makes a type that converts between a column and a value of the script. Calling the type with a value makes an argument for SQL.
---```lua
---local List = perilune.value_type{
---  to_database = function(list) return table.concat(list, ",") end,
---  from_database = function(text)
---    local list = {}
---    for word in text:gmatch("[^,]+") do list[#list + 1] = word end
---    return list
---  end,
---}
---print(#db:fetch_value_as(List, "SELECT ?", List{ "a", "b" }))  --> 2
---```
---
---- Raises `argument` if a function is missing
---@param definition { name?: string, to_database: (fun(value: any): perilune.argument), from_database: (fun(stored: any): any) } `from_database` returns nil for a value that does not fit
---@return perilune.value_type
function perilune.value_type(definition) end

---Makes a type whose values a function builds from rows. It is fetched like a record class, and needs no table.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title:upper() end,
---}
---print(Title:fetch_one("SELECT title FROM book ORDER BY id"))  --> TYPEE
---```
---
---- Raises `argument` if `from_row` is missing
---@param definition { from_row: (fun(row: perilune.row|perilune.record): any), did_fetch?: fun(value: any, row: perilune.row|perilune.record) }
---@return perilune.row_type
function perilune.row_type(definition) end

---Opens a database with one connection, which both reads and writes.
---```lua
---local queue = perilune.queue(":memory:")
---queue:execute("CREATE TABLE note (text)")
---print(queue:fetch_value("SELECT COUNT(*) FROM note"))  --> 0
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_option` if an option does not exist
---- Raises `cannot_open` if SQLite cannot open the file
---- Raises `sandbox` if the script may not open files
---- Raises `preview` if the script is previewed
---@param path? string a file; `":memory:"`, the default, is a database in memory
---@param options? perilune.database_options
---@return perilune.database
function perilune.queue(path, options) end

---Opens a database with several connections: one writes, and the others can read at the same time. The file uses a write-ahead log.
---```lua
---local path = temporary_path("shop.sqlite")
---local pool = perilune.pool(path, { reader_count = 2 })
---pool:execute("CREATE TABLE note (text)")
---print(pool:path() == path)  --> true
---pool:close()
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_option` if an option does not exist
---- Raises `cannot_open` if SQLite cannot open the file
---- Raises `sandbox` if the script may not open files
---- Raises `preview` if the script is previewed
---@param path string a file
---@param options? perilune.database_options
---@return perilune.database
function perilune.pool(path, options) end

---Opens a database in a cluster of dqlite nodes, and creates it if it does not exist. Statements run on the leader; when the leader
---changes, the connection finds the new one. The page "Running a cluster" lists supported and refused features.
---```lua
---local ok, err = pcall(perilune.cluster, "shop", {
---  servers = { "127.0.0.1:1" },
---  timeout = "100ms",
---})
---print(ok, err.kind)  --> false	cluster_unreachable
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_option` if an option does not exist
---- Raises `cluster_unreachable` if no node answers, or none leads
---- Raises `sandbox` if the script may not reach other machines
---- Raises `preview` if the script is previewed
---@param name string the name of the database in the cluster
---@param options perilune.cluster_options
---@return perilune.database
function perilune.cluster(name, options) end

---Opens a database in memory from a string: a result of `db:serialize`, or the contents of a database file.
---```lua
---local copy = perilune.deserialize(db:serialize())
---copy:execute("DELETE FROM book")
---print(db:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---```
---
---- Raises `malformed_database` if the bytes are not a database, or it is damaged
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_option` if an option does not exist
---- Raises `sandbox` if the script may not open databases of others
---@param bytes string checked completely before use
---@param options? perilune.database_options
---@return perilune.database
function perilune.deserialize(bytes, options) end

---Makes a pattern for full-text search from text that users type. Operators in the text have no effect.
---```lua
---print(perilune.fts5_pattern('the "white whale'))  --> "the" "white" "whale"
---```
---
---- Raises `argument` if `text` is not a string, or the kind is unknown
---@param text string
---@param kind? "all_words"|"any_word"|"all_prefixes"|"phrase"|"prefix_phrase" the words that must match: `"all_words"`, the default, in any order; `"all_prefixes"` suits search while users type; `"prefix_phrase"` matches at the beginning of a column
---@return string pattern matches nothing if the text contains no word
function perilune.fts5_pattern(text, kind) end

---Makes a migrator.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:migrate(db))  --> 1
---```
---
---- Raises `argument` if an option is not valid, or two files have one name
---- Raises `cannot_open` if the folder cannot be read
---- Raises `sandbox` if the script may not read files
---@param options? { folder?: string } a folder of migrations to add first
---@return perilune.migrator
function perilune.migrator(options) end

---Makes a record class for a table. Each call makes a new class, so make it in one file, return it there, and `require` that file.
---
---Writing a record raises an error of kind `conversion` if a value does not fit the declared type of its column, such as a word in an
---INTEGER column or `true` in a TEXT column. Values that SQLite converts without loss are stored: `"12"` and `12.0` in an INTEGER column,
---numbers in a TEXT column. Columns without a type, and columns of BLOB, ANY and other unchecked types, take any value. SQL and conditions
---are not checked either.
---```lua
---local Tag = perilune.record("tag")
---function Tag:label() return "#" .. self.name end
---print(Tag:find(1):label())  --> #sea
---```
---
---- Raises `argument` if the name or an option is not valid
---- Raises `unknown_option` if an option does not exist
---@param table_name string
---@param options? perilune.record_options
---@return perilune.record_class
function perilune.record(table_name, options) end

---Makes a class for a table with at most one row, such as settings. A column that is NULL reads as its default, and an update inserts the
---row if necessary.
---```lua
---db:create_table("settings", function(t)
---  t:primary_key("id", "integer", { on_conflict = "replace" })
---    :check("id = 1")
---  t:column("theme", "text")
---end)
---local Settings = perilune.single_row("settings", {
---  defaults = { theme = "light" },
---})
---Settings:find():update_changes(function(settings)
---  settings.theme = "dark"
---end)
---print(Settings:find().theme)  --> dark
---```
---
---- Raises `argument` if an option is not valid
---@param table_name string
---@param options? { defaults?: table<string, any|fun(object: perilune.single_row): any>, key?: string } and the options of `perilune.record`; `key` is `"id"` by default
---@return perilune.single_row_class
function perilune.single_row(table_name, options) end

---Returns the history of the table of a class.
---
---The class gets the method `as_of`, and its records get `history`.
---```lua
---local history = perilune.history(Tag)
---history:install(db)
---history:write("tidy up", function(db)
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
---
---- Raises `argument` if it is not a record class
---@param class perilune.record_class
---@return perilune.history
function perilune.history(class) end

---Reads a changeset from the string that `changeset:serialize` returned. The string does not need to be trusted.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("DELETE FROM tag")
---end)
---print(perilune.changeset(changeset:serialize()) == changeset)  --> true
---```
---
---- Raises `malformed_changeset` if the string is not a changeset
---- Raises `argument` if the argument is not a string
---@param bytes string
---@return perilune.changeset
function perilune.changeset(bytes) end

---Makes a common table: one that exists for a single statement, defined by a request, or by SQL, which may read the table itself.
---```lua
---local numbers = perilune.common_table(
---  "numbers",
---  { "n" },
---  "SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?",
---  4
---)
---print(numbers:fetch_count(), numbers:max("n"))  --> 4	4
---```
---
---- Raises `argument` if an argument has the wrong type
---@param name string
---@param definition perilune.request|string[] a request, or the names of the columns
---@param ... any after columns: SQL and its arguments; after a request: a function that gets the table so far and returns the request for further rows
---@return perilune.common_table
function perilune.common_table(name, definition, ...) end

---Returns a column by its name, from any table of the request that has it.
---```lua
---print(Book:filter(perilune.column("year"):gt(1850)):fetch_count())  --> 2
---```
---
---- Raises `argument` if `name` is not a name
---@param name string
---@return perilune.expression
function perilune.column(name) end

---Returns a value as an expression.
---```lua
---print(Tag:select(perilune.value(7):as("seven")):fetch_one().seven)  --> 7
---```
---
---- Raises `argument` if SQLite cannot store the value
---@param value perilune.argument
---@return perilune.expression
function perilune.value(value) end

---Returns SQL text as an expression. Each `?` stands for an argument, which may be an expression.
---```lua
---print(Book:filter(perilune.sql("length(title) > ?", 10)):fetch_count())
-----> 1
---```
---
---- Raises `argument` if the text is empty, or the arguments do not fit
---@param text string
---@param ... any one for each `?`, or one table by name
---@return perilune.expression
function perilune.sql(text, ...) end

---Returns a parameter, whose value is passed when a prepared request runs.
---```lua
---local by_year = Book:filter(Book.c.year:gt(perilune.parameter("year")))
---  :prepare()
---print(by_year:fetch_count{ year = 1850 })  --> 2
---```
---
---- Raises `argument` if `name` is not a name
---@param name string
---@return perilune.expression
function perilune.parameter(name) end

---Returns `COUNT(*)`.
---```lua
---print(Book:select(perilune.count():as("n")):fetch_one().n)  --> 3
---```
---@return perilune.expression
function perilune.count() end

---Returns the value that belongs to the first true condition.
---```lua
---local age = perilune.case{
---  { Book.c.year:lt(1850), "old" },
---  otherwise = "new",
---}
---print(Book:select(age:as("age")):order("id"):fetch_values()[1])  --> old
---```
---
---- Raises `argument` if a branch is not a pair of a condition and a value
---@param branches { [integer]: { [1]: perilune.expression, [2]: any }, otherwise?: any }
---@return perilune.expression
function perilune.case(branches) end

---Returns the condition that a request has at least one row.
---```lua
---print(
---  Author:filter(
---    perilune.exists(Book:filter("book.author_id = author.id"))
---  ):fetch_count()
---)
-----> 2
---```
---
---- Raises `argument` if `request` is not a request
---@param request perilune.request
---@return perilune.expression
function perilune.exists(request) end

---Returns the number of the row in its partition, from 1. It is only valid over a window.
---```lua
---print(Book:select(perilune.row_number():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 1
---```
---
---- Raises `argument` if an argument is given
---@return perilune.expression
function perilune.row_number() end

---Returns the rank of the row; equal rows share a rank, and the ranks after them have gaps. It is only valid over a window.
---```lua
---print(Book:select(perilune.rank():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 1
---```
---
---- Raises `argument` if an argument is given
---@return perilune.expression
function perilune.rank() end

---Returns the rank of the row, without gaps. It is only valid over a window.
---```lua
---print(Book:select(perilune.dense_rank():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 1
---```
---
---- Raises `argument` if an argument is given
---@return perilune.expression
function perilune.dense_rank() end

---Returns the rank of the row as a number from 0 to 1. It is only valid over a window.
---```lua
---print(Book:select(perilune.percent_rank():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 0.0
---```
---
---- Raises `argument` if an argument is given
---@return perilune.expression
function perilune.percent_rank() end

---Returns the share of the rows up to this one. It is only valid over a window.
---```lua
---print(Book:select(perilune.cume_dist():over{ order_by = "year" }:as("r"))
---  :order("r")
---  :fetch_value())
-----> 0.33333333333333
---```
---
---- Raises `argument` if an argument is given
---@return perilune.expression
function perilune.cume_dist() end

---Returns the number of the row's bucket, if the rows of a window are divided into `count` buckets.
---```lua
---print(Book:select(perilune.ntile(3):over{ order_by = "year" }:as("r"))
---  :order(perilune.sql("r DESC"))
---  :fetch_value())
-----> 3
---```
---
---- Raises `argument` if `count` is not an integer from 1
---@param count integer from 1
---@return perilune.expression
function perilune.ntile(count) end

---Calls a function once, later.
---```lua
---perilune.after("10ms", function() print("later") end)
---print("now")
---perilune.sleep("50ms")
-----> now
-----> later
---```
---
---- Raises `argument` if the delay or the function is not valid
---@param delay perilune.duration
---@param f fun(...: any)
---@param ... any arguments for `f`
---@return perilune.timer
function perilune.after(delay, f, ...) end

---Calls a function repeatedly. Calls that become due during a running call are combined into one, which follows it.
---```lua
---local count = 0
---local timer
---timer = perilune.every("1ms", function()
---  count = count + 1
---  if count == 3 then timer:cancel() end
---end)
---perilune.sleep("100ms")
---print(count)  --> 3
---```
---
---- Raises `argument` if the period or the function is not valid
---@param period perilune.duration at least 1 ms
---@param f fun(...: any)
---@param ... any arguments for `f`
---@return perilune.timer
function perilune.every(period, f, ...) end

---Calls a function at the times of a cron schedule, in local time or in a given time zone. When clocks are put forward, a skipped time of
---day is due at the moment of the change; when they are put back, a repeated time of day is due the first time. If the minute or the hour
---begins with a star, the schedule follows the clock. Ranges of hours, months and days of the week may run past the end: `22-6`, `fri-mon`.
---```lua
---local schedule = perilune.schedule("0 9 * * mon-fri", function(due)
---  print(due)
---end)
---print(schedule:next_time() > perilune.now())  --> true
---schedule:cancel()
---```
---
---- Raises `argument` if the schedule cannot be read, or `f` is not a function
---- Raises `unknown_time_zone` if the time zone does not exist
---@param schedule string minute, hour, day of the month, month and day of the week; or `"@hourly"`, `"@daily"`, `"@weekly"`, `"@monthly"`, `"@yearly"`
---@param f fun(due: perilune.date)
---@param options? { zone?: string, jitter?: perilune.duration } `zone`: a time zone such as `"Europe/Vienna"`, by default the time zone of the process; `jitter`: the longest random delay of a call
---@return perilune.schedule
function perilune.schedule(schedule, f, options) end

---Calls a function once, at a moment; at once if the moment has passed.
---```lua
---local due = perilune.at(perilune.now():add{ hours = 1 }, function(due)
---  print("due at " .. due)
---end)
---print(due:is_active())  --> true
---due:cancel()
---```
---
---- Raises `argument` if it is not a date, or `f` is not a function
---@param date perilune.date|string|number any value that `perilune.date` reads
---@param f fun(due: perilune.date)
---@return perilune.schedule
function perilune.at(date, f) end

---Waits for a duration. Other tasks run in the meantime.
---```lua
---perilune.sleep("1ms")
---print("awake")  --> awake
---```
---
---- Raises `argument` if the duration is not valid
---- Raises `yield` if it cannot wait here
---- Raises `cancelled` if the task or the run is cancelled
---- Waits for the duration
---- To be called outside blocks
---@async
---@param duration perilune.duration
function perilune.sleep(duration) end

---Starts a function as a concurrent task: whenever one task waits, the others run.
---```lua
---local task = perilune.spawn(function(a, b)
---  perilune.sleep("1ms")
---  return a + b
---end, 1, 2)
---print(task:wait())  --> 3
---```
---
---- Raises `argument` if `f` is not a function
---@param f fun(...: any): ...
---@param ... any arguments for `f`
---@return perilune.task
function perilune.spawn(f, ...) end

---Calls a function when the program receives a signal that would otherwise end it.
---```lua
---local handle = perilune.on_signal("HUP", function(name) print(name) end)
---print(handle:cancel())  --> true
---```
---
---- Raises `forbidden` if the host does not deliver signals
---- Raises `unknown_signal` if the host does not deliver this one
---- Raises `argument` if `f` is not a function
---@param name "INT"|"TERM"|"HUP"
---@param f fun(name: string)
---@return perilune.timer
function perilune.on_signal(name, f) end

---Sets the handler for errors that timers, tasks and observers leave unhandled. Without a handler, such an error ends the script.
---```lua
---perilune.on_error(function(err) print(err) end)
---perilune.after(0, function() error("oops", 0) end)
---perilune.sleep("20ms")  --> oops
---```
---
---- Raises `argument` if `f` is not a function
---@param f? fun(err: any) nil removes it
function perilune.on_error(f) end

---Defines an automation and activates it.
---```lua
---local automation = perilune.automation{
---  name = "welcome",
---  on = { event = "signed_up" },
---  run = function(context) print("welcome, " .. context.event.name) end,
---}
---perilune.emit("signed_up", { name = "Ada" })
---perilune.sleep("20ms")  --> welcome, Ada
---automation:remove()
---```
---
---- Raises `argument` if an option is not valid
---- Raises `definition` if another automation has this name
---- Raises `unknown_table` if the table does not exist
---- To be called outside blocks
---@param options perilune.automation_options
---@return perilune.automation
function perilune.automation(options) end

---Returns the automations in order of definition.
---```lua
---print(#perilune.automations())  --> 0
---```
---@return perilune.automation[]
function perilune.automations() end

---Triggers the automations that wait for an event, and returns their number. Runs of durable automations are recorded in the open
---transaction, even for automations that another process runs.
---```lua
---print(perilune.emit("order_placed", { id = 7 }))  --> 0
---```
---
---- Raises `argument` if `name` is not a string
---@param name string
---@param data? any
---@return integer
function perilune.emit(name, data) end

---Sends a signal to the run of a durable automation with a given key. Its `run:wait_for` receives the signal, whether it already waits or
---waits later. The signal is part of the open transaction.
---```lua
---print(perilune.signal("close order", 7, "feedback", { stars = 5 }))
-----> false
---```
---
---- Raises `argument` if an argument is not valid
---- To be called outside blocks that only read
---@param automation string its name
---@param key string|integer the key of the run
---@param name string
---@param value? any a value that JSON can express
---@return boolean is_awaited whether a run with the key waits for a signal now
function perilune.signal(automation, key, name, value) end

---Returns the queue with a name, and creates it on first use.
---```lua
---local mails = perilune.jobs("mail", {
---  attempts = 8,
---  backoff = { "1s", "1h" },
---  concurrency = 4,
---  rate = "100/minute",
---})
---local handler = mails:handle(function(job)
---  print(job.to, job.key, job.attempt)
---end)
---db:write(function()
---  db:execute("INSERT INTO tag (name) VALUES ('ordered')")
---  mails:enqueue({ to = "ada@example.com" }, { key = "order 7" })
---end)
---perilune.sleep("1s")  --> ada@example.com	order 7	1
---handler:cancel()
---```
---
---- Raises `argument` if an option is not valid
---- Raises `unknown_option` if no option has that name
---- To be called outside blocks that only read
---@param name string
---@param options? perilune.jobs_options
---@return perilune.jobs
function perilune.jobs(name, options) end

---Calls a block in a transaction, unless it has ever been called for this key in this database. Its writes and the key are committed
---together.
---```lua
---local function seed(db)
---  db:execute("INSERT INTO tag (name) VALUES ('first')")
---  return 1
---end
---print(perilune.once("seed 2026-11", seed))  --> 1	true
---print(perilune.once("seed 2026-11", seed))  --> 1	false
---```
---
---- Raises `argument` if an argument or the result is not valid
---- To be called outside blocks that only read
---@overload fun(key: string, block: fun(db: perilune.database): any): any, boolean
---@param db? perilune.database
---@param key string at most 500 bytes
---@param block fun(db: perilune.database): any its result must be a value that JSON can express
---@return any result of the block, this time or the first time
---@return boolean was_called
function perilune.once(db, key, block) end

do
---A type made by `perilune.enum`. Each case is a field.
---@class perilune.enum
---@field name string
---@field [string] perilune.case|string
local members = {}

---Returns all cases: the cases of a list in its order, and other cases sorted by their stored values.
---```lua
---local Grape = perilune.enum{ "chardonnay", "merlot" }
---for _, case in ipairs(Grape:cases()) do print(case) end
-----> chardonnay
-----> merlot
---```
---@return perilune.case[]|string[]
function members:cases() end

---Returns the case with a stored value.
---```lua
---print(perilune.enum{ red = 0, white = 1 }:from(1))  --> white
---```
---
---- Raises `conversion` if no case has the value
---@param raw integer|string
---@return perilune.case|string
function members:from(raw) end

---Converts a stored value. The library calls it wherever a type is expected.
---```lua
---local Color = perilune.enum{ red = 0 }
---print(Color:from_database(0), (Color:from_database(7)))  --> red	nil
---```
---@param raw integer|string
---@return perilune.case|string|nil case
---@return string? message an error message, if no case has the value
function members:from_database(raw) end

---Returns the stored value of a case.
---```lua
---local Color = perilune.enum{ red = 0 }
---print(Color:to_database(Color.red))  --> 0
---```
---@param case perilune.case|string
---@return integer|string
function members:to_database(case) end

end

---A case of an enumeration that was not made from a list. `tostring` returns its name.
---@class perilune.case
---@field name string
---@field raw integer|string the stored value

---A type made by `perilune.value_type`.
---@class perilune.value_type
---@field name string
---@overload fun(value: any): perilune.argument

do
---A type made by `perilune.row_type`. It is fetched from SQL, from a prepared statement, or from a request, which passes its records (or
---rows, if it selects columns) to `from_row`. The first argument may be a database.
---@class perilune.row_type
local members = {}

---Returns the values of all rows.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title end,
---}
---print(#Title:fetch_all("SELECT title FROM book"))  --> 3
---print(Title:fetch_all(Book:order("id"))[1])  --> Typee
---```
---
---- Raises `conversion` if `from_row` returns nothing
---- Raises `sql` if SQLite refuses the statement
---@param sql string|perilune.request
---@param ... perilune.argument arguments of SQL
---@return any[]
function members:fetch_all(sql, ...) end

---Returns the value of the first row, or nil.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title end,
---}
---print(Title:fetch_one("SELECT title FROM book WHERE id = ?", 2))
-----> Moby-Dick
---```
---
---- Raises `conversion` if `from_row` returns nothing
---- Raises `sql` if SQLite refuses the statement
---@param sql string|perilune.request
---@param ... perilune.argument
---@return any?
function members:fetch_one(sql, ...) end

---Iterates over the values of the rows.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title end,
---}
---for title in Title:rows("SELECT title FROM book WHERE id < 3") do
---  print(title)
---end
-----> Typee
-----> Moby-Dick
---```
---
---- Raises `conversion` if `from_row` returns nothing
---- Raises `sql` if SQLite refuses the statement
---@param sql string|perilune.request
---@param ... perilune.argument
---@return fun(): any
function members:rows(sql, ...) end

---Makes a value from a table of columns, or from a row.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title end,
---}
---print(Title:from{ title = "Omoo" })  --> Omoo
---```
---
---- Raises `argument` if `values` is not a table
---- Raises `conversion` if `from_row` returns nothing
---@param values table<string, any>
---@return any
function members:from(values) end

end

do
---Conversion between tables and JSON text. Integers remain integers, and floats remain floats. The members of an object are sorted by name,
---so that equal values have equal texts.
---@class perilune.json
local members = {}

---Returns the JSON text of a value. A table is an array if it is a list with at least one element, or is marked by
---`perilune.json.array`.
---```lua
---print(perilune.json.encode{ b = { 1, 2.5 }, a = perilune.null })
-----> {"a":null,"b":[1,2.5]}
---```
---
---- Raises `conversion` if the value contains a function, itself, or a number that JSON does not have
---@param value any
---@return string
function members.encode(value) end

---Returns the value of a JSON text, in which `null` becomes `perilune.null`.
---```lua
---print(perilune.json.decode('{"list": [1, 2]}').list[2])  --> 2
---```
---
---- Raises `conversion` if the text is not JSON
---@param text string
---@return any
function members.decode(text) end

---Marks a table as an array, so that it is `[]` even if empty.
---```lua
---print(perilune.json.encode(perilune.json.array()))  --> []
---```
---@param list? any[] the table, which is returned; by default a new one
---@return any[]
function members.array(list) end

---Marks a table as an object. An empty table without a mark is also an object.
---```lua
---print(perilune.json.encode(perilune.json.object{ name = "tea" }))
-----> {"name":"tea"}
---```
---@param members? table<string, any> the table, which is returned; by default a new one
---@return table<string, any>
function members.object(members) end

end

do
---The host's log. Entries have the script's file and line. Levels below the logger's level cost next to nothing.
---@class perilune.log
local members = {}

---Logs details of how something works.
---```lua
---perilune.log.trace("stock was counted", { count = 3 })
---```
---
---- Raises `argument` if `fields` is not a table
---@param message string
---@param fields? table<string, any> metadata of the log entry
function members.trace(message, fields) end

---Logs information for debugging.
---```lua
---perilune.log.debug("stock was counted", { count = 3 })
---```
---
---- Raises `argument` if `fields` is not a table
---@param message string
---@param fields? table<string, any> metadata of the log entry
function members.debug(message, fields) end

---Logs a normal event.
---```lua
---perilune.log.info("stock was counted", { count = 3 })
---```
---
---- Raises `argument` if `fields` is not a table
---@param message string
---@param fields? table<string, any> metadata of the log entry
function members.info(message, fields) end

---Logs an event that deserves attention.
---```lua
---perilune.log.notice("stock was counted", { count = 3 })
---```
---
---- Raises `argument` if `fields` is not a table
---@param message string
---@param fields? table<string, any> metadata of the log entry
function members.notice(message, fields) end

---Logs a condition that may become an error.
---```lua
---perilune.log.warning("stock was counted", { count = 3 })
---```
---
---- Raises `argument` if `fields` is not a table
---@param message string
---@param fields? table<string, any> metadata of the log entry
function members.warning(message, fields) end

---Logs a failure.
---```lua
---perilune.log.error("stock was counted", { count = 3 })
---```
---
---- Raises `argument` if `fields` is not a table
---@param message string
---@param fields? table<string, any> metadata of the log entry
function members.error(message, fields) end

---Logs a failure that makes the program unusable.
---```lua
---perilune.log.critical("stock was counted", { count = 3 })
---```
---
---- Raises `argument` if `fields` is not a table
---@param message string
---@param fields? table<string, any> metadata of the log entry
function members.critical(message, fields) end

end

---Options of `perilune.queue` and `perilune.pool`.
---@class perilune.database_options
---@field readonly? boolean false by default
---@field foreign_keys? boolean whether foreign keys are enforced; true by default
---@field double_quoted_strings? boolean whether triggers and views of the file may contain strings in double quotes; true by default
---@field busy_timeout? number|string seconds to wait for another connection's lock; 0, the default, raises at once
---@field journal_mode? "default"|"wal"
---@field label? string the name of the connection in logs
---@field reader_count? integer read connections of a pool, from 1 to 64; 5 by default
---@field prepare? fun(db: perilune.database) called with a handle of each connection before its first use
---@field observer? perilune.transaction_observer_options an observer that is active from the start
---@field trace? (fun(statement: { sql: string, duration?: number }))|{ call: function, profile?: boolean, values?: boolean } called with each statement

do
---A database, or a handle to it inside a block.
---@class perilune.database
local members = {}

---Returns the nodes of the database's cluster.
---```lua
---local ok, err = pcall(db.cluster_nodes, db)
---print(ok, err.kind)  --> false	usage
---```
---
---- Raises `usage` if the database is not in a cluster
---- Raises `cluster_unreachable` if no node answers
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return perilune.cluster_node[]
function members:cluster_nodes() end

---Runs one or several statements.
---```lua
---local result = db:execute("INSERT INTO tag (name) VALUES (?)", "whales")
---print(result.inserted_rowid, result.changed_rows)  --> 3	1
---```
---
---- Raises `sql` if SQLite refuses a statement
---- Raises `constraint_*` if a constraint is violated
---- Raises `argument` if the arguments do not fit the placeholders
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument one for each `?`, or one table: a list, or values by name
---@return perilune.execute_result
function members:execute(sql, ...) end

---Returns all rows of a query as a list.
---```lua
---local rows = db:fetch_all(
---  "SELECT title FROM book WHERE year > :year ORDER BY year",
---  { year = 1850 }
---)
---print(#rows, rows[1].title)  --> 2	Moby-Dick
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return perilune.row[]
function members:fetch_all(sql, ...) end

---Returns the first row of a query, or nil.
---```lua
---print(db:fetch_one("SELECT * FROM author WHERE id = ?", 2).name)
-----> Jules Verne
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return perilune.row?
function members:fetch_one(sql, ...) end

---Returns the first column of the first row. A missing row and NULL are both nil.
---```lua
---print(db:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return any
function members:fetch_value(sql, ...) end

---Returns the first column of all rows as a list.
---```lua
---print(
---  table.concat(db:fetch_values("SELECT name FROM tag ORDER BY name"), ", ")
---)
-----> sea, travel
---```
---
---- Raises `null` if a value is NULL
---- Raises `sql` if SQLite refuses the statement
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return any[]
function members:fetch_values(sql, ...) end

---Returns the first column of all rows as a list in which NULL is `perilune.null`.
---```lua
---local countries = db:fetch_optional_values(
---  "SELECT country FROM author ORDER BY id"
---)
---print(countries[3] == perilune.null)
-----> true
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return any[]
function members:fetch_optional_values(sql, ...) end

---Returns the first column of all rows as the keys of a table.
---```lua
---print(db:fetch_set("SELECT name FROM tag").sea)  --> true
---```
---
---- Raises `null` if a value is NULL
---- Raises `sql` if SQLite refuses the statement
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return table<any, true>
function members:fetch_set(sql, ...) end

---Returns the first column of the first row, converted to a type. A missing row and NULL are both nil.
---```lua
---print(
---  db:fetch_value_as("date", "SELECT born FROM author WHERE id = 1").year
---)
-----> 1819
---```
---
---- Raises `conversion` if the value is not of that type
---- Raises `sql` if SQLite refuses the statement
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param type perilune.type
---@param sql string
---@param ... perilune.argument
---@return any
function members:fetch_value_as(type, sql, ...) end

---Returns the first column of all rows, converted to a type.
---```lua
---print(
---  db:fetch_values_as("boolean", "SELECT is_read FROM book ORDER BY id")[1]
---)
-----> true
---```
---
---- Raises `conversion` if a value is not of that type
---- Raises `null` if a value is NULL
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param type perilune.type
---@param sql string
---@param ... perilune.argument
---@return any[]
function members:fetch_values_as(type, sql, ...) end

---Iterates over the rows of a query without holding all of them in memory.
---```lua
---for row in db:rows("SELECT title, year FROM book ORDER BY year") do
---  print(row.title, row.year)
---end
-----> Typee	1846
-----> Moby-Dick	1851
-----> Around the World	1872
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `dead_handle` if the iterator is used after its block
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return fun(): perilune.row?
function members:rows(sql, ...) end

---Iterates over the rows of a query as separate values. A first column that is NULL is `perilune.null`.
---```lua
---local statement = "SELECT title, year FROM book WHERE id < 3 ORDER BY id"
---for title, year in db:tuples(statement) do
---  print(title, year)
---end
-----> Typee	1846
-----> Moby-Dick	1851
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `dead_handle` if the iterator is used after its block
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return fun(): ...
function members:tuples(sql, ...) end

---Compiles a statement that can run several times with different arguments.
---```lua
---local insert = db:prepare("INSERT INTO tag (name) VALUES (?)")
---for _, name in ipairs{ "ship", "island" } do insert:execute(name) end
---print(db:fetch_value("SELECT COUNT(*) FROM tag"))  --> 4
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if `sql` is not one statement
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string one statement
---@return perilune.statement
function members:prepare(sql) end

---Calls a function with a read-only handle, which sees a single state of the database.
---```lua
---local books, authors = db:read(function(db)
---  return
---    db:fetch_value("SELECT COUNT(*) FROM book"),
---    db:fetch_value("SELECT COUNT(*) FROM author")
---end)
---print(books, authors)  --> 3	3
---```
---
---- Raises `readonly` if the block writes
---- Raises `yield` if the block waits
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called any; inside another block of the same database, it reads in its transaction
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
function members:read(block, ...) end

---Calls a function with a handle in a transaction. If the function raises an error, the transaction is rolled back and the error is raised
---again. Inside another block that writes, it is a savepoint: an error undoes the inner block only, if it is caught.
---With the option `note`, the histories of all tables record the note with the transaction (`perilune.history`). With the option `retry`, a
---block in a cluster runs again, up to that number of times, if the leader changes before the commit.
---```lua
---db:write(function(db)
---  db:execute("UPDATE book SET is_read = TRUE")
---  db:execute("DELETE FROM tag")
---end)
---print(db:fetch_value("SELECT COUNT(*) FROM book WHERE is_read"))  --> 3
---```
---
---- Raises `nested_access` if in a block that only reads
---- Raises `usage` if the block returns `"rollback"`, which would commit
---- Raises `busy` if another connection holds the lock
---- Raises `yield` if the block waits
---- Raises `history` if the database has no history for a note
---- Raises `cluster_moved` if the leader of the cluster changed, and nothing was committed
---- Raises `cluster_timeout` if the cluster did not answer, and nothing was committed
---- Raises `cluster_unknown` if the result of the commit could not be determined
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called any, except inside a block of the same database that only reads
---@param options? { note?: string, retry?: integer } may be left out
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
function members:write(options, block, ...) end

---Calls a function with a handle in a transaction of a chosen kind, and commits when the function returns. If its first result is
---`"rollback"`, the transaction is rolled back; the words `"commit"` and `"rollback"` are not returned.
---```lua
---db:in_transaction("immediate", function(db)
---  db:execute("DELETE FROM book WHERE id = 3")
---end)
---print(db:fetch_value("SELECT COUNT(*) FROM book"))  --> 2
---```
---
---- Raises `argument` if the kind is unknown, or the block returns a misspelt word
---- Raises `nested_access` if in a transaction of the same database
---- Raises `busy` if another connection holds the lock
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside blocks of the same database, or directly inside `write_without_transaction`
---@param kind? "deferred"|"immediate"|"exclusive" may be left out; `"immediate"` by default
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
function members:in_transaction(kind, block, ...) end

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
---
---- Raises `yield` if the block waits
---- Raises `argument` if `block` is not a function, or returns a misspelt word
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
function members:in_savepoint(block, ...) end

---Calls a function with a handle to the write connection, without a transaction: for `PRAGMA`, `VACUUM` and the like.
---```lua
---db:write_without_transaction(function(db)
---  db:execute("PRAGMA user_version = 7")
---end)
---print(db:fetch_value("PRAGMA user_version"))  --> 7
---```
---
---- Raises `nested_access` if in another block of the same database
---- Raises `yield` if the block waits
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside blocks of the same database
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
function members:write_without_transaction(block, ...) end

---Returns whether a transaction is open.
---```lua
---print(db:is_inside_transaction())  --> false
---db:write(function(db) print(db:is_inside_transaction()) end)  --> true
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return boolean
function members:is_inside_transaction() end

---Returns SQLite's plan for a query. Printed, the plan is a tree.
---```lua
---print(db:explain("SELECT * FROM book WHERE id = 1"))
-----> └─ SEARCH book USING INTEGER PRIMARY KEY (rowid=?)
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param sql string
---@param ... perilune.argument
---@return perilune.query_plan
function members:explain(sql, ...) end

---Returns the path of the database file, or `":memory:"` for a database in memory.
---```lua
---print(perilune.queue(":memory:"):path())  --> :memory:
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return string
function members:path() end

---Adds an SQL function, or replaces the function with the same name and number of arguments. The function belongs to the script, and must
---not use the database.
---```lua
---db:add_function("slugify", 1, function(text)
---  return (text:lower():gsub("%W+", "-"))
---end)
---print(db:fetch_value("SELECT slugify(title) FROM book WHERE id = 2"))
-----> moby-dick
---```
---
---- Raises `argument` if the name, the number or the function is not valid
---- Raises `unknown_option` if an option does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options? integer|{ arguments?: integer, deterministic?: boolean } the number of arguments, or -1, the default, for any number; indexes and generated columns need `deterministic = true`
---@param f fun(...: any): perilune.argument gets NULL as nil, and returns nil for NULL; an error or the result NaN ends the statement
function members:add_function(name, options, f) end

---Adds an SQL aggregate.
---```lua
---db:add_aggregate("product", 1, {
---  initial = 1,
---  step = function(state, value) return state * value end,
---})
---print(db:fetch_value("SELECT product(id) FROM book"))  --> 6
---```
---
---- Raises `argument` if the name, the number or the definition is not valid
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options? integer|{ arguments?: integer, deterministic?: boolean }
---@param definition { step: (fun(state: any, ...: any): any), initial?: any, final?: (fun(state: any): any), inverse?: (fun(state: any, ...: any): any) } `step` returns the new state; `initial` is the first state or a function that returns it; `inverse` removes a row, which makes the aggregate fast as a window function
function members:add_aggregate(name, options, definition) end

---Adds a collation.
---```lua
---db:add_collation("by_length", function(a, b) return #a - #b end)
---print(db:fetch_value[[
---  SELECT title FROM book ORDER BY title COLLATE by_length LIMIT 1]])
-----> Typee
---```
---
---- Raises `argument` if the name or the function is not valid
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param compare fun(a: string, b: string): integer returns a negative number, 0 or a positive number
function members:add_collation(name, compare) end

---Removes an SQL function or aggregate. If it replaced a built-in function, the removal is refused, because SQLite restores the built-in
---function only when the database is opened again.
---```lua
---db:add_function("twice", 1, function(x) return 2 * x end)
---db:remove_function("twice", 1)
---print((pcall(db.fetch_value, db, "SELECT twice(1)")))  --> false
---```
---
---- Raises `argument` if the name or the number is not valid, or the function is built into SQLite
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param count? integer its number of arguments; -1 by default
function members:remove_function(name, count) end

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
---
---- Raises `argument` if the name is not valid
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
function members:remove_collation(name) end

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
---
---- Raises `nested_access` if in a block of the same database
---- Raises `readonly` if `read` writes
---- Raises `argument` if an argument is not a function
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside blocks of the same database
---@param write fun(db: perilune.database): ...
---@param read fun(db: perilune.database, ...: any): ... also gets the results of `write`
---@return any ... the results of `read`
function members:write_then_read(write, read) end

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
---
---- Raises `usage` if the database is not a pool
---- Raises `closed` if the database is closed
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return perilune.database snapshot
function members:snapshot() end

---Returns whether the database is a pool, so that `db:snapshot` can be called.
---```lua
---print(perilune.queue():has_snapshots())  --> false
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return boolean
function members:has_snapshots() end

---Returns the time of the transaction: the time of its first call in the transaction. Outside of transactions it is the current time. It
---uses the clock of the context, as `perilune.now` does.
---```lua
---db:write(function(db)
---  local time = db:transaction_date()
---  db:execute("INSERT INTO tag (name) VALUES (?)", time)
---  print(db:transaction_date() == time)  --> true
---end)
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return perilune.date
function members:transaction_date() end

---Moves the contents of the write-ahead log into the database file.
---```lua
---local pool = perilune.pool(temporary_path("log.sqlite"))
---pool:execute("CREATE TABLE note (text)")
---print(pool:checkpoint("truncate").frames)  --> 0
---pool:close()
---```
---
---- Raises `unknown_checkpoint` if the kind does not exist
---- Raises `busy` if a reader or writer holds the lock
---- Raises `readonly` if the database may only be read
---- Raises `nested_access` if in a block of the database
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside blocks of the same database
---@param kind? "passive"|"full"|"restart"|"truncate" `"passive"`, the default, does not wait; the others wait for writers and readers, and then restart the log; `"truncate"` also empties its file
---@return { frames: integer, checkpointed: integer } the number of frames in the log, and of those already in the database; both are 0 without a log
function members:checkpoint(kind) end

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
---
---- Raises `argument` if the target is the same database, or an option is not valid
---- Raises `unknown_option` if an option does not exist
---- Raises `readonly` if the target may only be read
---- Raises `busy` if another connection holds a lock
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside blocks of both databases
---@param target perilune.database
---@param options? perilune.backup_options
function members:backup_to(target, options) end

---Returns the whole database as a string, in the format of a database file.
---```lua
---local copy = perilune.deserialize(db:serialize())
---print(copy:fetch_value("SELECT COUNT(*) FROM book"))  --> 3
---```
---
---- Raises `memory` if the database is larger than the script's memory limit
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return string
function members:serialize() end

---Opens the blob or text in one column of one row, to read or write it in pieces. It remains open until it is closed or the block ends, and
---uses little memory, whatever its length. Writing it does not run triggers and checks.
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
---
---- Raises `unknown_table` if the table does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `not_found` if no row has the row id
---- Raises `argument` if the value is neither a blob nor a text, or an argument has the wrong type
---- Raises `readonly` if the block may only read
---- Raises `usage` if outside of blocks, or without a transaction for writing
---- Raises `unknown_option` if an option does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called inside blocks
---@param table string a table that stores its own rows, with row ids
---@param column string
---@param rowid integer
---@param options? { write?: boolean } whether it may be written; false by default
---@return perilune.open_blob
function members:open_blob(table, column, rowid, options) end

---Interrupts all statements of the database, on all its connections. They raise an error of kind `interrupt`.
---```lua
---db:interrupt()
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
function members:interrupt() end

---Closes a database that the script has opened. Closing it again does nothing.
---```lua
---local other = perilune.queue(":memory:")
---other:close()
---print(select(2, pcall(other.tables, other)).kind)  --> closed
---```
---
---- Raises `not_closable` if it is the default database
---- Raises `nested_access` if in a block of the database
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside blocks of the same database
function members:close() end

---Creates a table.
---```lua
---db:create_table("review", { strict = true }, function(t)
---  t:auto_incremented_primary_key("id")
---  t:belongs_to("book", { on_delete = "cascade" }):not_null()
---  t:column("text", "text"):not_null()
---end)
---print(db:columns("review")[2].name)  --> book_id
---```
---
---- Raises `definition` if the definition contradicts itself
---- Raises `unknown_column` if a key names a column that does not exist
---- Raises `sql` if the table exists already
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options? { if_not_exists?: boolean, temporary?: boolean, without_rowid?: boolean, strict?: boolean } may be left out
---@param block fun(t: perilune.table_definition)
function members:create_table(name, options, block) end

---Drops a table. For a synchronized full-text table, it also drops the triggers.
---```lua
---db:drop_table("book_tag")
---print(db:table_exists("book_tag"))  --> false
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `definition` if it is a view, has a history, or is a history
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options? { if_exists?: boolean }
function members:drop_table(name, options) end

---Alters a table: its columns, keys, constraints, or table options. All changes are made, or none.
---
---If SQLite's `ALTER TABLE` cannot make a change, a new table takes the rows and replaces the old table. Rows, row ids, indexes, triggers,
---views, other tables' foreign keys and the comments in the definition are preserved. Whatever does not fit the changed table is refused,
---and so are values that a new column type would change. The history of a table follows its changes; see `perilune.history`.
---```lua
---db:alter_table("book", function(t)
---  t:add_column("subtitle", "text")
---  t:change_column("pages", "real"):default(0)
---  t:check("pages >= 0")
---end)
---print(
---  db:columns("book")[5].type,
---  db:fetch_value("SELECT pages FROM book WHERE id = 1")
---)
-----> REAL	326.0
---
---local statements = db:alter_table("tag", { dry_run = true }, function(t)
---  t:rename_column("name", "label")
---end)
---print(statements)  --> ALTER TABLE "tag" RENAME COLUMN "name" TO "label";
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if it is a view or a virtual table, or something would be lost
---- Raises `constraint_*` if a row violates an added constraint
---- Raises `sql` if SQLite cannot make the change
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options? { dry_run?: boolean } may be left out; a dry run makes the changes, reverts them, and returns their statements
---@param block fun(t: perilune.table_alteration)
---@return string[]? statements the statements of a dry run; printed, they are SQL
function members:alter_table(name, options, block) end

---Renames a table and its history, and updates the indexes, views, triggers and foreign keys that name it.
---```lua
---db:rename_table("tag", "label")
---print(db:table_exists("label"))  --> true
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `definition` if a full-text table is synchronized with it, it is a history, or the name of its history is taken
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param new_name string
function members:rename_table(name, new_name) end

---Creates an index on columns of a table. Without a name, it is named after the table and the columns.
---```lua
---db:create_index(
---  "book",
---  { { "title", desc = true } },
---  { name = "book_by_title", where = "pages > 100" }
---)
---db:create_index("book", { "year" })
---for _, index in ipairs(db:indexes("book")) do print(index.name) end
-----> book_by_title
-----> book_on_year
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an index on expressions has no name
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name string
---@param columns string|any[] a column is a name, an expression, a function of the columns, or a table with `desc`, `collate` or `sql`
---@param options? { name?: string, unique?: boolean, where?: any, if_not_exists?: boolean }
function members:create_index(table_name, columns, options) end

---Drops an index of a table, given by its columns or its name.
---```lua
---db:create_index("book", { "year" })
---db:create_index("book", { "title" }, { name = "book_by_title" })
---db:drop_index("book", { "year" })
---db:drop_index("book", { name = "book_by_title" })
---print(#db:indexes("book"))  --> 0
---```
---
---- Raises `unknown_index` if the index does not exist
---- Raises `definition` if several indexes have these columns
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name string
---@param columns? string|string[] may be left out if the options have a name
---@param options? { name?: string, if_exists?: boolean }
function members:drop_index(table_name, columns, options) end

---Creates a view from SQL or from a request.
---```lua
---db:create_view("long_book", Book:filter(Book.c.pages:gt(500)))
---print(db:fetch_value("SELECT title FROM long_book"))  --> Moby-Dick
---```
---
---- Raises `argument` if the query is neither SQL nor a request
---- Raises `sql` if SQLite refuses the query
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param query string|perilune.request
---@param options? { columns?: string[], temporary?: boolean, if_not_exists?: boolean }
function members:create_view(name, query, options) end

---Drops a view.
---```lua
---db:create_view("title", "SELECT title FROM book")
---db:drop_view("title")
---print(db:view_exists("title"))  --> false
---```
---
---- Raises `unknown_view` if the view does not exist
---- Raises `definition` if it is a table
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options? { if_exists?: boolean }
function members:drop_view(name, options) end

---Creates a trigger on a table, or with `instead_of` on a view.
---
---Conditions and statements are SQL, or come from functions that take the new and the old row; their columns are checked.
---```lua
---db:execute("CREATE TABLE title_log (title TEXT)")
---db:create_trigger("log_title", {
---  on = "book", after = "update", columns = { "title" },
---  when = function(new, old) return new.title:ne(old.title) end,
---  run = "INSERT INTO title_log VALUES (old.title)",
---})
---db:execute("UPDATE book SET title = 'Omoo' WHERE id = 1")
---print(db:fetch_value("SELECT title FROM title_log"))  --> Typee
---
---db:create_trigger("keep_tags", {
---  on = "tag",
---  before = "delete",
---  refuse = "tags stay",
---})
---print((pcall(db.execute, db, "DELETE FROM tag")))  --> false
---```
---
---- Raises `unknown_table` if the table or view does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_event` if the event does not exist
---- Raises `definition` if the options contradict each other or the table
---- Raises `argument` if an option is not valid
---- Raises `sql` if SQLite refuses it
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options perilune.trigger_options
function members:create_trigger(name, options) end

---Drops a trigger.
---```lua
---db:create_trigger("keep_tags", {
---  on = "tag",
---  before = "delete",
---  refuse = "tags stay",
---})
---db:drop_trigger("keep_tags")
---print(db:trigger_exists("keep_tags"))  --> false
---```
---
---- Raises `unknown_trigger` if the trigger does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options? { if_exists?: boolean }
function members:drop_trigger(name, options) end

---Creates a table for full-text search with FTS5. A synchronized table follows the rows of another table by triggers, whichever program
---writes them. It also follows rows that REPLACE deletes, if the unique key involved existed before the full-text table, or was created by
---`db:create_index`.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---  tokenizer = "porter",
---})
---print(db:fetch_value(
---  "SELECT title FROM book_text WHERE book_text MATCH ?",
---  perilune.fts5_pattern("worlds")
---))
-----> Around the World
---```
---
---- Raises `definition` if the options contradict each other
---- Raises `unknown_column` if the synchronized table has no column of that name
---- Raises `argument` if an option is not valid
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string
---@param options perilune.fts5_options
function members:create_fts5(name, options) end

---Removes the triggers that synchronize a full-text table: one that was dropped, or that should no longer change.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---})
---db:drop_fts5_synchronization("book_text")
---print(#db:triggers("book"))  --> 0
---```
---
---- Raises `argument` if `name` is not a name
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string the full-text table
function members:drop_fts5_synchronization(name) end

---Returns the sorted names of the tables, without SQLite's own.
---```lua
---print(table.concat(db:tables(), ", "))  --> author, book, book_tag, tag
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return string[]
function members:tables() end

---Returns the sorted names of the views.
---```lua
---print(#db:views())  --> 0
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@return string[]
function members:views() end

---Returns the triggers, sorted by name.
---```lua
---db:execute[[
---  CREATE TRIGGER guard BEFORE DELETE ON tag
---  BEGIN SELECT RAISE(ABORT, 'no'); END]]
---print(db:triggers("tag")[1].name)  --> guard
---```
---
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name? string only for this table
---@return { name: string, table: string, sql: string }[]
function members:triggers(table_name) end

---Returns whether a table with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:table_exists("book"))  --> true
---```
---
---- Raises `argument` if `name` is not a string
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string in any case
---@return boolean
function members:table_exists(name) end

---Returns whether a view with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:view_exists("book"))  --> false
---```
---
---- Raises `argument` if `name` is not a string
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string in any case
---@return boolean
function members:view_exists(name) end

---Returns whether an index with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:index_exists("book_by_title"))  --> false
---```
---
---- Raises `argument` if `name` is not a string
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string in any case
---@return boolean
function members:index_exists(name) end

---Returns whether a trigger with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:trigger_exists("guard"))  --> false
---```
---
---- Raises `argument` if `name` is not a string
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param name string in any case
---@return boolean
function members:trigger_exists(name) end

---Returns the columns of a table or view in order.
---```lua
---print(db:columns("book")[3].name, db:columns("book")[3].not_null)
-----> title	true
---```
---
---- Raises `unknown_table` if the table or view does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name string
---@return perilune.column_info[]
function members:columns(table_name) end

---Returns the primary key of a table: its columns, and whether the key is the row id.
---```lua
---print(#db:primary_key("book_tag").columns, db:primary_key("book").rowid)
-----> 2	true
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name string
---@return { columns: string[], rowid: boolean }
function members:primary_key(table_name) end

---Returns the indexes of a table. In the list of columns, `false` represents an expression.
---```lua
---print(db:indexes("author")[1].origin)  --> unique
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name string
---@return { name: string, columns: (string|false)[], unique: boolean, partial: boolean, origin: "create index"|"unique"|"primary key" }[]
function members:indexes(table_name) end

---Returns whether columns, in any order, are the primary key or have a unique index without a condition.
---```lua
---print(
---  db:has_unique_key("author", { "name" }),
---  db:has_unique_key("book", { "title" })
---)
-----> true	false
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if `columns` is not a list
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name string
---@param columns string[]
---@return boolean
function members:has_unique_key(table_name, columns) end

---Returns the foreign keys of a table.
---```lua
---local key = db:foreign_keys("book")[1]
---print(key.table, key.columns[1], key.on_delete)
-----> author	author_id	cascade
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name string
---@return { table: string, columns: string[], referenced_columns: string[], on_update: string, on_delete: string }[]
function members:foreign_keys(table_name) end

---Returns the rows that violate a foreign key.
---```lua
---print(#db:foreign_key_violations())  --> 0
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name? string only for this table
---@return { table: string, rowid: integer?, referenced_table: string, key: integer }[]
function members:foreign_key_violations(table_name) end

---Returns the SQL that recreates the schema, as `perilune schema` writes it: tables, indexes, views and triggers, each in order of
---creation.
---```lua
---print(db:schema_sql():match("CREATE TABLE tag"))  --> CREATE TABLE tag
---print(db:schema_sql("tag"):match("CREATE TABLE book"))  --> nil
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param table_name? string only this table or view, with its indexes and triggers
---@return string
function members:schema_sql(table_name) end

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
---
---- Raises `unrecordable` if a changed table cannot be recorded, or an observer with `on_change` was added during the recording
---- Raises `recording_too_large` if the changes take too much memory
---- Raises `readonly` if the surrounding block may only read
---- Raises `yield` if the block waits
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return perilune.changeset
---@return any ... the results of the block
function members:record_changes(block, ...) end

---Applies the changes of a changeset, or none of them, in a transaction, or in a savepoint inside one. Triggers and foreign key actions
---such as ON DELETE CASCADE do not run, because the changeset already contains their changes.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("UPDATE tag SET name = 'lake' WHERE name = 'sea'")
---end)
---print(db:apply_changes(changeset:inverted()))  --> 1	0
---print(db:fetch_value("SELECT COUNT(*) FROM tag WHERE name = 'sea'"))  --> 1
---```
---
---- Raises `conflict` if a change conflicts, and the resolution is `"abort"`
---- Raises `changeset_schema` if a table is missing, or has other columns or another key
---- Raises `constraint_foreign_key` if a row would refer to a missing row
---- Raises `unknown_resolution` if the resolution does not exist
---- Raises `unknown_option` if an option does not exist
---- Raises `argument` if `"replace"` is not possible for the conflict, or an argument has the wrong type
---- Raises `readonly` if the surrounding block may only read
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param changeset perilune.changeset
---@param options? { conflict?: perilune.changeset_resolution|table<string, perilune.changeset_resolution>|(fun(conflict: perilune.changeset_conflict): perilune.changeset_resolution), tables?: string|string[] } `conflict`: the resolution of conflicts: a word, `"abort"` by default, words by kind of conflict, or a function that must not use the database; `tables`: the tables to change, all by default
---@return integer applied the number of applied changes
---@return integer omitted the number of omitted changes
function members:apply_changes(changeset, options) end

---Calls functions when transactions change the database. Changes that a savepoint or a failed statement has undone are not reported.
---Commits from other scripts and from Swift are reported when the script next waits or ends, without `will_commit`. Errors in `did_commit`
---and `did_rollback` go to `perilune.on_error`.
---```lua
---local observer = db:observe_transactions{
---  tables = "tag",
---  on_change = function(event) print(event.operation, event.new.name) end,
---  did_commit = function(db)
---    print(db:fetch_value("SELECT COUNT(*) FROM tag"))
---  end,
---}
---db:execute("INSERT INTO tag (name) VALUES ('ships')")
-----> insert	ships
-----> 3
---observer:cancel()
---```
---
---- Raises `argument` if no function is given, or an option is not valid
---- Raises `unknown_table` if the table does not exist
---- Raises `unknown_operation` if the operation does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param options perilune.transaction_observer_options
---@return perilune.transaction_observer
function members:observe_transactions(options) end

---Calls a function once, after the commit of the current transaction, or of the next one if none is open.
---```lua
---db:write(function(db)
---  db:after_next_transaction(function() print("committed") end)
---  print("inside")
---end)
-----> inside
-----> committed
---```
---
---- Raises `argument` if an argument is not a function
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param on_commit fun(db: perilune.database)
---@param on_rollback? fun(db: perilune.database) called instead if the transaction is rolled back
---@return perilune.transaction_observer
function members:after_next_transaction(on_commit, on_rollback) end

---Observes the results of a function. The callback gets the current results, and then the new results after each transaction, of any
---writer, that has changed them. Equal results are delivered once. Without a callback, the script asks the observation for values.
---```lua
---local observation = db:observe(function(db)
---  return db:fetch_value("SELECT COUNT(*) FROM tag")
---end)
---print(observation:next())  --> 2
---db:execute("INSERT INTO tag (name) VALUES ('ships')")
---print(observation:next())  --> 3
---observation:cancel()
---```
---
---- Raises `argument` if an argument is not a function
---- Raises `unknown_option` if an option does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside of observers
---@param fetch fun(db: perilune.database): ...
---@param callback? fun(...: any)
---@param options? perilune.observation_options
---@return perilune.observation
function members:observe(fetch, callback, options) end

---Observes parts of a database, regardless of their contents. The callback is called without arguments after each transaction that may have
---changed them. Without a callback, `observation:next()` waits for such a transaction.
---```lua
---local observation = db:observe_region(
---  { "tag", { table = "book", columns = { "title" } } }
---)
---db:execute("INSERT INTO tag (name) VALUES ('ships')")
---observation:next()
---print("changed")  --> changed
---observation:cancel()
---```
---
---- Raises `argument` if an argument is not valid
---- Raises `unknown_table` if a table does not exist
---- Raises `unknown_column` if a column does not exist
---- Raises `unknown_option` if an option does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside of observers
---@param regions perilune.region|perilune.region[]
---@param callback? fun()
---@param options? { keeps_alive?: boolean, on_error?: (fun(err: perilune.error)), poll?: perilune.duration } as for `db:observe`
---@return perilune.observation
function members:observe_region(regions, callback, options) end

---Returns an observation that several functions share. It fetches once for all of them, and only while at least one of them is subscribed.
---```lua
---local shared = db:share_observation(Tag:order("name"), {
---  keeps_alive = false,
---})
---local list = shared:observe(function(tags) print(#tags) end)
---local title = shared:observe(function(tags) print("tags: " .. #tags) end)
---print(shared:count())  --> 2
---shared:cancel()
---```
---
---- Raises `argument` if an argument is not valid
---- Raises `unknown_option` if an option does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---- To be called outside of observers
---@param source (fun(db: perilune.database): ...)|perilune.request|perilune.record_class
---@param options? perilune.observation_options the options of `db:observe`, except `looks_first`
---@return perilune.shared_observation
function members:share_observation(source, options) end

---Makes observations fetch again after changes that were not observed. It also affects observations in other hosts and in Swift.
---```lua
---db:notify_changes("tag")
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `dead_handle` if the handle's block has ended
---- Raises `closed` if the database is closed
---- Raises `nested_access` if SQLite is calling the script, or an enclosing block of the same database excludes the call
---@param ... string the tables that have changed; all by default
function members:notify_changes(...) end

end

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

---The steps of a query plan, each with a list of its substeps.
---@class perilune.query_plan
---@field [integer] { detail: string, children: perilune.query_plan }

---Options of `db:backup_to`.
---@class perilune.backup_options
---@field pages? integer the number of pages to copy at a time; 1000 by default
---@field pause? perilune.duration how long to wait after each step; other connections may use the file during the pause
---@field progress? fun(completed: integer, total: integer) called after each step with the number of copied pages and of all pages; an error ends the backup, and the target does not change

do
---An open blob, made by `db:open_blob`, with the methods of Lua files. It closes at the end of its block, or as a `<close>` variable.
---@class perilune.open_blob
local members = {}

---Returns bytes from the current position, and advances the position. At the end it returns nil if `count` is given, and otherwise the
---empty string, as Lua files do.
---```lua
---db:read(function(db)
---  local blob = db:open_blob("book", "title", 1)
---  print(blob:read(3), blob:read(), blob:read(1))  --> Typ	ee	nil
---end)
---```
---
---- Raises `argument` if the number is not valid
---- Raises `closed` if the blob is closed
---- Raises `dead_handle` if the block in which it was opened has ended
---- Raises `expired_blob` if its row was changed or deleted in another way
---- To be called inside the block that opened it
---@param count? integer at most this number of bytes; all that are left by default
---@return string?
function members:read(count) end

---Writes bytes at the current position, and advances the position. The size of a blob cannot change.
---```lua
---db:write(function(db)
---  db:open_blob("book", "title", 1, { write = true }):write("H")
---  print(db:fetch_value("SELECT title FROM book WHERE id = 1"))  --> Hypee
---end)
---```
---
---- Raises `range` if the bytes do not fit
---- Raises `readonly` if the blob was opened for reading
---- Raises `argument` if the bytes are neither a string nor a blob
---- Raises `closed` if the blob is closed
---- Raises `dead_handle` if the block in which it was opened has ended
---- Raises `expired_blob` if its row was changed or deleted in another way
---- To be called inside the block that opened it
---@param bytes string|perilune.blob
---@return perilune.open_blob self
function members:write(bytes) end

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
---
---- Raises `range` if the position would be outside of the blob
---- Raises `argument` if an argument is not valid
---- Raises `closed` if the blob is closed
---- Raises `dead_handle` if the block in which it was opened has ended
---- Raises `expired_blob` if its row was changed or deleted in another way
---- To be called inside the block that opened it
---@param whence? "set"|"cur"|"end" from the beginning, the current position, which is the default, or the end
---@param offset? integer 0 by default
---@return integer position
function members:seek(whence, offset) end

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
---
---- Raises `argument` if the size is not valid
---- Raises `closed` if the blob is closed
---- Raises `dead_handle` if the block in which it was opened has ended
---- Raises `expired_blob` if its row was changed or deleted in another way
---- To be called inside the block that opened it
---@param size? integer the number of bytes in each piece except the last; 65536 by default
---@return fun(): string?
function members:pieces(size) end

---Returns the number of bytes, as `#blob` does.
---```lua
---db:read(function(db) print(db:open_blob("book", "title", 1):size()) end)
-----> 5
---```
---
---- Raises `closed` if the blob is closed
---- Raises `dead_handle` if the block in which it was opened has ended
---- Raises `expired_blob` if its row was changed or deleted in another way
---- To be called inside the block that opened it
---@return integer
function members:size() end

---Moves to the same column of another row, which is faster than opening another blob.
---```lua
---db:read(function(db)
---  local blob = db:open_blob("book", "title", 1)
---  print(blob:read(), blob:reopen(2):read())  --> Typee	Moby-Dick
---end)
---```
---
---- Raises `sql` if no row has the row id, or its value is neither a blob nor a text
---- Raises `argument` if the row id is not an integer
---- Raises `closed` if the blob is closed
---- Raises `dead_handle` if the block in which it was opened has ended
---- Raises `expired_blob` if its row was changed or deleted in another way
---- To be called inside the block that opened it
---@param rowid integer
---@return perilune.open_blob self
function members:reopen(rowid) end

---Closes the blob. Closing it again does nothing.
---```lua
---db:read(function(db)
---  local blob = db:open_blob("book", "title", 1)
---  blob:close()
---end)
---```
---
---- Raises `closed` if the blob is closed
---- Raises `dead_handle` if the block in which it was opened has ended
---- Raises `expired_blob` if its row was changed or deleted in another way
---- To be called inside the block that opened it
function members:close() end

end

---A row of a query.
---@class perilune.row
---@field [string] any the value of a column
---@field [integer] any the value of a column by its position, from 1

do
---The methods of rows, which are also in the table `perilune.row`.
---@class perilune.row_methods
local members = {}

---Makes a row as a query would return it.
---```lua
---local row = perilune.row.new(
---  { name = "tea", stock = 9 },
---  { "name", "stock" }
---)
---print(row[2], row.name)  --> 9	tea
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `conversion` if SQLite cannot store a value
---@param values table<string, any> by column; `perilune.null` for NULL
---@param names? string[] the columns in order; by default sorted by name
---@return perilune.row
function members.new(values, names) end

---Returns whether the row has a column, regardless of its value.
---```lua
---local row = db:fetch_one("SELECT id, country FROM author WHERE id = 3")
---print(row:has("country"), row:has("city"))  --> true	false
---```
---@param name string
---@return boolean
function members:has(name) end

---Returns the value of a column, converted to a type if one is given. NULL is nil. The column must exist.
---```lua
---print(db:fetch_one("SELECT born FROM author"):get("born", "date").year)
-----> 1819
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is not of that type
---@param name string|integer a name or a position
---@param type? perilune.type
---@return any
function members:get(name, type) end

---Returns the value of a column like `get`, but raises an error for NULL.
---```lua
---print(db:fetch_one("SELECT title FROM book"):require("title"))  --> Typee
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is NULL, or not of that type
---@param name string|integer
---@param type? perilune.type
---@return any
function members:require(name, type) end

---Returns the value of a column as an integer. NULL is nil.
---```lua
---print(db:fetch_one("SELECT pages FROM book WHERE id = 1"):integer("pages"))
-----> 326
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is not an integer
---@param name string|integer
---@return integer?
function members:integer(name) end

---Returns the value of a column as a float. NULL is nil.
---```lua
---print(db:fetch_one("SELECT 1.5 AS n"):float("n"))  --> 1.5
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is not a float
---@param name string|integer
---@return number?
function members:float(name) end

---Returns the value of a column as a string. NULL is nil.
---```lua
---print(db:fetch_one("SELECT title FROM book"):string("title"))  --> Typee
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is not a string
---@param name string|integer
---@return string?
function members:string(name) end

---Returns the value of a column as a boolean. NULL is nil.
---```lua
---print(db:fetch_one("SELECT is_read FROM book"):boolean("is_read"))  --> true
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is not a boolean
---@param name string|integer
---@return boolean?
function members:boolean(name) end

---Returns the value of a column as a date. NULL is nil.
---```lua
---print(db:fetch_one("SELECT born FROM author"):date("born").month)  --> 8
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is not a date
---@param name string|integer
---@return perilune.date?
function members:date(name) end

---Returns the value of a column as parts of a date. NULL is nil.
---```lua
---print(db:fetch_one("SELECT '12:30' AS opens"):date_components("opens").hour)
-----> 12
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is neither a date nor a time
---@param name string|integer
---@return perilune.date_components?
function members:date_components(name) end

---Returns the value of a column that holds a Julian day, as a date. NULL is nil.
---```lua
---print(db:fetch_one("SELECT 2440587.5 AS day"):julian_date("day").year)
-----> 1970
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `conversion` if the value is not a number
---@param name string|integer
---@return perilune.date?
function members:julian_date(name) end

---Returns the stored value of a column. The result distinguishes a BLOB from a TEXT, which are both strings in Lua.
---```lua
---print(db:fetch_one("SELECT x'00' AS data"):storage_class("data"))  --> blob
---```
---
---- Raises `unknown_column` if the column does not exist
---@param name string|integer
---@return "null"|"integer"|"real"|"text"|"blob"
function members:storage_class(name) end

---Calls a function with the bytes of a column and returns its results, unless the column is missing or NULL.
---```lua
---print(
---  db:fetch_one("SELECT x'0001' AS data"):with_blob("data", function(bytes)
---    return #bytes
---  end)
---)
-----> 2
---```
---
---- Raises `argument` if `f` is not a function
---@param name string
---@param f fun(bytes: string): ...
---@return any ...
function members:with_blob(name, f) end

---Returns the names of the columns in order.
---```lua
---print(
---  table.concat(db:fetch_one("SELECT id, name FROM tag"):columns(), ", ")
---)
-----> id, name
---```
---@return string[]
function members:columns() end

---Returns the values in the order of the columns, and their number, because NULL is nil.
---```lua
---local values, count =
---  db:fetch_one("SELECT id, country FROM author WHERE id = 3"):values()
---print(values[1], values[2], count)  --> 3	nil	2
---```
---@return any[]
---@return integer count
function members:values() end

---Returns all values as separate results.
---```lua
---print(db:fetch_one("SELECT id, name FROM tag ORDER BY id"):unpack())
-----> 1	sea
---```
---@return any ...
function members:unpack() end

---Iterates over names and values in the order of the columns. NULL is nil.
---```lua
---local row = db:fetch_one("SELECT id, name FROM tag ORDER BY id")
---for name, value in row:pairs() do
---  print(name, value)
---end
-----> id	1
-----> name	sea
---```
---@return fun(): string?, any
function members:pairs() end

---Returns a plain table of the columns, in which NULL is `perilune.null`.
---```lua
---print(
---  db:fetch_one("SELECT country FROM author WHERE id = 3")
---    :to_table().country == perilune.null
---)
-----> true
---```
---@return table<string, any>
function members:to_table() end

---Returns a copy of the row.
---```lua
---local row = db:fetch_one("SELECT id, name FROM tag ORDER BY id")
---local copy = row:copy()
---copy.name = "lake"
---print(row.name, copy.name)  --> sea	lake
---```
---@return perilune.row
function members:copy() end

end

---The result of `db:execute`.
---@class perilune.execute_result
---@field changed_rows integer the number of rows that the last statement changed, without changes by triggers
---@field inserted_rowid integer the row id of the last row inserted on the connection

do
---A compiled statement. Its methods take the arguments for its placeholders. It closes at the end of its block, or as a `<close>` variable.
---@class perilune.statement
local members = {}

---Runs the statement.
---```lua
---local update = db:prepare("UPDATE book SET pages = :pages WHERE id = :id")
---print(update:execute{ id = 3, pages = 200 }.changed_rows)  --> 1
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return perilune.execute_result
function members:execute(...) end

---Returns all rows as a list.
---```lua
---print(#db:prepare("SELECT * FROM book WHERE author_id = ?"):fetch_all(1))
-----> 2
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return perilune.row[]
function members:fetch_all(...) end

---Returns the first row, or nil.
---```lua
---print(db:prepare("SELECT * FROM book WHERE id = ?"):fetch_one(1).title)
-----> Typee
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return perilune.row?
function members:fetch_one(...) end

---Returns the first column of the first row, or nil.
---```lua
---print(db:prepare("SELECT title FROM book WHERE id = ?"):fetch_value(2))
-----> Moby-Dick
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return any
function members:fetch_value(...) end

---Returns the first column of all rows as a list. NULL raises an error of kind `null`.
---```lua
---print(#db:prepare("SELECT title FROM book"):fetch_values())  --> 3
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return any[]
function members:fetch_values(...) end

---Returns the first column of all rows as a list in which NULL is `perilune.null`.
---```lua
---print(#db:prepare("SELECT country FROM author"):fetch_optional_values())
-----> 3
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return any[]
function members:fetch_optional_values(...) end

---Returns the first column of all rows as the keys of a table. NULL raises an error of kind `null`.
---```lua
---print(db:prepare("SELECT name FROM tag"):fetch_set().travel)  --> true
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return table<any, true>
function members:fetch_set(...) end

---Iterates over the rows.
---```lua
---for row in db:prepare("SELECT name FROM tag ORDER BY id"):rows() do
---  print(row.name)
---end
-----> sea
-----> travel
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return fun(): perilune.row?
function members:rows(...) end

---Iterates over the rows as separate values.
---```lua
---local statement = db:prepare("SELECT id, name FROM tag ORDER BY id")
---for id, name in statement:tuples() do
---  print(id, name)
---end
-----> 1	sea
-----> 2	travel
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param ... perilune.argument
---@return fun(): ...
function members:tuples(...) end

---Returns the names of the columns.
---```lua
---print(db:prepare("SELECT id, name FROM tag"):columns()[2])  --> name
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@return string[]
function members:columns() end

---Returns the names of the parameters in order, `false` for those without a name.
---```lua
---print(db:prepare("SELECT :low, ?"):parameters()[2])  --> false
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@return (string|false)[]
function members:parameters() end

---Returns whether the statement does not write.
---```lua
---print(
---  db:prepare("SELECT 1"):is_readonly(),
---  db:prepare("DELETE FROM tag"):is_readonly()
---)
-----> true	false
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@return boolean
function members:is_readonly() end

---Returns the SQL text.
---```lua
---print(db:prepare("SELECT 1"):sql())  --> SELECT 1
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@return string
function members:sql() end

---Releases the statement.
---```lua
---local statement <close> = db:prepare("SELECT 1")
---statement:close()
---```
---
---- Raises `closed` if the statement or its database is closed
---- Raises `dead_handle` if the block in which it was compiled has ended
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
function members:close() end

end

do
---The to-be-closed value of the iterators of `rows` and `tuples`. A loop closes it automatically; it matters only if the script calls the
---iterator directly.
---@class perilune.cursor
local members = {}

---Ends the iteration and releases the statement.
---```lua
---local next_row, _, _, cursor = db:rows("SELECT * FROM book")
---next_row()
---cursor:close()
---print(next_row())  -->
---```
function members:close() end

end

---@class perilune.trigger_options
---@field on string the table or view
---@field before? "insert"|"update"|"delete" give one of these three
---@field after? "insert"|"update"|"delete"
---@field instead_of? "insert"|"update"|"delete"
---@field columns? string|string[] an update of one of these columns runs it; by default, any update does
---@field when? string|perilune.expression|fun(new: table, old: table): any the rows for which it runs
---@field run? string|perilune.write_statement|(string|perilune.write_statement)[]|fun(new: table, old: table): any one statement, or a list
---@field refuse? string instead of `run`: rejects the change with this message
---@field temporary? boolean removed when the connection closes
---@field if_not_exists? boolean

---@class perilune.fts5_options
---@field columns (string|table)[] names, or `{ "body", unindexed = true }`
---@field tokenizer? "unicode61"|"porter"|"ascii"|"trigram"|table a name, or a table with the options of the tokenizer
---@field prefix? integer|integer[] lengths of prefixes to index
---@field synchronize_with? string the table whose rows it follows
---@field content? string the table that holds the content, `""` for none
---@field content_rowid? string the row id of that table
---@field detail? "full"|"column"|"none"
---@field columnsize? boolean
---@field temporary? boolean
---@field if_not_exists? boolean

---A column, as `db:columns` describes it.
---@class perilune.column_info
---@field name string
---@field type string as declared
---@field not_null boolean
---@field default string? SQL text
---@field primary_key integer? the position in the key, from 1
---@field hidden boolean
---@field generated "virtual"|"stored"|nil

do
---The argument of the block of `db:create_table`.
---@class perilune.table_definition
local members = {}

---Adds a column. The type is one of these names or an SQL type, such as `varchar(20)` or `decimal(10, 2)`. Other words are errors, because
---SQLite would give them another meaning: a column of type `string` stores the text `01234` as the number 1234.
---```lua
---db:create_table("note", function(t)
---  t:column("text", "text"):not_null():default("")
---end)
---print(db:columns("note")[1].default)  --> ''
---```
---
---- Raises `unknown_type` if SQLite gives the word another meaning
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param name string
---@param type? "text"|"integer"|"double"|"real"|"numeric"|"boolean"|"blob"|"date"|"datetime"|"json_text"|"jsonb"|"any"|string
---@return perilune.column_definition
function members:column(name, type) end

---Adds an integer primary key that the database assigns and never reuses.
---```lua
---db:create_table("note", function(t)
---  t:auto_incremented_primary_key("id")
---end)
---print(db:primary_key("note").rowid)  --> true
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param name string
---@param options? { on_conflict?: string }
---@return perilune.column_definition
function members:auto_incremented_primary_key(name, options) end

---Sets the primary key: a new column, columns defined elsewhere, or all columns that a block defines.
---```lua
---db:create_table("seat", function(t)
---  t:column("row", "integer")
---  t:column("number", "integer")
---  t:primary_key{ "row", "number" }
---end)
---print(table.concat(db:primary_key("seat").columns, ", "))  --> row, number
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param first string|string[]|fun(t: perilune.table_definition) a new column, a list of columns (with `on_conflict`), or a block
---@param second? string|fun(t: perilune.table_definition) the type of the new column
---@param third? { on_conflict?: string }
---@return perilune.column_definition? column the new column
function members:primary_key(first, second, third) end

---Adds columns that refer to the primary key of another table, with an index. The columns are named `<name>_<key>`. In the block of a
---primary key, its first columns do not get a separate index.
---```lua
---db:create_table("review", function(t)
---  t:belongs_to("book", { on_delete = "cascade" }):not_null()
---end)
---print(db:foreign_keys("review")[1].columns[1])  --> book_id
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param name string the name of the parent row, which is also the table or its singular
---@param options? { table?: string, columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean, unique?: boolean, indexed?: boolean } `indexed` is true by default
---@return perilune.belongs_to_definition
function members:belongs_to(name, options) end

---Adds a foreign key on columns of the table.
---```lua
---db:create_table("page", function(t)
---  t:column("book", "integer")
---  t:foreign_key("book", "book", { on_delete = "set null" })
---end)
---print(db:foreign_keys("page")[1].on_delete)  --> set null
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param columns string|string[]
---@param table_name string
---@param options? { columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean } `columns` are the columns of the other table, by default its primary key
function members:foreign_key(columns, table_name, options) end

---Adds a unique key: no two rows may have the same values in all these columns.
---```lua
---db:create_table("seat", function(t)
---  t:column("row", "integer")
---  t:column("number", "integer")
---  t:unique_key{ "row", "number" }
---end)
---print(db:has_unique_key("seat", { "number", "row" }))  --> true
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param columns string|string[]
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback" the conflict policy
function members:unique_key(columns, policy) end

---Adds a condition that all rows must satisfy.
---```lua
---db:create_table("span", function(t)
---  t:column("first", "integer")
---  t:column("last", "integer")
---  t:check(function(c) return c.first:le(c.last) end)
---end)
---print(
---  select(2, pcall(db.execute, db, "INSERT INTO span VALUES (2, 1)")).kind
---)
-----> constraint_check
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param condition string|perilune.expression|fun(c: table): any SQL, an expression, or a function of the columns
function members:check(condition) end

---Adds a constraint written in SQL.
---```lua
---db:create_table("pair", function(t)
---  t:column("a", "integer")
---  t:constraint("UNIQUE (a)")
---end)
---print(db:has_unique_key("pair", { "a" }))  --> true
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param sql string
function members:constraint(sql) end

---Adds a column written in SQL.
---```lua
---db:create_table("pair", function(t) t:column_sql("a INTEGER DEFAULT 7") end)
---print(db:columns("pair")[1].default)  --> 7
---```
---
---- Raises `definition` if the block has ended, or the definition contradicts itself
---- Raises `argument` if an argument has the wrong type
---@param sql string
function members:column_sql(sql) end

end

do
---A column under definition. Its methods return it, so that calls can be chained.
---@class perilune.column_definition
local members = {}

---Makes the column the primary key.
---```lua
---db:create_table("note", function(t)
---  t:column("id", "integer"):primary_key()
---end)
---print(db:primary_key("note").columns[1])  --> id
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param options? { on_conflict?: string, autoincrement?: boolean }
---@return perilune.column_definition
function members:primary_key(options) end

---Refuses NULL.
---```lua
---db:create_table("note", function(t) t:column("text", "text"):not_null() end)
---print(db:columns("note")[1].not_null)  --> true
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@return perilune.column_definition
function members:not_null(policy) end

---Refuses a value that another row already has.
---```lua
---db:create_table("note", function(t) t:column("text", "text"):unique() end)
---print(db:has_unique_key("note", { "text" }))  --> true
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@return perilune.column_definition
function members:unique(policy) end

---Adds an index on the column, named `<table>_on_<column>`.
---```lua
---db:create_table("note", function(t) t:column("text", "text"):indexed() end)
---print(db:index_exists("note_on_text"))  --> true
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@return perilune.column_definition
function members:indexed() end

---Refuses rows for which a condition is false. It may be called several times.
---```lua
---db:create_table("item", function(t)
---  t:column("stock", "integer"):check(function(stock) return stock:ge(0) end)
---end)
---print((pcall(db.execute, db, "INSERT INTO item VALUES (-1)")))  --> false
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param condition string|perilune.expression|fun(column: perilune.expression): any
---@return perilune.column_definition
function members:check(condition) end

---Sets the default: the value for rows that are inserted without one.
---```lua
---db:create_table("item", function(t)
---  t:column("name", "text")
---  t:column("stock", "integer"):default(5)
---end)
---db:execute("INSERT INTO item (name) VALUES ('tea')")
---print(db:fetch_value("SELECT stock FROM item"))  --> 5
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param value perilune.argument `perilune.null` for NULL
---@return perilune.column_definition
function members:default(value) end

---Sets the default as SQL.
---```lua
---db:create_table("note", function(t)
---  t:column("made", "datetime"):default_sql("CURRENT_TIMESTAMP")
---end)
---print(db:columns("note")[1].default)  --> CURRENT_TIMESTAMP
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param sql string
---@return perilune.column_definition
function members:default_sql(sql) end

---Sets the collation that compares values of the column.
---```lua
---db:create_table("word", function(t)
---  t:column("text", "text"):collate("nocase")
---end)
---db:execute("INSERT INTO word VALUES ('Tea')")
---print(db:fetch_value("SELECT COUNT(*) FROM word WHERE text = 'TEA'"))  --> 1
---```
---
---- Raises `unknown_collation` if the collation does not exist
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param name "binary"|"nocase"|"rtrim"|"localized_case_insensitive"|string
---@return perilune.column_definition
function members:collate(name) end

---Computes the column from other columns.
---```lua
---db:create_table("item", function(t)
---  t:column("price", "integer")
---  t:column("gross", "integer"):generated_as("price * 2", "stored")
---end)
---db:execute("INSERT INTO item (price) VALUES (3)")
---print(db:fetch_value("SELECT gross FROM item"))  --> 6
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param expression string|perilune.expression|fun(c: table): any
---@param kind? "virtual"|"stored" `"virtual"`, the default, computes when the column is read
---@return perilune.column_definition
function members:generated_as(expression, kind) end

---Sets the values of existing rows for an added or changed column in `db:alter_table`.
---```lua
---db:alter_table("book", function(t)
---  t:add_column("century", "integer"):not_null():using(function(c)
---    return c.year / 100 + 1
---  end)
---end)
---print(db:fetch_value("SELECT century FROM book WHERE year = 1846"))  --> 19
---```
---
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param expression string|perilune.expression|fun(c: table): any uses the columns before the change; columns that the same change renames have their new names
---@return perilune.column_definition
function members:using(expression) end

---Removes properties from a column that `t:change_column` changes.
---```lua
---db:alter_table("book", function(t)
---  t:change_column("title"):without("not_null")
---end)
---print(db:columns("book")[3].not_null)  --> false
---```
---
---- Raises `unknown_property` if the property does not exist
---- Raises `definition` if the column does not have it
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param ... "type"|"not_null"|"unique"|"check"|"default"|"collate"|"references"|"generated_as"
---@return perilune.column_definition
function members:without(...) end

---Makes the column refer to another table.
---```lua
---db:create_table("page", function(t)
---  t:column("book_id", "integer")
---    :references("book", { on_delete = "cascade" })
---end)
---print(db:foreign_keys("page")[1].table)  --> book
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `unknown_action` if the action does not exist
---- Raises `definition` if the block has ended, or the column has the property already
---- Raises `argument` if an argument has the wrong type
---@param table_name string
---@param options? { column?: string, on_delete?: string, on_update?: string, deferred?: boolean } actions are `"cascade"`, `"restrict"`, `"set null"`, `"set default"` and `"no action"`; a deferred key is checked when the transaction ends
---@return perilune.column_definition
function members:references(table_name, options) end

end

do
---A reference made by `t:belongs_to`. Its methods return it, so that calls can be chained.
---@class perilune.belongs_to_definition
local members = {}

---Refuses rows without a parent row.
---```lua
---db:create_table("review", function(t) t:belongs_to("book"):not_null() end)
---print(db:columns("review")[1].not_null)  --> true
---```
---
---- Raises `definition` if the block has ended
---- Raises `argument` if an argument has the wrong type
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@return perilune.belongs_to_definition
function members:not_null(policy) end

---Allows at most one row for each row of the other table.
---```lua
---db:create_table("cover", function(t) t:belongs_to("book"):unique() end)
---print(db:has_unique_key("cover", { "book_id" }))  --> true
---```
---
---- Raises `definition` if the block has ended
---- Raises `argument` if an argument has the wrong type
---@return perilune.belongs_to_definition
function members:unique() end

end

do
---The argument of the block of `db:alter_table`.
---@class perilune.table_alteration
local members = {}

---Adds a column after the others. A column that is not null needs a default, or `using`, if the table has rows.
---```lua
---db:alter_table("tag", function(t)
---  t:add_column("colour", "text"):not_null():default("blue")
---  t:add_column("slug", "text"):unique():using("upper(name)")
---end)
---print(db:fetch_value("SELECT colour || ' ' || slug FROM tag"))  --> blue SEA
---```
---
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param name string
---@param type? string as for `t:column`
---@return perilune.column_definition
function members:add_column(name, type) end

---Adds a column written in SQL.
---```lua
---db:alter_table("tag", function(t)
---  t:add_column_sql("colour TEXT DEFAULT 'red'")
---end)
---print(db:fetch_value("SELECT colour FROM tag"))  --> red
---```
---
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param sql string
function members:add_column_sql(sql) end

---Renames a column, and updates the indexes, views, triggers and foreign keys that name it.
---```lua
---db:alter_table("tag", function(t) t:rename_column("name", "label") end)
---print(db:fetch_value("SELECT label FROM tag ORDER BY id"))  --> sea
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param name string
---@param new_name string
function members:rename_column(name, new_name) end

---Drops a column with the constraints in its own definition: `UNIQUE`, `CHECK`, `REFERENCES`. A column is not dropped if a separate key or
---check of the table, a check of another column, an index, a view or a trigger names it.
---```lua
---db:alter_table("book", function(t) t:drop_column("pages") end)
---print(#db:columns("book"))  --> 5
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if something names it
---- Raises `sql` if something names it
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param name string
function members:drop_column(name) end

---Changes the type of a column. The methods of the returned column change its other properties; all others are preserved.
---
---A value that the conversion would change is refused, unless `using` converts it.
---```lua
---db:alter_table("book", function(t)
---  t:change_column("pages", "text"):using("pages || ' pages'")
---  t:change_column("title"):collate("nocase"):without("not_null")
---end)
---print(db:fetch_value("SELECT pages FROM book WHERE title = 'TYPEE'"))
-----> 326 pages
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if values would change
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param name string
---@param type? string as for `t:column`; nil keeps it
---@return perilune.column_definition
function members:change_column(name, type) end

---Moves columns to the front, in the given order. The other columns keep their order.
---```lua
---db:alter_table("tag", function(t) t:order_columns{ "name" } end)
---print(db:columns("tag")[1].name)  --> name
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param names string|string[]
function members:order_columns(names) end

---Makes columns the primary key of a table without one. Row ids do not change.
---```lua
---db:alter_table("book_tag", function(t)
---  t:drop_primary_key()
---  t:primary_key{ "tag_id", "book_id" }
---end)
---print(table.concat(db:primary_key("book_tag").columns, ", "))
-----> tag_id, book_id
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if the table has a primary key
---- Raises `constraint_*` if rows have the same key
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param columns string|string[] with `on_conflict`
function members:primary_key(columns) end

---Removes the primary key; its columns become ordinary columns.
---```lua
---db:alter_table("book_tag", function(t) t:drop_primary_key() end)
---print(#db:primary_key("book_tag").columns)  --> 0
---```
---
---- Raises `definition` if the table has no primary key
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
function members:drop_primary_key() end

---Adds a unique key, as in `db:create_table`.
---```lua
---db:alter_table("book", function(t) t:unique_key{ "author_id", "title" } end)
---print(db:has_unique_key("book", { "author_id", "title" }))  --> true
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `constraint_unique` if rows agree in these columns
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param columns string|string[]
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
function members:unique_key(columns, policy) end

---Drops a unique key, whether it was defined for the table or with its column.
---```lua
---db:alter_table("author", function(t) t:drop_unique_key("name") end)
---print(db:has_unique_key("author", { "name" }))  --> false
---```
---
---- Raises `definition` if the key does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param columns string|string[] in the order of the key
function members:drop_unique_key(columns) end

---Adds a foreign key, as in `db:create_table`.
---```lua
---db:alter_table("tag", function(t)
---  t:add_column("first_book", "integer")
---  t:foreign_key("first_book", "book", { on_delete = "set null" })
---end)
---print(db:foreign_keys("tag")[1].table)  --> book
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `definition` if rows violate it
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param columns string|string[]
---@param table_name string
---@param options? { columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean }
function members:foreign_key(columns, table_name, options) end

---Drops a foreign key, whether it was defined for the table or with its column. If the same columns refer to several tables, name the table
---of the key to drop.
---```lua
---db:alter_table("book", function(t) t:drop_foreign_key("author_id") end)
---print(#db:foreign_keys("book"))  --> 0
---```
---
---- Raises `definition` if the key does not exist, or there are several and no table is named
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param columns string|string[]
---@param table_name? string the table that the key refers to
function members:drop_foreign_key(columns, table_name) end

---Adds columns that refer to the primary key of another table, with an index, as in `db:create_table`.
---```lua
---db:alter_table("tag", function(t)
---  t:belongs_to("author", { on_delete = "set null" })
---end)
---print(
---  db:foreign_keys("tag")[1].columns[1],
---  db:index_exists("tag_on_author_id")
---)
-----> author_id	true
---```
---
---- Raises `unknown_table` if the table does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param name string
---@param options? { table?: string, columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean, unique?: boolean, indexed?: boolean }
---@return perilune.belongs_to_definition
function members:belongs_to(name, options) end

---Adds a condition that all rows must satisfy.
---```lua
---db:alter_table("book", function(t)
---  t:check(function(c) return c.year:gt(0) end)
---end)
---print((pcall(db.execute, db, "UPDATE book SET year = -1")))  --> false
---```
---
---- Raises `constraint_check` if a row does not satisfy it
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param condition string|perilune.expression|fun(c: table): any
function members:check(condition) end

---Drops a check of the table or of a column, given by the condition with which it was added.
---```lua
---db:alter_table("book", function(t) t:check("year > 0") end)
---db:alter_table("book", function(t) t:drop_check("year > 0") end)
---print((pcall(db.execute, db, "UPDATE book SET year = -1")))  --> true
---```
---
---- Raises `definition` if the check does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param condition string|perilune.expression|fun(c: table): any
function members:drop_check(condition) end

---Adds a constraint written in SQL.
---```lua
---db:alter_table("book", function(t)
---  t:constraint("CONSTRAINT printed CHECK (year > 1450)")
---end)
---print((pcall(db.execute, db, "UPDATE book SET year = 1000")))  --> false
---```
---
---- Raises `sql` if SQLite refuses it
---- Raises `constraint_*` if a row violates it
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param sql string
function members:constraint(sql) end

---Drops a named constraint.
---```lua
---db:alter_table("book", function(t)
---  t:constraint("CONSTRAINT printed CHECK (year > 1450)")
---end)
---db:alter_table("book", function(t) t:drop_constraint("printed") end)
---print((pcall(db.execute, db, "UPDATE book SET year = 1000")))  --> true
---```
---
---- Raises `unknown_constraint` if the constraint does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param name string
function members:drop_constraint(name) end

---Turns the options STRICT and WITHOUT ROWID of the table on or off.
---```lua
---db:alter_table("book_tag", function(t) t:options{ strict = true } end)
---print(db:fetch_value("SELECT strict FROM pragma_table_list('book_tag')"))
-----> 1
---```
---
---- Raises `definition` if strict tables do not support the type of a column
---- Raises `sql` if a table WITHOUT ROWID needs a primary key
---- Raises `constraint_*` if a value does not fit its column
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param options { strict?: boolean, without_rowid?: boolean }
function members:options(options) end

---Adds an index, with columns and options as for `db:create_index`.
---```lua
---db:alter_table("book", function(t)
---  t:add_index({ "title", "year" }, { unique = true })
---end)
---print(db:indexes("book")[1].unique)  --> true
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `definition` if the block has ended, or the change contradicts the table
---- Raises `argument` if an argument has the wrong type
---@param columns string|any[]
---@param options? { name?: string, unique?: boolean, where?: any, if_not_exists?: boolean }
function members:add_index(columns, options) end

end

do
---An ordered list of migrations.
---@class perilune.migrator
---@field erase_on_schema_change boolean whether to erase a database, with its data, and migrate it again if it differs from the result of its migrations; false by default, meant for development
local members = {}

---Adds a migration after the registered ones.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", { down = "DROP TABLE note" }, function(db)
---  db:create_table("note", function(t) t:column("text", "text") end)
---end)
---print(migrator:names()[1])  --> create note
---```
---
---- Raises `argument` if a migration has this name already
---- Raises `unknown_option` if an option does not exist
---- Raises `argument` if an argument has the wrong type
---@param name string the name that databases record; it must never change
---@param options? { foreign_keys?: "deferred"|"immediate"|"disabled", merges?: string[], down?: string|fun(db: perilune.database) } may be left out; foreign keys are checked at the end of the migration by default; `merges` names earlier migrations that this one replaces; `down` undoes it
---@param body string|fun(db: perilune.database, merged?: table<string, true>) SQL or a function
function members:register(name, options, body) end

---Adds the migrations of a folder: files `NAME.sql` (with `NAME.down.sql`) and `NAME.lua`, sorted by name. In SQL files of dbmate, goose or
---sql-migrate, the sections define how to apply and undo the migration.
---```lua
---local migrator = perilune.migrator()
---print((pcall(migrator.register_folder, migrator, "/no/such/folder")))
-----> false
---```
---
---- Raises `cannot_open` if the folder cannot be read
---- Raises `argument` if a migration has the name of a file
---- Raises `sandbox` if the script may not read files
---- Raises `argument` if an argument has the wrong type
---@param path string
function members:register_folder(path) end

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
---
---- Raises `unknown_migration` if `up_to` is not registered
---- Raises `argument` if the order contradicts the applied migrations
---- Raises `argument` if an argument has the wrong type
---- To be called outside blocks of the same database
---@overload fun(self: perilune.migrator, options?: string|{ up_to?: string, erase?: string, did_apply?: fun(name: string, seconds: number) }): string[], string[]
---@param db? perilune.database the default database unless given
---@param options? string|{ up_to?: string, erase?: string, did_apply?: fun(name: string, seconds: number) } a string is the last migration to run; `erase` is the path of a file that may be erased
---@return string[] names the applied migrations
---@return string[] differences the differences for which the database was erased
function members:migrate(db, options) end

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
---
---- Raises `migration` if the database has not seen `to`, or a migration has no `down`
---- Raises `argument` if an argument has the wrong type
---- To be called outside blocks of the same database
---@overload fun(self: perilune.migrator, options?: string|{ to?: string, did_undo?: fun(name: string) }): string?
---@param db? perilune.database the default database unless given
---@param options? string|{ to?: string, did_undo?: fun(name: string) } a string is the last migration to keep
---@return string? name the migration that was undone last
function members:migrate_down(db, options) end

---Returns the names of the migrations in order.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:names()[1])  --> create note
---```
---
---- Raises `argument` if an argument has the wrong type
---@return string[]
function members:names() end

---Returns the registered migrations that the database has applied, in order.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:applied(db))  --> 0
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return string[]
function members:applied(db) end

---Returns the registered migrations that the database has not applied, in order.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:pending(db)[1])  --> create note
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return string[]
function members:pending(db) end

---Returns the applied migrations before the first one that is missing in the database.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:completed(db))  --> 0
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return string[]
function members:completed(db) end

---Returns whether the database has applied all migrations.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:has_completed(db))  --> false
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return boolean
function members:has_completed(db) end

---Returns the applied migrations that are not registered with this migrator.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:unknown(db))  --> 0
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return string[]
function members:unknown(db) end

---Returns whether a later version of the program has migrated the database.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(migrator:is_superseded(db))  --> false
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return boolean
function members:is_superseded(db) end

---Returns the migrations whose file has changed since the database applied them.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print(#migrator:edited(db))  --> 0
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return string[]
function members:edited(db) end

---Returns whether the database differs from an empty database to which its migrations were applied, and the differences.
---```lua
---local migrator = perilune.migrator()
---migrator:register("create note", "CREATE TABLE note (text TEXT)")
---print((perilune.migrator():has_schema_changes(perilune.queue())))  --> false
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database the default database unless given
---@return boolean
---@return string[] differences
function members:has_schema_changes(db) end

end

---@class perilune.record_options
---@field fields? table<string, string|perilune.field_options> fields whose name differs from their column, or that are not columns; a string names the column
---@field naming? "snake_case"|fun(column: string): string the names of fields that are not in `fields`: `"snake_case"` converts columns in camel case, and a function returns the name for a column
---@field types? table<string, string|string[]|perilune.enum|perilune.value_type|{ to_database: function, from_database: function }> types of columns that differ from the schema's: `"json"`, `"vector"` (lists of numbers as blobs of 32-bit floats), a name of `perilune.type` (`"datetime"` stores dates in full, even in a `DATE` column), an enum or the list of its cases, or a pair of functions
---@field primary_key? string|string[] the key if the schema has none; `"rowid"` for the row id
---@field extra? string|string[] fields that records may have in addition to their columns
---@field required? boolean whether to check NOT NULL columns without a default before writing the row
---@field check_types? boolean false to store values of other types than the columns declare
---@field track_changes? boolean false for records that do not need to remember their row
---@field on_conflict? string|{ insert?: string, update?: string } the conflict policy of all writes
---@field defaults? table<string, any|fun(record: perilune.record): any> values of columns that are missing in an insert
---@field timestamps? boolean|{ created?: string, updated?: string } whether to maintain `created_at` and `updated_at`, or a table with other names. Values that a script sets are kept, except in an upsert that updates a row
---@field lock_version? boolean|string the version column, `lock_version` by default: each write increments it, and a record whose row has changed is not written
---@field soft_delete? boolean|string the column, `deleted_at` by default, that a deletion sets instead of removing the row; records have `restore` and `delete_forever`
---@field immutable? string|string[] columns that only an insert writes; an upsert does not change them
---@field enums? table<string, perilune.enum|string[]|{ [1]: perilune.enum|string, prefix: string }> columns whose cases are methods: `Book:published()`, `book:is_published()`; with the prefix `"status"`, `Book:status_draft()`, if a case has the name of a method

---A field of records: it has a column, is computed, or combines several fields.
---
---Requests, writes, associations and errors use the name of the field; SQL uses the column. Rows that a script fetches by SQL become fields
---under either name.
---@class perilune.field_options
---@field column? string the column of the field; by default the one with the same name
---@field type? string|string[]|perilune.enum|perilune.value_type|{ to_database: function, from_database: function } as in the option `types`
---@field default? any|fun(record: perilune.record): any as in the option `defaults`
---@field lazy? boolean whether to fetch records without it; `Class:annotated_with(field)` and `record:refresh{ fields = field }` fetch it, and reading it earlier raises `not_fetched`
---@field get? fun(record: perilune.record): any computes the field
---@field set? fun(record: perilune.record, value: any) assigns it
---@field expression? perilune.expression|fun(c: table<string, perilune.expression>): perilune.expression the field in requests
---@field fields? string[]|table<string, string> the fields that it combines: its parts have the same names, or the names that are keys; its value is immutable, and equal to a value with equal parts
---@field make? fun(...: any): any makes the value from the parts in order, instead of a table
---@field split? fun(value: any): any ... returns the parts of a value

---Options of writes.
---@class perilune.write_options
---@field on_conflict? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@field returning? string|string[] a column, a list of columns, or `"all"`, to return instead of the record; not computed or combined fields
---@field key? boolean whether an update also writes a changed key to the row; false by default

---Options of `upsert` and `upsert_all`.
---@class perilune.upsert_options
---@field target? string|string[] the columns of the unique key to check; by default any unique key. A record that was fetched or inserted is written to its own row: its primary key decides.
---@field target_where? string the condition of the partial index to use
---@field update? "all"|"none"|table the columns to overwrite with the record, and values or expressions by column; `"all"` by default. In SQL, `excluded` is the row that could not be inserted: `{ stock = perilune.sql("stock + excluded.stock") }`.
---@field except? string|string[] columns to keep
---@field where? string|perilune.expression|table a condition for updating: SQL, a list of SQL and its arguments, as in `{ "score < ?", 3 }`, or an expression
---@field returning? string|string[]

do
---A record class. A call makes a record, `Author{ name = "Ada" }`. All methods of requests are also methods of the class.
---@class perilune.record_class: perilune.request
---@field c table<string, perilune.expression> the columns
---@field requests table<string, function> named requests: `function Author.requests:old() ... end` becomes a method of the class, its requests and associations; `default` applies to all requests
---@overload fun(fields?: table<string, any>): perilune.record
local members = {}

---Makes another class for the same table, which inherits everything from this one.
---```lua
---local Classic = Author:extend()
---function Classic:label() return self.name .. " (classic)" end
---print(Classic:find(1):label())  --> Herman Melville (classic)
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param options? perilune.record_options
---@return perilune.record_class
function members:extend(options) end

---Returns the record with a key, or for a list of keys the records in that order. A table gives a key of several columns, or another unique
---key.
---```lua
---print(Author:find(2).name, Author:find{ name = "Ada Lovelace" }.id)
-----> Jules Verne	3
---```
---
---- Raises `record_not_found` if the row does not exist
---- Raises `argument` if the columns are not a unique key
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, key: any|table<string, any>|any[]): (perilune.record|perilune.record[])
---@param db? perilune.database
---@param key any|table<string, any>|any[]
---@return perilune.record|perilune.record[]
function members:find(db, key) end

---Returns the first record, the record with a key, or the first one of a query with arguments; nil if it does not exist.
---```lua
---print(
---  Book:fetch_one(2).title,
---  Book:fetch_one(
---    "SELECT * FROM book WHERE year > ? ORDER BY year",
---    1850
---  ).title
---)
-----> Moby-Dick	Moby-Dick
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, key: any, ...: perilune.argument): perilune.record?
---@param db? perilune.database
---@param key any a key, or SQL with arguments; SQL without arguments is refused, because it could be a key that a user has typed
---@param ... perilune.argument
---@return perilune.record?
function members:fetch_one(db, key, ...) end

---Returns all records of the table, or of a query.
---```lua
---print(
---  #Book:fetch_all(),
---  #Book:fetch_all("SELECT * FROM book WHERE year < ?", 1850)
---)
-----> 3	1
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, sql?: string, ...: perilune.argument): perilune.record[]
---@param db? perilune.database
---@param sql? string
---@param ... perilune.argument
---@return perilune.record[]
function members:fetch_all(db, sql, ...) end

---Iterates over the records of the table, or of a query.
---```lua
---for book in Book:rows("SELECT * FROM book WHERE id < 3 ORDER BY id") do
---  print(book.title)
---end
-----> Typee
-----> Moby-Dick
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, sql?: string, ...: perilune.argument): (fun(): perilune.record?)
---@param db? perilune.database
---@param sql? string
---@param ... perilune.argument
---@return fun(): perilune.record?
function members:rows(db, sql, ...) end

---Returns an SQL request for records, with the methods `fetch_all`, `fetch_one` and `rows`.
---```lua
---print(
---  Book:from_sql("SELECT * FROM book WHERE title LIKE ?", "M%")
---    :fetch_one().year
---)
-----> 1851
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param sql string
---@param ... perilune.argument
---@return perilune.sql_request
function members:from_sql(sql, ...) end

---Returns the number of rows in the table.
---```lua
---print(Book:fetch_count())  --> 3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param db? perilune.database
---@return integer
function members:fetch_count(db) end

---Makes a record from a row, or from a table of columns, as if it had been fetched. It is called with a dot.
---```lua
---print(Book:from_row(db:fetch_one("SELECT * FROM book")).title)  --> Typee
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param row perilune.row|table<string, any>
---@return perilune.record
function members:from_row(row) end

---Makes a draft: the fields of a record without a row, such as a form in progress. It is called with a dot. A draft inserted without a key
---gets one from the database.
---```lua
---local draft = Tag:draft{ name = "ships" }
---print(Tag:insert(draft).id)  --> 3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param fields table<string, any>|perilune.record the fields, or a record, whose key the draft keeps
---@return perilune.draft
function members:draft(fields) end

---Inserts a record, a draft, or a table of columns, and returns the record.
---```lua
---print(Tag:insert{ name = "ships" }.id)  --> 3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, fields: table<string, any>|perilune.record|perilune.draft, options?: perilune.write_options): (perilune.record|false)
---@param db? perilune.database
---@param fields table<string, any>|perilune.record|perilune.draft columns, and records in place of columns that refer to them
---@param options? perilune.write_options
---@return perilune.record|false record false if a conflict policy prevented the write
function members:insert(db, fields, options) end

---Inserts a list of records: all of them, or none. It is the fastest way to write many rows.
---```lua
---print(#Tag:insert_all{ { name = "ships" }, { name = "islands" } })  --> 2
---```
---
---- Raises `constraint_*` if a constraint is violated (the message names the element)
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, list: (table<string, any>|perilune.record|perilune.draft)[], options?: perilune.write_options): (perilune.record[]|perilune.row[])
---@param db? perilune.database
---@param list (table<string, any>|perilune.record|perilune.draft)[]
---@param options? perilune.write_options
---@return perilune.record[]|perilune.row[] records the records; with `returning`, the values or the rows with its columns
function members:insert_all(db, list, options) end

---Updates the row of a record.
---```lua
---local book = Book:find(1)
---book.pages = 330
---Book:update(book)
---print(Book:find(1).pages)  --> 330
---```
---
---- Raises `record_not_found` if the row does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, record: perilune.record|table<string, any>, options?: perilune.write_options): (perilune.record|false)
---@param db? perilune.database
---@param record perilune.record|table<string, any> a table of columns represents a record that was not fetched
---@param options? perilune.write_options
---@return perilune.record|false
function members:update(db, record, options) end

---Updates the row of a record, or inserts it if it does not exist.
---```lua
---print(Tag:save(Tag{ name = "ships" }).id)  --> 3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, record: perilune.record|table<string, any>, options?: perilune.write_options): (perilune.record|false)
---@param db? perilune.database
---@param record perilune.record|table<string, any> a table of columns represents a record that was not fetched
---@param options? perilune.write_options
---@return perilune.record|false
function members:save(db, record, options) end

---Inserts a record, a draft or a table of columns, or updates the row with the same unique key, in one statement.
---```lua
---print(Tag:upsert{ name = "sea" }.id)  --> 1
---```
---
---- Raises `argument` if the table has no unique key, or the class needs the option `target`, because it overrides verbs or counts rows while a unique index is partial or on expressions
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, record: perilune.record|perilune.draft|table<string, any>, options?: perilune.upsert_options): (perilune.record|false)
---@param db? perilune.database
---@param record perilune.record|perilune.draft|table<string, any>
---@param options? perilune.upsert_options
---@return perilune.record|false record false if `where` or `update = "none"` has kept the row unchanged
function members:upsert(db, record, options) end

---Inserts a list of records, or updates the rows with the same unique keys: all of them, or none. In a class without hooks, it is the fastest
---way to write many rows that may exist.
---```lua
---print(
---  Tag:upsert_all{ { name = "sea" }, { name = "ships" } },
---  Tag:fetch_count()
---)
-----> 2	3
---```
---
---- Raises `constraint_*` if a constraint is violated (the message names the element)
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, list: (table<string, any>|perilune.record|perilune.draft)[], options?: perilune.upsert_options): (integer|perilune.row[])
---@param db? perilune.database
---@param list (table<string, any>|perilune.record|perilune.draft)[]
---@param options? perilune.upsert_options
---@return integer|perilune.row[] count the number of written rows; with `returning`, the values or the rows with its columns
function members:upsert_all(db, list, options) end

---Deletes the row of a record.
---```lua
---print(Tag:delete(Tag:find(1)), Tag:fetch_count())  --> true	1
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, record: perilune.record, options?: perilune.write_options): boolean
---@param db? perilune.database
---@param record perilune.record
---@param options? perilune.write_options
---@return boolean
function members:delete(db, record, options) end

---Deletes the row with a key, without calling record hooks.
---```lua
---print(Tag:delete_one(1), Tag:delete_one(1))  --> true	false
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, key: any|table<string, any>): boolean
---@param db? perilune.database
---@param key any|table<string, any>
---@return boolean was_there
function members:delete_one(db, key) end

---Deletes all rows of the table, and returns their number.
---```lua
---print(BookTag:delete_all())  --> 3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param db? perilune.database
---@return integer
function members:delete_all(db) end

---Returns whether a row with this key exists.
---```lua
---print(Book:exists(1), Book:exists(99))  --> true	false
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, key: any|table<string, any>): boolean
---@param db? perilune.database
---@param key any|table<string, any>
---@return boolean
function members:exists(db, key) end

---Returns a write as a value, to be printed, stored, or executed later. It does not include hooks and validations.
---```lua
---print(Tag:statement("insert", Tag:draft{ name = "ships" }))
-----> INSERT INTO "tag" ("name") VALUES ('ships')
---```
---
---- Raises `unknown_operation` if the operation does not exist
---- Raises `argument` if it does not take these arguments
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param operation "insert"|"update"|"upsert"|"delete"|"update_all"|"delete_all"
---@param ... any the arguments of the operation
---@return perilune.write_statement
function members:statement(operation, ...) end

---Inserts the rows that a request selects, in one statement.
---```lua
---db:execute("CREATE TABLE archive (id INTEGER PRIMARY KEY, title TEXT)")
---local Archive = perilune.record("archive")
---print(
---  Archive:insert_from(
---    Book:filter("year < 1850"):select("id", "title")
---  ).changed_rows
---)
-----> 1
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param request perilune.request
---@param options? perilune.insert_from_options how to treat conflicting rows; `perilune.excluded` names their new values
---@return perilune.execute_result
function members:insert_from(request, options) end

---Returns a request for all rows, without the default request of the class.
---```lua
---local Recent = Book:extend()
---Recent.requests.default = function(self)
---  return self:filter("year > 1850")
---end
---print(#Recent:fetch_all(), Recent:unscoped():fetch_count())  --> 2	3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@return perilune.request
function members:unscoped() end

---Reads the row of a record again.
---```lua
---local tag = Tag:find(1)
---db:execute("UPDATE tag SET name = 'ocean' WHERE id = 1")
---print(Tag:refresh(tag).name)  --> ocean
---```
---
---- Raises `record_not_found` if the row no longer exists
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, record: perilune.record): perilune.record
---@param db? perilune.database
---@param record perilune.record
---@return perilune.record
function members:refresh(db, record) end

---Inserts a copy of a record, and returns it.
---```lua
---print(Tag:inserted(Tag{ name = "ships" }).id)  --> 3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, record: perilune.record|table<string, any>, options?: perilune.write_options): perilune.record
---@param db? perilune.database
---@param record perilune.record|table<string, any>
---@param options? perilune.write_options
---@return perilune.record
function members:inserted(db, record, options) end

---Changes a record and writes the columns that differ from its row.
---```lua
---print(Tag:update_changes(Tag:find(1), { name = "ocean" }))  --> true
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@overload fun(self: perilune.record_class, record: perilune.record, change: table<string, any>|fun(record: perilune.record), options?: perilune.write_options): boolean
---@param db? perilune.database
---@param record perilune.record
---@param change table<string, any>|fun(record: perilune.record)
---@param options? perilune.write_options
---@return boolean was_written
function members:update_changes(db, record, change, options) end

---Returns the differences between a record and its row, by column.
---```lua
---local tag = Tag:find(1)
---tag.name = "ocean"
---print(Tag:changes(tag).name.old)  --> sea
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param record perilune.record
---@return table<string, { old: any, new: any }>
function members:changes(record) end

---Returns whether a record differs from its row.
---```lua
---print(Tag:has_changes(Tag:find(1)))  --> false
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param record perilune.record
---@return boolean
function members:has_changes(record) end

---Returns whether a value is a record of this class.
---```lua
---print(Tag:is(Tag:find(1)), Tag:is(Book:find(1)))  --> true	false
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `constraint_*` if a constraint is violated
---@param value any
---@return boolean
function members:is(value) end

end

---Options of `Class:insert_from`.
---@class perilune.insert_from_options
---@field columns? string|string[] the target columns of the request's columns, in order; by default the columns of the same names
---@field on_conflict? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@field target? string|string[] the unique key whose rows are updated, any by default
---@field update? "all"|"none"|table the columns to overwrite, and values by column; `"all"` for requests with `select(...)` or the option `columns`
---@field where? string|perilune.expression|table a condition for updating
---@field returning? true|string|string[] true for records, or columns for rows

do
---A record: a row as a table. A name that is neither a column nor a method raises an error. NULL reads as nil. Assigning nil writes NULL,
---but an insert then uses the column's default; `perilune.null` always writes NULL.
---@class perilune.record: perilune.record_methods
---@field [string] any the value of a column

---The methods of all records.
---@class perilune.record_methods
local members = {}

---Inserts the record, and sets the fields that the database fills in.
---```lua
---local tag = Tag{ name = "ships" }
---tag:insert()
---print(tag.id)  --> 3
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@overload fun(self: perilune.record_methods, options?: perilune.write_options): (perilune.record|false)
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false record false if a conflict policy prevented the write
function members:insert(db, options) end

---Inserts a copy of the record, and returns the copy.
---```lua
---local draft = Tag{ name = "ships" }
---print(draft:inserted().id, draft.id)  --> 3	nil
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@overload fun(self: perilune.record_methods, options?: perilune.write_options): (perilune.record|false)
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
function members:inserted(db, options) end

---Writes all columns that the record has. A fetched or inserted record has all columns that it knows of its row; a record that a script has
---made has the columns that it was given, `perilune.null` included. Other columns, such as `created_at`, do not change. With
---`track_changes = false` a record does not know which columns it was given, and writes all of them.
---```lua
---local book = Book:find(1)
---book.pages = 330
---book:update()
---print(Book:find(1).pages)  --> 330
---```
---
---- Raises `record_not_found` if the row no longer exists
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@overload fun(self: perilune.record_methods, options?: perilune.write_options): (perilune.record|false)
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
function members:update(db, options) end

---Writes the columns that differ from the row, and nothing if none does. An optional change is made first, and reverted if the write fails.
---A record that a script has made does not know its row: without a change it writes all columns that it was given, and with a change only
---those that the change names or alters.
---```lua
---local book = Book:find(1)
---print(book:update_changes{ pages = 330 }, book:update_changes())
-----> true	false
---```
---
---- Raises `record_not_found` if the row no longer exists
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param change? table<string, any>|fun(record: perilune.record)
---@param options? perilune.write_options
---@return boolean was_written
function members:update_changes(change, options) end

---Updates the row, or inserts it if it does not exist. An update writes the same columns as `update`.
---```lua
---local tag = Tag{ id = 9, name = "ships" }
---tag:save()
---print(Tag:find(9).name)  --> ships
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@overload fun(self: perilune.record_methods, options?: perilune.write_options): (perilune.record|false)
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
function members:save(db, options) end

---Inserts the record, or updates the row with the same unique key, in one statement. Afterwards the record matches the row.
---```lua
---local tag = Tag{ name = "sea" }
---tag:upsert()
---print(tag.id)  --> 1
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@overload fun(self: perilune.record_methods, options?: perilune.upsert_options): (perilune.record|false)
---@param db? perilune.database
---@param options? perilune.upsert_options
---@return perilune.record|false
function members:upsert(db, options) end

---Deletes the row.
---```lua
---local tag = Tag:find(1)
---print(tag:delete(), tag:delete())  --> true	false
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@overload fun(self: perilune.record_methods, options?: perilune.write_options): boolean
---@param db? perilune.database
---@param options? perilune.write_options
---@return boolean was_there
function members:delete(db, options) end

---Returns the versions of the row, the oldest first, for a class with a history (see `perilune.history`).
---```lua
---perilune.history(Tag):install(db)
---local tag = Tag:find(1)
---tag:delete()
---print(
---  #tag:history(),
---  tag:history()[1].record.name,
---  tag:history()[2].operation
---)
-----> 2	sea	delete
---```
---
---- Raises `history` if it is not installed, or lacks a column of the table
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param db? perilune.database
---@return perilune.version[]
function members:history(db) end

---Restores the deleted record of a class with `soft_delete`. If that fails, the record stays deleted.
---```lua
---db:execute("ALTER TABLE tag ADD COLUMN deleted_at DATETIME")
---local Kept = perilune.record("tag", { soft_delete = true })
---local tag = Kept:find(1)
---tag:delete()
---print(Kept:fetch_one(1), tag:restore().deleted_at)  --> nil	nil
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param db? perilune.database
---@return perilune.record
function members:restore(db) end

---Deletes the row of a class with `soft_delete` for good, which `delete` would only mark.
---```lua
---db:execute("ALTER TABLE tag ADD COLUMN deleted_at DATETIME")
---local Kept = perilune.record("tag", { soft_delete = true })
---print(Kept:find(1):delete_forever(), Kept:unscoped():filter_key(1):exists())
-----> true	false
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param db? perilune.database
---@return boolean was_there
function members:delete_forever(db) end

---Returns whether the row exists.
---```lua
---print(Tag:find(1):exists(), Tag{ id = 9 }:exists())  --> true	false
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param db? perilune.database
---@return boolean
function members:exists(db) end

---Reads the row into the record again.
---```lua
---local tag = Tag:find(1)
---tag.name = "lake"
---print(tag:refresh().name)  --> sea
---```
---
---- Raises `record_not_found` if the row no longer exists
---- Raises `unknown_column` if the field does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@overload fun(self: perilune.record_methods, options?: { fields?: string|string[] }): perilune.record
---@param db? perilune.database
---@param options? { fields?: string|string[] } lazy fields to read as well
---@return perilune.record
function members:refresh(db, options) end

---Returns the differences from the row, by column; for a record without a row, all its columns. As in `pairs(record)`, a combined field
---appears as its parts, and computed fields are left out.
---```lua
---local tag = Tag:find(1)
---tag.name = "lake"
---print(tag:changes().name.old, tag:changes().name.new)  --> sea	lake
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@return table<string, { old: any, new: any }>
function members:changes() end

---Returns whether a column differs from the row.
---```lua
---local tag = Tag:find(1)
---print(tag:has_changes())  --> false
---tag.name = "lake"
---print(tag:has_changes())  --> true
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@return boolean
function members:has_changes() end

---Returns the fetched records of an association: a record, a list of records, or nil if no row belongs to the record. It raises an error if
---the association was not included. In that case `record.author` is the association itself, which is true in a condition.
---```lua
---print(#Author:including_all(Author.books):find(1):included("books"))  --> 2
---```
---
---- Raises `not_fetched` if the association was not included
---- Raises `unknown_association` if the class has no association of that name
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param name string of the association
---@return perilune.record|perilune.record[]|nil
function members:included(name) end

---Returns a copy of the record, optionally with changed fields.
---```lua
---print(Tag:find(1):copy().name, Tag:find(1):copy{ name = "lake" }.name)
-----> sea	lake
---```
---
---- Raises `argument` if the changes are not a table
---- Raises `unknown_column` if a field does not exist
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param changes? table<string, any> fields of the copy
---@return perilune.record
function members:copy(changes) end

---Adds a validation error to the record, in the method `validate` of its class.
---```lua
---function Tag:validate()
---  if self.name == "" then self:invalid("name", "must not be empty") end
---end
---print(select(2, pcall(Tag.insert, Tag, { name = "" })).message)
-----> tag: name must not be empty
---```
---
---- Raises `validation` if it is called outside of `validate`
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param column? string
---@param message string
function members:invalid(column, message) end

---Returns the validation errors of the record, without writing it.
---```lua
---function Tag:validate()
---  if self.name == "" then self:invalid("name", "must not be empty") end
---end
---print(Tag{ name = "" }:validation_errors()[1].column)  --> name
---```
---
---- Raises `unknown_column` if the column does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `changed_key` if the key was changed
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if the class finds the record invalid
---@param db? perilune.database
---@return { column?: string, message: string }[]
function members:validation_errors(db) end

end

do
---A draft: the fields of a record without a row. Methods of the class that do not write can be called on it.
---@class perilune.draft
---@field [string] any the value of a column
local members = {}

---Returns a copy of the draft.
---```lua
---local draft = Tag:draft{ name = "ships" }
---print(draft:copy().name)  --> ships
---```
---@return perilune.draft
function members:copy() end

---Returns the validation errors of the draft, as `validate` of its class reports them.
---```lua
---print(#Tag:draft{ name = "ships" }:validation_errors())  --> 0
---```
---
---- Raises `argument` if `db` is not a database
---@param db? perilune.database
---@return { column?: string, message: string }[]
function members:validation_errors(db) end

end

do
---Hooks: methods that a class may define, called when its records are written. An error in a hook cancels the write. The hooks of an insert
---run in this order: `will_save`, `around_save`, `will_insert`, `validate`, `around_insert`, `did_insert`, `did_save`. Updates follow the
---same order with their own hooks.
---@class perilune.record_hooks
local members = {}

---Is called before a record is inserted.
---```lua
---function Tag:will_insert(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
function members:will_insert(db) end

---Is called around the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_insert(write, db)
---  write()
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param write fun()
---@param db perilune.database
function members:around_insert(write, db) end

---Is called after a record has been inserted.
---```lua
---function Tag:did_insert(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
function members:did_insert(db) end

---Is called before a record is updated.
---```lua
---function Tag:will_update(db, columns)
---  print(self.name)
---end
---Tag:find(1):update_changes{ name = "ocean" }  --> ocean
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
---@param columns table<string, true> the columns that are written, also as a list
function members:will_update(db, columns) end

---Is called around the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_update(write, db, columns)
---  write()
---  print(self.name)
---end
---Tag:find(1):update_changes{ name = "ocean" }  --> ocean
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param write fun()
---@param db perilune.database
---@param columns table<string, true> the columns that are written, also as a list
function members:around_update(write, db, columns) end

---Is called after a record has been updated.
---```lua
---function Tag:did_update(db, columns)
---  print(self.name)
---end
---Tag:find(1):update_changes{ name = "ocean" }  --> ocean
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
---@param columns table<string, true> the columns that are written, also as a list
function members:did_update(db, columns) end

---Is called before a record is deleted.
---```lua
---function Tag:will_delete(db)
---  print(self.name)
---end
---Tag:find(1):delete()  --> sea
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
function members:will_delete(db) end

---Is called around the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_delete(write, db)
---  write()
---  print(self.name)
---end
---Tag:find(1):delete()  --> sea
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param write fun()
---@param db perilune.database
function members:around_delete(write, db) end

---Is called after a record has been deleted.
---```lua
---function Tag:did_delete(db, was_there)
---  print(self.name)
---end
---Tag:find(1):delete()  --> sea
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
---@param was_there boolean
function members:did_delete(db, was_there) end

---Is called before a record is saved.
---```lua
---function Tag:will_save(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
function members:will_save(db) end

---Is called around all other hooks and the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_save(write, db)
---  write()
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param write fun()
---@param db perilune.database
function members:around_save(write, db) end

---Is called after a record has been saved.
---```lua
---function Tag:did_save(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
function members:did_save(db) end

---Is called before a record is written. It calls `self:invalid(column, message)` for each problem; any of them refuses the write.
---```lua
---function Tag:validate()
---  if #self.name > 20 then self:invalid("name", "is too long") end
---end
---print((pcall(Tag.insert, Tag, { name = ("x"):rep(21) })))  --> false
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
---@param db perilune.database
function members:validate(db) end

---Is called with each fetched record.
---```lua
---function Tag:did_fetch() print("fetched " .. self.name) end
---Tag:find(1)  --> fetched sea
---```
---
---- Raises `hook` if an around hook does not call its function exactly once, or hooks that write records are nested more than 16 deep
---- To be called inside a transaction or a savepoint of the write
function members:did_fetch() end

end

do
---A write as a value, made by `Class:statement`. `tostring` returns its SQL with values.
---@class perilune.write_statement
local members = {}

---Returns the SQL and its arguments.
---```lua
---print((Tag:statement("insert", { name = "ships" }):sql()))
-----> INSERT INTO "tag" ("name") VALUES (?)
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `sql` if SQLite refuses the statement
---@return string
---@return table arguments with a field `n`
function members:sql() end

---Executes the write.
---```lua
---print(Tag:statement("insert", { name = "ships" }):execute().changed_rows)
-----> 1
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `sql` if SQLite refuses the statement
---@param db? perilune.database
---@return perilune.execute_result
function members:execute(db) end

---Executes the write, and returns the rows of `returning` as a list.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_all()[1].id)  --> 3
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `sql` if SQLite refuses the statement
---@param db? perilune.database
---@return perilune.row[]
function members:fetch_all(db) end

---Executes the write, and returns the first row of `returning`, or nil.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_one().id)  --> 3
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `sql` if SQLite refuses the statement
---@param db? perilune.database
---@return perilune.row?
function members:fetch_one(db) end

---Executes the write, and returns the first value of `returning`, or nil.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_value())  --> 3
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `sql` if SQLite refuses the statement
---@param db? perilune.database
---@return any
function members:fetch_value(db) end

---Executes the write, and returns the first column of `returning` as a list.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_values()[1])  --> 3
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `sql` if SQLite refuses the statement
---@param db? perilune.database
---@return any[]
function members:fetch_values(db) end

end

do
---A query for records, made by `Class:from_sql`.
---@class perilune.sql_request
local members = {}

---Returns all records.
---```lua
---print(#Book:from_sql("SELECT * FROM book WHERE pages > ?", 300):fetch_all())
-----> 2
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param db? perilune.database
---@return perilune.record[]
function members:fetch_all(db) end

---Returns the first record, or nil.
---```lua
---print(
---  Book:from_sql("SELECT * FROM book WHERE pages > ?", 500):fetch_one().title
---)
-----> Moby-Dick
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param db? perilune.database
---@return perilune.record?
function members:fetch_one(db) end

---Returns the number of rows of the query.
---```lua
---print(
---  Book:from_sql("SELECT * FROM book WHERE pages > ?", 300):fetch_count()
---)
-----> 2
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param db? perilune.database
---@return integer
function members:fetch_count(db) end

---Iterates over the records.
---```lua
---local large = Book:from_sql("SELECT * FROM book WHERE pages > ?", 500)
---for book in large:rows() do
---  print(book.title)
---end
-----> Moby-Dick
---```
---
---- Raises `sql` if SQLite refuses the statement
---- Raises `argument` if the arguments do not fit the placeholders
---@param db? perilune.database
---@return fun(): perilune.record?
function members:rows(db) end

end

do
---A class made by `perilune.single_row`. Its objects have the columns as fields, and the methods of records; they inherit methods and hooks
---defined on the class. In JSON, as text and in `pairs`, an object includes its defaults.
---@class perilune.single_row_class
---@field record perilune.record_class the underlying record class, for associations
---@overload fun(fields?: table<string, any>): perilune.single_row
local members = {}

---Returns the row, or an object with the defaults if no row exists.
---```lua
---db:execute[[
---  CREATE TABLE settings (
---    id INTEGER PRIMARY KEY CHECK (id = 1), theme TEXT)]]
---print(
---  perilune.single_row("settings", {
---    defaults = { theme = "light" },
---  }):find().theme
---)
-----> light
---```
---
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return perilune.single_row
function members:find(db) end

end

do
---An object that holds the single row.
---@class perilune.single_row: perilune.record
local members = {}

---Resets columns, or all columns, to their defaults. The next write stores the change.
---```lua
---db:execute[[
---  CREATE TABLE settings (
---    id INTEGER PRIMARY KEY CHECK (id = 1), theme TEXT)]]
---local Settings = perilune.single_row("settings", {
---  defaults = { theme = "light" },
---})
---local settings = Settings{ theme = "dark" }
---print(settings:reset("theme").theme)  --> light
---```
---
---- Raises `unknown_column` if the column does not exist
---@param ... string columns
---@return perilune.single_row
function members:reset(...) end

end

---The columns of the row that an upsert could not insert, for its option `update`: `perilune.excluded.price`.
---@class perilune.excluded
---@field [string] perilune.expression

do
---The history of a table.
---@class perilune.history
local members = {}

---Installs the history in a database, as part of a migration, or updates it to match the table. Existing rows become its first versions;
---rows that differ from their last version get a new one.
---```lua
---perilune.history(Book):install(db)
---print(db:fetch_value("SELECT COUNT(*) FROM book_history"))  --> 3
---```
---
---- Raises `definition` if it is not a table of the main database with a primary key that cannot be NULL, or versions with another key exist
---- Raises `unknown_table` if the table does not exist
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database
function members:install(db) end

---Removes the history, or only its triggers.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:remove(db)
---print(db:table_exists("book_history"))  --> false
---```
---
---- Raises `history` if it is not installed
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.history, options?: { keep_versions?: boolean })
---@param db? perilune.database
---@param options? { keep_versions?: boolean } keeps the versions, for a later installation
function members:remove(db, options) end

---Returns whether the history is installed in a database.
---```lua
---print(perilune.history(Book):is_installed())  --> false
---```
---
---- Raises `argument` if an argument has the wrong type
---@param db? perilune.database
---@return boolean
function members:is_installed(db) end

---Calls a function in a transaction that has a note in the histories of all tables, as `db:write({ note = "..." }, block)` does. It also
---checks that this history is installed.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:write("spoiled by water", function(db)
---  db:execute("DELETE FROM book WHERE id = 2")
---end)
---print(db:fetch_value[[
---  SELECT history_operation FROM book_history
---  WHERE history_transaction = 1]])
-----> delete
---```
---
---- Raises `history` if it is not installed
---- Raises `nested_access` if in a block that only reads
---- Raises `busy` if another connection holds the lock
---- Raises `argument` if an argument has the wrong type
---- To be called any, except inside a block of the same database that only reads
---@overload fun(self: perilune.history, note: string, block: fun(db: perilune.database, ...: any): ..., ...: any): any
---@param db? perilune.database may be left out
---@param note string
---@param block fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for the block
---@return any ... the results of the block
function members:write(db, note, block, ...) end

---Returns the transactions with notes, the newest first.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:write("read all", function(db)
---  db:execute("UPDATE book SET is_read = TRUE")
---end)
---print(history:transactions()[1].id, history:transactions()[1].note)
-----> 1	read all
---```
---
---- Raises `history` if it is not installed
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.history, limit?: integer): { id: integer, note: string, time: perilune.date }[]
---@param db? perilune.database
---@param limit? integer the maximum number; 20 by default
---@return { id: integer, note: string, time: perilune.date }[]
function members:transactions(db, limit) end

---Reverts the rows that a transaction has changed to their previous state, in all tables with a history. The reversal is itself a
---transaction with a note, and can be undone.
---```lua
---local history = perilune.history(Book)
---history:install(db)
---history:write("read all", function(db)
---  db:execute("UPDATE book SET is_read = TRUE")
---end)
---print(
---  history:undo(1),
---  db:fetch_value("SELECT COUNT(*) FROM book WHERE is_read")
---)
-----> 3	1
---```
---
---- Raises `history` if it is not installed, the transaction does not exist, or a row has been changed since
---- Raises `definition` if rows added by others would refer to missing rows
---- Raises `constraint_*` if the previous rows violate a constraint
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.history, transaction: integer): integer
---@param db? perilune.database
---@param transaction integer the id of a transaction
---@return integer count the number of restored rows
function members:undo(db, transaction) end

end

---A version of a row.
---@class perilune.version
---@field version integer
---@field operation "start"|"insert"|"update"|"delete" `"start"`: the row existed when the history was installed
---@field time perilune.date
---@field transaction integer? the id of the transaction, if it has a note
---@field note string?
---@field record perilune.record? the row after the change; nil for a deletion
---@field changed string[] the columns that an update has changed

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

do
---A changeset, made by `db:record_changes`: an immutable value. `first .. second` is `first:followed_by(second)`.
---@class perilune.changeset
local members = {}

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
function members:rows(db) end

---Returns whether the changeset is empty.
---```lua
---print(db:record_changes(function() end):is_empty())  --> true
---```
---@return boolean
function members:is_empty() end

---Returns the changeset that undoes this one.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("DELETE FROM tag WHERE name = 'sea'")
---end)
---print(changeset:inverted():rows()[1].operation)  --> insert
---```
---@return perilune.changeset
function members:inverted() end

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
---
---- Raises `argument` if the argument is not a changeset
---- Raises `changeset_schema` if a table has other columns or another key in the other one
---@param other perilune.changeset
---@return perilune.changeset
function members:followed_by(other) end

---Returns the changeset as a string in SQLite's format, which is the same on all machines.
---```lua
---local changeset = db:record_changes(function(db)
---  db:execute("DELETE FROM tag")
---end)
---print(type(changeset:serialize()))  --> string
---```
---@return string
function members:serialize() end

end

do
---@class perilune.request
local members = {}

---Returns the request with more conditions, all of which must hold.
---```lua
---print(
---  Book:filter{ author_id = 1 }:filter(Book.c.year:lt(1850)):fetch_count()
---)
-----> 1
---print(Book:filter("length(title) > ?", 10):fetch_one().title)
-----> Around the World
---print(
---  Book:filter(Book.c.year:gt(1840), Book.c.pages:lt(400)):fetch_one().title
---)
-----> Typee
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param condition perilune.condition
---@param ... perilune.condition|perilune.argument more conditions; after SQL text, its arguments
---@return perilune.request
function members:filter(condition, ...) end

---Returns the request limited to the row with this key, or to the rows with the keys of a list.
---```lua
---print(Book:filter_key(2):fetch_one().title)  --> Moby-Dick
---print(Book:filter_key{ 1, 3 }:fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param key any a value, or for a key of several columns a table; or a list of keys
---@return perilune.request
function members:filter_key(key) end

---Returns a request without rows.
---```lua
---print(Book:none():fetch_count())  --> 0
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@return perilune.request
function members:none() end

---Returns the request itself. On a class, it returns the request for all its records.
---```lua
---print(Book:all():fetch_count())  --> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@return perilune.request
function members:all() end

---Returns the request limited to the rows of a full-text table that match a pattern.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---})
---local BookText = perilune.record("book_text")
---print(BookText:matching(perilune.fts5_pattern("dick")):fetch_one().title)
-----> Moby-Dick
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param pattern string
---@return perilune.request
function members:matching(pattern) end

---Returns the rows of a virtual table whose vectors are nearest to a given vector, the nearest first, with the field `distance`. An SQLite
---extension such as sqlite-vec, which the host loads, runs the search. The extension decides whether other conditions limit the search or
---its results.
---```lua
---local is_found, err = pcall(Book.nearest, Book, "title", { 0.5, 1.5 }, 10)
---print(err.kind)  --> unknown_column
---```
---
---- Raises `argument` if the vector is not a list of numbers, or the number is not valid
---- Raises `unknown_column` if the column does not exist, or the table is not one of vectors
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param column string|perilune.expression
---@param vector number[]|perilune.blob
---@param count integer the maximum number of rows, from 1 to 4096
---@return self
function members:nearest(column, vector, count) end

---Returns the request in an order, which replaces any previous order.
---```lua
---print(Book:order(Book.c.year:desc()):pluck("year")[1])  --> 1872
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... string|perilune.expression
---@return perilune.request
function members:order(...) end

---Returns the request with a further order, for rows that are equal in the first one.
---```lua
---print(
---  Book:order("author_id"):then_order(Book.c.title:desc()):pluck("title")[1]
---)
-----> Typee
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... string|perilune.expression
---@return perilune.request
function members:then_order(...) end

---Returns the request in the opposite order. A request without an order is sorted by descending key.
---```lua
---print(Book:order("year"):reversed():fetch_one().title)  --> Around the World
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@return perilune.request
function members:reversed() end

---Returns the request without an order.
---```lua
---print((Book:order("year"):unordered():sql():find("ORDER BY")))  --> nil
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@return perilune.request
function members:unordered() end

---Returns the request with a limit.
---```lua
---print(
---  #Book:order("id"):limit(2):fetch_all(),
---  Book:order("id"):limit(1, 2):fetch_one().title
---)
-----> 2	Around the World
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param count integer from 0
---@param offset? integer the number of rows to skip
---@return perilune.request
function members:limit(count, offset) end

---Returns the request without its first rows.
---```lua
---print(Book:order("id"):limit(5):offset(2):fetch_one().title)
-----> Around the World
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param count integer from 0
---@return perilune.request
function members:offset(count) end

---Returns the request for these columns instead of the table's columns. Its results are rows. Values of columns, and their least and
---greatest values, have the types of the class: dates, booleans, cases of enums. Other expressions return stored values. SQL text may end
---with `AS name`. An aggregate without a name gets one, unless the table has such a column: `count`, `year_sum`, `year_total`, `year_count`,
---`average_year`, `min_year` or `max_year`.
---```lua
---print(Book:select("title", Book.c.year:as("y")):order("id"):fetch_one().y)
-----> 1846
---local row = Book:select(
---  "MAX(year) AS latest",
---  Book.c.pages:sum(),
---  perilune.count()
---):fetch_one()
---print(row.latest, row.pages_sum, row.count)  --> 1872	961	3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... string|perilune.expression
---@return perilune.request
function members:select(...) end

---Returns the request without duplicate rows.
---```lua
---print(#Book:select("author_id"):distinct():fetch_values())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@return perilune.request
function members:distinct() end

---Returns the request with rows grouped by columns.
---```lua
---print(
---  Book:select("author_id", perilune.count():as("books"))
---    :group("author_id")
---    :order("author_id")
---    :fetch_one().books
---)
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... string|perilune.expression
---@return perilune.request
function members:group(...) end

---Returns the request with a condition on groups, or on aggregates of associations.
---```lua
---print(Author:having(Author.books:count():ge(2)):fetch_one().name)
-----> Herman Melville
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param condition perilune.condition
---@param ... perilune.condition|perilune.argument more conditions; after SQL text, its arguments
---@return perilune.request
function members:having(condition, ...) end

---Returns the request with more columns, in addition to the table's. Its results are still records.
---```lua
---print(
---  Author:annotated_with(Author.books:count())
---    :order("id")
---    :fetch_one().book_count
---)
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.expression|string
---@return perilune.request
function members:annotated_with(...) end

---Returns the request with an alias for its table; `aliased(...).c` refers to this occurrence of the table only.
---```lua
---local b = Book:aliased("b")
---print(b:filter(b.c.year:gt(1870)):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param name string
---@return perilune.request
function members:aliased(name) end

---Returns a request for the rows of both requests, without duplicates.
---```lua
---print(
---  Book:filter{ author_id = 1 }
---    :union(Book:filter("year > 1850"))
---    :fetch_count()
---)
-----> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.request
---@return perilune.request
function members:union(other) end

---Returns a request for the rows of both requests, with duplicates.
---```lua
---print(Book:filter{ author_id = 1 }
---  :union_all(Book:filter("year > 1850"))
---  :fetch_count())
-----> 4
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.request
---@return perilune.request
function members:union_all(other) end

---Returns a request for the rows that are in both requests.
---```lua
---print(Book:filter{ author_id = 1 }
---  :intersect(Book:filter("year > 1850"))
---  :fetch_count())
-----> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.request
---@return perilune.request
function members:intersect(other) end

---Returns a request for the rows that are not in the other request.
---```lua
---print(Book:filter{ author_id = 1 }
---  :except(Book:filter("year > 1850"))
---  :fetch_count())
-----> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.request
---@return perilune.request
function members:except(other) end

---Returns the request with lists of the associated records, fetched by one more statement for each association.
---```lua
---print(#Author:including_all(Author.books:order("year")):find(1).books)
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.association an integer after an association of a table to itself sets the number of levels
---@return perilune.request
function members:including_all(...) end

---Returns the request with the associated record of each record, or nil if none exists.
---```lua
---print(Book:including_optional(Book.author):find(3).author.name)
-----> Jules Verne
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.association
---@return perilune.request
function members:including_optional(...) end

---Returns the request with the associated record of each record, and leaves out records without one.
---```lua
---print(
---  Book:including_required(Book.author:filter{ country = "France" })
---    :fetch_one().author.name
---)
-----> Jules Verne
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.association
---@return perilune.request
function members:including_required(...) end

---Returns the request with associated rows joined, for use in conditions.
---```lua
---print(
---  Author:joining_optional(Author.books)
---    :filter(Author.books.c.id:is_null())
---    :fetch_one().name
---)
-----> Ada Lovelace
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.association
---@return perilune.request
function members:joining_optional(...) end

---Returns the request with associated rows joined, and leaves out records without any.
---```lua
---print(
---  Author:joining_required(Author.books)
---    :filter(Author.books.c.year:gt(1870))
---    :fetch_one().name
---)
-----> Jules Verne
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.association
---@return perilune.request
function members:joining_required(...) end

---Returns the request with the selected columns of associated rows as fields.
---```lua
---print(
---  Book:annotated_with_optional(Book.author:select("country"))
---    :find(3).country
---)
-----> France
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.association
---@return perilune.request
function members:annotated_with_optional(...) end

---Returns the request with the selected columns of associated rows as fields, and leaves out records without any.
---```lua
---print(Book:annotated_with_required(Book.author:select("name")):find(3).name)
-----> Jules Verne
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param ... perilune.association
---@return perilune.request
function members:annotated_with_required(...) end

---Returns all records; rows if columns are selected.
---```lua
---for _, book in ipairs(Book:order("year"):fetch_all()) do
---  print(book.title)
---end
-----> Typee
-----> Moby-Dick
-----> Around the World
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return perilune.record[]
function members:fetch_all(db) end

---Returns the first record, or nil.
---```lua
---print(Book:order("year"):fetch_one().title)  --> Typee
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return perilune.record?
function members:fetch_one(db) end

---Returns the first record, or the one with a key.
---```lua
---print(Book:filter{ author_id = 1 }:find(2).title)  --> Moby-Dick
---```
---
---- Raises `record_not_found` if the record does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, key?: any): perilune.record
---@param db? perilune.database
---@param key? any
---@return perilune.record
function members:find(db, key) end

---Iterates over the records without holding all of them in memory. Records that are joined (`including_optional`, `including_required`) are in
---their fields; lists (`including_all`) are refused.
---```lua
---for book in Book:filter("year > 1870"):rows() do print(book.title) end
-----> Around the World
---```
---
---- Raises `argument` if the request includes lists
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return fun(): perilune.record?
function members:rows(db) end

---Iterates over rows as separate values.
---```lua
---local first_two = Book:select("id", "title"):filter("id < 3"):order("id")
---for id, title in first_two:tuples() do
---  print(id, title)
---end
-----> 1	Typee
-----> 2	Moby-Dick
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return fun(): ...
function members:tuples(db) end

---Returns the first value of the selected column, or nil.
---```lua
---print(Book:select("title"):order("year"):fetch_value())  --> Typee
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return any
function members:fetch_value(db) end

---Returns the values of the selected column as a list.
---```lua
---print(#Book:select("title"):fetch_values())  --> 3
---```
---
---- Raises `null` if a value is NULL
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return any[]
function members:fetch_values(db) end

---Returns the values of the selected column as a list in which NULL is `perilune.null`.
---```lua
---print(#Book:select("pages"):fetch_optional_values())  --> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return any[]
function members:fetch_optional_values(db) end

---Returns the values of the selected column as the keys of a table.
---```lua
---print(Tag:select("name"):fetch_set().sea)  --> true
---```
---
---- Raises `null` if a value is NULL
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return table<any, true>
function members:fetch_set(db) end

---Returns the values of a column as a list, or of several columns as a list of lists, with the types of the class. NULL is
---`perilune.null`.
---```lua
---print(Book:order("id"):pluck("id", "title")[2][2])  --> Moby-Dick
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, ...: string|perilune.expression): any[]
---@param db? perilune.database
---@param ... string|perilune.expression
---@return any[]
function members:pluck(db, ...) end

---Returns the number of rows.
---```lua
---print(Book:filter{ is_read = false }:fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return integer
function members:fetch_count(db) end

---Returns whether the request has no rows.
---```lua
---print(Book:filter("year > 1900"):is_empty())  --> true
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return boolean
function members:is_empty(db) end

---Returns whether at least one row exists.
---```lua
---print(Book:filter("year > 1900"):exists())  --> false
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return boolean
function members:exists(db) end

---Returns the least value of a column or expression.
---```lua
---print(Book:min("year"))  --> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, column: string|perilune.expression): any
---@param db? perilune.database
---@param column string|perilune.expression
---@return any
function members:min(db, column) end

---Returns the greatest value of a column or expression.
---```lua
---print(Book:max("year"))  --> 1872
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, column: string|perilune.expression): any
---@param db? perilune.database
---@param column string|perilune.expression
---@return any
function members:max(db, column) end

---Returns the sum of the values of a column or expression.
---```lua
---print(Book:sum("year"))  --> 5569
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, column: string|perilune.expression): number?
---@param db? perilune.database
---@param column string|perilune.expression
---@return number?
function members:sum(db, column) end

---Returns the average of the values of a column or expression.
---```lua
---print(Book:average("year"))  --> 1856.3333333333
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, column: string|perilune.expression): number?
---@param db? perilune.database
---@param column string|perilune.expression
---@return number?
function members:average(db, column) end

---Returns the sum of the values of a column or expression as a float, or 0.0 without values.
---```lua
---print(Book:total("year"))  --> 5569.0
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, column: string|perilune.expression): number
---@param db? perilune.database
---@param column string|perilune.expression
---@return number
function members:total(db, column) end

---Returns one page of the records, with the total number of rows and of pages.
---```lua
---local page = Book:order("id"):page(2, 2)
---print(page.records[1].title, page.count, page.pages)
-----> Around the World	3	2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, number: integer, size: integer): { records: perilune.record[], number: integer, size: integer, count: integer, pages: integer }
---@param db? perilune.database
---@param number integer from 1
---@param size integer from 1
---@return { records: perilune.record[], number: integer, size: integer, count: integer, pages: integer }
function members:page(db, number, size) end

---Iterates over the records in lists of the given size, in the order of the key. Rows may be changed and deleted during the loop. A request
---with its own order, or one that may repeat a record (a join, `union_all`), is refused.
---```lua
---for books in Book:all():in_batches(2) do print(#books) end
-----> 2
-----> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, size: integer): (fun(): perilune.record[]?)
---@param db? perilune.database
---@param size integer from 1
---@return fun(): perilune.record[]?
function members:in_batches(db, size) end

---Updates all rows. A column takes a value, which is checked and stored as in an insert, or an expression, which sees the row before the
---update.
---```lua
---print(
---  Book:filter{ author_id = 1 }
---    :update_all{ pages = Book.c.pages + 1 }.changed_rows
---)
-----> 2
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `conversion` if a column does not take a value
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, changes: table<string, any>, options?: { returning?: boolean|string|string[], on_conflict?: string }): (perilune.execute_result|perilune.record[])
---@param db? perilune.database
---@param changes table<string, any>
---@param options? { returning?: boolean|string|string[], on_conflict?: string } with `returning`, returns the changed records
---@return perilune.execute_result|perilune.record[]
function members:update_all(db, changes, options) end

---Deletes all rows.
---```lua
---print(Book:filter{ is_read = true }:delete_all().changed_rows)  --> 1
---```
---
---- Raises `constraint_foreign_key` if other rows refer to one of these
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, options?: { returning?: boolean|string|string[] }): (perilune.execute_result|perilune.record[])
---@param db? perilune.database
---@param options? { returning?: boolean|string|string[] } with `returning`, returns the deleted records
---@return perilune.execute_result|perilune.record[]
function members:delete_all(db, options) end

---Returns `update_all` or `delete_all` as a value, to be printed and executed later.
---```lua
---print(Tag:filter_key(1):statement("delete_all"))
-----> DELETE FROM "tag" WHERE "tag"."id" = 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param operation "update_all"|"delete_all"
---@param ... any the arguments of the operation
---@return perilune.write_statement
function members:statement(operation, ...) end

---Returns the SQL of the request, and its arguments with a field `n`.
---```lua
---print((Tag:filter{ name = "sea" }:sql()))
-----> SELECT * FROM "tag" WHERE "tag"."name" = ?
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return string sql
---@return table arguments
function members:sql(db) end

---Returns SQLite's plan for the request. Printed, the plan is a tree.
---```lua
---print(Book:filter_key(1):explain())
-----> └─ SEARCH book USING INTEGER PRIMARY KEY (rowid=?)
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param db? perilune.database
---@return perilune.query_plan
function members:explain(db) end

---Returns the request with names for values that are passed when it runs: `:name` in SQL text, or `perilune.parameter`.
---```lua
---local by_year = Book:filter("year > :year"):prepare()
---print(
---  by_year:fetch_count{ year = 1850 },
---  by_year:fetch_count{ year = 1870 }
---)
-----> 2	1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@return perilune.prepared_request
function members:prepare() end

---Observes the results of the request: see `db:observe`.
---```lua
---local observation = Tag:order("name"):observe()
---print(#observation:next())  --> 2
---observation:cancel()
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---- To be called outside blocks
---@overload fun(self: perilune.request, callback?: fun(records: perilune.record[]), options?: perilune.observation_options): perilune.observation
---@param db? perilune.database
---@param callback? fun(records: perilune.record[])
---@param options? perilune.observation_options
---@return perilune.observation
function members:observe(db, callback, options) end

---Links a record, or a list of records, to the record that the request belongs to, through a link table. Links that already exist remain, and
---softly deleted links are restored. The second argument gives values for other columns of the links, including existing ones. A new link gets the values that the conditions of the association's links require, such as `kind` in
---`through = Book.links:filter{ kind = "main" }`; `add`, `remove` and `replace` neither find nor change links with other values. Links are
---written as records of their class, with its hooks and `counter_cache`.
---```lua
---Book:find(1):tags():add(Tag:find(2))
---print(Book:find(1):tags():fetch_count())  --> 2
---
---db:execute("ALTER TABLE book_tag ADD COLUMN weight INTEGER")
---Book:find(3):tags():add({ 1, 2 }, { weight = 5 })
---print(BookTag:filter{ book_id = 3 }:sum("weight"))  --> 10
---```
---
---- Raises `argument` if the request does not come from an association through links, or the record does not fulfil its conditions
---- Raises `unknown_column` if the link table does not have a column
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, linked: perilune.record|any|(perilune.record|any)[], columns?: table<string, any>)
---@param db? perilune.database
---@param linked perilune.record|any|(perilune.record|any)[] a record, its key, or a list of these
---@param columns? table<string, any> values for columns of the links
function members:add(db, linked, columns) end

---Removes the links to a record or a list of records, but not the records; returns how many links it removed. Links in a table without a key are removed without
---hooks.
---```lua
---print(Book:find(1):tags():remove(1))  --> 1
---```
---
---- Raises `argument` if the request does not come from an association through links
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, linked: perilune.record|any|(perilune.record|any)[]): integer
---@param db? perilune.database
---@param linked perilune.record|any|(perilune.record|any)[] a record, its key, or a list of these
---@return integer
function members:remove(db, linked) end

---Replaces the links by links to exactly the records of a list. Existing links to records of the list remain, with their other columns;
---other links are removed.
---```lua
---Book:find(1):tags():replace{ 2 }
---print(Book:find(1):tags():pluck("name")[1])  --> travel
---```
---
---- Raises `argument` if the request does not come from an association through links
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, list: (perilune.record|any)[])
---@param db? perilune.database
---@param list (perilune.record|any)[] records or keys
function members:replace(db, list) end

---Returns the inner join with another request: the pairs of rows for which a condition holds. The conditions of the other request filter
---its rows before the join.
---```lua
---print(Author:join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count())
-----> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function members:join(other, condition, ...) end

---Returns the left join with another request: the matching pairs, and the rows of this request without a partner. The conditions of the
---other request filter its rows before the join.
---```lua
---print(
---  Author:left_join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count()
---)
-----> 4
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function members:left_join(other, condition, ...) end

---Returns the right join with another request: the matching pairs, and the rows of the other request without a partner. The conditions of
---the other request filter its rows before the join.
---```lua
---print(
---  Author:right_join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count()
---)
-----> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function members:right_join(other, condition, ...) end

---Returns the full join with another request: the matching pairs, and the rows of either request without a partner. The conditions of the
---other request filter its rows before the join.
---```lua
---print(
---  Author:full_join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count()
---)
-----> 4
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function members:full_join(other, condition, ...) end

---Returns the cross join with another request: all pairs of rows.
---```lua
---print(Author:cross_join(Tag):fetch_count())  --> 6
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.record_class|perilune.request
---@return perilune.request
function members:cross_join(other) end

---Returns a request for the rows that this request or another one of the same class selects. `request | other` does the same. The two may
---differ only in their conditions and orders: joins, selected columns and the like must be the same, and neither may have a limit, groups
---or a union. For other requests use `union`.
---```lua
---print(Book:filter("year < 1850")
---  :or_filter(Book:filter("year > 1870"))
---  :fetch_count())
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param other perilune.request
---@return perilune.request
function members:or_filter(other) end

---Returns the request with those conditions of a table that have a value. A nil or an empty table adds no condition.
---```lua
---print(
---  Book:filter_given{ author_id = 1, year = nil }:fetch_count(),
---  Book:filter_given{}:fetch_count()
---)
-----> 2	3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param condition table<string, any>
---@return perilune.request
function members:filter_given(condition) end

---Returns the request that a function derives from this one, if a value is neither nil nor false. Otherwise it returns the result of
---`otherwise`, or the request itself.
---```lua
---local year = 1850
---print(Book:all():when(year, function(self, y)
---  return self:filter(Book.c.year:gt(y))
---end):fetch_count())
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param value any
---@param derive fun(request: perilune.request, value: any): perilune.request
---@param otherwise? fun(request: perilune.request, value: any): perilune.request
---@return perilune.request
function members:when(value, derive, otherwise) end

---Returns the page of records after a cursor, in the order of the request. It is faster than `page` if many rows come before the page. Rows
---that are equal in this order are sorted by the primary key, which is descending if every part of the order is. A request that may repeat
---a record (a join, `union_all`) is refused, and so is the order of distinct records by a column of joined rows.
---```lua
---local first = Book:order("year"):page_after(nil, 2)
---print(
---  #first.records,
---  Book:order("year"):page_after(first.next, 2).records[1].title
---)
-----> 2	Around the World
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, cursor?: string, size: integer): { records: perilune.record[], next: string?, previous: string? }
---@param db? perilune.database
---@param cursor? string the field `next` of a page; nil for the first rows
---@param size integer the maximum number of records
---@return { records: perilune.record[], next: string?, previous: string? }
function members:page_after(db, cursor, size) end

---Returns the page of records before a cursor.
---```lua
---print(Book:order("year"):page_before(nil, 1).records[1].title)
-----> Around the World
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, cursor?: string, size: integer): { records: perilune.record[], next: string?, previous: string? }
---@param db? perilune.database
---@param cursor? string the field `previous` of a page; nil for the last rows
---@param size integer the maximum number of records
---@return { records: perilune.record[], next: string?, previous: string? }
function members:page_before(db, cursor, size) end

---Returns the records at a past time, for a class with a history (see `perilune.history`). The result can be filtered, ordered, counted and
---joined like any other request, but not written. Records that it joins or includes are current. It has the default scope of the class;
---`Class:unscoped():as_of(time)` does not.
---```lua
---perilune.history(Tag):install(db)
---db:execute("UPDATE tag SET name = 'ocean' WHERE id = 1")
---print(
---  Tag:as_of(perilune.now()):filter{ name = "ocean" }:fetch_count(),
---  Tag:as_of("1970-01-01"):fetch_count()
---)
-----> 1	0
---```
---
---- Raises `argument` if it is not a time, or another method was called before
---- Raises `history` if it is not installed, or lacks a column of the table
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param time perilune.date|string|number
---@return perilune.request
function members:as_of(time) end

---Returns the first record with these fields, or a new record with these and further fields that is not inserted; and whether it is new. A
---key that contradicts a condition of the request is refused.
---```lua
---print(
---  select(2, Tag:find_or_build{ name = "sea" }),
---  select(2, Tag:find_or_build{ name = "ships" })
---)
-----> false	true
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, key: table<string, any>, others?: table<string, any>): perilune.record, boolean
---@param db? perilune.database
---@param key table<string, any>
---@param others? table<string, any> further fields of a new record
---@return perilune.record
---@return boolean is_new
function members:find_or_build(db, key, others) end

---Returns the first record with these fields, or inserts and returns a new one with these and further fields; and whether it is new. It
---does not find softly deleted rows; if one has the same unique key, the insert raises `constraint_unique` with its key in `deleted_key`. A
---field that contradicts a condition of the request is refused, because the record would not be found again.
---```lua
---print(Tag:find_or_insert{ name = "ships" }.id, Tag:fetch_count())  --> 3	3
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, key: table<string, any>, others?: table<string, any>): perilune.record, boolean
---@param db? perilune.database
---@param key table<string, any>
---@param others? table<string, any> further fields of a new record
---@return perilune.record
---@return boolean is_new
function members:find_or_insert(db, key, others) end

---Returns a new record that belongs to the owner of this request. The record is not inserted.
---```lua
---print(Author:find(1):books():build{ title = "Omoo" }.author_id)  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param fields? table<string, any>
---@return perilune.record
function members:build(fields) end

---Inserts a record that belongs to the owner of this request. Through a link table, it also inserts the link. Options and results are as for
---`Class:insert`.
---```lua
---print(Author:find(1):books():insert{ title = "Omoo" }.author_id)  --> 1
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `argument` if the request does not come from an association
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, fields: table<string, any>|perilune.record, options?: perilune.write_options): perilune.record
---@param db? perilune.database
---@param fields table<string, any>|perilune.record columns with values, or a new record
---@param options? perilune.write_options
---@return perilune.record
function members:insert(db, fields, options) end

---Inserts records that belong to the owner of this request: all of them, or none. Through a link table, it also inserts the links. Options
---and results are as for `Class:insert_all`.
---```lua
---local books = Author:find(1)
---  :books()
---  :insert_all{ { title = "Omoo" }, { title = "Mardi" } }
---print(#books, books[2].author_id)  --> 2	1
---```
---
---- Raises `constraint_*` if a constraint is violated
---- Raises `argument` if the request does not come from an association
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, list: (table<string, any>|perilune.record)[], options?: perilune.write_options): perilune.record[]
---@param db? perilune.database
---@param list (table<string, any>|perilune.record)[]
---@param options? perilune.write_options
---@return perilune.record[]
function members:insert_all(db, list, options) end

---Fetches associated records into the fields of records that are already in memory, with one statement for each association. It is called
---on a class.
---```lua
---local authors = Author:order("id"):fetch_all()
---Author:preload(authors, Author.books)
---print(#authors[1].books)  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param list perilune.record[]
---@param ... perilune.association
function members:preload(list, ...) end

---Writes a record with its associated records: all of them, or none. The table holds the associations under their names. Records that the
---record belongs to are written before it, all others after it. It is called on a class.
---
---A table with the key of a row updates that row; a table without a key inserts a row. Existing rows are written before new ones. They get
---the values that the conditions of the association require, and are restored if they were softly deleted. A row that belongs to another
---record is not taken from it, unless the table sets its foreign key. The field `path` of an error is the position of the faulty entry in
---the table.
---
---With `delete_missing`, rows that move from one list to another are moved, and rows that are no longer in any list are deleted, before new
---ones are inserted.
---```lua
---local author = Author:save_nested{
---  name = "Albert Camus",
---  books = {
---    { title = "The Plague", year = 1947, tags = { { name = "plague" } } },
---    { title = "The Fall" },
---  },
---}
---print(
---  author.books[1].author_id,
---  #Book:filter{ title = "The Plague" }:fetch_one():tags():fetch_all()
---)
-----> 4	1
---
---local ok, err = pcall(Author.save_nested, Author, {
---  id = 4,
---  books = { { title = "Letters" }, { year = 1942 } },
---})
---print(err.path, err.kind)  --> books[2]	constraint_not_null
---```
---
---- Raises `unknown_column` if the column or association does not exist
---- Raises `nested_owner` if a row belongs to another record
---- Raises `constraint_*` if a constraint is violated
---- Raises `validation` if a record is not valid
---- Raises `argument` if a value has the wrong type
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@overload fun(self: perilune.request, values: table<string, any>, options?: { delete_missing?: boolean }): perilune.record
---@param db? perilune.database
---@param values table<string, any> columns and associations; a record may replace a table
---@param options? { delete_missing?: boolean } deletes associated rows that are not in the lists; for linked rows only the links
---@return perilune.record record with the written records in its fields
function members:save_nested(db, values, options) end

---Makes an association: each row has a foreign key to a row of the other class. A record of that class may be given in place of the
---columns: `Book:insert{ writer = author }`, `book.writer = author`.
---```lua
---Book.writer = Book:belongs_to(Author)
---print(Book:including_required(Book.writer):find(1).writer.name)
-----> Herman Melville
---print(Book:insert{ title = "Omoo", writer = Author:find(1) }.author_id)
-----> 1
---```
---
---- Raises `argument` if an option is not valid
---- Raises `unknown_option` if an option does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
function members:belongs_to(target, options) end

---Makes an association: at most one row of the other class has a foreign key to each row. If the keys allow several, it is the first by the
---order of the association, then by the key.
---```lua
---Author.debut = Author:has_one(Book)
---print(Author:including_optional(Author.debut):find(1).debut.title)
-----> Typee
---Author.latest = Author:has_one(Book):order(Book.c.year:desc())
---print(Author:including_optional(Author.latest):find(1).latest.title)
-----> Moby-Dick
---```
---
---- Raises `argument` if an option is not valid
---- Raises `unknown_option` if an option does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
function members:has_one(target, options) end

---Makes an association: rows of the other class have a foreign key to each row.
---```lua
---Author.works = Author:has_many(Book)
---print(#Author:including_all(Author.works):find(1).works)  --> 2
---```
---
---- Raises `argument` if an option is not valid
---- Raises `unknown_option` if an option does not exist
---- Raises `argument` if an argument has the wrong type
---- Raises `unknown_column` if the column does not exist
---- Raises `unknown_table` if the table does not exist
---@param target perilune.record_class|perilune.common_table|string a class, a common table, or the name of a table
---@param options? perilune.association_options
---@return perilune.association
function members:has_many(target, options) end

end

do
---A request with named parameters. Each method takes an optional database, and a table of values by name.
---@class perilune.prepared_request
local members = {}

---Returns all records.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(#prepared:fetch_all{ name = "sea" })  --> 1
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): perilune.record[]
---@param db? perilune.database
---@param values? table<string, any>
---@return perilune.record[]
function members:fetch_all(db, values) end

---Returns the first record, or nil.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:fetch_one{ name = "sea" }.name)  --> sea
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): perilune.record?
---@param db? perilune.database
---@param values? table<string, any>
---@return perilune.record?
function members:fetch_one(db, values) end

---Returns the number of rows.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:fetch_count{ name = "sea" })  --> 1
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): integer
---@param db? perilune.database
---@param values? table<string, any>
---@return integer
function members:fetch_count(db, values) end

---Returns whether the request has no rows.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:is_empty{ name = "sea" })  --> false
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): boolean
---@param db? perilune.database
---@param values? table<string, any>
---@return boolean
function members:is_empty(db, values) end

---Returns whether at least one row exists.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:exists{ name = "sea" })  --> true
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): boolean
---@param db? perilune.database
---@param values? table<string, any>
---@return boolean
function members:exists(db, values) end

---Returns the first value of the selected column, or nil.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(prepared:fetch_value{ name = "sea" })  --> sea
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): any
---@param db? perilune.database
---@param values? table<string, any>
---@return any
function members:fetch_value(db, values) end

---Returns the values of the selected column as a list.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(#prepared:fetch_values{ name = "sea" })  --> 1
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): any[]
---@param db? perilune.database
---@param values? table<string, any>
---@return any[]
function members:fetch_values(db, values) end

---Returns the values of the selected column, in which NULL is `perilune.null`.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(#prepared:fetch_optional_values{ name = "sea" })  --> 1
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): any[]
---@param db? perilune.database
---@param values? table<string, any>
---@return any[]
function members:fetch_optional_values(db, values) end

---Returns the values of the selected column as the keys of a table.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(prepared:fetch_set{ name = "sea" }.sea)  --> true
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): table<any, true>
---@param db? perilune.database
---@param values? table<string, any>
---@return table<any, true>
function members:fetch_set(db, values) end

---Iterates over the records.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---for tag in prepared:rows{ name = "sea" } do print(tag.id) end  --> 1
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): (fun(): perilune.record?)
---@param db? perilune.database
---@param values? table<string, any>
---@return fun(): perilune.record?
function members:rows(db, values) end

---Iterates over rows as separate values.
---```lua
---local prepared = Tag:select("id", "name"):filter("name = :name"):prepare()
---for id, name in prepared:tuples{ name = "sea" } do print(id, name) end
-----> 1	sea
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): (fun(): ...)
---@param db? perilune.database
---@param values? table<string, any>
---@return fun(): ...
function members:tuples(db, values) end

---Deletes all rows.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:delete_all{ name = "sea" }.changed_rows)  --> 1
---```
---
---- Raises `unknown_parameter` if the request has no such parameter
---- Raises `argument` if an argument has the wrong type
---@overload fun(self: perilune.prepared_request, values?: table<string, any>): perilune.execute_result
---@param db? perilune.database
---@param values? table<string, any>
---@return perilune.execute_result
function members:delete_all(db, values) end

end

---A common table: a request whose rows can be associated.
---@class perilune.common_table: perilune.request
---@field c table<string, perilune.expression> the columns

do
---@class perilune.expression
---@operator add(any): perilune.expression
---@operator sub(any): perilune.expression
---@operator mul(any): perilune.expression
---@operator div(any): perilune.expression
---@operator mod(any): perilune.expression
---@operator idiv(any): perilune.expression
---@operator pow(any): perilune.expression
---@operator unm: perilune.expression
---@operator concat(any): perilune.expression
---@operator band(any): perilune.expression
---@operator bor(any): perilune.expression
---@operator bnot: perilune.expression
local members = {}

---Is equal to a value; `perilune.null` means `is_null`.
---```lua
---print(Book:filter(Book.c.year:eq(1851)):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:eq(value) end

---Differs from a value; `perilune.null` means `is_not_null`.
---```lua
---print(Book:filter(Book.c.year:ne(1851)):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:ne(value) end

---Is less than a value.
---```lua
---print(Book:filter(Book.c.year:lt(1851)):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:lt(value) end

---Is at most a value.
---```lua
---print(Book:filter(Book.c.year:le(1851)):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:le(value) end

---Is greater than a value.
---```lua
---print(Book:filter(Book.c.year:gt(1851)):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:gt(value) end

---Is at least a value.
---```lua
---print(Book:filter(Book.c.year:ge(1851)):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:ge(value) end

---Is identical to a value; NULL is identical to NULL.
---```lua
---print(Author:filter(Author.c.country:is("US")):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:is(value) end

---Is not identical to a value; NULL differs from any other value.
---```lua
---print(Author:filter(Author.c.country:is_not("US")):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:is_not(value) end

---Is NULL.
---```lua
---print(Author:filter(Author.c.country:is_null()):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:is_null() end

---Is not NULL.
---```lua
---print(Author:filter(Author.c.country:is_not_null()):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:is_not_null() end

---Is between two values, inclusive.
---```lua
---print(Book:filter(Book.c.year:between(1846, 1851)):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param low any
---@param high any
---@return perilune.expression
function members:between(low, high) end

---Is in a list, or in the values that a request selects.
---```lua
---print(Book:filter(Book.c.id:is_in{ 1, 3 }):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param list any[]|perilune.request
---@return perilune.expression
function members:is_in(list) end

---Is not in a list, or in the values that a request selects.
---```lua
---print(Book:filter(Book.c.id:is_not_in{ 1, 3 }):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param list any[]|perilune.request
---@return perilune.expression
function members:is_not_in(list) end

---Matches a `LIKE` pattern, in which `%` is any text and `_` any character.
---```lua
---print(Book:filter(Book.c.title:like("M%")):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param pattern string|perilune.expression
---@param escape? string the character that escapes the next one
---@return perilune.expression
function members:like(pattern, escape) end

---Matches a `GLOB` pattern, in which `*` is any text.
---```lua
---print(Book:filter(Book.c.title:glob("M*")):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param pattern string|perilune.expression
---@return perilune.expression
function members:glob(pattern) end

---Calls the SQL function `regexp`, which the script must add.
---```lua
---print((Book:filter(Book.c.title:regexp("^M")):sql()))
-----> SELECT * FROM "book" WHERE "book"."title" REGEXP ?
---```
---
---- Raises `argument` if an argument has the wrong type
---@param pattern string|perilune.expression
---@return perilune.expression
function members:regexp(pattern) end

---Matches a full-text search pattern.
---```lua
---print((Book:filter(Book.c.title:match("whale")):sql()))
-----> SELECT * FROM "book" WHERE "book"."title" MATCH ?
---```
---
---- Raises `argument` if an argument has the wrong type
---@param pattern string|perilune.expression
---@return perilune.expression
function members:match(pattern) end

---Contains a text, in which `%` and `_` have no special meaning.
---```lua
---print(Book:filter(Book.c.title:contains("the")):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param text string
---@return perilune.expression
function members:contains(text) end

---Starts with a text.
---```lua
---print(Book:filter(Book.c.title:starts_with("Around")):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param text string
---@return perilune.expression
function members:starts_with(text) end

---Ends with a text.
---```lua
---print(Book:filter(Book.c.title:ends_with("Dick")):fetch_count())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param text string
---@return perilune.expression
function members:ends_with(text) end

---The value with a collation for comparing and ordering.
---```lua
---print(Tag:filter(Tag.c.name:collating("nocase"):eq("SEA")):fetch_count())
-----> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@param name string
---@return perilune.expression
function members:collating(name) end

---The value with a name.
---```lua
---print(Book:select(Book.c.year:as("y")):order("id"):fetch_one().y)  --> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---@param name string
---@return perilune.expression
function members:as(name) end

---Sorts in ascending order.
---```lua
---print(Book:order(Book.c.year:asc()):fetch_one().year)  --> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:asc() end

---Sorts in descending order.
---```lua
---print(Book:order(Book.c.year:desc()):fetch_one().year)  --> 1872
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:desc() end

---Sorts NULL before all values.
---```lua
---print(Book:order(Book.c.pages:nulls_first()):fetch_one().title)
-----> Around the World
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:nulls_first() end

---Sorts NULL after all values.
---```lua
---print(Book:order(Book.c.pages:nulls_last()):fetch_one().title)  --> Typee
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:nulls_last() end

---Converts to `"integer"`, `"real"`, `"text"`, `"blob"` or `"numeric"`.
---```lua
---print(Book:select(Book.c.year:cast("text")):order("id"):fetch_value())
-----> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---@param type "integer"|"real"|"text"|"blob"|"numeric"
---@return perilune.expression
function members:cast(type) end

---The value over a window: `{ partition_by = ..., order_by = ..., frame = ... }`, or SQL. In a request with groups, the window has one row
---for each group: an aggregate of an aggregate is a running total over the groups, and `order_by` and `partition_by` may contain
---aggregates. A column that differs within a group is refused there.
---```lua
---local so_far = perilune.count():sum():over{ order_by = "author_id" }
---print(
---  Book:group("author_id")
---    :select(so_far:as("so_far"))
---    :order("author_id")
---    :fetch_values()[2]
---)
-----> 3
---print(
---  Book:select(Book.c.id:sum():over("ORDER BY id"))
---    :order("id")
---    :fetch_values()[3]
---)
-----> 6
---print(
---  Book:select(
---    Book.c.id:sum():over{ order_by = "id", frame = { rows = { -1, 0 } } }
---  ):order("id"):fetch_values()[3]
---)
-----> 5
---```
---
---- Raises `argument` if an argument has the wrong type
---@param window? string|{ partition_by?: any, order_by?: any, frame?: perilune.window_frame } the window, also as SQL: `"PARTITION BY country ORDER BY name"`
---@return perilune.expression
function members:over(window) end

---The aggregate, limited to the rows that satisfy a condition.
---```lua
---print(
---  Book:select(Book.c.id:count():where(Book.c.year:gt(1850))):fetch_value()
---)
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param condition perilune.expression
---@return perilune.expression
function members:where(condition) end

---The number of values that are not NULL.
---```lua
---print(Book:select(Book.c.pages:count()):fetch_value())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:count() end

---The number of distinct values.
---```lua
---print(Book:select(Book.c.author_id:count_distinct()):fetch_value())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:count_distinct() end

---The sum of the values.
---```lua
---print(Book:select(Book.c.pages:sum()):fetch_value())  --> 961
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:sum() end

---The sum of the distinct values.
---```lua
---print(Book:select(Book.c.author_id:sum_distinct()):fetch_value())  --> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:sum_distinct() end

---The sum of the values as a float.
---```lua
---print(Book:select(Book.c.pages:total()):fetch_value())  --> 961.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:total() end

---The average of the values.
---```lua
---print(Book:select(Book.c.pages:average()):fetch_value())  --> 480.5
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:average() end

---The least value.
---```lua
---print(Book:select(Book.c.year:min()):fetch_value())  --> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:min() end

---The greatest value.
---```lua
---print(Book:select(Book.c.year:max()):fetch_value())  --> 1872
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:max() end

---All values, joined into one text.
---```lua
---print(Tag:select(Tag.c.name:group_concat("+")):fetch_value())
-----> sea+travel
---```
---
---- Raises `argument` if an argument has the wrong type
---@param separator? string a comma by default
---@return perilune.expression
function members:group_concat(separator) end

---All values as a JSON array.
---```lua
---print(Tag:select(Tag.c.name:json_group_array()):fetch_value())
-----> ["sea","travel"]
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:json_group_array() end

---The value in a JSON text: at a path, which begins with `$` (`"$.city"`); of the member with a name; or at a position, from 1.
---```lua
---print(
---  Tag:select(perilune.value('{"city":"Paris"}'):json("$.city"))
---    :fetch_value()
---)
-----> Paris
---```
---
---- Raises `argument` if a position less than 1, an empty name, or one with quotes, which SQLite paths cannot express
---- Raises `argument` if an argument has the wrong type
---@param path string|integer
---@return perilune.expression
function members:json(path) end

---The text of a full-text column, with marks around the matches.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---})
---local BookText = perilune.record("book_text")
---print((BookText:matching("dick")
---  :select(BookText.c.title:highlight("[", "]"))
---  :fetch_value()))
-----> Moby-[Dick]
---```
---
---- Raises `argument` if an argument has the wrong type
---@param before? string `"<b>"` by default
---@param after? string `"</b>"` by default
---@return perilune.expression
function members:highlight(before, after) end

---The part of a full-text column around the matches.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---})
---local BookText = perilune.record("book_text")
---print((BookText:matching("dick")
---  :select(BookText.c.title:snippet("[", "]"))
---  :fetch_value()))
-----> Moby-[Dick]
---```
---
---- Raises `argument` if an argument has the wrong type
---@param before? string `"<b>"` by default
---@param after? string `"</b>"` by default
---@param ellipsis? string `"…"` by default
---@param tokens? integer at most this many words, up to 64; 16 by default
---@return perilune.expression
function members:snippet(before, after, ellipsis, tokens) end

---The date in the format of SQL's `strftime`.
---```lua
---print(
---  Author:select(Author.c.born:strftime("%d.%m.%Y"))
---    :order("id")
---    :fetch_value()
---)
-----> 01.08.1819
---```
---
---- Raises `argument` if an argument has the wrong type
---@param format string|perilune.expression
---@return perilune.expression
function members:strftime(format) end

---SQL's `lower`.
---```lua
---print(Tag:select(Tag.c.name:lower()):order("id"):fetch_value())  --> sea
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:lower() end

---SQL's `upper`.
---```lua
---print(Tag:select(Tag.c.name:upper()):order("id"):fetch_value())  --> SEA
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:upper() end

---SQL's `length`.
---```lua
---print(Tag:select(Tag.c.name:length()):order("id"):fetch_value())  --> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:length() end

---SQL's `trim`.
---```lua
---print(Tag:select(Tag.c.name:trim("a")):order("id"):fetch_value())  --> se
---```
---
---- Raises `argument` if an argument has the wrong type
---@param characters? string
---@return perilune.expression
function members:trim(characters) end

---SQL's `ltrim`.
---```lua
---print(Tag:select(Tag.c.name:ltrim("s")):order("id"):fetch_value())  --> ea
---```
---
---- Raises `argument` if an argument has the wrong type
---@param characters? string
---@return perilune.expression
function members:ltrim(characters) end

---SQL's `rtrim`.
---```lua
---print(Tag:select(Tag.c.name:rtrim("a")):order("id"):fetch_value())  --> se
---```
---
---- Raises `argument` if an argument has the wrong type
---@param characters? string
---@return perilune.expression
function members:rtrim(characters) end

---SQL's `replace`.
---```lua
---print(Tag:select(Tag.c.name:replace("s", "t")):order("id"):fetch_value())
-----> tea
---```
---
---- Raises `argument` if an argument has the wrong type
---@param part string|perilune.expression
---@param by string|perilune.expression
---@return perilune.expression
function members:replace(part, by) end

---SQL's `substr`, from position 1.
---```lua
---print(Tag:select(Tag.c.name:substr(2, 2)):order("id"):fetch_value())  --> ea
---```
---
---- Raises `argument` if an argument has the wrong type
---@param first integer
---@param count? integer
---@return perilune.expression
function members:substr(first, count) end

---SQL's `instr`: the position of a part, or 0 if it does not occur.
---```lua
---print(Tag:select(Tag.c.name:instr("a")):order("id"):fetch_value())  --> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---@param part string|perilune.expression
---@return perilune.expression
function members:instr(part) end

---SQL's `hex`.
---```lua
---print(Tag:select(Tag.c.name:hex()):order("id"):fetch_value())  --> 736561
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:hex() end

---SQL's `unicode`: the code of the first character.
---```lua
---print(Tag:select(Tag.c.name:unicode()):order("id"):fetch_value())  --> 115
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:unicode() end

---SQL's `typeof`.
---```lua
---print(Tag:select(Tag.c.name:typeof()):order("id"):fetch_value())  --> text
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:typeof() end

---SQL's `quote`: the value as an SQL literal.
---```lua
---print(Tag:select(Tag.c.name:quote()):order("id"):fetch_value())  --> 'sea'
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:quote() end

---SQL's `abs`.
---```lua
---print(Tag:select((-Tag.c.id):abs()):order("id"):fetch_value())  --> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:abs() end

---SQL's `round`.
---```lua
---print(Tag:select(perilune.value(1.25):round(1)):fetch_value())  --> 1.3
---```
---
---- Raises `argument` if an argument has the wrong type
---@param digits? integer
---@return perilune.expression
function members:round(digits) end

---SQL's `sign`.
---```lua
---print(Tag:select((-Tag.c.id):sign()):order("id"):fetch_value())  --> -1
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:sign() end

---SQL's `ceil`.
---```lua
---print(Tag:select(perilune.value(1.5):ceil()):fetch_value())  --> 2.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:ceil() end

---SQL's `floor`.
---```lua
---print(Tag:select(perilune.value(1.5):floor()):fetch_value())  --> 1.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:floor() end

---SQL's `trunc`.
---```lua
---print(Tag:select(perilune.value(-1.5):trunc()):fetch_value())  --> -1.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:trunc() end

---SQL's `sqrt`.
---```lua
---print(Tag:select(perilune.value(9):sqrt()):fetch_value())  --> 3.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:sqrt() end

---SQL's `pow`.
---```lua
---print(Tag:select(perilune.value(2):pow(3)):fetch_value())  --> 8.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@param exponent any
---@return perilune.expression
function members:pow(exponent) end

---SQL's `exp`.
---```lua
---print(Tag:select(perilune.value(0):exp()):fetch_value())  --> 1.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:exp() end

---SQL's `ln`.
---```lua
---print(Tag:select(perilune.value(1):ln()):fetch_value())  --> 0.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:ln() end

---SQL's `log10`.
---```lua
---print(Tag:select(perilune.value(100):log10()):fetch_value())  --> 2.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:log10() end

---SQL's `log2`.
---```lua
---print(Tag:select(perilune.value(8):log2()):fetch_value())  --> 3.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:log2() end

---SQL's `mod`.
---```lua
---print(Tag:select(perilune.value(7):mod(4)):fetch_value())  --> 3.0
---```
---
---- Raises `argument` if an argument has the wrong type
---@param divisor any
---@return perilune.expression
function members:mod(divisor) end

---SQL's `coalesce`: the first value that is not NULL.
---```lua
---print(
---  Author:select(Author.c.country:coalesce("?"))
---    :order("id")
---    :fetch_values()[3]
---)
-----> ?
---```
---
---- Raises `argument` if an argument has the wrong type
---@param ... any
---@return perilune.expression
function members:coalesce(...) end

---SQL's `ifnull`: the value instead of NULL.
---```lua
---print(
---  Author:select(Author.c.country:ifnull("?")):order("id"):fetch_values()[3]
---)
-----> ?
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:ifnull(value) end

---SQL's `nullif`: NULL instead of the value.
---```lua
---print(Tag:select(Tag.c.name:nullif("sea")):order("id"):fetch_value())
-----> nil
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@return perilune.expression
function members:nullif(value) end

---SQL's `iif`: the first value if the condition is true, else the second.
---```lua
---print(Book:select(Book.c.year:gt(1850):iif("new", "old"))
---  :order("id")
---  :fetch_value())
-----> old
---```
---
---- Raises `argument` if an argument has the wrong type
---@param value any
---@param otherwise any
---@return perilune.expression
function members:iif(value, otherwise) end

---SQL's `likely`: a hint for the planner that the condition is usually true.
---```lua
---print(Book:filter(Book.c.year:gt(1850):likely()):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:likely() end

---SQL's `unlikely`: a hint for the planner that the condition is usually false.
---```lua
---print(Book:filter(Book.c.year:gt(1850):unlikely()):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:unlikely() end

---SQL's `date`, with modifiers.
---```lua
---print(Author:select(Author.c.born:date("+1 day")):order("id"):fetch_value())
-----> 1819-08-02
---```
---
---- Raises `argument` if an argument has the wrong type
---@param ... any
---@return perilune.expression
function members:date(...) end

---SQL's `time`, with modifiers.
---```lua
---print(
---  Author:select(Author.c.born:time("+1 hour")):order("id"):fetch_value()
---)
-----> 01:00:00
---```
---
---- Raises `argument` if an argument has the wrong type
---@param ... any
---@return perilune.expression
function members:time(...) end

---SQL's `datetime`, with modifiers.
---```lua
---print(
---  Author:select(Author.c.born:datetime("+1 hour")):order("id"):fetch_value()
---)
-----> 1819-08-01 01:00:00
---```
---
---- Raises `argument` if an argument has the wrong type
---@param ... any
---@return perilune.expression
function members:datetime(...) end

---SQL's `julianday`, with modifiers.
---```lua
---print(Tag:select(perilune.value("2000-01-01"):julianday()):fetch_value())
-----> 2451544.5
---```
---
---- Raises `argument` if an argument has the wrong type
---@param ... any
---@return perilune.expression
function members:julianday(...) end

---SQL's `unixepoch`, with modifiers.
---```lua
---print(Tag:select(perilune.value("1970-01-02"):unixepoch()):fetch_value())
-----> 86400
---```
---
---- Raises `argument` if an argument has the wrong type
---@param ... any
---@return perilune.expression
function members:unixepoch(...) end

---SQL's `json_extract`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":[1,2]}'):json_extract("$.a[1]"))
---    :fetch_value()
---)
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param path string
---@return perilune.expression
function members:json_extract(path) end

---SQL's `json_type`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":[1,2]}'):json_type("$.a")):fetch_value()
---)
-----> array
---```
---
---- Raises `argument` if an argument has the wrong type
---@param path? string
---@return perilune.expression
function members:json_type(path) end

---SQL's `json_array_length`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":[1,2]}'):json_array_length("$.a"))
---    :fetch_value()
---)
-----> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---@param path? string
---@return perilune.expression
function members:json_array_length(path) end

---SQL's `json_set`: sets a member, whether or not it exists.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_set("$.b", 2)):fetch_value()
---)
-----> {"a":1,"b":2}
---```
---
---- Raises `argument` if an argument has the wrong type
---@param path string
---@param value any
---@return perilune.expression
function members:json_set(path, value) end

---SQL's `json_insert`: adds a member if it does not exist.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_insert("$.a", 2)):fetch_value()
---)
-----> {"a":1}
---```
---
---- Raises `argument` if an argument has the wrong type
---@param path string
---@param value any
---@return perilune.expression
function members:json_insert(path, value) end

---SQL's `json_replace`: changes a member if it exists.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_replace("$.a", 2)):fetch_value()
---)
-----> {"a":2}
---```
---
---- Raises `argument` if an argument has the wrong type
---@param path string
---@param value any
---@return perilune.expression
function members:json_replace(path, value) end

---SQL's `json_remove`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_remove("$.a")):fetch_value()
---)
-----> {}
---```
---
---- Raises `argument` if an argument has the wrong type
---@param path string
---@return perilune.expression
function members:json_remove(path) end

---SQL's `json_patch`.
---```lua
---print(
---  Tag:select(perilune.value('{"a":1}'):json_patch('{"b":2}')):fetch_value()
---)
-----> {"a":1,"b":2}
---```
---
---- Raises `argument` if an argument has the wrong type
---@param patch string|perilune.expression
---@return perilune.expression
function members:json_patch(patch) end

---SQL's `json_valid`, as a boolean.
---```lua
---print(Tag:select(perilune.value("{}"):json_valid()):fetch_value())  --> true
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:json_valid() end

---The value in an earlier row of a window.
---```lua
---print(Book:select(Book.c.year:lag(1, 0):over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 0
---```
---
---- Raises `argument` if an argument has the wrong type
---@param distance? integer 1 by default
---@param default? any the value for rows without such a row; NULL by default
---@return perilune.expression
function members:lag(distance, default) end

---The value in a later row of a window.
---```lua
---print(Book:select(Book.c.year:lead():over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1851
---```
---
---- Raises `argument` if an argument has the wrong type
---@param distance? integer 1 by default
---@param default? any the value for rows without such a row; NULL by default
---@return perilune.expression
function members:lead(distance, default) end

---The value in the first row of the frame.
---```lua
---print(Book:select(Book.c.year:first_value():over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:first_value() end

---The value in the last row of the frame.
---```lua
---print(Book:select(Book.c.year:last_value():over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:last_value() end

---The value in a row of the frame, given by its number, from 1.
---```lua
---print(Book:select(Book.c.year:nth_value(1):over{ order_by = "year" })
---  :order("year")
---  :fetch_value())
-----> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---@param position integer
---@return perilune.expression
function members:nth_value(position) end

---The aggregate over its rows in an order, for `group_concat` and `json_group_array`.
---```lua
---print(
---  Tag:select(Tag.c.name:group_concat("+"):order(Tag.c.name:desc()))
---    :fetch_value()
---)
-----> travel+sea
---```
---
---- Raises `argument` if an argument has the wrong type
---@param ... string|perilune.expression
---@return perilune.expression
function members:order(...) end

---The aggregate over distinct values.
---```lua
---print(Book:select(Book.c.author_id:sum():distinct()):fetch_value())  --> 3
---```
---
---- Raises `argument` if an argument has the wrong type
---@return perilune.expression
function members:distinct() end

end

---The frame of a window, by one of `rows`, `range` and `groups`: its start and its end. A number counts rows, values or groups after the
---current one; a negative number counts backwards, and 0 is the current one. `"unbounded"` is the end of the partition.
---@class perilune.window_frame
---@field rows? { [1]: integer|"unbounded", [2]: integer|"unbounded" } `{ -2, 0 }`: the row and the two before it
---@field range? { [1]: number|"unbounded", [2]: number|"unbounded" } by the value of the order
---@field groups? { [1]: integer|"unbounded", [2]: integer|"unbounded" } by groups of rows that are equal in the order
---@field exclude? "current_row"|"group"|"ties"|"no_others" the rows to leave out

---Options of associations.
---@class perilune.association_options
---@field columns? string|string[] the foreign key, if the schema has several
---@field referenced? string|string[] the columns that the foreign key refers to
---@field name? string the name of the association; by default its field
---@field singular? string the name of a single row, for annotations such as `book_count`
---@field through? perilune.association an association of this class that leads to a third one
---@field using? perilune.association an association of the third class that leads to the target
---@field counter_cache? string for `belongs_to`: a column of the other table that counts the rows
---@field touch? boolean|string for `belongs_to`: whether writing a row updates a timestamp of the other row

do
---An association. It also has the methods of requests that derive another one, such as `filter` and `order`. Called with a record, or as a
---method of a record, it returns the request for the associated rows. `book:author()` works whether or not the book was fetched with its
---author, unless the fetched author is nil; `Book.author(book)` always works.
---@class perilune.association
---@field c table<string, perilune.expression> the columns of the associated rows, for requests that join it
---@overload fun(record: perilune.record, db?: perilune.database): perilune.request
local members = {}

---Returns the number of associated rows of each row, as an expression.
---```lua
---print(Author:annotated_with(Author.books:count()):find(1).book_count)  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@return perilune.expression
function members:count() end

---Returns whether a row has no associated rows, as a condition.
---```lua
---print(Author:having(Author.books:is_empty()):fetch_one().name)
-----> Ada Lovelace
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@return perilune.expression
function members:is_empty() end

---Returns whether a row has associated rows, as a condition.
---```lua
---print(Author:having(Author.books:exists()):fetch_count())  --> 2
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@return perilune.expression
function members:exists() end

---Returns the least value of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:min("year"):as("result"))
---    :find(1).result
---)
-----> 1846
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@param column string|perilune.expression
---@return perilune.expression
function members:min(column) end

---Returns the greatest value of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:max("year"):as("result"))
---    :find(1).result
---)
-----> 1851
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@param column string|perilune.expression
---@return perilune.expression
function members:max(column) end

---Returns the sum of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:sum("year"):as("result"))
---    :find(1).result
---)
-----> 3697
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@param column string|perilune.expression
---@return perilune.expression
function members:sum(column) end

---Returns the average of a column of the associated rows, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:average("year"):as("result"))
---    :find(1).result
---)
-----> 1848.5
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@param column string|perilune.expression
---@return perilune.expression
function members:average(column) end

---Returns the sum of a column of the associated rows as a float, as an expression.
---```lua
---print(
---  Author:annotated_with(Author.books:total("year"):as("result"))
---    :find(1).result
---)
-----> 3697.0
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@param column string|perilune.expression
---@return perilune.expression
function members:total(column) end

---Returns the association under another name, so that a request can include it twice.
---```lua
---local old = Author.books:filter("year < 1850"):as("old_books")
---local author = Author:including_all(Author.books, old):find(1)
---print(#author.books, #author.old_books)  --> 2	1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@param name string
---@return perilune.association
function members:as(name) end

---Returns the association without the default request of the associated class.
---```lua
---Book.requests.default = function(self)
---  return self:filter{ is_read = true }
---end
---print(Author:having(Author.books:unscoped():count():eq(2)):fetch_count())
-----> 1
---```
---
---- Raises `argument` if an argument has the wrong type
---- Raises `not_fetched` if the association is used as if its rows were there
---@return perilune.association
function members:unscoped() end

end

do
---A date and time.
---@class perilune.date
---@field year integer
---@field month integer from 1
---@field day integer from 1
---@field hour integer
---@field minute integer
---@field second integer
---@field millisecond integer the fraction of the second, in milliseconds
---@field microsecond integer the fraction of the second, in microseconds
---@field weekday integer from 0, Sunday, to 6, Saturday
---@field day_of_year integer from 1
---@field unix number seconds since 1970, with a fraction
---@field unix_seconds integer whole seconds since 1970
---@field julian_day number
---@operator add(number): perilune.date
---@operator sub(number): perilune.date
local members = {}

---Returns the date as text: in a format with `%`, as in `os.date`, or in a named format.
---```lua
---local date = perilune.date("2026-03-01T18:30:00Z")
---print(date:format("%d.%m.%Y"), date:format("%H:%M", "Europe/Berlin"))
-----> 01.03.2026	19:30
---```
---
---- Raises `argument` if the format is unknown
---- Raises `unknown_time_zone` if the zone is unknown
---@param format? perilune.date_format by default the format that databases store
---@param zone? perilune.time_zone by default UTC
---@return string
function members:format(format, zone) end

---Returns the date as ISO 8601 text in UTC.
---```lua
---print(perilune.date("2026-03-01"):iso8601())  --> 2026-03-01T00:00:00.000Z
---```
---@return string
function members:iso8601() end

---Returns the date moved by years, months, days, hours, minutes, seconds, milliseconds and microseconds. A day beyond the end of the month
---becomes the last day of the month. With `overflow = "run on"` it continues into the next month, as in SQLite.
---```lua
---local date = perilune.date("2026-01-31")
---print(date:add{ months = 1 }:format("YMD"))
-----> 2026-02-28
---print(date:add{ months = 1, overflow = "run on" }:format("YMD"))
-----> 2026-03-03
---```
---
---- Raises `argument` if a span is unknown or not a number
---- Raises `date` if the result is out of range
---@param spans { years?: integer, months?: integer, days?: integer, hours?: integer, minutes?: integer, seconds?: number, milliseconds?: integer, microseconds?: integer, overflow?: "clamp"|"run on" }
---@return perilune.date
function members:add(spans) end

---Returns the beginning of the year, month, week, day, hour, minute or second of the date. Weeks begin on Mondays.
---```lua
---print(perilune.date("2026-03-18"):start_of("week"):format("YMD"))
-----> 2026-03-16
---print(perilune.date("2026-03-18"):start_of("day", "Europe/Berlin"))
-----> 2026-03-17 23:00:00.000
---```
---
---- Raises `argument` if the unit is unknown
---- Raises `unknown_time_zone` if the zone is unknown
---@param unit "year"|"month"|"week"|"day"|"hour"|"minute"|"second"
---@param zone? perilune.time_zone by default UTC
---@return perilune.date
function members:start_of(unit, zone) end

---Returns the number of seconds from another date to this one.
---```lua
---print(perilune.date("2026-03-02"):seconds_since("2026-03-01"))  --> 86400.0
---```
---
---- Raises `conversion` if `other` is not a date
---@param other perilune.date|string|number a date, its text, or Unix seconds
---@return number
function members:seconds_since(other) end

---Returns the parts of the date.
---```lua
---print(perilune.date("2026-03-01T18:30:00Z"):components("HM"))
-----> 18:30
---print(
---  perilune.date("2026-03-01T18:30:00Z"):components("HM", "Europe/Berlin")
---)
-----> 19:30
---```
---
---- Raises `argument` if the format is unknown
---- Raises `unknown_time_zone` if the zone is unknown
---@param format? perilune.date_format which parts; by default all
---@param zone? perilune.time_zone by default UTC; parts with a day and a time keep its offset
---@return perilune.date_components
function members:components(format, zone) end

end

do
---Makes dates: `perilune.date(value)`. A number is Unix seconds. It is also a type: `row:get("born", perilune.date)`.
---@class perilune.date_type
---@field name string
---@overload fun(value: string|number|perilune.date|perilune.date_components|table): perilune.date
local members = {}

---Returns the current date and time, as `perilune.now` does.
---```lua
---print(perilune.date.now().year >= 2000)  --> true
---```
---@return perilune.date
function members.now() end

---Returns the date for a number of Unix seconds.
---```lua
---print(perilune.date.from_unix(86400).day)  --> 2
---```
---
---- Raises `date` if the date is out of range
---- Raises `conversion` if `seconds` is not a number
---@param seconds number
---@return perilune.date
function members.from_unix(seconds) end

---Returns the date for a Julian day.
---```lua
---print(perilune.date.from_julian_day(2440587.5).year)  --> 1970
---```
---
---- Raises `date` if the date is out of range
---- Raises `conversion` if `day` is not a number
---@param day number
---@return perilune.date
function members.from_julian_day(day) end

---Converts a stored value, as types do. Numbers below 5373484.5 are Julian days, as for SQLite, and other numbers are Unix seconds.
---```lua
---print(perilune.date:from_database("2026-03-01").month)  --> 3
---```
---@param value any
---@return perilune.date? date
---@return string? message the reason why the value does not fit
function members:from_database(value) end

---Returns whether a value is a date.
---```lua
---print(perilune.date.is(perilune.now()), perilune.date.is("2026-03-01"))
-----> true	false
---```
---@param value any
---@return boolean
function members.is(value) end

end

do
---Parts of a date or time: a day without a time, or a time of day.
---@class perilune.date_components
---@field year integer?
---@field month integer?
---@field day integer?
---@field hour integer?
---@field minute integer?
---@field second integer?
---@field microsecond integer?
---@field zone_in_minutes integer? the offset from UTC
---@field format_name perilune.date_format the available parts
local members = {}

---Returns the parts as text.
---```lua
---print(perilune.date_components("12:30"):format("HMS"))  --> 12:30:00
---```
---
---- Raises `argument` if the format is unknown
---- Raises `date` if the parts do not fit
---@param format? perilune.date_format by default the format of the parts
---@return string
function members:format(format) end

---Returns the parts as a date; a time of day is on January 1, 2000.
---```lua
---print(perilune.date_components("2026-03-01"):date().month)  --> 3
---```
---
---- Raises `date` if the parts are not a date
---@return perilune.date
function members:date() end

end

do
---Makes parts of dates: `perilune.date_components("12:30")`. It is also a type.
---@class perilune.date_components_type
---@field name string
---@overload fun(value: string|perilune.date|perilune.date_components|table): perilune.date_components
local members = {}

---Converts a stored value, as types do.
---```lua
---print(perilune.date_components:from_database("12:30").hour)  --> 12
---```
---@param value any
---@return perilune.date_components? parts
---@return string? message the reason why the value does not fit
function members:from_database(value) end

---Returns whether a value holds parts of a date.
---```lua
---print(perilune.date_components.is(perilune.date_components("12:30")))
-----> true
---```
---@param value any
---@return boolean
function members.is(value) end

end

---@class perilune.transaction_observer_options
---@field on_change? fun(event: perilune.change_event) called for each changed row after its statement has succeeded; must not use the database
---@field will_commit? fun() may raise an error, which rolls back and becomes the error of the commit; must not use the database
---@field did_commit? fun(db: perilune.database)
---@field did_rollback? fun(db: perilune.database)
---@field tables? string|perilune.record_class|(string|perilune.record_class)[] limits `on_change` to these tables
---@field operations? string|("insert"|"update"|"delete")[] limits `on_change` to these operations

---A changed row.
---@class perilune.change_event
---@field operation "insert"|"update"|"delete"|"many" `"many"` represents changes from elsewhere beyond the 100,000 that are kept
---@field table string
---@field row_id integer?
---@field old table<string, any>? the row before the change: its columns by name, with strings for texts and BLOBs
---@field new table<string, any>? the row after the change

do
---A transaction observer, made by `db:observe_transactions`. It is active until it is cancelled or the database is closed.
---@class perilune.transaction_observer
local members = {}

---Ends the observation.
---```lua
---local observer = db:observe_transactions{
---  on_change = function(event) print(event.operation) end,
---}
---observer:cancel()
---db:execute("DELETE FROM tag")
---```
function members:cancel() end

---Returns whether the observer is active.
---```lua
---local observer = db:observe_transactions{ on_change = function() end }
---print(observer:is_active())  --> true
---observer:cancel()
---print(observer:is_active())  --> false
---```
---@return boolean
function members:is_active() end

end

---@class perilune.observation_options
---@field looks_first? boolean true to skip the current value; false by default
---@field poll? perilune.duration how often to check whether another process has written; never by default
---@field on_error? fun(err: perilune.error, retry_in?: number) gets errors of fetching and of the callback; a failed fetch is retried after 1, 2, 4 … 60 seconds. Without a callback, `next` and `try_next` raise the error
---@field keeps_alive? boolean false to let a script with nothing else to do end; true by default
---@field duplicates? boolean true to deliver a value that equals the previous one; false by default
---@field map? fun(...: any): ... gets the fetched results, outside of the database, and returns the value
---@field regions? perilune.region|perilune.region[] the regions to observe, instead of all that the fetch reads

do
---An observation, made by `db:observe` or `request:observe`.
---@class perilune.observation
local members = {}

---Waits for the next value that differs from the last one, and returns it. It returns nothing once the observation is cancelled.
---```lua
---local observation = Tag:order("name"):observe()
---print(#observation:next())  --> 2
---observation:cancel()
---```
---
---- Raises `usage` if the observation has a callback
---- Raises `yield` if it cannot wait here
---- Waits until there is a value
---- To be called outside blocks
---@async
---@return any ...
function members:next() end

---Checks for a new value without waiting.
---```lua
---local observation = Tag:select("name"):observe()
---print((observation:try_next()))  --> true
---print((observation:try_next()))  --> false
---observation:cancel()
---```
---
---- Raises `usage` if the observation has a callback
---@return boolean is_new
---@return any ... the value
function members:try_next() end

---Iterates over values, waiting for each. The loop ends when the observation does, and leaving the loop cancels the observation. A nil
---value is `perilune.null`.
---```lua
---for tags in Tag:order("name"):observe():values() do
---  print(#tags)
---  if #tags == 3 then break end
---  db:execute("INSERT INTO tag (name) VALUES ('ships')")
---end
-----> 2
-----> 3
---```
---
---- Raises `usage` if the observation has a callback
---- Raises `yield` if it cannot wait here
---- Waits until there is a value
---- To be called outside blocks
---@async
---@return fun(): any
function members:values() end

---Stops fetching and delivering until `resume`; returns whether it was running.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:pause(), observation:try_next())  --> true	false
---observation:resume()
---print((observation:try_next()))  --> true
---observation:cancel()
---```
---@return boolean was_running
function members:pause() end

---Resumes after `pause`, and first checks for a new value; returns whether it was paused.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:resume())  --> false
---observation:cancel()
---```
---@return boolean was_paused
function members:resume() end

---Returns whether the observation is active.
---```lua
---local observation = Tag:order("name"):observe()
---observation:pause()
---print(observation:is_paused())  --> true
---observation:cancel()
---```
---@return boolean
function members:is_paused() end

---Observes another source from now on, such as the next page of a list. The new value is delivered unless it equals the last one.
---```lua
---local observation = Tag:order("name"):limit(1):observe()
---print(observation:next()[1].name)  --> sea
---observation:change(Tag:order("name"):limit(1, 1))
---print(observation:next()[1].name)  --> travel
---observation:cancel()
---```
---
---- Raises `argument` if `source` is neither a function nor a request
---@param source (fun(db: perilune.database): ...)|perilune.request|perilune.record_class
function members:change(source) end

---Ends the observation; returns whether it was active.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:cancel(), observation:cancel())  --> true	false
---```
---@return boolean was_active
function members:cancel() end

---Returns whether the observation is active.
---```lua
---local observation = Tag:order("name"):observe()
---print(observation:is_active())  --> true
---observation:cancel()
---```
---@return boolean
function members:is_active() end

end

do
---A shared observation, made by `db:share_observation`. As a `<close>` variable it is cancelled at the end of its scope.
---@class perilune.shared_observation
local members = {}

---Calls a function with the current value once it is available, and then with each new one.
---```lua
---local shared = db:share_observation(Tag, { keeps_alive = false })
---local subscription = shared:observe(function(tags) print(#tags) end)
---subscription:cancel()
---```
---
---- Raises `argument` if the argument is not a function
---- Raises `usage` if the observation was cancelled
---@param callback fun(...: any)
---@return perilune.subscription
function members:observe(callback) end

---Returns the number of subscribed functions.
---```lua
---print(db:share_observation(Tag):count())  --> 0
---```
---@return integer
function members:count() end

---Ends the observation for all functions; returns whether it was active.
---```lua
---local shared = db:share_observation(Tag)
---print(shared:cancel(), shared:cancel())  --> true	false
---```
---@return boolean was_active
function members:cancel() end

end

do
---A subscription, made by `shared:observe`. As a `<close>` variable it is cancelled at the end of its scope.
---@class perilune.subscription
local members = {}

---Ends the subscription; returns whether it was active.
---```lua
---local subscription = db:share_observation(Tag, { keeps_alive = false })
---  :observe(function(tags) print(#tags) end)
---print(subscription:cancel(), subscription:cancel())  --> true	false
---```
---@return boolean was_active
function members:cancel() end

---Returns whether the subscription is active.
---```lua
---local subscription = db:share_observation(Tag, { keeps_alive = false })
---  :observe(function(tags) print(#tags) end)
---print(subscription:is_active())  --> true
---subscription:cancel()
---```
---@return boolean
function members:is_active() end

end

do
---A timer or signal handler, made by `perilune.after`, `perilune.every` or `perilune.on_signal`.
---@class perilune.timer
local members = {}

---Cancels the timer or removes the signal handler; returns whether it was active.
---```lua
---local timer = perilune.after("1h", print)
---print(timer:cancel(), timer:cancel())  --> true	false
---```
---@return boolean
function members:cancel() end

---Returns whether the timer or signal handler is active.
---```lua
---local timer = perilune.after("1h", print)
---print(timer:is_active())  --> true
---timer:cancel()
---```
---@return boolean
function members:is_active() end

end

do
---A scheduled function, made by `perilune.schedule` or `perilune.at`.
---@class perilune.schedule
local members = {}

---Cancels further calls of the function; returns whether it was still scheduled.
---```lua
---print(perilune.schedule("@daily", print):cancel())  --> true
---```
---@return boolean
function members:cancel() end

---Returns whether the function is still scheduled.
---```lua
---local schedule = perilune.schedule("@daily", print)
---schedule:cancel()
---print(schedule:is_active())  --> false
---```
---@return boolean
function members:is_active() end

---Returns the time of the next call, or nil.
---```lua
---local schedule = perilune.schedule("30 12 * * *", print)
---print(schedule:next_time().minute)  --> 30
---schedule:cancel()
---```
---@return perilune.date?
function members:next_time() end

end

do
---A task, made by `perilune.spawn`.
---@class perilune.task
local members = {}

---Waits until the function has ended; returns its results, or raises its error.
---```lua
---print(perilune.spawn(function() return "done" end):wait())  --> done
---```
---
---- Raises `cancelled` if the task was cancelled
---- Raises `deadlock` if the tasks would wait for each other
---- Raises `yield` if it cannot wait here
---- Waits until the task has ended
---- To be called outside blocks
---@async
---@return any ...
function members:wait() end

---Cancels the function: its current wait raises an error of kind `cancelled`. Returns whether the function was running.
---```lua
---local task = perilune.spawn(function() perilune.sleep("1h") end)
---print(task:cancel(), task:status())  --> true	cancelled
---```
---@return boolean was_running
function members:cancel() end

---Returns the state of the function.
---```lua
---local task = perilune.spawn(function() perilune.sleep("1ms") end)
---print(task:status())  --> running
---task:wait()
---print(task:status())  --> done
---```
---@return "running"|"done"|"failed"|"cancelled"
function members:status() end

end

---@class perilune.automation_options
---@field name string
---@field description? string
---@field on perilune.automation_trigger the trigger
---@field run fun(context: perilune.automation_context)
---@field when? fun(context: perilune.automation_context): boolean? a guard: the run is skipped unless it returns true
---@field mode? "single"|"restart"|"queued"|"parallel" the effect of a trigger during a run; `"single"`, the default, skips the new run
---@field max? integer the maximum number of runs that wait or run concurrently; 10 by default
---@field retry? integer|{ times?: integer, wait?: perilune.duration, factor?: number } how often a failed run is retried; a table defaults to three retries, the first after 1 second and each further one after twice the delay
---@field keep? integer the number of finished runs, and of skipped runs, to keep; 100 by default
---@field interrupted? "fail"|"rerun"|fun(context: perilune.automation_context, interruption: perilune.interruption): "rerun"? the treatment of a run whose process has ended; `"fail"`, the default, ends it as `interrupted`
---@field on_failure? fun(context: perilune.automation_context, failure: perilune.automation_failure) called after a run has failed permanently or was interrupted
---@field durable? boolean whether triggers and runs survive the end of the process; false by default
---@field key? fun(run: perilune.durable_run): string|integer for a durable automation: the key of a run, for `perilune.signal`; by default the key of the changed row, or the id of the run
---@field on_code_change? "continue"|"restart"|"stop" for a durable automation: the treatment of a run that an older version of the function started; `"continue"` by default
---@field enabled? boolean true by default
---@field db? perilune.database the default database unless given

---Exactly one of `change`, `schedule`, `every` and `event`.
---@class perilune.automation_trigger
---@field change? string|perilune.record_class|perilune.request|(string|perilune.record_class)[]|fun(db: perilune.database): ... tables, or a request or function to observe
---@field initially? boolean whether the first result of a request or function is a trigger; false by default
---@field poll? perilune.duration how often to check whether another process has written
---@field schedule? string as for `perilune.schedule`
---@field zone? string the time zone of the schedule, such as `"Europe/Vienna"`; by default the time zone of the process
---@field jitter? perilune.duration the longest random delay after a due time of the schedule
---@field every? perilune.duration a period of at least one second, which continues when the process starts again
---@field catch_up? "skip"|"one"|"all" the treatment of due times that passed while no process ran the automation: `"skip"` records them as skipped, `"one"` runs once for all of them, and `"all"` runs for each; by default `"skip"` for schedules and `"one"` for periods
---@field max_late? perilune.duration later due times are skipped
---@field event? string the event name, as passed to `perilune.emit`

---The context passed to the functions of an automation.
---@class perilune.automation_context
---@field automation perilune.automation
---@field trigger { kind: "change"|"schedule"|"every"|"event"|"manual", tables?: string[], table?: string, operation?: "insert"|"update"|"delete", due?: string, missed?: integer, is_late?: boolean, name?: string, data?: any }
---@field attempt integer the number of the attempt, from 1
---@field is_rerun boolean? whether the process of an earlier attempt has ended
---@field db perilune.database
---@field value any the result of a request or function
---@field values table all results, with a field `n`
---@field event any the data of `perilune.emit` or `automation:run`

---The interruption, passed to the function in `interrupted`.
---@class perilune.interruption
---@field attempts integer
---@field interruptions integer how often the process of the run has ended
---@field started_at perilune.date
---@field error string? of the last attempt that failed

---The failure, passed to `on_failure`.
---@class perilune.automation_failure
---@field outcome "failed"|"interrupted"|"diverged"
---@field error any
---@field reason string?
---@field attempts integer
---@field traceback string?

do
---The context passed to the function of a durable automation, with more methods.
---
---The function runs again from the start after each wait and each crash. Completed steps do not run again, but return their recorded
---results, so the function must take its steps in the same order each time. The clock, random numbers and UUIDs give the same values each
---time.
---@class perilune.durable_run : perilune.automation_context
---@field id integer
---@field key string
local members = {}

---Calls a function in a transaction that also records its result. It runs once; if it raises an error, its writes are rolled back.
---```lua
---local automation = perilune.automation{
---  name = "reserve", durable = true, on = { event = "ordered" },
---  run = function(run)
---    local left = run:step("reserve", function(db)
---      db:execute("UPDATE book SET pages = pages - 1 WHERE id = 1")
---      return db:fetch_value("SELECT pages FROM book WHERE id = 1")
---    end)
---    print("left", left)
---  end,
---}
---perilune.emit("ordered")
---perilune.sleep("1s")  --> left	325
---automation:remove()
---```
---
---- Raises `usage` if the name was used before, or the call is in a block or a step
---- Raises `argument` if an argument or the result is not valid
---- Raises `diverged` if another step was recorded at this point
---- To be called in the function of a durable automation, outside blocks and steps
---@param name string unique in the run
---@param f fun(db: perilune.database): any must not wait; its result must be a value that JSON can express, of at most 1 MB
---@param options? { undo?: fun(db: perilune.database) } `undo` is called if the run fails permanently, in reverse order of the steps
---@return any ... the results of `f`
function members:step(name, f, options) end

---Calls a function with effects outside of the database. It is called at least once, and each time with the same key. The run records the
---call before it happens, and its result afterwards.
---```lua
---local automation = perilune.automation{
---  name = "charge", durable = true, on = { event = "ordered" },
---  run = function(run)
---    local options = {
---      key = "charge " .. run.event.id,
---      retry = { times = 5, wait = "2s" },
---    }
---    run:call("charge", options, function(key, info)
---      print(key, info.attempt, info.is_repeat)
---    end)
---  end,
---}
---perilune.emit("ordered", { id = 7 })
---perilune.sleep("1s")  --> charge 7	1	false
---automation:remove()
---```
---
---- Raises `usage` if the name was used before, or the call is in a block or a step
---- Raises `argument` if an argument or the result is not valid
---- Raises `diverged` if another step was recorded at this point
---- Waits for `f`, which may wait
---- To be called in the function of a durable automation, outside blocks and steps
---@async
---@param name string unique in the run
---@param options? { key?: string|integer, retry?: integer|{ times?: integer, wait?: perilune.duration, factor?: number }, undo?: fun(db: perilune.database) } `key`: by default the automation, the id of the run and the name
---@param f fun(key: string, info: { attempt: integer, is_repeat: boolean }): any
---@return any result
function members:call(name, options, f) end

---Waits for a duration. In the meantime the run is not in memory, and it survives the end of the process.
---```lua
---local automation = perilune.automation{
---  name = "remind", durable = true, on = { event = "ordered" },
---  run = function(run)
---    run:sleep("3 days")
---    print("how was it?")
---  end,
---}
---perilune.emit("ordered")
---perilune.sleep("4 days")  --> how was it?
---automation:remove()
---```
---
---- Raises `usage` if the call is in a block or a step
---- Raises `argument` if the duration is not valid
---- Raises `diverged` if another step was recorded at this point
---- Waits for the duration
---- To be called in the function of a durable automation, outside blocks and steps
---@async
---@param duration perilune.duration
function members:sleep(duration) end

---Waits for a signal, see `perilune.signal`. In the meantime the run is not in memory.
---```lua
---local automation = perilune.automation{
---  name = "ask",
---  durable = true,
---  on = { event = "ordered" },
---  key = function(run) return run.event.id end,
---  run = function(run)
---    local answer, has_come = run:wait_for("feedback", {
---      timeout = "14 days",
---    })
---    print(has_come and answer.stars or "no answer")
---  end,
---}
---perilune.emit("ordered", { id = 7 })
---perilune.sleep("1 hour")
---perilune.signal("ask", 7, "feedback", { stars = 5 })
---perilune.sleep("1s")  --> 5
---automation:remove()
---```
---
---- Raises `usage` if the call is in a block or a step
---- Raises `argument` if the timeout is not valid
---- Raises `diverged` if another step was recorded at this point
---- Waits for the signal
---- To be called in the function of a durable automation, outside blocks and steps
---@async
---@param name string
---@param options? { timeout?: perilune.duration }
---@return any value nil after the timeout
---@return boolean has_come
function members:wait_for(name, options) end

---Executes functions concurrently, each with its own steps, and waits for all of them.
---```lua
---local automation = perilune.automation{
---  name = "both", durable = true, on = { event = "ordered" },
---  run = function(run)
---    local results = run:all{
---      stock = function(run)
---        return run:step("reserve", function() return "reserved" end)
---      end,
---      mail = function(run) run:sleep("1 hour") return "sent" end,
---    }
---    print(results.stock, results.mail)
---  end,
---}
---perilune.emit("ordered")
---perilune.sleep("2 hours")  --> reserved	sent
---automation:remove()
---```
---
---- Raises `usage` if the call is in a branch, a block or a step
---- Raises `argument` if the branches are not functions by name
---- Waits for the branches
---- To be called in the function of a durable automation, outside blocks and steps
---@async
---@param branches table<string, fun(run: perilune.durable_run): any>
---@return table<string, any> results
function members:all(branches) end

end

do
---An automation, made by `perilune.automation`.
---@class perilune.automation
---@field name string
---@field description string?
local members = {}

---Runs the automation now, including its guard.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { schedule = "@daily" },
---  run = function(context) print(context.event) end,
---}
---automation:run("now")
---perilune.sleep("20ms")  --> now
---automation:remove()
---```
---
---- Raises `usage` if the automation has been removed
---@param data? any `context.event`
function members:run(data) end

---Returns the latest runs, newest first, as rows of `perilune_automation_run`.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:run()
---perilune.sleep("50ms")
---print(automation:runs()[1].outcome)  --> succeeded
---automation:remove()
---```
---
---- Raises `argument` if `count` is not a number
---@param count? integer 20 by default
---@return perilune.row[] runs with the columns described above
function members:runs(count) end

---Enables the automation again after `disable`.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:disable()
---automation:enable()
---print(automation:is_enabled())  --> true
---automation:remove()
---```
function members:enable() end

---Stops triggering the automation. A run that has started continues.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:disable()
---print(automation:is_enabled())  --> false
---automation:remove()
---```
function members:disable() end

---Returns whether the automation is enabled.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---print(automation:is_enabled())  --> true
---automation:remove()
---```
---@return boolean
function members:is_enabled() end

---Returns whether a run is active.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---print(automation:is_running())  --> false
---automation:remove()
---```
---@return boolean
function members:is_running() end

---Returns the next due time; nil if the automation does not run at times, or is disabled.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { schedule = "0 9 * * *", zone = "UTC" },
---  run = function() end,
---}
---print(automation:next_time().hour)  --> 9
---automation:remove()
---```
---@return perilune.date?
function members:next_time() end

---Removes the automation, and cancels its runs.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:remove()
---print(#perilune.automations())  --> 0
---```
function members:remove() end

end

---@class perilune.jobs_options
---@field attempts? integer the number of attempts before a job is dead; 5 by default
---@field backoff? { [1]: perilune.duration, [2]: perilune.duration } the shortest and the longest wait for another attempt, doubled each time, plus a random part of up to a quarter; `{ "1s", "1h" }` by default
---@field concurrency? integer the number of concurrent jobs of the queue, in all processes; 1 by default
---@field rate? string the maximum number of jobs that start per second, minute, hour or day, such as `"100/minute"`
---@field timeout? perilune.duration an attempt that takes longer is ended, and counts as failed
---@field keep? perilune.duration how long to keep jobs that are done or cancelled; 1 day by default. Dead jobs are kept until they are pruned
---@field on_dead? fun(job: perilune.job, err: any) called when the last attempt has failed
---@field db? perilune.database the default database unless given

do
---A queue of jobs.
---@class perilune.jobs
local members = {}

---Adds a job, in the open transaction if there is one.
---```lua
---local mails = perilune.jobs("mail")
---print(mails:enqueue({ to = "ada" }, { key = "welcome 1", delay = "5m" }))
-----> 1	true
---print(mails:enqueue({ to = "ada" }, { key = "welcome 1" }))  --> 1	false
---```
---
---- Raises `argument` if the payload or an option is not valid
---- Raises `job_exists` if the key is in use, with `on_key = "raise"`, or with `"replace"` if the job is running
---- To be called outside blocks that only read
---@param payload any a value that JSON can express, of at most 1 MB
---@param options? perilune.enqueue_options
---@return integer id of the job, or of the one that uses the key
---@return boolean is_added
function members:enqueue(payload, options) end

---Handles the jobs of the queue with a function, in order of priority, then of commit.
---
---With the option `transaction`, the function and the end of the job are one transaction, so its writes happen exactly once. It gets a
---handle as its second argument, and must not wait.
---```lua
---local jobs = perilune.jobs("count")
---local handler = jobs:handle(function(job, db)
---  db:execute("UPDATE book SET pages = pages + ?", job.n)
---end, { transaction = true })
---jobs:enqueue{ n = 1 }
---handler:wait_until_idle()
---print(jobs:counts().done)  --> 1
---handler:cancel()
---```
---
---- Raises `argument` if `f` is not a function
---- To be called outside blocks that only read
---@param f fun(job: perilune.job, db?: perilune.database)
---@param options? { transaction?: boolean }
---@return perilune.job_handler
function members:handle(f, options) end

---Cancels an unfinished job, by its id or its key. If it is running in this process, its function is interrupted.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:enqueue(1, { key = "a" })
---print(jobs:cancel("a"), jobs:cancel("a"))  --> true	false
---```
---
---- Raises `argument` if `id` is neither an integer nor a string
---- To be called outside blocks that only read
---@param id integer|string
---@return boolean was_cancelled
function members:cancel(id) end

---Makes a dead or cancelled job ready again.
---```lua
---local jobs = perilune.jobs("mail")
---local id = jobs:enqueue(1)
---jobs:cancel(id)
---print(jobs:retry(id), jobs:find(id).state)  --> true	ready
---```
---
---- Raises `argument` if `id` is not an integer
---- To be called outside blocks that only read
---@param id integer
---@return boolean is_ready
function members:retry(id) end

---Deletes finished jobs, and returns their number.
---```lua
---print(perilune.jobs("mail"):prune{
---  older_than = "30 days",
---  states = { "done", "dead" },
---})
-----> 0
---```
---
---- Raises `argument` if an option is not valid
---- Raises `unknown_state` if a state is not one of these three
---- To be called outside blocks that only read
---@param options? { older_than?: perilune.duration, states?: ("done"|"dead"|"cancelled")[] } by default all jobs that are done or cancelled
---@return integer
function members:prune(options) end

---Returns the number of jobs in each state.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:enqueue(1)
---print(jobs:counts().ready, jobs:counts().dead)  --> 1	0
---```
---
---- To be called outside blocks that only read
---@return table<string, integer>
function members:counts() end

---Returns the row of a job by its id, or by its key while it is unfinished; nil if it does not exist.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:enqueue({ to = "ada" }, { key = "a" })
---print(jobs:find("a").payload)  --> {"to":"ada"}
---```
---
---- Raises `argument` if `id` is neither an integer nor a string
---- To be called outside blocks that only read
---@param id integer|string
---@return perilune.row?
function members:find(id) end

---Returns the newest jobs, as rows of `perilune_job`.
---```lua
---local jobs = perilune.jobs("mail")
---for i = 1, 3 do jobs:enqueue(i) end
---print(#jobs:list{ state = "ready", limit = 2 })  --> 2
---```
---
---- Raises `unknown_state` if the state does not exist
---- Raises `argument` if the limit is not valid
---- To be called outside blocks that only read
---@param options? { state?: string, limit?: integer } the last 20 in any state by default
---@return perilune.row[]
function members:list(options) end

---Stops starting jobs of the queue, in all processes, until `resume`.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:pause()
---jobs:resume()
---```
---
---- To be called outside blocks that only read
function members:pause() end

---Starts jobs again after `pause`.
---```lua
---perilune.jobs("mail"):resume()
---```
---
---- To be called outside blocks that only read
function members:resume() end

end

---@class perilune.enqueue_options
---@field key? string|integer identifies the job among the unfinished jobs of the queue
---@field on_key? "ignore"|"raise"|"replace" the treatment of a key in use: nothing happens, an error is raised, or the waiting job gets the new payload; `"ignore"` by default
---@field unique_for? perilune.duration how long a finished job still uses the key
---@field order_by? string|integer jobs with the same value run one after the other, in the order of their commits
---@field delay? perilune.duration
---@field at? string|number|perilune.date
---@field priority? integer greater numbers run first; 0 by default

---The argument of a handler. The fields of the payload can be read directly.
---@class perilune.job
---@field payload any
---@field id integer
---@field queue string
---@field key string?
---@field attempt integer the number of the attempt, from 1
---@field is_repeat boolean whether it was tried before
---@field enqueued_at perilune.date
---@field [string] any

do
---The handler of a queue in this process.
---@class perilune.job_handler
local members = {}

---Stops starting jobs in this process. Running jobs continue to their end.
---```lua
---local handler = perilune.jobs("mail"):handle(print)
---handler:cancel()
---print(handler)  --> job handler "mail" (cancelled)
---```
function members:cancel() end

---Waits until no job is running in this process and none is ready.
---```lua
---local jobs = perilune.jobs("mail")
---local handler = jobs:handle(function(job) print(job.payload) end)
---jobs:enqueue("hello")
---handler:wait_until_idle()  --> hello
---handler:cancel()
---```
---
---- Raises `yield` if the call is in a block
---- Waits for the jobs
---@async
function members:wait_until_idle() end

---Returns the number of jobs running in this process.
---```lua
---local handler = perilune.jobs("mail"):handle(print)
---print(handler:running_count())  --> 0
---handler:cancel()
---```
---@return integer
function members:running_count() end

end

---An error. In addition to these fields, it may have fields specific to its kind, such as `path` or `hook`.
---@class perilune.error
---@field kind perilune.error_kind|string
---@field message string the message, without a position
---@field file string? the script in which it was raised
---@field line integer?
---@field traceback string? the call stack at that point
---@field suggestion string? for an unknown name, the most similar known name
---@field name string? the unknown name; for an SQLite error, the name of its code
---@field sql string? the statement
---@field offset integer? the position in the statement, from 1
---@field code integer? SQLite's primary result code
---@field extended_code integer? SQLite's extended result code
---@field table string? the table whose constraint is violated
---@field columns string[]? the columns whose constraint is violated
---@field key any? the key that was not found
---@field deleted_key any? the key of a softly deleted row that has the values of the unique key
---@field errors { column?: string, message: string }[]? the validation errors
---@field migration string? the migration that failed
---@field retry_in number? seconds until an observation fetches again

---A value that can be bound to a statement.
---@alias perilune.argument nil|boolean|number|string|perilune.null|perilune.blob|perilune.date|perilune.date_components|perilune.case|table

---The name of a type, an enum, or a value type, for `row:get`, `db:fetch_value_as` and the option `types` of a record class.
---@alias perilune.type "any"|"integer"|"float"|"string"|"boolean"|"date"|"datetime"|"date_components"|perilune.enum|perilune.value_type

---A length of time of at most a hundred years: seconds, a text, or a table of parts. A text has numbers with units:
---`"500ms"`, `"2 hours"`, `"1.5 m"`, `"1h30m"`, `"10 sec"`, `"1d"`, `"2w"`. A number without a unit counts seconds. Options of commands,
---`perilune.toml` and the addresses of clusters take the same texts.
---@alias perilune.duration number|string|{ milliseconds?: number, seconds?: number, minutes?: number, hours?: number, days?: number, weeks?: number }

---@type perilune.database
db = nil

---@type perilune.open_blob
blob = nil

---@alias perilune.changeset_resolution "abort"|"omit"|"replace"

---A condition for `filter` and `having`: a table of columns and values, an expression, or SQL text. In a table, a list matches
---any of its values, and `perilune.null` matches NULL. Columns of dates are compared with dates and with texts of dates: columns declared
---`DATE` by days, others by instants.
---@alias perilune.condition table<string, any>|perilune.expression|string

---The names of date formats: `"YMD"` is a day, `"HM"` a time of day, `"YMD_HMS"` both.
---@alias perilune.date_format "YMD"|"YMD_HM"|"YMD_HMS"|"YMD_HMSS"|"HM"|"HMS"|"HMSS"|string

---The name of a time zone, such as `"Europe/Berlin"`, or `"local"`, the zone of the machine.
---@alias perilune.time_zone "local"|"UTC"|string

---A part of a database: a table name, some columns of a table, or everything that a request reads, except prefetched associations.
---@alias perilune.region string|{ table: string, columns?: string|string[] }|perilune.request|perilune.record_class

---The kinds of errors that the library raises. Other SQLite errors have the name of their result code in lower case, such as `full` or
---`corrupt`; `constraint_...` names the violated constraint. An unknown name raises `unknown_...`.
---@alias perilune.error_kind
---| "abort" # an earlier error has rolled back the transaction of the block
---| "argument" # an argument or an option has the wrong type, has a value that is not allowed, or contradicts the others
---| "budget" # the script has executed more instructions than it may. It appears only in reports: no script can catch it
---| "busy" # another connection holds the lock on the database
---| "cancelled" # the task, the run, or the file that started it was cancelled
---| "cannot_open" # a database or a folder of migrations cannot be opened
---| "changed_key" # the key of a record has been changed, so that its row cannot be found
---| "changeset_schema" # a table is missing, or has other columns or another key than in the changeset
---| "closed" # the database is closed
---| "cluster_moved" # the leader of the cluster has changed before a commit: nothing was committed, and the block may run again
---| "cluster_refused" # a cluster cannot do this; the message gives the reason and an alternative
---| "cluster_timeout" # a node did not answer in time: the connection was closed, and nothing was committed
---| "cluster_unknown" # the result of a commit in a cluster could not be determined in time
---| "cluster_unreachable" # no node of a cluster answers, or none leads
---| "conflict" # an applied change conflicts with the database; `table`, `conflict` and `operation` describe the conflict
---| "constraint" # a trigger of the table changes the rows that `insert_all` inserts; or SQLite does not name the violated constraint
---| "constraint_check" # a row does not meet a CHECK of its table
---| "constraint_datatype" # a column of a STRICT table cannot store the value
---| "constraint_foreign_key" # a row refers to a row that is missing, or a row still refers to it
---| "constraint_not_null" # a column that must not be NULL would be NULL
---| "constraint_primary_key" # another row has the primary key
---| "constraint_rowid" # another row has the row id
---| "constraint_trigger" # a trigger has refused the change with RAISE
---| "constraint_unique" # another row has the values of a unique key
---| "conversion" # a value cannot be stored by SQLite, or a stored one is not of the requested type
---| "date" # a date is not valid or out of range, or its text cannot be read
---| "dead_handle" # a database handle, a statement or a cursor was used after the end of its block
---| "deadlock" # tasks wait for each other, or a task waits for itself
---| "definition" # a definition contradicts itself or the existing schema, or SQLite cannot execute it
---| "disk" # the script has written more to files than it may. It appears only in reports: no script can catch it
---| "diverged" # a durable run took other steps than recorded; the message names the step and its line
---| "draft" # a draft was used instead of a record with a row
---| "duplicate" # a scenario, a factory or a fixture of this name has been defined already
---| "expectation" # a check or an expectation of a scenario does not hold
---| "expired_blob" # the row of an open blob was changed or deleted, or the schema was changed before a write
---| "forbidden" # scripts may not do this in this host
---| "history" # the history of a table is not installed, or lacks the requested data, or rows have changed since
---| "hook" # a hook of a record class has not called its function exactly once, or hooks nest too deep
---| "host" # a host function has thrown a Swift error
---| "immutable" # a column of a record class is written only when the record is inserted
---| "interrupt" # `db:interrupt` has ended the statement
---| "io" # a file cannot be read or written
---| "job_exists" # a job with this key is waiting, and the queue raises for duplicates
---| "limit" # the script has reached the limit of timers, tasks and observations
---| "limited" # a script with limits may not make the call, or not with a range of this size
---| "malformed_changeset" # a string is not a changeset
---| "malformed_database" # a string is not a database, or the database is damaged
---| "memory" # the script has used more memory than it may. It appears only in reports: no script can catch it
---| "migration" # a migration cannot be undone: the database has not seen it, or it has no `down`
---| "module_not_found" # `require` finds no module of this name
---| "nested_access" # the database is in use by a block, or by SQLite calling the script, and cannot be used in another way at the same time
---| "nested_owner" # a row that should belong to a record belongs to another one
---| "not_closable" # the default database belongs to the host, which closes it
---| "not_fetched" # an association or a lazy field was used before it was fetched
---| "no_foreign_key" # no foreign key connects the tables of an association
---| "not_found" # no row has the row id of the blob to open
---| "not_idle" # a service of a scenario would need more time than allowed until nothing is left to do
---| "not_joined" # a request uses a column of a table that it does not read
---| "null" # a value in a list would be NULL
---| "observation_loop" # observers trigger each other endlessly by their writes
---| "open_transaction" # SQL has left a transaction open, which has been rolled back
---| "output" # the script has printed more than it may
---| "preview" # a preview does not do this, because it could not be undone
---| "range" # a position, or bytes to write, are outside of an open blob
---| "readonly" # the database, the transaction, or the value may only be read
---| "readonly_member" # the member of a value of the host may only be read
---| "record_not_found" # no row has the key
---| "recording_too_large" # recorded changes take too much memory
---| "runtime" # a plain Lua error. It appears only in reports: `pcall` returns the text
---| "sandbox" # the script may not use files
---| "scenario_skip" # `t.skip` ends its scenario; the runner reports it as skipped
---| "schema" # the schema has changed while a statement was running
---| "script" # a script that `t.run` has run has failed
---| "sql" # SQLite refuses the statement, or executing it has failed
---| "stale" # another writer has changed the row since the record was read
---| "syntax" # a text is not valid Lua. It appears only in reports: `load` returns the message, and `pcall` the text
---| "timeout" # the script or the scenario has run longer than it may. It appears only in reports: no script can catch it
---| "transaction_control" # BEGIN, COMMIT, ROLLBACK or SAVEPOINT was used although the library runs the transaction
---| "unknown_action" # the foreign key action does not exist
---| "unknown_association" # no association has this name
---| "unknown_automation" # no automation has this name
---| "unknown_checkpoint" # no kind of checkpoint has this name
---| "unknown_collation" # no collation has this name
---| "unknown_column" # no column has this name
---| "unknown_conflict_policy" # the conflict policy does not exist
---| "unknown_constraint" # the table has no constraint of this name
---| "unknown_detail" # a full-text table has no such detail
---| "unknown_event" # a trigger cannot run on an event of this name
---| "unknown_exclusion" # the frame of a window can exclude nothing of this name
---| "unknown_field" # a migrator has no field of this name that can be set
---| "unknown_function" # a module has no function of this name, registered, with a stub or called
---| "unknown_hook" # a record class has no hook of this name
---| "unknown_index" # the index does not exist
---| "unknown_kind" # the kind of full-text pattern or generated column does not exist
---| "unknown_member" # a value has no member of this name
---| "unknown_method" # no method has this name
---| "unknown_migration" # no migration of this name is registered, or none has been applied
---| "unknown_mode" # the mode of an automation does not exist
---| "unknown_operation" # an observer or a statement has no operation of this name
---| "unknown_option" # no option has this name
---| "unknown_override" # `perilune.with` can override nothing of this name
---| "unknown_parameter" # the request has no parameter of this name
---| "unknown_part" # a value of several fields has no part of this name
---| "unknown_property" # a column has no property of this name that can be removed
---| "unknown_resolution" # a conflict cannot be resolved in this way
---| "unknown_signal" # the host does not deliver this signal
---| "unknown_state" # jobs or runs have no such state
---| "unknown_table" # no table has this name
---| "unknown_time_zone" # the system has no time zone of this name
---| "unknown_tokenizer" # no tokenizer has this name
---| "unknown_trigger" # no trigger has this name
---| "unknown_type" # a column has a type that SQLite would understand in another way
---| "unknown_unit" # a duration has no such part
---| "unknown_view" # no view has this name
---| "unrecordable" # changes of a table cannot be recorded
---| "usage" # a function was called in a place or at a time that is not allowed
---| "validation" # a record is not valid; `errors` has the reasons
---| "yield" # a function that waits was called in a place that cannot wait
