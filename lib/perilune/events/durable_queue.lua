--- The queue of a durable automation: its runs that are not owned by any process.

local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local change_log = lazily "perilune.events.change_log"
local durable_values = require "perilune.events.durable_values"
local owner_leases = require "perilune.events.owner_leases"
local runs = require "perilune.events.automation_runs"
local step_table = require "perilune.events.step_table"
local wake = require "perilune.events.wake"

local durable_queue = {}

--- The interval in seconds for detecting work from other processes.
local poll = 1.0

--- The maximum delay in seconds before continuing a run that has ended its process repeatedly.
local longest_pause = 60

local code_changes = { "continue", "restart", "stop" }

--- Checks the options of a durable automation.
function durable_queue.check(place, options, mode)
  if mode ~= "parallel" and mode ~= "queued" then
    checks.fail(place, ('option `mode`: a durable automation is "parallel" or "queued", got "%s"'):format(mode))
  end
  if options.interrupted ~= nil then checks.fail(place, "option `interrupted`: a durable automation always continues its runs") end
  local policy = options.on_code_change or "continue"
  if policy ~= "continue" and policy ~= "restart" and policy ~= "stop" then errors.raise_unknown("on_code_change", policy, code_changes) end
end

-- Adding ----------------------------------------------------------------------------------------------------------------------

--- Adds a run to the queue, as part of the open transaction if there is one.
-- @tparam ?table how `record(handle)` consumes the trigger in the same transaction
function durable_queue.add(self, trigger, how)
  databases.guarded(self.db, function(handle)
    runs.add_queued(handle, { automation = self.name, trigger = trigger })
    if how and how.record then how.record(handle) end
  end)
  wake.later(self.db)
end

--- Adds a run and claims it at once, because this state will execute it.
-- @treturn row
function durable_queue.add_claimed(self, trigger)
  runs.prepare(self.db)
  step_table.prepare(self.db)
  return self.db:write(function(handle)
    local id = runs.add_queued(handle, { automation = self.name, trigger = trigger })
    return runs.take_queued(handle, id)
  end)
end

-- Running ---------------------------------------------------------------------------------------------------------------------

local function log_error(self, message, e)
  perilune.log.error(message, { automation = self.name, error = tostring(e), script = self.file, line = self.line })
end

--- Returns text that changes with the code of a function.
local function code_of(f)
  local is_ok, code = pcall(string.dump, f, true)
  return is_ok and ("%016x"):format(durable_values.number_of(code)) or nil
end

--- Applies the option `on_code_change` to a run that was started by a different version of the function.
local function settle_code_change(self, run, code)
  if self.on_code_change == "stop" then
    errors.raise("diverged", "the code of the function has changed since the run began", { file = self.file, line = self.line })
  end
  if self.on_code_change == "restart" then
    self.db:write(function(handle)
      step_table.delete_all(handle, run.id)
      runs.set_details(handle, run.id, run.key, code)
    end)
  end
end

--- The field that a key function means by `run.id`, by the kind of the trigger.
local meant_by_id = { change = "run.value.id, of the changed row", event = "run.event.id, of the data of the event", manual = "run.event.id, of the data of the run" }

--- Calls the option `key`. In the meantime `run.id` raises, because a key that contains the number of the run would match no row or event.
local function call_key_function(self, context)
  local id, metatable = rawget(context, "id"), getmetatable(context)
  local meant = id and meant_by_id[rawget(context, "value") ~= nil and "change" or context.trigger.kind]
  if not meant then return self.key_function(context) end
  local index = metatable.__index
  local restored <close> = setmetatable({}, { __close = function() context.id, metatable.__index = id, index end })
  context.id = nil
  metatable.__index = function(run, name)
    if name ~= "id" then return index(run, name) end
    errors.raise("usage", ('automation "%s": option `key`: run.id is the number of the run; use %s'):format(self.name, meant))
  end
  return self.key_function(context)
end

--- Returns the key of a run: the result of the option `key`, or else the key of the row that triggered the run or was passed to a run
-- started by hand.
function durable_queue.key_of(self, context)
  local key = self.key_function and call_key_function(self, context)
  if key ~= nil then return key end
  return change_log.key_of(self, context.trigger, context.value)
end

--- Sets the fields `value` and `key` in the context of a run. For a run triggered by a change, the value is the changed row.
function durable_queue.take_value(self, run)
  local trigger = run.trigger
  if trigger.kind == "change" then run.context.value = change_log.fetch(self, trigger) end
  local code = code_of(self.run_function)
  if run.code and code and run.code ~= code then settle_code_change(self, run, code) end
  if run.key and run.code then
    run.context.key = run.key
    return
  end
  local key = run.key or durable_queue.key_of(self, run.context) or run.id
  run.key = math.type(key) == "integer" and tostring(key) or key
  if type(run.key) ~= "string" or #run.key > 500 then
    errors.raise("argument", ('automation "%s": option `key`: expected a string of at most 500 bytes or an integer, got %s'):format(
      self.name, errors.describe(key)))
  end
  run.context.key = run.key
  self.db:write(function(handle) runs.set_details(handle, run.id, run.key, code) end)
end

local pump

local function look_at(self, wakes_at)
  local state = self.durable_state
  if state.timer then native_loop.stop(state.timer) end
  state.timer = nil
  if not wakes_at then return end
  local seconds = math.max(perilune.date(wakes_at) - durable_values.clock(), 0.001)
  state.timer = native_loop.start_timer(seconds, nil, function()
    state.timer = nil
    pump(self)
  end)
end

--- Starts due runs, up to the maximum number of simultaneous runs.
function pump(self)
  local state = self.durable_state
  if not state or state.is_pumping then return end
  state.is_pumping = true
  local is_ok, e = pcall(function()
    local most = self.mode == "queued" and 1 or self.max
    while self.durable_state == state and self.running_count < most do
      local row = runs.claim(self.db, self.name, self.mode == "queued")
      if not row then break end
      state.start(row)
    end
    if self.durable_state == state then look_at(self, runs.next_wake(self.db, self.name)) end
  end)
  state.is_pumping = false
  if is_ok then return end
  if type(e) == "userdata" and e.kind == "cancelled" then error(e, 0) end
  log_error(self, "the runs of a durable automation could not be started", e)
  look_at(self, tostring(durable_values.clock() + poll))
end

--- Starts due runs once no code in this state is using the database.
function durable_queue.look(self)
  if self.durable_state then wake.later(self.db) end
end

--- Returns the time at which an interrupted run continues. The delay grows if a run ends its process repeatedly, so that other runs can
-- progress in between.
local function time_to_continue(interruptions)
  return durable_values.clock() + (interruptions < 3 and 0 or math.min(2.0 ^ (interruptions - 3), longest_pause))
end

--- Releases runs whose process has ended.
function durable_queue.recover(self)
  for _, row in ipairs(runs.orphans(self.db, self.name, true)) do
    self.db:write(function(handle)
      local is_ours = handle:execute([[
        /* perilune */ UPDATE perilune_automation_run SET interruptions = interruptions + 1, outcome = 'waiting', owner = NULL, wakes_at = ?,
          attempts = max(attempts - 1, 0) WHERE id = ? AND owner = ?]], tostring(time_to_continue(row.interruptions + 1)), row.id, row.owner).changed_rows == 1
      if is_ours and row.interruptions >= runs.most_interruptions then
        handle:execute([[
          /* perilune */ UPDATE perilune_automation_run SET outcome = 'interrupted', reason = ?, wakes_at = NULL WHERE id = ?]],
          runs.interruption_reason(row.interruptions + 1), row.id)
        log_error(self, "a durable run keeps ending its process, and is not continued", row.id)
      end
    end)
  end
end

--- Releases a run later. Called when a run had to be recorded, but the database could not be written.
function durable_queue.give_back_later(run, continue)
  native_loop.start_timer(poll, nil, function()
    local is_ok = pcall(run.automation.db.write, run.automation.db, function(handle)
      runs.give_back(handle, { id = run.id, wakes_at = durable_values.clock() })
    end)
    if not is_ok then return durable_queue.give_back_later(run, continue) end
    continue(run)
  end)
end

--- Starts executing the due runs of an automation.
-- @tparam function start starts a run, given its row
function durable_queue.start(self, start)
  local state = { start = start }
  self.durable_state = state
  if perilune.context == "preview" then return end
  step_table.prepare(self.db)
  owner_leases.keep(self.db)
  state.bell = wake.listen(self.db, function() pump(self) end, false)
  native_loop.start(function() pump(self) end, nil, false, self.scope)
  if perilune.context == "live" then
    state.poll = native_loop.start_timer(poll, poll, function()
      local is_ok, e = pcall(durable_queue.recover, self)
      if not is_ok then log_error(self, "interrupted runs of an automation could not be read", e) end
      pump(self)
    end, false)
  end
end

function durable_queue.stop(self)
  local state = self.durable_state
  self.durable_state = nil
  if not state then return end
  for _, name in ipairs{ "bell", "poll", "timer" } do
    if state[name] then native_loop.stop(state[name]) end
  end
end

return durable_queue
