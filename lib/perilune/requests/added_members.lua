--- Members that requests and associations add to record classes and records, loaded on first use.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local class_properties = require "perilune.requests.class_properties"
local marks = require "perilune.runtime.marks"
local record_class = require "perilune.records.class"
local fetching = require "perilune.records.fetching"
local raise = errors.raise

local added_members = {}

--- Loads the methods of requests, and the modules that add further ones. Set by the module that assembles the library.
-- @return the module perilune.requests.class_methods
added_members.load_methods = nil

local function class_request(class)
  added_members.load_methods()
  return require("perilune.requests.source").class_request(class)
end

function marks.request_of(value)
  require "perilune.requests.source"
  return require("perilune.requests.request").of(value)
end

function marks.check_statement(verb, class, sql, values)
  added_members.load_methods()
  require("perilune.requests.condition_mistakes").statement(verb, class, sql, values)
end

--- Returns a new table of those request methods that are also class methods.
-- @tparam ?table info the class whose named requests are included
function record_class.request_methods(info)
  local methods = {}
  for name, method in pairs(added_members.load_methods().methods) do methods[name] = method end
  if info then
    for name in pairs(require("perilune.requests.source").of_class(info.class).all_requests()) do methods[name] = true end
  end
  return methods
end

-- Class members -----------------------------------------------------------------------------------------------------------------

--- Returns a class member that was not assigned to the class: a method of requests, its columns, or a named request.
local function member(info, name)
  local found = added_members.load_methods().member(info.class, name)
  if found ~= nil then rawset(info.lookup, name, found) end
  return found
end

--- Members that a class does not inherit: its columns, named requests and named expressions.
local own_members = { c = true, requests = true, expressions = true }

--- Returns the member that a class inherits from the classes it extends, or that all classes have.
local function inherited(info, name)
  for ancestor in record_class.ancestors(info.base) do
    local found = rawget(ancestor.lookup, name)
    if found ~= nil then return found end
  end
  return rawget(record_class.class_verbs, name)
end

record_class.on_creation(function(info)
  info.associations = {}
  setmetatable(info.lookup, { __index = function(_, name)
    local found
    -- The class verbs take precedence over request methods with the same name, because they also accept SQL, statements and keys.
    if not own_members[name] then found = inherited(info, name) end
    -- Caches the verb only for a class that extends no other. An assignment to the class itself replaces a cached verb, but an assignment
    -- to a class that it extends would not.
    if found ~= nil and not info.base then rawset(info.lookup, name, found) end
    if not found and type(name) == "string" then found = member(info, name) or found end
    if found ~= nil then return found end
    record_class.raise_unknown_member(info, name)
  end })
  info.missing = function(_, name)
    local association = info.associations[name]
    return association ~= nil, association
  end
end)

--- Returns the value fetched into an association's field: a record, a list, or nil if no row belongs to the record. Raises if the
-- association was not included. (In that case `record.author` would be the association itself, which counts as true in a Lua condition.)
local function included(self, name, surplus)
  record_class.require_record("included", self)
  if surplus ~= nil then require("perilune.runtime.arity").refuse("included", 1, surplus) end
  if not class_properties.association(record_class.info_of(self).class, name) then
    errors.raise_unknown("association", tostring(name), class_properties.association_names(record_class.info_of(self).class))
  end
  local value = self[name]
  -- Reading from an association whose rows were not fetched raises.
  if marks.is_association(value) then return value.included end
  return value
end

record_class.add_instance_verbs{ included = included }

-- Default scopes ---------------------------------------------------------------------------------------------------------------

--- Returns whether a class verb was called without arguments or only with a database: without SQL or a statement.
local function is_bare(first, ...)
  return select("#", ...) == 0 and (first == nil or native_records.is_database(first))
end

--- Returns the record with a key within the default scope of a class; without a key, the first record.
local function fetch_in_scope(verb, class, db, key)
  local all = class_request(class)
  if key == nil then return all[verb](all, db) end
  local is_columns = type(key) == "table" and getmetatable(key) == nil
  if is_columns then fetching.check_unique(verb, class, db, key) end
  local wanted = is_columns and all:filter(key) or all:filter_key(key)
  local found = wanted:fetch_one(db)
  if found == nil and verb == "find" then fetching.raise_none(class, db, key) end
  return found
end

--- Restricts the class verbs that read all records, or one record by its key, to the default scope of the class.
function added_members.scope(class)
  local info = record_class.info(class)
  local lookup = info.lookup
  info.fetch_in_scope = fetch_in_scope
  for _, verb in ipairs{ "fetch_all", "rows", "fetch_count" } do
    local own = record_class.class_verbs[verb]
    rawset(lookup, verb, function(any_class, ...)
      if not is_bare(...) then return own(any_class, ...) end
      local all = class_request(any_class)
      return all[verb](all, (...))
    end)
  end
  lookup.find, lookup.fetch_one = fetching.find, fetching.fetch_one
  rawset(lookup, "delete_all", function(any_class, ...)
    local all = class_request(any_class)
    local result = all:delete_all(...)
    -- Without `returning`, the result is the number of rows, as for any class.
    return type(result) == "userdata" and result.changed_rows or result
  end)
end

record_class.on_completion(function(info)
  if info.soft_delete then added_members.scope(info.class) end
end)

--- The columns, named requests and expressions of a class cannot be replaced.
record_class.on_definition(function(_, name, value)
  if not marks.is_association(value) and own_members[name] then
    raise("readonly", "`" .. name .. "` of a record class cannot be set; named requests are functions in Class.requests, named "
      .. "expressions are in Class.expressions")
  end
  return false
end)

return added_members
