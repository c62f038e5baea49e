-- A tour of the database API, from creating tables to prepared statements.
--
--     perilune run wines.lua
--
-- `db` is the default database: a private database in memory, which is empty at the start and discarded at the end, unless
-- --database names a file.

local function section(title)
  print("\n-- " .. title)
end

-- NULL is nil in Lua; this prints it as a visible text.
local function shown(value)
  return value == nil and "unknown" or tostring(value)
end

section("Creating tables")

-- `execute` runs one or more statements. `write` runs its function in a single transaction.
db:write(function(db)
  db:execute[[
    CREATE TABLE winery (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      country TEXT NOT NULL
    );
    CREATE TABLE wine (
      id INTEGER PRIMARY KEY,
      winery_id INTEGER NOT NULL REFERENCES winery (id),
      name TEXT NOT NULL,
      vintage INTEGER,
      price REAL NOT NULL CHECK (price > 0),
      is_sparkling BOOLEAN NOT NULL DEFAULT 0,
      label BLOB,
      UNIQUE (winery_id, name, vintage)
    );
  ]]
end)
print("winery:", db:table_exists("winery"))
print("cellar:", db:table_exists("cellar"))

section("Inserting")

-- Values never belong in the SQL text: each ? takes the next argument, so quotes in a value are harmless.
local quinta = db:execute("INSERT INTO winery (name, country) VALUES (?, ?)", "Quinta d'Águas", "Portugal")
print("inserted winery", quinta.inserted_rowid, "rows changed:", quinta.changed_rows)

-- A list works like separate arguments, which helps when the values come from elsewhere.
local lerchenhof = db:execute("INSERT INTO winery (name, country) VALUES (?, ?)", { "Lerchenhof", "Austria" })

-- Names make long statements readable: :vintage takes the field `vintage`. A name without a value is an error, and so is
-- a value without a name, so that a typo never writes NULL silently.
local insert_wine = [[
  INSERT INTO wine (winery_id, name, vintage, price, is_sparkling)
  VALUES (:winery_id, :name, :vintage, :price, :is_sparkling)]]
db:execute(insert_wine, {
  winery_id = quinta.inserted_rowid, name = "Tinto da Serra", vintage = 2017, price = 11.5, is_sparkling = false,
})
db:execute(insert_wine, {
  winery_id = quinta.inserted_rowid, name = "Espuma", vintage = 2020, price = 14, is_sparkling = true,
})
-- Lua tables cannot contain nil, so tables need a separate value for NULL.
db:execute(insert_wine, {
  winery_id = lerchenhof.inserted_rowid, name = "Grüner Morgen", vintage = perilune.null, price = 8.9,
  is_sparkling = false,
})
print("wines:", db:fetch_value("SELECT COUNT(*) FROM wine"))

section("Fetching")

-- fetch_all returns a list of rows, each a table with the columns as fields.
for _, wine in ipairs(db:fetch_all("SELECT name, vintage, price FROM wine ORDER BY price")) do
  print(wine.name, shown(wine.vintage), wine.price)
end

-- fetch_one returns the first row, or nil if there is none. Columns declared as BOOLEAN are booleans, because the number 0
-- counts as true in Lua.
local espuma = db:fetch_one("SELECT * FROM wine WHERE name = ?", "Espuma")
if espuma.is_sparkling then print(espuma.name .. " sparkles") end
print("a wine that we do not have:", db:fetch_one("SELECT * FROM wine WHERE name = ?", "Retsina"))

-- fetch_value returns the first column of the first row, fetch_values that of all rows, and fetch_set the same as a set.
print("dearest:", db:fetch_value("SELECT MAX(price) FROM wine"))
print("names:", table.concat(db:fetch_values("SELECT name FROM wine ORDER BY name"), ", "))
local countries = db:fetch_set("SELECT country FROM winery")
print("from Austria:", countries["Austria"], "from Chile:", countries["Chile"] or false)

-- rows and tuples read one row at a time, so that results of any size fit in memory. A tuple consists of the columns as
-- separate values, without a table, which is the fastest way to read.
for row in db:rows("SELECT name, price * 6 AS crate FROM wine ORDER BY id") do
  print(("%s: %.2f a crate"):format(row.name, row.crate))
end
local sql = "SELECT winery.name, COUNT(*) FROM wine JOIN winery ON winery.id = winery_id GROUP BY winery.id ORDER BY 1"
for winery, count in db:tuples(sql) do
  print(winery, count)
end

-- NULL reads as nil. `IS ?` also compares with NULL, while `= ?` never matches it; an argument that is nil means NULL.
print("without a vintage:", db:fetch_value("SELECT name FROM wine WHERE vintage IS ?", nil))

section("Binary data")

-- Strings are written as text. perilune.blob marks a string as binary; it is read as the same string, byte for byte.
local image = "\0\1\xFE\xFF"
db:execute("UPDATE wine SET label = ? WHERE id = ?", perilune.blob(image), espuma.id)
local stored = db:fetch_one("SELECT typeof(label) AS type, label FROM wine WHERE id = ?", espuma.id)
print(stored.type, #stored.label .. " bytes", "the same: " .. tostring(stored.label == image))

section("Transactions")

local function average_price(db)
  return ("%.2f"):format(db:fetch_value("SELECT AVG(price) FROM wine"))
end

-- `read` provides a constant view of the database, and returns the results of its function.
print("average price:", db:read(average_price))

-- An error inside `write` rolls back everything, and is raised again; here pcall catches it.
local ok, message = pcall(db.write, db, function(db)
  db:execute("DELETE FROM wine")
  error("the cellar is locked", 0)
end)
print(ok, message)
print("wines:", db:fetch_value("SELECT COUNT(*) FROM wine"))

-- in_transaction lets its function decide: it rolls back if the function returns "rollback".
local function raise_prices(limit)
  db:in_transaction("immediate", function(db)
    db:execute("UPDATE wine SET price = price * 1.2")
    local dearest = db:fetch_value("SELECT MAX(price) FROM wine")
    if dearest > limit then return "rollback" end
  end)
  return db:fetch_value("SELECT MAX(price) FROM wine")
end
print("up to 15:", raise_prices(15))
print("up to 20:", raise_prices(20))

-- A savepoint is a transaction inside a transaction, which can be rolled back separately.
db:write(function(db)
  db:execute("UPDATE wine SET price = 10 WHERE name = 'Grüner Morgen'")
  db:in_savepoint(function(db)
    db:execute("UPDATE wine SET price = 1")
    return "rollback"
  end)
end)
print("prices:", table.concat(db:fetch_values("SELECT price FROM wine ORDER BY id"), ", "))

section("Errors")

-- A database error is an object: `kind` is for programs, `message` for people, `sql` is the statement.
local function attempt(sql, ...)
  local ok, err = pcall(db.execute, db, sql, ...)
  if not ok then print(err.kind, err.message) end
end
attempt("INSERT INTO winery (name, country) VALUES (?, ?)", "Lerchenhof", "Germany")
attempt("INSERT INTO winery (name, country) VALUES (?, ?)", "Nowhere", nil)
attempt("INSERT INTO wine (winery_id, name, price) VALUES (?, ?, ?)", 99, "Orphan", 5)
attempt("UPDATE wine SET price = ?", -1)

-- The usual pattern: handle the expected kind of error, and raise all others again.
local function add_winery(name, country)
  local ok, err = pcall(db.execute, db, "INSERT INTO winery (name, country) VALUES (?, ?)", name, country)
  if ok then return "added" end
  if err.kind == "constraint_unique" then return "known already" end
  error(err, 0)
end
print("Podere Allodola:", add_winery("Podere Allodola", "Italy"))
print("Podere Allodola:", add_winery("Podere Allodola", "Italy"))

section("Prepared statements")

-- A statement that runs many times is prepared once. It belongs to the block in which it was prepared.
db:write(function(db)
  local allodola = db:fetch_value("SELECT id FROM winery WHERE name = ?", "Podere Allodola")
  local insert = db:prepare("INSERT INTO wine (winery_id, name, vintage, price) VALUES (?, ?, ?, ?)")
  for vintage = 2001, 2020 do
    insert:execute(allodola, "Rosso", vintage, 40 - (vintage - 2000))
  end

  local cheapest = db:prepare("SELECT vintage FROM wine WHERE name = 'Rosso' AND price <= ? ORDER BY vintage LIMIT 1")
  for budget = 20, 30, 5 do
    print(("for %d: the Rosso of %d"):format(budget, cheapest:fetch_value(budget)))
  end
end)
print("wines:", db:fetch_value("SELECT COUNT(*) FROM wine"))
