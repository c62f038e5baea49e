import Foundation
import GRDB
import Perilune
import PeriluneBindings
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Synchronization
import Testing

/// Transaction observers in several scripts and in Swift.
@Suite(.patience) struct TransactionObserverTests {
    private func makeState(over writer: any DatabaseWriter) throws -> LuaState {
        let state = try LuaState(libraries: .trusted)
        try ScriptSetup(database: writer, allowsFiles: true).install(in: state)
        return state
    }

    private static let observing = """
        log = {}
        local function noting(name) return function(event) log[#log + 1] = type(event) == "table" and event.operation or name end end
        observer = db:observe_transactions{ on_change = noting("change"), will_commit = noting("will commit"),
          did_commit = noting("commit"), did_rollback = noting("rollback") }
        """

    private func log(of state: LuaState) throws -> String {
        guard case .string(let text) = try state.run("local text = table.concat(log, ', ') log = {} return text")[0] else {
            return ""
        }
        return text.description
    }

    @Test func `observers in Lua and in Swift are notified of the same transactions`() throws {
        final class Counter: TransactionObserver, Sendable {
            let counts = Mutex((changes: 0, commits: 0, rollbacks: 0))
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) { counts.withLock { $0.changes += 1 } }
            func databaseDidCommit(_ db: Database) { counts.withLock { $0.commits += 1 } }
            func databaseDidRollback(_ db: Database) { counts.withLock { $0.rollbacks += 1 } }
        }
        let queue = try DatabaseQueue()
        let counter = Counter()
        let state = try makeState(over: queue)
        try state.run("db:execute('CREATE TABLE t (a)')")
        queue.add(transactionObserver: counter, extent: .databaseLifetime)
        try state.run(Self.observing)
        try state.run("db:write(function(db) db:execute('INSERT INTO t VALUES (1), (2)') db:execute('DELETE FROM t') end)")
        #expect(try log(of: state) == "insert, insert, delete, delete, will commit, commit")
        counter.counts.withLock { #expect($0 == (4, 1, 0)) }
        try state.run("pcall(db.write, db, function(db) db:execute('INSERT INTO t VALUES (1)') error('no') end)")
        #expect(try log(of: state) == "insert, rollback")
        counter.counts.withLock { #expect($0 == (5, 1, 1)) }
    }

    @Test func `a transaction that a Lua observer refuses throws a Lua error in Swift`() throws {
        let queue = try DatabaseQueue()
        let state = try makeState(over: queue)
        try state.run(
            "db:execute('CREATE TABLE t (a)') db:observe_transactions{ will_commit = function() error({ reason = 'closed' }) end }"
        )
        let error = #expect(throws: LuaError.self) { try state.run("db:execute('INSERT INTO t VALUES (1)')") }
        #expect(error?.code == .runtime)
        try state.run("local _, err = pcall(db.execute, db, 'INSERT INTO t VALUES (1)') assert(err.reason == 'closed')")
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") } == 0)
    }

    @Test func `releasing a script ends its observers but not the observers of other scripts`() throws {
        let queue = try DatabaseQueue()
        let states = try (0..<3).map { _ in try makeState(over: queue) }
        try states[0].run("db:execute('CREATE TABLE t (a)')")
        for state in states { try state.run(Self.observing) }
        states[1].close()
        try states[0].run("db:execute('INSERT INTO t VALUES (1)')")
        #expect(try log(of: states[0]) == "insert, will commit, commit")
        states[0].close()
        try states[2].run("log = {} db:execute('INSERT INTO t VALUES (1)')")
        #expect(try log(of: states[2]) == "insert, will commit, commit")
        try states[2].run("observer:cancel() db:execute('INSERT INTO t VALUES (1)')")
        #expect(try log(of: states[2]) == "")
        try queue.write { try $0.execute(sql: "DELETE FROM t") }
    }

    @Test func `a database that Swift cannot close because a script uses it is still observed`() throws {
        let queue = try DatabaseQueue()
        let state = try makeState(over: queue)
        try state.run("db:execute('CREATE TABLE t (a)')")
        try state.run(Self.observing)
        try state.run("statement = nil collectgarbage()")
        #expect(throws: DatabaseError.self) { try queue.close() }
        try state.run("db:execute('INSERT INTO t VALUES (1)')")
        #expect(try log(of: state) == "insert, will commit, commit")
        state.close()
        try queue.close()
    }

    @Test func `two scripts on two threads can write to the same database and observe it`() async throws {
        let path = temporaryPath("observed.sqlite")
        let pool = try DatabasePool(path: path)
        try await pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<3 {
                group.addTask {
                    let state = try LuaState(libraries: .trusted)
                    try ScriptSetup(database: pool, allowsFiles: true).install(in: state)
                    try state.run(
                        """
                        local changes, commits = 0, 0
                        for round = 1, 20 do
                          local observer = db:observe_transactions{
                            on_change = function(event) if event.new.a == \(index) then changes = changes + 1 end end,
                            did_commit = function(db) if db:fetch_value("SELECT COUNT(*) FROM t") > 0 then commits = commits + 1 end end,
                          }
                          for i = 1, 10 do db:execute("INSERT INTO t VALUES (?)", \(index)) end
                          observer:cancel()
                          db:write(function(db) db:execute("INSERT INTO t VALUES (?)", \(index)) end)
                        end
                        assert(changes == 200 and commits >= 200, changes .. " " .. commits)
                        """)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") } == 660)
        try pool.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    @Test(arguments: ["on_change", "will_commit", "did_commit", "did_rollback"])
    func `an observer's callback that loops is ended at the limit and leaves no transaction open`(_ name: String) async throws {
        let long = Duration.seconds(600)
        let host = try testHost { $0.limits = LuaLimits(time: long) }
        try await host.runChecked(
            """
            db:execute("CREATE TABLE t (a)")
            observer = db:observe_transactions{ \(name) = function() while true do pcall(function() while true do end end) end end }
            """)
        for end in ["", "error('no')"] {
            let isCalled = name != "did_rollback" || !end.isEmpty
            await host.limitTime(to: isCalled ? .milliseconds(300) : long)
            let error = await #expect(throws: LuaError.self) {
                try await host.runChecked(
                    "db:write(function(db) db:execute('INSERT INTO t VALUES (1)') \(end) end) db:execute('INSERT INTO t VALUES (1)') error('end')"
                )
            }
            await host.limitTime(to: long)
            #expect(isCalled ? error?.code == .timeout || error?.code == .runtime : error?.code == .runtime)
            try await host.runChecked("equal(db:is_inside_transaction(), false)")
        }
        try await host.runChecked(
            """
            observer:cancel()
            db:execute("DELETE FROM t")
            db:execute("INSERT INTO t VALUES (2)")
            equal(db:fetch_values("SELECT a FROM t"), { 2 })
            """)
    }

    @Test func `buffered events in savepoints count toward the script's memory limit`() async throws {
        let host = try testHost { $0.limits = LuaLimits(memoryInBytes: 8 << 20) }
        try await host.runChecked(
            """
            db:execute("CREATE TABLE t (a)")
            db:observe_transactions{ on_change = function() end }
            """)
        let error = await #expect(throws: LuaError.self) {
            try await host.runChecked(
                """
                db:write(function(db)
                  db:in_savepoint(function(db)
                    db:execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) INSERT INTO t SELECT i FROM n")
                    return "commit"
                  end)
                end)
                """)
        }
        #expect(error?.code == .memory)
        try await host.runChecked("equal(db:fetch_value('SELECT COUNT(*) FROM t'), 0)")
    }
}
