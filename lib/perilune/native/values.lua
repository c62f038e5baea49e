---@meta perilune.native.values
--- Values that Lua does not have, and conversions. Implemented in Swift (ScriptLibrary.swift) and C (CPeriluneRows/Values).

---@class perilune.native.values
---@field null userdata NULL where nil is not possible
---@field longest_duration number the longest duration, in seconds
local native_values = {}

--- Returns the stored value of a date, a case of an enum, ...; other values are returned unchanged.
---@param value any
---@return any
function native_values.plain(value) end

--- Returns a list of values (numbers, strings, booleans, null, blobs) as text that can be used in URLs.
---@param number integer a 32-bit number that identifies the kind of list
---@param list any[] at most 2,000
---@return string
function native_values.write_list(number, list) end

--- Returns the values in such a text.
---@param text string
---@param number integer
---@param count integer
---@return any[]? list nil if the text is not such a list
---@return "other number"? reason
function native_values.read_list(text, number, count) end

--- Returns whether a column would store two values as the same value.
---@param left any
---@param right any
---@param affinity "integer"|"real"|"numeric"|"text"|"blob"
---@param content? string "blob" for a column declared for bytes, in which strings are bytes
---@return boolean
function native_values.are_same_stored(left, right, affinity, content) end

--- Returns the shortest decimal that SQLite reads as this float, with a point or an exponent.
---@param float number
---@return string
function native_values.float_text(float) end

--- Returns the seconds in the text of a duration, such as "1h30m".
---@param text string
---@return number? seconds nil if the text is not a duration
function native_values.duration(text) end

--- Returns a float as SQL with all its digits.
---@param float number
---@return string
function native_values.float_literal(float) end

---@param value any
---@return boolean
function native_values.is_blob(value) end

--- Returns the date in a text or number in one of the stored formats.
---@param value any
---@return perilune.date? date
---@return string? message why it is not a date
function native_values.read_date(value) end

--- Reads a date from text in one of the stored formats, and returns its parts.
---@param value any
---@return perilune.date_components? components
---@return string? message why there are none
function native_values.read_date_components(value) end

--- Returns the date of a Julian day.
---@param day number
---@return perilune.date
function native_values.julian_date(day) end

return native_values
