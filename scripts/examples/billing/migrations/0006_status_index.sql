CREATE INDEX invoices_by_status ON invoices (status);
