--- Random tables: every way to read a column, and every write that returns it, gives the value with which the row was filled. The types,
-- the order and the names of columns are random, and tables share names.

local random, pick = random_numbers(20261129)

local color = perilune.enum{ "red", "green" }
local half = {
  from_database = function(value) return value / 2 end, to_database = function(value) return math.tointeger(value * 2) end,
}

--- Kinds of columns: their declared type, and pairs of a value in SQL and the text of the value in Lua. Columns of a `type` need it as
-- option of the class.
local kinds = {
  { declared = "INTEGER", values = { { "0", "0" }, { "-7", "-7" }, { "9007199254740993", "9007199254740993" } } },
  { declared = "REAL", values = { { "2", "2.0" }, { "1.5", "1.5" } } },
  { declared = "TEXT", values = { { "''", "" }, { "'a'", "a" }, { "'12'", "12" } } },
  { declared = "BLOB", values = { { "x'00ff'", "\0\xff" } } },
  { declared = "BOOLEAN", values = { { "0", "false" }, { "1", "true" } } },
  { declared = "DATE", values = { { "'2026-03-31'", "2026-03-31 00:00:00.000" } } },
  { declared = "DATETIME", values = { { "'2026-03-31 10:00:00'", "2026-03-31 10:00:00.000" } } },
  { declared = "TEXT", type = color, values = { { "'red'", "red" }, { "'green'", "green" } } },
  { declared = "INTEGER", type = half, values = { { "3", "1.5" }, { "4", "2.0" } } },
}
local names = { "order", "a b", 'q"q', "at", "count", "c", "select" }

local function quoted(name) return '"' .. name:gsub('"', '""') .. '"' end

--- Returns a table with a class, its columns (`field`, `kind`), and rows: for each column a value of its kind, or nil for NULL.
local function make_table(name)
  local columns, types, definitions = {}, {}, {}
  local free = table.move(names, 1, #names, 1, {})
  for index = 1, random(5) + 1 do
    local column = { field = table.remove(free, random(#free)), kind = pick(kinds) }
    columns[index], types[column.field] = column, column.kind.type
    definitions[index] = quoted(column.field) .. " " .. column.kind.declared
  end
  table.insert(definitions, random(#definitions + 1), "id INTEGER PRIMARY KEY")
  table.insert(definitions, "mark INTEGER DEFAULT 9007199254740993")
  db:execute(("CREATE TABLE %s (%s)"):format(name, table.concat(definitions, ", ")))
  return { name = name, columns = columns, rows = {}, class = perilune.record(name, next(types) and { types = types } or nil) }
end

local function fill(t, count)
  for id = 1, count do
    local row, fields, values = {}, { "id" }, { tostring(id) }
    for index, column in ipairs(t.columns) do
      row[index] = random(4) > 1 and pick(column.kind.values) or nil
      fields[#fields + 1], values[#values + 1] = quoted(column.field), row[index] and row[index][1] or "NULL"
    end
    t.rows[id] = row
    db:execute(("INSERT INTO %s (%s) VALUES (%s)"):format(t.name, table.concat(fields, ", "), table.concat(values, ", ")))
  end
end

--- Compares a value with the one with which the row was filled.
local function check(way, t, id, index, value)
  local wanted, column = t.rows[id][index], t.columns[index]
  if value == perilune.null then value = nil end
  -- Records return bytes as strings, as rows do.
  if tostring(value) == (wanted and wanted[2] or "nil") then return end
  error(("%s: %s %s of row %d: expected %s, got %s"):format(way, column.field, column.kind.declared, id, wanted and wanted[2], tostring(value)), 0)
end

local function check_record(way, t, record)
  equal(math.type(record.id), "integer")
  for index, column in ipairs(t.columns) do check(way, t, record.id, index, record[column.field]) end
  if record:has_changes() then error(way .. ": changes of " .. tostring(next(record:changes())), 0) end
end

--- Returns the names of all columns, and a function that checks a row that contains the id followed by their values.
local function all_columns(t)
  local fields = {}
  for index, column in ipairs(t.columns) do fields[index] = column.field end
  return fields, function(way, id, values)
    equal(math.type(id), "integer")
    for index in ipairs(t.columns) do check(way, t, id, index, values(index)) end
  end
end

local function check_reads(t)
  local Class = t.class
  local fields, check_row = all_columns(t)
  for _, record in ipairs(Class:fetch_all()) do check_record("fetch_all", t, record) end
  local selected = Class:select("id", table.unpack(fields))
  for _, row in ipairs(selected:fetch_all()) do check_row("select", row.id, function(index) return row[index + 1] end) end
  for row in selected:rows() do check_row("rows", row.id, function(index) return row[index + 1] end) end
  for _, row in ipairs(Class:pluck("id", table.unpack(fields))) do check_row("pluck", row[1], function(index) return row[index + 1] end) end
  for index, field in ipairs(fields) do
    for value, id in Class:select(field, "id"):tuples() do check("tuples", t, id, index, value) end
    for id, value in ipairs(Class:order("id"):pluck(field)) do check("pluck of one", t, id, index, value) end
  end
end

local function check_writes(t)
  local Class = t.class
  local fields, check_row = all_columns(t)
  local all = { "id", "mark", table.unpack(fields) }
  local function check_rows(way, rows)
    for _, row in ipairs(rows) do check_row(way, row.id, function(index) return row[index + 2] end) end
    equal(math.type(rows[1].mark), "integer")
  end
  for _, record in ipairs(Class:all():update_all({ mark = 1 }, { returning = true })) do check_record("update_all", t, record) end
  check_rows("update_all of columns", Class:all():update_all({ mark = Class.c.mark + 9007199254740992 }, { returning = all }))
  local id = random(#t.rows)
  local record = Class:find(id)
  check_record("update", t, record:update{ returning = "all" })
  record:upsert()
  check_record("upsert", t, record)
  check_rows("upsert_all", Class:upsert_all({ record }, { returning = all }))
  local copy = Class:draft(Class:find(id))
  copy.id = #t.rows + 1
  t.rows[copy.id] = t.rows[id]
  local inserted = Class:insert(copy)
  equal(inserted.mark, 9007199254740993)
  check_record("insert", t, inserted)
  check_record("find", t, Class:find(inserted.id))
  check_record("delete_all", t, Class:filter_key(inserted.id):delete_all{ returning = true }[1])
  t.rows[inserted.id] = nil
end

--- Joins two tables, whose columns may have the same names.
local function check_joins(left, right)
  local joined = left.class:join(right.class, right.class.c.id:eq(left.class.c.id))
  local left_index, right_index = random(#left.columns), random(#right.columns)
  local left_column, right_column = left.class.c[left.columns[left_index].field], right.class.c[right.columns[right_index].field]
  local selected = joined:order(left.class.c.id):select(left_column, right_column)
  for id, row in ipairs(selected:fetch_all()) do
    check("first of a join", left, id, left_index, row[1])
    check("second of a join", right, id, right_index, row[2])
  end
  local id = 0
  for first, second in selected:tuples() do
    id = id + 1
    check("first of tuples", left, id, left_index, first)
    check("second of tuples", right, id, right_index, second)
  end
end

test("columns of random tables have the same values in all reads and writes", function()
  for _ = 1, rounds(30) do
    local left, right = make_table("one"), make_table("two")
    fill(left, 4)
    fill(right, 4)
    check_reads(left)
    check_writes(left)
    check_reads(left)
    check_joins(left, right)
    db:execute"DROP TABLE one; DROP TABLE two"
  end
end)
