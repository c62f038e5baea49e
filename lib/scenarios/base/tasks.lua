--- The tasks that a scenario spawns. A task that has not started when the scenario ends is a failure.

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

--- Returns the tasks that were neither started nor cancelled: a list of { file, line }.
function tasks.left(current)
  local list = {}
  for _, entry in ipairs(current.tasks) do
    if not entry.has_begun and entry.task:status() == "running" then list[#list + 1] = entry end
  end
  return list
end

return tasks
