import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneTestTools
import Synchronization
import Testing

@Suite struct DefaultDatabaseTests {
    @Test func `in live, preparing opens and migrates the file that hosts use`() async throws {
        try await withTemporaryFolder { folder in
            try await DependencyContainer.inProcess(.live) {
                try await DependencyContainer.prepare { $0.defaultDatabase = .pool("\(folder)/shop.sqlite", migrations: library) }
                #expect(FileManager.default.fileExists(atPath: "\(folder)/shop.sqlite"))
                let host = try await ScriptHost()
                try await host.run(source: "db:execute('INSERT INTO author (name) VALUES (?)', 'Melville')")
                let other = try await ScriptHost()
                try await other.run(source: "assert(db:fetch_value('SELECT name FROM author') == 'Melville')")
                try await other.run(source: "assert(not pcall(db.close, db))")
            }
        }
    }

    @Test func `a failed preparation creates no database file and keeps an existing one`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/new.sqlite"
            func prepare(_ migrations: Migrations) async {
                await #expect(throws: (any Error).self) {
                    try await DependencyContainer.inProcess(.live) {
                        try await DependencyContainer.prepare { $0.defaultDatabase = .pool(path, migrations: migrations) }
                    }
                }
            }
            await prepare(.folder("\(folder)/nowhere"))
            #expect(try contents(of: folder).isEmpty)
            await prepare(.inTransaction { db in try db.execute(sql: "CREATE TABL t (a)") })
            #expect(try contents(of: folder).isEmpty)
            try DatabaseQueue(path: path).close()
            await prepare(.inTransaction { db in try db.execute(sql: "CREATE TABL t (a)") })
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `the database file is closed when the last host is released`() async throws {
        try await withTemporaryFolder { folder in
            try await DependencyContainer.inProcess(.live) {
                try await DependencyContainer.prepare { $0.defaultDatabase = .pool("\(folder)/b.sqlite", migrations: library) }
                var host: ScriptHost? = try await ScriptHost()
                try await host?.run(source: "db:fetch_all('SELECT * FROM author')")
                try await DependencyContainer.close()
                try await host?.run(source: "db:fetch_all('SELECT * FROM author')")
                host = nil
                #expect(await eventually { !Self.isOpen(folder) })
            }
        }
    }

    /// Returns whether this process has an open file in a folder.
    private static func isOpen(_ folder: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.contains { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.hasPrefix(folder) == true
        }
    }

    @Test func `a host without a prepared database is an error with the missing code`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let error = await #expect(throws: DependencyError.self) { _ = try await ScriptHost() }
            #expect(error?.code == .notPrepared)
            #expect(error?.message.contains("DependencyContainer.prepare { $0.defaultDatabase = .pool(\"app.sqlite\") }") == true)
        }
    }

    @Test func `in a test, an unprepared default database is empty, in memory, and reported`() async throws {
        try await withKnownIssue {
            let host = try await ScriptHost()
            try await host.run(source: "assert(db:path():find('memory') or db:path() == '')")
        } matching: {
            "\($0)".contains(".defaultDatabase()")
        }
    }

    @Test func `if the file cannot be opened, the default database stays unprepared`() async throws {
        try await DependencyContainer.inProcess(.live) {
            await #expect(throws: DatabaseError.self) {
                try await DependencyContainer.prepare { $0.defaultDatabase = .queue("/nowhere/at/all.sqlite") }
            }
            try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory(migrations: library) }
            #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM author", as: Int.self) == 0)
        }
    }

    @Test func `if migrations fail, the default database stays unprepared`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let failing = Migrations.inTransaction { db in try db.execute(sql: "CREATE nonsense") }
            await #expect(throws: DatabaseError.self) {
                try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory(migrations: failing) }
            }
            let error = await #expect(throws: DependencyError.self) { try await DependencyContainer.defaultDatabase }
            #expect(error?.code == .notPrepared)
        }
    }

    @Test func `tests and previews do not change the live file or its folder`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/live.sqlite"
            for isWAL in [false, true] {
                let live: any DatabaseWriter = isWAL ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
                try await live.write { db in
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS author (id INTEGER PRIMARY KEY, name TEXT)")
                    try db.execute(sql: "INSERT INTO author (name) VALUES ('Melville')")
                }
                try live.close()
                let before = try contents(of: folder)
                for context in [DependencyContainer.Context.test, .preview] {
                    for source in [DatabaseSource.pool(path), .queue(path), .pool(path, usesFilesInTests: true)] {
                        try await DependencyContainer.inProcess(context) {
                            try await DependencyContainer.prepare { $0.defaultDatabase = source }
                            let host = try await ScriptHost()
                            try await host.run(
                                source: """
                                    db:execute("CREATE TABLE extra (a)")
                                    db:execute("DROP TABLE IF EXISTS author")
                                    db:execute("VACUUM")
                                    assert(perilune.context == ...)
                                    """, commandLine: [context.rawValue])
                        }
                    }
                }
                #expect(try contents(of: folder) == before)
            }
        }
    }

    @Test func `in a preview, neither trusted scripts nor migrations can open the live file by name`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/live.sqlite"
            let live = try DatabaseQueue(path: path)
            try await live.write { db in
                try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY); INSERT INTO author VALUES (1)")
            }
            try live.close()
            let before = try Data(contentsOf: URL(filePath: path))
            var configuration = ScriptHost.Configuration()
            configuration.libraries = .trusted
            configuration.allowsFiles = true
            try await DependencyContainer.inProcess(.preview) { [configuration] in
                try await DependencyContainer.prepare { $0.defaultDatabase = .queue(path) }
                try await ScriptHost(configuration).run(
                    source: """
                        local path = ...
                        for name, attempt in pairs{
                          attach = function() db:execute("ATTACH '" .. path .. "' AS live") end,
                          open = function() perilune.queue(path) end,
                          write = function() io.open(path, "w") end,
                          remove = function() os.remove(path) end,
                        } do
                          local ok, failure = pcall(attempt)
                          assert(not ok and failure.kind == "preview", name .. ": " .. tostring(failure))
                        end
                        """, arguments: path)
            }
            try "ATTACH '\(path)' AS live; DELETE FROM live.author;".write(
                toFile: "\(folder)/0001_bad.sql", atomically: true, encoding: .utf8)
            try await DependencyContainer.inProcess(.preview) {
                _ = await #expect(throws: LuaError.self) {
                    try await DependencyContainer.prepare { $0.defaultDatabase = .queue(path, migrations: .folder(folder)) }
                }
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
    }

    @Test func `a preview starts with the live data, even while the live database is in use`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/live.sqlite"
            let live = try DatabasePool(path: path)
            try await live.write { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)") }
            try await live.write { db in try db.execute(sql: "INSERT INTO author (name) VALUES ('Melville')") }
            try await DependencyContainer.inProcess(.preview) {
                try await DependencyContainer.prepare { $0.defaultDatabase = .pool(path) }
                let host = try await ScriptHost()
                try await host.run(
                    source: """
                        assert(db:fetch_value("SELECT name FROM author") == "Melville")
                        db:execute("UPDATE author SET name = 'Verne'")
                        """)
                #expect(
                    try await DependencyContainer.defaultDatabase.value("SELECT name FROM author", as: String.self) == "Verne")
            }
            #expect(try await live.value("SELECT name FROM author", as: String.self) == "Melville")
            try live.close()
            try await DependencyContainer.inProcess(.preview) {
                try await DependencyContainer.prepare { $0.defaultDatabase = .queue(path) }
                #expect(
                    try await DependencyContainer.defaultDatabase.value("SELECT name FROM author", as: String.self) == "Melville")
            }
        }
    }

    @Test func `a preview of a missing file starts empty and does not create it`() async throws {
        try await withTemporaryFolder { folder in
            try await DependencyContainer.inProcess(.preview) {
                try await DependencyContainer.prepare { $0.defaultDatabase = .pool("\(folder)/none.sqlite", migrations: library) }
                #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM author", as: Int.self) == 0)
            }
            #expect(try contents(of: folder).isEmpty)
        }
    }

    @Test func `migrations run once for all concurrent tests, and each test gets its own copy`() async throws {
        let runs = Mutex(0)
        let migrations = Migrations.inTransaction { db in
            runs.withLock { $0 += 1 }
            try db.execute(sql: "CREATE TABLE t (a DEFAULT (datetime('now'))); INSERT INTO t DEFAULT VALUES")
        }
        let counts = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await DependencyContainer.withTestScope {
                        try await DependencyContainer.prepare {
                            $0.date = .constant(Date(timeIntervalSince1970: Double(number) * 1e7))
                            $0.defaultDatabase = .pool("never.sqlite", migrations: migrations)
                        }
                        let host = try await ScriptHost()
                        try await host.run(source: "for i = 1, 10 do db:execute('INSERT INTO t VALUES (?)', tostring(i)) end")
                        return try await DependencyContainer.defaultDatabase.value(
                            "SELECT COUNT(*) || ' ' || MAX(a) FROM t", as: String.self)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: "11 9", count: 50))
        #expect(runs.withLock { $0 } == 1)
    }

    /// New migrations may be allocated at the addresses of released ones.
    @Test func `each test gets the result of its own migrations, even in sequence`() async throws {
        for number in 0..<50 {
            let tables = try await DependencyContainer.withTestScope {
                try await DependencyContainer.prepare {
                    $0.defaultDatabase = .inMemory(
                        migrations: .inTransaction { db in try db.execute(sql: "CREATE TABLE t\(number) (a)") })
                }
                return try await DependencyContainer.defaultDatabase.value(
                    "SELECT group_concat(name) FROM sqlite_schema", as: String.self)
            }
            #expect(tables == "t\(number)")
        }
    }

    @Test func `a test's database is closed after its last use, and no file stays open`() async throws {
        let name = "leftover-\(UUID().uuidString)"
        weak var database: DatabasePool?
        var path = ""
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare { $0.defaultDatabase = .pool(name, usesFilesInTests: true) }
            let host = try await ScriptHost()
            try await host.run(source: "db:execute('CREATE TABLE t (a)')")
            database = try await DependencyContainer.defaultDatabase as? DatabasePool
            path = try #require(database).path
            #expect(path.contains("perilune-"))
        }
        // The host's thread releases its state asynchronously.
        #expect(await eventually { database == nil })
    }

    @Test func `an existing database is used unchanged and not closed`() async throws {
        let queue = try DatabaseQueue()
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.defaultDatabase = .existing(queue) }
            #expect(try await DependencyContainer.defaultDatabase === queue)
            try await DependencyContainer.close()
        }
        #expect(try await queue.value("SELECT 1", as: Int.self) == 1)
    }

    @Test func `a host can have a database other than the default`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let queue = try DatabaseQueue()
            for database in [DatabaseSource.inMemory(), .existing(queue)] {
                let host = try await ScriptHost(database: database)
                try await host.run(source: "db:execute('CREATE TABLE own (a)')")
            }
            #expect(try await queue.read { try $0.tableExists("own") })
        }
    }
}
