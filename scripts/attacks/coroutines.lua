-- attack: coroutines that loop in turns
local function make() return coroutine.wrap(function() while true do coroutine.yield() end end) end local t = {} for i = 1, 100 do t[i] = make() end while true do for i = 1, 100 do t[i]() end end
-- attack: many short coroutines
while true do coroutine.wrap(function() for i = 1, 500 do end end)() end
-- attack: a chain of closes
local function chain(n) local x <close> = setmetatable({}, { __close = function() if n > 0 then local c = coroutine.create(function() chain(n - 1) coroutine.yield() end) coroutine.resume(c) coroutine.close(c) end end }) coroutine.yield() end local c = coroutine.create(chain) coroutine.resume(c, 20000) coroutine.close(c)
-- attack: a chain of coroutines that close each other
local last for i = 1, 20000 do local before = last last = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() if before then coroutine.close(before) end end }) coroutine.yield() end) coroutine.resume(last) end coroutine.close(last)
-- attack: __close that loops in a dead coroutine
local c = coroutine.wrap(function() local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end end) pcall(c) while true do end
-- attack: resuming itself
local c c = coroutine.create(function() while true do coroutine.resume(c) end end) coroutine.resume(c)
-- attack: wrap in wrap
local f = function() while true do end end for i = 1, 180 do local g = f f = function() return coroutine.wrap(g)() end end f()
-- attack: yielding across all functions
pcall(table.sort, { 1, 2, 3 }, coroutine.yield) pcall(string.gsub, "x", "x", coroutine.yield) coroutine.wrap(function() pcall(db.write, db, function() coroutine.yield() end) end)() while true do end
-- attack: ten thousand tasks
for i = 1, 10000 do perilune.spawn(function() while true do perilune.sleep(0) end end) end
-- attack: tasks that spawn tasks
local function f() perilune.spawn(f) perilune.spawn(f) end f()
-- attack: timers that set timers
local function f() perilune.after(0, f) perilune.after(0, f) end f()
-- attack: an interval of zero
pcall(perilune.every, 0, function() end) pcall(perilune.every, 0.001, function() while true do end end)
-- attack: endless sleep
perilune.sleep(1e9)
-- attack: catching the end of a sleep
while true do pcall(perilune.sleep, 1e9) end
