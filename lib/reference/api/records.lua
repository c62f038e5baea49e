---@meta _
---@page Records
---Record classes represent tables, and records represent rows.
---
---A class takes its columns, key and defaults from the schema. A record is a plain table whose fields are columns. Methods that write take
---an optional database first; without one they use the innermost open block, or the default database. Records inherit the methods that a
---class defines, such as `function Author:label() ... end`.

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
---@param table_name string
---@param options? perilune.record_options
---@return perilune.record_class
---@raises argument: the name or an option is not valid; unknown_option: an option does not exist
---@module record_assembly
function perilune.record(table_name, options) end

---@class perilune.record_options
---@field fields? table<string, string|perilune.field_options> fields whose name differs from their column, or that are not columns; a string names the column
---@field naming? "snake_case"|fun(column: string): string the names of fields that are not in `fields`: `"snake_case"` converts columns in camel case, and a function returns the name for a column
---@field types? table<string, string|string[]|perilune.enum|perilune.value_type|{ to_database: function, from_database: function }> types of columns that differ from the schema's: `"json"`, `"vector"` (lists of numbers as blobs of 32-bit floats), a name of `perilune.type` (`"date"` stores days, `"datetime"` dates in full, even in a `DATE` column), an enum or the list of its cases, or a pair of functions
---@field primary_key? string|string[] the key if the schema has none; `"rowid"` for the row id
---@field extra? string|string[] fields that records may have in addition to their columns
---@field required? boolean whether to check NOT NULL columns without a default before writing the row
---@field check_types? boolean false to store values whose types differ from the declared types of the columns
---@field track_changes? boolean false for records that do not need to remember their row
---@field on_conflict? string|{ insert?: string, update?: string } the conflict policy of all writes
---@field defaults? table<string, any|fun(record: perilune.record): any> values of columns that are missing in an insert
---@field timestamps? boolean|{ created?: boolean|string, updated?: boolean|string } whether to maintain `created_at` and `updated_at`, or a table with other names. Values that a script sets are kept, except in an upsert that updates a row
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
---@field target? string|string[] the columns of the unique key to check; by default any unique key, including partial indexes and indexes on expressions such as `lower(name)`, which `target` cannot name. A record that was fetched or inserted always updates its own row.
---@field target_where? string|perilune.expression the condition of the partial index on the columns of `target`
---@field update? "all"|"none"|table the columns to overwrite with the record, and values or expressions by column; `"all"` by default. In SQL, `excluded` is the row that could not be inserted: `{ stock = perilune.sql("stock + excluded.stock") }`.
---@field except? string|string[] columns to keep
---@field where? string|perilune.expression|table a condition for updating: SQL, a list of SQL and its arguments, as in `{ "score < ?", 3 }`, or an expression
---@field returning? string|string[]

---A record class. A call makes a record, `Author{ name = "Ada" }`. All methods of requests are also methods of the class.
---@class perilune.record_class: perilune.request
---@overload fun(fields?: table<string, any>): perilune.record
---@access any
---@raises unknown_column: the column does not exist; unknown_table: the table does not exist; argument: an argument has the wrong type; constraint_*: a constraint is violated
---@field c table<string, perilune.expression> the columns
---@field requests table<string, function> named requests: `function Author.requests:old() ... end` becomes a method of the class, its requests and associations; `default` applies to all requests
local Class = {}

---Makes another class for the same table, which inherits everything from this one.
---```lua
---local Classic = Author:extend()
---function Classic:label() return self.name .. " (classic)" end
---print(Classic:find(1):label())  --> Herman Melville (classic)
---```
---@param options? perilune.record_options
---@return perilune.record_class
function Class:extend(options) end

---Returns the record with a key, or for a list of keys the records in that order. A table gives a key of several columns, or another unique
---key. If the row does not exist, `find` raises an error; `fetch_one` returns nil instead.
---```lua
---print(Author:find(2).name, Author:find{ name = "Ada Lovelace" }.id)
-----> Jules Verne	3
---```
---@param db? perilune.database
---@param key any|table<string, any>|any[]
---@return perilune.record|perilune.record[]
---@raises record_not_found: the row does not exist; argument: the columns are not a unique key
function Class:find(db, key) end

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
---@param db? perilune.database
---@param key any a key, or SQL with arguments; SQL without arguments is refused, because it could be a key that a user has typed
---@param ... perilune.argument
---@return perilune.record?
function Class:fetch_one(db, key, ...) end

---Returns all records of the table, or of a query.
---```lua
---print(
---  #Book:fetch_all(),
---  #Book:fetch_all("SELECT * FROM book WHERE year < ?", 1850)
---)
-----> 3	1
---```
---@param db? perilune.database
---@param sql? string
---@param ... perilune.argument
---@return perilune.record[]
function Class:fetch_all(db, sql, ...) end

---Iterates over the records of the table, or of a query.
---```lua
---for book in Book:rows("SELECT * FROM book WHERE id < 3 ORDER BY id") do
---  print(book.title)
---end
-----> Typee
-----> Moby-Dick
---```
---@param db? perilune.database
---@param sql? string
---@param ... perilune.argument
---@return fun(): perilune.record?
function Class:rows(db, sql, ...) end

---Returns an SQL request for records, with the methods `fetch_all`, `fetch_one` and `rows`.
---```lua
---print(
---  Book:from_sql("SELECT * FROM book WHERE title LIKE ?", "M%")
---    :fetch_one().year
---)
-----> 1851
---```
---@param sql string
---@param ... perilune.argument
---@return perilune.sql_request
function Class:from_sql(sql, ...) end

---Returns the number of rows in the table.
---```lua
---print(Book:fetch_count())  --> 3
---```
---@param db? perilune.database
---@return integer
function Class:fetch_count(db) end

---Makes a record from a row, or from a table of columns, as if it had been fetched. It is called with a dot.
---```lua
---print(Book:from_row(db:fetch_one("SELECT * FROM book")).title)  --> Typee
---```
---@param row perilune.row|table<string, any>
---@return perilune.record
function Class:from_row(row) end

---Makes a draft: the fields of a record without a row, such as a form in progress. It is called with a dot. A draft inserted without a key
---gets one from the database.
---```lua
---local draft = Tag:draft{ name = "ships" }
---print(Tag:insert(draft).id)  --> 3
---```
---@param fields table<string, any>|perilune.record the fields, or a record, whose key the draft keeps
---@return perilune.draft
function Class:draft(fields) end

---Inserts a record, a draft, or a table of columns, and returns the record.
---```lua
---print(Tag:insert{ name = "ships" }.id)  --> 3
---```
---@param db? perilune.database
---@param fields table<string, any>|perilune.record|perilune.draft columns, and records in place of columns that refer to them
---@param options? perilune.write_options
---@return perilune.record|false record false if a conflict policy prevented the write
function Class:insert(db, fields, options) end

---Inserts a list of records: all of them, or none. It is the fastest way to write many rows.
---```lua
---print(#Tag:insert_all{ { name = "ships" }, { name = "islands" } })  --> 2
---```
---@param db? perilune.database
---@param list (table<string, any>|perilune.record|perilune.draft)[]
---@param options? perilune.write_options
---@return perilune.record[]|perilune.row[] records the records; with `returning`, the values or the rows with its columns
---@raises constraint_*: a constraint is violated (the message names the element)
function Class:insert_all(db, list, options) end

---Updates the row of a record.
---```lua
---local book = Book:find(1)
---book.pages = 330
---Book:update(book)
---print(Book:find(1).pages)  --> 330
---```
---@param db? perilune.database
---@param record perilune.record|table<string, any> a table of columns represents a record that was not fetched
---@param options? perilune.write_options
---@return perilune.record|false
---@raises record_not_found: the row does not exist
function Class:update(db, record, options) end

---Updates the row of a record, or inserts it if it does not exist.
---```lua
---print(Tag:save(Tag{ name = "ships" }).id)  --> 3
---```
---@param db? perilune.database
---@param record perilune.record|table<string, any> a table of columns represents a record that was not fetched
---@param options? perilune.write_options
---@return perilune.record|false
function Class:save(db, record, options) end

---Inserts a record, a draft or a table of columns, or updates the row with the same unique key, in one statement.
---```lua
---print(Tag:upsert{ name = "sea" }.id)  --> 1
---```
---@param db? perilune.database
---@param record perilune.record|perilune.draft|table<string, any>
---@param options? perilune.upsert_options
---@return perilune.record|false record false if `where` or `update = "none"` has kept the row unchanged
---@raises argument: the table has no unique key, or the class needs the option `target`, because it overrides verbs or counts rows while a unique index is partial or on expressions
function Class:upsert(db, record, options) end

---Inserts a list of records, or updates the rows with the same unique keys: all of them, or none. In a class without hooks, it is the fastest
---way to write many rows that may exist.
---```lua
---print(
---  Tag:upsert_all{ { name = "sea" }, { name = "ships" } },
---  Tag:fetch_count()
---)
-----> 2	3
---```
---@param db? perilune.database
---@param list (table<string, any>|perilune.record|perilune.draft)[]
---@param options? perilune.upsert_options
---@return integer|perilune.row[] count the number of written rows; with `returning`, the values or the rows with its columns
---@raises constraint_*: a constraint is violated (the message names the element)
function Class:upsert_all(db, list, options) end

---Deletes the row of a record.
---```lua
---print(Tag:delete(Tag:find(1)), Tag:fetch_count())  --> true	1
---```
---@param db? perilune.database
---@param record perilune.record
---@param options? perilune.write_options
---@return boolean
function Class:delete(db, record, options) end

---Deletes the row with a key, without calling record hooks.
---```lua
---print(Tag:delete_one(1), Tag:delete_one(1))  --> true	false
---```
---@param db? perilune.database
---@param key any|table<string, any>
---@return boolean was_there
function Class:delete_one(db, key) end

---Deletes all rows of the table, and returns their number. `request:delete_all()` returns a result with `changed_rows`.
---```lua
---print(BookTag:delete_all())  --> 3
---```
---@param db? perilune.database
---@return integer
function Class:delete_all(db) end

---Returns whether a row with this key exists.
---```lua
---print(Book:exists(1), Book:exists(99))  --> true	false
---```
---@param db? perilune.database
---@param key any|table<string, any>
---@return boolean
function Class:exists(db, key) end

---Returns a write as a value, to be printed, stored, or executed later. It does not include hooks and validations.
---```lua
---print(Tag:statement("insert", Tag:draft{ name = "ships" }))
-----> INSERT INTO "tag" ("name") VALUES ('ships')
---```
---@param operation "insert"|"update"|"upsert"|"delete"|"update_all"|"delete_all"
---@param ... any the arguments of the operation
---@return perilune.write_statement
---@raises unknown_operation: the operation does not exist; argument: it does not take these arguments
function Class:statement(operation, ...) end

---Options of `Class:insert_from`.
---@class perilune.insert_from_options
---@field columns? string|string[] the target columns of the request's columns, in order; by default the columns of the same names
---@field on_conflict? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@field target? string|string[] the unique key whose rows are updated, any by default
---@field update? "all"|"none"|table the columns to overwrite, and values by column; `"all"` for requests with `select(...)` or the option `columns`
---@field where? string|perilune.expression|table a condition for updating
---@field returning? true|string|string[] true for records, or columns for rows

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
---@param request perilune.request
---@param options? perilune.insert_from_options how to treat conflicting rows; `perilune.excluded` names their new values
---@return perilune.execute_result
function Class:insert_from(request, options) end

---Returns a request for all rows, without the default request of the class.
---```lua
---local Recent = Book:extend()
---Recent.requests.default = function(self)
---  return self:filter("year > 1850")
---end
---print(#Recent:fetch_all(), Recent:unscoped():fetch_count())  --> 2	3
---```
---@return perilune.request
function Class:unscoped() end

---Reads the row of a record again.
---```lua
---local tag = Tag:find(1)
---db:execute("UPDATE tag SET name = 'ocean' WHERE id = 1")
---print(Tag:refresh(tag).name)  --> ocean
---```
---@param db? perilune.database
---@param record perilune.record
---@return perilune.record
---@raises record_not_found: the row no longer exists
function Class:refresh(db, record) end

---Inserts a copy of a record, and returns it.
---```lua
---print(Tag:inserted(Tag{ name = "ships" }).id)  --> 3
---```
---@param db? perilune.database
---@param record perilune.record|table<string, any>
---@param options? perilune.write_options
---@return perilune.record
function Class:inserted(db, record, options) end

---Changes a record and writes the columns that differ from its row.
---```lua
---print(Tag:update_changes(Tag:find(1), { name = "ocean" }))  --> true
---```
---@param db? perilune.database
---@param record perilune.record
---@param change table<string, any>|fun(record: perilune.record)
---@param options? perilune.write_options
---@return boolean was_written
function Class:update_changes(db, record, change, options) end

---Returns the differences between a record and its row, by column.
---```lua
---local tag = Tag:find(1)
---tag.name = "ocean"
---print(Tag:changes(tag).name.old)  --> sea
---```
---@param record perilune.record
---@return table<string, { old: any, new: any }>
function Class:changes(record) end

---Returns whether a record differs from its row.
---```lua
---print(Tag:has_changes(Tag:find(1)))  --> false
---```
---@param record perilune.record
---@return boolean
function Class:has_changes(record) end

---Returns whether a value is a record of this class.
---```lua
---print(Tag:is(Tag:find(1)), Tag:is(Book:find(1)))  --> true	false
---```
---@param value any
---@return boolean
function Class:is(value) end

---A record: a row as a table. A name that is neither a column nor a method raises an error. NULL reads as nil. Assigning nil writes NULL,
---but an insert then uses the column's default; `perilune.null` always writes NULL.
---@class perilune.record
---@access any
---@raises unknown_column: the column does not exist; argument: an argument has the wrong type; changed_key: the key was changed; constraint_*: a constraint is violated; validation: the class finds the record invalid
---@field [string] any the value of a column
local record = {}

---Inserts the record, and sets the fields that the database fills in.
---```lua
---local tag = Tag{ name = "ships" }
---tag:insert()
---print(tag.id)  --> 3
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false record false if a conflict policy prevented the write
function record:insert(db, options) end

---Inserts a copy of the record, and returns the copy.
---```lua
---local draft = Tag{ name = "ships" }
---print(draft:inserted().id, draft.id)  --> 3	nil
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
function record:inserted(db, options) end

---Writes all columns that the record has. A fetched or inserted record has all columns that it knows of its row; a record that a script has
---made has the columns that it was given, `perilune.null` included. Other columns, such as `created_at`, do not change. With
---`track_changes = false` a record does not know which columns it was given, and writes all of them.
---```lua
---local book = Book:find(1)
---book.pages = 330
---book:update()
---print(Book:find(1).pages)  --> 330
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
---@raises record_not_found: the row no longer exists
function record:update(db, options) end

---Writes the columns that differ from the row, and nothing if none does. An optional change is made first, and reverted if the write fails.
---A record that a script has made does not know its row: without a change it writes all columns that it was given, and with a change only
---those that the change names or alters.
---```lua
---local book = Book:find(1)
---print(book:update_changes{ pages = 330 }, book:update_changes())
-----> true	false
---```
---@param change? table<string, any>|fun(record: perilune.record)
---@param options? perilune.write_options
---@return boolean was_written
---@raises record_not_found: the row no longer exists
function record:update_changes(change, options) end

---Updates the row, or inserts it if it does not exist or the record's key is NULL. Like `update`, an update writes all columns
---of the record, and overwrites values that others have written since it was fetched. `update_changes` writes only the columns that differ.
---```lua
---local tag = Tag{ id = 9, name = "ships" }
---tag:save()
---print(Tag:find(9).name)  --> ships
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
function record:save(db, options) end

---Inserts the record, or updates the row with the same unique key, in one statement. Afterwards the record matches the row.
---```lua
---local tag = Tag{ name = "sea" }
---tag:upsert()
---print(tag.id)  --> 1
---```
---@param db? perilune.database
---@param options? perilune.upsert_options
---@return perilune.record|false
function record:upsert(db, options) end

---Deletes the row.
---```lua
---local tag = Tag:find(1)
---print(tag:delete(), tag:delete())  --> true	false
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return boolean was_there
function record:delete(db, options) end

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
---@param db? perilune.database
---@return perilune.version[]
---@raises history: it is not installed, or lacks a column of the table
---@access any
function record:history(db) end

---Restores the deleted record of a class with `soft_delete`. If that fails, the record stays deleted.
---```lua
---db:execute("ALTER TABLE tag ADD COLUMN deleted_at DATETIME")
---local Kept = perilune.record("tag", { soft_delete = true })
---local tag = Kept:find(1)
---tag:delete()
---print(Kept:fetch_one(1), tag:restore().deleted_at)  --> nil	nil
---```
---@param db? perilune.database
---@return perilune.record
function record:restore(db) end

---Deletes the row even if the class has `soft_delete`, in which case `delete` only marks it.
---```lua
---db:execute("ALTER TABLE tag ADD COLUMN deleted_at DATETIME")
---local Kept = perilune.record("tag", { soft_delete = true })
---print(Kept:find(1):delete_forever(), Kept:unscoped():filter_key(1):exists())
-----> true	false
---```
---@param db? perilune.database
---@return boolean was_there
function record:delete_forever(db) end

---Returns whether the row exists.
---```lua
---print(Tag:find(1):exists(), Tag{ id = 9 }:exists())  --> true	false
---```
---@param db? perilune.database
---@return boolean
function record:exists(db) end

---Reads the row into the record again.
---```lua
---local tag = Tag:find(1)
---tag.name = "lake"
---print(tag:refresh().name)  --> sea
---```
---@param db? perilune.database
---@param options? { fields?: string|string[] } lazy fields to read as well
---@return perilune.record
---@raises record_not_found: the row no longer exists; unknown_column: the field does not exist
function record:refresh(db, options) end

---Returns the differences from the row, by column; for a record without a row, all its columns. As in `pairs(record)`, a combined field
---appears as its parts, and computed fields are left out.
---```lua
---local tag = Tag:find(1)
---tag.name = "lake"
---print(tag:changes().name.old, tag:changes().name.new)  --> sea	lake
---```
---@return table<string, { old: any, new: any }>
function record:changes() end

---Returns whether a column differs from the row.
---```lua
---local tag = Tag:find(1)
---print(tag:has_changes())  --> false
---tag.name = "lake"
---print(tag:has_changes())  --> true
---```
---@return boolean
function record:has_changes() end

---Returns the fetched records of an association: a record, a list of records, or nil if no row belongs to the record. It raises an error if
---the association was not included. In that case `record.author` is the association itself, which is true in a condition.
---```lua
---print(#Author:including_all(Author.books):find(1):included("books"))  --> 2
---```
---@param name string of the association
---@return perilune.record|perilune.record[]|nil
---@raises not_fetched: the association was not included; unknown_association: the class has no association of that name
function record:included(name) end

---Returns a copy of the record, optionally with changed fields.
---```lua
---print(Tag:find(1):copy().name, Tag:find(1):copy{ name = "lake" }.name)
-----> sea	lake
---```
---@param changes? table<string, any> fields of the copy
---@return perilune.record
---@raises argument: the changes are not a table; unknown_column: a field does not exist
function record:copy(changes) end

---Adds a validation error to the record, in the method `validate` of its class.
---```lua
---function Tag:validate()
---  if self.name == "" then self:invalid("name", "must not be empty") end
---end
---print(select(2, pcall(Tag.insert, Tag, { name = "" })).message)
-----> tag: name must not be empty
---```
---@param column? string
---@param message string
---@raises validation: it is called outside of `validate`
function record:invalid(column, message) end

---Returns the validation errors of the record, without writing it.
---```lua
---function Tag:validate()
---  if self.name == "" then self:invalid("name", "must not be empty") end
---end
---print(Tag{ name = "" }:validation_errors()[1].column)  --> name
---```
---@param db? perilune.database
---@return { column?: string, message: string }[]
function record:validation_errors(db) end

---A draft: the fields of a record without a row. Methods of the class that do not write can be called on it.
---@class perilune.draft
---@access any
---@field [string] any the value of a column
local draft = {}

---Returns a copy of the draft.
---```lua
---local draft = Tag:draft{ name = "ships" }
---print(draft:copy().name)  --> ships
---```
---@return perilune.draft
---@raises none
function draft:copy() end

---Returns the validation errors of the draft, as `validate` of its class reports them.
---```lua
---print(#Tag:draft{ name = "ships" }:validation_errors())  --> 0
---```
---@param db? perilune.database
---@return { column?: string, message: string }[]
---@raises argument: `db` is not a database
function draft:validation_errors(db) end

---Hooks: methods that a class may define, called when its records are written. An error in a hook cancels the write. The hooks of an insert
---run in this order: `will_save`, `around_save`, `will_insert`, `validate`, `around_insert`, `did_insert`, `did_save`. Updates follow the
---same order with their own hooks.
---@class perilune.record_hooks
---@access inside a transaction or a savepoint of the write
---@raises hook: an around hook does not call its function exactly once, hooks that write records are nested more than 16 deep, or a `will_` hook returns false
local hooks = {}

---Is called before a record is inserted.
---```lua
---function Tag:will_insert(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---@param db perilune.database
function hooks:will_insert(db) end

---Is called around the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_insert(write, db)
---  write()
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---@param write fun()
---@param db perilune.database
function hooks:around_insert(write, db) end

---Is called after a record has been inserted.
---```lua
---function Tag:did_insert(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---@param db perilune.database
function hooks:did_insert(db) end

---Is called before a record is updated.
---```lua
---function Tag:will_update(db, columns)
---  print(self.name)
---end
---Tag:find(1):update_changes{ name = "ocean" }  --> ocean
---```
---@param db perilune.database
---@param columns table<string, true> the columns that are written, also as a list
function hooks:will_update(db, columns) end

---Is called around the SQL of the write; it must call `write` once. For an `update`, `columns` contains all columns. Only before the
---write does `self:changes()` return the differences from the row. This hook logs them:
---```lua
---function Tag:around_update(write, db, columns)
---  local changes = self:changes()
---  write()
---  for column, change in pairs(changes) do
---    print(column, change.old, change.new)
---  end
---end
---local tag = Tag:find(1)
---tag.name = "ocean"
---tag:save()  --> name	sea	ocean
---```
---@param write fun()
---@param db perilune.database
---@param columns table<string, true> the columns that are written, also as a list
function hooks:around_update(write, db, columns) end

---Is called after a record has been updated.
---```lua
---function Tag:did_update(db, columns)
---  print(self.name)
---end
---Tag:find(1):update_changes{ name = "ocean" }  --> ocean
---```
---@param db perilune.database
---@param columns table<string, true> the columns that are written, also as a list
function hooks:did_update(db, columns) end

---Is called before a record is deleted.
---```lua
---function Tag:will_delete(db)
---  print(self.name)
---end
---Tag:find(1):delete()  --> sea
---```
---@param db perilune.database
function hooks:will_delete(db) end

---Is called around the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_delete(write, db)
---  write()
---  print(self.name)
---end
---Tag:find(1):delete()  --> sea
---```
---@param write fun()
---@param db perilune.database
function hooks:around_delete(write, db) end

---Is called after a record has been deleted.
---```lua
---function Tag:did_delete(db, was_there)
---  print(self.name)
---end
---Tag:find(1):delete()  --> sea
---```
---@param db perilune.database
---@param was_there boolean
function hooks:did_delete(db, was_there) end

---Is called before a record is saved.
---```lua
---function Tag:will_save(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---@param db perilune.database
function hooks:will_save(db) end

---Is called around all other hooks and the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_save(write, db)
---  write()
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---@param write fun()
---@param db perilune.database
function hooks:around_save(write, db) end

---Is called after a record has been saved.
---```lua
---function Tag:did_save(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---@param db perilune.database
function hooks:did_save(db) end

---Is called before a record is written. It calls `self:invalid(column, message)` for each problem; any of them refuses the write.
---```lua
---function Tag:validate()
---  if #self.name > 20 then self:invalid("name", "is too long") end
---end
---print((pcall(Tag.insert, Tag, { name = ("x"):rep(21) })))  --> false
---```
---@param db perilune.database
function hooks:validate(db) end

---Is called with each fetched record.
---```lua
---function Tag:did_fetch() print("fetched " .. self.name) end
---Tag:find(1)  --> fetched sea
---```
function hooks:did_fetch() end

---A write as a value, made by `Class:statement`. `tostring` returns its SQL with values.
---@class perilune.write_statement
---@access any
---@raises constraint_*: a constraint is violated; sql: SQLite refuses the statement
local statement = {}

---Returns the SQL and its arguments.
---```lua
---print((Tag:statement("insert", { name = "ships" }):sql()))
-----> INSERT INTO "tag" ("name") VALUES (?)
---```
---@return string
---@return table arguments with a field `n`
function statement:sql() end

---Executes the write.
---```lua
---print(Tag:statement("insert", { name = "ships" }):execute().changed_rows)
-----> 1
---```
---@param db? perilune.database
---@return perilune.execute_result
function statement:execute(db) end

---Executes the write, and returns the rows of `returning` as a list.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_all()[1].id)  --> 3
---```
---@param db? perilune.database
---@return perilune.row[]
function statement:fetch_all(db) end

---Executes the write, and returns the first row of `returning`, or nil.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_one().id)  --> 3
---```
---@param db? perilune.database
---@return perilune.row?
function statement:fetch_one(db) end

---Executes the write, and returns the first value of `returning`, or nil.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_value())  --> 3
---```
---@param db? perilune.database
---@return any
function statement:fetch_value(db) end

---Executes the write, and returns the first column of `returning` as a list.
---```lua
---local statement = Tag:statement(
---  "insert",
---  { name = "ships" },
---  { returning = "id" }
---)
---print(statement:fetch_values()[1])  --> 3
---```
---@param db? perilune.database
---@return any[]
function statement:fetch_values(db) end

---A query for records, made by `Class:from_sql`.
---@class perilune.sql_request
---@access any
---@raises sql: SQLite refuses the statement; argument: the arguments do not fit the placeholders
local from_sql = {}

---Returns all records.
---```lua
---print(#Book:from_sql("SELECT * FROM book WHERE pages > ?", 300):fetch_all())
-----> 2
---```
---@param db? perilune.database
---@return perilune.record[]
function from_sql:fetch_all(db) end

---Returns the first record, or nil.
---```lua
---print(
---  Book:from_sql("SELECT * FROM book WHERE pages > ?", 500):fetch_one().title
---)
-----> Moby-Dick
---```
---@param db? perilune.database
---@return perilune.record?
function from_sql:fetch_one(db) end

---Returns the number of rows of the query.
---```lua
---print(
---  Book:from_sql("SELECT * FROM book WHERE pages > ?", 300):fetch_count()
---)
-----> 2
---```
---@param db? perilune.database
---@return integer
function from_sql:fetch_count(db) end

---Iterates over the records.
---```lua
---local large = Book:from_sql("SELECT * FROM book WHERE pages > ?", 500)
---for book in large:rows() do
---  print(book.title)
---end
-----> Moby-Dick
---```
---@param db? perilune.database
---@return fun(): perilune.record?
function from_sql:rows(db) end

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
---@param table_name string
---@param options? { defaults?: table<string, any|fun(object: perilune.single_row): any>, key?: string } and the options of `perilune.record`; `key` is `"id"` by default
---@return perilune.single_row_class
---@raises argument: an option is not valid
---@module records.single_row
function perilune.single_row(table_name, options) end

---A class made by `perilune.single_row`. Its objects have the columns as fields, and the methods of records; they inherit methods and hooks
---defined on the class. In JSON, as text and in `pairs`, an object includes its defaults.
---@class perilune.single_row_class
---@access any
---@overload fun(fields?: table<string, any>): perilune.single_row
---@field record perilune.record_class the underlying record class, for associations
local SingleRow = {}

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
---@param db? perilune.database
---@return perilune.single_row
---@raises unknown_table: the table does not exist
function SingleRow:find(db) end

---An object that holds the single row.
---@class perilune.single_row: perilune.record
---@access any
local single_row = {}

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
---@param ... string columns
---@return perilune.single_row
---@raises unknown_column: the column does not exist
function single_row:reset(...) end

---The columns of the row that an upsert could not insert, for its option `update`: `perilune.excluded.price`.
---@class perilune.excluded
---@field [string] perilune.expression
