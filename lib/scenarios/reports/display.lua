--- Values as text for messages, tables of rows and snapshots.

local native_values = require "perilune.native.values"
local null = native_values.null
local errors = require "perilune.native.errors"
local value_text = require "perilune.runtime.value_text"

local scenario_display = {}

scenario_display.quoted = value_text.quoted

--- Returns the bytes of a blob as an SQL literal.
local function blob(bytes)
  return "x'" .. bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end) .. "'"
end

--- Returns the text of a date, without milliseconds that are zero.
local function date(value)
  return (tostring(value):gsub("%.000$", ""))
end

--- Returns whether the type of a table provides its text: rows, records, requests, and other types with `__tostring`.
local function has_text(value)
  local metatable = getmetatable(value)
  return metatable ~= nil and (type(metatable) ~= "table" or metatable.__tostring ~= nil)
end

local function compare_keys(left, right)
  local left_type, right_type = type(left), type(right)
  if left_type ~= right_type then return left_type < right_type end
  if left_type == "number" or left_type == "string" then return left < right end
  return tostring(left) < tostring(right)
end

--- Returns the keys of a table in a stable order.
function scenario_display.keys(value)
  local keys = {}
  for key in next, value do keys[#keys + 1] = key end
  table.sort(keys, compare_keys)
  return keys
end

local function key_text(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") then return key end
  return "[" .. scenario_display.show(key) .. "]"
end

--- Returns the entries of a table as text; entries of its list part have no keys.
-- @tparam integer most the maximum number of entries
local function entries(value, most, render)
  local parts, length, hidden = {}, #value, 0
  for index = 1, math.min(length, most) do parts[index] = render(value[index]) end
  hidden = length - #parts
  for _, key in ipairs(scenario_display.keys(value)) do
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then
      if #parts < most then parts[#parts + 1] = key_text(key) .. " = " .. render(rawget(value, key)) else hidden = hidden + 1 end
    end
  end
  if hidden > 0 then parts[#parts + 1] = ("... (%d more)"):format(hidden) end
  return parts
end

local deepest, most_entries, most_at_all, longest = 6, 40, 400, 2000

local render

--- Returns the text of a table on one line.
-- @tparam table limits `left`: the number of entries that may still be shown; `path`: the enclosing tables; `is_whole`: nothing is
--   left out
local function table_text(value, limits)
  local path = limits.path
  if path[value] then return "{ itself }" end
  local depth = #path
  if not limits.is_whole and (depth >= deepest or limits.left <= 0) then return next(value) == nil and "{}" or "{...}" end
  path[value], path[depth + 1] = true, value
  local parts = entries(value, limits.is_whole and math.maxinteger or most_entries, function(item)
    limits.left = limits.left - 1
    return render(item, limits)
  end)
  path[value], path[depth + 1] = nil, nil
  if #parts == 0 then return "{}" end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- The fields of an error object that describe where it was raised.
local is_place = { message = true, file = true, line = true, traceback = true }

--- Returns the fields of an error object that comes from a table without a message, as the call of `error`; nil for other values.
function scenario_display.raised_table(value)
  if type(value) ~= "userdata" then return nil end
  local is_read, fields = pcall(function()
    if value.message ~= "a table was raised" then return nil end
    local found = {}
    for name, field in pairs(value) do
      if not is_place[name] then found[name] = field end
    end
    return found
  end)
  return is_read and fields and next(fields) ~= nil and "error(" .. scenario_display.show(fields) .. ")" or nil
end

--- Returns the text of an object: an error that comes from a table shows the fields of the table.
local function object_text(value)
  local raised = scenario_display.raised_table(value)
  if not raised then return date(value) end
  return value.file and ("%s:%s: %s"):format(value.file, value.line, raised) or raised
end

--- Returns the text that a type produces for its value.
local function own_text(value)
  local is_made, text = pcall(tostring, value)
  return is_made and text or errors.describe(value)
end

function render(value, limits)
  if type(value) == "string" then
    if #value <= longest or limits.is_whole then return scenario_display.quoted(value) end
    return scenario_display.quoted(value:sub(1, longest)) .. ("... (%d bytes)"):format(#value)
  end
  if type(value) == "number" then return value_text.number(value) end
  if value == null then return "null" end
  if native_values.is_blob(value) then
    local bytes = tostring(value)
    if #bytes <= longest or limits.is_whole then return blob(bytes) end
    return blob(bytes:sub(1, longest)) .. ("... (%d bytes)"):format(#bytes)
  end
  if type(value) == "userdata" then return object_text(value) end
  if type(value) ~= "table" then return value == nil and "nil" or tostring(value) end
  if has_text(value) then return own_text(value) end
  return table_text(value, limits)
end

--- Returns a value on one line. Long or deep values are shortened.
function scenario_display.show(value)
  return render(value, { left = most_at_all, path = {} })
end

local widest = 100

local function pretty(value, indent, path)
  local line = render(value, { left = 0, path = {}, is_whole = true })
  if type(value) ~= "table" or has_text(value) or path[value] or #line + #indent <= widest then return line end
  path[value] = true
  local inner = indent .. "  "
  local parts = entries(value, math.maxinteger, function(item) return pretty(item, inner, path) end)
  path[value] = nil
  return "{\n" .. inner .. table.concat(parts, ",\n" .. inner) .. ",\n" .. indent .. "}"
end

--- Returns a complete value on as many lines as it needs.
function scenario_display.pretty(value)
  return pretty(value, "", {})
end

--- Returns whether text could be read as a value of a different type: `1`, `true`, `2026-01-01`.
local function is_ambiguous(text)
  return tonumber(text) ~= nil or text == "true" or text == "false" or text == "nil" or text == "null"
    or text:find("^%d%d%d%d%-%d%d%-%d%d") ~= nil or text:find("^[xX]'%x*'$") ~= nil or text:find("^{") ~= nil
end

--- Returns a value as the cell of a text table.
-- @tparam ?boolean is_exact whether to quote text that could be read as a value of a different type; in text tables that are read, the
--   column determines the type
function scenario_display.cell(value, is_exact)
  if value == nil or value == null then return "~" end
  if type(value) == "number" then return value_text.number(value) end
  if native_values.is_blob(value) then return blob(tostring(value)) end
  if type(value) ~= "string" then
    return type(value) == "table" and not has_text(value) and scenario_display.show(value) or date(value)
  end
  -- Text that contains a date is shortened like a date value.
  if not is_exact and value:find("^%d%d%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d%.000$") then return value:sub(1, -5) end
  if not utf8.len(value) then return blob(value) end
  local is_plain = value:find("^[^%c|\"@%s~*][^%c|]*$") and not value:find("%s$") and value ~= "now" and value ~= "..."
    and not value:find(" -> ", 1, true)
  return is_plain and not (is_exact and is_ambiguous(value)) and value or scenario_display.quoted(value)
end

return scenario_display
