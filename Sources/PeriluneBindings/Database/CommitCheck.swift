internal import CPeriluneRows
internal import GRDB

/// A check that rejects commits when the run must end: commits of statements outside of blocks and of COMMIT in SQL.
///
/// SQLite calls its progress handler only every few thousand instructions, and short statements may have fewer.
final class CommitCheck: TransactionObserver {
    /// Runs statements on a connection, if there is one, with a check of their commits.
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
