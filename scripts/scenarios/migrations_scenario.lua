-- Migrations: how a schema evolves, and tables defined in Lua.
group("migrations", { database = "empty", tags = { "migrations" } }, function()
  local function library()
    local migrator = perilune.migrator()
    migrator:register("create library", { down = "DROP TABLE author" }, function(db)
      db:create_table("author", function(t)
        t:auto_incremented_primary_key("id")
        t:column("name", "text"):not_null()
      end)
    end)
    migrator:register("add countries", { down = "ALTER TABLE author DROP COLUMN country" }, "ALTER TABLE author ADD COLUMN country TEXT")
    return migrator
  end

  scenario("each migration runs once, in order", function(t)
    local migrator = library()
    expect(migrator:pending(t.db)):equals { "create library", "add countries" }
    expect(migrator:migrate(t.db)):equals { "create library", "add countries" }
    expect(migrator:migrate(t.db)):equals {}
    check(migrator:has_completed(t.db))
  end)

  scenario("a database is migrated up to a named migration and back", function(t)
    local migrator = library()
    migrator:migrate(t.db, "create library")
    expect(migrator:pending(t.db)):equals { "add countries" }
    migrator:migrate(t.db)
    t.given.author { name = "Sappho", country = "Lesbos" }
    check(migrator:migrate_down(t.db) == "add countries")
    expect(t.db:fetch_all("SELECT * FROM author")):rows "| id | name |\n| 1 | Sappho |"
  end)

  scenario("a failing migration is rolled back and named in the error", function(t)
    local migrator = library()
    migrator:register("spoil", function(db)
      db:execute("DROP TABLE author")
      error("not like this")
    end)
    migrator:register("never", "CREATE TABLE never (id INTEGER PRIMARY KEY)")
    local err = expect_error(function() migrator:migrate(t.db) end, "not like this")
    check(err.migration == "spoil")
    expect(migrator:applied(t.db)):equals { "create library", "add countries" }
    check(t.db:table_exists("author"))
    check(not t.db:table_exists("never"))
  end)

  scenario("a migration that breaks foreign keys is refused", function(t)
    local migrator = perilune.migrator()
    migrator:register("one", [[
      CREATE TABLE a (id INTEGER PRIMARY KEY);
      CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER NOT NULL REFERENCES a (id));
      INSERT INTO b VALUES (1, 99)]])
    local err = expect_error(function() migrator:migrate(t.db) end, { kind = "constraint_foreign_key" })
    check(err.migration == "one")
    check(not t.db:table_exists("b"))
  end)

  scenario("a migration can replace several others", function(t)
    library():migrate(t.db, "create library")
    local migrator = perilune.migrator()
    migrator:register("library", { merges = { "create library", "add countries" } }, function(db, applied)
      check(applied["create library"] == true)
      if not applied["add countries"] then db:execute("ALTER TABLE author ADD COLUMN country TEXT") end
    end)
    migrator:migrate(t.db)
    expect(migrator:applied(t.db)):equals { "library" }
    expect(t.db:columns("author")):count(3)
  end)

  scenario("a folder of files defines migrations", function(t)
    local folder = t.tmp_dir
    local function write(name, text)
      local file = assert(io.open(folder .. "/" .. name, "w"))
      file:write(text)
      file:close()
    end
    write("0001_create.sql", "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
    write("0002_fill.lua", "return function(db) db:execute(\"INSERT INTO note VALUES (1, 'first')\") end")
    local migrator = perilune.migrator{ folder = folder }
    expect(migrator:migrate(t.db)):equals { "0001_create", "0002_fill" }
    expect(t.db.note):rows "| id | text |\n| 1 | first |"
  end)

  group("tables", function()
    scenario("a table is defined in Lua and not created if the definition is invalid", function(t)
      t.db:create_table("book", function(b)
        b:auto_incremented_primary_key("id")
        b:column("title", "text"):not_null():collate("nocase")
        b:column("pages", "integer"):default(0)
        b:column("words", "integer"):generated_as("pages * 250")
      end)
      t.given.book { title = "Typee", pages = 2 }
      check(t.db.book:fetch_one(1).words == 500)
      local err = expect_error(function()
        t.db:create_table("page", function(p) p:column("book_id", "integer"):references("book", { on_delete = "cascad" }) end)
      end, { kind = "unknown_action" })
      check(err.suggestion == "cascade")
      check(not t.db:table_exists("page"))
    end)

    scenario("a table is altered and keeps its rows", function(t)
      t.db:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, pages INTEGER); INSERT INTO book VALUES (1, 326)")
      t.db:alter_table("book", function(b)
        b:rename_column("pages", "length")
        b:add_column("title", "text")
      end)
      expect(t.db.book):rows "| id | length | title |\n| 1 | 326 | ~ |"
      check(t.db:integrity_check() == "ok")
    end)
  end)
end)
