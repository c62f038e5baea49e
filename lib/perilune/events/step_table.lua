--- The other tables of durable runs: results of steps, and signals that no run has received.

local databases = require "perilune.native.databases"
local owners = require "perilune.native.owners"
local perilune = require "perilune"
local clock = require("perilune.events.durable_values").clock

local step_table = {}

local own = "/* perilune */ "
--- The name of this state as an owner.
local me = owners.current()

-- These conditions use `OR` because, for `IN`, SQLite would create a temporary table each time a row is written.
local definitions = {
  own .. [[
  CREATE TABLE IF NOT EXISTS perilune_step (
    run_id INTEGER NOT NULL,
    branch TEXT NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'step' OR kind = 'call' OR kind = 'sleep' OR kind = 'wait' OR kind = 'undo'),
    state TEXT NOT NULL CHECK (state = 'done' OR state = 'intended' OR state = 'waiting' OR state = 'failed'),
    value TEXT,
    error TEXT,
    error_kind TEXT,
    idempotency_key TEXT,
    attempts INTEGER NOT NULL DEFAULT 1,
    wakes_at TEXT,
    ended_at TEXT,
    PRIMARY KEY (run_id, branch, position)
  ) WITHOUT ROWID]],
  own .. [[
  CREATE TABLE IF NOT EXISTS perilune_signal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    automation TEXT NOT NULL,
    run_key TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    sent_at TEXT NOT NULL
  )]],
  own .. "CREATE INDEX IF NOT EXISTS perilune_signal_run ON perilune_signal(automation, run_key, name, id)",
}

--- Deletes the steps of a run together with the run.
local trigger = own .. [[
  CREATE TRIGGER IF NOT EXISTS perilune_step_deletion AFTER DELETE ON perilune_automation_run BEGIN
    DELETE FROM perilune_step WHERE run_id = old.id;
  END]]

function step_table.prepare(db)
  if db:table_exists("perilune_step") and db:table_exists("perilune_signal") and db:trigger_exists("perilune_step_deletion") then return end
  databases.guarded(db, function(handle)
    for _, sql in ipairs(definitions) do handle:execute(sql) end
    handle:execute(trigger)
  end)
end

--- Returns the recorded steps of a run, by branch and position.
function step_table.load(db, run_id)
  local branches = {}
  for _, row in ipairs(db:fetch_all(own .. "SELECT * FROM perilune_step WHERE run_id = ? ORDER BY branch, position", run_id)) do
    local steps = branches[row.branch] or {}
    branches[row.branch] = steps
    steps[row.position] = {
      name = row.name, kind = row.kind, state = row.state, value = row.value, error = row.error, error_kind = row.error_kind,
      idempotency_key = row.idempotency_key, attempts = row.attempts, wakes_at = row.wakes_at, ended_at = row.ended_at,
    }
  end
  return branches
end

local put = own .. [[
  INSERT OR REPLACE INTO perilune_step(
    run_id, branch, position, name, kind, state, value, error, error_kind, idempotency_key, attempts, wakes_at, ended_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
  WHERE EXISTS (SELECT 1 FROM perilune_automation_run WHERE id = ?1 AND owner = ?14)]]

--- Records a step, in the open transaction.
-- @tparam table step name, kind, state, value, error, error_kind, idempotency_key, attempts, wakes_at
-- @treturn boolean whether this state still owns the run
function step_table.put(handle, run_id, branch, position, step)
  step.ended_at = tostring(clock())
  local null = perilune.null
  return handle:execute(put, run_id, branch, position, step.name, step.kind, step.state, step.value or null, step.error or null,
    step.error_kind or null, step.idempotency_key or null, step.attempts or 1, step.wakes_at or null, step.ended_at,
    me).changed_rows > 0
end

function step_table.delete(handle, run_id, branch, position)
  handle:execute(own .. "DELETE FROM perilune_step WHERE run_id = ? AND branch = ? AND position = ?", run_id, branch, position)
end

function step_table.delete_all(handle, run_id)
  handle:execute(own .. "DELETE FROM perilune_step WHERE run_id = ?", run_id)
end

--- Resets the number of interruptions. It limits the runs that end their process each time, and a run that completes a step is not one of
-- them.
function step_table.forget_interruptions(handle, run_id)
  handle:execute(own .. "UPDATE perilune_automation_run SET interruptions = 0 WHERE id = ?", run_id)
end

-- Signals ---------------------------------------------------------------------------------------------------------------------

--- Removes and returns the first signal with a name for a run, in the open transaction.
-- @treturn ?row
function step_table.take_signal(handle, automation, run_key, name)
  local row = handle:fetch_one(own .. [[
    SELECT id, value FROM perilune_signal WHERE automation = ? AND run_key = ? AND name = ? ORDER BY id LIMIT 1]], automation, run_key, name)
  if row then handle:execute(own .. "DELETE FROM perilune_signal WHERE id = ?", row.id) end
  return row
end

--- Returns whether there is a signal for the run with a key.
function step_table.has_signal(handle, automation, run_key)
  return handle:fetch_value(own .. "SELECT 1 FROM perilune_signal WHERE automation = ? AND run_key = ? LIMIT 1", automation, run_key) ~= nil
end

--- Adds a signal, and wakes the run that is waiting for it, in the open transaction.
-- @treturn boolean whether a run was waiting for a signal
function step_table.send_signal(handle, automation, run_key, name, value)
  local now = tostring(clock())
  handle:execute(own .. "INSERT INTO perilune_signal(automation, run_key, name, value, sent_at) VALUES (?, ?, ?, ?, ?)",
    automation, run_key, name, value or perilune.null, now)
  handle:execute(own .. "DELETE FROM perilune_signal WHERE sent_at < ?", tostring(clock() - 90 * 86400))
  return handle:execute(own .. [[
    UPDATE perilune_automation_run SET wakes_at = ? WHERE automation = ? AND run_key = ? AND outcome = 'waiting' AND waits_for IS NOT NULL]],
    now, automation, run_key).changed_rows > 0
end

return step_table
