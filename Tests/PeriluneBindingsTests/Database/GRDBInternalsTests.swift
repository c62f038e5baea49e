import GRDB
import PeriluneBindings
import Testing

/// GRDB internals on which Perilune relies. If one of these tests fails after an update of GRDB, `GRDBInternals.swift` must be
/// adapted.
@Suite struct GRDBInternalsTests {
    private final class Observer: TransactionObserver {
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    @Test func `Database observationBroker transactionObservations shows whether a connection is observed`() throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            #expect(!db.mayBeObserved, "GRDB keeps its observers elsewhere: every statement is taken for one that is observed")
            let observer = Observer()
            db.add(transactionObserver: observer)
            #expect(db.mayBeObserved)
            db.remove(transactionObserver: observer)
            #expect(!db.mayBeObserved)
        }
    }

    @Test func `Database observationBroker savepointStack savepoints counts the savepoints that Swift has opened`() throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            let observer = Observer()
            // GRDB counts savepoints for its observers.
            db.add(transactionObserver: observer)
            let savepoints = try #require(OpenSavepoints(on: db), "GRDB keeps its stack of savepoints elsewhere")
            #expect(savepoints.count == 0)
            try db.inTransaction {
                try db.inSavepoint {
                    #expect(savepoints.count == 1)
                    try db.inSavepoint {
                        #expect(savepoints.count == 2)
                        return .rollback
                    }
                    #expect(savepoints.count == 1)
                    return .commit
                }
                #expect(savepoints.count == 0)
                return .commit
            }
        }
    }

    @Test func `resetting DatabaseCursor isDone restarts a statement with its bound arguments`() throws {
        try DatabaseQueue().read { db in
            let statement = try db.makeStatement(
                sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n")
            statement.arguments = [3]
            let steps = StatementSteps(statement)
            for _ in 1...2 {
                var count = 0
                try steps.forEach { count += 1 }
                #expect(count == 3)
            }
        }
    }
}
