-- attack: did_rollback that begins
db:observe_transactions{ did_rollback = function(d) d:execute("BEGIN") end } pcall(db.write, db, function() error("x") end)
-- attack: did_commit that begins
db:observe_transactions{ did_commit = function(d) d:execute("BEGIN") end } db:execute("CREATE TABLE t (a)") db:execute("INSERT INTO t VALUES (1)")
-- attack: did_commit that spins
db:observe_transactions{ did_commit = function() while true do end end } db:execute("CREATE TABLE t (a)")
-- attack: on_change that spins
db:execute("CREATE TABLE t (a)") db:observe_transactions{ on_change = function() while true do end end } db:execute("INSERT INTO t VALUES (1)")
-- attack: will_commit that spins
db:execute("CREATE TABLE t (a)") db:observe_transactions{ will_commit = function() while true do end end } db:execute("INSERT INTO t VALUES (1)")
-- attack: did_commit that writes
db:execute("CREATE TABLE t (a)") db:observe_transactions{ did_commit = function(d) d:execute("INSERT INTO t VALUES (1)") end } while true do db:execute("INSERT INTO t VALUES (1)") end
-- attack: observers that observe
db:execute("CREATE TABLE t (a)") local function f() db:observe_transactions{ did_commit = f, did_rollback = f, on_change = f } end f() while true do db:execute("INSERT INTO t VALUES (1)") end
-- attack: on_change that keeps everything
db:execute("CREATE TABLE t (a)") local t = {} db:observe_transactions{ on_change = function(e) t[#t + 1] = e end } db:execute("INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
-- attack: an observation that writes what it observes
db:execute("CREATE TABLE t (a)") db:observe(function(d) return d:fetch_value("SELECT COUNT(*) FROM t") end, function() db:execute("INSERT INTO t VALUES (1)") end) perilune.sleep(100)
-- attack: an observation of much
db:execute("CREATE TABLE t (a)") db:observe(function(d) return d:fetch_all("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n") end, function() end) perilune.sleep(100)
-- attack: ten thousand observations
db:execute("CREATE TABLE t (a)") for i = 1, 10000 do db:observe(function(d) return d:fetch_value("SELECT COUNT(*) FROM t") end, function() end) end while true do db:execute("INSERT INTO t VALUES (1)") end
-- attack: observers removed while they are called
db:execute("CREATE TABLE t (a)") local o o = db:observe_transactions{ on_change = function() o:remove() end, did_commit = function() o:remove() collectgarbage() end } for i = 1, 1000 do db:execute("INSERT INTO t VALUES (1)") end
-- attack: an error in every callback
db:execute("CREATE TABLE t (a)") db:observe_transactions{ on_change = error, will_commit = error, did_commit = error, did_rollback = error } while true do pcall(db.execute, db, "INSERT INTO t VALUES (1)") end
