--- Tables with at most one row: `perilune.single_row`.

local function make_table()
  db:create_table("configuration", function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
    t:column("theme", "text")
    t:column("beta", "boolean")
    t:column("volume", "integer"):not_null()
  end)
end

local function make_class()
  make_table()
  return perilune.single_row("configuration", { defaults = { theme = "light", beta = true, volume = 5 } })
end

local function stored()
  return db:fetch_all("SELECT * FROM configuration")
end

test("a single-row object has the defaults if the table is empty", function()
  local Configuration = make_class()
  local configuration = Configuration:find()
  equal(configuration.theme, "light")
  equal(configuration.beta, true)
  equal(configuration.volume, 5)
  equal(stored(), {})
end)

test("a single-row table stores only the chosen values", function()
  local Configuration = make_class()
  equal(Configuration:find():update_changes(function(c) c.theme = "dark" end), true)
  equal(stored(), { { id = 1, theme = "dark", volume = 5 } })
  equal(Configuration:find().theme, "dark")
  equal(Configuration:find().beta, true)
end)

test("false is a valid chosen value", function()
  local Configuration = make_class()
  local configuration = Configuration:find()
  configuration.beta = false
  configuration:save()
  equal(Configuration:find().beta, false)
  equal(stored()[1].beta, false)
end)

test("an update without changes writes nothing", function()
  local Configuration = make_class()
  Configuration:find():update_changes(function(c) c.theme = "dark" end)
  equal(Configuration:find():update_changes(function(c) c.theme = "dark" end), false)
end)

test("a chosen value can be reset to its default", function()
  local Configuration = make_class()
  local configuration = Configuration{ theme = "dark", beta = false, volume = 9 }:insert()
  configuration:update_changes(function(c) c:reset("theme") end)
  equal(stored(), { { id = 1, beta = false, volume = 9 } })
  equal(configuration.theme, "light")
  configuration:reset():update()
  equal(stored(), { { id = 1, volume = 5 } })
  equal(Configuration:find().beta, true)
  configuration.theme = perilune.null
  equal(configuration.theme, "light")
end)

test("insert, update, save and upsert of a single-row object are interchangeable", function()
  local Configuration = make_class()
  for index, verb in ipairs{ "insert", "update", "save", "upsert" } do
    db:execute("DELETE FROM configuration")
    for _ = 1, 2 do
      local configuration = Configuration:find()
      configuration.volume = index
      equal(rawequal(configuration[verb](configuration), configuration), true)
      equal(stored(), { { id = 1, volume = index } })
    end
  end
end)

test("a single-row table never has a second row", function()
  local Configuration = make_class()
  for volume = 1, 3 do Configuration{ volume = volume }:insert() end
  equal(stored(), { { id = 1, volume = 3 } })
  equal(fails("constraint_check", db.execute, db, "INSERT INTO configuration (id, volume) VALUES (2, 1)").code, 19)
end)

test("the key of a single-row object is hidden", function()
  local Configuration = make_class()
  local configuration = Configuration:find()
  matches(fails("argument", function() configuration.id = 2 end), "is always 1")
  fails("argument", Configuration, { id = 1 })
  local names = {}
  for name in pairs(configuration) do names[#names + 1] = name end
  table.sort(names)
  equal(names, { "beta", "theme", "volume" })
end)

test("a single-row object can be refreshed, changed and deleted like a record", function()
  local Configuration = make_class()
  local configuration = Configuration:find()
  equal(configuration:exists(), false)
  configuration:insert()
  equal(configuration:exists(), true)
  equal(configuration:has_changes(), false)
  configuration.theme = "dark"
  equal(configuration:changes(), { theme = { new = "dark" } })
  db:execute("UPDATE configuration SET volume = 7")
  configuration:refresh()
  equal(configuration.volume, 7)
  equal(configuration.theme, "light")
  equal(configuration:delete(), true)
  equal(stored(), {})
end)

test("single-row classes can have methods", function()
  local Configuration = make_class()
  function Configuration:describe() return self.theme .. " at " .. self.volume end
  equal(Configuration:find():describe(), "light at 5")
end)

test("hooks of a single-row class belong to its record class", function()
  local Configuration = make_class()
  function Configuration.record:validate() if self.volume > 10 then error({ kind = "loud" }) end end
  local configuration = Configuration:find()
  configuration.volume = 11
  fails("loud", configuration.save, configuration)
  equal(stored(), {})
end)

test("a column with the name of a method is refused", function()
  db:create_table("t", function(t) t:primary_key("id", "integer") t:column("reset") end)
  matches(fails("argument", function() perilune.single_row("t"):find() end), "the column `reset` of `t` has the same name as a method")
end)

test("single-row objects work in blocks and with other databases", function()
  local Configuration = make_class()
  local other = perilune.queue(":memory:")
  other:create_table("configuration", function(t)
    t:primary_key("id", "integer")
    t:column("theme", "text")
    t:column("beta", "boolean")
    t:column("volume", "integer")
  end)
  other:write(function(db)
    Configuration:find(db):update_changes(db, function(c) c.theme = "dark" end)
  end)
  equal(other:fetch_value("SELECT theme FROM configuration"), "dark")
  equal(stored(), {})
  db:read(function(db)
    local configuration = Configuration:find(db)
    equal(configuration.theme, "light")
    configuration.theme = "dark"
    fails("readonly", configuration.update, configuration, db)
  end)
  equal(stored(), {})
end)

test("an error in an update undoes the insertion of a missing single row", function()
  local Configuration = make_class()
  db:execute("CREATE TRIGGER no_updates BEFORE UPDATE ON configuration BEGIN SELECT RAISE(ABORT, 'no'); END")
  fails(nil, function() Configuration:find():update_changes(function(c) c.theme = "dark" end) end)
  equal(stored(), {})
end)

test("without the conflict clause, a second insert into a single-row table fails", function()
  db:create_table("plain", function(t) t:primary_key("id", "integer"):check("id = 1") t:column("a") end)
  local Plain = perilune.single_row("plain")
  Plain{ a = 1 }:insert()
  fails("constraint_primary_key", function() Plain{ a = 2 }:insert() end)
  Plain{ a = 3 }:save()
  equal(Plain:find().a, 3)
end)

test("a single-row table may store everything in one JSON column, whose default is not shared", function()
  db:create_table("settings", function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
    t:column("all", "json_text")
  end)
  local Settings = perilune.single_row("settings", { types = { all = "json" }, defaults = { all = { colors = { "red" } } } })
  Settings:find().all.colors[1] = "blue"
  equal(Settings:find().all, { colors = { "red" } })
  Settings:find():update_changes(function(s) s.all = { colors = { "green" } } end)
  equal(Settings:find():update_changes(function(s) s.all.colors[2] = "blue" end), true)
  equal(db:fetch_value("SELECT \"all\" FROM settings"), '{"colors":["green","blue"]}')
end)

test("a default table that is modified in place becomes a chosen value", function()
  db:create_table("settings", function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
    t:column("all", "json_text")
  end)
  local Settings = perilune.single_row("settings", { types = { all = "json" }, defaults = { all = { colors = { "red" } } } })
  local settings = Settings:find():save()
  equal({ settings.all.colors[1], settings:has_changes() }, { "red", false })
  settings.all.colors[2] = "blue"
  equal(settings:has_changes(), true)
  settings:save()
  equal(Settings:find().all, { colors = { "red", "blue" } })
  settings:reset("all")
  equal(settings.all, { colors = { "red" } })
  settings:save()
  equal(db:fetch_value("SELECT \"all\" IS NULL FROM settings"), 1)
  equal(settings:update_changes(function(s) s.all.colors[1] = "green" end), true)
  equal(settings:update_changes(function(s) s.all.colors[1] = "green" end), false)
  equal(Settings:find().all, { colors = { "green" } })
end)

test("a single-row table may refer to other tables", function()
  db:create_table("team", function(t) t:primary_key("id", "integer") t:column("name", "text") end)
  db:create_table("app", function(t)
    t:primary_key("key", "integer", { on_conflict = "replace" }):check("\"key\" = 1")
    t:belongs_to("team")
  end)
  local App = perilune.single_row("app", { key = "key" })
  db:execute("INSERT INTO team VALUES (7, 'a')")
  App:find():update_changes(function(app) app.team_id = 7 end)
  equal(App:find().team_id, 7)
  fails("constraint_foreign_key", function() App{ team_id = 8 }:save() end)
  equal(App:find().team_id, 7)
end)

test("columns of a single-row table may have defaults in the schema", function()
  db:create_table("plain", function(t)
    t:primary_key("id", "integer"):check("id = 1")
    t:column("a", "text")
    t:column("count", "integer"):not_null():default(3)
  end)
  local Plain = perilune.single_row("plain", { defaults = { a = "x" } })
  local plain = Plain:find()
  plain:save()
  equal(plain.count, 3)
  equal(Plain:find().count, 3)
end)

test("updating a single-row object also writes earlier changes", function()
  local Configuration = make_class()
  local configuration = Configuration{ theme = "dark" }:insert()
  configuration.volume = 6
  equal(configuration:update_changes(), true)
  equal(configuration:update_changes(), false)
  equal(stored(), { { id = 1, theme = "dark", volume = 6 } })
end)

test("unknown columns and options of a single-row class are refused", function()
  local Configuration = make_class()
  equal(fails("unknown_column", function() return Configuration:find().them end).suggestion, "theme")
  equal(fails("unknown_column", function() Configuration:find().them = 1 end).suggestion, "theme")
  equal(fails("unknown_column", function() Configuration:find():reset("them") end).suggestion, "theme")
  fails("unknown_option", perilune.single_row, "configuration", { default = {} })
  local Misspelt = perilune.single_row("configuration", { defaults = { them = "light" } })
  equal(fails("unknown_column", Misspelt.find, Misspelt).suggestion, "theme")
  fails("argument", perilune.single_row, "configuration", { defaults = { id = 1 } })
  fails("argument", perilune.single_row, "configuration", { defaults = 1 })
  fails("argument", perilune.single_row, "configuration", 1)
  fails("argument", perilune.single_row, 12)
  matches(fails("unknown_table", function() perilune.single_row("missing"):find() end), "missing")
end)

test("update_changes accepts nil as the database and passes the object to its block", function()
  local Configuration = make_class()
  local seen
  Configuration:find():update_changes(nil, function(configuration)
    seen = configuration.theme
    configuration.theme = "dark"
  end)
  equal({ seen, Configuration:find().theme }, { "light", "dark" })
end)

test("methods of a single-row class refuse invalid objects", function()
  local Configuration = make_class()
  matches(fails("argument", Configuration, 5), "expected a table of columns, got the integer 5")
  matches(fails("argument", Configuration:find().update, 5), "update: expected the object of a row")
end)

-- As records -------------------------------------------------------------------------------------------------------------------

test("JSON and text of a single-row object contain all its values", function()
  local Configuration = make_class()
  local configuration = Configuration{ theme = "dark" }
  equal(perilune.json.encode(configuration), '{"beta":true,"theme":"dark","volume":5}')
  equal(perilune.json.encode({ configuration }), '[{"beta":true,"theme":"dark","volume":5}]')
  equal(tostring(configuration), 'configuration{id = 1, theme = "dark", beta = true, volume = 5}')
end)

test("single-row objects can be copied, inserted as copies and compared", function()
  local Configuration = make_class()
  local configuration = Configuration{ theme = "dark" }
  local copy = configuration:copy{ volume = 7 }
  equal({ copy.theme, copy.volume, configuration.volume }, { "dark", 7, 5 })
  equal({ configuration == copy, configuration == configuration:copy() }, { false, true })
  equal(copy:inserted().volume, 7)
  equal(Configuration:find() == Configuration:find(), true)
  equal(Configuration(copy) == copy, true)
  equal(Configuration(copy).theme, "dark")
end)

test("hooks of a single-row class receive its objects", function()
  local Configuration = make_class()
  local log = {}
  function Configuration:validate()
    if self.volume > 10 then self:invalid("volume", "is too loud") end
  end
  function Configuration:will_save() log[#log + 1] = "save " .. self.theme end
  function Configuration:around_insert(write) log[#log + 1] = "insert" write() end
  local configuration = Configuration:find()
  configuration.volume = 11
  matches(fails("validation", configuration.save, configuration), "volume is too loud")
  equal(configuration:validation_errors()[1].column, "volume")
  equal(stored(), {})
  configuration.volume = 9
  configuration:insert()
  equal(log, { "save light", "save light", "insert", "save light", "insert" })
  equal(stored(), { { id = 1, volume = 9 } })
end)

test("defaults of a single-row class can be functions of the object", function()
  db:execute "CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), made DATETIME NOT NULL, name TEXT, label TEXT, list TEXT)"
  local count = 0
  local Settings = perilune.single_row("settings", { types = { list = "json" }, defaults = {
    made = perilune.now, name = "x", label = function(self) count = count + 1 return self.name .. count end, list = function() return { 1 } end,
  } })
  local settings = Settings:find()
  equal({ settings.label, settings.label, settings.list[1] }, { "x1", "x1", 1 })
  local made = settings.made
  settings:save()
  equal(db:fetch_one("SELECT label, list FROM settings"), {})
  equal(tostring(Settings:find().made), tostring(made))
  settings.list[2] = 2
  settings:save()
  equal(db:fetch_value("SELECT list FROM settings"), "[1,2]")
end)

test("a record can be created from the values of a single-row object", function()
  local Configuration = make_class()
  local record = perilune.record("configuration")(Configuration{ theme = "dark" })
  equal({ record.theme, record.beta, record.volume, record.id }, { "dark", true, 5 })
end)
