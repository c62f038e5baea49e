--- Work on a number of rows. Run by `perilune run --database PATH`; arguments: the measure, or "prepare", and the number of rows.
-- "prepare" creates the tables. All other measures do their work once and change only the rows that they describe, so that the
-- difference from the same process without rows is the cost of the work.
local measure, count = ...
count = math.tointeger(count)

local lines_of_an_order = 10
local measures = {}

local create = [[
  CREATE TABLE sale (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, quantity INTEGER, note TEXT);
  CREATE TABLE copy (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, quantity INTEGER, note TEXT);
  CREATE TABLE "order" (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE line (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES "order", amount INTEGER);
  CREATE INDEX line_order ON line (order_id)]]

local function fill(sql, rows)
  db:execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) " .. sql, rows)
end

function measures.prepare()
  db:execute(create)
  if count == 0 then return end
  fill("INSERT INTO sale SELECT i, 'Product ' || i, i * 0.25, i % 1000, CASE i % 3 WHEN 0 THEN 'a note about ' || i END FROM n", count)
  fill([[INSERT INTO "order" SELECT i, 'Order ' || i FROM n]], math.max(1, count // lines_of_an_order))
  fill("INSERT INTO line SELECT i, (i - 1) / 10 + 1, i % 100 FROM n", count)
end

function measures.fetch_all()
  return #db:fetch_all("SELECT * FROM sale")
end

function measures.rows()
  local sum = 0
  for row in db:rows("SELECT * FROM sale") do sum = sum + row.quantity end
  return sum
end

function measures.records()
  return #perilune.record("sale"):fetch_all()
end

function measures.insert_all()
  local Copy, list = perilune.record("copy"), {}
  for i = 1, count do list[i] = { name = "Product", price = i * 0.25, quantity = i % 1000 } end
  return #Copy:insert_all(list)
end

function measures.update_all()
  return perilune.record("sale"):update_all{ quantity = 7 }
end

function measures.including_all()
  local Order, Line = perilune.record("order"), perilune.record("line")
  Order.lines = Order:has_many(Line)
  return #Order:including_all(Order.lines):fetch_all()
end

function measures.observation()
  local seen = 0
  local observer = db:observe_transactions{ on_change = function(event) seen = seen + event.new.quantity end }
  db:execute("UPDATE sale SET quantity = quantity + 1")
  observer:cancel()
  return seen
end

--- Run with `--preview`, which compares the tables, and also with `--save`.
function measures.change()
  db:execute("UPDATE sale SET quantity = quantity + 1")
end

measures[measure]()
