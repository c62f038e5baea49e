-- The optional database argument, which is the first argument of every function that accepts one.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER, author_id INTEGER REFERENCES author);
  CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book_tag (book_id INTEGER REFERENCES book, tag_id INTEGER REFERENCES tag, PRIMARY KEY (book_id, tag_id));
  INSERT INTO author VALUES (1, 'a');
  INSERT INTO book VALUES (1, 'x', 10, 1), (2, 'y', 20, 1), (3, 'z', 30, 1);
  INSERT INTO tag VALUES (1, 'sea'), (2, 'land')]]

local Author, Book = perilune.record("author"), perilune.record("book")
local Tag, Link = perilune.record("tag"), perilune.record("book_tag")
Author.books, Book.links, Link.tag = Author:has_many(Book), Book:has_many(Link), Link:belongs_to(Tag)
Book.tags = Book:has_many(Tag, { through = Book.links, using = Link.tag })
local Marks = perilune.history(Tag)
Marks:install(db)

-- Functions that accept a database, each with valid arguments that follow the database.
local function calls()
  local author, book = Author:find(1), Book:find(1)
  local ordered = Book:order("id")
  return {
    { ordered, "min", "pages" }, { ordered, "max", "pages" }, { Book, "sum", "pages" }, { ordered, "average", "pages" },
    { Book, "total", "pages" }, { ordered, "page", 1, 2 }, { Book, "page", 1, 2 }, { ordered, "page_after", nil, 2 },
    { ordered, "page_before", nil, 2 }, { Book, "in_batches", 2 }, { ordered, "pluck", "id", "title" }, { ordered, "find", 1 },
    { Book, "find", 1 }, { Book, "fetch_one", 1 }, { Book, "delete_one", 77 }, { book:tags(), "replace", { 1 } },
    { book:tags(), "add", 2 }, { book:tags(), "remove", 2 }, { Tag, "insert", { name = "new" } }, { Tag, "insert_all", { { name = "new" } } },
    { Author, "preload", { author }, Author.books }, { Author, "save_nested", { name = "new" } }, { Tag, "insert_from", Tag:filter{ id = 99 } },
    { Author, "exists", "x" }, { author, "update_changes", { name = "b" } },
    { Marks, "transactions", 5 }, { Tag, "find_or_build", { name = "sea" } },
  }
end

local function call_with(call, db_first, db_last)
  local count = call[2] == "page_after" and 4 or call[2] == "page_before" and 4 or #call
  local given = { n = 0 }
  local function add(value) given.n = given.n + 1 given[given.n] = value end
  if db_first then add(db_first) end
  for index = 3, count do add(call[index]) end
  if db_last then add(db_last) end
  return pcall(call[1][call[2]], call[1], table.unpack(given, 1, given.n))
end

test("methods accept a database as their first argument", function()
  for _, call in ipairs(calls()) do
    local is_done, err = call_with(call, db)
    if not is_done then error(call[2] .. ": " .. tostring(err), 0) end
  end
end)

test("the database argument is optional", function()
  for _, call in ipairs(calls()) do
    local is_done, err = call_with(call)
    if not is_done then error(call[2] .. ": " .. tostring(err), 0) end
  end
end)

test("a database after other arguments is refused, and the error names its position", function()
  for _, call in ipairs(calls()) do
    local is_done, err = call_with(call, nil, db)
    if is_done then error(call[2] .. " takes a database as the last argument", 0) end
    matches(err, "the database is the first argument")
    matches(err, call[2])
  end
end)

test("nil as the database argument selects the default database", function()
  equal(Book:sum(nil, "pages"), 60)
  equal(#Book:order("id"):page_after(nil, nil, 2).records, 2)
  equal(#Book:order("id"):page_after(nil, 2).records, 2)
  equal(#Book:page(nil, 1, 2).records, 2)
  equal({ perilune.once(nil, "k", function() return 1 end) }, { 1, true })
end)

test("aggregates, pages, batches and pluck read from the given database", function()
  local other = perilune.queue()
  other:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER, author_id INTEGER)")
  other:execute("INSERT INTO book VALUES (7, 'w', 500, 1)")
  equal(Book:sum(other, "pages"), 500)
  equal(Book:order("id"):page(other, 1, 5).records[1].title, "w")
  equal(Book:order("id"):page_after(other, nil, 5).records[1].title, "w")
  for batch in Book:in_batches(other, 5) do equal(batch[1].title, "w") end
  equal(Book:pluck(other, "title"), { "w" })
  equal({ perilune.once(other, "k2", function() return 1 end) }, { 1, true })
  equal({ perilune.once(other, "k2", function() return 2 end) }, { 1, false })
  equal(Book:delete_one(other, 7), true)
  other:close()
end)
