-- A library: migrations make the tables, records stand for their rows.
--
--     perilune run library.lua
--     perilune run library.lua --database library.sqlite
--
-- Run it twice on a file: the migrations run once, and the library grows by what is not in it yet.

-- The schema. A migration runs once in each database, and in a transaction of its own, so that a new version of this file
-- brings every database up to date: append, and never change what is there.
local migrator = perilune.migrator()

migrator:register("create library", function(db)
  db:create_table("author", function(t)
    t:auto_incremented_primary_key("id")
    t:column("name", "text"):not_null():unique()
    t:column("country", "text")
  end)
  db:create_table("book", function(t)
    t:auto_incremented_primary_key("id")
    t:belongs_to("author", { on_delete = "cascade" }):not_null()     -- author_id, which refers to author(id)
    t:column("title", "text"):not_null()
    t:column("year", "integer"):check("year > 0")
    t:column("is_read", "boolean"):not_null():default(false)
    t:unique_key{ "author_id", "title" }
  end)
end)

migrator:register("add dates of birth", function(db)
  db:alter_table("author", function(t) t:add_column("born", "date") end)
end)

migrator:migrate(db)

-- The records. What a table consists of stands in its schema: here is only what it does not say.
local Author, Book = perilune.record("author"), perilune.record("book")

function Author:label()
  return self.name .. (self.country and " (" .. self.country .. ")" or "")
end

-- `validate` runs before each write. What is invalid is not written.
function Book:validate()
  if not self.title:find("%S") then self:invalid("title", "must not be empty") end
end

-- `fetch_one` gives nil if there is no such row. Once it is inserted, a record knows its key.
local function add_author(fields, books)
  if Author:fetch_one{ name = fields.name } then return end
  local author = Author(fields):insert()
  for _, book in ipairs(books) do
    book.author_id = author.id
    Book(book):insert()
  end
end

-- One transaction for all of it: all authors with all their books, or none.
db:write(function()
  add_author({ name = "Herman Melville", country = "United States", born = perilune.date("1819-08-01") }, {
    { title = "Typee", year = 1846 }, { title = "Moby-Dick", year = 1851, is_read = true },
  })
  add_author({ name = "Gabriel García Márquez", country = "Colombia", born = perilune.date("1927-03-06") }, {
    { title = "Cien años de soledad", year = 1967 },
  })
  add_author({ name = "Anonymous" }, { { title = "Lazarillo de Tormes", year = 1554 } })
end)

print("Authors:")
for _, author in ipairs(Author:fetch_all("SELECT * FROM author ORDER BY name")) do
  print("  " .. author:label() .. (author.born and ", born in " .. author.born.year or ""))
end

-- Any SQL makes records. A column that the table does not have is a field like others, and is never written.
print("Books of each:")
local counted = Author:fetch_all[[
  SELECT author.*, COUNT(book.id) AS book_count FROM author LEFT JOIN book ON book.author_id = author.id
  GROUP BY author.id ORDER BY book_count DESC, name]]
for _, author in ipairs(counted) do print("  " .. author.book_count .. " by " .. author.name) end

-- One row by its key, or by another unique key. `find` raises if there is none.
local melville = Author:find{ name = "Herman Melville" }
print("Found:", melville)
print("Homer:", Author:fetch_one{ name = "Homer" })

-- Only what was changed is written, and nothing if nothing was.
print("Changed:", melville:update_changes(function(author) author.country = "US" end))
print("Changed:", melville:update_changes(function(author) author.country = "US" end))

-- Mistakes are errors that say what to do, and which columns they are about.
local function try(what, f, ...)
  local ok, err = pcall(f, ...)
  if ok then return end
  print(what .. ":", err.kind, err.columns and table.concat(err.columns, ", ") or err.suggestion or err.message)
end
try("The same book again", Book.insert, Book{ author_id = melville.id, title = "Typee" })
try("A book without a title", Book.insert, Book{ author_id = melville.id, title = " " })
try("A misspelt name", function() return melville.contry end)
try("An author who is not there", Author.find, Author, 99)

-- The books of an author go with him, as the schema says.
print("Deleted:", melville:delete(), "books that are left:", Book:fetch_count())
