-- Scenarios that fail without an uncaught error, and scenarios that pass because they fail as expected.

test("a failed check, expectation or step inside pcall fails the scenario", function()
  local found = failure("local ok = pcall(function()\n  check(1 == 2)\nend)\ncheck(not ok)")
  equal({ found.message, found.line, found.kind }, { "check(1 == 2)", 3, "expectation" })
  matches(found.details[#found.details], "the scenario caught this failure")
  equal(failure("pcall(function() expect(1):equals(2) end)").message, "expect(1):equals")
  equal(failure("pcall(expect_error, function() end)").message, "expect_error: no error was raised")
  found = failure("pcall(t.step, 'first', function() error('boom') end)")
  equal({ found.message, found.step }, { "boom", "first" })
  found = failure("xpcall(function() t.step('a', function() t.step('b', function() check(false) end) end) end, print)")
  equal({ found.message, found.step }, { "check(false)", "a > b" })
  equal(failure("local co = coroutine.create(function() check(false) end)\ncoroutine.resume(co)").message, "check(false)")
  equal(failure("t.defer(function() pcall(check, false) end)").message, "check")
end)

test("each failure is reported once, even one that ends the scenario", function()
  equal(#run("check(false)").failures, 1)
  equal(#run("t.step('a', function() t.step('b', function() check(false) end) end)").failures, 1)
  equal(#run("t.step('a', function() error('x') end)").failures, 1)
  local result = run("pcall(function() check(1 == 2) end)\nexpect.soft(1):equals(3)\ncheck(1 == 4)")
  equal(#result.failures, 3)
  equal(failure("local ok, err = pcall(function() check(1 == 2) end)\nerror(err, 0)").message, "check(1 == 2)")
end)

test("a scenario may catch other errors and expected failures", function()
  passes("check(not pcall(error, 'x'))\ncheck(pcall(function() expect(1):equals(1) end))")
  passes("local err = expect_error(function() check(1 == 2) end, { kind = 'expectation' })\ncheck(err.message == 'check(1 == 2)')")
  passes("expect_error(function() t.step('s', function() error('x') end) end, 'x')")
  equal(run("pcall(t.skip, 'no')").outcome, "skipped")
end)

test("an expectation without a matcher fails the scenario at its line", function()
  local found = failure("local x = 1\nexpect(x)")
  equal({ found.message, found.kind, found.line, found.source },
    { "expect(...) checks nothing without a matcher, as in expect(...):equals(1)", "open_expectation", 3, "expect(x)" })
  equal(#run("expect(1)\nexpect.no(2)\nexpect.soft(3)").failures, 3)
  passes("local e = expect(1)\ne:equals(1):is(1)")
  -- After another error, an expectation without a matcher is not reported.
  equal(failure("local e = expect(1)\nerror('x')").message, "x")
  equal(failure("expect(1):equals(error('x'))").message, "x")
  equal(failure("pcall(function() expect(1):equls(1) end)").kind, "open_expectation")
end)

test("the checks of a scenario are counted", function()
  equal(run("").checks, 0)
  equal(run("check(true)\ncheck(1 == 1 and true)\nexpect(1):equals(1):is(1)\nexpect_error(error)").checks, 5)
end)

test("a task that has not started when the scenario ends fails the scenario", function()
  local host = {}
  local found = failure("check(true)\nperilune.spawn(function() end)", host)
  equal({ found.kind, found.line }, { "unstarted_task", 3 })
  matches(found.message, "had not started when the scenario ended; wait for it with task:wait()")
  passes("check(true)\nperilune.spawn(function() end):cancel()", host)
  matches(failure("perilune.spawn(1)", host).message, "perilune.spawn: expected a function")
end)

-- Stubs

local function effects_host()
  local calls, host = {}, {}
  function host.stub() end
  function host.calls(module, name)
    local list = {}
    for _, call in ipairs(calls) do
      if call.module == module and call.name == name then list[#list + 1] = call end
    end
    return list
  end
  function host.called(module, name) calls[#calls + 1] = { module = module, name = name, arguments = {}, file = "x.lua", line = #calls + 1 } end
  return host
end

local function stubbed(chain, count)
  local host = effects_host()
  for _ = 1, count do host.called("mail", "send") end
  return run("t.effects.mail:stub('send', true)" .. chain, host)
end

test("the number of calls of a stub can be checked", function()
  local wanted = {
    { ":once()", 1, "1 time" }, { ":times(2)", 2, "2 times" }, { ":never()", 0, "0 times" }, { ":at_least(2)", 3, "at least 2 times" },
    { ":at_most(1)", 0, "at most 1 time" }, { ":at_least(1):at_most(2)", 2, "at least 1 and at most 2 times", ":at_most(2)" },
    { ":at_most(2):at_least(1)", 1, "at least 1 and at most 2 times", ":at_least(1)" }, { ":at_least(1):once()", 1, "1 time", ":once()" },
  }
  for _, case in ipairs(wanted) do
    local chain, right, text, method = table.unpack(case)
    equal(stubbed(chain, right).outcome, "passed")
    local wrong = (chain == ":never()" or chain == ":at_most(1)") and 2 or 0
    local result = stubbed(chain, wrong)
    equal({ result.outcome, result.failures[1].message }, { "failed", 't.effects.mail:stub("send")' .. (method or chain) })
    equal(result.failures[1].details[1], ("expected %s, got %d times"):format(text, wrong))
    equal(result.failures[1].kind, "unexpected_count")
  end
  equal(stubbed(":once()", 3).failures[1].details, { "expected 1 time, got 3 times", "called at x.lua:1", "called at x.lua:2", "called at x.lua:3" })
end)

test("each stub of a chain has a separate count, and an uncalled stub is reported", function()
  local host = effects_host()
  host.called("mail", "send")
  local result = run("t.effects.mail:stub('send', 1):once():stub('fetch', 2):once():stub('list', 3)\nt.effects.mail:stub('send', 2)", host)
  equal(#result.failures, 1)
  equal({ result.failures[1].message, result.failures[1].line }, { 't.effects.mail:stub("fetch"):once()', 2 })
  equal(result.notes, { "the stub of mail.list was never called, which is allowed; :once() requires a call" })
end)

test("each stub with a count counts its own calls", function()
  local host = effects_host()
  called = host.called
  local twice = "t.effects.mail:stub('send', 1):once() called('mail', 'send') t.effects.mail:stub('send', 2):once() called('mail', 'send')"
  equal(run(twice, host).outcome, "passed")
  host = effects_host()
  called = host.called
  local result = run(twice .. " called('mail', 'send')", host)
  equal(#result.failures, 1)
  equal(result.failures[1].details, { "expected 1 time, got 2 times", "called at x.lua:2", "called at x.lua:3" })
  host = effects_host()
  called = host.called
  equal(#run("t.effects.mail:stub('send', 1):once() t.effects.mail:stub('send', 2):once() called('mail', 'send')", host).failures, 1)
end)

test("invalid call counts of stubs are reported", function()
  local host = effects_host()
  matches(failure("t.effects.mail:once()", host).message, "t.effects.mail:once: call it on a stub")
  matches(run("t.effects.mail:stub('a', 1):times()", host).failures[1].message, "expected a number of calls, got nil")
  matches(run("t.effects.mail:stub('a', 1):times(-1)", host).failures[1].message, "expected a number of calls")
  matches(run("t.effects.mail:stub('a', 1):at_least(3):at_most(2)", host).failures[1].message,
    "at_most: no number of calls is at least 3 and at most 2")
  matches(run("t.effects.mail:stub('a', 1):once(2)", host).failures[1].message, "once: takes no arguments")
  matches(run("t.effects.mail:stub('a', 1):times(2, 3)", host).failures[1].message, "times: takes one argument")
end)

test("stubs and checks of calls refuse surplus arguments", function()
  local host = effects_host()
  matches(failure("t.effects.mail:stub('a', 1, 2)", host).message, "t.effects.mail:stub: takes at most 2 arguments, got the integer 2")
  matches(failure("t.effects.mail:calls('a', 1)", host).message, "t.effects.mail:calls: takes one argument, got the integer 1")
  matches(failure("t.effects.mail:distinct_calls('a', 1)", host).message, "distinct_calls: takes one argument")
  matches(failure("t.effects.mail.calls('a')", host).message, "t.effects.mail:calls: call it with a colon")
end)

-- fails

local loaded = 0

local function with_option(fails, body)
  local S = language()
  loaded = loaded + 1
  local file = ("f%d_scenario.lua"):format(loaded)
  S.load(file, "scenario('s', { fails = " .. fails .. " }, function(t)\n" .. body .. "\nend)")
  return S.run(file .. " > s", {})
end

test("the option fails can name the error with which a scenario must fail", function()
  equal(with_option("'#12'", "error('anything')").fails_as_said, true)
  equal(with_option("{ reason = '#12', kind = 'expectation' }", "check(1 == 2)").fails_as_said, true)
  equal(with_option("{ reason = '#12' }", "error('anything')").fails_as_said, true)
  equal(with_option("{ message = 'went %a+' }", "error('went wrong')").fails_as_said, true)
  local result = with_option("{ kind = 'constraint_unique' }", "check(1 == 2)")
  equal(result.fails_as_said, false)
  equal(result.failures[1].details, { 'the option fails: expected an error of kind "constraint_unique", got "expectation"' })
  equal(with_option("{ message = 'boom' }", "expect.soft(1):equals(2)\nerror('boom')").fails_as_said, false)
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)")
  equal(with_option("{ kind = 'constraint_unique', column = 'a.n' }", [[for _ = 1, 2 do t.db:execute("INSERT INTO a (n) VALUES (1)") end]]).fails_as_said, true)
end)

test("the option fails accepts only a reason or a table with fields", function()
  for _, value in ipairs{ "true", "1", "{}", "''" } do
    local S = language()
    local is_loaded, err = pcall(S.load, "a_scenario.lua", "scenario('s', { fails = " .. value .. " }, function() end)")
    equal(is_loaded, false)
    matches(err.message, "option `fails`: expected the reason why it must fail, or a table such as")
  end
  local S = language()
  local _, err = pcall(S.load, "a_scenario.lua", "scenario('s', { fails = { knd = 'x' } }, function() end)")
  matches(err.message, "no option `knd`; did you mean `kind`?")
end)

test("the option no_checks accepts three words", function()
  local S = language()
  S.load("a_scenario.lua", "group('g', { no_checks = 'fail' }, function() scenario('s', function() end) end)")
  equal(S.definitions().scenarios[1].no_checks, "fail")
  local _, err = pcall(S.load, "b_scenario.lua", "scenario('s', { no_checks = true }, function() end)")
  matches(err.message, 'option `no_checks`: expected "allow", "warn" or "fail", got true')
end)
