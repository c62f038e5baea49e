-- Reads a CSV file of measured values into a table, and prints the mean of each station. Argument: the file.
db:execute("CREATE TABLE reading (station TEXT NOT NULL, day TEXT NOT NULL, value REAL NOT NULL)")
local Reading, rows, lines = perilune.record("reading"), {}, io.lines((...))
lines()
for line in lines do
  local station, day, value = line:match("^([^,]*),([^,]*),([^,]*)$")
  rows[#rows + 1] = { station = station, day = day, value = tonumber(value) }
end
Reading:insert_all(rows)
for row in db:rows("SELECT station, avg(value) AS mean FROM reading GROUP BY station ORDER BY station") do
  print(row.station, ("%.3f"):format(row.mean))
end
