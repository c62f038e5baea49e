--- Tables without a primary key: rows are found by SQLite's row id, which is the key of records if the class asks for it.

local function log_table()
  db:execute "CREATE TABLE log (text TEXT, parent INTEGER)"
  db:execute "INSERT INTO log (text) VALUES ('a'), ('b'), ('c')"
end

test("rows of tables without a key are found, iterated and deleted by row id", function()
  log_table()
  local Log = perilune.record "log"
  equal({ Log:find(2).text, Log:fetch_one(3).text, Log:fetch_one(9), Log:exists(1), Log:exists(9) }, { "b", "c", nil, true, false })
  equal(Log:filter_key(2):fetch_one().text, "b")
  equal(Log:filter{ rowid = 3 }:fetch_one().text, "c")
  equal(Log:filter(Log.c._rowid_:gt(1)):order(Log.c.oid:desc()):fetch_one().text, "c")
  local err = fails("record_not_found", Log.find, Log, 9)
  equal(err.key, 9)
  matches(err.message, "no row of `log` has rowid = 9")
  equal({ Log:delete_one(2), Log:delete_one(2), Log:fetch_count() }, { true, false, 2 })
  equal(rawget(Log:find(1), "rowid"), nil)
end)

test("a record without a key cannot be updated, and the error suggests the row id as the key", function()
  log_table()
  local record = perilune.record "log":find(1)
  for _, verb in ipairs{ "update", "delete", "refresh" } do
    matches(fails("argument", record[verb], record).message, [["rowid" for the row id, with the option primary_key]])
  end
end)

test("records have the row id as their key if the class asks for it", function()
  log_table()
  local Log = perilune.record("log", { primary_key = "rowid" })
  local record = Log:find(2)
  equal(record, Log{ rowid = 2, text = "b" })
  record.text = "x"
  equal(record:changes(), { text = { old = "b", new = "x" } })
  record:update()
  equal(db:fetch_values "SELECT text FROM log ORDER BY rowid", { "a", "x", "c" })
  equal(record:update_changes{ text = "y" }, true)
  equal(record:refresh().text, "y")
  equal({ record:exists(), record:delete(), record:exists() }, { true, true, false })
  local added = Log{ text = "d" }:insert()
  equal({ added.rowid, added:has_changes() }, { 4, false })
  equal(Log{ rowid = 40, text = "e" }:insert().rowid, 40)
  equal(Log{ rowid = 40, text = "f" }:save().text, "f")
  equal(Log:insert(Log.draft{ text = "g" }).rowid, 41)
  equal(Log{ text = "h" }:insert{ returning = "rowid" }, 42)
  equal(Log:insert_all{ { text = "i" }, { text = "j" } }[2].rowid, 44)
  local list = {}
  for i = 1, 200 do list[i] = { text = "k" .. i } end
  Log:insert_all(list)
  equal(Log:find(144).text, "k100")
  matches(fails("argument", added.upsert, added).message, "no unique key")
  db:execute "CREATE TABLE odd (rowid TEXT)"
  local Odd = perilune.record("odd", { primary_key = "oid" })
  equal(Odd{ rowid = "x" }:insert().oid, 1)
  equal({ Odd:find(1).oid, Odd:filter{ rowid = "x" }:fetch_one().oid }, { 1, 1 })
end)

test("requests return records with the row id, and selected columns without it", function()
  log_table()
  local Log = perilune.record("log", { primary_key = "rowid" })
  local record = Log:filter{ text = "b" }:fetch_one()
  equal(record.rowid, 2)
  record.text = "x"
  record:update()
  equal(Log:order("rowid"):fetch_all()[2], record)
  for each in Log:filter_key{ 2 }:rows() do equal(each, record) end
  equal(Log:select("text"):order("rowid"):fetch_all()[1]:columns(), { "text" })
  equal(Log:select("rowid", "text"):order("rowid"):fetch_one().rowid, 1)
  equal(Log:annotated_with(Log.c.text:length():as "n"):fetch_one().n, 1)
  equal(Log:filter{ text = "a" }:union(Log:filter{ text = "c" }):fetch_count(), 2)
  equal(Log:filter(Log.c.rowid:is_in(Log:select("rowid"):limit(2))):fetch_count(), 2)
  local seen = {}
  for batch in Log:in_batches(2) do seen[#seen + 1] = #batch end
  equal(seen, { 2, 1 })
  equal(Log:filter_key(2):update_all{ text = "z" }.changed_rows, 1)
  equal(Log:order("rowid"):limit(2):delete_all().changed_rows, 2)
  equal(Log:fetch_one().rowid, 3)
  function Log.requests:default() return self:filter{ text = "c" } end
  equal(Log:find(3).rowid, 3)
  fails("record_not_found", Log.find, Log, 1)
end)

test("associations can refer to records whose key is the row id", function()
  log_table()
  db:execute "UPDATE log SET parent = 1 WHERE rowid > 1"
  local Log = perilune.record("log", { primary_key = "rowid" })
  Log.children = Log:has_many(Log, { columns = "parent", referenced = "rowid" })
  Log.owner = Log:belongs_to(Log, { columns = "parent", referenced = "rowid" })
  local root = Log:including_all(Log.children:order("text")):filter_key(1):fetch_one()
  equal({ #root.children, root.children[2].rowid }, { 2, 3 })
  equal(Log:including_required(Log.owner):order("text"):fetch_one().owner.rowid, 1)
  equal(root:children():filter{ text = "c" }:fetch_one().rowid, 3)
  root.children[1].text = "x"
  root.children[1]:update()
  equal(Log:find(2).text, "x")
end)

test("a column with the name of the row id hides it, and the key of a class takes precedence", function()
  db:execute "CREATE TABLE t (rowid TEXT, code TEXT)"
  db:execute "INSERT INTO t VALUES ('x', 'c')"
  local T, Coded = perilune.record "t", perilune.record("t", { primary_key = "code" })
  equal({ T:filter{ rowid = "x" }:fetch_count(), T:find(1).code, T:filter{ oid = 1 }:fetch_count() }, { 1, "c", 1 })
  equal(perilune.record("t", { primary_key = "rowid" }):find("x").code, "c")
  equal(perilune.record("t", { primary_key = "_rowid_" }):find(1)._rowid_, 1)
  equal({ Coded:find("c").rowid, Coded:filter_key("c"):fetch_count(), Coded:filter_key(1):fetch_count() }, { "x", 1, 0 })
  db:execute "CREATE TABLE w (a TEXT PRIMARY KEY) WITHOUT ROWID"
  fails("unknown_column", function() return perilune.record("w").c.rowid end)
  fails("unknown_column", function() return perilune.record("w", { primary_key = "rowid" }):find(1) end)
end)
