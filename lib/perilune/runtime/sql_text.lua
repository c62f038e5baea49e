--- SQL text: quoted names, and values as literals.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"

local sql_text = {}

--- Quotes a name of any characters for use as the name of a table, column, index, ...
-- @tparam string name
-- @tparam ?string place the prefix of messages: "db:create_table: argument 1"
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

--- Quotes names and separates them by commas.
function sql_text.names(names, place)
  local quoted = {}
  for index, name in ipairs(names) do quoted[index] = sql_text.name(name, place) end
  return table.concat(quoted, ", ")
end

local function hexadecimal(bytes)
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

--- Quotes text. SQL text cannot contain NULs and must be valid UTF-8, so other bytes are written as hexadecimal digits.
local function text_literal(text)
  if text:find("\0", 1, true) or not utf8.len(text) then return "CAST(x'" .. hexadecimal(text) .. "' AS TEXT)" end
  return "'" .. text:gsub("'", "''") .. "'"
end

local function float_literal(float)
  if float ~= float then errors.raise("argument", "nan cannot be stored: SQLite would convert it to NULL") end
  return native_values.float_literal(float)
end

--- Returns a value as an SQL literal, for statements that cannot bind values.
-- @param value a value that could be bound: nil or null, boolean, number, string, blob, date, enum case, ...
-- @tparam ?string place the prefix of messages
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
