--- Upsert: one statement inserts a record, or updates the row that is in its way.
--
-- Options: `target`, the columns of the unique key that counts (the primary key by default); `target_where`, the condition of
-- the partial index that counts (`target` are its columns); `update`, what is taken from the
-- record: "all" (all columns that it has, the default), "none", or a table of columns, and of values by column; `except`, columns
-- that are not; `set`, SQL by column; `where`, a condition for updating: SQL, or a list of SQL and its arguments. In SQL,
-- `excluded` is the row that was to be inserted.

local null = require("perilune.native.values").null
local records = require "perilune.native.records"
local record_info = require "perilune.records.info"
local record_keys = require "perilune.records.keys"
local record_values = require "perilune.records.values"
local steps = require "perilune.records.steps"
local upsert_sql = require "perilune.records.upsert_sql"

local record_upsert = {}

--- Columns that the record has a value for, and these values.
local function given_values(info, target, db)
  local given, arguments, values = {}, {}, {}
  for _, column in ipairs(info.columns) do values[column] = record_values.bound(info, target, column) end
  values = steps.in_form_of_row(info, target, db, values)
  for _, column in ipairs(info.columns) do
    local value = values[column]
    if value ~= nil and not info.generated[column] then
      given[#given + 1] = column
      arguments[#arguments + 1] = value
    end
  end
  return given, arguments
end

--- The record is what its row is now, whatever of it was written.
local function take_row(class_info, info, target, db, row)
  local stored = {}
  for index, column in ipairs(info.columns) do stored[column] = row[index] end
  for _, column in ipairs(info.columns) do
    rawset(target, column, nil)
    rawset(target, column, record_values.read(info, target, column, stored[column]))
  end
  steps.note_row(class_info, target, db, stored, true)
end

--- Inserts the record, or updates the row that is in its way.
function record_upsert.run(class_info, target, db, options)
  db = db or records.default_database()
  local info = record_info.of_class(class_info.class, db)
  record_keys.check_kept("upsert", info.description, target)
  local given, arguments = given_values(info, target, db)
  for column in pairs(type(options and options.update) == "table" and options.update or options and options.set or {}) do
    if not info.declared[column] then info = record_info.with_column(class_info.class, db, column) end
  end
  local sql, bound = upsert_sql.make(info, given, options or {})
  if not sql then return steps.insert(class_info, target, db, options) end
  arguments.n = #given
  for _, argument in ipairs(bound) do
    local value = argument.value
    if argument.column then value = record_values.bind(info, target, argument.column, value) end
    arguments.n = arguments.n + 1
    arguments[arguments.n] = value
  end
  local row = steps.attempt(class_info, target, db, db.fetch_one, db, sql, arguments)
  if not row then return false end
  take_row(class_info, info, target, db, row)
  return true
end

--- Whether there is a row that the record would update.
function record_upsert.has_row(class_info, target, db, options)
  local info = record_info.of_class(class_info.class, db)
  local columns, arguments, parts = options and options.target or info.schema.primary_key.columns, {}, {}
  if type(columns) == "string" then columns = { columns } end
  for index, column in ipairs(type(columns) == "table" and columns or {}) do
    local value = rawget(target, column)
    if value == nil or value == null or not info.declared[column] then return false end
    parts[index] = record_values.condition(info, column, value, arguments)
  end
  if #parts == 0 then return false end
  local sql = ("SELECT 1 FROM %s WHERE %s"):format(info.description.source, table.concat(parts, " AND "))
  return db:fetch_value(sql, arguments) ~= nil
end

return record_upsert
