--- Distinct requests with orders and limits over nullable text keys, and associations by such keys, are compared with SELECT
-- statements.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261127)

-- Data ------------------------------------------------------------------------------------------------------------------------

local names = { "a", "A", "b", "B", "" }

local function maybe(list) if random(3) > 1 then return pick(list) end end

local shop_keys = { "code TEXT PRIMARY KEY", "code TEXT COLLATE NOCASE PRIMARY KEY", "code TEXT", "id INTEGER PRIMARY KEY, code TEXT", "code TEXT UNIQUE" }
local item_keys = { "k TEXT PRIMARY KEY", "id INTEGER PRIMARY KEY, k TEXT", "k TEXT", "k TEXT, part TEXT UNIQUE" }

local function fill(name, count, values)
  for u = 1, count do
    local row = values()
    row.u = u
    -- The insert ignores duplicate keys; NULL keys never conflict.
    pcall(perilune.record(name).insert, perilune.record(name), row, { on_conflict = "ignore" })
  end
end

--- Creates shops with items, and items with notes. The column `u` numbers the rows of each table.
local function make()
  local key = pick(shop_keys)
  db:execute("DROP TABLE IF EXISTS note; DROP TABLE IF EXISTS item; DROP TABLE IF EXISTS shop")
  db:execute("CREATE TABLE shop (" .. key .. ", name TEXT, n INTEGER, u INTEGER, mark INTEGER DEFAULT 0)")
  db:execute("CREATE TABLE item (" .. pick(item_keys) .. ", shop_code TEXT, name TEXT, n INTEGER, u INTEGER)")
  db:execute "CREATE TABLE note (key TEXT PRIMARY KEY, item_k TEXT, name TEXT, n INTEGER, u INTEGER)"
  local codes, ks = { "x", "y", "z", "w" }, { "k1", "k2", "k3", "k4", "K1" }
  fill("shop", 6, function() return { code = maybe(codes), name = maybe(names), n = maybe{ 1, 2, 3 } } end)
  fill("item", 9, function() return { k = maybe(ks), shop_code = maybe(codes), name = maybe(names), n = maybe{ 1, 2, 3 } } end)
  fill("note", 9, function() return { key = maybe(ks), item_k = maybe(ks), name = maybe(names), n = maybe{ 1, 2, 3 } } end)
  local Shop, Item, Note = perilune.record "shop", perilune.record "item", perilune.record "note"
  Shop.items = Shop:has_many(Item, { columns = "shop_code", referenced = "code" })
  Item.notes = Item:has_many(Note, { columns = "item_k", referenced = "k" })
  Shop.notes = Shop:has_many(Note, { through = Shop.items, using = Item.notes })
  return { Shop = Shop, Item = Item, Note = Note }
end

local function numbers(rows)
  local list = {}
  for index, row in ipairs(rows) do list[index] = tostring(row.u) end
  return table.concat(list, " ")
end

local function fetched(sql) return numbers(db:fetch_all(sql)) end

--- Returns the values of a list in which `perilune.null` is NULL.
local function texts(values)
  local list = {}
  for index, value in ipairs(values) do list[index] = value == perilune.null and "NULL" or ("%q"):format(value) end
  return table.concat(list, " ")
end

-- Requests: each is a request and its SQL -----------------------------------------------------------------------------------------

local function condition(Class, t)
  local name, n, c, kind = pick(names), random(3), Class.c, random(6)
  if kind == 1 then return c.name:eq(name), ("%s.name = '%s'"):format(t, name) end
  if kind == 2 then return c.name:is_null(), t .. ".name IS NULL" end
  if kind == 3 then return c.name:ne(name), ("%s.name <> '%s'"):format(t, name) end
  if kind == 4 then return ~c.name:is_in{ name, "b" }, ("%s.name NOT IN ('%s', 'b')"):format(t, name) end
  if kind == 5 then return c.name:is_not(name), ("%s.name IS NOT '%s'"):format(t, name) end
  return c.u:gt(n), ("%s.u > %d"):format(t, n)
end

--- Returns an order by nullable columns that ends with the row's number.
local function order(Class, t)
  local name, is_descending = pick{ "name", "n", "u" }, random(2) == 1
  local column = Class.c[name]
  return { is_descending and column:desc() or column, Class.c.u }, ("%s.%s%s, %s.u"):format(t, name, is_descending and " DESC" or "", t)
end

local function limited(request, sql)
  if random(3) == 1 then return request, sql, false end
  local count, offset = random(4), random(3) - 1
  return request:limit(count, offset), ("%s LIMIT %d OFFSET %d"):format(sql, count, offset), true
end

local function source(classes)
  local request, kind = classes.Shop:all(), random(4)
  if kind == 1 then return request:joining_required(classes.Shop.items), "shop JOIN item ON shop.code = item.shop_code", true end
  if kind == 2 then return request:joining_optional(classes.Shop.items), "shop LEFT JOIN item ON shop.code = item.shop_code", true end
  if kind == 3 then
    local expression, sql = condition(classes.Item, "item")
    return request:joining_required(classes.Shop.items:filter(expression)), "shop JOIN item ON shop.code = item.shop_code AND " .. sql, true
  end
  return request, "shop", false
end

local function check_same(what, sql, got, expected)
  if got ~= expected then error(("%s: %s\nexpected: %s\ngot: %s"):format(what, sql, tostring(expected), tostring(got))) end
end

-- Checks --------------------------------------------------------------------------------------------------------------------------

local function check_pages(request, sql)
  local expected, size, cursor, found = fetched(sql), random(3), nil, {}
  repeat
    local page = request:page_after(cursor, size)
    table.move(page.records, 1, #page.records, #found + 1, found)
    cursor = page.next
  until not cursor
  check_same("page_after", sql, numbers(found), expected)
  check_same("page", sql, numbers(request:page(2, size).records), fetched(("%s LIMIT %d OFFSET %d"):format(sql, size, size)))
  found = {}
  for records in request:unordered():in_batches(size) do table.move(records, 1, #records, #found + 1, found) end
  table.sort(found, function(a, b) return a.u < b.u end)
  check_same("in_batches", sql, numbers(found), fetched("SELECT u FROM (" .. sql .. ") ORDER BY u"))
end

--- Compares the selected values of a nullable text column.
local function check_values(classes, request, sql, column)
  local count = random(3)
  local values = request:order(classes.Shop.c[column]):limit(count)
  sql = ("%s ORDER BY shop.%s LIMIT %d"):format(sql:format("shop." .. column), column, count)
  local expected = db:fetch_optional_values(sql)
  check_same("pluck", sql, texts(values:pluck(column)), texts(expected))
  check_same("fetch_count of values", sql, values:select(column):fetch_count(), #expected)
  local rows = ("SELECT u FROM shop WHERE %s IN (%s) ORDER BY u"):format(column, sql)
  check_same("is_in", rows, numbers(classes.Shop:filter(classes.Shop.c[column]:is_in(values:select(column))):order("u"):fetch_all()), fetched(rows))
end

--- Compares written rows with fetched ones.
local function check_writing(request, sql)
  local rows = "SELECT DISTINCT u FROM (" .. sql .. ") ORDER BY u"
  local expected, rest = fetched(rows), fetched("SELECT u FROM shop WHERE u NOT IN (" .. rows .. ") ORDER BY u")
  db:execute "UPDATE shop SET mark = 0"
  request:update_all{ mark = 1 }
  check_same("update_all", sql, fetched "SELECT u FROM shop WHERE mark = 1 ORDER BY u", expected)
  local left
  db:in_transaction(function()
    request:delete_all()
    left = fetched "SELECT u FROM shop ORDER BY u"
    return "rollback"
  end)
  check_same("delete_all", sql, left, rest)
end

local function check_request(classes)
  local request, from, is_joined = source(classes)
  local is_distinct = random(4) > 1
  if is_distinct then request = request:distinct() end
  local where = ""
  if random(2) == 1 then
    local expression, sql = condition(classes.Shop, "shop")
    request, where = request:filter(expression), " WHERE " .. sql
  end
  local selection = ("SELECT %s%%s FROM %s%s"):format(is_distinct and "DISTINCT " or "", from, where)
  check_values(classes, request, selection, pick{ "name", "code" })
  local terms, order_sql = order(classes.Shop, "shop")
  request = request:order(table.unpack(terms))
  local sql = selection:format "shop.*" .. " ORDER BY " .. order_sql
  if is_distinct or not is_joined then check_pages(request, sql) end
  local limited_request, limited_sql = limited(request, sql)
  local expected = db:fetch_all(limited_sql)
  check_same("fetch_all", limited_sql, numbers(limited_request:fetch_all()), numbers(expected))
  check_same("fetch_count", limited_sql, limited_request:fetch_count(), #expected)
  check_same("is_empty", limited_sql, limited_request:is_empty(), #expected == 0)
  check_writing(limited_request, limited_sql)
end

local function check_association(classes)
  local is_through = random(2) == 1
  local Shop, Class, t = classes.Shop, is_through and classes.Note or classes.Item, is_through and "note" or "item"
  local association, is_distinct, where = is_through and Shop.notes or Shop.items, random(2) == 1, ""
  if random(2) == 1 then
    local expression, sql = condition(Class, t)
    association, where = association:filter(expression), " AND " .. sql
  end
  if is_distinct then association = association:distinct() end
  local terms, order_sql = order(Class, t)
  association = association:order(table.unpack(terms))
  local limit, has_limit
  association, limit, has_limit = limited(association, "")
  local shops, lists, counts, called = Shop:order("u"):fetch_all(), {}, {}, {}
  local sql = ("SELECT %s%s.* FROM shop JOIN item ON shop.code = item.shop_code%s WHERE shop.u = %%d%s ORDER BY %s%s"):format(
    is_distinct and "DISTINCT " or "", t, is_through and " JOIN note ON item.k = note.item_k" or "", where, order_sql, limit)
  for index, shop in ipairs(shops) do
    local rows = db:fetch_all(sql:format(shop.u))
    lists[index], counts[index], called[index] = numbers(rows), #rows, numbers(association(shop):fetch_all())
  end
  check_same("the association of a record", sql, table.concat(called, " | "), table.concat(lists, " | "))
  local counted = {}
  for index, shop in ipairs(Shop:annotated_with(association:count():as("many")):order("u"):fetch_all()) do counted[index] = shop.many end
  check_same("count", sql, table.concat(counted, " "), table.concat(counts, " "))
  if is_distinct and has_limit then
    matches(fails("argument", function() return Shop:including_all(association):fetch_all() end), "distinct() and a limit cannot be combined")
    return
  end
  local included, name = {}, is_through and "notes" or "items"
  for index, shop in ipairs(Shop:including_all(association):order("u"):fetch_all()) do included[index] = numbers(shop[name]) end
  check_same("including_all", sql, table.concat(included, " | "), table.concat(lists, " | "))
end

--- Returns an association to the first of several rows, and a SELECT of that row for the shop with a number.
local function first_row(classes)
  local Shop, Item, Note, kind = classes.Shop, classes.Item, classes.Note, random(4)
  local item_terms, item_order = order(Item, "item")
  local note_terms, note_order = order(Note, "note")
  local shop_items = "FROM shop JOIN item ON shop.code = item.shop_code"
  local item = Shop:has_one(Item, { columns = "shop_code", referenced = "code" }):order(table.unpack(item_terms)):as "one"
  local note = Item:has_one(Note, { columns = "item_k", referenced = "k" }):order(table.unpack(note_terms)):as "note"
  local first_item = ("SELECT item.u %s WHERE shop.u = %%d ORDER BY %s LIMIT 1"):format(shop_items, item_order)
  local first_note = ("SELECT note.u FROM note WHERE item.k = note.item_k ORDER BY %s LIMIT 1"):format(note_order)
  if kind == 1 then return item, first_item end
  if kind == 2 then
    return Shop:has_one(Note, { through = item, using = note }):as "one",
      ("SELECT (%s) AS u FROM item WHERE item.u = (%s)"):format(first_note, first_item)
  end
  if kind == 3 then
    return Shop:has_one(Note, { through = Shop.items, using = note }):as "one",
      ("SELECT note.u %s JOIN note ON note.u = (%s) WHERE shop.u = %%d ORDER BY %s LIMIT 1"):format(shop_items, first_note, note_order)
  end
  return Shop:has_one(Note, { through = Shop.items, using = Item.notes }):order(table.unpack(note_terms)):as "one",
    ("SELECT note.u %s JOIN note ON item.k = note.item_k WHERE shop.u = %%d ORDER BY %s LIMIT 1"):format(shop_items, note_order)
end

local function check_first(classes)
  local association, sql = first_row(classes)
  local Shop, expected, found, called, count = classes.Shop, {}, {}, {}, 0
  local function text(row) return tostring(row and row.u) end
  for index, shop in ipairs(Shop:order("u"):fetch_all()) do
    expected[index] = tostring(db:fetch_value(sql:format(shop.u)))
    called[index] = text(association(shop):fetch_one())
    if expected[index] ~= "nil" then count = count + 1 end
  end
  expected = table.concat(expected, " ")
  check_same("the first row of a record", sql, table.concat(called, " "), expected)
  for _, method in ipairs{ "including_optional", "including_all" } do
    for index, shop in ipairs(Shop[method](Shop, association):order("u"):fetch_all()) do found[index] = text(shop.one) end
    check_same(method, sql, table.concat(found, " "), expected)
  end
  check_same("including_required", sql, #Shop:including_required(association):fetch_all(), count)
  check_same("joining_required", sql, Shop:joining_required(association):fetch_count(), count)
  check_same("joining_optional", sql, Shop:joining_optional(association):fetch_count(), Shop:fetch_count())
end

test("random distinct requests over nullable text keys match SQL", function()
  for _ = 1, rounds(60) do
    local classes = make()
    for _ = 1, 10 do check_request(classes) end
  end
end)

test("random associations by nullable text keys match SQL", function()
  for _ = 1, rounds(60) do
    local classes = make()
    for _ = 1, 10 do check_association(classes) end
  end
end)

test("random has_one associations by nullable text keys match SQL", function()
  for _ = 1, rounds(60) do
    local classes = make()
    for _ = 1, 10 do check_first(classes) end
  end
end)

test("a limit of distinct rows counts equal rows once, and writes all of them", function()
  for _, key in ipairs{ "code TEXT PRIMARY KEY", "code TEXT" } do
    db:execute("DROP TABLE IF EXISTS loose; CREATE TABLE loose (" .. key .. ", name TEXT, mark INTEGER DEFAULT 0)")
    db:execute "INSERT INTO loose (code, name) VALUES (NULL, 'a'), (NULL, 'a'), (NULL, NULL), ('x', 'b'), (NULL, NULL)"
    local Loose = perilune.record "loose"
    local rows = Loose:order("name", "code"):distinct():limit(2)
    local marked = #rows:fetch_all() == 2 and rows:update_all{ mark = 1 }.changed_rows
    equal(marked, 4)
  end
end)
