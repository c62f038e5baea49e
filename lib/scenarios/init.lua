--- The scenario language, which the runner loads into a state. For its use, see the article Testing.

local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local spawning = require "perilune.events.spawning"
local source = require "scenarios.base.source"
local rewrite = lazily "scenarios.base.rewriting"
local definitions = require "scenarios.defining.definitions"
local scenario_given = lazily "scenarios.data.given"
local failures = lazily "scenarios.reports.failures"

local scenarios = {}

--- Raises for a word of another test library, such as `describe`; other undefined globals stay nil.
local function other_word(_, name)
  local use = require("perilune.runtime.other_names").find("scenario_global", name)
  if use then errors.raise("unknown_function", ("no function `%s`; %s"):format(name, use), { name = name, advice = use }) end
end

--- Defines the words of the language as globals.
function scenarios.install()
  for _, name in ipairs{ "scenario", "group", "before_each", "after_each", "template", "factory", "fixture" } do
    _G[name] = definitions[name]
  end
  _G.check, _G.expect = lazily "scenarios.expectations.check", lazily "scenarios.expectations.expect"
  function _G.expect_error(...) return require("scenarios.expectations.expect_error")(...) end
  function _G.matrix(...) return require("scenarios.defining.cases").matrix(...) end
  spawning.watch = function(...) return require("scenarios.base.tasks").watch(...) end
  spawning.watch_timer = function(...) return require("scenarios.base.tasks").watch_timer(...) end
  for name in next, _G do state.words[name] = true end
  if getmetatable(_G) == nil then setmetatable(_G, { __index = other_word }) end
  setmetatable(databases.methods, { __index = function(_, name) return require("scenarios.data.database").member(name) end })
end

--- Removes a first line that names the interpreter.
local function without_shebang(text)
  return text:sub(1, 1) == "#" and "--" .. text or text
end

local function prepare(text)
  return rewrite(without_shebang(text))
end

local function compile(path, text)
  if state.has("compile") then return state.host("compile")(path, text, prepare) end
  local chunk = load(prepare(text), "@" .. path, "t")
  if chunk then return chunk end
  local plain, message = load(without_shebang(text), "@" .. path, "t")
  if plain then return plain end
  local file, line, what = message:match("^([^\n]-):(%d+): (.*)$")
  errors.raise("syntax", what or message, { file = file or path, line = line and math.tointeger(tonumber(line)) })
end

--- Raises again an error that occurred while a file was loaded. If it is neither an error object nor text, raises an error object that
-- describes it.
local function raise_again(err)
  if type(err) == "string" and err ~= "" or failures.is_error_object(err) then error(err, 0) end
  errors.raise("error", (failures.describe(err)))
end

--- Loads a file and its definitions.
-- @tparam string path the name of the file
-- @tparam ?boolean is_support whether other files share it
-- @tparam ?string identity represents the file in the identifiers of its scenarios; `path` by default
function scenarios.load(path, text, is_support, identity)
  source.add(path, text)
  local chunk = compile(path, text)
  state.phase, state.file = "loading", { path = path, is_support = is_support == true, identity = identity or path }
  definitions.begin_file()
  local is_loaded, err = pcall(chunk)
  state.phase, state.file = "idle", nil
  if not is_loaded then raise_again(err) end
  if not is_support then definitions.check_templates() end
end

--- Makes the next files define only their n-th scenario, to save the time for the others.
scenarios.want = definitions.want

--- Returns the progress of an interrupted scenario: { step, steps, failures, frames, source }; nil if none is running.
-- @tparam ?string traceback of the error that ended the scenario
-- @tparam ?string file the file of the position at which it ended
-- @tparam ?integer line
function scenarios.progress(traceback, file, line)
  local current = state.current
  if not current then return nil end
  local way = traceback and failures.way(traceback) or {}
  return {
    step = require("scenarios.base.steps").current(current), steps = current.steps, failures = current.failures,
    frames = #way > 1 and way or nil, source = file and source.line(source.path(file), line),
  }
end

--- Returns the text of a module with its calls of `check` rewritten so that they show their operands, as in scenario files.
-- @tparam string path the name of the module in errors
-- @tparam ?string prepared a previous result for the same text
function scenarios.module(path, text, prepared)
  source.add(path, text)
  return prepared or prepare(text)
end

--- Fields of scenarios that are not passed to the runner.
local is_kept_here = { body = true, group = true, case_values = true }

--- Returns the definitions without functions: { scenarios, templates }.
function scenarios.definitions()
  local result, is_beside_refused = { scenarios = {}, templates = {} }, definitions.has_refused()
  for index, scenario in ipairs(definitions.scenarios) do
    local copy = { is_beside_refused = is_beside_refused }
    for name, value in pairs(scenario) do
      if not is_kept_here[name] then copy[name] = value end
    end
    result.scenarios[index] = copy
  end
  for index, template in ipairs(definitions.templates) do
    result.templates[index] = {
      name = template.name, on = template.on, file = template.file, line = template.line, fingerprint = template.fingerprint,
      timeout = template.timeout,
    }
  end
  return result
end

--- Returns the text of `schema.d.lua`: the types of the tables in the current database, and of the loaded fixtures, for editors.
-- Types that are the same for all projects are in `annotations.lua`.
function scenarios.types()
  return require("scenarios.data.types").of_project()
end

--- Fills the database with the data of a template, in a single transaction.
function scenarios.fill(name)
  local template = definitions.templates_by_name[name]
  if not template then
    errors.raise_unknown("template", name, require("scenarios.reports.display").keys(definitions.templates_by_name))
  end
  scenario_given.in_transaction(function(db) template.body(db) end)
end

--- Runs a scenario by its id.
-- @tparam ?table info seed, attempt, tmp_dir, update_snapshots
function scenarios.run(id, info)
  local scenario = definitions.by_id[id]
  if not scenario or not scenario.body then
    errors.raise("unknown_scenario", "unknown scenario with the id " .. tostring(id))
  end
  return require("scenarios.running")(scenario, info or {})
end

return scenarios
