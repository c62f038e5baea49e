--- Observations of values: a fetch that is repeated after each transaction that could have changed its result.

local null = require("perilune.native.values").null
local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local observers = require "perilune.native.observers"
local records = require "perilune.native.records"
local database = require("perilune.native.databases").methods
local native = require "perilune.native.observation"
local checks = require "perilune.runtime.checks"

--- The number of cascading deliveries from which they are treated as a loop.
local longest_chain = 1000

--- What cannot be fetched is looked at again after a second, and after each further failure in twice that time, up to a minute.
local longest_pause = 60.0

local Observation = { __name = "perilune.observation" }
Observation.__metatable = "observation"

-- Reading ---------------------------------------------------------------------------------------------------------------------

local function same_again(self, print)
  if print == self.fingerprint then return true end
  self.fingerprint = print
  return false
end

--- Whether there is a new value, and the value.
local function take(self, ...)
  if same_again(self, observers.fingerprint(...)) then return false end
  return true, ...
end

local function refresh(self)
  return take(self, native.read(self.observer, self.fetch))
end

--- Waits before what has failed is fetched again, whatever changes meanwhile. Says in the error how many seconds, as `retry_in`.
local function back_off(self, e)
  if type(e) == "userdata" and e.kind == "cancelled" then return end
  self.failures = (self.failures or 0) + 1
  local seconds = math.min(2.0 ^ (self.failures - 1), longest_pause)
  native.pause(self.observer, seconds)
  if type(e) == "userdata" then errors.add_fields(e, { retry_in = seconds }) end
  return seconds
end

--- What the loop calls reads by this: a failure is given to who wants it, with the seconds until the next look.
local function read_or_back_off(self, is_read, ...)
  if is_read then
    self.failures = nil
    return ...
  end
  local e = ...
  local seconds = self:is_active() and back_off(self, e) or nil
  if not self.on_error then error(e, 0) end
  self.on_error(e, seconds)
  return false
end

-- Delivering ------------------------------------------------------------------------------------------------------------------

--- Raises if deliveries go on bringing about each other: their callbacks write what they observe.
local function check_chain(self, length)
  if length < longest_chain then return end
  self:cancel()
  errors.raise("observation_loop", ("observations form a loop: %d deliveries in a row, each caused by a write in the callback "
    .. "of the one before; this one is cancelled"):format(longest_chain))
end

local function finish(is_ok, ...)
  native.set_chain(0)
  if not is_ok then error((...), 0) end
end

--- What the loop calls.
local function deliver(self, chain, is_new, ...)
  if not is_new or not self:is_active() then return end
  check_chain(self, chain)
  native.set_chain(chain + 1)
  finish(pcall(self.callback, ...))
end

-- Observations ----------------------------------------------------------------------------------------------------------------

--- Calls nothing any more. Returns whether it would have.
function Observation:cancel()
  local was_active = self:is_active()
  native.stop(self.observer)
  return was_active
end

--- Whether it goes on.
function Observation:is_active()
  return native.is_active(self.observer)
end

Observation.__close = Observation.cancel

function Observation:__tostring()
  return self:is_active() and "observation" or "observation (cancelled)"
end

--- Looks for a new value without waiting.
-- @return true and the value, or false if it is equal to the last one
function Observation:try_next()
  if self.callback then errors.raise("usage", "observation:try_next: its values are already delivered to a function") end
  if not self:is_active() then return false end
  return refresh(self)
end

--- The next value that is not equal to the last one; waits for it. Nothing once the observation is cancelled.
function Observation:next()
  if self.callback then errors.raise("usage", "observation:next: its values are already delivered to a function") end
  while self:is_active() do
    native_loop.wait(self.place)
    if not self:is_active() then return end
    local results = table.pack(refresh(self))
    if results[1] then return table.unpack(results, 2, results.n) end
  end
end

--- nil would end a loop.
local function or_null(self, first, ...)
  if first == nil and self:is_active() then return null, ... end
  return first, ...
end

--- An iterator over the values, which waits for each: `for authors in observation:values() do`. A value nil is perilune.null there.
-- Ends with the observation, and ends it when the loop is left.
function Observation:values()
  return function() return or_null(self, self:next()) end, nil, nil, self
end

checks.seal(Observation, { "callback", "fetch", "failures", "fingerprint", "has_looked", "on_error", "place", "observer" })

-- Beginning -------------------------------------------------------------------------------------------------------------------

local function check_callable(place, value)
  if type(value) ~= "function" then checks.fail(place, "expected a function, got " .. errors.describe(value)) end
end

local function observe(place, db, fetch, callback, options)
  if callback ~= nil and type(callback) ~= "function" and options == nil then callback, options = nil, callback end
  if callback ~= nil then check_callable(place, callback) end
  options = checks.options(place, options, { keeps_alive = "boolean", looks_first = "boolean", on_error = "function", poll = "any" })
  local period = options.poll ~= nil and require("perilune.runtime.durations").read(place .. ": option `poll`", options.poll, 0.001)
  db:is_inside_transaction() -- raises where the database is out of reach: in on_change, for example
  local observer, object = native.start(db)
  local self = setmetatable({ callback = callback, on_error = options.on_error, observer = observer }, Observation)
  function self.fetch() return object:read(fetch) end
  -- What is there now is known already then, and only what comes is delivered.
  if options.looks_first then self.has_looked = pcall(refresh, self) end
  if callback then
    native.push(self.observer, function()
      return deliver(self, native.take_chain(self.observer), read_or_back_off(self, pcall(refresh, self)))
    end, options.on_error, options.keeps_alive ~= false, self.has_looked)
  else
    self.place = native.pull(self.observer)
  end
  if period then native.poll(observer, object, period) end
  return self
end

--- Observes what a function fetches.
--
--     local observation = db:observe(function(db) return Author:fetch_count(db) end, function(count) print(count) end)
--     observation:cancel()
--
-- The callback gets what `fetch` returns: first the current value, then after each transaction of any writer that could have changed it,
-- unless it is equal to what the callback got last. It is called when the script has come to its end, or waits. Without a callback the
-- values are taken by `observation:values()` or `observation:next()`, which wait.
-- @tparam function fetch gets a handle, in `db:read`
-- @tparam ?function callback
-- @tparam ?table options `looks_first`: true if what there is now is not to be delivered; `poll`: how long to wait between two looks
--   whether another process has written, as "500ms"; `on_error`: gets what `fetch` and the callback raise, and, if it was `fetch`, the
--   seconds until it is called again: one second, twice that after each further failure, at most a minute; an error object has them in
--   its field `retry_in`; `keeps_alive`: false if a script that has nothing else to do is to end
function database:observe(fetch, callback, options)
  check_callable("db:observe: argument 1", fetch)
  return observe("db:observe", self, fetch, callback, options)
end

local function check_table(db, name)
  if type(name) ~= "string" then
    checks.fail("db:notify_changes", "expected names of tables, got " .. errors.describe(name))
  end
  if not db:table_exists(name) then errors.raise_unknown("table", name, db:tables()) end
end

--- Has observations fetch again, those of other hosts and of Swift too: for changes that were not observed, made by another process
-- for example.
-- @tparam string ... the tables that have changed; all by default
function database:notify_changes(...)
  local names = { ... }
  for _, name in ipairs(names) do check_table(self, name) end
  if #names == 0 then names = self:tables() end
  databases.guarded(self, native.notify, names)
end

local value_observation = {}

--- Observes the records, or rows, of a request.
function value_observation.of_request(request, db, callback, options)
  if not records.is_database(db) then db, callback, options = records.default_database(), db, callback end
  return observe("observe", db, function(handle) return request:fetch_all(handle) end, callback, options)
end

require("perilune.runtime.arity").limit(database, "db:", { observe = 3 })

return value_observation
