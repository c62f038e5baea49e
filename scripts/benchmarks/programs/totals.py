# Creates a table, inserts 10,000 rows, groups, updates and counts them.
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE sale (id INTEGER PRIMARY KEY AUTOINCREMENT, product TEXT NOT NULL, amount INTEGER NOT NULL)")
with db:
    db.executemany("INSERT INTO sale (product, amount) VALUES (?, ?)", (("product %d" % (i % 50), i % 97) for i in range(1, 10001)))
totals = db.execute("SELECT product, sum(amount) AS total FROM sale GROUP BY product ORDER BY product").fetchall()
for product, total in totals[:3]:
    print(product, total, sep="\t")
with db:
    db.execute("UPDATE sale SET amount = amount - 1 WHERE amount > 50")
print(db.execute("SELECT count(*) FROM sale WHERE amount >= 50").fetchone()[0])
