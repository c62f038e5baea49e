local perilune = perilune

--- Waits until a condition holds.
local function wait_for(condition)
  for _ = 1, 2000 do
    if condition() then return end
    perilune.sleep(0.002)
  end
  error("it has not happened", 2)
end

local function states()
  return db:fetch_values("SELECT state FROM perilune_job ORDER BY id")
end

test("a job runs after it was enqueued and receives its payload", function()
  local mails = perilune.jobs("mail")
  local seen = {}
  local handler = mails:handle(function(job)
    seen[#seen + 1] = { job.to, job.payload.body, job.id, job.attempt, job.is_repeat, job.queue, tostring(job) }
  end)
  local id, is_added = mails:enqueue{ to = "ada", body = "hello" }
  equal({ id, is_added }, { 1, true })
  wait_for(function() return #seen == 1 end)
  equal(seen, { { "ada", "hello", 1, 1, false, "mail", "job 1 of mail" } })
  wait_for(function() return mails:counts().done == 1 end)
  local row = mails:find(1)
  equal({ row.state, row.attempts, row.owner, row.error }, { "done", 1, nil, nil })
  assert(row.started_at >= row.enqueued_at and row.ended_at >= row.started_at)
  handler:cancel()
end)

test("jobs run in the order of their priorities, then of their commits", function()
  local jobs = perilune.jobs("q")
  for index, priority in ipairs{ 0, 5, 0, 5, -1 } do jobs:enqueue(index, { priority = priority }) end
  local seen = {}
  local handler = jobs:handle(function(job) seen[#seen + 1] = job.payload end)
  wait_for(function() return #seen == 5 end)
  equal(seen, { 2, 4, 1, 3, 5 })
  handler:cancel()
end)

test("enqueueing is part of the transaction", function()
  local jobs = perilune.jobs("q")
  db:execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
  local seen = {}
  local handler = jobs:handle(function(job) seen[#seen + 1] = job.payload end)
  pcall(db.write, db, function()
    db:execute("INSERT INTO orders VALUES (1)")
    jobs:enqueue("lost")
    error("no")
  end)
  db:write(function()
    db:execute("INSERT INTO orders VALUES (2)")
    jobs:enqueue("kept")
  end)
  wait_for(function() return #seen == 1 end)
  perilune.sleep(1)
  equal(seen, { "kept" })
  handler:cancel()
end)

test("a failing job is retried with increasing delays and finally becomes dead", function()
  local jobs = perilune.jobs("q", { attempts = 4, backoff = { "10s", "15s" } })
  local times, start, dead = {}, perilune.now(), nil
  local handler = perilune.jobs("q", { attempts = 4, backoff = { "10s", "15s" }, on_dead = function(job, e) dead = { job.payload.n, tostring(e) } end })
    :handle(function(job)
      times[#times + 1] = perilune.now() - start
      equal(job.attempt, #times)
      error("attempt " .. job.attempt, 0)
    end)
  local id = jobs:enqueue{ n = 7 }
  perilune.sleep(5)
  local row = jobs:find(id)
  equal({ row.state, row.attempts, row.error, row.owner }, { "delayed", 1, "attempt 1", nil })
  perilune.sleep(100)
  equal(#times, 4)
  -- The delay is randomly up to a quarter longer.
  for index, wait in ipairs{ 10, 15, 15 } do
    local pause = times[index + 1] - times[index]
    assert(pause >= wait and pause < wait * 1.25 + 0.1, pause)
  end
  row = jobs:find(id)
  equal({ row.state, row.attempts, row.error, row.payload }, { "dead", 4, "attempt 4", '{"n":7}' })
  equal(dead, { 7, "attempt 4" })
  handler:cancel()
end)

test("perilune.on_error receives the errors of dead jobs and of on_dead, but not of earlier attempts", function()
  local errors = {}
  perilune.on_error(function(e) errors[#errors + 1] = tostring(e) end)
  local handler = perilune.jobs("q", { attempts = 2, on_dead = function() error("on_dead", 0) end }):handle(function(job)
    error("attempt " .. job.attempt, 0)
  end)
  perilune.jobs("q"):enqueue(1)
  wait_for(function() return #errors == 2 end)
  equal(errors, { "attempt 2", "on_dead" })
  perilune.on_error(nil)
  handler:cancel()
end)

test("a dead job can be run again", function()
  local jobs = perilune.jobs("q", { attempts = 1 })
  local is_broken, seen = true, 0
  local handler = jobs:handle(function()
    if is_broken then error("no", 0) end
    seen = seen + 1
  end)
  local id = jobs:enqueue(1)
  wait_for(function() return jobs:counts().dead == 1 end)
  is_broken = false
  equal({ jobs:retry(id), jobs:retry(id), jobs:retry(99) }, { true, false, false })
  wait_for(function() return seen == 1 end)
  perilune.sleep(0.01)
  equal({ jobs:find(id).state, jobs:find(id).attempts }, { "done", 1 })
  handler:cancel()
end)

test("a key is unique among unfinished jobs", function()
  local jobs = perilune.jobs("q")
  local id = jobs:enqueue(1, { key = "a" })
  equal({ jobs:enqueue(2, { key = "a" }) }, { id, false })
  local e = fails("job_exists", jobs.enqueue, jobs, 2, { key = "a", on_key = "raise" })
  matches(e, ('jobs:enqueue: job %d has the key `a` already, and is ready'):format(id))
  equal({ jobs:enqueue(3, { key = "a", on_key = "replace", priority = 4, delay = "1m" }) }, { id, true })
  local row = jobs:find("a")
  equal({ row.id, row.payload, row.priority, row.state }, { id, "3", 4, "delayed" })
  equal(select(2, perilune.jobs("other"):enqueue(1, { key = "a" })), true)
  local seen = {}
  local handler = jobs:handle(function(job)
    seen[#seen + 1] = job.payload
    if job.payload == 3 then
      equal({ jobs:enqueue(4, { key = "a" }) }, { id, false })
      matches(fails("job_exists", jobs.enqueue, jobs, 4, { key = "a", on_key = "replace" }), "and is running")
    end
  end)
  perilune.sleep("61s")
  equal({ jobs:enqueue(5, { key = "a", unique_for = "1h" }) }, { id, false })
  equal(select(2, jobs:enqueue(6, { key = "a" })), true)
  wait_for(function() return #seen == 2 end)
  equal(seen, { 3, 6 })
  handler:cancel()
end)

test("a delayed job runs when it is due", function()
  local jobs = perilune.jobs("q")
  local seen, start = {}, perilune.now()
  local handler = jobs:handle(function(job) seen[#seen + 1] = { job.payload, (perilune.now() - start) // 1 } end)
  jobs:enqueue("later", { delay = "5m" })
  jobs:enqueue("at", { at = perilune.now() + 60 })
  jobs:enqueue("now")
  perilune.sleep("10m")
  equal(seen, { { "now", 0.0 }, { "at", 60.0 }, { "later", 300.0 } })
  handler:cancel()
end)

test("jobs with the same order key run one after the other, and others concurrently", function()
  local jobs = perilune.jobs("q", { concurrency = 4, attempts = 3, backoff = { "1s", "1s" } })
  local log, failed = {}, false
  local handler = jobs:handle(function(job)
    if job.payload == "a2" and not failed then
      failed = true
      error("once", 0)
    end
    perilune.sleep(0.1)
    log[#log + 1] = job.payload
  end)
  for i = 1, 3 do jobs:enqueue("a" .. i, { order_by = "a" }) end
  jobs:enqueue("b1", { order_by = 7 })
  equal(states(), { "ready", "blocked", "blocked", "ready" })
  perilune.sleep(10)
  equal(log, { "a1", "b1", "a2", "a3" })
  handler:cancel()
end)

test("a cancelled or dead job lets the next one with its order key run", function()
  local jobs = perilune.jobs("q", { attempts = 1 })
  local first = jobs:enqueue("cancelled", { order_by = "k" })
  jobs:enqueue("dead", { order_by = "k" })
  jobs:enqueue("last", { order_by = "k", delay = "1m" })
  equal(jobs:cancel(first), true)
  local seen = {}
  local handler = jobs:handle(function(job)
    seen[#seen + 1] = job.payload
    if job.payload == "dead" then error("no", 0) end
  end)
  perilune.sleep(10)
  equal(seen, { "dead" })
  perilune.sleep(60)
  equal(seen, { "dead", "last" })
  equal(states(), { "cancelled", "dead", "done" })
  handler:cancel()
end)

test("the option concurrency limits how many jobs run at once", function()
  local jobs = perilune.jobs("q", { concurrency = 3 })
  local running, most = 0, 0
  local handler = jobs:handle(function()
    running = running + 1
    most = math.max(most, running)
    perilune.sleep(0.1)
    running = running - 1
  end)
  for i = 1, 12 do jobs:enqueue(i) end
  wait_for(function() return jobs:counts().done == 12 end)
  equal(most, 3)
  handler:cancel()
end)

test("the concurrency limit applies to all handlers of a queue together", function()
  local jobs = perilune.jobs("q", { concurrency = 2 })
  local running, most = 0, 0
  local function work()
    running = running + 1
    most = math.max(most, running)
    perilune.sleep(0.1)
    running = running - 1
  end
  local first, second = jobs:handle(work), jobs:handle(work)
  for i = 1, 8 do jobs:enqueue(i) end
  wait_for(function() return jobs:counts().done == 8 end)
  equal(most, 2)
  first:cancel()
  second:cancel()
end)

test("the option rate limits how many jobs start in a period", function()
  local jobs = perilune.jobs("q", { concurrency = 10, rate = "5/minute" })
  local times, start = {}, perilune.now()
  local handler = jobs:handle(function() times[#times + 1] = perilune.now() - start end)
  for i = 1, 12 do jobs:enqueue(i) end
  perilune.sleep("10s")
  equal(#times, 5)
  perilune.sleep("1h")
  equal(#times, 12)
  -- After the first five jobs, one starts every twelve seconds.
  for index = 6, 12 do
    local expected = (index - 5) * 12
    assert(math.abs(times[index] - expected) < 0.1, times[index])
  end
  handler:cancel()
end)

test("an attempt that exceeds its time is ended and counts as failed", function()
  local jobs = perilune.jobs("q", { timeout = "10s", attempts = 2, backoff = { "1s", "1s" } })
  local calls, is_cleaned = 0, false
  local handler = jobs:handle(function()
    calls = calls + 1
    local guard <close> = setmetatable({}, { __close = function() is_cleaned = true end })
    perilune.sleep("1h")
  end)
  local id = jobs:enqueue(1)
  local after = jobs:enqueue(2, { delay = "1m" })
  perilune.sleep("30s")
  equal({ calls, is_cleaned, jobs:find(id).state, jobs:find(id).error }, { 2, true, "dead", "the attempt took longer than 10s" })
  jobs:cancel(after)
  handler:cancel()
end)

test("a job can be cancelled by its id or key, even while it runs", function()
  local jobs = perilune.jobs("q")
  local calls = 0
  local handler = jobs:handle(function()
    calls = calls + 1
    perilune.sleep("1h")
  end)
  local running = jobs:enqueue(1)
  wait_for(function() return calls == 1 end)
  jobs:enqueue(2, { key = "k" })
  equal({ jobs:cancel("k"), jobs:cancel("k"), jobs:cancel(running), jobs:cancel(99) }, { true, false, true, false })
  perilune.sleep(1)
  equal({ calls, states() }, { 1, { "cancelled", "cancelled" } })
  jobs:enqueue(3)
  wait_for(function() return calls == 2 end)
  jobs:cancel(3)
  perilune.sleep(0.1)
  handler:cancel()
end)

test("quick jobs do not wait for a slow job that was claimed with them", function()
  local jobs = perilune.jobs("q", { concurrency = 2 })
  local seen = {}
  local handler = jobs:handle(function(job)
    if job.payload == "slow" then perilune.sleep("1h") end
    seen[#seen + 1] = job.payload
  end)
  for i = 1, 40 do jobs:enqueue(i == 20 and "slow" or i) end
  perilune.sleep("10s")
  equal(#seen, 39)
  perilune.sleep("2h")
  equal(#seen, 40)
  equal(db:fetch_value("SELECT max(attempts) FROM perilune_job"), 1)
  handler:cancel()
end)

test("with the option transaction, the job and its completion are one transaction", function()
  db:execute("CREATE TABLE account (balance INTEGER)")
  db:execute("INSERT INTO account VALUES (0)")
  local jobs = perilune.jobs("q", { attempts = 2, backoff = { 0, 0 } })
  local handler = jobs:handle(function(job, db)
    db:execute("UPDATE account SET balance = balance + ?", job.amount)
    if job.amount == 5 and job.attempt == 1 then error("no", 0) end
  end, { transaction = true })
  for _, amount in ipairs{ 3, 5, 7 } do jobs:enqueue{ amount = amount } end
  wait_for(function() return jobs:counts().done == 3 end)
  equal(db:fetch_value("SELECT balance FROM account"), 15)
  handler:cancel()
end)

test("a job that is cancelled during its transaction has no effect", function()
  db:execute("CREATE TABLE effect (a)")
  local jobs = perilune.jobs("q", { attempts = 1 })
  local handler = jobs:handle(function(job, handle)
    handle:execute("INSERT INTO effect VALUES (1)")
    handle:execute("UPDATE perilune_job SET state = 'cancelled', owner = NULL WHERE id = ?", job.id)
    jobs:enqueue("other", { delay = "1h", key = "k" })
  end, { transaction = true })
  jobs:enqueue(1)
  perilune.sleep(1)
  equal(db:fetch_value("SELECT count(*) FROM effect"), 0)
  handler:cancel()
end)

test("a paused queue starts no jobs until it is resumed", function()
  local jobs = perilune.jobs("q")
  local seen = 0
  local handler = jobs:handle(function() seen = seen + 1 end)
  jobs:pause()
  jobs:enqueue(1)
  perilune.sleep(10)
  equal(seen, 0)
  jobs:resume()
  wait_for(function() return seen == 1 end)
  handler:cancel()
end)

test("jobs without a handler stay in the queue", function()
  local jobs = perilune.jobs("q")
  jobs:enqueue(1)
  perilune.sleep("10d")
  equal(states(), { "ready" })
  local seen = 0
  local handler = jobs:handle(function() seen = seen + 1 end)
  wait_for(function() return seen == 1 end)
  handler:cancel()
end)

test("finished jobs can be pruned by age and state", function()
  local jobs = perilune.jobs("q", { attempts = 1, keep = "1h" })
  local handler = jobs:handle(function(job) if job.payload == "bad" then error("no", 0) end end)
  for _, payload in ipairs{ "bad", "good", "good" } do jobs:enqueue(payload) end
  wait_for(function() return jobs:counts().done == 2 and jobs:counts().dead == 1 end)
  equal(jobs:prune{ older_than = "1m" }, 0)
  equal(jobs:prune(), 2)
  equal(jobs:counts(), { ready = 0, delayed = 0, blocked = 0, running = 0, done = 0, dead = 1, cancelled = 0 })
  equal(jobs:prune{ states = { "dead" } }, 1)
  matches(fails("unknown_state", jobs.prune, jobs, { states = { "deed" } }), "did you mean `dead`?")
  handler:cancel()
end)

--- Prunes a queue like the handler of another process.
local function prune_in_handler(jobs)
  local handler = jobs:handle(function() end)
  handler:wait_until_idle()
  perilune.sleep(0.01)
  handler:cancel()
end

test("unique_for holds even if it is longer than the queue keeps jobs", function()
  for name, keep in pairs{ day = "1 day", hour = "1h", nothing = 0 } do
    local jobs = perilune.jobs(name, { keep = keep })
    local id = jobs:enqueue("held", { key = "a", unique_for = "30 days" })
    local brief = jobs:enqueue("brief", { key = "b", unique_for = "1 minute" })
    local plain = jobs:enqueue("plain", { key = "c" })
    local cancelled = jobs:enqueue("cancelled", { key = "d", unique_for = "30 days", delay = "1h" })
    jobs:cancel(cancelled)
    prune_in_handler(jobs)
    equal(jobs:counts().done, 3)
    perilune.sleep("25h")
    prune_in_handler(jobs)
    equal({ jobs:find(id).state, jobs:find(brief), jobs:find(plain), jobs:find(cancelled) }, { "done", nil, nil, nil })
    perilune.sleep("28 days")
    prune_in_handler(jobs)
    equal({ jobs:enqueue("again", { key = "a", unique_for = "30 days" }) }, { id, false })
    perilune.sleep("1 day")
    prune_in_handler(jobs)
    equal(jobs:find(id), nil)
    equal(select(2, jobs:enqueue("again", { key = "a", unique_for = "30 days" })), true)
  end
end)

test("the longest unique_for that was given for a key keeps its job", function()
  local jobs = perilune.jobs("q")
  local waiting = jobs:enqueue(1, { key = "waiting" })
  equal({ jobs:enqueue(2, { key = "waiting", unique_for = "10 days" }) }, { waiting, false })
  local replaced = jobs:enqueue(1, { key = "replaced" })
  equal({ jobs:enqueue(2, { key = "replaced", unique_for = "10 days", on_key = "replace" }) }, { replaced, true })
  local done = jobs:enqueue(1, { key = "done", unique_for = "1h" })
  prune_in_handler(jobs)
  equal({ jobs:enqueue(2, { key = "done", unique_for = "10 days" }) }, { done, false })
  equal({ jobs:enqueue(2, { key = "done", unique_for = "1h" }) }, { done, false })
  perilune.sleep("9 days")
  prune_in_handler(jobs)
  for key, id in pairs{ waiting = waiting, replaced = replaced, done = done } do
    equal({ jobs:enqueue(3, { key = key, unique_for = "10 days" }) }, { id, false })
  end
  equal(jobs:prune(), 3)
  equal(select(2, jobs:enqueue(3, { key = "done", unique_for = "10 days" })), true)
end)

test("unique_for works in databases of earlier versions", function()
  local jobs = perilune.jobs("q")
  db:execute("ALTER TABLE perilune_job DROP COLUMN unique_for")
  local plain, old = jobs:enqueue(1), jobs:enqueue(2, { key = "old" })
  prune_in_handler(jobs)
  pcall(db.write, db, function()
    jobs:enqueue(3, { key = "rolled back", unique_for = "10 days" })
    error("no")
  end)
  equal({ jobs:enqueue(3, { key = "old", unique_for = "10 days" }) }, { old, false })
  local new = jobs:enqueue(4, { key = "new", unique_for = "10 days" })
  prune_in_handler(jobs)
  perilune.sleep("9 days")
  prune_in_handler(jobs)
  equal(db:fetch_values("SELECT id FROM perilune_job"), { old, new })
  equal(db:fetch_value("SELECT count(*) FROM sqlite_schema WHERE name = 'perilune_job_done_key'"), 1)
  equal({ jobs:find(plain), jobs:find(new).unique_for // 1 }, { nil, 864000.0 })
end)

test("jobs can be listed, newest first", function()
  local jobs = perilune.jobs("q")
  for i = 1, 3 do jobs:enqueue(i, i == 2 and { delay = "1h" } or nil) end
  local ids = {}
  for index, row in ipairs(jobs:list()) do ids[index] = row.id end
  equal(ids, { 3, 2, 1 })
  equal(#jobs:list{ state = "ready" }, 2)
  equal(#jobs:list{ limit = 1 }, 1)
  matches(fails("unknown_state", jobs.list, jobs, { state = "raedy" }), "did you mean `ready`?")
end)

test("another process takes over the jobs of a process that has ended", function()
  local jobs = perilune.jobs("q", { attempts = 2 })
  -- Makes jobs look like jobs whose process was killed.
  jobs:enqueue("once")
  jobs:enqueue("twice")
  local probe = jobs:handle(function() perilune.sleep("1h") end)
  perilune.sleep(0.1)
  local owner = db:fetch_value("SELECT owner FROM perilune_job WHERE id = 1")
  local parts = {}
  for part in owner:gmatch("%S+") do parts[#parts + 1] = part end
  parts[5] = "1"
  db:execute("UPDATE perilune_job SET state = 'running', owner = ?, attempts = id", table.concat(parts, " "))
  jobs:cancel(99)
  probe:cancel()
  local seen, dead = {}, {}
  local handler = perilune.jobs("q", { attempts = 2, on_dead = function(job) dead[#dead + 1] = job.payload end }):handle(function(job)
    seen[#seen + 1] = { job.payload, job.attempt, job.is_repeat }
  end)
  perilune.sleep(1)
  equal(seen, { { "once", 2, true } })
  equal(dead, { "twice" })
  equal(jobs:find(2).error, "its process ended")
  handler:cancel()
end)

test("a database error does not stop a worker permanently", function()
  local jobs = perilune.jobs("q")
  local seen = 0
  local handler = jobs:handle(function() seen = seen + 1 end)
  db:execute("CREATE TRIGGER refuse BEFORE UPDATE ON perilune_job BEGIN SELECT RAISE(ABORT, 'refused'); END")
  jobs:enqueue(1)
  perilune.sleep(5)
  equal(seen, 0)
  db:execute("DROP TRIGGER refuse")
  perilune.sleep(5)
  equal(seen, 1)
  handler:cancel()
end)

test("finished jobs are completed even if a later one in their batch is ended or the database refuses temporarily", function()
  local jobs = perilune.jobs("q", { timeout = "10s", attempts = 1 })
  local calls = {}
  for i = 1, 6 do jobs:enqueue(i) end
  local handler = jobs:handle(function(job)
    calls[#calls + 1] = job.payload
    if job.payload == 3 then db:execute("CREATE TRIGGER refuse BEFORE UPDATE ON perilune_job BEGIN SELECT RAISE(ABORT, 'refused'); END") end
    if job.payload == 5 then perilune.sleep("1h") end
  end)
  perilune.sleep("5s")
  db:execute("DROP TRIGGER IF EXISTS refuse")
  perilune.sleep("1m")
  table.sort(calls)
  equal({ table.concat(calls, " "), table.concat(states(), " ") }, { "1 2 3 4 5 6", "done done done done dead done" })
  handler:cancel()
end)

test("a job whose failure could not be recorded is retried", function()
  local jobs = perilune.jobs("q", { attempts = 5, backoff = { "1s", "1s" } })
  local calls = 0
  local handler = jobs:handle(function()
    calls = calls + 1
    if calls == 1 then
      db:execute("CREATE TRIGGER refuse BEFORE UPDATE ON perilune_job BEGIN SELECT RAISE(ABORT, 'refused'); END")
      error("no", 0)
    end
  end)
  jobs:enqueue(1)
  perilune.sleep("5s")
  equal(states(), { "running" })
  db:execute("DROP TRIGGER refuse")
  perilune.sleep("1m")
  equal({ calls, states() }, { 2, { "done" } })
  handler:cancel()
end)

test("invalid arguments of jobs are refused", function()
  matches(fails("argument", perilune.jobs, ""), "perilune.jobs: argument 1: expected the name of a queue")
  matches(fails("unknown_option", perilune.jobs, "q", { atempts = 1 }), "did you mean `attempts`?")
  matches(fails("argument", perilune.jobs, "q", { attempts = 0 }), 'perilune.jobs "q": option `attempts`: expected an integer from 1')
  matches(fails("argument", perilune.jobs, "q", { backoff = "1s" }), "option `backoff`: expected { shortest, longest }")
  matches(fails("argument", perilune.jobs, "q", { backoff = { "1h", "1s" } }), "expected at least 3600 seconds")
  matches(fails("argument", perilune.jobs, "q", { rate = "many" }), 'such as "100/minute", got the string "many"')
  matches(fails("argument", perilune.jobs, "q", { concurrency = 1.5 }), "option `concurrency`")
  local jobs = perilune.jobs("q")
  matches(fails("argument", jobs.enqueue, jobs, print), 'jobs:enqueue: argument 1: expected a payload that JSON can express')
  matches(fails("argument", jobs.enqueue, jobs, ("x"):rep(2000000)), "at most 1048576 bytes as JSON, got 2000002")
  matches(fails("argument", jobs.enqueue, jobs, 1, { key = ("k"):rep(501) }), "option `key`: expected at most 500 bytes, got 501")
  matches(fails("argument", jobs.enqueue, jobs, 1, { delay = 1, at = "2026-01-01" }), "expected one of the options `delay` and `at`, got both")
  matches(fails("argument", jobs.enqueue, jobs, 1, { at = "soon" }), "jobs:enqueue: option `at`: expected a date")
  matches(fails("argument", perilune.jobs, ("q"):rep(501)), "perilune.jobs: argument 1: expected at most 500 bytes, got 501")
  matches(fails("unknown_on_key", jobs.enqueue, jobs, 1, { key = "a", on_key = "replaced" }), "did you mean `replace`?")
  matches(fails("argument", jobs.enqueue, jobs, 1, { order_by = {} }), "option `order_by`: expected a string or an integer")
  matches(fails("argument", jobs.handle, jobs), 'jobs:handle: expected a function, got nil')
  matches(fails("argument", jobs.cancel, jobs, {}), "expected the id or the key of a job")
  matches(fails("argument", jobs.enqueue, 1), "call it with a colon")
  matches(fails("unknown_method", function() return jobs.enqueu end), "did you mean `enqueue`?")
end)

test("a failed attempt of a job is logged before the next attempt", function()
  local queue, lines, warning = perilune.jobs("logged", { attempts = 2, backoff = { "1s", "1s" } }), {}, perilune.log.warning
  perilune.log.warning = function(message, fields) lines[#lines + 1] = { message, fields } end
  queue:enqueue{}
  local handler = queue:handle(function(job) if job.attempt == 1 then error("the paper is missing", 0) end end)
  while queue:counts().done == 0 do perilune.sleep("1s") end
  handler:cancel()
  perilune.log.warning = warning
  equal(#lines, 1)
  matches(lines[1][1], "failed in attempt 1 of 2")
  equal({ lines[1][2].queue, lines[1][2].error }, { "logged", "the paper is missing" })
end)

test("a handler in another process stays recorded until its lease ends", function()
  local elsewhere = "elsewhere boot pid 7 1 1"
  local jobs = perilune.jobs("q")
  local function owner() return db:fetch_value("SELECT owner FROM perilune_job_queue WHERE queue = 'q'") end
  jobs:handle(function() end):cancel()
  equal(owner(), nil)
  db:execute("UPDATE perilune_job_queue SET owner = ?", elsewhere)
  db:execute("CREATE TABLE IF NOT EXISTS perilune_owner (owner TEXT NOT NULL PRIMARY KEY, seen_at TEXT NOT NULL)")
  db:execute("REPLACE INTO perilune_owner VALUES (?, ?)", { elsewhere, tostring(perilune.now()) })
  local handler = jobs:handle(function() end)
  equal(owner(), elsewhere)
  handler:cancel()
  equal(owner(), elsewhere)
  db:execute("UPDATE perilune_owner SET seen_at = '1999-01-01 00:00:00.000'")
  handler = jobs:handle(function() end)
  local second = jobs:handle(function() end)
  local me = owner()
  assert(me and me ~= elsewhere, me)
  handler:cancel()
  equal(owner(), me)
  second:cancel()
  equal(owner(), nil)
end)

test("fields that a job never has are errors, and fields of the payload may be missing", function()
  local messages = {}
  local function message(f)
    local _, e = pcall(f)
    return tostring(e)
  end
  local handler = perilune.jobs("q"):handle(function(job)
    if job.payload == "text" then
      messages[3] = message(function() return job.to end)
    else
      equal({ job.cc, job.body, job.key, job.order_key, job.to }, { nil, nil, nil, nil, "ada" })
      equal({ job.payload.data, job.payload.attempts, job.payload.args, job.payload.to }, { nil, nil, nil, "ada" })
      messages[1], messages[2] = message(function() return job.data.to end), message(function() return job.attempts end)
    end
  end)
  perilune.jobs("q"):enqueue{ to = "ada" }
  perilune.jobs("q"):enqueue("text")
  wait_for(function() return messages[3] end)
  matches(messages[1], "no field `data`; use job.payload, or its fields directly, as in job.to")
  matches(messages[2], "no field `attempts`; use job.attempt")
  matches(messages[3], "no field `to`")
  equal(perilune.jobs("q"):counts().dead, 0)
  handler:cancel()
end)
