--- The results of requests that are not just records of one class: selected columns, nested rows, prefetched lists.

local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local value_types = require "perilune.requests.value_types"

local request_results = {}

--- Returns, for each segment, the list of fields whose values are conditions and must be converted to booleans.
local function boolean_fields(plan)
  if plan.boolean_fields then return plan.boolean_fields end
  local fields = {}
  for index, segment in ipairs(plan.segments) do
    fields[index] = {}
    for _, column in ipairs(plan.booleans) do
      local name = segment.extras[column] or segment.names[column - segment.first + 1]
      if name then table.insert(fields[index], name) end
    end
  end
  plan.boolean_fields = fields
  return fields
end

--- Converts a condition's value to a boolean, because SQLite returns 1 and 0.
function request_results.as_boolean(value)
  if value == 1 then return true elseif value == 0 then return false end
  return value
end

local as_boolean = request_results.as_boolean

--- Converts selected conditions to true or false.
-- @tparam ?integer segment by default the first
local function convert_booleans(rows, plan, segment)
  local names = boolean_fields(plan)[segment or 1]
  if not names[1] then return rows end
  for _, row in ipairs(rows) do
    for _, name in ipairs(names) do
      local value = row and rawget(row, name)
      if value == 0 or value == 1 then row[name] = as_boolean(value) end
    end
  end
  return rows
end

request_results.convert_booleans = convert_booleans

--- Returns the functions that convert the values of a plan by position; nil if none does.
function request_results.converters(plan)
  if plan.converters == nil then
    local converters = {}
    for _, position in ipairs(plan.booleans) do converters[position] = as_boolean end
    for position, read in pairs(plan.segments and value_types.by_position(plan) or {}) do converters[position] = read end
    plan.converters = next(converters) ~= nil and converters or false
  end
  return plan.converters or nil
end

--- Fetches all rows of a request.
function request_results.fetch_all(self, db, plan)
  if plan.segments[2] or plan.prefetches[1] then
    return request.fetch_associated(self, db, plan)
  end
  local class = self.node.root.source.class
  if not (plan.segments[1].whole and class) then
    return value_types.convert_rows(db:fetch_all(plan.sql, request_plans.arguments(self, plan)), request_results.converters(plan))
  end
  local rows = require("perilune.records.fetching").decode_all(record_class.info(class),
    native_records.fetch_records(db, plan.sql, class, request_plans.arguments(self, plan)))
  if plan.booleans[1] then convert_booleans(rows, plan) end
  return value_types.convert(rows, plan)
end

return request_results
