--- Full-text search with FTS5 tables.

local errors = require "perilune.native.errors"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local schema_changes = require "perilune.schema.changes"
local full_text_synchronization = require "perilune.schema.full_text_synchronization"
local sql_names = require "perilune.runtime.names"

--- The functions that scripts call.
local public = {}

--- Reads the list of columns: names, or tables such as `{ "body", unindexed = true }`. Returns their SQL and their names.
local function read_columns(name, list, place)
  place = place .. ": option `columns`"
  if type(list) ~= "table" or #list == 0 then
    checks.fail(place, "a full-text table needs at least one column, got "
      .. (type(list) == "table" and "an empty list" or errors.describe(list) .. (type(list) == "string" and ("; use { %q }"):format(list) or "")))
  end
  local arguments, names = {}, {}
  for index, column in ipairs(list) do
    local options
    if type(column) == "table" then
      options, column = checks.rest(column, 1), column[1]
    end
    options = checks.options(place, options, { unindexed = "boolean" })
    names[index] = column
    arguments[index] = sql_text.name(column, place) .. (options.unindexed and " UNINDEXED" or "")
    if sql_names.same(column, name) or sql_names.fold(column) == "rank" or sql_names.fold(column) == "rowid" then
      checks.fail(place, "no column can be called `" .. column .. "`, which FTS5 uses itself")
    end
  end
  return arguments, checks.names(place, names)
end

local function prefix_argument(list, place)
  place = place .. ": option `prefix`"
  if math.type(list) == "integer" then list = { list } end
  if type(list) ~= "table" or #list == 0 then
    checks.fail(place, "expected a list of lengths, got " .. errors.describe(list))
  end
  local lengths = table.move(list, 1, #list, 1, {})
  for _, length in ipairs(lengths) do
    if math.type(length) ~= "integer" or length < 1 or length > 999 then
      checks.fail(place, "expected a length from 1 to 999, got " .. errors.describe(length))
    end
  end
  table.sort(lengths)
  return "prefix=" .. sql_text.literal(table.concat(lengths, " "))
end

local function detail_argument(detail, place)
  return "detail=" .. checks.choice(place .. ": option `detail`", "detail", detail, { "full", "column", "none" }):lower()
end

local function content_arguments(options)
  local arguments = {}
  if options.content then arguments[1] = "content=" .. sql_text.literal(options.content) end
  if options.content_rowid then arguments[#arguments + 1] = "content_rowid=" .. sql_text.literal(options.content_rowid) end
  return arguments
end

--- Checks the table to synchronize with. Returns the name of its row id, and the FTS5 arguments for the synchronization.
local function synchronized_arguments(db, options, columns, place)
  local content = options.synchronize_with
  for _, other in ipairs{ "content", "content_rowid" } do
    if options[other] then checks.refuse(place, "give either `synchronize_with` or `" .. other .. "`, not both") end
  end
  if options.temporary then checks.refuse(place, "a temporary full-text table cannot be synchronized with a table") end
  sql_text.name(content, place .. ": option `synchronize_with`")
  local known = require("perilune.schema.indexes").columns_of(db, content, place)
  for _, column in ipairs(columns) do
    if not known.by_key[sql_names.fold(column)] then errors.raise_unknown("column", column, known.names) end
  end
  local rowid = full_text_synchronization.rowid_of(db, content, place)
  return rowid, content_arguments{ content = content, content_rowid = rowid ~= "rowid" and rowid or nil }
end

local option_kinds = {
  columns = "any", tokenizer = "any", prefix = "any", content = "string", content_rowid = "string", detail = "any",
  synchronize_with = "string", columnsize = "boolean", temporary = "boolean", if_not_exists = "boolean",
}

local function append(list, others)
  return table.move(others, 1, #others, #list + 1, list)
end

--- Creates a table for full-text search.
--
--     db:create_fts5("book_text", { synchronize_with = "book", columns = { "title", "body" }, tokenizer = "porter" })
--     db:fetch_all("SELECT book.* FROM book JOIN book_text ON book_text.rowid = book.id WHERE book_text MATCH ?", "whale")
--
-- A synchronized table has no content of its own: it is filled from the rows of the other table, and updated when they change. The other
-- table should have an integer primary key, because VACUUM changes row ids that are not columns. Deletions by REPLACE are noticed only for
-- unique keys that existed when the full-text table was created. Drop the full-text table with `db:drop_table`, not with SQL, which would
-- leave its triggers on the other table and make that table unwritable.
-- @tparam table options `columns`: names, or `{ "body", unindexed = true }`; `tokenizer`: "unicode61", "porter", "ascii", "trigram", or a
--   table with options; `prefix`: the lengths of indexed prefixes; `synchronize_with`: a table; or `content`: a table, or "" for none, with
--   the option `content_rowid`; `columnsize = false`; `detail`: "full", "column", "none"; `temporary`; `if_not_exists`
function public:create_fts5(name, options)
  local place = "db:create_fts5"
  local quoted = sql_text.name(name, place .. ": argument 1")
  if type(options) == "function" then checks.fail(place, "takes no function; use db:create_fts5(name, { columns = { \"title\", \"body\" } })") end
  options = checks.options(place, options, option_kinds, "full_text_option")
  local arguments, columns = read_columns(name, options.columns, place)
  if options.tokenizer ~= nil then
    arguments[#arguments + 1] = require("perilune.schema.full_text_tokenizers")(options.tokenizer, place .. ": option `tokenizer`")
  end
  local rowid, content
  if options.synchronize_with then
    rowid, content = synchronized_arguments(self, options, columns, place)
  end
  append(arguments, content or content_arguments(options))
  if options.prefix ~= nil then arguments[#arguments + 1] = prefix_argument(options.prefix, place) end
  if options.columnsize ~= nil then arguments[#arguments + 1] = "columnsize=" .. (options.columnsize and 1 or 0) end
  if options.detail ~= nil then arguments[#arguments + 1] = detail_argument(options.detail, place) end
  local statements = {
    "CREATE VIRTUAL TABLE " .. (options.if_not_exists and "IF NOT EXISTS " or "") .. (options.temporary and "temp." or "")
      .. quoted .. " USING fts5(" .. table.concat(arguments, ", ") .. ")",
  }
  if rowid then
    append(statements, full_text_synchronization.statements(self, name, options.synchronize_with, rowid, columns, options.if_not_exists))
  end
  schema_changes.run(self, statements)
end

--- Stops synchronizing a full-text table, which keeps its content. Not needed before `db:drop_table`.
function public:drop_fts5_synchronization(name)
  sql_text.name(name, "db:drop_fts5_synchronization: argument 1")
  schema_changes.run(self, full_text_synchronization.drops(self, name))
end

return public
