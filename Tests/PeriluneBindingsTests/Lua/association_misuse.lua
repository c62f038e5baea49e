--- Common mistakes with associations, aliases and common tables: each is an error at the line that builds the request, or works.
-- GRDB ends the process in some of these cases; the tests show the behavior here.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author, editor_id INTEGER REFERENCES author);
  CREATE TABLE seat (hall TEXT, number INTEGER, author_id INTEGER REFERENCES author, PRIMARY KEY (hall, number)) WITHOUT ROWID;
  CREATE TABLE ticket (id INTEGER PRIMARY KEY, hall TEXT, number INTEGER, FOREIGN KEY (hall, number) REFERENCES seat);
  CREATE VIEW writer AS SELECT * FROM author;
  INSERT INTO author VALUES (1, 'Ann', 'FR'), (2, 'Bo', 'US'), (3, 'Cy', NULL);
  INSERT INTO book VALUES (1, 'A', 1, 2), (2, 'B', 1, NULL), (3, 'C', 2, 1), (4, 'D', NULL, NULL);
  INSERT INTO seat VALUES ('x', 1, 1), ('x', 2, 1), ('y', 1, 2);
  INSERT INTO ticket VALUES (1, 'x', 1), (2, 'x', 1), (3, 'y', 1), (4, NULL, 1)]]

local Author, Book, Seat, Ticket = perilune.record("author"), perilune.record("book"), perilune.record("seat"), perilune.record("ticket")
Author.books = Author:has_many(Book, { columns = "author_id" })
Book.author = Book:belongs_to(Author, { columns = "author_id" })
Book.editor = Book:belongs_to(Author, { columns = "editor_id" })
Seat.author, Author.seats = Seat:belongs_to(Author), Author:has_many(Seat)
Seat.tickets, Ticket.seat = Seat:has_many(Ticket), Ticket:belongs_to(Seat)

test("filter finds rows by columns other than the primary key", function()
  equal(Author:filter{ country = "FR", name = "Ann" }:fetch_one().id, 1)
  fails("argument", function() Author:filter_key{ country = "FR" } end)
  fails("argument", function() Seat:filter_key("x") end)
  equal(Seat:find{ hall = "x", number = 2 }.author_id, 1)
end)

test("including_all works without selecting the key column", function()
  local author = Author:select("name"):including_all(Author.books:select("title"):order("id")):order("id"):fetch_one()
  equal({ author.name, author.id, author.books[1].title, author.books[1].author_id }, { "Ann", nil, "A", nil })
end)

test("selected expressions and SQL text can be combined with included records", function()
  local book = Book:select("title", perilune.sql("upper(title)"):as("loud")):including_required(Book.author):order("id"):fetch_one()
  equal({ book.title, book.loud, book.author.name }, { "A", "A", "Ann" })
end)

test("missing or ambiguous foreign keys are reported", function()
  local Writer = perilune.record("writer")
  matches(fails("ambiguous", function() Author.all_books = Author:has_many(Book) end), '"editor_id"')
  fails("no_foreign_key", function() Book.seats = Book:has_many(Seat) end)
  fails("no_foreign_key", function() Book.writer = Book:belongs_to(Writer) end)
  fails("argument", function() Ticket.place = Ticket:belongs_to(Seat, { columns = "hall", referenced = { "hall", "number" } }) end)
  fails("argument", function() Book.writer = Book:belongs_to(Writer, { columns = "author_id" }) end)
  Book.writer = Book:belongs_to(Writer, { columns = "author_id", referenced = "id" })
  equal(Book:including_required(Book.writer):find(1).writer.name, "Ann")
  equal(Book:including_all(Book.writer):find(3).writer.name, "Bo")
end)

test("a required association inside an optional one is joined as a unit", function()
  local books = Book:including_optional(Book.editor:joining_required(Author.books)):group("id"):order("id"):fetch_all()
  equal(#books, 4)
  equal({ books[1].editor.name, books[2].editor, books[3].editor.name }, { "Bo", nil, "Ann" })
end)

test("associations with distinct, groups or a limit cannot be joined", function()
  matches(fails("argument", function() Book:joining_required(Book.author:distinct()) end), "distinct()")
  matches(fails("argument", function() Book:joining_required(Book.author:group("country")) end), "groups")
  matches(fails("argument", function() Book:including_optional(Book.author:limit(1)) end), "limit")
  fails("argument", function() Author:including_all(Author.books:group("title")) end)
  equal(#Author:including_all(Author.books:distinct()):find(1).books, 2)
end)

test("two associations with the same name are distinguished or refused", function()
  matches(fails("argument", function() Book:including_required(Book.author, Book.editor:as("author")) end), "rename one of them")
  fails("argument", function()
    Book:including_required(Book.author:filter{ country = "FR" }, Book.author:filter{ name = "Ann" })
  end)
  fails("argument", function() Author:including_all(Author.books, Author.books:filter{ title = "B" }) end)
  -- Joining an association again under the same name adds conditions.
  local book = Book:including_required(Book.author):joining_required(Book.author:filter{ name = "Ann" }):order("id"):fetch_one()
  equal(book.author.name, "Ann")
end)

test("invalid aliases are refused", function()
  local request = Book:joining_required(Book.author:aliased("a"), Book.editor:aliased("e"))
  equal(request:filter(Author:aliased("a").c.name:eq("Ann")):pluck("id"), { 1 })
  matches(fails("ambiguous", function() request:filter(Author.c.name:eq("Ann")):fetch_all() end), "`a`, `e`")
  fails("ambiguous", function() Book:joining_required(Book.author:aliased("x"), Book.editor:aliased("X")):fetch_all() end)
  matches(fails("not_joined", function() request:filter(Author:aliased("other").c.name:eq("Ann")):fetch_all() end), "other")
  fails("argument", function() Author:aliased("") end)
  equal(Author:aliased('a"; DROP TABLE author; --'):filter{ id = 1 }:fetch_count(), 1)
end)

test("common tables whose names differ only in case are refused in one statement", function()
  local low = perilune.common_table("t", Author:select("id"))
  local high = perilune.common_table("T", Book:select("id"))
  local request = Author:joining_required(Author:belongs_to(low, { name = "l", columns = "id", referenced = "id" }),
    Author:belongs_to(high, { name = "h", columns = "id", referenced = "id" }))
  fails("argument", function() request:fetch_all() end)
  equal(Author:filter(Author.c.id:is_in(low)):filter(Author.c.id:is_in(high)):fetch_count(), 3)
end)

test("a common table may have the name of a table", function()
  local book = perilune.common_table("book", Book:filter{ author_id = 1 }:select("id", "title"))
  equal(book:order("id"):pluck("title"), { "A", "B" })
  equal(Book:filter(Book.c.id:is_in(book:select("id"))):fetch_count(), 2)
end)

test("tables WITHOUT ROWID with composite keys support aggregates, updates and deletions through associations", function()
  local seats = Seat:annotated_with(Seat.tickets:count()):order("hall", "number"):fetch_all()
  equal({ seats[1].ticket_count, seats[2].ticket_count, seats[3].ticket_count }, { 2, 0, 1 })
  equal(Seat:find{ hall = "x", number = 1 }:tickets():order("id"):pluck("id"), { 1, 2 })
  equal(Ticket:find(3):seat():fetch_one().hall, "y")
  equal(Ticket:find(4):seat():fetch_one(), nil)
  equal(Seat:joining_required(Seat.author:filter{ name = "Bo" }):update_all{ author_id = 1 }.changed_rows, 1)
  equal(Seat:having(Seat.tickets:is_empty()):delete_all().changed_rows, 1)
  equal(Seat:fetch_count(), 2)
  Author.tickets = Author:has_many(Ticket, { through = Author.seats, using = Seat.tickets })
  equal(Author:find(1):tickets():order("id"):pluck("id"), { 1, 2, 3 })
  equal(#Author:including_all(Author.tickets):find(1).tickets, 3)
end)

test("conditions on unjoined tables and ambiguous columns are errors", function()
  local err = fails("not_joined", function() Book:filter(Author.c.name:eq("Ann")):fetch_all() end)
  matches(err, "joining_required")
  fails("sql", function() Book:joining_required(Book.author):filter("id = 1"):fetch_all() end)
  equal(Book:joining_required(Book.author):filter("book.id = 1"):fetch_count(), 1)
  equal(Book:joining_required(Book.author):filter{ id = 1 }:fetch_one().title, "A")
end)

test("an association that includes itself endlessly is refused", function()
  db:execute("CREATE TABLE node (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES node); INSERT INTO node VALUES (1, 2), (2, 1)")
  local Node = perilune.record("node")
  Node.children = Node:has_many(Node)
  local node = Node:including_all(Node.children, 5):find(1)
  equal(node.children[1].children[1].children[1].children[1].children[1].id, 2)
  fails("argument", function() Node:including_all(Node.children, 31) end)
  fails("argument", function() Node:including_all(Node.children, 0) end)
  local deep = Node.children
  fails("too_deep", function()
    for _ = 1, 40 do deep = Node.children:including_all(deep) end
    Node:including_all(deep)
  end)
  fails("argument", function() Author:including_all(Author.books, 2) end)
end)

test("a value that is not an association is refused", function()
  fails("argument", function() Author:including_all("books") end)
  fails("argument", function() Author:including_all() end)
  fails("argument", function() Author:joining_required(Author.books:count()) end)
  fails("argument", function() Author:annotated_with(Author.books) end)
  fails("argument", function() Book:having(Author.books:count():gt(1)):fetch_all() end)
  fails("argument", function() Author.books:sum() end)
  fails("unknown_column", function() Author.books:sum("prize") end)
  fails("argument", function() Author:annotated_with(Author.books:count():max()):fetch_all() end)
  fails("argument", function() Author:annotated_with(Author.books:count(), Author.books:count()) end)
end)

test("the name of a table with two classes leads to one class at the top of the file", function()
  db:execute("CREATE TABLE tour (id INTEGER PRIMARY KEY); CREATE TABLE delivery (id INTEGER PRIMARY KEY, tour_id INTEGER REFERENCES tour)")
  local Delivery = perilune.record("delivery")
  local function run()
    local Tour = perilune.record("tour")
    return Delivery:belongs_to("tour"), Tour
  end
  run()
  local message = fails("argument", run)
  matches(message, "2 record classes exist for `tour`; pass one of them instead of the name")
  matches(message, "call perilune.record at the top of the file, not in a function that runs again")
end)
