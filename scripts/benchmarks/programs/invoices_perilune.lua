-- Prints the customers of a database with the largest totals, and the numbers of their orders.
db:execute[[
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE "order" (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer, total INTEGER NOT NULL);
  CREATE INDEX order_by_customer ON "order" (customer_id)]]
local Customer, Order = perilune.record("customer"), perilune.record("order")
db:write(function()
  for id = 1, 500 do Customer:insert{ id = id, name = "customer " .. id } end
  for id = 1, 5000 do Order:insert{ id = id, customer_id = id * 7 % 500 + 1, total = id * 13 % 1009 } end
end)
local best = db:fetch_all[[
  SELECT customer.id, name, sum(total) AS total FROM customer JOIN "order" ON customer_id = customer.id
  GROUP BY customer.id ORDER BY total DESC, customer.id LIMIT 20]]
for _, row in ipairs(best) do
  local numbers = {}
  for _, order in ipairs(Order:filter{ customer_id = row.id }:order("id"):fetch_all()) do numbers[#numbers + 1] = order.id end
  print(row.name, row.total, table.concat(numbers, " "))
end
