--- Compares rows with a text table, and shows the differences.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local cells = lazily "scenarios.tables.cells"
local text_table = lazily "scenarios.tables.text_table"
local matching = lazily "scenarios.tables.row_matching"
local row_source = lazily "scenarios.tables.row_source"
local lookalikes = lazily "scenarios.reports.lookalikes"

local scenario_rows = {}

--- Raises for an empty cell that the rows of the source cannot match.
local function check_cells(what, parsed, source)
  for number, row in ipairs(parsed.rows) do
    for index, cell in ipairs(row) do
      if cell.kind == "empty" and not (source.allows_empty and source.allows_empty(row, parsed.names, index)) then
        errors.raise("text_table", ("%s: row %d of the text table: column `%s` is empty; use ~ for NULL, "
          .. '"" for an empty string, * for any value but NULL'):format(what, number, parsed.names[index]))
      end
    end
  end
end

--- Compares rows with a text table.
-- @tparam string what the caller, for messages
-- @tparam string order "ordered", "any", or "part" for rows among others
-- @tparam table names the values of names in cells; new names are added
-- @return whether the rows match the text; a function that returns the differences as lines
function scenario_rows.compare(what, value, text, order, names)
  local parsed = text_table.read(what, text)
  local source = row_source.of(what, value)
  for _, name in ipairs(parsed.names) do source.check(name) end
  check_cells(what, parsed, source)
  local comparison = { source = source, table = parsed, names = names, is_part = order == "part" }
  local found = matching[order == "ordered" and "in_order" or "in_any_order"](comparison)
  local is_equal = true
  for _, pair in ipairs(found) do
    local is_other = order == "part" and not pair.expected
    is_equal = is_equal and (pair.is_match or is_other) == true
  end
  return is_equal, function() return scenario_rows.lines(comparison, found, order) end
end

-- Showing

--- Returns a hint if a cell and the value that it does not match look the same; otherwise nil.
local function likeness(comparison, cell, actual, column)
  local source = comparison.source
  if not source.value or cell.kind ~= "text" and cell.kind ~= "bare" then return nil end
  local value = source.value(source.items[actual], column)
  return type(value) == "string" and lookalikes.line(cell.text, value) or nil
end

--- Returns the cells that differ between a row and the line that it is compared with.
local function cell_notes(comparison, pair)
  local notes = {}
  for index, cell in ipairs(comparison.table.rows[pair.expected]) do
    local column = comparison.table.names[index]
    if not comparison.source.matches(cell, comparison.source.items[pair.actual], column, comparison.names) then
      local note = column .. ": expected " .. (cell.kind == "empty" and "no change; use ~ for NULL" or cells.text(cell, comparison.names))
      local line = likeness(comparison, cell, pair.actual, column)
      notes[#notes + 1] = line and note .. " (" .. line .. ")" or note
    end
  end
  return #notes > 0 and table.concat(notes, "; ") or "a name has another value above"
end

--- Returns whether a cell of a column has this text in quotes.
local function is_quoted_in(comparison, index, text)
  for _, row in ipairs(comparison.table.rows) do
    if row[index] and row[index].kind == "text" and row[index].text == text then return true end
  end
  return false
end

--- Returns the text of a value in a row. The fraction `.000` of a time, which is not shown otherwise, is part of it if the row does not
-- match and a cell has the text without the fraction in quotes.
local function value_text(comparison, pair, index, column)
  local source, item = comparison.source, comparison.source.items[pair.actual]
  local text = source.show(item, column)
  if pair.is_match or not source.value or not is_quoted_in(comparison, index, text) then return text end
  local whole = tostring(source.value(item, column))
  return whole == text .. ".000" and whole or text
end

--- Returns a line of the result: { mark, texts, note }.
local function shown(comparison, pair, order)
  local texts = {}
  for index, column in ipairs(comparison.table.names) do
    if pair.actual then
      texts[index] = value_text(comparison, pair, index, column)
    else
      local cell = comparison.table.rows[pair.expected][index]
      texts[index] = cell and cells.text(cell, comparison.names) or "..."
    end
  end
  if pair.is_match then return { mark = " ", texts = texts } end
  if not pair.actual then return { mark = "+", texts = texts, note = "missing" } end
  if pair.expected then return { mark = "!", texts = texts, note = cell_notes(comparison, pair) } end
  return { mark = order == "part" and " " or "-", texts = texts, note = order ~= "part" and "unexpected" or nil }
end

local widest = 60

local function clip(text)
  if (utf8.len(text) or #text) <= widest then return text end
  return text:sub(1, (utf8.offset(text, widest) or widest) - 1) .. "..."
end

--- Returns the number of terminal columns that a text takes.
local function width(text)
  if not text:find("[\x80-\xFF]") then return #text end
  if not state.has("display_width") then return utf8.len(text) or #text end
  return state.host("display_width")(text)
end

--- Aligns the columns of rows.
-- @tparam ?boolean is_whole whether to keep long cells unshortened
local function align(names, rows, is_whole)
  local widths, lines = {}, {}
  for index, name in ipairs(names) do widths[index] = width(name) end
  for _, row in ipairs(rows) do
    for index, text in ipairs(row.texts or {}) do
      row.texts[index] = is_whole and text or clip(text)
      widths[index] = math.max(widths[index] or 0, width(row.texts[index]))
    end
  end
  local function line(mark, texts, note)
    local parts = {}
    for index, text in ipairs(texts) do parts[index] = text .. (" "):rep(widths[index] - width(text)) end
    local joined = mark .. " " .. table.concat(parts, "  ")
    return note and joined .. "     " .. note or (joined:gsub("%s+$", ""))
  end
  lines[1] = line(" ", names)
  for _, row in ipairs(rows) do lines[#lines + 1] = row.texts and line(row.mark, row.texts, row.note) or row.text end
  return lines
end

local most_matching, around, most_shown = 16, 2, 100

--- Leaves out matching rows that are far from rows that do not match.
local function elide(rows)
  local is_near = {}
  for index, row in ipairs(rows) do
    if row.mark ~= " " then
      for near = index - around, index + around do is_near[near] = true end
    end
  end
  local kept, hidden = {}, 0
  local function note()
    if hidden > 0 then kept[#kept + 1] = { text = ("  ... %d row%s"):format(hidden, hidden == 1 and "" or "s") } end
    hidden = 0
  end
  for index, row in ipairs(rows) do
    if is_near[index] then
      note()
      kept[#kept + 1] = row
    else
      hidden = hidden + 1
    end
  end
  note()
  if #kept > most_shown then
    kept = table.move(kept, 1, most_shown, 1, { [most_shown + 1] = { text = ("  ... and more, of %d rows"):format(#rows) } })
  end
  return kept
end

--- Returns the differences between rows and a text table, as lines: `+` is missing, `-` is unexpected, `!` has other cells.
function scenario_rows.lines(comparison, found, order)
  local rows, is_same_bag = {}, false
  for index, pair in ipairs(found) do rows[index] = shown(comparison, pair, order) end
  if order == "ordered" and #comparison.table.rows == #comparison.source.items then
    local bag = { source = comparison.source, table = comparison.table, names = cells.copy_names(comparison.names) }
    is_same_bag = true
    for _, pair in ipairs(matching.in_any_order(bag)) do is_same_bag = is_same_bag and pair.is_match == true end
  end
  if #rows > most_matching then rows = elide(rows) end
  local lines = align(comparison.table.names, rows)
  if is_same_bag then lines[#lines + 1] = "  the rows are in another order; use rows_any_order to ignore it" end
  if comparison.is_undecided then
    lines[#lines + 1] = "  the names could stand for too many rows: not all of them were tried; write more cells without names"
  end
  if #comparison.source.items == 0 then lines[#lines + 1] = "  no rows" end
  return lines
end

--- Returns rows as an aligned text table.
-- @tparam ?boolean is_whole whether to keep long cells unshortened and show the types of their values, for snapshots
function scenario_rows.text(source, is_whole)
  local rows = {}
  for index, item in ipairs(source.items) do
    local texts = {}
    for column, name in ipairs(source.columns) do texts[column] = source.show(item, name, is_whole) end
    rows[index] = { mark = " ", texts = texts }
  end
  local lines = align(source.columns, rows, is_whole)
  for index, line in ipairs(lines) do lines[index] = line:sub(3) end
  return table.concat(lines, "\n")
end

return scenario_rows
