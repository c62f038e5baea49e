--- Random loops outside of blocks, which fetch rows ahead, match the same loops in a block, which fetch them one at a time in the
-- documented portions. The loops write, fail, break, nest, and use transactions.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261126)

local most_rows, most_bytes, bytes_per_value = 256, 64 * 1024, 16

-- Data ------------------------------------------------------------------------------------------------------------------------

local text_sizes = { 0, 1, 10, 100, 1000 }

--- The negative `k` without an absolute value, for which SQLite reports an error at its row.
local failing = math.mininteger

local function random_rows()
  local rows, count = {}, pick{ 0, 1, 2, 3, random(20), random(100), 200 + random(400) }
  local size, fails_at = pick(text_sizes), random(3) == 1 and random(count + 1) or 0
  for id = 1, count do
    rows[id] = { id, id == fails_at and failing or random(1000), random(8) == 1 and perilune.null or ("x"):rep(random(size + 1) - 1) }
  end
  return rows
end

local function make(rows)
  local db = perilune.queue()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, s TEXT); CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT)")
  db:write(function(db)
    local insert = db:prepare("INSERT INTO t VALUES (?, ?, ?)")
    for _, row in ipairs(rows) do insert:execute(table.unpack(row)) end
  end)
  return db, perilune.record("t")
end

-- Programs: what a loop does at which row ------------------------------------------------------------------------------------------

local queries = {
  "SELECT id, abs(k) AS k, s FROM t", "SELECT id, abs(k) AS k, s FROM t ORDER BY id DESC", "SELECT id, k, s FROM t WHERE id % 3 > 0",
  "SELECT id, k, s FROM t ORDER BY s, id", "SELECT id, k, s FROM t WHERE id > ?",
}

local kinds = {
  "nothing", "fetch", "log", "update", "update_later", "delete_later", "insert", "commit", "roll_back", "nested", "inside", "alter", "pragma",
  "break", "error", "collect",
}

local function random_program(depth)
  local program = {
    form = pick{ "rows", "tuples", "records", "statement" }, sql = random(#queries), actions = {},
    frequency = pick{ 1, 2, 5, 20, 100, 300 }, kinds = {},
  }
  for i = 1, random(3) do program.kinds[i] = pick(kinds) end
  for i, kind in ipairs(program.kinds) do
    if kind == "nested" then program.nested = depth < 2 and random_program(depth + 1) or nil end
    if kind == "nested" and not program.nested then program.kinds[i] = "nothing" end
  end
  for row = 1, 800 do
    if random(program.frequency) == 1 then program.actions[row] = pick(program.kinds) end
  end
  if program.nested then
    -- Few, because each runs a whole loop.
    local count = 0
    for row = 1, 800 do
      if program.actions[row] == "nested" then
        count = count + 1
        if count > 3 then program.actions[row] = nil end
      end
    end
  end
  return program
end

-- Running a program: outside of blocks, or in a block with the portions made by hand ---------------------------------------------------

local Run = {}
Run.__index = Run

function Run:note(...) self.trace[#self.trace + 1] = table.concat({ ... }, " ") end

--- Records the result of a write, which may be refused while a loop is running.
function Run:write(name, f, ...)
  self.writes = self.writes + 1
  local ok, err = pcall(f, ...)
  if not ok then self:note(name, "failed:", type(err) == "string" and err or err.kind) end
end

local function open(run, program)
  local db, sql = run.db, queries[program.sql]
  local arguments = sql:find("?", 1, true) and { 5 } or {}
  if program.form == "records" then return run.Class:rows(db, sql, table.unpack(arguments)) end
  if program.form == "statement" then return db:prepare(sql):rows(table.unpack(arguments)) end
  return db[program.form](db, sql, table.unpack(arguments))
end

local function size_of(values)
  local size = 3 * bytes_per_value
  for i = 1, 3 do
    if type(values[i]) == "string" then size = size + #values[i] end
  end
  return size
end

--- Returns a function that returns the values of the next row, or nothing.
local function make_reader(run, program)
  local next_row, _, _, cursor = open(run, program)
  local function read()
    local values = table.pack(next_row())
    if values[1] == nil then return nil end
    if program.form == "tuples" then return { values[1], values[2], values[3] } end
    return { values[1].id, values[1].k, values[1].s }
  end
  if not run.is_by_hand then return read, function() cursor:close() end end
  local ahead, portion, writes, has_written, failure, is_over = {}, 0, 0, false, nil, false
  local function read_by_hand()
    if #ahead > 0 then return table.remove(ahead, 1) end
    if failure then
      local err = failure
      failure, is_over = nil, true
      error(err, 0)
    end
    if is_over then return nil end
    if run.depth > 0 then
      local row = read()
      is_over = row == nil
      return row
    end
    if portion > 0 and run.writes ~= writes then has_written = true end
    writes = run.writes
    portion = (has_written or portion == 0) and 1 or math.min(portion * 2, most_rows)
    local first, bytes = read(), 0
    if not first then
      is_over = true
      return nil
    end
    while #ahead < portion - 1 and bytes < most_bytes do
      local ok, row = pcall(read)
      if not ok then
        failure = row
        break
      end
      if row == nil then break end
      ahead[#ahead + 1] = row
      bytes = bytes + size_of(row)
    end
    return first
  end
  return read_by_hand, function()
    ahead, is_over = {}, true
    cursor:close()
  end
end

local loop

local actions = {}

function actions.nothing() end

function actions.fetch(run) run:note("fetched", run.db:fetch_value("SELECT count(*) || ':' || coalesce(sum(length(s)), 0) FROM t")) end

function actions.log(run, row) run:write("log", run.db.execute, run.db, "INSERT INTO log (what) VALUES (?)", "row " .. row[1]) end

function actions.update(run) run:write("update", run.db.execute, run.db, "UPDATE t SET s = 'changed' WHERE id % 2 = 0") end

function actions.update_later(run, row) run:write("update", run.db.execute, run.db, "UPDATE t SET k = ? WHERE id > ?", row[1], row[1]) end

function actions.delete_later(run, row)
  run:write("delete", run.db.execute, run.db, "DELETE FROM t WHERE id IN (?, ?, ?)", row[1] + 1, row[1] + 2, row[1] + 20)
end

function actions.insert(run)
  -- The limit prevents a loop from following its own insertions forever.
  run.inserted = run.inserted + 1
  if run.inserted > 50 then return end
  run:write("insert", run.db.execute, run.db, "INSERT INTO t (k, s) VALUES (7, 'new')")
end

local function change_in_block(run, row, name, ends)
  run:write(name, run.db.write, run.db, function(db)
    db:execute("UPDATE t SET k = k + 0, s = ? WHERE id > ?", name, row[1])
    if ends then error("undone") end
  end)
end

function actions.commit(run, row) change_in_block(run, row, "committed", false) end
function actions.roll_back(run, row) change_in_block(run, row, "rolled back", true) end

function actions.inside(run, row, program, read)
  local ok, err = pcall(run.db.write, run.db, function()
    run.depth = run.depth + 1
    local ok, values = pcall(read)
    run.depth = run.depth - 1
    if not ok then error(values, 0) end
    if values then run:note("inside", table.unpack({ tostring(values[1]), tostring(values[2]), tostring(values[3]) })) end
  end)
  if not ok then run:note("inside failed:", type(err) == "string" and err or err.kind) end
end

function actions.alter(run)
  run.altered = run.altered + 1
  run:write("alter", run.db.execute, run.db, ("ALTER TABLE log ADD COLUMN c%d"):format(run.altered))
end

function actions.pragma(run) run:write("pragma", run.db.execute, run.db, "PRAGMA user_version = " .. #run.trace) end

function actions.collect() collectgarbage() end

function actions.nested(run, _, program) loop(run, program.nested) end

function loop(run, program)
  local read, close = make_reader(run, program)
  local count = 0
  while true do
    local ok, row = pcall(read)
    if not ok then
      run:note("failed:", type(row) == "string" and row or row.kind .. ": " .. row.message)
      break
    end
    if row == nil then break end
    count = count + 1
    run:note("row", tostring(row[1]), tostring(row[2]), tostring(row[3]))
    local kind = program.actions[count]
    if kind == "break" then break end
    if kind == "error" then
      run:note("left by an error")
      close()
      return
    end
    if kind then actions[kind](run, row, program, read) end
    if count > 2000 then error("endless: " .. count) end
  end
  close()
  run:note("end after", count)
end

local function start(rows, program, is_by_hand)
  local db, Class = make(rows)
  local run = setmetatable({
    db = db, Class = Class, trace = {}, writes = 0, inserted = 0, altered = 0, depth = 0, is_by_hand = is_by_hand,
  }, Run)
  if is_by_hand then
    db:write_without_transaction(function(handle)
      run.db = handle
      loop(run, program)
    end)
  else
    loop(run, program)
  end
  for _, row in ipairs(db:fetch_all("SELECT * FROM t ORDER BY id")) do run:note(tostring(row)) end
  for _, row in ipairs(db:fetch_all("SELECT id, what FROM log ORDER BY id")) do run:note(tostring(row)) end
  -- Nothing is left open.
  db:execute("DROP TABLE t")
  db:close()
  return run.trace
end

local describe
function describe(program)
  return ("%s of %q, %s every %d%s"):format(program.form, queries[program.sql], table.concat(program.kinds, "/"), program.frequency,
    program.nested and "; nested: " .. describe(program.nested) or "")
end

local function check(round)
  local rows, program = random_rows(), random_program(1)
  local outside, by_hand = start(rows, program, false), start(rows, program, true)
  for i = 1, math.max(#outside, #by_hand) do
    if outside[i] ~= by_hand[i] then
      error(("round %d, %d rows, %s\nstep %d outside: %s\nin the block: %s"):format(round, #rows, describe(program), i,
        tostring(outside[i]):sub(1, 200), tostring(by_hand[i]):sub(1, 200)), 0)
    end
  end
end

test("150 random loops over cursors outside of blocks match loops inside a block", function()
  for round = 1, rounds(150) do check(round) end
end)

-- Loops that do not write return the rows of plain SQL -----------------------------------------------------------------------------------

test("100 loops outside of blocks return the rows of fetch_all", function()
  for _ = 1, rounds(100) do
    local db = make(random_rows())
    local sql = pick{ "SELECT id, k, s FROM t", "SELECT id, k, s FROM t ORDER BY s, id DESC", "SELECT a.id, b.k, a.s FROM t a JOIN t b USING (id)" }
    local expected = db:fetch_all(sql)
    local count = 0
    for row in db:rows(sql) do
      count = count + 1
      equal(row, expected[count])
    end
    equal(count, #expected)
    count = 0
    for id, k, s in db:tuples(sql) do
      count = count + 1
      equal({ id, k, s }, { expected[count].id, expected[count].k, expected[count].s })
    end
    equal(count, #expected)
    db:close()
  end
end)
