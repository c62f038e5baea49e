-- Plain SQL: databases, statements, rows, values, errors, transactions.
group("SQL", { template = "shelf", tags = { "sql" } }, function()
  group("databases", function()
    scenario("other databases are opened by path and closed", function(t)
      local path = t.tmp_dir .. "/notes.sqlite"
      local notes = perilune.queue(path)
      notes:execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
      notes:close()
      expect_error(function() notes:execute("SELECT 1") end, { kind = "closed" })
      local again = perilune.queue(path, { readonly = true })
      check(again:table_exists("note"))
      expect_error(function() again:execute("INSERT INTO note VALUES (1, 'x')") end, { kind = "readonly" })
    end)

    scenario("a database in memory is private", function(t)
      local private = perilune.queue()
      private:execute("CREATE TABLE note (id INTEGER PRIMARY KEY)")
      check(not t.db:table_exists("note"))
    end)

    scenario("foreign keys are checked unless a database is opened without them", function(t)
      check(t.db:fetch_value("PRAGMA foreign_keys") == 1)
      check(perilune.queue(nil, { foreign_keys = false }):fetch_value("PRAGMA foreign_keys") == 0)
    end)
  end)

  group("statements", function()
    scenario("a statement returns the inserted row ID and the number of changed rows", function(t)
      local inserted = t.db:execute("INSERT INTO author (name) VALUES (?)", "Sappho")
      check(inserted.inserted_rowid == 4)
      check(inserted.changed_rows == 1)
      check(t.db:execute("UPDATE book SET pages = pages + 1").changed_rows == 3)
    end)

    scenario("arguments are given by position or name and must match", {
      cases = {
        { name = "positions", sql = "SELECT title FROM book WHERE year > ? AND pages < ?", arguments = { 1850, 400 } },
        { name = "names", sql = "SELECT title FROM book WHERE year > :year AND pages < :pages", arguments = { { year = 1850, pages = 400 } } },
      },
    }, function(t)
      expect(t.db:fetch_values(t.case.sql, table.unpack(t.case.arguments))):equals { "The Plague" }
      expect_error(function() t.db:fetch_values(t.case.sql) end)
    end)

    scenario("several statements in one text run in order", function(t)
      t.db:execute("DELETE FROM book WHERE year < 1850; DELETE FROM author WHERE name = 'Anonymous'")
      expect(t.db.book):count(2)
      expect(t.db.author):count(2)
    end)

    scenario("a statement is prepared once and runs often", function(t)
      local insert = t.db:prepare("INSERT INTO author (name, country) VALUES (:name, :country)")
      for name, country in pairs { Plato = "Athens", Hypatia = "Alexandria" } do
        check(insert:execute { name = name, country = country }.changed_rows == 1)
      end
      expect(t.db:fetch_all("SELECT name, country FROM author WHERE id > 3 ORDER BY name")):rows [[
        | name    | country    |
        | Hypatia | Alexandria |
        | Plato   | Athens     |
      ]]
    end)
  end)

  group("rows", function()
    scenario("rows are iterated one by one, and the loop can be left", function(t)
      local titles = {}
      for row in t.db:rows("SELECT title FROM book ORDER BY year") do
        titles[#titles + 1] = row.title
        if #titles == 2 then break end
      end
      expect(titles):equals { "Typee", "Moby-Dick" }
    end)

    scenario("a row can be read by column name, by position and in column order", function(t)
      local row = t.db:fetch_one("SELECT id, name, country AS place FROM author WHERE id = 3")
      check(row.name == "Anonymous" and row[2] == "Anonymous")
      check(row.place == nil and row:has("place"))
      check(not row:has("country"))
      local names = {}
      for name in row:pairs() do names[#names + 1] = name end
      expect(names):equals { "id", "name", "place" }
    end)

    scenario("a missing row and a NULL value are nil", function(t)
      check(t.db:fetch_one("SELECT * FROM author WHERE id = 99") == nil)
      check(t.db:fetch_value("SELECT country FROM author WHERE id = 3") == nil)
    end)
  end)

  group("errors", function()
    scenario("an error has a kind, the SQL, and the nearest name", function(t)
      local err = expect_error(function() t.db:fetch_all("SELECT titel FROM book") end)
      expect(err.sql):contains("titel")
      expect(err.message):contains("titel")
    end)

    scenario("a constraint error names its columns and SQLite's code", function(t)
      local err = expect_error(function()
        t.db:execute("INSERT INTO author (name) VALUES ('Anonymous')")
      end, { kind = "constraint_unique", column = "author.name" })
      check(err.extended_code == 2067)
    end)
  end)

  group("transactions", function()
    scenario("a failing block undoes everything and raises the error again", function(t)
      local changes = t.changes(function()
        expect_error(function()
          t.db:write(function(db)
            db:execute("DELETE FROM book")
            error("not like this")
          end)
        end, "not like this")
      end)
      expect(changes):is_empty()
    end)

    scenario("a block can end with a commit or a rollback", function(t)
      t.db:in_transaction(function(db)
        db:execute("DELETE FROM book")
        return "rollback"
      end)
      expect(t.db.book):count(3)
    end)

    scenario("the handle of a block is unusable after the block", function(t)
      local kept
      t.db:read(function(db) kept = db end)
      expect_error(function() kept:fetch_value("SELECT 1") end)
    end)

    scenario("one connection reads while another one writes", { database = "file" }, function(t)
      t.db:write(function(db)
        db:execute("DELETE FROM book")
        check(db:fetch_value("SELECT count(*) FROM book") == 0)
      end)
      check(t.db:fetch_value("SELECT count(*) FROM book") == 0)
    end)
  end)
end)
