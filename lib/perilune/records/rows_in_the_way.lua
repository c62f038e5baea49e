--- The rows that an insert will replace, or an upsert update: those with the same value in a unique key. Behaviours that count rows ask
-- for them before the write; nothing else does, since it costs a search for each key.

local null = require("perilune.native.values").null
local perilune = require "perilune"
local record = require "perilune.records.class"
local record_info = require "perilune.records.info"
local record_values = require "perilune.records.values"

local rows_in_the_way = {}

--- The keys by which a write may meet a row: lists of columns.
local function keys_of(info, verb, options)
  local schema = info.schema
  if verb == "upsert" then
    local target = options and options.target or schema.primary_key.columns
    return { type(target) == "table" and target or { target } }
  end
  if not (options and options.on_conflict == "replace") then return {} end
  return { schema.primary_key.columns, table.unpack(schema.unique_keys) }
end

--- The condition that a row has the key of a record; nil if the record has not all of it, and so meets no row.
local function condition_of(info, target, names)
  local condition = {}
  for _, name in ipairs(names) do
    local value = record_values.stored(info, target, name)
    if value == nil or value == null then return nil end
    condition[name] = perilune.value(value)
  end
  return next(condition) ~= nil and condition or nil
end

--- What tells a row from others.
local function identity_of(info, row)
  local parts = {}
  for index, name in ipairs(info.description.key) do
    local value = record_values.stored(info, row, name)
    parts[index] = math.type(value) or type(value)
    parts[index] = parts[index] .. " " .. tostring(value)
  end
  return table.concat(parts, "\0")
end

--- Finds them.
-- @tparam string verb "insert" or "upsert"
-- @return a list of records; nil where no behaviour of the class asks for them, or the write meets none
function rows_in_the_way.find(class_info, verb, target, db, options)
  local is_wanted = false
  for ancestor in record.ancestors(class_info) do is_wanted = is_wanted or ancestor.counts_replaced end
  if not is_wanted then return nil end
  local info, found, known = record_info.of_class(class_info.class, db), {}, {}
  for _, names in ipairs(keys_of(info, verb, options)) do
    local condition = condition_of(info, target, names)
    for _, row in ipairs(condition and class_info.class:unscoped():filter(condition):fetch_all(db) or {}) do
      local identity = identity_of(info, row)
      if not known[identity] then found[#found + 1], known[identity] = row, true end
    end
  end
  return found[1] and found
end

return rows_in_the_way
