local perilune = perilune

local function remove_all()
  for _, automation in ipairs(perilune.automations()) do automation:remove() end
end

local seen

local function define(change, options)
  seen = {}
  options = options or {}
  options.name, options.durable, options.on = options.name or "a", true, { change = change }
  options.mode = options.mode or "queued"
  options.run = options.run or function(run)
    seen[#seen + 1] = ("%s %s %s"):format(run.trigger.operation, run.key, run.value and run.value.state or "-")
  end
  return perilune.automation(options)
end

local function make_orders()
  db:execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, code TEXT UNIQUE)")
  return perilune.record("orders")
end

--- Ends the automation like the end of its process, which keeps the recorded rows.
local function stop()
  local names = { "perilune_schedule", "perilune_change_reader", "perilune_change_match" }
  local triggers = db:fetch_values("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'perilune_change_of%'")
  for _, name in ipairs(names) do db:execute(("CREATE TEMP TABLE saved_%s AS SELECT * FROM %s"):format(name, name)) end
  remove_all()
  for _, name in ipairs(names) do db:execute(("INSERT INTO %s SELECT * FROM saved_%s; DROP TABLE saved_%s"):format(name, name, name)) end
  for _, sql in ipairs(triggers) do db:execute(sql) end
end

test("each changed row starts a durable run, in the order of the changes", function()
  make_orders()
  define("orders")
  db:execute("INSERT INTO orders(state) VALUES ('new'), ('new')")
  perilune.sleep(0.1)
  db:execute("UPDATE orders SET state = 'paid' WHERE id = 2; DELETE FROM orders WHERE id = 1")
  perilune.sleep(0.1)
  equal(seen, { "insert 1 new", "insert 2 new", "update 2 paid", "delete 1 -" })
  equal(db:fetch_value("SELECT count(*) FROM perilune_change"), 0)
  remove_all()
end)

test("changes that happen while no process is running start durable runs later", function()
  make_orders()
  define("orders")
  stop()
  db:execute("INSERT INTO orders(state) VALUES ('new')")
  db:execute("UPDATE orders SET state = 'paid'")
  perilune.sleep("1h")
  equal(seen, {})
  define("orders")
  perilune.sleep(0.1)
  -- A run reads the current row.
  equal(seen, { "insert 1 paid", "update 1 paid" })
  remove_all()
end)

test("a change that is rolled back triggers nothing", function()
  make_orders()
  define("orders")
  pcall(db.write, db, function()
    db:execute("INSERT INTO orders(state) VALUES ('new')")
    error("no")
  end)
  perilune.sleep(0.1)
  equal(seen, {})
  remove_all()
end)

test("a row that begins to match a request starts one run until it stops matching", function()
  local Order = make_orders()
  db:execute("INSERT INTO orders(state) VALUES ('paid'), ('new')")
  define(Order:filter{ state = "paid" })
  perilune.sleep(0.1)
  equal(seen, {})
  db:execute("UPDATE orders SET state = 'paid' WHERE id = 2")
  perilune.sleep(0.1)
  db:execute("UPDATE orders SET code = 'x' WHERE id = 2")
  perilune.sleep(0.1)
  equal(seen, { "update 2 paid" })
  db:execute("UPDATE orders SET state = 'new' WHERE id = 2")
  perilune.sleep(0.1)
  db:execute("UPDATE orders SET state = 'paid' WHERE id = 2")
  perilune.sleep(0.1)
  db:execute("INSERT INTO orders(state) VALUES ('paid')")
  perilune.sleep(0.1)
  equal(seen, { "update 2 paid", "update 2 paid", "insert 3 paid" })
  remove_all()
end)

test("a run that writes its own row does not trigger itself endlessly", function()
  local Order = make_orders()
  local count = 0
  define(Order:filter{ state = "paid" }, { run = function(run)
    run:step("mark", function() db:execute("UPDATE orders SET code = 'done' WHERE id = ?", run.value.id) end)
    count = count + 1
  end })
  db:execute("INSERT INTO orders(state) VALUES ('paid')")
  perilune.sleep("1h")
  equal({ count, db:fetch_value("SELECT code FROM orders") }, { 1, "done" })
  remove_all()
end)

test("replaced rows, deletions of all rows and changed keys count as changes", function()
  make_orders()
  define("orders")
  db:execute("INSERT INTO orders(id, state) VALUES (1, 'a'), (2, 'b')")
  perilune.sleep(0.1)
  seen = {}
  db:execute("REPLACE INTO orders(id, state) VALUES (1, 'c')")
  db:execute("UPDATE orders SET id = 7 WHERE id = 2")
  perilune.sleep(0.1)
  equal(seen, { "insert 1 c", "delete 2 -", "update 7 b" })
  seen = {}
  db:execute("DELETE FROM orders")
  perilune.sleep(0.1)
  table.sort(seen)
  equal(seen, { "delete 1 -", "delete 7 -" })
  remove_all()
end)

test("tables with composite, text or missing keys can trigger durable runs", function()
  db:execute("CREATE TABLE line (order_id INTEGER, name TEXT, state TEXT, PRIMARY KEY (order_id, name)) WITHOUT ROWID")
  db:execute("CREATE TABLE note (state TEXT)")
  db:execute("CREATE TABLE word (word TEXT PRIMARY KEY, state TEXT)")
  local keys = {}
  define({ "line", "note", "word" }, { run = function(run)
    keys[#keys + 1] = { run.trigger.table, run.trigger.key, run.key, run.value.state }
  end })
  db:execute("INSERT INTO line VALUES (1, 'it''s', 'x'); INSERT INTO note VALUES ('y'); INSERT INTO word VALUES ('é,''', 'z')")
  perilune.sleep(0.1)
  equal(keys, {
    { "line", { order_id = 1, name = "it's" }, "1,'it''s'", "x" }, { "note", 1, "1", "y" }, { "word", "é,'", "é,'", "z" },
  })
  remove_all()
end)

test("triggers on tables that are no longer observed are removed", function()
  make_orders()
  db:execute("CREATE TABLE other (a)")
  local function triggers() return db:fetch_values("SELECT DISTINCT tbl_name FROM sqlite_schema WHERE name LIKE 'perilune_change_of%' ORDER BY 1") end
  local first = define("orders")
  define("other", { name = "b" })
  equal(triggers(), { "orders", "other" })
  first:remove()
  equal(triggers(), { "other" })
  remove_all()
  equal(triggers(), {})
end)

test("two automations each receive all changes", function()
  make_orders()
  local counts = { a = 0, b = 0 }
  for name in pairs(counts) do define("orders", { name = name, run = function() counts[name] = counts[name] + 1 end }) end
  db:write(function() for _ = 1, 5 do db:execute("INSERT INTO orders(state) VALUES ('new')") end end)
  perilune.sleep(1)
  equal(counts, { a = 5, b = 5 })
  remove_all()
end)

test("thousands of changes are read in transactions of a few hundred changes", function()
  make_orders()
  define("orders", { keep = 5000, mode = "parallel" })
  db:execute("INSERT INTO orders(state) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) SELECT 'new' FROM n")
  perilune.sleep(10)
  equal({ #seen, db:fetch_value("SELECT count(*) FROM perilune_change") }, { 1200, 0 })
  remove_all()
end)

test("tables that cannot be observed are refused", function()
  make_orders()
  db:execute("CREATE VIEW paid AS SELECT * FROM orders; CREATE TEMP TABLE mine (a)")
  local function message(change, kind, more)
    local on = { change = change }
    for key, value in pairs(more or {}) do on[key] = value end
    return fails(kind or "argument", perilune.automation, { name = "x", durable = true, on = on, run = function() end })
  end
  matches(message("paid"), "`paid` is a view, which a durable automation cannot observe; observe its tables")
  matches(message("mine"), "`mine` is not in the main database")
  matches(message("ordrs", "unknown_table"), "did you mean `orders`?")
  matches(message("perilune_automation_run"), "is an internal table of Perilune")
  matches(message(function() end), "a durable automation observes tables, records or a request, got a function")
  matches(message("orders", nil, { poll = 1 }), "option `on.poll` does not apply to durable automations")
end)

test("a run that is started manually uses the key of the row that it receives", function()
  local Order = make_orders()
  db:execute("CREATE TABLE lines (orders_id INTEGER, n INTEGER, state TEXT, PRIMARY KEY (orders_id, n)); INSERT INTO lines VALUES (7, 2, 'new')")
  db:execute("INSERT INTO orders(id, state) VALUES (7, 'new'), (9, 'new')")
  local Line, keys = perilune.record("lines"), {}
  local function record_key(run) keys[#keys + 1] = run.key .. " " .. run.value.state end
  perilune.automation{ name = "orders", durable = true, on = { change = Order:filter{ state = "new" }:order("id") }, run = record_key }:run()
  perilune.automation{ name = "lines", durable = true, on = { change = Line:filter{ state = "new" } }, run = record_key }:run()
  perilune.automation{ name = "states", durable = true, on = { change = Line:filter{ state = "new" } }, run = record_key,
    key = function(context) return context.value.state end }:run()
  perilune.sleep(1)
  table.sort(keys)
  equal(keys, { "7 new", "7,2 new", "new new" })
  remove_all()
end)

test("the option key refuses run.id, the number of the run", function()
  local Order, keys = make_orders(), {}
  db:execute("INSERT INTO orders(id, state) VALUES (41, 'new')")
  local function define(name, on, key)
    perilune.automation{ name = name, durable = true, on = on, key = key, run = function(run) keys[#keys + 1] = run.key .. " of run " .. run.id end }
  end
  local function error_of(name) return db:fetch_value("SELECT error FROM perilune_automation_run WHERE automation = ?", name) end
  local function key_of_row(order) return "order " .. order.id end
  define("row", { change = Order:filter{ state = "paid" } }, key_of_row)
  define("event", { event = "paid" }, key_of_row)
  define("good", { change = Order:filter{ state = "paid" } }, function(run) return "order " .. run.value.id end)
  perilune.sleep(1)
  db:execute("UPDATE orders SET state = 'paid'")
  perilune.emit("paid", { id = 41 })
  perilune.sleep(2)
  matches(error_of("row"), "option `key`: run.id is the number of the run; use run.value.id, of the changed row")
  matches(error_of("event"), "run.id is the number of the run; use run.event.id, of the data of the event")
  equal(keys, { "order 41 of run " .. db:fetch_value("SELECT id FROM perilune_automation_run WHERE automation = 'good'") })
  remove_all()
end)

--- Defines an automation with the option `key`, whose runs wait for a signal.
local function define_with_code(change, key)
  seen = {}
  return perilune.automation{ name = "a", durable = true, on = { change = change }, key = key or function(run) return run.value.code end,
    run = function(run)
      local _, has_come = run:wait_for("go", { timeout = "10 days" })
      seen[#seen + 1] = run.key .. " " .. tostring(has_come)
    end }
end

test("the option `key` determines the key of a run that a change triggers", function()
  local Order = make_orders()
  define_with_code(Order:filter{ state = "paid" })
  db:execute("INSERT INTO orders VALUES (1, 'paid', 'R-1'), (2, 'paid', 'R-2')")
  perilune.sleep(1)
  equal(db:fetch_values("SELECT run_key FROM perilune_automation_run ORDER BY id"), { "R-1", "R-2" })
  equal({ perilune.signal("a", 1, "go"), perilune.signal("a", "R-1", "go") }, { false, true })
  perilune.sleep(1)
  equal(seen, { "R-1 true" })
  remove_all()
end)

test("the key of a run stays the same after its row changes, and in the next process", function()
  make_orders()
  define_with_code("orders")
  db:execute("INSERT INTO orders VALUES (1, 'paid', 'R-1')")
  perilune.sleep(1)
  stop()
  db:execute("DROP TABLE perilune_change_reader; DELETE FROM perilune_change; UPDATE orders SET code = 'other'")
  define_with_code("orders")
  equal(perilune.signal("a", "R-1", "go"), true)
  perilune.sleep(1)
  equal(seen, { "R-1 true" })
  remove_all()
end)

test("a signal sent before the run for a change starts reaches the run by its key", function()
  make_orders()
  define_with_code("orders")
  db:execute("INSERT INTO orders VALUES (1, 'paid', 'R-1')")
  equal(perilune.signal("a", "R-1", "go"), false)
  perilune.sleep(1)
  equal(seen, { "R-1 true" })
  remove_all()
end)

test("a run whose process ended before its key was recorded computes the key again", function()
  make_orders()
  define_with_code("orders")
  db:execute("INSERT INTO orders VALUES (1, 'paid', 'R-1')")
  perilune.sleep(1)
  remove_all()
  -- The row of a claimed run whose process has ended.
  db:execute("UPDATE perilune_automation_run SET outcome = 'queued', owner = NULL, run_key = NULL, code = NULL; DELETE FROM perilune_step")
  define_with_code("orders")
  perilune.sleep(1)
  equal(db:fetch_value("SELECT run_key FROM perilune_automation_run"), "R-1")
  remove_all()
end)

test("if the option `key` returns nil, the key of the changed row is used", function()
  make_orders()
  define_with_code("orders", function(run) return run.value and run.value.code end)
  db:execute("INSERT INTO orders VALUES (7, 'paid', NULL); DELETE FROM orders WHERE id = 7")
  perilune.sleep(1)
  equal(db:fetch_values("SELECT run_key FROM perilune_automation_run ORDER BY id"), { "7", "7" })
  remove_all()
end)
