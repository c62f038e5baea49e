-- Counts the words of a text in a table, and prints the most frequent ones. Argument: the file.
local file = ...
db:execute("CREATE TABLE word (text TEXT PRIMARY KEY, count INTEGER NOT NULL DEFAULT 1)")
db:write(function(db)
  for line in io.lines(file) do
    for word in line:gmatch("%a+") do
      db:execute("INSERT INTO word (text) VALUES (?) ON CONFLICT (text) DO UPDATE SET count = count + 1", word:lower())
    end
  end
end)
for row in db:rows("SELECT text, count FROM word ORDER BY count DESC, text LIMIT 10") do print(row.text, row.count) end
