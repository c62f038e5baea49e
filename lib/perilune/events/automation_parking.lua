--- Parking: determines whether a state can be closed until an automation is due or another program writes to the database.

local native_loop = require "perilune.native.loop"
local perilune = require "perilune"
local change_log = lazily "perilune.events.change_log"
local job_table = lazily "perilune.events.job_table"
local job_workers = lazily "perilune.events.job_workers"
local runs = require "perilune.events.automation_runs"

local automation_parking = {}

local epoch = perilune.date.from_unix(0)

--- The result of examining a state: whether it can be parked, and until when.
local Look = {}
Look.__index = Look

--- Adds a due time, as text from the database or in Unix seconds.
function Look:note_due(due)
  if type(due) == "string" then due = perilune.date(due) - epoch end
  if due then self.next_due = math.min(self.next_due or due, due) end
end

--- Adds an event source of the loop that is started again with the automations.
function Look:note_source(id)
  if id then self.sources[#self.sources + 1] = id end
end

--- Sets the reason why the state cannot be parked, unless there is an earlier one.
function Look:refuse(text, ...)
  self.reason = self.reason or text:format(...)
end

local function look_at_durable(look, self)
  local state, source = self.durable_state, self.source
  for _, name in ipairs{ "bell", "poll", "timer" } do look:note_source(state and state[name]) end
  if self.change_plan and source.observation then look:note_source(source.observation.source) end
  if runs.has_work(self.db, self.name, self.mode == "queued") then look:refuse('a run of "%s" is due or active', self.name) end
  if self.change_plan and change_log.has_unread(self.db, self.name) then look:refuse('"%s" has unread changes', self.name) end
  look:note_due(runs.next_wake(self.db, self.name))
end

local function look_at_automation(look, self)
  if not self.source then return end
  local kind = self.trigger_text:match("^%a+")
  if self.is_shared then return look:refuse('another process runs "%s" as well', self.name) end
  if self.db ~= perilune.database then return look:refuse('"%s" uses a database of its own', self.name) end
  if kind == "change" and not self.durable then return look:refuse('"%s" observes changes in memory', self.name) end
  if kind == "schedule" or kind == "every" then
    if kind == "every" and not self.next_due then return look:refuse('the period of "%s" is not recorded', self.name) end
    look:note_source(self.source.id)
    look:note_due(self.next_due)
  end
  if self.durable then look_at_durable(look, self) end
end

local function look_at_handler(look, handler)
  local queue = handler.queue
  if queue.db ~= perilune.database then return look:refuse('the queue "%s" is in another database', queue.name) end
  look:note_source(handler.bell)
  look:note_source(handler.timer)
  if job_workers.has_work(handler) then return look:refuse('a job of the queue "%s" is ready or running', queue.name) end
  look:note_due(job_table.next_due(queue.db, queue.name))
end

--- Examines the automations, job handlers and other event sources of this state, and the database. Uses a write transaction, so that
-- commits that any program has begun are complete and visible.
-- @tparam boolean is_active whether a run is active
-- @tparam number least the minimum number of seconds until the next due time that makes parking worthwhile
-- @treturn table `reason` (nil if the state can be parked) and `next_due` (Unix seconds)
function automation_parking.look(list, is_active, least)
  local look = setmetatable({ sources = {} }, Look)
  if is_active then look:refuse("a run is active") end
  if not look.reason then
    perilune.database:write(function()
      for _, self in ipairs(list) do look_at_automation(look, self) end
      for _, handler in ipairs(job_workers.all()) do look_at_handler(look, handler) end
    end)
  end
  local kind = native_loop.other_source(look.sources)
  if kind then look:refuse("a script has started %s %s", kind:find("^[aeiou]") and "an" or "a", kind) end
  if look.next_due and look.next_due - (perilune.now() - epoch) < least then look:refuse("an automation is due soon") end
  return { reason = look.reason, next_due = look.next_due and look.next_due + 0.0 }
end

--- Copies the write-ahead log into the database file, so that closing the last connection writes nothing.
function automation_parking.empty_log()
  pcall(perilune.database.checkpoint, perilune.database, "passive")
end

--- Stops the handlers of jobs without recording this in the database.
function automation_parking.suspend_handlers()
  for _, handler in ipairs(job_workers.all()) do job_workers.suspend(handler) end
end

return automation_parking
