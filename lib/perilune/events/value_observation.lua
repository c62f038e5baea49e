--- Observations of values: fetches that are repeated after each transaction that may have changed the fetched values.

local null = require("perilune.native.values").null
local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local observers = require "perilune.native.observers"
local native_records = require "perilune.native.records"
local native_observation = require "perilune.native.observation"
local native_schema = require "perilune.native.schema"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local sql_text = require "perilune.runtime.sql_text"

--- The functions that scripts call.
local public = {}

--- The number of successive deliveries, each triggered by the previous one, that is treated as an endless loop.
local longest_chain = 1000

--- The maximum pause in seconds before a failed fetch is repeated. The first pause is one second, and it doubles with each further failure.
local longest_pause = 60.0

local Observation = { __name = "perilune.observation" }
Observation.__metatable = "observation"

-- Reading ---------------------------------------------------------------------------------------------------------------------

local function same_again(self, print)
  if print == self.fingerprint then return true end
  self.fingerprint = print
  return false
end

--- Returns whether the value is new, followed by the value.
local function take(self, ...)
  if not self.keeps_duplicates and same_again(self, observers.fingerprint(...)) then return false end
  return true, ...
end

local function map(self, ...)
  if self.map then return self.map(...) end
  return ...
end

--- Returns the results of the fetch function. Raises for a request: it does not change when its rows change.
local function check_fetched(value, ...)
  if require("perilune.runtime.marks").is_request(value) then
    errors.raise("argument", "db:observe: the function returned a request; return its rows, as in request:fetch_all(), or use request:observe(callback)")
  end
  return value, ...
end

--- Fetches the value. Observes everything that the fetch has read, or only the explicit regions if there are any.
local function read(self)
  if not self.touch_regions then return check_fetched(native_observation.read(self.observer, self.fetch)) end
  native_observation.read(self.observer, self.touch_regions)
  return self.fetch()
end

local function refresh(self)
  -- If equal values are delivered too, only a signal shows that there is something to deliver.
  if self.keeps_duplicates and self.has_looked and not native_observation.take_signal(self.observer) then return false end
  self.has_looked = true
  return take(self, map(self, read(self)))
end

--- Pauses the observation after a failed fetch; changes during the pause do not end it. Adds the length of the pause in seconds to the
-- error, as the field `retry_in`.
local function back_off(self, e)
  if type(e) == "userdata" and e.kind == "cancelled" then return end
  self.failures = (self.failures or 0) + 1
  local seconds = math.min(2.0 ^ (self.failures - 1), longest_pause)
  native_observation.pause(self.observer, seconds)
  if type(e) == "userdata" then errors.add_fields(e, { retry_in = seconds }) end
  return seconds
end

--- Returns the result of a fetch for the event loop. Passes a failure to the error handler, with the number of seconds until the next
-- attempt.
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

--- Raises if deliveries trigger each other endlessly, because their callbacks write observed values.
local function check_chain(self, length)
  if length < longest_chain then return end
  self:cancel()
  errors.raise("observation_loop", ("observations form a loop: %d deliveries in a row, each caused by a write in the callback "
    .. "of the one before; this one is cancelled"):format(longest_chain))
end

local function finish(is_ok, ...)
  native_observation.set_chain(0)
  if not is_ok then error((...), 0) end
end

--- Delivers a new value. Called by the event loop.
local function deliver(self, chain, is_new, ...)
  if not is_new or self.is_suspended or not self:is_active() then return end
  check_chain(self, chain)
  native_observation.set_chain(chain + 1)
  finish(pcall(self.callback, ...))
end

-- Observations ----------------------------------------------------------------------------------------------------------------

--- Ends the observation. Returns whether it was active.
function Observation:cancel()
  local was_active = self:is_active()
  native_observation.stop(self.observer)
  return was_active
end

--- Returns whether the observation is active.
function Observation:is_active()
  return native_observation.is_active(self.observer)
end

Observation.__close = Observation.cancel

function Observation:__tostring()
  return self:is_active() and "observation" or "observation (cancelled)"
end

--- Checks for a new value without waiting.
-- @return true and the value, or false if it equals the last one
function Observation:try_next()
  if self.callback then errors.raise("usage", "observation:try_next: its values are already delivered to a function") end
  if self.is_suspended or not self:is_active() then return false end
  return refresh(self)
end

--- Stops fetching and delivering until `resume`. Returns whether the observation was running.
function Observation:pause()
  local was_running = self:is_active() and not self.is_suspended
  self.is_suspended = true
  native_observation.suspend(self.observer)
  return was_running
end

--- Resumes the observation, and checks for a new value. Returns whether the observation was paused.
function Observation:resume()
  local was_paused = self:is_active() and self.is_suspended or false
  self.is_suspended = nil
  if was_paused then native_observation.resume(self.observer) end
  return was_paused
end

--- Returns whether the observation is paused.
function Observation:is_paused()
  return self.is_suspended == true and self:is_active()
end

--- Waits for the next value that differs from the last one. Returns nothing after the observation is cancelled.
function Observation:next()
  if self.callback then errors.raise("usage", "observation:next: its values are already delivered to a function") end
  while self:is_active() do
    native_loop.wait(self.place)
    if not self:is_active() then return end
    -- Nothing is fetched during a pause. Changes are handled when it ends.
    local results = self.is_suspended and { false, n = 1 } or table.pack(refresh(self))
    if results[1] then return table.unpack(results, 2, results.n) end
  end
end

--- Returns the values with perilune.null in place of a nil first value, which would end a `for` loop.
local function or_null(self, first, ...)
  if first == nil and self:is_active() then return null, ... end
  return first, ...
end

--- Returns an iterator that waits for each value: `for authors in observation:values() do`. A value of nil becomes perilune.null. The loop
-- ends when the observation does, and leaving the loop ends the observation.
function Observation:values()
  return function() return or_null(self, self:next()) end, nil, nil, self
end

--- Returns the fetch function for an observation: the function itself, or a function that fetches the rows of a request or class.
local function fetch_of(place, source)
  if type(source) == "function" then return source end
  local request = marks.request_of and marks.request_of(source)
  if not request then checks.fail(place, "expected a function or a request, got " .. errors.describe(source)) end
  return function(handle) return request:fetch_all(handle) end
end

--- Replaces the fetch function of the observation, for example to show the next page of a list. Delivers the new value unless it equals the
-- last one.
-- @param source a function as for `db:observe`, or a request
function Observation:change(source)
  local fetch = fetch_of("observation:change: argument 1", source)
  function self.fetch() return self.object:read(fetch) end
  if self:is_active() and not self.is_suspended then native_observation.signal(self.observer) end
end

checks.seal(Observation, {
  "callback", "fetch", "failures", "fingerprint", "has_looked", "is_suspended", "keeps_duplicates", "map", "object", "on_error", "place", "observer",
  "source", "touch_regions",
}, "observation")

-- Regions -------------------------------------------------------------------------------------------------------------------------

--- Returns SQL that reads no rows but depends on part of a table.
local function sql_of_table(db, name, columns)
  local schema = native_schema.table(db, name)
  local list = {}
  for i, column in ipairs(columns or {}) do list[i] = sql_text.name(checks.column(schema, column)) end
  return ("SELECT %s FROM %s.%s LIMIT 0"):format(
    #list > 0 and table.concat(list, ", ") or "*", sql_text.name(schema.database), sql_text.name(schema.name))
end

--- Returns a function that reads one region, by a handle.
local function reading_of(place, db, region)
  if type(region) == "string" then
    local sql = sql_of_table(db, region)
    return function(handle) handle:fetch_all(sql) end
  end
  local request = marks.request_of and marks.request_of(region)
  if request then return function(handle) request:limit(0):fetch_all(handle) end end
  if type(region) == "table" and getmetatable(region) == nil then
    local options = checks.options(place, region, { table = "string", columns = "any" })
    if not options.table then checks.fail(place, "a region needs the name of its `table`") end
    local sql = sql_of_table(db, options.table, options.columns ~= nil and checks.names(place, options.columns) or nil)
    return function(handle) handle:fetch_all(sql) end
  end
  checks.fail(place, "expected the name of a table, a request or a table with `table` and `columns`, got " .. errors.describe(region))
end

local function is_list(value)
  return type(value) == "table" and getmetatable(value) == nil and #value > 0
end

--- Returns a function that reads all regions of a database without fetching a row.
local function touching(place, db, regions)
  local readings = {}
  for i, region in ipairs(is_list(regions) and regions or { regions }) do readings[i] = reading_of(place, db, region) end
  return function(object)
    object:read(function(handle)
      for _, read in ipairs(readings) do read(handle) end
    end)
  end
end

-- Starting observations -------------------------------------------------------------------------------------------------------

local function check_callable(place, value)
  if type(value) ~= "function" then checks.fail(place, "expected a function, got " .. errors.describe(value)) end
end

local function observe(place, db, fetch, callback, options)
  if callback ~= nil and type(callback) ~= "function" and options == nil then callback, options = nil, callback end
  if type(options) == "table" and callback == nil and getmetatable(options) == nil then
    for name, value in next, options do
      if type(value) == "function" and name ~= "map" and name ~= "on_error" then
        checks.fail(place, ("expected a function, got a table with the function `%s`; use observe(function(value) ... end)"):format(tostring(name)))
      end
    end
  end
  if type(options) == "function" then checks.fail(place, "the options come after the function") end
  if callback ~= nil then check_callable(place, callback) end
  options = checks.options(place, options, {
    duplicates = "boolean", keeps_alive = "boolean", looks_first = "boolean", map = "function", on_error = "function", poll = "any", regions = "any",
  }, "observation_option")
  local period = options.poll ~= nil and require("perilune.runtime.durations").read(place .. ": option `poll`", options.poll, 0.001)
  db:is_inside_transaction() -- raises if the database cannot be used here, for example in on_change
  local touch = options.regions ~= nil and touching(place .. ": option `regions`", db, options.regions) or nil
  local observer, object = native_observation.start(db)
  local self = setmetatable({
    callback = callback, keeps_duplicates = options.duplicates, map = options.map, object = object, on_error = options.on_error, observer = observer,
    touch_regions = touch and function() touch(object) end or nil,
  }, Observation)
  function self.fetch() return object:read(fetch) end
  -- Fetches the current value now, so that only later values are delivered.
  if options.looks_first then self.has_looked = pcall(refresh, self) end
  if callback then
    self.source = native_observation.push(self.observer, function()
      return deliver(self, native_observation.take_chain(self.observer), read_or_back_off(self, pcall(refresh, self)))
    end, options.on_error, options.keeps_alive ~= false, self.has_looked)
  else
    self.place = native_observation.pull(self.observer)
  end
  if period then native_observation.poll(observer, object, period) end
  return self
end

--- Observes the value that a function fetches.
--
--     local observation = db:observe(function(db) return Author:fetch_count(db) end, function(count) print(count) end)
--     observation:cancel()
--
-- The callback receives the results of `fetch`: first the current value, then a new value after each transaction of any writer that may
-- have changed it, unless it equals the previous one. It is called when the script waits or has ended. Without a callback, use
-- `observation:values()` or `observation:next()`, which wait for values.
-- @tparam function fetch receives a handle, in `db:read`
-- @tparam ?function callback
-- @tparam ?table options `looks_first`: whether to skip the current value; `poll`: the interval for checking whether another
--   process has written, such as "500ms"; `on_error`: receives errors of `fetch` and the callback, and for errors of `fetch` the
--   seconds until the next attempt: one second, doubled with each further failure, at most a minute; error objects have the field
--   `retry_in`; `keeps_alive`: false if the script may end despite the observation; `duplicates`: whether to deliver values that
--   equal the previous one; `map`: converts the results of `fetch` outside the database; `regions`: the observed parts, instead of
--   everything that `fetch` reads, as for `observe_region`
function public:observe(fetch, callback, options)
  if type(fetch) == "table" and (require("perilune.records.class").info(fetch) or marks.is_request(fetch)) then
    checks.fail("db:observe: argument 1", "expected a function, got " .. errors.describe(fetch) .. "; use request:observe(callback)")
  elseif type(fetch) == "string" then
    checks.fail("db:observe: argument 1", ("expected a function, got %s; use Class:observe(callback), or db:observe_region(%q, callback)"):format(
      errors.describe(fetch), fetch))
  end
  check_callable("db:observe: argument 1", fetch)
  return observe("db:observe", self, fetch, callback, options)
end

--- Observes parts of a database without fetching their contents. The callback is called after each transaction that may have changed them.
-- @param regions a table name; `{ table = "book", columns = { "title" } }`; a request, without its prefetched rows; or a list of
--   these
-- @tparam ?function callback receives no arguments
-- @tparam ?table options `keeps_alive`, `on_error` and `poll`, as for `observe`
function public:observe_region(regions, callback, options)
  local place = "db:observe_region"
  if regions == nil then checks.fail(place .. ": argument 1", "expected the name of a table, a request or a list of such, got nil") end
  if callback ~= nil and type(callback) ~= "function" and options == nil then callback, options = nil, callback end
  local chosen = checks.options(place, options, { keeps_alive = "boolean", on_error = "function", poll = "any" })
  chosen.regions, chosen.duplicates, chosen.looks_first = regions, true, true
  return observe(place, self, function() end, callback, chosen)
end

local function check_table(db, name)
  if type(name) ~= "string" then
    checks.fail("db:notify_changes", "expected names of tables, got " .. errors.describe(name))
  end
  if not db:table_exists(name) then require("perilune.schema.introspection").raise_unknown_table(db, name) end
end

--- Makes observations fetch again after changes that they cannot detect, for example by another process. This includes observations in
-- other hosts and in Swift.
-- @tparam string ... the changed tables; all by default
function public:notify_changes(...)
  local names = { ... }
  for _, name in ipairs(names) do check_table(self, name) end
  if #names == 0 then names = self:tables() end
  databases.guarded(self, native_observation.notify, names)
end

local value_observation = {}

--- Observes the records or rows that a request fetches.
function value_observation.of_request(request, ...)
  local db, callback, options, surplus = ...
  if not native_records.is_database(db) then db, callback, options, surplus = native_records.default_database(), ... end
  if surplus ~= nil then require("perilune.runtime.arity").refuse("observe", 2, surplus) end
  local observation = observe("observe", db, function(handle) return request:fetch_all(handle) end, callback, options)
  return observation
end

-- Sharing ----------------------------------------------------------------------------------------------------------------------------

local Shared = {}
Shared.__metatable, Shared.__receiver = "shared observation", "shared"
local Subscription = {}
Subscription.__metatable = "subscription"

--- Calls a subscriber unless it was cancelled. Its errors do not affect other subscribers.
local function call(subscription, ...)
  if subscription.is_active_now then subscription.callback(...) end
end

local function deliver_to_all(self, ...)
  self.value = table.pack(...)
  local first_error
  for _, subscription in ipairs(table.move(self.subscriptions, 1, #self.subscriptions, 1, {})) do
    local is_ok, e = pcall(call, subscription, ...)
    if not is_ok and first_error == nil then first_error = { e } end
  end
  if first_error then error(first_error[1], 0) end
end

--- Calls a function with the current value as soon as it is available, and then with each new value.
function Shared:observe(callback)
  check_callable("shared:observe: argument 1", callback)
  if self.is_over then errors.raise("usage", "shared:observe: the observation was cancelled") end
  local is_new = not self.observation
  -- Start the observation first, so that no subscription remains if this raises. It delivers the value later.
  if is_new then
    self.observation = observe("db:share_observation", self.db, self.fetch, function(...) deliver_to_all(self, ...) end, self.options)
  end
  local subscription = setmetatable({ callback = callback, is_active_now = true, shared = self }, Subscription)
  table.insert(self.subscriptions, subscription)
  if not is_new and self.value then callback(table.unpack(self.value, 1, self.value.n)) end
  return subscription
end

local function stop(self)
  if self.observation then self.observation:cancel() end
  self.observation, self.value = nil, nil
end

--- Ends the observation for all subscribers.
function Shared:cancel()
  local was_active = not self.is_over
  self.is_over = true
  for _, subscription in ipairs(self.subscriptions) do subscription.is_active_now = false end
  self.subscriptions = {}
  stop(self)
  return was_active
end

--- Returns the number of subscribed functions.
function Shared:count()
  return #self.subscriptions
end

Shared.__close = Shared.cancel

--- Cancels the subscription. Returns whether it was active. After the last subscription is cancelled, nothing is fetched.
function Subscription:cancel()
  local was_active = self.is_active_now
  self.is_active_now = false
  local list = self.shared.subscriptions
  for i, subscription in ipairs(list) do
    if subscription == self then table.remove(list, i) break end
  end
  if was_active and #list == 0 then stop(self.shared) end
  return was_active
end

--- Returns whether the function is still called for new values.
function Subscription:is_active()
  return self.is_active_now
end

Subscription.__close = Subscription.cancel
checks.seal(Shared, { "db", "fetch", "is_over", "observation", "options", "subscriptions", "value" }, "shared_observation")
checks.seal(Subscription, { "callback", "is_active_now", "shared" }, "observer")

--- Shares one observation among several functions. Its value is fetched once for all of them, and only while there are subscribers.
-- @param source a function as for `db:observe`, or a request
-- @tparam ?table options as for `db:observe`, without `looks_first`
function public:share_observation(source, options)
  local place = "db:share_observation"
  local fetch = fetch_of(place .. ": argument 1", source)
  options = checks.options(place, options, {
    duplicates = "boolean", keeps_alive = "boolean", map = "function", on_error = "function", poll = "any", regions = "any",
  })
  return setmetatable({ db = self, fetch = fetch, options = options, subscriptions = {} }, Shared)
end

value_observation.public = public
return value_observation
