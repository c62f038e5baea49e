# Prints the customers of a database with the largest totals, and the numbers of their orders.
import sqlite3

db = sqlite3.connect(":memory:")
db.executescript("""
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE "order" (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer, total INTEGER NOT NULL);
  CREATE INDEX order_by_customer ON "order" (customer_id)""")
with db:
    for id in range(1, 501):
        db.execute("INSERT INTO customer VALUES (?, ?)", (id, "customer %d" % id))
    for id in range(1, 5001):
        db.execute('INSERT INTO "order" VALUES (?, ?, ?)', (id, id * 7 % 500 + 1, id * 13 % 1009))
best = db.execute("""
  SELECT customer.id, name, sum(total) AS total FROM customer JOIN "order" ON customer_id = customer.id
  GROUP BY customer.id ORDER BY total DESC, customer.id LIMIT 20""").fetchall()
for id, name, total in best:
    orders = db.execute('SELECT * FROM "order" WHERE customer_id = ? ORDER BY id', (id,)).fetchall()
    print(name, total, " ".join(str(order[0]) for order in orders), sep="\t")
