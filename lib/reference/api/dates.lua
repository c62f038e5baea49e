---@meta _
---@page Dates
---Dates and times in UTC with microseconds, and components such as a time of day.
---
---Columns declared `DATE`, `DATETIME` or `TIMESTAMP` hold dates in records. Dates can be compared with `==`, `<` and `<=`. `date + 60` and
---`date - 60` move by seconds, and `date - other` is the difference in seconds. The whole years between two days, such as an age, are
---`(day:format("%Y%m%d") - born:format("%Y%m%d")) // 10000`. `<` and `<=` also compare a date with text or Unix seconds, but
---`record.due == "2026-03-31"` is always false: use `record.due == perilune.date("2026-03-31")`.
---
---Dates are in UTC. `date:format(format, zone)` and `date:components(format, zone)` return the local time of a time zone, and
---`perilune.date_components("2026-03-31 09:30"):date("Europe/Berlin")` returns the date of a local time.
---
---A `DATE` column stores a day, `2026-03-31`, and conditions on it compare days. `DATETIME` and `TIMESTAMP` columns store
---`2026-03-31 18:30:00.000`; a write cuts off smaller fractions. Conditions on them also match text without trailing zeros, as
---`CURRENT_TIMESTAMP` writes it. Groups compare dates in the same way; `distinct` and `order` compare the stored texts. The option
---`types = { due = "datetime" }` of a record stores dates in full in a `DATE` column.
---
---In SQL text, and in columns with other declared types, a date is the text `2026-03-31 00:00:00.000`. It is not equal to the texts
---`2026-03-31` and `2026-03-31 00:00:00`, and sorts after them, so that `db:fetch_all("... WHERE at >= ?", date)` omits a row that
---`CURRENT_TIMESTAMP` wrote at that instant. Use a condition of a class, such as `Class.c.at:ge(date)`, or pass
---`date:format("YMD_HMS")`. Pass `date:format("YMD")` for columns that hold days. For a `TEXT` column with days, use the
---option `types = { due = "date" }` of a class: its fields are then dates, writes store days, and conditions compare days.
---
---Dates are read from all forms that SQLite reads, but texts with a `T` do not sort with the others. Only keys find them. Convert such a
---column once: `UPDATE event SET at = strftime('%Y-%m-%d %H:%M:%f', at)`.

---A date and time.
---@class perilune.date
---@access any
---@field year integer
---@field month integer from 1
---@field day integer from 1
---@field hour integer
---@field minute integer
---@field second integer
---@field millisecond integer the fraction of the second, in milliseconds
---@field microsecond integer the fraction of the second, in microseconds
---@field weekday integer from 0, Sunday, to 6, Saturday
---@field day_of_year integer from 1
---@field unix number seconds since 1970: an integer, or a float if they have a fraction
---@field julian_day number
---@operator add(number): perilune.date
---@operator sub(number): perilune.date
local date = {}

---The names of date formats: `"YMD"` is a day, `"HM"` a time of day, `"YMD_HMS"` both.
---@alias perilune.date_format "YMD"|"YMD_HM"|"YMD_HMS"|"YMD_HMSS"|"HM"|"HMS"|"HMSS"|string

---The name of a time zone, such as `"Europe/Berlin"`, or `"local"`, the zone of the machine.
---@alias perilune.time_zone "local"|"UTC"|string

---Returns the date as text: in a format with `%`, as for SQLite's `strftime`, or in a named format.
---
---The substitutions are `%d` `%e` `%f` `%F` `%g` `%G` `%H` `%I` `%j` `%J` `%k` `%l` `%m` `%M` `%p` `%P` `%R` `%s` `%S` `%T` `%u` `%U` `%V`
---`%w` `%W` `%Y` and `%%`. `%f` is the seconds with a fraction, as in `05.123`. The names of months and weekdays are not available.
---```lua
---local date = perilune.date("2026-03-01T18:30:00Z")
---print(date:format("%d.%m.%Y"), date:format("%H:%M", "Europe/Berlin"))
-----> 01.03.2026	19:30
---```
---@param format? perilune.date_format by default the format that databases store
---@param zone? perilune.time_zone by default UTC
---@return string
---@raises argument: the format is unknown; unknown_time_zone: the zone is unknown
function date:format(format, zone) end

---Returns the date as ISO 8601 text in UTC.
---```lua
---print(perilune.date("2026-03-01"):iso8601())  --> 2026-03-01T00:00:00.000Z
---```
---@return string
---@raises none
function date:iso8601() end

---Returns the date moved by years, months, days, hours, minutes, seconds, milliseconds and microseconds. A day beyond the end of the month
---becomes the last day of the month. With `overflow = "run on"` it continues into the next month, as in SQLite.
---```lua
---local date = perilune.date("2026-01-31")
---print(date:add{ months = 1 }:format("YMD"))
-----> 2026-02-28
---print(date:add{ months = 1, overflow = "run on" }:format("YMD"))
-----> 2026-03-03
---```
---@param spans { years?: integer, months?: integer, days?: integer, hours?: integer, minutes?: integer, seconds?: number, milliseconds?: integer, microseconds?: integer, overflow?: "clamp"|"run on" }
---@return perilune.date
---@raises argument: a span is unknown or not a number; date: the result is out of range
function date:add(spans) end

---Returns the beginning of the year, month, week, day, hour, minute or second of the date. Weeks begin on Mondays.
---
---A condition on a `DATE` column compares the day in UTC. For the day in a zone, pass `date:components("YMD", zone)`.
---```lua
---print(perilune.date("2026-03-18"):start_of("week"):format("YMD"))
-----> 2026-03-16
---print(perilune.date("2026-03-18"):start_of("day", "Europe/Berlin"))
-----> 2026-03-17 23:00:00.000
---```
---@param unit "year"|"month"|"week"|"day"|"hour"|"minute"|"second"
---@param zone? perilune.time_zone by default UTC
---@return perilune.date
---@raises argument: the unit is unknown; unknown_time_zone: the zone is unknown
function date:start_of(unit, zone) end

---Returns the number of seconds from another date to this one.
---```lua
---print(perilune.date("2026-03-02"):seconds_since("2026-03-01"))  --> 86400.0
---```
---@param other perilune.date|string|number a date, its text, or Unix seconds
---@return number
---@raises conversion: `other` is not a date
function date:seconds_since(other) end

---Returns the parts of the date.
---```lua
---print(perilune.date("2026-03-01T18:30:00Z"):components("HM"))
-----> 18:30
---print(
---  perilune.date("2026-03-01T18:30:00Z"):components("HM", "Europe/Berlin")
---)
-----> 19:30
---```
---@param format? perilune.date_format which parts; by default all
---@param zone? perilune.time_zone by default UTC; parts with a day and a time keep its offset
---@return perilune.date_components
---@raises argument: the format is unknown; unknown_time_zone: the zone is unknown
function date:components(format, zone) end

---Makes dates: `perilune.date(value)`. A number is Unix seconds. It is also a type: `row:get("born", perilune.date)`.
---@class perilune.date_type
---@access any
---@overload fun(value: string|number|perilune.date|perilune.date_components|table): perilune.date
---@field name string
local date_type = {}

---Returns the date for a number of Unix seconds.
---```lua
---print(perilune.date.from_unix(86400).day)  --> 2
---```
---@param seconds number
---@return perilune.date
---@raises date: the date is out of range; conversion: `seconds` is not a number
function perilune.date.from_unix(seconds) end

---Returns the date for a Julian day.
---```lua
---print(perilune.date.from_julian_day(2440587.5).year)  --> 1970
---```
---@param day number
---@return perilune.date
---@raises date: the date is out of range; conversion: `day` is not a number
function perilune.date.from_julian_day(day) end

---Converts a stored value, as types do. Numbers below 5373484.5 are Julian days, as for SQLite, and other numbers are Unix seconds.
---```lua
---print(perilune.date:from_database("2026-03-01").month)  --> 3
---```
---@param value any
---@return perilune.date? date
---@return string? message the reason why the value does not fit
---@raises none
function perilune.date:from_database(value) end

---Returns whether a value is a date.
---```lua
---print(perilune.date.is(perilune.now()), perilune.date.is("2026-03-01"))
-----> true	false
---```
---@param value any
---@return boolean
---@raises none
function perilune.date.is(value) end

---Parts of a date or time: a day without a time, or a time of day.
---@class perilune.date_components
---@access any
---@field year integer?
---@field month integer?
---@field day integer?
---@field hour integer?
---@field minute integer?
---@field second integer?
---@field microsecond integer?
---@field zone_in_minutes integer? the offset from UTC
---@field format_name perilune.date_format the available parts
local date_components = {}

---Returns the parts as text.
---```lua
---print(perilune.date_components("12:30"):format("HMS"))  --> 12:30:00
---```
---@param format? perilune.date_format by default the format of the parts
---@return string
---@raises argument: the format is unknown; date: the parts do not fit
function date_components:format(format) end

---Returns the parts as a date. Parts without a time are midnight, and parts without an offset are in UTC or in the given time zone.
---
---If the clocks in the zone show the time twice, the date is the first of the two. If a clock change skips the time, the date is the one
---that unchanged clocks would show: 02:30 on March 29, 2026, in Berlin is 03:30 by the changed clocks.
---```lua
---print(perilune.date_components("2026-03-01"):date().month)  --> 3
---print(perilune.date_components("2026-07-15 09:30"):date("Europe/Berlin"))
-----> 2026-07-15 07:30:00.000
---```
---@param zone? perilune.time_zone by default UTC
---@return perilune.date
---@raises argument: a zone is given and the parts have an offset; date: the parts have no day; unknown_time_zone: the zone is unknown
function date_components:date(zone) end

---Makes parts of dates: `perilune.date_components("12:30")`. It is also a type.
---@class perilune.date_components_type
---@access any
---@overload fun(value: string|perilune.date|perilune.date_components|table): perilune.date_components
---@field name string
local date_components_type = {}

---Converts a stored value, as types do.
---```lua
---print(perilune.date_components:from_database("12:30").hour)  --> 12
---```
---@param value any
---@return perilune.date_components? parts
---@return string? message the reason why the value does not fit
---@raises none
function perilune.date_components:from_database(value) end

---Returns whether a value holds parts of a date.
---```lua
---print(perilune.date_components.is(perilune.date_components("12:30")))
-----> true
---```
---@param value any
---@return boolean
---@raises none
function perilune.date_components.is(value) end
