--- Triggers of automations: changes, schedules and events.

local errors = require "perilune.native.errors"
local native_observation = require "perilune.native.observation"
local observers = require "perilune.native.observers"
local native_records = require "perilune.native.records"
local marks = require "perilune.runtime.marks"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local times = require "perilune.events.automation_times"
local automation_table = require "perilune.events.automation_table"
local durable_queue = lazily "perilune.events.durable_queue"

--- The functions that scripts call.
local public = {}

--- `poll`: the default interval in seconds for detecting writes of other processes; nil to disable this.
local triggers = { poll = nil }

local kinds = { "change", "event", "every", "schedule" }

--- The automations with each event as their trigger, in lists by the event's name.
local waiting = {}

-- Changes ---------------------------------------------------------------------------------------------------------------------

local function table_name(value)
  local info = native_records.model_of(value) and require("perilune.records.class").info(value)
  return info and info.table or value
end

--- Returns a fetch function that makes an observation depend on all rows of some tables, although it reads at most one row of each. Its
-- result differs from the last one unless only the schema has changed.
-- @tparam function observed returns the observation, or nil before it has started
local function one_row_of_each(queries, observed)
  local count = 0
  return function(handle)
    local observation = observed()
    if not observation or native_observation.take_row_changes(observation.observer) then count = count + 1 end
    for _, sql in ipairs(queries) do handle:fetch_one(sql) end
    return count
  end
end

--- Returns a fetch function for the fingerprints of all rows. When another process writes, it is unknown which rows it has changed, so all
-- rows must be compared.
local function all_rows_of_each(queries)
  return function(handle)
    local prints = {}
    for index, sql in ipairs(queries) do
      local low, high = 0, 0
      for row in handle:rows(sql) do
        local low_of_row, high_of_row = string.unpack("i8i8", observers.fingerprint(row))
        low, high = low + low_of_row, high + high_of_row
      end
      prints[index] = string.pack("i8i8", low, high)
    end
    return table.concat(prints)
  end
end

local function watch_tables(db, names, poll, fire, on_error)
  for _, name in ipairs(names) do
    if native_observation.is_own_table(name) then
      checks.fail("perilune.automation", ("option `on.change`: `%s` is an internal table of Perilune, and its changes trigger nothing"):format(name))
    end
    if not db:table_exists(name) then require("perilune.schema.introspection").raise_unknown_table(db, name) end
  end
  local sql_text, queries = require "perilune.runtime.sql_text", {}
  for index, name in ipairs(names) do queries[index] = ("SELECT * FROM %s"):format(sql_text.name(name)) end
  local observation
  local fetch = poll and all_rows_of_each(queries) or one_row_of_each(queries, function() return observation end)
  observation = db:observe(fetch, function() fire{ kind = "change", tables = names } end, {
    on_error = on_error, looks_first = true, poll = poll,
  })
  return observation
end

local function watch_value(db, options, poll, fire, on_error)
  local observation
  local is_first = not options.initially
  local function deliver(...)
    local is_known = is_first and not observation.has_looked
    is_first = false
    if is_known then return end
    fire({ kind = "change" }, table.pack(...))
  end
  local details = { on_error = on_error, looks_first = is_first, poll = poll }
  if type(options.change) == "function" then
    observation = db:observe(options.change, deliver, details)
  else
    observation = options.change:observe(db, deliver, details)
  end
  return observation
end

--- Returns the current value for a trigger by changes.
local function fetch_value(db, change)
  return db:read(function(handle)
    if type(change) == "function" then return change(handle) end
    return change:fetch_all(handle)
  end)
end

local function is_value(change)
  return type(change) == "function" or marks.is_request(change)
end

local function change_names(place, change)
  local list = (type(change) == "string" or native_records.class_of(change) or type(table_name(change)) == "string") and { change } or change
  if type(list) ~= "table" or #list == 0 then
    checks.fail(place, "option `on.change`: expected tables, records, a request or a function that fetches, got "
      .. errors.describe(change))
  end
  local names = {}
  for index, value in ipairs(list) do
    names[index] = table_name(value)
    if type(names[index]) ~= "string" then
      checks.fail(place, "option `on.change`: expected names of tables or records, got " .. errors.describe(value))
    end
  end
  return names
end

local function read_change(place, options)
  local poll = options.poll
  if poll == nil then poll = triggers.poll end
  poll = poll and require("perilune.runtime.durations").read(place .. ": option `on.poll`", poll, 0.001)
  if is_value(options.change) then
    return "change", function(db, fire, on_error) return watch_value(db, options, poll, fire, on_error) end,
      function(db) return fetch_value(db, options.change) end
  end
  if options.initially then checks.fail(place, "option `on.initially` applies only to requests and functions that fetch") end
  local names = change_names(place, options.change)
  return "change of " .. table.concat(names, ", "), function(db, fire, on_error)
    return watch_tables(db, names, poll, fire, on_error)
  end
end

-- Events ----------------------------------------------------------------------------------------------------------------------

local function read_event(place, options, is_durable)
  local name = options.event
  if type(name) ~= "string" then checks.fail(place, "option `on.event`: expected the name of an event, got " .. errors.describe(name)) end
  -- `perilune.emit` records the runs of durable automations, so they need no receiver.
  if is_durable then return "event " .. name, function() return { cancel = function() end } end end
  return ("event %s"):format(name), function(_, fire)
    local list = waiting[name] or {}
    waiting[name] = list
    local receiver = { fire = fire }
    list[#list + 1] = receiver
    function receiver:cancel()
      for index, item in ipairs(list) do
        if item == self then return table.remove(list, index) ~= nil end
      end
      return false
    end
    return receiver
  end
end

--- Records runs of durable automations that have an event as their trigger, in any process. Uses the open transaction if there is one.
-- @treturn integer the number of runs
-- @treturn ?string the name of an automation that is not durable, which this state may not be able to trigger
local function add_durable_runs(name, data)
  local is_ok, db = pcall(native_records.default_database)
  if not is_ok or not db or perilune.context == "preview" then return 0 end
  local count, other = 0, nil
  for _, row in ipairs(automation_table.waiting_for_event(db, name)) do
    if row.is_durable == 1 then
      durable_queue.add({ name = row.automation, db = db }, { kind = "event", name = name, data = data })
      count = count + 1
    else
      other = other or row.automation
    end
  end
  return count, other
end

--- The events for which a warning was logged.
local warned = {}

--- Logs a warning about an event that triggers nothing, although an automation in another process has it as its trigger.
local function warn_of_other(name, automation)
  if warned[name] then return end
  warned[name] = true
  local cure = "Set `durable = true` in its definition, or run it with `perilune automations run FILE NAME`"
  if perilune.context == "test" then cure = "In a scenario, load its file with `require` in place of t.service, or emit the event in the service" end
  perilune.log.warning(("the event `%s` triggered nothing: `%s` is not durable, so only events of its own process trigger it. %s"):format(name, automation, cure),
    { automation = automation })
end

--- Triggers all automations that have an event as their trigger. Returns their number.
--
--     perilune.emit("order_placed", { id = 7 })
-- @tparam string name
-- @param data available to their functions as `context.event`
function public.emit(name, data)
  if type(name) ~= "string" then checks.fail("perilune.emit", "expected the name of an event, got " .. errors.describe(name)) end
  local count, other = add_durable_runs(name, data)
  local receivers = table.move(waiting[name] or {}, 1, #(waiting[name] or {}), 1, {})
  for _, receiver in ipairs(receivers) do receiver.fire({ kind = "event", name = name, data = data }) end
  if other and count + #receivers == 0 then warn_of_other(name, other) end
  return count + #receivers
end

-- All triggers ----------------------------------------------------------------------------------------------------------------

local readers = { change = read_change, schedule = times.read_schedule, every = times.read_every, event = read_event }

local options_of_times = { "catch_up", "max_late", "zone", "jitter" }

--- Reads the option `on` of an automation.
-- @return a description for users; a function (database, fire, on_error, host) that starts the trigger and returns an object with
--   a method `cancel`; and, if changes produce values, a function (database) that fetches them. `host` provides the parts of the
--   automation that time triggers need: `name`, `db`, `trigger_text`, `former` (its previous record), `skip(trigger, reason)` and
--   `set_next(due)`
-- @tparam ?boolean is_durable
function triggers.read(place, on, is_durable)
  if type(on) ~= "table" then
    checks.fail(place, "option `on`: expected { change = ... }, { schedule = ... }, { every = ... } or { event = ... }, got "
      .. errors.describe(on))
  end
  if getmetatable(on) ~= nil then
    checks.fail(place, "option `on`: expected a table of options, got " .. errors.describe(on) .. "; use on = { change = Class }, or a request")
  end
  local found
  for _, kind in ipairs(kinds) do
    if on[kind] ~= nil then
      if found then checks.fail(place, ("option `on`: expected one of `%s` and `%s`, got both"):format(found, kind)) end
      found = kind
    end
  end
  checks.options(place .. ": option `on`", on, {
    change = "any", event = "any", every = "any", schedule = "any", initially = "boolean", poll = "any", catch_up = "string", max_late = "any",
    zone = "string", jitter = "any",
  }, "trigger_option")
  if on.poll and found ~= "change" then checks.fail(place, "option `on.poll` applies only to changes") end
  for index, name in ipairs(options_of_times) do
    if on[name] ~= nil and found ~= "schedule" and not (index <= 2 and found == "every") then
      checks.fail(place, ("option `on.%s` applies only to schedules%s"):format(name, index <= 2 and " and periods" or ""))
    end
  end
  if not found then checks.fail(place, "option `on`: expected one of change, event, every and schedule, got none") end
  if is_durable and found == "change" then return require("perilune.events.change_log").read(place, on, change_names) end
  return readers[found](place, on, is_durable)
end

triggers.public = public
return triggers
