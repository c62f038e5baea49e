--- The context `t`, which scenarios receive.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local native_records = require "perilune.native.records"
local checks = require "perilune.runtime.checks"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"
local failures = lazily "scenarios.reports.failures"
local changes = lazily "scenarios.tables.changes"
local queries = lazily "scenarios.data.queries"
local steps = require "scenarios.base.steps"

local scenario_context = {}

local function check_name(what, ...)
  require("scenarios.defining.definitions").check_name(what, ...)
end

local function check_function(what, f)
  if type(f) ~= "function" then
    state.mistake("%s: expected a function, got %s", what, errors.describe(f))
  end
end

--- The functions of `t`. They are called with a dot, as `t.step("...", f)`.
local members = {}

-- Reporting

--- Calls a function and catches its error, to record the step in which it was raised. The caller must raise the error again with
-- `raise_again`.
-- @return whether it succeeded; its results packed, or the caught error
local function call_inside(current, f)
  local is_done, results = failures.protect(f)
  -- The error is recorded only once, so that the report names the innermost step and the position in it.
  if not is_done and not (current.caught and rawequal(current.caught.value, results.value)) then
    results.step, current.caught = steps.current(current), results
  end
  return is_done, results
end

local function raise_again(caught)
  error(caught.value, 0)
end

--- Returns a time in milliseconds for differences. The clock of the scenario, which scripts see, stands still.
local function real_time()
  if not state.has("elapsed_ms") then return os.clock() * 1000 end
  return state.host("elapsed_ms")()
end

--- Runs a named part of the scenario. Reports of errors name the step.
-- @return the results of the function
function members.step(name, f)
  check_name("t.step", name)
  check_function("t.step", f)
  local current = state.require("t.step")
  local _, line = errors.position()
  local begin, failed_before = real_time(), #current.failures
  local step, outer = steps.begin(current, name, line)
  local is_done, results = call_inside(current, f)
  steps.leave(current, outer)
  step.ms = real_time() - begin
  step.outcome = is_done and #current.failures == failed_before and "passed" or current.is_skipped and "skipped" or "failed"
  if not is_done then
    -- A failed step fails the scenario, even if the error is caught.
    local kind = failures.is_error_object(results.value) and results.value.kind
    if kind ~= "scenario_skip" and kind ~= "cancelled" then failures.remember(current, results) end
    raise_again(results)
  end
  return table.unpack(results, 2, results.n)
end

--- Adds a remark to the report.
function members.note(...)
  local parts = table.pack(...)
  for index = 1, parts.n do parts[index] = type(parts[index]) == "string" and parts[index] or display.show(parts[index]) end
  table.insert(state.require("t.note").notes, table.concat(parts, " "))
end

--- Attaches a value to the report: strings unchanged, anything else in Lua syntax.
function members.attach(name, value)
  check_name("t.attach", name)
  local text = type(value) == "string" and value or display.pretty(value)
  table.insert(state.require("t.attach").attachments, { name = name, text = text })
end

--- Registers a function to be called at the end of the scenario, even if the scenario fails. Functions are called in reverse order.
function members.defer(f)
  check_function("t.defer", f)
  table.insert(state.require("t.defer").deferred, f)
end

--- Ends the scenario as skipped.
function members.skip(reason)
  local current = state.require("t.skip")
  if reason ~= nil and type(reason) ~= "string" then
    errors.raise("argument", "t.skip: expected the reason, got " .. errors.describe(reason))
  end
  current.is_skipped, current.skip_reason = true, reason or "skipped"
  errors.raise("scenario_skip", current.skip_reason)
end

-- Scripts and migrations

local function check_path(what, path)
  if type(path) ~= "string" or path == "" then
    state.mistake("%s: argument 1: expected the path of a script, got %s", what, errors.describe(path))
  end
end

local result_metatable = { __name = "result of a script" }
function result_metatable.__index(result, name)
  if type(name) ~= "string" then return nil end
  if name == "changes" and rawget(result, "changes_error") then
    errors.raise("usage", "the changes of the script could not be recorded: " .. rawget(result, "changes_error"))
  end
  local names = { "value", "output", "error", "changes", "effects", "queries" }
  for _, known in ipairs(names) do
    if known == name then return nil end
  end
  errors.raise_unknown("member", name, names)
end

--- The metatable of results of `t.run_protected`. Such a result is true in a condition even if the script has failed.
local protected_metatable = { __name = result_metatable.__name, __index = result_metatable.__index, __is_always_true = true }

local function run(what, path, arguments)
  check_path(what, path)
  if arguments ~= nil and type(arguments) ~= "table" then
    state.mistake("%s: argument 2: expected a table of arguments, got %s; use %s(path, { %s })", what, errors.describe(arguments), what,
      type(arguments) == "string" and #arguments < 60 and display.quoted(arguments) or "...")
  end
  state.require(what)
  if state.has("require_no_access") then state.host("require_no_access")(what) end
  local result = state.host("run_script")(path, arguments)
  result.changes = result.changes and changes.mark(result.changes)
  result.queries = result.queries and queries.mark(result.queries)
  for _, call in ipairs(result.effects or {}) do call.arguments = require("scenarios.context.effects").list_of(call.arguments) end
  return setmetatable(result, result_metatable)
end

--- If an error means that Lua's own `require` did not find a module, returns the name of the module; otherwise nil.
local function missing_module(err)
  local message = failures.is_error_object(err) and err.message or err
  return type(message) == "string" and message:match("module '([^']+)' not found:\n")
end

--- Returns whether an error means that `require` did not find a module.
local function is_missing_module(err)
  return missing_module(err) ~= nil or failures.is_error_object(err) and err.kind == "module_not_found"
end

--- Returns a line that explains how to allow or stub the refused effect; nil for other errors.
local function cure_of(err)
  local name = missing_module(err)
  if name then
    return ('t.effects["%s"]:stub("function", value) replaces a module that only the host provides'):format(name)
  elseif not failures.is_error_object(err) then
    return nil
  elseif err.kind == "preview" then
    return ('the scenario option grants = { "%s" } allows it'):format(err.grant or "files")
  elseif err.kind == "module_not_found" then
    return 't.effects.NAME:stub("function", value) replaces a module that only the host provides'
  end
end

--- Raises the error of a script as an error of the scenario.
local function raise_script_error(path, e)
  local message, file, line = failures.describe(e)
  if missing_module(e) then message = message:match("^[^\n]*not found") end
  local details = {}
  if failures.is_error_object(e) and e.sql then details[1] = "SQL   " .. e.sql:gsub("%s+", " ") end
  details[#details + 1] = cure_of(e)
  details[#details + 1] = failures.suggestion(e)
  local calls = failures.is_error_object(e) and failures.places(tostring(e.traceback)) or {}
  if #calls > 1 then details[#details + 1] = "trace " .. table.concat(calls, " < ") end
  local place = file and ("%s:%s"):format(file, line or "?") or path
  errors.raise("script", place .. ": " .. message, { details = details, cause = e })
end

--- Runs a script as the command line tool does, in a separate state on this database. If the script fails, the scenario fails.
function members.run(path, arguments)
  local result = run("t.run", path, arguments)
  if result.error == nil then return result end
  raise_script_error(path, result.error)
end

--- Runs a script like `t.run`, but returns its error as the field `error` of the result. A missing module fails the scenario, because
-- the script has not reached the behaviour that the scenario tests.
function members.run_protected(path, arguments)
  local result = run("t.run_protected", path, arguments)
  if result.error == nil then return setmetatable(result, protected_metatable) end
  if is_missing_module(result.error) then raise_script_error(path, result.error) end
  local current = state.require("t.run_protected")
  current.protected_error = { path = path, error = result.error }
  return setmetatable(result, protected_metatable)
end

--- Starts a service: a file of automations that runs in a separate state, which the scenario can end like a process.
-- @tparam ?table options `failures`
function members.service(path, options)
  return require("scenarios.context.services").start(path, options, raise_script_error)
end

--- Runs the migrations of the project on this database.
-- @tparam ?table options `to`: the last migration to run, or a prefix of its name
function members.migrate(options)
  if type(options) == "string" then state.mistake("t.migrate: expected a table of options, got a string; use t.migrate{ to = %q }", options) end
  return state.host("migrate")(checks.options("t.migrate", options, { to = "string" }, "scenario_migrating_option").to)
end

--- Undoes the last migration with its `down`.
-- @return the name of the migration
function members.migrate_down()
  local migrator = perilune.migrator{ folder = state.host("migrations_folder")() }
  return migrator:migrate_down(native_records.default_database())
end

-- Watching

--- Calls a function, and returns the changes or statements that the runner records during the call.
-- @tparam string what "changes" or "queries"
local function watch(what, f)
  check_function("t." .. what, f)
  local current = state.require("t." .. what)
  local number = state.host("begin_" .. what)()
  local is_done, results = call_inside(current, f)
  local list = state.host("end_" .. what)(number)
  if not is_done then raise_again(results) end
  return list
end

--- Returns the changes of rows that a function makes: expect(...):rows [[ | op | table | key | ... ]].
function members.changes(f)
  return changes.mark(watch("changes", f))
end

--- Returns the statements that a function executes.
function members.queries(f)
  return queries.mark(watch("queries", f))
end

--- Waits until all due timers, observations and automations have been called, and their tasks have ended or are sleeping. The clock does
-- not advance; use `t.clock:advance` to reach later events.
function members.wait_until_idle()
  state.require("t.wait_until_idle")
  state.host("require_no_access")("t.wait_until_idle")
  state.host("wait_until_quiet")(0.0)
end

for name, f in pairs(members) do
  local limited = arity.limited("t." .. name, f)
  members[name] = function(...)
    local current = state.current
    if current and rawequal((...), current.context) then state.mistake("t.%s: call it with a dot, as in t.%s(...)", name, name) end
    return limited(...)
  end
end

-- Values

local function fixtures_proxy(current)
  local definitions = require "scenarios.defining.definitions"
  local values, making = {}, {}
  return state.proxy("t.fixtures", function(name)
    if values[name] then return values[name].value end
    local fixture = definitions.fixtures[name]
    if not fixture then errors.raise_unknown("fixture", name, display.keys(definitions.fixtures)) end
    if making[name] then errors.raise("usage", ("the fixture `%s` depends on itself"):format(name)) end
    making[name] = true
    local value, clean_up = fixture.body(current.context)
    if type(clean_up) == "function" then
      state.mistake("fixture %s: it returned a second value, a function, which would never be called; use t.defer(f) in it to clean up", display.show(name))
    end
    values[name] = { value = value }
    return value
  end, "")
end

--- The fields of `t` that are not functions, by name: functions that return the value of the field for the current run. Each is called at
-- most once per run.
local values = {
  db = function() return native_records.default_database() end,
  given = function() return require("scenarios.data.given").proxy() end,
  make = function() return require("scenarios.data.factories").proxy() end,
  fixtures = fixtures_proxy,
  clock = function() return require "scenarios.context.clock" end,
  effects = function() return require("scenarios.context.effects").proxy end,
  seed = function(current) return current.info.seed end,
}

function values.tmp_dir(current)
  return current.info.tmp_dir or state.host("tmp_dir")()
end

--- Returns the names of all fields of `t`.
function scenario_context.names()
  local set = { case = true }
  for name in pairs(members) do set[name] = true end
  for name in pairs(values) do set[name] = true end
  return display.keys(set)
end

--- Creates the context of a run.
function scenario_context.new(current)
  local made = {}
  return setmetatable({}, {
    __index = function(_, name)
      if members[name] then return members[name] end
      if made[name] ~= nil then return made[name] end
      if name == "case" then return current.scenario.case_values end
      if not values[name] and require("scenarios.defining.definitions").fixtures[name] then
        errors.raise("unknown_member", ("no member `%s`; use t.fixtures.%s"):format(name, name), { name = name })
      end
      if not values[name] then require("perilune.runtime.other_names").raise("scenario_t", "member", name, scenario_context.names()) end
      made[name] = values[name](current)
      return made[name]
    end,
    __newindex = function(_, name)
      state.mistake("t.%s cannot be set; %s", tostring(name), name == "clock" and "use t.clock:set(instant), or the option `clock`"
        or "use a local variable of the file, or a fixture, fixture(name, function(t) ... end), whose value is t.fixtures.name")
    end,
    __tostring = function() return "t" end,
    __name = "t", __described = "the context of the scenario",
  })
end

return scenario_context
