--- The examples of the document on tables with primary keys, in its order: keys, drafts, find, update, upsert, delete, conflict clauses.

db:execute[[
  CREATE TABLE reminders_list (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '');
  CREATE TABLE reminders (
    id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', is_completed BOOLEAN NOT NULL DEFAULT 0,
    reminders_list_id INTEGER REFERENCES reminders_list(id));
  CREATE TABLE books (isbn TEXT NOT NULL, title TEXT);
  CREATE TABLE enrollments (course_id INTEGER, student_id INTEGER, grade TEXT, PRIMARY KEY (course_id, student_id)) WITHOUT ROWID;
  CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, uses INTEGER NOT NULL DEFAULT 1)]]

local List, Reminder = perilune.record "reminders_list", perilune.record "reminders"

-- Keys

test("the key comes from the schema, a column called id, or the class", function()
  equal(Reminder:insert{ title = "a" }.id, 1)
  db:execute "CREATE TABLE plain (id INTEGER, name TEXT); INSERT INTO plain VALUES (3, 'x')"
  equal(perilune.record "plain":find(3).name, "x")
  local Book = perilune.record("books", { primary_key = "isbn" })
  Book{ isbn = "978", title = "Typee" }:insert()
  local book = Book:find "978"
  book.title = "Omoo"
  book:update()
  equal(Book:find "978".title, "Omoo")
  -- Declaring a primary key in the class adds no constraint.
  Book{ isbn = "978" }:insert()
  equal(Book:fetch_count(), 2)
end)

test("a key may have several columns", function()
  local Enrollment = perilune.record "enrollments"
  Enrollment{ course_id = 1, student_id = 2, grade = "A" }:insert()
  equal(Enrollment:find{ course_id = 1, student_id = 2 }.grade, "A")
  equal(Enrollment:upsert{ course_id = 1, student_id = 2, grade = "B" }.grade, "B")
  equal(Enrollment:fetch_count(), 1)
end)

-- Drafts

test("a draft has all fields, and its key may be missing", function()
  local draft = Reminder.draft{ title = "Get groceries" }
  equal({ draft.title, draft.id }, { "Get groceries" })
  equal(tostring(Reminder:statement("insert", draft)), 'INSERT INTO "reminders" ("title") VALUES (\'Get groceries\')')
  equal(Reminder:insert(draft).id, 1)
end)

test("inserting a draft returns its key or all columns in table order", function()
  equal(Reminder:insert(Reminder.draft{ title = "a" }, { returning = "id" }), 1)
  local statement = Reminder:statement("insert", Reminder.draft{ title = "b" }, { returning = "all" })
  matches(statement:sql(), 'RETURNING "id", "title", "is_completed", "reminders_list_id"')
  local row = statement:fetch_one()
  equal({ row.id, row.title, row.is_completed }, { 2, "b", false })
end)

test("the draft of a record keeps the key, and a key can be set in advance", function()
  local list = List:insert(List.draft{ title = "Home" })
  local draft = Reminder.draft{ reminders_list_id = list.id }
  draft.title = "Get milk"
  local reminder = Reminder:insert(draft)
  local edited = Reminder.draft(reminder)
  edited.title = "Get oat milk"
  equal({ edited.id, Reminder:upsert(edited).title, Reminder:fetch_count() }, { reminder.id, "Get oat milk", 1 })
end)

-- Find, update, delete

test("filter_key returns a request that can be fetched, updated and deleted", function()
  Reminder:insert_all{ { title = "a" }, { title = "b" }, { title = "c" } }
  local one = Reminder:filter_key(2)
  matches(one:sql(), 'WHERE "reminders"."id" = ?')
  equal(one:fetch_one(db).title, "b")
  one:update_all(db, function(c) return { is_completed = ~c.is_completed } end)
  equal({ Reminder:find(2).is_completed, Reminder:find(1).is_completed }, { true, false })
  equal(tostring(one:statement("update_all", { is_completed = true })),
    'UPDATE "reminders" SET "is_completed" = 1 WHERE "reminders"."id" = 2')
  one:delete_all(db)
  equal(Reminder:fetch_count(), 2)
end)

test("several keys can be found at once", function()
  Reminder:insert_all{ { title = "a" }, { title = "b" }, { title = "c" } }
  equal({ Reminder:find{ 3, 1 }[1].title, Reminder:filter_key{ 1, 3 }:fetch_count() }, { "c", 2 })
  equal(fails("record_not_found", Reminder.find, Reminder, { 1, 9 }).key, 9)
end)

test("updating a record writes all columns but the key", function()
  local reminder = Reminder:insert{ title = "a" }
  reminder.is_completed = true
  equal(tostring(Reminder:statement("update", reminder)),
    'UPDATE "reminders" SET "title" = \'a\', "is_completed" = 1, "reminders_list_id" = NULL WHERE "id" = 1')
  Reminder:update(reminder)
  equal(db:fetch_value "SELECT is_completed FROM reminders", true)
end)

-- Upsert

test("upsert inserts a row or updates the one with its key", function()
  local first = Reminder:upsert(Reminder.draft{ title = "a" })
  Reminder:upsert(Reminder.draft{ id = first.id, title = "b" })
  Reminder:upsert(Reminder.draft{ id = 9, title = "c" })
  equal(db:fetch_values "SELECT id || title FROM reminders", { "1b", "9c" })
  matches(Reminder:statement("upsert", Reminder.draft{ id = 9, title = "c" }):sql(),
    'ON CONFLICT ("id") DO UPDATE SET "title" = excluded."title"')
  equal((Reminder:statement("upsert", Reminder.draft{ title = "d" }):sql()), 'INSERT INTO "reminders" ("title") VALUES (?)')
end)

-- Delete

test("a record is deleted by its key", function()
  local reminder = Reminder:insert{ title = "a" }
  Reminder:insert{ title = "a" }
  equal(tostring(Reminder:statement("delete", reminder)), 'DELETE FROM "reminders" WHERE "id" = 1')
  equal({ Reminder:delete(reminder), Reminder:fetch_count() }, { true, 1 })
end)

-- Conflicts

test("conflict clauses are options of writes", function()
  local Tag = perilune.record "tags"
  Tag:insert{ name = "x" }
  equal(Tag:insert(Tag.draft{ name = "x" }, { on_conflict = "ignore" }), false)
  equal((Tag:statement("insert", Tag.draft{ name = "x" }, { on_conflict = "ignore" }):sql()),
    'INSERT OR IGNORE INTO "tags" ("name") VALUES (?)')
  local other = Tag:insert{ name = "y" }
  other.name = "x"
  equal(Tag:update(other, { on_conflict = "replace" }).id, 2)
  equal(db:fetch_values "SELECT id || name FROM tags", { "2x" })
end)

test("an upsert can choose how to handle a conflict with another key", function()
  local Tag = perilune.record "tags"
  for _ = 1, 3 do Tag:upsert({ name = "x" }, { target = "name", update = { uses = Tag.c.uses + 1 } }) end
  equal(db:fetch_one("SELECT name, uses FROM tags"):to_table(), { name = "x", uses = 3 })
  Tag:upsert({ name = "x", uses = 0 }, { target = "name", where = { "tags.uses > ?", 5 } })
  equal(db:fetch_value "SELECT uses FROM tags", 3)
end)

test("names are quoted, and booleans are stored as 0 and 1", function()
  db:execute 'CREATE TABLE "order" ("group" INTEGER PRIMARY KEY, "by" BOOLEAN)'
  local Order = perilune.record "order"
  equal(tostring(Order:statement("insert", { by = true })), 'INSERT INTO "order" ("by") VALUES (1)')
  equal(Order:insert{ by = true }.by, true)
end)
