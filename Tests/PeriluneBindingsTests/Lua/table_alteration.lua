--- Altering and renaming tables.

local function sql_of(name)
  return db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = ?", name)
end

local function make_book()
  db:create_table("author", function(t)
    t:auto_incremented_primary_key("id")
    t:column("name", "text")
  end)
  db:create_table("book", function(t)
    t:primary_key("id", "integer")
    t:column("title", "text"):not_null()
    t:column("note", "text")
  end)
  db:execute("INSERT INTO book (title) VALUES ('Typee')")
end

--- Checks that an alteration of `book` fails without any effect.
local function refused(kind, block, part)
  local before = db:schema_sql()
  local err = fails(kind, db.alter_table, db, "book", block)
  if part then matches(err, part) end
  equal(db:schema_sql(), before)
  return err
end

test("a table whose name has quotes can be rebuilt", function()
  db:execute[[CREATE TABLE "T""q'`" (id INTEGER PRIMARY KEY, a); INSERT INTO "T""q'`" VALUES (1, 2)]]
  db:alter_table([[T"q'`]], function(t) t:change_column("a"):default(1) end)
  db:execute[[INSERT INTO "T""q'`" (id) VALUES (3)]]
  equal(db:fetch_values[[SELECT a FROM "T""q'`" ORDER BY id]], { 2, 1 })
  db:notify_changes[[T"q'`]]
end)

test("columns can be added with types and modifiers", function()
  make_book()
  equal(select("#", db:alter_table("book", function(t)
    t:add_column("pages", "integer"):not_null():default(0):check("pages >= 0")
    t:add_column("author_id", "integer"):references("author", { on_delete = "cascade" }):indexed()
    t:add_column("length", "integer"):generated_as("length(title)")
    t:add_column("subtitle", "text"):collate("nocase")
    t:add_column_sql("rating REAL DEFAULT 2.5")
    t:add_column("parent", "integer"):references("book")
  end)), 0)
  equal(sql_of("book"), 'CREATE TABLE "book" ("id" INTEGER PRIMARY KEY, "title" TEXT NOT NULL, "note" TEXT, '
    .. '"pages" INTEGER NOT NULL CHECK (pages >= 0) DEFAULT 0, "author_id" INTEGER REFERENCES "author"("id") ON DELETE CASCADE, '
    .. '"length" INTEGER GENERATED ALWAYS AS (length(title)) VIRTUAL, "subtitle" TEXT COLLATE nocase, rating REAL DEFAULT 2.5, '
    .. '"parent" INTEGER REFERENCES "book"("id"))')
  equal(sql_of("book_on_author_id"), 'CREATE INDEX "book_on_author_id" ON "book"("author_id")')
  equal(db:fetch_one("SELECT pages, length, rating FROM book"), { pages = 0, length = 5, rating = 2.5 })
end)

test("columns can be renamed and dropped", function()
  make_book()
  db:create_index("book", { "note" })
  db:alter_table("book", function(t)
    t:rename_column("TITLE", "name")
    t:add_column("title", "integer")
    t:rename_column("note", "remark")
  end)
  equal(db:fetch_all("SELECT * FROM book"), { { id = 1, name = "Typee" } })
  equal(sql_of("book_on_note"), 'CREATE INDEX "book_on_note" ON "book"("remark")')
  db:alter_table("book", function(t) t:drop_column("title") end)
  equal(#db:columns("book"), 3)
end)

test("alter_table can add indexes", function()
  make_book()
  db:alter_table("book", function(t)
    t:add_column("pages", "integer")
    t:add_index{ "title", "pages" }
    t:add_index({ { "pages", desc = true } }, { name = "longest", where = "pages > 100", unique = true })
  end)
  equal(sql_of("book_on_title_pages"), 'CREATE INDEX "book_on_title_pages" ON "book"("title", "pages")')
  equal(sql_of("longest"), 'CREATE UNIQUE INDEX "longest" ON "book"("pages" DESC) WHERE pages > 100')
  equal(refused("unknown_column", function(t) t:add_index{ "page" } end).suggestion, "pages")
end)

test("an alteration happens completely or not at all", function()
  make_book()
  refused("sql", function(t)
    t:add_column("pages", "integer"):indexed()
    t:add_column("required", "text"):not_null()
  end, "NOT NULL")
  refused("sql", function(t) t:rename_column("note", "remark") t:drop_column("id") end, "cannot drop PRIMARY KEY column")
  db:write(function(db)
    db:execute("INSERT INTO book (title) VALUES ('Omoo')")
    refused("sql", function(t) t:add_column("pages") t:drop_column("id") end)
  end)
  equal(db:fetch_value("SELECT COUNT(*) FROM book"), 2)
end)

test("an error in the block of alter_table is raised, and nothing is altered", function()
  make_book()
  refused("oh", function(t) t:add_column("pages") error({ kind = "oh" }) end)
end)

test("an empty alteration does nothing", function()
  make_book()
  local before = db:schema_sql()
  db:alter_table("book", function() end)
  equal(db:schema_sql(), before)
end)

test("alter_table refuses missing columns and duplicate names", function()
  make_book()
  equal(refused("unknown_column", function(t) t:rename_column("titel", "name") end).suggestion, "title")
  equal(refused("unknown_column", function(t) t:drop_column("titel") end).suggestion, "title")
  refused("unknown_column", function(t) t:drop_column("title") t:rename_column("title", "x") end)
  refused("definition", function(t) t:add_column("TITLE") end, "column `title` already exists")
  refused("definition", function(t) t:rename_column("note", "title") end, "column `title` already exists")
  refused("definition", function(t) t:add_column("a") t:add_column("a") end)
  db:alter_table("book", function(t) t:rename_column("note", "NOTE") end)
  equal(db:columns("book")[3].name, "NOTE")
end)

test("an added column may refer to the table by its new names", function()
  make_book()
  db:alter_table("book", function(t)
    t:rename_column("id", "key")
    t:add_column("parent", "integer"):references("book")
    t:add_column("sibling", "integer"):references("book", { column = "key" })
  end)
  equal(db:foreign_keys("book")[1].referenced_columns, { "key" })
  refused("unknown_column", function(t) t:add_column("x"):references("book", { column = "id" }) end)
end)

test("STRICT tables stay STRICT when they are altered", function()
  db:create_table("t", { strict = true }, function(t) t:column("a", "text") end)
  fails("definition", db.alter_table, db, "t", function(t) t:add_column("b", "boolean") end)
  db:alter_table("t", function(t) t:add_column("b", "integer") end)
end)

test("only tables can be altered", function()
  make_book()
  db:create_view("v", "SELECT 1")
  equal(fails("unknown_table", db.alter_table, db, "bok", print).suggestion, "book")
  matches(fails("definition", db.alter_table, db, "v", print), "is a view")
  fails("argument", db.alter_table, db, nil, print)
  fails("argument", db.alter_table, db, "book")
end)

test("the object of alter_table is unusable after its block and has separate methods", function()
  make_book()
  local kept
  db:alter_table("book", function(t) kept = t end)
  fails("definition", kept.drop_column, kept, "note")
  equal(refused("unknown_method", function(t) t:add_colum("a") end).suggestion, "add_column")
  refused("argument", function(t) t.drop_column("note") end, "call it with a colon")
end)

test("a read block cannot alter tables", function()
  make_book()
  db:read(function(db)
    fails("readonly", db.alter_table, db, "book", function(t) t:add_column("a") end)
    fails("readonly", db.alter_table, db, "book", function(t) t:add_column("a") t:drop_column("note") end)
    fails("readonly", db.rename_table, db, "book", "volume")
  end)
end)

test("a table can be renamed, even if others refer to it", function()
  make_book()
  db:create_table("page", function(t) t:belongs_to("book") end)
  db:rename_table("book", 'the "book"')
  equal(db:tables(), { "author", "page", 'the "book"' })
  equal(db:foreign_keys("page")[1].table, 'the "book"')
  equal(fails("unknown_table", db.rename_table, db, "boo", "x").suggestion, nil)
  equal(fails("unknown_table", db.rename_table, db, "pag", "x").suggestion, "page")
  fails("sql", db.rename_table, db, "page", "author")
  fails("argument", db.rename_table, db, "page")
  db:create_view("v", "SELECT 1")
  matches(fails("definition", db.rename_table, db, "v", "w"), "is a view")
end)

test("new table and column names may be any text", function()
  db:create_table('a"b', function(t) t:column("select") end)
  db:alter_table('a"b', function(t)
    t:rename_column("select", 'x"; DROP TABLE y; --')
    t:add_column("größe", "text"):indexed()
  end)
  equal(db:columns('a"b')[1].name, 'x"; DROP TABLE y; --')
  equal(db:index_exists('a"b_on_größe'), true)
end)

test("errors of a rebuild name the table, not its temporary replacement", function()
  db:execute[[CREATE TABLE "a%1-b" (id INTEGER PRIMARY KEY, n TEXT); INSERT INTO "a%1-b" VALUES (1, NULL)]]
  local err = fails("constraint_not_null", function() db:alter_table("a%1-b", function(t) t:change_column("n", "text"):not_null() end) end)
  equal(err.message, "NOT NULL constraint failed: a%1-b.n")
  equal(db:fetch_value('SELECT COUNT(*) FROM "a%1-b"'), 1)
end)

test("dropping a column removes exactly the constraints in the column's definition", function()
  db:execute "CREATE TABLE p (id INTEGER PRIMARY KEY)"
  for _, own in ipairs{ "TEXT UNIQUE", "INTEGER CHECK (a > 0)", "INTEGER REFERENCES p(id)" } do
    db:execute("CREATE TABLE x (id INTEGER PRIMARY KEY, a " .. own .. ", b)")
    db:alter_table("x", function(t) t:drop_column("a") end)
    matches(db:fetch_value "SELECT sql FROM sqlite_schema WHERE name = 'x'", "(id INTEGER PRIMARY KEY, b)")
    db:drop_table("x")
  end
  for _, other in ipairs{ "b, UNIQUE (a, b)", "b, CHECK (a > b)", "b CHECK (a > 0)", "b, FOREIGN KEY (a) REFERENCES p(id)" } do
    db:execute("CREATE TABLE x (id INTEGER PRIMARY KEY, a, " .. other .. ")")
    fails("sql", function() db:alter_table("x", function(t) t:drop_column("a") end) end)
    equal(db:columns("x")[2].name, "a")
    db:drop_table("x")
  end
end)
