--- Updates the row to which a record belongs when the record is written: a counter and a time.
--
--     Book.author = Book:belongs_to(Author, { counter_cache = "book_count", touch = true })
--
-- `counter_cache` names a column with the number of rows that belong to the row. `touch` names a column with the time when one of these
-- rows was last written; true means `updated_at`. Both are updated in the transaction of the write. Changes to many rows at once
-- (update_all, insert_from, SQL) are not counted; `Author:update_all{ book_count = Author.books:count() }` recounts.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local behaviours = require "perilune.records.behaviours"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local association_records = require "perilune.associations.records"
local raise = errors.raise

local parent_updates = {}

--- Returns the columns that determine the parent of a row: the columns that refer to the parent; and a second list that also includes the
-- column for soft deletion.
local function columns_of(root)
  local names = (association_records.columns_of(root))
  if not root.deleted_column then return names, names end
  local all = table.move(names, 1, #names, 1, {})
  all[#all + 1] = root.deleted_column
  return names, all
end

--- Returns the values of the columns that refer to a row's parent, as a list to bind. Returns nil if one of them is NULL, or if the row is
-- softly deleted.
-- @tparam function value_of returns the row's value in a column
local function key_of(root, value_of)
  local key = {}
  if root.deleted_column and value_of(root.deleted_column) ~= nil then return nil end
  for index, name in ipairs((columns_of(root))) do
    local value = value_of(name)
    if value == nil then return nil end
    key[index] = value
  end
  return key
end

--- Returns a function that reads the row's values from the fields of a record.
local function said_by(record)
  return function(name) return association_records.stored_field(record, name) end
end

--- Returns a function that reads the row's values from the snapshot of a record.
local function read_by(record, row)
  return function(name) return record_values.of_row(column_details.of_record(record), name, row[name]) end
end

--- Returns the snapshot of a record; nil if it lacks columns that determine the parent.
local function snapshot_of(root, record)
  local row, names = native_records.snapshot(record)
  if not row then return nil end
  local is_known, _, wanted = {}, columns_of(root)
  for _, name in ipairs(names) do is_known[name] = true end
  for _, name in ipairs(wanted) do
    if not is_known[name] then return nil end
  end
  return row
end

--- Returns a function that reads the values stored in a record's row before a write, not the fields of the record. Fetches the row if the
-- record's snapshot lacks some of the columns.
local function former_values(root, info, record, db)
  local row = snapshot_of(root, record)
  if row then return read_by(record, row) end
  if #(native_records.record_schema(record)).key == 0 then return said_by(record) end
  local found = behaviours.row_of(info, record):fetch_one(db)
  return found and said_by(found) or function() end
end

--- Returns a function for the values of a record's row after an update of some columns.
local function updated_values(record, columns, former)
  local is_written, written = {}, said_by(record)
  for _, name in ipairs(columns) do is_written[name] = true end
  return function(name) return (is_written[name] and written or former)(name) end
end

--- Returns a request for the parent with a key.
local function parent(root, key)
  local _, names = association_records.columns_of(root)
  local rows = root.target:unscoped()
  for index, name in ipairs(names) do rows = rows:filter(root.source:column(name):eq(perilune.value(key[index]))) end
  return rows
end

local function is_same(left, right)
  if not left or not right then return left == right end
  for index, value in ipairs(left) do
    if value ~= right[index] then return false end
  end
  return true
end

--- Updates the parent with a key.
local function change(root, key, db, difference)
  if not key then return end
  local changes = {}
  if root.counter_cache and difference ~= 0 then
    changes[root.counter_cache] = root.source:column(root.counter_cache) + difference
  end
  if root.touch then changes[root.touch] = perilune.now() end
  if next(changes) ~= nil then parent(root, key):update_all(db, changes) end
end

--- Updates the parents after an insert that has replaced or updated other rows.
local function moved(root, replaced, now, db)
  local has_stayed = false
  for _, row in ipairs(replaced or {}) do
    local before = key_of(root, said_by(row))
    if not has_stayed and is_same(before, now) then has_stayed = true
    else change(root, before, db, -1) end
  end
  change(root, now, db, has_stayed and 0 or 1)
end

--- Reads the options of an association, and adds hooks to the class that has the association.
function parent_updates.install(root, kind, owner, options)
  if kind ~= "belongs_to" or not root.target then
    raise("argument", kind .. ": `counter_cache` and `touch` are options of belongs_to")
  end
  local function column(option, usual)
    local value = options[option]
    if not value then return nil end
    if value == true and usual then value = usual end
    if type(value) ~= "string" or value == "" then
      raise("argument", ("%s: `%s` is the name of a column%s, got %s"):format(kind, option, usual and ", or true" or " or false", errors.describe(value)))
    end
    return root.source:column(value).shape.detail
  end
  root.counter_cache, root.touch = column("counter_cache"), column("touch", "updated_at")
  local info = record_class.info(owner)
  root.deleted_column = behaviours.option(owner, "soft_delete")
  --- The stored values of records' rows before a write.
  local former = setmetatable({}, { __mode = "k" })
  info.counts_replaced = true
  behaviours.add(info, "did_insert", function(record, db, replaced) moved(root, replaced, key_of(root, said_by(record)), db) end)
  local function note_former(record, db) former[record] = former_values(root, info, record, db) end
  local function take_former(record)
    local values = former[record]
    former[record] = nil
    return values
  end
  behaviours.add(info, "will_delete", note_former)
  behaviours.add(info, "did_delete", function(record, db, was_there)
    local before = take_former(record)
    if was_there then change(root, key_of(root, before), db, -1) end
  end)
  behaviours.add(info, "will_update", note_former)
  behaviours.add(info, "did_update", function(record, db, columns, replaced)
    local values = take_former(record)
    for _, row in ipairs(replaced or {}) do change(root, key_of(root, said_by(row)), db, -1) end
    local before, now = key_of(root, values), key_of(root, updated_values(record, columns, values))
    if is_same(before, now) then return change(root, now, db, 0) end
    change(root, before, db, -1)
    change(root, now, db, 1)
  end)
end

return parent_updates
