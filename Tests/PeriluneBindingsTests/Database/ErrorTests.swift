import GRDB
import Perilune
import PeriluneBindings
import PeriluneLuaFileTools
import PeriluneLua
import Testing

@Suite struct DatabaseErrorTests {
    @Test func `an SQLite error has a code, an extended code and the name of the extended code`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id REFERENCES a (id))")
            local err = fails("constraint_foreign_key", db.execute, db, "INSERT INTO b VALUES (1)")
            equal(err.code, 19)
            equal(err.extended_code, 787)
            equal(err.name, "SQLITE_CONSTRAINT_FOREIGNKEY")
            err = fails("sql", db.execute, db, "nonsense")
            equal({ err.code, err.extended_code, err.name }, { 1, 1, "SQLITE_ERROR" })
            """)
    }

    @Test func `an SQLite error has SQLite's message and the SQL`() async throws {
        try await script(
            """
            local err = fails("sql", db.fetch_all, db, "SELECT * FROM missing")
            equal(err.message, "no such table: missing")
            equal(err.sql, "SELECT * FROM missing")
            db:execute("CREATE TABLE t (a UNIQUE)")
            db:execute("INSERT INTO t VALUES (1)")
            err = fails("constraint_unique", db.execute, db, "INSERT INTO t VALUES (?)", 1)
            equal(err.message, "UNIQUE constraint failed: t.a")
            equal(err.sql, "INSERT INTO t VALUES (?)")
            local _, positioned = pcall(function()
              db:execute("INSERT INTO t VALUES (1)")
            end)
            equal(tostring(positioned), "test:10: UNIQUE constraint failed: t.a")
            """)
    }

    @Test func `errors show bound values only on request`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a UNIQUE)")
            db:execute("INSERT INTO t VALUES ('secret')")
            for _, run in ipairs{
              function() return fails("constraint_unique", db.execute, db, "INSERT INTO t VALUES (?)", "secret") end,
              function() return fails("constraint_unique", db.fetch_value, db, "INSERT INTO t VALUES (?) RETURNING a", "secret") end,
              function() return db:write(function(db)
                for i = 1, 20 do pcall(db.execute, db, "INSERT INTO t VALUES (?)", i) end
                return fails("constraint_unique", db.execute, db, "INSERT INTO t VALUES (?)", "secret")
              end) end,
            } do
              local err = run()
              if tostring(err):find("secret") or err.message:find("secret") or err.sql:find("secret") then error(tostring(err)) end
              matches(err:expanded(), "VALUES ('secret')")
            end
            """)
    }

    @Test func `a syntax error has the position in the SQL`() async throws {
        try await script(
            """
            local function position_of(sql) return fails("sql", db.fetch_all, db, sql).offset end
            equal(position_of("SELECT totl FROM (SELECT 1 AS total)"), 8)
            equal(position_of("SELECT * FRM t"), 10)
            equal(position_of("SELECT 'é', missing"), 14)
            """)
    }

    @Test func `a constraint error names its table and columns`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a NOT NULL, b CHECK (b > 0.5), c, UNIQUE (a, c))")
            db:execute("INSERT INTO t VALUES (1, 2, 3, 4)")
            local function failing(kind, values)
              local err = fails(kind, db.execute, db, "INSERT INTO t VALUES (" .. values .. ")")
              return { err.table, err.columns }
            end
            equal(failing("constraint_unique", "2, 2, 3, 4"), { "t", { "a", "c" } })
            equal(failing("constraint_not_null", "2, NULL, 3, 4"), { "t", { "a" } })
            equal(failing("constraint_primary_key", "1, 5, 6, 7"), { "t", { "id" } })
            equal(failing("constraint_check", "3, 5, 0, 7"), {})
            """)
    }

    @Test func `every SQLite error in reads and writes is raised`() async throws {
        try await script(
            """
            for _, verb in ipairs{ "execute", "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_set" } do
              fails("sql", db[verb], db, "SELECT abs(-9223372036854775807 - 1)")
            end
            for _, verb in ipairs{ "rows", "tuples" } do
              fails("sql", function() for _ in db[verb](db, "SELECT abs(-9223372036854775807 - 1)") do end end)
            end
            local seen = 0
            local sql = "SELECT abs(column1) FROM (VALUES (1), (2), (-9223372036854775807 - 1))"
            fails("sql", function() for _ in db:rows(sql) do seen = seen + 1 end end)
            equal(seen, 2)
            fails("sql", db.fetch_all, db, sql)
            equal(db:fetch_value("SELECT 1"), 1)
            """)
    }

    @Test func `an SQLite error has the file and line of the script, even in Swift`() async throws {
        let error = await failure(
            of: """
                local function find()
                  return db:fetch_one("SELECT * FROM missing")
                end
                find()
                """)
        #expect(error?.message == "no such table: missing")
        #expect(error?.file == "test")
        #expect(error?.line == 2)
        #expect(error?.fields["sql"] == "SELECT * FROM missing")
        #expect(error?.fields["kind"] == "sql")
        #expect(error?.fields["code"] == .integer(1))
        #expect(error?.traceback?.contains("find") == true)
        #expect((error?.underlying as? DatabaseError)?.resultCode == .SQLITE_ERROR)
    }

    @Test func `an SQLite error stays the same object through pcall, error and blocks`() async throws {
        let error = await failure(
            of: """
                db:execute("CREATE TABLE t (a UNIQUE)")
                db:execute("INSERT INTO t VALUES (1)")
                local ok, err = pcall(db.write, db, function(db) db:execute("INSERT INTO t VALUES (1)") end)
                db:in_savepoint(function() error(err) end)
                """)
        #expect(error?.kind == "constraint_unique")
        #expect(error?.line == 3)
        #expect((error?.underlying as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
    }

    @Test func `SQLite errors can be printed and concatenated, and are read-only`() async throws {
        try await script(
            """
            local err = fails("sql", db.execute, db, "nonsense")
            matches("failed: " .. err, "failed: test:1: near")
            fails(nil, function() err.message = "x" end)
            local fields = {}
            for k in pairs(err) do fields[#fields + 1] = k end
            table.sort(fields)
            equal(fields, { "code", "extended_code", "file", "kind", "line", "message", "name", "offset", "sql" })
            equal(getmetatable(err), false)
            """)
    }

    @Test func `errors shorten very long statements and omit their values`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a UNIQUE)")
            local text = ("x"):rep(1000000)
            db:execute("INSERT INTO t VALUES (?)", text)
            local err = fails("constraint_unique", db.execute, db, "INSERT INTO t VALUES (?)", text)
            equal(err:expanded(), "INSERT INTO t VALUES (?)")
            """)
    }

    @Test func `constraint errors for unusual table and column names keep their kind`() async throws {
        try await script(
            """
            db:execute('CREATE TABLE "a.b, c" ("d, e" UNIQUE, "" UNIQUE)')
            db:execute('INSERT INTO "a.b, c" VALUES (1, 2)')
            fails("constraint_unique", db.execute, db, 'INSERT INTO "a.b, c" VALUES (1, 3)')
            fails("constraint_unique", db.execute, db, 'INSERT INTO "a.b, c" VALUES (3, 2)')
            db:execute("CREATE TRIGGER r BEFORE INSERT ON \\"a.b, c\\" BEGIN SELECT RAISE(ABORT, 'constraint failed: . , '); END")
            fails("constraint_trigger", db.execute, db, 'INSERT INTO "a.b, c" VALUES (5, 6)')
            """)
    }

    /// A failing step of a backup leaves no message on the connection, so that GRDB reports "not an error".
    @Test func `an error whose message is "not an error" gets the message of its code`() {
        #expect(DatabaseError(resultCode: .SQLITE_FULL, message: "not an error").reason == "database or disk is full")
        #expect(DatabaseError(resultCode: .SQLITE_FULL).reason == "database or disk is full")
        #expect(DatabaseError(resultCode: .SQLITE_ERROR, message: "no such table: t").reason == "no such table: t")
    }
}
