--- Snapshots of pools, reads after writes, checkpoints, and the time of a transaction.

local function pool()
  local path = temporary_path("pool.sqlite")
  local pool = perilune.pool(path)
  pool:execute "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO author (name) VALUES ('Melville')"
  return pool, path
end

test("all reads of a snapshot see the same data while others write", function()
  local pool, path = pool()
  local snapshot = pool:snapshot()
  pool:execute "INSERT INTO author (name) VALUES ('Verne')"
  local other = perilune.pool(path)
  other:execute "INSERT INTO author (name) VALUES ('Ibsen')"
  equal(snapshot:fetch_value "SELECT COUNT(*) FROM author", 1)
  equal(snapshot:read(function(db) return db:fetch_value "SELECT name FROM author" end), "Melville")
  local list = {}
  for row in snapshot:rows "SELECT name FROM author" do list[#list + 1] = row.name end
  equal(list, { "Melville" })
  local Author = perilune.record "author"
  equal({ Author:fetch_count(snapshot), Author:fetch_count(pool), #Author:fetch_all(snapshot) }, { 1, 3, 1 })
  snapshot:close()
  equal(pool:snapshot():fetch_value "SELECT COUNT(*) FROM author", 3)
  fails("closed", snapshot.fetch_value, snapshot, "SELECT 1")
  matches(tostring(pool:snapshot()), path)
end)

test("a snapshot is read-only and cannot be ended by SQL", function()
  local pool = pool()
  local snapshot = pool:snapshot()
  for _, sql in ipairs{ "DELETE FROM author", "CREATE TABLE t (a)", "COMMIT", "ROLLBACK", "END", "BEGIN", "SAVEPOINT a", "CREATE TEMP TABLE t (a)",
    "ATTACH ':memory:' AS other", "PRAGMA query_only = 0", "VACUUM" } do
    local is_run = pcall(snapshot.execute, snapshot, sql)
    local is_read = pcall(snapshot.read, snapshot, function(db) db:execute(sql) end)
    equal({ sql, is_run, is_read }, { sql, false, false })
  end
  for _, verb in ipairs{ "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
    equal({ verb, fails("readonly", snapshot[verb], snapshot, function() return "commit" end).kind }, { verb, "readonly" })
  end
  fails("readonly", snapshot.checkpoint, snapshot)
  pool:execute "DELETE FROM author"
  equal(snapshot:fetch_value "SELECT COUNT(*) FROM author", 1)
  snapshot:read(function(db)
    db:in_savepoint(function(db) equal(db:fetch_value "SELECT COUNT(*) FROM author", 1) return "commit" end)
    equal(snapshot:read(function(db) return db:fetch_value "SELECT COUNT(*) FROM author" end), 1)
  end)
  equal(snapshot:fetch_value "SELECT COUNT(*) FROM author", 1)
end)

test("a snapshot survives errors and interrupted statements", function()
  local pool = pool()
  local snapshot = pool:snapshot()
  pool:execute "DELETE FROM author"
  fails("sql", snapshot.fetch_all, snapshot, "SELECT * FROM nothing")
  fails("interrupt", function() for _ in snapshot:rows "SELECT * FROM author, (SELECT 1 UNION SELECT 2)" do snapshot:interrupt() end end)
  pcall(snapshot.read, snapshot, function() error "no" end)
  equal(snapshot:fetch_value "SELECT COUNT(*) FROM author", 1)
end)

test("a dropped snapshot is closed when it is collected", function()
  local pool, path = pool()
  for _ = 1, 200 do pool:snapshot() end
  collectgarbage()
  equal(pool:fetch_value "SELECT COUNT(*) FROM author", 1)
  pool:execute "DELETE FROM author"
  equal(pool:snapshot():fetch_value "SELECT COUNT(*) FROM author", 0)
end)

test("only pools have snapshots", function()
  matches(fails("unknown_method", function() db:has_snapshots() end), "use db:snapshot()")
  matches(fails("usage", db.snapshot, db).message, "only pools have snapshots")
  fails("argument", db.snapshot, db, 1)
  local snapshot = pool():snapshot()
  fails("usage", snapshot.snapshot, snapshot)
end)

test("a snapshot taken in a block shows only committed data", function()
  local pool = pool()
  pool:write(function(db)
    db:execute "DELETE FROM author"
    equal(pool:snapshot():fetch_value "SELECT COUNT(*) FROM author", 1)
  end)
end)

test("write_then_read reads the written data while the next write runs", function()
  local pool, path = pool()
  local other = perilune.pool(path)
  local results = table.pack(pool:write_then_read(function(db)
    db:execute "INSERT INTO author (name) VALUES ('Verne')"
    return 2, nil
  end, function(db, expected, none)
    other:execute "DELETE FROM author"
    pool:execute "INSERT INTO author (name) VALUES ('Ibsen')"
    equal({ expected, none == nil }, { 2, true })
    return db:fetch_value "SELECT COUNT(*) FROM author", nil
  end))
  equal({ results[1], results.n }, { 2, 2 })
  equal(pool:fetch_values "SELECT name FROM author", { "Ibsen" })
end)

test("write_then_read works with one connection", function()
  db:execute "CREATE TABLE t (a)"
  equal(db:write_then_read(function(db) return db:execute "INSERT INTO t VALUES (5)".inserted_rowid end, function(db, id)
    fails("readonly", db.execute, db, "DELETE FROM t")
    return db:fetch_value("SELECT a FROM t WHERE rowid = ?", id)
  end), 5)
end)

test("write_then_read skips the read after a failed write, and raises errors of the read", function()
  for _, db in ipairs{ pool(), db } do
    db:execute "CREATE TABLE t (a)"
    equal(fails(nil, db.write_then_read, db, function() error({ n = 1 }) end, function() error({ n = 2 }) end).n, 1)
    equal(fails(nil, db.write_then_read, db, function(db) db:execute "INSERT INTO t VALUES (1)" end, function() error({ n = 2 }) end).n, 2)
    equal(db:fetch_value "SELECT COUNT(*) FROM t", 1)
    fails("argument", db.write_then_read, db, function() end)
    fails("argument", db.write_then_read, db, 5, function() end)
    fails("argument", db.write_then_read, db, function() end, function() end, 5)
  end
end)

test("a checkpoint moves the WAL into the database", function()
  local pool = pool()
  local counts = pool:checkpoint()
  equal({ counts.frames > 0, counts.checkpointed == counts.frames }, { true, true })
  pool:execute "DELETE FROM author"
  equal(pool:checkpoint "truncate", { frames = 0, checkpointed = 0 })
  for _, kind in ipairs{ "passive", "full", "restart" } do pool:checkpoint(kind) end
  equal(fails("unknown_checkpoint", pool.checkpoint, pool, "truncat").suggestion, "truncate")
  fails("argument", pool.checkpoint, pool, 5)
  fails("argument", pool.checkpoint, pool, "full", 5)
  equal(db:checkpoint(), { frames = 0, checkpointed = 0 })
  pool:read(function(db) fails("nested_access", db.checkpoint, db) end)
end)

test("a snapshot keeps the WAL from being truncated", function()
  local pool = pool()
  local snapshot = pool:snapshot()
  pool:execute "DELETE FROM author"
  fails("busy", pool.checkpoint, pool, "truncate")
  snapshot:close()
  equal(pool:checkpoint "truncate".frames, 0)
end)

test("all statements of a transaction see the same time", function()
  local function spin() local start = perilune.now() repeat until perilune.now() > start end
  db:write(function(db)
    local time = db:transaction_date()
    spin()
    equal(db:transaction_date(), time)
    db:in_savepoint(function(db) equal(db:transaction_date(), time) return "commit" end)
    equal(perilune.now() > time, true)
  end)
  local times = {}
  db:write_without_transaction(function(db)
    for i = 1, 2 do
      db:in_transaction(function(db) times[i] = db:transaction_date() return "commit" end)
      spin()
    end
  end)
  equal(times[1] < times[2], true)
  local read = db:read(function(db) local time = db:transaction_date() spin() equal(db:transaction_date(), time) return time end)
  equal(read > times[2], true)
  local outside = db:transaction_date()
  spin()
  equal(db:transaction_date() > outside, true)
  fails("argument", db.transaction_date, db, 1)
end)

test("in write_without_transaction, write and in_transaction begin a transaction", function()
  db:execute "CREATE TABLE plain (a)"
  db:write_without_transaction(function(db)
    db:write(function(db)
      db:execute "INSERT INTO plain VALUES (1)"
      equal(db:is_inside_transaction(), true)
    end)
    equal(db:is_inside_transaction(), false)
    db:in_transaction(function(db) db:execute "INSERT INTO plain VALUES (1)" return "commit" end)
    equal(db:is_inside_transaction(), false)
  end)
  db:write(function(db) matches(fails("nested_access", db.in_transaction, db, function() end).message, "use in_savepoint, or write, for parts") end)
  equal(db:fetch_value "SELECT COUNT(*) FROM plain", 2)
end)
