-- Reads a CSV file of measured values into a table, and prints the mean of each station. Argument: the file.
local sqlite = require "lsqlite3"
local db = sqlite.open_memory()
local function check(code) if code ~= sqlite.OK and code ~= sqlite.DONE then error(db:errmsg()) end end
check(db:exec("CREATE TABLE reading (station TEXT NOT NULL, day TEXT NOT NULL, value REAL NOT NULL)"))
check(db:exec("BEGIN"))
local insert, lines = db:prepare("INSERT INTO reading VALUES (?, ?, ?)"), io.lines((...))
lines()
for line in lines do
  local station, day, value = line:match("^([^,]*),([^,]*),([^,]*)$")
  insert:bind_values(station, day, tonumber(value))
  check(insert:step())
  insert:reset()
end
check(db:exec("COMMIT"))
for row in db:nrows("SELECT station, avg(value) AS mean FROM reading GROUP BY station ORDER BY station") do
  print(row.station, ("%.3f"):format(row.mean))
end
