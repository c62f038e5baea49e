--- Failures: what is raised when something is not as a scenario states it, and what is told of any error.

local internal = ...
local state = internal.load("scenario_state")
local source = state.lazily("scenario_source")
local display = state.lazily("scenario_display")

local scenario_failures = {}

local traceback = debug and debug.traceback or function() return "" end

--- Raises that something is not so.
-- @tparam string message what was stated: `check(a == b)`
-- @tparam ?table details lines that show what is the case
-- @tparam ?boolean quotes_source whether the message is the source of what was stated
function scenario_failures.raise(message, details, quotes_source)
  internal.raise("expectation", message, { details = details or {}, quotes_source = quotes_source })
end

--- The places in the scenario that a traceback names, innermost first.
function scenario_failures.places(text)
  local list = {}
  for file, line in text:gmatch("\n%s+([^\n]-):(%d+): in") do
    if file:find("^%[lib%].*scenario_running") then break end
    if not file:find("^%[") then list[#list + 1] = source.path(file) .. ":" .. line end
  end
  return list
end

--- For xpcall: keeps where an error was raised.
local function handler(value)
  local file, line = internal.position()
  local last = state.has("last_statement") and state.host("last_statement")() or nil
  return { last_sql = last, value = value, file = file, line = line, trace = scenario_failures.places(traceback("", 2)) }
end

--- Calls a function, and catches what it raises.
-- @return whether it did not; its results packed, or what was caught: { value, file, line, trace, last_sql }
function scenario_failures.protect(f, ...)
  local results = table.pack(xpcall(f, handler, ...))
  if results[1] then return true, results end
  -- Where the stack has overflowed there is no room for the handler.
  if type(results[2]) ~= "table" then return false, { value = results[2], trace = {} } end
  return false, results[2]
end

local function is_error_object(value)
  return type(value) == "userdata" and type(value.kind) == "string"
end

scenario_failures.is_error_object = is_error_object

--- The message of any value that was raised, and where Lua says that it was.
-- @return message, file, line; the latter two nil if the value does not say them
function scenario_failures.describe(value)
  if is_error_object(value) then return value.message, value.file, value.line end
  if type(value) == "string" then
    local file, line, message = value:match("^([^\n]-):(%d+): (.*)$")
    if file then return message, file, math.tointeger(tonumber(line)) end
    return value
  end
  if type(value) == "table" and type(rawget(value, "message")) == "string" then return value.message end
  if value == nil then return "an error without a value (error(nil))" end
  return "error(" .. display.show(value) .. ")"
end

--- Lines that an error object has beside its message.
local function details_of(value)
  if not is_error_object(value) then return {} end
  if value.details then return value.details end
  local details = {}
  if value.sql then details[1] = "SQL   " .. tostring(value.sql):gsub("%s+", " ") end
  if value.suggestion and not value.message:find(value.suggestion, 1, true) then
    details[#details + 1] = "help  did you mean `" .. tostring(value.suggestion) .. "`?"
  end
  return details
end

--- What is reported of an error that `handler` has caught.
-- @tparam ?string step the step in which it was raised
function scenario_failures.make(caught, step)
  local value = caught.value
  local message, file, line = scenario_failures.describe(value)
  -- A position in the library says nothing to who writes scenarios.
  if not file or file:find("^%[") then file, line = caught.file, caught.line end
  local path = file and source.path(file)
  local quotes_source = is_error_object(value) and value.quotes_source
  return {
    message = message, kind = is_error_object(value) and value.kind or "error", file = path, line = line, step = step,
    source = not quotes_source and path and source.line(path, line) or nil, details = details_of(value), trace = caught.trace,
    traceback = #caught.trace > 1 and table.concat(caught.trace, " < ") or nil, last_sql = caught.last_sql,
  }
end

return scenario_failures
