--- The optional database among the arguments of a function, which is always the first of them.

local native_records = require "perilune.native.records"
local arity = require "perilune.runtime.arity"
local is_database = native_records.is_database

local database_argument = {}

--- Raises for a database that follows other arguments.
local function check_rest(name, most, cure, first, ...)
  for index = 1, select("#", ...) do
    if is_database((select(index, ...))) then arity.refuse_database(name) end
  end
  if select("#", first, ...) <= most then return end
  local surplus = select(most + 1, first, ...)
  if surplus ~= nil then arity.refuse(name, most, surplus, cure) end
end

local function take(name, most, cure, first, ...)
  local count = select("#", ...)
  local has_database = first ~= nil and is_database(first) or first == nil and count >= most
  check_rest(name, has_database and most + 1 or most, cure, first, ...)
  if has_database then return first, ... end
  return nil, first, ...
end

--- Separates the database from the other arguments: returns the database, or nil if it is omitted, followed by the others. A leading nil
-- counts as an omitted database if it is followed by all other arguments.
-- @tparam string name the function in messages
-- @tparam integer most the maximum number of other arguments
function database_argument.take(name, most, ...) return take(name, most, nil, ...) end

--- Makes methods of a table take an optional database before their other arguments. They are defined as `f(self, db, ...)`.
-- @tparam table methods
-- @tparam string place the prefix of the method's name in messages
-- @tparam {[string]=integer} counts the maximum number of other arguments by method
-- @tparam ?{[string]=string} cures what to write instead of surplus arguments
function database_argument.precede(methods, place, counts, cures)
  for method, most in pairs(counts) do
    local f, name, cure = methods[method], place .. method, cures and cures[method]
    methods[method] = function(self, ...) return f(self, take(name, most, cure, ...)) end
  end
end

return database_argument
