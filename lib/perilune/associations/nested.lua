--- Writes a record together with its associated records: `Class:save_nested{...}`.
--
--     Author:save_nested{
--       name = "Herman Melville",
--       country = { name = "United States" },                     -- belongs_to: inserted first
--       books = { { title = "Omoo" }, { id = 3, title = "Typee" } },  -- has_many: the second row exists already
--     }

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local class_properties = require "perilune.requests.class_properties"
local request_plans = require "perilune.requests.plans"
local association_records = require "perilune.associations.records"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local deletions = require "perilune.associations.nested_deletions"
local raise = errors.raise

local verb = "save_nested"
local nested = {}

-- Reading values ---------------------------------------------------------------------------------------------------------------

--- Returns the association that a class, or a class that it extends, stores under a name.
local function association_of(class, name)
  for ancestor in record_class.ancestors(record_class.info(class)) do
    local found = ancestor.associations and ancestor.associations[name]
    if found then return found end
  end
end

--- Raises for an unknown name in a table of values. Suggests a column or an association.
local function raise_unknown(class, name)
  local info, names = record_class.info(class), {}
  for known in pairs(info.known) do names[#names + 1] = known end
  for ancestor in record_class.ancestors(info) do
    for association in pairs(ancestor.associations or {}) do names[#names + 1] = association end
  end
  table.sort(names)
  errors.raise_unknown_column(tostring(name), info.table, names)
end

--- Adds a part to the path of the current position in the values: "books[2].chapters[1]".
local function push(context, part)
  context.path[#context.path + 1] = part
end

local function pop(context)
  context.path[#context.path] = nil
end

local function path_text(context)
  return table.concat(context.path, "."):gsub("%.%[", "[")
end

local read

--- Reads the value of an association into a list of nodes. An association to one row has a list of one node.
local function read_association(context, association, name, value)
  local root = association.node.root
  if not root.target then raise("argument", ("%s: `%s` leads to a common table, and rows of a common table cannot be written"):format(verb, name)) end
  local is_plural = root.kind == "has_many"
  local list = is_plural and value or { value }
  if is_plural and (type(value) ~= "table" or native_records.class_of(value) or next(value) ~= nil and value[1] == nil) then
    raise("argument", ("%s: `%s`: expected a list of records or tables of columns, got %s"):format(verb, name,
      type(value) == "table" and "one" or errors.describe(value)))
  end
  local part = { association = association, root = root, name = name, is_plural = is_plural, nodes = {} }
  push(context, name)
  for index, element in ipairs(list) do
    if is_plural then push(context, "[" .. index .. "]") end
    part.nodes[index] = read(context, root.target, element)
    if is_plural then pop(context) end
  end
  pop(context)
  return part
end

--- Reads a table of values into a node with its columns, and with the nodes to write before and after it.
local function read_values(context, class, values)
  if context.open[values] then raise("argument", verb .. ": the values contain themselves") end
  context.open[values] = true
  record_class.description(class, context.db)
  local info = record_class.info(class)
  local node = { class = class, fields = {}, before = {}, after = {} }
  local names = {}
  for name in next, values do
    if type(name) ~= "string" then raise_unknown(class, name) end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local association = association_of(class, name)
    if association and not (association.node.root.kind == "belongs_to" and values[name] == null) then
      local part = read_association(context, association, name, values[name])
      table.insert(part.root.kind == "belongs_to" and node.before or node.after, part)
    elseif association then
      node.before[#node.before + 1] = { association = association, root = association.node.root, name = name, nodes = {} }
    elseif info.known[name] or info.computed and info.computed[name] then
      node.fields[name] = values[name]
    else
      raise_unknown(class, name)
    end
  end
  context.open[values] = nil
  return node
end

--- Raises for rows that were fetched with selected columns, because they would be written as new rows.
local function check_is_whole(name, value)
  if not require("perilune.associations.fetching").is_chosen(value) then return end
  raise("argument", ("%s: `%s` was fetched with some columns only, and its rows cannot be written; set the field to nil"):format(verb, name))
end

--- Reads a record into a node. The records in its association fields become nodes to write before and after it.
local function read_record(context, class, record)
  local node = { class = class, record = record, fields = {}, before = {}, after = {} }
  if context.open[record] then return node end
  context.open[record] = true
  local names = {}
  for ancestor in record_class.ancestors(record_class.info_of(record)) do
    for name in pairs(ancestor.associations or {}) do
      if type(rawget(record, name)) == "table" and names[name] == nil then names[#names + 1], names[name] = name, true end
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = rawget(record, name)
    check_is_whole(name, value)
    local part = read_association(context, association_of(class, name), name, value)
    for _, child in ipairs(part.nodes) do child.is_included = child.record ~= nil end
    table.insert(part.root.kind == "belongs_to" and node.before or node.after, part)
  end
  context.open[record] = nil
  return node
end

function read(context, class, value)
  if native_records.class_of(value) then
    if not class:is(value) then
      raise("argument", ("%s: expected a record of `%s`, got %s"):format(verb, class_properties.table(class), class_properties.name_beside(value, class)))
    end
    return read_record(context, class, value)
  end
  if type(value) == "table" and getmetatable(value) ~= nil then value = require("perilune.runtime.json").columns(value) end
  if type(value) == "table" and getmetatable(value) == nil and value[1] == nil then return read_values(context, class, value) end
  raise("argument", ("%s: expected a record of `%s` or a table of columns, got %s"):format(verb, class_properties.table(class),
    type(value) == "table" and value[1] ~= nil and "a list" or errors.describe(value)))
end

-- Writing ------------------------------------------------------------------------------------------------------------------------

local write

--- Returns the existing row with a node's key as a record; nil if there is no such row or the key is incomplete.
-- @tparam ?table link the stored values of the columns that link the row to its owner; these columns may be part of the row's key
local function find_row(context, node, link)
  local description, key = record_class.description(node.class, context.db), {}
  if #description.key == 0 then return nil end
  for _, name in ipairs(description.key) do
    local value = node.fields[name]
    if value == nil and link and link[name] ~= nil then value = association_records.field_of(node.class, name, link[name], context.db) end
    if value == nil or value == null then return nil end
    key[name] = value
  end
  if #description.key == 1 then key = key[description.key[1]] end
  return require("perilune.records.fetching").fetch_by_key(verb, node.class, context.db, key)
end

--- Returns whether a row for the node exists.
local function is_row_of(context, node, link)
  if node.record then return native_records.snapshot(node.record) ~= nil end
  return find_row(context, node, link) ~= nil
end

--- Returns whether a field's value, once stored, would differ from a stored value.
local function differs(context, class, column, stored, field)
  return record_values.differs(column_details.of_class(class, context.db), column, stored, field)
end

--- Sets the fields that link a row to its owner. Raises if one already has a different value.
-- @tparam table stored the values by column
local function set_link(context, class, fields, stored)
  for column, value in pairs(stored) do
    if fields[column] ~= nil and differs(context, class, column, value, fields[column]) then
      raise("argument", ("%s: `%s` refers to the owner of the record and is already set"):format(verb, column))
    end
    fields[column] = association_records.field_of(class, column, value, context.db)
  end
end

--- Raises if an existing row belongs to a different owner, so that it is not moved by mistake. Moving is allowed if the same call also
-- replaces the row's previous list, or if the values set the linking columns.
local function check_owner(context, node, row, link)
  if context.plan and context.plan:is_moved(row) then return end
  for column, value in pairs(link or {}) do
    local present, given = association_records.stored_field(row, column), node.fields[column]
    if present ~= nil and present ~= value and (given == nil or given == null) then
      raise("nested_owner", ("%s: the row of `%s` with this key belongs to another record; set its column `%s` first"):format(
        verb, class_properties.table(node.class), column), { table = class_properties.table(node.class), column = column })
    end
  end
end

--- Sets the values that the association's conditions require, unless the script has set them. Restores a softly deleted record.
-- @return whether the record was changed
local function fulfil(context, node, record, demanded)
  local is_changed = false
  local function set(column, value)
    if node.fields[column] ~= nil or not differs(context, node.class, column, association_records.stored_field(record, column), value) then return end
    record[column], is_changed = value, true
  end
  for column, value in pairs(demanded or {}) do
    local is_given = node.record and not native_records.knows_row(record) and rawget(record, column) ~= nil
    if not is_given then set(column, value) end
  end
  local deleted_at = demanded and class_properties.behaviour(node.class, "soft_delete")
  if deleted_at then set(deleted_at, null) end
  return is_changed
end

--- Writes a node whose values the script has passed as a record.
local function write_record(context, node, link, demanded)
  local record = node.record
  if not context.memories[record] then context.memories[record] = native_records.copy_record(record) end
  local is_known = native_records.snapshot(record) ~= nil
  local is_changed = not is_known
  for column, value in pairs(link or {}) do node.fields[column] = association_records.field_of(node.class, column, value, context.db) end
  for column, value in pairs(node.fields) do
    if differs(context, node.class, column, association_records.stored_field(record, column), value) then
      record[column], is_changed = value, true
    end
  end
  if not node.is_included then is_changed = fulfil(context, node, record, demanded) or is_changed end
  -- An unchanged record that has been fetched is not written.
  if is_changed or record:has_changes() then
    -- Earlier writes may have changed counters and times in this row, so only changes are written.
    if is_known then record:update_changes(context.db) else record:save(context.db) end
  end
  return record
end

local function write_row(context, node, link, demanded)
  if node.record then return write_record(context, node, link, demanded) end
  local row = find_row(context, node, link)
  if row then check_owner(context, node, row, link) end
  set_link(context, node.class, node.fields, link or {})
  if not row then
    local values = {}
    for name, value in pairs(demanded or {}) do values[name] = value end
    for name, value in pairs(node.fields) do values[name] = value end
    local made = node.class(values)
    for column in pairs(link or {}) do rawset(made, column, node.fields[column]) end
    return made:insert(context.db)
  end
  fulfil(context, node, row, demanded)
  for name, value in pairs(node.fields) do
    if not (link and link[name] ~= nil and association_records.stored_field(row, name) == link[name]) then row[name] = value end
  end
  row:update_changes(context.db)
  return row
end

--- Writes the row to which a record belongs. This must happen before the record is written, because the record needs the key of that row.
local function write_before(context, node, part)
  local owner_columns, target_columns = association_records.columns_of(part.root, context.db)
  local target
  if part.nodes[1] then
    push(context, part.name)
    target = write(context, part.nodes[1])
    pop(context)
  end
  for index, column in ipairs(owner_columns) do
    local value = target and association_records.stored_field(target, target_columns[index])
    if target and value == nil then
      raise("argument", ("%s: the record of `%s` has no `%s` to refer to"):format(verb, part.name, target_columns[index]))
    end
    local given, is_other = node.fields[column], nil
    if node.record then
      given = association_records.stored_field(node.record, column)
      is_other = given ~= value
    else is_other = differs(context, node.class, column, value, given) end
    if given ~= nil and is_other then
      raise("argument", ("%s: `%s` is set by `%s`; leave it out"):format(verb, column, part.name))
    end
    if value == nil then node.fields[column] = null
    else node.fields[column] = association_records.field_of(node.class, column, value, context.db) end
  end
  return target
end

--- Returns the columns that link rows to a record, with the values to store in them.
local function link_of(context, part, record)
  if part.root.options.through then return nil end
  local owner_columns, target_columns = association_records.columns_of(part.root, context.db)
  local link = {}
  for index, column in ipairs(owner_columns) do link[target_columns[index]] = association_records.stored_field(record, column) end
  return link
end

--- Writes the rows that belong to a record, after the record, because they need its key. Existing rows are written before new ones, which
-- may reuse their unique values.
local function write_after(context, part, record)
  local link, written = link_of(context, part, record), {}
  local rows = association_records.request_of(part.association, record, context.db)
  local demanded = association_records.fields_of_conditions(rows, part.root.target, context.db)
  for column in pairs(link or {}) do demanded[column] = nil end
  push(context, part.name)
  for _, is_present in ipairs{ true, false } do
    for index, node in ipairs(part.nodes) do
      if written[index] == nil and (not is_present or #part.nodes > 1 and is_row_of(context, node, link)) then
        if part.is_plural then push(context, "[" .. index .. "]") end
        written[index] = write(context, node, link, demanded)
        if part.root.options.through then rows:add(context.db, written[index]) end
        if part.is_plural then pop(context) end
      end
    end
  end
  pop(context)
  return part.is_plural and require("perilune.associations.fetching").make_list(part.root, part.name, written) or written[1]
end

--- Writes a node and all nodes inside it. Returns its record, whose association fields contain the written records.
function write(context, node, link, demanded)
  local associated = {}
  for _, part in ipairs(node.before) do associated[part.name] = write_before(context, node, part) end
  local record = write_row(context, node, link, demanded)
  for _, part in ipairs(node.after) do associated[part.name] = write_after(context, part, record) end
  for name, value in pairs(associated) do rawset(record, name, value) end
  return record
end

-- The verb -------------------------------------------------------------------------------------------------------------------------

--- Adds the path of the current position in the values to an error.
local function add_path(context, err)
  local path = path_text(context)
  if path == "" or type(err) ~= "userdata" then return end
  errors.add_fields(err, { path = path, message = path .. ": " .. tostring(err.message) })
end

--- Calls a function and adds the path of the current position to its errors.
local function with_path(context, f, ...)
  local is_done, result = pcall(f, context, ...)
  if is_done then return result end
  add_path(context, result)
  error(result, 0)
end

--- Writes a record and its associated records: either all of them or, after an error, none.
-- @tparam ?database db
-- @tparam table values columns and associations
-- @tparam ?table options `delete_missing`: whether to delete rows that belong to the records but are missing from the lists
-- @return the record, with the written records as fields
function nested.save(class, ...)
  local info = record_class.require_class(verb, class)
  local db, values, options, surplus = ...
  if not native_records.is_database(db) then db, values, options, surplus = nil, ... end
  if surplus ~= nil then arity.refuse(verb, db and 3 or 2, surplus) end
  options = checks.options(verb, options, { delete_missing = "boolean" })
  db = request_plans.database_for(db, verb)
  local context = { db = db, path = {}, open = {}, memories = {}, find_row = find_row, link_of = link_of }
  local root = with_path(context, read, info.class, values)
  local written
  local is_done, failure = pcall(native_records.with_access, db, "guard", function()
    if options.delete_missing then context.plan = with_path(context, deletions.plan, root) end
    written = with_path(context, write, root)
    if context.plan then with_path(context, context.plan.finish, context.plan) end
  end)
  if is_done then return written end
  for record, memory in pairs(context.memories) do native_records.restore_record(record, memory) end
  error(failure, 0)
end

return nested
