-- Associations compare keys like SQLite's foreign keys: with the collation of the referenced column.

db:execute[[
  CREATE TABLE country (code TEXT COLLATE NOCASE PRIMARY KEY, name TEXT);
  CREATE TABLE town (id INTEGER PRIMARY KEY, code TEXT REFERENCES country (code), n INTEGER);
  CREATE TABLE zone (a TEXT COLLATE NOCASE, b INTEGER, PRIMARY KEY (a, b));
  CREATE TABLE spot (id INTEGER PRIMARY KEY, a TEXT, b INTEGER, FOREIGN KEY (a, b) REFERENCES zone);
  CREATE TABLE exact (code TEXT PRIMARY KEY);
  CREATE TABLE loose (id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE);
  INSERT INTO country VALUES ('FR', 'France'), ('US', 'States');
  INSERT INTO town VALUES (1, 'FR', 1), (2, 'fr', 2), (3, 'us', 3), (4, 'Fr', 4);
  INSERT INTO zone VALUES ('x', 1), ('y', 1);
  INSERT INTO spot VALUES (1, 'x', 1), (2, 'X', 1), (3, 'Y', 1);
  INSERT INTO exact VALUES ('k'), ('K');
  INSERT INTO loose VALUES (1, 'k'), (2, 'K'), (3, 'k')]]

local Country, Town, Zone, Spot = perilune.record("country"), perilune.record("town"), perilune.record("zone"), perilune.record("spot")
local Exact, Loose = perilune.record("exact"), perilune.record("loose")
Country.towns, Town.country = Country:has_many(Town), Town:belongs_to(Country)
Country.any_town = Country:has_one(Town)
Country.town = Country.any_town:order(Town.c.n:desc())
Zone.spots, Spot.zone = Zone:has_many(Spot), Spot:belongs_to(Zone)
Exact.looses = Exact:has_many(Loose, { columns = "code" })
Town.neighbours = Town:has_many(Town, { through = Town.country, using = Country.towns })

local function ids(list)
  local result = {}
  for index, record in ipairs(list) do result[index] = record.id end
  table.sort(result)
  return result
end

test("all ways to fetch the children of a row find the same rows", function()
  for code, expected in pairs{ FR = { 1, 2, 4 }, US = { 3 } } do
    local country = Country:including_all(Country.towns):find(code)
    equal(ids(country.towns), expected)
    equal(ids(country:towns():fetch_all()), expected)
    equal(Country:annotated_with(Country.towns:count():as("n")):find(code).n, #expected)
    equal(ids(Town:including_required(Town.country):filter(Country.c.code:eq(code)):fetch_all()), expected)
    equal(Country:filter_key(code):joining_required(Country.towns):fetch_count(), #expected)
    local limited = Country:including_all(Country.towns:order("id"):limit(2)):find(code)
    equal(#limited.towns, math.min(2, #expected))
  end
  equal(Country:including_all(Country.towns):fetch_all()[1].towns[3].id, 4)
end)

test("all ways to fetch the parent of a row find the same row", function()
  for id = 1, 4 do
    local expected = id == 3 and "US" or "FR"
    equal(Town:including_optional(Town.country):find(id).country.code, expected)
    equal(Town:including_all(Town.country):find(id).country.code, expected)
    local town = Town:find(id)
    equal(town:country():fetch_one().code, expected)
  end
end)

test("composite keys, associations through other tables and first rows respect the collation", function()
  local zones = Zone:including_all(Zone.spots):order("a"):fetch_all()
  equal({ ids(zones[1].spots), ids(zones[2].spots) }, { { 1, 2 }, { 3 } })
  equal(Zone:joining_required(Zone.spots):fetch_count(), 3)
  equal(ids(zones[1]:spots():fetch_all()), { 1, 2 })
  local town = Town:including_all(Town.neighbours):find(2)
  equal(ids(town.neighbours), { 1, 2, 4 })
  equal(ids(town:neighbours():fetch_all()), { 1, 2, 4 })
  equal(Country:including_optional(Country.town):find("FR").town.id, 4)
  equal(Country:including_all(Country.town):find("FR").town.id, 4)
end)

test("conditions by a request and by a record find the same rows", function()
  local france = Country:filter{ name = "France" }
  equal(ids(Town:filter{ country = france }:fetch_all()), { 1, 2, 4 })
  equal(ids(Town:filter{ country = Country:find("FR") }:fetch_all()), { 1, 2, 4 })
  equal(ids(Town:filter(~Town.country:filter{ name = "France" }:exists()):fetch_all()), { 3 })
  equal(Country:filter{ towns = Town:filter{ n = 3 } }:pluck("code"), { "US" })
  local Owner = perilune.record("loose")
  Owner.exact = Owner:belongs_to(Exact, { columns = "code" })
  equal(ids(Owner:filter{ exact = Exact:filter{ code = "k" } }:fetch_all()), { 1, 3 })
end)

test("the collation of the referring column does not affect an association", function()
  for code, expected in pairs{ k = { 1, 3 }, K = { 2 } } do
    local found = Exact:including_all(Exact.looses):find(code)
    equal(ids(found.looses), expected)
    equal(ids(found:looses():fetch_all()), expected)
    equal(Exact:filter_key(code):joining_required(Exact.looses):fetch_count(), #expected)
    equal(Exact:annotated_with(Exact.looses:count():as("n")):find(code).n, #expected)
  end
end)
