--- Texts of several statements.

db:execute("CREATE TABLE t (a, b)")

test("executing a text of many statements leaves no garbage", function()
  local text = ("SELECT 1;"):rep(20000)
  collectgarbage()
  local before = collectgarbage("count")
  db:execute(text)
  equal(collectgarbage("count") - before < 1000, true)
end)

test("each statement of a text has separate parameters", function()
  db:execute("INSERT INTO t VALUES (:x, :y); SELECT * FROM t; INSERT INTO t VALUES (3, 4); UPDATE t SET b = :x WHERE a = 3", { x = 1, y = 2 })
  equal(db:fetch_values("SELECT a || '/' || b FROM t ORDER BY a"), { "1/2", "3/1" })
  local result = db:execute("DELETE FROM t; INSERT INTO t VALUES (?, ?); SELECT 1; INSERT INTO t VALUES (?, 9); SELECT ?", 5, 6, 7, 8)
  equal({ result.changed_rows, result.inserted_rowid }, { 4, 2 })
  equal(db:fetch_values("SELECT a || '/' || b FROM t ORDER BY a"), { "5/6", "7/9" })
  fails("argument", function() db:execute("SELECT ?; SELECT 1", 1, 2) end)
  fails("argument", function() db:execute("SELECT 1; SELECT :x", { x = 1, y = 2 }) end)
end)

test("a failing statement stops a text of statements, and effects of earlier statements are kept", function()
  fails("sql", function() db:execute("INSERT INTO t VALUES (6, 6); INSERT INTO nothing VALUES (1); INSERT INTO t VALUES (7, 7)") end)
  equal(db:fetch_values("SELECT a FROM t"), { 6 })
  db:execute("INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2)")
  equal(db:fetch_values("SELECT a FROM t ORDER BY a"), { 1, 2, 6 })
end)

test("switching off foreign keys in a transaction, which SQLite would ignore, is refused", function()
  for _, value in ipairs{ "OFF", "off", "0", "'no'", "false", "-0" } do
    for _, pragma in ipairs{ "PRAGMA foreign_keys = " .. value, "PRAGMA main.foreign_keys(" .. value .. ")" } do
      local text = fails("transaction_control", function() db:write(function(db) db:execute(pragma) end) end)
      matches(text, "write_without_transaction")
    end
  end
  db:write(function(db) db:execute("PRAGMA foreign_keys = ON") end)
  db:write_without_transaction(function(db)
    db:execute("PRAGMA foreign_keys = OFF")
    equal(db:fetch_value("PRAGMA foreign_keys"), 0)
    db:in_transaction(function(db) db:execute("PRAGMA foreign_keys = OFF") return "commit" end)
    db:execute("PRAGMA foreign_keys = ON")
  end)
  equal(db:fetch_value("PRAGMA foreign_keys"), 1)
end)
