--- The expected number of calls of stubs: `t.effects.mail:stub("send", true):once()`. These numbers are checked when the scenario ends.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"

local stub_counts = {}

--- The stub that was added last, by its chain.
local last = setmetatable({}, { __mode = "k" })

--- Returns the last of the earlier stubs of the same function; nil if none exists.
local function former_of(stubs, module, name)
  for index = #stubs, 1, -1 do
    if stubs[index].module == module and stubs[index].name == name then return stubs[index] end
  end
end

--- Records a stub.
-- @tparam table chain the object on which the next method of the chain is called
function stub_counts.add(module, name, chain)
  local file, line = errors.position()
  local stubs = state.require("t.effects").stubs
  local former = former_of(stubs, module, name)
  -- `first` is the number of the first call that this stub answers.
  local stub = { module = module, name = name, file = file, line = line, former = former }
  stub.first = former and state.has("calls") and #state.host("calls")(module, name) + 1 or 1
  table.insert(stubs, stub)
  last[chain] = stub
end

--- Records the expected number of calls of the stub that was added last in a chain.
function stub_counts.expect(what, chain, method, least_of, most_of, takes_number, count)
  if takes_number and (math.type(count) ~= "integer" or count < 0) then
    state.mistake("%s: expected a number of calls, got %s", what, errors.describe(count))
  end
  local stub = last[chain]
  if not stub then state.mistake('%s: call it on a stub: t.effects.NAME:stub("function", value):once()', what) end
  local current = state.require(what)
  current.checks = current.checks + 1
  local least, most = math.max(stub.least or 0, least_of(count)), math.min(stub.most or math.huge, most_of(count))
  if least > most then state.mistake("%s: no number of calls is at least %d and at most %d", what, least, most) end
  stub.least, stub.most, stub.method, stub.count = least, most, method, count
  stub.file, stub.line = errors.position()
end

local function times(count)
  return count == 1 and "1 time" or count .. " times"
end

local function wanted_text(stub)
  if stub.least == stub.most then return times(stub.most) end
  if stub.most == math.huge then return "at least " .. times(stub.least) end
  return (stub.least > 0 and ("at least %d and "):format(stub.least) or "") .. "at most " .. times(stub.most)
end

--- Returns the calls that count for a stub. If several stubs of a function have a number of calls, each counts the calls between
-- its definition and the next one.
local function calls_of(stub, stubs)
  local calls, from, to = state.host("calls")(stub.module, stub.name), 1, nil
  if not stub.least then return calls end
  local former = stub.former
  while former and not former.least do former = former.former end
  if former then from = stub.first end
  local is_later = false
  for _, other in ipairs(stubs) do
    if is_later and not to and other.least and other.module == stub.module and other.name == stub.name then to = other.first - 1 end
    is_later = is_later or other == stub
  end
  return table.move(calls, from, to or #calls, 1, {})
end

--- Returns the calls, but only one of those with the same arguments, because a service may repeat a call after a crash.
local function without_repeats(calls)
  local list, known = {}, {}
  for _, call in ipairs(calls) do
    local text = display.show(call.arguments)
    if not known[text] then list[#list + 1] = call end
    known[text] = true
  end
  return list
end

--- Reports stubs that were called too often, or, if nothing else has failed, too rarely.
-- @tparam function add_failure see scenarios.running
function stub_counts.check(current, add_failure)
  local has_failed = #current.failures > 0
  for _, stub in ipairs(current.stubs) do
    local all = calls_of(stub, current.stubs)
    local calls = current.info.ignores_repeats and without_repeats(all) or all
    local name = stub.module .. "." .. stub.name
    if stub.least and (#calls < stub.least and not has_failed or #calls > stub.most) then
      local details = { ("expected %s, got %s"):format(wanted_text(stub), times(#calls)) }
      if #calls < #all then
        details[#details + 1] = ("in a run with a crash, calls with the same arguments count once: %s in all"):format(times(#all))
      end
      for index, call in ipairs(calls) do
        if index <= 10 and call.file then details[#details + 1] = ("called at %s:%d"):format(call.file, call.line) end
      end
      local count = stub.count and tostring(stub.count) or ""
      local message = ("t.effects.%s:stub(%q):%s(%s)"):format(stub.module, stub.name, stub.method, count)
      add_failure(current, "unexpected_count", message, details, stub)
    elseif not stub.least and #calls == 0 then
      table.insert(current.notes, ("the stub of %s was never called, which is allowed; :once() requires a call"):format(name))
    end
  end
end

return stub_counts
