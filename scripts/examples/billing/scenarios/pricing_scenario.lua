-- Cases, a query budget, and an error that names its column.
group("pricing", { tags = { "pricing" }, template = "small_shop" }, function()
  scenario("discount for {qty} pieces", {
    cases = {
      { name = "none below ten", qty = 9,  cents = 11250 },
      { name = "ten percent",    qty = 10, cents = 11250 },
      { name = "free of charge", qty = 0,  cents = 0 },
    },
  }, function(t)
    local invoice = t.make.invoices { customer_id = 1 }
    t.make.lines { invoice_id = invoice.id, product_id = 1, qty = t.case.qty }
    local queries = t.queries(function() t.run("scripts/price.lua", { invoice = invoice.id }) end)
    check(t.db.invoices:fetch_one(invoice.id).total_cents == t.case.cents)
    expect(queries):at_most(4):no_repeats():no_full_scan("lines")
  end)

  scenario("invoice numbers are unique", function(t)
    t.make.invoices { customer_id = 1, number = "R-0001" }
    local err = expect_error(function()
      t.make.invoices { customer_id = 1, number = "R-0001" }
    end, { kind = "constraint_unique", column = "invoices.number" })
    expect(err.message):contains("invoices.number")
  end)
end)
