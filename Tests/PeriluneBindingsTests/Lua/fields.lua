--- Fields that differ from columns: renamed, lazy, computed, several columns as one value, and a naming strategy.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, "fullName" TEXT UNIQUE, "Home Country" TEXT);
  CREATE TABLE book (
    "bookId" INTEGER PRIMARY KEY, title TEXT NOT NULL, "pageCount" INTEGER CHECK ("pageCount" > 0), stored_flag BOOLEAN, cover TEXT,
    amount INTEGER, currency TEXT, "authorId" INTEGER REFERENCES author (id), "boughtOn" DATETIME);
  CREATE UNIQUE INDEX book_by_title ON book (title, "pageCount")]]

local Author = perilune.record("author", { naming = "snake_case", fields = { country = { column = "Home Country" } } })
local Book = perilune.record("book", {
  naming = "snake_case",
  fields = {
    flag = { column = "stored_flag", default = true },
    cover = { lazy = true },
    label = { get = function(book) return book.title:upper() end, set = function(book, value) book.title = value:lower() end },
    title_length = { get = function(book) return #book.title end, expression = function(c) return c.title:length() end },
    price = { fields = { "amount", "currency" } },
  },
})
Book.author = Book:belongs_to(Author)
Author.books = Author:has_many(Book)

local function fill()
  local ann, bob = Author:insert{ full_name = "Ann", country = "France" }, Author:insert{ full_name = "Bob" }
  Book:insert_all{
    { title = "Moby", page_count = 600, author_id = ann.id, price = { amount = 5, currency = "EUR" }, cover = "whale" },
    { title = "Emma", page_count = 400, author_id = ann.id, flag = false, bought_on = "2026-01-02" },
    { title = "Ulysses", page_count = 700, author_id = bob.id, cover = "sea" },
  }
  return ann, bob
end

local function stored(id)
  return db:fetch_one([[SELECT title, "pageCount", stored_flag, cover, amount, currency, "authorId" FROM book WHERE "bookId" = ?]], id)
end

local function titles(request)
  local list = {}
  for index, book in ipairs(request:fetch_all()) do list[index] = book.title end
  return table.concat(list, " ")
end

test("records have fields with different names than the columns", function()
  fill()
  local book = Book:find(1)
  equal({ book.book_id, book.page_count, book.flag, book.author_id }, { 1, 600, true, 1 })
  equal(tostring(book):match("stored_flag") or tostring(book):match("pageCount"), nil)
  book.flag, book.page_count = false, 601
  equal(book:changes().page_count, { old = 600, new = 601 })
  equal(book:update_changes(), true)
  equal({ stored(1).stored_flag, stored(1).pageCount }, { false, 601 })
  book:update_changes{ flag = true }
  book.page_count = 602
  book:update()
  book.page_count = 603
  book:save()
  equal({ stored(1).stored_flag, stored(1).pageCount }, { true, 603 })
  book:delete()
  equal(Book:fetch_one(1), nil)
  equal(Author:find{ full_name = "Bob" }.id, 2)
  equal({ Book:find{ title = "Emma", page_count = 400 }.book_id, Book:exists{ book_id = 2 } }, { 2, true })
end)

test("rows from SQL become fields by column name or field name", function()
  fill()
  equal(Book:from_sql('SELECT * FROM book ORDER BY 1'):fetch_one().page_count, 600)
  equal(Book:from_sql('SELECT "bookId", "pageCount" AS page_count FROM book ORDER BY 1'):fetch_one().page_count, 600)
  equal(Book.from_row{ bookId = 9, title = "x", stored_flag = true }.flag, true)
  equal(db:fetch_one("SELECT * FROM book").pageCount, 600)
end)

test("requests use fields, and their SQL uses columns", function()
  fill()
  equal(titles(Book:filter{ flag = false }), "Emma")
  equal(titles(Book:filter{ page_count = { 400, 700 } }:order("page_count")), "Emma Ulysses")
  equal(titles(Book:filter(Book.c.page_count:gt(500)):order(Book.c.page_count:desc())), "Ulysses Moby")
  equal(Book:filter{ flag = true }:sql(), 'SELECT "book"."bookId", "book"."title", "book"."pageCount", "book"."stored_flag", '
    .. '"book"."amount", "book"."currency", "book"."authorId", "book"."boughtOn" FROM "book" WHERE "book"."stored_flag" = ?')
  local row = Book:order("book_id"):select("flag", "page_count"):fetch_one()
  equal({ row.flag, row.page_count }, { true, 600 })
  equal(Book:group("flag"):select("flag", Book.c.page_count:max():as("most")):order("flag"):fetch_all()[2].most, 700)
  equal({ Book:max("page_count"), Book:filter_key(2):fetch_one().title }, { 700, "Emma" })
  equal(Book:aliased("b"):filter(Book:aliased("b").c.flag:eq(false)):fetch_count(), 1)
  equal(titles(Book:filter{ flag = true }:order("page_count"):limit(1)), "Moby")
  equal(titles((Book:filter{ flag = false } | Book:filter{ page_count = 700 }):order("page_count")), "Emma Ulysses")
  equal(Book:filter{ flag = false }:union(Book:filter{ page_count = 700 }):order("page_count"):fetch_all()[2].page_count, 700)
  local longest = perilune.common_table("longest", Book:order(Book.c.page_count:desc()):limit(1))
  equal(longest:fetch_one().page_count, 700)
  equal(Book:filter(Book.c.page_count:is_in(Book:filter{ flag = false }:select("page_count"))):fetch_one().title, "Emma")
  equal(Book:annotated_with(perilune.rank():over{ order_by = "page_count" }:as("place")):order("book_id"):fetch_one().place, 2)
  equal(Book:filter{ page_count = perilune.parameter("n") }:prepare():fetch_one{ n = 400 }.title, "Emma")
end)

test("many rows can be changed by fields", function()
  fill()
  equal(Book:filter{ flag = false }:update_all{ flag = true, page_count = Book.c.page_count + 1 }.changed_rows, 1)
  equal({ stored(2).stored_flag, stored(2).pageCount }, { true, 401 })
  equal(Book:filter{ page_count = 401 }:update_all({ page_count = 5 }, { returning = { "page_count" } })[1].page_count, 5)
  equal(Book:order("page_count"):limit(1):delete_all().changed_rows, 1)
  equal(titles(Book:order("book_id")), "Moby Ulysses")
  local Copy = perilune.record("book", { naming = "snake_case", fields = { name = "title" } })
  Copy:insert_from(Book:filter{ book_id = 1 }:select(Book.c.title:upper():as("name"), (Book.c.page_count + 1):as("page_count")),
    { returning = { "name", "page_count" } })
  equal(Copy:filter{ name = "MOBY" }:fetch_one().page_count, 601)
  Copy:insert_from(Book:filter{ book_id = 1 }:select("book_id", "title", "page_count"), {
    columns = { "book_id", "name", "page_count" }, target = "book_id", update = { page_count = perilune.excluded.page_count + 7 },
  })
  equal(stored(1).pageCount, 607)
end)

test("upserts accept fields as target and update", function()
  fill()
  local book = Book:upsert({ title = "Moby", page_count = 600, flag = false }, { target = { "title", "page_count" }, update = { "flag" } })
  equal({ book.book_id, stored(1).stored_flag }, { 1, false })
  equal(Book:upsert_all({ { book_id = 1, page_count = 3, label = "WHALE" }, { book_id = 9, title = "New", page_count = 2 } },
    { target = "book_id", returning = { "book_id", "title" } })[1].title, "whale")
  Book:upsert({ book_id = 1, title = "a", page_count = 1 }, { update = { page_count = perilune.sql('"pageCount" + 1') } })
  equal(stored(1).pageCount, 4)
  Book:upsert({ book_id = 1, title = "a", page_count = 1 }, { update = { page_count = Book.c.page_count + 10 } })
  equal(stored(1).pageCount, 14)
end)

test("associations find the foreign keys and accept fields as columns", function()
  local ann = fill()
  equal(Book:including_required(Book.author):order("book_id"):fetch_one().author.full_name, "Ann")
  equal(#Author:including_all(Author.books):order("id"):fetch_one().books, 2)
  equal(ann:books():order("page_count"):fetch_one().title, "Emma")
  equal(ann:books():insert{ title = "Third", page_count = 9 }.author_id, ann.id)
  equal(titles(Book:filter{ author = ann, ["author.country"] = "France" }:order("book_id")), "Moby Emma Third")
  equal(Author:annotated_with(Author.books:max("page_count"):as("most")):order("id"):fetch_one().most, 600)
  local Other = perilune.record("book", { fields = { writer = "authorId", number = "bookId" } })
  Other.person = Other:belongs_to(Author, { columns = "writer" })
  equal(Other:including_all(Other.person):order("number"):fetch_one().person.full_name, "Ann")
  Author.others = Author:has_many(Other, { columns = { "writer" }, referenced = { "id" } })
  equal(#Author:including_all(Author.others:order("number")):order("id"):fetch_one().others, 3)
  local authors = Author:order("id"):fetch_all()
  Author:preload(authors, Author.others)
  equal(#authors[2].others, 1)
  local nested = Author:save_nested{ full_name = "Cid", books = { { title = "Cantar", page_count = 1, price = { amount = 1, currency = "ESP" } } } }
  equal({ nested.books[1].author_id, nested.books[1].price.currency }, { nested.id, "ESP" })
  equal(Author:find_or_insert({ full_name = "Ann" }, { country = "Italy" }).country, "France")
  equal(Author:find_or_insert({ full_name = "Dan" }, { country = "Italy" }).country, "Italy")
end)

test("lazy fields are fetched on request", function()
  fill()
  local book = Book:find(1)
  matches(fails("not_fetched", function() return book.cover end), 'use Class:annotated_with("cover"), or record:refresh{ fields = "cover" }')
  equal(tostring(book):find("cover"), nil)
  equal(book:refresh{ fields = "cover" } == book and book.cover, "whale")
  equal(Book:find(2):refresh{ fields = { "cover" } }.cover, nil)
  equal(Book:annotated_with("cover"):order("book_id"):fetch_one().cover, "whale")
  equal(Book:filter{ cover = "sea" }:fetch_one().title, "Ulysses")
  equal(titles(Book:filter{ flag = true }:order("cover")), "Ulysses Moby")
  equal(titles(Book:filter{ cover = "whale" }:union(Book:filter{ cover = "sea" }):filter{ cover = "sea" }), "Ulysses")
  equal(Book:select("cover"):order("book_id"):fetch_one().cover, "whale")
  -- Updating a record neither writes nor clears an unfetched lazy field.
  book = Book:find(1)
  book.title = "Moby-Dick"
  book:update()
  equal(stored(1).cover, "whale")
  book.cover = "harpoon"
  equal(book:update_changes(), true)
  equal({ stored(1).cover, book:refresh().cover }, { "harpoon", "harpoon" })
  -- A new record has its lazy fields.
  equal({ Book{ title = "x" }.cover, Book:insert{ title = "y", page_count = 1 }.cover }, {})
  equal(Book:including_all(Book.author):fetch_all()[1].author.full_name, "Ann")
  matches(fails("not_fetched", function() return Author:including_all(Author.books):order("id"):fetch_one().books[1].cover end), "cover")
  equal(Author:including_all(Author.books:annotated_with("cover"):order("book_id")):order("id"):fetch_one().books[1].cover, "harpoon")
  local returned = Book:filter{ book_id = 1 }:update_all({ page_count = 8 }, { returning = true })[1]
  equal(returned.page_count, 8)
  fails("not_fetched", function() return returned.cover end)
  matches(fails("unknown_column", function() book:refresh{ fields = "covr" } end), "cover")
  matches(fails("argument", function() book:refresh{ fields = {} } end), "expected the name of a field")
  fails("unknown_option", function() book:refresh{ field = "cover" } end)
end)

test("associations through a lazy field work after the field was fetched", function()
  fill()
  local Title = perilune.record("author", { fields = { name = { column = "fullName", lazy = true } } })
  local Page = perilune.record("book", { fields = { number = "bookId", title = { lazy = true } } })
  Title.pages = Title:has_many(Page, { columns = { "title" }, referenced = { "name" } })
  Page.author = Page:belongs_to(Title, { columns = { "title" }, referenced = { "name" } })
  db:execute([[UPDATE book SET title = 'Ann' WHERE "bookId" = 2]])
  local author, page = Title:find(1), Page:find(2)
  for _, f in ipairs{
    function() return author:pages() end, function() return page:author() end, function() return Page:filter{ author = author } end,
    function() Title:preload({ author }, Title.pages) end, function() Page:preload({ page }, Page.author) end,
    function() return author:pages():build() end,
  } do
    matches(fails("not_fetched", f), "is lazy and was not fetched")
  end
  equal(#Title:including_all(Title.pages):order("id"):fetch_one().pages, 1)
  author:refresh{ fields = "name" }
  Title:preload({ author }, Title.pages)
  equal({ author:pages():fetch_one().number, author.pages[1].number }, { 2, 2 })
end)

test("computed fields are read and assigned through functions", function()
  fill()
  local book = Book:find(1)
  equal({ book.label, book.title_length }, { "MOBY", 4 })
  book.label = "DICK"
  equal({ book.title, book:changes().title.new }, { "dick", "dick" })
  book:update_changes{ label = "WHALE" }
  equal(stored(1).title, "whale")
  equal(Book{ label = "ABC" }.title, "abc")
  equal(Book:insert{ label = "DEF", page_count = 1 }.title, "def")
  matches(fails("readonly", function() book.title_length = 3 end), "add `set`")
  equal(Book.draft{ label = "GHI" }.title, "ghi")
  local draft = Book.draft{ title = "jkl" }
  draft.label = "MNO"
  equal({ draft.title, draft.label }, { "mno", "MNO" })
  -- Computed fields with an expression are columns in requests.
  equal(titles(Book:filter{ title_length = 7 }), "Ulysses")
  equal(Book:order("title_length", "title"):annotated_with("title_length"):fetch_one().title_length, 3)
  equal(Book.c.title_length ~= nil, true)
  matches(fails("argument", function() return Book:filter{ label = "X" } end), "give the field an `expression`")
  matches(fails("argument", function() return Book:order("label"):fetch_all() end), "give the field an `expression`")
  matches(fails("argument", function() Book:update_all{ title_length = 3 } end), "cannot be written")
  local Plain = perilune.record("author", { fields = { initial = { expression = function(c) return c.fullName:substr(1, 1) end } } })
  matches(fails("not_fetched", function() return Plain:find(1).initial end), 'Class:annotated_with("initial")')
  equal(Plain:annotated_with("initial"):order("id"):fetch_one().initial, "A")
end)

test("several columns can form one value", function()
  fill()
  local book = Book:find(1)
  equal({ book.price.amount, book.price.currency, tostring(book.price) }, { 5, "EUR", '{amount = 5, currency = "EUR"}' })
  equal(book.price == Book:find(1).price, true)
  equal(Book:find(2).price, nil)
  local parts = {}
  for part, value in pairs(book.price) do parts[part] = value end
  equal(parts, { amount = 5, currency = "EUR" })
  fails("readonly", function() book.price.amount = 6 end)
  matches(fails("unknown_part", function() return book.price.amout end), "amount")
  book.price = { amount = 7, currency = "USD" }
  book:update_changes()
  equal({ stored(1).amount, stored(1).currency }, { 7, "USD" })
  Book:find(2):update_changes{ price = book.price }
  equal(titles(Book:filter{ price = { amount = 7, currency = "USD" } }:order("book_id")), "Moby Emma")
  equal(titles(Book:filter{ price = book.price, flag = true }), "Moby")
  equal(Book:filter{ price = perilune.null }:fetch_count(), 1)
  Book:filter{ book_id = 2 }:update_all{ price = { amount = 1, currency = "X" } }
  equal({ stored(2).amount, stored(2).currency }, { 1, "X" })
  book.price = nil
  book:update_changes()
  equal({ stored(1).amount, stored(1).currency, Book:find(1).price }, {})
  matches(fails("unknown_part", function() book.price = { amunt = 1 } end), "amount")
  matches(fails("argument", function() book.price = 5 end), "expected a table")
  matches(fails("argument", function() return Book:order("price"):fetch_all() end), "use `amount`, `currency`")
  matches(fails("argument", function() Book:update_all{ price = { amount = 1 }, amount = 2 } end), "given twice")
  local Money = {}
  Money.__index = Money
  local Priced = perilune.record("book", { fields = { price = {
    fields = { sum = "amount", "currency" },
    make = function(currency, sum) return setmetatable({ sum = sum, currency = currency }, Money) end,
    split = function(money) return money.currency, money.sum end,
  } } })
  local priced = Priced:find(2)
  equal({ getmetatable(priced.price) == Money, priced.price.sum }, { true, 1 })
  priced.price = setmetatable({ sum = 3, currency = "Y" }, Money)
  priced:update()
  equal({ stored(2).amount, stored(2).currency }, { 3, "Y" })
end)

test("fields can have types and defaults", function()
  local Typed = perilune.record("book", {
    fields = {
      number = { column = "bookId" }, tags = { column = "cover", type = "json" },
      code = { column = "currency", default = function(book) return book.title:sub(1, 1) end },
      day = { column = "boughtOn" },
    },
  })
  local book = Typed:insert{ title = "x", tags = { "a", "b" }, day = perilune.date("2026-02-03") }
  equal({ book.code, Typed:find(book.number).tags[2], db:fetch_value("SELECT cover FROM book") }, { "x", "b", '["a","b"]' })
  equal(Typed:filter{ day = perilune.date("2026-02-03") }:fetch_one().number, book.number)
  equal(Typed:filter{ tags = { "a", "b" } }:fetch_count() >= 0, true)
  equal(Book:insert{ title = "y", page_count = 1 }.flag, true)
  equal(Book:insert{ title = "z", page_count = 1, flag = false }:refresh().flag, false)
end)

test("behaviors and hooks see fields", function()
  db:execute[[CREATE TABLE entry ("entryId" INTEGER PRIMARY KEY, "createdAt" DATETIME, "updatedAt" DATETIME, "lockVersion" INTEGER,
    "deletedAt" DATETIME, "theIsbn" TEXT)]]
  local Entry = perilune.record("entry", {
    naming = "snake_case", timestamps = true, lock_version = true, soft_delete = true, immutable = { "the_isbn" },
  })
  function Entry:validate()
    if self.the_isbn == "" then self:invalid("the_isbn", "must not be empty") end
  end
  local entry = Entry:insert{ the_isbn = "1" }
  equal(entry.created_at ~= nil and entry.lock_version == 0, true)
  equal(fails("validation", function() Entry:insert{ the_isbn = "" } end).errors[1].column, "the_isbn")
  entry.the_isbn = "2"
  equal(fails("immutable", function() entry:update_changes() end).column, "the_isbn")
  local Priced = perilune.record("book", { fields = { price = { fields = { "amount", "currency" } } } })
  function Priced:validate()
    if not self.price then self:invalid("price", "is missing") end
  end
  equal(fails("validation", function() Priced:insert{ title = "x" } end).errors[1].column, "price")
  local other = Entry:find(1)
  other:delete()
  equal({ Entry:fetch_count(), db:fetch_value('SELECT "lockVersion" FROM entry') }, { 0, 1 })
end)

test("constraint errors name fields", function()
  fill()
  equal(fails("constraint_unique", function() Author:insert{ full_name = "Ann" } end).columns, { "full_name" })
  equal(fails("constraint_check", function() Book:insert{ title = "x", page_count = 0 } end).columns, { "page_count" })
  local err = fails("constraint_foreign_key", function() Book:insert{ title = "x", author_id = 77 } end)
  equal({ err.columns[1], err.referenced_table }, { "author_id", "author" })
end)

test("keyset pages can be ordered by fields, including lazy ones", function()
  fill()
  local page = Book:order("page_count"):page_after(nil, 2)
  equal({ page.records[2].title, Book:order("page_count"):page_after(page.next, 2).records[1].title }, { "Moby", "Ulysses" })
  page = Book:order("cover"):page_after(nil, 2)
  equal({ page.records[2].title, Book:order("cover"):page_after(page.next, 2).records[1].title }, { "Ulysses", "Moby" })
  fails("not_fetched", function() return page.records[1].cover end)
end)

test("statements and observations use fields", function()
  equal(tostring(Book:statement("insert", { title = "S", page_count = 9, flag = false })),
    [[INSERT INTO "book" ("title", "pageCount", "stored_flag") VALUES ('S', 9, 0)]])
  equal(tostring(Book:statement("update_all", { page_count = 9 })), 'UPDATE "book" SET "pageCount" = 9')
  fill()
  equal(tostring(Book:statement("delete", Book:find(1))), [[DELETE FROM "book" WHERE "bookId" = 1]])
end)

test("extended classes inherit fields and may add some", function()
  fill()
  local Long = Book:extend{ fields = { half = { get = function(book) return book.page_count // 2 end }, bought = "boughtOn" } }
  local book = Long:find(1)
  equal({ book.half, book.flag, book.price.amount, book.label, book.bought }, { 300, true, 5, "MOBY" })
  fails("not_fetched", function() return book.cover end)
  equal(titles(Long:filter{ title_length = 4, bought = perilune.null }), "Moby")
  equal(Long:insert{ title = "n", page_count = 4, half = nil }.half, 2)
end)

test("field names still apply after the schema changes", function()
  fill()
  db:execute('ALTER TABLE book ADD COLUMN "shelfMark" TEXT')
  local book = Book:find(1)
  book.shelf_mark = "A1"
  book:update_changes()
  equal({ Book:filter{ shelf_mark = "A1" }:fetch_one().title, db:fetch_value('SELECT "shelfMark" FROM book WHERE "bookId" = 1') }, { "Moby", "A1" })
end)

test("a history stores columns and returns fields", function()
  local Kept = perilune.record("author", { naming = "snake_case", fields = { number = "id" } })
  local history = perilune.history(Kept)
  history:install(db)
  local author = Kept:insert{ full_name = "Eve" }
  author:update_changes{ full_name = "Eva" }
  local versions = author:history()
  equal({ #versions, versions[1].record.full_name, versions[2].changed }, { 2, "Eve", { "full_name" } })
  equal(Kept:as_of(perilune.now()):fetch_one().full_name, "Eva")
  history:remove(db)
end)

test("column names are not field names", function()
  fill()
  local book = Book:find(1)
  for _, f in ipairs{
    function() return Book:filter{ stored_flag = true } end, function() return Book.c.stored_flag end, function() return book.stored_flag end,
    function() book.stored_flag = true end, function() Book{ stored_flag = true } end,
  } do
    matches(fails("unknown_column", f), "the field over this column is `flag`")
  end
  matches(fails("unknown_column", function() Book:update_all{ flg = 1 } end), "flag")
  matches(fails("unknown_column", function() return book.page_cont end), "page_count")
end)

test("inconsistent field definitions are refused", function()
  local function class(options) return perilune.record("book", options):fetch_count() end
  matches(fails("argument", class, { fields = {} }), "expected { field = { ... }, ... }")
  matches(fails("argument", class, { fields = { flag = 5 } }), "expected the name of a column or a table")
  matches(fails("argument", class, { fields = { flag = {} } }), "got an empty table")
  matches(fails("unknown_option", class, { fields = { flag = { colum = "x" } } }), "column")
  matches(fails("argument", class, { fields = { flag = { column = "title", get = print } } }), "cannot be combined with `get`")
  matches(fails("argument", class, { fields = { flag = { fields = { "a" } } } }), "at least two")
  matches(fails("argument", class, { fields = { flag = { fields = { "title", "cover" }, make = print } } }), "together")
  matches(fails("argument", class, { fields = { flag = { set = print } } }), "requires `get`")
  matches(fails("argument", class, { fields = { flag = { get = 5 } } }), "expected a function")
  matches(fails("argument", class, { fields = { flag = { lazy = "yes" } } }), "expected a boolean")
  matches(fails("unknown_column", class, { fields = { flag = "stored_flg" } }), "stored_flag")
  matches(fails("argument", class, { fields = { a = "title", b = "title" } }), "over the same column")
  matches(fails("argument", class, { fields = { cover = "title" } }), "same name as another column")
  matches(fails("argument", class, { fields = { title = { get = print } } }), "same name as a column")
  matches(fails("argument", class, { naming = function() return "same" end }), "would both be the field `same`")
  matches(fails("argument", class, { naming = function() return 5 end }), "expected the name of a field")
  matches(fails("argument", class, { naming = "camelCase" }), 'expected "snake_case" or a function')
  matches(fails("argument", class, { types = { flag = "boolean" }, fields = { flag = { column = "stored_flag", type = "boolean" } } }), "also given by the option `types`")
  matches(fails("argument", class, { defaults = { flag = 1 }, fields = { flag = { column = "stored_flag", default = true } } }), "option `defaults`")
  matches(fails("argument", function() function Book:label() end end), "it is a field")
  fails("unknown_option", class, { feilds = { flag = "stored_flag" } })
end)

test("a naming strategy converts column names to snake case", function()
  db:execute[[CREATE TABLE mixed (id INTEGER PRIMARY KEY, "ISBNCode" TEXT, "HTMLText" TEXT, plain TEXT, "B2BShop" TEXT, "already_snake" TEXT, "URL" TEXT)]]
  local Mixed = perilune.record("mixed", { naming = "snake_case" })
  equal(tostring(Mixed:insert{ isbn_code = "a", html_text = "b", plain = "c", already_snake = "d", url = "e" }),
    'mixed{id = 1, isbn_code = "a", html_text = "b", plain = "c", b2b_shop = NULL, already_snake = "d", url = "e"}')
end)

test("a NULL field can be read in callbacks where the database is unavailable", function()
  local _, bob = fill()
  local book, results = Book:find(1), {}
  book.amount, book.currency = nil, nil
  local observer = db:observe_transactions{ on_change = function()
    results = table.pack(pcall(function() return bob.country, book.price, book.bought_on end))
  end }
  db:execute([[UPDATE author SET "fullName" = 'Bo' WHERE id = ?]], bob.id)
  observer:cancel()
  equal(results, { true, nil, nil, nil, n = 4 })
end)

test("the option returning returns columns, not fields that combine them", function()
  db:execute "CREATE TABLE volume (id INTEGER PRIMARY KEY, title TEXT, amount INTEGER, currency TEXT)"
  local Volume = perilune.record("volume", { fields = {
    price = { fields = { "amount", "currency" } },
    label = { get = function(volume) return volume.title:upper() end, set = function(volume, label) volume.title = label:lower() end },
  } })
  local price = { amount = 5, currency = "EUR" }
  for _, returning in ipairs{ "price", { "id", "price" } } do
    matches(fails("argument", Volume.insert, Volume, { title = "a", price = price }, { returning = returning }).message,
      "`price` of `volume` is a value of several fields; use `amount`, `currency`")
  end
  local volume = Volume{ title = "a", price = price }
  for _, verb in ipairs{ "insert", "save", "upsert", "update", "delete" } do
    matches(fails("argument", volume[verb], volume, { returning = "label" }).message, "`label` of `volume` is computed in Lua; name the columns")
  end
  fails("argument", Volume.insert_all, Volume, { { title = "a" } }, { returning = { "label" } })
  equal(Volume:fetch_count(), 0)
  local row = Volume:insert({ title = "a", price = price }, { returning = { "amount", "currency" } })
  equal({ row.amount, row.currency }, { 5, "EUR" })
end)

test("changes() and pairs() contain columns, not fields that combine them", function()
  db:execute "CREATE TABLE volume (id INTEGER PRIMARY KEY, title TEXT, amount INTEGER, currency TEXT)"
  local Volume = perilune.record("volume", { fields = {
    price = { fields = { "amount", "currency" } },
    label = { get = function(volume) return volume.title:upper() end, set = function(volume, label) volume.title = label:lower() end },
  } })
  local volume = Volume:insert{ title = "a", price = { amount = 5, currency = "EUR" } }
  volume.price, volume.label = { amount = 6, currency = "EUR" }, "B"
  local changes = volume:changes()
  equal({ changes.amount.old, changes.amount.new, changes.title.new }, { 5, 6, "b" })
  equal({ changes.price, changes.label, changes.currency }, {})
  local names = {}
  for name in pairs(volume) do names[#names + 1] = name end
  table.sort(names)
  equal(names, { "amount", "currency", "id", "title" })
end)

test("constraint errors name fields, even when lists or many rows are written", function()
  db:execute[[CREATE TABLE person (id INTEGER PRIMARY KEY, fullName TEXT NOT NULL, eMail TEXT UNIQUE, age INTEGER); INSERT INTO person VALUES (1, 'Ada', 'a', 1)]]
  local Person = perilune.record("person", { naming = "snake_case" })
  local function check(part, f, ...)
    local err = fails(nil, f, ...)
    matches(err.message, part)
    equal(err.message:find("fullName", 1, true) or err.message:find("eMail", 1, true), nil)
  end
  check("person.full_name", Person.insert, Person, { age = 3 })
  check("person.e_mail", Person.insert, Person, { full_name = "x", e_mail = "a" })
  check("person.e_mail", Person.insert_all, Person, { { full_name = "x", e_mail = "a" } })
  check("person.full_name", Person.upsert_all, Person, { { id = 1, age = 2 }, { id = 2, age = 2 } }, { target = "id" })
  check("person.full_name", function() Person:all():update_all{ full_name = perilune.null } end)
end)
