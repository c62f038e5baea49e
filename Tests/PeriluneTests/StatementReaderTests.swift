import Foundation
import GRDB
import Perilune
import PeriluneTestTools
import Synchronization
import Testing

/// Statements outside blocks, which hosts run on separate connections of a pool.
@Suite(.patience) struct StatementReaderTests {
    private static let count = "return db:fetch_value('SELECT COUNT(*) FROM author')"

    /// Runs a test with a pool that has the given number of readers, and with hosts that share the pool.
    private func withHosts(
        _ count: Int, readers: Int = 5, _ configuration: Configuration = Configuration(),
        _ body: nonisolated(nonsending) (DatabasePool, [ScriptHost]) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.maximumReaderCount = readers
        configuration.busyMode = .timeout(30)
        try await withTemporaryFolder { folder in
            let pool = try DatabasePool(path: "\(folder)/x.sqlite", configuration: configuration)
            try await pool.write { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)") }
            var hosts: [ScriptHost] = []
            for _ in 0..<count { hosts.append(try await ScriptHost(database: .existing(pool))) }
            try await body(pool, hosts)
        }
    }

    @Test func `a statement outside blocks sees everything that was committed before`() async throws {
        try await withHosts(2) { pool, hosts in
            let counts: [Int] = try await hosts[0].run(
                source: """
                    local counts = {}
                    for i = 1, 20 do
                      db:execute("INSERT INTO author (name) VALUES (?)", i)
                      counts[i] = db:fetch_value("SELECT COUNT(*) FROM author")
                    end
                    return counts
                    """)
            #expect(counts == Array(1...20))
            #expect(try await hosts[1].run(source: Self.count) as Int == 20)
            try await pool.write { db in try db.execute(sql: "DELETE FROM author WHERE id > 5") }
            #expect(try await hosts[0].run(source: Self.count) as Int == 5)
            #expect(try await hosts[1].run(source: Self.count) as Int == 5)
            try await pool.erase()
            let error = await #expect(throws: LuaError.self) { try await hosts[1].run(source: Self.count) }
            #expect(error?.message.contains("no such table: author") == true)
        }
    }

    @Test func `statements outside blocks need no reader of the pool`() async throws {
        try await withHosts(3, readers: 1) { pool, hosts in
            for host in hosts { try await host.run(source: Self.count) }
            // Swift occupies the only reader.
            let free = DispatchSemaphore(value: 0)
            await withCheckedContinuation { taken in
                pool.asyncUnsafeRead { _ in
                    taken.resume()
                    free.wait()
                }
            }
            defer { free.signal() }
            for host in hosts {
                let count: Int = try await host.run(source: Self.count)
                #expect(count == 0)
            }
        }
    }

    @Test func `more hosts than the pool has readers can read`() async throws {
        try await withHosts(6, readers: 2) { pool, hosts in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for host in hosts {
                    group.addTask {
                        try await host.run(
                            source: """
                                for i = 1, 40 do
                                  db:execute("INSERT INTO author (name) VALUES ('x')")
                                  local count = db:fetch_value("SELECT COUNT(*) FROM author")
                                  db:write(function(db) assert(db:fetch_value("SELECT COUNT(*) FROM author") >= count) end)
                                  db:read(function(db) assert(db:fetch_value("SELECT COUNT(*) FROM author") >= count) end)
                                end
                                return db:fetch_value("SELECT COUNT(*) FROM author")
                                """)
                    }
                }
                let greatest = try await group.reduce(0) { max($0, $1) }
                #expect(greatest == 240)
            }
            #expect(try await pool.value("SELECT COUNT(*) FROM author") == 240)
        }
    }

    @Test func `a closed pool also refuses statements outside blocks`() async throws {
        try await withHosts(1) { pool, hosts in
            try await hosts[0].run(source: "for i = 1, 3 do db:fetch_value('SELECT 1') end")
            try pool.close()
            // GRDB closes its connections on a separate thread.
            #expect(await eventually { (try? await hosts[0].run(source: Self.count) as Int) == nil })
            let error = await #expect(throws: LuaError.self) { try await hosts[0].run(source: Self.count) }
            #expect(error?.message.contains("closed") == true)
        }
    }

    @Test func `statement connections are closed with the readers of the pool and with the host`() async throws {
        let connections = Connections()
        var configuration = Configuration()
        configuration.prepareDatabase { db in if db.configuration.readonly { connections.begin(on: db) } }
        try await withHosts(1, configuration) { pool, hosts in
            try await hosts[0].run(source: "for i = 1, 3 do \(Self.count.dropFirst("return ".count)) end")
            #expect(connections.open == 2)
            pool.invalidateReadOnlyConnections()
            #expect(await eventually { connections.open == 1 })
            // The next connection has the functions that Swift has prepared and that the script has added.
            let sum: Int = try await hosts[0].run(
                source: """
                    db:add_function("twice", function(x) return 2 * x end)
                    return db:fetch_value("SELECT host_answer() + twice(4)")
                    """)
            #expect(sum == 50)
            #expect(await eventually { connections.open == 2 })
        }
        #expect(await eventually { connections.open == 0 })
    }

    @Test func `a finished statement does not prevent the WAL from being truncated`() async throws {
        try await withHosts(1) { pool, hosts in
            try await pool.write { db in try db.execute(sql: "INSERT INTO author (name) VALUES ('a'), ('b')") }
            try await hosts[0].run(
                source: """
                    assert(db:fetch_one("SELECT * FROM author").name == "a")
                    local ok = pcall(db.fetch_value, db, "SELECT json_extract(name, '$') FROM author")
                    assert(not ok)
                    """)
            let busy = try await pool.writeWithoutTransaction { db in
                try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            #expect(busy == 0)
        }
    }

    @Test func `a script that closes its pool leaves only the database file on disk`() async throws {
        try await withTemporaryFolder { folder in
            var configuration = ScriptHost.Configuration(database: .inMemory())
            configuration.allowsFiles = true
            let host = try await ScriptHost(configuration)
            try await host.run(
                source: """
                    local pool = perilune.pool(...)
                    pool:execute("CREATE TABLE a (b); INSERT INTO a VALUES (1)")
                    for i = 1, 3 do assert(pool:fetch_value("SELECT b FROM a") == 1) end
                    pool:close()
                    """, arguments: "\(folder)/own.sqlite")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["own.sqlite"])
        }
    }

    @Test func `a trace reports each statement once`() async throws {
        let statements = Mutex<[String]>([])
        var configuration = Configuration()
        SQLTrace { event in statements.withLock { $0.append(event.sql) } }.install(in: &configuration)
        try await withHosts(1, configuration) { _, hosts in
            try await hosts[0].run(source: "for i = 1, 3 do db:fetch_one('SELECT ' .. i) end")
        }
        #expect(
            statements.withLock { all in all.filter { $0.hasPrefix("SELECT ") && $0.count == 8 } } == [
                "SELECT 1", "SELECT 2", "SELECT 3",
            ])
    }
}

/// Counts the open connections of a pool by an SQL function that each connection owns.
private final class Connections: Sendable {
    private let count = Mutex(0)
    var open: Int { count.withLock { $0 } }

    private final class Token: Sendable {
        let connections: Connections

        init(_ connections: Connections) {
            self.connections = connections
            connections.count.withLock { $0 += 1 }
        }

        deinit { connections.count.withLock { $0 -= 1 } }
    }

    func begin(on db: Database) {
        let token = Token(self)
        db.add(function: DatabaseFunction("host_answer", argumentCount: 0) { _ in withExtendedLifetime(token) { 42 } })
    }
}
