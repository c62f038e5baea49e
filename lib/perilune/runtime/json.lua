--- JSON: conversion of values to text and back.
-- Integers, floats and all digits of floats are preserved. The members of an object are written in the order of their names, so
-- that equal values have equal text.

local null = require("perilune.native.values").null
local marks = require "perilune.runtime.marks"
local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local stored_dates = require "perilune.runtime.stored_dates"

--- The maximum depth of values. Deeper values are rarely intended, and writing a value that contains itself would never end.
local deepest = 200

local json = {}

local array_metatable = { __name = "JSON array" }
local object_metatable = { __name = "JSON object" }

--- Marks a table as an array, so that it is written as `[]` even if it is empty.
-- @tparam ?table list the table, which is returned; a new one by default
function json.array(list)
  return setmetatable(list or {}, array_metatable)
end

--- Marks a table as an object. An empty table without a mark is an object too.
function json.object(members)
  return setmetatable(members or {}, object_metatable)
end

--- Returns a decoded object as a table of columns, without its mark. Returns other values unchanged.
function json.columns(value)
  if getmetatable(value) ~= object_metatable then return value end
  local columns = {}
  for name, element in next, value do columns[name] = element end
  return columns
end

--- Returns a decoded array as a list without a mark, whose objects are tables of columns. Returns other lists unchanged, unless they begin
-- with a decoded object.
function json.rows(list)
  if getmetatable(list) ~= array_metatable and getmetatable(list[1]) ~= object_metatable then return list end
  local rows = {}
  for position, element in next, list do rows[position] = json.columns(element) end
  return rows
end

-- MARK: - Writing

--- Raises an error object for the functions below, which is caught by `attempt`.
local function fail(message, ...)
  error(setmetatable({ message:format(...) }, { __name = "JSON mistake" }), 0)
end

--- Fails for the value at a path, a list of the names and positions that lead to it, up to the depth.
local function fail_at(path, depth, message, ...)
  local parts = { "the value" }
  for level = 1, math.min(depth, 8) do
    local key = path[level]
    parts[#parts + 1] = type(key) == "string" and "." .. key or "[" .. key .. "]"
  end
  if depth > 8 then parts[#parts + 1] = "..." end
  fail("%s: " .. message, table.concat(parts), ...)
end

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function escape(character)
  return escapes[character] or ("\\u%04x"):format(character:byte())
end

local function write_string(text, path, depth)
  if not utf8.len(text) then fail_at(path, depth, "a string that is not valid UTF-8") end
  if text:find('[%c"\\]') then text = text:gsub('[%c"\\]', escape) end
  return '"' .. text .. '"'
end

--- Returns the shortest text that reads as the same float, and as a float.
local function write_float(number, path, depth)
  if number ~= number or number == math.huge or number == -math.huge then
    fail_at(path, depth, "JSON has no %s", number ~= number and "NaN" or number > 0 and "infinity" or "-infinity")
  end
  for precision = 15, 17 do
    local text = ("%." .. precision .. "g"):format(number)
    if tonumber(text) == number then return text:find("[.e]") and text or text .. ".0" end
  end
end

local write

--- Rejects a row with several columns of the same name: all but the first can be read only by position.
local function check_columns(value, path, depth)
  if not require("perilune.native.records").is_row(value) then return end
  local is_there = {}
  for _, name in ipairs(require("perilune.native.rows").columns(value)) do
    if is_there[name] then
      fail_at(path, depth, "a row with two columns named `%s`; name one of them in SQL, as in SELECT a.%s, b.%s AS other_%s", name, name, name, name)
    end
    is_there[name] = true
  end
end

--- Returns the length of a list; nil if the table has names as keys, so that it is not a list.
local function list_length(value, path, depth)
  local count, last, named = 0, 0, nil
  for key in next, value do
    if math.type(key) == "integer" and key >= 1 then
      count, last = count + 1, math.max(last, key)
    elseif type(key) == "string" then
      named = key
    else
      fail_at(path, depth, "expected names or positions as keys, got %s", errors.describe(key))
    end
  end
  if named and count > 0 then
    check_columns(value, path, depth)
    fail_at(path, depth, "a table with positions and the name \"%s\" as keys", named)
  end
  if count < last then
    fail_at(path, depth, "a list with a hole (%d values, the last at %d); fill it with perilune.null", count, last)
  end
  return not named and count or nil
end

local function write_list(value, count, path, depth)
  local parts = {}
  for index = 1, count do
    path[depth + 1] = index
    local item = rawget(value, index)
    parts[index] = item == nil and "null" or write(item, path, depth + 1)
  end
  return "[" .. table.concat(parts, ",") .. "]"
end

local function write_object(value, path, depth)
  local names, parts = {}, {}
  local in_stored_form = stored_dates.in_fields_of(value)
  for name in next, value do names[#names + 1] = name end
  table.sort(names)
  for index, name in ipairs(names) do
    path[depth + 1] = name
    parts[index] = write_string(name, path, depth + 1) .. ":" .. write(in_stored_form(name, rawget(value, name)), path, depth + 1)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- Raises for the description of rows in place of the rows: a class, a request, an association, an expression.
local function check_is_data(value, path, depth)
  if marks.class_info and marks.class_info(value) or marks.is_request(value) then fail_at(path, depth, "JSON cannot hold %s; use fetch_all() for its rows", errors.describe(value)) end
  if marks.is_association(value) or marks.is_expression(value) then fail_at(path, depth, "JSON cannot hold %s", errors.describe(value)) end
end

local function write_table(value, path, depth)
  if depth >= deepest then fail_at(path, depth, "nested more than %d tables deep", deepest) end
  local fields = marks.fields_of_object(value)
  if fields then return write_object(fields, path, depth) end
  local metatable = getmetatable(value)
  if metatable ~= nil and metatable ~= array_metatable and metatable ~= object_metatable then check_is_data(value, path, depth) end
  -- The length of a list of arguments includes nil values at its end.
  local length = type(metatable) == "table" and rawget(metatable, "__list_length")
  if length then return write_list(value, length, path, depth) end
  local count, is_array = list_length(value, path, depth), metatable == array_metatable
  if count == nil and is_array then fail_at(path, depth, "an array with names") end
  if count and (count > 0 or is_array) then return write_list(value, count, path, depth) end
  return write_object(value, path, depth)
end

function write(value, path, depth)
  value = native_values.plain(value)
  if value == null then return "null" end
  local kind = math.type(value) or type(value)
  if kind == "integer" then return ("%d"):format(value) end
  if kind == "float" then return write_float(value, path, depth) end
  if kind == "string" then return write_string(value, path, depth) end
  if kind == "boolean" then return tostring(value) end
  if kind == "table" then return write_table(value, path, depth) end
  fail_at(path, depth, "JSON cannot hold %s", errors.describe(value))
end

-- MARK: - Reading

local read

local function raise_at(text, position, message)
  fail("%s at byte %d, near \"%s\"", message, position, text:sub(position, position + 15))
end

local function skip(text, position)
  return text:find("[^ \t\r\n]", position) or #text + 1
end

local unescaped = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

--- Returns the character of \uXXXX, or of two such escapes for characters beyond the first 65,536.
local function read_code(text, position)
  local digits = text:match("^%x%x%x%x", position) or raise_at(text, position, "expected four hexadecimal digits")
  local code = tonumber(digits, 16)
  if code < 0xD800 or code > 0xDFFF then return utf8.char(code), position + 4 end
  local low = code < 0xDC00 and tonumber(text:match("^\\u(%x%x%x%x)", position + 4) or "0", 16)
  if not low or low < 0xDC00 or low > 0xDFFF then raise_at(text, position, "incomplete surrogate pair") end
  return utf8.char(0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00)), position + 10
end

local function read_escape(text, position)
  local letter = text:sub(position, position)
  if letter == "u" then return read_code(text, position + 1) end
  return unescaped[letter] or raise_at(text, position, "invalid escape"), position + 1
end

--- Reads a string whose opening quote precedes the position.
local function read_string(text, position)
  local stop = text:find('["\\%c]', position) or raise_at(text, #text + 1, "unterminated string")
  if text:byte(stop) == 34 then return text:sub(position, stop - 1), stop + 1 end
  local parts = {}
  repeat
    parts[#parts + 1] = text:sub(position, stop - 1)
    if text:byte(stop) < 32 then raise_at(text, stop, "a control character in a string") end
    position = stop
    if text:byte(stop) == 92 then
      parts[#parts + 1], position = read_escape(text, stop + 1)
    elseif text:byte(stop) == 127 then
      parts[#parts + 1], position = "\127", stop + 1
    end
    stop = text:find('["\\%c]', position) or raise_at(text, #text + 1, "unterminated string")
  until text:byte(stop) == 34
  parts[#parts + 1] = text:sub(position, stop - 1)
  return table.concat(parts), stop + 1
end

local function read_number(text, position)
  local digits, stop = text:match("^(%-?%d+)()", position)
  if not digits or digits:find("^%-?0%d") then raise_at(text, position, "expected a value") end
  local fraction, after = text:match("^(%.%d+)()", stop)
  local exponent, last = text:match("^([eE][+-]?%d+)()", after or stop)
  -- An integer beyond 64 bits becomes a float, as in Lua and SQLite.
  return tonumber(digits .. (fraction or "") .. (exponent or "")), last or after or stop
end

local words = { t = { "true", true }, f = { "false", false }, n = { "null", null } }

local function read_array(text, position, depth)
  local list, count = {}, 0
  position = skip(text, position)
  if text:byte(position) == 93 then return json.array(list), position + 1 end
  while true do
    count = count + 1
    list[count], position = read(text, position, depth)
    position = skip(text, position)
    local byte = text:byte(position)
    if byte == 93 then return json.array(list), position + 1 end
    if byte ~= 44 then raise_at(text, position, "expected `,` or `]`") end
    position = position + 1
  end
end

local function read_object(text, position, depth)
  local members, name = {}, nil
  position = skip(text, position)
  if text:byte(position) == 125 then return json.object(members), position + 1 end
  while true do
    position = skip(text, position)
    if text:byte(position) ~= 34 then raise_at(text, position, "expected a name") end
    name, position = read_string(text, position + 1)
    position = skip(text, position)
    if text:byte(position) ~= 58 then raise_at(text, position, "expected `:`") end
    members[name], position = read(text, position + 1, depth)
    position = skip(text, position)
    local byte = text:byte(position)
    if byte == 125 then return json.object(members), position + 1 end
    if byte ~= 44 then raise_at(text, position, "expected `,` or `}`") end
    position = position + 1
  end
end

function read(text, position, depth)
  position = skip(text, position)
  local byte = text:sub(position, position)
  if byte == '"' then return read_string(text, position + 1) end
  if byte == "{" or byte == "[" then
    if depth > deepest then fail("nested more than %d values deep", deepest) end
    return (byte == "{" and read_object or read_array)(text, position + 1, depth + 1)
  end
  local word = words[byte]
  if word and text:sub(position, position + #word[1] - 1) == word[1] then return word[2], position + #word[1] end
  return read_number(text, position)
end

local function read_whole(text)
  local value, position = read(text, 1, 1)
  position = skip(text, position)
  if position <= #text then raise_at(text, position, "unexpected text after the value") end
  return value
end

-- MARK: - Interface

--- Calls a function that may fail. Returns its result; or nil and the problem.
local function attempt(f, ...)
  local is_done, result = pcall(f, ...)
  if is_done then return result end
  local metatable = type(result) == "table" and getmetatable(result)
  if metatable and metatable.__name == "JSON mistake" then return nil, result[1] end
  error(result, 0)
end

--- Returns the text of a value; or nil and the problem.
function json.try_encode(value)
  return attempt(write, value, {}, 0)
end

for _, metatable in ipairs{ array_metatable, object_metatable } do
  function metatable.__tostring(value) return json.try_encode(value) or metatable.__name end
end

--- Parses JSON text. Returns its value (`perilune.null` for null), or nil and a description of the problem.
function json.try_decode(text)
  if type(text) ~= "string" then return nil, "expected JSON, got " .. errors.describe(text) end
  if not utf8.len(text) then return nil, "the text is not valid UTF-8" end
  return attempt(read_whole, text)
end

--- Returns the text of a value. A table is an array if it is a non-empty list or was marked by `json.array`.
function json.encode(value)
  local text, message = json.try_encode(value)
  if text == nil then errors.raise("conversion", "perilune.json.encode: " .. message) end
  return text
end

--- Parses JSON text. Arrays and objects are marked, so that they are written back unchanged; null becomes `perilune.null`.
function json.decode(text)
  local value, message = json.try_decode(text)
  if value == nil then errors.raise("conversion", "perilune.json.decode: " .. message) end
  return value
end

return json
