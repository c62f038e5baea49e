--- The methods that fetch the rows of requests.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local database_argument = require "perilune.runtime.database_argument"
local native_requests = require "perilune.native.requests"
local record_class = require "perilune.records.class"
local marks = require "perilune.runtime.marks"
local receivers = require "perilune.runtime.receivers"
local raise = errors.raise
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local comparison_mistakes = lazily "perilune.expressions.comparison_mistakes"

--- The methods of requests that fetch rows or show the SQL.
local verbs = {}
local building, request_building = require "perilune.expressions.swift_bridge", require "perilune.requests.swift_bridge"
local plan_of, arguments, database_for = request_plans.plan_of, request_plans.arguments, request_plans.database_for
local shapes = require "perilune.expressions.shapes"
local value_types = require "perilune.requests.value_types"
local native_records = require "perilune.native.records"
local fetch_records, fetch_record = native_records.fetch_records, native_records.fetch_record
local fetching = require "perilune.records.fetching"
local record_info = record_class.info

local function decode_all(class, list) return fetching.decode_all(record_info(class), list) end
local function decode_one(class, found) return fetching.decode_one(record_info(class), found) end
local function decode_rows(class, ...) return fetching.decode_rows(record_info(class), ...) end

-- Records and rows --------------------------------------------------------------------------------------------------------

-- Once a request is compiled, the row path fetches its records without Lua if possible (CPeriluneRecords/Requests).

--- Returns all records (or rows, if columns were selected) as a list.
-- @tparam ?database db by default the innermost open access, otherwise the default database
verbs.fetch_all = native_records.request_verb("fetch_all", function(self, db, surplus)
  if not marks.is_request(self) then receivers.refuse(receivers.kinds.request, "fetch_all", self) end
  if surplus ~= nil then arity.refuse("fetch_all", 1, surplus) end
  db = database_for(db, "fetch_all")
  local plan = plan_of(self, db, "rows")
  local class = plan.class
  if class then return decode_all(class, fetch_records(db, plan.sql, class, arguments(self, plan))) end
  return require("perilune.requests.results").fetch_all(self, db, plan)
end)

--- Returns the first record, or nil.
verbs.fetch_one = native_records.request_verb("fetch_one", function(self, db, surplus)
  if not marks.is_request(self) then receivers.refuse(receivers.kinds.request, "fetch_one", self) end
  if surplus ~= nil then arity.refuse("fetch_one", 1, surplus) end
  db = database_for(db, "fetch_one")
  local plan = plan_of(self, db, "first")
  local class = plan.class
  if class then return decode_one(class, fetch_record(db, plan.sql, class, arguments(self, plan))) end
  return require("perilune.requests.results").fetch_all(self, db, plan)[1]
end)

--- Returns the first record; raises an error of kind record_not_found if none exists.
-- @param ?key the primary key of the record
function verbs:find(...)
  local db, key = database_argument.take("find", 1, ...)
  if key ~= nil and require("perilune.requests.conditions").are_keys(self, key) then
    raise("argument", "find: expected one key, got a list; use filter_key{...}:fetch_all() for several keys")
  end
  local wanted = key == nil and self or self:filter_key(key)
  local found = wanted:fetch_one(db)
  if found ~= nil then return found end
  local source = self.node.root.source
  raise("record_not_found", "no row of `" .. source.table .. "` "
    .. (key == nil and "matches the request" or "has the key " .. errors.describe(key) .. " and matches the request"),
    { table = source.table, key = key })
end

--- Iterates over the rows while the access is open: `for author in request:rows() do`.
function verbs:rows(db)
  db = database_for(db, "rows")
  local plan = plan_of(self, db, "rows")
  local class = plan.class
  if class then return decode_rows(class, native_records.record_rows(db, plan.sql, class, arguments(self, plan))) end
  if plan.segments[2] or plan.prefetches[1] then return request.iterate_associated(self, db, plan) end
  class = plan.segments[1].whole and self.node.root.source.class
  local results, convert = require "perilune.requests.results", nil
  local next_row, state, control, closing
  if class then
    next_row, state, control, closing = decode_rows(class, native_records.record_rows(db, plan.sql, class, arguments(self, plan)))
    if plan.booleans[1] or value_types.converts(plan) then
      convert = function(row) return value_types.convert(results.convert_booleans({ row }, plan), plan)[1] end
    end
  else
    next_row, state, control, closing = db:rows(plan.sql, arguments(self, plan))
    local converters = results.converters(plan)
    convert = converters and value_types.row_converter(converters)
  end
  if not convert then return next_row, state, control, closing end
  return function(...)
    local row = next_row(...)
    return row and convert(row)
  end, state, control, closing
end

-- Values --------------------------------------------------------------------------------------------------------------------

--- Raises unless a request selects one column, which may be annotated with others.
local function require_column(self, method)
  local node = self.node
  if not node.selects then
    raise("argument", method .. ": a record has several columns; use request:select(\"column\"):" .. method .. "()")
  end
  while node.parent and node.op ~= "select" do node = node.parent end
  local count = node.op == "select" and #node.shape.operands or 1
  if count > 1 then
    raise("argument", ("%s: the request selects %d columns, of which only the first would be fetched; use fetch_one() or fetch_all() for rows, or "
      .. "pluck(\"a\", \"b\") for their values"):format(method, count))
  end
end

local function as_boolean(value) return require("perilune.requests.results").as_boolean(value) end

local function converters_of(plan) return require("perilune.requests.results").converters(plan) end

--- Iterates over tuples with converted values.
local function converted_tuples(converters, next_values, state, control, closing)
  local count = 0
  for position in pairs(converters) do count = math.max(count, position) end
  local function convert(position, first, ...)
    if position > count then return first, ... end
    -- A NULL in the first column is perilune.null, because nil ends the iteration.
    if converters[position] and first ~= nil and first ~= null then first = converters[position](first) end
    if position == count then return first, ... end
    return first, convert(position + 1, ...)
  end
  -- Keeps the unconverted value, because the next step of the iteration needs it.
  local last = control
  return function()
    local function take(first, ...)
      last = first
      if first == nil then return nil end
      return convert(1, first, ...)
    end
    return take(next_values(state, last))
  end, nil, nil, closing
end

--- Iterates over the values of the columns, row by row: `for id, title in request:select("id", "title"):tuples() do`.
function verbs:tuples(db)
  db = database_for(db, "tuples")
  local plan = plan_of(self, db, "rows")
  local converters = converters_of(plan)
  if not converters then return db:tuples(plan.sql, arguments(self, plan)) end
  return converted_tuples(converters, db:tuples(plan.sql, arguments(self, plan)))
end

--- Converts the results of each verb that fetches one column.
local converting = {}

function converting.fetch_value(value, convert)
  if value == nil then return nil end
  return convert(value)
end

function converting.fetch_values(list, convert)
  for index, value in ipairs(list) do
    if value ~= null then list[index] = convert(value) end
  end
  return list
end

converting.fetch_optional_values = converting.fetch_values

function converting.fetch_set(set, convert)
  local converted = {}
  for value in next, set do converted[convert(value)] = true end
  return converted
end

for method, form in pairs{
  fetch_values = "rows", fetch_optional_values = "rows", fetch_value = "first", fetch_set = "rows",
} do
  verbs[method] = function(self, db)
    require_column(self, method)
    db = database_for(db, method)
    local plan = plan_of(self, db, form)
    local found = db[method](db, plan.sql, arguments(self, plan))
    local converters = converters_of(plan)
    if converters and converters[1] then return converting[method](found, converters[1]) end
    return found
  end
end

--- Appends to a list, for each row, a list of its first `count` values. NULL becomes perilune.null.
local function gather(list, count, next_values, state, control)
  local function take(first, ...)
    if first == nil then return nil end
    local row = { first, ... }
    for index = 1, count do
      if row[index] == nil then row[index] = null end
    end
    for index = count + 1, select("#", ...) + 1 do row[index] = nil end
    list[#list + 1] = row
    return first
  end
  repeat control = take(next_values(state, control)) until control == nil
  return list
end

--- Returns the values of a column as a list, or of several columns as a list of lists. NULL is perilune.null.
local function pluck(self, db, ...)
  local selected = self:select(...)
  local count = #selected.node.shape.operands
  if count == 1 then return selected:fetch_optional_values(db) end
  -- The request may be annotated with more columns.
  return gather({}, count, selected:tuples(db))
end

function verbs:pluck(...)
  if not marks.is_request(self) then receivers.refuse(receivers.kinds.request, "pluck", self) end
  local values = pluck(self, database_argument.take("pluck", math.huge, ...))
  return values
end

-- Counts and aggregates -------------------------------------------------------------------------------------------------------

--- Returns the number of rows.
function verbs:fetch_count(db)
  db = database_for(db, "fetch_count")
  local plan = plan_of(self, db, "count")
  return db:fetch_value(plan.sql, arguments(self, plan))
end

--- Returns whether the request finds no rows.
function verbs:is_empty(db)
  db = database_for(db, "is_empty")
  local plan = plan_of(self, db, "exists")
  local value = db:fetch_value(plan.sql, arguments(self, plan))
  return value == 0 or value == false or value == nil
end

--- Returns whether there are any rows.
function verbs:exists(db)
  return not verbs.is_empty(self, db)
end

for method, function_name in pairs{ min = "min", max = "max", sum = "sum", average = "avg", total = "total" } do
  local op, is_numeric = "aggregate " .. function_name, method ~= "min" and method ~= "max"

  request.add_final_forms{ [op] = function(node, db, _, generation)
    local built = request_building.built(node.parent, db, generation)
    local context = { db = db, next = node.parent.count + 1, request = built }
    return native_requests.compile(built, db, function_name, building.build(node.shape, context))
  end }

  --- Returns the least value (or the greatest, the sum, ...) of a column or expression in all rows; nil if the request finds no rows.
  verbs[method] = function(self, db, column)
    if type(column) == "string" then column = request.term(self, column, method) end
    if not marks.is_expression(column) then
      raise("argument", method .. ": argument 1: expected a column, got " .. errors.describe(column) .. "; use " .. method .. "(\"column\")")
    end
    if is_numeric then comparison_mistakes.check_aggregated(column.shape, method) end
    db = database_for(db, method)
    local aggregate = request.derive_with(self, op, column)
    local plan = plan_of(aggregate, db, "value")
    local value = db:fetch_value(plan.sql, arguments(aggregate, plan))
    if plan.booleans[1] then return as_boolean(value) end
    local read = (method == "min" or method == "max") and value_types.reader_of(shapes.type_of(column.shape))
    if read and value ~= nil then return read(value) end
    return value
  end
end

arity.limit(verbs, "", {
  rows = 1, tuples = 1, fetch_values = 1, fetch_optional_values = 1, fetch_value = 1, fetch_set = 1, fetch_count = 1, is_empty = 1,
  exists = 1,
})
database_argument.precede(verbs, "", { min = 1, max = 1, sum = 1, average = 1, total = 1 })

-- Inspecting requests -----------------------------------------------------------------------------------------------------------

--- Returns the SQL of the request and its arguments.
-- @treturn string
-- @treturn table the arguments, with a field n
function verbs:sql(db)
  db = database_for(db, "sql")
  local plan = plan_of(self, db, "rows")
  return plan.sql, table.pack(request_plans.values(self, plan))
end

--- Returns SQLite's query plan for the request; see db:explain.
function verbs:explain(db)
  db = database_for(db, "explain")
  local plan = plan_of(self, db, "rows")
  return db:explain(plan.sql, arguments(self, plan))
end

arity.limit(verbs, "", { sql = 1, explain = 1 })

request.add_verbs(verbs)
