--- Statements for writes, which are built, inspected and run later.

db:execute[[
  CREATE TABLE reminder (
    id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', is_completed BOOLEAN NOT NULL DEFAULT FALSE, due DATETIME,
    picture BLOB, tags TEXT, size INTEGER GENERATED ALWAYS AS (length(title)))]]

local Reminder = perilune.record("reminder", { types = { tags = "json" } })

local function rows() return db:fetch_values "SELECT id || title || is_completed FROM reminder ORDER BY id" end

test("an insert statement consists of readable SQL and arguments", function()
  local statement = Reminder:statement("insert", Reminder.draft{ title = "It's me", is_completed = true })
  local sql, arguments = statement:sql()
  equal(sql, 'INSERT INTO "reminder" ("title", "is_completed") VALUES (?, ?)')
  equal(arguments, { "It's me", true, n = 2 })
  equal(tostring(statement), 'INSERT INTO "reminder" ("title", "is_completed") VALUES (\'It\'\'s me\', 1)')
  equal(rows(), {})
  equal(statement:execute().inserted_rowid, 1)
  equal(statement:execute(db).changed_rows, 1)
  equal(rows(), { "1It's me1", "2It's me1" })
end)

test("an insert statement can return values", function()
  local statement = Reminder:statement("insert", { title = "a" }, { returning = "id" })
  equal(tostring(statement), 'INSERT INTO "reminder" ("title") VALUES (\'a\') RETURNING "id"')
  equal({ statement:fetch_value(), statement:fetch_value() }, { 1, 2 })
  local all = Reminder:statement("insert", { id = 7, title = "b" }, { returning = "all", on_conflict = "replace" })
  equal((all:sql()), 'INSERT OR REPLACE INTO "reminder" ("id", "title") VALUES (?, ?)'
    .. ' RETURNING "id", "title", "is_completed", "due", "picture", "tags", "size"')
  equal({ all:fetch_one().size, #all:fetch_all() }, { 1, 1 })
  equal((Reminder:statement("insert", {}):sql()), 'INSERT INTO "reminder" DEFAULT VALUES')
end)

test("a statement writes values in the form that records write", function()
  Reminder:statement("insert", {
    id = 1, due = perilune.date "2026-03-01", picture = "\0\xff", tags = { "a" }, title = "x",
  }):execute()
  local reminder = Reminder:find(1)
  equal({ reminder.due, reminder.picture, reminder.tags }, { perilune.date "2026-03-01", "\0\xff", { "a" } })
  equal(db:fetch_value "SELECT typeof(picture) || tags FROM reminder", "blob[\"a\"]")
  equal(fails("conversion", Reminder.statement, Reminder, "insert", { due = "soon" }).column, "due")
  for _, value in ipairs{ print, 0 / 0, {} } do
    equal(fails("conversion", Reminder.statement, Reminder, "insert", { title = value }).column, "title")
  end
end)

test("an update statement sets all columns except the key, and a delete statement uses the key", function()
  local reminder = Reminder:insert{ title = "a" }
  reminder.title = "b"
  local update = Reminder:statement("update", reminder, { returning = { "title", "size" } })
  equal(tostring(update), 'UPDATE "reminder" SET "title" = \'b\', "is_completed" = 0, "due" = NULL, "picture" = NULL, "tags" = NULL '
    .. 'WHERE "id" = 1 RETURNING "title", "size"')
  equal(update:fetch_one().title, "b")
  local delete = Reminder:statement("delete", reminder)
  equal(tostring(delete), 'DELETE FROM "reminder" WHERE "id" = 1')
  equal({ delete:execute().changed_rows, delete:execute().changed_rows }, { 1, 0 })
end)

test("an upsert statement uses the key as its target and requires a key", function()
  local statement = Reminder:statement("upsert", Reminder.draft{ id = 3, title = "a" })
  matches(statement:sql(), 'INSERT INTO "reminder" ("id", "title") VALUES (?, ?) ON CONFLICT ("id") DO UPDATE SET '
    .. '"title" = excluded."title" RETURNING')
  equal(statement:fetch_one().id, 3)
  equal((Reminder:statement("upsert", Reminder.draft{ title = "a" }):sql()), 'INSERT INTO "reminder" ("title") VALUES (?)')
  local counted = Reminder:statement("upsert", { id = 3, title = "b" }, { update = { title = "c" }, where = { "size < ?", 9 } })
  equal(select(2, counted:sql()), { 3, "b", "c", 9, n = 4 })
  counted:execute()
  equal(rows(), { "3c0" })
end)

test("update_all and delete_all of a request can be returned as statements", function()
  for _, title in ipairs{ "a", "b", "c" } do Reminder:insert{ title = title } end
  local one = Reminder:filter_key(2)
  local toggle = one:statement("update_all", function(c) return { is_completed = ~c.is_completed } end)
  equal(tostring(toggle), 'UPDATE "reminder" SET "is_completed" = NOT "reminder"."is_completed" WHERE "reminder"."id" = 2')
  toggle:execute()
  toggle:execute()
  toggle:execute()
  equal(rows(), { "1a0", "2b1", "3c0" })
  local delete = one:statement("delete_all", { returning = "title" })
  equal(delete:fetch_value(), "b")
  equal(tostring(Reminder:statement("delete_all")), 'DELETE FROM "reminder"')
  equal(rows(), { "1a0", "3c0" })
end)

test("a statement keeps its values and runs on any database with the table", function()
  local other = perilune.queue(":memory:")
  other:execute "CREATE TABLE reminder (id INTEGER PRIMARY KEY, title TEXT)"
  local draft = Reminder.draft{ title = "a" }
  local statement = Reminder:statement("insert", draft)
  draft.title = "b"
  select(2, statement:sql())[1] = "c"
  other:write(function(handle) statement:execute(handle) statement:execute() end)
  equal(other:fetch_values "SELECT title FROM reminder", { "a", "a" })
  equal(rows(), {})
end)

test("invalid arguments of `statement` are refused", function()
  equal(fails("unknown_operation", Reminder.statement, Reminder, "insrt", {}).suggestion, "insert")
  matches(fails("unknown_operation", function() Reminder:all():statement("delete") end).message, "delete_all")
  fails("argument", Reminder.statement, Reminder)
  fails("argument", Reminder.statement, Reminder, {})
  matches(fails("argument", Reminder.statement, Reminder, "save", {}).message, "two statements")
  equal(fails("unknown_column", Reminder.statement, Reminder, "insert", { titel = "a" }).suggestion, "title")
  fails("unknown_option", Reminder.statement, Reminder, "delete", { id = 1 }, { on_conflict = "ignore" })
  matches(fails("argument", Reminder.statement, Reminder, "update", { title = "a" }).message, "no value for the key (id)")
  fails("draft", Reminder.statement, Reminder, "update", Reminder.draft{ id = 1 })
  local statement = Reminder:statement("insert", { title = "a" })
  fails("readonly", function() statement.x = 1 end)
  fails("argument", statement.execute, statement, "db")
  fails("argument", statement.execute, Reminder)
end)
