--- Transactions with notes, which the histories of tables refer to.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"

local history_notes = {}

--- Notes in a transaction that it is one, calls a function, and notes its end. What fails is rolled back with it.
function history_notes.run(db, note, f, ...)
  local id = db:execute("INSERT INTO perilune_transaction (note, is_open) VALUES (?, TRUE)", note).inserted_rowid
  local results = table.pack(f(db, ...))
  db:execute("UPDATE perilune_transaction SET is_open = NULL WHERE id = ?", id)
  return table.unpack(results, 1, results.n)
end

--- Writes in a transaction with a note.
-- @tparam ?function check gets the handle of the block
function history_notes.write_noted(db, place, note, check, block, ...)
  return db:write(function(handle, ...)
    if check then check(handle) end
    if not handle:table_exists("perilune_transaction") then
      errors.raise("history", place .. ": the database has no history that could keep the note; use perilune.history(Class):install(db) in a migration")
    end
    return history_notes.run(handle, note, block, ...)
  end, ...)
end

return history_notes
