--- Names the difference between two values that look the same: text with spaces of several kinds, invisible characters, composed and
-- decomposed accents, or letters of other scripts; text and a date, number or blob with the same characters.

local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"

local lookalikes = {}

local names = {
  [0x09] = "tab", [0x0A] = "line feed", [0x0D] = "carriage return", [0x20] = "space", [0xA0] = "no-break space", [0xAD] = "soft hyphen",
  [0x61C] = "Arabic letter mark", [0x200B] = "zero-width space", [0x200C] = "zero-width non-joiner", [0x200D] = "zero-width joiner",
  [0x200E] = "left-to-right mark", [0x200F] = "right-to-left mark", [0x2010] = "hyphen", [0x2011] = "no-break hyphen",
  [0x2012] = "figure dash", [0x2013] = "en dash", [0x2014] = "em dash", [0x2018] = "left single quotation mark",
  [0x2019] = "right single quotation mark", [0x201C] = "left double quotation mark", [0x201D] = "right double quotation mark",
  [0x2028] = "line separator", [0x2029] = "paragraph separator", [0x202F] = "narrow no-break space", [0x2060] = "word joiner",
  [0x2212] = "minus sign", [0x3000] = "ideographic space", [0x212A] = "Kelvin sign", [0x212B] = "Angstrom sign", [0xB5] = "micro sign",
  [0xFEFF] = "byte order mark", [0xFFFD] = "replacement character",
}

--- Ranges of code points, with a name for their characters.
local ranges = {
  { 0x80, 0x9F, "control character" }, { 0x300, 0x36F, "combining mark" }, { 0x370, 0x3FF, "Greek" }, { 0x400, 0x52F, "Cyrillic" },
  { 0x530, 0x58F, "Armenian" }, { 0x590, 0x5FF, "Hebrew" }, { 0x600, 0x6FF, "Arabic" }, { 0x1100, 0x11FF, "Hangul part" },
  { 0x13A0, 0x13FF, "Cherokee" }, { 0x1AB0, 0x1AFF, "combining mark" }, { 0x1DC0, 0x1DFF, "combining mark" }, { 0x1F00, 0x1FFF, "Greek" },
  { 0x2000, 0x200A, "space of another width" }, { 0x202A, 0x202E, "direction mark" }, { 0x2061, 0x206F, "invisible character" },
  { 0x20D0, 0x20FF, "combining mark" }, { 0xAC00, 0xD7A3, "Hangul" }, { 0xFE00, 0xFE0F, "variation selector" },
  { 0xFE20, 0xFE2F, "combining mark" }, { 0xFF01, 0xFF5E, "full-width form" }, { 0x1D400, 0x1D7FF, "mathematical letter" },
  { 0xE0000, 0xE007F, "tag character" }, { 0xE0100, 0xE01EF, "variation selector" },
}

local function range_of(code)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then return range[3] end
  end
end

local invisible_ranges = {
  ["combining mark"] = true, ["direction mark"] = true, ["invisible character"] = true, ["variation selector"] = true,
  ["tag character"] = true, ["control character"] = true,
}
local invisible = {
  [0xAD] = true, [0x61C] = true, [0x200B] = true, [0x200C] = true, [0x200D] = true, [0x200E] = true, [0x200F] = true, [0x2060] = true,
  [0xFEFF] = true,
}

--- Returns whether a character takes no space on the screen.
local function is_invisible(code)
  return invisible[code] or invisible_ranges[range_of(code)] or false
end

--- Returns whether a character differs visibly from all others: symbols, Chinese, Japanese, Hangul syllables, pictures.
local function is_distinct(code)
  return code >= 0x2500 and code <= 0x27BF or code >= 0x2E80 and code <= 0xD7A3 and code ~= 0x3000
    or code >= 0xF900 and code <= 0xFAFF or code >= 0x1F000 and code <= 0x3FFFF
end

local ligatures = { [0xFB00] = "ff", [0xFB01] = "fi", [0xFB02] = "fl", [0xFB03] = "ffi", [0xFB04] = "ffl", [0x2026] = "..." }

--- Returns the visible characters as code points, and their positions in the text. Ligatures become letters; the parts of a Hangul syllable
-- become one element. The code point of a letter with combining marks is negative.
local function seen(text)
  local list, positions = {}, {}
  for position, code in utf8.codes(text) do
    local letters = ligatures[code]
    local continues_syllable = code >= 0x1160 and code <= 0x11FF
    if letters then
      for index = 1, #letters do list[#list + 1], positions[#list + 1] = code, position end
    elseif range_of(code) == "combining mark" then
      if #list > 0 then list[#list] = -math.abs(list[#list]) end
    elseif not is_invisible(code) and not continues_syllable then
      list[#list + 1], positions[#list + 1] = code, position
    end
  end
  return list, positions
end

--- Returns whether a character is an ASCII character or a Latin letter with an accent. Such characters differ visibly from each other.
local function is_latin(code)
  return code < 0x80 or code >= 0xC0 and code <= 0x24F and code ~= 0xD7 or code >= 0x1E00 and code <= 0x1EFF
end

--- Returns whether two elements of lists from `seen` may look the same.
local function may_look_alike(left, right)
  if left == right then return true end
  if left < 0 and right < 0 then return may_look_alike(-left, -right) end
  if left < 0 or right < 0 then
    local composed = math.max(left, right)
    return composed >= 0x80 and not is_distinct(composed)
  end
  if is_latin(left) and is_latin(right) then return false end
  if is_distinct(left) then left, right = right, left end
  return not is_distinct(right) or range_of(left) == "Hangul part"
end

--- Returns whether a list of visible characters looks like the elements of another list that follow an offset.
local function is_at(list, other, offset)
  for index, code in ipairs(list) do
    if not may_look_alike(code, other[index + offset]) then return false end
  end
  return true
end

local function look_alike(left, right)
  local left_seen, right_seen = seen(left), seen(right)
  return #left_seen == #right_seen and is_at(left_seen, right_seen, 0)
end

--- Describes a character for messages: `U+00A0 (no-break space)`.
local function describe(code)
  if code == nil then return "the end of the text" end
  local name = names[code] or range_of(code)
  local is_shown = not name and not is_invisible(code) and code > 0x20
  local number = ("U+%04X"):format(code)
  return number .. (name and " (" .. name .. ")" or is_shown and " " .. utf8.char(code) or "")
end

--- Returns the position of the first different character in two texts, and the characters at and after it.
local function first_difference(left, right)
  local position, left_at, right_at = 1, 1, 1
  while left_at <= #left and right_at <= #right and utf8.codepoint(left, left_at) == utf8.codepoint(right, right_at) do
    left_at, right_at = utf8.offset(left, 2, left_at), utf8.offset(right, 2, right_at)
    position = position + 1
  end
  local function codes(text, at)
    if at > #text then return nil, nil end
    local next_at = utf8.offset(text, 2, at)
    return utf8.codepoint(text, at), next_at <= #text and utf8.codepoint(text, next_at) or nil
  end
  local left_code, left_next = codes(left, left_at)
  local right_code, right_next = codes(right, right_at)
  return position, left_code, left_next, right_code, right_next
end

--- Returns whether a character and the next one are a letter and its accent, or the first parts of a syllable.
local function is_decomposed(code, next_code)
  if not code or not next_code then return false end
  return range_of(next_code) == "combining mark" and not is_invisible(code) or range_of(code) == "Hangul part"
end

--- Returns a line about text and a value of another type with the same characters or the same date; nil for other values.
local function line_of_types(text, value)
  if type(value) == "userdata" and not native_values.is_blob(value) then
    local is_date, date = pcall(native_values.read_date, text)
    return is_date and date == value and ("a date never equals text; use perilune.date(%q)"):format(text) or nil
  end
  if type(value) == "table" or tostring(value) ~= text then return nil end
  local use = type(value) == "number" and "; use tonumber(text) or tostring(number)"
    or native_values.is_blob(value) and "; use perilune.blob(text) or tostring(blob)" or ""
  return ("one is %s, the other %s%s"):format(errors.describe(text), errors.describe(value), use)
end

--- Returns a line that describes the difference between two values that look the same: their types, or the first difference between two
-- texts; nil for other values.
-- @tparam ?string actual_name the name of the second text, "got" by default
function lookalikes.line(expected, actual, expected_name, actual_name)
  if type(expected) ~= "string" or type(actual) ~= "string" then
    if type(expected) == "string" then return line_of_types(expected, actual) end
    return type(actual) == "string" and line_of_types(actual, expected) or nil
  end
  if expected == actual then return nil end
  if not (utf8.len(expected) and utf8.len(actual)) or not look_alike(expected, actual) then return nil end
  local position, wanted, wanted_next, found, found_next = first_difference(expected, actual)
  local line = ("they look alike: character %d: %s %s, %s %s"):format(position, expected_name or "expected", describe(wanted),
    actual_name or "got", describe(found))
  local is_wanted_decomposed, is_found_decomposed = is_decomposed(wanted, wanted_next), is_decomposed(found, found_next)
  if is_wanted_decomposed ~= is_found_decomposed then
    local apart, together = actual_name or "got", expected_name or "expected"
    if is_wanted_decomposed then apart, together = together, apart end
    line = line .. ("; one is composed (NFC: %s), the other decomposed (NFD: %s)"):format(together, apart)
  end
  return line
end

--- Returns the first part of a text, or the first element of a list, that looks like another value; nil if none does.
function lookalikes.find(value, part)
  if type(value) == "table" then
    for index = 1, #value do
      if lookalikes.line(part, value[index]) then return value[index] end
    end
    return nil
  end
  if type(part) ~= "string" or not utf8.len(part) then return nil end
  if type(value) == "string" and utf8.len(value) then
    local wanted, list, positions = seen(part), seen(value)
    for offset = 0, #wanted > 0 and #list - #wanted or -1 do
      local last = positions[offset + #wanted + 1]
      if is_at(wanted, list, offset) then return value:sub(positions[offset + 1], last and last - 1) end
    end
  end
end

return lookalikes
