--- Links of a record through a pivot table: `playlist:tracks():add(track)`.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local record_info = require "perilune.records.info"
local record_values = require "perilune.records.values"
local classes = require "perilune.requests.classes"
local raise = errors.raise
local association_records = require "perilune.associations.records"
local verbs = require("perilune.requests.request").verbs

--- The table in between, and how its columns are found: from the record, and from a linked one.
local function pivot_of(self, method)
  local link = rawget(self, "link")
  local first, second = link and link.root.options.through, link and link.root.options.using
  if not first or first.node.root.options.through or second.node.root.options.through or second.node.root.kind ~= "belongs_to"
    or first.node.root.kind == "belongs_to"
  then
    raise("argument", method .. ": expected the request of an association with `through`, as in playlist:tracks():" .. method
      .. "(track)")
  end
  local owner_columns, pivot_owner_columns = association_records.columns_of(first.node.root)
  local pivot_target_columns, target_columns = association_records.columns_of(second.node.root)
  return {
    class = first.node.root.target, target = link.root.target, record = link.record,
    owner_columns = owner_columns, pivot_owner_columns = pivot_owner_columns,
    pivot_target_columns = pivot_target_columns, target_columns = target_columns,
  }
end

--- Puts what the row of a record has stored into fields of the table in between, which stores the same.
local function set(fields, columns, source_columns, record, method)
  for index, column in ipairs(columns) do
    local value = association_records.stored_field(record, source_columns[index])
    if value == nil then
      raise("argument", method .. ": the record has no `" .. source_columns[index] .. "` yet; insert it first")
    end
    fields[column] = value
  end
end

--- What the table of a class has stored for a value of a column.
local function stored(class, column, value)
  return record_values.store(record_info.of_class(class), nil, column, value)
end

--- The columns of the link to a record, which may be given by its key, with what they store.
local function link_fields(pivot, linked, method)
  local fields = {}
  set(fields, pivot.pivot_owner_columns, pivot.owner_columns, pivot.record, method)
  local info = record_class.info_of(linked)
  if info then
    if not pivot.target:is(linked) then
      raise("argument", method .. ": expected a record of `" .. classes.table(pivot.target) .. "`, got "
        .. classes.name_beside(linked, pivot.target))
    end
    set(fields, pivot.pivot_target_columns, pivot.target_columns, linked, method)
  elseif linked == nil or type(linked) == "table" or #pivot.pivot_target_columns > 1 then
    raise("argument", method .. ": expected a record or its key, got " .. classes.name_of(linked))
  else
    fields[pivot.pivot_target_columns[1]] = stored(pivot.target, pivot.target_columns[1], linked)
  end
  return fields
end

local function arguments(method, first, ...)
  if first ~= nil and records.is_database(first) then return first, table.pack(...) end
  local given = table.pack(first, ...)
  if given.n == 0 then raise("argument", method .. ": expected at least one record to link") end
  return records.default_database(), given
end

--- The links that have some fields, which are compared in their stored form.
local function links(pivot, fields)
  local values = {}
  for column, value in pairs(fields) do values[column] = perilune.value(value) end
  return pivot.class:unscoped():filter(values)
end

--- Makes a link, unless it is there.
local function link(pivot, fields)
  if links(pivot, fields):exists() then return end
  local info, row = record_info.of_class(pivot.class), {}
  for column, value in pairs(fields) do row[column] = record_values.as_row(info, column, value) end
  pivot.class.from_row(row):insert()
end

--- Links records, given as such or by their keys; existing links are kept.
function verbs:add(...)
  local pivot = pivot_of(self, "add")
  local db, given = arguments("add", ...)
  records.with_access(db, "guard", function()
    for index = 1, given.n do
      link(pivot, link_fields(pivot, given[index], "add"))
    end
  end)
end

--- Takes links away; the records stay. Returns how many there were.
function verbs:remove(...)
  local pivot = pivot_of(self, "remove")
  local db, given = arguments("remove", ...)
  local count = 0
  records.with_access(db, "guard", function()
    for index = 1, given.n do
      count = count + links(pivot, link_fields(pivot, given[index], "remove")):delete_all().changed_rows
    end
  end)
  return count
end

--- Makes the links exactly those of a list.
function verbs:replace(list, db)
  local pivot = pivot_of(self, "replace")
  if type(list) ~= "table" or getmetatable(list) ~= nil then
    raise("argument", "replace: argument 1: expected a list of records or keys, got " .. classes.name_of(list))
  end
  records.with_access(db or records.default_database(), "guard", function()
    local own = {}
    set(own, pivot.pivot_owner_columns, pivot.owner_columns, pivot.record, "replace")
    links(pivot, own):delete_all()
    for _, linked in ipairs(list) do link(pivot, link_fields(pivot, linked, "replace")) end
  end)
end

require("perilune.runtime.arity").limit(verbs, "", { replace = 2 })

return verbs
