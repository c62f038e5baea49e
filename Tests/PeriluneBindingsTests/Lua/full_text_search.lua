--- Requests on full-text tables.

db:create_fts5("doc", { columns = { "title", "body" } })
db:execute[[INSERT INTO doc (title, body) VALUES ('Whales', 'the whale is a large animal of the sea'),
  ('Ships', 'a ship sails the sea'), ('Plague', 'an illness')]]

local Doc = perilune.record("doc")

test("a full-text pattern finds rows, best matches first", function()
  equal(Doc:matching("sea"):fetch_count(), 2)
  equal(Doc:matching("whale"):order(Doc.c.rank):fetch_one().title, "Whales")
  equal(Doc:filter(Doc.c.title:match("ships")):fetch_one().title, "Ships")
  equal(Doc:matching(perilune.fts5_pattern("sea whale")):fetch_count() >= 1, true)
end)

test("matches in text can be highlighted", function()
  local row = Doc:matching("whale"):select(Doc.c.body:highlight("[", "]"):as("text")):fetch_one()
  equal(row.text, "the [whale] is a large animal of the sea")
  row = Doc:matching("animal"):select(Doc.c.body:snippet("<", ">", "..", 3):as("text")):fetch_one()
  matches(row.text, "<animal>")
end)

test("user input is not interpreted as syntax", function()
  db:execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, text TEXT)")
  matches(fails("argument", function() perilune.record("plain"):matching("x") end), "full-text")
  fails("argument", function() perilune.sql("x"):highlight() end)
end)
