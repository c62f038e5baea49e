--- A small database like Chinook: CamelCase names, the same keys and declared types, and made-up rows.

local schema = [[
CREATE TABLE Album (
  AlbumId INTEGER NOT NULL, Title NVARCHAR(160) NOT NULL, ArtistId INTEGER NOT NULL, PRIMARY KEY (AlbumId),
  FOREIGN KEY (ArtistId) REFERENCES Artist (ArtistId)
);
CREATE TABLE Artist (
  ArtistId INTEGER NOT NULL, Name NVARCHAR(120), PRIMARY KEY (ArtistId)
);
CREATE TABLE Customer (
  CustomerId INTEGER NOT NULL, FirstName NVARCHAR(40) NOT NULL, LastName NVARCHAR(20) NOT NULL, Company NVARCHAR(80),
  Address NVARCHAR(70), City NVARCHAR(40), State NVARCHAR(40), Country NVARCHAR(40), PostalCode NVARCHAR(10),
  Phone NVARCHAR(24), Fax NVARCHAR(24), Email NVARCHAR(60) NOT NULL, SupportRepId INTEGER, PRIMARY KEY (CustomerId),
  FOREIGN KEY (SupportRepId) REFERENCES Employee (EmployeeId)
);
CREATE TABLE Employee (
  EmployeeId INTEGER NOT NULL, LastName NVARCHAR(20) NOT NULL, FirstName NVARCHAR(20) NOT NULL, Title NVARCHAR(30),
  ReportsTo INTEGER, BirthDate DATETIME, HireDate DATETIME, Address NVARCHAR(70), City NVARCHAR(40), State NVARCHAR(40),
  Country NVARCHAR(40), PostalCode NVARCHAR(10), Phone NVARCHAR(24), Fax NVARCHAR(24), Email NVARCHAR(60),
  PRIMARY KEY (EmployeeId), FOREIGN KEY (ReportsTo) REFERENCES Employee (EmployeeId)
);
CREATE TABLE Genre (
  GenreId INTEGER NOT NULL, Name NVARCHAR(120), PRIMARY KEY (GenreId)
);
CREATE TABLE Invoice (
  InvoiceId INTEGER NOT NULL, CustomerId INTEGER NOT NULL, InvoiceDate DATETIME NOT NULL, BillingAddress NVARCHAR(70),
  BillingCity NVARCHAR(40), BillingState NVARCHAR(40), BillingCountry NVARCHAR(40), BillingPostalCode NVARCHAR(10),
  Total NUMERIC(10,2) NOT NULL, PRIMARY KEY (InvoiceId), FOREIGN KEY (CustomerId) REFERENCES Customer (CustomerId)
);
CREATE TABLE InvoiceLine (
  InvoiceLineId INTEGER NOT NULL, InvoiceId INTEGER NOT NULL, TrackId INTEGER NOT NULL, UnitPrice NUMERIC(10,2) NOT NULL,
  Quantity INTEGER NOT NULL, PRIMARY KEY (InvoiceLineId), FOREIGN KEY (InvoiceId) REFERENCES Invoice (InvoiceId),
  FOREIGN KEY (TrackId) REFERENCES Track (TrackId)
);
CREATE TABLE MediaType (
  MediaTypeId INTEGER NOT NULL, Name NVARCHAR(120), PRIMARY KEY (MediaTypeId)
);
CREATE TABLE Playlist (
  PlaylistId INTEGER NOT NULL, Name NVARCHAR(120), PRIMARY KEY (PlaylistId)
);
CREATE TABLE PlaylistTrack (
  PlaylistId INTEGER NOT NULL, TrackId INTEGER NOT NULL, PRIMARY KEY (PlaylistId, TrackId),
  FOREIGN KEY (PlaylistId) REFERENCES Playlist (PlaylistId), FOREIGN KEY (TrackId) REFERENCES Track (TrackId)
);
CREATE TABLE Track (
  TrackId INTEGER NOT NULL, Name NVARCHAR(200) NOT NULL, AlbumId INTEGER, MediaTypeId INTEGER NOT NULL, GenreId INTEGER,
  Composer NVARCHAR(220), Milliseconds INTEGER NOT NULL, Bytes INTEGER, UnitPrice NUMERIC(10,2) NOT NULL,
  PRIMARY KEY (TrackId), FOREIGN KEY (AlbumId) REFERENCES Album (AlbumId), FOREIGN KEY (GenreId) REFERENCES Genre (GenreId),
  FOREIGN KEY (MediaTypeId) REFERENCES MediaType (MediaTypeId)
);
]]

--- A random number generator that makes the rows the same in every run, with any version of SQLite and Lua.
local state = 1
local function random(n)
  state = (state * 48271) % 2147483647
  return state % n + 1
end

local words = { "River", "Rain", "Été", "Stone", "Run", "Night", "Paper", "Road", "Ruby", "Café", "Sun", "Wolf" }
local function title() return words[random(#words)] .. " " .. words[random(#words)] end

return function(db)
  local function insert(name, ...)
    db:execute("INSERT INTO " .. name .. " VALUES (" .. ("?, "):rep(select("#", ...) - 1) .. "?)", ...)
  end

  --- Returns a name, sometimes nil.
  local function perhaps(value) return random(4) > 1 and value or nil end

  db:execute(schema)
  db:write(function()
    for id = 1, 120 do insert("Artist", id, id == 90 and "Iron Maiden" or title()) end
    -- Some artists have no album.
    for id = 1, 150 do insert("Album", id, title() .. " " .. id, id % 10 == 0 and 90 or random(100)) end
    for id, name in ipairs{ "Rock", "Classical", "Reggae", "Jazz", "Latin" } do insert("Genre", id, name) end
    for id = 1, 4 do insert("MediaType", id, "type " .. id) end
    for i = 1, 1200 do
      local id = i <= 1000 and i or 2400 + i
      -- All types are used with different frequencies, all tracks differ in size, and each album has a track.
      local album, type = i <= 150 and i or perhaps(random(150)), i % 16 < 8 and 1 or i % 16 < 12 and 2 or i % 16 < 14 and 3 or 4
      insert("Track", id, title(), album, type, perhaps(random(5)), perhaps(title()), random(400000), 1000000 + i * 7919 % 100003,
        i % 9 == 0 and 1.99 or 0.99)
    end
    for id = 1, 18 do insert("Playlist", id, id == 16 and "Grunge" or "list " .. id) end
    for id = 1, 18 do
      -- One of the playlists is empty.
      if id ~= 2 then
        for k = 1, 15 do insert("PlaylistTrack", id, k * 60 + id) end
      end
      if id % 5 == 1 then insert("PlaylistTrack", id, 597) insert("PlaylistTrack", id, 3402) end
    end
    for id, manager in ipairs{ false, 1, 2, 2, 2, 1, 6, 6 } do
      insert("Employee", id, "Last" .. id, "First" .. id, "title", manager or nil, "1970-01-0" .. id .. " 00:00:00",
        "2002-05-0" .. id .. " 00:00:00", "street", "city", nil, "Canada", "T2P", nil, nil, "e" .. id .. "@example.org")
    end
    for id = 1, 59 do
      insert("Customer", id, "First" .. id, "Last" .. id * 37 % 59, nil, "street", "city", nil,
        ({ "Norway", "Chile", "France", "Canada" })[random(4)], nil, nil, nil, "c" .. id .. "@example.org", perhaps(random(3) + 2))
    end
    local line = 0
    for id = 1, 200 do
      local customer, total, tracks = random(55), 0, {}
      for k = 1, random(5) do
        local track = random(900)
        tracks[k] = { track, track % 9 == 0 and 1.99 or 0.99, random(2) }
        total = total + tracks[k][2] * tracks[k][3]
      end
      insert("Invoice", id, customer, ("2026-%02d-%02d 00:00:00"):format(random(12), random(28)), nil, nil, nil, nil, nil,
        tonumber(("%.2f"):format(total)))
      for _, track in ipairs(tracks) do
        line = line + 1
        insert("InvoiceLine", line, id, track[1], track[2], track[3])
      end
    end
  end)
end
