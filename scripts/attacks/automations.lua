-- attack: a file of automations run as a script
perilune.automation{ name = "a", on = { every = "1ms" }, run = function() while true do end end }
-- attack: an automation that is always due
perilune.automation{ name = "a", on = { every = "1ms" }, run = function(d) d:execute("CREATE TABLE IF NOT EXISTS t (a)") end } perilune.sleep(100)
-- attack: endless automations
pcall(function() local i = 0 while true do i = i + 1 perilune.automation{ name = "a" .. i, on = { every = "1h" }, run = function() end } end end) while true do end
-- attack: an automation triggered by its own writes
db:execute("CREATE TABLE t (a)") perilune.automation{ name = "a", on = { change = "t" }, run = function(d) d:execute("INSERT INTO t VALUES (1)") end } db:execute("INSERT INTO t VALUES (1)") perilune.sleep(100)
-- attack: an automation that always fails
perilune.automation{ name = "a", on = { every = "1ms" }, retry = 1000000, run = function() error("x") end } perilune.sleep(100)
-- attack: a guard that loops
perilune.automation{ name = "a", on = { every = "1ms" }, when = function() while true do end end, run = function() end } perilune.sleep(100)
-- attack: automations with wrong definitions
for _, v in ipairs{ {}, 1, "x", print, { every = "-1s" }, { every = "1e99s" }, { at = "99:99" }, { change = {} }, { change = "nothing" }, { every = 0 } } do pcall(perilune.automation, { name = "a", on = v, run = print }) pcall(perilune.automation, v) pcall(perilune.automation, { name = v, on = { every = "1h" }, run = v }) end
-- attack: schedules in the far future
for _, s in ipairs{ "9999999h", "1ms", "292y", "0.0000001s" } do pcall(perilune.automation, { name = s, on = { every = s }, run = print }) end pcall(perilune.schedule, math.maxinteger, print) pcall(perilune.at, math.maxinteger, print) pcall(perilune.after, math.huge, print) pcall(perilune.after, -math.huge, print) pcall(perilune.after, 0 / 0, print)
-- attack: on_error that raises
perilune.on_error(function() error("again") end) perilune.after(0, error) perilune.sleep(0.01) perilune.spawn(error)
-- attack: on_error that loops
perilune.on_error(function() while true do end end) perilune.spawn(error) perilune.sleep(1)
-- attack: signals
pcall(perilune.on_signal, "TERM", function() while true do end end) pcall(perilune.on_signal, "KILL", print) pcall(perilune.emit, ("x"):rep(1000000)) while true do end
-- attack: automations that fill the database
db:execute("CREATE TABLE t (a)") perilune.automation{ name = "a", on = { every = "1ms" }, run = function(c) for i = 1, 50 do c.db:execute("INSERT INTO t VALUES (zeroblob(1000000))") end end } perilune.sleep(100)
-- attack: timers that fill the database
db:execute("CREATE TABLE t (a)") perilune.every(0.001, function() for i = 1, 50 do db:execute("INSERT INTO t VALUES (zeroblob(1000000))") end end)
-- attack: tasks that fill the database
db:execute("CREATE TABLE t (a)") for i = 1, 1000 do perilune.spawn(function() for i = 1, 50 do db:execute("INSERT INTO t VALUES (zeroblob(1000000))") end end) end
-- attack: an automation with much SQL
db:execute("CREATE TABLE t (a)") perilune.automation{ name = "a", on = { every = "1ms" }, run = function(c) for i = 1, math.huge do c.db:execute("SELECT '" .. ("x"):rep(500000) .. i .. "'") end end } perilune.sleep(100)
-- attack: an automation with much text
perilune.automation{ name = "a", on = { every = "1ms" }, run = function() error(("x"):rep(10000000)) end } for i = 1, 1000 do perilune.emit(("x"):rep(10000000) .. i, ("y"):rep(10000000)) end perilune.sleep(100)
