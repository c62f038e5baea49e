--- Links of a record through a pivot table.

db:execute[[
  CREATE TABLE playlist (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE track (id INTEGER PRIMARY KEY, title TEXT);
  CREATE TABLE playlist_track (playlist_id INTEGER NOT NULL REFERENCES playlist, track_id INTEGER NOT NULL REFERENCES track,
    PRIMARY KEY (playlist_id, track_id));
  INSERT INTO playlist VALUES (1, 'one'), (2, 'two');
  INSERT INTO track VALUES (1, 'a'), (2, 'b'), (3, 'c')]]

local Playlist, Track, Link = perilune.record("playlist"), perilune.record("track"), perilune.record("playlist_track")
Playlist.links = Playlist:has_many(Link)
Link.track = Link:belongs_to(Track)
Playlist.tracks = Playlist:has_many(Track, { through = Playlist.links, using = Link.track })

local function titles(playlist) return playlist:tracks():order("id"):pluck("title") end

test("links are added, once each", function()
  local playlist = Playlist:find(1)
  playlist:tracks():add(Track:find(1), 3)
  equal(titles(playlist), { "a", "c" })
  playlist:tracks():add(1, 2)
  equal(titles(playlist), { "a", "b", "c" })
  equal(titles(Playlist:find(2)), {})
end)

test("links are removed, and replaced", function()
  local playlist = Playlist:find(1)
  playlist:tracks():add(1, 2, 3)
  equal(playlist:tracks():remove(Track:find(2)), 1)
  equal(playlist:tracks():remove(2), 0)
  equal(titles(playlist), { "a", "c" })
  playlist:tracks():replace{ 2, Track:find(3) }
  equal(titles(playlist), { "b", "c" })
  equal(Track:fetch_count(), 3)
end)

test("what fails leaves all links as they were", function()
  local playlist = Playlist:find(1)
  playlist:tracks():add(1)
  fails("constraint_foreign_key", function() playlist:tracks():replace{ 2, 99 } end)
  equal(titles(playlist), { "a" })
end)

test("mistakes", function()
  local playlist = Playlist:find(1)
  fails("argument", function() playlist:links():add(1) end)
  fails("argument", function() Track:all():add(1) end)
  fails("argument", function() playlist:tracks():add() end)
  fails("argument", function() playlist:tracks():add(playlist) end)
  fails("argument", function() playlist:tracks():add(Track{ title = "new" }) end)
end)
