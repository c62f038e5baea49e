--- First guesses: lines that users of other libraries, and language models, write on a small shop. Each either works, with the result after
--- `-->`, or raises an error with the word after `--!`, which leads to the line that works.

local schema = [[
  CREATE TABLE customer (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, country TEXT, vip BOOLEAN NOT NULL DEFAULT FALSE, created_at DATETIME);
  CREATE TABLE invoice (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer ON DELETE CASCADE, number TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL DEFAULT 'draft', total INTEGER NOT NULL DEFAULT 0, due DATE, paid BOOLEAN NOT NULL DEFAULT FALSE);
  CREATE TABLE product (
    id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL, price INTEGER NOT NULL, stock INTEGER NOT NULL DEFAULT 0, settings JSON);
  CREATE TABLE line (
    invoice_id INTEGER NOT NULL REFERENCES invoice ON DELETE CASCADE, product_id INTEGER NOT NULL REFERENCES product,
    quantity INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (invoice_id, product_id));
  INSERT INTO customer VALUES
    (1, 'Ada', 'ada@x.org', 'UK', TRUE, '2026-01-05 10:00:00.000'), (2, 'Grace', 'grace@x.org', 'US', FALSE, '2026-02-01 08:30:00.000'),
    (3, 'Linus', NULL, 'FI', FALSE, NULL);
  INSERT INTO invoice VALUES
    (1, 1, 'A1', 'sent', 500, '2026-03-31', FALSE), (2, 1, 'A2', 'paid', 800, '2026-02-28', TRUE), (3, 2, 'A3', 'draft', 250, NULL, FALSE);
  INSERT INTO product VALUES (1, 'TEA', 'Tea', 350, 12, '{"theme":"dark"}'), (2, 'CUP', 'Cup', 900, 3, NULL), (3, 'POT', 'Pot', 2500, 0, NULL);
  INSERT INTO line VALUES (1, 1, 2), (1, 2, 1), (2, 1, 4)]]

--- Returns the variables of a line.
local function shop(db)
  local Customer, Invoice = perilune.record("customer"), perilune.record("invoice")
  local Product, Line = perilune.record("product"), perilune.record("line")
  Customer.invoices, Invoice.customer = Customer:has_many(Invoice), Invoice:belongs_to(Customer)
  Invoice.lines, Line.product, Line.invoice = Invoice:has_many(Line), Line:belongs_to(Product), Line:belongs_to(Invoice)
  Invoice.products = Invoice:has_many(Product, { through = Invoice.lines, using = Line.product })
  return setmetatable({
    Customer = Customer, Invoice = Invoice, Product = Product, Line = Line, db = db, c = Customer.c, i = Invoice.c, p = Product.c,
    ada = Customer:find(1), invoice = Invoice:find(1), tea = Product:find(1),
  }, { __index = _G })
end

local function show(value, depth)
  depth = depth or 0
  if type(value) == "table" and getmetatable(value) == "request" then return "request" .. show(value:fetch_all()) end
  if type(value) == "table" and getmetatable(value) == "expression" then return tostring(value) end
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local is_plain, text = pcall(function()
    local parts = {}
    for key, element in pairs(value) do
      parts[#parts + 1] = (math.type(key) == "integer" and "" or tostring(key) .. "=") .. show(element, depth + 1)
    end
    if value[1] == nil then table.sort(parts) end
    return "{" .. table.concat(parts, ", ") .. "}"
  end)
  return is_plain and text or "<" .. tostring(value) .. ">"
end

--- Runs a line on its own database. Returns whether it ran, and its result or error as text.
local function run(code)
  local db <close> = setmetatable({}, { __close = function(self) pcall(self.db.close, self.db) end })
  db.db = perilune.queue()
  db.db:execute(schema)
  return perilune.with({ database = db.db }, function()
    local variables = shop(db.db)
    local line = load("return " .. code, "=line", "t", variables) or assert(load(code, "=line", "t", variables))
    return pcall(function() return show((line())) end)
  end)
end

--- Runs lines. A template surrounds each of them, in place of its `%s`.
local function guesses(template, lines)
  local failures = {}
  for line in lines:gmatch("[^\n]+") do
    local code, sign, wanted = line:match("^(.-)%s+%-%-([>!]) (.*)$")
    local has_run, result = run((template:gsub("%%s", function() return code end)))
    result = tostring(result)
    if has_run ~= (sign == ">") or not result:find(wanted, 1, true) then failures[#failures + 1] = line .. "\n    came: " .. result end
  end
  if #failures > 0 then error(#failures .. " guesses:\n" .. table.concat(failures, "\n"), 0) end
end

test("first guesses of users of ActiveRecord work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:where{ name = "Ada" }  --! filter
Customer:where("name = ?", "Ada")  --! filter
Customer:first()  --! fetch_one
Customer:last()  --! reversed
Customer:take(2)  --! limit
Customer:find_by{ name = "Ada" }  --! fetch_one
Customer:find_by_name("Ada")  --! filter
Customer:find(1, db)  --! Class:find
Customer:exists(1, db)  --! Class:exists
Customer:insert({ name = "x" }, db)  --! Class:insert
ada:save({}, db)  --! record:save
ada:update_changes({ name = "x" }, db)  --! record:update_changes
Customer:count()  --! fetch_count
db:observe(Customer:count_request(), print)  --! fetch_count(db)
db:observe(Customer:filter{ vip = true }:count_request(), print)  --! fetch_count(db)
Customer:create{ name = "Bob" }  --! insert
Customer:new{ name = "Bob" }  --! Class{
Customer.new{ name = "Bob" }  --! Class{
Customer:build{ name = "Bob" }  --! author:books
Customer:all():each(print)  --! for record in request:rows
Customer:each(print)  --! for record in request:rows
Customer:find_each(print)  --! for record in request:rows
Customer:includes(Customer.invoices)  --! including_all
Customer:includes("invoices")  --! including_all
Customer:joins(Customer.invoices)  --! joining_required
Customer:left_joins(Customer.invoices)  --! joining_required
Customer:eager_load(Customer.invoices)  --! including_all
Customer:preload("invoices")  --! including_all
Customer:order("name DESC"):pluck("name")  --> {"Linus", "Grace", "Ada"}
Customer:order{ name = "desc" }  --! order
Customer:order("name", "desc")  --! order
Customer:reorder("name")  --! order
Customer:reverse_order()  --! order
Customer:group("country"):count()  --! fetch_count
Invoice:group("status"):sum("total")  --! select
Invoice:average("total")  --> 516.66666666667
Invoice:maximum("total")  --! max
Invoice:minimum("total")  --! min
Invoice:sum("total")  --> 1550
Customer:exists{ name = "Ada" }  --! Class:filter
Customer:any()  --! exists
Customer:none()  --> request{}
Customer:many()  --! fetch_count
Customer:ids()  --! pluck
Customer:pick("name")  --! pluck
Customer:find_or_create_by{ name = "Bob" }  --! find_or_insert
Customer:find_or_initialize_by{ name = "Bob" }  --! find_or_build
Customer:create_with{ vip = true }  --! Class{
Customer:update_all{ vip = true }  --> {changed_rows = 3}
Customer:update_all("vip = 1")  --! perilune.sql
Invoice:update_all{ total = "total + 1" }  --! perilune.sql
Customer:delete_all()  --> 3
Customer:destroy_all()  --! delete_all
Customer:destroy(1)  --! Class:delete_one
Customer:delete(1)  --! Class:delete_one
Customer:update(1, { name = "Bob" })  --! Class:find
Customer:insert_all{ { name = "A" }, { name = "B" } }  --> {<customer{id = 4, name = "A", email = NULL, country = NULL,
Customer:upsert_all{ { name = "A" } }  --> 1
Customer:upsert_all({ { email = "ada@x.org", name = "A" } }, { unique_by = "email" })  --! target
Customer:transaction(function() end)  --! db:write
Customer:limit(2):offset(1):pluck("name")  --> {"Grace", "Linus"}
Customer:distinct():pluck("country")  --> {"UK", "US", "FI"}
Customer:select("name"):map(function(c) return c.name end)  --! fetch_all
Customer:scope("vip", function() end)  --! Class.requests:name
Customer:validates("name", { presence = true })  --! Class:validate
Customer:validates_presence_of("name")  --! Class:validate
Customer:before_save(function() end)  --! Class:will_save
Customer:has_many("invoices")  --> <association customer.?>
Customer:has_and_belongs_to_many(Product)  --! Class:has_many
Customer:find(1, 2)  --! find{ 1, 2 }
Customer:find(99)  --! no row
Customer:find_by_sql("SELECT * FROM customer")  --! Class:from_sql
Customer:where():not_{ name = "Ada" }  --! filter
Customer:not_{ name = "Ada" }  --! filter
Customer:or_(Customer:filter{ name = "Ada" })  --! filter
Customer:merge(Customer:all())  --! &
Customer:unscope()  --! Class:unscoped
Customer:to_sql()  --! sql
Customer:column_names()  --! db:columns
Customer:table_name()  --! perilune.record
Customer:primary_key()  --! db:primary_key
Customer:size()  --! fetch_count
Customer:length()  --! fetch_count
Customer:empty()  --! is_empty
Customer:second()  --! limit
Customer:sole()  --! fetch_one
Customer:find_sole_by{ name = "Ada" }  --! fetch_one
Customer:increment_counter("total", 1)  --! update_all
ada:update{ name = "Bob" }  --! record:update_changes
ada:update_attributes{ name = "Bob" }  --! record:update_changes
ada:update_attribute("name", "Bob")  --! record:update_changes
ada:update_column("name", "Bob")  --! record:update_changes
ada:update_columns{ name = "Bob" }  --! record:update_changes
ada:assign_attributes{ name = "Bob" }  --! record:update_changes
ada:attributes()  --! pairs(record)
ada:save{ name = "Bob" }  --! record:update_changes
ada:save()  --> <customer{id = 1, name = "Ada", email = "ada@x.org", country
ada:destroy()  --! record:delete
ada:delete()  --> true
ada:reload()  --! record:refresh
ada:changed()  --! record:has_changes
ada:is_changed()  --! record:has_changes
ada:new_record()  --! record:exists()
ada:persisted()  --! record:exists()
ada:valid()  --! record:validation_errors
ada:is_valid()  --! record:validation_errors
ada:errors()  --! record:validation_errors
ada:touch()  --! record:update_changes
ada:toggle("vip")  --! record:update_changes
ada:increment("id")  --! record:update_changes
tea:increment("stock", 5)  --! record:update_changes
tea:decrement("stock", 5)  --! record:update_changes
ada:to_json()  --! perilune.json.encode
ada:as_json()  --! perilune.json.encode
ada:to_table()  --! pairs(record)
ada:dup()  --! record:copy
ada:clone()  --! record:copy
ada:destroyed()  --! record:exists()
ada:read_attribute("name")  --! record.column
ada:write_attribute("name", "x")  --! record:update_changes
ada:name_was()  --! record:changes
ada:name_changed()  --! record:changes
ada.invoices:create{ number = "Z" }  --! including_all
ada:invoices():create{ number = "Z" }  --! insert
ada:invoices():build{ number = "Z" }.customer_id  --> 1
ada:invoices():count()  --! fetch_count
ada:invoices():where{ status = "paid" }  --! filter
ada:invoices():first()  --! fetch_one
ada:invoices():sum("total")  --> 1300
invoice.customer.name  --! including_optional
invoice:customer():fetch_one().name  --> "Ada"
invoice:customer().name  --! request:fetch_one
invoice.customer()  --! record:customer
ada:create_invoice{ number = "Z" }  --! record:invoice
ada:build_invoice{ number = "Z" }  --! record:invoice
invoice:products():push(tea)  --! record:association
invoice:products():add(tea)  --> nil
invoice:products():delete(tea)  --! delete_all
invoice:products():clear()  --! delete_all
invoice:products():ids()  --! pluck
invoice:products():include(tea)  --! including_all
invoice:products():contains(tea)  --! filter
Invoice:insert{ customer = ada, number = "R9" }.customer_id  --> 1
Invoice{ customer = ada, number = "R9" }:save().customer_id  --> 1
Customer:joins("JOIN invoice ON invoice.customer_id = customer.id")  --! joining_required
Invoice:joins(Invoice.customer):where{ name = "x" }  --! joining_required
Invoice:group("customer_id"):having("COUNT(*) > 1"):pluck("customer_id")  --> {1}
Customer:lock()  --! db:write
Customer:readonly()  --! db:write
Customer:from("customer")  --! perilune.common_table
Customer:extending()  --! extend
Customer:rewhere{ name = "x" }  --! filter
Customer:sort("name")  --! order
Customer:sort_by("name")  --! order
Customer:order_by("name")  --! order
Customer:map(function(c) return c.name end)  --! fetch_all
Customer:select(function(c) return c.vip end)  --! Class.c.name:desc
Customer:find_all{ name = "Ada" }  --! filter
Customer:find_one{ name = "Ada" }  --! fetch_one
Customer:fetch_one{ name = "Ada" }  --! Class:filter
Customer:fetch_one{ email = "ada@x.org" }.name  --> "Ada"
Customer:fetch_all{ name = "Ada" }  --! Class:filter
Customer:fetch_count{ name = "Ada" }  --! Class:filter
Customer:exists("name = 'Ada'")  --! Class:filter
Customer:exists(1)  --> true
Customer:find{ name = "Ada" }  --! Class:filter
Customer:find{ email = "ada@x.org" }.name  --> "Ada"
Customer:find("name", "Ada")  --! filter{
Customer:find(1).name  --> "Ada"
Customer:get(1)  --! fetch_one
Customer:get{ name = "Ada" }  --! fetch_one
Customer:get_or_create{ name = "Bob" }  --! find_or_insert
Customer:get_or_none{ name = "Bob" }  --! fetch_one
Customer:get_by_id(1)  --! fetch_one
Customer:find_by_id(1)  --! fetch_one
Customer:find_by_pk(1)  --! fetch_one
Customer:one()  --! fetch_one
Customer:fetch(1)  --! fetch_one
Customer:load(1)  --! fetch_one
]==])
end)

test("first guesses of users of SQLAlchemy, Django and peewee work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:filter_by{ name = "Ada" }  --! filter
Customer:query()  --! Class:filter
Customer.query:filter{ name = "Ada" }  --! Class:filter
Customer:objects()  --! Class:filter
Customer.objects:filter{ name = "Ada" }  --! Class:filter
Customer:select():where(c.name:eq("Ada"))  --! without select
Customer:select()  --! without select
Customer:exclude{ name = "Ada" }  --! filter
Customer:values("name")  --! pluck
Customer:values_list("name")  --! pluck
Customer:annotate(Customer.invoices:count())  --! annotated_with
Customer:aggregate(c.id:count())  --! select
Customer:select_related("invoices")  --! including_all
Invoice:select_related(Invoice.customer)  --! including_all
Customer:prefetch_related("invoices")  --! including_all
Customer:selectinload(Customer.invoices)  --! including_all
Customer:joinedload(Customer.invoices)  --! including_all
Customer:options(Customer.invoices)  --! including_all
Customer:bulk_create{ { name = "x" } }  --! Class:insert_all
Customer:bulk_update({ ada }, { "name" })  --! update_all
Customer:update_or_create({ name = "Ada" }, { vip = true })  --! Class:upsert
Customer:iterator()  --! for record in request:rows
Customer:in_bulk{ 1, 2 }  --! filter_key
Customer:only("name")  --! select
Customer:defer("email")  --! select
Customer:using(db)  --! fetch_all
Customer:raw("SELECT * FROM customer")  --! Class:from_sql
Customer:all():fetch_all()[1].name  --> "Ada"
Customer:all()[1]  --! for row in request:rows() do
Customer:filter{ name__contains = "A" }  --! filter
Customer:filter{ total__gt = 5 }  --! no column
Customer:filter{ name = "Ada", vip = true }:fetch_count()  --> 1
Customer:filter(c.name:eq("Ada"), c.country:eq("UK")):fetch_count()  --> 1
Customer:filter(c.name == "Ada")  --! column:eq(value)
Customer:filter(c.id > 1)  --! Class.c.id:gt(1)
Customer:filter(c.id >= 1)  --! Class.c.id:ge(1)
Customer:filter(c.name ~= "Ada")  --! column:eq(value)
Customer:filter(not c.vip)  --! column:eq(value)
Customer:filter(c.vip)  --> request{<customer{id = 1, name = "Ada", email = "ada@x.org",
Customer:filter(c.name:eq("Ada") & c.vip:eq(true)):fetch_count()  --> 1
Customer:filter(c.name:eq("Ada") | c.name:eq("Grace")):fetch_count()  --> 2
Customer:filter("name", "Ada")  --! filter
Customer:filter("name", "=", "Ada")  --! filter
Customer:filter("name =", "Ada")  --! name = ?
Customer:filter(1)  --! filter_key
Customer:filter("1"):fetch_count()  --! filter_key
Customer:filter("'x'")  --! filter_key
Customer:filter("Ada")  --! filter_key
Customer:filter("id = 1 OR 1")  --> request{<customer{id = 1, name = "Ada", email = "ada@x.org",
Customer:filter("true")  --! filter_key
Customer:filter(true)  --! column:eq(value)
Customer:filter("vip"):fetch_count()  --> 1
Customer:filter("0")  --! filter_key
Customer:filter("NULL")  --! filter_key
Customer:filter("1.5")  --! filter_key
Customer:filter{ 1, 2 }  --! filter_key{...}
Customer:filter{ id = { 1, 2 } }:fetch_count()  --> 2
Customer:filter{ id = { ">", 1 } }  --! filter
Customer:filter{ id = { gt = 1 } }  --! filter
Customer:filter{ name = { like = "A%" } }  --! filter
Customer:filter{ name = { "like", "A%" } }  --! filter
Customer:filter{ email = nil }  --! all
Customer:filter{ vip = 1 }  --> request{<customer{id = 1, name = "Ada", email = "ada@x.org",
Customer:filter{ vip = "true" }  --! true or false
Customer:filter(function(c) return c.name:eq("Ada") end)  --! filter
Customer:filter(ada)  --! filter
Customer:filter(nil)  --! expected a condition
Customer:filter{}  --! all
Customer:filter{ id__in = { 1, 2 } }  --! filter
Customer:filter{ name = function() end }  --! expected a value
Customer:filter{ ["or"] = { { name = "Ada" } } }  --! `|`
Customer:filter{ invoices = { status = "paid" } }:fetch_count()  --! ["invoices.status"]
Invoice:filter{ customer = ada }:fetch_count()  --> 2
Invoice:filter{ ["customer.name"] = "Ada" }:fetch_count()  --> 2
Invoice:filter{ customer = { name = "Ada" } }:fetch_count()  --! ["customer.name"]
Invoice:filter(i.customer.name:eq("Ada"))  --! customer_id
c.name:equals("Ada")  --! column:eq
c.name:is_equal("Ada")  --! column:eq
c.name:equal("Ada")  --! column:eq
c.name:not_equal("Ada")  --! column:ne
c.name:neq("Ada")  --! column:ne
c.id:gte(1)  --! column:ge
c.id:lte(1)  --! column:le
c.id:greater_than(1)  --! column:gt
c.id:less_than(1)  --! column:lt
c.id:gt(1)  --> "id" > 1
c.id:ge(1)  --> "id" >= 1
c.name:is_nil()  --! column:is_null
c.name:null()  --! column:is_null
c.name:isnull()  --! column:is_null
c.name:is_null()  --> "name" IS NULL
c.name:not_null()  --! column:is_not_null
c.name:is_not_nil()  --! column:is_not_null
c.name:isnot(nil)  --! column:is_not
c.name:in_{ "Ada" }  --! column:is_in
c.name:in_list{ "Ada" }  --! column:is_in
c.name:one_of{ "Ada" }  --! column:is_in
c.name:is_in("Ada")  --! :eq(value)
c.name:is_in("Ada", "Grace")  --! column:is_in
c.name:not_in{ "Ada" }  --! column:is_not_in
c.name:notin_{ "Ada" }  --! column:is_not_in
c.name:ilike("a%")  --! column:like
c.name:icontains("a")  --! column:like
c.name:startswith("A")  --! column:starts_with
c.name:endswith("a")  --! column:ends_with
c.name:starts("A")  --! column:starts_with
c.name:has("A")  --! column:contains
c.name:includes("A")  --! column:contains
c.name:not_like("A%")  --! ~column
c.name:like("A%", true)  --! one character
c.name:matches("A")  --! column:regexp
c.name:regex("A")  --! column:regexp
c.name:descending()  --! column:desc
c.name:ascending()  --! column:asc
c.name:label("n")  --! column:as
c.name:alias("n")  --! column:as
c.name:as_("n")  --! column:as
c.name:concat(" x")  --! ..
c.id:add(1)  --! +
c.id:plus(1)  --! +
c.id:between{ 1, 2 }  --! column:between
c.id:between(1)  --! column:between
c.id:avg()  --! column:average
c.id:average()  --> AVG("id")
c.id:sum()  --> SUM("id")
c.id:func("abs")  --! perilune.fn.name
c.id:cast("int")  --! integer
c.id:cast("float")  --! real
c.id:cast("string")  --! text
c.name:lower():eq("ada")  --> LOWER("name") = 'ada'
c.name:upper()  --> UPPER("name")
c.name:len()  --! column:length
c.name:length()  --> LENGTH("name")
c.name:to_lower()  --! column:lower
c.name:lowercase()  --! column:lower
c.name:strip()  --! column:trim
c.name:collate("nocase")  --! column:collating
c.name:op("=", "x")  --! perilune.sql
c.name:not_()  --! ~condition
c.name:and_(c.vip)  --! &
c.name:or_(c.vip)  --! &
c.name:eq(nil)  --! :is_null()
c.name:eq("a", "b")  --! column:is_in
c.name:eq{ "a", "b" }  --! column:is_in(list)
c.name.eq("a")  --! before the colon
c.nme:eq("a")  --! name
c.settings.theme  --! no column
p.settings.theme  --! column:json
p.settings.theme:eq("dark")  --! column:json
p.settings:json("theme"):eq("dark")  --> "settings" ->> '$."theme"' = 'dark'
p.settings:get("theme")  --! column:json
p.settings["theme"]  --! column:json
p.settings:json_extract("$.theme")  --! json
p.settings:path("theme")  --! column:json
c.name:is_empty()  --! column:eq
c.name:exists()  --! perilune.exists
i.total:sum("x")  --! no arguments
i.total:count()  --> COUNT("total")
i.total:count_distinct()  --! column:count():distinct()
i.total:distinct():count()  --! column:sum
i.total:max()  --> MAX("total")
i.total:maximum()  --! column:max
i.total:first()  --! column:first_value
i.total:desc{ nulls = "last" }  --! column:desc
i.total:coalesce(0)  --> COALESCE("total", 0)
i.total:default(0)  --! column:coalesce
i.total:round(2)  --> ROUND("total", 2)
i.total:floor()  --> "floor"("total")
i.total:filter(i.paid)  --! column:sum
i.total:sum():filter(i.paid)  --! column:sum
i.total:sum():where(i.paid)  --> SUM("total") FILTER (WHERE "paid")
i.total:sum():over{ partition = "status" }  --! partition_by
i.total:sum():over{ partition_by = "status" }  --> SUM("total") OVER (PARTITION BY "status")
i.total:sum():over{ order_by = "id" }  --> SUM("total") OVER (ORDER BY "id")
i.total:sum():over{ order = "id" }  --! order_by
i.total:case{ }  --! perilune.case
i.total:when(1, 2)  --! perilune.case
i.total:group_concat()  --> GROUP_CONCAT("total")
i.total:string_agg(",")  --! column:group_concat
i.total:array_agg()  --! column:json_group_array
i.total:json_agg()  --! column:json_group_array
i.total:row_number()  --! perilune.row_number
i.total:rank()  --! perilune.row_number
perilune.fn.sum("total")  --! Class.c.total:sum
perilune.fn.max("total")  --! Class.c.total:max
perilune.fn.count("*")  --! perilune.count
perilune.fn.count()  --> COUNT()
perilune.fn.sum(i.total)  --> SUM("total")
perilune.fn.avg("total")  --! Class.c.total:average
perilune.fn.lower("Name")  --! Class.c.Name:lower
perilune.fn.group_concat("name")  --! Class.c.name:group_concat
perilune.fn.coalesce("a", 1)  --! Class.c.a:coalesce
perilune.fn.date("born")  --! Class.c.born:date
perilune.fn.strftime("%Y", "born")  --! Class.c.born:strftime
perilune.fn.date("now")  --> DATE('now')
perilune.fn.SUM("total")  --! Class.c.total:sum
Invoice:select("status", perilune.fn.sum("total"):as("sum")):group("status")  --! Class.c.total:sum
Invoice:select("status", "COUNT(*)"):group("status"):pluck("status")  --> {"draft", "paid", "sent"}
Invoice:select("*")  --! without select
Invoice:select{ "status", "total" }:fetch_one().status  --> "sent"
Invoice:select("nope")  --! no column
Invoice:select{ status = true }  --! select
Invoice:select{ sum = i.total:sum() }  --! select
Invoice:select("sum(total)"):fetch_value()  --> 1550
Invoice:select("total"):sum()  --! sum
Invoice:sum(i.total)  --> 1550
Invoice:sum("totl")  --! total
Invoice:sum()  --! sum
Invoice:sum{ "total" }  --! sum
Invoice:sum(db, "total")  --> 1550
Invoice:max("total")  --> 800
Invoice:avg("total")  --! average
Invoice:fetch_count("status")  --! Class:filter
Invoice:fetch_count()  --> 3
Invoice:count_by("status")  --! group
Invoice:count("status")  --! fetch_count
Invoice:count{ status = "paid" }  --! fetch_count
Invoice:group_by("status")  --! group
Invoice:total("total")  --> 1550.0
]==])
end)

test("first guesses of conditions work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:filter("1")  --! filter_key
Customer:filter("(1)")  --! filter_key
Customer:filter("nmae")  --! name
Customer:filter("id > ?", 1):fetch_count()  --> 2
Customer:filter("id > :x", { x = 1 }):fetch_count()  --> 2
Customer:filter("name", ">", "Ada")  --! filter
Customer:filter("name = 'Ada'", "x")  --! name = ?
Customer:filter{ id__gt = 5 }  --! filter
Customer:filter{ id_gt = 5 }  --! filter
Customer:filter{ ["id >"] = 5 }  --! filter
Customer:filter{ ["id > ?"] = 5 }  --! filter
Customer:filter{ ["name LIKE"] = "x" }  --! filter
Customer:filter{ ["or"] = 5 }  --! `|`
Customer:filter{ OR = { { name = "x" } } }  --! `|`
Customer:filter{ id = { ["$gt"] = 1 } }  --! filter
Customer:filter{ name = { contains = "A%" } }  --! filter
Customer:filter{ name = { "Ada", "Grace" } }:fetch_count()  --> 2
Customer:filter(c.name:eq("Ada"), { country = "US" }):fetch_count()  --> 0
Customer:filter({ name = "Ada" }, "vip"):fetch_count()  --> 1
Customer:filter({ name = "Ada" }, 5):fetch_count()  --! argument 2
Customer:filter(c.name:eq("Ada"), nil):fetch_count()  --! argument 2
Customer:filter(function() end)  --! filter
Invoice:group("status"):having("COUNT(*) > 1"):pluck("status")  --> {}
Invoice:group("status"):having(i.total:sum():gt(5), i.total:max():lt(600)):pluck("status")  --> {"draft", "sent"}
Customer:filter("550e8400-e29b-41d4-a716-446655440000")  --! filter_key
]==])
end)

test("first guesses of arguments work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:order("-name")  --! Class.c.name:desc()
Customer:filter(c.name, "Ada")  --! Class.c.name:eq(value)
Customer:filter(c.id, 1)  --! Class.c.id:eq(value)
Customer:fetch_all("name = ?", "Ada")  --! Class:filter
Customer:fetch_all("WHERE name = ?", "Ada")  --! Class:filter
Customer:fetch_one("name = ?", "Ada")  --! Class:filter
Customer:fetch_all("SELECT * FROM customer")[1].name  --> "Ada"
Customer:update_all({ vip = true }, { id = 1 })  --! filter{
Customer:delete_all{ id = 1 }  --! filter{
Customer:filter{ id = 1 }:delete_all{ id = 1 }  --! filter{
Invoice:filter{ total = { from = 1, to = 2 } }  --! Class.c.total:between
db:in_transaction(function() end, "immediate")  --! db:in_transaction("immediate", f)
Customer:filter(c.vip, c.name:eq("Ada")):fetch_count()  --> 1
Customer:exists("nobody")  --> false
Customer:exists{ email = "ada@x.org" }  --> true
Customer:fetch_one("name = 'x'")  --! Class:filter
Customer:find("name LIKE 'x'")  --! Class:filter
Customer:delete_one{ name = "Ada" }  --! Class:filter
Customer:rows{ name = "Ada" }  --! Class:filter
Customer:fetch_count("name")  --! Class:filter
Customer:is_empty{ name = "Ada" }  --! filter
Customer:all():fetch_all{ name = "Ada" }  --! filter
Customer:all():fetch_one{ name = "Ada" }  --! filter
Customer:all():fetch_count{ name = "Ada" }  --! filter
Customer:all():exists{ name = "Ada" }  --! filter
Customer:all():exists("x")  --! filter
Customer:all():fetch_one(1)  --! filter_key
ada:insert{ name = "Bob" }  --! Class:insert
ada:upsert{ name = "Bob" }  --! Class:upsert
ada:delete{ name = "Bob" }  --! Class:filter
ada:refresh{ name = "Bob" }  --! record:update_changes
ada:update{ on_conflit = "ignore" }  --! on_conflict
perilune.fn.max("a", "b")  --> MAX('a', 'b')
perilune.fn.group_concat("name", ", ")  --! Class.c.name:group_concat
Invoice:update_all("total = 1")  --! perilune.sql
]==])
end)

test("first guesses of schema definitions work, or their errors name the replacement", function()
  guesses([==[db:create_table("thing", function(t) %s end) return db:schema_sql("thing")]==], [==[
t:column("a", "string")  --! text
t:column("a", "varchar(20)")  --> "CREATE TABLE 
t:column("a", "decimal(10, 2)")  --> "CREATE TABLE 
t:column("a", "float")  --> "CREATE TABLE 
t:column("a", "bool")  --> "CREATE TABLE 
t:column("a", "int")  --> "CREATE TABLE 
t:column("a", "INT")  --> "CREATE TABLE 
t:column("a", "uuid")  --! text
t:column("a", "bananas")  --! t:column_sql
t:column("a", "txt")  --! text
t:column("a", "double precision")  --> "CREATE TABLE 
t:column("a")  --> "CREATE TABLE 
t:column("a", "VARCHAR (20)")  --> "CREATE TABLE 
t:column("a", "json")  --> "CREATE TABLE 
t:column("a", "text not null")  --! t:column
t:column("a", "text", { not_null = true })  --! t:column
t:column("a", "text", true)  --! t:column
t:column("a", { type = "text" })  --! t:column
t:column{ name = "a", type = "text" }  --! t:column
t:primary_key("a", "b")  --! t:primary_key
t:primary_key("a")  --! t:primary_key
t:string("a")  --! t:column
t:timestamps()  --! t:column
t:column("a", "text"):null(false)  --! :not_null()
t:column("a", "text"):not_null():default("x")  --> "CREATE TABLE 
t:column("a", "text"):not_null(true)  --! conflict policy
t:column("a", "text"):unique(true)  --! conflict policy
t:column("a", "text"):default()  --! perilune.null
t:column("a", "text"):default("x", "y")  --! :default_sql
t:column("a", "text"):references("customer", "id")  --! "id"
t:column("a", "text"):primary_key(true)  --! options
t:belongs_to("customer", { ondelete = "cascade" })  --! on_delete
t:belongs_to("customer"):not_null()  --> "CREATE TABLE 
t:foreign_key("a", "customer", "id")  --! "id"
t:unique_key("a", "b")  --! t:unique_key
t:check("a > 1", "name")  --! t:constraint
t.column("a", "text")  --! "a"
t:text("a"):not_null()  --! t:column
t:integer("id"):primary_key()  --! t:column
t:id()  --! t:auto_incremented_primary_key
]==])
end)

test("first guesses of users of LuaSQL, lsqlite3 and other drivers work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
db:query("SELECT * FROM customer")  --! db:fetch_all
db:exec("DELETE FROM line")  --! db:execute
db:run("DELETE FROM line")  --! db:execute
db:select("SELECT * FROM customer")  --! db:fetch_all
db:all("SELECT * FROM customer")  --! db:fetch_all
db:get("SELECT * FROM customer")  --! db:fetch_one
db:first("SELECT * FROM customer")  --! db:fetch_one
db:scalar("SELECT 1")  --! db:fetch_value
db:fetch("SELECT 1")  --! db:fetch_all
db:fetchall("SELECT 1")  --! db:fetch_all
db:fetchone("SELECT 1")  --! db:fetch_one
db:fetch_scalar("SELECT 1")  --! db:fetch_value
db:value("SELECT 1")  --! db:fetch_value
db:nrows("SELECT 1")  --! db:rows
db:urows("SELECT 1")  --! db:tuples
db:each("SELECT 1")  --! db:rows
db:cursor()  --! db:rows
db:begin()  --! db:write
db:commit()  --! db:write
db:rollback()  --! db:write
db:transaction(function() end)  --! db:write
db:with_transaction(function() end)  --! db:write
db:atomic(function() end)  --! db:write
db:savepoint(function() end)  --! db:in_savepoint
db:last_insert_id()  --! db:execute
db:last_insert_rowid()  --! db:execute
db:changes()  --! db:execute
db:rowcount()  --! db:execute
db:execute("DELETE FROM line").changed_rows  --> 3
db:execute("INSERT INTO customer (name) VALUES ('x')").inserted_rowid  --> 4
db:execute("INSERT INTO customer (name) VALUES (?)", { "x" }).inserted_rowid  --> 4
db:execute("INSERT INTO customer (name) VALUES (:name)", { name = "x" }).inserted_rowid  --> 4
db:execute("INSERT INTO customer (name) VALUES (?)")  --! expected 1 argument
db:execute("INSERT INTO customer (name) VALUES (?)", "x", "y")  --! expected 1 argument
db:execute("INSERT INTO customer (name) VALUES ($1)", "x").inserted_rowid  --> 4
db:fetch_all("SELECT * FROM customer WHERE id = ?", 1)[1].name  --> "Ada"
db:fetch_one("SELECT * FROM customer").name  --> "Ada"
db:fetch_one("SELECT name FROM customer")[1]  --> "Ada"
db:fetch_value("SELECT COUNT(*) FROM customer")  --> 3
db:fetch_values("SELECT name FROM customer")  --> {"Ada", "Grace", "Linus"}
db:fetch_set("SELECT name FROM customer")  --> {Ada=true, Grace=true, Linus=true}
db:fetch_count("SELECT * FROM customer")  --! db:fetch_value
db:table_names()  --! db:tables
db:has_table("customer")  --! db:table_exists
db:table_exists("customer")  --> true
db:tables()  --> {"customer", "invoice", "line", "product"}
db:columns("customer")[1].name  --> "id"
db:table_info("customer")  --! db:columns
db:schema()  --! db:schema_sql
db:schema_sql("customer")  --> "CREATE TABLE customer (
db:vacuum()  --! db:execute
db:pragma("user_version")  --! db:execute
db:backup("x")  --! db:backup_to
db:open("x")  --! perilune.queue
db:disconnect()  --! db:close
db:is_open()  --! db:path()
db:insert("customer", { name = "x" })  --! Class:insert
db:update("customer", { name = "x" })  --! Class:filter
db:delete("customer", 1)  --! Class:filter
db:table("customer")  --! db:fetch_all
db:from("customer")  --! perilune.record
db:write(function() return 5 end)  --> 5
db:write(function() end, { note = "x" })  --! db:write
db:write(function(a) end, { 1 })  --> nil
db:write{ note = "x" }  --! expected a function
db:write("DELETE FROM line")  --! db:execute
db:read(function(db) return db:fetch_value("SELECT 1") end)  --> 1
db:read(function() end, { timeout = 5 })  --! options come before
db:read("SELECT 1")  --! db:execute
db:write(function(db) db:rollback() end)  --! db:write
db:add_column("customer", "age", "integer")  --! db:alter_table
db:alter_table("customer", function(t) t:add_column("age", "integer") end)  --> nil
db:alter_table("customer", function(t) t:add_column("age", "number") end)  --! integer
db:alter_table("customer", function(t) t:column("age", "integer") end)  --! t:add_column
db:alter_table("customer", function(t) t:remove_column("country") end)  --! t:drop_column
db:alter_table("customer", function(t) t:rename("country", "land") end)  --! t:rename_column
db:alter_table("customer", function(t) t:rename_column("country", "land") end)  --> nil
db:add_index("customer", { "name" })  --! db:create_index
db:drop_index("customer", { "name" })  --! no index
db:drop_table("nope")  --! customer
db:drop_table("nope", { if_exists = true })  --> nil
db:create_table("thing", { "a", "b" })  --! db:create_table
db:create_table("thing")  --! db:create_table
db:create_table("thing", function(t) t:column("a") end, { strict = true })  --! options before the function
db:create_table("thing", { if_not_exist = true }, function(t) t:column("a") end)  --! if_not_exists
db:create_table("customer", function(t) t:column("a") end)  --! already exists
db:observe("SELECT 1", function() end)  --! expected a function
db:on_change(function() end)  --! db:observe_transactions
db:on("change", function() end)  --! db:observe_transactions
db:watch("customer", function() end)  --! db:observe
db:observe_transactions(function() end)  --! table with the functions
db:observe_transactions{ on_commit = function() end }  --! did_commit
db:after_commit(function() end)  --! db:observe_transactions
db:explain("SELECT 1")  --> {{children={}, detail="SCAN CONSTANT ROW"}}
db:add_function("twice", function(x) return 2 * x end)  --> nil
db:create_function("twice", 1, function(x) return 2 * x end)  --! db:add_function
db:migrate()  --! perilune.migrator
db:path()  --> ":memory:"
db:filename()  --! db:path
db.customer  --! perilune.record
db.customers:all()  --! perilune.record
db.fetch_all("SELECT 1")  --! before the colon
]==])
end)

test("first guesses of module functions work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
perilune.date(2026, 3, 1)  --! perilune.date{ year = 2026
perilune.date.parse("2026-03-01")  --! perilune.date("2026-03-01")
perilune.date.today()  --! perilune.now()
perilune.date("2026-03-01").year  --> 2026
perilune.date("2026-03-01"):add{ days = 1 }:format("%d")  --> "02"
perilune.log.warn("x")  --! perilune.log.warning
perilune.log("x")  --! perilune.log.info
perilune.uuid(4)  --! no arguments
db:prepare("SELECT 1"):step()  --! statement:rows
db:prepare("SELECT 1"):bind(1)  --! statement:execute
db:prepare("SELECT 1"):finalize()  --! statement:close
db:prepare("SELECT 1"):fetch_value()  --> 1
db:observe_transactions{ on_change = print }:stop()  --! observer:cancel
db:observe_transactions{ on_change = print }:dispose()  --! observer:cancel
db:execute("DELETE FROM line").rowcount  --! changed_rows
db:execute("DELETE FROM line").last_insert_id  --! inserted_rowid
perilune.open("x.db")  --! perilune.queue
perilune.open(":memory:")  --! perilune.queue
perilune.connect("x.db")  --! perilune.queue
perilune.sqlite("x.db")  --! perilune.queue
perilune.new("x.db")  --! perilune.queue
perilune.Database("x.db")  --! perilune.queue
perilune.model("customer")  --! perilune.record
perilune.table("customer")  --! perilune.record
perilune.define("customer", {})  --! perilune.record
perilune.Record("customer")  --! perilune.record
perilune.record{ table = "customer" }  --! perilune.record
perilune.record("customer", { soft_deletes = true })  --! soft_delete
perilune.record("customer", { table = "x" })  --! no option
perilune.record("customer", { id = "integer" })  --! option `primary_key`
perilune.record("customer", { timestamp = true })  --! timestamps
perilune.record("customer", "id")  --! table of options
perilune.record(Customer)  --! perilune.record
perilune.sql("name = ?", "Ada")  --> (name = 'Ada')
perilune.raw("name")  --! perilune.sql
perilune.col("name")  --! perilune.column
perilune.and_(c.name:eq("x"), c.vip)  --! &
perilune.or_(c.name:eq("x"), c.vip)  --! &
perilune.not_(c.vip)  --! ~
perilune.NULL  --! perilune.null
perilune.Null  --! null
perilune.nil_  --! perilune.null
perilune.today()  --! perilune.now
perilune.json.stringify{ a = 1 }  --! perilune.json.encode
perilune.json.parse("{}")  --! perilune.json.decode
perilune.json.encode{ a = 1 }  --> "{\"a\":1}"
perilune.json.decode("[1]")[1]  --> 1
perilune.print("x")  --! perilune.log.info
perilune.set_timeout(function() end, 1)  --! perilune.after
perilune.after(function() end, 1)  --! the function comes last
perilune.after(1, function() end):stop()  --! timer:cancel
perilune.after("1s", function() end):clear()  --! timer:cancel
perilune.every(function() end, "1s")  --! the function comes last
perilune.every("1 day", function() end):stop()  --! timer:cancel
perilune.cron("0 9 * * *", function() end)  --! perilune.schedule
perilune.spawn(function() return 5 end):join()  --! task:wait
perilune.spawn(function() return 5 end):await()  --! task:wait
perilune.go(function() end)  --! perilune.spawn
perilune.async(function() end)  --! perilune.spawn
perilune.on("insert", "customer", function() end)  --! perilune.automation
perilune.automation("name", function() end)  --! perilune.automation
perilune.automation{ name = "a", on = { schedule = "0 9 * * *" }, action = function() end }  --! option `run`
perilune.automation{ name = "a", trigger = { every = "1h" }, run = function() end }  --! option `on`
perilune.automation{ name = "a", on = { cron = "0 9 * * *" }, run = function() end }  --! option `schedule`
perilune.automation{ name = "a", on = { interval = "1h" }, run = function() end }  --! option `every`
perilune.automation{ name = "a", on = { every = "1h" }, debounce = "1s", run = function() end }  --! "restart"
perilune.automation{ name = "a", on = { table = "customer" }, run = function() end }  --! change
perilune.automation{ name = "a", on = { change = "customer", insert = false }, run = function() end }  --! initially
perilune.jobs("mail"):push{ to = "x" }  --! jobs:enqueue
perilune.emit("x", 1, 2)  --! in a table
perilune.transaction(function() end)  --! db:write
perilune.write(function() end)  --! db:write
perilune.migrator():add("a", function() end)  --! migrator:register
perilune.migrator():run(db)  --! migrator:migrate
perilune.migrator():up()  --! migrator:migrate
perilune.migrator():migrate(db, { to = "x" })  --! option `up_to`
perilune.migrator():rollback()  --! migrator:migrate_down
perilune.enum("a", "b")  --! perilune.enum
perilune.case(c.vip, 1, 2)  --! perilune.case
perilune.case{ { c.vip, 1 }, ["else"] = 2 }  --! otherwise
perilune.case{ when = c.vip }  --! { condition, value }
perilune.count("name")  --! Class.c.name:count
perilune.count(c.name)  --! Class.c.name:count
perilune.version  --! --version
perilune.db  --! perilune.database
]==])
end)

test("first guesses of users of GRDB work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:fetchAll()  --! fetch_all
Customer:fetchAll(db)  --! fetch_all
Customer:fetchOne()  --! fetch_one
Customer:fetchCount()  --! fetch_count
Customer:filter(c.name:eq("Ada")):fetchOne()  --! fetch_one
Customer:filterKey(1)  --! filter_key
Customer:filter_id(1)  --! filter
Customer:filter{ key = 1 }  --! filter_key
Customer:orderByPrimaryKey()  --! order
Customer:order(c.name.desc)  --! Class.c.name:desc
Customer:order(c.name:desc()):fetch_one().name  --> "Linus"
Customer:including(Customer.invoices)  --! including_all
Customer:includingAll(Customer.invoices)  --! including_all
Customer:including_all("invoices")  --! Class.name
Customer:including_all{ Customer.invoices }  --! including_all(Class.name
Customer:including_all(Customer.invoices):fetch_all()[1].invoices[1].number  --> "A1"
Customer:including(all)  --! including_all
Invoice:including(required)  --! including_all
Invoice:including_required(Invoice.customer):fetch_all()[1].customer.name  --> "Ada"
Invoice:including_required("customer")  --! Class.name
Invoice:including_optional(Invoice.customer, Invoice.lines)  --! including_all
Invoice:joining(required)  --! joining_required
Invoice:joining(Invoice.customer)  --! joining_required
Invoice:joining_required(Invoice.customer:filter{ name = "Ada" }):fetch_count()  --> 2
Invoice:annotated(Invoice.lines:count())  --! annotated_with
Invoice:annotated_with(Invoice.lines:count():as("n")):order("id"):pluck("n")  --> {2, 1, 0}
Invoice:annotated_with(Invoice.lines.count)  --! Class.c.name:desc
Invoice:annotated_with(Invoice.lines:sum("quantity"):as("q")):fetch_all()[1].q  --> 3
Invoice:annotated_with("COUNT(*)")  --! expression:as
Invoice:annotated_with{ n = Invoice.lines:count() }  --! annotated_with
Customer:select(c.name, c.email):fetch_one().email  --> "ada@x.org"
Customer:select(c.name):fetch_set()  --> {Ada=true, Grace=true, Linus=true}
Customer:selectID()  --! select
Customer:asRequest(c.name)  --! filter
Customer:fetchSet()  --! fetch_set
Customer:fetchCursor()  --! for record in request:rows
Customer:limit(1, 1):fetch_one().name  --> "Grace"
Customer:limit("5")  --! an integer
Customer:limit(-1)  --! negative
Customer:offset(1)  --> request{<customer{id = 2, name = "Grace", email = "grace@x.o
Customer:updateAll{ vip = true }  --! update_all
Customer:deleteAll()  --! delete_all
Customer:deleteOne(1)  --! delete_one
Customer:deleteOne{ id = 1 }  --! delete_one
Customer:deleteAll{ 1, 2 }  --! delete_all
Customer:exists(99)  --> false
Customer:find(db, 1).name  --> "Ada"
Customer:fetch_one(db, 1).name  --> "Ada"
Customer:databaseTableName()  --! perilune.record
Customer:insertAndFetch{ name = "x" }  --! Class:insert
Customer:upsertAndFetch{ name = "x" }  --! Class:upsert
ada:insertAndFetch()  --! record:insert
ada:updateChanges(function(c) c.name = "Bob" end)  --! update_changes
ada:update_changes(function(c) c.name = "Bob" end)  --> true
ada:update_changes{ name = "Bob" }  --> true
ada:update_changes{ nmae = "Bob" }  --! name
ada:update_changes("name", "Bob")  --! update_changes
ada:saved()  --! record:exists()
ada:inserted()  --! UNIQUE
ada:encode()  --! perilune.json.encode
ada:databaseEquals(ada)  --! first.id == second.id
ada:hasDatabaseChanges()  --! record:has_changes
ada:databaseChanges()  --! record:changes
ada:willSave()  --! Class:will_save
ada:delete(db)  --> true
ada:refresh().name  --> "Ada"
db:inTransaction(function() return "commit" end)  --! in_transaction
db:inSavepoint(function() end)  --! in_savepoint
db:asyncWrite(function() end)  --! db:write
db:unsafeReentrantWrite(function() end)  --! db:write
db:add(function() end)  --! Class:insert
db:add_tokenizer()  --! db:create_fts5
db:create("thing", function(t) end)  --! db:create_table
db:createTable("thing", function(t) t:column("a") end)  --! create_table
db:tableExists("customer")  --! table_exists
db:afterNextTransaction(function() end):is_active()  --! after_next_transaction
db:last_inserted_row_id()  --! db:execute
db:lastInsertedRowID()  --! db:execute
db:makeStatement("SELECT 1")  --! db:prepare
db:cachedStatement("SELECT 1")  --! db:prepare
db:changesCount()  --! db:execute
db:foreignKeyViolations()  --! foreign_key_violations
]==])
end)

test("first guesses of users of Prisma, Drizzle and Sequelize work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:findMany()  --! filter
Customer:findMany{ where = { name = "Ada" } }  --! filter
Customer:findUnique{ where = { id = 1 } }  --! fetch_one
Customer:findFirst{ where = { name = "Ada" } }  --! fetch_one
Customer:findByPk(1)  --! fetch_one
Customer:findAll()  --! filter
Customer:findAll{ where = { name = "Ada" } }  --! filter
Customer:findOne{ where = { name = "Ada" } }  --! fetch_one
Customer:findOrCreate{ name = "x" }  --! find_or_insert
Customer:create{ data = { name = "x" } }  --! insert
Customer:insert{ data = { name = "x" } }  --! insert{
Customer:createMany{ { name = "x" } }  --! Class:insert_all
Customer:update{ where = { id = 1 }, data = { name = "x" } }  --! update_all{
Customer:updateMany{ name = "x" }  --! update_all
Customer:upsert{ where = { id = 1 } }  --! insert{
Customer:deleteMany()  --! delete_all
Customer:delete{ where = { id = 1 } }  --! filter{
Customer:aggregate{ _sum = { total = true } }  --! select
Customer:groupBy("country")  --! group
Customer:orderBy("name")  --! order
Customer:orderBy{ name = "asc" }  --! order
Customer:include{ invoices = true }  --! including_all
Customer:filter{ where = { name = "Ada" } }  --! filter
Customer:fetch_all{ where = { name = "Ada" } }  --! Class:filter
Customer:fetch_all{ order = "name", limit = 2 }  --! Class:filter
Customer:select{ name = true, email = true }  --! select
Customer:bulkCreate{ { name = "x" } }  --! Class:insert_all
Customer:count{ where = { vip = true } }  --! fetch_count
Customer:max("id")  --> 3
Customer:increment("id")  --! update_all
Customer:truncate()  --! delete_all
Customer:sync()  --! db:create_table
Customer:belongsTo(Invoice)  --! belongs_to
Customer:hasMany(Invoice)  --! has_many
Customer:belongsToMany(Product)  --! Class:has_many
Customer:addHook("beforeSave", function() end)  --! Class:will_save
Customer:leftJoin(Invoice, "x")  --! left_join
Customer:innerJoin(Invoice, "x")  --! joining_required
Customer:join(Invoice, Invoice.c.customer_id:eq(c.id)):fetch_count()  --> 3
Customer:join("invoice", "invoice.customer_id = customer.id")  --! perilune.record
Customer:join(Invoice)  --! cross_join
Customer:join(Customer.invoices)  --! joining_required
Customer:rightJoin(Invoice)  --! right_join
Customer:returning()  --! option `returning`
Customer:execute()  --! fetch_all
Customer:run()  --! fetch_all
Customer:values{ name = "x" }  --! pluck
Customer:set{ name = "x" }  --! update_all
Customer:onConflictDoNothing()  --! Class:upsert
Customer:insert({ name = "x" }, { on_conflict = "ignore" }).name  --> "x"
Customer:insert({ name = "x" }, { ignore = true })  --! "ignore"
Customer:insert("name", "x")  --! insert
Customer:insert()  --! a table of columns
Customer:insert{}  --! NOT NULL
Customer:insert{ nme = "x" }  --! name
Customer:insert{ name = 5 }.name  --> 5
Customer:insert{ name = "x", vip = 1 }  --! true or false
Customer:insert{ name = "x", vip = "yes" }  --! true or false
Customer:insert{ name = nil }  --! NOT NULL
Customer:insert({ name = "x" }):get("id")  --! record.column
Customer.insert{ name = "x" }  --! before the colon
Customer:insert{ name = "x" }.id  --> 4
Customer:upsert({ email = "ada@x.org", name = "New" }).name  --> "New"
Customer:upsert({ email = "ada@x.org", name = "New" }, { target = "email" }).name  --> "New"
Customer:upsert({ email = "ada@x.org", name = "New" }, { on_conflict = "email" })  --! update
Customer:upsert({ email = "ada@x.org", name = "New" }, { conflict_target = "email" })  --! target
Customer:upsert_all({ { email = "ada@x.org", name = "New" } }, { target = "email" })  --> 1
Customer:insert_all({ { email = "ada@x.org", name = "New" } }, { target = "email" })  --! upsert_all
Customer:insert_all{ name = "x" }  --! {{ column = value }}
Customer{ name = "x" }:insert().id  --> 4
Customer{ name = "x" }:save().id  --> 4
Customer("x")  --! Class{
Customer{ "x" }  --! name of a column
Customer{ nme = "x" }  --! name
Customer:save{ name = "x" }.id  --> 4
Customer:find(1):delete()  --> true
Customer:find_or_insert{ name = "Ada" }.id  --> 1
Customer:find_or_insert({ name = "x" }, { vip = true }).vip  --> true
Customer:page(1)  --! page(number, size)
Customer:page(1, 2).count  --> 3
Customer:page{ number = 1, size = 2 }  --! page(number, size)
Customer:order("id"):page_after(nil, 2).records[1].name  --> "Ada"
Customer:pluck("name", "id")[1][1]  --> "Ada"
Customer:pluck{ "name" }  --> {"Ada", "Grace", "Linus"}
Customer:pluck()  --! expected a column
Customer:pluck("nope")  --! no column
Customer:observe(function() end):is_active()  --> true
Customer:as("x")  --! aliased
Customer:union(Customer:filter{ id = 1 }):fetch_count()  --> 3
Customer.name  --! Class.c.name
Customer.nonsense  --! no method
Customer.c.nope  --! no column
Customer.columns  --! db:columns
Customer.invoices:fetch_all()  --! including_all
ada.nope  --! no column
ada.Name  --! name
ada.name  --> "Ada"
ada["name"]  --> "Ada"
ada.name:upper()  --> "ADA"
ada.vip == true  --> true
ada.invoices[1]  --! including_all
ada:invoices():fetch_all()[1].number  --> "A1"
ada:invoices():insert{ number = "Z" }.customer_id  --> 1
ada:invoices():order("total"):fetch_one().total  --> 500
ada:invoices{ status = "paid" }  --! record:invoices
ada:invoices("paid")  --! record:invoices
ada:get_invoices()  --! invoices
ada:add_invoice{ number = "Z" }  --! record:invoices():insert
ada:set_name("x")  --! record.name = value
ada:get_name()  --! record.name
ada:is_vip()  --! record.vip
ada:increment_id()  --! record:update_changes
invoice:products():add(tea, { quantity = 5 })  --> nil
invoice:products():add{ tea }  --> nil
invoice:products():remove(tea)  --> 1
invoice:products():replace{ tea }  --> nil
invoice:products():set{ tea }  --! update_all
invoice:lines():insert{ product_id = 3, quantity = 2 }.quantity  --> 2
invoice:lines():sum("quantity")  --> 3
invoice:products():fetch_count()  --> 2
for x in Customer do return x end  --! for record in Class:rows() do
for _, x in ipairs(Customer) do return x end  --! for record in Class:rows() do
for _, x in ipairs(Customer:all()) do return x end  --! for row in request:rows() do
for _, x in pairs(Customer:all()) do return x end  --! for row in request:rows() do
for x in Customer:rows() do return x.name end  --> "Ada"
for x in Customer:all() do return x end  --! for row in request:rows() do
#Customer  --! Class:fetch_count
#Customer:all()  --! request:fetch_count
Customer:all()()  --! for row in request:rows() do
p.settings:json("theme")  --> "settings" ->> '$."theme"'
]==])
end)

test("first guesses of language models work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:select{ name = true }  --! select
Customer:annotated_with{ n = Customer.invoices:count() }  --! annotated_with
Customer:remove(1)  --! Class:delete_one
Customer:join("invoice", "x")  --! perilune.record
ada:invoices{ status = "x" }  --! record:invoices
perilune.case(c.vip, 1)  --! perilune.case
Customer:update(1, { name = "x" })  --! Class:find
for _, x in pairs(Customer) do return x end  --! for record in Class:rows() do
Customer.name:eq("x")  --! Class.c.name
db.customers  --! perilune.record
db:write(function() end, { 1 })  --> nil
db:write(function(db, a) return a end, 5)  --> 5
db:write({ note = "x" }, function() return 5 end)  --! perilune.history
db:create_table("thing", { "a" })  --! db:create_table
perilune.record("customer", { softdelete = true })  --! soft_delete
Customer:order_by_primary_key()  --! order
db:on("x", print)  --! db:observe_transactions
c.name:is_in("a", "b")  --! column:is_in
c.name:asc("x")  --! column:asc
]==])
end)

test("first guesses of argument forms, option values and SQL text work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
db:create_table("a", function(t) t:belongs_to("customer", "cascade") end)  --! on_delete = "cascade"
db:create_table("a", function(t) t:column("c", "integer"):references("customer", "set null") end)  --! on_delete = "set null"
db:create_table("a", function(t) t:foreign_key("c", "customer", "id") end)  --! columns = "id"
db:alter_table("line", function(t) t:belongs_to("owner", "customer", { on_delete = "cascade" }) end)  --! { table = "other", on_delete = "cascade" }
db:alter_table("line", function(t) t:foreign_key("a", "customer", "id", { on_delete = "cascade" }) end)  --! { columns = "id", on_delete = "cascade" }
db:create_table("a", function(t) t:column("c", "datetime"):default("CURRENT_TIMESTAMP") end)  --! default_sql("CURRENT_TIMESTAMP")
db:create_table("a", function(t) t:column("c", "datetime"):default("datetime('now')") end)  --! default_sql
db:create_table("a", function(t) t:column("c", "text"):default("(none)") end)  --> nil
db:create_table("a", function(t) t:column("c", "text") t.d = "text" end)  --! t:column("d", type)
db:create_table("a", function(t) t:column("c", "integer") t:constraint("c > 0") end)  --! t:check
db:create_table("a", function(t) t:column("c", "decimal"):precision(10, 2) end)  --! decimal(10, 2)
db:create_table("a", function(t) t:column("c", "enum('a','b')") end)  --! perilune.enum
db:create_table("a", function(t) t:column("c", "text"):generated_as("upper(d)", { stored = true }) end)  --! "stored"
db:create_table("a", function(t) t:many_to_many("product") end)  --! t:belongs_to
db:create_table("a", { virtual = "fts5" }, function(t) t:column("c") end)  --! db:create_fts5
db:create_join_table("customer", "product")  --! t:belongs_to
db:create_fts5("doc", { "title", "body" })  --! columns = { ... }
db:create_fts5("doc", function(t) t:column("title") end)  --! columns = { "title"
db:create_fts_table("doc", { "title" })  --! db:create_fts5
db:create_index("invoice", { "status", "due DESC" })  --! desc = true
db:drop_table("nothing", true)  --! if_exists = true
db:transform_table("customer", print)  --! db:alter_table
db:copy_table("customer", "copy")  --! CREATE TABLE copy
db:import_csv("x.csv")  --! perilune import
db:undo()  --! perilune.history
db:preview(print)  --! db:record_changes
db:observe("customer", print)  --! Class:observe
db:write{ function() end }  --! db:write(function
perilune.migrator{ v1 = print }  --! migrator:register("v1"
Customer:has_many(Invoice, "customer_id")  --! columns = "customer_id"
Customer:has_many(Invoice, { dependent = "destroy" })  --! on_delete = "cascade"
Customer:has_many(Invoice, { key = "customer_id" })  --! option `columns`
Customer:has_many(Invoice, { as = "bills" })  --! option `name`
Customer:has_many(Invoice, function(q) return q:order("total") end)  --! has_many(Target):order
perilune.record("customer", { json = { "name" } })  --! types = { column = "json" }
perilune.record("customer", { table_name = "customer" })  --! the first argument
perilune.record("customer", { relations = {} })  --! Class:has_many
Product:upsert({ sku = "TEA", name = "x" }, "sku")  --! target = "sku"
Product:upsert({ sku = "TEA", name = "x" }, { on_conflict = "sku" })  --! `target`
Product:insert_all({ { sku = "X", name = "x", price = 1 } }, { batch_size = 10 })  --! written at once
Product:insert_or_ignore{ sku = "TEA" }  --! on_conflict = "ignore"
Product:insert({ sku = "TEA", name = "x", price = 1 }, { on_conflict = "nothing" })  --! "ignore"
Product:insert({ sku = "TEA", name = "x", price = 1 }, { on_conflict = "update" })  --! upsert
Invoice:update{ total = 5 }  --! update_all
Invoice:filter{ status = "sent" }:or_filter{ status = "paid" }  --! request | Class:filter
perilune.record("product", { types = { settings = perilune.json } }):find(1).settings  --! "json"
tea:update_changes{ stock = perilune.sql("stock + 1") }  --! update_all
Product:insert{ sku = "X", name = "x", price = 1, settings = { a = 1 } }  --! types = { settings = "json" }
Invoice:insert{ customer_id = ada, number = "Z" }  --! record.id
Invoice:filter{ customer_id = ada }  --! filter{ association = record }
Invoice:filter{ customer__name = "Ada" }  --! ["customer.name"]
Invoice:filter{ status = nil }  --! perilune.null
Invoice:filter("status IN (?)", { "draft", "sent" })  --! is_in
Invoice:filter("status IN ?", { "draft", "sent" })  --! is_in
Invoice:filter("total > $1", 400)  --! `?`
Invoice:filter(i.due:lt("now"))  --! perilune.now()
Invoice:filter{ due = "tomorrow" }  --! perilune.now()
Invoice:distinct("status")  --! select("column"):distinct()
Invoice:select("status, SUM(total) AS sum")  --! an argument of its own
Invoice:select("printf('%s, %s', status, total) AS text"):fetch_value()  --> "sent, 500"
Invoice:update_all("total", 5)  --! update_all{ total = value }
Customer:include(Customer.invoices)  --! including_all
Customer:filter(Customer.invoices:any{ status = "paid" })  --! exists()
Invoice:including_all(Invoice.lines.product)  --! Class.lines:including_all
ada.invoices:first()  --! fetch_one
ada:history()  --! perilune.history
i.total:count_distinct()  --! column:count():distinct()
i.total:ifnull(0)  --! column:coalesce
i.total:gt(5):iif(1, 2)  --! perilune.case
pcall(Customer:insert{ name = "x" })  --> false
(function() function Invoice:after_commit() end end)()  --! after_next_transaction
(function() function Invoice:before_validation() end end)()  --! will_save
(function() function Invoice:after_find() end end)()  --! did_fetch
(function() Invoice.validates = { total = "required" } end)()  --! self:invalid
(function() Invoice.hooks = { before_save = print } end)()  --! Class:will_save
(function() Invoice.scopes = {} end)()  --! Class.requests
(function() function Invoice:validate() return false, "wrong" end invoice:update_changes{ total = 1 } end)()  --! self:invalid
(function() function Invoice:validate() return "wrong" end invoice:update_changes{ total = 1 } end)()  --! self:invalid
(function() for name in pairs(perilune.enum{ a = 0 }) do return name end end)()  --> "a"
perilune.enum{ a = 0 }(0)  --! Enum:from
perilune.enum{ a = 0 }.a.value  --! raw
perilune.enum{ a = 0 }.values  --! Enum:cases()
perilune.json(1)  --! perilune.json.encode
perilune.json.encode({}, { indent = 2 })  --! takes one argument
perilune.fn("lower", 1)  --! perilune.fn.name
perilune.today()  --! start_of("day")
perilune.datetime("2026-03-01 10:00")  --! perilune.date
perilune.worker("mail", print)  --! handle(
perilune.csv.read("x.csv")  --! perilune import
perilune.undo()  --! perilune.history
perilune.retry(3, print)  --! option `retry`
perilune.freeze("2026-01-01")  --! t.clock:set
perilune.exit(1)  --! os.exit
perilune.jobs("mail", print)  --! handle(f)
perilune.jobs{ name = "mail", run = print }  --! perilune.jobs("mail")
perilune.queue():push{ to = "x" }  --! perilune.jobs
perilune.automation{ name = "a", every = "1h", run = print }  --! on = { every
perilune.automation{ name = "a", schedule = "0 9 * * *", run = print }  --! on = { every
perilune.automation{ name = "a", on = { insert = "customer" }, run = print }  --! change = "table"
perilune.automation{ name = "a", on = { table = "customer", operation = "insert" }, run = print }  --! change = "table"
perilune.automation{ name = "a", on = Customer, run = print }  --! change = Class
perilune.automation{ name = "a", on = { every = "1h" }, run = print, retries = 3 }  --! option `retry`
perilune.automation{ name = "a", on = { every = "1h" }, ["then"] = print }  --! option `run`
db:transaction(print)  --! raises an error
]==])
end)

test("first guesses of dates, results and databases as functions work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
"due " .. invoice.due  --> "due 2026-03-31 00:00:00.000"
invoice.due .. "!"  --> "2026-03-31 00:00:00.000!"
invoice.due:plus{ days = 1 }  --! date:add
invoice.due:subtract{ days = 1 }  --! date:add
invoice.due:diff(perilune.now())  --! date:seconds_since
perilune.now():since(invoice.due)  --! date:seconds_since
invoice.due:strftime("%Y")  --! date:format
invoice.due:end_of("month")  --! date:start_of
invoice.due:to_timezone("Europe/Berlin")  --! date:components
invoice.due.minutes  --! date.minute
perilune.date{ 2026, 3, 1 }  --! year = 2026
perilune.date()  --! perilune.now
db("customer")  --! perilune.record
perilune.database("x.sqlite")  --! perilune.queue
for row in db:execute("SELECT * FROM customer") do return row end  --! db:rows
db:fetch_all("SELECT * FROM customer WHERE id IN (?)", { 1, 2 })  --! json_each
]==])
end)

test("errors for first guesses of users of GRDB, ActiveRecord, SQLAlchemy, Django and peewee name the replacement", function()
  guesses([==[%s]==], [==[
db:scalars("SELECT 1")  --! db:fetch_values
db:fetch_dict("SELECT 1")  --! db:fetch_all
db:executemany("x", {})  --! db:execute
db:row_factory()  --! row:to_table()
db:in_memory()  --! db:path()
db:sqlite_version()  --! sqlite_version()
db:make_snapshot()  --! db:snapshot()
db:release_memory()  --! shrink_memory
db:create_model("x")  --! perilune.record
db:atomic(print)  --! db:write
db:register_function("f", print)  --! db:add_function
db:total_changes()  --! total_changes()
db:erase()  --! db:drop_table
ada:full_clean()  --! record:validation_errors()
ada:model_to_dict()  --! pairs(record)
ada:restore_attributes()  --! record:refresh()
ada:refresh_from_db()  --! record:refresh()
ada:delete_instance()  --! record:delete()
ada:dirty_fields()  --! record:changes()
ada:name_was()  --! record:changes()
ada:is_valid()  --! record:validation_errors()
ada:invoices():append(invoice)  --! add(record)
Customer:nulls_last("name")  --! :nulls_last()
Customer:dicts()  --! fetch_all()
Customer:in_groups_of(3)  --! in_batches
Customer:set_by_id(1, {})  --! filter_key(key):update_all
Customer:excluding(ada)  --! is_in
Customer:missing("invoices")  --! is_empty()
Customer:associated("invoices")  --! exists()
Customer:strict_loading()  --! including_all
Customer:noload()  --! including_all
Customer:dates("created_at")  --! strftime
Customer:extending(print)  --! Class:extend()
Customer:joinedload(Customer.invoices)  --! including_all
Customer:with_for_update()  --! lock_version
Customer:values_list("name")  --! pluck
Customer:get_or_create{ name = "x" }  --! find_or_insert
Customer:in_bulk{ 1 }  --! filter_key
Customer:order("-name")  --! desc()
Customer:filter{ name__contains = "x" }  --! contains(value)
Customer:update_all({ name = "x" }, { where = "id = 1" })  --! filter
Customer:upsert({ id = 1 }, { unique_by = "id" })  --! target
Customer:upsert({ name = "x" }, { target = "lower(name)" })  --! remove `target`
Customer:has_many(Invoice, { back_populates = "x" })  --! belongs_to
Customer:has_many(Invoice, { order_by = "number" })  --! :order(
perilune.record("customer", { ordering = "name" })  --! Class.requests:default()
perilune.record("customer", { database = db })  --! Class:fetch_all(db)
perilune.record("customer", { paranoid = true })  --! soft_delete
c.name:icontains("x")  --! column:contains
c.name:label("x")  --! column:as
perilune.Q{}  --! perilune.sql
perilune.subquery(Customer)  --! is_in
perilune.aliased(Customer)  --! Class:aliased
perilune.unique()  --! t:unique_key
perilune.validates("x")  --! Class:validate()
perilune.enumerate{}  --! ipairs
perilune.sleep_ms(1)  --! perilune.sleep
perilune.date.from_timestamp(1)  --! from_unix
perilune.date("2026-02-11"):weekday_name()  --! date.weekday + 1
perilune.date("2026-02-11"):is_same_day("2026-02-11")  --! first:format("YMD")
perilune.date("2026-02-11"):last_day_of_month()  --! start_of("month")
perilune.date("2026-02-11"):start_of("month"):add{ months = 1, days = -1 }.day  --> 28
perilune.date("2026-02-11"):start_of_month()  --! date:start_of("month")
perilune.date("2026-02-11").week  --! date:format("%W")
db:fetch_one("SELECT 1 AS one"):keys()  --! row:columns()
db:fetch_one("SELECT 1 AS one"):as_dict()  --! row:to_table()
db:fetch_one("SELECT 1 AS one"):int("one")  --! row:integer
db:fetch_one("SELECT 1 AS one"):has_column("x")  --! row:has
db:fetch_one("SELECT 1 AS one"):items()  --! row:pairs()
db:fetch_one("SELECT 1 AS one"):update{ one = 2 }  --! perilune.record
]==])
end)

test("SQL text with a value that never equals the column is refused, and the error shows the intended condition", function()
  guesses([==[%s]==], [==[
Invoice:filter("due = ?", perilune.date("2026-03-31"))  --! filter(Class.c.due:eq(value))
Invoice:filter("invoice.due < ?", perilune.date("2026-03-31"))  --! Class.c.due:lt
Invoice:filter("total > ? AND \"due\" >= ?", 5, perilune.date("2026-03-31"))  --! Class.c.due:ge
Invoice:filter("due BETWEEN ? AND ?", "2026-01-01", perilune.date("2026-03-31"))  --! Class.c.due:between(low, high)
Invoice:filter("due IN (?, ?)", "2026-01-01", perilune.date("2026-03-31"))  --! Class.c.due:is_in{ 1, 2 }
Invoice:filter("due <= :day", { day = perilune.date("2026-03-31") })  --! Class.c.due:le
Invoice:filter("due <= ?1", perilune.date("2026-03-31"))  --! date:format("%Y-%m-%d")
Customer:filter("date(created_at) = ?", perilune.date("2026-01-05"))  --! date:format("%Y-%m-%d")
Customer:filter("created_at > ?", perilune.date("2026-01-05")):fetch_count()  --> 2
Invoice:filter("due = ? AND total < ?", perilune.date("2026-03-31"):format("%Y-%m-%d"), 900):pluck("number")  --> {"A1"}
Invoice:filter("due = ?", "2026-03-31"):fetch_count()  --> 1
Customer:filter("email = NULL")  --! IS NULL
Customer:filter("email <> null AND vip")  --! IS NOT NULL
Customer:filter("name = 'x = NULL'"):fetch_count()  --> 0
Customer:filter("email = ?", perilune.null)  --! "email IS ?"
Customer:filter("email != :e", { e = perilune.null })  --! Class.c.email:is_not_null()
Customer:filter("email IS ?", perilune.null):pluck("name")  --> {"Linus"}
Invoice:filter("due = ?", perilune.date("2026-03-31"))  --! filter: the date
Customer:filter("email = ?", perilune.null)  --! filter: in SQL
db:execute("SELECT 1")[1]  --! db:fetch_all(sql, ...)]==])
end)

test("truncated results and pages used as lists are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
Invoice:select("id", "number"):fetch_value()  --! selects 2 columns
Invoice:select("id", "number"):order("id"):fetch_values()  --! pluck("a", "b")
Invoice:select("number"):annotated_with(Invoice.lines:count()):order("id"):fetch_value()  --> "A1"
Invoice:order("id"):page(1, 2)[1]  --! page.records[1]
#Invoice:order("id"):page(1, 2)  --! #page.records
Invoice:order("id"):page(1, 2).total  --! page.count
Invoice:order("id"):page(1, 2).has_next  --! page.number < page.pages
Invoice:order("id"):page(1, 2):fetch_all()  --! page.records
Invoice:order("id"):page_after(nil, 2).next_cursor  --! page.next
Invoice:order("id"):page_after(nil, 9).next  --> nil
Invoice:order("id"):page(1, 2).pages  --> 2
Customer:annotated_with(Customer.invoices:count()):order("id"):fetch_one().invoices_count  --! did you mean `invoice_count`
Customer:annotated_with("n", Customer.invoices:count())  --! annotated_with(expression:as("n"))
Customer:filter(Customer.invoices:fetch_count():gt(1))  --! Class.invoices:count()
Invoice:filter(Invoice.customer.name:eq("Ada"))  --! filter{ ["customer.name"] = value }
Line:find(1, 2)  --! find{ invoice_id = ..., product_id = ... }
Customer:fetch_all(2)  --! Class:limit(2):fetch_all()
Customer:order("name", true)  --! Class.c.name:desc()
Customer:pluck("name", { distinct = true })  --! distinct():pluck
Customer:filter_key(1, 2)  --! filter_key{ 1, 2 }
Customer:in_batches(2, function() end)  --! for records in
Customer:join(Invoice)  --! joining_required(Class.association)
Customer:join(Invoice, { "id", "customer_id" })  --! Class.c.other_id:eq(Other.c.id)
Customer:without{ name = "Ada" }  --! filter(~condition)
Invoice:filter{ id = 1 }:update{ total = 5 }  --! update_all
Invoice:update_all("total = ?", 5)  --! update_all{ total = value }
Invoice:update_all{ total = function(i) return i.total + 1 end }  --! use an expression
invoice:products():clear()  --! replace{}
invoice:products():set{ tea }  --! replace{ other, ... }]==])
end)

test("a hook that returns false is refused, because the write would continue", function()
  guesses([==[(function() %s return Customer:insert{ name = "x" } end)()]==], [==[
function Customer:will_save() return false end  --! would not stop the write
function Customer:will_insert() return false end  --! raise an error
function Customer:did_save() return false end  --> x
function Customer:will_save() return true end  --> x]==])
end)

test("arguments of other schedulers, migrators and observers are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
perilune.schedule("9:00", print)  --! perilune.schedule("0 9 * * *", f)
perilune.schedule("daily at 9:30", print)  --! perilune.schedule("30 9 * * *", f)
perilune.schedule("every 5 minutes", print)  --! perilune.every
perilune.schedule("0 0 9 * * *", print)  --! schedules have no seconds
perilune.at("09:00", print)  --! perilune.schedule("0 9 * * *", f)
perilune.every("hourly", print)  --! "1h"
perilune.every("day", print)  --! perilune.schedule("@daily", f)
perilune.sleep(10, "ms")  --! perilune.sleep("10ms")
db:observe_transactions(print)  --! { on_change = f }
db:observe(Customer, print)  --! request:observe(callback)
db:observe(Customer:filter{ id = 1 }, print)  --! request:observe(callback)
perilune.history("customer")  --! perilune.history(perilune.record("customer"))
perilune.migrator{ { "v1", print } }  --! migrator:register
perilune.record(db, "customer")  --! Class:fetch_all(db)
perilune.record("customer", db)  --! Class:fetch_all(db)
perilune.record("customer", { label = function() end })  --! function Class:label()
perilune.single_row("config", { nonsense = 1 })  --! perilune.single_row: no option
perilune.jobs("mail"):pop()  --! jobs:handle
perilune.jobs("mail"):schedule("1h", {})  --! { delay = "1h" }
perilune.json.encode({}, { indent = 2 })  --! one form
db:create_trigger("t", "AFTER INSERT ON line BEGIN SELECT 1; END")  --! CREATE TRIGGER
db:create_table("note", function(t) t:column("at", "datetime"):default(perilune.sql("CURRENT_TIMESTAMP")) end)  --! default_sql
db:create_table("note", function(t) t:foreign_key("customer_id", "customer") end)  --! t:column("customer_id", type)]==])
end)

test("guesses after a first look at the documentation work, or their errors name the replacement", function()
  guesses([==[%s]==], [==[
Customer:find(1, { include = Customer.invoices })  --! including_all
Customer:select("distinct country"):fetch_count()  --! select("country"):distinct()
Customer:select("COUNT(DISTINCT country)"):fetch_value()  --> 3
Customer:filter(Customer.invoices:count() > 1)  --! `expression:gt(1)`
Invoice:filter(Invoice.customer:eq(ada))  --! filter{ customer = record }
ada:invoices():remove(invoice)  --! other:delete()
ada:fetch_invoices()  --! record:invoices():fetch_one()
ada:add_invoice{ number = "B1" }  --! record:invoices():insert
Customer:find_or_insert("Ada")  --! find_or_insert{ column = value }
perilune.jobs("mail"):enqueue({ to = "x" }, { after = "1h" })  --! delay = "1h"
perilune.jobs("mail"):enqueue({ to = "x" }, { attempts = 3 })  --! perilune.jobs(name, { attempts = 5 })
#perilune.jobs("mail")  --! is not a list
#perilune.after(1, print)  --! is not a list
Customer:insert_all({ "name" }, { { "a" }, { "b" } })  --! insert_all{ { column = value }, ... }
db:create_table("note", function(t) t:foreign_key("customer_id"):references("customer") end)  --! t:foreign_key({ "column" }, "table"
perilune.once(print)  --! perilune.once("key", f)
perilune.all{}  --! task:wait()]==])
end)


test("values that no row can match are refused, and the errors show the intended condition", function()
  guesses([==[%s]==], [==[
Customer:filter{ email = false }  --! :is_null()
Customer:filter{ email = "!= null" }  --! Class.c.email:is_not_null()
Customer:filter{ id = "> 1" }  --! Class.c.id:gt(1)
Customer:filter{ id = "1..3" }  --! Class.c.id:between(1, 3)
Customer:filter("vip = 'true'")  --! expected true or false
Customer:filter("vip = ?", "true")  --! "NOT vip"
Customer:find(true)  --! filter{ column = true }
Customer:exists(ada)  --! record:exists()
Customer:fetch_one{ 1 }  --! filter_key{ 1, 2 }
Customer:filter{ id = { ada, 2 } }  --! record.id
Invoice:filter{ total = ">= 500" }  --! Class.c.total:ge(500)
Invoice:filter{ total = i.total:lt(600) }  --! without braces
Invoice:filter{ total = "500" }:fetch_count()  --> 1
Invoice:filter{ i.total:gt(400), i.status:eq("paid") }  --! filter(first, second)
Invoice:filter{ "total > ?", 400 }  --! filter("total > ?", ...)
Invoice:filter(i.total:gt("abc"))  --! expected a number
Invoice:filter(i.total:gt("100")):fetch_count()  --> 3
Invoice:filter(i.total:gt(true))  --! expected a number
Invoice:filter(i.paid:eq("true"))  --! expected true or false
Invoice:filter(i.paid:eq(0)):fetch_count()  --> 2
Invoice:filter(i.number:like("A*"))  --! column:glob
Invoice:filter(i.number:glob("A%"))  --! column:like
Invoice:filter("number LIKE 'A*'")  --! GLOB
Invoice:filter(i.number:like("A*", "!")):fetch_count()  --> 0
Product:filter("settings -> 'theme' = 'dark'")  --! ->>
Product:filter("settings ->> 'theme' = 'dark'"):fetch_count()  --> 1
Product:filter{ settings = { theme = "dark" } }  --! json("theme")
Product:update_all{ settings = p.settings:json_set("theme", "light") }.changed_rows  --> 3
p.settings:has_key("theme")  --! json_type
Invoice:join(Customer, { customer_id = "id" })  --! Class.c.customer_id:eq(Other.c.id)
Invoice:join(Customer, i.customer_id)  --! Class.c.customer_id:eq(Other.c.id)
Customer:joining_required(Customer.invoices):filter{ status = "paid" }  --! "invoices.status"
Customer:joining_required(Customer.invoices):order("total")  --! invoice.total
invoice:products():filter{ quantity = 1 }  --! record:lines()
Invoice:sum("status")  --! column:cast("real"):sum()
Invoice:average("due")  --! column:julianday():average()
Invoice:order("id"):page(1, 2).next  --! page.number < page.pages
Customer:update_all({ vip = true }, c.id:eq(1))  --! filter(condition)
ada:update("name", "Bob")  --! record:update_changes{ name = value }
ada:save{ columns = { "name" } }  --! record:update_changes
ada:delete{ cascade = true }  --! on_delete = "cascade"
(function() ada.name = "B" return ada:changes().name[1] end)()  --! `old` and `new`
Customer:insert({ name = "x" }, "ignore")  --! on_conflict = "ignore"
Customer:insert({ name = "x" }, { validate = false })  --! update_all(...)
perilune.json.encode(Customer)  --! fetch_all()
perilune.json.encode{ Customer:all() }  --! fetch_all()
db:columns("customer").name  --! ipairs(list)
db:columns("customer")[2].notnull  --! not_null
db:columns("customer")[1].default  --> nil
db:foreign_keys("invoice")[1].to  --! referenced_columns
perilune.jobs("mail"):counts().failed  --! dead
perilune.jobs("mail"):enqueue({}, "1h")  --! delay = "1h"
perilune.every("minute", print)  --! "1m"
perilune.every("*/5 * * * *", print)  --! perilune.schedule("*/5 * * * *", f)
perilune.schedule("hourly", print)  --! "@hourly"
perilune.schedule("0 9 * * *", print, "Europe/Berlin")  --! zone = "Europe/Berlin"]==])
end)

test("dates in formats that SQL cannot compare are refused, and the errors show the right format", function()
  guesses([==[%s]==], [==[
Invoice:filter(i.due:lt(1774915200))  --! perilune.date(1774915200)
Invoice:filter{ due = 1774915200 }  --! perilune.date(1774915200)
Invoice:filter(i.due:le("31.03.2026"))  --! perilune.date{
Invoice:filter(i.due:le("2026-3-31"))  --! perilune.date{
Invoice:filter(i.due:ge("2026-03")):fetch_count()  --> 1
Invoice:filter(i.due:gt("-30 days"))  --! perilune.now():add{ days = -30 }
Invoice:filter{ due = { year = 2026, month = 3, day = 31 } }  --! perilune.date{
Invoice:filter(i.due:strftime("%Y"):eq(2026))  --! eq("2026")
Invoice:filter(i.due:strftime("%m"):eq(3))  --! eq("03")
Invoice:filter(i.due:strftime("%m"):eq("3"))  --! eq("03")
Invoice:filter(i.due:strftime("%Y"):eq("2026")):fetch_count()  --> 2
Customer:filter(c.created_at:date():eq(perilune.date("2026-01-05 18:00"))):fetch_count()  --> 1
Invoice:filter("strftime('%Y', due) = ?", 2026)  --! '2026'
Invoice:filter("strftime('%m', due) = '3'")  --! '03'
Invoice:filter("due = '2026-3-31'")  --! '2026-03-31'
Invoice:filter("due = '2026-03-31 00:00:00'")  --! '2026-03-31'
Invoice:filter("due > 2026-03-01")  --! Class.c.due:gt(value)
Invoice:filter("due < ?", 1774915200)  --! perilune.date(1774915200)
Invoice:filter("total > 5 AND due IN (?, ?)", "2026-03-31", tostring(invoice.due))  --! '2026-03-31'
Invoice:filter("due BETWEEN '2026-01-01' AND '2026-12-31'"):fetch_count()  --> 2
Customer:filter("created_at < unixepoch()")  --! datetime('now')
Customer:filter("created_at >= '2026-01-05'"):fetch_count()  --> 2
Customer:filter("name = 'due = 5'"):fetch_count()  --> 0
Invoice:update_all{ due = i.due + 1 }  --! Class.c.due:date("+1 day")
Invoice:select(i.due - i.due)  --! julianday()]==])
end)

test("defaults that are never intended are refused, and the errors show the intended default", function()
  guesses([==[db:create_table("thing", function(t) %s end) return db:schema_sql("thing")]==], [==[
t:column("a", "text"):default("'draft'")  --! default("draft")
t:column("a", "text"):default("NULL")  --! NULL
t:column("a", "integer"):default("zero")  --! an integer
t:column("a", "integer"):default("0")  --> DEFAULT '0'
t:column("a", "boolean"):default("false")  --! default(false)
t:column("a", "datetime"):default("now")  --! CURRENT_TIMESTAMP
t:column("a", "datetime"):default(perilune.now())  --! CURRENT_TIMESTAMP
t:column("a", "datetime"):default(1774915200)  --! CURRENT_TIMESTAMP
t:column("a", "date"):default("2026-02-30")  --! not a date
t:column("a", "date"):default(perilune.date("2026-02-28"))  --> DEFAULT '2026-02-28'
t:column("a", "text"):default(perilune.uuid())  --! Class:will_insert()
t:column("a", "text"):default_sql("now()")  --! CURRENT_TIMESTAMP
t:column("a", "bigint"):primary_key()  --! "integer"
t:column("a", "bigint"):not_null():primary_key()  --> PRIMARY KEY
t:column("a", "text"):one_of{ "x" }  --! check
return { "a" }  --! t:column]==])
end)

test("options and fields of the schema that do not exist raise errors that name the right ones", function()
  guesses([==[%s]==], [==[
db:add_aggregate("m", { init = 0, step = print })  --! initial
db:add_aggregate("m", { initial = 0, step = print, finalize = print })  --! final
db:add_aggregate("m", { initial = 0, step = print, name = "m" })  --! no option `name`
db:add_aggregate("m", 1, { initial = 0, step = function(s, x) return s + x end }); return db:fetch_value("SELECT m(id) FROM customer")  --> 6
db:add_function("twice", function(x) return 2 * x end, 1)  --! the options come before the function: db:add_function(name, { arguments
db:primary_key("customer")[1]  --! key.columns
db:primary_key("customer").name  --! key.columns
db:primary_key("line").columns  --> {"invoice_id", "product_id"}
db:primary_key("line").rowid  --> false
db:indexes("customer").email  --! a list of indexes
db:create_table("t", "id integer primary key")  --! function(t)
db:alter_table("customer", "ADD COLUMN x")  --! db:execute(sql)
db:alter_table("invoice", function(t) t:change_column("total"):drop_default() end)  --! :without("default")
db:alter_table("invoice", function(t) t:change_column("total"):nullable() end)  --! :without("not_null")
db:create_fts5("f", { columns = "name" })  --! { "name" }
db:create_fts5("f", { columns = { "name" }, table = "customer" })  --! synchronize_with
db:create_trigger("x", { on = "customer", after = "update", of = "name", run = "DELETE FROM line" })  --! columns
db:create_trigger("x", { on = "customer", after = "insert", ["do"] = "DELETE FROM line" })  --! run
db:create_trigger("x", { on = "customer", after = "insert", run = function(new) end })  --! db:observe_transactions
perilune.migrator():register("a", { up = print, down = print })  --! { down = f }
perilune.migrator():register{ name = "a", up = print }  --! { down = f }
perilune.migrator():register("a", print, print)  --! { down = f }
perilune.migrator{ path = "migrations" }  --! folder
perilune.migrator("migrations")  --! folder
]==])
  guesses([==[db:create_table("thing", function(t) %s end) return db:schema_sql("thing")]==], [==[
t:column("a") t:unique_key{ "a", name = "x" }  --! CONSTRAINT x UNIQUE
t:column("a") t:unique_key{ "a", on_conflict = "replace" }  --! t:unique_key({ ... }, "replace")
t:column("a") t:unique_key({ "a" }, "replace")  --> "CREATE TABLE 
t:column("a") t:primary_key{ "a", on_conflict = "replace" }  --> "CREATE TABLE 
t:column("a") t:foreign_key{ columns = "a", references = "customer" }  --! t:foreign_key({ "column" }, "table"
t:primary_key("id", "integer", { autoincrement = true })  --! t:auto_incremented_primary_key
t:belongs_to("owner", { class = "customer" })  --! table
t:belongs_to("owner", { to = "customer" })  --! table
t:belongs_to("owner", "customer")  --! { table = "customer" }
t:belongs_to("owner", "customer", { on_delete = "cascade" })  --! { table = "other", on_delete = "cascade" }
t:column("a"):references("customer", "id", { on_delete = "cascade" })  --! { column = "id", on_delete = "cascade" }
t:foreign_key("a", "customer", "id", { on_delete = "cascade" })  --! { columns = "id", on_delete = "cascade" }
t:belongs_to("owner", { table = "customer" })  --> "CREATE TABLE 
]==])
end)

test("options of observations and jobs that do not exist raise errors that name the right ones", function()
  guesses([==[%s]==], [==[
Customer:observe(print, { immediate = true })  --! looks_first
Customer:observe(print, { initial = false })  --! looks_first
Customer:observe(print, { tables = "customer" })  --! regions
Customer:observe{ on_change = print }  --! observe(function(value) ... end)
Customer:observe{ map = function(list) return #list end }:cancel()  --> true
Customer:observe{ looks_first = true }:cancel()  --> true
db:observe_transactions{ on_insert = print }  --! operations
db:observe_transactions{ on_change = print, table = "customer" }  --! tables
db:observe_transactions{ on_commit = print }  --! did_commit
perilune.jobs("m"):handle(print, { concurrency = 2 })  --! perilune.jobs(name, { concurrency
perilune.jobs("m"):prune("1d")  --! older_than
Customer:upsert({ email = "x" }, { "email" })  --! { target = "email" }
perilune.lag(i.total)  --! Class.c.column:lag()
perilune.at_exit(print)  --! <close>
perilune.distinct(c.name)  --! request:distinct()
]==])
end)

test("conditions that name no column raise errors with the condition that is meant", function()
  guesses([==[%s]==], [==[
Customer:filter{ ["!name"] = "Ada" }  --! Class.c.name:ne(value)
Customer:filter{ ["lower(name)"] = "ada" }  --! filter("lower(name) = ?", value)
Customer:filter{ ["customer.name"] = "Ada" }  --! filter{ name = value }
Invoice:filter{ ["customer.name"] = "Ada" }:fetch_count()  --> 2
perilune.record("line"):filter{ ["line.quantity"] = 1 }  --! filter{ quantity = value }
Product:filter{ ["settings.theme"] = "dark" }  --! :json("theme")
perilune.record("product", { types = { settings = "json" } }):filter{ ["settings.theme"] = "dark" }  --! :json("theme")
Invoice:filter{ ["due.year"] = 2026 }  --! :strftime("%Y")
Invoice:select("status", i.total:sum():as("sum")):group("status"):having{ sum = 500 }  --! having("sum = ?", value)
Invoice:select("status", i.total:sum():as("sum")):group("status"):having("sum = ?", 500):fetch_one().status  --> "sent"
Customer:filter(c.id:is_in(i.customer_id))  --! Other:select("customer_id")
Customer:filter(c.id:is_in(Invoice:select("customer_id"))):fetch_count()  --> 2
Invoice:join(Customer, "customer_id", "id")  --! join(Other, Class.c.other_id:eq(Other.c.id))
Invoice:join(Customer, "customer.id = invoice.customer_id AND customer.id > ?", 1):fetch_count()  --> 1
Customer:filter("name = :name", "Ada")  --! { name = value }
Customer:filter("name = :name", { name = "Ada" }):fetch_count()  --> 1
Customer:filter("name <> ':x' AND id > ?", 1):fetch_count()  --> 2
Customer:search("Ada")  --! matching(pattern)
Invoice:select("count")  --! perilune.count()
Invoice:order("RANDOM")  --! random()
Invoice:select(i.count)  --! perilune.count()
Invoice:select("status", perilune.count():as("count")):group("status"):order("count"):fetch_one().count  --> 1
Product:filter_key(1):update_all{ price = { increment = 1 } }  --! Class.c.price + 1
Product:filter_key(1):update_all{ settings = { theme = "x" } }  --! types = { settings = "json" }
db:write(Customer:insert{ name = "x" })  --! function(db)
perilune.automations().x  --! ipairs(perilune.automations())
#perilune.automations()  --> 0
]==])
end)

test("fields of versions, statements and contexts that do not exist raise errors that name the right ones", function()
  local history = "perilune.history(Customer):install(db); ada:update_changes{ name = \"Z\" }; return "
  guesses(history .. "%s", [==[
ada:history()[1].name  --! record
ada:history()[2].date  --! version.time
ada:history()[2].author  --! version.note
ada:history()[2].changes  --! version.changed
ada:history()[2]:restore()  --! version.record:save()
ada:history()[2].note  --> nil
ada:history()[2].changed  --> {"name"}
]==])
  guesses([==[%s]==], [==[
Customer:at_time("2026-01-01")  --! perilune.history(Class)
Customer:only_deleted()  --! Class:unscoped()
perilune.record("product", { types = { "json" } })  --! { column = "json" }
perilune.record("invoice", { enums = { status = { draft = 0 } } })  --! perilune.enum{ draft = 0 }
perilune.record("invoice", { enums = { status = { perilune.enum{ "draft", "sent", "paid" }, prefix = "is" } } }):is_sent():fetch_count()  --> 1
perilune.record("customer", { virtual = "x" })  --! extra
Invoice.expressions.large = i.total:gt(300) return Invoice:filter("large")  --! filter(Class.c.large)
Invoice.expressions.large = i.total:gt(300) return Invoice:filter{ large = true }:fetch_count()  --> 2
Customer:statement("insert", { name = "x" }):run()  --! statement:execute()
Customer:statement("insert", { name = "x" }):to_sql()  --! statement:sql()
Customer:statement("insert", { name = "x" }):execute().changed_rows  --> 1
invoice:set_customer(ada)  --! record.customer = value
]==])
  local automation = perilune.automation{ name = "guessed fields", on = { event = "sold" }, run = function() end }
  matches(fails("unknown_method", function() automation:status() end), "automation:runs()")
  automation:remove()
  local found = {}
  automation = perilune.automation{ name = "guessed fields", on = { event = "sold" }, run = function(context)
    for _, name in ipairs{ "payload", "row", "retries" } do found[#found + 1] = select(2, pcall(function() return context[name] end)).message end
    found.cached, context.data = context.cached, 5
    found.data = context.data
  end }
  automation:run{ a = 1 }
  for _ = 1, 500 do
    if found.data then break end
    perilune.sleep("10ms")
  end
  automation:remove()
  matches(found[1], "context.event")
  matches(found[2], "context.value")
  matches(found[3], "context.attempt")
  equal({ found.cached, found.data }, { nil, 5 })
end)

test("conditions that are the same for all rows lead to the condition that is meant", function()
  guesses([==[%s]==], [==[
Invoice:filter(i.total:gt(300):lt(600))  --! Class.c.total:between(low, high)
Invoice:filter(i.total:gt(300):eq("x"))  --! between
Invoice:filter(i.total:gt(300):eq(1)):fetch_count()  --> 2
Invoice:filter(i.total:gt(300):eq(true)):fetch_count()  --> 2
Invoice:filter(i.total:gt(300):eq(i.paid)):fetch_count()  --> 2
Customer:filter("name = 'Ada' OR 'Grace'")  --! name IN (?, ?)
Customer:filter("(name = 'Ada' OR 'Grace') AND vip")  --! name IN (?, ?)
Customer:filter("name = ? OR ?", "Ada", "Grace")  --! name IN (?, ?)
Customer:filter("name = ? OR ?", "Ada", true):fetch_count()  --> 3
Customer:filter("name = 'Ada' OR 'Grace' = name"):fetch_count()  --> 2
Customer:filter("name = 'Ada' OR 'Gr' || 'ace' = name"):fetch_count()  --> 2
Invoice:filter(i.due:strftime("YYYY"):eq("2026"))  --! %Y-%m-%d
Invoice:filter(i.due:strftime("%w"):eq("Monday"))  --! %w
Invoice:filter(i.due:strftime("%m"):eq("March"))  --! %m
Invoice:filter(i.due:strftime("%m"):eq("03")):fetch_count()  --> 1
Customer:filter(c.vip) & Customer:filter{ id = 1 }  --! intersect
Customer:filter(c.vip) + Customer:filter{ id = 2 }  --! union
Customer:filter(c.vip) .. Customer:filter{ id = 2 }  --! union
Customer:filter(c.vip) - Customer:filter{ id = 2 }  --! except
~Customer:filter(c.vip)  --! filter(~condition)
(Customer:filter(c.vip) | Customer:filter{ id = 2 }):fetch_count()  --> 2
i.total:sum():over{ order_by = "id", rows = { -1, 0 } }  --! frame
i.total:sum():over{ partition = "status" }  --! partition_by
]==])
end)

test("members of single-row classes, rows and recordings that do not exist lead to the right ones", function()
  guesses([==[db:execute("CREATE TABLE setting (id INTEGER PRIMARY KEY, theme TEXT)") local Setting = perilune.single_row("setting") return %s]==], [==[
Setting.theme  --! Class:find().theme
Setting:get("theme")  --! Class:find().column
Setting:set("theme", "dark")  --! Class:find():update_changes
Setting:fetch_one()  --! Class:find()
Setting:update{ theme = "dark" }  --! Class:find():update_changes
Setting.label  --> nil
Setting:find().theme  --> nil
db:fetch_one("SELECT * FROM customer"):is_null("email")  --! row.column == nil
db:fetch_one("SELECT * FROM customer"):to_record()  --! Class:from_row(row)
db:fetch_one("SELECT * FROM product"):json("settings")  --! perilune.json.decode
db:record_changes(function() ada:delete() end, { tables = "customer" })  --! all tables are recorded
#db:record_changes(function(db, name) ada:update_changes{ name = name } end, "Z")  --> 1
#db:record_changes(function(db, values) ada:update_changes(values) end, { name = "Z" })  --> 1
Customer:insert_from("SELECT name FROM customer")  --! Other:select("column")
]==])
end)

test("fields of errors, events, plans and blobs that do not exist lead to the right ones", function()
  guesses([==[local _, err = pcall(db.execute, db, "INSERT INTO customer (name, email) VALUES ('x', 'ada@x.org')") return %s]==], [==[
err.msg  --! err.message
err.error  --! err.message
err:match("UNIQUE")  --! err.message:find
err:to_string()  --! tostring(err)
err.type  --! err.kind
err.errcode  --! err.code
err.stack  --! err.traceback
err.query  --! err.sql
err.message  --> UNIQUE constraint failed
err.suggestion  --> nil
err.anything  --> nil
]==])
  guesses([==[local changes = db:record_changes(function() ada:update_changes{ name = "Z" } end) return %s]==], [==[
changes:rows()[1].type  --! row.operation
changes:rows()[1].id  --! row.key
changes:rows()[1].new.name  --> Z
changes:count()  --! #changeset
changes:revert(db)  --! changeset:inverted()
]==])
  guesses([==[
    local e
    db:observe_transactions{ on_change = function(event) e = event end }
    db:execute("UPDATE customer SET name = 'X' WHERE id = 1")
    return %s]==], [==[
e.type  --! event.operation
e.action  --! event.operation
e.rowid  --! event.row_id
e.row  --! event.new
e.before  --! event.old
e.columns  --! event.old.column
e.anything  --! Available: operation
e.operation  --> update
e.old_row_id  --> nil
e.new.name  --> X
]==])
  guesses([==[%s]==], [==[
db:explain("SELECT * FROM customer").detail  --! plan[1].detail
db:explain("SELECT * FROM customer")[1].scan  --! tostring(plan):find
db:explain("SELECT * FROM customer"):uses_index()  --! tostring(plan):find
db:explain("SELECT * FROM customer")[1].detail  --> SCAN
db:explain("EXPLAIN SELECT 1")  --! the statement alone
db:tables().customer  --! db:table_exists(name)
db:tables():contains("customer")  --! db:table_exists(name)
db:views()[1]  --> nil
perilune.blob("abc"):size()  --! #blob
perilune.blob("abc"):sub(1)  --! tostring(blob)
perilune.vector{ 1, 2 }[1]  --! tostring(blob)
perilune.uuid.v4()  --! perilune.uuid(...)
perilune.jobs.enqueue("mail", {})  --! perilune.jobs(...)
perilune.queue.open("x.sqlite")  --! perilune.queue(...)
for _, row in ipairs(db:rows("SELECT 1")) do return row end  --! db:fetch_all(sql)
db:fetch_one("SELECT due FROM invoice").due.year  --! row:date("column")
db:fetch_value("SELECT due FROM invoice"):add{ days = 1 }  --! perilune.date(text)
("3").year  --! a text has no field `year`; use perilune.date(text) if it holds a date
("x").anything  --> nil
string.anything  --> nil
local h = perilune.history(Customer) h:install(db) db:write({ note = "n" }, function() ada:delete() end) return h:transactions(db)[1].user  --! note
]==])
end)

test("calls and assignments that would do nothing are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
perilune.db = db  --! perilune.with({ database = other }
perilune.database = db  --! perilune.with({ database = other }
perilune.database == db  --> true
perilune.log.level = "debug"  --! --log-level
perilune.row{ name = "x" }  --! perilune.row.new(values)
perilune.every("1h", print, { immediately = true })  --! passed to the function
perilune.every("1h", print, { name = "x" }):cancel()  --> true
perilune.at(3600, print)  --! perilune.after(3600, f)
perilune.spawn(print)()  --! task:wait()
for value in db:observe(function() return 5 end) do return value end  --! observation:values()
#perilune.enum{ "draft", "sent" }  --! #Enum:cases()
perilune.enum{ "draft", "sent" }:has("draft")  --! compare with a case
perilune.enum{ "draft", "sent" }:get("draft")  --! Enum:from(raw)
db:create_table("main.note", function(t) t:column("a") end)  --! db:create_table("note"
db:create_table("temp.note", function(t) t:column("a") end)  --! temporary = true
db:table_exists("main.customer")  --! db:table_exists("customer")
db:create_table("note", function(t) t{ "a", "text" } end)  --! t:column(name, type)
db:create_table("note", function(t) t:column("a", "integer"):check("> 0") end)  --! :check("a > 0")
db:create_table("note", function(t) t:column("a", "datetime"):default_sql("now") end)  --! CURRENT_TIMESTAMP
db:create_view("v", "customer")  --! SELECT * FROM customer
db:create_view("v", "CREATE VIEW v AS SELECT 1")  --! the query alone
db:create_index(Customer, { "name" })  --! expected a name
]==])
end)

test("methods of other databases, dates, tasks and migrators lead to the calls to use", function()
  guesses([==[%s]==], [==[
db:execute_many("INSERT INTO customer (name) VALUES (?)", {})  --! db:prepare(sql)
db:fetch_pairs("SELECT id, name FROM customer")  --! db:tuples(sql, ...)
db:fetch_date("SELECT due FROM invoice")  --! db:fetch_value_as("date"
db:fetch_json("SELECT settings FROM product")  --! perilune.json.decode
db:fetch_exists("SELECT 1")  --! SELECT EXISTS
db:exists("SELECT 1")  --! SELECT EXISTS
db:list_indexes("invoice")  --! db:indexes("table")
db:get_last_insert_id()  --! inserted_rowid
db:restore("x.sqlite")  --! backup_to(db)
db:databases()  --! PRAGMA database_list
db:create_temp_table("note", print)  --! temporary = true
db:drop_fts5("f")  --! db:drop_table(name)
db:max("customer", "id")  --! SELECT MAX(column)
db:prepare("SELECT 1"):explain()  --! db:explain(sql, ...)
perilune.date.compare(1, 2)  --! compare dates with <
perilune.date.is_valid("2026-01-01")  --! pcall(perilune.date, text)
perilune.zeroblob(10)  --! perilune.blob
perilune.is_test  --! perilune.context
perilune.durable("x", print)  --! durable = true
perilune.spawn(print):on_done(print)  --! task:wait()
perilune.jobs("mail"):drain()  --! handler:wait_until_idle()
perilune.json.pretty{}  --! perilune.json.encode
perilune.migrator():migrate(db, { target = "a" })  --! `up_to`
perilune.migrator():migrate_down(db, { steps = 1 })  --! the last migration to keep
perilune.automation{ id = "a", on = { every = "1h" }, run = print }  --! `name`
db:fetch_one("SELECT 1 AS one"):fetch("one")  --! row:get(name)
]==])
end)

test("results of statements, statements, iterators and open blobs lead to the calls to use", function()
  guesses([==[%s]==], [==[
db:execute("INSERT INTO customer (name) VALUES ('x')") + 1  --! result.inserted_rowid
"deleted " .. db:execute("DELETE FROM line")  --! result.changed_rows
db:execute("DELETE FROM line") > 0  --! result.changed_rows
#db:execute("SELECT 1")  --! db:fetch_all(sql, ...)
db:execute("DELETE FROM line").changed_rows  --> 3
for row in db:prepare("SELECT 1") do return row end  --! statement:rows(...)
db:rows("SELECT 1"):fetch()  --! db:fetch_all(sql)
db:rows("SELECT 1")[1]  --! db:fetch_all(sql)
db:read(function(db) return db:open_blob("customer", "name", 1):length() end)  --! blob:size()
db:read(function(db) return db:open_blob("customer", "name", 1):tell() end)  --! blob:seek("cur", 0)
db:read(function(db) return db:open_blob("customer", "name", 1):to_string() end)  --! blob:read()
db:read(function(db) return db:open_blob("customer", "name", 1):size() end)  --> 3
]==])
end)

test("functions that the libraries of Lua lack lead to the calls to use", function()
  guesses([==[%s]==], [==[
os.sleep(1)  --! perilune.sleep(duration)
os.env  --! os.getenv(name)
os.now()  --! perilune.now()
io.read_file("x")  --! io.open(path):read("a")
io.exists("x")  --! io.open(path)
os.anything  --> nil
io.anything  --> nil
("abc"):size()  --! #text
perilune.with({ now = "2026-01-01" }, print)  --! t.clock:set(instant)
perilune.with({ db = db }, print)  --! { database = other }
]==])
end)

test("conditions in SQL text that SQLite refuses, or understands differently, lead to the condition that is meant", function()
  guesses([==[%s]==], [==[
Customer:filter("WHERE vip")  --! without WHERE
Customer:filter("SELECT * FROM customer WHERE vip")  --! Class:fetch_all(sql, ...)
Invoice:filter("total > ? ORDER BY total", 5)  --! order("column")
Invoice:filter("total > 5 GROUP BY status")  --! group("column")
Invoice:filter("total > 5 LIMIT 1")  --! limit(count)
Invoice:filter("paid && total > 5")  --! AND
Customer:filter("name = 'Ada' || name = 'Grace'")  --! use OR
Customer:filter("name || '!' = 'Ada!' OR 'x' || name = 'xGrace'"):fetch_count()  --> 2
Invoice:filter("COUNT(*) > 1")  --! having(...)
Customer:filter("(SELECT COUNT(*) FROM invoice WHERE customer_id = customer.id) > 1"):fetch_count()  --> 1
Invoice:filter("total > (SELECT AVG(total) FROM invoice)"):fetch_count()  --> 1
Invoice:filter("due > now() - interval '7 days'")  --! datetime('now', '-7 days')
Invoice:filter("due > date('now') - 7")  --! date('now', '-7 days')
Customer:filter("created_at > CURRENT_TIMESTAMP - 7")  --! date('now', '-7 days')
Invoice:filter("due BETWEEN date('now') - 7 AND date('now')")  --! date('now', '-7 days')
Invoice:filter("total < julianday('now') - 7"):fetch_count()  --> 3
Invoice:filter("due > date('today')")  --! '-7 days'
Invoice:filter("due > date('now', '7 days ago')")  --! '-7 days'
Invoice:filter("due > date('now', '-1 week')")  --! '-7 days'
Invoice:filter("due > date('now', -7)")  --! '-7 days'
Invoice:filter("due > date('2026-01-31', '+1 month', 'start of month')"):fetch_count()  --> 1
Invoice:filter("due > date('2026-01-31', '+' || id || ' days')"):fetch_count()  --> 2
Invoice:filter("100 < total < 600")  --! BETWEEN
Invoice:filter("(total > 300) = (id < 2)"):fetch_count()  --> 2
Invoice:filter("total >> 1 > 200 AND total << 1 < 1200"):fetch_count()  --> 1
Customer:filter("name + '!' = 'Ada!'")  --! ||
Customer:filter("name LIKE %?%", "a")  --! "name LIKE ?"
Customer:filter("id IN (?)", 1, 2)  --! is_in
Customer:filter(c.vip & "name = 'Ada'")  --! perilune.sql
Customer:filter("name LIKE '%?%'", "a")  --! "name LIKE ?"
Customer:filter("name <> '?' AND id > ?", 1):fetch_count()  --> 2
Invoice:filter("total > :least", { 300 })  --! { least = value }
Invoice:filter("total", "between", 1, 2)  --! Class.c.total:between(low, high)
Invoice:filter("total IN", { 1, 2 })  --! Class.c.total:is_in{ 1, 2 }
Invoice:filter("total"):gt(5)  --! filter(Class.c.column:gt(value))
Customer:filter(c.name)  --! Class.c.name:eq(value)
Customer:filter(c.vip and c.name)  --! Class.c.name:eq(value)
Customer:filter("country")  --! Class.c.country:eq(value)
Invoice:filter(i.due)  --! :is_not_null()
Invoice:filter(i.total):fetch_count()  --> 3
Invoice:filter{ total = function(x) return x > 5 end }  --! Class.c.total:gt(value)
Invoice:join(Customer, "customer_id")  --! Class.c.other_id:eq(Other.c.id)
Invoice:filter{ customer = 1 }  --! filter{ customer_id = 1 }
Invoice:filter{ customer = "Ada" }  --! ["customer.column"]
Invoice:filter{ products = "Tea" }  --! ["products.column"]
Invoice:annotated_with(Invoice.lines:count():as("n")):filter{ n = 2 }  --! perilune.column("n"):eq(value)
Invoice:annotated_with(Invoice.lines:count():as("n")):filter(perilune.column("n"):eq(2)):fetch_count()  --> 1
Customer:find(c.email:eq("ada@x.org"))  --! filter(condition):find()
Customer:exists(c.vip)  --! filter(condition):exists()
Invoice:all():rows(print)  --! for record in request:rows() do
]==])
end)

test("orders, groups and selections in other notations lead to the right one", function()
  guesses([==[%s]==], [==[
Customer:order("2 DESC"):fetch_one().name  --> "Linus"
Customer:order(1)  --! order("name")
Customer:order(math.random())  --! random()
Customer:order("rand()")  --! random()
Customer:order("name:desc")  --! "name DESC"
Customer:order("name.desc")  --! "name DESC"
Customer:order("!name")  --! Class.c.name:desc()
Customer:order{ { "name", "desc" } }  --! "name DESC"
Customer:order(-c.name)  --! Class.c.name:desc()
Invoice:order(-i.due)  --! Class.c.due:desc()
Invoice:order(-i.total):pluck("total")  --> {800, 500, 250}
Invoice:select("paid", perilune.count()):group("1"):fetch_one().count  --> 2
Invoice:group("status, paid")  --! an argument of its own
Invoice:group("strftime('%Y, %m', due)"):fetch_count()  --> 3
Customer:select("customer.*")  --! without select
Customer:select("name n")  --! name AS n
Invoice:select("SUM(total) s")  --! SUM(total) AS s
Customer:select("email ISNULL"):order("id"):fetch_values()  --> {0, 0, 1}
Customer:select(c.name, "n")  --! :as("n")
Customer:select(c.name, "id"):order("id"):fetch_one().id  --> 1
Invoice:annotated_with(Invoice.lines:count(), "n")  --! :as("n")
Invoice:annotated_with(Invoice.lines)  --! including_all
Invoice:annotated_with(perilune.count():as("n")):fetch_all()  --! group("column")
Invoice:annotated_with("SUM(total) AS sum"):fetch_one()  --! group("column")
Invoice:annotated_with(i.total:max():as("most")):fetch_one().number  --> "A2"
Invoice:annotated_with(perilune.count():over{}:as("n")):fetch_one().n  --> 3
Invoice:select("status", i.total:sum()):fetch_all()  --! group("column")
Invoice:filter{ status = "sent" }:select("status", i.total:sum()):fetch_one().total_sum  --> 500
Customer:filter_key(ada)  --! record.id
ada:invoices():find{ number = "A1" }  --! filter{ column = value }
for name in pairs(Customer.c) do end  --! db:columns("customer")
#Customer.c  --! db:columns("customer")
]==])
end)

test("expressions that SQLite computes to NULL or 0 lead to the right one", function()
  guesses([==[%s]==], [==[
c.name + c.country  --! `..`
c.name + "!"  --! `..`
Customer:select(c.name + 1):fetch_value()  --> 1
i.due:date(7)  --! "+7 days"
i.due:date("+7")  --! "+7 days"
i.due:date("7 days ago")  --! "+7 days"
i.due:date("+1 week")  --! "+7 days"
Invoice:select(i.due:date("+1 month", "start of month", "weekday 1")):fetch_value()  --> "2026-05-04"
c.created_at:datetime("-01:30", "localtime")  --> DATETIME("created_at", '-01:30', 'localtime')
c.name:substr(0, 2)  --! begin with 1
c.name:sub(1, 2)  --! column:substr
i.total:median()  --! db:add_aggregate
i.due:diff(i.due)  --! julianday()
i.due:start_of("month")  --! column:date("start of month")
i.total:sum():where("paid")  --! perilune.sql("paid")
i.total:sum():where{ paid = true }  --! Class.c.column:eq(value)
perilune.row_number():over("total")  --! order_by = "total"
perilune.case{ { i.status, "paid", 1 } }  --! { column:eq(a), value }
perilune.case{ { "total > 5", "large" } }  --! perilune.sql("total > 5")
perilune.case(i.paid)  --! { condition, value }
perilune.not_exists(Customer:all())  --! ~perilune.exists
perilune.union(Customer:all(), Customer:all())  --! first:union(second)
]==])
end)

test("definitions that have no effect on a class lead to the right one", function()
  guesses([==[%s]==], [==[
(function() Customer.timestamps = true end)()  --! { timestamps = ... }
(function() Customer.soft_delete = "deleted_at" end)()  --! { soft_delete = ... }
(function() Customer.types = { settings = "json" } end)()  --! { types = ... }
(function() Customer.fields = { name = "string" } end)()  --! { fields = ... }
(function() Customer.defaults = { country = "UK" } end)()  --! { defaults = ... }
(function() Customer.primary_key = "uuid" end)()  --! { primary_key = ... }
(function() Customer.table_name = "customers" end)()  --! perilune.record("table")
(function() Customer.default_scope = function(self) return self end end)()  --! Class.requests:default()
(function() function Customer:__tostring() return self.name end end)()  --! Class:label()
(function() function Customer:did_load() end end)()  --! did_fetch
(function() function Customer:did_commit() end end)()  --! db:after_next_transaction
(function() function Customer.hooks:will_save() end end)()  --! Class:will_save
(function() Customer.types = { "person", "company" } return Customer.types[2] end)()  --> "company"
(function() Customer.fields = { name = "Full name" } return Customer.fields.name end)()  --> "Full name"
(function() function Customer:defaults() return 5 end return ada:defaults() end)()  --> 5
perilune.record("customer", { before_save = print })  --! will_save
perilune.record("customer", { readonly = true })  --! immutable
perilune.record("customer", { lazy = { "email" } })  --! { lazy = true }
perilune.record("customer", { counter_cache = true })  --! Class:belongs_to
perilune.record("customer", { timestamps = { "created_at", "updated_at" } })  --! { created = "column"
perilune.record("customer", { fields = { "name", "email" } })  --! no declaration
perilune.record("customer", { fields = { label = function(self) return self.name end } })  --! { get = f }
ada:update_changes(function(record) return { name = "Z" } end)  --! assign the fields
ada:update_changes(function(record) record.name = "Z" return record end)  --> true
ada[1]  --! record.column
for _, value in ipairs(ada) do end  --! pairs(record)
]==])
end)

test("fields that lists of associated records lack are refused, and the errors name the calls to use", function()
  guesses([==[(function() local ada = Customer:including_all(Customer.invoices):find(1) local list = ada.invoices return %s end)()]==], [==[
list.count  --! #list
list.length  --! #list
list.first  --! list[1]
list:first()  --! list[1]
list:last()  --! list[#list]
list.number  --! list[1].number
list:save()  --! list[1].save
list:map(print)  --! for _, element in ipairs(list)
list:each(print)  --! for _, element in ipairs(list)
list:filter{ paid = true }  --! record:invoices():filter{ column = value }
list:where("paid")  --! record:invoices():filter{ column = value }
list:sum("total")  --! record:invoices():sum("column")
list:order("number")  --! record:invoices():order("column")
list:pluck("number")  --! record:invoices():pluck("column")
list:push(1)  --! table.insert(list, element)
list.anything  --> nil
list.n  --> nil
list[3]  --> nil
#list  --> 2
perilune.json.encode(list):sub(1, 1)  --> "["
list(ada):order("number"):pluck("number")  --> {"A1", "A2"}
]==])
end)

test("fields that fetched lists of rows, records and values lack are refused, and the errors name the calls to use", function()
  guesses([==[%s]==], [==[
db:fetch_all("SELECT name FROM customer").count  --! #list
db:fetch_all("SELECT name FROM customer").length  --! #list
db:fetch_all("SELECT name FROM customer"):size()  --! #list
db:fetch_all("SELECT name FROM customer").name  --! list[1].name
db:fetch_all("SELECT name FROM customer").NAME  --! list[1].NAME
db:fetch_all("SELECT name FROM customer"):map(print)  --! for _, element in ipairs(list)
db:fetch_all("SELECT name FROM customer"):first()  --! list[1]
db:fetch_all("SELECT COUNT(*) AS n FROM customer").n  --> nil
db:fetch_values("SELECT name FROM customer").count  --! #list
db:fetch_values("SELECT name FROM customer"):join(", ")  --! table.concat(list, ", ")
db:prepare("SELECT name FROM customer"):fetch_all():each(print)  --! for _, element in ipairs(list)
db:fetch_all("UPDATE customer SET vip = TRUE RETURNING id").count  --! #list
Customer:fetch_all().count  --! #list
Customer:fetch_all():map(print)  --! for _, element in ipairs(list)
Customer:fetch_all():filter{ vip = true }  --! Class:filter{ column = value }
Customer:fetch_all():order("name")  --! Class:order("column") before fetching
Customer:fetch_all().email  --! list[1].email
Customer:fetch_all():save()  --! list[1].save
Customer:fetch_all():delete_all()  --! request:delete_all() in place of fetching
Customer:filter("id < 0"):fetch_all():is_empty()  --! #list == 0
Customer:filter("id < 0"):fetch_all().name  --> nil
Customer:order("name"):fetch_all():last()  --! list[#list]
Customer:all():pluck("name"):count()  --! #list
Line:insert_all{ { invoice_id = 3, product_id = 1 } }:each(print)  --! for _, element in ipairs(list)
Customer:fetch_all().anything  --> nil
Customer:fetch_all()[4]  --> nil
]==])
end)

test("apart from missing fields, fetched lists behave like plain tables", function()
  guesses([==[%s]==], [==[
getmetatable(db:fetch_all("SELECT 1"))  --> nil
getmetatable(Customer:fetch_all())  --> nil
getmetatable(setmetatable(Customer:fetch_all(), { __metatable = "own" }))  --> "own"
(function() local list = db:fetch_values("SELECT id FROM customer") table.insert(list, 9) table.sort(list, function(a, b) return a > b end) return list end)()  --> {9, 3, 2, 1}
(function() local list = db:fetch_values("SELECT id FROM customer") table.remove(list, 1) list.total = 5 return list.total + #list end)()  --> 7
table.concat(db:fetch_values("SELECT id FROM customer ORDER BY id"), ", ")  --> "1, 2, 3"
select("#", table.unpack(db:fetch_values("SELECT id FROM customer")))  --> 3
table.pack(table.unpack(db:fetch_values("SELECT id FROM customer"), 1, 5)).n  --> 5
perilune.json.encode(db:fetch_values("SELECT id FROM customer ORDER BY id"))  --> "[1,2,3]"
Customer:filter{ id = db:fetch_values("SELECT id FROM customer WHERE id > 1") }:fetch_count()  --> 2
db:fetch_value("SELECT ? + ?", db:fetch_values("SELECT id FROM customer ORDER BY id LIMIT 2"))  --> 3
#Customer:upsert_all(Customer:fetch_all(), { returning = { "id" } })  --> 3
tostring(db:fetch_all("SELECT 1")):match("^table: ")  --> "table: "
]==])
end)

test("rows and records used as values or lists are refused, and the errors name the calls to use", function()
  guesses([==[%s]==], [==[
db:fetch_one("SELECT COUNT(*) FROM customer") + 1  --! db:fetch_value(sql, ...)
1 - db:fetch_one("SELECT COUNT(*) FROM customer")  --! db:fetch_value(sql, ...)
db:fetch_one("SELECT COUNT(*) FROM customer") > 0  --! db:fetch_value(sql, ...)
db:fetch_one("SELECT COUNT(*) FROM customer") <= 3  --! db:fetch_value(sql, ...)
"found " .. db:fetch_one("SELECT COUNT(*) FROM customer")  --! db:fetch_value(sql, ...)
db:fetch_one("SELECT 2") * 2  --! arithmetic on a row value
db:fetch_one("SELECT 2")()  --! call a row value
#db:fetch_one("SELECT 1, 2")  --> 2
#ada  --! #Class:fetch_all()
]==])
end)

test("named values for placeholders without names are refused, and the errors name the placeholders to write", function()
  guesses([==[%s]==], [==[
db:fetch_one("SELECT * FROM customer WHERE name = ?", { name = "Ada" })  --! write :name in place of `?`
db:execute("UPDATE customer SET name = ? WHERE id = ?", { name = "x", id = 1 })  --! write :id in place of `?`
db:fetch_one("SELECT * FROM customer WHERE name = ?", db:fetch_one("SELECT name FROM customer"))  --! write :name in place of `?`
db:fetch_value("SELECT id FROM customer WHERE name = :name", { name = "Ada" })  --> 1
db:execute("UPDATE customer SET name = ? WHERE id = :id", { id = 1 })  --! nil ends a list
]==])
end)

test("time spans and dates in words, and milliseconds, are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
perilune.now() + "1h"  --! date:add{ days = 1 }
perilune.now() - "7 days"  --! date:add{ days = -1 }
perilune.now() + { days = 1 }  --! date:add{ days = 1 }
perilune.now() + perilune.now()  --! date:add{ days = 1 }
"2026-01-01" - perilune.now()  --! first - second
perilune.date("2026-01-01") + 60  --> 2026-01-01 00:01:00.000
perilune.date("now")  --! use perilune.now()
perilune.date("today")  --! perilune.now():start_of("day")
perilune.date("tomorrow")  --! add{ days = 1 }
perilune.date("7 days ago")  --! perilune.now():add{ days = 1 }
perilune.date("+1 month")  --! perilune.now():add{ days = 1 }
perilune.queue(nil, { busy_timeout = 5000 })  --! "5000ms"
perilune.queue(nil, { busy_timeout = 30 })  --> database (in memory)
]==])
end)

test("hooks and validations of other libraries are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
(function() function Customer:on_save() end end)()  --! did_save
(function() function Customer:onUpdate() end end)()  --! did_update
(function() function Customer:pre_delete() end end)()  --! will_delete
(function() function Customer:post_create() end end)()  --! did_insert
(function() function Customer:around_commit() end end)()  --! around_save
(function() function Customer:did_select() end end)()  --! did_fetch
(function() function Customer:post_load() end end)()  --! did_fetch
(function() function Customer:on_commit() end end)()  --! db:after_next_transaction
(function() function Customer:on_time() return 5 end return ada:on_time() end)()  --> 5
(function() Customer.constraints = { name = function() end } end)()  --! Class:validate()
perilune.record("customer", { constraints = {} })  --! Class:validate()
perilune.record("customer", { on_save = print })  --! did_save
(function() function Customer:validate(errors) errors:add("name", "is too short") end end)()  --! self:invalid("column", "message")
(function() function Customer:validate(other) end return ada:validation_errors() end)()  --> {}
]==])
end)

test("calls on records, requests and databases as in other libraries are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
invoice:date("due")  --! record.column
invoice:update("total")  --! record:update_changes{ total = value }
invoice:update{ "total", "status" }  --! record:update_changes{ total = value }
Invoice:filter_sql("total > ?", 1)  --! filter(sql, ...)
db:last_inserted_rowid()  --! db:execute(sql, ...).inserted_rowid
db:create_table("x", function(t) t:column("n", "integer"):check(function(n) return n >= 1 end) end)  --! comparisons are methods of columns
Invoice:select("status", i.total:sum():as("sum")):group("status"):order("-sum")  --! order("sum DESC")
Invoice:annotated_with(Invoice.lines:count():as("n")):order("-n")  --! order("n DESC")
Invoice:order("-total")  --! Class.c.total:desc()
perilune.json.encode(db:fetch_one("SELECT 1 AS id, 2 AS id"))  --! AS other_id
perilune.json.encode{ 1, 2, name = 3 }  --! the name "name"
perilune.json.encode(0 / 0)  --! NaN
]==])
end)

test("a local time that is given to perilune.date leads to the call with a time zone", function()
  guesses([==[%s]==], [==[
perilune.date.from_local("2026-03-31 09:30")  --! perilune.date_components("2026-03-31 09:30"):date("Europe/Berlin")
perilune.date.in_zone("2026-03-31 09:30", "Europe/Berlin")  --! :date("local")
perilune.date.utc(2026, 3, 31)  --! which is in UTC
]==])
end)

test("guesses for an element of a JSON array lead to json_each", function()
  guesses([==[local Customer = perilune.record("customer") return %s]==], [==[
Customer.c.name:json_contains("A")  --! json_each(column, '$.name') WHERE value = ?
Customer.c.name:json_each()  --! json_each(column, '$.name') WHERE value = ?
Customer.c.name:has("A")  --! json_each(column) WHERE value = ?
]==])
end)

test("calls for maps, keys, scopes, conditions and histories lead to the forms that exist here", function()
  guesses([==[
    db:execute[[
      CREATE TABLE IF NOT EXISTS species (id INTEGER PRIMARY KEY, latin TEXT);
      CREATE TABLE IF NOT EXISTS lot (id INTEGER PRIMARY KEY, species_id INTEGER REFERENCES species (id), year INTEGER);
      INSERT OR IGNORE INTO species VALUES (1, 'Rosa')]]
    local Species, Lot = perilune.record("species"), perilune.record("lot")
    Species.lots = Species:has_many(Lot)
    function Lot:recent() end
    function Lot:validate() self:invalid("year") end
    return %s]==], [==[
Lot:index_by("year")  --! :tuples() do map[key] = value end
Lot:filter{ id = 1 }:fetch_map("year")  --! :tuples() do map[key] = value end
Lot:fetch_all{ 1, 2 }  --! Class:filter_key{ 1, 2 }:fetch_all()
Lot:filter{ id = 1 }:recent()  --! function Class.requests:recent(...)
Lot:with("lots")  --! perilune.common_table(name, request) for WITH
Lot:all():as_cte("lots")  --! perilune.common_table(name, request)
Species:filter(Species.lots:is_not_empty())  --! use exists()
Species:filter(Species.lots:not_exists())  --! use is_empty()
Lot{ species = Species:find(1) }  --! Class.species = Class:belongs_to(Target)
Lot:insert{ year = 2026 }  --! self:invalid("year", "must not be empty")
Species:has_one(Lot:order("year"))  --! Class:has_one(Target):order("column")
perilune.record("lot", { history = true })  --! perilune.history(Class)
perilune.case{ { Lot.c.year:gt(1), "new" }, { "old" } }  --! otherwise = "old"
]==])
end)

test("calls for timers, jobs and errors as in other libraries are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
perilune.every("1s", function(timer) timer:cancel() end)  --! declare `local timer` first
perilune.after("1s", function(timer) timer:cancel() end)  --! declare `local timer` first
perilune.after("1s", function(timer) end, 5):cancel()  --> true
perilune.every("1s", function(t) t:cancel() end)  --! declare `local timer` first
perilune.every("1s", function(self) self:cancel() end)  --! declare `local timer` first
perilune.every("1s", function(is_forced) end):cancel()  --> true
perilune.jobs("mail"):stop()  --! handler:cancel()
perilune.spawn(print, "x"):wait(0.1)  --! task:cancel()
tostring(perilune.jobs("mail"):counts())  --> "{ ready = 0, delayed = 0, blocked = 0, running = 0, done = 0, dead = 0, cancelled = 0 }"
perilune.error("quota", "too many")  --! error{ kind = "quota"
perilune.try(print)  --! pcall(f, ...)
perilune.inspect{ 1, 2 }  --! perilune.json.encode(value) for lists
]==])
end)

test("dates and parameters in other notations are refused, and the errors name the right notation", function()
  guesses([==[%s]==], [==[
perilune.date("2026-01-01"):add(30, "days")  --! { days = 1 }
perilune.date("2026-01-01"):format("%d %b %Y")  --! months and weekdays have no names
perilune.date("2026-01-01"):format("yyyy-MM-dd")  --! a pattern such as "%Y-%m-%d"
perilune.date("2026-01-01"):components("yyyy")  --! (YMD, YMD_HM
(function() perilune.date("2026-01-01").day = 3 end)()  --! date:add{ days = 1 }
db:fetch_one("SELECT :name AS n", { [":name"] = "Ada" })  --! { name = value }
db:fetch_one("SELECT :name AS n", { nam = "Ada" })  --! did you mean "name"?
]==])
end)

test("arithmetic and texts in place of conditions are refused, and the errors name the operators of conditions", function()
  guesses([==[%s]==], [==[
Invoice:filter(-i.paid)  --! use `~` for NOT
Invoice:filter(-i.total:gt(500))  --! use `~` for NOT
Invoice:filter(i.paid, -i.total:gt(500))  --! use `~` for NOT
Invoice:filter(i.paid | -i.total:gt(500))  --! use `~` for NOT
Customer.invoices:filter(-i.paid)  --! use `~` for NOT
Customer:filter(-Customer.invoices:exists())  --! use `~` for NOT
Invoice:filter("-paid")  --! use "NOT paid"
Invoice:filter("!paid")  --! use "NOT paid"
Invoice:filter(i.total:gt(500) + i.total:gt(100))  --! filter(first | second)
Invoice:filter(i.total:gt(500) * i.paid)  --! filter(first & second)
Invoice:filter(i.total:gt(500) - i.paid)  --! filter(first & ~second)
Invoice:filter(i.total:gt(500) + 1)  --! combine conditions with `&` and `|`
Invoice:filter(i.paid / 2)  --! combine conditions with `&` and `|`
Invoice:filter(i.number .. i.status)  --! a text is not a condition
Invoice:filter(i.number:lower())  --! a text is not a condition
Invoice:filter(~i.number)  --! filter(Class.c.number:eq(value))
Invoice:filter(i.paid & i.number)  --! filter(Class.c.number:eq(value))
Invoice:filter(i.paid | i.due)  --! filter(Class.c.due:eq(value))
Invoice:filter(~(i.paid & i.total:gt(100))):fetch_count()  --> 2
Invoice:filter((i.paid + i.total:gt(100)):ge(1)):fetch_count()  --> 3
Invoice:filter(i.total % 3):fetch_count()  --> 3
Product:filter(p.stock):fetch_count()  --> 2
Product:filter(~p.stock):fetch_count()  --> 1
]==])
end)

test("an empty table of options is refused, and an empty table of columns changes nothing", function()
  guesses([==[%s]==], [==[
invoice:update_changes{}  --> false
invoice:update{ due = nil }  --! perilune.null for NULL
invoice:save{}  --! record:update_changes{ column = value }
invoice:update_changes()  --> false
invoice:update_changes({ total = 7 }, {})  --> true
(function() invoice:update_changes{ due = perilune.null } return invoice.due end)()  --> nil
]==])
end)

test("the error of a blocked deletion names the table whose rows block it", function()
  guesses([==[(function()
    db:execute("CREATE TABLE receipt (id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL REFERENCES invoice)")
    db:execute("CREATE TABLE mail (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer ON DELETE SET NULL)")
    db:execute("INSERT INTO mail (customer_id) VALUES (1)")
    db:execute("INSERT INTO receipt (invoice_id) VALUES (1)")
    return %s
  end)()]==], [==[
ada:delete()  --! rows of `receipt` refer to rows of `invoice`, which are deleted with this one of `customer`
invoice:delete()  --! rows of `receipt` refer to this one of `invoice`
tea:delete()  --! rows of `line` refer to this one of `product`
Customer:find(2):delete()  --> true
select(2, pcall(ada.delete, ada)).referring_table  --> "receipt"
]==])
end)

test("options and texts in place of the numbers of a limit are refused, and the errors name the position", function()
  guesses([==[%s]==], [==[
Product:limit(2, { offset = 1 })  --! argument 2: expected an integer, got a table; use limit(count, offset)
Product:limit{ offset = 1 }  --! argument 1: expected an integer, got a table; use limit(count, offset)
Product:limit(2, "1")  --! argument 2: expected an integer, got the string "1"; use tonumber(text)
Product:order("id"):limit(2, 1):pluck("id")  --> {2, 3}
]==])
end)

test("members of JSON texts are refused, and the errors name the ways to decode the text", function()
  guesses([==[%s]==], [==[
tea.settings.theme  --! use perilune.json.decode(text).theme, or the class option types = { column = "json" }
tea.settings["theme"]  --! use perilune.json.decode(text).theme
db:fetch_one("SELECT * FROM product").settings.theme  --! use perilune.json.decode(text).theme
Product:order("id"):pluck("settings")[1].theme  --! use perilune.json.decode(text).theme
(function() for row in db:rows("SELECT * FROM product") do if row.settings.theme == "dark" then return 1 end end end)()  --! use perilune.json.decode(text).theme
('["a", "b"]')[2]  --! use perilune.json.decode(text)[2]
('["a", "b"]')[3]  --> nil
tea.settings.color  --> nil
tea.name.theme  --> nil
("abc")[1]  --> nil
perilune.json.decode(tea.settings).theme  --> "dark"
perilune.record("product", { types = { settings = "json" } }):find(1).settings.theme  --> "dark"
]==])
end)

test("clauses of SQL in place of columns are refused, and the errors name the methods", function()
  guesses([==[%s]==], [==[
Product:select("where price > ?", 500)  --! expected columns, got the clause "where price > ?"; use filter("price > ?")
Product:select("where price > 500"):fetch_all()  --! use filter("price > 500")
Product:select("SELECT name")  --! use select("name")
Product:order("ORDER BY name")  --! use order("name")
Product:group("group  by name"):select("name")  --! use group("name")
Product:order("limit 5")  --! use limit(count)
Product:paginated(10)  --! use page(number, size)
perilune.array{ 1 }  --! perilune.json.array(list)
db:escape_literal("x")  --! pass values as arguments
(function() db:execute('CREATE TABLE clause ("where x" INTEGER, "limit n" INTEGER)') return #perilune.record("clause"):select("where x"):order("limit n"):fetch_all() end)()  --> 0
perilune.record("product"):select("price / 2 AS half"):order("price  desc"):fetch_one().half  --> 1250
perilune.date("2026-03-01"):adding{ days = 3 }  --! use date:add{ days = 1 }
]==])
end)

test("methods of requests on a record are refused, and the errors name an association of its class", function()
  guesses([==[%s]==], [==[
ada:fetch_all("invoices")  --! record:invoices():fetch_all()
ada:fetch_count("invoices")  --! record:invoices():fetch_count()
ada:count()  --! record:invoices():fetch_count()
ada:filter{ total = 5 }  --! record:invoices():filter{ column = value }:fetch_all()
ada:order("id")  --! record:invoices()
invoice:fetch_one("customer")  --! record:customer():fetch_one()
invoice:first()  --! record:customer():fetch_one()
invoice:find(1)  --! Class:find(key)
tea:fetch_all()  --! record:association():fetch_all()
]==])
end)

test("associations that no class defines are refused, and the errors name their definitions", function()
  guesses([==[%s]==], [==[
tea.lines  --! no column or association `lines` in `product`; define the association with Class.lines = Class:has_many("line")
tea:lines()  --! Class.lines = Class:has_many("line")
tea.line  --! Class.line = Class:has_many("line")
Product.lines  --! no method or association `lines`; define the association with Class.lines = Class:has_many("line")
Product:including_all(Product.lines)  --! Class.lines = Class:has_many("line")
perilune.record("line").product  --! Class.product = Class:belongs_to("product")
perilune.record("line"):fetch_one().invoices  --! Class.invoices = Class:belongs_to("invoice")
Product.customers  --! no method `customers`
]==])
end)

test("expressions of associations are not shown as values, and the errors name the requests of a record", function()
  guesses([==[%s]==], [==[
tostring(ada.invoices:count())  --! record:association():fetch_count()
ada.invoices:count() + 1  --! record:association():fetch_count()
ada.invoices:exists()  --! :exists()
tostring(ada.invoices:max("total"))  --! Class:annotated_with(expression:as("name"))
ada:invoices():fetch_count()  --> 2
]==])
end)

test("members of JSON columns are read by their names in other libraries, and the errors name column:json", function()
  guesses([==[%s]==], [==[
p.settings["theme"]  --! column:json("theme")
p.settings.lang  --! column:json("lang")
p.settings[1]  --! column:json("$[0]")
p.settings["theme"]:eq("dark")  --! column:json("theme")
Product:filter(p.settings:json("theme"):eq("dark")):fetch_count()  --> 1
]==])
end)

test("backups, errors, jobs and cursors by other names are refused, and the errors name the replacement", function()
  guesses([==[%s]==], [==[
db:backup("copy.sqlite")  --! db:backup_to(perilune.queue(path))
db:save_as("copy.sqlite")  --! db:backup_to(perilune.queue(path))
db:backup_to("copy.sqlite")  --! db:backup_to(perilune.queue("copy.sqlite"))
db:dump("copy.sql")  --! perilune dump --database FILE
db:fetch_each("SELECT 1")  --! use db:rows(sql, ...)
db:fetch_iter("SELECT 1")  --! use db:rows(sql, ...)
Product:fetch_each()  --! for record in request:rows
Product:fetch_rows()  --! for record in request:rows
perilune.raise("x")  --! use error(message)
perilune.job("send", print)  --! perilune.jobs(name):handle(function(payload) ... end)
perilune.handle("send", print)  --! perilune.jobs(name):handle(function(payload) ... end)
perilune.process("send", print)  --! perilune.jobs(name):handle(function(payload) ... end)
]==])
end)

test("keys, lists and missing arguments in place of columns, names and functions are refused, and the errors name the call", function()
  guesses([==[%s]==], [==[
Customer(1)  --! use Class:find(key) for an existing row
Customer("Ada")  --! use Class:find(key) for an existing row
Customer.has_many("invoices", { through = "line" })  --! call it with a colon, as in Class:has_many(Target)
table.insert(ada.invoices, Invoice{ number = "A9" })  --! to add a row record:invoices():insert{ column = value }
#ada.invoices  --! record:invoices():fetch_count()
#invoice.customer  --! including_optional(Class.customer)
db:in_transaction()  --! db:is_inside_transaction()
db:create_table{ name = "t", columns = { id = "integer" } }  --! db:create_table(name, function(t)
db:create_table("t", function(t) t:primary_key("id") end)  --! t:primary_key("id", "integer")
db:create_table("t", function(t) t:column("n", "integer"):defaults_to(0) end)  --! use :default(value)
Invoice:join("customer")  --! use joining_required(Class.customer)
Invoice:filter{ paid = true }:left_join("customer")  --! use joining_optional(Class.customer)
Customer:join("invoice")  --! use joining_required(Class.invoices)
Customer:join("product")  --! use join(perilune.record("product"), condition)
Customer:cross_join("product")  --! use cross_join(perilune.record("product"))
tostring(ada.invoices)  --> "association customer.invoices, whose rows record:invoices():fetch_all() fetches"
tostring(invoice.customer)  --> "association invoice.customer, whose row record:customer():fetch_one() fetches"
]==])
end)

test("methods of texts on dates are refused, and the errors name the format of a date", function()
  guesses([==[%s]==], [==[
perilune.date("2026-03-31"):sub(1, 4)  --! date:format("%Y")
perilune.date("2026-03-31"):sub{ days = 1 }  --! date:add{ days = -1 }
perilune.date("2026-03-31"):match("^%d+")  --! use date:format("%Y-%m-%d"), or tostring(date)
perilune.date("2026-03-31"):find("03")  --! use date:format("%Y-%m-%d"), or tostring(date)
]==])
end)

test("names of other libraries with several meanings are refused, and the errors name the call for each meaning", function()
  guesses([==[%s]==], [==[
db:raw("SELECT 1")  --! use db:fetch_all(sql, ...) for rows
db:statement("SELECT 1")  --! use db:prepare(sql)
perilune.table{ 1, 2 }  --! perilune.json.encode(value) to show a value
perilune.decimal("1.10")  --! store the smallest unit as an integer
perilune.map({ 1, 2 }, print)  --! use a loop
perilune.when("invoice inserted", print)  --! perilune.automation{
Product.name  --! use Class.c.name for the column
Invoice.name  --! tostring(Class)
Product:first(2)  --! limit(count):fetch_all()
Product:fetch_page(1, 2)  --! use page(number, size)
]==])
end)

test("names of query builders, Redis and timer libraries are refused, and the errors name the call", function()
  guesses([==[%s]==], [==[
Product:where_not_null("name")  --! use filter(Class.c.column:is_not_null())
Product:earliest("name")  --! use order("column"):fetch_one()
Product:latest("name")  --! order(Class.c.column:desc()):fetch_one()
Product:count_distinct("name")  --! use select("column"):distinct():fetch_count()
Product:histogram("name")  --! perilune.count():as("count")
Invoice:group_by_month("due")  --! group(Class.c.column:strftime("%Y-%m"))
Product:median("price")  --! define it with db:add_aggregate(name, { ... })
Product:insert_if_absent{ name = "Pen" }  --! { on_conflict = "ignore" }
Product:filter{ name = "Pen" }:del()  --! use delete_all()
Product:default("name", "Pen")  --! use the class option defaults
Product:update_all(Product.c.name:increment())  --! use request:update_all{ column = Class.c.column + 1 }
db:add{ name = "Pen" }  --! a queue of jobs is perilune.jobs(name)
db:add_all{ { name = "Pen" } }  --! use Class:insert_all{
db:flush()  --! Class:insert, record:save and db:execute write at once
db:set("name", 1)  --! Class:upsert{ name = ..., value = ... }
db:lpush("mail", "Ada")  --! a queue of jobs is perilune.jobs(name)
db:alter_table("product", function(t) t:drop("name") end)  --! use t:drop_column(name)
perilune.jobs("mail"):lpush("Ada")  --! use jobs:enqueue(payload)
perilune.jobs("mail"):brpop()  --! use jobs:handle(function(payload) ... end)
perilune.jobs("mail"):fetch_count()  --! use jobs:counts()
perilune.cache  --! Class:upsert{ name = ..., value = ... }
perilune.redis  --! Class:upsert{ name = ..., value = ... }
perilune.ago{ days = 3 }  --! use perilune.now():add{ days = -3 }
perilune.json_extract("name", "$.a")  --! use Class.c.column:json("name")
perilune.timers  --! use perilune.after(delay, f)
perilune.debounce(1, print)  --! call timer:cancel() before the next one
for invoice in ada.invoices do end  --! use `for row in record:invoices():rows() do`
]==])
end)

test("a value that is not one of the possible words is refused, and the error lists them in the spelling of the reference", function()
  guesses([==[%s]==], [==[
perilune.fts5_pattern("knee", { prefix = true })  --! argument 2: expected one of "all_words", "any_word", "all_prefixes", "phrase", "prefix_phrase", got a table
perilune.fts5_pattern("knee", true)  --! expected one of "all_words"
perilune.fts5_pattern("knee", "prefix")  --! Available: all_words, any_word, all_prefixes, phrase, prefix_phrase
perilune.fts5_pattern("kn", "all prefixes")  --> "\"kn\"*"
db:create_table("part", function(t) t:column("line_id", "integer"):references("customer", { on_delete = true }) end)  --! on_delete`: expected one of "no action", "restrict"
db:create_trigger("watch", { on = "invoice", after = { "insert", "update" }, run = "SELECT 1" })  --! option `after`: expected one of "insert", "update", "delete"
db:alter_table("product", function(t) t:change_column("sku"):without("notnull") end)  --! did you mean `not_null`?
]==])
end)

test("options of SQL functions in other places are refused, and the errors show the whole call", function()
  guesses([==[%s]==], [==[
db:add_function("score", 2, function(a, b) return a + b end, { deterministic = true })  --! the options come before the function: db:add_function(name, { arguments = 1, deterministic = true }, f)
db:add_function("score", function(a, b) return a + b end, { deterministic = true })  --! the options come before the function: db:add_function(name, { arguments
db:add_function("score", { 2, deterministic = true }, function(a, b) return a + b end)  --! expected options with names, got the integer 1; use db:add_function(name, { arguments
db:add_function("score", { nargs = 2 }, function(a, b) return a + b end)  --! use the option `arguments`
db:add_function("score", { arguments = 2, deterministic = 1 }, function(a, b) return a + b end)  --! option `deterministic`: expected a boolean, got the integer 1
db:add_function("score", { arguments = 2, deterministic = false }, math.max)  --> nil
db:add_aggregate("score", 1, { step = math.max }, { deterministic = true })  --! { arguments = 1, deterministic = true }, { step = f })
db:add_aggregate("score", { step = math.max, initial = 0 }, { deterministic = true })  --! the options come before the functions
db:add_aggregate("score", { step = math.max, initial = 0 }, 1)  --! the options come before the functions
db:add_collation("score", function(a, b) return #a - #b end, { deterministic = true })  --! a collation has no options
db:observe(function() return 1 end, { duplicates = true }, print)  --! the options come after the function
]==])
end)

test("several JSON members, FTS5 functions of table names and functions that merge rows are refused, and the errors show the call", function()
  guesses([==[%s]==], [==[
Product:select(p.settings:json("shop", "theme"))  --! as in column:json("$.address.city")
Product:filter(p.settings:json("$.theme"):eq("dark")):fetch_count()  --> 1
Product:update_all{ settings = p.settings:json_set('a"b', "light") }  --! column:json_set: argument 1: SQLite has no path for the name
Product:select(perilune.fn.snippet("product_text", 0, "<b>", "</b>", "...", 10))  --! Class.c.column:snippet(before, after, ellipsis, tokens)
Product:select(perilune.fn.highlight("product_text", 0, "<b>", "</b>"))  --! Class.c.column:highlight(before, after)
Product:order(perilune.fn.bm25("product_text"))  --! use order("rank")
Product:matching("product_text", "tea")  --! use the class of the full-text table: perilune.record("name"):matching(pattern)
Product:upsert({ sku = "TEA", name = "Tea", price = 1 }, { target = "sku", update = function(old, new) return { price = new.price } end })  --! perilune.excluded.column for the new value
Product:with(perilune.common_table("cheap", Product:filter(p.price:lt(500))))  --! which requests that use the table begin with
]==])
end)

test("names of savepoints, several classes of a history and files of changesets are refused, and the errors show the call", function()
  guesses([==[%s]==], [==[
db:in_savepoint("part", function() return "commit" end)  --! savepoints have no names, use db:in_savepoint(function(db) ... end)
perilune.history(Customer, Invoice)  --! each class has its own history: call it once for each
db:record_changes(function() ada:update_changes{ name = "B" } end):save("x.changes")  --! write changeset:serialize() to a file
db:tables("archive")  --! SELECT name FROM name.sqlite_schema
perilune.record("invoice", { enums = { status = { paid = "p", draft = "d" } } })  --! use { status = perilune.enum{ draft = "d" } }
perilune.record("invoice", { enums = { status = perilune.enum{ fresh = "draft" } } }):fresh():fetch_count()  --> 1
]==])
end)

test("a collation that returns a boolean is refused, and the error names the results", function()
  guesses([==[%s]==], [==[
db:add_collation("size", function(a, b) return #a < #b end) return Product:order(p.name:collating("size")):fetch_all()  --! must return a negative number, 0 or a positive number, got
]==])
end)

test("expressions are refused in place of associations, and the errors name annotated_with and filter", function()
  guesses([==[%s]==], [==[
Customer:annotated_with_optional(Customer.invoices:count():as("count"))  --! use annotated_with(expression:as("name")) for an expression
Customer:annotated_with_required(Customer.c.name)  --! use annotated_with(expression:as("name")) for an expression
Customer:including_all(Customer.invoices:count())  --! use annotated_with(expression:as("name")) for an expression
Customer:joining_required(Customer.c.name:eq("Ada"))  --! use filter(condition) for a condition
]==])
end)

test("members of dates and columns for ages lead to whole years", function()
  guesses([==[%s]==], [==[
perilune.date("2012-02-29"):years_until(perilune.now())  --! use (day:format("%Y%m%d") - born:format("%Y%m%d")) // 10000 for whole years
perilune.date("2012-02-29"):age()  --! // 10000 for whole years
perilune.now():diff(perilune.date("2012-02-29"))  --! in seconds; for whole years, (day:format(
perilune.now():days_since(perilune.date("2012-02-29"))  --! // 86400 for whole days
c.created_at:age()  --! (perilune.now():format("%Y%m%d") - column:strftime("%Y%m%d")) // 10000
Customer:filter_key(1):select((perilune.date("2036-01-04"):format("%Y%m%d") - c.created_at:strftime("%Y%m%d")) // 10000):fetch_value()  --> 9
Customer:filter_key(1):select((perilune.date("2036-01-05"):format("%Y%m%d") - c.created_at:strftime("%Y%m%d")) // 10000):fetch_value()  --> 10
(perilune.date("2025-02-28"):format("%Y%m%d") - perilune.date("2012-02-29"):format("%Y%m%d")) // 10000  --> 12
]==])
end)

test("objects and arrays that JSON was decoded to are written as columns and lists", function()
  db:execute("CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT, data JSON); CREATE TABLE book (id INTEGER PRIMARY KEY, shelf_id REFERENCES shelf, title)")
  local Shelf, Book = perilune.record("shelf", { types = { data = "json" } }), perilune.record("book")
  Shelf.books = Shelf:has_many(Book)
  local decode = perilune.json.decode
  local shelf = Shelf:insert(decode '{"name":"a","data":{"k":[1,2]}}')
  equal({ #Shelf:insert_all(decode '[{"name":"b"},{"name":null}]'), #Shelf:insert_all{ decode '{"name":"c"}', decode '{"id":9}' } }, { 2, 2 })
  equal({ Shelf:upsert_all(decode '[{"id":9,"name":"i"},{"id":10}]'), Shelf:upsert(decode '{"id":10,"name":"j"}').name }, { 2, "j" })
  equal({ Shelf:find_or_insert(decode '{"name":"j"}').id, Shelf:find_or_insert({ name = "k" }, decode '{"id":20}').id }, { 10, 20 })
  equal({ shelf:books():insert(decode '{"title":"x"}').title, #shelf:books():insert_all(decode '[{"title":"y"}]') }, { "x", 1 })
  local nested = Shelf:save_nested(decode '{"name":"n","books":[{"title":"v"},{"title":"w"}]}')
  equal(Book:filter{ shelf_id = nested.id }:order("title"):select("title"):fetch_values(), { "v", "w" })
  equal({ Shelf:find(shelf.id).data.k[2], Shelf:find(3).name, Shelf:fetch_count() }, { 2, nil, 8 })
  for _, wrong in ipairs{ '{"name":"a"}', '["a"]', '[["a"]]', '[{"x":1}]' } do
    equal((pcall(Shelf.insert_all, Shelf, decode(wrong))), false)
  end
  equal((pcall(Shelf.insert, Shelf, decode '[{"name":"a"}]')), false)
  equal(Shelf:fetch_count(), 8)
end)
