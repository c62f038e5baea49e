--- Changes as rows of text tables: `op`, `table`, `key` and columns, whose cells may be `before -> after`.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local cells = lazily "scenarios.tables.cells"
local display = lazily "scenarios.reports.display"
local text_table = lazily "scenarios.tables.text_table"
local row_source = require "scenarios.tables.row_source"

local scenario_changes = {}

local metatable = { __name = "changes" }

--- Returns the columns of a change: the changed columns of an updated row, or all columns of an inserted or deleted row.
local function columns_of(change)
  return change.op == "update" and change.changed or change.columns
end

--- Describes which written rows cannot be listed, and why; returns nil if all of them can.
local function of_unrecorded(changes)
  local reasons = changes.unrecorded
  if reasons and #reasons > 0 then return "changed rows cannot be listed: " .. table.concat(reasons, "; ") end
end

function metatable.__tostring(changes)
  local unrecorded = of_unrecorded(changes)
  if #changes == 0 then return unrecorded or "no changes" end
  local lines = {}
  for index, change in ipairs(changes) do
    local parts = {}
    for _, column in ipairs(columns_of(change)) do
      parts[#parts + 1] = column .. ": " .. scenario_changes.show(change, column)
    end
    local key = scenario_changes.show(change, "key")
    lines[index] = ("%s %s %s  %s"):format(change.op, change.table, key, table.concat(parts, ", "))
  end
  lines[#lines + 1] = unrecorded
  return table.concat(lines, "\n")
end

--- Raises for a named field, because the value is a list of changes.
function metatable.__index(_, name)
  if type(name) ~= "string" or name == "unrecorded" or name == "n" then return nil end
  errors.raise("unknown_member", ("a list of changes has no field `%s`; use #changes, changes[1].op, changes[1].table and changes[1].key, or "
    .. "expect(changes):rows[[ ... ]]"):format(name), { name = name })
end

--- Marks a list from the runner as changes.
function scenario_changes.mark(list)
  return setmetatable(list, metatable)
end

function scenario_changes.is(value)
  return type(value) == "table" and getmetatable(value) == metatable
end

local own = { op = true, table = true, key = true }

local function contains(list, name)
  for _, item in ipairs(list) do
    if item == name then return true end
  end
  return false
end

local function is_changed(change, column)
  return contains(change.changed or {}, column)
end

local function key_text(key, is_exact)
  local parts = {}
  for index = 1, #key do parts[index] = display.cell(key[index], is_exact) end
  return table.concat(parts, ", ")
end

--- Returns the cell for a column of a change.
-- @tparam ?boolean is_exact see display.cell
function scenario_changes.show(change, column, is_exact)
  if column == "key" then return key_text(change.key, is_exact) end
  if own[column] then return tostring(change[column]) end
  if not contains(change.columns, column) then return "" end
  local before, after = change.before and change.before[column], change.after and change.after[column]
  if change.op == "delete" then return display.cell(before, is_exact) end
  if not is_changed(change, column) then return display.cell(after, is_exact) end
  return display.cell(before, is_exact) .. " -> " .. display.cell(after, is_exact)
end

--- Returns whether a cell matches the change of a column. A cell without an arrow contains the value after the change; for a deletion, the
-- value before it. An empty cell matches an unchanged column, and a column that the table does not have. Values before an insertion and after
-- a deletion are NULL.
local function matches_column(cell, change, column, names)
  local before, after = change.before and change.before[column], change.after and change.after[column]
  if cell.kind == "empty" then return change.op == "update" and not is_changed(change, column) or not contains(change.columns, column) end
  local sides = cell.kind == "bare" and text_table.split(cell.text, "->") or {}
  if #sides == 2 then
    if change.op == "update" and not is_changed(change, column) then return false end
    local left, right = text_table.cell("changes", sides[1]), text_table.cell("changes", sides[2])
    return cells.matches(left, before, names, true) and cells.matches(right, after, names, true)
  end
  if change.op == "delete" then return cells.matches(cell, before, names, true) end
  return cells.matches(cell, after, names, true)
end

local function matches_key(cell, key, names)
  if #key == 1 then return cells.matches(cell, key[1], names, true) end
  if cell.kind == "any" then return true end
  local parts = cell.kind == "bare" and text_table.split(cell.text, ",") or {}
  if #parts ~= #key then return false end
  for index, part in ipairs(parts) do
    if not cells.matches(text_table.cell("changes", part), key[index], names, true) then return false end
  end
  return true
end

--- Returns the columns that tables of the changes have, in order.
local function known_columns(changes)
  local names, seen = { "op", "table", "key" }, {}
  for _, change in ipairs(changes) do
    for _, column in ipairs(change.columns) do
      if not seen[column] then names[#names + 1], seen[column] = column, true end
    end
  end
  return names
end

--- Raises for a heading that is neither a property of changes nor a column of any table.
local function check_without_changes(name)
  if own[name] then return end
  local names, seen = { "op", "table", "key" }, {}
  local columns = native_records.default_database():fetch_values(
    "SELECT info.name FROM pragma_table_list AS list JOIN pragma_table_xinfo(list.name, list.schema) AS info WHERE list.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
  for _, column in ipairs(columns) do
    if column == name then return end
    if not seen[column] then names[#names + 1], seen[column] = column, true end
  end
  errors.raise_unknown("column", name, names)
end

--- Raises if rows were written that cannot be listed.
local function check_recorded(changes)
  local unrecorded = of_unrecorded(changes)
  if unrecorded then errors.raise("usage", "changes: " .. unrecorded) end
end

--- Returns the text of a cell in the column `op` or `table` of a row; nil if the row does not determine it.
local function own_text(row, names, wanted)
  for position, name in ipairs(names) do
    local cell = row[position]
    if name == wanted and cell and (cell.kind == "bare" or cell.kind == "text") then return cell.text end
  end
end

--- Returns whether the rows of a table in the changes have a column. Without the name of a table, returns true.
local function is_column_of(changes, table_name, column)
  for _, change in ipairs(changes) do
    if change.table == table_name then return contains(change.columns, column) end
  end
  return table_name == nil
end

--- Returns the function that determines whether an empty cell can match: only an update leaves columns unchanged, and a row has no column
-- of another table.
local function make_allows_empty(changes)
  return function(row, names, index)
    if own[names[index]] then return true end
    local op = own_text(row, names, "op")
    if op ~= "insert" and op ~= "delete" then return true end
    return not is_column_of(changes, own_text(row, names, "table"), names[index])
  end
end

--- Returns the row source for changes; nil for other values.
local function source_of(changes)
  if not scenario_changes.is(changes) then return nil end
  check_recorded(changes)
  local columns = known_columns(changes)
  return {
    items = changes, columns = columns, allows_empty = make_allows_empty(changes),
    matches = function(cell, change, column, names)
      if column == "key" then return matches_key(cell, change.key, names) end
      if own[column] then return cells.matches(cell, change[column], names) end
      return matches_column(cell, change, column, names)
    end,
    show = scenario_changes.show,
    check = function(name)
      if #changes == 0 then return check_without_changes(name) end
      for _, column in ipairs(columns) do
        if column == name then return end
      end
      errors.raise_unknown("column", name, columns)
    end,
  }
end

table.insert(row_source.makers, source_of)

return scenario_changes
