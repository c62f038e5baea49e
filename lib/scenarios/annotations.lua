---@meta _
-- What scenario files see, for editors (LuaCATS). What belongs to the tables of a project is generated: `schema.d.lua` beside this file.
-- Never loaded.

---@alias perilune.null userdata `perilune.null`: NULL where a table must say it
---@alias perilune.duration number|string|{ milliseconds?: number, seconds?: number, minutes?: number, hours?: number, days?: number, weeks?: number }

---A date and time, as `perilune.date` makes it.
---@class perilune.date
---@field year integer
---@field month integer
---@field day integer
---@field hour integer
---@field minute integer
---@field second integer
---@field unix number
---@field unix_seconds integer
---@field format fun(self: perilune.date, format: string): string

-- Definitions

---@alias perilune.grant "files"|"programs"|"effects"

---@class perilune.group_options
---@field tags? string|string[]
---@field template? string the layer of data that the database begins with
---@field database? "memory"|"file"|"empty"|string `fixture:NAME` is a copy of a checked-in file
---@field timeout? perilune.duration
---@field retry? integer how many times a failure is tried again; a pass after one is flaky
---@field lock? string scenarios with the same lock never run at once
---@field clock? string the time at which the clock stands
---@field seed? integer|string
---@field max_queries? integer
---@field no_checks? "allow"|"warn"|"fail" what becomes of a scenario that passes and has stated nothing
---@field grants? perilune.grant|perilune.grant[] lets the scripts that it runs change files and run programs

---@class perilune.expected_failure
---@field reason? string
---@field kind? string the kind of the error; `expectation` for a check that fails, `timeout` for a scenario that takes too long
---@field code? string the same
---@field message? string a Lua pattern
---@field pattern? string the same
---@field column? string
---@field table? string

---@class perilune.scenario_options: perilune.group_options
---@field cases? table[] a scenario for each; `{field}` in the name stands for a value
---@field fails? string|perilune.expected_failure the reason for which it must fail, and by which error

---@class perilune.scenario
---@overload fun(name: string, body: fun(t: perilune.t))
---@overload fun(name: string, options: perilune.scenario_options, body: fun(t: perilune.t))
scenario = {}

---While there is one, no other scenario runs; the run fails in the end.
---@param name string
---@param options perilune.scenario_options
---@param body fun(t: perilune.t)
---@overload fun(name: string, body: fun(t: perilune.t))
function scenario.only(name, options, body) end

---A scenario that is not run.
---@param reason string
---@param name string
---@param options perilune.scenario_options
---@param body? fun(t: perilune.t)
---@overload fun(reason: string, name: string, body?: fun(t: perilune.t))
function scenario.skip(reason, name, options, body) end

---A scenario that is still to be written.
---@param name string
function scenario.todo(name) end

---@param name string
---@param options perilune.group_options
---@param body fun()
---@overload fun(name: string, body: fun())
function group(name, options, body) end

---@param body fun(t: perilune.t)
function before_each(body) end

---@param body fun(t: perilune.t)
function after_each(body) end

---A layer of data: made once for a run, and copied for each scenario.
---@param name string
---@param options { on?: string, timeout?: perilune.duration }
---@param body fun(db: perilune.db)
---@overload fun(name: string, body: fun(db: perilune.db))
function template(name, options, body) end

---What rows of a table have that `t.make` makes: values, or functions of a number that counts them.
---@param table_name string
---@param columns table<string, any|fun(n: integer, t: perilune.t): any>
function factory(table_name, columns) end

---A value that is made when a scenario first asks for it: `t.fixtures.NAME`.
---@param name string
---@param body fun(t: perilune.t): any
function fixture(name, body) end

---All combinations, for `cases`.
---@param lists table<string, any[]>
---@return table[]
function matrix(lists) end

-- The context

---@class (exact) perilune.t
---@field db perilune.db the database of the scenario, as scripts see it
---@field given perilune.given inserts rows: a text table, or a list of tables
---@field make perilune.make makes rows that are whole
---@field fixtures perilune.fixtures
---@field clock perilune.clock
---@field effects table<string, perilune.effects>
---@field case table the current case
---@field seed integer
---@field tmp_dir string a private folder
local t = {}

---Runs a script in a state of its own on this database. If it fails, so does the scenario.
---@param path string
---@param arguments? table a list is given as on the command line; anything else as one argument
---@return perilune.script_result
function t.run(path, arguments) end

---The same; the error of the script is in the result.
---@param path string
---@param arguments? table
---@return perilune.script_result
function t.run_protected(path, arguments) end

---@param options? { to?: string }
---@return string[]
function t.migrate(options) end

---@return string?
function t.migrate_down() end

---@param f fun()
---@return perilune.changes
function t.changes(f) end

---@param f fun()
---@return perilune.queries
function t.queries(f) end

---Waits until all that is due now has been done; the clock stands meanwhile.
function t.wait_until_idle() end

---@generic T
---@param name string
---@param f fun(): T
---@return T
function t.step(name, f) end

---@param ... any
function t.note(...) end

---@param name string
---@param value any
function t.attach(name, value) end

---@param f fun()
function t.defer(f) end

---@param reason? string
function t.skip(reason) end

---@class (exact) perilune.script_result
---@field value any what the script returned
---@field output string
---@field error any
---@field changes perilune.changes
---@field effects table[]
---@field queries perilune.queries

---@class perilune.changes
---@class perilune.queries

---@class (exact) perilune.clock
---@field set fun(self: perilune.clock, instant: string|perilune.date): perilune.clock
---@field advance fun(self: perilune.clock, duration: perilune.duration): perilune.clock
---@field tick fun(self: perilune.clock, duration: perilune.duration): perilune.clock
---@field now fun(self: perilune.clock): perilune.date

---@class (exact) perilune.effects
---@field stub fun(self: perilune.effects, name: string, value: any): perilune.effects
---@field once fun(self: perilune.effects): perilune.effects the stub before it must be called once
---@field times fun(self: perilune.effects, count: integer): perilune.effects
---@field never fun(self: perilune.effects): perilune.effects
---@field at_least fun(self: perilune.effects, count: integer): perilune.effects
---@field at_most fun(self: perilune.effects, count: integer): perilune.effects
---@field calls fun(self: perilune.effects, name: string): any[]

---@class perilune.db
---@field query fun(self: perilune.db, sql: string, ...: any): table[]
---@field schema fun(self: perilune.db, table_name?: string): string
---@field integrity_check fun(self: perilune.db): string
---@field execute fun(self: perilune.db, sql: string, ...: any): table
---@field fetch_all fun(self: perilune.db, sql: string, ...: any): table[]
---@field fetch_one fun(self: perilune.db, sql: string, ...: any): table?
---@field fetch_value fun(self: perilune.db, sql: string, ...: any): any
---@field fetch_values fun(self: perilune.db, sql: string, ...: any): any[]
---@field write fun(self: perilune.db, block: fun(db: perilune.db): ...): ...
---@field read fun(self: perilune.db, block: fun(db: perilune.db): ...): ...

---@class perilune.given
---@class perilune.make
---@class perilune.fixtures

-- Stating what must be true

---Any Lua that must be true; a failure shows both sides of a comparison, and the operands of `and`, `or` and `not`.
---@generic T
---@param value T
---@param message? string
---@return T
function check(value, message) end

---The function must raise an error, which is returned.
---@param f fun()
---@param what? string|{ code?: string, kind?: string, column?: string, table?: string, pattern?: string, message?: string }
---@return { kind: string, message: string, [string]: any }
function expect_error(f, what) end

---@class (exact) perilune.expectation
---@field equals fun(self: perilune.expectation, value: any): perilune.expectation
---@field is fun(self: perilune.expectation, value: any): perilune.expectation
---@field near fun(self: perilune.expectation, number: number, tolerance?: number): perilune.expectation
---@field contains fun(self: perilune.expectation, part: any): perilune.expectation
---@field matches fun(self: perilune.expectation, pattern: string): perilune.expectation
---@field is_nil fun(self: perilune.expectation): perilune.expectation
---@field covers fun(self: perilune.expectation, part: table): perilune.expectation
---@field snapshot fun(self: perilune.expectation, name: string): perilune.expectation
---@field rows fun(self: perilune.expectation, text_table: string): perilune.expectation
---@field rows_any_order fun(self: perilune.expectation, text_table: string): perilune.expectation
---@field has_rows fun(self: perilune.expectation, text_table: string): perilune.expectation
---@field count fun(self: perilune.expectation, count: integer): perilune.expectation
---@field is_empty fun(self: perilune.expectation): perilune.expectation
---@field at_most fun(self: perilune.expectation, count: integer): perilune.expectation
---@field exactly fun(self: perilune.expectation, count: integer): perilune.expectation
---@field uses_index fun(self: perilune.expectation, name: string): perilune.expectation
---@field no_full_scan fun(self: perilune.expectation, table_name?: string): perilune.expectation
---@field no_repeats fun(self: perilune.expectation): perilune.expectation
---@field no_writes fun(self: perilune.expectation): perilune.expectation

---@class perilune.expect
---@overload fun(value: any): perilune.expectation
expect = {}

---The matchers that follow must not hold.
---@param value any
---@return perilune.expectation
function expect.no(value) end

---What is not so is noted, and the scenario goes on.
---@param value any
---@return perilune.expectation
function expect.soft(value) end

---Adds a matcher.
---@param name string
---@param matcher fun(value: any, ...: any): boolean, string|string[]|nil
function expect.extend(name, matcher) end
