--- Prepared requests, and numbered pages.
--
--     local by_country = Author:filter("country = :country"):prepare()
--     by_country:fetch_all{ country = "France" }

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"
local database_argument = require "perilune.runtime.database_argument"
local native_records = require "perilune.native.records"
local raise = errors.raise
local parameters = require "perilune.expressions.parameters"
local receivers = require "perilune.runtime.receivers"
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local verbs = request.verbs

--- The functions that scripts call.
local public = {}

-- Prepared requests -----------------------------------------------------------------------------------------------------------

local prepared = {}

local function names_of_methods()
  local names = {}
  for name in next, prepared do names[#names + 1] = name end
  table.sort(names)
  return names
end

local prepared_metatable = {
  __name = "prepared request", __receiver = "prepared", __metatable = "prepared request",
  __index = function(_, name) return prepared[name] or errors.raise_unknown("method", tostring(name), names_of_methods()) end,
  __newindex = function() raise("readonly", "a prepared request cannot be changed") end,
  __tostring = function(self) return "prepared request " .. tostring(rawget(self, "request")) end,
}

--- Collects the names of the parameters of a plan and of its prefetches.
local function add_names(plan, names)
  for _, slot in ipairs(plan.slots) do
    if type(slot) == "string" and slot ~= "keys" then names[parameters.read(slot)] = true end
  end
  for _, prefetch in ipairs(plan.prefetches) do add_names(prefetch.plan, names) end
  return names
end

--- Returns the request with values for its parameters.
local function with_values(self, method, db, values)
  if values == nil then values = {} end
  if type(values) ~= "table" or getmetatable(values) ~= nil then
    raise("argument", method .. ": expected a table of values by name, got " .. errors.describe(values))
  end
  local names = add_names(request_plans.plan_of(self, db, "rows"), {})
  for name in pairs(values) do
    if not names[name] then
      local known = {}
      for other in pairs(names) do known[#known + 1] = other end
      errors.raise_unknown("parameter", tostring(name), known)
    end
  end
  local result = { node = self.node, named = values }
  for index = request.unused + 1, self.node.count do result[index] = self[index] end
  return setmetatable(result, self.node.metatable)
end

local kind = {
  is = function(value) return getmetatable(value) == "prepared request" end, name = "a prepared request", example = "prepared",
}

for _, method in ipairs{
  "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_optional_values", "fetch_set", "fetch_count", "is_empty",
  "exists", "rows", "tuples", "delete_all",
} do
  prepared[method] = receivers.checked(kind, method, function(self, ...)
    local db, values, surplus = ...
    if not native_records.is_database(db) then db, values, surplus = native_records.default_database(), db, values end
    if surplus ~= nil then arity.refuse(method, 2, surplus) end
    return verbs[method](with_values(rawget(self, "request"), method, db, values), db)
  end)
end

--- Prepares a request for values that are provided later: `:name` in SQL text, or perilune.parameter("name").
function public:prepare()
  return setmetatable({ request = self }, prepared_metatable)
end

-- Pages -----------------------------------------------------------------------------------------------------------------------

--- Returns one page of a request: its `records`, `number` and `size`, the total `count` of rows, and the number of `pages`.
-- @tparam ?database db
-- @tparam integer number the number of the page, starting at 1
-- @tparam integer size
function public:page(db, number, size)
  checks.positive("page(number, size): argument 1", number)
  checks.positive("page(number, size): argument 2", size)
  if self.node.limit or self.node.offset then raise("argument", "page: the page is a limit and an offset; remove limit(...) and offset(...)") end
  db = request_plans.database_for(db, "page")
  return native_records.with_access(db, "read", function()
    local count = self:fetch_count(db)
    return require("perilune.requests.pageable").page{
      records = self:limit(size, (number - 1) * size):fetch_all(db),
      number = number, size = size, count = count, pages = (count + size - 1) // size,
    }
  end)
end

arity.limit(public, "", { prepare = 0 })
database_argument.precede(public, "", { page = 2 })

return public
