-- Fields are named after columns, regardless of the names in SQLite's result: SQLite renames columns of joins in parentheses and
-- of sub-requests with equal names.

db:execute[[
  CREATE TABLE publisher (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, publisher_id INTEGER REFERENCES publisher, mentor_id INTEGER REFERENCES author);
  CREATE TABLE book (id INTEGER PRIMARY KEY, name TEXT, author_id INTEGER REFERENCES author);
  CREATE TABLE cover (id INTEGER PRIMARY KEY, name TEXT, book_id INTEGER UNIQUE REFERENCES book);
  INSERT INTO publisher VALUES (7, 'p');
  INSERT INTO author VALUES (3, 'a', 7, NULL), (4, 'b', 7, 3);
  INSERT INTO book VALUES (1, 'x', 3), (2, 'y', 4), (5, 'z', NULL);
  INSERT INTO cover VALUES (9, 'c', 1), (8, 'd', 2)]]

local Publisher, Author, Book, Cover = perilune.record("publisher"), perilune.record("author"), perilune.record("book"), perilune.record("cover")
Author.publisher = Author:belongs_to(Publisher)
Author.mentor, Author.students = Author:belongs_to(Author), Author:has_many(Author)
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
Book.cover = Book:has_one(Cover)
Cover.book = Cover:belongs_to(Book)

local function fields(record)
  local names = {}
  for name in pairs(record) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, " ")
end

test("records in an optional association have their columns as fields", function()
  local book = Book:including_optional(Book.author:including_required(Author.publisher)):find(2)
  equal(fields(book), "author author_id id name")
  equal(fields(book.author), "id mentor_id name publisher publisher_id")
  equal(fields(book.author.publisher), "id name")
  equal({ book.id, book.author.id, book.author.publisher.id }, { 2, 4, 7 })
  book.author.publisher.name = "other"
  book.author.publisher:save()
  book.author.name = "changed"
  book.author:save()
  equal({ Publisher:fetch_count(), Author:fetch_count() }, { 1, 2 })
  equal({ Publisher:find(7).name, Author:find(4).name }, { "other", "changed" })
end)

test("self joins and has_one inside an optional association keep their column names", function()
  local book = Book:including_optional(Book.author:including_required(Author.mentor)):find(2)
  equal({ fields(book.author.mentor), book.author.mentor.id }, { "id mentor_id name publisher_id", 3 })
  equal(Book:including_optional(Book.author:including_required(Author.mentor)):find(1).author, nil)
  local author = Author:including_all(Author.books:including_optional(Book.cover:including_required(Cover.book))):find(3)
  equal(fields(author.books[1].cover), "book book_id id name")
  equal({ author.books[1].cover.id, author.books[1].cover.book.id }, { 9, 1 })
end)

test("rows of lists with a limit per record keep their column names", function()
  local author = Author:including_all(Author.books:order("id"):limit(1):including_optional(Book.author)):find(3)
  equal(fields(author.books[1]), "author author_id id name")
  equal({ author.books[1].author.id, author.books[1].author.name }, { 3, "a" })
end)

test("columns that are selected or annotated inside an association keep their names", function()
  local request = Book:joining_optional(Book.author:joining_required(Author.publisher)):order("id")
  equal(fields(request:select(Author.publisher.c.name):fetch_one()), "name")
  local row = request:select(Book.c.id, Author.publisher.c.name):fetch_one()
  equal({ row.id, row.name }, { 1, "p" })
  local added = Book:annotated_with_optional(Book.author:joining_required(Author.publisher):select(Author.c.publisher_id)):find(1)
  equal({ fields(added), added.publisher_id }, { "author_id id name publisher_id", 7 })
  local grouped = request:group(Author.c.id):select(Author.c.id, Book.c.id:count():as("count")):fetch_all()
  equal(fields(grouped[2]), "count id")
end)

test("selected columns of other tables are not mistaken for the row's key", function()
  local rows = Author:joining_required(Author.publisher):select(Publisher.c.id:as("publisher"), "name"):including_all(Author.books)
    :order("id"):fetch_all()
  equal({ rows[1].publisher, #rows[1].books, rows[1].books[1].id }, { 7, 1, 1 })
end)

test("a condition inside an optional association cannot refer to outer tables, and the error explains why", function()
  local a = Book.author:aliased("a")
  local request = Book:including_optional(a:including_required(Author.publisher:filter(Book.c.id:gt(1))))
  local err = fails("argument", request.fetch_all, request)
  matches(err, "a condition inside of the optional `author` refers to the column `id` of a `book` outside of it; put the condition on")
  equal(#Book:including_required(a:including_required(Author.publisher:filter(Book.c.id:gt(1)))):fetch_all(), 1)
  equal(#Book:including_optional(a:filter(Book.c.id:gt(1)):including_required(Author.publisher)):fetch_all(), 3)
end)

test("a misspelled association of a class or record gets the nearest name as a suggestion", function()
  matches(fails("unknown_method", function() return Author.boks end), "did you mean `books`?")
  matches(fails("unknown_column", function() return Author:find(3).boks end), "did you mean `books`?")
end)
