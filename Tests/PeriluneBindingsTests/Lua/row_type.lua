--- Row types: values that a function creates from rows.

db:execute[[
  CREATE TABLE place (id INTEGER PRIMARY KEY, title TEXT, latitude REAL, longitude REAL);
  INSERT INTO place VALUES (1, 'Rome', 41.9, 12.5), (2, 'Oslo', 59.9, 10.8)]]

local function make_point(more)
  local definition = {
    from_row = function(row)
      return { title = row.title, coordinate = row.latitude and { row.latitude, row.longitude } }
    end,
  }
  for name, value in pairs(more or {}) do definition[name] = value end
  return perilune.row_type(definition)
end

local rome, oslo = { title = "Rome", coordinate = { 41.9, 12.5 } }, { title = "Oslo", coordinate = { 59.9, 10.8 } }

test("a row type converts all rows of SQL, one row, or each row of an iteration", function()
  local Point = make_point()
  equal(Point:fetch_all(db, "SELECT * FROM place ORDER BY id"), { rome, oslo })
  equal(Point:fetch_all("SELECT * FROM place WHERE id = ?", 2), { oslo })
  equal(Point:fetch_one("SELECT * FROM place WHERE id = :id", { id = 1 }), rome)
  equal(Point:fetch_one "SELECT * FROM place WHERE id = 9", nil)
  local titles = {}
  for point in Point:rows "SELECT * FROM place ORDER BY id DESC" do titles[#titles + 1] = point.title end
  equal(titles, { "Oslo", "Rome" })
end)

test("a row type converts the rows of prepared statements", function()
  local Point = make_point()
  local statement = db:prepare "SELECT * FROM place WHERE id = ?"
  equal({ Point:fetch_one(statement, 1), Point:fetch_all(statement, 2) }, { rome, { oslo } })
end)

test("the hook of a row type receives each value and its row", function()
  local seen = {}
  local Point = make_point{ did_fetch = function(point, row) seen[#seen + 1] = point.title .. row.id end }
  Point:fetch_all "SELECT * FROM place ORDER BY id"
  Point:fetch_one "SELECT * FROM place"
  equal(seen, { "Rome1", "Oslo2", "Rome1" })
end)

test("values of a row type do not share rows", function()
  local Whole = perilune.row_type{ from_row = function(row) return row end }
  local rows = {}
  for row in Whole:rows "SELECT * FROM place ORDER BY id" do rows[#rows + 1] = row end
  equal({ rows[1].title, rows[2].title }, { "Rome", "Oslo" })
end)

test("a row type converts tables and existing rows", function()
  local Point = make_point()
  equal(Point:from{ title = "Rome", latitude = 41.9, longitude = 12.5 }, rome)
  equal(Point:from(db:fetch_one "SELECT * FROM place WHERE id = 2"), oslo)
end)

test("invalid arguments of row types are refused", function()
  equal(fails("unknown_option", perilune.row_type, { from_row = print, did_fech = print }).suggestion, "did_fetch")
  fails("argument", perilune.row_type, {})
  fails("argument", perilune.row_type, nil)
  fails("argument", perilune.row_type, { from_row = print, did_fetch = 1 })
  local Point = make_point()
  fails("argument", Point.fetch_all, {}, "SELECT 1")
  fails("argument", Point.from, Point, 1)
  local Nothing = perilune.row_type{ from_row = function() end }
  matches(fails("conversion", Nothing.fetch_all, Nothing, "SELECT 1 AS a").message, "returned nothing")
  local Bad = perilune.row_type{ from_row = function(row) return row.title .. row.pages end }
  matches(fails(nil, Bad.fetch_all, Bad, "SELECT title FROM place"), "pages")
end)

test("a row type can be fetched from requests", function()
  db:execute[[CREATE TABLE writer (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE novel (id INTEGER PRIMARY KEY, title TEXT, writer_id INTEGER REFERENCES writer);
    INSERT INTO writer VALUES (1, 'Melville'); INSERT INTO novel VALUES (1, 'Typee', 1), (2, 'Beowulf', NULL)]]
  local Writer, Novel = perilune.record "writer", perilune.record "novel"
  Novel.writer, Writer.novels = Novel:belongs_to(Writer), Writer:has_many(Novel)
  local Title = perilune.row_type{ from_row = function(row) return row.title:upper() end }
  equal(Title:fetch_all(Novel:order("id")), { "TYPEE", "BEOWULF" })
  equal(Title:fetch_all(db, Novel:order("id"):limit(1)), { "TYPEE" })
  equal(Title:fetch_all(Novel:filter{ id = 2 }:select("title")), { "BEOWULF" })
  equal(Title:fetch_one(Novel:order(Novel.c.id:desc())), "BEOWULF")
  equal(Title:fetch_one(Novel:none()), nil)
  local list = {}
  for title in Title:rows(Novel:order("id")) do list[#list + 1] = title end
  equal(list, { "TYPEE", "BEOWULF" })
  local Line = perilune.row_type{ from_row = function(row) return row.title .. ": " .. (row.writer and row.writer.name or "?") end }
  equal(Line:fetch_all(Novel:including_optional(Novel.writer):order("id")), { "Typee: Melville", "Beowulf: ?" })
  local Count = perilune.row_type{ from_row = function(row) return row.name .. " " .. row.novel_count end }
  equal(Count:fetch_all(Writer:annotated_with(Writer.novels:count())), { "Melville 1" })
  equal(#Title:fetch_all(Novel), 2)
  matches(fails("argument", function() Title:fetch_all(5) end), "fetch_all: expected SQL, a statement or a request, got the integer 5")
  matches(fails("argument", function() Title:rows(db, {}) end), "rows: expected SQL")
  matches(fails("argument", function() Title:fetch_one(Novel:all(), 5) end), "takes no arguments")
end)

test("a value type may convert to a date, an enum case or date components", function()
  local function type_of(to_database) return perilune.value_type{ name = "t", to_database = to_database, from_database = function(v) return v end } end
  local Day = type_of(function(v) return perilune.date(v) end)
  equal(db:fetch_value("SELECT ?", Day "2026-01-02"), db:fetch_value("SELECT ?", perilune.date "2026-01-02"))
  local Size = perilune.enum{ small = "S", large = "L" }
  equal(db:fetch_value("SELECT ?", type_of(function(v) return Size[v] end) "large"), "L")
  equal(db:fetch_value("SELECT ?", type_of(function(v) return Day(v) end) "2026-01-02"), db:fetch_value("SELECT ?", perilune.date "2026-01-02"))
  equal(perilune.storage_class(Day "2026-01-02"), "text")
  equal(db:fetch_value("SELECT ?", type_of(function() return perilune.null end)(1)), nil)
  matches(fails("argument", db.fetch_value, db, "SELECT ?", type_of(function() end)(1)), "t: to_database returned nothing")
  matches(fails("argument", db.fetch_value, db, "SELECT ?", type_of(function() return nil, "not today" end)(1)), "t: not today")
  matches(fails("argument", db.fetch_value, db, "SELECT ?", type_of(function() return {} end)(1)), "to_database")
  local looping = setmetatable({}, { __to_database = function(self) return self end })
  matches(fails("argument", db.fetch_value, db, "SELECT ?", looping), "to_database")
end)
