--- The differences between two values.

local display = lazily "scenarios.reports.display"
local lookalikes = lazily "scenarios.reports.lookalikes"

local scenario_differences = {}

local most = 20

local function same_value(left, right)
  if left == right then return true end
  return left ~= left and right ~= right
end

local function path_of(path, key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") then return path .. "." .. key end
  return path .. "[" .. display.show(key) .. "]"
end

local function add(list, path, expected, actual)
  list[#list + 1] = { path = path, expected = expected, actual = actual }
end

--- Returns whether a value is compared by its content: plain tables, rows and records. Other tables are compared with `==`.
local function has_fields(value)
  if type(value) ~= "table" then return false end
  local metatable = getmetatable(value)
  return metatable == nil or metatable == false or type(metatable) == "table" and metatable.__eq == nil
end

--- Returns a field of a value; nil if it does not exist or reading it raises.
local function field(value, key)
  local found = rawget(value, key)
  if found ~= nil then return found end
  local is_read, inherited = pcall(function() return value[key] end)
  return is_read and inherited or nil
end

--- Converts the result of `db:execute` to a table of its fields; returns anything else unchanged.
local function as_table(value)
  if type(value) ~= "userdata" then return value end
  local fields = {}
  local has_pairs = pcall(function()
    for key, item in pairs(value) do fields[key] = item end
  end)
  return has_pairs and next(fields) ~= nil and fields or value
end

local function compare(actual, expected, path, list, seen, is_part)
  if #list >= most or same_value(actual, expected) then return end
  if has_fields(expected) then actual = as_table(actual) end
  if not (has_fields(actual) and has_fields(expected)) then return add(list, path, expected, actual) end
  local pair = seen[actual] or {}
  if pair[expected] then return end
  pair[expected], seen[actual] = true, pair
  for _, key in ipairs(display.keys(expected)) do
    compare(field(actual, key), rawget(expected, key), path_of(path, key), list, seen, is_part)
  end
  if is_part then return end
  for _, key in ipairs(display.keys(actual)) do
    if field(expected, key) == nil then add(list, path_of(path, key), nil, rawget(actual, key)) end
  end
end

--- Returns the differences between two values: a list of { path, expected, actual }, empty if they are equal.
-- @tparam ?boolean is_part whether to ignore fields that only the actual value has
function scenario_differences.of(actual, expected, is_part)
  local list = {}
  compare(actual, expected, "", list, {}, is_part)
  return list
end

--- Formats differences as lines.
function scenario_differences.lines(list)
  local lines = {}
  for _, difference in ipairs(list) do
    local place = difference.path:gsub("^%.", "")
    place = place ~= "" and place .. ": " or ""
    local expected, actual = difference.expected, difference.actual
    if expected == nil and place ~= "" then
      lines[#lines + 1] = place .. display.show(actual) .. " was not expected"
    else
      lines[#lines + 1] = place .. "expected " .. display.show(expected) .. ", got " .. display.show(actual)
      lines[#lines + 1] = lookalikes.line(expected, actual)
    end
  end
  if #list >= most then lines[#lines + 1] = "... and perhaps more" end
  return lines
end

return scenario_differences
