import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestTools
import Testing

/// Occupies all connections of a database until they are released. Code that waited for them without a limit would hang.
private final class Occupation: Sendable {
    private let tally = Tally()
    private let release = DispatchSemaphore(value: 0)
    private let count: Int

    /// Occupies the writer connection and all reader connections.
    init(of writer: any DatabaseWriter) async {
        let readerCount = writer is DatabasePool ? writer.configuration.maximumReaderCount : 0
        count = 1 + readerCount
        Thread.detachNewThread { [self] in writer.writeWithoutTransaction { _ in hold() } }
        for _ in 0..<readerCount { Thread.detachNewThread { [self] in try? writer.read { _ in hold() } } }
        await tally.wait(for: count)
    }

    private func hold() {
        tally.add()
        release.wait()
    }

    func end() { for _ in 0..<count { release.signal() } }
}

/// A script that waits for an occupied connection can be ended by its limit or by cancellation.
@Suite(.patience) struct ConnectionWaitTests {
    private static let accesses = [
        ("a statement", "db:execute('INSERT INTO author (name) VALUES (1)')"),
        ("a query", "db:read(function() return db:fetch_value('SELECT 1') end)"),
        ("a write", "db:write(function() end)"),
        ("a transaction", "db:in_transaction(function() end)"),
        ("a savepoint", "db:in_savepoint(function() end)"),
        ("a block without transaction", "db:write_without_transaction(function() end)"),
        ("an observation", "db:observe(function() return db:fetch_value('SELECT count(*) FROM author') end, function() end)"),
        ("migrations", "local m = perilune.migrator() m:register('a', function() end) m:migrate(db)"),
        ("a look at the schema", "perilune.record('author'):filter{ nmae = 1 }:fetch_all()"),
        ("a copy", "db:serialize()"), ("a checkpoint", "db:checkpoint()"),
        ("an error that is caught", "while true do pcall(db.execute, db, 'DELETE FROM author') end"),
    ]

    private static func database(isPool: Bool, _ folder: String) throws -> any DatabaseWriter {
        let path = "\(folder)/library.sqlite"
        let database: any DatabaseWriter = try isPool ? DatabasePool(path: path) : DatabaseQueue(path: path)
        try database.write { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)") }
        return database
    }

    @Test(arguments: accesses.indices, [true, false])
    func `waiting for a database connection ends at the time limit`(_ index: Int, isPool: Bool) async throws {
        try await withTemporaryFolder { folder in
            let database = try Self.database(isPool: isPool, folder)
            var configuration = ScriptHost.Configuration(database: .existing(database))
            configuration.limits = LuaLimits(time: .seconds(1))
            let host = try await ScriptHost(configuration)
            let occupation = await Occupation(of: database)
            let error = await #expect(throws: LuaError.self) { try await host.run(source: Self.accesses[index].1) }
            #expect(error?.code == .timeout, "\(Self.accesses[index].0): \(error.map { "\($0)" } ?? "no error")")
            occupation.end()
            // The host stays usable.
            let count: Int = try await host.run(source: "return db:fetch_value('SELECT count(*) FROM author')")
            #expect(count == 0)
        }
    }

    @Test(arguments: accesses.indices, [true, false])
    func `waiting for a database connection ends when the run is cancelled`(_ index: Int, isPool: Bool) async throws {
        try await withTemporaryFolder { folder in
            let database = try Self.database(isPool: isPool, folder)
            var configuration = ScriptHost.Configuration(database: .existing(database))
            configuration.limits = LuaLimits(isCancellable: true)
            let host = try await ScriptHost(configuration)
            let reached = Tally()
            try await host.register(module: "m") { $0.function("reach") { reached.add() } }
            let occupation = await Occupation(of: database)
            let run = Task { try await host.run(source: "require('m').reach() " + Self.accesses[index].1) }
            await reached.wait()
            run.cancel()
            await #expect(throws: (any Error).self, "\(Self.accesses[index].0)") { try await run.value }
            occupation.end()
            let count: Int = try await host.run(source: "return db:fetch_value('SELECT count(*) FROM author')")
            #expect(count == 0)
        }
    }

    @Test func `a script that loops in a write delays another script no longer than that script's limit`() async throws {
        try await withTemporaryFolder { folder in
            let database = try Self.database(isPool: true, folder)
            var configuration = ScriptHost.Configuration(database: .existing(database))
            configuration.limits = LuaLimits(isCancellable: true)
            let first = try await ScriptHost(configuration)
            let reached = Tally()
            try await first.register(module: "m") { $0.function("reach") { reached.add() } }
            let loop = Task { try await first.run(source: "db:write(function() require('m').reach() while true do end end)") }
            await reached.wait()
            configuration.limits = LuaLimits(time: .seconds(1))
            let second = try await ScriptHost(configuration)
            let error = await #expect(throws: LuaError.self) { try await second.run(source: "db:execute('DELETE FROM author')") }
            #expect(error?.code == .timeout)
            loop.cancel()
            await #expect(throws: (any Error).self) { try await loop.value }
        }
    }

    @Test func `waiting for a lock of another connection in the process ends at the time limit`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/library.sqlite"
            let database = try Self.database(isPool: true, folder)
            var grdb = Configuration()
            grdb.busyMode = .timeout(600)
            let own = try DatabasePool(path: path, configuration: grdb)
            var configuration = ScriptHost.Configuration(database: .existing(own))
            configuration.limits = LuaLimits(time: .seconds(1))
            let host = try await ScriptHost(configuration)
            let held = Tally()
            let release = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? database.write { _ in
                    held.add()
                    release.wait()
                }
            }
            await held.wait()
            let error = await #expect(throws: LuaError.self) { try await host.run(source: "db:execute('DELETE FROM author')") }
            #expect(error?.code == .timeout)
            release.signal()
        }
    }

    @Test func `concurrent writes from scripts and Swift take turns`() async throws {
        try await withTemporaryFolder { folder in
            let database = try Self.database(isPool: true, folder)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    var configuration = ScriptHost.Configuration(database: .existing(database))
                    configuration.limits = LuaLimits(isCancellable: true)
                    let host = try await ScriptHost(configuration)
                    group.addTask {
                        try await host.run(
                            source:
                                "for i = 1, 300 do db:write(function() db:execute('INSERT INTO author (name) VALUES (1)') end) end"
                        )
                    }
                    group.addTask {
                        for _ in 0..<300 {
                            try await database.write { db in try db.execute(sql: "INSERT INTO author (name) VALUES (2)") }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await database.value("SELECT count(*) FROM author", as: Int.self) == 1800)
        }
    }
}
