--- Creates records that belong to other records, and finds or creates records.
--
--     melville:books():create{ title = "Omoo", year = 1847 }        -- inserted, with author_id
--     melville:books():build{ title = "Omoo" }                      -- not inserted yet
--     Author:find_or_create({ name = "Melville" }, { country = "US" })

local perilune = require "perilune"
local native_values = require "perilune.native.values"
local null = native_values.null
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local database_argument = require "perilune.runtime.database_argument"
local marks = require "perilune.runtime.marks"
local records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local record_info = require "perilune.records.info"
local record_values = require "perilune.records.values"
local classes = require "perilune.requests.classes"
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local association_records = require "perilune.associations.records"
local raise = errors.raise
local verbs = request.verbs

local function check_fields(method, position, fields)
  if fields == nil then return {} end
  if type(fields) == "table" and getmetatable(fields) == nil then return fields end
  raise("argument", ("%s: argument %d: expected a table of columns, got %s"):format(method, position, classes.name_of(fields)))
end

--- Returns the class of a request's records.
local function class_of(self, method)
  local class = self.node.root.source.class
  if not class then raise("argument", method .. ": rows of a common table are not records") end
  if self.node.selects then raise("argument", method .. ": rows with selected columns are not records; remove select(...)") end
  return class
end

--- Returns the fields that link a record of a class to the record that the request belongs to; empty for other requests.
local function fields_of_link(self, class, method, db)
  local link = rawget(self, "link")
  if not link or link.root.options.through then return {} end
  local root, fields = link.root, {}
  if root.kind == "belongs_to" then
    raise("argument", ("%s: the record belongs to `%s`; insert that first, and set the columns of the record"):format(method, root.name))
  end
  local owner_columns, target_columns = association_records.columns_of(root, db)
  for index, name in ipairs(owner_columns) do
    local value = association_records.stored_field(link.record, name)
    if value == nil then
      raise("argument", ("%s: the record has no `%s` yet; insert it first"):format(method, name))
    end
    fields[target_columns[index]] = association_records.field_of(class, target_columns[index], value, db)
  end
  return fields
end

--- Raises for a field that contradicts the conditions of a request, because the request would never find the new record.
local function check_agrees(self, method, given, db)
  local class = self.node.root.source.class
  local info, fields = record_info.of_class(class, db), association_records.fields_of_conditions(self, class, db)
  local function stored(name, value)
    if value == null then return nil end
    return native_values.plain(record_values.store(info, nil, name, value))
  end
  for name, value in next, given do
    if fields[name] ~= nil and stored(name, fields[name]) ~= stored(name, value) then
      raise("argument", ("%s: `%s` is %s, but all records of the request have %s; use Class:%s{...}, or a request without that condition")
        :format(method, name, errors.describe(value), errors.describe(fields[name]), method))
    end
  end
end

--- Builds a record with the given fields that belongs to the request's record.
local function build(self, method, db, ...)
  local class = class_of(self, method)
  local link = fields_of_link(self, class, method, db)
  local fields = association_records.fields_of_conditions(self, class, db)
  for name in pairs(link) do fields[name] = nil end
  for index = 1, select("#", ...) do
    for name, value in next, (select(index, ...)) do fields[name] = value end
  end
  local info, parents = record_class.info(class), nil
  if record_class.names_associations(info, fields) then
    fields, parents = require("perilune.associations.parents").divide(info, fields, method, db)
    for name, value in pairs(link) do
      if fields[name] == value then fields[name] = nil end
    end
  end
  for name in next, fields do
    if link[name] ~= nil then
      raise("argument", ("%s: `%s` is set by the association, and cannot be given"):format(method, name))
    end
  end
  local made = class(fields)
  for name, value in pairs(link) do rawset(made, name, value) end
  if parents then require("perilune.associations.parents").keep(made, parents) end
  return made
end

local function insert(self, made, db)
  made:insert(db)
  local link = rawget(self, "link")
  if link and link.root.options.through then self:add(db, made) end
  return made
end

--- Builds a record that belongs to the request's record: `author:books():build{ title = "Omoo" }`. The record is not inserted.
function verbs:build(fields, surplus)
  if surplus ~= nil then arity.refuse("build", 1, surplus) end
  local link = rawget(self, "link")
  if not link then raise("argument", "build: expected the request of an association, as in author:books():build{...}; use Class{...} for other records") end
  if link.root.options.through then
    raise("argument", "build: records of an association with `through` are linked when they are inserted; use create{...}")
  end
  return build(self, "build", nil, check_fields("build", 1, fields))
end

--- Builds and inserts a record. If the association leads through another table, the record is also linked.
function verbs:create(...)
  local db, fields = database_argument.take("create", 1, ...)
  if not rawget(self, "link") then
    raise("argument", "create: expected the request of an association, as in author:books():create{...}; use Class:insert{...} for other records")
  end
  db = request_plans.database_for(db, "create")
  local made = build(self, "create", db, check_fields("create", 1, fields))
  return (records.with_access(db, "guard", function() return insert(self, made, db) end))
end

-- Finding or creating -----------------------------------------------------------------------------------------------------------

--- Raises for values that cannot be fields of a new record.
local function check_key(method, key)
  key = check_fields(method, 1, key)
  if next(key) == nil then raise("argument", method .. ": argument 1: expected { column = value, ... }, got an empty table") end
  for name, value in next, key do
    local is_list = type(value) == "table" and getmetatable(value) == nil and value ~= null
    if marks.is_expression(value) or marks.is_request(value) or is_list then
      raise("argument", ("%s: `%s`: expected a value, got %s"):format(method, tostring(name), classes.name_of(value)))
    end
  end
  return key
end

--- Returns the request's rows whose columns have the values of a key, as an insert would have stored them.
local function with_key(self, key, db)
  local source, others, found = self.node.root.source, {}, self
  local info = record_info.of_class(source.class, db)
  for name, value in next, key do
    local column = type(name) == "string" and source:column_named(name, self.node.alias)
    local converter = column and column.shape.op == "column" and value ~= null and info.converters[column.shape.detail]
    if converter then
      found = found:filter(column:eq(converter.form and value or perilune.value(record_values.store(info, nil, column.shape.detail, value))))
    else
      others[name] = value
    end
  end
  return next(others) ~= nil and found:filter(others) or found
end

--- Returns the first record with these fields, or builds a record with these and other fields without inserting it.
-- @tparam ?database db
-- @tparam table key columns with values
-- @tparam ?table others more fields for a new record
-- @return the record
-- @return whether it is new
function verbs:find_or_build(...)
  local db, key, others = database_argument.take("find_or_build", 2, ...)
  key, others = check_key("find_or_build", key), check_fields("find_or_build", 2, others)
  class_of(self, "find_or_build")
  db = request_plans.database_for(db, "find_or_build")
  check_agrees(self, "find_or_build", key, db)
  local found = with_key(self, key, db):fetch_one(db)
  if found then return found, false end
  return build(self, "find_or_build", db, key, others), true
end

--- Returns the first record with these fields, or inserts a record with these and other fields.
function verbs:find_or_create(...)
  local db, key, others = database_argument.take("find_or_create", 2, ...)
  key, others = check_key("find_or_create", key), check_fields("find_or_create", 2, others)
  class_of(self, "find_or_create")
  db = request_plans.database_for(db, "find_or_create")
  check_agrees(self, "find_or_create", key, db)
  check_agrees(self, "find_or_create", others, db)
  local found, is_new
  records.with_access(db, "guard", function()
    found = with_key(self, key, db):fetch_one(db)
    if found then return end
    found, is_new = insert(self, build(self, "find_or_create", db, key, others), db), true
  end)
  return found, is_new or false
end

return verbs
