-- The work of `scripts/fuzz memory` under memory limits of all sizes, so that each allocation of SQLite, Lua and the library fails
-- once.

-- work: rows
db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT UNIQUE, c BLOB)"
for i = 1, 200 do db:execute("INSERT INTO t (a, b, c) VALUES (?, ?, randomblob(500))", i, "x" .. i) end
db:execute("UPDATE t SET c = randomblob(3000), b = b || ?", ("y"):rep(3000))
db:execute "DELETE FROM t WHERE id % 3 = 0"

-- work: full text
db:execute "CREATE VIRTUAL TABLE f USING fts5(a, b)"
for i = 1, 100 do db:execute("INSERT INTO f VALUES (?, ?)", ("word" .. i .. " "):rep(50), "text " .. i) end
db:fetch_all "SELECT highlight(f, 0, '<', '>'), snippet(f, 1, '[', ']', '...', 5), rank FROM f WHERE f MATCH 'word1* OR text' ORDER BY rank"
db:execute "INSERT INTO f (f) VALUES ('optimize'); INSERT INTO f (f) VALUES ('rebuild'); DELETE FROM f WHERE rowid < 50"
db:execute "CREATE VIRTUAL TABLE g USING fts5(a, tokenize = 'trigram')"
for i = 1, 50 do db:execute("INSERT INTO g VALUES (?)", ("word" .. i .. " "):rep(20)) end
db:fetch_all "SELECT * FROM g WHERE a LIKE '%ord1%'"

-- work: JSON
local numbers = "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT i FROM n)"
db:fetch_all("SELECT json_group_array(json_object('a', i, 'b', printf('%0200d', i))) FROM " .. numbers)
db:fetch_all("SELECT * FROM json_tree((SELECT json_group_array(i) FROM " .. numbers .. "))")
db:fetch_value "SELECT json_patch(json_object('a', hex(zeroblob(5000))), json_object('b', hex(zeroblob(5000))))"

-- work: sorting, grouping and windows
db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, g, v)"
db:execute [[
  INSERT INTO t (g, v) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT i % 7, hex(randomblob(20)) FROM n]]
db:fetch_all [[
  SELECT g, row_number() OVER (PARTITION BY g ORDER BY v), lag(v) OVER (ORDER BY v), nth_value(v, 3) OVER (PARTITION BY g ORDER BY id),
    sum(id) OVER (ORDER BY v ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING) FROM t]]
db:fetch_all "SELECT g, group_concat(DISTINCT v) FROM t GROUP BY g HAVING count(*) > 1 ORDER BY 2"
db:fetch_all "SELECT * FROM t p JOIN t q ON p.g = q.id AND p.v > q.v ORDER BY q.v, p.id LIMIT 200"
db:fetch_all "SELECT * FROM t WHERE id IN (SELECT g FROM t) EXCEPT SELECT * FROM t WHERE id < 5 INTERSECT SELECT * FROM t"

-- work: triggers and conflicts
db:execute [[
  CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b);
  CREATE TABLE log (x, y);
  CREATE TRIGGER inserted AFTER INSERT ON t BEGIN
    INSERT INTO log VALUES (new.a, zeroblob(2000)); DELETE FROM log WHERE rowid < new.id - 20;
  END;
  CREATE TRIGGER updated BEFORE UPDATE ON t BEGIN INSERT INTO log VALUES (old.a, new.b); END]]
local upsert = "ON CONFLICT (a) DO UPDATE SET b = excluded.b || hex(b) WHERE length(b) < 20000"
for i = 1, 100 do db:execute("INSERT INTO t (a, b) VALUES (?1 % 40, zeroblob(1000)) " .. upsert, i) end
db:fetch_all "INSERT INTO t (a, b) VALUES (1000, zeroblob(3000)), (1001, zeroblob(3000)) RETURNING *"
db:execute "INSERT OR REPLACE INTO t VALUES (1, 1000, zeroblob(4000))"

-- work: the schema
db:execute [[
  CREATE TABLE t (k TEXT, n INTEGER, z, PRIMARY KEY (k, n)) WITHOUT ROWID;
  CREATE INDEX i ON t (length(z), k);
  CREATE INDEX j ON t (n) WHERE n > 5]]
for i = 1, 100 do db:execute("INSERT INTO t VALUES (?1, ?2, zeroblob(?2 * 30))", "k" .. i, i) end
db:execute "REINDEX; ANALYZE"
db:execute "ALTER TABLE t ADD COLUMN w DEFAULT 5; ALTER TABLE t RENAME COLUMN z TO zz; ALTER TABLE t DROP COLUMN w; ALTER TABLE t RENAME TO u"
db:fetch_all "PRAGMA integrity_check"
db:execute "DROP TABLE u"

-- work: foreign keys
db:execute [[
  CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE CASCADE ON UPDATE SET NULL, d BLOB)]]
for i = 1, 60 do
  db:execute("INSERT INTO p VALUES (?, 'n')", i)
  db:execute("INSERT INTO c (p, d) VALUES (?, zeroblob(1500))", i)
end
db:execute "UPDATE p SET id = id + 1000 WHERE id < 20"
db:execute "DELETE FROM p WHERE id > 30"

-- work: records and requests
db:create_table("author", function(t)
  t:primary_key("id", "integer")
  t:column("name", "text")
  t:column("data", "json")
  t:column("is_active", "boolean")
  t:column("born_at", "datetime")
end)
db:create_table("book", function(t)
  t:primary_key("id", "integer")
  t:column("title", "text")
  t:belongs_to "author"
end)
local Author, Book = perilune.record("author", { types = { data = "json" } }), perilune.record "book"
Author.books = Author:has_many(Book)
Book.author = Book:belongs_to(Author)
for i = 1, 40 do
  local author = Author{ name = "n" .. i, data = { x = ("d"):rep(50 * i) }, is_active = true }
  author:insert()
  for j = 1, 3 do Book{ title = "t" .. j, author_id = author.id }:insert() end
end
local list = {}
for i = 1, 150 do list[i] = Book{ title = ("z"):rep(i), author_id = 1 } end
Book:insert_all(list)
for _, author in ipairs(Author:including_all(Author.books):fetch_all()) do
  author.name = author.name .. "x"
  author:update()
end
Book:filter{ author_id = 2 }:delete_all()
Author:order("name"):limit(5):fetch_all()

-- work: changesets
db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, a)"
local changes = db:record_changes(function(db)
  for i = 1, 60 do db:execute("INSERT INTO t VALUES (?1, zeroblob(?1 * 100))", i) end
  db:execute "UPDATE t SET a = randomblob(800) WHERE id % 2"
  db:execute "DELETE FROM t WHERE id % 5 = 0"
end)
db:apply_changes(changes:inverted())
db:apply_changes(changes, { conflict = "replace" })
local _ = changes .. perilune.changeset(changes:serialize()), changes:rows()

-- work: open blobs
db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, zeroblob(100000))"
db:write(function(db)
  local blob = db:open_blob("t", "a", 1, { write = true })
  blob:write(("q"):rep(50000))
  blob:seek("set", 0)
  blob:read(60000)
  db:execute "ALTER TABLE t RENAME TO u"
  pcall(blob.write, blob, "abc")
end)

-- work: other databases
local other = perilune.queue()
other:execute "CREATE TABLE t (a, b)"
for i = 1, 50 do other:execute("INSERT INTO t VALUES (?, zeroblob(1000))", i) end
other:backup_to(db)
for row in db:rows "SELECT * FROM t" do row.a = nil end

-- work: functions of the script
db:add_function("f", 1, function(x) return tostring(x):rep(100) end)
db:add_aggregate("g", 1, { initial = "", step = function(state, x) return state .. x end })
db:add_collation("c", function(a, b) return a < b and -1 or a > b and 1 or 0 end)
db:execute "CREATE TABLE t (a TEXT COLLATE c, b AS (length(a)) STORED, CHECK (length(a) < 100000))"
db:execute "INSERT INTO t (a) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT f(i) FROM n"
db:fetch_all "SELECT g(a) FROM (SELECT a FROM t ORDER BY a)"
db:fetch_all "SELECT printf('%10000s', a), replace(a, '1', 'abc'), trim(a, '12'), instr(a, '99'), a LIKE '%9%', a GLOB '*8*' FROM t"

-- work: migrations and observations
local migrator = perilune.migrator()
migrator:register("tables", function(db) db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)" end)
migrator:register("rows", function(db) db:execute "INSERT INTO t (x) VALUES (hex(zeroblob(2000)))" end)
migrator:migrate(db)
local observation = db:observe(function(db) return db:fetch_all "SELECT * FROM t" end)
for i = 1, 20 do
  db:execute("INSERT INTO t (x) VALUES (?)", ("x"):rep(i * 100))
  observation:try_next()
end

-- work: texts of SQL
local parts = {}
for i = 1, 300 do parts[i] = "SELECT " .. i .. " AS a, zeroblob(50) AS z" end
db:fetch_all(table.concat(parts, " UNION ALL "))
db:fetch_all("SELECT * FROM (" .. table.concat(parts, " UNION ", 1, 60) .. ") ORDER BY a DESC")
for i = 1, 40 do parts[i] = ("c%d AS (SELECT %d AS x, zeroblob(100) AS y)"):format(i, i) end
db:fetch_all("WITH " .. table.concat(parts, ", ", 1, 40) .. " SELECT * FROM c1, c2 LEFT JOIN c3 ON c1.x = c3.x JOIN c4")
