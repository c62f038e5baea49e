import Foundation
import GRDB
import Perilune
import PeriluneBindings
import PeriluneLua
import PeriluneLuaFileTools
import Synchronization
import Testing

/// GRDB observers in Swift that are notified of writes by scripts.
private final class Recorder: TransactionObserver, Sendable {
    let events = Mutex<[String]>([])

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {
        let kind =
            switch event.kind {
            case .insert: "insert"
            case .update: "update"
            case .delete: "delete"
            }
        events.withLock { $0.append("\(kind) \(event.tableName) \(event.rowID)") }
    }
    func databaseWillCommit() throws { events.withLock { $0.append("will commit") } }
    func databaseDidCommit(_ db: Database) { events.withLock { $0.append("commit") } }
    func databaseDidRollback(_ db: Database) { events.withLock { $0.append("rollback") } }

    func take() -> [String] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}

@Suite struct ObserverTests {
    private func makeState(over writer: any DatabaseWriter) throws -> LuaState {
        let state = try LuaState(libraries: .trusted)
        try ScriptSetup(database: writer, allowsFiles: true).install(in: state)
        return state
    }

    @Test func `a GRDB observer is notified of a script's writes`() throws {
        let queue = try DatabaseQueue()
        let recorder = Recorder()
        let state = try makeState(over: queue)
        try state.run("db:execute('CREATE TABLE t (id INTEGER PRIMARY KEY, a)')")
        queue.add(transactionObserver: recorder, extent: .databaseLifetime)
        try state.run("db:execute('INSERT INTO t (a) VALUES (1)')")
        #expect(recorder.take() == ["insert t 1", "will commit", "commit"])
        try state.run(
            """
            db:write(function(db)
              db:execute("INSERT INTO t (a) VALUES (2)")
              db:execute("UPDATE t SET a = 3 WHERE id = 1")
              db:execute("DELETE FROM t")
            end)
            """)
        #expect(recorder.take() == ["insert t 2", "update t 1", "delete t 1", "delete t 2", "will commit", "commit"])
        try state.run("pcall(db.write, db, function(db) db:execute('INSERT INTO t (a) VALUES (2)') error('no') end)")
        #expect(recorder.take().last == "rollback")
        try state.run("db:fetch_all('INSERT INTO t (a) VALUES (1), (2) RETURNING id')")
        #expect(recorder.take() == ["insert t 1", "insert t 2", "will commit", "commit"])
        try state.run(
            "db:read(function(db) db:fetch_all('SELECT * FROM t') for _ in db:rows('SELECT * FROM t') do end end) db:fetch_all('SELECT 1')"
        )
        #expect(recorder.take() == [])
    }

    @Test func `a GRDB observer is notified of each change in a transaction`() throws {
        let queue = try DatabaseQueue()
        let state = try makeState(over: queue)
        try state.run(
            """
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            function insert() db:write(function(db)
              local statement = db:prepare("INSERT INTO t (a) VALUES (?)")
              for i = 1, 50 do statement:execute(i) end
            end) end
            insert()
            """)
        let recorder = Recorder()
        queue.add(transactionObserver: recorder, extent: .databaseLifetime)
        try state.run("insert()")
        #expect(recorder.take() == (51...100).map { "insert t \($0)" } + ["will commit", "commit"])
        queue.remove(transactionObserver: recorder)
        try state.run("insert()")
        #expect(recorder.take() == [])
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") } == 150)
    }

    @Test func `a GRDB observer is not notified of rolled back savepoints`() throws {
        let queue = try DatabaseQueue()
        let recorder = Recorder()
        let state = try makeState(over: queue)
        try state.run("db:execute('CREATE TABLE t (a)')")
        queue.add(transactionObserver: recorder, extent: .databaseLifetime)
        try state.run(
            """
            db:write(function(db)
              db:execute("INSERT INTO t VALUES (1)")
              db:in_savepoint(function(db) db:execute("INSERT INTO t VALUES (2)") return "rollback" end)
              db:in_savepoint(function(db) db:execute("INSERT INTO t VALUES (3)") return "commit" end)
            end)
            """)
        #expect(recorder.take() == ["insert t 1", "insert t 2", "will commit", "commit"])
    }

    @Test func `a GRDB observer that refuses a commit makes the script's block fail`() throws {
        struct Veto: Error {}
        final class Refuser: TransactionObserver {
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseWillCommit() throws { throw Veto() }
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        let queue = try DatabaseQueue()
        let state = try makeState(over: queue)
        try state.run("db:execute('CREATE TABLE t (a)')")
        let refuser = Refuser()
        queue.add(transactionObserver: refuser, extent: .databaseLifetime)
        for source in [
            "db:write(function(db) db:execute('INSERT INTO t VALUES (1)') end)", "db:execute('INSERT INTO t VALUES (1)')",
            "db:in_savepoint(function(db) db:execute('INSERT INTO t VALUES (1)') return 'commit' end)",
        ] {
            let error = #expect(throws: LuaError.self) { try state.run(source) }
            #expect(error?.underlying is Veto)
        }
        queue.remove(transactionObserver: refuser)
        try state.run("assert(not db:is_inside_transaction() and db:fetch_value('SELECT COUNT(*) FROM t') == 0)")
    }

    @Test(arguments: [false, true]) func `a GRDB value observation is notified of a script's writes`(_ isPool: Bool) async throws
    {
        let path = temporaryPath("observed.sqlite")
        let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        try await writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let observation = ValueObservation.tracking { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") }
        var counts = observation.values(in: writer).makeAsyncIterator()
        #expect(try await counts.next() == [])
        for (source, expected) in [
            ("db:execute('INSERT INTO t VALUES (1)')", [1]),
            ("db:write(function(db) for i = 2, 20 do db:execute('INSERT INTO t VALUES (?)', i) end end)", Array(1...20)),
            ("db:fetch_all('DELETE FROM t WHERE a > 2 RETURNING a')", [1, 2]),
        ] {
            let database = writer
            try await Task.detached {
                let state = try LuaState(libraries: .trusted)
                try ScriptSetup(database: database, allowsFiles: true).install(in: state)
                try state.run(source)
            }.value
            while let values = try await counts.next() { if values == expected { break } }
        }
        try writer.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    @Test func `several Lua states can share one database`() throws {
        let queue = try DatabaseQueue()
        let states = try (0..<3).map { _ in try makeState(over: queue) }
        try states[0].run("db:execute('CREATE TABLE t (a)')")
        for (index, state) in states.enumerated() {
            try state.run(
                "statement = db:prepare('INSERT INTO t VALUES (?)') statement:execute(\(index)) iterator = db:rows('SELECT * FROM t') iterator()"
            )
        }
        try states[2].run("assert(#db:fetch_values('SELECT a FROM t') == 3)")
        states[1].close()
        try states[2].run("statement:execute(9) iterator = nil collectgarbage() assert(#db:fetch_values('SELECT a FROM t') == 4)")
    }

    @Test func `closing a Lua state with open statements and cursors leaves a shared database usable`()
        throws
    {
        for isPool in [false, true] {
            let path = temporaryPath("shared.sqlite")
            let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") }
            for _ in 0..<5 {
                let state = try makeState(over: writer)
                try state.run(
                    """
                    iterator = db:rows("SELECT a FROM t") iterator()
                    statement = db:prepare("SELECT 2") statement:fetch_value()
                    db:read(function(db) inner = db:rows("SELECT a FROM t") inner() db:fetch_value("SELECT 3") end)
                    """)
                state.close()
                try writer.write { try $0.execute(sql: "DROP TABLE t; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") }
            }
            try writer.close()
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `Swift cannot close a database while a script has open statements`() throws {
        let queue = try DatabaseQueue()
        let state = try makeState(over: queue)
        try state.run("statement = db:prepare('SELECT 1') iterator = db:rows('SELECT 1 UNION ALL SELECT 2') iterator()")
        #expect(throws: DatabaseError.self) { try queue.close() }
        for source in [
            "db:fetch_value('SELECT 1')", "statement:fetch_value()", "db:read(function() end)", "db:write(function() end)",
        ] {
            try state.run(source)
        }
        try state.run("assert(iterator()[1] == 2)")
    }
}
