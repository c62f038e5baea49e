--- Expressions: their values, their SQL, and invalid expressions.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born INTEGER, active BOOLEAN, notes TEXT);
  INSERT INTO author VALUES
    (1, 'Herman Melville', 'United States', 1819, 1, '{"cat": "Tom", "tags": ["sea", "whale"], "depth": {"x": 3}}'),
    (2, 'Albert Camus', 'France', 1913, 0, NULL),
    (3, 'Anna Seghers', NULL, 1900, NULL, '{"cat": null}'),
    (4, '100% d''Or_x', 'france', NULL, 1, NULL)]]

local Author = perilune.record("author")
local c = Author.c

--- Returns the ids of the authors that satisfy a condition.
local function ids(condition)
  return Author:filter(condition):order("id"):select("id"):fetch_values()
end

--- Returns the value of an expression for each author.
local function values(expression)
  return Author:order("id"):select(expression:as("value")):fetch_optional_values()
end

local null = perilune.null

test("columns can be compared with values", function()
  equal(ids(c.born:eq(1913)), { 2 })
  equal(ids(c.born:ne(1913)), { 1, 3 })
  equal(ids(c.born:lt(1900)), { 1 })
  equal(ids(c.born:le(1900)), { 1, 3 })
  equal(ids(c.born:gt(1900)), { 2 })
  equal(ids(c.born:ge(1900)), { 2, 3 })
  equal(ids(c.born:between(1850, 1910)), { 3 })
  equal(ids(~c.born:between(1850, 1910)), { 1, 2 })
end)

test("comparisons with NULL use IS and IS NOT", function()
  equal(ids(c.country:is_null()), { 3 })
  equal(ids(c.country:eq(null)), { 3 })
  equal(ids(c.country:is_not_null()), { 1, 2, 4 })
  equal(ids(c.country:ne(null)), { 1, 2, 4 })
  equal(ids(~c.country:is_null()), { 1, 2, 4 })
  equal(ids(c.country:is("France")), { 2 })
  equal(ids(c.country:is_not("France")), { 1, 3, 4 })
  equal(ids(c.country:is(null)), { 3 })
  matches(fails("argument", function() c.born:lt(null) end), "is_null")
end)

test("a comparison with nil is an error that suggests perilune.null", function()
  matches(fails("argument", function() c.country:eq(nil) end), "is_null()")
  matches(fails("argument", function() return c.born + nil end), "nil")
end)

test("columns can be compared with columns", function()
  equal(ids(c.born:gt(c.id + 1899)), { 2 })
  equal(ids(c.name:eq(c.name)), { 1, 2, 3, 4 })
end)

test("conditions can be combined with and, or, not", function()
  equal(ids(c.born:gt(1850) & c.country:is_null()), { 3 })
  equal(ids(c.born:gt(1910) | c.country:is_null()), { 2, 3 })
  equal(ids(~(c.born:gt(1910) | c.country:is_null())), { 1 })
  equal(ids((c.id:eq(1) | c.id:eq(2)) & c.born:gt(1900)), { 2 })
  equal(ids(c.id:eq(1) | c.id:eq(2) & c.born:gt(2000)), { 1 })
end)

test("values keep their positions if the parts of a request are added in a different order", function()
  local early, late = c.born:lt(1901), c.born:gt(1910)
  equal(ids((late | early) & c.id:ne(1) & (c.name:like("A%") | c.name:like("H%"))), { 2, 3 })
  equal(Author:filter(early):having(perilune.count():ge(1)):group("country"):order("country"):select("country")
    :fetch_optional_values(), { null, "United States" })
end)

test("texts can be matched with patterns and concatenated", function()
  equal(ids(c.name:like("a%")), { 2, 3 })
  equal(ids(~c.name:like("a%")), { 1, 4 })
  equal(ids(c.name:glob("A*s")), { 2, 3 })
  equal(ids(c.name:like("100!%%", "!")), { 4 })
  equal(ids(c.name:contains("%")), { 4 })
  equal(ids(c.name:contains("_")), { 4 })
  equal(ids(c.name:starts_with("100% d'")), { 4 })
  equal(ids(c.name:ends_with("Or_x")), { 4 })
  equal(ids(c.country:collating("nocase"):eq("FRANCE")), { 2, 4 })
  equal(values(c.name:upper()), { "HERMAN MELVILLE", "ALBERT CAMUS", "ANNA SEGHERS", "100% D'OR_X" })
  equal(values(c.name:length()), { 15, 12, 12, 11 })
  equal(values(c.name:substr(1, 3)), { "Her", "Alb", "Ann", "100" })
  equal(values(c.name:replace("e", "E")), { "HErman MElvillE", "AlbErt Camus", "Anna SEghErs", "100% d'Or_x" })
  equal(values(c.name .. ", " .. c.country), { "Herman Melville, United States", "Albert Camus, France", null,
    "100% d'Or_x, france" })
  equal(values("No. " .. c.id), { "No. 1", "No. 2", "No. 3", "No. 4" })
end)

test("numeric columns can be used in arithmetic", function()
  equal(values(c.id + 1), { 2, 3, 4, 5 })
  equal(values(10 - c.id), { 9, 8, 7, 6 })
  equal(values(c.id * 2.5), { 2.5, 5.0, 7.5, 10.0 })
  equal(values(-c.id), { -1, -2, -3, -4 })
  equal(values((c.id + 1) * 2), { 4, 6, 8, 10 })
  equal(values(c.id - (1 - c.id)), { 1, 3, 5, 7 })
  equal(values(c.id % 2), { 1, 0, 1, 0 })
  equal(values(c.id / 2), { 0, 1, 1, 2 })
  equal(values(c.id * 1.0 // 2), { 0, 1, 1, 2 })
  equal(values((c.born + 6) // 100), { 18, 19, 19, null })
end)

test("expressions can call SQLite's functions and the script's functions", function()
  db:add_function("shout", function(text) return text:upper() .. "!" end)
  equal(Author:filter_key(1):select(perilune.fn.shout(c.name)):fetch_value(), "HERMAN MELVILLE!")
  equal(values(perilune.fn.coalesce(c.born, 0)), { 1819, 1913, 1900, 0 })
  equal(values(c.born:coalesce(0)), { 1819, 1913, 1900, 0 })
  equal(values(perilune.fn.max(c.id, 2)), { 2, 2, 3, 4 })
  matches(fails("argument", function() Author:select(perilune.fn["drop table"]()):sql() end), "function")
end)

test("CAST and CASE can be built", function()
  equal(values(c.id:cast("text")), { "1", "2", "3", "4" })
  matches(fails("argument", function() c.id:cast("tekst") end), "text")
  local century = perilune.case{ { c.born:lt(1900), "19th" }, { c.born:ge(1900), "20th" }, otherwise = "unknown" }
  equal(values(century), { "19th", "20th", "20th", "unknown" })
  equal(values(perilune.case{ { c.id:eq(1), 10 } }), { 10, null, null, null })
  fails("argument", perilune.case, {})
  fails("argument", perilune.case, { { true, 1 } })
end)

test("members of JSON columns can be read", function()
  equal(values(c.notes:json("$.cat")), { "Tom", null, null, null })
  equal(values(c.notes:json("cat")), { "Tom", null, null, null })
  equal(ids(c.notes:json("$.depth.x"):eq(3)), { 1 })
  equal(values(c.notes:json("$.tags"):json(2)), { "whale", null, null, null })
  equal(Author:filter_key(1):select(c.notes:json_array_length("$.tags")):fetch_value(), 2)
end)

test("a JSON member with any characters in its name is found", function()
  local function member(text, name) return Author:limit(1):select(perilune.value(text):json(name)):fetch_value() end
  local text = [[{"k.x":5,"k":{"x":6},"1":10,"[0]":11,"a b":7,"a\\b":12,"a\nb":13}]]
  for _, name in ipairs{ "k.x", "1", "[0]", "a b", "a\\b", "a\nb" } do equal({ name, member(text, name) }, { name, perilune.json.decode(text)[name] }) end
  equal(member(text, "$.k.x"), 6)
  equal(member("[1,2]", 2), 2)
  for _, wrong in ipairs{ "", 'a"b', 0, -1 } do fails("argument", function() member(text, wrong) end) end
end)

test("columns can be compared with lists of values", function()
  equal(ids(c.id:is_in{ 1, 3, 99 }), { 1, 3 })
  equal(ids(c.id:is_not_in{ 1, 3, 99 }), { 2, 4 })
  equal(ids(c.id:is_in{}), {})
  equal(ids(~c.id:is_in{}), { 1, 2, 3, 4 })
  equal(ids(c.country:is_in{ "France" }), { 2 })
  equal(ids(c.id:is_in{ c.born - 1911, 4 }), { 2, 4 })
  matches(fails("argument", function() c.country:is_in{ "France", null } end), "is_null")
  matches(fails("argument", function() c.country:is_in("France") end), "list")
  matches(fails("argument", function() c.country:is_in{ "France", {} } end), "element 2")
end)

test("long lists can contain values of every type", function()
  local numbers, texts, floats = {}, {}, {}
  for index = 1, 300 do
    numbers[index], texts[index], floats[index] = index * 2, "name " .. index, index + 0.5
  end
  texts[301], texts[302], texts[303] = "France", "quote \" and \\ and \n", "\xff"
  floats[301] = 1819
  equal(ids(c.id:is_in(numbers)), { 2, 4 })
  equal(ids(c.country:is_in(texts)), { 2 })
  equal(ids(c.born:is_in(floats)), { 1 })
  local many = {}
  for index = 1, 100000 do many[index] = index + 2 end
  equal(ids(c.id:is_in(many)), { 3, 4 })
  equal(Author:filter{ id = many }:fetch_count(), 2)
end)

test("sub-requests can be used in expressions", function()
  equal(ids(c.id:is_in(Author:filter(c.born:lt(1905)):select("id"))), { 1, 3 })
  equal(ids(c.born:eq(Author:select(c.born:max()))), { 2 })
  matches(fails("argument", function() return ids(c.id:is_in(Author:filter{ id = 1 })) end), "select")
  equal(ids(perilune.exists(Author:filter(c.id:gt(3)))), { 1, 2, 3, 4 })
  equal(ids(~perilune.exists(Author:filter(c.id:gt(4)))), { 1, 2, 3, 4 })
end)

test("aggregates can be used in expressions", function()
  equal(Author:select(perilune.count()):fetch_value(), 4)
  equal(Author:select(c.country:count()):fetch_value(), 3)
  equal(Author:select(c.country:collating("nocase"):count():distinct()):fetch_value(), 2)
  local sums = Author:select(c.born:sum():as("sum"), c.born:min():as("least"), c.born:max():as("most")):fetch_one()
  equal({ sums.sum, sums.least, sums.most }, { 5632, 1819, 1913 })
  for sum, least, most in Author:select(c.born:sum(), c.born:min(), c.born:max()):tuples() do
    equal({ sum, least, most }, { 5632, 1819, 1913 })
  end
  equal(Author:order("id"):select(c.name:group_concat("; ")):fetch_value():find("; ", 1, true) ~= nil, true)
  equal(Author:select(perilune.count():where(c.born:gt(1850))):fetch_value(), 2)
  equal(Author:select(c.born:total():as("t")):fetch_value(), 5632.0)
  equal(Author:select(c.born:average():as("a")):fetch_value(), 5632 / 3)
end)

test("window functions can be written as SQL text", function()
  equal(values(perilune.fn.row_number():over("ORDER BY id DESC")), { 4, 3, 2, 1 })
end)

test("SQL text can be an expression", function()
  equal(ids(perilune.sql("length(name) > ?", 12)), { 1 })
  equal(ids(perilune.sql("length(name) > :least AND born < :most", { least = 11, most = 1905 })), { 1, 3 })
  equal(ids(perilune.sql("length(name) > ?", c.id + 11)), { 1 })
  equal(ids(perilune.sql("length(name)"):gt(12)), { 1 })
  equal(ids(perilune.sql("id = 1 OR id = 2") & c.born:gt(1900)), { 2 })
  matches(fails("argument", function() ids(perilune.sql("length(name) > ? AND 1 = ?", 12)) end), "2 values")
  matches(fails("argument", function() ids(perilune.sql("a = :a", { b = 1 })) end), ":b")
  fails("argument", perilune.sql, 5)
  fails("argument", perilune.sql, "")
end)

test("a value that looks like SQL stays a value", function()
  equal(ids(c.name:eq("x' OR '1'='1")), {})
  equal(ids(c.name:eq("100% d'Or_x")), { 4 })
end)

test("floats, blobs, booleans and long integers are compared exactly", function()
  db:execute("CREATE TABLE number (id INTEGER PRIMARY KEY, x, b BLOB)")
  db:execute("INSERT INTO number VALUES (1, 0.1, x'00ff'), (2, 9223372036854775807, x''), (3, -0.0, NULL)")
  local Number = perilune.record("number")
  equal(Number:filter{ x = 0.1 }:select("id"):fetch_values(), { 1 })
  equal(Number:filter{ x = math.maxinteger }:select("id"):fetch_values(), { 2 })
  equal(Number:filter{ b = perilune.blob("\0\xff") }:select("id"):fetch_values(), { 1 })
  equal(Number:filter{ b = perilune.blob("") }:select("id"):fetch_values(), { 2 })
  equal(ids(c.active:eq(true)), { 1, 4 })
  equal(ids(c.active:eq(false)), { 2 })
  fails("argument", function() return Number:filter{ x = 0 / 0 }:fetch_all() end)
end)

test("an expression can be printed as SQL", function()
  matches(tostring(c.name:eq("Anna") & ~c.country:is_null()), '"name" = \'Anna\' AND "country" IS NOT NULL')
  matches(tostring(c.born + 1), '"born" + 1')
end)

test("Lua's comparison operators are refused, and the error names the method to use", function()
  matches(fails("argument", function() return c.born > 18 end), "use `Class.c.born:gt(18)`")
  matches(fails("argument", function() return c.born < 18 end), "use `Class.c.born:lt(18)`")
  matches(fails("argument", function() return 18 <= c.born end), ":ge(18)")
  matches(fails("argument", function() return c.born == c.id end), ":eq(")
  matches(fails("argument", function() return #c.name end), ":length()")
  matches(fails("argument", function() return c.born:eq(1) & (c.id == 2) end), ":eq(value)")
  matches(fails("argument", function() return c.born:eq(1) | nil end), "nil")
end)

test("misspelled columns and methods are reported with a suggestion", function()
  local err = fails("unknown_column", function() return c.nmae end)
  matches(err, "`name`")
  equal(err.suggestion, "name")
  matches(fails("unknown_method", function() return c.name:lkie("x") end), "like")
  fails("readonly", function() c.name.x = 1 end)
  fails("readonly", function() c.name = 1 end)
  fails("argument", function() return c.name("x") end)
end)

test("column names are case-insensitive and may contain any characters", function()
  equal(ids(c.BORN:eq(1913)), { 2 })
  db:execute('CREATE TABLE "odd ""table" (id INTEGER PRIMARY KEY, "a ""b" TEXT, "select" TEXT, "filter" TEXT)')
  db:execute([[INSERT INTO "odd ""table" VALUES (1, 'x', 'y', 'z')]])
  local Odd = perilune.record('odd "table')
  equal(Odd:filter(Odd.c['a "b']:eq("x") & Odd.c.select:eq("y")):fetch_count(), 1)
  equal(Odd:filter{ ['a "b'] = "x", filter = "z" }:select('a "b'):fetch_values(), { "x" })
end)

test("an expression alone cannot be an argument of SQL text", function()
  fails("argument", function() return db:fetch_all("SELECT ?", c.name) end)
end)

test("an aggregate function refuses a string, which would be a bound value", function()
  matches(fails("argument", perilune.fn.sum, "pages"), "Class.c.pages:sum()")
  matches(fails("argument", perilune.fn.MAX, "pages"), "Class.c.pages:max()")
  matches(fails("argument", perilune.fn.count, "*"), "perilune.count()")
  matches(fails("argument", perilune.fn.group_concat, "name", ", "), "Class.c.name:group_concat(...)")
  equal(tostring(perilune.fn.max("a", "b")), "MAX('a', 'b')")
  equal(tostring(perilune.fn.sum(perilune.value("1"))), "SUM('1')")
end)

test("a function call with only values refuses a string that must be a column name", function()
  matches(fails("argument", perilune.fn.upper, "title"), 'expected an expression, got the text "title"; use Class.c.title:upper(), or perilune.value("title")')
  matches(fails("argument", perilune.fn.Length, "title"), "Class.c.title:length()")
  matches(fails("argument", perilune.fn.ifnull, "pages", 0), "Class.c.pages:coalesce(...)")
  matches(fails("argument", perilune.fn.strftime, "%Y", "born"), "argument 2: expected an expression, got the text \"born\"")
  matches(fails("argument", perilune.fn.date, "born", "+1 day"), "Class.c.born:date(...)")
  equal(tostring(perilune.fn.instr("a-b", c.name)), "INSTR('a-b', \"name\")")
  equal(tostring(perilune.fn.date("NOW")), "DATE('NOW')")
  equal(tostring(perilune.fn.strftime("%Y", "2026-01-01")), "STRFTIME('%Y', '2026-01-01')")
  equal(tostring(perilune.fn.upper(perilune.value("a"))), "UPPER('a')")
  equal(tostring(perilune.fn.json_array("a", "b")), '"json_array"(\'a\', \'b\')')
end)
