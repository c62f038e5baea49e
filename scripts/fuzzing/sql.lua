-- Executes SQL whose bytes and words were changed at random. The driver prepends `seed`.
math.randomseed(seed)

local statements = {
  "SELECT a, count(*) FROM t WHERE a > ? GROUP BY a HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 3 OFFSET 1",
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT sum(i) OVER (ORDER BY i ROWS 2 PRECEDING) FROM n",
  "INSERT INTO t (a, b) VALUES (?1, :b) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING a, b",
  "CREATE TABLE IF NOT EXISTS u (a INTEGER PRIMARY KEY, b AS (a + 1) STORED, c TEXT COLLATE NOCASE CHECK (length(c) < 9)) STRICT",
  "CREATE TRIGGER g AFTER UPDATE OF a ON t WHEN new.a <> old.a BEGIN DELETE FROM t WHERE a = old.a; SELECT RAISE(ABORT, 'x'); END",
  "SELECT json_extract(b, '$.x'), printf('%d %s %f', a, b, 1.5), replace(b, 'x', 'y'), instr(b, x'00') FROM t WHERE b LIKE '%a_' ESCAPE '\\'",
  "CREATE VIRTUAL TABLE f USING fts5(a, b, tokenize = 'porter ascii')", "INSERT INTO f VALUES ('one two', 'three')",
  "SELECT snippet(f, -1, '<', '>', '...', 3), highlight(f, 0, '[', ']'), bm25(f) FROM f WHERE f MATCH 'one OR \"two three\" NEAR(a b, 2)'",
  "PRAGMA table_info(t)", "PRAGMA main.user_version = 5", "EXPLAIN QUERY PLAN SELECT * FROM t", "ALTER TABLE t RENAME COLUMN b TO c",
  "UPDATE t SET (a, b) = (SELECT 1, 2) FROM (SELECT 3 AS x) AS y WHERE t.a = y.x", "VACUUM", "ANALYZE", "REINDEX", "SAVEPOINT s; RELEASE s",
  "SELECT perilune_ordered_concat('afbdln', a, ',', b, a), group_concat(b, '-') FROM t, (VALUES (1), (2)) GROUP BY column1",
  "ATTACH ':memory:' AS m", "SELECT * FROM t, json_each(t.b) AS j WHERE j.value IN (1, 2) AND t.rowid = ?", "DROP VIEW IF EXISTS v",
}
local words = {
  "SELECT", "FROM", "WHERE", "(", ")", ",", ";", "--", "/*", "*/", "'", '"', "`", "[", "]", "?", "?0", "?99999", ":x", "@y", "$z(", "NULL", "x'", "0x", "1e999",
  "||", "->>", "COLLATE", "AS", "UNION", "ALL", "BEGIN", "END", "COMMIT", "PRAGMA", "EXPLAIN", "WITH", "VALUES", "randomblob(1000000)", "zeroblob(9e9)", "\0", "\xff", "é",
}

local function changed(sql)
  for _ = 1, math.random(0, 6) do
    local at, way = math.random(#sql + 1), math.random(5)
    if way == 1 then sql = sql:sub(1, at - 1) .. string.char(math.random(0, 255)) .. sql:sub(at + 1)
    elseif way == 2 then sql = sql:sub(1, at - 1) .. sql:sub(at + math.random(10))
    elseif way == 3 then sql = sql:sub(1, at - 1) .. words[math.random(#words)] .. " " .. sql:sub(at)
    elseif way == 4 then sql = sql:sub(1, at - 1) .. statements[math.random(#statements)]:sub(math.random(60)) .. sql:sub(at)
    else sql = sql:sub(at) .. sql:sub(1, at - 1) end
  end
  return sql
end

pcall(db.execute, db, "CREATE TABLE t (a UNIQUE, b)")
pcall(db.execute, db, "INSERT INTO t VALUES (1, '{\"x\": 2}'), (2, 'a'), (NULL, x'00')")
local verbs = { db.execute, db.fetch_all, db.fetch_one, db.fetch_value, db.fetch_values, db.prepare, db.tuples }
for _ = 1, 300 do
  local sql, verb = changed(statements[math.random(#statements)]), verbs[math.random(#verbs)]
  local arguments = {}
  for i = 1, math.random(0, 3) do arguments[i] = ({ 1, "x", 1.5, perilune.null, perilune.blob("b") })[math.random(5)] end
  local function attempt(handle) return pcall(verb, handle, sql, table.unpack(arguments)) end
  if math.random(3) == 1 then pcall(db.write, db, function(inner) attempt(inner) attempt(inner) end) else attempt(db) end
end
