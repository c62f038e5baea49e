--- Schema introspection: methods of databases.

local errors = require "perilune.native.errors"
local native_observation = require "perilune.native.observation"
local native_schema = require "perilune.native.schema"
local types = require "perilune.runtime.types"
local sql_names = require "perilune.runtime.names"

--- The functions that scripts call.
local public = {}

local introspection = {}

--- Makes the elements of a list raise an error for unknown field names, which would otherwise be nil. Returns the list.
-- @tparam string names the names of the fields, separated by spaces
local function described(what, list, names)
  local known = {}
  for name in names:gmatch("%S+") do known[#known + 1], known[name] = name, true end
  local function raise(name)
    require("perilune.runtime.other_names").raise("description", "field", name, table.move(known, 1, #known, 1, {}))
  end
  local element = { __name = what, __index = function(_, name)
    if type(name) == "string" and not known[name] then raise(name) end
  end }
  for _, description in ipairs(list) do setmetatable(description, element) end
  return setmetatable(list, { __name = "list", __index = function(_, name)
    if type(name) ~= "string" then return nil end
    errors.raise("unknown_member", ("a list of %s has no field `%s`; use `for _, %s in ipairs(list) do`, in which %s.name is its name"):format(what == "index" and "indexes" or what .. "s", name,
      what:match("%a+$"), what:match("%a+$")), { name = name })
  end })
end

--- A primary key, whose unknown fields raise an error.
local primary_key_metatable = { __name = "primary key", __index = function(_, name)
  errors.raise("unknown_member", ("a primary key has no field `%s`; use key.columns, a list of names, or key.rowid"):format(tostring(name)), {
    name = name, suggestion = "columns",
  })
end }

--- Makes a list of names raise an error for a field, as in `db:tables().customer`.
local function named(list, method)
  return setmetatable(list, { __name = "list", __index = function(_, name)
    if type(name) ~= "string" then return nil end
    errors.raise("unknown_member", ("db:%ss() is a list of names and has no field `%s`; use `for _, name in ipairs(list) do`, #list, "
      .. "or db:%s_exists(name)"):format(method, name, method), { name = name })
  end })
end

local function check_name(method, what, name)
  if type(name) ~= "string" then
    errors.raise("argument", "db:" .. method .. ": argument 1: expected the name of " .. what .. ", got "
      .. errors.describe(name))
  end
end

local function names_of(db, kind)
  return db:fetch_values([[
    SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name]], kind)
end

--- Returns the names of the tables in order, without SQLite's own.
function public:tables()
  return named(names_of(self, "table"), "table")
end

--- Returns the names of the views, in order.
function public:views()
  return named(names_of(self, "view"), "view")
end

--- Returns the triggers in order: tables with name, table and sql.
-- @tparam ?string name only the triggers of that table
function public:triggers(name)
  return self:fetch_all([[
    SELECT name, tbl_name AS "table", sql FROM sqlite_schema
    WHERE type = 'trigger' AND (?1 IS NULL OR lower(tbl_name) = lower(?1)) ORDER BY name]], name)
end

--- Returns whether an object exists in the main database, in an attached one, or as a temporary object.
local function exists(db, kind, name)
  if db:fetch_value("SELECT 1 FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) "
    .. "WHERE type = ? AND lower(name) = lower(?)", kind, name) then return true end
  for _, schema in ipairs(db:fetch_values("SELECT DISTINCT schema FROM pragma_table_list WHERE schema NOT IN ('main', 'temp')")) do
    local found = db:fetch_value(("SELECT 1 FROM \"%s\".sqlite_schema WHERE type = ? AND lower(name) = lower(?)")
      :format((schema:gsub('"', '""'))), kind, name)
    if found then return true end
  end
  return false
end

for _, kind in ipairs{ "table", "view", "index", "trigger" } do
  --- Return whether an object with this name exists, ignoring case, including temporary objects and objects in attached databases.
  public[kind .. "_exists"] = function(self, name)
    check_name(kind .. "_exists", "a " .. kind, name)
    local plain = name:match("^main%.(.+)$") or name:match("^temp%.(.+)$")
    if plain then
      errors.raise("argument", ("db:%s_exists: argument 1: expected the name alone, got %q; use db:%s_exists(%q), which looks in all "
        .. "databases"):format(kind, name, kind, plain))
    end
    return exists(self, kind, name)
  end
end

--- Returns the schema of a table or view, read again if it has changed. Raises if it does not exist, suggesting the nearest name.
local function table_of(db, method, name)
  check_name(method, "a table", name)
  -- Reads the file, which reveals whether the schema has changed.
  exists(db, "table", name)
  return native_schema.table(db, name)
end

--- Returns the columns of a table with the meaning of their types. In addition to the fields of `db:columns`: `affinity`
-- ("integer", "text", "blob", "real" or "numeric") and `content` ("boolean", "day", "date" or "blob"; nil if fields contain
-- the stored values).
function introspection.declared_columns(db, name)
  return table_of(db, "columns", name).columns
end

local function copy(list)
  return table.move(list, 1, #list, 1, {})
end

--- Returns the columns of a table or view in order: tables with name, type, not_null, default (SQL text, or nil), primary_key
-- (the position in the key, counted from 1, or nil), hidden and generated ("virtual" or "stored", or nil).
function public:columns(name)
  local columns = {}
  for index, column in ipairs(table_of(self, "columns", name).columns) do
    columns[index] = {
      name = column.name, type = column.type, not_null = column.not_null, default = column.default,
      primary_key = column.primary_key, hidden = column.hidden, generated = column.generated,
    }
  end
  return described("column", columns, "name type not_null default primary_key hidden generated")
end

--- Returns the primary key of a table: a table with `columns` (their names in the order of the key) and `rowid`, whether the key is
-- the row id. For a table without a key, `columns` is empty.
function public:primary_key(name)
  local key = table_of(self, "primary_key", name).primary_key
  return setmetatable({ columns = copy(key.columns), rowid = key.rowid }, primary_key_metatable)
end

--- Returns the indexes of a table, by name: tables with name, columns (false for an expression), unique, partial and
-- origin ("create index", "unique" or "primary key").
function public:indexes(name)
  table_of(self, "indexes", name)
  local origins = { c = "create index", u = "unique", pk = "primary key" }
  local indexes = {}
  for _, info in ipairs(self:fetch_all("SELECT * FROM pragma_index_list(?) ORDER BY name", name)) do
    local columns = {}
    for _, column in ipairs(self:fetch_all("SELECT * FROM pragma_index_info(?) ORDER BY seqno", info.name)) do
      columns[#columns + 1] = column.name or false
    end
    indexes[#indexes + 1] = {
      name = info.name,
      columns = columns,
      unique = info.unique ~= 0,
      partial = info.partial ~= 0,
      origin = origins[info.origin],
    }
  end
  return described("index", indexes, "name columns unique partial origin")
end

--- Returns whether these columns, in any order, are the primary key or have a unique index that is not partial.
function public:has_unique_key(name, columns)
  local function key_of(list)
    local names = {}
    for index, column in ipairs(list) do names[index] = sql_names.fold(tostring(column)) end
    table.sort(names)
    return table.concat(names, "\0")
  end
  if type(columns) ~= "table" then
    errors.raise("argument", "db:has_unique_key: argument 2: expected a list of columns, got " .. errors.describe(columns))
  end
  local wanted = key_of(columns)
  local primary_key = self:primary_key(name).columns
  if #primary_key > 0 and key_of(primary_key) == wanted then return true end
  for _, index in ipairs(self:indexes(name)) do
    if index.unique and not index.partial and key_of(index.columns) == wanted then return true end
  end
  return false
end

--- Returns the foreign keys of a table: tables with table (the referenced one), columns, referenced_columns, on_update, on_delete
-- ("no action", "restrict", "set null", "set default" or "cascade").
function public:foreign_keys(name)
  local keys = {}
  for index, key in ipairs(table_of(self, "foreign_keys", name).foreign_keys) do
    keys[index] = {
      table = key.table, columns = copy(key.columns), referenced_columns = copy(key.referenced_columns),
      on_update = key.on_update, on_delete = key.on_delete,
    }
  end
  return described("foreign key", keys, "table columns referenced_columns on_update on_delete")
end

--- Returns the rows that violate a foreign key: tables with table, rowid (nil if the table has none), referenced_table and key (the
-- position in `foreign_keys`).
-- @tparam ?string name only that table
function public:foreign_key_violations(name)
  local source = "SELECT \"table\", rowid, parent AS referenced_table, fkid + 1 AS key FROM pragma_foreign_key_check"
  if name == nil then return self:fetch_all(source) end
  table_of(self, "foreign_key_violations", name)
  return self:fetch_all(source .. "(?)", name)
end

--- Returns the SQL that recreates the schema, as `perilune schema` writes it: tables, then indexes, views and triggers.
-- @tparam ?string name only that table or view with its indexes and triggers
function public:schema_sql(name)
  if name ~= nil then name = table_of(self, "schema_sql", name).name end
  return native_schema.sql(self, name)
end

local function raise_plan_field(_, name)
  if type(name) ~= "string" then return nil end
  require("perilune.runtime.other_names").raise("plan", "field", name, { "detail", "children" })
end

local plan_metatable = {
  __name = "query plan", __index = raise_plan_field,
  __tostring = function(plan)
    local lines = {}
    local function add(nodes, prefix)
      for index, node in ipairs(nodes) do
        local is_last = index == #nodes
        lines[#lines + 1] = prefix .. (is_last and "└─ " or "├─ ") .. node.detail
        add(node.children, prefix .. (is_last and "   " or "│  "))
      end
    end
    add(plan, "")
    return table.concat(lines, "\n")
  end,
}

local step_metatable = { __name = "step of a query plan", __index = raise_plan_field }

--- Returns SQLite's plan for a statement: a table with `detail` and `children` for each step, which prints as a tree.
function public:explain(sql, ...)
  if type(sql) ~= "string" then
    errors.raise("argument", "db:explain: argument 1: expected an SQL string, got " .. errors.describe(sql))
  end
  if sql:find("^%s*[Ee][Xx][Pp][Ll][Aa][Ii][Nn]%f[%A]") then
    errors.raise("argument", "db:explain: expected the statement alone, as in db:explain(\"SELECT ...\"); db:fetch_all(sql) runs EXPLAIN")
  end
  local nodes, by_id = {}, {}
  for _, step in ipairs(self:fetch_all("EXPLAIN QUERY PLAN " .. sql, ...)) do
    local node = setmetatable({ detail = step.detail, children = {} }, step_metatable)
    by_id[step.id] = node
    local siblings = by_id[step.parent] and by_id[step.parent].children or nodes
    siblings[#siblings + 1] = node
  end
  return setmetatable(nodes, plan_metatable)
end

--- Fetches the leftmost column of the first row as a type; nil if no row exists or the value is NULL.
-- @param wanted the type: a name, an enum, a value type
function public:fetch_value_as(wanted, sql, ...)
  local value = self:fetch_value(sql, ...)
  if value == nil then return nil end
  return types.require(wanted, value, "the value")
end

--- Fetches the leftmost column of all rows as a type; raises on NULL.
function public:fetch_values_as(wanted, sql, ...)
  local values = self:fetch_values(sql, ...)
  for index, value in ipairs(values) do
    values[index] = types.require(wanted, value, "row " .. index)
  end
  return values
end

--- Raises for a table that does not exist. Suggests none of the library's own tables.
function introspection.raise_unknown_table(db, name, allows_views)
  local names = db:tables()
  for index = #names, 1, -1 do
    if native_observation.is_own_table(names[index]) then table.remove(names, index) end
  end
  local views = allows_views and db:views() or {}
  errors.raise_unknown("table", name, table.move(views, 1, #views, #names + 1, names))
end

introspection.public = public
return introspection
