--- The steps of the running scenario: the current step of each coroutine, and unfinished steps.

local scenario_steps = {}

local running = coroutine.running

--- Starts recording the steps of each coroutine; `main` is the coroutine of the scenario itself.
function scenario_steps.start(current)
  current.open_steps, current.main = setmetatable({}, { __mode = "k" }), running()
end

--- Returns the name of the current step, including its outer steps; nil outside of steps.
function scenario_steps.current(current)
  return current.open_steps[running()] or current.open_steps[current.main]
end

--- Begins a step. Returns it, and the argument for `leave`.
function scenario_steps.begin(current, name, line)
  local outer = scenario_steps.current(current)
  local step = { name = outer and outer .. " > " .. name or name, line = line }
  table.insert(current.steps, step)
  local previous = current.open_steps[running()]
  current.open_steps[running()] = step.name
  return step, previous
end

--- Ends the current step.
-- @param previous the result of `begin`
function scenario_steps.leave(current, previous)
  current.open_steps[running()] = previous
end

--- Ends all current steps of this coroutine. Called after an error that the steps did not catch.
function scenario_steps.forget(current)
  current.open_steps[running()] = nil
end

--- Marks the steps that have not ended as failed. Returns their failures in the format of reports.
function scenario_steps.unfinished(current)
  local list = {}
  for _, step in ipairs(current.steps) do
    if not step.outcome then
      step.outcome = "failed"
      list[#list + 1] = {
        message = "this step did not finish: its coroutine is still suspended", kind = "suspended_coroutine",
        file = current.scenario.file, line = step.line, step = step.name, details = {}, trace = {},
        source = require("scenarios.base.source").line(current.scenario.file, step.line),
      }
    end
  end
  return list
end

return scenario_steps
