-- attack: deep JSON in Lua
for _, s in ipairs{ ("["):rep(1000000), ("["):rep(1000000) .. ("]"):rep(1000000), ('{"a":'):rep(300000), "[" .. ("1,"):rep(3000000) .. "1]", '"' .. ("\\u0000"):rep(1000000) .. '"', "1" .. ("0"):rep(1000000), "-", "1e999999999", '"\\ud800"', ("\t"):rep(5000000) } do pcall(perilune.json.decode, s) end local t = {} for i = 1, 300000 do t = { t } end pcall(perilune.json.encode, t) pcall(perilune.json.encode, setmetatable({}, { __pairs = function() return function() return 1, 1 end end, __len = function() return 1 << 40 end, __index = function() return 1 end })) local c = {} c.c = c pcall(perilune.json.encode, c)
-- attack: JSON that doubles in size
local t = { 1 } for i = 1, 60 do t = { t, t } end perilune.json.encode(t)
-- attack: unusual dates
for _, s in ipairs{ "", "2020-02-30", "9999-12-31T23:59:60Z", ("9"):rep(1000000), "-0001-01-01", "2020-01-01T00:00:00+99:99", "2020-01-01 " .. ("0"):rep(1000000) } do pcall(perilune.date, s) pcall(perilune.date.from_database, perilune.date, s) end local d = perilune.now() for _, n in ipairs{ math.maxinteger, math.mininteger, 1e308, 0 / 0, 1 << 53 } do pcall(perilune.date.from_unix, n) pcall(perilune.date.from_julian_day, n) for _, u in ipairs{ "years", "months", "days", "hours", "seconds", "x" } do pcall(d.add, d, { [u] = n }) end end pcall(d.format, d, ("%Y"):rep(1000000)) pcall(d.format, d, "%") pcall(d.start_of, d, ("x"):rep(1000000)) while true do pcall(d.add, d, { years = 1 }) end
-- attack: nested contexts
local function f() perilune.with({ database = perilune.queue() }, f) end pcall(f) local q = perilune.queue() perilune.with({ database = q }, function() pcall(q.close, q) pcall(db.execute, db, "SELECT 1") pcall(f) end) coroutine.wrap(function() perilune.with({ database = perilune.queue() }, coroutine.yield) end)() while true do db:execute("SELECT 1") end
-- attack: random numbers with extreme bounds
for _, n in ipairs{ math.maxinteger, math.mininteger, 0, -1, 1.5, 0 / 0, 1 / 0 } do for _, m in ipairs{ math.maxinteger, math.mininteger, 0, 1.5 } do pcall(perilune.random, n, m) end end while true do perilune.uuid() perilune.random(1, math.maxinteger) end
-- attack: value types that loop
local V = perilune.value_type{ from_database = function() while true do end end, to_database = function() while true do end end } pcall(db.fetch_value_as, db, V, "SELECT 1") local R = perilune.row_type{ a = V } pcall(R.fetch_all, R, "SELECT 1 AS a") pcall(R.from, R, { a = 1 })
-- attack: large enumerations
local t = {} for i = 1, 1000000 do t[i] = "c" .. i end pcall(perilune.enum, t) pcall(perilune.enum, setmetatable({}, { __index = function(_, i) return "c" .. i end, __len = function() return 1 << 40 end })) while true do perilune.enum{ "a", "b" } end
-- attack: large blobs
while true do local b = perilune.blob(("x"):rep(10000000)) pcall(tostring, b) pcall(db.fetch_value, db, "SELECT length(?)", b) pcall(perilune.vector_numbers, b) end
-- attack: inconsistent aggregates
for _, f in ipairs{ function() error("x") end, function() while true do end end, function() return {} end, function() coroutine.yield() end, function() db:execute("SELECT 1") end } do pcall(db.add_aggregate, db, "g", -1, { initial = f, step = f, final = f, inverse = f }) pcall(db.fetch_all, db, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10) SELECT g(i) OVER (ORDER BY i ROWS 2 PRECEDING) FROM n") pcall(db.fetch_all, db, "SELECT g(1)") end
-- attack: an aggregate that keeps everything
db:add_aggregate("g", 1, { initial = function() return {} end, step = function(t, x) t[#t + 1] = x return t end, final = function(t) return #t end }) db:fetch_value("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT g(i) FROM n")
