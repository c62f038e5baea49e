--- Failures: the errors of checks and expectations, and the reports of all errors.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local source = lazily "scenarios.base.source"
local display = lazily "scenarios.reports.display"

local scenario_failures = {}

local traceback = debug and debug.traceback or function() return "" end
--- Local copies of globals, because the scenario may replace the globals.
local xpcall, pack, type, select, ipairs, rawequal, table = xpcall, table.pack, type, select, ipairs, rawequal, table

--- Returns the frames of scripts in a traceback, innermost first: a list of { file, line, place, defined }. `defined` is the line
-- at which the function begins; nil if the traceback shows the name of the function.
local function frames_in(text)
  local list = {}
  for place, what in text:gmatch("\n%s+([^\n]-): in ([^\n]*)") do
    if place:find("^%[lib%].*scenarios/running") then break end
    local file, line = place:match("^([^%[].*):(%d+)$")
    if file then
      list[#list + 1] = {
        file = file, line = line, place = source.path(file) .. ":" .. line, defined = what:match("^function <.-:(%d+)>$"),
      }
    end
  end
  return list
end

--- Returns the places of scripts in a traceback, innermost first.
function scenario_failures.places(text)
  local list = {}
  for index, frame in ipairs(frames_in(text)) do list[index] = frame.place end
  return list
end

--- Returns the places in a traceback, outermost first. Omits a place that calls a function defined on the same line, such as
-- a step in the body of its scenario.
function scenario_failures.way(text)
  local list, inner = {}, nil
  for _, frame in ipairs(frames_in(text)) do
    local is_around = inner and inner.defined == frame.line and inner.file == frame.file
    if not is_around and (not inner or frame.place ~= list[1]) then table.insert(list, 1, frame.place) end
    inner = frame
  end
  return list
end

--- The handler for xpcall: records where an error was raised.
local function handler(value)
  local file, line = errors.position()
  local last = state.has("last_statement") and state.host("last_statement")() or nil
  local text = traceback("", 2)
  return {
    last_sql = last, value = value, file = file, line = line, trace = scenario_failures.places(text),
    way = scenario_failures.way(text),
  }
end

--- Calls a function and catches its error.
-- @return whether it succeeded; its results packed, or the caught error: { value, file, line, trace, last_sql }
function scenario_failures.protect(f, ...)
  local results = pack(xpcall(f, handler, ...))
  if results[1] then return true, results end
  -- After a stack overflow, Lua cannot call the handler.
  if type(results[2]) ~= "table" then return false, { value = results[2], trace = {}, way = {} } end
  return false, results[2]
end

--- Returns the error that `raise` would raise, as a caught error.
function scenario_failures.caught(message, details, quotes_source)
  local fields = { details = details or {}, quotes_source = quotes_source }
  return (select(2, scenario_failures.protect(errors.raise, "expectation", message, fields)))
end

--- Remembers a caught error before it is raised: the scenario fails even if its code catches the error.
function scenario_failures.remember(current, caught)
  for _, known in ipairs(current.raised) do
    if rawequal(known.value, caught.value) then return end
  end
  caught.step = caught.step or require("scenarios.base.steps").current(current)
  table.insert(current.raised, caught)
end

--- Forgets an error that the scenario expected, or that is already reported.
function scenario_failures.forget(current, value)
  for index, known in ipairs(current.raised) do
    if rawequal(known.value, value) then return table.remove(current.raised, index) end
  end
end

--- Raises a failure.
-- @tparam string message the failed check: `check(a == b)`
-- @tparam ?table details lines that show the actual values
-- @tparam ?boolean quotes_source whether the message is the source of the check
function scenario_failures.raise(message, details, quotes_source)
  local caught = scenario_failures.caught(message, details, quotes_source)
  if state.current then scenario_failures.remember(state.current, caught) end
  error(caught.value, 0)
end

local function is_error_object(value)
  return type(value) == "userdata" and type(value.kind) == "string"
end

scenario_failures.is_error_object = is_error_object

--- Describes an error that is a string. `coroutine.wrap` adds a position before the existing one.
local function describe_text(text)
  local file, line, message = text:match("^([^\n]-):(%d+): (.*)$")
  if not file then return text == "" and 'error("")' or text end
  local position = file .. ":" .. line .. ": "
  while message:sub(1, #position) == position do message = message:sub(#position + 1) end
  return message, file, math.tointeger(tonumber(line))
end

--- Describes any raised value.
-- @return message, file, line; `file` and `line` are nil if the value does not contain a position
function scenario_failures.describe(value)
  if is_error_object(value) then return display.raised_table(value) or value.message, value.file, value.line end
  if type(value) == "string" then return describe_text(value) end
  if type(value) == "table" and type(rawget(value, "message")) == "string" then return rawget(value, "message") end
  if value == nil then return "an error without a value (error(nil))" end
  -- Metamethods of the value may raise in turn.
  local is_shown, text = pcall(display.show, value)
  return "error(" .. (is_shown and text or "a " .. type(value)) .. ")"
end

local longest_message = 4000

--- Shortens a very long message or line for reports.
local function shortened(message)
  if #message <= longest_message then return message end
  local start = message:sub(1, longest_message):gsub("[\xC0-\xFF][\x80-\xBF]*$", "")
  return ("%s... (%d bytes)"):format(start, #message)
end

--- Lines of help for errors that Lua raises, by a part of their message.
local helps = {
  { "attempt to index a function value (global 'assert')", "help  use check(value), or expect(value):equals(other)" },
  { "assertion failed!", "help  use check(condition), which shows the values" },
  { "attempt to index a nil value (field 'case')", "help  t.case exists only with the option `cases` of the scenario" },
}

--- Returns a line with a suggestion. For an unknown table, it names the nearest table or view; for errors that Lua raises, such as
-- one about `assert.equal`, it names the function or option to use. Returns nil for other errors.
function scenario_failures.suggestion(value)
  for _, help in ipairs(type(value) == "string" and helps or {}) do
    if value:find(help[1], 1, true) then return help[2] end
  end
  local name = is_error_object(value) and value.suggestion == nil and tostring(value.message):match("no such table: (.+)$")
  if not name then return nil end
  local names = state.has("table_names") and state.host("table_names")() or {}
  local _, unknown = pcall(errors.raise_unknown, "table", name:gsub("^main%.", ""), names)
  local nearest = is_error_object(unknown) and unknown.suggestion
  return nearest and "help  did you mean `" .. tostring(nearest) .. "`?"
end

--- Returns whether a message contains a name as a whole word.
local function names_it(message, name)
  return message:find("%f[%w_]" .. tostring(name):gsub("%W", "%%%0") .. "%f[^%w_]") ~= nil
end

--- Returns lines with the other fields of an error object.
local function details_of(value)
  if not is_error_object(value) then return { scenario_failures.suggestion(value) } end
  if value.details then
    local details = {}
    for index, line in ipairs(value.details) do details[index] = shortened(tostring(line)) end
    return details
  end
  local details = {}
  if value.sql then details[1] = "SQL   " .. tostring(value.sql):gsub("%s+", " ") end
  if value.suggestion and not names_it(value.message, value.suggestion) then
    details[#details + 1] = "help  did you mean `" .. tostring(value.suggestion) .. "`?"
  end
  details[#details + 1] = scenario_failures.suggestion(value)
  return details
end

--- Appends a position to the list of positions that led to it, unless the list contains it already. This list is needed because the
-- traceback of a coroutine does not contain its caller.
local function way_to(place, way)
  for _, passed in ipairs(way or {}) do
    if passed == place then return way end
  end
  local longer = table.move(way or {}, 1, #(way or {}), 1, {})
  longer[#longer + 1] = place
  return longer
end

--- Creates the report of an error that `handler` has caught.
-- @tparam ?string step the step in which it was raised
function scenario_failures.make(caught, step)
  local value = caught.value
  local message, file, line = scenario_failures.describe(value)
  -- A position inside the library does not help the author of a scenario.
  if not file or file:find("^%[") then file, line = caught.file, caught.line end
  local path = file and source.path(file)
  local quotes_source = is_error_object(value) and value.quotes_source
  local way = way_to(path and path .. ":" .. tostring(line), caught.way)
  return {
    value = value, frames = #way > 1 and way or nil,
    message = shortened(message), kind = is_error_object(value) and value.kind or "error", file = path, line = line, step = step,
    source = not quotes_source and path and source.line(path, line) or nil, details = details_of(value), trace = caught.trace,
    traceback = #caught.trace > 1 and table.concat(caught.trace, " < ") or nil, last_sql = caught.last_sql,
  }
end

return scenario_failures
