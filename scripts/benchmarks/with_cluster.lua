-- The work done by Perilune on a cluster. Argument: the number of repetitions.
local rounds <const> = tonumber(arg[1])
local clock = perilune.now

local function measure(name, count, work)
  for _ = 1, rounds do
    local start = clock()
    work()
    print(("%s\t%.9f"):format(name, clock():seconds_since(start) / count))
  end
end

local Sale = perilune.record("sale")
measure("point select", 2000, function()
  for i = 1, 2000 do db:fetch_one("SELECT * FROM sale WHERE id = ?", i % 500 + 1) end
end)
measure("insert in a transaction", 5000, function()
  db:write(function(db) for i = 1, 5000 do db:execute("INSERT INTO sale (name, price, quantity) VALUES (?, ?, ?)", "k" .. i, i / 2, i) end end)
end)
measure("insert by itself", 200, function()
  for i = 1, 200 do db:execute("INSERT INTO sale (name, price, quantity) VALUES (?, ?, ?)", "k" .. i, i / 2, i) end
end)
measure("10,000 rows", 10000, function()
  local sales = {}
  for i = 1, 10000 do sales[i] = Sale { name = "k" .. i, price = i / 2, quantity = i } end
  Sale:insert_all(sales)
end)
measure("stream of 200,000 rows", 200000, function()
  local count, sum = 0, 0
  db:read(function(db)
    for id, name, price, quantity in db:tuples("SELECT id, name, price, quantity FROM stream") do count, sum = count + 1, sum + quantity end
  end)
  assert(count == 200000)
end)
local kilobytes = 0
for line in io.lines("/proc/self/status") do kilobytes = tonumber(line:match("^VmHWM:%s+(%d+)")) or kilobytes end
print(("megabytes\t%.1f"):format(kilobytes / 1024))
