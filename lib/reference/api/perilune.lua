---@meta _
---@page The table perilune
---Values, types, JSON, logging, and other functions of the global `perilune`.
---
---`perilune` is a global of every script, and the result of `require "perilune"`. Other pages describe the functions that open databases,
---make record classes and start tasks; this page describes everything else.

---NULL in places that cannot hold `nil`: a table field, a list element, or an assigned value.
---
---A column that is NULL is read as `nil`, so `record.due == perilune.null` is always false: use `record.due == nil`. Only decoded JSON
---contains `perilune.null`: `perilune.json.decode(text).due == perilune.null`.
---@class perilune.null: userdata

---Bytes that SQLite stores as a BLOB, made by `perilune.blob`. `tostring(blob)` returns them as a string, and `#blob` their number.
---
---Fetched BLOBs are strings, with one exception: a record field whose column is not declared for bytes, as in
---`CREATE TABLE note (content)`. There a text is a string and a BLOB is a `perilune.blob`, so that writing the record back keeps the BLOB.
---@class perilune.blob: userdata

---A value that can be bound to a statement.
---@alias perilune.argument nil|boolean|number|string|perilune.null|perilune.blob|perilune.date|perilune.date_components|perilune.case|table

---The name of a type, an enum, or a value type, for `row:get`, `db:fetch_value_as` and the option `types` of a record class.
---@alias perilune.type "any"|"integer"|"float"|"string"|"boolean"|"date"|"datetime"|"date_components"|perilune.enum|perilune.value_type

---A length of time of at most a hundred years: seconds, a text, or a table of parts. A text has numbers with units:
---`"500ms"`, `"2 hours"`, `"1.5 m"`, `"1h30m"`, `"10 sec"`, `"1d"`, `"2w"`. A number without a unit counts seconds. Options of commands,
---`perilune.toml` and the addresses of clusters take the same texts.
---@alias perilune.duration number|string|{ milliseconds?: number, seconds?: number, minutes?: number, hours?: number, days?: number, weeks?: number }

---@class perilune
---@access any
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
---@param bytes string
---@return perilune.blob
---@raises argument: `bytes` is not a string
function perilune.blob(bytes) end

---Makes a blob from a list of numbers, as 32-bit floats, the format of SQLite extensions for vector search.
---```lua
---print(#perilune.vector{ 0.5, 1.5, 2 })  --> 12
---```
---@param list number[]|perilune.blob a blob of 32-bit floats is returned unchanged
---@return perilune.blob
---@raises argument: the list is empty, or an element is not a number that a 32-bit float holds
---@module runtime.vectors
function perilune.vector(list) end

---Returns the numbers in a blob of 32-bit floats, or in a fetched blob, which is a string.
---```lua
---print(perilune.vector_numbers(perilune.vector{ 0.5, 1.5 })[2])  --> 1.5
---```
---@param blob perilune.blob|string
---@return number[]
---@raises argument: the argument is not a blob of 32-bit floats
---@module runtime.vectors
function perilune.vector_numbers(blob) end

---Returns how SQLite would store a value: `"null"`, `"integer"`, `"real"`, `"text"` or `"blob"`.
---```lua
---print(
---  perilune.storage_class(1.0),
---  perilune.storage_class(perilune.date("2026-03-01"))
---)
-----> real	text
---```
---@param value perilune.argument
---@return "null"|"integer"|"real"|"text"|"blob"
---@raises argument: SQLite cannot store the value
---@module runtime.types
function perilune.storage_class(value) end

---Returns a random UUID as text. In tests the sequence is repeatable.
---```lua
---print(#perilune.uuid())  --> 36
---```
---@return string
---@raises none
function perilune.uuid() end

---Returns a random number, as `math.random` does: a float from 0 to 1, an integer from 1 to `m`, or from `m` to `n`.
---In tests the sequence is repeatable.
---```lua
---local number = perilune.random(5, 6)
---print(number == 5 or number == 6)  --> true
---```
---@param m? integer
---@param n? integer
---@return number
---@raises argument: the range from `m` to `n` is empty
function perilune.random(m, n) end

---Returns the current date and time. In tests the clock is frozen unless the test moves it.
---```lua
---print(perilune.now():seconds_since("2000-01-01") >= 0)  --> true
---```
---@return perilune.date
---@raises none
function perilune.now() end

---Calls a function with another default database: for `db`, and for records and requests that name no database.
---```lua
---local other = perilune.queue(":memory:")
---perilune.with({ database = other }, function(db)
---  db:execute("CREATE TABLE note (text)")
---end)
---print(#other:tables())  --> 1
---```
---@param overrides { database: perilune.database }
---@param body fun(db: perilune.database, ...: any): ...
---@param ... any further arguments for `body`
---@return any ... the results of `body`
---@raises argument: an argument has the wrong type; unknown_override: an override does not exist; yield: `body` waits
---@module runtime.scoped_dependencies
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
---@param cases table<string, integer|string>|string[] the stored values by name, or a list of strings that are both name and value
---@return perilune.enum
---@raises argument: no case is given, or two cases have the same value
---@module runtime.enum
function perilune.enum(cases) end

---A type made by `perilune.enum`. Each case is a field.
---@class perilune.enum
---@access any
---@field name string
---@field [string] perilune.case|string
local enum = {}

---Returns all cases: the cases of a list in its order, and other cases sorted by their stored values.
---```lua
---local Grape = perilune.enum{ "chardonnay", "merlot" }
---for _, case in ipairs(Grape:cases()) do print(case) end
-----> chardonnay
-----> merlot
---```
---@return perilune.case[]|string[]
---@raises none
function enum:cases() end

---Returns the case with a stored value.
---```lua
---print(perilune.enum{ red = 0, white = 1 }:from(1))  --> white
---```
---@param raw integer|string
---@return perilune.case|string
---@raises conversion: no case has the value
function enum:from(raw) end

---Converts a stored value. The library calls it wherever a type is expected.
---```lua
---local Color = perilune.enum{ red = 0 }
---print(Color:from_database(0), (Color:from_database(7)))  --> red	nil
---```
---@param raw integer|string
---@return perilune.case|string|nil case
---@return string? message an error message, if no case has the value
---@raises none
function enum:from_database(raw) end

---Returns the stored value of a case.
---```lua
---local Color = perilune.enum{ red = 0 }
---print(Color:to_database(Color.red))  --> 0
---```
---@param case perilune.case|string
---@return integer|string
---@raises none
function enum:to_database(case) end

---A case of an enumeration that was not made from a list. `tostring` returns its name.
---@class perilune.case
---@field name string
---@field raw integer|string the stored value

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
---@param definition { name?: string, to_database: (fun(value: any): perilune.argument), from_database: (fun(stored: any): any) } `from_database` returns nil for a value that does not fit
---@return perilune.value_type
---@raises argument: a function is missing
---@module runtime.types
function perilune.value_type(definition) end

---A type made by `perilune.value_type`.
---@class perilune.value_type
---@overload fun(value: any): perilune.argument
---@field name string

---Makes a type whose values a function builds from rows. It is fetched like a record class, and needs no table.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title:upper() end,
---}
---print(Title:fetch_one("SELECT title FROM book ORDER BY id"))  --> TYPEE
---```
---@param definition { from_row: (fun(row: perilune.row|perilune.record): any), did_fetch?: fun(value: any, row: perilune.row|perilune.record) }
---@return perilune.row_type
---@raises argument: `from_row` is missing
---@module runtime.row_type
function perilune.row_type(definition) end

---A type made by `perilune.row_type`. It is fetched from SQL, from a prepared statement, or from a request, which passes its records (or
---rows, if it selects columns) to `from_row`. The first argument may be a database.
---@class perilune.row_type
---@access any
local row_type = {}

---Returns the values of all rows.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title end,
---}
---print(#Title:fetch_all("SELECT title FROM book"))  --> 3
---print(Title:fetch_all(Book:order("id"))[1])  --> Typee
---```
---@param sql string|perilune.request
---@param ... perilune.argument arguments of SQL
---@return any[]
---@raises conversion: `from_row` returns nothing; sql: SQLite refuses the statement
function row_type:fetch_all(sql, ...) end

---Returns the value of the first row, or nil.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title end,
---}
---print(Title:fetch_one("SELECT title FROM book WHERE id = ?", 2))
-----> Moby-Dick
---```
---@param sql string|perilune.request
---@param ... perilune.argument
---@return any?
---@raises conversion: `from_row` returns nothing; sql: SQLite refuses the statement
function row_type:fetch_one(sql, ...) end

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
---@param sql string|perilune.request
---@param ... perilune.argument
---@return fun(): any
---@raises conversion: `from_row` returns nothing; sql: SQLite refuses the statement
function row_type:rows(sql, ...) end

---Makes a value from a table of columns, or from a row.
---```lua
---local Title = perilune.row_type{
---  from_row = function(row) return row.title end,
---}
---print(Title:from{ title = "Omoo" })  --> Omoo
---```
---@param values table<string, any>
---@return any
---@raises argument: `values` is not a table; conversion: `from_row` returns nothing
function row_type:from(values) end

---Conversion between tables and JSON text. Integers remain integers, and floats remain floats. The members of an object are sorted by name,
---so that equal values have equal texts.
---@class perilune.json
---@access any
local json = {}

---Returns the JSON text of a value. A table is an array if it is a list with at least one element, or is marked by
---`perilune.json.array`. Columns of rows and records that are NULL are omitted, because they are nil.
---```lua
---print(perilune.json.encode{ b = { 1, 2.5 }, a = perilune.null })
-----> {"a":null,"b":[1,2.5]}
---```
---@param value any
---@return string
---@raises conversion: the value contains a function, itself, or a number that JSON does not have
---@module runtime.json
function perilune.json.encode(value) end

---Returns the value of a JSON text, in which `null` becomes `perilune.null`.
---```lua
---print(perilune.json.decode('{"list": [1, 2]}').list[2])  --> 2
---```
---@param text string
---@return any
---@raises conversion: the text is not JSON
---@module runtime.json
function perilune.json.decode(text) end

---Marks a table as an array, so that it is `[]` even if empty.
---```lua
---print(perilune.json.encode(perilune.json.array()))  --> []
---```
---@param list? any[] the table, which is returned; by default a new one
---@return any[]
---@raises none
---@module runtime.json
function perilune.json.array(list) end

---Marks a table as an object. An empty table without a mark is also an object.
---```lua
---print(perilune.json.encode(perilune.json.object{ name = "tea" }))
-----> {"name":"tea"}
---```
---@param members? table<string, any> the table, which is returned; by default a new one
---@return table<string, any>
---@raises none
---@module runtime.json
function perilune.json.object(members) end

---The host's log. Entries have the script's file and line. Levels below the logger's level cost next to nothing.
---@class perilune.log
---@access any

---Logs details of how something works.
---```lua
---perilune.log.trace("stock was counted", { count = 3 })
---```
---@param message string
---@param fields? table<string, any> metadata of the log entry
---@raises argument: `fields` is not a table
function perilune.log.trace(message, fields) end

---Logs information for debugging.
---```lua
---perilune.log.debug("stock was counted", { count = 3 })
---```
---@param message string
---@param fields? table<string, any> metadata of the log entry
---@raises argument: `fields` is not a table
function perilune.log.debug(message, fields) end

---Logs a normal event.
---```lua
---perilune.log.info("stock was counted", { count = 3 })
---```
---@param message string
---@param fields? table<string, any> metadata of the log entry
---@raises argument: `fields` is not a table
function perilune.log.info(message, fields) end

---Logs an event that deserves attention.
---```lua
---perilune.log.notice("stock was counted", { count = 3 })
---```
---@param message string
---@param fields? table<string, any> metadata of the log entry
---@raises argument: `fields` is not a table
function perilune.log.notice(message, fields) end

---Logs a condition that may become an error.
---```lua
---perilune.log.warning("stock was counted", { count = 3 })
---```
---@param message string
---@param fields? table<string, any> metadata of the log entry
---@raises argument: `fields` is not a table
function perilune.log.warning(message, fields) end

---Logs a failure.
---```lua
---perilune.log.error("stock was counted", { count = 3 })
---```
---@param message string
---@param fields? table<string, any> metadata of the log entry
---@raises argument: `fields` is not a table
function perilune.log.error(message, fields) end

---Logs a failure that makes the program unusable.
---```lua
---perilune.log.critical("stock was counted", { count = 3 })
---```
---@param message string
---@param fields? table<string, any> metadata of the log entry
---@raises argument: `fields` is not a table
function perilune.log.critical(message, fields) end

