---@meta scenarios.native.host The functions that the runner provides to scenarios. Swift (PeriluneScenarios/Host, and ChunkCache.swift for
--- `compile`) defines these functions while a file is loaded and while a scenario runs. Modules use `state.host(name)` and
--- `state.has(name)`.

---@class scenarios.native.host
local native = {}

--- Compiles a file after rewriting its text.
---@param path string the name of the file in errors
---@param text string
---@param rewrite fun(text: string, path: string): string returns the text to compile; called only if the file was not compiled before
---@return function
function native.compile(path, text, rewrite) end

--- Returns the names of the tables and views of the database.
---@return string[]
function native.table_names() end

-- Waiting

--- Returns whether something else uses the scenario's clock and can be waited for; false inside a database block, for example.
---@return boolean
function native.has_others() end

--- Waits until everything due within the given seconds has been done, and advances the clock by them.
---@param seconds number the duration, from now on
function native.wait_until_quiet(seconds) end

--- Interrupts the current or next wait of the scenario with an error of kind `cancelled`.
function native.interrupt() end

--- Returns whether the scenario was ended because a task left by a script has failed.
---@return boolean
function native.was_interrupted() end

--- Returns the number of terminal columns that a text takes.
---@param text string
---@return integer
function native.display_width(text) end

--- Raises inside a database block.
---@param name string the function that must not be called there, for the message
function native.require_no_access(name) end

-- Clock and files

---@param date perilune.date
function native.clock_set(date) end

---@param seconds number
function native.clock_advance(seconds) end

--- Makes the clock advance with each reading.
---@param seconds number the advance with each reading
function native.clock_tick(seconds) end

--- Returns the real time since the scenario was prepared, which does not depend on its clock.
---@return number milliseconds
function native.elapsed_ms() end

--- Creates a folder for the scenario, which is removed at the end of the scenario.
---@return string
function native.tmp_dir() end

-- Migrations

--- Runs the pending migrations of the project.
---@param target? string the last migration, or a prefix of its name
---@return string[] names the migrations that were run
function native.migrate(target) end

---@return string path raises if the project has no folder of migrations
function native.migrations_folder() end

-- Statements and changes

---@class scenarios.statement
---@field sql string
---@field arguments string[] as SQL literals
---@field ms number
---@field rows integer the number of rows returned or changed
---@field file? string the script that called it
---@field line? integer
---@field is_write boolean

--- Returns the number of executed statements, without statements that only control transactions or read the schema.
---@return integer
function native.query_count() end

---@return scenarios.statement?
function native.last_statement() end

--- Returns the query plan of a statement: a line for each step, indented by depth.
---@param sql string
---@return string[]
function native.explain(sql) end

--- Records statements until `end_queries`.
---@return integer number for `end_queries`
function native.begin_queries() end

---@param number integer
---@return scenarios.statement[]
function native.end_queries(number) end

---@class scenarios.row_change
---@field op "insert"|"update"|"delete"
---@field table string
---@field columns string[]
---@field key_columns string[]
---@field key any[] the values of the key columns
---@field before? table<string, any> nil for inserts
---@field after? table<string, any> nil for deletes
---@field changed? string[] the changed columns of an update

--- Records changes of rows until `end_changes`. Raises inside a database block.
---@return integer number for `end_changes`
function native.begin_changes() end

---@param number integer
---@return scenarios.row_change[] changes; its field `unrecorded` is nil, or has a text for each table with unrecorded changes:
--- `table: reason`
function native.end_changes(number) end

-- Scripts and effects

---@class scenarios.effect
---@field module string
---@field name string the function
---@field file? string the script that called it
---@field line? integer
---@field arguments table the arguments, with their number in `n`

---@class scenarios.script_result
---@field value any the first result of the script
---@field output string
---@field error? any
---@field changes? scenarios.row_change[]
---@field changes_error? string the reason why changes are missing
---@field effects scenarios.effect[]
---@field queries scenarios.statement[]

--- Runs a script in a separate state, including its remaining tasks that are due at once.
---@param path string
---@param arguments? any a list of arguments, or a single argument
---@return scenarios.script_result
function native.run_script(path, arguments) end

--- Replaces a host function with a value or a function, in the scenario and in its scripts.
---@param module string
---@param name string the function
---@param value any
function native.stub(module, name, value) end

--- Returns the calls of host functions so far.
---@param module string
---@param name? string limits the result to one function
---@return scenarios.effect[]
function native.calls(module, name) end

-- Services

--- Starts a file of automations in a separate state.
---@param path string
---@param allows_failures boolean whether its automations and jobs may fail without failing the scenario
---@return integer number identifies the service
function native.start_service(path, allows_failures) end

--- Ends a service as SIGKILL would.
---@param number integer
function native.kill_service(number) end

--- Ends a service as SIGTERM would.
---@param number integer
function native.stop_service(number) end

--- Starts a service again.
---@param number integer
function native.restart_service(number) end

---@param number integer
---@return boolean
function native.is_service_running(number) end

---@param number integer
---@return string text the printed text
function native.service_output(number) end

--- Advances the clock until no run or job is left that continues by itself.
---@param seconds number the maximum time to advance
---@return string? pending a remaining run or job
function native.run_until_idle(seconds) end

-- Snapshots

---@param name string
---@return string? text nil if the file does not exist
function native.read_snapshot(name) end

--- Writes a snapshot, following the options of the run.
---@param name string
---@param text string
---@return "written"|"new"|"refused"
function native.write_snapshot(name, text) end

--- Marks a snapshot as used by the scenario.
---@param name string
---@param text string the compared value as text
---@return string? other the scenario that has compared another value with it
function native.use_snapshot(name, text) end

return native
