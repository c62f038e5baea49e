-- Creates a table, inserts 10,000 rows as records, groups, updates and counts them.
db:create_table("sale", function(t)
  t:auto_incremented_primary_key("id")
  t:column("product", "text"):not_null()
  t:column("amount", "integer"):not_null()
end)
local Sale = perilune.record("sale")
local sales = {}
for i = 1, 10000 do sales[i] = Sale{ product = "product " .. i % 50, amount = i % 97 } end
Sale:insert_all(sales)

local totals = Sale:select("product", Sale.c.amount:sum():as("total")):group("product"):order("product"):fetch_all()
for i = 1, 3 do print(totals[i].product, totals[i].total) end
Sale:filter(Sale.c.amount:gt(50)):update_all{ amount = Sale.c.amount - 1 }
print(Sale:filter(Sale.c.amount:ge(50)):fetch_count())
