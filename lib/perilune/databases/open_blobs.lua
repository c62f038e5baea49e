--- Open blobs: reading and writing blobs and texts in pieces, without loading them completely.

local blobs = require "perilune.native.blobs"
local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local native_observation = require "perilune.native.observation"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"
local sql_text = require "perilune.runtime.sql_text"

--- The functions that scripts call.
local public = {}

local place = "db:open_blob"

--- The default number of bytes in a piece.
local piece_size = 64 * 1024

--- Raises unless the table is an ordinary table that stores its own rows. SQLite would open blobs for writing even in tables that
-- statements cannot change: the schema, and the internal tables of full-text search.
local function check_table(db, schema)
  local kind = db:fetch_value("SELECT type FROM pragma_table_list(?) WHERE schema = ?", schema.name, schema.database)
  if sql_names.fold(schema.name):find("^sqlite_") then kind = "system" end
  if kind ~= "table" then
    kind = "a " .. kind .. (kind == "view" and "" or " table")
    checks.fail(place .. ": argument 1", ("`%s` is %s; only tables that store their rows themselves have blobs to open"):format(
      schema.name, kind))
  end
  if schema.without_rowid then
    checks.fail(place .. ": argument 1", ("`%s` is a table WITHOUT ROWID; fetch the value as a whole"):format(schema.name))
  end
end

--- Raises unless the value exists and is a blob or text. The statement that checks this also makes observations depend on the row.
local function check_value(db, schema, column, rowid)
  local type = db:fetch_value(("SELECT typeof(%s) FROM %s.%s WHERE %s = ?"):format(
    sql_text.name(column), sql_text.name(schema.database), sql_text.name(schema.name), schema.row_id_names[1] or "rowid"), rowid)
  if type == nil then
    errors.raise("not_found", ("%s: no row of `%s` has the row id %d"):format(place, schema.name, rowid), { table = schema.name })
  end
  if type ~= "blob" and type ~= "text" then
    checks.fail(place, ("the value of `%s` is %s, and only blobs and texts can be opened; store zeroblob(size) first"):format(
      column, type == "null" and "NULL" or "of type " .. type))
  end
end

--- Opens the value of one column in one row. It stays open until the block ends.
-- @tparam string name the name of the table
-- @tparam string column
-- @tparam integer rowid
-- @tparam ?table options `write`: whether it may be written
function public:open_blob(name, column, rowid, options)
  if type(name) ~= "string" then checks.fail(place .. ": argument 1", "expected the name of a table, got " .. errors.describe(name)) end
  if type(column) ~= "string" then checks.fail(place .. ": argument 2", "expected the name of a column, got " .. errors.describe(column)) end
  if math.type(rowid) ~= "integer" then
    checks.fail(place .. ": argument 3", "expected a row id, which is an integer, got " .. errors.describe(rowid))
  end
  options = checks.options(place, options, { write = "boolean" })
  local schema = native_schema.table(self, name)
  check_table(self, schema)
  column = checks.column(schema, column)
  check_value(self, schema, column, rowid)
  local blob = blobs.open(self, schema.database, schema.name, column, rowid, options.write or false)
  if options.write then native_observation.notify(self, { schema.name }) end
  return blob
end

--- Returns an iterator over the remaining bytes of a blob, in pieces.
-- @tparam ?integer size the number of bytes in each piece except the last
function blobs.methods:pieces(size)
  if size == nil then size = piece_size end
  if math.type(size) ~= "integer" or size < 1 then
    checks.fail("blob:pieces: argument 1", "expected the number of bytes, which is an integer of at least 1, got " .. errors.describe(size))
  end
  return function() return self:read(size) end
end

require "perilune.runtime.unknown_methods"(blobs.methods, "open_blob")

local arity = require "perilune.runtime.arity"
arity.limit(blobs.methods, "blob:", { read = 1, write = 1, seek = 2, size = 0, reopen = 1, close = 0, pieces = 1 })

return public
