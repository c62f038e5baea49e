--- Completion: the names that can occur at a position of the input.

local databases = require "perilune.native.databases"
local native_records = require "perilune.native.records"
local marks = require "perilune.runtime.marks"
local models = require "console.models"
local record_class = lazily "perilune.records.class"
local request = lazily "perilune.requests.request"

local completion = {}

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or",
  "repeat", "return", "then", "true", "until", "while",
}

local function add_keys(set, source)
  for key in next, source do
    if type(key) == "string" then set[key] = true end
  end
end

local function request_methods(set)
  -- Loads the methods now. Otherwise they would be missing until a script first uses a class.
  require "perilune.request_assembly"
  add_keys(set, request.derivations)
  add_keys(set, request.verbs)
end

local function column_names(set, table_name)
  local is_known, columns = pcall(function() return _G.db:columns(table_name) end)
  for _, column in ipairs(is_known and columns or {}) do set[column.name] = true end
end

local function class_names(set, class, separator)
  local info = record_class.info(class)
  for ancestor in record_class.ancestors(info) do
    add_keys(set, ancestor.members)
    if separator == "." then add_keys(set, ancestor.associations or {}) end
  end
  if separator == ":" then
    add_keys(set, record_class.class_verbs)
    request_methods(set)
  else
    set.c, set.requests, set.draft = true, true, true
  end
end

local function record_names(set, info, separator)
  for ancestor in record_class.ancestors(info) do
    add_keys(set, ancestor.members)
    if separator == ":" then add_keys(set, ancestor.associations or {}) end
  end
  if separator == ":" then add_keys(set, record_class.instance_verbs) else column_names(set, info.table) end
end

--- Returns the members of a value, after a dot or a colon.
local function members(value, separator)
  local set = {}
  if type(value) == "string" then
    add_keys(set, string)
  elseif native_records.is_database(value) then
    add_keys(set, databases.methods)
  elseif type(value) == "table" then
    if marks.is_request(value) then request_methods(set)
    elseif record_class.info(value) then class_names(set, value, separator)
    elseif native_records.class_of(value) then record_names(set, record_class.info_of(value), separator)
    elseif marks.is_expression(value) then
      if separator == ":" then add_keys(set, require "perilune.expressions.methods") end
    elseif native_records.is_row(value) then
      if separator == ":" then add_keys(set, require "perilune.runtime.row") end
      for _, name in ipairs(require("perilune.native.rows").columns(value)) do set[name] = true end
    else add_keys(set, value) end
  end
  return set
end

local function sorted(set)
  local list = {}
  for name in next, set do
    if not name:match("^__") then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

local function global_names()
  local set = {}
  add_keys(set, _G)
  for _, name in ipairs(keywords) do set[name] = true end
  for _, model in ipairs(models.list()) do set[model.class] = true end
  return set
end

-- Calls ----------------------------------------------------------------------------------------------------------------

-- Completion never calls functions. It infers the result of a call from the name of the method.
local record_verbs = {}
for _, name in ipairs{
  "find", "fetch_one", "find_or_insert", "first", "last", "insert", "inserted", "update", "save", "upsert", "refresh", "from_row",
  "copy", "restore",
} do record_verbs[name] = true end

--- Returns the result of a call, if the name of the function determines it: { record = class }, { request = class } or nil.
local function result_of_call(owner, name)
  local class = owner.record or owner.request or (type(owner.value) == "table" and (native_records.class_of(owner.value)
    or (record_class.info(owner.value) and owner.value)))
  if not class then return nil end
  local is_record = owner.record or (owner.value ~= nil and native_records.class_of(owner.value))
  if is_record then
    local associated = record_class.info(class).associations and record_class.info(class).associations[name]
    local is_known, target = pcall(function() return associated.node.root.target end)
    if is_known and target then return { request = target } end
  end
  if record_verbs[name] then return { record = class } end
  if is_record then return nil end
  request_methods({})
  if rawget(request.derivations, name) then return { request = class } end
  local method = rawget(record_class.info(class), "members") and record_class.info(class).members[name]
  return marks.is_request(method) and { request = class } or nil
end

--- Resolves the expression before a separator: { value = }, { record = class }, { request = class }, or nil.
-- @tparam {string,...} parts a name, followed by `.name`, `.name()` or `:name()`; the name itself may be a call too
local function resolve(parts)
  local name, is_call = parts[1]:match("^(.-)(%(?%)?)$")
  local owner = { value = _G[name] }
  if owner.value == nil then return nil end
  if is_call ~= "" then
    if type(owner.value) ~= "table" or not record_class.info(owner.value) then return nil end
    owner = { record = owner.value }
  end
  for index = 2, #parts do
    local member, call = parts[index]:match("^[.:](.-)(%(?%)?)$")
    if call ~= "" then
      owner = result_of_call(owner, member)
    elseif owner.value ~= nil then
      local found = owner.value[member]
      owner = found ~= nil and { value = found } or nil
    else
      owner = nil
    end
    if owner == nil then return nil end
  end
  return owner
end

--- Returns the names that can follow the separator.
-- @tparam string separator "" for a global name, "." or ":" after an expression
-- @param ... the parts of the expression: see `resolve`
function completion.names(separator, ...)
  if separator == "" then return sorted(global_names()) end
  local set, parts = {}, { ... }
  -- `Class.c` contains the columns.
  if #parts > 1 and (parts[#parts] == ".c") then
    local class = _G[parts[1]]
    if type(class) == "table" and record_class.info(class) then
      column_names(set, record_class.info(class).table)
      return sorted(set)
    end
  end
  local owner = parts[1] and resolve(parts)
  if owner and owner.record then
    record_names(set, record_class.info(owner.record), separator)
    return sorted(set)
  end
  if owner and owner.value ~= nil then return sorted(members(owner.value, separator)) end
  local ends_with_call = not parts[1] or parts[#parts]:sub(-2) == "()"
  if separator == ":" and ((owner and owner.request) or ends_with_call) then request_methods(set) end
  return sorted(set)
end

--- Returns the names of SQL functions, or of PRAGMAs.
function completion.sql_names(kind)
  local sql = kind == "pragma" and "SELECT name FROM pragma_pragma_list ORDER BY name"
    or "SELECT DISTINCT name FROM pragma_function_list WHERE name GLOB '[a-z_]*' AND name NOT GLOB 'perilune_*' ORDER BY name"
  local is_known, names = pcall(function() return _G.db:fetch_values(sql) end)
  return is_known and names or {}
end

return completion
