-- Reminders: drafts, upserts, and the results of writes.
--
--     perilune run reminders.lua

db:create_table("reminder_list", function(t)
  t:auto_incremented_primary_key("id")
  t:column("name", "text"):not_null():unique()
end)
db:create_table("reminder", function(t)
  t:auto_incremented_primary_key("id")
  t:belongs_to("list", { table = "reminder_list", on_delete = "cascade" }):not_null()
  t:column("title", "text"):not_null()
  t:column("priority", "text")
  t:column("is_completed", "boolean"):not_null():default(false)
  t:column("due", "datetime")
  t:column("tags", "text")
end)

-- The fields of a record have types. Dates are recognized by their declared type; other types are set by the record class.
local List = perilune.record("reminder_list")
local Reminder = perilune.record("reminder", { types = { priority = { "low", "medium", "high" }, tags = "json" } })

function Reminder:validate()
  if not self.title or self.title == "" then self:invalid("title", "must not be empty") end
end

-- A draft is a form that is still being filled in: it has the fields of a reminder, but no key, which the database will choose.
local errands = List:insert(List:draft{ name = "Errands" })
local draft = Reminder:draft{ list_id = errands.id, title = "Get groceries" }
draft.due = perilune.date("2026-03-01 18:00")
draft.tags = { "shop", "weekly" }

local groceries = Reminder:insert(draft)
print("Inserted:", groceries.id, groceries.title, groceries.is_completed, groceries.due)

-- Inserting it again creates another reminder. A write can return a value, some columns or the whole row.
print("Again:", Reminder:insert(draft, { returning = "id" }))
local row = Reminder:insert(Reminder:draft{ list_id = errands.id, title = "Call Anna" }, { returning = { "id", "is_completed" } })
print("And another:", row.id, row.is_completed)

-- The draft of an existing reminder keeps its key, so that a form can edit the reminder. An upsert inserts a draft without a key,
-- and updates the row of a draft with a key.
local edited = Reminder:draft(groceries)
edited.title, edited.priority = "Get milk", "high"
local saved = Reminder:upsert(edited)
print("Edited:", saved.id, saved.title, saved.priority, table.concat(saved.tags, ","))
print("New:", Reminder:upsert(Reminder:draft{ list_id = errands.id, title = "Water plants" }).id)

-- Another unique column can replace the key: the list with this name is found or created.
local same = List{ name = "Errands" }
same:upsert()
print("The same list:", same.id == errands.id)

-- Errors in a form can be reported before anything is written.
for _, mistake in ipairs(Reminder:draft{ title = "" }:validation_errors()) do
  print("Mistake:", mistake.column, mistake.message)
end

-- A reminder tracks its changes since it last matched its row.
saved.is_completed, saved.tags[2] = true, "today"
for column, change in pairs(saved:changes()) do
  if column == "is_completed" then print("Change:", column, change.old, change.new) end
end
saved:update_changes()
print("Stored:", db:fetch_value("SELECT tags FROM reminder WHERE id = ?", saved.id))

-- A conflict policy determines what happens to an existing row.
print("Ignored:", List{ name = "Errands" }:insert{ on_conflict = "ignore" })

print("Deleted:", saved:delete{ returning = "title" })
for _, reminder in ipairs(Reminder:fetch_all("SELECT * FROM reminder ORDER BY id")) do
  print(reminder.id, reminder.title, reminder.due and reminder.due:format("%Y-%m-%d") or "some day")
end
