---@meta _
---@page Automations
---Functions that run when something happens: a change, a time, an event.
---
---Each run has limits of its own and is recorded in the table `perilune_automation_run`, from before its function starts. A run that fails does
---not stop others. The guide <doc:DurableAutomations> describes automations that survive the end of their process.
---
---The column `outcome` of a run is `queued`, `running` or `waiting` while it is active, and at the end `succeeded`, `failed`, `skipped`,
---`cancelled`, `interrupted` (its process ended before it) or `diverged` (a durable run whose function has changed). Further columns are
---`trigger` (JSON), `started_at`, `duration_ms`, `attempts`, `interruptions`, `wakes_at` (when a waiting run continues), `reason`, `error`,
---`traceback`, `output` (the last 64 KB or more that it has printed), `statements` (JSON) and `owner` (the process of an active run).
---The table `perilune_schedule` records which process runs which automation, and due times.

---@class perilune.automation_options
---@field name string
---@field description? string
---@field on perilune.automation_trigger what triggers it
---@field run fun(context: perilune.automation_context)
---@field when? fun(context: perilune.automation_context): boolean? a guard: the run is skipped unless it returns true
---@field mode? "single"|"restart"|"queued"|"parallel" what a trigger does during a run; `"single"`, the default, skips it
---@field max? integer how many runs wait, or run side by side; 10 by default
---@field retry? integer|{ times?: integer, wait?: perilune.duration, factor?: number } whether a failed run is tried again; as a table three times, after 1 second, then twice as long each time
---@field keep? integer how many finished runs are recorded, and how many skipped ones; 100 by default
---@field interrupted? "fail"|"rerun"|fun(context: perilune.automation_context, interruption: perilune.interruption): "rerun"? what happens to a run whose process has ended; `"fail"`, the default, ends it as `interrupted`
---@field on_failure? fun(context: perilune.automation_context, failure: perilune.automation_failure) called after a run has failed for good or was interrupted
---@field durable? boolean whether triggers and runs survive the end of the process; false by default
---@field key? fun(run: perilune.durable_run): string|integer of a durable automation: the key of a run, for `perilune.signal`; by default the key of the row that has changed, or the id of the run
---@field on_code_change? "continue"|"restart"|"stop" of a durable automation: what happens to a run that another version of the function has begun; `"continue"` by default
---@field enabled? boolean true by default
---@field db? perilune.database the default database unless given

---Exactly one of `change`, `schedule`, `every` and `event`.
---@class perilune.automation_trigger
---@field change? string|perilune.record_class|perilune.request|(string|perilune.record_class)[]|fun(db: perilune.database): ... tables, or what is fetched
---@field initially? boolean whether the first result of a request or function triggers; false by default
---@field poll? perilune.duration how often to check whether another process has written
---@field schedule? string as for `perilune.at`
---@field zone? string the time zone of the schedule, such as `"Europe/Vienna"`; by default that of the process
---@field jitter? perilune.duration the longest random delay after a due time of the schedule
---@field every? perilune.duration of a second or more, it continues where it was when the process ended
---@field catch_up? "skip"|"one"|"all" what happens to due times that passed while nothing ran the automation: they are recorded as skipped, the last one counts for all, or each of them comes; `"skip"` for schedules and `"one"` for periods by default
---@field max_late? perilune.duration due times that are later are skipped
---@field event? string the name that `perilune.emit` is given

---What the functions of an automation get.
---@class perilune.automation_context
---@field automation perilune.automation
---@field trigger { kind: "change"|"schedule"|"every"|"event"|"manual", tables?: string[], due?: string, missed?: integer, is_late?: boolean, name?: string, data?: any }
---@field attempt integer 1, and more if the run is tried again
---@field is_rerun boolean? whether the process of an earlier attempt has ended
---@field db perilune.database
---@field value any what a request or function has fetched
---@field values table all its results, with a field `n`
---@field event any the data of `perilune.emit` or `automation:run`

---What the function in `interrupted` gets.
---@class perilune.interruption
---@field attempts integer
---@field interruptions integer how often the process of the run has ended
---@field started_at perilune.date
---@field error string? of the last attempt that failed

---What `on_failure` gets.
---@class perilune.automation_failure
---@field outcome "failed"|"interrupted"|"diverged"
---@field error any
---@field reason string?
---@field attempts integer
---@field traceback string?

---Defines an automation, which is live from then on.
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
function perilune.automation(options) end

---Returns the automations in the order of their definition.
---```lua
---print(#perilune.automations())  --> 0
---```
---@return perilune.automation[]
---@raises none
---@access any
function perilune.automations() end

---Triggers the automations that wait for an event; returns how many. Runs of durable automations are recorded in the open transaction, also for
---automations that another process runs.
---```lua
---print(perilune.emit("order_placed", { id = 7 }))  --> 0
---```
---@param name string
---@param data? any
---@return integer
---@raises argument: `name` is not a string
---@access any
function perilune.emit(name, data) end

---Sends a signal to the run of a durable automation that has a key: to its `run:wait_for`, whether it waits already or will do so. The signal
---is part of the open transaction.
---```lua
---print(perilune.signal("close order", 7, "feedback", { stars = 5 }))  --> false
---```
---@param automation string its name
---@param key string|integer the key of the run
---@param name string
---@param value? any what JSON can express
---@return boolean is_awaited whether a run with the key waits for a signal now
---@raises argument: an argument is not valid
---@access outside blocks that only read
function perilune.signal(automation, key, name, value) end

---What the function of a durable automation gets: a context with more methods.
---
---The function is executed again after each wait and each crash; steps that are done are not, but answered from what they have recorded. So it
---must take its steps in the same order each time. The clock, random numbers and UUIDs give the same values each time.
---@class perilune.durable_run : perilune.automation_context
---@access in the function of a durable automation, outside blocks and steps
---@field id integer
---@field key string
local run = {}

---Calls a function in a transaction that also records its result. It runs once; if it raises, its writes are rolled back.
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
---@param f fun(db: perilune.database): any must not wait; its result must be what JSON can express, of at most 1 MB
---@param options? { undo?: fun(db: perilune.database) } `undo` is called if the run fails for good, for the last step first
---@return any ... what `f` has returned
---@raises usage: the name was used before, or the call is in a block or a step; argument: an argument or the result is not valid; diverged: another step was recorded at this point
function run:step(name, f, options) end

---Calls a function with effects outside of the database. It is called at least once, and each time with the same key. That it is called is
---recorded before, its result afterwards.
---```lua
---local automation = perilune.automation{
---  name = "charge", durable = true, on = { event = "ordered" },
---  run = function(run)
---    run:call("charge", { key = "charge " .. run.event.id, retry = { times = 5, wait = "2s" } }, function(key, info)
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

---Waits. The run is not in memory meanwhile, and survives the end of the process.
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

---Waits for a signal, see `perilune.signal`. The run is not in memory meanwhile.
---```lua
---local automation = perilune.automation{
---  name = "ask", durable = true, on = { event = "ordered" }, key = function(run) return run.event.id end,
---  run = function(run)
---    local answer, has_come = run:wait_for("feedback", { timeout = "14 days" })
---    print(has_come and answer.stars or "no answer")
---  end,
---}
---perilune.emit("ordered", { id = 7 })
---perilune.sleep("1 hour")
---perilune.signal("ask", 7, "feedback", { stars = 5 })
---perilune.sleep("1s")  --> 5
---automation:remove()
---```
---@param name string
---@param options? { timeout?: perilune.duration }
---@return any value nil after the timeout
---@return boolean has_come
---@raises usage: the call is in a block or a step; argument: the timeout is not valid; diverged: another step was recorded at this point
---@waits for the signal
function run:wait_for(name, options) end

---Executes functions side by side, each with steps of its own, and waits for all of them.
---```lua
---local automation = perilune.automation{
---  name = "both", durable = true, on = { event = "ordered" },
---  run = function(run)
---    local results = run:all{
---      stock = function(run) return run:step("reserve", function() return "reserved" end) end,
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

---What `perilune.automation` returns.
---@class perilune.automation
---@access any
---@field name string
---@field description string?
local automation = {}

---Runs the automation now, including its guard.
---```lua
---local automation = perilune.automation{
---  name = "report", on = { schedule = "@daily" }, run = function(context) print(context.event) end,
---}
---automation:run("now")
---perilune.sleep("20ms")  --> now
---automation:remove()
---```
---@param data? any `context.event`
---@raises usage: the automation has been removed
function automation:run(data) end

---Returns the last runs, newest first, as rows of `perilune_automation_run`.
---```lua
---local automation = perilune.automation{ name = "report", on = { every = "1h" }, run = function() end }
---automation:run()
---perilune.sleep("50ms")
---print(automation:runs()[1].outcome)  --> succeeded
---automation:remove()
---```
---@param count? integer 20 by default
---@return perilune.row[] runs with the columns above
---@raises argument: `count` is not a number
function automation:runs(count) end

---Triggers the automation again after `disable`.
---```lua
---local automation = perilune.automation{ name = "report", on = { every = "1h" }, run = function() end }
---automation:disable()
---automation:enable()
---print(automation:is_enabled())  --> true
---automation:remove()
---```
---@raises none
function automation:enable() end

---Stops triggering the automation. A run that has begun goes on.
---```lua
---local automation = perilune.automation{ name = "report", on = { every = "1h" }, run = function() end }
---automation:disable()
---print(automation:is_enabled())  --> false
---automation:remove()
---```
---@raises none
function automation:disable() end

---Returns whether the automation is triggered.
---```lua
---local automation = perilune.automation{ name = "report", on = { every = "1h" }, run = function() end }
---print(automation:is_enabled())  --> true
---automation:remove()
---```
---@return boolean
---@raises none
function automation:is_enabled() end

---Returns whether a run is going on.
---```lua
---local automation = perilune.automation{ name = "report", on = { every = "1h" }, run = function() end }
---print(automation:is_running())  --> false
---automation:remove()
---```
---@return boolean
---@raises none
function automation:is_running() end

---Returns when the automation is due next; nil if it does not come at a time, or is not triggered.
---```lua
---local automation = perilune.automation{ name = "report", on = { schedule = "0 9 * * *", zone = "UTC" }, run = function() end }
---print(automation:next_time().hour)  --> 9
---automation:remove()
---```
---@return perilune.date?
---@raises none
function automation:next_time() end

---Removes the automation, and cancels what runs.
---```lua
---local automation = perilune.automation{ name = "report", on = { every = "1h" }, run = function() end }
---automation:remove()
---print(#perilune.automations())  --> 0
---```
---@raises none
function automation:remove() end
