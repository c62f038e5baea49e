--- Change tracking is compared with SQLite: a field has changed if the column stores another value, or the same value in another storage
--- class.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261127)

-- In columns declared BLOB, strings are bytes.
local types = { "", "INTEGER", "REAL", "TEXT", "NUMERIC", "DECIMAL(10, 2)", "VARCHAR(10)", "ANYTHING" }
local whole = { 0, 1, -1, 7, 2 ^ 53, -2 ^ 53, 1e15, 1e16, 123456789012345, 2 ^ 63, -2 ^ 63, 1e300 }

local function value()
  local kind = random(10)
  if kind == 1 then return pick{ true, false } end
  if kind == 2 then return pick{ 0.5, 0.1 + 0.2, 1e-7, 1 / 3, 100.25, 5e-324 } end
  if kind == 3 then return pick{ "", "a", "1", "1.0", " 1", "1 ", "+1", ".5", "1e3", "1e", "0x10", "inf", "nan", "-", "9223372036854775808", "1.5" } end
  if kind == 4 then return pick{ math.maxinteger, math.mininteger, 9007199254740993 } end
  if kind == 5 then return pick{ perilune.blob("1"), perilune.blob(""), perilune.blob("a") } end
  local number = pick(whole)
  return random(2) == 1 and math.tointeger(number) or number
end

--- Returns the form of a value in a column, by SQLite: its class and all its digits.
local function stored(column)
  return db:fetch_value("SELECT typeof(" .. column .. ") || ' ' || CASE typeof(" .. column .. ") WHEN 'real' THEN printf('%!.17g', " .. column
    .. ") ELSE hex(" .. column .. ") || " .. column .. " END FROM t")
end

test("update_changes writes what SQLite would store differently, and nothing else", function()
  local columns = {}
  for index, declared in ipairs(types) do columns[index] = "c" .. index .. " " .. declared end
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, " .. table.concat(columns, ", ") .. ")")
  local T = perilune.record("t", { check_types = false })
  for round = 1, 3000 do
    local index = random(#types)
    local column, before, after = "c" .. index, value(), value()
    db:execute("DELETE FROM t")
    db:execute("INSERT INTO t (id, " .. column .. ") VALUES (1, ?)", before)
    local record, former = T:find(1), stored(column)
    record[column] = after
    local has_written = record:update_changes()
    local found = stored(column)
    db:execute("UPDATE t SET " .. column .. " = ?", after)
    local wanted = stored(column)
    -- In a column that is not declared for bytes, a blob is read as a string and written back as text.
    if type(before) ~= "userdata" and type(after) ~= "userdata" then
      equal({ round, types[index], before, after, found, has_written }, { round, types[index], before, after, wanted, wanted ~= former })
    end
  end
end)

test("a float that replaces an equal integer is written to a column without a type", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, v, r REAL, i INTEGER)"
  local T = perilune.record("t")
  local record = T{ v = 1, r = 1.0, i = 1 }:insert()
  record.v, record.r, record.i = 1.0, 1, 1.0
  equal(record:update_changes(), true)
  equal(db:fetch_value "SELECT typeof(v) || typeof(r) || typeof(i) FROM t", "realrealinteger")
  equal(record:update_changes(), false)
  equal(T:find(1):has_changes(), false)
end)
