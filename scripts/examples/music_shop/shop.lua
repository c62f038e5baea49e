--- An invented sample database of a music shop for trying things out, always the same for the same seed.
--
--     local shop = require "shop"
--     shop.build(db)                                   -- 3,000 tracks
--     shop.build(db, { tracks = 100000, seed = 7 })    -- larger, and different
--
-- Artists release albums of tracks; tracks have a genre and are on playlists; customers are served by employees, who report to
-- other employees, and buy tracks on invoices. The data includes everything that makes queries interesting:
-- artists without albums, tracks that were never sold, a genre without tracks, an empty playlist, unpaid invoices, and NULLs.
local names = require "names"
local random = require "random"

local shop = {}

-- Money is in cents and lengths are in milliseconds, so that sums are exact.
-- Columns declared as BOOLEAN are booleans in Lua. Dates are text that sorts correctly: 2021-03-04.
local schema = [[
  CREATE TABLE genre (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  );
  CREATE TABLE artist (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    country TEXT
  );
  CREATE TABLE album (
    id INTEGER PRIMARY KEY,
    artist_id INTEGER NOT NULL REFERENCES artist (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    label TEXT,
    released_on DATE NOT NULL,
    UNIQUE (artist_id, title)
  );
  CREATE TABLE track (
    id INTEGER PRIMARY KEY,
    album_id INTEGER NOT NULL REFERENCES album (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 1),
    title TEXT NOT NULL,
    composer TEXT,
    genre_id INTEGER REFERENCES genre (id),
    duration_ms INTEGER NOT NULL CHECK (duration_ms > 0),
    price_cents INTEGER NOT NULL CHECK (price_cents >= 0),
    is_explicit BOOLEAN NOT NULL DEFAULT 0 CHECK (is_explicit IN (0, 1)),
    UNIQUE (album_id, position)
  );
  CREATE INDEX track_genre ON track (genre_id);

  CREATE TABLE playlist (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    is_public BOOLEAN NOT NULL DEFAULT 1 CHECK (is_public IN (0, 1))
  );
  CREATE TABLE playlist_track (
    playlist_id INTEGER NOT NULL REFERENCES playlist (id) ON DELETE CASCADE,
    track_id INTEGER NOT NULL REFERENCES track (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 1),
    PRIMARY KEY (playlist_id, track_id)
  ) WITHOUT ROWID;
  CREATE INDEX playlist_track_track ON playlist_track (track_id);

  CREATE TABLE employee (
    id INTEGER PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    title TEXT NOT NULL,
    manager_id INTEGER REFERENCES employee (id) CHECK (manager_id <> id),
    hired_on DATE NOT NULL
  );
  CREATE INDEX employee_manager ON employee (manager_id);

  CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    company TEXT,
    email TEXT NOT NULL UNIQUE,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    adviser_id INTEGER REFERENCES employee (id) ON DELETE SET NULL,
    is_subscribed BOOLEAN NOT NULL DEFAULT 0 CHECK (is_subscribed IN (0, 1))
  );
  CREATE INDEX customer_adviser ON customer (adviser_id);

  CREATE TABLE invoice (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customer (id),
    issued_at DATETIME NOT NULL,
    is_paid BOOLEAN NOT NULL CHECK (is_paid IN (0, 1))
  );
  CREATE INDEX invoice_customer ON invoice (customer_id);
  CREATE INDEX invoice_issued ON invoice (issued_at);

  CREATE TABLE invoice_line (
    id INTEGER PRIMARY KEY,
    invoice_id INTEGER NOT NULL REFERENCES invoice (id) ON DELETE CASCADE,
    track_id INTEGER NOT NULL REFERENCES track (id),
    unit_price_cents INTEGER NOT NULL CHECK (unit_price_cents >= 0),
    quantity INTEGER NOT NULL DEFAULT 1 CHECK (quantity >= 1),
    UNIQUE (invoice_id, track_id)
  );
  CREATE INDEX invoice_line_track ON invoice_line (track_id);
]]

local month_lengths = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function date(rng, year)
  local month = rng:between(1, 12)
  return ("%d-%02d-%02d"):format(year, month, rng:between(1, month_lengths[month]))
end

local function time(rng)
  return ("%02d:%02d:%02d"):format(rng:between(7, 22), rng:between(0, 59), rng:between(0, 59))
end

--- Calls `make` until it returns a name that is not in the set `taken`. After several attempts, adds a number to the last name.
local function unique(taken, make, rng)
  local name, detail
  for _ = 1, 10 do
    name, detail = make(rng)
    if not taken[name] then break end
  end
  local candidate, number = name, 1
  while taken[candidate] do
    number = number + 1
    candidate = name .. " " .. number
  end
  taken[candidate] = true
  return candidate, detail
end

local function add_genres(db)
  local insert = db:prepare("INSERT INTO genre (name) VALUES (?)")
  local genre_ids = {}
  for _, name in ipairs(names.genres) do
    local id = insert:execute(name).inserted_rowid
    if name ~= "Field Recordings" then genre_ids[#genre_ids + 1] = id end -- the shop has none of these yet
  end
  return genre_ids
end

local function add_artists(db, rng, count, genre_ids)
  local insert = db:prepare("INSERT INTO artist (name, country) VALUES (?, ?)")
  local artists, taken = {}, {}
  for i = 1, count do
    local name, country = unique(taken, names.artist, rng)
    if rng:chance(10) then country = nil end
    local id = insert:execute(name, country).inserted_rowid
    artists[i] = { id = id, genre_id = rng:pick(genre_ids), label = names.label(rng), titles = {} }
  end
  return artists
end

local function track_count(rng)
  if rng:chance(10) then return rng:between(3, 5) end -- a short one
  if rng:chance(5) then return rng:between(18, 26) end -- a double album
  return rng:between(7, 14)
end

local function add_albums(db, rng, artists, total_tracks, genre_ids)
  local insert_album = db:prepare("INSERT INTO album (artist_id, title, label, released_on) VALUES (?, ?, ?, ?)")
  local insert_track = db:prepare([[
    INSERT INTO track (album_id, position, title, composer, genre_id, duration_ms, price_cents, is_explicit)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)]])
  local tracks = {}

  local function add_track(album_id, position, artist, price)
    local composer, genre_id
    if rng:chance(65) then composer = names.composer(rng) end
    if rng:chance(97) then genre_id = rng:chance(85) and artist.genre_id or rng:pick(genre_ids) end
    local duration = rng:chance(5) and rng:between(480000, 1300000) or rng:around(75000, 420000)
    local change = insert_track:execute(
      album_id, position, names.track(rng), composer, genre_id, duration, price, rng:chance(7))
    tracks[#tracks + 1] = { id = change.inserted_rowid, price = price }
  end

  local productive = #artists - math.max(1, #artists // 15) -- the last few never got round to making an album
  while #tracks < total_tracks do
    local artist = artists[rng:between(1, productive)]
    local title, label = unique(artist.titles, names.album, rng), artist.label
    if rng:chance(20) then label = nil end
    local album_id = insert_album:execute(artist.id, title, label, date(rng, rng:between(1971, 2018))).inserted_rowid
    local price = rng:pick{ 79, 99, 99, 99, 119, 129 }
    for position = 1, math.min(track_count(rng), total_tracks - #tracks) do
      add_track(album_id, position, artist, price)
    end
  end
  return tracks
end

-- The share of all tracks on each playlist, in percent, or their number.
local playlists = {
  { name = "Everything", percent = 100 },
  { name = "Shop Radio", percent = 50 },
  { name = "Rainy Afternoons", percent = 25 },
  { name = "Long Drives", percent = 20 },
  { name = "Deep Focus", percent = 15 },
  { name = "Kitchen", percent = 15 },
  { name = "Dinner Guests", percent = 11 },
  { name = "Warm-Up", percent = 10 },
  { name = "Morgenröte", percent = 8 },
  { name = "Après-ski", percent = 6 },
  { name = "Fiesta en la Azotea", percent = 5 },
  { name = "Staff Picks", count = 25 },
  { name = "Closing Time", count = 12 },
  { name = "Unsorted", count = 0, is_private = true },
}

local function add_playlists(db, rng, tracks)
  local insert_playlist = db:prepare("INSERT INTO playlist (name, is_public) VALUES (?, ?)")
  local insert_track = db:prepare("INSERT INTO playlist_track (playlist_id, track_id, position) VALUES (?, ?, ?)")
  for _, playlist in ipairs(playlists) do
    local id = insert_playlist:execute(playlist.name, not playlist.is_private).inserted_rowid
    local count = math.min(playlist.count or #tracks * playlist.percent // 100, #tracks)
    for position, track in ipairs(rng:sample(tracks, count)) do
      insert_track:execute(id, track.id, position)
    end
  end
end

-- `reports_to` is the position of the manager in this list.
local staff = {
  { title = "General Manager" },
  { title = "Sales Manager", reports_to = 1 },
  { title = "Catalogue Manager", reports_to = 1 },
  { title = "Systems Manager", reports_to = 1 },
  { title = "Sales Adviser", reports_to = 2, advises = true },
  { title = "Sales Adviser", reports_to = 2, advises = true },
  { title = "Sales Adviser", reports_to = 2, advises = true },
  { title = "Catalogue Editor", reports_to = 3 },
  { title = "Systems Technician", reports_to = 4 },
  { title = "Sales Trainee", reports_to = 5, advises = true },
}

local function add_employees(db, rng)
  local insert = db:prepare([[
    INSERT INTO employee (first_name, last_name, title, manager_id, hired_on) VALUES (?, ?, ?, ?, ?)]])
  local ids, adviser_ids = {}, {}
  for i, job in ipairs(staff) do
    local first_name, last_name = names.person(rng)
    local manager_id, hired_on = ids[job.reports_to], date(rng, rng:between(2011, 2018))
    ids[i] = insert:execute(first_name, last_name, job.title, manager_id, hired_on).inserted_rowid
    if job.advises then adviser_ids[#adviser_ids + 1] = ids[i] end
  end
  return adviser_ids
end

local function add_customers(db, rng, count, adviser_ids)
  local insert = db:prepare([[
    INSERT INTO customer (first_name, last_name, company, email, city, country, adviser_id, is_subscribed)
    VALUES (:first_name, :last_name, :company, :email, :city, :country, :adviser_id, :is_subscribed)]])
  local ids = {}
  for i = 1, count do
    local first_name, last_name, country = names.person(rng)
    ids[i] = insert:execute{
      first_name = first_name,
      last_name = last_name,
      company = rng:chance(20) and names.company(rng) or perilune.null, -- nil would leave :company without a value
      email = ("customer%d@example.%s"):format(i, rng:pick{ "com", "net", "org" }),
      city = rng:pick(country.cities),
      country = country.name,
      adviser_id = rng:chance(90) and rng:pick(adviser_ids) or perilune.null,
      is_subscribed = rng:chance(60),
    }.inserted_rowid
  end
  return ids
end

local function sorted_moments(rng, count)
  local moments = {}
  for i = 1, count do
    local years_ago = (rng:chance(50) and rng:between(1, 5) or rng:favouring_first(5)) - 1 -- business is growing
    moments[i] = date(rng, 2023 - years_ago) .. " " .. time(rng)
  end
  table.sort(moments)
  return moments
end

local function add_invoices(db, rng, count, customer_ids, tracks)
  local insert_invoice = db:prepare("INSERT INTO invoice (customer_id, issued_at, is_paid) VALUES (?, ?, ?)")
  local insert_line = db:prepare([[
    INSERT INTO invoice_line (invoice_id, track_id, unit_price_cents, quantity) VALUES (?, ?, ?, ?)]])
  local by_popularity = rng:sample(tracks, #tracks)

  local function add_lines(invoice_id)
    local bought = {}
    for _ = 1, rng:between(1, 10) do
      local track = by_popularity[rng:favouring_first(#tracks)]
      if not bought[track] then
        bought[track] = true
        local price = rng:chance(10) and track.price * 3 // 4 or track.price -- sometimes a quarter off
        insert_line:execute(invoice_id, track.id, price, rng:chance(6) and rng:between(2, 5) or 1)
      end
    end
  end

  local buying = #customer_ids - math.max(1, #customer_ids // 20) -- the last few only looked around
  for _, issued_at in ipairs(sorted_moments(rng, count)) do
    local customer_id = customer_ids[rng:favouring_first(buying)]
    local is_paid = issued_at < "2023-12" or rng:chance(50)
    add_lines(insert_invoice:execute(customer_id, issued_at, is_paid).inserted_rowid)
  end
end

local function checked_options(options)
  local checked = { tracks = 3000, seed = 42 }
  for name, value in pairs(options or {}) do
    if not checked[name] then
      error(("shop.build: unknown option %s; the options are seed and tracks"):format(tostring(name)), 3)
    end
    if math.type(value) ~= "integer" then
      error(("shop.build: option %s: expected an integer, got %s"):format(name, tostring(value)), 3)
    end
    checked[name] = value
  end
  if checked.tracks < 1 then error("shop.build: option tracks: expected at least 1, got " .. checked.tracks, 3) end
  return checked
end

--- Creates and fills the tables of the shop in one transaction: all of them or none.
-- @tparam Database db a database without these tables
-- @tparam[opt] table options `tracks`, their number (3,000), which determines the other sizes; `seed`, an integer (42)
-- @raise if an option is unknown or not an integer, or if the database fails
function shop.build(db, options)
  options = checked_options(options)
  local rng, size = random.new(options.seed), options.tracks
  db:write(function(db)
    db:execute(schema)
    local genre_ids = add_genres(db)
    local artists = add_artists(db, rng, math.max(3, size // 24), genre_ids)
    local tracks = add_albums(db, rng, artists, size, genre_ids)
    add_playlists(db, rng, tracks)
    local adviser_ids = add_employees(db, rng)
    local customer_ids = add_customers(db, rng, math.max(4, size // 50), adviser_ids)
    add_invoices(db, rng, math.max(6, size * 2 // 15), customer_ids, tracks)
  end)
end

return shop
