-- The scenario language: failures and checks.

group("scenarios", { template = "shelf" }, function()
  scenario("a failed condition shows the evaluated operands", function()
    local pages, year = 326, 1846
    local err = expect_error(function() check(pages > 300 and not (year < 1900)) end, { kind = "expectation" })
    check(err.message == "check(pages > 300 and not (year < 1900))")
    expect(err.details):equals{ "pages > 300 is true: pages is 326", "year < 1900 is true: year is 1846" }
  end)

  scenario("a failed check fails the scenario even inside pcall", { fails = { reason = "pcall", kind = "expectation" } }, function()
    local is_done = pcall(function() check(1 == 2) end)
    check(not is_done)
  end)

  scenario("a scenario can require a specific error", {
    fails = { reason = "no two books of an author have one title", kind = "constraint_unique", column = "book.title" },
  }, function(t)
    t.db.book:insert{ author_id = 1, title = "Typee" }
  end)

  scenario("a stub may require a number of calls", function(t)
    t.effects.mail:stub("send", true):once():stub("delete", true):never()
    require("mail").send{ to = "ada@example.org" }
    check(t.effects.mail:calls("send")[1].to == "ada@example.org")
  end)

  scenario("a spawned task that never begins fails the scenario", function(t)
    local count
    local task = perilune.spawn(function() count = t.db.book:fetch_count() end)
    task:wait()
    check(count == 3)
  end)

  scenario("a snapshot distinguishes values of different types", function(t)
    expect("1846"):snapshot("year as text")
    expect(1846):snapshot("year")
    expect(t.db.book:order("id"):select("title", "year")):snapshot("books")
  end)

  scenario("a full scan is detected anywhere in a statement", function(t)
    local function queries(sql) return t.queries(function() t.db:execute(sql) end) end
    for _, sql in ipairs{
      "SELECT name FROM author UNION ALL SELECT title FROM book", "SELECT EXISTS (SELECT 1 FROM author WHERE country = 'x')",
      "SELECT * FROM book WHERE id = 1 AND pages IN (SELECT born FROM author)", "SELECT pages, sum(pages) OVER () FROM book",
      "DELETE FROM book WHERE id = 1 AND EXISTS (SELECT 1 FROM author AS a WHERE a.country = book.title)",
      "WITH q AS MATERIALIZED (SELECT country FROM author) SELECT * FROM q",
    } do
      expect.no(queries(sql)):no_full_scan()
    end
    expect.no(queries "SELECT * FROM book WHERE id = 1 AND pages IN (SELECT born FROM author)"):no_full_scan("author")
    expect(queries "SELECT * FROM book WHERE id = 1 AND pages IN (SELECT born FROM author)"):no_full_scan("book")
    -- Rows of a common table, a function or a full-text search do not count as a table that is scanned.
    t.db:execute("CREATE VIRTUAL TABLE word USING fts5 (text)")
    expect(queries "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n"):no_full_scan()
    expect(queries "SELECT * FROM json_each('[1]')"):no_full_scan()
    expect(queries "SELECT * FROM word WHERE word MATCH 'a'"):no_full_scan()
    expect.no(queries "SELECT * FROM word"):no_full_scan()
  end)

  scenario("indistinguishable changed rows still count as changed", function(t)
    t.db:execute("CREATE TABLE n (k TEXT PRIMARY KEY, v); INSERT INTO n VALUES (NULL, 1), ('a', 1)")
    local function changes(sql) return t.changes(function() t.db:execute(sql) end) end
    for _, sql in ipairs{ "UPDATE n SET v = 2", "INSERT INTO n VALUES (NULL, 3)", "DELETE FROM n WHERE k IS NULL" } do
      expect(tostring(changes(sql))):contains("changed rows cannot be listed: n: some of its rows have NULL in their key")
    end
    expect(changes "UPDATE n SET v = 4"):rows "| op | key | v |\n| update | a | 2 -> 4 |"
  end)

  scenario("expected rows distinguish 1 from 2, and bytes from text", function(t)
    expect(t.db:fetch_all("SELECT 1 AS yes, 0 AS no, x'31' AS bytes, '1' AS text")):rows [[
      | yes  | no    | bytes | text |
      | true | false | x'31' | "1"  |
    ]]
    expect.no(t.db:fetch_all("SELECT 2 AS yes")):rows "| yes |\n| true |"
    expect.no(t.db:fetch_all("SELECT x'31' AS text")):rows '| text |\n| "1" |'
    expect.no(t.db:fetch_all("SELECT '1' AS bytes")):rows "| bytes |\n| x'31' |"
  end)

  scenario("names from other test libraries are refused with the replacement", function(t)
    for word, call in pairs{
      describe = "group(name", it = "scenario(name", beforeEach = "before_each(", assert_equal = "expect(value):equals", spy = "t.effects",
      skip = "scenario.skip(", fail = "error(message)",
    } do
      check(expect_error(function() return _G[word] end, { kind = "unknown_function" }).message:find(call, 1, true))
    end
    check(_G.no_such_global == nil)
    expect_error(function() return check.equals end, "check%(a == b%)")
    expect_error(function() check(1, 2) end, "check%(a == b%)")
    expect_error(function() return scenario.each end, "option `cases`")
    expect_error(function() t.clock.advance(1) end, "call it with a colon")
    expect_error(function() t.clock = "2026-01-01" end, "t.clock:set")
    expect_error(function() return t.effects.mail.send end, "t.effects.mail:stub")
  end)

  scenario("a scenario may declare that it checks nothing", { no_checks = "allow" }, function(t)
    t.db.author:fetch_all()
  end)
end)
