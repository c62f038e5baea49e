--- The value types of a class apply to every way of selecting its columns.

local date = perilune.date

local function values()
  db:execute[[
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, born DATE);
    CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, due DATE, at DATETIME, paid BOOLEAN, state TEXT, data TEXT, money INTEGER, raw BLOB);
    INSERT INTO customer VALUES (1, 'Ada', '1815-12-10'), (2, 'Bob', NULL);
    INSERT INTO invoice VALUES (1, 1, '2026-03-31', '2026-03-31 10:00:00', 1, 'o', '{"a":1}', 150, x'00'),
      (2, 1, '2026-04-30 00:00:00.000', NULL, 0, 'c', NULL, 250, NULL), (3, 2, NULL, '2026-01-01', NULL, 'o', '[1,2]', NULL, x'6162')]]
  local State = perilune.enum{ open = "o", closed = "c" }
  local money = { from_database = function(cents) return { cents = cents } end, to_database = function(value) return value.cents end }
  local Customer = perilune.record "customer"
  local Invoice = perilune.record("invoice", { types = { state = State, data = "json", money = money } })
  Invoice.customer, Customer.invoices = Invoice:belongs_to(Customer), Customer:has_many(Invoice)
  return Invoice, Customer, State
end

local typed = { "due", "at", "paid", "state", "data", "money", "raw" }

--- Compares values as a script sees them; NULL is nil in records and perilune.null in lists.
local function show(value)
  if value == nil or value == perilune.null then return "NULL" end
  local kind = date.is(value) and "date" or type(value)
  return kind .. " " .. perilune.json.encode(type(value) == "string" and value:gsub(".", function(c) return ("%02x"):format(c:byte()) end) or value)
end

test("each way to select a column returns the values of records", function()
  local Invoice = values()
  for _, name in ipairs(typed) do
    local wanted = {}
    for index, record in ipairs(Invoice:order("id"):fetch_all()) do wanted[index] = show(record[name]) end
    local function check(way, list)
      for index = 1, 3 do
        if show(list[index]) ~= wanted[index] then error(("%s of %s: expected %s, got %s"):format(way, name, wanted[index], show(list[index])), 2) end
      end
    end
    local request = Invoice:order("id")
    local one = request:select(name)
    check("pluck", request:pluck(name))
    local pairs_of, rows, tuples, each, named, united = {}, {}, {}, {}, {}, {}
    for index, row in ipairs(request:pluck("id", name)) do pairs_of[index] = row[2] end
    check("pluck of two columns", pairs_of)
    check("fetch_optional_values", one:fetch_optional_values())
    for index, row in ipairs(one:fetch_all()) do rows[index] = row[name] end
    check("fetch_all", rows)
    for row in request:select("id", name):rows() do each[row.id] = row[name] end
    check("rows", each)
    for id, value in request:select("id", name):tuples() do tuples[id] = value end
    check("tuples", tuples)
    for index, row in ipairs(request:select(Invoice.c[name]:as("other")):fetch_all()) do named[index] = row.other end
    check("a column with another name", named)
    for index, row in ipairs(request:annotated_with(Invoice.c[name]:as("other")):fetch_all()) do named[index] = row.other end
    check("an annotation", named)
    for record in request:annotated_with(Invoice.c[name]:as("other"), Invoice.c.id:gt(1):as("is_later")):rows() do
      named[record.id] = record.other
      equal({ record.is_later, getmetatable(record) == getmetatable(Invoice:find(1)) }, { record.id > 1, true })
    end
    check("rows with an annotation", named)
    for index, row in ipairs(Invoice:select("id", name):union(Invoice:select("id", name)):order("id"):fetch_all()) do united[index] = row[name] end
    check("a union", united)
    check("filter", { one:filter{ id = 1 }:fetch_value(), one:filter{ id = 2 }:fetch_one()[name], one:filter{ id = 3 }:fetch_value() })
    local all = Invoice:filter(Invoice.c[name]:is_not_null()):order("id")
    local set, count = all:select(name):fetch_set(), 0
    for value in pairs(set) do
      local is_known = false
      for index = 1, 3 do is_known = is_known or show(value) == wanted[index] end
      equal(is_known, true)
      count = count + 1
    end
    equal(count, all:select(name):distinct():fetch_count())
    local updated = {}
    for index, row in ipairs(Invoice:update_all({ customer_id = Invoice.c.customer_id }, { returning = { "id", name } })) do updated[row.id] = row[name] end
    check("update_all", updated)
    check("a prepared request", (function()
      local prepared, list = one:filter(Invoice.c.id:eq(perilune.parameter "id")):prepare(), {}
      for index = 1, 3 do list[index] = prepared:fetch_value{ id = index } end
      return list
    end)())
  end
end)

test("the minimum and the maximum of a column have the column's type", function()
  local Invoice, Customer, State = values()
  equal({ Invoice:max("due").month, Invoice:min("due").month, Invoice:max("paid"), Invoice:min("money").cents }, { 4, 3, true, 150 })
  equal(Invoice:max("state") == State.open, true)
  equal(Invoice:filter{ id = 0 }:max("due"), nil)
  local row = Invoice:select(Invoice.c.due:max():as("latest"), Invoice.c.id:count():as("count")):fetch_one()
  equal({ row.latest.month, row.count }, { 4, 3 })
  equal(Customer:annotated_with(Customer.invoices:max("due"):as("latest")):find(1).latest.month, 4)
  equal(Customer:annotated_with(Customer.invoices:max("due"):as("latest")):find(2).latest, nil)
end)

test("columns of associations have the types of the associated class", function()
  local Invoice, Customer, State = values()
  equal(Invoice:annotated_with_required(Invoice.customer:select(Customer.c.born:as("customer_born"))):find(1).customer_born.year, 1815)
  equal(Invoice:including_required(Invoice.customer:select("name", "born")):find(1).customer.born.year, 1815)
  local customer = Customer:including_all(Customer.invoices:select("due", Invoice.c.money:as("due_money"), Invoice.c.at:as("state"))):find(1)
  equal({ customer.invoices[1].due.month, customer.invoices[1].due_money.cents, customer.invoices[1].state.hour }, { 3, 150, 10 })
  equal(Invoice:joining_required(Invoice.customer):select("due", "customer_id"):order("id"):fetch_one().due.month, 3)
  equal(Customer:find(1):invoices():order("id"):pluck("state")[2] == State.closed, true)
end)

test("columns of common tables and views have the types of the original columns", function()
  local Invoice, _, State = values()
  local open = perilune.common_table("open", Invoice:filter{ state = State.open }:select("id", "due", Invoice.c.state:as("mood")))
  local row = open:order("id"):fetch_one()
  equal({ row.due.month, row.mood == State.open, open:pluck("due")[1].month, open:max("due").month }, { 3, true, 3, 3 })
  equal(open:filter{ due = "2026-03-31" }:fetch_count(), 1)
  for other in open:order("id"):rows() do equal(other.due and other.due.year, other.id == 1 and 2026 or nil) end
  db:execute "CREATE VIEW v AS SELECT id, due FROM invoice"
  equal({ perilune.record("v"):pluck("due")[1].month, perilune.record("v"):filter{ due = "2026-03-31" }:fetch_one().due.month }, { 3, 3 })
end)

test("pluck of an annotated request returns only the named columns", function()
  local _, Customer = values()
  local request = Customer:annotated_with(Customer.invoices:count():as("count")):order("id")
  equal(request:pluck("name", "id"), { { "Ada", 1 }, { "Bob", 2 } })
  equal(request:pluck("name"), { "Ada", "Bob" })
  equal(request:pluck("id", "born")[2], { 2, perilune.null })
end)

test("a value that cannot be converted raises an error that names the column", function()
  local Invoice = values()
  db:execute "INSERT INTO invoice (id, due, state) VALUES (9, 'soon', 'x')"
  local err = fails("conversion", function() Invoice:pluck("due") end)
  equal({ err.table, err.column }, { "invoice", "due" })
  fails("conversion", function() Invoice:filter{ id = 9 }:select("state"):fetch_value() end)
  equal(Invoice:filter{ id = 9 }:select(perilune.sql("due"):as("due")):fetch_value(), "soon")
end)

test("columns of different types are not converted in a union", function()
  local Invoice = values()
  local both = Invoice:filter{ id = 1 }:select("due"):union_all(Invoice:filter{ id = 1 }:select("data"))
  equal(both:fetch_values(), { "2026-03-31", '{"a":1}' })
end)

test("rows that upsert_all returns have the types of their class", function()
  local Invoice = values()
  local rows = Invoice:upsert_all({ { id = 1, due = "2026-05-01" } }, { returning = { "id", "due" } })
  equal({ rows[1].id, rows[1].due.month }, { 1, 5 })
end)

test("tuples and pluck return NULL in a first column that has a type", function()
  db:execute"CREATE TABLE day (at DATE, is_open BOOLEAN, n); INSERT INTO day VALUES (NULL, NULL, 1), ('2026-03-31', 1, 2)"
  local Day = perilune.record("day")
  for _, column in ipairs{ "at", "is_open" } do
    local first = Day:order("n"):pluck(column, "n")[1]
    equal({ first[1] == perilune.null, first[2] }, { true, 1 })
    equal(Day:order("n"):select(column, "n"):tuples()() == perilune.null, true)
    equal(Day:order("n"):select(column, "n"):prepare():tuples()() == perilune.null, true)
  end
end)

test("rows have typed values in columns of the same name and in columns without a name", function()
  db:execute[[
    CREATE TABLE one (id INTEGER PRIMARY KEY, at DATE, is_open BOOLEAN, code TEXT);
    CREATE TABLE two (id INTEGER PRIMARY KEY, at DATE, is_open BOOLEAN, code INTEGER);
    INSERT INTO one VALUES (1, '2026-01-01', 1, 'a'); INSERT INTO two VALUES (1, '2026-02-02', 0, 5)]]
  local One, Two = perilune.record("one", { types = { code = perilune.enum{ "a", "b" } } }), perilune.record "two"
  local joined = One:join(Two, Two.c.id:eq(One.c.id))
  local function check(row)
    equal({ row[1].month, row[2].month, row[3], row[4], row[5], tostring(row[6]) }, { 1, 2, true, false, 5, "a" })
  end
  local selected = joined:select(One.c.at, Two.c.at, One.c.is_open, Two.c.is_open, Two.c.code, One.c.code)
  check(selected:fetch_one())
  check(selected:fetch_all()[1])
  check(selected:prepare():fetch_one())
  for row in selected:rows() do check(row) end
  for _, request in ipairs{ One:select(One.c.is_open:coalesce(false), One.c.id:eq(1), One.c.at:max():over{}) } do
    local row = request:fetch_one()
    equal({ row[1], row[2], row[3].month }, { true, true, 1 })
    for row in request:rows() do equal({ row[1], row[2], row[3].month }, { true, true, 1 }) end
  end
  local row = One:all():update_all({ is_open = false }, { returning = { "at", "at", "is_open", "is_open" } })[1]
  equal({ row[1].month, row[2].month, row[3], row[4] }, { 1, 1, false, false })
end)
