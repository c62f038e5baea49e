--- Small transactions on a file, by journal mode and `synchronous`. Run by `perilune run`; arguments: a folder on the disk to measure, and
-- the seconds for each line.
local folder, seconds = ...
local limit, rounds = tonumber(seconds) or 2, 4

local cases = {
  { journal_mode = "delete", synchronous = "full" },
  { journal_mode = "wal", synchronous = "full" },
  { journal_mode = "wal", synchronous = "normal" },
}

for _, case in ipairs(cases) do
  case.db = perilune.queue(("%s/%s-%s.sqlite"):format(folder, case.journal_mode, case.synchronous), {
    journal_mode = case.journal_mode, synchronous = case.synchronous,
  })
  case.db:execute("CREATE TABLE reading (id INTEGER PRIMARY KEY, value REAL)")
  case.count, case.duration, case.block = 0, 0, math.huge
end

local function insert(db, value) db:execute("INSERT INTO reading (value) VALUES (?)", value) end

--- Counts transactions of one row for some time.
local function commit(case)
  local start, count, elapsed = perilune.now(), 0, 0
  repeat
    insert(case.db, count)
    count, elapsed = count + 1, perilune.now() - start
  until elapsed >= limit / rounds
  case.count, case.duration = case.count + count, case.duration + elapsed
end

--- Measures one transaction of many rows.
local function commit_block(case)
  local start = perilune.now()
  case.db:write(function(db)
    for value = 1, 1000 do insert(db, value) end
  end)
  case.block = math.min(case.block, perilune.now() - start)
end

-- By turns, because the disk may be shared.
for _ = 1, rounds do
  for _, case in ipairs(cases) do commit(case) commit_block(case) end
end

print(("%-14s %-12s %18s %10s %22s"):format("journal_mode", "synchronous", "transactions a second", "factor", "1,000 rows in a block"))
local first = cases[1].count / cases[1].duration
for _, case in ipairs(cases) do
  local rate = case.count / case.duration
  print(("%-14s %-12s %21.0f %10.1f %19.1f ms"):format(case.journal_mode, case.synchronous, rate, rate / first, case.block * 1000))
end
