-- Histories: previous versions of rows, when they were written, and in which transaction.
group("history", { template = "shelf", tags = { "records" }, clock = "2026-03-01 12:00:00" }, function()
  local function keep(t)
    local Book = t.fixtures.models.Book
    local history = perilune.history(Book)
    history:install(t.db)
    t.clock:set("2026-03-02 12:00:00")
    return Book, history
  end

  scenario("a class returns its records at an earlier time, and a record its versions", function(t)
    local Book = keep(t)
    t.db:execute("UPDATE book SET pages = 1000 WHERE id = 2; DELETE FROM book WHERE id = 3")
    expect(Book:order("id"):pluck("title")):equals { "Typee", "Moby-Dick" }
    expect(Book:as_of("2026-03-01 13:00:00"):fetch_all()):rows [[
      | title      | pages |
      | Typee      | 326   |
      | Moby-Dick  | 635   |
      | The Plague | 308   |
    ]]
    local former = Book:as_of("2026-03-01 13:00:00"):filter(Book.c.pages:lt(700)):order("pages")
    expect(former:pluck("title")):equals { "The Plague", "Typee", "Moby-Dick" }
    check(former:fetch_count() == 3)
    local versions = Book:find(2):history()
    check(#versions == 2)
    check(versions[2].operation == "update")
    expect(versions[2].changed):equals { "pages" }
    check(versions[2].time == perilune.now())
  end)

  scenario("a transaction with a note can be undone completely", function(t)
    local Book, history = keep(t)
    t.db:write({ note = "old books out" }, function(db)
      db:execute("DELETE FROM book WHERE year < 1850")
      db:execute("UPDATE book SET pages = 0")
    end)
    local done = history:transactions()[1]
    check(done.note == "old books out")
    check(history:undo(done.id) == 3)
    expect(Book:order("id"):pluck("pages")):equals { 326, 635, 308 }
    -- Later changes are not overwritten.
    t.db:execute("UPDATE book SET pages = 1 WHERE id = 1")
    expect_error(function() history:undo(history:transactions()[1].id) end, "has been changed since")
  end)

  scenario("a history follows schema changes of its table or rejects them", function(t)
    local Book, history = keep(t)
    t.db:alter_table("book", function(table)
      table:rename_column("pages", "page_count")
      table:add_column("is_lent", "boolean"):not_null():default(false)
      table:drop_column("year")
    end)
    t.db:execute("UPDATE book SET page_count = 1000, is_lent = TRUE WHERE id = 2")
    local versions = Book:find(2):history()
    check(versions[1].record.page_count == 635)
    expect(versions[2].changed):equals { "is_lent" }
    expect(versions[3].changed):equals { "page_count", "is_lent" }
    check(t.db:fetch_value("SELECT year FROM book_history WHERE id = 2 AND history_operation = 'start'") == 1851)
    t.db:rename_table("book", "volume")
    local Volume = perilune.record("volume")
    perilune.history(Volume)
    check(Volume:find(2):history()[1].record.page_count == 635)
    expect_error(function() t.db:alter_table("volume", function(table) table:add_column("history_day", "real") end) end, "a name that histories use")
    expect_error(function() t.db:drop_table("volume") end, "`volume` has a history, `volume_history`; remove it first")
  end)

  scenario("a history includes the changes of another program", function(t)
    local path = t.tmp_dir .. "/notes.sqlite"
    local mine, theirs = perilune.pool(path), perilune.queue(path)
    mine:execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
    local Note = perilune.record("note")
    local history = perilune.history(Note)
    history:install(mine)
    theirs:write(function(db)
      db:execute("INSERT INTO note (text) VALUES ('theirs')")
      check(mine:fetch_value("SELECT COUNT(*) FROM note_history") == 0)
    end)
    mine:write({ note = "mine" }, function(db) db:execute("UPDATE note SET text = 'mine'") end)
    local versions = Note:find(mine, 1):history(mine)
    check(versions[1].transaction == nil)
    check(versions[2].note == "mine")
    history:undo(mine, versions[2].transaction)
    check(theirs:fetch_value("SELECT text FROM note") == "theirs")
    mine:close()
    theirs:close()
  end)
end)
