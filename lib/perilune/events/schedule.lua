--- Schedules in cron format: minute, hour, day of the month, month and day of the week, in local time or in a time zone.

local errors = require "perilune.native.errors"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local native_loop = require "perilune.native.loop"
local zones = require "perilune.native.zones"

--- The functions that scripts call.
local public = {}

--- Names of months and days.
local months = { "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec" }
local days = { [0] = "sun", "mon", "tue", "wed", "thu", "fri", "sat" }

--- The fields in order: name, minimum, maximum, and the words that stand for numbers. In a field with a `cycle`, ranges may wrap around:
-- fri-mon, 22-6.
local fields = {
  { name = "minute", low = 0, high = 59 },
  { name = "hour", low = 0, high = 23, cycle = 24 },
  { name = "day of the month", low = 1, high = 31 },
  { name = "month", low = 1, high = 12, cycle = 12, words = months, names = {
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december" } },
  { name = "day of the week", low = 0, high = 7, cycle = 7, words = days, names = {
    [0] = "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday" } },
}

local shorthands = {
  ["@hourly"] = "0 * * * *", ["@daily"] = "0 0 * * *", ["@midnight"] = "0 0 * * *", ["@weekly"] = "0 0 * * 0",
  ["@monthly"] = "0 0 1 * *", ["@yearly"] = "0 0 1 1 *", ["@annually"] = "0 0 1 1 *",
}

-- Reading ---------------------------------------------------------------------------------------------------------------------

local function fail(place, text, message, ...)
  checks.fail(place, ('schedule "%s": %s'):format(text, message:format(...)))
end

local function read_number(place, text, field, part)
  local number = math.tointeger(tonumber(part))
  for value, word in pairs(field.words or {}) do
    local name = part:lower()
    if name == word or name == field.names[value] then number = value end
  end
  if not number then fail(place, text, "%s: expected a number%s, got `%s`", field.name, field.words and " or a name" or "", part) end
  if number < field.low or number > field.high then
    fail(place, text, "%s: expected %d to %d, got %d", field.name, field.low, field.high, number)
  end
  return number
end

--- Adds the numbers of one element of a comma-separated list: `*`, `5` or `1-5`, optionally with a step such as `/2`.
local function add_part(place, text, field, part, set)
  local range, step = part:match("^(.-)/(%d+)$")
  local stride = math.tointeger(tonumber(step or 1))
  if not stride or stride < 1 then fail(place, text, "%s: expected a step from 1, got %s", field.name, step) end
  range, step = range or part, math.min(stride, field.high + 1)
  local low, high = field.low, field.high
  if range ~= "*" then
    local first, last = range:match("^(%w+)%-(%w+)$")
    low = read_number(place, text, field, first or range)
    high = first and read_number(place, text, field, last) or (part ~= range and field.high or low)
    if low > high and not field.cycle then
      fail(place, text, "%s: %s is after %s; write %s-%d,%d-%s", field.name, first, last, first, field.high, field.low, last)
    elseif low > high then high = high + field.cycle end
  end
  for number = low, high, step do
    set[number > field.high and number - field.cycle or number] = true
  end
end

local function read_field(place, text, field, word)
  local set = {}
  for part in (word .. ","):gmatch("([^,]*),") do add_part(place, text, field, part, set) end
  if field.words == days and set[7] then set[0] = true end
  return set
end

--- Returns the hour for text such as "9 pm".
local function hour_of(text)
  local number, half = text:lower():match("(%d%d?)%s*([ap])m")
  return tonumber(number) % 12 + (half == "p" and 12 or 0)
end

--- Reads a schedule: five fields, or a shorthand such as "@daily".
local function parse(place, text)
  if type(text) ~= "string" then
    local cure = type(text) == "number" and "; use perilune.every(seconds, f) for a period" or type(text) == "table" and text[1] and "; use one for each schedule"
      or "; use perilune.schedule(\"0 9 * * *\", f)"
    checks.fail(place, 'expected a schedule, such as "0 9 * * mon-fri", got ' .. errors.describe(text) .. cure)
  end
  local words = {}
  for word in (shorthands[text:lower()] or text):gmatch("%S+") do words[#words + 1] = word end
  if #words ~= 5 then
    local hour, minute = text:match("^%D*(%d%d?):(%d%d)%D*$")
    local cure = hour and #words < 5 and ("; use perilune.schedule(\"%d %d * * *\", f) for each day at this time"):format(minute, hour)
      or #words == 6 and "; schedules have no seconds, use perilune.every(duration, f)"
      or text:lower():find("^%s*every%s") and "; use perilune.every(\"5 minutes\", f) for a duration, perilune.schedule(\"0 9 * * *\", f) for each day at nine"
      or shorthands["@" .. text:lower():match("^%s*(.-)%s*$")] and ("; use %q"):format("@" .. text:lower():match("^%s*(.-)%s*$"))
      or text:lower():find("^%s*(%d%d?)%s*[ap]m%s*$") and ("; use \"0 %d * * *\""):format(hour_of(text))
      or text:find("OnCalendar", 1, true) and "; use the form of cron, as in \"0 9 * * mon-fri\", or \"@daily\""
      or pcall(perilune.date, text) and "; use perilune.at(date, f) for one moment"
      or text:find("^%s*@") and "; the shorthands are @hourly, @daily, @weekly, @monthly and @yearly" or ""
    fail(place, text, "expected five fields (minute, hour, day of the month, month, day of the week), got %d%s", #words, cure)
  end
  local schedule = { text = text }
  for index, field in ipairs(fields) do schedule[index] = read_field(place, text, field, words[index]) end
  -- As in cron, a day matches if either field matches, provided that neither is `*`.
  schedule.either_day = words[3]:sub(1, 1) ~= "*" and words[5]:sub(1, 1) ~= "*"
  -- A fixed time of day is due only once, even if clocks are set back or forward.
  schedule.is_fixed = words[1]:sub(1, 1) ~= "*" and words[2]:sub(1, 1) ~= "*"
  return schedule
end

-- The next time ---------------------------------------------------------------------------------------------------------------

local function is_day(schedule, time)
  local by_month, by_week = schedule[3][time.day], schedule[5][time.wday - 1]
  if schedule.either_day then return by_month or by_week end
  return by_month and by_week
end

--- Returns the offset of the schedule's local time from UTC, in seconds.
local function offset(schedule, moment)
  if schedule.zone then return zones.offset(schedule.zone, moment) end
  local sign, hours, minutes = os.date("%z", moment):match("^([+-])(%d%d)(%d%d)$")
  if not sign then return 0 end
  local seconds = tonumber(hours) * 3600 + tonumber(minutes) * 60
  return sign == "-" and -seconds or seconds
end

local function is_due(schedule, time)
  return schedule[4][time.month] and is_day(schedule, time) and schedule[2][time.hour] and schedule[1][time.min]
end

--- Returns whether clocks go forward at this time, so that local time skips a due time of the schedule.
local function has_missed(schedule, moment)
  if not schedule.is_fixed then return false end
  local before, now = offset(schedule, moment - 60), offset(schedule, moment)
  for seconds = before, now - 60, 60 do
    if is_due(schedule, os.date("!*t", moment + seconds)) then return true end
  end
  return false
end

--- Returns whether clocks have gone back, so that the same local time occurs again.
local function comes_twice(schedule, moment)
  if not schedule.is_fixed then return false end
  local now, before = offset(schedule, moment), offset(schedule, moment - 86400)
  return before > now and offset(schedule, moment - (before - now)) == before
end

--- Returns the Unix seconds of noon on a day, in UTC.
local function noon(year, month, day)
  if month > 12 then year, month = year + 1, month - 12 end
  local shifted_year = month <= 2 and year - 1 or year
  local day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
  local days = 365 * shifted_year + shifted_year // 4 - shifted_year // 100 + shifted_year // 400 + day_of_year - 719468
  return days * 86400 + 43200
end

--- Returns the next time to examine: the beginning of the next hour, or `hours` before the given noon if that is later.
local function skip(moment, time, begin, hours)
  return math.max(moment + (60 - time.min) * 60, begin and begin - hours * 3600 or 0)
end

--- Returns the first due time of a schedule after a given time, in Unix seconds. Returns nil if it is not due within forty years, which is
-- the longest time until February 29 falls on a given day of the week.
local function next_time(schedule, after)
  local moment = after - after % 60 + 60
  local limit = after + 40 * 366 * 86400
  while moment <= limit do
    local ahead = offset(schedule, moment)
    local time = os.date("!*t", moment + ahead)
    if has_missed(schedule, moment) then
      return moment
    elseif not schedule[4][time.month] then
      moment = skip(moment, time, noon(time.year, time.month + 1, 1) - ahead, 38)
    elseif not is_day(schedule, time) then
      moment = skip(moment, time, noon(time.year, time.month, time.day) + 86400 - ahead, 15)
    elseif not schedule[2][time.hour] then
      moment = skip(moment, time)
    elseif not schedule[1][time.min] or comes_twice(schedule, moment) then
      moment = moment + 60
    else
      return moment
    end
  end
end

-- Calls -----------------------------------------------------------------------------------------------------------------------

--- During a wait, the clock is read again after at most this number of seconds, because it may have been set.
local longest_wait = perilune.context == "live" and 60 or math.huge

local Schedule = { __name = "perilune.schedule" }
Schedule.__metatable = "schedule"

--- If the clock is set back by more than this number of seconds, the time before the change is assumed to have been wrong and is ignored.
local longest_setback = 3 * 3600

--- Returns the next due time in Unix seconds, or nil.
local function due_after(self, moment)
  if self.moment then return not self.last and self.moment.unix or nil end
  return next_time(self.schedule, moment)
end

local function arm(self)
  local now = os.time()
  if self.last and self.last - now > longest_setback then self.last = nil end
  -- If the clock is set back, the same minute must not be due twice.
  local is_due = self.first ~= nil
  self.due = self.first or due_after(self, math.max(now, self.last or now))
  self.first = nil
  if not self.due then return end
  if self.delayed_due ~= self.due then
    self.delayed_due, self.delay = self.due, self.jitter and self.jitter * perilune.random() or 0
  end
  local start = self.due + self.delay
  if self.moment then now = perilune.now().unix end
  self.id = native_loop.start_timer(math.max(0, math.min(start - now, longest_wait)) + 0.0, nil, function()
    if os.time() < (self.due + self.delay) // 1 then return arm(self) end
    local due = self.due
    self.last = due
    arm(self)
    self.f(self.moment or perilune.date(due))
  end, true, is_due and start <= now)
end

--- Cancels further calls. Returns whether the function would have been called again.
function Schedule:cancel()
  local is_active = self:is_active()
  if is_active then native_loop.stop(self.id) end
  self.id = nil
  return is_active
end

--- Returns whether the function will be called.
function Schedule:is_active()
  return self.id ~= nil and native_loop.is_live(self.id)
end

--- Returns the time of the next call, or nil.
function Schedule:next_time()
  return self:is_active() and (self.moment or perilune.date(self.due)) or nil
end

function Schedule:__tostring()
  local text = self.moment and "moment " .. tostring(self.moment) or ('schedule "%s"'):format(self.schedule.text)
  return text .. (self:is_active() and "" or " (ended)")
end

checks.seal(Schedule, { "delay", "delayed_due", "due", "f", "first", "id", "jitter", "last", "moment", "schedule" }, "schedule")

local schedule = { next_time = next_time }

--- Reads a schedule. Raises if it is never due.
-- @tparam ?string zone the name of a time zone; by default the process's time zone
function schedule.read(place, text, zone)
  local parsed = parse(place, text)
  if zone ~= nil then
    if type(zone) ~= "string" then checks.fail(place, 'option `zone`: expected the name of a time zone, such as "Europe/Vienna", got ' .. errors.describe(zone)) end
    zones.check(zone)
    parsed.zone = zone
  end
  if not next_time(parsed, os.time()) then fail(place, text, "no such day exists") end
  return parsed
end

--- Calls a function at the times of a parsed schedule.
-- @tparam ?number jitter the maximum random delay of calls in seconds
-- @tparam ?integer first a due time in the past for which the function is called first
function schedule.start(parsed, f, jitter, first)
  local self = setmetatable({ schedule = parsed, f = f, jitter = jitter, first = first }, Schedule)
  arm(self)
  return self
end

--- Returns whether text has the form of a schedule.
local function is_schedule(text)
  return shorthands[text:lower()] ~= nil or select(2, text:gsub("%S+", "")) == 5
end

local function refuse_moment(text)
  if perilune.date.is(text) then checks.fail("perilune.schedule", 'expected a schedule, such as "0 9 * * mon-fri", got a date; use perilune.at(date, f) for one moment') end
end

--- Calls a function once at a given time: any value that `perilune.date` accepts. If the time has passed, calls the function immediately.
function public.at(date, f)
  if type(date) == "string" and is_schedule(date) then checks.fail("perilune.at", "expected a date, got a schedule; use perilune.schedule(" .. ("%q"):format(date) .. ", f)") end
  local moment = date
  if not perilune.date.is(date) then
    local is_date
    is_date, moment = pcall(perilune.date, date)
    if date == nil or not is_date then
      local hour, minute = (type(date) == "string" and date or ""):match("^(%d%d?):(%d%d)$")
      checks.fail("perilune.at", "expected a date, got " .. errors.describe(date) .. (hour and ("; use perilune.schedule(\"%d %d * * *\", f) for each day at "
        .. "this time"):format(minute, hour) or "; use perilune.after(duration, f) for a duration"))
    end
  end
  if type(date) == "number" and date >= 0 and date < 86400 * 365 and perilune.now().unix > 86400 * 730 then
    checks.fail("perilune.at", ("expected a date, got %s, a time in 1970; use perilune.after(%s, f) for a duration")
      :format(errors.describe(date), tostring(date)))
  end
  if type(f) ~= "function" then checks.fail("perilune.at", "expected a function, got " .. errors.describe(f)) end
  local self = setmetatable({ moment = moment }, Schedule)
  self.f = f
  arm(self)
  return self
end

--- Calls a function at the times of a schedule in cron format: `perilune.schedule("0 9 * * mon-fri", f)`.
--
-- There are five fields: minute, hour, day of the month, month and day of the week. Each is `*`, a number, a range `1-5`, a step `*/10`, or
-- a list of these. Ranges of hours, months and days of the week may wrap around (`22-6`, `fri-mon`). Months and days may be names ("jan",
-- "mon"). "@hourly", "@daily", "@weekly", "@monthly" and "@yearly" are abbreviations. Times are local. If a time of day is skipped because
-- clocks go forward, the call is due at that moment; if it occurs twice, the call is due the first time. Neither rule applies if the minute
-- or the hour is `*`. If several due times pass while the machine sleeps, the function is called once afterwards.
-- @tparam ?table options `zone`: the name of a time zone; `jitter`: the maximum random delay of a call
function public.schedule(text, f, options)
  refuse_moment(text)
  if type(options) == "string" then checks.fail("perilune.schedule", ("expected a table of options, got the string; use { zone = %q }"):format(options)) end
  options = checks.options("perilune.schedule", options, { zone = "string", jitter = "any" })
  local parsed = schedule.read("perilune.schedule", text, options.zone)
  local jitter = options.jitter and require("perilune.runtime.durations").read("perilune.schedule: option `jitter`", options.jitter)
  if type(f) ~= "function" then checks.fail("perilune.schedule", "expected a function, got " .. errors.describe(f)) end
  return schedule.start(parsed, f, jitter)
end

schedule.public = public
return schedule
