-- Moves old rows of a table to another one, and prints how many are left.
local sqlite = require "lsqlite3"
local db = sqlite.open_memory()
local function check(code) if code ~= sqlite.OK and code ~= sqlite.DONE then error(db:errmsg()) end end
check(db:exec[[
  CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT NOT NULL, text TEXT NOT NULL);
  CREATE TABLE old_event (id INTEGER PRIMARY KEY, day TEXT NOT NULL, text TEXT NOT NULL)]])
local function run(statement, ...)
  statement:bind_values(...)
  check(statement:step())
  statement:reset()
end
check(db:exec("BEGIN"))
local insert = db:prepare("INSERT INTO event VALUES (?, ?, ?)")
for id = 1, 10000 do run(insert, id, ("2026-%02d-%02d"):format(id % 12 + 1, id % 28 + 1), "event " .. id) end
check(db:exec("COMMIT"))
check(db:exec("BEGIN"))
local limit = "2026-07-01"
run(db:prepare("INSERT INTO old_event SELECT * FROM event WHERE day < ?"), limit)
run(db:prepare("DELETE FROM event WHERE day < ?"), limit)
check(db:exec("COMMIT"))
local function count(name) for number in db:urows("SELECT count(*) FROM " .. name) do return number end end
print(count("event"), count("old_event"))
for event in db:nrows("SELECT * FROM event ORDER BY day, id LIMIT 5") do print(event.id, event.day, event.text) end
