--- Creating and dropping views.

local function sql_of(name)
  return db:fetch_value("SELECT sql FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) "
    .. "WHERE name = ?", name)
end

test("the schema SQL of a table includes its indexes and triggers", function()
  db:execute[[
    CREATE TABLE a (x INTEGER); CREATE TABLE b (y INTEGER); CREATE VIEW v AS SELECT * FROM a; CREATE INDEX a_by_x ON a (x);
    CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END]]
  equal(db:schema_sql("A"), "CREATE TABLE a (x INTEGER);\nCREATE INDEX a_by_x ON a (x);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END;\n")
  equal(db:schema_sql("v"), "CREATE VIEW v AS SELECT * FROM a;\n")
  matches(db:schema_sql(), "CREATE TABLE b")
  db:execute("CREATE TABLE other (z INTEGER)")
  equal(db:schema_sql():find("CREATE TABLE other") < db:schema_sql():find("CREATE INDEX"), true)
  fails("unknown_table", function() db:schema_sql("c") end)
end)

test("a view can be created and dropped", function()
  db:create_table("book", function(t) t:primary_key("id", "integer") t:column("pages", "integer") end)
  equal(select("#", db:create_view("long_book", "SELECT * FROM book WHERE pages > 1000")), 0)
  equal(sql_of("long_book"), 'CREATE VIEW "long_book" AS SELECT * FROM book WHERE pages > 1000')
  db:execute("INSERT INTO book VALUES (1, 100), (2, 2000)")
  equal(db:fetch_values("SELECT id FROM long_book"), { 2 })
  db:drop_view("Long_Book")
  equal(db:views(), {})
end)

test("a view can name its columns, be temporary, and be created only if it is missing", function()
  for _ = 1, 2 do
    db:create_view('a"view', "SELECT 1, 2 -- two", { columns = { "one", 'tw"o' }, temporary = true, if_not_exists = true })
  end
  equal(db:fetch_one('SELECT * FROM "a""view"'), { one = 1, ['tw"o'] = 2 })
  equal(sql_of('a"view'), 'CREATE VIEW "a""view" ("one", "tw""o") AS SELECT 1, 2 -- two')
  db:create_view("v", "SELECT 1")
  matches(fails("sql", db.create_view, db, "v", "SELECT 1"), "already exists")
end)

test("a view can be a request with inline values", function()
  db:create_table("book", function(t) t:primary_key("id", "integer") t:column("title", "text") t:column("pages", "integer") end)
  local Book = perilune.record("book")
  db:create_view("v", Book:filter{ title = "it's" }:filter("title <> '?' AND pages > ?", 3):select("id"))
  matches(sql_of("v"), [["title" = 'it''s' AND (title <> '?' AND pages > 3)]])
  db:execute("INSERT INTO book VALUES (1, 'it''s', 3), (2, 'it''s', 4)")
  equal(db:fetch_values("SELECT id FROM v"), { 2 })
end)

test("the SQL of a view cannot have bound values", function()
  fails("argument", db.create_view, db, "v")
  fails("argument", db.create_view, db, "v", 12)
  matches(fails("argument", db.create_view, db, "v", "SELECT ?"), "cannot bind values")
  matches(fails("argument", db.create_view, db, "v", "SELECT 1; DROP TABLE x"), "it must be one expression")
  fails("sql", db.create_view, db, "v", "DELETE FROM x")
  fails("argument", db.create_view, db, "v", "SELECT 1", { columns = {} })
  equal(fails("unknown_option", db.create_view, db, "v", "SELECT 1", { column = "a" }).suggestion, "columns")
  equal(db:views(), {})
end)

test("drop_view requires an existing view", function()
  db:create_view("recent", "SELECT 1")
  db:create_table("t", function(t) t:column("a") end)
  equal(fails("unknown_view", db.drop_view, db, "recnt").suggestion, "recent")
  matches(fails("definition", db.drop_view, db, "t"), "db:drop_table")
  db:drop_view("nothing", { if_exists = true })
  db:read(function(db)
    fails("readonly", db.drop_view, db, "recent")
    fails("readonly", db.create_view, db, "v", "SELECT 1")
  end)
end)
