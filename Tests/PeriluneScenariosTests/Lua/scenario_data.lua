-- The database of a scenario, and rows for it: t.db, t.given, t.make.

local function shop()
  db:execute[[
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE);
    CREATE TABLE invoices (
      id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), number TEXT NOT NULL UNIQUE,
      status TEXT NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'sent')), total REAL, is_paid BOOLEAN NOT NULL DEFAULT FALSE, sent_at DATETIME);
    CREATE TABLE lines (
      invoice_id INTEGER NOT NULL REFERENCES invoices (id), position INTEGER NOT NULL, note TEXT, replaced_by INTEGER,
      PRIMARY KEY (invoice_id, position), FOREIGN KEY (invoice_id, replaced_by) REFERENCES lines (invoice_id, position));
    CREATE VIEW drafts AS SELECT * FROM invoices WHERE status = 'draft';]]
end

test("t.db has a record class for each table and view", function()
  shop()
  passes([[
    local ada = t.db.customers:insert { name = "Ada" }
    check(t.db.customers:fetch_one(ada.id).name == "Ada")
    check(t.db.customers:fetch_one(99) == nil)
    check(t.db.customers:filter { name = "Ada" }:fetch_count() == 1)
    check(t.db.customers == t.db.customers)
    check(t.db.drafts:fetch_count() == 0)
    t.db:write(function(db) db.customers:insert { name = "Plato" } end)
    check(#t.db:fetch_all("SELECT * FROM customers WHERE name = ?", "Plato") == 1)
    check(t.db == db)]])
end)

test("an unknown table is an error with the nearest name", function()
  shop()
  local found = failure("t.db.invoice:fetch_one(1)")
  equal(found.kind, "unknown_table")
  matches(found.message, "no table `invoice`; did you mean `invoices`?")
  matches(failure("t.given.invoice 'x'").message, "did you mean `invoices`?")
  matches(failure("t.make.lnes()").message, "did you mean `lines`?")
end)

test("t.db has the methods of a database in scripts", function()
  shop()
  matches(failure("t.db:query('SELECT 1')").message, "no method `query`; use db:fetch_all(sql, ...)")
  matches(failure("t.db:schema('customers')").message, "no method `schema`; use db:schema_sql(\"table\")")
  matches(failure("t.db.customers:get(1)").message, "no method `get`; use fetch_one(key)")
end)

test("t.db has a class for a table whose name is a method of another library", function()
  db:execute("CREATE TABLE query (id INTEGER PRIMARY KEY, get TEXT); INSERT INTO query VALUES (1, 'x')")
  passes("check(t.db.query:fetch_one(1).get == 'x')")
end)

test("calls without a table name are errors that explain the missing name", function()
  shop()
  matches(failure("t.given{ customers = {} }").message, "t.given is not a function; use a member of it, t.given.NAME(...)")
  matches(failure("t.given('customers', { { name = 'Ada' } })").message, "use a member of it, t.given.customers(...)")
  matches(failure("t.make('customers')").message, "use a member of it, t.make.customers(...)")
  matches(failure("t.effects('mail')").message, "use a member of it, t.effects.mail:stub(name, value)")
  matches(failure("t.fixtures('shop')").message, "t.fixtures is not a function; use a member of it, t.fixtures.shop")
end)

test("the schema of a table and the integrity of the file can be checked", function()
  shop()
  db:execute("CREATE INDEX by_name ON customers (name)")
  passes([[
    expect(t.db:schema_sql("customers")):contains("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE);\nCREATE INDEX by_name ON customers (name);")
    expect(t.db:schema_sql()):contains("CREATE VIEW drafts")
    check(t.db:integrity_check() == "ok")]])
  matches(failure("t.db:schema_sql('customer')").message, "did you mean `customers`?")
  db:execute("PRAGMA foreign_keys = OFF; INSERT INTO invoices (id, customer_id, number) VALUES (1, 99, 'x')")
  matches(failure("check(t.db:integrity_check() == 'ok')").details[1], "row 1 of invoices refers to a row of customers that does not exist")
end)

test("t.given inserts rows of a text table, with types from the columns", function()
  shop()
  passes([=[
    local customers = t.given.customers [[
      | id | name   | born       |
      | 1  | 007    | 1815-12-10 |
      | 2  | "~"    | ~          |
    ]]
    check(customers[1].name == "007" and customers[2].name == "~" and customers[2].born == nil)
    check(customers[1].born.year == 1815)
    t.given.invoices [[
      | customer_id | number | total | is_paid | sent_at             | status |
      | 1           | R-1    | 2.50  | true    | 2026-03-31 18:00:00 |        |
      | 1           | R-2    | 3     | 0       | now                 | sent   |
    ]]
    local first = t.db.invoices:fetch_one(1)
    check(first.total == 2.5) check(first.is_paid == true) check(first.status == "draft") check(first.sent_at.hour == 18)
    check(t.db.invoices:fetch_one(2).sent_at ~= nil)]=])
end)

test("t.given inserts rows of Lua tables", function()
  shop()
  passes([[
    local list = t.given.customers { { name = "Ada" }, { name = "Plato" } }
    check(#list == 2 and list[2].id == 2)
    check(#t.given.customers { name = "Sappho" } == 1)]])
  matches(failure("t.given.customers(7)").message, "t.given.customers: expected a text table or a list of rows, got the integer 7")
  matches(failure("t.given.customers { 1 }").message, "got the integer 1 at position 1")
end)

test("t.given stores quoted text and strings from Lua tables in date columns as written", function()
  shop()
  passes([=[
    t.given.customers [[
      | id | name | born                  |
      | 1  | Ada  | "1815-12-10 00:00:00" |
      | 2  | Bo   | 1815-12-10 00:00:00   |
      | 3  | Cy   | "in autumn"           |
    ]]
    check(t.db:fetch_value("SELECT group_concat(born) FROM customers") == "1815-12-10 00:00:00,1815-12-10,in autumn")
    local list = t.given.invoices [[
      | customer_id | number | sent_at               |
      | 1           | R-1    | "2026-03-31 18:00:00" |
      | 1           | R-2    | 2026-03-31 18:00:00   |
    ]]
    check(list[1].sent_at == list[2].sent_at and list[1] == t.db.invoices:fetch_one(1))
    t.given.invoices { customer_id = 1, number = "R-3", sent_at = "2026-03-31 18:00" }
    t.given.invoices { customer_id = 1, number = "R-4", sent_at = perilune.date("2026-03-31 18:00") }
    expect(t.db:fetch_values("SELECT sent_at FROM invoices ORDER BY id")):equals{
      "2026-03-31 18:00:00", "2026-03-31 18:00:00.000", "2026-03-31 18:00", "2026-03-31 18:00:00.000" }
    check(t.db.invoices:filter{ sent_at = "2026-03-31 18:00:00" }:fetch_count() == 4)]=])
  matches(failure("t.given.customers{ name = 'Ada', born = 'in autumn' }").message, "expected a date")
end)

test("t.given returns the records of rows with quoted dates in a table without a key", function()
  db:execute("CREATE TABLE visits (at DATETIME)")
  passes([=[
    local list = t.given.visits '| at |\n| "2026-03-31 18:00:00" |\n| "2026-04-01" |'
    check(list[1].at.hour == 18 and list[2].at.month == 4)]=])
end)

test("a name in a text table represents the generated key, even in other tables", function()
  shop()
  passes([=[
    t.given.customers "| id | name |\n| @ada | Ada |\n| @plato | Plato |"
    t.given.invoices "| customer_id | number |\n| @plato | R-1 |"
    check(t.db.invoices:fetch_one(1).customer_id == 2)
    expect(t.db.invoices):rows "| customer_id |\n| @plato |"]=])
end)

test("foreign keys are checked after t.given has inserted all rows", function()
  shop()
  passes([=[
    t.given.customers { { id = 1, name = "Ada" } }
    t.given.invoices { { id = 1, customer_id = 1, number = "a" } }
    t.given.lines "| invoice_id | position | replaced_by |\n| 1 | 1 | 2 |\n| 1 | 2 | ~ |"]=])
  local found = failure('t.given.invoices "| id | customer_id | number |\\n| 7 | 99 | b |"')
  equal(found.kind, "constraint_foreignkey")
  equal(found.message, "t.given.invoices: customer_id = 99 refers to a row of customers that does not exist")
  equal(db:fetch_value("SELECT COUNT(*) FROM invoices"), 1)
end)

test("t.given can be used inside a transaction", function()
  shop()
  passes([[
    t.db:write(function(db)
      t.given.customers { { id = 1, name = "Ada" } }
      t.make.invoices { customer_id = 1 }
    end)
    check(t.db.invoices:fetch_count() == 1)]])
end)

test("a cell that does not fit its column is an error with a location", function()
  shop()
  local function mistake(table_text, part)
    local found = failure("t.given.invoices [[" .. table_text .. "]]")
    matches(found.message, part)
  end
  mistake("| customer_id |\n| one |", "t.given.invoices: row 1: column `customer_id`: expected an integer, got one; put text in quotes")
  mistake("| total |\n| x |", "column `total`: expected a number, got x")
  mistake("| is_paid |\n| yes |", "column `is_paid`: expected true or false, got yes")
  mistake("| sent_at |\n| noon |", "column `sent_at`: expected a date")
  mistake("| number |\n| * |", "column `number`: expected a value, got *; a row needs values")
  mistake("| numbr |\n| 1 |", "no column `numbr`; did you mean `number`?")
end)

test("t.make completes rows and creates the rows that they must refer to", function()
  shop()
  passes([[
    local invoice = t.make.invoices { total = 5 }
    check(invoice.number == "number 1")
    check(t.db.customers:fetch_one(invoice.customer_id).name == "name 1")
    local line = t.make.lines()
    check(line.invoice_id == 2 and line.position == 1 and line.replaced_by == nil)
    check(t.db.customers:fetch_count() == 2)]])
end)

test("t.make accepts records in place of foreign key columns", function()
  shop()
  passes([[
    local ada = t.make.customers { name = "Ada" }
    local invoice = t.make.invoices { customer = ada }
    check(invoice.customer_id == ada.id)
    check(t.make.invoices { customers = ada }.customer_id == ada.id)
    check(t.make.lines { invoice = invoice }.invoice_id == invoice.id)
    check(t.db.customers:fetch_count() == 1)]])
  matches(failure("t.make.invoices { customer = 3 }").message, "t.make.invoices: `customer`: expected a record of `customers`, got the integer 3")
  matches(failure("t.make.invoices { customer = t.make.customers(), customer_id = 1 }").message, "are the same column")
  matches(failure("t.make.invoices { custmer = t.make.customers() }").message, "no column `custmer`")
end)

test("factories define values of rows and supply missing values", function()
  shop()
  local S = language()
  S.load("support.lua", [[
factory("customers", { name = function(n, t) return "customer " .. n .. " of " .. t.seed end })
factory("invoices", { number = function(n) return ("R-%04d"):format(n) end, status = "sent" })]], true)
  S.load("a_scenario.lua", [[scenario("s", function(t)
    local made = t.make.invoices:many(3, { total = 1 })
    check(#made == 3 and made[3].number == "R-0003" and made[1].status == "sent")
    check(made[1].customer_id == made[3].customer_id)
    expect(t.db.customers):rows "| name |\n| customer 1 of 5 |"
    check(t.make.invoices { number = "mine" }.number == "mine")
    check(t.make.invoices().number == "R-0005")
  end)]])
  local result = S.run("a_scenario.lua > s", { seed = 5 })
  equal(result.failures[1] and result.failures[1].message, nil)
end)

test("invalid factories are errors with a location", function()
  shop()
  matches(failure("t.make.invoices { numbr = 1 }").message, "did you mean `number`?")
  matches(failure("t.make.invoices { 1 }").message, "expected a table of columns, got a list")
  matches(failure("t.make.invoices:many('x')").message, "expected a count")
  matches(failure("t.make.invoices:mnay(1)").message, "did you mean `many`?")
  matches(failure("t.make.invoices({ total = 1 }, 3)").message,
    "t.make.invoices: takes one argument, got the integer 3 as argument 2; use t.make.invoices:many(3, { column = value })")
  matches(failure("t.make.invoices:many(1, {}, 2)").message, "t.make.invoices:many: takes at most 2 arguments, got the integer 2")
  matches(failure("t.make.invoices.many(1)").message, "t.make.invoices.many: call it with a colon")
  matches(failure("t.given.invoices({ total = 1 }, 3)").message, "t.given.invoices: takes one argument, got the integer 3 as argument 2")
  local found = failure("t.make.invoices { status = 'x' }")
  equal(found.kind, "constraint_check")
  equal(found.details[#found.details], 'help  factory("invoices", { ... }) defines the values of its rows')
  local S = language()
  S.load("support.lua", 'factory("invoices", { nubmer = 1 })', true)
  matches(failure("t.make.invoices()").message, "did you mean `number`?")
end)

test("rows of many that must refer to different rows name the factory that makes them", function()
  db:execute([[CREATE TABLE seat (id INTEGER PRIMARY KEY); CREATE TABLE hold (id INTEGER PRIMARY KEY, seat_id INTEGER NOT NULL UNIQUE REFERENCES seat (id),
    kind TEXT); CREATE UNIQUE INDEX kinds ON hold (kind) WHERE kind = 'x']])
  local help = 'help  factory("hold", { seat_id = function(n, t) return t.make.seat().id end }) makes a row of seat for each row'
  equal(failure("t.make.hold:many(2)").details, { help })
  equal(failure("t.make.hold:many(2, { kind = 'x', seat_id = t.make.seat().id })").details, { 'help  factory("hold", { ... }) defines the values of its rows' })
  local S = language()
  S.load("support.lua", 'factory("hold", { kind = "y" })', true)
  equal(failure("t.make.hold:many(2)").details, { help })
  S.load("support.lua", 'factory("seat", { id = function(n) return n end })', true)
  matches(failure("t.make.seat:many(2, function(i) end)").message,
    't.make.seat:many: expected a table of columns, got a function; use factory("seat", { column = function(n, t) ... end }) for values that differ')
end)

test("t.make reports rows that require each other", function()
  db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b_id INTEGER NOT NULL REFERENCES b (id)); CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER NOT NULL REFERENCES a (id))")
  matches(failure("t.make.a()").message, "a row of a, which needs one of b needs one of a")
end)

test("if t.make fails, the rows that it created are removed", function()
  shop()
  failure("t.make.invoices { status = 'x' }")
  equal(db:fetch_value("SELECT COUNT(*) FROM customers"), 0)
end)

test("NULL and a year alone in a text table are refused, and the errors name the notation to use", function()
  shop()
  matches(failure("t.given.lines[[\n| invoice_id | position | note |\n| 1 | 1 | NULL |\n]]").message, "; ~ is NULL")
  matches(failure("t.given.customers[[\n| name | born |\n| Ada | 2026 |\n]]").message, "expected a date")
  passes('t.given.customers[[\n| name |\n| "NULL" |\n]] check(t.db.customers:fetch_one().name == "NULL")')
end)

test("a function in place of a value for t.make names the factory", function()
  db:execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT)")
  matches(failure("t.make.customer:many(2, { name = function(n) return n end })").message,
    't.make.customer:many: `name`: expected a value, got a function; use factory("customer", { name = function(n, t) ... end })')
end)

test("a name without a value in a column that must not be NULL is named", function()
  db:execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
  matches(failure('t.given.customer "| id | name |\\n| 1 | @n |"').message,
    "t.given.customer: row 1: @n has no value, and the database chooses none for the column `name`")
end)

test("a factory with a misspelt table is reported when a similar table is filled", function()
  db:execute("CREATE TABLE vehicle (id INTEGER PRIMARY KEY, name TEXT)")
  local S = language()
  S.load("a_scenario.lua", 'factory("vehicels", { name = "x" })\nscenario("s", function(t) t.make.vehicle() end)')
  matches(S.run("a_scenario.lua > s", {}).failures[1].message, 'factory "vehicels" at a_scenario.lua:1: no table `vehicels`; did you mean `vehicle`?')
end)

test("tables of jobs and runs that do not exist yet are explained", function()
  matches(failure("check(t.db.perilune_job)").message, "no table `perilune_job` yet; it is made when the first job is enqueued")
end)
