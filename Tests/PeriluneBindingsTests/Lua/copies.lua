--- Copies of whole databases, in steps and as bytes.

local function fill(database, count)
  database:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)"
  database:execute("WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO t SELECT i, printf('%0500d', i) FROM n", count or 200)
end

test("a backup reports its progress after each step", function()
  fill(db)
  local target, steps = perilune.queue(), {}
  db:backup_to(target, { pages = 10, progress = function(completed, total) steps[#steps + 1] = { completed, total } end })
  equal(target:fetch_value "SELECT COUNT(*) FROM t", 200)
  local total = db:fetch_value "PRAGMA page_count"
  equal(#steps, (total + 9) // 10)
  equal(steps[1], { 10, total })
  equal(steps[#steps], { total, total })
end)

test("an error in the progress function ends the backup and leaves the target unchanged", function()
  fill(db)
  local target = perilune.queue()
  target:execute "CREATE TABLE old (a)"
  equal(fails(nil, db.backup_to, db, target, { pages = 1, progress = function(completed) if completed == 5 then error({ n = 5 }) end end }).n, 5)
  equal(target:tables(), { "old" })
  equal(fails(nil, db.backup_to, db, target, { pages = 100000, progress = function() error({ n = 1 }) end }).n, 1)
  db:backup_to(target)
  equal(target:tables(), { "t" })
end)

test("the progress function can neither use the database nor wait", function()
  fill(db)
  local target = perilune.queue()
  fails("nested_access", db.backup_to, db, target, { progress = function() db:fetch_value "SELECT 1" end })
  fails("nested_access", db.backup_to, db, target, { progress = function() perilune.queue():execute "SELECT 1" end })
  fails("yield", db.backup_to, db, target, { progress = function() perilune.sleep(0.01) end })
end)

test("invalid options of backup_to are refused", function()
  local target = perilune.queue()
  for _, pages in ipairs{ 0, -1, 1.5, "1", 2 ^ 31 } do fails("argument", db.backup_to, db, target, { pages = pages }) end
  for _, pause in ipairs{ -1, "1 lightyear", {}, 0 / 0 } do fails("argument", db.backup_to, db, target, { pause = pause }) end
  fails("argument", db.backup_to, db, target, { progress = 5 })
  fails("argument", db.backup_to, db, target, function() end)
  fails("argument", db.backup_to, db, target, {}, 5)
  equal(fails("unknown_option", db.backup_to, db, target, { page = 1 }).suggestion, "pages")
end)

test("a backup waits between its steps", function()
  local pool = perilune.pool(temporary_path("source.sqlite"))
  fill(pool)
  local target, count = perilune.queue(), 0
  pool:backup_to(target, { pages = 5, pause = "1ms", progress = function() count = count + 1 end })
  equal({ target:fetch_value "SELECT COUNT(*) FROM t", count > 2 }, { 200, true })
end)

test("a snapshot can be copied", function()
  local pool = perilune.pool(temporary_path("source.sqlite"))
  fill(pool)
  local snapshot = pool:snapshot()
  pool:execute "DELETE FROM t"
  local target = perilune.queue()
  snapshot:backup_to(target)
  equal(target:fetch_value "SELECT COUNT(*) FROM t", 200)
  equal(perilune.deserialize(snapshot:serialize()):fetch_value "SELECT COUNT(*) FROM t", 200)
  equal(snapshot:fetch_value "SELECT COUNT(*) FROM t", 200)
  fails("readonly", target.backup_to, target, snapshot)
end)

test("a serialized database can be opened in memory", function()
  fill(db)
  local bytes = db:serialize()
  equal(#bytes, db:fetch_value "PRAGMA page_count" * db:fetch_value "PRAGMA page_size")
  equal(bytes:sub(1, 15), "SQLite format 3")
  local copy = perilune.deserialize(bytes)
  equal({ copy:path(), copy:fetch_value "SELECT COUNT(*) FROM t" }, { ":memory:", 200 })
  copy:execute "INSERT INTO t (text) VALUES ('more')"
  equal({ copy:fetch_value "SELECT COUNT(*) FROM t", db:fetch_value "SELECT COUNT(*) FROM t" }, { 201, 200 })
  equal(copy:fetch_value "PRAGMA foreign_keys", 1)
  copy:close()
  local labelled = perilune.deserialize(bytes, { foreign_keys = false })
  equal(labelled:fetch_value "PRAGMA foreign_keys", 0)
end)

test("a pool can be serialized, and inside a write block with its uncommitted changes", function()
  local pool = perilune.pool(temporary_path("source.sqlite"))
  fill(pool)
  equal(perilune.deserialize(pool:serialize()):fetch_value "SELECT COUNT(*) FROM t", 200)
  pool:write(function(db)
    db:execute "DELETE FROM t"
    equal(perilune.deserialize(db:serialize()):fetch_value "SELECT COUNT(*) FROM t", 0)
  end)
  equal(perilune.deserialize(perilune.queue():serialize()):tables(), {})
end)

test("bytes that are not a complete database are refused", function()
  fill(db)
  local bytes = db:serialize()
  for _, wrong in ipairs{ "hello", bytes:sub(1, 600), bytes:sub(1, -5000), ("x"):rep(#bytes), bytes:sub(1, 100) .. ("\xff"):rep(#bytes - 100) } do
    fails("malformed_database", perilune.deserialize, wrong)
  end
  fails("argument", perilune.deserialize, 5)
  fails("argument", perilune.deserialize)
  equal(fails("unknown_option", perilune.deserialize, bytes, { labell = "x" }).suggestion, "label")
  fails("argument", db.serialize, db, 1)
end)

test("record:copy accepts changed values", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL); INSERT INTO item VALUES (1, 'a', 2.5)"
  local Item = perilune.record("item")
  local item = Item:find(1)
  local other = item:copy{ name = "b", price = perilune.null }
  equal({ item.name, item.price, other.name, other.price }, { "a", 2.5, "b" })
  other:update_changes()
  equal(Item:find(1).name, "b")
  equal(Item:find(1).price, nil)
  equal(fails("unknown_column", function() item:copy{ nmae = "b" } end).suggestion, "name")
  fails("argument", function() item:copy("b") end)
end)
