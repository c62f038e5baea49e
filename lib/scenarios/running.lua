--- Runs one scenario and tells what became of it.

local perilune = require "perilune"
local native_loop = require "perilune.native.loop"
local state = require "scenarios.state"
local context = require "scenarios.context"
local failures = require "scenarios.failures"
local steps = require "scenarios.steps"

--- What is needed while the globals are as a scenario has left them.
local globals, next, rawequal, rawget, rawset = _G, next, rawequal, rawget, rawset

local function copy_of_globals()
  local copy = {}
  for name, value in next, globals do copy[name] = value end
  return copy
end

--- Puts back the globals of Lua and of the language: a scenario may have taken away what the rest of its run needs.
local function restore_globals(current)
  for name in next, state.words do
    local value = current.globals[name]
    if not rawequal(rawget(globals, name), value) then
      rawset(globals, name, value)
      current.changed_globals[name] = true
    end
  end
end

local function new_run(scenario, info)
  local current = {
    scenario = scenario, info = info, failures = {}, steps = {}, notes = {}, attachments = {}, snapshots = {},
    deferred = {}, names = {}, shapes = {}, counts = {}, globals = copy_of_globals(), changed_globals = {},
    update_snapshots = info.update_snapshots or "new",
  }
  steps.start(current)
  current.context = context.new(current)
  return current
end

--- Whether what the scenario waits for was ended, since something else has failed.
local function was_interrupted(current)
  return current.is_interrupted or state.has("was_interrupted") and state.host("was_interrupted")()
end

--- Calls a function with `t`, and notes how it fails.
-- @return whether it did not
local function call(current, f, step)
  current.caught = nil
  local is_done, caught = failures.protect(f, current.context)
  if is_done then return true end
  restore_globals(current)
  steps.forget(current)
  local kind = failures.is_error_object(caught.value) and caught.value.kind
  if kind == "cancelled" and current.is_late then
    local failure = failures.make(caught, step)
    failure.kind = "timeout"
    table.insert(current.failures, failure)
  elseif not (kind == "scenario_skip" and current.is_skipped or kind == "cancelled" and was_interrupted(current)) then
    -- What a step has caught knows more of the place.
    local inner = current.caught
    if inner and rawequal(inner.value, caught.value) then caught, step = inner, inner.step end
    table.insert(current.failures, failures.make(caught, step))
  end
  return false
end

--- Has what timers, observations and tasks leave unhandled fail the scenario, and end what it waits for.
local function watch_callbacks(current)
  native_loop.on_error(function(value)
    restore_globals(current)
    local failure = failures.make({ value = value, trace = {} })
    -- The time was up just as something was called: what the scenario waits for says more.
    current.is_late = failure.kind == "timeout" and not failure.file
    if not current.is_late then table.insert(current.failures, failure) end
    current.is_interrupted = true
    state.host("interrupt")()
  end)
end

--- The groups of a scenario, the outermost first.
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

-- What the whole scenario must keep to

local function add_failure(current, message, details)
  local scenario = current.scenario
  table.insert(current.failures, {
    message = message, kind = "expectation", file = scenario.file, line = scenario.line, details = details or {}, trace = {},
    source = require("scenarios.source").line(scenario.file, scenario.line),
  })
end

local function check_queries(current, count_before)
  local most = current.scenario.max_queries
  if not most then return end
  local count = state.host("query_count")() - count_before
  if count > most then add_failure(current, ("max_queries: %d queries were run, at most %d are allowed"):format(count, most)) end
end

local function note_names(current, what, set)
  local names = {}
  for name in next, set do names[#names + 1] = tostring(name) end
  table.sort(names)
  if #names > 0 then table.insert(current.notes, what .. table.concat(names, ", ")) end
end

--- Global variables are most often a `local` that was forgotten. Harmless here: the state is that of this scenario alone.
local function note_globals(current)
  local added = {}
  for name in next, globals do
    if current.globals[name] == nil then added[name] = true end
  end
  note_names(current, "it has set global variables: ", added)
  note_names(current, "it has changed global variables: ", current.changed_globals)
end

-- The result

local function result_of(current)
  return {
    outcome = #current.failures > 0 and "failed" or current.is_skipped and "skipped" or "passed", reason = current.skip_reason,
    failures = current.failures, steps = current.steps, notes = current.notes, attachments = current.attachments,
    snapshots = current.snapshots,
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
  note_globals(current)
  local result = result_of(current)
  state.current, state.phase = nil, "idle"
  return result
end
