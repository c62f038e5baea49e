-- The example scripts of this project, each on a separate database.
group("scripts/examples", { database = "empty", tags = { "examples" } }, function()
  scenario("library.lua creates and fills its tables only once", function(t)
    local first = t.run("scripts/examples/library.lua")
    expect(first.output):contains("Herman Melville (United States), born in 1819")

    t.step("the books of Melville are gone with him, those of others are there", function()
      expect(t.db.author:order("name")):rows [[
        | name                    | country  | born       |
        | Anonymous               | ~        | ~          |
        | Gabriel García Márquez  | Colombia | 1927-03-06 |
      ]]
      expect(t.db.book:order("year")):rows [[
        | title                | year | is_read |
        | Lazarillo de Tormes  | 1554 | false   |
        | Cien años de soledad | 1967 | false   |
      ]]
    end)

    t.step("a second run finds what is there, and does the same again", function()
      local second = t.run("scripts/examples/library.lua")
      expect(second.output):contains("Herman Melville (United States), born in 1819")
      expect(second.changes):is_empty()
      expect(t.db:fetch_all("SELECT identifier FROM grdb_migrations")):count(2)
    end)
  end)

  scenario("reminders.lua inserts drafts that keep the fields of a form", function(t)
    local result = t.run("scripts/examples/reminders.lua")
    expect(t.db.reminder:order("id")):rows [[
      | title         | due                 | is_completed |
      | Get groceries | 2026-03-01 18:00:00 | false        |
      | Call Anna     | ~                   | false        |
      | Water plants  | ~                   | false        |
    ]]
    expect(t.db.reminder_list):rows "| name |\n| Errands |"
    expect(result.output):contains('Stored:\t["shop","today"]')
  end)

  scenario("configuration.lua stores one row without default values", function(t)
    local result = t.run("scripts/examples/configuration.lua")
    expect(t.db.configuration):rows [[
      | id | theme | shows_hints |
      | 1  | blue  | ~           |
    ]]
    expect(result.output):contains("Too loud:\tfalse\tconstraint_check")
  end)

  scenario("wines.lua prints its report", function(t)
    expect(t.run("scripts/examples/wines.lua").output):matches("%S")
  end)

  group("the music shop", { timeout = "10m" }, function()
    scenario("report.lua fills a missing shop and leaves an existing one unchanged", function(t)
      local first = t.run("scripts/examples/music_shop/report.lua")
      expect(first.output):contains("125 artists, 295 albums, 3,000 tracks")
      check(t.db.track:fetch_count() == 3000)
      expect(t.db:fetch_all("SELECT name FROM genre WHERE id NOT IN (SELECT genre_id FROM track WHERE genre_id IS NOT NULL)")):count(1)

      local second = t.run("scripts/examples/music_shop/report.lua")
      expect(second.changes):is_empty()
      expect(second.output):equals(first.output)
    end)

    scenario("one playlist is exported in M3U format", function(t)
      local result = t.run("scripts/examples/music_shop/report.lua", { "export", "Staff Picks" })
      expect(result.output):matches("^#EXTM3U\n")
    end)

    scenario("questions.lua finds the same answers with requests and SQL", function(t)
      local result = t.run("scripts/examples/music_shop/questions.lua")
      expect(result.output):contains("How many tracks does each genre have?")
    end)
  end)
end)
