--- Rows of requests that are not records of one class alone: selected columns, rows with rows inside them, prefetched lists.

local internal = ...
local request_plans = internal.load("request_plans")

local request_results = {}

--- Conditions that were selected are true or false, not 1 or 0.
local function convert_booleans(rows, plan)
  local names = {}
  for index, column in ipairs(plan.booleans) do names[index] = plan.segments[1].names[column] end
  for _, row in ipairs(rows) do
    for _, name in ipairs(names) do
      if name and math.type(rawget(row, name)) == "integer" then row[name] = row[name] ~= 0 end
    end
  end
  return rows
end

request_results.convert_booleans = convert_booleans

--- All rows of a request.
function request_results.fetch_all(self, db, plan)
  if plan.segments[2] or plan.prefetches[1] then
    return internal.load("association_fetching").fetch_all(self, db, plan)
  end
  local rows
  local class = self.node.root.source.class
  if plan.segments[1].whole and class then
    rows = internal.load("record_fetching").awaken_all(internal.record.info(class),
      internal.records.fetch_records(db, plan.sql, class, request_plans.arguments(self, plan)))
  else
    rows = db:fetch_all(plan.sql, request_plans.arguments(self, plan))
  end
  return plan.booleans[1] and convert_booleans(rows, plan) or rows
end

return request_results
