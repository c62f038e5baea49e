--- Values that a function makes of rows, without any table.

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

test("values are made of the rows of any SQL: all, one, or one after the other", function()
  local Point = make_point()
  equal(Point:fetch_all(db, "SELECT * FROM place ORDER BY id"), { rome, oslo })
  equal(Point:fetch_all("SELECT * FROM place WHERE id = ?", 2), { oslo })
  equal(Point:fetch_one("SELECT * FROM place WHERE id = :id", { id = 1 }), rome)
  equal(Point:fetch_one "SELECT * FROM place WHERE id = 9", nil)
  local titles = {}
  for point in Point:rows "SELECT * FROM place ORDER BY id DESC" do titles[#titles + 1] = point.title end
  equal(titles, { "Oslo", "Rome" })
end)

test("values are made of prepared statements", function()
  local Point = make_point()
  local statement = db:prepare "SELECT * FROM place WHERE id = ?"
  equal({ Point:fetch_one(statement, 1), Point:fetch_all(statement, 2) }, { rome, { oslo } })
end)

test("a hook sees each value with its row", function()
  local seen = {}
  local Point = make_point{ did_fetch = function(point, row) seen[#seen + 1] = point.title .. row.id end }
  Point:fetch_all "SELECT * FROM place ORDER BY id"
  Point:fetch_one "SELECT * FROM place"
  equal(seen, { "Rome1", "Oslo2", "Rome1" })
end)

test("values do not share a row that is used again", function()
  local Whole = perilune.row_type{ from_row = function(row) return row end }
  local rows = {}
  for row in Whole:rows "SELECT * FROM place ORDER BY id" do rows[#rows + 1] = row end
  equal({ rows[1].title, rows[2].title }, { "Rome", "Oslo" })
end)

test("a value is made of a table, or of a row that there is", function()
  local Point = make_point()
  equal(Point:from{ title = "Rome", latitude = 41.9, longitude = 12.5 }, rome)
  equal(Point:from(db:fetch_one "SELECT * FROM place WHERE id = 2"), oslo)
end)

test("mistakes are reported", function()
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
