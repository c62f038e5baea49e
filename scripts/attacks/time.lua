-- attack: a loop
while true do end
-- attack: a loop that catches everything
while true do pcall(function() while true do end end) end
-- attack: a loop in an error handler
xpcall(error, function() while true do end end)
-- attack: error handlers in error handlers
local function h() xpcall(error, h) end xpcall(error, h)
-- attack: a pattern that backtracks
(("a"):rep(3000)):find((".-"):rep(30) .. "b")
-- attack: find, quadratic
(("a"):rep(2000000)):find(("a"):rep(1000000) .. "b", 1, true)
-- attack: gsub with an empty pattern
while true do (("x"):rep(1000000)):gsub("", "y") end
-- attack: gmatch over a long string
for _ in (("x"):rep(10000000)):gmatch("x?") do end
-- attack: rep of an empty string
string.rep("", 1 << 62)
-- attack: table.move of missing elements
table.move({}, 1, 1 << 62, 2)
-- attack: table.insert with a wrong length
table.insert(setmetatable({}, { __len = function() return 1 << 60 end }), 1, 1)
-- attack: table.concat with a wrong length
table.concat(setmetatable({}, { __len = function() return 1 << 40 end, __index = function() return "" end }))
-- attack: table.unpack with a wrong length
pcall(table.unpack, setmetatable({}, { __len = function() return 1 << 40 end }))
-- attack: sort with an inconsistent comparator
local t = {} for i = 1, 200000 do t[i] = i end while true do pcall(table.sort, t, function() return true end) end
-- attack: compiling a long chain
load("return " .. ("x or "):rep(40000) .. "x")
-- attack: endless compilation
while true do load("local x = 1 " .. ("x = x + 1 "):rep(10000)) end
-- attack: a chain of metamethods
local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k + 1] end pcall(function() return t[1] end) while true do end
-- attack: __call that is the table itself
local t = setmetatable({}, {}) getmetatable(t).__call = t pcall(t)
-- attack: comparing long strings
local a, b = ("x"):rep(10000000), ("x"):rep(10000000) while a == b do end
-- attack: format with long strings
while true do (("%s"):rep(20)):format(table.unpack((function() local t = {} for i = 1, 20 do t[i] = ("x"):rep(100000) end return t end)())) end
-- attack: utf8 over long strings
local s = ("é"):rep(5000000) while true do utf8.len(s) end
-- attack: __tostring that loops
tostring(setmetatable({}, { __tostring = function() while true do end end }))
-- attack: __close that loops
do local x <close> = setmetatable({}, { __close = function() while true do end end }) end
-- attack: a for loop with a huge step
for i = math.mininteger, math.maxinteger do end
-- attack: keys of a table that collide
local t = {} for i = 1, (1 << 18) + 1 do t[i * ((1 << 19) - 1)] = true end
