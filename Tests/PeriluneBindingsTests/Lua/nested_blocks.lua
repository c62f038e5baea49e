--- Blocks inside other blocks of the same database, and how blocks end.

local function database(kind)
  local made = kind == "queue" and perilune.queue() or perilune.pool(temporary_path(kind .. ".sqlite"))
  made:execute "CREATE TABLE t (a INTEGER)"
  return made
end

local function each(body)
  for _, kind in ipairs{ "queue", "pool" } do body(database(kind)) end
end

local function values(q) return q:fetch_values "SELECT a FROM t ORDER BY rowid" end
local function add(q, value) q:execute("INSERT INTO t VALUES (?)", value) end

test("a nested write is part of the outer transaction, and only the nested write is undone if it fails", function()
  each(function(q)
    local function ship(value, fails) return q:write(function(db)
      add(db, value)
      if fails then error("stop") end
      return value, "x"
    end) end
    q:write(function(db)
      equal({ ship(1) }, { 1, "x" })
      equal(pcall(ship, 2, true), false)
      ship(3)
      db:write(function(db) db:write(function(db) add(db, 4) end) add(q, 5) end)
    end)
    equal(values(q), { 1, 3, 4, 5 })
    pcall(q.write, q, function() ship(6) error("undo") end)
    equal(values(q), { 1, 3, 4, 5 })
  end)
end)

test("a nested read sees the writes of the outer block and cannot write", function()
  each(function(q)
    q:write(function(db)
      add(db, 1)
      equal(q:read(function(inner)
        fails("readonly", inner.execute, inner, "DELETE FROM t")
        fails("readonly", q.execute, q, "DELETE FROM t")
        for _, sql in ipairs{ "COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT a" } do fails("transaction_control", inner.execute, inner, sql) end
        return inner:read(function(deeper) return deeper:fetch_value "SELECT COUNT(*) FROM t", deeper:is_inside_transaction() end)
      end), 1)
      add(db, 2)
    end)
    equal(values(q), { 1, 2 })
    q:read(function(db)
      equal(db:read(function(inner) return inner:fetch_value "SELECT SUM(a) FROM t" end), 3)
      equal(db:in_savepoint(function(inner) return inner:fetch_value "SELECT SUM(a) FROM t" end), 3)
    end)
  end)
end)

test("a write block inside a read block raises an error that suggests write", function()
  each(function(q)
    for _, path in ipairs{ { "read" }, { "write", "read" }, { "read", "read" }, { "write_without_transaction", "read" } } do
      local function enter(db, index)
        if path[index] then return db[path[index]](db, function(db) enter(db, index + 1) end) end
        matches(fails("nested_access", db.write, db, function() end), "write: the enclosing block of this database only reads; use write instead of read there")
        matches(fails("nested_access", q.write, q, { retry = 1 }, function() end), "only reads")
        fails("nested_access", db.write_without_transaction, db, function() end)
      end
      enter(q, 1)
    end
    equal(values(q), {})
  end)
end)

test("in write_without_transaction, read and write begin separate transactions", function()
  each(function(q)
    q:write_without_transaction(function(db)
      equal({ db:write(function(db) add(db, 1) return db:is_inside_transaction() end), db:is_inside_transaction() }, { true, false })
      equal({ db:read(function(db) return db:is_inside_transaction() end), db:is_inside_transaction() }, { true, false })
      pcall(db.write, db, function(db) add(db, 2) error("undo") end)
      equal(values(db), { 1 })
      db:execute "BEGIN"
      db:write(function(db) add(db, 3) end)
      equal({ db:read(function(db) return db:fetch_value "SELECT COUNT(*) FROM t" end), db:is_inside_transaction() }, { 2, true })
      db:execute "ROLLBACK"
    end)
    equal(values(q), { 1 })
  end)
end)

test("savepoints and transactions commit when their block returns, and return its results", function()
  each(function(q)
    for _, verb in ipairs{ "in_transaction", "in_savepoint" } do
      local function run(...)
        local results = table.pack(...)
        q:execute "DELETE FROM t"
        local got = table.pack(q[verb](q, function(db) add(db, 1) return table.unpack(results, 1, results.n) end))
        return { #values(q), table.unpack(got, 1, got.n) }
      end
      equal(run(), { 1 })
      equal(run(7, "x"), { 1, 7, "x" })
      equal(run(false), { 1, false })
      equal(run("other"), { 1, "other" })
      equal(run("commit", 7), { 1, 7 })
      equal(run("rollback", 7), { 0, 7 })
      equal(run(1, "rollback"), { 1, 1, "rollback" })
      for word, meant in pairs{ Rollback = "rollback", rolback = "rollback", ["roll back"] = "rollback", COMMIT = "commit", comit = "commit" } do
        matches(fails("argument", run, word), verb .. ': the block returned "' .. word .. '"; did you mean "' .. meant .. '"?')
        equal(values(q), {})
      end
    end
  end)
end)

test("write refuses a misspelled result that would not roll back", function()
  each(function(q)
    for _, nests in ipairs{ false, true } do
      local function write() q:write(function(db) add(db, 1) return "rollback" end) end
      local err = fails("usage", nests and function() q:write(write) end or write)
      matches(err, 'write: a block that returns "rollback" would be committed; raise an error to undo its changes')
      equal(values(q), {})
    end
    equal({ q:write(function(db) add(db, 1) return "commit", "rollback" end) }, { "commit", "rollback" })
    equal({ q:read(function() return "rollback" end) }, { "rollback" })
    equal(values(q), { 1 })
  end)
end)

test("the handle of a nested block is unusable after it, and outer handles work inside it", function()
  each(function(q)
    local kept
    q:write(function(outer)
      outer:write(function(inner)
        kept = inner
        add(outer, 1)
        inner:read(function() equal(values(outer), { 1 }) end)
      end)
      fails("dead_handle", add, kept, 2)
      add(outer, 3)
    end)
    equal(values(q), { 1, 3 })
  end)
end)

test("hooks, observers and automations may open blocks inside a transaction", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE note (text TEXT)"
  local Item, commits, callbacks = perilune.record "item", 0, {}
  function Item:will_insert() db:write(function(db) db:execute("INSERT INTO note VALUES (?)", self.name) end) end
  function Item:did_insert() callbacks[#callbacks + 1] = db:read(function(db) return db:fetch_value "SELECT COUNT(*) FROM note" end) end
  local observer = db:observe_transactions{ did_commit = function() commits = commits + 1 end }
  db:write(function(db)
    db:write(function(db)
      Item:insert{ name = "a" }
      db:after_next_transaction(function() callbacks[#callbacks + 1] = "committed" end)
    end)
    pcall(db.write, db, function()
      Item:insert{ name = "b" }
      error("undo")
    end)
    equal(commits, 0)
  end)
  equal({ commits, callbacks, db:fetch_values "SELECT text FROM note" }, { 1, { 1, 2, "committed" }, { "a" } })
end)

test("changes of nested blocks that were undone are not reported", function()
  local changed = {}
  db:execute "CREATE TABLE t (a)"
  db:observe_transactions{ on_change = function(event) changed[#changed + 1] = event.new.a end }
  db:write(function(db)
    add(db, 1)
    pcall(db.write, db, function(db) add(db, 2) error("undo") end)
    db:write(function(db) add(db, 3) end)
  end)
  equal({ values(db), changed }, { { 1, 3 }, { 1, 3 } })
end)

test("a nested block cannot wait", function()
  db:execute "CREATE TABLE t (a)"
  local co = coroutine.wrap(function()
    db:write(function(db) return db:write(function(db)
      add(db, 1)
      coroutine.yield()
    end) end)
  end)
  equal(pcall(co), false)
  equal(values(db), {})
end)

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261127)

--- Runs a random block with nested blocks in the database and in a model, which is a list of values.
local function run(q, model, depth, reads)
  local next_model = table.move(model, 1, #model, 1, {})
  local ends = pick{ "return", "return", "commit", "rollback", "error" }
  local verb = reads and "read" or pick{ "write", "write", "in_savepoint", "read" }
  local function body(db)
    for _ = 1, random(3) do
      if verb ~= "read" and random(2) == 1 then
        next_model[#next_model + 1] = random(1000)
        add(pick{ db, q }, next_model[#next_model])
      end
      if depth < 5 and random(3) > 1 then next_model = run(q, next_model, depth + 1, verb == "read") end
      equal(values(q), next_model)
    end
    if ends == "error" then error("undo") end
    if verb == "in_savepoint" and ends ~= "return" then return ends end
  end
  local is_done = pcall(q[verb], q, body)
  equal(is_done, ends ~= "error")
  local keeps = is_done and not (verb == "in_savepoint" and ends == "rollback")
  return keeps and next_model or model
end

test("2000 random nestings keep and undo the right changes", function()
  for _, kind in ipairs{ "queue", "pool" } do
    local q = database(kind)
    for _ = 1, 1000 do
      q:execute "DELETE FROM t"
      local model = run(q, {}, 1, false)
      equal(values(q), model)
    end
  end
end)

test("a block that has changed rows and returns nil and a message raises, and its changes are undone", function()
  db:execute "CREATE TABLE failing (id INTEGER PRIMARY KEY)"
  local function insert_and_fail() db:execute "INSERT INTO failing DEFAULT VALUES" return nil, "out of stock" end
  for _, verb in ipairs{ "write", "in_transaction" } do matches(fails("usage", db[verb], db, insert_and_fail), "raise the error to undo them") end
  db:write(function()
    fails("usage", db.in_savepoint, db, insert_and_fail)
    equal(db:fetch_value("SELECT COUNT(*) FROM failing"), 0)
  end)
  equal(select(2, db:write(function() return nil, "not found" end)), "not found")
  equal(db:write(function() db:execute "INSERT INTO failing DEFAULT VALUES" return false end), false)
  equal(db:write_without_transaction(insert_and_fail), nil)
  equal(db:fetch_value("SELECT COUNT(*) FROM failing"), 2)
end)
