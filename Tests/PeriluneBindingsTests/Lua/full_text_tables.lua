--- FTS5 tables.

local function arguments_of(options)
  db:create_fts5("f", options)
  local sql = db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = 'f'")
  db:drop_table("f")
  return sql:match('^CREATE VIRTUAL TABLE "f" USING fts5%((.*)%)$')
end

local function make_book()
  db:create_table("book", function(t)
    t:primary_key("id", "integer")
    t:column("title", "text")
    t:column("body", "text")
  end)
  db:execute("INSERT INTO book VALUES (7, 'Moby-Dick', 'Call me Ishmael.')")
end

local function found(pattern)
  return db:fetch_values("SELECT rowid FROM f WHERE f MATCH ? ORDER BY rowid", pattern)
end

--- Checks that a full-text table cannot be created.
local function refused(kind, options, part)
  local before = db:schema_sql()
  local err = fails(kind, db.create_fts5, db, "f", options)
  if part then matches(err, part) end
  equal(db:schema_sql(), before)
  return err
end

test("words can be found in a full-text table", function()
  equal(select("#", db:create_fts5("f", { columns = { "title", { "body", unindexed = true } } })), 0)
  db:execute("INSERT INTO f VALUES ('Moby-Dick', 'whale'), ('Typee', 'island')")
  equal(found("moby"), { 1 })
  equal(found("whale"), {})
  equal(db:fetch_value("SELECT highlight(f, 0, '[', ']') FROM f WHERE f MATCH 'typee'"), "[Typee]")
end)

test("options are passed to FTS5", function()
  local columns = { "title", { "body", unindexed = true }, 'a"b' }
  equal(arguments_of{ columns = columns, prefix = { 3, 2 }, columnsize = false, detail = "column" },
    '"title", "body" UNINDEXED, "a""b", prefix=\'2 3\', columnsize=0, detail=column')
  equal(arguments_of{ columns = { "title" }, content = "", prefix = 2, columnsize = true },
    '"title", content=\'\', prefix=\'2\', columnsize=1')
  make_book()
  equal(arguments_of{ columns = { "title" }, content = "book", content_rowid = "id" },
    '"title", content=\'book\', content_rowid=\'id\'')
end)

test("tokenizers split text into words", function()
  local cases = {
    { "ascii", "''ascii''" }, { "porter", "''porter''" }, { "unicode61", "''unicode61''" }, { "trigram", "''trigram''" },
    { { "porter", wrapping = "ascii" }, "''porter'' ''ascii''" },
    { { "unicode61", remove_diacritics = "keep", categories = "L* N*", separators = "'", token_characters = "-_" },
      "''unicode61'' ''remove_diacritics'' ''0'' ''categories'' ''L* N*'' ''separators'' '''''''' ''tokenchars'' ''-_''" },
    { { "unicode61", remove_diacritics = 2 }, "''unicode61'' ''remove_diacritics'' ''2''" },
    { { "porter", wrapping = { "unicode61", token_characters = "-" } }, "''porter'' ''unicode61'' ''tokenchars'' ''-''" },
    { { "trigram", case_sensitive = true }, "''trigram'' ''case_sensitive'' ''1''" },
  }
  for _, case in ipairs(cases) do
    equal(arguments_of{ columns = { "a" }, tokenizer = case[1] }, '"a", tokenize=\'' .. case[2] .. "'")
  end
end)

test("tokenizer options have their documented effects", function()
  local function finds(tokenizer, text, pattern)
    db:create_fts5("f", { columns = { "a" }, tokenizer = tokenizer })
    db:execute("INSERT INTO f VALUES (?)", text)
    local count = #found(pattern)
    db:drop_table("f")
    return count == 1
  end
  equal(finds("porter", "whales", "whale"), true)
  equal(finds("unicode61", "whales", "whale"), false)
  equal(finds({ "unicode61", remove_diacritics = "keep" }, "été", "ete"), false)
  equal(finds({ "unicode61", remove_diacritics = "remove" }, "été", "ete"), true)
  equal(finds({ "unicode61", token_characters = "-" }, "moby-dick", "dick"), false)
  equal(finds({ "ascii", separators = "x" }, "fooxbar", "bar"), true)
  equal(finds("trigram", "Leviathan", "viath"), true)
end)

test("a synchronized table is filled and follows changes", function()
  make_book()
  db:create_fts5("f", { synchronize_with = "book", columns = { "title", "body" }, tokenizer = "porter" })
  equal(found("ishmael"), { 7 })
  db:execute("INSERT INTO book VALUES (8, 'Typee', 'whales')")
  equal(found("whale"), { 8 })
  db:execute("UPDATE book SET body = 'islands' WHERE id = 8")
  equal(found("whale"), {})
  equal(found("island"), { 8 })
  db:execute("UPDATE book SET id = 9 WHERE id = 8")
  equal(found("island"), { 9 })
  db:execute("DELETE FROM book WHERE id = 9")
  equal(found("island"), {})
  equal(db:fetch_value("SELECT title FROM f WHERE f MATCH 'moby'"), "Moby-Dick")
  db:execute("INSERT INTO f(f, rank) VALUES('integrity-check', 1)")
end)

--- Checks that the index of a full-text table matches its content.
local function check_index(name)
  db:execute(("INSERT INTO %s(%s, rank) VALUES('integrity-check', 1)"):format(name, name))
end

test("a synchronized table follows replaced rows", function()
  db:execute[[
    CREATE TABLE note (id INTEGER PRIMARY KEY, slug TEXT UNIQUE COLLATE NOCASE, author TEXT, number INTEGER, body TEXT,
      UNIQUE (author, number) ON CONFLICT REPLACE)]]
  db:create_fts5("f", { synchronize_with = "note", columns = { "body" } })
  local Note = perilune.record("note")
  Note{ id = 1, slug = "a", body = "hello" }:insert()
  Note{ id = 1, slug = "a", body = "bye" }:insert{ on_conflict = "replace" }
  equal({ found("hello"), found("bye") }, { {}, { 1 } })
  Note{ slug = "A", body = "third" }:insert{ on_conflict = "replace" }
  equal({ found("bye"), found("third") }, { {}, { 2 } })
  db:execute("INSERT OR IGNORE INTO note (slug, body) VALUES ('a', 'ignored')")
  pcall(db.execute, db, "INSERT INTO note (slug, body) VALUES ('a', 'refused')")
  db:execute("INSERT INTO note (slug, body) VALUES ('a', 'x') ON CONFLICT (slug) DO UPDATE SET body = 'fourth'")
  equal({ found("third"), found("fourth") }, { {}, { 2 } })
  Note:insert_all({ { slug = "b", body = "five" }, { id = 2, slug = "c", body = "six" }, { slug = "b", body = "seven" } }, { on_conflict = "replace" })
  equal({ found("fourth"), found("five"), found("six"), found("seven") }, { {}, {}, { 2 }, { 4 } })
  Note:find(4):update_changes({ slug = "c" }, { on_conflict = "replace" })
  equal({ found("six"), found("seven") }, { {}, { 4 } })
  db:execute("INSERT INTO note (id, author, number, body) VALUES (10, 'x', 1, 'ten'), (11, 'x', 1, 'eleven')")
  equal({ found("ten"), found("eleven") }, { {}, { 11 } })
  db:execute("UPDATE OR REPLACE note SET id = 11 WHERE id = 4")
  equal({ found("eleven"), found("seven") }, { {}, { 11 } })
  check_index("f")
  db:execute "PRAGMA recursive_triggers = ON"
  db:execute("REPLACE INTO note (id, slug, body) VALUES (12, 'c', 'twelve')")
  equal({ found("seven"), found("twelve") }, { {}, { 12 } })
  check_index("f")
  db:drop_table("f")
  equal({ db:tables(), db:triggers() }, { { "note" }, {} })
end)

test("columns of a synchronized table may have any names", function()
  db:execute [[CREATE TABLE note (id INTEGER PRIMARY KEY, c1 TEXT UNIQUE, c2 TEXT, "new" TEXT)]]
  db:create_fts5("f", { synchronize_with = "note", columns = { "c1", "c2", "new" } })
  for text in ("one two three"):gmatch("%a+") do db:execute("INSERT OR REPLACE INTO note (c1, c2, new) VALUES ('x', ?1, ?1)", text) end
  equal({ found("one"), found("two"), found("three") }, { {}, {}, { 3 } })
  check_index("f")
end)

test("a synchronized table respects unique indexes that are created later", function()
  db:execute "CREATE TABLE note (id INTEGER PRIMARY KEY, slug TEXT, body TEXT); INSERT INTO note VALUES (1, 'a', 'first')"
  db:create_fts5("f", { synchronize_with = "note", columns = { "body" } })
  db:create_index("note", { "slug" }, { unique = true })
  db:execute "INSERT OR REPLACE INTO note (slug, body) VALUES ('a', 'second')"
  equal({ found("first"), found("second") }, { {}, { 2 } })
  check_index("f")
  db:drop_table("note")
  db:drop_table("f")
  equal(db:tables(), {})
end)

test("a synchronized table follows applied changesets", function()
  make_book()
  db:create_fts5("f", { synchronize_with = "book", columns = { "title" } })
  local other = perilune.queue()
  for _, statement in ipairs(db:fetch_values("SELECT sql FROM sqlite_schema WHERE name = 'book'")) do other:execute(statement) end
  local changeset = other:record_changes(function(handle) handle:execute("INSERT INTO book (id, title) VALUES (20, 'Applied')") end)
  db:apply_changes(changeset)
  equal(found("applied"), { 20 })
  check_index("f")
end)

test("random writes keep the index of a synchronized table correct", function()
  local random, pick = random_numbers(20261129)
  db:execute "CREATE TABLE note (id INTEGER PRIMARY KEY, a INTEGER UNIQUE, b INTEGER, c INTEGER, body TEXT, UNIQUE (b, c)); CREATE UNIQUE INDEX i ON note (c) WHERE c > 3"
  db:create_fts5("f", { synchronize_with = "note", columns = { "body" } })
  local words = { "ant", "bee", "cow", "ant bee", "cow cow" }
  local policies = { "", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT" }
  for _ = 1, rounds(300) do
    local kind = random(10)
    local function values() return random(6), random(6), random(3), random(5), pick(words) end
    if kind <= 5 then
      local id, a, b, c, body = values()
      if random(2) == 1 then id = perilune.null end
      pcall(db.execute, db, ("INSERT %s INTO note VALUES (?, ?, ?, ?, ?), (NULL, ?, ?, ?, ?)"):format(pick(policies)), id, a, b, c, body, random(6), random(3), random(5), pick(words))
    elseif kind <= 8 then
      local id, a, b, c, body = values()
      local set = pick{ "id = ?1, a = ?2", "a = ?2, b = ?3, c = ?4, body = ?5", "b = ?3, c = ?4", "body = ?5" }
      pcall(db.execute, db, ("UPDATE %s note SET %s WHERE id %s ?6"):format(pick(policies), set, pick{ "=", "<", ">" }), id, a, b, c, body, random(6))
    elseif kind == 9 then db:execute("DELETE FROM note WHERE id = ?", random(6))
    else
      local id, a, b, c, body = values()
      pcall(db.execute, db, "INSERT INTO note VALUES (?, ?, ?, ?, ?) ON CONFLICT (a) DO UPDATE SET body = excluded.body, id = excluded.id", id, a, b, c, body)
    end
    check_index("f")
  end
end)

test("a synchronized table has the same definition as in GRDB, and follows REPLACE", function()
  make_book()
  db:create_fts5("f", { synchronize_with = "book", columns = { "title" }, prefix = { 2 } })
  equal(db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = 'f'"),
    'CREATE VIRTUAL TABLE "f" USING fts5("title", content=\'book\', content_rowid=\'id\', prefix=\'2\')')
  local names = {}
  for index, trigger in ipairs(db:triggers("book")) do names[index] = trigger.name end
  equal(names, { "__f_ad", "__f_ai", "__f_au", "__f_bi", "__f_bu" })
  matches(db:triggers()[2].sql, 'INSERT INTO "f"("rowid", "title") VALUES (new."id", new."title");')
end)

test("a table without an integer key is synchronized by row id", function()
  db:create_table("note", function(t) t:column("rowid", "text") t:column("text", "text") end)
  db:execute("INSERT INTO note VALUES ('x', 'first')")
  db:create_fts5("f", { synchronize_with = "note", columns = { "text" } })
  db:execute("INSERT INTO note VALUES ('y', 'second'); UPDATE note SET text = 'third' WHERE text = 'first'")
  equal(found("second"), { 2 })
  equal(found("third"), { 1 })
  equal(found("first"), {})
  db:create_table("hidden", function(t) t:column("rowid") t:column("OID") t:column("_rowid_") end)
  refused("definition", { columns = { "OID" }, synchronize_with = "hidden" }, "hide its row ids")
end)

test("synchronized tables may have any names", function()
  db:create_table('the "book"', function(t) t:primary_key('the "id"', "integer") t:column("it's, a (title)", "text") end)
  db:create_fts5('it\'s "f"', { synchronize_with = 'the "book"', columns = { "it's, a (title)" } })
  db:execute([[INSERT INTO "the ""book""" VALUES (3, 'word')]])
  equal(db:fetch_values([[SELECT rowid FROM "it's ""f""" WHERE "it's ""f""" MATCH 'word']]), { 3 })
  db:execute([[DELETE FROM "the ""book"""]])
  db:drop_table('it\'s "f"')
  equal(db:triggers(), {})
end)

test("dropping a synchronized table removes its triggers", function()
  make_book()
  db:create_fts5("f", { synchronize_with = "book", columns = { "title" } })
  db:drop_table("f")
  equal(db:triggers(), {})
  db:execute("INSERT INTO book VALUES (8, 'a', 'b')")
end)

test("synchronization of a full-text table can be ended", function()
  make_book()
  db:create_fts5("f", { synchronize_with = "book", columns = { "title" } })
  db:drop_fts5_synchronization("f")
  equal(db:triggers(), {})
  equal(found("moby"), { 7 })
  db:execute("INSERT INTO book VALUES (8, 'Omoo', '')")
  equal(found("omoo"), {})
  db:drop_fts5_synchronization("f")
end)

test("names that a synchronized table uses cannot be changed", function()
  make_book()
  db:create_fts5("f", { synchronize_with = "book", columns = { "title" } })
  local function alter(change) return fails("definition", db.alter_table, db, "book", change) end
  matches(alter(function(t) t:rename_column("title", "name") end), "`f` is synchronized with column `title`")
  alter(function(t) t:drop_column("TITLE") end)
  matches(fails("definition", db.rename_table, db, "book", "volume"), "`f` is synchronized with `book`")
  matches(fails("definition", db.rename_table, db, "f", "g"), "create it again under the new name")
  db:alter_table("book", function(t) t:rename_column("body", "text") t:add_column("pages", "integer") end)
  db:execute("INSERT INTO book VALUES (8, 'Omoo', '', 3)")
  equal(found("omoo"), { 8 })
end)

test("a full-text table can be created only if it is missing", function()
  make_book()
  for _ = 1, 2 do db:create_fts5("f", { synchronize_with = "book", columns = { "title" }, if_not_exists = true }) end
  equal(found("moby"), { 7 })
  refused("sql", { columns = { "title" } }, "already exists")
end)

test("a full-text table can be temporary unless it is synchronized", function()
  make_book()
  db:create_fts5("f", { columns = { "title" }, temporary = true })
  equal(db:fetch_value("SELECT COUNT(*) FROM sqlite_temp_schema WHERE name = 'f'"), 1)
  db:drop_table("f")
  refused("definition", { columns = { "title" }, temporary = true, synchronize_with = "book" }, "cannot be synchronized")
end)

test("a full-text table needs columns", function()
  refused("argument", {}, "at least one column, got nil")
  refused("argument", nil, "at least one column")
  refused("argument", { columns = {} }, "got an empty list")
  refused("argument", { columns = "title" }, "got the string")
  refused("argument", { columns = { "a", "A" } }, "named twice")
  refused("argument", { columns = { "f" } }, "which FTS5 uses itself")
  refused("argument", { columns = { "rank" } }, "which FTS5 uses itself")
  refused("argument", { columns = { 12 } }, "expected a name")
  refused("argument", { columns = { {} } }, "expected a name")
  equal(refused("unknown_option", { columns = { { "a", unindxed = true } } }).suggestion, "unindexed")
end)

test("conflicting options of a full-text table are refused", function()
  local function with(options) options.columns = { "title" } return options end
  make_book()
  equal(refused("unknown_tokenizer", with{ tokenizer = "portr" }).suggestion, "porter")
  equal(refused("unknown_option", with{ tokenizer = { "unicode61", seperators = "x" } }).suggestion, "separators")
  refused("argument", with{ tokenizer = {} }, "a table without a name")
  refused("argument", with{ tokenizer = 1 }, "expected the name of a tokenizer")
  refused("argument", with{ tokenizer = { "porter", wrapping = "porter" } }, "cannot wrap itself")
  local endless = { "porter" }
  endless.wrapping = endless
  refused("argument", with{ tokenizer = endless }, "cannot wrap itself")
  refused("argument", with{ tokenizer = { "unicode61", separators = "" } }, "expected characters")
  refused("argument", with{ tokenizer = { "unicode61", remove_diacritics = "all" } }, "remove_legacy")
  refused("argument", with{ tokenizer = { "trigram", case_sensitive = 1 } }, "expected a boolean")
  for _, prefix in ipairs{ 0, 1000, 1.5, "2", { 0 }, {} } do refused("argument", with{ prefix = prefix }, "option `prefix`") end
  equal(refused("unknown_detail", with{ detail = "ful" }).suggestion, "full")
  refused("argument", with{ columnsize = 1 }, "expected a boolean")
  equal(refused("unknown_option", with{ tokeniser = "porter" }).suggestion, "tokenizer")
  refused("definition", with{ synchronize_with = "book", content = "book" }, "not both")
  refused("definition", with{ synchronize_with = "book", content_rowid = "id" }, "not both")
end)

test("synchronization needs a table with row ids and the columns", function()
  make_book()
  db:create_table("keyed", { without_rowid = true }, function(t) t:primary_key("title", "text") end)
  db:create_view("v", "SELECT * FROM book")
  db:create_fts5("other", { columns = { "title" } })
  local function with(name, column) return { columns = { column or "title" }, synchronize_with = name } end
  equal(refused("unknown_table", with("bok")).suggestion, "book")
  equal(refused("unknown_column", with("book", "titel")).suggestion, "title")
  refused("definition", with("keyed"), "has no row ids")
  refused("definition", with("v"), "is a view")
  refused("definition", with("other"), "has no row ids")
end)

test("a read block cannot create full-text tables", function()
  make_book()
  db:create_fts5("g", { synchronize_with = "book", columns = { "title" } })
  db:read(function(db)
    fails("readonly", db.create_fts5, db, "f", { columns = { "title" } })
    fails("readonly", db.create_fts5, db, "f", { columns = { "title" }, synchronize_with = "book" })
    fails("readonly", db.drop_fts5_synchronization, db, "g")
    fails("readonly", db.drop_table, db, "g")
  end)
end)

test("user input is converted to a full-text pattern", function()
  local pattern = perilune.fts5_pattern
  equal(pattern("Moby-Dick, it's!"), '"Moby" "Dick" "it" "s"')
  equal(pattern("a OR b", "any_word"), '"a" OR "OR" OR "b"')
  equal(pattern("mob di", "all_prefixes"), '"mob"* "di"*')
  equal(pattern("moby dick", "phrase"), '"moby dick"')
  equal(pattern("moby dick", "prefix_phrase"), '^"moby dick"')
  equal(pattern(" ?! \" "), '""')
  equal(fails("unknown_kind", pattern, "a", "phrases").suggestion, "phrase")
  fails("argument", pattern, 12)
end)

test("full-text patterns match the documented words", function()
  db:create_fts5("f", { columns = { "a" } })
  db:execute("INSERT INTO f VALUES ('Moby Dick'), ('Dick Moby été'), ('C++ \"x\" NOT OR 100%')")
  local pattern = perilune.fts5_pattern
  equal(found(pattern("dick moby")), { 1, 2 })
  equal(found(pattern("moby été", "any_word")), { 1, 2 })
  equal(found(pattern("mo di", "all_prefixes")), { 1, 2 })
  equal(found(pattern("moby dick", "phrase")), { 1 })
  equal(found(pattern("dick", "prefix_phrase")), { 2 })
  equal(found(pattern("c++ NOT \"x 100%(")), { 3 })
  for _, kind in ipairs{ "all_words", "any_word", "all_prefixes", "phrase", "prefix_phrase" } do
    equal(found(pattern("?", kind)), {})
  end
end)
