-- Transactions, savepoints and streamed rows.
db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)")
local function count() return db:fetch_value("SELECT count(*) FROM t") end

assert(select(2, pcall(db.write, db, function(db)
  db:execute("INSERT INTO t (n) VALUES (1)")
  assert(db:is_inside_transaction())
  error("stop", 0)
end)) == "stop")
assert(count() == 0)
assert(db:write(function(db) db:execute("INSERT INTO t (n) VALUES (1)") return "result" end) == "result")
assert(count() == 1)
assert(db:in_transaction(function(db) db:execute("INSERT INTO t (n) VALUES (2)") return "rollback", 5 end) == 5)
assert(count() == 1)

db:write(function(db)
  db:in_savepoint(function(db)
    db:execute("INSERT INTO t (n) VALUES (2)")
    db:in_savepoint(function(db) db:execute("DELETE FROM t") return "rollback" end)
    return "commit"
  end)
  assert(count() == 2)
  pcall(db.in_savepoint, db, function(db) db:execute("DELETE FROM t") error("undone") end)
  assert(count() == 2)
  -- A failing statement does not affect the transaction.
  assert(not pcall(db.execute, db, "INSERT INTO t (n) VALUES (1)"))
  assert(not pcall(db.execute, db, "INSERT INTO t (n) VALUES (3), (1)"))
  db:execute("INSERT INTO t (n) VALUES (4)")
end)
assert(count() == 3)

-- A statement that rolls the transaction back is noticed.
local _, err = pcall(db.write, db, function(db)
  db:execute("INSERT INTO t (n) VALUES (5)")
  pcall(db.execute, db, "INSERT OR ROLLBACK INTO t (n) VALUES (1)")
  db:execute("INSERT INTO t (n) VALUES (6)")
end)
assert(err and count() == 3, tostring(err))

-- Transactions in SQL.
db:write_without_transaction(function(db)
  db:execute("BEGIN IMMEDIATE") db:execute("DELETE FROM t") db:execute("ROLLBACK")
  assert(count() == 3)
  db:execute("BEGIN") db:execute("SAVEPOINT a") db:execute("DELETE FROM t") db:execute("ROLLBACK TO a") db:execute("RELEASE a") db:execute("COMMIT")
  assert(count() == 3)
  db:execute("SAVEPOINT b") db:execute("INSERT INTO t (n) VALUES (7)") db:execute("RELEASE b")
  assert(count() == 4)
  db:in_transaction(function(db) db:execute("DELETE FROM t WHERE n = 7") return "commit" end)
end)
assert(count() == 3)
assert(select(2, pcall(db.write_without_transaction, db, function(db) db:execute("BEGIN") db:execute("DELETE FROM t") end)).kind == "open_transaction")
assert(count() == 3)

-- A read block sees one state and changes nothing.
db:read(function(db)
  assert(count() == 3)
  assert(select(2, pcall(db.execute, db, "DELETE FROM t")).kind == "readonly")
  assert(select(2, pcall(db.fetch_all, db, "DELETE FROM t RETURNING id")).kind == "readonly")
end)

-- Rows are streamed in pages, even while other statements run, and the stream can be left early.
db:execute("DELETE FROM t")
db:execute("INSERT INTO t (n) WITH RECURSIVE q(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM q WHERE n < 20000) SELECT n FROM q")
local sum = 0
for id, n in db:tuples("SELECT id, n FROM t ORDER BY n") do sum = sum + n end
assert(sum == 20000 * 20001 // 2)
sum = 0
for row in db:rows("SELECT n FROM t ORDER BY n") do
  sum = sum + row.n
  if row.n % 5000 == 0 then assert(db:fetch_value("SELECT n FROM t WHERE n = ?", row.n) == row.n) end
end
assert(sum == 20000 * 20001 // 2)
for row in db:rows("SELECT n FROM t ORDER BY n") do if row.n == 10 then break end end
assert(db:fetch_one("SELECT n FROM t ORDER BY n DESC").n == 20000)
db:write(function(db)
  for row in db:rows("SELECT id, n FROM t WHERE n <= 1000 ORDER BY n") do
    if row.n == 900 then break end
    if row.n % 100 == 0 then db:execute("UPDATE t SET n = -n WHERE id = ?", row.id) end
  end
end)
assert(db:fetch_value("SELECT count(*) FROM t WHERE n < 0") == 8)

local statement = db:prepare("SELECT n FROM t WHERE id = ?")
for i = 1, 20 do assert(statement:fetch_value(i) ~= nil) end

db:execute("CREATE TABLE seen (text)")
db:execute("INSERT INTO seen VALUES ('blocks-were-right')")
return "blocks-were-right"
