--- Databases that scripts open: preparing their connections and closing them.

--- Creates a database file with a table and returns its path.
local function file()
  local path = temporary_path "prepared.sqlite"
  local db = perilune.queue(path)
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (1, 2)"
  db:close()
  return path
end

test("the prepare function is called with a queue's connection when it is opened", function()
  local calls = 0
  local db = perilune.queue(file(), { prepare = function(db)
    calls = calls + 1
    db:execute "PRAGMA cache_size = 123"
    db:execute "CREATE TEMP TABLE mine (a); INSERT INTO mine VALUES (7)"
  end })
  equal(calls, 1)
  equal(db:fetch_value "PRAGMA cache_size", 123)
  db:write(function(db) equal(db:fetch_value "SELECT a FROM mine", 7) end)
  db:read(function(db) equal(db:fetch_value "SELECT a FROM mine", 7) end)
  equal(calls, 1)
end)

test("the prepare function is called with each connection of a pool before its first use, outside transactions", function()
  local calls = 0
  local db = perilune.pool(file(), { prepare = function(db)
    calls = calls + 1
    equal(db:is_inside_transaction(), false)
    db:execute "PRAGMA cache_size = 123"
    db:add_function("own", function() return 1 end)
  end })
  equal(calls, 1)
  db:read(function(db) equal(db:fetch_value "PRAGMA cache_size", 123) end)
  local after_reading = calls
  equal(after_reading > 1, true)
  db:read(function(db) equal(db:fetch_value "PRAGMA cache_size", 123) end)
  equal(calls, after_reading)
  equal(db:fetch_value "SELECT n FROM t", 2)
  equal(db:fetch_value "PRAGMA cache_size", 123)
  db:write(function(db) equal(db:fetch_value "PRAGMA cache_size", 123) end)
end)

test("an error in the prepare function is raised when the database is opened or first used", function()
  local path = file()
  local err = { kind = "mine" }
  local is_done, raised = pcall(perilune.queue, path, { prepare = function() error(err) end })
  equal({ is_done, rawequal(raised, err) }, { false, true })
  local fails_now = false
  local db = perilune.pool(path, { prepare = function() if fails_now then error("not now", 0) end end })
  fails_now = true
  local _, message = pcall(db.read, db, function(db) return db:fetch_value "SELECT 1" end)
  equal(message, "not now")
  fails_now = false
  equal(db:read(function(db) return db:fetch_value "SELECT n FROM t" end), 2)
end)

test("the prepare function can neither leave a transaction open, nor open a block, nor wait", function()
  local path = file()
  matches(fails(nil, perilune.queue, path, { prepare = function(db) db:execute "BEGIN" end }), "transaction")
  local db
  local is_done = pcall(function()
    db = perilune.queue(path, { prepare = function(handle) if db then db:write(function() end) end end })
  end)
  equal(is_done, true)
  fails(nil, perilune.queue, path, { prepare = function() coroutine.yield() end })
  matches(fails("argument", perilune.queue, path, { prepare = 5 }), "option prepare")
  equal(perilune.queue(path):fetch_value "SELECT n FROM t", 2)
end)

test("the handle of the prepare function is unusable afterwards", function()
  local kept
  perilune.queue(nil, { prepare = function(db) kept = db end })
  fails("dead_handle", kept.fetch_value, kept, "SELECT 1")
end)

--- Returns the number of open files of this process whose paths start with a path.
local function open_files(path)
  local process = io.open("/proc/self/stat"):read("n")
  return io.popen("ls -l /proc/" .. process .. "/fd | grep -c " .. path):read("n")
end

test("a dropped and collected queue releases its file while the script runs", function()
  local path = file()
  local other = perilune.queue(path)
  local Item = perilune.record "t"
  equal(Item:fetch_one(other, 1).n, 2)
  equal(open_files(path) > 0, true)
  other = nil
  collectgarbage()
  collectgarbage()
  db:fetch_value "SELECT 1"
  equal(open_files(path), 0)
end)

test("a dropped and collected pool releases its files while the script runs, after each kind of use", function()
  local uses = {
    unused = function() end,
    written = function(pool) pool:execute "INSERT INTO t VALUES (2, 3)" end,
    read = function(pool) pool:fetch_value "SELECT n FROM t" end,
    read_in_a_block = function(pool) pool:read(function(db) db:fetch_value "SELECT n FROM t" end) end,
    written_in_a_block = function(pool) pool:write(function(db) db:execute "DELETE FROM t" end) end,
    read_by_records = function(pool) perilune.record("t"):fetch_all(pool) end,
    prepared = function(pool) pool:prepare("SELECT n FROM t"):fetch_value() end,
    left_amid_rows = function(pool) pool:rows("SELECT n FROM t")() end,
    -- An observer retains its database.
    observed_for_a_while = function(pool) pool:observe_transactions{ did_commit = function() end }:cancel() end,
    read_while_written = function(pool)
      pool:write(function(db)
        db:execute "DELETE FROM t"
        pool:fetch_value "SELECT n FROM t"
      end)
    end,
  }
  for name, use in pairs(uses) do
    local path = file()
    local is_open
    -- A separate function ensures that no reference stays on the stack.
    local function run()
      local pool = perilune.pool(path)
      use(pool)
      is_open = open_files(path) > 0
    end
    run()
    equal(is_open, true)
    collectgarbage()
    collectgarbage()
    db:fetch_value "SELECT 1"
    equal({ name, open_files(path) }, { name, 0 })
  end
end)

test("triggers and views with strings in double quotes are usable, and new SQL stays strict", function()
  local db = perilune.queue(temporary_path "foreign.sqlite")
  db:execute "CREATE TABLE mob (id INTEGER PRIMARY KEY, at INT, pos INT); INSERT INTO mob VALUES (1, 0, 2)"
  db:execute [[CREATE TRIGGER up AFTER UPDATE OF pos ON mob BEGIN UPDATE mob SET at = printf("%d", 7) WHERE id = new.id; END]]
  db:execute [[CREATE VIEW v AS SELECT printf("%3.1f", pos) AS p FROM mob]]
  db:execute "UPDATE mob SET pos = 3"
  equal(db:fetch_value "SELECT at FROM mob", 7)
  equal(db:fetch_value [[SELECT "p" FROM "v"]], "3.0")
  local err = fails("sql", function() db:fetch_all [[SELECT "pso" FROM mob]] end)
  matches(err.message, "no such column: pso")
  fails("sql", function() db:execute [[UPDATE mob SET pos = 4 WHERE "pso" = 1]] end)
  db:close()
end)

test("with double_quoted_strings = false, such triggers and views are refused by name", function()
  local path = temporary_path "foreign.sqlite"
  local db = perilune.queue(path)
  db:execute "CREATE TABLE mob (id INTEGER PRIMARY KEY, at INT, pos INT); INSERT INTO mob VALUES (1, 0, 2)"
  db:execute [[CREATE TRIGGER up AFTER UPDATE OF pos ON mob BEGIN UPDATE mob SET at = printf("%d", 7) WHERE id = new.id; END]]
  db:execute [[CREATE VIEW v AS SELECT printf("%3.1f", pos) AS p FROM mob]]
  db:close()
  for _, open in ipairs{ perilune.queue, perilune.pool } do
    local strict = open(path, { double_quoted_strings = false })
    local err = fails("sql", function() strict:execute "UPDATE mob SET pos = 3" end)
    matches(err.message, [[no such column: %d: the trigger `up` has "%d" in double quotes]])
    err = fails("sql", function() strict:fetch_all "SELECT * FROM v" end)
    matches(err.message, [[the view `v` has "%3.1f" in double quotes]])
    strict:close()
    local lenient = open(path, { double_quoted_strings = true })
    equal(lenient:fetch_value "SELECT p FROM v", "2.0")
    lenient:close()
  end
end)

test("an error of a trace function that is called for the opening is raised by it", function()
  for _ = 1, 3 do
    fails(nil, perilune.queue, nil, { trace = function() error("traced", 0) end })
    equal(db:fetch_value("SELECT 1"), 1)
  end
end)
