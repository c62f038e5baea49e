--- Sources of rows for comparisons: lists of rows, records or tables, requests, and changes. A *row source* is a table { items,
-- columns, known(name), value(item, column), matches(cell, item, column, names), show(item, column) }.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local native_rows = require "perilune.native.rows"
local marks = require "perilune.runtime.marks"
local perilune = require "perilune"
local stored_dates = require "perilune.runtime.stored_dates"
local state = require "scenarios.base.state"
local cells = lazily "scenarios.tables.cells"
local display = lazily "scenarios.reports.display"

local scenario_row_source = {}

--- Functions `maker(value)` that return the source for a special kind of list; nil for other values.
scenario_row_source.makers = {}

--- Returns the info of a record class; nil for anything else.
local function class_info(value)
  return native_records.model_of(value) and require("perilune.records.class").info(value)
end

local function is_row(value)
  return type(value) == "table" and (pcall(native_rows.columns, value))
end

local function is_record(value)
  return type(value) == "table" and native_records.class_of(value) ~= nil
end

--- Returns whether a value represents rows of the database: a request, or a record class for its whole table.
function scenario_row_source.is_request(value)
  return marks.is_request(value) or class_info(value) ~= nil
end

--- Returns the list for a value; nil for other values.
local function list_of(value)
  if scenario_row_source.is_request(value) then return value:fetch_all() end
  if type(value) ~= "table" then return nil end
  if is_row(value) or is_record(value) then return { value } end
  if getmetatable(value) == nil and next(value) ~= nil and value[1] == nil then return nil end
  return value
end

--- Returns the columns of an item in order; for a plain table, its list positions and its sorted names.
local function columns_of(item)
  if is_row(item) then return native_rows.columns(item) end
  if is_record(item) then
    local names, seen = {}, {}
    for _, column in ipairs(native_records.record_schema(item).columns) do
      names[#names + 1], seen[column.name] = column.name, true
    end
    for _, key in ipairs(display.keys(item)) do
      if type(key) == "string" and not seen[key] then names[#names + 1] = key end
    end
    return names
  end
  local names = {}
  for index = 1, #item do names[index] = tostring(index) end
  for _, key in ipairs(display.keys(item)) do
    if type(key) == "string" then names[#names + 1] = key end
  end
  return names
end

--- Returns the columns that at least one item has.
local function all_columns(items)
  local names, seen = {}, {}
  local is_uniform = items[1] ~= nil and (is_row(items[1]) or is_record(items[1]))
  for index, item in ipairs(items) do
    if index > 1 and is_uniform and is_row(item) then break end
    for _, name in ipairs(columns_of(item)) do
      if not seen[name] then names[#names + 1], seen[name] = name, true end
    end
  end
  return names
end

--- Returns the value of a column. Rows contain BLOBs as strings, which are converted back to BLOBs.
local function value_of(item, column)
  -- The rows of a list may come from different statements and have different columns.
  if is_row(item) and not perilune.row.has(item, column) then return nil end
  local value = item[column]
  local position = value == nil and tonumber(column)
  if position and not is_row(item) and not is_record(item) then value = item[position] end
  local blobs = type(value) == "string" and is_row(item) and native_rows.blobs(item)
  if not blobs then return value end
  for index, name in ipairs(native_rows.columns(item)) do
    if name == column then return blobs:sub(index, index) == "b" and perilune.blob(value) or value end
  end
end

local function check_items(what, items)
  for index, item in ipairs(items) do
    if type(item) ~= "table" then
      state.mistake("%s: expected rows, got %s at position %d", what, errors.describe(item), index)
    end
  end
end

--- Returns the columns of the rows that a request would return, with a statement; nil if the statement fails.
local function columns_of_request(request)
  local is_found, row = pcall(function()
    local sql, arguments = request:sql()
    local found = 'SELECT "found".* FROM (SELECT 1) LEFT JOIN (' .. sql .. ') AS "found" ON 0'
    return native_records.default_database():fetch_one(found, table.unpack(arguments, 1, arguments.n))
  end)
  return is_found and native_rows.columns(row) or nil
end

--- Raises for a heading that is not a column of a request or class without rows. A name of an association is accepted.
local function check_without_rows(value, name)
  if not scenario_row_source.is_request(value) then return end
  local request = marks.is_request(value) and value or value:all()
  local source, is_selected = request.node.root.source, request.node.is_result
  local node = request.node
  while node do
    is_selected, node = is_selected or node.op == "select", node.parent
  end
  if not is_selected and source:column_named(name, request.node.alias) then return end
  local has_member, member = pcall(function() return source.class[name] end)
  if has_member and marks.is_association(member) then return end
  local names = columns_of_request(request)
  for _, column in ipairs(names or {}) do
    if column == name then return end
  end
  if names then errors.raise_unknown("column", name, names) end
end

--- Returns the source for a value.
-- @tparam string what the caller, for messages
function scenario_row_source.of(what, value)
  for _, maker in ipairs(scenario_row_source.makers) do
    local source = maker(value)
    if source then return source end
  end
  local items = list_of(value)
  if not items then
    state.mistake("%s: expected rows (a list, a request, changes), got %s%s", what,
      type(value) == "table" and display.show(value) or errors.describe(value),
      type(value) == "string" and "; use expect(t.db:fetch_all(sql)) for SQL" or "")
  end
  check_items(what, items)
  local source = { items = items, columns = all_columns(items), what = "column" }
  function source.value(item, column) return value_of(item, column) end
  function source.matches(cell, item, column, names)
    local value = source.value(item, column)
    if cell.kind == "now" then value = stored_dates.in_fields_of(item)(column, value) end
    return cells.matches(cell, value, names, is_row(item))
  end
  function source.show(item, column, is_exact)
    return display.cell(stored_dates.in_fields_of(item)(column, source.value(item, column)), is_exact)
  end
  --- Raises for a heading that does not match a column of any row. The columns of a list without rows are unknown.
  function source.check(name)
    if #items == 0 then return check_without_rows(value, name) end
    for _, column in ipairs(source.columns) do
      if column == name then return end
    end
    errors.raise_unknown("column", name, source.columns)
  end
  return source
end

--- Returns the number of elements of a list, a request or changes.
function scenario_row_source.count(what, value)
  for _, maker in ipairs(scenario_row_source.makers) do
    local source = maker(value)
    if source then return #source.items end
  end
  if scenario_row_source.is_request(value) then return value:fetch_count() end
  if type(value) == "string" then return utf8.len(value) or #value end
  if type(value) == "table" and (is_row(value) or is_record(value)) then return 1 end
  if type(value) ~= "table" then
    state.mistake("%s: expected a list, a request or changes, got %s", what, errors.describe(value))
  end
  if #value > 0 then return #value end
  local count = 0
  for _ in next, value do count = count + 1 end
  return count
end

return scenario_row_source
