--- Changes as rows of text tables: `op`, `table`, `key`, and columns, whose cells may say `before -> after`.

local internal = ...
local cells = internal.load("scenario_cells")
local display = internal.load("scenario_display")
local text_table = internal.load("scenario_text_table")
local row_source = internal.load("scenario_row_source")

local scenario_changes = {}

local metatable = { __name = "changes" }

function metatable.__tostring(changes)
  if #changes == 0 then return "no changes" end
  local lines = {}
  for index, change in ipairs(changes) do
    local parts = {}
    for _, column in ipairs(scenario_changes.columns_of(change)) do
      parts[#parts + 1] = column .. ": " .. scenario_changes.show(change, column)
    end
    lines[index] = ("%s %s %s  %s"):format(change.op, change.table, scenario_changes.show(change, "key"), table.concat(parts, ", "))
  end
  return table.concat(lines, "\n")
end

--- Marks a list of the runner as changes.
function scenario_changes.mark(list)
  return setmetatable(list, metatable)
end

function scenario_changes.is(value)
  return type(value) == "table" and getmetatable(value) == metatable
end

local own = { op = true, table = true, key = true }

--- The columns of a change, by name.
function scenario_changes.columns_of(change)
  local set = {}
  for _, side in ipairs{ "before", "after" } do
    for column in pairs(change[side] or {}) do set[column] = true end
  end
  return display.keys(set)
end

local function key_text(key)
  if type(key) ~= "table" then return display.cell(key) end
  local parts = {}
  for _, column in ipairs(display.keys(key)) do parts[#parts + 1] = display.cell(key[column]) end
  return table.concat(parts, ", ")
end

--- What a change says of a column as a cell: nothing if the column did not change.
function scenario_changes.show(change, column)
  if column == "key" then return key_text(change.key) end
  if own[column] then return tostring(change[column]) end
  local before, after = change.before and change.before[column], change.after and change.after[column]
  if change.op == "insert" then return after == nil and "" or display.cell(after) end
  if change.op == "delete" then return before == nil and "" or display.cell(before) end
  if after == nil then return "" end
  return display.cell(before) .. " -> " .. display.cell(after)
end

--- Whether a cell says what became of a column. Without an arrow it says what there is after, or was before a deletion.
local function matches_column(cell, change, column, names)
  local before, after = change.before and change.before[column], change.after and change.after[column]
  local sides = cell.kind == "bare" and text_table.split(cell.text, "->") or { cell.raw }
  if cell.kind == "empty" then return change.op == "update" and after == nil end
  if #sides == 2 then
    if change.op ~= "update" or after == nil then return false end
    local left, right = text_table.cell("changes", sides[1]), text_table.cell("changes", sides[2])
    return cells.matches(left, before, names) and cells.matches(right, after, names)
  end
  local value = after
  if change.op == "delete" then value = before end
  -- A column that an update has left as it was is not in it.
  if value == nil then return false end
  return cells.matches(cell, value, names)
end

local function matches_key(cell, key, names)
  if type(key) ~= "table" then return cells.matches(cell, key, names) end
  if cell.kind == "any" then return true end
  local columns = display.keys(key)
  local parts = cell.kind == "bare" and text_table.split(cell.text, ",") or { cell.raw }
  if #parts ~= #columns then return false end
  for index, column in ipairs(columns) do
    if not cells.matches(text_table.cell("changes", parts[index]), key[column], names) then return false end
  end
  return true
end

--- The columns that tables of the changes have, in their order.
local function known_columns(changes)
  local names, seen, seen_tables = { "op", "table", "key" }, {}, {}
  for _, change in ipairs(changes) do
    local list = scenario_changes.columns_of(change)
    if not seen_tables[change.table] then
      seen_tables[change.table] = true
      local is_there, schema = pcall(internal.table_schema, internal.default_database(), change.table)
      for _, column in ipairs(is_there and schema.columns or {}) do list[#list + 1] = column.name end
    end
    for _, column in ipairs(list) do
      if not seen[column] then names[#names + 1], seen[column] = column, true end
    end
  end
  return names
end

--- The row source for changes; nil for other values.
local function source_of(changes)
  if not scenario_changes.is(changes) then return nil end
  local columns = known_columns(changes)
  return {
    items = changes, columns = columns, allows_empty = true,
    matches = function(cell, change, column, names)
      if column == "key" then return matches_key(cell, change.key, names) end
      if own[column] then return cells.matches(cell, change[column], names) end
      return matches_column(cell, change, column, names)
    end,
    show = scenario_changes.show,
    check = function(name)
      if #changes == 0 then return end
      for _, column in ipairs(columns) do
        if column == name then return end
      end
      internal.raise_unknown("column", name, columns)
    end,
  }
end

table.insert(row_source.makers, source_of)

return scenario_changes
