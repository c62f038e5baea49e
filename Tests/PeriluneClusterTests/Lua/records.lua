-- Migrations, records, requests, associations, full text, JSON, insert_all.
local migrator = perilune.migrator()
migrator:register("library", function(db)
  db:create_table("author", function(t)
    t:auto_incremented_primary_key("id")
    t:column("name", "text"):not_null():unique()
    t:column("born", "date")
    t:column("alive", "boolean")
  end)
  db:create_table("book", function(t)
    t:auto_incremented_primary_key("id")
    t:column("title", "text"):not_null()
    t:column("data", "text")
    t:column("author_id", "integer"):not_null():indexed():references("author", { on_delete = "cascade" })
  end)
end)
migrator:register("prices", function(db)
  db:alter_table("book", function(t) t:add_column("price", "double") end)
  db:execute("CREATE VIEW cheap AS SELECT * FROM book WHERE price < 10")
  db:execute("CREATE TABLE log (what)")
  db:execute("CREATE TRIGGER logged AFTER INSERT ON author BEGIN INSERT INTO log VALUES (new.name); END")
end)
assert(#migrator:pending(db) == 2)
migrator:migrate(db)
migrator:migrate(db)
assert(#migrator:pending(db) == 0)
-- A failure leaves nothing behind.
migrator:register("broken", function(db) db:execute("CREATE TABLE half (a)") db:execute("INSERT INTO half VALUES (1)") error("no") end)
assert(not pcall(migrator.migrate, migrator, db))
assert(not db:table_exists("half") and #migrator:pending(db) == 1)
assert(db:fetch_value("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
-- Deferred foreign keys are checked.
local second = perilune.migrator()
second:register("library", function() end) second:register("prices", function() end)
second:register("orphans", function(db) db:execute("INSERT INTO book (title, author_id) VALUES ('x', 999)") end)
local _, err = pcall(second.migrate, second, db)
assert(tostring(err):find("book"), tostring(err))
assert(db:fetch_value("SELECT count(*) FROM book") == 0)

local Author, Book = perilune.record("author"), perilune.record("book")
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
local verne = Author { name = "Jules Verne", born = perilune.date("1828-02-08"), alive = false }
verne:insert()
assert(verne.id and db:fetch_value("SELECT what FROM log") == "Jules Verne")
local books = {}
for i = 1, 500 do books[i] = Book { title = "Voyage " .. i, author_id = verne.id, price = i / 10 } end
Book:insert_all(books)
assert(Book:fetch_count() == 500 and books[500].id == books[1].id + 499)
assert(Book:filter { title = "Voyage 7" }:fetch_one().price == 0.7)
local author = Author:including_all(Author.books:order("title")):fetch_one()
assert(#author.books == 500 and author.alive == false and author.born == perilune.date("1828-02-08"))
assert(Book:including_required(Book.author):filter { id = books[3].id }:fetch_one().author.name == "Jules Verne")
verne.name = "J. Verne"
assert(verne:update_changes())
verne.alive = nil
verne:update()
assert(Author:find(verne.id).alive == nil and Author:find(verne.id).name == "J. Verne")
assert(Author:annotated_with(Author.books:count()):fetch_one().book_count == 500)
assert(db:fetch_value("SELECT count(*) FROM cheap") == 99)
local again = Author { id = verne.id, name = "Verne" }
again:upsert()
assert(Author:fetch_count() == 1 and Author:find(verne.id).name == "Verne")
assert(select(2, pcall(function() Author { name = "Verne" }:insert() end)).kind == "constraint_unique")
assert(Book:filter(Book.c.price:ge(45)):delete_all().changed_rows == 51)
verne:delete()
assert(Book:fetch_count() == 0)

db:write(function(db)
  local draft = Author.draft { name = "Stevenson" }
  local saved = Author:insert(draft)
  assert(saved and saved.id)
end)

-- Full-text search and JSON run on the node.
db:execute("CREATE VIRTUAL TABLE note USING fts5(text)")
db:execute("INSERT INTO note VALUES ('the whale is white'), ('the sea is blue')")
assert(db:fetch_value("SELECT highlight(note, 0, '<', '>') FROM note WHERE note MATCH ?", "whale") == "the <whale> is white")
assert(db:fetch_value("SELECT json_extract(?, '$.a[1]')", '{"a": [1, 2]}') == 2)
local n = 0
for _ in db:rows("SELECT value FROM json_each(?)", "[1, 2, 3]") do n = n + 1 end
assert(n == 3)
db:execute("DROP TABLE note")

local copy = perilune.queue()
db:backup_to(copy)
assert(copy:fetch_value("SELECT name FROM author") == "Stevenson")
assert(#db:serialize() > 4096)

db:execute("CREATE TABLE seen (text)")
db:execute("INSERT INTO seen VALUES ('records-were-kept')")
return "records-were-kept"
