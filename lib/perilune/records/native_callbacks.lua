--- The Lua functions that C calls for records. CPeriluneRecords/Model/callbacks.h lists the same names. C looks up the functions
-- when this module is loaded.

local record_class = require "perilune.records.class"
local record_columns = require "perilune.records.columns"
local record_failures = require "perilune.records.failures"
local fetching = require "perilune.records.fetching"
local record_keys = require "perilune.records.keys"
local record_types = require "perilune.records.types"
local writing = require "perilune.records.writing"

---@class perilune.native_callbacks
local callbacks = {}

-- Classes

--- Creates the table layout of a class for a database, and stores it.
---@type fun(class: table, db: perilune.database): perilune.table_layout
callbacks.table_layout = record_class.make_table_layout

--- Returns the name of a class for messages.
---@type fun(class: table): string
callbacks.name = record_class.name

--- Returns the value of a field that a record does not have; raises for a name that is not a column.
---@type fun(class: table, name: any, record: table): any
callbacks.missing = record_class.missing

--- Raises unless a record may have a field; returns false if the field is computed and has been assigned.
---@type fun(class: table, record: table, name: any, value: any): boolean
callbacks.assign = record_class.assign

--- Called when a record is called: returns the request of the association whose field contains it.
---@type fun(record: table, owner: any, ...: any): any
callbacks.call_record = record_class.call

-- Writing

--- Returns the SQL of a write.
---@type function
callbacks.write_sql = require("perilune.records.sql").write

--- Returns whether the fields of a record are columns of the table that it is written to.
---@type fun(record: table, description: table, raises: boolean): boolean
callbacks.check_fields = record_columns.check_fields

--- Adds the columns that a record's row turned out to have.
---@type fun(record: table, layout: perilune.table_layout, values: table, is_whole?: boolean)
callbacks.widen = record_columns.widen

--- Converts an element of the list passed to `insert_all` to a record.
---@type fun(class: table, value: any): table
callbacks.list_record = writing.list_record

-- Reading

--- Converts fields to dates that C could not read.
---@type fun(record: table)
callbacks.read_dates = record_types.read_dates

--- Returns the result of a verb after C has found no row for a key: another row, nil or an error.
---@type fun(verb: string, class: table, db: perilune.database?, key: any, looks_again: boolean): table?
callbacks.key_missed = fetching.key_missed

-- Errors

--- Raises for a record, or a record in a list, with a value other than a boolean in a boolean column.
---@type fun(made: any)
callbacks.raise_type_mismatch = record_columns.raise_type_mismatch

--- Raises for a value that cannot be stored.
---@type fun(description: table, record: table?, position: integer, expected: string, value: any)
callbacks.raise_value = record_failures.raise_value

--- Returns the value that SQLite will store if it converts the given value; otherwise nil. Raises for a value that does not fit the
--- column's declared type, unless the row already has this value.
---@type fun(description: table, record: table?, position: integer, value: any): (integer|number|string)?
callbacks.check_value = record_failures.check_value

--- Adds details about the record to an error of a constraint.
---@type fun(err: any, description: table, record: table)
callbacks.explain = record_failures.explain

--- Adds the position of a list element to the error that it caused.
---@type fun(err: any, position: integer)
callbacks.add_list_index = record_failures.add_list_index

--- Raises an error that no row has the key of a record.
---@type fun(description: table, values: table)
callbacks.raise_not_found = record_failures.raise_not_found

--- Raises an error that a record or its table has no key.
---@type fun(verb: string, description: table)
callbacks.raise_no_key = record_failures.raise_no_key

--- Raises if the key of a record differs from the key of its row.
---@type fun(verb: string, description: table, record: table)
callbacks.check_kept_key = record_keys.check_kept

-- Verbs for which C handles only the most common calls, and passes all others to Lua. They receive the arguments of the script.

---@type function
callbacks.insert = writing.insert
---@type function
callbacks.update = writing.update
---@type function
callbacks.save = writing.save
---@type function
callbacks.delete = writing.delete
---@type function
callbacks.exists = writing.exists
---@type function
callbacks.find = fetching.find
---@type function
callbacks.fetch_one = fetching.fetch_one

function callbacks.update_changes(...) return require("perilune.records.update_changes").update_changes(...) end

--- Writes the changed columns of a record that has read its row.
---@param target table
---@return boolean
function callbacks.write_changes(target) return require("perilune.records.update_changes").write_changes(target) end

return callbacks
