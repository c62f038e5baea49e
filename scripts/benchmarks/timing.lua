--- Measures work and reports it to the comparing program (PeriluneBenchmarks), in lines of the form `sample <processor seconds>
-- <wall seconds> <result>` and `value <name> <number>`.
local timing = {}

--- Whether to skip the work after its preparation, so that the cost of the preparation can be subtracted.
local skips_work = os.getenv("BENCHMARK_SKIPS_WORK") ~= nil

--- Runs the work several times and reports each run.
-- @tparam function wall returns the wall-clock time in seconds
-- @tparam integer repetitions the number of runs
-- @tparam function work the measured function, whose results are compared across contestants
-- @tparam[opt] function prepare called before each run, not measured
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

--- Returns a number or text unchanged, and a list of rows as its length and the sum of its quantities.
function timing.describe(outcome)
  if type(outcome) ~= "table" then return tostring(outcome) end
  local sum = 0
  for _, row in ipairs(outcome) do sum = sum + row.quantity end
  return #outcome .. "/" .. sum
end

--- Reports a number.
function timing.report(name, number)
  print(("value\t%s\t%.3f"):format(name, number))
end

--- Returns the peak memory of the process in kilobytes, or nil if the system does not provide it.
function timing.peak_memory()
  local status = io.open("/proc/self/status")
  if not status then return nil end
  local text = status:read("a")
  status:close()
  return tonumber(text:match("VmHWM:%s+(%d+)"))
end

--- Watches memory while rows are streamed, and reports how far it rose above its level after the first rows.
-- @treturn function must be called with the number of each row
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
