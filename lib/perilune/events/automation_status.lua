--- Status of all automations and job queues in a database, for users and monitoring.

local owner_leases = require "perilune.events.owner_leases"
local perilune = require "perilune"
local runs = require "perilune.events.automation_runs"
local automation_table = require "perilune.events.automation_table"
local job_table = require "perilune.events.job_table"

local automation_status = {}

--- A run that is late by at most this number of seconds is not reported as a problem.
local grace = 60

local function last_of(db, name, condition)
  return db:fetch_one("/* perilune */ " .. [[
    SELECT * FROM perilune_automation_run WHERE automation = ? AND ]] .. condition .. " ORDER BY id DESC LIMIT 1", name)
end

local function first_line(text)
  return text and text:match("^[^\n]*") or "no error is recorded"
end

--- Returns the oldest active run, and a problem that one of the active runs has, if any.
local function look_at_active(db, name, stuck)
  local active = db:fetch_all("/* perilune */ " .. [[
    SELECT * FROM perilune_automation_run WHERE automation = ? AND ]] .. runs.is_live .. " ORDER BY id", name)
  local first, problem
  for _, run in ipairs(active) do
    if run.owner and owner_leases.is_dead(db, run.owner) then
      problem = problem or ("run %d is dead: its process has ended"):format(run.id)
    elseif run.outcome == "running" then
      first = first or run
      local seconds = perilune.now() - perilune.date(run.started_at)
      if seconds > stuck then problem = problem or ("run %d has been running for %d s"):format(run.id, seconds // 1) end
    end
  end
  return first, #active, problem
end

local function describe(db, name, entry, stuck)
  local status = { name = name, trigger = entry and entry.trigger, active = 0 }
  local running, success, failure, problem
  if db:table_exists(runs.table_name) then
    running, status.active, problem = look_at_active(db, name, stuck)
    success = last_of(db, name, "outcome = 'succeeded'")
    failure = last_of(db, name, "outcome IN ('failed', 'interrupted', 'diverged')")
  end
  status.running_since = running and running.started_at
  status.last_success, status.last_failure = success and success.started_at, failure and failure.started_at
  if failure and not problem and not (success and success.id > failure.id) then
    problem = ("the last run %s: %s"):format(failure.outcome == "failed" and "failed" or "was " .. failure.outcome,
      first_line(failure.error or failure.reason))
  end
  if entry then
    local is_run = entry.owner ~= nil and not owner_leases.is_dead(db, entry.owner)
    status.state = entry.is_enabled == 0 and "disabled" or is_run and (running and "running" or "ready") or "stopped"
    status.next_due = entry.next_due_at
    if status.state == "stopped" then
      problem = problem or "no process runs it"
    elseif status.next_due and perilune.now() - perilune.date(status.next_due) > grace then
      problem = problem or ("it is late: it was due at %s"):format(status.next_due)
    end
  else
    status.state = running and "running" or "unknown"
  end
  status.problem = problem
  return status
end

-- Job queues -----------------------------------------------------------------------------------------------------------------

--- Returns the problem of a queue that no process handles.
-- @tparam integer interrupted the number of jobs whose processes have ended
local function unhandled_problem(waiting, interrupted)
  if waiting == 1 and interrupted == 0 then return "1 job waits, and no process handles it" end
  if interrupted == 0 then return waiting .. " jobs wait, and no process handles them" end
  if waiting > 0 then return ("%d jobs wait, %d of them interrupted, and no process handles them"):format(waiting + interrupted, interrupted) end
  if interrupted == 1 then return "1 job was interrupted, and no process handles it" end
  return interrupted .. " jobs were interrupted, and no process handles them"
end

--- Returns the number of running jobs whose processes have ended, and the running job that started first.
local function look_at_running(db, name)
  local interrupted, first = 0, nil
  for _, row in ipairs(db:fetch_all("/* perilune */ " .. [[
    SELECT owner, count(*) AS n, min(started_at) AS started_at FROM perilune_job WHERE queue = ? AND state = 'running' GROUP BY owner]], name)) do
    if row.owner == nil or owner_leases.is_dead(db, row.owner) then
      interrupted = interrupted + row.n
    elseif row.started_at and (not first or row.started_at < first) then
      first = row.started_at
    end
  end
  return interrupted, first
end

local function queue_problem(counts, interrupted, is_handled, is_paused)
  if counts.dead > 0 then return counts.dead == 1 and "1 job is dead" or counts.dead .. " jobs are dead" end
  if is_handled then return nil end
  local waiting = is_paused and 0 or counts.ready + counts.delayed + counts.blocked
  if waiting + interrupted > 0 then return unhandled_problem(waiting, interrupted) end
end

--- Returns the problem of the running job that started first, if it has lasted longer than `stuck` seconds.
local function stuck_problem(first, stuck)
  local seconds = first and perilune.now() - perilune.date(first) or 0
  if seconds > stuck then return ("a job has been running for %d s"):format(seconds // 1) end
end

local function describe_queue(db, name, stuck)
  local counts = job_table.counts(db, name)
  local queue = db:fetch_one("/* perilune */ SELECT owner, is_paused FROM perilune_job_queue WHERE queue = ?", name)
  local is_paused = queue ~= nil and queue.is_paused == 1
  local is_handled = queue ~= nil and queue.owner ~= nil and not owner_leases.is_dead(db, queue.owner)
  local interrupted, first = look_at_running(db, name)
  local function last(state)
    return db:fetch_value(
      "/* perilune */ SELECT max(ended_at) FROM perilune_job WHERE queue = ? AND state = ? AND ended_at IS NOT NULL", name, state)
  end
  return {
    name = ('jobs "%s"'):format(name), active = counts.running, last_success = last("done"), last_failure = last("dead"),
    state = is_paused and "paused" or not is_handled and "stopped" or counts.running > 0 and "running" or "ready", running_since = first,
    next_due = job_table.next_due(db, name), problem = queue_problem(counts, interrupted, is_handled, is_paused) or stuck_problem(first, stuck),
  }
end

local function add_queues(db, list, stuck)
  if not db:table_exists(job_table.name) then return end
  for _, name in ipairs(db:fetch_values("/* perilune */ SELECT queue FROM perilune_job UNION SELECT queue FROM perilune_job_queue ORDER BY 1")) do
    list[#list + 1] = describe_queue(db, name, stuck)
  end
end

--- Returns the automations that are running, or have run, on a database, ordered by name, followed by the job queues.
-- @tparam number stuck the number of seconds after which an active run counts as a problem
function automation_status.all(db, stuck)
  local entries, names = {}, {}
  for _, entry in ipairs(automation_table.all(db)) do
    entries[entry.automation] = entry
    names[#names + 1] = entry.automation
  end
  for _, name in ipairs(runs.names(db)) do
    if not entries[name] then names[#names + 1] = name end
  end
  table.sort(names)
  local list = {}
  for index, name in ipairs(names) do list[index] = describe(db, name, entries[name], stuck) end
  add_queues(db, list, stuck)
  return list
end

return automation_status
