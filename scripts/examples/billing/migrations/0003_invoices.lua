return {
  up = function(db)
    db:create_table("invoices", function(t)
      t:auto_incremented_primary_key("id")
      t:column("customer_id", "integer"):not_null():references("customers"):indexed()
      t:column("number", "text"):not_null():unique()
      t:column("status", "text"):not_null():default("draft"):check("status IN ('draft', 'sent', 'paid')")
      t:column("total_cents", "integer"):not_null():default(0)
    end)
  end,
  down = function(db) db:drop_table("invoices") end,
}
