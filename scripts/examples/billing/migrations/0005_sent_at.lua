return {
  up = function(db) db:alter_table("invoices", function(t) t:add_column("sent_at", "datetime") end) end,
  down = function(db) db:alter_table("invoices", function(t) t:drop_column("sent_at") end) end,
}
