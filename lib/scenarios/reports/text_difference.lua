--- The differences between two texts, by lines.

local lookalikes = lazily "scenarios.reports.lookalikes"

local around, most_compared, most_shown = 2, 1000000, 100

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do lines[#lines + 1] = line end
  if lines[#lines] == "" then lines[#lines] = nil end
  return lines
end

--- Returns, for each pair of positions, the length of the longest common subsequence of the lines from there to the ends.
local function common_lengths(old, new)
  local lengths = {}
  for left = #old + 1, 1, -1 do
    lengths[left] = {}
    for right = #new + 1, 1, -1 do
      if left > #old or right > #new then lengths[left][right] = 0
      elseif old[left] == new[right] then lengths[left][right] = lengths[left + 1][right + 1] + 1
      else lengths[left][right] = math.max(lengths[left + 1][right], lengths[left][right + 1]) end
    end
  end
  return lengths
end

local function marked(old, new)
  local lengths, list, left, right = common_lengths(old, new), {}, 1, 1
  while left <= #old or right <= #new do
    if left <= #old and right <= #new and old[left] == new[right] then
      list[#list + 1] = { " ", old[left] }
      left, right = left + 1, right + 1
    elseif right > #new or left <= #old and lengths[left + 1][right] >= lengths[left][right + 1] then
      list[#list + 1] = { "+", old[left] }
      left = left + 1
    else
      list[#list + 1] = { "-", new[right] }
      right = right + 1
    end
  end
  return list
end

--- Returns how many lines both texts have in common at the beginning and at the end.
local function common_ends(old, new)
  local shorter, head, tail = math.min(#old, #new), 0, 0
  while head < shorter and old[head + 1] == new[head + 1] do head = head + 1 end
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do tail = tail + 1 end
  return head, tail
end

--- Returns only the first difference, for texts that are too long to be compared.
local function first_difference(old, new)
  return {
    { "+", old[1] }, { "-", new[1] },
    { " ", ("... and more: expected %d more lines, got %d"):format(#old, #new) },
  }
end

local function compared(old, new)
  local head, tail = common_ends(old, new)
  local left, right = table.move(old, head + 1, #old - tail, 1, {}), table.move(new, head + 1, #new - tail, 1, {})
  local middle = #left * #right <= most_compared and marked(left, right) or first_difference(left, right)
  local list = {}
  for index = 1, head do list[index] = { " ", old[index] } end
  table.move(middle, 1, #middle, #list + 1, list)
  for index = #old - tail + 1, #old do list[#list + 1] = { " ", old[index] } end
  return list
end

--- Returns a note if two different lines look the same; otherwise nil.
local function likeness(list, index)
  local former, entry = list[index - 1], list[index]
  if not former or former[1] == " " or entry[1] == " " or former[1] == entry[1] then return nil end
  local expected, actual = former, entry
  if former[1] == "-" then expected, actual = entry, former end
  local line = lookalikes.line(expected[2], actual[2])
  return line and "  " .. line
end

local opposite = { ["+"] = "-", ["-"] = "+", [" "] = " " }

--- Returns lines with marks: `+` for expected lines that are missing, `-` for unexpected lines. Common lines far from both are left out.
-- @tparam ?boolean is_change whether the expected text is the old version: then old lines are marked with `-`, and new lines with `+`
return function(expected, actual, is_change)
  local list, is_near, shown, is_hidden = compared(lines_of(expected), lines_of(actual)), {}, {}, false
  for index, entry in ipairs(list) do
    if entry[1] ~= " " then
      for near = index - around, index + around do is_near[near] = true end
    end
  end
  if not next(is_near) then return { "they differ only in line endings or in the final line break" } end
  for index, entry in ipairs(list) do
    if #shown == most_shown then
      shown[#shown + 1] = "  ... and more"
      break
    elseif is_near[index] then
      shown[#shown + 1] = (is_change and opposite[entry[1]] or entry[1]) .. " " .. entry[2]
      shown[#shown + 1] = likeness(list, index)
    elseif not is_hidden then
      shown[#shown + 1] = "  ..."
    end
    is_hidden = not is_near[index]
  end
  return shown
end
