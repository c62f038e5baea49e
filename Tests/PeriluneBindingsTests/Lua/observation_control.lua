--- Observations that are paused, changed, mapped and shared, and observations of regions.

local function setup()
  db:execute "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, country TEXT); CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)"
  db:execute "INSERT INTO author (name, country) VALUES ('Melville', 'USA'), ('Verne', 'France'), ('Ibsen', 'Norway')"
end

local function names(db) return table.concat(db:fetch_values "SELECT name FROM author ORDER BY id", " ") end

local function add(name) db:execute("INSERT INTO author (name) VALUES (?)", name) end

--- Waits until the event loop has made all current deliveries. It calls timers after all earlier due calls.
local function turn() perilune.sleep(0.001) end

test("with duplicates, each transaction that may have changed the value delivers it", function()
  setup()
  local observation = db:observe(function(db) return db:fetch_value "SELECT COUNT(*) FROM author" end, { duplicates = true })
  equal({ observation:next() }, { 3 })
  db:execute "UPDATE author SET name = upper(name)"
  equal({ observation:next() }, { 3 })
  observation:cancel()
end)

test("map converts fetched values outside the database access, and equal results are delivered once", function()
  setup()
  local got = {}
  local observation = db:observe(function(db) return db:fetch_all "SELECT name FROM author" end, {
    map = function(rows) equal(db:is_inside_transaction(), false) return #rows, "rows" end,
  })
  equal({ observation:next() }, { 3, "rows" })
  db:execute "UPDATE author SET name = 'x'"
  equal({ observation:try_next() }, { false })
  add "Sand"
  equal({ observation:next() }, { 4, "rows" })
  observation:cancel()
  fails("argument", db.observe, db, names, { map = 5 })
end)

test("a paused observation fetches and delivers nothing until it resumes", function()
  setup()
  local fetched, got = 0, {}
  local observation = db:observe(function(db) fetched = fetched + 1 return names(db) end, function(value) got[#got + 1] = value end, { keeps_alive = false })
  turn()
  equal({ observation:pause(), observation:pause(), observation:is_paused() }, { true, false, true })
  add "Sand"
  add "Woolf"
  turn()
  equal({ fetched, #got }, { 1, 1 })
  equal({ observation:resume(), observation:resume(), observation:is_paused() }, { true, false, false })
  turn()
  equal(got, { "Melville Verne Ibsen", "Melville Verne Ibsen Sand Woolf" })
  observation:pause()
  observation:resume()
  turn()
  equal(#got, 2)
  observation:cancel()
  equal({ observation:pause(), observation:resume(), observation:is_paused() }, { false, false, false })
end)

test("while an observation is paused, next waits and try_next finds nothing", function()
  setup()
  local observation = db:observe(names)
  observation:pause()
  equal({ observation:try_next() }, { false })
  perilune.spawn(function() observation:resume() end)
  equal(observation:next(), "Melville Verne Ibsen")
  observation:pause()
  perilune.spawn(function() observation:cancel() end)
  equal({ observation:next() }, {})
end)

test("an observation can switch to another request, such as the next page", function()
  setup()
  local Author = perilune.record "author"
  local pages = Author:order "id"
  local observation = pages:limit(2):observe()
  local function page(authors) local list = {} for i, author in ipairs(authors) do list[i] = author.name end return list end
  equal(page(observation:next()), { "Melville", "Verne" })
  observation:change(pages:limit(2, 2))
  equal(page(observation:next()), { "Ibsen" })
  add "Sand"
  equal(page(observation:next()), { "Ibsen", "Sand" })
  observation:change(function(db) return db:fetch_value "SELECT COUNT(*) FROM book" end)
  equal(observation:next(), 0)
  add "Woolf"
  equal({ observation:try_next() }, { false })
  db:execute "INSERT INTO book (title) VALUES ('Orlando')"
  equal(observation:next(), 1)
  observation:change(Author)
  equal(#observation:next(), 5)
  fails("argument", observation.change, observation, 5)
  fails("argument", observation.change, observation)
  observation:cancel()
end)

test("after an observation switches its request, the callback receives the new values", function()
  setup()
  local got = {}
  local observation = db:observe(names, function(value) got[#got + 1] = value end, { keeps_alive = false })
  turn()
  observation:change(function() return "other" end)
  turn()
  observation:change(function() return "other" end)
  turn()
  equal(got, { "Melville Verne Ibsen", "other" })
  observation:cancel()
end)

test("tables, columns and requests can be observed as regions", function()
  setup()
  local Author = perilune.record "author"
  local counts = {}
  local function count(name, region)
    counts[name] = 0
    return db:observe_region(region, function(...)
      equal(select("#", ...), 0)
      counts[name] = counts[name] + 1
    end, { keeps_alive = false })
  end
  count("table", "AUTHOR")
  count("columns", { table = "author", columns = { "Name" } })
  count("request", Author:select "country")
  count("class", Author)
  count("list", { "book", { table = "author", columns = "country" } })
  turn()
  equal(counts, { table = 0, columns = 0, request = 0, class = 0, list = 0 })
  db:execute "UPDATE author SET country = 'x' WHERE id = 1"
  turn()
  equal(counts, { table = 1, columns = 0, request = 1, class = 1, list = 1 })
  db:execute "UPDATE author SET name = name WHERE id = 1"
  turn()
  equal(counts, { table = 2, columns = 1, request = 1, class = 2, list = 1 })
  db:execute "INSERT INTO book (title) VALUES ('x')"
  turn()
  equal(counts, { table = 2, columns = 1, request = 1, class = 2, list = 2 })
  pcall(db.write, db, function(db) db:execute "DELETE FROM author" error "no" end)
  turn()
  equal(counts.table, 2)
end)

test("a change in a region can be awaited", function()
  setup()
  local observation = db:observe_region "author"
  perilune.spawn(function() add "Sand" end)
  equal({ observation:next() }, {})
  equal(names(db), "Melville Verne Ibsen Sand")
  observation:cancel()
end)

test("an observation with regions fetches only after changes in them", function()
  setup()
  local observation = db:observe(function(db) return names(db) end, { regions = "book" })
  equal(observation:next(), "Melville Verne Ibsen")
  add "Sand"
  db:execute "INSERT INTO book (title) VALUES ('x')"
  equal(observation:next(), "Melville Verne Ibsen Sand")
  observation:cancel()
end)

test("invalid regions are refused", function()
  setup()
  for _, wrong in ipairs{ 5, {}, { {} }, { table = "author", columns = 5 }, { table = 5 }, function() end, { "author", 5 } } do
    fails("argument", db.observe_region, db, wrong)
  end
  fails("argument", db.observe_region, db)
  fails("argument", db.observe_region, db, "author", function() end, {}, 5)
  equal(fails("unknown_table", db.observe_region, db, "auther").suggestion, "author")
  equal(fails("unknown_column", db.observe_region, db, { table = "author", columns = { "nam" } }).suggestion, "name")
  equal(fails("unknown_option", db.observe_region, db, { table = "author", column = "name" }).suggestion, "columns")
  fails("unknown_option", db.observe_region, db, "author", { duplicates = true })
  fails("unknown_table", db.observe, db, names, { regions = { "nothing" } })
end)

test("a shared observation fetches once for all its users, and only while it has any", function()
  setup()
  local fetched, got = 0, {}
  local shared = db:share_observation(function(db) fetched = fetched + 1 return names(db) end, { keeps_alive = false })
  turn()
  equal(fetched, 0)
  local first = shared:observe(function(value) got[#got + 1] = "1 " .. #value end)
  local second = shared:observe(function(value) got[#got + 1] = "2 " .. #value end)
  turn()
  equal({ fetched, shared:count(), got }, { 1, 2, { "1 20", "2 20" } })
  local third = shared:observe(function(value) got[#got + 1] = "3 " .. #value end)
  equal(got[3], "3 20")
  add "x"
  turn()
  equal({ fetched, table.concat(got, ",", 4) }, { 2, "1 22,2 22,3 22" })
  equal({ first:cancel(), first:cancel(), first:is_active(), second:is_active() }, { true, false, false, true })
  second:cancel()
  third:cancel()
  add "y"
  turn()
  equal({ fetched, shared:count() }, { 2, 0 })
  local fourth <close> = shared:observe(function(value) got[#got + 1] = "4 " .. #value end)
  turn()
  equal({ fetched, got[#got] }, { 3, "4 24" })
  equal({ shared:cancel(), shared:cancel(), fourth:is_active() }, { true, false, false })
  fails("usage", shared.observe, shared, print)
end)

test("an error in one function of a shared observation does not affect the others", function()
  setup()
  local errors, got = {}, {}
  local shared <close> = db:share_observation(names, { keeps_alive = false, on_error = function(e) errors[#errors + 1] = e.n end })
  shared:observe(function() error({ n = 1 }) end)
  local second
  second = shared:observe(function(value) got[#got + 1] = value second:cancel() end)
  turn()
  equal({ errors, got, shared:count() }, { { 1 }, { "Melville Verne Ibsen" }, 1 })
end)

test("a request can be observed by a shared observation, and invalid arguments are refused", function()
  setup()
  local Author = perilune.record "author"
  local count
  local shared <close> = db:share_observation(Author:filter{ country = "France" }, { keeps_alive = false })
  shared:observe(function(authors) count = #authors end)
  turn()
  equal(count, 1)
  fails("argument", db.share_observation, db, 5)
  fails("argument", db.share_observation, db, names, {}, 5)
  fails("argument", shared.observe, shared, 5)
  equal(fails("unknown_option", db.share_observation, db, names, { looks_first = true }).name, "looks_first")
  equal(fails("unknown_method", function() return shared:subscribe() end).name, "subscribe")
end)
