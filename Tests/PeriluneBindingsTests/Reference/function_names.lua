-- Calls the functions of the reference with wrong arguments and returns the messages that do not begin with the function as it is called
-- here, and the number of checked functions, as JSON. The test prepends `names`, the list of the functions' names: `db:fetch_all`.

db:execute[[
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, born DATE, is_known BOOLEAN DEFAULT 0);
  CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author(id), title TEXT, price REAL, cover BLOB);
  INSERT INTO author (name) VALUES ('Ursula'), ('Ada'), ('');
  INSERT INTO book (author_id, title, price, cover) VALUES (1, 'a', 1.5, x'00ff'), (1, 'b', NULL, NULL), (2, 'c', -0.0, zeroblob(3))]]
local Author, Book = perilune.record("author"), perilune.record("book")
Author.books, Book.author = Author:has_many(Book), Book:belongs_to(Author)

local receivers = {
  db = db, Class = Author, record = Author:find(1), request = Author:filter{ id = 1 }, association = Author.books, column = Book.c.title,
  statement = db:prepare("SELECT 1"), row = db:fetch_one("SELECT 1 AS a"), date = perilune.now(), migrator = perilune.migrator(),
  prepared = Author:filter{ id = 1 }:prepare(), observation = db:observe(function(db) return db:fetch_value("SELECT 1") end, function() end),
  observer = db:observe_transactions{ did_commit = function() end }, draft = Author.draft{ name = "x" }, cursor = db:rows("SELECT 1"),
  automation = perilune.automation{ name = "a", on = { change = "book" }, run = function() end }, jobs = perilune.jobs("q"),
  timer = perilune.after(1000, function() end), task = perilune.spawn(function() end),
}

local wrong = { 5, "x y", true, function() end, {} }

-- The first argument may be right, and the second one is then wrong.
local function calls_of(name)
  local receiver, method = name:match("^(%w+):([%w_]+)$")
  if not receiver then return name:find("^perilune[%w_.]+$") and { ("local a, b = ... local result = %s(a, b)"):format(name) } or {}, name end
  return receivers[receiver] and { ("local a, b, %s = ... %s:%s(a, b)"):format(receiver, receiver, method) } or {}, name
end

local waits = { ["perilune.sleep"] = true, ["task:wait"] = true, ["timer:wait"] = true, ["perilune.on_signal"] = true, ["perilune.on_error"] = true }
local found, checked = {}, 0
for _, name in ipairs(names) do
  local texts, called = calls_of(name)
  local is_checked = false
  for _, text in ipairs(waits[name] and {} or texts) do
    for _, value in ipairs(wrong) do
      local chunk = load(text)
      local ok, err = pcall(db.in_savepoint, db, function()
        chunk(value, value, receivers[name:match("^%w+")])
        return "rollback"
      end)
      if not ok and type(err) == "userdata" and err.kind == "argument" then
        is_checked = true
        local start = err.message:sub(1, #called)
        if start ~= called or not err.message:sub(#called + 1):find("^[:{( ]") then found[#found + 1] = called .. " says: " .. err.message end
      end
    end
  end
  if is_checked then checked = checked + 1 end
end
return perilune.json.encode{ found = perilune.json.array(found), checked = checked }
