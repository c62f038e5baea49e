--- Errors of constraints and of keys that are not integers. They are explained in terms of the written record: its table, columns
-- and key, so that a script can show the problem to the user.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local record_failures = require "perilune.records.failures"
local record_fields = require "perilune.records.fields"
local record_values = require "perilune.records.values"
local name = require("perilune.runtime.sql_text").name
local sql_names = require "perilune.runtime.names"
local stored_values = require "perilune.runtime.stored_values"

local record_errors = {}

--- Returns the columns whose names occur in an expression, in table order.
local function columns_in(details, expression)
  local words, columns = {}, {}
  for word in expression:gmatch("[%w_\x80-\xff]+") do words[sql_names.fold(record_fields.of_column(details.schema, word))] = true end
  for _, column in ipairs(details.columns) do
    if words[sql_names.fold(column)] then columns[#columns + 1] = column end
  end
  return #columns > 0 and columns or nil
end

local explanations = {}

--- SQLite reports the name of the constraint, or its expression.
function explanations.constraint_check(details, _, _, message)
  local constraint = message:match("^CHECK constraint failed: (.*)$")
  if not constraint then return end
  local is_name = constraint:find("^[%w_]+$") and not details.declared[record_fields.of_column(details.schema, constraint)]
  return { constraint = constraint, columns = not is_name and columns_in(details, constraint) or nil }
end

function explanations.constraint_unique(_, _, _, message)
  local index = message:match("^UNIQUE constraint failed: index '(.*)'$")
  return index and { constraint = index }
end

function explanations.constraint_datatype(details, _, _, message)
  local column = message:match("column [^.]*%.(.*)$")
  column = column and record_fields.of_column(details.schema, column)
  return column and details.declared[column] and { columns = { column } }
end

--- In tables that are not STRICT, only the column for the row id is limited to integers.
function explanations.mismatch(details, record, _, message)
  local position = details.description.rowid
  local column = position and details.description.columns[position]
  local value = column and rawget(record, column.name)
  if value == nil or value == null then return nil end
  return {
    columns = { column.name },
    message = ("%s: `%s`.`%s` accepts only integers, got %s")
      :format(message, details.schema.name, column.name, errors.describe(value)),
  }
end

--- Returns whether a table has a row with certain values in certain columns.
local function has_row(db, table_name, columns, values)
  local conditions = {}
  for index, column in ipairs(columns) do conditions[index] = name(column) .. " = ?" end
  local sql = "SELECT 1 FROM " .. name(table_name) .. " WHERE " .. table.concat(conditions, " AND ") .. " LIMIT 1"
  return db:fetch_value(sql, table.unpack(values, 1, #columns)) ~= nil
end

--- Returns the values of some columns of the record; nil if one of them is NULL.
local function stored_list(details, record, columns)
  local values = {}
  for index, column in ipairs(columns) do
    local value = rawget(record, column)
    if value == nil or value == null then return nil end
    values[index] = record_values.stored(details, record, column)
  end
  return values
end

--- Returns the foreign key of the record's table whose referenced row is missing.
local function missing_parent(details, record, db)
  for _, key in ipairs(details.schema.foreign_keys) do
    local values = stored_list(details, record, key.columns)
    if values and #key.referenced_columns == #values and not has_row(db, key.table, key.referenced_columns, values) then
      return { columns = key.columns, referenced_table = key.table, referenced_columns = key.referenced_columns }
    end
  end
end

--- Returns the fields for a list of columns.
local function fields_of(details, columns)
  local names = {}
  for index, column in ipairs(columns) do names[index] = record_fields.of_column(details.schema, column) end
  return names
end

--- Returns the foreign keys that refer to a table, with the name of their own table in the field `table_name`.
local function foreign_keys_to(db, referenced)
  local found = {}
  for _, table_name in ipairs(db:fetch_values([[
    SELECT DISTINCT m.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND lower(f."table") = lower(?) ORDER BY m.name]], referenced)) do
    for _, key in ipairs(native_schema.table(db, table_name).foreign_keys) do
      if sql_names.same(key.table, referenced) and #key.columns == #key.referenced_columns then found[#found + 1] = { table_name = table_name, key = key } end
    end
  end
  return found
end

--- Returns a list of columns as SQL.
local function column_list(columns)
  local names = {}
  for index, column in ipairs(columns) do names[index] = name(column) end
  return table.concat(names, ", ")
end

--- Returns the table whose rows refer to rows of a table, or to rows that would be deleted with them, and the table of the rows that
-- they refer to.
-- @tparam string condition the SQL condition for the rows, with the parameters `values`
-- @tparam table seen the tables that were searched
local function blocking_table(db, table_name, condition, values, seen)
  local cascades = {}
  seen[sql_names.fold(table_name)] = true
  for _, found in ipairs(foreign_keys_to(db, table_name)) do
    local key = found.key
    local referring = ("(%s) IN (SELECT %s FROM %s WHERE %s)"):format(column_list(key.columns), column_list(key.referenced_columns),
      name(table_name), condition)
    if key.on_delete == "cascade" then cascades[#cascades + 1] = { found.table_name, referring }
    elseif key.on_delete ~= "set null" and db:fetch_value(("SELECT 1 FROM %s WHERE %s LIMIT 1"):format(name(found.table_name), referring),
      table.unpack(values)) ~= nil then
      return found.table_name, table_name
    end
  end
  for _, cascade in ipairs(cascades) do
    if not seen[sql_names.fold(cascade[1])] then
      local found, referenced = blocking_table(db, cascade[1], cascade[2], values, seen)
      if found then return found, referenced end
    end
  end
end

--- Returns the table whose rows prevent the deletion of the record, and the table to which they refer.
local function referring_table(details, record, db)
  local columns, conditions = details.description.key, {}
  local names = details.schema.sql_names or {}
  local values = #columns > 0 and stored_list(details, record, columns)
  if not values then return nil end
  for index, column in ipairs(columns) do conditions[index] = name(names[column] or column) .. " = ?" end
  local found, referenced = blocking_table(db, details.schema.name, table.concat(conditions, " AND "), values, {})
  return found and { referring_table = found }, referenced
end

--- SQLite only reports that a foreign key failed; the rows show which one.
function explanations.constraint_foreign_key(details, record, db, message)
  local found = missing_parent(details, record, db)
  if found then
    found.message = ("%s: `%s` has no row for %s"):format(message, found.referenced_table, table.concat(found.columns, ", "))
    return found
  end
  local referenced
  found, referenced = referring_table(details, record, db)
  if found then
    found.message = ("%s: rows of `%s` refer to %s"):format(message, found.referring_table, sql_names.same(referenced, details.schema.name)
      and ("this one of `%s`"):format(details.schema.name)
      or ("rows of `%s`, which are deleted with this one of `%s`"):format(referenced, details.schema.name))
  end
  return found
end

-- Keys of softly deleted rows ------------------------------------------------------------------------------------------------------

--- Returns the key of a softly deleted row with the record's values in these columns; nil if no such row exists. Also returns nil if a row
-- that is not deleted has the same values: the index may cover only such rows, so that this row causes the conflict.
local function deleted_key(details, record, columns, db)
  local deleted_at = require("perilune.records.behaviours").option(details.description.class, "soft_delete")
  local values = deleted_at and stored_list(details, record, fields_of(details, columns))
  local key = details.schema.primary_key.columns
  if not values or #key == 0 then return nil end
  local conditions, names = {}, details.schema.sql_names or {}
  for index, column in ipairs(columns) do conditions[index] = name(column) .. " = ?" end
  local selected = {}
  for index, column in ipairs(key) do selected[index] = name(names[column] or column) .. " AS " .. name(column) end
  local time = name(names[deleted_at] or deleted_at)
  local row = db:fetch_one(("SELECT %s, %s AS \"is_deleted\" FROM %s WHERE %s ORDER BY %s IS NOT NULL"):format(table.concat(selected, ", "),
    time .. " IS NOT NULL", name(details.schema.name), table.concat(conditions, " AND "), time), table.unpack(values))
  if not row or row[#key + 1] == 0 then return nil end
  if #key == 1 then return stored_values.of_row(row, 1) end
  local found = {}
  for index, column in ipairs(key) do found[column] = stored_values.of_row(row, index) end
  return found
end

--- If a unique key conflicts with a softly deleted row, which requests do not show, returns additions to the error that explain this.
local function explain_deleted(kind, columns, details, record, db)
  if kind ~= "constraint_unique" and kind ~= "constraint_primary_key" or type(columns) ~= "table" then return {} end
  local key = deleted_key(details, record, columns, db)
  return { deleted_key = key, hint = key ~= nil and ("; a softly deleted row has the same %s: restore it by Class:unscoped():find(...):restore(), "
    .. "or give the unique index a condition that excludes it"):format(table.concat(fields_of(details, columns), ", ")) or nil }
end

--- Describes the row of an error for users.
local function row_text(details, key)
  local parts = {}
  for index, column in ipairs(details.schema.primary_key.columns) do
    local value = type(key) == "table" and key[column] or #details.schema.primary_key.columns == 1 and key or nil
    if value == nil then return ("a row of `%s`"):format(details.schema.name) end
    parts[index] = ("`%s` %s"):format(column, record_failures.show(value))
  end
  return ("the row of `%s`%s"):format(details.schema.name, #parts > 0 and " with " .. table.concat(parts, ", ") or "")
end

--- Returns SQLite's message with the names of fields instead of columns, which it reports as `table.column`.
local function with_fields(details, err)
  local message = err.message
  if not details.schema.field_names or type(err.columns) ~= "table" then return message end
  for _, column in ipairs(err.columns) do
    local own, prefix = record_fields.of_column(details.schema, column), details.schema.name .. "."
    local first, last = message:find(prefix .. column, 1, true)
    if first and own ~= column then message = message:sub(1, first - 1) .. prefix .. own .. message:sub(last + 1) end
  end
  return message
end

--- Replaces the columns that SQLite has reported with the fields of the class.
local function use_fields(details, err)
  if not details.schema.field_names or type(err.columns) ~= "table" then return end
  table.move(fields_of(details, err.columns), 1, #err.columns, 1, err.columns)
end

--- Adds fields to an error of a constraint: `table`, `key`, `columns`, `constraint`, `referenced_table`, `referring_table`. Returns
-- the error.
function record_errors.explain(err, details, record, db)
  local kind = type(err) == "userdata" and err.kind
  if type(kind) ~= "string" or not (kind:find("^constraint") or kind == "mismatch") then return err end
  -- A trigger may have written another table, whose error was explained already.
  if err.table ~= nil and err.table ~= details.schema.name then return err end
  local facts = { table = details.schema.name, key = record_values.key(details.schema, record) }
  local explain, message = explanations[kind], with_fields(details, err)
  local found = explain and explain(details, record, db, message) or {}
  for key, value in pairs(found) do facts[key] = value end
  local deleted = explain_deleted(kind, err.columns, details, record, db)
  facts.deleted_key = deleted.deleted_key
  facts.message = ("%s (%s)%s"):format(facts.message or message, row_text(details, facts.key), deleted.hint or "")
  use_fields(details, err)
  return errors.add_fields(err, facts)
end

--- Adds fields to the error of a statement that writes many rows of a table.
-- @param ?details the column details of the table, for a class
function record_errors.explain_many(err, table_name, details)
  local kind = type(err) == "userdata" and err.kind
  if type(kind) ~= "string" or not kind:find("^constraint") then return err end
  local message = details and with_fields(details, err) or err.message
  if details then use_fields(details, err) end
  -- The error is about a table written by a trigger, or about a record that was identified already.
  if err.table ~= nil then return message ~= err.message and errors.add_fields(err, { message = message }) or err end
  return errors.add_fields(err, { table = table_name, message = ("%s (a row of `%s`)"):format(message, table_name) })
end

return record_errors
