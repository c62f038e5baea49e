--- Requests and associations of record classes: what classes and records have because of them, loaded when it is first used.

local internal = ...
local records, record, raise = internal.records, internal.record, internal.raise

internal.default_database, internal.is_database = records.default_database, records.is_database
internal.schema_generation = records.schema_generation

--- The innermost access or the default database; nil if there is neither.
function internal.database_at_hand()
  local has_one, db = pcall(records.default_database)
  return has_one and db or nil
end

--- The table of a class, as the database at hand has it; nil if that has none, or there is none.
-- @return the table; nil
-- @return ?table as the class has seen it last, in some database
function internal.class_schema(class)
  local info, db = record.info(class), internal.database_at_hand()
  if db then
    local is_there, schema = pcall(internal.table_schema, db, info.table)
    if is_there then return schema end
    if schema.kind ~= "unknown_table" then error(schema, 0) end
  end
  local _, plan = records.plans(info.model)
  return nil, plan and records.plan_schema(plan).schema
end

function internal.is_record_class(value)
  return record.info(value) ~= nil
end

--- The table of a class, and the class that it extends.
function internal.class_table(class) return record.info(class).table end
function internal.base_class(class)
  local base = record.info(class).base
  return base and base.class
end

--- A value for messages: records and requests by name.
function internal.name_of(value)
  local info = record.info_of(value)
  if info then return "a record of `" .. info.table .. "`" end
  if record.info(value) then return "the record class `" .. record.info(value).table .. "`" end
  for _, mark in ipairs{ "request", "association" } do
    if internal["is_" .. mark](value) then return "a " .. mark end
  end
  return internal.describe(value)
end

--- The name by which records of a class have the row id of a table as their key; nil if they do not.
function internal.row_id_key(class, schema)
  return internal.load("perilune.records.description").row_id_key(record.info(class), schema)
end

--- The names of the columns that the class says are its key; nil if it does not.
function internal.own_key(class)
  return record.info(class).primary_key
end

-- What writes values ----------------------------------------------------------------------------------------------------------

--- What makes values of a column as the database stores them, for columns whose type the class has named, and whether these are
-- JSON documents, so that a table is one value; or nil.
function internal.column_writer(class, name)
  local info, types = record.info(class), nil
  for ancestor in record.ancestors(info) do types = types or ancestor.options and ancestor.options.types end
  local is_named = types ~= nil and types[name] ~= nil
  local column_types = internal.load("perilune.records.column_types")
  local schema, former = internal.class_schema(class)
  schema = schema or former
  local converter
  if schema then converter = column_types.of(schema, types)[name]
  elseif is_named then converter = column_types.converter(types[name], "column `" .. name .. "`") end
  if not converter or not converter.write or not (is_named or converter.name == "blob") then return nil end
  return function(value)
    if value == internal.null then return value end
    local written, message = converter.write(value)
    if written == nil then column_types.fail(schema or { name = info.table }, name, message) end
    return written
  end, converter.name == "json"
end

--- The methods that classes have of requests: another table with them by name.
function record.request_methods()
  local methods = {}
  for name, method in pairs(internal.load("perilune.requests.class").methods) do methods[name] = method end
  return methods
end

-- Members of classes ------------------------------------------------------------------------------------------------------------

--- What a class has that it has not been given: methods of requests, its columns, its named requests.
local function member(info, name)
  local found = internal.load("perilune.requests.class").member(info.class, name)
  if found ~= nil then rawset(info.lookup, name, found) end
  return found
end

--- What each class has of its own: its columns and its named requests.
local own_members = { c = true, requests = true }

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
    if not found and type(name) == "string" then found = member(info, name) or found end
    if found ~= nil then return found end
    return record.class_verbs[name]
  end })
  info.missing = function(_, name)
    local association = info.associations[name]
    return association ~= nil, association
  end
end

-- Default scopes ---------------------------------------------------------------------------------------------------------------

--- Whether the arguments of a verb of a class are a database at most, and not SQL or a statement.
local function is_bare(first, ...)
  return select("#", ...) == 0 and (first == nil or records.is_database(first))
end

--- What finds a record by its key within the scope of a class.
local function scoped_finder(verb, own)
  return function(class, ...)
    local db, key = ...
    if not records.is_database(db) then db, key = nil, db end
    local all = internal.class_request(class)
    if key == nil and verb == "fetch_one" then return all:fetch_one(db) end
    if records.is_statement(key) or select("#", ...) > (db and 2 or 1) then return own(class, ...) end
    if type(key) == "table" and getmetatable(key) == nil and #key > 0 then
      local found = {}
      for index, one in ipairs(key) do
        local wanted = all:filter_key(one)
        found[index] = wanted[verb](wanted, db)
      end
      return found
    end
    if key == nil then return own(class, ...) end
    local is_columns = type(key) == "table" and getmetatable(key) == nil
    local wanted = is_columns and all:filter(key) or all:filter_key(key)
    return wanted[verb](wanted, db)
  end
end

--- Makes the verbs of a class that read all records, or one by its key, those of its default scope.
function internal.scope_class(class)
  local lookup = record.info(class).lookup
  for _, verb in ipairs{ "fetch_all", "rows", "fetch_count" } do
    local own = record.class_verbs[verb]
    rawset(lookup, verb, function(any_class, ...)
      if not is_bare(...) then return own(any_class, ...) end
      local all = internal.class_request(any_class)
      return all[verb](all, (...))
    end)
  end
  for _, verb in ipairs{ "fetch_one", "find" } do rawset(lookup, verb, scoped_finder(verb, record.class_verbs[verb])) end
  rawset(lookup, "delete_all", function(any_class, ...)
    local all = internal.class_request(any_class)
    return all:delete_all(...)
  end)
end

--- Whether the table has a column of that name, as far as it is there.
local function is_column(info, name)
  if info.known[name] then return true end
  local ok, column = pcall(function() return internal.request_source(info.class):column_named(name) end)
  return ok and column ~= nil
end

--- Associations are stored apart from methods: records find them under their name as well.
record.definers[#record.definers + 1] = function(info, name, value)
  if not internal.is_association(value) then
    if name == "c" or name == "requests" then
      raise("readonly", "`" .. name .. "` of a record class cannot be set; named requests are functions in Class.requests")
    end
    return false
  end
  if type(name) ~= "string" then
    raise("argument", "an association is stored under a name, not under " .. internal.describe(name))
  elseif is_column(info, name) then
    raise("argument", "`" .. info.table .. "` has a column `" .. name .. "`; give the association another name")
  end
  value = internal.name_association(info.class, name, value)
  info.associations[name] = value
  rawset(info.lookup, name, value)
  return true
end

return true
