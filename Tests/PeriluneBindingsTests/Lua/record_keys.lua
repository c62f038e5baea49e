--- Converted keys, date keys, and keys that a script has changed.

local spelled = {
  name = "spelled",
  from_database = function(text) return text:upper() end,
  to_database = function(value) return value:lower() end,
}

--- Owners with a converted key, and dependent rows whose column is not converted.
local function owners()
  db:execute[[
    CREATE TABLE owner (k TEXT PRIMARY KEY, code TEXT UNIQUE, n INTEGER);
    CREATE TABLE thing (id INTEGER PRIMARY KEY, owner_k TEXT REFERENCES owner (k) ON DELETE CASCADE, n INTEGER);
    INSERT INTO owner VALUES ('a', 'x', 1), ('b', 'y', 2);
    INSERT INTO thing VALUES (1, 'a', 10), (2, 'a', 20), (3, 'b', 30)]]
  local Owner = perilune.record("owner", { types = { k = spelled, code = spelled } })
  local Thing = perilune.record("thing")
  Owner.things = Owner:has_many(Thing)
  Thing.owner = Thing:belongs_to(Owner)
  return Owner, Thing
end

test("find accepts the Lua value of a converted key", function()
  local Owner = owners()
  equal(Owner:find("A").n, 1)
  equal(Owner:fetch_one("B").n, 2)
  equal(Owner:fetch_one(db, "B").k, "B")
  equal(Owner:find{ "A", "B" }[2].n, 2)
  equal(Owner:find{ k = "A" }.n, 1)
  equal(Owner:find{ code = "Y" }.n, 2)
  equal(Owner:fetch_one{ code = "Z" }, nil)
  equal(Owner:filter_key("A"):fetch_one().n, 1)
  equal(Owner:filter_key{ "A", "B" }:fetch_count(), 2)
  equal(Owner:exists("B"), true)
  equal(Owner:delete_one("B"), true)
  equal(Owner:exists("B"), false)
  equal(fails("record_not_found", Owner.find, Owner, "Q").key, "Q")
end)

test("all operations of a record with a converted key find its row", function()
  local Owner = owners()
  local owner = Owner:find("A")
  db:execute "UPDATE owner SET n = 7"
  equal(owner:refresh().n, 7)
  owner.n = 8
  owner:update()
  owner:update_changes{ n = 9 }
  owner:save()
  owner:upsert()
  equal(db:fetch_value "SELECT group_concat(k || n) FROM owner", "a9,b7")
  equal(owner:exists(), true)
  equal(owner:delete{ returning = "n" }, 9)
  local other = Owner{ k = "B", n = 1 }
  equal(other:exists(), true)
  other:upsert()
  equal(Owner:find("B").n, 1)
  equal(other:delete(), true)
  equal(Owner:fetch_count(), 0)
end)

test("associations compare stored values", function()
  local Owner, Thing = owners()
  local owner = Owner:find("A")
  equal(owner:things():pluck("id"), { 1, 2 })
  equal(Thing:find(3):owner():fetch_one().k, "B")
  equal(#Owner:including_all(Owner.things):order("k"):fetch_all()[1].things, 2)
  local Sub = Owner:extend()
  Sub.things = Sub:has_many(Thing)
  equal(#Sub:including_all(Sub.things):order("k"):fetch_all()[1].things, 2)
  equal(Sub:find("A"):things():fetch_count(), 2)
end)

test("an extended class has the types of both classes", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)"
  local T = perilune.record("t", { types = { a = spelled } })
  local Sub = T:extend{ types = { b = spelled } }
  Sub:insert{ a = "A", b = "B" }
  equal(db:fetch_one("SELECT a, b FROM t"):to_table(), { a = "a", b = "b" })
  equal(Sub:filter{ a = "A", b = "B" }:fetch_count(), 1)
  equal(T:filter{ a = "A" }:fetch_count(), 1)
end)

-- Dates

local function events()
  db:execute[[
    CREATE TABLE event (day DATE PRIMARY KEY, n INTEGER);
    CREATE TABLE guest (id INTEGER PRIMARY KEY, day DATE REFERENCES event (day) ON DELETE CASCADE);
    INSERT INTO event VALUES ('2026-01-01', 1), ('2026-01-02 00:00:00.000', 2), ('2026-01-03T10:30', 3);
    INSERT INTO guest VALUES (1, '2026-01-01'), (2, '2026-01-02 00:00:00.000')]]
  local Event, Guest = perilune.record("event"), perilune.record("guest")
  Event.guests = Event:has_many(Guest)
  Guest.event = Guest:belongs_to(Event)
  return Event, Guest
end

test("find finds a date key in any stored format", function()
  local Event = events()
  equal(Event:find("2026-01-01").n, 1)
  equal(Event:find("2026-01-02").n, 2)
  equal(Event:find("2026-01-03 10:30:00").n, 3)
  for n, text in ipairs{ "2026-01-01", "2026-01-02", "2026-01-03 10:30" } do
    local date = perilune.date(text)
    equal({ Event:find(date).n, Event:fetch_one(date).n, Event:find{ day = date }.n }, { n, n, n })
    equal(Event:exists(date), true)
    equal(Event:filter_key(date):fetch_one().n, n)
  end
  equal(Event:fetch_one(perilune.date "2026-01-04"), nil)
  equal(Event:fetch_one("tomorrow"), nil)
  equal(Event:delete_one(perilune.date "2026-01-01"), true)
  equal(Event:fetch_count(), 2)
end)

test("a record with a date key keeps the format of its row", function()
  local Event, Guest = events()
  local event = Event:find("2026-01-01")
  event.n = 4
  event:update():refresh():save():upsert()
  event:update_changes{ n = 5 }
  equal({ event:exists(), Event:fetch_count() }, { true, 3 })
  equal(db:fetch_value "SELECT n FROM event WHERE day = '2026-01-01'", 5)
  equal(event:guests():pluck("id"), { 1 })
  equal(Guest:find(1):event():fetch_one().n, 5)
  equal(event:delete{ returning = "n" }, 5)
end)

test("a new record with the date key of a row refers to that row", function()
  local Event = events()
  local date = perilune.date "2026-01-01"
  Event:upsert{ day = date, n = 6 }
  Event{ day = date, n = 7 }:save()
  equal(Event{ day = date }:exists(), true)
  equal(Event{ day = date }:refresh().n, 7)
  equal(Event:fetch_count(), 3)
  equal(Event{ day = date }:delete(), true)
  equal(Event:fetch_count(), 2)
end)

test("a record keeps the date format of its row", function()
  db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, at DATETIME)"
  local T = perilune.record("t")
  local exact = perilune.date "2026-01-01 10:00:00.123" + 0.000456
  local record = T:insert{ at = exact }
  equal(record.at == exact, false)
  equal(record.at == T:find(1).at, true)
  record.at = exact
  record:update()
  equal(record.at == T:find(1).at, true)
  record.at = "2026-02-01"
  record:save()
  equal(tostring(record.at), tostring(T:find(1).at))
  equal(T:insert_all{ { at = exact } }[1].at == T:find(2).at, true)
  equal(T:upsert{ id = 3, at = exact }.at == T:find(3).at, true)
end)

-- Keys that were changed

local function rows()
  db:execute[[
    CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER DEFAULT 5);
    INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)]]
  return perilune.record("t")
end

local function content() return db:fetch_value "SELECT group_concat(id || name || n) FROM t" end

test("a record with a changed key does not write another row", function()
  local T = rows()
  for verb, cure in pairs{
    update = "key = true", save = "key = true", update_changes = "key = true", delete = "delete_one", refresh = "find",
    upsert = "draft",
  } do
    local record = T:find(1)
    record.id, record.name = 2, "c"
    local err = fails("changed_key", record[verb], record)
    matches(err, verb .. ": the key of the record of `t` was changed: `id` is 2, and 1 in its row")
    matches(err, cure)
    equal({ err.table, err.key }, { "t", 1 })
    fails("changed_key", record[verb], record, db)
  end
  equal(content(), "1a1,2b2")
end)

test("changed keys work with hooks, converted columns and composite keys", function()
  local T = rows()
  local Hooked, Typed = T:extend(), T:extend{ types = { name = spelled } }
  function Hooked:will_save() end
  for _, Class in ipairs{ Hooked, Typed } do
    for _, verb in ipairs{ "update", "save", "update_changes", "delete", "refresh", "upsert" } do
      local record = Class:find(1)
      record.id, record.name = 2, "c"
      fails("changed_key", record[verb], record)
    end
  end
  equal(content(), "1a1,2b2")
  db:execute "CREATE TABLE pair (a INTEGER, b INTEGER, n, PRIMARY KEY (a, b)); INSERT INTO pair VALUES (1, 1, 'x'), (1, 2, 'y')"
  local Pair = perilune.record("pair")
  local pair = Pair:find{ a = 1, b = 1 }
  pair.b = 2
  equal(fails("changed_key", pair.update, pair).key, { b = 1 })
  fails("constraint_primary_key", pair.update, pair, { key = true })
  pair.b = 3
  equal(pair:update{ key = true }.b, 3)
  equal(db:fetch_value "SELECT group_concat(b || n) FROM pair", "3x,2y")
end)

test("a key can be changed on request", function()
  local T = rows()
  local record = T:find(1)
  record.id, record.name = 7, "c"
  record:update{ key = true }
  equal(content(), "2b2,7c1")
  record.name = "d"
  record:update()
  equal(record:update_changes({ id = 8 }, { key = true }), true)
  equal(content(), "2b2,8d1")
  equal({ record:has_changes(), record:update_changes() }, { false, false })
  record.id = 2
  fails("constraint_primary_key", record.update, record, { key = true })
  record.id = 8
  equal(record:delete(), true)
  fails("argument", record.update, record, { key = 1 })
end)

test("a record without a key, or with an equal key in a different form, is unchanged", function()
  local T = rows()
  local record = T:find(1)
  record.id = "1"
  record.name = "c"
  record:update()
  record.id = nil
  record:save()
  equal(content(), "1c1,2b2,3c1")
  record.id = 4
  record:insert()
  equal(content(), "1c1,2b2,3c1,4c1")
end)

-- NULL

test("a record reads nil for NULL and writes NULL for nil", function()
  local T = rows()
  local record = T{ name = perilune.null, n = perilune.null }
  equal({ record.name, record.n, rawget(record, "n") }, {})
  record:insert()
  equal(db:fetch_one("SELECT name, n FROM t WHERE id = 3"):to_table(), { name = perilune.null, n = perilune.null })
  record.name = perilune.null
  equal(record.name, nil)
  record.n = 4
  record:update()
  equal(T:find(3).n, 4)
  local copy = T{ n = perilune.null }:copy()
  equal(copy.n, nil)
  copy:insert()
  equal(T:find(4).n, nil)
  copy.id = nil
  copy:insert()
  equal(T:find(5).n, 5)
end)

test("a field that was not fetched is written if it was set to NULL", function()
  local T = rows()
  for _, write in ipairs{
    function(record) record.n = perilune.null; record:update() end,
    function(record) record:update_changes{ n = perilune.null } end,
    function(record) record.n = perilune.null; record:update_changes() end,
    function(record) record.n = perilune.null; record:save() end,
  } do
    db:execute "UPDATE t SET n = 1"
    local record = T:fetch_all("SELECT id, name FROM t WHERE id = 1")[1]
    write(record)
    equal(db:fetch_value("SELECT n IS NULL FROM t WHERE id = 1"), 1)
  end
end)

test("hooks, drafts, statements and lists write nil as NULL and read NULL as nil", function()
  local T = rows()
  local seen = {}
  function T:will_insert() seen[#seen + 1] = { self.name, self.n } end
  local record = T{ name = "c" }
  record.name = perilune.null
  record:insert()
  T:insert_all{ { n = perilune.null }, { name = "d" } }
  T:insert(T.draft{ n = perilune.null })
  T:upsert{ id = 9, n = perilune.null }
  equal(seen, { { nil, nil }, {}, { "d" }, {}, {} })
  equal(db:fetch_values "SELECT coalesce(n, 'NULL') FROM t WHERE id > 2", { 5, "NULL", 5, "NULL", "NULL" })
  matches(tostring(T:statement("insert", { n = perilune.null })), "NULL")
end)

test("links of records with converted keys store the key's stored values", function()
  db:execute[[
    CREATE TABLE list (day DATE PRIMARY KEY);
    CREATE TABLE track (k TEXT PRIMARY KEY);
    CREATE TABLE entry (day DATE REFERENCES list (day), k TEXT REFERENCES track (k), PRIMARY KEY (day, k));
    INSERT INTO list VALUES ('2026-01-01'); INSERT INTO track VALUES ('a'), ('b'), ('c')]]
  local List, Track, Entry = perilune.record("list"), perilune.record("track", { types = { k = spelled } }), perilune.record("entry")
  List.entries, Entry.track = List:has_many(Entry), Entry:belongs_to(Track)
  List.tracks = List:has_many(Track, { through = List.entries, using = Entry.track })
  local list = List:fetch_one()
  list:tracks():add{ Track:find("A"), "B" }
  list:tracks():add(Track:find("A"))
  local function linked() return db:fetch_value "SELECT group_concat(day || k) FROM (SELECT * FROM entry ORDER BY k)" end
  equal(linked(), "2026-01-01a,2026-01-01b")
  equal(list:tracks():order("k"):fetch_all()[2].k, "B")
  equal(list:tracks():remove("B"), 1)
  list:tracks():replace{ "C" }
  equal(linked(), "2026-01-01c")
end)

test("NULL as a key identifies no row, though a key may be NULL", function()
  db:execute[[
    CREATE TABLE loose (code TEXT PRIMARY KEY, mail TEXT UNIQUE);
    INSERT INTO loose VALUES (NULL, NULL), (NULL, 'a'), ('x', NULL)]]
  local Loose = perilune.record "loose"
  equal({ Loose:fetch_one(perilune.null), Loose:exists(perilune.null), Loose:delete_one(perilune.null) }, { nil, false, false })
  fails("record_not_found", Loose.find, Loose, perilune.null)
  matches(fails("argument", Loose.delete_one, Loose, { mail = perilune.null }), "delete_one: `mail` is NULL, as in any number of rows")
  -- A named key column may be NULL, as in a filter.
  equal({ Loose:exists{ code = perilune.null }, Loose:exists{ mail = perilune.null } }, { true, true })
  equal(Loose:fetch_count(), 3)
end)
