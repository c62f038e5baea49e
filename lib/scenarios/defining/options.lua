--- The options of scenarios and groups: their names, types and effects.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local state = require "scenarios.base.state"

local scenario_options = {}

local durations = require "perilune.runtime.durations"

local function text(value)
  return type(value) == "string" and value ~= "" and value or nil
end

local function count(value)
  return math.type(value) == "integer" and value >= 0 and value or nil
end

--- Reads tags: a name or a list of names.
local function tags(value)
  for _, tag in ipairs(type(value) == "table" and value or { value }) do
    if type(tag) == "string" and (tag:find(",", 1, true) or tag:find("^@")) then
      state.mistake("option `tags`: %q is one tag; use a list of names without `@`, as in tags = { \"slow\", \"billing\" }", tag)
    end
  end
  return scenario_options.list_of_texts(value)
end

local function list_of_texts(value)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" then return nil end
  local list = {}
  for index, item in ipairs(value) do
    if not text(item) then return nil end
    list[index] = item
  end
  if next(value, #list > 0 and #list or nil) ~= nil then return nil end
  return list
end

scenario_options.list_of_texts = list_of_texts

--- Reads a duration of at most 100 years, positive or negative, in seconds; returns nil for anything else.
function scenario_options.seconds(value)
  local seconds = durations.seconds(value)
  return seconds and durations.is_valid(math.abs(seconds)) and seconds or nil
end

--- Reads a duration that must be positive, like `seconds`.
function scenario_options.duration(value)
  local seconds = scenario_options.seconds(value)
  return seconds and seconds > 0 and seconds or nil
end

local duration = scenario_options.duration

local function database(value)
  if value == "memory" or value == "file" or value == "empty" then return value end
  return type(value) == "string" and value:find("^fixture:.") and value or nil
end

--- Reads an instant, a value that `perilune.date` accepts. Text that is a number would be a Julian day, so "2026" is rejected.
-- @return the date; nil and the end of a message if the value is not a date
function scenario_options.read_instant(value)
  if type(value) == "string" and tonumber(value) then return nil, "; write the day, as in \"2026-01-01\"" end
  local is_date, date = pcall(perilune.date, value)
  if is_date and value ~= nil then return date end
  local reason = type(date) ~= "string" and date and date.kind == "date" and date.message:match("expected a day.*")
  return nil, reason and ": " .. reason or ""
end

local function instant(value)
  return scenario_options.read_instant(value) and value or nil
end

local function seed(value)
  return (math.type(value) == "integer" or text(value)) and value or nil
end

local function cases(value)
  if type(value) ~= "table" then return nil end
  local name = next(value)
  if type(name) == "string" then
    state.mistake("option `cases`: expected a list of tables, got a table with the name %q; use cases = { { name = %q, ... }, ... }", name, name)
  elseif #value == 0 then
    return nil
  end
  for index, case in ipairs(value) do
    if type(case) ~= "table" then state.mistake("option `cases`: expected a table at position %d, got %s; use cases = { { n = 1 }, ... }", index, errors.describe(case)) end
  end
  return value
end

local no_checks_values = { allow = true, warn = true, fail = true }

local function no_checks(value)
  return no_checks_values[value] and value or nil
end

--- Reads the option `fails`, why and how a scenario must fail: { reason, aspects }.
local function fails(value)
  if text(value) then return { reason = value } end
  if type(value) ~= "table" then return nil end
  local aspects = {}
  for name, wanted in pairs(value) do
    if name ~= "reason" then aspects[name] = wanted end
  end
  if next(value) == nil or value.reason ~= nil and not text(value.reason) then return nil end
  if next(aspects) == nil then return { reason = value.reason } end
  return { reason = value.reason or "", aspects = require("scenarios.reports.error_aspects").read("option fails", aspects) }
end

local function downtime(value)
  local seconds = scenario_options.seconds(value)
  return seconds and seconds >= 0 and seconds or nil
end

--- Reads the option `crash`: { ignore, rerun, down }. The value false is for a scenario in a group with the option.
local function crash(value)
  if type(value) == "boolean" then return { is_off = not value } end
  if value == "rerun" then return { rerun = true } end
  if type(value) ~= "table" then return nil end
  return checks.options("option crash", value, {
    ignore = { list_of_texts, 'names such as { "orders.updated_at", "mail.send" }' }, rerun = "boolean",
    down = { downtime, 'a duration ("1s")' },
  })
end

local known_grants = { files = true, programs = true, native = true, effects = true }

local function grants(value)
  local list = list_of_texts(value)
  for _, name in ipairs(list or {}) do
    if not known_grants[name] then return nil end
  end
  return list
end

--- The readers of options, by kind and name: see `checks.options`.
local readers = { group = {}, scenario = {
  tags = { tags, "a name or a list of names" },
  template = { text, "the name of a template" },
  database = { database, '"memory", "file", "empty" or "fixture:NAME"' },
  cases = { cases, "a non-empty list of tables" },
  timeout = { duration, 'a duration of at most 100 years ("2s", "500ms", a number of seconds)' },
  retry = { count, "a count from 0" },
  fails = { fails, 'the reason why it must fail, or a table such as { reason = "#12", kind = "constraint_unique" }' },
  no_checks = { no_checks, '"allow", "warn" or "fail"' },
  lock = { text, "a name" },
  clock = { instant, 'a date ("2026-03-31T18:00:00Z")' },
  seed = { seed, "an integer or a string" },
  max_queries = { count, "a count from 0" },
  crash = { crash, 'true, "rerun" or a table with `ignore`, `rerun` and `down`' },
  grants = { grants, '"files", "programs", "native" or "effects", or a list of these' },
} }

--- Options of scenarios that groups do not have.
local for_scenarios_alone = { cases = true, fails = true }
for name, reader in pairs(readers.scenario) do
  if not for_scenarios_alone[name] then readers.group[name] = reader end
end

--- Reads the options of a definition.
-- @tparam string kind "scenario" or "group"
-- @tparam string what the definition, for messages: `scenario "closing the month"`
function scenario_options.read(kind, what, options)
  return checks.options(what, options, readers[kind], "scenario_option")
end

--- Combines the options of a group with the options of a definition inside it. The inner options win; tags are merged.
function scenario_options.inherit(outer, own)
  local result = {}
  for name, value in pairs(outer) do result[name] = value end
  for name, value in pairs(own) do result[name] = value end
  if outer.tags and own.tags then
    result.tags = table.move(outer.tags, 1, #outer.tags, 1, {})
    local seen = {}
    for _, tag in ipairs(result.tags) do seen[tag] = true end
    for _, tag in ipairs(own.tags) do
      if not seen[tag] then result.tags[#result.tags + 1] = tag end
    end
  end
  return result
end

return scenario_options
