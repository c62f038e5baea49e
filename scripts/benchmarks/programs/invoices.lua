-- Prints the customers of a database with the largest totals, and the numbers of their orders.
local sqlite = require "lsqlite3"
local db = sqlite.open_memory()
local function check(code) if code ~= sqlite.OK and code ~= sqlite.DONE then error(db:errmsg()) end end
check(db:exec[[
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE "order" (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer, total INTEGER NOT NULL);
  CREATE INDEX order_by_customer ON "order" (customer_id)]])
local function insert(statement, ...)
  statement:bind_values(...)
  check(statement:step())
  statement:reset()
end
check(db:exec("BEGIN"))
local customers = db:prepare("INSERT INTO customer VALUES (?, ?)")
for id = 1, 500 do insert(customers, id, "customer " .. id) end
local orders = db:prepare[[INSERT INTO "order" VALUES (?, ?, ?)]]
for id = 1, 5000 do insert(orders, id, id * 7 % 500 + 1, id * 13 % 1009) end
check(db:exec("COMMIT"))
local best = {}
for row in db:nrows[[
  SELECT customer.id, name, sum(total) AS total FROM customer JOIN "order" ON customer_id = customer.id
  GROUP BY customer.id ORDER BY total DESC, customer.id LIMIT 20]] do best[#best + 1] = row end
local of_customer = db:prepare[[SELECT * FROM "order" WHERE customer_id = ? ORDER BY id]]
for _, row in ipairs(best) do
  local numbers = {}
  of_customer:bind_values(row.id)
  for order in of_customer:nrows() do numbers[#numbers + 1] = order.id end
  of_customer:reset()
  print(row.name, row.total, table.concat(numbers, " "))
end
