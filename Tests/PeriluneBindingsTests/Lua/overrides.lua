-- `perilune.with`: a temporary default database.

local function other_database()
  local other = perilune.queue()
  other:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO author VALUES (1, 'other')")
  return other
end

local function author_class()
  db:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO author VALUES (1, 'own')")
  return perilune.record("author")
end

test("perilune.with overrides the database of records, requests and `db` while its function runs", function()
  local Author, other, outer = author_class(), other_database(), db
  local name, count = perilune.with({ database = other }, function(given, extra)
    equal(extra, "extra")
    equal(given == other and db == other and perilune.database == other, true)
    equal(db:fetch_value("SELECT name FROM author"), "other")
    Author{ name = "more" }:insert()
    return Author:find(1).name, Author:fetch_count()
  end, "extra")
  equal({ name, count }, { "other", 2 })
  equal(db == outer and perilune.database == outer, true)
  equal({ Author:find(1).name, Author:fetch_count() }, { "own", 1 })
end)

test("database overrides can be nested and end after an error", function()
  local Author, first, second, outer = author_class(), other_database(), other_database(), db
  second:execute("UPDATE author SET name = 'second'")
  perilune.with({ database = first }, function()
    local err = fails("constraint_primary_key", perilune.with, { database = second }, function()
      equal(Author:find(1).name, "second")
      db:execute("INSERT INTO author (id) VALUES (1)")
    end)
    matches(err, "UNIQUE")
    equal(Author:find(1).name, "other")
    equal(select("#", perilune.with({ database = second }, function() end)), 0)
    equal(db == first, true)
  end)
  equal(fails(nil, perilune.with, { database = first }, function(_, text) error(text, 0) end, "plain"), "plain")
  equal(db == outer and perilune.database == outer, true)
  equal(Author:find(1).name, "own")
end)

test("the innermost of a block and a database override determines the database", function()
  local Author, other = author_class(), other_database()
  db:read(function(reading)
    equal(Author:find(1).name, "own")
    perilune.with({ database = other }, function()
      equal(Author:find(1).name, "other")
      Author:find(1):delete()
      other:write(function() equal(Author:fetch_count(), 0) end)
      equal(Author:find(reading, 1).name, "own")
      perilune.with({ database = reading }, function(inner)
        equal(Author:find(1).name, "own")
        fails("readonly", Author.insert, Author{ name = "x" })
        equal(inner:is_inside_transaction(), true)
      end)
      equal(Author:fetch_count(), 0)
    end)
    equal(Author:find(1).name, "own")
  end)
end)

test("a database override does not change a `db` that the script has assigned", function()
  local other, own = other_database(), {}
  db = own
  perilune.with({ database = other }, function(given)
    equal(db == own and given == other, true)
    db = 7
  end)
  equal(db, 7)
end)

test("the function of a database override cannot yield", function()
  local other, outer = other_database(), db
  local thread = coroutine.create(function()
    perilune.with({ database = other }, function() coroutine.yield() end)
  end)
  local ok, err = coroutine.resume(thread)
  equal(ok, false)
  matches(err, "yield")
  equal(db == outer, true)
end)

test("closing the database inside its override is an error, and the previous database is restored", function()
  local other, outer = other_database(), db
  perilune.with({ database = other }, function()
    db:close()
    fails("closed", db.fetch_value, db, "SELECT 1")
  end)
  fails("closed", perilune.with, { database = other }, function() db:fetch_value("SELECT 1") end)
  equal(db == outer, true)
  equal(db:fetch_value("SELECT 1"), 1)
end)

test("an invalid database override is refused", function()
  local function noop() end
  matches(fails("argument", perilune.with, db, noop), "expected a table such as { database = db }")
  matches(fails("argument", perilune.with, nil, noop), "got nil")
  matches(fails("argument", perilune.with, {}, noop), "database: expected a database, got nil")
  matches(fails("argument", perilune.with, { database = "x" }, noop), "expected a database, got")
  matches(fails("argument", perilune.with, { database = db }), "argument 2: expected a function, got nil")
  local err = fails("unknown_override", perilune.with, { databse = db }, noop)
  equal(err.suggestion, "database")
end)
