-- attack: a sort that needs files
db:fetch_value([[WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
  SELECT count(*) FROM (SELECT hex(randomblob(2000)) AS h FROM n ORDER BY h)]])

-- attack: a growing temporary table
db:execute("CREATE TEMP TABLE t (a)")
while true do db:execute("INSERT INTO t VALUES (randomblob(1000000))") end

-- attack: temporary indexes
db:execute("CREATE TEMP TABLE t (a, b, c, d)")
for _, column in ipairs{ "a", "b", "c", "d" } do db:execute(("CREATE INDEX temp.by_%s ON t (%s)"):format(column, column)) end
while true do db:execute("INSERT INTO t VALUES (randomblob(100000), randomblob(100000), randomblob(100000), randomblob(100000))") end

-- attack: many sorts at once, each kept open
local cursors = {}
while true do
  local cursor = db:rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT hex(randomblob(500)) AS h FROM n ORDER BY h")
  cursor()
  cursors[#cursors + 1] = cursor
end

-- attack: a transient table for a compound SELECT
db:fetch_value([[WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
  SELECT count(*) FROM (SELECT randomblob(2000) FROM n UNION SELECT randomblob(2000) FROM n)]])

-- attack: a statement journal
db:execute("CREATE TEMP TABLE t (id INTEGER PRIMARY KEY, a)")
db:execute("INSERT INTO t SELECT NULL, zeroblob(5000) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000) SELECT i FROM n)")
while true do pcall(db.execute, db, "UPDATE t SET a = randomblob(5000)") end

-- attack: writes with caught errors
db:execute("CREATE TEMP TABLE t (a)")
while true do pcall(function() db:execute("INSERT INTO t VALUES (randomblob(5000000))") end) end

-- attack: full text optimized repeatedly
db:execute("CREATE VIRTUAL TABLE t USING fts5(a)")
while true do
  db:execute("INSERT INTO t SELECT hex(randomblob(2000)) || ' ' || i FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) SELECT i FROM n)")
  db:execute("INSERT INTO t(t) VALUES ('optimize')")
end

-- attack: full text merged in one step
db:execute("CREATE VIRTUAL TABLE t USING fts5(a, prefix = '1 2 3 4')")
db:execute("INSERT INTO t(t, rank) VALUES ('automerge', 0)")
db:execute("INSERT INTO t(t, rank) VALUES ('crisismerge', 1999)")
for i = 1, 300 do db:execute("INSERT INTO t SELECT hex(randomblob(20)) || ' ' || hex(randomblob(20)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT i FROM n)") end
while true do db:execute("INSERT INTO t(t, rank) VALUES ('merge', -100000)") end

-- attack: full text rebuilt
db:execute("CREATE VIRTUAL TABLE t USING fts5(a)")
db:execute("INSERT INTO t SELECT hex(randomblob(1000)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT i FROM n)")
while true do db:execute("INSERT INTO t(t) VALUES ('rebuild')") db:execute("INSERT INTO t(t) VALUES ('integrity-check')") end

-- attack: endless vacuum
db:execute("CREATE TABLE t (a)")
for i = 1, 20 do db:execute("INSERT INTO t VALUES (randomblob(1000000))") end
while true do db:execute("VACUUM") end
