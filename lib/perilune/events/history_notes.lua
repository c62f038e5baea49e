--- Transactions with notes, which the histories of tables refer to.

local history_notes = {}

--- Transactions. One that is open is seen by triggers; its own transaction closes it.
history_notes.definition = [[
CREATE TABLE IF NOT EXISTS perilune_transaction (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  began_at DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
  note TEXT,
  is_open BOOLEAN
);
CREATE INDEX IF NOT EXISTS perilune_transaction_open ON perilune_transaction (is_open) WHERE is_open]]

--- SQL for the transaction that is open, NULL if none is.
history_notes.current = "(SELECT id FROM perilune_transaction WHERE is_open)"

--- Notes in a transaction that it is one, calls a function, and notes its end. What fails is rolled back with it.
function history_notes.run(db, note, f, ...)
  local id = db:execute("INSERT INTO perilune_transaction (note, is_open) VALUES (?, TRUE)", note).inserted_rowid
  local results = table.pack(f(db, ...))
  db:execute("UPDATE perilune_transaction SET is_open = NULL WHERE id = ?", id)
  return table.unpack(results, 1, results.n)
end

return history_notes
