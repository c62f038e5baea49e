import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Testing

/// Cancels tasks at every point at which they can wait. Their work must be undone, and other tasks must not be affected.
@Suite(.patience)
struct CancellationTests {
    /// Writes two rows or none. Waits, computes and runs slow SQL in between.
    private static let pairs = """
        function pair()
          db:write(function(db)
            db:execute("INSERT INTO author (name) VALUES ('a')")
            for i = 1, 20000 do end
            db:fetch_value("WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c LIMIT 20000) SELECT MAX(n) FROM c")
            db:execute("INSERT INTO author (name) VALUES ('b')")
          end)
        end
        function waiting()
          pair()
          require("m").wait()
          pair()
        end
        """

    private static func prepare(_ host: ScriptHost) async throws {
        try await host.register(module: "m") { m in
            m.function("wait") { () async throws in for _ in 0..<50 { await Task.yield() } }
        }
        try await host.run(source: pairs)
    }

    /// Migrations that no test has run yet.
    private static func newLibrary() -> Migrations {
        .inTransaction { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)") }
    }

    private static func configuration(_ place: ScriptPlace = .here) -> ScriptHost.Configuration {
        var configuration = place.configuration()
        configuration.limits = LuaLimits(isCancellable: true)
        return configuration
    }

    /// Runs an operation in a task that is cancelled after some yields. Returns whether it was cancelled, and throws any other
    /// error.
    private func cancelling(after turns: Int, _ operation: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        let task = Task { try await operation() }
        for _ in 0..<turns { await Task.yield() }
        task.cancel()
        do {
            try await task.value
            return false
        } catch let error as LuaError where error.code == .cancelled {
            return true
        } catch is CancellationError {
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT || error.resultCode == .SQLITE_ABORT {
            return true
        }
    }

    /// Expects that no change is half done and that no transaction is open.
    private func expectWhole(_ database: any DatabaseWriter) async throws {
        #expect(try await database.value("SELECT COUNT(*) % 2 FROM author", as: Int.self) == 0)
        #expect(try await database.writeWithoutTransaction { db in !db.isInsideTransaction })
    }

    @Test(.defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), arguments: ScriptPlace.allCases)
    func `a script is rolled back if it is cancelled while it runs, calls a function or waits for its turn`(_ place: ScriptPlace)
        async throws
    {
        let host = try await ScriptHost(Self.configuration(place))
        try await Self.prepare(host)
        let database = try await DependencyContainer.defaultDatabase
        var cancelled = 0
        for turns in 0..<40 {
            if try await cancelling(
                after: turns * 9,
                {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<3 { group.addTask { try await host.call("waiting") } }
                        try await group.waitForAll()
                    }
                })
            {
                cancelled += 1
            }
            try await expectWhole(database)
        }
        #expect(cancelled > 0)
        try await host.call("waiting")
    }

    @Test(.defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), arguments: ScriptPlace.allCases)
    func `cancelled calls of a pool roll back, even while the pool creates a host`(_ place: ScriptPlace) async throws {
        let database = try await DependencyContainer.defaultDatabase
        var cancelled = 0
        for turns in 0..<40 {
            let pool = try await ScriptPool(size: 2, configuration: Self.configuration(place)) { host in
                try await Self.prepare(host)
            }
            if try await cancelling(
                after: turns * 10,
                {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<4 { group.addTask { try await pool.call("waiting") } }
                        try await group.waitForAll()
                    }
                })
            {
                cancelled += 1
            }
            try await pool.call("pair")
            try await expectWhole(database)
        }
        #expect(cancelled > 0)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `a task that is cancelled while it creates a host and its database creates both or neither`(_ place: ScriptPlace)
        async throws
    {
        for turns in 0..<40 {
            try await DependencyContainer.withTestScope {
                try await DependencyContainer.prepare {
                    $0.defaultDatabase = .pool("x.sqlite", migrations: Self.newLibrary(), usesFilesInTests: true)
                }
                _ = try await cancelling(after: turns) {
                    let host = try await ScriptHost(Self.configuration(place))
                    try await Self.prepare(host)
                    try await host.call("pair")
                }
                try await expectWhole(DependencyContainer.defaultDatabase)
            }
        }
    }

    @Test func `a cancelled preview leaves nothing behind`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/shop.sqlite"
            let live = try DatabaseQueue(path: path)
            try await live.write { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)") }
            try live.close()
            let before = try contents(of: folder)
            for turns in 0..<40 {
                _ = try await cancelling(after: turns * 4) {
                    let preview = try await ScriptPreview(
                        of: .queue(path, inEveryContext: true), configuration: Self.configuration())
                    try await Self.prepare(preview.host)
                    try await preview.host.call("waiting")
                    _ = try await preview.finish()
                }
                #expect(try contents(of: folder) == before)
            }
        }
    }

    @Test(.defaultDatabase(migrations: library)) func `cancelling a request from Swift leaves the host usable`() async throws {
        let host = try await ScriptHost(Self.configuration())
        try await host.run(source: "Author = perilune.record('author') for i = 1, 10 do Author{ name = 'x' .. i }:insert() end")
        for turns in 0..<40 {
            _ = try await cancelling(after: turns) {
                struct Author: Codable, Sendable { var name: String }
                _ = try await host.records("Author").fetchAll(as: Author.self)
                try await host.record("Author", key: 1).call("update")
            }
        }
        #expect(try await host.records("Author").fetchCount() == 10)
    }
}
