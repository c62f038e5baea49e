--- What writing a record changes in the row that it belongs to: a count of its kind, and a time.
--
--     Book.author = Book:belongs_to(Author, { counter_cache = "book_count", touch = true })
--
-- `counter_cache` is the column with the number of rows that belong to the row; `touch`, the column that says when one of them was written
-- last: a name, or true for `updated_at`. Both are changed in the transaction of the write. Changes of many rows (update_all, insert_from,
-- SQL) do not count: `Author:update_all{ book_count = Author.books:count() }` counts anew.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local records = require "perilune.native.records"
local behaviours = require "perilune.records.behaviours"
local record_class = require "perilune.records.class"
local record_info = require "perilune.records.info"
local record_values = require "perilune.records.values"
local association_records = require "perilune.associations.records"
local raise = errors.raise

local parent_updates = {}

--- What is bound for the columns by which a record belongs to another one: a list of values, nil if one is NULL. A record that is deleted
-- softly belongs to none.
-- @tparam ?table values what its row had before
local function key_of(root, record, values)
  local key, names, deleted = {}, (association_records.columns_of(root)), root.deleted_column
  if deleted and (values or record)[deleted] ~= nil then return nil end
  for index, name in ipairs(names) do
    local value
    if values then value = record_values.of_row(record_info.of_record(record), name, values[name])
    else value = association_records.stored_field(record, name) end
    if value == nil then return nil end
    key[index] = value
  end
  return key
end

--- By which row the row of a record belonged to another one, whatever the record itself says; it may not know its row.
local function former_key(root, info, record, db)
  local row = records.snapshot(record)
  if row then return key_of(root, record, row) end
  if #(records.record_schema(record)).key == 0 then return key_of(root, record) end
  local found = behaviours.row_of(info, record):fetch_one(db)
  return found and key_of(root, found) or nil
end

--- The request for the row that a key means.
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

--- Changes the row that a key means.
local function change(root, key, db, difference)
  if not key then return end
  local changes = {}
  if root.counter_cache and difference ~= 0 then
    changes[root.counter_cache] = root.source:column(root.counter_cache) + difference
  end
  if root.touch then changes[root.touch] = perilune.now() end
  if next(changes) ~= nil then parent(root, key):update_all(db, changes) end
end

--- Changes the rows of a record that was inserted, in place of others or by updating another.
local function moved(root, replaced, now, db)
  local has_stayed = false
  for _, row in ipairs(replaced or {}) do
    local before = key_of(root, row)
    if not has_stayed and is_same(before, now) then has_stayed = true
    else change(root, before, db, -1) end
  end
  change(root, now, db, has_stayed and 0 or 1)
end

--- Reads the options of an association, and adds the hooks to the class that belongs to the other.
function parent_updates.install(root, kind, owner, options)
  if kind ~= "belongs_to" or not root.target then
    raise("argument", kind .. ": `counter_cache` and `touch` are options of belongs_to")
  end
  local function column(option, usual)
    local value = options[option]
    if value == nil then return nil end
    if value == true and usual then value = usual end
    if type(value) ~= "string" or value == "" then
      raise("argument", ("%s: `%s` is the name of a column%s, got %s"):format(kind, option, usual and ", or true" or "", errors.describe(value)))
    end
    return root.source:column(value).shape.detail
  end
  root.counter_cache, root.touch = column("counter_cache"), column("touch", "updated_at")
  local info = record_class.info(owner)
  root.deleted_column = behaviours.option(owner, "soft_delete")
  local former = setmetatable({}, { __mode = "k" })
  info.counts_replaced = true
  behaviours.add(info, "did_insert", function(record, db, replaced) moved(root, replaced, key_of(root, record), db) end)
  local function note_former(record, db) former[record] = former_key(root, info, record, db) end
  behaviours.add(info, "will_delete", note_former)
  behaviours.add(info, "did_delete", function(record, db, was_there)
    if was_there then change(root, former[record], db, -1) end
    former[record] = nil
  end)
  behaviours.add(info, "will_update", note_former)
  behaviours.add(info, "did_update", function(record, db)
    local before, now = former[record], key_of(root, record)
    former[record] = nil
    if is_same(before, now) then return change(root, now, db, 0) end
    change(root, before, db, -1)
    change(root, now, db, 1)
  end)
end

return parent_updates
