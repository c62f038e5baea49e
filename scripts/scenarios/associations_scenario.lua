-- Associations: fetching related rows together with records, in as few statements as possible.
group("associations", { template = "shelf", tags = { "associations" } }, function()
  scenario("books with their authors are fetched by one statement", function(t)
    local Book = t.fixtures.models.Book
    local list
    local queries = t.queries(function() list = Book:including_required(Book.author):order("id"):fetch_all() end)
    check(list[3].author.name == "Albert Camus")
    expect(queries):exactly(1)
  end)

  scenario("authors with all their books are fetched by two statements", function(t)
    local Author = t.fixtures.models.Author
    local list
    local queries = t.queries(function() list = Author:including_all(Author.books:order("year")):order("id"):fetch_all() end)
    check(#list[1].books == 2 and list[1].books[1].title == "Typee")
    check(#list[3].books == 0)
    expect(queries):exactly(2):no_repeats()
  end)

  scenario("the latest associated row is fetched in the same statement", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    -- The first in this order.
    Author.latest_book = Author:has_one(Book):order(Book.c.year:desc())
    local list
    local queries = t.queries(function() list = Author:including_optional(Author.latest_book):order("id"):fetch_all() end)
    check(list[1].latest_book.title == "Moby-Dick" and list[3].latest_book == nil)
    expect(queries):exactly(1)
    check(Author:joining_required(Author.latest_book):filter(Author.latest_book.c.year:gt(1900)):fetch_one().name == "Albert Camus")
    -- An association that is used only once gets its name from `as`.
    local first = Author:has_one(Book):order("year"):as("first_book")
    check(Author:including_optional(first):find(1).first_book.title == "Typee")
  end)

  scenario("reading an unfetched association is an error, not a query", function(t)
    local author = t.fixtures.models.Author:find(1)
    local queries = t.queries(function()
      expect_error(function() return #author.books end, "including_all")
    end)
    expect(queries):exactly(0)
  end)

  scenario("no_repeats detects a loop that runs a statement for each record", { fails = "it shows how a failure looks" }, function(t)
    local Author = t.fixtures.models.Author
    local queries = t.queries(function()
      for _, author in ipairs(Author:fetch_all()) do author:books():fetch_count() end
    end)
    expect(queries):no_repeats()
  end)

  scenario("a request for one record can be combined with conditions", function(t)
    local author = t.fixtures.models.Author:find(1)
    expect(author:books():before(1850):pluck("title")):equals { "Typee" }
  end)

  scenario("counts of associated rows can be columns and conditions", function(t)
    local Author = t.fixtures.models.Author
    expect(Author:annotated_with(Author.books:count()):order("id")):rows [[
      | name            | book_count |
      | Herman Melville | 2          |
      | Albert Camus    | 1          |
      | Anonymous       | 0          |
    ]]
    expect(Author:having(Author.books:count():ge(2)):pluck("name")):equals { "Herman Melville" }
    expect(Author:having(Author.books:is_empty()):pluck("name")):equals { "Anonymous" }
  end)

  scenario("books are found by the country of their author", function(t)
    local Book = t.fixtures.models.Book
    expect(Book:including_required(Book.author:from("France"))):rows "| title |\n| The Plague |"
    expect(Book:joining_required(Book.author:from("United States")):order("id"):pluck("title")):equals { "Typee", "Moby-Dick" }
  end)

  scenario("a factory creates rows together with their parent rows", { template = "library" }, function(t)
    local books = t.make.book:many(3, { year = 2000 })
    check(books[1].author_id == books[3].author_id)
    expect(t.db.author):count(1)
  end)
end)
