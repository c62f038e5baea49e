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

test("prepared requests take values by name", function()
  local prepared = Author:filter("country = :country AND id > :least"):order("id"):limit(2):prepare()
  equal(prepared:fetch_all{ country = "France", least = 3 }[1].id, 4)
  equal(prepared:fetch_all{ country = "US", least = 3 }[1].id, 5)
  equal(prepared:fetch_one({ country = "US", least = 20 }).id, 21)
  equal(prepared:fetch_count(db, { country = "US", least = 24 }), 1)
  local by_expression = Author:filter{ country = perilune.parameter("where") }:select("id"):prepare()
  equal(#by_expression:fetch_values{ where = "France" }, 12)
end)

test("prepared requests tell what is missing or misspelt", function()
  local request = Author:filter("country = :country")
  matches(fails("argument", function() request:fetch_all() end), "prepare")
  local prepared = request:prepare()
  matches(fails("argument", function() prepared:fetch_all{} end), "country")
  matches(fails("unknown_parameter", function() prepared:fetch_all{ contry = "US" } end), "country")
  fails("argument", function() prepared:fetch_all(5) end)
  equal(Author:filter("name <> ':country' AND id = 1"):fetch_count(), 1)
end)

test("pages", function()
  local page = Author:order("id"):page(2, 10)
  equal({ page.number, page.size, page.count, page.pages, #page.records }, { 2, 10, 25, 3, 10 })
  equal(page.records[1].id, 11)
  equal(#Author:order("id"):page(3, 10).records, 5)
  equal(#Author:order("id"):page(4, 10).records, 0)
  equal(Author:none():page(1, 10).pages, 0)
  fails("argument", function() Author:page(0, 10) end)
  fails("argument", function() Author:page(1, 0) end)
end)

test("batches go through all rows by key, whatever happens to them", function()
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

test("common tables from requests", function()
  local french = perilune.common_table("french", Author:filter{ country = "France" }:select("id", "name"))
  equal(french:filter("id > ?", 20):order("id"):pluck("name"), { "author 22", "author 24" })
  equal(Author:filter(Author.c.id:is_in(french:select("id"))):fetch_count(), 12)
  equal(french:filter{ name = "author 4" }:fetch_one().id, 4)
  fails("unknown_column", function() french:filter{ nmae = 1 } end)
  fails("argument", function() perilune.common_table("french", 5) end)
end)

test("recursive common tables, in SQL", function()
  db:execute("INSERT INTO employee VALUES (1, 'Ada', NULL), (2, 'Bob', 1), (3, 'Cy', 2), (4, 'Di', NULL)")
  local tree = perilune.common_table("tree", { "id", "level" }, [[
    SELECT id, 0 FROM employee WHERE id = ?
    UNION ALL SELECT employee.id, level + 1 FROM employee JOIN tree ON boss_id = tree.id]], 1)
  local levels = {}
  for _, row in ipairs(tree:order("level"):fetch_all()) do levels[row.id] = row.level end
  equal(levels, { 0, 1, 2 })
  equal(Employee:filter(Employee.c.id:is_in(tree:filter("level > 0"):select("id"))):order("id"):pluck("name"), { "Bob", "Cy" })
end)
