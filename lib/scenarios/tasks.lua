--- The tasks that a scenario spawns: one that has not started when the scenario ends is a failure.

local errors = require "perilune.native.errors"
local state = require "scenarios.state"

local tasks = {}

--- Keeps a task that is spawned.
-- @tparam function call what it is to call
-- @return what it calls instead
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

--- Those that had not begun, and were not cancelled either: a list of { file, line }.
function tasks.left(current)
  local list = {}
  for _, entry in ipairs(current.tasks) do
    if not entry.has_begun and entry.task:status() == "running" then list[#list + 1] = entry end
  end
  return list
end

return tasks
