--- Records and drafts of classes whose table is not in the default database or does not exist yet.

local function other_database()
  local other = perilune.queue(":memory:")
  other:execute "CREATE TABLE later (id INTEGER PRIMARY KEY, title TEXT, body TEXT DEFAULT 'b', at DATE)"
  return other
end

test("a record can be created before its table exists and inserted later", function()
  local Later = perilune.record "later"
  local later = Later{ title = "x" }
  equal({ later.title, later.body, Later:is(later) }, { "x", nil, true })
  later.title = "y"
  db:execute "CREATE TABLE later (id INTEGER PRIMARY KEY, title TEXT, body TEXT DEFAULT 'b')"
  later:insert()
  equal({ later.id, later.title, later.body, later:has_changes() }, { 1, "y", "b", false })
  equal(fails("unknown_column", function() return later.titel end).suggestion, "title")
end)

test("a record can first be used with another database", function()
  local other, Later = other_database(), perilune.record "later"
  local later = Later{ title = "x", at = perilune.date "2026-03-01" }
  equal(later:has_changes(), true)
  later:insert(other)
  equal({ later.id, later.body }, { 1, "b" })
  equal(Later:find(other, 1), later)
  later.title = "z"
  equal(later:update_changes(other), true)
  equal(Later{ title = "y" }:insert(other).id, 2)
  equal(fails("unknown_column", Later, { titel = "y" }).suggestion, "title")
end)

test("an unknown column of a record without a table is reported when it is written", function()
  local other, Later = other_database(), perilune.record "later"
  local later = Later{ titel = "x" }
  equal(fails("unknown_column", later.insert, later, other).suggestion, "title")
  equal(Later:fetch_count(other), 0)
  fails("argument", perilune.record "later", { "x" })
end)

test("writing a record whose table does not exist is an error", function()
  local Later = perilune.record "later"
  local later = Later{ title = "x" }
  db:execute "CREATE TABLE lager (id INTEGER PRIMARY KEY)"
  for _, verb in ipairs{ "insert", "update", "save", "upsert", "delete", "exists", "refresh" } do
    equal(fails("unknown_table", later[verb], later).suggestion, "lager")
  end
end)

test("hooks and types apply to records that were created before their table", function()
  local other = other_database()
  local Later = perilune.record("later", { types = { title = "json" } })
  function Later:will_insert() self.title.seen = true end
  local later = Later{ title = { x = 1 } }
  later:insert(other)
  equal(other:fetch_value "SELECT json_extract(title, '$.seen') FROM later", 1)
  equal(later.title.seen, true)
end)

test("drafts can be created before the table exists", function()
  local other, Later = other_database(), perilune.record "later"
  function Later:label() return "* " .. self.title end
  local draft = Later.draft{ id = 7, title = "x" }
  draft.body = "c"
  equal({ draft.title, draft:label(), draft.at }, { "x", "* x", nil })
  local later = Later:insert(other, draft)
  equal({ later.id, later.title, later.body }, { 7, "x", "c" })
  equal(Later:upsert(other, draft).id, 7)
  equal(Later:fetch_count(other), 1)
  fails("unknown_column", Later.draft, { colour = 1 })
end)

test("requests can be built before the table exists, and run on a given database", function()
  local other, Later = other_database(), perilune.record "later"
  other:execute "INSERT INTO later (title, at) VALUES ('x', '2026-03-01'), ('y', NULL), ('z', NULL)"
  equal(Later:filter{ title = "x" }:fetch_one(other).id, 1)
  equal(#Later:filter(Later.c.title:ge("y") & Later.c.at:is_null()):order("title"):fetch_all(other), 2)
  equal(Later:order(Later.c.title:desc()):limit(1):select("TITLE"):fetch_value(other), "z")
  equal(Later:select("id", "title"):fetch_all(other)[2].title, "y")
  equal(Later:filter_key(2):fetch_one(other).title, "y")
  equal(Later:filter{ title = "z" }:update_all(other, { title = "w" }).changed_rows, 1)
  equal(Later:filter{ title = "w" }:delete_all(other).changed_rows, 1)
  equal(Later:filter{ title = "y" }:fetch_count(other), 1)
  local kept = perilune.record "later":filter{ title = "x" }
  equal(kept:fetch_one(other).at, perilune.date "2026-03-01")
  db:execute "CREATE TABLE later (id INTEGER PRIMARY KEY, title TEXT)"
  equal(kept:fetch_one(), nil)
  equal(kept:fetch_count(other), 1)
end)

test("unknown names in requests without a table are reported when a database is available", function()
  local other, Later = other_database(), perilune.record "later"
  local wrong = Later:filter{ titel = "x" }
  equal(fails("unknown_column", wrong.fetch_all, wrong, other).suggestion, "title")
  fails("unknown_table", wrong.fetch_all, wrong)
  matches(fails("unknown_table", Later.filter_key, perilune.record "later", 1).message, "use filter{ column = value }")
  other:read(function()
    equal(fails("unknown_column", Later.filter, Later, { tile = "x" }).suggestion, "title")
    equal(Later:filter_key(1):fetch_one(), nil)
  end)
  db:execute "CREATE TABLE later (id INTEGER PRIMARY KEY, title TEXT)"
  equal(fails("unknown_column", Later.filter, Later, { tite = "x" }).suggestion, "title")
end)

test("types of the class apply to requests that were built before the table exists", function()
  local other = other_database()
  local Later = perilune.record("later", { types = { title = "json", body = "blob" } })
  other:execute([[INSERT INTO later (title, body) VALUES ('{"a":1}', x'61')]])
  equal(Later:filter{ title = { a = 1 } }:fetch_count(other), 1)
  equal(Later:filter{ body = "a" }:fetch_count(other), 1)
  fails("conversion", Later.filter, Later, { title = { f = print } })
end)

test("associations of records without a table are found in the given database", function()
  local other, Later, Part = other_database(), perilune.record "later", perilune.record "part"
  other:execute "CREATE TABLE part (id INTEGER PRIMARY KEY, later_id INTEGER REFERENCES later)"
  other:execute "INSERT INTO later (title) VALUES ('x')"
  other:execute "INSERT INTO part (later_id) VALUES (1), (NULL), (1)"
  Later.parts = Later:has_many(Part)
  local later = Later:including_all(Later.parts):fetch_one(other)
  equal(#later.parts, 2)
  later = Later:fetch_one(other)
  matches(fails("unknown_table", later.parts, later).message, "Use record:parts(db)")
  equal(#later:parts(other):fetch_all(other), 2)
  equal(later:parts():filter{ id = 3 }:fetch_count(other), 1)
  other:read(function() equal(#later:parts():fetch_all(), 2) end)
  fails("argument", later.parts, later, 7)
end)
