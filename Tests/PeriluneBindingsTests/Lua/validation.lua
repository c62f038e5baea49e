--- Validation and constraint errors: the details that a script can show to the user of a form.

local function make_member()
  db:execute[[CREATE TABLE member (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, age INTEGER CONSTRAINT adult CHECK (age >= 18),
    club_id INTEGER REFERENCES club(id))]]
  db:execute "CREATE TABLE club (id INTEGER PRIMARY KEY)"
  return perilune.record "member"
end

test("validate reports all errors at once", function()
  local Member = make_member()
  function Member:validate()
    if (self.name or "") == "" then self:invalid("name", "must not be empty") end
    if self.age and self.age < 18 then self:invalid("age", "must be at least 18") end
  end
  local member = Member{ age = 3 }
  local err = fails("validation", member.insert, member)
  equal(err.table, "member")
  equal(err.errors, {
    { column = "name", message = "must not be empty" }, { column = "age", message = "must be at least 18" },
  })
  matches(err.message, "member: name must not be empty; age must be at least 18")
  equal(db:fetch_value "SELECT COUNT(*) FROM member", 0)
  member.name, member.age = "Ann", 18
  member:insert()
  member.age = 4
  equal(#fails("validation", member.update, member).errors, 1)
  equal(#fails("validation", member.save, member).errors, 1)
  equal(#fails("validation", member.upsert, member).errors, 1)
  equal(#fails("validation", member.update_changes, member, { age = 5 }).errors, 1)
  equal(db:fetch_value "SELECT age FROM member", 18)
end)

test("an error about the whole record has no column", function()
  local Member = make_member()
  function Member:validate() self:invalid("is not complete") end
  local member = Member{}
  local err = fails("validation", member.insert, member)
  equal(err.errors, { { message = "is not complete" } })
  matches(err.message, "member: is not complete")
end)

test("a record can be validated without writing it", function()
  local Member = make_member()
  function Member:validate() if not self.name then self:invalid("name", "is missing") end end
  equal(Member{}:validation_errors(), { { column = "name", message = "is missing" } })
  equal(Member{ name = "Ann" }:validation_errors(), {})
  equal(db:fetch_value "SELECT COUNT(*) FROM member", 0)
end)

test("validate runs after hooks that set values, and can use the database", function()
  local Member = make_member()
  function Member:will_save() self.name = self.name or "nobody" end
  function Member:validate(handle)
    if not self.name then self:invalid("name", "is missing") end
    if handle:fetch_value "SELECT COUNT(*) FROM member" >= 1 then self:invalid "the club is full" end
  end
  Member{}:insert()
  fails("validation", function() Member{}:insert() end)
end)

test("validate may raise its own error", function()
  local Member = make_member()
  local mistake = { "mine" }
  function Member:validate() error(mistake) end
  local ok, err = pcall(function() Member{ name = "x" }:insert() end)
  equal({ ok, rawequal(err, mistake) }, { false, true })
end)

test("validate refuses results that other libraries use for errors", function()
  local Member, results = make_member(), nil
  function Member:validate() return table.unpack(results, 1, results.n) end
  for _, returned in ipairs{ { false, n = 1 }, { "too young", n = 1 }, { nil, "too young", n = 2 }, { {}, n = 1 } } do
    results = returned
    matches(fails("argument", Member.insert, Member, { name = "Ann" }), "which is ignored; use self:invalid(")
  end
  for _, returned in ipairs{ { n = 0 }, { true, n = 1 } } do
    results = returned
    Member:insert{ name = "Ann" }
  end
  equal(Member:fetch_count(), 2)
end)

test("invalid requires an existing column and can be called only during validation", function()
  local Member = make_member()
  function Member:validate() self:invalid("nmae", "is missing") end
  equal(fails("unknown_column", function() Member{}:insert() end).suggestion, "name")
  Member.validate = nil
  fails("validation", function() Member{}:invalid("name", "is missing") end)
  fails("argument", function() Member{}:invalid() end)
end)

test("a constraint error names table, columns and key", function()
  local Member = make_member()
  Member{ id = 5, name = "Ann", email = "a@x" }:insert()
  local twin = Member{ id = 6, name = "Bob", email = "a@x" }
  local err = fails("constraint_unique", twin.insert, twin)
  equal({ err.table, err.columns, err.key }, { "member", { "email" }, 6 })
  err = fails("constraint_primary_key", function() Member{ id = 5, name = "Bob" }:insert() end)
  equal({ err.table, err.columns, err.key }, { "member", { "id" }, 5 })
  err = fails("constraint_not_null", function() Member{}:insert() end)
  equal({ err.table, err.columns, err.key }, { "member", { "name" } })
  local ann = Member:find(5)
  ann.name = nil
  err = fails("constraint_not_null", ann.update, ann)
  equal({ err.table, err.columns, err.key }, { "member", { "name" }, 5 })
end)

test("a constraint error names the table and key, even if many rows are written", function()
  local Member = make_member()
  Member{ id = 5, name = "Ann", email = "a@x" }:insert()
  local twin = Member{ id = 6, name = "Bob", email = "a@x" }
  matches(fails("constraint_unique", twin.insert, twin).message, "member.email (the row of `member` with `id` 6)")
  matches(fails("constraint_unique", Member.insert_all, Member, { { name = "Bob", email = "a@x" } }).message, "(a row of `member`)")
  for _, write in ipairs{
    function() Member:update_all{ age = 3 } end,
    function() Member:update_all({ age = 3 }, { returning = true }) end,
    function() Member:update_all({ age = 3 }, { returning = "id" }) end,
  } do
    local err = fails("constraint_check", write)
    equal(err.table, "member")
    matches(err.message, "(a row of `member`)")
  end
  db:execute "CREATE TABLE pass (member_id INTEGER REFERENCES member); INSERT INTO pass VALUES (5)"
  for _, delete in ipairs{ function() Member:delete_all() end, function() Member:filter_key(5):delete_all() end } do
    equal(fails("constraint_foreign_key", delete).table, "member")
  end
end)

test("a check error names the constraint, and its columns if the schema reveals them", function()
  local Member = make_member()
  local err = fails("constraint_check", function() Member{ name = "Kid", age = 3 }:insert() end)
  equal({ err.table, err.constraint }, { "member", "adult" })
end)

test("a foreign key error names the tables with missing rows", function()
  local Member = make_member()
  local err = fails("constraint_foreign_key", function() Member{ name = "Ann", club_id = 9 }:insert() end)
  equal({ err.table, err.columns, err.referenced_table }, { "member", { "club_id" }, "club" })
  equal(err.message, "FOREIGN KEY constraint failed: `club` has no row for club_id (a row of `member`)")
  local Club = perilune.record "club"
  local club = Club{ id = 1 }:insert()
  Member{ name = "Bob", club_id = club.id }:insert()
  err = fails("constraint_foreign_key", club.delete, club)
  equal(err.referring_table, "member")
  equal(err.message, "FOREIGN KEY constraint failed: rows of `member` refer to this one of `club` (the row of `club` with `id` 1)")
end)

test("a value of the wrong type in a strict table is reported with its column", function()
  db:execute "CREATE TABLE measure (id INTEGER PRIMARY KEY, size INTEGER) STRICT"
  local Measure = perilune.record("measure", { check_types = false })
  local err = fails("constraint_datatype", function() Measure{ size = "big" }:insert() end)
  equal({ err.table, err.columns }, { "measure", { "size" } })
end)
