-- Aggregates and windows: values computed over several rows.
group("windows", { template = "shelf", tags = { "requests" } }, function()
  scenario("windows compute running totals and shares", function(t)
    local Book = t.fixtures.models.Book
    local so_far = Book.c.pages:sum():over { partition_by = "author_id", order_by = "year" }
    local all = Book.c.pages:sum():over {}
    expect(Book:order("id"):select("title", so_far:as("so_far"), (Book.c.pages * 100 // all):as("percent")):fetch_all()):rows [[
      | title      | so_far | percent |
      | Typee      | 326    | 25      |
      | Moby-Dick  | 961    | 50      |
      | The Plague | 308    | 24      |
    ]]
  end)

  scenario("windows over groups compute running totals and ranks", function(t)
    local Book = t.fixtures.models.Book
    local pages = Book.c.pages:sum()
    local so_far, place = pages:sum():over { order_by = "author_id" }, perilune.rank():over { order_by = pages }
    local authors = Book:group("author_id"):select("author_id", pages:as("pages"), so_far:as("so_far"), place:as("place"))
    expect(authors:order("author_id"):fetch_all()):rows [[
      | author_id | pages | so_far | place |
      | 1         | 961   | 961    | 2     |
      | 2         | 308   | 1269   | 1     |
    ]]
    check(#authors:filter(place:eq(1)):fetch_all() == 1)
  end)

  scenario("windows compute ranks and return neighboring rows", function(t)
    local Book = t.fixtures.models.Book
    local place = perilune.rank():over { order_by = Book.c.pages:desc() }
    local before = Book.c.title:lag(1, "none"):over { order_by = "year" }
    expect(Book:order("year"):select("title", place:as("place"), before:as("before")):fetch_all()):rows [[
      | title      | place | before    |
      | Typee      | 2     | none      |
      | Moby-Dick  | 1     | Typee     |
      | The Plague | 3     | Moby-Dick |
    ]]
  end)

  scenario("a frame selects the rows around each row", function(t)
    local Book = t.fixtures.models.Book
    local around = Book.c.pages:max():over { order_by = "year", frame = { rows = { -1, 1 }, exclude = "current_row" } }
    expect(Book:order("year"):select(around:as("most")):fetch_values()):equals { 635, 326, 635 }
  end)

  scenario("rows are filtered by a value over a window", function(t)
    local Book = t.fixtures.models.Book
    local place = perilune.row_number():over { partition_by = "author_id", order_by = Book.c.year:desc() }
    local newest = Book:filter(place:eq(1))
    expect(newest:order("id"):fetch_all()):rows "| title |\n| Moby-Dick |\n| The Plague |"
    -- Windows are computed over the rows that earlier filters keep.
    expect(Book:filter { year = { 1846, 1947 } }:filter(place:eq(1)):order("id"):pluck("title")):equals { "Typee", "The Plague" }
    check(newest:update_all { pages = 1 }.changed_rows == 2)
  end)

  scenario("aggregates can filter, deduplicate and order their rows", function(t)
    local c = t.fixtures.models.Book.c
    local Book = t.fixtures.models.Book
    local row = Book:select(
      c.pages:sum():where(c.year:lt(1900)):as("old_pages"),
      c.author_id:count():distinct():as("authors"),
      c.title:group_concat(", "):order(c.year:desc()):as("titles")):fetch_one()
    expect(row):covers { old_pages = 961, authors = 2, titles = "The Plague, Moby-Dick, Typee" }
  end)

  scenario("an invalid window is an error at the line that builds it", function(t)
    local Book = t.fixtures.models.Book
    expect_error(function() Book:select(perilune.rank():as("place")) end, "over{")
    expect_error(function() Book.c.pages:sum():over { order = "year" } end, "order_by")
    expect_error(function() Book:select(Book.c.pages:sum():over { order_by = "yaer" }:as("n")) end, "year")
    expect_error(function() Book.c.pages:sum():over { frame = { rows = { 1, -1 } } } end, "the end comes before the start")
  end)
end)
