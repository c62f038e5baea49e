import Testing
import PeriluneLuaFileTools

@Suite struct ValueTests {
    @Test func `booleans are stored as 0 and 1`() async throws {
        try await script(
            """
            equal(db:fetch_value("SELECT ?", true), 1)
            equal(db:fetch_value("SELECT ?", false), 0)
            equal(db:fetch_value("SELECT typeof(?)", true), "integer")
            """)
    }

    @Test func `integers keep all 64 bits in the database`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            for _, n in ipairs{ 0, 1, -1, 2^31 | 0, -(2^31) | 0, 2^53 | 0, (2^53 | 0) + 1, math.maxinteger, math.mininteger } do
              equal(db:fetch_value("SELECT ?", n), n)
              db:execute("DELETE FROM t")
              db:execute("INSERT INTO t VALUES (?)", n)
              equal(db:fetch_value("SELECT a FROM t"), n)
              equal(db:fetch_all("SELECT a FROM t"), { { a = n } })
              for a in db:tuples("SELECT a FROM t") do equal(a, n) end
              equal(db:fetch_value("INSERT INTO t VALUES (?) RETURNING a", n), n)
            end
            equal(db:fetch_value("SELECT 9223372036854775807 + 1"), 2^63)
            """)
    }

    @Test func `floats keep all their digits in the database`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            for _, x in ipairs{ 0.1, 1/3, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 123456789.12345678, 1.0, -0.5, 1/0, -1/0 } do
              equal(db:fetch_value("SELECT ?", x), x)
              db:execute("INSERT INTO t VALUES (?)", x)
              equal(db:fetch_value("SELECT a FROM t WHERE rowid = last_insert_rowid()"), x)
            end
            equal(math.type(db:fetch_value("SELECT ?", 2.0)), "float")
            equal(db:fetch_value("SELECT 9e999"), 1/0)
            """)
    }

    @Test func `NaN is refused as an argument and becomes NULL in a result`() async throws {
        try await script(
            """
            matches(fails("argument", db.fetch_value, db, "SELECT ?", 0/0), "NaN")
            equal(db:fetch_value("SELECT 9e999 - 9e999"), nil)
            """)
    }

    @Test func `text keeps its bytes in the database`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a TEXT)")
            for _, s in ipairs{ "é", "", "a\\0b", "\\0", "\\xFF\\xFE", "\\xED\\xA0\\x80", "\\u{10FFFF}", "https://example.org/?q=é#x", ("x"):rep(100000) .. "\\0" } do
              equal(db:fetch_value("SELECT ?", s), s)
              db:execute("DELETE FROM t")
              db:execute("INSERT INTO t VALUES (?)", s)
              equal(db:fetch_value("SELECT a FROM t"), s)
              equal(db:fetch_one("SELECT a FROM t").a, s)
              equal(db:fetch_values("SELECT a FROM t"), { s })
              for a in db:tuples("SELECT a FROM t") do equal(a, s) end
              equal(db:fetch_value("SELECT typeof(a) FROM t"), "text")
              equal(db:fetch_value("SELECT length(CAST(a AS BLOB)) FROM t"), #s)
              equal(db:fetch_value("UPDATE t SET a = a RETURNING a"), s)
            end
            """)
    }

    @Test func `blobs keep their type and bytes in the database`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            for _, s in ipairs{ "\\0\\1", "", "\\xFF", "text", ("\\0"):rep(100000) } do
              equal(db:fetch_value("SELECT ?", perilune.blob(s)), s)
              equal(db:fetch_value("SELECT typeof(?)", perilune.blob(s)), "blob")
              db:execute("DELETE FROM t")
              db:execute("INSERT INTO t VALUES (?)", perilune.blob(s))
              equal(db:fetch_one("SELECT a, typeof(a) AS type FROM t"), { a = s, type = "blob" })
            end
            equal(#perilune.blob("abc"), 3)
            equal(tostring(perilune.blob("a\\0b")), "a\\0b")
            equal(perilune.blob("a") == perilune.blob("a"), true)
            equal(perilune.blob("a") == perilune.blob("b"), false)
            fails("argument", perilune.blob, 1)
            fails("argument", perilune.blob)
            fails("argument", perilune.blob, {})
            """)
    }

    @Test func `values round-trip through a file and through UTF-16 databases`() async throws {
        try await script(
            """
            for _, encoding in ipairs{ "UTF-8", "UTF-16le", "UTF-16be" } do
              local path = temporary_path("encoding.sqlite")
              local q = perilune.queue(path)
              q:execute("PRAGMA encoding = '" .. encoding .. "'")
              q:execute("CREATE TABLE t (a)")
              for _, value in ipairs{ "é", "a\\0b", "\\u{1F600}", math.maxinteger, 0.1, "" } do
                q:execute("DELETE FROM t")
                q:execute("INSERT INTO t VALUES (?)", value)
                equal(q:fetch_value("SELECT a FROM t"), value)
              end
              equal(q:fetch_value("PRAGMA encoding"), encoding)
              q:close()
              os.remove(path)
            end
            """)
    }

    @Test func `perilune.null equals itself and can be printed`() async throws {
        try await script(
            """
            equal(perilune.null == perilune.null, true)
            equal(tostring(perilune.null), "null")
            equal(db:fetch_value("SELECT ? IS NULL", perilune.null), 1)
            fails(nil, function() return perilune.null.x end)
            fails(nil, function() perilune.null.x = 1 end)
            """)
    }

    @Test func `values that exceed SQLite's size limit are errors`() async throws {
        try await script(
            """
            local huge = ("x"):rep(1 << 20):rep(1 << 10)
            fails("argument", db.fetch_value, db, "SELECT length(?)", huge)
            fails("argument", db.fetch_value, db, "SELECT length(?)", perilune.blob(huge))
            huge = huge:sub(1, 1000000001)
            fails("argument", db.fetch_value, db, "SELECT length(?)", huge)
            fails("argument", db.fetch_value, db, "SELECT length(?)", perilune.blob(huge))
            huge = nil collectgarbage()
            local large = ("x"):rep(1000000):rep(100)
            equal(db:fetch_value("SELECT length(?)", large), 100000000)
            large = nil collectgarbage()
            fails("toobig", db.fetch_value, db, "SELECT zeroblob(2000000000)")
            fails("toobig", db.fetch_value, db, "SELECT hex(zeroblob(600000000))")
            """)
    }
}
