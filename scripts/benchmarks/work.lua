--- The work of all contestants written in Lua: the SQL, the sizes and the order of keys.
local work = {}

--- The number of repetitions of each measure within a process.
work.repetitions = 3

--- The share of the usual work: all of it, or less when each instruction is counted.
local share = tonumber(os.getenv("BENCHMARK_SHARE")) or 1

local function part_of(count) return math.tointeger(count * share // 1) end

work.select_all = "SELECT id, name, price, quantity, note FROM product"
work.select_one = "SELECT id, name, price, quantity, note FROM product WHERE id = ?"
work.insert = "INSERT INTO sale (id, name, price, quantity, note) VALUES (?, ?, ?, ?, ?)"
work.stream = ([[
  WITH RECURSIVE number(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < %d)
  SELECT id, 'Product ' || id AS name, id * 0.25 AS price, id % 100 AS quantity FROM number]]):gsub("%%d", part_of(1000000))

work.create_sale = [[
  DROP TABLE IF EXISTS sale;
  CREATE TABLE sale (id INTEGER PRIMARY KEY, name TEXT, price REAL, quantity INTEGER, note TEXT)]]

--- The table that is read: 200,000 rows of five mixed columns. A third of the notes is NULL, a third short and repeated, and a
-- third longer than the strings that Lua interns.
work.create_product = ([[
  CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, quantity INTEGER, note TEXT);
  WITH RECURSIVE number(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < %d)
  INSERT INTO product
  SELECT id, 'Product ' || id, id * 0.25 + 0.125, id * 7919 % 1000,
    CASE id % 3 WHEN 1 THEN 'in stock' WHEN 2 THEN 'ordered from the supplier, expected in week ' || id END
  FROM number;
  CREATE INDEX product_on_quantity ON product (quantity)]]):gsub("%%d", part_of(200000))

work.select_ten = "SELECT id, name, price, quantity, note FROM product WHERE quantity = ? ORDER BY id LIMIT ?"

work.insert_count = part_of(100000)
work.select_count = part_of(200000)
work.autocommit_select_count = part_of(50000)
work.request_count = part_of(20000)
work.form_count = part_of(2000)
work.including_count = part_of(20)

--- Selects `count` rows by key, with `getter:fetch_one(id)`, and returns the sum of their quantities. The keys are scattered over
-- 10,000 rows, which fit the page cache, so that the cost of calls is measured, not of reading the file.
function work.select_each(count, getter)
  local sum, id = 0, 1
  for _ = 1, count do
    id = id * 7919 % 10007 + 1
    sum = sum + getter:fetch_one(id).quantity
  end
  return sum
end

--- Selects the same rows with the SQL text passed in each call: `database:fetch_one(sql, id)`.
function work.select_each_by_text(count, database)
  local sum, id, sql = 0, 1, work.select_one
  for _ = 1, count do
    id = id * 7919 % 10007 + 1
    sum = sum + database:fetch_one(sql, id).quantity
  end
  return sum
end

--- Iterates over rows, as in `last_of(db:rows(sql))`, and returns their number and the last id.
function work.last_of(next_row, state, control, cursor)
  local count, last = 0, nil
  for row in next_row, state, control, cursor do count, last = count + 1, row.id end
  return count .. "/" .. last
end

local names, notes = {}, {}
for i = 0, 999 do
  names[i] = "Product " .. i
  if i % 3 ~= 0 then notes[i] = "a note about the product " .. i end
end

--- Iterates over the rows to insert: id, name, price, quantity, note.
function work.sales()
  local id = 0
  return function()
    id = id + 1
    if id > work.insert_count then return nil end
    local kind = id % 1000
    return id, names[kind], id * 0.25, kind, notes[kind]
  end
end

--- A quantity of 200 products.
work.one_quantity = 77

--- Fetches ten products with a quantity, many times, with `fetch(quantity)`; returns the number of products.
function work.request_each(fetch)
  local count = 0
  for i = 1, work.request_count do count = count + #fetch(i % 1000) end
  return count
end

local form = 0

--- Calls `fetch(form, quantity)` several times. Each call fetches 10 rows with a query that the process has not used before, because `form`
-- is a new number. Returns the number of rows.
function work.form_each(fetch)
  local count = 0
  for i = 1, work.form_count do
    form = form + 1
    count = count + #fetch(form, i % 1000)
  end
  return count
end

--- Returns the SQL of a query that is different for each form.
function work.select_form(form)
  return ("SELECT id, price AS price_%d FROM product WHERE quantity = ? ORDER BY id LIMIT ?"):format(form)
end

--- Fetches all invoices with their lines several times, with `fetch()`; returns the number of lines.
function work.including_each(fetch)
  local count = 0
  for _ = 1, work.including_count do
    for _, invoice in ipairs(fetch()) do count = count + #invoice.lines end
  end
  return count
end

--- Returns a clock for elapsed time. Milliseconds are precise enough, because measured work takes at least a tenth of a second.
function work.wall(db)
  return function() return db:fetch_value("SELECT julianday('now') * 86400.0") end
end

--- Inserts the rows with `inserter:execute(id, name, price, quantity, note)`. The strings are created before.
function work.insert_each(inserter)
  for id = 1, work.insert_count do
    local kind = id % 1000
    inserter:execute(id, names[kind], id * 0.25, kind, notes[kind])
  end
  return work.insert_count
end

--- The number of rows that `work.insert_many` inserts.
work.rows_of_many = 100

work.insert_many = work.insert .. (", (?, ?, ?, ?, ?)"):rep(work.rows_of_many - 1)

--- Inserts the same rows, many with each `inserter:execute(...)` of `work.insert_many`.
function work.insert_many_each(inserter)
  local values, count = {}, 0
  for id, name, price, quantity, note in work.sales() do
    values[count + 1], values[count + 2], values[count + 3], values[count + 4], values[count + 5] = id, name, price, quantity, note
    count = count + 5
    if count == 5 * work.rows_of_many then
      inserter:execute(table.unpack(values, 1, count))
      count = 0
    end
  end
  return work.insert_count
end

return work
