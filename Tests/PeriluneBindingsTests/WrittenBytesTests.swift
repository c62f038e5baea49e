import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestTools
import Testing

/// The limit on the bytes that a run writes to files.
@Suite(.patience) struct WrittenBytesTests {
    /// Creates a host over a database in a file, whose runs may write eight megabytes.
    private func withHost(
        journal: String = "wal", _ body: nonisolated(nonsending) (ScriptHost, DatabaseQueue) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "perilune-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let queue = try DatabaseQueue(path: folder.path + "/disk.sqlite")
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = \(journal)")
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
        }
        var configuration = ScriptHost.Configuration(database: .existing(queue))
        configuration.limits = LuaLimits(diskInBytes: 8 << 20)
        try await body(try await ScriptHost(configuration), queue)
    }

    private static let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT i FROM n"

    @Test(
        arguments: ["wal", "delete", "truncate", "persist", "memory"],
        [
            "db:execute('INSERT INTO t SELECT zeroblob(10000) FROM (' .. rows .. ')')",
            "while true do db:execute('INSERT INTO t VALUES (zeroblob(100000))') end",
            "pcall(db.write, db, function(db) while true do pcall(db.execute, db, 'INSERT INTO t VALUES (zeroblob(100000))') end end)",
            "while true do db:execute('UPDATE t SET a = randomblob(100000)') end",
            "db:fetch_value('SELECT sum(length(h)) FROM (SELECT hex(randomblob(500)) AS h FROM (' .. rows .. ') ORDER BY h)')",
            "db:execute('CREATE TEMP TABLE u AS SELECT hex(randomblob(500)) AS h FROM (' .. rows .. ')')",
        ])
    func `a run that exceeds its limit of written bytes is ended, and its uncommitted changes are rolled back`(
        _ journal: String, _ source: String
    ) async throws {
        try await withHost(journal: journal) { host, queue in
            let error = await #expect(throws: LuaError.self) {
                try await host.run(source: "local rows = ...\n" + source, arguments: Self.rows)
            }
            #expect(error?.code == .disk, "\(String(describing: error))")
            #expect(error?.message == "the script wrote more to files than its limit of 8 MB")
            let (isWhole, size) = try await queue.writeWithoutTransaction { db in
                let isWhole = try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok"
                return (
                    isWhole && !db.isInsideTransaction,
                    try Int.fetchOne(db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
                )
            }
            #expect(isWhole)
            #expect((size ?? .max) < 9 << 20)
            // The limit applies to each run separately.
            #expect(
                try await host.run(
                    source: "db:execute('INSERT INTO t VALUES (1)') return db:fetch_value('SELECT a FROM t WHERE a = 1')") == 1)
        }
    }

    @Test func `bytes that a run's tasks write count toward the run's limit`() async throws {
        try await withHost { host, queue in
            try await host.run(
                source: """
                    for _ = 1, 20 do perilune.spawn(function() for i = 1, 20 do db:execute('INSERT INTO t VALUES (zeroblob(100000))') end end) end
                    """)
            try? await host.waitUntilIdle()
            #expect(try await queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } ?? .max < 85)
        }
    }

    @Test func `each run's written bytes are counted separately, and reads do not count`() async throws {
        try await withHost { host, queue in
            for _ in 0..<10 {
                try await host.run(source: "for i = 1, 20 do db:execute('INSERT INTO t VALUES (zeroblob(100000))') end")
            }
            let sum: Int = try await host.run(
                source: "local n = 0 for i = 1, 20 do n = n + db:fetch_value('SELECT sum(length(a)) FROM t') end return n")
            #expect(sum == 20 * 201 * 100_000)
            // Writes by Swift are not limited.
            try await queue.write { db in try db.execute(sql: "INSERT INTO t SELECT zeroblob(100000) FROM t") }
        }
    }
}
