--- Requests and associations of record classes: what classes and records have because of them, loaded when it is first used.

local errors = require "perilune.native.errors"
local records = require "perilune.native.records"
local classes = require "perilune.requests.classes"
local marks = require "perilune.runtime.marks"
local record = require "perilune.records.class"
local fetching = require "perilune.records.fetching"
local raise = errors.raise

local record_classes = {}

--- Loads the methods of requests, and what rooms above requests add to them: what composes the rooms sets it.
-- @return the module perilune.requests.class
record_classes.load_methods = nil

local function class_request(class)
  record_classes.load_methods()
  return require("perilune.requests.source").class_request(class)
end

function marks.request_of(value)
  require "perilune.requests.source"
  return require("perilune.requests.request").of(value)
end

--- The methods that classes have of requests: another table with them by name.
-- @tparam ?table info of a class, whose named requests are among them
function record.request_methods(info)
  local methods = {}
  for name, method in pairs(record_classes.load_methods().methods) do methods[name] = method end
  if info then
    for name in pairs(require("perilune.requests.source").of_class(info.class).all_requests()) do methods[name] = true end
  end
  return methods
end

-- Members of classes ------------------------------------------------------------------------------------------------------------

--- What a class has that it has not been given: methods of requests, its columns, its named requests.
local function member(info, name)
  local found = record_classes.load_methods().member(info.class, name)
  if found ~= nil then rawset(info.lookup, name, found) end
  return found
end

--- What each class has of its own: its columns, its named requests and expressions.
local own_members = { c = true, requests = true, expressions = true }

--- What the classes that it extends have under a name, or every class has.
local function inherited(info, name)
  for ancestor in record.ancestors(info.base) do
    local found = rawget(ancestor.lookup, name)
    if found ~= nil then return found end
  end
  return rawget(record.class_verbs, name)
end

record.creators[#record.creators + 1] = function(info)
  info.associations = {}
  setmetatable(info.lookup, { __index = function(_, name)
    local found
    -- The verbs of classes come before those of requests that are called the same: they take SQL, statements and keys too.
    if not own_members[name] then found = inherited(info, name) end
    -- What the class itself is given later replaces a kept verb; what a class that it extends is given would not.
    if found ~= nil and not info.base then rawset(info.lookup, name, found) end
    if not found and type(name) == "string" then found = member(info, name) or found end
    if found ~= nil then return found end
    record.raise_unknown_member(info, name)
  end })
  info.missing = function(_, name)
    local association = info.associations[name]
    return association ~= nil, association
  end
end

--- What was fetched into the field of an association: a record, a list, or nil if no row belongs to the record. Raises if the association
-- was not included, where `record.author` itself is the association, which is true in a condition.
function record.instance_verbs.included(self, name, surplus)
  record.require_record("included", self)
  if surplus ~= nil then require("perilune.runtime.arity").refuse("included", 1, surplus) end
  if not classes.association(record.info_of(self).class, name) then
    errors.raise_unknown("association", tostring(name), classes.association_names(record.info_of(self).class))
  end
  local value = self[name]
  -- Whatever is read from an association in place of its rows raises.
  if marks.is_association(value) then return value.included end
  return value
end

-- Default scopes ---------------------------------------------------------------------------------------------------------------

--- Whether the arguments of a verb of a class are a database at most, and not SQL or a statement.
local function is_bare(first, ...)
  return select("#", ...) == 0 and (first == nil or records.is_database(first))
end

--- The record of a key within the scope of a class; without a key, the first one.
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

--- Makes the verbs of a class that read all records, or one by its key, those of its default scope.
function record_classes.scope(class)
  local info = record.info(class)
  local lookup = info.lookup
  info.fetch_in_scope = fetch_in_scope
  for _, verb in ipairs{ "fetch_all", "rows", "fetch_count" } do
    local own = record.class_verbs[verb]
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
    -- Without `returning` how many there were, as for any class.
    return type(result) == "userdata" and result.changed_rows or result
  end)
end

record.finishers[#record.finishers + 1] = function(info)
  if info.soft_delete then record_classes.scope(info.class) end
end

--- The columns, the named requests and expressions of a class keep their places.
record.definers[#record.definers + 1] = function(_, name, value)
  if not marks.is_association(value) and own_members[name] then
    raise("readonly", "`" .. name .. "` of a record class cannot be set; named requests are functions in Class.requests, named "
      .. "expressions are in Class.expressions")
  end
  return false
end

return record_classes
