-- Counts the words of a text in a table, and prints the most frequent ones. Argument: the file.
local sqlite = require "lsqlite3"
local db = sqlite.open_memory()
local function check(code) if code ~= sqlite.OK and code ~= sqlite.DONE then error(db:errmsg()) end end
check(db:exec("CREATE TABLE word (text TEXT PRIMARY KEY, count INTEGER NOT NULL DEFAULT 1)"))
check(db:exec("BEGIN"))
local count = db:prepare("INSERT INTO word (text) VALUES (?) ON CONFLICT (text) DO UPDATE SET count = count + 1")
for line in io.lines((...)) do
  for word in line:gmatch("%a+") do
    count:bind_values(word:lower())
    check(count:step())
    count:reset()
  end
end
check(db:exec("COMMIT"))
for row in db:nrows("SELECT text, count FROM word ORDER BY count DESC, text LIMIT 10") do print(row.text, row.count) end
