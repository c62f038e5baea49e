--- The SQL by which the row path writes records.

local record_description = require "perilune.records.description"
local sql_text = require "perilune.runtime.sql_text"

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

--- The columns that the database fills in, which are read back: positions. All of them if they are asked for.
local function returned(description, is_written, is_update, is_all)
  local positions = {}
  if not description.returns then return nil end
  for position, column in ipairs(description.columns) do
    local is_filled = column.has_default and not is_update and not is_written[column.name]
    if is_all or column.is_generated or is_filled then positions[#positions + 1] = position end
  end
  return #positions > 0 and positions or nil
end

local function returning(description, positions)
  if not positions then return "" end
  local names = {}
  for index, position in ipairs(positions) do names[index] = sql_text.name(description.columns[position].name) end
  return " RETURNING " .. table.concat(names, ", ")
end

local function insert_text(description, names, clause, rows)
  if #names == 0 then return ("INSERT%s INTO %s DEFAULT VALUES"):format(clause, description.source) end
  local row = "(" .. ("?, "):rep(#names - 1) .. "?)"
  return ("INSERT%s INTO %s (%s) VALUES %s"):format(clause, description.source, sql_text.names(names),
    row .. (", " .. row):rep(rows - 1))
end

local function update_text(description, names, clause)
  local assignments = {}
  for index, name in ipairs(names) do assignments[index] = sql_text.name(name) .. " = ?" end
  return ("UPDATE%s %s SET %s WHERE %s"):format(clause, description.source, table.concat(assignments, ", "),
    record_description.condition(description.key))
end

--- The text of an INSERT ("i") or UPDATE ("u") of some columns, and the positions of those that it returns.
-- @param ?clause a conflict clause: "OR IGNORE" after the first word, or "ON CONFLICT ..." at the end; "*" after it, or alone:
--   the whole row is returned
-- @param rows how many rows an INSERT has
local function write_sql(description, kind, names, clause, rows)
  local is_update, is_all = kind == "u", clause ~= nil and clause:sub(-1) == "*"
  if is_all then clause = clause ~= "*" and clause:sub(1, -2) or nil end
  local prefix = clause and clause:find("^OR ") and " " .. clause or ""
  local suffix = clause and prefix == "" and " " .. clause or ""
  local positions = returned(description, set_of(names), is_update, is_all)
  local text = (is_update and update_text or insert_text)(description, names, prefix, rows)
  return text .. suffix .. returning(description, positions), positions
end

return write_sql
