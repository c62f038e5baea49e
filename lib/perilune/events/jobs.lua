--- Job queues in the database. Adding a job is part of the open transaction, and each job runs at least once.
--
--     local mails = perilune.jobs("mail", { attempts = 8, backoff = { "1s", "1h" }, concurrency = 4, rate = "100/minute" })
--     mails:handle(function(job) send(job.to, job.body, { key = job.key }) end)
--     mails:enqueue({ to = "ada@example.com", body = "..." }, { key = "order 7" })

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local durations = require "perilune.runtime.durations"
local job_table = require "perilune.events.job_table"
local job_workers = require "perilune.events.job_workers"
local wake = require "perilune.events.wake"

--- The functions that scripts call.
local public = {}

local longest_key, longest_payload = 500, 1 << 20

local Jobs = { __name = "perilune.jobs" }
Jobs.__metatable = "jobs"

-- Options ---------------------------------------------------------------------------------------------------------------------

local queue_options = {
  attempts = "number", backoff = "any", concurrency = "number", rate = "any", timeout = "any", keep = "any", db = "any", on_dead = "function",
}

local function read_count(place, name, value, default)
  if value == nil then return default end
  local count = math.tointeger(value)
  if not count or count < 1 then checks.fail(place, ("option `%s`: expected an integer from 1, got %s"):format(name, errors.describe(value))) end
  return count
end

local function read_backoff(place, value)
  if value == nil then return { 1.0, 3600.0 } end
  if type(value) ~= "table" or #value ~= 2 then
    checks.fail(place, 'option `backoff`: expected { shortest, longest }, such as { "1s", "1h" }, got ' .. errors.describe(value))
  end
  local shortest = durations.read(place .. ": option `backoff`", value[1])
  return { shortest, durations.read(place .. ": option `backoff`", value[2], shortest) }
end

local units = { second = 1, minute = 60, hour = 3600, day = 86400 }

local function read_rate(place, value)
  if value == nil then return nil end
  local count, unit = tostring(value):match("^%s*(%d+)%s*/%s*(%a+)%s*$")
  count = math.tointeger(tonumber(count))
  if not count or count < 1 or not units[unit] then
    checks.fail(place, 'option `rate`: expected a number of jobs for each second, minute, hour or day, such as "100/minute", got '
      .. errors.describe(value))
  end
  return { count = count, seconds = units[unit] }
end

local function read_queue(name, options)
  if type(name) ~= "string" or name == "" then checks.fail("perilune.jobs: argument 1", "expected the name of a queue, got " .. errors.describe(name)
    .. "; use perilune.jobs(\"mail\"), with :handle(f) for the function") end
  if #name > longest_key then checks.fail("perilune.jobs: argument 1", ("expected at most %d bytes, got %d"):format(longest_key, #name)) end
  local place = ('perilune.jobs "%s"'):format(name)
  if type(options) == "function" then checks.fail(place, "a queue has no function; use perilune.jobs(name):handle(f) for its jobs") end
  options = checks.options(place, options, queue_options, "queue_option")
  if options.db ~= nil and not native_records.is_database(options.db) then
    checks.fail(place, "option `db`: expected a database, got " .. errors.describe(options.db))
  end
  return {
    name = name, db = options.db or perilune.database, attempts = read_count(place, "attempts", options.attempts, 5),
    backoff = read_backoff(place, options.backoff), concurrency = read_count(place, "concurrency", options.concurrency, 1),
    rate = read_rate(place, options.rate), timeout = options.timeout and durations.read(place .. ": option `timeout`", options.timeout, 0.001),
    keep = durations.read(place .. ": option `keep`", options.keep or "1 day"), on_dead = options.on_dead,
  }
end

--- Opens a job queue.
-- @tparam string name
-- @tparam ?table options `attempts` (5), `backoff` ({ "1s", "1h" }), `concurrency` (1), `rate`, `timeout` of an attempt, `keep`:
--   how long to keep jobs that are done or cancelled ("1 day"), `on_dead`, `db`
function public.jobs(name, options)
  local queue = read_queue(name, options)
  job_table.prepare(queue.db)
  return setmetatable({ queue = queue }, Jobs)
end

-- Adding ----------------------------------------------------------------------------------------------------------------------

local enqueue_options = {
  key = "string", on_key = "string", unique_for = "any", order_by = "any", delay = "any", at = "any", priority = "number",
}

local on_key_words = { "ignore", "raise", "replace" }

local function read_key(place, name, value)
  if value == nil then return nil end
  if math.type(value) == "integer" then value = tostring(value) end
  if type(value) ~= "string" or value == "" then
    checks.fail(place, ("option `%s`: expected a string or an integer, got %s"):format(name, errors.describe(value)))
  end
  if #value > longest_key then
    checks.fail(place, ("option `%s`: expected at most %d bytes, got %d"):format(name, longest_key, #value))
  end
  return value
end

local function read_run_at(place, options)
  if options.delay ~= nil and options.at ~= nil then checks.fail(place, "expected one of the options `delay` and `at`, got both") end
  if options.delay ~= nil then return perilune.now() + durations.read(place .. ": option `delay`", options.delay) end
  if options.at == nil then return nil end
  local is_date, date = pcall(perilune.date, options.at)
  return is_date and date or checks.fail(place, 'option `at`: expected a date ("2026-03-31 18:00"), got ' .. errors.describe(options.at))
end

local no_options = { priority = 0, on_key = "ignore" }

local function read_enqueue(place, options)
  if options == nil then return no_options end
  if type(options) == "string" or type(options) == "number" then
    checks.fail(place, ("expected a table of options, got %s; use { delay = %s }"):format(errors.describe(options), type(options) == "string" and ("%q"):format(options) or options))
  end
  options = checks.options(place, options, enqueue_options, "job_option")
  local priority = math.tointeger(options.priority or 0)
  if not priority then checks.fail(place, "option `priority`: expected an integer, got " .. errors.describe(options.priority)) end
  local on_key = options.on_key or "ignore"
  if not (on_key == "ignore" or on_key == "raise" or on_key == "replace") then errors.raise_unknown("on_key", on_key, on_key_words) end
  return {
    key = read_key(place, "key", options.key), order_by = read_key(place, "order_by", options.order_by), priority = priority, on_key = on_key,
    run_at = read_run_at(place, options), unique_for = options.unique_for and durations.read(place .. ": option `unique_for`", options.unique_for),
  }
end

local function encode(place, payload)
  local is_ok, text = pcall(perilune.json.encode, payload == nil and perilune.null or payload)
  if not is_ok then
    local message = type(text) == "userdata" and text.message or tostring(text)
    checks.fail(place, "argument 1: expected a payload that JSON can express: " .. message)
  end
  if #text > longest_payload then
    checks.fail(place, ("argument 1: expected a payload of at most %d bytes as JSON, got %d; keep it in a table of your own and enqueue its key")
      :format(longest_payload, #text))
  end
  return text
end

local function guarded(queue, f, ...)
  return require("perilune.native.databases").guarded(queue.db, f, ...)
end

--- Inserts a job. Returns the result of `db:execute`. If an unfinished job with the key may have existed before, also returns the
-- unfinished job that has the key.
local function insert(queue, text, read)
  if not read.key then return job_table.insert(queue.db, queue.name, text, read) end
  -- In one transaction, so that the other job cannot end between the two statements.
  return guarded(queue, function(handle)
    local result = job_table.insert(handle, queue.name, text, read)
    local is_known = result.changed_rows > 0 and read.on_key ~= "replace"
    return result, not is_known and job_table.find_live(handle, queue.name, read.key) or nil
  end)
end

--- Adds a job, in the open transaction if there is one.
-- @param payload a value that JSON can represent
-- @tparam ?table options `key`, with `on_key`, "ignore", "raise" or "replace": what to do if an unfinished job has the same key; and
--   `unique_for`: how long a job with the key also counts after it has finished; `order_by`: jobs with the same value run one after the
--   other; `delay` or `at`; `priority`
-- @treturn integer the id of the job, or of the existing job with the key
-- @treturn boolean whether it was added
function Jobs:enqueue(payload, options)
  local queue = self.queue
  local place = "jobs:enqueue"
  local read = read_enqueue(place, options)
  local text = encode(place, payload)
  if read.unique_for then
    local done = job_table.find_done(queue.db, queue.name, read.key, perilune.now() - read.unique_for)
    if done then
      job_table.extend(queue.db, done, read.unique_for)
      return done.id, false
    end
  end
  local result, existing = insert(queue, text, read)
  if result.changed_rows == 0 then
    if read.on_key == "ignore" then
      if read.unique_for then job_table.extend(queue.db, existing, read.unique_for) end
      return existing.id, false
    end
    errors.raise("job_exists", ("%s: job %d has the key `%s` already, and is %s"):format(place, existing.id, read.key, existing.state), {
      id = existing.id, state = existing.state })
  end
  wake.later(queue.db)
  return existing and existing.id or result.inserted_rowid, true
end

-- Working ---------------------------------------------------------------------------------------------------------------------

--- Calls a function for each job. At most `concurrency` jobs run at the same time.
-- @tparam function f receives a job: its payload's fields, `payload`, `id`, `key`, `attempt`, `is_repeat`
-- @tparam ?table options `transaction`: whether to run each job in the transaction that records it as done; if so, the function must not
--   wait
-- @return the handler, with `cancel`
function Jobs:handle(f, options)
  local place = "jobs:handle"
  if type(f) ~= "function" then checks.fail(place, "expected a function, got " .. errors.describe(f)) end
  options = checks.options(place, options, { transaction = "boolean" }, "handler_option")
  return job_workers.start(self.queue, f, options.transaction == true)
end

-- Managing --------------------------------------------------------------------------------------------------------------------

local function read_id(queue, method, value)
  local id = math.tointeger(value)
  if id then return id end
  if type(value) == "string" then
    local job = job_table.find_live(queue.db, queue.name, value)
    return job and job.id or -1
  end
  checks.fail("jobs:" .. method, "expected the id or the key of a job, got " .. errors.describe(value))
end

--- Cancels an unfinished job, given its id or key. Interrupts the job if it is running in this process. Returns whether there was such a
-- job.
function Jobs:cancel(id)
  local queue = self.queue
  id = read_id(queue, "cancel", id)
  local state = guarded(queue, job_table.cancel, queue.name, id)
  if state == "running" then job_workers.interrupt(queue, id) end
  if state then wake.later(queue.db) end
  return state ~= nil
end

--- Makes a dead or cancelled job ready again. Returns whether there was such a job.
function Jobs:retry(id)
  local queue = self.queue
  if not math.tointeger(id) then checks.fail("jobs:retry", "expected the id of a job, got " .. errors.describe(id)) end
  local is_ready = guarded(queue, job_table.retry, queue.name, id)
  if is_ready then wake.later(queue.db) end
  return is_ready
end

local finished_states = { "cancelled", "dead", "done" }

--- Deletes finished jobs. Returns their number.
-- @tparam ?table options `older_than`: the minimum time since they finished, "0s" by default; `states`: "done" and "cancelled" by
--   default
function Jobs:prune(options)
  local queue = self.queue
  local place = "jobs:prune"
  options = checks.options(place, options, { older_than = "any", states = "table" })
  local states = options.states or { "done", "cancelled" }
  for _, state in ipairs(states) do
    if state ~= "done" and state ~= "dead" and state ~= "cancelled" then errors.raise_unknown("state", tostring(state), finished_states) end
  end
  local before = perilune.now() - (options.older_than and durations.read(place .. ": option `older_than`", options.older_than) or -0.001)
  return guarded(queue, job_table.prune, queue.name, states, before, 1 << 40)
end

--- Returns the number of jobs in each state: ready, delayed, blocked, running, done, dead, cancelled.
function Jobs:counts()
  return job_table.counts(self.queue.db, self.queue.name)
end

--- Returns the row of a job, given its id or, until it is finished, its key; nil if it does not exist.
function Jobs:find(id)
  local queue = self.queue
  return job_table.find(queue.db, queue.name, read_id(queue, "find", id))
end

local states = { "blocked", "cancelled", "dead", "delayed", "done", "ready", "running" }

--- Returns the newest jobs, as rows of `perilune_job`.
-- @tparam ?table options `state`, `limit` (20)
function Jobs:list(options)
  local queue = self.queue
  if type(options) == "string" then checks.fail("jobs:list", ("expected a table of options, got the string; use { state = %q }"):format(options)) end
  options = checks.options("jobs:list", options, { state = "string", limit = "number" })
  if options.state then
    local is_known = false
    for _, state in ipairs(states) do is_known = is_known or state == options.state end
    if not is_known then errors.raise_unknown("state", options.state, states) end
  end
  return job_table.list(queue.db, queue.name, options.state, read_count("jobs:list", "limit", options.limit, 20))
end

--- Pauses the queue: no process starts any of its jobs until `resume`.
function Jobs:pause()
  job_table.pause(self.queue.db, self.queue.name, true)
end

function Jobs:resume()
  job_table.pause(self.queue.db, self.queue.name, false)
  wake.later(self.queue.db)
end

function Jobs:__tostring()
  return ('jobs "%s"'):format(self.queue.name)
end

checks.seal(Jobs, { "queue" }, "jobs")

return public
