--- Schema changes of tables with a history.

local Book, history

local function make_books()
  db:execute[[
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, price REAL, sold BOOLEAN);
    INSERT INTO book VALUES (1, 'Typee', 5, 1), (2, 'Omoo', 6.5, 0)]]
  Book = perilune.record("book")
  history = perilune.history(Book)
  history:install(db)
end

--- Returns the values of each version of a row.
local function versions(class, id, ...)
  local list, names = {}, { ... }
  for index, version in ipairs(class:find(id):history()) do
    list[index] = { version.operation }
    for _, name in ipairs(names) do table.insert(list[index], version.record[name] == nil and "nil" or version.record[name]) end
  end
  return list
end

test("a history follows the renaming of its table", function()
  make_books()
  db:write({ note = "sale" }, function() db:execute("UPDATE book SET price = 4 WHERE id = 1") end)
  db:rename_table("book", "tome")
  local Tome = perilune.record("tome")
  local tomes = perilune.history(Tome)
  equal({ tomes:is_installed(), db:table_exists("book_history"), db:index_exists("book_history_by_key") }, { true, false, false })
  equal({ db:index_exists("tome_history_by_key"), db:index_exists("tome_history_by_transaction") }, { true, true })
  db:execute("UPDATE tome SET price = 3 WHERE id = 1")
  equal(versions(Tome, 1, "price"), { { "start", 5.0 }, { "update", 4.0 }, { "update", 3.0 } })
  equal(#Tome:as_of("2100-01-01"):fetch_all(), 2)
  -- A new table with the old name gets a separate history.
  db:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO book VALUES (1, 'Mardi')")
  history:install()
  db:execute("UPDATE book SET title = 'Mardi!'")
  equal({ #Book:find(1):history(), #Tome:find(1):history() }, { 2, 3 })
  fails("sql", db.rename_table, db, "book", "tome_history")
  equal({ #Book:find(1):history(), history:is_installed() }, { 2, true })
end)

test("a table with a history cannot be renamed if the history's new name is taken", function()
  make_books()
  db:execute("CREATE TABLE tome_history (a)")
  local err = fails("definition", db.rename_table, db, "book", "tome")
  matches(err, "`tome_history` cannot be the history of the table under its new name: it exists; rename or drop it first")
  equal({ db:table_exists("book"), history:is_installed(), #db:triggers("book") }, { true, true, 4 })
end)

test("a history follows a renaming of its table and columns in SQL", function()
  make_books()
  db:execute("ALTER TABLE book RENAME TO tome; ALTER TABLE tome RENAME COLUMN title TO name; UPDATE tome SET name = 'Typee!' WHERE id = 1")
  local Tome = perilune.record("tome")
  local tomes = perilune.history(Tome)
  equal(tomes:is_installed(), false)
  fails("history", function() Tome:as_of("2100-01-01"):fetch_all() end)
  tomes:install()
  equal({ tomes:is_installed(), db:table_exists("book_history") }, { true, false })
  equal(versions(Tome, 1, "name"), { { "start", "Typee" }, { "update", "Typee!" } })
  db:execute("ALTER TABLE tome RENAME COLUMN name TO title")
  matches(fails("history", function() Tome:as_of("2100-01-01"):fetch_all() end), "`title`")
  db:alter_table("tome", function(t) t:add_column("pages", "integer") end)
  equal(versions(Tome, 1, "title"), { { "start", "Typee" }, { "update", "Typee!" } })
  db:execute("UPDATE tome SET pages = 3")
  equal(#Tome:find(1):history(), 3)
end)

test("a history follows the columns of its table", function()
  make_books()
  db:alter_table("book", function(t)
    t:drop_column("sold")
    t:rename_column("title", "name")
    t:add_column("pages", "integer"):default(3)
    t:add_column("note", "text")
  end)
  equal(versions(Book, 1, "name", "pages"), { { "start", "Typee", "nil" }, { "update", "Typee", 3 } })
  equal(Book:find(1):history()[2].changed, { "pages" })
  equal(db:fetch_values("SELECT sold FROM book_history WHERE history_operation = 'start'"), { true, false })
  db:execute("UPDATE book SET name = 'Typee!', pages = 4, note = 'n' WHERE id = 1; DELETE FROM book WHERE id = 2")
  equal(versions(Book, 1, "name", "pages", "note")[3], { "update", "Typee!", 4, "n" })
  -- A column that is dropped and added again continues its history column.
  db:alter_table("book", function(t) t:add_column("sold", "boolean") end)
  equal(versions(Book, 1, "sold"), { { "start", true }, { "update", "nil" }, { "update", "nil" } })
  -- Undoing a transaction restores the columns of the previous version.
  db:write({ note = "x" }, function() db:execute("UPDATE book SET name = 'x', sold = TRUE") end)
  history:undo(1)
  equal(db:fetch_one("SELECT name, sold FROM book").name, "Typee!")
end)

test("a history follows the rebuilding of its table", function()
  make_books()
  db:execute("CREATE TRIGGER own AFTER UPDATE ON book BEGIN SELECT 1; END")
  local statements = tostring(db:alter_table("book", { dry_run = true }, function(t) t:change_column("price", "text"):using("price || ' EUR'") end))
  matches(statements, "CREATE TRIGGER \"book_history_insert\"")
  equal(#Book:find(1):history(), 1)
  db:alter_table("book", function(t)
    t:change_column("price", "text"):using("price || ' EUR'")
    t:order_columns{ "price", "id" }
  end)
  equal(versions(Book, 1, "price"), { { "start", 5.0 }, { "update", "5.0 EUR" } })
  -- Values that the previous column type would convert are recorded exactly.
  db:execute("UPDATE book SET price = '007' WHERE id = 1")
  equal(versions(Book, 1, "price")[3], { "update", "007" })
  equal({ #db:triggers("book"), history:is_installed() }, { 5, true })
  db:alter_table("book", function(t) t:add_index{ "title" } end)
  equal(#Book:find(1):history(), 3)
end)

test("untyped values of a STRICT table are recorded exactly", function()
  db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value ANY) STRICT; INSERT INTO t VALUES (1, '007')")
  local T = perilune.record("t")
  perilune.history(T):install()
  db:execute("UPDATE t SET value = '1e3'")
  equal(versions(T, 1, "value"), { { "start", "007" }, { "update", "1e3" } })
end)

test("a change that a history cannot follow is refused and has no effect", function()
  make_books()
  local function refused(part, block, name)
    matches(fails("definition", db.alter_table, db, name or "book", block), part)
    equal({ #db:triggers("book"), #db:columns("book"), #Book:find(1):history() }, { 4, 4, 1 })
  end
  refused("identifies rows by the previous primary key of `book`; remove it first", function(t)
    t:drop_primary_key()
    t:change_column("title"):not_null()
    t:primary_key{ "title" }
  end)
  refused("has no primary key", function(t) t:drop_primary_key() end)
  refused("has a name that histories use", function(t) t:add_column("history_day", "text") end)
  -- A new column cannot reuse the history column of a dropped column with the same name.
  refused("has a column `price` already, of one that was dropped; rename that first", function(t)
    t:drop_column("price")
    t:rename_column("title", "price")
  end)
  refused("`book_history` is the history of `book`, which writes `title`", function(t) t:drop_column("title") end, "book_history")
  refused("which writes `history_operation`", function(t) t:rename_column("history_operation", "x") end, "book_history")
  refused("which writes `title`", function(t) t:change_column("title", "integer") end, "book_history")
  matches(fails("definition", db.rename_table, db, "book_history", "x"), "`book_history` is the history of `book`; rename that table")
  matches(fails("definition", db.drop_table, db, "book_history"), "`book_history` is the history of `book`; remove it")
  matches(fails("definition", db.drop_table, db, "book"), "`book` has a history, `book_history`; remove it first")
  equal(history:is_installed(), true)
  db:alter_table("book", function(t) t:drop_column("price") end)
  db:alter_table("book_history", function(t) t:rename_column("price", "former_price") end)
  db:alter_table("book", function(t) t:rename_column("title", "price") end)
  equal(Book:find(1):history()[1].record.price, "Typee")
  history:remove(db, { keep_versions = true })
  db:rename_table("book_history", "old_books")
  db:drop_table("book")
end)

test("a history whose table was dropped by SQL can be installed again", function()
  make_books()
  db:execute("DROP TABLE book_history")
  history:install()
  db:execute("UPDATE book SET price = 1 WHERE id = 1")
  equal(versions(Book, 1, "price"), { { "start", 5.0 }, { "update", 1.0 } })
end)

test("a history is not continued after the key of the table has changed", function()
  make_books()
  history:remove(db, { keep_versions = true })
  db:execute("DROP TABLE book; CREATE TABLE book (title TEXT NOT NULL PRIMARY KEY COLLATE NOCASE)")
  matches(fails("definition", history.install, history), "`book_history` identifies rows by the previous primary key of `book`")
  db:rename_table("book_history", "old_books")
  history:install()
  history:remove(db, { keep_versions = true })
  db:execute("DROP TABLE book; CREATE TABLE book (title TEXT NOT NULL PRIMARY KEY)")
  fails("definition", history.install, history)
end)

test("a history preserves past rows through all changes of its table", function()
  for seed = 1, rounds(12) do
    local random, pick = random_numbers(seed)
    db:execute("CREATE TABLE item (id INTEGER PRIMARY KEY, a, b TEXT)")
    local Item = perilune.record("item")
    perilune.history(Item):install()
    local count = 0
    local function columns()
      local names = {}
      for _, column in ipairs(db:columns("item")) do
        if column.name ~= "id" then names[#names + 1] = column.name end
      end
      return names
    end
    local steps = {}
    function steps.add(t)
      count = count + 1
      local column = t:add_column("c" .. count, pick{ "integer", "text", "real", "any" })
      if random(2) == 1 then column:default(pick{ 0, "07", 1.5 }) end
    end
    function steps.drop(t)
      local names = columns()
      if #names > 1 then t:drop_column(pick(names)) end
    end
    function steps.rename(t)
      count = count + 1
      t:rename_column(pick(columns()), "r" .. count)
    end
    function steps.change(t) t:change_column(pick(columns()), "text"):using(pick{ "id", "'x' || id", "NULL" }) end
    function steps.order(t) t:order_columns{ pick(columns()) } end
    for _ = 1, 12 do
      local kind = random(4)
      if kind == 1 then db:execute("INSERT INTO item (" .. pick(columns()) .. ") VALUES (?)", pick{ 1, "01", 2.5, "x" })
      elseif kind == 2 then db:execute("UPDATE item SET " .. pick(columns()) .. " = ? WHERE id % 2 = ?", pick{ 7, "1e3" }, random(2) - 1)
      elseif kind == 3 then db:execute("DELETE FROM item WHERE id = ?", random(5))
      else db:alter_table("item", steps[pick{ "add", "drop", "rename", "change", "order" }]) end
      local list = table.concat(columns(), ", ")
      equal(db:fetch_all("SELECT id, " .. list .. " FROM (SELECT *, max(history_version) FROM item_history GROUP BY id) "
        .. "WHERE history_operation <> 'delete' ORDER BY id"), db:fetch_all("SELECT id, " .. list .. " FROM item ORDER BY id"))
    end
    perilune.history(Item):remove()
    db:drop_table("item")
  end
end)

test("dropping a column of a table with a history in SQL is an error with the alternative", function()
  make_books()
  local err = fails("sql", db.execute, db, "ALTER TABLE book DROP COLUMN price")
  matches(err, "error in trigger book_history_insert after drop column")
  matches(err, "the trigger keeps a history, which follows what db:alter_table does to its table")
  db:execute("CREATE TABLE t (a, b); CREATE TRIGGER own AFTER INSERT ON t BEGIN UPDATE t SET b = new.b; END")
  local other = fails("sql", db.execute, db, "ALTER TABLE t DROP COLUMN b")
  equal(tostring(other):find("keeps a history"), nil)
end)
