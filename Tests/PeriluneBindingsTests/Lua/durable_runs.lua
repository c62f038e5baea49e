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

local function last_run()
  return db:fetch_one("SELECT * FROM perilune_automation_run ORDER BY id DESC LIMIT 1")
end

local function make_log()
  db:execute("CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, what TEXT)")
end

local function log(what)
  db:execute("INSERT INTO log(what) VALUES (?)", { what })
end

local function logged()
  return db:fetch_values("SELECT what FROM log ORDER BY id")
end

--- Makes the last run look like one whose process was killed.
local function leave_as_killed_process(interruptions)
  local run, parts = last_run(), {}
  for part in run.owner:gmatch("%S+") do parts[#parts + 1] = part end
  parts[5] = "1"
  db:execute("UPDATE perilune_automation_run SET owner = ?, interruptions = ? WHERE id = ?", {
    table.concat(parts, " "), interruptions or run.interruptions, run.id })
end

--- Defines a durable automation like a restarted process.
local function define(options)
  options.name, options.durable, options.on = options.name or "a", true, options.on or { event = "go" }
  for _, automation in ipairs(perilune.automations()) do
    -- Waiting runs stay in the table when a process ends.
    if automation.name == options.name then
      db:execute("CREATE TEMP TABLE saved AS SELECT * FROM perilune_automation_run")
      automation:remove()
      db:execute("DROP TABLE saved")
    end
  end
  return perilune.automation(options)
end

test("a durable run is recorded by the transaction that emits its event", function()
  make_log()
  define{ run = function(run) log("ran " .. run.event.id) end }
  pcall(db.write, db, function()
    perilune.emit("go", { id = 1 })
    error("no")
  end)
  db:write(function()
    equal(perilune.emit("go", { id = 2 }), 1)
    equal(last_run().outcome, "queued")
  end)
  perilune.sleep(1)
  equal(logged(), { "ran 2" })
  local run = last_run()
  equal({ run.outcome, run.attempts, run.owner, run.run_key }, { "succeeded", 1, nil, tostring(run.id) })
  remove_all()
end)

test("an event that is emitted while no process is running starts a durable run later", function()
  make_log()
  define{ run = function() end }
  db:execute("CREATE TEMP TABLE saved AS SELECT * FROM perilune_schedule")
  remove_all()
  db:execute("INSERT INTO perilune_schedule SELECT * FROM saved")
  equal(perilune.emit("go", 5), 1)
  perilune.sleep(10)
  define{ run = function(run) log("ran " .. run.event) end }
  perilune.sleep(1)
  equal(logged(), { "ran 5" })
  remove_all()
end)

test("a step runs once, with its record, even if the function is executed again", function()
  make_log()
  local executions = 0
  define{ retry = { times = 2, wait = 1 }, run = function(run)
    executions = executions + 1
    local first = run:step("first", function(handle)
      handle:execute("INSERT INTO log(what) VALUES ('first')")
      return { n = 7 }
    end)
    equal(first, { n = 7 })
    if executions < 3 then error("again", 0) end
    run:step("second", function() log("second") end)
  end }
  perilune.emit("go")
  perilune.sleep(10)
  equal({ executions, logged(), last_run().outcome, last_run().attempts }, { 3, { "first", "second" }, "succeeded", 3 })
  equal(db:fetch_values("SELECT name || ' ' || state FROM perilune_step ORDER BY position"), { "first done", "second done" })
  remove_all()
end)

test("a failing step is rolled back and repeated in the next attempt", function()
  make_log()
  local calls = 0
  define{ retry = { times = 1, wait = 1 }, run = function(run)
    run:step("write", function()
      calls = calls + 1
      log("write " .. calls)
      if calls == 1 then error("no", 0) end
    end)
  end }
  perilune.emit("go")
  perilune.sleep(0.5)
  local run = last_run()
  equal({ run.outcome, run.error, run.attempts, run.owner, logged() }, { "waiting", "no", 1, nil, {} })
  perilune.sleep(10)
  equal({ calls, logged(), last_run().outcome }, { 2, { "write 2" }, "succeeded" })
  remove_all()
end)

test("a step error that the function handles is recorded and raised again in each execution", function()
  make_log()
  local calls, errors = 0, {}
  define{ retry = { times = 1, wait = 1 }, run = function(run)
    local is_ok, e = pcall(run.step, run, "risky", function()
      calls = calls + 1
      error("no", 0)
    end)
    errors[#errors + 1] = tostring(e)
    run:step("plan b", function() log("plan b") end)
    if #errors == 1 then error("again", 0) end
  end }
  perilune.emit("go")
  perilune.sleep(10)
  equal({ calls, errors, logged(), last_run().outcome }, { 1, { "no", "no" }, { "plan b" }, "succeeded" })
  remove_all()
end)

test("a call is recorded before and after it runs, and is repeated with the same idempotency key", function()
  local keys = {}
  define{ run = function(run)
    local id = run:call("charge", { key = "charge " .. #keys, retry = { times = 3, wait = "10s", factor = 2 } }, function(key, info)
      keys[#keys + 1] = { key, info.attempt, info.is_repeat, db:fetch_value("SELECT state FROM perilune_step") }
      if #keys < 3 then error("busy", 0) end
      return "ch_1"
    end)
    equal(id, "ch_1")
    equal(run:call("other", function(key) return key end), "a/" .. run.id .. "/other")
  end }
  perilune.emit("go")
  perilune.sleep(5)
  local step = db:fetch_one("SELECT * FROM perilune_step")
  equal({ step.state, step.error, step.attempts, last_run().outcome, last_run().attempts }, { "intended", "busy", 1, "waiting", 0 })
  equal(last_run().error, "busy")
  perilune.sleep(60)
  equal(keys, { { "charge 0", 1, false, "intended" }, { "charge 0", 2, true, "intended" }, { "charge 0", 3, true, "intended" } })
  equal({ last_run().outcome, last_run().attempts, last_run().error }, { "succeeded", 1, nil })
  remove_all()
end)

test("failed attempts of durable runs and of their calls are logged before the next attempt", function()
  local lines, warning = {}, perilune.log.warning
  perilune.log.warning = function(message, fields) lines[#lines + 1] = message .. " error=" .. fields.error end
  define{ retry = { times = 1, wait = "10s" }, run = function(run)
    run:call("charge", { retry = { times = 1, wait = "1s" } }, function(_, info) if info.attempt == 1 then error("busy", 0) end end)
    if run.attempt == 1 then error("no", 0) end
  end }
  perilune.emit("go")
  perilune.sleep(60)
  perilune.log.warning = warning
  equal(lines, {
    "a call of a durable run failed in attempt 1 of 2, and will be tried again error=busy",
    "automation `a` failed in attempt 1 of 2, and will be tried again error=no",
  })
  equal(last_run().outcome, "succeeded")
  remove_all()
end)

test("a run records the error of a call that a branch retries", function()
  define{ run = function(run)
    run:all{
      wait = function(branch) branch:sleep("1h") end,
      charge = function(branch) branch:call("charge", { retry = { times = 3, wait = "1m" } }, function() error("busy", 0) end) end,
    }
  end }
  perilune.emit("go")
  perilune.sleep(5)
  equal({ last_run().outcome, last_run().error }, { "waiting", "busy" })
  remove_all()
end)

test("a run that is cancelled after a failed attempt keeps the error of that attempt", function()
  local automation = define{ retry = { times = 3, wait = "10s" }, run = function(run)
    if run.attempt == 1 then error("no", 0) end
    perilune.sleep("1h")
  end }
  perilune.emit("go")
  perilune.sleep(5)
  local traceback = last_run().traceback
  equal({ last_run().outcome, last_run().error, traceback ~= nil }, { "waiting", "no", true })
  perilune.sleep(60)
  automation:remove()
  perilune.sleep(1)
  equal({ last_run().outcome, last_run().error, last_run().traceback }, { "cancelled", "no", traceback })
end)

test("a call that keeps failing raises its last error, which can be handled", function()
  local seen
  define{ run = function(run)
    local is_ok, e = pcall(function()
      run:call("charge", { retry = { times = 2, wait = "1s" } }, function() error("declined", 0) end)
    end)
    seen = { is_ok, tostring(e) }
    run:sleep("1m")
    run:step("end", function() end)
  end }
  perilune.emit("go")
  perilune.sleep("5m")
  equal(seen, { false, "declined" })
  equal({ last_run().outcome, db:fetch_value("SELECT attempts FROM perilune_step WHERE name = 'charge'") }, { "succeeded", 3 })
  remove_all()
end)

test("a sleeping run is not in memory and continues afterwards", function()
  make_log()
  local automation = define{ run = function(run)
    run:step("before", function() log("before") end)
    run:sleep("3 days")
    run:step("after", function() log("after") end)
  end }
  local start = perilune.now()
  perilune.emit("go")
  perilune.sleep("1h")
  local run = last_run()
  equal({ run.outcome, run.owner, automation:is_running(), logged() }, { "waiting", nil, false, { "before" } })
  local wait = perilune.date(run.wakes_at) - start
  assert(wait > 3 * 86400 - 1 and wait < 3 * 86400 + 1, wait)
  perilune.sleep("2d")
  equal(logged(), { "before" })
  perilune.sleep("1d")
  equal({ logged(), last_run().outcome, last_run().attempts }, { { "before", "after" }, "succeeded", 1 })
  remove_all()
end)

test("suspending a run calls neither pcall handlers nor __close metamethods", function()
  make_log()
  define{ run = function(run)
    local guard <close> = setmetatable({}, { __close = function() log("closed") end })
    local is_ok, e = pcall(function() run:sleep("1h") end)
    run:step("end", function() log("slept " .. tostring(is_ok) .. " " .. tostring(e)) end)
  end }
  perilune.emit("go")
  perilune.sleep("2h")
  equal(logged(), { "slept true nil", "closed" })
  remove_all()
end)

test("a run waits for a signal that is sent before or after it waits", function()
  make_log()
  define{ key = function(run) return "order " .. run.event end, run = function(run)
    for i = 1, 2 do
      local value, has_come = run:wait_for("feedback " .. i, { timeout = "14 days" })
      run:step("log " .. i, function() log(run.key .. ": " .. tostring(value and value.stars) .. " " .. tostring(has_come)) end)
    end
  end }
  perilune.emit("go", 7)
  perilune.emit("go", 8)
  perilune.sleep("1d")
  equal(perilune.signal("a", "order 7", "feedback 2", { stars = 2 }), true)
  equal(perilune.signal("a", "order 7", "feedback 1", { stars = 1 }), true)
  equal(perilune.signal("a", "order 9", "feedback 1"), false)
  perilune.sleep(1)
  equal(logged(), { "order 7: 1 true", "order 7: 2 true" })
  equal({ last_run().outcome, last_run().waits_for }, { "waiting", "feedback 1" })
  perilune.sleep("40d")
  equal(logged(), { "order 7: 1 true", "order 7: 2 true", "order 8: nil false", "order 8: nil false" })
  equal(last_run().outcome, "succeeded")
  remove_all()
end)

test("a run waits for the same signal again after a timeout, and its process may end in between", function()
  make_log()
  local asked, is_killed = 0, false
  local function body(run)
    local value, has_come = run:wait_for("answer", { timeout = "28 days" })
    while not has_come and asked < 5 do
      run:call("remind " .. tostring(perilune.now()), function()
        asked = asked + 1
        if is_killed then perilune.sleep("100 days") end
      end)
      value, has_come = run:wait_for("answer", { timeout = "7 days" })
    end
    run:step("end", function() log(tostring(value)) end)
  end
  is_killed = true
  local automation = define{ key = function() return "k" end, run = body }
  perilune.emit("go")
  perilune.sleep("28 days 1 minute")
  -- The process ends during the reminder, and the run is executed again from the start.
  is_killed = false
  leave_as_killed_process()
  automation:disable()
  automation:enable()
  perilune.sleep(2)
  equal({ asked, last_run().outcome, last_run().waits_for }, { 2, "waiting", "answer" })
  -- The second wait receives an answer that comes after the first timeout, even if another process runs it.
  automation:disable()
  equal(perilune.signal("a", "k", "answer", "late"), true)
  automation:enable()
  perilune.sleep(2)
  equal(logged(), { "late" })
  equal(db:fetch_all("SELECT position, name, kind, state, error FROM perilune_step WHERE kind = 'wait' ORDER BY position"), {
    { position = 1, name = "answer", kind = "wait", state = "done", error = "timeout" },
    { position = 3, name = "answer", kind = "wait", state = "done" },
  })
  equal(last_run().outcome, "succeeded")
  remove_all()
end)

test("several waits for one signal receive the signals in the order in which they were sent", function()
  make_log()
  define{ key = function() return "k" end, run = function(run)
    for number = 1, 3 do
      local value = run:wait_for("item")
      run:step("log " .. number, function() log(value) end)
    end
    run:step("refused", function() end)
    fails("usage", function() run:wait_for("log 1") end)
    fails("usage", function() run:step("item", function() end) end)
  end }
  perilune.emit("go")
  perilune.sleep(1)
  for _, value in ipairs{ "one", "two" } do perilune.signal("a", "k", "item", value) end
  perilune.sleep(1)
  equal(last_run().outcome, "waiting")
  perilune.signal("a", "k", "item", "three")
  perilune.sleep(1)
  equal(logged(), { "one", "two", "three" })
  equal({ last_run().outcome, last_run().error }, { "succeeded", nil })
  remove_all()
end)

test("a signal is part of the transaction that sends it", function()
  make_log()
  define{ key = function() return "k" end, run = function(run)
    run:wait_for("go on")
    run:step("end", function() log("end") end)
  end }
  perilune.emit("go")
  perilune.sleep(1)
  pcall(db.write, db, function()
    perilune.signal("a", "k", "go on")
    error("no")
  end)
  perilune.sleep("1d")
  equal({ logged(), last_run().outcome }, { {}, "waiting" })
  db:write(function() perilune.signal("a", "k", "go on") end)
  perilune.sleep(1)
  equal(logged(), { "end" })
  remove_all()
end)

test("completed steps are undone in reverse order, once each, when the run finally fails", function()
  make_log()
  define{ retry = { times = 1, wait = 1 }, run = function(run)
    for i = 1, 2 do
      run:step("reserve " .. i, function() log("reserve " .. i) end, { undo = function(handle)
        handle:execute("INSERT INTO log(what) VALUES (?)", { "free " .. i })
      end })
    end
    run:call("charge", { undo = function() log("refund") end }, function() end)
    run:step("pack", function() error("no box", 0) end)
  end }
  perilune.emit("go")
  perilune.sleep(10)
  equal(logged(), { "reserve 1", "reserve 2", "refund", "free 2", "free 1" })
  equal({ last_run().outcome, last_run().error, last_run().attempts, last_run().reason }, { "failed", "no box", 2, nil })
  remove_all()
end)

test("undoing steps continues after the process has ended", function()
  make_log()
  local is_first = true
  define{ run = function(run)
    for i = 1, 3 do
      run:step("do " .. i, function() log("do " .. i) end, { undo = function()
        if i == 2 and is_first then
          is_first = false
          perilune.after(0, function() db:execute("UPDATE perilune_automation_run SET outcome = 'waiting', reason = 'undoing', owner = NULL, wakes_at = '2000-01-01 00:00:00.000', attempts = 0") end)
          error("crash", 0)
        end
        log("undo " .. i)
      end })
    end
    error("no", 0)
  end }
  perilune.emit("go")
  perilune.sleep(1)
  equal(last_run().outcome, "waiting")
  perilune.emit("go on")
  define{ name = "b", run = function() end }
  perilune.signal("b", "x", "wake")
  perilune.sleep(1)
  equal(logged(), { "do 1", "do 2", "do 3", "undo 3", "undo 1", "undo 2" })
  equal(last_run().outcome, "failed")
  remove_all()
end)

test("a run whose steps are reordered stops with an error that names the step", function()
  local count = 0
  define{ retry = { times = 5, wait = 1 }, run = function(run)
    count = count + 1
    run:step(count == 1 and "one" or "two", function() end)
    error("again", 0)
  end }
  perilune.emit("go")
  perilune.sleep(10)
  local run = last_run()
  equal({ run.outcome, count }, { "diverged", 2 })
  matches(run.error, "step 1 was the step `one` when it was recorded, and is the step `two` now")
  remove_all()
end)

test("a function that handles the error of a diverged run does not continue", function()
  local count, is_reached = 0, false
  define{ retry = { times = 5, wait = 1 }, run = function(run)
    count = count + 1
    pcall(run.step, run, count == 1 and "one" or "two", function() end)
    pcall(run.step, run, "three", function() is_reached = count == 2 end)
    if count == 1 then error("again", 0) end
  end }
  perilune.emit("go")
  perilune.sleep(10)
  equal({ last_run().outcome, is_reached }, { "diverged", false })
  remove_all()
end)

test("a function that omits a recorded step has diverged", function()
  local count = 0
  define{ retry = { times = 1, wait = 1 }, run = function(run)
    count = count + 1
    run:step("one", function() end)
    if count == 1 then
      run:step("two", function() end)
      error("again", 0)
    end
  end }
  perilune.emit("go")
  perilune.sleep(10)
  equal(last_run().outcome, "diverged")
  matches(last_run().error, "step 2, the step `two`, was recorded, and the function does not take it any more")
  remove_all()
end)

test("the clock, random numbers and UUIDs of a run are the same in each execution", function()
  local seen = {}
  define{ retry = { times = 2, wait = "1h" }, run = function(run)
    local values = { tostring(perilune.now()), perilune.random(), perilune.random(1, 6), math.random(100), perilune.uuid(), os.time(), os.date("!%H:%M:%S") }
    run:step("step", function() return perilune.uuid() end)
    values[#values + 1] = perilune.uuid()
    values[#values + 1] = tostring(perilune.now())
    seen[#seen + 1] = values
    if #seen < 3 then error("again", 0) end
  end }
  perilune.emit("go")
  perilune.sleep("5h")
  equal(#seen, 3)
  equal(seen[2], seen[1])
  equal(seen[3], seen[1])
  assert(seen[1][5]:match("^%x%x%x%x%x%x%x%x%-%x%x%x%x%-4%x%x%x%-[89ab]%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x$"), seen[1][5])
  assert(seen[1][5] ~= seen[1][8])
  -- The values differ between runs.
  perilune.emit("go")
  perilune.sleep(1)
  assert(seen[4][5] ~= seen[1][5] and seen[4][2] ~= seen[1][2])
  remove_all()
  assert(perilune.uuid() ~= perilune.uuid())
end)

test("branches have separate steps and wait concurrently", function()
  make_log()
  define{ key = function() return "k" end, run = function(run)
    local results = run:all{
      stock = function(run)
        run:step("reserve", function() log("reserve") end)
        run:sleep("1h")
        return run:step("ship", function() log("ship") return "shipped" end)
      end,
      mail = function(run)
        run:step("reserve", function() log("mail") end)
        return run:wait_for("answer", { timeout = "1d" })
      end,
    }
    run:step("end", function() log(results.stock .. " " .. tostring(results.mail)) end)
  end }
  perilune.emit("go")
  perilune.sleep(10)
  equal({ logged(), last_run().outcome }, { { "mail", "reserve" }, "waiting" })
  perilune.sleep("2h")
  equal({ logged(), last_run().outcome }, { { "mail", "reserve", "ship" }, "waiting" })
  perilune.signal("a", "k", "answer", "yes")
  perilune.sleep(10)
  equal({ logged(), last_run().outcome }, { { "mail", "reserve", "ship", "shipped yes" }, "succeeded" })
  remove_all()
end)

test("an error in a branch is an error of the run", function()
  define{ run = function(run)
    run:all{ good = function(run) run:step("x", function() end) end, bad = function() error("no", 0) end }
  end }
  perilune.emit("go")
  perilune.sleep(10)
  equal({ last_run().outcome, last_run().error }, { "failed", "no" })
  remove_all()
end)

test("runs in mode queued start one after the other, even while one waits", function()
  make_log()
  define{ mode = "queued", run = function(run)
    run:step("begin", function() log("begin " .. run.event) end)
    run:sleep("1h")
    run:step("end", function() log("end " .. run.event) end)
  end }
  for i = 1, 2 do perilune.emit("go", i) end
  perilune.sleep("1d")
  equal(logged(), { "begin 1", "end 1", "begin 2", "end 2" })
  remove_all()
end)

test("the option max limits concurrent executions without counting waiting runs", function()
  local running, most, done = 0, 0, 0
  define{ max = 2, run = function(run)
    run:sleep("1h")
    run:call("work", function()
      running = running + 1
      most = math.max(most, running)
      perilune.sleep(1)
      running = running - 1
    end)
    done = done + 1
  end }
  for i = 1, 6 do perilune.emit("go", i) end
  perilune.sleep("30m")
  equal(db:fetch_value("SELECT count(*) FROM perilune_automation_run WHERE outcome = 'waiting'"), 6)
  perilune.sleep("2h")
  equal({ most, done }, { 2, 6 })
  remove_all()
end)

test("a run whose process ended during a call continues in the next process", function()
  make_log()
  local calls = {}
  local function body(run)
    run:step("one", function() log("one") end)
    run:call("two", { key = "key " .. run.id }, function(key, info)
      calls[#calls + 1] = { key, info.is_repeat }
      if #calls == 1 then perilune.sleep("100d") end
    end)
    run:step("three", function() log("three") end)
  end
  local automation = define{ run = body }
  perilune.emit("go")
  perilune.sleep(1)
  leave_as_killed_process()
  automation:disable()
  automation:enable()
  perilune.sleep(1)
  equal(calls, { { "key 1", false }, { "key 1", true } })
  equal(logged(), { "one", "three" })
  equal({ last_run().outcome, last_run().attempts, last_run().interruptions }, { "succeeded", 1, 0 })
  remove_all()
end)

test("a run that keeps crashing its process is retried with increasing delays and finally fails", function()
  for interruptions, wait in pairs{ [0] = 0, [1] = 0, [2] = 1, [3] = 2, [6] = 16, [9] = 60, [19] = 60, [20] = false } do
    local moments = {}
    local automation = define{ run = function(run)
      run:call("one", function()
        moments[#moments + 1] = perilune.now()
        if #moments == 1 then perilune.sleep("100d") end
      end)
    end }
    perilune.emit("go")
    perilune.sleep(1)
    leave_as_killed_process(interruptions)
    automation:disable()
    local start = perilune.now()
    automation:enable()
    perilune.sleep("1h")
    if wait then
      equal({ last_run().outcome, #moments, math.floor(moments[2] - start) }, { "succeeded", 2, wait })
    else
      equal({ last_run().outcome, #moments }, { "interrupted", 1 })
      equal(last_run().reason, "its process ended; it has been interrupted 21 times")
    end
    remove_all()
  end
end)

test("an automation that is not durable cannot use steps", function()
  local err
  local automation = perilune.automation{ name = "plain", on = { event = "go" }, run = function(context)
    equal({ context.value, context.note }, {})
    err = fails("usage", function() context:step("x", print) end)
  end }
  perilune.emit("go")
  perilune.sleep(1)
  equal(automation:runs()[1].outcome, "succeeded")
  matches(err, "run:step: it needs an automation with the option `durable = true`")
  remove_all()
end)

test("schedules of durable automations record their runs with the due time", function()
  make_log()
  define{ on = { schedule = "0 * * * *", catch_up = "all" }, run = function(run) run:step("x", function() log(run.trigger.due) end) end }
  perilune.sleep("2h")
  perilune.sleep("1m")
  equal(#logged(), 2)
  remove_all()
end)

test("the result of a step must be small enough and expressible in JSON", function()
  local outcomes = {}
  define{ on = { event = "e" }, run = function(run)
    equal(run:step("nothing", function() end), nil)
    equal(run:step("list", function() return { 1, "two", { three = 3.5 }, false } end), { 1, "two", { three = 3.5 }, false })
    outcomes[#outcomes + 1] = fails("argument", run.step, run, "function", function() return print end)
    outcomes[#outcomes + 1] = fails("argument", run.step, run, "long", function() return ("x"):rep(2000000) end)
  end }
  perilune.emit("e")
  perilune.sleep(1)
  matches(outcomes[1], "run:step: `function`: expected a result that JSON can express")
  matches(outcomes[2], "run:step: `long`: expected a result of at most 1048576 bytes as JSON, got 2000002")
  equal(last_run().outcome, "succeeded")
  remove_all()
end)

test("invalid uses of steps are refused", function()
  local messages, kept = {}, nil
  local function try(kind, f) messages[#messages + 1] = fails(kind, f) end
  define{ run = function(run)
    kept = run
    try("argument", function() run:step(1, print) end)
    try("argument", function() run:step(print) end)
    try("argument", function() run.step("x", print) end)
    try("argument", function() run:step("x") end)
    run:step("one", function()
      try("usage", function() run:step("two", function() end) end)
      try("usage", function() run:sleep(1) end)
    end)
    try("usage", function() run:step("one", function() end) end)
    db:write(function() try("usage", function() run:wait_for("x") end) end)
    try("unknown_option", function() run:step("y", function() end, { undone = print }) end)
    try("unknown_method", function() run:wait("y") end)
    try("unknown_method", function() run:now() end)
    try("unknown_method", function() run:slep("1h") end)
    equal({ run.value, run.event, run.is_rerun }, { nil, nil, false })
    perilune.spawn(function() try("usage", function() run:step("z", function() end) end) end):wait()
  end }
  perilune.emit("go")
  perilune.sleep(1)
  equal({ last_run().outcome, last_run().error }, { "succeeded", nil })
  try("usage", function() kept:step("late", function() end) end)
  local expected = {
    "run:step: argument 1: expected a name as a string, got the integer 1", "run:step: argument 1: expected a name as a string, got a function",
    'run:step: call it with a colon, got the string "x" before the arguments', "run:step: expected a function, got nil",
    "run:step: it cannot be used inside of the step `one`", "run:sleep: it cannot be used inside of the step `one`",
    "run:step: the run has used the name `one` already, as step 1; in a loop, add a number to the name",
    "run:wait_for: it cannot be used inside of a database block", "did you mean `undo`?", "no method `wait`; use run:wait_for(name)",
    "no method `now`; use perilune.now()",
    "no method `slep`; did you mean `sleep`?",
    "run:step: it can be used only in the function of a durable run, while that runs",
    "kept:step: it can be used only in the function of a durable run, while that runs",
  }
  equal(#messages, #expected)
  for index, text in ipairs(expected) do matches(messages[index], text) end
  remove_all()
end)

test("invalid keys and retries of calls are refused", function()
  local messages = {}
  define{ run = function(run)
    for index, options in ipairs{
      { key = {} }, { key = 1.5 }, { key = "" }, { key = ("k"):rep(501) }, { retry = "often" }, { retry = -1 }, { retry = { times = 1.5 } },
      { retry = { factor = 0 } }, { retry = { wait = "soon" } },
    } do
      messages[index] = fails("argument", function() run:call("x", options, function() end) end)
    end
    run:call("integer", { key = 7 }, function(key) log(key) end)
  end }
  make_log()
  perilune.emit("go")
  perilune.sleep(1)
  equal({ last_run().outcome, last_run().error, logged()[1] }, { "succeeded", nil, "7" })
  local expected = {
    "run:call: option `key`: expected a string or an integer, got a table", "got the float 1.5", 'got the string ""',
    "option `key`: expected at most 500 bytes, got 501", "run:call: option `retry`: expected a number of times or a table",
    "option `retry.times`: expected an integer from 0, got the integer -1", "got the float 1.5", "option `retry.factor`: expected a number from 1 to 1000",
    "option `retry.wait`",
  }
  for index, text in ipairs(expected) do matches(messages[index], text) end
  remove_all()
end)

test("a full disk neither loses triggers nor repeats steps", function()
  make_log()
  define{ run = function(run)
    run:step("first", function() log("first") end)
    run:step("big", function() log(("x"):rep(100000)) end)
    run:step("last", function() log("last") end)
  end }
  perilune.emit("go")
  local pages = db:fetch_value("PRAGMA page_count")
  db:execute(("PRAGMA max_page_count = %d"):format(pages + 4))
  perilune.sleep(30)
  equal(#logged(), 1)
  db:execute("PRAGMA max_page_count = 100000")
  perilune.sleep(30)
  equal({ last_run().outcome, #logged(), logged()[3] }, { "succeeded", 3, "last" })
  remove_all()
end)

test("a run in a copied database still belongs to the process of the original database", function()
  define{ run = function(run) run:call("wait", function() perilune.sleep(3600) end) end }
  perilune.emit("go")
  perilune.sleep(1)
  equal(last_run().outcome, "running")
  local copy = perilune.queue()
  db:backup_to(copy)
  local automation = perilune.automation{ name = "b", db = copy, durable = true, on = { event = "other" }, run = function() error("repeated") end }
  copy:execute("UPDATE perilune_automation_run SET automation = 'b'")
  automation:disable()
  automation:enable()
  perilune.sleep(10)
  equal(copy:fetch_value("SELECT outcome FROM perilune_automation_run"), "running")
  remove_all()
end)

test("unsupported options of durable automations are refused", function()
  local function message(options, kind)
    options.name, options.run, options.on = "x", options.run or function() end, options.on or { event = "e" }
    return fails(kind or "argument", perilune.automation, options)
  end
  matches(message{ durable = true, mode = "single" }, 'option `mode`: a durable automation is "parallel" or "queued", got "single"')
  matches(message{ durable = true, interrupted = "fail" }, "option `interrupted`: a durable automation always continues its runs")
  matches(message{ key = print }, "option `key` applies only to durable automations")
  matches(message({ durable = true, on_code_change = "stopp" }, "unknown_on_code_change"), "did you mean `stop`?")
  matches(fails("argument", perilune.signal, "a", nil, "x"), "perilune.signal: argument 2: expected the key of a run, got nil")
  matches(fails("argument", perilune.signal, nil, "a", "x"), "perilune.signal: argument 1: expected a string of at most 500 bytes, got nil")
end)

test("a run of an older version of the code continues, restarts or stops, as the automation specifies", function()
  make_log()
  local function first(run)
    run:step("one", function() log("one") end)
    run:sleep("1h")
    run:step("two", function() log("two") end)
  end
  local function second(run)
    run:step("one", function() log("one again") end)
    run:sleep("1h")
    run:step("two", function() log("two, changed") end)
    run:step("three", function() log("three") end)
  end
  for _, case in ipairs{
    { "continue", "succeeded", { "one", "two, changed", "three" } }, { "restart", "succeeded", { "one", "one again", "two, changed", "three" } },
    { "stop", "diverged", { "one" } },
  } do
    db:execute("DELETE FROM log")
    local automation = define{ name = case[1], on = { event = case[1] }, on_code_change = case[1], run = first }
    perilune.emit(case[1])
    perilune.sleep("10m")
    automation:remove()
    define{ name = case[1], on = { event = case[1] }, on_code_change = case[1], run = second }
    perilune.sleep("3h")
    equal({ last_run().outcome, logged() }, { case[2], case[3] })
  end
  remove_all()
end)

test("a signal that is sent while a branch starts to wait is not missed", function()
  make_log()
  define{ key = function() return "k" end, run = function(run)
    local results = run:all{
      waits = function(run) return run:wait_for("go on", { timeout = "1d" }) end,
      sends = function(run)
        run:call("send", function()
          perilune.sleep(1)
          perilune.signal("a", "k", "go on", "now")
        end)
      end,
    }
    run:step("end", function() log(results.waits) end)
  end }
  perilune.emit("go")
  perilune.sleep("1h")
  equal({ logged(), last_run().outcome }, { { "now" }, "succeeded" })
  remove_all()
end)

test("steps are deleted with their runs", function()
  define{ keep = 2, run = function(run) run:step("x", function() end) end }
  for i = 1, 5 do perilune.emit("go", i) end
  perilune.sleep(10)
  equal({ #perilune.automations()[1]:runs(), db:fetch_value("SELECT count(*) FROM perilune_step") }, { 2, 2 })
  remove_all()
end)

test("many sleeping runs exist only as rows", function()
  define{ run = function(run) run:sleep("1d") end }
  db:write(function()
    for i = 1, 300 do perilune.emit("go", i) end
  end)
  perilune.sleep("1h")
  equal(db:fetch_value("SELECT count(*) FROM perilune_automation_run WHERE outcome = 'waiting' AND owner IS NULL"), 300)
  perilune.sleep("2d")
  equal(db:fetch_value("SELECT count(*) FROM perilune_automation_run WHERE outcome = 'succeeded'"), 100)
  remove_all()
end)

test("an error about a row that has left the request names run.key", function()
  db:execute("CREATE TABLE sale (id INTEGER PRIMARY KEY, state TEXT)")
  local Sale = perilune.record("sale")
  local function error_of(run, on)
    define{ on = on or { change = Sale:filter{ state = "paid" } }, run = run }
    perilune.sleep(1)
    if on then perilune.emit("go", { id = 1 }) else db:execute("INSERT INTO sale (state) VALUES ('paid')") end
    perilune.sleep("1 hour")
    remove_all()
    equal(last_run().outcome, "failed")
    return last_run().error
  end
  local function close(run)
    run:step("close", function() db:execute("UPDATE sale SET state = 'closed'") end)
    run:sleep("1m")
  end
  local advice = "; run.value is nil, because the row is deleted or the request does not select it any more: use run.key"
  matches(error_of(function(run) close(run) return run.value.id end), "attempt to index a nil value (field 'value')" .. advice)
  matches(error_of(function(run)
    local sale = run.value
    close(run)
    run:step("log", function() return sale.id end)
  end), "attempt to index a nil value (upvalue 'sale')" .. advice)
  local other = error_of(function(run)
    local nothing
    return nothing.x
  end)
  equal(other:find("run.value"), nil)
  matches(error_of(function(run) return run.value.id end, { event = "go" }), "(field 'value'); the data of an event is context.event")
end)
