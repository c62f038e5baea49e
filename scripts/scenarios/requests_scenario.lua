-- Requests: descriptions of what to fetch, as values.
group("requests", { template = "shelf", tags = { "requests" } }, function()
  group("conditions", function()
    scenario("a table of columns compares values, lists and NULL", function(t)
      local Author = t.fixtures.models.Author
      check(Author:filter{ country = "France" }:fetch_one().name == "Albert Camus")
      check(Author:filter{ id = { 1, 3, 99 } }:fetch_count() == 2)
      check(Author:filter{ id = {} }:fetch_count() == 0)
      check(Author:filter{ country = perilune.null }:fetch_one().name == "Anonymous")
    end)

    scenario("conditions can be expressions of columns", {
      cases = {
        { name = "comparisons", of = function(c) return c.year:ge(1851) & c.year:lt(1900) end, titles = { "Moby-Dick" } },
        { name = "or and not", of = function(c) return c.year:lt(1850) | ~c.pages:gt(400) end, titles = { "Typee", "The Plague" } },
        { name = "like", of = function(c) return c.title:like("The%") end, titles = { "The Plague" } },
        { name = "between", of = function(c) return c.year:between(1846, 1851) end, titles = { "Typee", "Moby-Dick" } },
        { name = "arithmetic", of = function(c) return (c.pages // 100):eq(6) end, titles = { "Moby-Dick" } },
      },
    }, function(t)
      local Book = t.fixtures.models.Book
      expect(Book:filter(t.case.of(Book.c)):order("id"):pluck("title")):equals(t.case.titles)
    end)

    scenario("conditions can be SQL text with arguments", function(t)
      expect(t.fixtures.models.Book:filter("length(title) > ?", 9):pluck("title")):equals { "The Plague" }
    end)

    scenario("a comparison that Lua cannot make is an error that names the method", function(t)
      local Book = t.fixtures.models.Book
      expect_error(function() return Book.c.year < 1900 end, "lt")
      expect_error(function() Book:filter{} end)
      expect_error(function() Book:filter(nil) end)
      expect_error(function() Book:filter{ titel = "x" } end, "did you mean `title`%?")
    end)
  end)

  group("deriving", function()
    scenario("deriving a request leaves the original unchanged", function(t)
      local Book = t.fixtures.models.Book
      local all = Book:order("year")
      local old = all:filter(Book.c.year:lt(1900))
      check(all:fetch_count() == 3)
      check(old:fetch_count() == 2)
      expect(all:reversed():pluck("title")):equals { "The Plague", "Moby-Dick", "Typee" }
      expect(all:limit(1):offset(1):pluck("title")):equals { "Moby-Dick" }
    end)

    scenario("named requests can be combined", function(t)
      local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
      check(Author:from("France"):fetch_one().name == "Albert Camus")
      check(Book:before(1900):order("year"):limit(1):fetch_one().title == "Typee")
    end)

    scenario("rows are grouped and counted", function(t)
      local Book = t.fixtures.models.Book
      local list = Book:select(Book.c.author_id, perilune.count():as("books"), Book.c.pages:sum():as("pages"))
        :group("author_id"):order("author_id"):fetch_all()
      expect(list):rows [[
        | author_id | books | pages |
        | 1         | 2     | 961   |
        | 2         | 1     | 308   |
      ]]
    end)

    scenario("without rows, the sum is nil and the total is zero", function(t)
      local none = t.fixtures.models.Book:filter{ id = 99 }
      check(none:is_empty())
      check(none:sum("pages") == nil)
      check(none:total("pages") == 0)
    end)
  end)

  group("fetching", function()
    scenario("rows are fetched as pages, batches and single values", function(t)
      local Book = t.fixtures.models.Book
      local page = Book:order("id"):page(2, 2)
      expect(page):covers { count = 3, pages = 2, number = 2 }
      expect(page.records):rows "| title |\n| The Plague |"
      check(Book:max("year") == 1947)
      expect(Book:order("id"):select("year"):fetch_values()):equals { 1846, 1851, 1947 }
      local sizes = {}
      for batch in Book:in_batches(2) do sizes[#sizes + 1] = #batch end
      expect(sizes):equals { 2, 1 }
    end)

    scenario("a prepared request takes its values by name", function(t)
      local Book = t.fixtures.models.Book
      local prepared = Book:filter(Book.c.year:lt(perilune.parameter("year"))):prepare()
      check(#prepared:fetch_all{ year = 1850 } == 1)
      check(#prepared:fetch_all{ year = 2000 } == 3)
    end)

    scenario("values are bound and never interpreted as SQL", function(t)
      local Author = t.fixtures.models.Author
      local name = "Robert'); DROP TABLE author; --"
      Author:insert{ name = name }
      check(Author:filter{ name = name }:fetch_count() == 1)
      check(Author:fetch_count() == 4)
    end)

    scenario("a request shows its query plan", function(t)
      local Book = t.fixtures.models.Book
      expect(Book:filter{ author_id = 1 }:sql()):contains('"author_id" = ?')
      local queries = t.queries(function() Book:filter{ author_id = 1 }:fetch_all() end)
      expect(queries):exactly(1):no_full_scan("book"):no_writes()
    end)
  end)

  group("compounds", function()
    scenario("requests are combined by union, intersect and except", function(t)
      local Book = t.fixtures.models.Book
      local old, thick = Book:filter(Book.c.year:lt(1900)), Book:filter(Book.c.pages:gt(600))
      check(old:union(thick):fetch_count() == 2)
      expect(old:intersect(thick):fetch_all()):rows "| title |\n| Moby-Dick |"
      expect(old:except(thick):fetch_all()):rows "| title |\n| Typee |"
    end)

    scenario("a request can be used inside another one", function(t)
      local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
      local french = Author:from("France"):select("id")
      expect(Book:filter(Book.c.author_id:is_in(french)):pluck("title")):equals { "The Plague" }
    end)

    scenario("a common table may refer to itself", function(t)
      local count = perilune.common_table("count", { "n" }, "SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ?", 4)
      expect(count:order("n"):pluck("n")):equals { 1, 2, 3, 4 }
    end)
  end)

  group("full text", function()
    scenario("full-text search finds words in any form, best matches first", function(t)
      t.db:create_fts5("book_text", { synchronize_with = "book", columns = { "title" }, tokenizer = "porter" })
      local Text = perilune.record("book_text")
      expect(Text:matching(perilune.fts5_pattern("plagues")):fetch_all()):rows "| title |\n| The Plague |"
      t.make.book { title = "Plagues and Peoples" }
      check(Text:matching(perilune.fts5_pattern("plague")):fetch_count() == 2)
    end)
  end)

  group("changing many rows", function()
    scenario("update_all and delete_all are one statement each", function(t)
      local Book = t.fixtures.models.Book
      local changes = t.changes(function()
        check(Book:filter{ author_id = 1 }:update_all{ pages = Book.c.pages + 1 }.changed_rows == 2)
        check(Book:filter(Book.c.year:gt(1900)):delete_all().changed_rows == 1)
      end)
      expect(changes):rows_any_order [[
        | op     | table | key | pages      |
        | update | book  | 1   | 326 -> 327 |
        | update | book  | 2   | 635 -> 636 |
        | delete | book  | 3   | 308        |
      ]]
    end)
  end)
end)
