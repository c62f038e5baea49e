-- Creates a table, inserts 10,000 rows, groups, updates and counts them.
local sqlite = require "lsqlite3"
local db = sqlite.open_memory()
local function check(code) if code ~= sqlite.OK and code ~= sqlite.DONE then error(db:errmsg()) end end
check(db:exec("CREATE TABLE sale (id INTEGER PRIMARY KEY AUTOINCREMENT, product TEXT NOT NULL, amount INTEGER NOT NULL)"))
check(db:exec("BEGIN"))
local insert = db:prepare("INSERT INTO sale (product, amount) VALUES (?, ?)")
for i = 1, 10000 do
  insert:bind_values("product " .. i % 50, i % 97)
  check(insert:step())
  insert:reset()
end
check(db:exec("COMMIT"))

local totals = {}
for row in db:nrows("SELECT product, sum(amount) AS total FROM sale GROUP BY product ORDER BY product") do totals[#totals + 1] = row end
for i = 1, 3 do print(totals[i].product, totals[i].total) end
check(db:exec("UPDATE sale SET amount = amount - 1 WHERE amount > 50"))
for count in db:urows("SELECT count(*) FROM sale WHERE amount >= 50") do print(count) end
