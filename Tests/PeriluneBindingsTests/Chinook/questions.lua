--- Questions to the Chinook database, whose names are CamelCase, answered by requests and by SQL.
local answers = require "answers"

local Artist, Album, Track = perilune.record("Artist"), perilune.record("Album"), perilune.record("Track")
local Genre, MediaType = perilune.record("Genre"), perilune.record("MediaType")
local Playlist, Entry = perilune.record("Playlist"), perilune.record("PlaylistTrack")
local Employee, Customer = perilune.record("Employee"), perilune.record("Customer")
local Invoice, Line = perilune.record("Invoice"), perilune.record("InvoiceLine")

Artist.albums = Artist:has_many(Album)
Album.artist = Album:belongs_to(Artist)
Album.tracks = Album:has_many(Track)
Track.album = Track:belongs_to(Album)
Track.genre = Track:belongs_to(Genre)
Track.media_type = Track:belongs_to(MediaType)
Genre.tracks = Genre:has_many(Track)
Playlist.entries = Playlist:has_many(Entry)
Entry.track = Entry:belongs_to(Track)
Entry.playlist = Entry:belongs_to(Playlist)
Playlist.tracks = Playlist:has_many(Track, { through = Playlist.entries, using = Entry.track })
Track.entries = Track:has_many(Entry)
Track.playlists = Track:has_many(Playlist, { through = Track.entries, using = Entry.playlist })
Employee.manager = Employee:belongs_to(Employee)
Employee.reports = Employee:has_many(Employee)
Customer.adviser = Customer:belongs_to(Employee)
Employee.customers = Employee:has_many(Customer)
Customer.invoices = Customer:has_many(Invoice)
Invoice.customer = Invoice:belongs_to(Customer)
Invoice.lines = Invoice:has_many(Line)
Line.invoice = Line:belongs_to(Invoice)
Line.track = Line:belongs_to(Track)
Track.lines = Track:has_many(Line)

local questions = {}

local function question(title, sql, ask)
  questions[#questions + 1] = { title = title, sql = sql, ask = ask }
end

question("tracks of each genre", [[
  SELECT Genre.Name, COUNT(TrackId) FROM Genre LEFT JOIN Track USING (GenreId) GROUP BY GenreId ORDER BY Genre.Name]],
function()
  return Genre:annotated_with(Genre.tracks:count():as("tracks_count")):order("Name"):fetch_all(),
    function(genre) return { genre.Name, genre.tracks_count } end
end)

question("artists with most albums", [[
  SELECT Name, COUNT(*) AS n FROM Artist JOIN Album USING (ArtistId) GROUP BY ArtistId ORDER BY n DESC, Name LIMIT 3]],
function()
  local n = Artist.albums:count()
  return Artist:annotated_with(n:as("n")):order(n:desc(), "Name"):limit(3):fetch_all(),
    function(artist) return { artist.Name, artist.n } end
end)

question("artists without albums", [[
  SELECT COUNT(*) FROM Artist WHERE ArtistId NOT IN (SELECT ArtistId FROM Album)]],
function()
  return { Artist:having(Artist.albums:is_empty()):fetch_count() }, function(count) return { count } end
end)

question("albums of one artist", [[
  SELECT Title FROM Album JOIN Artist USING (ArtistId) WHERE Name = 'Iron Maiden' ORDER BY Title]],
function()
  return Artist:find{ ArtistId = 90 }:albums():order("Title"):fetch_all(), function(album) return { album.Title } end
end)

question("tracks never sold", "SELECT COUNT(*) FROM Track WHERE TrackId NOT IN (SELECT TrackId FROM InvoiceLine)",
function()
  return { Track:having(Track.lines:is_empty()):fetch_count() }, function(count) return { count } end
end)

question("tracks with é", "SELECT COUNT(*) FROM Track WHERE Name LIKE '%é%'",
function()
  return { Track:filter(Track.c.Name:contains("é")):fetch_count() }, function(count) return { count } end
end)

question("tracks without composer", "SELECT COUNT(*) FROM Track WHERE Composer IS NULL",
function()
  return { Track:filter{ Composer = perilune.null }:fetch_count() }, function(count) return { count } end
end)

question("invoices and turnover by country", [[
  SELECT Country, COUNT(*), ROUND(SUM(Total), 2) AS turnover FROM Invoice JOIN Customer USING (CustomerId)
  GROUP BY Country ORDER BY turnover DESC, Country]],
function()
  local country, turnover = Invoice.customer.c.Country, Invoice.c.Total:sum():round(2)
  return Invoice:joining_required(Invoice.customer)
      :select(country:as("country"), Invoice.c.InvoiceId:count():as("invoices"), turnover:as("turnover"))
      :group(country):order(turnover:desc(), country):fetch_all(),
    function(row) return { row.country, row.invoices, row.turnover } end
end)

question("bytes of everything", "SELECT SUM(Bytes), SUM(Milliseconds) FROM Track",
function()
  return { { Track:sum("Bytes"), Track:sum("Milliseconds") } }, function(pair) return pair end
end)

question("the largest track", "SELECT Name, Bytes FROM Track ORDER BY Bytes DESC LIMIT 1",
function()
  return Track:order(Track.c.Bytes:desc()):limit(1):fetch_all(), function(track) return { track.Name, track.Bytes } end
end)

question("who looks after whom", [[
  SELECT c.LastName, e.LastName FROM Customer c LEFT JOIN Employee e ON e.EmployeeId = c.SupportRepId ORDER BY CustomerId]],
function()
  return Customer:including_optional(Customer.adviser):order("CustomerId"):fetch_all(),
    function(customer) return { customer.LastName, customer.adviser and customer.adviser.LastName } end
end)

question("customers of each employee", [[
  SELECT LastName, (SELECT COUNT(*) FROM Customer WHERE SupportRepId = e.EmployeeId) FROM Employee e ORDER BY EmployeeId]],
function()
  return Employee:annotated_with(Employee.customers:count():as("n")):order("EmployeeId"):fetch_all(),
    function(employee) return { employee.LastName, employee.n } end
end)

question("who reports to whom", [[
  SELECT e.LastName, m.LastName FROM Employee e LEFT JOIN Employee m ON m.EmployeeId = e.ReportsTo ORDER BY e.EmployeeId]],
function()
  return Employee:including_optional(Employee.manager):order("EmployeeId"):fetch_all(),
    function(employee) return { employee.LastName, employee.manager and employee.manager.LastName } end
end)

question("the staff as a tree", [[
  WITH RECURSIVE tree (id, depth, path) AS (
    SELECT EmployeeId, 0, printf('%05d', EmployeeId) FROM Employee WHERE ReportsTo IS NULL
    UNION ALL SELECT EmployeeId, depth + 1, path || printf('%05d', EmployeeId) FROM Employee JOIN tree ON tree.id = ReportsTo)
  SELECT depth, LastName FROM tree JOIN Employee ON EmployeeId = tree.id ORDER BY path]],
function()
  local lines = {}
  local function add(employees, depth)
    for _, employee in ipairs(employees) do
      lines[#lines + 1] = { depth, employee.LastName }
      if depth < 3 then add(employee.reports, depth + 1) end
    end
  end
  add(Employee:filter{ ReportsTo = perilune.null }:including_all(Employee.reports:order("EmployeeId"), 3):fetch_all(), 0)
  return lines, function(line) return line end
end)

question("playlists with their length", [[
  SELECT Name, COUNT(Track.TrackId), COALESCE(SUM(Milliseconds), 0) FROM Playlist
  LEFT JOIN PlaylistTrack USING (PlaylistId) LEFT JOIN (SELECT TrackId, Milliseconds FROM Track) AS Track USING (TrackId)
  GROUP BY PlaylistId ORDER BY PlaylistId]],
function()
  return Playlist:annotated_with(
      Playlist.tracks:count():as("tracks_count"), Playlist.tracks:sum("Milliseconds"):coalesce(0):as("length"))
      :order("PlaylistId"):fetch_all(),
    function(playlist) return { playlist.Name, playlist.tracks_count, playlist.length } end
end)

question("tracks on the playlist Grunge", [[
  SELECT Track.Name FROM Playlist JOIN PlaylistTrack USING (PlaylistId) JOIN Track USING (TrackId)
  WHERE Playlist.Name = 'Grunge' ORDER BY TrackId]],
function()
  return Playlist:filter{ Name = "Grunge" }:fetch_one():tracks():order("TrackId"):fetch_all(),
    function(track) return { track.Name } end
end)

question("playlists with one track", [[
  SELECT Name FROM Playlist JOIN PlaylistTrack USING (PlaylistId) WHERE TrackId = 597 ORDER BY PlaylistId]],
function()
  return Track:find(597):playlists():order("PlaylistId"):fetch_all(), function(playlist) return { playlist.Name } end
end)

question("a key of two columns", "SELECT PlaylistId, TrackId FROM PlaylistTrack WHERE PlaylistId = 1 AND TrackId = 3402",
function()
  return { Entry:find{ PlaylistId = 1, TrackId = 3402 } }, function(entry) return { entry.PlaylistId, entry.TrackId } end
end)

question("entries with what they lead to", [[
  SELECT Playlist.Name, Track.Name, Album.Title, Artist.Name
  FROM PlaylistTrack JOIN Playlist USING (PlaylistId) JOIN Track USING (TrackId)
  JOIN Album USING (AlbumId) JOIN Artist USING (ArtistId)
  WHERE PlaylistId = 18 OR PlaylistId = 9 ORDER BY PlaylistId, TrackId]],
function()
  return Entry:including_required(Entry.playlist)
      :including_required(Entry.track:including_required(Track.album:including_required(Album.artist)))
      :filter(Entry.c.PlaylistId:is_in{ 9, 18 }):order("PlaylistId", "TrackId"):fetch_all(),
    function(entry)
      return { entry.playlist.Name, entry.track.Name, entry.track.album.Title, entry.track.album.artist.Name }
    end
end)

question("customers who bought a genre", [[
  SELECT DISTINCT Email FROM Customer JOIN Invoice USING (CustomerId) JOIN InvoiceLine USING (InvoiceId)
  JOIN Track USING (TrackId) JOIN Genre USING (GenreId) WHERE Genre.Name = 'Classical' ORDER BY Email]],
function()
  local classical = Line:joining_required(Line.track:joining_required(Track.genre:filter{ Name = "Classical" })):select("InvoiceId")
  return Customer:filter(Customer.c.CustomerId:is_in(
      Invoice:filter(Invoice.c.InvoiceId:is_in(classical)):select("CustomerId"))):order("Email"):fetch_all(),
    function(customer) return { customer.Email } end
end)

question("best customers", [[
  SELECT LastName, ROUND(SUM(Total), 2) AS spent FROM Customer JOIN Invoice USING (CustomerId)
  GROUP BY CustomerId ORDER BY spent DESC, CustomerId LIMIT 5]],
function()
  local spent = Customer.invoices:sum("Total"):round(2)
  return Customer:annotated_with(spent:as("spent")):order(spent:desc(), "CustomerId"):limit(5):fetch_all(),
    function(customer) return { customer.LastName, customer.spent } end
end)

question("media types by use", [[
  SELECT MediaType.Name, COUNT(*) AS n FROM MediaType JOIN Track USING (MediaTypeId) GROUP BY MediaTypeId ORDER BY n DESC]],
function()
  local name, n = Track.media_type.c.Name, Track.c.TrackId:count()
  return Track:joining_required(Track.media_type):select(name:as("name"), n:as("n")):group(Track.c.MediaTypeId)
      :order(n:desc()):fetch_all(),
    function(row) return { row.name, row.n } end
end)

question("every invoice with its lines", [[
  SELECT InvoiceId, COUNT(*), ROUND(SUM(UnitPrice * Quantity), 2) FROM InvoiceLine GROUP BY InvoiceId ORDER BY InvoiceId]],
function()
  return Invoice:including_all(Invoice.lines):order("InvoiceId"):fetch_all(), function(invoice)
    return { invoice.InvoiceId, #invoice.lines, tonumber(("%.2f"):format(invoice.Total)) }
  end
end)

question("longest track of each of some albums", [[
  SELECT Title, (SELECT Name FROM Track WHERE AlbumId = Album.AlbumId ORDER BY Milliseconds DESC, TrackId LIMIT 1)
  FROM Album WHERE AlbumId <= 20 ORDER BY AlbumId]],
function()
  return Album:filter(Album.c.AlbumId:le(20)):order("AlbumId")
      :including_all(Album.tracks:order(Track.c.Milliseconds:desc(), "TrackId"):limit(1)):fetch_all(),
    function(album) return { album.Title, album.tracks[1].Name } end
end)

question("artists and genres in one list", [[
  SELECT Name FROM Artist WHERE Name LIKE 'R%' UNION SELECT Name FROM Genre WHERE Name LIKE 'R%' ORDER BY Name]],
function()
  return Artist:filter(Artist.c.Name:like("R%")):select("Name")
      :union(Genre:filter(Genre.c.Name:like("R%")):select("Name")):order("Name"):fetch_all(),
    function(row) return { row.Name } end
end)

question("the second page of customers", "SELECT LastName FROM Customer ORDER BY LastName, FirstName LIMIT 10 OFFSET 10",
function()
  return Customer:order("LastName", "FirstName"):limit(10, 10):fetch_all(), function(customer) return { customer.LastName } end
end)

db:read(function(db)
  for _, q in ipairs(questions) do answers.agreed(q, db) end
end)
