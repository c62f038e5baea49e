--- Drafts: records whose key the database generates.

local function make_reminder(options)
  db:execute[[
    CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE reminder (
      id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', is_completed BOOLEAN NOT NULL DEFAULT FALSE,
      list_id INTEGER REFERENCES list(id), due DATETIME)]]
  return perilune.record("reminder", options)
end

test("a draft has the fields of a record and does not need a key", function()
  local Reminder = make_reminder()
  local draft = Reminder.draft{ title = "Get groceries" }
  equal({ draft.title, draft.id, draft.due }, { "Get groceries" })
  draft.due = perilune.date "2026-03-01"
  draft.due = nil
  equal(fails("unknown_column", function() return draft.titel end).suggestion, "title")
  equal(fails("unknown_column", function() draft.titel = "x" end).suggestion, "title")
  equal(fails("unknown_column", Reminder.draft, { titel = "x" }).suggestion, "title")
  equal(Reminder.draft().title, nil)
  equal(Reminder:draft{ title = "x" }.title, "x")
  fails("argument", Reminder.draft, "Get groceries")
end)

test("inserting a draft returns a record with the key that the database generates", function()
  local Reminder = make_reminder()
  local draft = Reminder.draft{ title = "Get groceries" }
  local reminder = Reminder:insert(draft)
  equal({ reminder.id, reminder.title, reminder.is_completed, reminder:has_changes() }, { 1, "Get groceries", false, false })
  equal(draft.id, nil)
  equal(Reminder:insert(draft).id, 2)
  equal(Reminder:fetch_count(), 2)
end)

test("only the columns of the draft are written, including its key if it has one", function()
  local Reminder = make_reminder()
  local seen = {}
  db:add_function("seen", 1, function(text) seen[#seen + 1] = text return text end)
  db:execute "INSERT INTO list (id, name) VALUES (7, 'Home')"
  local list = perilune.record "list":find(7)
  local reminder = Reminder:insert(Reminder.draft{ list_id = list.id })
  equal({ reminder.title, reminder.list_id }, { "", 7 })
  local again = Reminder:insert(Reminder.draft{ id = 77, title = "x" })
  equal(again.id, 77)
  local others = Reminder:insert_all{ Reminder.draft{ id = 80, title = "x" }, Reminder.draft{ title = "y" } }
  equal({ others[1].id, others[2].id }, { 80, 81 })
end)

test("the draft of a record keeps its key, and upsert writes the same row", function()
  local Reminder = make_reminder()
  local reminder = Reminder:insert(Reminder.draft{ title = "a" })
  local draft = Reminder.draft(reminder)
  equal({ draft.id, draft.title }, { 1, "a" })
  draft.title = "b"
  local saved = Reminder:upsert(draft)
  equal({ saved.id, saved.title, saved:has_changes() }, { 1, "b", false })
  equal({ reminder.title, Reminder:fetch_count() }, { "a", 1 })
  fails("constraint_primary_key", Reminder.insert, Reminder, draft)
  draft.id = nil
  equal(Reminder:insert(draft).id, 2)
end)

test("upsert of a draft without a key inserts", function()
  local Reminder = make_reminder()
  local first = Reminder:upsert(Reminder.draft{ title = "a" })
  local second = Reminder:upsert(Reminder.draft{ title = "a" })
  equal({ first.id, second.id }, { 1, 2 })
end)

test("upsert of a draft reads its missing columns without changing them", function()
  local Reminder = make_reminder()
  local reminder = Reminder:insert(Reminder.draft{ title = "a", is_completed = true })
  local saved = Reminder:upsert(Reminder.draft{ id = reminder.id, title = "b" })
  equal({ saved.title, saved.is_completed }, { "b", true })
  saved:update()
  equal(db:fetch_one("SELECT is_completed FROM reminder").is_completed, true)
end)

test("inserting a draft can return a value, some columns or the whole row", function()
  local Reminder = make_reminder()
  equal(Reminder:insert(Reminder.draft{ title = "a" }, { returning = "id" }), 1)
  local row = Reminder:insert(Reminder.draft{ title = "b" }, { returning = { "id", "is_completed" } })
  equal({ row.id, row.is_completed, row[1] }, { 2, false, 2 })
  local reminder = Reminder:insert(Reminder.draft{ title = "c" }, { returning = "all" })
  equal({ reminder.id, reminder.title, reminder.is_completed }, { 3, "c", false })
end)

test("drafts accept a database and options", function()
  local Reminder = make_reminder()
  db:write(function(handle)
    equal(Reminder:insert(handle, Reminder.draft{ title = "a" }).id, 1)
    equal(Reminder:upsert(handle, Reminder.draft{ id = 1, title = "b" }, { update = "none" }), false)
  end)
  equal(Reminder:find(1).title, "a")
end)

test("a draft cannot be updated, deleted or saved", function()
  local Reminder = make_reminder()
  local draft = Reminder.draft{ id = 1, title = "a" }
  for _, verb in ipairs{ "update", "delete", "save", "refresh", "exists", "update_changes", "insert", "upsert" } do
    matches(fails("draft", function() return draft[verb](draft) end), "a draft")
  end
end)

test("only insert and upsert accept drafts", function()
  local Reminder = make_reminder()
  local draft = Reminder.draft(Reminder:insert(Reminder.draft{ title = "a" }))
  for _, verb in ipairs{ "update", "save", "delete" } do
    matches(fails("draft", Reminder[verb], Reminder, draft).message, "`" .. verb .. "`: a draft of `reminder` has no row")
  end
  equal(Reminder:fetch_count(), 1)
end)

test("drafts and records belong to their class", function()
  local Reminder = make_reminder()
  local List = perilune.record "list"
  fails("argument", List.insert, List, Reminder.draft{ title = "x" })
  fails("argument", List.upsert, List, Reminder.draft{ title = "x" })
  fails("argument", Reminder.draft, List{ name = "x" })
end)

test("hooks, conversions and validation apply to drafts", function()
  local Reminder = make_reminder()
  function Reminder:will_insert() self.title = self.title:upper() end
  function Reminder:validate() if self.title == "" then self:invalid("title", "must not be empty") end end
  local reminder = Reminder:insert(Reminder.draft{ title = "a", due = perilune.date "2026-03-01" })
  equal({ reminder.title, reminder.due }, { "A", perilune.date "2026-03-01" })
  equal(Reminder.draft{ title = "" }:validation_errors(), { { column = "title", message = "must not be empty" } })
  fails("validation", Reminder.insert, Reminder, Reminder.draft{ title = "" })
end)

test("a key that the database cannot generate is written from the draft", function()
  db:execute "CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT) WITHOUT ROWID"
  local Country = perilune.record "country"
  equal(Country:insert(Country.draft{ code = "FR", name = "France" }).code, "FR")
  equal(Country:upsert(Country.draft{ code = "FR", name = "la France" }).name, "la France")
  fails("constraint_not_null", Country.insert, Country, Country.draft{ name = "Nowhere" })
end)

test("a draft can be printed", function()
  local Reminder = make_reminder()
  matches(tostring(Reminder.draft{ title = "a" }), "draft of reminder")
end)

test("methods that do not write can be called on drafts", function()
  local Reminder = make_reminder()
  function Reminder:label() return "* " .. self.title end
  equal(Reminder.draft{ title = "a" }:label(), "* a")
end)

test("several drafts can be inserted at once", function()
  local Reminder = make_reminder()
  Reminder:insert_all{ Reminder.draft{ id = 9, title = "a" }, Reminder.draft{ title = "b", is_completed = true } }
  equal(db:fetch_values "SELECT id || title || is_completed FROM reminder", { "9a0", "10b1" })
end)
