import Testing
import PeriluneLuaFileTools

@Suite struct TypeTests {
    private let color = "local Color = perilune.enum{ red = 0, white = 1, rose = 2 }\n"

    @Test func `an enum can have integers for its cases`() async throws {
        try await script(
            color + """
                equal(tostring(Color.red), "red")
                equal(Color.rose.raw, 2)
                equal(#Color.cases(), 3)
                equal(Color.cases()[2], Color.white)
                """)
    }

    @Test func `an enum can have strings for its cases`() async throws {
        try await script(
            """
            local Grape = perilune.enum{ "chardonnay", "merlot" }
            equal({ Grape.merlot, Grape.from("merlot"), table.concat(Grape.cases(), " ") }, { "merlot", "merlot", "chardonnay merlot" })
            matches(fails("conversion", Grape.from, "merlo"), "did you mean `merlot`?")
            matches(fails("unknown_member", function() return Grape.shiraz end), "chardonnay, merlot")
            fails("argument", perilune.enum, { "a", "a" })
            local Status = perilune.enum{ open = "O", closed = "C" }
            equal(Status.from("C"), Status.closed)
            """)
    }

    @Test func `an unknown enum value is a conversion error that lists the known values`() async throws {
        try await script(
            color + """
                local err = fails("conversion", Color.from, 7)
                matches(err, "7")
                matches(err, "rose = 2")
                matches(fails("conversion", db.fetch_value_as, db, Color, "SELECT 9"), "9")
                local row = db:fetch_one("SELECT 9 AS color")
                matches(fails("conversion", row.get, row, "color", Color), "column `color`")
                """)
    }

    @Test func `enums can be arguments, values of rows and fetched values`() async throws {
        try await script(
            color + """
                db:execute("CREATE TABLE wine (name TEXT, color INTEGER)")
                db:execute("INSERT INTO wine VALUES (?, ?)", "Rioja", Color.red)
                db:execute("INSERT INTO wine VALUES (:name, :color)", { name = "Provence", color = Color.rose })
                equal(db:fetch_values("SELECT color FROM wine ORDER BY color"), { 0, 2 })
                equal(db:fetch_values_as(Color, "SELECT color FROM wine ORDER BY color"), { Color.red, Color.rose })
                equal(db:fetch_one("SELECT * FROM wine WHERE color = ?", Color.rose):get("color", Color), Color.rose)
                """)
    }

    @Test func `invalid enum definitions are refused`() async throws {
        try await script(
            color + """
                matches(fails("unknown_member", function() return Color.green end), "white = 1")
                fails("argument", function() Color.red = 3 end)
                fails("argument", perilune.enum, {})
                fails("argument", perilune.enum, { cases = 1 })
                fails("argument", perilune.enum, { a = 1, b = 1 })
                fails("argument", perilune.enum, { a = 1.5 })
                fails("argument", perilune.enum, 3)
                """)
    }

    @Test func `a value type converts to and from the database`() async throws {
        try await script(
            """
            local Point = perilune.value_type{
              name = "point",
              to_database = function(point) return point.x .. ";" .. point.y end,
              from_database = function(text)
                local x, y = text:match("^(%d+);(%d+)$")
                if x then return { x = tonumber(x), y = tonumber(y) } end
              end,
            }
            equal(db:fetch_value("SELECT ?", Point{ x = 1, y = 2 }), "1;2")
            equal(db:fetch_value_as(Point, "SELECT '3;4'"), { x = 3, y = 4 })
            equal(db:fetch_one("SELECT '5;6' AS p"):get("p", Point), { x = 5, y = 6 })
            local err = fails("conversion", db.fetch_values_as, db, Point, "SELECT '1;2' UNION ALL SELECT 'x'")
            matches(err, "row 2")
            matches(err, "point")
            """)
    }

    @Test func `any table or userdata with __to_database can be an argument`() async throws {
        try await script(
            """
            local money = setmetatable({ cents = 250 }, { __to_database = function(self) return self.cents end })
            equal(db:fetch_value("SELECT ? + 1", money), 251)
            equal(db:fetch_value("SELECT :m", { m = money }), 250)
            local bad = setmetatable({}, { __to_database = function() return {} end })
            fails("argument", db.fetch_value, db, "SELECT ?", bad)
            fails("argument", db.fetch_value, db, "SELECT ?", { {} })
            local failing = setmetatable({}, { __to_database = function() error({ mine = true }) end })
            local ok, err = pcall(db.fetch_value, db, "SELECT ?", failing)
            equal(err.mine, true)
            """)
    }

    @Test func `a value type can store a date as a Unix timestamp`() async throws {
        try await script(
            """
            local timestamp = perilune.value_type{
              name = "timestamp",
              to_database = function(date) return math.floor(date.unix) end,
              from_database = function(seconds) return math.type(seconds) == "integer" and perilune.date.from_unix(seconds) or nil end,
            }
            db:execute("CREATE TABLE event (at INTEGER)")
            db:execute("INSERT INTO event VALUES (?)", timestamp(perilune.date("2026-03-01")))
            equal(db:fetch_value("SELECT at FROM event"), 1772323200)
            equal(tostring(db:fetch_value_as(timestamp, "SELECT at FROM event")), "2026-03-01 00:00:00.000")
            """)
    }

    @Test func `values of rows report their storage class`() async throws {
        try await script(
            """
            equal(perilune.storage_class(nil), "null")
            equal(perilune.storage_class(perilune.null), "null")
            equal(perilune.storage_class(1), "integer")
            equal(perilune.storage_class(true), "integer")
            equal(perilune.storage_class(1.5), "real")
            equal(perilune.storage_class("x"), "text")
            equal(perilune.storage_class(perilune.blob("x")), "blob")
            equal(perilune.storage_class(perilune.date("2026-03-01")), "text")
            fails("argument", perilune.storage_class, {})
            """)
    }

    @Test func `reading a value of a row as another type loses nothing`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 1 AS one, 1.5 AS half, 2.0 AS two, 'x' AS word, NULL AS empty, 0 AS zero")
            equal(row:integer("one"), 1)
            equal(row:integer("two"), 2)
            equal(row:float("one"), 1.0)
            equal(row:string("word"), "x")
            equal(row:boolean("one"), true)
            equal(row:boolean("zero"), false)
            equal(row:get("empty", "integer"), nil)
            fails("conversion", row.require, row, "empty", "integer")
            fails("conversion", row.integer, row, "half")
            fails("conversion", row.integer, row, "word")
            fails("conversion", row.boolean, row, "word")
            matches(fails("unknown_column", row.get, row, "hafl"), "half")
            matches(fails("argument", row.get, row, "one", "integre"), "integer")
            """)
    }
}
