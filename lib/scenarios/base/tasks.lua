--- The tasks and timers of a scenario. A task that has not started when the scenario ends is a failure; a timer that was not called is noted.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"

local tasks = {}

--- Records a spawned task.
-- @tparam function call the function of the task
-- @return the function to call instead
function tasks.watch(task, call)
  local current = state.current
  if not current then return call end
  local file, line = errors.position()
  local entry = { task = task, file = file, line = line, has_begun = false }
  table.insert(current.tasks, entry)
  return function()
    entry.has_begun = true
    return call()
  end
end

--- Records a timer of `perilune.after`.
function tasks.watch_timer(timer)
  local current = state.current
  if not current then return end
  local file, line = errors.position()
  table.insert(current.timers, { timer = timer, file = file, line = line })
end

--- Returns a note about the timers that were neither called nor cancelled; nil if none exists.
function tasks.note_of_timers(current)
  local first, count = nil, 0
  for _, entry in ipairs(current.timers) do
    if entry.timer:is_active() then first, count = first or entry, count + 1 end
  end
  if count == 0 then return nil end
  local place = first.file and (" (%s:%d)"):format(require("scenarios.base.source").path(first.file), first.line or 0) or ""
  return ("%s not called before the scenario ended%s; t.clock:advance(duration) calls the timers that become due"):format(
    count == 1 and "1 timer was" or count .. " timers were", place)
end

--- Returns the tasks that were neither started nor cancelled: a list of { file, line }.
function tasks.left(current)
  local list = {}
  for _, entry in ipairs(current.tasks) do
    if not entry.has_begun and entry.task:status() == "running" then list[#list + 1] = entry end
  end
  return list
end

return tasks
