--- Describes values for the terminal. This module decides what to show; Swift draws it.
--
-- A description is a table with `kind`:
-- `text` (`text`, and `type` for its color), `rows` (`columns`, `head` and `tail`: lists of cells, `count`, `title`, `note`, `is_single`),
-- `request` (like `rows`, with `sql`), `outcome` (`text`; not shown for code on the command line).
-- A cell is nil, a boolean, a number, a string, or { blob = bytes }.

local native_rows = require "perilune.native.rows"
local native_values = require "perilune.native.values"
local native_records = require "perilune.native.records"
local marks = require "perilune.runtime.marks"
local stored_dates = require "perilune.runtime.stored_dates"
local value_text = require "perilune.runtime.value_text"
local statements = require "console.statements"
local record_class = lazily "perilune.records.class"

local display = {}

-- Values in text -----------------------------------------------------------------------------------------------------------

local most_depth, most_fields = 4, 40

local function is_name(key)
  return type(key) == "string" and key:match("^[%a_][%w_]*$") ~= nil
end

local literal

local function sorted_keys(value, length)
  local keys = {}
  for key in next, value do
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(left, right)
    local left_type, right_type = type(left), type(right)
    if left_type ~= right_type then return left_type < right_type end
    if left_type == "number" or left_type == "string" then return left < right end
    return tostring(left) < tostring(right)
  end)
  return keys
end

local function table_literal(value, depth, seen)
  if seen[value] then return "<itself>" end
  if depth > most_depth then return "{...}" end
  seen[value] = true
  local parts, length = {}, #value
  for index = 1, math.min(length, most_fields) do parts[index] = literal(value[index], depth + 1, seen) end
  if length > most_fields then parts[#parts + 1] = "... " .. (length - most_fields) .. " more" end
  local keys = sorted_keys(value, length)
  for index, key in ipairs(keys) do
    if index > most_fields then
      parts[#parts + 1] = "... " .. (#keys - most_fields) .. " more"
      break
    end
    local name = is_name(key) and key or "[" .. literal(key, depth + 1, seen) .. "]"
    parts[#parts + 1] = name .. " = " .. literal(value[key], depth + 1, seen)
  end
  seen[value] = nil
  local line = table.concat(parts, ", ")
  if #line <= 100 and not line:find("\n", 1, true) then return "{" .. line .. "}" end
  local indent = ("  "):rep(depth)
  return "{\n" .. indent .. table.concat(parts, ",\n" .. indent) .. "\n" .. ("  "):rep(depth - 1) .. "}"
end

function literal(value, depth, seen)
  local kind = type(value)
  if kind == "string" then return value_text.quoted(value) end
  if kind == "number" then return value_text.number(value) end
  if kind == "table" and getmetatable(value) == nil then return table_literal(value, depth, seen) end
  return tostring(value)
end

--- Returns the text of a nested value.
local function short(value)
  if type(value) == "table" and getmetatable(value) == nil then
    return (literal(value, 1, {}):gsub("\n%s*", " "))
  end
  return type(value) == "number" and value_text.number(value) or tostring(value)
end

local function count_text(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

--- Returns whether a value is a result of `execute`.
local function is_outcome(value)
  return type(value) == "userdata" and tostring(value):match("^{changed_rows = %d+") ~= nil
end

local function outcome_text(outcome)
  return count_text(outcome.changed_rows or 0, "row") .. " changed"
end

--- The kinds of handles. Functions return them for further calls, as in `io.write("a"):write("b")`, so they are rarely worth showing.
local handles = { timer = true, task = true, observation = true, schedule = true, ["job handler"] = true }
local type_of_file = io and io.type

local function is_handle(value)
  return handles[getmetatable(value)] or type_of_file and type_of_file(value) ~= nil
end

-- Rows and records ---------------------------------------------------------------------------------------------------------

local function cell(value)
  local kind = type(value)
  if kind == "nil" or kind == "boolean" or kind == "number" or kind == "string" then return value end
  if value == native_values.null then return nil end
  if is_outcome(value) then return outcome_text(value) end
  if native_values.is_blob(value) then return { blob = tostring(value) } end
  if kind == "table" and native_records.class_of(value[1]) then
    return count_text(#value, "record")
  end
  return short(value)
end

local function row_cells(row, columns)
  local cells, blobs = {}, native_rows.blobs(row)
  for index = 1, #columns do
    local value = row[index]
    cells[index] = blobs and value ~= nil and blobs:sub(index, index) == "b" and { blob = value } or cell(value)
  end
  return cells
end

local function field_cells(value, columns)
  local cells, in_stored_form = {}, stored_dates.in_fields_of(value)
  for index, name in ipairs(columns) do cells[index] = cell(in_stored_form(name, value[name])) end
  return cells
end

local function is_row(value) return type(value) == "table" and native_records.is_row(value) end
local function is_record(value) return type(value) == "table" and native_records.class_of(value) ~= nil end

--- Returns the fields of a record besides its columns: associated records and computed fields.
local function record_columns(record)
  local _, fields = native_records.record_schema(record)
  return fields
end

--- Returns the columns of a value that is a row or a record, and the function that reads its cells.
local function shape_of(value)
  if is_row(value) then return native_rows.columns(value), row_cells end
  if is_record(value) then return record_columns(value), field_cells end
end

--- Describes a list of rows: all columns, and the rows to show.
local function describe_list(list, columns, read, head, tail)
  local count = #list
  local result = { kind = "rows", columns = columns, head = {}, tail = {}, count = count }
  if count <= head + tail then head, tail = count, 0 end
  for index = 1, head do result.head[index] = read(list[index], columns) end
  for index = count - tail + 1, count do result.tail[#result.tail + 1] = read(list[index], columns) end
  return result
end

--- Returns how to show a list as a table: its columns and how to read their values. All elements must be rows or records with the same
-- columns, or tables of named scalars.
local function list_shape(list)
  local first = list[1]
  local columns, read = shape_of(first)
  if columns then
    for index = 2, math.min(#list, 50) do
      if not shape_of(list[index]) then return nil end
    end
    return columns, read
  end
  if #list < 2 or type(first) ~= "table" or getmetatable(first) ~= nil then return nil end
  local seen = {}
  columns = {}
  for index = 1, math.min(#list, 50) do
    local element = list[index]
    if type(element) ~= "table" or getmetatable(element) ~= nil or #element > 0 then return nil end
    for _, key in ipairs(sorted_keys(element, 0)) do
      if not is_name(key) or type(element[key]) == "function" then return nil end
      if not seen[key] then seen[key], columns[#columns + 1] = true, key end
    end
  end
  return #columns > 0 and columns or nil, field_cells
end

-- Requests and classes -------------------------------------------------------------------------------------------------------

local request_rows = 20

--- Returns the first rows of a request, and whether there are more.
local function first_rows(request, request_rows)
  local list = {}
  local is_cursor, cursor, state, control, closing = pcall(request.rows, request)
  if not is_cursor then
    list = request:fetch_all()
    local count = #list
    for index = #list, request_rows + 1, -1 do list[index] = nil end
    return list, count > request_rows
  end
  for value in cursor, state, control, closing do
    if #list == request_rows then return list, true end
    list[#list + 1] = value
  end
  return list, false
end

local function describe_request(request, wanted)
  -- A number of rows above 1,000,000 means that all rows are wanted.
  local most = wanted > 1000000 and wanted or request_rows
  local list, has_more = first_rows(request, most)
  local columns, read
  if list[1] ~= nil then columns, read = list_shape(list) end
  if not columns then
    local sql = request:sql()
    columns, read = _G.db:prepare(sql):columns(), row_cells
    list = {}
  end
  local result = describe_list(list, columns, read, most, 0)
  result.kind, result.sql = "request", tostring(request)
  if has_more then result.note = ("the first %d rows; :fetch_all() fetches all"):format(most) end
  return result
end

local function column_notes(column, keys)
  local notes = {}
  if column.primary_key then notes[#notes + 1] = "key" end
  if column.not_null and not column.primary_key then notes[#notes + 1] = "not null" end
  if column.generated then notes[#notes + 1] = "generated" end
  if column.default then notes[#notes + 1] = "default " .. column.default end
  for _, key in ipairs(keys) do
    for index, name in ipairs(key.columns) do
      if name:lower() == column.name:lower() then
        local other = key.referenced_columns[index]
        notes[#notes + 1] = "→ " .. key.table .. (other and "." .. other or "")
      end
    end
  end
  return table.concat(notes, ", ")
end

local function association_names(info)
  local names = {}
  for name in next, info.associations or {} do names[#names + 1] = tostring(name) end
  table.sort(names)
  return names
end

local function describe_class(class)
  local info, db = record_class.info(class), _G.db
  local is_known, columns = pcall(db.columns, db, info.table)
  if not is_known then return { kind = "text", text = tostring(class), type = "value" } end
  local keys, rows = db:foreign_keys(info.table), {}
  for _, column in ipairs(columns) do
    if not column.hidden then rows[#rows + 1] = { column.name, column.type, column_notes(column, keys) } end
  end
  local result = {
    kind = "rows", columns = { "column", "type", "" }, head = rows, tail = {}, count = #rows, hides_count = true,
    title = tostring(class) .. " · " .. count_text(class:fetch_count(), "row"),
  }
  local names = association_names(info)
  if #names > 0 then result.note = "associations: " .. table.concat(names, ", ") end
  return result
end

--- Returns a value that is shown as a table: rows are tables with the column names as fields.
function display.table(columns, rows)
  return setmetatable(rows, { __name = "rows", shown_columns = columns })
end

-- Any value ------------------------------------------------------------------------------------------------------------------

local function text(value, kind)
  return { kind = "text", text = value, type = kind }
end

local function describe_table(value, head, tail)
  local own = getmetatable(value)
  if type(own) == "table" and own.shown_columns then return describe_list(value, own.shown_columns, field_cells, head, tail) end
  local columns, is_cut = statements.columns(value)
  if columns then
    local result = describe_list(value, columns, row_cells, head, tail)
    if is_cut then result.note = ("the first %d rows; use LIMIT or a condition to choose others"):format(#value) end
    return result
  end
  if marks.is_request(value) then return describe_request(value, head) end
  if record_class.info(value) then return describe_class(value) end
  local read
  columns, read = shape_of(value)
  if columns then
    local result = describe_list({ value }, columns, read, 1, 0)
    result.is_single = true
    return result
  end
  local metatable = getmetatable(value)
  if metatable == nil or type(metatable) == "table" and metatable.__name == "list of records" or metatable == false then
    local is_list, found, reader = pcall(list_shape, value)
    if is_list and found then return describe_list(value, found, reader, head, tail) end
  end
  if metatable == nil then
    return text(literal(value, 1, {}), "value")
  end
  return text(tostring(value), "value")
end

local function describe_one(value, head, tail)
  local kind = type(value)
  if kind == "number" then return text(value_text.number(value), kind) end
  if kind == "nil" or kind == "boolean" then return text(tostring(value), kind) end
  if kind == "string" then return text(value, "string") end
  if is_handle(value) then return { kind = "outcome", text = tostring(value) } end
  if kind == "table" then return describe_table(value, head, tail) end
  if is_outcome(value) then return { kind = "outcome", text = outcome_text(value) } end
  if native_values.is_blob(value) then return { kind = "rows", columns = { "blob" }, head = { { { blob = tostring(value) } } }, tail = {}, count = 1, is_single = true } end
  if native_records.is_database(value) then
    return text(tostring(value) .. ": " .. table.concat(value:tables(), ", "), "value")
  end
  return text(tostring(value), "value")
end

--- Describes values.
function display.describe(head, tail, ...)
  local list = {}
  for index = 1, select("#", ...) do list[index] = describe_one((select(index, ...)), head, tail) end
  return list
end

return display
