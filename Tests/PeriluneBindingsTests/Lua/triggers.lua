--- Triggers as definitions.

local function sql_of(name)
  return db:fetch_value("SELECT sql FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) WHERE name = ?", name)
end

local function make_shop()
  db:execute[[CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, book_count INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER, title TEXT, is_sold BOOLEAN DEFAULT FALSE);
    CREATE TABLE log (text TEXT);
    CREATE VIEW title AS SELECT title, author_id FROM book;
    INSERT INTO author (name) VALUES ('Melville')]]
end

local function refused(kind, options, part)
  local before = db:schema_sql()
  local err = fails(kind, db.create_trigger, db, "t", options)
  if part then matches(err, part) end
  equal(db:schema_sql(), before)
  return err
end

test("a trigger runs statements after an event", function()
  make_shop()
  equal(select("#", db:create_trigger("count_books", {
    on = "BOOK", after = "insert", run = "UPDATE author SET book_count = book_count + 1 WHERE id = new.author_id;",
  })), 0)
  equal(sql_of("count_books"), [[CREATE TRIGGER "count_books" AFTER INSERT ON "book" BEGIN
  UPDATE author SET book_count = book_count + 1 WHERE id = new.author_id;
END]])
  db:execute("INSERT INTO book (author_id) VALUES (1), (1)")
  equal(db:fetch_value("SELECT book_count FROM author"), 2)
end)

test("conditions and statements can use the columns of the old and new row", function()
  make_shop()
  local Log = perilune.record("log")
  db:create_trigger("log_title", {
    on = "book", before = "update", columns = { "TITLE", "author_id" },
    when = function(new, old) return new.title:ne(old.title) & old.is_sold:eq(false) end,
    run = function(new, old)
      return {
        "INSERT INTO log VALUES (old.title || ' > ' || new.title)",
        Log:filter(Log.c.text:eq("it's")):statement("delete_all"),
      }
    end,
  })
  matches(sql_of("log_title"), 'BEFORE UPDATE OF "TITLE", "author_id" ON "book" WHEN ')
  db:execute("INSERT INTO log VALUES ('it''s'); INSERT INTO book (title, is_sold) VALUES ('Typee', 0), ('Omoo', 1)")
  db:execute("UPDATE book SET is_sold = is_sold; UPDATE book SET title = title || '!'")
  equal(db:fetch_values("SELECT text FROM log"), { "Typee > Typee!" })
end)

test("a trigger can refuse a change with a message", function()
  make_shop()
  db:create_trigger("stay", { on = "author", before = "delete", when = "old.book_count > 0", refuse = "authors with books stay, it's so" })
  db:execute("UPDATE author SET book_count = 1")
  local err = fails("constraint_trigger", db.execute, db, "DELETE FROM author")
  matches(err, "authors with books stay, it's so")
  db:drop_trigger("STAY")
  db:execute("DELETE FROM author")
end)

test("a trigger on a view replaces operations on the view", function()
  make_shop()
  db:create_trigger("insert_title", {
    on = "title", instead_of = "insert", run = function(new) return "INSERT INTO book (title, author_id) VALUES (new.title, new.author_id)" end,
  })
  db:execute("INSERT INTO title VALUES ('Omoo', 1)")
  equal(db:fetch_value("SELECT title FROM book"), "Omoo")
end)

test("a temporary trigger ends with its connection", function()
  local path = temporary_path("t.sqlite")
  local queue = perilune.queue(path)
  queue:execute("CREATE TABLE a (x); CREATE TABLE b (x)")
  queue:create_trigger("copy", { on = "a", after = "insert", run = "INSERT INTO b VALUES (new.x)", temporary = true })
  queue:create_trigger("copy", { on = "a", after = "insert", run = "SELECT 1", temporary = true, if_not_exists = true })
  queue:execute("INSERT INTO a VALUES (1)")
  equal(queue:trigger_exists("copy"), true)
  queue:close()
  queue = perilune.queue(path)
  queue:execute("INSERT INTO a VALUES (2)")
  equal(queue:fetch_values("SELECT x FROM b"), { 1 })
  queue:execute("ATTACH ':memory:' AS other; CREATE TABLE other.o (x)")
  queue:create_trigger("o1", { on = "o", after = "insert", refuse = "no" })
  equal(queue:fetch_value("SELECT name FROM other.sqlite_schema WHERE type = 'trigger'"), "o1")
  queue:close()
end)

test("inconsistent trigger definitions are refused", function()
  make_shop()
  equal(refused("unknown_table", { on = "bok", after = "insert", run = "SELECT 1" }).suggestion, "book")
  equal(refused("unknown_option", { on = "book", afther = "insert", run = "SELECT 1" }).suggestion, "after")
  equal(refused("unknown_event", { on = "book", after = "inserted", run = "SELECT 1" }).suggestion, "insert")
  refused("argument", { after = "insert", run = "SELECT 1" }, "missing option `on`")
  refused("argument", { on = "book", run = "SELECT 1" }, "missing option `before`, `after` or `instead_of`")
  refused("definition", { on = "book", after = "insert", before = "insert", run = "SELECT 1" }, "got several")
  refused("definition", { on = "book", instead_of = "insert", run = "SELECT 1" }, "is a table; use `before` or `after`")
  refused("definition", { on = "title", after = "insert", run = "SELECT 1" }, "is a view; use `instead_of`")
  refused("definition", { on = "book", after = "insert", columns = "title", run = "SELECT 1" }, "requires the event \"update\"")
  equal(refused("unknown_column", { on = "book", after = "update", columns = "titel", run = "SELECT 1" }).suggestion, "title")
  equal(refused("unknown_column", { on = "book", after = "update", when = function(new) return new.titel end, run = "SELECT 1" }).suggestion, "title")
  refused("definition", { on = "book", after = "insert", when = function(_, old) return old.title end, run = "SELECT 1" }, "has no `old` row")
  refused("definition", { on = "book", after = "insert", run = function(new) new.title = "x" end }, "cannot assign")
  refused("argument", { on = "book", after = "insert" }, "either option `run` or option `refuse`")
  refused("argument", { on = "book", after = "insert", run = "SELECT 1", refuse = "no" }, "either option `run` or option `refuse`")
  refused("argument", { on = "book", after = "insert", run = {} }, "at least one statement")
  refused("argument", { on = "book", after = "insert", run = "SELECT 1; SELECT 2" }, "use a list for several")
  refused("argument", { on = "book", after = "insert", run = "INSERT INTO log VALUES (?)" }, "cannot bind values")
  refused("argument", { on = "book", after = "insert", run = { 1 } }, "expected a statement")
  refused("argument", { on = "book", after = "insert", run = "SELECT 'a" }, "unterminated quote")
  refused("argument", { on = "book", after = "insert", when = "1) BEGIN SELECT 2; END; --", run = "SELECT 1" })
  refused("sql", { on = "book", after = "insert", run = "DROP TABLE log" })
  refused("argument", nil)
  fails("argument", db.create_trigger, db, 1, {})
  equal(fails("unknown_trigger", db.drop_trigger, db, "x").suggestion, nil)
  db:drop_trigger("x", { if_exists = true })
  fails("unknown_option", db.drop_trigger, db, "x", { if_exist = true })
end)

test("trigger statements of record classes accept columns of the row and other expressions", function()
  db:execute[[
    CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE noted (note_id INTEGER, text TEXT, length INTEGER)]]
  local Note, Noted = perilune.record("note"), perilune.record("noted")
  db:create_trigger("note_log", { on = "note", after = "insert", run = function(new)
    return Noted:statement("insert", { note_id = new.id, text = "new", length = perilune.fn.length(new.text) })
  end })
  Note{ id = 7, text = "four" }:insert()
  local noted = Noted:fetch_one()
  equal({ noted.note_id, noted.text, noted.length }, { 7, "new", 4 })
  Note:statement("update", { id = 7, text = perilune.fn.upper(Note.c.text) }):execute()
  equal(Note:find(7).text, "FOUR")
  Note:statement("upsert", { id = 7, text = perilune.sql("? || ?", "a", "b") }):execute()
  equal(Note:find(7).text, "ab")
  -- Expressions are only allowed in statements, not in records.
  fails("conversion", function() Note{ text = perilune.sql("1") }:insert() end)
end)

test("a database stays usable if its triggers and views have strings in double quotes", function()
  db:execute[[CREATE TABLE mob (id INTEGER PRIMARY KEY, updated TEXT, position INT); INSERT INTO mob VALUES (1, NULL, 2)]]
  matches(fails("sql", db.execute, db, 'SELECT "nothing"'), "no such column: nothing")
  db:execute[[
    CREATE TRIGGER moved AFTER UPDATE OF position ON mob BEGIN UPDATE mob SET updated = strftime("%Y", '2026-01-02') WHERE id = new.id; END;
    CREATE VIEW positions AS SELECT printf("%3.3f", position) AS p FROM mob]]
  local Mob = perilune.record "mob"
  Mob:update_all{ position = 3 }
  equal(Mob:find(1).updated, "2026")
  equal(db:fetch_value "SELECT p FROM positions", "3.000")
  db:alter_table("mob", function(t) t:rename_column("updated", "updated_at") end)
  Mob:find(1):update_changes{ position = 4 }
  equal(Mob:find(1).updated_at, "2026")
end)
