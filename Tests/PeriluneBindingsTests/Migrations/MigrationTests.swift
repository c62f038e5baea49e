import Foundation
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

/// Migrations in hosts with limits, without file access, and in cancelled hosts. `Lua/migrator.lua` tests the migrator itself.
@Suite(.serialized, .patience) struct MigrationTests {
    private static let endlessRows =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"

    /// Migrations that never end.
    private static let endless = [
        "m:register('b', function(db) db:execute('CREATE TABLE b (x)') while true do end end)",
        "m:register('b', function(db) db:execute('CREATE TABLE b (x)') while true do pcall(function() while true do end end) end end)",
        "m:register('b', [[CREATE TABLE b (x); \(endlessRows)]])",
        "m:register('b', function(db) db:execute('CREATE TABLE b (x)') pcall(db.fetch_value, db, [[\(endlessRows)]]) end)",
        // A collation makes the check of foreign keys endless.
        """
        db:add_collation('c', function(a, b) while slow do end return a < b and -1 or a > b and 1 or 0 end)
        m:register('b', function(db)
          db:execute("CREATE TABLE p (id TEXT COLLATE c PRIMARY KEY); CREATE TABLE q (p REFERENCES p)")
          db:execute("INSERT INTO p VALUES ('a'), ('b'); INSERT INTO q VALUES ('b')")
          slow = true
        end)
        """,
    ]

    private static let settings = """
        m = perilune.migrator()
        m:register('a', 'CREATE TABLE a (x)')
        """

    @Test(arguments: endless) func `a migration that exceeds its time limit is rolled back`(source: String) async throws {
        let host = try testHost { $0.limits = LuaLimits(time: .seconds(2)) }
        try await host.runChecked(Self.settings)
        let error = await #expect(throws: LuaError.self) {
            try await host.runChecked("\(source) while true do pcall(m.migrate, m, db) end")
        }
        #expect(error?.code == .timeout)
        try await host.runChecked(Self.checks)
    }

    @Test func `cancelling a host rolls back its migration`() async throws {
        let host = try testHost { $0.limits = LuaLimits(isCancellable: true) }
        try await host.runChecked(Self.settings)
        let begun = await host.registerBegin()
        let endless = Self.endless[0].replacing("while true", with: "begin() while true")
        let run = Task { try await host.runChecked("\(endless) m:migrate(db)") }
        await begun.wait()
        host.cancel()
        let error = await #expect(throws: LuaError.self) { try await run.value }
        #expect(error?.code == .cancelled)
        try await host.runChecked(Self.checks)
    }

    @Test func `a migration that uses too much memory is rolled back`() async throws {
        let host = try testHost { $0.limits = LuaLimits(memoryInBytes: 20 << 20) }
        try await host.runChecked(Self.settings)
        let error = await #expect(throws: LuaError.self) {
            try await host.runChecked(
                """
                m:register('b', function(db)
                  db:execute('CREATE TABLE b (x)')
                  local list = {}
                  for i = 1, 1e9 do list[i] = "text " .. i end
                end)
                m:migrate(db)
                """)
        }
        #expect(error?.code == .memory)
        try await host.runChecked(Self.checks)
    }

    private static let checks = """
        slow = false
        equal(m:applied(db), { "a" })
        equal(db:table_exists("b"), false)
        equal(db:is_inside_transaction(), false)
        equal(db:fetch_value("PRAGMA foreign_keys"), 1)
        fails("unknown_migration", m.migrate, m, db, "nothing at all")
        local n = perilune.migrator()
        n:register("c", "CREATE TABLE c (x)")
        equal(n:migrate(db), { "c" })
        """

    @Test func `a script without file access cannot read a migration folder`() async throws {
        try await script(
            """
            fails("sandbox", perilune.migrator, { folder = "/tmp" })
            local m = perilune.migrator()
            m:register("a", "CREATE TABLE a (x)")
            m:register("b", function(db) db:execute("ATTACH 'x.sqlite' AS x") end)
            fails("forbidden", m.migrate, m, db)
            equal(m:applied(), { "a" })
            """
        ) { $0.allowsFiles = false }
    }

    @Test func `a read-only default database is not migrated`() async throws {
        let path = temporaryPath("readonly.sqlite")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await script("db:execute('CREATE TABLE a (x)')") { $0.database = .queue(path, inEveryContext: true) }
        try await script(
            """
            local m = perilune.migrator():register("a", "SELECT 1")
            fails("readonly", m.migrate, m)
            equal(m:pending(), { "a" })
            """
        ) {
            $0.database = .queue(path, readonly: true, inEveryContext: true)
        }
    }

    @Test func `Swift receives a migration's error with its fields`() async throws {
        let error = await failure(
            of: """
                local m = perilune.migrator()
                m:register("a", function(db)
                  db:execute("CREATE TABL a (x)")
                end)
                m:migrate()
                """)
        #expect(error?.kind == "sql")
        #expect(error?.line == 3)
        #expect(error?.fields["migration"] == .string("a"))
        let plain = await failure(
            of: """
                local m = perilune.migrator()
                m:register("a", function(db)
                  error("no")
                end)
                m:migrate()
                """)
        #expect(plain?.message == "no")
        #expect(plain?.line == 3)
        #expect(plain?.traceback?.contains("test:3:") == true)
    }

    @Test func `hosts that migrate one file concurrently run each migration once`() async throws {
        let path = temporaryPath("together.sqlite")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let source = """
            local file = perilune.queue("\(path)", { busy_timeout = 600 })
            local m, ran = perilune.migrator(), 0
            for i = 1, 40 do
              m:register("v" .. i, function(db)
                ran = ran + 1
                db:execute("CREATE TABLE t" .. i .. " (x)")
              end)
            end
            equal(#m:migrate(file), ran)
            equal(m:has_completed(file), true)
            """
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...4 { group.addTask { try await script(source) } }
            try await group.waitForAll()
        }
        #expect(await closesFiles(at: path))
    }
}
