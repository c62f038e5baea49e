--- Writes records: insert, update, save, delete, exists, refresh, for a single record and for a class.
--
-- The row path handles common cases without Lua (CPeriluneRecords/Writing). It calls this module for anything else: plain tables
-- instead of records, options, hooks, converted columns.
--
-- A failed write does not change the record. If a successful write is rolled back later, with its transaction or savepoint, the
-- record is not restored: it keeps the generated key, and treats the written values as its stored ones. `refresh` reads the
-- row; `insert`, `save` and `update` write it again; `update_changes` may find nothing to write.

local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local database_argument = require "perilune.runtime.database_argument"
local null = require("perilune.native.values").null
local native_records = require "perilune.native.records"
local raise = errors.raise
local record_class = require "perilune.records.class"
local record_options = require "perilune.records.options"
local record_steps = require "perilune.records.steps"
local record_failures = require "perilune.records.failures"
local record_description = require "perilune.records.description"
local record_keys = require "perilune.records.keys"
local fetching = require "perilune.records.fetching"
local verbs, instance_verbs = {}, {}

local writing = {}

-- Arguments

local draft_class

--- Sets the function that returns the class of a draft. Called when the module of drafts is loaded.
function writing.set_drafts(class_of)
  draft_class = class_of
end

--- Returns whether a value is a draft.
function writing.is_draft(value)
  return draft_class ~= nil and draft_class(value) ~= nil
end

--- Reads the schema of a database again if a name is unknown, because another connection may have changed it.
local function know_names(info, values, db)
  for name in next, values do
    if not info.known[name] and not (info.computed and info.computed[name]) and not record_class.association(info, name) then
      native_records.touch_schema(db)
      record_class.description(info.class, db)
      return
    end
  end
end

--- The replacements for calls of class verbs with a key or a column name.
local cures_of_keys = {
  delete = "; use Class:delete_one(key)", update = "; use Class:find(key):update_changes{ column = value }", refresh = "; use Class:find(key)",
  insert = "; use insert{ column = value }", save = "; use save{ column = value }", upsert = "; use upsert{ column = value }",
}

--- Returns the record for the argument of a class verb, which may also be a table of columns or a draft.
local function check_record(info, verb, value, db)
  if writing.is_draft(value) then return require("perilune.records.drafts").to_record(info, verb, value, db) end
  local found = record_class.info_of(value)
  if found then
    for ancestor in record_class.ancestors(found) do
      if ancestor == info then return value end
    end
    for ancestor in record_class.ancestors(info) do
      if ancestor == found then return value end
    end
    raise("argument", ("%s: expected a record of %s, got one of %s"):format(verb, info.name, record_class.other_name(found, info)))
  end
  if type(value) == "table" and getmetatable(value) ~= nil then value = require("perilune.runtime.json").columns(value) end
  if type(value) ~= "table" or getmetatable(value) ~= nil then
    raise("argument", ("%s: expected a record of %s or a table of columns, got %s%s")
      :format(verb, info.name, errors.describe(value), (type(value) == "number" or type(value) == "string") and cures_of_keys[verb] or ""))
  end
  if value[1] ~= nil then
    raise("argument", ("%s: expected one record of %s or a table of columns, got a list%s"):format(verb, info.name,
      verb == "insert" and "; use insert_all for lists" or ""))
  end
  if db then know_names(info, value, db) end
  if record_class.names_associations(info, value) then return record_class.parents.make(info, value, verb, db) end
  return info.class(value)
end

--- Sets the columns of associated records that were assigned to a record.
function writing.synchronize(info, target, db)
  if record_class.names_associations(info, target) then record_class.parents.synchronize(info, target, db) end
end

--- Raises for an empty table in place of options, in which a script has probably set columns to nil.
local function check_not_empty(verb, options)
  if type(options) == "table" and next(options) == nil and getmetatable(options) == nil then
    raise("argument", ("%s{}: an empty table has no options; %s() writes all fields, and record:update_changes{ column = value } the given "
      .. "ones. A field that is nil does not exist, so use perilune.null for NULL"):format(verb, verb))
  end
end

--- Splits the arguments of a verb that is called on a record or on a class.
-- @return info, record, database or nil, options
local function split(verb, first, ...)
  local info = record_class.info_of(first)
  local is_record = info ~= nil
  if not info then info = record_class.require_class(verb, first, true) end
  local arguments, position = table.pack(...), 1
  local db
  if arguments.n >= 1 and (arguments[1] == nil and is_record and arguments.n > 1 or native_records.is_database(arguments[1])) then
    db, position = arguments[1], 2
  end
  local target = first
  -- Creating the description determines whether Lua must handle the writes.
  if not info.is_described then info.is_described = record_class.description(info.class, db) ~= nil end
  if not is_record then
    target = check_record(info, verb, arguments[position], db)
    info = record_class.info_of(target)
    position = position + 1
  end
  if native_records.is_database(arguments[position + 1]) then arity.refuse_database(verb, is_record and "record" or "Class") end
  if arguments.n > position then
    local is_column = is_record and type(arguments[position]) == "string"
    raise("argument", ("%s: too many arguments%s"):format(verb, is_column and ("; use record:update_changes{ %s = value }"):format(arguments[position]) or ""))
  end
  if is_record and (verb == "update" or verb == "save") then check_not_empty(verb, arguments[position]) end
  writing.synchronize(info, target, db)
  return info, target, db, record_options.read(verb, arguments[position])
end

writing.split = split

-- Verbs


--- Runs a verb, with its hooks if the class has any.
-- @return whether something was written
local function perform(verb, info, target, db, options)
  local is_seen = native_records.model_flags(info.model)
  if is_seen then return require("perilune.records.hooks").perform(verb, info, target, db, options) end
  return record_steps[verb](info, target, db, options)
end

-- Overridden verbs

for _, verb in ipairs{ "insert", "update", "delete", "save", "upsert" } do record_class.overridable[verb] = true end

--- Defines a verb that a class overrides. A call on the class with a record, a draft or a table of columns becomes a call on the record.
-- Verbs that are not overridden use the overridden `insert`, `update` and `delete`.
function record_class.override(info, verb, method)
  if verb ~= "save" and verb ~= "upsert" then
    info.has_overrides = true
    native_records.set_model(info.model, true)
  end
  return function(first, ...)
    local info = record_class.info(first)
    if not info then return method(first, ...) end
    local arguments, position, db = table.pack(...), 1, nil
    if native_records.is_database(arguments[1]) then db, position = arguments[1], 2 end
    local target = check_record(info, verb, arguments[position], db)
    local own = record_class.method(record_class.info_of(target), verb) or method
    if db then return own(target, db, table.unpack(arguments, position + 1, arguments.n)) end
    return own(target, table.unpack(arguments, position + 1, arguments.n))
  end
end

local function has_overrides(info)
  for ancestor in record_class.ancestors(info) do
    if ancestor.has_overrides then return true end
  end
  return false
end

--- Runs a verb that the class may override.
-- @return whether something was written
function writing.call(verb, info, target, db, options)
  local method = (verb == "upsert" or has_overrides(info)) and record_class.method(info, verb)
  if not method then return perform(options and options.as or verb, info, target, db, options) end
  local carrier = record_options.carry(options)
  local result
  if carrier then result = method(target, db, carrier)
  elseif db then result = method(target, db)
  else result = method(target) end
  return result ~= false
end

local function is_not_found(err)
  local kind = type(err)
  return (kind == "userdata" or kind == "table") and err.kind == "record_not_found"
end

local through = {}

--- Updates the row, or inserts it if the record has no key or the row does not exist, using the verbs of the class.
function through.save(info, target, db, options)
  if record_steps.has_key(info, target, db) then
    record_keys.check_kept("save", record_class.description(info.class, db), target)
    local is_done, result = pcall(writing.call, "update", info, target, db, options)
    if is_done then return result end
    local is_missing = is_not_found(result) and not native_records.raw_exists(target, db, record_steps.row_values(info, target, db))
    if not is_missing then error(result, 0) end
  end
  return writing.call("insert", info, target, db, options)
end

--- Runs an upsert through the `update` of the class if the row exists, otherwise through its `insert`. In both cases, the statement of the
-- upsert is executed.
function through.upsert(info, target, db, options)
  db = db or native_records.default_database()
  local carried_options = { as = "upsert" }
  for name, value in pairs(options or {}) do carried_options[name] = value end
  local is_written
  databases.guarded(db, function(handle)
    local has_row = require("perilune.records.rows_in_the_way").exist(info, "upsert", target, handle, options)
    is_written = writing.call(has_row and "update" or "insert", info, target, handle, carried_options)
  end)
  return is_written
end

--- Runs a verb that was called on a record. If the class overrides any verbs, a verb that is based on others, such as `save`, calls these.
writing.perform = function(verb, info, target, db, options)
  if through[verb] and has_overrides(info) then return through[verb](info, target, db, options) end
  return perform(verb, info, target, db, options)
end

for _, verb in ipairs{ "insert", "update", "save", "upsert" } do
  --- Returns the record, or the result of the option `returning`; false (or nil) if a conflict policy or condition has prevented
  -- the write.
  writing[verb] = function(first, ...)
    local info, target, db, options = split(verb, first, ...)
    record_options.check(info, options, db)
    if options and options.is_carried then
      -- The overriding verb may have changed more columns.
      if options.changed_columns then options.columns = options.changed_columns() end
      return perform(options.as or verb, info, target, db, options) and target
    end
    local is_written = writing.perform(verb, info, target, db, options)
    if is_written then return record_options.result(info, target, options, db) end
    if not (options and options.returning) then return false end
  end
end

function writing.delete(first, ...)
  local info, target, db, options = split("delete", first, ...)
  record_options.check(info, options, db)
  local is_deleted = writing.perform("delete", info, target, db, options)
  if not (options and options.returning) then return is_deleted end
  if is_deleted then return record_options.result(info, target, options, db) end
end

verbs.upsert, instance_verbs.upsert = writing.upsert, writing.upsert

--- exists: whether a record's row exists, or, for a class, a row with a key.
function writing.exists(first, ...)
  if record_class.info_of(first) then
    local info, target, db = split("exists", first, ...)
    return native_records.raw_exists(target, db, record_steps.row_values(info, target, db))
  end
  record_class.require_class("exists", first, true)
  local exists = fetching.exists(first, ...)
  return exists
end

for _, name in ipairs{ "insert", "update", "save", "delete", "exists" } do
  verbs[name], instance_verbs[name] = native_records["record_" .. name], native_records["record_" .. name]
end

--- fields: additional lazy fields to read.
function record_options.by_verb.refresh.fields(value, parsed)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" or getmetatable(value) ~= nil or #value == 0 then
    raise("argument", "refresh: option fields: expected the name of a field, or a list of names, got " .. errors.describe(value))
  end
  parsed.fields = value
end

--- Returns the lazy fields that a refresh reads: the lazy fields that the record already has, and the requested ones.
local function refreshed_lazy(info, description, target, options)
  local lazy, wanted = {}, {}
  for _, name in ipairs(description.schema.lazy or {}) do lazy[name] = true end
  local _, names = native_records.record_schema(target)
  for _, name in ipairs(names) do wanted[#wanted + 1] = lazy[name] and name or nil end
  for _, name in ipairs(options and options.fields or {}) do
    if not description.positions[record_description.fold(tostring(name))] then
      errors.raise_unknown_column(tostring(name), info.table, record_description.column_names(description))
    end
    wanted[#wanted + 1] = lazy[name] and name or nil
  end
  return wanted, lazy
end

--- Refreshes a record whose class has lazy fields.
local function refresh_lazily(info, description, target, db, options)
  local wanted, lazy = refreshed_lazy(info, description, target, options)
  for _, name in ipairs(wanted) do lazy[name] = nil end
  local fresh = fetching.fetch_row_of("refresh", info.class, db or native_records.default_database(), target, wanted)
  local known = {}
  for _, column in ipairs(description.columns) do
    if not lazy[column.name] then
      rawset(target, column.name, rawget(fresh, column.name))
      known[column.name] = true
    end
  end
  record_steps.note_row(info, target, db, native_records.snapshot(fresh), known)
  return target
end

--- Reads the row of the record again.
function instance_verbs.refresh(self, ...)
  local info, target, db, options = split("refresh", self, ...)
  local description = record_class.description(info.class, db)
  if not record_steps.has_key(info, target, db) then record_failures.raise_no_key("refresh", description) end
  record_keys.check_kept("refresh", description, target)
  if description.schema.lazy or options then return refresh_lazily(info, description, target, db, options) end
  local fresh = fetching.fetch_row_of("refresh", info.class, db or native_records.default_database(), target)
  for _, column in ipairs(description.columns) do rawset(target, column.name, rawget(fresh, column.name)) end
  record_steps.note_row(info, target, db, native_records.snapshot(fresh), true)
  return target
end

verbs.refresh = instance_verbs.refresh

--- Inserts and returns a copy.
function instance_verbs.inserted(self, ...)
  record_class.require_record("inserted", self)
  return native_records.copy_record(self):insert(...)
end

--- Called on the class with a record or a table of columns.
function verbs.inserted(first, ...)
  if record_class.info_of(first) then return instance_verbs.inserted(first, ...) end
  record_class.require_class("inserted", first, true)
  local db, target, options = database_argument.take("inserted", 2, ...)
  if record_class.info_of(target) then return instance_verbs.inserted(target, db, options) end
  return first:insert(db or native_records.default_database(), target, options)
end

-- Rows of a class

local function database_and_rest(...)
  if native_records.is_database((...)) then return (...), select(2, ...) end
  return native_records.default_database(), ...
end

--- Raised for a list that the row path cannot insert on its own.
local one_by_one = {}

--- Returns an element of the list passed to insert_all as a record.
function writing.list_record(class, value)
  local made = check_record(record_class.info(class), "insert_all", value)
  -- The element belongs to an extension of this class that has hooks, types or verbs of its own.
  if native_records.model_flags(record_class.info_of(made).model) and not native_records.model_flags(record_class.info(class).model) then
    error(one_by_one, 0)
  end
  return made
end

--- Calls a function with each position of a list; errors get the list index.
local function each_element(verb, list, f)
  for position = 1, #list do
    local is_done, err = pcall(f, position)
    if not is_done then
      record_failures.add_list_index(err, position, verb)
      error(err, 0)
    end
  end
end

local function insert_one(...) return writing.call("insert", ...) end

local function upsert_one(info, ...)
  local verb = record_class.method(info, "upsert") and writing.call or writing.perform
  return verb("upsert", info, ...)
end

--- Writes records one by one. If one fails, all writes are rolled back, and the records are restored.
-- @tparam string verb "insert_all" or "upsert_all"
local function write_each(class, db, list, options, verb)
  record_options.check(record_class.info(class), options, db)
  local write = verb == "upsert_all" and upsert_one or insert_one
  local targets, memories, results = {}, {}, {}
  each_element(verb, list, function(position)
    targets[position] = check_record(record_class.info(class), verb, list[position])
  end)
  local is_done, failure = pcall(databases.guarded, db, function(handle)
    each_element(verb, targets, function(position)
      local target = targets[position]
      local info = record_class.info_of(target)
      memories[position] = native_records.copy_record(target)
      if write(info, target, handle, options) then
        results[#results + 1] = record_options.result(info, target, options, handle)
      end
    end)
  end)
  if is_done then return results end
  for position, memory in ipairs(memories) do native_records.restore_record(targets[position], memory) end
  error(failure, 0)
end

--- Raises for a list with keys other than 1 to n, because their values would not be inserted. The usual causes are fields without braces
-- around them, and gaps. Returns the list, with decoded JSON objects replaced by tables of columns.
local function check_list(verb, list)
  if type(list) == "table" and (getmetatable(list) ~= nil or getmetatable(list[1]) ~= nil) then
    list = require("perilune.runtime.json").rows(list)
  end
  if type(list) ~= "table" or getmetatable(list) ~= nil then
    raise("argument", verb .. ": expected a list of records, got " .. errors.describe(list))
  end
  local count = #list
  -- Usually nothing follows the last element.
  if next(list, count > 0 and count or nil) == nil then return list end
  for key in next, list do
    local is_element = math.type(key) == "integer" and key >= 1 and key <= count
    if not is_element and key ~= "n" then
      raise("argument", ("%s: expected a list of records, got a table with the key %s%s"):format(verb, errors.describe(key),
        type(key) == "string" and "; use {{ column = value }} for a list of one" or ""))
    end
  end
  return list
end

--- Returns the list with all associated records replaced by columns, for code that handles only columns.
local function without_associations(verb, info, db, list)
  local result
  for position = 1, #list do
    local element = list[position]
    if type(element) == "table" and record_class.names_associations(info, element) then
      result = result or table.move(list, 1, #list, 1, {})
      if native_records.class_of(element) then writing.synchronize(info, element, db)
      elseif getmetatable(element) == nil then result[position] = record_class.parents.make(info, element, verb, db) end
    end
  end
  return result or list
end

--- Returns the info, the database, the list and the options of a verb for many records.
local function split_list(verb, class, ...)
  local info = record_class.require_class(verb, class)
  local db, list, options, rest = database_and_rest(...)
  list = check_list(verb, list)
  if rest ~= nil then raise("argument", verb .. ": too many arguments") end
  record_class.description(class, db) -- determines whether Lua must handle the writes
  for ancestor in record_class.ancestors(info) do
    if next(ancestor.associations or {}) ~= nil then
      list = without_associations(verb, info, db, list)
      break
    end
  end
  return info, db, list, record_options.read(verb, options)
end

--- Inserts records, tables of columns or drafts in one transaction. Returns the list of inserted records, or the list of results if
-- `returning` is given.
function verbs.insert_all(class, ...)
  local info, db, list, options = split_list("insert_all", class, ...)
  if not options and not native_records.model_flags(info.model) then
    local is_done, result = pcall(native_records.raw_insert_all, class, db, list)
    if is_done then return result end
    if result ~= one_by_one then error(result, 0) end
  end
  return write_each(class, db, list, options, "insert_all")
end

--- Upserts records, tables of columns or drafts in one transaction. Returns the number of written rows, or the list of results if
-- `returning` is given.
function verbs.upsert_all(class, ...)
  local info, db, list, options = split_list("upsert_all", class, ...)
  local is_plain = not has_overrides(info) and not record_class.method(info, "upsert") and not require("perilune.records.hooks").has_hooks(info)
  if is_plain then
    return require("perilune.records.bulk_upsert").run(class, db, list, options)
  end
  local written = write_each(class, db, list, options, "upsert_all")
  return options and options.returning and written or #written
end

--- Deletes the row with a key; returns whether there was one. Calls no hooks of records, but calls the `delete` method if the class
-- overrides it.
function verbs.delete_one(class, ...)
  local info = record_class.require_class("delete_one", class)
  local db, key = database_argument.take("delete_one", 1, ...)
  db = db or native_records.default_database()
  if key == nil then return false end
  local row_id = type(key) ~= "table" and record_class.description(info.class, db).row_id
  if row_id then return info.class:unscoped():filter_key(key):delete_all(db).changed_rows > 0 end
  if type(key) == "table" then
    for name, value in pairs(key) do
      if value == null then
        raise("argument", ("delete_one: `%s` is NULL, as in any number of rows; use filter{ ... }:delete_all()"):format(name))
      end
    end
  end
  if type(key) == "table" and #record_class.description(info.class, db).key == 0 then
    fetching.check_unique("delete_one", info.class, db, key)
    return info.class:unscoped():filter(key):delete_all(db).changed_rows > 0
  end
  local found = fetching.fetch_by_key("delete_one", info.class, db, key)
  if found == nil then return false end
  if has_overrides(info) and record_class.method(info, "delete") then return found:delete(db) ~= false end
  return record_steps.delete(record_class.info_of(found), found, db)
end

--- Deletes all rows; returns their number.
function verbs.delete_all(class, ...)
  local info = record_class.require_class("delete_all", class)
  local db, rest = database_and_rest(...)
  if rest ~= nil then raise("argument", "delete_all: takes no arguments other than a database; use filter{ column = value }:delete_all() for some rows") end
  local is_done, result = pcall(db.execute, db, record_class.description(info.class, db).delete_all)
  if is_done then return result.changed_rows end
  error(require("perilune.records.errors").explain_many(result, info.table, require("perilune.records.column_details").of_class(info.class, db)), 0)
end

record_class.add_class_verbs(verbs)
record_class.add_instance_verbs(instance_verbs)

return writing
