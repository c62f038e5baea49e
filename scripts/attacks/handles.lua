-- attack: a dead handle
local h db:write(function(d) h = d end) for _, m in ipairs{ "execute", "fetch_all", "write", "read", "in_savepoint", "close", "interrupt", "rows", "prepare" } do pcall(function() return h[m](h, "SELECT 1") end) end
-- attack: a cursor after its block
local c db:read(function(d) c = d:rows("SELECT 1 UNION SELECT 2") c() end) pcall(c)
-- attack: closing databases in all places
local q = perilune.queue() q:write(function(d) pcall(q.close, q) pcall(d.close, d) d:execute("CREATE TABLE t (a)") end) local c = q:rows("SELECT 1 UNION SELECT 2") c() q:close() pcall(c) pcall(q.execute, q, "SELECT 1") pcall(q.close, q)
-- attack: an interrupted read with a cursor open
local it = db:rows("SELECT 1 UNION SELECT 2") it() pcall(db.read, db, function() db:interrupt() end) pcall(it) db:execute("CREATE TABLE t (a)")
-- attack: interrupting statements in all places
while true do db:interrupt() pcall(db.write, db, function(d) d:execute("CREATE TABLE IF NOT EXISTS t (a)") d:interrupt() pcall(d.in_savepoint, d, function(e) e:interrupt() error("x") end) end) end
-- attack: a prepare that fails after BEGIN
pcall(perilune.queue, nil, { prepare = function(d) d:execute("BEGIN") error("x") end }) pcall(perilune.queue, nil, { prepare = function(d) d:execute("BEGIN") while true do end end })
-- attack: a trace that interrupts statements
local q q = perilune.queue(nil, { trace = function() if q then pcall(q.interrupt, q) end end }) pcall(q.execute, q, "CREATE TABLE t (a)") pcall(q.write, q, function(d) d:execute("CREATE TABLE u (a)") end)
-- attack: metatables of handles
for _, v in ipairs{ db, db:prepare("SELECT 1") } do pcall(setmetatable, v, {}) pcall(getmetatable, v) pcall(function() v.x = 1 end) pcall(function() return #v .. v + 1 < v end) pcall(rawset, v, 1, 2) pcall(next, v) end
-- attack: methods called with wrong values
local values = { nil, true, 1, 1.5, 0 / 0, math.mininteger, "", "SELECT 1", ("x"):rep(100000), {}, { {} }, print, coroutine.create(print), db } for name, f in pairs(getmetatable(db) and {} or {}) do end for _, m in ipairs{ "execute", "fetch_all", "fetch_one", "fetch_value", "fetch_values", "rows", "tuples", "prepare", "write", "read", "in_transaction", "backup_to", "add_function", "add_collation", "remove_collation", "remove_function", "observe", "observe_transactions", "schema", "tables", "columns", "indexes", "create_table", "drop_table" } do for i = 1, 14 do for j = 1, 14 do pcall(function() return db[m](db, values[i], values[j]) end) end end end
-- attack: redefining functions while they run
db:add_function("f", 1, function(x) pcall(db.add_function, db, "f", 1, function() return 2 end) pcall(db.remove_function, db, "f", 1) return x end) for r in db:rows("SELECT f(1) UNION SELECT f(2)") do pcall(db.remove_function, db, "f", 1) pcall(db.add_function, db, "f", 1, print) end
-- attack: an inconsistent collation
db:execute("CREATE TABLE t (a)") db:execute("INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT 'x' || i FROM n") db:add_collation("lies", function() return (os.time() + math.random(2)) % 2 == 0 and 1 or -1 end) db:fetch_all("SELECT a FROM t ORDER BY a COLLATE lies") pcall(db.execute, db, "CREATE INDEX i ON t (a COLLATE lies)")
-- attack: removing SQLite's collations
for _, c in ipairs{ "BINARY", "NOCASE", "RTRIM" } do pcall(db.remove_collation, db, c) end db:execute("CREATE TABLE t (a COLLATE NOCASE UNIQUE)") db:execute("INSERT INTO t VALUES ('a')")
-- attack: cyclic backups
local a, b = perilune.queue(), perilune.queue() a:execute("CREATE TABLE t (a)") while true do a:backup_to(b) b:backup_to(a) end
-- attack: endless SQL functions
for i = 1, math.huge do db:add_function("f" .. i, function() end) db:add_collation("c" .. i, function() return 0 end) db:add_aggregate("g" .. i, { step = function() end }) end
-- attack: functions with long names
for i = 1, math.huge do pcall(db.add_function, db, ("f"):rep(200) .. i, function() end) pcall(db.add_function, db, ("f"):rep(1000000) .. i, function() end) end
