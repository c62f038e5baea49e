-- Measures the cost of durable work: `scripts/bench durable`. Each measure is shown with its goal, and compared with plain Lua on
-- the same engine if there is an equivalent.

local folder = arg and arg[1] or "."
local size = math.tointeger(tonumber(arg and arg[2] or "") or 20000)

local function open(name)
  local path = folder .. "/" .. name
  for _, ending in ipairs{ "", "-wal", "-shm" } do os.remove(path .. ending) end
  local database = perilune.pool(path)
  database:write_without_transaction(function(db) db:execute("PRAGMA synchronous = NORMAL") end)
  return database
end

local function time(f)
  local start = perilune.now()
  f()
  return perilune.now() - start
end

local function report(name, value, unit, goal)
  print(("%-46s %12.1f %-6s %s"):format(name, value, unit, goal or ""))
end

-- Enqueueing ------------------------------------------------------------------------------------------------------------------

local function enqueue()
  local db = open("enqueue.sqlite")
  local jobs = perilune.jobs("q", { db = db })
  local seconds = time(function()
    for _ = 1, size // 100 do
      db:write(function() for i = 1, 100 do jobs:enqueue{ n = i } end end)
    end
  end)
  report("enqueue, 100 in a transaction", size / seconds, "1/s", "goal 20,000")
  seconds = time(function() for i = 1, size // 10 do jobs:enqueue{ n = i } end end)
  report("enqueue, each its own transaction", size / 10 / seconds, "1/s")
  -- Ten lines of plain Lua: a table, a payload, a state.
  local plain = open("plain.sqlite")
  plain:execute("CREATE TABLE job (id INTEGER PRIMARY KEY, queue TEXT, state TEXT, payload TEXT, at TEXT)")
  plain:execute("CREATE INDEX ready ON job(queue, state, id)")
  seconds = time(function()
    for _ = 1, size // 100 do
      plain:write(function(db)
        for i = 1, 100 do
          db:execute("INSERT INTO job(queue, state, payload, at) VALUES ('q', 'ready', ?, ?)", perilune.json.encode{ n = i }, tostring(perilune.now()))
        end
      end)
    end
  end)
  report("  plain Lua, 100 in a transaction", size / seconds, "1/s")
end

-- Completing ------------------------------------------------------------------------------------------------------------------

local function complete(name, goal, options)
  local db = open("complete.sqlite")
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 0)")
  local jobs = perilune.jobs("q", { db = db })
  db:write(function() for i = 1, size // 2 do jobs:enqueue{ n = i } end end)
  local handler
  local seconds = time(function()
    handler = jobs:handle(function(job, handle) (handle or db):execute("UPDATE t SET n = n + ? WHERE id = 1", job.n) end, options)
    handler:wait_until_idle()
  end)
  report(name, size // 2 / seconds, "1/s", goal)
  assert(jobs:counts().done == size // 2)
  handler:cancel()
end

local function latency()
  local db = open("latency.sqlite")
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 0)")
  local jobs, delays = perilune.jobs("q", { db = db }), {}
  local handler = jobs:handle(function(job)
    delays[#delays + 1] = (perilune.now() - perilune.date(job.at)) * 1000
    db:execute("UPDATE t SET n = n + 1 WHERE id = 1")
  end)
  for _ = 1, 1000 do
    jobs:enqueue{ at = perilune.now():iso8601() }
    perilune.sleep("2ms")
  end
  handler:wait_until_idle()
  table.sort(delays)
  report("commit to start of its job, p95", delays[math.ceil(#delays * 0.95)], "ms", "goal 10")
  handler:cancel()
end

-- Steps -----------------------------------------------------------------------------------------------------------------------

local function steps()
  local db = open("steps.sqlite")
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 0)")
  local count, with_steps, is_done = 2000, nil, false
  local without = time(function()
    for _ = 1, count do db:write(function(handle) handle:execute("UPDATE t SET n = n + 1 WHERE id = 1") end) end
  end)
  local automation = perilune.automation{ name = "steps", db = db, durable = true, on = { event = "go" }, run = function(run)
    with_steps = run:call("time", function() return 0 end) and time(function()
      for i = 1, count do run:step("step " .. i, function(handle) handle:execute("UPDATE t SET n = n + 1 WHERE id = 1") end) end
    end)
    is_done = true
  end }
  automation:run()
  while not is_done do perilune.sleep("10ms") end
  report("transaction of one UPDATE", count / without, "1/s")
  report("step of one UPDATE", count / with_steps, "1/s")
  report("step over transaction", with_steps / without, "times", "goal 1.3")
  automation:remove()
end

local function memory()
  collectgarbage()
  collectgarbage()
  local file = io.open("/proc/self/statm")
  local pages = file and tonumber(file:read("a"):match("^%d+ (%d+)")) or 0
  if file then file:close() end
  return pages * 4096 / 2 ^ 20
end

local function sleeping()
  local db, count = open("sleeping.sqlite"), size
  local automation = perilune.automation{ name = "sleeps", db = db, durable = true, on = { event = "go" }, max = 100,
    run = function(run) run:sleep("30 days") end }
  local before = memory()
  db:write(function() for i = 1, count do automation:run(i) end end)
  local seconds = time(function()
    repeat
      perilune.sleep("50ms")
      local left = db:fetch_value("SELECT count(*) FROM perilune_automation_run WHERE outcome <> 'waiting'")
    until left == 0
  end)
  report(("%d sleeping runs, memory over none"):format(count), memory() - before, "MB", "goal 20 for 100,000")
  report("runs that begin to sleep", count / seconds, "1/s")
  automation:remove()
end

enqueue()
complete("complete a job of one UPDATE", "goal 8,000")
complete("  in one transaction with its end", nil, { transaction = true })
latency()
steps()
sleeping()
os.exit(0)
