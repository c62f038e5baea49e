---@meta _
---@page Schema
---Creating tables, indexes, views and full-text tables, and inspecting the schema of a database.
---
---A block that defines or alters a table only collects definitions; the SQL runs when the block returns. If the block raises an error,
---nothing runs. Names are quoted, so any name is safe.

---@class perilune.database
---@access any
local db = {}

---Creates a table.
---```lua
---db:create_table("review", { strict = true }, function(t)
---  t:auto_incremented_primary_key("id")
---  t:belongs_to("book", { on_delete = "cascade" }):not_null()
---  t:column("text", "text"):not_null()
---end)
---print(db:columns("review")[2].name)  --> book_id
---```
---@param name string
---@param options? { if_not_exists?: boolean, temporary?: boolean, without_rowid?: boolean, strict?: boolean } may be left out
---@param block fun(t: perilune.table_definition)
---@raises definition: the definition contradicts itself; unknown_column: a key names a column that does not exist; sql: the table exists already
---@module schema.table_creation
function db:create_table(name, options, block) end

---Drops a table. For a synchronized full-text table, it also drops the triggers.
---```lua
---db:drop_table("book_tag")
---print(db:table_exists("book_tag"))  --> false
---```
---@param name string
---@param options? { if_exists?: boolean }
---@raises unknown_table: the table does not exist; definition: it is a view, has a history, or is a history
---@module schema.table_creation
function db:drop_table(name, options) end

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
---@param name string
---@param options? { dry_run?: boolean } may be left out; a dry run makes the changes, reverts them, and returns their statements
---@param block fun(t: perilune.table_alteration)
---@return string[]? statements the statements of a dry run; printed, they are SQL
---@raises unknown_table: the table does not exist; unknown_column: the column does not exist; definition: it is a view or a virtual table, or something would be lost; constraint_*: a row violates an added constraint; sql: SQLite cannot make the change
---@module schema.table_alteration
function db:alter_table(name, options, block) end

---Renames a table and its history, and updates the indexes, views, triggers and foreign keys that name it.
---```lua
---db:rename_table("tag", "label")
---print(db:table_exists("label"))  --> true
---```
---@param name string
---@param new_name string
---@raises unknown_table: the table does not exist; definition: a full-text table is synchronized with it, it is a history, or the name of its history is taken
---@module schema.table_alteration
function db:rename_table(name, new_name) end

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
---@param table_name string
---@param columns string|any[] a column is a name, an expression, a function of the columns, or a table with `desc`, `collate` or `sql`
---@param options? { name?: string, unique?: boolean, where?: any, if_not_exists?: boolean }
---@raises unknown_table: the table does not exist; unknown_column: the column does not exist; argument: an index on expressions has no name
---@module schema.indexes
function db:create_index(table_name, columns, options) end

---Drops an index of a table, given by its columns or its name.
---```lua
---db:create_index("book", { "year" })
---db:create_index("book", { "title" }, { name = "book_by_title" })
---db:drop_index("book", { "year" })
---db:drop_index("book", { name = "book_by_title" })
---print(#db:indexes("book"))  --> 0
---```
---@param table_name string
---@param columns? string|string[] may be left out if the options have a name
---@param options? { name?: string, if_exists?: boolean }
---@raises unknown_index: the index does not exist; definition: several indexes have these columns
---@module schema.indexes
function db:drop_index(table_name, columns, options) end

---Creates a view from SQL or from a request.
---```lua
---db:create_view("long_book", Book:filter(Book.c.pages:gt(500)))
---print(db:fetch_value("SELECT title FROM long_book"))  --> Moby-Dick
---```
---@param name string
---@param query string|perilune.request
---@param options? { columns?: string[], temporary?: boolean, if_not_exists?: boolean }
---@raises argument: the query is neither SQL nor a request; sql: SQLite refuses the query
---@module schema.view_creation
function db:create_view(name, query, options) end

---Drops a view.
---```lua
---db:create_view("title", "SELECT title FROM book")
---db:drop_view("title")
---print(db:view_exists("title"))  --> false
---```
---@param name string
---@param options? { if_exists?: boolean }
---@raises unknown_view: the view does not exist; definition: it is a table
---@module schema.view_creation
function db:drop_view(name, options) end

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
---@param name string
---@param options perilune.trigger_options
---@raises unknown_table: the table or view does not exist; unknown_column: the column does not exist; unknown_event: the event does not exist; definition: the options contradict each other or the table; argument: an option is not valid; sql: SQLite refuses it
---@module schema.trigger_creation
function db:create_trigger(name, options) end

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
---@param name string
---@param options? { if_exists?: boolean }
---@raises unknown_trigger: the trigger does not exist
---@module schema.trigger_creation
function db:drop_trigger(name, options) end

---Creates a table for full-text search with FTS5. A synchronized table follows the rows of another table by triggers, also
---for writes of other programs. It also follows rows that REPLACE deletes, if the unique key involved existed before the full-text table, or
---was created by `db:create_index`.
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
---@param name string
---@param options perilune.fts5_options
---@raises definition: the options contradict each other; unknown_column: the synchronized table has no column of that name; argument: an option is not valid
---@module schema.full_text
function db:create_fts5(name, options) end

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

---Removes the triggers that synchronize a full-text table, after the table was dropped or if it must not change any more.
---```lua
---db:create_fts5("book_text", {
---  synchronize_with = "book",
---  columns = { "title" },
---})
---db:drop_fts5_synchronization("book_text")
---print(#db:triggers("book"))  --> 0
---```
---@param name string the full-text table
---@raises argument: `name` is not a name
---@module schema.full_text
function db:drop_fts5_synchronization(name) end

---Makes a pattern for full-text search from text that users type. Operators in the text have no effect.
---```lua
---print(perilune.fts5_pattern('the "white whale'))  --> "the" "white" "whale"
---```
---@param text string
---@param kind? "all_words"|"any_word"|"all_prefixes"|"phrase"|"prefix_phrase" the words that must match: `"all_words"`, the default, in any order; `"all_prefixes"` suits search while users type; `"prefix_phrase"` matches at the beginning of a column
---@return string pattern matches nothing if the text contains no word
---@raises argument: `text` is not a string, or the kind is unknown
---@module schema.full_text_pattern
function perilune.fts5_pattern(text, kind) end

-- Reading the schema

---Returns the sorted names of the tables, without SQLite's own.
---```lua
---print(table.concat(db:tables(), ", "))  --> author, book, book_tag, tag
---```
---@return string[]
---@raises none
---@module schema.introspection
function db:tables() end

---Returns the sorted names of the views.
---```lua
---print(#db:views())  --> 0
---```
---@return string[]
---@raises none
---@module schema.introspection
function db:views() end

---Returns the triggers, sorted by name.
---```lua
---db:execute[[
---  CREATE TRIGGER guard BEFORE DELETE ON tag
---  BEGIN SELECT RAISE(ABORT, 'no'); END]]
---print(db:triggers("tag")[1].name)  --> guard
---```
---@param table_name? string only for this table
---@return { name: string, table: string, sql: string }[]
---@raises none
---@module schema.introspection
function db:triggers(table_name) end

---Returns whether a table with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:table_exists("book"))  --> true
---```
---@param name string in any case
---@return boolean
---@raises argument: `name` is not a string
---@module schema.introspection
function db:table_exists(name) end

---Returns whether a view with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:view_exists("book"))  --> false
---```
---@param name string in any case
---@return boolean
---@raises argument: `name` is not a string
---@module schema.introspection
function db:view_exists(name) end

---Returns whether an index with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:index_exists("book_by_title"))  --> false
---```
---@param name string in any case
---@return boolean
---@raises argument: `name` is not a string
---@module schema.introspection
function db:index_exists(name) end

---Returns whether a trigger with this name exists, including temporary ones and ones in attached databases.
---```lua
---print(db:trigger_exists("guard"))  --> false
---```
---@param name string in any case
---@return boolean
---@raises argument: `name` is not a string
---@module schema.introspection
function db:trigger_exists(name) end

---A column, as `db:columns` describes it.
---@class perilune.column_info
---@field name string
---@field type string as declared
---@field not_null boolean
---@field default string? SQL text
---@field primary_key integer? the position in the key, from 1
---@field hidden boolean
---@field generated "virtual"|"stored"|nil

---Returns the columns of a table or view in order.
---```lua
---print(db:columns("book")[3].name, db:columns("book")[3].not_null)
-----> title	true
---```
---@param table_name string
---@return perilune.column_info[]
---@raises unknown_table: the table or view does not exist
---@module schema.introspection
function db:columns(table_name) end

---Returns the primary key of a table: its columns, and whether the key is the row id.
---```lua
---print(#db:primary_key("book_tag").columns, db:primary_key("book").rowid)
-----> 2	true
---```
---@param table_name string
---@return { columns: string[], rowid: boolean }
---@raises unknown_table: the table does not exist
---@module schema.introspection
function db:primary_key(table_name) end

---Returns the indexes of a table. In the list of columns, `false` represents an expression.
---```lua
---print(db:indexes("author")[1].origin)  --> unique
---```
---@param table_name string
---@return { name: string, columns: (string|false)[], unique: boolean, partial: boolean, origin: "create index"|"unique"|"primary key" }[]
---@raises unknown_table: the table does not exist
---@module schema.introspection
function db:indexes(table_name) end

---Returns whether columns, in any order, are the primary key or have a unique index without a condition.
---```lua
---print(
---  db:has_unique_key("author", { "name" }),
---  db:has_unique_key("book", { "title" })
---)
-----> true	false
---```
---@param table_name string
---@param columns string[]
---@return boolean
---@raises unknown_table: the table does not exist; argument: `columns` is not a list
---@module schema.introspection
function db:has_unique_key(table_name, columns) end

---Returns the foreign keys of a table.
---```lua
---local key = db:foreign_keys("book")[1]
---print(key.table, key.columns[1], key.on_delete)
-----> author	author_id	cascade
---```
---@param table_name string
---@return { table: string, columns: string[], referenced_columns: string[], on_update: string, on_delete: string }[]
---@raises unknown_table: the table does not exist
---@module schema.introspection
function db:foreign_keys(table_name) end

---Returns the rows that violate a foreign key.
---```lua
---print(#db:foreign_key_violations())  --> 0
---```
---@param table_name? string only for this table
---@return { table: string, rowid: integer?, referenced_table: string, key: integer }[]
---@raises unknown_table: the table does not exist
---@module schema.introspection
function db:foreign_key_violations(table_name) end

---Returns the SQL that recreates the schema, as `perilune schema` writes it: tables, indexes, views and triggers, each in order of
---creation.
---```lua
---print(db:schema_sql():match("CREATE TABLE tag"))  --> CREATE TABLE tag
---print(db:schema_sql("tag"):match("CREATE TABLE book"))  --> nil
---```
---@param table_name? string only this table or view, with its indexes and triggers
---@return string
---@raises unknown_table: the table does not exist
---@module schema.introspection
function db:schema_sql(table_name) end

-- Defining tables

---The argument of the block of `db:create_table`.
---@class perilune.table_definition
---@access any
---@raises definition: the block has ended, or the definition contradicts itself; argument: an argument has the wrong type
local t = {}

---Adds a column. The type is one of these names or an SQL type, such as `varchar(20)` or `decimal(10, 2)`. Other words are errors, because
---SQLite would give them another meaning: a column of type `string` stores the text `01234` as the number 1234.
---```lua
---db:create_table("note", function(t)
---  t:column("text", "text"):not_null():default("")
---end)
---print(db:columns("note")[1].default)  --> ''
---```
---@param name string
---@param type? "text"|"integer"|"double"|"real"|"numeric"|"boolean"|"blob"|"date"|"datetime"|"json_text"|"jsonb"|"any"|string
---@return perilune.column_definition
---@raises unknown_type: SQLite gives the word another meaning
function t:column(name, type) end

---Adds an integer primary key that the database assigns and never reuses.
---```lua
---db:create_table("note", function(t)
---  t:auto_incremented_primary_key("id")
---end)
---print(db:primary_key("note").rowid)  --> true
---```
---@param name string
---@param options? { on_conflict?: string }
---@return perilune.column_definition
function t:auto_incremented_primary_key(name, options) end

---Sets the primary key: a new column, columns defined elsewhere, or all columns that a block defines.
---```lua
---db:create_table("seat", function(t)
---  t:column("row", "integer")
---  t:column("number", "integer")
---  t:primary_key{ "row", "number" }
---end)
---print(table.concat(db:primary_key("seat").columns, ", "))  --> row, number
---```
---@param first string|string[]|fun(t: perilune.table_definition) a new column, a list of columns (with `on_conflict`), or a block
---@param second? string|fun(t: perilune.table_definition) the type of the new column
---@param third? { on_conflict?: string }
---@return perilune.column_definition? column the new column
function t:primary_key(first, second, third) end

---Adds columns that refer to the primary key of another table, with an index. The columns are named `<name>_<key>`. In the block of a
---primary key, its first columns do not get a separate index.
---```lua
---db:create_table("review", function(t)
---  t:belongs_to("book", { on_delete = "cascade" }):not_null()
---end)
---print(db:foreign_keys("review")[1].columns[1])  --> book_id
---```
---@param name string the name of the parent row, which is also the table or its singular
---@param options? { table?: string, columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean, unique?: boolean, indexed?: boolean } `indexed` is true by default
---@return perilune.belongs_to_definition
function t:belongs_to(name, options) end

---Adds a foreign key on columns of the table.
---```lua
---db:create_table("page", function(t)
---  t:column("book", "integer")
---  t:foreign_key("book", "book", { on_delete = "set null" })
---end)
---print(db:foreign_keys("page")[1].on_delete)  --> set null
---```
---@param columns string|string[]
---@param table_name string
---@param options? { columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean } `columns` are the columns of the other table, by default its primary key
function t:foreign_key(columns, table_name, options) end

---Adds a unique key: no two rows may have the same values in all these columns.
---```lua
---db:create_table("seat", function(t)
---  t:column("row", "integer")
---  t:column("number", "integer")
---  t:unique_key{ "row", "number" }
---end)
---print(db:has_unique_key("seat", { "number", "row" }))  --> true
---```
---@param columns string|string[]
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback" the conflict policy
function t:unique_key(columns, policy) end

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
---@param condition string|perilune.expression|fun(c: table): any SQL, an expression, or a function of the columns
function t:check(condition) end

---Adds a constraint written in SQL.
---```lua
---db:create_table("pair", function(t)
---  t:column("a", "integer")
---  t:constraint("UNIQUE (a)")
---end)
---print(db:has_unique_key("pair", { "a" }))  --> true
---```
---@param sql string
function t:constraint(sql) end

---Adds a column written in SQL.
---```lua
---db:create_table("pair", function(t) t:column_sql("a INTEGER DEFAULT 7") end)
---print(db:columns("pair")[1].default)  --> 7
---```
---@param sql string
function t:column_sql(sql) end

---A column under definition. Its methods return it, so that calls can be chained.
---@class perilune.column_definition
---@access any
---@raises definition: the block has ended, or the column has the property already; argument: an argument has the wrong type
local column = {}

---Makes the column the primary key.
---```lua
---db:create_table("note", function(t)
---  t:column("id", "integer"):primary_key()
---end)
---print(db:primary_key("note").columns[1])  --> id
---```
---@param options? { on_conflict?: string, autoincrement?: boolean }
---@return perilune.column_definition
function column:primary_key(options) end

---Refuses NULL.
---```lua
---db:create_table("note", function(t) t:column("text", "text"):not_null() end)
---print(db:columns("note")[1].not_null)  --> true
---```
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@return perilune.column_definition
function column:not_null(policy) end

---Refuses a value that another row already has.
---```lua
---db:create_table("note", function(t) t:column("text", "text"):unique() end)
---print(db:has_unique_key("note", { "text" }))  --> true
---```
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@return perilune.column_definition
function column:unique(policy) end

---Adds an index on the column, named `<table>_on_<column>`.
---```lua
---db:create_table("note", function(t) t:column("text", "text"):indexed() end)
---print(db:index_exists("note_on_text"))  --> true
---```
---@return perilune.column_definition
function column:indexed() end

---Refuses rows for which a condition is false. It may be called several times.
---```lua
---db:create_table("item", function(t)
---  t:column("stock", "integer"):check(function(stock) return stock:ge(0) end)
---end)
---print((pcall(db.execute, db, "INSERT INTO item VALUES (-1)")))  --> false
---```
---@param condition string|perilune.expression|fun(column: perilune.expression): any
---@return perilune.column_definition
function column:check(condition) end

---Sets the default: the value for rows that are inserted without one.
---```lua
---db:create_table("item", function(t)
---  t:column("name", "text")
---  t:column("stock", "integer"):default(5)
---end)
---db:execute("INSERT INTO item (name) VALUES ('tea')")
---print(db:fetch_value("SELECT stock FROM item"))  --> 5
---```
---@param value perilune.argument `perilune.null` for NULL
---@return perilune.column_definition
function column:default(value) end

---Sets the default as SQL.
---```lua
---db:create_table("note", function(t)
---  t:column("made", "datetime"):default_sql("CURRENT_TIMESTAMP")
---end)
---print(db:columns("note")[1].default)  --> CURRENT_TIMESTAMP
---```
---@param sql string
---@return perilune.column_definition
function column:default_sql(sql) end

---Sets the collation that compares values of the column.
---```lua
---db:create_table("word", function(t)
---  t:column("text", "text"):collate("nocase")
---end)
---db:execute("INSERT INTO word VALUES ('Tea')")
---print(db:fetch_value("SELECT COUNT(*) FROM word WHERE text = 'TEA'"))  --> 1
---```
---@param name "binary"|"nocase"|"rtrim"|"localized_case_insensitive"|string
---@return perilune.column_definition
---@raises unknown_collation: the collation does not exist
function column:collate(name) end

---Computes the column from other columns.
---```lua
---db:create_table("item", function(t)
---  t:column("price", "integer")
---  t:column("gross", "integer"):generated_as("price * 2", "stored")
---end)
---db:execute("INSERT INTO item (price) VALUES (3)")
---print(db:fetch_value("SELECT gross FROM item"))  --> 6
---```
---@param expression string|perilune.expression|fun(c: table): any
---@param kind? "virtual"|"stored" `"virtual"`, the default, computes when the column is read
---@return perilune.column_definition
function column:generated_as(expression, kind) end

---Sets the values of existing rows for an added or changed column in `db:alter_table`.
---```lua
---db:alter_table("book", function(t)
---  t:add_column("century", "integer"):not_null():using(function(c)
---    return c.year / 100 + 1
---  end)
---end)
---print(db:fetch_value("SELECT century FROM book WHERE year = 1846"))  --> 19
---```
---@param expression string|perilune.expression|fun(c: table): any uses the columns before the change; columns that the same change renames have their new names
---@return perilune.column_definition
function column:using(expression) end

---Removes properties from a column that `t:change_column` changes.
---```lua
---db:alter_table("book", function(t)
---  t:change_column("title"):without("not_null")
---end)
---print(db:columns("book")[3].not_null)  --> false
---```
---@param ... "type"|"not_null"|"unique"|"check"|"default"|"collate"|"references"|"generated_as"
---@return perilune.column_definition
---@raises unknown_property: the property does not exist; definition: the column does not have it
function column:without(...) end

---Makes the column refer to another table.
---```lua
---db:create_table("page", function(t)
---  t:column("book_id", "integer")
---    :references("book", { on_delete = "cascade" })
---end)
---print(db:foreign_keys("page")[1].table)  --> book
---```
---@param table_name string
---@param options? { column?: string, on_delete?: string, on_update?: string, deferred?: boolean } actions are `"cascade"`, `"restrict"`, `"set null"`, `"set default"` and `"no action"`; a deferred key is checked when the transaction ends
---@return perilune.column_definition
---@raises unknown_table: the table does not exist; unknown_action: the action does not exist
function column:references(table_name, options) end

---A reference made by `t:belongs_to`. Its methods return it, so that calls can be chained.
---@class perilune.belongs_to_definition
---@access any
---@raises definition: the block has ended; argument: an argument has the wrong type
local belongs_to = {}

---Refuses rows without a parent row.
---```lua
---db:create_table("review", function(t) t:belongs_to("book"):not_null() end)
---print(db:columns("review")[1].not_null)  --> true
---```
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@return perilune.belongs_to_definition
function belongs_to:not_null(policy) end

---Allows at most one row for each row of the other table.
---```lua
---db:create_table("cover", function(t) t:belongs_to("book"):unique() end)
---print(db:has_unique_key("cover", { "book_id" }))  --> true
---```
---@return perilune.belongs_to_definition
function belongs_to:unique() end

---The argument of the block of `db:alter_table`.
---@class perilune.table_alteration
---@access any
---@raises definition: the block has ended, or the change contradicts the table; argument: an argument has the wrong type
local alteration = {}

---Adds a column after the others. A column that is not null needs a default, or `using`, if the table has rows.
---```lua
---db:alter_table("tag", function(t)
---  t:add_column("colour", "text"):not_null():default("blue")
---  t:add_column("slug", "text"):unique():using("upper(name)")
---end)
---print(db:fetch_value("SELECT colour || ' ' || slug FROM tag"))  --> blue SEA
---```
---@param name string
---@param type? string as for `t:column`
---@return perilune.column_definition
function alteration:add_column(name, type) end

---Adds a column written in SQL.
---```lua
---db:alter_table("tag", function(t)
---  t:add_column_sql("colour TEXT DEFAULT 'red'")
---end)
---print(db:fetch_value("SELECT colour FROM tag"))  --> red
---```
---@param sql string
function alteration:add_column_sql(sql) end

---Renames a column, and updates the indexes, views, triggers and foreign keys that name it.
---```lua
---db:alter_table("tag", function(t) t:rename_column("name", "label") end)
---print(db:fetch_value("SELECT label FROM tag ORDER BY id"))  --> sea
---```
---@param name string
---@param new_name string
---@raises unknown_column: the column does not exist
function alteration:rename_column(name, new_name) end

---Drops a column with the constraints in its own definition: `UNIQUE`, `CHECK`, `REFERENCES`. A column is not dropped if a separate key or
---check of the table, a check of another column, an index, a view or a trigger names it.
---```lua
---db:alter_table("book", function(t) t:drop_column("pages") end)
---print(#db:columns("book"))  --> 5
---```
---@param name string
---@raises unknown_column: the column does not exist; definition: something names it; sql: something names it
function alteration:drop_column(name) end

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
---@param name string
---@param type? string as for `t:column`; nil keeps it
---@return perilune.column_definition
---@raises unknown_column: the column does not exist; definition: values would change
function alteration:change_column(name, type) end

---Moves columns to the front, in the given order. The other columns keep their order.
---```lua
---db:alter_table("tag", function(t) t:order_columns{ "name" } end)
---print(db:columns("tag")[1].name)  --> name
---```
---@param names string|string[]
---@raises unknown_column: the column does not exist
function alteration:order_columns(names) end

---Makes columns the primary key of a table without one. Row ids do not change.
---```lua
---db:alter_table("book_tag", function(t)
---  t:drop_primary_key()
---  t:primary_key{ "tag_id", "book_id" }
---end)
---print(table.concat(db:primary_key("book_tag").columns, ", "))
-----> tag_id, book_id
---```
---@param columns string|string[] with `on_conflict`
---@raises unknown_column: the column does not exist; definition: the table has a primary key; constraint_*: rows have the same key
function alteration:primary_key(columns) end

---Removes the primary key; its columns become ordinary columns.
---```lua
---db:alter_table("book_tag", function(t) t:drop_primary_key() end)
---print(#db:primary_key("book_tag").columns)  --> 0
---```
---@raises definition: the table has no primary key
function alteration:drop_primary_key() end

---Adds a unique key, as in `db:create_table`.
---```lua
---db:alter_table("book", function(t) t:unique_key{ "author_id", "title" } end)
---print(db:has_unique_key("book", { "author_id", "title" }))  --> true
---```
---@param columns string|string[]
---@param policy? "abort"|"fail"|"ignore"|"replace"|"rollback"
---@raises unknown_column: the column does not exist; constraint_unique: rows agree in these columns
function alteration:unique_key(columns, policy) end

---Drops a unique key, whether it was defined for the table or with its column.
---```lua
---db:alter_table("author", function(t) t:drop_unique_key("name") end)
---print(db:has_unique_key("author", { "name" }))  --> false
---```
---@param columns string|string[] in the order of the key
---@raises definition: the key does not exist; unknown_column: the column does not exist
function alteration:drop_unique_key(columns) end

---Adds a foreign key, as in `db:create_table`.
---```lua
---db:alter_table("tag", function(t)
---  t:add_column("first_book", "integer")
---  t:foreign_key("first_book", "book", { on_delete = "set null" })
---end)
---print(db:foreign_keys("tag")[1].table)  --> book
---```
---@param columns string|string[]
---@param table_name string
---@param options? { columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean }
---@raises unknown_column: the column does not exist; unknown_table: the table does not exist; definition: rows violate it
function alteration:foreign_key(columns, table_name, options) end

---Drops a foreign key, whether it was defined for the table or with its column. If the same columns refer to several tables, name the table
---of the key to drop.
---```lua
---db:alter_table("book", function(t) t:drop_foreign_key("author_id") end)
---print(#db:foreign_keys("book"))  --> 0
---```
---@param columns string|string[]
---@param table_name? string the table that the key refers to
---@raises definition: the key does not exist, or there are several and no table is named; unknown_column: the column does not exist
function alteration:drop_foreign_key(columns, table_name) end

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
---@param name string
---@param options? { table?: string, columns?: string|string[], on_delete?: string, on_update?: string, deferred?: boolean, unique?: boolean, indexed?: boolean }
---@return perilune.belongs_to_definition
---@raises unknown_table: the table does not exist
function alteration:belongs_to(name, options) end

---Adds a condition that all rows must satisfy.
---```lua
---db:alter_table("book", function(t)
---  t:check(function(c) return c.year:gt(0) end)
---end)
---print((pcall(db.execute, db, "UPDATE book SET year = -1")))  --> false
---```
---@param condition string|perilune.expression|fun(c: table): any
---@raises constraint_check: a row does not satisfy it
function alteration:check(condition) end

---Drops a check of the table or of a column, given by the condition with which it was added.
---```lua
---db:alter_table("book", function(t) t:check("year > 0") end)
---db:alter_table("book", function(t) t:drop_check("year > 0") end)
---print((pcall(db.execute, db, "UPDATE book SET year = -1")))  --> true
---```
---@param condition string|perilune.expression|fun(c: table): any
---@raises definition: the check does not exist
function alteration:drop_check(condition) end

---Adds a constraint written in SQL.
---```lua
---db:alter_table("book", function(t)
---  t:constraint("CONSTRAINT printed CHECK (year > 1450)")
---end)
---print((pcall(db.execute, db, "UPDATE book SET year = 1000")))  --> false
---```
---@param sql string
---@raises sql: SQLite refuses it; constraint_*: a row violates it
function alteration:constraint(sql) end

---Drops a named constraint.
---```lua
---db:alter_table("book", function(t)
---  t:constraint("CONSTRAINT printed CHECK (year > 1450)")
---end)
---db:alter_table("book", function(t) t:drop_constraint("printed") end)
---print((pcall(db.execute, db, "UPDATE book SET year = 1000")))  --> true
---```
---@param name string
---@raises unknown_constraint: the constraint does not exist
function alteration:drop_constraint(name) end

---Turns the options STRICT and WITHOUT ROWID of the table on or off.
---```lua
---db:alter_table("book_tag", function(t) t:options{ strict = true } end)
---print(db:fetch_value("SELECT strict FROM pragma_table_list('book_tag')"))
-----> 1
---```
---@param options { strict?: boolean, without_rowid?: boolean }
---@raises definition: strict tables do not support the type of a column; sql: a table WITHOUT ROWID needs a primary key; constraint_*: a value does not fit its column
function alteration:options(options) end

---Adds an index, with columns and options as for `db:create_index`.
---```lua
---db:alter_table("book", function(t)
---  t:add_index({ "title", "year" }, { unique = true })
---end)
---print(db:indexes("book")[1].unique)  --> true
---```
---@param columns string|any[]
---@param options? { name?: string, unique?: boolean, where?: any, if_not_exists?: boolean }
---@raises unknown_column: the column does not exist
function alteration:add_index(columns, options) end
