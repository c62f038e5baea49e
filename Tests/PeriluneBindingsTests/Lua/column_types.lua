--- Value types of columns in records.

local function stored(sql)
  return db:fetch_one(sql or "SELECT * FROM item")
end

test("columns declared BOOLEAN contain booleans", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, is_read BOOLEAN, flag BOOL)"
  local Item = perilune.record "item"
  Item{ is_read = true, flag = false }:insert()
  equal(stored("SELECT typeof(is_read), is_read + 0, flag + 0 FROM item"):unpack(), "integer")
  local item = Item:find(1)
  equal({ item.is_read, item.flag }, { true, false })
  item.is_read = nil
  item:update()
  equal(Item:find(1).is_read, nil)
  item.is_read = 1
  local err = fails("conversion", item.update, item)
  equal({ err.table, err.column, err.key }, { "item", "is_read", 1 })
  matches(err.message, "`item`.`is_read` (row with `id` 1): expected true or false, got the integer 1")
  err = fails("conversion", function() Item{ flag = "yes" }:insert() end)
  equal({ err.column, err.key }, { "flag" })
end)

test("columns declared DATE, DATETIME or TIMESTAMP contain dates in any stored format", function()
  db:execute[[
    CREATE TABLE item (id INTEGER PRIMARY KEY, day DATE, at DATETIME, stamp TIMESTAMP);
    INSERT INTO item (day, at, stamp) VALUES ('2026-03-01', '2026-03-01T10:30:00Z', 1772361000), (NULL, 2461101.5, '10:00')]]
  local Item = perilune.record "item"
  local item = Item:find(1)
  equal(item.day, perilune.date "2026-03-01")
  equal(item.at, perilune.date "2026-03-01 10:30")
  equal(item.stamp, perilune.date "2026-03-01 10:30")
  local err = fails("conversion", Item.find, Item, 2)
  equal({ err.table, err.column, err.key }, { "item", "stamp", 2 })
  matches(err.message, "`item`.`stamp` (row with `id` 2)")
end)

test("dates are written in one format, and unchanged dates keep theirs", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, day DATE, at DATETIME, name TEXT)"
  local Item = perilune.record "item"
  local item = Item{ day = perilune.date "2026-03-01", at = perilune.date "2026-03-01 12:30:01.5+02:00" }
  item:insert()
  local row = stored()
  equal({ row.day, row.at }, { "2026-03-01", "2026-03-01 10:30:01.500" })
  item.at = "2026-03-02"
  item:update()
  equal(stored().at, "2026-03-02 00:00:00.000")
  item.at = "tomorrow"
  equal(fails("conversion", item.update, item).column, "at")
  item.at = 5
  matches(fails("conversion", item.update, item), "expected a date")
  item.at = {}
  fails("conversion", item.update, item)
end)

test("the option types sets the type of a column", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, created INTEGER, is_done INTEGER, at DATETIME, opening TEXT)"
  local Item = perilune.record("item", {
    types = { created = "date", is_done = "boolean", at = "any", opening = perilune.date_components },
  })
  Item{ created = perilune.date "2026-03-01", is_done = true, at = "noon", opening = perilune.date_components "08:30" }:insert()
  local item = Item:find(1)
  equal({ item.created, item.is_done, item.at }, { perilune.date "2026-03-01", true, "noon" })
  equal(item.opening, perilune.date_components "08:30")
  equal(stored().opening, "08:30")
  item.opening = "09:00"
  item:update()
  equal(stored().opening, "09:00")
end)

test("the type date stores days, except in columns that are declared for dates with times", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, day TEXT, plain, number INTEGER, declared DATE, at DATETIME, full TEXT)"
  local types = { day = "date", plain = perilune.date, number = "date", declared = "date", at = "date", full = "datetime" }
  local Item = perilune.record("item", { types = types })
  local date, values = perilune.date "2026-04-02 10:00", {}
  for column in pairs(types) do values[column] = date end
  Item:insert(values)
  local day, time = "2026-04-02", "2026-04-02 10:00:00.000"
  equal(stored():to_table(), { id = 1, day = day, plain = day, number = day, declared = day, at = time, full = time })
  equal({ Item:find(1).day, Item:find(1).at }, { perilune.date(day), date })
  db:execute("INSERT INTO item (day) VALUES (?), ('2026-04-01')", time)
  local c, start = Item.c, perilune.date(day)
  equal(Item:filter{ day = start }:pluck("id"), { 1, 2 })
  equal(Item:filter(c.day:lt(start)):pluck("id"), { 3 })
  equal(Item:filter(c.day:le(date)):pluck("id"), { 1, 2, 3 })
  equal(Item:filter(c.day:gt(start)):pluck("id"), {})
end)

test("a named type checks written values", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, i, f, s, b)"
  local Item = perilune.record("item", { types = { i = "integer", f = "float", s = "string", b = "blob" } })
  Item{ i = 3.0, f = 2, s = "x", b = "\0\1" }:insert()
  local row = stored "SELECT typeof(i) AS i, typeof(f) AS f, typeof(s) AS s, typeof(b) AS b FROM item"
  equal({ row.i, row.f, row.s, row.b }, { "integer", "real", "text", "blob" })
  for column, value in pairs{ i = 1.5, f = "1", s = 1, b = 1 } do
    local err = fails("conversion", function() Item{ [column] = value }:insert() end)
    equal(err.column, column)
  end
  fails("conversion", function() Item{ i = "3" }:insert() end)
  fails("conversion", function() Item{ f = 0 / 0 }:insert() end)
end)

test("a column declared BLOB stores strings as bytes", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, data BLOB)"
  local Item = perilune.record "item"
  local item = Item{ data = "\0\255" }
  item:insert()
  equal(stored("SELECT typeof(data) AS t, hex(data) AS h FROM item"):to_table(), { t = "blob", h = "00FF" })
  equal(Item:find(1).data, "\0\255")
  item.data = perilune.blob "x"
  item:update()
  equal(Item:find(1).data, "x")
end)

test("JSON columns contain tables", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, settings TEXT)"
  local Item = perilune.record("item", { types = { settings = "json" } })
  local item = Item{ settings = { theme = "dark", sizes = { 1, 2.5 }, extra = perilune.json.array() } }
  item:insert()
  equal(stored().settings, '{"extra":[],"sizes":[1,2.5],"theme":"dark"}')
  equal(Item:find(1).settings, { theme = "dark", sizes = { 1, 2.5 }, extra = {} })
  item.settings.size = 12
  item:update()
  equal(db:fetch_value "SELECT settings ->> 'size' FROM item", 12)
  item.settings.f = print
  local err = fails("conversion", item.update, item)
  matches(err.message, "`item`.`settings` (row with `id` 1): the value.f: JSON cannot hold")
  db:execute "UPDATE item SET settings = '{oops'"
  err = fails("conversion", Item.find, Item, 1)
  equal({ err.table, err.column, err.key }, { "item", "settings", 1 })
  db:execute "UPDATE item SET settings = NULL"
  equal(Item:find(1).settings, nil)
end)

test("records do not share the table of a JSON column", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, settings TEXT)"
  local Item = perilune.record("item", { types = { settings = "json" } })
  Item{ settings = { a = 1 } }:insert()
  local first, second = Item:find(1), Item:find(1)
  first.settings.a = 2
  equal(second.settings.a, 1)
end)

test("enum columns contain cases", function()
  local Color = perilune.enum{ red = 0, white = 1, rose = 2 }
  local Grape = perilune.enum{ "chardonnay", "merlot" }
  db:execute "CREATE TABLE wine (id INTEGER PRIMARY KEY, color INTEGER, grape TEXT)"
  local Wine = perilune.record("wine", { types = { color = Color, grape = Grape } })
  local wine = Wine{ color = Color.rose, grape = Grape.merlot }
  wine:insert()
  equal(stored("SELECT color, grape FROM wine"):unpack(), 2)
  equal({ Wine:find(1).color == Color.rose, Wine:find(1).grape == Grape.merlot }, { true, true })
  wine.color = 1
  matches(fails("conversion", wine.update, wine), "use `white` of the enum")
  wine.color = "red"
  matches(fails("conversion", wine.update, wine), "`wine`.`color` (row with `id` 1)")
  wine.color = Grape.merlot
  fails("conversion", wine.update, wine)
  db:execute "UPDATE wine SET color = 7"
  local err = fails("conversion", Wine.fetch_all, Wine)
  equal({ err.table, err.column, err.key }, { "wine", "color", 1 })
  matches(err.message, "no case has the value the integer 7")
end)

test("a column with a list of cases holds strings, and refuses other values", function()
  db:execute "CREATE TABLE invoice (id INTEGER PRIMARY KEY, status TEXT, note TEXT)"
  local Status = perilune.enum{ "draft", "sent", "paid" }
  equal({ Status.sent, Status.from("paid"), Status.cases() }, { "sent", "paid", { "draft", "sent", "paid" } })
  for _, wanted in ipairs{ Status, { "draft", "sent", "paid" }, perilune.enum{ draft = "draft", sent = "sent", paid = "paid" } } do
    db:execute "DELETE FROM invoice"
    local Invoice = perilune.record("invoice", { types = { status = wanted } })
    local invoice = Invoice:insert{ status = "sent" }
    equal({ invoice.status, Invoice:find(1).status, Invoice:find(1).status == Status.sent }, { "sent", "sent", true })
    equal({ Invoice:filter{ status = "sent" }:fetch_count(), Invoice:filter(Invoice.c.status:eq(Status.paid)):fetch_count() }, { 1, 0 })
    equal(invoice:update_changes{ status = Status.paid }, true)
    for _, write in ipairs{
      function() Invoice:insert{ status = "payd" } end, function() Invoice:update_all{ status = "payd" } end,
      function() invoice:update_changes{ status = "payd" } end, function() Invoice:upsert{ id = 1, status = "payd" } end,
      function() Invoice:insert_all{ { status = "payd" } } end, function() Invoice:filter{ status = "payd" }:fetch_all() end,
    } do
      matches(fails("conversion", write).message, "no case `payd`; did you mean `paid`?")
    end
    matches(fails("conversion", Invoice.insert, Invoice, { status = 3 }).message, "expected one of the cases draft, ")
    equal(db:fetch_values "SELECT status FROM invoice", { "paid" })
    db:execute "UPDATE invoice SET status = 'lost'"
    matches(fails("conversion", Invoice.fetch_all, Invoice).message, "no case `lost`")
  end
end)

test("a list of cases defines named requests and conditions", function()
  db:execute "CREATE TABLE invoice (id INTEGER PRIMARY KEY, status TEXT); INSERT INTO invoice (status) VALUES ('sent'), ('paid')"
  local Invoice = perilune.record("invoice", { enums = { status = { "draft", "sent", "paid", prefix = "status" } } })
  equal({ Invoice:status_sent():fetch_count(), Invoice:find(2):is_status_paid(), Invoice:find(2).status }, { 1, true, "paid" })
  equal(perilune.record("invoice", { enums = { status = { "open", "sent", "paid" } } }):sent():fetch_count(), 1)
  fails("argument", function() perilune.record("invoice", { enums = { status = { "draft", 3 } } }) end)
  fails("unknown_option", function() perilune.record("invoice", { enums = { status = { "draft", prefx = "x" } } }) end)
  fails("argument", function() perilune.record("invoice", { types = { status = { "draft", "draft" } } }):fetch_all() end)
end)

test("value types and pairs of functions convert column values", function()
  local Money = perilune.value_type{
    name = "money",
    to_database = function(amount) return math.type(amount.cents) == "integer" and amount.cents or nil end,
    from_database = function(cents) return math.type(cents) == "integer" and { cents = cents } or nil end,
  }
  local list = {
    from_database = function(text)
      local parts = {}
      for part in text:gmatch "[^,]+" do parts[#parts + 1] = part end
      return parts
    end,
    to_database = function(parts) return table.concat(parts, ",") end,
  }
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER, tags TEXT)"
  local Item = perilune.record("item", { types = { price = Money, tags = list } })
  local item = Item{ price = { cents = 500 }, tags = { "a", "b" } }
  item:insert()
  equal(stored():to_table(), { id = 1, price = 500, tags = "a,b" })
  equal(Item:find(1).price, { cents = 500 })
  equal(Item:find(1).tags, { "a", "b" })
  Item{ price = Money{ cents = 7 } }:insert()
  equal(Item:find(2).price.cents, 7)
  item = Item:find(1)
  equal(item:has_changes(), false)
  item.tags[3] = "c"
  equal(item:update_changes(), true)
  equal(db:fetch_value "SELECT tags FROM item", "a,b,c")
  item.price = { cents = 1.5 }
  equal(fails("conversion", item.update, item).column, "price")
  item.price, item.tags = nil, 5
  equal(fails("conversion", item.update, item).column, "tags")
  db:execute "UPDATE item SET price = 'free' WHERE id = 2"
  matches(fails("conversion", Item.find, Item, 2), "`item`.`price` (row with `id` 2)")
end)

test("a custom timestamp type can be defined", function()
  local timestamp = perilune.value_type{
    name = "timestamp",
    to_database = function(date) return math.floor(date.unix) end,
    from_database = function(seconds) return perilune.date.from_unix(seconds) end,
  }
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, at INTEGER)"
  local Item = perilune.record("item", { types = { at = timestamp } })
  Item{ at = perilune.date "2026-03-01" }:insert()
  equal({ stored().at, Item:find(1).at }, { 1772323200, perilune.date "2026-03-01" })
end)

test("a conversion that raises or returns an invalid value is an error that names the column", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, a)"
  local wrong = { from_database = function() error "broken" end, to_database = function(v) return v end }
  local Item = perilune.record("item", { types = { a = wrong } })
  Item{ a = 1 }:insert()
  matches(fails("conversion", Item.find, Item, 1), "broken")
  matches(fails("conversion", function() Item{ a = {} }:insert() end), "to_database returned")
end)

test("an error object that to_database raises is passed through unchanged", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, a)"
  local mistake = { kind = "mine" }
  local wrong = { from_database = function(v) return v end, to_database = function() error(mistake) end }
  local Item = perilune.record("item", { types = { a = wrong } })
  for _, write in ipairs{
    function() Item{ a = 1 }:insert() end,
    function() Item:insert_all{ { a = 1 } } end,
    function() Item:upsert{ id = 1, a = 1 } end,
    function() Item:filter{ a = 1 } end,
    function() Item:update_all{ a = 1 } end,
  } do
    local is_done, err = pcall(write)
    equal({ is_done, rawequal(err, mistake) }, { false, true })
  end
end)

test("an invalid type, or a type for an unknown column, is refused", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, at DATETIME)"
  matches(fails("argument", function() perilune.record("item", { types = { at = "dat" } }):fetch_all() end), "column `at`: expected a type")
  fails("argument", function() perilune.record("item", { types = { at = {} } }):fetch_all() end)
  fails("argument", function() perilune.record("item", { types = { at = 5 } }):fetch_all() end)
  equal(fails("unknown_column", function() perilune.record("item", { types = { att = "date" } }):fetch_all() end).suggestion, "at")
end)

test("types can be set for many columns whose names need quotes", function()
  db:execute [[CREATE TABLE "odd ""table" ("a b" INTEGER, "c`d" TEXT, "when" DATETIME, PRIMARY KEY ("a b", "c`d"))]]
  local Odd = perilune.record [[odd "table]]
  Odd{ ["a b"] = 1, ["c`d"] = "x", when = perilune.date "2026-03-01" }:insert()
  db:execute [[UPDATE "odd ""table" SET "when" = 'never']]
  local err = fails("conversion", Odd.fetch_all, Odd)
  matches(err.message, "row with `a b` 1, `c`d` x")
  equal(err.key, { ["a b"] = 1, ["c`d"] = "x" })
end)

test("conversions apply to every way of fetching and writing records", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, at DATETIME)"
  local Item = perilune.record "item"
  local date = perilune.date "2026-03-01"
  Item:insert_all{ { at = date }, { at = date } }
  equal(Item:fetch_all()[2].at, date)
  equal(Item:from_sql("SELECT * FROM item WHERE id = ?", 2):fetch_one().at, date)
  for item in Item:rows() do equal(item.at, date) end
  equal(Item:find(2).at, date)
  local item = Item:find(1)
  item:refresh()
  equal(item.at, date)
  equal(stored("SELECT COUNT(DISTINCT at) AS n FROM item").n, 1)
end)

local function make_flags(options)
  db:execute[[
    CREATE TABLE flag (id INTEGER PRIMARY KEY, is_on BOOLEAN);
    INSERT INTO flag VALUES (1, 1), (2, 0), (3, NULL), (4, 'maybe'), (5, 0.5)]]
  return perilune.record("flag", options)
end

test("an invalid boolean is an error with table, column, value and key", function()
  local Flag = make_flags()
  equal({ Flag:find(1).is_on, Flag:find(2).is_on, Flag:find(3).is_on }, { true, false })
  local ways = {
    function() Flag:find(4) end,
    function() Flag:fetch_one(4) end,
    function() Flag:fetch_one{ id = 4 } end,
    function() Flag:fetch_all() end,
    function() for _ in Flag:rows() do end end,
    function() Flag:filter{ id = 4 }:fetch_one() end,
    function() Flag:from_sql("SELECT is_on, id FROM flag WHERE id = 4"):fetch_one() end,
    function() db:execute "CREATE TEMP TABLE t (x)" Flag:fetch_all("UPDATE flag SET id = id WHERE id = 4 RETURNING *") end,
  }
  for _, way in ipairs(ways) do
    local err = fails("conversion", way)
    equal({ err.table, err.column, err.key }, { "flag", "is_on", 4 })
    matches(err.message, "`flag`.`is_on` (row with `id` 4): expected a boolean, got the string \"maybe\"")
  end
  matches(fails("conversion", Flag.find, Flag, 5).message, "got the float 0.5")
  equal(#Flag:fetch_all("SELECT * FROM flag WHERE id < 4"), 3)
  -- Plain rows give the stored values.
  equal(db:fetch_one("SELECT is_on FROM flag WHERE id = 4").is_on, "maybe")
end)

test("a boolean column with another type accepts its stored values", function()
  equal(make_flags{ types = { is_on = "any" } }:find(4).is_on, "maybe")
  local Flag = perilune.record("flag", { types = { is_on = {
    from_database = function(value) return value == "maybe" and "perhaps" or value end,
    to_database = function(value) return value end,
  } } })
  equal(Flag:find(4).is_on, "perhaps")
end)

test("an error of any type that a conversion raises is reported", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)"
  local function message_for(raised)
    local type_of_a = { from_database = function() error(raised, 0) end, to_database = function(value) return value end }
    local T = perilune.record("t", { types = { a = type_of_a } })
    return fails("conversion", T.find, T, 1).message
  end
  matches(message_for("too old"), "`t`.`a` (row with `id` 1): too old")
  matches(message_for{ kind = "old", message = "too old" }, "too old")
  matches(message_for{ kind = "old" }, "an error of kind old")
  matches(message_for{ 1 }, "an error that is a table")
  matches(message_for(setmetatable({}, { __tostring = function() return "much too old" end })), "much too old")
end)

test("a copy of a record shares no tables with the original", function()
  db:execute "CREATE TABLE settings (id INTEGER PRIMARY KEY, options TEXT); INSERT INTO settings VALUES (1, '{\"a\":{\"b\":1}}')"
  local Settings = perilune.record("settings", { types = { options = "json" } })
  local settings = Settings:find(1)
  local copy = settings:copy()
  settings.options.a.b = 2
  equal({ copy.options.a.b, copy:has_changes(), settings:has_changes() }, { 1, false, true })
end)
