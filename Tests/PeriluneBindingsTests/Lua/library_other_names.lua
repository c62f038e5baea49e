--- The table of names from other libraries (runtime/other_names.lua).

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author);
  INSERT INTO author VALUES (1, 'a')]]

local Author, Book = perilune.record("author"), perilune.record("book")
Author.books = Author:has_many(Book)
local other_names = library("perilune.runtime.other_names")

--- Returns an object of each kind, by the section of its names.
local function objects()
  local run
  local automation = perilune.automation{ name = "names", durable = true, on = { event = "names" }, run = function(context) run = context end }
  perilune.emit("names")
  while not run do perilune.sleep(0.01) end
  automation:remove()
  local found = {
    durable_run = run,
    class = Author, request = Author:all(), record = Author:find(1), column = Author.c.name, database = db, json = perilune.json, perilune = perilune,
    migrator = perilune.migrator(), statement = db:prepare("SELECT 1"), observer = db:observe_transactions{ on_change = function() end }, log = perilune.log, timer = perilune.after(0, function() end), task = perilune.spawn(function() end),
    observation = Author:observe(function() end),
    shared_observation = db:share_observation(function() end), jobs = perilune.jobs("mail"), history = perilune.history(Author),
    changeset = db:record_changes(function() end),
  }
  found.timer:cancel()
  found.observation:cancel()
  db:create_table("first", function(t)
    found.table = t
    found.column_definition = t:column("a", "text")
  end)
  db:alter_table("first", function(t) found.alteration = t end)
  return found
end

test("listed names of other libraries do not exist in Perilune", function()
  local existing = {}
  for section, object in pairs(objects()) do
    for list in pairs(other_names.sections[section]) do
      for name in list:gmatch("%S+") do
        local is_there, value = pcall(function() return object[name] end)
        if is_there and value ~= nil then existing[#existing + 1] = section .. ":" .. name end
      end
    end
  end
  equal(existing, {})
end)

test("each name of another library is listed once per kind of object", function()
  for section, entries in pairs(other_names.sections) do
    local owners = {}
    for list in pairs(entries) do
      for name in list:gmatch("%S+") do
        if owners[name] then error(("%s: `%s` is listed twice"):format(section, name), 0) end
        owners[name] = true
      end
    end
  end
end)

test("an error names the replacement for every spelling of another library's name", function()
  for _, name in ipairs{ "find_one", "findOne", "first", "First", "first_" } do
    local err = fails("unknown_method", function() return Author[name] end)
    matches(err.message, "use fetch_one()")
    equal(err.suggestion, "fetch_one")
  end
  matches(fails("unknown_method", function() Author:find_by_name("x") end).message, "filter{ name = value }:fetch_one()")
  matches(fails("unknown_column", function() Author:find(1):name_was() end).message, "record:changes().name")
  equal(fails("unknown_column", function() Author:find(1):destroy() end).suggestion, "delete")
end)

test("a misspelled name is not mistaken for a name of another library", function()
  equal(fails("unknown_method", function() Author:filter_kye(1) end).suggestion, "filter_key")
  equal(fails("unknown_column", function() return Author:find(1).get_nam end).advice, nil)
end)

test("an unknown member of the module is an error", function()
  matches(fails("unknown_member", function() perilune.open("x") end).message, "perilune.queue(path)")
  equal(fails("unknown_member", function() return perilune.recrod end).suggestion, "record")
  equal(rawget(perilune, "recrod"), nil)
  matches(fails("unknown_function", function() perilune.json.stringify{} end).message, "perilune.json.encode(value)")
end)

test("an unlisted name gets a replacement that shares a word with it", function()
  matches(fails("unknown_method", function() Author:firstWhereOrNil() end).message, "use fetch_one()")
  matches(fails("unknown_method", function() db:begin_write_lock() end).message, "db:write(function(db) ... end)")
  matches(fails("unknown_member", function() return perilune.new_uuid_text end).message, "perilune.uuid()")
  equal(fails("unknown_method", function() Author:zzz() end).advice, nil)
end)

test("each word that suggests a name leads to a listed name", function()
  for section, entries in pairs(other_names.words) do
    for _, entry in ipairs(entries) do
      if not other_names.find(section, entry[2]) then error(("%s: `%s` is in no list"):format(section, entry[2]), 0) end
    end
  end
end)
