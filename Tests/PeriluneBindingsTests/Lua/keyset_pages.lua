--- Pages that start after a given row.

db:execute[[
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, price REAL, added DATE, raw BLOB);
  CREATE TABLE seat (hall TEXT NOT NULL, number INTEGER NOT NULL, price INTEGER NOT NULL, PRIMARY KEY (hall, number)) WITHOUT ROWID;
  CREATE INDEX book_year ON book (year)]]

local Book, Seat = perilune.record("book"), perilune.record("seat")

local function fill(count)
  local years = { 1800, 1850, 1900, false }
  for id = 1, count do
    Book{ id = id, title = "t" .. id % 3, year = years[id * 7 % 4 + 1] or nil, price = id % 2 == 0 and id / 4 or nil,
      added = ("2026-01-%02d"):format(id % 5 + 1), raw = string.char(id % 4, 0, 255) }:insert()
  end
end

local function ids(list)
  local result = {}
  for index, record in ipairs(list) do result[index] = record.id end
  return table.concat(result, " ")
end

--- Returns the ids of all pages, forwards and then backwards from the last.
local function walk(request, size)
  local parts, cursor, last = {}, nil, nil
  repeat
    if #parts > 30 then error("the pages have no end: " .. tostring(request) .. ": " .. table.concat(parts, " ")) end
    last = request:page_after(cursor, size)
    if #last.records > 0 then parts[#parts + 1] = ids(last.records) end
    cursor = last.next
  until not cursor
  local back = {}
  cursor = nil
  repeat
    if #back > 30 then error("the pages have no beginning: " .. tostring(request) .. ": " .. table.concat(back, " ")) end
    local page = request:page_before(cursor, size)
    if #page.records > 0 then table.insert(back, 1, ids(page.records)) end
    cursor = page.previous
  until not cursor
  return table.concat(parts, " "), table.concat(back, " ")
end

test("keyset pages work with any order, in both directions", function()
  fill(23)
  local c = Book.c
  -- The implicit key has the direction that all order terms share.
  local descending = Book:order(c.year:desc())
  for _, request in ipairs{
    Book:all(), Book:order("id"), Book:order(c.id:desc()), Book:order("year"), descending, Book:order(c.year:asc():nulls_last()),
    Book:order(c.year:desc():nulls_first(), "title"), Book:order("title", c.year:desc(), c.id:desc()), Book:order("price"),
    Book:order("added", c.price:desc():nulls_last()), Book:order("raw", "title"), Book:order(c.year + c.id, c.title:collating("nocase")),
    Book:order("title"):reversed(), Book:filter(c.id:gt(5)):order("year"):then_order(c.title:desc()), Book:order(c.id % 3),
    Book:order("title", "id"), Book:order(c.title:desc(), c.id:desc()), Book:aliased("b"):order("year"),
  } do
    local terms_first = ids((request.node.op == "table" and request:order("id") or request)
      :then_order(request == descending and c.id:desc() or "id"):fetch_all())
    for _, size in ipairs{ 1, 4, 23, 50 } do
      local forwards, backwards = walk(request, size)
      if request.node.op ~= "reversed" then equal(forwards, terms_first) end
      equal(backwards, forwards)
    end
  end
end)

test("a page order relies on a unique index only with its collations and without NULLs", function()
  db:execute[[
    CREATE TABLE word (id INTEGER PRIMARY KEY, exact TEXT NOT NULL COLLATE NOCASE, loose TEXT NOT NULL, maybe TEXT UNIQUE,
      first TEXT NOT NULL, second TEXT NOT NULL, UNIQUE (first, second));
    CREATE UNIQUE INDEX word_exact ON word (exact COLLATE BINARY);
    CREATE UNIQUE INDEX word_loose ON word (loose COLLATE NOCASE);
    CREATE UNIQUE INDEX word_some ON word (first) WHERE id > 100;
    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
      INSERT INTO word SELECT i, CASE i % 2 WHEN 0 THEN 'w' ELSE 'W' END || ((i + 1) / 2), char(96 + i), iif(i % 3 = 0, i, NULL),
        'f' || i % 4, 's' || i FROM n]]
  local Word = perilune.record("word")
  for _, names in ipairs{ { "exact" }, { "loose" }, { "maybe" }, { "first", "second" }, { "second", "first" }, { "first" } } do
    local request = Word:order(names)
    local expected = ids(request:then_order("id"):fetch_all())
    for _, size in ipairs{ 1, 5 } do
      local forwards, backwards = walk(request, size)
      equal(forwards, expected)
      equal(backwards, expected)
    end
  end
  -- The index on `exact` contains two rows that `=` considers equal.
  fails("argument", function() Word:find{ exact = "w1" } end)
  equal(Word:find{ loose = "c" }.id, 3)
  -- An upsert names the index by its columns, regardless of its collation.
  Word{ exact = "w1", loose = "zz", first = "f", second = "s" }:upsert{ target = "exact", update = { "second" } }
  equal(Word:filter{ exact = "w1" }:order("id"):fetch_all()[2].second, "s")
end)

test("a page has records, and cursors if more rows exist", function()
  fill(5)
  local first = Book:order("id"):page_after(nil, 2)
  equal({ ids(first.records), first.previous, first.size }, { "1 2", nil, 2 })
  local second = Book:order("id"):page_after(first.next, 2)
  equal({ ids(second.records), second.previous ~= nil }, { "3 4", true })
  local third = Book:order("id"):page_after(second.next, 2)
  equal({ ids(third.records), third.next }, { "5", nil })
  equal(ids(Book:order("id"):page_before(third.previous, 2).records), "3 4")
  equal(ids(Book:order("id"):page_before(second.previous, 2).records), "1 2")
  equal(Book:order("id"):page_before(second.previous, 2).previous, nil)
  equal(#Book:none():page_after(nil, 3).records, 0)
  equal(first.next:match("^[%w_-]+$"), first.next)
end)

test("rows that are added or removed before a cursor do not affect pages", function()
  fill(10)
  local first = Book:order("id"):page_after(nil, 4)
  Book:filter_key{ 1, 2, 4 }:delete_all()
  Book{ id = 0, title = "new" }:insert()
  equal(ids(Book:order("id"):page_after(first.next, 3).records), "5 6 7")
end)

test("pages work with composite keys and included rows", function()
  Seat:insert_all{ { hall = "a", number = 1, price = 3 }, { hall = "a", number = 2, price = 1 }, { hall = "b", number = 1, price = 2 } }
  local page = Seat:order("hall"):page_after(nil, 1)
  equal(page.records[1].number, 1)
  page = Seat:order("hall"):page_after(page.next, 1)
  equal({ page.records[1].hall, page.records[1].number }, { "a", 2 })
  equal(Seat:order("price"):page_after(Seat:order("price"):page_after(nil, 2).next, 2).records[1].price, 3)
end)

test("tables without a key are paged by row id", function()
  db:execute[[
    CREATE TABLE bare (a INTEGER, b TEXT);
    INSERT INTO bare VALUES (1, 'x'), (1, 'x'), (1, 'x'), (2, 'y');
    CREATE VIRTUAL TABLE words USING fts5(word);
    INSERT INTO words VALUES ('p'), ('q'), ('r');
    CREATE TABLE loose (k TEXT PRIMARY KEY, a INTEGER);
    INSERT INTO loose VALUES ('x', 1), (NULL, 2), ('z', 3), (NULL, 4), (NULL, 4), (NULL, 4)]]
  local function values(request, size, name)
    local list, cursor = {}, nil
    repeat
      if #list > 20 then error("the pages have no end") end
      local page = request:page_after(cursor, size)
      for _, record in ipairs(page.records) do list[#list + 1] = record[name] end
      cursor = page.next
    until not cursor
    return list
  end
  local Bare, Loose = perilune.record("bare"), perilune.record("loose")
  for size = 1, 3 do
    equal(values(Bare:order("a"), size, "a"), { 1, 1, 1, 2 })
    equal(values(Bare:order(Bare.c.b:desc(), "a"), size, "a"), { 2, 1, 1, 1 })
    equal(values(Bare:all(), size, "a"), { 1, 1, 1, 2 })
    equal(values(perilune.record("words"):all(), size, "word"), { "p", "q", "r" })
    equal(values(Loose:order("a"), size, "a"), { 1, 2, 3, 4, 4, 4 })
    equal(values(Loose:all(), size, "a"), { 2, 4, 4, 4, 1, 3 })
  end
end)

test("pages can be ordered by values of other rows unless these values vary between pages", function()
  fill(6)
  db:execute("CREATE TABLE note (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book); INSERT INTO note VALUES (1, 2), (2, 2), (3, 5)")
  local Own, Note = perilune.record("book"), perilune.record("note")
  Own.notes = Own:has_many(Note)
  Note.book = Note:belongs_to(Own)
  Own.expressions.note_count = Own.notes:count()
  equal({ walk(Own:order(Own.notes:count():desc()), 2) }, { "2 5 6 4 3 1", "2 5 6 4 3 1" })
  equal({ walk(Own:order("note_count"), 2) }, { "1 3 4 6 5 2", "1 3 4 6 5 2" })
  equal({ walk(Own:aliased("o"):order("note_count"), 1) }, { "1 3 4 6 5 2", "1 3 4 6 5 2" })
  equal({ walk(Own:order(Own.notes:exists()), 4) }, { "1 3 4 6 2 5", "1 3 4 6 2 5" })
  matches(fails("argument", function() Own:order(perilune.rank():over{ order_by = "year" }):page_after(nil, 2) end), "window")
  matches(fails("argument", function() Own:order(perilune.fn.random()):page_after(nil, 2) end), "random")
  -- A distinct record must have a single position in the order.
  matches(fails("argument", function() Own:joining_required(Own.notes):order("id"):page_after(nil, 2) end), "repeat")
  matches(fails("argument", function() Own:join(Note, Note.c.book_id:eq(Own.c.id)):order("id"):page_after(nil, 2) end), "repeat")
  fails("argument", function() Own:cross_join(Note):page_after(nil, 2) end)
  equal(walk(Own:joining_required(Own.notes):distinct():order("id"), 1), "2 5")
  equal(walk(Note:joining_required(Note.book):order("id"), 2), "1 2 3")
  equal(walk(Note:join(Own, Own.c.id:eq(Note.c.book_id) & Own.c.id:gt(2)):order("id"), 2), "3")
end)

test("an invalid cursor is refused", function()
  fill(5)
  local by_id, by_title = Book:order("id"), Book:order("title")
  local cursor = by_id:page_after(nil, 2).next
  matches(fails("argument", function() by_title:page_after(cursor, 2) end), "another order")
  matches(fails("argument", function() by_id:page_after("x", 2) end), "expected a cursor of this request")
  matches(fails("argument", function() by_id:page_after("", 2) end), "expected a cursor of this request")
  matches(fails("argument", function() by_id:page_after("!!!!", 2) end), "expected a cursor of this request")
  matches(fails("argument", function() by_id:page_after(5, 2) end), "expected a cursor of this request")
  matches(fails("argument", function() by_id:page_after(cursor .. "AAAA", 2) end), "expected a cursor of this request")
  matches(fails("argument", function() by_id:page_after(cursor:sub(1, 8), 2) end), "expected a cursor of this request")
  matches(fails("argument", function() by_id:page_after(nil, 0) end), "at least 1")
  matches(fails("argument", function() by_id:limit(3):page_after(nil, 2) end), "limit")
  matches(fails("argument", function() by_id:select("id"):page_after(nil, 2) end), "select")
  matches(fails("argument", function() Book:order("year, id"):page_after(nil, 2) end), "SQL text")
end)

test("records of a page are ordinary records", function()
  db:execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, bytes BLOB); INSERT INTO item VALUES (1, 'b', x'01'), (2, 'A', x'02')")
  local Item = perilune.record("item")
  local page = Item:order(Item.c.name:lower(), "bytes"):page_after(nil, 1)
  local names = {}
  for name in pairs(page.records[1]) do names[#names + 1] = name end
  equal(names, { "id", "name", "bytes" })
  equal(tostring(page.records[1]):find("perilune", 1, true), nil)
  fails("unknown_column", function() return page.records[1].perilune_carried_order_1 end)
  equal(Item:order(Item.c.name:lower(), "bytes"):page_after(page.next, 1).records[1].id, 1)
  equal(Item:annotated_with(Item.c.name:lower():as("small")):order(Item.c.name:lower()):page_after(nil, 1).records[1].small, "a")
end)

test("pages of distinct records cannot be ordered by columns of joined rows", function()
  db:execute[[
    CREATE TABLE review (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book, stars INTEGER, critic_id INTEGER REFERENCES critic);
    CREATE TABLE critic (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO critic VALUES (1, 'x'), (2, 'y');
    INSERT INTO book (id, title) VALUES (1, 'a'), (2, 'b'), (3, 'c'); INSERT INTO review VALUES (1, 1, 1, 1), (2, 1, 5, 2), (3, 3, 3, 1)]]
  local Review, Critic = perilune.record "review", perilune.record "critic"
  Book.reviews, Review.book, Review.critic = Book:has_many(Review), Review:belongs_to(Book), Review:belongs_to(Critic)
  Critic.reviews = Critic:has_many(Review)
  local function refused(request, part)
    matches(fails("argument", function() request:page_after(nil, 1) end), part)
  end
  local reviewed = Book:joining_required(Book.reviews)
  refused(reviewed:order(Book.reviews.c.stars):distinct(), 'order(Class.association:min("column"))')
  refused(Book:join(Review, Review.c.book_id:eq(Book.c.id)):order(Review.c.stars):distinct(), "a column of joined rows")
  refused(reviewed:annotated_with(Book.reviews.c.stars:as("stars")):distinct(), "columns of joined rows repeat a record")
  refused(reviewed, "add distinct()")
  refused(Review:joining_required(Review.critic:joining_required(Critic.reviews)), "add distinct()")
  equal(walk(reviewed:order(Book.reviews:min("stars"):desc()):distinct(), 1), "3 1")
  equal(walk(reviewed:order(Book.c.title:desc()):distinct(), 1), "3 1")
  equal(walk(Review:joining_required(Review.critic):order(Review.critic.c.name, "id"), 2), "1 3 2")
end)
