---@meta _
---@page Requests
---Queries as values: built step by step, stored, printed, and compiled to SQL once for all arguments.
---
---A request is immutable; each method that derives one returns a new request. A record class is itself a request for all its records, and
---has all of these methods. Names are checked against the schema at the line that builds the request. Methods that fetch take an optional
---database; without one they use the innermost open block, or the default database.

---A condition for `filter` and `having`: a table of columns and values, an expression, or SQL text. In a table, a list matches
---any of its values, and `perilune.null` matches NULL. Columns of dates are compared with dates and with texts of dates: columns declared
---`DATE` by days, others by instants. SQL text compares texts, so it refuses a date for a column declared `DATE`.
---@alias perilune.condition table<string, any>|perilune.expression|string

---@class perilune.request
---@operator bor(perilune.request): perilune.request
---@access any
---@raises argument: an argument has the wrong type; unknown_column: the column does not exist; unknown_table: the table does not exist
local request = {}

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
---@param condition perilune.condition
---@param ... perilune.condition|perilune.argument more conditions; after SQL text, its arguments
---@return perilune.request
function request:filter(condition, ...) end

---Returns the request limited to the row with this key, or to the rows with the keys of a list.
---```lua
---print(Book:filter_key(2):fetch_one().title)  --> Moby-Dick
---print(Book:filter_key{ 1, 3 }:fetch_count())  --> 2
---```
---@param key any a value, or for a key of several columns a table; or a list of keys
---@return perilune.request
function request:filter_key(key) end

---Returns a request without rows.
---```lua
---print(Book:none():fetch_count())  --> 0
---```
---@return perilune.request
function request:none() end

---Returns the request itself. On a class, it returns the request for all its records.
---```lua
---print(Book:all():fetch_count())  --> 3
---```
---@return perilune.request
function request:all() end

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
---@param pattern string
---@return perilune.request
function request:matching(pattern) end

---Returns the rows of a virtual table whose vectors are nearest to a given vector, the nearest first, with the field `distance`. An SQLite
---extension such as sqlite-vec, which the host loads, runs the search. The extension decides whether other conditions limit the search or
---its results.
---```lua
---local is_found, err = pcall(Book.nearest, Book, "title", { 0.5, 1.5 }, 10)
---print(err.kind)  --> unknown_column
---```
---@param column string|perilune.expression
---@param vector number[]|perilune.blob
---@param count integer the maximum number of rows, from 1 to 4096
---@return self
---@raises argument: the vector is not a list of numbers, or the number is not valid; unknown_column: the column does not exist, or the table is not one of vectors
function request:nearest(column, vector, count) end

---Returns the request in an order, which replaces any previous order. `then_order` adds to the order.
---```lua
---print(Book:order(Book.c.year:desc()):pluck("year")[1])  --> 1872
---```
---@param ... string|perilune.expression
---@return perilune.request
function request:order(...) end

---Returns the request with a further order, for rows that are equal in the first one.
---```lua
---print(
---  Book:order("author_id"):then_order(Book.c.title:desc()):pluck("title")[1]
---)
-----> Typee
---```
---@param ... string|perilune.expression
---@return perilune.request
function request:then_order(...) end

---Returns the request in the opposite order. A request without an order is sorted by descending key.
---```lua
---print(Book:order("year"):reversed():fetch_one().title)  --> Around the World
---```
---@return perilune.request
function request:reversed() end

---Returns the request without an order.
---```lua
---print((Book:order("year"):unordered():sql():find("ORDER BY")))  --> nil
---```
---@return perilune.request
function request:unordered() end

---Returns the request with a limit.
---```lua
---print(
---  #Book:order("id"):limit(2):fetch_all(),
---  Book:order("id"):limit(1, 2):fetch_one().title
---)
-----> 2	Around the World
---```
---@param count integer from 0
---@param offset? integer the number of rows to skip
---@return perilune.request
function request:limit(count, offset) end

---Returns the request without its first rows.
---```lua
---print(Book:order("id"):limit(5):offset(2):fetch_one().title)
-----> Around the World
---```
---@param count integer from 0
---@return perilune.request
function request:offset(count) end

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
---@param ... string|perilune.expression
---@return perilune.request
function request:select(...) end

---Returns the request without duplicate rows.
---```lua
---print(#Book:select("author_id"):distinct():fetch_values())  --> 2
---```
---@return perilune.request
function request:distinct() end

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
---@param ... string|perilune.expression
---@return perilune.request
function request:group(...) end

---Returns the request with a condition on groups, or on aggregates of associations.
---```lua
---print(Author:having(Author.books:count():ge(2)):fetch_one().name)
-----> Herman Melville
---```
---@param condition perilune.condition
---@param ... perilune.condition|perilune.argument more conditions; after SQL text, its arguments
---@return perilune.request
function request:having(condition, ...) end

---Returns the request with more columns, in addition to the table's. Its results are still records.
---```lua
---print(
---  Author:annotated_with(Author.books:count())
---    :order("id")
---    :fetch_one().book_count
---)
-----> 2
---```
---@param ... perilune.expression|string
---@return perilune.request
function request:annotated_with(...) end

---Returns the request with an alias for its table; `aliased(...).c` refers to this occurrence of the table only.
---```lua
---local b = Book:aliased("b")
---print(b:filter(b.c.year:gt(1870)):fetch_count())  --> 1
---```
---@param name string
---@return perilune.request
function request:aliased(name) end

---Returns a request for the rows of both requests, without duplicates.
---
---For requests of one class that differ only in their conditions and orders, `request | other` selects the rows of either with a single
---condition. It raises an error for others, such as those with a limit, joins or groups.
---```lua
---local old, recent = Book:filter("year < 1850"), Book:filter("year > 1870")
---print((old | recent):fetch_count())
-----> 2
---print(
---  Book:filter{ author_id = 1 }
---    :union(Book:filter("year > 1850"))
---    :fetch_count()
---)
-----> 3
---```
---@param other perilune.request
---@return perilune.request
function request:union(other) end

---Returns a request for the rows of both requests, with duplicates.
---```lua
---print(Book:filter{ author_id = 1 }
---  :union_all(Book:filter("year > 1850"))
---  :fetch_count())
-----> 4
---```
---@param other perilune.request
---@return perilune.request
function request:union_all(other) end

---Returns a request for the rows that are in both requests.
---```lua
---print(Book:filter{ author_id = 1 }
---  :intersect(Book:filter("year > 1850"))
---  :fetch_count())
-----> 1
---```
---@param other perilune.request
---@return perilune.request
function request:intersect(other) end

---Returns a request for the rows that are not in the other request.
---```lua
---print(Book:filter{ author_id = 1 }
---  :except(Book:filter("year > 1850"))
---  :fetch_count())
-----> 1
---```
---@param other perilune.request
---@return perilune.request
function request:except(other) end

---Returns the request with lists of the associated records, fetched by one more statement for each association.
---```lua
---print(#Author:including_all(Author.books:order("year")):find(1).books)
-----> 2
---```
---@param ... perilune.association an integer after an association of a table to itself sets the number of levels
---@return perilune.request
function request:including_all(...) end

---Returns the request with the associated record of each record, or nil if none exists.
---```lua
---print(Book:including_optional(Book.author):find(3).author.name)
-----> Jules Verne
---```
---@param ... perilune.association
---@return perilune.request
function request:including_optional(...) end

---Returns the request with the associated record of each record, and leaves out records without one.
---```lua
---print(
---  Book:including_required(Book.author:filter{ country = "France" })
---    :fetch_one().author.name
---)
-----> Jules Verne
---```
---@param ... perilune.association
---@return perilune.request
function request:including_required(...) end

---Returns the request with associated rows joined, for use in conditions.
---```lua
---print(
---  Author:joining_optional(Author.books)
---    :filter(Author.books.c.id:is_null())
---    :fetch_one().name
---)
-----> Ada Lovelace
---```
---@param ... perilune.association
---@return perilune.request
function request:joining_optional(...) end

---Returns the request with associated rows joined, and leaves out records without any.
---```lua
---print(
---  Author:joining_required(Author.books)
---    :filter(Author.books.c.year:gt(1870))
---    :fetch_one().name
---)
-----> Jules Verne
---```
---@param ... perilune.association
---@return perilune.request
function request:joining_required(...) end

---Returns the request with the selected columns of associated rows as fields. `annotated_with` adds expressions, such as
---`Author.books:count():as("books")`.
---```lua
---print(
---  Book:annotated_with_optional(Book.author:select("country"))
---    :find(3).country
---)
-----> France
---```
---@param ... perilune.association
---@return perilune.request
function request:annotated_with_optional(...) end

---Returns the request with the selected columns of associated rows as fields, and leaves out records without any.
---```lua
---print(Book:annotated_with_required(Book.author:select("name")):find(3).name)
-----> Jules Verne
---```
---@param ... perilune.association
---@return perilune.request
function request:annotated_with_required(...) end

-- Fetching

---Returns all records; rows if columns are selected.
---```lua
---for _, book in ipairs(Book:order("year"):fetch_all()) do
---  print(book.title)
---end
-----> Typee
-----> Moby-Dick
-----> Around the World
---```
---@param db? perilune.database
---@return perilune.record[]
function request:fetch_all(db) end

---Returns the first record, or nil.
---```lua
---print(Book:order("year"):fetch_one().title)  --> Typee
---```
---@param db? perilune.database
---@return perilune.record?
function request:fetch_one(db) end

---Returns the first record, or the one with a key. It raises an error if the record does not exist, for which `fetch_one` returns nil.
---```lua
---print(Book:filter{ author_id = 1 }:find(2).title)  --> Moby-Dick
---```
---@param db? perilune.database
---@param key? any
---@return perilune.record
---@raises record_not_found: the record does not exist
function request:find(db, key) end

---Iterates over the records without holding all of them in memory, as `db:rows` does. Records that are joined (`including_optional`,
---`including_required`) are in their fields; lists (`including_all`) are refused.
---```lua
---for book in Book:filter("year > 1870"):rows() do print(book.title) end
-----> Around the World
---```
---@param db? perilune.database
---@return fun(): perilune.record?
---@raises argument: the request includes lists
function request:rows(db) end

---Iterates over rows as separate values.
---```lua
---local first_two = Book:select("id", "title"):filter("id < 3"):order("id")
---for id, title in first_two:tuples() do
---  print(id, title)
---end
-----> 1	Typee
-----> 2	Moby-Dick
---```
---@param db? perilune.database
---@return fun(): ...
function request:tuples(db) end

---Returns the first value of the selected column, or nil.
---```lua
---print(Book:select("title"):order("year"):fetch_value())  --> Typee
---```
---@param db? perilune.database
---@return any
---@raises argument: the request selects no column or several columns
function request:fetch_value(db) end

---Returns the values of the selected column as a list.
---```lua
---print(#Book:select("title"):fetch_values())  --> 3
---```
---@param db? perilune.database
---@return any[]
---@raises null: a value is NULL
function request:fetch_values(db) end

---Returns the values of the selected column as a list in which NULL is `perilune.null`.
---```lua
---print(#Book:select("pages"):fetch_optional_values())  --> 3
---```
---@param db? perilune.database
---@return any[]
function request:fetch_optional_values(db) end

---Returns the values of the selected column as the keys of a table.
---```lua
---print(Tag:select("name"):fetch_set().sea)  --> true
---```
---@param db? perilune.database
---@return table<any, true>
---@raises null: a value is NULL
function request:fetch_set(db) end

---Returns the values of a column as a list, or of several columns as a list of lists, with the types of the class. NULL is
---`perilune.null`.
---```lua
---print(Book:order("id"):pluck("id", "title")[2][2])  --> Moby-Dick
---```
---@param db? perilune.database
---@param ... string|perilune.expression
---@return any[]
function request:pluck(db, ...) end

---Returns the number of rows.
---```lua
---print(Book:filter{ is_read = false }:fetch_count())  --> 2
---```
---@param db? perilune.database
---@return integer
function request:fetch_count(db) end

---Returns whether the request has no rows.
---```lua
---print(Book:filter("year > 1900"):is_empty())  --> true
---```
---@param db? perilune.database
---@return boolean
function request:is_empty(db) end

---Returns whether at least one row exists.
---```lua
---print(Book:filter("year > 1900"):exists())  --> false
---```
---@param db? perilune.database
---@return boolean
function request:exists(db) end

---Returns the least value of a column or expression.
---```lua
---print(Book:min("year"))  --> 1846
---```
---@param db? perilune.database
---@param column string|perilune.expression
---@return any
function request:min(db, column) end

---Returns the greatest value of a column or expression.
---```lua
---print(Book:max("year"))  --> 1872
---```
---@param db? perilune.database
---@param column string|perilune.expression
---@return any
function request:max(db, column) end

---Returns the sum of the values of a column or expression.
---```lua
---print(Book:sum("year"))  --> 5569
---```
---@param db? perilune.database
---@param column string|perilune.expression
---@return number?
function request:sum(db, column) end

---Returns the average of the values of a column or expression.
---```lua
---print(Book:average("year"))  --> 1856.3333333333
---```
---@param db? perilune.database
---@param column string|perilune.expression
---@return number?
function request:average(db, column) end

---Returns the sum of the values of a column or expression as a float, or 0.0 without values.
---```lua
---print(Book:total("year"))  --> 5569.0
---```
---@param db? perilune.database
---@param column string|perilune.expression
---@return number
function request:total(db, column) end

---Returns one page of the records, with the total number of rows and of pages.
---```lua
---local page = Book:order("id"):page(2, 2)
---print(page.records[1].title, page.count, page.pages)
-----> Around the World	3	2
---```
---@param db? perilune.database
---@param number integer from 1
---@param size integer from 1
---@return { records: perilune.record[], number: integer, size: integer, count: integer, pages: integer }
function request:page(db, number, size) end

---Iterates over the records in lists of the given size, in the order of the key. Rows may be changed and deleted during the loop. A request
---with its own order, or one that may repeat a record (a join, `union_all`), is refused.
---```lua
---for books in Book:all():in_batches(2) do print(#books) end
-----> 2
-----> 1
---```
---@param db? perilune.database
---@param size integer from 1
---@return fun(): perilune.record[]?
function request:in_batches(db, size) end

---Updates all rows. A column takes a value, which is checked and stored as in an insert, or an expression, which sees the row before the
---update.
---```lua
---print(
---  Book:filter{ author_id = 1 }
---    :update_all{ pages = Book.c.pages + 1 }.changed_rows
---)
-----> 2
---```
---@param db? perilune.database
---@param changes table<string, any>
---@param options? { returning?: boolean|string|string[], on_conflict?: string } with `returning`, returns the changed records
---@return perilune.execute_result|perilune.record[]
---@raises constraint_*: a constraint is violated; conversion: a column does not take a value
function request:update_all(db, changes, options) end

---Deletes all rows.
---```lua
---print(Book:filter{ is_read = true }:delete_all().changed_rows)  --> 1
---```
---@param db? perilune.database
---@param options? { returning?: boolean|string|string[] } with `returning`, returns the deleted records
---@return perilune.execute_result|perilune.record[]
---@raises constraint_foreign_key: other rows refer to one of these
function request:delete_all(db, options) end

---Returns `update_all` or `delete_all` as a value, to be printed and executed later.
---```lua
---print(Tag:filter_key(1):statement("delete_all"))
-----> DELETE FROM "tag" WHERE "tag"."id" = 1
---```
---@param operation "update_all"|"delete_all"
---@param ... any the arguments of the operation
---@return perilune.write_statement
function request:statement(operation, ...) end

---Returns the SQL of the request, and its arguments with a field `n`.
---```lua
---print((Tag:filter{ name = "sea" }:sql()))
-----> SELECT * FROM "tag" WHERE "tag"."name" = ?
---```
---@param db? perilune.database
---@return string sql
---@return table arguments
function request:sql(db) end

---Returns SQLite's plan for the request. Printed, the plan is a tree.
---```lua
---print(Book:filter_key(1):explain())
-----> └─ SEARCH book USING INTEGER PRIMARY KEY (rowid=?)
---```
---@param db? perilune.database
---@return perilune.query_plan
function request:explain(db) end

---Returns the request with names for values that are passed when it runs: `:name` in SQL text, or `perilune.parameter`.
---```lua
---local by_year = Book:filter("year > :year"):prepare()
---print(
---  by_year:fetch_count{ year = 1850 },
---  by_year:fetch_count{ year = 1870 }
---)
-----> 2	1
---```
---@return perilune.prepared_request
function request:prepare() end

---Observes the results of the request: see `db:observe`.
---```lua
---local observation = Tag:order("name"):observe()
---print(#observation:next())  --> 2
---observation:cancel()
---```
---@param db? perilune.database
---@param callback? fun(records: perilune.record[])
---@param options? perilune.observation_options
---@return perilune.observation
---@access outside blocks
function request:observe(db, callback, options) end

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
---@param db? perilune.database
---@param linked perilune.record|any|(perilune.record|any)[] a record, its key, or a list of these
---@param columns? table<string, any> values for columns of the links
---@raises argument: the request does not come from an association through links, or the record does not fulfil its conditions; unknown_column: the link table does not have a column
function request:add(db, linked, columns) end

---Removes the links to a record or a list of records, but not the records; returns how many links it removed. Links in a table without a key are removed without
---hooks.
---```lua
---print(Book:find(1):tags():remove(1))  --> 1
---```
---@param db? perilune.database
---@param linked perilune.record|any|(perilune.record|any)[] a record, its key, or a list of these
---@return integer
---@raises argument: the request does not come from an association through links
function request:remove(db, linked) end

---Replaces the links by links to exactly the records of a list. Existing links to records of the list remain, with their other columns;
---other links are removed.
---```lua
---Book:find(1):tags():replace{ 2 }
---print(Book:find(1):tags():pluck("name")[1])  --> travel
---```
---@param db? perilune.database
---@param list (perilune.record|any)[] records or keys
---@raises argument: the request does not come from an association through links
function request:replace(db, list) end

---A request with named parameters. Each method takes an optional database, and a table of values by name.
---@class perilune.prepared_request
---@access any
---@raises unknown_parameter: the request has no such parameter; argument: an argument has the wrong type
local prepared = {}

---Returns all records.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(#prepared:fetch_all{ name = "sea" })  --> 1
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return perilune.record[]
function prepared:fetch_all(db, values) end

---Returns the first record, or nil.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:fetch_one{ name = "sea" }.name)  --> sea
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return perilune.record?
function prepared:fetch_one(db, values) end

---Returns the number of rows.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:fetch_count{ name = "sea" })  --> 1
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return integer
function prepared:fetch_count(db, values) end

---Returns whether the request has no rows.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:is_empty{ name = "sea" })  --> false
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return boolean
function prepared:is_empty(db, values) end

---Returns whether at least one row exists.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:exists{ name = "sea" })  --> true
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return boolean
function prepared:exists(db, values) end

---Returns the first value of the selected column, or nil.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(prepared:fetch_value{ name = "sea" })  --> sea
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return any
function prepared:fetch_value(db, values) end

---Returns the values of the selected column as a list.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(#prepared:fetch_values{ name = "sea" })  --> 1
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return any[]
function prepared:fetch_values(db, values) end

---Returns the values of the selected column, in which NULL is `perilune.null`.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(#prepared:fetch_optional_values{ name = "sea" })  --> 1
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return any[]
function prepared:fetch_optional_values(db, values) end

---Returns the values of the selected column as the keys of a table.
---```lua
---local prepared = Tag:select("name"):filter("name = :name"):prepare()
---print(prepared:fetch_set{ name = "sea" }.sea)  --> true
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return table<any, true>
function prepared:fetch_set(db, values) end

---Iterates over the records.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---for tag in prepared:rows{ name = "sea" } do print(tag.id) end  --> 1
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return fun(): perilune.record?
function prepared:rows(db, values) end

---Iterates over rows as separate values.
---```lua
---local prepared = Tag:select("id", "name"):filter("name = :name"):prepare()
---for id, name in prepared:tuples{ name = "sea" } do print(id, name) end
-----> 1	sea
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return fun(): ...
function prepared:tuples(db, values) end

---Deletes all rows.
---```lua
---local prepared = Tag:filter("name = :name"):prepare()
---print(prepared:delete_all{ name = "sea" }.changed_rows)  --> 1
---```
---@param db? perilune.database
---@param values? table<string, any>
---@return perilune.execute_result
function prepared:delete_all(db, values) end

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
---@param name string
---@param definition perilune.request|string[] a request, or the names of the columns
---@param ... any after columns: SQL and its arguments; after a request: a function that gets the table so far and returns the request for further rows
---@return perilune.common_table
---@raises argument: an argument has the wrong type
---@module record_assembly request_assembly requests.common_table
function perilune.common_table(name, definition, ...) end

---A common table: a request whose rows can be associated.
---@class perilune.common_table: perilune.request
---@access any
---@field c table<string, perilune.expression> the columns

---Returns the inner join with another request: the pairs of rows for which a condition holds. The conditions of the other request filter
---its rows before the join.
---```lua
---print(Author:join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count())
-----> 3
---```
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function request:join(other, condition, ...) end

---Returns the left join with another request: the matching pairs, and the rows of this request without a partner. The conditions of the
---other request filter its rows before the join.
---```lua
---print(
---  Author:left_join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count()
---)
-----> 4
---```
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function request:left_join(other, condition, ...) end

---Returns the right join with another request: the matching pairs, and the rows of the other request without a partner. The conditions of
---the other request filter its rows before the join.
---```lua
---print(
---  Author:right_join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count()
---)
-----> 3
---```
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function request:right_join(other, condition, ...) end

---Returns the full join with another request: the matching pairs, and the rows of either request without a partner. The conditions of the
---other request filter its rows before the join.
---```lua
---print(
---  Author:full_join(Book, Book.c.author_id:eq(Author.c.id)):fetch_count()
---)
-----> 4
---```
---@param other perilune.record_class|perilune.request
---@param condition perilune.condition
---@param ... perilune.argument arguments of SQL text
---@return perilune.request
function request:full_join(other, condition, ...) end

---Returns the cross join with another request: all pairs of rows.
---```lua
---print(Author:cross_join(Tag):fetch_count())  --> 6
---```
---@param other perilune.record_class|perilune.request
---@return perilune.request
function request:cross_join(other) end

---Returns the request with those conditions of a table that have a value. A nil or an empty table adds no condition.
---```lua
---print(
---  Book:filter_given{ author_id = 1, year = nil }:fetch_count(),
---  Book:filter_given{}:fetch_count()
---)
-----> 2	3
---```
---@param condition table<string, any>
---@return perilune.request
function request:filter_given(condition) end

---Returns the request that a function derives from this one, if a value is neither nil nor false. Otherwise it returns the result of
---`otherwise`, or the request itself.
---```lua
---local year = 1850
---print(Book:all():when(year, function(self, y)
---  return self:filter(Book.c.year:gt(y))
---end):fetch_count())
-----> 2
---```
---@param value any
---@param derive fun(request: perilune.request, value: any): perilune.request
---@param otherwise? fun(request: perilune.request, value: any): perilune.request
---@return perilune.request
function request:when(value, derive, otherwise) end

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
---@param db? perilune.database
---@param cursor? string the field `next` of a page; nil for the first rows
---@param size integer the maximum number of records
---@return { records: perilune.record[], next: string?, previous: string? }
function request:page_after(db, cursor, size) end

---Returns the page of records before a cursor.
---```lua
---print(Book:order("year"):page_before(nil, 1).records[1].title)
-----> Around the World
---```
---@param db? perilune.database
---@param cursor? string the field `previous` of a page; nil for the last rows
---@param size integer the maximum number of records
---@return { records: perilune.record[], next: string?, previous: string? }
function request:page_before(db, cursor, size) end

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
---@param time perilune.date|string|number
---@return perilune.request
---@raises argument: it is not a time, or another method was called before; history: it is not installed, or lacks a column of the table
---@access any
function request:as_of(time) end

---Returns the first record with these fields, or a new record with these and further fields that is not inserted; and whether it is new. A
---key that contradicts a condition of the request is refused.
---```lua
---print(
---  select(2, Tag:find_or_build{ name = "sea" }),
---  select(2, Tag:find_or_build{ name = "ships" })
---)
-----> false	true
---```
---@param db? perilune.database
---@param key table<string, any>
---@param others? table<string, any> further fields of a new record
---@return perilune.record
---@return boolean is_new
function request:find_or_build(db, key, others) end

---Returns the first record with these fields, or inserts and returns a new one with these and further fields; and whether it is new. It
---does not find softly deleted rows; if one has the same unique key, the insert raises `constraint_unique` with its key in `deleted_key`. A
---field that contradicts a condition of the request is refused, because the record would not be found again.
---```lua
---print(Tag:find_or_insert{ name = "ships" }.id, Tag:fetch_count())  --> 3	3
---```
---@param db? perilune.database
---@param key table<string, any>
---@param others? table<string, any> further fields of a new record
---@return perilune.record
---@return boolean is_new
function request:find_or_insert(db, key, others) end

---Returns a new record that belongs to the owner of this request. The record is not inserted.
---```lua
---print(Author:find(1):books():build{ title = "Omoo" }.author_id)  --> 1
---```
---@param fields? table<string, any>
---@return perilune.record
function request:build(fields) end

---Inserts a record that belongs to the owner of this request. Through a link table, it also inserts the link. Options and results are as for
---`Class:insert`.
---```lua
---print(Author:find(1):books():insert{ title = "Omoo" }.author_id)  --> 1
---```
---@param db? perilune.database
---@param fields table<string, any>|perilune.record columns with values, or a new record
---@param options? perilune.write_options
---@return perilune.record
---@raises constraint_*: a constraint is violated; argument: the request does not come from an association
function request:insert(db, fields, options) end

---Inserts records that belong to the owner of this request: all of them, or none. Through a link table, it also inserts the links. Options
---and results are as for `Class:insert_all`.
---```lua
---local books = Author:find(1)
---  :books()
---  :insert_all{ { title = "Omoo" }, { title = "Mardi" } }
---print(#books, books[2].author_id)  --> 2	1
---```
---@param db? perilune.database
---@param list (table<string, any>|perilune.record)[]
---@param options? perilune.write_options
---@return perilune.record[]
---@raises constraint_*: a constraint is violated; argument: the request does not come from an association
function request:insert_all(db, list, options) end

---Fetches associated records into the fields of records that are already in memory, with one statement for each association. It is called
---on a class.
---```lua
---local authors = Author:order("id"):fetch_all()
---Author:preload(authors, Author.books)
---print(#authors[1].books)  --> 2
---```
---@param list perilune.record[]
---@param ... perilune.association
function request:preload(list, ...) end

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
---@param db? perilune.database
---@param values table<string, any> columns and associations; a record may replace a table
---@param options? { delete_missing?: boolean } deletes associated rows that are not in the lists; for linked rows only the links
---@return perilune.record record with the written records in its fields
---@raises unknown_column: the column or association does not exist; nested_owner: a row belongs to another record; constraint_*: a constraint is violated; validation: a record is not valid; argument: a value has the wrong type
function request:save_nested(db, values, options) end
