--- Database methods that create and drop indexes.

local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local marks = require "perilune.runtime.marks"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_fragment = require "perilune.runtime.sql_fragment"
local index_text = require "perilune.schema.index_text"
local schema_changes = require "perilune.schema.changes"
local sql_names = require "perilune.runtime.names"

--- The functions that scripts call.
local public = {}

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
  if columns and not columns.by_key[sql_names.fold(name)] then
    local column, direction = name:match("^%s*([%w_]+)%s+(%a+)%s*$")
    if column and (direction:lower() == "desc" or direction:lower() == "asc") then
      errors.raise("unknown_column", ("no column `%s`; use { %q, desc = %s } in the list of columns"):format(name, column, tostring(direction:lower() == "desc")), { name = name })
    end
    if name:find(",", 1, true) then
      errors.raise("unknown_column", ("no column `%s`; several columns are a list: { \"a\", \"b\" }"):format(name), { name = name })
    elseif name:find("(", 1, true) then
      errors.raise("unknown_column", ("no column `%s`; use { { sql = %q } } and the option `name` for an expression"):format(name, name), { name = name })
    end
    errors.raise_unknown("column", name, columns.names)
  end
  return name
end

--- Returns the SQL of an indexed column or expression, and the name of the column.
local function indexed(columns, term, place)
  if type(term) == "string" then return sql_text.name(check_column(columns, term), place), term end
  return sql_fragment.expression(term, place)
end

--- Reads a term of an index: a column or an expression; or a table that contains one of these, or `sql`, and the options `desc` and
-- `collate`. Returns its SQL, and the name of the column if the term is a column.
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
  if not name and not names then checks.fail(place, "an index on expressions needs a name; use the option { name = \"table_by_column\" }") end
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

indexes.options = { name = "string", unique = "boolean", where = "any", if_not_exists = "boolean" }

--- Returns a call of create_index as it should be written.
local function example(table_name, name)
  return ("db:create_index(%q, { \"column\" }, { %s })"):format(tostring(table_name), name and ("name = %q"):format(tostring(name)) or "unique = true")
end

local function is_options(value)
  return type(value) == "table" and getmetatable(value) == nil and value[1] == nil and next(value) ~= nil
end

--- Raises for arguments in the wrong order: options without columns, or the name of the index before the table.
local function check_order(place, first, list, options)
  if type(first) == "table" and getmetatable(first) == nil then
    checks.fail(place, "the table comes first, then the columns: " .. example(first.on or first.table or "table", first.name))
  elseif list == nil then
    checks.fail(place, "missing the list of columns after the table: " .. example(first))
  elseif is_options(list) and list.on ~= nil then
    checks.fail(place, "the table comes first, then the columns: " .. example(list.on, first))
  elseif is_options(list) then
    checks.fail(place, "the columns come before the options: " .. example(first, list.name))
  elseif type(list) == "string" and type(options) == "table" and options[1] ~= nil then
    checks.fail(place, "the table comes first, then the columns: " .. example(list, first))
  elseif type(options) == "string" and type(list) == "table" then
    checks.fail(place, "expected a table of options, got the string; use " .. example(first, options))
  elseif type(options) == "string" then
    checks.fail(place, ("several columns are a list: db:create_index(%q, { %q, %q })"):format(tostring(first), tostring(list), options))
  elseif type(options) == "boolean" then
    checks.fail(place, "expected a table of options, such as { unique = true }, got " .. errors.describe(options))
  end
end

--- Creates an index: `db:create_index("book", { "title" }, { name = "book_by_title", unique = true })`. Without a name, it is
-- `<table>_on_<columns>`.
-- Columns are names, expressions, functions that receive the columns and return one (`function(c) return c.title:lower() end`), or
-- tables: any of these with options, `{ "title", desc = true, collate = "nocase" }`, or SQL, `{ sql = "lower(title)" }`.
-- @tparam ?table options `name`; `unique`; `where`: only these rows; `if_not_exists`
function public:create_index(table_name, list, options)
  local place = "db:create_index"
  check_order(place, table_name, list, options)
  sql_text.name(table_name, place .. ": argument 1")
  local columns = columns_of(self, table_name, place)
  options = checks.options(place, options, indexes.options, "index_option")
  create(self, table_name, indexes.sql(columns, options.name, table_name, list, options, place), options.unique, place)
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
    local is_name = #columns == 1 and db:index_exists(columns[1])
    local cure = is_name and ("; use db:drop_index(%q, { name = %q })"):format(table_name, columns[1]) or ""
    errors.raise("unknown_index", place .. ": no index on " .. what .. cure)
  end
end

--- Returns the table and the index with a name; nothing if none exists.
local function find_named(db, name)
  for _, row in ipairs(db:fetch_all(
    "SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL UNION ALL "
    .. "SELECT tbl_name, name FROM sqlite_temp_schema WHERE type = 'index' AND sql IS NOT NULL")) do
    if sql_names.same(row.name, name) then return row.tbl_name, row.name end
  end
end

local function drop_by_name(db, table_name, options, place)
  local names = {}
  for _, index in ipairs(db:indexes(table_name)) do
    if sql_names.same(index.name, options.name) then
      db:execute("DROP INDEX " .. sql_text.name(index.name))
      return
    end
    if index.origin == "create index" then names[#names + 1] = index.name end
  end
  if not options.if_exists then errors.raise_unknown("index", options.name, names) end
end

--- Drops an index of a table, by its columns or by its name: `db:drop_index("book", { "title" })`,
-- `db:drop_index("book", { name = "book_by_title" })`.
-- @tparam ?{string,...} columns
-- @tparam ?table options `name`; `if_exists`: no error if none exists
function public:drop_index(table_name, columns, options)
  local place = "db:drop_index"
  sql_text.name(table_name, place .. ": argument 1")
  if options == nil and type(columns) == "table" and columns[1] == nil then columns, options = nil, columns end
  options = checks.options(place, options, { name = "string", if_exists = "boolean" })
  if columns ~= nil and options.name then checks.fail(place, "give either the columns or `name`") end
  if columns == nil and not options.name then
    local table_of_index, index = find_named(self, table_name)
    checks.fail(place, ("the table comes first, then the columns or a name: db:drop_index(\"%s\", { name = \"%s\" })"):format(
      table_of_index or "table", index or table_name))
  end
  if options.if_exists and not self:table_exists(table_name) then return end
  if columns ~= nil then return drop_by_columns(self, table_name, columns, options, place) end
  drop_by_name(self, table_name, options, place)
end

indexes.columns_of = columns_of

indexes.public = public
return indexes
