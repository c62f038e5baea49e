--- The names that can stand at a place of the input.

local databases = require "perilune.native.databases"
local records = require "perilune.native.records"
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
  -- What loads them is a class that is asked for one.
  require "perilune.request_methods"
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

local function record_names(set, value, separator)
  local info = record_class.info_of(value)
  for ancestor in record_class.ancestors(info) do
    add_keys(set, ancestor.members)
    if separator == ":" then add_keys(set, ancestor.associations or {}) end
  end
  if separator == ":" then add_keys(set, record_class.instance_verbs) else column_names(set, info.table) end
end

--- The members of a value, after a dot or a colon.
local function members(value, separator)
  local set = {}
  if type(value) == "string" then
    add_keys(set, string)
  elseif records.is_database(value) then
    add_keys(set, databases.methods)
  elseif type(value) == "table" then
    if marks.is_request(value) then request_methods(set)
    elseif record_class.info(value) then class_names(set, value, separator)
    elseif records.class_of(value) then record_names(set, value, separator)
    elseif records.is_row(value) then
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

--- The names that can follow.
-- @tparam string separator "" for a name of its own, "." or ":" after a chain of names, "call" after a call that gives a request
-- @param ... the chain of names
function completion.names(separator, ...)
  if separator == "" then return sorted(global_names()) end
  local set = {}
  if separator == "call" then
    request_methods(set)
    return sorted(set)
  end
  local names = { ... }
  -- `Class.c` has the columns.
  if #names > 1 and names[#names] == "c" then
    local class = _G[names[1]]
    if type(class) == "table" and record_class.info(class) then
      column_names(set, record_class.info(class).table)
      return sorted(set)
    end
  end
  local value = _G[names[1]]
  for index = 2, #names do
    if value == nil then return {} end
    value = value[names[index]]
  end
  return value == nil and {} or sorted(members(value, separator))
end

return completion
