--- Undoes migrations: runs their `down` in a transaction, and removes them from the list of applied migrations.

local errors = require "perilune.native.errors"

local function find(list, name)
  for _, entry in ipairs(list) do
    if entry.name == name then return entry end
  end
end

--- Returns the migrator's entry for a migration; raises if it has no `down`.
local function undoing(list, name)
  local entry = find(list, name)
  if not entry then
    errors.raise("migration", ("the applied migration `%s` is unknown: no file and no call of `register` has this name")
      :format(name), { migration = name })
  elseif entry.down == nil then
    errors.raise("migration", ("the migration `%s` cannot be undone; add a `down`%s"):format(name,
      entry.sql and entry.file and (", in the file " .. entry.file:gsub("%.sql$", ".down.sql")) or ""), { migration = name })
  end
  return entry
end

--- Raises if, after a migration was undone, foreign keys refer to missing rows.
local function check_foreign_keys(db, name)
  local violation = db:foreign_key_violations()[1]
  if not violation then return end
  local message = "undoing the migration `%s` leaves rows of %s that refer to missing rows of %s"
  errors.raise("constraint_foreign_key", message:format(name, violation.table, violation.referenced_table),
    { migration = name })
end

local function undo(handle, entry)
  handle:in_transaction("immediate", function(inner)
    if type(entry.down) == "string" then inner:execute(entry.down) else entry.down(inner) end
    inner:execute("DELETE FROM grdb_migrations WHERE identifier = ?", entry.name)
    if inner:table_exists("perilune_migration") then inner:execute("DELETE FROM perilune_migration WHERE identifier = ?", entry.name) end
    check_foreign_keys(inner, entry.name)
    return "commit"
  end)
end

--- Undoes a migration in a transaction.
local function undo_one(db, entry)
  db:write_without_transaction(function(handle)
    local is_enforced = entry.foreign_keys ~= "immediate" and handle:fetch_value("PRAGMA foreign_keys") == 1
    -- As in migrations, foreign keys are not enforced, so that tables can be rebuilt without deleting the rows that refer to them.
    if is_enforced then handle:execute("PRAGMA foreign_keys = OFF") end
    local is_done, err = pcall(undo, handle, entry)
    if is_enforced then handle:execute("PRAGMA foreign_keys = ON") end
    if is_done then return end
    if type(err) == "userdata" then errors.add_fields(err, { migration = entry.name }) end
    error(err, 0)
  end)
end

--- Undoes migrations, each in its own transaction. Raises before undoing anything if one of them has no `down`.
-- @tparam table list the migrator's entries
-- @tparam {string,...} names the migrations in the order in which they are undone
-- @tparam function did_undo called after each of them with its name
return function(db, list, names, did_undo)
  local entries = {}
  for index, name in ipairs(names) do entries[index] = undoing(list, name) end
  for _, entry in ipairs(entries) do
    undo_one(db, entry)
    did_undo(entry.name)
  end
end
