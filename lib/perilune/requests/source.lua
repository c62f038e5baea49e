--- The sources of requests: a record class, its table and columns.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local record_fields = require "perilune.records.fields"
local class_properties = require "perilune.requests.class_properties"
local marks = require "perilune.runtime.marks"
local null = require("perilune.native.values").null
local raise = errors.raise
local expression = require "perilune.expressions.expression"
local named_expressions = require "perilune.requests.named_expressions"
local request = require "perilune.requests.request"
local sql_names = require "perilune.runtime.names"
local receivers = require "perilune.runtime.receivers"
local verbs, derivations = request.verbs, request.derivations

local schema_generation = native_records.schema_generation

--- Sources by class.
local by_class = setmetatable({}, { __mode = "k" })
local Source = {}
Source.__index = Source

local sources = { Source = Source, by_class = by_class }

-- Columns -------------------------------------------------------------------------------------------------------------------

--- Returns the table in the current schema. Returns nil, instead of raising an error, if no current database has the table: the
-- database passed to a verb later may have it.
-- @return the table, or nil
-- @return ?table if the first result is nil: the table as the class last found it in any database
function Source:schema()
  return class_properties.schema(self.class)
end

--- Returns the name of a column in the schema's spelling, or of the row id; nil if none exists.
local function spelled(self, schema, name)
  if self.known ~= schema then
    self.known, self.spellings = schema, {}
    for _, name in ipairs(schema.row_id_names) do self.spellings[name] = name end
    for _, column in ipairs(schema.columns) do self.spellings[sql_names.fold(column.name)] = column.name end
  end
  return self.spellings[sql_names.fold(name)]
end

local function new_column(self, name, place)
  local column = expression.column(name, self.table, place, self:column_type(name))
  column.shape.held = self.class and class_properties.held_by(self.class, name)
  -- Marks the column if the class renames columns, because its name may also be the name of a field for another column.
  if self.class and record_class.info(self.class).renames then column.shape.owner = self end
  return column
end

--- Returns the columns created so far for a place. A place selects one of several sources of the same table: it is an alias, or the number
-- and name of the association that leads to the source. Without a place, any source is meant.
function Source:columns_of(place)
  if not place then return self.columns end
  local columns = self.placed[place] or {}
  self.placed[place] = columns
  return columns
end

--- Returns the database column of a field.
function Source:sql_name(field)
  local schema, former = self:schema()
  local names = (schema or former or {}).sql_names
  return names and names[field] or field
end

--- Returns the field names in the format for Swift; nil if all of them are column names.
function Source:field_names(db)
  return class_properties.field_names(self.class, db)
end

--- Returns the type of a column; see `classes.column_type`.
function Source:column_type(name)
  return class_properties.column_type(self.class, name)
end

--- Returns the expression of the table column with a name, in upper or lower case; nil if the table has no such column.
-- @param ?place see columns_of
function Source:table_column(name, place)
  local columns = self:columns_of(place)
  local column = columns[name]
  if column then return column end
  local schema, former = self:schema()
  local spelling = (schema or former) and spelled(self, schema or former, name)
  if not spelling then return nil end
  column = columns[spelling] or new_column(self, spelling, place)
  columns[name], columns[spelling] = column, column
  return column
end

--- Returns the expression of a column that exists in the database of the statement, even if the database at hand lacks it.
function Source:existing_column(name) return self:table_column(name) or new_column(self, name) end

--- Returns the expression of a table column, or a named expression of the class.
function Source:column_named(name, place)
  return self:columns_of(place)[name] or self:table_column(name, place) or named_expressions.find(self, name, place)
end

--- Returns the definition of a field that consists of several columns; nil for any other name.
function Source:group(name)
  local definition = self.computed and self.computed[name]
  return definition and definition.kind == "group" and definition or nil
end

--- Raises for a field that requests cannot use, because it does not exist in SQL.
function Source:check_is_column(name)
  record_fields.check_is_column(self, name, "give the field an `expression` to use it in requests")
end

--- Returns the expression of a column. Raises if none exists, and suggests the nearest name. If no current database has the table, any name
-- is accepted, and the request is checked when it is used with a database.
function Source:column(name, place)
  local column = self:column_named(name, place)
  if column then return column end
  self:check_is_column(name)
  -- Another connection may have added it.
  local db = class_properties.database_at_hand()
  if db then
    native_records.touch_schema(db)
    column = self:column_named(name, place)
    if column then return column end
  end
  local schema, names = self:schema(), {}
  if not schema then return new_column(self, name, place) end
  for index, info in ipairs(schema.columns) do names[index] = info.name end
  for _, other in ipairs(named_expressions.names(self)) do names[#names + 1] = other end
  record_fields.check_is_field(schema, name)
  require("perilune.requests.column_mistakes").check(name, self.table, names)
  errors.raise_unknown_column(name, self.table, names)
end

--- Returns the names of the key columns, or of the row id.
local function key_names(self)
  local own = self.class and class_properties.own_key(self.class)
  if own then return own end
  local schema, former = self:schema()
  schema = schema or former
  if not schema then
    raise("unknown_table", "the table `" .. self.table .. "` was not found in any database in use, so its key is unknown; use "
      .. "filter{ column = value }, or call this in a block of the database (db:read(function(db) ... end))",
      { table = self.table })
  end
  local names = schema.primary_key.columns
  if #names > 0 then return names end
  if schema.kind == "view" or schema.without_rowid then
    raise("argument", "`" .. self.table .. "` has no primary key; use filter{ column = value }")
  end
  return { "rowid" }
end

--- Returns the columns of the primary key, or the row id.
function Source:key(alias)
  local db = class_properties.database_at_hand()
  local generation = db and schema_generation(db)
  if generation and self.key_generation == generation and not alias then return self.key_columns end
  local key = {}
  for index, name in ipairs(key_names(self)) do key[index] = self:column(name, alias) end
  if not alias then self.key_generation, self.key_columns = generation, key end
  return key
end

--- Returns the columns that distinguish rows: the key columns, or all columns of a view.
function Source:distinguishing_columns(alias)
  local schema, former = self:schema()
  schema = schema or former
  if not (schema and schema.kind == "view") then return self:key(alias) end
  local columns = {}
  for index, info in ipairs(schema.columns) do columns[index] = self:column(info.name, alias) end
  return columns
end

--- Returns the columns by name, which scripts use as `Class.c`.
-- @param ?place see columns_of
function Source:columns_table(place)
  local tables = self.column_tables
  local found = tables[place or 1]
  if not found then
    found = setmetatable({}, {
      __name = "columns",
      __index = function(columns, name)
        if type(name) ~= "string" then
          raise("argument", "expected the name of a column, got " .. errors.describe(name))
        end
        return self:column(name, place)
      end,
      __newindex = function()
        raise("readonly", "columns come from the schema and cannot be set")
      end,
      __pairs = function() raise("argument", "cannot iterate over columns; use ipairs(db:columns(\"" .. self.table .. "\"))") end,
      __len = function() raise("argument", "cannot take # of columns; use #db:columns(\"" .. self.table .. "\")") end,
    })
    tables[place or 1] = found
  end
  return found
end

-- Metatables ----------------------------------------------------------------------------------------------------------------

local function names_of(...)
  local names = {}
  for _, list in ipairs{ ... } do
    for name in pairs(list) do
      if type(name) == "string" then names[#names + 1] = name end
    end
  end
  table.sort(names)
  return names
end

--- Common methods that check their receiver themselves if the row path cannot handle the call alone.
local checked_by_themselves = {
  annotated_with = true, fetch_all = true, fetch_one = true, filter = true, limit = true, order = true, pluck = true,
}

--- Returns the table in which a source's requests look up their members: the methods of requests, then the named requests of the class. It
-- caches methods, so that later lookups call no function.
local function request_members(source, alias)
  return setmetatable({}, { __index = function(members, name)
    local method = verbs[name] or derivations[name] or source.members and source.members[name]
    if method ~= nil then
      if not checked_by_themselves[name] then method = receivers.checked(receivers.kinds.request, name, method) end
      members[name] = method
      return method
    end
    if name == "c" then return source:columns_table(alias) end
    local named = source.requests[name]
    if named ~= nil then return named end
    if type(name) == "number" then
      raise("argument", "cannot index a request by number; use `for row in request:rows() do`, or request:fetch_all()[" .. name .. "]")
    end
    if type(name) == "string" and source:column_named(name) then
      raise("unknown_method", ("no method `%s`; use request:fetch_one().%s for the value, request.c.%s for the column"):format(name, name, name), { name = name })
    end
    if type(name) == "string" and source.class and type(record_class.info(source.class).members[name]) == "function" then
      raise("unknown_method", ("no method `%s` of requests; a function of a class is a method of its records; define function "
        .. "Class.requests:%s(...) return self:filter{ ... } end"):format(name, name), { name = name })
    end
    require("perilune.runtime.other_names").raise("request", "method", name, names_of(verbs, derivations, source.all_requests()),
      function(column) return source:column_named(column) ~= nil end)
  end })
end

--- Returns the metatable of a source's requests, optionally with an alias for the table.
local function request_metatable(source, alias)
  return {
    __name = "request", __metatable = "request",
    __index = request_members(source, alias),
    __newindex = function(_, name)
      raise("readonly", "a request is immutable: cannot set `" .. tostring(name) .. "`; its methods return new requests")
    end,
    __tostring = function(self) return require("perilune.requests.plans").text(self) end,
    __len = function()
      raise("argument", "cannot take # of a request; use request:fetch_count() for the number of rows, or #request:fetch_all()")
    end,
    __call = function()
      raise("argument", "cannot call a request; to iterate over its rows use `for row in request:rows() do`")
    end,
    __bor = function(left, right) return require("perilune.requests.either").of(left, right, "request | request") end,
    __band = function() raise("argument", "requests have no `&`; use request:filter(...) once more, or request:intersect(other)") end,
    __bnot = function() raise("argument", "requests have no `~`; use filter(~condition), or Class:except(request)") end,
    __concat = function(left, right)
      if type(left) == "string" or type(right) == "string" then raise("argument", "cannot concatenate a request and text; use tostring(request) for its SQL") end
      raise("argument", "requests have no `..`; use request | other, request:union(other) or request:union_all(other)")
    end,
    __add = function() raise("argument", "requests have no `+`; use request | other, request:union(other) or request:union_all(other)") end,
    __sub = function() raise("argument", "requests have no `-`; use request:except(other)") end,
    __pairs = function()
      raise("argument", "cannot iterate over a request itself; use `for row in request:rows() do`, or request:fetch_all()")
    end,
  }
end

-- Sources -------------------------------------------------------------------------------------------------------------------

--- Makes a node the root of a source's requests.
function sources.begin(root, source)
  root.root, root.source, source.root = root, source, root
  root.make_metatable, root.metatable = request_metatable, request_metatable(source)
end

--- Returns the table of a class's named requests. A named request cannot have the name of a method of requests.
local function requests_table(class)
  local base = class_properties.base(class)
  -- Assignments go to an empty table that never stores anything, so that reassignments are noticed and checked too.
  local named = setmetatable({}, { __index = base and sources.of_class(base).requests })
  return named, setmetatable({}, {
    __name = "named requests",
    __index = named,
    __pairs = function() return pairs(named) end,
    __newindex = function(_, name, value)
      if type(name) ~= "string" or type(value) ~= "function" then
        raise("argument", "Class.requests: expected a function, as in function Class.requests:name(...) return self:filter{...} end")
      elseif verbs[name] or derivations[name] or name == "c" then
        raise("argument", "`" .. name .. "` is a method of every request; use another name")
      end
      named[name] = value
      -- The cached request for all records of the class contains the default scope, so it must be made again.
      if name == "default" then
        sources.of_class(class).all = nil
        require("perilune.requests.added_members").scope(class)
      end
    end,
  })
end

--- Returns the source of a class.
function sources.of_class(class)
  local source = by_class[class]
  if source then return source end
  if not class_properties.is_class(class) then
    raise("argument", "a method of a record class was called on " .. errors.describe(class)
      .. "; use Class:method(...), with a colon")
  end
  source = setmetatable({
    class = class, table = class_properties.table(class), columns = {}, placed = {}, column_tables = {},
  }, Source)
  by_class[class] = source
  source.named_requests, source.requests = requests_table(class)
  local base = class_properties.base(class)
  source.expressions = named_expressions.new(source, base and sources.of_class(base))
  source.computed = record_class.info(class).computed
  for name, definition in pairs(record_class.info(class).fields or {}) do
    if definition.expression ~= nil then rawset(source.definitions, name, definition.expression) end
  end
  source.all_requests = function()
    local all, named = {}, class
    while named do
      for name in next, sources.of_class(named).named_requests do all[name] = true end
      named = class_properties.base(named)
    end
    return all
  end
  local root = request.new_node(nil, "table", request.unused)
  sources.begin(root, source)
  return source
end

--- Returns a request for all records of a class, without its default scope.
function sources.unscoped_request(class)
  local root = sources.of_class(class).root
  return setmetatable({ node = root }, root.metatable)
end

--- Returns a request for all records of a class, with its default scope.
function sources.class_request(class)
  local source = by_class[class] or sources.of_class(class)
  if source.all then return source.all end
  local all = sources.scoped(class, sources.unscoped_request(class))
  source.all = all
  return all
end

--- Returns a request for all rows of a class with its default scope applied.
function sources.scoped(class, all)
  local source = sources.of_class(class)
  local deleted_at = class_properties.behaviour(class, "soft_delete")
  if deleted_at then all = all:filter{ [deleted_at] = null } end
  local scope = source.requests.default
  if scope then
    all = scope(all)
    if not marks.is_request(all) then
      raise("argument", "the default scope of `" .. source.table .. "` must return a request, got " .. errors.describe(all))
    end
  end
  return all
end

--- Returns the request for a value: a request itself, or a class; nil for anything else.
function request.of(value)
  if marks.is_request(value) then return value end
  if class_properties.is_class(value) then return sources.class_request(value) end
  return nil
end

return sources
