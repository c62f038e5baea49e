# Moves old rows of a table to another one, and prints how many are left.
import sqlite3

db = sqlite3.connect(":memory:")
db.executescript("""
  CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT NOT NULL, text TEXT NOT NULL);
  CREATE TABLE old_event (id INTEGER PRIMARY KEY, day TEXT NOT NULL, text TEXT NOT NULL)""")
with db:
    for id in range(1, 10001):
        db.execute("INSERT INTO event VALUES (?, ?, ?)", (id, "2026-%02d-%02d" % (id % 12 + 1, id % 28 + 1), "event %d" % id))
with db:
    limit = "2026-07-01"
    db.execute("INSERT INTO old_event SELECT * FROM event WHERE day < ?", (limit,))
    db.execute("DELETE FROM event WHERE day < ?", (limit,))
print(*(db.execute("SELECT count(*) FROM " + name).fetchone()[0] for name in ("event", "old_event")), sep="\t")
for event in db.execute("SELECT * FROM event ORDER BY day, id LIMIT 5"):
    print(*event, sep="\t")
