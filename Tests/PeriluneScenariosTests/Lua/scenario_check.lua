-- `check` and the rewriting of its calls.

local function rewritten(text)
  return library("scenarios.base.rewriting")(text)
end

test("check splits a comparison into its operands with their source text", function()
  equal(rewritten("check(a.b == #c + 1)"), 'check.compare("==", "a.b", "#c + 1", (a.b ), ( #c + 1))')
  equal(rewritten("check(not a ~= b)"), 'check.compare("~=", "not a", "b", (not a ), ( b))')
  equal(rewritten("check(f(1) >= 2, 'message')"), "check.compare(\">=\", \"f(1)\", \"2\", (f(1) ), ( 2), 'message')")
end)

test("text without a comparison outside brackets is a single operand", function()
  equal(rewritten("check(ok)"), 'check.value("ok", (ok))')
  equal(rewritten("check(f(a == b))"), 'check.value("f(a == b)", (f(a == b)))')
  equal(rewritten("check(f(...) and a)"), 'check.value("f(...) and a", (f(...) and a))')
end)

test("operands of and, or and not are split, even in brackets", function()
  local function logic(source, body)
    return ('check.logic(%q, function(__operand) return %s end)'):format(source, body)
  end
  equal(rewritten("check(a and b)"), logic("a and b", '__operand.value("a", (a)) and __operand.value("b", (b))'))
  equal(rewritten("check(t{ a == b } and 1 == x)"), logic("t{ a == b } and 1 == x",
    '__operand.value("t{ a == b }", (t{ a == b })) and __operand.compare("==", "1", "x", (1 ), ( x))'))
  equal(rewritten("check(not f(x))"), logic("not f(x)", 'not __operand.value("f(x)", (f(x)))'))
  equal(rewritten("check(not (a == b or not c))"), logic("not (a == b or not c)",
    'not (__operand.compare("==", "a", "b", (a ), ( b)) or not __operand.value("c", (c)))'))
  equal(rewritten("check((a == b))"), logic("(a == b)", '(__operand.compare("==", "a", "b", (a ), ( b)))'))
  equal(rewritten("check(a or nil, 'why')"), 'check.logic("a or nil", function(__operand) return __operand.value("a", (a)) or nil end, \'why\')')
  for _, text in ipairs{ "check((a).b and (c)(d))", "check(check(x) and y)", "check(function() return a and b end or c)", "check(a and\n b\n)" } do
    assert(load(rewritten(text)), rewritten(text))
  end
end)

test("a failed condition shows the operands that were evaluated", function()
  equal(failure("local a, b = 1, 3\ncheck(a == 1 and b == 2)").details, { "a == 1 is true: a is 1", "b == 2 is false: b is 3" })
  equal(failure("local a, b = 2, 3\ncheck(a == 1 and b == 2)").details, { "a == 1 is false: a is 2" })
  equal(failure("local a, b\ncheck(a or b)").details, { "a is nil", "b is nil" })
  equal(failure("local list = { 1 }\ncheck(not list)").details, { "list is { 1 }" })
  equal(failure("local a, b = 1, 'x'\ncheck(not (a == 1 or b))").details, { "a == 1 is true: a is 1" })
  equal(failure("local a\ncheck((a == 5), 'five')").message, "five: check((a == 5))")
  local found = failure("local a = {}\ncheck(true and a < 1)")
  equal(found.details[#found.details], "a table and the integer 1 cannot be compared by <")
  equal({ found.line, found.source }, { 3, nil })
end)

test("check evaluates a condition once, with Lua's short circuits, and returns its value", function()
  passes([[
    local seen = {}
    local function note(x) seen[#seen + 1] = tostring(x) return x end
    check(note(nil) == nil and (note(false) or note(2)))
    check(table.concat(seen, " ") == "nil false 2")
    check((check(note(false) or note("x") and note("y"))) == "y")
    check(not note(false) and note(7) == 7 or error("not reached"))
    local task = coroutine.wrap(function() return check(coroutine.yield(1) and coroutine.yield(2)) end)
    check(task() == 1 and task(true) == 2 and task("end") == "end")]])
end)

test("an error inside an operand of check has the operand's line", function()
  local found = failure("local x\ncheck(x and true or\n  x.y)")
  equal({ found.message, found.line }, { "attempt to index a nil value (upvalue 'x')", 4 })
end)

test("a check of long texts shows where they differ", function()
  local found = failure("local a, b = 'one\\ntwo\\n', 'one\\nthree\\n'\ncheck(a == b)")
  equal(found.details, { "`+` is in b, `-` in a", "  one", "+ three", "- two" })
  found = failure("local a, b = ('x'):rep(300) .. 'a', ('x'):rep(300) .. 'b'\ncheck(a == b)")
  equal(found.details[2], "they differ from byte 301 on; expected 301 bytes, got 301")
  equal(found.details[3], 'b ..."' .. ("x"):rep(60) .. 'b"')
  equal(failure("local a = 'x'\ncheck(a == 'y')").details, { 'a is "x"' })
end)

test("check splits the outermost of several comparisons", function()
  equal(rewritten("check(a == b == c)"), 'check.compare("==", "a == b", "c", (a == b ), ( c))')
end)

test("strings, long strings and comments are not treated as code", function()
  equal(rewritten('local x = "check(a == b)"'), 'local x = "check(a == b)"')
  equal(rewritten("local x = [==[ check(a == b) ]] ]==]"), "local x = [==[ check(a == b) ]] ]==]")
  equal(rewritten("-- check(a == b)\n--[[ check(a == b)\n]] x()"), "-- check(a == b)\n--[[ check(a == b)\n]] x()")
  equal(rewritten([[check(a == "x) == (y")]]), [[check.compare("==", "a", "\"x) == (y\"", (a ), ( "x) == (y"))]])
  equal(rewritten([[check(a == 'it\'s == "')]]), [[check.compare("==", "a", "'it\\'s == \"'", (a ), ( 'it\'s == "'))]])
end)

test("functions inside an operand are not split, and their calls of check are rewritten", function()
  local text = rewritten("check(count(function(x) if x == 1 then return x < 2 end for i = 1, 2 do check(i == x) end end) == 3)")
  matches(text, 'check.compare("==", "count(function(x) if x == 1')
  matches(text, 'do check.compare("==", "i", "x", (i ), ( x)) end end) ), ( 3))')
  assert(load(text))
end)

test("rewriting calls of check keeps line numbers", function()
  local text = "check(\n  a\n  == -- why\n  b\n)\nlocal here = 6"
  local _, lines = rewritten(text):gsub("\n", "")
  equal(lines, 5)
  assert(load(rewritten(text)))
  matches(rewritten(text), '"a", "b"')
end)

test("a nested check at the end of an operand is rewritten correctly", function()
  local text = rewritten("check(check(x))")
  equal(text, 'check.value("check(x)", (check.value("x", (x))))')
  text = rewritten("check(1 == check(x == y))")
  assert(load(text))
end)

test("methods, fields and local functions called check are not rewritten", function()
  for _, text in ipairs{
    "x:check(a == b)", "x.check(a == b)", "local check = f check(a == b)", "local function check(x) end check(a == b)",
    "function check(x) end check(a == b)", "check = f check(a == b)", "local function f(check) check(a == b) end",
    "recheck(a == b)", "check 'x'", "check{}", "check()", "-- check: plain\ncheck(a == b)",
  } do equal(rewritten(text), text) end
end)

test("rewriting leaves text that is not Lua unchanged", function()
  for _, text in ipairs{ "check(a == b", "check(a == 'x)", "check([[ a)", "check(a == b) --[[ x" } do equal(rewritten(text), text) end
end)

test("numbers, exponents and multi-character operators are scanned as in Lua", function()
  equal(rewritten("check(1e+5 == 0x1p-3)"), 'check.compare("==", "1e+5", "0x1p-3", (1e+5 ), ( 0x1p-3))')
  equal(rewritten("check(a<<1==b>>2)"), 'check.compare("==", "a<<1", "b>>2", (a<<1), (b>>2))')
  equal(rewritten("check(a//b<=c..d)"), 'check.compare("<=", "a//b", "c..d", (a//b), (c..d))')
  equal(rewritten("check(0x1e+1 == 31)"), 'check.compare("==", "0x1e+1", "31", (0x1e+1 ), ( 31))')
end)

test("check evaluates its operands once and in order", function()
  local result = passes([[
    local seen = {}
    local function note(x) seen[#seen + 1] = x return x end
    check(note(1) < note(2))
    check(#seen == 2)
    check(seen[1] == 1)
    check(note(3))
    check(#seen == 3)]])
  equal(#result.failures, 0)
end)

test("a failed check shows operands whose source does not reveal their values", function()
  local found = failure("local letters = { 1 }\ncheck(#letters == 2)")
  equal(found.message, "check(#letters == 2)")
  equal(found.details, { "#letters is 1" })
  equal(found.kind, "expectation")
  equal(found.file, "a1_scenario.lua")
  equal(found.line, 3)
  equal(found.source, nil)
end)

test("a failed check shows the message of the scenario", function()
  equal(failure("check(1 == 2, 'one letter')").message, "one letter: check(1 == 2)")
  equal(failure("check(nil, 'there')").message, "there: check(nil)")
end)

test("check fails for false and nil, and returns other values", function()
  equal(failure("local x = false\ncheck(x)").details, { "it is false" })
  passes("local x = check(7)\ncheck(x == 7)")
end)

test("comparing incomparable values in check is a clear failure", function()
  local found = failure("local x\ncheck(x < 2)")
  equal(found.details, { "x is nil", "nil and the integer 2 cannot be compared by <" })
end)

test("check explains distinct tables with equal contents, and numeric texts", function()
  matches(failure("check({ 1 } == { 1 })").details[1], "two tables")
  local found = failure("local a = '1'\ncheck(a == 1)")
  equal(found.details[#found.details], "one is the string \"1\", the other the integer 1; use tonumber(text) or tostring(number)")
end)

test("if calls of check are not rewritten, a failure shows the value", function()
  local S = language()
  S.load("a_scenario.lua", "-- check: plain\nscenario('s', function(t) check(1 == 2, 'no') end)")
  local found = S.run("a_scenario.lua > s", {}).failures[1]
  equal(found.message, "no")
  equal(found.details, { "it is false" })
  equal(found.line, 2)
  S.load("b_scenario.lua", "-- check: plain\nscenario('s', function(t) check() end)")
  matches(S.run("b_scenario.lua > s", {}).failures[1].message, "check: expected an expression")
end)

test("a file with a syntax error is reported in its original form", function()
  local S = language()
  local err = fails("syntax", S.load, "a_scenario.lua", "check(a == b)\nlocal = 1")
  equal(err.file, "a_scenario.lua")
  equal(err.line, 2)
end)

test("a table in place of a condition, and a second condition in place of a message, are refused", function()
  matches(failure("check{ 1 == 2 }").message, "check{ ... }: a table is always true; use check(condition) with round brackets")
  matches(failure("check({ 1 == 2 })").message, "a table is always true")
  matches(failure("check(1 == 1, 2 == 3)").message, "argument 2: expected a message, got false; use `and` for another condition")
  passes("check{ 1 }")
end)
