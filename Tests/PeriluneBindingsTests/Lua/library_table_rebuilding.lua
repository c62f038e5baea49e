--- Alterations beyond SQLite's ALTER TABLE, which replace the table by a new one with the same rows and name.

local function sql_of(name)
  return db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = ?", name)
end

--- Creates authors and books with everything that can depend on a table.
local function make_books()
  db:execute[[
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE book ( -- what is on the shelf
      id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
      title TEXT NOT NULL COLLATE NOCASE, /* as printed */
      -- how many
      pages TEXT DEFAULT '0' CONSTRAINT some_pages CHECK (pages <> ''),
      author_id INTEGER REFERENCES author (id) ON DELETE CASCADE,
      sequel_of INTEGER REFERENCES book (id), -- of itself
      UNIQUE (title, author_id) -- both
    );
    CREATE TABLE page (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE);
    CREATE INDEX book_by_pages ON book (pages DESC) WHERE pages > 10;
    CREATE TABLE log (text);
    CREATE TRIGGER book_insert AFTER INSERT ON book BEGIN INSERT INTO log VALUES ('insert ' || new.title); END;
    CREATE TRIGGER page_insert AFTER INSERT ON page BEGIN UPDATE book SET pages = pages + 1 WHERE id = new.book_id; END;
    CREATE VIEW long_book AS SELECT * FROM book WHERE pages > 100;
    CREATE VIEW longest AS SELECT max(pages) AS pages FROM long_book;
    CREATE TRIGGER long_insert INSTEAD OF INSERT ON long_book BEGIN INSERT INTO log VALUES ('long'); END;
    CREATE TEMP VIEW short_book AS SELECT title FROM main.book WHERE pages < 100;
    CREATE TEMP TRIGGER book_delete AFTER DELETE ON book BEGIN INSERT INTO log VALUES ('delete'); END;
    INSERT INTO author VALUES (1, 'Melville');
    INSERT INTO book (id, title, pages, author_id, sequel_of) VALUES (3, 'Typee', '320', 1, NULL), (7, 'Omoo', '303', 1, 3), (9, 'gone', '1', 1, NULL);
    DELETE FROM book WHERE id = 9;
    INSERT INTO page VALUES (1, 3), (2, 3);
    DELETE FROM log;
    ANALYZE]]
end

--- Returns all parts of the database's schema and contents.
local function everything()
  local all = {}
  local queries = {
    "SELECT * FROM sqlite_schema ORDER BY type, name", "SELECT * FROM sqlite_temp_schema ORDER BY type, name", "SELECT * FROM sqlite_sequence",
    "SELECT rowid, * FROM book", "SELECT * FROM page", "SELECT * FROM log", "PRAGMA foreign_keys",
  }
  for index, sql in ipairs(queries) do
    local rows = db:fetch_all(sql)
    for _, row in ipairs(rows) do
      if row:has "rootpage" then row.rootpage = nil end
    end
    all[index] = rows
  end
  return all
end

local function refused(kind, block, part)
  local before = everything()
  local err = fails(kind, db.alter_table, db, "book", block)
  if part then matches(err, part) end
  equal(everything(), before)
  return err
end

local expected_book = [[
CREATE TABLE "book" ( -- what is on the shelf
      id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
      title TEXT NOT NULL COLLATE NOCASE, /* as printed */
      -- how many
      pages INTEGER DEFAULT '0' CONSTRAINT some_pages CHECK (pages <> '') NOT NULL,
      author_id INTEGER REFERENCES author (id) ON DELETE CASCADE,
      sequel_of INTEGER REFERENCES book (id), -- of itself
      UNIQUE (title, author_id) -- both
    )]]

test("changing a column's type keeps rows, row ids, comments and all dependent objects", function()
  make_books()
  local before = everything()
  equal(select("#", db:alter_table("book", function(t) t:change_column("pages", "integer"):not_null() end)), 0)
  equal(sql_of("book"), expected_book)
  local after = everything()
  -- References to other objects in the schema.
  local function others(rows)
    local list = {}
    for _, row in ipairs(rows) do
      if row.name ~= "book" then list[#list + 1] = { row.type, row.name, row.tbl_name, row.sql } end
    end
    return list
  end
  equal(others(after[1]), others(before[1]))
  for _, index in ipairs{ 2, 3, 5, 6, 7 } do equal(after[index], before[index]) end
  equal(db:fetch_all("SELECT id, title, pages, author_id, sequel_of FROM book"), {
    { id = 3, title = "Typee", pages = 322, author_id = 1 }, { id = 7, title = "Omoo", pages = 303, author_id = 1, sequel_of = 3 },
  })
  equal(db:fetch_value("SELECT pages FROM longest"), 322)
  equal(db:fetch_value("SELECT COUNT(*) FROM short_book"), 0)
  equal(db:fetch_values("SELECT name FROM sqlite_temp_schema ORDER BY name"), { "book_delete", "short_book" })
  db:execute("INSERT INTO page (book_id) VALUES (7)")
  equal(db:fetch_value("SELECT pages FROM book WHERE id = 7"), 304)
  db:execute("INSERT INTO book (title) VALUES ('Mardi')")
  equal(db:fetch_value("SELECT max(id) FROM book"), 10)
  db:execute("DELETE FROM author")
  equal(db:fetch_value("SELECT COUNT(*) FROM page"), 0)
  equal(db:fetch_values("SELECT text FROM log"), { "insert Mardi", "delete", "delete" })
end)

test("tables can be rebuilt inside a transaction with foreign keys enforced", function()
  make_books()
  db:write(function(db)
    db:execute("INSERT INTO page VALUES (5, 7)")
    db:alter_table("book", function(t) t:change_column("pages", "integer") end)
    equal(db:fetch_value("PRAGMA foreign_keys"), 1)
    fails("constraint_foreign_key", db.execute, db, "INSERT INTO page (book_id) VALUES (99)")
    fails("sql", db.alter_table, db, "book", function(t)
      t:change_column("pages"):using("NULL")
      t:check("pages IS NOT NULL AND no_column")
    end)
  end)
  equal(db:fetch_value("SELECT COUNT(*) FROM page"), 3)
  equal(db:columns("book")[3].type, "INTEGER")
end)

--- Makes changes that need a rebuild together with changes by single statements.
local function alter(db, options)
  return db:alter_table("book", options, function(t)
    t:change_column("pages", "integer")
    t:add_column("slug", "text"):not_null():using("lower(title)"):unique()
    t:add_index{ "slug", "pages" }
  end)
end

test("a dry run of a rebuild reports its steps and undoes them", function()
  make_books()
  local before = everything()
  local statements = alter(db, { dry_run = true })
  equal(everything(), before)
  matches(tostring(statements), "INSERT OR ABORT INTO")
  equal(db:write(function(db) return alter(db, { dry_run = true }) end), statements)
  equal(everything(), before)
  alter(db)
  equal(db:fetch_values("SELECT slug FROM book ORDER BY id"), { "typee", "omoo" })
end)

--- Makes a schema change fail before or after its n-th statement. Returns whether the change has at least n statements.
local function fail_at(step, is_after, f, ...)
  local changes = library("perilune.schema.changes")
  local execute, count = changes.execute, 0
  function changes.execute(db, sql)
    count = count + 1
    local result = (count ~= step or is_after) and execute(db, sql)
    if count == step then error{ kind = "injected" } end
    return result
  end
  local has_ended, err = pcall(f, ...)
  changes.execute = execute
  if not has_ended and err.kind ~= "injected" then error(err, 0) end
  return not has_ended
end

test("a failure at any step of a rebuild is undone, including the history", function()
  make_books()
  local Book = perilune.record("book")
  perilune.history(Book):install()
  db:execute("UPDATE book SET title = 'Typee!' WHERE id = 3")
  local function complete() return { everything(), db:fetch_all("SELECT * FROM book_history") } end
  local before = complete()
  for _, change in ipairs{ function() alter(db) end, function() db:rename_table("book", "volume") end } do
    local step = 1
    while fail_at(step, step % 2 == 0, change) do
      equal(complete(), before)
      step = step + 1
    end
    equal(step > 12, true)
    if db:table_exists("book") then
      local versions = Book:find(3):history()
      equal({ #versions, versions[1].record.slug, versions[3].record.slug }, { 3, nil, "typee!" })
      before = complete()
    end
  end
  equal(#perilune.record("volume"):find(3).title, 6)
  equal(perilune.history(perilune.record("volume")):is_installed(), true)
end)

test("a failure at any step of a rebuild is undone", function()
  make_books()
  local before = everything()
  local steps = #alter(db, { dry_run = true })
  equal(steps > 15, true)
  for step = 1, steps do
    for _, is_after in ipairs{ false, true } do
      equal(fail_at(step, is_after, alter, db), true)
      equal(everything(), before)
      db:write(function(db)
        db:execute("UPDATE author SET name = 'kept'")
        equal(fail_at(step, is_after, alter, db), true)
        equal(db:fetch_value("SELECT name FROM author"), "kept")
        fails("constraint_foreign_key", db.execute, db, "INSERT INTO page (book_id) VALUES (99)")
        db:execute("UPDATE author SET name = 'Melville'")
      end)
      equal(everything(), before)
    end
  end
end)

test("a type change that would change values is refused, or converts them on request", function()
  db:execute[[CREATE TABLE t (a, b TEXT, c INTEGER, d REAL);
    INSERT INTO t VALUES (1, '007', 9007199254740993, 0.1 + 0.2), (2, 'x', 1, 0.5), (3, '12', NULL, 3.0)]]
  local function change(name, declared, using)
    db:alter_table("t", function(t)
      local column = t:change_column(name, declared)
      if using then column:using(using) end
    end)
  end
  local before = db:fetch_all("SELECT * FROM t")
  matches(fails("definition", change, "b", "integer"), "would change the values of `b` in 1 row")
  matches(fails("definition", change, "c", "real"), "`c` in 1 row;")
  matches(fails("definition", change, "d", "text"), "`d` in 1 row;")
  equal(db:fetch_all("SELECT * FROM t"), before)
  change("b", "integer", "CASE b WHEN 'x' THEN -1 ELSE CAST(b AS INTEGER) END")
  equal(db:fetch_values("SELECT b FROM t"), { 7, -1, 12 })
  change("d", "numeric")
  change("d", "blob", function(c) return c.d * 2 end)
  equal(db:fetch_values("SELECT typeof(d) FROM t"), { "real", "real", "integer" })
  change("a", "text")
  equal(db:fetch_values("SELECT a FROM t"), { "1", "2", "3" })
end)

test("properties of a column can be set and removed", function()
  make_books()
  db:alter_table("book", function(t)
    t:change_column("title"):without("not_null", "collate"):default("untitled"):check("title <> ''")
    t:change_column("pages"):without("check", "default", "type")
    t:change_column("author_id"):without("references"):indexed()
    t:change_column("sequel_of"):references("author"):unique():using("NULL")
  end)
  local sql = sql_of("book")
  matches(sql, "title TEXT CHECK (title <> '') DEFAULT 'untitled',")
  matches(sql, "pages,\n")
  matches(sql, "author_id INTEGER,\n")
  equal(db:foreign_keys("book")[1].table, "author")
  equal(#db:foreign_keys("book"), 1)
  equal(db:index_exists("book_on_author_id"), true)
  equal(db:has_unique_key("book", { "sequel_of" }), true)
end)

test("only existing properties of a column can be removed", function()
  make_books()
  refused("definition", function(t) t:change_column("title"):without("default") end, "column `title` has no `default`")
  refused("unknown_property", function(t) t:change_column("title"):without("not_nul") end)
  refused("argument", function(t) t:change_column("title"):without() end, "expected the names of properties")
  refused("definition", function(t) t:add_column("x"):without("default") end, "the column is new")
  refused("definition", function(t) t:add_column("x") t:change_column("x", "text") end, "added by the same block")
  equal(refused("unknown_column", function(t) t:change_column("titel") end).suggestion, "title")
  refused("definition", function(t) t:change_column("title"):generated_as("1") end, "would be lost")
  refused("definition", function(t) t:change_column("title"):using("a"):using("b") end, "already has one")
  equal(fails("definition", db.create_table, db, "n", function(t) t:column("a"):using("1") end).kind, "definition")
end)

test("keys, unique keys, foreign keys and checks can be added and dropped", function()
  make_books()
  db:alter_table("book", function(t)
    t:drop_unique_key{ "title", "author_id" }
    t:unique_key{ "title", "sequel_of" }
    t:drop_foreign_key("author_id")
    t:foreign_key("sequel_of", "author", { on_delete = "set null" })
    t:drop_foreign_key("sequel_of", "AUTHOR")
    t:drop_foreign_key("sequel_of")
    t:foreign_key("author_id", "author", { on_delete = "set null" })
    t:drop_check("PAGES <> ''")
    t:check(function(c) return c.pages:is_not_null() end)
    t:constraint("CONSTRAINT named CHECK (pages > '1')")
  end)
  equal(db:has_unique_key("book", { "title", "sequel_of" }), true)
  equal(db:has_unique_key("book", { "title", "author_id" }), false)
  equal(#db:foreign_keys("book"), 1)
  equal(db:foreign_keys("book")[1].on_delete, "set null")
  db:alter_table("book", function(t) t:drop_constraint("NAMED") end)
  fails("constraint_check", db.execute, db, "INSERT INTO book (title, pages) VALUES ('a', NULL)")
  db:execute("INSERT INTO book (title, pages) VALUES ('a', '0')")
  refused("definition", function(t) t:drop_unique_key("title") end, "has no unique on (title)")
  refused("definition", function(t) t:drop_foreign_key("title") end, "has no foreign key on (title)")
  refused("definition", function(t) t:drop_check("pages > 3") end, "no such check")
  refused("unknown_constraint", function(t) t:drop_constraint("name") end)
  refused("unknown_table", function(t) t:foreign_key("title", "autor") end)
end)

test("only the foreign key to the named table is dropped", function()
  make_books()
  db:execute("UPDATE book SET sequel_of = NULL")
  db:alter_table("book", function(t) t:foreign_key("sequel_of", "author", { on_delete = "set null" }) end)
  local err = refused("definition", function(t) t:drop_foreign_key("sequel_of") end, "several tables: `book`, `author`")
  matches(err, 't:drop_foreign_key("sequel_of", "book")')
  refused("definition", function(t) t:drop_foreign_key("sequel_of", "page") end, "no foreign key on (sequel_of) that refers to `page`")
  db:alter_table("book", function(t) t:drop_foreign_key("sequel_of", "book") end)
  local left = {}
  for _, key in ipairs(db:foreign_keys("book")) do left[#left + 1] = key.columns[1] .. " " .. key.table end
  table.sort(left)
  equal(left, { "author_id author", "sequel_of author" })
  db:alter_table("book", function(t) t:drop_foreign_key("sequel_of") end)
  equal(#db:foreign_keys("book"), 1)
end)

test("a rebuild can change the primary key", function()
  db:execute[[CREATE TABLE seat (number INTEGER, line TEXT, id INTEGER PRIMARY KEY); INSERT INTO seat VALUES (5, 'a', 10), (6, 'a', 20);
    CREATE TABLE plain (a TEXT); INSERT INTO plain (rowid, a) VALUES (4, 'x'), (9, 'y')]]
  db:alter_table("seat", function(t)
    t:drop_primary_key()
    t:primary_key{ "line", "number" }
    t:options{ without_rowid = true, strict = true }
    t:order_columns{ "line" }
    t:drop_column("id")
  end)
  equal(sql_of("seat"), 'CREATE TABLE "seat" (line TEXT, number INTEGER, PRIMARY KEY ("line", "number")) STRICT, WITHOUT ROWID')
  equal(db:fetch_all("SELECT * FROM seat"), { { line = "a", number = 5 }, { line = "a", number = 6 } })
  db:alter_table("seat", function(t) t:options{ without_rowid = false, strict = false } end)
  equal(sql_of("seat"), 'CREATE TABLE "seat" (line TEXT, number INTEGER, PRIMARY KEY ("line", "number"))')
  db:alter_table("plain", function(t)
    t:add_column("id", "integer"):primary_key()
    t:order_columns{ "id" }
  end)
  equal(db:fetch_all("SELECT * FROM plain"), { { id = 4, a = "x" }, { id = 9, a = "y" } })
  fails("definition", db.alter_table, db, "plain", function(t) t:primary_key{ "a" } end)
  fails("definition", db.alter_table, db, "plain", function(t) t:add_column("b"):primary_key() end)
  fails("argument", db.alter_table, db, "plain", function(t) t:drop_primary_key("id") end)
  db:execute("CREATE TABLE none (a INTEGER); INSERT INTO none VALUES (NULL)")
  matches(fails("definition", db.alter_table, db, "none", function(t) t:primary_key{ "a" } end), "1 row has NULL in `a`")
  matches(fails("definition", db.alter_table, db, "none", function(t) t:drop_primary_key() end), "has no primary key")
end)

test("a rebuild keeps row ids even if no column contains them", function()
  db:execute("CREATE TABLE t (a TEXT); INSERT INTO t (rowid, a) VALUES (3, '1'), (8, '2')")
  db:alter_table("t", function(t) t:change_column("a", "integer") end)
  equal(db:fetch_values("SELECT rowid FROM t"), { 3, 8 })
end)

test("a rebuild can rename and drop columns together with other changes", function()
  make_books()
  db:execute("DROP VIEW longest")
  db:alter_table("book", function(t)
    t:rename_column("title", "name")
    t:change_column("pages", "integer")
    t:rename_column("pages", "length")
    t:change_column("length"):not_null()
    t:drop_column("sequel_of")
  end)
  matches(sql_of("book"), '"length" INTEGER DEFAULT')
  matches(sql_of("long_book"), "length")
  equal(#db:columns("book"), 4)
end)

test("a column cannot be dropped while keys, views or indexes use it", function()
  make_books()
  db:execute("DROP TRIGGER book_insert")
  db:execute("CREATE VIEW quoted AS SELECT \"sequel_of\" FROM book")
  refused("definition", function(t) t:drop_column("author_id") t:change_column("pages", "integer") end, "is used by UNIQUE (title, author_id)")
  refused("definition", function(t) t:drop_column("id") t:change_column("pages", "integer") end, "t:drop_primary_key()")
  refused("definition", function(t) t:drop_column("sequel_of") end, "the view `quoted` names the column `sequel_of`")
  db:execute("DROP VIEW quoted")
  refused("definition", function(t) t:drop_check("pages <> ''") t:drop_column("pages") end, "book_by_pages` does not fit the changed table")
  db:execute("DROP INDEX book_by_pages")
  refused("definition", function(t) t:drop_check("pages <> ''") t:drop_column("pages") end, "no such column: pages")
end)

test("rows that violate a new constraint are refused", function()
  make_books()
  refused("constraint_check", function(t) t:check("pages = '320'") end)
  refused("constraint_unique", function(t) t:unique_key("author_id", "replace") end)
  refused("constraint_not_null", function(t) t:change_column("sequel_of"):not_null("ignore") end)
  refused("definition", function(t) t:foreign_key("pages", "author") end, "rows of `book` refer to rows of `author`")
  refused("sql", function(t) t:drop_primary_key() end, "foreign key mismatch")
end)

test("a belongs_to column can be added to a table with rows", function()
  make_books()
  db:execute("CREATE TABLE shelf (room TEXT, number INTEGER, PRIMARY KEY (room, number))")
  db:alter_table("book", function(t)
    t:belongs_to("author", { columns = { "editor_id" } })
    t:belongs_to("shelf", { on_delete = "set null" })
  end)
  equal(#db:foreign_keys("book"), 4)
  equal(db:index_exists("book_on_editor_id"), true)
  equal(db:index_exists("book_on_shelf_room_shelf_number"), true)
  db:alter_table("page", function(t) t:belongs_to("page", { columns = { "next_id" } }) end)
  equal(db:foreign_keys("page")[2].table, "page")
end)

test("observations see the converted values", function()
  make_books()
  local observation = db:observe(function(db) return db:fetch_value("SELECT pages FROM book WHERE id = 3") end)
  equal(observation:next(), "322")
  db:alter_table("book", function(t) t:change_column("pages", "integer"):using("pages * 2") end)
  equal(observation:next(), 644)
  observation:cancel()
end)

test("temporary and attached tables can be rebuilt", function()
  db:execute[[CREATE TEMP TABLE t (a TEXT); CREATE INDEX temp.ti ON t (a); INSERT INTO t VALUES ('1');
    CREATE TEMP TRIGGER tt AFTER INSERT ON t BEGIN SELECT 1; END; CREATE TEMP VIEW tv AS SELECT a FROM t]]
  db:alter_table("t", function(t) t:change_column("a", "integer"):not_null() end)
  equal(db:fetch_all("SELECT * FROM tv"), { { a = 1 } })
  equal(db:fetch_values("SELECT name FROM sqlite_temp_schema ORDER BY name"), { "t", "ti", "tt", "tv" })
  db:write_without_transaction(function(db)
    db:execute[[ATTACH ':memory:' AS other; CREATE TABLE other.o (a TEXT); CREATE UNIQUE INDEX other.oi ON o (a); INSERT INTO o VALUES ('1')]]
    db:alter_table("o", function(t) t:change_column("a", "integer") end)
    equal(db:fetch_values("SELECT name FROM other.sqlite_schema ORDER BY name"), { "o", "oi" })
    equal(db:fetch_value("SELECT a FROM o"), 1)
  end)
end)

test("table definitions in any notation are parsed", function()
  local texts = {
    [[CREATE TABLE x (a)]], [[CREATE TABLE x(a,b,c)]], "CREATE TABLE x (\n  a INT, -- first\n  b INT, -- second\n  -- third\n  c INT)",
    [[CREATE TABLE x (a VARCHAR ( 10 , 2 ) NOT NULL ON CONFLICT REPLACE DEFAULT -1.5 NULL, b "my type" DEFAULT (1 + (2)) CHECK (a > ')'), c)]],
    [[CREATE TABLE x (a INT CONSTRAINT k PRIMARY KEY DESC ON CONFLICT ABORT, b UNIQUE ON CONFLICT FAIL REFERENCES y (z) ON DELETE SET NULL ON UPDATE NO ACTION MATCH FULL NOT DEFERRABLE INITIALLY IMMEDIATE, c GENERATED ALWAYS AS (b + 1) STORED)]],
    [[CREATE TABLE x (a, b AS (a * 2), c TEXT COLLATE nocase DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (a, b COLLATE rtrim DESC) CHECK (c) UNIQUE (c), CONSTRAINT f FOREIGN KEY (a) REFERENCES y ON DELETE CASCADE DEFERRABLE) /* after */]],
    [[CREATE TABLE x ([a b] generated, `c` "d" 'e', 'f' INT, b, c1)]],
  }
  for _, sql in ipairs(texts) do
    if sql:find("b AS %(a") then sql = sql:gsub("PRIMARY KEY %(a, b COLLATE", "PRIMARY KEY (a, c COLLATE") end
    db:execute(sql)
    local stored = sql_of("x")
    local before = db:fetch_all("SELECT * FROM pragma_table_xinfo('x')")
    db:alter_table("x", function(t) t:options{ strict = false } end)
    equal(db:fetch_all("SELECT * FROM pragma_table_xinfo('x')"), before)
    -- The rewritten text separates constraints by commas.
    local function plain(text) return (text:gsub('^CREATE TABLE "x"', "CREATE TABLE x"):gsub("%s+", ""):gsub("%),", ")")) end
    equal(plain(sql_of("x")), plain(stored))
    db:execute("DROP TABLE x")
  end
end)

test("comments in a table definition move with their columns", function()
  db:execute("CREATE TABLE x (\n  a INT, -- first\n  -- the second\n  b INT,\n  c INT -- last\n)")
  db:alter_table("x", function(t) t:order_columns{ "c", "b" } end)
  equal(sql_of("x"), 'CREATE TABLE "x" (\n  c INT, -- last\n  -- the second\n  b INT,\n  a INT -- first\n)')
  db:alter_table("x", function(t) t:drop_column("c") t:add_column("d", "text"):unique() end)
  equal(sql_of("x"), 'CREATE TABLE "x" (\n  -- the second\n  b INT,\n  a INT, -- first\n  "d" TEXT UNIQUE\n)')
end)

test("comments outside columns are kept if the table options change", function()
  db:execute("CREATE TABLE x (a INT NOT NULL PRIMARY KEY, b TEXT -- b\n) /* one */ STRICT /* two */, WITHOUT /* three */ ROWID -- four")
  db:alter_table("x", function(t) t:options{ strict = false } end)
  equal((sql_of("x"):gsub("%s+", " ")), 'CREATE TABLE "x" (a INT NOT NULL PRIMARY KEY, b TEXT -- b ) WITHOUT ROWID /* one */ /* two */ /* three */ -- four')
  -- SQLite does not store comments after a table without options.
  db:alter_table("x", function(t) t:options{ without_rowid = false } end)
  equal((sql_of("x"):gsub("%s+", " ")), 'CREATE TABLE "x" (a INT NOT NULL PRIMARY KEY, b TEXT -- b /* one */ /* two */ /* three */ -- four )')
  db:alter_table("x", function(t) t:options{ strict = true } end)
  matches(sql_of("x"), "/* three */")
end)

test("comments in changed parts of a column are kept", function()
  db:execute("CREATE TABLE x (a DOUBLE /* why */ PRECISION DEFAULT /* none */ 0, b LONG /* b */ INT)")
  db:alter_table("x", function(t)
    t:change_column("a", "text"):default("x")
    t:change_column("b", "text")
  end)
  equal(sql_of("x"), 'CREATE TABLE "x" (a TEXT /* none */ /* why */ DEFAULT \'x\', b TEXT /* b */)')
end)

test("rebuilds of virtual tables and of columns in a synchronized full-text table are refused", function()
  db:execute("CREATE VIRTUAL TABLE f USING fts5(a)")
  matches(fails("definition", db.alter_table, db, "f", function(t) t:change_column("a", "text") end), "virtual table")
  make_books()
  db:create_fts5("book_text", { synchronize_with = "book", columns = { "title" } })
  db:alter_table("book", function(t) t:change_column("pages", "integer") end)
  db:execute("UPDATE book SET title = 'Whale' WHERE id = 3")
  equal(db:fetch_value("SELECT rowid FROM book_text WHERE book_text MATCH 'whale'"), 3)
  refused("definition", function(t) t:drop_primary_key() end, "full-text table `book_text`")
  refused("definition", function(t) t:drop_column("title") end, "full-text table `book_text`")
end)

test("invalid options are refused, and a dry run without changes returns no statements", function()
  make_books()
  fails("unknown_option", db.alter_table, db, "book", { dry = true }, print)
  fails("argument", db.alter_table, db, "book", { dry_run = 1 }, print)
  fails("argument", db.alter_table, db, "book", { dry_run = true })
  equal(#db:alter_table("book", { dry_run = true }, function() end), 0)
  local statements = db:alter_table("book", { dry_run = true }, function(t) t:add_column("x", "text") end)
  equal(tostring(statements), 'ALTER TABLE "book" ADD COLUMN "x" TEXT;')
  equal(#db:columns("book"), 5)
  refused("unknown_option", function(t) t:options{ stirct = true } end)
  refused("definition", function(t) t:options{ strict = true } t:change_column("pages", "boolean") end)
end)
