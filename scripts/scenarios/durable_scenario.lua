-- Durable automations and jobs. The scenarios set the clock, so days of waiting take no time.
group("durable automations", { tags = { "automations" } }, function()
  scenario("a durable run repeats its calls, sleeps for days and continues", function(t)
    t.db:execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT)")
    local Order, calls = perilune.record("orders"), 0
    perilune.automation{ name = "close", durable = true, on = { change = Order:filter{ state = "paid" } }, run = function(run)
      run:step("pack", function(db) db:execute("UPDATE orders SET state = 'packed' WHERE id = ?", run.value.id) end)
      run:call("ship", { retry = { times = 3, wait = "1h" } }, function()
        calls = calls + 1
        if calls < 3 then error("closed") end
      end)
      run:sleep("3 days")
      run:step("close", function(db) db:execute("UPDATE orders SET state = 'closed' WHERE id = ?", tonumber(run.key)) end)
    end }
    t.db:execute("INSERT INTO orders(state) VALUES ('paid')")
    t.wait_until_idle()
    expect(t.db:fetch_all("SELECT state FROM orders")):rows "| state |\n| packed |"
    t.clock:advance("2 days")
    t.wait_until_idle()
    expect(calls):equals(3)
    t.clock:advance("4 days")
    t.wait_until_idle()
    expect(t.db:fetch_all("SELECT state FROM orders")):rows "| state |\n| closed |"
    expect(t.db:fetch_all("SELECT outcome FROM perilune_automation_run")):rows "| outcome |\n| succeeded |"
  end)

  scenario("setting the clock back an hour delays runs and jobs and repeats none", { clock = "2026-03-10T08:59:00Z" }, function(t)
    t.db:execute("CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT)")
    local function log(what) t.db:execute("INSERT INTO log(what) VALUES (?)", what) end
    perilune.automation{ name = "daily", durable = true, on = { schedule = "0 9 * * *" }, run = function(run)
      run:step("log", function() log("daily") end)
    end }
    perilune.automation{ name = "sleeper", durable = true, on = { event = "go" }, run = function(run)
      run:sleep("30m")
      run:step("log", function() log("slept") end)
    end }
    local jobs = perilune.jobs("mail")
    jobs:handle(function(job) log(job.payload) end)
    jobs:enqueue("delayed job", { delay = "20m" })
    perilune.emit("go")
    t.clock:advance("2m")
    t.clock:set("2026-03-10T08:01:00Z")
    jobs:enqueue("job")
    t.clock:advance("3h")
    expect(t.db:fetch_all("SELECT what FROM log ORDER BY id")):rows [[
      | what        |
      | daily       |
      | job         |
      | delayed job |
      | slept       |
    ]]
  end)

  scenario("a failing job is retried after each backoff and finally becomes dead", function(t)
    local jobs, attempts = perilune.jobs("mail", { attempts = 3, backoff = { "1h", "1h" } }), 0
    local errors = {}
    -- Without a handler, the error of a dead job fails the scenario.
    perilune.on_error(function(e) errors[#errors + 1] = tostring(e) end)
    jobs:handle(function()
      attempts = attempts + 1
      error("attempt " .. attempts, 0)
    end)
    jobs:enqueue(1)
    t.wait_until_idle()
    expect(attempts):equals(1)
    t.clock:advance("1 day")
    t.wait_until_idle()
    expect(attempts):equals(3)
    expect(jobs:counts().dead):equals(1)
    expect(errors):equals{ "attempt 3" }
  end)
end)
