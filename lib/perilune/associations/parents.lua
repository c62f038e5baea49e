--- Associated records as values, instead of the columns that refer to them.
--
--     Invoice:insert{ customer = ada, number = "R9" }      -- sets customer_id, and the field `customer`
--     invoice.customer = ada
--     invoice:update_changes{ customer = ada }
--
-- Only `belongs_to` associations can be assigned, because the columns of other associations are in other rows.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local class_properties = require "perilune.requests.class_properties"
local association_records = require "perilune.associations.records"
local raise = errors.raise

local parents = {}

--- For each record: by association, the associated record that was assigned last.
local assigned = setmetatable({}, { __mode = "k" })

--- Returns the root of a `belongs_to` association without `through`; raises for any other association.
local function root_of(place, name, association)
  local root = association.node.root
  if root.kind == "belongs_to" and root.target and not root.options.through then return root end
  if root.kind == "belongs_to" then raise("argument", ("%s: `%s` cannot be assigned; set the columns that refer to it"):format(place, name)) end
  raise("argument", ("%s: the rows of `%s` refer to this row, so they are written separately: set their columns, or use save_nested{...}")
    :format(place, name))
end

local function check_record(place, name, root, value, columns)
  local info = record_class.info_of(value)
  if info and info.table == root.source.table then return end
  for ancestor in record_class.ancestors(info) do
    if ancestor.class == root.target then return end
  end
  raise("argument", ("%s: `%s`: expected a record of `%s` or perilune.null, got %s%s"):format(place, name, root.source.table,
    class_properties.name_beside(value, root.target), info and "" or "; use `" .. table.concat(columns, "`, `") .. "` for its key"))
end

--- Returns the columns that refer to an associated record, with their values.
local function columns_for(info, place, name, association, value, db)
  local root = root_of(place, name, association)
  local owner_columns, target_columns = association_records.columns_of(root, db)
  if value ~= null then check_record(place, name, root, value, owner_columns) end
  local columns = {}
  for index, column in ipairs(owner_columns) do
    local stored = value ~= null and association_records.stored_field(value, target_columns[index]) or nil
    if stored == nil and value ~= null then
      raise("argument", ("%s: `%s`: the record has no `%s` yet; insert it first, or use save_nested{...}"):format(place, name,
        target_columns[index]))
    end
    columns[column] = stored == nil and null or association_records.field_of(info.class, column, stored, db)
  end
  return columns
end

--- Splits a table of fields: replaces associated records by the columns that refer to them.
-- @return the fields; the associated records by name
function parents.divide(info, values, place, db)
  local fields, given = {}, {}
  for name, value in next, values do
    if record_class.association(info, name) then given[name] = value else fields[name] = value end
  end
  for name, value in next, given do
    for column, key in pairs(columns_for(info, place, name, record_class.association(info, name), value, db)) do
      local other = fields[column]
      if other ~= nil and other ~= key then
        raise("argument", ("%s: `%s` and `%s` contradict each other; give one of them"):format(place, name, column))
      end
      fields[column] = key
    end
  end
  return fields, given
end

--- Stores associated records in their fields, after the columns that refer to them have been set.
function parents.keep(target, given)
  local known = assigned[target] or {}
  for name, value in next, given do
    if value == null then value = nil end
    rawset(target, name, value)
    known[name] = value
  end
  assigned[target] = known
end

--- Creates a record from fields and associated records.
-- @tparam string place the call, for messages
function parents.make(info, values, place, db)
  local fields, given = parents.divide(info, values, place, db)
  local made = info.class(fields)
  parents.keep(made, given)
  return made
end

--- Assigns an associated record to a record or draft: `invoice.customer = ada`.
function parents.assign(info, target, name, association, value)
  local place = info.name
  if value == nil then
    root_of(place, name, association)
    raise("argument", place .. ": `" .. name .. "`: use perilune.null to refer to no row; nil is the value of an association that was not fetched")
  end
  for column, key in pairs(columns_for(info, place, name, association, value)) do target[column] = key end
  parents.keep(target, { [name] = value })
end

-- Fields that were assigned later ---------------------------------------------------------------------------------------------

local function as_text(value) return value ~= nil and value ~= null and tostring(value):lower() or nil end

--- Returns whether a script has assigned a different associated record to an existing field, so that the columns do not refer to it.
-- Columns that a script has changed since the record was read take precedence over the field.
local function is_moved(target, name, parent, owner_columns, target_columns)
  local known = assigned[target]
  local is_new = known ~= nil and known[name] ~= nil and not rawequal(known[name], parent)
  if known and known[name] ~= nil and not is_new then return false end
  local row, parent_row = native_records.snapshot(target), native_records.snapshot(parent)
  local details, differs = column_details.of_record(target), false
  for index, column in ipairs(owner_columns) do
    local key = rawget(parent, target_columns[index])
    if key == nil or key == null or details.converters[column] then return false end
    -- SQLite may consider the keys equal although they are spelled differently, for example because of a collation.
    local stored = parent_row and parent_row[target_columns[index]] or key
    if not is_new and (not row or as_text(row[column]) ~= as_text(rawget(target, column))) then return false end
    differs = differs or as_text(stored) ~= as_text(rawget(target, column))
  end
  return differs
end

--- Sets the columns for associated records that were assigned to existing fields. Lua calls no metamethod when an existing field is
-- assigned, so the assignment is detected only when the record is written or compared with its row.
function parents.synchronize(info, target, db)
  for ancestor in record_class.ancestors(info) do
    for name, association in next, ancestor.associations do
      local root, parent = association.node.root, rawget(target, name)
      if parent ~= nil and root.kind == "belongs_to" and not association.node.parent and native_records.class_of(parent) then
        local owner_columns, target_columns = association_records.columns_of(root, db)
        if is_moved(target, name, parent, owner_columns, target_columns) then
          for column, key in pairs(columns_for(info, info.name, name, association, parent, db)) do target[column] = key end
          parents.keep(target, { [name] = parent })
        end
      end
    end
  end
end

return parents
