-- Observation of changes, timers, tasks and automations. The scenarios set the clock, so waiting takes no time.
group("observation", { template = "shelf", tags = { "observation" } }, function()
  scenario("values are fetched again after each transaction that changes them", function(t)
    local counts = {}
    t.db.book:observe(function(books) counts[#counts + 1] = #books end)
    t.wait_until_idle()
    t.make.book { author_id = 1 }
    t.wait_until_idle()
    t.db:execute("UPDATE author SET country = 'US' WHERE id = 1")
    t.wait_until_idle()
    expect(counts):equals { 3, 4 }
  end)

  scenario("a loop over values ends the observation when it is left", function(t)
    perilune.after("1m", function() t.make.book { author_id = 1 } end)
    local observation = t.db:observe(function(db) return db:fetch_value("SELECT count(*) FROM book") end)
    for count in observation:values() do
      if count == 4 then break end
    end
    check(not observation:is_active())
    check(t.clock:now() == perilune.date("2000-01-01T00:01:00Z"))
  end)

  scenario("an observer is notified of each changed row and can reject the transaction", function(t)
    local events = {}
    t.db:observe_transactions {
      tables = { "author" },
      on_change = function(event) events[#events + 1] = ("%s %d"):format(event.operation, event.row_id) end,
      will_commit = function() if #events > 1 then error("one at a time", 0) end end,
    }
    t.db:execute("UPDATE author SET country = 'US' WHERE id = 1")
    expect_error(function() t.db:execute("DELETE FROM author WHERE id > 1") end, "one at a time")
    expect(events):equals { "update 1", "delete 2", "delete 3" }
    expect(t.db.author):count(3)
  end)
end)

group("timers and tasks", { database = "empty", tags = { "time" } }, function()
  scenario("timers fire in order even if the clock jumps far ahead", function(t)
    local seen = {}
    local function note(name) seen[#seen + 1] = name .. " " .. perilune.now():format("%H:%M") end
    perilune.after("90m", note, "once")
    local every = perilune.every("1h", note, "hourly")
    perilune.schedule("0 2 * * *", function() note("at two") end)
    t.clock:advance { hours = 2 }
    every:cancel()
    t.clock:advance { hours = 24 }
    expect(seen):equals { "hourly 01:00", "once 01:30", "hourly 02:00", "at two 02:00", "at two 02:00" }
  end)

  scenario("tasks run concurrently and can be awaited", function(t)
    local function add(seconds, number)
      return perilune.spawn(function()
        perilune.sleep(seconds)
        return number
      end)
    end
    local slow, fast = add(60, 1), add(1, 2)
    check(fast:wait() + slow:wait() == 3)
    check(t.clock:now() == perilune.date("2000-01-01T00:01:00Z"))
  end)
end)

group("observations", { template = "shelf", tags = { "observation" } }, function()
  scenario("an observed list changes to its next page, pauses and resumes", function(t)
    local titles = {}
    local books = t.fixtures.models.Book:order("id")
    local observation = books:limit(2):observe(function(page)
      titles = {}
      for i, book in ipairs(page) do titles[i] = book.title end
    end, { keeps_alive = false })
    t.wait_until_idle()
    expect(titles):equals { "Typee", "Moby-Dick" }
    observation:change(books:limit(2, 2))
    t.wait_until_idle()
    expect(titles):equals { "The Plague" }
    observation:pause()
    t.db:execute("UPDATE book SET title = 'La Peste' WHERE id = 3")
    t.wait_until_idle()
    expect(titles):equals { "The Plague" }
    observation:resume()
    t.wait_until_idle()
    expect(titles):equals { "La Peste" }
    observation:cancel()
  end)

  scenario("several functions share one observation", function(t)
    local fetched, counts = 0, {}
    local shared = t.db:share_observation(function(db)
      fetched = fetched + 1
      return db:fetch_all("SELECT * FROM book")
    end, { keeps_alive = false, map = function(rows) return #rows end })
    for i = 1, 3 do shared:observe(function(count) counts[i] = count end) end
    t.wait_until_idle()
    expect(counts):equals { 3, 3, 3 }
    t.db:execute("DELETE FROM book WHERE id = 3")
    t.wait_until_idle()
    expect(counts):equals { 2, 2, 2 }
    check(fetched == 2)
    shared:cancel()
  end)

  scenario("values are mapped, and equal values are delivered on request", function(t)
    local values = {}
    local observation = t.db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM book") end, function(value)
      values[#values + 1] = value
    end, { map = function(count) return count > 0 and "some" or "none" end, duplicates = true, keeps_alive = false })
    t.wait_until_idle()
    t.db:execute("INSERT INTO book (author_id, title) VALUES (1, 'Redburn')")
    t.wait_until_idle()
    expect(values):equals { "some", "some" }
    observation:cancel()
  end)

  scenario("transactions that may have changed a region are reported", function(t)
    local changes = 0
    local observation = t.db:observe_region({ table = "book", columns = { "title" } }, function() changes = changes + 1 end, { keeps_alive = false })
    t.db:execute("UPDATE book SET pages = 2")
    t.wait_until_idle()
    check(changes == 0)
    t.db:execute("UPDATE book SET title = title")
    t.wait_until_idle()
    check(changes == 1)
    t.db:execute("UPDATE book SET pages = 1")
    t.wait_until_idle()
    check(changes == 1)
    observation:cancel()
  end)
end)

group("automations", { database = "empty", tags = { "automations" } }, function()
  scenario("an automation runs when its request changes, and records each run", function(t)
    t.db:execute("CREATE TABLE product (id INTEGER PRIMARY KEY, stock INTEGER); CREATE TABLE alarm (id INTEGER PRIMARY KEY, product INTEGER)")
    local Product = perilune.record("product")
    perilune.automation {
      name = "low stock",
      on = { change = Product:filter(Product.c.stock:lt(10)) },
      when = function(context) return #context.value > 0 end,
      run = function(context) t.db:execute("INSERT INTO alarm (product) VALUES (?)", context.value[1].id) end,
    }
    t.given.product { { id = 1, stock = 12 }, { id = 2, stock = 30 } }
    t.wait_until_idle()
    expect(t.db.alarm):is_empty()
    t.db:execute("UPDATE product SET stock = 3 WHERE id = 2")
    t.wait_until_idle()
    expect(t.db.alarm):rows "| product |\n| 2 |"
    expect(t.db:fetch_all("SELECT automation, outcome FROM perilune_automation_run")):has_rows [[
      | automation | outcome   |
      | low stock  | succeeded |
    ]]
  end)

  scenario("a failed run is retried with increasing delays", function(t)
    local times = {}
    perilune.automation {
      name = "flaky", on = { every = "1h" }, retry = { times = 2, wait = "1m" },
      run = function()
        times[#times + 1] = perilune.now():format("%H:%M")
        if #times < 3 then error("not yet") end
      end,
    }
    t.clock:advance { hours = 1, minutes = 10 }
    expect(times):equals { "01:00", "01:01", "01:03" }
    expect(t.db:fetch_all("SELECT outcome, attempts FROM perilune_automation_run")):rows "| outcome | attempts |\n| succeeded | 3 |"
  end)

  scenario("inventory_automation.lua orders missing items once and receives them", function(t)
    local result = t.run("scripts/examples/inventory_automation.lua")
    expect(result.output):contains("delivered")
    expect(t.db:fetch_all("SELECT name, amount, is_delivered FROM purchase_order JOIN product ON product.id = product_id ORDER BY name")):rows [[
      | name      | amount | is_delivered |
      | black tea | 7      | true         |
      | green tea | 12     | true         |
    ]]
    expect(t.db:fetch_all("SELECT DISTINCT outcome FROM perilune_automation_run WHERE outcome = 'failed'")):is_empty()
  end)
end)
