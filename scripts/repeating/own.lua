-- Scripts that print values that could differ between two processes, by name.

return {
  ["pairs of strings"] = [[
    local t = {}
    for word in ("the quick brown fox jumps over the lazy dog again and again"):gmatch("%a+") do t[word] = #word end
    for k, v in pairs(t) do print(k, v) end
    print(next(t))]],
  ["pairs of everything"] = [[
    local t = { 3, 2, 1, x = 1, [true] = 2, [false] = 3, [1.5] = 4, [-7] = 5, [print] = 6 }
    for i = 1, 9 do t[{}] = i t[function() return i end] = -i t[coroutine.create(print)] = i * 10 end
    for k, v in pairs(t) do print(type(k), v) end
    for k, v in next, t do print(type(k), v) end]],
  ["the last of pairs wins"] = [[
    local by_length = {}
    for name in pairs{ alpha = 1, gamma = 1, delta = 1, beta = 1, zeta = 1 } do by_length[#name] = name end
    print(by_length[4], by_length[5])]],
  ["addresses"] = [[
    print({}, print, coroutine.create(print), io.stdout, setmetatable({}, { __name = "x" }))
    print(("%s %p"):format({}, {}), tostring(db), perilune.null, perilune.now())
    print(pcall(error, {}))]],
  ["clocks"] = [[print(os.time(), os.date(), os.clock(), os.clock(), perilune.now(), os.date("*t").year)]],
  ["random numbers"] = [[
    print(math.random(), math.random(100), perilune.random(1, 100), perilune.uuid())
    print(db:fetch_value("SELECT random()"), db:fetch_value("SELECT hex(randomblob(8))"))
    math.randomseed(5)
    print(math.random(1, 1000000))]],
  ["memory"] = [[
    local t = {}
    for i = 1, 1000 do t[i] = { name = "n" .. i } end
    print(collectgarbage("count") > 0)
    t = nil
    collectgarbage()
    print(collectgarbage("count") > 0)]],
  ["finalizers"] = [[
    for i = 1, 20 do setmetatable({}, { __gc = function() print("gone", i) end }) end
    collectgarbage()
    local weak = setmetatable({}, { __mode = "k" })
    for i = 1, 200 do weak[{}] = i end
    local count = 0
    for i = 1, 3000 do local t = { i } end
    for _ in pairs(weak) do count = count + 1 end
    print(count)]],
  ["sorting equal elements"] = [[
    local list = {}
    for i = 1, 500 do list[i] = { i % 5, i } end
    table.sort(list, function(a, b) return a[1] < b[1] end)
    for _, item in ipairs(list) do io.write(item[2], " ") end
    print()]],
  ["dates of SQL"] = [[
    print(db:fetch_value("SELECT CURRENT_TIMESTAMP"), db:fetch_value("SELECT julianday('now')"), db:fetch_value("SELECT date('now', '+1 day')"))
    db:execute("CREATE TABLE d (id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)")
    db:execute("INSERT INTO d DEFAULT VALUES")
    print(db:fetch_value("SELECT at FROM d"))]],
  ["rowids and statistics"] = [[
    db:execute("CREATE TABLE r (id INTEGER PRIMARY KEY, a TEXT, b INTEGER); CREATE INDEX ra ON r(a)")
    db:write(function() for i = 1, 500 do db:execute("INSERT INTO r (a, b) VALUES (?, ?)", "k" .. i % 7, i) end end)
    db:execute("DELETE FROM r WHERE id > 490; DELETE FROM r WHERE b % 3 = 0; ANALYZE")
    db:execute("INSERT INTO r (a, b) VALUES ('new', 1)")
    for row in db:rows("SELECT * FROM sqlite_stat1") do print(row.tbl, row.idx, row.stat) end
    for row in db:rows("SELECT max(id) AS id FROM r") do print(row.id) end
    print(db:fetch_value("SELECT group_concat(a) FROM (SELECT DISTINCT a FROM r)"))]],
  ["named arguments and columns"] = [[
    db:execute("CREATE TABLE c (one TEXT, two TEXT, three TEXT, four TEXT, five TEXT)")
    local C = perilune.record("c")
    C:insert{ five = "5", three = "3", one = "1", four = "4", two = "2" }
    C:filter{ one = "1", two = "2", three = "3" }:update_all{ five = "x", four = "y", one = "z" }
    for _, row in ipairs(db:fetch_all("SELECT * FROM c")) do for k, v in pairs(row) do print(k, v) end end
    print(pcall(db.fetch_all, db, "SELECT :a", { a = 1, unknown = 2, other = 3, third = 4 }))
    print(pcall(C.insert, C, { nix = 1, nox = 2, nux = 3 }))]],
  ["JSON"] = [[
    print(perilune.json.encode{ z = 1, a = { 3, 2, 1 }, m = { q = true, b = false }, ["10"] = 1, ["9"] = 2 })
    for k, v in pairs(perilune.json.decode('{"b": 1, "a": 2, "c": {"y": 1, "x": 2}}')) do print(k, type(v)) end]],
  ["hooks and observers"] = [[
    db:execute("CREATE TABLE h (id INTEGER PRIMARY KEY, name TEXT, total INTEGER)")
    local H = perilune.record("h")
    function H:will_save() self.total = (self.total or 0) + 1 end
    function H:did_save() print("saved", self.id, self.name, self.total) end
    H:observe(function(rows) print("observed", #rows) end)
    for name in pairs{ c = 1, b = 1, a = 1 } do H:insert{ name = name } end
    perilune.sleep("1s")]],
  ["timers and tasks"] = [[
    for name, wait in pairs{ late = "3s", soon = "1s", middle = "2s", also = "1s" } do
      perilune.after(wait, function() print(name, perilune.now()) end)
    end
    for _, name in ipairs{ "x", "y" } do perilune.spawn(function() perilune.sleep("1s") print("task", name) end) end
    perilune.sleep("5s")
    print(os.date())]],
  ["automations"] = [[
    db:execute("CREATE TABLE stock (id INTEGER PRIMARY KEY, name TEXT, count INTEGER)")
    local Stock = perilune.record("stock")
    perilune.automation{ name = "low", on = { change = Stock:filter(Stock.c.count:lt(3)) }, run = function(context)
      for _, row in ipairs(context.value) do print("low", row.name) end
    end }
    perilune.automation{ name = "hourly", on = { every = "1h" }, run = function() print("hourly", perilune.now()) end }
    perilune.automation{ name = "nine", on = { schedule = "0 9 * * *" }, run = function() print("nine", perilune.now()) end }
    for name, count in pairs{ tea = 1, milk = 5, rice = 2, salt = 9 } do Stock:insert{ name = name, count = count } end
    perilune.sleep("26h")
    for _, a in ipairs(perilune.automations()) do for _, run in ipairs(a:runs()) do print(run.automation, run.outcome, run.started_at) end end]],
  ["schema and history"] = [[
    db:execute("CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT CHECK (b <> ''), c INTEGER REFERENCES p(id))")
    print(perilune.json.encode(db:schema("p")))
    for k, v in pairs(db:schema("p")) do print(k, type(v)) end]],
  ["errors with names"] = [[
    for _, f in ipairs{
      function() return db.fetch_al end, function() return perilune.recrd end, function() db:execute("SELEC") end,
      function() perilune.queue{ nix = 1 } end, function() perilune.date("x") end, function() return ("x").y.z end,
      function() local t = {} t.x.y = 1 end, function() error(setmetatable({}, { __tostring = function() return "own" end })) end,
    } do print(select(2, pcall(f))) end]],
  ["coroutines and closures"] = [[
    local made = {}
    for i = 1, 5 do made[coroutine.wrap(function() coroutine.yield(i) end)] = i end
    for f in pairs(made) do print(f()) end]],
  ["environment"] = [[local names = {} for name in pairs(_G) do names[#names + 1] = name end print(table.concat(names, " "))]],
  ["library"] = [[for name, value in pairs(perilune) do print(name, type(value)) end]],
}
