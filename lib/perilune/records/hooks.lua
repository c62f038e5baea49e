--- Hooks of records: class methods that are called when records are written.
--
--     insert, upsert   will_save, around_save { will_insert, validate, around_insert { SQL }, did_insert }, did_save
--     update           will_save, around_save { will_update, validate, around_update { SQL }, did_update }, did_save
--     save             the hooks of update; if the row does not exist, the hooks of insert follow inside the same around_save
--     delete           will_delete, around_delete { SQL }, did_delete
--
-- Hooks receive the record and the database. The hooks of update also receive the written columns, and `did_delete` receives
-- whether there was a row. An around hook receives, before the database, a function that performs the steps in its braces, and must
-- call it once. An error in a hook ends the write, rolls back the changes of the write and its hooks, and is raised again
-- unchanged.

local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local rows_in_the_way = require "perilune.records.rows_in_the_way"
local record_steps = require "perilune.records.steps"
local validation = require "perilune.records.validation"

--- The maximum depth of writes made by hooks. Each level uses some of the 200 nested C calls that Lua allows.
local deepest = 16

local hooks = {}

--- Returns the method with a name in the class of a write, or false.
local function method(write, name)
  return record_class.method(write.info, name)
end

local function raise_misuse(write, name, mistake)
  errors.raise("hook", "the hook `" .. name .. "` of `" .. write.info.name .. "` " .. mistake,
    { table = write.info.table, hook = name })
end

local function call(write, name, ...)
  local hook = method(write, name)
  if hook and hook(write.target, write.db, ...) == false and name:find("^will_") then
    raise_misuse(write, name, "returned false, which would not stop the write; raise an error, as error(message) does")
  end
end

-- Around hooks

--- Returns the state of the function that is passed to an around hook: the function, its number of calls, and its result.
local function make_step(write, name, body)
  local step = { calls = 0 }
  function step.run()
    step.calls = step.calls + 1
    if step.is_over then raise_misuse(write, name, "called its function after it had returned") end
    if step.calls > 1 then raise_misuse(write, name, "called its function more than once") end
    step.is_done, step.result = pcall(body)
    if not step.is_done then error(step.result, 0) end
  end
  return step
end

--- Runs a body inside an around hook if there is one. Returns the result of the body.
local function around(write, name, body, ...)
  local hook = method(write, name)
  if not hook then return body() end
  local step = make_step(write, name, body)
  hook(write.target, step.run, write.db, ...)
  step.is_over = true
  if step.calls == 0 then raise_misuse(write, name, "did not call its function, so nothing was written") end
  if step.calls > 1 then raise_misuse(write, name, "called its function more than once") end
  -- A hook may observe a failure, but not hide it.
  if not step.is_done then error(step.result, 0) end
  return step.result
end

-- The SQL

--- Performs the write itself. The state of the record is saved first, in case a later hook fails.
local function run_step(write, verb, options)
  write.memory = write.memory or native_records.copy_record(write.target)
  local result = record_steps[verb == "update" and "update_row" or verb](write.info, write.target, write.db, options)
  if result ~= nil then return result end
  write.has_no_row = true
  record_steps.raise_no_row(write.info, write.target, write.db)
end

-- Kinds of writes

--- Returns a list of columns that also supports `columns.title`.
local function with_names(columns)
  local names = {}
  for _, name in ipairs(columns) do names[name] = true end
  return setmetatable(columns, { __index = names })
end

local function insert(write, verb)
  call(write, "will_insert")
  validation.check(write.info, write.target, write.db)
  local replaced
  local is_written = around(write, "around_insert", function()
    replaced = rows_in_the_way.find(write.info, verb, write.target, write.db, write.options)
    return run_step(write, verb, write.options)
  end)
  if is_written then call(write, "did_insert", rows_in_the_way.changed(replaced, verb, write.target)) end
  return is_written
end

--- Returns the columns to write, and the options for writing them. Hooks may have changed further columns since the write began.
local function columns_of(write)
  local options = write.options
  if not (options and options.changed_columns) then
    return with_names(native_records.updated_columns(write.target, write.db, options and options.key)), options
  end
  local columns, with_columns = options.changed_columns(), {}
  for key, value in pairs(options) do with_columns[key] = value end
  with_columns.columns = columns
  return with_names(columns), with_columns
end

local function update(write)
  call(write, "will_update", (columns_of(write)))
  validation.check(write.info, write.target, write.db)
  local columns, options = columns_of(write)
  local replaced
  local is_written = around(write, "around_update", function()
    replaced = rows_in_the_way.find(write.info, "update", write.target, write.db, options)
    return run_step(write, "update", options)
  end, columns)
  if is_written then call(write, "did_update", columns, replaced) end
  return is_written
end

--- Updates a row, or inserts it if the update has found none. If no row exists, the update ends with an error, which its around hooks can
-- observe.
local function update_or_insert(write)
  if not record_steps.has_key(write.info, write.target, write.db) then return insert(write, "insert") end
  local is_done, result = pcall(update, write)
  if is_done then return result end
  if not write.has_no_row then error(result, 0) end
  return insert(write, "insert")
end

local function save(write, body)
  call(write, "will_save")
  local is_written = around(write, "around_save", function() return body(write) end)
  if is_written then call(write, "did_save") end
  return is_written
end

local bodies = {
  insert = function(write) return save(write, function() return insert(write, "insert") end) end,
  upsert = function(write) return save(write, function() return insert(write, "upsert") end) end,
  update = function(write) return save(write, update) end,
  save = function(write) return save(write, update_or_insert) end,
}

function bodies.delete(write)
  call(write, "will_delete")
  local is_deleted = around(write, "around_delete", function() return run_step(write, "delete", write.options) end)
  call(write, "did_delete", is_deleted and true or false)
  return is_deleted
end

-- All or nothing

local depth = 0

local leaving = setmetatable({}, { __close = function() depth = depth - 1 end })

local function run(db, write, body)
  depth = depth + 1
  local _ <close> = leaving
  write.db = db
  return body(write)
end

local function check_depth(info, db)
  if depth > 0 and not db:is_inside_transaction() then depth = 0 end
  if depth < deepest then return end
  errors.raise("hook", "hooks of `" .. info.name .. "` nest more than " .. deepest
    .. " writes deep; does a hook write its own record?", { table = info.table })
end

local function has_hooks(info)
  for name in pairs(record_class.hooks) do
    if record_class.method(info, name) then return true end
  end
  for ancestor in record_class.ancestors(info) do
    if ancestor.is_required then return true end
  end
  return false
end

hooks.has_hooks = has_hooks

--- Runs a verb with its hooks. If it fails, the changes are rolled back, in the database and in the record.
-- @tparam string verb "insert", "update", "save", "upsert" or "delete"
-- @return the result of the verb's step
function hooks.perform(verb, info, target, db, options)
  if not has_hooks(info) then return record_steps[verb](info, target, db, options) end
  db = db or native_records.default_database()
  check_depth(info, db)
  -- Hooks read nil for NULL, as elsewhere.
  local details = column_details.of_class(info.class, db)
  native_records.take_nulls(target, record_values.null_documents(details, target))
  if verb == "upsert" then record_values.note_cleared(details, target) end
  local write = { info = info, target = target, options = options }
  local is_done, result = pcall(databases.guarded, db, run, write, bodies[verb])
  if is_done then return result end
  if write.memory then native_records.restore_record(target, write.memory) end
  error(result, 0)
end

return hooks
