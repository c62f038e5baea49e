-- attack: recursion
local function f() return 1 + f() end f()
-- attack: recursion that catches errors
local function f() pcall(f) f() end f()
-- attack: recursion by __index
local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x
-- attack: recursion by tostring
local t = setmetatable({}, {}) getmetatable(t).__tostring = function() return tostring(t) end tostring(t)
-- attack: recursion by gsub
local function f() return (("x"):gsub("x", f)) end f()
-- attack: recursion by sort
local function f() table.sort({ 1, 2, 3 }, function() f() return true end) end f()
-- attack: recursion by load
local function f() return load(f) end f() local function g() load(function() g() return nil end) end g()
-- attack: recursion by coroutines
local function f() coroutine.wrap(f)() end f()
-- attack: recursion by blocks
local function f(d) d:in_savepoint(function(e) f(e) return "commit" end) end db:write(f)
-- attack: recursion by SQL functions
db:add_function("f", 1, function(x) return x end) local sql = "1" for i = 1, 900 do sql = "f(" .. sql .. ")" end db:fetch_value("SELECT " .. sql)
-- attack: deep parentheses
load("return " .. ("("):rep(100000) .. "1" .. (")"):rep(100000))
-- attack: deep tables
load("return " .. ("{"):rep(100000) .. ("}"):rep(100000))
-- attack: deep functions
load(("return function() "):rep(10000) .. ("end "):rep(10000))
-- attack: deep concatenation
load("return " .. ("x .. "):rep(100000) .. "x")
-- attack: deep indexing
local ok, f = pcall(load, "local a = nil return a" .. (".b"):rep(100000)) if ok and f then pcall(f) end
-- attack: deep SQL expression
pcall(db.fetch_value, db, "SELECT " .. ("("):rep(100000) .. "1" .. (")"):rep(100000)) pcall(db.fetch_value, db, "SELECT " .. ("NOT "):rep(100000) .. "1")
-- attack: deep subqueries
local s = "1" for i = 1, 900 do s = "(SELECT " .. s .. ")" end pcall(db.fetch_value, db, "SELECT " .. s)
-- attack: deep JSON
pcall(db.fetch_value, db, "SELECT json(?)", ("["):rep(1000000) .. ("]"):rep(1000000))
-- attack: a pattern with deep captures
pcall(string.find, ("a"):rep(300000), ("(a"):rep(32) .. (")"):rep(32)) pcall(string.find, ("a"):rep(300000), ("a?"):rep(100000))
