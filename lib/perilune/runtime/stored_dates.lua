--- The texts of dates in columns. This file determines how a column stores a date, and which stored texts are equal to a date, earlier, or
-- later.
--
-- A column of the form "day" stores `2026-03-31`; any text that begins with this day is the same day. A column of the form "instant" stores
-- `2026-03-31 18:30:00.000`. The zeros at the end may be missing: `2026-03-31 18:30:00`, as written by SQL, is the same instant.

local perilune = require "perilune"
local native_values = require "perilune.native.values"
local marks = require "perilune.runtime.marks"

local stored_dates = {}

local full_text = "^%d%d%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d%.%d%d%d$"

--- Returns a date in the longest form; nil if the value is neither a date nor text with a date.
local function text_of(value)
  local text = native_values.plain(value)
  if type(text) ~= "string" or not text:find("^%d%d%d%d%-%d%d%-%d%d") then return nil end
  if not perilune.date.is(value) then
    local date = native_values.read_date(text)
    text = date and native_values.plain(date)
  end
  return text and text:find(full_text) and text or nil
end

--- Returns the day after a day. For the last possible day, returns a text that is greater than all texts of that day.
local function day_after(day)
  local number = tonumber(day:sub(9))
  if number < 28 then return day:sub(1, 8) .. ("%02d"):format(number + 1) end
  if day == "9999-12-31" then return "9999-12-32" end
  return perilune.date(day):add{ days = 1 }:format("YMD")
end

--- Returns the texts that are the same instant, starting with the longest.
local function spellings(text)
  local list, rest = { text }, text
  for _, zeros in ipairs{ "%.000$", ":00$", " 00:00$" } do
    local shorter, count = rest:gsub(zeros, "")
    if count == 0 then break end
    list[#list + 1], rest = shorter, shorter
  end
  return list
end

local readers = {}

function readers.day(text)
  local day = text:sub(1, 10)
  return { form = "day", stored = day, first = day, beyond = day_after(day) }
end

function readers.instant(text)
  local list = spellings(text)
  return { form = "instant", stored = text, first = list[#list], last = text, spellings = list }
end

--- Returns the texts of a date in a column:
--   * `stored`, the text to write;
--   * `first`, the least text that equals the date;
--   * for days, `beyond`: the least text after the day;
--   * for instants, `last`: the greatest text that equals the date; and `spellings`, all texts that equal it.
-- @tparam string form "day" or "instant"
-- @return the texts; nil if the value is not a date with a year from 0 to 9999
function stored_dates.read(form, value)
  local text = text_of(value)
  return text and readers[form](text)
end

--- Returns all texts of an instant by which a key may be found. In addition to `spellings`, these are texts with a `T` before the time,
-- which are not among the spellings because they do not sort by time.
function stored_dates.spellings_of_key(texts, value)
  local list, known = {}, {}
  local function add(text)
    if not known[text] then list[#list + 1], known[text] = text, true end
  end
  for _, text in ipairs(texts.spellings) do add(text) end
  for _, text in ipairs(texts.spellings) do add((text:gsub(" ", "T", 1))) end
  if type(value) == "string" then add(value) end
  return list
end

local function unchanged(_, value) return value end

--- Returns a function f(field, value) for the fields of a record. If a field's column stores days, the function returns a date as the text
-- of its day; it returns other values unchanged. All code that shows or writes the fields of records uses it.
-- @param record a record, or any other table, whose values remain unchanged
function stored_dates.in_fields_of(record)
  local days = marks.day_fields and marks.day_fields(record)
  if not days then return unchanged end
  return function(field, value) return days[field] and perilune.date.is(value) and value:format("YMD") or value end
end

return stored_dates
