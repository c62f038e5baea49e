--- Matches rows with those of a text table: in order, or in any order.
-- What is found is a list of *pairs* { expected, actual, is_match }: positions in the text table and in the rows, either of
-- which may be missing.

local state = require "scenarios.state"
local cells = lazily "scenarios.cells"

local scenario_row_matching = {}

--- Whether a row is what a line says. With a copy of the names where it is only tried.
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

--- How many cells of a line a row has.
local function likeness(comparison, expected, actual)
  local source, count = comparison.source, 0
  for index, cell in ipairs(comparison.table.rows[expected]) do
    local names = cells.copy_names(comparison.names)
    if source.matches(cell, source.items[actual], comparison.table.names[index], names) then count = count + 1 end
  end
  return count
end

--- Accepts the pairs only if names stand for the same everywhere.
local function bind(comparison, pairs_found)
  for _, pair in ipairs(pairs_found) do
    if pair.expected and pair.actual then
      pair.is_match = pair.is_match and fits(comparison, pair.expected, pair.actual, comparison.names)
    end
  end
  return pairs_found
end

local most_alike = 20000

--- Rows that are left over and lines that are: the most alike become pairs, so that their differences can be shown.
-- @tparam ?boolean is_gap they stand between the same rows
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

--- The lengths of the longest common runs of lines and rows from each position on.
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

--- Lines and rows at the same positions: for what is too much to be aligned.
local function side_by_side(comparison, first, expected_count, actual_count)
  local found = {}
  for position = first, math.max(expected_count, actual_count) do
    local expected, actual = position <= expected_count and position or nil, position <= actual_count and position or nil
    local is_match = expected and actual and is_tried(comparison, expected, actual)
    found[#found + 1] = { expected = expected, actual = actual, is_match = is_match or nil }
  end
  return found
end

--- Aligns what comes after the rows that are the same.
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

--- Lines and rows in their order.
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

--- Gives each line a row of its own, as many as can be: augmenting paths.
local function assign(comparison)
  local line_of, candidates = {}, {}
  for expected = 1, #comparison.table.rows do
    candidates[expected] = {}
    for actual = 1, #comparison.source.items do
      if is_tried(comparison, expected, actual) then table.insert(candidates[expected], actual) end
    end
  end
  local function place(expected, seen)
    for _, actual in ipairs(candidates[expected]) do
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
  for expected = 1, #comparison.table.rows do place(expected, {}) end
  return line_of
end

--- Lines and rows in any order: those that match in the order of the rows, then the others.
function scenario_row_matching.in_any_order(comparison)
  local line_of, found = assign(comparison), {}
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
