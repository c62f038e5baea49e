--- Links of a record through a pivot table.

db:execute[[
  CREATE TABLE playlist (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE track (id INTEGER PRIMARY KEY, title TEXT);
  CREATE TABLE playlist_track (playlist_id INTEGER NOT NULL REFERENCES playlist, track_id INTEGER NOT NULL REFERENCES track,
    PRIMARY KEY (playlist_id, track_id));
  INSERT INTO playlist VALUES (1, 'one'), (2, 'two');
  INSERT INTO track VALUES (1, 'a'), (2, 'b'), (3, 'c')]]

local Playlist, Track, Link = perilune.record("playlist"), perilune.record("track"), perilune.record("playlist_track")
Playlist.links = Playlist:has_many(Link)
Link.track = Link:belongs_to(Track)
Playlist.tracks = Playlist:has_many(Track, { through = Playlist.links, using = Link.track })

local function titles(playlist) return playlist:tracks():order("id"):pluck("title") end

test("add inserts each link once", function()
  local playlist = Playlist:find(1)
  playlist:tracks():add{ Track:find(1), 3 }
  equal(titles(playlist), { "a", "c" })
  playlist:tracks():add(1)
  playlist:tracks():add(2)
  equal(titles(playlist), { "a", "b", "c" })
  equal(titles(Playlist:find(2)), {})
end)

test("links can be removed and replaced", function()
  local playlist = Playlist:find(1)
  playlist:tracks():add{ 1, 2, 3 }
  equal(playlist:tracks():remove(Track:find(2)), 1)
  equal(playlist:tracks():remove(2), 0)
  playlist:tracks():add(2)
  equal(playlist:tracks():remove{ Track:find(2), 99 }, 1)
  equal(titles(playlist), { "a", "c" })
  playlist:tracks():replace{ 2, Track:find(3) }
  equal(titles(playlist), { "b", "c" })
  equal(Track:fetch_count(), 3)
end)

test("a failed change leaves all links unchanged", function()
  local playlist = Playlist:find(1)
  playlist:tracks():add(1)
  fails("constraint_foreign_key", function() playlist:tracks():replace{ 2, 99 } end)
  equal(titles(playlist), { "a" })
end)

test("invalid arguments of add, remove and replace are refused", function()
  local playlist = Playlist:find(1)
  fails("argument", function() playlist:links():add(1) end)
  fails("argument", function() Track:all():add(1) end)
  fails("argument", function() playlist:tracks():add() end)
  fails("argument", function() playlist:tracks():add(playlist) end)
  fails("argument", function() playlist:tracks():add(Track{ title = "new" }) end)
  matches(fails("argument", function() playlist:tracks():add(1, 2) end), "add{ a, b }")
  matches(fails("argument", function() playlist:tracks():add(Track:find(1), Track:find(2)) end), "add{ a, b }")
  matches(fails("argument", function() playlist:tracks():add{ title = "x" } end), "use insert{ column = value }")
  fails("argument", function() playlist:tracks():remove() end)
  equal(playlist:tracks():fetch_count(), 0)
end)

-- The links of an association ------------------------------------------------------------------------------------------------------

local Book, Label, BookLabel

--- Books with labels. The links have additional columns, are deleted softly, and are counted.
local function make_books()
  db:execute[[
    CREATE TABLE book (id INTEGER PRIMARY KEY, label_count INTEGER NOT NULL DEFAULT 0, updated_at DATETIME);
    CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT, is_hidden BOOLEAN NOT NULL DEFAULT 0);
    CREATE TABLE book_label (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book, label_id INTEGER REFERENCES label, kind TEXT,
      note TEXT, deleted_at DATETIME);
    CREATE TABLE vote (id INTEGER PRIMARY KEY, link_id INTEGER REFERENCES book_label ON DELETE CASCADE);
    INSERT INTO book (id) VALUES (1), (2); INSERT INTO label (id) VALUES (1), (2), (3), (4)]]
  Book, Label, BookLabel = perilune.record("book"), perilune.record("label"), perilune.record("book_label", { soft_delete = true })
  BookLabel.label = BookLabel:belongs_to(Label)
  BookLabel.book = BookLabel:belongs_to(Book, { counter_cache = "label_count", touch = true })
  Book.links = Book:has_many(BookLabel)
  Book.labels = Book:has_many(Label, { through = Book.links, using = BookLabel.label })
  Book.main_labels = Book:has_many(Label, { through = Book.links:filter{ kind = "main" }, using = BookLabel.label })
end

local function links(book_id)
  return db:fetch_values("SELECT id || ':' || label_id || ':' || ifnull(kind, '-') || iif(deleted_at IS NULL, '', ' deleted') FROM book_label WHERE book_id = ? ORDER BY id", book_id)
end

local function notes(book_id)
  return db:fetch_values("SELECT label_id || ':' || ifnull(note, '-') FROM book_label WHERE book_id = ? AND deleted_at IS NULL ORDER BY id", book_id)
end

test("add can write further columns of a link", function()
  make_books()
  local labels = Book:find(1):labels()
  labels:add(1, { note = "first" })
  labels:add({ 2, Label:find(3) }, { note = "both" })
  equal(notes(1), { "1:first", "2:both", "3:both" })
  labels:add(1, { note = "changed" })
  labels:add(2)
  equal(notes(1), { "1:changed", "2:both", "3:both" })
  labels:remove(3)
  labels:add(3, { note = "restored" })
  equal(notes(1), { "1:changed", "2:both", "3:restored" })
  labels:add(db, 4, { note = "last" })
  equal(notes(1)[4], "4:last")
end)

test("the columns of added links are checked", function()
  make_books()
  local labels = Book:find(1):labels()
  matches(fails("argument", function() labels:add(1, { label_id = 2 }) end), "is set by the association")
  matches(fails("argument", function() labels:add(1, { book_id = 2 }) end), "is set by the association")
  equal(fails("unknown_column", function() labels:add(1, { note_ = "x" }) end).suggestion, "note")
  matches(fails("argument", function() Book:find(1):main_labels():add(1, { kind = "other" }) end), "kind")
  Book:find(1):main_labels():add(1, { note = "x" })
  equal(links(1), { "1:1:main" })
  equal(notes(1), { "1:x" })
end)

test("further columns of links can be written in a table without a key", function()
  db:execute "CREATE TABLE plain_link (playlist_id INTEGER REFERENCES playlist, track_id INTEGER REFERENCES track, position INTEGER)"
  local Plain = perilune.record("plain_link")
  local plain_links, track = Playlist:has_many(Plain), Plain:belongs_to(Track)
  Playlist.plain_tracks = Playlist:has_many(Track, { through = plain_links, using = track })
  local tracks = Playlist:find(1):plain_tracks()
  tracks:add({ 1, 2 }, { position = 7 })
  tracks:add(2, { position = 8 })
  equal(db:fetch_values("SELECT track_id || ':' || position FROM plain_link ORDER BY track_id"), { "1:7", "2:8" })
end)

test("replace keeps unchanged links with their columns and dependent rows", function()
  make_books()
  db:execute "INSERT INTO book_label (id, book_id, label_id, note) VALUES (10, 1, 1, 'a note'), (11, 1, 2, NULL), (12, 2, 3, NULL); INSERT INTO vote VALUES (1, 10), (2, 11)"
  Book:find(1):labels():replace{ 1, Label:find(2) }
  equal(db:fetch_values("SELECT ifnull(note, id || '') FROM book_label WHERE deleted_at IS NULL ORDER BY id"), { "a note", "11", "12" })
  equal(db:fetch_value("SELECT count(*) FROM vote"), 2)
  Book:find(1):labels():replace{ 3, 1 }
  equal(links(1), { "10:1:-", "11:2:- deleted", "13:3:-" })
  equal(links(2), { "12:3:-" })
  Book:find(1):labels():replace{}
  equal(Book:find(1):labels():fetch_count(), 0)
end)

test("adding a softly deleted link restores it", function()
  make_books()
  local book = Book:find(1)
  book:labels():add{ 1, 2 }
  equal(book:labels():remove(1), 1)
  equal(book:labels():remove(1), 0)
  book:labels():add(1)
  equal(links(1), { "1:1:-", "2:2:-" })
  book:labels():replace{ 3 }
  book:labels():replace{ 1, 2 }
  equal(links(1), { "1:1:-", "2:2:-", "3:3:- deleted" })
end)

test("add, remove and replace respect the conditions on the association's links", function()
  make_books()
  db:execute "INSERT INTO book_label (id, book_id, label_id, kind) VALUES (10, 1, 1, 'main'), (11, 1, 2, 'other'), (12, 1, 3, 'other')"
  local book = Book:find(1)
  equal(book:main_labels():remove(2), 0)
  book:main_labels():replace{ 1 }
  equal(links(1), { "10:1:main", "11:2:other", "12:3:other" })
  book:main_labels():add(2)
  book:main_labels():add(2)
  equal(links(1), { "10:1:main", "11:2:other", "12:3:other", "13:2:main" })
  equal(book:main_labels():pluck("id"), { 1, 2 })
  local made = book:main_labels():insert{ name = "new" }
  equal(db:fetch_value("SELECT kind FROM book_label WHERE label_id = ?", made.id), "main")
  Book:save_nested({ id = 1, main_labels = { { id = 1 }, { name = "newer" } } }, { delete_missing = true })
  equal(links(1), { "10:1:main", "11:2:other", "12:3:other", "13:2:main deleted", "14:5:main deleted", "15:6:main" })
end)

test("add, remove and replace respect the default scopes of links and linked records", function()
  make_books()
  function BookLabel.requests.default(request) return request:filter{ note = "kept" } end
  function Label.requests.default(request) return request:filter{ is_hidden = false } end
  db:execute "UPDATE label SET is_hidden = 1 WHERE id = 4; INSERT INTO book_label (id, book_id, label_id, note) VALUES (10, 1, 1, 'other'), (11, 1, 2, 'kept'), (12, 1, 4, 'kept')"
  local book = Book:find(1)
  book:labels():replace{ 3 }
  equal(links(1), { "10:1:-", "11:2:- deleted", "12:4:-", "13:3:-" })
  equal(db:fetch_value("SELECT note FROM book_label WHERE id = 13"), "kept")
  equal(book:labels():pluck("id"), { 3 })
end)

test("a link that cannot satisfy the association's conditions is refused", function()
  make_books()
  Book.new_labels = Book:has_many(Label, { through = Book.links:filter(BookLabel.c.id:gt(100)), using = BookLabel.label })
  Book.hidden_labels = Book.labels:filter{ is_hidden = true }
  local book = Book:find(1)
  local err = fails("argument", function() book:new_labels():add(1) end)
  matches(err, "does not fulfil the conditions of `new_labels`")
  fails("argument", function() book:hidden_labels():add(1) end)
  equal(links(1), {})
  db:execute "INSERT INTO book_label (id, book_id, label_id) VALUES (10, 1, 1), (11, 1, 2); UPDATE label SET is_hidden = 1 WHERE id = 2"
  book:hidden_labels():replace{}
  equal(links(1), { "10:1:-", "11:2:- deleted" })
end)

test("removing and replacing links update counters and timestamps and run hooks", function()
  make_books()
  local log = {}
  function BookLabel:did_insert() log[#log + 1] = "+" .. self.label_id end
  function BookLabel:did_update() log[#log + 1] = (self.deleted_at and "-" or "~") .. self.label_id end
  local book = Book:find(1)
  book:labels():add{ 1, 2 }
  db:execute "UPDATE book SET updated_at = NULL"
  book:labels():remove(1)
  equal(Book:find(1).updated_at ~= nil, true)
  book:labels():replace{ 1, 3 }
  equal(log, { "+1", "+2", "-1", "-2", "~1", "+3" })
  equal(Book:find(1).label_count, 2)
  Book:save_nested({ id = 1, labels = { { id = 3 } } }, { delete_missing = true })
  equal(Book:find(1).label_count, 1)
end)

test("links in a table without a key can be removed", function()
  make_books()
  db:execute "CREATE TABLE pair (book_id INTEGER REFERENCES book, label_id INTEGER REFERENCES label)"
  local Pair = perilune.record("pair")
  Book.pairs, Pair.label = Book:has_many(Pair), Pair:belongs_to(Label)
  Book.paired = Book:has_many(Label, { through = Book.pairs, using = Pair.label })
  local book = Book:find(1)
  book:paired():add{ 1, 2, 3 }
  equal(book:paired():remove(1), 1)
  book:paired():replace{ 3, 4 }
  equal(db:fetch_values("SELECT label_id FROM pair"), { 3, 4 })
end)

test("a failed restoration of a link leaves the record unchanged", function()
  make_books()
  db:execute "INSERT INTO book_label (id, book_id, label_id, deleted_at) VALUES (10, 1, 1, '2020-01-01 00:00:00')"
  function BookLabel:will_update() error("no", 0) end
  local link = BookLabel:unscoped():fetch_one()
  fails(nil, function() link:restore() end)
  equal(link.deleted_at.year, 2020)
  equal(link:has_changes(), false)
end)
