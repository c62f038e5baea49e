--- The steps of the running scenario: the current one of each coroutine, and those that did not finish.

local scenario_steps = {}

local running = coroutine.running

--- Begins to keep them: by coroutine, and `main` is that of the scenario itself.
function scenario_steps.start(current)
  current.open_steps, current.main = setmetatable({}, { __mode = "k" }), running()
end

--- The name of the step that is going on, with those around it; nil if there is none.
function scenario_steps.current(current)
  return current.open_steps[running()] or current.open_steps[current.main]
end

--- Begins a step. Returns it, and what `leave` is given at its end.
function scenario_steps.begin(current, name, line)
  local outer = scenario_steps.current(current)
  local step = { name = outer and outer .. " > " .. name or name, line = line }
  table.insert(current.steps, step)
  local former = current.open_steps[running()]
  current.open_steps[running()] = step.name
  return step, former
end

--- Ends the step that is going on.
-- @param former what `begin` has returned
function scenario_steps.leave(current, former)
  current.open_steps[running()] = former
end

--- Ends all that are going on in this coroutine: what failed was not caught in them.
function scenario_steps.forget(current)
  current.open_steps[running()] = nil
end

--- What is wrong with steps that never came to an end: failures, as reports have them. They count as failed.
function scenario_steps.unfinished(current)
  local list = {}
  for _, step in ipairs(current.steps) do
    if not step.outcome then
      step.outcome = "failed"
      list[#list + 1] = {
        message = "this step did not finish: its coroutine is still suspended", kind = "suspended_coroutine",
        file = current.scenario.file, line = step.line, step = step.name, details = {}, trace = {},
        source = require("scenarios.source").line(current.scenario.file, step.line),
      }
    end
  end
  return list
end

return scenario_steps
