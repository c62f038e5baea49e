--- Random walks through keyset pages visit each row once, and pages match a naive evaluation even if rows are added and removed.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261101)

-- Data ------------------------------------------------------------------------------------------------------------------------

local texts = { "", "a", "A", "b", "z'", "é" }
local columns = { "a", "b", "x", "s" }

local function random_row(id)
  return {
    id = id, a = random(4) > 1 and random(3) or nil, b = random(3), x = random(5) > 1 and pick{ -1.5, 0.0, 2.5 } or nil,
    s = random(4) > 1 and pick(texts) or nil,
  }
end

local function make_plain()
  db:execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL, x REAL, s TEXT)")
  return perilune.record("thing")
end

--- With an index for each order, SQLite searches the rows after a cursor; without one, it sorts all of them.
local function make_indexed()
  local Class = make_plain()
  for _, column in ipairs(columns) do db:execute(("CREATE INDEX by_%s ON thing (%s)"):format(column, column)) end
  db:execute"CREATE INDEX by_several ON thing (b, a DESC, s); CREATE INDEX by_others ON thing (s DESC, x)"
  return Class
end

local function make_named()
  db:execute([[CREATE TABLE thing ("rowNumber" INTEGER PRIMARY KEY, "columnA" INTEGER, b INTEGER NOT NULL, "X" REAL, "group" TEXT)]])
  return perilune.record("thing", {
    fields = { id = "rowNumber", a = "columnA", x = { column = "X", lazy = true }, s = { column = "group" } },
  })
end

local function fill(Class, count)
  local rows, list = {}, {}
  for id = 1, count do rows[id] = random_row(id) end
  for index, row in ipairs(rows) do list[index] = Class(row) end
  Class:insert_all(list)
  return rows
end

-- Orders: NULL first by default; the key last ----------------------------------------------------------------------------------------

local function random_orders(Class)
  local orders, terms, known = {}, {}, {}
  for _ = 1, random(4) - 1 do
    local column = pick(columns)
    if not known[column] then
      known[column] = true
      local order = { column = column, descends = random(2) == 1, nulls_first = pick{ "unsaid", true, false } }
      local term = random(2) == 1 and Class.c[column] or perilune.column(column)
      if order.descends then term = term:desc() end
      if order.nulls_first == "unsaid" then order.nulls_first = not order.descends
      elseif order.nulls_first then term = term:nulls_first() else term = term:nulls_last() end
      orders[#orders + 1], terms[#terms + 1] = order, term
    end
  end
  if random(2) == 1 then
    local descends = random(2) == 1
    orders[#orders + 1] = { column = "id", descends = descends }
    terms[#terms + 1] = descends and Class.c.id:desc() or Class.c.id
  else
    -- The implicit key is descending only if all orders are.
    local descends = #orders > 0
    for _, order in ipairs(orders) do descends = descends and order.descends end
    orders[#orders + 1] = { column = "id", descends = descends }
  end
  return orders, terms
end

local function comparer(orders)
  return function(left, right)
    for _, order in ipairs(orders) do
      local a, b = left[order.column], right[order.column]
      if a ~= b then
        if a == nil or b == nil then return (a == nil) == order.nulls_first end
        return a < b ~= order.descends
      end
    end
    return false
  end
end

local function sorted(rows, orders, holds)
  local list = {}
  for _, row in pairs(rows) do
    if holds(row) then list[#list + 1] = row end
  end
  table.sort(list, comparer(orders))
  return list
end

local function ids(list, first, last)
  local parts = {}
  for index = first or 1, last or #list do parts[#parts + 1] = list[index].id end
  return table.concat(parts, " ")
end

local function random_request(Class)
  local orders, terms = random_orders(Class)
  local request, holds = Class:all(), function() return true end
  if random(2) == 1 then
    local least = random(3)
    request, holds = request:filter(Class.c.b:ge(least)), function(row) return row.b >= least end
  end
  if #terms > 0 then request = request:order(terms) end
  return request, orders, holds
end

local function check(request, what, expected, got)
  if expected ~= got then error(("%s\n%s\nexpected: %s\ngot: %s"):format(tostring(request), what, expected, got)) end
end

--- Walks through all pages and back again.
local function walk(request, expected, size)
  local cursor, position, last = nil, 0, nil
  repeat
    local page = request:page_after(cursor, size)
    check(request, "page behind " .. position, ids(expected, position + 1, math.min(position + size, #expected)), ids(page.records))
    position, cursor, last = position + #page.records, page.next, page
  until not cursor
  equal(position, #expected)
  position = #expected - #last.records
  while last.previous do
    last = request:page_before(last.previous, size)
    check(request, "page before " .. position, ids(expected, math.max(position - size + 1, 1), position), ids(last.records))
    position = position - #last.records
  end
  equal(position, 0)
end

local function check_walks(make, count)
  local Class = make()
  local rows = fill(Class, 30)
  db:read(function()
    for _ = 1, count do
      local request, orders, holds = random_request(Class)
      walk(request, sorted(rows, orders, holds), random(7))
    end
  end)
end

local function check_changes(make, count)
  local Class = make()
  local rows, next_id = fill(Class, 30), 31
  for _ = 1, count do
    local request, orders, holds = random_request(Class)
    local page = request:page_after(nil, random(8))
    local last = page.records[#page.records] and rows[page.records[#page.records].id]
    for _ = 1, random(3) do
      local gone = random(next_id - 1)
      if rows[gone] then
        Class:delete_one(gone)
        rows[gone] = nil
      end
      rows[next_id] = random_row(next_id)
      Class:insert(rows[next_id])
      next_id = next_id + 1
    end
    if page.next then
      local before, size = comparer(orders), random(8)
      local expected = sorted(rows, orders, function(row) return holds(row) and before(last, row) end)
      check(request, "behind " .. last.id, ids(expected, 1, math.min(size, #expected)), ids(request:page_after(page.next, size).records))
    end
  end
end

test("the pages of 100 random requests contain all rows in order", function() check_walks(make_plain, 100) end)
test("the pages of 100 random requests over indexed columns contain all rows in order", function() check_walks(make_indexed, 100) end)
test("the pages of 100 random requests over renamed fields contain all rows in order", function() check_walks(make_named, 100) end)
test("rows can be added and removed between 200 random pages", function() check_changes(make_plain, 200) end)
test("rows can be added and removed between 200 random pages with indexes", function() check_changes(make_indexed, 200) end)
test("rows can be added and removed between 200 random pages over renamed fields", function() check_changes(make_named, 200) end)
