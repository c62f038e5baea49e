--- Durations in common notations: seconds, "500ms", "1h30m", "2 hours", { hours = 2, minutes = 30 }.

local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"

local durations = {}

local parts = { milliseconds = 0.001, seconds = 1, minutes = 60, hours = 3600, days = 86400, weeks = 604800 }

--- Returns whether seconds are a duration that can be waited for: not NaN, not negative, and within the range of clocks.
function durations.is_valid(seconds)
  return seconds >= 0 and seconds <= native_values.longest_duration
end

--- Returns seconds as a float; nil if they are infinite or NaN.
local function finite(seconds)
  return seconds - seconds == 0 and seconds + 0.0 or nil
end

local function sum_of(value)
  local names, sum = {}, 0
  for name in pairs(parts) do names[#names + 1] = name end
  table.sort(names)
  for name, count in pairs(value) do
    if not parts[name] then errors.raise_unknown("unit", tostring(name), names) end
    if type(count) ~= "number" then return nil end
    sum = sum + parts[name] * count
  end
  return next(value) ~= nil and finite(sum) or nil
end

--- Returns a duration in seconds, as a float; nil if the value is not a duration.
function durations.seconds(value)
  if type(value) == "number" then return finite(value) end
  if type(value) == "table" and getmetatable(value) == nil then return sum_of(value) end
  return type(value) == "string" and native_values.duration(value) or nil
end

--- The words by which other schedulers name intervals: for each, the unit, and the shorthand in our schedules (`@daily`).
local units_of_words = {
  hourly = { "h", "hourly" }, hour = { "h", "hourly" }, daily = { "d", "daily" }, day = { "d", "daily" }, weekly = { "w", "weekly" }, week = { "w", "weekly" },
}

--- Returns a duration in seconds; raises for other values, and for durations below the minimum or above a hundred years.
-- @tparam ?number least 0 by default
function durations.read(place, value, least)
  local seconds = durations.seconds(value)
  if not seconds then
    local cure = type(value) == "function" and "; the function comes last: " .. place .. "(duration, f)" or ""
    if type(value) == "string" then
      local unit = units_of_words[value:lower():match("^%a+") or ""]
      local seconds_word = ({ minute = "1m", minutes = "1m", second = "1s", ["half hour"] = "30m" })[value:lower()]
      local day = value:lower():match("^(%a%a%a)%a*day$") or value:lower():match("^(weekday)s?$")
      if seconds_word then cure = ("; use %q"):format(seconds_word)
      elseif day then cure = ("; use perilune.schedule(\"0 0 * * %s\", f)"):format(day == "weekday" and "mon-fri" or day)
      elseif value:find("^[%d*/,-]+%s+[%d*/,-]+%s+%S+%s+%S+%s+%S+$") then cure = ("; use perilune.schedule(%q, f)"):format(value)
      elseif value:find("^%d%d%d%d%-%d%d%-%d%d") then cure = ("; use perilune.at(perilune.date(%q), f) for one moment"):format(value)
      elseif unit then cure = ("; use \"1%s\", or perilune.schedule(\"@%s\", f) for fixed times"):format(unit[1], unit[2]) end
    end
    if require("perilune").date.is(value) then cure = "; use perilune.at(date, f) for one moment" end
    errors.raise("argument", ('%s: expected seconds, or a text such as "500ms", "10 sec" or "1h30m", got %s%s'):format(place, errors.describe(value), cure))
  end
  if not durations.is_valid(seconds) then
    errors.raise("argument", ("%s: expected seconds from 0 to 100 years, got %s"):format(place, errors.describe(value)))
  end
  if seconds < (least or 0) then
    errors.raise("argument", ("%s: expected at least %g seconds, got %s"):format(place, least, errors.describe(value)))
  end
  return seconds
end

return durations
