--- Questions of a music shop's owner, each answered twice: with requests, and with hand-written SQL.
--
--     perilune run questions.lua               prints the answers
--
-- Each question has the SQL for its answer, and a function that returns a list of results and a function from results to values.
local answers = require "answers"
local shop = require "shop"
local models = require "models"

local Artist, Album, Track, Genre = models.Artist, models.Album, models.Track, models.Genre
local Playlist, Employee, Customer = models.Playlist, models.Employee, models.Customer
local Invoice, Line = models.Invoice, models.Line

local questions = {}

local function question(title, sql, ask)
  questions[#questions + 1] = { title = title, sql = sql, ask = ask }
end

question("How many tracks does each genre have?", [[
  SELECT genre.name, COUNT(track.id) FROM genre LEFT JOIN track ON track.genre_id = genre.id
  GROUP BY genre.id ORDER BY genre.name]],
function()
  return Genre:annotated_with(Genre.tracks:count()):order("name"):fetch_all(),
    function(genre) return { genre.name, genre.track_count } end
end)

question("Which genres have no tracks?", [[
  SELECT name FROM genre WHERE NOT EXISTS (SELECT * FROM track WHERE genre_id = genre.id)]],
function()
  return Genre:having(Genre.tracks:is_empty()):fetch_all(), function(genre) return { genre.name } end
end)

question("Which artists have made most albums?", [[
  SELECT artist.name, COUNT(*) AS albums FROM artist JOIN album ON album.artist_id = artist.id
  GROUP BY artist.id ORDER BY albums DESC, artist.name LIMIT 10]],
function()
  return Artist:annotated_with(Artist.albums:count()):order(Artist.albums:count():desc(), "name"):limit(10):fetch_all(),
    function(artist) return { artist.name, artist.album_count } end
end)

question("How many artists have never made an album?", [[
  SELECT COUNT(*) FROM artist WHERE id NOT IN (SELECT artist_id FROM album)]],
function()
  return { Artist:having(Artist.albums:is_empty()):fetch_count() }, function(count) return { count } end
end)

question("Which albums came out in 1999, and by whom?", [[
  SELECT album.title, artist.name FROM album JOIN artist ON artist.id = album.artist_id
  WHERE released_on BETWEEN '1999-01-01' AND '1999-12-31' ORDER BY released_on, album.title]],
function()
  return Album:including_required(Album.artist)
      :filter(Album.c.released_on:between("1999-01-01", "1999-12-31")):order("released_on", "title"):fetch_all(),
    function(album) return { album.title, album.artist.name } end
end)

question("Who looks after the first ten customers?", [[
  SELECT c.first_name || ' ' || c.last_name, e.first_name || ' ' || e.last_name
  FROM customer c LEFT JOIN employee e ON e.id = c.adviser_id ORDER BY c.id LIMIT 10]],
function()
  return Customer:including_optional(Customer.adviser):order("id"):limit(10):fetch_all(),
    function(customer) return { customer:name(), customer.adviser and customer.adviser:name() } end
end)

question("Which customers has nobody to look after?", [[
  SELECT email FROM customer WHERE adviser_id IS NULL ORDER BY email]],
function()
  return Customer:filter{ adviser_id = perilune.null }:order("email"):fetch_all(),
    function(customer) return { customer.email } end
end)

question("What have the ten best customers spent?", [[
  SELECT customer.email, SUM(unit_price_cents * quantity) AS spent
  FROM customer JOIN invoice ON invoice.customer_id = customer.id JOIN invoice_line ON invoice_id = invoice.id
  GROUP BY customer.id ORDER BY spent DESC, email LIMIT 10]],
function()
  local spent = Customer.lines:sum(Line.price())
  return Customer:annotated_with(spent:as("spent")):order(spent:desc(), "email"):limit(10):fetch_all(),
    function(customer) return { customer.email, customer.spent } end
end)

question("Who has never bought anything?", [[
  SELECT email FROM customer WHERE id NOT IN (SELECT customer_id FROM invoice) ORDER BY email]],
function()
  return Customer:filter(~Customer.c.id:is_in(Invoice:select("customer_id"))):order("email"):fetch_all(),
    function(customer) return { customer.email } end
end)

question("Which unpaid invoices are there, and whose?", [[
  SELECT invoice.id, customer.email FROM invoice JOIN customer ON customer.id = customer_id
  WHERE NOT is_paid ORDER BY issued_at, invoice.id]],
function()
  return Invoice:unpaid():including_required(Invoice.customer):order("issued_at", "id"):fetch_all(),
    function(invoice) return { invoice.id, invoice.customer.email } end
end)

question("What was sold in each year?", [[
  SELECT substr(issued_at, 1, 4) AS year, COUNT(DISTINCT invoice.id), SUM(unit_price_cents * quantity)
  FROM invoice JOIN invoice_line ON invoice_id = invoice.id GROUP BY year ORDER BY year]],
function()
  local year = Line.invoice.c.issued_at:substr(1, 4)
  return Line:joining_required(Line.invoice)
      :select(year:as("year"), Line.c.invoice_id:count():distinct():as("invoices"), Line.price():sum():as("cents"))
      :group(year):order(year):fetch_all(),
    function(row) return { row.year, row.invoices, row.cents } end
end)

question("What do customers of each country spend on an invoice, on average?", [[
  SELECT country, ROUND(AVG(total), 2) FROM (
    SELECT country, SUM(unit_price_cents * quantity) AS total
    FROM invoice JOIN customer ON customer.id = customer_id JOIN invoice_line ON invoice_id = invoice.id GROUP BY invoice.id)
  GROUP BY country ORDER BY country]],
function()
  local cents, invoices = Line.price():sum(), Line.c.invoice_id:count():distinct()
  local country = Invoice.customer.c.country
  return Line:joining_required(Line.invoice:joining_required(Invoice.customer))
      :select(country:as("country"), (cents * 1.0 / invoices):round(2):as("average")):group(country):order(country):fetch_all(),
    function(row) return { row.country, row.average } end
end)

question("Which tracks sell best?", [[
  SELECT track.title, SUM(quantity) AS sold FROM track JOIN invoice_line ON track_id = track.id
  GROUP BY track.id ORDER BY sold DESC, track.id LIMIT 10]],
function()
  local sold = Track.lines:sum("quantity")
  return Track:annotated_with(sold:as("sold")):order(sold:desc(), "id"):limit(10):fetch_all(),
    function(track) return { track.title, track.sold } end
end)

question("How many tracks has nobody bought?", [[
  SELECT COUNT(*) FROM track WHERE NOT EXISTS (SELECT * FROM invoice_line WHERE track_id = track.id)]],
function()
  return { Track:having(Track.lines:is_empty()):fetch_count() }, function(count) return { count } end
end)

question("Who bought the longest track, on which album is it, and by whom?", [[
  SELECT DISTINCT customer.email, track.title, album.title, artist.name
  FROM invoice_line JOIN track ON track.id = track_id JOIN album ON album.id = album_id JOIN artist ON artist.id = artist_id
  JOIN invoice ON invoice.id = invoice_id JOIN customer ON customer.id = customer_id
  WHERE track.id = (SELECT track_id FROM invoice_line JOIN track ON track.id = track_id ORDER BY duration_ms DESC, track_id LIMIT 1)
  ORDER BY customer.email]],
function()
  local longest = Line:including_required(Line.track):order(Line.track.c.duration_ms:desc(), "track_id"):fetch_one().track
  return Line:filter{ track_id = longest.id }
      :including_required(Line.track:including_required(Track.album:including_required(Album.artist)))
      :including_required(Line.invoice:including_required(Invoice.customer))
      :order(Invoice.customer.c.email):fetch_all(),
    function(line)
      return { line.invoice.customer.email, line.track.title, line.track.album.title, line.track.album.artist.name }
    end
end)

question("Which playlists have how many tracks, and how long do they play?", [[
  SELECT playlist.name, COUNT(track.id), COALESCE(SUM(duration_ms), 0) FROM playlist
  LEFT JOIN playlist_track ON playlist_id = playlist.id LEFT JOIN track ON track.id = track_id
  GROUP BY playlist.id ORDER BY playlist.name]],
function()
  local length = Playlist.tracks:sum("duration_ms"):coalesce(0):as("length")
  return Playlist:annotated_with(Playlist.tracks:count(), length):order("name"):fetch_all(),
    function(playlist) return { playlist.name, playlist.track_count, playlist.length } end
end)

question("What is on the staff's playlist?", [[
  SELECT track.title, artist.name FROM playlist JOIN playlist_track ON playlist_id = playlist.id
  JOIN track ON track.id = track_id JOIN album ON album.id = album_id JOIN artist ON artist.id = artist_id
  WHERE playlist.name = 'Staff Picks' ORDER BY track.title, track.id]],
function()
  local picks = Playlist:find{ name = "Staff Picks" }
  return picks:tracks():including_required(Track.album:including_required(Album.artist)):order("title", "id"):fetch_all(),
    function(track) return { track.title, track.album.artist.name } end
end)

question("On which playlists is the first track?", [[
  SELECT name FROM playlist JOIN playlist_track ON playlist_id = playlist.id WHERE track_id = 1 ORDER BY name]],
function()
  return Track:find(1):playlists():order("name"):fetch_all(), function(playlist) return { playlist.name } end
end)

question("What are the three longest tracks of the first five albums?", [[
  SELECT album.title, track.title FROM (
    SELECT *, row_number() OVER (PARTITION BY album_id ORDER BY duration_ms DESC, id) AS place FROM track) AS track
  JOIN album ON album.id = album_id WHERE place <= 3 AND album_id <= 5 ORDER BY album_id, place]],
function()
  local albums = Album:filter(Album.c.id:le(5)):order("id")
      :including_all(Album.tracks:order(Track.c.duration_ms:desc(), "id"):limit(3)):fetch_all()
  local pairs_of_titles = {}
  for _, album in ipairs(albums) do
    for _, track in ipairs(album.tracks) do pairs_of_titles[#pairs_of_titles + 1] = { album.title, track.title } end
  end
  return pairs_of_titles, function(pair) return pair end
end)

question("Who reports to whom?", [[
  SELECT e.first_name || ' ' || e.last_name, m.first_name || ' ' || m.last_name
  FROM employee e LEFT JOIN employee m ON m.id = e.manager_id ORDER BY e.id]],
function()
  return Employee:including_optional(Employee.manager):order("id"):fetch_all(),
    function(employee) return { employee:name(), employee.manager and employee.manager:name() } end
end)

question("Who has how many people below, and how many customers?", [[
  SELECT last_name, (SELECT COUNT(*) FROM employee r WHERE r.manager_id = e.id),
    (SELECT COUNT(*) FROM customer WHERE adviser_id = e.id) FROM employee e ORDER BY id]],
function()
  return Employee:annotated_with(Employee.reports:count():as("reports_count"), Employee.customers:count())
      :order("id"):fetch_all(),
    function(employee) return { employee.last_name, employee.reports_count, employee.customer_count } end
end)

question("What does the whole staff look like, as a tree?", [[
  WITH RECURSIVE tree (id, depth, path) AS (
    SELECT id, 0, printf('%05d', id) FROM employee WHERE manager_id IS NULL
    UNION ALL SELECT e.id, depth + 1, path || printf('%05d', e.id) FROM employee e JOIN tree ON tree.id = e.manager_id)
  SELECT depth, last_name FROM tree JOIN employee USING (id) ORDER BY path]],
function()
  local lines = {}
  local function add(employees, depth)
    for _, employee in ipairs(employees) do
      lines[#lines + 1] = { depth, employee.last_name }
      if depth < 4 then add(employee.reports, depth + 1) end
    end
  end
  add(Employee:filter{ manager_id = perilune.null }:including_all(Employee.reports:order("id"), 4):fetch_all(), 0)
  return lines, function(line) return line end
end)

question("Which artists come from France or are not known to come from anywhere?", [[
  SELECT name FROM artist WHERE country = 'France' OR country IS NULL ORDER BY name]],
function()
  return Artist:filter(Artist.c.country:eq("France") | Artist.c.country:is_null()):order("name"):fetch_all(),
    function(artist) return { artist.name } end
end)

question("Which composers wrote for more than one genre?", [[
  SELECT composer, COUNT(DISTINCT genre_id) AS genres FROM track WHERE composer IS NOT NULL
  GROUP BY composer HAVING genres > 1 ORDER BY genres DESC, composer LIMIT 10]],
function()
  local genres = Track.c.genre_id:count():distinct()
  return Track:filter(Track.c.composer:is_not_null()):select("composer", genres:as("genres")):group("composer")
      :having(genres:gt(1)):order(genres:desc(), "composer"):limit(10):fetch_all(),
    function(row) return { row.composer, row.genres } end
end)

question("Which albums are made of long tracks only?", [[
  SELECT title FROM album WHERE id IN (SELECT album_id FROM track)
  AND id NOT IN (SELECT album_id FROM track WHERE duration_ms <= 180000) ORDER BY title, id]],
function()
  return Album:having(Album.tracks:min("duration_ms"):gt(180000)):order("title", "id"):fetch_all(),
    function(album) return { album.title } end
end)

question("Which tracks that play for more than 20 minutes are on no public playlist but \"Everything\"?", [[
  SELECT title FROM track WHERE duration_ms > 1200000 AND id NOT IN (
    SELECT track_id FROM playlist_track JOIN playlist ON playlist.id = playlist_id WHERE is_public AND name <> 'Everything')
  ORDER BY title, id]],
function()
  local public = Playlist:filter{ is_public = true }:filter(Playlist.c.name:ne("Everything"))
  return Track:longer_than(20)
      :filter(~Track.c.id:is_in(models.Entry:select("track_id"):filter(models.Entry.c.playlist_id:is_in(public:select("id")))))
      :order("title", "id"):fetch_all(),
    function(track) return { track.title } end
end)

question("In which cities do customers but no others of the same country live?", [[
  SELECT country, MIN(city) FROM customer GROUP BY country HAVING COUNT(*) = 1 ORDER BY country]],
function()
  return Customer:select("country", Customer.c.city:min():as("city")):group("country")
      :having(perilune.sql("COUNT(*)"):eq(1)):order("country"):fetch_all(),
    function(row) return { row.country, row.city } end
end)

question("What is on the third page of the catalogue, ten albums a page?", [[
  SELECT title FROM album ORDER BY title COLLATE NOCASE, id LIMIT 10 OFFSET 20]],
function()
  return Album:order(Album.c.title:collating("nocase"), "id"):limit(10, 20):fetch_all(),
    function(album) return { album.title } end
end)

question("Which countries do artists or customers come from?", [[
  SELECT country FROM artist WHERE country IS NOT NULL UNION SELECT country FROM customer ORDER BY 1]],
function()
  return Artist:filter(Artist.c.country:is_not_null()):select("country"):union(Customer:select("country")):order("country"):fetch_all(),
    function(row) return { row.country } end
end)

question("Did each track of the newest invoice cost what it costs today?", [[
  SELECT title, unit_price_cents, price_cents FROM invoice_line JOIN track ON track.id = track_id
  WHERE invoice_id = (SELECT id FROM invoice ORDER BY issued_at DESC, id DESC LIMIT 1) ORDER BY invoice_line.id]],
function()
  local newest = Invoice:order(Invoice.c.issued_at:desc(), Invoice.c.id:desc()):fetch_one()
  return newest:lines():including_required(Line.track):order("id"):fetch_all(),
    function(line) return { line.track.title, line.unit_price_cents, line.track.price_cents } end
end)

shop.build(db, { tracks = 1200 })
db:read(function(db)
  for number, q in ipairs(questions) do
    local answer = answers.agreed(q, db)
    print(("%d. %s"):format(number, q.title))
    for index = 1, math.min(#answer, 5) do print("   " .. answers.line(answer[index])) end
    if #answer > 5 then print(("   ... and %d more"):format(#answer - 5)) end
  end
end)
print(("The answers to all %d questions agree with those of SQL."):format(#questions))
