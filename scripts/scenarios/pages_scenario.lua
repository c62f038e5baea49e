-- Pages, named expressions, and writing the rows of a request.
group("pages", { template = "shelf", tags = { "requests" } }, function()
  scenario("a page begins after the last row of the previous page", function(t)
    local Book = t.fixtures.models.Book
    local books = Book:order("author_id")
    local first = books:page_after(nil, 2)
    expect(first.records):rows "| title |\n| Typee |\n| Moby-Dick |"
    check(first.previous == nil)
    local second = books:page_after(first.next, 2)
    expect(second.records):rows "| title |\n| The Plague |"
    check(second.next == nil)
    expect(books:page_before(second.previous, 2).records):rows "| title |\n| Typee |\n| Moby-Dick |"
  end)

  scenario("inserted and deleted rows do not shift pages, and a cursor fits into a URL", function(t)
    local Book = t.fixtures.models.Book
    local first = Book:order("title"):page_after(nil, 1)
    check(first.next:find("^[%w_-]+$") ~= nil)
    first.records[1]:delete()
    t.make.book { author_id = 1, title = "Aaa" }
    expect(Book:order("title"):page_after(first.next, 1).records):rows "| title |\n| The Plague |"
  end)

  scenario("the first row of a page is found by an index", function(t)
    local Book = t.fixtures.models.Book
    local cursor = Book:order("id"):page_after(nil, 1).next
    local queries = t.queries(function() Book:order("id"):page_after(cursor, 1) end)
    expect(queries):exactly(1):no_full_scan("book")
  end)

  scenario("a cursor is valid only for the order of its request", function(t)
    local Book = t.fixtures.models.Book
    local cursor = Book:order("id"):page_after(nil, 1).next
    expect_error(function() Book:order("title"):page_after(cursor, 1) end, "another order")
    expect_error(function() Book:order("id"):page_after("nonsense", 1) end, "expected a cursor of this request")
  end)
end)

group("named expressions", { template = "shelf", tags = { "requests" } }, function()
  scenario("a named expression of a class is used like a column", function(t)
    local Book = t.fixtures.models.Book
    Book.expressions.is_old = Book.c.year:lt(1900)
    function Book.expressions.age(c) return 2000 - c.year end
    check(Book:filter { is_old = true }:fetch_count() == 2)
    expect(Book:order("age"):annotated_with("age", "is_old"):fetch_all()):rows [[
      | title      | age | is_old |
      | The Plague | 53  | false  |
      | Moby-Dick  | 149 | true   |
      | Typee      | 154 | true   |
    ]]
    expect_error(function() Book:filter { is_odl = true } end, "did you mean `is_old`")
  end)

  scenario("named expressions are available along paths and on aliases", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    function Book.expressions.is_old(c) return c.year:lt(1900) end
    expect(Author:filter { ["books.is_old"] = true }:pluck("name")):equals { "Herman Melville" }
    check(Book:aliased("other"):filter { is_old = false }:fetch_count() == 1)
  end)
end)

group("writing many rows", { template = "shelf", tags = { "requests", "records" } }, function()
  scenario("the rows of a request are inserted into a table", function(t)
    t.db:create_table("tally", function(t)
      t:column("author_id", "integer"):primary_key()
      t:column("books", "integer"):not_null()
    end)
    local Book, Tally = t.fixtures.models.Book, perilune.record("tally")
    local counts = Book:select("author_id", perilune.count():as("books")):group("author_id")
    check(Tally:insert_from(counts).changed_rows == 2)
    expect(Tally:order("author_id"):fetch_all()):rows "| author_id | books |\n| 1 | 2 |\n| 2 | 1 |"
    -- Conflicting rows are updated; `excluded` is the row to be inserted.
    Tally:insert_from(counts, { update = { books = Tally.c.books + perilune.excluded.books } })
    expect(Tally:order("author_id"):pluck("books")):equals { 4, 2 }
    expect_error(function() Tally:insert_from(counts, { updat = "all" }) end, "update")
  end)

  scenario("rows are updated from columns of joined rows", function(t)
    local Book = t.fixtures.models.Book
    Book:joining_required(Book.author):update_all { title = Book.author.c.name .. ": " .. Book.c.title }
    check(Book:find(3).title == "Albert Camus: The Plague")
  end)

  scenario("a limit restricts an update to the first rows", function(t)
    local Book = t.fixtures.models.Book
    check(Book:order("year"):limit(1):delete_all().changed_rows == 1)
    expect(Book:order("year"):pluck("title")):equals { "Moby-Dick", "The Plague" }
  end)
end)
