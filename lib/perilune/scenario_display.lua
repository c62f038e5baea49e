--- Values as text for people: in messages, in tables of rows, in snapshots.

local internal = ...

local scenario_display = {}

local escapes = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"', ["\0"] = "\\0" }

local function escape(character)
  return escapes[character] or ("\\x%02x"):format(character:byte())
end

--- A string in quotes; what is no text is escaped.
function scenario_display.quoted(text)
  text = text:gsub('[%c"\\]', escape)
  if not utf8.len(text) then text = text:gsub("[\x80-\xFF]", escape) end
  return '"' .. text .. '"'
end

local function number(value)
  if math.type(value) == "integer" then return tostring(value) end
  for precision = 15, 17 do
    local text = ("%." .. precision .. "g"):format(value)
    if tonumber(text) == value then return text:find("[.en]") and text or text .. ".0" end
  end
  return tostring(value)
end

--- A date without the thousandths that it does not have.
local function date(value)
  return (tostring(value):gsub("%.000$", ""))
end

--- Whether the text of a table is made by its type: rows, records, requests, and what else has `__tostring`.
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

--- The keys of a table in a steady order.
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

--- The entries of a table as texts: those of the list without their positions.
local function entries(value, render)
  local parts, length = {}, #value
  for index = 1, length do parts[index] = render(value[index]) end
  for _, key in ipairs(scenario_display.keys(value)) do
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then
      parts[#parts + 1] = key_text(key) .. " = " .. render(rawget(value, key))
    end
  end
  return parts
end

local deepest, most_entries = 6, 40

local function table_text(value, depth, path)
  if path[value] then return "{ itself }" end
  if depth >= deepest then return "{...}" end
  path[value] = true
  local parts = entries(value, function(item) return scenario_display.show(item, depth + 1, path) end)
  path[value] = nil
  if #parts == 0 then return "{}" end
  if #parts > most_entries then
    local hidden = #parts - most_entries
    parts = table.move(parts, 1, most_entries, 1, {})
    parts[#parts + 1] = ("... (%d more)"):format(hidden)
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- A value on one line.
function scenario_display.show(value, depth, path)
  if type(value) == "string" then return scenario_display.quoted(value) end
  if type(value) == "number" then return number(value) end
  if value == internal.null then return "null" end
  if type(value) == "userdata" then return date(value) end
  if type(value) ~= "table" then return value == nil and "nil" or tostring(value) end
  if has_text(value) then return tostring(value) end
  return table_text(value, depth or 0, path or {})
end

local function pretty(value, indent, path)
  local line = scenario_display.show(value)
  if type(value) ~= "table" or has_text(value) or #line + #indent <= 100 and not line:find("%.%.%.") or path[value] then return line end
  path[value] = true
  local inner = indent .. "  "
  local parts = entries(value, function(item) return pretty(item, inner, path) end)
  path[value] = nil
  return "{\n" .. inner .. table.concat(parts, ",\n" .. inner) .. ",\n" .. indent .. "}"
end

--- A value on as many lines as it needs.
function scenario_display.pretty(value)
  return pretty(value, "", {})
end

--- A value as the cell of a text table says it.
function scenario_display.cell(value)
  if value == nil or value == internal.null then return "~" end
  if type(value) == "number" then return number(value) end
  if type(value) ~= "string" then
    return type(value) == "table" and not has_text(value) and scenario_display.show(value) or date(value)
  end
  if not utf8.len(value) then return "x'" .. value:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end) .. "'" end
  local is_plain = value:find("^[^%c|\"@%s~*][^%c|]*$") and not value:find("%s$") and value ~= "now" and value ~= "..."
    and not value:find(" -> ", 1, true)
  return is_plain and value or scenario_display.quoted(value)
end

return scenario_display
