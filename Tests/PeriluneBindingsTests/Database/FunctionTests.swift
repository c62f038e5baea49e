import Testing

@Suite struct FunctionTests {
    @Test func `a Lua function can be called in SQL`() async throws {
        try await script(
            """
            db:add_function("slugify", 1, function(text) return text:lower():gsub("%W+", "-") end)
            equal(db:fetch_value("SELECT slugify('Moby Dick!')"), "moby-dick-")
            """)
    }

    @Test func `arguments and results of an SQL function keep their types and values`() async throws {
        try await script(
            """
            db:add_function("same", 1, function(value) return value end)
            local values = { 1, -9223372036854775807 - 1, 0.1, 1/0, "a\\0b", "\\xff", "" }
            for _, value in ipairs(values) do equal(db:fetch_value("SELECT same(?)", value), value) end
            equal(db:fetch_value("SELECT same(NULL) IS NULL"), 1)
            equal(db:fetch_value("SELECT same(?)", true), 1)
            db:add_function("yes", 0, function() return true end)
            equal(db:fetch_value("SELECT typeof(yes()) || yes()"), "integer1")
            db:add_function("bytes", 0, function() return perilune.blob("\\0\\1") end)
            equal(db:fetch_value("SELECT typeof(bytes()) || length(bytes())"), "blob2")
            db:add_function("absent", 0, function() return perilune.null end)
            equal(db:fetch_value("SELECT absent() IS NULL"), 1)
            db:add_function("day", 0, function() return perilune.date("2026-03-01") end)
            equal(db:fetch_value("SELECT day()"), "2026-03-01 00:00:00.000")
            """)
    }

    @Test func `functions that differ in their number of arguments coexist and can be replaced`() async throws {
        try await script(
            """
            db:add_function("f", 1, function() return "one" end)
            db:add_function("f", 2, function() return "two" end)
            db:add_function("g", function(...) return select("#", ...) end)
            equal(db:fetch_value("SELECT f(1) || f(1, 2)"), "onetwo")
            equal(db:fetch_value("SELECT g(NULL, NULL, NULL)"), 3)
            db:add_function("f", 1, function() return "uno" end)
            equal(db:fetch_value("SELECT f(1)"), "uno")
            db:remove_function("f", 2)
            fails("sql", db.fetch_value, db, "SELECT f(1, 2)")
            """)
    }

    @Test func `built-in SQLite functions can be replaced but not removed`() async throws {
        try await script(
            """
            db:add_function("upper", 1, function(text) return "mine: " .. text end)
            equal(db:fetch_value("SELECT upper('a')"), "mine: a")
            matches(fails("argument", db.remove_function, db, "UPPER", 1), "built into SQLite")
            equal(db:fetch_value("SELECT upper('a')"), "mine: a")
            fails("argument", db.remove_function, db, "lower")
            fails("argument", db.remove_function, db, "max", 3)
            db:add_function("lower", 2, function(a, b) return a .. b end)
            db:remove_function("lower", 2)
            equal(db:fetch_value("SELECT lower('A') || max(1, 2, 3)"), "a3")
            """)
    }

    @Test func `a statement raises a function's error unchanged`() async throws {
        try await script(
            """
            local mine = { reason = "mine" }
            db:add_function("bad", 0, function() error(mine) end)
            local ok, err = pcall(db.fetch_value, db, "SELECT bad()")
            equal(err, mine)
            equal(rawequal(err, mine), true)
            db:execute("CREATE TABLE t (a)")
            local ok, err = pcall(db.execute, db, "INSERT INTO t VALUES (1), (bad())")
            equal(rawequal(err, mine), true)
            equal(db:fetch_value("SELECT COUNT(*) FROM t"), 0)
            db:add_function("unlucky", 0, function() error("no luck") end)
            local ok, err = pcall(db.fetch_all, db, "SELECT unlucky()")
            matches(err, "no luck")
            equal(db:fetch_value("SELECT 1"), 1)
            """)
    }

    @Test func `an SQL function in Lua cannot use the database`() async throws {
        try await script(
            """
            db:add_function("count", 0, function() return db:fetch_value("SELECT 1") end)
            fails("nested_access", db.fetch_value, db, "SELECT count()")
            db:write(function(db)
              db:add_function("nested", 0, function() return db:fetch_value("SELECT 1") end)
              fails("nested_access", db.fetch_value, db, "SELECT nested()")
            end)
            equal(db:fetch_value("SELECT 1"), 1)
            """)
    }

    @Test func `a function's result that SQLite cannot store is an error`() async throws {
        try await script(
            """
            db:add_function("bad", 0, function() return {} end)
            matches(fails("conversion", db.fetch_value, db, "SELECT bad()"), "a table")
            db:add_function("nan", 0, function() return 0/0 end)
            matches(fails("conversion", db.fetch_value, db, "SELECT nan()"), "NaN, which SQLite would take for NULL")
            """)
    }

    @Test func `an SQL function in Lua works in coroutines, read blocks and write blocks`() async throws {
        try await script(
            """
            db:add_function("twice", 1, function(x) return 2 * x end)
            local co = coroutine.wrap(function() coroutine.yield(db:fetch_value("SELECT twice(1)")) return db:fetch_value("SELECT twice(2)") end)
            equal(co(), 2)
            equal(co(), 4)
            equal(db:read(function(db) return db:fetch_value("SELECT twice(3)") end), 6)
            equal(db:write(function(db) return db:fetch_value("SELECT twice(4)") end), 8)
            """)
    }

    @Test func `a function is available on every connection of a pool`() async throws {
        try await script(
            """
            local pool = perilune.pool(temporary_path("pool.sqlite"))
            pool:add_function("twice", 1, function(x) return 2 * x end)
            equal(pool:read(function(db) return db:fetch_value("SELECT twice(3)") end), 6)
            equal(pool:write(function(db) return db:fetch_value("SELECT twice(4)") end), 8)
            equal(pool:fetch_value("SELECT twice(5)"), 10)
            pool:close()
            """)
    }

    @Test func `a deterministic function can be used in an index`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            db:add_function("plain", 1, function(x) return x end)
            fails("sql", db.execute, db, "CREATE INDEX i ON t (plain(a))")
            db:add_function("pure", { arguments = 1, deterministic = true }, function(x) return x end)
            db:execute("CREATE INDEX i ON t (pure(a))")
            """)
    }

    @Test func `an aggregate in Lua steps through the rows of a group`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (kind TEXT, n INTEGER)")
            db:execute("INSERT INTO t VALUES ('a', 2), ('a', 3), ('b', 5), ('b', 7)")
            db:add_aggregate("product", 1, { initial = 1, step = function(state, n) return state * n end })
            equal(db:fetch_values("SELECT product(n) FROM t GROUP BY kind ORDER BY kind"), { 6, 35 })
            equal(db:fetch_value("SELECT product(n) FROM t WHERE 0"), 1)
            db:add_aggregate("list", 1, {
              initial = function() return {} end,
              step = function(list, n) list[#list + 1] = n end,
              final = function(list) return table.concat(list, "+") end,
            })
            equal(db:fetch_values("SELECT list(n) FROM t GROUP BY kind ORDER BY kind"), { "2+3", "5+7" })
            """)
    }

    @Test func `an aggregate with an inverse can be used as a window function`() async throws {
        try await script(
            """
            db:add_aggregate("total_of", 1, {
              initial = 0,
              step = function(state, n) return state + n end,
              inverse = function(state, n) return state - n end,
            })
            equal(db:fetch_values([[
              WITH t (n) AS (VALUES (1), (2), (3), (4))
              SELECT total_of(n) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t]]), { 1, 3, 5, 7 })
            """)
    }

    @Test func `an aggregate that fails ends the statement and can be used again`() async throws {
        try await script(
            """
            local fail = true
            db:add_aggregate("picky", 1, {
              initial = 0,
              step = function(state, n) if fail then error({ n = n }) end return state + n end,
            })
            local ok, err = pcall(db.fetch_value, db, "SELECT picky(x) FROM (SELECT 1 AS x UNION ALL SELECT 2)")
            equal(err, { n = 1 })
            fail = false
            equal(db:fetch_value("SELECT picky(x) FROM (SELECT 1 AS x UNION ALL SELECT 2)"), 3)
            """)
    }

    @Test func `a collation sorts by a Lua function`() async throws {
        try await script(
            """
            db:add_collation("by_length", function(a, b) return #a - #b end)
            db:execute("CREATE TABLE t (s TEXT)")
            db:execute("INSERT INTO t VALUES ('ccc'), ('a'), ('bb')")
            equal(db:fetch_values("SELECT s FROM t ORDER BY s COLLATE by_length"), { "a", "bb", "ccc" })
            db:add_collation("bad", function() error({ bad = true }) end)
            local ok, err = pcall(db.fetch_values, db, "SELECT s FROM t ORDER BY s COLLATE bad")
            equal(err, { bad = true })
            db:add_collation("worse", function() return "x" end)
            fails("conversion", db.fetch_values, db, "SELECT s FROM t ORDER BY s COLLATE worse")
            db:remove_collation("by_length")
            fails("sql", db.fetch_values, db, "SELECT s FROM t ORDER BY s COLLATE by_length")
            """)
    }

    @Test(arguments: ["BINARY", "nocase", "RTrim"]) func `SQLite's own collations cannot be removed`(_ name: String) async throws
    {
        try await script(
            """
            matches(fails("argument", db.remove_collation, db, "\(name)"), "\(name) is built into SQLite and cannot be removed")
            equal(db:fetch_value("SELECT 'a' = 'a' COLLATE \(name)"), 1)
            """)
    }

    @Test func `a function cannot be replaced while a statement is running`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            db:execute("INSERT INTO t VALUES (1), (2)")
            db:add_function("f", 1, function(x) return x end)
            db:write(function(db)
              for row in db:rows("SELECT f(a) AS a FROM t") do
                fails("busy", db.add_function, db, "f", 1, function(x) return -x end)
                fails("busy", db.remove_function, db, "f", 1)
              end
            end)
            equal(db:fetch_value("SELECT f(1)"), 1)
            """)
    }

    @Test func `invalid function names and argument counts are refused`() async throws {
        try await script(
            """
            local f = function() end
            fails("argument", db.add_function, db, "f", 128, f)
            fails("argument", db.add_function, db, "f", -2, f)
            fails("argument", db.add_function, db, "f", 1.5, f)
            fails("argument", db.add_function, db, ("x"):rep(256), 1, f)
            fails("argument", db.add_function, db, "", 1, f)
            fails("argument", db.add_function, db, "a\\0b", 1, f)
            fails("argument", db.add_function, db, "f", 1)
            fails("argument", db.add_function, db, nil, 1, f)
            fails("unknown_option", db.add_function, db, "f", { determinstic = true }, f)
            fails("argument", db.add_aggregate, db, "f", 1, {})
            fails("argument", db.add_aggregate, db, "f", 1, f)
            fails("argument", db.add_collation, db, "c")
            """)
    }
}
