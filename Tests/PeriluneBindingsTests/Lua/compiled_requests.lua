--- Compiled requests are fetched without further checks, so their compiled form must stay valid.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, is_alive BOOLEAN);
  CREATE TABLE pair (a INTEGER, b INTEGER, text TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE TABLE tag (name TEXT PRIMARY KEY, bytes BLOB);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author)]]
for id = 1, 20 do
  db:execute("INSERT INTO author VALUES (?, ?, ?, ?)", id, "author " .. id, id % 2 == 0 and "France" or "US", id % 3 == 0)
end

local Author, Pair, Tag = perilune.record("author"), perilune.record("pair"), perilune.record("tag")

local function ids(request, other)
  local list = {}
  for index, author in ipairs(request:fetch_all(other)) do list[index] = author.id end
  return list
end

test("a request with many values binds each at its position", function()
  local request, expected = Author, {}
  for id = 1, 20 do
    if id ~= 7 then request = request:filter(Author.c.id:ne(id)) end
  end
  for _ = 1, 3 do equal(ids(request:order("id"):limit(5)), { 7 }) end
  request = Author:filter{ country = "US" }:filter("id > ? AND id < ?", 3, 12):filter{ is_alive = true }:order("id")
  for _ = 1, 3 do equal(ids(request), { 9 }) end
  equal(ids(Author:filter{ country = "US" }:filter_key(9)), { 9 })
  equal(ids(Author:filter{ country = "France" }:filter_key(9)), {})
end)

test("requests that differ in values or limits share a plan and find their own rows", function()
  db:read(function()
    for round = 1, 3 do
      for id = 1, 20 do
        equal(Author:filter_key(id):fetch_one().name, "author " .. id)
        equal(Author:filter{ name = "author " .. id }:fetch_all()[1].id, id)
      end
      equal(ids(Author:filter{ country = "US" }:order("id"):limit(2)), { 1, 3 })
      equal(ids(Author:filter{ country = "US" }:order("id"):limit(3, 1)), { 3, 5, 7 })
      equal(ids(Author:filter{ country = "France" }:order("name"):limit(2)), { 10, 12 })
      equal(Author:filter_key(100):fetch_one(), nil)
      equal(Author:filter_key(2.0):fetch_one().id, 2)
      equal(Author:filter_key(2.5):fetch_one(), nil)
    end
  end)
end)

test("composite, text and blob keys are not mistaken for numbers", function()
  Pair{ a = 1, b = 2, text = "x" }:insert()
  Tag{ name = "5", bytes = "5" }:insert()
  for _ = 1, 2 do
    fails("argument", function() Pair:filter_key(1) end)
    equal(Tag:filter_key(5):fetch_one().bytes, "5")
    equal(Tag:filter{ bytes = "5" }:fetch_one().name, "5")
    equal(Tag:filter{ name = "5" }:fetch_one().bytes, "5")
  end
end)

test("whether a value fits its column does not depend on earlier values", function()
  local values = { 1, 1.5, "abc", "1", "", true, false, 1e300 }
  for _, column in ipairs{ "id", "name", "is_alive" } do
    for _, first in ipairs(values) do
      for _, value in ipairs(values) do
        local Fresh, Used = perilune.record("author"), perilune.record("author")
        pcall(function() Used:filter{ [column] = first } end)
        equal((pcall(function() Used:filter{ [column] = value } end)), (pcall(function() Fresh:filter{ [column] = value } end)))
        pcall(function() Used:filter_key(first) end)
        equal((pcall(function() Used:filter_key(value) end)), (pcall(function() Fresh:filter_key(value) end)))
      end
    end
  end
end)

test("an invalid condition is reported each time the request is built", function()
  for _ = 1, 2 do
    fails("unknown_column", function() Author:filter{ nmae = "x" } end)
    fails("argument", function() Author:filter{} end)
    fails("argument", function() Author:filter({ name = "x" }, nil) end)
    fails("argument", function() Author:filter{ "x" } end)
    fails("argument", function() Author:limit(-1) end)
    fails("argument", function() Author:limit("2") end)
    fails("argument", function() Author:filter_key(1):fetch_one(5) end)
    matches(fails("unknown_method", function() Author:filter_key(1):fetch_al() end).message, "fetch_all")
  end
end)

test("requests are recompiled when the schema changes", function()
  local request, by_key = Author:filter{ country = "US" }:order("id"):limit(1), Author:filter_key(1)
  equal({ request:fetch_one().name, by_key:fetch_one().name }, { "author 1", "author 1" })
  db:execute "ALTER TABLE author ADD COLUMN age INTEGER DEFAULT 7"
  equal({ request:fetch_all()[1].age, by_key:fetch_one().age, Author:filter_key(1):fetch_one().age }, { 7, 7, 7 })
  db:execute "ALTER TABLE author RENAME COLUMN country TO land"
  fails(nil, function() request:fetch_all() end)
  equal(by_key:fetch_one().land, "US")
end)

test("requests can run on any database", function()
  local other = perilune.queue(":memory:")
  other:execute "CREATE TABLE author (name TEXT, id INTEGER PRIMARY KEY); INSERT INTO author VALUES ('other', 1)"
  local request = Author:filter_key(1)
  for _ = 1, 3 do
    equal(request:fetch_one(other).name, "other")
    equal(request:fetch_one().name, "author 1")
    equal(request:fetch_one(db).name, "author 1")
    other:read(function(other_db)
      equal(request:fetch_one().name, "other")
      equal(request:fetch_all(other_db)[1].name, "other")
    end)
  end
end)

test("a hook that is defined after the first fetch is called", function()
  local request, count = Author:filter{ country = "US" }, 0
  equal(#request:fetch_all(), 10)
  function Author:did_fetch() count = count + 1 end
  request:fetch_all()
  request:fetch_one()
  equal(count, 11)
end)

test("a request has no elements, whatever values it has", function()
  Author.books = Author:has_many("book")
  local author = Author:find(1)
  for _, request in ipairs{
    Author:all(), Author:filter_key(1), Author:filter_key(1):filter{ country = "US" }, Author:filter{ country = "US" }:order("id"):limit(3),
    Author:filter("id > ? AND id < ? AND country = ?", 1, 5, "US"), Author:filter{ id = { 1, 2, 3 } }, author:books(),
    author:books():filter("id > ?", 1), Author:filter{ id = 1 } | Author:filter{ id = 2 }, Author:filter{ id = 1 }:union(Author:filter{ id = 2 }),
    Author:including_all(Author.books:filter("id > ?", 3)):filter{ id = 1 },
  } do
    for index = 1, 2 do fails("argument", function() return request[index] end) end
    fails("argument", function() for _, record in ipairs(request) do error(record) end end)
    request:fetch_one()
    fails("argument", function() return request[1] end)
  end
end)

test("tampering with the internal fields of a request cannot crash the host", function()
  local request = Author:filter_key(1)
  request:fetch_one()
  for _, value in ipairs{ 5, "x", {}, print, io.stdout, perilune.null, db, perilune.date "2026-03-01" } do
    rawset(request.node, "fetch_one", value)
    equal(request:fetch_one().id, 1)
  end
  rawset(request.node, "fetch_one", nil)
  local position = next(request)
  while math.type(position) ~= "integer" do position = next(request, position) end
  rawset(request, position, nil)
  fails("argument", function() request:fetch_one() end)
  equal(Author:filter_key(1):fetch_one().id, 1)
  rawset(request, "node", 5)
  fails(nil, function() request:fetch_one() end)
  fails(nil, request.fetch_one)
  fails(nil, request.fetch_one, 5)
end)

test("tampering with the source of a derived request cannot crash the host", function()
  local request = Author:filter_key(2):filter{ country = "US" }:order("id"):limit(3)
  local node, metatable = request.node, request.node.metatable
  while node do
    for _, value in ipairs{ 5, "x", {}, print, perilune.null, db, perilune.date "2026-03-01" } do
      for _, name in ipairs{ "key_node", "key_generation", "strings", "numbers", "booleans", "by_order", "by_text", "count", "metatable" } do
        local former = rawget(node, name)
        rawset(node, name, value)
        for _, derive in ipairs{
          function(request) return request:filter_key(2) end, function(request) return request:filter{ country = "US" } end,
          function(request) return request:order("id") end, function(request) return request:limit(3) end,
        } do
          pcall(derive, Author)
          pcall(derive, setmetatable({ node = node, 1, 2 }, metatable))
        end
        rawset(node, name, former)
      end
    end
    node = node.parent
  end
  equal(ids(Author:filter_key(2)), { 2 })
end)

test("equal derivations find the same rows, from requests, from classes and after schema changes", function()
  db:execute("CREATE TABLE part (id INTEGER PRIMARY KEY, kind TEXT, size INTEGER); INSERT INTO part VALUES (1, 'a', 3), (2, 'b', 2), (3, 'a', 1)")
  local Part = perilune.record("part")
  db:write(function()
    for _ = 1, 3 do
      for id = 1, 3 do equal(Part:filter_key(id):fetch_one().id, id) end
      equal(Part:filter_key(4):fetch_one(), nil)
      equal(ids(Part:filter{ kind = "a" }:order("size"):limit(1)), { 3 })
      equal(ids(Part:order("size"):limit(2):filter{ kind = "a" }), { 3, 1 })
      equal(ids(Part:filter{ kind = "a" }:filter{ size = 1 }:filter_key(3)), { 3 })
      equal(ids(Part:filter{ kind = "a", size = 1 }), { 3 })
      equal(#Part:limit(0):fetch_all(), 0)
      fails("argument", function() Part:limit(-1) end)
      fails("argument", function() Part:limit(1, 2, 3) end)
      db:execute("ALTER TABLE part ADD COLUMN added" .. #db:fetch_all("PRAGMA table_info(part)"))
    end
    db:execute("DROP TABLE part; CREATE TABLE part (kind TEXT PRIMARY KEY, size INTEGER); INSERT INTO part VALUES ('1', 5), ('a', 6)")
    equal(Part:filter_key(1):fetch_one().size, 5)
    local deep = Part
    for _ = 1, 60 do deep = deep:filter{ size = 5 } end
    equal(deep:filter{ kind = "1" }:limit(1):fetch_one().size, 5)
  end)
end)

test("each alias of a class has separate columns", function()
  local boss = Author:aliased("boss")
  matches(boss:filter(boss.c.name:eq("x")):sql(), '"boss"."name" = ?')
  matches(boss:filter_key(1).c.name == boss.c.name and Author:filter_key(1):sql(), '"author"."id" = ?')
  equal(ids(boss:filter_key(3)), { 3 })
  equal(ids(boss:filter{ name = "author 3" }:order("name")), { 3 })
end)

test("a finalizer may fetch records while another fetch creates records", function()
  local found, list = 0, nil
  collectgarbage("generational")
  for _ = 1, 50 do
    for _ = 1, 20 do
      setmetatable({}, { __gc = function() found = found + Author:filter_key(3):fetch_one().id end })
    end
    list = Author:filter{ country = "US" }:fetch_all()
    for _, author in ipairs(list) do equal(author:has_changes(), false) end
    list[1].name = "changed"
    equal(list[1]:has_changes(), true)
  end
  collectgarbage("incremental")
  collectgarbage()
  equal(found, 3000)
end)

test("columns are converted even if the request found no rows before", function()
  db:execute "CREATE TABLE copy (id INTEGER PRIMARY KEY, js TEXT)"
  local Copy = perilune.record("copy", { types = { js = "json" } })
  local all, first = Copy:filter{ id = 1 }, Copy:order("id")
  equal({ #all:fetch_all(), first:fetch_one() }, { 0 })
  db:execute "INSERT INTO copy VALUES (1, '[1]')"
  equal(all:fetch_all()[1].js, { 1 })
  equal(first:fetch_one().js, { 1 })
end)
