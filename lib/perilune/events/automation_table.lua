--- The table of automations: the process that runs each automation, and the due times, which remain after that process has ended.

local crashes = require "perilune.native.crashes"
local owner_leases = require "perilune.events.owner_leases"
local owners = require "perilune.native.owners"
local perilune = require "perilune"

local automation_table = {}

automation_table.table_name = "perilune_schedule"

local own = "/* perilune */ "

local definition = own .. [[
  CREATE TABLE IF NOT EXISTS perilune_schedule (
    automation TEXT NOT NULL PRIMARY KEY,
    file TEXT,
    trigger TEXT NOT NULL,
    is_enabled INTEGER NOT NULL,
    is_durable INTEGER NOT NULL DEFAULT 0,
    last_due_at TEXT,
    next_due_at TEXT,
    owner TEXT,
    started_at TEXT NOT NULL
  )]]

function automation_table.prepare(db)
  if not db:table_exists(automation_table.table_name) then db:write(function(handle) handle:execute(definition) end) end
end

local one = own .. "SELECT * FROM perilune_schedule WHERE automation = ?"

--- Records that this state runs an automation, unless a living process is recorded already. That process keeps its row, so that a script
-- that runs the automations for a moment leaves no trace of itself.
-- @treturn ?row the previous record
-- @treturn boolean whether another process keeps the row
function automation_table.register(db, automation)
  automation_table.prepare(db)
  return db:write(function(handle)
    crashes.label("registration of", automation.name)
    local former = handle:fetch_one(one, automation.name)
    if former and owner_leases.is_other(handle, former.owner) then
      return former.trigger == automation.trigger_text and former or nil, true
    end
    handle:execute(own .. [[
      INSERT INTO perilune_schedule(automation, file, trigger, is_enabled, is_durable, owner, started_at) VALUES (?1, ?2, ?3, 1, ?6, ?4, ?5)
      ON CONFLICT(automation) DO UPDATE SET file = ?2, is_enabled = 1, is_durable = ?6, owner = ?4, started_at = ?5,
        last_due_at = CASE WHEN trigger = ?3 THEN last_due_at END, next_due_at = CASE WHEN trigger = ?3 THEN next_due_at END, trigger = ?3]],
      { automation.name, automation.file or perilune.null, automation.trigger_text, owners.current(), tostring(perilune.now()),
        automation.durable and 1 or 0 })
    return former, false
  end)
end

--- Returns the process that is recorded for an automation, if it is another one and alive.
-- @treturn ?string owner
function automation_table.other_owner(db, name)
  if not db:table_exists(automation_table.table_name) then return nil end
  local owner = db:fetch_value(own .. "SELECT owner FROM perilune_schedule WHERE automation = ?", name)
  return owner_leases.is_other(db, owner) and owner or nil
end

--- Records the due times of an automation, in the open transaction.
-- @tparam ?date last the current due time
-- @tparam ?date next
function automation_table.set_due(handle, name, last, next)
  handle:execute(own .. "UPDATE perilune_schedule SET last_due_at = ifnull(?, last_due_at), next_due_at = ? WHERE automation = ?",
    { last and tostring(last) or perilune.null, next and tostring(next) or perilune.null, name })
end

--- Records that an automation is no longer triggered, unless another process triggers it.
function automation_table.disable(db, name)
  if not db:table_exists(automation_table.table_name) then return end
  local row = db:fetch_one(one, name)
  if not row or row.is_enabled == 0 or owner_leases.is_other(db, row.owner) then return end
  db:write(function(handle)
    handle:execute(own .. "UPDATE perilune_schedule SET is_enabled = 0, next_due_at = NULL WHERE automation = ? AND owner IS ?",
      name, row.owner or perilune.null)
  end)
end

function automation_table.release(db)
  if not db:table_exists(automation_table.table_name) then return end
  db:write(function(handle) handle:execute(own .. "UPDATE perilune_schedule SET owner = NULL WHERE owner = ?", owners.current()) end)
end

--- Deletes the row of an automation.
function automation_table.remove(db, name)
  if not db:table_exists(automation_table.table_name) then return end
  db:write(function(handle) handle:execute(own .. "DELETE FROM perilune_schedule WHERE automation = ?", name) end)
end

function automation_table.keep_only(db, file, names)
  if not db:table_exists(automation_table.table_name) then return end
  db:write(function(handle)
    for _, row in ipairs(handle:fetch_all(own .. "SELECT * FROM perilune_schedule WHERE file = ?", file)) do
      if not names[row.automation] and not owner_leases.is_other(handle, row.owner) then
        handle:execute(own .. "DELETE FROM perilune_schedule WHERE automation = ?", row.automation)
        require("perilune.events.change_log").remove(handle, row.automation)
      end
    end
  end)
end

--- Returns the rows of the enabled automations, of any process, whose trigger is this event.
function automation_table.waiting_for_event(db, name)
  if not db:table_exists(automation_table.table_name) then return {} end
  return db:fetch_all(own .. "SELECT * FROM perilune_schedule WHERE is_enabled = 1 AND trigger = ? ORDER BY automation", "event " .. name)
end

--- Returns all rows of the table, ordered by name.
function automation_table.all(db)
  if not db:table_exists(automation_table.table_name) then return {} end
  return db:fetch_all(own .. "SELECT * FROM perilune_schedule ORDER BY automation")
end

return automation_table
