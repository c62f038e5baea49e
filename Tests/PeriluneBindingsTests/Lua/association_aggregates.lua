--- Aggregates of associated rows and prefetches in all their forms, compared with hand-written SQL.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, price REAL, author_id INTEGER REFERENCES author,
    editor_id INTEGER REFERENCES author);
  CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book_tag (book_id INTEGER REFERENCES book, tag_id INTEGER REFERENCES tag, position INTEGER, PRIMARY KEY (book_id, tag_id));
  CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, pay INTEGER, boss_id INTEGER REFERENCES employee);
  INSERT INTO author VALUES (1, 'Ann', 'FR'), (2, 'Bo', 'US'), (3, 'Cy', 'US'), (4, 'Di', NULL);
  INSERT INTO book VALUES (1, 'A1', 1950, 10.5, 1, 2), (2, 'A2', 1960, 5, 1, NULL), (3, 'B1', 1970, 7.25, 2, 1), (4, 'B2', 1970, NULL, 2, 2),
    (5, 'C1', NULL, 3, 3, 4), (6, 'X', 2000, 1, NULL, NULL);
  INSERT INTO tag VALUES (1, 'sea'), (2, 'war'), (3, 'love'), (4, 'none');
  INSERT INTO book_tag VALUES (1, 1, 2), (1, 2, 1), (2, 1, 1), (3, 3, 1), (4, 3, 1), (5, 2, 3);
  INSERT INTO employee VALUES (1, 'Ada', 100, NULL), (2, 'Bob', 50, 1), (3, 'Cy', 60, 1), (4, 'Di', 10, 3)]]

local Author, Book, Tag, Link = perilune.record("author"), perilune.record("book"), perilune.record("tag"), perilune.record("book_tag")
local Employee = perilune.record("employee")
Author.books = Author:has_many(Book, { columns = "author_id" })
Author.edited = Author:has_many(Book, { columns = "editor_id", singular = "edition" })
Book.author, Book.editor = Book:belongs_to(Author, { columns = "author_id" }), Book:belongs_to(Author, { columns = "editor_id" })
Book.links, Link.tag, Link.book, Tag.links = Book:has_many(Link), Link:belongs_to(Tag), Link:belongs_to(Book), Tag:has_many(Link)
Book.tags = Book:has_many(Tag, { through = Book.links, using = Link.tag })
Tag.books = Tag:has_many(Book, { through = Tag.links, using = Link.book })
Author.tags = Author:has_many(Tag, { through = Author.books, using = Book.tags })
Employee.boss, Employee.reports = Employee:belongs_to(Employee), Employee:has_many(Employee, { singular = "report" })

--- Returns one text for each record, with its values.
local function lines(records, ...)
  local list = {}
  for index, record in ipairs(records) do
    local parts = {}
    for position, name in ipairs{ ... } do parts[position] = tostring(record[name]) end
    list[index] = table.concat(parts, " ")
  end
  return list
end

--- Returns the texts in the only column of an SQL query.
local function sql(text) return db:fetch_values(text) end

test("aggregates of associations can be named, renamed, compared and used in calculations", function()
  local n = Author.books:count()
  local authors = Author:annotated_with(n, Author.edited:count(), Author.books:average("price"), Author.books:total("price"),
    Author.books:sum("price"), Author.books:is_empty(), (n * 10 + Author.edited:count()):as("mixed"), n:ge(2):as("prolific")):order("id"):fetch_all()
  equal(lines(authors, "book_count", "edition_count", "book_price_sum", "book_price_total", "average_book_price", "mixed"), {
    "2 1 15.5 15.5 7.75 21", "2 2 7.25 7.25 7.25 22", "1 0 3.0 3.0 3.0 10", "0 1 nil 0.0 nil 1" })
  equal(lines(authors, "has_no_book", "prolific"), { "false true", "false true", "false false", "true false" })
end)

test("aggregates of expressions and of filtered, distinct and limited rows have the right values", function()
  local authors = Author:annotated_with(
    Author.books:max(Book.c.price * 2):as("twice"), Author.books:filter{ year = 1970 }:count():as("in_1970"),
    Author.books:order(Book.c.price:desc()):limit(1):sum("price"):as("dearest"), Author.books:select("year"):distinct():count():as("years"))
    :order("id"):fetch_all()
  equal(lines(authors, "twice", "in_1970", "dearest", "years"), { "21.0 0 10.5 2", "14.5 2 7.25 1", "6.0 0 3.0 1", "nil 0 nil 0" })
end)

test("aggregates over several tables count each path, or each row with distinct()", function()
  local authors = Author:annotated_with(Author.tags:count(), Author.tags:distinct():count():as("different"), Author.tags:max("name")):order("id")
    :fetch_all()
  equal(lines(authors, "tag_count", "different", "max_tag_name"), { "3 2 war", "2 1 love", "1 1 war", "0 0 nil" })
  equal(Tag:having(Tag.books:count():eq(2)):order("id"):pluck("name"), { "sea", "war", "love" })
  equal(Tag:having(Tag.books:is_empty()):pluck("name"), { "none" })
end)

test("aggregates of a self-referencing association have the right values", function()
  equal(lines(Employee:annotated_with(Employee.reports:count(), Employee.reports:sum("pay")):order("id"):fetch_all(), "report_count", "report_pay_sum"),
    sql[[SELECT (SELECT COUNT(*) FROM employee r WHERE r.boss_id = e.id) || ' ' || ifnull((SELECT SUM(pay) FROM employee r WHERE r.boss_id = e.id), 'nil')
      FROM employee e ORDER BY id]])
  equal(Employee:having(Employee.reports:sum("pay"):gt(Employee.c.pay)):pluck("name"), { "Ada" })
  equal(Employee:joining_required(Employee.boss:having(Employee.reports:count():ge(2))):order("id"):pluck("name"), { "Bob", "Cy" })
end)

test("requests with conditions and orders by aggregates are counted correctly", function()
  local prolific = Author:having(Author.books:count():ge(2) & Author.books:max("year"):lt(1965))
  equal(prolific:pluck("name"), { "Ann" })
  equal(prolific:fetch_count(), 1)
  equal(Author:having(Author.books:count():gt(Author.edited:count())):order("id"):pluck("id"), { 1, 3 })
  equal(Author:having(~Author.books:is_empty()):order(Author.books:average("price"):desc()):pluck("name"), { "Ann", "Bo", "Cy" })
  equal(Author:annotated_with(Author.books:count()):having(perilune.column("book_count"):eq(0)):pluck("name"), { "Di" })
  equal(Author:annotated_with(Author.books:count()):order(perilune.column("book_count"):desc(), "id"):limit(1):fetch_one().name, "Ann")
  equal(Author:having(Author.books:is_empty():eq(false)):filter{ country = "US" }:order("name"):pluck("name"), { "Bo", "Cy" })
end)

test("aggregates work inside included records, joins, selections, sub-requests and changes", function()
  local books = Book:including_required(Book.author:annotated_with(Author.books:count())):order("id"):fetch_all()
  equal({ books[1].author.book_count, books[5].author.book_count }, { 2, 1 })
  equal(Book:joining_required(Book.author:having(Author.books:count():eq(1))):pluck("title"), { "C1" })
  equal(Author:select("name", Author.books:count():as("n")):order("id"):fetch_all()[1].n, 2)
  equal(Book:filter(Book.c.author_id:is_in(Author:having(Author.books:count():eq(1)):select("id"))):pluck("title"), { "C1" })
  local most = perilune.common_table("counts", Author:select(Author.books:count():as("n")))
  equal({ most:max("n"), most:average("n") }, { 2, 1.25 })
  equal(Author:having(Author.books:is_empty()):update_all{ country = "?" }.changed_rows, 1)
  equal(Author:having(Author.books:is_empty() & Author.edited:is_empty()):delete_all().changed_rows, 0)
end)

test("several associations to one table can be joined and included together", function()
  local books = Book:including_required(Book.author):including_optional(Book.editor):order("id"):fetch_all()
  equal(lines({ books[1].author, books[1].editor, books[3].editor }, "name"), { "Ann", "Bo", "Ann" })
  equal(books[2].editor, nil)
  local authors = Author:including_all(Author.books:order("id"), Author.edited:order("id")):order("id"):fetch_all()
  equal({ #authors[1].books, #authors[1].edited, #authors[4].books, #authors[4].edited }, { 2, 1, 0, 1 })
  local w, e = Author:aliased("w"), Author:aliased("e")
  equal(Book:joining_required(Book.author:aliased("w"), Book.editor:aliased("e")):filter(w.c.id:ne(e.c.id)):order(e.c.name:desc(), "id"):pluck("title"),
    { "C1", "A1", "B1" })
end)

test("prefetches can be filtered and sorted by joined rows and limited for each parent", function()
  local authors = Author:including_all(Author.books:joining_required(Book.editor):order(Author.c.name:desc()):limit(1)):order("id"):fetch_all()
  equal({ authors[1].books[1].title, authors[2].books[1].title, #authors[1].books }, { "A1", "B2", 1 })
  authors = Author:including_all(Author.books:joining_required(Book.tags:filter{ name = "sea" }):order("id")):order("id"):fetch_all()
  equal({ #authors[1].books, #authors[2].books }, { 2, 0 })
  authors = Author:including_all(Author.books:including_optional(Book.editor):order(Book.c.year:desc()):limit(1, 1)):order("id"):fetch_all()
  equal(authors[1].books[1].editor.name, "Bo")
end)

test("rows through a pivot table can be sorted by its columns and contain them", function()
  Book.sorted_tags = Book:has_many(Tag, { through = Book.links:order("position"), using = Link.tag })
  equal(lines(Book:including_all(Book.sorted_tags):find(1).sorted_tags, "name"), { "war", "sea" })
  equal(Book:find(1):sorted_tags():pluck("name"), { "war", "sea" })
  local tags = Book:including_all(Book.tags:annotated_with(Link.c.position):order(Link.c.position)):find(1).tags
  equal(lines(tags, "name", "position"), { "war 1", "sea 2" })
  equal(Book:including_all(Book.tags:filter(Link.c.position:gt(1))):find(1).tags[1].name, "sea")
end)

test("a record can request its associated rows through other tables", function()
  equal(Author:find(1):tags():order("id"):pluck("name"), { "sea", "sea", "war" })
  equal(Author:find(1):tags():distinct():order("id"):fetch_count(), 2)
  equal(Author:find(1):tags():filter{ name = "war" }:fetch_one().id, 2)
  equal(Author:find(4):tags():fetch_all(), {})
  equal(Author.tags:filter{ name = "sea" }:distinct()(Author:find(1)):fetch_count(), 1)
  equal(Author:find(2):tags():update_all{ name = "LOVE" }.changed_rows, 1)
  equal(Tag:find(3).name, "LOVE")
end)

test("including an association needs one statement for any number of rows", function()
  local count = 0
  local traced = perilune.queue(temporary_path("count.sqlite"), { trace = function() count = count + 1 end })
  traced:execute(table.concat(db:fetch_values("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"), ";"))
  for id = 1, 30 do traced:execute("INSERT INTO author VALUES (?, 'x', 'y')", id) end
  for id = 1, 30 do
    traced:execute("INSERT INTO book VALUES (?, 't', 1, 1.5, ?, ?)", id, id, 31 - id)
    traced:execute("INSERT INTO tag VALUES (?, 't')", id)
    traced:execute("INSERT INTO book_tag VALUES (?, ?, 1)", id, id)
    traced:execute("INSERT INTO employee VALUES (?, 'e', 1, ?)", id, id > 1 and id // 2 or nil)
  end
  local requests = {
    { 1, Book:including_required(Book.author, Book.editor) }, { 1, Author:annotated_with(Author.books:count(), Author.tags:count()) },
    { 2, Author:including_all(Author.books) }, { 3, Author:including_all(Author.books, Author.edited) },
    { 3, Author:including_all(Author.books:including_all(Book.tags)) }, { 2, Author:including_all(Author.tags) },
    { 2, Author:including_all(Author.books:including_required(Book.editor)) }, { 4, Employee:filter{ id = 1 }:including_all(Employee.reports, 3) },
    { 2, Book:including_required(Book.author:including_all(Author.edited)) }, { 2, Author:including_all(Author.books:limit(1)) },
  }
  traced:read(function(handle)
    for _, request in ipairs(requests) do
      request[2]:fetch_all(handle)
      count = 0
      request[2]:fetch_all(handle)
      equal(count, request[1])
    end
  end)
end)
