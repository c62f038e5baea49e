---@meta perilune.native.records
--- Records, implemented in C (CPeriluneRecords), which calls the Lua functions in records/native_callbacks.lua. A *model* is the C
-- representation of a record class; a *table layout* represents the table of a class in one database, and is made from a
-- *description* (records/description.lua).

---@alias perilune.model userdata
---@alias perilune.table_layout userdata

---@class perilune.native.records
local records = {}

-- Databases

--- Returns the innermost open access, or else the default database; raises if none exists.
---@return perilune.database
function records.default_database() end

--- Calls a function with another default database.
---@param db perilune.database
---@param ... any
---@return any ...
function records.with_default_database(db, ...) end

---@param value any
---@return boolean
function records.is_database(value) end

--- Returns whether a value is a prepared statement.
---@param value any
---@return boolean
function records.is_statement(value) end

---@param value any
---@return boolean
function records.is_row(value) end

--- Returns a number that changes with the schema.
---@param db perilune.database
---@return integer
function records.schema_generation(db) end

--- Returns the schema generation of the innermost access or the default database; nil if none exists.
---@return integer?
function records.current_generation() end

--- Returns a number that identifies the database, shared by all its handles.
---@param db perilune.database
---@return integer
function records.database_id(db) end

--- Makes the schema be read again, because it may have changed.
---@param db perilune.database
function records.touch_schema(db) end

--- Calls a function in its own access, or in the open access.
---@param db perilune.database
---@param mode "read"|"write"|"guard" guard: rolls back on errors
---@param f function
---@param ... any
---@return any ...
function records.with_access(db, mode, f, ...) end

-- Classes

--- Sets the Lua functions that C calls.
---@param functions perilune.native_callbacks
function records.set_callbacks(functions) end

--- Sets the methods that all records have.
---@param verbs table<string, function>
function records.set_record_verbs(verbs) end

---@param class table
---@param members table<string, any>
---@param known table<string, boolean> the names of fields that records may have
---@param base? perilune.model
---@param tracks_changes boolean
---@return perilune.model
function records.new_model(class, members, known, base, tracks_changes) end

---@param model perilune.model
---@param writes_in_lua? boolean
---@param decodes_in_lua? boolean
---@param reads_in_lua? boolean
function records.set_model(model, writes_in_lua, decodes_in_lua, reads_in_lua) end

--- Registers the name of a `belongs_to` association. If a record has a field with this name, Lua handles its writes.
---@param model perilune.model
---@param name string
function records.add_parent(model, name) end

--- Returns whether Lua must handle the writes and the fetches of the class.
---@param model perilune.model
---@return boolean writes_in_lua
---@return boolean decodes_in_lua
function records.model_flags(model) end

--- Returns the model of a class; nil for any other value.
---@param value any
---@return perilune.model?
function records.model_of(value) end

--- Returns the class of a record; nil for any other value.
---@param value any
---@return table?
function records.class_of(value) end

--- Clears cached lookups after methods, verbs or columns have changed.
---@param model perilune.model
function records.forget_found(model) end

--- Sets whether the table was found with different columns in different databases.
---@param model perilune.model
---@param differ boolean
function records.note_columns(model, differ) end

-- Table layouts

--- Creates a table layout. Without a database, it is for records whose table is not known yet.
---@param model perilune.model
---@param db? perilune.database
---@param description table
---@return perilune.table_layout
function records.make_table_layout(model, db, description) end

--- Stores a table layout as the current one of its database. Without a table layout, removes all of them.
---@param model perilune.model
---@param layout? perilune.table_layout
function records.keep_table_layout(model, layout) end

--- Keeps a table layout valid after a schema change that did not affect its table.
---@param layout perilune.table_layout
---@param generation integer
function records.renew_table_layout(layout, generation) end

--- Returns the table layouts of a class by database id, and the latest one.
---@param model perilune.model
---@return table<integer, perilune.table_layout> layout
---@return perilune.table_layout? latest
function records.table_layouts(model) end

--- Returns the description from which a table layout was made.
---@param layout perilune.table_layout
---@return table
function records.table_layout_description(layout) end

---@param layout perilune.table_layout
---@return integer
function records.table_layout_generation(layout) end

-- Records

--- Creates a record with these fields. Returns nil if a field is not a column, unless `is_lenient` is true.
---@param class table
---@param values? table<string, any>
---@param is_lenient? boolean
---@return table?
function records.new_record(class, values, is_lenient) end

--- Returns the function for calling a class. It creates records like `new_record`; `other` handles all other cases.
---@param model perilune.model
---@param other fun(class: table, ...: any): table
---@return function
function records.new_maker(model, other) end

--- Creates a record with values for these names, which need not be columns.
---@param layout perilune.table_layout
---@param names string[]
---@param values any[]
---@return table
function records.record_from(layout, names, values) end

--- Copies a record with its fields, its column set and its snapshot.
---@param record table
---@return table
function records.copy_record(record) end

--- Gives a record the column set and the snapshot of another record of its class.
---@param record table
---@param other table
function records.adopt_column_set(record, other) end

--- Sets a field that is not a column to nil, so that it is not looked up elsewhere. Used for an association that has no row.
---@param record table
---@param name string
function records.add_field(record, name) end

--- Restores a record to the state in which `copy_record` copied it.
---@param record table
---@param copy table
function records.restore_record(record, copy) end

--- Returns the description of the table for which a record was made, its fields, and whether it has all columns.
---@param record table
---@return table description
---@return string[] fields
---@return boolean is_whole
function records.record_schema(record) end

-- Snapshots

--- Returns the snapshot of a record, the stored values with which its fields are compared, and the columns in it. Returns nothing if the
--- record has no snapshot.
---@param record table
---@return table<string, any>? values
---@return string[]? columns
function records.snapshot(record) end

---@param record table
---@return boolean whether there is a snapshot
function records.knows_row(record) end

--- Returns the columns whose values differ from the snapshot; nil without a snapshot.
---@param record table
---@param values? table<string, any> the values to compare instead of the fields
---@return string[]?
function records.changed_columns(record, values) end

--- Sets the snapshot of a record, or removes it if no values are given.
---@param record table
---@param values? table<string, any>
function records.set_snapshot(record, values) end

-- Fields to write as NULL

--- Returns a field; perilune.null if it is nil but will be written as NULL.
---@param record table
---@param name string
---@return any
function records.stored_field(record, name) end

--- Sets fields from perilune.null to nil, and marks them to be written as NULL.
---@param record table
---@param kept? table<string, boolean> fields that keep perilune.null as their value
function records.take_nulls(record, kept) end

-- Verbs for scripts. C handles common cases itself, and otherwise calls the Lua function with the same name.

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

-- The following functions write without hooks and conversions. If `values` are given, they are written in place of the fields. `clause` is
-- "OR ..." or "ON CONFLICT ...", followed by "*" if the whole row is to be read back into the record.

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause? string
---@return boolean is_written false if the clause has prevented the insert
function records.raw_insert(record, db, values, clause) end

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause? string
---@param columns? string[] the columns to write
---@param key? table<string, any> the key of the row, if it differs from the record's
---@return boolean? is_written false if the clause has prevented the update, nil if there is no row
function records.raw_update(record, db, values, clause, columns, key) end

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause? string
---@param columns nil
---@param key nil
---@param insert_clause? string the clause of the INSERT if there is no row
---@return boolean is_written
function records.raw_save(record, db, values, clause, columns, key, insert_clause) end

---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@param clause string
---@param columns nil
---@param key nil
---@param bound any[] the parameters of the clause: alternating column positions, or 0, and values
---@return boolean is_written
function records.raw_upsert(record, db, values, clause, columns, key, bound) end

--- Deletes the row of a record. Afterwards the record counts as one without a row.
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

--- Returns the columns that an INSERT of the record writes.
---@param record table
---@param db? perilune.database
---@param values? table<string, any>
---@return string[]
function records.inserted_columns(record, db, values) end

--- Returns the columns that an UPDATE of the record writes.
---@param record table
---@param db? perilune.database
---@param with_key? boolean
---@return string[]
function records.updated_columns(record, db, with_key) end

---@return table[]
function records.raw_insert_all(...) end

--- Writes the changed columns of a record.
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

--- Fetches records with a prepared statement.
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

--- Returns a request verb that calls the function for requests that are not compiled.
---@param name "fetch_all"|"fetch_one"
---@param f function
---@return function
function records.request_verb(name, f) end

--- Makes a method of requests, or of the classes of sources. It returns cached derivations, and calls the function for all others.
---@param name "filter_key"|"filter"|"order"|"limit"
---@param f function
---@param sources? table<table, table> by class
---@return function
function records.derivation(name, f, sources) end

--- Returns the distinct keys of prefetched lists as JSON, or true if `wants_json` is false; and, for each key, the position of the first
-- parent that has it. Returns nothing if a key is not an integer.
---@param parents table[]
---@param name string
---@param wants_json boolean
---@return (string|true)? keys
---@return table<integer, integer>? positions
function records.prefetch_keys(parents, name, wants_json) end

--- Sets the list of children of each parent.
---@param parents table[]
---@param field string
---@param metatable? table
---@param name string
---@param positions table<integer, integer>
---@param children table[]
---@param key string|any[] the name of the children's key, or the list of their keys
function records.prefetch_lists(parents, field, metatable, name, positions, children, key) end

return records
