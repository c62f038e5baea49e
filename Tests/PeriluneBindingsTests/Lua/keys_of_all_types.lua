--- Associations, links and counters find the same rows as SQL joins, with keys of every type.

local En = perilune.enum{ x = "x", y = "y", z = "z" }
local Code = { __name = "a code" }
local function code(text) return setmetatable({ code = text }, Code) end
local code_type = {
  name = "code",
  from_database = code,
  to_database = function(value) return getmetatable(value) == Code and value.code or nil, "expected a code" end,
}

--- Kinds of keys: the declared type, the types of records, three field values, and the same values in SQL.
local kinds = {
  INTEGER = { declared = "INTEGER", values = { 1, 2, 3 }, sql = { "1", "2", "3" } },
  TEXT = { declared = "TEXT", values = { "k1", "k2", "k3" }, sql = { "'k1'", "'k2'", "'k3'" } },
  BLOB = { declared = "BLOB", values = { "k1", "\2\0", "" }, sql = { "x'6b31'", "x'0200'", "x''" } },
  ["no type, but a type of records"] = {
    declared = "", type = "blob", values = { "k1", "\2\0", "" }, sql = { "x'6b31'", "x'0200'", "x''" },
  },
  ["no type"] = {
    declared = "", values = { perilune.blob("k1"), perilune.blob("\2\0"), perilune.blob("") }, sql = { "x'6b31'", "x'0200'", "x''" },
  },
  ["another type"] = {
    declared = "TEXT", values = { perilune.blob("k1"), perilune.blob("\2\0"), perilune.blob("") }, sql = { "x'6b31'", "x'0200'", "x''" },
  },
  ["texts and bytes"] = { declared = "", values = { "k1", perilune.blob("k1"), perilune.blob(("k"):rep(50)) }, sql = { "'k1'", "x'6b31'", "x'" .. ("6b"):rep(50) .. "'" } },
  enum = { declared = "TEXT", type = En, values = { En.x, En.y, En.z }, sql = { "'x'", "'y'", "'z'" } },
  ["enum of bytes"] = { declared = "BLOB", type = En, values = { En.x, En.y, En.z }, sql = { "x'78'", "x'79'", "x'7a'" } },
  ["bytes as they are"] = { declared = "BLOB", type = "any", values = { "k1", "\2\0", "" }, sql = { "x'6b31'", "x'0200'", "x''" } },
  ["value type"] = {
    declared = "TEXT", type = code_type, values = { code "k1", code "k2", code "k3" }, sql = { "'k1'", "'k2'", "'k3'" },
  },
  date = {
    declared = "DATE", values = { perilune.date("2026-01-01"), perilune.date("2026-01-02"), perilune.date("2026-01-03") },
    sql = { "'2026-01-01'", "'2026-01-02'", "'2026-01-03'" },
  },
  datetime = {
    declared = "DATETIME", values = { perilune.date("2026-01-01"), perilune.date("2026-01-02"), perilune.date("2026-01-03 10:00:00.5") },
    sql = { "'2026-01-01 00:00:00.000'", "'2026-01-02 00:00:00.000'", "'2026-01-03 10:00:00.500'" },
  },
  ["date in full"] = {
    declared = "DATE", type = "datetime", values = { perilune.date("2026-01-01"), perilune.date("2026-01-02"), perilune.date("2026-01-03") },
    sql = { "'2026-01-01 00:00:00.000'", "'2026-01-02 00:00:00.000'", "'2026-01-03 00:00:00.000'" },
  },
}

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)

local function count(sql) return db:fetch_value("SELECT count(*) FROM " .. sql) end

--- Creates owners `b` with two rows, things `c` that belong to them, tags `t` that are linked by `l`, and all associations.
local function tables(kind)
  for _, name in ipairs{ "l", "c", "t", "b" } do db:execute("DROP TABLE IF EXISTS " .. name) end
  local declared, sql = kind.declared, kind.sql
  local text = [[
    CREATE TABLE b (id %s PRIMARY KEY, v INTEGER, parent_id %s REFERENCES b, c_count INTEGER NOT NULL DEFAULT 0, updated_at DATETIME);
    CREATE TABLE c (id INTEGER PRIMARY KEY, b_id %s REFERENCES b, n INTEGER);
    CREATE TABLE t (id %s PRIMARY KEY, v INTEGER);
    CREATE TABLE l (b_id %s REFERENCES b, t_id %s REFERENCES t, UNIQUE (b_id, t_id));
    INSERT INTO b (id, v) VALUES ({1}, 1), ({2}, 2);
    INSERT INTO t (id, v) VALUES ({1}, 1), ({2}, 2);
    INSERT INTO c VALUES (1, {1}, 5), (2, {1}, 6), (3, {2}, 7)]]
  db:execute((text:gsub("%%s", declared):gsub("{(%d)}", function(index) return sql[tonumber(index)] end)))
  local function types(...)
    if not kind.type then return nil end
    local result = {}
    for _, name in ipairs{ ... } do result[name] = kind.type end
    return { types = result }
  end
  local B, C = perilune.record("b", types("id", "parent_id")), perilune.record("c", types("b_id"))
  local T, L = perilune.record("t", types("id")), perilune.record("l", types("b_id", "t_id"))
  B.cs, B.one, B.links = B:has_many(C), B:has_one(C), B:has_many(L)
  C.b, L.t = C:belongs_to(B, { counter_cache = "c_count", touch = true }), L:belongs_to(T)
  B.ts = B:has_many(T, { through = B.links, using = L.t })
  B.children, B.parent = B:has_many(B, { columns = "parent_id" }), B:belongs_to(B, { columns = "parent_id" })
  return B, C, T, L
end

--- Calls a function for each kind of key, with its values as fields and in SQL, and with the classes.
local function for_each_kind(f)
  for _, name in ipairs(names) do
    local kind = kinds[name]
    local is_done, failure = pcall(f, kind.values, kind.sql, tables(kind))
    if not is_done then error(name .. ": " .. tostring(failure), 0) end
  end
end

test("associations and conditions by a record work with every type of key", function() for_each_kind(function(values, sql, B, C)
  local b = B:find(values[1])
  equal(b:cs():fetch_count(), count("c WHERE b_id = " .. sql[1]))
  equal(b:one():fetch_one().id, 1)
  equal(C:find(3):b():fetch_one().v, 2)
  equal(C:filter{ b = b }:fetch_count(), 2)
  equal(C:filter{ b = { b, B:find(values[2]) } }:fetch_count(), 3)
  equal(C:filter{ b = B:filter{ v = 2 } }:fetch_count(), 1)
  equal(B:filter{ cs = C:find(1) }:fetch_one().v, 1)
  equal(b:refresh().v, 1)
  equal(b:cs():update_all{ n = 0 }.changed_rows, 2)
  equal(b:cs():filter{ n = 0 }:delete_all().changed_rows, 2)
  equal(count "c", 1)
  b.v = 9
  b:update()
  equal(count "b WHERE v = 9", 1)
  b:delete()
  equal(count "b", 1)
end) end)

test("included and preloaded rows are found with every type of key", function() for_each_kind(function(values, sql, B, C, T, L)
  L:insert{ b_id = values[1], t_id = values[2] }
  local owner = B:including_all(B.cs, B.ts):including_optional(B.parent):find(values[1])
  equal({ #owner.cs, #owner.ts, owner.ts[1].v }, { 2, 1, 2 })
  equal(C:including_all(C.b:including_all(B.cs)):find(1).b.v, 1)
  equal(#C:including_required(C.b:including_all(B.cs)):find(1).b.cs, 2)
  local list = B:order("v"):fetch_all()
  B:preload(list, B.cs, B.ts, B.one)
  equal({ #list[1].cs, #list[2].cs, #list[1].ts, list[2].one.id }, { 2, 1, 1, 3 })
  local made = { B:insert{ id = values[3], v = 3 } }
  C:insert{ id = 9, b_id = values[3] }
  B:preload(made, B.cs)
  equal(#made[1].cs, 1)
  owner = B:including_all(B.cs):find(values[3])
  owner.cs[1].n = 50
  B:save_nested(owner)
  equal(count("c WHERE n = 50 AND b_id = " .. sql[3]), 1)
  made[1].parent_id = values[1]
  made[1]:update()
  equal(#B:including_all(B.children, 3):find(values[1]).children, 1)
end) end)

test("records that are created through an association get the right foreign key", function() for_each_kind(function(values, sql, B, C)
  local b = B:find(values[1])
  local made = b:cs():insert{ n = 1 }
  equal(count("c WHERE b_id = " .. sql[1]), 3)
  equal(made.b_id == C:find(made.id).b_id or type(made.b_id) == "table", true)
  b:cs():build{ n = 2 }:insert()
  equal(b:cs():find_or_insert{ n = 3 }.n, 3)
  equal(b:cs():find_or_insert{ n = 3 }.n, 3)
  equal(b:cs():find_or_build{ n = 3 }.n, 3)
  equal(count("c WHERE b_id = " .. sql[1]), 5)
  equal(C:filter{ b = b }:find_or_insert{ n = 14 }.n, 14)
  equal(C:filter{ b_id = values[1] }:find_or_insert{ n = 15 }.n, 15)
  equal(count("c WHERE b_id = " .. sql[1]), 7)
  B:insert{ id = values[3] }:cs():insert{}
  equal(count("c WHERE b_id = " .. sql[3]), 1)
end) end)

test("links work with every type of key", function() for_each_kind(function(values, sql, B, _, T)
  local b, first, second = B:find(values[1]), T:find(values[1]), T:find(values[2])
  b:ts():add{ first, second }
  b:ts():add(first)
  equal({ b:ts():fetch_count(), count("l WHERE b_id = " .. sql[1]) }, { 2, 2 })
  equal(b:ts():filter{ v = 2 }:fetch_one().v, 2)
  equal(B:filter{ ts = first }:fetch_count(), 1)
  equal(b:ts():remove(first), 1)
  b:ts():replace{ first, second }
  b:ts():replace{ second }
  equal(b:ts():fetch_one().v, 2)
  equal(count("l WHERE t_id = " .. sql[2]), 1)
  if type(values[1]) ~= "table" then
    b:ts():add(values[1])
    equal(b:ts():remove(values[1]), 1)
  end
  b:ts():insert{ id = values[3], v = 3 }
  equal(count("l WHERE t_id = " .. sql[3]), 1)
end) end)

test("counters and timestamps of the owning row are updated with every type of key", function() for_each_kind(function(values, sql, B, C)
  local function counts() return db:fetch_values("SELECT c_count FROM b ORDER BY v") end
  local made = C:insert{ b_id = values[1] }
  C:insert{ b_id = values[1] }
  equal(counts(), { 2, 0 })
  equal(db:fetch_value("SELECT updated_at IS NOT NULL FROM b WHERE id = " .. sql[1]), 1)
  made.b_id = values[2]
  made:update()
  equal(counts(), { 1, 1 })
  made.n = 3
  made:update_changes()
  equal(counts(), { 1, 1 })
  C:find(made.id):delete()
  equal(counts(), { 1, 0 })
end) end)

test("nested values are saved together with every type of key", function() for_each_kind(function(values, sql, B, C)
  B:save_nested({ id = values[1], cs = { { n = 100 } } }, { delete_missing = true })
  equal(count("c WHERE b_id = " .. sql[1]), 1)
  B:save_nested{ id = values[3], v = 3, cs = { { n = 1 }, { n = 2 } }, ts = { { id = values[3] } } }
  equal({ count("c WHERE b_id = " .. sql[3]), count("l WHERE t_id = " .. sql[3]) }, { 2, 1 })
  C:save_nested{ n = 8, b = { id = values[2], v = 22 } }
  equal(count("c JOIN b ON b.id = b_id WHERE n = 8 AND v = 22"), 1)
  C:save_nested{ n = 9, b_id = values[2], b = { id = values[2] } }
  equal(count("c WHERE n = 9 AND b_id = " .. sql[2]), 1)
  matches(fails("argument", function() C:save_nested{ b_id = values[1], b = { id = values[2] } } end), "is set by `b`")
  matches(fails("nested_owner", function() B:save_nested{ id = values[1], cs = { { id = 3 } } } end), "belongs to another record")
  local child = C:including_optional(C.b):find(3)
  child.b.v = 33
  C:save_nested(child)
  equal(count("b WHERE v = 33"), 1)
end) end)

test("self-referential tables work with every type of key", function() for_each_kind(function(values, sql, B)
  local root = B:find(values[1])
  root:children():insert{ id = values[3], v = 3 }
  equal(count("b WHERE parent_id = " .. sql[1]), 1)
  equal({ root:children():fetch_one().v, B:find(values[3]):parent():fetch_one().v }, { 3, 1 })
end) end)

test("common tables, unions and pages work with every type of key", function() for_each_kind(function(values, sql, B, C)
  local all = perilune.common_table("q", B:all())
  equal(all:filter{ id = values[1] }:fetch_count(), 1)
  equal(perilune.common_table("q", B:select("id", B.c.v:as("w"))):filter{ id = values[1] }:fetch_count(), 1)
  equal(perilune.common_table("q", B:select(B.c.id:as("k"))):filter{ k = values[1] }:fetch_count(), 1)
  equal(perilune.common_table("r", all:select("id")):filter{ id = values[1] }:fetch_count(), 1)
  equal(B:filter{ v = 1 }:union(B:filter{ v = 2 }):filter{ id = values[1] }:fetch_count(), 1)
  B:insert{ id = values[3], v = 3 }
  local first = B:order("id"):page_after(nil, 2)
  equal({ #first.records, #B:order("id"):page_after(first.next, 2).records }, { 2, 1 })
  local seen = 0
  for list in B:in_batches(1) do seen = seen + #list end
  equal(seen, 3)
  equal(#B:filter_key{ values[1], values[2] }:fetch_all(), 2)
end) end)

test("inserts and updates of many rows work with every type of key", function() for_each_kind(function(values, sql, B, C)
  C:insert_all{ { b_id = values[1] }, { b_id = values[2] } }
  equal(count("c JOIN b ON b.id = b_id"), 5)
  B:upsert_all({ { id = values[1], v = 11 }, { id = values[3], v = 13 } }, { target = "id", update = { "v" } })
  equal(db:fetch_values "SELECT v FROM b ORDER BY v", { 2, 11, 13 })
  B:upsert{ id = values[1], v = 12 }
  equal(db:fetch_value("SELECT v FROM b WHERE id = " .. sql[1]), 12)
  local record = B:find(values[1])
  record.v = 14
  B:upsert(record)
  record:save()
  equal({ record:exists(), count "b", count "b WHERE v = 14" }, { true, 3, 1 })
end) end)

test("composite keys may contain blobs", function()
  db:execute[[
    DROP TABLE IF EXISTS l; DROP TABLE IF EXISTS c; DROP TABLE IF EXISTS b;
    CREATE TABLE b (k BLOB, n INTEGER, v, PRIMARY KEY (k, n));
    CREATE TABLE c (id INTEGER PRIMARY KEY, b_k BLOB, b_n INTEGER, FOREIGN KEY (b_k, b_n) REFERENCES b);
    INSERT INTO b VALUES (x'01', 1, 'a'), (x'01', 2, 'b'), (x'02', 1, 'c');
    INSERT INTO c VALUES (1, x'01', 1), (2, x'01', 2), (3, x'01', 2)]]
  local B, C = perilune.record("b"), perilune.record("c")
  B.cs, C.b = B:has_many(C), C:belongs_to(B)
  local b = B:find{ k = "\1", n = 2 }
  equal({ b:cs():fetch_count(), C:find(3):b():fetch_one().v, C:filter{ b = b }:fetch_count(), b:refresh().v }, { 2, "b", 2, "b" })
  b:cs():insert{}
  equal(count "c WHERE b_k = x'01' AND b_n = 2", 3)
  B:save_nested({ k = "\1", n = 2, cs = { {} } }, { delete_missing = true })
  equal({ count "c WHERE b_k = x'01' AND b_n = 2", count "c" }, { 1, 2 })
  local list = B:order("v"):fetch_all()
  B:preload(list, B.cs)
  equal({ #list[1].cs, #list[2].cs, #list[3].cs }, { 1, 1, 0 })
end)
