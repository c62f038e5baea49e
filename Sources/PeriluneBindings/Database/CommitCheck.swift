internal import CPeriluneRows
internal import GRDB

/// Refuses a commit once the run is to end: that of a statement outside of blocks, which commits as it ends, and that of COMMIT in SQL.
///
/// SQLite looks at its progress handler every few thousand instructions, and a statement may have fewer.
final class CommitCheck: TransactionObserver {
    /// Runs statements on a connection, if there is one, whose commits are checked.
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
