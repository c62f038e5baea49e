--- Durable runs. After a wait or a crash, the function of a run is executed again from its beginning, and completed steps return their
-- recorded results. In an automation with `durable = true`, the function receives a context that has the methods in this file.

local crashes = require "perilune.native.crashes"
local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local durations = require "perilune.runtime.durations"
local retries = require "perilune.events.retries"
local runs = require "perilune.events.automation_runs"
local step_table = require "perilune.events.step_table"
local durable_values = require "perilune.events.durable_values"
local wake = require "perilune.events.wake"

--- The functions that scripts call.
local public = {}

local durable_runs = {}

local longest_name, longest_key, longest_value = 200, 500, 1 << 20
--- The end of a wait that has no timeout.
local never = "9999-12-31 23:59:59.999"

local function is_cancellation(e)
  return type(e) == "userdata" and e.kind == "cancelled"
end

--- Returns whether an error is temporary, such as a locked database or a full disk. After such an error nothing is recorded, and the run
-- continues later.
function durable_runs.is_passing(e)
  local kind = type(e) == "userdata" and e.kind or ""
  return kind:find("^busy") ~= nil or kind:find("^locked") ~= nil or kind == "full"
end

local is_passing = durable_runs.is_passing

local function message_of(e)
  return type(e) == "userdata" and e.message or tostring(e)
end

-- Executing -------------------------------------------------------------------------------------------------------------------

--- Returns the state of one branch of a run in the current execution. The function of the run is the branch "".
local function make_branch(execution, name)
  return {
    execution = execution, name = name, position = 0, steps = execution.steps[name] or {}, names = {}, undos = execution.undos,
    values = {
      now_text = tostring(execution.started_at), is_inside = false,
      random_state = durable_values.number_of(("%d %s %s"):format(execution.id, execution.started_at, name)),
    },
  }
end

--- Begins to execute the function of a run. Must be called in the task that executes the function.
-- @tparam table run id, automation, started_at, key, settings
function durable_runs.begin(run)
  local execution = {
    run = run, id = run.id, automation = run.automation.name, db = run.automation.db, started_at = run.started_at, undos = {},
    steps = step_table.load(run.automation.db, run.id), branches = {}, has_interruptions = run.interruptions > 0,
  }
  run.execution = execution
  execution.main = make_branch(execution, "")
  execution.branches[""] = execution.main
  local source = native_loop.current()
  execution.tasks = { [source] = execution.main }
  durable_values.enter(source, execution.main.values)
end

--- Returns whether any step of the run has been recorded.
function durable_runs.has_begun(run)
  return next(run.execution.steps) ~= nil
end

--- Returns the branch that the current task executes.
local function branch_of(context, method)
  local metatable = type(context) == "table" and getmetatable(context)
  if not metatable or metatable.__name ~= "perilune.durable_run" then
    checks.fail("run:" .. method, "call it with a colon, got " .. errors.describe(context) .. " before the arguments")
  end
  local execution = context.execution
  local branch = execution and execution.tasks[native_loop.current() or 0]
  if not branch then errors.raise("usage", ("run:%s: it can be used only in the function of a durable run, while that runs"):format(method)) end
  if execution.diverged then error(execution.diverged, 0) end
  if branch.values.is_inside then
    errors.raise("usage", ("run:%s: it cannot be used inside of the step `%s`"):format(method, branch.values.is_inside))
  end
  return branch, execution
end

local function diverge(execution, text, ...)
  local file, line = errors.position()
  local is_ok, e = pcall(errors.raise, "diverged", text:format(...), { file = file, line = line })
  execution.diverged = e
  error(e, 0)
end

local function check_name(method, name)
  local place = "run:" .. method .. ": argument 1"
  if type(name) ~= "string" or name == "" then checks.fail(place, "expected a name as a string, got " .. errors.describe(name)) end
  if #name > longest_name then checks.fail(place, ("expected at most %d bytes, got %d"):format(longest_name, #name)) end
end

--- Returns whether a step may have the name of an earlier step: a run may wait for a signal several times, because the name of a wait is the
-- name of its signal.
local function is_repeatable(branch, kind, first)
  return kind == "wait" and branch.steps[first] ~= nil and branch.steps[first].kind == "wait"
end

--- Begins the next step of a branch.
-- @treturn ?table the record of the step, if it was recorded before
local function next_step(branch, method, kind, name)
  check_name(method, name)
  local first = branch.names[name]
  if first and not is_repeatable(branch, kind, first) then
    errors.raise("usage", ("run:%s: the run has used the name `%s` already, as step %d; in a loop, add a number to the name"):format(method, name, first))
  end
  local db = branch.execution.db
  if db:is_inside_transaction() then errors.raise("usage", ("run:%s: it cannot be used inside of a database block"):format(method)) end
  branch.position = branch.position + 1
  branch.names[name] = branch.position
  local recorded = branch.steps[branch.position]
  if recorded and (recorded.name ~= name or recorded.kind ~= kind) then
    diverge(branch.execution, "step %d was the %s `%s` when it was recorded, and is the %s `%s` now: the function has changed, or depends on something that changes",
      branch.position, recorded.kind, recorded.name, kind, name)
  end
  return recorded
end

--- Sets the clock of a branch to the time at which a step has ended.
local function pass_time(branch, step)
  if step.ended_at then branch.values.now_text = step.ended_at end
end

local function decode(text)
  if text == nil then return nil end
  local value = perilune.json.decode(text)
  if value == perilune.null then return nil end
  return value
end

local function encode(method, name, value)
  if value == nil then return nil end
  local is_ok, text = pcall(perilune.json.encode, value)
  if not is_ok then checks.fail(("run:%s: `%s`"):format(method, name), "expected a result that JSON can express: " .. message_of(text)) end
  if #text > longest_value then
    checks.fail(("run:%s: `%s`"):format(method, name), ("expected a result of at most %d bytes as JSON, got %d; keep it in a table of your own"):format(
      longest_value, #text))
  end
  return text
end

--- Returns the recorded result of a step, or raises its recorded error.
local function answer(branch, step)
  pass_time(branch, step)
  if step.state == "failed" then
    if step.error_kind then errors.raise(step.error_kind, step.error) end
    error(step.error, 0)
  end
  return decode(step.value)
end

local function record(branch, handle, step, position)
  local execution = branch.execution
  crashes.label(step.kind, step.name)
  if not step_table.put(handle, execution.id, branch.name, position or branch.position, step) then
    errors.raise("run_taken", ("run %d: it was cancelled, or another process has taken it over"):format(execution.id))
  end
  if execution.has_interruptions then
    step_table.forget_interruptions(handle, execution.id)
    execution.has_interruptions = false
  end
end

--- Records a step that has failed, after its writes were rolled back.
local function record_failure(branch, step, e)
  step.state, step.value, step.wakes_at = "failed", nil, nil
  step.error, step.error_kind = message_of(e), type(e) == "userdata" and e.kind or nil
  branch.execution.db:write(function(handle) record(branch, handle, step) end)
  branch.steps[branch.position] = step
end

--- Calls the function of a step or a call, which uses the regular clock and random numbers.
local function inside(branch, name, f, ...)
  branch.values.is_inside = name
  local results = table.pack(pcall(f, ...))
  branch.values.is_inside = false
  return table.unpack(results, 1, results.n)
end

-- Waiting ---------------------------------------------------------------------------------------------------------------------

--- Ends the current task without raising an error, which the script could catch. The function is executed again when the run can continue.
local function suspend(branch, wakes_at)
  local execution = branch.execution
  if branch == execution.main then
    execution.is_suspended = true
    durable_values.leave(native_loop.current())
    native_loop.abandon()
  end
  branch.wakes_at = wakes_at
  durable_values.leave(native_loop.current())
  native_loop.release(execution.place)
  native_loop.abandon()
end

--- Records that the run is waiting, in the transaction of the waiting step. If the wait precedes the repetition of a failed call, also
-- records the error of that call.
local function record_wait(branch, handle, step, waits_for)
  if branch == branch.execution.main then
    runs.suspend(handle, branch.execution.id, { wakes_at = step.wakes_at, waits_for = waits_for, error = step.error })
  else
    branch.waits_for, branch.error = waits_for, step.error
  end
end

--- Records a waiting step, and suspends the branch until the step's time.
local function wait_on(branch, step)
  branch.execution.db:write(function(handle)
    record(branch, handle, step)
    record_wait(branch, handle, step)
  end)
  branch.steps[branch.position] = step
  suspend(branch, step.wakes_at)
end

-- Steps -----------------------------------------------------------------------------------------------------------------------

local Run = {}

--- Returns the function and the options from the two arguments after the name, which may be in either order.
local function read_arguments(method, name, first, second, kinds)
  check_name(method, name)
  if type(first) == "table" or first == nil then first, second = second, first end
  if type(first) ~= "function" then checks.fail("run:" .. method, "expected a function, got " .. errors.describe(first)) end
  return first, checks.options("run:" .. method, second, kinds)
end

local function add_undo(branch, name, f)
  if f then branch.undos[#branch.undos + 1] = { branch = branch, position = branch.position, name = name, f = f } end
end

--- Executes a function once, in a transaction that also records its result.
function Run:step(name, first, second)
  local branch, execution = branch_of(self, "step")
  local f, options = read_arguments("step", name, first, second, { undo = "function" })
  local step = next_step(branch, "step", "step", name)
  if step then
    if step.state == "done" then add_undo(branch, name, options.undo) end
    return answer(branch, step)
  end
  step = { name = name, kind = "step", state = "done" }
  local is_ok, e = inside(branch, name, execution.db.write, execution.db, function(handle)
    step.value = encode("step", name, (f(handle)))
    record(branch, handle, step)
  end)
  if not is_ok then
    if is_cancellation(e) or is_passing(e) then error(e, 0) end
    record_failure(branch, step, e)
    error(e, 0)
  end
  branch.steps[branch.position] = step
  add_undo(branch, name, options.undo)
  return answer(branch, step)
end

--- Returns the idempotency key of a call: the option `key`, or a key composed of the names of the automation, the run and the call.
local function read_key(branch, name, key)
  local execution = branch.execution
  if key == nil then return ("%s/%d/%s%s"):format(execution.automation, execution.id, branch.name, name) end
  if math.type(key) == "integer" then key = tostring(key) end
  if type(key) ~= "string" or key == "" then checks.fail("run:call", "option `key`: expected a string or an integer, got " .. errors.describe(key)) end
  if #key > longest_key then checks.fail("run:call", ("option `key`: expected at most %d bytes, got %d"):format(longest_key, #key)) end
  return key
end

--- Handles a failed call: raises its error, or waits to repeat it.
local function settle_call(branch, step, retry, e)
  if step.attempts > retry.times then
    record_failure(branch, step, e)
    error(e, 0)
  end
  step.error, step.wakes_at = message_of(e), tostring(durable_values.clock() + retries.wait(retry, step.attempts))
  perilune.log.warning(("a call of a durable run failed in attempt %d of %d, and will be tried again"):format(step.attempts, retry.times + 1), {
    automation = branch.execution.automation, run = tostring(branch.execution.id), call = step.name, error = step.error,
  })
  wait_on(branch, step)
end

local of_calls = checks.fields("call", "call", { "attempt", "is_repeat" })

--- Calls a function with effects outside of the database: at least once, and with the same key each time. The call is recorded before it
-- begins, and its result afterwards.
function Run:call(name, first, second)
  local branch, execution = branch_of(self, "call")
  local f, options = read_arguments("call", name, first, second, { key = "any", retry = "any", undo = "function" })
  local retry, key = retries.read("run:call", options.retry), read_key(branch, name, options.key)
  local step = next_step(branch, "call", "call", name)
  if step and (step.state == "done" or step.state == "failed") then
    if step.state == "done" then add_undo(branch, name, options.undo) end
    return answer(branch, step)
  end
  if step and step.wakes_at and perilune.date(step.wakes_at) > durable_values.clock() then return wait_on(branch, step) end
  step = {
    name = name, kind = "call", state = "intended", attempts = (step and step.attempts or 0) + 1,
    idempotency_key = step and step.idempotency_key or key, error = step and step.error,
  }
  execution.db:write(function(handle) record(branch, handle, step) end)
  branch.steps[branch.position] = step
  local is_repeat = step.attempts > 1
  if is_repeat then
    perilune.log.notice("a call of a durable run is repeated", {
      automation = execution.automation, run = tostring(execution.id), call = name, key = step.idempotency_key, attempt = tostring(step.attempts) })
  end
  crashes.point("before", "call " .. name)
  local is_ok, value = inside(branch, name, f, step.idempotency_key, setmetatable({ attempt = step.attempts, is_repeat = is_repeat }, of_calls))
  crashes.point("after", "call " .. name)
  if not is_ok then
    if is_cancellation(value) then error(value, 0) end
    return settle_call(branch, step, retry, value)
  end
  step.state, step.value, step.error = "done", encode("call", name, value), nil
  execution.db:write(function(handle) record(branch, handle, step) end)
  add_undo(branch, name, options.undo)
  return answer(branch, step)
end

--- Waits for a duration. During this time, the run is not in memory.
function Run:sleep(duration)
  local branch = branch_of(self, "sleep")
  local seconds = durations.read("run:sleep", duration)
  branch.sleep_count = (branch.sleep_count or 0) + 1
  local name = "sleep " .. branch.sleep_count
  local step = next_step(branch, "sleep", "sleep", name)
  if not step then
    step = { name = name, kind = "sleep", state = "waiting", wakes_at = tostring(durable_values.clock() + seconds) }
  end
  if perilune.date(step.wakes_at) > durable_values.clock() then return wait_on(branch, step) end
  branch.values.now_text = step.wakes_at
end

--- Waits for a signal. During this time, the run is not in memory. Several waits for the same signal differ by their positions; each receives
-- one signal, in the order in which they were sent.
-- @return the value of the signal; nil after the timeout
-- @treturn boolean whether the signal has arrived
function Run:wait_for(name, options)
  local branch, execution = branch_of(self, "wait_for")
  options = checks.options("run:wait_for", options, { timeout = "any" })
  local step = next_step(branch, "wait_for", "wait", name)
  if step and step.state == "done" then return answer(branch, step), step.error == nil end
  step = step or { name = name, kind = "wait", state = "waiting", wakes_at = options.timeout
    and tostring(durable_values.clock() + durations.read("run:wait_for: option `timeout`", options.timeout)) or never }
  local is_over = execution.db:write(function(handle)
    local signal = step_table.take_signal(handle, execution.automation, execution.run.key, name)
    if signal or step.wakes_at ~= never and perilune.date(step.wakes_at) <= durable_values.clock() then
      step.state, step.value, step.error = "done", signal and signal.value, not signal and "timeout" or nil
      record(branch, handle, step)
      return true
    end
    record(branch, handle, step)
    record_wait(branch, handle, step, name)
    return false
  end)
  branch.steps[branch.position] = step
  if not is_over then return suspend(branch, step.wakes_at) end
  return answer(branch, step), step.error == nil
end

-- Branches --------------------------------------------------------------------------------------------------------------------

local function check_branches(list)
  if type(list) ~= "table" or next(list) == nil then checks.fail("run:all", "expected a table of functions by name, got " .. errors.describe(list)) end
  local names = {}
  for name, f in pairs(list) do
    if type(name) ~= "string" or type(f) ~= "function" then checks.fail("run:all", "expected functions by name, got " .. errors.describe(name)) end
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

--- Combines the waits of several branches: returns the earliest time at which a branch continues, the name of a signal that a branch waits
-- for, and the error of a call that a branch will repeat. Returns nil if no branch waits.
local function common_wait(branches)
  local wait = {}
  for _, branch in ipairs(branches) do
    if branch.wakes_at and (not wait.wakes_at or branch.wakes_at < wait.wakes_at) then wait.wakes_at = branch.wakes_at end
    wait.waits_for, wait.error = wait.waits_for or branch.waits_for, wait.error or branch.error
  end
  return wait.wakes_at and wait
end

--- Executes functions concurrently, as branches with separate steps, and waits for all of them.
-- @tparam table list functions by name, which receive the run
-- @treturn table their results by name
function Run:all(list)
  local main, execution = branch_of(self, "all")
  if main ~= execution.main then errors.raise("usage", "run:all: it cannot be used in a branch") end
  local names, results, branches = check_branches(list), {}, {}
  local failure
  execution.place = native_loop.make_place()
  for index, name in ipairs(names) do
    if execution.branches[name .. "/"] then errors.raise("usage", ("run:all: the run has used the name `%s` already"):format(name)) end
    local branch = make_branch(execution, name .. "/")
    branches[index], execution.branches[branch.name] = branch, branch
    branch.task = native_loop.start(function()
      execution.tasks[native_loop.current()] = branch
      durable_values.enter(native_loop.current(), branch.values)
      results[name] = list[name](self)
      branch.is_over = true
      durable_values.leave(native_loop.current())
      native_loop.release(execution.place)
    end, function(e)
      if not branch.wakes_at then
        branch.is_over, failure = true, failure or e
        native_loop.release(execution.place)
      end
    end, true, execution.run.automation.scope)
  end
  local function are_settled()
    for _, branch in ipairs(branches) do
      if not branch.is_over and not branch.wakes_at then return false end
    end
    return true
  end
  while not are_settled() do native_loop.wait(execution.place) end
  if failure then error(failure, 0) end
  local wait = common_wait(branches)
  if wait then
    execution.db:write(function(handle)
      -- A signal may have arrived after the branch checked for it. Then the run continues immediately.
      local has_signal = wait.waits_for and step_table.has_signal(handle, execution.automation, execution.run.key)
      if has_signal then wait.wakes_at = tostring(durable_values.clock()) end
      runs.suspend(handle, execution.id, wait)
    end)
    suspend(main)
  end
  for _, branch in ipairs(branches) do
    if branch.values.now_text > main.values.now_text then main.values.now_text = branch.values.now_text end
  end
  return results
end

-- The end ---------------------------------------------------------------------------------------------------------------------

--- Raises if the function has ended without reaching all recorded steps.
function durable_runs.check_end(run)
  local execution = run.execution
  if execution.diverged then error(execution.diverged, 0) end
  for _, branch in pairs(execution.branches) do
    local step = branch.steps[branch.position + 1]
    if step then
      diverge(execution, "step %d, the %s `%s`, was recorded, and the function does not take it any more", branch.position + 1, step.kind, step.name)
    end
  end
end

--- Deletes the step that caused the failure of the run, so that it is repeated in the next attempt.
function durable_runs.forget_failure(run, handle)
  for _, branch in pairs(run.execution.branches) do
    local step = branch.steps[branch.position]
    if step and step.state == "failed" then step_table.delete(handle, run.id, branch.name, branch.position) end
  end
end

--- Undoes each completed step once, in reverse order.
-- @treturn ?string a message if some steps could not be undone
function durable_runs.undo(run)
  local execution, problem = run.execution, nil
  if not execution then return nil end
  for index = #execution.undos, 1, -1 do
    local undo = execution.undos[index]
    local branch = undo.branch
    if not branch.steps[-undo.position] then
      local is_ok, e = pcall(execution.db.write, execution.db, function(handle)
        undo.f(handle)
        record(branch, handle, { name = undo.name, kind = "undo", state = "done" }, -undo.position)
      end)
      if not is_ok then
        if is_cancellation(e) then error(e, 0) end
        problem = problem or ("step `%s` could not be undone: %s"):format(undo.name, message_of(e))
      end
    end
  end
  return problem
end

--- Ends an execution. Its context can no longer be used.
function durable_runs.finish(run)
  local execution = run.execution
  if not execution then return end
  for source in pairs(execution.tasks) do durable_values.leave(source) end
  for _, branch in pairs(execution.branches) do
    if branch.task and not branch.is_over and not branch.wakes_at then native_loop.stop(branch.task, true) end
  end
  execution.tasks = {}
end

-- Previews ---------------------------------------------------------------------------------------------------------------------

--- The methods of durable runs in a preview. Steps and calls are executed immediately and not recorded; waits return immediately, and no
-- signals arrive.
local Preview = {}

function Preview:step(name, first, second)
  local f = read_arguments("step", name, first, second, { undo = "function" })
  return decode(encode("step", name, (self.db:write(f))))
end

function Preview:call(name, first, second)
  local f, options = read_arguments("call", name, first, second, { key = "any", retry = "any", undo = "function" })
  return decode(encode("call", name, (f(tostring(options.key or name), setmetatable({ attempt = 1, is_repeat = false }, of_calls)))))
end

function Preview:sleep(duration) durations.read("run:sleep", duration) end

function Preview:wait_for() return nil, false end

function Preview:all(list)
  local results = {}
  for _, name in ipairs(check_branches(list)) do results[name] = list[name](self) end
  return results
end

-- The context of the function -------------------------------------------------------------------------------------------------

--- The fields that a context may have. They may be nil.
local fields = {}
for name in ("attempt automation db event id is_rerun key trigger value values"):gmatch("%S+") do fields[name] = true end

--- Adds the methods of durable runs to the context of a run.
function durable_runs.extend(context, run)
  local methods = run.is_preview and Preview or Run
  context.id, context.key = run.id, run.key
  return setmetatable(context, {
    __name = "perilune.durable_run",
    __index = function(_, name)
      if name == "execution" then return run.execution end
      if methods[name] or fields[name] then return methods[name] end
      checks.raise_unknown_method(methods, tostring(name), "durable_run")
    end,
  })
end

local plain_fields = { "attempt", "automation", "db", "event", "is_rerun", "trigger", "value", "values" }

--- Raises for a mistaken field, or a method of durable runs, in the context of a run that is not durable. Other names are nil: scripts may
-- keep values of their own in the context.
function durable_runs.refuse(name)
  if type(name) ~= "string" or fields[name] then return nil end
  if Run[name] then errors.raise("usage", ("run:%s: it needs an automation with the option `durable = true`"):format(name)) end
  local other_names = require "perilune.runtime.other_names"
  if other_names.find("context", name) then other_names.raise("context", "field", name, plain_fields) end
  local _, err = pcall(errors.raise_unknown, "field", name, plain_fields)
  if err.suggestion then error(err, 0) end
end

--- Sends a signal to the run of an automation with a key. The run receives it by `run:wait_for(name)`, even if it begins to wait later.
-- @tparam string automation
-- @tparam string key the key of the run, as a string or an integer
-- @tparam string name
-- @param value a value that JSON can represent
-- @treturn boolean whether a run with the key is waiting
function public.signal(automation, key, name, value)
  if automation == nil then checks.fail("perilune.signal: argument 1", "expected a string of at most 500 bytes, got nil") end
  for index, text in ipairs{ automation, tostring(key), name } do
    if type(text) ~= "string" or text == "" or #text > 500 then
      checks.fail("perilune.signal: argument " .. index, "expected a string of at most 500 bytes, got " .. errors.describe(text))
    end
  end
  if key == nil then checks.fail("perilune.signal: argument 2", "expected the key of a run, got nil") end
  if type(name) ~= "string" then checks.fail("perilune.signal: argument 3", "expected the name of a signal, got " .. errors.describe(name)) end
  local text
  if value ~= nil then
    local is_ok
    is_ok, text = pcall(perilune.json.encode, value)
    if not is_ok then checks.fail("perilune.signal: argument 4", "expected a value that JSON can express: " .. message_of(text)) end
  end
  local db = perilune.database
  runs.prepare(db)
  step_table.prepare(db)
  local is_awaited = require("perilune.native.databases").guarded(db, step_table.send_signal, automation, tostring(key), name, text)
  wake.later(db)
  return is_awaited
end

durable_runs.public = public
return durable_runs
