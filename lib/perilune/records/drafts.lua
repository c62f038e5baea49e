--- Drafts: records that are still being filled in. A draft has the fields of a record and may have its key, but it has no row.
--
--     local draft = Reminder:draft{ title = "Get groceries" }
--     local reminder = Reminder:insert(draft)              -- the database chooses the key
--     Reminder:upsert(Reminder:draft(reminder))            -- the draft of a record has its key
--
-- Inserting a draft writes its columns; without a key, the database chooses one. An upsert updates the row with the key of the
-- draft, or inserts one. Methods of the class that do not write can be called on drafts.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local writing = require "perilune.records.writing"
local record_class = require "perilune.records.class"
local record_fields = require "perilune.records.fields"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local value_text = require "perilune.runtime.value_text"

local draft = {}

--- The verbs of records that read or write rows.
local verbs = {
  insert = true, update = true, update_changes = true, save = true, upsert = true, delete = true, exists = true,
  refresh = true, changes = true, has_changes = true,
}

--- Draft -> its class.
local classes = setmetatable({}, { __mode = "k" })

--- Returns the class of a draft; nil for any other value.
function draft.class_of(value)
  return type(value) == "table" and classes[value] or nil
end

local function raise_verb(class, verb)
  local table_name = record_class.info(class).name
  errors.raise("draft", "`" .. verb .. "`: a draft of `" .. table_name .. "` has no row; use `Class:insert(draft)` to create "
    .. "one, or `Class:upsert(draft)` to create or update the row with its key", { table = table_name })
end

--- The column details for a class whose table is not known yet: any name may be a column.
local any_column = { affinity = "blob" }
local unknown = { declared = setmetatable({}, { __index = function() return any_column end }), converters = {} }

local function details_of(class)
  return column_details.of_any(class) or unknown
end

--- Returns the column details, after reading the schema again if the column is missing, because another connection may have added it.
local function details_with(class, column)
  local details = details_of(class)
  if details.declared[column] or type(column) ~= "string" then return details end
  local has_one, db = pcall(native_records.default_database)
  if has_one then native_records.touch_schema(db) end
  return details_of(class)
end

--- Returns the names of the columns that a draft or record may have.
local function columns_of(details, value)
  if details.columns then return details.columns end
  local columns = {}
  for column in next, value do columns[#columns + 1] = column end
  table.sort(columns)
  return columns
end

--- Returns the fields of a draft or record. Tables are copied, so that they are not shared.
local function copy_of_fields(details, value)
  local fields = {}
  for _, column in ipairs(columns_of(details, value)) do
    fields[column] = record_values.copy(details, column, rawget(value, column))
  end
  return fields
end

local function raise_unknown(class, key, details)
  errors.raise_unknown_column(tostring(key), record_class.info(class).table, details.columns)
end

local methods = {}

--- Returns another draft with the same fields.
function methods:copy()
  local class = classes[self]
  local details = details_of(class)
  local copy = draft.new(class, copy_of_fields(details, self))
  record_values.keep_null_documents(details, self, copy)
  return copy
end

--- Returns the errors of the draft that the `validate` method of its class finds; see records.
function methods:validation_errors(db)
  local class = classes[self]
  local record = class(copy_of_fields(details_of(class), self))
  return record:validation_errors(db)
end

require("perilune.runtime.arity").limit_all(methods, "draft:")

local function index(self, key)
  local class = classes[self]
  local info = record_class.info(class)
  if info.computed and info.computed[key] then return record_fields.get(info, self, key) end
  local details = details_of(class)
  if details.columns and details.declared[key] then return nil end
  if methods[key] then return methods[key] end
  if verbs[key] then raise_verb(class, key) end
  local method = record_class.method(record_class.info(class), key)
  if method ~= nil or not details.columns then return method end
  details = details_with(class, key)
  if not details.declared[key] then raise_unknown(class, key, details) end
end

local function assign(self, key, value)
  local class = classes[self]
  local info = record_class.info(class)
  if info.computed and info.computed[key] then return record_fields.set(info, self, key, value) end
  local association = record_class.association(info, key)
  if association then return record_class.parents.assign(info, self, key, association, value) end
  local details = details_with(class, key)
  if not details.declared[key] then raise_unknown(class, key, details) end
  record_values.forget_null_document(self, key)
  rawset(self, key, value)
end

local function describe(self)
  local class = classes[self]
  local parts = {}
  for _, column in ipairs(columns_of(details_of(class), self)) do
    local value = rawget(self, column)
    if value ~= nil then
      parts[#parts + 1] = column .. " = " .. (type(value) == "string" and '"' .. value .. '"' or value_text.number(value))
    end
  end
  return "draft of " .. record_class.info(class).name .. "{" .. table.concat(parts, ", ") .. "}"
end

local metatable = {
  __name = "draft", __metatable = false, __index = index, __newindex = assign, __tostring = describe,
}

--- Returns whether a value is a record of another class.
local function is_foreign(class, value)
  return record_class.info_of(value) ~= nil and not record_class.class_verbs.is(class, value)
end

--- Creates a draft of a class.
-- @param values the fields; or a record of the class, whose fields and key are copied
function draft.new(class, values)
  if values ~= nil and (type(values) ~= "table" or draft.class_of(values) or is_foreign(class, values)) then
    errors.raise("argument", "draft: expected fields or a record of `" .. record_class.info(class).name .. "`, got "
      .. errors.describe(values))
  end
  local details, is_record, info, given, others = details_of(class), record_class.info_of(values) ~= nil, record_class.info(class), values, nil
  local parents
  if values and not is_record and record_class.names_associations(info, values) then
    values, parents = record_class.parents.divide(info, values, "draft")
  end
  if info.computed and values and not is_record then values, others = record_fields.divide(info, values) end
  for key in next, values or {} do
    if not details.declared[key] and not is_record then details = details_with(class, key) end
    if type(key) ~= "string" or not (details.declared[key] or is_record) then raise_unknown(class, key, details) end
  end
  local result = copy_of_fields(details, values or {})
  classes[result] = class
  setmetatable(result, metatable)
  if is_record then record_values.keep_null_documents(details, values, result) end
  for _, name in ipairs(others or {}) do record_fields.set(info, result, name, given[name]) end
  if parents then record_class.parents.keep(result, parents) end
  return result
end

--- Returns the record of a draft, for writing.
-- @param info the class that writes it
-- @tparam string verb
function draft.to_record(info, verb, value)
  local class = classes[value]
  if verbs[verb] and verb ~= "insert" and verb ~= "upsert" then raise_verb(class, verb) end
  local made = class(copy_of_fields(details_of(class), value))
  for ancestor in record_class.ancestors(record_class.info(class)) do
    for name in next, ancestor.associations do rawset(made, name, rawget(value, name)) end
  end
  record_values.keep_null_documents(details_of(class), value, made)
  if not record_class.class_verbs.is(info.class, made) then
    errors.raise("argument", ("%s: expected a draft of %s, got one of %s"):format(verb, info.name, record_class.info(class).name))
  end
  return made
end

writing.set_drafts(draft.class_of)

return draft
