--- Record classes and their records.

local function library()
  db:execute[[
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born INTEGER DEFAULT 1800, active BOOLEAN)]]
  return perilune.record("author")
end

test("fields are columns; reading one that is NULL gives nil", function()
  local Author = library()
  local author = Author{ name = "Herman Melville", active = true }
  equal(author.name, "Herman Melville")
  equal(author.country, nil)
  equal(rawget(author, "name"), "Herman Melville")
end)

test("an unknown field is an error that names the nearest", function()
  local Author = library()
  local author = Author{ name = "Ada" }
  local err = fails("unknown_column", function() return author.nmae end)
  equal(err.suggestion, "name")
  matches(err, "did you mean `name`")
  fails("unknown_column", function() author.nmae = 1 end)
  equal(fails("unknown_column", Author, { nmae = "x" }).suggestion, "name")
end)

test("methods are found on records, and inherited", function()
  local Author = library()
  function Author:label() return "<" .. self.name .. ">" end
  local Sub = Author:extend()
  function Sub:label() return "sub " .. Author.label(self) end
  equal(Author{ name = "a" }:label(), "<a>")
  equal(Sub{ name = "a" }:label(), "sub <a>")
  function Author:later() return 1 end
  equal(Sub{ name = "a" }:later(), 1)
end)

test("a method that is called like a column is an error", function()
  local Author = library()
  Author{ name = "x" }
  matches(fails("argument", function() function Author:country() end end), "it is a column")
  local Early = perilune.record("author")
  function Early:country() end
  matches(fails("argument", Early, { name = "x" }), "is called like a column")
end)

test("insert fills in the key and what the database has put in", function()
  local Author = library()
  local author = Author{ name = "Ada", country = perilune.null }
  equal(author:insert() == author, true)
  equal(author.id, 1)
  equal(author.born, 1800)
  equal(rawget(author, "country"), nil)
  equal(db:fetch_value("SELECT born FROM author"), 1800)
end)

test("update writes all columns, those that are nil as NULL", function()
  local Author = library()
  local author = Author{ name = "Ada", country = "UK" }:insert()
  author.country, author.name = nil, "Ada Lovelace"
  author:update()
  equal(db:fetch_one("SELECT name, country, born FROM author"):to_table(), { name = "Ada Lovelace", country = perilune.null, born = 1800 })
end)

test("an update of a row that is not there says which", function()
  local Author = library()
  local err = fails("record_not_found", function() Author{ id = 7, name = "x" }:update() end)
  equal(err.table, "author")
  equal(err.key, 7)
end)

test("find raises and fetch_one gives nil where there is no row", function()
  local Author = library()
  local author = Author{ name = "Ada" }:insert()
  equal(Author:find(1) == author, true)
  equal(Author:fetch_one(2), nil)
  equal(Author:fetch_one(nil), nil)
  equal(fails("record_not_found", Author.find, Author, 2).key, 2)
end)
