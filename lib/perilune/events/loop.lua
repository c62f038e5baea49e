--- Timers and tasks: functions that a script runs later, repeatedly, or concurrently.

local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local checks = require "perilune.runtime.checks"
local spawning = require "perilune.events.spawning"
local read_seconds = require("perilune.runtime.durations").read

--- The functions that scripts call.
local public = {}

local function check_function(name, f)
  if type(f) ~= "function" then
    errors.raise("argument", ("%s: expected a function, got %s"):format(name, errors.describe(f)))
  end
end

-- Kept in a local variable, because scripts may change the `debug` library later.
local parameter_name = debug and debug.getlocal

--- Names of a first parameter that is the timer itself in other libraries. Other parameters may be optional.
local names_of_timers = { timer = true, t = true, self = true, handle = true, h = true, this = true, job = true, interval = true }

--- Raises an error for a function that expects its timer as an argument, as in other libraries.
local function check_parameter(name, f, ...)
  if parameter_name and select("#", ...) == 0 and names_of_timers[parameter_name(f, 1)] then
    errors.raise("argument", ("%s: the function gets no timer; declare `local timer` first, then `timer = %s(...)`, and call "
      .. "timer:cancel()"):format(name, name))
  end
end

--- Returns a function that calls another function with the given arguments.
local function bind(f, ...)
  if select("#", ...) == 0 then return f end
  local arguments = table.pack(...)
  return function() return f(table.unpack(arguments, 1, arguments.n)) end
end

--- The result of `after`, `every` and `on_signal`.
local Handle = { __name = "perilune.timer" }
Handle.__metatable = "timer"

local function make_handle(id)
  return setmetatable({ id = id }, Handle)
end

--- Cancels further calls. Returns whether the function would have been called again.
function Handle:cancel()
  local was_live = native_loop.stop(self.id)
  return was_live
end

--- Returns whether the function will be called again.
function Handle:is_active()
  return native_loop.is_live(self.id)
end

function Handle:__tostring()
  return native_loop.is_live(self.id) and "timer" or "timer (ended)"
end

checks.seal(Handle, { "id" }, "timer")

--- Calls a function once, after a number of seconds.
function public.after(seconds, f, ...)
  seconds = read_seconds("perilune.after", seconds)
  check_function("perilune.after", f)
  check_parameter("perilune.after", f, ...)
  local timer = make_handle(native_loop.start_timer(seconds, nil, bind(f, ...)))
  if spawning.watch_timer then spawning.watch_timer(timer) end
  return timer
end

local timer_options = {
  immediate = true, immediately = true, run_immediately = true, initially = true, start_immediately = true, leading = true,
}

--- Returns the name of an option of other timers, if the only argument for the function is a table with such an option alone.
local function options_of_timers(value, more)
  if more ~= nil or type(value) ~= "table" or getmetatable(value) ~= nil then return nil end
  local name = next(value)
  return timer_options[name] and next(value, name) == nil and name or nil
end

--- Calls a function repeatedly, at an interval of at least 0.001 seconds. If several calls become due while the function is running, they
-- are combined into one.
function public.every(seconds, f, ...)
  local period = read_seconds("perilune.every", seconds, 0.001)
  check_function("perilune.every", f)
  check_parameter("perilune.every", f, ...)
  local option = options_of_timers(...)
  if option then
    errors.raise("argument", ("perilune.every: no option `%s`; further arguments are passed to the function, and a first run at once is a "
      .. "call of the function itself"):format(option))
  end
  return make_handle(native_loop.start_timer(period, period, bind(f, ...)))
end

--- Waits for a number of seconds while other tasks run.
function public.sleep(seconds)
  native_loop.sleep(read_seconds("perilune.sleep", seconds))
end

--- Calls a function when the program receives a signal that would otherwise end it: "INT", "TERM" or "HUP".
function public.on_signal(name, f)
  if type(name) ~= "string" then
    errors.raise("argument", ('perilune.on_signal: expected the name of a signal, such as "TERM", got %s'):format(errors.describe(name)))
  end
  check_function("perilune.on_signal", f)
  return make_handle(native_loop.on_signal((name:upper():gsub("^SIG", "")), f))
end

--- Sets the function that receives unhandled errors of timers and tasks. If it is nil, such errors end the script.
function public.on_error(f)
  if f ~= nil then check_function("perilune.on_error", f) end
  native_loop.on_error(f)
end

--- The result of `spawn`: a function that runs concurrently.
local Task = { __name = "perilune.task" }
Task.__metatable = "task"

--- The task that each coroutine executes.
local tasks = setmetatable({}, { __mode = "k" })

local function succeed(task, ...)
  if task.state ~= "running" then return end
  task.state, task.results = "done", table.pack(...)
  if task.place then native_loop.release(task.place) end
end

--- Ends a task with an error. Raises the error in the task that is waiting for it; if no task is waiting, reports the error as unhandled.
local function fail(task, e)
  if task.state ~= "running" then return end
  task.state, task.error = "failed", e
  if not task.place then error(e, 0) end
  native_loop.release(task.place)
end

--- Starts a function that runs concurrently: while it waits, other tasks run.
function public.spawn(f, ...)
  check_function("perilune.spawn", f)
  local task = setmetatable({ state = "running" }, Task)
  local call = bind(f, ...)
  if spawning.watch then call = spawning.watch(task, call) end
  task.id = native_loop.start(function()
    tasks[coroutine.running()] = task
    succeed(task, call())
  end, function(e) fail(task, e) end)
  return task
end

--- Returns the state of the task: "running", "done", "failed" or "cancelled".
function Task:status()
  return self.state
end

--- Cancels the task: its current or next wait raises an error of kind `cancelled`. Returns whether it was running.
function Task:cancel()
  if self.state ~= "running" then return false end
  self.state = "cancelled"
  native_loop.stop(self.id, true)
  if self.place then native_loop.release(self.place) end
  return true
end

--- Records that the current task waits for another one. Raises if that task is waiting for this one, directly or indirectly, because
-- neither would ever continue.
local function note_wait(task)
  local waiter = tasks[coroutine.running()]
  if not waiter then return end
  local other = task
  while other and other.state == "running" do
    if other == waiter then
      errors.raise("deadlock", task == waiter and "task:wait: a task cannot wait for itself"
        or "task:wait: deadlock: the other task is waiting for this one")
    end
    other = other.waits_for
  end
  waiter.waits_for = task
end

--- Waits until the function has ended. Returns its results or raises its error.
function Task:wait()
  while self.state == "running" do
    note_wait(self)
    self.place = self.place or native_loop.make_place()
    native_loop.wait(self.place)
  end
  if self.state == "failed" then error(self.error, 0) end
  if self.state == "cancelled" then errors.raise("cancelled", "the task was cancelled") end
  return table.unpack(self.results, 1, self.results.n)
end

function Task:__tostring()
  return ("task (%s)"):format(self.state)
end

checks.seal(Task, { "error", "id", "place", "results", "state", "waits_for" }, "task")

return public
