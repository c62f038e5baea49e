-- attack: did_rollback that begins a transaction
db:observe_transactions{ did_rollback = function(d) d:execute("BEGIN") end } pcall(db.write, db, function() error("x") end)
-- attack: did_commit that begins a transaction
db:observe_transactions{ did_commit = function(d) d:execute("BEGIN") end } db:execute("CREATE TABLE t (a)") db:execute("INSERT INTO t VALUES (1)")
-- attack: did_commit that loops
db:observe_transactions{ did_commit = function() while true do end end } db:execute("CREATE TABLE t (a)")
-- attack: on_change that loops
db:execute("CREATE TABLE t (a)") db:observe_transactions{ on_change = function() while true do end end } db:execute("INSERT INTO t VALUES (1)")
-- attack: will_commit that loops
db:execute("CREATE TABLE t (a)") db:observe_transactions{ will_commit = function() while true do end end } db:execute("INSERT INTO t VALUES (1)")
-- attack: did_commit that writes
db:execute("CREATE TABLE t (a)") db:observe_transactions{ did_commit = function(d) d:execute("INSERT INTO t VALUES (1)") end } while true do db:execute("INSERT INTO t VALUES (1)") end
-- attack: observers that add observers
db:execute("CREATE TABLE t (a)") local function f() db:observe_transactions{ did_commit = f, did_rollback = f, on_change = f } end f() while true do db:execute("INSERT INTO t VALUES (1)") end
-- attack: on_change that keeps all events
db:execute("CREATE TABLE t (a)") local t = {} db:observe_transactions{ on_change = function(e) t[#t + 1] = e end } db:execute("INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
-- attack: an observation that writes what it observes
db:execute("CREATE TABLE t (a)") db:observe(function(d) return d:fetch_value("SELECT COUNT(*) FROM t") end, function() db:execute("INSERT INTO t VALUES (1)") end) perilune.sleep(100)
-- attack: an observation with a large value
db:execute("CREATE TABLE t (a)") db:observe(function(d) return d:fetch_all("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n") end, function() end) perilune.sleep(100)
-- attack: ten thousand observations
db:execute("CREATE TABLE t (a)") for i = 1, 10000 do db:observe(function(d) return d:fetch_value("SELECT COUNT(*) FROM t") end, function() end) end while true do db:execute("INSERT INTO t VALUES (1)") end
-- attack: observers removed while they are called
db:execute("CREATE TABLE t (a)") local o o = db:observe_transactions{ on_change = function() o:cancel() end, did_commit = function() o:cancel() collectgarbage() end } for i = 1, 1000 do db:execute("INSERT INTO t VALUES (1)") end
-- attack: an error in every callback
db:execute("CREATE TABLE t (a)") db:observe_transactions{ on_change = error, will_commit = error, did_commit = error, did_rollback = error } while true do pcall(db.execute, db, "INSERT INTO t VALUES (1)") end
-- attack: constant polling
for _, p in ipairs{ 0, 1e-9, "0s", "1ns", "0.001ms", -1, 0 / 0, 1 / 0, math.mininteger } do pcall(db.observe, db, function(d) return d:fetch_value("SELECT 1") end, function() end, { poll = p }) pcall(db.observe_region, db, "sqlite_master", function() end, { poll = p }) end perilune.sleep(100)
-- attack: a map function that loops
db:observe(function(d) return d:fetch_value("SELECT 1") end, function() end, { map = function() while true do end end, duplicates = true }) perilune.sleep(100)
-- attack: an observation that changes itself
db:execute("CREATE TABLE t (a)") local o o = db:observe(function(d) return d:fetch_value("SELECT COUNT(*) FROM t") end, function(n) o:change(function(d) return n + 1 end) o:pause() o:resume() end, { duplicates = true }) perilune.sleep(100)
-- attack: an observation that always fails
db:observe(function() error("x") end, function() end, { on_error = function(_, again) db:notify_changes() pcall(error, "y") end }) perilune.sleep(100)
-- attack: a loop over values that writes the observed table
db:execute("CREATE TABLE t (a)") for _ in db:observe(function(d) return d:fetch_value("SELECT COUNT(*) FROM t") end):values() do db:execute("INSERT INTO t VALUES (1)") end
-- attack: cyclic shared observations
db:execute("CREATE TABLE t (a)") local s s = db:share_observation(function(d) return d:fetch_value("SELECT COUNT(*) FROM t") end, { duplicates = true }) local function f() local one = s:observe(f) one:cancel() s:observe(function() db:notify_changes("t") end) end s:observe(f) perilune.sleep(100)
-- attack: endless notifications
db:execute("CREATE TABLE t (a)") db:observe_region("t", function() db:notify_changes("t") end) while true do db:notify_changes("t") end
-- attack: regions of many tables
db:write(function(d) for i = 1, 2000 do d:execute(("CREATE TABLE t%d (a)"):format(i)) end end) local names = db:tables() for i = 1, 200 do db:observe_region(names, function() end) end while true do for _, name in ipairs(names) do db:execute(("INSERT INTO %s VALUES (1)"):format(name)) end end
-- attack: many after_next_transaction calls
db:execute("CREATE TABLE t (a)") local function f(d) d:after_next_transaction(f, f) d:after_next_transaction(f, f) pcall(d.execute, d, "INSERT INTO t VALUES (1)") end db:after_next_transaction(f, f) while true do db:execute("INSERT INTO t VALUES (1)") end
-- attack: endless shared observations
while true do db:share_observation(function(d) return d:fetch_value("SELECT 1") end) end
-- attack: changes kept in savepoints
db:execute("CREATE TABLE t (a)") db:observe_transactions{ on_change = function() end } db:write(function(d) d:in_savepoint(function(e) while true do e:execute("INSERT INTO t VALUES (randomblob(100000))") e:execute("DELETE FROM t") end end) end)
-- attack: changes of other connections kept for observers
local a = perilune.queue() a:execute("CREATE TABLE t (a)") for _ = 1, 100 do a:observe_transactions{ on_change = function() end } end while true do a:execute("INSERT INTO t VALUES (randomblob(100000))") a:execute("DELETE FROM t") end
-- attack: observed zeroblobs that cannot be allocated
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") db:observe_transactions{ on_change = function() end } local list = {} for i = 1, 560 do list[i] = ("x"):rep(100000) .. i end for i = 1, 100 do db:execute("INSERT INTO t (a) VALUES (zeroblob(?))", i * 100000) end
