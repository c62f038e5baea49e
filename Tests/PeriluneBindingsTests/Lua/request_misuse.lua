--- Common mistakes: each is an error at the line that builds the request, or works.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, age INTEGER);
  INSERT INTO author VALUES (1, 'Ann', 'France', 20), (2, 'Bo', NULL, 30);
  CREATE TABLE course (student INTEGER, subject INTEGER, PRIMARY KEY (student, subject)) WITHOUT ROWID]]

local Author, Course = perilune.record("author"), perilune.record("course")

test("invalid conditions are refused", function()
  matches(fails("argument", function() Author:filter(false) end), "column:eq(value)")
  matches(fails("argument", function() Author:filter(true) end), "column:eq(value)")
  matches(fails("argument", function() Author:filter(Author.c.age == 18) end), "column:eq(value)")
  matches(fails("argument", function() Author:filter(nil) end), "nil")
  matches(fails("argument", function() Author:filter() end), "nil")
  matches(fails("argument", function() Author:filter{} end), "empty")
  matches(fails("argument", function() Author:filter{ 1, 2 } end), "filter_key")
  matches(fails("argument", function() Author:filter{ Author == 1 } end), "got false; use `{ column = value }`, with one `=`")
  matches(fails("argument", function() Author:filter{ Author == 1, age = 2 } end), "got false; use `{ column = value }`")
  fails("argument", function() Author:filter(print) end)
  fails("argument", function() Author:filter(Author:all()) end)
  fails("argument", function() Author:filter(Author:find(1)) end)
  matches(fails("argument", function() Author:filter(Author.c.age:gt(1), 5) end), "argument 2: expected a condition")
  fails("argument", function() Author:filter(perilune.value(true)) end)
  fails("argument", function() Author:having(false) end)
  matches(fails("argument", function() return Author.c.age > 18 end), "`<` and `>` of Lua return true or false")
  matches(fails("argument", function() return Author.c.age > 18 end), ":gt(18)")
  matches(fails("argument", function() Author:group(Author.c.age:as("a")):fetch_all() end), "use the expression without it")
end)

test("filter refuses keys, literals and unknown names", function()
  for _, key in ipairs{ 1, 2.5, "1", "'x'", "(1)", "NULL", "true", "550e8400-e29b-41d4-a716-446655440000" } do
    matches(fails("argument", function() Author:filter(key) end), "filter_key(")
  end
  fails("argument", function() Author:filter(perilune.now()) end)
  local err = fails("unknown_column", function() Author:filter("nmae") end)
  equal(err.suggestion, "name")
  matches(err, 'filter_key("nmae")')
  equal(Author:filter("age"):fetch_count(), Author:filter("age <> 0"):fetch_count())
  equal(Author:filter("age > 0 OR 1"):fetch_count(), Author:fetch_count())
end)

test("filter accepts several conditions and combines them with AND", function()
  local c = Author.c
  equal(tostring(Author:filter(c.age:gt(1), { name = "x" }, "age < 5")), tostring(Author:filter(c.age:gt(1) & c.name:eq("x") & perilune.sql("age < 5"))))
  equal(tostring(Author:group("name"):having(c.age:sum():gt(1), c.age:max():lt(9))), tostring(Author:group("name"):having(c.age:sum():gt(1) & c.age:max():lt(9))))
  matches(fails("argument", function() Author:filter(c.age:gt(1), nil) end), "argument 2")
end)

test("a condition in the form of another library is an error that shows Perilune's form", function()
  for wanted, condition in pairs{
    ["Class.c.age:gt(value)"] = { age__gt = 1 }, ["Class.c.age:ge(value)"] = { age = { gte = 1 } }, ["Class.c.age:lt(value)"] = { age = { "<", 1 } },
    ["Class.c.name:contains(value)"] = { name__contains = "x" }, ["Class.c.name:like(value)"] = { name = { "like", "x%" } },
    ["Class.c.age:le(value)"] = { ["age <= ?"] = 1 }, ["Class.c.age:is_in{ 1, 2 }"] = { age__in = { 1 } },
    ["Class.c.a:eq(1) | Class.c.b:eq(2)"] = { OR = { 1 } },
  } do matches(fails(nil, function() Author:filter(condition) end), wanted) end
  matches(fails("argument", function() Author:filter("name", "x") end), "filter{ name = value }")
  matches(fails("argument", function() Author:filter("age", ">", 1) end), "Class.c.age:gt(value)")
  matches(fails("argument", function() Author:filter("name =", "x") end), "no placeholder")
end)

test("a table of columns instead of a database, a key or options is refused, and the error suggests filter or update_changes", function()
  local request, record = Author:order("name"), Author:insert{ name = "x" }
  for _, method in ipairs{ "fetch_all", "fetch_one", "fetch_count", "exists", "is_empty", "rows" } do
    matches(fails("argument", request[method], request, { name = "x" }), "use filter{ column = value }:")
    matches(fails("argument", Author[method], Author, { name = "x" }), "filter{ column = value }:" .. method .. "()")
  end
  matches(fails("argument", Author.exists, Author, "name = 'x'"), "exists: expected a key, got a condition; use Class:filter(sql, ...):exists()")
  matches(fails("argument", Author.find, Author, "name LIKE 'x'"), "find: expected a key, got a condition")
  equal(Author:exists("name"), false)
  for _, verb in ipairs{ "update", "save", "refresh" } do
    matches(fails("unknown_option", record[verb], record, { name = "y" }), "record:update_changes{ column = value }")
    -- Names of options that other functions have are ordinary columns here.
    for _, column in ipairs{ "delay", "timeout", "comment", "interval", "limit" } do
      matches(fails("unknown_option", record[verb], record, { [column] = 1 }), "no option `" .. column .. "`; use record:update_changes{ column = value }")
    end
  end
  matches(fails("unknown_option", Author.insert, Author, { name = "z" }, { delay = 1 }), "no option `delay`; use Class:insert{ column = value }")
  matches(fails("unknown_option", record.update, record, { on_conflit = "ignore" }), "on_conflict")
end)

test("misspelled columns are reported with the nearest name and the line of the script", function()
  local err = fails("unknown_column", function() Author:filter{ nmae = 1 } end)
  matches(err, "did you mean `name`")
  equal(err.table, "author")
  equal(err.line ~= nil, true)
  fails("unknown_column", function() Author:order("nmae") end)
  fails("unknown_column", function() Author:select("nmae") end)
  fails("unknown_column", function() Author:group("nmae") end)
  fails("unknown_column", function() Author:filter(perilune.column("nmae"):eq(1)) end)
end)

test("values that cannot be compared are refused", function()
  fails("argument", function() Author:filter{ name = print } end)
  fails("argument", function() Author:filter{ name = { "a", perilune.null } } end)
  fails("argument", function() Author:filter{ name = { a = 1 } } end)
  fails("argument", function() Author:filter{ name = { "a", nil, "b", [5] = "c" } } end)
  fails("argument", function() Author:filter{ name = { { "a" } } } end)
  fails("argument", function() Author:filter{ age = 0 / 0 }:fetch_all() end)
end)

test("an empty list matches no rows, and a long list works", function()
  equal(Author:filter{ id = {} }:fetch_count(), 0)
  local list = {}
  for number = 1, 100000 do list[number] = number end
  equal(Author:filter{ id = list }:fetch_count(), 2)
  equal(#Author:filter_key(list):fetch_all(), 2)
end)

test("keys that do not fit the table are refused", function()
  matches(fails("argument", function() Course:filter_key(1) end), "student")
  fails("argument", function() Course:filter_key{ student = 1 } end)
  fails("argument", function() Course:filter_key{ student = 1, subject = 2, x = 3 } end)
  equal(Course:filter_key{ student = 1, subject = 2 }:fetch_one(), nil)
end)

test("SQL text with wrong arguments is refused", function()
  fails("argument", function() Author:filter("age > ? AND age < ?", 1) end)
  fails("argument", function() Author:filter("age > ?", 1, 2) end)
  fails("argument", function() Author:filter("age > :low", { high = 1 }) end)
  equal(Author:filter("age > :x", { x = 1 }):filter("age < :x", { x = 25 }):fetch_count(), 1)
  fails("argument", function() Author:filter("") end)
  fails("argument", function() Author:filter("age > 1) OR (1") end)
  fails("argument", function() Author:filter("age > 1; DROP TABLE author") end)
end)

test("empty selections and changes are refused", function()
  fails("argument", function() Author:select() end)
  fails("argument", function() Author:select{} end)
  fails("argument", function() Author:group() end)
  fails("argument", function() Author:order() end)
  fails("argument", function() Author:filter_key(1):update_all({}, { returning = true }) end)
  fails("argument", function() Author:filter_key(1):update_all({ age = 1 }, { returning = {} }) end)
  fails("argument", function() Author:group("age"):delete_all() end)
end)

test("an order in SQL text can be reversed", function()
  equal(Author:order("length(name) DESC, age"):reversed():fetch_one().id, 2)
end)

test("aggregates are refused where row values are expected", function()
  matches(fails("argument", function() Author:filter(perilune.count():gt(1)) end), "having")
  fails("argument", function() Author:group(Author.c.age:max()) end)
end)

test("a request is not a list and cannot be changed", function()
  local request = Author:all()
  matches(fails("argument", function() return #request end), "fetch_count")
  fails("argument", function() for _ in pairs(request) do end end)
  fails("argument", function() request() end)
  fails("readonly", function() request.x = 1 end)
  matches(fails("unknown_method", function() request:fliter{ id = 1 } end), "filter")
end)

test("calling a request's method with a dot is refused, as is indexing a request with a number", function()
  matches(fails("argument", function() Author.filter{ id = 1 } end), "colon")
  matches(fails("argument", function() Author:all().filter{ id = 1 } end), "colon")
  matches(fails("argument", function() return Author:all()[1] end), "fetch_all()[1]")
  fails("argument", function() for _ in ipairs(Author:all()) do end end)
  fails("argument", function() Author:limit(0 / 0) end)
  fails("argument", function() Author:limit("5") end)
  fails("argument", function() Author:limit(-1) end)
  fails("argument", function() Author:limit(1, -1) end)
end)

test("conditions accept lists of every length and type", function()
  local list = {}
  for number = 1, 300000 do list[number] = number + 0.5 end
  matches(fails("argument", function() Author:filter{ age = list } end), "200000")
  equal(Author:filter{ age = table.move(list, 1, 1000, 1, {}) }:fetch_count(), 0)
  equal(Author:filter{ country = { "France", "US" }, id = { 1 } }:fetch_count(), 1)
  equal(Author:filter(Author.c.country:is_in{ "France" } | Author.c.country:is_null()):fetch_count(), 2)
  matches(fails("argument", function() Author:filter(Author.c.country:is_in{ "France", perilune.null }) end), "is_null")
end)

test("columns may be named with quotes, spaces and SQL keywords", function()
  db:execute[[CREATE TABLE "we""ird [t]able" ("a""b" INTEGER PRIMARY KEY, "select" TEXT, "x.y" TEXT, "ü ö" INTEGER)]]
  local Weird = perilune.record('we"ird [t]able')
  Weird{ ['a"b'] = 1, select = "it's", ["x.y"] = "xy", ["ü ö"] = 1 }:insert()
  Weird.kids = Weird:has_many(Weird, { columns = "ü ö", referenced = 'a"b', singular = "kid" })
  equal(Weird:filter{ ['a"b'] = 1, select = "it's" }:order("ü ö"):pluck("x.y"), { "xy" })
  equal(#Weird:annotated_with(Weird.kids:count()):including_all(Weird.kids):find(1).kids, 1)
  equal(Weird:aliased('a"; --'):update_all{ ["x.y"] = Weird.c["x.y"] .. '"' }.changed_rows, 1)
  equal(Weird:group('length("x.y")'):select(perilune.count()):fetch_value(), 1)
  matches(tostring(Weird:filter{ select = "it's" }), [["select" = 'it''s']])
  fails("argument", function() Weird:aliased("a\0b") end)
  fails("unknown_column", function() Weird:filter{ ["a\0b"] = 1 } end)
  fails("argument", function() Weird:select(perilune.fn["abs(1) --"](1)) end)
end)

test("deeply nested conditions are refused, and long chains of conditions are allowed", function()
  local chain = Author.c.id:eq(0)
  for number = 1, 5000 do chain = chain | Author.c.id:eq(number) end
  equal(Author:filter(chain):fetch_count(), 2)
  local deep = Author.c.age
  for _ = 1, 500 do deep = perilune.fn.abs(deep) end
  fails("too_deep", function() Author:filter(deep:gt(1)) end)
end)

test("a missing table is reported when a request needs it", function()
  local Later = perilune.record("later")
  local request = Later:all():limit(1)
  fails("unknown_table", function() request:fetch_all() end)
  db:execute("CREATE TABLE later (id INTEGER PRIMARY KEY)")
  equal(request:fetch_all(), {})
end)
