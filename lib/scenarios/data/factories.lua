--- `t.make.TABLE`: complete rows from a few values. Missing values come from the factory of the table (`factory(table, { column = value or
-- function(n, t) })`); other required columns get values of their type. If a row must refer to another row, that row is created as well.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local introspection = require "perilune.schema.introspection"
local arity = require "perilune.runtime.arity"
local state = require "scenarios.base.state"
local scenario_given = lazily "scenarios.data.given"
local scenario_database = lazily "scenarios.data.database"
local perilune = require "perilune"

local definitions = require "scenarios.defining.definitions"
local sql_names = require "perilune.runtime.names"

local scenario_factories = {}

local fold = sql_names.fold

--- Returns a value for a required column based on its declared type, different for each row if possible.
local function invented(column, n)
  if column.content == "boolean" then return false end
  if column.content == "day" or column.content == "date" then return perilune.now() end
  if column.content == "blob" then return perilune.blob(("%s %d"):format(column.name, n)) end
  if column.affinity == "integer" then return n end
  if column.affinity == "real" then return n + 0.0 end
  return ("%s %d"):format(column.name, n)
end

--- Returns the properties of a table that are needed to create rows. The properties are read again after schema changes.
local function shape_of(db, name)
  local current = state.require("t.make")
  local generation = native_records.schema_generation(db)
  local shape = current.shapes[name]
  if shape and shape.generation == generation then return shape end
  shape = { generation = generation, columns = introspection.declared_columns(db, name), by_name = {}, names = {}, keys = db:foreign_keys(name) }
  for _, column in ipairs(shape.columns) do
    shape.by_name[column.name], shape.names[#shape.names + 1] = column, column.name
  end
  local key = db:primary_key(name)
  if key.rowid then shape.rowid = key.columns[1] end
  current.shapes[name] = shape
  return shape
end

local function is_required(shape, column)
  local must_be = column.not_null or column.primary_key
  return must_be and column.default == nil and not column.generated and column.name ~= shape.rowid
end

local function check_columns(shape, values)
  for column in pairs(values) do
    if not shape.by_name[column] then errors.raise_unknown("column", column, shape.names) end
  end
end

--- Returns the foreign key that is meant by a name which is not a column: for `author`, the foreign key on the column `author_id`, or else
-- the only one that refers to the table `author`.
local function key_named(shape, name)
  local found, count = nil, 0
  for _, key in ipairs(shape.keys) do
    if #key.columns == 1 and fold(key.columns[1]) == fold(name) .. "_id" then return key end
    if fold(key.table) == fold(name) then found, count = key, count + 1 end
  end
  return count == 1 and found or nil
end

--- Replaces records with the columns that refer to them: `t.make.invoice{ customer = ada }`.
local function with_columns(what, shape, overrides)
  local values = {}
  for name, value in pairs(overrides) do
    local key = type(name) == "string" and not shape.by_name[name] and key_named(shape, name)
    if not key then
      values[name] = value
    else
      if not native_records.class_of(value) then
        state.mistake("%s: `%s`: expected a record of `%s`, got %s%s", what, name, key.table, errors.describe(value),
          type(value) == "table" and ("; use t.make.%s{ ... } for its row"):format(key.table) or "")
      end
      for position, column in ipairs(key.columns) do
        if overrides[column] ~= nil then state.mistake("%s: `%s` and `%s` are the same column; give one of them", what, name, column) end
        values[column] = value[key.referenced_columns[position]]
      end
    end
  end
  return values
end

--- Raises for a factory of a table that does not exist, if its name resembles the name of a table. Checked once per table and scenario.
local function check_factory_names(name)
  local checked = state.require("t.make").checked_factories
  if checked[name] then return end
  checked[name] = true
  local db = native_records.default_database()
  for folded, factory in pairs(definitions.factories) do
    local _, err = pcall(errors.raise_unknown, "table", folded, { fold(name) })
    if err.suggestion and not db:table_exists(folded) and not db:view_exists(folded) then
      state.mistake("factory %q at %s:%d: no table `%s`; did you mean `%s`?", folded, factory.file, factory.line, folded, name)
    end
  end
end

--- Adds the factory's values for columns without a given value.
local function add_factory(name, shape, values, n)
  check_factory_names(name)
  local factory = definitions.factories[fold(name)]
  if not factory then return end
  check_columns(shape, factory.columns)
  local missing = {}
  for column in pairs(factory.columns) do
    if values[column] == nil then missing[#missing + 1] = column end
  end
  table.sort(missing)
  for _, column in ipairs(missing) do
    local value = factory.columns[column]
    if type(value) == "function" then value = value(n, state.require("factory").context) end
    values[column] = value
  end
end

--- Returns the line of help for a row that violates a constraint: the form of a factory. If rows of `many` refer to the same row although
-- they must not, the factory makes a row for each.
-- @tparam table parents by foreign key: the rows that it refers to and that were created for a previous row
local function help_for(name, shape, parents, err)
  for index, key in ipairs(err.kind == "constraint_unique" and shape.keys or {}) do
    local column = key.columns[1]
    if #key.columns == 1 and parents[index] and err.message:find("%." .. column:gsub("%W", "%%%0") .. "%f[^%w_]") then
      return ("help  factory(%q, { %s = function(n, t) return t.make.%s().%s end }) makes a row of %s for each row"):format(name, column,
        key.table, key.referenced_columns[1], key.table)
    end
  end
  return not definitions.factories[fold(name)] and ("help  factory(%q, { ... }) defines the values of its rows"):format(name) or nil
end

local make

--- Creates the rows that a row must refer to.
-- @tparam table parents by foreign key: rows that were created for a previous row; the new row refers to the same ones
local function add_parents(shape, values, parents, path)
  for index, key in ipairs(shape.keys) do
    local must_be = false
    for _, column in ipairs(key.columns) do
      if values[column] ~= nil then must_be = nil break end
      must_be = must_be or is_required(shape, shape.by_name[column])
    end
    if must_be then
      parents[index] = parents[index] or make(key.table, {}, {}, path)
      for position, column in ipairs(key.columns) do values[column] = parents[index][key.referenced_columns[position]] end
    end
  end
end

local function check_path(name, path)
  for _, seen in ipairs(path) do
    if seen == fold(name) then
      state.mistake("t.make: a row of %s needs one of %s; set the column of one of them",
        table.concat(path, ", which needs one of "), name)
    end
  end
  local longer = table.move(path, 1, #path, 1, {})
  longer[#longer + 1] = fold(name)
  return longer
end

local function add_invented(shape, values, n)
  for _, column in ipairs(shape.columns) do
    if values[column.name] == nil and is_required(shape, column) then values[column.name] = invented(column, n) end
  end
end

--- Creates a row.
function make(name, overrides, parents, path)
  path = check_path(name, path)
  local current = state.require("t.make")
  local shape = shape_of(native_records.default_database(), name)
  overrides = with_columns("t.make." .. name, shape, overrides)
  check_columns(shape, overrides)
  local n = (current.counts[fold(name)] or 0) + 1
  current.counts[fold(name)] = n
  local values = {}
  for column, value in pairs(overrides) do values[column] = value end
  add_factory(name, shape, values, n)
  local had_parents = next(parents) ~= nil
  add_parents(shape, values, parents, path)
  add_invented(shape, values, n)
  local is_made, result = pcall(scenario_database.class(name).insert, scenario_database.class(name), values)
  if is_made then return result end
  local is_check = type(result) == "userdata" and type(result.kind) == "string" and result.kind:find("^constraint_")
  local help = is_check and help_for(name, shape, had_parents and parents or {}, result)
  if help then errors.add_fields(result, { details = { help } }) end
  error(result, 0)
end

--- Returns the name of the table in `t.make.TABLE` or `t.make.TABLE:many`.
local function table_of(what)
  return (what:gsub("^t%.make%.", ""):gsub(":many$", ""))
end

local function check_overrides(what, overrides)
  if overrides == nil then return {} end
  if type(overrides) ~= "table" or #overrides > 0 then
    state.mistake("%s: expected a table of columns, got %s%s", what, type(overrides) == "table" and "a list" or errors.describe(overrides),
      math.type(overrides) == "integer" and ("; use %s:many(%d)"):format(what, overrides)
        or type(overrides) == "function" and ("; use factory(%q, { column = function(n, t) ... end }) for values that differ"):format(table_of(what)) or "")
  end
  for column, value in pairs(overrides) do
    if type(value) == "function" then
      state.mistake("%s: `%s`: expected a value, got a function; use factory(%q, { %s = function(n, t) ... end }) for computed values", what,
        tostring(column), table_of(what), tostring(column))
    end
  end
  return overrides
end

--- Returns the object `t.make.TABLE`.
-- @tparam table proxy `t.make`
local function maker(name, proxy)
  local what = "t.make." .. name
  local methods, metatable = {}, { __name = what }

  --- Creates several rows. The rows that they must refer to are created only once.
  function methods:many(count, overrides)
    if type(self) ~= "table" or getmetatable(self) ~= metatable then state.mistake("%s.many: call it with a colon, as in %s:many(3)", what, what) end
    if math.type(count) ~= "integer" or count < 0 then
      state.mistake("%s:many: argument 1: expected a count, got %s", what, errors.describe(count))
    end
    overrides = check_overrides(what .. ":many", overrides)
    return scenario_given.in_transaction(function()
      local records, parents = {}, {}
      for index = 1, count do records[index] = make(name, overrides, parents, {}) end
      return records
    end)
  end

  arity.limit_all(methods, what .. ":")

  function metatable.__index(_, method)
    if methods[method] then return methods[method] end
    require("perilune.runtime.other_names").raise("maker", "method", method, { "many" })
  end

  local call = arity.limited(what, function(_, overrides)
    overrides = check_overrides(what, overrides)
    return scenario_given.in_transaction(function() return make(name, overrides, {}, {}) end)
  end, true, ("use t.make.%s:many(3, { column = value }) for several rows"):format(name))

  function metatable.__call(...)
    if rawequal((select(2, ...)), proxy) then state.mistake("%s: call it with a dot, as in %s{ column = value }", what, what) end
    return call(...)
  end

  function metatable.__tostring() return what end

  return setmetatable({}, metatable)
end

--- Returns `t.make`.
function scenario_factories.proxy()
  local proxy
  proxy = state.proxy("t.make", function(name)
    scenario_database.require_table("t.make", name)
    return maker(name, proxy)
  end)
  return proxy
end

return scenario_factories
