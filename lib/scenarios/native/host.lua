---@meta scenarios.native.host
--- What scenarios get of their runner. Swift (PeriluneScenarios/Host, and ChunkCache.swift for `compile`) provides it while a file is
-- loaded and while a scenario runs. Modules ask for it by `state.host(name)` and `state.has(name)`.

---@class scenarios.native.host
local native = {}

--- The function of a file, after its text was rewritten.
---@param path string what errors call the file
---@param text string
---@param rewrite fun(text: string, path: string): string makes the text that is compiled, unless the file was compiled before
---@return function
function native.compile(path, text, rewrite) end

--- The names of the tables and views of the database.
---@return string[]
function native.table_names() end

-- Waiting

--- Whether anything beside the scenario goes by its clock and can be waited for here: not in a block of the database, for example.
---@return boolean
function native.has_others() end

--- Waits until all that is due by then has been done, and sets the clock to it.
---@param seconds number from now on
function native.wait_until_quiet(seconds) end

--- Ends what the scenario waits for, or will wait for next: an error of kind `cancelled`.
function native.interrupt() end

--- Whether something that a script has left behind has failed, which ends the scenario.
---@return boolean
function native.was_interrupted() end

--- The number of columns that a text takes on a terminal.
---@param text string
---@return integer
function native.display_width(text) end

--- Raises inside a block of the database.
---@param name string who asks
function native.require_no_access(name) end

-- Clock and files

---@param date perilune.date
function native.clock_set(date) end

---@param seconds number
function native.clock_advance(seconds) end

--- Has the clock go on with each reading.
---@param seconds number by how much
function native.clock_tick(seconds) end

--- A folder of the scenario's own, which is removed when it has ended.
---@return string
function native.tmp_dir() end

-- Migrations

--- Runs the migrations of the project that the database has not seen.
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

--- How many statements have run, without those that frame transactions or look at the schema.
---@return integer
function native.query_count() end

---@return scenarios.statement?
function native.last_statement() end

--- How SQLite would run a statement: a line for each step, indented by depth.
---@param sql string
---@return string[]
function native.explain(sql) end

--- Notes statements until `end_queries`.
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

--- Records changes of rows until `end_changes`. Raises inside a block of the database.
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

--- Runs the main part of a script in a state of its own, and what it leaves that is due at once.
---@param path string
---@param arguments? any a list, of which each is one argument, or one argument
---@return scenarios.script_result
function native.run_script(path, arguments) end

--- Has a function of the host return a value, or call one, in the scenario and in its scripts.
---@param module string
---@param name string of the function
---@param value any
function native.stub(module, name, value) end

--- The calls of functions of the host so far.
---@param module string
---@param name? string of one function
---@return scenarios.effect[]
function native.calls(module, name) end

-- Snapshots

---@param name string
---@return string? text nil if there is none
function native.read_snapshot(name) end

--- Writes a snapshot as the options of the run say.
---@param name string
---@param text string
---@return "written"|"new"|"refused"
function native.write_snapshot(name, text) end

--- Notes that the scenario compares a value with a snapshot.
---@param name string
---@param text string the value
---@return string? other the scenario that compares another value with it
function native.use_snapshot(name, text) end

return native
