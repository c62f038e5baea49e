internal import CPeriluneRows
internal import GRDB

/// A transaction observer that rejects commits when the run must end. It covers statements outside blocks and COMMIT in SQL.
///
/// SQLite's progress handler is not sufficient, because SQLite calls it only every few thousand instructions and short statements
/// need fewer.
final class CommitCheck: TransactionObserver {
    /// Runs a closure and checks the commits on the given connection. Without a connection, nothing is checked.
    static func checking(_ db: Database?, _ body: () throws -> Void) throws {
        guard let db else { return try body() }
        let check = CommitCheck()
        db.add(transactionObserver: check, extent: .observerLifetime)
        defer { db.remove(transactionObserver: check) }
        try body()
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        if plua_is_run_cancelled() { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
    }

    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
