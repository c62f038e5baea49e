-- `expect` and `expect_error` for values.

test("equals compares the contents of tables and reports each difference with its path", function()
  passes("expect({ a = { 1, 2 }, b = 'x' }):equals { a = { 1, 2 }, b = 'x' }")
  passes("expect(1):equals(1.0)")
  passes("expect(0/0):equals(0/0)")
  local found = failure("local x = { a = { 1, { b = 2 } }, d = 1 }\nexpect(x):equals { a = { 1, { b = 3 } }, c = 1 }")
  equal(found.message, "expect(x):equals")
  equal(found.details, { "a[2].b: expected 3, got 2", "c: expected 1, got nil", "d: 1 was not expected" })
end)

test("equals can compare tables that contain themselves", function()
  passes("local a, b = {}, {}\na.self, b.self = a, b\nexpect(a):equals(b)")
end)

test("failures shorten large values, and snapshots do not", function()
  language()
  local display = library("scenarios.reports.display")
  local function nested(depth)
    local list = {}
    for index = 1, 30 do list[index] = depth > 1 and nested(depth - 1) or index end
    return list
  end
  local value = nested(4)
  equal(#display.show(value) < 10000, true)
  matches(display.show(value), "{...}")
  equal(display.pretty(nested(2)):find("...", 1, true), nil)
  matches(display.show(("x"):rep(5000)), "... (5000 bytes)")
  local list = {}
  for index = 1, 50 do list[index] = index end
  matches(display.show(list), "40, ... (10 more) }")
  local itself = {}
  itself.a = itself
  equal(display.show(itself), "{ a = { itself } }")
  equal(display.pretty(itself), "{ a = { itself } }")
  equal(display.show(setmetatable({}, { __tostring = function() error("no") end })), "a table")
end)

test("equals of long texts shows the lines that differ", function()
  local found = failure("expect('a\\nb\\nc'):equals('a\\nx\\nc')")
  equal(found.details, { "`+` is expected, `-` is in the value", "  a", "+ x", "- b", "  c" })
end)

test("a text table given to a matcher of values leads to the matchers of rows", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO a VALUES (1, 'x')")
  local advice = "rows[[ ... ]] compares rows with a text table"
  equal(failure("expect(t.db:fetch_all('SELECT * FROM a')):equals[[\n| id |\n| 1 |\n]]").details[3], advice)
  equal(failure("expect({ { id = 1 } }):equals'| id |'").details[3], advice)
  equal(#failure("expect({ { id = 1 } }):equals'id'").details, 2)
  equal(#failure("expect(1):equals'| id |'").details, 2)
  matches(failure("expect(t.db.a):covers'| id |'").message, "use has_rows[[ ... ]] for a text table")
end)

test("a snapshot with options leads to a value without some columns", function()
  matches(failure("expect({}):snapshot('a', { ignore = { 'id' } })").message, 'as in expect(request:select("title")):snapshot(name)')
end)

test("records and rows are compared by their columns", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO a VALUES (1, 'x')")
  passes("expect(t.db.a:fetch_one(1)):equals { id = 1, name = 'x' }\nexpect(t.db:fetch_all('SELECT * FROM a')[1]):covers { name = 'x' }")
  equal(failure("expect(t.db.a:fetch_one(1)):covers { name = 'y' }").details, { 'name: expected "y", got "x"' })
end)

test("results of execute are compared by their fields", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT)")
  passes([[expect(t.db:execute("INSERT INTO a VALUES (7, 'x')")):covers { changed_rows = 1 }
    expect(t.db:execute("INSERT INTO a VALUES (8, 'x')")):equals { changed_rows = 1, inserted_rowid = 8 }
    expect(t.db:execute("UPDATE a SET name = 'y'")):equals { changed_rows = 2 }
    expect.no(t.db:execute("UPDATE a SET name = 'y'")):covers { changed_rows = 1 }]])
  equal(failure("expect(t.db:execute('DELETE FROM a')):covers { changed_rows = 3, inserted_rowid = 1 }").details,
    { "changed_rows: expected 3, got 2", "inserted_rowid: expected 1, got nil" })
end)

test("is requires the identical value", function()
  passes("local x = {}\nexpect(x):is(x)")
  equal(failure("expect(1):is(2)").details, { "expected 2", "got      1" })
  equal(failure("expect({}):is({})").outcome, nil)
end)

test("near accepts a tolerance", function()
  passes("expect(0.1 + 0.2):near(0.3)\nexpect(10):near(11, 1)")
  passes("expect(math.huge):near(math.huge)\nexpect.no(math.huge):near(-math.huge)\nexpect.no(0 / 0):near(0 / 0)")
  local found = failure("expect(10):near(12, 1)")
  equal(found.details[3], "they differ by 2, at most 1 was expected")
end)

test("near distinguishes large whole numbers exactly", function()
  local function apart(left, right, tolerance)
    return failure(("expect(%s):near(%s, %s)"):format(left, right, tolerance)).details[3]
  end
  equal(apart("math.mininteger", "0", "1"), "they differ by 9.223372036854776e+18, at most 1 was expected")
  equal(apart("math.maxinteger", "math.mininteger", "1"), "they differ by 1.8446744073709552e+19, at most 1 was expected")
  equal(apart("6917529027641081856", "-6917529027641081856", "1e10"), "they differ by 1.3835058055282164e+19, at most 10000000000.0 was expected")
  equal(apart("9007199254740993", "9007199254740992.0", "0"), "they differ by 1, at most 0 was expected")
  equal(apart("math.maxinteger", "math.mininteger + 0.0", "1"), "they differ by 1.8446744073709552e+19, at most 1 was expected")
  passes("expect(math.maxinteger):near(math.mininteger, 2.0 ^ 64)\nexpect(math.maxinteger):near(math.maxinteger - 1, 1)")
  passes("expect(1 / 0):near(1 / 0)\nexpect.no(1 / 0):near(-1 / 0, 1)\nexpect.no(0 / 0):near(0 / 0)\nexpect(2 ^ 53):near(2 ^ 53 | 0)")
end)

test("blobs are shown as SQL literals", function()
  local found = failure("expect(perilune.blob('\\0\\255')):equals(perilune.blob('\\0\\254'))")
  equal(found.details, { "expected x'00fe'", "got      x'00ff'" })
  equal(failure("expect(perilune.blob('x')):equals('y')").details, { 'expected "y"', "got      x'78'" })
  equal(failure("expect({ perilune.blob('\\255') }):equals({ 1 })").details[1], "[1]: expected 1, got x'ff'")
end)

test("contains finds parts of text and elements of lists", function()
  passes("expect('some text'):contains('me t')\nexpect({ 1, { a = 2 } }):contains({ a = 2 })\nexpect({ 1, nil, 3 }):contains(3)")
  equal(failure("expect('text'):contains('z')").details, { '"z" is not in', '"text"' })
end)

test("a failure shows multiline text line by line", function()
  equal(failure("expect('a\\nb\\n'):contains('z')").details, { '"z" is not in', "  a", "  b", "  " })
end)

test("matches uses a Lua pattern", function()
  passes("expect('R-0001'):matches('^R%-%d+$')")
  equal(failure("expect('x'):matches('^y')").message, "expect('x'):matches")
end)

test("is_nil and is_empty check for nil and for empty values", function()
  passes("expect(nil):is_nil()\nexpect({}):is_empty()\nexpect(''):is_empty()")
  equal(failure("expect(false):is_nil()").details, { "it is false" })
  equal(failure("expect({ 'x' }):is_empty()").details, { "it has 1", 'it is { "x" }' })
end)

test("expect.no negates a matcher", function()
  passes("expect.no(1):equals(2)\nexpect.no('x'):contains('y')")
  local found = failure("expect.no(1):equals(1)")
  equal(found.message, "expect.no(1):equals")
  equal(found.details, { "it matches, but must not: 1" })
end)

test("soft failures are collected, and the scenario continues", function()
  local result = run("t.step('all', function()\nexpect.soft(1):equals(2)\nexpect.soft(3):equals(4)\nend)\nt.note('after')")
  equal(result.outcome, "failed")
  equal(#result.failures, 2)
  equal(result.failures[1].step, "all")
  equal(result.failures[1].line, 3)
  equal(result.failures[2].line, 4)
  equal(result.steps[1].outcome, "failed")
  equal(result.notes, { "after" })
end)

test("scenarios can add matchers", function()
  passes("expect.extend('is_even', function(x) return x % 2 == 0, x .. ' is odd' end)\nexpect(2):is_even()\nexpect.no(3):is_even()")
  equal(failure("expect.extend('is_odd', function(x) return x % 2 == 1, 'it is even' end)\nexpect(2):is_odd()").details, { "it is even" })
  matches(failure("expect.extend('is_odd', function() end, 'odd')").message, "the function returns the description as its second result")
  matches(failure("expect.extend('equals', function() end)").message, "a matcher `equals` already exists")
end)

test("an unknown matcher is an error with the nearest name", function()
  local found = failure("expect(1):equls(1)")
  equal(found.kind, "unknown_matcher")
  matches(found.message, "did you mean `equals`?")
  matches(failure("expect.not_(1)").message, "no member `not_`")
end)

test("an expectation needs a value and a call with a colon", function()
  matches(failure("expect(1).equals(1)").message, "call it with a colon")
  matches(failure("expect()").message, "expected a value")
  passes("expect(1, 2):equals(1)")
end)

test("a failure quotes the expectation, even if it spans several lines", function()
  local found = failure("expect({\n  1,\n  2,\n})\n  :count(3)")
  equal(found.message, "expect({ 1, 2, }):count")
end)

test("if a line contains two possible expectations, the whole line is quoted", function()
  local found = failure("expect(1):equals(2) expect(3):equals(3)")
  equal({ found.message, found.source }, { "expect(the integer 1):equals", "expect(1):equals(2) expect(3):equals(3)" })
  equal(failure("expect(1):equals(2) expect(1):is(1)").message, "expect(1):equals")
  equal(failure("expect(1):equals(1)\nexpect(3):equals(4)").message, "expect(3):equals")
end)

test("a failure shows the first difference of long texts", function()
  local found = failure("expect(('ä'):rep(1000) .. 'x'):equals(('ä'):rep(1000) .. 'y')")
  equal(found.details[1], "they differ from byte 2001 on; expected 2001 bytes, got 2001")
  equal(found.details[2], "expected ...\"" .. ("ä"):rep(30) .. "y\"")
  equal(found.details[3], "got      ...\"" .. ("ä"):rep(30) .. "x\"")
  found = failure("expect(('a'):rep(300)):equals(('a'):rep(301))")
  equal(found.details[1], "they differ from byte 301 on; expected 301 bytes, got 300")
  found = failure("expect(('a\\n'):rep(30000) .. 'b\\n' .. ('c\\n'):rep(30000)):equals(('a\\n'):rep(30000) .. ('c\\n'):rep(30000))")
  equal(found.details, { "`+` is expected, `-` is in the value", "  ...", "  a", "  a", "- b", "  c", "  c", "  ..." })
  found = failure("expect(('a\\n'):rep(3000)):equals(('b\\n'):rep(3001))")
  equal(found.details, { "`+` is expected, `-` is in the value", "+ b", "- a", "  ... and more: expected 3001 more lines, got 3000" })
  equal(#failure("expect('x\\ny'):equals(('b\\n'):rep(9000))").details, 102)
end)

test("snapshots of values are compared as text", function()
  matches(failure("expect('\\255'):snapshot('s')", { read_snapshot = function() end }).message, "UTF-8, got \"\\xff\"")
end)

test("expect_error returns the error and checks its kind, table and column", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO a VALUES (1, 'x')")
  passes([[
    local err = expect_error(function() t.db.a:insert { name = "x" } end, { kind = "constraint_unique", column = "a.name" })
    check(err.table == "a")
    expect_error(function() t.db.a:insert { name = "x" } end, { kind = "constraint_unique", column = "name", table = "a" })]])
  local found = failure('expect_error(function() t.db.a:insert { name = "x" } end, { kind = "constraint_check", column = "a.nam" })')
  equal(found.details, {
    "expected an error of column a.nam, got one of a.name", 'expected an error of kind "constraint_check", got "constraint_unique"',
    "the error is  UNIQUE constraint failed: a.name (a row of `a`)",
  })
end)

test("the column of an expected error may be one of a validation error", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER)")
  local code = [[
    local A = perilune.record("a")
    function A:validate() self:invalid("x", "is bad") self:invalid("y", "is worse") end
    expect_error(function() A:insert{ x = 1 } end, { kind = "validation", column = %q })]]
  passes(code:format("x"))
  passes(code:format("a.y"))
  equal(failure(code:format("id")).details[1], "expected an error of column id, got one of a.x, a.y")
end)

test("expected errors have the words of error objects", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO a VALUES (1, 'x')")
  matches(failure('expect_error(function() error("x") end, { code = "x" })').message, 'no option `code`; use kind = ')
  matches(failure('expect_error(function() error("x") end, { pattern = "x" })').message, 'no option `pattern`; use message = ')
  matches(failure('expect_error(function() error("x") end, { mesage = "x" })').message, "did you mean `message`?")
  passes('expect_error(function() error("went wrong") end, { message = "went %a+" })')
end)

test("expect_error accepts a pattern, and errors of any type", function()
  passes([[
    local err = expect_error(function() error("went wrong") end, "went %a+")
    check(err.message == "went wrong")
    check(err.line == 2)
    expect_error(function() error({ message = "x", code = 3 }) end, "x")
    check(expect_error(function() error({ code = 3 }) end).code == 3)]])
  equal(failure("expect_error(function() error('a') end, 'b')").message, "expect_error: another error was raised")
end)

test("expect_error fails without an error and does not hide failed checks", function()
  equal(failure("expect_error(function() return 1, 'x' end)").details, { 'it returned 1, "x"' })
  equal(failure("expect_error(function() check(1 == 2) end)").message, "check(1 == 2)")
  equal(failure("expect_error(function() end, { cod = 'x' })").kind, "unknown_option")
end)

-- Texts that look the same

--- Pairs of texts that look the same, with a part of the hint that describes their difference.
local lookalikes = {
  { "a b", "a\u{a0}b", "character 2: expected U+0020 (space), got U+00A0 (no-break space)" },
  { "a b", "a\u{2009}b", "U+2009 (space of another width)" },
  { "caf\u{e9}", "cafe\u{301}", "character 4: expected U+00E9 \u{e9}, got U+0065 e; one is composed (NFC: expected), the other decomposed (NFD: got)" },
  { "cafe\u{301}", "caf\u{e9}", "(NFC: got), the other decomposed (NFD: expected)" },
  { "\u{c4}o\u{308}", "\u{c4}\u{f6}", "character 2" },
  { "\u{ac00}", "\u{1100}\u{1161}", "got U+1100 (Hangul part); one is composed (NFC: expected), the other decomposed (NFD: got)" },
  { "ab", "a\u{200b}b", "got U+200B (zero-width space)" },
  { "ab", "\u{feff}ab", "character 1: expected U+0061 a, got U+FEFF (byte order mark)" },
  { "ab", "ab\u{200e}", "character 3: expected the end of the text, got U+200E (left-to-right mark)" },
  { "ab", "a\u{ad}b", "soft hyphen" },
  { "paypal", "p\u{430}ypal", "character 2: expected U+0061 a, got U+0430 (Cyrillic)" },
  { "O", "\u{39f}", "U+039F (Greek)" },
  { "A", "\u{ff21}", "full-width form" },
  { "a-b", "a\u{2011}b", "no-break hyphen" },
  { "1-2", "1\u{2212}2", "minus sign" },
  { "it's", "it\u{2019}s", "right single quotation mark" },
  { "\u{c5}", "\u{212b}", "Angstrom sign" },
  { "file", "\u{fb01}le", "character 1" },
  { "a...", "a\u{2026}", "character 2" },
  { "\u{2764}", "\u{2764}\u{fe0f}", "variation selector" },
}

test("the difference between texts that look the same is described in all comparisons", function()
  db:execute("CREATE TABLE a (name TEXT)")
  for _, pair in ipairs(lookalikes) do
    local expected, got, named = ("%q"):format(pair[1]), ("%q"):format(pair[2]), pair[3]
    matches(failure(("expect(%s):equals(%s)"):format(got, expected)).details[3], named)
    matches(failure(("expect(%s):is(%s)"):format(got, expected)).details[3], named)
    matches(failure(("expect({ a = %s }):equals{ a = %s }"):format(got, expected)).details[2], named)
    local details = table.concat(failure(("local a, b = %s, %s\ncheck(a == b)"):format(got, expected)).details, "\n")
    matches(details, "they look alike: character ")
    details = table.concat(failure(("expect(%s .. '\\nx'):equals(%s .. '\\nx')"):format(got, expected)).details, "\n")
    matches(details, named)
    if not pair[2]:find(pair[1], 1, true) then
      matches(failure(("expect('x' .. %s .. 'y'):contains(%s)"):format(got, expected)).details[3], "they look alike: character ")
    end
    matches(failure(("expect{ 'x', %s }:contains(%s)"):format(got, expected)).details[3], named)
    local rows = ("expect({ { name = %s } }):rows [[\n| name |\n| %s |\n]]"):format(got, pair[1])
    matches(table.concat(failure(rows).details, "\n"), named)
  end
end)

test("a failed comparison of text with a date, number or blob that looks the same names the types", function()
  local date_hint = 'a date never equals text; use perilune.date("2026-05-01 13:30:00")'
  local number_hint = 'one is the string "1", the other the integer 1; use tonumber(text) or tostring(number)'
  local date, text = "perilune.date('2026-05-01 13:30:00')", "'2026-05-01 13:30:00'"
  equal(failure(("expect(%s):equals(%s)"):format(date, text)).details[3], date_hint)
  equal(failure(("expect(%s):equals(%s)"):format(text, date)).details[3], date_hint)
  equal(failure(("expect{ a = %s }:equals{ a = %s }"):format(date, text)).details[2], date_hint)
  local found = failure(("local date = %s\ncheck(date == %s)"):format(date, text))
  equal(found.details[#found.details], date_hint)
  equal(#failure(("expect(%s):equals('2026-05-02')"):format(date)).details, 2)
  equal(failure("expect(1):equals('1')").details[3], number_hint)
  equal(failure("expect{ 1 }:contains('1')").details[3], number_hint)
  equal(failure("expect{ '1' }:contains(1)").details[3], number_hint)
  equal(failure("expect(perilune.blob('a')):equals('a')").details[3],
    'one is the string "a", the other a blob; use perilune.blob(text) or tostring(blob)')
  equal(failure("expect(true):equals('true')").details[3], 'one is the string "true", the other true')
  equal(#failure("expect(1):equals('a')").details, 2)
end)

test("strings that look different or are not valid text get no hint", function()
  for _, pair in ipairs{ { "a", "b" }, { "ab", "a" }, { "日本", "中国" }, { "a\xff", "a" }, { "hello", "he" }, { "\u{1f600}", "\u{1f601}" },
    { "M\u{fc}ller", "Moller" }, { "\u{e9}", "\u{e8}" }, { "e\u{301}", "e" }, { "\u{e9}", "\u{65e5}" } } do
    equal(#failure(("expect(%q):equals(%q)"):format(pair[1], pair[2])).details, 2)
    if not pair[1]:find(pair[2], 1, true) then equal(#failure(("expect(%q):contains(%q)"):format(pair[1], pair[2])).details, 2) end
  end
end)

test("a message that contains the pattern literally gets a hint about escaping", function()
  local function details(raised, pattern)
    return failure(("expect_error(function() error(%q) end, %q)"):format(raised, pattern)).details[1]
  end
  equal(details("user-id missing", "user-id missing"), 'expected a message that matches the pattern "user-id missing"; '
    .. 'the message has this text, but "user%-id missing" is needed to find it')
  matches(details("100% sure", "100% sure"), '"100%% sure" is needed to find it')
  matches(details("f(", "f("), '"f(" is not a Lua pattern: unfinished capture; write "f%(" to find this text')
  matches(details("f(a(b)", "f(a(b"), '"f%(a%(b" is needed to find it')
  equal(details("other", "user-id"), 'expected a message that matches the pattern "user-id"')
end)

test("matchers refuse arguments that they would ignore", function()
  language()
  local _, err = pcall(load("expect(1):equals(1, 'the same')"))
  matches(err.message, "equals: takes one argument, got the string \"the same\" as argument 2")
  _, err = pcall(load("expect({}):is_empty(0)"))
  matches(err.message, "is_empty: takes no arguments, got the integer 0 as argument 1")
end)

test("matcher names of other test libraries suggest the matcher to use", function()
  language()
  for code, wanted in pairs{
    ["expect(1):to_equal(1)"] = "expect(value):equals(other)", ["expect(1):toBe(1)"] = "expect(value):equals(other)",
    ["expect(1):not_equals(2)"] = "expect.no(value):equals(other)", ["expect.equal(1, 1)"] = "expect(value):equals(other)",
    ["expect.is_nil(1)"] = "expect(value):is_nil(...)", ["expect(print):to_throw()"] = "expect_error(", ["expect(1):greater_than(0)"] = "check(value > 5)",
    ["expect(true):is_true()"] = "check(value)", ["expect(1):equal(2)"] = "expect(value):equals(other)",
  } do
    local _, err = pcall(load(code))
    matches(err.message, wanted)
  end
end)

test("rows given as tables are refused, and the error shows the first row as a text table", function()
  local message = failure("expect({}):has_rows{ { id = 1, name = 'Ada | Co', at = perilune.null } }").message
  matches(message, [[has_rows: expected a text table, got a table; write the rows as text: has_rows("| at | id | name |\n| ~ | 1 | \"Ada | Co\" |")]])
  matches(failure("expect({}):rows{ name = 'Ada' }").message, [[rows("| name |\n| Ada |")]])
  matches(failure("expect({}):rows_any_order{ 1, 2 }").message, "use expect(list):equals{ ... }")
  matches(failure("expect({}):rows{}").message, "use expect(list):equals{ ... }")
  passes([[expect({ { id = 1, name = "Ada | Co" } }):has_rows("| id | name |\n| 1 | \"Ada | Co\" |")]])
end)

test("a matcher of expect.extend must return true or false", function()
  matches(failure("expect.extend('is_even', function(v) return { pass = v % 2 == 0 } end)\nexpect(3):is_even()").message, "it returned a table")
end)

test("a failed pattern that equals the text is reported with a note on contains", function()
  local details = failure("expect('a.b-c'):matches('a.b-c')").details
  matches(details[#details], "use contains for text")
  details = failure("expect('12'):matches('\\\\d+')").details
  matches(details[#details], "Lua patterns")
end)

test("matchers of other test libraries are refused, and the errors name the matchers to use", function()
  for call, use in pairs{ ["same_items{ 1 }"] = "table.sort(list)", ["is_greater_than(4)"] = "check(value > 5)", ["has_prefix('a')"] = "matches(pattern)", ["called('send')"] = "stub(name, value)" } do
    matches(failure("expect({ 1 }):" .. call).message, use)
  end
end)

test("the functions of expect are called with a dot", function()
  matches(failure("expect:no(2):equals(2)").message, "expect.no: call it with a dot, as in expect.no(...)")
  matches(failure("expect:soft(2):is(2)").message, "expect.soft: call it with a dot, as in expect.soft(...)")
  matches(failure("expect:extend('is_odd', print)").message, "expect.extend: call it with a dot, as in expect.extend(...)")
end)

test("a matcher that returns nothing is an error, and nil means false", function()
  matches(failure("expect.extend('is_odd', function() end)\nexpect.no(5):is_odd()").message,
    "a matcher returns true or false, but it returned nothing")
  passes("expect.extend('has_name', function(value) return value.name end)\nexpect.no({}):has_name()")
end)

test("words of other libraries for matchers lead to the right form", function()
  matches(failure("expect({ 2, 1 }):equals_any_order{ 1, 2 }").message, "sort both lists first")
  matches(failure("expect_error(function() error({ code = 5 }) end, { code = 5 })").message, "check(expect_error(f).code == 5)")
  matches(failure("expect_not(1)").message, "use expect.no(value):equals(other)")
  matches(failure("property('x', print)").message, "perilune test --stress 100")
  matches(failure("t.for_all(100, print)").message, "perilune.random(m, n)")
  matches(failure("t.signal('inspect', 1, 'answer')").message, "use perilune.signal(automation, key, name, data)")
  matches(failure("t.effects.mail:stub('send', 7):twice()", { stub = function() end, calls = function() return {} end }).message, ":times(2)")
end)

test("patterns of regular expressions are explained", function()
  equal(failure("expect('abc'):matches('[a-c]{3}')").details[3], "Lua patterns have no repetitions such as {3} and no alternatives such as a|b")
  equal(failure("expect('abc'):matches('a|b')").details[3], "Lua patterns have no repetitions such as {3} and no alternatives such as a|b")
  equal(failure("expect('abc'):matches('/^abc/')").details[3], "a Lua pattern is written without slashes")
end)

test("a kind of error in place of a pattern is offered as the kind", function()
  db:execute("CREATE TABLE a (n INTEGER CHECK (n < 5))")
  matches(failure("expect_error(function() t.db.a:insert{ n = 9 } end, 'constraint_check')").details[1], 'use { kind = "constraint_check" }')
end)

test("equals and contains lead to the matchers of rows", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT)")
  matches(failure("expect(t.db.a:all()):equals{}").details[3], "use expect(request):rows[[ ... ]], is_empty() or count(number)")
  matches(failure("expect({ { a = 1, b = 2 } }):contains{ a = 1 }").details[3], "has_rows[[ ... ]] compares some columns of rows")
end)

test("expect_error explains the failure of a check that it passes on", function()
  matches(failure("expect_error(function() check(1 == 2) end)").details[1], '{ kind = "expectation" } as its second argument')
end)

test("an unknown property of an expected error explains how to check other fields", function()
  local found = failure("expect_error(function() error{ kind = 'sold' } end, { kind = 'sold', seat = 'A1' })")
  matches(found.message, "no option `seat`. Available: column, kind, message, table")
  equal(found.details, { "help  expect_error returns the error: check its other fields, as in err.seat, or err.cause.seat for an error of t.run" })
  found = failure("expect_error(function() error{ kind = 'sold' } end, { mesage = 'sold' })")
  matches(found.message, "did you mean `message`?")
  equal(found.details, {})
end)
