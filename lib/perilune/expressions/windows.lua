--- Window functions, and aggregates over rows in a given order.
--
--     Book.c.pages:sum():over{ partition_by = "author_id", order_by = "year" }             -- a running total
--     perilune.rank():over{ order_by = Book.c.pages:desc() }
--     Book.c.pages:average():over{ order_by = "year", frame = { rows = { -2, 0 } } }       -- of this row and the two before it
--     Book.c.title:group_concat(", "):order("year")
--
-- A frame selects rows relative to the current row, by `rows`, `range` or `groups`. A bound is a negative number for rows before the
-- current row, 0 for the current row, a positive number for rows after it, or "unbounded". `exclude` omits some of these rows.

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local operators = require "perilune.expressions.operators"
local constructors = require "perilune.expressions.constructors"
local raise = errors.raise
local list_operation, join_all, shape_of_list = operators.list_operation, operators.join_all, operators.shape_of_list

--- The functions that scripts call.
local public = {}

-- Lists of columns ----------------------------------------------------------------------------------------------------------

--- Reads one element of a list of columns: a name, SQL text, or an expression.
local function read_term(place, term)
  if marks.is_expression(term) then return term end
  if type(term) == "string" and term ~= "" then
    if term:match("^[%a_][%w_]*$") then return constructors.name(term) end
    return constructors.sql(term, { n = 0 }, place)
  end
  raise("argument", place .. ": expected a column (its name, or an expression) or a list of columns, got " .. errors.describe(term))
end

--- Adds a single column or a list of columns to the parts of an operation.
-- @return the number of columns
local function add_terms(place, given, parts)
  if given == nil then return 0 end
  local list = type(given) == "table" and getmetatable(given) == nil and given or { given }
  if #list == 0 then raise("argument", place .. ": the list is empty") end
  for key in next, list do
    if math.type(key) ~= "integer" or key < 1 or key > #list then
      raise("argument", place .. ": expected a list of columns, got a field " .. errors.describe(key))
    end
  end
  for index = 1, #list do
    parts.n = parts.n + 1
    parts[parts.n] = read_term(place, list[index])
  end
  return #list
end

-- Frames --------------------------------------------------------------------------------------------------------------------

local units = { "rows", "range", "groups" }
local exclusions = {
  current_row = "CURRENT ROW", group = "GROUP", ties = "TIES", no_others = "NO OTHERS",
}

local function check_bound(place, unit, value)
  if value == "unbounded" then return end
  local is_number = unit == "range" and type(value) == "number" and value == value and math.abs(value) < math.huge
  if is_number or math.type(value) == "integer" then return end
  raise("argument", ("%s: frame: %s: expected %s, 0 for the current row, or \"unbounded\" as a bound, got %s"):format(place,
    unit, unit == "range" and "a number" or "an integer", errors.describe(value)))
end

--- Returns the SQL for a bound of a frame.
local function bound_text(value, unbounded)
  if value == "unbounded" then return "UNBOUNDED " .. unbounded end
  if value == 0 then return "CURRENT ROW" end
  local distance = math.type(value) == "integer" and ("%d"):format(math.abs(value)) or ("%.17g"):format(math.abs(value))
  return distance .. (value < 0 and " PRECEDING" or " FOLLOWING")
end

local function frame_unit(place, frame)
  local unit
  for _, name in ipairs(units) do
    if frame[name] ~= nil then
      if unit then raise("argument", ("%s: frame: %s and %s cannot be combined"):format(place, unit, name)) end
      unit = name
    end
  end
  return unit or raise("argument", place .. ": frame: expected one of rows, range and groups with its bounds, such as { rows = { -2, 0 } }")
end

--- Returns the SQL for a frame.
-- @tparam integer order_count the number of terms in the order; nil if the order is SQL text
local function read_frame(place, frame, order_count)
  if type(frame) ~= "table" or getmetatable(frame) ~= nil then
    raise("argument", place .. ": frame: expected { rows = { from, to } }, got " .. errors.describe(frame))
  end
  checks.option_names(place .. ": frame", frame, { rows = true, range = true, groups = true, exclude = true })
  local unit = frame_unit(place, frame)
  local bounds = frame[unit]
  if type(bounds) ~= "table" or #bounds ~= 2 then
    raise("argument", ("%s: frame: %s: expected a list of two bounds, got %s"):format(place, unit,
      type(bounds) == "table" and "one of " .. #bounds or errors.describe(bounds)))
  end
  local from, to = bounds[1], bounds[2]
  check_bound(place, unit, from)
  check_bound(place, unit, to)
  if from ~= "unbounded" and to ~= "unbounded" and from > to then
    raise("argument", ("%s: frame: the end comes before the start: from %s to %s"):format(place, from, to))
  end
  local has_distance = from ~= "unbounded" and from ~= 0 or to ~= "unbounded" and to ~= 0
  if unit == "range" and has_distance and order_count and order_count ~= 1 then
    raise("argument", place .. ": frame: range requires exactly one column in order_by, which has " .. order_count)
  elseif unit == "groups" and order_count == 0 then
    raise("argument", place .. ": frame: groups requires order_by")
  end
  local exclusion = frame.exclude
  if exclusion ~= nil and not exclusions[exclusion] then
    errors.raise_unknown("exclusion", tostring(exclusion), { "current_row", "group", "ties", "no_others" })
  end
  return ("%s BETWEEN %s AND %s%s"):format(unit:upper(), bound_text(from, "PRECEDING"), bound_text(to, "FOLLOWING"),
    exclusion and " EXCLUDE " .. exclusions[exclusion] or "")
end

-- Windows -------------------------------------------------------------------------------------------------------------------

local functions = { call = true, filter = true, ["count all"] = true, ["distinct call"] = true, ordered = true }

--- Returns the value of an aggregate, or of a function such as rank, over a window of rows around each row.
-- @tparam ?table|string window `partition_by`, `order_by`: a column or a list of columns; `frame`; or the whole window as SQL text
function public:over(window, surplus)
  local place = "expression:over"
  if surplus ~= nil then arity.refuse("column:over", 1, surplus) end
  if type(window) == "string" and window:find("^%s*[%a_][%w_]*%s*$") then
    raise("argument", ("%s: %q is not a window; use over{ order_by = %q }, or { partition_by = %q }"):format(place, window, window, window))
  end
  if type(window) == "string" then return operators.unary(self, "over", window) end
  if window == nil then window = {} end
  if type(window) ~= "table" or getmetatable(window) ~= nil then
    raise("argument", place .. ": argument 1: expected { partition_by = ..., order_by = ..., frame = ... } or SQL text, got "
      .. errors.describe(window))
  elseif not functions[self.shape.op] then
    raise("argument", place .. ": expected an aggregate or a function such as perilune.rank() before the colon, as in column:sum():over{...}")
  end
  checks.option_names(place, window, { partition_by = true, order_by = true, frame = true }, "window_option")
  local parts = { self, n = 1 }
  local partition_count = add_terms(place .. ": partition_by", window.partition_by, parts)
  local order_count = add_terms(place .. ": order_by", window.order_by, parts)
  local has_text = false
  for index = partition_count + 2, parts.n do has_text = has_text or parts[index].shape.op == "sql" end
  local frame = window.frame ~= nil and read_frame(place, window.frame, not has_text and order_count or nil) or ""
  return list_operation("window", partition_count .. " " .. frame, parts, place)
end

--- Sets the order in which an aggregate processes its rows, for group_concat and json_group_array.
function public:order(...)
  if select("#", ...) == 0 then raise("argument", "aggregate:order: expected at least one column") end
  local parts = { self, n = 1 }
  for index = 1, select("#", ...) do add_terms("aggregate:order", (select(index, ...)), parts) end
  return list_operation("ordered", nil, parts, "aggregate:order")
end

--- Restricts an aggregate to distinct values.
function public:distinct(surplus)
  if surplus ~= nil then arity.refuse("column:distinct", 0, surplus) end
  if self.shape.op ~= "call" then
    raise("argument", "aggregate:distinct: expected an aggregate before the colon, as in column:sum():distinct()")
  end
  return join_all(shape_of_list("distinct call", self.shape.operands, self.shape.detail), { self })
end

-- Functions that require a window ---------------------------------------------------------------------------------------------

for _, name in ipairs{ "row_number", "rank", "dense_rank", "percent_rank", "cume_dist" } do
  public[name] = function()
    return list_operation("call", name, { n = 0 }, "perilune." .. name)
  end
end

local function check_count(place, position, value, least)
  if math.type(value) == "integer" and value >= least then return value end
  raise("argument", ("%s: argument %d: expected an integer of at least %d, got %s"):format(place, position, least,
    errors.describe(value)))
end

--- Divides the rows into `count` groups of nearly equal size, and returns the number of the group that contains the current row.
function public.ntile(count)
  return list_operation("call", "ntile", { check_count("perilune.ntile", 1, count, 1), n = 1 }, "perilune.ntile")
end

--- Return the value of the expression in a row before (lag) or after (lead) the current row.
-- @tparam ?integer distance 1 by default
-- @param default the value if there is no such row; NULL by default
for _, name in ipairs{ "lag", "lead" } do
  local place = "column:" .. name
  public[name] = function(self, distance, default, surplus)
    if surplus ~= nil then arity.refuse(place, 2, surplus) end
    local parts = { self, check_count(place, 1, distance == nil and 1 or distance, 0), n = 2 }
    if default ~= nil then parts[3], parts.n = operators.as_column(self.shape, default), 3 end
    return list_operation("call", name, parts, place)
  end
end

for _, name in ipairs{ "first_value", "last_value" } do
  public[name] = function(self, surplus)
    if surplus ~= nil then arity.refuse("column:" .. name, 0, surplus) end
    return list_operation("call", name, { self, n = 1 }, "column:" .. name)
  end
end

--- Returns the value in the nth row of the frame.
function public:nth_value(position, surplus)
  if surplus ~= nil then arity.refuse("column:nth_value", 1, surplus) end
  return list_operation("call", "nth_value", { self, check_count("column:nth_value", 1, position, 1), n = 2 }, "column:nth_value")
end

return public
