--- Writes a documentation page for each scenario file, with a heading for each scenario, to which other pages link:
-- `doc:HistoryScenarios#the-name-of-a-scenario`.
--
--     perilune run scripts/scenario_pages.lua FOLDER FILE...     the pages are written to FOLDER

local folder, files = arg[1], table.move(arg, 2, #arg, 1, {})

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("a")
  file:close()
  return text
end

--- Returns lines without their common indentation, and without blank lines at the start and end.
local function dedented(lines)
  local least = 1000
  for _, line in ipairs(lines) do
    if line:find("%S") then least = math.min(least, #line:match("^ *")) end
  end
  for index, line in ipairs(lines) do lines[index] = line:sub(least + 1) end
  return (table.concat(lines, "\n"):gsub("^\n+", ""):gsub("\n+$", ""))
end

local function code(lines)
  local text = dedented(lines)
  return text == "" and "" or "```lua\n" .. text .. "\n```\n\n"
end

--- Returns the page of a file: its shared definitions, followed by the scenarios.
local function page_of(path)
  local name = path:match("([%w_]+)_scenario%.lua$")
  local abstract = read(path):match("^%-%- ([^\n]+)") or "Scenarios."
  local parts = { ("# Scenarios: %s\n\n%s\n\n## Overview\n\nThe scenarios of `%s`, which the tests of this project run.\n\n"):format(name, abstract, path) }
  local shared, scenario, ending = {}, nil, nil
  for line in (read(path) .. "\n"):gmatch("(.-)\n") do
    local indentation, title = line:match('^( *)scenario%("(.-)"')
    if title and not scenario then
      parts[#parts + 1], shared = code(shared), {}
      parts[#parts + 1] = "### " .. title .. "\n\n"
      scenario, ending = {}, indentation .. "end)"
    end
    table.insert(scenario or shared, line)
    if scenario and line == ending then parts[#parts + 1], scenario = code(scenario), nil end
  end
  return (name:gsub("^%l", string.upper)) .. "Scenarios", table.concat(parts)
end

for _, path in ipairs(files) do
  local name, text = page_of(path)
  local file = assert(io.open(folder .. "/" .. name .. ".md", "w"))
  file:write(text)
  file:close()
end
