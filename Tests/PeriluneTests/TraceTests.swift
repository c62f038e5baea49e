import Foundation
import Perilune
import PeriluneDependencies
import PeriluneTestTools
import Testing

@Suite struct TraceTests {
    /// Returns the trace events of a script.
    private func told(
        _ events: SQLTrace.Events, showsValues: Bool = false, of script: String
    ) async throws -> [SQLTrace.Event] {
        let recorder = Recorder()
        let trace = SQLTrace(events, showsValues: showsValues) { recorder.add($0) }
        // SQLite measures time with the clock of the database, which is frozen in tests.
        let host = try await DependencyContainer.with {
            $0.date = .system
            $0.random = .system
        } operation: {
            try await ScriptHost(database: .inMemory(trace: trace))
        }
        try await host.run(source: script)
        return recorder.events
    }

    @Test func `a trace reports statements when they start, without values and times`() async throws {
        let events = try await told(
            .statements,
            of: """
                db:execute("CREATE TABLE t (a)")
                db:execute("INSERT INTO t VALUES (?)", "secret")
                for row in db:rows("SELECT * FROM t") do end
                """)
        #expect(events.map(\.sql) == ["CREATE TABLE t (a)", "INSERT INTO t VALUES (?)", "SELECT * FROM t"])
        #expect(events.allSatisfy { $0.duration == nil })
    }

    @Test func `a trace reports bound values on request`() async throws {
        let events = try await told(.statements, showsValues: true, of: "db:fetch_value('SELECT ?, ?', \"it's\", 3)")
        #expect(events.map(\.sql) == ["SELECT 'it''s', 3"])
    }

    @Test(arguments: [false, true]) func `a trace omits the library's statements inside others`(showsValues: Bool) async throws {
        let events = try await told(
            .statements, showsValues: showsValues,
            of: """
                db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN d DEFAULT 7")
                db:observe_transactions{ on_change = function(event) assert(event.old.d == 7) end }
                db:execute("DELETE FROM t WHERE id = 1")
                """)
        #expect(events.map(\.sql).contains { $0.hasPrefix("DELETE FROM t") })
        #expect(!events.contains { $0.sql.contains("perilune */") })
    }

    @Test func `a trace reports profiles with durations when statements end`() async throws {
        let events = try await told(
            .profile,
            of: """
                db:fetch_value("WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c LIMIT 99999) SELECT MAX(n) FROM c")
                """)
        let event = try #require(events.first)
        #expect(events.count == 1)
        #expect(try #require(event.duration) > .microseconds(100))
    }

    @Test func `profile durations are more precise than SQLite's milliseconds`() async throws {
        let events = try await told(
            .profile,
            of: """
                db:execute("CREATE TABLE t (a); CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET a = a + 1; END")
                for i = 1, 200 do db:execute("INSERT INTO t VALUES (1)") end
                local cursor = db:rows("SELECT a FROM t")
                for row in db:rows("SELECT a FROM t") do cursor() end
                """)
        let durations = events.compactMap(\.duration)
        #expect(durations.count == events.count && durations.allSatisfy { $0 > .zero && $0 < .seconds(60) })
        #expect(durations.contains { Int64($0 / .nanoseconds(1)) % 1_000_000 != 0 })
    }

    @Test func `a trace alternates between statements and profiles`() async throws {
        let events = try await told([.statements, .profile], of: "db:fetch_value('SELECT 1')")
        #expect(events.map { $0.duration == nil } == [true, false])
    }

    @Test func `a traced default database writes to the container's log`() async throws {
        let records = LogRecords()
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare {
                $0.logger = records.logger
                $0.defaultDatabase = .inMemory(trace: .log())
            }
            let host = try await ScriptHost()
            try await host.run(source: "db:fetch_value('SELECT ?', 'secret')")
        }
        #expect(records.lines == ["debug SELECT ?"])
    }

    @Test func `a trace reports slow statements with their query plans, without the EXPLAIN statements`() async throws {
        let records = LogRecords()
        var recursive: [String] { records.lines.filter { $0.contains("RECURSIVE") } }
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare {
                $0.logger = records.logger
                $0.date = .system
                $0.defaultDatabase = .inMemory(trace: .log([], slow: .milliseconds(1)))
            }
            let host = try await ScriptHost()
            try await host.run(
                source: """
                    db:execute("CREATE TABLE t (a)")
                    db:fetch_value([[WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c LIMIT ?)
                      SELECT COUNT(*) FROM c, t]], 99999)
                    """)
            #expect(await eventually { !recursive.isEmpty })
        }
        let line = try #require(recursive.first)
        #expect(recursive.count == 1)
        #expect(!records.lines.contains { $0.contains("EXPLAIN") })
        #expect(line.hasPrefix("warning slow: WITH RECURSIVE"))
        #expect(line.contains("LIMIT ?"))
        #expect(line.contains("SCAN t"), "\(line)")
        #expect(line.contains("milliseconds="))
    }

    @Test func `queryPlan(of:) returns the plan of a statement`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        try await host.run(source: "db:execute('CREATE TABLE t (id INTEGER PRIMARY KEY, a)')")
        #expect(
            await host.queryPlan(of: "SELECT * FROM t WHERE id = ?") == ["SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"]
        )
        #expect(await host.queryPlan(of: "SELECT a FROM t UNION SELECT 1")?.contains("  LEFT-MOST SUBQUERY") == true)
        #expect(await host.queryPlan(of: "SELECT nothing") == nil)
        #expect(await host.queryPlan(of: "") == nil)
    }

    private final class Recorder: Sendable {
        private let lock = NSLock()
        /// The recorded events, guarded by the lock.
        private nonisolated(unsafe) var kept: [SQLTrace.Event] = []

        func add(_ event: SQLTrace.Event) { lock.withLock { kept.append(event) } }
        var events: [SQLTrace.Event] { lock.withLock { kept } }
    }
}
