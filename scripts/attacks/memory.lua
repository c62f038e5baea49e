-- attack: a table that grows | 20 s
local t = {} while true do t[#t + 1] = {} end
-- attack: a string that doubles in size | 20 s
local s = "x" while true do s = s .. s end
-- attack: a string that doubles in size, with caught errors | 20 s
local s = "x" while true do local ok, r = pcall(function() return s .. s end) if ok then s = r end end
-- attack: rep | 20 s
local t = {} while true do t[#t + 1] = ("x"):rep(1000000) .. #t end
-- attack: rep beyond the address space
while true do pcall(string.rep, "x", 1 << 40) end
-- attack: concat | 20 s
local t = {} for i = 1, 1000 do t[i] = ("x"):rep(100000) end local k = {} while true do k[#k + 1] = table.concat(t) end
-- attack: pack and unpack | 20 s
local t = {} for i = 1, 900000 do t[i] = i end local k = {} while true do k[#k + 1] = table.pack(table.unpack(t, 1, 900000)) end
-- attack: closures | 20 s
local t = {} while true do local a, b, c = 1, 2, 3 t[#t + 1] = function() return a, b, c end end
-- attack: table keys | 280 MB | 20 s
local t = {} for i = 1, math.huge do t[i * 65537] = true end
-- attack: chunks | 20 s
local t = {} while true do t[#t + 1] = load("return {" .. ("1,"):rep(10000) .. "}") end
-- attack: long varargs
local function f(...) return f(1, 2, 3, 4, 5, 6, 7, 8, ...) end f()
-- attack: format | 20 s
local t = {} while true do t[#t + 1] = ("%99d"):rep(100):format(table.unpack((function() local k = {} for i = 1, 100 do k[i] = i end return k end)())) .. #t end
-- attack: print
while true do print(("x"):rep(1000000)) end
-- attack: a long error message
error(("x"):rep(20000000))
-- attack: a large error object
error(setmetatable({}, { __tostring = function() return ("y"):rep(20000000) end }))
-- attack: gsub with a growing result | 20 s
local s = ("x"):rep(100000) while true do s = s:gsub("x", "xx") end
-- attack: the log
while true do pcall(perilune.log.error, ("x"):rep(1000000), { y = ("z"):rep(1000000) }) end
-- attack: SQL text that cannot be allocated | 20 s
for width = 780, 840 do pcall(db.fetch_values, db, ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT replace(printf('%%%dd', i), '0', '0') FROM n"):format(width)) end
-- attack: longer SQL text that cannot be allocated | 20 s
for width = 2000, 40000, 1900 do pcall(db.fetch_values, db, ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT replace(printf('%%%dd', i), '0', '0') FROM n"):format(width)) end
-- attack: blocks of changing sizes | 20 s
for size = 41, 30000, 997 do local t = {} for i = 1, 40000000 // (size + 40) do t[i] = ("x"):rep(size - 10) .. ("%09d"):format(i) end end
-- attack: blocks of changing sizes, one kept per page | 20 s
local kept = {} for size = 41, 30000, 97 do local t = {} for i = 1, 40000000 // (size + 40) do t[i] = ("x"):rep(size - 10) .. ("%09d"):format(i) if i % math.max(2, 15000 // size) == 0 then kept[#kept + 1] = t[i] end end end
-- attack: large blocks, every other one kept | 20 s
local kept = {} for step = 0, 40 do local t, size = {}, math.floor(33000 * 1.3 ^ step) for i = 1, 40000000 // size do t[i] = ("x"):rep(size) if i % 2 == 0 then kept[#kept + 1] = t[i] end end end
-- attack: rows sorted by an aggregate | 20 s
pcall(db.fetch_value, db, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT perilune_ordered_concat('afb', 'x', ',', i) FROM n")
-- attack: long rows sorted by an aggregate | 20 s
pcall(db.fetch_value, db, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT perilune_ordered_concat('afb', printf('%100000d', i), ',', -i) FROM n")
