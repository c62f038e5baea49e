--- Writing a record together with its associated records.

local Country, Author, Book, Chapter, Tag, BookTag

local function make_classes()
  db:execute[[
    CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country_id INTEGER REFERENCES country, born DATE);
    CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author ON DELETE CASCADE, title TEXT NOT NULL CHECK (title <> ''));
    CREATE TABLE chapter (book_id INTEGER NOT NULL REFERENCES book ON DELETE CASCADE, number INTEGER, name TEXT, PRIMARY KEY (book_id, number));
    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE book_tag (book_id INTEGER NOT NULL REFERENCES book ON DELETE CASCADE, tag_id INTEGER NOT NULL REFERENCES tag, PRIMARY KEY (book_id, tag_id))]]
  Country, Author, Book = perilune.record("country"), perilune.record("author"), perilune.record("book")
  Chapter, Tag, BookTag = perilune.record("chapter"), perilune.record("tag"), perilune.record("book_tag")
  Author.country = Author:belongs_to(Country)
  Author.books = Author:has_many(Book)
  Author.first_book = Author:has_one(Book)
  Book.author = Book:belongs_to(Author)
  Book.chapters = Book:has_many(Chapter)
  Book.links, BookTag.tag = Book:has_many(BookTag), BookTag:belongs_to(Tag)
  Book.tags = Book:has_many(Tag, { through = Book.links, using = BookTag.tag })
end

local function everything()
  local all = {}
  for index, name in ipairs(db:tables()) do all[index] = db:fetch_all("SELECT * FROM " .. name) end
  return all
end

local function refused(kind, values, part, path, options)
  local before = everything()
  local err = fails(kind, Author.save_nested, Author, values, options)
  if part then matches(err, part) end
  equal(err.path, path)
  equal(everything(), before)
  return err
end

local function melville()
  return Author:save_nested{
    name = "Melville", born = "1819-08-01", country = { name = "US" },
    books = { { title = "Typee", chapters = { { number = 1, name = "The Sea" }, { number = 2 } } }, { title = "Omoo", tags = { { name = "sea" } } } },
  }
end

test("save_nested inserts a record with its children and its parent", function()
  make_classes()
  local author = melville()
  equal(author.born.year, 1819)
  equal(author.country.name, "US")
  equal(author.country_id, 1)
  equal(#author.books, 2)
  equal(author.books[1].chapters[2].number, 2)
  equal(author:books():fetch_count(), 2)
  equal(author.books[2].tags[1].name, "sea")
  equal(Book:find(2):tags():fetch_count(), 1)
  equal(Chapter:fetch_count(), 2)
  equal(author:has_changes(), false)
end)

test("save_nested updates rows with a key, inserts rows without one, and keeps other rows", function()
  make_classes()
  melville()
  local author = Author:save_nested{
    id = 1, name = "Herman Melville",
    books = { { id = 2, title = "Omoo!", chapters = { { number = 1, name = "x" } } }, { title = "Mardi" } },
  }
  equal(author.country_id, 1)
  equal(db:fetch_values("SELECT title FROM book ORDER BY id"), { "Typee", "Omoo!", "Mardi" })
  equal(db:fetch_values("SELECT name FROM author"), { "Herman Melville" })
  Author:save_nested{ id = 1, books = { { id = 1, chapters = { { number = 2, name = "second" } } } } }
  equal(db:fetch_values("SELECT name FROM chapter WHERE book_id = 1 ORDER BY number"), { "The Sea", "second" })
  Author:save_nested{ id = 9, name = "new", country = perilune.null }
  equal(Author:find(9).country_id, nil)
end)

test("save_nested deletes rows that are missing from the lists on request", function()
  make_classes()
  melville()
  Tag:insert{ name = "travel" }
  Author:save_nested({ id = 1, books = { { id = 2, tags = { { id = 2 } } } } }, { delete_missing = true })
  equal(db:fetch_values("SELECT title FROM book"), { "Omoo" })
  equal(Chapter:fetch_count(), 0)
  equal(Tag:fetch_count(), 2)
  equal(db:fetch_values("SELECT tag_id FROM book_tag"), { 2 })
  Author:save_nested({ id = 1, books = {} }, { delete_missing = true })
  equal(Book:fetch_count(), 0)
end)

test("a failure of save_nested undoes everything, and its error names the location in the tree", function()
  make_classes()
  melville()
  local err = refused("constraint_check", { name = "x", books = { { title = "a" }, { title = "" } } }, "books[2]: ", "books[2]")
  equal(err.table, "book")
  refused("constraint_not_null", { name = "x", country = { name = perilune.null } }, "country: ", "country")
  refused("constraint_unique", { id = 1, books = { { title = "b", tags = { { name = "new" }, { name = "sea" } } } } }, "books[1].tags[2]: ", "books[1].tags[2]")
  refused("constraint_not_null", { born = "1900-01-01" }, nil, nil)
  function Chapter:validate() if not self.name then self:invalid("name", "is missing") end end
  err = refused("validation", { id = 1, books = { { title = "b", chapters = { { number = 1 } } } } }, "books[1].chapters[1]: ", "books[1].chapters[1]")
  equal(err.errors[1].column, "name")
end)

test("save_nested writes existing records, which stay unchanged after a failure", function()
  make_classes()
  local us, typee = Country{ name = "US" }, Book{ title = "Typee" }
  local author = Author:save_nested{ name = "Melville", country = us, books = { typee } }
  equal(us.id, 1)
  equal(typee.author_id, author.id)
  typee.title, us.name = "changed", "USA"
  refused("constraint_check", { name = "other", country = us, books = { typee, { title = "" } } }, nil, "books[2]")
  equal(typee.author_id, 1)
  equal(typee:has_changes(), true)
  equal(Country:find(1).name, "US")
  equal(us:has_changes(), true)
end)

test("save_nested calls the hooks and methods of the classes", function()
  make_classes()
  local log = {}
  function Book:will_insert() log[#log + 1] = "will insert " .. self.title .. " of " .. self.author_id end
  function Book:did_update() log[#log + 1] = "did update " .. self.title end
  Author:save_nested{ name = "a", books = { { title = "b" } } }
  Author:save_nested{ id = 1, books = { { id = 1, title = "c" }, { id = 1 } } }
  equal(log, { "will insert b of 1", "did update c" })
end)

test("save_nested refuses rows that belong to other records", function()
  make_classes()
  melville()
  Author:insert{ name = "Camus" }
  local err = refused("nested_owner", { id = 2, books = { { id = 1, title = "mine" } } }, "belongs to another record", "books[1]")
  equal(err.column, "author_id")
  refused("argument", { id = 1, books = { { title = "a", author_id = 2 } } }, "is already set", "books[1]")
  refused("argument", { id = 1, country_id = 1, country = { name = "x" } }, "is set by `country`")
end)

test("save_nested refuses misspelled names and values of the wrong kind before it writes anything", function()
  make_classes()
  equal(refused("unknown_column", { name = "a", bokks = {} }).suggestion, "books")
  equal(refused("unknown_column", { name = "a", books = { { titel = "x" } } }, "books[1]: ", "books[1]").suggestion, "title")
  equal(refused("unknown_option", { name = "a" }, nil, nil, { delete_mising = true }).suggestion, "delete_missing")
  refused("argument", { name = "a", books = { title = "x" } }, "expected a list")
  refused("argument", { name = "a", books = "x" }, "expected a list")
  refused("argument", { name = "a", country = { { name = "x" } } }, "got a list", "country")
  refused("argument", { name = "a", books = { Country{ name = "x" } } }, "expected a record of `book`", "books[1]")
  refused("argument", { name = "a", books = { 1 } }, "table of columns", "books[1]")
  refused("argument", "a", "expected a record of `author`")
  local values = { title = "x" }
  values.author = { name = "a", books = { values } }
  matches(fails("argument", Book.save_nested, Book, values), "contain themselves")
  fails("argument", Author.save_nested, Author, {}, {}, {})
end)

test("save_nested writes a record together with its fetched associations", function()
  make_classes()
  melville()
  local author = Author:including_all(Author.books:including_all(Book.tags)):including_optional(Author.country):find(1)
  author.country.name = "United States"
  author.books[1].title = "Typee, a Peep"
  author.books[2].tags[1].name = "whale"
  table.insert(author.books, { title = "Redburn", tags = { { name = "ship" } } })
  local saved = Author:save_nested(author)
  equal({ saved == author, #saved.books, saved.books[3].id, saved.books[3].tags[1].name }, { true, 3, 3, "ship" })
  equal(Book:order("id"):pluck("title"), { "Typee, a Peep", "Omoo", "Redburn" })
  equal(Tag:order("id"):pluck("name"), { "whale", "ship" })
  equal(Country:find(1).name, "United States")
  equal(db:fetch_values("SELECT book_id || ' ' || tag_id FROM book_tag ORDER BY 1"), { "2 1", "3 2" })
  -- Unchanged fetched values are not written.
  db:execute("UPDATE book SET title = 'Mardi' WHERE id = 2")
  author.name = "Herman Melville"
  Author:save_nested(author)
  equal({ Book:find(2).title, Author:find(1).name }, { "Mardi", "Herman Melville" })
end)

test("fetched associations that contradict their record are refused", function()
  make_classes()
  melville()
  db:execute("INSERT INTO author (id, name) VALUES (2, 'Nobody')")
  local book = Book:including_optional(Book.author):find(1)
  book.author_id = 2
  matches(fails("argument", function() Book:save_nested(book) end), "author_id")
  local author = Author:including_all(Author.books:select("title")):find(1)
  author.name = "Anon"
  matches(fails("argument", function() Author:save_nested(author) end), "some columns")
  local book_again = Book:find(1)
  Book:preload({ book_again }, Book.author:select("name"))
  matches(fails("argument", function() Book:save_nested(book_again) end), "some columns")
  author.books = nil
  Author:save_nested(author)
  equal({ Author:find(1).name, Book:fetch_count() }, { "Anon", 2 })
  -- A failure leaves the records unchanged.
  author = Author:including_all(Author.books):find(1)
  author.name, author.books[2].title = "Other", ""
  equal(fails("constraint_check", function() Author:save_nested(author) end).path, "books[2]")
  equal({ author.name, Author:find(1).name, author.books[2].title }, { "Other", "Anon", "" })
end)

test("save_nested accepts a table for has_one, and a database as its first argument", function()
  make_classes()
  local author = Author:save_nested(db, { name = "a", first_book = { title = "b" } })
  equal(author.first_book.title, "b")
  db:write(function(db) Author:save_nested(db, { id = 1, first_book = { id = 1, title = "c" } }) end)
  equal(Book:find(1).title, "c")
end)

-- Moves and deletions -----------------------------------------------------------------------------------------------------------

local Node

local function make_nodes()
  db:execute[[
    CREATE TABLE node (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES node ON DELETE CASCADE, UNIQUE (parent, name));
    CREATE TABLE leaf (id INTEGER PRIMARY KEY, node_id INTEGER REFERENCES node ON DELETE CASCADE);
    INSERT INTO node VALUES (1, 'root', NULL), (2, 'a', 1), (3, 'b', 1), (4, 'aa', 2); INSERT INTO leaf VALUES (1, 4)]]
  Node = perilune.record("node")
  Node.kids = Node:has_many(Node, { columns = "parent", referenced = "id" })
end

local function nodes() return db:fetch_values("SELECT id || ':' || ifnull(name, '-') || ':' || ifnull(parent, '-') FROM node ORDER BY id") end

local function save(values) return Node:save_nested(values, { delete_missing = true }) end

test("save_nested can move a row between lists in either direction", function()
  make_nodes()
  save{ id = 1, kids = { { id = 2, kids = {} }, { id = 3, kids = { { id = 4 } } } } }
  equal(nodes(), { "1:root:-", "2:a:1", "3:b:1", "4:aa:3" })
  save{ id = 1, kids = { { id = 2, kids = { { id = 4, parent = 2, name = "moved" } } }, { id = 3, kids = {} } } }
  equal(nodes(), { "1:root:-", "2:a:1", "3:b:1", "4:moved:2" })
  equal(db:fetch_value("SELECT count(*) FROM leaf"), 1)
end)

test("save_nested keeps a moved row if its previous owner is deleted", function()
  make_nodes()
  save{ id = 1, kids = { { id = 3, kids = { { id = 4 } } } } }
  equal(nodes(), { "1:root:-", "3:b:1", "4:aa:3" })
  save{ id = 1, kids = { { name = "new", kids = { { id = 4 } } } } }
  equal(nodes(), { "1:root:-", "4:aa:5", "5:new:1" })
  equal(db:fetch_value("SELECT count(*) FROM leaf"), 1)
end)

test("save_nested keeps records that move between lists in memory", function()
  make_nodes()
  local root = Node:including_all(Node.kids:including_all(Node.kids)):find(1)
  local moved = table.remove(root.kids[1].kids)
  moved.parent = 3
  table.insert(root.kids[2].kids, moved)
  save(root)
  equal(nodes(), { "1:root:-", "2:a:1", "3:b:1", "4:aa:3" })
  equal(db:fetch_value("SELECT count(*) FROM leaf"), 1)
  equal(moved:has_changes(), false)
end)

test("save_nested does not take over a row whose parent is outside the tree", function()
  make_nodes()
  local before = nodes()
  fails("nested_owner", save, { id = 3, kids = { { id = 4 } } })
  fails("nested_owner", Node.save_nested, Node, { id = 3, kids = { { id = 4 } } })
  equal(nodes(), before)
  Node:save_nested{ id = 3, kids = { { id = 4, parent = 3 } } }
  equal(nodes()[4], "4:aa:3")
end)

test("save_nested deletes missing rows before it writes rows with the same unique key", function()
  make_nodes()
  save{ id = 1, kids = { { name = "a" }, { id = 3 } } }
  equal(nodes(), { "1:root:-", "3:b:1", "4:a:1" })
  save{ id = 1, kids = { { name = "b" }, { id = 3, name = "c" } } }
  equal(nodes(), { "1:root:-", "3:c:1", "4:b:1" })
  db:execute "CREATE TABLE cover (id INTEGER PRIMARY KEY, node_id INTEGER NOT NULL UNIQUE REFERENCES node, color TEXT); INSERT INTO cover VALUES (7, 1, 'red')"
  Node.cover = Node:has_one(perilune.record("cover"))
  save{ id = 1, cover = { color = "blue" } }
  equal(db:fetch_values("SELECT color FROM cover"), { "blue" })
end)

test("rows that save_nested writes to a filtered association satisfy its conditions", function()
  db:execute[[
    CREATE TABLE owner (id INTEGER PRIMARY KEY);
    CREATE TABLE thing (id INTEGER PRIMARY KEY, owner_id INTEGER REFERENCES owner, kind TEXT, deleted_at DATETIME);
    INSERT INTO owner VALUES (1); INSERT INTO thing VALUES (1, 1, 'g', NULL), (2, 1, 'f', '2020-01-01 00:00:00'), (3, 1, 'f', NULL)]]
  local Owner, Thing = perilune.record("owner"), perilune.record("thing", { soft_delete = true })
  Owner.things = Owner:has_many(Thing)
  Owner.f = Owner.things:filter{ kind = "f" }
  Owner:save_nested({ id = 1, f = { {}, { id = 2 }, Thing{} } }, { delete_missing = true })
  equal(Owner:find(1):f():order("id"):pluck("id"), { 2, 4, 5 })
  equal(db:fetch_values("SELECT id FROM thing WHERE deleted_at IS NULL AND kind = 'g'"), { 1 })
  Owner:save_nested{ id = 1, f = { { id = 1 }, { kind = "h" } } }
  equal(Owner:find(1):f():order("id"):pluck("id"), { 1, 2, 4, 5 })
  equal(Owner:find(1):things():filter{ kind = "h" }:fetch_count(), 1)
end)

test("rows that save_nested moves update counters, even if their previous owners have versions", function()
  db:execute[[
    CREATE TABLE node (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES node ON DELETE CASCADE, lock_version INTEGER NOT NULL DEFAULT 0,
      kid_count INTEGER NOT NULL DEFAULT 0);
    INSERT INTO node (id, name, parent, kid_count) VALUES (1, 'root', NULL, 2), (2, 'a', 1, 1), (3, 'b', 1, 0), (4, 'aa', 2, 0)]]
  Node = perilune.record("node", { lock_version = true })
  Node.up = Node:belongs_to(Node, { columns = "parent", referenced = "id", counter_cache = "kid_count" })
  Node.kids = Node:has_many(Node, { columns = "parent", referenced = "id" })
  local function counts() return db:fetch_values("SELECT id || ':' || name || ':' || kid_count FROM node ORDER BY id") end
  save{ id = 1, kids = { { id = 3, kids = { { id = 4, name = "moved" } } } } }
  equal(counts(), { "1:root:1", "3:b:1", "4:moved:0" })
  local root = Node:including_all(Node.kids:including_all(Node.kids)):find(1)
  local moved = table.remove(root.kids[1].kids)
  moved.parent, moved.name, root.kids[1], root.name = 1, "again", moved, "top"
  save(root)
  equal(counts(), { "1:top:1", "4:again:0" })
  root.name = "stale"
  db:execute "UPDATE node SET lock_version = lock_version + 1 WHERE id = 1"
  root.kids[1] = nil
  fails("stale", save, root)
  equal(counts(), { "1:top:1", "4:again:0" })
  equal(moved:has_changes(), false)
end)
