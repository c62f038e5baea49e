-- Durable runs, jobs and leases of owners on other machines.
db:execute("CREATE TABLE seen (text)")
db:execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER)")
db:execute("CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT)")
local function log(what) db:execute("INSERT INTO log (what) VALUES (?)", what) end

local function wait_for(what, condition)
  for _ = 1, 600 do
    if condition() then return end
    perilune.sleep(0.05)
  end
  error(what .. " has not happened: " .. table.concat(db:fetch_values("SELECT what FROM log ORDER BY id"), ", "))
end

-- Once.
for _ = 1, 2 do perilune.once("seed", function(handle) handle:execute("INSERT INTO account VALUES (1, 0)") end) end

-- Runs of owners on other machines: one has renewed its lease, one has not.
local other, lost = "other boot ns 1 1 1", "lost boot ns 1 1 1"
local function run(run) run:step("add", function(handle) handle:execute("UPDATE account SET balance = balance + 1") end) end
local transfers = perilune.automation{ name = "transfer", durable = true, on = { event = "transfer" }, run = run }
transfers:disable()
db:execute([[
  INSERT INTO perilune_automation_run (automation, trigger, started_at, attempts, outcome, owner)
  VALUES ('transfer', '{"kind":"manual"}', '2026-01-01 00:00:00.000', 1, 'running', ?1), ('transfer', '{"kind":"manual"}', '2026-01-01 00:00:00.000', 1, 'running', ?2)]],
  other, lost)
db:execute("CREATE TABLE IF NOT EXISTS perilune_owner (owner TEXT NOT NULL PRIMARY KEY, seen_at TEXT NOT NULL)")
db:execute("INSERT INTO perilune_owner VALUES (?1, ?2), (?3, ?4)", other, tostring(perilune.now()), lost, tostring(perilune.now() - 3600))
transfers:enable()
wait_for("the take-over", function() return db:fetch_value("SELECT count(*) FROM perilune_automation_run WHERE outcome = 'succeeded'") == 1 end)
local left = db:fetch_value("SELECT owner FROM perilune_automation_run WHERE outcome = 'running'")

-- Jobs.
local jobs = perilune.jobs("mail")
jobs:enqueue({ to = "ada" }, { key = "a" })
jobs:enqueue({ to = "bob" }, { key = "a" })
local handler = jobs:handle(function(job) log("mail to " .. job.to .. ", attempt " .. job.attempt) end)
handler:wait_until_idle()
db:execute("INSERT INTO perilune_job (queue, state, payload, attempts, enqueued_at, owner) VALUES ('mail', 'running', ?, 1, ?, ?)",
  '{"to":"eve"}', tostring(perilune.now()), lost)
handler:cancel()
handler = jobs:handle(function(job) log("mail to " .. job.to .. ", attempt " .. job.attempt) end)
wait_for("the job of a lost owner", function() return jobs:counts().running == 0 and jobs:counts().ready == 0 end)
handler:wait_until_idle()
handler:cancel()
transfers:remove()

local text = table.concat({
  tostring(db:fetch_value("SELECT balance FROM account")), left, table.concat(db:fetch_values("SELECT what FROM log ORDER BY id"), "; "),
}, " | ")
assert(text == "1 | other boot ns 1 1 1 | mail to ada, attempt 1; mail to eve, attempt 2", text)
db:execute("INSERT INTO seen VALUES (?)", text)
return text
