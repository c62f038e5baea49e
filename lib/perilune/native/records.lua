---@meta perilune.native.records
--- Records. C (CPeriluneRecords) provides them; what it asks Lua for is in records/native_callbacks.lua. A *model* is what C keeps of a
-- record class; a *table layout* is what it keeps of the table of a class in one database, made from a *description* (records/description.lua).

---@alias perilune.model userdata
---@alias perilune.table_layout userdata

---@class perilune.native.records
local records = {}

-- Databases

--- The innermost open access, else the default database; raises if there is none.
---@return perilune.database
function records.default_database() end

--- Calls a function while another database is the default one.
---@param db perilune.database
---@param ... any
---@return any ...
function records.with_default_database(db, ...) end

---@param value any
---@return boolean
function records.is_database(value) end

--- Whether a value is a prepared statement.
---@param value any
---@return boolean
function records.is_statement(value) end

---@param value any
---@return boolean
function records.is_row(value) end

--- A number that changes with the schema.
---@param db perilune.database
---@return integer
function records.schema_generation(db) end

--- The generation of the schema of the innermost access, or of the default database; nil if there is none.
---@return integer?
function records.current_generation() end

--- A number for the database, the same for all its handles.
---@param db perilune.database
---@return integer
function records.database_id(db) end

--- Has the schema read again: it may be another one than is known.
---@param db perilune.database
function records.touch_schema(db) end

--- Calls a function in an access of its own, or in the one that is open.
---@param db perilune.database
---@param mode "read"|"write"|"guard" guard: what fails is undone
---@param f function
---@param ... any
---@return any ...
function records.with_access(db, mode, f, ...) end

-- Classes

--- Sets what C calls in Lua.
---@param functions perilune.native_callbacks
function records.set_callbacks(functions) end

--- Sets the methods that every record has.
---@param verbs table<string, function>
function records.set_record_verbs(verbs) end

---@param class table
---@param members table<string, any>
---@param known table<string, boolean> the names that records may have as fields
---@param base? perilune.model
---@param tracks_changes boolean
---@return perilune.model
function records.new_model(class, members, known, base, tracks_changes) end

---@param model perilune.model
---@param writes_in_lua? boolean
---@param decodes_in_lua? boolean
---@param reads_in_lua? boolean
function records.set_model(model, writes_in_lua, decodes_in_lua, reads_in_lua) end

--- Whether Lua has to see the writes of the class, and its fetches.
---@param model perilune.model
---@return boolean writes_in_lua
---@return boolean decodes_in_lua
function records.model_flags(model) end

--- The model of a class; nil for any other value.
---@param value any
---@return perilune.model?
function records.model_of(value) end

--- The class of a record; nil for any other value.
---@param value any
---@return table?
function records.class_of(value) end

--- Methods, verbs or columns have changed.
---@param model perilune.model
function records.forget_found(model) end

--- Whether the table has different columns in the databases where it was read.
---@param model perilune.model
---@param differ boolean
function records.note_columns(model, differ) end

-- Table layouts

--- Makes a table layout. Without a database it is one for records that are yet to be written to some table.
---@param model perilune.model
---@param db? perilune.database
---@param description table
---@return perilune.table_layout
function records.make_table_layout(model, db, description) end

--- Makes a table layout that of its database; without a table layout, forgets all.
---@param model perilune.model
---@param layout? perilune.table_layout
function records.keep_table_layout(model, layout) end

--- The schema has changed, but not for this table.
---@param layout perilune.table_layout
---@param generation integer
function records.renew_table_layout(layout, generation) end

--- The table layouts of a class by the id of their database, and the latest one.
---@param model perilune.model
---@return table<integer, perilune.table_layout> layout
---@return perilune.table_layout? latest
function records.table_layouts(model) end

--- The description that a table layout was made from.
---@param layout perilune.table_layout
---@return table
function records.table_layout_description(layout) end

---@param layout perilune.table_layout
---@return integer
function records.table_layout_generation(layout) end

-- Records

--- A record with these fields; nil if one of them is not a column, unless `is_lenient`.
---@param class table
---@param values? table<string, any>
---@param is_lenient? boolean
---@return table?
function records.new_record(class, values, is_lenient) end

--- What a class is called by: makes records as `new_record` does; what that cannot do, the function does.
---@param model perilune.model
---@param other fun(class: table, ...: any): table
---@return function
function records.new_maker(model, other) end

--- A record with the values by these names, which need not be columns.
---@param layout perilune.table_layout
---@param names string[]
---@param values any[]
---@return table
function records.record_from(layout, names, values) end

--- Another record with the same column set with the same fields, which knows the same of its row.
---@param record table
---@return table
function records.copy_record(record) end

--- A record gets the column set of another one of its class, and knows of its row what that one knows.
---@param record table
---@param other table
function records.adopt_column_set(record, other) end

--- Has a field of a record that is no column be nil, where it is not found elsewhere: an association without a row.
---@param record table
---@param name string
function records.add_field(record, name) end

--- A record becomes what it was when `copy_record` copied it.
---@param record table
---@param copy table
function records.restore_record(record, copy) end

--- The description of the table that a record was made for, the list of its fields, and whether it has all columns.
---@param record table
---@return table description
---@return string[] fields
---@return boolean is_whole
function records.record_schema(record) end

-- Snapshots

--- The stored values that a record is compared with, and the columns that it has; nothing if there is no snapshot.
---@param record table
---@return table<string, any>? values
---@return string[]? columns
function records.snapshot(record) end

---@param record table
---@return boolean whether there is a snapshot
function records.knows_row(record) end

--- The columns whose values are others than in the snapshot; nil without a snapshot.
---@param record table
---@param values? table<string, any> in place of the fields
---@return string[]?
function records.changed_columns(record, values) end

--- Takes values as those of the row; without values there is no snapshot any more.
---@param record table
---@param values? table<string, any>
function records.set_snapshot(record, values) end

-- Fields that are to be NULL

--- A field; perilune.null where it is nil and is to be written as NULL.
---@param record table
---@param name string
---@return any
function records.stored_field(record, name) end

--- Makes fields nil that hold perilune.null; they are to be written as NULL.
---@param record table
---@param kept? table<string, boolean> fields that keep perilune.null as their value
function records.take_nulls(record, kept) end

-- Verbs of scripts: C does what is usual by itself, and calls the function of the same name in Lua for anything else.

---@return any ...
function records.record_insert(...) end
---@return any ...
function records.record_update(...) end
---@return any ...
function records.record_save(...) end
---@return any ...
function records.record_delete(...) end
---@return boolean
function records.record_exists(...) end
---@return boolean
function records.record_update_changes(...) end
---@return table
function records.class_find(...) end
---@return table?
function records.class_fetch_one(...) end

-- Writes without hooks and conversions. `values` are written in place of the fields, `clause` is "OR ..." or "ON CONFLICT ...", with
-- "*" at its end if the whole row is to be read back into the record.

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause? string
---@return boolean is_written false if the clause has kept the row out
function records.raw_insert(record, db, values, clause) end

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause? string
---@param columns? string[] those that are written
---@param key? table<string, any> of the row, in place of that of the record
---@return boolean? is_written false if the clause has kept the row as it was, nil if there is none
function records.raw_update(record, db, values, clause, columns, key) end

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause? string
---@param columns nil
---@param key nil
---@param insert_clause? string for the INSERT where there is no row
---@return boolean is_written
function records.raw_save(record, db, values, clause, columns, key, insert_clause) end

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause string
---@param columns nil
---@param key nil
---@param bound any[] what the clause binds: the position of a column, or 0, and a value, in turn
---@return boolean is_written
function records.raw_upsert(record, db, values, clause, columns, key, bound) end

--- The record stands for no row after that.
---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause? "*"
---@return boolean is_deleted
function records.raw_delete(record, db, values, clause) end

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@return boolean
function records.raw_exists(record, db, values) end

--- The columns that an INSERT of the record writes.
---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@return string[]
function records.inserted_columns(record, db, values) end

--- The columns that an UPDATE of the record writes.
---@param record table
---@param db? perilune.database
---@param with_key? boolean
---@return string[]
function records.updated_columns(record, db, with_key) end

---@return table[]
function records.raw_insert_all(...) end

--- Writes what has changed of a record.
---@return boolean
function records.write_changes(...) end

-- Requests

---@param db perilune.database
---@param sql string
---@param class table
---@param ... any arguments
---@return table[]
function records.fetch_records(db, sql, class, ...) end

---@param db perilune.database
---@param sql string
---@param class table
---@param ... any arguments
---@return table?
function records.fetch_record(db, sql, class, ...) end

--- Iterates over records.
---@param db perilune.database
---@param sql string
---@param class table
---@param ... any arguments
function records.record_rows(db, sql, class, ...) end

--- The same for a prepared statement.
---@param statement userdata
---@param class table
---@param ... any arguments
---@return table[]
function records.fetch_statement_records(statement, class, ...) end

---@param statement userdata
---@param class table
---@param ... any arguments
---@return table?
function records.fetch_statement_record(statement, class, ...) end

---@param statement userdata
---@param class table
---@param ... any arguments
function records.statement_record_rows(statement, class, ...) end

---@param sql string
---@param class table
---@param generation integer
---@param slots integer[]
---@param constants table<integer, any> by their position among the slots
---@return userdata
function records.compiled_request(sql, class, generation, slots, constants) end

--- A verb of requests, which calls the function for those that are not compiled.
---@param name "fetch_all"|"fetch_one"
---@param f function
---@return function
function records.request_verb(name, f) end

--- A method of requests, or of the classes of sources, which calls the function for what it has not found made before.
---@param name "filter"|"order"|"limit"
---@param f function
---@param sources? table<table, table> by class
---@return function
function records.derivation(name, f, sources) end

--- The keys of prefetched lists: JSON, each once, or true if that is not wanted; and the position of the first parent for each.
-- Nothing if some key is not an integer.
---@param parents table[]
---@param name string
---@param wants_json boolean
---@return (string|true)? keys
---@return table<integer, integer>? positions
function records.prefetch_keys(parents, name, wants_json) end

--- Gives each parent a list with its children.
---@param parents table[]
---@param field string
---@param metatable? table
---@param name string
---@param positions table<integer, integer>
---@param children table[]
---@param key string|any[] the name of the children's key, or the list of their keys
function records.prefetch_lists(parents, field, metatable, name, positions, children, key) end

return records
