-- Records: Lua tables that represent rows.
group("records", { template = "shelf", tags = { "records" } }, function()
  group("inserting", function()
    scenario("an inserted record has its key and the defaults of the database", function(t)
      local Author = t.fixtures.models.Author
      local author = Author{ name = "Sappho", country = "Lesbos" }
      check(author.id == nil)
      author:insert()
      check(author.id == 4)
      check(author.is_alive == false)
    end)

    scenario("a class inserts plain tables, and many at once", function(t)
      local changes = t.changes(function()
        local Author = t.fixtures.models.Author
        Author:insert{ name = "Sappho" }
        Author:insert_all{ { name = "Plato" }, { name = "Hypatia", is_alive = true } }
      end)
      expect(changes):rows_any_order [[
        | op     | table  | key | name    | is_alive |
        | insert | author | 4   | Sappho  | false    |
        | insert | author | 5   | Plato   | false    |
        | insert | author | 6   | Hypatia | true     |
      ]]
    end)

    scenario("NULL is read as nil and written as perilune.null", function(t)
      local author = t.fixtures.models.Author:insert{ name = "Sappho", country = perilune.null }
      check(author.country == nil)
      expect(t.db:fetch_all("SELECT country FROM author WHERE id = ?", author.id)):rows "| country |\n| ~ |"
    end)

    scenario("a conflict policy determines how an existing row is handled", {
      cases = {
        { policy = "ignore", name = "ignored: nothing is written" },
        { policy = "replace", name = "replaced: the old row goes" },
      },
    }, function(t)
      local Author = t.fixtures.models.Author
      local result = Author{ name = "Anonymous", country = "Nowhere" }:insert{ on_conflict = t.case.policy }
      if t.case.policy == "ignore" then
        check(result == false)
        check(Author:find{ name = "Anonymous" }.country == nil)
      else
        check(Author:find{ name = "Anonymous" }.id ~= 3)
        check(Author:find{ name = "Anonymous" }.country == "Nowhere")
      end
      check(Author:fetch_count() == 3)
    end)

    scenario("an insert returns the requested columns", function(t)
      local Author = t.fixtures.models.Author
      check(Author{ name = "Sappho" }:insert{ returning = "id" } == 4)
      expect(Author{ name = "Plato" }:insert{ returning = { "id", "is_alive" } }):covers { id = 5, is_alive = false }
    end)
  end)

  group("finding", function()
    scenario("find raises an error for a missing row, and fetch_one returns nil", function(t)
      local Author = t.fixtures.models.Author
      check(Author:find(1).name == "Herman Melville")
      check(Author:find{ name = "Albert Camus" }.id == 2)
      check(Author:fetch_one(99) == nil)
      local err = expect_error(function() Author:find(99) end, { kind = "record_not_found", table = "author" })
      check(err.key == 99)
    end)

    scenario("any SQL can return records, even with additional columns", function(t)
      local list = t.fixtures.models.Author:fetch_all[[
        SELECT author.*, count(book.id) AS books FROM author LEFT JOIN book ON book.author_id = author.id GROUP BY author.id ORDER BY id]]
      expect(list):rows [[
        | name            | books |
        | Herman Melville | 2     |
        | Albert Camus    | 1     |
        | Anonymous       | 0     |
      ]]
    end)

    scenario("columns declared as dates and booleans are read as dates and booleans", function(t)
      local author = t.fixtures.models.Author:find(1)
      check(author.born.year == 1819)
      check(author.is_alive == false)
    end)

    scenario("a misspelled field is an error with the nearest name", function(t)
      local author = t.fixtures.models.Author:find(1)
      local err = expect_error(function() return author.contry end, { kind = "unknown_column" })
      check(err.suggestion == "country")
      expect_error(function() author.nmae = "x" end, "did you mean `name`%?")
      expect_error(function() t.fixtures.models.Author:insert{ nam = "x" } end, "did you mean `name`%?")
    end)
  end)

  group("changing", function()
    scenario("update writes all columns, and update_changes only the changed ones", function(t)
      local author = t.fixtures.models.Author:find(1)
      check(author:has_changes() == false)
      author.country = "US"
      expect(author:changes()):equals { country = { old = "United States", new = "US" } }
      local changes = t.changes(function() check(author:update_changes() == true) end)
      expect(changes):rows [[
        | op     | table  | key | country             | name |
        | update | author | 1   | United States -> US |      |
      ]]
      local queries = t.queries(function() check(author:update_changes() == false) end)
      expect(queries):exactly(0)
    end)

    scenario("a field that is set to nil is written as NULL", function(t)
      local author = t.fixtures.models.Author:find(1)
      author.country = nil
      author:update()
      check(t.db:fetch_value("SELECT country IS NULL FROM author WHERE id = 1") == 1)
    end)

    scenario("save updates an existing row and inserts a missing one", function(t)
      local author = t.fixtures.models.Author:find(1)
      author.country = "US"
      author:save()
      t.fixtures.models.Author{ name = "Sappho" }:save()
      expect(t.db.author:order("id")):rows [[
        | name            | country |
        | Herman Melville | US      |
        | Albert Camus    | France  |
        | Anonymous       | ~       |
        | Sappho          | ~       |
      ]]
    end)

    scenario("upsert finds the row by a unique column", function(t)
      local author = t.fixtures.models.Author{ name = "Albert Camus", country = "Algeria" }
      author:upsert()
      check(author.id == 2)
      check(t.db.author:fetch_one(2).country == "Algeria")
    end)

    scenario("delete returns whether the row existed and follows the schema's cascades", function(t)
      local author = t.fixtures.models.Author:find(1)
      check(author:delete() == true)
      check(author:delete() == false)
      expect(t.db.book):rows "| title |\n| The Plague |"
    end)

    scenario("a record can be refreshed after another write", function(t)
      local author = t.fixtures.models.Author:find(1)
      t.db:execute("UPDATE author SET country = 'US' WHERE id = 1")
      author:refresh()
      check(author.country == "US")
    end)
  end)

  group("constraints and validation", function()
    scenario("a violated constraint is an error that names the table and columns", {
      cases = {
        { name = "unique", kind = "constraint_unique", column = "author.name", row = { name = "Anonymous" } },
        { name = "not null", kind = "constraint_not_null", column = "author.name", row = { country = "x" } },
      },
    }, function(t)
      local changes = t.changes(function()
        expect_error(function() t.fixtures.models.Author:insert(t.case.row) end, { kind = t.case.kind, column = t.case.column })
      end)
      expect(changes):is_empty()
    end)

    scenario("a row that refers to a missing row is rejected", function(t)
      expect_error(function() t.fixtures.models.Book:insert{ author_id = 99, title = "x" } end, { kind = "constraint_foreign_key" })
    end)

    scenario("validate runs before each write and rejects invalid records", function(t)
      local Author = t.fixtures.models.Author
      function Author:validate()
        if not self.name:find("%S") then self:invalid("name", "must not be empty") end
      end
      local err = expect_error(function() Author{ name = " " }:insert() end, { kind = "validation" })
      check(err.errors[1].column == "name")
      expect(err.message):contains("must not be empty")
      check(Author:fetch_count() == 3)
    end)

    scenario("hooks run around writes, and an error in a hook undoes the write", function(t)
      local Author, seen = t.fixtures.models.Author, {}
      function Author:will_insert() seen[#seen + 1] = "will" end
      function Author:did_insert()
        seen[#seen + 1] = "did " .. self.id
        if self.name == "bad" then error("not this one") end
      end
      Author:insert{ name = "Sappho" }
      expect(seen):equals { "will", "did 4" }
      expect_error(function() Author:insert{ name = "bad" } end, "not this one")
      check(Author:fetch_count() == 4)
    end)
  end)

  group("drafts", function()
    scenario("a draft has the fields of a record and no key", function(t)
      local Author = t.fixtures.models.Author
      local draft = Author:draft{ name = "Sappho" }
      local author = Author:insert(draft)
      check(author.id == 4)
      local edited = Author:draft(author)
      edited.country = "Lesbos"
      check(Author:upsert(edited).id == 4)
      check(Author:find(4).country == "Lesbos")
    end)
  end)

  group("transactions", function()
    scenario("write commits all changes or none", function(t)
      local Author = t.fixtures.models.Author
      expect_error(function()
        t.db:write(function()
          Author:insert{ name = "Sappho" }
          error("changed my mind")
        end)
      end, "changed my mind")
      check(Author:fetch_count() == 3)
    end)

    scenario("a savepoint undoes part of a transaction", function(t)
      local Author = t.fixtures.models.Author
      t.db:write(function(db)
        Author:insert{ name = "Sappho" }
        db:in_savepoint(function()
          Author:insert{ name = "Plato" }
          return "rollback"
        end)
      end)
      check(Author:fetch_one{ name = "Sappho" } ~= nil)
      check(Author:fetch_one{ name = "Plato" } == nil)
    end)

    scenario("a read block rejects writes", function(t)
      local changes = t.changes(function()
        expect_error(function() t.db:read(function() t.fixtures.models.Author:insert{ name = "x" } end) end, { kind = "readonly" })
      end)
      expect(changes):is_empty()
    end)
  end)

  scenario("the scenario's clock applies in Lua and in SQL", { clock = "2026-03-31T18:00:00Z" }, function(t)
    check(perilune.now().year == 2026)
    check(t.db:fetch_value("SELECT strftime('%Y', 'now')") == "2026")
    t.clock:advance { days = 1 }
    expect(t.db:fetch_all("SELECT CURRENT_TIMESTAMP AS time, date('now') AS day")):rows [[
      | time                | day        |
      | 2026-04-01 18:00:00 | 2026-04-01 |
    ]]
  end)
end)

group("nested writing", { template = "shelf", tags = { "records" } }, function()
  scenario("a record is written with its associated records", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    local author = Author:save_nested { name = "Jane Austen", books = { { title = "Emma", year = 1815 }, { title = "Persuasion" } } }
    check(#author.books == 2)
    expect(Book:filter { author = author }:order("id"):pluck("title")):equals { "Emma", "Persuasion" }
    check(Book:save_nested { title = "Utopia", author = { name = "Thomas More" } }.author.name == "Thomas More")
  end)

  scenario("nested rows with a key are updated, and missing rows are deleted on request", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    Author:save_nested({ id = 1, country = "US", books = { { id = 2, pages = 640 }, { title = "Omoo" } } }, { delete_missing = true })
    expect(Book:filter { author_id = 1 }:order("id"):select("title", "pages"):fetch_all()):rows "| title | pages |\n| Moby-Dick | 640 |\n| Omoo | ~ |"
    -- Rows are not taken away from other owners.
    expect_error(function() Author:save_nested { id = 1, books = { { id = 3 } } } end, { kind = "nested_owner" })
  end)

  scenario("nested records are written completely or not at all, and errors name the place", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    local err = expect_error(function()
      Author:save_nested { name = "x", books = { { title = "a" }, { title = "b", year = -1 } } }
    end, { kind = "constraint_check" })
    check(err.path == "books[2]")
    check(not Author:filter { name = "x" }:exists())
    expect_error(function() Author:save_nested { name = "x", boks = {} } end, "did you mean `books`")
    check(Book:fetch_count() == 3)
  end)
end)
