--- Rows and the types of their values.

test("a row distinguishes BLOB, TEXT and SQLite's other storage classes", function()
  db:execute[[
    CREATE TABLE t (a, b, c);
    INSERT INTO t VALUES (x'6162', 'ab', 1), ('ab', x'', 1.5), (NULL, 'x', 9), (x'00', x'01', x'02')]]
  local function classes(row) return { row:storage_class("a"), row:storage_class("B"), row:storage_class(3) } end
  local expected = {
    { "blob", "text", "integer" }, { "text", "blob", "real" }, { "null", "text", "integer" }, { "blob", "blob", "blob" },
  }
  for index, row in ipairs(db:fetch_all "SELECT a, b, c FROM t") do equal(classes(row), expected[index]) end
  local index = 0
  for row in db:rows "SELECT a, b, c FROM t" do
    index = index + 1
    equal(classes(row), expected[index])
    equal(classes(row:copy()), expected[index])
  end
  equal(db:fetch_one("SELECT a, b, c FROM t").a, "ab")
  equal(db:fetch_one "SELECT x'01' AS a" == db:fetch_one "SELECT char(1) AS a", true)
end)

test("the storage class of an unknown column is an error, and booleans are integers", function()
  db:execute "CREATE TABLE t (a BOOLEAN); INSERT INTO t VALUES (1)"
  local row = db:fetch_one "SELECT a FROM t"
  equal(row:storage_class("a"), "integer")
  fails("unknown_column", row.storage_class, row, "b")
  row.a = "x"
  equal(row:storage_class("a"), "text")
end)

test("a row that a script creates has the storage class of each value", function()
  local row = perilune.row.new({ a = perilune.blob "x", b = "x", c = perilune.null }, { "a", "b", "c" })
  equal({ row:storage_class("a"), row:storage_class("b"), row:storage_class("c") }, { "blob", "text", "null" })
  equal(row.a, "x")
end)

test("errors about invalid arguments contain the SQL, shortened if it is long", function()
  db:execute "CREATE TABLE t (a)"
  local sql = "SELECT a FROM t WHERE a = ?"
  matches(fails("argument", db.fetch_all, db, sql, 1, 2).message, "expected 1 argument for the statement, got 2: " .. sql)
  matches(fails("argument", db.execute, db, "DELETE FROM t WHERE a = :a", {}).message, "for NULL): DELETE FROM t")
  local long = fails("argument", db.fetch_all, db, sql .. " AND a <> '" .. ("é"):rep(500) .. "'").message
  equal({ #long < 300, long:sub(-3), utf8.len(long) ~= nil }, { true, "...", true })
end)

test("fetch_values and fetch_set name the column that is NULL", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, age); INSERT INTO t VALUES (1, 2), (2, NULL)"
  for _, verb in ipairs{ "fetch_values", "fetch_set" } do
    matches(fails("null", db[verb], db, "SELECT age FROM t ORDER BY id").message, "the value of `age` in row 2 is NULL")
  end
  matches(fails("null", db.fetch_values, db, "UPDATE t SET age = NULL RETURNING age").message, "`age` in row 1")
end)

test("reading an unknown column of a row raises an error with the nearest name", function()
  db:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, born TEXT); INSERT INTO person (name) VALUES ('Ada')"
  local Person = perilune.record "person"
  local function rows()
    local statement, list = db:prepare "SELECT * FROM person", {
      db:fetch_one "SELECT * FROM person", db:fetch_all("SELECT * FROM person")[1], Person:select("id", "name", "born"):fetch_one(),
      db:fetch_one("SELECT * FROM person"):copy(), perilune.row.new{ id = 1, name = "Ada", born = perilune.null },
    }
    list[#list + 1] = statement:fetch_one()
    for row in db:rows "SELECT * FROM person" do list[#list + 1] = row end
    list[#list + 1] = db:fetch_one "SELECT *, x'00' AS data FROM person"
    return list
  end
  for index, row in ipairs(rows()) do
    local err = fails("unknown_column", function() return row.nme end)
    equal({ index, err.name, err.suggestion }, { index, "nme", "name" })
    matches(err, "no column `nme`; did you mean `name`?")
    equal({ row.name, row.NAME, row.born, row.Born, row:has("born"), row:has("nme") }, { "Ada", "Ada", nil, nil, true, false })
    matches(fails("unknown_column", function() return row:to_tabel() end), "did you mean `to_table`?")
    fails("unknown_column", function() return row[""] end)
    -- Lists of values are read by position until nil.
    equal({ row[99], row[0], row[true], row[1.5] }, {})
    local count = 0
    for _ in ipairs(row) do count = count + 1 end
    equal(count <= #row, true)
    row.added = 5
    equal({ row.added, rawget(row, "nme") }, { 5 })
  end
end)

test("tostring of rows and records shows floats with enough digits to read them back exactly", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, a REAL, b)"
  db:execute("INSERT INTO t VALUES (1, ?, ?)", 0.1 + 0.2, 1e22)
  local T = perilune.record("t")
  equal(tostring(db:fetch_one "SELECT a, b FROM t"), "{a = 0.30000000000000004, b = 1e+22}")
  equal(tostring(T:find(1)), "t{id = 1, a = 0.30000000000000004, b = 1e+22}")
  equal(tostring(T.draft{ a = 0.1 + 0.2 }), "draft of t{a = 0.30000000000000004}")
  equal(tostring(T{ a = 2.0 }), "t{id = NULL, a = 2.0, b = NULL}")
end)
