local perilune = perilune

test("a schedule finds its next due time in local time", function()
  local handle = perilune.at("30 9 * * mon-fri", print)
  assert(handle:next_time() > perilune.now())
  local parts = os.date("*t", handle:next_time().unix_seconds)
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
  local function message(text) return fails("argument", perilune.at, text, print) end
  matches(message("* * * *"), 'schedule "* * * *": expected five fields (minute, hour, day of the month, month, day of the week), got 4')
  matches(message("60 * * * *"), "minute: expected 0 to 59, got 60")
  matches(message("* * 0 * *"), "day of the month: expected 1 to 31, got 0")
  matches(message("* * * foo *"), "month: expected a number or a name, got `foo`")
  matches(message("x * * * *"), "minute: expected a number, got `x`")
  matches(message("5-1 * * * *"), "minute: 5 is after 1")
  matches(message("*/0 * * * *"), "minute: expected a step from 1, got 0")
  matches(message("*/99999999999999999999 * * * *"), "minute: expected a step from 1, got 99999999999999999999")
  matches(message("1,,2 * * * *"), "minute: expected a number, got ``")
  matches(message("@fortnightly"), "expected five fields")
  matches(message("0 0 30 2 *"), "no such day exists")
  matches(fails("argument", perilune.at, 5, print), 'expected a schedule, such as "0 9 * * mon-fri", got the integer 5')
  matches(fails("argument", perilune.at, "@daily"), "expected a function, got nil")
end)

local function first_time(text)
  local handle <close> = setmetatable({ perilune.at(text, print) }, { __close = function(self) self[1]:cancel() end })
  return os.date("*t", handle[1]:next_time().unix_seconds)
end

test("a week may end with a Sunday", function()
  local parts = first_time("0 12 * * sun-sun")
  equal({ parts.wday, parts.hour }, { 1, 12 })
  equal(first_time("0 12 * December Sunday").month, 12)
  local day = first_time("0 12 * * sat-sun").wday
  assert(day == 7 or day == 1, day)
  matches(fails("argument", perilune.at, "0 0 * * wed-tue", print), "day of the week: wed is after tue")
end)

test("February 29 is found years ahead", function()
  -- If one field starts with a star, both fields must match.
  local parts = first_time("0 12 29 2 */7")
  equal({ parts.month, parts.day, parts.wday }, { 2, 29, 1 })
end)
