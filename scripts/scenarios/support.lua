-- The shared parts of the scenarios in this folder. The scenarios form an executable manual of Perilune's scripts: they
-- are run with the project's tests, so they cannot become wrong.
--
--     perilune test scripts/scenarios

-- Authors and their books, with all features that a schema can have. A separate database, because there are no migrations here.
template("library", { on = "empty" }, function(db)
  db:create_table("author", function(t)
    t:auto_incremented_primary_key("id")
    t:column("name", "text"):not_null():unique()
    t:column("country", "text")
    t:column("born", "date")
    t:column("is_alive", "boolean"):not_null():default(false)
  end)
  db:create_table("book", function(t)
    t:auto_incremented_primary_key("id")
    t:belongs_to("author", { on_delete = "cascade" }):not_null()
    t:column("title", "text"):not_null()
    t:column("year", "integer"):check("year > 0")
    t:column("pages", "integer")
    t:unique_key{ "author_id", "title" }
  end)
end)

-- The same tables with rows.
template("shelf", { on = "library" }, function(db)
  db.author:insert{ id = 1, name = "Herman Melville", country = "United States", born = "1819-08-01" }
  db.author:insert{ id = 2, name = "Albert Camus", country = "France", born = "1913-11-07" }
  db.author:insert{ id = 3, name = "Anonymous" }
  for _, book in ipairs{ { 1, "Typee", 1846, 326 }, { 1, "Moby-Dick", 1851, 635 }, { 2, "The Plague", 1947, 308 } } do
    db.book:insert{ author_id = book[1], title = book[2], year = book[3], pages = book[4] }
  end
end)

factory("author", { name = function(n) return "author " .. n end })
factory("book", { title = function(n) return "book " .. n end, year = 1900 })

-- The record classes of a script, with their associations.
fixture("models", function()
  local Author, Book = perilune.record("author"), perilune.record("book")
  Author.books = Author:has_many(Book)
  Book.author = Book:belongs_to(Author)
  function Author.requests:from(country) return self:filter{ country = country } end
  function Book.requests:before(year) return self:filter(Book.c.year:lt(year)) end
  return { Author = Author, Book = Book }
end)
