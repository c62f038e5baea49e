--- The examples of the documents on designing record types, in their order: schema, records, hooks and requests. The files on each feature
-- contain more detailed tests.

local function migrate()
  local migrator = perilune.migrator()
  migrator:register("create library", function(db)
    db:create_table("author", function(t)
      t:auto_incremented_primary_key("id")
      t:column("name", "text"):not_null()
      t:column("country", "text")
    end)
    db:create_table("book", function(t)
      t:auto_incremented_primary_key("id")
      t:column("title", "text"):not_null()
      t:column("author_id", "integer"):not_null():indexed():references("author", { on_delete = "cascade" })
    end)
  end)
  migrator:migrate(db)
  return perilune.record "author", perilune.record "book"
end

-- Schema

test("constraints are part of the database schema", function()
  local Author, Book = migrate()
  equal(fails("constraint_not_null", Author.insert, Author, {}).columns, { "name" })
  equal(fails("constraint_foreign_key", Book.insert, Book, { title = "Typee", author_id = 7 }).extended_code, 787)
  equal(db:indexes("book")[1].name, "book_on_author_id")
  local melville = Author{ name = "Melville" }:insert()
  Book{ title = "Typee", author_id = melville.id }:insert()
  melville:delete()
  equal(Book:fetch_count(), 0)
  equal(Author{ name = "Camus" }:insert().id, 2) -- ids are never used again
end)

test("a database of any version is migrated directly to the newest", function()
  local done = {}
  local function migrator(last)
    local made = perilune.migrator()
    for version = 1, last do made:register("v" .. version, function() done[#done + 1] = version end) end
    return made
  end
  migrator(1):migrate(db)
  migrator(5):migrate(db)
  migrator(5):migrate(db)
  equal(done, { 1, 2, 3, 4, 5 })
end)

-- Records

test("fields of a record are columns, insert sets the key, and NULL is nil", function()
  local Author = migrate()
  local author = Author{ name = "Melville" }
  equal({ author.id, author.country }, {})
  local saved = author:inserted(db)
  equal({ author.id, saved.id }, { nil, 1 })
  author:insert(db)
  equal({ author.id, author.name }, { 2, "Melville" })
end)

test("records are values that can be copied, compared and passed around", function()
  local Author = migrate()
  local author = Author{ name = "Melville" }:insert()
  local again = Author:find(author.id)
  equal({ again == author, rawequal(again, author) }, { true, false })
  again.name = "Camus"
  equal({ again == author, author.name, author:copy() == author }, { false, "Melville", true })
  local name
  coroutine.wrap(function() name = Author:find(1).name end)()
  equal(name, "Melville")
end)

test("a class writes one table, and only its columns", function()
  local Author, Book = migrate()
  local counted = Author:fetch_all[[
    SELECT author.*, COUNT(book.id) AS book_count FROM author LEFT JOIN book ON book.author_id = author.id GROUP BY author.id]]
  equal(counted, {})
  Author{ name = "Melville" }:insert()
  Book{ title = "Typee", author_id = 1 }:insert()
  local author = Author:from_sql[[
    SELECT author.*, (SELECT COUNT(*) FROM book WHERE author_id = author.id) AS book_count FROM author]]:fetch_one()
  equal(author.book_count, 1)
  author.name = "M."
  author:update()
  equal({ author.book_count, db:fetch_value "SELECT name FROM author" }, { 1, "M." })
  fails("unknown_column", Author, { book_count = 1 })
end)

test("methods of a class are available wherever the class is accepted", function()
  local Author = migrate()
  function Author:label() return self.name end
  local WithCount = Author:extend{ extra = { "book_count" } }
  function WithCount:label() return Author.label(self) .. " (" .. (self.book_count or 0) .. ")" end
  local author = WithCount{ name = "Melville", book_count = 3 }
  equal({ author:label(), Author:is(author) }, { "Melville (3)", true })
  Author:insert(author)
  equal({ WithCount:find(1):label(), Author:find(1):label() }, { "Melville (0)", "Melville" })
end)

-- The verbs

test("insert, update, save, delete, exists and refresh work on single rows", function()
  local Author = migrate()
  local author = Author{ name = "Melville" }
  equal({ author:exists(db), author:insert(db).id, author:exists(db) }, { false, 1, true })
  author.name = "M."
  equal(author:update(db).name, "M.")
  db:execute "UPDATE author SET name = 'Herman'"
  equal(author:refresh(db).name, "Herman")
  equal({ author:delete(db), author:delete(db), author:exists(db) }, { true, false, false })
  for _, verb in ipairs{ "update", "refresh" } do
    local err = fails("record_not_found", author[verb], author, db)
    equal({ err.table, err.key }, { "author", 1 })
  end
  author:save(db) -- no row: inserts
  author.name = "Saved"
  author:save(db) -- a row: updates
  equal(db:fetch_values "SELECT id || name FROM author", { "1Saved" })
end)

test("records are fetched by key, unique columns, SQL and statements", function()
  local Author = migrate()
  db:execute "CREATE UNIQUE INDEX names ON author (name); INSERT INTO author (name, country) VALUES ('Melville', 'US'), ('Camus', NULL)"
  equal({ Author:fetch_one(db, 1).name, Author:fetch_one(db, 9), Author:fetch_one(db, nil) }, { "Melville" })
  equal(Author:fetch_one(db, { name = "Camus" }).id, 2)
  matches(fails("argument", Author.fetch_one, Author, db, { country = "US" }).message, "unique keys are: (id), (name)")
  equal(Author:fetch_all(db, "SELECT * FROM author WHERE country = ?", "US")[1].id, 1)
  local statement = db:prepare "SELECT * FROM author WHERE id = ?"
  equal({ Author:fetch_one(statement, 2).name, Author:fetch_all(statement, 1)[1].name }, { "Camus", "Melville" })
  for author in Author:rows(statement, 2) do equal(author.name, "Camus") end
end)

test("keys may have any type, and a hook can generate keys", function()
  db:execute[[
    CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT);
    CREATE TABLE citizenship (person INTEGER, code TEXT, since INTEGER, PRIMARY KEY (person, code))]]
  local Country, Citizenship = perilune.record "country", perilune.record "citizenship"
  function Country:will_insert() self.code = self.code or self.name:sub(1, 2):upper() end
  equal(Country{ name = "France" }:insert().code, "FR")
  Citizenship{ person = 1, code = "FR", since = 1990 }:insert()
  local one = Citizenship:find{ person = 1, code = "FR" }
  one.since = 1991
  one:update()
  equal(Citizenship:find{ code = "FR", person = 1 }.since, 1991)
end)

test("a record that is read only by SQL needs no table", function()
  local Point = perilune.row_type{ from_row = function(row) return { x = row.a + row.b } end }
  equal(Point:fetch_one "SELECT 1 AS a, 2 AS b", { x = 3 })
end)

-- Changes

test("a record reports its changes", function()
  local Author = migrate()
  local author = Author{ name = "Melville" }
  equal(author:has_changes(), true)
  author:insert()
  author.name = author.name
  equal(author:has_changes(), false)
  author.country = "US"
  equal(author:changes(), { country = { new = "US" } })
  author:update()
  equal(author:has_changes(), false)
  author:delete()
  equal(author:has_changes(), true)
end)

test("a record can be found or created from data, and saved if it has changed", function()
  local Author = migrate()
  local function import(data)
    local author = Author:fetch_one(data.id) or Author{ id = data.id }
    for column, value in pairs(data) do author[column] = value end
    if not author:has_changes() then return false end
    author:save()
    return true
  end
  local data = { id = 7, name = "Camus", country = "France" }
  equal({ import(data), import(data) }, { true, false })
  data.country = "Algeria"
  equal({ import(data), import(data), Author:find(7).country }, { true, false, "Algeria" })
end)

-- Hooks, overriding, defaults

test("validation and defaults belong in hooks or overridden methods", function()
  local Author = migrate()
  function Author:validate()
    if self.name == "" then self:invalid("name", "must not be empty") end
  end
  function Author:will_insert() self.country = self.country or "unknown" end
  local author = Author{ name = "" }
  for _, verb in ipairs{ "insert", "save" } do fails("validation", author[verb], author) end
  author.name = "Camus"
  equal(author:insert().country, "unknown")
  author.name = ""
  for _, verb in ipairs{ "update", "save" } do fails("validation", author[verb], author) end
  local calls = 0
  local insert = Author.insert
  function Author:insert(...)
    calls = calls + 1
    return insert(self, ...)
  end
  Author{ name = "Seghers" }:insert(db)
  equal({ calls, Author:fetch_count() }, { 1, 2 })
end)

test("values that the schema generates are read back", function()
  db:execute "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT DEFAULT 'none', length INTEGER AS (length(text)))"
  local note = perilune.record "note" {}:insert()
  equal({ note.text, note.length }, { "none", 4 })
end)

test("the conflict clause of a table may replace rows", function()
  db:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT REPLACE)"
  local Person = perilune.record "person"
  equal({ Person{ name = "Ada" }:insert().id, Person{ name = "Ada" }:insert().id, Person:fetch_count() }, { 1, 2, 1 })
end)

test("a record can be printed", function()
  local Author = migrate()
  equal(tostring(Author{ name = "Ada" }:insert()), 'author{id = 1, name = "Ada", country = NULL}')
end)

-- Requests, associations, composite shapes, as the screens of a library need them

test("lists of records, parents with children, and children with parents can be fetched", function()
  local Author, Book = migrate()
  Author.books = Author:has_many(Book)
  Book.author = Book:belongs_to(Author)
  function Author.requests:from(country) return self:filter{ country = country } end
  function Author.requests:by_name() return self:order(Author.c.name:collating "nocase") end
  Author:insert_all{ { name = "Melville", country = "US" }, { name = "camus", country = "France" }, { name = "Alone" } }
  Book:insert_all{ { title = "Typee", author_id = 1 }, { title = "Omoo", author_id = 1 }, { title = "La Peste", author_id = 2 } }
  local names = {}
  for _, author in ipairs(Author:annotated_with(Author.books:count()):by_name():fetch_all(db)) do
    names[#names + 1] = author.name .. author.book_count
  end
  equal(names, { "Alone0", "camus1", "Melville2" })
  local melville = Author:filter_key(1):including_all(Author.books:order "title"):fetch_one(db)
  equal({ melville.books[1].title, #melville.books }, { "Omoo", 2 })
  equal(Book:filter_key(3):including_required(Book.author):fetch_one(db).author.name, "camus")
  equal(Book:joining_required(Book.author:from "France"):fetch_one(db).title, "La Peste")
  equal(melville:books():order "title":fetch_one(db).title, "Omoo")
  equal(Author:having(Author.books:is_empty()):fetch_one(db).name, "Alone")
end)
