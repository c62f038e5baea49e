--- Creating tables: `db:create_table` and the contents of its block.

local function sql_of(name)
  return db:fetch_value("SELECT sql FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) "
    .. "WHERE name = ?", name)
end

--- Returns the SQL between the parentheses of a table that a block defines.
local function body_of(block, options)
  db:create_table("t", options or {}, block)
  local sql = sql_of("t")
  db:drop_table("t")
  return (sql:gsub('^CREATE TABLE "t" %(', ""):gsub("%)$", ""))
end

local function author(t)
  t:auto_incremented_primary_key("id")
  t:column("name", "text"):not_null()
end

--- Checks that a block fails without any effect.
local function refused(kind, block, part)
  local err = fails(kind, db.create_table, db, "t", block)
  if part then matches(err, part) end
  equal(db:table_exists("t"), false)
  return err
end

test("create_table creates the table that its block defines", function()
  equal(select("#", db:create_table("author", author)), 0)
  equal(sql_of("author"), 'CREATE TABLE "author" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL)')
  equal(db:execute("INSERT INTO author (name) VALUES ('Melville')").inserted_rowid, 1)
end)

test("an auto-incremented key is never reused", function()
  db:create_table("author", author)
  db:execute("INSERT INTO author (name) VALUES ('a'), ('b'); DELETE FROM author WHERE id = 2")
  equal(db:execute("INSERT INTO author (name) VALUES ('c')").inserted_rowid, 3)
end)

test("column types have SQLite's names", function()
  local types = { "text", "json_text", "jsonb", "integer", "double", "real", "numeric", "boolean", "blob", "date", "datetime",
    "any", "TEXT", "Integer", "VARCHAR(20)", "decimal(10, 2)", "UNSIGNED BIG INT", "varchar (20)", "bool", "Double  Precision" }
  db:create_table("t", function(t)
    for index, name in ipairs(types) do t:column("c" .. index, name) end
    t:column("none")
  end)
  local found = {}
  for index, column in ipairs(db:columns("t")) do found[index] = column.type end
  equal(found, { "TEXT", "TEXT", "BLOB", "INTEGER", "DOUBLE", "REAL", "NUMERIC", "BOOLEAN", "BLOB", "DATE", "DATETIME", "ANY",
    "TEXT", "INTEGER", "VARCHAR(20)", "decimal(10, 2)", "UNSIGNED BIG INT", "varchar (20)", "bool", "Double  Precision", "" })
end)

test("a column type that SQLite does not know is refused", function()
  for name, wanted in pairs{
    string = '"text"', uuid = '"text"', number = '"integer" or "real"', txt = "`text`", integr = "`integer`", bananas = "Available: any", money = '"numeric"',
    ["größe"] = "t:column_sql(sql)", ["string(20)"] = '"text"', serial = "t:auto_incremented_primary_key",
  } do
    refused("unknown_type", function(t) t:column("a", name) end, wanted)
  end
  refused("unknown_type", function(t) t:primary_key("a", "b") end, 't:primary_key{ "a", "b" }')
  db:execute('CREATE TABLE odd (id "GRÖSSE" PRIMARY KEY)')
  db:create_table("part", function(t) t:belongs_to("odd") end)
  equal(db:columns("part")[1].type, "GRÖSSE")
  matches(fails("unknown_type", db.alter_table, db, "part", function(t) t:add_column("a", "string") end), '"text"')
end)

test("create_table and its column methods refuse surplus arguments", function()
  refused("argument", function(t) t:column("a", "text", { not_null = true }) end, 't:column("name", "text"):not_null()')
  refused("argument", function(t) t:unique_key("a", "b") end, 't:unique_key{ "a", "b" }')
  refused("argument", function(t) t:foreign_key("a", "b", "id") end, '{ columns = "id" }')
  refused("argument", function(t) t:column("a"):references("b", "id") end, '{ column = "id" }')
  refused("argument", function(t) t:column("a"):default(1, 2) end, "takes one argument")
  refused("argument", function(t) t:check("a > 1", "name") end, "t:constraint(sql)")
end)

test("a column type cannot contain constraints or other SQL", function()
  for _, name in ipairs{ "text not null", "integer primary key", "text default 1", "text, b text", "text)", "", " ", "a\0b",
    "\xff", "varchar(x)", "int -- x", "text(1" } do
    refused("argument", function(t) t:column("a", name) end)
  end
  refused("argument", function(t) t:column("a", 12) end, "expected a type")
  refused("argument", function(t) t:column("a", "text not null") end, ":not_null()")
end)

test("a column can be NOT NULL, with a conflict policy", function()
  equal(body_of(function(t)
    t:column("a", "text"):not_null()
    t:column("b", "text"):not_null("abort")
    t:column("c", "text"):not_null("replace"):default("x")
    t:column("d", "text"):not_null{ on_conflict = "ignore" }
  end), '"a" TEXT NOT NULL, "b" TEXT NOT NULL, "c" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT \'x\', '
    .. '"d" TEXT NOT NULL ON CONFLICT IGNORE')
  db:create_table("t", function(t) t:column("a", "text"):not_null() end)
  equal(fails("constraint_not_null", db.execute, db, "INSERT INTO t VALUES (NULL)").columns, { "a" })
end)

test("a column can be UNIQUE, with a conflict policy", function()
  equal(body_of(function(t)
    t:column("a", "text"):unique()
    t:column("b", "text"):unique("replace")
    t:column("c", "text"):unique():indexed()
  end), '"a" TEXT UNIQUE, "b" TEXT UNIQUE ON CONFLICT REPLACE, "c" TEXT UNIQUE')
  db:create_table("t", function(t) t:column("a"):unique() t:column("b"):unique():indexed() end)
  db:execute("INSERT INTO t VALUES (1, 1)")
  fails("constraint_unique", db.execute, db, "INSERT INTO t VALUES (1, 2)")
  equal(#db:fetch_values("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"), 0)
end)

test("an indexed column has an index named after the table and column", function()
  db:create_table("book", function(t) t:column("author_id", "integer"):not_null():indexed() end)
  equal(sql_of("book_on_author_id"), 'CREATE INDEX "book_on_author_id" ON "book"("author_id")')
end)

test("a column can have checks", function()
  equal(body_of(function(t) t:column("a", "integer"):check("a > 0"):check("a < 10") end),
    '"a" INTEGER CHECK (a > 0) CHECK (a < 10)')
  db:create_table("t", function(t) t:column("a", "integer"):check("a > 0 -- a positive one") end)
  db:execute("INSERT INTO t VALUES (1)")
  fails("constraint_check", db.execute, db, "INSERT INTO t VALUES (0)")
end)

test("SQL in a definition is one expression without bound values", function()
  for sql, part in pairs{
    ["a > ?"] = "cannot bind values", ["a > :x"] = "cannot bind values", ["a > @x"] = "cannot bind values", ["a > $x"] = "cannot bind values", ["a > ?1"] = "cannot bind values",
    ["a) > (1"] = "`)` without `(`", ["(a"] = "`(` without `)`", ["a > 1; DROP TABLE t"] = "it must be one expression",
    ["a = 'x"] = "an unterminated quote", ["a > 1 /* b"] = "an unterminated comment", [""] = "empty", ["  "] = "empty", ["a\0"] = "NUL",
  } do
    matches(fails("argument", db.create_table, db, "t", function(t) t:column("a"):check(sql) end), part)
  end
  refused("argument", function(t) t:column("a"):check(1) end,
    "column:check: expected SQL as a string or an expression, got the integer 1")
  equal(body_of(function(t) t:column("a"):check("a <> ':x ?;)' AND [a] <> \"a\" /* ? ) */") end),
    '"a" CHECK (a <> \':x ?;)\' AND [a] <> "a" /* ? ) */)')
end)

test("conditions in definitions can be expressions, whose values become literals", function()
  equal(body_of(function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check(function(c) return c:eq(1) end)
    t:column("title", "text"):check(function(c) return c:length():gt(0) & c:ne("it's") end)
    t:column("price", "real"):check(perilune.column("price"):ge(0.5))
    t:column("tax", "real"):generated_as(function(c) return c.price * 2 end)
    t:check(function(c) return c.price:gt(1) | c.title:is_null() end)
  end), '"id" INTEGER PRIMARY KEY ON CONFLICT REPLACE CHECK ("id" = 1), '
    .. [["title" TEXT CHECK (LENGTH("title") > 0 AND "title" <> 'it''s'), ]]
    .. '"price" REAL CHECK ("price" >= 0.5), "tax" REAL GENERATED ALWAYS AS ("price" * 2) VIRTUAL, '
    .. 'CHECK ("price" > 1 OR "title" IS NULL)')
  fails("oh", db.create_table, db, "t", function(t) t:column("a"):check(function() error({ kind = "oh" }) end) end)
  refused("argument", function(t) t:column("a"):check(function() end) end, "expected SQL as a string or an expression, got nil")
end)

test("default values are written exactly", function()
  local Color = perilune.enum{ red = 1, white = 2 }
  local cases = {
    { "x", "'x'" }, { "it's", "'it''s'" }, { 12, "12" }, { -1, "-1" }, { math.mininteger, "-9223372036854775808" },
    { 0.5, "0.5" }, { 0.1, "0.1" }, { 3.0, "3.0" }, { 992.39767199999994, "992.39767199999994" },
    { true, "1" }, { false, "0" }, { perilune.null, "NULL" }, { perilune.blob("a\0b"), "x'610062'" },
    { Color.white, "2" }, { perilune.date("2024-01-02"), "'2024-01-02 00:00:00.000'" },
  }
  for _, case in ipairs(cases) do
    equal(body_of(function(t) t:column("a"):default(case[1]) end), '"a" DEFAULT ' .. case[2])
  end
end)

test("a default is read back as the same value", function()
  for _, value in ipairs{ "a\0b", "\xff\xfe", "", "'", 1e-300, 5e-324, 1 / 3, 992.39767199999994, 1.7976931348623157e308,
    -2.5e-290, math.huge, math.mininteger, math.maxinteger, -0.5 } do
    db:create_table("t", function(t) t:column("a") t:column("b"):default(value) end)
    db:execute("INSERT INTO t (a) VALUES (1)")
    equal(db:fetch_value("SELECT b FROM t"), value)
    db:drop_table("t")
  end
end)

test("a default must be a value that can be stored", function()
  refused("argument", function(t) t:column("a"):default(nil) end, "perilune.null")
  refused("argument", function(t) t:column("a"):default({}) end, "expected a value that SQLite can store")
  refused("argument", function(t) t:column("a"):default(0 / 0) end, "nan")
  refused("argument", function(t) t:column("a"):default(print) end, "a function")
end)

test("a default can be an SQL expression", function()
  equal(body_of(function(t)
    t:column("a"):default_sql("CURRENT_TIMESTAMP")
    t:column("b"):default_sql("datetime('now')")
    t:column("c"):default_sql("(1 + 1)")
    t:column("d"):default_sql("-1.5")
    t:column("e"):default_sql("'x'")
    t:column("f"):default_sql("1 + 1")
  end), [["a" DEFAULT CURRENT_TIMESTAMP, "b" DEFAULT (datetime('now')), "c" DEFAULT (1 + 1), "d" DEFAULT -1.5, ]]
    .. [["e" DEFAULT 'x', "f" DEFAULT (1 + 1)]])
end)

test("a column can have a collation that exists", function()
  db:create_table("t", function(t) t:column("a", "text"):collate("nocase"):unique() end)
  equal(sql_of("t"), 'CREATE TABLE "t" ("a" TEXT UNIQUE COLLATE nocase)')
  db:execute("INSERT INTO t VALUES ('a')")
  fails("constraint_unique", db.execute, db, "INSERT INTO t VALUES ('A')")
  db:add_collation("by length", function(a, b) return #a - #b end)
  db:create_table("u", function(t) t:column("a", "text"):collate("by length") end)
  db:execute("INSERT INTO u VALUES ('ccc'), ('b'), ('aa')")
  equal(db:fetch_values("SELECT a FROM u ORDER BY a"), { "b", "aa", "ccc" })
  local err = fails("unknown_collation", db.create_table, db, "v", function(t) t:column("a"):collate("nocas") end)
  equal(err.suggestion, "NOCASE")
end)

test("a column can be generated from other columns", function()
  db:create_table("t", function(t)
    t:column("a", "integer")
    t:column("b", "integer"):generated_as("a * 2")
    t:column("c", "integer"):generated_as("a * 3", "stored")
  end)
  equal(sql_of("t"), 'CREATE TABLE "t" ("a" INTEGER, "b" INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL, '
    .. '"c" INTEGER GENERATED ALWAYS AS (a * 3) STORED)')
  db:execute("INSERT INTO t VALUES (2)")
  equal(db:fetch_one("SELECT b, c FROM t"), { b = 4, c = 6 })
  equal(db:columns("t")[3].generated, "stored")
  fails("unknown_kind", db.create_table, db, "u", function(t) t:column("a"):generated_as("1", "sorted") end)
end)

test("a table can be limited to one row", function()
  db:create_table("configuration", function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
    t:column("stored_flag", "boolean")
    t:column("settings", "json_text")
  end)
  equal(sql_of("configuration"), 'CREATE TABLE "configuration" ("id" INTEGER PRIMARY KEY ON CONFLICT REPLACE CHECK (id = 1), '
    .. '"stored_flag" BOOLEAN, "settings" TEXT)')
  db:execute("INSERT INTO configuration (id, stored_flag) VALUES (1, TRUE); INSERT INTO configuration (id) VALUES (1)")
  equal(db:fetch_all("SELECT * FROM configuration"), { { id = 1 } })
  equal(fails("constraint_check", db.execute, db, "INSERT INTO configuration VALUES (2, 1, NULL)").code, 19)
end)

test("a primary key that is not an integer is NOT NULL", function()
  equal(body_of(function(t) t:primary_key("code", "text") end), '"code" TEXT PRIMARY KEY NOT NULL')
  equal(body_of(function(t) t:column("code", "text"):primary_key() end), '"code" TEXT PRIMARY KEY')
  equal(body_of(function(t) t:column("id", "integer"):primary_key{ autoincrement = true, on_conflict = "fail" } end),
    '"id" INTEGER PRIMARY KEY ON CONFLICT FAIL AUTOINCREMENT')
  refused("definition", function(t) t:column("id", "text"):primary_key{ autoincrement = true } end, "only an integer key")
  refused("argument", function(t) t:primary_key("id") end, "expected a type")
end)

test("a primary key can have several columns", function()
  local expected = '"country" TEXT NOT NULL, "city" TEXT NOT NULL, PRIMARY KEY ("country", "city")'
  local function in_block(t)
    t:primary_key(function(t)
      t:column("country", "text")
      t:column("city", "text")
    end)
    t:column("mayor", "text")
  end
  equal(body_of(in_block), (expected:gsub(', PRIMARY', ', "mayor" TEXT, PRIMARY')))
  equal(body_of(function(t)
    t:column("country", "text"):not_null()
    t:primary_key{ "country", "city", on_conflict = "replace" }
    t:column("city", "text"):not_null()
  end), expected .. " ON CONFLICT REPLACE")
  equal(body_of(function(t)
    t:primary_key({ on_conflict = "ignore" }, function() t:column("country", "text") t:column("city", "text") end)
  end), expected .. " ON CONFLICT IGNORE")
  db:create_table("place", in_block)
  equal(db:primary_key("place"), { columns = { "country", "city" }, rowid = false })
end)

test("a table has one primary key", function()
  local cases = {
    function(t) t:primary_key("a", "integer") t:primary_key("b", "integer") end,
    function(t) t:auto_incremented_primary_key("a") t:column("b"):primary_key() end,
    function(t) t:column("a") t:primary_key{ "a" } t:primary_key{ "a" } end,
    function(t) t:primary_key("a", "text") t:primary_key(function(t) t:column("b") end) end,
    function(t) t:primary_key(function(t) t:column("b") end) t:primary_key{ "b" } end,
    function(t) t:primary_key(function(t) t:column("b"):primary_key() end) end,
    function(t) t:primary_key(function(t) t:primary_key(function(t) t:column("c") end) end) end,
  }
  for _, block in ipairs(cases) do refused("definition", block) end
  refused("definition", cases[1], "already has a primary key: a")
end)

test("the block of a primary key accepts only columns", function()
  refused("definition", function(t) t:primary_key(function(t) t:column_sql("a TEXT") end) end, "cannot be defined in SQL")
  refused("definition", function(t) t:column("x") t:primary_key(function() end) end, "no column")
  refused("argument", function(t) t:primary_key() end, "argument 1")
  refused("argument", function(t) t:primary_key{} end, "an empty one")
  refused("argument", function(t) t:primary_key{ "a", "A" } end, "twice")
  refused("unknown_option", function(t) t:primary_key{ "a", on_conflit = "replace" } end, "did you mean `on_conflict`")
end)

test("an error in the block of a primary key is raised", function()
  db:create_table("t", function(t)
    pcall(t.primary_key, t, function(t) t:column("a", "text") error("stop") end)
    t:column("b", "text")
  end)
  equal(db:primary_key("t").columns, { "a" })
end)

test("tables can be WITHOUT ROWID and STRICT", function()
  db:create_table("t", { without_rowid = true, strict = true }, function(t)
    t:primary_key("id", "text")
    t:column("n", "integer")
  end)
  equal(sql_of("t"), 'CREATE TABLE "t" ("id" TEXT PRIMARY KEY NOT NULL, "n" INTEGER) STRICT, WITHOUT ROWID')
  fails(nil, db.execute, db, "INSERT INTO t VALUES ('a', 'no number')")
  local err = fails("definition", db.create_table, db, "u", { without_rowid = true }, function(t) t:column("a") end)
  matches(err, "must have a primary key")
  fails("definition", db.create_table, db, "u", { without_rowid = true }, function(t) t:auto_incremented_primary_key("a") end)
end)

test("strict tables accept six types", function()
  for _, name in ipairs{ "boolean", "date", "double", "numeric", "VARCHAR(20)" } do
    local err = fails("definition", db.create_table, db, "t", { strict = true }, function(t) t:column("a", name) end)
    matches(err, "integer, int, real, text, blob or any, got `" .. name .. "`")
  end
  matches(fails("definition", db.create_table, db, "t", { strict = true }, function(t) t:column("a") end), "got none")
  db:create_table("t", { strict = true }, function(t)
    for index, name in ipairs{ "integer", "int", "real", "text", "blob", "any", "json_text", "jsonb" } do
      t:column("c" .. index, name)
    end
  end)
end)

test("a table can be temporary, or created only if it is missing", function()
  db:create_table("t", { temporary = true }, function(t) t:column("a"):indexed() end)
  equal(sql_of("t"), 'CREATE TABLE "t" ("a")')
  equal(db:fetch_values("SELECT name FROM sqlite_temp_schema ORDER BY name"), { "t", "t_on_a" })
  db:drop_table("t")
  local function block(t) t:column("a"):indexed() end
  db:create_table("t", block)
  db:create_table("t", { if_not_exists = true }, block)
  matches(fails("sql", db.create_table, db, "t", block), "already exists")
end)

test("a column can refer to another table's primary key or to one of its columns", function()
  db:create_table("author", author)
  db:create_table("team", function(t) t:primary_key("code", "text") end)
  db:create_table("t", function(t)
    t:column("author_id", "integer"):not_null():references("author", { on_delete = "cascade" })
    t:column("team_code", "text"):references("team", { on_update = "set_null", on_delete = "Set Default" })
    t:column("name", "text")
      :references("author", { column = "name", deferred = true, on_delete = "no action", on_update = "restrict" })
  end)
  equal(sql_of("t"), 'CREATE TABLE "t" ("author_id" INTEGER NOT NULL REFERENCES "author"("id") ON DELETE CASCADE, '
    .. '"team_code" TEXT REFERENCES "team"("code") ON DELETE SET DEFAULT ON UPDATE SET NULL, '
    .. '"name" TEXT REFERENCES "author"("name") ON DELETE NO ACTION ON UPDATE RESTRICT DEFERRABLE INITIALLY DEFERRED)')
  equal(db:foreign_keys("t")[1],
    { table = "author", columns = { "author_id" }, referenced_columns = { "id" }, on_delete = "cascade",
      on_update = "no action" })
end)

test("a foreign key can have actions", function()
  db:create_table("author", author)
  db:create_table("book", function(t)
    t:column("author_id", "integer"):not_null():indexed():references("author", { on_delete = "cascade" })
  end)
  fails("constraint_foreign_key", db.execute, db, "INSERT INTO book VALUES (1)")
  db:execute("INSERT INTO author VALUES (1, 'a'); INSERT INTO book VALUES (1); DELETE FROM author")
  equal(db:fetch_value("SELECT COUNT(*) FROM book"), 0)
end)

test("a table can refer to itself", function()
  db:create_table("node", function(t)
    t:column("parent", "integer"):references("NODE")
    t:belongs_to("origin", { table = "node", on_delete = "set null" })
    t:auto_incremented_primary_key("id")
    t:column("code", "text"):unique()
    t:column("twin", "text"):references("node", { column = "code" })
  end)
  equal(sql_of("node"), 'CREATE TABLE "node" ("parent" INTEGER REFERENCES "NODE"("id"), '
    .. '"origin_id" INTEGER REFERENCES "node"("id") ON DELETE SET NULL, "id" INTEGER PRIMARY KEY AUTOINCREMENT, '
    .. '"code" TEXT UNIQUE, "twin" TEXT REFERENCES "node"("code"))')
  equal(sql_of("node_on_origin_id"), 'CREATE INDEX "node_on_origin_id" ON "node"("origin_id")')
  refused("definition", function(t) t:column("a"):references("t") end, "no primary key")
  refused("unknown_column", function(t) t:column("a"):references("t", { column = "b" }) end)
end)

test("a column can refer to a table that is created later", function()
  refused("unknown_table", function(t) t:column("a"):references("later") end)
  db:create_table("t", function(t) t:column("a", "integer"):references("later", { column = "id" }) end)
  equal(db:foreign_keys("t")[1].table, "later")
end)

test("a foreign key must have a target", function()
  db:create_table("author", author)
  db:create_table("keyless", function(t) t:column("a") end)
  db:create_table("pair", function(t) t:column("a") t:column("b") t:primary_key{ "a", "b" } end)
  db:execute("CREATE VIEW v AS SELECT 1 AS id")
  equal(refused("unknown_table", function(t) t:column("a"):references("autor") end).suggestion, "author")
  equal(refused("unknown_column", function(t) t:column("a"):references("author", { column = "nam" }) end).suggestion, "name")
  refused("definition", function(t) t:column("a"):references("keyless") end, "no primary key")
  refused("definition", function(t) t:column("a"):references("pair") end, "1 column cannot refer to 2")
  refused("definition", function(t) t:column("a"):references("v") end, "is a view")
  refused("definition", function(t) t:column("a"):references("author"):references("author") end, "already refers to a table")
  refused("argument", function(t) t:column("a"):references() end, "expected a name")
  local function with(options) return function(t) t:column("a"):references("author", options) end end
  equal(refused("unknown_action", with{ on_delete = "cascad" }).suggestion, "cascade")
  equal(refused("unknown_option", with{ on_delet = "cascade" }).suggestion, "on_delete")
  refused("argument", with{ deferred = 1 }, "option `deferred`: expected a boolean")
end)

test("belongs_to adds a foreign key to another table", function()
  db:create_table("author", author)
  db:create_table("country", function(t) t:primary_key("code", "VARCHAR(2)") end)
  db:create_table("book", function(t)
    t:belongs_to("author", { on_delete = "cascade" }):not_null()
    t:belongs_to("translator", { table = "author", indexed = false })
    t:belongs_to("country"):unique()
    t:belongs_to("owner", { table = "author", columns = "owned_by", unique = true, deferred = true })
  end)
  equal(sql_of("book"), 'CREATE TABLE "book" ("author_id" INTEGER NOT NULL REFERENCES "author"("id") ON DELETE CASCADE, '
    .. '"translator_id" INTEGER REFERENCES "author"("id"), "country_code" VARCHAR(2) UNIQUE REFERENCES "country"("code"), '
    .. '"owned_by" INTEGER UNIQUE REFERENCES "author"("id") DEFERRABLE INITIALLY DEFERRED)')
  equal(db:fetch_values("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"), { "book_on_author_id" })
end)

test("belongs_to finds tables with plural names", function()
  for _, name in ipairs{ "teams", "boxes", "companies" } do db:create_table(name, author) end
  db:create_table("t", function(t)
    t:belongs_to("team")
    t:belongs_to("box")
    t:belongs_to("company")
  end)
  local tables = {}
  for index, key in ipairs(db:foreign_keys("t")) do tables[index] = key.table .. " " .. key.columns[1] end
  equal(tables, { "teams team_id", "boxes box_id", "companies company_id" })
  db:create_table("team", author)
  db:create_table("u", function(t) t:belongs_to("team") end)
  equal(db:foreign_keys("u")[1].table, "team")
  db:create_table("nodes", function(t) t:primary_key("id", "integer") t:belongs_to("node") end)
  equal(db:foreign_keys("nodes")[1].table, "nodes")
end)

test("belongs_to supports composite keys", function()
  db:create_table("place", function(t)
    t:primary_key(function(t) t:column("country", "text") t:column("city", "text") end)
  end)
  db:create_table("person", function(t)
    t:belongs_to("place", { on_update = "cascade" }):not_null()
    t:belongs_to("birthplace", { table = "place", columns = { "born_country", "born_city" } }):unique()
  end)
  equal(sql_of("person"), 'CREATE TABLE "person" ("place_country" TEXT NOT NULL, "place_city" TEXT NOT NULL, '
    .. '"born_country" TEXT, "born_city" TEXT, '
    .. 'FOREIGN KEY ("place_country", "place_city") REFERENCES "place"("country", "city") '
    .. 'ON UPDATE CASCADE, '
    .. 'FOREIGN KEY ("born_country", "born_city") REFERENCES "place"("country", "city"))')
  equal(sql_of("person_on_place_country_place_city"),
    'CREATE INDEX "person_on_place_country_place_city" ON "person"("place_country", "place_city")')
  matches(sql_of("person_on_born_country_born_city"), "CREATE UNIQUE INDEX")
  refused("definition", function(t) t:belongs_to("place", { columns = { "a" } }) end, "the key of `place` has 2 columns, got 1")
end)

test("a primary key can consist of belongs_to columns", function()
  db:create_table("author", author)
  db:create_table("book", author)
  db:create_table("authorship", { without_rowid = true }, function(t)
    t:primary_key(function(t)
      t:belongs_to("author")
      t:belongs_to("book", { on_delete = "cascade" })
    end)
  end)
  equal(sql_of("authorship"), 'CREATE TABLE "authorship" ("author_id" INTEGER NOT NULL REFERENCES "author"("id"), '
    .. '"book_id" INTEGER NOT NULL REFERENCES "book"("id") ON DELETE CASCADE, '
    .. 'PRIMARY KEY ("author_id", "book_id")) WITHOUT ROWID')
  equal(sql_of("authorship_on_author_id"), nil)
  equal(sql_of("authorship_on_book_id"), 'CREATE INDEX "authorship_on_book_id" ON "authorship"("book_id")')
  refused("definition", function(t) t:primary_key(function(t) t:belongs_to("t") end) end, "cannot refer to itself")
end)

test("the target of belongs_to must exist", function()
  db:create_table("author", author)
  equal(refused("unknown_table", function(t) t:belongs_to("autho") end).suggestion, "author")
  refused("definition", function(t) t:column("author_id") t:belongs_to("author") end, "column `author_id` already exists")
  refused("definition", function(t) t:belongs_to("author") t:column("AUTHOR_ID") end, "column `author_id` already exists")
  refused("definition", function(t) t:primary_key("id", "integer") t:column("t_id") t:belongs_to("t") end,
    "column `t_id` already exists")
  refused("unknown_method", function(t) t:belongs_to("author"):not_nul() end, "did you mean `not_null`")
  refused("unknown_option", function(t) t:belongs_to("author", { index = false }) end)
end)

test("a foreign key can have several columns", function()
  db:create_table("place", function(t) t:column("a") t:column("b") t:primary_key{ "a", "b" } end)
  equal(body_of(function(t)
    t:column("x")
    t:foreign_key({ "x", "y" }, "place", { on_delete = "restrict" })
    t:foreign_key({ "y", "x" }, "place", { columns = { "b", "a" }, deferred = true })
    t:column("y")
  end), '"x", "y", FOREIGN KEY ("x", "y") REFERENCES "place"("a", "b") ON DELETE RESTRICT, '
    .. 'FOREIGN KEY ("y", "x") REFERENCES "place"("b", "a") DEFERRABLE INITIALLY DEFERRED')
  refused("definition", function(t) t:column("x") t:foreign_key({ "x" }, "place") end, "1 column cannot refer to 2")
  refused("unknown_column", function(t) t:column("x") t:foreign_key({ "x", "z" }, "place") end)
  refused("argument", function(t) t:column("x") t:foreign_key({}, "place") end, "an empty one")
end)

test("a table can have unique keys, checks and other table constraints", function()
  equal(body_of(function(t)
    t:column("a")
    t:unique_key({ "a", "b" }, { on_conflict = "ignore" })
    t:unique_key("b")
    t:check("a > b")
    t:constraint("CONSTRAINT small CHECK (a < 100)")
    t:column("b")
    t:column_sql("c INTEGER NOT NULL DEFAULT 3")
  end), '"a", "b", c INTEGER NOT NULL DEFAULT 3, UNIQUE ("a", "b") ON CONFLICT IGNORE, UNIQUE ("b"), CHECK (a > b), '
    .. 'CONSTRAINT small CHECK (a < 100)')
  equal(refused("unknown_column", function(t) t:column("title") t:unique_key{ "titel" } end).suggestion, "title")
  equal(refused("unknown_column", function(t) t:column("title") t:primary_key{ "titel" } end).suggestion, "title")
end)

test("keys may contain columns that are defined in SQL", function()
  db:create_table("t", { without_rowid = true }, function(t)
    t:column_sql("a TEXT")
    t:constraint("PRIMARY KEY (a)")
    t:unique_key{ "a" }
  end)
  equal(db:primary_key("t").columns, { "a" })
end)

test("column names must be unique", function()
  refused("definition", function(t) t:column("a") t:column("A") end, "column `a` already exists")
  db:create_table("t", function(t) t:column("ä") t:column("Ä") end)
  equal(#db:columns("t"), 2)
end)

test("a table must have columns", function()
  refused("definition", function() end, "table `t` has no columns")
  refused("definition", function(t) t:check("1") end, "no columns")
end)

test("table and column names may be any text", function()
  local names = { 'a"b', "select", "with space", "größe", "a'b", "[x]", "a;b", "a.b", "`", "1st", ")" }
  for _, name in ipairs(names) do
    db:create_table(name, function(t)
      t:primary_key("id", "integer")
      for _, column in ipairs(names) do t:column(column, "text"):indexed() end
      t:belongs_to(name .. " parent", { table = name })
    end)
    equal(#db:columns(name), #names + 2)
    equal(db:foreign_keys(name)[1].table, name)
    db:drop_table(name)
  end
end)

test("table and column names must be strings", function()
  for _, name in ipairs{ "", "a\0b", "\xff", 12, true, {} } do
    fails("argument", db.create_table, db, name, author)
    refused("argument", function(t) t:column(name, "text") end)
    refused("argument", function(t) t:column("a"):references(name) end)
    refused("argument", function(t) t:belongs_to(name) end)
    refused("argument", function(t) t:column("a"):collate(name) end)
  end
  matches(fails("sql", db.create_table, db, "sqlite_x", author), "reserved for internal use")
end)

test("a table may have as many columns as SQLite allows", function()
  local function columns(count)
    return function(t) for index = 1, count do t:column("c" .. index, "integer") end end
  end
  db:create_table("wide", columns(2000))
  equal(#db:columns("wide"), 2000)
  local err = fails("sql", db.create_table, db, "wider", columns(2001))
  matches(err, "too many columns on wider")
  matches(err.sql, 'CREATE TABLE "wider"')
end)

test("the object of create_table is unusable after its block", function()
  local kept, column, belonging
  db:create_table("author", author)
  db:create_table("t", function(t)
    kept, column, belonging = t, t:column("a"), t:belongs_to("author")
  end)
  matches(fails("definition", kept.column, kept, "b"), "its block has ended")
  matches(fails("definition", column.not_null, column), "its block has ended")
  matches(fails("definition", belonging.unique, belonging), "its block has ended")
  fails("oh", db.create_table, db, "u", function(t) kept = t t:column("a") error({ kind = "oh" }) end)
  fails("definition", kept.column, kept, "b")
  equal(db:table_exists("u"), false)
end)

test("an error in the block of create_table is raised unchanged, and nothing is created", function()
  local problem = setmetatable({}, { __tostring = function() return "problem" end })
  local ok, err = pcall(db.create_table, db, "t", function(t) t:column("a") error(problem) end)
  equal(ok, false)
  equal(rawequal(err, problem), true)
  equal(db:tables(), {})
end)

test("if one statement of create_table fails, the previous ones are undone", function()
  db:create_table("a", function(t) t:column("t_on_x") end)
  db:execute("CREATE INDEX t_on_x ON a (t_on_x)")
  matches(fails("sql", db.create_table, db, "t", function(t) t:column("x"):indexed() end), "already exists")
  equal(db:table_exists("t"), false)
  db:write(function(db)
    db:create_table("before", author)
    fails("sql", db.create_table, db, "t", function(t) t:column("x"):indexed() end)
    equal(db:table_exists("t"), false)
  end)
  equal(db:tables(), { "a", "before" })
end)

test("rolling back a transaction removes the tables that it created", function()
  db:in_transaction(function(db) db:create_table("t", author) return "rollback" end)
  equal(db:tables(), {})
end)

test("a read block cannot create tables", function()
  db:create_table("author", author)
  db:read(function(db)
    fails("readonly", db.create_table, db, "t", author)
    fails("readonly", db.create_table, db, "t", function(t) t:column("a"):indexed() end)
    fails("readonly", db.drop_table, db, "author")
  end)
  equal(db:tables(), { "author" })
end)

test("unknown methods and options of table definitions are reported", function()
  equal(refused("unknown_method", function(t) t:colum("a") end).suggestion, "column")
  equal(refused("unknown_method", function(t) t:column("a"):not_nul() end).suggestion, "not_null")
  local err = fails("unknown_option", db.create_table, db, "t", { if_not_exist = true }, author)
  equal(err.suggestion, "if_not_exists")
  matches(fails("argument", db.create_table, db, "t", { strict = 1 }, author),
    "option `strict`: expected a boolean, got the integer 1")
  matches(fails("argument", db.create_table, db, "t", { "strict" }, author), "expected options with names")
  matches(fails("argument", db.create_table, db, "t"), "expected a function")
  matches(fails("argument", db.create_table, db, "t", "x", author), "expected a table of options")
end)

test("column modifiers refuse invalid arguments", function()
  refused("argument", function(t) t:column("a"):not_null(false) end, "expected nothing, or a conflict policy (rollback, abort, fail, ignore, replace), got false")
  equal(refused("unknown_conflict_policy", function(t) t:column("a"):not_null("replac") end).suggestion, "replace")
  refused("argument", function(t) t:column("a"):indexed(true) end, "takes no arguments")
  refused("definition", function(t) t:column("a"):default(1):default(2) end, "already has one")
  refused("definition", function(t) t:column("a"):default(1):default_sql("2") end, "already has one")
  refused("definition", function(t) t:column("a"):not_null():not_null() end, "already has one")
  refused("argument", function(t) t.column("a") end, "call it with a colon")
  refused("argument", function(t) local column = t:column("a") column.not_null() end, "call it with a colon")
  refused("argument", function(t) t:unique_key{ 1 } end, "expected the name of a column")
end)

test("errors in a table definition have the line in the block", function()
  local err = fails("definition", db.create_table, db, "t", function(t)
    t:column("a")
    t:column("a")
  end)
  local _, here = pcall(function() error("") end)
  matches(err, ":" .. (here:match(":(%d+):") - 2) .. ":")
end)

test("a table can be dropped", function()
  db:create_table("t", function(t) t:column("a"):indexed() end)
  db:drop_table("T")
  equal(db:fetch_value("SELECT COUNT(*) FROM sqlite_schema"), 0)
  db:create_table("author", author)
  equal(fails("unknown_table", db.drop_table, db, "auther").suggestion, "author")
  db:drop_table("auther", { if_exists = true })
  db:execute("CREATE VIEW v AS SELECT 1")
  matches(fails("definition", db.drop_table, db, "v"), "db:drop_view")
  fails("unknown_option", db.drop_table, db, "t", { if_exist = true })
end)

test("tables can be created in a pool and in other databases", function()
  local pool = perilune.pool(temporary_path("definitions.sqlite"))
  pool:create_table("author", author)
  pool:create_table("book", function(t) t:belongs_to("author"):not_null() t:column("title", "text"):collate("nocase") end)
  pool:alter_table("book", function(t) t:add_column("pages", "integer"):indexed() end)
  equal(#pool:columns("book"), 3)
  pool:close()
end)

test("Perilune's own tables are not suggested for an unknown table", function()
  db:create_table("author", author)
  perilune.jobs("mail"):enqueue{}
  equal(db:table_exists("perilune_job"), true)
  local calls = {
    function() db:create_table("t", function(t) t:belongs_to("perilune_jo") end) end,
    function() db:drop_table("perilune_jo") end,
    function() db:notify_changes("perilune_jo") end,
    function() db:observe_transactions{ tables = "perilune_jo", on_change = print } end,
  }
  for _, call in ipairs(calls) do
    equal(fails("unknown_table", call).message:match("no table .*"), "no table `perilune_jo`. Available: author")
  end
end)
