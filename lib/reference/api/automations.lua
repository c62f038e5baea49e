---@meta _
---@page Automations
---Functions that run when something happens: a change, a time, an event.
---
---Each run has limits of its own and is recorded in the table `perilune_automation_run`. A run that fails does not stop others.

---@class perilune.automation_options
---@field name string
---@field description? string
---@field on perilune.automation_trigger what triggers it
---@field run fun(context: perilune.automation_context)
---@field when? fun(context: perilune.automation_context): boolean? a guard: the run is skipped unless it returns true
---@field mode? "single"|"restart"|"queued"|"parallel" what a trigger does during a run; `"single"`, the default, skips it
---@field max? integer how many runs wait, or run side by side; 10 by default
---@field retry? integer|{ times?: integer, wait?: perilune.duration, factor?: number } whether a failed run is tried again; as a table three times, after 1 second, then twice as long each time
---@field keep? integer how many runs are recorded; 100 by default
---@field enabled? boolean true by default
---@field db? perilune.database the default database unless given

---Exactly one of `change`, `schedule`, `every` and `event`.
---@class perilune.automation_trigger
---@field change? string|perilune.record_class|perilune.request|(string|perilune.record_class)[]|fun(db: perilune.database): ... tables, or what is fetched
---@field initially? boolean whether the first result of a request or function triggers; false by default
---@field poll? perilune.duration how often to check whether another process has written
---@field schedule? string as for `perilune.at`
---@field every? perilune.duration
---@field event? string the name that `perilune.emit` is given

---What the functions of an automation get.
---@class perilune.automation_context
---@field automation perilune.automation
---@field trigger { kind: "change"|"schedule"|"every"|"event"|"manual", tables?: string[], due?: string, name?: string, data?: any }
---@field db perilune.database
---@field value any what a request or function has fetched
---@field values table all its results, with a field `n`
---@field event any the data of `perilune.emit` or `automation:run`

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

---Triggers the automations that wait for an event; returns how many.
---```lua
---print(perilune.emit("order_placed", { id = 7 }))  --> 0
---```
---@param name string
---@param data? any
---@return integer
---@raises argument: `name` is not a string
---@access any
function perilune.emit(name, data) end

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
---@return perilune.row[] runs with `started_at`, `duration_ms`, `attempts`, `outcome`, `reason`, `error`, `statements` and `trigger`
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

---Removes the automation, and cancels what runs.
---```lua
---local automation = perilune.automation{ name = "report", on = { every = "1h" }, run = function() end }
---automation:remove()
---print(#perilune.automations())  --> 0
---```
---@raises none
function automation:remove() end
