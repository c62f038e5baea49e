internal import GRDB

/// Reports which tables each committed transaction has changed. Used on the thread of the writing connection.
final class CommitReporter: TransactionObserver {
    private let report: (Set<String>) -> Void
    private var tables: Set<String> = []

    init(_ report: @escaping (Set<String>) -> Void) {
        self.report = report
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange(with event: DatabaseEvent) { tables.insert(event.tableName) }

    func databaseDidCommit(_ db: Database) {
        if !tables.isEmpty { report(tables) }
        tables = []
    }

    func databaseDidRollback(_ db: Database) { tables = [] }
}
