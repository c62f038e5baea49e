-- attack: __gc
setmetatable({}, { __gc = function() while true do end end }) collectgarbage()
-- attack: __gc set later
local m = {} local t = setmetatable({}, m) m.__gc = function() while true do end end t = nil collectgarbage()
-- attack: endless garbage collections
local t = {} for i = 1, 100000 do t[i] = {} end while true do collectgarbage() end
-- attack: stopping the collector
pcall(collectgarbage, "stop") while true do local t = {} for i = 1, 1000 do t[i] = {} end end
-- attack: garbage collector settings
for _, o in ipairs{ "generational", "incremental", "setpause", "setstepmul", "step" } do pcall(collectgarbage, o, 100000) end local t = {} while true do t[#t + 1] = {} end
-- attack: weak tables
local w = setmetatable({}, { __mode = "kv" }) for i = 1, math.huge do w[{}] = {} w[i] = {} end
-- attack: ephemerons
local w = setmetatable({}, { __mode = "k" }) local k = {} for i = 1, math.huge do local n = {} w[k] = n k = n end
-- attack: weak metatables changed while collecting
local w = setmetatable({}, { __mode = "v" }) for i = 1, math.huge do w[i % 1000] = setmetatable({}, w) getmetatable(w).__mode = i % 2 == 0 and "k" or "v" end
-- attack: abandoned cursors
while true do db:rows("SELECT 1 UNION SELECT 2")() end
-- attack: abandoned databases
while true do perilune.queue():execute("CREATE TABLE t (a)") end
-- attack: abandoned statements
local i = 0 while true do i = i + 1 db:prepare("SELECT " .. i) end
-- attack: abandoned observers
while true do db:observe_transactions{ did_commit = function() end } end
-- attack: cyclic error objects
while true do local ok, e = pcall(db.execute, db, "x") pcall(function() e.self = e end) end
