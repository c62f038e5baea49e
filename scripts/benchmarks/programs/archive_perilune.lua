-- Moves old rows of a table to another one, and prints how many are left.
db:execute[[
  CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT NOT NULL, text TEXT NOT NULL);
  CREATE TABLE old_event (id INTEGER PRIMARY KEY, day TEXT NOT NULL, text TEXT NOT NULL)]]
local Event = perilune.record("event")
db:write(function()
  for id = 1, 10000 do Event:insert{ id = id, day = ("2026-%02d-%02d"):format(id % 12 + 1, id % 28 + 1), text = "event " .. id } end
end)
db:write(function(db)
  local limit = "2026-07-01"
  db:execute("INSERT INTO old_event SELECT * FROM event WHERE day < ?", limit)
  db:execute("DELETE FROM event WHERE day < ?", limit)
end)
print(Event:fetch_count(), db:fetch_value("SELECT count(*) FROM old_event"))
for event in Event:order("day", "id"):limit(5):rows() do print(event.id, event.day, event.text) end
