--- Records and drafts of classes whose table is not in the default database, or not there yet.

local function other_database()
  local other = perilune.queue(":memory:")
  other:execute "CREATE TABLE later (id INTEGER PRIMARY KEY, title TEXT, body TEXT DEFAULT 'b', at DATE)"
  return other
end

test("a record can be made before its table, and inserted once it is there", function()
  local Later = perilune.record "later"
  local later = Later{ title = "x" }
  equal({ later.title, later.body, Later:is(later) }, { "x", nil, true })
  later.title = "y"
  db:execute "CREATE TABLE later (id INTEGER PRIMARY KEY, title TEXT, body TEXT DEFAULT 'b')"
  later:insert()
  equal({ later.id, later.title, later.body, later:has_changes() }, { 1, "y", "b", false })
  equal(fails("unknown_column", function() return later.titel end).suggestion, "title")
end)

test("a record can be made for another database first", function()
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

test("what is no column is told when it is written", function()
  local other, Later = other_database(), perilune.record "later"
  local later = Later{ titel = "x" }
  equal(fails("unknown_column", later.insert, later, other).suggestion, "title")
  equal(Later:fetch_count(other), 0)
  fails("argument", perilune.record "later", { "x" })
end)

test("without any table, writing says so", function()
  local Later = perilune.record "later"
  local later = Later{ title = "x" }
  db:execute "CREATE TABLE lager (id INTEGER PRIMARY KEY)"
  for _, verb in ipairs{ "insert", "update", "save", "upsert", "delete", "exists", "refresh" } do
    equal(fails("unknown_table", later[verb], later).suggestion, "lager")
  end
end)

test("hooks and types hold for such records", function()
  local other = other_database()
  local Later = perilune.record("later", { types = { title = "json" } })
  function Later:will_insert() self.title.seen = true end
  local later = Later{ title = { x = 1 } }
  later:insert(other)
  equal(other:fetch_value "SELECT json_extract(title, '$.seen') FROM later", 1)
  equal(later.title.seen, true)
end)

test("drafts can be made before the table as well", function()
  local other, Later = other_database(), perilune.record "later"
  function Later:label() return "* " .. self.title end
  local draft = Later.draft{ id = 7, title = "x" }
  draft.body = "c"
  equal({ draft.title, draft:label(), draft.at }, { "x", "* x", nil })
  local later = Later:insert(other, draft)
  equal({ later.id, later.title, later.body }, { 1, "x", "c" })
  equal(Later:upsert(other, draft).id, 7)
  equal(Later:fetch_count(other), 2)
  fails("unknown_column", Later.draft, { colour = 1 })
end)
