-- Definitions: scenarios, groups, cases, templates, factories, fixtures.

local function ids(S)
  local list = {}
  for index, scenario in ipairs(S.definitions().scenarios) do list[index] = scenario.id end
  return list
end

local function mistake(kind, text, part)
  local S = language()
  local err = fails(kind, S.load, "x_scenario.lua", text)
  matches(err.message, part)
  return err
end

test("a scenario has a name, a location and options", function()
  local S = language()
  S.load("shop/a_scenario.lua", [[
-- a comment
scenario("one", {
  tags = "billing", template = "base", database = "file", timeout = "500ms", retry = 2, lock = "port", clock = "2026-03-31",
  seed = 7, max_queries = 3, grants = { "files" }, fails = "bug 12",
}, function() end)
scenario.only("two", function() end)
scenario.skip("waits for mail", "three", function() end)
scenario.todo("four")]])
  local list = S.definitions().scenarios
  local one = list[1]
  equal(one.id, "shop/a_scenario.lua > one")
  equal({ one.file, one.line, one.index, one.ordinal }, { "shop/a_scenario.lua", 2, 1, 1 })
  equal({ one.tags, one.database, one.timeout, one.retry, one.lock, one.seed, one.max_queries, one.grants, one.fails },
    { { "billing" }, "file", 0.5, 2, "port", 7, 3, { "files" }, "bug 12" })
  equal({ list[2].only, list[3].skip, list[4].todo }, { true, "waits for mail", true })
  equal(one.body, nil)
end)

test("groups can be nested, and scenarios inherit their options", function()
  local S = language()
  S.load("a_scenario.lua", [[
group("outer", { tags = { "a" }, timeout = 1 }, function()
  group("inner", { tags = { "b", "a" } }, function()
    scenario("s", { timeout = "2s" }, function() end)
  end)
  scenario("s", function() end)
end)
scenario("s", function() end)]])
  equal(ids(S), { "a_scenario.lua > outer > inner > s", "a_scenario.lua > outer > s", "a_scenario.lua > s" })
  local list = S.definitions().scenarios
  equal({ list[1].tags, list[1].timeout, list[1].groups }, { { "a", "b" }, 2.0, { "outer", "inner" } })
  equal({ list[2].tags, list[2].timeout }, { { "a" }, 1.0 })
  equal(list[3].tags, {})
end)

test("each case is a scenario whose name can contain the case's values", function()
  local S = language()
  S.load("a_scenario.lua", [[
scenario("discount for {qty} pieces", { cases = { { name = "none", qty = 9 }, { qty = 10 }, { qty = 10, x = 1 } } }, function() end)
scenario("plain", { cases = { { a = 1, b = "x" }, { a = 2 } } }, function() end)
scenario("of a matrix", { cases = matrix { a = { 1, 2 }, b = { true, false } } }, function() end)]])
  equal(ids(S), {
    "a_scenario.lua > discount for 9 pieces > none", "a_scenario.lua > discount for 10 pieces > #2",
    "a_scenario.lua > discount for 10 pieces > x = 1", 'a_scenario.lua > plain > a = 1, b = "x"', "a_scenario.lua > plain > a = 2",
    "a_scenario.lua > of a matrix > a = 1, b = true", "a_scenario.lua > of a matrix > a = 1, b = false",
    "a_scenario.lua > of a matrix > a = 2, b = true", "a_scenario.lua > of a matrix > a = 2, b = false",
  })
end)

test("any value that is raised while a scenario file is loaded becomes an error that describes it", function()
  local S = language()
  equal(fails("error", S.load, "a_scenario.lua", "error({ code = 3 })").message, "error({ code = 3 })")
  equal(fails("error", S.load, "b_scenario.lua", "error()").message, "an error without a value (error(nil))")
  equal(fails("error", S.load, "c_scenario.lua", "error('', 0)").message, 'error("")')
end)

test("names of scenarios must be strings", function()
  local S = language()
  matches(fails("argument", S.load, "a_scenario.lua", 'scenario("\\255", function() end)').message, 'UTF-8, got "\\xff"')
  fails("argument", S.load, "b_scenario.lua", 'scenario("s", { cases = { { name = "\\255" } } }, function() end)')
  S.load("c_scenario.lua", 'scenario("s {x}", { cases = { { x = "\\255" } } }, function() end)')
  equal(ids(S)[1], 'c_scenario.lua > s "\\xff"')
end)

test("the current case is available as t.case", function()
  local S = language()
  S.load("a_scenario.lua", 'scenario("s {n}", { cases = { { n = 1 }, { n = 2 } } }, function(t) check(t.case.n == 2) end)')
  equal(S.run("a_scenario.lua > s 1", {}).outcome, "failed")
  equal(S.run("a_scenario.lua > s 2", {}).outcome, "passed")
end)

test("two scenarios with the same id are listed, and running the id runs the first one", function()
  local S = language()
  S.load("a_scenario.lua", 'scenario("s", function(t) t.note("first") end)\n\nscenario("s", function(t) t.note("second") end)')
  equal(ids(S), { "a_scenario.lua > s", "a_scenario.lua > s" })
  equal(S.definitions().scenarios[2].line, 3)
  equal(S.run("a_scenario.lua > s", {}).notes, { "first" })
end)

test("misspelled options are errors with the nearest name", function()
  equal(mistake("unknown_option", 'scenario("s", { tag = "a" }, function() end)', "did you mean `tags`").suggestion, "tags")
  mistake("unknown_option", 'group("g", { cases = {} }, function() end)', "no option `cases`")
  mistake("unknown_option", 'template("g", { onn = "x" }, function() end)', "did you mean `on`")
  mistake("unknown_member", 'scenario.onyl("s", function() end)', "did you mean `only`")
end)

test("errors for options of a wrong type name the expected type", function()
  mistake("argument", 'scenario("s", { timeout = "soon" }, function() end)', 'scenario "s": option `timeout`: expected a duration of at most 100 years ("2s"')
  for _, timeout in ipairs{ "0", "-1", "0/0", "math.huge", "1e300", "2.0^63", "math.maxinteger", "{ seconds = 1/0 }", "{ seconds = 0/0 }" } do
    mistake("argument", ('scenario("s", { timeout = %s }, function() end)'):format(timeout), "expected a duration of at most 100 years")
  end
  mistake("argument", 'scenario("s", { tags = { 1 } }, function() end)', 'option `tags`: expected a name or a list of names, got a table')
  mistake("argument", 'scenario("s", { retry = -1 }, function() end)', "expected a count")
  mistake("argument", 'scenario("s", { database = "disk" }, function() end)', '"memory", "file", "empty" or "fixture:NAME", got the string "disk"')
  mistake("argument", 'scenario("s", { cases = {} }, function() end)', "a non-empty list of tables")
  mistake("argument", 'scenario("s", { clock = "noon" }, function() end)', "expected a date")
  mistake("argument", 'scenario("s", { fails = true }, function() end)', "expected the reason")
  mistake("argument", 'scenario("s", { fails = {} }, function() end)', "expected the reason")
  mistake("argument", 'scenario("s", { grants = "mail" }, function() end)', 'option `grants`: expected "files", "programs", "native" or "effects", or a list')
  mistake("argument", 'scenario("s", 7, function() end)', "expected a table of options")
end)

test("wrong arguments of definitions are errors", function()
  mistake("argument", 'scenario(function() end)', "scenario: argument 1: expected a name")
  mistake("argument", 'scenario("s")', 'scenario "s": expected a function last, got nil')
  mistake("argument", 'scenario("s", {}, function() end, 1)', "too many arguments")
  mistake("argument", 'scenario.skip("name", function() end)', "expected the reason and then the name")
  mistake("argument", 'scenario.todo("s", function() end)', "expected only a name")
  mistake("unknown_field", 'scenario("{qyt}", { cases = { { qty = 1 } } }, function() end)', "did you mean `qty`")
  mistake("argument", 'matrix { a = 1 }', "matrix: a: expected a non-empty list")
  mistake("argument", 'factory("t", { 1 })', "expected a table of columns")
  mistake("argument", 'factory("a", { cents = function(t, row) end })',
    'factory "a": `cents`: the function gets the number of the row and then `t`, as in function(n, t)')
  mistake("argument", 'factory("a", { cents = function(n, t, row) end })', "and then `t`, as in function(n, t)")
  mistake("unknown_function", 'factory("a", { name = sequence("x %d") })', "no function `sequence`; use factory(table, { column = function(n, t)")
  mistake("unknown_function", 'let("x", 1)', "no function `let`; use fixture(name, function(t) return value end)")
  mistake("argument", 'before_each(1)', "before_each: expected a function last")
  mistake("argument", 'fixture("f", 1)', "expected a function last")
end)

test("defining scenarios inside a running scenario is an error", function()
  for _, call in ipairs{ 'scenario("x", function() end)', 'group("g", function() end)', 'before_each(print)', 'factory("f", {})',
    'template("x", print)', 'fixture("x", print)' } do
    local found = failure(call)
    equal(found.kind, "usage")
    matches(found.message, "definitions must be outside of scenarios")
  end
end)

test("functions that need a running scenario raise outside of one", function()
  local S = language()
  matches(fails("usage", S.load, "x_scenario.lua", 'expect({}):rows "| a |"').message, "can only be called inside the function of a scenario")
end)

test("templates are layers, and unknown ones are errors", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
  local S = language()
  S.load("support.lua", 'template("one", function(db) db.a:insert { id = 1 } end)\ntemplate("two", { on = "one" }, function(db) db.a:insert { id = 2 } end)', true)
  S.load("a_scenario.lua", 'scenario("s", { template = "two" }, function(t) end)')
  local list = S.definitions().templates
  equal({ list[1].name, list[1].on, list[2].name, list[2].on, list[2].line }, { "one", "base", "two", "one", 2 })
  matches(list[1].fingerprint, "db.a:insert { id = 1 }")
  S.fill("one")
  S.fill("two")
  equal(db:fetch_values("SELECT id FROM a ORDER BY id"), { 1, 2 })
  fails("unknown_template", S.fill, "three")
  matches(fails("unknown_template", S.load, "b_scenario.lua", 'scenario("s", { template = "tow" }, function(t) end)').message,
    "b_scenario.lua:1: no template `tow`; did you mean `two`?")
end)

test("an unknown template without a similar name leads to support.lua", function()
  matches(fails("unknown_template", language().load, "a_scenario.lua", 'scenario("s", { template = "of_others" }, function(t) end)').message,
    "Available: base, empty; a template that several files use belongs in support.lua")
end)

test("a template that fails leaves no database", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
  local S = language()
  S.load("support.lua", 'template("one", function(db) db.a:insert { id = 1 } error("no") end)', true)
  fails(nil, S.fill, "one")
  equal(db:fetch_value("SELECT COUNT(*) FROM a"), 0)
end)

test("two templates, factories or fixtures with the same name are an error", function()
  mistake("duplicate", 'template("a", print)\ntemplate("a", print)', 'template "a": already defined at x_scenario.lua:1')
  mistake("duplicate", 'factory("a", {})\nfactory("A", {})', 'factory "A": already defined at x_scenario.lua:1')
  mistake("duplicate", 'fixture("a", print)\nfixture("a", print)', "already defined at x_scenario.lua:1")
end)

test("scenarios cannot be defined in support files", function()
  local S = language()
  matches(fails("usage", S.load, "support.lua", 'scenario("s", function() end)', true).message, "not in support.lua")
  matches(fails("usage", S.load, "support.lua", 'group("s", function() end)', true).message, "not in support.lua")
end)

test("before functions of outer groups run first, and after functions of outer groups run last", function()
  local S = language()
  seen = {}
  S.load("support.lua", "before_each(function() table.insert(seen, 'all') end)", true)
  S.load("a_scenario.lua", [[
before_each(function(t) table.insert(seen, "file") end)
after_each(function(t) table.insert(seen, "after file") end)
group("g", function()
  before_each(function(t) table.insert(seen, "group") t.defer(function() table.insert(seen, "deferred") end) end)
  after_each(function(t) table.insert(seen, "after group") end)
  scenario("s", function(t) table.insert(seen, "body") error("x") end)
end)]])
  local result = S.run("a_scenario.lua > g > s", {})
  equal(seen, { "all", "file", "group", "body", "after group", "after file", "deferred" })
  equal(result.outcome, "failed")
end)

test("a scenario whose before function fails does not run", function()
  local S = language()
  S.load("a_scenario.lua", 'before_each(function() error("no") end)\nscenario("s", function(t) t.note("ran") end)')
  local result = S.run("a_scenario.lua > s", {})
  equal({ result.outcome, result.failures[1].step, result.notes }, { "failed", "before_each", {} })
end)

test("loading a file for one scenario keeps only that scenario", function()
  local S = language()
  S.want(3)
  S.load("a_scenario.lua", 'scenario("a", { cases = { { n = 1 }, { n = 2 } } }, function() end)\ngroup("g", function() scenario.todo("b") scenario("c", function() end) end)')
  equal(ids(S), { "a_scenario.lua > g > c" })
end)

test("an error while a scenario file is loaded has its location", function()
  local S = language()
  local ok, err = pcall(S.load, "x_scenario.lua", "local x\nx.y = 1")
  matches(tostring(err), "x_scenario.lua:2:")
end)

test("definitions as in other test libraries are refused, and the errors name the replacement", function()
  mistake("argument", 'scenario("a", { cases = { { n = 1 } } }, function(t, case) end)', "t.case")
  mistake("argument", 'scenario("a", { tags = "slow,fast" }, function() end)', "tags = {")
  mistake("argument", 'scenario("a", { clock = "2026" }, function() end)', "expected a date")
  mistake("argument", 'fixture("a", { scope = "file" }, function() end)', "a fixture has no options")
  mistake("argument", 'fixture("a", function(t, use) use(1) end)', "t.defer(f)")
  mistake("argument", 'fixture("a", function() return 1 end, function() end)', "too many arguments")
  mistake("duplicate", 'for _ = 1, 2 do factory("a", { n = 1 }) end', "must not be required")
  mistake("argument", 'scenario("a", { cases = { 1, 2 } }, function() end)', "at position 1, got the integer 1")
  mistake("argument", 'scenario("a", { cases = { one = { n = 1 } } }, function() end)', '{ name = "one", ... }')
  mistake("unknown_field", 'scenario("a {n}", { cases = { { n = 1 }, { m = 2 } } }, function() end)', "case 2: no field `n`")
  mistake("unknown_function", 'scenario_outline("a", function() end)', "`cases`")
end)

test("cases whose names use some of their fields are distinguished by the others", function()
  local S = language()
  S.load("a_scenario.lua", 'scenario("b {n}", { cases = matrix{ n = { 1, 2 }, m = { 3, 4 } } }, function(t) end)')
  local ids = {}
  for index, entry in ipairs(S.definitions().scenarios) do ids[index] = entry.id end
  equal(#ids, 4)
  equal(ids[1]:find("m = ", 1, true) ~= nil and ids[1]:find("#", 1, true) == nil, true)
end)

test("a field of a field in the name of a case is refused", function()
  local S = language()
  matches(fails("argument", S.load, "a_scenario.lua", 'scenario("d {x.y}", { cases = { { x = { y = 5 } } } }, function(t) end)'),
    "case 1: {x.y}: a name can contain fields of a case, such as {x}")
  matches(fails("unknown_option", S.load, "b_scenario.lua", 'template("p", { base = "q" }, function(db) end)'), "use the option `on`")
end)
