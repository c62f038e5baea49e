--- Whether two values are the same for a column: what is compared is what would be stored.

local null = require("perilune.native.values").null
local native_values = require "perilune.native.values"

local stored_values = {}

--- The affinity that SQLite gives to a column of a declared type: "integer", "text", "real", "numeric", "blob" or "none".
-- "blob" stores as "none" does; but the strings of such a column are bytes. In the order of SQLite's rules
-- (datatype3.html, section 3.1).
-- @param is_strict whether the table is STRICT, where ANY means that nothing is converted
function stored_values.affinity(declared_type, is_strict)
  local name = declared_type:upper()
  if is_strict and name == "ANY" then return "none" end
  if name:find("INT", 1, true) then return "integer" end
  if name:find("CHAR", 1, true) or name:find("CLOB", 1, true) or name:find("TEXT", 1, true) then return "text" end
  if name:find("BLOB", 1, true) then return "blob" end
  if name == "" then return "none" end
  if name:find("REAL", 1, true) or name:find("FLOA", 1, true) or name:find("DOUB", 1, true) then return "real" end
  return "numeric"
end

--- What is stored for a number by its affinity. Integers and floats that are equal are the same to all but columns without one.
local function store_number(number, affinity)
  if affinity == "none" or affinity == "blob" then return number end
  if affinity == "text" then
    -- Other floats are not worth the trouble: they count as changed.
    return math.type(number) == "integer" and ("%d"):format(number) or number
  end
  if affinity == "real" then return number + 0.0 end
  return math.tointeger(number) or number
end

--- What is stored for a text in a column of numbers: a number, if the text is nothing else.
local function store_text(text, affinity)
  if affinity == "text" or affinity == "none" or affinity == "blob" then return text end
  if not text:find("^%s*[+-]?%.?%d[%d.]*[eE]?[+-]?%d*%s*$") then return text end
  local number = tonumber(text)
  return number and store_number(number, affinity) or text
end

--- What a column has stored for a value; nil for NULL.
local function store(value, affinity)
  value = native_values.plain(value)
  if value == null then return nil end
  if type(value) == "boolean" then value = value and 1 or 0 end
  if type(value) == "number" then return store_number(value, affinity) end
  if type(value) == "string" then return store_text(value, affinity) end
  if native_values.is_blob(value) then return tostring(value), true end
  return value
end

--- Whether a value that was read from a column is what would be stored for another one.
function stored_values.are_same(old, new, affinity)
  local stored_old = store(old, affinity)
  local stored_new, is_blob = store(new, affinity)
  -- A string may have been read from a text as well as from a blob, unless the column holds bytes.
  if is_blob and affinity ~= "blob" then return false end
  return stored_old == stored_new and math.type(stored_old) == math.type(stored_new)
end

return stored_values
