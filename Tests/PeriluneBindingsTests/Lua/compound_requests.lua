--- Requests that are combined by UNION and other compound operators.

local function classes()
  db:execute[[
    CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT, note TEXT); INSERT INTO a VALUES (1, 'x', '1'), (2, 'y', '2');
    CREATE TABLE b (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO b VALUES (1, 'z'), (2, 'x')]]
  return perilune.record("a"), perilune.record("b")
end

test("a union of two tables can be ordered, filtered, limited and counted by column name", function()
  local A, B = classes()
  local names = A:select("name"):union(B:select("name"))
  equal(names:order("name"):fetch_values(), { "x", "y", "z" })
  equal(names:order("name"):filter("name <> 'x'"):limit(1):fetch_values(), { "y" })
  equal(names:fetch_count(), 3)
  equal(A:select("name"):union_all(B:select("name")):fetch_count(), 4)
  equal(A:select("name"):except(B:select("name")):fetch_values(), { "y" })
  equal(A:select("name"):intersect(B:select("name")):fetch_values(), { "x" })
end)

test("a union of whole rows of one table returns records", function()
  local A = classes()
  local rows = A:filter{ id = 1 }:union(A:filter{ id = 2 }):order(A.c.name:desc()):fetch_all()
  equal(rows[1].note, "2")
  equal(A:is(rows[1]), true)
end)

test("a union of selected columns returns rows that cannot be written", function()
  local A = classes()
  local rows = A:select("id"):union(A:filter{ id = 2 }:select("id")):order("id"):fetch_all()
  equal({ rows[1].id, rows[2].id, A:is(rows[1]) }, { 1, 2, false })
end)

test("each part of a compound keeps its order and limit, and parts are combined from left to right", function()
  local A, B = classes()
  local first_and_last = A:order("id"):limit(1):select("name"):union_all(B:order(B.c.id:desc()):limit(1):select("name"))
  equal(first_and_last:fetch_values(), { "x", "x" })
  equal(A:select("id"):except(B:filter{ id = 2 }:select("id")):union(B:filter{ id = 2 }:select("id")):order("id"):fetch_values(), { 1, 2 })
  equal(A:select("name"):union_all(B:select("name")):union_all(B:select("name")):filter{ name = "z" }:fetch_count(), 2)
end)

test("compounds can be used in lists and sub-requests and can include associations", function()
  local A, B = classes()
  A.twins = A:has_many(B, { columns = "name", referenced = "name" })
  equal(A:filter(A.c.name:is_in(A:select("name"):intersect(B:select("name")))):pluck("id"), { 1 })
  equal(A:filter(perilune.exists(B:filter(B.c.name:eq(A.c.name)):union(B:filter(B.c.id:eq(A.c.id + 100))))):pluck("id"), { 1 })
  local both = A:filter{ id = 1 }:union(A:filter{ id = 2 })
  equal(#both:including_all(A.twins):order("id"):fetch_all()[1].twins, 1)
  equal(both:joining_required(A.twins):pluck("id"), { 1 })
end)

test("the limit of the first part does not limit the combined rows", function()
  local A = classes()
  A:insert_all{ { id = 3, name = "z" }, { id = 4, name = "w" } }
  local rows = A:order("id"):limit(2, 1):union(A:filter{ id = 1 })
  equal({ rows:order("id"):limit(10):pluck("id"), rows:order("id"):offset(1):pluck("id") }, { { 1, 2, 3 }, { 2, 3 } })
  equal({ rows:order("id"):page(1, 2).pages, rows:order("id"):page(2, 2).records[1].id }, { 2, 3 })
end)

test("incompatible requests cannot be combined", function()
  local A, B = classes()
  matches(fails("not_joined", function() A:select("id"):union(B:select("id")):filter(A.c.id:eq(1)):fetch_all() end), "perilune.column")
  fails("unknown_column", function() A:select("id"):union(B:select("id")):filter{ name = "x" } end)
  fails("argument", function() A:union(B) end)
  fails("argument", function() A:select("id"):union(5) end)
  fails("argument", function() A:select("id"):union(B:select("id", "name")) end)
  fails("argument", function() A:select("id"):union(B:select("id")):update_all{ id = 1 } end)
  fails("unknown_column", function() A:select("id"):union(B:select("id")):order("nmae") end)
end)

test("a union has no alias, even if its first part has one", function()
  local A = classes()
  local o = A:aliased "o"
  for _, method in ipairs{ "union", "union_all", "intersect", "except" } do
    local first = o:filter(o.c.id:gt(0))
    local rows = first[method](first, A:filter{ id = 2 })
    equal(rows:order("name"):pluck("id"), rows:order(A.c.name):pluck("id"))
    equal(#rows:filter{ name = "y" }:fetch_all(), method == "except" and 0 or method == "union_all" and 2 or 1)
    equal(rows:filter_key(2):exists(), method ~= "except")
    equal(rows:max("id"), method == "except" and 1 or 2)
    equal(rows:select(rows.c.name):order("name"):limit(1):fetch_values(), { method == "intersect" and "y" or "x" })
    equal(A:filter(A.c.id:is_in(rows:select("id"))):fetch_count(), method == "union_all" and 2 or rows:fetch_count())
  end
  local again = o:union(A:filter{ id = 1 }):aliased("p")
  equal(again:union(A:filter{ id = 2 }):order("name"):filter{ id = 2 }:pluck("name"), { "y" })
end)

test("union_all has no pages and no batches because it may repeat a record", function()
  local A = classes()
  local twice = A:all():union_all(A:filter{ id = 1 })
  matches(fails("argument", function() twice:in_batches(1) end), "use union(...), or add distinct()")
  matches(fails("argument", function() twice:page_after(nil, 1) end), "use union(...), or add distinct()")
  local function ids(rows)
    local list = {}
    for records in rows:in_batches(1) do list[#list + 1] = records[1].id end
    return list
  end
  equal(ids(twice:distinct()), { 1, 2 })
  equal(ids(A:all():union(A:filter{ id = 1 })), { 1, 2 })
  equal(ids(twice:except(A:filter{ id = 2 })), { 1 })
end)
