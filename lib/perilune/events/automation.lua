--- Automations: functions that run when a trigger occurs.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local files = require "perilune.events.automation_files"
local retries = require "perilune.events.retries"
local runs = require "perilune.events.automation_runs"
local automation_sharing = require "perilune.events.automation_sharing"
local automation_table = require "perilune.events.automation_table"
local durable_runs = lazily "perilune.events.durable_runs"
local durable_queue = lazily "perilune.events.durable_queue"
local durable_values = require "perilune.events.durable_values"
local triggers = require "perilune.events.automation_triggers"
local output = require "perilune.events.automation_output"
local native_loop = require "perilune.native.loop"

--- The functions that scripts call.
local public = {}

local automations = {}
--- All automations, in the order of their definition.
local list = {}
--- The automations that the file being loaded has defined so far. If nil, definitions take effect immediately.
local staging

--- Whether the file being loaded continues automations that another state has parked.
local is_resumed = false
--- The number of active runs, and the waiter for this number to become zero, if any.
local running_count, idle_place = 0, nil
--- The scope of everything that belongs to no file; see `native.scope`.
local host_scope = 0
--- The scope of the file that was loaded last; nil if no file was loaded.
local file_scope
--- The modules required by the current file, while a new file is being loaded.
local former_modules

local modes = { "parallel", "queued", "restart", "single" }
local option_kinds = {
  name = "string", description = "string", on = "any", when = "function", run = "function", mode = "string", max = "number",
  retry = "any", db = "any", keep = "number", enabled = "boolean", interrupted = "any", on_failure = "function",
  durable = "boolean", key = "function", on_code_change = "string",
}

-- One run ---------------------------------------------------------------------------------------------------------------------

--- Finished runs that are not recorded yet. The code that triggers or cancels a run may be using the database, so the run is recorded once
-- no code is using it.
local unkept = {}
--- Whether a task that records these runs is scheduled.
local is_keeping = false

--- Logs an error together with the file and line of the automation's definition.
local function log_error(self, message, e)
  perilune.log.error(message, { automation = self.name, error = e ~= nil and tostring(e) or nil, script = self.file, line = self.line })
end

--- Reports an error to the handler of `perilune.on_error` or to the program. Returns whether one of them received it.
-- @tparam string what a description of the failure, such as "failed"
local function is_reported(self, e, what)
  if e == nil then return false end
  local is_ok, is_heard = pcall(native_loop.report, e, self.scope, ("the automation `%s` %s"):format(self.name, what))
  return is_ok and is_heard
end

local keep_later

--- The limits for retrying when a database is busy: attempts for each run, and runs that are not recorded yet.
local most_delays, most_unkept = 10, 1000

local function is_busy(e)
  local kind = type(e) == "userdata" and e.kind or ""
  return kind:find("^busy") ~= nil or kind:find("^locked") ~= nil
end

local function is_delayed(details, e)
  details.delays = (details.delays or 0) + 1
  return is_busy(e) and details.delays <= most_delays and #unkept < most_unkept
end

--- The outcomes that are logged and reported to `on_failure`.
local is_failure = { failed = true, interrupted = true, diverged = true }

--- Records a run. Unless a caller is waiting for the run, its failure is reported to the handler of timer errors or, without a handler,
-- logged. Never raises.
-- @tparam ?boolean is_last whether the program is ending, so that nothing can be retried later
local function keep(self, details, is_awaited, is_last)
  -- Previews show the changes that an automation makes, but do not record the run.
  if perilune.context == "preview" then return end
  local is_kept, failure = pcall(runs.add, self.db, details, self.keep)
  if not is_kept and not is_last and is_delayed(details, failure) then return keep_later(self, details, is_awaited, 1.0) end
  if not is_kept then log_error(self, "the run of an automation could not be recorded", failure) end
  if is_failure[details.outcome] and not is_awaited and not is_reported(self, details.error, details.outcome) then
    log_error(self, ("automation %s%s"):format(details.outcome, details.reason and ": " .. details.reason or ""), details.error)
  end
end

--- Returns the runs that are worth recording: all failures, and those runs that would not be removed from the table at once by newer ones.
-- Otherwise a thousand simultaneous events would need a thousand transactions.
local function without_superseded(list_of_runs)
  local counts, wanted = {}, {}
  for index = #list_of_runs, 1, -1 do
    local self, details = list_of_runs[index][1], list_of_runs[index][2]
    local count = counts[self] or { skipped = 0, finished = 0 }
    local kind = details.outcome == "skipped" and "skipped" or "finished"
    counts[self], count[kind] = count, count[kind] + 1
    wanted[index] = details.id or count[kind] <= self.keep or is_failure[details.outcome]
  end
  local kept = {}
  for index, run in ipairs(list_of_runs) do
    if wanted[index] then kept[#kept + 1] = run end
  end
  return kept
end

local function keep_unkept(is_last)
  local kept = without_superseded(unkept)
  unkept, is_keeping = {}, false
  for _, run in ipairs(kept) do keep(run[1], run[2], run[3], is_last) end
end

--- Records a run later, when the script waits or has ended.
function keep_later(self, details, is_awaited, seconds)
  unkept[#unkept + 1] = { self, details, is_awaited }
  if is_keeping then return end
  -- If a limit prevents starting a task, the next run records these runs.
  is_keeping = pcall(native_loop.start, function()
    if seconds then native_loop.sleep(seconds) end
    keep_unkept()
  end, nil, false, host_scope)
end

--- Adds the SQL, the output and the traceback of the last attempt.
local function read_journal(run, details)
  local statements, count, text, traceback = run.read_statements()
  if count > #statements then statements[#statements + 1] = ("and %d more"):format(count - #statements) end
  details.statements, details.output = perilune.json.array(statements), text
  if details.error then details.traceback = details.traceback or traceback end
end

local of_failures = checks.fields("failure", "failure", { "attempts", "error", "outcome", "reason", "traceback" })

--- Calls `on_failure` in a separate task.
local function report_failure(self, context, details)
  local f = self.on_failure
  if not f then return end
  local failure = setmetatable({
    outcome = details.outcome, error = details.error, reason = details.reason, attempts = details.attempts, traceback = details.traceback,
  }, of_failures)
  local function log(e)
    if not is_reported(self, e, "has a failed `on_failure`") then log_error(self, "on_failure of an automation failed", e) end
  end
  local is_started, e = pcall(native_loop.start, function() f(context, failure) end, log, false, self.scope)
  if not is_started then log(e) end
end

--- Returns whether another process would continue the run after the end of this process.
local function is_continued(run)
  if not run.id then return false end
  if run.automation.durable then return run.reason ~= "removed" end
  return run.is_program_ending and run.automation.interrupted ~= "fail"
end

--- Starts waiting runs after a run has ended or been suspended.
local function after_run(run)
  local self = run.automation
  if self.durable then
    durable_runs.finish(run)
    durable_queue.look(self)
  end
  automations.start_waiting(self)
  if running_count == 0 and idle_place then native_loop.release(idle_place) end
end

local function forget_run(run)
  local self = run.automation
  self.running[run] = nil
  self.running_count = self.running_count - 1
  running_count = running_count - 1
end

local function finish(run, outcome, details, is_later)
  local self = run.automation
  forget_run(run)
  if outcome == "cancelled" then
    details.reason, details.error, details.traceback = run.reason, run.last_error or details.error, run.last_traceback
  end
  details.id, details.automation, details.trigger, details.started_at = run.id, self.name, run.trigger, run.started_at
  details.duration, details.outcome, details.attempts = native_loop.now() - run.start, outcome, run.attempts
  read_journal(run, details)
  if outcome == "cancelled" and is_continued(run) then
    details.outcome, details.wakes_at = "waiting", run.wakes_at or perilune.now()
    if self.durable then details.attempts = details.attempts - 1 end
  end
  if is_later then
    keep_later(self, details, run.on_end)
  else
    if #unkept > 0 and not is_keeping then keep_unkept() end
    keep(self, details, run.on_end)
  end
  if is_failure[outcome] then report_failure(self, run.context, details) end
  if run.on_end then run.on_end(details) end
  after_run(run)
end

local attempt

--- Returns whether an error means that the program is ending.
local function is_cancellation(e)
  return type(e) == "userdata" and e.kind == "cancelled"
end

--- Starts a part of a run. The run fails if a limit prevents this.
local function begin(run, f)
  local is_ok, e = pcall(f)
  if is_ok then return end
  run.is_over = true
  finish(run, "failed", { error = e }, true)
end

--- Schedules an attempt.
local function attempt_later(run, seconds)
  begin(run, function()
    run.timer = native_loop.start_timer(seconds, nil, function()
      run.timer = nil
      attempt(run)
    end)
  end)
end

--- Records that a run is waiting for its next attempt. If the database refuses this, the run is recorded when it ends.
local function record_wait(run)
  if not run.id then return end
  local is_ok, e = pcall(runs.wait, run.automation.db, {
    id = run.id, error = run.last_error, traceback = run.last_traceback, wakes_at = run.wakes_at,
  })
  if not is_ok then log_error(run.automation, "the next attempt of an automation could not be recorded", e) end
end

--- Records the beginning of an attempt. If the database is busy, the automation still runs, and the run is recorded when it ends.
local function record_attempt(run)
  if perilune.context == "preview" then return end
  local self = run.automation
  if #unkept > 0 and not is_keeping then keep_unkept() end
  local is_ok, e = pcall(runs.begin, self.db, {
    id = run.id, automation = self.name, trigger = run.trigger, started_at = run.started_at, attempts = run.attempts,
  })
  if is_ok then
    run.id = e
  elseif is_cancellation(e) then
    error(e, 0)
  elseif not is_busy(e) then
    log_error(self, "the run of an automation could not be recorded", e)
  end
end

--- Undoes the steps of a durable run and ends the run as failed. First marks the row, because the process may end during this.
local function fail_durably(run, e, traceback)
  local self = run.automation
  self.db:write(function(handle)
    handle:execute("/* perilune */ UPDATE perilune_automation_run SET reason = 'undoing', error = ? WHERE id = ?", tostring(e), run.id)
  end)
  local problem = durable_runs.undo(run)
  finish(run, "failed", { error = e, traceback = traceback, reason = problem })
end

--- Logs a failed attempt that is followed by another one.
-- @tparam number wait the seconds until the next attempt
local function warn_of_failure(run, e, failures, wait)
  local self = run.automation
  perilune.log.warning(("automation `%s` failed in attempt %d of %d, and will be tried again"):format(self.name, failures, self.retry.times + 1), {
    error = tostring(e), next_attempt = (perilune.now() + wait):format("YMD_HMS"), script = self.file, line = self.line,
  })
end

--- Handles an attempt of a durable run that has failed or was suspended.
local function settle_durable(run, e)
  local self, retry = run.automation, run.automation.retry
  local kind = type(e) == "userdata" and e.kind
  if run.execution and run.execution.is_suspended or kind == "run_taken" then
    run.is_over = true
    forget_run(run)
    if run.on_end then run.on_end{ outcome = "waiting", attempts = run.attempts, duration = native_loop.now() - run.start } end
    return after_run(run)
  end
  if run.is_cancelled then
    run.is_over = true
    return finish(run, "cancelled", { error = e })
  end
  local traceback = select(4, run.read_statements())
  run.is_over = true
  if durable_runs.is_passing(e) then
    self.db:write(function(handle)
      runs.give_back(handle, { id = run.id, wakes_at = durable_values.clock() + 1, error = e, reason = run.is_undoing and "undoing" or nil })
    end)
    forget_run(run)
    return after_run(run)
  end
  if kind == "diverged" then return finish(run, "diverged", { error = e, traceback = traceback }) end
  if run.is_undoing or run.attempts > retry.times then return fail_durably(run, e, traceback) end
  local wait = retries.wait(retry, run.attempts)
  self.db:write(function(handle)
    if run.execution then durable_runs.forget_failure(run, handle) end
    runs.give_back(handle, { id = run.id, wakes_at = durable_values.clock() + wait, error = e, traceback = traceback, is_failure = true })
  end)
  forget_run(run)
  after_run(run)
  warn_of_failure(run, e, run.attempts, wait)
end

--- Returns an error, with advice if the function has used the value that this run does not have.
local function advised(run, e)
  if type(e) ~= "string" or rawget(run.context, "value") ~= nil or not e:find("attempt to index a nil value", 1, true) then return e end
  if run.automation.durable and run.trigger.kind == "change" then
    return e .. "; run.value is nil, because the row is deleted or the request does not select it any more: use run.key, or read the row in a step"
  elseif run.trigger.kind == "event" and e:find("(field 'value')", 1, true) then
    return e .. "; the data of an event is context.event"
  elseif run.trigger.kind == "change" and e:find("(field 'value')", 1, true) then
    return e .. "; a change of a table has no value: use a request as the trigger, or durable = true for a run with each changed row"
  end
  return e
end

--- Handles a failed attempt: schedules the next attempt or ends the run.
local function fail(run, e)
  if run.is_over then return end
  e = advised(run, e)
  run.is_cancelled = run.is_cancelled or is_cancellation(e) and not (run.execution and run.execution.is_suspended)
  if run.automation.durable and run.id then
    local is_ok, problem = pcall(settle_durable, run, e)
    if is_ok then return end
    -- The run could not be recorded. While this process is alive, no other process takes the run over, so it is released later.
    log_error(run.automation, "a durable run could not be settled; it is continued later", problem)
    forget_run(run)
    run.is_over = true
    return durable_queue.give_back_later(run, after_run)
  end
  local retry = run.automation.retry
  if run.is_cancelled or run.attempts - run.interruptions > retry.times then
    run.is_over = true
    return finish(run, run.is_cancelled and "cancelled" or "failed", { error = e })
  end
  local failures = run.attempts - run.interruptions
  local wait = retries.wait(retry, failures)
  run.wakes_at, run.last_error, run.last_traceback = perilune.now() + wait, e, select(4, run.read_statements())
  record_wait(run)
  attempt_later(run, wait)
  warn_of_failure(run, e, failures, wait)
end

local function succeed(run, reason)
  if run.is_over then return end
  run.is_over = true
  finish(run, run.is_cancelled and "cancelled" or reason and "skipped" or "succeeded", { reason = reason })
end

--- Sets the observed values in the context of the guard and the function.
local function take_values(context, values)
  context.value, context.values = values[1], values
end

--- Executes the function of a durable run from the beginning.
local function attempt_durable(run)
  local self = run.automation
  if run.fetch_values then take_values(run.context, table.pack(run.fetch_values(self.db))) end
  if run.is_preview then
    run.context.key = durable_queue.key_of(self, run.context)
    if self.when and not self.when(run.context) then return succeed(run, "guard") end
    self.run_function(run.context)
    return succeed(run)
  end
  durable_queue.take_value(self, run)
  durable_runs.begin(run)
  if self.when and not durable_runs.has_begun(run) and not self.when(run.context) then return succeed(run, "guard") end
  self.run_function(run.context)
  durable_runs.check_end(run)
  succeed(run)
end

--- Runs the guard and the function in a separate task, so that an error or a limit ends only that task.
function attempt(run)
  local self = run.automation
  run.attempts = run.attempts + 1
  run.context.attempt = run.attempts
  begin(run, function()
    run.task, run.read_statements = native_loop.start(function()
      if self.durable then return attempt_durable(run) end
      if run.fetch_values then take_values(run.context, table.pack(run.fetch_values(self.db))) end
      if self.when and not self.when(run.context) then return succeed(run, "guard") end
      record_attempt(run)
      self.run_function(run.context)
      succeed(run)
    end, function(e) fail(run, e) end, true, self.scope, self.name)
  end)
end

local function no_statements()
  return {}, 0, ""
end

--- The ids of runs that are recorded as queued, by trigger.
local recorded = setmetatable({}, { __mode = "k" })

local function make_run(self, trigger, context)
  return {
    automation = self, trigger = trigger, context = context, attempts = 0, interruptions = 0, started_at = perilune.now(), start = native_loop.now(),
    read_statements = no_statements,
    -- A manually started run receives the values that a change would provide.
    fetch_values = trigger.kind == "manual" and self.fetch_values or nil,
  }
end

local Context = { __name = "context of an automation", __index = function(_, name) return durable_runs.refuse(name) end }

local of_triggers = checks.fields("trigger", "trigger",
  { "kind", "name", "data", "table", "tables", "operation", "key", "row_key", "due", "missed", "is_late" })
local trigger_field = of_triggers.__index

--- Raises for the fields of a changed row in the trigger of an automation that is not durable: it runs once for all changes of a transaction.
function of_triggers.__index(trigger, name)
  if (name == "operation" or name == "table") and rawget(trigger, "kind") == "change" then
    errors.raise("unknown_field", ("no field `%s`, which only a durable automation on a table has, with a run for each changed row; use "
      .. "durable = true, or trigger.tables"):format(name), { name = name })
  end
  return trigger_field(trigger, name)
end

local of_interruptions = checks.fields("interruption", "failure", { "attempts", "error", "interruptions", "started_at" })

--- Creates the context that the automation's functions receive.
local function make_context(self, trigger, is_rerun)
  return setmetatable(
    { automation = self, trigger = setmetatable(trigger, of_triggers), db = self.db, event = trigger.data, is_rerun = is_rerun }, Context)
end

local function add_run(run)
  local self = run.automation
  self.running[run] = true
  self.running_count = self.running_count + 1
  running_count = running_count + 1
end

--- Runs an automation.
-- @tparam ?table values the observed values, packed, if a change triggered the run
-- @tparam ?function on_end receives the details of the run after its end
local function start(self, trigger, values, on_end)
  local context = make_context(self, trigger)
  if values then take_values(context, values) end
  local run = make_run(self, trigger, context)
  run.on_end, run.id = on_end, recorded[trigger]
  add_run(run)
  attempt(run)
end

-- Runs whose process has ended ------------------------------------------------------------------------------------------------

--- Restarts an interrupted run, or waits until its next attempt.
local function continue(run, row)
  local wait = row.outcome == "waiting" and row.wakes_at and perilune.date(row.wakes_at) - perilune.now() or 0
  if wait > 0 then attempt_later(run, wait) else attempt(run) end
end

local function end_interrupted(run, reason)
  run.is_over = true
  finish(run, "interrupted", { error = run.last_error, traceback = run.last_traceback, reason = reason }, true)
end

--- Applies the option `interrupted` to a run whose process has ended.
local function settle_interrupted(run, row)
  local policy, has_run = run.automation.interrupted, row.owner ~= nil and row.outcome ~= "queued"
  if has_run and type(policy) == "function" then
    policy = policy(run.context, setmetatable(
      { attempts = row.attempts, interruptions = run.interruptions, error = row.error, started_at = run.started_at }, of_interruptions))
  end
  if policy ~= "rerun" and has_run then return end_interrupted(run, "its process ended") end
  if run.interruptions > runs.most_interruptions then return end_interrupted(run, runs.interruption_reason(run.interruptions)) end
  continue(run, row)
end

--- Returns the stored trigger of a run.
local function trigger_of(row)
  local is_ok, trigger = pcall(perilune.json.decode, row.trigger)
  return is_ok and type(trigger) == "table" and trigger or { kind = "manual" }
end

--- Restores the start time of a run and the error of its last attempt from its row.
local function restore(run, row)
  run.started_at = perilune.date(row.started_at)
  run.start = native_loop.now() - (perilune.now() - run.started_at)
  run.last_error, run.last_traceback = row.error, row.traceback
end

--- Takes over the runs of processes that have ended.
local function recover(self)
  for _, row in ipairs(runs.orphans(self.db, self.name)) do
    if runs.take(self.db, row) then
      local trigger = trigger_of(row)
      local context = make_context(self, trigger, true)
      local run = make_run(self, trigger, context)
      run.fetch_values = self.fetch_values
      run.id, run.attempts = row.id, row.attempts
      run.interruptions = row.interruptions + (row.owner and row.outcome == "running" and 1 or 0)
      restore(run, row)
      add_run(run)
      native_loop.start(function() settle_interrupted(run, row) end, function(e) fail(run, e) end, false, self.scope)
    end
  end
end

--- Cancels a run. If the run is waiting, the wait raises an error, so that the run can clean up.
local function cancel_run(run, reason)
  run.is_cancelled, run.reason = true, reason
  if run.timer then
    native_loop.stop(run.timer)
    run.is_over = true
    return finish(run, "cancelled", {}, true)
  end
  local was_live, has_begun = native_loop.stop(run.task, true)
  -- A task that has not begun will not be started any more.
  if was_live and not has_begun then
    run.is_over = true
    finish(run, "cancelled", {}, true)
  end
end

-- Triggers --------------------------------------------------------------------------------------------------------------------

local function skip(self, trigger, reason)
  keep_later(self, {
    automation = self.name, trigger = trigger, started_at = perilune.now(), duration = 0, attempts = 0, outcome = "skipped",
    reason = reason, id = recorded[trigger],
  })
end

--- Records a run that failed because the observed value could not be fetched.
-- @tparam ?number seconds the time until the next attempt; nil after the last attempt
local function fail_to_look(self, e, seconds)
  local reason = "its observed value could not be fetched"
  if seconds then reason = ("%s; retrying in %gs"):format(reason, seconds) end
  local details = {
    automation = self.name, trigger = { kind = "change" }, started_at = perilune.now(), duration = 0, attempts = 0,
    outcome = "failed", reason = reason, error = e,
  }
  keep_later(self, details)
  report_failure(self, make_context(self, details.trigger), details)
end

--- Starts a run for the next queued trigger.
function automations.start_waiting(self)
  local next_one = self.running_count == 0 and table.remove(self.waiting, 1)
  if next_one then start(self, next_one.trigger, next_one.values) end
end

local on_trigger = {
  single = function(self, trigger, values)
    if self.running_count > 0 then return skip(self, trigger, "still running") end
    start(self, trigger, values)
  end,
  restart = function(self, trigger, values)
    for run in pairs(self.running) do cancel_run(run, "triggered again") end
    start(self, trigger, values)
  end,
  queued = function(self, trigger, values)
    if self.running_count == 0 then return start(self, trigger, values) end
    if #self.waiting >= self.max then return skip(self, trigger, "queue is full") end
    self.waiting[#self.waiting + 1] = { trigger = trigger, values = values }
  end,
  parallel = function(self, trigger, values)
    if self.running_count >= self.max then return skip(self, trigger, "too many at once") end
    start(self, trigger, values)
  end,
}

--- Starts or continues a durable run that this state has claimed.
local function start_claimed(self, row, on_end)
  local trigger = trigger_of(row)
  local context = make_context(self, trigger, row.interruptions > 0 or row.attempts > 1)
  local run = make_run(self, trigger, context)
  run.id, run.attempts, run.interruptions, run.key = row.id, row.attempts - 1, row.interruptions, row.run_key
  run.is_undoing, run.code = row.reason == "undoing", row.code
  restore(run, row)
  run.on_end = on_end
  durable_runs.extend(context, run)
  add_run(run)
  attempt(run)
end

--- Starts, queues or skips a run for a trigger, as determined by the automation's mode.
-- @tparam ?table how `record(handle)` consumes the trigger in the transaction that records the run; `waits`: whether to queue the run in
-- every mode
local function receive(self, trigger, values, how)
  if self.is_removed then return end
  if self.durable then return durable_queue.add(self, trigger, how) end
  if how and perilune.context ~= "preview" then
    local is_ok, id = pcall(runs.queue, self.db, { automation = self.name, trigger = trigger, started_at = perilune.now() }, how.record)
    if is_ok then
      recorded[trigger] = id
    elseif not is_busy(id) then
      log_error(self, "the run of an automation could not be recorded", id)
    end
  end
  if how and how.waits and self.running_count > 0 then
    self.waiting[#self.waiting + 1] = { trigger = trigger, values = values }
  else
    on_trigger[self.mode](self, trigger, values)
  end
end

-- Automations -----------------------------------------------------------------------------------------------------------------

local Automation = { __name = "perilune.automation" }

--- Runs the automation now, including its guard, as if it had been triggered. First fetches the observed values.
-- @param data the value of `context.event`
function Automation:run(data)
  if self.is_removed then errors.raise("usage", ('automation "%s": it has been removed'):format(self.name)) end
  if self.durable then return durable_queue.add(self, { kind = "manual", data = data }) end
  on_trigger[self.mode](self, { kind = "manual", data = data })
end

--- Takes over runs and due times from earlier processes.
-- @treturn ?row the previous record of the automation
local function prepare(self)
  if perilune.context == "preview" then return nil end
  -- Creates the table first, so that observations do not fetch again after this schema change.
  pcall(runs.prepare, self.db)
  local is_ok, e = pcall(self.durable and durable_queue.recover or recover, self)
  if not is_ok then
    if is_cancellation(e) then error(e, 0) end
    log_error(self, "interrupted runs of an automation could not be read", e)
  end
  local is_registered, former, is_shared = pcall(automation_table.register, self.db, self)
  if is_registered and is_shared then automation_sharing.add(self) end
  return is_registered and former or nil
end

--- Starts triggering the automation again after `disable`.
function Automation:enable()
  if self.source or self.is_removed then return end
  self.enabled = true
  local host = {
    automation = self, name = self.name, db = self.db, trigger_text = self.trigger_text, former = prepare(self),
    is_resumed = is_resumed,
    skip = function(trigger, reason) skip(self, trigger, reason) end,
    set_next = function(due) self.next_due = due end,
  }
  self.source = self.start_trigger(self.db, function(trigger, values, how) receive(self, trigger, values, how) end,
    function(e, seconds) fail_to_look(self, e, seconds) end, host)
  if self.durable then durable_queue.start(self, function(row) start_claimed(self, row) end) end
end

--- Stops the trigger of the automation.
local function stop_trigger(self)
  self.enabled = false
  if self.source then self.source:cancel() end
  if self.durable then durable_queue.stop(self) end
  if self.is_shared then automation_sharing.remove(self) end
  self.source, self.next_due = nil, nil
end

--- Records that the automation is not triggered.
local function record_disabled(self)
  if perilune.context == "preview" then return end
  pcall(automation_table.disable, self.db, self.name)
end

--- Records the triggers that are queued as skipped runs.
local function skip_waiting(self, reason)
  local waiting = self.waiting
  self.waiting = {}
  for _, item in ipairs(waiting) do
    if recorded[item.trigger] then skip(self, item.trigger, reason) end
  end
end

--- Logs a warning if another process triggers the automation.
local function warn_of_other(self)
  local is_ok, owner = pcall(automation_table.other_owner, self.db, self.name)
  if not is_ok or not owner then return end
  perilune.log.warning(("the automation is disabled in this process only; process %s still runs it. To disable it there, set `enabled = false` "
    .. "in its definition"):format(owner:match("(%S+) %S+ %S+$")), { automation = self.name })
end

--- Stops triggering the automation in this state. Active runs continue.
function Automation:disable()
  stop_trigger(self)
  skip_waiting(self, "disabled")
  record_disabled(self)
  if perilune.context ~= "preview" then warn_of_other(self) end
end

--- Returns whether the automation is being triggered.
function Automation:is_enabled()
  return self.enabled
end

--- Returns whether the automation is running.
function Automation:is_running()
  return self.running_count > 0
end

--- Returns the last runs, newest first, as rows of the table `perilune_automation_run`.
-- @tparam ?integer count 20 by default
function Automation:runs(count)
  return runs.last(self.db, self.name, count or 20)
end

--- Releases the runs of queued triggers, so that the next process starts them.
local function release_waiting(self)
  local ids = {}
  for _, item in ipairs(self.waiting) do ids[#ids + 1] = recorded[item.trigger] end
  self.waiting = {}
  if #ids > 0 then pcall(runs.release, self.db, ids) end
end

local function remove(self, reason, is_program_ending)
  stop_trigger(self)
  if is_program_ending then release_waiting(self) else skip_waiting(self, reason) end
  self.is_removed = true
  for run in pairs(self.running) do
    run.is_program_ending = is_program_ending
    cancel_run(run, reason)
  end
  for index, automation in ipairs(list) do
    if automation == self then return table.remove(list, index) and nil end
  end
end

--- Removes the automation and cancels its active runs.
function Automation:remove()
  remove(self, "removed")
  if perilune.context == "preview" then return end
  local is_known, owner = pcall(automation_table.other_owner, self.db, self.name)
  if is_known and owner then return end
  pcall(automation_table.remove, self.db, self.name)
  if self.change_plan then pcall(require("perilune.events.change_log").remove, self.db, self.name) end
end

--- Returns the next due time of a schedule; nil for other triggers, and while the automation is disabled.
function Automation:next_time()
  return self.next_due and perilune.date.from_unix(0) + self.next_due or nil
end

Automation.__metatable = "automation"
checks.seal(Automation, { "change_plan", "description", "durable", "durable_state", "key_function", "fetch_values", "file", "is_removed", "is_shared", "line", "next_due", "on_failure", "source", "when" }, "automation")
Automation.__tostring = function(self) return ("automation %s (%s)"):format(self.name, self.trigger_text) end

-- Definitions -----------------------------------------------------------------------------------------------------------------

local function read_interrupted(place, value)
  if value == nil then return "fail" end
  if value == "fail" or value == "rerun" or type(value) == "function" then return value end
  checks.fail(place, 'option `interrupted`: expected "rerun", "fail" or a function, got ' .. errors.describe(value))
end

local function read_count(place, name, value, default)
  if value == nil then return default end
  local count = math.tointeger(value)
  if not count or count < 1 then checks.fail(place, ("option `%s`: expected an integer from 1, got %s"):format(name, errors.describe(value))) end
  return count
end

local function read_definition(options)
  local place = "perilune.automation"
  options = checks.options(place, options == nil and checks.fail(place, "expected a table of options, got nil") or options, option_kinds, "automation_option")
  if options.name == nil or options.name == "" then checks.fail(place, "option `name`: expected a name, got none") end
  place = ('perilune.automation "%s"'):format(options.name)
  if not options.run then checks.fail(place, "option `run`: expected a function, got nil") end
  if options.db ~= nil and not native_records.is_database(options.db) then
    checks.fail(place, "option `db`: expected a database, got " .. errors.describe(options.db))
  end
  local mode = options.mode or (options.durable and "parallel" or "single")
  if not on_trigger[mode] then errors.raise_unknown("mode", mode, modes) end
  if options.durable then durable_queue.check(place, options, mode) end
  for _, name in ipairs{ "key", "on_code_change" } do
    if options[name] ~= nil and not options.durable then checks.fail(place, ("option `%s` applies only to durable automations"):format(name)) end
  end
  local text, start_trigger, fetch_values = triggers.read(place, options.on, options.durable)
  local file, line = errors.position()
  return setmetatable({
    name = options.name, description = options.description, trigger_text = text, start_trigger = start_trigger, fetch_values = fetch_values,
    when = options.when, run_function = options.run, mode = mode, max = read_count(place, "max", options.max, 10),
    retry = retries.read(place, options.retry), keep = read_count(place, "keep", options.keep, 100),
    db = options.db or perilune.database, enabled = options.enabled ~= false, running = {}, running_count = 0, waiting = {},
    scope = native_loop.scope(), file = file, line = line, interrupted = options.durable and "rerun" or read_interrupted(place, options.interrupted),
    durable = options.durable or nil, key_function = options.key, on_code_change = options.on_code_change or "continue",
    on_failure = options.on_failure,
  }, Automation)
end

local function check_name(self, others)
  for _, other in ipairs(others) do
    if other.name == self.name then
      errors.raise("definition", ('perilune.automation "%s": an automation of that name already exists'):format(self.name))
    end
  end
end

--- Defines an automation, which is active until the program ends.
--
--     perilune.automation{
--       name = "low stock",
--       on = { change = Product:filter(Product.c.stock:lt(10)), initially = true },
--       when = function(context) return #context.value > 0 end,
--       run = function(context) ... end,
--     }
-- @tparam table options `on`: { change = tables (or their schema), a request, or a function that fetches; initially = whether the first
--   value counts; poll = the interval of checks for writes of other processes, such as "1s", each of which reads all rows of the tables,
--   or false for none },
--   { schedule = "0 9 * * mon-fri" }, { every = "5m" } or { event = "name" }, see `perilune.emit`; `when`: the guard;
--   `mode`: the effect of a trigger during a run: "single" (none, the default), "restart", "queued" or "parallel", of which there are at
--   most `max` (10); `retry`: { times =, wait = "1s", factor = 2 }; `keep`: how many runs are kept (100); `enabled`; `db`; `description`
function public.automation(options)
  local self = read_definition(options)
  output.watch()
  durable_values.install()
  if staging then
    check_name(self, staging)
    staging[#staging + 1] = self
    return self
  end
  check_name(self, list)
  if self.enabled then self:enable() else record_disabled(self) end
  list[#list + 1] = self
  return self
end

--- A list of automations, in which the name of an automation is not a field.
local names_metatable = { __index = function(_, name)
  if type(name) ~= "string" then return nil end
  errors.raise("unknown_member", ("a list of automations has no field `%s`; use `for _, automation in ipairs(perilune.automations()) do`, in which "
    .. "automation.name is its name"):format(name), { name = name })
end }

--- Returns all automations, in the order of their definition.
function public.automations()
  return setmetatable(table.move(list, 1, #list, 1, {}), names_metatable)
end

-- Files -----------------------------------------------------------------------------------------------------------------------

--- Ends all timers, tasks and observers that were started in a scope.
local function end_scope(scope)
  native_loop.end_scope(scope)
  require("perilune.events.transaction_observers").end_scope(scope)
end

--- Enables an automation. Adds its name and position to errors, because the file that defines it has ended.
local function enable(self)
  local is_ok, e = pcall(self.enable, self)
  if is_ok then return end
  if is_cancellation(e) or not self.file then error(e, 0) end
  errors.raise(e.kind, ('automation "%s": %s'):format(self.name, e.message), { file = self.file, line = self.line })
end

--- Enables the loaded automations. If they are only listed, their manually started runs do not end with the file.
local function begin_all(loaded, is_live)
  for _, self in ipairs(loaded) do
    if not is_live then
      self.scope = host_scope
    elseif self.enabled then
      enable(self)
    else
      record_disabled(self)
    end
  end
end

--- Deletes the recorded due times of automations that their files no longer define.
local function forget_missing()
  if perilune.context == "preview" then return end
  local files_of = {}
  for _, self in ipairs(list) do
    if self.file then
      local names = files_of[self.file] or { db = self.db, names = {} }
      files_of[self.file], names.names[self.name] = names, true
    end
  end
  for file, known in pairs(files_of) do pcall(automation_table.keep_only, known.db, file, known.names) end
end

--- Runs a chunk that defines automations, in a new scope. These automations replace all others. Everything that the previous file has
-- started ends.
-- @tparam function chunk
-- @tparam boolean is_live whether the automations are triggered from then on; otherwise they are only listed
-- @tparam ?number poll the interval in seconds for detecting writes of other processes, for automations without this option
-- @return the number of automations
function automations.load(chunk, is_live, poll)
  local scope, former, former_scope = native_loop.scope(), perilune.automations(), file_scope
  staging, triggers.poll, former_modules = {}, poll, files.forget_modules()
  durable_values.install()
  chunk()
  begin_all(staging, is_live)
  list, staging, former_modules, is_resumed = staging, nil, nil, false
  file_scope = scope
  for _, self in ipairs(former) do remove(self, "the file was reloaded") end
  if former_scope then end_scope(former_scope) end
  if is_live then forget_missing() end
  if not is_live then end_scope(scope) end
  return #list
end

--- Ends all automations at the end of the program. Waits until their runs have ended and are recorded.
-- @return the number of runs that were active
function automations.stop()
  local count = running_count
  for _, self in ipairs(perilune.automations()) do remove(self, "the program has ended", true) end
  if running_count > 0 then idle_place = native_loop.make_place() end
  while running_count > 0 do native_loop.wait(idle_place) end
  idle_place = nil
  keep_unkept(true)
  if perilune.context ~= "preview" then pcall(automation_table.release, perilune.database) end
  if file_scope then end_scope(file_scope) end
  file_scope = nil
  return count
end

--- Prepares for loading a file whose automations another state has parked. Due times since then count as late, not as missed.
function automations.resume()
  is_resumed = true
end

--- Determines whether this state can be parked: closed until an automation is due or another program writes.
-- @tparam number least the minimum number of seconds until the next due time that makes parking worthwhile
-- @tparam boolean ends whether to stop the triggers if the state can be parked, so that no run begins before it is closed
-- @treturn table `reason` (why the state cannot be parked, or nil) and `next_due` (Unix seconds)
function automations.rest(least, ends)
  local is_active = running_count > 0 or #unkept > 0 or is_keeping
  local parking = require "perilune.events.automation_parking"
  local rest = parking.look(list, is_active, least)
  if ends and not rest.reason then
    for _, self in ipairs(list) do stop_trigger(self) end
    parking.suspend_handlers()
  elseif not rest.reason then
    parking.empty_log()
  end
  return rest
end

--- Ends everything that a file started before its loading failed. The previous automations stay active.
function automations.abandon(scope)
  local failed = staging or {}
  staging, is_resumed = nil, false
  if former_modules then files.put_back(former_modules) end
  former_modules = nil
  for _, self in ipairs(failed) do remove(self, "the file failed to load") end
  end_scope(scope)
end

automations.module_paths = files.paths
automations.make_globals = files.make_globals

--- Returns a description of each automation, for listings.
function automations.describe()
  local rows = {}
  for index, self in ipairs(list) do
    local last = runs.last_unskipped(self.db, self.name)
    rows[index] = {
      name = self.name, trigger = self.trigger_text, mode = self.mode, is_enabled = self.enabled,
      next_due = self:next_time() and tostring(self:next_time()), last_run = last and last.started_at, outcome = last and last.outcome, description = self.description,
    }
  end
  return rows
end

--- Starts a run manually. A durable run is claimed by this state immediately.
local function start_by_hand(self, trigger, on_end)
  if not self.durable then return start(self, trigger, nil, on_end) end
  if perilune.context ~= "preview" then return start_claimed(self, durable_queue.add_claimed(self, trigger), on_end) end
  local context = make_context(self, trigger)
  local run = make_run(self, trigger, context)
  run.is_preview, run.on_end = true, on_end
  durable_runs.extend(context, run)
  add_run(run)
  attempt(run)
end

--- Runs an automation now, including its guard, and waits until the run ends. Raises the error of a failed run.
-- @return the run, in the form of `runs`
function automations.try(name, data)
  local names = {}
  for index, self in ipairs(list) do
    if self.name == name then
      local place, result = native_loop.make_place(), nil
      local trigger = { kind = "manual", data = data }
      start_by_hand(self, trigger, function(details)
        result = details
        native_loop.release(place)
      end)
      while not result do native_loop.wait(place) end
      if result.outcome == "failed" then error(result.error, 0) end
      return runs.row(self, trigger, result)
    end
    names[index] = self.name
  end
  errors.raise_unknown("automation", tostring(name), names)
end

--- Raises unless an automation with this name is defined or has run on the default database.
local function check_known(name)
  local names = runs.names(perilune.database)
  for _, self in ipairs(list) do names[#names + 1] = self.name end
  for _, known in ipairs(names) do
    if known == name then return end
  end
  if #names == 0 then errors.raise("unknown_automation", ("no automation `%s` has run on this database"):format(name)) end
  errors.raise_unknown("automation", name, names)
end

--- Returns the last runs that are recorded in the default database, newest first.
-- @tparam ?string name the name of an automation; nil for all of them
function automations.runs(name, count)
  if name then check_known(name) end
  local list_of_runs = {}
  for index, run in ipairs(runs.last(perilune.database, name, count)) do
    list_of_runs[index] = {
      id = run.id, automation = run.automation, started_at = run.started_at, outcome = run.outcome, attempts = run.attempts,
      duration_ms = run.duration_ms, trigger = run.trigger, reason = run.reason, error = run.error, statements = run.statements,
      traceback = run.traceback, output = run.output, wakes_at = run.wakes_at, interruptions = run.interruptions,
    }
  end
  return list_of_runs
end

--- Returns the state of all automations in the default database.
-- @tparam number stuck the number of seconds after which an active run counts as a problem
function automations.status(stuck)
  return require("perilune.events.automation_status").all(perilune.database, stuck)
end

automations.public = public
return automations
