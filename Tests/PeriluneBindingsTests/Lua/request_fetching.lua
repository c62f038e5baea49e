--- Prepared requests, pages, batches, common tables.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
  CREATE TABLE line (invoice INTEGER, number INTEGER, text TEXT, PRIMARY KEY (invoice, number)) WITHOUT ROWID;
  CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER REFERENCES employee)]]
for id = 1, 25 do
  db:execute("INSERT INTO author VALUES (?, ?, ?)", id, "author " .. id, id % 2 == 0 and "France" or "US")
  db:execute("INSERT INTO line VALUES (?, ?, 'x')", id // 5, id % 5)
end

local Author, Line, Employee = perilune.record("author"), perilune.record("line"), perilune.record("employee")

test("a prepared request accepts values by name", function()
  local prepared = Author:filter("country = :country AND id > :least"):order("id"):limit(2):prepare()
  equal(prepared:fetch_all{ country = "France", least = 3 }[1].id, 4)
  equal(prepared:fetch_all{ country = "US", least = 3 }[1].id, 5)
  equal(prepared:fetch_one({ country = "US", least = 20 }).id, 21)
  equal(prepared:fetch_count(db, { country = "US", least = 24 }), 1)
  local by_expression = Author:filter{ country = perilune.parameter("where") }:select("id"):prepare()
  equal(#by_expression:fetch_values{ where = "France" }, 12)
end)

test("a prepared request can delete the rows for its values", function()
  local by_country = Author:filter("country = :country"):prepare()
  local before = Author:fetch_count()
  equal(by_country:delete_all{ country = "nowhere" }.changed_rows, 0)
  local count = by_country:fetch_count{ country = "France" }
  equal(by_country:delete_all{ country = "France" }.changed_rows, count)
  equal(Author:fetch_count(), before - count)
end)

test("a prepared request refuses missing and misspelled values", function()
  local request = Author:filter("country = :country")
  matches(fails("argument", function() request:fetch_all() end), "prepare")
  local prepared = request:prepare()
  matches(fails("argument", function() prepared:fetch_all{} end), "country")
  matches(fails("unknown_parameter", function() prepared:fetch_all{ contry = "US" } end), "country")
  fails("argument", function() prepared:fetch_all(5) end)
  equal(Author:filter("name <> ':country' AND id = 1"):fetch_count(), 1)
end)

test("rows can be fetched in pages", function()
  local page = Author:order("id"):page(2, 10)
  equal({ page.number, page.size, page.count, page.pages, #page.records }, { 2, 10, 25, 3, 10 })
  equal(page.records[1].id, 11)
  equal(#Author:order("id"):page(3, 10).records, 5)
  equal(#Author:order("id"):page(4, 10).records, 0)
  matches(fails("argument", function() Author:limit(3):page(1, 2) end), "page: the page is a limit")
  equal(Author:none():page(1, 10).pages, 0)
  fails("argument", function() Author:page(0, 10) end)
  fails("argument", function() Author:page(1, 0) end)
end)

test("batches visit all rows in the order of their keys, even if each row is deleted", function()
  local sizes, seen = {}, 0
  for batch in Author:filter{ country = "US" }:in_batches(5) do
    sizes[#sizes + 1] = #batch
    for _, author in ipairs(batch) do
      seen = seen + 1
      author:delete()
    end
  end
  equal(sizes, { 5, 5, 3 })
  equal(seen, 13)
  equal(Author:fetch_count(), 12)
  local count, last = 0, nil
  for batch in Line:all():in_batches(4) do
    for _, line in ipairs(batch) do
      local position = line.invoice * 100 + line.number
      equal(last == nil or position > last, true)
      count, last = count + 1, position
    end
  end
  equal(count, 25)
  fails("argument", function() Author:limit(5):in_batches(2) end)
  fails("argument", function() Author:in_batches(0) end)
end)

test("batches work with unusual keys and without a key", function()
  db:execute[[CREATE TABLE loose (id PRIMARY KEY, v); INSERT INTO loose VALUES (x'01', 1), (x'02', 2), ('a', 3), (NULL, 4), (NULL, 5), (7, 6);
    CREATE TABLE keyless (v); INSERT INTO keyless VALUES (1), (2);
    CREATE TABLE pair (a, b, v, PRIMARY KEY (b, a)) WITHOUT ROWID;
    INSERT INTO pair VALUES (1, 2, 1), ('x', 2, 2), (x'00', 1, 3), (1.5, 2, 4)]]
  local function values(request, size)
    local list = {}
    for batch in request:in_batches(size) do
      for _, record in ipairs(batch) do list[#list + 1] = record.v end
      if #list > 20 then error("endless") end
    end
    return list
  end
  for size = 1, 7 do
    equal(values(perilune.record("loose"):all(), size), { 4, 5, 6, 3, 1, 2 })
    equal(values(perilune.record("keyless"):all(), size), { 1, 2 })
    equal(values(perilune.record("pair"):all(), size), { 3, 1, 4, 2 })
  end
  local Loose = perilune.record("loose")
  matches(fails("argument", function() Loose:group("v"):in_batches(2) end), "groups of rows")
  matches(fails("argument", function() Loose:group("v"):order("v"):page_after(nil, 2) end), "groups of rows")
  equal(#perilune.record("pair"):group("a", "b"):page_after(nil, 9).records, 4)
end)

test("a common table can be defined by a request", function()
  local french = perilune.common_table("french", Author:filter{ country = "France" }:select("id", "name"))
  equal(french:filter("id > ?", 20):order("id"):pluck("name"), { "author 22", "author 24" })
  equal(Author:filter(Author.c.id:is_in(french:select("id"))):fetch_count(), 12)
  equal(french:filter{ name = "author 4" }:fetch_one().id, 4)
  fails("unknown_column", function() french:filter{ nmae = 1 } end)
  fails("argument", function() perilune.common_table("french", 5) end)
end)

test("batches of joined, annotated and included records work, and repeated records are reported", function()
  Author.lines, Line.author = Author:has_many(Line, { columns = "invoice", referenced = "id" }), Line:belongs_to(Author, { columns = "invoice" })
  local count = 0
  for batch in Author:annotated_with(Author.lines:count()):including_all(Author.lines):having(Author.lines:count():gt(0)):in_batches(2) do
    for _, author in ipairs(batch) do
      equal(#author.lines, author.line_count)
      count = count + author.line_count
    end
  end
  equal(count, 21)
  matches(fails("argument", function() Author:joining_required(Author.lines):in_batches(3) end), "distinct()")
  local sizes = {}
  for batch in Author:joining_required(Author.lines):distinct():in_batches(3) do sizes[#sizes + 1] = #batch end
  equal(sizes, { 3, 2 })
  count = 0
  for batch in Line:joining_required(Line.author):in_batches(4) do count = count + #batch end
  equal(count, 21)
end)

test("values of prepared requests can be used in joins, aggregates, prefetches and common tables", function()
  Author.lines = Author:has_many(Line, { columns = "invoice", referenced = "id" })
  local few = Author.lines:filter("line.number < :most")
  equal(Author:annotated_with(few:count():as("n")):order("id"):prepare():fetch_one{ most = 3 }.n, 3)
  local all = Author:including_all(few):order("id"):prepare()
  equal({ #all:fetch_all{ most = 2 }[1].lines, #all:fetch_all{ most = 4 }[1].lines }, { 2, 4 })
  equal(Author:joining_required(few):prepare():fetch_count{ most = 1 }, 5)
  local some = perilune.common_table("some", Author:filter{ country = perilune.parameter("where") }:select("id"))
  equal(Author:filter(Author.c.id:is_in(some)):filter("id < :below"):prepare():fetch_count{ where = "US", below = 6 }, 3)
  equal(Author:filter("country = :x"):union(Author:filter("id = :x")):prepare():fetch_count{ x = "US" }, 13)
  local query = Author:filter("id IN (:a, :b) AND country = :a"):prepare()
  equal(query:fetch_count{ a = 1, b = 2 }, 0)
  fails("unknown_parameter", function() all:fetch_all{ mots = 2 } end)
end)

local function employees()
  db:execute[[INSERT INTO employee VALUES (1, 'Ada', NULL), (2, 'Bob', 1), (3, 'Cy', 2), (4, 'Di', NULL), (5, 'Ed', 3)]]
  local top = Employee:filter{ boss_id = perilune.null, name = "Ada" }
  return perilune.common_table("tree", top:select("id", "name", perilune.value(0):as("level")), function(tree)
    local boss = Employee:belongs_to(tree, { name = "boss_in_tree", columns = "boss_id", referenced = "id" })
    return Employee:joining_required(boss):filter(tree.c.level:lt(2)):select("id", "name", tree.c.level + 1)
  end)
end

test("a recursive common table can be defined by requests", function()
  local tree = employees()
  local found = {}
  for _, row in ipairs(tree:order("level"):fetch_all()) do found[#found + 1] = row.name .. row.level end
  equal(found, { "Ada0", "Bob1", "Cy2" })
  equal(tree:fetch_count(), 3)
  equal(tree:filter{ level = 1 }:pluck("name"), { "Bob" })
  equal(tree:max("level"), 2)
end)

test("common tables can be joined through associations in both directions", function()
  local tree = employees()
  Employee.place = Employee:belongs_to(tree, { columns = "id", referenced = "id" })
  equal(Employee:joining_required(Employee.place):order(tree.c.level:desc()):pluck("name"), { "Cy", "Bob", "Ada" })
  equal(Employee:joining_required(Employee.place:filter(tree.c.level:gt(0))):fetch_count(), 2)
  local all = Employee:annotated_with_optional(Employee.place:select("level")):order("id"):fetch_all()
  equal({ all[3].level, all[4].level, Employee:is(all[3]) }, { 2, nil, true })
  local employee = tree:belongs_to(Employee, { name = "employee", columns = "id", referenced = "id" })
  equal(tree:joining_required(employee:filter{ boss_id = 1 }):pluck("name"), { "Bob" })
  -- A common table can occur several times in one statement, with the same values.
  equal(Employee:joining_required(Employee.place:filter(tree.c.level:ge(1))):filter(Employee.c.id:is_in(tree:filter{ level = 2 }:select("id")))
    :pluck("name"), { "Cy" })
end)

test("invalid definitions of common tables are refused", function()
  local tree = employees()
  Employee.place = Employee:belongs_to(tree, { columns = "id", referenced = "id" })
  local employee = tree:belongs_to(Employee, { name = "e", columns = "id", referenced = "id" })
  matches(fails("argument", function() tree:including_required(employee) end), "annotated_with_required")
  fails("argument", function() tree:including_all(employee) end)
  fails("argument", function() Employee:find(1):place() end)
  fails("argument", function() Employee.other = Employee:belongs_to(tree, { columns = "id" }) end)
  fails("no_foreign_key", function() Employee.other = Employee:belongs_to(tree) end)
  fails("argument", function() perilune.common_table("t", Employee:select("id"), function() return 5 end) end)
  fails("argument", function() perilune.common_table("t", Employee:select("id"), function(t) return t:limit(1) end) end)
  fails("argument", function() perilune.common_table("t", Employee:select("id"), function(t) return t:select("id", "id") end) end)
  fails("argument", function() perilune.common_table("t", Employee:select("id", "id")) end)
  fails("unknown_column", function() return tree.c.lvel end)
  fails("argument", function() tree:find(1) end)
end)

test("a recursive common table can be defined in SQL", function()
  db:execute("INSERT INTO employee VALUES (1, 'Ada', NULL), (2, 'Bob', 1), (3, 'Cy', 2), (4, 'Di', NULL)")
  local tree = perilune.common_table("tree", { "id", "level" }, [[
    SELECT id, 0 FROM employee WHERE id = ?
    UNION ALL SELECT employee.id, level + 1 FROM employee JOIN tree ON boss_id = tree.id]], 1)
  local levels = {}
  for _, row in ipairs(tree:order("level"):fetch_all()) do levels[row.id] = row.level end
  equal(levels, { 0, 1, 2 })
  equal(Employee:filter(Employee.c.id:is_in(tree:filter("level > 0"):select("id"))):order("id"):pluck("name"), { "Bob", "Cy" })
end)

test("pluck accepts a database before or after the columns", function()
  db:execute("CREATE TABLE plucked (id INTEGER PRIMARY KEY, name TEXT)")
  db:execute("INSERT INTO plucked VALUES (1, 'a'), (2, NULL)")
  local Plucked = perilune.record("plucked")
  db:read(function(handle)
    equal(Plucked:order("id"):pluck(handle, "name"), { "a", perilune.null })
    equal(Plucked:order("id"):pluck(handle, "name"), { "a", perilune.null })
    equal(Plucked:order("id"):pluck(handle, "id", "name"), { { 1, "a" }, { 2, perilune.null } })
  end)
end)

test("a CASE expression over booleans returns booleans in every kind of fetch", function()
  db:execute[[CREATE TABLE switch (id INTEGER PRIMARY KEY, is_on BOOLEAN, n INTEGER, room_id INTEGER REFERENCES room); CREATE TABLE room (id INTEGER PRIMARY KEY);
    INSERT INTO room VALUES (1); INSERT INTO switch VALUES (1, 1, 3, 1), (2, 0, 4, 1), (3, NULL, 4, NULL)]]
  local Switch, Room = perilune.record "switch", perilune.record "room"
  Room.switches = Room:has_many(Switch)
  local c, fn = Switch.c, perilune.fn
  local function check(expression, expected)
    local chosen = Switch:select(expression:as("x"), "id"):order("id")
    local list, tuples = {}, {}
    for row in chosen:rows() do list[#list + 1] = row.x end
    for value in chosen:tuples() do tuples[#tuples + 1] = value end
    local single = Switch:order("id"):select(expression)
    equal(list, expected) equal(tuples, expected) equal(single:fetch_values(), expected) equal(single:fetch_value(), expected[1])
    equal(Switch:order("id"):pluck(expression), expected)
    equal(chosen:fetch_all()[2].x, expected[2])
    equal(single:fetch_set()[expected[1]], true)
  end
  check(fn.coalesce(c.is_on, false), { true, false, false })
  check(fn.ifnull(c.is_on, c.n:gt(3)), { true, false, true })
  check(c.is_on:first_value():over{ order_by = c.id }, { true, true, true })
  check(c.is_on:max():over{}, { true, true, true })
  check(c.n:gt(3), { false, true, true })
  equal({ Switch:min("is_on"), Switch:max("is_on"), Switch:max(c.n:gt(5)), Switch:max("n"), Switch:limit(1):max("is_on") }, { false, true, false, 4, true })
  equal(Switch:select(c.is_on:max()):fetch_value(), true)
  equal(Switch:group("n"):select("n", c.is_on:max():as("any")):order("n"):fetch_all()[2].any, false)
  equal(Room:annotated_with(Room.switches:min("is_on"):as("all_on")):fetch_one().all_on, false)
  equal(Switch:select(fn.coalesce(c.is_on, 5)):filter{ id = 3 }:fetch_value(), 5)
end)

test("ordering by the name of a selected column refers to that column, as in SQL", function()
  db:execute "CREATE TABLE pair (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER); INSERT INTO pair VALUES (1, 1, 9), (2, 2, 8), (3, 3, 7)"
  local Pair = perilune.record "pair"
  local selected = Pair:select(Pair.c.b:as("a"), "id")
  equal(selected:order("a"):pluck("id"), { 3, 2, 1 })
  equal(selected:order("A"):fetch_all()[1].a, 7)
  equal(selected:order("a"):reversed():fetch_all()[1].a, 9)
  equal(selected:order(Pair.c.a):fetch_all()[1].a, 9)
  equal(Pair:order("a"):select(Pair.c.b:as("a")):fetch_values(), { 9, 8, 7 })
end)
