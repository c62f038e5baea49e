-- attack: endless records
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") while true do A{ b = ("x"):rep(1000) }:insert() end
-- attack: records kept in memory
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local t = {} while true do t[#t + 1] = A{ b = ("x"):rep(1000) } end
-- attack: endless classes
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local t = {} while true do t[#t + 1] = perilune.record("a") end
-- attack: classes that extend each other
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") while true do A = A:extend() end
-- attack: insert_all with a long list
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local t = {} for i = 1, 100000 do t[i] = A{ b = i } end while true do pcall(A.insert_all, A, t) for i = 1, #t do t[i].id = nil end end
-- attack: hooks that write
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") function A:did_insert() A{ b = 1 }:insert() end A{ b = 1 }:insert()
-- attack: hooks that loop
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") function A:will_insert() while true do end end function A:validate() while true do end end A{ b = 1 }:insert()
-- attack: endless requests
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local r = A:filter{ b = 1 } while true do r = r:filter{ b = 2 } end
-- attack: many forms of requests
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local i = 0 while true do i = i + 1 A:filter(("b = %d"):format(i)):fetch_all() end
-- attack: a request of 10,000 conditions
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local r = A:filter{ b = 1 } for i = 1, 10000 do r = r:filter{ b = i } end pcall(r.fetch_all, r)
-- attack: an endless list of keys
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local t = {} for i = 1, 500000 do t[i] = i end while true do pcall(A.filter, A, { id = t }) pcall(function() A:filter{ id = t }:fetch_all() end) end
-- attack: records with unusual fields
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") for _, v in ipairs{ {}, print, coroutine.create(print), 1 / 0, 0 / 0, math.mininteger, db, A, ("x"):rep(1 << 20) } do pcall(function() A{ b = v }:insert() end) pcall(function() A{ [v] = 1 }:insert() end) pcall(function() A:find(v) end) end
-- attack: metamethods in fields
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local v = setmetatable({}, { __to_database = function() while true do end end, __tostring = function() while true do end end }) A{ b = v }:insert()
-- attack: records that refer to themselves
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local r = A{ b = 1 } r.self = r pcall(print, r) pcall(r.insert, r) pcall(r.update, r) pcall(function() r.b = r r:insert() end)
-- attack: a table of 2000 columns
local c = {} for i = 1, 1999 do c[i] = "c" .. i end db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, " .. table.concat(c, ", ", 1, 1998) .. ")") local A = perilune.record("a") while true do A{ c1 = 1 }:insert() A:fetch_all() end
-- attack: a constantly changing schema
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local i = 0 while true do i = i + 1 pcall(db.execute, db, ("ALTER TABLE a ADD COLUMN x%d"):format(i)) pcall(A.fetch_all, A) end
