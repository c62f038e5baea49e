--- The difference between two texts that are too long to show side by side.

local display = lazily "scenarios.reports.display"
local lookalikes = lazily "scenarios.reports.lookalikes"

local texts = {}

local longest_whole, around = 200, 60

local function is_inside_character(text, position)
  local byte = text:byte(position)
  return byte ~= nil and byte >= 0x80 and byte < 0xC0
end

--- Returns the part of a text around a position, in quotes; cut between whole characters if it is valid UTF-8.
local function excerpt(text, position)
  local from, to = math.max(1, position - around), math.min(#text, position + around)
  while from > 1 and is_inside_character(text, from) do from = from - 1 end
  while to < #text and is_inside_character(text, to + 1) do to = to + 1 end
  return (from > 1 and "..." or "") .. display.quoted(text:sub(from, to)) .. (to < #text and "..." or "")
end

--- Returns lines that show the first difference between two texts of one line.
local function of_one_line(expected, actual, expected_name, actual_name)
  local position = 1
  while expected:byte(position) == actual:byte(position) do position = position + 1 end
  local width = math.max(#expected_name, #actual_name)
  local function line(name, text) return name .. (" "):rep(width - #name) .. " " .. excerpt(text, position) end
  return {
    ("they differ from byte %d on; expected %d bytes, got %d"):format(position, #expected, #actual),
    line(expected_name, expected), line(actual_name, actual), lookalikes.line(expected, actual),
  }
end

--- Returns lines that show how two texts differ; nil unless both are strings, and one is long or has several lines.
-- @tparam string expected_name the name of the expected text; `actual_name` is the name of the other one
-- @return the lines; whether they are marked with `+` and `-`
function texts.difference(expected, actual, expected_name, actual_name)
  if type(expected) ~= "string" or type(actual) ~= "string" or expected == actual then return nil end
  if (expected .. actual):find("\n", 1, true) then return require("scenarios.reports.text_difference")(expected, actual), true end
  if math.max(#expected, #actual) <= longest_whole then return nil end
  return of_one_line(expected, actual, expected_name, actual_name)
end

--- Returns the message of a Lua error, without its position.
function texts.message(err)
  return (tostring(err):gsub("^[^\n]-:%d+: ", ""))
end

return texts
