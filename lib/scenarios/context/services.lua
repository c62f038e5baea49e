--- Services of a scenario: `t.service("automations.lua")` runs a file of automations like `perilune automations run`, in a separate state
-- that uses the database of the scenario. The scenario can end it as if it were a process.

local errors = require "perilune.native.errors"
local native_loop = require "perilune.native.loop"
local checks = require "perilune.runtime.checks"
local scenario_options = lazily "scenarios.defining.options"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"

local services = {}

local Service = { __name = "service of a scenario", __metatable = "service" }

local function call(name, ...)
  state.host("require_no_access")("service:" .. name)
  return state.host(name .. "_service")(...)
end

--- Ends the service as SIGKILL would: an open transaction is rolled back, and no other code of the service runs.
function Service:kill()
  call("kill", self.number)
  rawset(self, "has_ended", true)
  return self
end

--- Ends the service as SIGTERM would: its runs are interrupted where they wait.
function Service:stop()
  call("stop", self.number)
  rawset(self, "has_ended", true)
  return self
end

--- Errors that do not come from the file of a service.
local is_foreign = { cancelled = true, io = true, timeout = true, usage = true }

--- Loads the file of a service. Errors from the file are raised as errors of a script.
local function load(path, raise_script_error, f, ...)
  local is_ok, result = pcall(f, ...)
  if is_ok then return result end
  if type(result) == "userdata" and is_foreign[result.kind] then error(result, 0) end
  raise_script_error(path, result)
end

--- Starts the service again, with a new state.
function Service:start()
  load(self.path, self.raise_script_error, call, "restart", self.number)
  rawset(self, "has_ended", nil)
  return self
end

--- Returns whether the service has been started, and neither stopped nor killed since.
function Service:is_running()
  return state.host("is_service_running")(self.number)
end

--- Returns the printed text.
function Service:output()
  return state.host("service_output")(self.number)
end

--- Remembers the time by which a wait has advanced the clock, by the place of its call.
local function remember_advance(current, file, line, seconds)
  if seconds < 0.001 then return end
  current.advances = current.advances or {}
  local key = ("%s:%s"):format(file, line)
  local entry = current.advances[key]
  if not entry then
    entry = { file = file, line = line, seconds = 0 }
    current.advances[key] = entry
    table.insert(current.advances, entry)
  end
  entry.seconds = entry.seconds + seconds
end

local units = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" } }

--- Returns a duration in words, such as "28 days" or "1 hour 30 minutes".
local function duration_text(seconds)
  local parts = {}
  for _, unit in ipairs(units) do
    local count = seconds // unit[1]
    seconds = seconds - count * unit[1]
    if count > 0 then parts[#parts + 1] = ("%d %s%s"):format(count, unit[2], count == 1 and "" or "s") end
  end
  if seconds >= 1 or #parts == 0 then parts[#parts + 1] = ("%.3g s"):format(seconds) end
  return table.concat(parts, " ")
end

--- Returns the notes for a failed scenario about `run_until_idle`, which may advance the clock further than expected.
function services.notes(current)
  local notes = {}
  for index, entry in ipairs(current.advances or {}) do
    local place = entry.file and (" (%s:%d)"):format(require("scenarios.base.source").path(entry.file), entry.line or 0) or ""
    notes[index] = ("service:run_until_idle advanced the clock by %s%s; t.wait_until_idle() runs only what is due now"):format(
      duration_text(entry.seconds), place)
  end
  return notes
end

--- Advances the clock until no remaining run or job will continue by itself. Ignores runs that wait for a signal without a timeout, and the
-- next due times of schedules.
-- @tparam ?table options `within`: the maximum time by which the clock advances, "1 year" by default
function Service:run_until_idle(given)
  for _, name in ipairs{ "limit", "timeout", "max", "for_" } do
    if type(given) == "table" and given[name] ~= nil then
      state.mistake("service:run_until_idle: no option `%s`; use the option within = \"30 days\"", name)
    end
  end
  given = checks.options("service:run_until_idle", given, { within = { scenario_options.duration, 'a duration ("30 days")' } })
  state.host("require_no_access")("service:run_until_idle")
  if self.has_ended then state.mistake("service:run_until_idle: the service is not running; call service:start() first") end
  local within = given.within or 366 * 86400.0
  local file, line = errors.position()
  local start = native_loop.now()
  local pending = state.host("run_until_idle")(within + 0.0)
  if state.current then remember_advance(state.current, file, line, native_loop.now() - start) end
  if pending then
    errors.raise("not_idle", ("service:run_until_idle: %s, and more time than `within` would pass (%g days)"):format(pending, within / 86400))
  end
  return self
end

function Service:__tostring()
  return ("service %s%s"):format(display.quoted(self.path), self:is_running() and "" or " (not running)")
end

checks.seal(Service, { "number", "path", "raise_script_error", "has_ended" }, "service")

local failures_values = { allow = true, fail = true }

local function failures_value(value)
  return failures_values[value] and value or nil
end

--- Starts a service.
-- @tparam string path the file of automations
-- @tparam ?table given `failures`: "allow" if the runs and jobs of the service may fail, or "fail", the default
-- @tparam function raise_script_error receives the path and an error
function services.start(path, given, raise_script_error)
  if type(path) ~= "string" or path == "" then
    state.mistake("t.service: argument 1: expected the path of a file of automations, got %s%s", errors.describe(path),
      type(path) == "table" and '; use t.service(path, { failures = "allow" })' or "")
  end
  local options = checks.options("t.service", given, { failures = { failures_value, '"allow" or "fail"' } }, "service_option")
  state.require("t.service")
  state.host("require_no_access")("t.service")
  local number = load(path, raise_script_error, state.host("start_service"), path, options.failures == "allow")
  return setmetatable({ number = number, path = path, raise_script_error = raise_script_error }, Service)
end

return services
