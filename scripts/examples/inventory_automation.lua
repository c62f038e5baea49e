-- An automation that keeps a shop stocked: products that run low are ordered once.
--
--     perilune run inventory_automation.lua

db:create_table("product", function(t)
  t:auto_incremented_primary_key("id")
  t:column("name", "text"):not_null():unique()
  t:column("stock", "integer"):not_null()
  t:column("least", "integer"):not_null()
end)
db:create_table("purchase_order", function(t)
  t:auto_incremented_primary_key("id")
  t:belongs_to("product"):not_null()
  t:column("amount", "integer"):not_null()
  t:column("is_delivered", "boolean"):not_null():default(false)
end)

local Product = perilune.record("product")
local Order = perilune.record("purchase_order")
Product.orders = Product:has_many(Order)

-- Products that run low and are not on order yet. When this list changes, by any writer, the automation runs. An order removes
-- the product from the list, so it is ordered only once.
local low = Product:filter(Product.c.stock:lt(Product.c.least))
  :having(Product.orders:filter{ is_delivered = false }:is_empty())
  :order("name")

perilune.automation{
  name = "order what runs low",
  on = { change = low, initially = true },
  mode = "queued",
  when = function(context) return #context.value > 0 end,
  run = function(context)
    db:write(function(db)
      for _, product in ipairs(low:fetch_all(db)) do
        local order = Order{ product_id = product.id, amount = 2 * product.least - product.stock }
        order:insert(db)
        print(("ordered %d of %s, of which %d are left"):format(order.amount, product.name, product.stock))
      end
    end)
  end,
}

-- A delivery comes some time after the order.
perilune.automation{
  name = "deliver",
  on = { change = Order:filter{ is_delivered = false } },
  mode = "queued",
  run = function()
    perilune.sleep("10ms")
    db:write(function(db)
      for _, order in ipairs(Order:filter{ is_delivered = false }:fetch_all(db)) do
        order:update_changes(db, function(o) o.is_delivered = true end)
        Product:filter_key(order.product_id):update_all(db, { stock = Product.c.stock + order.amount })
        print(("delivered %d for order %d"):format(order.amount, order.id))
      end
    end)
  end,
}

Product:insert_all{
  Product{ name = "green tea", stock = 12, least = 10 },
  Product{ name = "black tea", stock = 5, least = 5 },
}

-- Customers buy products. This code does not deal with orders: the automations notice the sales.
for _, sale in ipairs{ { "green tea", 1 }, { "green tea", 3 }, { "black tea", 2 }, { "green tea", 4 } } do
  local name, amount = table.unpack(sale)
  Product:filter{ name = name }:update_all{ stock = Product.c.stock - amount }
  print(("sold %d of %s"):format(amount, name))
  perilune.sleep("100ms")
end

print("\nStock:")
for _, product in ipairs(Product:order("name"):fetch_all()) do print(("  %-10s %d"):format(product.name, product.stock)) end

-- All runs are recorded in a table of the database.
print("\nRuns:")
for row in db:rows[[
  SELECT automation, outcome, count(*) AS runs FROM perilune_automation_run GROUP BY automation, outcome ORDER BY automation, outcome
]] do
  print(("  %-20s %-10s %d"):format(row.automation, row.outcome, row.runs))
end

-- The program continues as long as an automation waits for something.
for _, automation in ipairs(perilune.automations()) do automation:remove() end
