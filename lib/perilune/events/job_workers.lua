--- Handlers of job queues and their workers, which run the jobs in this state.

local crashes = require "perilune.native.crashes"
local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local job_table = require "perilune.events.job_table"
local owner_leases = require "perilune.events.owner_leases"
local wake = require "perilune.events.wake"

local job_workers = {}

--- The interval in seconds for detecting work from other processes.
local poll = 1.0
--- Jobs are claimed together, up to `largest_batch` at a time, as long as each takes at most `quick` seconds. After `longest_task` seconds,
-- a worker continues in a new task, for which the limits of a task begin again.
local quick, longest_task, largest_batch = 0.002, 0.02, 32
--- When a job has run for this number of seconds, the jobs that were claimed together with it are released.
local release_after = 0.1

local Handler = { __name = "perilune.job_handler" }
Handler.__metatable, Handler.__receiver = "job handler", "handler"

--- The handlers of this state by queue name, needed by `cancel`.
local handlers = {}

-- Jobs ------------------------------------------------------------------------------------------------------------------------

local job_methods = {}

local job_fields = { attempt = true, enqueued_at = true, id = true, is_repeat = true, key = true, order_key = true, payload = true, queue = true }

--- Raises for a field that a job does not have: any field if the payload has none, and otherwise those with a replacement, because a field of
-- the payload may be missing.
local function refuse_field(payload, name)
  if type(name) ~= "string" or job_fields[name] then return end
  local other_names = require "perilune.runtime.other_names"
  if type(payload) ~= "table" or other_names.find("job", name) then other_names.raise("job", "field", name, { "attempt", "enqueued_at", "id", "is_repeat", "key", "order_key", "payload", "queue" }) end
end

--- The argument of a handler's function. Fields of the payload can be read directly from it.
local Job = {
  __name = "perilune.job", __metatable = "job",
  __index = function(self, name)
    local payload = rawget(self, "payload")
    if job_methods[name] then return job_methods[name] end
    local value
    if type(payload) == "table" then value = payload[name] end
    if value == nil then refuse_field(payload, name) end
    return value
  end,
  __tostring = function(self) return ("job %d of %s"):format(rawget(self, "id"), rawget(self, "queue")) end,
}

local function make_job(queue, row)
  return setmetatable({
    id = row.id, queue = queue.name, key = row.job_key, order_key = row.order_key, attempt = row.attempts, is_repeat = row.attempts > 1,
    enqueued_at = perilune.date(row.enqueued_at), payload = perilune.json.decode(row.payload),
  }, Job)
end

-- Running ---------------------------------------------------------------------------------------------------------------------

local function is_cancellation(e)
  return type(e) == "userdata" and e.kind == "cancelled"
end

local function log_error(self, message, e)
  perilune.log.error(message, { queue = self.queue.name, error = tostring(e) })
end

--- Returns the time of the next attempt of a failed job; nil without another attempt.
local function next_attempt(queue, row)
  if row.attempts >= queue.attempts then return nil end
  local shortest, longest = queue.backoff[1], queue.backoff[2]
  local wait = math.min(shortest * 2 ^ math.min(row.attempts - 1, 60), longest)
  return perilune.now() + wait * (1 + 0.25 * perilune.random())
end

--- Reports an error to the handler of `perilune.on_error` or to the program; without either, logs it.
-- @tparam string what the function that failed or the dead job
-- @tparam string verb what happened to it
local function report(self, what, verb, e)
  local is_ok, is_heard = pcall(native_loop.report, e, self.scope, ("%s of the queue `%s` %s"):format(what, self.queue.name, verb))
  if not is_ok or not is_heard then log_error(self, what .. " " .. verb, e) end
end

--- Calls `on_dead` in a separate task.
local function call_on_dead(self, row, e)
  local f = self.queue.on_dead
  if not f then return end
  native_loop.start(function() f(make_job(self.queue, row), e) end, function(raised) report(self, "on_dead", "failed", raised) end, false, self.scope)
end

local function death_of(row)
  return "job " .. row.id, ("is dead after %d attempt%s"):format(row.attempts, row.attempts == 1 and "" or "s")
end

local function traceback_of(e)
  return type(e) == "userdata" and e.traceback or nil
end

--- Passes the recorded outcome of an attempt to the function that was set by `on_outcome`.
-- @tparam string state "done", "failed" or "dead"
local function report_outcome(self, row, state, e, run_at)
  if not self.report then return end
  local is_ok, problem = pcall(self.report, {
    id = row.id, key = row.job_key, attempt = row.attempts, state = state, error = e ~= nil and tostring(e) or nil, next_attempt = run_at })
  if not is_ok then log_error(self, "the outcome of a job could not be reported", problem) end
end

--- Records a failed attempt.
local function settle_failure(self, row, e, traceback)
  local run_at = next_attempt(self.queue, row)
  local is_ours = self.queue.db:write(function(handle)
    crashes.label("failure of a job of", self.queue.name)
    return job_table.fail(handle, self.queue.name, row, e, traceback or traceback_of(e), run_at)
  end)
  if not is_ours then return end
  report_outcome(self, row, run_at and "failed" or "dead", e, run_at)
  if not run_at then
    local what, verb = death_of(row)
    report(self, what, verb, e)
    return call_on_dead(self, row, e)
  end
  perilune.log.warning(("job %d failed in attempt %d of %s, and will be tried again"):format(row.id, row.attempts, self.queue.attempts),
    { queue = self.queue.name, error = tostring(e), next_attempt = run_at:format("YMD_HMS") })
end

--- Calls the function for a job in the same transaction that completes the job.
local function run_in_transaction(self, row)
  local is_ok, e = pcall(self.queue.db.write, self.queue.db, function(handle)
    self.f(make_job(self.queue, row), handle)
    crashes.label("job of", self.queue.name)
    if not job_table.complete(handle, self.queue.name, row) then
      errors.raise("job_taken", ("job %d: it was cancelled, or another process has taken it over"):format(row.id))
    end
  end)
  return is_ok, e
end

local function run_job(self, row)
  if self.is_transaction then return run_in_transaction(self, row) end
  return pcall(function() self.f(make_job(self.queue, row)) end)
end

--- Starts a timer that interrupts an attempt after its time limit.
local function start_timeout(self, worker)
  local seconds = self.queue.timeout
  if not seconds then return nil end
  return native_loop.start_timer(seconds, nil, function()
    worker.has_timed_out = true
    native_loop.stop(worker.task, true)
  end)
end

local function timeout_error(self)
  return ("the attempt took longer than %gs"):format(self.queue.timeout)
end

--- Runs a job and records a failure. A success is recorded later, together with the next claim, unless that is impossible.
-- @treturn boolean whether the job has succeeded and must still be recorded as done
local function work(self, worker, row)
  worker.current = row
  local timer = start_timeout(self, worker)
  local is_ok, e = run_job(self, row)
  if timer then native_loop.stop(timer) end
  if not is_ok then
    if is_cancellation(e) then error(e, 0) end
    settle_failure(self, row, e)
  end
  worker.current = nil
  return is_ok and not self.is_transaction
end

--- Records jobs as done and claims more jobs, in one transaction.
local function complete_and_claim(self, done, count)
  local queue = self.queue
  local completed = {}
  local rows = queue.db:write(function(handle)
    crashes.label("end of a job of", queue.name)
    for _, row in ipairs(done) do
      if job_table.complete(handle, queue.name, row) then completed[#completed + 1] = row end
    end
    if count == 0 then return {} end
    return job_table.claim(handle, queue, count)
  end)
  for _, row in ipairs(completed) do report_outcome(self, row, "done") end
  return rows
end

local pump

--- Releases jobs that were claimed together with a slow job.
local function release_rest(self, worker)
  local rest = worker.rest
  worker.rest, self.batch = {}, 1
  if #rest == 0 then return end
  self.queue.db:write(function(handle) job_table.release(handle, rest) end)
  wake.later(self.queue.db)
end

--- Runs claimed jobs, and claims more of them as long as they are quick.
local function work_through(self, worker, rows)
  local begin = native_loop.now()
  while #rows > 0 do
    local done, start = {}, native_loop.now()
    worker.done = done
    worker.rest = table.move(rows, 2, #rows, 1, {})
    if #rows > 1 then
      worker.release_timer = native_loop.start_timer(release_after, nil, function()
        worker.release_timer = nil
        release_rest(self, worker)
      end)
    end
    local row = rows[1]
    while row do
      if work(self, worker, row) then done[#done + 1] = row end
      row = table.remove(worker.rest, 1)
    end
    if worker.release_timer then native_loop.stop(worker.release_timer) end
    worker.release_timer = nil
    local each = (native_loop.now() - start) / #rows
    self.batch = each < quick and math.min(self.batch * 2, largest_batch) or 1
    local goes_on = not self.is_cancelled and native_loop.now() - begin < longest_task
    rows = complete_and_claim(self, done, goes_on and self.batch or 0)
    worker.done = nil
    if not goes_on then break end
  end
end

--- Records jobs that workers have completed or released but could not record. If this fails again, it is repeated later. Other processes do
-- not claim these jobs while this state exists.
local function settle_left(self)
  local left = self.left
  if #left.done == 0 and #left.released == 0 then return end
  local completed = {}
  self.queue.db:write(function(handle)
    for _, row in ipairs(left.done) do
      if job_table.complete(handle, self.queue.name, row) then completed[#completed + 1] = row end
    end
    job_table.release(handle, left.released)
  end)
  self.left = { done = {}, released = {} }
  for _, row in ipairs(completed) do report_outcome(self, row, "done") end
end

local function append(list, more)
  table.move(more or {}, 1, #(more or {}), #list + 1, list)
end

local function end_worker(self, worker)
  self.workers[worker] = nil
  self.worker_count = self.worker_count - 1
  if worker.release_timer then native_loop.stop(worker.release_timer) end
  append(self.left.done, worker.done)
  append(self.left.released, worker.rest)
  worker.done, worker.rest = nil, nil
  pcall(settle_left, self)
  if self.worker_count == 0 and self.idle_place then native_loop.release(self.idle_place) end
  if not self.is_cancelled then pump(self) end
end

--- Handles the interruption of a worker's job by its time limit, by `cancel`, or by the end of the program.
local function settle_interruption(self, worker, e)
  local row = worker.current
  if not row then return false end
  if worker.is_cancelled then return true end
  if worker.has_timed_out and pcall(settle_failure, self, row, timeout_error(self)) then return true end
  self.left.released[#self.left.released + 1] = row
  return is_cancellation(e)
end

local function start_worker(self, rows)
  local worker = { rest = rows }
  self.workers[worker] = true
  self.worker_count = self.worker_count + 1
  worker.task = native_loop.start(function()
    work_through(self, worker, rows)
    end_worker(self, worker)
  end, function(e)
    local is_ok, is_settled = pcall(settle_interruption, self, worker, e)
    if not is_ok or not is_settled then log_error(self, "a worker of a queue failed", is_ok and e or is_settled) end
    -- After this interval, tries to write to the database again.
    self.not_before = native_loop.now() + poll
    end_worker(self, worker)
  end, false, self.scope)
end

--- Schedules the next search for jobs, at the time when a delayed job is due or the rate limit allows another job.
local function look_later(self, seconds)
  if self.is_cancelled then return end
  if self.timer then native_loop.stop(self.timer) end
  self.timer = native_loop.start_timer(math.max(seconds, 0.001), nil, function()
    self.timer = nil
    pump(self)
  end)
end

local function plan_next_look(self, pause)
  if self.is_cancelled then return end
  local due = job_table.next_due(self.queue.db, self.queue.name)
  local seconds = due and perilune.date(due) - perilune.now() or nil
  if pause then seconds = seconds and math.min(seconds, pause) or pause end
  if perilune.context == "live" then seconds = math.min(seconds or poll, poll) end
  if seconds then look_later(self, seconds) end
end

--- Claims jobs for idle workers.
function pump(self)
  if self.is_cancelled or self.is_pumping then return end
  self.is_pumping = true
  local is_ok, e = pcall(function()
    if self.not_before and native_loop.now() < self.not_before then return look_later(self, self.not_before - native_loop.now()) end
    settle_left(self)
    local pause
    while self.worker_count < self.queue.concurrency and not self.is_cancelled and job_table.has_work(self.queue.db, self.queue.name) do
      local rows
      rows, pause = self.queue.db:write(function(handle)
        crashes.label("claim of a job of", self.queue.name)
        return job_table.claim(handle, self.queue, self.batch)
      end)
      if #rows == 0 then break end
      start_worker(self, rows)
    end
    plan_next_look(self, pause)
  end)
  self.is_pumping = false
  if is_ok then return end
  if is_cancellation(e) then error(e, 0) end
  log_error(self, "jobs of a queue could not be claimed", e)
  look_later(self, poll)
end

--- Takes over the jobs of processes that have ended.
local function recover(self)
  local queue = self.queue
  for _, row in ipairs(job_table.orphans(queue.db, queue.name)) do
    local is_dead = row.attempts >= queue.attempts
    local is_ours = queue.db:write(function(handle) return job_table.recover(handle, queue.name, row, is_dead) end)
    if is_ours and is_dead then
      report_outcome(self, row, "dead", "its process ended")
      -- This is not an error of the function.
      log_error(self, table.concat({ death_of(row) }, " "), "its process ended")
      call_on_dead(self, row, "its process ended")
    end
  end
end

--- The number of jobs that are deleted at a time.
local most_pruned = 1000

--- Deletes old jobs that no longer use their keys, at most once a minute, or once a second while more are left. Jobs that stay because of
-- `unique_for` are read each time, so the pauses grow with their number.
local function prune(self)
  local queue = self.queue
  local start = native_loop.now()
  if self.prune_after and start < self.prune_after then return end
  self.prune_after = start + 60 -- After an error, too.
  local count = queue.db:write(function(handle)
    return job_table.prune(handle, queue.name, { "done", "cancelled" }, perilune.now() - queue.keep, most_pruned, true)
  end)
  local seconds = native_loop.now() - start
  self.prune_after = start + (count < most_pruned and math.max(60, 1000 * seconds) or 1)
end

-- Handlers --------------------------------------------------------------------------------------------------------------------

--- Keeps this state recorded as a handler of the queue, unless another process is.
local function keep_recorded(self)
  if not self.is_cancelled then job_table.keep_worker(self.queue.db, self.queue.name) end
end

--- Recovers and prunes jobs now and at each poll interval. Errors are logged.
local function look_regularly(self)
  local function look()
    for _, f in ipairs{ keep_recorded, recover, prune } do
      local is_ok, e = pcall(f, self)
      if not is_ok and is_cancellation(e) then error(e, 0) end
      if not is_ok then log_error(self, "a queue could not be looked at", e) end
    end
    pump(self)
  end
  native_loop.start(look, nil, false, self.scope)
  if perilune.context == "live" then self.look_timer = native_loop.start_timer(poll, poll, look, false) end
end

--- Starts to handle the jobs of a queue.
function job_workers.start(queue, f, is_transaction)
  local self = setmetatable({
    queue = queue, f = f, is_transaction = is_transaction, workers = {}, worker_count = 0, batch = 1, left = { done = {}, released = {} }, scope = native_loop.scope(),
  }, Handler)
  job_table.set_worker(queue.db, queue.name, true)
  owner_leases.keep(queue.db)
  self.bell = wake.listen(queue.db, function() pump(self) end, true)
  handlers[queue.name] = handlers[queue.name] or setmetatable({}, { __mode = "k" })
  handlers[queue.name][self] = true
  look_regularly(self)
  return self
end

--- Sets a function that receives the outcome of each attempt.
function job_workers.on_outcome(handler, report)
  handler.report = report
end

--- Interrupts workers of this state that are running a job.
function job_workers.interrupt(queue, id)
  for handler in pairs(handlers[queue.name] or {}) do
    for worker in pairs(handler.workers) do
      if worker.current and worker.current.id == id then
        worker.is_cancelled = true
        native_loop.stop(worker.task, true)
      end
    end
  end
end

--- Returns the handlers of this state that have not been cancelled.
function job_workers.all()
  local list = {}
  for _, of_queue in pairs(handlers) do
    for handler in pairs(of_queue) do
      if not handler.is_cancelled then list[#list + 1] = handler end
    end
  end
  return list
end

--- Returns whether a handler has work, or would get work if another process ended during a job.
function job_workers.has_work(handler)
  local db, name = handler.queue.db, handler.queue.name
  if handler.worker_count > 0 or #handler.left.done + #handler.left.released > 0 or job_table.is_running(db, name) then return true end
  return job_table.has_work(db, name) and not job_table.is_paused(db, name)
end

--- Stops a handler from starting jobs. In the database, this state remains recorded as a worker of the queue.
function job_workers.suspend(handler)
  handler.is_cancelled = true
  native_loop.stop(handler.bell)
  for _, name in ipairs{ "timer", "look_timer" } do
    if handler[name] then native_loop.stop(handler[name]) end
  end
end

--- Stops the handler from starting jobs. Active jobs continue until they end.
function Handler:cancel()
  if self.is_cancelled then return end
  job_workers.suspend(self)
  for other in pairs(handlers[self.queue.name] or {}) do
    if not other.is_cancelled and other.queue.db == self.queue.db then return end
  end
  pcall(job_table.set_worker, self.queue.db, self.queue.name, false)
end

--- Starts the jobs that are ready. Returns whether the handler is idle: no job is running or ready.
function job_workers.is_idle(handler)
  pump(handler)
  return handler.worker_count == 0
end

--- Waits until the handler is idle: no job is running or ready.
function Handler:wait_until_idle()
  while not job_workers.is_idle(self) do
    self.idle_place = native_loop.make_place()
    native_loop.wait(self.idle_place)
    self.idle_place = nil
  end
end

--- Returns the number of jobs that are running in this state.
function Handler:running_count()
  return self.worker_count
end

function Handler:__tostring()
  return ('job handler "%s"'):format(self.queue.name) .. (self.is_cancelled and " (cancelled)" or "")
end

checks.seal(Handler, {
  "batch", "bell", "f", "idle_place", "is_pumping", "is_cancelled", "is_transaction", "look_timer", "not_before", "queue", "scope",
  "timer", "worker_count", "workers", "left", "prune_after", "report" }, "handler")

return job_workers
