import Testing
import PeriluneLuaFileTools

@Suite struct RowTests {
    @Test func `a column of a row can be read by position`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 'a' AS x, NULL AS y, 3 AS z")
            equal(row[1], "a")
            equal(row[2], nil)
            equal(row[3], 3)
            for _, position in ipairs{ 0, -1, 4, 1.5, math.maxinteger, math.mininteger } do
              equal(row[position], nil)
              if math.type(position) == "integer" then fails(nil, row.get, row, position) end
            end
            equal(row:get(1), "a")
            """)
    }

    @Test func `a column is read by its case-insensitive name, and the leftmost match wins`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 1 AS Name, 2 AS NAME, 3 AS other")
            equal(row.Name, 1)
            equal(row.name, 1)
            equal(row.nAmE, 1)
            equal(row.NAME, 2)
            equal(row.OTHER, 3)
            equal(row:get("name"), 1)
            equal(db:fetch_one("SELECT 1 AS \\"É\\"")["É"], 1)
            equal(db:fetch_one("SELECT 1 AS \\"a b\\"")["A B"], 1)
            """)
    }

    @Test func `a row distinguishes a missing column from NULL`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT NULL AS date")
            equal(row.date, nil)
            equal(row:has("date"), true)
            equal(row:has("DATE"), true)
            equal(row:has("time"), false)
            equal(row:has(1), true)
            equal(row:has(2), false)
            equal(row:to_table(), { date = perilune.null })
            """)
    }

    @Test func `a row has methods for optional and for required columns`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT NULL AS a, 1 AS b")
            equal(row:get("a"), nil)
            equal(row:require("b"), 1)
            matches(fails("conversion", row.require, row, "a"), "`a` is NULL")
            local err = fails("unknown_column", row.get, row, "c")
            err = fails("unknown_column", db:fetch_one("SELECT 1 AS title").get, db:fetch_one("SELECT 1 AS title"), "titel")
            equal(err.suggestion, "title")
            """)
    }

    @Test func `reading a column as a type preserves its value`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 9223372036854775807 AS i, 1.5 AS f, '12' AS s, 2.0 AS whole, NULL AS none")
            equal(row:integer("i"), math.maxinteger)
            equal(row:integer("whole"), 2)
            equal(row:float("f"), 1.5)
            equal(row:float("whole"), 2.0)
            equal(row:string("s"), "12")
            equal(row:integer("none"), nil)
            fails("conversion", row.integer, row, "f")
            fails("conversion", row.integer, row, "s")
            fails("conversion", row.string, row, "i")
            fails("conversion", row.float, row, "s")
            """)
    }

    @Test func `an integer can be read as a boolean, and 0 is false`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 0 AS a, 1 AS b, 7 AS c, '1' AS d, NULL AS e")
            equal(row:boolean("a"), false)
            equal(row:boolean("b"), true)
            equal(row:boolean("c"), true)
            fails("conversion", row.boolean, row, "d")
            equal(row:boolean("e"), nil)
            """)
    }

    @Test func `text can be read as a date`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT '2026-03-01' AS d, 'soon' AS x")
            equal(row.d, "2026-03-01")
            equal(tostring(row:date("d")), tostring(perilune.date("2026-03-01")))
            fails("conversion", row.date, row, "x")
            """)
    }

    @Test func `names and values are in column order`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 1 AS b, NULL AS a, 3 AS b")
            local seen = {}
            for name, value in row:pairs() do seen[#seen + 1] = name .. "=" .. tostring(value) end
            equal(seen, { "b=1", "a=nil", "b=3" })
            seen = {}
            for name, value in pairs(row) do seen[#seen + 1] = name .. "=" .. tostring(value) end
            equal(seen, { "b=1", "a=nil", "b=3" })
            equal(row:columns(), { "b", "a", "b" })
            equal({ row:values() }, { { 1, nil, 3 }, 3 })
            equal(table.pack(row:unpack()), { 1, nil, 3, n = 3 })
            equal(#row, 3)
            """)
    }

    @Test func `if names are duplicated, the leftmost column is read`() async throws {
        try await script(
            """
            equal(db:fetch_one("SELECT 1 AS foo, 2 AS foo").foo, 1)
            equal(db:fetch_one("SELECT NULL AS foo, 2 AS foo").foo, nil)
            equal(db:fetch_one("SELECT NULL AS foo, 2 AS foo")[2], 2)
            equal(db:fetch_one("SELECT 1 AS foo, NULL AS foo")[2], nil)
            equal(db:fetch_one("SELECT 1 AS foo, NULL AS foo").foo, 1)
            """)
    }

    @Test func `a row can be converted to a plain table`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 1 AS a, NULL AS b, 2 AS a")
            local plain = row:to_table()
            equal(getmetatable(plain), nil)
            equal(plain, { a = 1, b = perilune.null })
            """)
    }

    @Test func `a script can create a row from a table`() async throws {
        try await script(
            """
            local row = perilune.row.new{ name = "foo", date = perilune.null, [3] = nil }
            equal(row.name, "foo")
            equal(row.NAME, "foo")
            equal(row.date, nil)
            equal(row:has("date"), true)
            equal(row:columns(), { "date", "name" })
            equal(row == perilune.row.new{ date = perilune.null, name = "foo" }, true)
            equal(row == db:fetch_one("SELECT NULL AS date, 'foo' AS name"), true)
            equal(tostring(row), '{date = NULL, name = "foo"}')
            equal(db:fetch_value("SELECT :name", row), "foo")
            equal(perilune.row.new({ b = 1, a = 2 }, { "b", "a" }):columns(), { "b", "a" })
            equal(#perilune.row.new{}, 0)
            """)
    }

    @Test func `a row cannot be created from values that SQLite cannot store`() async throws {
        try await script(
            """
            matches(fails("conversion", perilune.row.new, { a = 1, b = {} }), "`b`")
            fails("conversion", perilune.row.new, { a = print })
            fails("conversion", perilune.row.new, { a = db })
            fails("argument", perilune.row.new, { 1, 2 })
            fails("argument", perilune.row.new, 1)
            fails("argument", perilune.row.new)
            fails("argument", perilune.row.new, { a = 1 }, { "b" })
            fails("argument", perilune.row.new, { a = 1 }, { 1 })
            """)
    }

    @Test func `rows can be compared and printed`() async throws {
        try await script(
            """
            local sql = "SELECT 1 AS id, 'Ada' AS name, NULL AS note, 0.5 AS x"
            local row = db:fetch_one(sql)
            equal(row == db:fetch_one(sql), true)
            equal(row == db:fetch_one("SELECT 1 AS id"), false)
            equal(row == db:fetch_one("SELECT 2 AS id, 'Ada' AS name, NULL AS note, 0.5 AS x"), false)
            equal(row == db:fetch_one("SELECT 1 AS id, 'Ada' AS nom, NULL AS note, 0.5 AS x"), false)
            equal(row == db:fetch_one("SELECT 1 AS id, 'Ada' AS name, '' AS note, 0.5 AS x"), false)
            equal(row == {}, false)
            equal(tostring(row), '{id = 1, name = "Ada", note = NULL, x = 0.5}')
            """)
    }

    @Test func `a column hides the row method with the same name`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 1 AS has, NULL AS \\"get\\", 3 AS \\"values\\"")
            equal(row.has, 1)
            equal(row.get, nil)
            equal(perilune.row.has(row, "has"), true)
            equal(perilune.row.get(row, "values"), 3)
            """)
    }

    @Test func `row methods refuse a self that is not a row`() async throws {
        try await script(
            """
            for name, method in pairs(perilune.row) do
              if name ~= "new" then
                for _, value in ipairs{ 1, "x", {}, db, perilune.null, setmetatable({}, { __index = perilune.row }) } do
                  fails(nil, method, value, "a", "b")
                end
                fails(nil, method)
              end
            end
            """)
    }

    @Test func `rows can be changed, and cyclic rows do no harm`() async throws {
        try await script(
            """
            local one, two = db:fetch_one("SELECT 1 AS a"), db:fetch_one("SELECT 1 AS a")
            one.extra, one.a = "more", 2
            equal(one.a, 2)
            local seen = {}
            for name, value in pairs(one) do seen[name] = value end
            equal(seen, { a = 2, extra = "more" })
            one.a, two.a = one, two
            pcall(function() return one == two end)
            pcall(tostring, one)
            one.a, two.a = two, one
            pcall(function() return one == two end)
            pcall(tostring, one)
            one.a = nil
            equal(tostring(one), "{a = NULL}")
            one.extra = nil
            rawset(one, 1, "x")
            equal(one[1], "x")
            for name, value in pairs(one) do end
            for name, value in pairs(one) do one[name .. "x"] = 1 break end
            """)
    }

    @Test func `iterators over rows ignore their arguments`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 1 AS a, 2 AS b")
            for _, value in ipairs{ 1, "x", {}, db, perilune.null, print } do
              local next_pair = pairs(row)
              for i = 1, 5 do pcall(next_pair, value, value) end
              for i = 1, 5 do pcall(next_pair) end
            end
            local names = {}
            for name in pairs(row) do names[#names + 1] = name end
            equal(names, { "a", "b" })
            """)
    }
}
