-- Sets the total of an invoice. Ten or more pieces of a product cost ten percent less.
local arguments = ...
local total = db:fetch_value([[
  SELECT sum(lines.qty * products.price_cents * CASE WHEN lines.qty >= 10 THEN 0.9 ELSE 1 END)
  FROM lines JOIN products ON products.id = lines.product_id WHERE lines.invoice_id = ?]], arguments.invoice)
db:execute("UPDATE invoices SET total_cents = round(?) WHERE id = ?", total or 0, arguments.invoice)
