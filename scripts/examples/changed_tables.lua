--- An observer that publishes which tables each transaction has changed, and an observation of one of them.
--
--     scripts/perilune run scripts/examples/changed_tables.lua

--- Calls a function with the sorted names of the tables that a transaction has changed, after its commit.
local function observe_changed_tables(db, publish)
  local changed = {}
  return db:observe_transactions{
    on_change = function(event) changed[event.table] = true end,
    did_commit = function()
      local names = {}
      for name in pairs(changed) do names[#names + 1] = name end
      table.sort(names)
      changed = {}
      if #names > 0 then publish(names) end
    end,
    did_rollback = function() changed = {} end,
  }
end

db:execute[[
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE "order" (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer ON DELETE CASCADE, total INTEGER)]]
local Customer, Order = perilune.record("customer"), perilune.record("order")

observe_changed_tables(db, function(names) print("changed: " .. table.concat(names, ", ")) end)
local best = Customer:filter(Customer.c.name:ne("Nobody")):order("name")
local observation = best:observe(function(customers)
  local names = {}
  for index, customer in ipairs(customers) do names[index] = customer.name end
  print("customers: " .. (#names > 0 and table.concat(names, ", ") or "none"))
end)

perilune.sleep(0.05)
db:write(function()
  Customer{ name = "Ada" }:insert()
  Order{ customer_id = 1, total = 100 }:insert()
end)
perilune.sleep(0.05)
pcall(db.write, db, function() Customer{ name = "Bob" }:insert() error("no") end)
Customer{ name = "Nobody" }:insert()  -- the observed value does not change
perilune.sleep(0.05)
Customer:filter{ name = "Ada" }:delete_all()
perilune.sleep(0.05)
observation:cancel()
