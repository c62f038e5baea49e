-- Surplus arguments and unknown options are errors. library_surplus.lua calls all functions of the reference.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author);
  INSERT INTO author VALUES (1, 'a'), (2, 'b');
  INSERT INTO book VALUES (1, 'x', 1), (2, 'y', 2)]]

local Author, Book = perilune.record("author"), perilune.record("book")
Author.books, Book.author = Author:has_many(Book), Book:belongs_to(Author)

--- Calls a method with valid arguments followed by a table.
local function refuses(what, object, name, arguments)
  local given = table.move(arguments, 1, arguments.n or #arguments, 1, {})
  local count = (arguments.n or #arguments) + 1
  given[count] = { option = true }
  local ok, err = pcall(object[name], object, table.unpack(given, 1, count))
  if ok then error(what .. ":" .. name .. " takes a surplus argument without a word", 0) end
  return err
end


test("requests refuse surplus arguments", function()
  local request = Author:order("id")
  local methods = {
    filter_key = { 1 }, none = {}, all = {}, reversed = {}, unordered = {}, distinct = {}, offset = { 1 },
    limit = { 1, 1 }, aliased = { "x" }, union = { Author }, union_all = { Author }, intersect = { Author }, except = { Author },
    fetch_all = { db }, fetch_one = { db }, find = { db, 1 }, rows = { db }, fetch_count = { db }, is_empty = { db }, exists = { db },
    min = { db, "id" }, max = { db, "id" }, sum = { db, "id" }, average = { db, "id" }, total = { db, "id" }, sql = { db },
    explain = { db }, update_all = { db, { name = "z" }, {} }, delete_all = { db, {} }, prepare = {}, page = { db, 1, 1 },
    in_batches = { db, 1 }, filter = { { id = 1 } }, having = { { id = 1 } }, order = { "id" }, then_order = { "id" }, select = { "id" },
    annotated_with = { Author.c.id:as("x") }, group = { "id" }, pluck = { "id" }, including_all = { Author.books },
    including_optional = { Author.books }, including_required = { Author.books }, joining_optional = { Author.books },
    joining_required = { Author.books }, annotated_with_optional = { Author.books }, annotated_with_required = { Author.books },
  }
  for name, arguments in pairs(methods) do refuses("request", request, name, arguments) end
  local selected = request:select("name")
  for _, name in ipairs{ "fetch_value", "fetch_values", "fetch_optional_values", "fetch_set", "tuples" } do
    refuses("request", selected, name, { db })
  end
  refuses("prepared request", request:prepare(), "fetch_all", { db, {} })
  equal(Author:fetch_count(), 2)
  equal(Author:filter{ name = "z" }:fetch_count(), 0)
end)

test("associations refuse surplus arguments", function()
  local methods = {
    count = {}, is_empty = {}, min = { "id" }, max = { "id" }, sum = { "id" }, average = { "id" }, total = { "id" }, unscoped = {},
    as = { "x" }, filter_key = { 1 }, limit = { 1, 1 }, offset = { 1 }, distinct = {}, order = { "id" }, aliased = { "x" },
  }
  for name, arguments in pairs(methods) do refuses("association", Author.books, name, arguments) end
  matches(fails("argument", function() Author.books:count{ filter = Book.c.id:gt(1) } end), "filter(...)")
  for _, kind in ipairs{ "has_many", "has_one", "belongs_to" } do refuses("class", Author, kind, { Book, {} }) end
  fails("unknown_option", function() Author:has_many(Book, { option = true }) end)
  fails("argument", function() Author:find(1):books(db, 1) end)
end)

test("expressions refuse surplus arguments", function()
  local methods = {
    eq = { 1 }, ne = { 1 }, lt = { 1 }, le = { 1 }, gt = { 1 }, ge = { 1 }, is = { 1 }, is_not = { 1 }, is_null = {}, is_not_null = {},
    between = { 1, 2 }, like = { "a", "x" }, glob = { "a" }, regexp = { "a" }, match = { "a" }, contains = { "a" },
    starts_with = { "a" }, ends_with = { "a" }, is_in = { { 1 } }, is_not_in = { { 1 } }, collating = { "nocase" }, as = { "x" },
    asc = {}, desc = {}, nulls_first = {}, nulls_last = {}, cast = { "text" }, json = { "a" }, count = {}, sum = {}, total = {},
    average = {}, min = {}, max = {}, json_group_array = {}, group_concat = { "," },
    over = { "" },
  }
  for name, arguments in pairs(methods) do refuses("expression", Author.c.id, name, arguments) end
  refuses("expression", Author.c.id:count(), "where", { Author.c.id:gt(1) })
  matches(fails("argument", function() Author.c.name:desc{ nulls = "first" } end), "nulls_first()")
end)

test("request methods of classes refuse surplus arguments", function()
  local methods = {
    all = {}, filter_key = { 1 }, limit = { 1, 1 }, reversed = {}, distinct = {}, aliased = { "x" }, none = {}, exists = { db },
    is_empty = { db }, find = { db, 1 }, prepare = {}, page = { 1, 1, db }, min = { "id", db }, unscoped = {},
  }
  for name, arguments in pairs(methods) do refuses("class", Author, name, arguments) end
end)

test("lists of columns refuse named fields", function()
  matches(fails("argument", function() Author:order{ "name", desc = true } end), "desc()")
  fails("argument", function() Author:select{ "name", as = "x" } end)
  fails("argument", function() Author:limit(1, 2, 3) end)
  fails("argument", function() Author:filter(1, 2) end)
  fails("argument", function() Author:filter{ id = 1 }:fetch_all(db, "SELECT nonsense") end)
end)

test("errors about surplus arguments contain the argument and advice", function()
  matches(fails("argument", function() Author:filter{ name = "a" }:find{ 1, 2 } end), "filter_key")
  matches(fails("argument", function() Author:including_all(Author:all()) end), "got a request")
  matches(fails("argument", function() Author:union(Author.books) end), "got an association")
  matches(fails("argument", function() Author.c.id:eq(Author:find(1)) end), "got a record of `author`")
  matches(fails("argument", function() Author:having(Author.c.id:max():gt(1)):fetch_all() end), "group(")
  equal(Author:having(Author.c.id:max():gt(1)):group("name"):fetch_count(), 1)
  matches(fails("argument", function() Author.filter = Author:has_many(Book) end), "`filter` is a method")
  function Author:label() return self.name end
  matches(fails("argument", function() Author.label = Author:has_many(Book) end), "`label` is a method")
end)

test("an association may name its target table", function()
  Author.works = Author:has_many("book")
  equal(#Author:including_all(Author.works):find(1).works, 1)
  db:execute("CREATE TABLE page (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book); INSERT INTO page VALUES (1, 1)")
  Book.pages = Book:has_many("page")
  equal(#Book:including_all(Book.pages):find(1).pages, 1)
end)
