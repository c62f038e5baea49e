--- The SQL for writing one record, both for statements that run and for statements as values.

local record_description = require "perilune.records.description"
local record_fields = require "perilune.records.fields"
local sql_names = require "perilune.runtime.names"

local record_sql = {}

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

--- Returns the list of values for an INSERT: for each column, the SQL given for it, or a parameter.
local function values_of(names, texts)
  if not texts then return ("?, "):rep(#names - 1) .. "?" end
  local parts = {}
  for index, name in ipairs(names) do parts[index] = texts[name] or "?" end
  return table.concat(parts, ", ")
end

--- If the table itself is named `excluded`, it gets an alias, because this word would otherwise refer to the existing row.
local function alias(description, clause)
  return clause:find("^ ON ") and sql_names.fold(description.table) == "excluded" and " AS perilune_target" or ""
end

local function insert_text(description, names, policy, clause, rows, texts)
  local into = ("INSERT%s INTO %s%s"):format(policy, description.source, alias(description, clause))
  if #names == 0 then return into .. " DEFAULT VALUES" .. clause end
  local row = "(" .. values_of(names, texts) .. ")"
  return ("%s (%s) VALUES %s%s"):format(into, record_fields.sql_names(description, names), row .. (", " .. row):rep(rows - 1), clause)
end

local function update_text(description, names, policy, texts)
  local assignments = {}
  for index, name in ipairs(names) do
    assignments[index] = record_fields.sql_name(description, name) .. " = " .. (texts and texts[name] or "?")
  end
  return ("UPDATE%s %s SET %s WHERE %s"):format(policy, description.source, table.concat(assignments, ", "),
    record_description.condition(description, description.key))
end

--- Returns the SQL of a write. Its parameters are the values of the columns, followed by the values of the key for UPDATE and DELETE.
-- @tparam string verb "insert", "update" or "delete"
-- @tparam {string,...} names the columns to write
-- @tparam ?string clause "OR IGNORE", for example, which follows the first word; or "ON CONFLICT ...", at the end of the statement
-- @tparam ?{string,...} returning the columns to return
-- @tparam ?integer rows the number of rows of an INSERT; one by default
-- @tparam ?{[string]=string} texts SQL that replaces the parameters of columns
function record_sql.text(description, verb, names, clause, returning, rows, texts)
  local is_policy = clause and clause:find("^OR ")
  local policy, ending = is_policy and " " .. clause or "", clause and not is_policy and " " .. clause or ""
  local text = verb == "insert" and insert_text(description, names, policy, ending, rows or 1, texts)
    or verb == "update" and update_text(description, names, policy, texts) or description.delete
  return returning and text .. " RETURNING " .. record_fields.sql_results(description, returning) or text
end

--- Returns the positions of the columns to read back, which the database fills in, or of all columns on request.
local function returned(description, is_written, verb, clause, is_all)
  local positions = {}
  if not description.returns then return nil end
  local is_replacing = clause ~= nil and clause:find("^OR REPLACE") ~= nil
  for position, column in ipairs(description.columns) do
    local is_filled = verb ~= "delete" and column.is_generated
      or verb == "insert" and column.has_default and not is_written[column.name]
      or is_replacing and column.replaces_null and is_written[column.name]
    if is_all or is_filled then positions[#positions + 1] = position end
  end
  return #positions > 0 and positions or nil
end

local verbs = { i = "insert", u = "update", d = "delete" }

--- Returns the SQL that the row path executes, an INSERT ("i"), UPDATE ("u") or DELETE ("d"), and the positions of the columns that
-- it returns.
-- @param ?clause as in `text`; a "*" after it, or alone, returns the whole row
function record_sql.write(description, kind, names, clause, rows)
  local verb, is_all = verbs[kind], clause ~= nil and clause:sub(-1) == "*"
  if is_all then clause = clause ~= "*" and clause:sub(1, -2) or nil end
  local positions, returning = returned(description, set_of(names), verb, clause, is_all), nil
  if positions then
    returning = {}
    for index, position in ipairs(positions) do returning[index] = description.columns[position].name end
  end
  return record_sql.text(description, verb, names, clause, returning, rows), positions
end

return record_sql
