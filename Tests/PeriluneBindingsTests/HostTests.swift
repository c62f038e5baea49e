import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

@Suite struct HostTests {
    @Test(.patience)
    func `scripts run on separate threads and do not block Swift concurrency`() async throws {
        // The number of hosts exceeds the number of threads in the Swift concurrency pool on any test machine.
        let hosts = try (0..<64).map { _ in try testHost { $0.limits.isCancellable = true } }
        let begun = Tally()
        for host in hosts { try await host.register(module: "test") { $0.function("begin") { () in begun.add() } } }
        let runs = hosts.map { host in Task { try await host.run(source: "require('test').begin() while true do end") } }
        await begun.wait(for: hosts.count)
        for host in hosts { host.cancel() }
        for run in runs {
            let error = await #expect(throws: LuaError.self) { try await run.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `a script has a large stack`() async throws {
        try await script(
            """
            -- Each level is a protected call in C.
            local function deep(n) return n == 0 and 0 or 1 + select(2, pcall(deep, n - 1)) end
            equal(deep(150), 150)
            """)
    }

    @Test func `fts3_tokenizer, which exchanges pointers, is refused`() async throws {
        try await script(
            """
            fails("sql", db.fetch_value, db, "SELECT fts3_tokenizer('simple')")
            fails("sql", db.fetch_value, db, "SELECT fts3_tokenizer('simple', x'4141414141414141')")
            fails("sql", db.fetch_value, db, "SELECT fts3_tokenizer(?, ?)", "simple", perilune.blob(("A"):rep(8)))
            db:execute("CREATE VIRTUAL TABLE document USING fts5(body)")
            db:execute("INSERT INTO document VALUES ('a small test')")
            equal(db:fetch_value("SELECT COUNT(*) FROM document('small')"), 1)
            """)
    }

    @Test func `a script without file access may set only harmless PRAGMAs`() async throws {
        try await script(
            """
            for _, pragma in ipairs{ "journal_mode = MEMORY", "synchronous = OFF", "locking_mode = EXCLUSIVE",
              "main.schema_version = 7", "database_list", "cache_size = 1000000000", "ignore_check_constraints = 1" } do
              fails(nil, db.execute, db, "PRAGMA " .. pragma)
            end
            matches(fails("forbidden", db.fetch_value, db, 'SELECT file FROM "Pragma_Database_List"'), "the host does not grant access to files")
            fails("forbidden", db.execute, db, "CREATE VIEW v AS SELECT file FROM pragma_database_list")
            equal({ db:table_exists "pragma", db:table_exists "sqlite_master" }, { false, false })
            db:execute("PRAGMA user_version = 3")
            equal(db:fetch_value("PRAGMA user_version"), 3)
            """, { $0.allowsFiles = false })
    }

    @Test func `the to-be-closed variables of a failing script are closed`() async throws {
        let host = try testHost()
        await #expect(throws: LuaError.self) {
            try await host.run(
                source: """
                    local x <close> = setmetatable({}, { __close = function() db:execute("CREATE TABLE closed (a)") end })
                    error("failed")
                    """)
        }
        try await host.run(source: "assert(db:table_exists('closed'))")
    }

    @Test func `the main script is not a coroutine`() async throws {
        try await script(
            """
            local _, message = pcall(coroutine.yield)
            equal(message, "attempt to yield from outside a coroutine")
            equal(coroutine.isyieldable(), false)
            equal(select(2, coroutine.running()), true)
            equal(coroutine.wrap(function() return coroutine.isyieldable() end)(), true)
            """)
    }

    @Test func `a time limit that expires in the last call is reported`() async throws {
        let error = await failure(of: "os.execute('sleep 0.2')", { $0.limits.time = .milliseconds(50) })
        #expect(error?.code == .timeout)
    }
}
