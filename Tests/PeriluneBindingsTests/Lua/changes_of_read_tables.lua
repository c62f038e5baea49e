-- Changes whose conditions and values read the changed table see its previous state; NULL among the values of a sub-request.

db:execute[[
  CREATE TABLE e (id INTEGER PRIMARY KEY, n INTEGER, boss_id INTEGER REFERENCES e);
  CREATE TABLE excluded (id INTEGER PRIMARY KEY, n INTEGER);
  CREATE TABLE pair (a TEXT, b INTEGER, n INTEGER, PRIMARY KEY (a, b));
  INSERT INTO e VALUES (1, 1, NULL), (2, 2, 1), (3, 3, 2), (4, 4, 3);
  INSERT INTO pair VALUES ('x', 1, 1), ('x', 2, 2), ('y', 1, 3)]]

local E, Excluded, Pair = perilune.record("e"), perilune.record("excluded"), perilune.record("pair")
E.boss, E.reports = E:belongs_to(E), E:has_many(E)

local function column(name) return E:order("id"):select(name):fetch_optional_values() end

test("in a change, conditions on other rows of the table see the rows before the change", function()
  E:having(E.reports:count():eq(1)):update_all{ boss_id = perilune.null }
  equal(column("boss_id"), { perilune.null, perilune.null, perilune.null, 3 })
end)

test("in a change, EXISTS, IN and SQL text see the rows before the change", function()
  local x = E:aliased("x")
  E:filter(perilune.exists(x:filter(x.c.n:eq(perilune.sql("e.n - 1"))))):update_all{ n = 100 }
  equal(column("n"), { 1, 100, 100, 100 })
  db:execute("UPDATE e SET n = id")
  E:filter("n > (SELECT AVG(n) FROM e)"):update_all{ n = E.c.n - 10 }
  equal(column("n"), { 1, 2, -7, -6 })
  db:execute("UPDATE e SET n = id")
  E:filter("EXISTS (SELECT 1 FROM e AS o WHERE o.n = e.n - 1)"):delete_all()
  equal(column("n"), { 1 })
end)

test("in a change, values that read the table see the rows before the change", function()
  E:update_all{ n = perilune.sql("(SELECT SUM(o.n) FROM e AS o WHERE o.id <= e.id)") }
  equal(column("n"), { 1, 3, 6, 10 })
  db:execute("UPDATE e SET n = id")
  equal(#E:filter(E.c.id:gt(1)):update_all({ n = E.boss:max("n") }, { returning = true }), 3)
  equal(column("n"), { 1, 1, 2, 3 })
  db:execute("UPDATE e SET n = id")
  E:order(E.c.id:desc()):limit(2):update_all{ n = E.boss:max("n"), boss_id = 1 }
  equal({ column("n"), column("boss_id") }, { { 1, 2, 2, 3 }, { perilune.null, 1, 1, 1 } })
  Pair:update_all{ n = perilune.sql("(SELECT SUM(o.n) FROM pair AS o WHERE o.n <= pair.n)") }
  equal(Pair:order("a", "b"):select("n"):fetch_values(), { 1, 3, 6 })
end)

test("upserts work on a table named excluded", function()
  Excluded{ id = 1, n = 1 }:insert()
  Excluded{ id = 1, n = 2 }:upsert()
  equal(Excluded:find(1).n, 2)
  Excluded{ id = 1, n = 5 }:upsert{ update = { n = perilune.sql("excluded.n * 10") } }
  equal(Excluded:find(1).n, 50)
end)

test("NULL values from a sub-request are skipped", function()
  local boss_ids = E:select("boss_id")
  equal(E:filter(E.c.id:is_not_in(boss_ids)):pluck("id"), { 4 })
  equal(E:filter(~E.c.id:is_in(boss_ids)):pluck("id"), { 4 })
  equal(E:filter(~(E.c.id:is_in(boss_ids) & E.c.n:gt(0))):pluck("id"), { 4 })
  equal(E:filter(E.c.id:is_not_in(boss_ids:order("id"):limit(2))):pluck("id"), { 2, 3, 4 })
  equal(E:filter(E.c.id:is_not_in(boss_ids:union(E:filter{ id = 4 }:select("id")))):pluck("id"), {})
  equal(E:filter(E.c.id:is_not_in(E:group("n"):select(E.c.boss_id:max()))):pluck("id"), { 4 })
  equal(E:filter{ id = boss_ids }:pluck("id"), { 1, 2, 3 })
end)

test("batches are ordered by key and refuse other orders", function()
  fails("argument", function() E:order("n"):in_batches(2) end)
  fails("argument", function() E:reversed():in_batches(2) end)
  local sizes = {}
  for list in E:order("n"):unordered():in_batches(3) do sizes[#sizes + 1] = #list end
  equal(sizes, { 3, 1 })
end)
