---@meta _
---@page Automations
---Functions that run when something happens: a change, a time, an event.
---
---Each run has its own limits, and is recorded in the table `perilune_automation_run` before its function starts. A failed run does not
---stop others. The guide <doc:DurableAutomations> describes automations that survive the end of their process.
---
---The column `outcome` of a run is `queued`, `running` or `waiting` while the run is active. At the end it is `succeeded`, `failed`,
---`skipped`, `cancelled`, `interrupted` (its process ended before it) or `diverged` (a durable run whose function has changed). Further
---columns are `id`, `automation` (its name), `trigger` (JSON), `started_at`, `duration_ms`, `attempts`, `interruptions`, `wakes_at` (when
---a waiting run continues), `reason`, `error`, `traceback`, `output` (at least the last 64 KB of its printed text), `statements` (JSON)
---and `owner` (the process of an active run). The table `perilune_schedule` records due times, and which process runs each automation.

---@class perilune.automation_options
---@field name string
---@field description? string
---@field on perilune.automation_trigger the trigger
---@field run fun(context: perilune.automation_context)
---@field when? fun(context: perilune.automation_context): boolean? a guard: the run is skipped unless it returns true
---@field mode? "single"|"restart"|"queued"|"parallel" the effect of a trigger during a run; `"single"`, the default, skips the new run
---@field max? integer the maximum number of runs that wait or run concurrently; 10 by default
---@field retry? integer|{ times?: integer, wait?: perilune.duration, factor?: number } how often a failed run is retried; a table defaults to three retries, the first after 1 second and each further one after twice the delay
---@field keep? integer the number of finished runs, and of skipped runs, to keep; 100 by default
---@field interrupted? "fail"|"rerun"|fun(context: perilune.automation_context, interruption: perilune.interruption): "rerun"? the treatment of a run whose process has ended; `"fail"`, the default, ends it as `interrupted`
---@field on_failure? fun(context: perilune.automation_context, failure: perilune.automation_failure) called after a run has failed permanently or was interrupted
---@field durable? boolean whether triggers and runs survive the end of the process; false by default
---@field key? fun(run: perilune.durable_run): string|integer for a durable automation: the key of a run, for `perilune.signal`, such as `"order " .. run.value.id`; `run.id`, the number of the run, raises in it after a change or an event; called when the run starts, whatever triggered it, and then recorded; `run.value` is nil if the row is deleted; if it returns nil, and by default, the key of the changed row, or the id of the run
---@field on_code_change? "continue"|"restart"|"stop" for a durable automation: the treatment of a run that an older version of the function started; `"continue"` by default
---@field enabled? boolean true by default
---@field db? perilune.database the default database unless given

---Exactly one of `change`, `schedule`, `every` and `event`.
---@class perilune.automation_trigger
---@field change? string|perilune.record_class|perilune.request|(string|perilune.record_class)[]|fun(db: perilune.database): ... tables, or a request or function to observe; schema changes are not triggers
---@field initially? boolean whether the first result of a request or function is a trigger; false by default
---@field poll? perilune.duration how often to check whether another process has written
---@field schedule? string as for `perilune.schedule`
---@field zone? string the time zone of the schedule, such as `"Europe/Vienna"`; by default the time zone of the process
---@field jitter? perilune.duration the longest random delay after a due time of the schedule
---@field every? perilune.duration a period; one of a second or more continues when the process starts again
---@field catch_up? "skip"|"one"|"all" the treatment of due times that passed while no process ran the automation: `"skip"` records them as skipped, `"one"` runs once for all of them, and `"all"` runs for each; by default `"skip"` for schedules and `"one"` for periods
---@field max_late? perilune.duration later due times are skipped
---@field event? string the event name, as passed to `perilune.emit`

---The context passed to the functions of an automation.
---@class perilune.automation_context
---@field automation perilune.automation
---@field trigger { kind: "change"|"schedule"|"every"|"event"|"manual", tables?: string[], table?: string, operation?: "insert"|"update"|"delete", due?: string, missed?: integer, is_late?: boolean, name?: string, data?: any } the cause of the run; `due` is text, and `perilune.date(due)` the date
---@field attempt integer the number of the attempt, from 1
---@field is_rerun boolean? whether the process of an earlier attempt has ended
---@field db perilune.database
---@field value any the result of a request or function
---@field values table all results, with a field `n`
---@field event any the data of `perilune.emit` or `automation:run`

---The interruption, passed to the function in `interrupted`.
---@class perilune.interruption
---@field attempts integer
---@field interruptions integer how often the process of the run has ended
---@field started_at perilune.date
---@field error string? of the last attempt that failed

---The failure, passed to `on_failure`.
---@class perilune.automation_failure
---@field outcome "failed"|"interrupted"|"diverged"
---@field error any
---@field reason string?
---@field attempts integer
---@field traceback string?

---Defines an automation and activates it.
---```lua
---local automation = perilune.automation{
---  name = "welcome",
---  on = { event = "signed_up" },
---  run = function(context) print("welcome, " .. context.event.name) end,
---}
---perilune.emit("signed_up", { name = "Ada" })
---perilune.sleep("20ms")  --> welcome, Ada
---automation:remove()
---```
---@param options perilune.automation_options
---@return perilune.automation
---@raises argument: an option is not valid; definition: another automation has this name; unknown_table: the table does not exist
---@access outside blocks
---@module events.automation
function perilune.automation(options) end

---Returns the automations in order of definition.
---```lua
---print(#perilune.automations())  --> 0
---```
---@return perilune.automation[]
---@raises none
---@access any
---@module events.automation
function perilune.automations() end

---Triggers the automations that wait for an event, and returns their number.
---
---An automation receives only the events of its own process, unless it is durable. Runs of durable automations are recorded in the open
---transaction, even for automations that another process runs.
---```lua
---print(perilune.emit("order_placed", { id = 7 }))  --> 0
---```
---@param name string
---@param data? any
---@return integer
---@raises argument: `name` is not a string
---@access any
---@module events.automation events.automation_triggers
function perilune.emit(name, data) end

---Sends a signal to the run of a durable automation with a given key. Its `run:wait_for` receives the signal, whether it already waits or
---waits later. The signal is part of the open transaction.
---```lua
---print(perilune.signal("close order", 7, "feedback", { stars = 5 }))
-----> false
---```
---@param automation string its name
---@param key string|integer the key of the run
---@param name string
---@param value? any a value that JSON can express
---@return boolean is_awaited whether a run with the key waits for a signal now
---@raises argument: an argument is not valid
---@access outside blocks that only read
---@module events.durable_runs
function perilune.signal(automation, key, name, value) end

---The context passed to the function of a durable automation, with more methods.
---
---The function runs again from the start after each wait and each crash. Completed steps do not run again, but return their recorded
---results, so the function must take its steps in the same order each time. The clock, random numbers and UUIDs give the same values each
---time.
---@class perilune.durable_run : perilune.automation_context
---@access in the function of a durable automation, outside blocks and steps
---@field id integer
---@field key string
local run = {}

---Calls a function in a transaction that also records its result. It runs once; if it raises an error, its writes are rolled back.
---```lua
---local automation = perilune.automation{
---  name = "reserve", durable = true, on = { event = "ordered" },
---  run = function(run)
---    local left = run:step("reserve", function(db)
---      db:execute("UPDATE book SET pages = pages - 1 WHERE id = 1")
---      return db:fetch_value("SELECT pages FROM book WHERE id = 1")
---    end)
---    print("left", left)
---  end,
---}
---perilune.emit("ordered")
---perilune.sleep("1s")  --> left	325
---automation:remove()
---```
---@param name string unique in the run
---@param f fun(db: perilune.database): any must not wait; its result must be a value that JSON can express, of at most 1 MB
---@param options? { undo?: fun(db: perilune.database) } `undo` is called if the run fails permanently, in reverse order of the steps
---@return any ... the results of `f`
---@raises usage: the name was used before, or the call is in a block or a step; argument: an argument or the result is not valid; diverged: another step was recorded at this point
function run:step(name, f, options) end

---Calls a function with effects outside of the database. It is called at least once, and each time with the same key. The run records the
---call before it happens, and its result afterwards.
---```lua
---local automation = perilune.automation{
---  name = "charge", durable = true, on = { event = "ordered" },
---  run = function(run)
---    local options = {
---      key = "charge " .. run.event.id,
---      retry = { times = 5, wait = "2s" },
---    }
---    run:call("charge", options, function(key, info)
---      print(key, info.attempt, info.is_repeat)
---    end)
---  end,
---}
---perilune.emit("ordered", { id = 7 })
---perilune.sleep("1s")  --> charge 7	1	false
---automation:remove()
---```
---@param name string unique in the run
---@param options? { key?: string|integer, retry?: integer|{ times?: integer, wait?: perilune.duration, factor?: number }, undo?: fun(db: perilune.database) } `key`: by default the automation, the id of the run and the name
---@param f fun(key: string, info: { attempt: integer, is_repeat: boolean }): any
---@return any result
---@raises usage: the name was used before, or the call is in a block or a step; argument: an argument or the result is not valid; diverged: another step was recorded at this point
---@waits for `f`, which may wait
function run:call(name, options, f) end

---Waits for a duration. In the meantime the run is not in memory, and it survives the end of the process.
---```lua
---local automation = perilune.automation{
---  name = "remind", durable = true, on = { event = "ordered" },
---  run = function(run)
---    run:sleep("3 days")
---    print("how was it?")
---  end,
---}
---perilune.emit("ordered")
---perilune.sleep("4 days")  --> how was it?
---automation:remove()
---```
---@param duration perilune.duration
---@raises usage: the call is in a block or a step; argument: the duration is not valid; diverged: another step was recorded at this point
---@waits for the duration
function run:sleep(duration) end

---Waits for a signal, see `perilune.signal`. In the meantime the run is not in memory. A run may wait for the same signal several times: each
---wait receives one signal, the oldest first, and one that arrives after a timeout is received by the next wait.
---```lua
---local automation = perilune.automation{
---  name = "ask",
---  durable = true,
---  on = { event = "ordered" },
---  key = function(run) return run.event.id end,
---  run = function(run)
---    local answer, has_come = run:wait_for("feedback", {
---      timeout = "14 days",
---    })
---    print(has_come and answer.stars or "no answer")
---  end,
---}
---perilune.emit("ordered", { id = 7 })
---perilune.sleep("1 hour")
---perilune.signal("ask", 7, "feedback", { stars = 5 })
---perilune.sleep("1s")  --> 5
---automation:remove()
---```
---@param name string the name of the signal; no step or call of the run may have it
---@param options? { timeout?: perilune.duration }
---@return any value nil after the timeout
---@return boolean has_come
---@raises usage: the call is in a block or a step; argument: the timeout is not valid; diverged: another step was recorded at this point
---@waits for the signal
function run:wait_for(name, options) end

---Executes functions concurrently, each with its own steps, and waits for all of them.
---```lua
---local automation = perilune.automation{
---  name = "both", durable = true, on = { event = "ordered" },
---  run = function(run)
---    local results = run:all{
---      stock = function(run)
---        return run:step("reserve", function() return "reserved" end)
---      end,
---      mail = function(run) run:sleep("1 hour") return "sent" end,
---    }
---    print(results.stock, results.mail)
---  end,
---}
---perilune.emit("ordered")
---perilune.sleep("2 hours")  --> reserved	sent
---automation:remove()
---```
---@param branches table<string, fun(run: perilune.durable_run): any>
---@return table<string, any> results
---@raises usage: the call is in a branch, a block or a step; argument: the branches are not functions by name
---@waits for the branches
function run:all(branches) end

---An automation, made by `perilune.automation`.
---@class perilune.automation
---@access any
---@field name string
---@field description string?
local automation = {}

---Runs the automation now, including its guard.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { schedule = "@daily" },
---  run = function(context) print(context.event) end,
---}
---automation:run("now")
---perilune.sleep("20ms")  --> now
---automation:remove()
---```
---@param data? any `context.event`
---@raises usage: the automation has been removed
function automation:run(data) end

---Returns the latest runs, newest first, as rows of `perilune_automation_run`.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:run()
---perilune.sleep("50ms")
---print(automation:runs()[1].outcome)  --> succeeded
---automation:remove()
---```
---@param count? integer 20 by default
---@return perilune.row[] runs with the columns described above
---@raises argument: `count` is not a number
function automation:runs(count) end

---Enables the automation again after `disable`.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:disable()
---automation:enable()
---print(automation:is_enabled())  --> true
---automation:remove()
---```
---@raises none
function automation:enable() end

---Stops triggering the automation in this process. A run that has started continues.
---
---A service that runs the same automation continues to do so; a warning in the log names it. To disable the automation there, set
---`enabled = false` in its definition: the service reloads its file.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:disable()
---print(automation:is_enabled())  --> false
---automation:remove()
---```
---@raises none
function automation:disable() end

---Returns whether the automation is enabled.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---print(automation:is_enabled())  --> true
---automation:remove()
---```
---@return boolean
---@raises none
function automation:is_enabled() end

---Returns whether a run is active.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---print(automation:is_running())  --> false
---automation:remove()
---```
---@return boolean
---@raises none
function automation:is_running() end

---Returns the next due time; nil if the automation does not run at times, or is disabled.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { schedule = "0 9 * * *", zone = "UTC" },
---  run = function() end,
---}
---print(automation:next_time().hour)  --> 9
---automation:remove()
---```
---@return perilune.date?
---@raises none
function automation:next_time() end

---Removes the automation, and cancels its runs. Durable runs that wait stay in the database; they continue once an automation of that name
---is defined again.
---```lua
---local automation = perilune.automation{
---  name = "report",
---  on = { every = "1h" },
---  run = function() end,
---}
---automation:remove()
---print(#perilune.automations())  --> 0
---```
---@raises none
function automation:remove() end
