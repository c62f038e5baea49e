-- Combined requests: joins on any condition, either of two requests, conditions on related rows.
group("joins", { template = "shelf", tags = { "requests" } }, function()
  scenario("conditions can use a record or its associated rows", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    local melville = Author:find(1)
    check(Book:filter { author = melville }:fetch_count() == 2)
    check(Book:filter { author = { melville, Author:find(2) } }:fetch_count() == 3)
    check(Book:filter { author = Author:from("France") }:fetch_one().title == "The Plague")
    expect(Author:filter { books = perilune.null }:pluck("name")):equals { "Anonymous" }
  end)

  scenario("conditions along a path apply to one row", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    check(Book:filter { ["author.country"] = "France" }:fetch_one().title == "The Plague")
    check(Author:filter { ["books.year"] = 1851, ["books.pages"] = 635 }:fetch_count() == 1)
    check(Author:filter { ["books.year"] = 1846, ["books.pages"] = 635 }:is_empty())
    expect_error(function() Book:filter { ["autor.country"] = "France" } end, "did you mean `author`")
    expect_error(function() Book:filter { ["author.contry"] = "France" } end, "did you mean `country`")
  end)

  scenario("a table can be joined to itself on any condition", function(t)
    local Book = t.fixtures.models.Book
    local later = Book:aliased("later")
    local pairs_of_books = Book:join(later, Book.c.author_id:eq(later.c.author_id) & Book.c.year:lt(later.c.year))
    expect(pairs_of_books:pluck(Book.c.title, later.c.title)):equals { { "Typee", "Moby-Dick" } }
  end)

  scenario("left, right and full joins keep rows without a match", function(t)
    local Author, Book = t.fixtures.models.Author, t.fixtures.models.Book
    local by_author = Book.c.author_id:eq(Author.c.id)
    local old = Book:filter(Book.c.year:lt(1900))
    check(Author:left_join(old, by_author):fetch_count() == 4)
    local all = Book:right_join(Author, by_author)
    expect(all:order(Author.c.id, Book.c.id):select(Author.c.name, Book.c.title):fetch_all()):rows [[
      | name            | title      |
      | Herman Melville | Typee      |
      | Herman Melville | Moby-Dick  |
      | Albert Camus    | The Plague |
      | Anonymous       | ~          |
    ]]
    check(Book:cross_join(Author):fetch_count() == 9)
    expect_error(function() all:fetch_all() end, "select")
  end)

  scenario("two requests are combined with OR", function(t)
    local Book = t.fixtures.models.Book
    local found = Book:before(1850) | Book:filter { title = "The Plague" }
    expect(found:order("id"):pluck("title")):equals { "Typee", "The Plague" }
    expect(tostring(found)):contains("OR")
    expect_error(function() return Book:before(1850) | Book:limit(1) end, "union")
  end)

  scenario("conditions apply only if a value is given", function(t)
    local Book = t.fixtures.models.Book
    local function search(year, order)
      return Book:filter_given { year = year }:when(order, function(books, name) return books:order(name) end):pluck("title")
    end
    check(#search() == 3)
    expect(search(1851)):equals { "Moby-Dick" }
    expect(search(nil, "title")):equals { "Moby-Dick", "The Plague", "Typee" }
  end)
end)
