--- Cursors: the values of a row as a text that may stand in a URL.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local null = require("perilune.native.values").null
local byte, char, pack, unpack = string.byte, string.char, string.pack, string.unpack
local math_type = math.type
local raise = errors.raise

local page_cursors = {}

-- Bytes as text -----------------------------------------------------------------------------------------------------------------

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
--- The bytes of the alphabet by their digits, from 0, and the digits by these bytes.
local letter_of, digit_of = {}, {}
for digit = 0, 63 do
  local letter = alphabet:byte(digit + 1)
  letter_of[digit], digit_of[letter] = letter, digit
end

--- As RFC 4648 writes it for URLs, without padding.
local function to_base64(bytes)
  local parts = {}
  for position = 1, #bytes, 3 do
    local first, second, third = byte(bytes, position, position + 2)
    local b, c = second or 0, third or 0
    local four = char(letter_of[first >> 2], letter_of[(first & 3) << 4 | b >> 4], letter_of[(b & 15) << 2 | c >> 6], letter_of[c & 63])
    parts[#parts + 1] = third and four or four:sub(1, second and 3 or 2)
  end
  return table.concat(parts)
end

--- The bytes; nil if the text is another one than `to_base64` returns.
local function from_base64(text)
  local parts, zero = {}, letter_of[0]
  if #text % 4 == 1 then return nil end
  for position = 1, #text, 4 do
    local a, b, c, d = byte(text, position, position + 3)
    a, b, c, d = digit_of[a], digit_of[b], digit_of[c or zero], digit_of[d or zero]
    if not (a and b and c and d) then return nil end
    parts[#parts + 1] = char(a << 2 | b >> 4, (b & 15) << 4 | c >> 2, (c & 3) << 6 | d)
  end
  return table.concat(parts):sub(1, #text * 3 // 4)
end

-- Values as bytes ---------------------------------------------------------------------------------------------------------------

--- How values are packed, behind a letter for their kind.
local formats = { integer = "<c1i8", float = "<c1n", string = "<c1s4", blob = "<c1s4", ["true"] = "<c1", ["false"] = "<c1", null = "<c1" }
local letters = { integer = "i", float = "f", string = "t", blob = "b", ["true"] = "y", ["false"] = "n", null = "0" }
local kinds = {}
for kind, letter in pairs(letters) do kinds[letter] = kind end

local function kind_of(value)
  local kind = math_type(value) or type(value)
  if formats[kind] then return kind end
  if value == null then return "null" end
  return kind == "boolean" and tostring(value) or "blob"
end

--- The cursor of a row.
-- @tparam integer hash of the order
-- @tparam {any,...} values what the row has in the terms of the order
function page_cursors.write(hash, values)
  local parts = { pack("<I4", hash) }
  for index = 1, #values do
    local value = values[index]
    local kind = kind_of(value)
    parts[index + 1] = pack(formats[kind], letters[kind], kind == "blob" and tostring(value) or value)
  end
  return to_base64(table.concat(parts))
end

local function raise_cursor(method, reason)
  raise("argument", method .. ": argument 1: expected a cursor of this request, got " .. reason
    .. "; pass `next` or `previous` of a page with the same order, or nil for the first page")
end

local function read_values(bytes, count)
  local values, position = {}, 5
  for index = 1, count do
    local kind = kinds[bytes:sub(position, position)]
    if not kind then return nil end
    local _, value, next_position = unpack(formats[kind], bytes, position)
    if kind == "null" then value, next_position = null, value
    elseif kind == "true" or kind == "false" then value, next_position = kind == "true", value
    elseif kind == "blob" then value = perilune.blob(value) end
    values[index], position = value, next_position
  end
  return position == #bytes + 1 and values or nil
end

--- The values of a cursor; raises for any other text, and for a cursor of another order.
-- @tparam string method the one that got it, for messages
-- @tparam integer hash of the order
-- @tparam integer count of its terms
function page_cursors.read(method, cursor, hash, count)
  if type(cursor) ~= "string" then raise_cursor(method, errors.describe(cursor)) end
  local bytes = from_base64(cursor)
  if not bytes or #bytes < 4 then raise_cursor(method, "another string") end
  if unpack("<I4", bytes) ~= hash then raise_cursor(method, "one of another order") end
  local is_done, values = pcall(read_values, bytes, count)
  return is_done and values or raise_cursor(method, "another string")
end

return page_cursors
