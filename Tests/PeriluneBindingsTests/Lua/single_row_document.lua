--- The examples of the document on tables with one row: first with plain record classes, and finally with `perilune.single_row`.

local function migrate()
  local migrator = perilune.migrator()
  migrator:register("configuration", function(db)
    db:create_table("app_configuration", function(t)
      -- At most one row: inserting replaces it.
      t:primary_key("id", "integer", { on_conflict = "replace" }):check(function(id) return id:eq(1) end)
      t:column("stored_flag", "boolean") -- NULL: not chosen yet
    end)
  end)
  migrator:register("theme", function(db)
    db:alter_table("app_configuration", function(t) t:add_column("theme", "text") end)
  end)
  migrator:migrate(db)
end

--- The configuration class that the document defines without `perilune.single_row`.
local function by_hand()
  migrate()
  local Configuration = perilune.record "app_configuration"
  function Configuration.default() return Configuration{ id = 1 } end
  function Configuration:find(db) return Configuration:fetch_one(db) or Configuration.default() end
  function Configuration:flag() return self.stored_flag == nil or self.stored_flag end
  function Configuration:set_flag(flag) self.stored_flag = flag end
  function Configuration:reset_flag() self.stored_flag = nil end
  function Configuration:will_update(db)
    if not self:exists(db) then Configuration.default():insert(db) end
  end
  return Configuration
end

local function stored() return db:fetch_values "SELECT id || coalesce(stored_flag, '-') || coalesce(theme, '-') FROM app_configuration" end

test("the schema allows one row, and inserting replaces it", function()
  local Configuration = by_hand()
  Configuration{ id = 1, stored_flag = true }:insert()
  Configuration{ id = 1, theme = "dark" }:insert()
  equal(stored(), { "1-dark" })
  local err = fails("constraint_check", db.execute, db, "INSERT INTO app_configuration (id) VALUES (2)")
  equal({ err.code, #stored() }, { 19, 1 })
  matches(db:schema_sql(), '"id" INTEGER PRIMARY KEY ON CONFLICT REPLACE CHECK ("id" = 1)')
end)

test("a NULL column reads as the default, and resetting a setting writes NULL", function()
  local Configuration = by_hand()
  equal(Configuration:fetch_one(db), nil)
  local configuration = Configuration:find(db)
  equal({ configuration:flag(), configuration.stored_flag }, { true })
  configuration:set_flag(false)
  configuration:save(db)
  equal({ Configuration:find(db):flag(), stored()[1] }, { false, "10-" })
  configuration:update_changes(db, function(c) c:reset_flag() end)
  equal({ Configuration:find(db):flag(), stored()[1] }, { true, "1--" })
end)

test("a required column of a single row is a plain field", function()
  db:create_table("strict_configuration", function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check(function(id) return id:eq(1) end)
    t:column("flag", "boolean"):not_null()
  end)
  local Strict = perilune.record "strict_configuration"
  fails("constraint_not_null", Strict.insert, Strict, { id = 1 })
  equal(Strict{ id = 1, flag = true }:insert().flag, true)
end)

test("update, insert, save and upsert are interchangeable, whether or not a row exists", function()
  local Configuration = by_hand()
  for _, verb in ipairs{ "insert", "update", "save", "upsert" } do
    for _, is_empty in ipairs{ true, false } do
      if is_empty then Configuration:delete_all() end
      local configuration = Configuration:find(db)
      configuration.theme = verb
      configuration[verb](configuration, db)
      equal(stored(), { "1-" .. verb })
    end
  end
end)

test("settings are read in a read block and written in a write block", function()
  local Configuration = by_hand()
  local flag = db:read(function(db) return Configuration:find(db):flag() end)
  equal(flag, true)
  db:write(function(db)
    equal(Configuration:find(db):update_changes(db, function(c) c:set_flag(false) end), true)
  end)
  equal(stored(), { "10-" })
  equal(Configuration:find(db):update_changes(db, function(c) c:set_flag(false) end), false)
end)

test("a hook that inserts the missing row is undone if the update fails", function()
  local Configuration = by_hand()
  db:execute "CREATE TRIGGER no BEFORE UPDATE ON app_configuration BEGIN SELECT RAISE(ABORT, 'no'); END"
  local configuration = Configuration:find(db)
  configuration:set_flag(false)
  fails(nil, configuration.update, configuration, db)
  equal(stored(), {})
end)

test("without the hook, an update of the empty table finds no row", function()
  migrate()
  local Plain = perilune.record "app_configuration"
  local plain = Plain{ id = 1, theme = "dark" }
  local err = fails("record_not_found", plain.update, plain)
  equal({ err.table, err.key }, { "app_configuration", 1 })
end)

test("without the conflict clause, a second insert into a single-row table fails", function()
  db:create_table("plain", function(t)
    t:primary_key("id", "integer"):check(function(id) return id:eq(1) end)
    t:column("flag", "boolean")
  end)
  local Plain = perilune.record "plain"
  Plain{ id = 1 }:insert()
  equal(fails("constraint_primary_key", Plain.insert, Plain, { id = 1 }).key, 1)
end)

test("a single row may have a JSON column and a foreign key", function()
  db:create_table("team", function(t) t:auto_incremented_primary_key("id") end)
  db:create_table("settings", function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check(function(id) return id:eq(1) end)
    t:column("all", "json_text")
    t:column("team_id", "integer"):references("team")
  end)
  local Settings = perilune.single_row("settings", { types = { all = "json" }, defaults = { all = { flag = true } } })
  equal({ Settings:find(db).all.flag, Settings:find(db).team_id }, { true })
  Settings:find(db):update_changes(db, function(settings) settings.all.flag = false end)
  equal(Settings:find(db).all, { flag = false })
  equal(fails("constraint_foreign_key", function()
    Settings:find(db):update_changes(db, function(settings) settings.team_id = 3 end)
  end).referenced_table, "team")
end)

test("perilune.single_row does the same in one call", function()
  migrate()
  local Configuration = perilune.single_row("app_configuration", { defaults = { stored_flag = true } })
  equal({ Configuration:find(db).stored_flag, stored() }, { true, {} })
  Configuration:find(db):update_changes(db, function(c) c.stored_flag = false end)
  equal({ Configuration:find(db).stored_flag, stored() }, { false, { "10-" } })
  Configuration:find(db):reset("stored_flag"):save(db)
  equal({ Configuration:find(db).stored_flag, stored() }, { true, { "1--" } })
end)
