local perilune = perilune

--- Waits until a condition holds.
local function wait_for(condition)
  for _ = 1, 2000 do
    if condition() then return end
    perilune.sleep(0.002)
  end
  error("it has not happened", 2)
end

local function remove_all()
  for _, automation in ipairs(perilune.automations()) do automation:remove() end
end

local dead_owner = "nowhere nothing 1 1 1 1"

--- An owner on this machine whose process has ended.
local function owner_of_ended_process()
  local parts = {}
  for part in db:fetch_value("SELECT owner FROM perilune_automation_run WHERE owner IS NOT NULL"):gmatch("%S+") do parts[#parts + 1] = part end
  parts[5] = "1"
  return table.concat(parts, " ")
end

--- Makes a run look like one whose process was killed.
local function leave_run(name, outcome, fields)
  local probe = perilune.automation{ name = "probe", on = { event = "probe" }, run = function() perilune.sleep(1) end }
  perilune.emit("probe")
  perilune.sleep(0.1)
  local owner = owner_of_ended_process()
  probe:remove()
  perilune.sleep(0.1)
  fields = fields or {}
  db:execute([[
    INSERT INTO perilune_automation_run(automation, trigger, started_at, attempts, outcome, owner, wakes_at, error, traceback, interruptions)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)]], {
    name, fields.trigger or '{"kind":"event","name":"e","data":{"id":7}}', tostring(perilune.now()), fields.attempts or 1, outcome, owner,
    fields.wakes_at and tostring(fields.wakes_at) or perilune.null, fields.error or perilune.null, fields.traceback or perilune.null,
    fields.interruptions or 0 })
end

test("a run is recorded before its function starts", function()
  local seen
  local automation = perilune.automation{ name = "a", on = { event = "e" }, run = function()
    seen = db:fetch_one("SELECT * FROM perilune_automation_run")
  end }
  perilune.emit("e", 5)
  wait_for(function() return seen end)
  equal({ seen.automation, seen.outcome, seen.attempts, seen.duration_ms }, { "a", "running", 1, nil })
  equal(perilune.json.decode(seen.trigger), { kind = "event", name = "e", data = 5 })
  assert(seen.owner)
  wait_for(function() return automation:runs()[1].outcome == "succeeded" end)
  local run = automation:runs()[1]
  assert(run.duration_ms >= 0)
  equal({ #automation:runs(), run.owner, run.id }, { 1, nil, seen.id })
  remove_all()
end)

test("the output of a run and the traceback of its error are recorded", function()
  local automation = perilune.automation{ name = "a", on = { event = "e" }, run = function()
    print("one", 2)
    perilune.sleep(0.01)
    coroutine.wrap(function() print("three") end)()
    local function deeper() error("no") end
    deeper()
  end }
  perilune.emit("e")
  perilune.sleep(0.005)
  print("of another")
  wait_for(function() return not automation:is_running() end)
  local run = automation:runs()[1]
  equal(run.output, "one\t2\nthree\n")
  matches(run.traceback, "deeper")
  remove_all()
end)

test("the end of long output is kept", function()
  local automation = perilune.automation{ name = "a", on = { event = "e" }, run = function()
    for i = 1, 4000 do print(i, ("x"):rep(100)) end
  end }
  perilune.emit("e")
  wait_for(function() return not automation:is_running() end)
  local output = automation:runs()[1].output
  assert(#output >= 65000 and #output <= 131072, #output)
  assert(output:find("^%d+\tx+\n"))
  assert(output:find("\n4000\tx+\n$"))
  remove_all()
end)

test("the next attempt and the last error are recorded while a run waits for a retry", function()
  local automation = perilune.automation{ name = "a", on = { event = "e" }, retry = { times = 1, wait = "1m" }, run = function() error("no", 0) end }
  perilune.emit("e")
  perilune.sleep(10)
  local run = automation:runs()[1]
  equal({ run.outcome, run.attempts, run.error }, { "waiting", 1, "no" })
  local wait = perilune.date(run.wakes_at) - perilune.now()
  assert(wait > 49 and wait <= 50.1, wait)
  perilune.sleep(60)
  run = automation:runs()[1]
  equal({ run.outcome, run.attempts, run.wakes_at }, { "failed", 2, nil })
  remove_all()
end)

test("a run that is cancelled while it waits for a retry keeps its last error", function()
  local automation = perilune.automation{ name = "a", on = { event = "e" }, retry = { times = 1, wait = "1m" }, run = function() error("no", 0) end }
  perilune.emit("e")
  perilune.sleep(10)
  automation:remove()
  perilune.sleep(0.1)
  local run = automation:runs()[1]
  equal({ run.outcome, run.reason, run.error }, { "cancelled", "removed", "no" })
end)

test("skipped runs do not displace the others", function()
  local automation = perilune.automation{ name = "a", on = { event = "e" }, keep = 2, mode = "queued", max = 1000,
    when = function(context) return context.event == 1 end, run = function() error("no", 0) end }
  perilune.emit("e", 1)
  for i = 2, 20 do perilune.emit("e", i) end
  wait_for(function() return not automation:is_running() end)
  perilune.sleep(0.1)
  equal(db:fetch_values("SELECT outcome FROM perilune_automation_run ORDER BY id"), { "failed", "skipped", "skipped" })
  remove_all()
end)

test("a failure is reported to on_failure once, after the last attempt", function()
  local failures = {}
  local automation = perilune.automation{ name = "a", on = { event = "e" }, retry = { times = 1, wait = 1 },
    run = function() error("no", 0) end,
    on_failure = function(context, failure)
      perilune.sleep(0.01)
      failures[#failures + 1] = { context.event, failure.outcome, failure.error, failure.attempts, context.automation.name }
    end }
  perilune.emit("e", 7)
  perilune.sleep(0.5)
  equal(failures, {})
  perilune.sleep(1)
  equal(failures, { { 7, "failed", "no", 2, "a" } })
  automation:remove()
end)

test("an error in on_failure does not affect other runs", function()
  local calls = 0
  perilune.automation{ name = "a", on = { event = "e" }, run = function() calls = calls + 1 error("no", 0) end,
    on_failure = function() error("neither", 0) end }
  for _ = 1, 2 do
    perilune.emit("e")
    perilune.sleep(0.1)
  end
  equal(calls, 2)
  remove_all()
end)

test("a run whose process has ended is interrupted and reported to on_failure", function()
  leave_run("a", "running")
  local failures, calls = {}, 0
  local automation = perilune.automation{ name = "a", on = { event = "e" }, run = function() calls = calls + 1 end,
    on_failure = function(context, failure) failures[#failures + 1] = { context.event.id, failure.outcome, failure.reason } end }
  perilune.sleep(0.1)
  equal({ calls, failures }, { 0, { { 7, "interrupted", "its process ended" } } })
  local run = automation:runs()[1]
  equal({ run.outcome, run.reason, run.owner, run.interruptions, #automation:runs() }, { "interrupted", "its process ended", nil, 1, 1 })
  remove_all()
end)

test("an interrupted run is repeated with its trigger if the automation requests it", function()
  leave_run("a", "running")
  local seen = {}
  local automation = perilune.automation{ name = "a", on = { event = "e" }, interrupted = "rerun",
    run = function(context) seen[#seen + 1] = { context.event.id, context.trigger.name, context.attempt, context.is_rerun } end }
  perilune.sleep(0.1)
  equal(seen, { { 7, "e", 2, true } })
  local run = automation:runs()[1]
  equal({ run.outcome, run.attempts, run.interruptions, #automation:runs() }, { "succeeded", 2, 1, 1 })
  remove_all()
end)

test("interruptions do not count as failed attempts", function()
  leave_run("a", "running", { attempts = 3, interruptions = 2 })
  local calls = 0
  local automation = perilune.automation{ name = "a", on = { event = "e" }, interrupted = "rerun", retry = { times = 1, wait = 1 },
    run = function() calls = calls + 1 error("no", 0) end }
  perilune.sleep(10)
  equal({ calls, automation:runs()[1].outcome, automation:runs()[1].attempts }, { 2, "failed", 5 })
  remove_all()
end)

test("a run that repeatedly ends its process is not started forever", function()
  leave_run("a", "running", { attempts = 21, interruptions = 20 })
  local calls = 0
  local automation = perilune.automation{ name = "a", on = { event = "e" }, interrupted = "rerun", run = function() calls = calls + 1 end }
  perilune.sleep(0.1)
  equal({ calls, automation:runs()[1].outcome }, { 0, "interrupted" })
  matches(automation:runs()[1].reason, "it has been interrupted 21 times")
  remove_all()
end)

test("a function can decide how to handle an interrupted run", function()
  leave_run("a", "running", { attempts = 2 })
  leave_run("b", "running")
  local function decide(context, interruption)
    perilune.sleep(0.01)
    return interruption.attempts > 1 and context.event.id == 7 and "rerun" or nil
  end
  local calls = {}
  for _, name in ipairs{ "a", "b" } do
    perilune.automation{ name = name, on = { event = "e" }, interrupted = decide, run = function() calls[#calls + 1] = name end }
  end
  perilune.sleep(0.1)
  equal(calls, { "a" })
  equal(db:fetch_values("SELECT outcome FROM perilune_automation_run WHERE automation IN ('a', 'b') ORDER BY automation"),
    { "succeeded", "interrupted" })
  remove_all()
end)

test("a run that waited for a retry when its process ended continues to wait", function()
  leave_run("a", "waiting", { wakes_at = perilune.now() + 60, error = "no" })
  local calls = 0
  local automation = perilune.automation{ name = "a", on = { event = "e" }, interrupted = "rerun", run = function() calls = calls + 1 end }
  perilune.sleep(50)
  equal({ calls, automation:runs()[1].outcome }, { 0, "waiting" })
  perilune.sleep(20)
  equal({ calls, automation:runs()[1].outcome }, { 1, "succeeded" })
  remove_all()
end)

test("an interrupted run keeps the error and the traceback of its last attempt", function()
  leave_run("a", "running", { attempts = 2, error = "no", traceback = "at a.lua:1" })
  leave_run("b", "waiting", { attempts = 2, error = "no", traceback = "at b.lua:1", wakes_at = perilune.now() + 60 })
  local function run() perilune.sleep(60) end
  local a = perilune.automation{ name = "a", on = { event = "e" }, run = run }
  local b = perilune.automation{ name = "b", on = { event = "e" }, interrupted = "rerun", run = run }
  perilune.sleep(10)
  b:remove()
  perilune.sleep(0.1)
  for automation, outcome in pairs{ [a] = "interrupted", [b] = "cancelled" } do
    local row = automation:runs()[1]
    equal({ row.outcome, row.error, row.traceback }, { outcome, "no", "at " .. automation.name .. ".lua:1" })
  end
  remove_all()
end)

test("a run whose process may still exist is left unchanged", function()
  leave_run("a", "running")
  db:execute("UPDATE perilune_automation_run SET owner = ? WHERE automation = 'a'", { dead_owner })
  local automation = perilune.automation{ name = "a", on = { event = "e" }, run = function() end }
  perilune.sleep(0.1)
  equal({ automation:runs()[1].outcome, automation:runs()[1].owner }, { "running", dead_owner })
  remove_all()
end)

test("a run table of an earlier version is upgraded and keeps its rows", function()
  db:execute([[
    CREATE TABLE perilune_automation_run (
      id INTEGER PRIMARY KEY AUTOINCREMENT, automation TEXT NOT NULL, trigger TEXT NOT NULL, started_at TEXT NOT NULL,
      duration_ms REAL NOT NULL, attempts INTEGER NOT NULL,
      outcome TEXT NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'skipped', 'cancelled')), reason TEXT, error TEXT, statements TEXT)]])
  db:execute("CREATE INDEX perilune_automation_run_automation ON perilune_automation_run(automation, id)")
  db:execute("INSERT INTO perilune_automation_run VALUES (41, 'a', '{}', '2026-01-01 00:00:00.000', 5, 1, 'failed', NULL, 'no', '[]')")
  db:execute("CREATE VIEW failures AS SELECT error FROM perilune_automation_run WHERE outcome = 'failed'")
  local automation = perilune.automation{ name = "a", on = { event = "e" }, run = function() end }
  perilune.emit("e")
  perilune.sleep(0.1)
  equal(db:fetch_values("SELECT id || outcome FROM perilune_automation_run ORDER BY id"), { "41failed", "42succeeded" })
  equal(db:fetch_values("SELECT error FROM failures"), { "no" })
  equal(automation:runs()[2].error, "no")
  remove_all()
end)

test("invalid policies for interrupted runs are refused", function()
  local function message(options, kind) return fails(kind or "argument", perilune.automation, options) end
  local function run() end
  matches(message{ name = "x", run = run, on = { event = "e" }, interrupted = "again" },
    'option `interrupted`: expected "rerun", "fail" or a function, got the string "again"')
  matches(message{ name = "x", run = run, on = { event = "e" }, on_failure = 1 }, "option `on_failure`: expected a function, got the integer 1")
end)

-- Automations that another process runs as well ---------------------------------------------------------------------------------

--- The name of an owner on another machine, which exists as long as its lease is valid.
local elsewhere = "elsewhere boot pid 7 1 1"

local function renew_lease()
  db:execute("CREATE TABLE IF NOT EXISTS perilune_owner (owner TEXT NOT NULL PRIMARY KEY, seen_at TEXT NOT NULL)")
  db:execute("REPLACE INTO perilune_owner VALUES (?, ?)", { elsewhere, tostring(perilune.now()) })
end

local function recorded(name)
  return db:fetch_one("SELECT * FROM perilune_schedule WHERE automation = ?", name)
end

--- Records an automation that another process runs.
local function record_elsewhere(name, trigger)
  perilune.automation{ name = "probe", on = { event = "probe" }, run = function() end }:remove()
  db:execute([[INSERT INTO perilune_schedule(automation, file, trigger, is_enabled, next_due_at, owner, started_at)
    VALUES (?, 'service.lua', ?, 1, '2000-01-01 00:59:00.000', ?, '2000-01-01 00:00:00.000')]], { name, trigger, elsewhere })
  renew_lease()
  return recorded(name)
end

--- Returns the results of a function, after the warnings that it logs.
local function warnings_of(f)
  local lines, warning = {}, perilune.log.warning
  perilune.log.warning = function(message) lines[#lines + 1] = message end
  local results = table.pack(pcall(f))
  perilune.log.warning = warning
  assert(results[1], results[2])
  return lines, table.unpack(results, 2)
end

test("a process that runs an automation in addition to another one changes nothing in its record", function()
  local before = record_elsewhere("tick", "every 10s")
  local calls = 0
  local automation = perilune.automation{ name = "tick", on = { every = "10s" }, run = function() calls = calls + 1 end }
  perilune.sleep(25)
  equal(calls, 2)
  equal(recorded("tick"), before)
  automation:remove()
  equal(recorded("tick"), before)
end)

test("disabling an automation that another process runs is local, and a warning names that process", function()
  local before = record_elsewhere("tick", "every 10s")
  local automation = perilune.automation{ name = "tick", on = { every = "10s" }, run = function() end }
  local lines = warnings_of(function() automation:disable() end)
  equal(#lines, 1)
  matches(lines[1], "in this process only; process 7 still runs it")
  equal(recorded("tick"), before)
  equal(warnings_of(function() automation:remove() end), {})
end)

test("an automation belongs to this process if the lease of its owner has ended or never existed", function()
  record_elsewhere("tick", "every 10s")
  db:execute("UPDATE perilune_owner SET seen_at = '1999-01-01 00:00:00.000'")
  local function define() return perilune.automation{ name = "tick", on = { every = "10s" }, run = function() end } end
  local automation = define()
  assert(recorded("tick").owner ~= elsewhere)
  automation:remove()
  record_elsewhere("tick", "every 10s")
  db:execute("DELETE FROM perilune_owner")
  automation = define()
  assert(recorded("tick").owner ~= elsewhere)
  equal(warnings_of(function() automation:disable() end), {})
  equal(recorded("tick").is_enabled, 0)
  automation:remove()
end)

test("an automation with `enabled = false` in its definition is recorded as disabled", function()
  local function define(enabled) return perilune.automation{ name = "tick", enabled = enabled, on = { every = "10s" }, run = function() end } end
  define():remove()
  define(false):remove()
  equal(recorded("tick"), nil)
  record_elsewhere("tick", "every 10s")
  db:execute("UPDATE perilune_schedule SET owner = NULL")
  local automation = define(false)
  equal({ recorded("tick").is_enabled, recorded("tick").next_due_at }, { 0, nil })
  automation:enable()
  equal(recorded("tick").is_enabled, 1)
  automation:remove()
end)

test("an event that only an automation of another process would receive is reported once", function()
  record_elsewhere("far", "event far")
  local lines, count = warnings_of(function()
    perilune.emit("nowhere")
    return perilune.emit("far") + perilune.emit("far")
  end)
  equal({ #lines, count }, { 1, 0 })
  matches(lines[1], "the event `far` triggered nothing: `far` is not durable, so only events of its own process trigger it")
  local is_test = perilune.context == "test"
  matches(lines[1], is_test and "load its file with `require` in place of t.service" or "run it with `perilune automations run FILE NAME`")
  db:execute("UPDATE perilune_schedule SET trigger = 'event near'")
  local automation = perilune.automation{ name = "near", on = { event = "near" }, run = function() end }
  equal(warnings_of(function() perilune.emit("near") end), {})
  automation:remove()
end)
