--- Builds and inserts records that belong to other records, and finds or inserts records.
--
--     melville:books():insert{ title = "Omoo", year = 1847 }        -- inserted, with author_id
--     melville:books():build{ title = "Omoo" }                      -- not inserted yet
--     Author:find_or_insert({ name = "Melville" }, { country = "US" })

local perilune = require "perilune"
local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local database_argument = require "perilune.runtime.database_argument"
local marks = require "perilune.runtime.marks"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local class_properties = require "perilune.requests.class_properties"
local request_plans = require "perilune.requests.plans"
local association_records = require "perilune.associations.records"
local record_failures = require "perilune.records.failures"
local raise = errors.raise

--- The functions that scripts call.
local public = {}

local function check_fields(method, position, fields)
  if fields == nil then return {} end
  if type(fields) == "table" and getmetatable(fields) ~= nil then fields = require("perilune.runtime.json").columns(fields) end
  if type(fields) == "table" and getmetatable(fields) == nil then return fields end
  raise("argument", ("%s: argument %d: expected a table of columns, got %s; use %s{ column = value }"):format(method, position, errors.describe(fields), method))
end

--- Returns the class of a request's records.
local function class_of(self, method)
  local class = self.node.root.source.class
  if not class then raise("argument", method .. ": rows of a common table are not records") end
  if self.node.selects then raise("argument", method .. ": rows with selected columns are not records; remove select(...)") end
  return class
end

--- For a request such as `author:books()`, returns the fields that link a new record to `author`. For other requests, returns an empty
-- table.
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

--- Returns the values that a new record of a request must have: the fields that link it to the request's record, and the fields that the
-- request's conditions require.
local function given_by(self, class, method, db)
  local link = fields_of_link(self, class, method, db)
  local fields = association_records.fields_of_conditions(self, class, db)
  for name in pairs(link) do fields[name] = nil end
  return link, fields
end

local function raise_linked(method, name)
  raise("argument", ("%s: `%s` is set by the association, and cannot be given"):format(method, name))
end

--- Builds a record with the given fields and the values that the request determines.
local function build(self, method, db, ...)
  local class = class_of(self, method)
  local link, fields = given_by(self, class, method, db)
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
    if link[name] ~= nil then raise_linked(method, name) end
  end
  local made = class(fields)
  for name, value in pairs(link) do rawset(made, name, value) end
  if parents then require("perilune.associations.parents").keep(made, parents) end
  return made
end

--- Sets the values that the request determines in a new record.
local function adopt(self, method, db, made)
  local class = class_of(self, method)
  if not class:is(made) then
    raise("argument", ("%s: expected a record of %s or a table of columns, got %s"):format(method, class_properties.table(class), errors.describe(made)))
  end
  local link, fields = given_by(self, class, method, db)
  for name, value in pairs(fields) do
    if made[name] == nil then made[name] = value end
  end
  for name, value in pairs(link) do
    local own = made[name]
    if own ~= nil and own ~= value then raise_linked(method, name) end
    made[name] = value
  end
  return made
end

--- Returns the record for the argument of a verb that inserts: a new record or a table of columns.
local function record_of(self, method, db, given)
  if native_records.class_of(given) then return adopt(self, method, db, given) end
  if type(given) == "table" and getmetatable(given) ~= nil then given = require("perilune.runtime.json").columns(given) end
  if type(given) ~= "table" or getmetatable(given) ~= nil then
    raise("argument", ("%s: expected a record or a table of columns, got %s"):format(method, errors.describe(given)))
  elseif given[1] ~= nil then
    raise("argument", ("%s: expected a record or a table of columns, got a list%s"):format(method,
      method == "insert" and "; use insert_all for lists" or ""))
  end
  return build(self, method, db, given)
end

local function link_to(self, made, db)
  local link = rawget(self, "link")
  if link and link.root.options.through then self:add(db, made) end
end

local function insert(self, made, db, options)
  local result = made:insert(db, options)
  if result ~= false and result ~= nil then link_to(self, made, db) end
  return result
end

--- Builds a record that is linked to the request's record: `author:books():build{ title = "Omoo" }`. The record is not inserted.
function public:build(fields, surplus)
  if surplus ~= nil then arity.refuse("build", 1, surplus) end
  local link = rawget(self, "link")
  if not link then raise("argument", "build: expected the request of an association, as in author:books():build{...}; use Class{...} for other records") end
  if link.root.options.through then
    raise("argument", "build: records of an association with `through` are linked when they are inserted; use insert{...}")
  end
  return build(self, "build", nil, check_fields("build", 1, fields))
end

local function check_linked(self, method)
  if rawget(self, "link") then return end
  raise("argument", ("%s: expected the request of an association, as in author:books():%s{...}; use Class:%s{...} for other records"):format(
    method, method, method))
end

--- Inserts a record that is linked to the request's record. The argument is a table of columns or a new record. For an association through
-- another table, also inserts the row of that table. Options and results are the same as for `Class:insert`.
function public:insert(...)
  local db, given, options = database_argument.take("insert", 2, ...)
  check_linked(self, "insert")
  db = request_plans.database_for(db, "insert")
  local made = record_of(self, "insert", db, given)
  return (native_records.with_access(db, "guard", function() return insert(self, made, db, options) end))
end

--- Calls a function for an element of a list. Adds the position to its errors.
local function attempt(position, f, ...)
  local is_done, result = pcall(f, ...)
  if is_done then return result end
  record_failures.add_list_index(result, position)
  error(result, 0)
end

local function insert_linked(self, list, db, options)
  local results = {}
  for position, made in ipairs(list) do
    local result = attempt(position, insert, self, made, db, options)
    if result then results[#results + 1] = result end
  end
  return results
end

--- Inserts a list of records: either all of them or, after an error, none. Options and results are the same as for `Class:insert_all`.
function public:insert_all(...)
  local db, list, options = database_argument.take("insert_all", 2, ...)
  check_linked(self, "insert_all")
  db = request_plans.database_for(db, "insert_all")
  if type(list) == "table" and getmetatable(list) ~= nil then list = require("perilune.runtime.json").rows(list) end
  if type(list) ~= "table" or getmetatable(list) ~= nil then
    raise("argument", "insert_all: expected a list of records, got " .. errors.describe(list))
  end
  local made = {}
  for position, element in next, list do
    -- The class rejects keys that are not positions.
    made[position] = math.type(position) == "integer" and attempt(position, record_of, self, "insert_all", db, element) or element
  end
  local is_through, result = rawget(self, "link").root.options.through ~= nil, nil
  native_records.with_access(db, "guard", function()
    result = is_through and insert_linked(self, made, db, options) or class_of(self, "insert_all"):insert_all(db, made, options)
  end)
  return result
end

-- Finding or inserting -----------------------------------------------------------------------------------------------------------

--- Raises for key fields that cannot be the fields of a new record.
local function check_key(method, key)
  key = check_fields(method, 1, key)
  if next(key) == nil then raise("argument", method .. ": argument 1: expected { column = value, ... }, got an empty table") end
  for name, value in next, key do
    local is_list = type(value) == "table" and getmetatable(value) == nil and value ~= null
    if marks.is_expression(value) or marks.is_request(value) or is_list then
      raise("argument", ("%s: `%s`: expected a value, got %s"):format(method, tostring(name), errors.describe(value)))
    end
  end
  return key
end

--- Returns a request for the rows whose columns match a key. The values of the key are converted as for an insert before they are compared.
local function with_key(self, key, db)
  local source, others, found = self.node.root.source, {}, self
  local details = column_details.of_class(source.class, db)
  for name, value in next, key do
    local column = type(name) == "string" and source:column_named(name, self.node.alias)
    local converter = column and column.shape.op == "column" and value ~= null and details.converters[column.shape.detail]
    if converter then
      found = found:filter(column:eq(converter.form and value or perilune.value(record_values.store(details, nil, column.shape.detail, value))))
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
function public:find_or_build(...)
  local db, key, others = database_argument.take("find_or_build", 2, ...)
  key, others = check_key("find_or_build", key), check_fields("find_or_build", 2, others)
  class_of(self, "find_or_build")
  db = request_plans.database_for(db, "find_or_build")
  association_records.check_agrees(self, "find_or_build", key, db)
  local found = with_key(self, key, db):fetch_one(db)
  if found then return found, false end
  return build(self, "find_or_build", db, key, others), true
end

--- Returns the first record with these fields, or inserts a record with these and other fields.
function public:find_or_insert(...)
  local db, key, others = database_argument.take("find_or_insert", 2, ...)
  key, others = check_key("find_or_insert", key), check_fields("find_or_insert", 2, others)
  class_of(self, "find_or_insert")
  db = request_plans.database_for(db, "find_or_insert")
  association_records.check_agrees(self, "find_or_insert", key, db)
  association_records.check_agrees(self, "find_or_insert", others, db)
  local found, is_new
  native_records.with_access(db, "guard", function()
    found = with_key(self, key, db):fetch_one(db)
    if found then return end
    found, is_new = insert(self, build(self, "find_or_insert", db, key, others), db), true
  end)
  return found, is_new or false
end

return public
