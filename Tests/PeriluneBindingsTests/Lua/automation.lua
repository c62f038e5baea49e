local perilune = perilune

local function make_products()
  db:create_table("product", function(t)
    t:auto_incremented_primary_key("id")
    t:column("name", "text")
    t:column("stock", "integer"):not_null()
  end)
  return perilune.record("product")
end

--- Waits until a condition holds.
local function wait_for(condition)
  for _ = 1, 2000 do
    if condition() then return end
    perilune.sleep(0.002)
  end
  error("it has not happened", 2)
end

local function outcomes(automation)
  local list = {}
  for index, run in ipairs(automation:runs()) do list[index] = run.outcome .. (run.reason and " (" .. run.reason .. ")" or "") end
  return list
end

test("an automation runs when an event is emitted and receives its value", function()
  local events = {}
  local automation = perilune.automation{
    name = "greet", on = { event = "arrival" },
    run = function(context) events[#events + 1] = context.event.name .. " " .. context.trigger.kind end,
  }
  equal(perilune.emit("arrival", { name = "Ada" }), 1)
  equal(perilune.emit("departure"), 0)
  equal(events, {})
  wait_for(function() return not automation:is_running() end)
  equal(events, { "Ada event" })
  equal(tostring(automation), "automation greet (event arrival)")
  equal(perilune.automations(), { automation })
end)

test("each run is recorded and can be queried", function()
  local automation = perilune.automation{ name = "count", on = { event = "e" }, mode = "queued", keep = 3, run = function(context)
    if context.event == 4 then error("four is too much", 0) end
  end }
  for i = 1, 5 do perilune.emit("e", i) end
  wait_for(function() return not automation:is_running() end)
  equal(outcomes(automation), { "succeeded", "failed", "succeeded" })
  local run = automation:runs()[2]
  equal({ run.automation, run.attempts, run.error }, { "count", 1, "four is too much" })
  equal(perilune.json.decode(run.trigger), { kind = "event", name = "e", data = 4 })
  assert(run.duration_ms >= 0 and perilune.date(run.started_at) <= perilune.now())
  equal(db:fetch_value("SELECT count(*) FROM perilune_automation_run WHERE automation = 'count'"), 3)
end)

test("a run records exactly the SQL that it executed", function()
  db:execute("CREATE TABLE t (a)")
  local automation = perilune.automation{ name = "write", on = { event = "e" }, run = function()
    db:write(function(db)
      db:execute("INSERT INTO t VALUES (?)", { 1 })
    end)
    perilune.sleep(0.01)
    db:fetch_value("SELECT count(*) FROM t")
  end }
  perilune.emit("e")
  perilune.sleep(0.004)
  db:fetch_value("SELECT 42")
  wait_for(function() return not automation:is_running() end)
  equal(perilune.json.decode(automation:runs()[1].statements), { "INSERT INTO t VALUES (?)", "SELECT count(*) FROM t" })
end)

test("runs that a guard refuses are skipped", function()
  local calls = 0
  local automation = perilune.automation{
    name = "guarded", on = { event = "e" }, mode = "queued",
    when = function(context) return context.event > 1 end,
    run = function() calls = calls + 1 end,
  }
  perilune.emit("e", 1)
  perilune.emit("e", 2)
  wait_for(function() return not automation:is_running() end)
  equal(calls, 1)
  equal(outcomes(automation), { "succeeded", "skipped (guard)" })
end)

test("a failing automation affects neither others nor its next run", function()
  local calls = 0
  local bad = perilune.automation{ name = "bad", on = { event = "e" }, mode = "queued", run = function() calls = calls + 1 error("no") end }
  local good = perilune.automation{ name = "good", on = { event = "e" }, mode = "queued", run = function() calls = calls + 10 end }
  perilune.emit("e")
  perilune.emit("e")
  wait_for(function() return not bad:is_running() and not good:is_running() end)
  equal(calls, 22)
  equal(outcomes(bad), { "failed", "failed" })
  equal(outcomes(good), { "succeeded", "succeeded" })
  matches(bad:runs()[1].error, "no")
end)

test("a failed run is retried with increasing delays", function()
  local calls, start = {}, perilune.now()
  local automation = perilune.automation{
    name = "stubborn", on = { event = "e" }, retry = { times = 3, wait = "20ms", factor = 2 },
    run = function()
      calls[#calls + 1] = perilune.now():seconds_since(start)
      if #calls < 3 then error("not yet") end
    end,
  }
  perilune.emit("e")
  wait_for(function() return not automation:is_running() end)
  equal(#calls, 3)
  assert(calls[2] - calls[1] > 0.019 and calls[3] - calls[2] > 0.039)
  equal(outcomes(automation), { "succeeded" })
  equal(automation:runs()[1].attempts, 3)

  local hopeless = perilune.automation{ name = "hopeless", on = { event = "f" }, retry = { times = 1, wait = 0 }, run = function() error("never") end }
  perilune.emit("f")
  wait_for(function() return not hopeless:is_running() end)
  equal(hopeless:runs()[1].attempts, 2)
  equal(outcomes(hopeless), { "failed" })
end)

test("a failed attempt of an automation is logged before the next attempt", function()
  local lines, warning = {}, perilune.log.warning
  perilune.log.warning = function(message, fields) lines[#lines + 1] = { message, fields } end
  local automation = perilune.automation{ name = "logged", on = { event = "e" }, retry = { times = 1, wait = "1ms" }, run = function() error("no paper") end }
  perilune.emit("e")
  wait_for(function() return not automation:is_running() end)
  perilune.log.warning = warning
  equal(outcomes(automation), { "failed" })
  equal(#lines, 1)
  equal(lines[1][1], "automation `logged` failed in attempt 1 of 2, and will be tried again")
  matches(lines[1][2].error, ": no paper")
  equal({ lines[1][2].script, lines[1][2].line }, { automation.file, automation.line })
  automation:remove()
end)

local function record_calls(mode, max)
  local log = {}
  local automation = perilune.automation{
    name = mode, on = { event = mode }, mode = mode, max = max,
    run = function(context)
      log[#log + 1] = "begin " .. context.event
      perilune.sleep(0.02)
      log[#log + 1] = "end " .. context.event
    end,
  }
  for i = 1, 3 do
    perilune.emit(mode, i)
    perilune.sleep(0.004)
  end
  wait_for(function() return not automation:is_running() end)
  automation:remove()
  return log, automation
end

test("in mode single, triggers during a run are skipped", function()
  local log, automation = record_calls("single")
  equal(log, { "begin 1", "end 1" })
  equal(outcomes(automation), { "skipped (still running)", "skipped (still running)", "succeeded" })
end)

test("in mode queued, triggers during a run wait until earlier runs have ended", function()
  local log = record_calls("queued")
  equal(log, { "begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3" })
  local short, automation = record_calls("queued", 1)
  equal(short, { "begin 1", "end 1", "begin 2", "end 2" })
  equal(outcomes(automation)[2], "skipped (queue is full)")
end)

test("in mode restart, a trigger ends the current run and starts a new one", function()
  local log, automation = record_calls("restart")
  equal(log, { "begin 1", "begin 2", "begin 3", "end 3" })
  equal(outcomes(automation), { "succeeded", "cancelled (triggered again)", "cancelled (triggered again)" })
end)

test("in mode parallel, runs overlap up to a limit", function()
  local log = record_calls("parallel")
  equal(table.concat(log, ", ", 1, 3), "begin 1, begin 2, begin 3")
  local short, automation = record_calls("parallel", 2)
  equal(#short, 4)
  equal(outcomes(automation)[1], "skipped (too many at once)")
end)

test("a disabled automation is not triggered until it is enabled", function()
  local calls = 0
  local automation = perilune.automation{ name = "sleepy", on = { event = "e" }, enabled = false, run = function() calls = calls + 1 end }
  equal(perilune.emit("e"), 0)
  automation:enable()
  equal(perilune.emit("e"), 1)
  wait_for(function() return calls == 1 end)
  automation:disable()
  equal(automation:is_enabled(), false)
  equal(perilune.emit("e"), 0)
  automation:run("by hand")
  wait_for(function() return calls == 2 end)
  automation:remove()
  equal(perilune.automations(), {})
  automation:enable()
  equal(automation:is_enabled(), false)
end)

test("an automation can run repeatedly after a period", function()
  local calls = 0
  local automation = perilune.automation{ name = "tick", on = { every = "5ms" }, run = function() calls = calls + 1 end }
  wait_for(function() return calls >= 3 end)
  automation:remove()
  local count = calls
  perilune.sleep(0.02)
  equal(calls, count)
end)

test("an automation can run when any connection writes to its table", function()
  local Product = make_products()
  db:execute("CREATE TABLE other (a)")
  local calls = 0
  local automation = perilune.automation{ name = "watch", on = { change = Product }, run = function() calls = calls + 1 end }
  perilune.sleep(0.01)
  equal(calls, 0)
  Product{ name = "tea", stock = 3 }:insert()
  wait_for(function() return calls == 1 end)
  db:execute("UPDATE product SET stock = 2")
  wait_for(function() return calls == 2 end)
  db:execute("INSERT INTO other VALUES (1)")
  perilune.sleep(0.01)
  equal(calls, 2)
  automation:remove()
end)

test("an automation can run when the result of a request has changed, and receives the new value", function()
  local Product = make_products()
  local seen = {}
  local automation = perilune.automation{
    name = "low stock", on = { change = Product:filter(Product.c.stock:lt(5)):order("name") }, mode = "queued",
    run = function(context)
      local names = {}
      for index, product in ipairs(context.value) do names[index] = product.name end
      seen[#seen + 1] = table.concat(names, " ")
    end,
  }
  perilune.sleep(0.01)
  local tea = Product{ name = "tea", stock = 9 }
  tea:insert()
  perilune.sleep(0.01)
  equal(seen, {})
  tea:update_changes(function(product) product.stock = 4 end)
  wait_for(function() return #seen == 1 end)
  Product{ name = "ale", stock = 0 }:insert()
  wait_for(function() return #seen == 2 end)
  equal(seen, { "tea", "ale tea" })
  automation:remove()
end)

test("with the option initially, the first value counts as a change", function()
  local Product = make_products()
  Product{ name = "tea", stock = 1 }:insert()
  local counts = {}
  local automation = perilune.automation{
    name = "count", on = { change = function(db) return Product:fetch_count(db) end, initially = true },
    run = function(context) counts[#counts + 1] = context.value end,
  }
  wait_for(function() return #counts == 1 end)
  equal(counts, { 1 })
  automation:remove()
end)

test("invalid definitions are refused with suggestions", function()
  local function message(options, kind) return fails(kind or "argument", perilune.automation, options) end
  local function run() end
  matches(message(nil), "expected a table of options, got nil")
  matches(message{}, "option `name`: expected a name")
  matches(message{ name = "x" }, 'perilune.automation "x": option `run`: expected a function, got nil')
  matches(message{ name = "x", run = run }, "option `on`: expected { change = ... }")
  matches(message{ name = "x", run = run, on = {} }, "expected one of change, event, every and schedule, got none")
  matches(message{ name = "x", run = run, on = { event = "e", every = 1 } }, "expected one of `event` and `every`, got both")
  matches(message({ name = "x", run = run, on = { chnage = "t" } }, "unknown_option"), "did you mean `change`?")
  matches(message({ name = "x", run = run, on = { event = "e" }, mode = "queue" }, "unknown_mode"), "did you mean `queued`?")
  matches(message({ name = "x", run = run, on = { event = "e" }, wen = run }, "unknown_option"), "did you mean `when`?")
  matches(message{ name = "x", run = run, on = { every = "soon" } }, "expected seconds")
  matches(message{ name = "x", run = run, on = { schedule = "soon" } }, "expected five fields")
  matches(message{ name = "x", run = run, on = { event = "e" }, max = 0 }, "option `max`: expected an integer from 1")
  matches(message{ name = "x", run = run, on = { event = "e" }, retry = { times = -1 } }, "option `retry.times`")
  for _, factor in ipairs{ -1, 0, math.huge, 0 / 0 } do
    matches(message{ name = "x", run = run, on = { event = "e" }, retry = { factor = factor } },
      "option `retry.factor`: expected a number from 1 to 1000")
  end
  matches(message{ name = "x", run = run, on = { event = "e" }, db = 5 }, "option `db`: expected a database, got the integer 5")
  matches(message{ name = "x", run = run, on = { schedule = "0 0 31 2 *" } }, "option `on.schedule`")
  make_products()
  matches(message({ name = "x", run = run, on = { change = "prodcut" } }, "unknown_table"), "did you mean `product`?")
  equal(#perilune.automations(), 0)
  perilune.automation{ name = "x", run = run, on = { event = "e" } }
  matches(message({ name = "x", run = run, on = { event = "e" } }, "definition"), "an automation of that name already exists")
  matches(fails("argument", perilune.emit, 1), "expected the name of an event")
end)

test("skipped and cancelled runs inside an access are recorded", function()
  local function run() perilune.sleep(0.02) end
  local single = perilune.automation{ name = "single", on = { event = "e" }, run = run }
  local restart = perilune.automation{ name = "restart", mode = "restart", on = { event = "e" }, run = run }
  db:read(function()
    perilune.emit("e")
    perilune.emit("e")
  end)
  pcall(db.write, db, function()
    perilune.emit("e")
    error("rolled back")
  end)
  wait_for(function() return not single:is_running() and not restart:is_running() end)
  perilune.sleep(0.01)
  local list = outcomes(single)
  table.sort(list)
  equal(list, { "skipped (still running)", "skipped (still running)", "succeeded" })
  list = outcomes(restart)
  table.sort(list)
  equal(list, { "cancelled (triggered again)", "cancelled (triggered again)", "succeeded" })
end)

test("the table of runs may be dropped and is recreated", function()
  local automation = perilune.automation{ name = "x", on = { event = "e" }, run = function() end }
  for _ = 1, 2 do
    perilune.emit("e")
    wait_for(function() return not automation:is_running() end)
    equal(outcomes(automation), { "succeeded" })
    equal(automation:runs()[1].statements, "[]")
    db:execute("DROP TABLE perilune_automation_run")
  end
end)

test("an automation whose value cannot be fetched tries again later and does not stop the others", function()
  make_products()
  local values, others = {}, 0
  local automation = perilune.automation{ name = "fetch", mode = "queued", on = { change = function(db)
    local count = db:fetch_value("SELECT count(*) FROM product")
    if count == 1 then error("one is none", 0) end
    return count
  end }, run = function(context) values[#values + 1] = context.value end }
  perilune.automation{ name = "other", mode = "queued", on = { change = "product" }, run = function() others = others + 1 end }
  perilune.sleep(0.01)
  for i = 1, 2 do
    db:execute("INSERT INTO product(name, stock) VALUES ('tea', 1)")
    wait_for(function() return others >= i end)
  end
  wait_for(function() return #values == 1 and not automation:is_running() end)
  equal(values, { 2 })
  equal(outcomes(automation), { "succeeded", "failed (its observed value could not be fetched; retrying in 1s)" })
  equal(automation:runs()[2].error, "one is none")
  for _, automation in ipairs(perilune.automations()) do automation:remove() end
end)

test("an automation whose value can never be fetched retries after 1, 2 and 4 seconds, up to once a minute", function()
  make_products()
  local looks = {}
  local automation = perilune.automation{ name = "fetch", on = { change = function()
    looks[#looks + 1] = os.time()
    error("never", 0)
  end }, run = error }
  -- Writes to the table of runs and to the observed table in the meantime.
  for _ = 1, 30 do
    perilune.sleep(10)
    db:execute("INSERT INTO product(name, stock) VALUES ('tea', 1)")
  end
  automation:remove()
  local pauses = {}
  for i = 3, 9 do pauses[#pauses + 1] = looks[i] - looks[i - 1] end
  equal(pauses, { 1, 2, 4, 8, 16, 32, 60 })
  equal(#looks, 11)
  equal(#automation:runs(), 10)
  matches(automation:runs()[1].reason, "retrying in 60s")
end)

test("writes to Perilune's own tables trigger nothing", function()
  make_products()
  local calls = 0
  local function on_change(options)
    options.run = function() calls = calls + 1 end
    return perilune.automation(options)
  end
  local event = perilune.automation{ name = "event", on = { event = "e" }, run = function() end }
  on_change{ name = "runs", on = { change = function(db)
    return db:fetch_value("SELECT count(*) FROM perilune_automation_run")
  end } }
  matches(fails("argument", on_change, { name = "table", on = { change = "perilune_automation_run" } }),
    "`perilune_automation_run` is an internal table of Perilune")
  perilune.sleep(0.1)
  perilune.emit("e")
  perilune.sleep(0.1)
  equal(#event:runs(), 1)
  equal(calls, 0)
  for _, automation in ipairs(perilune.automations()) do automation:remove() end
end)

test("a removed automation never runs", function()
  local automation = perilune.automation{ name = "x", on = { event = "e" }, run = error }
  automation:remove()
  equal(perilune.emit("e"), 0)
  matches(fails("usage", automation.run, automation), 'automation "x": it has been removed')
end)

test("recording the first run triggers nothing", function()
  make_products()
  local calls = 0
  perilune.automation{ name = "watch", on = { change = "product" }, run = function() calls = calls + 1 end }
  perilune.sleep(0.05)
  db:execute("INSERT INTO product(name, stock) VALUES ('tea', 1)")
  perilune.sleep(0.1)
  equal(calls, 1)
  for _, automation in ipairs(perilune.automations()) do automation:remove() end
end)

test("automations that trigger each other endlessly are stopped and reported", function()
  db:execute("CREATE TABLE ping (n INTEGER)")
  db:execute("INSERT INTO ping VALUES (0)")
  local automation = perilune.automation{
    name = "ping", on = { change = "ping" }, mode = "queued", keep = 5,
    run = function() db:execute("UPDATE ping SET n = n + 1") end,
  }
  perilune.sleep(0.05)
  db:execute("UPDATE ping SET n = n + 1")
  local runs
  for _ = 1, 4000 do
    runs = automation:runs(1)
    if runs[1] and runs[1].outcome == "failed" then break end
    perilune.sleep(0.005)
  end
  equal(runs[1].outcome, "failed")
  matches(runs[1].error, "form a loop")
  local count = db:fetch_value("SELECT n FROM ping")
  assert(count > 100 and count < 2000, count)
  perilune.sleep(0.02)
  equal(db:fetch_value("SELECT n FROM ping"), count)
end)

test("a change that follows the definition immediately triggers the automation", function()
  local Product = make_products()
  local calls = {}
  local by_value = perilune.automation{ name = "value", on = { change = Product:order("id") }, run = function(context) calls.value = #context.value end }
  local by_table = perilune.automation{ name = "table", on = { change = Product }, run = function() calls.table = true end }
  Product{ name = "tea", stock = 1 }:insert()
  wait_for(function() return calls.value and calls.table end)
  equal(calls, { value = 1, table = true })
  by_value:remove()
  by_table:remove()
end)

--- Opens two connections to one file, like two processes, with a table in it.
local function two_connections()
  local path = temporary_path("shared.sqlite")
  local mine, other = perilune.queue(path), perilune.queue(path)
  mine:execute("CREATE TABLE t (a)")
  mine:execute("CREATE TABLE u (a)")
  return mine, other
end

test("with poll, writes by another process trigger automations on the changed tables only", function()
  local mine, other = two_connections()
  local count = 0
  local automation = perilune.automation{
    name = "a", db = mine, mode = "queued", on = { change = "t", poll = "5ms" }, run = function() count = count + 1 end,
  }
  perilune.sleep(0.05)
  equal(count, 0)
  other:execute("INSERT INTO t VALUES (1)")
  wait_for(function() return count == 1 end)
  other:execute("INSERT INTO u VALUES (1)")
  other:execute("UPDATE t SET a = 1")
  perilune.sleep(0.05)
  equal(count, 1)
  other:execute("UPDATE t SET a = 2")
  wait_for(function() return count == 2 end)
  mine:execute("INSERT INTO t VALUES (3)")
  wait_for(function() return count == 3 end)
  automation:remove()
  other:execute("DELETE FROM t")
  perilune.sleep(0.05)
  equal(count, 3)
  mine:close() other:close()
end)

test("with poll, writes by another process trigger automations on values", function()
  local mine, other = two_connections()
  local got = {}
  perilune.automation{
    name = "a", db = mine, mode = "queued",
    on = { change = function(db) return db:fetch_value("SELECT sum(a) FROM t") end, poll = 0.005 },
    run = function(context) got[#got + 1] = context.value end,
  }
  other:execute("INSERT INTO t VALUES (1)")
  wait_for(function() return #got == 1 end)
  other:execute("INSERT INTO t VALUES (2)")
  wait_for(function() return #got == 2 end)
  equal(got, { 1, 3 })
  mine:close() other:close()
end)

test("without poll, writes by another process trigger nothing", function()
  local mine, other = two_connections()
  local count = 0
  perilune.automation{ name = "a", db = mine, on = { change = "t" }, run = function() count = count + 1 end }
  other:execute("INSERT INTO t VALUES (1)")
  perilune.sleep(0.05)
  equal(count, 0)
  mine:close() other:close()
end)

test("poll must be a time and applies only to changes", function()
  local function define(on) return fails("argument", perilune.automation, { name = "a", on = on, run = print }).message end
  db:execute("CREATE TABLE t (a)")
  matches(define{ change = "t", poll = "often" }, 'option `on.poll`: expected seconds, or a text such as "500ms"')
  matches(define{ change = "t", poll = 0 }, "option `on.poll`: expected at least 0.001 seconds, got the integer 0")
  matches(define{ every = "5s", poll = "1s" }, "option `on.poll` applies only to changes")
end)

test("if thousands of events arrive at once, only the runs that are kept are written", function()
  local automation = perilune.automation{
    name = "a", on = { event = "go" }, keep = 3, run = function() perilune.sleep("1ms") end,
  }
  local commits = 0
  automation:run()
  perilune.sleep("100ms")
  db:observe_transactions{ did_commit = function() commits = commits + 1 end }
  for _ = 1, 5000 do perilune.emit("go") end
  wait_for(function() return commits > 3 and not automation:is_running() end)
  equal(db:fetch_values("SELECT count(*) FROM perilune_automation_run GROUP BY outcome ORDER BY outcome"), { 3, 2 })
  equal(commits < 12, true)
end)

test("a run that cannot start because of too many timers fails and blocks nothing", function()
  local automation = perilune.automation{ name = "a", on = { event = "go" }, run = function() end }
  local timers, is_ok, timer = {}, nil, nil
  repeat
    is_ok, timer = pcall(perilune.after, "1h", print)
    if is_ok then timers[#timers + 1] = timer end
  until not is_ok
  perilune.emit("go")
  equal(automation:is_running(), false)
  for _, one in ipairs(timers) do one:cancel() end
  perilune.emit("go")
  wait_for(function() return #automation:runs() == 2 end)
  equal(outcomes(automation), { "succeeded", "failed" })
  matches(automation:runs()[2].error, "10000 timers")
end)

test("polling for other processes never collides with the script", function()
  local mine, other = two_connections()
  local seen
  local observation = mine:observe(function(db) return db:fetch_value("SELECT count(*) FROM t") end, function(count) seen = count end, {
    poll = "1ms",
  })
  for _ = 1, 60 do
    other:execute("INSERT INTO t VALUES (1)")
    mine:execute("INSERT INTO t VALUES (2)")
    perilune.sleep("2ms")
  end
  wait_for(function() return seen == 120 end)
  observation:cancel()
  mine:close()
  other:close()
end)

--- Defines an automation on the table `watched`, and returns a function that returns the number of its runs since the last call.
local function count_runs()
  local count = 0
  perilune.automation{ name = "watcher", on = { change = "watched" }, mode = "parallel", run = function() count = count + 1 end }
  perilune.sleep(0.1)
  return function()
    perilune.sleep(0.1)
    local runs = count
    count = 0
    return runs
  end
end

test("reading the schema of another table does not make its next write trigger a run", function()
  db:execute("CREATE TABLE watched (id INTEGER PRIMARY KEY); CREATE TABLE other (id INTEGER PRIMARY KEY)")
  local runs = count_runs()
  for _, read in ipairs{ db.columns, db.primary_key, db.indexes, db.foreign_keys } do
    read(db, "other")
    db:execute("INSERT INTO other DEFAULT VALUES")
    equal(runs(), 0)
  end
  perilune.record("other"):insert{ id = 100 }
  equal(runs(), 0)
  db:write(function()
    db:fetch_all("SELECT * FROM pragma_table_info('watched')")
    db:execute("DELETE FROM other")
  end)
  equal(runs(), 0)
  db:execute("INSERT INTO watched DEFAULT VALUES")
  equal(runs(), 1)
end)

test("schema changes do not trigger automations on tables", function()
  db:execute("CREATE TABLE watched (id INTEGER PRIMARY KEY); CREATE TABLE other (id INTEGER PRIMARY KEY)")
  local runs = count_runs()
  for _, sql in ipairs{
    "CREATE TABLE third (a)", "CREATE INDEX i ON other(id)", "CREATE VIEW v AS SELECT * FROM watched", "CREATE TEMP TABLE t (a)",
    "ANALYZE", "ALTER TABLE other ADD COLUMN a", "DROP TABLE third", "ALTER TABLE watched ADD COLUMN a",
  } do
    db:execute(sql)
    equal({ sql, runs() }, { sql, 0 })
  end
  db:execute("CREATE TABLE fourth (a); UPDATE watched SET id = 1 WHERE 0; INSERT INTO watched DEFAULT VALUES")
  equal(runs() > 0, true)
end)

test("an automation on a table runs after exactly those transactions in which an SQLite trigger sees a change", function()
  db:execute([[
    CREATE TABLE watched (id INTEGER PRIMARY KEY, other_id INTEGER REFERENCES other(id) ON DELETE CASCADE, v TEXT);
    CREATE TABLE other (id INTEGER PRIMARY KEY, v TEXT);
    CREATE TABLE source (id TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
    CREATE TRIGGER copy AFTER INSERT ON source BEGIN INSERT INTO watched(v) VALUES (new.id); END;
    CREATE TABLE seen (id INTEGER PRIMARY KEY);
    CREATE TRIGGER seen_insert AFTER INSERT ON watched BEGIN INSERT INTO seen VALUES (NULL); END;
    CREATE TRIGGER seen_update AFTER UPDATE ON watched BEGIN INSERT INTO seen VALUES (NULL); END;
    CREATE TRIGGER seen_delete AFTER DELETE ON watched BEGIN INSERT INTO seen VALUES (NULL); END]])
  local runs = count_runs()
  math.randomseed(20)
  local names = 0
  local function name()
    names = names + 1
    return "n" .. names
  end
  local Other = perilune.record("other")
  local writes = {
    function() db:execute("INSERT INTO watched(other_id) SELECT id FROM other ORDER BY random() LIMIT 1") end,
    function() db:execute("UPDATE watched SET v = 'x' WHERE id % 3 = ?", { math.random(0, 5) }) end,
    function() db:execute("DELETE FROM watched WHERE id % 5 = ?", { math.random(0, 9) }) end,
    function() db:execute("REPLACE INTO watched(id, v) VALUES (?, 'y')", { math.random(1, 9) }) end,
    function() Other:insert{ v = name() } end,
    function() db:execute("DELETE FROM other WHERE id IN (SELECT other_id FROM watched WHERE id % 2 = ?)", { math.random(0, 1) }) end,
    function() db:execute("UPDATE other SET v = 'z'") end,
    function() db:execute("INSERT INTO source VALUES (?, 'w')", { name() }) end,
    function() db:execute("DELETE FROM source") end,
    function() db:execute(("CREATE TABLE %s (a)"):format(name())) end,
    function() db:execute(("CREATE INDEX %s ON other(v)"):format(name())) end,
    function() db:execute(("ALTER TABLE other ADD COLUMN %s"):format(name())) end,
    function() db:execute(("ALTER TABLE watched ADD COLUMN %s DEFAULT 1"):format(name())) end,
    function() db:columns(({ "watched", "other", "source", "seen" })[math.random(4)]) end,
    function() db:fetch_all("SELECT * FROM pragma_table_list, json_each('[1]')") end,
  }
  for step = 1, 300 do
    local index, is_block = math.random(#writes), math.random(4) == 1
    local fails = is_block and math.random(3) == 1
    if is_block then
      pcall(db.write, db, function()
        db:columns("other")
        writes[index]()
        if fails then error("no", 0) end
      end)
    else
      writes[index]()
    end
    local count = runs()
    local expected = db:fetch_value("SELECT count(*) FROM seen") > 0 and 1 or 0
    equal({ step, index, count }, { step, index, expected })
    db:execute("DELETE FROM seen")
    equal(runs(), 0)
  end
end)

test("unknown fields of the tables that an automation receives are errors, and optional fields are nil", function()
  local errors, failure_message = {}, nil
  local function message(f)
    local _, e = pcall(f)
    return tostring(e)
  end
  local automation = perilune.automation{
    name = "fields", on = { event = "go" },
    run = function(context)
      errors = {
        message(function() return context.trigger.payload.home end), message(function() return context.trigger.payload and 1 end),
        message(function() return context.trigger.opration end), message(function() return context.payload end),
        message(function() return context.vale end), message(function() return context:step("a", function() end) end),
      }
      equal({ context.trigger.data, context.trigger.due, context.trigger.is_late, context.value, context.event, context.is_rerun }, {})
      equal(perilune.json.encode(context.trigger), '{"kind":"event","name":"go"}')
      error("no", 0)
    end,
    on_failure = function(context, failure)
      equal({ failure.error, failure.outcome, failure.attempts, failure.reason }, { "no", "failed", 1, nil })
      failure_message = message(function() return failure.message end)
    end,
  }
  perilune.emit("go")
  wait_for(function() return failure_message end)
  for index, text in ipairs{
    "no field `payload`; use trigger.data", "no field `payload`; use trigger.data", "no field `opration`; did you mean `operation`?",
    "no field `payload`; use context.event", "no field `vale`; did you mean `value`?", "durable = true",
  } do matches(errors[index], text) end
  matches(failure_message, "no field `message`; use failure.error")
  automation:remove()
end)

test("the trigger and the value of an automation on a table lead to durable automations", function()
  make_products()
  local message
  local automation = perilune.automation{
    name = "changes", on = { change = "product" },
    run = function(context)
      equal(context.trigger.tables, { "product" })
      local _, e = pcall(function() return context.trigger.operation == "insert" end)
      message = tostring(e)
      return context.value.name
    end,
  }
  perilune.sleep(1)
  db:execute("INSERT INTO product (name, stock) VALUES ('tea', 1)")
  wait_for(function() return #automation:runs() > 0 and automation:runs()[1].outcome == "failed" end)
  matches(message, "no field `operation`, which only a durable automation on a table has")
  matches(message, "use durable = true, or trigger.tables")
  matches(automation:runs()[1].error, "(field 'value'); a change of a table has no value: use a request as the trigger, or durable = true")
  automation:remove()
end)
