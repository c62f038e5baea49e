--- Transaction observers: the database methods that add them, and the calls of their functions.

local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local native_observation = require "perilune.native.observation"
local observers = require "perilune.native.observers"
local native_records = require "perilune.native.records"
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

local kinds_of_options = {
  did_commit = "function", did_rollback = "function", on_change = "function", operations = "any", tables = "any", will_commit = "function",
}
local bits = { insert = 1, update = 2, delete = 4 }
local all_operations = 7

local function check_function(place, value)
  if type(value) ~= "function" then checks.fail(place, "expected a function, got " .. errors.describe(value)) end
  return value
end

--- Returns the list of an option; a single value becomes a list of one element.
local function list_of(place, value)
  if type(value) == "string" or native_records.class_of(value) or native_records.model_of(value) then
    return { value }
  end
  if type(value) ~= "table" or #value == 0 then
    checks.fail(place, "expected a non-empty list, got " .. (type(value) == "table" and "an empty one" or errors.describe(value)))
  end
  return value
end

local function read_operations(place, operations)
  if operations == nil then return all_operations end
  local mask = 0
  for _, operation in ipairs(list_of(place, operations)) do
    if not bits[operation] then
      if type(operation) ~= "string" then checks.fail(place, "expected names of operations, got " .. errors.describe(operation)) end
      errors.raise_unknown("operation", operation, { "insert", "update", "delete" })
    end
    mask = mask | bits[operation]
  end
  return mask
end

--- Returns the name of a table, given by its name or record class. Raises if it does not exist, unless the schema cannot be read now.
local function table_name(db, place, value)
  local info = native_records.model_of(value) and require("perilune.records.class").info(value)
  local name = info and info.table or value
  if type(name) ~= "string" then
    checks.fail(place, "expected names of tables or classes of records, got " .. errors.describe(value))
  end
  if not observers.is_calling(db) and not db:table_exists(name) then
    if db:view_exists(name) then checks.fail(place, "`" .. name .. "` is a view: name the tables that it reads") end
    require("perilune.schema.introspection").raise_unknown_table(db, name)
  end
  return name
end

local function read_tables(db, place, tables)
  if tables == nil then return nil end
  local list = {}
  for index, value in ipairs(list_of(place, tables)) do list[index] = table_name(db, place, value) end
  return list
end

-- Transactions of other writers -------------------------------------------------------------------------------------------------

--- Calls the functions of observers for pending notifications.
local function read_mail()
  local f, value = observers.take_notification()
  while f do
    local is_ok, err = pcall(f, value)
    if not is_ok then
      -- Makes the loop handle the remaining notifications.
      native_observation.signal_notifications()
      error(err, 0)
    end
    f, value = observers.take_notification()
  end
end

--- Handles errors of did_commit and did_rollback like errors of timers and tasks: they are not errors of the writer, whose transaction has
-- already ended.
observers.set_failure(function(err)
  native_loop.start(function() error(err, 0) end)
end)

--- Makes the event loop handle notifications, unless it already does.
local function open_notifications()
  if not native_observation.signal_notifications() then native_observation.open_notifications(read_mail) end
end

-- Lifetime ---------------------------------------------------------------------------------------------------------------------

--- The scope that has added each observer. The observer is cancelled when the scope ends.
local scopes = setmetatable({}, { __mode = "k" })

--- Wraps a function so that it runs in a scope. A writer in another scope may call the observer, but the timers and tasks that the observer
-- starts must belong to the observer's own scope.
local function in_scope(scope, f)
  return function(value)
    local outer = native_loop.enter_scope(scope)
    local is_ok, e = pcall(f, value)
    native_loop.enter_scope(outer)
    if not is_ok then error(e, 0) end
  end
end

local of_events = checks.fields("change event", "event",
  { "operation", "table", "row_id", "old", "new", "schema", "old_row_id", "is_indirect" })

local function add(db, functions, tables, operations, is_once)
  local on_change = functions.on_change
  if on_change then functions.on_change = function(event) return on_change(setmetatable(event, of_events)) end end
  local scope = native_loop.scope()
  if scope ~= 0 then
    for name, f in pairs(functions) do functions[name] = in_scope(scope, f) end
  end
  open_notifications()
  local observer = observers.add(db, functions, tables, operations, is_once)
  if scope ~= 0 then scopes[observer] = scope end
  return observer
end

--- Limits the functions of an observer to transactions with changes of its tables and operations.
local function limit(functions)
  local has_changed, on_change, will_commit = false, functions.on_change, functions.will_commit
  function functions.on_change(event)
    has_changed = true
    if on_change then on_change(event) end
  end
  --- Ends a transaction: its changes do not count for the next one, which may begin in f.
  local function ending(f)
    return function(db)
      local is_due = has_changed
      has_changed = false
      if is_due and f then f(db) end
    end
  end
  functions.did_commit, functions.did_rollback = ending(functions.did_commit), ending(functions.did_rollback)
  if will_commit then functions.will_commit = function() if has_changed then will_commit() end end end
end

-- Adding observers ----------------------------------------------------------------------------------------------------------------

--- Calls functions when transactions change the database. Each function is optional.
--
--     local observer = db:observe_transactions{
--       tables = { "book" },
--       on_change = function(event) print(event.operation, event.table, event.row_id, event.old, event.new) end,
--       will_commit = function() ... end,
--       did_commit = function(db) ... end,
--       did_rollback = function(db) ... end,
--     }
--     observer:cancel()
--
-- `on_change` is called for each changed row after the statement has succeeded. `will_commit` may raise an error, which rolls back the
-- transaction and is raised by the commit. Neither of them may use the database. `did_commit` and `did_rollback` receive a handle to use
-- it. Changes within savepoints are reported when the outermost savepoint has ended. Changes that were undone, by a savepoint or by a
-- failed statement, are never reported. Because the transaction has ended, errors of `did_commit` and `did_rollback` are passed to
-- `perilune.on_error`, or, without it, end the script when it waits.
--
-- Transactions of other scripts and of Swift are reported after their commit, when the script waits or has ended. Their observers cannot
-- prevent the commit, and rollbacks are not reported. After 100,000 pending changes, further changes are replaced by the event `{ operation
-- = "many" }`. Changes that Swift makes within savepoints have no values.
-- @tparam table options the functions; `tables` (names or record classes) and `operations` ("insert", "update", "delete") limit the
--   calls to these changes, and to transactions with such changes
-- @return an observer, which is active until its `cancel` is called or the database is closed
function public:observe_transactions(options)
  local place = "db:observe_transactions"
  if type(options) ~= "table" then
    checks.fail(place, "argument 1: expected a table with the functions to be called, got " .. errors.describe(options)
      .. (type(options) == "function" and "; use { on_change = f } or { did_commit = f }" or ""))
  end
  checks.options(place, options, kinds_of_options, "transaction_observer_option")
  local functions = {}
  for _, name in ipairs{ "on_change", "will_commit", "did_commit", "did_rollback" } do functions[name] = options[name] end
  if next(functions) == nil then
    checks.fail(place, "expected at least one of on_change, will_commit, did_commit and did_rollback")
  end
  local operations = read_operations(place .. ": option `operations`", options.operations)
  local tables = read_tables(self, place .. ": option `tables`", options.tables)
  local has_others = functions.will_commit or functions.did_commit or functions.did_rollback
  if has_others and (tables or operations ~= all_operations) then limit(functions) end
  return add(self, functions, tables, operations, false)
end

--- Calls a function once, after the commit of the current transaction, or of the next one if no transaction is open.
-- @tparam function on_commit receives a handle
-- @tparam ?function on_rollback is called instead if the transaction is rolled back
-- @return an observer, whose `cancel` cancels the call
function public:after_next_transaction(on_commit, on_rollback)
  local place = "db:after_next_transaction"
  local functions = { did_commit = check_function(place .. ": argument 1", on_commit) }
  if on_rollback ~= nil then functions.did_rollback = check_function(place .. ": argument 2", on_rollback) end
  return add(self, functions, nil, all_operations, true)
end

local transaction_observers = {}

--- Cancels the observers that were added in a scope.
function transaction_observers.end_scope(scope)
  for observer, own in pairs(scopes) do
    if own == scope then observer:cancel() end
  end
end

transaction_observers.public = public
return transaction_observers
