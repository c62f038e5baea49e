--- update_all and delete_all.

db:execute[[
  CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER, team TEXT, doubled INTEGER AS (score * 2));
  INSERT INTO player (id, name, score, team) VALUES (1, 'a', 10, 'x'), (2, 'b', 20, 'x'), (3, 'c', 30, 'y')]]

local Player = perilune.record("player")
local c = Player.c

local function scores() return Player:order("id"):select("score"):fetch_optional_values() end

test("update_all writes values and expressions", function()
  equal(Player:filter{ team = "x" }:update_all{ score = c.score + 5, team = "z" }.changed_rows, 2)
  equal(scores(), { 15, 25, 30 })
  equal(Player:filter{ team = "z" }:fetch_count(), 2)
  Player:update_all{ score = perilune.null }
  equal(scores(), { perilune.null, perilune.null, perilune.null })
  Player:filter_key(2):update_all(function(columns) return { score = columns.id * 100 } end)
  equal(scores(), { perilune.null, 200, perilune.null })
end)

test("update_all respects filters, orders and limits", function()
  Player:order(c.score:desc()):limit(1):update_all{ score = 0 }
  equal(scores(), { 10, 20, 0 })
  Player:filter(c.score:gt(Player:select(c.score:average()))):update_all{ team = "best" }
  equal(Player:filter{ team = "best" }:fetch_count(), 1 + 0)
end)

test("update_all returns the requested values", function()
  local records = Player:filter{ team = "x" }:update_all({ score = 1 }, { returning = true })
  equal(#records, 2)
  equal(records[1].name, "a")
  records[1]:delete()
  local rows = Player:update_all({ score = c.score + 1 }, { returning = { "id", c.score:as("now") } })
  equal(#rows, 2)
  equal(rows[1].now, 2)
end)

test("update_all follows its conflict policy", function()
  fails("constraint_unique", function() Player:filter{ team = "x" }:update_all{ name = "c" } end)
  equal(Player:filter{ team = "x" }:update_all({ name = "c" }, { on_conflict = "ignore" }).changed_rows, 0)
  Player:filter_key(1):update_all({ name = "c" }, { on_conflict = "replace" })
  equal(Player:all():fetch_count(), 2)
  fails("argument", function() Player:update_all({ name = "c" }, { on_conflict = "ignroe" }) end)
  fails("unknown_option", function() Player:update_all({ name = "c" }, { onconflict = "ignore" }) end)
end)

test("delete_all deletes rows and can return them", function()
  equal(Player:filter(c.score:gt(15)):delete_all().changed_rows, 2)
  equal(scores(), { 10 })
  local gone = Player:filter_key(1):delete_all{ returning = true }
  equal(gone[1].name, "a")
  equal(Player:all():fetch_count(), 0)
end)

test("invalid arguments of update_all and delete_all are refused", function()
  fails("argument", function() Player:filter_key(1):update_all{} end)
  fails("argument", function() Player:filter_key(1):update_all() end)
  fails("unknown_column", function() Player:filter_key(1):update_all{ scroe = 1 } end)
  matches(fails("argument", function() Player:filter_key(1):update_all{ doubled = 1 } end), "generated")
  fails("argument", function() Player:group("team"):delete_all() end)
  fails("readonly", function() db:read(function() Player:filter_key(1):update_all{ score = 1 } end) end)
end)

test("update_all checks and converts values like an insert", function()
  db:execute[[
    CREATE TABLE task (id INTEGER PRIMARY KEY, day DATE, is_done BOOLEAN, mood TEXT, note TEXT);
    INSERT INTO task (id) VALUES (1), (2)]]
  local Mood = perilune.enum{ good = "g", bad = "b" }
  local Task = perilune.record("task", { types = { mood = Mood, note = "json" } })
  Task:filter_key(1):update_all{ day = "2024-01-08", is_done = true, mood = Mood.bad, note = { a = 1 } }
  equal({ db:fetch_one("SELECT day, is_done + 0, mood, note FROM task WHERE id = 1"):unpack() }, { "2024-01-08", 1, "b", '{"a":1}' })
  equal(Task:find(1).day, perilune.date "2024-01-08")
  for column, wrong in pairs{ day = "soon", is_done = "yes", mood = "b" } do
    equal(fails("conversion", function() Task:update_all{ [column] = wrong } end).column, column)
  end
  Task:filter_key(2):update_all{ day = perilune.sql("'today'"), mood = perilune.null }
  equal(db:fetch_value "SELECT day FROM task WHERE id = 2", "today")
end)
