-- Values: how SQLite stores them, and how they appear in Lua.
group("values", { database = "empty", tags = { "values" } }, function()
  before_each(function(t)
    t.db:execute[[CREATE TABLE thing (
      id INTEGER PRIMARY KEY, whole INTEGER, real REAL, text TEXT, data BLOB, flag BOOLEAN, at DATETIME, json TEXT, color TEXT)]]
  end)

  scenario("integers and floats are exact", {
    cases = {
      { name = "the least integer", column = "whole", value = math.mininteger },
      { name = "the greatest integer", column = "whole", value = math.maxinteger },
      { name = "a tenth", column = "real", value = 0.1 },
      { name = "seventeen digits", column = "real", value = 1 / 3 },
      { name = "a text with a NUL", column = "text", value = "a\0b" },
      { name = "a text in any language", column = "text", value = "Cien años — 百年" },
    },
  }, function(t)
    local stored = t.db.thing:insert{ [t.case.column] = t.case.value }
    local read = t.db.thing:find(stored.id)[t.case.column]
    expect(read):is(t.case.value)
    check(math.type(read) == math.type(t.case.value))
  end)

  scenario("blobs keep their bytes", function(t)
    t.given.thing [[
      | id | data        | text   |
      | 1  | x'00ff10'   | "\x41" |
    ]]
    check(t.db.thing:fetch_one(1).data == "\0\xff\x10")
    check(t.db:fetch_value("SELECT typeof(data) FROM thing") == "blob")
    expect(t.db.thing):rows "| data | text |\n| x'00ff10' | A |"
  end)

  scenario("a column declared BOOLEAN holds booleans", function(t)
    t.given.thing "| id | flag |\n| 1 | true |\n| 2 | false |\n| 3 | ~ |"
    expect(t.db.thing:filter{ flag = true }:pluck("id")):equals { 1 }
    check(t.db.thing:fetch_one(2).flag == false)
    check(t.db.thing:fetch_one(3).flag == nil)
  end)

  scenario("dates can be compared and calculated with, and are stored as sortable text", function(t)
    local thing = t.db.thing:insert{ at = perilune.date("2026-03-31T18:00:00Z") }
    check(thing.at < perilune.date("2026-04-01"))
    check(thing.at:add{ days = 1 }.month == 4)
    check(t.db:fetch_value("SELECT at FROM thing") == "2026-03-31 18:00:00.000")
    expect(t.db.thing):rows "| at |\n| 2026-03-31 18:00 |"
  end)

  scenario("a column declared DATE holds days", { clock = "2026-03-31T18:00:00Z" }, function(t)
    t.db:execute "CREATE TABLE visit (id INTEGER PRIMARY KEY, day DATE NOT NULL)"
    t.given.visit "| id | day |\n| 1 | 2026-03-31 |\n| 2 | now |\n| 3 | 2026-04-01 |"
    expect(t.db.visit):rows "| id | day |\n| 1 | now |\n| 2 | 2026-03-31 |\n| 3 | 2026-04-01 |"
    check(t.db:fetch_value("SELECT count(*) FROM visit WHERE day <= CURRENT_DATE") == 2)
    check(t.db.visit:filter{ day = t.clock:now() }:fetch_count() == 2)
    check(t.make.visit().day == t.clock:now():start_of("day"))
  end)

  scenario("the current time is the scenario's clock", function(t)
    t.clock:set("2026-03-31T18:00:00Z")
    t.db.thing:insert{ at = perilune.now() }
    expect(t.db.thing):rows "| at |\n| now |"
    t.clock:advance { minutes = 1 }
    expect.no(t.db.thing):rows "| at |\n| now |"
  end)

  scenario("a column can store a table as JSON", function(t)
    local Thing = perilune.record("thing", { types = { json = "json" } })
    local thing = Thing:insert{ json = { tags = { "a", "b" }, deep = { 1 } } }
    check(t.db:fetch_value("SELECT json FROM thing") == '{"deep":[1],"tags":["a","b"]}')
    thing.json.tags[3] = "c"
    check(thing:has_changes())
    thing:update_changes()
    expect(Thing:find(thing.id).json.tags):equals { "a", "b", "c" }
  end)

  scenario("an enum accepts only its cases", function(t)
    local Color = perilune.enum{ "red", "green" }
    local Thing = perilune.record("thing", { types = { color = Color } })
    local thing = Thing:insert{ color = Color.red }
    check(Thing:find(thing.id).color == Color.red)
    check(t.db:fetch_value("SELECT color FROM thing") == "red")
    t.db:execute("UPDATE thing SET color = 'blue'")
    expect_error(function() return Thing:find(thing.id).color end, { kind = "conversion" })
  end)

  scenario("a custom type converts in both directions", function(t)
    local cents = { from_database = function(v) return v / 100 end, to_database = function(v) return math.tointeger(v * 100) end }
    local Thing = perilune.record("thing", { types = { whole = cents } })
    local thing = Thing:insert{ whole = 12.5 }
    check(t.db:fetch_value("SELECT whole FROM thing") == 1250)
    check(Thing:find(thing.id).whole == 12.5)
  end)

  scenario("values are bound and never read as SQL", function(t)
    local text = "'; DROP TABLE thing; --"
    t.db:execute("INSERT INTO thing (text) VALUES (?)", text)
    check(t.db:fetch_value("SELECT text FROM thing WHERE text = :text", { text = text }) == text)
    expect_error(function() t.db:execute("INSERT INTO thing (text) VALUES (?)") end, { kind = "argument" })
    expect_error(function() t.db:fetch_all("SELECT :a", { b = 1 }) end)
  end)

  scenario("settings in one row have defaults that are not stored", function(t)
    t.db:create_table("configuration", function(c)
      c:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
      c:column("theme", "text")
    end)
    local Configuration = perilune.single_row("configuration", { defaults = { theme = "light" } })
    check(Configuration:find().theme == "light")
    expect(t.db.configuration):is_empty()
    Configuration:find():update_changes(function(c) c.theme = "dark" end)
    expect(t.db.configuration):rows "| id | theme |\n| 1 | dark |"
  end)
end)
