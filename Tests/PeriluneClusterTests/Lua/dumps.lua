-- A dump is executed unchanged in one transaction, including its PRAGMA, which is needed because rows are ordered by table name.
db:execute [[
  PRAGMA foreign_keys=OFF;
  BEGIN TRANSACTION;
  CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, artist_id INTEGER REFERENCES artist (id));
  INSERT INTO "album" ("id", "title", "artist_id") VALUES (1,'One; more',7);
  CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT);
  INSERT INTO "artist" ("id", "name") VALUES (7,'Ada');
  CREATE INDEX album_by_artist ON album (artist_id);
  COMMIT;
]]
local row = db:fetch_one("SELECT title, name FROM album JOIN artist ON artist.id = artist_id")
assert(row.title == "One; more" and row.name == "Ada")

-- A failing dump leaves nothing behind.
local is_done = pcall(db.execute, db, [[
  PRAGMA foreign_keys=OFF;
  BEGIN TRANSACTION;
  CREATE TABLE half (id INTEGER PRIMARY KEY);
  INSERT INTO half VALUES (1);
  INSERT INTO nowhere VALUES (1);
  COMMIT;
]])
assert(not is_done)
assert(db:fetch_value("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
assert(db:fetch_value("SELECT count(*) FROM album") == 1)
