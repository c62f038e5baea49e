--- The table of jobs, and its SQL statements. A job is `ready`, `delayed` until a time, `blocked` by an earlier job with the same order
-- key, or `running`; a finished job is `done`, `dead` or `cancelled`. With these states, a job is claimed by a single index lookup,
-- regardless of the number of waiting and finished jobs.

local crashes = require "perilune.native.crashes"
local owner_leases = require "perilune.events.owner_leases"
local owners = require "perilune.native.owners"
local perilune = require "perilune"

local job_table = { name = "perilune_job" }

local own = "/* perilune */ "
--- The name of this state as an owner.
local me = owners.current()

-- Conditions that are checked whenever a row is written contain no `IN` with more than two values, for which SQLite would create a
-- temporary table each time.
local definitions = {
  own .. [[
  CREATE TABLE IF NOT EXISTS perilune_job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'ready' OR state = 'running' OR state = 'done' OR state = 'delayed' OR state = 'blocked'
      OR state = 'dead' OR state = 'cancelled'),
    priority INTEGER NOT NULL DEFAULT 0,
    job_key TEXT,
    order_key TEXT,
    payload TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    run_at TEXT,
    enqueued_at TEXT NOT NULL,
    started_at TEXT,
    ended_at TEXT,
    owner TEXT,
    error TEXT,
    traceback TEXT,
    unique_for REAL
  )]],
  own .. [[
  CREATE TABLE IF NOT EXISTS perilune_job_queue (
    queue TEXT NOT NULL PRIMARY KEY,
    owner TEXT,
    is_paused INTEGER NOT NULL DEFAULT 0,
    tokens REAL,
    refilled_at TEXT
  )]],
  own .. "CREATE INDEX IF NOT EXISTS perilune_job_ready ON perilune_job(queue, priority DESC, id) WHERE state = 'ready'",
  own .. "CREATE INDEX IF NOT EXISTS perilune_job_delayed ON perilune_job(queue, run_at) WHERE state = 'delayed'",
  own .. "CREATE INDEX IF NOT EXISTS perilune_job_running ON perilune_job(queue, owner) WHERE state = 'running'",
  own .. "CREATE INDEX IF NOT EXISTS perilune_job_finished ON perilune_job(queue, ended_at) WHERE ended_at IS NOT NULL",
  own .. [[CREATE UNIQUE INDEX IF NOT EXISTS perilune_job_key ON perilune_job(queue, job_key)
    WHERE job_key IS NOT NULL AND ended_at IS NULL]],
  own .. [[CREATE INDEX IF NOT EXISTS perilune_job_order ON perilune_job(queue, order_key, id)
    WHERE order_key IS NOT NULL AND ended_at IS NULL]],
}

--- The index for `unique_for`. It is created at the first use, because it makes the end of each job with a key slower.
local done_key = own .. [[
  CREATE INDEX IF NOT EXISTS perilune_job_done_key ON perilune_job(queue, job_key, ended_at)
    WHERE job_key IS NOT NULL AND state = 'done']]

--- A job that is ready, delayed, blocked or running.
local live = "ended_at IS NULL"

--- Creates the tables unless they exist.
function job_table.prepare(db)
  if db:table_exists("perilune_job") and db:table_exists("perilune_job_queue") then return end
  require("perilune.native.databases").guarded(db, function(handle)
    for _, sql in ipairs(definitions) do handle:execute(sql) end
  end)
end

local function has_unique_for(db)
  local sql = db:fetch_value(own .. "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'perilune_job'")
  return sql:find("unique_for", 1, true) ~= nil
end

--- Creates the index for `unique_for`, and the column in tables of earlier versions.
local function prepare_unique_for(db)
  require("perilune.native.databases").guarded(db, function(handle)
    if not has_unique_for(handle) then handle:execute(own .. "ALTER TABLE perilune_job ADD COLUMN unique_for REAL") end
    handle:execute(done_key)
  end)
end

local function now_text()
  return tostring(perilune.now())
end

-- Adding ----------------------------------------------------------------------------------------------------------------------

local plain_insert = own .. "INSERT INTO perilune_job(queue, state, priority, payload, enqueued_at) VALUES (?, 'ready', ?, ?, ?)"

--- Returns the statements that add a job, by the value of `on_key`.
-- @tparam string column the name of another column, with a comma
-- @tparam string parameter its parameter, with a comma
-- @tparam string assignment its assignment in an upsert, with a comma
local function inserts(column, parameter, assignment)
  local insert = own .. [[
  INSERT INTO perilune_job(queue, state, priority, job_key, order_key, payload, run_at, enqueued_at]] .. column .. [[) VALUES (?1,
    CASE WHEN ?4 IS NOT NULL AND EXISTS (SELECT 1 FROM perilune_job WHERE queue = ?1 AND order_key = ?4 AND ]] .. live .. [[) THEN 'blocked'
      WHEN ?6 IS NOT NULL THEN 'delayed' ELSE 'ready' END,
    ?2, ?3, ?4, ?5, ?6, ?7]] .. parameter .. [[)
  ON CONFLICT (queue, job_key) WHERE job_key IS NOT NULL AND ]] .. live .. " "
  return {
    ignore = insert .. "DO NOTHING",
    raise = insert .. "DO NOTHING",
    replace = insert .. [[
    DO UPDATE SET payload = excluded.payload, priority = excluded.priority, enqueued_at = excluded.enqueued_at, attempts = 0,
      run_at = excluded.run_at]] .. assignment .. [[, state = CASE WHEN state = 'blocked' THEN 'blocked' WHEN excluded.run_at IS NULL
        THEN 'ready' ELSE 'delayed' END
    WHERE state <> 'running' AND order_key IS excluded.order_key]],
  }
end

local keyed_inserts, unique_inserts = inserts("", "", ""), inserts(", unique_for", ", ?8", ", unique_for = excluded.unique_for")

--- Adds a job, in the open transaction if there is one.
-- @return the result of `db:execute`
function job_table.insert(db, queue, payload, options)
  local null = perilune.null
  if not options.key and not options.order_by and not options.run_at then
    return db:execute(plain_insert, queue, options.priority, payload, now_text())
  end
  local key, order_key, run_at = options.key or null, options.order_by or null, options.run_at and tostring(options.run_at) or null
  if not options.unique_for then
    return db:execute(keyed_inserts[options.on_key], queue, options.priority, key, order_key, payload, run_at, now_text())
  end
  return db:execute(unique_inserts[options.on_key], queue, options.priority, key, order_key, payload, run_at, now_text(), options.unique_for)
end

--- Returns the unfinished job with a key, or nil.
function job_table.find_live(db, queue, key)
  return db:fetch_one(own .. "SELECT * FROM perilune_job WHERE queue = ? AND job_key = ? AND " .. live, queue, key)
end

local done = "WHERE queue = ? AND state = 'done' AND ended_at >= ? AND job_key = ? LIMIT 1"
local find_done = own .. "SELECT id, unique_for FROM perilune_job INDEXED BY perilune_job_done_key " .. done
local find_done_without_index = own .. "SELECT id, unique_for FROM perilune_job " .. done

local done_key_exists = own .. "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'perilune_job_done_key'"

--- Returns the id and `unique_for` of a job with a key that was completed after a time, or nil.
function job_table.find_done(db, queue, key, since)
  local is_ok, result = pcall(db.fetch_one, db, find_done, queue, tostring(since), key)
  if is_ok then return result end
  -- This is checked only now, so that other calls do not pay for it.
  if db:fetch_value(done_key_exists) then error(result, 0) end
  -- A plan cannot contain an index.
  if perilune.context == "preview" and has_unique_for(db) then return db:fetch_one(find_done_without_index, queue, tostring(since), key) end
  prepare_unique_for(db)
  return db:fetch_one(find_done, queue, tostring(since), key)
end

--- Keeps a job with a key for at least this number of seconds after its completion.
-- @tparam row job with `id` and `unique_for`
function job_table.extend(db, job, unique_for)
  if job.unique_for and job.unique_for >= unique_for then return end
  db:execute(own .. "UPDATE perilune_job SET unique_for = max(ifnull(unique_for, 0), ?) WHERE id = ?", unique_for, job.id)
end

-- Claiming --------------------------------------------------------------------------------------------------------------------

--- Returns how many jobs the rate limit of a queue allows to start now, and removes as many tokens.
-- @tparam table rate count, seconds
local function take_tokens(handle, queue, rate, wanted)
  local row = handle:fetch_one(own .. "SELECT tokens, refilled_at FROM perilune_job_queue WHERE queue = ?", queue)
  local now = perilune.now()
  local tokens = rate.count
  if row and row.tokens then
    local elapsed = math.max(0, now - perilune.date(row.refilled_at))
    tokens = math.min(rate.count, row.tokens + elapsed * rate.count / rate.seconds)
  end
  -- The addition prevents rounding errors.
  local taken = math.min(wanted, math.floor(tokens + 1e-6))
  if taken > 0 or not row then
    handle:execute(own .. [[
      INSERT INTO perilune_job_queue(queue, tokens, refilled_at) VALUES (?1, ?2, ?3)
      ON CONFLICT(queue) DO UPDATE SET tokens = ?2, refilled_at = ?3]], queue, tokens - taken, tostring(now))
  end
  return taken, taken < wanted and (1 - (tokens - taken)) * rate.seconds / rate.count or nil
end

local promote = own .. "UPDATE perilune_job SET state = 'ready' WHERE queue = ? AND state = 'delayed' AND run_at <= ?"

local claim = own .. [[
  UPDATE perilune_job SET state = 'running', owner = ?, started_at = ?, attempts = attempts + 1
  WHERE id IN (SELECT id FROM perilune_job WHERE queue = ? AND state = 'ready' ORDER BY priority DESC, id LIMIT ?)
  RETURNING id, job_key, order_key, payload, attempts, priority, enqueued_at]]

local function comes_before(a, b)
  if a.priority ~= b.priority then return a.priority > b.priority end
  return a.id < b.id
end

local work = own .. [[
  SELECT EXISTS (SELECT 1 FROM perilune_job WHERE queue = ?1 AND state = 'ready')
    OR EXISTS (SELECT 1 FROM perilune_job WHERE queue = ?1 AND state = 'delayed' AND run_at <= ?2)]]

--- Returns whether a queue may have a job to claim. An idle queue performs only this check, which writes nothing.
function job_table.has_work(db, queue)
  return db:fetch_value(work, queue, now_text()) == 1
end

--- Claims jobs in the open transaction.
-- @tparam table queue name, concurrency, rate
-- @treturn {row,...} the jobs in the order in which they became due
-- @treturn ?number the number of seconds until the rate limit allows another job
function job_table.claim(handle, queue, count)
  local now = now_text()
  handle:execute(promote, queue.name, now)
  if job_table.is_paused(handle, queue.name) then return {} end
  local running = handle:fetch_value(own .. "SELECT count(*) FROM perilune_job WHERE queue = ? AND state = 'running'", queue.name)
  local wanted = math.min(count, queue.concurrency - running)
  if wanted <= 0 then return {} end
  local pause
  if queue.rate then
    local ready = #handle:fetch_values(own .. "SELECT 1 FROM perilune_job WHERE queue = ? AND state = 'ready' LIMIT ?", queue.name, wanted)
    if ready == 0 then return {} end
    wanted, pause = take_tokens(handle, queue.name, queue.rate, ready)
    if wanted == 0 then return {}, pause end
  end
  local jobs = handle:fetch_all(claim, me, now, queue.name, wanted)
  if #jobs > 1 then table.sort(jobs, comes_before) end
  return jobs, pause
end

--- Returns whether a queue is paused.
function job_table.is_paused(db, queue)
  return db:fetch_value(own .. "SELECT is_paused FROM perilune_job_queue WHERE queue = ?", queue) == 1
end

--- Returns whether a job of a queue is running in any process.
function job_table.is_running(db, queue)
  return db:fetch_value(own .. "SELECT 1 FROM perilune_job WHERE queue = ? AND state = 'running' LIMIT 1", queue) == 1
end

--- Returns the time at which the next delayed job of a queue is due.
function job_table.next_due(db, queue)
  return db:fetch_value(own .. "SELECT min(run_at) FROM perilune_job WHERE queue = ? AND state = 'delayed'", queue)
end

-- Ending ----------------------------------------------------------------------------------------------------------------------

local unblock = own .. [[
  UPDATE perilune_job SET state = CASE WHEN run_at > ?3 THEN 'delayed' ELSE 'ready' END
  WHERE id = (SELECT min(id) FROM perilune_job WHERE queue = ?1 AND order_key = ?2 AND ]] .. live .. ") AND state = 'blocked'"

--- Makes the next job with an order key ready or delayed.
local function release_order(handle, queue, order_key)
  if order_key then handle:execute(unblock, queue, order_key, now_text()) end
end

local complete = own .. [[
  UPDATE perilune_job SET state = 'done', owner = NULL, ended_at = ?, error = NULL, traceback = NULL
  WHERE id = ? AND state = 'running' AND owner = ?]]

--- Records a successful job as done, in the open transaction.
-- @treturn boolean whether this state was still its owner
function job_table.complete(handle, queue, job)
  local result = handle:execute(complete, now_text(), job.id, me)
  if result.changed_rows == 1 then release_order(handle, queue, job.order_key) end
  return result.changed_rows == 1
end

local function text_of(value)
  return value ~= nil and tostring(value) or perilune.null
end

--- Records a failed attempt, in the open transaction.
-- @tparam ?date run_at the time of the next attempt; nil if the job is dead
function job_table.fail(handle, queue, job, e, traceback, run_at)
  local now = now_text()
  local result = handle:execute(own .. [[
    UPDATE perilune_job SET state = ?1, owner = NULL, run_at = ?2, ended_at = ?3, error = ?4, traceback = ?5
    WHERE id = ?6 AND state = 'running' AND owner = ?7]],
    run_at and "delayed" or "dead", run_at and tostring(run_at) or perilune.null, run_at and perilune.null or now, text_of(e),
    text_of(traceback), job.id, me)
  if result.changed_rows == 1 and not run_at then release_order(handle, queue, job.order_key) end
  return result.changed_rows == 1
end

--- Releases claimed jobs that have not started.
function job_table.release(handle, jobs)
  for _, job in ipairs(jobs) do
    handle:execute(own .. [[
      UPDATE perilune_job SET state = 'ready', owner = NULL, attempts = attempts - 1 WHERE id = ? AND state = 'running' AND owner = ?]],
      job.id, me)
  end
end

--- Returns the running jobs of a queue whose owners no longer exist.
function job_table.orphans(db, queue)
  local list = {}
  for _, owner in ipairs(db:fetch_values(own .. "SELECT DISTINCT owner FROM perilune_job WHERE queue = ? AND state = 'running'", queue)) do
    if owner ~= me and owner_leases.is_dead(db, owner) then
      for _, job in ipairs(db:fetch_all(own .. "SELECT * FROM perilune_job WHERE queue = ? AND state = 'running' AND owner = ?", queue, owner)) do
        list[#list + 1] = job
      end
    end
  end
  return list
end

--- Records, in the open transaction, that the process of a job has ended. The job becomes ready for another attempt, or dead.
function job_table.recover(handle, queue, job, is_dead)
  local result = handle:execute(own .. [[
    UPDATE perilune_job SET state = ?, owner = NULL, ended_at = ?, error = ? WHERE id = ? AND state = 'running' AND owner = ?]],
    is_dead and "dead" or "ready", is_dead and now_text() or perilune.null, "its process ended", job.id, job.owner)
  if result.changed_rows == 1 and is_dead then release_order(handle, queue, job.order_key) end
  return result.changed_rows == 1
end

-- Managing --------------------------------------------------------------------------------------------------------------------

--- Cancels an unfinished job. Returns its previous state; nil without an unfinished job with this id.
function job_table.cancel(handle, queue, id)
  local job = handle:fetch_one(own .. "SELECT * FROM perilune_job WHERE queue = ? AND id = ? AND " .. live, queue, id)
  if not job then return nil end
  handle:execute(own .. "UPDATE perilune_job SET state = 'cancelled', owner = NULL, ended_at = ? WHERE id = ?", now_text(), id)
  release_order(handle, queue, job.order_key)
  return job.state
end

--- Makes a dead or cancelled job ready again. Returns false if there is no such job.
function job_table.retry(handle, queue, id)
  local job = handle:fetch_one(own .. "SELECT * FROM perilune_job WHERE queue = ? AND id = ? AND state IN ('dead', 'cancelled')", queue, id)
  if not job then return false end
  local is_blocked = job.order_key and handle:fetch_value(own .. [[
    SELECT 1 FROM perilune_job WHERE queue = ? AND order_key = ? AND ]] .. live .. " LIMIT 1", queue, job.order_key)
  handle:execute(own .. [[
    UPDATE OR IGNORE perilune_job SET state = ?, attempts = 0, run_at = NULL, ended_at = NULL, owner = NULL WHERE id = ?]],
    is_blocked and "blocked" or "ready", id)
  return handle:fetch_value(own .. "SELECT ended_at FROM perilune_job WHERE id = ?", id) == nil
end

--- Deletes finished jobs.
-- @tparam {string,...} states
-- @tparam ?boolean keeps_keys whether done jobs that still use their keys remain
function job_table.prune(handle, queue, states, before, most, keeps_keys)
  local count = 0
  local condition = ""
  if keeps_keys and has_unique_for(handle) then
    condition = "AND (state <> 'done' OR unique_for IS NULL OR julianday(?5) - julianday(ended_at) > unique_for / 86400.0)"
  end
  local delete = own .. [[
      DELETE FROM perilune_job WHERE id IN (
        SELECT id FROM perilune_job WHERE queue = ?1 AND state = ?2 AND ended_at < ?3 ]] .. condition .. " LIMIT ?4)"
  for _, state in ipairs(states) do
    count = count + (condition == "" and handle:execute(delete, queue, state, tostring(before), most)
      or handle:execute(delete, queue, state, tostring(before), most, now_text())).changed_rows
  end
  return count
end

--- The metatable of counts. It raises for names that are not states.
local counts_metatable = { __name = "job counts", __index = function(counts, name)
  local names = {}
  for state in next, counts do names[#names + 1] = state end
  require("perilune.runtime.other_names").raise("job_counts", "state", name, names)
end, __tostring = function(counts)
  local parts = {}
  for index, state in ipairs{ "ready", "delayed", "blocked", "running", "done", "dead", "cancelled" } do
    parts[index] = state .. " = " .. counts[state]
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end }

--- Returns the number of jobs of a queue in each state.
function job_table.counts(db, queue)
  local counts = { ready = 0, delayed = 0, blocked = 0, running = 0, done = 0, dead = 0, cancelled = 0 }
  for _, row in ipairs(db:fetch_all(own .. "SELECT state, count(*) AS n FROM perilune_job WHERE queue = ? GROUP BY state", queue)) do
    counts[row.state] = row.n
  end
  return setmetatable(counts, counts_metatable)
end

function job_table.find(db, queue, id)
  return db:fetch_one(own .. "SELECT * FROM perilune_job WHERE queue = ? AND id = ?", queue, id)
end

function job_table.list(db, queue, state, limit)
  if not state then return db:fetch_all(own .. "SELECT * FROM perilune_job WHERE queue = ? ORDER BY id DESC LIMIT ?", queue, limit) end
  return db:fetch_all(own .. "SELECT * FROM perilune_job WHERE queue = ? AND state = ? ORDER BY id DESC LIMIT ?", queue, state, limit)
end

local function owner_of(db, queue)
  return db:fetch_value(own .. "SELECT owner FROM perilune_job_queue WHERE queue = ?", queue)
end

--- Records whether this state handles the jobs of a queue, unless another process that handles them is recorded and alive. A preview records
-- nothing, because its report and its plan would contain the record.
function job_table.set_worker(db, queue, is_worker)
  if perilune.context == "preview" then return end
  db:write(function(handle)
    crashes.label("registration of a handler of", queue)
    if owner_leases.is_other(handle, owner_of(handle, queue)) then return end
    handle:execute(own .. "INSERT INTO perilune_job_queue(queue, owner) VALUES (?1, ?2) ON CONFLICT(queue) DO UPDATE SET owner = ?2",
      queue, is_worker and me or perilune.null)
  end)
end

--- Records this state as a handler of a queue after the recorded process has ended.
function job_table.keep_worker(db, queue)
  local owner = owner_of(db, queue)
  if owner ~= me and not owner_leases.is_other(db, owner) then job_table.set_worker(db, queue, true) end
end

function job_table.pause(db, queue, is_paused)
  require("perilune.native.databases").guarded(db, function(handle)
    handle:execute(own .. "INSERT INTO perilune_job_queue(queue, is_paused) VALUES (?1, ?2) ON CONFLICT(queue) DO UPDATE SET is_paused = ?2",
      queue, is_paused and 1 or 0)
  end)
end

return job_table
