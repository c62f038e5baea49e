db:execute("CREATE TABLE IF NOT EXISTS author (id INTEGER PRIMARY KEY, name TEXT)")
db:execute("CREATE TABLE IF NOT EXISTS book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author(id))")

local function insert(name) return db:execute("INSERT INTO author (name) VALUES (?)", name) end

local function names(db) return table.concat(db:fetch_values("SELECT name FROM author ORDER BY id"), " ") end

--- Waits until a condition is met, while the event loop makes due calls.
local function wait_until(holds)
  for _ = 1, 2000 do
    if holds() then return end
    perilune.sleep(0.001)
  end
  error("nothing more has come", 2)
end

--- Waits until the event loop has made all due calls.
local function settle()
  for _ = 1, 20 do perilune.sleep(0.001) end
end

test("an observation delivers its value at the start and after each transaction that changes it", function()
  local got = {}
  db:observe(names, function(value) got[#got + 1] = value end)
  equal(got, {})
  settle()
  insert("a") settle()
  db:write(function(db) insert("b") insert("c") end) settle()
  db:execute("UPDATE author SET name = 'x' WHERE id = 1") settle()
  db:execute("DELETE FROM author") settle()
  equal(got, { "", "a", "a b c", "x b c", "" })
end)

test("an observation does not deliver a value that a transaction leaves unchanged", function()
  local fetched, got = 0, 0
  db:observe(function(db) fetched = fetched + 1 return names(db) end, function() got = got + 1 end)
  settle()
  db:execute("INSERT INTO book (title) VALUES ('x')") settle()
  db:execute("UPDATE author SET name = 'x' WHERE id = 99") settle()
  pcall(db.write, db, function(db) insert("a") error("no") end) settle()
  db:in_transaction(function() insert("a") return "rollback" end) settle()
  equal({ fetched, got }, { 1, 1 })
  insert("a") settle()
  equal({ fetched, got }, { 2, 2 })
  db:execute("UPDATE author SET name = 'a'") settle()
  equal({ fetched, got }, { 3, 2 })
end)

test("if values arrive faster than they are consumed, only the last one is delivered", function()
  local got = {}
  db:observe(names, function(value) got[#got + 1] = value end)
  for i = 1, 50 do insert("n") end
  insert("end")
  settle()
  equal(#got, 1)
  matches(got[1], "end")
end)

test("a request can be observed by its records", function()
  local Author = perilune.record("author")
  local got = {}
  local observation = Author:filter(Author.c.name:ne("hidden")):order("name"):observe(function(authors)
    local list = {}
    for index, author in ipairs(authors) do list[index] = author.name end
    got[#got + 1] = table.concat(list, " ")
  end)
  settle()
  Author{ name = "b" }:insert() settle()
  Author{ name = "hidden" }:insert() settle()
  Author{ name = "a" }:insert() settle()
  Author:filter{ name = "b" }:update_all{ name = "c" } settle()
  equal(got, { "", "b", "a b", "a c" })
  equal(observation:cancel(), true)
  Author:delete_all() settle()
  equal(#got, 4)
  equal(observation:cancel(), false)
  equal(tostring(observation), "observation (cancelled)")
end)

test("associations that a request fetches are observed", function()
  local Author, Book = perilune.record("author"), perilune.record("book")
  Author.books = Author:has_many(Book)
  insert("a")
  local got = {}
  Author:including_all(Author.books):observe(function(authors) got[#got + 1] = #authors[1].books end)
  settle()
  Book{ title = "x", author_id = 1 }:insert() settle()
  equal(got, { 0, 1 })
end)

test("the function of an observation may fetch rows that depend on other rows", function()
  db:execute("CREATE TABLE setting (shows_books BOOLEAN); INSERT INTO setting VALUES (0)")
  local got = {}
  db:observe(function(db)
    local is_books = db:fetch_value("SELECT shows_books FROM setting")
    return db:fetch_value(is_books and "SELECT COUNT(*) FROM book" or "SELECT COUNT(*) FROM author")
  end, function(count) got[#got + 1] = count end)
  settle()
  db:execute("INSERT INTO book (title) VALUES ('x')") settle()
  equal(got, { 0 })
  db:execute("UPDATE setting SET shows_books = 1") settle()
  db:execute("INSERT INTO book (title) VALUES ('y')") settle()
  insert("a") settle()
  equal(got, { 0, 1, 2 })
end)

test("an observation passes several values, including nil, as several arguments", function()
  local got
  db:observe(function(db) return db:fetch_value("SELECT MAX(name) FROM author"), nil, db:fetch_value("SELECT COUNT(*) FROM author"), nil end,
    function(...) got = table.pack(...) end)
  settle()
  equal(got, { n = 4, [3] = 0 })
  insert("a") settle()
  equal(got, { n = 4, "a", nil, 1 })
end)

test("observations detect changes without row ids, by REPLACE, truncation, foreign keys, triggers and in full-text tables", function()
  db:execute[[
    CREATE TABLE word (text TEXT PRIMARY KEY, count) WITHOUT ROWID;
    CREATE TABLE part (id INTEGER PRIMARY KEY, book_id REFERENCES book(id) ON DELETE CASCADE);
    CREATE TABLE note (text); CREATE VIRTUAL TABLE document USING fts5(text);
    CREATE TRIGGER noting AFTER INSERT ON author BEGIN INSERT INTO note VALUES (new.name); END]]
  local counts = {}
  for _, name in ipairs{ "word", "part", "note", "document" } do
    db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM " .. name) end, function(count) counts[name] = count end)
  end
  local text
  db:observe(function(db) return db:fetch_value("SELECT group_concat(count) FROM word") end, function(value) text = value end)
  settle()
  equal(counts, { word = 0, part = 0, note = 0, document = 0 })
  db:execute("INSERT INTO word VALUES ('a', 1), ('b', 2); INSERT INTO book (id) VALUES (1), (2); INSERT INTO part VALUES (1, 1), (2, 2)")
  db:execute("INSERT INTO author (name) VALUES ('a')")
  db:execute("INSERT INTO document VALUES ('some words')")
  settle()
  equal(counts, { word = 2, part = 2, note = 1, document = 1 })
  db:execute("REPLACE INTO word VALUES ('a', 7)") settle()
  equal(text, "7,2")
  db:execute("DELETE FROM book WHERE id = 1") settle()
  db:execute("DELETE FROM word") settle()
  db:execute("DELETE FROM document") settle()
  equal(counts, { word = 0, part = 1, note = 1, document = 0 })
end)

test("observations detect schema changes", function()
  local got
  db:observe(function(db) return db:fetch_all("SELECT * FROM author") end, function(rows) got = rows end)
  insert("a") settle()
  equal(got[1]:has "country", false)
  db:execute("ALTER TABLE author ADD COLUMN country DEFAULT 'US'") settle()
  equal(got[1].country, "US")
end)

test("reading the schema of a table causes no fetch in an observation of another table", function()
  db:execute("CREATE TABLE other (id INTEGER PRIMARY KEY)")
  local fetches, deliveries, shared = 0, 0, 0
  db:observe(function(db) fetches = fetches + 1 return names(db) end, function() end)
  db:observe_region("author", function() deliveries = deliveries + 1 end)
  db:share_observation(names, { duplicates = true }):observe(function() shared = shared + 1 end)
  settle()
  equal({ fetches, deliveries, shared }, { 1, 0, 1 })
  for _, sql in ipairs{ "SELECT * FROM pragma_table_info('other')", "SELECT * FROM pragma_table_list", "SELECT * FROM json_each('[1]')" } do
    db:fetch_all(sql)
    db:execute("INSERT INTO other DEFAULT VALUES") settle()
    db:columns("other")
    db:execute("INSERT INTO other DEFAULT VALUES") settle()
    perilune.record("other"):insert{} settle()
  end
  equal({ fetches, deliveries, shared }, { 1, 0, 1 })
  insert("a") settle()
  equal({ fetches, deliveries, shared }, { 2, 1, 2 })
end)

test("equal values are delivered once, even if a callback modifies its value", function()
  local got = 0
  local function blob() return perilune.blob("x\0y") end
  db:observe(function(db)
    names(db)
    return { 1, 2.5, "three", { nested = { true, false } }, [0] = blob(), date = perilune.date("2020-01-02") }
  end, function(value)
    got = got + 1
    value[1], value[4] = nil, "changed"
  end)
  settle()
  insert("a") settle()
  insert("b") settle()
  equal(got, 1)
end)

test("observations distinguish integers from floats, and texts that differ in one byte", function()
  local values = { 1, 1.0, "1", "1\0", "\0" .. "1", true, { 1 }, { { 1 } }, { [2] = 1 }, {}, ("x"):rep(100), ("x"):rep(99) .. "y" }
  local index, got = 0, 0
  db:observe(function(db) names(db) index = index + 1 return values[index] end, function() got = got + 1 end)
  for count = 1, #values do
    wait_until(function() return got == count end)
    insert("a")
  end
end)

test("a cancelled observation calls nothing, whenever it is cancelled", function()
  local got = {}
  local first = db:observe(names, function() got[#got + 1] = "first" end)
  first:cancel()
  local second
  second = db:observe(names, function() got[#got + 1] = "second" second:cancel() end)
  local third
  third = db:observe(function(db) third:cancel() return names(db) end, function() got[#got + 1] = "third" end)
  local fourth = db:observe(names, function() got[#got + 1] = "fourth" end)
  settle()
  insert("a")
  fourth:cancel()
  do local fifth <close> = db:observe(names, function() got[#got + 1] = "fifth" end) end
  settle()
  table.sort(got)
  equal(got, { "fourth", "second" })
end)

test("observations can be added in callbacks", function()
  local got = {}
  db:observe(names, function(value)
    if #got == 0 then
      db:write(function(db) db:observe(names, function(inner) got[#got + 1] = "inner " .. inner end) end)
    end
    got[#got + 1] = "outer " .. value
  end)
  settle()
  insert("a") settle()
  table.sort(got)
  equal(got, { "inner ", "inner a", "outer ", "outer a" })
end)

test("a callback may write to the observed table until the value no longer changes", function()
  local rounds = 0
  db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM author") end, function(count)
    rounds = rounds + 1
    if count < 100 then insert("n") end
  end)
  wait_until(function() return rounds == 101 end)
  settle()
  equal(rounds, 101)
end)

test("observations that trigger each other endlessly are stopped and reported", function()
  local err
  local function feed(source, target)
    return db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM " .. source) end, function()
      db:execute("INSERT INTO " .. target .. " DEFAULT VALUES")
    end, { on_error = function(told) err = told end })
  end
  local first, second = feed("author", "book"), feed("book", "author")
  wait_until(function() return err end)
  equal(err.kind, "observation_loop")
  matches(err.message, "1000 deliveries")
  settle()
  local count = db:fetch_value("SELECT COUNT(*) FROM author")
  settle()
  equal(db:fetch_value("SELECT COUNT(*) FROM author"), count)
  equal(first:is_active() ~= second:is_active(), true)
end)

test("a callback may wait, and values that arrive in the meantime are merged", function()
  local got, may_end = {}, false
  db:observe(names, function(value)
    got[#got + 1] = value
    wait_until(function() return may_end end)
  end)
  settle()
  insert("a") insert("b") settle() insert("c")
  equal(got, { "" })
  may_end = true
  wait_until(function() return #got == 2 end)
  equal(got, { "", "a b c" })
end)

test("the iterator of an observation waits for values", function()
  local got = {}
  perilune.spawn(function()
    for name in db:observe(names):values() do
      got[#got + 1] = name
      if name == "a b" then break end
    end
    got[#got + 1] = "end"
  end)
  settle()
  insert("a") settle()
  insert("b") settle()
  insert("c") settle()
  equal(got, { "", "a", "a b", "end" })
end)

test("the iterator of an observation ends when it is cancelled, and raises errors", function()
  local observation = db:observe(names)
  local task = perilune.spawn(function()
    local got = {}
    for name in observation:values() do got[#got + 1] = name end
    return got
  end)
  settle()
  observation:cancel()
  equal(task:wait(), { "" })
  equal(observation:next(), nil)
  local failing = db:observe(function(db) error("no", 0) end)
  local is_ok, err = pcall(failing.next, failing)
  equal(err, "no")
end)

test("a nil value does not end the iterator of an observation", function()
  local got = {}
  perilune.spawn(function()
    for name in db:observe(function(db) return db:fetch_value("SELECT MAX(name) FROM author") end):values() do got[#got + 1] = name end
  end)
  settle()
  insert("a") settle()
  db:execute("DELETE FROM author") settle()
  equal(got, { perilune.null, "a", perilune.null })
end)

test("try_next does not wait", function()
  local observation = db:observe(names)
  equal({ observation:try_next() }, { true, "" })
  equal({ observation:try_next() }, { false })
  insert("a")
  equal({ observation:try_next() }, { true, "a" })
  observation:cancel()
  equal({ observation:try_next() }, { false })
end)

test("writes by another connection to the file are found by polling", function()
  local path = temporary_path("polled.sqlite")
  local mine, other = perilune.queue(path), perilune.queue(path)
  mine:execute("CREATE TABLE t (a)")
  local got = {}
  local observation = mine:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM t") end,
    function(count) got[#got + 1] = count end, { poll = "5 ms" })
  wait_until(function() return #got == 1 end)
  other:execute("INSERT INTO t VALUES (1)")
  wait_until(function() return #got == 2 end)
  other:execute("INSERT INTO t VALUES (1)")
  wait_until(function() return #got == 3 end)
  equal(got, { 0, 1, 2 })
  observation:cancel()
  other:execute("INSERT INTO t VALUES (1)")
  perilune.sleep(0.02)
  equal(#got, 3)
  mine:close() other:close()
end)

test("observations of a pool see the writer's changes", function()
  local pool = perilune.pool(temporary_path("pool.sqlite"))
  pool:execute("CREATE TABLE t (a)")
  fails("nested_access", pool.read, pool, function(db) db:observe(function() end, print) end)
  local got = {}
  pool:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM t") end, function(count) got[#got + 1] = count end)
  settle()
  pool:execute("INSERT INTO t VALUES (1)") settle()
  pool:write(function(db) db:execute("INSERT INTO t VALUES (1)") end) settle()
  equal(got, { 0, 1, 2 })
  pool:close()
  settle()
end)

test("closing a database ends its observations", function()
  local other = perilune.queue()
  local observation = other:observe(function() return 1 end, function() error("called") end)
  other:close()
  equal(observation:is_active(), false)
  settle()
end)

test("invalid uses of observations are refused with advice", function()
  local function refused(kind, part, f, ...) matches(fails(kind, f, ...).message, part) end
  refused("argument", "argument 1: expected a function, got nil", db.observe, db)
  refused("argument", "expected a function, got the integer 5", db.observe, db, names, 5, {})
  refused("unknown_option", "did you mean `poll`?", db.observe, db, names, print, { pol = 1 })
  refused("argument", "option `poll`: expected at least 0.001 seconds, got the integer 0", db.observe, db, names, print, { poll = 0 })
  refused("argument", 'option `poll`: expected seconds, or a text such as "500ms"', db.observe, db, names, print, { poll = "soon" })
  refused("argument", "expected a function", db.observe, db, names, { on_error = 1 })
  local observation = db:observe(names, function() end)
  refused("usage", "delivered to a function", observation.next, observation)
  observation:cancel()
  fails("readonly", function() db:observe(function(db) db:execute("DELETE FROM author") end):try_next() end)
  local cycle = {}
  cycle.cycle = cycle
  fails("argument", function() db:observe(function() return cycle end):try_next() end)
end)

test("the handle of an observation's function is unusable in the callback", function()
  local kept, kind
  db:observe(function(db) kept = db return 1 end, function() kind = fails(nil, kept.fetch_value, kept, "SELECT 1").kind end)
  settle()
  equal(kind, "dead_handle")
end)

test("an observation logs a warning if changes cannot be detected", function()
  local path = temporary_path("announced.sqlite")
  local mine, other = perilune.queue(path), perilune.queue(path)
  mine:execute("CREATE TABLE item (a); CREATE TABLE u (a)")
  local got = {}
  mine:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM item") end, function(count) got[#got + 1] = count end)
  settle()
  other:execute("INSERT INTO item VALUES (1)") settle()
  mine:notify_changes("u") settle()
  equal(got, { 0 })
  mine:notify_changes("ITEM") settle()
  equal(got, { 0, 1 })
  other:execute("INSERT INTO item VALUES (1)")
  mine:write(function(db) db:notify_changes() end) settle()
  equal(got, { 0, 1, 2 })
  matches(fails("unknown_table", mine.notify_changes, mine, "itme").message, "did you mean")
  fails("argument", mine.notify_changes, mine, 5)
  mine:close() other:close()
end)

test("fetched records stay unchanged, and observations deliver new ones", function()
  local Author = perilune.record("author")
  local melville = Author{ name = "Melville" }
  melville:insert()
  local observation = Author:filter_key(melville.id):observe()
  local first = observation:next()[1]
  Author:filter_key(melville.id):update_all{ name = "Herman Melville" }
  local second = observation:next()[1]
  equal({ melville.name, first.name, second.name }, { "Melville", "Melville", "Herman Melville" })
  melville:refresh()
  equal(melville.name, "Herman Melville")
  observation:cancel()
end)

test("the first change after observing columns is reported only if it affects these columns", function()
  db:execute "CREATE TABLE volume (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER); CREATE TABLE other (a)"
  db:execute "INSERT INTO volume VALUES (1, 'a', 1)"
  local observation <close> = db:observe_region({ table = "volume", columns = { "title" } })
  equal(observation:try_next(), false)
  db:execute "UPDATE volume SET pages = 2"
  equal(observation:try_next(), false)
  db:execute "INSERT INTO other VALUES (1)"
  equal(observation:try_next(), false)
  db:execute "UPDATE volume SET title = 'b'"
  equal(observation:try_next(), true)
  equal(observation:try_next(), false)
end)
