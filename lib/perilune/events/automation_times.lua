--- Time triggers of automations: `schedule` and `every`. Due times are recorded, so that times missed between two processes are detected.

local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local perilune = require "perilune"
local schedule = require "perilune.events.schedule"
local automation_table = require "perilune.events.automation_table"
local read_seconds = require("perilune.runtime.durations").read

local automation_times = {}

--- The maximum number of missed due times that are handled individually. Earlier ones are recorded together as one skipped run.
local most_missed = 1000
--- The due times of shorter periods are not recorded. Such a period begins again when the program starts.
local least_recorded_period = 1.0
--- The maximum number of missed due times that are counted individually, starting with the first. If there are more, only due times within
-- the last day are added.
local most_counted = 20000

local catch_up_words = { "all", "one", "skip" }

local epoch = perilune.date.from_unix(0)

--- Returns a date in Unix seconds, with fractions.
local function seconds_of(date)
  return date - epoch
end

local function text_of(due)
  return tostring(epoch + due)
end

--- Reads the options for missed due times.
local function read_catch_up(place, options, default)
  local catch_up = options.catch_up or default
  local is_known = false
  for _, word in ipairs(catch_up_words) do is_known = is_known or word == catch_up end
  if not is_known then errors.raise_unknown("catch_up", tostring(catch_up), catch_up_words) end
  return catch_up, options.max_late and read_seconds(place .. ": option `on.max_late`", options.max_late)
end

--- Records due times, in the open transaction, unless another process runs the automation as well: its due times are recorded.
local function record_due(handle, host, last, next_due)
  if host.automation.is_shared then return end
  automation_table.set_due(handle, host.name, last, next_due and epoch + next_due)
end

--- Handles a due time: starts a run, and records this due time and the next one in the same transaction.
-- @tparam table host the required parts of the automation: automation, name, db, former, skip, set_next
local function fire(host, on_due, trigger, next_due, waits)
  host.set_next(next_due)
  on_due(trigger, nil, {
    waits = waits,
    record = function(handle) record_due(handle, host, perilune.date(trigger.due), next_due) end,
  })
end

--- Records the next due time without starting a run.
local function record_next(host, next_due)
  host.set_next(next_due)
  if perilune.context == "preview" or host.automation.is_shared then return end
  pcall(host.db.write, host.db, function(handle) record_due(handle, host, nil, next_due) end)
end

local function add_times(list, count, due, now, most, next_after)
  while due and due <= now and count < most do
    list[count % most_missed + 1] = due
    count, due = count + 1, next_after(due)
  end
  return count, due and due <= now
end

--- Returns the due times that were missed while no process ran the automation.
-- @tparam function next_after returns the next due time after a given time
-- @treturn {number,...} the most recent ones, at most `most_missed`
-- @treturn integer their number, or a lower bound of it
local function missed_times(first, now, next_after)
  local list = {}
  local count, are_more = add_times(list, 0, first, now, most_counted, next_after)
  if are_more then count = add_times(list, count, next_after(now - 86400), now, math.huge, next_after) end
  table.sort(list)
  return list, count
end

--- Starts runs for missed due times as specified by the options, and records the other ones as skipped.
local function catch_up(host, plan, first, now, on_due, next_due)
  local list, count = missed_times(first, now, plan.next_after)
  if count == 0 then return end
  local wanted = plan.catch_up == "all" and #list or plan.catch_up == "one" and 1 or 0
  local begin = #list - wanted + 1
  while begin <= #list and plan.max_late and now - list[begin] > plan.max_late do begin = begin + 1 end
  local left_out = count - (#list - begin + 1)
  -- A single run makes up for all missed due times, so none is skipped.
  if left_out > 0 and not (plan.catch_up == "one" and begin <= #list) then
    local last = text_of(list[begin - 1] or list[#list])
    local text = left_out == 1 and "the due time %s was missed" or left_out .. " due times were missed, the last at %s"
    host.skip({ kind = plan.kind, due = last, missed = left_out }, text:format(last))
  end
  for index = begin, #list do
    local missed = plan.catch_up == "one" and count or nil
    fire(host, on_due, { kind = plan.kind, due = text_of(list[index]), missed = missed, is_late = true }, next_due, true)
  end
end

--- Returns the recorded next due time in Unix seconds, unless the automation's trigger has changed since. In that case, records the due
-- time as missed if it has passed.
local function recorded_due(host)
  local former = host.former
  if not former or not former.next_due_at then return nil end
  local due = seconds_of(perilune.date(former.next_due_at))
  if former.trigger == host.trigger_text then return due end
  if due <= seconds_of(perilune.now()) then
    host.skip({ kind = former.trigger:match("^%a+"), due = former.next_due_at },
      ('the due time %s was missed; the trigger was "%s" then'):format(former.next_due_at, former.trigger))
  end
end

-- Schedules -------------------------------------------------------------------------------------------------------------------

function automation_times.read_schedule(place, options)
  local parsed = schedule.read(place .. ": option `on.schedule`", options.schedule, options.zone)
  local jitter = options.jitter and read_seconds(place .. ": option `on.jitter`", options.jitter)
  local policy, max_late = read_catch_up(place, options, "skip")
  local plan = {
    kind = "schedule", catch_up = policy, max_late = max_late,
    next_after = function(moment) return schedule.next_time(parsed, moment) end,
  }
  local text = "schedule " .. parsed.text .. (parsed.zone and " " .. parsed.zone or "")
  return text, function(_, on_due, _, host)
    local now, due = os.time(), recorded_due(host)
    -- If a parked state was opened again because of a due time, this time does not count as missed, however late it is.
    local first = due and host.is_resumed and due <= now and due // 1 | 0 or nil
    if due and not first then catch_up(host, plan, due // 1 | 0, now, on_due, plan.next_after(now)) end
    local handle
    handle = schedule.start(parsed, function(due_date)
      local late = os.time() - math.floor(due_date.unix) - (jitter or 0)
      if max_late and late > max_late then
        record_next(host, handle.due)
        return host.skip({ kind = "schedule", due = tostring(due_date) }, ("the due time %s came %d seconds late"):format(due_date, late // 1))
      end
      fire(host, on_due, { kind = "schedule", due = tostring(due_date) }, handle.due)
    end, jitter, first)
    record_next(host, handle.due)
    return handle
  end
end

-- Periods ---------------------------------------------------------------------------------------------------------------------

--- A timer with a period that continues from the recorded due time.
local Period = {}
Period.__index = Period

function Period:cancel()
  return self.id ~= nil and native_loop.stop(self.id)
end

local function arm(self, seconds, f, is_due)
  self.id = native_loop.start_timer(seconds, nil, f, true, is_due)
end

function automation_times.read_every(place, options)
  local seconds = read_seconds(place .. ": option `on.every`", options.every, 0.001)
  local text = "every " .. (type(options.every) == "string" and options.every or ("%gs"):format(seconds))
  local policy, max_late = read_catch_up(place, options, "one")
  if seconds < least_recorded_period then
    return text, function(_, on_due)
      return perilune.every(seconds, function() on_due{ kind = "every" } end)
    end
  end
  local plan = {
    kind = "every", catch_up = policy, max_late = max_late,
    next_after = function(moment) return moment + seconds end,
  }
  return text, function(_, on_due, _, host)
    local period = setmetatable({}, Period)
    local function tick(due)
      local now = seconds_of(perilune.now())
      -- Several missed calls are combined into one. If the clock has been set, the period begins again.
      local next_due = due + seconds >= now and due + seconds - now <= seconds and due + seconds or now + seconds
      arm(period, next_due - now, function() tick(next_due) end)
      fire(host, on_due, { kind = "every", due = text_of(due) }, next_due)
    end
    local now, due = seconds_of(perilune.now()), recorded_due(host)
    if due and due - now > seconds then due = nil end
    local next_due = due or now + seconds
    if next_due <= now and not host.is_resumed then
      next_due = due + (math.floor((now - due) / seconds) + 1) * seconds
      catch_up(host, plan, due, now, on_due, next_due)
    end
    arm(period, math.max(next_due - now, 0.0), function() tick(next_due) end, host.is_resumed and next_due <= now)
    record_next(host, next_due)
    return period
  end
end

return automation_times
