--- The runs of automations, which are rows of a database table. A run is recorded before its function starts.

local crashes = require "perilune.native.crashes"
local owner_leases = require "perilune.events.owner_leases"
local owners = require "perilune.native.owners"
local perilune = require "perilune"
local clock = require("perilune.events.durable_values").clock

local runs = {}

runs.table_name = "perilune_automation_run"

--- A prefix for Perilune's own statements, which journals and traces omit.
local own = "/* perilune */ "

local columns = [[
  id, automation, trigger, started_at, duration_ms, attempts, outcome, reason, error, statements]]

local definition = own .. [[
  CREATE TABLE perilune_automation_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    automation TEXT NOT NULL,
    trigger TEXT NOT NULL,
    started_at TEXT NOT NULL,
    duration_ms REAL,
    attempts INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome = 'queued' OR outcome = 'running' OR outcome = 'waiting' OR outcome = 'succeeded'
      OR outcome = 'failed' OR outcome = 'skipped' OR outcome = 'cancelled' OR outcome = 'interrupted' OR outcome = 'diverged'),
    reason TEXT,
    error TEXT,
    traceback TEXT,
    output TEXT,
    statements TEXT,
    owner TEXT,
    wakes_at TEXT,
    interruptions INTEGER NOT NULL DEFAULT 0,
    run_key TEXT,
    waits_for TEXT,
    code TEXT
  )]]

--- This condition uses `OR` because, for `IN`, SQLite would create a temporary table each time a row is written.
local is_live = "(outcome = 'queued' OR outcome = 'running' OR outcome = 'waiting')"
runs.is_live = is_live

local indexes = {
  own .. "CREATE INDEX IF NOT EXISTS perilune_automation_run_automation ON perilune_automation_run(automation, id)",
  own .. [[CREATE INDEX IF NOT EXISTS perilune_automation_run_live ON perilune_automation_run(automation, wakes_at, id)
    WHERE ]] .. is_live,
  own .. "CREATE INDEX IF NOT EXISTS perilune_automation_run_owned ON perilune_automation_run(automation, id) WHERE owner IS NOT NULL",
}

--- Copies runs from a table of an earlier version. The table is not renamed, because views may refer to it.
local function migrate(handle)
  handle:execute(own .. "CREATE TABLE perilune_automation_run_former AS SELECT * FROM perilune_automation_run")
  handle:execute(own .. "DROP TABLE perilune_automation_run")
  handle:execute(definition)
  handle:execute(own .. ("INSERT INTO perilune_automation_run(%s) SELECT %s FROM perilune_automation_run_former"):format(columns, columns))
  handle:execute(own .. "DROP TABLE perilune_automation_run_former")
end

--- Creates or updates the table. It may have been dropped, or its creation rolled back.
function runs.prepare(db)
  local sql = db:fetch_value(own .. "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'perilune_automation_run'")
  if sql and sql:find("waits_for", 1, true) and not sql:find(" IN (", 1, true) then return end
  db:write(function(handle)
    if sql then migrate(handle) else handle:execute(definition) end
    for _, index in ipairs(indexes) do handle:execute(index) end
  end)
end

local function to_json(value)
  local is_ok, text = pcall(perilune.json.encode, value)
  return is_ok and text or nil
end

--- Returns the table row for a run that has ended.
-- @tparam table details the details of its end; some are missing for a suspended run
function runs.row(automation, trigger, details)
  local function text(value) return value ~= nil and value ~= "" and tostring(value) or nil end
  return {
    id = details.id, automation = automation.name, started_at = tostring(details.started_at or perilune.now()), duration_ms = details.duration * 1000,
    attempts = details.attempts, outcome = details.outcome, reason = text(details.reason), error = text(details.error),
    traceback = text(details.traceback), output = text(details.output), wakes_at = text(details.wakes_at), interruptions = 0,
    trigger = to_json(trigger) or '"?"', statements = details.statements and to_json(details.statements),
  }
end

local function text_of(value)
  return value ~= nil and value ~= "" and tostring(value) or perilune.null
end

--- Records a queued run in the transaction that consumes its trigger.
-- @tparam function consume receives the handle of the transaction
-- @treturn integer the run's id
function runs.queue(db, run, consume)
  runs.prepare(db)
  return db:write(function(handle)
    local result = handle:execute(own .. [[
      INSERT INTO perilune_automation_run(automation, trigger, started_at, attempts, outcome, owner) VALUES (?, ?, ?, 0, 'queued', ?)]],
      { run.automation, to_json(run.trigger) or '"?"', tostring(run.started_at), owners.current() })
    consume(handle)
    return result.inserted_rowid
  end)
end

--- Releases runs that have not started, so that the next process that defines their automation starts them.
function runs.release(db, ids)
  db:write(function(handle)
    for _, id in ipairs(ids) do handle:execute(own .. "UPDATE perilune_automation_run SET owner = NULL WHERE id = ?", id) end
  end)
end

--- Records the start of an attempt.
-- @tparam table run automation, trigger, started_at, attempts; id if it is recorded already
-- @treturn integer the run's id
function runs.begin(db, run)
  runs.prepare(db)
  return db:write(function(handle)
    crashes.label("start of", run.automation)
    if run.id then
      local result = handle:execute(own .. [[
        UPDATE perilune_automation_run SET outcome = 'running', attempts = ?, owner = ?, wakes_at = NULL, reason = NULL WHERE id = ?]],
        { run.attempts, owners.current(), run.id })
      if result.changed_rows == 1 then return run.id end
    end
    return handle:execute(own .. [[
      INSERT INTO perilune_automation_run(automation, trigger, started_at, attempts, outcome, owner) VALUES (?, ?, ?, ?, 'running', ?)]],
      { run.automation, to_json(run.trigger) or '"?"', tostring(run.started_at), run.attempts, owners.current() }).inserted_rowid
  end)
end

--- Records that a run is waiting for its next attempt, with the error of the last one.
-- @tparam table run id, error, traceback, wakes_at
function runs.wait(db, run)
  db:write(function(handle)
    handle:execute(own .. [[
      UPDATE perilune_automation_run SET outcome = 'waiting', wakes_at = ?, error = ?, traceback = ?, reason = ?, owner = ? WHERE id = ?]],
      { tostring(run.wakes_at), text_of(run.error), text_of(run.traceback), text_of(run.reason), owners.current(), run.id })
  end)
end

--- Deletes the oldest finished runs of an automation. Skipped runs are counted separately from others.
local function prune(handle, automation, keep, is_skipped)
  local condition = is_skipped and "outcome = 'skipped'" or "outcome <> 'skipped' AND NOT " .. is_live
  handle:execute(own .. ([[
    DELETE FROM perilune_automation_run WHERE automation = ?1 AND %s AND id <= (
      SELECT id FROM perilune_automation_run WHERE automation = ?1 AND %s ORDER BY id DESC LIMIT 1 OFFSET ?2)]]):format(condition, condition),
    { automation, keep })
end

local function values_of(run)
  return {
    run.automation, to_json(run.trigger) or '"?"', tostring(run.started_at), run.duration * 1000, run.attempts, run.outcome,
    text_of(run.reason), text_of(run.error), text_of(run.traceback), text_of(run.output),
    run.statements and to_json(run.statements) or perilune.null, run.id or perilune.null, text_of(run.wakes_at),
  }
end

--- Records the end of a run, and deletes the oldest runs of the automation.
-- @tparam table run automation, trigger, started_at, duration (seconds), attempts, outcome, reason, error, traceback, output,
--   statements; id if it was recorded before, otherwise this sets it
-- @tparam integer keep the number of runs to keep; as many skipped runs are kept in addition
function runs.add(db, run, keep)
  runs.prepare(db)
  local new_id
  db:write(function(handle)
    crashes.label("end of", run.automation)
    local values = values_of(run)
    local result = handle:execute(own .. [[
      UPDATE perilune_automation_run SET automation = ?1, trigger = ?2, started_at = ?3, duration_ms = ?4, attempts = ?5, outcome = ?6,
        reason = ?7, error = ?8, traceback = ?9, output = ?10, statements = ?11, owner = NULL, wakes_at = ?13
      WHERE id = ?12]], values)
    if result.changed_rows == 0 then
      result = handle:execute(own .. [[
        INSERT INTO perilune_automation_run(
          automation, trigger, started_at, duration_ms, attempts, outcome, reason, error, traceback, output, statements, id, wakes_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)]], values)
      new_id = result.inserted_rowid
    end
    prune(handle, run.automation, keep, run.outcome == "skipped")
  end)
  -- Only after the commit: if it fails, the run is recorded again, and another run may have the number by then.
  run.id = run.id or new_id
end

-- Orphaned runs ---------------------------------------------------------------------------------------------------------------

local live_runs = own .. "SELECT * FROM perilune_automation_run WHERE automation = ? AND " .. is_live .. " ORDER BY id"
local owned_runs = live_runs:gsub("ORDER BY", "AND owner IS NOT NULL %0")

--- Returns the runs of an automation that are recorded as active but have no live owner: it is dead or has released them.
-- @tparam boolean is_durable whether to ignore runs without an owner, which are in the queue of a durable automation
function runs.orphans(db, automation, is_durable)
  if not db:table_exists(runs.table_name) then return {} end
  runs.prepare(db)
  local list = {}
  local live = db:fetch_all(is_durable and owned_runs or live_runs, automation)
  for _, row in ipairs(live) do
    if row.owner == nil or owner_leases.is_dead(db, row.owner) then list[#list + 1] = row end
  end
  return list
end

--- The maximum number of interruptions without a completed step in between. After more of them, a run is not continued.
runs.most_interruptions = 20

function runs.interruption_reason(count) return ("its process ended; it has been interrupted %d times"):format(count) end

--- Takes over a run, unless another process has already done so.
-- @treturn boolean whether this state is now its owner
function runs.take(db, row)
  return db:write(function(handle)
    local result = handle:execute(own .. [[
      UPDATE perilune_automation_run SET owner = ?, outcome = 'waiting', interruptions = interruptions + (outcome = 'running' AND owner IS NOT NULL)
      WHERE id = ? AND owner IS ? AND ]] .. is_live, { owners.current(), row.id, row.owner or perilune.null })
    return result.changed_rows == 1
  end)
end

-- Durable runs ----------------------------------------------------------------------------------------------------------------

--- Adds a run in the open transaction. Any process with its automation may start it.
-- @tparam table run automation, trigger, run_key
function runs.add_queued(handle, run)
  crashes.label("trigger of", run.automation)
  return handle:execute(own .. [[
    INSERT INTO perilune_automation_run(automation, trigger, started_at, attempts, outcome, run_key) VALUES (?, ?, ?, 0, 'queued', ?)]],
    run.automation, to_json(run.trigger) or '"?"', tostring(clock()), run.run_key or perilune.null).inserted_rowid
end

local claimable = own .. [[
  SELECT id FROM perilune_automation_run WHERE automation = ?1 AND owner IS NULL
    AND (outcome = 'queued' OR outcome = 'waiting' AND wakes_at <= ?2) AND ]] .. is_live .. " ORDER BY wakes_at, id LIMIT 1"

local first_live = own .. "SELECT id FROM perilune_automation_run WHERE automation = ? AND " .. is_live .. " ORDER BY id LIMIT 1"

--- Returns the id of the next run that is due.
-- @tparam boolean is_in_order whether a run starts only after the previous run has ended
local function next_claimable(handle, automation, is_in_order, now)
  local id = handle:fetch_value(claimable, automation, now)
  if not id or not is_in_order then return id end
  local first = handle:fetch_value(first_live, automation)
  local is_due = first == id or handle:fetch_value(own .. [[
    SELECT 1 FROM perilune_automation_run WHERE id = ?1 AND owner IS NULL AND (outcome = 'queued' OR wakes_at <= ?2)]], first, now)
  return is_due and first or nil
end

--- Claims the next run that is due.
-- @tparam boolean is_in_order whether a run starts only after the previous run has ended
-- @treturn ?row
function runs.claim(db, automation, is_in_order)
  local now = tostring(clock())
  if not db:fetch_value(claimable, automation, now) then return nil end
  return db:write(function(handle)
    crashes.label("start of", automation)
    local id = next_claimable(handle, automation, is_in_order, now)
    return id and runs.take_queued(handle, id) or nil
  end)
end

--- Returns whether a run of an automation is due, or is owned by a process that may end before the run does.
function runs.has_work(db, automation, is_in_order)
  return next_claimable(db, automation, is_in_order, tostring(clock())) ~= nil or db:fetch_value(own .. [[
    SELECT 1 FROM perilune_automation_run WHERE automation = ? AND owner IS NOT NULL AND ]] .. is_live .. " LIMIT 1", automation) == 1
end

--- Makes this state the owner of a run, in the open transaction.
-- @treturn row
function runs.take_queued(handle, id)
  handle:execute(own .. [[
    UPDATE perilune_automation_run SET outcome = 'running', owner = ?, attempts = attempts + 1, wakes_at = NULL, waits_for = NULL WHERE id = ?]],
    owners.current(), id)
  return handle:fetch_one(own .. "SELECT * FROM perilune_automation_run WHERE id = ?", id)
end

--- Returns the next time at which a waiting run continues.
function runs.next_wake(db, automation)
  return db:fetch_value(own .. [[
    SELECT min(wakes_at) FROM perilune_automation_run
    WHERE automation = ? AND outcome = 'waiting' AND wakes_at < '9999' AND ]] .. is_live, automation)
end

--- Records, in the open transaction, that a run is waiting and not in memory. The current attempt is not counted.
-- @tparam table wait wakes_at, waits_for (the name of a signal), error (of a call that will be repeated)
function runs.suspend(handle, id, wait)
  handle:execute(own .. [[
    UPDATE perilune_automation_run SET outcome = 'waiting', owner = NULL, wakes_at = ?, waits_for = ?, attempts = attempts - 1, error = ?,
      traceback = NULL
    WHERE id = ?]], wait.wakes_at, text_of(wait.waits_for), text_of(wait.error), id)
end

--- Records the key of a run and the code of its function.
function runs.set_details(handle, id, run_key, code)
  handle:execute(own .. "UPDATE perilune_automation_run SET run_key = ?, code = ? WHERE id = ?", run_key, code or perilune.null, id)
end

--- Releases a run in the open transaction, because its process has ended or its attempt will be repeated.
-- @tparam table run id, wakes_at, error, traceback, reason; `is_failure`: whether the attempt counts as failed
function runs.give_back(handle, run)
  handle:execute(own .. [[
    UPDATE perilune_automation_run SET outcome = 'waiting', owner = NULL, wakes_at = ?, error = ?, traceback = ?, reason = ?,
      attempts = attempts - ? WHERE id = ?]],
    tostring(run.wakes_at), text_of(run.error), text_of(run.traceback), text_of(run.reason), run.is_failure and 0 or 1, run.id)
end

-- Reading ---------------------------------------------------------------------------------------------------------------------

--- Returns the last runs, newest first.
-- @tparam ?string automation the name of an automation; nil for all of them
function runs.last(db, automation, count)
  if not db:table_exists(runs.table_name) then return {} end
  if automation == nil then
    return db:fetch_all(own .. "SELECT * FROM perilune_automation_run ORDER BY id DESC LIMIT ?", { count })
  end
  return db:fetch_all(
    own .. "SELECT * FROM perilune_automation_run WHERE automation = ? ORDER BY id DESC LIMIT ?", { automation, count })
end

--- Returns the last run of an automation that was not skipped.
function runs.last_unskipped(db, automation)
  if not db:table_exists(runs.table_name) then return nil end
  return db:fetch_one(own .. [[
    SELECT * FROM perilune_automation_run WHERE automation = ? AND outcome <> 'skipped' ORDER BY id DESC LIMIT 1]], automation)
end

--- Returns the names of the automations that have run.
function runs.names(db)
  if not db:table_exists(runs.table_name) then return {} end
  local names = {}
  for index, row in ipairs(db:fetch_all(own .. "SELECT DISTINCT automation FROM perilune_automation_run ORDER BY automation")) do
    names[index] = row.automation
  end
  return names
end

return runs
