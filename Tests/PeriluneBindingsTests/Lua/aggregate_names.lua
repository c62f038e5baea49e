-- The names of selected aggregates, and names in SQL text.

db:execute[[
  CREATE TABLE invoice (id INTEGER PRIMARY KEY, status TEXT, total INTEGER, lines INTEGER);
  INSERT INTO invoice VALUES (1, 'open', 5, 1), (2, 'open', 7, 2), (3, 'paid', 3, 3)]]

local Invoice = perilune.record("invoice")
local c = Invoice.c

test("a selected aggregate gets a column name from its column and function", function()
  local row = Invoice:select(perilune.count(), c.id:count(), c.total:sum(), c.total:total(), c.total:average(), c.total:min(),
    c.total:max()):fetch_one()
  equal({ row.count, row.id_count, row.total_sum, row.total_total, row.average_total, row.min_total, row.max_total },
    { 3, 3, 15, 15.0, 5.0, 3, 7 })
  equal(Invoice:select("status", c.status:count():distinct()):fetch_one().status_count, 2)
  equal(Invoice:select(perilune.fn.SUM(c.total)):fetch_one().total_sum, 15)
end)

test("named aggregates keep their names, and other expressions get no name", function()
  local row = Invoice:select(c.total:sum():as("s"), c.total:sum() + 1, c.total:abs()):fetch_one()
  equal(row.s, 15)
  equal(row:has "total_sum", false)
end)

test("requests can be ordered and grouped by the names of aggregates", function()
  local rows = Invoice:select("status", c.total:sum()):group("status")
  equal(rows:order("total_sum DESC"):fetch_all()[1].status, "open")
  equal(rows:order("total_sum"):fetch_all()[1].status, "paid")
  equal(#rows:having("total_sum > 5"):fetch_all(), 1)
  equal(perilune.common_table("sums", rows):filter{ total_sum = 12 }:fetch_one().status, "open")
end)

test("an aggregate does not get the name of a column or of another selected term", function()
  db:execute("CREATE TABLE odd (id INTEGER PRIMARY KEY, total INTEGER, total_sum INTEGER, \"count\" INTEGER)")
  db:execute("INSERT INTO odd VALUES (1, 5, 100, 200), (2, 6, 300, 400)")
  local Odd = perilune.record("odd")
  equal(Odd:select("total", Odd.c.total:sum(), perilune.count()):group("total"):order("total_sum"):fetch_all()[1].total, 5)
  equal(Odd:select(Odd.c.total:sum()):fetch_value(), 11)
  local row = Invoice:select(perilune.value(1):as("TOTAL_SUM"), c.total:sum(), c.id:count(), c.id:count():distinct()):fetch_one()
  equal({ row.TOTAL_SUM, row.id_count }, { 1, 3 })
end)

test("aggregates in annotations get the same names", function()
  local Part = perilune.record("invoice")
  equal(Part:annotated_with(c.total:max()):group("status"):order("status"):fetch_one().max_total, 7)
end)

test("SQL text in a selection may end with AS and a name", function()
  equal(Invoice:select("SUM(total) AS sum"):fetch_one().sum, 15)
  equal(Invoice:select("status as state", 'COUNT(*) AS "how many"'):group("status"):order("state"):fetch_one()["how many"], 2)
  equal(Invoice:select("max(total, lines)\n  As\n  most"):order("id"):fetch_one().most, 5)
  equal(Invoice:annotated_with("total * 2 AS twice"):find(1).twice, 10)
  equal(Invoice:select{ "total AS t", "lines" }:order("t DESC"):fetch_one().t, 7)
  equal(Invoice:select("CASE WHEN total > 4 THEN 'a' ELSE 'b' END AS size"):order("id"):fetch_all()[3].size, "b")
end)

test("SQL text in which AS does not name a column is unchanged", function()
  equal(Invoice:select("CAST(total AS text)"):order("id"):fetch_value(), "5")
  equal(Invoice:select("'total AS x'"):fetch_value(), "total AS x")
  equal(fails("unknown_column", function() return Invoice:select("totl AS t") end).suggestion, "total")
end)
