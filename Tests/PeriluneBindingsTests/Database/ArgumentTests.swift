import Testing
import PeriluneLuaFileTools

@Suite struct ArgumentTests {
    @Test func `the number of positional arguments must match the number of question marks`() async throws {
        try await script(
            """
            equal(db:fetch_one("SELECT ? AS a, ? AS b", 1, "x"), { a = 1, b = "x" })
            equal(db:fetch_one("SELECT ?1 AS a, ?2 AS b, ?1 AS c", 1, "x"), { a = 1, b = "x", c = 1 })
            equal(db:fetch_one("SELECT ?2 AS a", 1, 2), { a = 2 })
            """)
    }

    @Test func `a table of arguments can be positional, named, or both`() async throws {
        try await script(
            """
            equal(db:fetch_one("SELECT ? AS a, :b AS b, ? AS c", { 1, 2, b = "x" }), { a = 1, b = "x", c = 2 })
            equal(db:fetch_one("SELECT :n AS n", { n = 5 }), { n = 5 })
            equal(db:fetch_one("SELECT ? AS a, :n AS n", { 1, n = 5 }), { a = 1, n = 5 })
            equal(db:fetch_one("SELECT ? AS a, ? AS b", { n = 2 }), {})
            equal(db:fetch_one("SELECT :a AS a, :b AS b", { 1, 2 }), { a = 1, b = 2 })
            equal(db:fetch_one("SELECT :a AS a, :a AS b", { a = 1 }), { a = 1, b = 1 })
            """)
    }

    @Test func `a row can provide named arguments, including NULLs`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 1 AS a, NULL AS b, 3 AS c")
            equal(db:fetch_one("SELECT :a AS x, :b AS y", row), { x = 1 })
            fails("argument", db.fetch_one, db, "SELECT :missing", row)
            """)
    }

    @Test func `an argument that SQLite cannot store is refused with its position or name`() async throws {
        try await script(
            """
            for _, value in ipairs{ print, coroutine.create(print), db, db:prepare("SELECT 1"), io.stdout } do
              matches(fails("argument", db.fetch_value, db, "SELECT ?", value), "argument 1")
              matches(fails("argument", db.fetch_value, db, "SELECT :key", { key = value }), '"key"')
              fails("argument", db.fetch_value, db, "SELECT ?, ?", 1, value)
              fails("argument", db.fetch_value, db, "SELECT ?, ?", { 1, value })
            end
            matches(fails("argument", db.fetch_value, db, "SELECT ?, ?", 1, {}), "argument 2")
            matches(fails("argument", db.fetch_value, db, "SELECT ?", 0/0), "NaN")
            """)
    }

    @Test func `__to_database converts an argument`() async throws {
        try await script(
            """
            local Money = {}
            Money.__index = Money
            Money.__to_database = function(self) return self.cents end
            local money = setmetatable({ cents = 250 }, Money)
            equal(db:fetch_value("SELECT ?", money), 250)
            equal(db:fetch_value("SELECT ?", { money }), 250)
            equal(db:fetch_value("SELECT :m", { m = money }), 250)
            local function converting(f) return setmetatable({}, { __to_database = f }) end
            equal(db:fetch_value("SELECT ?", converting(function() return nil end)), nil)
            equal(db:fetch_value("SELECT typeof(?)", converting(function() return perilune.blob("x") end)), "blob")
            equal(db:fetch_value("SELECT typeof(?)", converting(function() return perilune.null end)), "null")
            fails("argument", db.fetch_value, db, "SELECT ?", converting(function() return {} end))
            equal(db:fetch_value("SELECT ?", converting(function() return money end)), 250)
            fails("argument", db.fetch_value, db, "SELECT ?", converting(function() return 0/0 end))
            local mine = { mine = true }
            local ok, err = pcall(db.fetch_value, db, "SELECT ?", converting(function() error(mine) end))
            equal(rawequal(err, mine), true)
            fails(nil, db.fetch_value, db, "SELECT ?", setmetatable({}, { __to_database = 5 }))
            fails(nil, db.fetch_value, db, "SELECT ?", converting(function() coroutine.yield() end))
            local looping = setmetatable({}, {})
            getmetatable(looping).__to_database = function(self) return db:fetch_value("SELECT ?", self) end
            fails(nil, db.fetch_value, db, "SELECT ?", looping)
            equal(db:fetch_value("SELECT ?", 1), 1)
            """)
    }

    @Test func `tables of arguments are read without metamethods`() async throws {
        try await script(
            """
            local sneaky = setmetatable({}, {
              __index = function() return 1 end, __len = function() return 1 end,
              __pairs = function() error("no") end,
            })
            fails("argument", db.fetch_value, db, "SELECT ?", sneaky)
            fails("argument", db.fetch_value, db, "SELECT :a", sneaky)
            """)
    }

    @Test func `argument lists with an invalid length are refused`() async throws {
        try await script(
            """
            for _, n in ipairs{ 0, -1, 2, math.maxinteger, math.mininteger } do
              fails("argument", db.fetch_value, db, "SELECT ?", { n = n })
            end
            fails("argument", db.fetch_value, db, "SELECT ?", { 1, n = 1.5 })
            fails("argument", db.fetch_value, db, "SELECT ?", { 1, n = "1" })
            equal(db:fetch_value("SELECT ?", { 7, n = 1 }), 7)
            """)
    }

    @Test func `a statement accepts as many arguments as SQLite allows`() async throws {
        try await script(
            """
            local marks, values = {}, {}
            for i = 1, 32766 do marks[i], values[i] = "?", i end
            local sql = "SELECT " .. table.concat(marks, "+")
            for i = 1, 999 do marks[i] = "?" end
            local some = "SELECT " .. table.concat(marks, "+", 1, 999)
            equal(db:fetch_value(some, table.unpack(values, 1, 999)), 999 * 1000 // 2)
            equal(db:fetch_value("SELECT COUNT(*) FROM (SELECT ?1 WHERE ?32766 = 32766)", values), 1)
            equal(db:fetch_value("SELECT ?32766", table.unpack(values)), 32766)
            equal(db:fetch_value("SELECT ?250000 IS NULL", { n = 250000 }), 1)
            fails("sql", db.fetch_value, db, "SELECT ?250001", { n = 250001 })
            fails("sql", db.fetch_value, db, "SELECT ?0", values)
            fails("sql", db.fetch_value, db, "SELECT ?99999999999999999999", values)
            fails("argument", db.fetch_value, db, "SELECT 1", table.unpack(values))
            pcall(db.fetch_value, db, "SELECT 1", table.unpack({}, 1, 900000))
            """)
    }

    @Test func `parameter names may be long or contain any characters`() async throws {
        try await script(
            """
            equal(db:fetch_value("SELECT :é", { ["é"] = 1 }), 1)
            equal(db:fetch_value("SELECT $a::b(c)", { ["a::b(c)"] = 1 }), 1)
            local long = ("x"):rep(5000)
            equal(db:fetch_value("SELECT :" .. long, { [long] = 1 }), 1)
            fails("argument", db.fetch_value, db, "SELECT :" .. long, { [long .. "y"] = 1 })
            fails("argument", db.fetch_value, db, "SELECT :a", { ["a\\0b"] = 1 })
            fails("argument", db.fetch_value, db, "SELECT :a", { ["\\xFF"] = 1 })
            equal(db:fetch_value("SELECT :a", { a = 1, [2.5] = 1, [true] = 1 }), 1)
            """)
    }
}
