-- Calls the functions of the reference with wrong arguments and returns the messages that do not begin with the function as it is called
-- here, and the number of checked functions, as JSON. The test prepends `names`, the list of the functions' names: `db:fetch_all`. A
-- column that is being defined, which the reference calls `column` as it does the column of a class, is `definition` here.

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
  timer = perilune.after(1000, function() end), task = perilune.spawn(function() end), enum = perilune.enum{ a = 1 },
  row_type = perilune.row_type{ from_row = print }, SingleRow = perilune.single_row("author"), from_sql = Author:from_sql("SELECT * FROM author"),
  history = perilune.history(Author), changeset = db:record_changes(function() end), schedule = perilune.schedule("0 9 * * *", function() end),
  date_components = perilune.date_components("2026-01-01"), shared = db:share_observation(function() return 1 end),
  handler = perilune.jobs("mail"):handle(function() end),
}
receivers.subscription = receivers.shared:observe(function() end)
receivers.single_row = receivers.SingleRow:find()

--- Objects that exist only in a block: functions that call a function with them.
local blocks = {
  t = function(f) db:create_table("made", f) end,
  alteration = function(f) db:alter_table("book", f) end,
  belongs_to = function(f) db:create_table("made", function(t) f(t:belongs_to("author")) end) end,
  definition = function(f) db:create_table("made", function(t) f(t:column("c", "text")) end) end,
}

local wrong = { 5, "x y", true, function() end, {} }

-- The first argument may be right, and the second one is then wrong.
local function call_of(name)
  local receiver, method = name:match("^([%w_]+):([%w_]+)$")
  if not receiver then return name:find("^perilune[%w_.]+$") and ("local a, b = ... local result = %s(a, b)"):format(name) or nil end
  return (receivers[receiver] or blocks[receiver]) and ("local a, b, %s = ... %s:%s(a, b)"):format(receiver, receiver, method) or nil
end

local waits = { ["perilune.sleep"] = true, ["task:wait"] = true, ["timer:wait"] = true, ["perilune.on_signal"] = true, ["perilune.on_error"] = true }
local found, checked = {}, 0

--- Returns the error of a call with wrong arguments; nil if it succeeds.
local function error_of(chunk, name, value)
  local receiver = name:match("^[%w_]+")
  local is_done, err = pcall(db.in_savepoint, db, function()
    if blocks[receiver] then
      blocks[receiver](function(object) chunk(value, value, object) end)
    else
      chunk(value, value, receivers[receiver])
    end
    return "rollback"
  end)
  return not is_done and err or nil
end

for index = 1, #names do
  local method = names[index]:match("^column:([%w_]+)$")
  if method then names[#names + 1] = "definition:" .. method end
end

for _, name in ipairs(names) do
  local text, is_checked = call_of(name), false
  for _, value in ipairs(text and not waits[name] and wrong or {}) do
    local err = error_of(load(text), name, value)
    if type(err) == "userdata" and err.kind == "argument" then
      is_checked = true
      local start = err.message:sub(1, #name)
      if start ~= name or not err.message:sub(#name + 1):find("^[:{( ]") then found[#found + 1] = name .. " says: " .. err.message end
    end
  end
  if is_checked then checked = checked + 1 end
end
return perilune.json.encode{ found = perilune.json.array(found), checked = checked }
