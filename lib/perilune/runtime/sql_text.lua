--- SQL text: names quoted, values written out as literals.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"

local sql_text = {}

--- Quotes a name, so that it stands for a table, column, index, ... whatever it contains.
-- @tparam string name
-- @tparam ?string place what messages begin with: "db:create_table: argument 1"
function sql_text.name(name, place)
  place = place and place .. ": " or ""
  if type(name) ~= "string" then
    errors.raise("argument", place .. "expected a name, got " .. errors.describe(name))
  elseif name == "" then
    errors.raise("argument", place .. "a name cannot be empty")
  elseif name:find("\0", 1, true) then
    errors.raise("argument", place .. "a name cannot contain a NUL byte")
  elseif not utf8.len(name) then
    errors.raise("argument", place .. "a name must be valid UTF-8")
  end
  return '"' .. name:gsub('"', '""') .. '"'
end

--- Quotes names and puts commas between them.
function sql_text.names(names, place)
  local quoted = {}
  for index, name in ipairs(names) do quoted[index] = sql_text.name(name, place) end
  return table.concat(quoted, ", ")
end

local function hexadecimal(bytes)
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

--- Text is quoted; SQL cannot carry NULs, and what compiles it wants UTF-8, so other bytes are written as hexadecimal digits.
local function text_literal(text)
  if text:find("\0", 1, true) or not utf8.len(text) then return "CAST(x'" .. hexadecimal(text) .. "' AS TEXT)" end
  return "'" .. text:gsub("'", "''") .. "'"
end

--- A number as its digits (18, so that they fit an integer) would be without point and exponent.
local function digits_of(text)
  local digits = text:lower():match("^[^e]+"):gsub("[^%d]", ""):gsub("^0+", "")
  return math.tointeger(tonumber((digits .. ("0"):rep(18)):sub(1, 18)))
end

--- The shortest decimal that SQLite reads as this float.
-- SQLite computes with a few bits more than a float has, so a decimal near the middle between two floats may become the
-- wrong one. 17 digits are near the float itself; 15 are taken where they are not near the middle.
local function decimal(float)
  local short, long = ("%.15g"):format(float), ("%.17g"):format(float)
  if tonumber(short) ~= float then return long end
  local ulp = 2.0 ^ (tonumber(("%a"):format(float):match("p([+-]%d+)$")) - 52)
  local exact = digits_of(("%.18g"):format(float))
  local error = math.abs(exact - digits_of(short)) / exact
  return error < 0.45 * (ulp / math.abs(float)) and short or long
end

--- Where SQLite's reading of decimals is not exact, near the smallest floats: an integer divided by powers of two.
local function quotient(float)
  local parts, exponent = {}, 52 - tonumber(("%a"):format(float):match("p([+-]%d+)$"))
  while exponent > 0 do
    local divisor = 2.0 ^ math.min(exponent, 60)
    float, exponent = float * divisor, exponent - 60
    parts[#parts + 1] = (" / %.1f"):format(divisor)
  end
  return ("(%.1f%s)"):format(float, table.concat(parts))
end

local function float_literal(float)
  if float ~= float then errors.raise("argument", "nan cannot be stored: SQLite would convert it to NULL") end
  if math.abs(float) == math.huge then return float > 0 and "9e999" or "-9e999" end
  if float ~= 0 and math.abs(float) < 1e-280 then return quotient(float) end
  local text = decimal(float)
  return text:find("[.e]") and text or text .. ".0"
end

--- Writes a value as SQL, for where none can be bound.
-- @param value what could be bound: nil or null, boolean, number, string, blob, date, enum case, ...
-- @tparam ?string place what messages begin with
function sql_text.literal(value, place)
  value = native_values.plain(value)
  if value == nil or value == null then return "NULL" end
  if type(value) == "boolean" then return value and "1" or "0" end
  if type(value) == "string" then return text_literal(value) end
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if math.type(value) == "float" then return float_literal(value) end
  if native_values.is_blob(value) then return "x'" .. hexadecimal(tostring(value)) .. "'" end
  errors.raise("argument", (place and place .. ": " or "") .. "expected a value that SQLite can store, got "
    .. errors.describe(value))
end

return sql_text
