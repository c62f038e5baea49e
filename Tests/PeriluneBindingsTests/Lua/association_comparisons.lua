--- Associations by keys of different types and collations find the same rows as SQL joins.

local kinds = {
  { "TEXT", "'a'", "TEXT COLLATE NOCASE", "'A'" },
  { "", "'a'", "COLLATE NOCASE", "'A'" },
  { "TEXT COLLATE NOCASE", "'a'", "TEXT", "'A'" },
  { "TEXT COLLATE RTRIM", "'a '", "TEXT", "'a'" },
  { "NUMERIC", "1.5", "TEXT", "'1.50'" },
  { "REAL", "1.0", "TEXT", "'1'" },
  { "INTEGER", "1", "TEXT", "'1.0'" },
  { "TEXT", "'01'", "INTEGER", "1" },
  { "TEXT", "'1'", "", "1" },
  { "TEXT", "'1'", "BLOB", "1" },
  { "", "1", "TEXT", "'1'" },
  { "BLOB", "1", "TEXT", "'1'" },
  { "INTEGER", "1", "", "'01'" },
  { "", "'1.0'", "REAL", "1" },
  { "NUMERIC COLLATE NOCASE", "'a'", "NUMERIC COLLATE NOCASE", "'A'" },
  { "NUMERIC COLLATE RTRIM", "'a'", "NUMERIC", "'a '" },
  { "INTEGER COLLATE NOCASE", "'a'", "TEXT", "'A'" },
}

local function make(kind)
  db:execute(([[
    DROP TABLE IF EXISTS c; DROP TABLE IF EXISTS p;
    CREATE TABLE p (n INTEGER PRIMARY KEY, k %s UNIQUE); CREATE TABLE c (n INTEGER PRIMARY KEY, k %s);
    INSERT INTO p VALUES (1, %s); INSERT INTO c VALUES (1, %s)]]):format(kind[1], kind[3], kind[2], kind[4]))
  local P, C = perilune.record "p", perilune.record "c"
  P.children, C.parent = P:has_many(C, { columns = "k", referenced = "k" }), C:belongs_to(P, { columns = "k", referenced = "k" })
  return P, C
end

test("associations find the same rows as SQL joins", function()
  for _, kind in ipairs(kinds) do
    local P, C = make(kind)
    local p, c, wanted = P:find(1), C:find(1), db:fetch_value "SELECT count(*) FROM p JOIN c ON p.k = c.k"
    local found = {
      filter = C:filter{ parent = p }:fetch_count(), filter_children = P:filter{ children = c }:fetch_count(),
      children = p:children():fetch_count(), parent = c:parent():fetch_count(),
      including_all = #P:including_all(P.children):fetch_all()[1].children, joining = P:joining_required(P.children):fetch_count(),
    }
    P:preload({ p }, P.children)
    C:preload({ c }, C.parent)
    found.preload, found.preload_parent = #p.children, c.parent and 1 or 0
    for name, count in pairs(found) do
      if count ~= wanted then error(("%s, %s: %s gives %d for %d"):format(kind[1], kind[3], name, count, wanted), 0) end
    end
  end
end)

test("a fetched record with a NULL key has no associated rows", function()
  local P, C = make{ "TEXT", "NULL", "TEXT", "NULL" }
  local p, c = P:find(1), C:find(1)
  equal({ C:filter{ parent = p }:fetch_count(), P:filter{ children = c }:fetch_count(), p:children():fetch_count() }, { 0, 0, 0 })
  equal(C:filter{ parent = { p } }:fetch_count(), 0)
  matches(fails("argument", function() C:filter{ parent = P{ n = 2 } } end), "`parent`: the record has no `k` yet; insert it first")
end)

test("in associations through other tables, numbers match numeric texts", function()
  db:execute[[
    CREATE TABLE place (n INTEGER PRIMARY KEY, k REAL);
    CREATE TABLE visit (n INTEGER PRIMARY KEY, k TEXT, guest_n INTEGER);
    CREATE TABLE guest (n INTEGER PRIMARY KEY, k TEXT);
    INSERT INTO place VALUES (1, 1), (2, 'x'), (3, x'61'), (4, NULL);
    INSERT INTO visit VALUES (1, '1', 1), (2, '01', 2), (3, 'x', 3), (4, 'a', 1);
    INSERT INTO guest VALUES (1, 'a'), (2, '01'), (3, 'c')]]
  local Place, Visit, Guest = perilune.record "place", perilune.record "visit", perilune.record "guest"
  Place.visits = Place:has_many(Visit, { columns = "k", referenced = "k" })
  Visit.guest = Visit:belongs_to(Guest, { columns = "guest_n", referenced = "n" })
  Place.guests = Place:has_many(Guest, { through = Place.visits, using = Visit.guest })
  local function numbers(list)
    local found = {}
    for index, row in ipairs(list) do found[index] = row.n end
    table.sort(found)
    return found
  end
  local places = Place:including_all(Place.visits, Place.guests):order("n"):fetch_all()
  for n, expected in ipairs{ { 1, 2 }, { 3 }, {}, {} } do
    equal(numbers(places[n].visits), expected)
    equal(numbers(places[n].guests), expected)
    equal(numbers(Place.visits(places[n]):fetch_all()), expected)
    equal(numbers(Place.guests(places[n]):fetch_all()), expected)
  end
end)

test("numbers do not match texts in an untyped column of an intermediate table", function()
  db:execute[[
    CREATE TABLE spot (n INTEGER PRIMARY KEY, k); CREATE TABLE stay (n INTEGER PRIMARY KEY, k TEXT);
    INSERT INTO spot VALUES (1, 1), (2, '1'); INSERT INTO stay VALUES (1, '1')]]
  local Spot, Stay = perilune.record "spot", perilune.record "stay"
  Spot.stays = Spot:has_many(Stay, { columns = "k", referenced = "k" })
  Stay.same = Stay:belongs_to(Stay, { columns = "n", referenced = "n" })
  Spot.others = Spot:has_many(Stay, { through = Spot.stays, using = Stay.same })
  equal(Spot.others(Spot:find(1)):fetch_count(), 0)
  equal(Spot.others(Spot:find(2)):fetch_count(), 1)
end)

test("if several parents have equal numbers, rows through the first one are found once", function()
  db:execute[[
    CREATE TABLE house (n INTEGER PRIMARY KEY, k TEXT); CREATE TABLE cat (n INTEGER PRIMARY KEY, k NUMERIC);
    INSERT INTO house VALUES (1, '01'), (2, '1.0'), (3, '1x'); INSERT INTO cat VALUES (1, 1), (2, 1), (3, '1x'), (4, 2), (5, 1.5)]]
  local House, Cat = perilune.record "house", perilune.record "cat"
  House.cats = House:has_many(Cat, { columns = "k", referenced = "k" })
  Cat.house = Cat:belongs_to(House, { columns = "k", referenced = "k" })
  Cat.others = Cat:has_many(Cat, { through = Cat.house, using = House.cats })
  local cats = Cat:including_all(Cat.others):annotated_with(Cat.others:count():as("many")):order("n"):fetch_all()
  for n, expected in ipairs{ 2, 2, 1, 0, 0 } do
    local joined = Cat:filter{ n = n }:joining_required(Cat.others):fetch_count()
    equal({ #cats[n].others, cats[n].many, Cat.others(cats[n]):fetch_count(), joined }, { expected, expected, expected, expected })
  end
end)
