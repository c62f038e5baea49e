--- The runs of automations, recorded in a table of the database.

local perilune = require "perilune"

local runs = {}

runs.table_name = "perilune_automation_run"

local definition = [[
  CREATE TABLE IF NOT EXISTS perilune_automation_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    automation TEXT NOT NULL,
    trigger TEXT NOT NULL,
    started_at TEXT NOT NULL,
    duration_ms REAL NOT NULL,
    attempts INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'skipped', 'cancelled')),
    reason TEXT,
    error TEXT,
    statements TEXT
  )]]

local index = [[
  CREATE INDEX IF NOT EXISTS perilune_automation_run_automation ON perilune_automation_run(automation, id)]]

--- Makes the table, unless it exists: it may have been dropped or rolled back.
function runs.prepare(db)
  if db:table_exists(runs.table_name) then return end
  db:write(function(handle)
    handle:execute(definition)
    handle:execute(index)
  end)
end

local function to_json(value)
  local is_ok, text = pcall(perilune.json.encode, value)
  return is_ok and text or nil
end

--- Keeps a run, and forgets those of the automation that are too old.
-- @tparam table run automation, trigger, started_at, duration (seconds), attempts, outcome, reason, error, statements
-- @tparam integer keep how many are kept
function runs.add(db, run, keep)
  runs.prepare(db)
  db:write(function(handle)
    handle:execute([[
      INSERT INTO perilune_automation_run(automation, trigger, started_at, duration_ms, attempts, outcome, reason, error, statements)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)]], {
      run.automation, to_json(run.trigger) or '"?"', tostring(run.started_at), run.duration * 1000, run.attempts, run.outcome,
      run.reason or perilune.null, run.error and tostring(run.error) or perilune.null,
      run.statements and to_json(run.statements) or perilune.null })
    handle:execute([[
      DELETE FROM perilune_automation_run WHERE automation = ?1 AND id <= (
        SELECT id FROM perilune_automation_run WHERE automation = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)]],
      { run.automation, keep })
  end)
end

--- The last runs, newest first.
-- @tparam ?string automation of this one only
function runs.last(db, automation, count)
  if not db:table_exists(runs.table_name) then return {} end
  if automation == nil then
    return db:fetch_all("SELECT * FROM perilune_automation_run ORDER BY id DESC LIMIT ?", { count })
  end
  return db:fetch_all("SELECT * FROM perilune_automation_run WHERE automation = ? ORDER BY id DESC LIMIT ?", { automation, count })
end

--- The names of the automations that have run.
function runs.names(db)
  if not db:table_exists(runs.table_name) then return {} end
  local names = {}
  for index, row in ipairs(db:fetch_all("SELECT DISTINCT automation FROM perilune_automation_run ORDER BY automation")) do
    names[index] = row.automation
  end
  return names
end

return runs
