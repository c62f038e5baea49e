--- The texts of plain values for people: in the console, in reports of scenarios, and in other displays of values.

local native_values = require "perilune.native.values"

local value_text = {}

--- Returns the digits of a number. Those of a float read back as the same float.
function value_text.number(value)
  return math.type(value) == "float" and native_values.float_text(value) or tostring(value)
end

local escapes = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"', ["\0"] = "\\0" }

local function escape(character)
  return escapes[character] or ("\\x%02x"):format(character:byte())
end

--- Returns a string in quotes; bytes that are not text are escaped.
function value_text.quoted(text)
  text = text:gsub('[%c"\\]', escape)
  if not utf8.len(text) then text = text:gsub("[\x80-\xFF]", escape) end
  return '"' .. text .. '"'
end

return value_text
