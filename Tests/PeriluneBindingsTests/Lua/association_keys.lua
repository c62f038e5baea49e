--- Prefetched rows find the same parents as a join, for keys of every type.

--- Creates two tables, `parent` with a key of some type and `child` with a column for it, and their association.
local function family(parent_type, child_type)
  db:execute("CREATE TABLE parent (id INTEGER PRIMARY KEY, key " .. parent_type .. ")")
  db:execute("CREATE TABLE child (id INTEGER PRIMARY KEY, value " .. child_type .. ")")
  local Parent, Child = perilune.record("parent"), perilune.record("child")
  Parent.children = Parent:has_many(Child, { columns = "value", referenced = "key" })
  Child.parent = Child:belongs_to(Parent, { columns = "value", referenced = "key" })
  return Parent, Child
end

--- Returns the prefetched pairs of ids as text. They must match a join in SQL in both directions.
local function check(Parent, Child, expected)
  local function gather(list)
    local found = {}
    for _, parent in ipairs(list) do
      for _, child in ipairs(parent.children) do found[#found + 1] = parent.id .. "-" .. child.id end
    end
    return table.concat(found, " ")
  end
  local joined = db:fetch_values[[
    SELECT parent.id || '-' || child.id FROM parent JOIN child ON child.value = parent.key ORDER BY parent.id, child.id]]
  equal(table.concat(joined, " "), expected)
  equal(gather(Parent:including_all(Parent.children:order("id")):order("id"):fetch_all()), expected)
  equal(gather(Parent:including_all(Parent.children:order("id"):limit(100)):order("id"):fetch_all()), expected)
  local found = {}
  for _, child in ipairs(Child:including_all(Child.parent):order("id"):fetch_all()) do
    if child.parent then found[child.id] = child.parent.key end
  end
  for pair in expected:gmatch("%d+%-(%d+)") do equal(found[tonumber(pair)] ~= nil, true) end
end

--- Does the same for tables with the given rows. Returns their classes.
local function related(parent_type, child_type, parents, children, expected)
  local Parent, Child = family(parent_type, child_type)
  db:execute("INSERT INTO parent VALUES " .. parents)
  db:execute("INSERT INTO child VALUES " .. children)
  check(Parent, Child, expected)
  return Parent, Child
end

test("texts that differ only in case match in case-insensitive columns", function()
  local Parent, Child = related("TEXT COLLATE NOCASE", "TEXT COLLATE NOCASE",
    "(1, 'US'), (2, 'fr'), (3, 'it')",
    "(1, 'us'), (2, 'US'), (3, 'FR'), (4, 'xx'), (5, NULL)", "1-1 1-2 2-3")
  local first = Parent:including_all(Parent.children:order("id"):limit(1)):order("id"):fetch_all()
  equal({ #first[1].children, #first[2].children, #first[3].children }, { 1, 1, 0 })
end)

test("texts that differ in case do not match in case-sensitive columns", function()
  related("TEXT", "TEXT", "(1, 'a'), (2, 'A'), (3, 'b ')", "(1, 'A'), (2, 'a'), (3, 'b'), (4, 'B ')", "1-2 2-1")
end)

test("numbers match numeric texts", function()
  related("INTEGER", "TEXT", "(1, 1), (2, 22)", "(1, 1), (2, '22'), (3, 'x')", "1-1 2-2")
end)

test("numbers match texts that SQL converts to the same numbers", function()
  for _, column_type in ipairs{ "INTEGER", "NUMERIC" } do
    local Parent, Child = family(column_type, "TEXT")
    db:execute("INSERT INTO parent VALUES (1, 1), (2, 2.5), (3, 'a'), (4, '0x1'), (5, NULL), (6, 1)")
    db:execute([[INSERT INTO child VALUES (1, '01'), (2, ' 1'), (3, '1.0'), (4, '2.50'), (5, 'a'), (6, 'A'), (7, '0x1'), (8, NULL),
      (9, '1x'), (10, '1e0')]])
    check(Parent, Child, "1-1 1-2 1-3 1-10 2-4 3-5 4-7 6-1 6-2 6-3 6-10")
    for _, parent in ipairs(Parent:including_all(Parent.children):fetch_all()) do
      equal(parent:children():fetch_count(), #parent.children)
    end
    local limited = Parent:including_all(Parent.children:order("id"):limit(2)):order("id"):fetch_all()
    equal({ #limited[1].children, #limited[2].children, #limited[3].children }, { 2, 1, 1 })
    db:execute "DROP TABLE parent"
    db:execute "DROP TABLE child"
  end
end)

test("hexadecimal texts are not numbers, even if the children of all parents are fetched", function()
  related("INTEGER", "INTEGER", "(1, 1)", "(1, 1), (2, '0x1')", "1-1")
end)

test("matching many numbers with many texts does not compare all pairs", function()
  local Parent = family("INTEGER", "TEXT")
  local count = 20000
  db:execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO parent SELECT i, i FROM n", count)
  db:execute("INSERT INTO child SELECT id, '0' || key FROM parent")
  local found = 0
  for _, parent in ipairs(Parent:including_all(Parent.children):fetch_all()) do
    found = found + #parent.children
    if #parent.children > 0 then equal(parent.children[1].id, parent.id) end
  end
  equal(found, count)
end)

test("numeric texts match numbers", function()
  related("TEXT", "INTEGER", "(1, '1'), (2, '2'), (3, 'x')", "(1, 1), (2, 2), (3, 3)", "1-1 2-2")
end)

test("numbers match equal values in columns without a type", function()
  related("INTEGER", "", "(1, 1), (2, 2), (3, 3)", "(1, '1'), (2, 2), (3, 3.0), (4, '4')", "1-1 2-2 3-3")
end)

test("floats match equal integers", function()
  local Parent, Child = related("REAL", "REAL",
    "(1, 0.1), (2, 1), (3, 1e300), (4, 123456.789012345678)",
    "(1, 0.1), (2, 1), (3, 1e300), (4, 123456.789012345678)", "1-1 2-2 3-3 4-4")
  db:execute("DROP TABLE child")
  db:execute("CREATE TABLE child (id INTEGER PRIMARY KEY, value INTEGER); INSERT INTO child VALUES (1, 1), (2, 1.0), (3, 0.1)")
  check(Parent, Child, "1-3 2-1 2-2")
end)

test("blobs do not match texts with the same bytes", function()
  related("BLOB", "BLOB", "(1, x'0001ff'), (2, x'61'), (3, x'')", "(1, x'61'), (2, x'0001ff'), (3, x''), (4, 'a')", "1-2 2-1 3-3")
end)

test("blobs do not match texts with the same bytes in columns without a type", function()
  related("", "",
    "(1, x'0001ff'), (2, x'61'), (3, x''), (4, 'a'), (5, 7)",
    "(1, x'61'), (2, x'0001ff'), (3, x''), (4, 'a'), (5, 7), (6, '7')", "1-2 2-1 3-3 4-4 5-5")
end)

test("blobs in a column without a type match equal blobs in other columns", function()
  for _, types in ipairs{ { "", "TEXT" }, { "", "INTEGER" }, { "BLOB", "" } } do
    related(types[1], types[2], "(1, x'61'), (2, 'b'), (3, x'37')", "(1, x'61'), (2, 'b'), (3, 7)", "1-1 2-2")
    db:execute("DROP TABLE parent; DROP TABLE child")
  end
end)

test("texts may contain NUL bytes, quotes and bytes that are not UTF-8", function()
  local Parent, Child = family("TEXT", "TEXT")
  local keys = { "a\0b", "\xff\xfe", [["q\]], "'", "é", "" }
  for id, key in ipairs(keys) do
    db:execute("INSERT INTO parent VALUES (?, ?)", id, key)
    db:execute("INSERT INTO child VALUES (?, ?)", id, key)
  end
  check(Parent, Child, "1-1 2-2 3-3 4-4 5-5 6-6")
end)

test("date and boolean keys match", function()
  local Parent, Child = related("DATETIME", "DATETIME",
    "(1, '2026-03-01 10:00:00.000'), (2, '2026-03-02')",
    "(1, '2026-03-02'), (2, '2026-03-01 10:00:00.000'), (3, '2026-03-01')", "1-2 2-1")
  db:execute("DROP TABLE parent; DROP TABLE child; CREATE TABLE parent (id INTEGER PRIMARY KEY, key BOOLEAN)")
  db:execute("CREATE TABLE child (id INTEGER PRIMARY KEY, value BOOLEAN)")
  db:execute("INSERT INTO parent VALUES (1, 0), (2, 1); INSERT INTO child VALUES (1, 1), (2, 0), (3, 1)")
  check(Parent, Child, "1-2 2-1 2-3")
end)

test("large integers are not rounded", function()
  related("INTEGER", "INTEGER",
    "(1, 9223372036854775807), (2, 9007199254740993), (3, -9223372036854775808)",
    "(1, 9223372036854775807), (2, 9007199254740993), (3, 9007199254740992)", "1-1 2-2")
end)

test("SQL text in an association refers to the columns of the association's table", function()
  local Parent, Child = family("TEXT", "TEXT")
  db:execute("INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (1, 'a'), (2, 'a')")
  local parent = Parent:including_all(Parent.children:filter("id > 1 AND value = 'a'"):order("value, id")):fetch_one()
  equal(#parent.children, 1)
end)

test("the columns of composite keys may have any types", function()
  db:execute[[
    CREATE TABLE parent (a TEXT COLLATE NOCASE, b INTEGER, name TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TABLE child (id INTEGER PRIMARY KEY, x TEXT COLLATE NOCASE, y INTEGER, FOREIGN KEY (x, y) REFERENCES parent);
    INSERT INTO parent VALUES ('a', 1, 'one'), ('a', 2, 'two'), ('1', 12, 'three'), ('11', 2, 'four');
    INSERT INTO child VALUES (1, 'A', 1), (2, 'a', 2), (3, 'a', 2), (4, '1', 12), (5, '11', 2), (6, 'a', NULL), (7, NULL, 1)]]
  local Parent, Child = perilune.record("parent"), perilune.record("child")
  Parent.children, Child.parent = Parent:has_many(Child), Child:belongs_to(Parent)
  local found = {}
  for _, parent in ipairs(Parent:including_all(Parent.children:order("id")):fetch_all()) do
    for _, child in ipairs(parent.children) do found[#found + 1] = parent.name .. child.id end
  end
  table.sort(found)
  equal(table.concat(found, " "), "four5 one1 three4 two2 two3")
  equal(Child:including_all(Child.parent):find(1).parent.name, "one")
  equal(Child:including_all(Child.parent):find(6).parent, nil)
end)

test("if there are more keys than SQLite can bind, several statements fetch the rows", function()
  local Parent, Child = family("REAL", "REAL")
  db:execute[[WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO parent SELECT i, i + 0.5 FROM n]]
  db:execute("INSERT INTO child VALUES (1, 2.5), (2, 59999.5), (3, 2.5)")
  local parents = Parent:including_all(Parent.children):order("id"):fetch_all()
  equal({ #parents[2].children, #parents[59999].children, #parents[3].children }, { 2, 1, 0 })
end)

test("the key of an intermediate table may have the same name as a column of the target", function()
  for _, declared in ipairs{ "BOOLEAN", "INTEGER", "TEXT", "DATE", "BLOB", "REAL" } do
    db:execute("DROP TABLE IF EXISTS c; DROP TABLE IF EXISTS b; DROP TABLE IF EXISTS a")
    db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a);"
      .. "CREATE TABLE c (id INTEGER PRIMARY KEY, b_id INTEGER REFERENCES b, a_id " .. declared .. ");"
      .. "INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1, 1), (2, 2), (3, 2); INSERT INTO c VALUES (1, 1, 1), (2, 2, 1), (3, 3, NULL)")
    local A, B, C = perilune.record "a", perilune.record "b", perilune.record "c"
    A.bs, B.cs = A:has_many(B), B:has_many(C)
    A.cs = A:has_many(C, { through = A.bs, using = B.cs })
    local ids = {}
    for index, a in ipairs(A:including_all(A.cs:order("id")):order("id"):fetch_all()) do
      ids[index] = {}
      for position, c in ipairs(a.cs) do
        ids[index][position] = c.id
        equal(c:has_changes(), false)
      end
    end
    equal(ids, { { 1 }, { 2, 3 } })
  end
end)
