--- Database methods that create and drop indexes.

local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local marks = require "perilune.runtime.marks"
local database = require("perilune.native.databases").methods
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_fragment = require "perilune.runtime.sql_fragment"
local index_text = require "perilune.schema.index_text"
local schema_changes = require "perilune.schema.changes"
local sql_names = require "perilune.runtime.names"

local indexes = {}

--- Returns the names of a table's columns in the schema's spelling, by their lowercase names.
local function columns_of(db, table_name, place)
  sql_text.name(table_name, place)
  if db:view_exists(table_name) then checks.refuse(place, "`" .. table_name .. "` is a view: only tables have indexes") end
  local names, by_key = {}, {}
  for index, column in ipairs(db:columns(table_name)) do
    names[index], by_key[sql_names.fold(column.name)] = column.name, column.name
  end
  return { names = names, by_key = by_key, database = native_schema.table(db, table_name).database }
end

local function check_column(columns, name)
  if columns and not columns.by_key[sql_names.fold(name)] then errors.raise_unknown("column", name, columns.names) end
  return name
end

--- Returns the SQL of an indexed column or expression, and the name of the column.
local function indexed(columns, term, place)
  if type(term) == "string" then return sql_text.name(check_column(columns, term), place), term end
  return sql_fragment.expression(term, place)
end

--- Reads a term of an index: a column or expression, or a table with one of these or `sql`, `desc`, `collate`.
-- Returns its SQL, and the name of the column if it is one.
local function term_of(columns, term, place)
  local is_plain_table = type(term) == "table" and not marks.is_expression(term)
  if not is_plain_table then return indexed(columns, term, place) end
  local options = checks.rest(term, 1)
  checks.options(place, options, { sql = "string", desc = "boolean", collate = "string" })
  if (term[1] == nil) == (options.sql == nil) then checks.fail(place, "give either the name of a column or `sql`") end
  local sql, column
  if options.sql then
    sql = sql_fragment.text(options.sql, place)
  else
    sql, column = indexed(columns, term[1], place)
  end
  if options.collate then sql = sql .. " COLLATE " .. sql_text.name(options.collate, place) end
  return sql .. (options.desc and " DESC" or ""), column
end

--- Reads the list of indexed terms. Returns its SQL and the names of the columns, or nil if it does not only contain columns.
local function read_terms(columns, list, place)
  list = checks.list(place, list)
  local terms, names = {}, {}
  for index, term in ipairs(list) do
    local column
    terms[index], column = term_of(columns, term, place)
    names[index] = column
  end
  return table.concat(terms, ", "), #names == #list and names or nil
end

--- Returns the SQL of an index.
-- @tparam table columns the columns of the table from `columns_of`; nil if SQLite checks them
-- @tparam ?string name nil for a name made from the table and the columns
-- @tparam table options `unique`, `where`, `if_not_exists`
function indexes.sql(columns, name, table_name, list, options, place)
  local terms, names = read_terms(columns, list, place)
  if not name and not names then checks.fail(place, "an index on expressions needs a name") end
  return index_text.sql({
    name = table_name, if_not_exists = options.if_not_exists, database = columns and columns.database,
  }, names, {
    name = name, terms = terms, unique = options.unique,
    where = options.where ~= nil and sql_fragment.expression(options.where, place .. ": option `where`") or nil,
  })
end

--- Creates an index. If it is unique, full-text tables that are synchronized with the table are updated.
local function create(db, table_name, sql, is_unique, place)
  schema_changes.run(db, { sql })
  if is_unique then schema_changes.run(db, require("perilune.schema.full_text_synchronization").renewals(db, table_name, place)) end
end

local index_options = { unique = "boolean", where = "any", if_not_exists = "boolean" }

--- Creates an index: `db:create_index("book_by_title", { on = "book", columns = { "title" } })`; or an index named
-- `<table>_on_<columns>`: `db:create_index("book", { "title" })`, followed by options.
-- Columns are names, expressions, functions that receive the columns and return one (`function(c) return c.title:lower() end`), or
-- tables: any of these with options, `{ "title", desc = true, collate = "nocase" }`, or SQL, `{ sql = "lower(title)" }`.
-- @tparam table options `on`: the table; `columns`; `unique`; `where`: only these rows; `if_not_exists`
function database:create_index(name, options, more)
  local place = "db:create_index"
  sql_text.name(name, place .. ": argument 1")
  if type(options) == "string" or type(options) == "table" and options[1] ~= nil then
    local columns = columns_of(self, name, place)
    more = checks.options(place, more, index_options)
    return create(self, name, indexes.sql(columns, nil, name, options, more, place), more.unique, place)
  end
  local kinds = { on = "string", columns = "any" }
  for key, kind in pairs(index_options) do kinds[key] = kind end
  options = checks.options(place, options, kinds)
  if not options.on then checks.fail(place, "missing option `on`, the table") end
  local columns = columns_of(self, options.on, place)
  create(self, options.on, indexes.sql(columns, name, options.on, options.columns, options, place), options.unique, place)
end

--- Returns the names of the indexes on exactly these columns, in this order.
local function find(db, table_name, columns)
  local wanted, found = sql_names.fold(table.concat(columns, "\0")), {}
  for _, index in ipairs(db:indexes(table_name)) do
    local names = {}
    for position, column in ipairs(index.columns) do names[position] = column or "\1" end
    if index.origin == "create index" and sql_names.fold(table.concat(names, "\0")) == wanted then found[#found + 1] = index.name end
  end
  return found
end

local function drop_by_columns(db, table_name, columns, options, place)
  columns = checks.names(place .. ": argument 2", columns)
  local found = find(db, table_name, columns)
  local what = "`" .. table_name .. "` (" .. table.concat(columns, ", ") .. ")"
  if #found > 1 then
    checks.refuse(place, "several indexes exist on " .. what .. ": " .. table.concat(found, ", ") .. "; name one")
  elseif found[1] then
    db:execute("DROP INDEX " .. sql_text.name(found[1]))
  elseif not options.if_exists then
    errors.raise("unknown_index", place .. ": no index on " .. what)
  end
end

--- Drops an index by its name, or by its table and columns: `db:drop_index("book", { "title" })`.
-- @tparam ?table options `if_exists`: no error if none exists
function database:drop_index(name, columns, options)
  local place = "db:drop_index"
  local quoted = sql_text.name(name, place .. ": argument 1")
  if type(columns) == "table" and columns[1] == nil then columns, options = nil, columns end
  options = checks.options(place, options, { if_exists = "boolean" })
  if columns ~= nil then return drop_by_columns(self, name, columns, options, place) end
  if self:index_exists(name) then
    self:execute("DROP INDEX " .. quoted)
  elseif not options.if_exists then
    errors.raise_unknown("index", name, self:fetch_values(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"))
  end
end

indexes.columns_of = columns_of

require("perilune.runtime.arity").limit(database, "db:", { create_index = 3, drop_index = 3 })

return indexes
