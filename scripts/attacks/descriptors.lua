-- attack: databases kept open
local t = {} while true do t[#t + 1] = perilune.queue() t[#t]:execute("CREATE TABLE t (a)") end
-- attack: files
for _, p in ipairs{ "/etc/passwd", "x.sqlite", "file:x?mode=memory", "../x", "/dev/full", "/proc/self/mem" } do assert(not pcall(perilune.queue, p)) assert(not pcall(perilune.pool, p)) end
-- attack: files written by SQL
for _, s in ipairs{ "ATTACH 'x.sqlite' AS x", "VACUUM INTO 'x.sqlite'", "ATTACH '' AS x", "PRAGMA temp_store_directory = '/'", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('x', 'y')", "CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')", "SELECT edit('x')", "PRAGMA data_store_directory = '/'", "SELECT fts3_tokenizer('simple')" } do assert(not pcall(db.fetch_value, db, s) or s:find("PRAGMA"), s) end
-- attack: libraries
assert(not io and not package or not package.loadlib) assert(not os.execute and not os.remove and not os.getenv and not os.exit and not loadfile and not dofile) assert(not debug.sethook and not debug.getregistry and not debug.setmetatable)
-- attack: modules
assert(not pcall(require, "io")) assert(not pcall(require, "perilune.records.class")) assert(not pcall(require, "../../etc/passwd"))
-- attack: bytecode
assert(not load("\27Lua\84\0\25\147\13\10\26\10", "x", "b")) assert(not string.dump or not pcall(string.dump, function() end)) assert(not load(function() return "\27Lua" end))
-- attack: environments
local e = setmetatable({}, { __index = function() while true do end end }) pcall(load("return x", "x", "t", e))
-- attack: the string metatable
pcall(function() getmetatable("").__index = function() while true do end end end) assert(("x"):upper() == "X")
-- attack: replaced globals of the library
for k in pairs(_G) do if k ~= "perilune" and k ~= "db" and k ~= "pairs" and k ~= "pcall" and k ~= "_G" then _G[k] = function() while true do end end end end db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") local T = perilune.record("t") T{ a = 1 }:insert() T:filter{ a = 1 }:fetch_all()
-- attack: changed metatables of the library
pcall(function() local m = getmetatable(perilune.record("sqlite_master")) m.__index = nil end) pcall(function() for k, v in pairs(perilune) do perilune[k] = nil end end)
-- attack: extreme numbers
for _, n in ipairs{ math.maxinteger, math.mininteger, 2 ^ 63, -2 ^ 63, 1 / 0, 0 / 0, 2 ^ 53 + 1 } do pcall(string.rep, "x", n) pcall(string.sub, "x", n, n) pcall(table.concat, {}, "", n, n) pcall(table.move, {}, n, n, n) pcall(utf8.char, n) pcall(utf8.offset, "x", n) pcall(string.format, "%d", n) pcall(math.random, n) pcall(select, n, 1) pcall(db.fetch_value, db, "SELECT ?", n) pcall(db.fetch_value, db, "SELECT zeroblob(?)", n) pcall(perilune.sleep, -1) pcall(os.date, "%c", n) pcall(os.time, { year = n, month = n, day = n }) end
-- attack: os.date with every format
for i = 0, 255 do pcall(os.date, "%" .. string.char(i)) pcall(os.date, "!%E" .. string.char(i)) pcall(os.date, "%O" .. string.char(i)) end
-- attack: clusters
for _, s in ipairs{ "127.0.0.1:1", "localhost:22", "10.255.255.1:80=127.0.0.1:1", "[::1]:1", ("x"):rep(1000000) .. ":1", "host:99999999999999999999", ":", "=", "" } do assert(not pcall(perilune.cluster, "shop", { servers = { s }, timeout = 1e9 })) assert(not pcall(perilune.cluster, s, { servers = {} })) assert(not pcall(perilune.queue, "dqlite://" .. s)) end pcall(perilune.cluster, ("x"):rep(1000000), { servers = setmetatable({}, { __len = function() return 1 << 40 end, __index = function() return "a:1" end }), timeout = "1ms" }) pcall(db.cluster_nodes, db)
-- attack: databases read from bytes
db:execute("CREATE TABLE t (a)") for _, b in ipairs{ "", "SQLite format 3\0", db:serialize(), ("\0"):rep(100000) } do assert(not pcall(perilune.deserialize, b)) end
-- attack: extensions
assert(not pcall(perilune.queue, nil, { extensions = { "/usr/lib/x86_64-linux-gnu/libc.so.6" } })) for _, s in ipairs{ "SELECT load_extension('libc.so.6')", "SELECT load_extension('libc.so.6', 'system')", "SELECT sqlite3_extension_init()", "PRAGMA load_extension = 1", "SELECT fts5(?)", "SELECT fts5_decode(1, 2)", "SELECT * FROM fts5vocab", "SELECT * FROM dbstat", "SELECT * FROM sqlite_dbpage", "UPDATE sqlite_dbpage SET data = zeroblob(4096)", "SELECT * FROM pragma_table_info(zeroblob(10000000))", "SELECT * FROM carray(1, 2)", "SELECT * FROM sqlite_stmt", "SELECT * FROM bytecode('SELECT 1')" } do pcall(db.fetch_all, db, s) end
-- attack: endless copies
db:execute("CREATE TABLE t (a)") db:execute("INSERT INTO t VALUES (zeroblob(1000000))") local t = {} while true do t[#t + 1] = db:serialize() pcall(db.snapshot, db) local q = perilune.queue() db:backup_to(q, { progress = function() collectgarbage() end, pages = 1 }) t[#t + 1] = q end
-- attack: a backup stopped in its progress function
db:execute("CREATE TABLE t (a)") db:execute("INSERT INTO t VALUES (zeroblob(1000000))") local q = perilune.queue() for _, f in ipairs{ error, function() q:close() end, function() db:close() end, function() db:execute("INSERT INTO t VALUES (1)") end, function() db:backup_to(q) end, function() coroutine.yield() end, function() q:interrupt() db:interrupt() end, function() while true do end end } do pcall(db.backup_to, db, q, { progress = f, pages = 1 }) end
