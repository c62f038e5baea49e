--- Loops outside of blocks prefetch rows, which scripts can observe only as the reference describes.

local numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"

local function fill(count)
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, s TEXT)")
  db:execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO t (k) SELECT i FROM n", count)
end

test("a loop that writes at each row sees its own changes as in a block", function()
  fill(100)
  local seen = {}
  for row in db:rows("SELECT id FROM t") do
    seen[#seen + 1] = row.id
    db:execute("DELETE FROM t WHERE id = ?", row.id + 1)
  end
  equal(#seen, 50)
  equal(seen[50], 99)
end)

test("at most 256 rows are fetched before a loop's first change, and later rows one at a time", function()
  fill(2000)
  local seen, count = {}, 0
  for id in db:tuples("SELECT id FROM t") do
    count = count + 1
    seen[id] = true
    if count == 1000 then db:execute("DELETE FROM t WHERE id > 1000") end
  end
  assert(count >= 1000 and count < 1000 + 256, count)
  count = 0
  db:execute("DROP TABLE t")
  fill(2000)
  for id in db:tuples("SELECT id FROM t") do
    count = count + 1
    if count == 1000 or count == 1500 then db:execute("DELETE FROM t WHERE id = ?", id + 300) end
    if count == 1600 then db:execute("DELETE FROM t WHERE id > ?", id) end
  end
  equal(count, 1600)
end)

test("an SQL function of the script is called for one row at a time", function()
  local calls = {}
  db:add_function("note", 1, function(i) calls[#calls + 1] = "called " .. i return i end)
  for row in db:rows("SELECT note(i) AS i FROM (" .. numbers .. ")", 5) do calls[#calls + 1] = "row " .. row.i end
  equal(calls, { "called 1", "row 1", "called 2", "row 2", "called 3", "row 3", "called 4", "row 4", "called 5", "row 5" })
end)

test("a loop returns the rows before a failing row, and the error has the line of the loop", function()
  fill(30)
  db:execute("UPDATE t SET k = ? WHERE id = 20", math.mininteger)
  local sql, count = "SELECT abs(k) AS k FROM t", 0
  local err = fails("sql", function() for _ in db:rows(sql) do count = count + 1 end end)
  equal(count, 19)
  equal(err.sql, sql)
  equal(err.message, "integer overflow")
  local next_row = db:rows(sql)
  for _ = 1, 19 do next_row() end
  local function line_of(f) return fails(nil, f).line end
  local asking = line_of(function() next_row() end)
  equal(asking, line_of(function() db:execute("no SQL") end) - 1)
  equal(next_row(), nil)
end)

test("a loop over an endless query can be left", function()
  local count = 0
  for _ in db:tuples("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n") do
    count = count + 1
    if count == 5000 then break end
  end
  equal(count, 5000)
end)

test("a loop prefetches few rows if they are large", function()
  local most = 0
  collectgarbage()
  local before = collectgarbage("count")
  for row in db:rows("SELECT i, zeroblob(1000000) AS b FROM (" .. numbers .. ")", 200) do
    equal(#row.b, 1000000)
    if row.i % 10 == 0 then
      row = nil
      collectgarbage()
      most = math.max(most, collectgarbage("count") - before)
    end
  end
  assert(most < 4000, most .. " KiB")
end)

test("fields that are added to a row are released with the row", function()
  local kept = setmetatable({}, { __mode = "v" })
  for row in db:rows(numbers, 200) do
    row.more = {}
    kept[#kept + 1] = row.more
  end
  collectgarbage() collectgarbage()
  equal(next(kept), nil)
end)

test("an interruption ends a loop at its current row", function()
  fill(100)
  for _, last in ipairs{ 1, 2, 20, 50, 99, 100 } do
    local count = 0
    fails("interrupt", function()
      for _ in db:rows("SELECT id FROM t") do
        count = count + 1
        if count == last then db:interrupt() end
      end
    end)
    equal(count, last)
  end
end)

test("closing the database ends a loop that has prefetched rows", function()
  local other = perilune.queue()
  local count = 0
  local err = fails("closed", function()
    for _ in other:rows(numbers, 100) do
      count = count + 1
      if count == 20 then other:close() end
    end
  end)
  equal(count, 20)
  matches(err, "closed")
end)

test("a loop with prefetched rows can wait and continues afterwards", function()
  fill(100)
  local sum, others = 0, 0
  local task = perilune.spawn(function()
    for _ = 1, 5 do
      perilune.sleep(0.001)
      others = others + db:fetch_value("SELECT count(*) FROM t")
    end
  end)
  for row in db:rows("SELECT k FROM t") do
    sum = sum + row.k
    if row.k % 10 == 0 then perilune.sleep(0.001) end
  end
  task:wait()
  equal(sum, 5050)
  equal(others, 500)
end)

test("loops over the same SQL can be nested while rows are prefetched", function()
  local count = 0
  for a in db:tuples(numbers, 40) do
    for b in db:tuples(numbers, a) do count = count + b end
  end
  equal(count, 40 * 41 * 42 // 6)
end)

test("records from a loop have the values of their rows and track changes", function()
  fill(600)
  local T, count = perilune.record("t"), 0
  for record in T:order("id"):rows() do
    count = count + 1
    equal(record.id, count)
    equal(record:has_changes(), false)
    record.s = "changed"
    equal(record:has_changes(), true)
  end
  equal(count, 600)
end)
