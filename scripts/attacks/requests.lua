-- attack: page cursors with changed bytes
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") db:execute("INSERT INTO a (b) VALUES (1), ('x'), (zeroblob(9)), (NULL), (1.5)") local A = perilune.record("a") local r = A:order("b") local cursor = r:page_after(nil, 2).next math.randomseed(1) while true do local at = math.random(#cursor) local changed = cursor:sub(1, at - 1) .. string.char(math.random(0, 255)) .. cursor:sub(at + math.random(0, 2)) pcall(r.page_after, r, changed, 2) pcall(r.page_before, r, changed, 2) end
-- attack: long page cursors
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local r = A:order("b") for _, s in ipairs{ "", "A", ("A"):rep(1 << 20), ("\0"):rep(1 << 20), ("_-"):rep(1 << 22) } do pcall(r.page_after, r, s, 1) end db:execute("INSERT INTO a (b) VALUES (zeroblob(8000000)), (zeroblob(8000000))") local t = {} while true do t[#t + 1] = r:page_after(nil, 1).next end
-- attack: pages of every size
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") for _, n in ipairs{ 0, -1, 1, 1.5, 1 << 31, 1 << 62, math.maxinteger, math.mininteger, 1 / 0, 0 / 0 } do for _, m in ipairs{ 0, 1, math.maxinteger, math.mininteger } do pcall(A.page, A, n, m) pcall(A.limit, A, n, m) pcall(function() A:limit(n, m):fetch_all() end) end pcall(A.page_after, A, nil, n) pcall(function() for _ in A:all():in_batches(n) do end end) end
-- attack: an order of many terms
local c = {} for i = 1, 1500 do c[i] = "c" .. i end db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, " .. table.concat(c, ", ") .. ")") local A = perilune.record("a") A{ c1 = 1 }:insert() A{ c1 = 1 }:insert() local r = A:order(table.unpack(c)) local page = r:page_after(nil, 1) while true do pcall(r.page_after, r, page.next, 1) end
-- attack: endless batches
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") A{ b = 1 }:insert() for _ in A:all():in_batches(1) do A{ b = 1 }:insert() end
-- attack: a deep expression
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local e = A.c.b:eq(1) for i = 1, 100000 do e = e | A.c.b:eq(i) end pcall(function() A:filter(e):fetch_all() end) pcall(tostring, e)
-- attack: an expression that doubles in size
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local e = A.c.b + 1 for i = 1, 60 do e = e + e end A:filter(e:eq(1)):fetch_all()
-- attack: a request that doubles in size
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local r = A:filter{ b = 1 } for i = 1, 60 do r = r:union_all(r) end r:fetch_all()
-- attack: nested requests
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local r = A:select("id") for i = 1, 5000 do r = A:filter(A.c.id:is_in(r)):select("id") end r:fetch_all()
-- attack: cyclic associations
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, a_id REFERENCES a); INSERT INTO a WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) SELECT i, max(i % 3, 1) FROM n") local A = perilune.record("a") A:belongs_to("parent", A, { foreign_key = "a_id" }) A:has_many("children", A, { foreign_key = "a_id" }) local r = A.children for i = 1, 40 do r = A.children:including_all(r) end A:including_all(r):fetch_all()
-- attack: endless aliases
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local i = 0 while true do i = i + 1 A:aliased("x" .. i):filter{ b = i }:fetch_all() A:select(A.c.b:as("y" .. i)):fetch_all() end
-- attack: a search among many vectors
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, v BLOB)") local A = perilune.record("a") local v = {} for i = 1, 100000 do v[i] = i end local b = perilune.vector(v) while true do pcall(function() A:nearest("v", b, 10):fetch_all() end) pcall(perilune.vector_numbers, b) pcall(perilune.vector, { 0 / 0, 1 / 0, 1e300 }) end
-- attack: a prepared request with many parameters
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b)") local A = perilune.record("a") local t = {} while true do t[#t + 1] = A:filter(A.c.b:eq(perilune.parameter("p" .. #t))) pcall(function() t[#t]:prepare() end) end
-- attack: many upserts of one row
db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b UNIQUE)") local A = perilune.record("a") local list = {} for i = 1, 50000 do list[i] = { b = i % 3 } end while true do pcall(A.upsert_all, A, list, { target = "b", update = "all" }) pcall(A.upsert_all, A, list, { on_conflict = "ignore" }) pcall(A.upsert_all, A, list, { target = "b", update = { "b" } }) end
