--- How two texts differ, by lines.

local around, most_lines = 2, 2000

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do lines[#lines + 1] = line end
  if lines[#lines] == "" then lines[#lines] = nil end
  return lines
end

--- The lengths of the longest common runs of lines from each position on.
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

--- Lines with marks: `+` was expected and is missing, `-` is there and was not expected. Lines far from both are left out.
return function(expected, actual)
  local old, new = lines_of(expected), lines_of(actual)
  if #old * #new > most_lines * most_lines / 4 then
    return { ("expected %d lines, got %d; too many to compare"):format(#old, #new) }
  end
  local list, is_near, shown, is_hidden = marked(old, new), {}, {}, false
  for index, entry in ipairs(list) do
    if entry[1] ~= " " then
      for near = index - around, index + around do is_near[near] = true end
    end
  end
  for index, entry in ipairs(list) do
    if is_near[index] then
      shown[#shown + 1] = entry[1] .. " " .. entry[2]
    elseif not is_hidden then
      shown[#shown + 1] = "  ..."
    end
    is_hidden = not is_near[index]
  end
  if #shown == 0 or not next(is_near) then return { "they differ in the ends of lines, or in the last one" } end
  return shown
end
