-- A music shop's sales report.
--
--     perilune run report.lua                              on a private database in memory, filled first
--     perilune run --database shop.sqlite report.lua       on a file, filled the first time and kept
--     perilune run report.lua export "Staff Picks"         one playlist in M3U format, nothing else
local layout = require "layout"
local shop = require "shop"

local function print_overview(db)
  local overview = db:fetch_one[[
    SELECT (SELECT COUNT(*) FROM artist) AS artists,
           (SELECT COUNT(*) FROM album) AS albums,
           (SELECT COUNT(*) FROM track) AS tracks,
           (SELECT COUNT(*) FROM customer) AS customers,
           COUNT(*) AS invoices,
           COUNT(*) FILTER (WHERE NOT is_paid) AS unpaid,
           date(MIN(issued_at)) AS first_day,
           date(MAX(issued_at)) AS last_day
    FROM invoice]]
  for key, value in pairs(overview) do
    if math.type(value) == "integer" then overview[key] = layout.count(value) end
  end
  print(("%s artists, %s albums, %s tracks"):format(overview.artists, overview.albums, overview.tracks))
  print(("%s customers, %s invoices from %s to %s, %s of them unpaid"):format(
    overview.customers, overview.invoices, overview.first_day, overview.last_day, overview.unpaid))
end

-- Returns a function that formats an amount as its share of the whole.
local function share_of(whole)
  return function(part) return layout.percent(part, whole) end
end

-- Adds up amounts across several tables: each invoice line belongs to an invoice, and each invoice to a customer.
local function print_customers(db, revenue)
  layout.print_heading("Customers by revenue")
  local rows = db:fetch_all([[
    SELECT RANK() OVER (ORDER BY SUM(line.unit_price_cents * line.quantity) DESC) AS rank,
           customer.first_name || ' ' || customer.last_name AS name,
           customer.country,
           adviser.first_name || ' ' || adviser.last_name AS adviser,
           COUNT(DISTINCT invoice.id) AS invoices,
           SUM(line.quantity) AS tracks,
           SUM(line.unit_price_cents * line.quantity) AS revenue
    FROM customer
    JOIN invoice ON invoice.customer_id = customer.id
    JOIN invoice_line AS line ON line.invoice_id = invoice.id
    LEFT JOIN employee AS adviser ON adviser.id = customer.adviser_id
    GROUP BY customer.id
    ORDER BY revenue DESC, name, customer.id
    LIMIT ?]], 10)

  local listed = { rank = "", name = "Together", country = "", adviser = "", invoices = 0, tracks = 0, revenue = 0 }
  for _, row in ipairs(rows) do
    listed.invoices = listed.invoices + row.invoices
    listed.tracks = listed.tracks + row.tracks
    listed.revenue = listed.revenue + row.revenue
  end
  rows[#rows + 1] = listed
  rows[#rows + 1] = {
    rank = "", name = "All customers", country = "", adviser = "",
    invoices = db:fetch_value("SELECT COUNT(*) FROM invoice"),
    tracks = db:fetch_value("SELECT SUM(quantity) FROM invoice_line"),
    revenue = revenue,
  }
  layout.print_table({
    { title = "#", key = "rank", right = true },
    { title = "Customer", key = "name" },
    { title = "Country", key = "country" },
    { title = "Adviser", key = "adviser" },
    { title = "Invoices", key = "invoices", right = true },
    { title = "Tracks", key = "tracks", right = true },
    { title = "Revenue", key = "revenue", right = true, format = layout.money },
    { title = "Share", key = "revenue", right = true, format = share_of(revenue) },
  }, rows)
end

local function print_years(db)
  layout.print_heading("Revenue by year")
  local rows = db:fetch_all[[
    SELECT strftime('%Y', invoice.issued_at) AS year,
           COUNT(DISTINCT invoice.id) AS invoices,
           COUNT(DISTINCT invoice.customer_id) AS customers,
           SUM(line.unit_price_cents * line.quantity) AS revenue
    FROM invoice
    JOIN invoice_line AS line ON line.invoice_id = invoice.id
    GROUP BY year
    ORDER BY year]]
  local best = 0
  for _, row in ipairs(rows) do best = math.max(best, row.revenue) end
  layout.print_table({
    { title = "Year", key = "year" },
    { title = "Invoices", key = "invoices", right = true },
    { title = "Customers", key = "customers", right = true },
    { title = "Revenue", key = "revenue", right = true, format = layout.money },
    { title = "", key = "revenue", format = function(cents) return ("#"):rep(40 * cents // best) end },
  }, rows)
end

local function print_genres(db, revenue)
  layout.print_heading("Best-selling genres")
  local rows = db:fetch_all[[
    WITH sale AS (
      SELECT track.id AS track_id, track.title, track.genre_id,
             SUM(line.quantity) AS sold,
             SUM(line.unit_price_cents * line.quantity) AS revenue
      FROM invoice_line AS line
      JOIN track ON track.id = line.track_id
      GROUP BY track.id
    ),
    ranked AS (
      SELECT sale.*, ROW_NUMBER() OVER (PARTITION BY genre_id ORDER BY sold DESC, title, track_id) AS place FROM sale
    )
    SELECT COALESCE(genre.name, '(no genre)') AS name,
           SUM(ranked.sold) AS sold,
           SUM(ranked.revenue) AS revenue,
           MAX(ranked.title) FILTER (WHERE ranked.place = 1) AS favourite
    FROM ranked
    LEFT JOIN genre ON genre.id = ranked.genre_id
    GROUP BY ranked.genre_id
    ORDER BY revenue DESC, name
    LIMIT 8]]
  layout.print_table({
    { title = "Genre", key = "name" },
    { title = "Sold", key = "sold", right = true },
    { title = "Revenue", key = "revenue", right = true, format = layout.money },
    { title = "Share", key = "revenue", right = true, format = share_of(revenue) },
    { title = "Most wanted", key = "favourite" },
  }, rows)
end

local function print_longest_albums(db)
  layout.print_heading("Longest albums")
  local rows = db:fetch_all[[
    SELECT album.title, artist.name AS artist, strftime('%Y', album.released_on) AS year, album.label,
           COUNT(*) AS tracks, SUM(track.duration_ms) AS duration
    FROM album
    JOIN artist ON artist.id = album.artist_id
    JOIN track ON track.album_id = album.id
    GROUP BY album.id
    ORDER BY duration DESC, album.title, album.id
    LIMIT 10]]
  layout.print_table({
    { title = "Album", key = "title" },
    { title = "Artist", key = "artist" },
    { title = "Year", key = "year" },
    { title = "Label", key = "label" },
    { title = "Tracks", key = "tracks", right = true },
    { title = "Length", key = "duration", right = true, format = layout.duration },
  }, rows)
end

-- A playlist may have thousands of tracks, so they are read one by one. `tuples` returns the columns as values.
local function export(db, name)
  local playlist_id = db:fetch_value("SELECT id FROM playlist WHERE name = ?", name)
  if not playlist_id then
    local known = db:fetch_values("SELECT name FROM playlist ORDER BY name")
    error(("no playlist is named %q; there are: %s"):format(name, table.concat(known, ", ")), 0)
  end
  print("#EXTM3U")
  print("#PLAYLIST:" .. name)
  local sql = [[
    SELECT track.duration_ms / 1000, artist.name, album.title, track.position, track.title
    FROM playlist_track
    JOIN track ON track.id = playlist_track.track_id
    JOIN album ON album.id = track.album_id
    JOIN artist ON artist.id = album.artist_id
    WHERE playlist_track.playlist_id = :playlist_id
    ORDER BY playlist_track.position]]
  for seconds, artist, album, position, title in db:tuples(sql, { playlist_id = playlist_id }) do
    print(("#EXTINF:%d,%s - %s"):format(seconds, artist, title))
    print(("%s/%s/%02d %s.flac"):format(artist, album, position, title))
  end
end

local function print_report(db)
  print("The music shop\n")
  print_overview(db)
  local revenue = db:fetch_value("SELECT SUM(unit_price_cents * quantity) FROM invoice_line")
  print_customers(db, revenue)
  print_years(db)
  print_genres(db, revenue)
  print_longest_albums(db)
  layout.print_heading("A playlist to take home: Closing Time")
  export(db, "Closing Time")
end

-- Fills an empty database. A database with other contents is not changed.
local function prepare(db)
  if db:table_exists("invoice_line") then return end
  local tables = db:fetch_values("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
  if #tables > 0 then
    error("this database is not a music shop; it has the tables " .. table.concat(tables, ", "), 0)
  end
  shop.build(db)
end

-- Receives the command-line arguments that follow the file name.
local command, name = ...
if command and not (command == "export" and name) then
  error("usage: report.lua [export PLAYLIST]", 0)
end

prepare(db)
db:read(function(db) -- everything in a single `read` sees the same database state
  if command then export(db, name) else print_report(db) end
end)
