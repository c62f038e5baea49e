# Counts the words of a text in a table, and prints the most frequent ones. Argument: the file.
import re
import sqlite3
import sys

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE word (text TEXT PRIMARY KEY, count INTEGER NOT NULL DEFAULT 1)")
with db, open(sys.argv[1]) as text:
    for line in text:
        for word in re.findall("[A-Za-z]+", line):
            db.execute("INSERT INTO word (text) VALUES (?) ON CONFLICT (text) DO UPDATE SET count = count + 1", (word.lower(),))
for word, count in db.execute("SELECT text, count FROM word ORDER BY count DESC, text LIMIT 10"):
    print(word, count, sep="\t")
