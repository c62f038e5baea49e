internal import GRDB

/// Notifies the observers of a connection in this process about commits in another process.
final class ForeignCommits: Sendable {
    private weak let writer: (any DatabaseWriter)?
    /// The `ForeignCommits` object that is replaying a foreign commit on the current thread.
    @TaskLocal static var source: ObjectIdentifier?
    /// The maximum number of tables that are reported one by one. A commit with more tables is reported as a change of all tables.
    private static let mostTables = 1000

    init(_ writer: any DatabaseWriter) {
        self.writer = writer
    }

    /// Notifies the observers of the tables that a transaction has changed.
    ///
    /// - Parameter tables: The names of the tables; empty for all tables.
    func note(_ tables: [String]) {
        let source = ObjectIdentifier(self)
        // A transaction without statements acquires no lock. A lock could make the script's next write fail.
        writer?.asyncWriteWithoutTransaction { db in
            try? Self.$source.withValue(source) {
                try db.inTransaction(.deferred) {
                    if tables.isEmpty || tables.count > Self.mostTables {
                        try db.notifyChanges(in: .fullDatabase)
                    } else {
                        for table in tables { try? db.notifyChanges(in: Table(table)) }
                    }
                    return .commit
                }
            }
        }
    }

    /// Starts to report the commits of the connection, except the foreign commits that this object replays.
    ///
    /// - Returns: The reporter, which observes the connection until it is released.
    func report(_ report: @escaping ([String]) -> Void) -> CommitReporter? {
        guard let writer else { return nil }
        let own = ObjectIdentifier(self)
        let reporter = CommitReporter { tables in
            if Self.source != own { report(tables?.sorted() ?? []) }
        }
        writer.add(transactionObserver: reporter, extent: .observerLifetime)
        return reporter
    }
}
