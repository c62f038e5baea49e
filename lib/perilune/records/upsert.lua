--- Upsert: one statement that inserts a record, or updates the row that it conflicts with.
--
-- Options: `target`, the columns of the unique key that decides about conflicts (any key by default, see upsert_keys.lua);
-- `target_where`, the condition of the partial index on the columns of `target`; `update`, the columns taken from the record: "all"
-- (all that it has, the default), "none", or a table of columns, and of values or expressions by column; `except`, columns that are
-- not taken; `where`, a condition for updating: SQL, a list of SQL and its arguments, or an expression. In SQL, `excluded` is the
-- row that could not be inserted.

local null = require("perilune.native.values").null
local native_records = require "perilune.native.records"
local record_description = require "perilune.records.description"
local behaviours = require "perilune.records.behaviours"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local upsert_sql = require "perilune.records.upsert_sql"

local record_upsert = {}

--- Returns the clause with which the INSERT of a record updates the conflicting row.
-- @param values the stored values, or nil for the fields of the record
-- @return the clause and its bound values: alternately the position of a column, or 0, and a value. Nothing if the record is only
--   inserted.
function record_upsert.clause(info, target, db, values, options)
  local details = column_details.of_class(info.class, db)
  local given = native_records.inserted_columns(target, db, values)
  for column in pairs(type(options and options.update) == "table" and options.update or {}) do
    if not details.declared[column] then details = column_details.with_column(info.class, db, column) end
  end
  local has_row = native_records.knows_row(target)
  -- In columns for which the record has only a default, an existing row keeps its values.
  local defaulted = has_row and {} or behaviours.defaulted_columns(target)
  local clause, parameters = upsert_sql.make(details, given, options or {}, has_row, defaulted)
  if not clause then return nil end
  local bound, positions = {}, details.description.positions
  for _, parameter in ipairs(parameters) do
    local value, column = parameter.value, parameter.column
    if column then value = record_values.store(details, target, column, value) end
    bound[#bound + 1] = column and positions[record_description.fold(column)] or 0
    bound[#bound + 1] = value == nil and null or value
  end
  return clause, bound
end

return record_upsert
