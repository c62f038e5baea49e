--- The definitions in scenario files: scenarios, groups, templates, factories, fixtures.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"
local state = require "scenarios.base.state"
local source = lazily "scenarios.base.source"
local scenario_options = lazily "scenarios.defining.options"
local cases_of = lazily "scenarios.defining.cases"
local display = lazily "scenarios.reports.display"

local scenario_definitions = {
  --- The scenarios in order, and by id.
  scenarios = {}, by_id = {},
  --- The templates in order, and by name.
  templates = {}, templates_by_name = {},
  --- Fixtures by name: { name, body, file, line }.
  fixtures = {},
  --- Factories by lowercase table name: { columns, file, line }.
  factories = {},
}

--- The group that contains the current definitions: { names, options, before, after, outer }. `shared` is the group of support.lua.
local shared = { names = {}, options = {}, before = {}, after = {} }
local group = shared

--- The number of calls in the file that define scenarios, the number of calls that succeeded, and the number of the only wanted call, or
-- nil.
local ordinal, defined, wanted = 0, 0, nil

--- Keeps only the scenario that the n-th call defines; without a number, keeps all of them. Other calls are not checked.
function scenario_definitions.want(number)
  wanted = number
end

--- Starts a file.
function scenario_definitions.begin_file()
  ordinal, defined = 0, 0
  group = state.file.is_support and shared or { names = {}, options = {}, before = {}, after = {}, outer = shared }
end

local function position()
  local file, line = errors.position()
  return file and source.path(file) or "?", line or 0
end

local function check_phase(what)
  if state.phase == "running" then
    errors.raise("usage", what .. ": definitions must be outside of scenarios; this one was made while a scenario was running")
  elseif state.phase == "idle" then
    errors.raise("usage", what .. ": definitions must be made while a file is loading")
  end
end

--- Raises unless the first argument is a name.
-- @tparam string what the caller, for messages
function scenario_definitions.check_name(what, name)
  if type(name) ~= "string" or not name:find("%S") then
    state.mistake("%s: argument 1: expected a name, got %s; use %s(name, function ... end)", what, errors.describe(name), what)
  elseif not utf8.len(name) then
    state.mistake("%s: argument 1: expected a name that is UTF-8, got %s", what, display.show(name))
  end
end

local check_name = scenario_definitions.check_name

local function check_function(what, f)
  if type(f) ~= "function" then
    state.mistake("%s: expected a function last, got %s", what, errors.describe(f))
  end
end

-- Kept in local variables, because scenarios may change the `debug` library later.
local getinfo, getlocal = debug and debug.getinfo, debug and debug.getlocal

--- Raises an error for a function with parameters after `t`, which would be nil.
local function check_parameters(what, f, use)
  local info = type(f) == "function" and getinfo and getinfo(f, "u")
  if info and info.nparams > 1 then state.mistake("%s: the function gets only `t`; %s", what, use) end
end

--- Raises an error for a function of a factory that takes the row's number for the context.
local function check_factory_parameters(what, columns)
  for column, f in pairs(columns) do
    local info = type(f) == "function" and getinfo and getinfo(f, "uS")
    if info and info.what == "Lua" and (info.nparams > 2 or info.nparams > 0 and getlocal(f, 1) == "t") then
      state.mistake("%s: `%s`: the function gets the number of the row and then `t`, as in function(n, t)", what, tostring(column))
    end
  end
end

--- Reads the arguments (name, [options,] function).
local function read_arguments(what, name, options, body, ...)
  check_name(what, name)
  if body == nil and type(options) == "function" then options, body = nil, options end
  if select("#", ...) > 0 then state.mistake("%s %s: too many arguments", what, display.quoted(name)) end
  return options, body
end

-- Scenarios

local function id_of(entry)
  local parts = { state.file.identity }
  table.move(group.names, 1, #group.names, 2, parts)
  parts[#parts + 1] = entry.name
  parts[#parts + 1] = entry.text
  return table.concat(parts, " > ")
end

local function add(entry, options, body, extra)
  local file, line = position()
  local scenario = {
    id = id_of(entry), name = entry.name, groups = group.names, case = entry.text, case_values = entry.case,
    file = file, line = line,
    tags = options.tags or {}, template = options.template, database = options.database, timeout = options.timeout,
    retry = options.retry or 0, fails = options.fails and options.fails.reason,
    fails_with = options.fails and options.fails.aspects, no_checks = options.no_checks, lock = options.lock, clock = options.clock, seed = options.seed,
    max_queries = options.max_queries, grants = options.grants,
    crash = options.crash and not options.crash.is_off and options.crash or nil, body = body, group = group, ordinal = ordinal,
    index = #scenario_definitions.scenarios + 1,
  }
  for name, value in pairs(extra) do scenario[name] = value end
  -- The runner reports duplicate ids, and runs the other scenarios.
  scenario_definitions.by_id[scenario.id] = scenario_definitions.by_id[scenario.id] or scenario
  scenario_definitions.scenarios[scenario.index] = scenario
end

--- Returns whether a definition in the file was rejected. In that case all definitions must be checked, because the file may have caught
-- the error and continued differently.
function scenario_definitions.has_refused() return defined < ordinal end

local function define_checked(kind, extra, name, ...)
  check_phase(kind)
  local own, body = read_arguments(kind, name, ...)
  local what = kind .. ' "' .. name .. '"'
  if state.file.is_support then
    errors.raise("usage", what .. ": scenarios belong in *_scenario.lua files, not in support.lua")
  end
  if not extra.todo and not (extra.skip and body == nil) then check_function(what, body) end
  check_parameters(what, body, "the values of a case are t.case, and fixtures are t.fixtures.name")
  local options = group.options
  if own ~= nil then options = scenario_options.inherit(options, scenario_options.read("scenario", what, own)) end
  if not options.cases then return add({ name = name }, options, body, extra) end
  for _, entry in ipairs(cases_of.list(name, options.cases)) do add(entry, options, body, extra) end
end

local function define_scenario(kind, ...)
  ordinal = ordinal + 1
  if wanted and ordinal ~= wanted and state.phase == "loading" then return end
  define_checked(kind, ...)
  defined = defined + 1
end

local scenario = setmetatable({}, {
  __call = function(_, ...) define_scenario("scenario", {}, ...) end,
  __index = function(_, name) require("perilune.runtime.other_names").raise("scenario", "member", name, { "only", "skip", "todo" }) end,
  __newindex = function(_, name) state.mistake("scenario.%s cannot be set", tostring(name)) end,
  __tostring = function() return "scenario" end,
})

--- Defines a scenario that excludes all others from the run. Such a run fails at the end, so that this call is not forgotten.
rawset(scenario, "only", function(...) define_scenario("scenario.only", { only = true }, ...) end)

--- Defines a scenario that is not run: `scenario.skip(reason, name, [options,] function)`.
rawset(scenario, "skip", function(reason, ...)
  if type(reason) ~= "string" or type((...)) ~= "string" then
    state.mistake("scenario.skip: expected the reason and then the name: "
      .. 'scenario.skip("waits for #12", "name", function(t) ... end)')
  end
  define_scenario("scenario.skip", { skip = reason }, ...)
end)

--- Defines a scenario that has not been written yet.
rawset(scenario, "todo", function(name, ...)
  if select("#", ...) > 0 then errors.raise("argument", "scenario.todo: expected only a name") end
  define_scenario("scenario.todo", { todo = true }, name)
end)

scenario_definitions.scenario = scenario

-- Groups

--- Defines a group of related scenarios that share options.
function scenario_definitions.group(name, ...)
  check_phase("group")
  local own, body = read_arguments("group", name, ...)
  local what = "group " .. display.quoted(name)
  if state.file.is_support then errors.raise("usage", what .. ": groups belong in *_scenario.lua files, not in support.lua") end
  check_function(what, body)
  local outer = group
  local names = table.move(outer.names, 1, #outer.names, 1, {})
  names[#names + 1] = name
  group = {
    names = names, options = scenario_options.inherit(outer.options, scenario_options.read("group", what, own)), before = {}, after = {},
    outer = outer,
  }
  local is_done, err = pcall(body)
  group = outer
  if not is_done then error(err, 0) end
end

for name, list in pairs{ before_each = "before", after_each = "after" } do
  --- Defines a function that is called with `t` before or after each scenario of the group or the file. In support.lua, it applies to the
  -- scenarios of all files.
  scenario_definitions[name] = function(f)
    check_phase(name)
    check_function(name, f)
    table.insert(group[list], f)
  end
end

-- Templates, factories and fixtures

--- Returns the end of a message about a duplicate definition: an explanation if its file was executed twice, or else an empty string.
local function own_place(same, file, line)
  if same.file ~= file or same.line ~= line then return "" end
  return "; the same line ran twice (support.lua is loaded before each file of scenarios, so it must not be required)"
end

--- Defines a layer of data, which is created once per run and copied for each scenario.
function scenario_definitions.template(name, ...)
  check_phase("template")
  local options, body = read_arguments("template", name, ...)
  local what = "template " .. display.quoted(name)
  check_function(what, body)
  options = checks.options(what, options, { on = "any", timeout = { scenario_options.duration, 'a duration ("2m", a number of seconds)' } }, "template_option")
  -- A layer named `base` replaces the migrated database.
  local on = options.on or name == "base" and "empty" or "base"
  check_name(what .. ": option on", on)
  local same = scenario_definitions.templates_by_name[name]
  if same then errors.raise("duplicate", ("%s: already defined at %s:%d"):format(what, same.file, same.line)) end
  if name == "empty" then errors.raise("argument", what .. ": `empty` is reserved for the empty database") end
  local file, line = position()
  local template = { name = name, on = on, file = file, line = line, body = body, fingerprint = source.text(file), timeout = options.timeout }
  scenario_definitions.templates_by_name[name] = template
  table.insert(scenario_definitions.templates, template)
end

--- Defines the values of rows that `t.make` creates for a table.
function scenario_definitions.factory(table_name, columns)
  check_phase("factory")
  check_name("factory", table_name)
  if type(columns) ~= "table" or #columns > 0 then
    state.mistake("factory %s: argument 2: expected a table of columns, got %s", display.quoted(table_name),
      errors.describe(columns))
  end
  check_factory_parameters("factory " .. display.quoted(table_name), columns)
  local same = scenario_definitions.factories[sql_names.fold(table_name)]
  local file, line = position()
  if same then
    errors.raise("duplicate", ("factory %s: already defined at %s:%d%s"):format(display.quoted(table_name), same.file, same.line, own_place(same, file, line)))
  end
  scenario_definitions.factories[sql_names.fold(table_name)] = { columns = columns, file = file, line = line }
end

--- Defines a value that is created when a scenario first uses it: `t.fixtures.NAME`.
function scenario_definitions.fixture(name, body, ...)
  check_phase("fixture")
  check_name("fixture", name)
  local what = "fixture " .. display.quoted(name)
  if type(body) == "table" and getmetatable(body) == nil then
    state.mistake("%s: a fixture has no options; it is made for each scenario that uses it, and t.defer(f) in it cleans up", what)
  end
  check_function(what, body)
  if select("#", ...) > 0 then state.mistake("%s: too many arguments", what) end
  check_parameters(what, body, "it returns the value, and t.defer(f) in it cleans up")
  local same = scenario_definitions.fixtures[name]
  local file, line = position()
  if same then
    errors.raise("duplicate", ("%s: already defined at %s:%d%s"):format(what, same.file, same.line, own_place(same, file, line)))
  end
  scenario_definitions.fixtures[name] = { name = name, body = body, file = file, line = line }
end

--- Raises for requested templates that do not exist.
function scenario_definitions.check_templates()
  local known = display.keys(scenario_definitions.templates_by_name)
  if not scenario_definitions.templates_by_name.base then known[#known + 1] = "base" end
  known[#known + 1] = "empty"
  local function check(name, wanted_by)
    if name == nil or name == "base" or name == "empty" or scenario_definitions.templates_by_name[name] then return end
    local _, err = pcall(errors.raise_unknown, "template", name, known)
    local cure = err.suggestion and "" or "; a template that several files use belongs in support.lua"
    errors.raise("unknown_template", ("%s:%d: %s%s"):format(wanted_by.file, wanted_by.line, err.message, cure))
  end
  for _, entry in ipairs(scenario_definitions.scenarios) do check(entry.template, entry) end
  for _, entry in ipairs(scenario_definitions.templates) do check(entry.on, entry) end
end

return scenario_definitions
