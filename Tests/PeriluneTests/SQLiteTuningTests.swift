import Foundation
import GRDB
import Perilune
import Testing

/// Process-wide settings, tested in separate processes.
@Suite struct SQLiteTuningTests {
    @Test func `SQLite settings apply before its first use and are refused afterwards`() async {
        await #expect(processExitsWith: .success) {
            precondition(SQLiteTuning.disableMemoryStatistics())
            precondition(SQLiteTuning.useAdaptiveMutexes())
            let path = FileManager.default.temporaryDirectory.appending(path: "perilune-tuning-\(UUID().uuidString).sqlite").path
            defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            let database = try DatabasePool(path: path, configuration: configuration)
            try await database.write { db in try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY)") }
            precondition(!SQLiteTuning.disableMemoryStatistics() && !SQLiteTuning.useAdaptiveMutexes())
            let pool = try await ScriptPool(size: 3, database: .existing(database)) { host in
                try await host.run(
                    source: """
                        function work()
                          local last = 0
                          for i = 1, 50 do
                            db:execute("INSERT INTO item DEFAULT VALUES")
                            local count = db:fetch_value("SELECT COUNT(*) FROM item")
                            assert(count > last)
                            last = count
                          end
                          return last
                        end
                        """)
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 { group.addTask { try await pool.call("work") } }
                var greatest = 0
                for try await count in group { greatest = max(greatest, count) }
                precondition(greatest == 300)
            }
        }
    }
}
