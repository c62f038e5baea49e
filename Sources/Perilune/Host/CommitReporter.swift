internal import GRDB

/// A transaction observer that reports the tables changed by each committed transaction, on the thread of the writing connection.
final class CommitReporter: TransactionObserver {
    private let report: (Set<String>?) -> Void
    private var tables: Set<String> = []
    /// Whether the transaction includes changes of unknown tables, which were announced with `notifyChanges` instead of an event.
    private var hasUnknownChanges = false

    /// - Parameter report: Receives the names of the changed tables; `nil` if they are unknown.
    init(_ report: @escaping (Set<String>?) -> Void) {
        self.report = report
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange() { hasUnknownChanges = true }

    func databaseDidChange(with event: DatabaseEvent) { tables.insert(event.tableName) }

    func databaseDidCommit(_ db: Database) {
        if hasUnknownChanges { report(nil) } else if !tables.isEmpty { report(tables) }
        (tables, hasUnknownChanges) = ([], false)
    }

    func databaseDidRollback(_ db: Database) { (tables, hasUnknownChanges) = ([], false) }
}
