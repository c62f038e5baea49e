import GRDB
import PeriluneLua
import Testing

@testable import PeriluneBindings

/// Changes are stepped past GRDB where nobody observes them: here somebody does, or does not.
@Suite struct ObserverTests {
    @Test func `a connection tells whether it is observed`() throws {
        let queue = try DatabaseQueue()
        let observer = ChangeCounter()
        #expect(try queue.write { $0.mayBeObserved } == false)
        queue.add(transactionObserver: observer)
        #expect(try queue.write { $0.mayBeObserved })
        queue.remove(transactionObserver: observer)
        #expect(try queue.write { $0.mayBeObserved } == false)
    }

    @Test func `an observer hears of every change and of every commit`() throws {
        let queue = try DatabaseQueue()
        let observer = ChangeCounter()
        queue.add(transactionObserver: observer)
        try run("""
            db:execute("CREATE TABLE t (a)")
            db:write(function(db)
              local insert = db:prepare("INSERT INTO t VALUES (?)")
              for i = 1, 50 do insert:execute(i) end
              db:in_savepoint(function(db)
                for i = 1, 20 do db:execute("DELETE FROM t WHERE a = ?", i) end
                return "rollback"
              end)
              for i = 1, 30 do db:execute("UPDATE t SET a = -a WHERE a = ?", i) end
            end)
            """, on: queue)
        #expect(observer.changes == 50 + 30)
        #expect(observer.commits >= 1)
        #expect(observer.rollbacks == 0)
    }

    @Test func `unobserved changes are made all the same, and undone with their block`() throws {
        let queue = try DatabaseQueue()
        try run("""
            db:execute("CREATE TABLE t (a UNIQUE)")
            db:write(function(db)
              for i = 1, 50 do assert(db:execute("INSERT INTO t VALUES (?)", i).inserted_rowid == i) end
              assert(db:execute("UPDATE t SET a = -a WHERE a > 40").changed_rows == 10)
              local ok, err = pcall(db.execute, db, "INSERT INTO t VALUES (1)")
              assert(not ok and err.kind == "constraint_unique" and err.columns[1] == "a")
              db:in_savepoint(function(db)
                for i = 1, 20 do db:execute("DELETE FROM t WHERE a = ?", i) end
                return "rollback"
              end)
            end)
            local ok = pcall(db.write, db, function(db)
              for i = 1, 20 do db:execute("DELETE FROM t WHERE a = ?", i) end
              error("undo")
            end)
            assert(not ok and db:fetch_value("SELECT COUNT(*) FROM t") == 50)
            """, on: queue)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t WHERE a < 0") } == 10)
    }

    @Test func `ON CONFLICT ROLLBACK ends the block, in whichever way its changes are made`() throws {
        for count in [1, 20] {
            let queue = try DatabaseQueue()
            try run("""
                db:execute("CREATE TABLE t (a UNIQUE)")
                local ok, err = pcall(db.write, db, function(db)
                  for i = 1, \(count) do db:execute("INSERT INTO t VALUES (?)", i) end
                  local ok, err = pcall(db.execute, db, "INSERT OR ROLLBACK INTO t VALUES (1)")
                  assert(not ok and err.kind == "constraint_unique")
                  db:execute("INSERT INTO t VALUES (99)")
                end)
                assert(not ok and err.kind == "abort", tostring(err))
                assert(db:fetch_value("SELECT COUNT(*) FROM t") == 0)
                db:write(function(db) db:execute("INSERT INTO t VALUES (1)") end)
                assert(db:fetch_value("SELECT COUNT(*) FROM t") == 1)
                """, on: queue)
        }
    }

    private func run(_ source: String, on queue: DatabaseQueue) throws {
        let state = try LuaState(libraries: .trusted)
        try ScriptSetup(database: queue, allowsFiles: false).install(in: state)
        try state.load(LuaString(source), named: "test").call([])
    }
}

/// Counts what it is told. Used on the queue of one test alone.
private final class ChangeCounter: TransactionObserver, @unchecked Sendable {
    var changes = 0
    var commits = 0
    var rollbacks = 0

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if case .insert("t") = eventKind { return true }
        if case .update("t", _) = eventKind { return true }
        if case .delete("t") = eventKind { return true }
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) { changes += 1 }
    func databaseDidCommit(_ db: Database) { commits += 1 }
    func databaseDidRollback(_ db: Database) { rollbacks += 1 }
}
