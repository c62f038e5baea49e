---@meta _
---@page Rows and statements
---Rows as tables, prepared statements, and the results of writes.
---
---A row is a plain table: `row.title` and `row[1]` are values of columns, and NULL is nil. Column names are not case-sensitive. A name that
---is not a column raises `unknown_column`; `row:has(name)` asks. A column hides the method of the same name; call the method as
---`perilune.row.get(row, "get")`. If several columns have the same name, `row.name` reads the first one. Read the others by
---position, as in `row[2]`.
---
---`pairs(row)` visits all columns, with nil for NULL; `ipairs(row)` ends at the first NULL.

---A row of a query.
---@class perilune.row
---@field [string] any the value of a column
---@field [integer] any the value of a column by its position, from 1

---The methods of rows, which are also in the table `perilune.row`.
---@class perilune.row_methods
---@access any
local row = {}

---Makes a row as a query would return it.
---```lua
---local row = perilune.row.new(
---  { name = "tea", stock = 9 },
---  { "name", "stock" }
---)
---print(row[2], row.name)  --> 9	tea
---```
---@param values table<string, any> by column; `perilune.null` for NULL
---@param names? string[] the columns in order; by default sorted by name
---@return perilune.row
---@raises argument: an argument has the wrong type; conversion: SQLite cannot store a value
---@module runtime.row
function perilune.row.new(values, names) end

---Returns whether the row has a column, regardless of its value.
---```lua
---local row = db:fetch_one("SELECT id, country FROM author WHERE id = 3")
---print(row:has("country"), row:has("city"))  --> true	false
---```
---@param name string
---@return boolean
---@raises none
---@module runtime.row
function row:has(name) end

---Returns the value of a column, converted to a type if one is given. NULL is nil. The column must exist.
---```lua
---print(db:fetch_one("SELECT born FROM author"):get("born", "date").year)
-----> 1819
---```
---@param name string|integer a name or a position
---@param type? perilune.type
---@return any
---@raises unknown_column: the column does not exist; conversion: the value is not of that type
---@module runtime.row
function row:get(name, type) end

---Returns the value of a column like `get`, but raises an error for NULL.
---```lua
---print(db:fetch_one("SELECT title FROM book"):require("title"))  --> Typee
---```
---@param name string|integer
---@param type? perilune.type
---@return any
---@raises unknown_column: the column does not exist; conversion: the value is NULL, or not of that type
---@module runtime.row
function row:require(name, type) end

---Returns the value of a column as an integer. NULL is nil.
---```lua
---print(db:fetch_one("SELECT pages FROM book WHERE id = 1"):integer("pages"))
-----> 326
---```
---@param name string|integer
---@return integer?
---@raises unknown_column: the column does not exist; conversion: the value is not an integer
---@module runtime.row
function row:integer(name) end

---Returns the value of a column as a float. NULL is nil.
---```lua
---print(db:fetch_one("SELECT 1.5 AS n"):float("n"))  --> 1.5
---```
---@param name string|integer
---@return number?
---@raises unknown_column: the column does not exist; conversion: the value is not a float
---@module runtime.row
function row:float(name) end

---Returns the value of a column as a string. NULL is nil.
---```lua
---print(db:fetch_one("SELECT title FROM book"):string("title"))  --> Typee
---```
---@param name string|integer
---@return string?
---@raises unknown_column: the column does not exist; conversion: the value is not a string
---@module runtime.row
function row:string(name) end

---Returns the value of a column as a boolean. NULL is nil.
---```lua
---print(db:fetch_one("SELECT is_read FROM book"):boolean("is_read"))  --> true
---```
---@param name string|integer
---@return boolean?
---@raises unknown_column: the column does not exist; conversion: the value is not a boolean
---@module runtime.row
function row:boolean(name) end

---Returns the value of a column as a date. NULL is nil.
---```lua
---print(db:fetch_one("SELECT born FROM author"):date("born").month)  --> 8
---```
---@param name string|integer
---@return perilune.date?
---@raises unknown_column: the column does not exist; conversion: the value is not a date
---@module runtime.row
function row:date(name) end

---Returns the value of a column as parts of a date. NULL is nil.
---```lua
---print(db:fetch_one("SELECT '12:30' AS opens"):date_components("opens").hour)
-----> 12
---```
---@param name string|integer
---@return perilune.date_components?
---@raises unknown_column: the column does not exist; conversion: the value is neither a date nor a time
---@module runtime.row
function row:date_components(name) end

---Returns the stored value of a column. The result distinguishes a BLOB from a TEXT, which are both strings in Lua.
---```lua
---print(db:fetch_one("SELECT x'00' AS data"):storage_class("data"))  --> blob
---```
---@param name string|integer
---@return "null"|"integer"|"real"|"text"|"blob"
---@raises unknown_column: the column does not exist
---@module runtime.row
function row:storage_class(name) end

---Returns the names of the columns in order.
---```lua
---print(
---  table.concat(db:fetch_one("SELECT id, name FROM tag"):columns(), ", ")
---)
-----> id, name
---```
---@return string[]
---@raises none
---@module runtime.row
function row:columns() end

---Returns the values in the order of the columns, and their number, because NULL is nil.
---```lua
---local values, count =
---  db:fetch_one("SELECT id, country FROM author WHERE id = 3"):values()
---print(values[1], values[2], count)  --> 3	nil	2
---```
---@return any[]
---@return integer count
---@raises none
---@module runtime.row
function row:values() end

---Returns all values as separate results.
---```lua
---print(db:fetch_one("SELECT id, name FROM tag ORDER BY id"):unpack())
-----> 1	sea
---```
---@return any ...
---@raises none
---@module runtime.row
function row:unpack() end

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
---@raises none
---@module runtime.row
function row:pairs() end

---Returns a plain table of the columns, in which NULL is `perilune.null`.
---```lua
---print(
---  db:fetch_one("SELECT country FROM author WHERE id = 3")
---    :to_table().country == perilune.null
---)
-----> true
---```
---@return table<string, any>
---@raises none
---@module runtime.row
function row:to_table() end

---Returns a copy of the row.
---```lua
---local row = db:fetch_one("SELECT id, name FROM tag ORDER BY id")
---local copy = row:copy()
---copy.name = "lake"
---print(row.name, copy.name)  --> sea	lake
---```
---@return perilune.row
---@raises none
---@module runtime.row
function row:copy() end

---The result of `db:execute`.
---@class perilune.execute_result
---@field changed_rows integer the number of rows that the last statement changed, without changes by triggers
---@field inserted_rowid integer the row id of the last row inserted on the connection

---A compiled statement. Its methods take the arguments for its placeholders. It closes at the end of its block or at the
---end of the scope of its `<close>` variable.
---@class perilune.statement
---@access any
---@raises closed: the statement or its database is closed; dead_handle: the block in which it was compiled has ended; sql: SQLite refuses the statement; argument: the arguments do not fit the placeholders
local statement = {}

---Runs the statement.
---```lua
---local update = db:prepare("UPDATE book SET pages = :pages WHERE id = :id")
---print(update:execute{ id = 3, pages = 200 }.changed_rows)  --> 1
---```
---@param ... perilune.argument
---@return perilune.execute_result
function statement:execute(...) end

---Returns all rows as a list.
---```lua
---print(#db:prepare("SELECT * FROM book WHERE author_id = ?"):fetch_all(1))
-----> 2
---```
---@param ... perilune.argument
---@return perilune.row[]
function statement:fetch_all(...) end

---Returns the first row, or nil.
---```lua
---print(db:prepare("SELECT * FROM book WHERE id = ?"):fetch_one(1).title)
-----> Typee
---```
---@param ... perilune.argument
---@return perilune.row?
function statement:fetch_one(...) end

---Returns the first column of the first row, or nil.
---```lua
---print(db:prepare("SELECT title FROM book WHERE id = ?"):fetch_value(2))
-----> Moby-Dick
---```
---@param ... perilune.argument
---@return any
function statement:fetch_value(...) end

---Returns the first column of all rows as a list. NULL raises an error of kind `null`.
---```lua
---print(#db:prepare("SELECT title FROM book"):fetch_values())  --> 3
---```
---@param ... perilune.argument
---@return any[]
function statement:fetch_values(...) end

---Returns the first column of all rows as a list in which NULL is `perilune.null`.
---```lua
---print(#db:prepare("SELECT country FROM author"):fetch_optional_values())
-----> 3
---```
---@param ... perilune.argument
---@return any[]
function statement:fetch_optional_values(...) end

---Returns the first column of all rows as the keys of a table. NULL raises an error of kind `null`.
---```lua
---print(db:prepare("SELECT name FROM tag"):fetch_set().travel)  --> true
---```
---@param ... perilune.argument
---@return table<any, true>
function statement:fetch_set(...) end

---Iterates over the rows.
---```lua
---for row in db:prepare("SELECT name FROM tag ORDER BY id"):rows() do
---  print(row.name)
---end
-----> sea
-----> travel
---```
---@param ... perilune.argument
---@return fun(): perilune.row?
function statement:rows(...) end

---Iterates over the rows as separate values.
---```lua
---local statement = db:prepare("SELECT id, name FROM tag ORDER BY id")
---for id, name in statement:tuples() do
---  print(id, name)
---end
-----> 1	sea
-----> 2	travel
---```
---@param ... perilune.argument
---@return fun(): ...
function statement:tuples(...) end

---Returns the names of the columns.
---```lua
---print(db:prepare("SELECT id, name FROM tag"):columns()[2])  --> name
---```
---@return string[]
function statement:columns() end

---Returns the names of the parameters in order, `false` for those without a name.
---```lua
---print(db:prepare("SELECT :low, ?"):parameters()[2])  --> false
---```
---@return (string|false)[]
function statement:parameters() end

---Returns whether the statement does not write.
---```lua
---print(
---  db:prepare("SELECT 1"):is_readonly(),
---  db:prepare("DELETE FROM tag"):is_readonly()
---)
-----> true	false
---```
---@return boolean
function statement:is_readonly() end

---Returns the SQL text.
---```lua
---print(db:prepare("SELECT 1"):sql())  --> SELECT 1
---```
---@return string
function statement:sql() end

---Releases the statement.
---```lua
---local statement <close> = db:prepare("SELECT 1")
---statement:close()
---```
function statement:close() end

---The to-be-closed value of the iterators of `rows` and `tuples`. A loop closes it automatically; it matters only if the script calls the
---iterator directly.
---@class perilune.cursor
---@access any
local cursor = {}

---Ends the iteration and releases the statement.
---```lua
---local next_row, _, _, cursor = db:rows("SELECT * FROM book")
---next_row()
---cursor:close()
---print(next_row())  -->
---```
---@raises none
function cursor:close() end
