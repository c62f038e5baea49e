--- Row types: values that a function creates from rows, fetched like records but without a table.
--
--     local Point = perilune.row_type{ from_row = function(row) return { x = row.longitude, y = row.latitude } end }
--     Point:fetch_all("SELECT longitude, latitude FROM place")
--     Point:fetch_all(Place:filter{ country = "France" })

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local native_rows = require "perilune.native.rows"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local raise = errors.raise

local row_type = {}
row_type.__index = row_type
row_type.__name, row_type.__receiver = "a row type", "row_type"
row_type.__metatable = false
local makers = setmetatable({}, { __mode = "k" })

--- Creates a value of the type from a row.
local function make(self, row)
  local definition = makers[self]
  local value = definition.from_row(row)
  if value == nil then raise("conversion", "from_row of a row type returned nothing for the row " .. tostring(row)) end
  if definition.did_fetch then definition.did_fetch(value, row) end
  return value
end

--- Returns the request for all records of a class, or a request itself; nil for anything else.
local function request_of(value) return type(value) == "table" and marks.request_of and marks.request_of(value) or nil end

--- Splits the arguments of a verb into an object with fetching methods (a database, a statement or a request), and the arguments for these
-- methods. A request fetches records, or rows if columns are selected.
local function split(verb, self, first, ...)
  if makers[self] == nil then
    raise("argument", ("%s: expected a row type before the colon, got %s"):format(verb, errors.describe(self)))
  end
  if native_records.is_statement(first) then return first, ... end
  if not native_records.is_database(first) then return split(verb, self, native_records.default_database(), first, ...) end
  local source, surplus = ...
  local request = request_of(source)
  if request then
    if surplus ~= nil then raise("argument", verb .. ": a request takes no arguments, got " .. errors.describe(surplus)) end
    return request, first
  elseif type(source) ~= "string" then
    raise("argument", verb .. ": expected SQL, a statement or a request, got " .. errors.describe(source))
  end
  return first, ...
end

local function fetch_all(self, source, ...)
  local values = {}
  if marks.is_request(source) then
    -- Associated rows are fetched for all records at once.
    for index, found in ipairs(source:fetch_all(...)) do values[index] = make(self, found) end
    return values
  end
  for row in source:rows(...) do values[#values + 1] = make(self, row) end
  return values
end

--- Returns the values of all rows of SQL, of a prepared statement or of a request.
function row_type:fetch_all(...)
  return fetch_all(self, split("fetch_all", self, ...))
end

local function fetch_one(self, source, ...)
  local row = source:fetch_one(...)
  return row and make(self, row)
end

--- Returns the value of the first row; nil without rows.
function row_type:fetch_one(...)
  return fetch_one(self, split("fetch_one", self, ...))
end

local function rows(self, source, ...)
  local next_row, state, control, closing = source:rows(...)
  return function(...)
    local row = next_row(...)
    return row and make(self, row)
  end, state, control, closing
end

--- Iterates over the values.
function row_type:rows(...)
  return rows(self, split("rows", self, ...))
end

--- Creates a row type.
-- @tparam table definition from_row(row): returns the value; did_fetch(value, row): called with each value (optional)
local function new(definition)
  if type(definition) ~= "table" or type(definition.from_row) ~= "function" then
    raise("argument", "perilune.row_type: argument 1: expected a table with a function from_row, got "
      .. errors.describe(definition))
  end
  checks.options("perilune.row_type", definition, { from_row = "function", did_fetch = "function" })
  local made = setmetatable({}, row_type)
  makers[made] = { from_row = definition.from_row, did_fetch = definition.did_fetch }
  return made
end

--- Creates a value from a table of columns, or from a row.
function row_type:from(values)
  if type(values) ~= "table" then
    raise("argument", "from: expected a table of columns, got " .. errors.describe(values))
  end
  return make(self, native_records.is_row(values) and values or native_rows.methods.new(values))
end

row_type.from = require("perilune.runtime.arity").limited("from", row_type.from, true)

return { row_type = new }
