--- The record classes of the music shop and their associations. Columns, keys and foreign keys come from the schema.
local Artist, Album, Track = perilune.record("artist"), perilune.record("album"), perilune.record("track")
local Genre, Playlist, Entry = perilune.record("genre"), perilune.record("playlist"), perilune.record("playlist_track")
local Employee, Customer = perilune.record("employee"), perilune.record("customer")
local Invoice, Line = perilune.record("invoice"), perilune.record("invoice_line")

-- The associations of a class are its fields: Artist.albums, Album.artist, ...
Artist.albums = Artist:has_many(Album)
Album.artist = Album:belongs_to(Artist)
Album.tracks = Album:has_many(Track)
Artist.tracks = Artist:has_many(Track, { through = Artist.albums, using = Album.tracks })
Track.album = Track:belongs_to(Album)
Track.genre = Track:belongs_to(Genre)
Genre.tracks = Genre:has_many(Track)

Playlist.entries = Playlist:has_many(Entry)
Entry.track = Entry:belongs_to(Track)
Entry.playlist = Entry:belongs_to(Playlist)
Playlist.tracks = Playlist:has_many(Track, { through = Playlist.entries, using = Entry.track })
Track.entries = Track:has_many(Entry)
Track.playlists = Track:has_many(Playlist, { through = Track.entries, using = Entry.playlist })

-- A table that refers to itself.
Employee.manager = Employee:belongs_to(Employee)
Employee.reports = Employee:has_many(Employee)

Customer.adviser = Customer:belongs_to(Employee)
Employee.customers = Employee:has_many(Customer)
Customer.invoices = Customer:has_many(Invoice)
Invoice.customer = Invoice:belongs_to(Customer)
Invoice.lines = Invoice:has_many(Line)
Customer.lines = Customer:has_many(Line, { through = Customer.invoices, using = Invoice.lines })
Line.invoice = Line:belongs_to(Invoice)
Line.track = Line:belongs_to(Track)
Track.lines = Track:has_many(Line)

-- Common requests have names, and can be combined with everything else.
function Artist.requests:from(country) return self:filter{ country = country } end
function Invoice.requests:unpaid() return self:filter{ is_paid = false } end
function Invoice.requests:issued_in(year) return self:filter(Invoice.c.issued_at:starts_with(year .. "-")) end
function Track.requests:longer_than(minutes) return self:filter(Track.c.duration_ms:gt(minutes * 60000)) end

function Employee:name() return self.first_name .. " " .. self.last_name end
function Customer:name() return self.first_name .. " " .. self.last_name end

--- Returns the price of a line as an expression.
function Line.price() return Line.c.unit_price_cents * Line.c.quantity end

return {
  Artist = Artist, Album = Album, Track = Track, Genre = Genre, Playlist = Playlist, Entry = Entry,
  Employee = Employee, Customer = Customer, Invoice = Invoice, Line = Line,
}
