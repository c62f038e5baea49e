--- Undoing a migration: what its `down` does, in a transaction, and that the database has not seen it.

local internal = ...

local function find(list, name)
  for _, entry in ipairs(list) do
    if entry.name == name then return entry end
  end
end

--- What undoes a migration, as a function; or raises.
local function undoing(list, name)
  local entry = find(list, name)
  if not entry then
    internal.raise("migration", ("m:migrate_down: the last migration of the database, `%s`, is not one of this migrator")
      :format(name), { migration = name })
  elseif entry.down == nil then
    internal.raise("migration", ("m:migrate_down: the migration `%s` does not say how it is undone (`down`)"):format(name),
      { migration = name })
  end
  if type(entry.down) == "string" then return function(db) db:execute(entry.down) end, entry end
  return entry.down, entry
end

--- Raises for rows that refer to rows which are not there.
local function check_foreign_keys(db, name)
  local violation = db:foreign_key_violations()[1]
  if not violation then return end
  local message = "undoing the migration `%s` leaves rows of %s that refer to rows of %s which are not there"
  internal.raise("constraint_foreign_key", message:format(name, violation.table, violation.referenced_table), { migration = name })
end

local function undo(db, name, down)
  db:in_transaction("immediate", function(handle)
    down(handle)
    handle:execute("DELETE FROM grdb_migrations WHERE identifier = ?", name)
    check_foreign_keys(handle, name)
    return "commit"
  end)
end

--- Undoes a migration.
-- @tparam table list those that the migrator knows
-- @tparam ?string name the migration; nil for none
-- @return the name
return function(db, list, name)
  if not name then return nil end
  local down, entry = undoing(list, name)
  db:write_without_transaction(function(handle)
    local is_enforced = entry.foreign_keys ~= "immediate" and handle:fetch_value("PRAGMA foreign_keys") == 1
    -- As with migrations: tables are made anew without their rows being deleted with those they refer to.
    if is_enforced then handle:execute("PRAGMA foreign_keys = OFF") end
    local is_done, err = pcall(undo, handle, name, down)
    if is_enforced then handle:execute("PRAGMA foreign_keys = ON") end
    if not is_done then
      if type(err) == "userdata" then internal.add_error_fields(err, { migration = name }) end
      error(err, 0)
    end
  end)
  return name
end
