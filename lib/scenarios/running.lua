--- Runs a scenario and reports its outcome.

local perilune = require "perilune"
local output = require "perilune.events.automation_output"
local native_loop = require "perilune.native.loop"
local state = require "scenarios.base.state"
local context = require "scenarios.context.context"
local failures = require "scenarios.reports.failures"
local steps = require "scenarios.base.steps"

--- Saved functions, because the scenario may change globals.
local globals, next, rawequal, rawget, rawset = _G, next, rawequal, rawget, rawset

local function copy_of_globals()
  local copy = {}
  for name, value in next, globals do copy[name] = value end
  return copy
end

--- Restores the globals of Lua and of the scenario language that the scenario has changed.
local function restore_globals(current)
  for name in next, state.words do
    local value = current.globals[name]
    local changed = rawget(globals, name)
    if not rawequal(changed, value) then
      rawset(globals, name, value)
      current.changed_globals[name] = not output.is_own(changed) or nil
    end
  end
end

local function new_run(scenario, info)
  local current = {
    scenario = scenario, info = info, failures = {}, steps = {}, notes = {}, attachments = {}, snapshots = {},
    deferred = {}, names = {}, shapes = {}, counts = {}, checked_factories = {}, tasks = {}, timers = {}, stubs = {},
    -- Failures that were raised but not reported yet; the number of checks; expectations without a matcher.
    raised = {}, checks = 0, expectations = 0, open_expectations = {}, globals = copy_of_globals(), changed_globals = {},
    update_snapshots = info.update_snapshots or "new",
  }
  steps.start(current)
  current.context = context.new(current)
  return current
end

--- Returns whether a wait of the scenario was interrupted because something else has failed.
local function was_interrupted(current)
  return current.is_interrupted or state.has("was_interrupted") and state.host("was_interrupted")()
end

--- Calls a function with `t`, and records its failure.
-- @return whether it succeeded
local function call(current, f, step)
  current.caught = nil
  local is_done, caught = failures.protect(f, current.context)
  if is_done then return true end
  restore_globals(current)
  failures.forget(current, caught.value)
  steps.forget(current)
  local kind = failures.is_error_object(caught.value) and caught.value.kind
  if kind == "cancelled" and current.is_late then
    local failure = failures.make(caught, step)
    failure.kind = "timeout"
    table.insert(current.failures, failure)
  elseif not (kind == "scenario_skip" and current.is_skipped or kind == "cancelled" and was_interrupted(current)) then
    -- If a step has caught this error already, the position recorded there is more precise.
    local inner = current.caught
    if inner and rawequal(inner.value, caught.value) then caught, step = inner, inner.step end
    table.insert(current.failures, failures.make(caught, step))
  end
  return false
end

--- Makes unhandled errors of timers, observations and tasks fail the scenario, and interrupt its waits.
local function watch_callbacks(current)
  native_loop.on_error(function(value)
    restore_globals(current)
    local known = failures.forget(current, value)
    local failure = failures.make(known or { value = value, trace = {} }, known and known.step)
    -- If the time limit was reached at the start of a callback, this failure has no position. The timeout is then reported at the position
    -- of the scenario's wait.
    current.is_late = failure.kind == "timeout" and not failure.file
    if not current.is_late then table.insert(current.failures, failure) end
    current.is_interrupted = true
    state.host("interrupt")()
  end)
end

--- Returns the groups of a scenario, outermost first.
local function groups_of(scenario)
  local list, group = {}, scenario.group
  while group do
    table.insert(list, 1, group)
    group = group.outer
  end
  return list
end

local function run_before(current)
  for _, group in ipairs(groups_of(current.scenario)) do
    for _, f in ipairs(group.before) do
      if not call(current, f, "before_each") then return false end
    end
  end
  return true
end

local function run_after(current)
  local groups = groups_of(current.scenario)
  for index = #groups, 1, -1 do
    for _, f in ipairs(groups[index].after) do call(current, f, "after_each") end
  end
  -- A deferred function may defer others.
  while #current.deferred > 0 do call(current, table.remove(current.deferred), "deferred") end
end

-- Checks of the whole scenario

--- Adds a failure.
-- @tparam ?table place `file` and `line`; by default the place of the scenario
local function add_failure(current, kind, message, details, place)
  local source = require("scenarios.base.source")
  local file, line = (place or current.scenario).file, (place or current.scenario).line
  local path = file and source.path(file)
  table.insert(current.failures, {
    message = message, kind = kind, file = path, line = line, details = details or {}, trace = {},
    source = path and source.line(path, line),
  })
end

local function check_queries(current, count_before)
  local most = current.scenario.max_queries
  if not most then return end
  current.checks = current.checks + 1
  local count = state.host("query_count")() - count_before
  if count > most then
    add_failure(current, "expectation", ("max_queries: %d queries were run, at most %d are allowed"):format(count, most))
  end
end

--- Reports failures that the scenario itself has caught.
local function report_caught(current)
  for _, caught in ipairs(current.raised) do
    local failure = failures.make(caught, caught.step)
    table.insert(failure.details, "the scenario caught this failure (with pcall, for example), but fails anyway; use "
      .. "expect_error(f, { kind = \"expectation\" }) to expect a failure")
    table.insert(current.failures, failure)
  end
end

--- Reports `expect(x)` without a matcher.
local function report_open_expectations(current)
  local list = {}
  for _, place in next, current.open_expectations do list[#list + 1] = place end
  table.sort(list, function(left, right) return left.number < right.number end)
  for _, place in ipairs(list) do
    add_failure(current, "open_expectation", "expect(...) checks nothing without a matcher, as in expect(...):equals(1)", nil, place)
  end
end

local function report_tasks(current)
  for _, entry in ipairs(require("scenarios.base.tasks").left(current)) do
    add_failure(current, "unstarted_task", "the task spawned here had not started when the scenario ended; wait for it with "
      .. "task:wait(), or for all tasks with t.wait_until_idle()", nil, entry)
  end
end

--- Adds the notes about services that help to understand a failure.
local function note_services(current)
  if not current.advances or #current.failures == 0 and not was_interrupted(current) then return end
  table.move(require("scenarios.context.services").notes(current), 1, #current.advances, #current.notes + 1, current.notes)
end

--- Adds a note with the last error that `t.run_protected` returned, if the scenario fails without showing it.
local function note_protected_error(current)
  local protected = current.protected_error
  if not protected or #current.failures == 0 then return end
  local message, file, line = failures.describe(protected.error)
  message = message:match("^[^\n]*")
  for _, failure in ipairs(current.failures) do
    for _, text in ipairs{ failure.message, table.unpack(failure.details) } do
      if text:find(message, 1, true) then return end
    end
  end
  local place = file and ("%s:%s: "):format(require("scenarios.base.source").path(file), line or "?") or ""
  table.insert(current.notes, ("t.run_protected(%q) returned the error: %s%s"):format(protected.path, place, message))
end

--- Reports the unfinished parts of the scenario, unless it was interrupted.
local function check_rest(current)
  report_caught(current)
  if #current.stubs > 0 then require("scenarios.context.stub_counts").check(current, add_failure) end
  if #current.timers > 0 then table.insert(current.notes, require("scenarios.base.tasks").note_of_timers(current)) end
  if #current.failures > 0 or current.is_skipped then return end
  report_open_expectations(current)
  if #current.tasks > 0 then report_tasks(current) end
end

--- Returns whether the scenario failed as specified by its option `fails`; otherwise adds the differences to the failures.
local function fails_as_said(current)
  local wanted, is_so = current.scenario.fails_with, true
  if not wanted then return true end
  for _, failure in ipairs(current.failures) do
    local lines = require("scenarios.reports.error_aspects").differences(failure.value ~= nil and failure.value or failure, wanted)
    for _, line in ipairs(lines) do table.insert(failure.details, "the option fails: " .. line) end
    is_so = is_so and #lines == 0
  end
  return is_so
end

local function note_names(current, what, set)
  local names = {}
  for name in next, set do names[#names + 1] = tostring(name) end
  table.sort(names)
  if #names > 0 then table.insert(current.notes, what .. table.concat(names, ", ")) end
end

--- New globals are usually a forgotten `local`. They are harmless here, because the state belongs to this scenario alone.
local function note_globals(current)
  local added = {}
  for name in next, globals do
    if current.globals[name] == nil then added[name] = true end
  end
  note_names(current, "the scenario set global variables: ", added)
  note_names(current, "the scenario changed global variables: ", current.changed_globals)
end

-- The result

local function result_of(current)
  return {
    outcome = #current.failures > 0 and "failed" or current.is_skipped and "skipped" or "passed", reason = current.skip_reason,
    failures = current.failures, steps = current.steps, notes = current.notes, attachments = current.attachments,
    snapshots = current.snapshots, checks = current.checks, fails_as_said = fails_as_said(current),
  }
end

--- Runs a scenario.
return function(scenario, info)
  local current = new_run(scenario, info)
  local queries_before = scenario.max_queries and state.host("query_count")() or 0
  state.current, state.phase = current, "running"
  if state.has("interrupt") then watch_callbacks(current) end
  if scenario.clock then state.host("clock_set")(perilune.date(scenario.clock)) end
  if run_before(current) and not current.is_skipped then call(current, scenario.body) end
  restore_globals(current)
  run_after(current)
  for _, failure in ipairs(steps.unfinished(current)) do table.insert(current.failures, failure) end
  check_queries(current, queries_before)
  check_rest(current)
  note_services(current)
  note_protected_error(current)
  note_globals(current)
  local result = result_of(current)
  state.current, state.phase = nil, "idle"
  return result
end
