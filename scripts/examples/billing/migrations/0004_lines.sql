CREATE TABLE lines (
  invoice_id INTEGER NOT NULL REFERENCES invoices (id) ON DELETE CASCADE,
  product_id INTEGER NOT NULL REFERENCES products (id),
  qty INTEGER NOT NULL CHECK (qty >= 0),
  PRIMARY KEY (invoice_id, product_id)
);
