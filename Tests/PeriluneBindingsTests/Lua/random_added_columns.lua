--- Random changes of tables with added columns, whose older rows do not store them. Observers and changesets are compared with the rows
--- that SELECT reads.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20261128)

local types = { "", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "VARCHAR(10)", '"odd type"' }
local strict_types = { "INTEGER", "REAL", "TEXT", "BLOB", "ANY" }
local defaults = {
  "7", "-7", "+7", "0", "1.5", "-2.0", "7e3", "'abc'", "'5'", "'5.0'", "''", "'it''s'", "x''", "x'00ff'", "NULL", "TRUE", "FALSE", "(7)",
  "(-(-5))", "(NULL)", "(CAST('12' AS INTEGER))", "(CAST(7 AS TEXT))", "plain", '"quoted"', "9223372036854775807", "-9223372036854775808",
  "1e300", "'é€'", "0x10", "(5 /* ) */)",
}
local strict_defaults = {
  INTEGER = { "7", "-7", "(7)", "TRUE" }, REAL = { "7", "-2.5" }, TEXT = { "'5'", "5" }, BLOB = { "x'00ff'" }, ANY = { "'5.0'", "5.0", "' 5 '" },
}

local function describe(value)
  return (math.type(value) or type(value)) .. " " .. tostring(value)
end

--- A row as text, without the columns that are NULL.
local function row_text(row)
  local parts = {}
  for name, value in pairs(row) do
    if value ~= nil and value ~= perilune.null then parts[#parts + 1] = name .. "=" .. describe(value) end
  end
  table.sort(parts)
  return table.concat(parts, "|")
end

--- The rows of all tables, by table and key.
local function rows_of(database)
  local rows = {}
  for _, name in ipairs{ "thing", "copied thing", "word", "part" } do
    rows[name] = {}
    for _, row in ipairs(database:fetch_all('SELECT * FROM "' .. name .. '"')) do rows[name][describe(row.id)] = row_text(row) end
  end
  return rows
end

local function insert(database, count)
  for _ = 1, count do
    database:execute("INSERT OR IGNORE INTO thing (u, b) VALUES (?, ?)", random(30), pick{ 1, "x", perilune.null })
    database:execute("INSERT OR IGNORE INTO word (id, b) VALUES (?, NULL)", "w" .. random(20))
    database:execute("INSERT OR IGNORE INTO part (id, thing_id) SELECT ?, id FROM thing ORDER BY id LIMIT 1 OFFSET ?", random(30), random(5))
  end
end

local function add_column(database, number, is_strict)
  local kind = is_strict and pick(strict_types) or pick(types)
  local default = pick(is_strict and strict_defaults[kind] or defaults)
  -- Rows that do not store such a column read an integer, but writing this integer stores a text.
  local is_text = kind == "TEXT" or kind:find "^VARCHAR"
  if is_text and (default == "TRUE" or default == "FALSE") then default = "'true'" end
  -- With other columns in the copy, INSERT ... SELECT would not copy the stored bytes of rows.
  for _, name in ipairs{ "thing", '"copied thing"', "word", "part" } do
    database:execute(('ALTER TABLE %s ADD COLUMN "added %d" %s DEFAULT %s'):format(name, number, kind, default))
  end
end

local function make_database(is_strict, unique)
  local database = perilune.queue()
  local any, options = is_strict and "ANY" or "", is_strict and "STRICT" or ""
  for _, name in ipairs{ "thing", '"copied thing"' } do
    database:execute(("CREATE TABLE %s (id INTEGER PRIMARY KEY, u %s %s, b %s) %s"):format(name, any, unique, any, options))
  end
  database:execute(([[
    CREATE TABLE word (id TEXT PRIMARY KEY, b %s) WITHOUT ROWID%s;
    CREATE TABLE part (id INTEGER PRIMARY KEY, thing_id INTEGER REFERENCES thing ON DELETE %s ON UPDATE CASCADE) %s;
    CREATE TRIGGER changing AFTER UPDATE OF b ON thing WHEN new.id %% 2 = 0 BEGIN
      UPDATE word SET b = new.b WHERE id = 'w' || new.id;
      DELETE FROM word WHERE id = 'w' || (new.id + 1);
    END]]):format(any, is_strict and ", STRICT" or "", pick{ "CASCADE", "SET NULL" }, options))
  for number = 1, 6 do
    insert(database, 5)
    add_column(database, number, is_strict)
  end
  insert(database, 5)
  return database
end

local function change(database)
  database:execute('INSERT INTO "copied thing" SELECT * FROM thing')
  for _ = 1, 12 do
    local id, other = random(25), random(60)
    local statements = {
      { "UPDATE thing SET b = ? WHERE id = ?", other, id },
      { "UPDATE OR REPLACE thing SET u = ? WHERE id = ?", other, id },
      { "UPDATE OR IGNORE thing SET id = ? WHERE id = ?", other, id },
      { "REPLACE INTO thing (id, u) VALUES (?, ?)", id, other },
      { "INSERT INTO thing (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET b = 'upserted'", id },
      { "DELETE FROM thing WHERE id = ?", id },
      { "UPDATE OR REPLACE word SET id = 'w' || ? WHERE id = 'w' || ?", other, id },
      { "REPLACE INTO word (id) VALUES ('w' || ?)", id },
      { "DELETE FROM word WHERE id = 'w' || ?", id },
      { 'UPDATE "copied thing" SET b = ? WHERE id = ?', other, id },
    }
    database:execute(table.unpack(pick(statements)))
  end
end

--- Observes the changes of a database, and applies them to its earlier rows.
local function replay(database)
  local rows, count = rows_of(database), 0
  database:observe_transactions{
    on_change = function(event)
      local known = rows[event.table]
      count = count + 1
      if event.old then
        equal(row_text(event.old), known[describe(event.old.id)])
        known[describe(event.old.id)] = nil
      end
      if event.new then known[describe(event.new.id)] = row_text(event.new) end
    end,
  }
  return rows, function() return count end
end

test("observers receive the rows that SELECT reads, if columns were added", function()
  local count = 0
  for round = 1, rounds(40) do
    local database = make_database(round % 3 == 0, "UNIQUE")
    local rows, counted = replay(database)
    change(database)
    equal(rows, rows_of(database))
    count = count + counted()
    database:close()
  end
  equal(count > 1000, true)
end)

test("inverted changesets restore all values, if columns were added", function()
  for round = 1, rounds(40) do
    -- Without UNIQUE, because changesets cannot swap unique values of two rows.
    local database = make_database(round % 3 == 0, "")
    local before = rows_of(database)
    local changeset = database:record_changes(change)
    local after = rows_of(database)
    database:apply_changes(changeset:inverted())
    equal(rows_of(database), before)
    database:apply_changes(changeset)
    equal(rows_of(database), after)
    database:close()
  end
end)
