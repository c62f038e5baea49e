--- Upsert: insert a row or update the existing one.

local function make_player()
  db:execute[[CREATE TABLE player (
    id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT, score INTEGER NOT NULL DEFAULT 0, team TEXT, number INTEGER,
    created TEXT DEFAULT 'then', UNIQUE (team, number))]]
  return perilune.record "player"
end

local function rows(sql)
  local list = {}
  for index, row in ipairs(db:fetch_all(sql)) do list[index] = table.concat(row:to_table() and { row:unpack() }, " ") end
  return list
end

test("upsert inserts a record without a row and updates an existing row", function()
  local Player = make_player()
  local player = Player{ id = 5, name = "Ann", score = 1 }
  equal(player:upsert() and true, true)
  player.score = 2
  player:upsert()
  equal(rows "SELECT id, name, score FROM player", { "5 Ann 2" })
  equal(player:has_changes(), false)
  Player{ id = 5, name = "Bea" }:upsert()
  equal(rows "SELECT id, name, score FROM player", { "5 Bea 2" })
end)

test("upsert inserts a record without a key", function()
  local Player = make_player()
  local player = Player{ name = "Ann" }
  player:upsert()
  equal({ player.id, player.created }, { 1, "then" })
  Player{ name = "Ann" }:upsert()
  equal(Player:fetch_count(), 2)
end)

test("the target of an upsert can be another unique key, and the record gets the key of its row", function()
  local Player = make_player()
  Player{ id = 7, email = "a@x", name = "Ann", score = 10 }:insert()
  local player = Player{ email = "a@x", name = "Annie" }
  player:upsert{ target = { "email" } }
  equal({ player.id, player.name, player.score, player.created }, { 7, "Annie", 10, "then" })
  equal(player:has_changes(), false)
  player = Player{ team = "red", number = 3, name = "Bob" }
  player:upsert{ target = { "number", "team" } }
  local twin = Player{ team = "red", number = 3, name = "Rob" }
  twin:upsert{ target = { "number", "team" } }
  equal(twin.id, player.id)
  equal(Player:find(player.id).name, "Rob")
end)

test("an upsert does not assign the key and the target's columns", function()
  local Player = make_player()
  Player{ id = 7, email = "a@x", name = "Ann" }:insert()
  local player = Player{ id = 8, email = "a@x", name = "Bea" }
  player:upsert{ target = "email" }
  equal(player.id, 7)
  equal(rows "SELECT id, email, name FROM player", { "7 a@x Bea" })
end)

test("a conflict with a key other than the target is an error", function()
  local Player = make_player()
  Player{ id = 7, email = "a@x" }:insert()
  local player = Player{ id = 8, email = "a@x" }
  equal(fails("constraint_unique", player.upsert, player, { target = "id" }).columns, { "email" })
end)

test("without a target, a conflict with any unique key updates its row", function()
  local Player = make_player()
  Player{ id = 7, email = "a@x", team = "red", number = 1, name = "Ann" }:insert()
  local player = Player{ id = 8, email = "a@x", name = "Bea" }
  equal(player:upsert() == player, true)
  equal({ player.id, player.name, player.number, player:has_changes() }, { 7, "Bea", 1, false })
  equal(Player:upsert{ team = "red", number = 1, name = "Cal", score = 3 }.id, 7)
  equal(Player:upsert{ id = 7, email = "new@x" }.name, "Cal")
  equal(Player:upsert({ email = "new@x", score = 1 }, { update = { score = Player.c.score + 1 } }).score, 4)
  equal(Player:upsert({ email = "new@x" }, { update = "none" }), false)
  equal(Player:upsert(Player.draft{ email = "new@x", name = "Dan" }, { returning = "id" }), 7)
  equal(Player:upsert{ name = "Eve" }.id, 8)
  equal(rows "SELECT id, email, name, score FROM player WHERE id = 7", { "7 new@x Dan 4" })
  equal(fails("constraint_unique", Player.upsert, Player, { id = 8, email = "new@x" }).columns, { "email" })
end)

test("without a target, partial indexes and indexes on expressions also cause conflicts", function()
  db:execute [[
    CREATE TABLE slot (room TEXT, name TEXT, is_open BOOLEAN);
    CREATE UNIQUE INDEX slot_open ON slot (room) WHERE is_open;
    CREATE UNIQUE INDEX slot_name ON slot (lower(name))]]
  local Slot = perilune.record "slot"
  Slot:upsert{ room = "a", name = "One", is_open = true }
  Slot:upsert{ room = "a", name = "Two", is_open = true }
  Slot:upsert{ room = "b", name = "TWO", is_open = false }
  Slot:upsert{ room = "b", is_open = false }
  equal(rows "SELECT room || ' ' || ifnull(name, '-') FROM slot ORDER BY 1", { "b -", "b TWO" })
end)

test("an expression as target is refused with advice", function()
  db:execute [[
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, "size (cm)" INTEGER UNIQUE);
    CREATE UNIQUE INDEX person_name ON person (lower(name))]]
  local Person = perilune.record "person"
  local function refuses(f, ...)
    matches(fails("argument", f, ...), "remove `target`, so that any unique key decides, also an index on an expression")
  end
  for _, target in ipairs{ "lower(name)", { "lower(name)" }, Person.c.name:lower(), { Person.c.name:lower() }, perilune.sql "lower(name)" } do
    refuses(Person.upsert, Person, { name = "Ada" }, { target = target })
    refuses(Person.upsert_all, Person, { { name = "Ada" } }, { target = target })
    refuses(Person.insert_from, Person, Person:select("name"), { columns = "name", target = target })
  end
  Person:upsert{ name = "Ada" }
  equal(Person:upsert{ name = "ADA" }.id, 1)
  equal(Person:upsert({ ["size (cm)"] = 180 }, { target = "size (cm)" }).id, 2)
end)

test("an upsert of a fetched or inserted record updates its own row", function()
  db:execute "CREATE TABLE coded (code TEXT PRIMARY KEY, email TEXT UNIQUE, n INTEGER)"
  local Coded = perilune.record "coded"
  local a, b = Coded{ code = "a", email = "a@x", n = 1 }:insert(), Coded{ code = "b", email = "b@x", n = 2 }:insert()
  for _, record in ipairs{ a, Coded:find "a" } do
    record.email, record.n = "b@x", 9
    equal(fails("constraint_unique", record.upsert, record).columns, { "email" })
  end
  equal(b:refresh().n, 2)
  equal(Coded:upsert{ code = "c", email = "b@x", n = 3 }.code, "b")
  local loose = a:refresh()
  Coded:delete_one "a"
  loose.email = "b@x"
  fails("constraint_unique", loose.upsert, loose)
  equal(rows "SELECT code, email, n FROM coded", { "b b@x 3" })
end)

test("if hooks or counters require the conflicting row, upsert reports the columns that it needs to find the row", function()
  db:execute [[
    CREATE TABLE shelf (id INTEGER PRIMARY KEY, item_count INTEGER DEFAULT 0);
    INSERT INTO shelf (id) VALUES (1), (2);
    CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT UNIQUE, shelf_id INTEGER REFERENCES shelf)]]
  local Item, seen = perilune.record "item", {}
  Item.shelf = Item:belongs_to(perilune.record "shelf", { counter_cache = "item_count" })
  function Item:insert(...) seen[#seen + 1] = "insert" return perilune.record("item").insert(self, ...) end
  Item:upsert{ code = "a", name = "A", shelf_id = 1 }
  Item:upsert{ code = "b", name = "B", shelf_id = 2 }
  Item:upsert{ code = "c", name = "A", shelf_id = 2 }
  equal(seen, { "insert", "insert" })
  equal(rows "SELECT item_count FROM shelf ORDER BY id", { "0", "2" })
  Item:upsert({ id = 1, name = "B", shelf_id = 1 }, { update = { "shelf_id" } })
  equal(rows "SELECT shelf_id FROM item ORDER BY id", { "1", "2" })
  equal(rows "SELECT item_count FROM shelf ORDER BY id", { "1", "1" })
  db:execute "CREATE UNIQUE INDEX item_lower ON item (lower(name))"
  local item = Item{ code = "z", name = "q" }
  matches(fails("argument", item.upsert, item), 'partial or on expressions; name a unique key, for example target = "id"')
  equal(item:upsert{ target = "code" }, item)
end)

test("the columns that an upsert updates can be chosen", function()
  local Player = make_player()
  Player{ id = 7, name = "Ann", score = 1, team = "red" }:insert()
  Player{ id = 7, name = "Bea", score = 2, team = "blue" }:upsert{ update = { "score" } }
  equal(rows "SELECT name, score, team FROM player", { "Ann 2 red" })
  Player{ id = 7, name = "Bea", score = 3, team = "blue" }:upsert{ except = { "name" } }
  equal(rows "SELECT name, score, team FROM player", { "Ann 3 blue" })
  Player{ id = 7, name = "Bea", score = 4, team = "green" }:upsert{ update = "all", except = "team" }
  equal(rows "SELECT name, score, team FROM player", { "Bea 4 blue" })
end)

test("after an upsert, the record has the values of its row", function()
  local Player = make_player()
  Player{ id = 7, name = "Ann", score = 1, team = "red" }:insert()
  local player = Player{ id = 7, name = "Bea", score = 2 }
  player:upsert{ update = { "score" } }
  equal({ player.name, player.score, player.team }, { "Ann", 2, "red" })
end)

test("an upsert can leave an existing row unchanged", function()
  local Player = make_player()
  equal(Player{ id = 7, name = "Ann" }:upsert{ update = "none" } and true, true)
  local player = Player{ id = 7, name = "Bea" }
  equal(player:upsert{ update = "none" }, false)
  equal({ player.name, player:has_changes() }, { "Bea", true })
  equal(Player:find(7).name, "Ann")
end)

test("an upsert can set columns to other values in an existing row", function()
  local Player = make_player()
  Player{ id = 7, name = "Ann", score = 1 }:insert()
  local player = Player{ id = 7, name = "Bea", score = 5 }
  player:upsert{ update = { "name", team = "old", created = perilune.null } }
  equal({ player.name, player.score, player.team, player.created }, { "Bea", 1, "old" })
end)

test("a condition can decide whether an upsert updates the row", function()
  local Player = make_player()
  Player{ id = 7, name = "Ann", score = 5 }:insert()
  equal(Player{ id = 7, score = 3 }:upsert{ where = "excluded.score > player.score" }, false)
  equal(Player:find(7).score, 5)
  local player = Player{ id = 7, score = 8 }
  equal(player:upsert{ where = "excluded.score > player.score" } and true, true)
  equal({ Player:find(7).score, player.name }, { 8, "Ann" })
  equal(Player{ id = 7, score = 9 }:upsert{ where = { "player.score > ?", 100 } }, false)
end)

test("upsert into a table with only a key returns the row", function()
  db:execute "CREATE TABLE tag (name TEXT PRIMARY KEY NOT NULL)"
  local Tag = perilune.record "tag"
  equal(Tag{ name = "a" }:upsert() and true, true)
  equal(Tag{ name = "a" }:upsert() and true, true)
  equal(Tag:upsert(Tag.draft{ name = "a" }, { returning = "name" }), "a")
  equal(Tag:fetch_count(), 1)
end)

test("upsert works with composite keys and tables WITHOUT ROWID", function()
  db:execute[[CREATE TABLE grade (course INTEGER, student INTEGER, grade TEXT, PRIMARY KEY (course, student)) WITHOUT ROWID]]
  local Grade = perilune.record "grade"
  Grade{ course = 1, student = 2, grade = "A" }:upsert()
  local grade = Grade{ course = 1, student = 2, grade = "B" }
  grade:upsert()
  equal(rows "SELECT * FROM grade", { "1 2 B" })
  equal(grade:has_changes(), false)
  Grade{ course = 1, student = 3, grade = "C" }:upsert()
  equal(Grade:fetch_count(), 2)
end)

test("the condition of an upsert needs as many values as placeholders", function()
  db:execute "CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT, count INTEGER)"
  local Word = perilune.record "word"
  local function message_for(where) return fails("argument", Word.upsert, Word, { id = 1, count = 1 }, { where = where }).message end
  matches(message_for "word.count < ?", "upsert on `word`: where: the SQL has 1 `?`, and 0 values are given")
  matches(message_for{ "word.count < ?" }, "0 values")
  matches(message_for{ "word.count < ?", 1, 2 }, "2 values")
  matches(message_for{ "word.count BETWEEN ? AND ?", 1 }, "1 value is given")
  matches(message_for{ "word.count < :most", most = 1 }, "use `?` for each value, in their order, instead of `:most`")
  matches(message_for{ "word.count < ?1", 1 }, "instead of `?1`")
  equal(Word:upsert({ id = 1, count = 1 }, { where = { "word.text = '?' OR word.count < ? -- ?", 1 } }).id, 1)
end)

test("a target without a unique key is refused, and the error lists the unique keys", function()
  local Player = make_player()
  local player = Player{ id = 1, name = "Ann", email = "x" }
  local err = fails("argument", player.upsert, player, { target = { "name" } })
  matches(err.message, "(id), (email), (team, number)")
  equal(fails("unknown_column", player.upsert, player, { target = "emial" }).suggestion, "email")
  equal(fails("unknown_column", player.upsert, player, { update = { "scor" } }).suggestion, "score")
  equal(fails("unknown_column", player.upsert, player, { update = { scor = 1 } }).suggestion, "score")
  equal(fails("unknown_column", player.upsert, player, { except = { "scor" } }).suggestion, "score")
  equal(fails("unknown_option", player.upsert, player, { tarkett = "email" }).name, "tarkett")
  fails("argument", player.upsert, player, { update = "some" })
  fails("argument", player.upsert, player, { update = { "id" } })
  fails("argument", player.upsert, player, { target = "email", update = { "email" } })
  fails("argument", player.upsert, player, { update = "none", where = "true" })
  fails("argument", player.upsert, player, { target = {} })
  fails("argument", player.upsert, player, { where = 5 })
  db:execute "CREATE TABLE plain (a, b)"
  local Plain = perilune.record "plain"
  matches(fails("argument", function() Plain{ a = 1 }:upsert{ target = "a" } end), "no unique key")
end)

test("a target with columns that the record lacks is refused", function()
  local Player = make_player()
  matches(fails("argument", function() Player{ name = "Ann" }:upsert{ target = "email" } end), "email")
end)

test("upsert binds values and quotes names", function()
  db:execute [[CREATE TABLE "odd ""table" ("a b" INTEGER PRIMARY KEY, "c""d" TEXT)]]
  local Odd = perilune.record [[odd "table]]
  Odd{ ["a b"] = 1, ['c"d'] = "'); DROP TABLE x; --" }:upsert()
  Odd{ ["a b"] = 1, ['c"d'] = "second" }:upsert()
  equal(Odd:find(1)['c"d'], "second")
end)

test("upsert accepts a database and returns the requested values", function()
  local Player = make_player()
  db:write(function(handle)
    local player = Player{ email = "a@x", score = 1 }
    equal(player:upsert(handle, { target = "email", returning = "id" }), 1)
    equal(player:upsert(handle, { target = "email", returning = { "id", "score" } }).score, 1)
    equal(player:upsert(handle, { target = "email", returning = "all" }) == player, true)
  end)
end)

test("upsert on a view or with a conflict policy is refused", function()
  local Player = make_player()
  db:execute "CREATE VIEW best AS SELECT * FROM player"
  fails(nil, function() perilune.record("best"){ name = "x" }:upsert() end)
  fails("unknown_option", function() Player{ id = 1 }:upsert{ on_conflict = "ignore" } end)
end)

test("a partial index with its condition can be the target of an upsert", function()
  db:execute [[
    CREATE TABLE seat (id INTEGER PRIMARY KEY, number INTEGER, guest TEXT, is_taken BOOLEAN);
    CREATE UNIQUE INDEX seat_taken ON seat (number) WHERE is_taken]]
  local Seat = perilune.record "seat"
  local by_number = { target = "number", target_where = "is_taken" }
  Seat{ number = 1, guest = "Ann", is_taken = true }:insert()
  equal(Seat{ number = 1, guest = "Bob", is_taken = true }:upsert(by_number).id, 1)
  equal(Seat{ number = 1, guest = "Cal", is_taken = false }:upsert(by_number).id, 2)
  equal(db:fetch_values("SELECT guest FROM seat ORDER BY id"), { "Bob", "Cal" })
  matches(fails("argument", Seat.upsert, Seat, { number = 1, is_taken = true }, { target = "number" }), "`target_where`")
  fails("argument", Seat.upsert, Seat, { number = 1 }, { target_where = "is_taken" })
  fails("argument", Seat.upsert, Seat, { number = 1 }, { target = "number", target_where = "is_taken = ?" })
  fails("unknown_column", Seat.upsert, Seat, { number = 1 }, { target = "numbr", target_where = "is_taken" })
  fails("sql", Seat.upsert, Seat, { number = 1 }, { target = "number", target_where = "guest IS NULL" })
  equal(Seat:fetch_count(), 2)
end)

test("upsert names the column of a value that cannot be stored, and refuses a condition that contains other SQL", function()
  local Player = make_player()
  for _, value in ipairs{ {}, print, 0 / 0 } do
    local err = fails("conversion", Player.upsert, Player, { id = 1, name = value })
    equal({ err.table, err.column, err.key }, { "player", "name", 1 })
    fails("conversion", Player.upsert, Player, { id = 1, name = "Ann" }, { update = { name = value } })
  end
  for _, where in ipairs{ "1) RETURNING (1", "1); DROP TABLE player; --", "(1" } do
    matches(fails("argument", Player.upsert, Player, { id = 1, name = "Ann" }, { where = where }), "where: the SQL")
  end
  equal(Player:fetch_count(), 0)
end)

test("upsert stores a value for a BLOB column as a blob", function()
  db:execute "CREATE TABLE file (id INTEGER PRIMARY KEY, data BLOB)"
  local File = perilune.record "file"
  File{ id = 1, data = "a" }:insert()
  local file = File{ id = 1, data = "b" }
  file:upsert{ update = { data = "c" } }
  equal(db:fetch_one("SELECT typeof(data) AS type, CAST(data AS TEXT) AS text FROM file"):to_table(), { type = "blob", text = "c" })
  equal(file:has_changes(), false)
end)

test("upsert does not cache SQL clauses that a script assembles", function()
  local Player = make_player()
  Player{ id = 1, name = "Ann" }:insert()
  local player = Player{ id = 1, name = "Bea" }
  local function upsert(first, last)
    for number = first, last do player:upsert{ where = "player.score < " .. number } end
    collectgarbage()
    return collectgarbage "count"
  end
  local before = upsert(1, 1000)
  local after = upsert(1001, 3000)
  -- Each cached clause takes more than 0.5 KiB.
  equal(after - before < 500, true)
end)

test("upsert refuses a value that cannot be stored, and writes nothing", function()
  local Player = make_player()
  Player{ id = 1, name = "Ann" }:insert()
  local err = fails("conversion", function() Player{ id = 1, name = 0 / 0 }:upsert() end)
  equal(err.message:find("name", 1, true) ~= nil, true)
  fails("argument", function() Player{ id = 1, name = "Bea" }:upsert{ where = { "player.score < ?", {} } } end)
  equal(rows "SELECT id, name FROM player", { "1 Ann" })
end)

test("upsert writes a nil field of a fetched record as NULL despite the column's default", function()
  local Player = make_player()
  local function clear(write)
    db:execute "DELETE FROM player; INSERT INTO player (id, email, name, team, created) VALUES (1, 'a@x', 'Ann', 'red', 'now')"
    local player = Player:find(1)
    player.team, player.created = nil, nil
    write(player)
    equal(rows "SELECT id, name, team IS NULL, created IS NULL FROM player", { "1 Ann 1 1" })
    equal({ player.team, player.created, Player:find(1) == player }, { nil, nil, true })
  end
  clear(function(player)
    player:upsert()
    equal(player:has_changes(), false)
  end)
  clear(function(player) player:upsert{ target = "email" } end)
  clear(function(player) Player:upsert_all({ player }, { target = "id" }) end)
  clear(function(player) Player:statement("upsert", player):execute() end)
  clear(function(player) Player:find(1):upsert() player:upsert() end)
  db:execute "DELETE FROM player"
  local player = Player{ id = 1, name = "Ann" }:insert()
  player.id = nil
  player:upsert()
  equal(rows "SELECT id, created FROM player", { "1 then", "2 then" })
end)
