--- Records after a rollback. A record is a value that does not follow its row, so it keeps the changes of the undone write.

local function make_person()
  db:execute "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
  return perilune.record "person"
end

test("after a rolled back insert, a record keeps its key and can be inserted or saved again", function()
  local Person = make_person()
  local ada, bob = Person{ name = "Ada" }, Person{ name = "Bob" }
  fails("stop", db.in_transaction, db, function()
    ada:insert()
    bob:insert()
    error{ kind = "stop" }
  end)
  equal({ ada.id, bob.id, ada:exists(), Person:fetch_count() }, { 1, 2, false, 0 })
  equal(fails("record_not_found", ada.update, ada).key, 1)
  ada:insert()
  bob:save()
  equal(db:fetch_values "SELECT id || name FROM person", { "1Ada", "2Bob" })
end)

test("after a rolled back update, a record keeps its fields until it is refreshed", function()
  local Person = make_person()
  local ada = Person{ name = "Ada" }:insert()
  db:in_transaction(function()
    ada:update_changes{ name = "A." }
    return "rollback"
  end)
  equal({ ada.name, Person:find(1).name }, { "A.", "Ada" })
  -- The record considers its values stored: update writes all columns, and update_changes finds no changes.
  equal(ada:update_changes(), false)
  ada:update()
  equal(Person:find(1).name, "A.")
  db:in_savepoint(function()
    ada:update_changes{ name = "B." }
    return "rollback"
  end)
  equal(ada:refresh().name, "A.")
  equal(ada:update_changes{ name = "B." }, true)
end)

test("a record can be written again after its deletion was rolled back", function()
  local Person = make_person()
  local ada = Person{ name = "Ada" }:insert()
  db:in_transaction(function()
    ada:delete()
    return "rollback"
  end)
  equal({ ada:exists(), ada:has_changes() }, { true, true })
  equal(ada:refresh():has_changes(), false)
end)

test("a failed write leaves the record unchanged", function()
  local Person = make_person()
  local ada = Person{ id = 1, name = "Ada" }:insert()
  local double = Person{ id = 1, name = "Bob" }
  fails("constraint_primary_key", double.insert, double)
  equal(double:has_changes(), true)
  ada.name = nil
  fails("constraint_not_null", ada.update, ada)
  equal(ada:changes(), { name = { old = "Ada" } })
end)
