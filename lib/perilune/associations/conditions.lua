--- Conditions on associated rows in the argument of `filter`: an associated record, or a path of associations to a column.
--
--     Book:filter{ author = melville }
--     Book:filter{ author = { melville, camus }, ["author.country"] = "France" }
--     Author:filter{ ["books.year"] = 1851, ["books.pages"] = 635 }        -- one book that is both

local null = require("perilune.native.values").null
local perilune = require "perilune"
local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local class_properties = require "perilune.requests.class_properties"
local association_records = require "perilune.associations.records"
local expression = require "perilune.expressions.expression"
local request = require "perilune.requests.request"
local identity_of = require("perilune.associations.association").identity
local raise = errors.raise

local function any_of(list)
  local result
  for _, condition in ipairs(list) do result = result and result | condition or condition end
  return result
end

local function all_of(list)
  local result
  for _, condition in ipairs(list) do result = result and result & condition or condition end
  return result
end

--- Returns whether an association is only a comparison of columns: it has no derivations, no `through` and no default scope, and does not
-- select the first of several rows.
local function is_plain(association)
  local node = association.node
  while node.op == "named" do node = node.parent end
  if node.parent then return false end
  local root = node.root
  association_records.columns_of(root) -- sets root.means_first
  if root.options.through or root.means_first then return false end
  return not root.target or root.is_unscoped or root.source.requests.default == nil
end

--- Returns the row's columns that refer to the associated row, and the names of the columns that they refer to.
local function pairs_of(self, association)
  local root = association.node.root
  local owner_names, target_names = association_records.columns_of(root)
  local owner_columns = {}
  for index, name in ipairs(owner_names) do owner_columns[index] = self.node.root.source:column(name, self.node.alias) end
  return owner_columns, target_names
end

--- Returns the end of a message about a value in place of a record: the condition that was probably meant.
local function value_cure(root, value)
  local kind, name = type(value), root.name or "association"
  if kind ~= "number" and kind ~= "string" then return "" end
  if kind == "number" and root.kind == "belongs_to" then
    local is_known, columns = pcall(association_records.columns_of, root)
    if is_known and #columns == 1 then return ("; use filter{ %s = %s } for a key"):format(columns[1], value) end
  end
  return ("; use filter{ [\"%s.column\"] = value } for a column of `%s`"):format(name, root.source.table)
end

local function check_record(association, value, place)
  local root = association.node.root
  local info = record_class.info_of(value)
  for ancestor in record_class.ancestors(info) do
    if ancestor.class == root.target then return end
  end
  if info and info.table == root.source.table then return end
  raise("argument", ("%s: expected a record of `%s`, a list of them or a request, got %s%s"):format(place, root.source.table,
    class_properties.name_beside(value, root.target), value_cure(root, value)))
end

--- Returns the stored values of some columns of a record; nil if one of them is NULL.
local function stored_values(record, names, place)
  local values = {}
  for index, name in ipairs(names) do
    local value = association_records.stored_field(record, name)
    if value == nil and not native_records.knows_row(record) then raise("argument", place .. ": the record has no `" .. name .. "` yet; insert it first") end
    if value == nil then return nil end
    values[index] = value
  end
  return values
end

--- Returns a condition that is false for all rows.
local function nothing(place) return expression.sql("0", { n = 0 }, place) end

--- Returns the condition that a row refers to an associated record: its columns equal the record's stored values.
local function equal_to_record(self, association, record, place)
  local columns, names = pairs_of(self, association)
  local root, values, list = association.node.root, stored_values(record, names, place), {}
  for index, column in ipairs(columns) do
    list[index] = values and association_records.equal(column, values[index], root.owner_comparisons[index], root.owner_collations[index])
    if not list[index] then return nothing(place) end
  end
  return all_of(list)
end

--- Returns the condition that an associated row has the same key as a record.
local function has_key(columns, names, record, place)
  local values, list = stored_values(record, names, place), {}
  if not values then return nothing(place) end
  for index, column in ipairs(columns) do list[index] = column:eq(perilune.value(values[index])) end
  return all_of(list)
end

--- Returns the key columns of the associated rows, and their names.
local function key_of(association)
  local names = {}
  local columns = association.node.root.source:key(association.node.alias or identity_of(association.node))
  for index, column in ipairs(columns) do names[index] = column.shape.detail end
  return columns, names
end

--- Returns the condition that the first associated row of a row fulfills a condition. It compares the row's key with the keys of all rows
-- whose first associated row fulfills the condition.
local function of_first(self, association, condition, place)
  local root = association.node.root
  local columns = self.node.root.source:key(self.node.alias)
  if #columns > 1 then
    raise("argument", ("%s: `%s` is the first of several records; join it, and filter by its columns"):format(place, root.name))
  end
  return columns[1]:is_in(root.owner:unscoped():joining_required(association):filter(condition):select(columns[1].shape.detail))
end

--- Raises if the association has a limit, because the condition would be evaluated before the limit.
local function check_is_unlimited(association, place)
  if not association.node.limit and not association.node.offset then return end
  raise("argument", ("%s: `%s` is an association with a limit, and a condition cannot test its rows; use the association without a limit")
    :format(place, association.node.name or association.node.root.name or "it"))
end

--- Returns the condition that some associated row fulfills a condition on its columns.
local function of_condition(self, association, condition, place)
  check_is_unlimited(association, place)
  association_records.columns_of(association.node.root)
  if association.node.root.means_first then return of_first(self, association, condition, place) end
  return association:filter(condition):exists()
end

--- Returns the condition that a record is associated with a row.
local function of_record(self, association, record, place)
  check_record(association, record, place)
  if is_plain(association) then return equal_to_record(self, association, record, place) end
  local columns, names = key_of(association)
  return of_condition(self, association, has_key(columns, names, record, place), place)
end

--- Returns the condition that some row of a request is associated with a row.
local function of_request(self, association, rows, place)
  if rows.node.root.source.table ~= association.node.root.source.table then
    raise("argument", ("%s: expected a request of `%s`, got one of `%s`"):format(place, association.node.root.source.table,
      rows.node.root.source.table))
  elseif rows.node.selects then
    raise("argument", place .. ": expected a request of whole rows, without select(...)")
  end
  if is_plain(association) then
    local columns, names = pairs_of(self, association)
    if #columns == 1 then
      return association_records.compared_by(columns[1], association.node.root.owner_collations[1]):is_in(rows:select(names[1]))
    end
  end
  local columns, names = key_of(association)
  if #columns > 1 then raise("argument", place .. ": rows with a key of several columns cannot be given as a request") end
  return of_condition(self, association, columns[1]:is_in(rows:select(names[1])), place)
end

--- Returns the condition that a row has no associated rows.
local function of_null(self, association)
  if association.node.root.kind == "belongs_to" and is_plain(association) then
    local list = {}
    for index, column in ipairs((pairs_of(self, association))) do list[index] = column:is_null() end
    return any_of(list)
  end
  return association:is_empty()
end

local function of_list(self, association, list, name, place)
  local conditions = {}
  for index = 1, #list do conditions[index] = of_record(self, association, list[index], place .. "[" .. index .. "]") end
  for key in next, list do
    if math.type(key) ~= "integer" or key < 1 or key > #list then
      raise("argument", place .. ": expected a record, a list of records or a request, got a table with the field "
        .. errors.describe(key) .. "; for a column of it use { [\"" .. name .. "." .. tostring(key) .. "\"] = ... }")
    end
  end
  -- An empty list of records has no associated rows.
  return any_of(conditions) or nothing(place)
end

local function compare(self, association, value, name, place)
  if value == null then return of_null(self, association) end
  if marks.is_request(value) or class_properties.is_class(value) then return of_request(self, association, request.of(value), place) end
  if type(value) == "table" and getmetatable(value) == nil then return of_list(self, association, value, name, place) end
  return of_record(self, association, value, place)
end

--- Returns the condition that some associated row fulfills several conditions.
local function of_path(association, found, place)
  local root = association.node.root
  check_is_unlimited(association, place)
  association_records.columns_of(root)
  if root.means_first then
    raise("argument", ("%s: `%s` is the first of several records; join it, and filter by its columns: joining_required(Class.%s):filter(Class.%s.c....)")
      :format(place, root.name, root.name, root.name))
  end
  return association:filter(found):exists()
end

--- Returns the association with a name in a request's class.
local function association_of(self, name)
  local class = self.node.root.source.class
  return class and class_properties.association(class, name)
end

--- Returns the condition for a key that is not a column: an association, or a path of associations to a column.
-- @tparam table self the request
-- @tparam string name the name of the association
-- @param value the value to compare with; nil for a path
-- @tparam ?table found the conditions on the associated rows, by the remaining path
-- @return the condition, or nil if the association does not exist
function request.association_condition(self, name, value, found, place)
  local association = association_of(self, name)
  if not association then return nil end
  if found then return of_path(association, found, place) end
  return compare(self, association, value, name, place)
end

return request
