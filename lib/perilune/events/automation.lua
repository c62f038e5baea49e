--- Automations: functions that run when something happens.

local errors = require "perilune.native.errors"
local records = require "perilune.native.records"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local files = require "perilune.events.automation_files"
local runs = require "perilune.events.automation_runs"
local triggers = require "perilune.events.automation_triggers"
local native = require "perilune.native.loop"

local automations = {}
--- All automations, in the order of their definition.
local list = {}
--- Where definitions go while a file is loaded; nil: they are live at once.
local staging

--- The number of active runs, and the waiter for it to reach zero, if any.
local running_count, idle_place = 0, nil
--- What is live whatever file is loaded, see `native.scope`.
local host_scope = 0
--- That of the file that was loaded last; nil: there is none.
local file_scope
--- The modules that it has required, while another one is loaded.
local former_modules

--- A day between two attempts is the most.
local longest_wait = 86400.0

local modes = { "parallel", "queued", "restart", "single" }
local option_kinds = {
  name = "string", description = "string", on = "any", when = "function", run = "function", mode = "string", max = "number",
  retry = "any", db = "any", keep = "number", enabled = "boolean",
}

-- One run ---------------------------------------------------------------------------------------------------------------------

--- Runs that are to be kept when nothing uses the database any more: code that triggers or cancels may be inside an access.
local unkept = {}
--- Whether keeping them is scheduled.
local is_keeping = false

--- Logs an error, at the place where the automation is defined.
local function log_error(self, message, e)
  perilune.log.error(message, { automation = self.name, error = tostring(e), script = self.file, line = self.line })
end

local keep_later

--- Retry limits for a busy database: the number of attempts, and of runs.
local most_delays, most_unkept = 10, 1000

local function is_delayed(details, e)
  local kind = type(e) == "userdata" and e.kind or ""
  details.delays = (details.delays or 0) + 1
  return (kind:find("^busy") or kind:find("^locked")) and details.delays <= most_delays and #unkept < most_unkept
end

--- Keeps a run, whose end nothing may disturb. A failure is logged, unless a caller waits for the run.
-- @tparam ?boolean is_last whether nothing can be tried again later, because the program ends
local function keep(self, details, is_awaited, is_last)
  -- A preview shows what the automation changes, not that it ran.
  if perilune.context == "preview" then return end
  local is_kept, failure = pcall(runs.add, self.db, details, self.keep)
  if not is_kept and not is_last and is_delayed(details, failure) then return keep_later(self, details, is_awaited, 1.0) end
  if not is_kept then log_error(self, "the run of an automation could not be recorded", failure) end
  if details.outcome == "failed" and not is_awaited then
    log_error(self, details.reason and "automation failed: " .. details.reason or "automation failed", details.error)
  end
end

--- Those that newer ones would push out of the table at once need not be written, unless they must be logged: a thousand events
-- that come together are a thousand transactions otherwise.
local function without_superseded(list_of_runs)
  local counts, wanted = {}, {}
  for index = #list_of_runs, 1, -1 do
    local self, details = list_of_runs[index][1], list_of_runs[index][2]
    counts[self] = (counts[self] or 0) + 1
    wanted[index] = counts[self] <= self.keep or details.outcome == "failed"
  end
  local kept = {}
  for index, run in ipairs(list_of_runs) do
    if wanted[index] then kept[#kept + 1] = run end
  end
  return kept
end

local function keep_unkept(is_last)
  local kept = without_superseded(unkept)
  unkept, is_keeping = {}, false
  for _, run in ipairs(kept) do keep(run[1], run[2], run[3], is_last) end
end

--- Keeps a run once the script waits or has come to its end.
function keep_later(self, details, is_awaited, seconds)
  unkept[#unkept + 1] = { self, details, is_awaited }
  if is_keeping then return end
  -- If there is too much going on the next run has them kept.
  is_keeping = pcall(native.start, function()
    if seconds then native.sleep(seconds) end
    keep_unkept()
  end, nil, false, host_scope)
end

local function finish(run, outcome, details, is_later)
  local self = run.automation
  self.running[run] = nil
  self.running_count = self.running_count - 1
  running_count = running_count - 1
  if outcome == "cancelled" then details.reason = run.reason end
  details.automation, details.trigger, details.started_at = self.name, run.trigger, run.started_at
  details.duration, details.outcome, details.attempts = native.now() - run.start, outcome, run.attempts
  local statements, count = run.read_statements()
  if count > #statements then statements[#statements + 1] = ("and %d more"):format(count - #statements) end
  details.statements = perilune.json.array(statements)
  if is_later then
    keep_later(self, details, run.on_end)
  else
    if #unkept > 0 and not is_keeping then keep_unkept() end
    keep(self, details, run.on_end)
  end
  if run.on_end then run.on_end(details) end
  automations.start_waiting(self)
  if running_count == 0 and idle_place then native.release(idle_place) end
end

local attempt

--- Whether an error says that the whole program is to end.
local function is_cancellation(e)
  return type(e) == "userdata" and e.kind == "cancelled"
end

--- Begins a part of a run. If there is too much going on already for that, the run has failed.
local function begin(run, f)
  local is_ok, e = pcall(f)
  if is_ok then return end
  run.is_over = true
  finish(run, "failed", { error = e }, true)
end

--- What comes after an attempt that has failed: another one, later, or the end.
local function fail(run, e)
  if run.is_over then return end
  run.is_cancelled = run.is_cancelled or is_cancellation(e)
  local retry = run.automation.retry
  if run.is_cancelled or run.attempts > retry.times then
    run.is_over = true
    return finish(run, run.is_cancelled and "cancelled" or "failed", { error = e })
  end
  -- Wherever 0 times infinity might come out, 0 does.
  local wait = retry.wait == 0 and 0.0 or math.min(retry.wait * retry.factor ^ (run.attempts - 1), longest_wait)
  begin(run, function()
    run.timer = native.start_timer(wait, nil, function()
      run.timer = nil
      attempt(run)
    end)
  end)
end

local function succeed(run, reason)
  if run.is_over then return end
  run.is_over = true
  finish(run, run.is_cancelled and "cancelled" or reason and "skipped" or "succeeded", { reason = reason })
end

--- Puts what it observes where guard and function find it.
local function take_values(context, values)
  context.value, context.values = values[1], values
end

--- Runs guard and function in a task of its own: what ends it (an error, a limit) ends nothing else.
function attempt(run)
  local self = run.automation
  run.attempts = run.attempts + 1
  begin(run, function()
    run.task, run.read_statements = native.start(function()
      if run.fetch_values then take_values(run.context, table.pack(run.fetch_values(self.db))) end
      if self.when and not self.when(run.context) then return succeed(run, "guard") end
      self.run_function(run.context)
      succeed(run)
    end, function(e) fail(run, e) end, true, self.scope)
  end)
end

local function no_statements()
  return {}, 0
end

--- Runs an automation.
-- @tparam ?table values what a change has given, packed
-- @tparam ?function on_end gets the details of the run, for who waits for it
local function start(self, trigger, values, on_end)
  local context = { automation = self, trigger = trigger, db = self.db, event = trigger.data }
  if values then take_values(context, values) end
  local run = {
    automation = self, trigger = trigger, context = context, attempts = 0, started_at = perilune.now(), start = native.now(),
    on_end = on_end, read_statements = no_statements,
    -- Who runs it by hand has it see what a change would give.
    fetch_values = trigger.kind == "manual" and self.fetch_values or nil,
  }
  self.running[run] = true
  self.running_count = self.running_count + 1
  running_count = running_count + 1
  attempt(run)
end

--- Ends a run: where it waits it gets an error, after which it may clean up.
local function cancel_run(run, reason)
  run.is_cancelled, run.reason = true, reason
  if run.timer then
    native.stop(run.timer)
    run.is_over = true
    return finish(run, "cancelled", {}, true)
  end
  local was_live, has_begun = native.stop(run.task, true)
  -- One that has not begun never will.
  if was_live and not has_begun then
    run.is_over = true
    finish(run, "cancelled", {}, true)
  end
end

-- Triggers --------------------------------------------------------------------------------------------------------------------

local function skip(self, trigger, reason)
  keep_later(self, {
    automation = self.name, trigger = trigger, started_at = perilune.now(), duration = 0, attempts = 0, outcome = "skipped",
    reason = reason,
  })
end

--- What is to be noticed could not be looked at: a failed run, as it were; it is looked at again some time later.
-- @tparam ?number seconds until then; nil if it is the end
local function fail_to_look(self, e, seconds)
  local reason = "its observed value could not be fetched"
  if seconds then reason = ("%s; retrying in %gs"):format(reason, seconds) end
  keep_later(self, {
    automation = self.name, trigger = { kind = "change" }, started_at = perilune.now(), duration = 0, attempts = 0,
    outcome = "failed", reason = reason, error = e,
  })
end

--- Starts the next of those that wait.
function automations.start_waiting(self)
  local next_one = self.running_count == 0 and table.remove(self.waiting, 1)
  if next_one then start(self, next_one.trigger, next_one.values) end
end

local on_trigger = {
  single = function(self, trigger, values)
    if self.running_count > 0 then return skip(self, trigger, "still running") end
    start(self, trigger, values)
  end,
  restart = function(self, trigger, values)
    for run in pairs(self.running) do cancel_run(run, "triggered again") end
    start(self, trigger, values)
  end,
  queued = function(self, trigger, values)
    if self.running_count == 0 then return start(self, trigger, values) end
    if #self.waiting >= self.max then return skip(self, trigger, "queue is full") end
    self.waiting[#self.waiting + 1] = { trigger = trigger, values = values }
  end,
  parallel = function(self, trigger, values)
    if self.running_count >= self.max then return skip(self, trigger, "too many at once") end
    start(self, trigger, values)
  end,
}

-- Automations -----------------------------------------------------------------------------------------------------------------

local Automation = { __name = "perilune.automation" }

--- Runs the automation now, guard included, as if it had been triggered: what it observes is fetched first.
-- @param data what the function finds in `context.event`
function Automation:run(data)
  if self.is_removed then errors.raise("usage", ('automation "%s": it has been removed'):format(self.name)) end
  on_trigger[self.mode](self, { kind = "manual", data = data })
end

--- Has it triggered again after `disable`.
function Automation:enable()
  if self.source or self.is_removed then return end
  self.enabled = true
  -- Now, since a change of the schema has everything looked at again: the first run would be followed by another.
  if perilune.context ~= "preview" then pcall(runs.prepare, self.db) end
  self.source = self.start_trigger(self.db, function(trigger, values)
    if not self.is_removed then on_trigger[self.mode](self, trigger, values) end
  end, function(e, seconds) fail_to_look(self, e, seconds) end)
end

--- Has it not triggered any more. What runs goes on.
function Automation:disable()
  self.enabled = false
  if self.source then self.source:cancel() end
  self.source = nil
  self.waiting = {}
end

--- Whether it is triggered.
function Automation:is_enabled()
  return self.enabled
end

--- Whether it runs now.
function Automation:is_running()
  return self.running_count > 0
end

--- The last runs, newest first, as the table `perilune_automation_run` has them.
-- @tparam ?integer count 20 by default
function Automation:runs(count)
  return runs.last(self.db, self.name, count or 20)
end

local function remove(self, reason)
  self:disable()
  self.is_removed = true
  for run in pairs(self.running) do cancel_run(run, reason) end
  for index, automation in ipairs(list) do
    if automation == self then return table.remove(list, index) and nil end
  end
end

--- Ends it for good, with what runs.
function Automation:remove()
  remove(self, "removed")
end

Automation.__metatable = "automation"
checks.seal(Automation, { "description", "fetch_values", "file", "is_removed", "line", "source", "when" })
Automation.__tostring = function(self) return ("automation %s (%s)"):format(self.name, self.trigger_text) end

-- Definitions -----------------------------------------------------------------------------------------------------------------

local function read_retry(place, retry)
  if retry == nil then return { times = 0, wait = 1.0, factor = 2 } end
  if math.type(retry) == "integer" then retry = { times = retry } end
  local options = checks.options(place .. ": option `retry`", retry, { times = "number", wait = "any", factor = "number" })
  local times = math.tointeger(options.times or 3)
  if not times or times < 0 then
    checks.fail(place, "option `retry.times`: expected an integer from 0, got " .. errors.describe(options.times))
  end
  local factor = options.factor or 2
  if not (factor >= 1 and factor <= 1000) then
    checks.fail(place, "option `retry.factor`: expected a number from 1 to 1000, got " .. errors.describe(factor))
  end
  local wait = require("perilune.runtime.durations").read(place .. ": option `retry.wait`", options.wait or 1)
  return { times = times, wait = wait, factor = factor }
end

local function read_count(place, name, value, default)
  if value == nil then return default end
  local count = math.tointeger(value)
  if not count or count < 1 then checks.fail(place, ("option `%s`: expected an integer from 1, got %s"):format(name, errors.describe(value))) end
  return count
end

local function read_definition(options)
  local place = "perilune.automation"
  options = checks.options(place, options == nil and checks.fail(place, "expected a table of options, got nil") or options, option_kinds)
  if options.name == nil or options.name == "" then checks.fail(place, "option `name`: expected a name, got none") end
  place = ('perilune.automation "%s"'):format(options.name)
  if not options.run then checks.fail(place, "option `run`: expected a function, got nil") end
  if options.db ~= nil and not records.is_database(options.db) then
    checks.fail(place, "option `db`: expected a database, got " .. errors.describe(options.db))
  end
  local mode = options.mode or "single"
  if not on_trigger[mode] then errors.raise_unknown("mode", mode, modes) end
  local text, start_trigger, fetch_values = triggers.read(place, options.on)
  local file, line = errors.position()
  return setmetatable({
    name = options.name, description = options.description, trigger_text = text, start_trigger = start_trigger, fetch_values = fetch_values,
    when = options.when, run_function = options.run, mode = mode, max = read_count(place, "max", options.max, 10),
    retry = read_retry(place, options.retry), keep = read_count(place, "keep", options.keep, 100),
    db = options.db or perilune.database, enabled = options.enabled ~= false, running = {}, running_count = 0, waiting = {},
    scope = native.scope(), file = file, line = line,
  }, Automation)
end

local function check_name(self, others)
  for _, other in ipairs(others) do
    if other.name == self.name then
      errors.raise("definition", ('perilune.automation "%s": an automation of that name already exists'):format(self.name))
    end
  end
end

--- Defines an automation, which is live from then on, as long as the program runs.
--
--     perilune.automation{
--       name = "low stock",
--       on = { change = Product:filter(Product.c.stock:lt(10)), initially = true },
--       when = function(context) return #context.value > 0 end,
--       run = function(context) ... end,
--     }
-- @tparam table options `on`: { change = tables (or their schema), a request, or a function that fetches; initially = whether the first
--   value counts; poll = how often to look whether another process has written, "1s" for example, for which all rows of tables are
--   read; false: not at all },
--   { schedule = "0 9 * * mon-fri" }, { every = "5m" } or { event = "name" }, see `perilune.emit`; `when`: the guard;
--   `mode`: what a trigger does while it runs: "single" (nothing, the default), "restart", "queued" or "parallel", of which there are at
--   most `max` (10); `retry`: { times =, wait = "1s", factor = 2 }; `keep`: how many runs are kept (100); `enabled`; `db`; `description`
function perilune.automation(options)
  local self = read_definition(options)
  if staging then
    check_name(self, staging)
    staging[#staging + 1] = self
    return self
  end
  check_name(self, list)
  if self.enabled then self:enable() end
  list[#list + 1] = self
  return self
end

--- All automations, in the order of their definition.
function perilune.automations()
  return table.move(list, 1, #list, 1, {})
end

-- Files -----------------------------------------------------------------------------------------------------------------------

--- Ends all that was started in a scope.
local function end_scope(scope)
  native.end_scope(scope)
  require("perilune.events.transaction_observers").end_scope(scope)
end

--- What keeps one from being triggered is reported with its name and place: its file has come to its end already.
local function enable(self)
  local is_ok, e = pcall(self.enable, self)
  if is_ok then return end
  if is_cancellation(e) or not self.file then error(e, 0) end
  errors.raise(e.kind, ('automation "%s": %s'):format(self.name, e.message), { file = self.file, line = self.line })
end

--- Has them triggered, or only listed: what they do when they are run by hand does not end with their file then.
local function begin_all(loaded, is_live)
  for _, self in ipairs(loaded) do
    if not is_live then self.scope = host_scope elseif self.enabled then enable(self) end
  end
end

--- Runs a chunk that defines automations, in a scope of its own, and replaces all others by these; what the file that
-- was loaded before has started ends then.
-- @tparam function chunk
-- @tparam boolean is_live whether what is defined is triggered from then on; else it is only listed
-- @tparam ?number poll the seconds between two looks whether another process has written, for those that do not say
-- @return how many there are now
function automations.load(chunk, is_live, poll)
  local scope, former, former_scope = native.scope(), perilune.automations(), file_scope
  staging, triggers.poll, former_modules = {}, poll, files.forget_modules()
  chunk()
  begin_all(staging, is_live)
  list, staging, former_modules = staging, nil, nil
  file_scope = scope
  for _, self in ipairs(former) do remove(self, "the file was reloaded") end
  if former_scope then end_scope(former_scope) end
  if not is_live then end_scope(scope) end
  return #list
end

--- Ends all of them because the program does, and waits for the runs, which are kept.
-- @return how many have run
function automations.stop()
  local count = running_count
  for _, self in ipairs(perilune.automations()) do remove(self, "the program has ended") end
  if running_count > 0 then idle_place = native.make_place() end
  while running_count > 0 do native.wait(idle_place) end
  idle_place = nil
  keep_unkept(true)
  if file_scope then end_scope(file_scope) end
  file_scope = nil
  return count
end

--- Ends all that a file has started before it has failed. What there was goes on.
function automations.abandon(scope)
  local failed = staging or {}
  staging = nil
  if former_modules then files.put_back(former_modules) end
  former_modules = nil
  for _, self in ipairs(failed) do self:remove() end
  end_scope(scope)
end

automations.module_paths = files.paths

--- What people want to know of each.
function automations.describe()
  local rows = {}
  for index, self in ipairs(list) do
    local last = runs.last(self.db, self.name, 1)[1]
    rows[index] = {
      name = self.name, trigger = self.trigger_text, mode = self.mode, is_enabled = self.enabled,
      last_run = last and last.started_at, outcome = last and last.outcome, description = self.description,
    }
  end
  return rows
end

--- Runs one now, guard included, and waits for its end.
-- @return how it ended: outcome, reason, attempts, duration; a failure is raised
function automations.try(name, data)
  local names = {}
  for index, self in ipairs(list) do
    if self.name == name then
      local place, result = native.make_place(), nil
      start(self, { kind = "manual", data = data }, nil, function(details)
        result = details
        native.release(place)
      end)
      while not result do native.wait(place) end
      if result.outcome == "failed" then error(result.error, 0) end
      return { outcome = result.outcome, reason = result.reason, attempts = result.attempts, duration = result.duration }
    end
    names[index] = self.name
  end
  errors.raise_unknown("automation", tostring(name), names)
end

--- Raises unless there is an automation of a name, or was one when it ran.
local function check_known(name)
  local names = runs.names(perilune.database)
  for _, self in ipairs(list) do names[#names + 1] = self.name end
  for _, known in ipairs(names) do
    if known == name then return end
  end
  if #names == 0 then errors.raise("unknown_automation", ("no automation `%s`; none of that name has run on this database"):format(name)) end
  errors.raise_unknown("automation", name, names)
end

--- The last runs that the default database keeps, newest first.
-- @tparam ?string name of this one only
function automations.runs(name, count)
  if name then check_known(name) end
  local list_of_runs = {}
  for index, run in ipairs(runs.last(perilune.database, name, count)) do
    list_of_runs[index] = {
      automation = run.automation, started_at = run.started_at, outcome = run.outcome, attempts = run.attempts,
      duration_ms = run.duration_ms, trigger = run.trigger, reason = run.reason, error = run.error, statements = run.statements,
    }
  end
  return list_of_runs
end

return automations
