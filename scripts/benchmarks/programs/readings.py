# Reads a CSV file of measured values into a table, and prints the mean of each station. Argument: the file.
import csv
import sqlite3
import sys

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE reading (station TEXT NOT NULL, day TEXT NOT NULL, value REAL NOT NULL)")
with db, open(sys.argv[1], newline="") as file:
    rows = csv.reader(file)
    next(rows)
    db.executemany("INSERT INTO reading VALUES (?, ?, ?)", ((station, day, float(value)) for station, day, value in rows))
for station, mean in db.execute("SELECT station, avg(value) AS mean FROM reading GROUP BY station ORDER BY station"):
    print(station, "%.3f" % mean, sep="\t")
