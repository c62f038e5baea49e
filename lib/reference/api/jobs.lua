---@meta _
---@page Jobs
---Job queues in the database, and blocks that run once.
---
---Adding a job is part of the open transaction: if the transaction is rolled back, the job does not exist. Each job runs at least once, in
---any process that handles its queue. If a process ends during a job, another process on the same machine takes it over at once, and one on
---another machine after a minute. The table `perilune_job` has a row for each job: `queue`, `state`, `priority`, `job_key`, `order_key`,
---`payload` (JSON), `attempts`, `run_at`, `enqueued_at`, `started_at`, `ended_at`, `owner`, `error`, `traceback` and `unique_for` (seconds).
---The state is `ready`, `delayed` until a time, `blocked` by an earlier job with the same order key, or `running`; at the end it is `done`,
---`dead` or `cancelled`.

---@class perilune.jobs_options
---@field attempts? integer the number of attempts before a job is dead, including attempts that the end of the process cut short; 5 by default
---@field backoff? { [1]: perilune.duration, [2]: perilune.duration } the shortest and the longest wait for another attempt, doubled each time, plus a random part of up to a quarter; `{ "1s", "1h" }` by default
---@field concurrency? integer the number of concurrent jobs of the queue, in all processes; 1 by default
---@field rate? string the maximum number of jobs that start per second, minute, hour or day, such as `"100/minute"`
---@field timeout? perilune.duration an attempt that takes longer is ended, and counts as failed
---@field keep? perilune.duration how long to keep jobs that are done or cancelled; 1 day by default. Done jobs with a longer `unique_for` are kept until it ends, and dead jobs until they are pruned
---@field on_dead? fun(job: perilune.job, err: any) called when the last attempt has failed; the error also goes to `perilune.on_error`
---@field db? perilune.database the default database unless given

---Returns the queue with a name, and creates it on first use.
---```lua
---local mails = perilune.jobs("mail", {
---  attempts = 8,
---  backoff = { "1s", "1h" },
---  concurrency = 4,
---  rate = "100/minute",
---})
---local handler = mails:handle(function(job)
---  print(job.to, job.key, job.attempt)
---end)
---db:write(function()
---  db:execute("INSERT INTO tag (name) VALUES ('ordered')")
---  mails:enqueue({ to = "ada@example.com" }, { key = "order 7" })
---end)
---perilune.sleep("1s")  --> ada@example.com	order 7	1
---handler:cancel()
---```
---@param name string
---@param options? perilune.jobs_options
---@return perilune.jobs
---@raises argument: an option is not valid; unknown_option: no option has that name
---@access outside blocks that only read
---@module events.jobs
function perilune.jobs(name, options) end

---Calls a block in a transaction, unless a block has already been called for this key in this database. Its writes and the key are
---committed together.
---```lua
---local function seed(db)
---  db:execute("INSERT INTO tag (name) VALUES ('first')")
---  return 1
---end
---print(perilune.once("seed 2026-11", seed))  --> 1	true
---print(perilune.once("seed 2026-11", seed))  --> 1	false
---```
---@param db? perilune.database
---@param key string at most 500 bytes
---@param block fun(db: perilune.database): any its result must be a value that JSON can express
---@return any result of the block, this time or the first time
---@return boolean was_called
---@raises argument: an argument or the result is not valid
---@access outside blocks that only read
---@module events.once
function perilune.once(db, key, block) end

---A queue of jobs.
---@class perilune.jobs
---@access outside blocks that only read
local jobs = {}

---@class perilune.enqueue_options
---@field key? string|integer identifies the job among the unfinished jobs of the queue; a finished job releases it, unless `unique_for` is given
---@field on_key? "ignore"|"raise"|"replace" the treatment of a key in use: nothing happens, an error is raised, or the waiting job gets the new payload; `"ignore"` by default
---@field unique_for? perilune.duration how long a job that is done still uses the key, even if the queue keeps jobs for a shorter time
---@field order_by? string|integer jobs with the same value run one after the other, in the order of their commits
---@field delay? perilune.duration
---@field at? string|number|perilune.date
---@field priority? integer greater numbers run first; 0 by default

---Adds a job, in the open transaction if there is one.
---
---A key is in use as long as a job with it is unfinished: the same key may be used again afterwards. With `unique_for = "30 days"`, a job
---that is done uses it for 30 days, too, unless `jobs:prune` deletes the job. Dead and cancelled jobs release their keys at once.
---Work that may happen only once ever needs a column of its own, or `perilune.once`.
---```lua
---local mails = perilune.jobs("mail")
---print(mails:enqueue({ to = "ada" }, { key = "welcome 1", delay = "5m" }))
-----> 1	true
---print(mails:enqueue({ to = "ada" }, { key = "welcome 1" }))  --> 1	false
---```
---@param payload any a value that JSON can express, of at most 1 MB
---@param options? perilune.enqueue_options
---@return integer id of the job, or of the one that uses the key
---@return boolean is_added
---@raises argument: the payload or an option is not valid; job_exists: the key is in use, with `on_key = "raise"`, or with `"replace"` if the job is running
function jobs:enqueue(payload, options) end

---The argument of a handler. The fields of the payload can be read directly.
---@class perilune.job
---@field payload any
---@field id integer
---@field queue string
---@field key string?
---@field attempt integer the number of the attempt, from 1
---@field is_repeat boolean whether it was tried before
---@field enqueued_at perilune.date
---@field [string] any

---Handles the jobs of the queue with a function, in order of priority, then of commit.
---
---A script with a handler keeps running until `handler:cancel()`. An error fails the attempt and is logged as a warning; the error of the
---last attempt is logged as an error.
---
---With the option `transaction`, the function and the end of the job are one transaction, so its writes happen exactly once. It gets a
---handle as its second argument, and must not wait.
---```lua
---local jobs = perilune.jobs("count")
---local handler = jobs:handle(function(job, db)
---  db:execute("UPDATE book SET pages = pages + ?", job.n)
---end, { transaction = true })
---jobs:enqueue{ n = 1 }
---handler:wait_until_idle()
---print(jobs:counts().done)  --> 1
---handler:cancel()
---```
---@param f fun(job: perilune.job, db?: perilune.database)
---@param options? { transaction?: boolean }
---@return perilune.job_handler
---@raises argument: `f` is not a function
function jobs:handle(f, options) end

---Cancels an unfinished job, by its id or its key. If it is running in this process, its function is interrupted.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:enqueue(1, { key = "a" })
---print(jobs:cancel("a"), jobs:cancel("a"))  --> true	false
---```
---@param id integer|string
---@return boolean was_cancelled
---@raises argument: `id` is neither an integer nor a string
function jobs:cancel(id) end

---Makes a dead or cancelled job ready again.
---```lua
---local jobs = perilune.jobs("mail")
---local id = jobs:enqueue(1)
---jobs:cancel(id)
---print(jobs:retry(id), jobs:find(id).state)  --> true	ready
---```
---@param id integer
---@return boolean is_ready
---@raises argument: `id` is not an integer
function jobs:retry(id) end

---Deletes finished jobs, and returns their number. Their keys are free again, even before `unique_for` ends.
---```lua
---print(perilune.jobs("mail"):prune{
---  older_than = "30 days",
---  states = { "done", "dead" },
---})
-----> 0
---```
---@param options? { older_than?: perilune.duration, states?: ("done"|"dead"|"cancelled")[] } by default all jobs that are done or cancelled
---@return integer
---@raises argument: an option is not valid; unknown_state: a state is not one of these three
function jobs:prune(options) end

---Returns the number of jobs in each state.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:enqueue(1)
---print(jobs:counts().ready, jobs:counts().dead)  --> 1	0
---```
---@return table<string, integer>
---@raises none
function jobs:counts() end

---Returns the row of a job by its id, or by its key while it is unfinished; nil if it does not exist.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:enqueue({ to = "ada" }, { key = "a" })
---print(jobs:find("a").payload)  --> {"to":"ada"}
---```
---@param id integer|string
---@return perilune.row?
---@raises argument: `id` is neither an integer nor a string
function jobs:find(id) end

---Returns the newest jobs, as rows of `perilune_job`.
---```lua
---local jobs = perilune.jobs("mail")
---for i = 1, 3 do jobs:enqueue(i) end
---print(#jobs:list{ state = "ready", limit = 2 })  --> 2
---```
---@param options? { state?: string, limit?: integer } the last 20 in any state by default
---@return perilune.row[]
---@raises unknown_state: the state does not exist; argument: the limit is not valid
function jobs:list(options) end

---Stops starting jobs of the queue, in all processes, until `resume`.
---```lua
---local jobs = perilune.jobs("mail")
---jobs:pause()
---jobs:resume()
---```
---@raises none
function jobs:pause() end

---Starts jobs again after `pause`.
---```lua
---perilune.jobs("mail"):resume()
---```
---@raises none
function jobs:resume() end

---The handler of a queue in this process.
---@class perilune.job_handler
---@access any
local handler = {}

---Stops starting jobs in this process. Running jobs continue to their end.
---```lua
---local handler = perilune.jobs("mail"):handle(print)
---handler:cancel()
---print(handler)  --> job handler "mail" (cancelled)
---```
---@raises none
function handler:cancel() end

---Waits until no job is running in this process and none is ready. If the queue is paused, it waits only for the running jobs: ready jobs
---remain. It does not wait for the next attempt of a failed job: `jobs:counts().delayed` counts these.
---```lua
---local jobs = perilune.jobs("mail")
---local handler = jobs:handle(function(job) print(job.payload) end)
---jobs:enqueue("hello")
---handler:wait_until_idle()  --> hello
---handler:cancel()
---```
---@raises yield: the call is in a block
---@waits for the jobs
function handler:wait_until_idle() end

---Returns the number of jobs running in this process.
---```lua
---local handler = perilune.jobs("mail"):handle(print)
---print(handler:running_count())  --> 0
---handler:cancel()
---```
---@return integer
---@raises none
function handler:running_count() end
