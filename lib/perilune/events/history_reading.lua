--- Reading of histories: the rows of a table at an earlier time, and the versions of a record.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local sql_text = require "perilune.runtime.sql_text"
local record_class = require "perilune.records.class"
local record_fields = require "perilune.records.fields"
local native_requests = require "perilune.native.requests"
local expression_building = require "perilune.expressions.swift_bridge"
local expression = require "perilune.expressions.expression"
local request = require "perilune.requests.request"
local sources = require "perilune.requests.source"
local request_building = require "perilune.requests.swift_bridge"
local history_keeping = require "perilune.schema.history_keeping"
local history_tables = require "perilune.schema.history_tables"
local history_versions = require "perilune.schema.history_versions"

local history_reading = {}

function history_reading.require_installed(db, table_name, place)
  if db:table_exists(history_tables.name_of(table_name)) then return end
  errors.raise("history", place .. ": the history of `" .. table_name .. "` is not installed; use history:install(db) in a migration",
    { table = table_name })
end

--- Returns the schema of a class's table. Raises if its history lacks some of its columns.
function history_reading.schema_of(db, table_name, place)
  local schema = history_keeping.schema_of(db, table_name, place)
  history_reading.require_installed(db, schema.name, place)
  local unknown = history_versions.unknown_columns(db, schema)[1]
  if unknown then
    errors.raise("history", ("%s: the history of `%s` does not have the column `%s`; use history:install(db) to bring it up to date")
      :format(place, schema.name, unknown), { table = schema.name })
  end
  return schema
end

--- Returns the list of columns for a SELECT: each column has a prefix such as `h.`, and keeps its name in the result.
local function select_list(schema, prefix)
  local terms = {}
  for index, name in ipairs(history_versions.column_names(schema)) do
    terms[index] = prefix .. sql_text.name(name) .. " AS " .. sql_text.name(name)
  end
  return table.concat(terms, ", ")
end

--- Returns a time as a date; raises for other values.
local function time_text(time, place)
  local is_time, date = pcall(perilune.date, time)
  if not is_time then checks.fail(place, "expected a date, got " .. errors.describe(time)) end
  return date
end

request_building.add_steps{ ["as of"] = function(node, built, context)
  local schema = history_reading.schema_of(context.db, node.root.source.table, "as_of")
  local rows = history_versions.last(schema, select_list(schema, ""), "history_day <= julianday(?)")
  return native_requests.reading(built, rows, expression_building.build_all(node.shape.operands, context))
end }

--- Returns a request for the rows that existed at a time.
local function as_of(self, time, surplus)
  local place = "as_of"
  if surplus ~= nil then checks.fail(place, "takes one argument, a time") end
  if self.node ~= self.node.root or not self.node.root.source.class then
    checks.fail(place, "must be the first, as in Class:as_of(time):filter{...}")
  end
  local moment = expression.list_operation("arguments", nil, { time_text(time, place), n = 1 }, place)
  return request.derive_with(self, "as of", moment)
end

request.add_verbs{ as_of = as_of }

--- Returns a request for the rows of a class that existed at a time, with the class's default scope.
function history_reading.as_of(class, ...)
  return sources.scoped(class, request.verbs.as_of(sources.unscoped_request(class), ...))
end

local function stored_key(class, db, schema, target)
  local details, key = require("perilune.records.column_details").of_class(class, db), {}
  for index, name in ipairs(schema.primary_key.columns) do
    key[index] = require("perilune.records.values").stored(details, target, record_fields.of_column(details.schema, name))
  end
  return key
end

--- Returns the names of the columns that differ between two rows, in table order.
local function changed_columns(schema, view, before, row)
  local changed = {}
  for _, name in ipairs(history_versions.column_names(schema)) do
    local old, new = before and before[name], row[name]
    if old ~= new then changed[#changed + 1] = record_fields.of_column(view, name) end
  end
  return changed
end

local version_fields = { "version", "operation", "time", "transaction", "note", "record", "changed" }
local is_version_field = {}
for _, name in ipairs(version_fields) do is_version_field[name] = true end

--- A version, whose other fields raise an error.
local Version = { __name = "version", __index = function(_, name)
  if type(name) ~= "string" or is_version_field[name] then return nil end
  require("perilune.runtime.other_names").raise("version", "field", name, table.move(version_fields, 1, #version_fields, 1, {}))
end }

--- Returns the versions of a record's row, the oldest one first.
function history_reading.versions(class, target, db)
  local place = "history"
  db = checks.database(place, db)
  local schema = history_reading.schema_of(db, record_class.info(class).table, place)
  local columns, key = select_list(schema, "h."), stored_key(class, db, schema, target)
  local source = (" FROM %s AS h LEFT JOIN perilune_transaction AS t ON t.id = h.history_transaction WHERE %s ORDER BY h.history_version"):format(
    sql_text.name(history_tables.name_of(schema.name)), history_versions.same_key(schema, "h.%s IS ?"))
  local rows = db:fetch_all("SELECT h.history_version, h.history_operation, h.history_transaction, t.note AS history_note, "
    .. history_versions.time_text .. " AS history_day, " .. columns .. source, key)
  local found = class:fetch_all(db, "SELECT " .. columns .. source, table.unpack(key))
  local versions, before, view = {}, nil, record_fields.view(record_class.info(class), schema)
  for index, row in ipairs(rows) do
    local operation = row.history_operation
    versions[index] = setmetatable({
      version = row.history_version, operation = operation, time = row:date("history_day"), transaction = row.history_transaction, note = row.history_note,
      record = operation ~= "delete" and found[index] or nil, changed = operation == "update" and changed_columns(schema, view, before, row) or {},
    }, Version)
    before = row
  end
  return versions
end

return history_reading
