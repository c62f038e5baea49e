---@meta _
---@page Time and tasks
---Calling functions later, waiting, and running several functions concurrently.
---
---A script runs on one thread. While one task waits, the others run. A function cannot wait inside a database block, or when SQLite,
---`table.sort` or `string.gsub` calls it: that raises an error of kind `yield`.

---Calls a function once, later.
---```lua
---perilune.after("10ms", function() print("later") end)
---print("now")
---perilune.sleep("50ms")
-----> now
-----> later
---```
---@param delay perilune.duration
---@param f fun(...: any)
---@param ... any arguments for `f`
---@return perilune.timer
---@raises argument: the delay or the function is not valid
---@access any
---@module events.loop
function perilune.after(delay, f, ...) end

---Calls a function repeatedly. Calls that become due during a running call are combined into one, which follows it. The results of the
---function are ignored: only `timer:cancel()` ends the calls.
---```lua
---local count = 0
---local timer
---timer = perilune.every("1ms", function()
---  count = count + 1
---  if count == 3 then timer:cancel() end
---end)
---perilune.sleep("100ms")
---print(count)  --> 3
---```
---@param period perilune.duration at least 1 ms
---@param f fun(...: any)
---@param ... any arguments for `f`
---@return perilune.timer
---@raises argument: the period or the function is not valid
---@access any
---@module events.loop
function perilune.every(period, f, ...) end

---Calls a function at the times of a cron schedule, in local time or in a given time zone. When clocks are put forward, a skipped time of
---day is due at the moment of the change; when they are put back, a repeated time of day is due the first time. If the minute or the hour
---begins with a star, the schedule follows the clock. Ranges of hours, months and days of the week may run past the end: `22-6`, `fri-mon`.
---```lua
---local schedule = perilune.schedule("0 9 * * mon-fri", function(due)
---  print(due)
---end)
---print(schedule:next_time() > perilune.now())  --> true
---schedule:cancel()
---```
---@param schedule string minute, hour, day of the month, month and day of the week; or `"@hourly"`, `"@daily"`, `"@weekly"`, `"@monthly"`, `"@yearly"`
---@param f fun(due: perilune.date)
---@param options? { zone?: string, jitter?: perilune.duration } `zone`: a time zone such as `"Europe/Vienna"`, by default the time zone of the process; `jitter`: the longest random delay of a call
---@return perilune.schedule
---@raises argument: the schedule cannot be read, or `f` is not a function; unknown_time_zone: the time zone does not exist
---@access any
---@module events.schedule
function perilune.schedule(schedule, f, options) end

---Calls a function once, at a moment; at once if the moment has passed.
---```lua
---local due = perilune.at(perilune.now():add{ hours = 1 }, function(due)
---  print("due at " .. due)
---end)
---print(due:is_active())  --> true
---due:cancel()
---```
---@param date perilune.date|string|number any value that `perilune.date` reads
---@param f fun(due: perilune.date)
---@return perilune.schedule
---@raises argument: it is not a date, or `f` is not a function
---@access any
---@module events.schedule
function perilune.at(date, f) end

---Waits for a duration. Other tasks run in the meantime.
---```lua
---perilune.sleep("1ms")
---print("awake")  --> awake
---```
---@param duration perilune.duration
---@waits for the duration
---@access outside blocks
---@raises argument: the duration is not valid; yield: it cannot wait here; cancelled: the task or the run is cancelled
---@module events.loop
function perilune.sleep(duration) end

---Starts a function as a concurrent task: whenever one task waits, the others run.
---```lua
---local task = perilune.spawn(function(a, b)
---  perilune.sleep("1ms")
---  return a + b
---end, 1, 2)
---print(task:wait())  --> 3
---```
---@param f fun(...: any): ...
---@param ... any arguments for `f`
---@return perilune.task
---@raises argument: `f` is not a function
---@access any
---@module events.loop
function perilune.spawn(f, ...) end

---Calls a function when the program receives a signal that would otherwise end it.
---```lua
---local handle = perilune.on_signal("HUP", function(name) print(name) end)
---print(handle:cancel())  --> true
---```
---@param name "INT"|"TERM"|"HUP"
---@param f fun(name: string)
---@return perilune.timer
---@raises forbidden: the host does not deliver signals; unknown_signal: the host does not deliver this one; argument: `f` is not a function
---@access any
---@module events.loop
function perilune.on_signal(name, f) end

---Sets the handler for errors that timers, tasks and observers leave unhandled, and for the errors of failed runs and dead jobs. Without a
---handler, an error of a timer, a task or an observer ends the script; the others are logged.
---```lua
---perilune.on_error(function(err) print(err) end)
---perilune.after(0, function() error("oops", 0) end)
---perilune.sleep("20ms")  --> oops
---```
---@param f? fun(err: any) nil removes it
---@raises argument: `f` is not a function
---@access any
---@module events.loop
function perilune.on_error(f) end

---A timer or signal handler, made by `perilune.after`, `perilune.every` or `perilune.on_signal`.
---@class perilune.timer
---@access any
local timer = {}

---Cancels the timer or removes the signal handler; returns whether it was active.
---```lua
---local timer = perilune.after("1h", print)
---print(timer:cancel(), timer:cancel())  --> true	false
---```
---@return boolean
---@raises none
function timer:cancel() end

---Returns whether the timer or signal handler is active.
---```lua
---local timer = perilune.after("1h", print)
---print(timer:is_active())  --> true
---timer:cancel()
---```
---@return boolean
---@raises none
function timer:is_active() end

---A scheduled function, made by `perilune.schedule` or `perilune.at`.
---@class perilune.schedule
---@access any
local schedule = {}

---Cancels further calls of the function; returns whether it was still scheduled.
---```lua
---print(perilune.schedule("@daily", print):cancel())  --> true
---```
---@return boolean
---@raises none
function schedule:cancel() end

---Returns whether the function is still scheduled.
---```lua
---local schedule = perilune.schedule("@daily", print)
---schedule:cancel()
---print(schedule:is_active())  --> false
---```
---@return boolean
---@raises none
function schedule:is_active() end

---Returns the time of the next call, or nil.
---```lua
---local schedule = perilune.schedule("30 12 * * *", print)
---print(schedule:next_time().minute)  --> 30
---schedule:cancel()
---```
---@return perilune.date?
---@raises none
function schedule:next_time() end

---A task, made by `perilune.spawn`.
---@class perilune.task
---@access any
local task = {}

---Waits until the function has ended; returns its results, or raises its error.
---```lua
---print(perilune.spawn(function() return "done" end):wait())  --> done
---```
---@return any ...
---@waits until the task has ended
---@access outside blocks
---@raises cancelled: the task was cancelled; deadlock: the tasks would wait for each other; yield: it cannot wait here
function task:wait() end

---Cancels the function: its current wait raises an error of kind `cancelled`. Returns whether the function was running.
---```lua
---local task = perilune.spawn(function() perilune.sleep("1h") end)
---print(task:cancel(), task:status())  --> true	cancelled
---```
---@return boolean was_running
---@raises none
function task:cancel() end

---Returns the state of the function.
---```lua
---local task = perilune.spawn(function() perilune.sleep("1ms") end)
---print(task:status())  --> running
---task:wait()
---print(task:status())  --> done
---```
---@return "running"|"done"|"failed"|"cancelled"
---@raises none
function task:status() end
