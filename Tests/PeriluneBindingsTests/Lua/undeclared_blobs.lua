--- BLOBs in columns that are not declared BLOB: fields contain them as blobs, so that they are written back as BLOBs.

local blob, long = perilune.blob, ("\1\0k"):rep(30)

local function make()
  db:execute("CREATE TABLE note (id INTEGER PRIMARY KEY, content, title TEXT, made DEFAULT x'0001', data BLOB, twice AS (content))")
  db:execute("INSERT INTO note (id, content, title, data) VALUES (1, x'6b31', x'6b32', x'6b33'), (2, 'k1', 'k2', x'6b33'), (3, ?, ?, ?)",
    blob(long), blob(long), blob(long))
  return perilune.record "note"
end

--- Returns the storage classes of a row, and its bytes.
local function stored(id)
  return db:fetch_value("SELECT typeof(content) || ' ' || hex(content) || ' ' || typeof(title) || ' ' || hex(title) || ' ' || typeof(made) || ' ' || "
    .. "typeof(data) FROM note WHERE id = ?", id)
end

test("what a field holds", function()
  local Note = make()
  local note, text = Note:find(1), Note:find(2)
  equal({ note.content, note.title, note.made, note.data, note.twice }, { blob "k1", blob "k2", blob "\0\1", "k3", blob "k1" })
  equal({ text.content, text.title, text.data }, { "k1", "k2", "k3" })
  equal({ tostring(note.content), #note.content, note.content == blob "k1", note.content == "k1" }, { "k1", 2, true, false })
  equal(tostring(note), "note{id = 1, content = x'6b31', title = x'6b32', made = x'0001', data = \"k3\", twice = x'6b31'}")
  matches(tostring(Note:find(3)), "content = x'" .. ("01006b"):rep(10) .. "0100...', title")
  equal(Note:find(1) == note, true)
  local typed = perilune.record("note", { types = { content = "blob", title = "string" } }):find(1)
  equal({ typed.content, typed.title }, { "k1", "k2" })
end)

test("writing a fetched record back does not change its row", function()
  local Note = make()
  for id = 1, 3 do
    local before, note = stored(id), Note:find(id)
    equal({ note:has_changes(), note:update_changes() }, { false, false })
    note:update()
    note:save()
    note:upsert()
    note:refresh():update()
    note:inserted{ on_conflict = "replace" }
    Note:find(id):update()
    note.made = blob "x"
    note:update_changes()
    equal({ stored(id), note:has_changes() }, { before, false })
    local copy = note:copy()
    equal(copy:has_changes(), false)
    copy.id = id + 10
    copy:insert()
    Note:insert_all{ { id = id + 20, content = note.content, title = note.title, data = note.data }, { id = id + 30, content = note.content,
      title = note.title, data = note.data } }
    equal({ stored(id + 10), stored(id + 20), stored(id + 30) }, { before, before, before })
  end
end)

test("replacing text by a BLOB with the same bytes is a change", function()
  local note = make():find(1)
  note.content = "k1"
  equal(note:changes(), { content = { old = blob "k1", new = "k1" } })
  equal(note:update_changes(), true)
  note.content = blob "k1"
  equal({ note:has_changes(), note:update_changes(), note:update_changes() }, { true, true, false })
  note.content, note.data = blob "k1", blob "k3"
  equal(note:has_changes(), false)
  note.content = blob "k2"
  equal(note:changes(), { content = { old = blob "k1", new = blob "k2" } })
end)

test("what the database puts in", function()
  local Note = make()
  local note = Note{ id = 9 }:insert()
  equal(note.made, blob "\0\1")
  note:update()
  equal(note:has_changes(), false)
  equal(db:fetch_value "SELECT typeof(made) FROM note WHERE id = 9", "blob")
  local returned = Note:filter{ id = { 1, 2 } }:order("id"):update_all({ title = "x" }, { returning = true })
  equal(returned and returned[1] and { returned[1].content, returned[2].content } or "nothing", { blob "k1", "k1" })
end)

test("records can be made from rows", function()
  local Note = make()
  for row in db:rows "SELECT * FROM note" do
    local note = Note.from_row(row)
    equal(note:has_changes(), false)
    equal({ note.content, note.data }, { Note:find(row.id).content, Note:find(row.id).data })
  end
end)

test("blobs can be used in conditions and keys", function()
  local Note = make()
  for id = 1, 3 do
    local note = Note:find(id)
    equal(Note:filter{ content = note.content, title = note.title, data = note.data }:fetch_one().id, id)
    equal(Note:filter{ content = { note.content, 7 } }:fetch_count(), 1)
  end
  db:execute "CREATE TABLE k (k, n TEXT, PRIMARY KEY (k, n)); INSERT INTO k VALUES (x'61', 'a'), ('a', x'61')"
  local K = perilune.record "k"
  local found = K:find{ k = blob "a", n = "a" }
  equal(K:find{ k = "a", n = blob "a" }.n, blob "a")
  matches(fails("record_not_found", function() K:find{ k = blob "a", n = blob "a" } end), "k = x'61', n = x'61'")
  found.n = "a"
  equal(found:exists(), true)
  found.k = "a"
  matches(fails("changed_key", function() found:update() end), "`k` is \"a\", and x'61' in its row")
  found.k = blob "a"
  found:delete()
  equal(db:fetch_value "SELECT count(*) FROM k", 1)
end)

test("associations with such keys match SQL joins", function()
  db:execute "CREATE TABLE p (id PRIMARY KEY, t TEXT UNIQUE); CREATE TABLE c (n INTEGER PRIMARY KEY, p_id, t TEXT)"
  local values = { "'a'", "x'61'", "1", "1.5", "'1'", "x'31'", "x''", "''" }
  for index, value in ipairs(values) do
    db:execute(("INSERT INTO p VALUES (%s, %s || '')"):format(value, index))
    db:execute(("UPDATE p SET t = %s WHERE rowid = %d"):format(index == 3 and "'11'" or value, index))
    db:execute(("INSERT INTO c VALUES (%d, %s, %s), (%d, %s, %s)"):format(index, value, value, index + 10, value, value))
  end
  local P, C = perilune.record "p", perilune.record "c"
  for _, column in ipairs{ { "p_id", "id" }, { "t", "t" } } do
    local children = P:has_many(C, { columns = column[1], referenced = column[2] })
    P.children = children
    for _, p in ipairs(P:including_all(P.children):fetch_all()) do
      local wanted = db:fetch_values(("SELECT n FROM c JOIN p ON c.%s = p.%s WHERE p.rowid = (SELECT rowid FROM p WHERE id IS ?) ORDER BY n")
        :format(column[1], column[2]), p.id)
      local included, asked = {}, {}
      for index, child in ipairs(p.children) do included[index] = child.n end
      for index, child in ipairs(p:children():order("n"):fetch_all()) do asked[index] = child.n end
      table.sort(included)
      equal({ included, asked }, { wanted, wanted })
      P:preload({ p }, P.children)
      equal(#p.children, #wanted)
    end
  end
end)

test("numbers in BLOB columns are unchanged", function()
  db:execute "CREATE TABLE k (id BLOB PRIMARY KEY, v BLOB)"
  local K = perilune.record "k"
  local k = K:insert{ id = 4, v = 2.5 }
  k.v = 3
  equal({ k:update_changes(), k:refresh().v, K:find(4).v, K:filter{ v = 3 }:fetch_count(), k:exists() }, { true, 3, 3, 1, true })
  K:insert{ id = "4", v = "x" }
  equal(db:fetch_values "SELECT typeof(id) FROM k ORDER BY 1", { "blob", "integer" })
  equal(K:filter_keys{ 4, "4" }:fetch_count(), 2)
end)
