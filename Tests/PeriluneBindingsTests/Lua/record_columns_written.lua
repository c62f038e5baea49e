--- The columns that each method writes, for each kind of record and each way to set a field.

-- One column of each kind: with a value, with perilune.null, and missing.
local Note

local function make(options)
  db:execute "CREATE TABLE note (id INTEGER PRIMARY KEY, given TEXT, empty TEXT DEFAULT 'usual', absent TEXT DEFAULT 'usual', other TEXT)"
  Note = perilune.record("note", options)
end

local function reset()
  db:execute "DELETE FROM note; INSERT INTO note VALUES (1, 'old', 'old', 'old', 'old')"
end

local function row() return db:fetch_one("SELECT given, empty, absent, other FROM note WHERE id = 1") end

local function check(place, given, empty, absent, other)
  local found = row()
  local texts = {}
  for index, value in ipairs{ found.given or "NULL", found.empty or "NULL", found.absent or "NULL", found.other or "NULL" } do texts[index] = value end
  local text = table.concat(texts, " ")
  local expected = table.concat({ given, empty, absent, other }, " ")
  if text ~= expected then error(("%s: expected %s, got %s"):format(place, expected, text), 2) end
end

local values = { id = 1, given = "new", empty = perilune.null }

--- Creates a record of each kind with the same two fields set.
local kinds = {}

function kinds.made() return Note(values) end

function kinds.fetched()
  local note = Note:find(1)
  note.given, note.empty = "new", nil
  return note
end

function kinds.partly_fetched()
  local note = Note.from_row(db:fetch_one("SELECT id, given, empty FROM note WHERE id = 1"))
  note.given, note.empty = "new", nil
  return note
end

function kinds.draft() return Note.draft(values) end
function kinds.plain_table() return values end

test("update and save write the columns that a record has", function()
  make()
  for _, verb in ipairs{ "update", "save" } do
    for _, kind in ipairs{ "made", "fetched", "partly_fetched" } do
      reset()
      local note = kinds[kind]()
      note[verb](note)
      check(verb .. " " .. kind, "new", "NULL", "old", "old")
      equal(note:has_changes(), false)
      -- Fields that were never set are not written by later updates either.
      db:execute "UPDATE note SET absent = 'newer'"
      note.given = "newest"
      note[verb](note)
      check(verb .. " " .. kind .. " twice", "newest", "NULL", kind == "fetched" and "old" or "newer", "old")
    end
    reset()
    Note[verb](Note, values)
    check(verb .. " table", "new", "NULL", "old", "old")
  end
end)

test("update_changes writes the given columns, or the columns that have changed", function()
  make()
  for _, kind in ipairs{ "made", "fetched", "partly_fetched" } do
    reset()
    local note = kinds[kind]()
    equal(note:has_changes(), true)
    equal(note:update_changes(), true)
    check("update_changes " .. kind, "new", "NULL", "old", "old")
    equal(note:has_changes(), false)
    equal(note:update_changes(), false)
  end
  reset()
  equal(Note{ id = 1 }:update_changes(), false)
  equal(Note{ id = 1, given = "new" }:update_changes{ other = "new" }, true)
  check("update_changes with a table", "old", "old", "old", "new")
  equal(Note{ id = 1, given = "new" }:update_changes(function(note) note.other = "newer" end), true)
  check("update_changes with a function", "old", "old", "old", "newer")
  equal(Note{ id = 1, given = "new" }:update_changes{ given = "new" }, true)
  check("update_changes with what the record has", "new", "old", "old", "newer")
  fails("record_not_found", function() Note{ id = 2, given = "new" }:update_changes() end)
end)

test("upsert writes the columns that a record has", function()
  make()
  for _, kind in ipairs{ "made", "fetched", "partly_fetched", "draft", "plain_table" } do
    reset()
    Note:upsert(kinds[kind]())
    check("upsert " .. kind, "new", "NULL", "old", "old")
    reset()
    Note:upsert_all({ kinds[kind]() }, { target = "id" })
    check("upsert_all " .. kind, "new", "NULL", "old", "old")
  end
end)

test("insert and save without a row write the columns that a record has", function()
  make()
  for _, verb in ipairs{ "insert", "save", "upsert" } do
    for _, kind in ipairs{ "made", "plain_table", "draft" } do
      db:execute "DELETE FROM note"
      if kind ~= "draft" or verb ~= "save" then
        Note[verb](Note, kinds[kind]())
        check(verb .. " " .. kind, "new", "NULL", "usual", "NULL")
      end
    end
  end
end)

test("hooks and types do not affect which columns are written", function()
  make{ types = { other = "json" } }
  function Note:will_update(_, columns) equal(table.concat(columns, " "), "given empty") end
  for _, verb in ipairs{ "update", "save", "update_changes" } do
    reset()
    db:execute "UPDATE note SET other = '1'"
    local note = kinds.made()
    note[verb](note)
    check(verb, "new", "NULL", "old", "1")
  end
end)

test("saving a record keeps the creation time of its row", function()
  db:execute "CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, created_at DATETIME, updated_at DATETIME)"
  local Post = perilune.record("post", { timestamps = true })
  for _, verb in ipairs{ "update", "save", "update_changes", "upsert" } do
    local post = Post:insert{ title = "a" }
    local again = Post{ id = post.id, title = "b" }
    again[verb](again)
    local found = Post:find(post.id)
    equal(found.title, "b")
    equal(found.created_at ~= nil, true)
  end
end)

test("updating a single-row setting inserts the row if it is missing", function()
  db:create_table("configuration", function(t)
    t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
    t:column("theme", "text")
    t:column("size", "integer"):default(3)
  end)
  local Configuration = perilune.single_row("configuration", { defaults = { theme = "light" } })
  for _ = 1, 2 do
    local configuration = Configuration:find()
    configuration.theme = "dark"
    equal(configuration:has_changes(), true)
    equal(configuration:update_changes(), true)
    equal(Configuration:find().theme, "dark")
    equal(Configuration:find().size, 3)
    configuration = Configuration:find()
    configuration.theme = nil
    equal(configuration:update_changes(), true)
    equal(Configuration:find().theme, "light")
  end
end)
