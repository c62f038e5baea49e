--- Conflict policies.

local function make_player(options)
  db:execute "CREATE TABLE player (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT, number INTEGER)"
  return perilune.record("player", options)
end

test("an ignored insert returns that fact and leaves the record without a key", function()
  local Player = make_player()
  Player{ id = 41, email = "b@x" }:insert()
  Player{ email = "a@x" }:insert()
  local player = Player{ email = "a@x", name = "Ann" }
  equal(player:insert{ on_conflict = "ignore" }, false)
  equal({ player.id, player:has_changes() }, { nil, true })
  player.email = "c@x"
  equal(player:insert{ on_conflict = "ignore" } and true, true)
  equal(player.id, 43)
  equal(Player:insert(Player.draft{ email = "a@x" }, { on_conflict = "ignore" }), false)
end)

test("the policy replace deletes the conflicting rows", function()
  local Player = make_player()
  Player{ id = 1, email = "a@x", name = "Ann" }:insert()
  local player = Player{ email = "a@x", name = "Bea" }
  player:insert{ on_conflict = "replace" }
  equal(player.id, 2)
  equal(db:fetch_values "SELECT name FROM player", { "Bea" })
end)

test("a REPLACE clause in the schema deletes conflicting rows", function()
  db:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT REPLACE, age INTEGER)"
  local Person = perilune.record "person"
  local first, second = Person{ name = "Arthur", age = 1 }, Person{ name = "Arthur", age = 2 }
  first:insert()
  second:insert()
  equal({ first.id, second.id, Person:fetch_count() }, { 1, 2, 1 })
end)

test("an insert that an IGNORE clause in the schema ignores is reported", function()
  db:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE)"
  local Person = perilune.record "person"
  Person{ id = 5, name = "Arthur" }:insert()
  local again = Person{ name = "Arthur" }
  equal(again:insert(), false)
  equal(again.id, nil)
end)

test("the policies abort and fail raise an error, and fail keeps rows that were already written", function()
  local Player = make_player()
  Player{ email = "a@x" }:insert()
  fails("constraint_unique", function() Player{ email = "a@x" }:insert{ on_conflict = "abort" } end)
  fails("constraint_unique", function() Player{ email = "a@x" }:insert{ on_conflict = "fail" } end)
  equal(Player:fetch_count(), 1)
end)

test("the policy rollback ends the transaction, and its block raises an error", function()
  local Player = make_player()
  Player{ email = "a@x" }:insert()
  local later
  local err = fails(nil, db.write, db, function(handle)
    handle:execute "INSERT INTO player (email) VALUES ('gone')"
    fails("constraint_unique", function() Player{ email = "a@x" }:insert(handle, { on_conflict = "rollback" }) end)
    later = fails("abort", handle.execute, handle, "INSERT INTO player (email) VALUES ('later')")
  end)
  matches(tostring(later), "")
  equal(err ~= nil, true)
  equal(db:fetch_values "SELECT email FROM player", { "a@x" })
  equal(db:is_inside_transaction(), false)
  fails("constraint_unique", function() Player{ email = "a@x" }:insert{ on_conflict = "rollback" } end)
  Player{ email = "b@x" }:insert()
  equal(Player:fetch_count(), 2)
end)

test("the policy rollback raises an error in a record with hooks", function()
  local Player = make_player()
  function Player:did_save() end
  Player{ email = "a@x" }:insert()
  local player = Player{ email = "a@x" }
  fails("constraint_unique", player.insert, player, { on_conflict = "rollback" })
  fails(nil, db.write, db, function(handle)
    handle:execute "INSERT INTO player (email) VALUES ('gone')"
    player:insert(handle, { on_conflict = "rollback" })
  end)
  equal(db:fetch_values "SELECT email FROM player", { "a@x" })
  player.email = "b@x"
  player:insert()
  equal(Player:fetch_count(), 2)
end)

test("an update can have a conflict policy", function()
  local Player = make_player()
  Player{ email = "a@x" }:insert()
  local player = Player{ email = "b@x", name = "Bea" }
  player:insert()
  player.email = "a@x"
  equal(player:update{ on_conflict = "ignore" }, false)
  equal(player:has_changes(), true)
  equal(db:fetch_values "SELECT email FROM player", { "a@x", "b@x" })
  player:update{ on_conflict = "replace" }
  equal(db:fetch_values "SELECT name FROM player", { "Bea" })
  fails("record_not_found", function() Player{ id = 99 }:update{ on_conflict = "ignore" } end)
end)

test("save applies a conflict policy to inserts and updates", function()
  local Player = make_player()
  Player{ email = "a@x" }:insert()
  local player = Player{ email = "a@x" }
  equal(player:save{ on_conflict = "ignore" }, false)
  player = Player{ id = 9, email = "a@x" }
  player:save{ on_conflict = "replace" }
  equal(db:fetch_values "SELECT id FROM player", { 9 })
end)

test("a call can override the conflict policy of a class", function()
  local Player = make_player{ on_conflict = "ignore" }
  Player{ email = "a@x" }:insert()
  local player = Player{ email = "a@x" }
  equal(player:insert(), false)
  fails("constraint_unique", player.insert, player, { on_conflict = "abort" })
  player:insert{ on_conflict = "replace" }
  equal(player.id, 2)
end)

test("a class can have separate conflict policies for inserts and updates", function()
  local Player = make_player{ on_conflict = { insert = "replace", update = "ignore" } }
  Player{ email = "a@x" }:insert()
  Player{ email = "a@x", name = "new" }:insert()
  equal(db:fetch_values "SELECT name FROM player", { "new" })
  local other = Player{ email = "b@x" }
  other:insert()
  other.email = "a@x"
  equal(other:update(), false)
  equal(other:update_changes(), false)
end)

test("did hooks are not called for ignored writes", function()
  local Player = make_player()
  local count = 0
  function Player:did_insert() count = count + 1 end
  function Player:did_save() count = count + 1 end
  Player{ email = "a@x" }:insert()
  Player{ email = "a@x" }:insert{ on_conflict = "ignore" }
  equal(count, 2)
end)

test("an invalid conflict policy is refused", function()
  local Player = make_player()
  local player = Player{ email = "a@x" }
  matches(fails("argument", player.insert, player, { on_conflict = "ignroe" }), "replace")
  fails("argument", player.insert, player, { on_conflict = 5 })
  fails("unknown_option", player.insert, player, { or_ignore = true })
  fails("argument", perilune.record, "player", { on_conflict = "never" })
  fails("argument", perilune.record, "player", { on_conflict = { insert = "never" } })
  fails("unknown_option", perilune.record, "player", { on_conflict = { delete = "ignore" } })
end)

test("insert_all can have a conflict policy", function()
  local Player = make_player()
  Player:insert_all({ { email = "a@x" }, { email = "a@x" }, { email = "b@x" } }, { on_conflict = "ignore" })
  equal(db:fetch_values "SELECT email FROM player ORDER BY email", { "a@x", "b@x" })
  Player:insert_all({ { email = "a@x", name = "new" } }, { on_conflict = "replace" })
  equal(db:fetch_value "SELECT name FROM player WHERE email = 'a@x'", "new")
end)

test("after an insert, a record has the default that REPLACE stores instead of NULL", function()
  db:execute "CREATE TABLE flag (id INTEGER PRIMARY KEY, is_on BOOLEAN NOT NULL DEFAULT 1, name TEXT)"
  local Flag = perilune.record "flag"
  local flag = Flag{ id = 1, is_on = perilune.null }
  flag:insert{ on_conflict = "replace" }
  equal({ flag.is_on, flag:has_changes() }, { true, false })
  flag.is_on, flag.name = nil, "b"
  flag:update{ on_conflict = "replace" }
  equal({ flag.is_on, Flag:find(1).is_on, flag:has_changes() }, { true, true, false })
  flag:update_changes({ is_on = perilune.null }, { on_conflict = "replace" })
  equal(flag.is_on, true)
  equal(Flag:insert_all({ { id = 2, is_on = perilune.null } }, { on_conflict = "replace" })[1].is_on, true)
end)
