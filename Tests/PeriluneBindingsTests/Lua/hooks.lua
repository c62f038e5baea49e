--- Record hooks: their order, their arguments, and the effect of an error in one.

local hook_names = {
  "will_save", "did_save", "will_insert", "did_insert", "will_update", "did_update", "will_delete", "did_delete", "validate",
}

--- Creates a class whose hooks record their names.
local function logging_class(log, options)
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER)"
  local Item = perilune.record("item", options)
  for _, name in ipairs(hook_names) do
    Item[name] = function() log[#log + 1] = name end
  end
  for _, name in ipairs{ "around_save", "around_insert", "around_update", "around_delete" } do
    Item[name] = function(_, write)
      log[#log + 1] = name .. " {"
      write()
      log[#log + 1] = "}"
    end
  end
  return Item
end

local function text(log)
  return table.concat(log, " ")
end

local function clear(log)
  for index = #log, 1, -1 do log[index] = nil end
end

local function statement_log()
  return db:fetch_values "SELECT name FROM item ORDER BY id"
end

test("insert calls the hooks in order", function()
  local log = {}
  local Item = logging_class(log)
  Item{ name = "a" }:insert()
  equal(text(log), "will_save around_save { will_insert validate around_insert { } did_insert } did_save")
end)

test("update calls the hooks in order", function()
  local log = {}
  local Item = logging_class(log)
  local item = Item{ name = "a" }
  item:insert()
  clear(log)
  item:update()
  equal(text(log), "will_save around_save { will_update validate around_update { } did_update } did_save")
end)

test("save updates a record that has a row, and inserts one without a key", function()
  local log = {}
  local Item = logging_class(log)
  local item = Item{ name = "a" }
  item:save()
  equal(text(log), "will_save around_save { will_insert validate around_insert { } did_insert } did_save")
  clear(log)
  item:save()
  equal(text(log), "will_save around_save { will_update validate around_update { } did_update } did_save")
end)

test("save of a record with a key but no row tries an update and then inserts", function()
  local log = {}
  local Item = logging_class(log)
  local item = Item{ id = 7, name = "a" }
  item:save()
  -- As in GRDB, the error of the update skips the rest of around_update.
  equal(text(log), "will_save around_save { will_update validate around_update { "
    .. "will_insert validate around_insert { } did_insert } did_save")
  equal(statement_log(), { "a" })
end)

test("delete calls only the delete hooks", function()
  local log = {}
  local Item = logging_class(log)
  local item = Item{ name = "a" }
  item:insert()
  clear(log)
  equal(item:delete(), true)
  equal(text(log), "will_delete around_delete { } did_delete")
end)

test("upsert calls the hooks of an insert", function()
  local log = {}
  local Item = logging_class(log)
  local item = Item{ id = 1, name = "a" }
  item:upsert()
  clear(log)
  item.name = "b"
  item:upsert()
  equal(text(log), "will_save around_save { will_insert validate around_insert { } did_insert } did_save")
  equal(statement_log(), { "b" })
end)

test("update_changes calls no hooks if nothing has changed", function()
  local log = {}
  local Item = logging_class(log)
  local item = Item{ name = "a", size = 1 }
  item:insert()
  clear(log)
  equal(item:update_changes(function() end), false)
  equal(text(log), "")
  equal(item:update_changes(function(i) i.size = 2 end), true)
  equal(text(log), "will_save around_save { will_update validate around_update { } did_update } did_save")
end)

test("hooks receive the database, and update hooks the written columns", function()
  local Item = logging_class{}
  local seen = {}
  function Item:will_insert(handle)
    seen.insert = handle:fetch_value "SELECT COUNT(*) FROM item"
    equal(handle == db, true)
  end
  function Item:did_insert(handle) seen.after = handle:fetch_value "SELECT COUNT(*) FROM item" end
  function Item:will_update(_, columns) seen.columns = table.concat(columns, ",") end
  function Item:did_update(_, columns) seen.size, seen.name = columns.size, columns.name end
  local item = Item{ name = "a" }
  item:insert()
  equal({ seen.insert, seen.after }, { 0, 1 })
  item:update()
  equal(seen.columns, "name,size")
  item:update_changes(function(i) i.size = 5 end)
  equal({ seen.columns, seen.size, seen.name }, { "size", true })
  function Item:will_delete(handle) seen.delete = handle:fetch_value "SELECT size FROM item" end
  function Item:did_delete(_, deleted) seen.deleted = deleted end
  item:delete()
  equal({ seen.delete, seen.deleted }, { 5, true })
  item:delete()
  equal(seen.deleted, false)
end)

test("a hook may change the record before it is written", function()
  local Item = logging_class{}
  function Item:will_insert() self.size = self.size or 10 end
  function Item:will_save() self.name = self.name and self.name:upper() end
  local item = Item{ name = "a" }
  item:insert()
  equal({ db:fetch_one("SELECT name, size FROM item"):unpack() }, { "A", 10 })
  equal(item:has_changes(), false)
  function Item:will_update() self.size = 11 end
  equal(item:update_changes{ name = "b" }, true)
  -- An update writes only columns that the script or a hook has changed.
  equal(db:fetch_one("SELECT name, size FROM item").name, "B")
  equal(db:fetch_one("SELECT name, size FROM item").size, 11)
end)

test("will_insert can set a generated key", function()
  db:execute "CREATE TABLE tag (code TEXT PRIMARY KEY NOT NULL, name TEXT) WITHOUT ROWID"
  local Tag = perilune.record "tag"
  function Tag:will_insert() self.code = self.code or self.name:lower() end
  local tag = Tag{ name = "Urgent" }
  tag:insert()
  equal(Tag:find("urgent").name, "Urgent")
end)

test("an error in any hook undoes the write and all writes by hooks", function()
  db:execute "CREATE TABLE log (text TEXT)"
  for _, name in ipairs{ "will_save", "did_save", "will_insert", "did_insert", "validate", "around_insert", "around_save" } do
    db:execute "DROP TABLE IF EXISTS item"
    local Item = logging_class{}
    local mistake = { "mine" }
    Item[name] = function(_, a, b)
      local handle = name:find("around") and b or a
      handle:execute("INSERT INTO log VALUES (?)", name)
      if name:find("around") then a() end
      error(mistake)
    end
    local item = Item{ name = "a" }
    local ok, err = pcall(item.insert, item)
    equal({ ok, rawequal(err, mistake) }, { false, true })
    equal(statement_log(), {})
    equal(item.id, nil)
    equal(item:has_changes(), true)
  end
  equal(db:fetch_value "SELECT COUNT(*) FROM log", 0)
  equal(db:is_inside_transaction(), false)
end)

test("an error in a hook of update or delete undoes the write, but not an outer transaction", function()
  local Item = logging_class{}
  local item = Item{ name = "a", size = 1 }
  item:insert()
  for _, name in ipairs{ "will_update", "did_update", "around_update", "did_save" } do
    local former = Item[name]
    Item[name] = function(_, write)
      if name:find("around") then write() end
      error "no"
    end
    db:write(function(handle)
      handle:execute "INSERT INTO item (name) VALUES ('kept')"
      item.size = 2
      matches(fails(nil, item.update, item), "no")
      equal(handle:fetch_value("SELECT size FROM item WHERE id = ?", item.id), 1)
      equal(item:has_changes(), true)
    end)
    Item[name] = former
  end
  Item.did_delete = function() error "stay" end
  matches(fails(nil, item.delete, item), "stay")
  equal(db:fetch_value "SELECT COUNT(*) FROM item", 5)
end)

test("an around hook cannot hide the error of a failed write", function()
  db:execute "CREATE TABLE tag (name TEXT PRIMARY KEY NOT NULL)"
  local Tag = perilune.record "tag"
  local seen
  function Tag:around_insert(insert)
    local ok, err = pcall(insert)
    seen = not ok and err.kind
  end
  Tag{ name = "a" }:insert()
  equal(seen, false)
  local tag = Tag{ name = "a" }
  fails("constraint_primary_key", tag.insert, tag)
  equal(seen, "constraint_primary_key")
end)

test("an around hook must call its function once", function()
  local Item = logging_class{}
  function Item:around_insert() end
  local item = Item{ name = "a" }
  matches(fails("hook", item.insert, item), "around_insert")
  function Item:around_insert(insert)
    insert()
    insert()
  end
  matches(fails("hook", item.insert, item), "around_insert")
  equal(statement_log(), {})
  equal(item.id, nil)
  local kept
  function Item:around_insert(insert)
    kept = insert
    insert()
  end
  item:insert()
  matches(fails("hook", kept), "around_insert")
  equal(statement_log(), { "a" })
  function Item:around_delete() end
  matches(fails("hook", item.delete, item), "around_delete")
  function Item:around_save() end
  matches(fails("hook", item.save, item), "around_save")
end)

test("an around hook receives the database after its function", function()
  local Item = logging_class{}
  local counts = {}
  function Item:around_insert(insert, handle)
    counts[1] = handle:fetch_value "SELECT COUNT(*) FROM item"
    insert()
    counts[2] = handle:fetch_value "SELECT COUNT(*) FROM item"
    counts[3] = self.id
  end
  Item{ name = "a" }:insert()
  equal(counts, { 0, 1, 1 })
end)

test("a hook may write other records in the same transaction", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE history (id INTEGER PRIMARY KEY, item_id INTEGER)"
  local Item, History = perilune.record "item", perilune.record "history"
  function Item:did_insert(handle)
    History{ item_id = self.id }:insert(handle)
    History{ item_id = self.id }:insert()
  end
  Item{ name = "a" }:insert()
  equal(History:fetch_count(), 2)
end)

test("a hook can insert a missing row before the update", function()
  db:execute "CREATE TABLE setting (id INTEGER PRIMARY KEY CHECK (id = 1), flag BOOLEAN, theme TEXT)"
  local Setting = perilune.record "setting"
  function Setting:will_update(handle)
    if not self:exists(handle) then Setting{ id = 1, theme = "plain" }:insert(handle) end
  end
  Setting{ id = 1, flag = true, theme = "dark" }:update()
  equal(Setting:find(1).theme, "dark")
  fails("constraint_check", function() Setting{ id = 2 }:insert() end)
end)

test("a hook that endlessly writes its own record is stopped", function()
  local Item = logging_class{}
  function Item:will_insert() Item{ name = "again" }:insert() end
  local item = Item{ name = "a" }
  matches(fails("hook", item.insert, item), "hooks")
  equal(statement_log(), {})
  function Item:will_insert() end
  item:insert()
  equal(statement_log(), { "a" })
end)

test("extended classes inherit hooks and may replace them", function()
  local log = {}
  local Item = logging_class(log)
  local Special = Item:extend()
  Special{ name = "a" }:insert()
  equal(text(log), "will_save around_save { will_insert validate around_insert { } did_insert } did_save")
  clear(log)
  function Special:will_insert(handle)
    log[#log + 1] = "special"
    Item.will_insert(self, handle)
  end
  Special{ name = "b" }:insert()
  equal(text(log), "will_save around_save { special will_insert validate around_insert { } did_insert } did_save")
end)

test("hooks that are defined after a record was made are called", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"
  local Item = perilune.record "item"
  local item = Item{ name = "a" }
  item:insert()
  local count = 0
  function Item:will_update() count = count + 1 end
  item:update()
  equal(count, 1)
  Item.will_update = nil
  item:update()
  equal(count, 1)
end)

test("a method that replaces insert can call the original", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"
  local Item = perilune.record "item"
  local insert = Item.insert
  function Item:insert(...)
    self.name = self.name or "unnamed"
    return insert(self, ...)
  end
  local item = Item{}
  item:insert()
  equal(item.name, "unnamed")
end)

test("insert_all calls the hooks of each record", function()
  local log = {}
  local Item = logging_class(log)
  Item:insert_all{ Item{ name = "a" }, Item{ name = "b" } }
  local once = "will_save around_save { will_insert validate around_insert { } did_insert } did_save"
  equal(text(log), once .. " " .. once)
  function Item:will_insert() if self.name == "d" then error "no d" end end
  matches(fails(nil, Item.insert_all, Item, { Item{ name = "c" }, Item{ name = "d" } }), "no d")
  equal(statement_log(), { "a", "b" })
end)

test("writes without a record call no hooks", function()
  local log = {}
  local Item = logging_class(log)
  Item{ id = 1, name = "a" }:insert()
  clear(log)
  Item:delete_one(1)
  equal(text(log), "")
end)

test("only methods with names similar to a hook are refused", function()
  local Item = perilune.record "item"
  local err = fails("unknown_hook", function() function Item:will_isnert() end end)
  equal({ err.name, err.suggestion }, { "will_isnert", "will_insert" })
  equal(fails("unknown_hook", function() Item.did_saved = print end).suggestion, "did_save")
  function Item:did_win() return "yes" end
  function Item:with_update() return "yes" end
  function Item:will_rain() return "no" end
end)

test("a hook must be callable", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"
  local Item = perilune.record("item")
  local err = fails("argument", function() Item.will_insert = 5 end)
  matches(err.message, "`will_insert` of the record class item: expected a function, got the integer 5")
  fails("argument", function() Item.validate = {} end)
  Item.will_insert = setmetatable({}, { __call = function(_, item) item.name = "called" end })
  equal(Item{}:insert().name, "called")
  Item.will_insert = nil
  equal(Item{}:insert().name, nil)
end)

test("the hook names of other libraries are refused with the right name", function()
  db:execute "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"
  local Item = perilune.record "item"
  local names = {
    willSave = "will_save", didInsert = "did_insert", aroundUpdate = "around_update", before_save = "will_save",
    after_create = "did_insert", beforeDestroy = "will_delete", did_create = "did_insert",
  }
  for name, suggestion in pairs(names) do
    equal(fails("unknown_hook", function() Item[name] = print end).suggestion, suggestion)
  end
  for _, name in ipairs{ "before_noon", "afterwards", "didWin", "willSaveTheDay" } do Item[name] = print end
end)
