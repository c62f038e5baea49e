-- attack: a table that grows
local t = {} while true do t[#t + 1] = {} end
-- attack: a string that doubles
local s = "x" while true do s = s .. s end
-- attack: a string that doubles, caught
local s = "x" while true do local ok, r = pcall(function() return s .. s end) if ok then s = r end end
-- attack: rep
local t = {} while true do t[#t + 1] = ("x"):rep(1000000) .. #t end
-- attack: rep beyond everything
while true do pcall(string.rep, "x", 1 << 40) end
-- attack: concat
local t = {} for i = 1, 1000 do t[i] = ("x"):rep(100000) end local k = {} while true do k[#k + 1] = table.concat(t) end
-- attack: pack and unpack
local t = {} for i = 1, 900000 do t[i] = i end local k = {} while true do k[#k + 1] = table.pack(table.unpack(t, 1, 900000)) end
-- attack: closures
local t = {} while true do local a, b, c = 1, 2, 3 t[#t + 1] = function() return a, b, c end end
-- attack: keys of a table | 280 MB
local t = {} for i = 1, math.huge do t[i * 65537] = true end
-- attack: chunks
local t = {} while true do t[#t + 1] = load("return {" .. ("1,"):rep(10000) .. "}") end
-- attack: long varargs
local function f(...) return f(1, 2, 3, 4, 5, 6, 7, 8, ...) end f()
-- attack: format
local t = {} while true do t[#t + 1] = ("%99d"):rep(100):format(table.unpack((function() local k = {} for i = 1, 100 do k[i] = i end return k end)())) .. #t end
-- attack: print
while true do print(("x"):rep(1000000)) end
-- attack: a message of an error
error(("x"):rep(20000000))
-- attack: an error object with much
error(setmetatable({}, { __tostring = function() return ("y"):rep(20000000) end }))
-- attack: gsub that grows
local s = ("x"):rep(100000) while true do s = s:gsub("x", "xx") end
-- attack: the log
while true do pcall(perilune.log.error, ("x"):rep(1000000), { y = ("z"):rep(1000000) }) end
-- attack: texts of SQL for which there is no memory
for width = 780, 840 do pcall(db.fetch_values, db, ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT replace(printf('%%%dd', i), '0', '0') FROM n"):format(width)) end
