local perilune = perilune

test("a schedule finds its next due time in local time", function()
  local handle = perilune.schedule("30 9 * * mon-fri", print)
  assert(handle:next_time() > perilune.now())
  local parts = os.date("*t", math.floor(handle:next_time().unix))
  equal({ parts.hour, parts.min, parts.sec }, { 9, 30, 0 })
  assert(parts.wday >= 2 and parts.wday <= 6)
  equal(tostring(handle), 'schedule "30 9 * * mon-fri"')
  equal(handle:is_active(), true)
  equal(handle:cancel(), true)
  equal(handle:cancel(), false)
  equal(handle:next_time(), nil)
  equal(tostring(handle), 'schedule "30 9 * * mon-fri" (ended)')
end)

test("an invalid schedule is explained", function()
  local function message(text) return fails("argument", perilune.schedule, text, print) end
  matches(message("* * * *"), 'schedule "* * * *": expected five fields (minute, hour, day of the month, month, day of the week), got 4')
  matches(message("60 * * * *"), "minute: expected 0 to 59, got 60")
  matches(message("* * 0 * *"), "day of the month: expected 1 to 31, got 0")
  matches(message("* * * foo *"), "month: expected a number or a name, got `foo`")
  matches(message("x * * * *"), "minute: expected a number, got `x`")
  matches(message("5-1 * * * *"), "minute: 5 is after 1; write 5-59,0-1")
  matches(message("0 0 28-3 * *"), "day of the month: 28 is after 3; write 28-31,1-3")
  matches(message("*/0 * * * *"), "minute: expected a step from 1, got 0")
  matches(message("*/99999999999999999999 * * * *"), "minute: expected a step from 1, got 99999999999999999999")
  matches(message("1,,2 * * * *"), "minute: expected a number, got ``")
  matches(message("@fortnightly"), "expected five fields")
  matches(message("@dayly"), "the shorthands are @hourly, @daily")
  matches(message("0 0 30 2 *"), "no such day exists")
  matches(fails("argument", perilune.schedule, 5, print), 'expected a schedule, such as "0 9 * * mon-fri", got the integer 5')
  matches(fails("argument", perilune.schedule, "@daily"), "expected a function, got nil")
end)

local function first_time(text)
  local handle <close> = setmetatable({ perilune.schedule(text, print) }, { __close = function(self) self[1]:cancel() end })
  return os.date("*t", math.floor(handle[1]:next_time().unix))
end

test("a range of weekdays may end on Sunday", function()
  local parts = first_time("0 12 * * sun-sun")
  equal({ parts.wday, parts.hour }, { 1, 12 })
  equal(first_time("0 12 * December Sunday").month, 12)
  local day = first_time("0 12 * * sat-sun").wday
  assert(day == 7 or day == 1, day)
end)

--- Returns the values of a date field at which a schedule is due within a number of hours.
local function due_numbers(text, unit, hours, count)
  local seen = {}
  perilune.schedule(text, function(due) seen[os.date("*t", due.unix // 1)[unit]] = true end)
  perilune.sleep(hours * 3600)
  local list = {}
  for number in pairs(seen) do list[#list + 1] = number end
  table.sort(list)
  return list
end

test("a range of weekdays may wrap past the end of the week", function()
  equal(due_numbers("0 12 * * fri-mon", "wday", 24 * 9), { 1, 2, 6, 7 })
end)

test("a range of weekdays may begin with either number of Sunday", function()
  equal(due_numbers("0 12 * * 0-6", "wday", 24 * 9), { 1, 2, 3, 4, 5, 6, 7 })
end)

test("a range of weekdays that ends on the day before its first includes all days", function()
  equal(due_numbers("0 12 * * wed-tue", "wday", 24 * 9), { 1, 2, 3, 4, 5, 6, 7 })
end)

test("a range of hours may wrap past midnight, with steps", function()
  equal(due_numbers("0 22-6/2 * * *", "hour", 50), { 0, 2, 4, 6, 22 })
end)

test("a range of months may wrap past the end of the year", function()
  equal(due_numbers("0 12 1 nov-feb *", "month", 24 * 400), { 1, 2, 11, 12 })
end)

test("a range that wraps around includes each of its numbers", function()
  local random = random_numbers(7)
  local fields = { { 2, 0, 23, 24 }, { 4, 1, 12, 12 }, { 5, 0, 6, 7 } }
  local function text_with(position, field)
    local parts = { "0", "12", "*", "*", "*" }
    parts[position] = field
    return table.concat(parts, " ")
  end
  for _ = 1, rounds(300) do
    local position, low, high, size = table.unpack(fields[random(3)])
    local first, last, step = low + random(size) - 1, low + random(size) - 1, random(4)
    local numbers, count = {}, (last - first) % size
    for offset = 0, count, step do numbers[#numbers + 1] = low + (first - low + offset) % size end
    local range = ("%d-%d/%d"):format(first, last, step)
    local one = perilune.schedule(text_with(position, range), print)
    local other = perilune.schedule(text_with(position, table.concat(numbers, ",")), print)
    equal({ range, tostring(one:next_time()) }, { range, tostring(other:next_time()) })
    one:cancel()
    other:cancel()
  end
end)

test("perilune.at calls a function once at a given time", function()
  local moments, moment = {}, perilune.now():add{ hours = 1 }
  local handle = perilune.at(moment, function(due) moments[#moments + 1] = { tostring(due), perilune.now() >= moment } end)
  equal(handle:is_active(), true)
  equal(handle:next_time() == moment, true)
  equal(tostring(handle), "moment " .. tostring(moment))
  perilune.sleep("59m")
  equal(#moments, 0)
  perilune.sleep("2m")
  equal(moments, { { tostring(moment), true } })
  equal({ handle:is_active(), handle:next_time(), handle:cancel() }, { false, nil, false })
  perilune.sleep("48h")
  equal(#moments, 1)
end)

test("perilune.at calls a function immediately if its time has passed", function()
  local count = 0
  perilune.at(tostring(perilune.now():add{ days = -1 }), function() count = count + 1 end)
  perilune.sleep(0.1)
  equal(count, 1)
end)

test("a call by perilune.at can be cancelled", function()
  local count = 0
  local handle = perilune.at(perilune.now():add{ hours = 1 }, function() count = count + 1 end)
  equal(handle:cancel(), true)
  perilune.sleep("2h")
  equal(count, 0)
end)

test("errors of perilune.schedule and perilune.at suggest the other function", function()
  matches(fails("argument", perilune.at, "0 9 * * mon-fri", print), 'use perilune.schedule("0 9 * * mon-fri", f)')
  matches(fails("argument", perilune.at, "@daily", print), 'use perilune.schedule("@daily", f)')
  matches(fails("argument", perilune.schedule, perilune.now(), print), "use perilune.at(date, f)")
  matches(fails("argument", perilune.schedule, "2026-01-01 12:00", print), "use perilune.at(date, f) for one moment")
  matches(fails("argument", perilune.at, "soon", print), "expected a date, got")
  matches(fails("argument", perilune.at, "1h", print), "use perilune.after(duration, f)")
  matches(fails("argument", perilune.at, nil, print), "expected a date, got nil")
  matches(fails("argument", perilune.at, perilune.now()), "expected a function, got nil")
  matches(fails("argument", perilune.at, perilune.now(), print, {}), "at most 2 arguments")
  matches(fails("argument", perilune.schedule, "@daily", print, {}, {}), "at most 3 arguments")
end)

test("durations may have several units", function()
  local function waited(duration)
    local start = perilune.now().unix
    perilune.sleep(duration)
    return math.floor(perilune.now().unix - start + 0.5)
  end
  for text, seconds in pairs{
    ["1h30m"] = 5400, ["1h 30m"] = 5400, ["10 sec"] = 10, ["10secs"] = 10, ["2 hrs"] = 7200, ["1d12h"] = 129600, ["1 week"] = 604800,
    ["1w"] = 604800, ["1 hour 30 minutes 5 s"] = 5405, ["90"] = 90, ["1.5h"] = 5400, ["3 Mins"] = 180, ["500 msec 500ms"] = false,
    ["1h30"] = false, ["h"] = false, ["1h2h"] = false, ["1x"] = false, [""] = false, ["1h-30m"] = false, ["1..5h"] = false,
  } do
    if seconds then equal({ text, waited(text) }, { text, seconds })
    else matches(fails("argument", perilune.sleep, text), '"1h30m"') end
  end
end)

test("February 29 is found years ahead", function()
  -- If one field starts with a star, both fields must match.
  local parts = first_time("0 12 29 2 */7")
  equal({ parts.month, parts.day, parts.wday }, { 2, 29, 1 })
end)
