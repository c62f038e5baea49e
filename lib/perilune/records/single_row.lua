--- Tables with at most one row: settings, configurations.
--
--     db:create_table("configuration", function(t)
--       t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
--       t:column("theme", "text")                             -- NULL: not chosen yet
--     end)
--     local Configuration = perilune.single_row("configuration", { defaults = { theme = "light" } })
--     Configuration:find().theme                              --> light, with nothing stored
--     Configuration:find():update_changes(function(c) c.theme = "dark" end)
--
-- A Lua extension of records that only uses features that are available to all scripts: a record class for the row, with two hooks,
-- and an object around each record that provides the defaults. It is meant to be read and adapted.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local perilune = require "perilune"

--- The functions that scripts call.
local public = {}

local function fail(message)
  errors.raise("argument", "perilune.single_row: " .. message)
end

--- Splits the options: the name of the key, the defaults, and the options for `perilune.record`.
local function read_options(options)
  if options ~= nil and type(options) ~= "table" then
    fail("argument 2: expected a table of options, got " .. errors.describe(options))
  end
  local rest = {}
  for option, value in pairs(options or {}) do rest[option] = value end
  local key, defaults = rest.key or "id", rest.defaults or {}
  rest.key, rest.defaults = nil, nil
  if type(key) ~= "string" then fail("option `key`: expected a string, got " .. errors.describe(key)) end
  if type(defaults) ~= "table" then fail("option `defaults`: expected a table, got " .. errors.describe(defaults)) end
  if defaults[key] ~= nil then fail("the key `" .. key .. "` is always 1") end
  return key, defaults, rest
end

--- Returns a copy of a default for each caller, so that tables are not shared.
local function copy(value)
  if type(value) ~= "table" or getmetatable(value) then return value end
  local copied = {}
  for key, element in pairs(value) do copied[key] = copy(element) end
  return copied
end

--- Returns whether two defaults have the same content.
local function is_same(left, right)
  if type(left) ~= "table" or type(right) ~= "table" or getmetatable(left) then return left == right end
  for key, element in pairs(left) do
    if not is_same(element, right[key]) then return false end
  end
  for key in pairs(right) do
    if left[key] == nil then return false end
  end
  return true
end

--- Returns the value of a NULL column for an object: a copy of the default, or the result of a default that is a function.
local function default_of(default, object)
  -- Functions such as perilune.now are called without the object, because they accept no arguments.
  if default == perilune.now or default == perilune.uuid then return default() end
  if type(default) == "function" then return default(object) end
  return copy(default)
end

--- Creates the underlying record class: the key is 1, columns that must not be NULL are set to their defaults, and an update
-- inserts the row if it is missing.
-- @tparam function object_of returns the object of a record
local function make_row_class(name, key, defaults, options, object_of)
  local is_made, Row = pcall(perilune.record, name, options)
  if not is_made then errors.raise(Row.kind, (Row.message:gsub("^perilune%.record:", "perilune.single_row:")), { name = Row.name, suggestion = Row.suggestion }) end

  function Row:will_save(db)
    self[key] = 1
    for _, column in ipairs(db:columns(name)) do
      if column.not_null and self[column.name] == nil then
        local object = object_of(self)
        self[column.name] = object and object[column.name] or default_of(defaults[column.name], self)
      end
    end
  end

  function Row:will_update(db)
    if self:exists(db) then return end
    for column, value in pairs(Row{ [key] = 1 }:insert(db)) do
      if self[column] == nil then self[column] = value end -- the schema's default
    end
  end

  return Row
end

--- The methods that objects forward to their records.
local verbs = {
  "insert", "update", "update_changes", "save", "upsert", "delete", "exists", "refresh", "changes", "has_changes", "invalid",
  "validation_errors",
}

--- Methods that are called when a row is read or written. If they are defined on the class of objects, they receive the object.
local hooks = { validate = true, did_fetch = true }
for _, moment in ipairs{ "will_", "around_", "did_" } do
  for _, verb in ipairs{ "insert", "update", "save", "delete" } do hooks[moment .. verb] = true end
end

--- Creates a class of objects for the single row of a table. Reading a column that is NULL returns its default. A default is stored in the
-- row only if the column cannot be NULL. The key is hidden.
-- @tparam string name the table
-- @tparam ?table options `defaults`: by column, values or functions of the object; `key`: the name of the key, "id" by default;
--   and the options of `perilune.record`
-- @treturn table the class: it can be called, has `find`, and scripts can define methods and hooks on it; `record` is the
--   underlying record class, for associations
function public.single_row(name, options)
  if type(name) ~= "string" then fail("argument 1: expected the name of a table, got " .. errors.describe(name)) end
  local key, defaults, record_options = read_options(options)
  --- Object -> its record, and record -> its object.
  local rows, objects = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "k" })
  local Row = make_row_class(name, key, defaults, record_options, function(row) return objects[row] end)
  --- Object -> by column, the defaults it has returned: `value`, which may be modified in place, and `pristine`, the original
  -- value.
  local given = setmetatable({}, { __mode = "k" })
  local methods, object = { record = Row }, { __name = name, __receiver = "single_row" }

  local function wrap(row)
    for column in pairs(row) do
      if methods[column] ~= nil then fail("the column `" .. column .. "` of `" .. name .. "` has the same name as a method") end
    end
    for column in pairs(defaults) do local _ = row[column] end -- raises for an unknown column
    local self = setmetatable({}, object)
    rows[self], objects[row], given[self] = row, self, {}
    return self
  end

  local function row_of(self, verb)
    return rows[self] or fail(verb .. ": expected the object of a row before the colon, got " .. errors.describe(self)
      .. ", as in Class:find():update_changes{ column = value }")
  end

  --- Returns the value of a NULL column: the same value each time, until the column is assigned.
  local function default_in(self, field)
    local default = defaults[field]
    if type(default) ~= "table" and type(default) ~= "function" then return default end
    local entry = given[self][field]
    if not entry then
      local value = default_of(default, self)
      entry = { value = value, pristine = copy(value) }
      given[self][field] = entry
    end
    return entry.value
  end

  --- Assigns defaults that were modified in place to their columns.
  local function take_choices(self)
    for field, entry in pairs(given[self]) do
      if rows[self][field] == nil and not is_same(entry.value, entry.pristine) then
        rows[self][field], given[self][field] = entry.value, nil
      end
    end
  end

  --- Returns all columns with a value or a default.
  local function values_of(self)
    local values = {}
    for column in pairs(defaults) do values[column] = default_in(self, column) end
    for column, value in pairs(rows[self]) do
      if value ~= nil then values[column] = value end
    end
    values[key] = nil
    return values
  end

  function object:__index(field)
    if methods[field] ~= nil then return methods[field] end
    local value = rows[self][field]
    if value == nil then return default_in(self, field) end
    return value
  end

  function object:__newindex(field, value)
    if field == key then errors.raise("argument", "the key `" .. key .. "` of `" .. name .. "` is always 1") end
    if value == perilune.null then value = nil end
    rows[self][field], given[self][field] = value, nil
  end

  function object:__pairs() return next, values_of(self) end

  --- Compares objects like records: equal if their columns have the same values.
  function object:__eq(other)
    if not rows[self] or not rows[other] then return false end
    take_choices(self)
    take_choices(other)
    return rows[self] == rows[other]
  end

  function object:__tostring()
    local row = Row(values_of(self))
    row[key] = 1
    return tostring(row)
  end

  for _, verb in ipairs(verbs) do
    methods[verb] = function(self, ...)
      local row, arguments = row_of(self, verb), table.pack(...)
      for index = 1, arguments.n do
        local argument = arguments[index]
        -- The block of update_changes receives the object, not the record.
        if type(argument) == "function" then arguments[index] = function() argument(self) take_choices(self) end end
      end
      take_choices(self)
      local result = row[verb](row, table.unpack(arguments, 1, arguments.n))
      return rawequal(result, row) and self or result
    end
  end

  --- Returns another object with the same values, optionally with changes.
  function methods:copy(changes)
    local row = row_of(self, "copy")
    take_choices(self)
    local copied = wrap(row:copy())
    for field, value in pairs(changes or {}) do copied[field] = value end
    return copied
  end

  --- Inserts and returns a copy.
  function methods:inserted(...) return methods.copy(self):insert(...) end

  --- Resets these columns, or all columns, to their defaults. As with assignments, the next write stores the change.
  function methods:reset(...)
    local columns = { ... }
    if #columns == 0 then
      for column in pairs(rows[self]) do columns[#columns + 1] = column end
    end
    for _, column in ipairs(columns) do
      if column ~= key then self[column] = nil end
    end
    return self
  end

  --- Returns the row, or the defaults if it does not exist; never nil.
  function methods.find(_, ...)
    return wrap(Row:fetch_one(...) or Row{ [key] = 1 })
  end

  --- Defines a method of the objects. A hook becomes a hook of the records that receives the object; the hooks of this module run
  -- first.
  local own_hooks = { will_save = Row.will_save, will_update = Row.will_update }
  local function define(_, member, value)
    if not hooks[member] or type(value) ~= "function" then
      methods[member] = value
      return
    end
    local own = own_hooks[member]
    Row[member] = function(row, ...)
      if own then own(row, ...) end
      return value(objects[row] or wrap(row), ...)
    end
  end

  --- Raises for a column, which only objects have, and for names of other libraries.
  local function refuse_member(member)
    local other_names = require "perilune.runtime.other_names"
    if other_names.find("single_row", member) then other_names.raise("single_row", "method", member, { "find", "record" }) end
    local is_known, columns = pcall(function() return native_records.default_database():columns(name) end)
    for _, column in ipairs(is_known and columns or {}) do
      if column.name == member then
        errors.raise("unknown_method", ("no method `%s`; it is a column of `%s`: use Class:find().%s"):format(member, name, member), { name = member })
      end
    end
  end

  return setmetatable({}, {
    __name = "single-row class", __receiver = "SingleRow",
    __index = function(_, member)
      local value = methods[member]
      if value == nil and type(member) == "string" and not hooks[member] then refuse_member(member) end
      return value
    end,
    __newindex = define,
    __call = function(_, values)
      if values ~= nil and type(values) ~= "table" then
        fail("`" .. name .. "`{...}: expected a table of columns, got " .. errors.describe(values))
      end
      local self = wrap(Row{ [key] = 1 })
      for field, value in pairs(rows[values] or values or {}) do
        if not rows[values] or field ~= key then self[field] = value end
      end
      return self
    end,
  })
end

return public
