--- The row path's batch and in-place operations have the same results as individual ones.

local function make_table(more)
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER" .. (more or "") .. ")")
  return perilune.record("t")
end

local function records(T, count, make)
  local list = {}
  for i = 1, count do list[i] = T(make and make(i) or { a = "a" .. i, b = i }) end
  return list
end

test("a late failure of insert_all leaves all records unchanged", function()
  local T = make_table(", CHECK (b <> 777)")
  local list = records(T, 800)
  fails("constraint_check", T.insert_all, T, list)
  equal(T:fetch_count(), 0)
  for _, record in ipairs(list) do
    equal(record.id, nil)
    equal(record:has_changes(), true)
  end
  list[777].b = 0
  equal(#T:insert_all(list), 800)
  for i, record in ipairs(list) do
    equal(record.id, i)
    equal(record:has_changes(), false)
  end
end)

test("a failure of insert_all leaves fetched records with new keys unchanged", function()
  local T = make_table(", UNIQUE (a)")
  T:insert_all(records(T, 200))
  local list = T:fetch_all()
  for i, record in ipairs(list) do
    record.id = record.id + 1000
    record.a = i < 200 and "new" .. i or "a1"
  end
  fails("constraint_unique", T.insert_all, T, list)
  for i, record in ipairs(list) do
    equal(record:changes().id, { old = i, new = i + 1000 })
    equal(record:changes().a.old, "a" .. i)
  end
  list[200].a = "new200"
  T:insert_all(list)
  for i, record in ipairs(list) do equal(record:has_changes(), false) end
  equal(T:fetch_count(), 400)
end)

test("a refused commit of insert_all leaves records unchanged", function()
  db:execute("CREATE TABLE p (id INTEGER PRIMARY KEY)")
  local T = make_table(", p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED")
  local list = records(T, 100, function(i) return { a = "a", b = i, p = i == 50 and 7 or nil } end)
  equal(fails("constraint_foreign_key", T.insert_all, T, list).list_index, nil)
  for _, record in ipairs(list) do equal(rawget(record, "id"), nil) end
  db:execute("INSERT INTO p VALUES (7)")
  equal(#T:insert_all(list), 100)
end)

test("an error of insert_all names the element, in short and long lists, with hooks and options", function()
  local T = make_table(", flag BOOLEAN, CHECK (b <> 0)")
  local Hooked = perilune.record("t")
  function Hooked:validate() if self.b == -1 then self:invalid("b", "must not be negative") end end
  local function check(class, kind, position, count, bad, options)
    local list = {}
    for i = 1, count do list[i] = { a = "a", b = i } end
    list[position] = bad
    local err = fails(kind, class.insert_all, class, list, options)
    equal(err.list_index, position)
    equal(err.message:match("^insert_all: element (%d+): "), tostring(position))
    equal(select(2, err.message:gsub("insert_all", "")), 1)
    equal(T:fetch_count(), 0)
    return err
  end
  for _, count in ipairs{ 3, 20, 400 } do
    for _, position in ipairs{ 1, 2, count - 1, count } do
      equal(check(T, "constraint_check", position, count, { b = 0 }).columns, { "b" })
      check(T, "conversion", position, count, { b = 1, flag = 7 })
      check(T, "unknown_column", position, count, { bb = 1 })
      check(T, "argument", position, count, "text")
      check(T, "constraint_check", position, count, { b = 0 }, { returning = "id" })
      check(Hooked, "constraint_check", position, count, { b = 0 })
      check(Hooked, "validation", position, count, { b = -1 })
    end
    check(T, "conversion", count, count, { id = "no integer", b = 1 })
    matches(check(T, "constraint_primary_key", count, count, { id = 1, b = 1 }).sql, "VALUES (?, ?)")
  end
end)

test("an error of insert_all that concerns no element names none", function()
  local T = make_table()
  local Hooked = perilune.record("t")
  function Hooked.will_insert() error("own text") end
  equal(fails("unknown_option", T.insert_all, T, { { a = "a" } }, { x = 1 }).list_index, nil)
  equal(fails("argument", T.insert_all, T, 7).list_index, nil)
  matches(fails(nil, Hooked.insert_all, Hooked, { { a = "a" } }), "own text")
  db:execute("DROP TABLE t")
  equal(fails("unknown_table", T.insert_all, T, { { a = "a" } }).list_index, nil)
end)

test("a record that is twice in a list is inserted once, and then it already exists", function()
  local T = make_table()
  for _, count in ipairs{ 2, 30, 200 } do
    local list = records(T, count)
    list[count] = list[count - 1]
    fails("constraint_primary_key", T.insert_all, T, list)
    for i = 1, count do
      equal(rawget(list[i], "id"), nil)
      equal(list[i]:has_changes(), true)
    end
    for i = 1, count do list[i].id = 10000 + i end
    list[count].id = 10000
    fails("constraint_primary_key", T.insert_all, T, list)
    equal(list[count].id, 10000)
    equal(T:fetch_count(), 0)
  end
end)

test("after insert_all of a long list, records have the inserted values of every type", function()
  local T = make_table(", c BLOB, d BOOLEAN, e REAL")
  local long = ("long "):rep(20)
  local list = T:insert_all(records(T, 300, function(i)
    return { a = i % 2 == 0 and long .. i or "s" .. i, b = i % 3 > 0 and i or nil, c = i % 5 == 0 and "\0\1" or nil, d = i % 4 == 0,
      e = i % 7 == 0 and i + 0.5 or nil }
  end))
  for i, record in ipairs(list) do
    equal(record:has_changes(), false)
    equal(T:find(record.id) == record, true)
    record.a = record.a .. "!"
    equal(record:changes(), { a = { old = (i % 2 == 0 and long or "s") .. i, new = record.a } })
  end
end)

test("after insert_all of a long list, records have generated columns and defaults", function()
  local T = make_table(", c INTEGER GENERATED ALWAYS AS (b * 2), d TEXT DEFAULT 'x'")
  for i, record in ipairs(T:insert_all(records(T, 200))) do
    equal(record.c, i * 2)
    equal(record.d, "x")
    equal(record:has_changes(), false)
  end
end)

test("insert_all accepts a mix of records and tables whose columns need separate statements", function()
  local T = make_table(", d TEXT DEFAULT 'x'")
  local list = {}
  for i = 1, 500 do
    list[i] = { a = i % 90 == 0 and perilune.null or "a" .. i, b = i, d = i % 70 ~= 0 and "y" or nil }
    if i % 3 == 0 then list[i] = T(list[i]) end
  end
  for i, record in ipairs(T:insert_all(list)) do
    equal(record.id, i)
    equal(record.d, i % 70 ~= 0 and "y" or "x")
    equal(record.a, i % 90 ~= 0 and "a" .. i or nil)
    equal(T:find(i) == record and not record:has_changes(), true)
  end
end)

test("insert_all accepts records without change tracking", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER)")
  local T = perilune.record("t", { track_changes = false })
  for i, record in ipairs(T:insert_all(records(T, 300))) do equal(T:find(i) == record, true) end
end)

test("an SQL function that changes records during their insertion does not break insert_all", function()
  local list, calls = nil, 0
  db:add_function("meddle", { arguments = 1, deterministic = true }, function()
    calls = calls + 1
    if calls == 3 then -- the first of the records that are inserted together
      for _, record in ipairs(list) do rawset(record, "a", nil) end
      list[1]:copy()
      collectgarbage()
    end
    return 1
  end)
  local T = make_table(", CHECK (meddle(a))")
  list = records(T, 18, function(i) return { a = ("text "):rep(i) .. i, b = i } end)
  T:insert_all(list)
  for i = 1, #list do equal(T:find(i).a, ("text "):rep(i) .. i) end
end)

test("repeated calls of update_changes keep a record equal to its row", function()
  local T = make_table()
  local record = T{ a = "a", b = 1 }:insert()
  local other = T{ a = "other", b = 1 }:insert()
  for i = 1, 300 do
    local text = ("x"):rep(i * 7 % 90)
    equal(record:update_changes{ a = text, b = i % 5 > 0 and i or perilune.null }, true)
    equal(record:update_changes{ a = text }, false)
    equal(record:has_changes(), false)
    equal(T:find(1) == record, true)
  end
  equal(other:has_changes(), false)
  record.b = "12"
  equal(record:has_changes(), true)
end)

test("update_changes compares values like the database", function()
  local T = make_table(", d BOOLEAN, e REAL")
  local record = T:find(T{ a = "1", b = 1, d = true, e = 2.0 }:insert().id)
  for _, change in ipairs{ {}, { b = 1.0 }, { e = 2 }, { b = "1" }, { a = "1" }, { d = true }, { id = 1 } } do
    equal(record:update_changes(change), false)
  end
  record.b = nil
  equal(record:update_changes(), true)
  equal(record:update_changes{ b = perilune.null }, false)
  equal(record:update_changes{ d = false, a = 5 }, true)
  equal(T:find(1).a, "5")
  record.id = 9
  equal(fails("changed_key", record.update_changes, record, { a = "x" }).key, 1)
  record.id = 1
  db:execute "DELETE FROM t"
  equal(fails("record_not_found", record.update_changes, record, { a = "x" }).key, 1)
end)

test("a record keeps its changes after a failed update_changes", function()
  local T = make_table(", CHECK (b < 100)")
  local record = T{ a = "a", b = 1 }:insert()
  fails("constraint_check", record.update_changes, record, { a = "b", b = 100 })
  equal(record:changes(), { a = { old = "a", new = "b" }, b = { old = 1, new = 100 } })
  record.b = 99
  equal(record:update_changes(), true)
  equal(record:changes(), {})
end)

test("methods of a class can be defined, replaced and removed at any time", function()
  local T = make_table()
  local Sub = T:extend()
  local record, sub = T{ a = "a" }, Sub{ a = "b" }
  equal(record:insert() == record, true)
  equal(sub:insert() == sub, true)
  function T:insert() return "inserted" end
  equal(record:insert(), "inserted")
  equal(sub:insert(), "inserted")
  function Sub:insert() return "sub" end
  equal(record:insert(), "inserted")
  equal(sub:insert(), "sub")
  Sub.insert = nil
  equal(sub:insert(), "inserted")
  T.insert = nil
  equal(T{ a = "c" }:insert().id, 3)
  function T:label() return self.a end
  equal(sub:label(), "b")
  T.label = nil
  fails("unknown_column", function() return sub.label end)
end)

test("a column that is added later takes precedence over a method", function()
  local T = make_table()
  local record = T{ a = "a" }:insert()
  equal(type(record.copy), "function")
  db:execute("ALTER TABLE t ADD COLUMN copy TEXT")
  T:fetch_all()
  equal(T:find(1).copy, nil)
end)

test("new records have the columns of the current table", function()
  local T = make_table()
  equal(T{ a = "a", b = 1 }.a, "a")
  fails("unknown_column", T, { c = "c" })
  db:execute("ALTER TABLE t RENAME COLUMN a TO c")
  equal(T{ c = "c" }:insert().c, "c")
  fails("unknown_column", T, { a = "a" })
  db:execute("ALTER TABLE t DROP COLUMN b")
  fails("unknown_column", T, { b = 1 })
  equal(T{ c = "d" }:insert().id, 2)
end)

test("a column can be found by a name that is computed at run time", function()
  local name = ("long"):rep(20)
  local T = make_table(", " .. name .. " INTEGER, short INTEGER")
  for i = 1, 3 do
    local made = T{ [("long"):rep(20)] = i, ["sh" .. "ort"] = i, b = i }:insert()
    equal(T:find(i)[name], i)
    equal(made.short, i)
  end
  fails("unknown_column", T, { [("long"):rep(21)] = 1 })
end)

test("a class is called with one table of columns", function()
  local T = make_table()
  T{ a = "a" }
  fails("argument", T, "a")
  fails("argument", T, { a = "a" }, 1)
  fails("argument", T, { "a" })
  equal(T().a, nil)
  local given = { a = "a", b = perilune.null }
  equal(T(given).b, nil)
  equal(given, { a = "a", b = perilune.null })
end)

test("insert_all creates records from tables without changing the tables", function()
  local T = make_table(", c INTEGER DEFAULT 7")
  local list = {}
  for i = 1, 300 do list[i] = { a = "a" .. i, b = i, c = i % 2 == 0 and perilune.null or i } end
  local made = T:insert_all(list)
  for i = 1, 300 do
    equal(list[i].id, nil)
    equal(getmetatable(list[i]), nil)
    equal(made[i].id, i)
    equal(made[i]:has_changes(), false)
    equal(T:find(i).c, i % 2 == 1 and i or nil)
  end
  list[200] = { a = "a", d = 1 }
  equal(fails("unknown_column", T.insert_all, T, list).list_index, 200)
  list[200] = { { a = "a" } }
  equal(fails("argument", T.insert_all, T, list).list_index, 200)
  list[200] = setmetatable({ a = "a" }, {})
  equal(fails("argument", T.insert_all, T, list).list_index, 200)
  equal(T:fetch_count(), 300)
end)

test("insert_all creates records from tables for the given database", function()
  local other = perilune.queue(":memory:")
  other:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, e TEXT)")
  local T = make_table()
  T{ a = "a" }
  equal(T:insert_all(other, { { a = "a", e = "e" }, { a = "b" } })[1].e, "e")
  equal(T:insert_all{ { a = "a", b = 1 } }[1].b, 1)
end)

--- Returns the outcome of a call as text: the fields of a record, another value, or the kind and message of an error.
local function outcome(f, ...)
  local is_done, result = pcall(f, ...)
  if not is_done then return "error " .. tostring(result.kind) .. ": " .. result.message end
  if type(result) ~= "table" then return tostring(result) end
  return tostring(result) .. " " .. tostring(result:has_changes())
end

--- Returns all rows as text.
local function content(table_name)
  local lines = {}
  for row in db:rows("SELECT * FROM " .. table_name .. " ORDER BY 1, 2") do lines[#lines + 1] = tostring(row) end
  return table.concat(lines, "\n")
end

test("insert and other methods of a class with a table of columns act like the methods of such a record", function()
  local random, pick = random_numbers(40)
  db:execute("CREATE TABLE p (id INTEGER PRIMARY KEY)")
  db:execute("INSERT INTO p VALUES (1), (2)")
  db:execute([[CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'none', b INTEGER UNIQUE, c REAL, flag BOOLEAN, day DATE,
    p_id INTEGER REFERENCES p, total INTEGER AS (b * 2))]])
  local P = perilune.record("p")
  local values = {
    id = { 1, 2, 3, "1", 1.0, perilune.null }, a = { "x", "", 7, perilune.null }, b = { 1, 2, 3, 2.5, "4", perilune.null },
    c = { 1, 0.5, "x" }, flag = { true, false, 1 }, day = { perilune.date("2026-01-02"), "2026-01-02" }, p_id = { 1, 3 }, total = { 4 },
    p = { P{ id = 2 } }, unknown = { 1 }, [1] = { "x" },
  }
  local names = { "id", "a", "b", "c", "flag", "day", "p_id", "total", "p", "unknown", 1 }
  local function fields()
    local chosen = {}
    for _ = 1, random(5) do
      local name = names[random(random(4) == 1 and #names or 7)]
      chosen[name] = pick(values[name])
    end
    return chosen
  end
  local function make_class(kind)
    local T = perilune.record("t", kind == "unchecked" and { check_types = false } or nil)
    T.p = T:belongs_to(P)
    if kind == "hook" then function T:will_insert() self.c = 0.25 end end
    if kind == "extended" then return T:extend() end
    return T
  end
  for _, kind in ipairs{ "plain", "unchecked", "hook", "extended" } do
    local T = make_class(kind)
    for _ = 1, 400 do
      local verb, chosen, database = pick{ "insert", "insert", "update", "save", "delete" }, fields(), pick{ false, db }
      local function call(on_class)
        local result, rows
        local _, err = pcall(db.write, db, function(handle)
          db:execute("DELETE FROM t")
          db:execute("INSERT INTO t (id, a, b) VALUES (1, 'one', 1)")
          local given = database and handle or nil
          if on_class then
            result = given and outcome(T[verb], T, given, chosen) or not given and outcome(T[verb], T, chosen)
          else
            result = outcome(function() local made = T(chosen) return made[verb](made, given) end)
          end
          rows = content("t")
          error("undo")
        end)
        assert(tostring(err):find("undo", 1, true), tostring(err))
        return result, rows
      end
      local result, rows = call(true)
      local expected, expected_rows = call(false)
      -- Messages about fields name the function that created the record.
      local is_refused = result:find("^error") and expected:find("^error") and not expected:find("^error constraint")
      if not is_refused then equal(result, expected) end
      equal(rows, expected_rows)
    end
  end
end)

test("insert on a class uses columns that another connection has added, even as the first call", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
  local T = perilune.record("t")
  equal(T:insert{ a = "x" }.id, 1)
  db:execute("ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 5")
  equal(T:insert{ a = "y" }.b, 5)
  equal(T:insert{ a = "z", b = 6 }.b, 6)
  local other = perilune.queue()
  other:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, z TEXT)")
  equal(T:insert(other, { z = "there" }).z, "there")
  equal(T:insert(other, { z = "again" }).id, 2)
  equal(fails("unknown_column", T.insert, T, { z = "here" }).message, fails("unknown_column", T.insert, T, { z = "here" }).message)
  equal(T:fetch_count(), 3)
  equal(T:fetch_count(other), 2)
end)
