--- Behaviors: class options that add hooks, which run before the script's hooks.
--
--     perilune.record("book", {
--       defaults = { status = "new", code = function(book) return make_code(book.title) end },   -- for columns without a value
--       timestamps = true,                    -- created_at and updated_at
--       lock_version = true,                  -- stale records are not written
--       soft_delete = true,                   -- deleting sets deleted_at
--       immutable = { "isbn" },               -- written only by inserts
--       enums = { status = Status },          -- Book:published(), book:is_published()
--       enums = { status = { Status, prefix = "status" } },   -- Book:status_draft(), book:is_status_draft()
--       enums = { status = { "draft", "published" } },        -- the cases themselves, with or without a prefix
--     })
--
-- All options except `defaults`, `immutable` and `enums` accept a column name instead of `true`. `timestamps` also accepts a table, {
-- created = ..., updated = ... }. When one statement changes many rows (`update_all`, `insert_from`), versions are incremented and changes
-- of immutable columns are rejected, but no other behavior applies. upsert_rules.lua defines which columns of an existing row an upsert
-- changes.

local perilune = require "perilune"
local null = require("perilune.native.values").null
local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local checks = require "perilune.runtime.checks"
local record_class = require "perilune.records.class"
local record_description = require "perilune.records.description"
local sql_names = require "perilune.runtime.names"
local raise = errors.raise

local behaviours = {}

-- Hooks -----------------------------------------------------------------------------------------------------------------------

--- The hooks that `install` has made from behaviors and the hooks of scripts. When such a hook is defined on a class, no behaviors are
-- added to it again.
local composed = setmetatable({}, { __mode = "k" })

--- Returns the behaviors of a class and of the classes it extends for a hook.
local function behaviours_for(info, hook)
  local list = {}
  for ancestor in record_class.ancestors(info) do
    for _, f in ipairs(ancestor.behaviours and ancestor.behaviours[hook] or {}) do table.insert(list, f) end
  end
  return list
end

--- Defines a class hook that calls the behaviors first, and then the script's hook.
local function install(info, hook)
  local list, own = behaviours_for(info, hook), info.script_hooks and info.script_hooks[hook]
  local function call(...)
    for _, f in ipairs(list) do f(...) end
    if own then return own(...) end
  end
  composed[call] = true
  info.class[hook] = call
end

record_class.on_definition(function(info, name, value)
  if not record_class.hooks[name] or composed[value] or #behaviours_for(info, name) == 0 then return false end
  info.script_hooks = info.script_hooks or {}
  info.script_hooks[name] = value
  install(info, name)
  return true
end)

--- Adds a behavior to a class.
-- @tparam string hook a hook that is called before or after a write: `will_...` or `did_...`
-- @tparam function f receives the arguments of the hook
function behaviours.add(info, hook, f)
  info.behaviours = info.behaviours or {}
  info.behaviours[hook] = info.behaviours[hook] or {}
  local own = rawget(info.members, hook)
  if own and not composed[own] then
    info.script_hooks = info.script_hooks or {}
    info.script_hooks[hook] = own
  end
  table.insert(info.behaviours[hook], f)
  install(info, hook)
end

-- Options ---------------------------------------------------------------------------------------------------------------------

--- Returns the column name from an option, or the default name.
local function column_option(option, value, usual)
  if value == true then return usual end
  if type(value) == "string" and value ~= "" then return value end
  raise("argument", ("perilune.record: option %s: expected true or the name of a column, got %s"):format(option, errors.describe(value)))
end

--- The options of classes that configure behaviors.
local class_options = {}

function class_options.timestamps(info, value)
  if value == false then return end
  local place = "perilune.record: option timestamps"
  if value == true then
    info.timestamps = { created = "created_at", updated = "updated_at", is_usual = true }
    return
  end
  if type(value) ~= "table" then raise("argument", place .. ": expected true or { created = ..., updated = ... }, got " .. errors.describe(value)) end
  checks.option_names(place, value, { created = true, updated = true })
  info.timestamps = {}
  for name, column in pairs(value) do info.timestamps[name] = column and column_option("timestamps: " .. name, column, name .. "_at") or nil end
  if next(value) == nil then raise("argument", place .. ": expected { created = ..., updated = ... }, got an empty table") end
  if next(info.timestamps) == nil then info.timestamps = nil end
end

function class_options.lock_version(info, value) info.lock_version = value and column_option("lock_version", value, "lock_version") or nil end
function class_options.soft_delete(info, value) info.soft_delete = value and column_option("soft_delete", value, "deleted_at") or nil end

function class_options.immutable(info, value)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" or #value == 0 then
    raise("argument", "perilune.record: option immutable: expected the names of columns, got " .. errors.describe(value))
  end
  info.immutable = checks.names("perilune.record: option immutable", value)
end

function class_options.enums(info, value)
  if type(value) ~= "table" or next(value) == nil then
    raise("argument", "perilune.record: option enums: expected { column = perilune.enum{...} }, got " .. errors.describe(value))
  end
  info.enums, info.enum_prefixes = {}, {}
  for column, enum in pairs(value) do
    local is_list, prefix = type(enum) == "table" and getmetatable(enum) == nil, nil
    if is_list then
      local is_list_of_cases = type(enum[1]) == "string"
      if enum[1] == nil and enum.prefix == nil and next(enum) ~= nil then
        local first
        for name in pairs(enum) do first = (first == nil or tostring(name) < tostring(first)) and name or first end
        local case = type(enum[first]) == "string" and ("%q"):format(enum[first]) or tostring(enum[first])
        raise("argument", ("perilune.record: option enums: %s: values of cases belong to an enum; use { %s = perilune.enum{ %s = %s } }"):format(
          tostring(column), tostring(column), tostring(first), case))
      end
      checks.option_names("perilune.record: option enums: " .. tostring(column), checks.rest(enum, is_list_of_cases and #enum or 1), { prefix = true })
      enum, prefix = is_list_of_cases and perilune.enum(table.move(enum, 1, #enum, 1, {})) or enum[1], enum.prefix
    end
    if type(column) ~= "string" or type(enum) ~= "table" or type(enum.cases) ~= "function" then
      raise("argument", ("perilune.record: option enums: %s: expected perilune.enum{...}, got %s"):format(tostring(column), errors.describe(enum)))
    elseif prefix ~= nil and (type(prefix) ~= "string" or not prefix:find("^[%a_][%w_]*$")) then
      raise("argument", ("perilune.record: option enums: %s: prefix: expected a name, got %s"):format(column, errors.describe(prefix)))
    end
    info.enums[column], info.enum_prefixes[column] = enum, prefix and prefix .. "_" or ""
  end
end

function class_options.defaults(info, value)
  if type(value) ~= "table" or next(value) == nil then
    raise("argument", "perilune.record: option defaults: expected { column = value or function, ... }, got " .. errors.describe(value))
  end
  for name in pairs(value) do
    if type(name) ~= "string" then
      raise("argument", "perilune.record: option defaults: expected the name of a column, got " .. errors.describe(name))
    end
  end
  info.defaults = value
end

record_class.add_options(class_options)

--- Returns the value of an option of a class or of the nearest class it extends; nil if none has it.
function behaviours.option(class, option)
  for ancestor in record_class.ancestors(record_class.info(class)) do
    if ancestor[option] ~= nil then return ancestor[option] end
  end
end

--- Raises if the table lacks a column that an option of the class names.
local function check_column(info, description, name)
  if description.positions[sql_names.fold(name)] then return end
  errors.raise_unknown_column(name, info.table, record_description.column_names(description))
end

-- Defaults --------------------------------------------------------------------------------------------------------------------

--- By record, the values that defaults have set.
local defaulted = setmetatable({}, { __mode = "k" })

--- Returns the columns of a record that have a default instead of a given value, by name.
function behaviours.defaulted_columns(target)
  local columns = {}
  for name, value in pairs(defaulted[target] or {}) do columns[name] = rawequal(rawget(target, name), value) or nil end
  return columns
end

local function note_default(target, name, value)
  defaulted[target] = defaulted[target] or {}
  defaulted[target][name] = value
end

local function add_defaults(info)
  local names = {}
  for name in pairs(info.defaults) do names[#names + 1] = name end
  table.sort(names)
  behaviours.add(info, "will_insert", function(target)
    for _, name in ipairs(names) do
      -- A field that was explicitly set to NULL stays NULL.
      if native_records.stored_field(target, name) == nil then
        local value = info.defaults[name]
        if type(value) == "function" then value = value(target) end
        if value ~= nil then
          target[name] = value
          note_default(target, name, value)
        end
      end
    end
  end)
end

-- Timestamps ------------------------------------------------------------------------------------------------------------------

--- Returns the names of the option's columns that exist in the table.
local function timestamp_columns(info, target)
  local names, description = info.timestamps, (native_records.record_schema(target))
  local has = {}
  for _, column in ipairs(description.columns) do has[column.name] = true end
  local created, updated = names.created, names.updated
  for _, name in ipairs{ created or false, updated or false } do
    if name and not has[name] and not names.is_usual then
      errors.raise_unknown_column(name, info.table, record_description.column_names(description))
    end
  end
  if names.is_usual and not has[created] and not has[updated] then
    raise("argument", ("`%s` has neither `created_at` nor `updated_at`; name the columns, timestamps = { updated = \"...\" }"):format(info.table))
  end
  return created and has[created] and created, updated and has[updated] and updated
end

--- Returns whether a script has assigned a value to a column: one that differs from the row, or any value if the record has not read the
-- row.
local function is_assigned(target, column)
  local value, row = rawget(target, column), native_records.snapshot(target)
  if value == nil or value == null or not row then return value ~= nil and value ~= null end
  return require("perilune.records.values").differs(require("perilune.records.column_details").of_record(target), column, row[column], value)
end

local function add_timestamps(info)
  behaviours.add(info, "will_insert", function(target)
    local created, updated = timestamp_columns(info, target)
    local now = perilune.now()
    for _, name in ipairs{ created or updated, updated } do
      if name and rawget(target, name) == nil then target[name] = now end
    end
  end)
  behaviours.add(info, "will_update", function(target)
    local _, updated = timestamp_columns(info, target)
    if updated and not is_assigned(target, updated) then target[updated] = perilune.now() end
  end)
end

-- Versions --------------------------------------------------------------------------------------------------------------------

--- Returns the request for the row of a record.
local function row_of(info, target)
  local key, names = {}, (native_records.record_schema(target)).key
  for _, name in ipairs(names) do
    local value = require("perilune.records.values").stored(require("perilune.records.column_details").of_record(target), target, name)
    if value == nil then value = null end
    key[name] = perilune.value(value)
  end
  return info.class:unscoped():filter(key)
end

behaviours.row_of = row_of

--- Returns the version of the row at the time when the record read it.
local function known_version(info, target)
  local row = native_records.snapshot(target)
  local version = row and row[info.lock_version]
  if version == nil then version = rawget(target, info.lock_version) end
  if version == nil then
    raise("argument", ("a record of `%s` without `%s` cannot be written; fetch it first"):format(info.table, info.lock_version))
  end
  return version
end

local function check_version(info, target, db)
  local version = known_version(info, target)
  local found = row_of(info, target):select(info.lock_version):fetch_one(db)
  if found and found[info.lock_version] ~= version then
    local key = require("perilune.records.values").key((native_records.record_schema(target)).schema, target)
    local now = found[info.lock_version]
    local is_older = type(now) == "number" and type(version) == "number" and now < version
    raise("stale", ("the record of `%s` is stale: its row %s (version %s, now %s); fetch it again"):format(info.table,
      is_older and "is older than the record, as after a transaction that was rolled back" or "has changed since it was read",
      tostring(version), tostring(now)), { table = info.table, key = key })
  end
  return version
end

record_class.on_description(function(info, description)
  local name = behaviours.option(info.class, "lock_version")
  if name then check_column(info, description, name) end
end)

local function add_lock_version(info)
  behaviours.add(info, "will_insert", function(target, db)
    if rawget(target, info.lock_version) == nil then target[info.lock_version] = 0 end
    -- An upsert of a record that has read its row writes to that row.
    if native_records.snapshot(target) then check_version(info, target, db) end
  end)
  behaviours.add(info, "will_update", function(target, db)
    target[info.lock_version] = check_version(info, target, db) + 1
  end)
  behaviours.add(info, "will_delete", function(target, db) check_version(info, target, db) end)
end

-- Soft deletion -----------------------------------------------------------------------------------------------------------------

--- Calls a function that writes a record. If the function fails, restores the record.
local function unchanged_by_failure(target, write, ...)
  local memory = native_records.copy_record(target)
  local is_done, result = pcall(write, ...)
  if is_done then return result end
  native_records.restore_record(target, memory)
  error(result, 0)
end

local function add_soft_delete(info)
  local column, class = info.soft_delete, info.class
  --- Returns whether a record's row exists and is not deleted.
  local function is_kept(target, db)
    if not require("perilune.records.steps").has_key(info, target, db) then
      require("perilune.records.failures").raise_no_key("delete", record_class.description(info.class, db))
    end
    return row_of(info, target):filter{ [column] = null }:exists(db)
  end
  --- Deletes a record softly: an update, with its hooks, sets the deletion time and writes other changed fields. The row may have been
  -- deleted already, through another copy of the record.
  -- @param ?db a database, options as for `update_changes`, or both
  function class.delete(target, db, options)
    if not native_records.is_database(db) then db, options = native_records.default_database(), options or db end
    return unchanged_by_failure(target, databases.guarded, db, function(handle)
      return is_kept(target, handle) and target:update_changes(handle, { [column] = perilune.now() }, options)
    end)
  end
  --- Deletes the row.
  function class.delete_forever(target, db)
    return require("perilune.records.hooks").perform("delete", record_class.info_of(target), target, db or native_records.default_database()) and true or false
  end
  --- Restores a softly deleted record.
  function class.restore(target, db)
    unchanged_by_failure(target, function()
      target[column] = nil
      target[column] = null
      target:update_changes(db)
    end)
    return target
  end
end

-- Immutable columns ---------------------------------------------------------------------------------------------------------------

record_class.on_description(function(info, description)
  for _, name in ipairs(behaviours.option(info.class, "immutable") or {}) do check_column(info, description, name) end
end)

local function add_immutable(info)
  behaviours.add(info, "will_update", function(target, db)
    local changed, row = {}, native_records.snapshot(target)
    for _, name in ipairs(row and require("perilune.records.changes").columns(require("perilune.records.column_details").of_record(target), target) or {}) do
      changed[name] = true
    end
    for _, name in ipairs(info.immutable) do
      local is_changed = changed[name]
      if not row and rawget(target, name) ~= nil then
        is_changed = not row_of(info, target):filter{ [name] = rawget(target, name) }:exists(db)
      end
      if is_changed then
        raise("immutable", ("`%s` of `%s` is immutable: it can be set only when the record is inserted"):format(name, info.table),
          { table = info.table, column = name })
      end
    end
  end)
end

-- Enumerations ----------------------------------------------------------------------------------------------------------------------

--- The column types must be set before the class is complete.
record_class.on_creation(function(info)
  if not info.enums then return end
  local types = {}
  for column, wanted in pairs(info.types or {}) do types[column] = wanted end
  for column, enum in pairs(info.enums) do types[column] = types[column] or enum end
  info.types = types
end)

--- Checks the name of the request that is defined for a case.
local function check_case(info, column, name, column_of)
  local place = ("perilune.record: option enums: `%s`: the case `%s`"):format(column, name)
  local advice = ("; give the enumeration a prefix: enums = { %s = { Enum, prefix = \"%s\" } }"):format(column, column)
  if column_of[name] then
    raise("argument", place .. (" is one of `%s`, too"):format(column_of[name]) .. advice)
  elseif rawget(info.lookup, name) ~= nil or rawget(record_class.class_verbs, name) ~= nil or record_class.request_methods()[name] ~= nil then
    raise("argument", place .. " has the name of a method of every class" .. advice)
  end
  column_of[name] = column
end

local function add_enums(info)
  local columns, column_of = {}, {}
  for column in pairs(info.enums) do columns[#columns + 1] = column end
  table.sort(columns)
  for _, column in ipairs(columns) do
    for _, case in ipairs(info.enums[column]:cases()) do
      local name = info.enum_prefixes[column] .. (type(case) == "string" and case or case.name)
      check_case(info, column, name, column_of)
      info.class.requests[name] = function(self) return self:filter{ [column] = case } end
      info.class["is_" .. name] = function(target) return target[column] == case end
    end
  end
end

record_class.on_completion(function(info)
  if info.defaults then add_defaults(info) end
  if info.timestamps then add_timestamps(info) end
  if info.lock_version then add_lock_version(info) end
  if info.immutable then add_immutable(info) end
  if info.soft_delete then add_soft_delete(info) end
  if info.enums then add_enums(info) end
end)

return behaviours
