-- attack: an endless recording
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") db:record_changes(function(d) while true do d:execute("INSERT INTO t (a) VALUES (randomblob(10000))") end end)
-- attack: a recording of one statement
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") db:record_changes(function(d) d:execute("INSERT INTO t (a) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(1000) FROM n") end)
-- attack: nested recordings
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local function f(d) d:execute("INSERT INTO t (a) VALUES (1)") d:record_changes(f) end db:record_changes(f)
-- attack: a recording of a wide table
local c = {} for i = 1, 1990 do c[i] = "c" .. i end db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, " .. table.concat(c, ", ") .. ")") local s = db:record_changes(function(d) for i = 1, 300 do d:execute("INSERT INTO t (c1) VALUES (?)", i) end end) while true do s:rows() end
-- attack: changesets kept in memory
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local c = db:record_changes(function(d) d:execute("INSERT INTO t (a) VALUES (zeroblob(1000000))") end) local t = {} while true do t[#t + 1] = c:inverted() t[#t + 1] = c:serialize() t[#t + 1] = perilune.changeset(t[#t]) end
-- attack: combined changesets
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local c for i = 1, math.huge do local one = db:record_changes(function(d) d:execute("INSERT INTO t VALUES (?, zeroblob(100))", i) end) c = c and c .. one or one end
-- attack: a changeset with many rows
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local c = db:record_changes(function(d) d:execute("INSERT INTO t (a) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n") end) local t = {} while true do t[#t + 1] = c:rows() end
-- attack: changes that depend on each other
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE)") db:execute("INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i, i FROM n") local c = db:record_changes(function(d) d:execute("UPDATE t SET a = -a") d:execute("UPDATE t SET a = 1 - a") end) db:apply_changes(c:inverted()) db:apply_changes(c)
-- attack: changes applied repeatedly
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local c = db:record_changes(function(d) d:execute("INSERT INTO t (a) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000) SELECT i FROM n") end) while true do db:apply_changes(c:inverted()) db:apply_changes(c) end
-- attack: conflict functions that loop
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local c = db:record_changes(function(d) d:execute("INSERT INTO t VALUES (1, 2)") end) pcall(db.apply_changes, db, c, { conflict = function() while true do end end })
-- attack: conflict functions that use the database
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local c = db:record_changes(function(d) d:execute("INSERT INTO t (a) VALUES (1), (2), (3)") end) for _, f in ipairs{ function() db:execute("DROP TABLE t") end, function() db:apply_changes(c) end, function() db:interrupt() return "replace" end, function() db:close() end, function() coroutine.yield() end, function() perilune.sleep(1) end, function() error(("x"):rep(1000000)) end, function() return {} end, function() collectgarbage() return "omit" end } do pcall(db.apply_changes, db, c, { conflict = f }) coroutine.wrap(function() pcall(db.apply_changes, db, c, { conflict = f }) end)() end
-- attack: all kinds of conflicts with all answers
db:execute("CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, u REFERENCES u); INSERT INTO u VALUES (1)") local c = db:record_changes(function(d) d:execute("INSERT INTO t VALUES (1, 1, 1), (2, 2, 1); INSERT INTO u VALUES (2); DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (3, 3, 2)") end) for _, before in ipairs{ "SELECT 1", "DELETE FROM t", "DELETE FROM u", "UPDATE OR IGNORE t SET a = 3", "INSERT INTO u VALUES (7)" } do pcall(db.execute, db, before) for _, answer in ipairs{ "abort", "omit", "replace" } do for _, one in ipairs{ c, c:inverted() } do pcall(db.apply_changes, db, one, { conflict = answer }) pcall(db.apply_changes, db, one, { conflict = function() return answer end, tables = { "t", "u", "nothing" } }) end end end
-- attack: a changeset with changed bytes
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local bytes = db:record_changes(function(d) d:execute("INSERT INTO t (a) VALUES (1), ('text'), (zeroblob(300)), (1.5), (NULL)") end):serialize() math.randomseed(1) while true do local at = math.random(#bytes) local changed = bytes:sub(1, at - 1) .. string.char(math.random(0, 255)) .. bytes:sub(at + math.random(0, 2)) local ok, c = pcall(perilune.changeset, changed) if ok then pcall(c.rows, c) pcall(c.inverted, c) pcall(function() return c .. c end) pcall(db.apply_changes, db, c, { conflict = "replace" }) end end
-- attack: a changeset consisting of headers
local one = "T\2\1\0t\0" while true do local ok, c = pcall(perilune.changeset, one:rep(1000000)) if ok then c:rows() c:inverted() local _ = c .. c end end
-- attack: a recording of changing tables
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") pcall(db.record_changes, db, function(d) d:execute("INSERT INTO t VALUES (1, 2)") d:execute("ALTER TABLE t ADD COLUMN b DEFAULT 5") d:execute("UPDATE t SET a = 3") d:execute("DROP TABLE t") d:execute("CREATE TABLE t (id TEXT PRIMARY KEY, x, y, z) WITHOUT ROWID") d:execute("INSERT INTO t VALUES ('a', 1, 2, 3)") end) pcall(db.record_changes, db, function(d) d:execute("ALTER TABLE t RENAME TO u") d:execute("INSERT INTO u VALUES ('b', 1, 2, 3)") d:execute("VACUUM") end)
-- attack: a recording left in all ways
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") for _, f in ipairs{ function() error("x") end, function(d) d:execute("ROLLBACK") end, function(d) d:execute("COMMIT") end, function(d) d:interrupt() d:execute("INSERT INTO t (a) VALUES (1)") end, function(d) d:close() end, function() coroutine.yield() end, function(d) d:observe_transactions{ on_change = print } d:execute("INSERT INTO t (a) VALUES (1)") end } do pcall(db.record_changes, db, f) coroutine.wrap(function() pcall(db.record_changes, db, f) end)() pcall(db.execute, db, "INSERT INTO t (a) VALUES (1)") end
-- attack: a recording with an observer
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") db:observe_transactions{ on_change = function() end } db:record_changes(function(d) while true do d:execute("INSERT INTO t (a) VALUES (randomblob(100000))") d:execute("UPDATE t SET a = randomblob(100000)") end end)
-- attack: a recording of keys with an observer
db:execute("CREATE TABLE t (id TEXT PRIMARY KEY, a)") db:observe_transactions{ on_change = function() end } db:record_changes(function(d) for i = 1, math.huge do d:execute("INSERT INTO t VALUES (?, 1)", ("x"):rep(10000) .. i) d:execute("DELETE FROM t") end end)
-- attack: recorded zeroblobs that cannot be allocated
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local list = {} for i = 1, 560 do list[i] = ("x"):rep(100000) .. i end db:record_changes(function(d) for i = 1, 100 do d:execute("INSERT INTO t (a) VALUES (zeroblob(?))", i * 100000) end end)
