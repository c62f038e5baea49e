--- Records in place of the columns that refer to them.

db:execute [[
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, area TEXT, number INTEGER, UNIQUE (area, number));
  CREATE TABLE invoice (id INTEGER PRIMARY KEY, number TEXT UNIQUE, customer_id INTEGER REFERENCES customer);
  CREATE TABLE visit (id INTEGER PRIMARY KEY, area TEXT, number INTEGER, FOREIGN KEY (area, number) REFERENCES customer (area, number));
  INSERT INTO customer VALUES (1, 'Ada', 'N', 1), (2, 'Bob', 'N', 2)]]

local Customer, Invoice, Visit = perilune.record "customer", perilune.record "invoice", perilune.record "visit"
Invoice.customer = Invoice:belongs_to(Customer)
Customer.invoices = Customer:has_many(Invoice)
Visit.customer = Visit:belongs_to(Customer)
local ada, bob = Customer:find(1), Customer:find(2)

local function customers() return db:fetch_values "SELECT ifnull(customer_id, 0) FROM invoice ORDER BY id" end

test("a new record can be assigned its parent record", function()
  local invoice = Invoice:insert{ customer = ada, number = "R1" }
  equal({ invoice.customer_id, rawequal(invoice.customer, ada), invoice:has_changes() }, { 1, true, false })
  equal(Invoice{ customer = bob }:insert().customer_id, 2)
  equal(Invoice:insert{ customer = perilune.null }.customer_id, nil)
  equal(Invoice:insert(Invoice.draft{ customer = bob }).customer.name, "Bob")
  equal(#Invoice:insert_all{ { customer = ada }, { number = "x" }, Invoice{ customer = bob } }, 3)
  equal(customers(), { 1, 2, 0, 2, 1, 0, 2 })
  equal(Invoice:upsert{ number = "R1", customer = bob }.customer_id, 2)
  equal(Invoice:upsert_all{ { number = "R1", customer = ada }, { id = 2, customer = ada } }, 2)
  equal({ Invoice:find(1).customer_id, Invoice:find(2).customer_id }, { 1, 1 })
  matches(Invoice:statement("insert", { customer = bob }), "VALUES (2)")
end)

test("assigning a parent record sets all columns of a composite foreign key", function()
  local visit = Visit:insert{ customer = bob }
  equal({ visit.area, visit.number }, { "N", 2 })
  visit.customer = ada
  equal({ visit:update_changes(), visit.area, visit.number, Visit:find(1).number }, { true, "N", 1, 1 })
end)

test("assigning a parent record sets the foreign key columns", function()
  local invoice = Invoice:insert{ customer = ada }
  invoice.customer = bob
  equal({ Invoice:find(1).customer_id, invoice:update_changes(), Invoice:find(1).customer_id }, { 1, true, 2 })
  invoice = Invoice:find(1)
  invoice.customer = ada
  equal({ invoice.customer_id, invoice.customer.name, invoice:changes().customer_id }, { 1, "Ada", { old = 2, new = 1 } })
  invoice:save()
  equal(customers(), { 1 })
  invoice = Invoice:find(1)
  invoice.customer = perilune.null
  equal({ invoice:update() == invoice, invoice.customer_id, Invoice:find(1).customer_id }, { true })
  equal({ invoice:update_changes{ customer = bob }, invoice.customer_id, invoice.customer.name }, { true, 2, "Bob" })
  equal({ invoice:update_changes{ customer = bob }, invoice:update_changes(function(i) i.customer = ada end), customers() }, { false, true, { 1 } })
  local draft = Invoice.draft(invoice)
  draft.customer = bob
  equal({ draft.customer_id, draft.customer.name, Invoice:upsert(draft).customer_id }, { 2, "Bob", 2 })
  Invoice{ id = 1 }:update_changes{ customer = ada }
  equal(customers(), { 1 })
end)

test("a fetched or assigned parent record can be replaced by another one", function()
  Invoice:insert{ customer = ada }
  local writers = {
    function(invoice) invoice:update() end, function(invoice) invoice:save() end, function(invoice) invoice:update_changes() end,
    function(invoice) invoice:upsert() end, function(invoice) Invoice:update(invoice) end, function(invoice) Invoice:upsert_all{ invoice } end,
    function(invoice) invoice:update_changes{ number = "n" } end, function(invoice) invoice:update_changes(function() end) end,
  }
  for index, write in ipairs(writers) do
    db:execute "UPDATE invoice SET customer_id = 1"
    local invoice = Invoice:including_optional(Invoice.customer):find(1)
    invoice.customer = bob
    equal({ index, invoice:has_changes(), invoice.customer_id }, { index, true, 2 })
    write(invoice)
    equal({ index, customers() }, { index, { 2 } })
    db:execute "UPDATE invoice SET customer_id = NULL"
    invoice = Invoice:including_optional(Invoice.customer):find(1)
    invoice.customer = bob
    write(invoice)
    equal({ index, customers(), invoice.customer_id }, { index, { 2 }, 2 })
    invoice.customer = ada
    write(invoice)
    equal({ index, customers(), invoice.customer_id }, { index, { 1 }, 1 })
  end
  local new = Invoice{ customer = ada }
  new.customer = bob
  equal({ new:insert().customer_id, Invoice:insert_all{ new:copy() and Invoice{ customer = bob } }[1].customer_id }, { 2, 2 })
end)

test("a changed foreign key column takes precedence over the fetched parent record", function()
  Invoice:insert{ customer = ada }
  local invoice = Invoice:including_required(Invoice.customer):find(1)
  invoice.customer_id = 2
  invoice:update()
  equal(customers(), { 2 })
  invoice = Invoice:insert{ customer = ada }
  invoice.customer_id = 2
  invoice:save()
  equal(customers(), { 2, 2 })
end)

test("foreign key columns that SQLite considers equal to the parent's key are not written", function()
  db:execute [[
    CREATE TABLE tag (name TEXT PRIMARY KEY COLLATE NOCASE);
    CREATE TABLE note (id INTEGER PRIMARY KEY, tag_name TEXT COLLATE NOCASE REFERENCES tag, text TEXT);
    INSERT INTO tag VALUES ('Sea'); INSERT INTO note VALUES (1, 'SEA', 'x')]]
  local Note = perilune.record "note"
  Note.tag = Note:belongs_to(perilune.record "tag")
  local note = Note:including_required(Note.tag):find(1)
  equal({ note.tag.name, note:has_changes() }, { "Sea", false })
  note:update_changes{ text = "y" }
  note:update()
  equal(db:fetch_value "SELECT tag_name FROM note", "SEA")
end)

test("find_or_insert and find_or_build accept a parent record", function()
  local made, is_new = Invoice:find_or_insert{ customer = ada, number = "R1" }
  equal({ made.customer_id, is_new, made.customer.name }, { 1, true, "Ada" })
  equal(select(2, Invoice:find_or_insert{ customer = ada, number = "R1" }), false)
  equal(Invoice:find_or_insert({ number = "R2" }, { customer = bob }).customer_id, 2)
  equal({ Invoice:find_or_build{ customer = bob, number = "R3" }.customer_id, customers() }, { 2, { 1, 2 } })
  equal(ada:invoices():insert{ customer = ada }.customer_id, 1)
  matches(fails("argument", function() ada:invoices():insert{ customer = bob } end), "`customer_id` is set by the association")
  matches(fails("argument", function() Invoice:filter{ customer_id = 1 }:find_or_insert{ customer = bob } end), "contradict each other")
end)

test("update_all can assign a parent record to many rows", function()
  Invoice:insert_all{ { customer = ada }, { customer = ada }, { customer = bob } }
  equal(ada:invoices():update_all{ customer = bob }.changed_rows, 2)
  equal(customers(), { 2, 2, 2 })
  Invoice:filter{ id = 1 }:update_all{ customer = perilune.null, number = "n" }
  equal(customers(), { 0, 2, 2 })
  matches(fails("argument", function() Invoice:update_all{ customer = 1 } end), "update_all: `customer`: expected a record of `customer`")
  matches(fails("argument", function() Customer:update_all{ invoices = {} } end), "save_nested")
end)

test("invalid assignments of parent records are refused with an explanation", function()
  matches(fails("argument", function() Invoice:insert{ customer = 3 } end), "insert: `customer`: expected a record of `customer` or perilune.null, "
    .. "got the integer 3; use `customer_id` for its key")
  matches(fails("argument", function() Invoice{ customer = Invoice{} } end), "got a record of `invoice`")
  matches(fails("argument", function() Invoice:insert{ customer = ada, customer_id = 2 } end), "`customer` and `customer_id` contradict each other")
  matches(fails("argument", function() Invoice:insert{ customer = Customer{ name = "New" } } end), "the record has no `id` yet; insert it first")
  matches(fails("argument", function() Customer:insert{ invoices = {} } end), "use save_nested{...}")
  matches(fails("argument", function() ada.invoices = {} end), "use save_nested{...}")
  matches(fails("argument", function() Invoice{}.customer = nil end), "use perilune.null to refer to no row")
  matches(fails("argument", function() Invoice:insert_all{ { customer = 3 } } end), "insert_all: ")
  matches(fails("argument", function() Invoice:insert{ id = 1 }:update_changes{ customer = 3 } end), "update_changes: `customer`")
  fails("unknown_column", function() Invoice:insert{ custmer = ada } end)
  equal(Invoice:insert{ customer = ada, customer_id = 1 }.customer_id, 1)
  equal(customers(), { 0, 1 })
end)
