-- The shared parts of the scenarios in this folder: layers of data, and the values of rows created by `t.make`.
template("small_shop", { on = "base" }, function(db)
  db.customers:insert { id = 1, first_name = "Ada", last_name = "Lovelace", email = "ada@example.org" }
  db.products:insert { id = 1, sku = "tea", price_cents = 1250 }
end)

factory("invoices", {
  number = function(n) return ("R-%04d"):format(n) end,
  status = "draft",
})
