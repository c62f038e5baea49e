---@meta perilune.native.values
--- Values that Lua does not have, and conversions. Swift (ScriptLibrary.swift) and C (CPeriluneRows/Values) provide them.

---@class perilune.native.values
---@field null userdata NULL where nil cannot stand
local native_values = {}

--- The value that SQLite is given for one of a script: that of a date, a case of an enum, ...; other values are returned unchanged.
---@param value any
---@return any
function native_values.plain(value) end

--- A list of values (numbers, strings, booleans, null, blobs) as a text that may stand in a URL.
---@param number integer of 32 bits, that tells what the values are of
---@param list any[] at most 2,000
---@return string
function native_values.write_list(number, list) end

--- The values of such a text.
---@param text string
---@param number integer
---@param count integer
---@return any[]? list nil if the text is no such list
---@return "other number"? reason
function native_values.read_list(text, number, count) end

---@param value any
---@return boolean
function native_values.is_blob(value) end

--- A date of a text or number as databases store it.
---@param value any
---@return perilune.date? date
---@return string? message why there is none
function native_values.read_date(value) end

--- The parts of a date, of a text as databases store it.
---@param value any
---@return perilune.date_components? components
---@return string? message why there are none
function native_values.read_date_components(value) end

--- The date of a Julian day.
---@param day number
---@return perilune.date
function native_values.julian_date(day) end

return native_values
