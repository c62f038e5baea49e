-- has_one associations without a unique key, which could match several rows. They return the first row by the association's order, then by
-- the key, and never repeat a record.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE publisher (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, year INTEGER, author_id INTEGER REFERENCES author, publisher_id INTEGER REFERENCES publisher);
  CREATE TABLE seat (hall TEXT, number INTEGER, author_id INTEGER REFERENCES author, PRIMARY KEY (hall, number)) WITHOUT ROWID;
  INSERT INTO author VALUES (1, 'a'), (2, 'b'), (3, 'c');
  INSERT INTO publisher VALUES (1, 'p'), (2, 'q');
  INSERT INTO book VALUES (1, 1950, 1, 2), (2, 1900, 1, 1), (3, 1900, 1, NULL), (4, 2000, 2, 1), (5, 1800, 2, NULL);
  INSERT INTO seat VALUES ('x', 2, 1), ('x', 1, 1), ('w', 9, 1), ('y', 1, 2)]]

local Author, Book, Publisher, Seat = perilune.record("author"), perilune.record("book"), perilune.record("publisher"), perilune.record("seat")
Author.any = Author:has_one(Book)
Author.first = Author.any:order("year")
Author.last = Author.any:order(Book.c.year:desc())
Author.seat = Author:has_one(Seat)
Book.publisher = Book:belongs_to(Publisher)
Author.publisher = Author:has_one(Publisher, { through = Author.any, using = Book.publisher })
Author.books = Author:has_many(Book)

local function ids(list, name)
  local result = {}
  for index, record in ipairs(list) do result[index] = record[name] and record[name].id or 0 end
  return result
end

test("including a has_one association fetches the first row by its order, then by its key", function()
  for name, expected in pairs{ any = { 1, 4, 0 }, first = { 2, 5, 0 }, last = { 1, 4, 0 } } do
    equal(ids(Author:including_optional(Author[name]):order("id"):fetch_all(), name), expected)
    equal(ids(Author:including_all(Author[name]):order("id"):fetch_all(), name), expected)
    equal(#Author:including_required(Author[name]):fetch_all(), 2)
    equal(Author:including_required(Author[name]):fetch_count(), 2)
    for id = 1, 3 do
      local one = Author:find(id)[name]
      local author = Author:find(id)
      local found = author[name](author)
      equal(found:fetch_count(), expected[id] > 0 and 1 or 0)
      equal((found:fetch_one() or { id = 0 }).id, expected[id])
    end
  end
end)

test("a has_one association can be filtered and ordered in its definition", function()
  Author.newest = Author:has_one(Book):order(Book.c.year:desc())
  equal(ids(Author:including_optional(Author.newest):order("id"):fetch_all(), "newest"), ids(Author:including_optional(Author.last):order("id"):fetch_all(), "last"))
  local author = Author:find(1)
  equal(author:newest():fetch_one().id, Author:including_optional(Author.newest):find(1).newest.id)
  local first = Author:has_one(Book):order("year")
  equal(ids(Author:including_optional(first:as("x")):order("id"):fetch_all(), "x"), { 2, 5, 0 })
  equal(ids(Author:including_all(first:as("y"), Author:has_many(Book):order("year"):as("z")):order("id"):fetch_all(), "y"), { 2, 5, 0 })
  equal(Author:joining_required(first):order("id"):pluck("id"), { 1, 2 })
  equal(Author:having(Author:has_one(Book):order("year"):is_empty()):fetch_one().id, 3)
  equal(Author:annotated_with_optional(first:select("year")):order("id"):fetch_all()[1].year, 1900)
  equal(Author:annotated_with(Author:has_many(Book):filter(Book.c.year:gt(1800)):count():as("n")):order("id"):fetch_one().n,
    Author:annotated_with(Author.books:filter(Book.c.year:gt(1800)):count():as("n")):order("id"):fetch_one().n)
  -- Requests that were derived before the association got its name also use the first row.
  Author.earliest = first
  equal(ids(Author:including_optional(first:order("year")):order("id"):fetch_all(), "earliest"), { 2, 5, 0 })
  matches(fails("argument", Author.including_all, Author, Author:has_many(Book)), "the association has no name")
  matches(fails("argument", Author.including_optional, Author, Author:has_one(Book):order("id")), "association:as(name)")
  matches(fails("unknown_column", function() Author:has_one(Book):order("yaer") end), "year")
end)

test("joins, annotations, conditions and aggregates of has_one use the first row", function()
  equal(Author:joining_required(Author.first):order("id"):pluck("id"), { 1, 2 })
  equal(Author:joining_optional(Author.first):fetch_count(), 3)
  local rows = Author:annotated_with_optional(Author.first:select("year")):order("id"):fetch_all()
  equal({ #rows, rows[1].year, rows[2].year, rows[3].year }, { 3, 1900, 1800, nil })
  equal(Author:joining_required(Author.first):filter(Author.first.c.year:eq(1950)):fetch_count(), 0)
  rows = Author:annotated_with(Author.first:count():as("n"), Author.first:max("year"):as("y")):order("id"):fetch_all()
  equal({ rows[1].n, rows[1].y, rows[2].n, rows[2].y, rows[3].n }, { 1, 1900, 1, 1800, 0 })
  equal(Author:having(Author.first:is_empty()):fetch_one().id, 3)
end)

test("conditions and required associations determine which row is first", function()
  equal(ids(Author:including_optional(Author.first:filter(Book.c.year:gt(1900))):order("id"):fetch_all(), "first"), { 1, 4, 0 })
  local published = Author.first:including_required(Book.publisher)
  local rows = Author:including_optional(published):order("id"):fetch_all()
  equal({ ids(rows, "first"), rows[1].first.publisher.id }, { { 2, 4, 0 }, 1 })
  equal(ids(Author:including_all(published):order("id"):fetch_all(), "first"), { 2, 4, 0 })
end)

test("associations that are included in the first row do not change which row is first", function()
  local house = Book.publisher:order(Publisher.c.name)
  equal(ids(Author:including_optional(Author.any:including_optional(house)):order("id"):fetch_all(), "any"), { 1, 4, 0 })
  equal(ids(Author:including_all(Author.any:joining_optional(house)):order("id"):fetch_all(), "any"), { 1, 4, 0 })
  local reversed = Author.first:joining_optional(house:order(Publisher.c.id:desc()))
  equal(ids(Author:including_optional(reversed):order("id"):fetch_all(), "first"), { 2, 5, 0 })
  Author.other = Author.any:joining_optional(house)
  equal({ Author:find(1):other():fetch_one().id, Author:filter{ other = Book:find(1) }:pluck("id") }, { 1, { 1 } })
end)

test("first rows work without row ids and through other tables", function()
  local rows = Author:including_optional(Author.seat):order("id"):fetch_all()
  equal({ #rows, rows[1].seat.hall, rows[1].seat.number, rows[2].seat.hall }, { 3, "w", 9, "y" })
  rows = Author:including_all(Author.seat):order("id"):fetch_all()
  equal({ rows[1].seat.hall, rows[1].seat.number, rows[2].seat.hall }, { "w", 9, "y" })
  for _, made in ipairs{ Author:including_optional(Author.publisher), Author:including_all(Author.publisher) } do
    equal(ids(made:order("id"):fetch_all(), "publisher"), { 2, 1, 0 })
  end
  equal(Author:joining_required(Author.publisher):fetch_count(), 2)
  local author = Author:find(1)
  equal(author:publisher():fetch_count(), 1)
end)

test("first rows can be nested, even in lists", function()
  local B = Book
  B.author = B:belongs_to(Author)
  local rows = B:including_required(B.author:including_optional(Author.first)):order("id"):fetch_all()
  equal(#rows, 5)
  equal({ rows[1].author.first.id, rows[4].author.first.id }, { 2, 5 })
  rows = Author:including_all(Author.books:including_required(B.author:including_optional(Author.last))):order("id"):fetch_all()
  equal({ #rows[1].books, rows[1].books[2].author.last.id }, { 3, 1 })
end)

test("has_one on a view or common table without a key also gives one row", function()
  db:execute "CREATE VIEW work AS SELECT year, author_id, publisher_id FROM book"
  local Work = perilune.record "work"
  Author.any_work = Author:has_one(Work, { columns = "author_id" })
  Author.work = Author.any_work:order("year")
  for _, rows in ipairs{ Author:including_optional(Author.work):order("id"):fetch_all(), Author:including_all(Author.work):order("id"):fetch_all() } do
    equal(#rows, 3)
    equal({ rows[1].work.year, rows[1].work.publisher_id, rows[2].work.year, rows[2].work.publisher_id, rows[3].work },
      { 1900, nil, 1800, nil, nil })
  end
  equal(Author:joining_required(Author.work):fetch_count(), 2)
  equal(Author:find(1):work():fetch_count(), 1)
  equal(Author:annotated_with(Author.work:count():as("n")):find(1).n, 1)
  local last = perilune.common_table("last", Book:select("author_id", "year"))
  Author.any_last = Author:has_one(last, { columns = "author_id" })
  local newest = Author.any_last:order(perilune.column("year"):desc())
  equal(Author:joining_required(newest):order("id"):pluck("id"), { 1, 2 })
  equal(Author:joining_optional(newest):fetch_count(), 3)
end)

test("an association through has_one uses only the first row", function()
  db:execute[[
    CREATE TABLE page (id INTEGER PRIMARY KEY, n INTEGER, book_id INTEGER REFERENCES book);
    INSERT INTO page VALUES (1, 2, 1), (2, 1, 1), (3, 1, 2), (4, 1, 3), (5, 1, 5), (6, 2, 5), (7, 1, 4)]]
  local Page = perilune.record "page"
  Book.pages, Book.any_page, Page.book = Book:has_many(Page), Book:has_one(Page), Page:belongs_to(Book)
  Book.first_page = Book.any_page:order("n")
  Author.pages = Author:has_many(Page, { through = Author.first, using = Book.pages })
  Author.first_pages = Author:has_many(Page, { through = Author.books, using = Book.first_page })
  Author.opening = Author:has_one(Page, { through = Author.first, using = Book.first_page })
  local expected = {
    pages = { { 3 }, { 5, 6 }, {} }, first_pages = { { 2, 3, 4 }, { 5, 7 }, {} }, opening = { { 3 }, { 5 }, {} },
  }
  for name, lists in pairs(expected) do
    local association = Author[name]
    local counts = Author:annotated_with(association:count():as("n")):order("id"):fetch_all()
    local all = Author:including_all(association:order("id")):order("id"):fetch_all()
    local joined = Author:joining_required(association):order("id"):pluck("id")
    local count = 0
    for id, list in ipairs(lists) do
      equal(Author[name](Author:find(id)):order("id"):pluck("id"), list)
      equal(counts[id].n, #list)
      local found = all[id][name]
      if name == "opening" then found = { found } end
      local ids = {}
      for index, page in ipairs(found) do ids[index] = page.id end
      equal(ids, list)
      count = count + #list
    end
    equal(#joined, count)
    equal(Author:joining_optional(association):fetch_count(), count + 1)
    equal(#Author:having(association:is_empty()):fetch_all(), 1)
  end
  -- The first row is selected before conditions on its associated rows apply.
  equal(Author:joining_required(Author.pages:filter{ n = 2 }):pluck("id"), { 2 })
  equal(Author:including_optional(Author.opening:including_required(Page.book)):order("id"):fetch_all()[1].opening.book.id, 2)
end)
