---@meta scenarios.native.host
--- The functions that the runner provides to scenarios. Swift (PeriluneScenarios/Host, and ChunkCache.swift for `compile`) defines them
-- while a file is loaded and while a scenario runs. Modules use `state.host(name)` and `state.has(name)`.

---@class scenarios.native.host
local native = {}

--- Compiles a file after rewriting its text.
---@param path string what errors call the file
---@param text string
---@param rewrite fun(text: string, path: string): string makes the text that is compiled, unless the file was compiled before
---@return function
function native.compile(path, text, rewrite) end

--- Returns the names of the tables and views of the database.
---@return string[]
function native.table_names() end

-- Waiting

--- Whether anything else uses the clock of the scenario and can be waited for: false inside a database block, for example.
---@return boolean
function native.has_others() end

--- Waits until everything due within the given seconds has been done, and advances the clock by them.
---@param seconds number from now on
function native.wait_until_quiet(seconds) end

--- Interrupts the current or next wait of the scenario with an error of kind `cancelled`.
function native.interrupt() end

--- Whether the failure of a task that a script left behind has ended the scenario.
---@return boolean
function native.was_interrupted() end

--- Returns the number of terminal columns that a text takes.
---@param text string
---@return integer
function native.display_width(text) end

--- Raises inside a database block.
---@param name string who asks
function native.require_no_access(name) end

-- Clock and files

---@param date perilune.date
function native.clock_set(date) end

---@param seconds number
function native.clock_advance(seconds) end

--- Makes the clock advance with each reading.
---@param seconds number by how much
function native.clock_tick(seconds) end

--- Creates a folder for the scenario, which is removed at the end of the scenario.
---@return string
function native.tmp_dir() end

-- Migrations

--- Runs the pending migrations of the project.
---@param target? string the last one, or how its name begins
---@return string[] names those that were run
function native.migrate(target) end

---@return string path raises if there is no folder of migrations
function native.migrations_folder() end

-- Statements and changes

---@class scenarios.statement
---@field sql string
---@field arguments string[] as SQL writes them
---@field ms number
---@field rows integer how many it has returned or changed
---@field file? string of the script that has called it
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
---@field key any[] the values of these
---@field before? table<string, any> without inserts
---@field after? table<string, any> without deletes
---@field changed? string[] of updates: the columns

--- Records changes of rows until `end_changes`. Raises inside a database block.
---@return integer number for `end_changes`
function native.begin_changes() end

---@param number integer
---@return scenarios.row_change[] changes, with a field `unrecorded` where some were not recorded: a text for each of their tables, `table: reason`
function native.end_changes(number) end

-- Scripts and effects

---@class scenarios.effect
---@field module string
---@field name string of the function
---@field file? string of the script that has called it
---@field line? integer
---@field arguments table with their number in `n`

---@class scenarios.script_result
---@field value any the first that the script has returned
---@field output string
---@field error? any
---@field changes? scenarios.row_change[]
---@field changes_error? string why there are no changes
---@field effects scenarios.effect[]
---@field queries scenarios.statement[]

--- Runs a script in a separate state, including the tasks that it leaves and that are due at once.
---@param path string
---@param arguments? any a list, of which each is one argument, or one argument
---@return scenarios.script_result
function native.run_script(path, arguments) end

--- Replaces a host function by a value or a function, in the scenario and in its scripts.
---@param module string
---@param name string of the function
---@param value any
function native.stub(module, name, value) end

--- Returns the calls of host functions so far.
---@param module string
---@param name? string of one function
---@return scenarios.effect[]
function native.calls(module, name) end

-- Services

--- Starts a file of automations in a separate state.
---@param path string
---@return integer number of the service
function native.start_service(path) end

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
---@return string text that it has printed
function native.service_output(number) end

--- Moves the clock until no run and no job is left that continues by itself.
---@param seconds number the longest time to pass
---@return string? pending a run or a job that is left
function native.run_until_idle(seconds) end

-- Snapshots

---@param name string
---@return string? text nil if there is none
function native.read_snapshot(name) end

--- Writes a snapshot, following the options of the run.
---@param name string
---@param text string
---@return "written"|"new"|"refused"
function native.write_snapshot(name, text) end

--- Marks a snapshot as used by the scenario.
---@param name string
---@param text string the value
---@return string? other the scenario that compares another value with it
function native.use_snapshot(name, text) end

return native
