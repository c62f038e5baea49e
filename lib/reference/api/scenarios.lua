---@meta _
---@page Scenarios
---Tests written in Lua: the functions that define them, and the context `t`.
---
---Files named `*_scenario.lua` define scenarios, and `support.lua` contains code that they share. Each scenario has its own Lua state, a
---fresh database, and a frozen clock. `perilune test` runs them.

---@alias perilune.grant "files"|"programs"|"native"|"effects"

---@class perilune.group_options
---@field tags? string|string[]
---@field template? string the template of the database
---@field database? "memory"|"file"|"empty"|string `"fixture:NAME"` is a copy of a checked-in file, or of a database in a cluster: `"fixture:dqlite://host:port/name"`
---@field timeout? perilune.duration
---@field retry? integer how often to retry a failed scenario, each time with the next seed; a pass after a failure is reported as flaky; 0 by default
---@field lock? string scenarios with the same lock never run at the same time
---@field clock? string the time of the frozen clock
---@field seed? integer|string the seed of the random numbers: an integer, or a text whose hash is the seed; `--seed` is the seed of a whole run, from which each scenario gets its own
---@field max_queries? integer the maximum number of statements
---@field no_checks? "allow"|"warn"|"fail" the result of a scenario without a check; `"warn"` by default
---@field grants? perilune.grant|perilune.grant[] allows the scripts that it runs to change files and open databases in files (`"files"`), run programs (`"programs"`), load native modules (`"native"`), or all of these (`"effects"`); the scenario itself is not restricted
---@field crash? boolean|"rerun"|perilune.crash_options with `perilune test --crash`, the scenario is repeated for each crash point of its services; `"rerun"` is short for `{ rerun = true }`

---How a scenario is repeated with crashes.
---@class perilune.crash_options
---@field ignore? string|string[] what may differ from the undisturbed run: `"table"`, `"table.column"`, `"module.function"`, or a field of its argument, `"module.function.field"`
---@field rerun? boolean whether scripts of `t.run` end at their crash points, too, and run again from their start
---@field down? perilune.duration how far the clock advances between a crash and the restart; `"1s"` by default

---The error with which a scenario must fail.
---@class perilune.expected_failure
---@field reason? string
---@field kind? string the kind of the error; `"expectation"` for a check that fails, `"timeout"` for a scenario that takes too long
---@field message? string a Lua pattern
---@field column? string
---@field table? string

---@class perilune.scenario_options: perilune.group_options
---@field cases? table[] one scenario for each case; `{field}` in the name is replaced by a value
---@field fails? string|perilune.expected_failure the reason for the expected failure, or a table that describes the error

---Defines a scenario: `scenario(name, options, function(t) ... end)`. The options (`perilune.scenario_options`) may be omitted.
---@class perilune.scenario
---@overload fun(name: string, body: fun(t: perilune.t))
---@overload fun(name: string, options: perilune.scenario_options, body: fun(t: perilune.t))
---@access outside scenarios, while a file is loaded
---@raises usage: it is called inside a scenario; argument: an argument has the wrong type; duplicate: the name is taken
scenario = {}

---Defines a scenario and runs only this one. The run is then reported as failed, so that the call is not forgotten.
---```lua
---scenario.only("this one", function(t) check(1 + 1 == 2) end)
---```
---@param name string
---@param options? perilune.scenario_options may be left out
---@param body fun(t: perilune.t)
function scenario.only(name, options, body) end

---Defines a scenario that does not run.
---```lua
---scenario.skip("needs the network", "prices are fetched", function(t) end)
---```
---@param reason string
---@param name string
---@param options? perilune.scenario_options may be left out
---@param body? fun(t: perilune.t)
function scenario.skip(reason, name, options, body) end

---Defines a placeholder for a scenario that is not written yet.
---```lua
---scenario.todo("refunds")
---```
---@param name string
function scenario.todo(name) end

---Defines a group of scenarios that share options, `before_each` and `after_each`. The options `cases` and `fails` are for scenarios only.
---```lua
---group("invoices", { tags = "billing" }, function()
---  scenario("can be made", function(t)
---    check(t.db:table_exists("invoice"))
---  end)
---end)
---```
---@param name string
---@param options? perilune.group_options may be left out
---@param body fun()
---@access outside scenarios, while a file is loaded
---@raises usage: it is called inside a scenario; argument: an argument has the wrong type
function group(name, options, body) end

---Calls a function before each scenario of the group or file.
---```lua
---before_each(function(t) t.given.customer{ name = "Ada" } end)
---scenario("customers", function(t)
---  check(t.db.customer:fetch_count() == 1)
---end)
---```
---@param body fun(t: perilune.t)
---@access outside scenarios, while a file is loaded
---@raises usage: it is called inside a scenario; argument: `body` is not a function
function before_each(body) end

---Calls a function after each scenario of the group or file, even if the scenario fails.
---```lua
---after_each(function(t) check(t.db:integrity_check() == "ok") end)
---scenario("nothing breaks", function(t) check(true) end)
---```
---@param body fun(t: perilune.t)
---@access outside scenarios, while a file is loaded
---@raises usage: it is called inside a scenario; argument: `body` is not a function
function after_each(body) end

---Defines a template: a database with data, made once for a run, and copied for each scenario with the option `template`. `base` is the
---database after the migrations, with which scenarios and templates begin by default; a template named `base` begins with an empty database
---and replaces it. `empty` cannot be defined.
---```lua
---template("one customer", function(db)
---  db:execute("INSERT INTO customer (name) VALUES ('Ada')")
---end)
---scenario("has a customer", { template = "one customer" }, function(t)
---  check(t.db.customer:fetch_count() == 1)
---end)
---```
---@param name string
---@param options? { on?: string, timeout?: perilune.duration } may be left out; `on` is the template to begin with
---@param body fun(db: perilune.database)
---@access outside scenarios, while a file is loaded
---@raises usage: it is called inside a scenario; argument: an argument has the wrong type
function template(name, options, body) end

---Sets the default columns of rows that `t.make` makes for a table. If rows of `t.make.invoice:many(2)` must refer to different customers, a
---function makes them: `factory("invoice", { customer_id = function(n, t) return t.make.customer().id end })`.
---```lua
---factory("customer", { name = function(n) return "customer " .. n end })
---scenario("a factory", function(t)
---  check(t.make.customer().name == "customer 1")
---end)
---```
---@param table_name string
---@param columns table<string, any|fun(n: integer, t: perilune.t): any> values, or functions of a number that counts the rows
---@access outside scenarios, while a file is loaded
---@raises usage: it is called inside a scenario; argument: an argument has the wrong type
function factory(table_name, columns) end

---Defines a value that is made when a scenario first uses `t.fixtures.NAME`, in any scenario of the file, even if a group defines it. To clean up at the end of the scenario, call
---`t.defer(f)` in the function.
---```lua
---fixture("ada", function(t) return t.make.customer{ name = "Ada" } end)
---scenario("a fixture", function(t) check(t.fixtures.ada.name == "Ada") end)
---```
---@param name string
---@param body fun(t: perilune.t): any
---@access outside scenarios, while a file is loaded
---@raises usage: it is called inside a scenario; argument: an argument has the wrong type
function fixture(name, body) end

---Returns all combinations of lists, for the option `cases`.
---```lua
---scenario("{a} and {b}", {
---  cases = matrix{ a = { 1, 2 }, b = { 3, 4 } },
---}, function(t)
---  check(t.case.a < t.case.b)
---end)
---```
---@param lists table<string, any[]>
---@return table[]
---@access any
---@raises argument: `lists` is not a table of lists
function matrix(lists) end

---The context of a scenario. Its functions are called with a dot.
---@class (exact) perilune.t
---@access inside a scenario
---@raises usage: it is called outside of a scenario, or an argument is not valid
---@field db perilune.db the database of the scenario; `t.db.customer` is the record class of a table
---@field given perilune.given inserts rows: `t.given.customer` takes a text table, a list of tables, or one. Quoted text and strings are stored as written, even in date columns
---@field make perilune.make makes complete rows, including the rows to which NOT NULL columns refer: `t.make.customer{ name = "Ada" }`, `t.make.customer:many(3, { born = 1815 })` with the same values in each row, `t.make.invoice{ customer = ada }`; `factory` defines values that differ
---@field fixtures perilune.fixtures the values of fixtures
---@field clock perilune.clock the time that scripts and SQL see
---@field effects table<string, perilune.effects> the effects of modules, by their names
---@field case table the current case
---@field seed integer the seed of the random numbers
---@field tmp_dir string a folder for the scenario, removed at its end
local t = {}

---Runs a script in a separate Lua state on this database. If the script fails, so does the scenario.
---```lua
---scenario("a script", function(t)
---  local result = t.run("scripts/add_customer.lua", { name = "Ada" })
---  check(result.value == 1 and result.output == "added Ada\n")
---end)
---```
---@param path string relative to the current folder or the project folder
---@param arguments? table a list is passed as on the command line; any other table is the only argument
---@return perilune.script_result
---@waits until the main part of the script has ended
---@raises script: the script fails, and `cause` is its error; io: it cannot be read
function t.run(path, arguments) end

---Runs a script as `t.run` does. If the script fails, the result has the field `error`, the error of the script with its kind. Unlike `pcall`,
---it returns only the result. A missing module fails the scenario, because the script did not reach the behaviour under test.
---```lua
---scenario("a script that fails", function(t)
---  local result = t.run_protected("scripts/add_customer.lua", {})
---  check(result.error.kind == "constraint_not_null")
---end)
---```
---@param path string
---@param arguments? table
---@return perilune.script_result
---@waits until the main part of the script has ended
---@raises script: the script needs a module that does not exist and has no stub
function t.run_protected(path, arguments) end

---Starts a service: a file of automations and job handlers, which runs like `perilune automations run FILE`, in a state of its own on this
---database. It runs whenever the scenario waits.
---```lua
---scenario("a service", { crash = true }, function(t)
---  t.effects.mail:stub("send", true)
---  local service = t.service("scripts/welcome.lua")
---  t.db:execute("INSERT INTO customer (name) VALUES ('Ada')")
---  service:run_until_idle()
---  check(t.effects.mail:distinct_calls("send")[1].to == "Ada")
---end)
---```
---A run that fails for good, or a job that is dead, fails the scenario at the line of its error. With `failures = "allow"`, it does
---not: check the column `outcome` of `perilune_automation_run`, or `state` of `perilune_job`.
---@param path string relative to the current folder or the project folder
---@param options? { failures?: "allow"|"fail" } `"fail"` by default
---@return perilune.service
---@raises io: the file cannot be read; script: an error of the file
---@waits until the file is loaded, and all due work has finished
function t.service(path, options) end

---Runs the project's migrations on this database, and returns the names of the applied migrations.
---```lua
---scenario("migrating", { database = "empty" }, function(t)
---  check(#t.migrate() == 1)
---end)
---```
---@param options? { to?: string } `to` is the last migration to run, or the beginning of its name
---@return string[]
---@raises unknown_migration: the migration `to` does not exist
function t.migrate(options) end

---Undoes the last migration by its `down`, and returns its name.
---```lua
---scenario("undoing", function(t)
---  check(t.migrate_down() == "0001_customers")
---  check(not t.db:table_exists("customer"))
---end)
---```
---@return string?
---@raises migration: the migration has no `down`
function t.migrate_down() end

---Calls a function, and returns its changes to the database.
---```lua
---scenario("changes", function(t)
---  local changes = t.changes(function()
---    t.db:execute("INSERT INTO customer (name) VALUES ('Ada')")
---  end)
---  expect(changes):rows [[
---    | op     | table    | key | name |
---    | insert | customer | 1   | Ada  |
---  ]]
---end)
---```
---@param f fun()
---@return perilune.changes
function t.changes(f) end

---Calls a function, and returns the statements that it runs.
---```lua
---scenario("queries", function(t)
---  expect(t.queries(function()
---    t.db:fetch_all("SELECT * FROM customer")
---  end)):exactly(1)
---end)
---```
---@param f fun()
---@return perilune.queries
function t.queries(f) end

---Waits until all work that is due now has finished: timers, observations and automations. The clock does not move.
---```lua
---scenario("observing", function(t)
---  local count
---  t.db.customer:all():observe(function(customers) count = #customers end)
---  t.wait_until_idle()
---  check(count == 0)
---end)
---```
---@waits until nothing is due
function t.wait_until_idle() end

---Runs a named part of the scenario. Failures inside are reported with this name.
---```lua
---scenario("steps", function(t)
---  local customer = t.step("a customer signs up", function()
---    return t.make.customer()
---  end)
---  check(customer.id == 1)
---end)
---```
---@generic T
---@param name string
---@param f fun(): T
---@return T
function t.step(name, f) end

---Adds a remark to the report.
---```lua
---scenario("a remark", function(t)
---  t.note("customers:", t.db.customer:fetch_count())
---  check(true)
---end)
---```
---@param ... any
function t.note(...) end

---Adds a value to the report: text unchanged, any other value as Lua writes it.
---```lua
---scenario("an attachment", function(t)
---  t.attach("schema.sql", t.db:schema_sql())
---  check(true)
---end)
---```
---@param name string
---@param value any
function t.attach(name, value) end

---Calls a function when the scenario has ended, even if it fails. Functions run in reverse order.
---```lua
---scenario("cleaning up", function(t)
---  t.defer(function() os.remove(t.tmp_dir .. "/x") end)
---  check(true)
---end)
---```
---@param f fun()
function t.defer(f) end

---Ends the scenario at this point and reports it as skipped.
---```lua
---scenario("not today", function(t) t.skip("the shop is closed") end)
---```
---@param reason? string
---@raises scenario_skip: always
function t.skip(reason) end

---The database of a scenario. Its fields are the record classes of the tables: `t.db.customer`.
---@class perilune.db: perilune.database
---@access inside a scenario
---@raises usage: an argument is not valid
local db = {}

---Returns `"ok"`, or the problems that SQLite finds in the file and its foreign keys.
---```lua
---scenario("integrity", function(t) check(t.db:integrity_check() == "ok") end)
---```
---@return string
function db:integrity_check() end

---@class perilune.given
---@class perilune.make
---@class perilune.fixtures

---The result of `t.run`.
---@class (exact) perilune.script_result
---@field value any the result of the script
---@field output string the text printed by its main part, without the output of later timers
---@field error perilune.error?
---@field changes perilune.changes the changes of its main part to the database
---@field effects table[] the calls of modules with effects, with the fields `module`, `name`, `arguments`, `file` and `line`
---@field queries perilune.queries the statements that it ran

---A service of a scenario. With the option `crash`, it ends at a crash point, and starts again after the downtime.
---@class (exact) perilune.service
---@access inside a scenario
local service = {}

---Advances the clock until no run and no job is left that continues by itself: three days of waiting take a millisecond. A timeout of
---`run:wait_for` passes, too; `t.wait_until_idle()` runs only the work that is due now. Runs that wait for a signal without a timeout, jobs
---without a handler and the next due times of schedules do not count. A schedule that becomes due while the clock advances for other work
---still runs.
---```lua
---scenario("idle", function(t)
---  t.effects.mail:stub("send", true)
---  local service = t.service("scripts/welcome.lua")
---  t.db:execute("INSERT INTO customer (name) VALUES ('Ada')")
---  service:run_until_idle()
---  local runs = t.db:fetch_all("SELECT * FROM perilune_automation_run")
---  check(runs[1].outcome == "succeeded")
---end)
---```
---@param options? { within?: perilune.duration } the longest time that may pass on the clock; `"1 year"` by default
---@return perilune.service
---@raises not_idle: more time would pass
---@waits until nothing is left
function service:run_until_idle(options) end

---Ends the service as SIGKILL does: an open transaction is rolled back, and no other code of the service runs.
---```lua
---scenario("killed", function(t)
---  t.effects.mail:stub("send", true)
---  local service = t.service("scripts/welcome.lua")
---  service:kill()
---  t.db:execute("INSERT INTO customer (name) VALUES ('Ada')")
---  service:start()
---  check(#t.effects.mail:calls("send") == 1)
---end)
---```
---@return perilune.service
---@raises none
---@waits until it has ended
function service:kill() end

---Ends the service as SIGTERM does: active runs are interrupted where they wait.
---```lua
---scenario("stopped", function(t)
---  t.effects.mail:stub("send", true):never()
---  check(not t.service("scripts/welcome.lua"):stop():is_running())
---end)
---```
---@return perilune.service
---@raises none
---@waits until it has ended
function service:stop() end

---Starts the service again, in a new state. A running service is killed first.
---```lua
---scenario("started again", function(t)
---  t.effects.mail:stub("send", true):never()
---  check(t.service("scripts/welcome.lua"):stop():start():is_running())
---end)
---```
---@return perilune.service
---@raises script: an error of the file
---@waits until the file is loaded, and all due work has finished
function service:start() end

---Returns whether the service was neither killed nor stopped since its last start.
---```lua
---scenario("running", function(t)
---  t.effects.mail:stub("send", true):never()
---  check(t.service("scripts/welcome.lua"):is_running())
---end)
---```
---@return boolean
---@raises none
function service:is_running() end

---Returns the printed text.
---```lua
---scenario("output", function(t)
---  t.effects.mail:stub("send", true):never()
---  check(t.service("scripts/welcome.lua"):output() == "")
---end)
---```
---@return string
---@raises none
function service:output() end

---Changed rows, for `expect(...):rows`, with the columns `op` (`insert`, `update` or `delete`), `table`, `key`, and the columns of the table.
---They are in the order of tables and keys, not of time, and a row that is as before is not listed. A row that is
---deleted, and another one inserted with the same key, are one `update`: SQLite reuses the key of a last row. The list includes Perilune's own tables,
---such as `perilune_job` and the migration tables; `has_rows` ignores rows that are not expected. `tostring` returns a line for each change.
---@class perilune.changes

---The executed statements, for `expect(...):at_most` and similar checks. `tostring` returns them as lines.
---@class perilune.queries

---The clock of a scenario. It moves only when the scenario moves it, and waiting takes no real time.
---@class (exact) perilune.clock
---@access inside a scenario
---@raises usage: the duration cannot be read; argument: the date cannot be read
local clock = {}

---Sets the time. Work that is due by then runs once.
---```lua
---scenario("the clock", function(t)
---  t.clock:set("2026-03-31T18:00:00Z")
---  check(t.db:fetch_value("SELECT date('now')") == "2026-03-31")
---end)
---```
---@param instant string|perilune.date
---@return perilune.clock
---@waits until all due work has finished
function clock:set(instant) end

---Advances the clock by a duration of at least 0, and calls the timers that become due, each at its time.
---```lua
---scenario("an hour later", function(t)
---  local rang = false
---  perilune.after("1h", function() rang = true end)
---  t.clock:advance("59m")
---  check(not rang)
---  t.clock:advance("1m")
---  check(rang)
---end)
---```
---@param duration perilune.duration
---@return perilune.clock
---@waits until the timers that were due have been called
function clock:advance(duration) end

---Advances the clock by a duration with each reading from now on. `clock:advance` moves it once.
---```lua
---scenario("ticking", function(t)
---  t.clock:tick("1s")
---  local first = perilune.now()
---  check(perilune.now():seconds_since(first) == 1)
---end)
---```
---@param duration perilune.duration
---@return perilune.clock
function clock:tick(duration) end

---Returns the time.
---```lua
---scenario("now", { clock = "2026-03-31T18:00:00Z" }, function(t)
---  check(t.clock:now().year == 2026)
---end)
---```
---@return perilune.date
function clock:now() end

---The stubbed effects of a module, and the recorded calls.
---@class (exact) perilune.effects
---@access inside a scenario
---@raises usage: an argument is not valid
local effects = {}

---Sets the result of a module's function: a value, or a function that computes the result from the arguments. The script can `require` the
---module, whether or not the host has it.
---```lua
---scenario("stub", function(t)
---  t.effects.mail:stub("send", true)
---  t.run("scripts/send.lua", { to = "ada" })
---  check(#t.effects.mail:calls("send") == 1)
---end)
---```
---@param name string
---@param value any
---@return perilune.effects
function effects:stub(name, value) end

---Returns the calls of a function: for each call the list of its arguments, or the argument itself if it is a single table. The length of
---a list, `#call`, includes arguments that are nil. In text tables the columns of a list are `1`, `2` and so on.
---```lua
---scenario("calls", function(t)
---  t.effects.mail:stub("send", true)
---  t.run("scripts/send.lua", { to = "ada" })
---  check(t.effects.mail:calls("send")[1].to == "ada")
---end)
---```
---@param name string
---@return any[]
function effects:calls(name) end

---Returns the calls like `calls`, without repetitions of a call with the same arguments. After a crash, a service may repeat a call, with
---the same key.
---```lua
---scenario("calls without repetitions", function(t)
---  t.effects.mail:stub("send", true)
---  t.run("scripts/send.lua", { to = "ada" })
---  t.run("scripts/send.lua", { to = "ada" })
---  check(#t.effects.mail:distinct_calls("send") == 1)
---end)
---```
---@param name string
---@return any[]
function effects:distinct_calls(name) end

---Requires exactly one call of the preceding stub. In a run with a crash, repetitions with the same arguments count once. If the function
---is stubbed again with a number of calls, each stub counts its own.
---```lua
---scenario("once", function(t)
---  t.effects.mail:stub("send", true):once()
---  t.run("scripts/send.lua", { to = "ada" })
---end)
---```
---@return perilune.effects
function effects:once() end

---Requires exactly this number of calls of the preceding stub. In a run with a crash, repetitions with the same arguments count once;
---`#t.effects.module:calls(name)` counts all calls.
---```lua
---scenario("times", function(t)
---  t.effects.mail:stub("send", true):times(1)
---  t.run("scripts/send.lua", { to = "ada" })
---end)
---```
---@param count integer
---@return perilune.effects
function effects:times(count) end

---Requires that the preceding stub is never called.
---```lua
---scenario("never", function(t)
---  t.effects.mail:stub("send", true):never()
---  check(t.db.customer:fetch_count() == 0)
---end)
---```
---@return perilune.effects
function effects:never() end

---Requires at least this number of calls of the preceding stub.
---In a run with a crash, repetitions with the same arguments count once, as for `once`.
---```lua
---scenario("at_least", function(t)
---  t.effects.mail:stub("send", true):at_least(1)
---  t.run("scripts/send.lua", { to = "ada" })
---end)
---```
---@param count integer
---@return perilune.effects
function effects:at_least(count) end

---Requires at most this number of calls of the preceding stub.
---In a run with a crash, repetitions with the same arguments count once, as for `once`.
---```lua
---scenario("at_most", function(t)
---  t.effects.mail:stub("send", true):at_most(1)
---  t.run("scripts/send.lua", { to = "ada" })
---end)
---```
---@param count integer
---@return perilune.effects
function effects:at_most(count) end

