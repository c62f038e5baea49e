--- Classes that override insert, update and delete: all other methods call the overrides.

local log

--- Creates a class that validates its records in overrides, which call the base class.
local function members(options)
  log = {}
  db:execute[[
    CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT, email TEXT UNIQUE, kind TEXT DEFAULT 'new', seen BOOLEAN);
    INSERT INTO member (id, name, email) VALUES (1, 'Ada', 'ada@x')]]
  local Base = perilune.record("member", options)
  local Member = Base:extend()
  local function check(self)
    if (self.name or "") == "" then error("invalid", 0) end
  end
  function Member:insert(...)
    log[#log + 1] = "insert"
    check(self)
    self.kind = self.kind or "given"
    return Base.insert(self, ...)
  end
  function Member:update(...)
    log[#log + 1] = "update"
    check(self)
    self.kind = "changed"
    return Base.update(self, ...)
  end
  function Member:delete(...)
    log[#log + 1] = "delete"
    return Base.delete(self, ...)
  end
  return Member, Base
end

local function logged()
  local text = table.concat(log, " ")
  log = {}
  return text
end

local function kinds() return db:fetch_value "SELECT group_concat(kind) FROM (SELECT kind FROM member ORDER BY id)" end

test("save calls the class's update, then its insert", function()
  local Member = members()
  Member{ name = "Bob" }:save()
  equal(logged(), "insert")
  Member{ id = 7, name = "Cy" }:save()
  equal(logged(), "update insert")
  local ada = Member:find(1)
  ada.name = "A"
  equal(ada:save() == ada, true)
  equal(logged(), "update")
  equal(kinds(), "changed,given,changed")
end)

test("validation in overridden methods applies to every method that writes", function()
  local Member = members()
  local ada = Member:find(1)
  ada.name = ""
  for _, write in ipairs{
    function() Member{ name = "" }:insert() end,
    function() Member:insert{ name = "" } end,
    function() Member:insert(db, { name = "" }) end,
    function() Member:insert(Member.draft{ name = "" }) end,
    function() Member{ name = "" }:save() end,
    function() Member:save{ id = 1, name = "" } end,
    function() Member{ name = "" }:upsert() end,
    function() Member:upsert{ id = 1, name = "" } end,
    function() Member:upsert({ email = "ada@x", name = "" }, { target = "email" }) end,
    function() Member:insert_all{ { name = "a" }, { name = "" } } end,
    function() Member:insert_all(db, { Member{ name = "" } }, { on_conflict = "ignore" }) end,
    function() Member{ name = "" }:inserted() end,
    function() ada:update() end,
    function() ada:save() end,
    function() ada:update_changes() end,
    function() Member:find(1):update_changes{ name = "" } end,
    function() Member:find(1):update_changes(function(member) member.name = "" end) end,
    function() Member:update{ id = 1, name = "" } end,
  } do
    matches(fails(nil, write), "invalid")
  end
  equal(db:fetch_value "SELECT group_concat(id || name) FROM member", "1Ada")
end)

test("update_changes writes changes that the class's own update has made", function()
  local Member = members()
  local ada = Member:find(1)
  equal(ada:update_changes{ name = "A" }, true)
  equal({ logged(), kinds() }, { "update", "changed" })
  equal({ ada:update_changes{ name = "A" }, logged() }, { false, "" })
  equal(ada:update_changes({ name = "B" }, { returning = "kind" }), "changed")
  equal(ada:update_changes({ name = "C" }, { returning = "seen" }), nil)
end)

test("a class with overridden methods upserts with one statement", function()
  local Member = members()
  local found = Member:upsert({ email = "ada@x", name = "A" }, { target = "email" })
  equal({ found.id, logged(), kinds() }, { 1, "update", "changed" })
  local made = Member:upsert{ name = "Bob" }
  equal({ made.id, logged(), made.kind }, { 2, "insert", "given" })
  equal(Member:upsert({ id = 1, name = "Z" }, { update = "none" }), false)
  equal(Member:find(1).name, "A")
end)

test("insert_all calls an overridden insert for each row, all or nothing", function()
  local Member = members()
  equal(#Member:insert_all{ { name = "a" }, { name = "b" } }, 2)
  equal({ logged(), kinds() }, { "insert insert", "new,given,given" })
  fails(nil, Member.insert_all, Member, { { name = "c" }, { name = "" } })
  equal(Member:fetch_count(), 3)
  equal(Member:insert_all({ { name = "d" } }, { returning = "kind" }), { "given" })
end)

test("a list of a base class inserts records of extended classes with their methods and hooks", function()
  local Member, Base = members()
  local list = {}
  for index = 1, 40 do list[index] = { name = "n" .. index } end
  list[20] = Member{ name = "x" }
  equal(#Base:insert_all(list), 40)
  equal(logged(), "insert")
  list[20] = Member{ name = "" }
  matches(fails(nil, Base.insert_all, Base, list), "invalid")
  equal(Base:fetch_count(), 41)
end)

test("delete_one calls the class's own delete", function()
  local Member = members()
  equal({ Member:delete_one(1), logged(), Member:fetch_count() }, { true, "delete", 0 })
  equal({ Member:delete_one(1), logged() }, { false, "" })
end)

test("an override that does not pass on its arguments still writes the record", function()
  local _, Base = members()
  local Member = Base:extend()
  function Member:insert() Base.insert(self) end
  function Member:update() Base.update(self) end
  Member:upsert{ id = 1, name = "A" }
  Member:upsert{ id = 2, name = "B" }
  Member:find(2):update_changes{ name = "C" }
  Member{ id = 3, name = "D" }:save()
  equal(db:fetch_value "SELECT group_concat(id || name) FROM member", "1A,2C,3D")
end)

test("an override may prevent a write", function()
  local _, Base = members()
  local Member = Base:extend()
  function Member:insert(...) return self.name ~= "no" and Base.insert(self, ...) end
  equal(Member{ name = "no" }:save(), false)
  equal(#Member:insert_all{ { name = "no" }, { name = "yes" } }, 1)
end)

test("with overridden methods, hooks are called once", function()
  local Member = members()
  local calls = {}
  function Member:will_insert() calls[#calls + 1] = "will_insert" end
  function Member:did_update() calls[#calls + 1] = "did_update" end
  Member{ name = "a" }:save()
  Member:find(1):update_changes{ name = "b" }
  equal(calls, { "will_insert", "did_update" })
  equal(logged(), "insert update")
end)

test("an original method that is stored in a local variable can be called", function()
  local Base = select(2, members())
  local insert, count = Base.insert, 0
  function Base:insert(...)
    count = count + 1
    return insert(self, ...)
  end
  Base{ name = "a" }:save()
  Base:insert_all{ { name = "b" } }
  Base:extend():insert{ name = "c" }
  equal({ count, Base:fetch_count() }, { 3, 4 })
end)

test("errors of overrides are raised unchanged", function()
  local Base = select(2, members())
  local Member, mistake = Base:extend(), { kind = "record_not_found" }
  function Member:update() error(mistake) end
  local is_done, err = pcall(Member.save, Member:find(1))
  equal({ is_done, rawequal(err, mistake), Member:fetch_count() }, { false, true, 1 })
end)
