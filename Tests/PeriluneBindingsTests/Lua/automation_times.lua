local perilune = perilune

local function remove_all()
  for _, automation in ipairs(perilune.automations()) do automation:remove() end
end

local function recorded(name)
  return db:fetch_one("SELECT * FROM perilune_schedule WHERE automation = ?", name)
end

--- Makes an automation look like one whose process ended some time ago.
local function leave(name, trigger, next_due)
  perilune.automation{ name = "probe", on = { event = "probe" }, run = function() end }:remove()
  db:execute([[INSERT INTO perilune_schedule(automation, trigger, is_enabled, next_due_at, started_at) VALUES (?, ?, 1, ?, '2000-01-01 00:00:00.000')]],
    { name, trigger, tostring(next_due) })
end

--- Returns the start of an hour, a number of hours from now.
local function hour(count)
  local now = math.floor(perilune.now().unix)
  return perilune.date.from_unix(now - now % 3600 + count * 3600)
end

local function outcomes(automation)
  local list = {}
  for index, run in ipairs(automation:runs(100)) do list[index] = run.outcome .. (run.reason and " (" .. run.reason .. ")" or "") end
  return list
end

test("a period keeps its phase when the automation is defined again", function()
  local calls = 0
  local function define() return perilune.automation{ name = "a", on = { every = "6s" }, run = function() calls = calls + 1 end } end
  -- Simulates a restarted service, whose table is kept.
  for _ = 1, 3 do
    local automation = define()
    perilune.sleep(5)
    db:execute("CREATE TEMP TABLE saved AS SELECT * FROM perilune_schedule")
    automation:remove()
    db:execute("INSERT INTO perilune_schedule SELECT * FROM saved; DROP TABLE saved")
  end
  local automation = define()
  perilune.sleep(0.1)
  equal(calls, 2)
  remove_all()
end)

test("a period that elapsed while no process was running causes one call and keeps its phase", function()
  leave("a", "every 10s", perilune.now() - 25)
  local seen = {}
  local automation = perilune.automation{ name = "a", on = { every = "10s" }, run = function(context)
    seen[#seen + 1] = { context.trigger.missed or 0, perilune.now() - perilune.date(context.trigger.due) }
  end }
  perilune.sleep(0.5)
  equal(#seen, 1)
  equal(seen[1][1], 3)
  perilune.sleep(5)
  equal(#seen, 2)
  assert(seen[2][2] < 0.1, seen[2][2])
  equal(outcomes(automation), { "succeeded", "succeeded" })
  remove_all()
end)

test("the next due time is recorded and can be queried", function()
  local automation = perilune.automation{ name = "a", on = { schedule = "0 * * * *" }, run = function() end }
  equal(recorded("a").next_due_at, tostring(hour(1)))
  equal(automation:next_time(), hour(1))
  local due = hour(1)
  perilune.sleep("1h")
  perilune.sleep("1m")
  local row = recorded("a")
  equal({ row.last_due_at, row.next_due_at, row.trigger }, { tostring(due), tostring(due + 3600), "schedule 0 * * * *" })
  automation:disable()
  equal({ recorded("a").next_due_at, recorded("a").is_enabled, automation:next_time() }, { nil, 0, nil })
  automation:remove()
  equal(recorded("a"), nil)
end)

test("due times that passed while no process was running are recorded as missed", function()
  leave("a", "schedule 0 * * * *", hour(-2))
  local calls = 0
  local automation = perilune.automation{ name = "a", on = { schedule = "0 * * * *" }, run = function() calls = calls + 1 end }
  perilune.sleep(0.1)
  equal({ calls, outcomes(automation) }, { 0, { ("skipped (3 due times were missed, the last at %s)"):format(hour(0)) } })
  remove_all()
end)

test("catch_up one runs the last missed due time once", function()
  leave("a", "schedule 0 * * * *", hour(-2))
  local seen = {}
  local automation = perilune.automation{ name = "a", on = { schedule = "0 * * * *", catch_up = "one" }, run = function(context)
    seen[#seen + 1] = { context.trigger.due, context.trigger.missed, context.trigger.is_late }
  end }
  perilune.sleep(0.1)
  equal(seen, { { tostring(hour(0)), 3, true } })
  equal(outcomes(automation), { "succeeded" })
  remove_all()
end)

test("catch_up all runs each missed due time in order", function()
  leave("a", "schedule 0 * * * *", hour(-3))
  local seen = {}
  local automation = perilune.automation{ name = "a", on = { schedule = "0 * * * *", catch_up = "all" }, run = function(context)
    perilune.sleep(1)
    seen[#seen + 1] = context.trigger.due
  end }
  perilune.sleep(0.1)
  equal(db:fetch_values("SELECT outcome FROM perilune_automation_run ORDER BY id"), { "running", "queued", "queued", "queued" })
  perilune.sleep(10)
  equal(seen, { tostring(hour(-3)), tostring(hour(-2)), tostring(hour(-1)), tostring(hour(0)) })
  remove_all()
end)

test("max_late skips due times that are later than the given duration", function()
  leave("a", "schedule 0 * * * *", hour(-3))
  local seen = {}
  local automation = perilune.automation{ name = "a", on = { schedule = "0 * * * *", catch_up = "all", max_late = "90m" }, run = function(context)
    seen[#seen + 1] = context.trigger.due
  end }
  perilune.sleep(0.1)
  local first = hour(-1)
  if perilune.now() - first > 5400 then first = hour(0) end
  equal(seen[1], tostring(first))
  matches(table.concat(outcomes(automation), " "), (first == hour(0) and 3 or 2) .. " due times were missed")
  remove_all()
end)

test("a due time that was recorded but not started before the process ended runs in the next process", function()
  perilune.automation{ name = "probe", on = { event = "probe" }, run = function() end }:remove()
  db:execute([[INSERT INTO perilune_automation_run(automation, trigger, started_at, attempts, outcome) VALUES ('a', ?, ?, 0, 'queued')]],
    { '{"kind":"schedule","due":"2000-01-01 00:00:00.000"}', tostring(perilune.now()) })
  local seen = {}
  local automation = perilune.automation{ name = "a", on = { schedule = "@yearly" }, run = function(context)
    seen[#seen + 1] = { context.trigger.due, context.attempt }
  end }
  perilune.sleep(0.1)
  equal(seen, { { "2000-01-01 00:00:00.000", 1 } })
  equal(automation:runs()[1].interruptions, 0)
  remove_all()
end)

test("a changed schedule neither repeats nor silently loses a due time", function()
  leave("a", "schedule 0 * * * *", hour(0))
  local calls = 0
  local automation = perilune.automation{ name = "a", on = { schedule = "30 3 * * *", catch_up = "one" }, run = function() calls = calls + 1 end }
  perilune.sleep(0.1)
  equal({ calls, outcomes(automation) }, { 0, { ('skipped (the due time %s was missed; the trigger was "schedule 0 * * * *" then)'):format(hour(0)) } })
  equal(recorded("a").trigger, "schedule 30 3 * * *")
  remove_all()
end)

test("if very many due times were missed, the last thousand are used", function()
  leave("a", "schedule * * * * *", perilune.now() - 400 * 86400)
  local automation = perilune.automation{ name = "a", on = { schedule = "* * * * *", catch_up = "one" }, run = function() end }
  perilune.sleep(0.1)
  local run = automation:runs()[1]
  equal(run.outcome, "succeeded")
  local trigger = perilune.json.decode(run.trigger)
  assert(trigger.missed > 20000 and perilune.now() - perilune.date(trigger.due) < 61)
  remove_all()
end)

test("jitter delays a call randomly but does not change the due time", function()
  local late = {}
  local automation = perilune.automation{ name = "a", on = { schedule = "0 * * * *", jitter = "10m" }, keep = 10, run = function(context)
    late[#late + 1] = perilune.now() - perilune.date(context.trigger.due)
  end }
  for _ = 1, 5 do perilune.sleep("1h") end
  perilune.sleep("15m")
  assert(#late >= 5, #late)
  local distinct = {}
  for _, seconds in ipairs(late) do
    assert(seconds >= 0 and seconds <= 600, seconds)
    distinct[seconds] = true
  end
  assert(next(distinct, next(distinct)))
  remove_all()
end)

--- Returns the due times of a schedule in a time zone, in UTC.
local function due_times(text, zone, from, count)
  local list = {}
  local distance = perilune.date(from) - perilune.now()
  if distance > 0 then perilune.sleep(distance) end
  local handle = perilune.schedule(text, function(due) list[#list + 1] = due:format("%m-%d %H:%M") end, { zone = zone })
  while #list < count do perilune.sleep("1h") end
  handle:cancel()
  return table.concat(list, " ", 1, count)
end

test("a schedule follows the clock changes of its time zone", function()
  -- Clocks move forward at 01:00 UTC on 2027-03-28 and back at 01:00 UTC on 2027-10-31.
  equal(due_times("30 2 * * *", "Europe/Vienna", "2027-03-27 00:00:00", 3), "03-27 01:30 03-28 01:00 03-29 00:30")
  equal(due_times("0 9 * * *", "Europe/Vienna", "2027-04-01 00:00:00", 2), "04-01 07:00 04-02 07:00")
  equal(due_times("30 2 * * *", "Europe/Vienna", "2027-10-29 23:00:00", 3), "10-30 00:30 10-31 00:30 11-01 01:30")
  -- Forward at 07:00 UTC on 2028-03-12, back at 06:00 UTC on 2028-11-05.
  equal(due_times("30 2 * * *", "America/New_York", "2028-03-11 00:00:00", 3), "03-11 07:30 03-12 07:00 03-13 06:30")
  equal(due_times("30 1 * * *", "America/New_York", "2028-11-04 00:00:00", 3), "11-04 05:30 11-05 05:30 11-06 06:30")
  equal(due_times("0 9 * * mon", "Asia/Tokyo", "2028-12-01 00:00:00", 2), "12-04 00:00 12-11 00:00")
end)

test("an automation uses the time zone of its schedule", function()
  local automation = perilune.automation{ name = "a", on = { schedule = "0 9 * * *", zone = "Asia/Tokyo" }, run = function() end }
  equal({ automation:next_time().hour, automation:next_time().minute }, { 0, 0 })
  equal(tostring(automation), "automation a (schedule 0 9 * * * Asia/Tokyo)")
  remove_all()
end)

test("invalid time options are refused", function()
  local function message(on, kind)
    return fails(kind or "argument", perilune.automation, { name = "x", run = function() end, on = on })
  end
  matches(message({ schedule = "@daily", zone = "Europe/Wien" }, "unknown_time_zone"), "no time zone `Europe/Wien`; did you mean `Europe/")
  matches(message({ schedule = "@daily", catch_up = "al" }, "unknown_catch_up"), "did you mean `all`?")
  matches(message{ schedule = "@daily", max_late = "soon" }, "option `on.max_late`: expected seconds")
  matches(message{ every = "5m", zone = "UTC" }, "option `on.zone` applies only to schedules")
  matches(message{ event = "e", catch_up = "one" }, "option `on.catch_up` applies only to schedules and periods")
  matches(message{ schedule = "@daily", zone = 3 }, "option `zone`: expected a string")
end)
