--- Measures a piece of work and reports it to the program that compares (PeriluneBenchmarks), in lines of the form
-- `sample <processor seconds> <wall seconds> <what was computed>` and `value <name> <number>`.
local timing = {}

--- Whether all is prepared and nothing is done: what the preparation costs is taken from what is counted.
local skips_work = os.getenv("BENCHMARK_SKIPS_WORK") ~= nil

--- Runs the work several times and reports each.
-- @tparam function wall a clock that counts seconds
-- @tparam integer repetitions how many times
-- @tparam function work what to measure; what it returns is compared across contestants
-- @tparam[opt] function prepare run before each, not measured
function timing.measure(wall, repetitions, work, prepare)
  for _ = 1, repetitions do
    if prepare then prepare() end
    if skips_work then goto continue end
    collectgarbage()
    collectgarbage()
    local wall_start, processor_start = wall(), os.clock()
    local outcome = work()
    local processor, elapsed = os.clock() - processor_start, wall() - wall_start
    print(("sample\t%.6f\t%.6f\t%s"):format(processor, elapsed, timing.describe(outcome)))
    ::continue::
  end
end

--- Returns a number or text as it is, and a list of rows as its length and the sum of its quantities.
function timing.describe(outcome)
  if type(outcome) ~= "table" then return tostring(outcome) end
  local sum = 0
  for _, row in ipairs(outcome) do sum = sum + row.quantity end
  return #outcome .. "/" .. sum
end

--- Reports one number.
function timing.report(name, number)
  print(("value\t%s\t%.3f"):format(name, number))
end

--- Returns the most memory that the process has had, in kilobytes, or nil where the system does not tell.
function timing.peak_memory()
  local status = io.open("/proc/self/status")
  if not status then return nil end
  local text = status:read("a")
  status:close()
  return tonumber(text:match("VmHWM:%s+(%d+)"))
end

--- Watches memory while rows stream by, and reports how far it rose above where it stood after the first rows.
-- @treturn function to be called with the number of each row
function timing.memory_watch()
  local lua_start, lua_peak, process_start
  return function(row)
    if row % 1000 ~= 0 then return end
    if row == 50000 then
      lua_start, process_start = collectgarbage("count"), timing.peak_memory()
      lua_peak = lua_start
    elseif row > 50000 then
      lua_peak = math.max(lua_peak, collectgarbage("count"))
    end
    if row == 1000000 then
      timing.report("lua_peak_kb", lua_peak)
      timing.report("process_peak_kb", timing.peak_memory() or 0)
      timing.report("process_growth_kb", (timing.peak_memory() or 0) - (process_start or 0))
    end
  end
end

return timing
