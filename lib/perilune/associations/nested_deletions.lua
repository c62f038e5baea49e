--- Plans moves and deletions for `save_nested{ delete_missing = true }`, before any value is written.
--
-- A row that is missing from its list is moved if another list contains it; otherwise it is deleted. Both happen before new rows are
-- inserted, so that a new row may reuse the unique key of a deleted one. If the owner of a row is deleted, the row is moved first, because
-- the deletion may cascade to it. If the new owner has not been inserted yet, the old owner is deleted last.

local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local behaviours = require "perilune.records.behaviours"
local association_records = require "perilune.associations.records"

local plan = {}
plan.__index = plan

local nested_deletions = {}

--- Returns a value that identifies the row of a record by its table and key.
local function identity(context, record)
  local info = record_class.info_of(record)
  local parts = { info.table }
  for _, name in ipairs(record_class.description(info.class, context.db).key) do
    parts[#parts + 1] = tostring(association_records.stored_field(record, name))
  end
  return table.concat(parts, "\0")
end

--- Calls a function with each node, and with the part and the node that contain it.
local function each_node(context, node, visit, part, owner)
  visit(node, part, owner)
  for _, kind in ipairs{ "before", "after" } do
    for _, inner in ipairs(node[kind]) do
      local depth = #context.path
      context.path[depth + 1] = inner.name
      for index, child in ipairs(inner.nodes) do
        if inner.is_plural then context.path[depth + 2] = "[" .. index .. "]" end
        each_node(context, child, visit, inner, node)
        context.path[depth + 2] = nil
      end
      context.path[depth + 1] = nil
    end
  end
end

--- Returns the existing row of a node, or nil if the node will be inserted.
-- @tparam ?table owner the future owner of the row
local function row_of(context, node, part, owner)
  if not node.record then
    local link = owner and part.root.kind ~= "belongs_to" and context.link_of(context, part, owner) or nil
    return context.find_row(context, node, link)
  end
  return native_records.knows_row(node.record) and node.record or nil
end

--- Plans how to treat the rows missing from a list: rows in another list are moved, links are removed, and other rows are deleted.
local function read_part(self, context, part, owner)
  local kept = {}
  for _, node in ipairs(part.nodes) do
    if self.rows[node] then kept[self.identities[node]] = true end
  end
  local rows = association_records.request_of(part.association, owner, context.db)
  local path = table.move(context.path, 1, #context.path, 1, {})
  path[#path + 1] = part.name
  for _, child in ipairs(rows:fetch_all(context.db)) do
    local id = identity(context, child)
    local entry = { record = child, path = path, rows = rows }
    if kept[id] then self.stays[id] = part
    elseif part.root.options.through then self.unlinked[#self.unlinked + 1] = entry
    elseif self.named[id] then self.moved[id] = true
    else self.deleted[#self.deleted + 1] = entry end
  end
end

--- Returns the planned deletion of a row's current owner; nil if the owner will not be deleted.
local function deletion_of_owner(self, context, part, row)
  -- The script may have changed these columns in its record, so the stored values are used.
  local stored = native_records.snapshot(row)
  local owner_columns, target_columns = association_records.columns_of(part.root, context.db)
  for _, entry in ipairs(self.deleted) do
    local is_owner = record_class.info_of(entry.record).table == part.root.owner_source.table
    for index, column in ipairs(owner_columns) do
      local value = is_owner and association_records.stored_field(entry.record, column)
      is_owner = is_owner and value ~= nil and value == stored[target_columns[index]]
    end
    if is_owner then return entry end
  end
end

--- Moves a row to its new owner.
local function move(context, part, row, owner)
  local owner_columns, target_columns = association_records.columns_of(part.root, context.db)
  local fields = {}
  for index, column in ipairs(target_columns) do
    local stored = association_records.stored_field(owner, owner_columns[index])
    fields[column] = association_records.field_of(part.root.target, column, stored, context.db)
  end
  context.memories[row] = context.memories[row] or native_records.copy_record(row)
  row:update_changes(context.db, fields)
end

--- Moves a row whose current owner will be deleted. If the new owner has not been inserted yet, postpones the deletion instead.
local function rescue(self, context, node, part, owner)
  local row = self.rows[node]
  if not row or not part or part.root.kind == "belongs_to" or part.root.options.through then return end
  if self.stays[self.identities[node]] == part then return end
  local deletion = deletion_of_owner(self, context, part, row)
  if not deletion then return end
  self.moved[self.identities[node]] = true
  if self.rows[owner] then move(context, part, row, self.rows[owner]) else deletion.is_last = true end
end

--- Returns the stored version of a record's row if its class has a `lock_version`, and the version's column.
local function version_of(context, record)
  local column = behaviours.option(record_class.info_of(record).class, "lock_version")
  local row = column and behaviours.row_of(record_class.info_of(record), record):select(column):fetch_one(context.db)
  return row and row[column], column
end

--- Returns the records passed by the script that have the current version of their rows, with these versions.
local function fresh_records(self, context)
  local fresh = {}
  for node, record in pairs(self.rows) do
    if node.record then
      local version, column = version_of(context, record)
      if version ~= nil and native_records.snapshot(record)[column] == version then fresh[record] = version end
    end
  end
  return fresh
end

--- Updates the versions in records whose rows have new versions after moves and deletions.
local function renew_versions(context, fresh)
  for record, former in pairs(fresh) do
    local version, column = version_of(context, record)
    if version ~= nil and version ~= former then
      context.memories[record] = context.memories[record] or native_records.copy_record(record)
      local row = native_records.snapshot(record)
      row[column] = version
      rawset(record, column, version)
      native_records.set_snapshot(record, row)
    end
  end
end

--- Calls a function for each deletion. During the call, the path of the deletion is the current path.
local function each_at_path(context, entries, f)
  local outer = context.path
  for _, entry in ipairs(entries) do
    context.path = entry.path
    f(entry)
  end
  context.path = outer
end

--- Returns whether a row has been moved to another list.
function plan:is_moved(row) return self.moved[identity(self.context, row)] == true end

local function delete(self, context, is_last)
  each_at_path(context, self.deleted, function(entry)
    local record = entry.record
    if (entry.is_last or false) ~= is_last or not record:exists(context.db) then return end
    -- Earlier moves and deletions may have changed the row's counters and version.
    record:refresh(context.db)
    record:delete(context.db)
  end)
end

--- Performs the postponed deletions, after all values have been written.
function plan.finish(context, self) delete(self, context, true) end

--- Plans moves and deletions, and performs all of them that are possible before the values are written.
-- @tparam table context the context of `save_nested`
-- @tparam table root the root node of the values
function nested_deletions.plan(context, root)
  local self = setmetatable({
    context = context, rows = {}, identities = {}, named = {}, stays = {}, moved = {}, unlinked = {}, deleted = {},
  }, plan)
  each_node(context, root, function(node, part, owner)
    local row = row_of(context, node, part, owner and self.rows[owner])
    if not row then return end
    self.rows[node], self.identities[node] = row, identity(context, row)
    self.named[self.identities[node]] = true
  end)
  each_node(context, root, function(node)
    if not self.rows[node] then return end
    for _, part in ipairs(node.after) do read_part(self, context, part, self.rows[node]) end
  end)
  local fresh = fresh_records(self, context)
  each_node(context, root, function(...) rescue(self, context, ...) end)
  each_at_path(context, self.unlinked, function(entry) entry.rows:remove(context.db, entry.record) end)
  delete(self, context, false)
  renew_versions(context, fresh)
  return self
end

return nested_deletions
