--- Transactions with notes, to which the histories of tables refer.

local errors = require "perilune.native.errors"

local history_notes = {}

--- Records a transaction with a note, and calls a function in it. If the function fails, everything is rolled back. If transactions with
-- notes are nested, changes belong to the innermost one.
function history_notes.run(db, note, f, ...)
  local outer = db:fetch_value("SELECT id FROM perilune_transaction WHERE is_open")
  if outer then db:execute("UPDATE perilune_transaction SET is_open = NULL WHERE id = ?", outer) end
  local id = db:execute("INSERT INTO perilune_transaction (note, is_open) VALUES (?, TRUE)", note).inserted_rowid
  local results = table.pack(f(db, ...))
  db:execute("UPDATE perilune_transaction SET is_open = NULL WHERE id = ?", id)
  if outer then db:execute("UPDATE perilune_transaction SET is_open = TRUE WHERE id = ?", outer) end
  return table.unpack(results, 1, results.n)
end

--- Calls a block in a transaction with a note.
function history_notes.write_noted(db, note, block, ...)
  return db:write(function(handle, ...)
    if not handle:table_exists("perilune_transaction") then
      errors.raise("history", "db:write: the database has no history that could keep the note; use perilune.history(Class):install(db) in a migration")
    end
    return history_notes.run(handle, note, block, ...)
  end, ...)
end

return history_notes
