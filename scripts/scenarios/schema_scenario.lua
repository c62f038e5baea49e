-- Changes of tables that contain rows, and of everything that depends on them.
group("schema", { template = "shelf", tags = { "schema" } }, function()
  local function sql_of(db, name)
    return db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = ?", name)
  end

  scenario("a column changes its type and properties, and the rest of the table stays", function(t)
    t.db:create_view("long_book", "SELECT title FROM book WHERE pages > 320")
    t.db:alter_table("book", function(table)
      table:change_column("pages", "real"):not_null():default(0)
      table:change_column("title"):collate("nocase")
    end)
    expect(t.db:fetch_all("SELECT id, title, pages FROM book WHERE title = 'TYPEE'")):rows "| id | title | pages |\n| 1 | Typee | 326.0 |"
    expect(t.db:fetch_all("SELECT * FROM long_book ORDER BY 1")):rows "| title |\n| Moby-Dick |\n| Typee |"
    check(t.db:foreign_keys("book")[1].on_delete == "cascade")
    check(t.db:has_unique_key("book", { "author_id", "title" }))
  end)

  scenario("values that a type would change are rejected, or converted on request", function(t)
    t.db:execute("UPDATE author SET country = '033' WHERE id = 2")
    local function to_number(using)
      t.db:alter_table("author", function(table)
        local column = table:change_column("country", "integer")
        if using then column:using(using) end
      end)
    end
    expect_error(function() to_number() end, "would change the values of `country` in 1 row")
    to_number("CASE WHEN country GLOB '[0-9]*' THEN CAST(country AS INTEGER) END")
    expect(t.db:fetch_all("SELECT id, country FROM author ORDER BY id")):rows "| id | country |\n| 1 | ~ |\n| 2 | 33 |\n| 3 | ~ |"
  end)

  scenario("keys and checks are added and dropped", function(t)
    t.db:alter_table("book", function(table)
      table:drop_unique_key { "author_id", "title" }
      table:unique_key { "title", "year" }
      table:drop_check("year > 0")
      table:check("year BETWEEN 1450 AND 2100")
      table:drop_foreign_key("author_id")
      table:foreign_key("author_id", "author", { on_delete = "restrict" })
      table:order_columns { "id", "title", "year" }
    end)
    expect_error(function() t.make.book { year = 1000, author_id = 1 } end, { kind = "constraint_check" })
    expect_error(function() t.db:execute("DELETE FROM author") end, "FOREIGN KEY constraint failed")
    check(t.db:columns("book")[2].name == "title")
  end)

  scenario("an added column must fit the rows, and a dropped one must not be in use", function(t)
    expect_error(function() t.db:alter_table("book", function(table) table:unique_key("author_id") end) end, { kind = "constraint_unique" })
    expect_error(function() t.db:alter_table("book", function(table) table:change_column("year"):not_nul() end) end, "did you mean `not_null`")
    t.db:create_view("years", "SELECT year FROM book")
    expect_error(function()
      t.db:alter_table("book", function(table)
        table:drop_check("year > 0")
        table:drop_column("year")
      end)
    end, "error in view years")
    check(t.db:columns("book")[4].name == "year")
  end)

  scenario("a dry run lists the steps without making them", function(t)
    local before = t.db:schema_sql()
    local statements = t.db:alter_table("book", { dry_run = true }, function(table) table:change_column("pages", "text") end)
    check(statements[1]:find('CREATE TABLE "main"."perilune_new_book"', 1, true) == 1)
    check(statements[2]:find("INSERT OR ABORT INTO", 1, true) == 1)
    check(t.db:schema_sql() == before)
  end)

  scenario("a rebuild loses no writes of concurrent connections", function(t)
    local path = t.tmp_dir .. "/notes.sqlite"
    local mine, theirs = perilune.pool(path), perilune.queue(path)
    mine:execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
    theirs:execute("INSERT INTO note (text) VALUES ('1'), ('2')")
    local function alter() mine:alter_table("note", function(table) table:change_column("text", "integer") end) end
    theirs:write(function(db)
      db:execute("INSERT INTO note (text) VALUES ('3')")
      expect_error(alter, { kind = "busy" })
    end)
    theirs:read(function(db)
      check(db:fetch_value("SELECT COUNT(*) FROM note") == 3)
      alter()
      -- The function still sees the original table.
      check(db:fetch_value("SELECT typeof(text) FROM note WHERE id = 3") == "text")
    end)
    theirs:execute("INSERT INTO note (text) VALUES ('4')")
    expect(mine:fetch_values("SELECT text FROM note")):equals { 1, 2, 3, 4 }
    check(sql_of(mine, "note"):find("text INTEGER", 1, true) ~= nil)
    mine:close()
    theirs:close()
  end)

  scenario("a trigger runs statements or rejects the change", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    t.db:alter_table("author", function(table) table:add_column("book_count", "integer"):not_null():default(0) end)
    t.db:create_trigger("count_books", {
      on = "book", after = "insert", when = function(new) return new.year:gt(1800) end,
      run = function(new)
        return Author:filter(Author.c.id:eq(new.author_id)):statement("update_all", { book_count = Author.c.book_count + 1 })
      end,
    })
    t.make.book { author_id = 3, year = 1900 }
    t.make.book { author_id = 3, year = 1700 }
    check(Author:find(3).book_count == 1)
    t.db:create_trigger("keep_old", { on = "book", before = "delete", when = "old.year < 1800", refuse = "old books stay" })
    expect_error(function() Book:delete_all() end, "old books stay")
    expect_error(function() t.db:create_trigger("x", { on = "book", after = "insrt", run = "SELECT 1" }) end, "did you mean `insert`")
  end)

  scenario("a trigger on a view writes to tables, and temporary triggers end with the connection", function(t)
    t.db:create_view("title", "SELECT title, name FROM book JOIN author ON author.id = author_id", { temporary = true })
    t.db:create_trigger("insert_title", {
      on = "title", instead_of = "insert", temporary = true,
      run = "INSERT INTO book (author_id, title) SELECT id, new.title FROM author WHERE name = new.name",
    })
    t.db:execute("INSERT INTO title VALUES ('Omoo', 'Herman Melville')")
    check(t.db:fetch_value("SELECT author_id FROM book WHERE title = 'Omoo'") == 1)
    check(not t.db:schema_sql():find("insert_title"))
    t.db:drop_trigger("insert_title")
  end)
end)
