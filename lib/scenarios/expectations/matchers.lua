--- The matchers of `expect` for values and rows: functions `matcher(expectation, ...)` that return whether the value matches, and a
-- function that returns lines describing the actual value.

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"
local differences = lazily "scenarios.reports.differences"
local row_source = lazily "scenarios.tables.row_source"
local row_comparison = lazily "scenarios.tables.rows"
local texts = lazily "scenarios.reports.texts"
local lookalikes = lazily "scenarios.reports.lookalikes"

local matchers = {}

local function show_difference(expected, actual)
  return function()
    return { "expected " .. display.show(expected), "got      " .. display.show(actual), lookalikes.line(expected, actual) }
  end
end

local most_text = 20

--- Returns a function that returns the lines of a failure: something is not in a value. Text with several lines is shown line by line.
local function show_absence(what, value)
  return function()
    local lines = { what .. " is not in" }
    if type(value) ~= "string" or not value:find("\n.") then
      lines[2] = display.show(value)
      return lines
    end
    for line in value:gmatch("[^\n]*") do
      if #lines > most_text then
        lines[#lines + 1] = ("  ... (%d bytes)"):format(#value)
        break
      end
      lines[#lines + 1] = "  " .. line
    end
    return lines
  end
end

-- Values

--- Returns a line of advice for a text table that is compared with rows by a matcher of values.
local function advice_for_rows(expected, value)
  if type(expected) ~= "string" or not expected:find("^%s*|") or type(value) ~= "table" and not row_source.is_request(value) then return nil end
  return "rows[[ ... ]] compares rows with a text table"
end

--- Matches the same value, or tables with the same content.
function matchers.equals(expectation, expected)
  local list = differences.of(expectation.value, expected)
  return #list == 0, function()
    local lines, is_marked = texts.difference(expected, expectation.value, "expected", "got")
    if lines then
      if is_marked then table.insert(lines, 1, "`+` is expected, `-` is in the value") end
      return lines
    elseif row_source.is_request(expectation.value) and not row_source.is_request(expected) then
      lines = show_difference(expected, expectation.value)()
      lines[#lines + 1] = "it is a request; use expect(request):rows[[ ... ]], is_empty() or count(number) for its rows, or its list request:fetch_all()"
      return lines
    elseif type(expected) ~= "table" then
      lines = show_difference(expected, expectation.value)()
      lines[#lines + 1] = advice_for_rows(expected, expectation.value)
      return lines
    end
    return differences.lines(list)
  end
end

--- Matches only the identical value.
function matchers.is(expectation, expected)
  return rawequal(expectation.value, expected), show_difference(expected, expectation.value)
end

--- Returns the distance between two numbers: exact for integers, unless no integer can hold it.
local function distance(left, right)
  if left == right then return 0 end
  local first, second = math.tointeger(left), math.tointeger(right)
  if not (first and second) then return math.abs(left - right) end
  local low, high = math.min(first, second), math.max(first, second)
  return high - low >= 0 and high - low or high + 0.0 - low
end

--- Matches a number that differs at most by a tolerance.
function matchers.near(expectation, expected, tolerance)
  local value = expectation.value
  tolerance = tolerance or 1e-9
  if type(expected) ~= "number" or type(tolerance) ~= "number" then
    errors.raise("argument", "near: expected a number and a tolerance, got " .. errors.describe(expected) .. " and "
      .. errors.describe(tolerance))
  end
  local is_near = type(value) == "number" and distance(value, expected) <= tolerance
  return is_near, function()
    local lines = show_difference(expected, value)()
    if type(value) == "number" then
      lines[#lines + 1] = ("they differ by %s, at most %s was expected")
        :format(display.show(distance(value, expected)), display.show(tolerance))
    end
    return lines
  end
end

--- Matches text with a part, or a list with an element.
function matchers.contains(expectation, part)
  local value, is_so = expectation.value, false
  if type(value) == "string" then
    if type(part) ~= "string" then errors.raise("argument", "contains: expected a string, got " .. errors.describe(part)) end
    is_so = value:find(part, 1, true) ~= nil
  elseif row_source.is_request(value) then
    state.mistake("contains: expected text or a list in expect(...), got %s; use expect(...):has_rows[[ ... ]] for some rows of a request", errors.describe(value))
  elseif type(value) == "table" then
    for index = 1, #value do is_so = is_so or #differences.of(value[index], part) == 0 end
  else
    errors.raise("argument", "contains: expected text or a list in expect(...), got " .. errors.describe(value))
  end
  return is_so, function()
    local lines = show_absence(display.show(part), value)()
    lines[#lines + 1] = lookalikes.line(part, lookalikes.find(value, part))
    if type(part) == "table" and type(value) == "table" and type(value[1]) == "table" then
      lines[#lines + 1] = "contains compares whole elements; has_rows[[ ... ]] compares some columns of rows"
    end
    return lines
  end
end

--- Matches text in which a Lua pattern is found.
function matchers.matches(expectation, pattern)
  if type(pattern) ~= "string" then state.mistake("matches: expected a Lua pattern, got %s", errors.describe(pattern)) end
  local value = expectation.value
  if type(value) ~= "string" and type(value) ~= "number" then
    errors.raise("argument", "matches: expected text in expect(...), got " .. errors.describe(value))
  end
  local is_pattern, position = pcall(string.find, tostring(value), pattern)
  if not is_pattern then state.mistake("matches: %s is not a Lua pattern: %s", display.show(pattern), texts.message(position)) end
  return position ~= nil, function()
    local lines = show_absence("the pattern " .. display.show(pattern), value)()
    if pattern:find("\\%a") then
      lines[#lines + 1] = "Lua patterns have classes such as %d and %w, and no \\d"
    elseif pattern:find("^/.*/%a*$") then
      lines[#lines + 1] = "a Lua pattern is written without slashes"
    elseif pattern:find("{%d*,?%d*}") or pattern:find("|", 1, true) then
      lines[#lines + 1] = "Lua patterns have no repetitions such as {3} and no alternatives such as a|b"
    elseif tostring(value):find(pattern, 1, true) then
      lines[#lines + 1] = "the characters ^$()%.[]*+-? have a meaning in a Lua pattern; use contains for text"
    end
    return lines
  end
end

function matchers.is_nil(expectation)
  return expectation.value == nil, function() return { "it is " .. display.show(expectation.value) } end
end

--- Matches a table in which the given keys have the given values, and ignores other keys.
function matchers.covers(expectation, expected)
  if type(expected) ~= "table" then
    state.mistake("covers: expected a table of keys and values, got %s%s", errors.describe(expected),
      advice_for_rows(expected, expectation.value) and "; use has_rows[[ ... ]] for a text table" or "")
  end
  local list = differences.of(expectation.value, expected, true)
  return #list == 0, function() return differences.lines(list) end
end

--- Matches the content of a snapshot file next to the scenario.
function matchers.snapshot(expectation, name)
  return require("scenarios.expectations.snapshots").compare(expectation, name)
end

-- Rows

for name, order in pairs{ rows = "ordered", rows_any_order = "any", has_rows = "part" } do
  matchers[name] = function(expectation, text)
    local current = state.require("expect(...):" .. name)
    return row_comparison.compare(name, expectation.value, text, order, current.names)
  end
end

local most_lines = 10

--- Shows the first rows if more rows were found than expected.
local function show_rows(value)
  local is_list, source = pcall(row_source.of, "count", value)
  if not is_list or #source.items == 0 or #source.columns == 0 then return { "it is " .. display.show(value) } end
  local text, lines = row_comparison.text(source), {}
  for line in text:gmatch("[^\n]+") do
    if #lines > most_lines then break end
    lines[#lines + 1] = "  " .. line
  end
  if #source.items > most_lines then lines[#lines + 1] = ("  ... %d rows"):format(#source.items - most_lines) end
  return lines
end

function matchers.count(expectation, expected)
  if math.type(expected) ~= "integer" then state.mistake("count: expected a number, got %s", errors.describe(expected)) end
  local count = row_source.count("count", expectation.value)
  return count == expected, function()
    return { ("expected %d, got %d"):format(expected, count), table.unpack(show_rows(expectation.value)) }
  end
end

function matchers.is_empty(expectation)
  local count = row_source.count("is_empty", expectation.value)
  return count == 0, function() return { ("it has %d"):format(count), table.unpack(show_rows(expectation.value)) } end
end

arity.limit_all(matchers, "")

return matchers
