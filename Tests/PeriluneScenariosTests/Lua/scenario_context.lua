-- The context `t`: reporting, scripts, migrations, clock, effects, queries, snapshots.

test("steps are named phases with outcomes and locations", function()
  local result = passes([[
    local got = t.step("one", function() return 7 end)
    check(got == 7)
    t.step("two", function() t.step("inner", function() end) end)]])
  local names = {}
  for index, step in ipairs(result.steps) do names[index] = { step.name, step.outcome, step.line } end
  equal(names, { { "one", "passed", 2 }, { "two", "passed", 4 }, { "two > inner", "passed", 4 } })
  equal(math.type(result.steps[1].ms), "float")
end)

test("the duration of a step is real time, even if it contains another step or fails", function()
  local now = 0
  local function elapsed_ms() now = now + 100 return now + 0.0 end
  local result = run([[
    t.step("outer", function() t.step("inner", function() end) end)
    t.step("fails", function() error("no") end)]], { elapsed_ms = elapsed_ms })
  local times = {}
  for index, step in ipairs(result.steps) do times[index] = { step.name, step.ms } end
  equal(times, { { "outer", 300.0 }, { "outer > inner", 100.0 }, { "fails", 100.0 } })
end)

test("a function of the context rejects a call with a colon", function()
  for _, call in ipairs{ "t:step('one', function() end)", "t:run('close.lua')", "t:skip('later')", "t:wait_until_idle()", "t:note('a')" } do
    matches(failure(call).message, "t." .. call:match("t:([%w_]+)") .. ": call it with a dot, as in t.")
  end
end)

test("a failure names its innermost step, and a failure after the step does not", function()
  local result = run([[
    t.defer(function() error("later") end)
    t.step("outer", function()
      t.step("inner", function()
        check(1 == 2)
      end)
    end)]])
  equal(#result.failures, 2)
  equal({ result.failures[1].step, result.failures[1].line }, { "outer > inner", 5 })
  equal(result.failures[1].traceback, "a1_scenario.lua:5 < a1_scenario.lua:4 < a1_scenario.lua:3")
  equal(result.failures[1].trace, { "a1_scenario.lua:5", "a1_scenario.lua:4", "a1_scenario.lua:3" })
  equal(result.failures[2].step, "deferred")
  equal({ result.steps[1].outcome, result.steps[2].outcome }, { "failed", "failed" })
end)

test("errors of every type are failures with a location", function()
  local found = failure("local x\nx.y = 1")
  equal({ found.message, found.kind, found.line, found.source }, { "attempt to index a nil value (local 'x')", "error", 3, "x.y = 1" })
  found = failure("error({ code = 1 })")
  equal({ found.message, found.line }, { "error({ code = 1 })", 2 })
  found = failure("error()")
  equal({ found.message, found.line }, { "an error without a value (error(nil))", 2 })
  found = failure("error(setmetatable({}, { __tostring = function() return 'mine' end }))")
  matches(found.message, "mine")
  local hostile = "{ __index = error, __len = error, __pairs = error, __eq = error, __name = 3 }"
  matches(failure("error(setmetatable({}, " .. hostile .. "))").message, "error(a table)")
  found = failure("coroutine.wrap(function() error('inside') end)()")
  equal({ found.message, found.line }, { "inside", 2 })
  equal(failure("error('', 0)").message, 'error("")')
  matches(failure("error(('long '):rep(100000))").message, "long ... (500000 bytes)")
  equal(#failure("error(('long '):rep(100000))").message < 5000, true)
  found = failure("local function f() return 1 + f() end\nt.step('s', f)")
  matches(found.message, "overflow")
  found = failure("t.db:execute('SELEC 1')")
  equal({ found.kind, found.details[1] }, { "sql", "SQL   SELEC 1" })
end)

test("notes and attachments are kept", function()
  local result = passes("t.note('a', 1, { x = 2 })\nt.attach('rows', { 1, 2 })\nt.attach('text', 'plain')")
  equal(result.notes, { "a 1 { x = 2 }" })
  equal(result.attachments, { { name = "rows", text = "{ 1, 2 }" }, { name = "text", text = "plain" } })
end)

test("deferred functions run at the end in reverse order, even after a failure", function()
  seen = {}
  run("t.defer(function() table.insert(seen, 1) end)\nt.defer(function() table.insert(seen, 2) end)\nerror('x')")
  equal(seen, { 2, 1 })
end)

test("a running scenario can be skipped", function()
  local result = run("t.step('s', function() t.skip('no network') end)\nerror('not reached')")
  equal({ result.outcome, result.reason, #result.failures, result.steps[1].outcome }, { "skipped", "no network", 0, "skipped" })
end)

test("an unknown member of t is an error with the nearest name", function()
  matches(failure("t.stpe('x', print)").message, "no member `stpe`; did you mean `step`?")
  matches(failure("t.x = 1").message, "t.x cannot be set")
  matches(failure("t.step('x')").message, "t.step: expected a function, got nil")
  matches(failure("t.step(print)").message, "t.step: argument 1: expected a name")
  matches(failure("t.step('\\255', print)").message, 't.step: argument 1: expected a name that is UTF-8, got "\\xff"')
end)

test("the errors on output and automations of the context name services", function()
  matches(failure("t.output()").message, "use t.run(path).output, or t.service(path):output() for the output of timers")
  matches(failure("t.automations('a.lua')").message, "use t.service(path), and t.clock:advance(duration)")
end)

test("fixtures are created once, when a scenario requests them", function()
  local S = language()
  S.load("support.lua", [[
made = 0
fixture("answer", function(t) made = made + 1 t.defer(function() made = made - 1 end) return 42 end)
fixture("nothing", function() made = made + 10 end)
fixture("loop", function(t) return t.fixtures.loop end)]], true)
  S.load("a_scenario.lua", [[
scenario("a", function(t) check(t.fixtures.answer + t.fixtures.answer == 84) check(made == 1) end)
scenario("b", function(t) check(t.fixtures.nothing == nil and t.fixtures.nothing == nil) check(made == 10) end)
scenario("c", function(t) return t.fixtures.loop end)
scenario("d", function(t) return t.fixtures.anwser end)]])
  equal(S.run("a_scenario.lua > a", {}).outcome, "passed")
  equal(made, 0)
  equal(S.run("a_scenario.lua > b", {}).outcome, "passed")
  matches(S.run("a_scenario.lua > c", {}).failures[1].message, "the fixture `loop` depends on itself")
  matches(S.run("a_scenario.lua > d", {}).failures[1].message, "did you mean `answer`?")
end)

test("global variables that a scenario sets are reported", function()
  equal(run("zulu, alpha = 1, 2").notes, { "the scenario set global variables: alpha, zulu" })
  equal(run("local x = 1").notes, {})
end)

test("a scenario that defines an automation has changed no globals", function()
  equal(run("perilune.automation{ name = 'a', on = { event = 'e' }, run = function() end }").notes, {})
end)

test("changes to Lua's globals are reported and end with the scenario", function()
  seen = {}
  local result = run("t.defer(function() table.insert(seen, #tostring(t)) end)\ntable, string, print, expect, _G = nil\nlocal x = nil + 1")
  equal(result.outcome, "failed")
  equal({ #result.failures, result.failures[1].message, result.failures[1].line }, {
    1, "attempt to perform arithmetic on a nil value", 4,
  })
  equal(result.notes, { "the scenario changed global variables: _G, expect, print, string, table" })
  equal(seen, { 1 })
  equal(run("print = 1").notes, { "the scenario changed global variables: print" })
end)

test("a scenario may change a global of support.lua", function()
  local S = language()
  S.load("support.lua", "counter = 1", true)
  S.load("z_scenario.lua", "scenario('s', function() counter = counter + 1 end)")
  equal(S.run("z_scenario.lua > s", {}).notes, {})
  equal(counter, 2)
end)

test("the seed and the temporary folder of a scenario come from the run", function()
  passes("check(t.seed == 7)\ncheck(t.tmp_dir == '/x')\ncheck(t.case == nil)", { tmp_dir = function() return "/x" end }, { seed = 7 })
end)

test("functions that the runner lacks are reported", function()
  matches(failure("t.run('x.lua')").message, "`run_script` is not available")
end)

-- Scripts

local function script_host(result)
  return { run_script = function(path, arguments)
    asked = { path, arguments }
    return result
  end }
end

test("a script runs with arguments, and its result has changes, queries and output", function()
  passes([[
    local result = t.run("scripts/close.lua", { month = "2026-03" })
    check(result.value == 3)
    expect(result.changes):is_empty()
    expect(result.queries):exactly(1)
    expect(result.output):contains("closed")
    check(result.error == nil)]], script_host{ value = 3, output = "closed 1\n", changes = {}, queries = { { sql = "SELECT 1" }, { sql = "COMMIT" } } })
  equal(asked, { "scripts/close.lua", { month = "2026-03" } })
  matches(failure("return t.run('x.lua').valeu", script_host{}).message, "did you mean `value`?")
end)

test("an uncaught error of a script fails the scenario", function()
  local result = { error = "scripts/close.lua:9: went wrong", output = "before\n", changes = {}, queries = {} }
  local found = failure("t.run('scripts/close.lua')", script_host(result))
  equal({ found.message, found.kind, found.file, found.line }, { "scripts/close.lua:9: went wrong", "script", "a1_scenario.lua", 2 })
  equal(found.details, {})
  passes("check(t.run_protected('scripts/close.lua').error == 'scripts/close.lua:9: went wrong')", script_host(result))
  matches(failure("t.run({})").message, "t.run: argument 1: expected the path of a script")
  matches(failure("t.run('x', 1)").message, "t.run: argument 2: expected a table of arguments")
end)

test("a module that t.run_protected does not find fails the scenario", function()
  local missing = "x.lua:1: module 'mail' not found:\n\tno field package.preload['mail']"
  local found = failure("check(t.run_protected('x.lua').error ~= nil)", script_host{ error = missing })
  equal({ found.message, found.kind }, { "x.lua:1: module 'mail' not found", "script" })
  equal(found.details, { 't.effects["mail"]:stub("function", value) replaces a module that only the host provides' })
  local _, err = pcall(library("perilune.native.errors").raise, "module_not_found", "require: module `mail` not found")
  equal(failure("check(t.run_protected('x.lua').error ~= nil)", script_host{ error = err }).kind, "script")
  passes("check(t.run_protected('x.lua').error ~= nil)", script_host{ error = "x.lua:1: the module is broken" })
end)

test("a scenario that fails after t.run_protected returned an error names the error", function()
  local function noted(body)
    for _, note in ipairs(run(body, script_host{ error = "x.lua:7: no ticket\nand more" }).notes) do
      if note:find("run_protected", 1, true) then return note end
    end
  end
  equal(noted("check(t.run_protected('x.lua').value == 3)"), 't.run_protected("x.lua") returned the error: x.lua:7: no ticket')
  equal(noted("check(t.run_protected('x.lua').error == nil)"), nil)
  equal(noted("check(t.run_protected('x.lua').error ~= nil)"), nil)
end)

test("expect_error finds the properties of the script's error in an error of t.run", function()
  local _, err = pcall(function()
    db:execute("CREATE TABLE one (id INTEGER PRIMARY KEY); INSERT INTO one VALUES (1); INSERT INTO one VALUES (1)")
  end)
  local host = script_host{ error = err, output = "", changes = {}, queries = {} }
  passes([[
    local function run() t.run("scripts/close.lua") end
    local err = expect_error(run, { kind = "constraint_primary_key", column = "id", table = "one" })
    check(err.kind == "script" and err.cause.kind == "constraint_primary_key" and err.cause.table == "one")
    expect_error(run, { kind = "script", message = "scenario_context.lua:" })]], host)
  local found = failure("expect_error(function() t.run('x.lua') end, { kind = 'constraint_unique' })", host)
  equal(found.details[1], 'expected an error of kind "constraint_unique", got "constraint_primary_key"')
  passes("check(expect_error(function() t.run('x.lua') end, 'boom').cause == 'x.lua:1: boom')", script_host{ error = "x.lua:1: boom" })
end)

test("check refuses the result of t.run_protected, which is always true", function()
  local host = script_host{ error = "x.lua:1: boom" }
  matches(failure("local ok, err = t.run_protected('x.lua')\ncheck(ok)", host).message, "use check(ok.error == nil)")
  matches(failure("check(t.run_protected('x.lua'), 'it runs')", host).message, "use check(t.run_protected('x.lua').error == nil)")
  matches(failure("local result = t.run_protected('x.lua')\ncheck(result.error == nil)", host).details[1], "boom")
  passes("check(t.run('x.lua'))\ncheck(t.run_protected('x.lua').error == nil)", script_host{})
end)

test("t.migrate runs migrations through the runner", function()
  local host = { migrate = function(to) table.insert(asked, to or "all") end }
  asked = {}
  passes("t.migrate { to = '0007' }\nt.migrate()", host)
  equal(asked, { "0007", "all" })
  matches(failure("t.migrate { too = 'x' }", host).message, "did you mean `to`?")
  matches(failure("t.migrate { down = true }", host).message, "no option `down`; use t.migrate_down()")
end)

test("a scenario's clock can be set, advanced and made to tick", function()
  asked = {}
  local host = {}
  for _, name in ipairs{ "clock_set", "clock_advance", "clock_tick" } do
    host[name] = function(value) table.insert(asked, { name, tostring(value) }) end
  end
  passes("t.clock:set('2026-03-31T18:00:00Z'):advance { hours = 2, minutes = 1 }\nt.clock:advance('90s'):tick('1s')", host)
  equal(asked, { { "clock_set", "2026-03-31 18:00:00.000" }, { "clock_advance", "7260.0" }, { "clock_advance", "90.0" }, { "clock_tick", "1.0" } })
  matches(failure("t.clock:advance(-60)", host).message,
    "t.clock:advance: expected a duration from 0, got the integer -60; use t.clock:set(t.clock:now():add{ seconds = -60 }) for earlier times")
  matches(failure("t.clock:set('noon')", host).message, 'expected a date ("2026-03-31T18:00:00Z"), got the string "noon"')
  matches(failure("t.clock:advance { hour = 1 }", host).message, "no unit `hour`; did you mean `hours`?")
  matches(failure("t.clock:advance('later')", host).message, "expected a duration")
  matches(failure("t.clock:advance(3, 'days')", host).message, "t.clock:advance: takes one argument, got the string \"days\" as argument 2")
  matches(failure("t.defer(print, 1)", host).message, "t.defer: takes one argument, got the integer 1 as argument 2")
  for _, duration in ipairs{ "0/0", "1/0", "{ seconds = 0/0 }", "{ minutes = 1/0, seconds = -1/0 }", "1e300", "math.mininteger" } do
    matches(failure(("t.clock:advance(%s)"):format(duration), host).message, "t.clock:advance: expected a duration of at most 100 years")
    matches(failure(("t.clock:tick(%s)"):format(duration), host).message, "t.clock:tick: expected a duration of at most 100 years")
  end
  matches(failure("t.clock:tick(-1)", host).message, "t.clock:tick: expected a duration from 0, got the integer -1")
  matches(failure("t.clock:sett('x')", host).message, "did you mean `set`?")
end)

test("the option clock sets the starting time of a scenario", function()
  local S = language{ clock_set = function(value) asked = tostring(value) end }
  S.load("a_scenario.lua", 'scenario("s", { clock = "2026-03-31" }, function(t) end)')
  S.run("a_scenario.lua > s", {})
  equal(asked, "2026-03-31 00:00:00.000")
end)

test("effects can be stubbed, and their calls are recorded", function()
  local host = {
    stub = function(...) asked = { ... } end,
    calls = function() return { { arguments = { { to = "ada" }, n = 1 } }, { arguments = { "a", 2, n = 2 } } } end,
  }
  passes([[
    t.effects.mail:stub("send", true)
    local calls = t.effects.mail:calls("send")
    check(#calls == 2)
    check(calls[1].to == "ada")
    expect(calls[2][2]):equals(2)
    expect(calls):equals { { to = "ada" }, { "a", 2 } }
    expect(calls):contains { "a", 2 }
    check(perilune.json.encode(calls[2]) == '["a",2]')]], host)
  equal(asked, { "mail", "send", true })
  matches(failure("t.effects.mail:stubb('send')", host).message, "did you mean `stub`?")
  matches(failure("t.effects.mail.send = true", host).message, 't.effects.mail:stub("send", value)')
  matches(failure("t.effects:stub('mail', 'send', true)", host).message, "t.effects.module:stub(name, value)")
end)

test("recorded calls are lists that matchers and JSON accept", function()
  local function host()
    return { stub = function() end, calls = function()
      return { { arguments = { "ada", "hello", n = 2 } }, { arguments = { "bob", nil, n = 2 } }, { arguments = { n = 0 } }, { arguments = { nil, 1, n = 2 } } }
    end }
  end
  passes([=[
    local calls = t.effects.mail:calls("send")
    expect(calls[1]):equals{ "ada", "hello" }
    expect(calls):contains{ "ada", "hello" }
    expect(calls):equals{ { "ada", "hello" }, { "bob" }, {}, { nil, 1 } }
    expect({ calls[1], calls[2] }):rows "| 1 | 2 |\n| ada | hello |\n| bob | ~ |"
    expect({ #calls[1], #calls[2], #calls[3], #calls[4] }):equals{ 2, 2, 0, 2 }
    expect(select("#", table.unpack(calls[2]))):equals(2)
    expect(perilune.json.encode(calls)):equals('[["ada","hello"],["bob",null],[],[null,1]]')
    expect(#t.effects.mail:distinct_calls("send")):equals(4)]=], host())
  matches(failure('expect(t.effects.mail:calls("send")):equals{ { "ada" } }', host()).details[1], '[1][2]: "hello" was not expected')
  matches(failure('expect(t.effects.mail:calls("send")):rows "| 3 |\\n| x |"', host()).message, "no column `3`. Available: 1, 2")
end)

-- Queries

local function queries_host(list)
  return {
    begin_queries = function() return 1 end, end_queries = function(number) return number == 1 and list end,
    explain = function(sql)
      if sql:find("lines") then return { { detail = "SCAN lines", depth = 0 } } end
      return { { detail = "SEARCH invoices USING INDEX by_number (number=?)", depth = 0 } }
    end,
  }
end

test("queries are counted without the statements that begin and end transactions", function()
  local host = queries_host{ { sql = "BEGIN" }, { sql = "SELECT 1" }, { sql = "select 2" }, { sql = "COMMIT TRANSACTION" } }
  passes("local queries = t.queries(function() end)\nexpect(queries):exactly(2):at_most(2):no_writes()\ncheck(#queries == 2)", host)
  local found = failure("expect(t.queries(function() end)):at_most(1)", host)
  equal(found.details, { "expected at most 1 query, got 2", "SELECT 1", "select 2" })
  equal(failure("expect(t.queries(function() end)):exactly(5)", host).details[1], "expected 5 queries, got 2")
  matches(failure("expect(t.queries(function() end)):at_most('x')", host).message, "at_most: expected a number of queries")
  matches(failure("expect({}):at_most(1)", host).message, "at_most: expected queries (of t.queries or t.run), got a table")
  matches(failure("check(t.queries(function() end).count == 2)", host).message, "use #queries and queries[1].sql")
end)

test("statements that differ only in values are reported as repeats", function()
  local host = queries_host{
    { sql = "SELECT * FROM a WHERE id = ?", arguments = { "1" } }, { sql = "SELECT * FROM a  WHERE id = ?", arguments = { "2" } },
    { sql = "SELECT * FROM b WHERE id = 1 AND x = 'y'" }, { sql = "SELECT * FROM b WHERE id = 2 AND x = 'z'" }, { sql = "SELECT a1 FROM c" },
    { sql = "SELECT a2 FROM c" }, { sql = "SELECT '(', x'00' FROM d -- one" }, { sql = "SELECT 'it''s', x'01' FROM d -- two" },
  }
  local found = failure("expect(t.queries(function() end)):no_repeats()", host)
  equal(found.details, { "2 times  SELECT * FROM a WHERE id = ?", "2 times  SELECT * FROM b WHERE id = ? AND x = ?",
    "2 times  SELECT ?, ? FROM d" })
end)

test("expectations on queries detect full scans and used indexes", function()
  db:execute("CREATE TABLE lines (id INTEGER); CREATE TABLE invoices (id INTEGER)")
  local host = queries_host{ { sql = "SELECT * FROM lines", file = "a.lua", line = 3 }, { sql = "SELECT * FROM invoices WHERE number = ?", arguments = { '"R"' } } }
  passes("expect(t.queries(function() end)):uses_index('by_number'):no_full_scan('invoices')", host)
  equal(failure("expect(t.queries(function() end)):no_full_scan('lines')", host).details, { "a.lua:3  SELECT * FROM lines", "  plan  SCAN lines" })
  equal(failure("expect(t.queries(function() end)):no_full_scan()", host).details, { "a.lua:3  SELECT * FROM lines", "  plan  SCAN lines" })
  equal(failure("expect(t.queries(function() end)):uses_index('by_id')", host).details, {
    "expected a query that uses the index by_id, got these plans",
    "a.lua:3  SELECT * FROM lines", "  plan  SCAN lines", 'SELECT * FROM invoices WHERE number = ?  -- "R"',
    "  plan  SEARCH invoices USING INDEX by_number (number=?)",
  })
  matches(failure("expect(t.queries(function() end)):no_full_scan('line')", host).message, "no table `line`; did you mean `lines`?")
end)

test("the scan of an aliased table counts as a scan of the table", function()
  language()
  local meant_by = library("scenarios.data.queries").meant_by
  local function names_table(sql, scanned, name)
    for _, meant in ipairs(meant_by(sql, scanned)) do
      if meant:lower() == name then return true end
    end
    return false
  end
  equal(names_table("SELECT * FROM lines AS l JOIN b", "l", "lines"), true)
  equal(names_table('SELECT * FROM "lines" l', "l", "lines"), true)
  equal(names_table("SELECT * FROM invoices AS l", "l", "lines"), false)
  equal(names_table("SELECT * FROM [Lines]--all\n/* of them */as `L`", "l", "lines"), true)
  equal(names_table("SELECT 'lines l' FROM invoices AS l -- lines l", "l", "lines"), false)
end)

test("expectations on queries report writes", function()
  local host = queries_host{ { sql = "SELECT 1" }, { sql = "/* x */ insert INTO a VALUES (1)", is_write = true }, { sql = "WITH x AS (SELECT 1) DELETE FROM a", is_write = true }, { sql = "PRAGMA x", is_write = true } }
  equal(#failure("expect(t.queries(function() end)):no_writes()", host).details, 3)
end)

test("a scenario that exceeds its query limit fails", function()
  local count = 0
  local S = language{ query_count = function() return count end }
  count_query = function() count = count + 1 end
  S.load("a_scenario.lua", 'scenario("s", { max_queries = 1 }, function(t) count_query() count_query() end)\nscenario("r", { max_queries = 1 }, function(t) count_query() end)')
  equal(S.run("a_scenario.lua > s", {}).failures[1].message, "max_queries: 2 queries were run, at most 1 are allowed")
  equal(S.run("a_scenario.lua > r", {}).outcome, "passed")
end)

-- Snapshots

local function snapshot_host(texts)
  return {
    read_snapshot = function(name) return texts[name] end,
    write_snapshot = function(name, text) texts[name .. ".written"] = text end,
  }
end

test("a snapshot is compared with its file", function()
  passes("expect('text'):snapshot('a')\nexpect({ b = 1, a = { 2 } }):snapshot('b')", snapshot_host{
    a = "-- string, no newline at the end\ntext\n", b = "-- value\n{ a = { 2 }, b = 1 }\n",
  })
end)

test("rows are snapshots as tables", function()
  local texts = { a = "-- rows\nid  name\n1   x\n2   ~\n" }
  passes("expect(t.db:fetch_all(\"SELECT 1 AS id, 'x' AS name UNION SELECT 2, NULL\")):snapshot('a')", snapshot_host(texts))
end)

test("tables, records, queries and long texts can be snapshots", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO a VALUES (1, 'x')")
  local long = ("y"):rep(80)
  local texts = {
    class = "-- rows\nid  name\n1   x\n", long = "-- rows\ntext\n" .. long .. "\n", queries = "-- queries\nSELECT 1  -- 2\n",
  }
  local host = snapshot_host(texts)
  host.begin_queries = function() return 1 end
  host.end_queries = function() return { { sql = "SELECT 1", arguments = { 2 }, ms = 7, file = "a.lua", line = 3 } } end
  passes("expect(t.db.a):snapshot('class')\nexpect(t.db.a:filter{ id = 1 }):snapshot('class')", host)
  passes("expect({ { text = '" .. long .. "' } }):snapshot('long')\nexpect(t.queries(function() end)):snapshot('queries')", host)
  local result = run("expect(t.db.a:fetch_one(1)):snapshot('record')", host)
  matches(result.snapshots[1].text, "name")
end)

test("a new or different snapshot fails the scenario and is kept for review", function()
  local texts = { a = "-- string\none\ntwo\n" }
  local result = run("expect('one\\nthree\\n'):snapshot('a')", snapshot_host(texts))
  equal(result.failures[1].details,
    { "the snapshot `a` differs (- stored, + now)", "  -- string", "  one", "- two", "+ three", "accept it with --review, or with --update-snapshots" })
  equal(result.snapshots, { { name = "a", status = "changed", text = "-- string\none\nthree\n" } })
  equal(texts["a.written"], "-- string\none\nthree\n")
  result = run("expect('x'):snapshot('b')", snapshot_host(texts))
  equal({ result.failures[1].details[1], result.failures[1].details[3] }, { "the snapshot `b` does not exist yet", "+ x" })
  equal(result.snapshots[1].status, "new")
  matches(result.failures[1].details[1], "the snapshot `b` does not exist yet")
  result = run("expect('y'):snapshot('c')", snapshot_host(texts), { update_snapshots = "no" })
  equal({ result.outcome, texts["c.written"] }, { "failed", nil })
end)

test("all new snapshots can be accepted at once", function()
  local texts = { a = "old\n" }
  local result = passes("expect('new'):snapshot('a')", snapshot_host(texts), { update_snapshots = "all" })
  equal({ result.snapshots[1].status, texts["a.written"] }, { "updated", "-- string, no newline at the end\nnew\n" })
end)

test("values of different types, and texts with different endings, have different snapshots", function()
  local values = {
    "1", "'1'", "1.0", "true", "'true'", "'1\\n'", "'1\\r\\n'", "'1\\n\\n'", "nil", "'nil'", "t.clock:now()", "tostring(t.clock:now())",
    "{ 1 }", "{ '1' }", "'{ 1 }'", "{ { a = 1 } }", "{ { a = '1' } }", "{ { a = true } }", "{ { a = 'true' } }",
    "{ { a = '2026-01-01 00:00:00.000' } }", "{ { a = '2026-01-01 00:00:00' } }", "{ { a = t.clock:now() } }",
    "{ { a = tostring(t.clock:now()) } }", "{ { a = 1.0 } }", "{ { a = '1.0' } }", "{ { a = \"x'00'\" } }", "{ { a = 'x' } }",
  }
  local texts, kinds = {}, {}
  for _, value in ipairs(values) do
    local result = run("expect(" .. value .. "):snapshot('a')", snapshot_host{})
    local text = result.snapshots[1].text
    equal(texts[text], nil)
    texts[text] = value
    kinds[text:match("^%-%- ([^\n]*)\n")] = true
  end
  equal(kinds, { ["string"] = true, ["string, no newline at the end"] = true, value = true, rows = true })
end)

test("two scenarios cannot compare different values with one snapshot", function()
  local host = snapshot_host{}
  host.use_snapshot = function(name) return "a_scenario.lua > other" end
  matches(failure("expect(1):snapshot('x')", host).message,
    "the scenario `a_scenario.lua > other` compares another value with the snapshot `x`; give each its own name")
end)

test("the name of a snapshot must be a valid file name", function()
  for _, name in ipairs{ "'../x'", "''", "7", "'.x'" } do
    matches(failure("expect(1):snapshot(" .. name .. ")", snapshot_host{}).message, "expected a name that can be a file's")
  end
end)

test("the stack frames of a failure end at the runner", function()
  local failures = library("scenarios.reports.failures")
  for _, line in ipairs{ "", ":77" } do
    local text = "stack traceback:\n\ta_scenario.lua:5: in local 'total'\n\ta_scenario.lua:3: in function <a_scenario.lua:2>\n\t[C]: in ?"
      .. "\n\t[lib] scenarios/running.lua" .. line .. ": in upvalue 'play'\n\tafter.lua:9: in main chunk"
    equal(table.concat(failures.places(text), " "), "a_scenario.lua:5 a_scenario.lua:3")
    equal(table.concat(failures.way(text), " "), "a_scenario.lua:3 a_scenario.lua:5")
  end
end)

test("a database in memory is erased if its migrations have changed", function()
  passes([[
    local function migrator(sql)
      local m = perilune.migrator()
      m.erase_on_schema_change = true
      return m:register("a", sql)
    end
    for _, db in ipairs{ t.db, perilune.queue() } do
      migrator("CREATE TABLE a (x)"):migrate(db)
      migrator("CREATE TABLE a (x, y)"):migrate(db)
      check(#db:columns("a") == 2)
    end]])
end)

test("a failed assert and a case without cases lead to what to write", function()
  local function last(code)
    local details = failure(code).details
    return details[#details]
  end
  equal(last("assert(1 == 2)"), "help  use check(condition), which shows the values")
  equal(last("print(t.case.n)"), "help  t.case exists only with the option `cases` of the scenario")
end)

test("words of other test libraries in a scenario lead to the words to use", function()
  for line in ([==[
    assert.equal(1, 1)  --! expect(value):equals(other)
    assert.is_true(true)  --! check(condition)
    group.only("a", print)  --! scenario.only
    scenario.xfail("a", print)  --! option `fails`
    expect({ a = 1 }):has_key("a")  --! covers{ field = value }
    expect(1):is_number()  --! check(type(value)
    expect(1):satisfies(print)  --! check(condition)
    print(t.params)  --! t.case
    t.query_count(print)  --! t.queries
    t.timeout("1s")  --! option of scenario
    t.db:truncate()  --! Class:delete_all()
    print(t.db.db)  --! the database itself
  ]==]):gmatch("[^\n]+") do
    local code, wanted = line:match("^%s*(.-)%s+%-%-! (.*)$")
    if code then
      local message = failure(code).message
      if not message:find(wanted, 1, true) then error(code .. "\n  came: " .. message, 0) end
    end
  end
end)

test("the list of t.given is not a record", function()
  local code = "t.db:execute('CREATE TABLE IF NOT EXISTS tea (id INTEGER PRIMARY KEY, name TEXT)') "
    .. "local list = t.given.tea{ name = 'Assam' } "
  matches(failure(code .. "print(list.name)").message, "t.make.tea")
  matches(failure(code .. "t.make.tea:build()").message, "t.make.table{")
  passes(code .. "check(list[1].name == 'Assam' and #list == 1 and list[2] == nil)")
end)

test("a year alone is not an instant for the clock", function()
  local host = { clock_set = function() end }
  matches(failure("t.clock:set('2026')", host).message, '; write the day, as in "2026-01-01"')
  matches(failure("t.clock:set('2026-02-30')", host).message, "expected a day from 1 to 28")
  passes("t.clock:set('2026-02-28') check(true)", host)
end)

test("members of other test libraries are refused, and the errors name the members to use", function()
  for call, use in pairs{
    ["t.note(t, 'x')"] = "as in t.note(...)", ["t.id = 1"] = "t.fixtures.name", ["t.freeze('2026-01-01')"] = "t.clock:set", ["t.add_cleanup(print)"] = "t.defer(f)",
    ["t.sql('SELECT 1')"] = "t.db:execute", ["t.emit('x')"] = "perilune.emit", ["t.clock:run_all()"] = "t.clock:advance", ["t.effects.mail:with(1)"] = "a function as the value",
    ["t.clock:advance('1 month')"] = "t.clock:now():add", ["t.db.given.customer()"] = "not `t`",
  } do
    matches(failure(call, { clock_advance = function() end }).message, use)
  end
end)

test("a fixture that returns a cleanup function is refused, and the error names t.defer", function()
  local S = language()
  S.load("support.lua", "fixture('f', function() return 1, function() end end)", true)
  S.load("x_scenario.lua", "scenario('s', function(t) check(t.fixtures.f == 1) end)")
  matches(S.run("x_scenario.lua > s", {}).failures[1].message, "t.defer(f)")
end)

test("a fixture may have the name of a member, because it is found in t.fixtures", function()
  local S = language()
  S.load("support.lua", "fixture('clock', function() return 1 end)\nfixture('ada', function() return 2 end)", true)
  S.load("x_scenario.lua", "scenario('a', function(t) check(t.fixtures.clock == 1 and t.clock:now()) end)\nscenario('b', function(t) print(t.ada) end)")
  equal(S.run("x_scenario.lua > a", {}).outcome, "passed")
  matches(S.run("x_scenario.lua > b", {}).failures[1].message, "use t.fixtures.ada")
end)

test("functions of the context that are called with a colon name the dot", function()
  for _, call in ipairs{ "run('a.lua', { 1 })", "changes(print)", "skip()", "step('a', print)", "migrate()", "note('a')", "attach('a', 1)", "defer(print)" } do
    local name = call:match("%w+")
    matches(failure("t:" .. call).message, ("t.%s: call it with a dot, as in t.%s(...)"):format(name, name))
  end
  db:execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT)")
  matches(failure("t.given:customer{ name = 'x' }").message, "t.given.customer: call it with a dot, as in t.given.customer(rows)")
  matches(failure("t.make:customer{ name = 'x' }").message, "t.make.customer: call it with a dot, as in t.make.customer{ column = value }")
end)

test("a timer that was not called is noted", function()
  local result = passes("perilune.after('1h', function() end)\ncheck(true)")
  equal(result.notes, { "1 timer was not called before the scenario ended (a1_scenario.lua:2); t.clock:advance(duration) calls the timers that become due" })
  equal(#passes("perilune.after('1h', function() end):cancel()\ncheck(true)").notes, 0)
end)

test("a single argument of a script is suggested as a list", function()
  matches(failure("t.run('a.lua', 'N-1')").message, 'expected a table of arguments, got the string "N-1"; use t.run(path, { "N-1" })')
end)

test("the calls of a function without a stub lead to the stub", function()
  local host = { calls = function() library("perilune.native.errors").raise("unknown_function", "no function `send`.") end }
  matches(failure('t.effects.mail:calls("send")', host).message,
    'no stub and no call of `mail.send`; use t.effects.mail:stub("send", value) before it could be called')
end)

test("a service that was stopped cannot run until it is idle", function()
  local host = {}
  for _, name in ipairs{ "require_no_access", "kill_service", "stop_service", "restart_service", "run_until_idle" } do host[name] = function() end end
  host.start_service = function() return 1 end
  for _, ending in ipairs{ "kill", "stop" } do
    matches(failure(("t.service('a.lua'):%s():run_until_idle()"):format(ending), host).message,
      "service:run_until_idle: the service is not running; call service:start() first")
    passes(("t.service('a.lua'):%s():start():run_until_idle()\ncheck(true)"):format(ending), host)
  end
end)

test("a failed scenario notes how far run_until_idle has advanced the clock", function()
  local now, step = 0.0, 28 * 86400 + 5400
  library("perilune.native.loop").now = function() return now end
  local host = {
    require_no_access = function() end, start_service = function() return 1 end, run_until_idle = function() now = now + step end,
  }
  local body = "local service = t.service('a.lua')\nfor _ = 1, 2 do service:run_until_idle() end\n"
  equal(run(body .. "check(false)", host).notes, {
    "service:run_until_idle advanced the clock by 56 days 3 hours (a1_scenario.lua:3); t.wait_until_idle() runs only what is due now" })
  equal(passes(body .. "check(true)", host).notes, {})
  step = 0.0
  equal(run(body .. "check(false)", host).notes, {})
end)

test("only the option `failures` allows a service to fail", function()
  local seen = {}
  local host = { require_no_access = function() end, start_service = function(path, allows_failures)
    seen[#seen + 1] = { path, allows_failures }
    return 1
  end }
  passes("t.service('a.lua')\nt.service('b.lua', { failures = 'allow' })\nt.service('c.lua', { failures = 'fail' })\ncheck(true)", host)
  equal(seen, { { "a.lua", false }, { "b.lua", true }, { "c.lua", false } })
  matches(failure("t.service('a.lua', { failures = 'ignore' })", host).message, 't.service: option `failures`: expected "allow" or "fail"')
  matches(failure("t.service('a.lua', { allow_failures = true })", host).message, 'no option `allow_failures`; use the option failures = "allow"')
  matches(failure("t.service{ 'a.lua' }", host).message, 'got a table; use t.service(path, { failures = "allow" })')
  for call, part in pairs{
    ["emit('x')"] = "reaches durable automations; for others, require the file", ["run('x')"] = "use t.clock:advance(duration)",
    ["failures()"] = "perilune_automation_run",
  } do matches(failure("t.service('a.lua'):" .. call, host).message, part) end
  matches(failure("t.clock:advance_to('2000-02-01')").message, "use t.clock:set(instant)")
end)

test("names from other test libraries lead to the right functions", function()
  matches(failure("with_raises('x', function() end)").message, "use expect_error(function() ... end, message)")
  matches(failure("xscenario('x', function() end)").message, "use scenario.skip(reason, name, function(t) ... end)")
  matches(failure("fscenario('x', function() end)").message, "use scenario.only(name, function(t) ... end)")
end)
