local perilune = perilune

test("a delayed function is called with its arguments when the script waits", function()
  local calls = {}
  local timer = perilune.after(0.01, function(...) calls[#calls + 1] = table.pack(...) end, 1, nil, "x")
  equal(timer:is_active(), true)
  equal(#calls, 0)
  perilune.sleep("30ms")
  equal(calls, { { 1, nil, "x", n = 3 } })
  equal(timer:is_active(), false)
  equal(timer:cancel(), false)
end)

test("a cancelled timer is never called, even if it is already due", function()
  local calls = 0
  local function count() calls = calls + 1 end
  local early, due = perilune.after(0.01, count), perilune.after(0, count)
  local past = os.clock() + 0.02
  while os.clock() < past do end
  equal(early:cancel(), true)
  equal(due:cancel(), true)
  equal(early:cancel(), false)
  perilune.sleep(0.02)
  equal(calls, 0)
end)

test("a repeating function is called until it is cancelled, even by itself", function()
  local calls, timer = 0, nil
  timer = perilune.every(0.005, function()
    calls = calls + 1
    if calls == 3 then timer:cancel() end
  end)
  perilune.sleep(0.1)
  equal(calls, 3)
end)

test("a repeating function skips calls that are due while it is still running", function()
  local running, most, calls = 0, 0, 0
  local timer = perilune.every(0.002, function()
    running, calls = running + 1, calls + 1
    most = math.max(most, running)
    perilune.sleep(0.02)
    running = running - 1
  end)
  perilune.sleep(0.1)
  timer:cancel()
  equal(most, 1)
  assert(calls >= 2 and calls <= 8, calls)
end)

test("timers are called in the order of their times, and timers with equal times in the order of definition", function()
  local order = {}
  local function note(name) order[#order + 1] = name end
  perilune.after(0.03, note, "third")
  perilune.after(0.01, note, "first")
  perilune.after(0.02, note, "second")
  perilune.sleep(0.06)
  equal(order, { "first", "second", "third" })
end)

test("tasks run while others wait, and their results can be awaited", function()
  local order = {}
  local function work(name, seconds)
    order[#order + 1] = name .. " begins"
    perilune.sleep(seconds)
    order[#order + 1] = name .. " ends"
    return name, nil
  end
  local slow, fast = perilune.spawn(work, "slow", 0.04), perilune.spawn(work, "fast", 0.01)
  equal(order, {})
  equal(table.pack(slow:wait()), { "slow", nil, n = 2 })
  equal(table.pack(fast:wait()), { "fast", nil, n = 2 })
  equal(order, { "slow begins", "fast begins", "fast ends", "slow ends" })
  equal(slow:status(), "done")
end)

test("several tasks may wait for one task", function()
  local task = perilune.spawn(function() perilune.sleep(0.01) return 7 end)
  local others = {}
  for i = 1, 3 do others[i] = perilune.spawn(function() return task:wait() + i end) end
  equal(others[1]:wait() + others[2]:wait() + others[3]:wait(), 27)
end)

test("the error of a task is raised where it is awaited", function()
  local task = perilune.spawn(function() perilune.sleep(0.01) db:execute("SELECT * FROM nowhere") end)
  local e = fails("sql", task.wait, task)
  matches(e, "nowhere")
  equal(task:status(), "failed")
  fails("sql", task.wait, task)
end)

test("a cancelled task ends at its wait and closes its variables", function()
  local began, closed = false, false
  local task = perilune.spawn(function()
    local guard <close> = setmetatable({}, { __close = function() closed = true end })
    began = true
    perilune.sleep(60)
    error("goes on")
  end)
  while not began do perilune.sleep(0.001) end
  equal(task:cancel(), true)
  equal(task:cancel(), false)
  fails("cancelled", task.wait, task)
  equal(task:status(), "cancelled")
  for _ = 1, 1000 do
    if not closed then perilune.sleep(0.005) end
  end
  equal(closed, true)
end)

test("unhandled errors go to perilune.on_error", function()
  local errors = {}
  perilune.on_error(function(e) errors[#errors + 1] = tostring(e) end)
  perilune.after(0, function() error("of a timer", 0) end)
  perilune.spawn(function() error("of a task", 0) end)
  perilune.sleep(0.02)
  table.sort(errors)
  equal(errors, { "of a task", "of a timer" })
end)

test("a delayed function may use the database in its own transactions", function()
  db:execute("CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT)")
  local timer = perilune.every(0.002, function()
    db:write(function(db) db:execute("INSERT INTO event(name) VALUES ('tick')") end)
  end)
  perilune.sleep(0.03)
  timer:cancel()
  assert(db:fetch_value("SELECT COUNT(*) FROM event") >= 2)
end)

test("waiting inside an access to the database is an error", function()
  fails("yield", db.write, db, function() perilune.sleep(0) end)
  local task = perilune.spawn(print)
  fails("yield", db.read, db, function() task:wait() end)
end)

test("an error about a forbidden wait names the function that cannot wait", function()
  local function refusal(f, ...)
    local done, e = pcall(f, ...)
    assert(not done)
    return e.message
  end
  local function sleep() perilune.sleep(0) end
  local cases = {
    write = function() db:write(sleep) end,
    in_transaction = function() db:in_transaction(function() pcall(error) sleep() end) end,
    sort = function() table.sort({ 1, 2 }, sleep) end,
    gsub = function() string.gsub("a", "a", sleep) end,
    tostring = function() tostring(setmetatable({}, { __tostring = sleep })) end,
  }
  for name, case in pairs(cases) do
    local message = refusal(case)
    assert(message:find("cannot be called inside `" .. name .. "`", 1, true), name .. ": " .. message)
  end
  -- The innermost function is named.
  local message = refusal(function() db:read(cases.sort) end)
  assert(message:find("inside `sort`", 1, true), message)
end)

test("coroutines of the script wait like the script itself", function()
  local step = coroutine.wrap(function()
    for i = 1, 3 do
      perilune.sleep(0.001)
      coroutine.yield(i)
    end
  end)
  equal({ step(), step(), step() }, { 1, 2, 3 })
end)

test("timers refuse invalid times and functions", function()
  for _, value in ipairs{ -1, 0 / 0, math.huge, "soon", "3 moons", "-1s", {}, true, 1e300, ("9"):rep(400) .. " s", { seconds = -1 },
    { seconds = 0 / 0 }, { hours = 1 / 0 }, { minutes = 1 / 0, seconds = -1 / 0 } } do
    for _, name in ipairs{ "after", "every", "sleep" } do
      matches(fails("argument", perilune[name], value, name ~= "sleep" and print or nil), "perilune." .. name .. ": expected seconds")
    end
  end
  fails("argument", perilune.every, 0, print)
  matches(fails("argument", perilune.after, 1), "expected a function, got nil")
  matches(fails("argument", perilune.every, 1, 2), "perilune.every: expected a function")
  fails("argument", perilune.spawn, "f")
  fails("argument", perilune.on_error, 1)
  fails("argument", perilune.on_signal, 2, print)
end)

test("too many timers are refused before they exhaust the host's memory", function()
  local timers = {}
  local e = fails("limit", function()
    for i = 1, 20000 do timers[i] = perilune.after(1000, print) end
  end)
  matches(e, "10000 timers, tasks and observations")
  for _, timer in ipairs(timers) do timer:cancel() end
  perilune.after(1000, print):cancel()
end)

test("durations can be texts with a unit", function()
  local calls = 0
  for _, time in ipairs{ "1ms", "0.001s", " 2 ms ", "1 millisecond", { milliseconds = 1 } } do perilune.after(time, function() calls = calls + 1 end) end
  local long = { perilune.after("1m", error), perilune.after("1 hour", error), perilune.after({ days = 2, hours = 1 }, error) }
  perilune.sleep("40ms")
  equal(calls, 5)
  matches(fails("unknown_unit", perilune.after, { hour = 1 }, print), "did you mean `hours`?")
  for _, timer in ipairs(long) do timer:cancel() end
end)

test("timers and tasks can be printed", function()
  local timer = perilune.after(100, print)
  equal(tostring(timer), "timer")
  timer:cancel()
  equal(tostring(timer), "timer (ended)")
  local task = perilune.spawn(function() end)
  equal(tostring(task), "task (running)")
  task:wait()
  equal(tostring(task), "task (done)")
  equal(getmetatable(task), "task")
end)

test("a task cannot wait for itself or for a task that waits for it", function()
  local first, second
  first = perilune.spawn(function() return pcall(first.wait, first) end)
  local is_ok, e = first:wait()
  equal({ is_ok, e.kind }, { false, "deadlock" })
  matches(e, "a task cannot wait for itself")

  first = perilune.spawn(function() return second:wait() end)
  second = perilune.spawn(function() return first:wait() end)
  matches(fails("deadlock", first.wait, first), "the other task is waiting for this one")
  equal({ first:status(), second:status() }, { "failed", "failed" })
end)

test("methods of timers and tasks need a colon, and unknown ones get the nearest name", function()
  local timer, task = perilune.after("1h", print), perilune.spawn(print)
  matches(fails("argument", function() timer.cancel() end), "timer:cancel: call it with a colon, got nil before the arguments")
  matches(fails("argument", function() task.wait(timer) end), "task:wait: call it with a colon")
  matches(fails("unknown_method", function() timer:cancell() end), "did you mean `cancel`?")
  matches(fails("unknown_method", function() task:stats() end), "did you mean `status`?")
  task:wait()
  timer:cancel()
end)
