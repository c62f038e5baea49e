-- A library: migrations create the tables, and records represent their rows.
--
--     perilune run library.lua
--     perilune run library.lua --database library.sqlite
--
-- Run it twice on a file: the migrations run once, and the library only adds books that are missing.

-- The schema. Each migration runs once per database, in its own transaction, so that a new version of this file updates
-- all databases: add migrations at the end, and never change existing ones.
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

-- The records. The schema describes the tables, so only the rest is defined here.
local Author, Book = perilune.record("author"), perilune.record("book")

function Author:label()
  return self.name .. (self.country and " (" .. self.country .. ")" or "")
end

-- `validate` runs before each write. Invalid records are not written.
function Book:validate()
  if not self.title:find("%S") then self:invalid("title", "must not be empty") end
end

-- `fetch_one` returns nil if there is no such row. After its insert, a record knows its key.
local function add_author(fields, books)
  if Author:fetch_one{ name = fields.name } then return end
  local author = Author(fields):insert()
  for _, book in ipairs(books) do
    book.author_id = author.id
    Book(book):insert()
  end
end

-- A single transaction writes all authors with all their books, or none.
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

-- Records can be fetched with any SQL. Values that are not columns of the table become fields that are never written.
print("Books of each:")
local counted = Author:fetch_all[[
  SELECT author.*, COUNT(book.id) AS book_count FROM author LEFT JOIN book ON book.author_id = author.id
  GROUP BY author.id ORDER BY book_count DESC, name]]
for _, author in ipairs(counted) do print("  " .. author.book_count .. " by " .. author.name) end

-- A row is found by its key, or by another unique key. `find` raises an error if there is none.
local melville = Author:find{ name = "Herman Melville" }
print("Found:", melville)
print("Homer:", Author:fetch_one{ name = "Homer" })

-- Only changes are written, and nothing if there are none.
print("Changed:", melville:update_changes(function(author) author.country = "US" end))
print("Changed:", melville:update_changes(function(author) author.country = "US" end))

-- Errors explain what to do, and which columns they concern.
local function try(what, f, ...)
  local ok, err = pcall(f, ...)
  if ok then return end
  print(what .. ":", err.kind, err.columns and table.concat(err.columns, ", ") or err.suggestion or err.message)
end
try("The same book again", Book.insert, Book{ author_id = melville.id, title = "Typee" })
try("A book without a title", Book.insert, Book{ author_id = melville.id, title = " " })
try("A misspelt name", function() return melville.contry end)
try("An author who is not there", Author.find, Author, 99)

-- The schema deletes an author's books together with the author.
print("Deleted:", melville:delete(), "books that are left:", Book:fetch_count())
