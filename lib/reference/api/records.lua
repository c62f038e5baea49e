---@meta _
---@page Records
---Record classes stand for tables, records for rows.
---
---The columns, the key and the defaults of a class come from the schema. A record is a plain table whose fields are columns. Methods that
---write take an optional database first; without one they use the innermost open block, or the default database. A method that a class
---defines, such as `function Author:label() ... end`, is one of its records.

---Makes a record class of a table. Each call makes another class: make it in one file, return it there, and `require` that file.
---
---A value that a column does not declare to hold, such as a word in an INTEGER column or `true` in a TEXT column, is an error of kind
---`conversion` when a record is written. What SQLite converts without loss is stored: `"12"` and `12.0` in an INTEGER column, numbers in a
---TEXT column. Columns without a type, and columns of BLOB, ANY and other types than these, take any value, and so do SQL and conditions.
---```lua
---local Tag = perilune.record("tag")
---function Tag:label() return "#" .. self.name end
---print(Tag:find(1):label())  --> #sea
---```
---@param table_name string
---@param options? perilune.record_options
---@return perilune.record_class
---@raises argument: the name or an option is not valid; unknown_option: an option does not exist
function perilune.record(table_name, options) end

---@class perilune.record_options
---@field fields? table<string, string|perilune.field_options> fields that are not columns by that name; a string is the column that the field is over
---@field naming? "snake_case"|fun(column: string): string what fields are called that `fields` does not name: columns in camel case have fields in snake case, or those that a function returns
---@field types? table<string, string|perilune.enum|perilune.value_type|{ to_database: function, from_database: function }> types of columns beside those that the schema declares: `"json"`, `"vector"` (lists of numbers as blobs of 32-bit floats), a name of `perilune.type`, an enum, or a pair of functions
---@field primary_key? string|string[] the key where the schema has none; `"rowid"` for the row id
---@field extra? string|string[] fields that are not columns, which records may have
---@field required? boolean whether NOT NULL columns without a default are checked before the row is written
---@field check_types? boolean false for a class that stores values of other types than its columns declare
---@field track_changes? boolean false for records that need not remember their row
---@field on_conflict? string|{ insert?: string, update?: string } what happens on a conflict, for all writes
---@field defaults? table<string, any|fun(record: perilune.record): any> values of columns that an insert is not given
---@field timestamps? boolean|{ created?: string, updated?: string } whether `created_at` and `updated_at` are kept; other names as a table. A value that a script has set is kept, except by an upsert that updates a row
---@field lock_version? boolean|string the column, `lock_version` by default, that refuses to write a record whose row has changed, and counts up with each write
---@field soft_delete? boolean|string the column, `deleted_at` by default, that deleting sets; records have `restore` and `delete_forever`
---@field immutable? string|string[] columns that are written by the insert only; an upsert leaves them
---@field enums? table<string, perilune.enum|{ [1]: perilune.enum, prefix: string }> columns whose cases are methods: `Book:published()`, `book:is_published()`; with the prefix `"status"`, `Book:status_draft()`, for cases that have the name of a method

---A field of records: over a column, computed, or made of several fields.
---
---Requests, writes, associations and errors know the field by its name alone; SQL knows the column. Rows of SQL that a script has written
---become fields by either name.
---@class perilune.field_options
---@field column? string the column that the field is over; the one of its own name by default
---@field type? string|perilune.enum|perilune.value_type|{ to_database: function, from_database: function } as in the option `types`
---@field default? any|fun(record: perilune.record): any as in the option `defaults`
---@field lazy? boolean whether records are fetched without it; `Class:annotated_with(field)` and `record:refresh{ fields = field }` fetch it, and reading it before raises `not_fetched`
---@field get? fun(record: perilune.record): any computes the field
---@field set? fun(record: perilune.record, value: any) assigns it
---@field expression? perilune.expression|fun(c: table<string, perilune.expression>): perilune.expression what the field is in requests
---@field fields? string[]|table<string, string> the fields that it is made of, which are its parts by name, or by the names that are keys; its value is immutable, and equal to one with equal parts
---@field make? fun(...: any): any makes the value of its parts, in their order, instead of a table
---@field split? fun(value: any): any ... returns the parts of a value

---How a write behaves.
---@class perilune.write_options
---@field on_conflict? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@field returning? string|string[] a column, a list of columns, or `"all"`, to be returned instead of the record; not fields that are computed or made of several
---@field key? boolean whether an update gives its row the changed key of the record; false by default
---@field target? string|string[] of `insert_all`: the unique key whose rows are updated
---@field target_where? string of `insert_all`: the condition of the partial index that counts
---@field update? "all"|"none"|table of `insert_all`: the columns that are written over, and values by column
---@field except? string|string[] of `insert_all`: columns that are kept
---@field set? table<string, string> of `insert_all`: SQL by column
---@field where? string|perilune.expression|table of `insert_all`: a condition for updating: SQL, a list of SQL and its arguments, or an expression

---How an upsert behaves.
---@class perilune.upsert_options
---@field target? string|string[] the columns of the unique key that counts; by default the primary key
---@field target_where? string the condition of the partial index that counts
---@field update? "all"|"none"|table the columns that the record writes over, and values by column; `"all"` by default
---@field except? string|string[] columns that are kept
---@field set? table<string, string> SQL by column, in which `excluded` is the row that was to be inserted
---@field where? string|perilune.expression|table a condition for updating: SQL, a list of SQL and its arguments, as in `{ "score < ?", 3 }`, or an expression
---@field returning? string|string[]

---A record class. It is called to make a record, `Author{ name = "Ada" }`, and begins requests: all methods of requests are methods of it.
---@class perilune.record_class: perilune.request
---@overload fun(fields?: table<string, any>): perilune.record
---@access any
---@raises unknown_column: the column does not exist; unknown_table: the table does not exist; argument: an argument has the wrong type; constraint_*: a constraint is violated
---@field c table<string, perilune.expression> the columns
---@field requests table<string, function> named requests: `function Author.requests:old() ... end` is then a method of the class, its requests and associations; `default` applies to all requests
local Class = {}

---Makes another class of the same table, which has all that this one has.
---```lua
---local Classic = Author:extend()
---function Classic:label() return self.name .. " (classic)" end
---print(Classic:find(1):label())  --> Herman Melville (classic)
---```
---@param options? perilune.record_options
---@return perilune.record_class
function Class:extend(options) end

---Returns the record with a key, or those with a list of keys in its order. The key of several columns, or another unique key, is a table.
---```lua
---print(Author:find(2).name, Author:find{ name = "Ada Lovelace" }.id)  --> Jules Verne	3
---```
---@param key any|table<string, any>|any[]
---@return perilune.record|perilune.record[]
---@raises record_not_found: the row does not exist; argument: the columns are not a unique key
function Class:find(key) end

---Returns the first record, the one with a key, or the first of a query with arguments; nil if there is none.
---```lua
---print(Book:fetch_one(2).title, Book:fetch_one("SELECT * FROM book WHERE year > ? ORDER BY year", 1850).title)  --> Moby-Dick	Moby-Dick
---```
---@param key any a key, or SQL with arguments; SQL alone is refused, because it could be a key that a user has typed
---@param ... perilune.argument
---@return perilune.record?
function Class:fetch_one(key, ...) end

---Returns all records of the table, or of a query.
---```lua
---print(#Book:fetch_all(), #Book:fetch_all("SELECT * FROM book WHERE year < ?", 1850))  --> 3	1
---```
---@param sql? string
---@param ... perilune.argument
---@return perilune.record[]
function Class:fetch_all(sql, ...) end

---Iterates over the records of the table, or of a query.
---```lua
---for book in Book:rows("SELECT * FROM book WHERE id < 3 ORDER BY id") do print(book.title) end
-----> Typee
-----> Moby-Dick
---```
---@param sql? string
---@param ... perilune.argument
---@return fun(): perilune.record?
function Class:rows(sql, ...) end

---Returns a value that fetches records by SQL: with `fetch_all`, `fetch_one` and `rows`.
---```lua
---print(Book:from_sql("SELECT * FROM book WHERE title LIKE ?", "M%"):fetch_one().year)  --> 1851
---```
---@param sql string
---@param ... perilune.argument
---@return perilune.sql_request
function Class:from_sql(sql, ...) end

---Returns how many rows the table has.
---```lua
---print(Book:fetch_count())  --> 3
---```
---@return integer
function Class:fetch_count() end

---Makes a record of a row, or of a table of columns, as if it had been fetched. It is called with a dot.
---```lua
---print(Book.from_row(db:fetch_one("SELECT * FROM book")).title)  --> Typee
---```
---@param row perilune.row|table<string, any>
---@return perilune.record
function Class.from_row(row) end

---Makes a draft: fields that are still being filled in, without a row. It is called with a dot. Inserted without a key, it gets one from the
---database.
---```lua
---local draft = Tag.draft{ name = "ships" }
---print(Tag:insert(draft).id)  --> 3
---```
---@param fields table<string, any>|perilune.record the fields, or a record, whose key the draft keeps
---@return perilune.draft
function Class.draft(fields) end

---Inserts a record, a draft, or a table of columns, and returns the record.
---```lua
---print(Tag:insert{ name = "ships" }.id)  --> 3
---```
---@param fields table<string, any>|perilune.record|perilune.draft
---@param options? perilune.write_options
---@return perilune.record|false record false if a conflict policy has kept the row from being written
function Class:insert(fields, options) end

---Inserts all of a list or nothing. It is the fastest way to write many rows.
---```lua
---print(#Tag:insert_all{ { name = "ships" }, { name = "islands" } })  --> 2
---```
---@param list (table<string, any>|perilune.record|perilune.draft)[]
---@param options? perilune.write_options
---@return perilune.record[]|integer|perilune.row[] records the records; with `target` or `update` how many rows were written, or with `returning` as well the rows that it names
---@raises constraint_*: a constraint is violated, and the message says by which element
function Class:insert_all(list, options) end

---Updates the row of a record.
---```lua
---local book = Book:find(1)
---book.pages = 330
---Book:update(book)
---print(Book:find(1).pages)  --> 330
---```
---@param record perilune.record|table<string, any> a table of columns stands for a record that does not know its row
---@param options? perilune.write_options
---@return perilune.record|false
---@raises record_not_found: the row does not exist
function Class:update(record, options) end

---Updates the row of a record, or inserts it if there is none.
---```lua
---print(Tag:save(Tag{ name = "ships" }).id)  --> 3
---```
---@param record perilune.record|table<string, any> a table of columns stands for a record that does not know its row
---@param options? perilune.write_options
---@return perilune.record|false
function Class:save(record, options) end

---Inserts a record or draft, or updates the row that is in its way, in one statement.
---```lua
---print(Tag:upsert(Tag.draft{ name = "sea" }, { target = "name" }).id)  --> 1
---```
---@param record perilune.record|perilune.draft
---@param options? perilune.upsert_options
---@return perilune.record|false
function Class:upsert(record, options) end

---Deletes the row of a record.
---```lua
---print(Tag:delete(Tag:find(1)), Tag:fetch_count())  --> true	1
---```
---@param record perilune.record
---@param options? perilune.write_options
---@return boolean
function Class:delete(record, options) end

---Deletes the row with a key, without the hooks of records.
---```lua
---print(Tag:delete_one(1), Tag:delete_one(1))  --> true	false
---```
---@param key any|table<string, any>
---@return boolean was_there
function Class:delete_one(key) end

---Deletes all rows of the table, and returns how many there were.
---```lua
---print(BookTag:delete_all())  --> 3
---```
---@return integer
function Class:delete_all() end

---Returns whether there is a row with a key.
---```lua
---print(Book:exists(1), Book:exists(99))  --> true	false
---```
---@param key any|table<string, any>
---@return boolean
function Class:exists(key) end

---Returns a write as a value: it is printed, kept, and executed later. Hooks and validations are not part of it.
---```lua
---print(Tag:statement("insert", Tag.draft{ name = "ships" }))  --> INSERT INTO "tag" ("name") VALUES ('ships')
---```
---@param verb "insert"|"update"|"upsert"|"delete"|"update_all"|"delete_all"
---@param ... any what the verb takes
---@return perilune.write_statement
---@raises unknown_verb: the verb does not exist; argument: the verb does not take these arguments
function Class:statement(verb, ...) end

---How the rows of a request are inserted.
---@class perilune.insert_from_options
---@field columns? string|string[] the columns that those of the request are for, in order; by default those of the same names
---@field on_conflict? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@field target? string|string[] the unique key whose rows are updated, the primary key by default
---@field update? "all"|"none"|table the columns that are written over, and values by column; `"all"` for requests with `select(...)` or the option `columns`
---@field where? string|perilune.expression|table a condition for updating
---@field returning? true|string|string[] true for records, or columns for rows

---Inserts the rows that a request selects, in one statement.
---```lua
---db:execute("CREATE TABLE archive (id INTEGER PRIMARY KEY, title TEXT)")
---local Archive = perilune.record("archive")
---print(Archive:insert_from(Book:filter("year < 1850"):select("id", "title")).changed_rows)  --> 1
---```
---@param request perilune.request
---@param options? perilune.insert_from_options what becomes of rows that are in the way; `perilune.excluded` names their new values
---@return perilune.execute_result
function Class:insert_from(request, options) end

---Returns a request for all rows, without the default request of the class.
---```lua
---local Recent = Book:extend()
---Recent.requests.default = function(self) return self:filter("year > 1850") end
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
---@param record perilune.record
---@return perilune.record
---@raises record_not_found: the row has gone
function Class:refresh(record) end

---Inserts a copy of a record, and returns it. It is called with a dot, by a class that overrides it.
---```lua
---print(Tag.inserted(Tag{ name = "ships" }).id)  --> 3
---```
---@param record perilune.record
---@param options? perilune.write_options
---@return perilune.record
function Class.inserted(record, options) end

---Changes a record and writes what differs from its row.
---```lua
---print(Tag:update_changes(Tag:find(1), { name = "ocean" }))  --> true
---```
---@param record perilune.record
---@param change table<string, any>|fun(record: perilune.record)
---@param options? perilune.write_options
---@return boolean was_written
function Class:update_changes(record, change, options) end

---Returns what differs between a record and its row, by column.
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

---A record: a row as a table. A name that is neither a column nor a method is an error. NULL reads as nil; assigning nil writes NULL,
---except that an insert leaves the column to its default, where `perilune.null` writes NULL.
---@class perilune.record
---@access any
---@raises unknown_column: the column does not exist; argument: an argument has the wrong type; changed_key: the key was changed; constraint_*: a constraint is violated; validation: the class finds the record invalid
---@field [string] any the value of a column
local record = {}

---Inserts the record. The fields that the database fills in are set.
---```lua
---local tag = Tag{ name = "ships" }
---tag:insert()
---print(tag.id)  --> 3
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false record false if a conflict policy has kept the row from being written
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

---Writes all columns that the record has: of a record that was fetched or inserted these are all that it knows of its row, and of a record
---that a script has made those that it was given, `perilune.null` included. Other columns, such as `created_at`, stay as they are. With
---`track_changes = false` a record does not know which columns it was given, and all are written.
---```lua
---local book = Book:find(1)
---book.pages = 330
---book:update()
---print(Book:find(1).pages)  --> 330
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
---@raises record_not_found: the row has gone
function record:update(db, options) end

---Writes the columns that differ from the row, and nothing if none does. A change, if given, is made first, and taken back if it fails.
---A record that a script has made does not know its row: without a change all that it was given is written, and with a change only what
---the change names or alters.
---```lua
---local book = Book:find(1)
---print(book:update_changes{ pages = 330 }, book:update_changes())  --> true	false
---```
---@param change? table<string, any>|fun(record: perilune.record)
---@param options? perilune.write_options
---@return boolean was_written
---@raises record_not_found: the row has gone
function record:update_changes(change, options) end

---Updates the row, or inserts it if there is none. An update writes the columns that `update` does.
---```lua
---local tag = Tag{ id = 9, name = "ships" }
---tag:save()
---print(Tag:find(9).name)  --> ships
---```
---@param db? perilune.database
---@param options? perilune.write_options
---@return perilune.record|false
function record:save(db, options) end

---Inserts the record, or updates the row that is in its way, in one statement. The record then is what the row is.
---```lua
---local tag = Tag{ name = "sea" }
---tag:upsert{ target = "name" }
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

---Of a class with a history (see `perilune.history`): returns the versions of the row, the oldest first.
---```lua
---perilune.history(Tag):install(db)
---local tag = Tag:find(1)
---tag:delete()
---print(#tag:history(), tag:history()[1].record.name, tag:history()[2].event)  --> 2	sea	delete
---```
---@param db? perilune.database
---@return perilune.version[]
---@raises history: it is not installed, or lacks a column of the table
---@access any
function record:history(db) end

---Of a class with `soft_delete`: makes the record one that is not deleted. If that fails, the record stays deleted.
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

---Of a class with `soft_delete`: deletes the row, which `delete` leaves there.
---```lua
---db:execute("ALTER TABLE tag ADD COLUMN deleted_at DATETIME")
---local Kept = perilune.record("tag", { soft_delete = true })
---print(Kept:find(1):delete_forever(), Kept:unscoped():filter_key(1):exists())  --> true	false
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

---Reads the row again into the record.
---```lua
---local tag = Tag:find(1)
---tag.name = "lake"
---print(tag:refresh().name)  --> sea
---```
---@param db? perilune.database
---@param options? { fields?: string|string[] } lazy fields that are read, too
---@return perilune.record
---@raises record_not_found: the row has gone; unknown_column: the field does not exist
function record:refresh(db, options) end

---Returns what differs from the row, by column; of a record without a row everything that it has. As in `pairs(record)`, a field that is made
---of several is there by these, and computed fields are not.
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

---Returns what was fetched into the field of an association: a record, a list of records, or nil if no row belongs to the record. An
---association that was not included is an error here. `record.author` is the association itself then, which is true in a condition.
---```lua
---print(#Author:including_all(Author.books):find(1):included("books"))  --> 2
---```
---@param name string of the association
---@return perilune.record|perilune.record[]|nil
---@raises not_fetched: the association was not included; unknown_association: the class has none of that name
function record:included(name) end

---Returns another record with the same fields, some of which may be changed.
---```lua
---print(Tag:find(1):copy().name, Tag:find(1):copy{ name = "lake" }.name)  --> sea	lake
---```
---@param changes? table<string, any> fields of the copy
---@return perilune.record
---@raises argument: the changes are not a table; unknown_column: a field does not exist
function record:copy(changes) end

---Notes, in the method `validate` of a class, what is wrong with the record.
---```lua
---function Tag:validate()
---  if self.name == "" then self:invalid("name", "must not be empty") end
---end
---print(select(2, pcall(Tag.insert, Tag, { name = "" })).message)  --> tag: name must not be empty
---```
---@param column? string
---@param message string
---@raises validation: it is called outside of `validate`
function record:invalid(column, message) end

---Returns what is wrong with the record, without writing it.
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

---Returns another draft with the same fields.
---```lua
---local draft = Tag.draft{ name = "ships" }
---print(draft:copy().name)  --> ships
---```
---@return perilune.draft
---@raises none
function draft:copy() end

---Returns what is wrong with the draft, as `validate` of its class finds it.
---```lua
---print(#Tag.draft{ name = "ships" }:validation_errors())  --> 0
---```
---@param db? perilune.database
---@return { column?: string, message: string }[]
---@raises argument: `db` is not a database
function draft:validation_errors(db) end

---Methods that a class may define, called when its records are written. What a hook raises ends the write, which is then undone.
---The hooks of an insert run in this order: `will_save`, `around_save`, `will_insert`, `validate`, `around_insert`, `did_insert`,
---`did_save`; those of an update likewise.
---@class perilune.record_hooks
---@access inside a transaction or a savepoint of the write
---@raises hook: an around hook does not call its function exactly once, or hooks write records more than 16 deep
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

---Is called after a record was inserted.
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

---Is called around the SQL of the write; it must call `write` once.
---```lua
---function Tag:around_update(write, db, columns)
---  write()
---  print(self.name)
---end
---Tag:find(1):update_changes{ name = "ocean" }  --> ocean
---```
---@param write fun()
---@param db perilune.database
---@param columns table<string, true> the columns that are written, also as a list
function hooks:around_update(write, db, columns) end

---Is called after a record was updated.
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

---Is called after a record was deleted.
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

---Is called after a record was saved.
---```lua
---function Tag:did_save(db)
---  print(self.name)
---end
---Tag:insert{ name = "ships" }  --> ships
---```
---@param db perilune.database
function hooks:did_save(db) end

---Is called before a record is written; it calls `self:invalid(column, message)` for what is wrong, which refuses the write.
---```lua
---function Tag:validate()
---  if #self.name > 20 then self:invalid("name", "is too long") end
---end
---print((pcall(Tag.insert, Tag, { name = ("x"):rep(21) })))  --> false
---```
---@param db perilune.database
function hooks:validate(db) end

---Is called with each record that was fetched.
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
---print((Tag:statement("insert", { name = "ships" }):sql()))  --> INSERT INTO "tag" ("name") VALUES (?)
---```
---@return string
---@return table arguments with a field `n`
function statement:sql() end

---Executes the write.
---```lua
---print(Tag:statement("insert", { name = "ships" }):execute().changed_rows)  --> 1
---```
---@param db? perilune.database
---@return perilune.execute_result
function statement:execute(db) end

---Executes the write, and returns all rows that `returning` gives, as a list.
---```lua
---local statement = Tag:statement("insert", { name = "ships" }, { returning = "id" })
---print(statement:fetch_all()[1].id)  --> 3
---```
---@param db? perilune.database
---@return perilune.row[]
function statement:fetch_all(db) end

---Executes the write, and returns the first row that `returning` gives, or nil.
---```lua
---local statement = Tag:statement("insert", { name = "ships" }, { returning = "id" })
---print(statement:fetch_one().id)  --> 3
---```
---@param db? perilune.database
---@return perilune.row?
function statement:fetch_one(db) end

---Executes the write, and returns the first value that `returning` gives, or nil.
---```lua
---local statement = Tag:statement("insert", { name = "ships" }, { returning = "id" })
---print(statement:fetch_value())  --> 3
---```
---@param db? perilune.database
---@return any
function statement:fetch_value(db) end

---Executes the write, and returns the first column of what `returning` gives, as a list.
---```lua
---local statement = Tag:statement("insert", { name = "ships" }, { returning = "id" })
---print(statement:fetch_values()[1])  --> 3
---```
---@param db? perilune.database
---@return any[]
function statement:fetch_values(db) end

---A query of records, made by `Class:from_sql`.
---@class perilune.sql_request
---@access any
---@raises sql: SQLite refuses the statement; argument: the arguments do not fit the placeholders
local from_sql = {}

---Returns all records.
---```lua
---print(#Book:from_sql("SELECT * FROM book WHERE pages > ?", 300):fetch_all())  --> 2
---```
---@param db? perilune.database
---@return perilune.record[]
function from_sql:fetch_all(db) end

---Returns the first record, or nil.
---```lua
---print(Book:from_sql("SELECT * FROM book WHERE pages > ?", 500):fetch_one().title)  --> Moby-Dick
---```
---@param db? perilune.database
---@return perilune.record?
function from_sql:fetch_one(db) end

---Returns how many rows the query has.
---```lua
---print(Book:from_sql("SELECT * FROM book WHERE pages > ?", 300):fetch_count())  --> 2
---```
---@param db? perilune.database
---@return integer
function from_sql:fetch_count(db) end

---Iterates over the records.
---```lua
---for book in Book:from_sql("SELECT * FROM book WHERE pages > ?", 500):rows() do print(book.title) end  --> Moby-Dick
---```
---@param db? perilune.database
---@return fun(): perilune.record?
function from_sql:rows(db) end

---Makes a class for a table with one row at most: settings, for example. A column that is NULL reads as its default, and an update
---inserts the row that it needs.
---```lua
---db:create_table("settings", function(t)
---  t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
---  t:column("theme", "text")
---end)
---local Settings = perilune.single_row("settings", { defaults = { theme = "light" } })
---Settings:find():update_changes(function(settings) settings.theme = "dark" end)
---print(Settings:find().theme)  --> dark
---```
---@param table_name string
---@param options? { defaults?: table<string, any|fun(object: perilune.single_row): any>, key?: string } and those of `perilune.record`; `key` is `"id"` by default
---@return perilune.single_row_class
---@raises argument: an option is not valid
function perilune.single_row(table_name, options) end

---The class that `perilune.single_row` makes. Its objects have the columns as fields, and the methods of records; methods and hooks defined on
---the class are those of its objects. As JSON, as text and in `pairs`, an object has its defaults, too.
---@class perilune.single_row_class
---@access any
---@overload fun(fields?: table<string, any>): perilune.single_row
---@field record perilune.record_class the class of the records behind, for associations
local SingleRow = {}

---Returns the row, or an object with the defaults if there is none.
---```lua
---db:execute("CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), theme TEXT)")
---print(perilune.single_row("settings", { defaults = { theme = "light" } }):find().theme)  --> light
---```
---@param db? perilune.database
---@return perilune.single_row
---@raises unknown_table: the table does not exist
function SingleRow:find(db) end

---The object of the row.
---@class perilune.single_row: perilune.record
---@access any
local single_row = {}

---Forgets what was chosen in columns, or in all. The next write stores it.
---```lua
---db:execute("CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), theme TEXT)")
---local Settings = perilune.single_row("settings", { defaults = { theme = "light" } })
---local settings = Settings{ theme = "dark" }
---print(settings:reset("theme").theme)  --> light
---```
---@param ... string columns
---@return perilune.single_row
---@raises unknown_column: the column does not exist
function single_row:reset(...) end

---The columns of the row that an upsert was to insert, for its option `update`: `perilune.excluded.price`.
---@class perilune.excluded
---@field [string] perilune.expression
