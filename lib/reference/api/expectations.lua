---@meta _
---@page Expectations
---Checks: `check` for any Lua expression, and `expect` with matchers for values, rows, changes and queries.
---
---A failed check fails the scenario, even if `pcall` catches the error. In text tables `~` is NULL, `*` is any value except NULL, `...` at
---the end ignores the rest of a row, `now` is the clock, `a -> b` is a change, and `@name` is the value that it first matched. Text in
---quotes is always text: `"~"`, `"NULL"`. In rows for `t.given`, an empty cell means the default of the
---column; among changes, a column that an update has not changed, or that the table does not have.

---Checks that an expression is true. A failure shows both sides of a comparison, and the operands of `and`, `or` and `not`.
---```lua
---scenario("a check", function(t)
---  local total = 25
---  check(total > 20 and total < 30)
---end)
---```
---@generic T
---@param value T
---@param message? string
---@return T
---@raises expectation: the value is false or nil
---@access any
function check(value, message) end

---Checks that a function raises an error, and returns the error.
---```lua
---scenario("an error", function(t)
---  t.make.customer{ name = "Ada" }
---  local err = expect_error(function()
---    t.make.customer{ name = "Ada" }
---  end, { kind = "constraint_unique", column = "name" })
---  check(err.table == "customer")
---end)
---```
---@param f fun()
---@param what? string|{ kind?: string, message?: string, column?: string, table?: string } a Lua pattern for the message, or the required fields of the error
---@return perilune.error
---@raises expectation: the function raises nothing, or another error
---@access any
function expect_error(f, what) end

---Checks a value with matchers, which can be chained: `expect(queries):at_most(4):no_repeats()`.
---@class perilune.expect
---@overload fun(value: any): perilune.expectation
---@access any
---@raises argument: an argument has the wrong type
expect = {}

---Negates the matchers that follow.
---```lua
---scenario("not", function(t) expect.no("tea"):equals("ale") end)
---```
---@param value any
---@return perilune.expectation
function expect.no(value) end

---Checks a value like `expect`, but the scenario continues after a failure.
---```lua
---scenario("soft", function(t) expect.soft("tea"):equals("tea") end)
---```
---@param value any
---@return perilune.expectation
function expect.soft(value) end

---Adds a matcher.
---```lua
---expect.extend("is_even", function(value) return value % 2 == 0 end)
---scenario("a matcher", function(t) expect(4):is_even() end)
---```
---@param name string
---@param matcher fun(value: any, ...: any): boolean, string|string[]|nil returns whether it holds, and lines that describe the actual value
---@raises usage: there is a matcher of this name
function expect.extend(name, matcher) end

---An expectation, made by `expect`. Each matcher returns it again.
---@class (exact) perilune.expectation
---@access any
---@raises expectation: the matcher does not hold; usage: it is not for this kind of value
local expectation = {}

---The value is equal; tables have the same content.
---```lua
---scenario("equals", function(t)
---  expect({ 1, { 2 } }):equals{ 1, { 2 } }
---end)
---```
---@param value any
---@return perilune.expectation
function expectation:equals(value) end

---The value is the same object.
---```lua
---scenario("is", function(t)
---  local list = {}
---  expect(list):is(list)
---end)
---```
---@param value any
---@return perilune.expectation
function expectation:is(value) end

---The number differs by at most a tolerance.
---```lua
---scenario("near", function(t)
---  expect(0.1 + 0.2):near(0.3)
---end)
---```
---@param number number
---@param tolerance? number 1e-9 by default; the difference of integers is exact
---@return perilune.expectation
function expectation:near(number, tolerance) end

---The text contains a part, or the list contains an element.
---```lua
---scenario("contains", function(t)
---  expect("white whale"):contains("whale")
---end)
---```
---@param part any
---@return perilune.expectation
function expectation:contains(part) end

---A Lua pattern matches the text.
---```lua
---scenario("matches", function(t)
---  expect("R-0001"):matches("^R%-%d+$")
---end)
---```
---@param pattern string
---@return perilune.expectation
function expectation:matches(pattern) end

---The value is nil.
---```lua
---scenario("is_nil", function(t)
---  expect(t.db.customer:fetch_one(1)):is_nil()
---end)
---```
---@return perilune.expectation
function expectation:is_nil() end

---The table has these keys with these values; other keys are ignored.
---```lua
---scenario("covers", function(t)
---  expect({ name = "Ada", id = 1 }):covers{ name = "Ada" }
---end)
---```
---@param part table
---@return perilune.expectation
function expectation:covers(part) end

---The value equals the contents of the file `__snapshots__/FILE/NAME.snap`. `--update-snapshots` and `--review` write the file.
---```lua
---scenario("snapshot", function(t)
---  expect(t.db:schema_sql("customer")):snapshot("customer")
---end)
---```
---@param name string
---@return perilune.expectation
function expectation:snapshot(name) end

---The rows, request or changes equal a text table, in its order.
---```lua
---scenario("rows", function(t)
---  t.given.customer{ { name = "Ada" }, { name = "Bo" } }
---  expect(t.db.customer:order("id")):rows [[
---    | id | name |
---    | 1  | Ada  |
---    | 2  | Bo   |
---  ]]
---end)
---```
---@param text_table string
---@return perilune.expectation
function expectation:rows(text_table) end

---The rows equal a text table, in any order.
---```lua
---scenario("rows_any_order", function(t)
---  t.given.customer{ { name = "Ada" }, { name = "Bo" } }
---  expect(t.db.customer):rows_any_order [[
---    | id | name |
---    | 2  | Bo   |
---    | 1  | Ada  |
---  ]]
---end)
---```
---@param text_table string
---@return perilune.expectation
function expectation:rows_any_order(text_table) end

---The rows contain the rows of a text table.
---```lua
---scenario("has_rows", function(t)
---  t.given.customer{ { name = "Ada" }, { name = "Bo" } }
---  expect(t.db.customer):has_rows [[
---    | name |
---    | Bo   |
---  ]]
---end)
---```
---@param text_table string
---@return perilune.expectation
function expectation:has_rows(text_table) end

---The number of rows, changes or elements is this one.
---```lua
---scenario("count", function(t)
---  t.given.customer{ name = "Ada" }
---  expect(t.db.customer):count(1)
---end)
---```
---@param count integer
---@return perilune.expectation
function expectation:count(count) end

---The rows, changes or elements are empty.
---```lua
---scenario("is_empty", function(t)
---  expect(t.db.customer):is_empty()
---end)
---```
---@return perilune.expectation
function expectation:is_empty() end

---At most this number of statements ran.
---```lua
---scenario("at_most", function(t)
---  local queries = t.queries(function()
---    t.db:fetch_one("SELECT * FROM customer WHERE id = 1")
---  end)
---  expect(queries):at_most(1)
---end)
---```
---@param count integer
---@return perilune.expectation
function expectation:at_most(count) end

---Exactly this number of statements ran.
---```lua
---scenario("exactly", function(t)
---  local queries = t.queries(function()
---    t.db:fetch_one("SELECT * FROM customer WHERE id = 1")
---  end)
---  expect(queries):exactly(1)
---end)
---```
---@param count integer
---@return perilune.expectation
function expectation:exactly(count) end

---A statement uses an index.
---```lua
---scenario("uses_index", function(t)
---  t.db:create_index("invoice", { "customer_id" })
---  local queries = t.queries(function()
---    t.db:fetch_one("SELECT id FROM invoice WHERE customer_id = 1")
---  end)
---  expect(queries):uses_index("invoice_on_customer_id")
---end)
---```
---@param name string
---@return perilune.expectation
function expectation:uses_index(name) end

---No statement scans a whole table.
---```lua
---scenario("no_full_scan", function(t)
---  local queries = t.queries(function()
---    t.db:fetch_one("SELECT * FROM customer WHERE id = 1")
---  end)
---  expect(queries):no_full_scan()
---end)
---```
---@param table_name? string only of this table
---@return perilune.expectation
function expectation:no_full_scan(table_name) end

---No statement runs twice, with the same or other arguments, as in a loop.
---```lua
---scenario("no_repeats", function(t)
---  local queries = t.queries(function()
---    t.db:fetch_one("SELECT * FROM customer WHERE id = 1")
---  end)
---  expect(queries):no_repeats()
---end)
---```
---@return perilune.expectation
function expectation:no_repeats() end

---No statement writes.
---```lua
---scenario("no_writes", function(t)
---  local queries = t.queries(function()
---    t.db:fetch_one("SELECT * FROM customer WHERE id = 1")
---  end)
---  expect(queries):no_writes()
---end)
---```
---@return perilune.expectation
function expectation:no_writes() end

