--- Matches rows with a text table: in order, or in any order.
-- The result is a list of *pairs* { expected, actual, is_match }: positions in the text table and in the rows, either of which may
-- be missing.

local cells = lazily "scenarios.tables.cells"

local scenario_row_matching = {}

--- Returns whether a row matches a line. Use a copy of the names for tentative matches.
local function fits(comparison, expected, actual, names)
  local source, heads = comparison.source, comparison.table.names
  for index, cell in ipairs(comparison.table.rows[expected]) do
    if not source.matches(cell, source.items[actual], heads[index], names) then return false end
  end
  return true
end

local function is_tried(comparison, expected, actual)
  return fits(comparison, expected, actual, cells.copy_names(comparison.names))
end

--- Returns how many cells of a line match a row.
local function likeness(comparison, expected, actual)
  local source, count = comparison.source, 0
  for index, cell in ipairs(comparison.table.rows[expected]) do
    local names = cells.copy_names(comparison.names)
    if source.matches(cell, source.items[actual], comparison.table.names[index], names) then count = count + 1 end
  end
  return count
end

--- Matches tentative pairs again, now with common names: pairs match only if each name has the same value in all of them.
local function bind(comparison, pairs_found)
  for _, pair in ipairs(pairs_found) do
    if pair.expected and pair.actual then
      pair.is_match = pair.is_match and fits(comparison, pair.expected, pair.actual, comparison.names)
    end
  end
  return pairs_found
end

local most_alike = 20000

--- Pairs the most similar unmatched lines and rows, so that their differences can be shown.
-- @tparam ?boolean is_gap whether these lines and rows lie between the same two matched rows
local function pair_alike(comparison, expected_left, actual_left, is_gap)
  local found, taken = {}, {}
  local are_few = #expected_left * #actual_left <= most_alike
  if #expected_left == #actual_left and (is_gap or #expected_left == 1 and not comparison.is_part) then
    for index, expected in ipairs(expected_left) do found[index] = { expected = expected, actual = actual_left[index] } end
    return found
  end
  for _, expected in ipairs(expected_left) do
    local best, best_count = nil, 0
    for _, actual in ipairs(actual_left) do
      local count = are_few and not taken[actual] and likeness(comparison, expected, actual) or 0
      if count > best_count then best, best_count = actual, count end
    end
    if best and best_count * 2 >= #comparison.table.rows[expected] then taken[best] = true else best = nil end
    found[#found + 1] = { expected = expected, actual = best }
  end
  for _, actual in ipairs(actual_left) do
    if not taken[actual] then found[#found + 1] = { actual = actual } end
  end
  return found
end

-- In order

local most_aligned = 250000

--- Returns the lengths of the longest common sequences of lines and rows from each position.
local function common_lengths(comparison, first, last_expected, last_actual)
  local lengths = { [last_expected + 1] = setmetatable({}, { __index = function() return 0 end }) }
  for expected = last_expected, first, -1 do
    local row = { [last_actual + 1] = 0 }
    for actual = last_actual, first, -1 do
      row[actual] = is_tried(comparison, expected, actual) and lengths[expected + 1][actual + 1] + 1
        or math.max(lengths[expected + 1][actual], row[actual + 1])
    end
    lengths[expected] = row
  end
  return lengths
end

local function append(list, more)
  for _, item in ipairs(more) do list[#list + 1] = item end
end

local function range(from, to)
  local list = {}
  for index = from, to do list[#list + 1] = index end
  return list
end

--- Pairs lines and rows by position. Used if there are too many of them to align.
local function side_by_side(comparison, first, expected_count, actual_count)
  local found = {}
  for position = first, math.max(expected_count, actual_count) do
    local expected, actual = position <= expected_count and position or nil, position <= actual_count and position or nil
    local is_match = expected and actual and is_tried(comparison, expected, actual)
    found[#found + 1] = { expected = expected, actual = actual, is_match = is_match or nil }
  end
  return found
end

--- Aligns the lines and rows that remain after the matching ones at the start.
local function align(comparison, first, expected_count, actual_count)
  if (expected_count - first) * (actual_count - first) > most_aligned then
    return side_by_side(comparison, first, expected_count, actual_count)
  end
  local lengths = common_lengths(comparison, first, expected_count, actual_count)
  local found, expected, actual = {}, first, first
  local gap_expected, gap_actual = first, first
  local function close_gap()
    append(found, pair_alike(comparison, range(gap_expected, expected - 1), range(gap_actual, actual - 1), true))
  end
  while expected <= expected_count and actual <= actual_count do
    if is_tried(comparison, expected, actual) and lengths[expected][actual] == lengths[expected + 1][actual + 1] + 1 then
      close_gap()
      found[#found + 1] = { expected = expected, actual = actual, is_match = true }
      expected, actual = expected + 1, actual + 1
      gap_expected, gap_actual = expected, actual
    elseif lengths[expected + 1][actual] >= lengths[expected][actual + 1] then
      expected = expected + 1
    else
      actual = actual + 1
    end
  end
  expected, actual = expected_count + 1, actual_count + 1
  close_gap()
  return found
end

--- Matches lines and rows in order.
function scenario_row_matching.in_order(comparison)
  local expected_count, actual_count = #comparison.table.rows, #comparison.source.items
  local found, position = {}, 1
  while position <= expected_count and position <= actual_count do
    if not is_tried(comparison, position, position) then break end
    fits(comparison, position, position, comparison.names)
    found[position] = { expected = position, actual = position, is_match = true }
    position = position + 1
  end
  if position <= expected_count or position <= actual_count then
    append(found, bind(comparison, align(comparison, position, expected_count, actual_count)))
  end
  return found
end

-- In any order

--- If a row matches a line, returns the values that names without a value get from it; otherwise nil.
local function bindings(comparison, expected, actual)
  local names, new = cells.copy_names(comparison.names), {}
  if not fits(comparison, expected, actual, names) then return nil end
  for name, value in pairs(names) do
    if comparison.names[name] == nil then new[name] = value end
  end
  return new
end

--- Returns the matching rows for each line: { actual, binds }.
local function candidates_of(comparison)
  local candidates = {}
  for expected = 1, #comparison.table.rows do
    candidates[expected] = {}
    for actual = 1, #comparison.source.items do
      local binds = bindings(comparison, expected, actual)
      if binds then table.insert(candidates[expected], { actual = actual, binds = binds }) end
    end
  end
  return candidates
end

--- Assigns a separate row to as many lines as possible, using augmenting paths.
-- @return lines by row; whether each line has a row
local function assign(candidates)
  local line_of, is_complete = {}, true
  local function place(expected, seen)
    for _, candidate in ipairs(candidates[expected]) do
      local actual = candidate.actual
      if not seen[actual] then
        seen[actual] = true
        if not line_of[actual] or place(line_of[actual], seen) then
          line_of[actual] = expected
          return true
        end
      end
    end
    return false
  end
  for expected = 1, #candidates do is_complete = place(expected, {}) and is_complete end
  return line_of, is_complete
end

--- The maximum number of attempts for lines with names. If there are more, it is unknown whether an assignment exists.
local most_tries = 5000

--- Returns whether the values that a match gives to names agree with the current values of the names.
local function agrees(binds, bound)
  for name, value in pairs(binds) do
    if bound[name] ~= nil and bound[name] ~= value then return false end
  end
  return true
end

--- Returns the candidates that agree with the names that have values. Also returns, of the lines that give a value to another name, the one
-- with the fewest candidates, or nil.
local function agreeing(candidates, bound)
  local left, open = {}, nil
  for expected, list in ipairs(candidates) do
    local kept, is_open = {}, false
    for _, candidate in ipairs(list) do
      if agrees(candidate.binds, bound) then
        kept[#kept + 1] = candidate
        for name in pairs(candidate.binds) do is_open = is_open or bound[name] == nil end
      end
    end
    left[expected] = kept
    if is_open and (not open or #kept < #left[open]) then open = expected end
  end
  return left, open
end

--- Assigns a row to each line so that each name has the same value everywhere; returns nil if that is impossible, or not found.
-- @tparam table bound the values of names so far
-- @tparam table tries `left`: the remaining number of attempts; `have_ended` is set if they did not suffice
local function assign_names(candidates, bound, tries)
  local left, open = agreeing(candidates, bound)
  local line_of, is_complete = assign(left)
  if not is_complete or not open then return is_complete and line_of or nil end
  for _, candidate in ipairs(left[open]) do
    if tries.left == 0 then
      tries.have_ended = true
      return nil
    end
    tries.left = tries.left - 1
    local inner, inner_bound = table.move(left, 1, #left, 1, {}), cells.copy_names(bound)
    inner[open] = { candidate }
    for name, value in pairs(candidate.binds) do inner_bound[name] = value end
    local found = assign_names(inner, inner_bound, tries)
    if found then return found end
  end
end

--- Assigns a separate row to as many lines as possible. If each line has one, names have the same values everywhere.
local function assign_lines(comparison)
  local candidates, tries = candidates_of(comparison), { left = most_tries }
  local line_of, is_complete = assign(candidates)
  local named = is_complete and assign_names(candidates, {}, tries)
  comparison.is_undecided = not named and tries.have_ended
  return named or line_of
end

--- Matches lines and rows in any order: first the matching pairs in row order, then the others. Sets `comparison.is_undecided` if the
-- search ended before it was known whether each name can have the same value everywhere.
function scenario_row_matching.in_any_order(comparison)
  local line_of, found = assign_lines(comparison), {}
  local is_placed, expected_left, actual_left = {}, {}, {}
  for actual = 1, #comparison.source.items do
    local expected = line_of[actual]
    if expected then
      is_placed[expected] = true
      found[#found + 1] = { expected = expected, actual = actual, is_match = true }
    else
      actual_left[#actual_left + 1] = actual
    end
  end
  for expected = 1, #comparison.table.rows do
    if not is_placed[expected] then expected_left[#expected_left + 1] = expected end
  end
  append(found, pair_alike(comparison, expected_left, actual_left))
  return bind(comparison, found)
end

return scenario_row_matching
