import Testing

@Suite struct FetchTests {
    @Test func `fetch_all returns a list of rows`() async throws {
        try await script(
            """
            equal(db:fetch_all("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL"), { { a = 1, b = "x" }, { a = 2 } })
            equal(db:fetch_all("SELECT 1 WHERE 0"), {})
            """)
    }

    @Test func `fetch_one returns a row or nil`() async throws {
        try await script(
            """
            equal(db:fetch_one("SELECT 1 AS a UNION ALL SELECT 2"), { a = 1 })
            equal(db:fetch_one("SELECT 1 WHERE 0"), nil)
            equal(db:fetch_one("SELECT NULL AS a"), {})
            """)
    }

    @Test func `fetched rows do not change when the table changes`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            local rows = db:fetch_all("SELECT a FROM t")
            db:execute("UPDATE t SET a = a + 10")
            equal(rows, { { a = 1 }, { a = 2 } })
            db:execute("DROP TABLE t")
            equal(rows[2].a, 2)
            """)
    }

    @Test func `fetch_values returns a list of values`() async throws {
        try await script(
            """
            equal(db:fetch_values("SELECT 1 UNION ALL SELECT 2.5 UNION ALL SELECT 'x'"), { 1, 2.5, "x" })
            equal(db:fetch_values("SELECT 1 WHERE 0"), {})
            """)
    }

    @Test func `fetch_value returns the leftmost column of the first row`() async throws {
        try await script(
            """
            equal(db:fetch_value("SELECT 1, 2 UNION ALL SELECT 3, 4"), 1)
            equal(db:fetch_values("SELECT 1, 2 UNION ALL SELECT 3, 4"), { 1, 3 })
            """)
    }

    @Test func `fetched rows can contain NULLs`() async throws {
        try await script(
            """
            equal(db:fetch_optional_values("SELECT 1 UNION ALL SELECT NULL UNION ALL SELECT 3"), { 1, perilune.null, 3 })
            """)
    }

    @Test func `a NULL value in fetch_values raises an error with the row number`() async throws {
        try await script(
            """
            local err = fails("null", db.fetch_values, db, "SELECT 1 UNION ALL SELECT NULL UNION ALL SELECT 3")
            matches(err, "row 2")
            fails("null", db.fetch_set, db, "SELECT NULL")
            fails("null", db.fetch_values, db, "SELECT 1 UNION ALL SELECT NULL")
            equal(db:fetch_values("SELECT 1"), { 1 })
            db:execute("CREATE TABLE t (a)")
            fails("null", db.fetch_values, db, "INSERT INTO t VALUES (NULL) RETURNING a")
            """)
    }

    @Test func `fetch_one distinguishes a missing row from NULL`() async throws {
        try await script(
            """
            equal(db:fetch_value("SELECT 1 WHERE 0"), nil)
            equal(db:fetch_value("SELECT NULL"), nil)
            equal(db:fetch_one("SELECT 1 WHERE 0"), nil)
            equal(db:fetch_one("SELECT NULL")[1], nil)
            equal(db:fetch_optional_values("SELECT NULL"), { perilune.null })
            """)
    }

    @Test func `a count can be fetched as a value`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            equal(db:fetch_value("SELECT COUNT(*) FROM (SELECT a FROM t WHERE a > 1)"), 2)
            """)
    }

    @Test func `fetch_set returns a table whose keys are the values`() async throws {
        try await script(
            """
            equal(db:fetch_set("SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 'x'"), { [1] = true, x = true })
            """)
    }

    @Test func `columns declared BOOLEAN are read as booleans`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a BOOLEAN, b BOOL, c INTEGER)")
            db:execute("INSERT INTO t VALUES (?, ?, ?)", true, false, true)
            equal(db:fetch_one("SELECT * FROM t"), { a = true, b = false, c = 1 })
            equal(db:fetch_values("SELECT a FROM t"), { true })
            equal(db:fetch_value("SELECT b FROM t"), false)
            equal(db:fetch_set("SELECT b FROM t"), { [false] = true })
            for a, b in db:tuples("SELECT a, b FROM t") do equal({ a, b }, { true, false }) end
            db:execute("INSERT INTO t VALUES ('yes', 0.5, 2)")
            equal(db:fetch_all("SELECT * FROM t")[2], { a = "yes", b = 0.5, c = 2 })
            """)
    }

    @Test func `statements outside blocks see earlier writes`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            for i = 1, 5 do
              db:execute("INSERT INTO t VALUES (?)", i)
              equal(db:fetch_value("SELECT COUNT(*) FROM t"), i)
            end
            """)
    }

    @Test func `cached statements follow schema changes`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            local statement = db:prepare("SELECT * FROM t")
            equal(db:fetch_all("SELECT * FROM t"), { { a = 1 } })
            equal(statement:fetch_all(), { { a = 1 } })
            db:execute("ALTER TABLE t ADD COLUMN b BOOLEAN DEFAULT 1")
            equal(db:fetch_all("SELECT * FROM t"), { { a = 1, b = true } })
            equal(statement:fetch_one(), { a = 1, b = true })
            db:execute("ALTER TABLE t RENAME COLUMN a TO c")
            equal(db:fetch_all("SELECT * FROM t"), { { c = 1, b = true } })
            for row in statement:rows() do equal(row, { c = 1, b = true }) end
            for c, b in statement:tuples() do equal({ c, b }, { 1, true }) end
            db:execute("ALTER TABLE t DROP COLUMN b")
            equal(db:fetch_one("SELECT * FROM t"), { c = 1 })
            equal(#db:fetch_one("SELECT * FROM t"), 1)
            equal(statement:fetch_values(), { 1 })
            db:execute("DROP TABLE t")
            fails("sql", statement.fetch_all, statement)
            fails("sql", db.fetch_all, db, "SELECT * FROM t")
            db:execute("CREATE TABLE t (z BOOLEAN); INSERT INTO t VALUES (0)")
            equal(statement:fetch_all(), { { z = false } })
            """)
    }

    @Test func `many columns and many rows can be fetched`() async throws {
        try await script(
            """
            local names = {}
            for i = 1, 2000 do names[i] = i .. " AS c" .. i end
            local row = db:fetch_one("SELECT " .. table.concat(names, ", "))
            equal(row.c1, 1)
            equal(row.c2000, 2000)
            equal(#row, 2000)
            for _, form in ipairs{ "rows", "fetch_all" } do
              equal(select("#", db:fetch_one("SELECT " .. table.concat(names, ", ")):unpack()), 2000)
            end
            for a, b in db:tuples("SELECT " .. table.concat(names, ", ")) do equal(b, 2) end
            local rows = db:fetch_all("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i FROM n")
            equal(#rows, 50000)
            equal(rows[50000].i, 50000)
            """)
    }

    @Test func `explain shows a query plan`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            matches(db:explain("SELECT * FROM t WHERE rowid = ?", 1), "SEARCH t")
            equal(db:fetch_all("EXPLAIN QUERY PLAN DELETE FROM t WHERE a = 1")[1].detail, "SCAN t")
            if #db:fetch_all("EXPLAIN DELETE FROM t") < 2 then error("no program") end
            db:read(function(db) db:fetch_all("EXPLAIN DELETE FROM t") end)
            """)
    }
}
